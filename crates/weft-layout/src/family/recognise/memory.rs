//! Layouts of shared memory.

use alloc::vec::Vec;

use super::orders;
use crate::{
    family::{Family, NvmmaShared, RotatingShared, SwizzledShared},
    layout::Layout,
    space::{Label, OFFSET},
};

/// Families of shared memory that may be this layout.
pub(super) fn guesses(layout: &Layout, blocks: &[Vec<u64>]) -> Vec<Family> {
    let rank = layout.shape().len();
    let mut guesses = Vec::new();
    for order in orders(rank).into_iter().filter(|order| walks(layout, order)) {
        for (vec, per_phase, max_phase) in phases() {
            let blocks = blocks.to_vec();
            let rows = SwizzledShared { vec, per_phase, max_phase, order: order.clone(), blocks };
            if max_phase > 1 {
                guesses.push(Family::RotatingShared(RotatingShared { rows: rows.clone() }));
            }
            guesses.push(Family::SwizzledShared(rows));
        }
    }
    for swizzling_byte_width in [0, 32, 64, 128] {
        for element_bit_width in [8, 16, 32, 64] {
            for flags in 0..4 {
                guesses.push(Family::NvmmaShared(NvmmaShared {
                    swizzling_byte_width,
                    transposed: flags & 1 == 1,
                    element_bit_width,
                    fp4_padded: flags & 2 == 2,
                    rank,
                    blocks: blocks.to_vec(),
                }));
            }
        }
    }
    guesses
}

/// Whether the offsets walk along the axes in `order`, but for what they add along the first one and
/// for copies.
fn walks(layout: &Layout, order: &[usize]) -> bool {
    let outs = layout.outs();
    let dims = order.iter().map(|&dim| Label::dim(dim as u32));
    let steps = dims.flat_map(|label| (0..outs.bits(label)).map(move |bit| (label, bit)));
    let first = order.first().map_or(0, |&dim| outs.mask(Label::dim(dim as u32)));
    layout.columns(OFFSET).iter().zip(steps).all(|(&column, (label, bit))| {
        let step = outs.offset_of(label).and_then(|offset| 1_u64.checked_shl(offset + bit));
        step.is_some_and(|step| column & !step & !first == 0)
    })
}

/// Vectors, rows a phase and phases: all that occur; without phases the other two say nothing.
fn phases() -> impl Iterator<Item = (u64, u64, u64)> {
    let powers = |most: u32| (0..=most).map(|bit| 1_u64 << bit);
    let swizzled = powers(5).flat_map(move |vec| {
        powers(4).flat_map(move |per_phase| {
            powers(5).skip(1).map(move |max_phase| (vec, per_phase, max_phase))
        })
    });
    [(1, 1, 1)].into_iter().chain(swizzled)
}
