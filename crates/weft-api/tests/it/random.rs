//! Random layouts.

use arbtest::arbitrary::{Result, Unstructured};
use weft_layout::space::{BLOCK, LANE, OFFSET, REGISTER, WARP};
use weft_layout::{Label, Layout, Space};

/// A layout of any rank, with copies and with elements that nobody holds; of memory or of threads.
pub(crate) fn layout(u: &mut Unstructured<'_>) -> Result<Layout> {
    let shape: Vec<u64> = (0..u.int_in_range(1..=3)?)
        .map(|_| Ok(1 << u.int_in_range(0..=4)?))
        .collect::<Result<_>>()?;
    let labels: &[Label] =
        if u.arbitrary()? { &[REGISTER, LANE, WARP, BLOCK] } else { &[OFFSET, BLOCK] };
    let axes: Vec<(Label, u32)> =
        labels.iter().map(|&label| Ok((label, u.int_in_range(0..=3)?))).collect::<Result<_>>()?;
    let (ins, outs) = (Space::new(&axes).unwrap(), Space::tensor(&shape).unwrap());
    let elements: u64 = shape.iter().product();
    let images: Vec<u64> =
        (0..ins.total_bits()).map(|_| u.int_in_range(0..=elements - 1)).collect::<Result<_>>()?;
    Ok(Layout::new(ins, outs, &images).unwrap())
}
