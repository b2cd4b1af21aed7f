//! Fragments of matrix instructions, and the operands of a matrix multiplication.

use alloc::{boxed::Box, vec, vec::Vec};

use super::{Parts, Unit, factorings};
use crate::family::{AmdMfma, AmdWmma, DotOperand, Family, NvidiaMma};

/// Fragments that may be this layout.
pub(super) fn guesses(parts: &Parts) -> Vec<Family> {
    let rank = parts.rank();
    if !(2..=3).contains(&rank) {
        return Vec::new();
    }
    let instructions = match parts.lane.len() {
        5 => [nvidia(parts), wmma(parts)].concat(),
        6 => mfma(parts),
        _ => Vec::new(),
    };
    let mut guesses = Vec::new();
    for instruction in instructions {
        for operand in [0, 1] {
            for k_width in [1, 2, 4, 8, 16, 32] {
                let parent = Box::new(instruction.clone());
                guesses.push(Family::DotOperand(DotOperand { operand, parent, k_width }));
            }
        }
        guesses.push(instruction);
    }
    guesses
}

/// The instruction's shape for tensors of this rank: batches come first.
fn batched(rank: usize, shape: &[u64]) -> Vec<u64> {
    let mut batched = vec![1; rank.saturating_sub(2)];
    batched.extend(shape);
    batched
}

fn nvidia(parts: &Parts) -> Vec<Family> {
    let rank = parts.rank();
    let columns = [8, 16, 32, 64, 128, 256];
    let synchronous = [(2, batched(rank, &[16, 8])), (2, batched(rank, &[8, 8]))];
    let warpgroup = columns.map(|n| (3, batched(rank, &[16, n, 16])));
    let instructions: Vec<_> = synchronous.into_iter().chain(warpgroup).collect();
    let warps = factorings(rank, parts.warp.len());
    let made = |(version, shape): &(u32, Vec<u64>), warps: &Vec<u64>| {
        Family::NvidiaMma(NvidiaMma {
            version_major: *version,
            version_minor: 0,
            warps_per_cta: warps.clone(),
            instr_shape: shape.clone(),
            blocks: parts.blocks.clone(),
        })
    };
    let all = instructions.iter();
    all.flat_map(|instruction| warps.iter().map(move |warps| made(instruction, warps))).collect()
}

fn mfma(parts: &Parts) -> Vec<Family> {
    let rank = parts.rank();
    let shapes = [[32, 32, 8], [16, 16, 16], [4, 64, 4], [64, 4, 4]];
    let mut guesses = Vec::new();
    for shape in shapes {
        for warps in factorings(rank, parts.warp.len()) {
            for tiles in [[1, 1], [2, 1], [1, 2], [2, 2]] {
                // Only instructions of 16 rows and columns have results of 64 bits.
                for flags in 0..if shape[0] == 16 { 4 } else { 2 } {
                    guesses.push(Family::AmdMfma(AmdMfma {
                        version: 3,
                        warps_per_cta: warps.clone(),
                        instr_shape: shape.to_vec(),
                        is_transposed: flags & 1 == 1,
                        blocks: parts.blocks.clone(),
                        tiles_per_warp: if tiles == [1, 1] {
                            Vec::new()
                        } else {
                            batched(rank, &tiles)
                        },
                        element_bit_width: if flags & 2 == 2 { 64 } else { 32 },
                    }));
                }
            }
        }
    }
    guesses
}

fn wmma(parts: &Parts) -> Vec<Family> {
    let rank = parts.rank();
    // The warps' bases in units of an instruction of 16 x 16, as they stand in the layout.
    let scaled = |unit: &Unit| {
        let mut basis = vec![0; rank];
        if let Some((dim, bit)) = *unit {
            let tile = if dim + 2 >= rank { 4 } else { 0 };
            basis[dim] = 1_u64.checked_shl(bit.checked_sub(tile)?)?;
        }
        Some(basis)
    };
    let Some(warp) = parts.warp.iter().map(scaled).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    // A warp may hold neighbouring instructions below those of other warps.
    let inner = |dim: usize| {
        let lowest = warp.iter().filter(|basis| basis[dim] != 0).map(|basis| basis[dim]).min();
        (1..lowest.unwrap_or(1)).filter(|size| size.is_power_of_two())
    };
    let register: Vec<Vec<u64>> = (0..rank)
        .rev()
        .flat_map(|dim| {
            inner(dim).map(move |size| (0..rank).map(|d| if d == dim { size } else { 0 }).collect())
        })
        .collect();
    let mut guesses = Vec::new();
    for (version, shape) in [(1, [16, 16, 16]), (2, [16, 16, 16]), (3, [16, 16, 32])] {
        for is_transposed in [false, true] {
            guesses.push(Family::AmdWmma(AmdWmma {
                version,
                is_transposed,
                register: register.clone(),
                warp: warp.clone(),
                blocks: parts.blocks.clone(),
                instr_shape: shape,
            }));
        }
    }
    guesses
}
