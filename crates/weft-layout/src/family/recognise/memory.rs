//! Layouts of shared memory.

use alloc::vec::Vec;

use super::orders;
use crate::{
    family::{Family, NvmmaShared, RotatingShared, SwizzledShared},
    layout::Layout,
};

/// Families of shared memory that may be this layout.
pub(super) fn guesses(layout: &Layout, blocks: &[Vec<u64>]) -> Vec<Family> {
    let rank = layout.shape().len();
    let mut guesses = Vec::new();
    for order in orders(rank) {
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
