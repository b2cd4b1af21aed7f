//! Layouts in which folding along an axis, by a reduction or a scan, takes fewer steps.
//!
//! Accesses ask for what coalesces them: neighbours in lanes. Where an axis runs over warps, folding it
//! costs barriers; where a scan finds neighbours in lanes, it exchanges every register. One conversion may
//! spare that.

use weft_layout::space::{LANE, REGISTER, WARP};
use weft_layout::{Label, Layout, LayoutError};

/// The layouts beside this one in which folding along an axis, in order or not, is worth a look.
pub(super) fn worth_a_look(
    layout: &Layout,
    axis: usize,
    in_order: bool,
) -> Result<Vec<Layout>, LayoutError> {
    let turned = turned(layout, axis)?;
    let mut gathered_ones = Vec::new();
    if in_order {
        for layout in [layout].into_iter().chain(&turned) {
            gathered_ones.extend(gathered(layout, axis)?);
        }
    }
    Ok(turned.into_iter().chain(gathered_ones).collect())
}

/// A layout in which warps that run along an axis, which costs barriers, and registers have changed places.
fn turned(layout: &Layout, axis: usize) -> Result<Option<Layout>, LayoutError> {
    let mask = layout.outs().mask(Label::dim(axis as u32));
    if layout.columns(WARP).iter().all(|column| column & mask == 0) {
        return Ok(None);
    }
    let mut columns = layout.matrix().columns().to_vec();
    let registers = layout.in_bits(REGISTER) as usize;
    let first_warp = registers + layout.in_bits(LANE) as usize;
    // The last registers are the farthest apart in memory.
    let swapped = (0..layout.in_bits(WARP) as usize).zip((0..registers).rev());
    for (warp, register) in swapped {
        columns.swap(first_warp + warp, register);
    }
    Layout::new(layout.ins().clone(), layout.outs().clone(), &columns).map(Some)
}

/// A layout in which the registers that run along an axis hold neighbours: a thread then combines what it
/// has in order, and threads exchange one partial result each.
fn gathered(layout: &Layout, axis: usize) -> Result<Option<Layout>, LayoutError> {
    let Some((start, bits)) = layout.outs().locate(Label::dim(axis as u32)) else {
        return Ok(None);
    };
    let mask = layout.outs().mask(Label::dim(axis as u32));
    let mut columns = layout.matrix().columns().to_vec();
    let registers = 0..layout.in_bits(REGISTER) as usize;
    let along: Vec<usize> = registers.filter(|&at| columns[at] & mask != 0).collect();
    for (bit, register) in (start..start + bits).zip(along) {
        if let Some(holder) = columns.iter().position(|&column| column == 1 << bit) {
            columns.swap(holder, register);
        }
    }
    Layout::new(layout.ins().clone(), layout.outs().clone(), &columns).map(Some)
}

#[cfg(test)]
mod tests {
    use super::worth_a_look;
    use weft_layout::space::{LANE, REGISTER, WARP};
    use weft_layout::{Layout, Space};

    #[test]
    fn a_thread_gets_neighbours_of_a_scan_and_warps_get_the_ends_of_the_axis() {
        let ins = Space::hardware(3, 5, 2, 0).unwrap();
        let columns = [128, 256, 512, 1, 2, 4, 8, 16, 32, 64];
        let layout = Layout::new(ins, Space::tensor(&[1024]).unwrap(), &columns).unwrap();
        let found = worth_a_look(&layout, 0, true).unwrap();
        let parts =
            |layout: &Layout| [REGISTER, LANE, WARP].map(|label| layout.columns(label).to_vec());
        let [turned, gathered, both] = &found[..] else { panic!("{found:?}") };
        assert_eq!(parts(turned), [vec![128, 64, 32], vec![1, 2, 4, 8, 16], vec![512, 256]]);
        assert_eq!(parts(gathered), [vec![1, 2, 4], vec![128, 256, 512, 8, 16], vec![32, 64]]);
        assert_eq!(parts(both), [vec![1, 2, 4], vec![128, 64, 32, 8, 16], vec![512, 256]]);
        // A sum may be taken in any order.
        assert_eq!(&worth_a_look(&layout, 0, false).unwrap()[..], core::slice::from_ref(turned));
    }
}
