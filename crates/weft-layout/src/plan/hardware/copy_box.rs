//! Boxes that a tensor copy (TMA) moves between global memory and a buffer.
//!
//! A copy puts element `(c₀, c₁, …)` of a box, `c₀` innermost, at byte
//! `σ(start + e · (c₀ + side₀ · (c₁ + side₁ · …)))`, where `σ` is the swizzle of addresses. So a
//! box divides the buffer's `X = L⁻¹` on the left: its columns are these, and those of the bits that
//! choose a box are anything in steps of 128 bytes that has no bit of the box.

use alloc::vec::Vec;
use core::fmt;

use crate::{
    family::SwizzleMode,
    layout::{Coordinates, Layout, LayoutError},
    space::{Label, OFFSET, Space},
};

/// The most axes of a tensor map.
const MAX_AXES: usize = 5;
/// The most elements of a box along an axis.
const MAX_SIDE_LOG2: u32 = 8;
/// The fewest bytes of a box along the innermost axis.
const MIN_INNER_BYTES: u64 = 16;
/// What the start of a box is a multiple of, in bytes.
const START_BYTES: u64 = 128;

/// How tensor copies fill a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyBoxes {
    /// The swizzle that the tensor map names.
    pub mode: SwizzleMode,
    /// The sides of a box, innermost first, with their axes.
    pub sides: Vec<(Label, u64)>,
    /// From a tensor's elements to bytes of the buffer before the swizzle.
    starts: Layout,
}

/// Why no tensor copies fill a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoBox {
    /// Elements have no whole number of bytes up to 8.
    ElementBits(u32),
    /// The axes are not those of the tensor, or more than 5.
    Axes,
    /// The buffer does not hold each element once.
    Layout(LayoutError),
    /// Nothing else than the copy of an element would put this element there.
    Element {
        /// An element that lies neither within a box nor where one can start.
        element: Coordinates,
        /// Where it lies, in bytes.
        found: u64,
    },
}

/// The largest boxes that tensor copies can fill a buffer with, `order` naming the tensor's axes,
/// innermost first: the one along which global memory is contiguous, then the others.
///
/// `memory` maps `offset`, in elements, one to one to the tensor. Its first byte is to be aligned to 8
/// rows of the swizzle, or to 128 bytes without one. The boxes of largest size win, of equal ones the
/// widest swizzle.
///
/// ```
/// use weft_layout::{Label, family::NvmmaShared, plan};
///
/// let memory = NvmmaShared::new(128, 16).layout(&[64, 128])?;
/// let boxes = plan::copy_box(&memory, 16, &[Label::dim(1), Label::dim(0)])?;
/// // Rows are twice as long as the swizzle: two boxes side by side, 64 rows of 64 halves each.
/// assert_eq!(boxes.sides, [(Label::dim(1), 64), (Label::dim(0), 64)]);
/// let starts: Vec<u64> = boxes.copies().map(|(_, start)| start).collect();
/// assert_eq!(starts, [0, 8192]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copy_box(memory: &Layout, element_bits: u32, order: &[Label]) -> Result<CopyBoxes, NoBox> {
    if !matches!(element_bits, 8 | 16 | 32 | 64) {
        return Err(NoBox::ElementBits(element_bits));
    }
    let all = memory.outs().labels().all(|axis| order.contains(&axis));
    if order.len() != memory.outs().axes().len() || !all || !(1..=MAX_AXES).contains(&order.len()) {
        return Err(NoBox::Axes);
    }
    let bytes_log2 = (element_bits / 8).trailing_zeros();
    let inverse = memory.restrict_ins(&[OFFSET])?.invert()?;
    let outs = Space::new(&[(OFFSET, inverse.outs().total_bits() + bytes_log2)]);
    let outs = outs.map_err(LayoutError::from)?;
    let mut found = Vec::new();
    for mode in SwizzleMode::ALL {
        let columns = inverse.matrix().columns().iter();
        let columns: Vec<u64> =
            columns.map(|&offset| mode.swizzled(offset << bytes_log2)).collect();
        let starts = Layout::new(inverse.ins().clone(), outs.clone(), &columns)?;
        found.push(boxes(starts, mode, 1 << bytes_log2, order));
    }
    // Refusals are least, and of equal boxes the last is taken.
    let best = found.into_iter().max_by_key(|found| found.as_ref().map_or(0, CopyBoxes::elements));
    best.unwrap_or(Err(NoBox::Axes))
}

