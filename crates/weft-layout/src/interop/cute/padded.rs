//! CuTe's layouts with gaps, and what stands for those that are no power of two.

use alloc::{vec, vec::Vec};

use super::{Composed, CuteLayout, Mode, Tree};
use crate::{
    affine::{Padded, Padding},
    layout::Layout,
    space::{Label, OFFSET, Space},
};

/// The memory with gaps that a CuTe layout without swizzles is: from `offset` to `dim0`, `dim1`, …, one
/// axis for each top-level mode; nothing where it is none.
///
/// In the order of their steps, the bits of the index are the bits of the offset without gaps, and a step
/// is twice the one before it and the gap that comes in between. So every extent must be a power of two,
/// every gap a power of two or none, and there is at most one such memory.
///
/// ```
/// use weft_layout::interop::cute;
///
/// // Rows of 32, one element apart: the old remedy against bank conflicts.
/// let padded = cute::padded(&cute::parse("(16,32):(33,1)")?).ok_or("it has gaps")?;
/// let gaps: Vec<_> = padded.paddings().iter().map(|gap| (gap.interval, gap.padding)).collect();
/// assert_eq!(gaps, [(32, 1)]);
/// assert_eq!(
///     padded.layout().to_string(),
///     "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,0) (4,0) (8,0)] -> [dim0: 16, dim1: 32]",
/// );
/// assert_eq!(padded.physical(32), 33);
/// // A gap of three is none of Triton's.
/// assert!(cute::padded(&cute::parse("(16,32):(35,1)")?).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn padded(composed: &Composed) -> Option<Padded> {
    if !composed.swizzles.is_empty() || composed.offset != 0 {
        return None;
    }
    let mut shape: Vec<u64> = Vec::new();
    let mut bits: Vec<(u64, (Label, u64))> = Vec::new();
    for (dim, mode) in (0_u32..).zip(composed.layout.tree().modes()) {
        let mut size = 1_u64;
        for Mode { extent, stride } in CuteLayout::new(mode.clone()).ok()?.modes() {
            let stride = u64::try_from(stride).ok()?;
            for bit in 0..extent.is_power_of_two().then(|| extent.trailing_zeros())? {
                bits.push((stride.checked_mul(1 << bit)?, (Label::dim(dim), size)));
                size = size.checked_mul(2)?;
            }
        }
        shape.push(size);
    }
    bits.sort_unstable();
    let mut paddings = Vec::new();
    // What the bit would step without a gap of its own.
    let mut expected = 1_u64;
    for (bit, (step, _)) in (0_u32..).zip(&bits) {
        let padding = step.checked_sub(expected)?;
        if padding > 0 {
            paddings.push(Padding { interval: 1_u64.checked_shl(bit)?, padding });
        }
        expected = step.checked_mul(2)?;
    }
    let outs = Space::tensor(&shape).ok()?;
    let ins = Space::new(&[(OFFSET, bits.len() as u32)]).ok()?;
    let columns = bits.iter().map(|&(_, place)| outs.pack(&[place]));
    let columns: Vec<u64> = columns.collect::<Result<_, _>>().ok()?;
    Padded::new(Layout::new(ins, outs, &columns).ok()?, &paddings).ok()
}

/// The layout that holds a compact one whose extents are no powers of two: each mode grown to the next
/// power of two, laid out without gaps in the same order. What is beyond the old extents is to be masked.
///
/// Nothing where the layout is not compact, or the grown one does not exist.
///
/// ```
/// use weft_layout::interop::cute::{grown, parse};
///
/// let grown_of = |text| parse(text).ok().and_then(|it| grown(&it.layout)).map(|it| it.to_string());
/// assert_eq!(grown_of("(12,5):(5,1)").as_deref(), Some("(16,8):(8,1)"));
/// assert_eq!(grown_of("(12,5):(1,12)").as_deref(), Some("(16,8):(1,16)"));
/// assert_eq!(grown_of("(12,5):(7,1)"), None);
/// ```
pub fn grown(layout: &CuteLayout) -> Option<CuteLayout> {
    let modes = layout.modes();
    let mut order: Vec<usize> = (0..modes.len()).filter(|&mode| modes[mode].extent > 1).collect();
    order.sort_by_key(|&mode| modes[mode].stride);
    let mut strides = vec![1; modes.len()];
    let (mut own, mut next) = (1_i64, 1_i64);
    for mode in order {
        let Mode { extent, stride } = modes[mode];
        if stride != own {
            return None;
        }
        own = own.checked_mul(i64::try_from(extent).ok()?)?;
        strides[mode] = next;
        next = next.checked_mul(i64::try_from(extent.checked_next_power_of_two()?).ok()?)?;
    }
    let mut leaf = 0;
    CuteLayout::new(with_strides(layout.tree(), &strides, &mut leaf)?).ok()
}

/// A tree of the same form with grown extents and these strides.
fn with_strides(tree: &Tree<Mode>, strides: &[i64], leaf: &mut usize) -> Option<Tree<Mode>> {
    if let Some(Mode { extent, .. }) = tree.value() {
        let mode =
            Mode { extent: extent.checked_next_power_of_two()?, stride: *strides.get(*leaf)? };
        *leaf += 1;
        return Some(Tree::leaf(mode));
    }
    let children = tree.children()?.iter().map(|child| with_strides(child, strides, leaf));
    Tree::tuple(children.collect::<Option<_>>()?).ok()
}
