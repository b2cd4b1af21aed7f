//! Who holds an element.

use super::View;
use weft_layout::f2::Matrix;
use weft_layout::space::{BLOCK, LANE, OFFSET, REGISTER, WARP};
use weft_layout::{Label, Layout, LayoutError, Space};

/// For each element of a tensor the lowest place that holds it.
///
/// Found by algebra, not by walking through the places: the columns of the matrix that are no
/// combination of lower ones, completed to a basis of all elements and inverted. An element that
/// needs one of the completing vectors is held by nobody; of the places of any other, the one that
/// uses no other column is the lowest.
pub(super) struct Holders {
    lowest: Matrix,
    missing: Matrix,
}

impl Holders {
    pub(super) fn new(layout: &Layout) -> Result<Self, LayoutError> {
        let matrix = layout.matrix();
        let (rows, mask) = (matrix.rows(), matrix.pivots());
        let pivots: Vec<u32> = (0..matrix.cols()).filter(|bit| mask >> bit & 1 == 1).collect();
        let reached = pivots.iter().map(|&bit| matrix.column(bit));
        let complement = matrix.image().complement(rows);
        let basis: Vec<u64> = reached.chain(complement.basis()).collect();
        let inverse = Matrix::new(rows, &basis)?.inverse()?;

        let places = |column: &u64| {
            let used = pivots.iter().enumerate().filter(|(index, _)| column >> index & 1 == 1);
            used.fold(0, |place, (_, &bit)| place | 1 << bit)
        };
        let beyond = |column: &u64| column.checked_shr(pivots.len() as u32).unwrap_or(0);
        let lowest: Vec<u64> = inverse.columns().iter().map(places).collect();
        let missing: Vec<u64> = inverse.columns().iter().map(beyond).collect();
        Ok(Self {
            lowest: Matrix::new(matrix.cols(), &lowest)?,
            missing: Matrix::new(complement.dim(), &missing)?,
        })
    }

    /// The lowest place that holds an element; none if nobody does.
    pub(super) fn lowest(&self, element: u64) -> Option<u64> {
        (self.missing.apply(element) == 0).then(|| self.lowest.apply(element))
    }
}

/// Whether a layout is one of memory: its places are offsets, not registers of threads.
pub(super) fn is_memory(ins: &Space) -> bool {
    ins.contains(OFFSET) && ![REGISTER, LANE, WARP].iter().any(|&label| ins.contains(label))
}

/// The axis whose number a place is coloured by.
pub(super) fn coloured_by(ins: &Space) -> Option<Label> {
    let known = [LANE, OFFSET].into_iter().find(|&label| ins.contains(label));
    known.or_else(|| ins.labels().next())
}

/// A place in short: `T5:2` is register 2 of thread 5 of the block (its lane, plus the lanes of a
/// warp for each warp before its own); of memory the offset, gaps included, of anything else the flat place.
/// `B1.` stands before what is in block 1, where there are several.
pub(super) fn short(ins: &Space, place: u64, view: &View<'_>) -> String {
    let block = match ins.bits(BLOCK) {
        0 => String::new(),
        _ => format!("B{}.", ins.coordinate(BLOCK, place)),
    };
    if is_memory(ins) {
        format!("{block}{}", view.physical(ins.coordinate(OFFSET, place)))
    } else if ins.contains(LANE) || ins.contains(REGISTER) {
        let warp = ins.coordinate(WARP, place).checked_shl(ins.bits(LANE)).unwrap_or(0);
        let thread = ins.coordinate(LANE, place) | warp;
        format!("{block}T{thread}:{}", ins.coordinate(REGISTER, place))
    } else {
        place.to_string()
    }
}

/// A place in words: its coordinate on each axis.
pub(super) fn words(space: &Space, place: u64) -> String {
    let order = space.coordinate_order().into_iter();
    let parts = order.map(|label| format!("{label} {}", space.coordinate(label, place)));
    parts.collect::<Vec<_>>().join(", ")
}

/// What there is to say about copies, if there are any.
pub(super) fn note_on_copies(layout: &Layout) -> Option<String> {
    let copies = layout.ins().total_bits() - layout.rank();
    let count = 1_u128 << copies;
    let bits: Vec<String> = (layout.ins().axes().iter())
        .filter(|&&(label, _)| layout.free_mask(label) != 0)
        .map(|&(label, bits)| {
            let mask = layout.free_mask(label);
            let bits = (0..bits).filter(|bit| mask >> bit & 1 == 1).map(|bit| bit.to_string());
            format!("{label} {}", bits.collect::<Vec<_>>().join(" "))
        })
        .collect();
    (copies > 0).then(|| {
        format!(
            "* held by {count} places, the lowest is named; bits that make copies: {}.",
            bits.join(", ")
        )
    })
}