/// The largest boxes with one swizzle.
fn boxes(
    starts: Layout,
    mode: SwizzleMode,
    bytes: u64,
    order: &[Label],
) -> Result<CopyBoxes, NoBox> {
    let mut next = bytes;
    let mut sides: Vec<(Label, u64)> = Vec::new();
    for (index, &axis) in order.iter().enumerate() {
        let limit = match mode {
            // A row of a box is not longer than the swizzle.
            mode if index == 0 && mode != SwizzleMode::None => {
                (mode.span() / bytes).trailing_zeros()
            }
            _ => MAX_SIDE_LOG2,
        };
        let columns = starts.columns(axis).iter().take(limit as usize);
        let fits = columns.zip(0..).take_while(|&(&place, bit)| place == next << bit);
        let side_log2 = fits.count() as u32;
        next <<= side_log2;
        sides.push((axis, 1 << side_log2));
    }
    let (within, inner_bytes) = (next - 1, sides[0].1 * bytes);
    for &(axis, side) in &sides {
        let bits = side.trailing_zeros()..starts.in_bits(axis);
        let too_short = axis == order[0] && inner_bytes < MIN_INNER_BYTES;
        let wrong = bits.map(|bit| (bit, starts.basis(axis, bit))).find(|&(_, place)| {
            too_short || place & within != 0 || !place.is_multiple_of(START_BYTES)
        });
        if let Some((bit, place)) = wrong {
            let element = (starts.ins().labels())
                .map(|label| (label, if label == axis { 1 << bit } else { 0 }));
            return Err(NoBox::Element { element: element.collect(), found: mode.swizzled(place) });
        }
    }
    if inner_bytes < MIN_INNER_BYTES {
        let element = starts.ins().unpack(0);
        return Err(NoBox::Element { element, found: 0 });
    }
    Ok(CopyBoxes { mode, sides, starts })
}

impl CopyBoxes {
    /// The elements of a box.
    pub fn elements(&self) -> u64 {
        self.sides.iter().map(|side| side.1).product()
    }

    /// The copies that fill the buffer: of each the coordinates of the box's first element, and the
    /// bytes from the buffer's start to where it goes.
    pub fn copies(&self) -> impl Iterator<Item = (Coordinates, u64)> + '_ {
        let ins = self.starts.ins();
        let within = |axis| self.sides.iter().find(|side| side.0 == axis).map_or(1, |side| side.1);
        let first = move |place: &u64| {
            ins.unpack(*place).into_iter().all(|(axis, at)| at % within(axis) == 0)
        };
        let places = (0..1_u64.unbounded_shl(ins.total_bits())).filter(first);
        places.map(|place| (ins.unpack(place), self.starts.apply_flat(place)))
    }
}

impl From<LayoutError> for NoBox {
    fn from(error: LayoutError) -> NoBox {
        NoBox::Layout(error)
    }
}

impl fmt::Display for NoBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoBox::ElementBits(bits) => write!(f, "no tensor copy moves elements of {bits} bits"),
            NoBox::Axes => {
                f.write_str("the order does not name each axis of a tensor of 1 to 5 axes once")
            }
            NoBox::Layout(error) => error.fmt(f),
            NoBox::Element { element, found } => {
                f.write_str("no tensor copy fills the buffer: element")?;
                for (axis, value) in element {
                    write!(f, " {axis} = {value}")?;
                }
                write!(f, " lies at byte {found}, neither within a box nor where one can start")
            }
        }
    }
}

impl core::error::Error for NoBox {}
