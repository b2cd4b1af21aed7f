//! The bank map: each element of a memory layout with its offset and its bank.

use super::View;
use super::grid::{Held, of_elements};
use super::holders::{Holders, is_memory, short};
use super::palette::{Colour, legend};
use super::scene::{Scene, Window};
use super::tile::{Tile, extent};
use crate::answer::PlaceAnswer;
use crate::error::ApiError;
use weft_layout::Machine;
use weft_layout::access::Memory;
use weft_layout::affine::Affine;
use weft_layout::f2::low_mask;
use weft_layout::space::OFFSET;

/// Shared memory that holds elements of one width.
#[derive(Clone, Copy, Debug)]
pub struct Banks<'a> {
    /// Whose memory it is.
    pub machine: &'a Machine,
    /// The width of an element.
    pub element_bits: u32,
}

impl Banks<'_> {
    /// The bank in which the element at an offset begins.
    ///
    /// ```
    /// use weft_api::view::Banks;
    ///
    /// let machine = weft_layout::Machine::by_name("sm_90").ok_or("no such machine")?;
    /// let banks = Banks { machine, element_bits: 16 };
    /// // 32 banks of 4 bytes: two halves lie in a bank, 64 in all of them.
    /// assert_eq!([0, 1, 2, 63, 64].map(|offset| banks.of(offset)), [0, 0, 1, 31, 0]);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn of(&self, offset: u64) -> u64 {
        let word = u128::from(offset) * u128::from(self.element_bits) / u128::from(self.width());
        word as u64 & low_mask(self.machine.banks_log2)
    }

    /// Bits that a bank serves in a wavefront.
    fn width(&self) -> u64 {
        extent(self.machine.bank_bytes_log2).saturating_mul(8)
    }

    /// The memory in words.
    pub(super) fn note(&self) -> String {
        let Banks { machine, element_bits } = self;
        let further = match element_bits {
            bits if self.width().is_multiple_of(u64::from(*bits)) => "",
            _ => ", and may reach into further banks than the one where it begins",
        };
        format!(
            "{} has {} banks of {} bytes; an element has {element_bits} bits{further}.",
            machine.name,
            extent(machine.banks_log2),
            extent(machine.bank_bytes_log2),
        )
    }
}

/// The map of a memory and the view of its whole tile.
pub(super) fn whole(memory: Memory<'_>) -> (Affine, View<'_>) {
    let (map, padded) = match memory {
        Memory::Affine(map) => (map.clone(), None),
        Memory::Padded(padded) => (Affine::from(padded.layout().clone()), Some(padded)),
    };
    (map, View { window: Window::Full, padded, ..View::default() })
}

/// Where each element of a memory's tile lies, row by row: the lowest offset that holds it, gaps
/// included, and the bank in which that begins. The tile is that of the pictures.
///
/// Fails as [`scene`](super::scene()) does.
pub fn places(memory: Memory<'_>, banks: Banks<'_>) -> Result<Vec<Option<PlaceAnswer>>, ApiError> {
    let (map, view) = whole(memory);
    let tile = Tile::new(map.outs(), view.slice, view.window)?;
    let holders = Holders::new(map.layout()).map_err(ApiError::drawing)?;
    let place = |element: u64| {
        let place = holders.lowest(element ^ map.constant())?;
        let offset = view.physical(map.ins().coordinate(OFFSET, place));
        Some(PlaceAnswer { offset, bank: banks.of(offset) })
    };
    Ok(tile.elements().map(place).collect())
}

/// Each element with the lowest offset that holds it, coloured by its bank.
pub(super) fn scene(map: &Affine, view: &View<'_>) -> Result<Scene, ApiError> {
    let ins = map.ins();
    if !is_memory(ins) {
        return Err(ApiError::Picture {
            reason: "the layout is none of memory, so that its elements lie in no banks".into(),
            hint: format!("a bank map shows a layout from the axis `{OFFSET}`"),
        });
    }
    let banks = match view.banks {
        None => return Err(ApiError::ElementCount("missing")),
        Some(Banks { element_bits: 0, .. }) => {
            return Err(ApiError::ElementCount("one of 0 bits, which lies in no bank"));
        }
        Some(banks) => banks,
    };
    let held = |_, place: u64| {
        let bank = banks.of(view.physical(ins.coordinate(OFFSET, place)));
        Held {
            text: format!("{}:b{bank}", short(ins, place, view)),
            more: format!(", bank {bank}"),
            colour: Colour::of(bank),
            served: None,
        }
    };
    let caption = "A cell is an element; 37:b5 in it says that it is at offset 37, in bank 5.";
    let mut scene = of_elements(map, view, "Banks", caption, held)?;
    scene.notes.insert(0, banks.note());
    scene.legend = legend("bank", banks.machine.banks_log2);
    Ok(scene)
}
