//! The construction of section 9.2 step by step, for one writer and one reader.

use alloc::vec::Vec;

use super::pair::{Side, Swizzle, pairs};
use crate::{
    f2::{Echelon, Subspace},
    layout::LayoutError,
    machine::Machine,
};

/// The values of each step of the construction.
///
/// Vectors are elements; `v`, `b` and `s` count offset bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Step 1: registers that both have, the vector part; `v` of them.
    pub vector: Vec<u64>,
    /// Step 2: bank bits `b` and segment bits `s`; `v + b + s` is all.
    pub bank_bits: u32,
    /// See `bank_bits`.
    pub segment_bits: u32,
    /// Step 3: what one phase of the writer touches, and of the reader.
    pub store_phase: Vec<u64>,
    /// See `store_phase`.
    pub load_phase: Vec<u64>,
    /// Step 4: what both phases share (I), what only the writer's adds (E), what only the reader's
    /// adds (F).
    pub shared: Vec<u64>,
    /// See `shared`.
    pub only_store: Vec<u64>,
    /// See `shared`.
    pub only_load: Vec<u64>,
    /// Step 5: sums of an element of E and one of F (H), and what neither phase reaches (C).
    pub sums: Vec<u64>,
    /// See `sums`.
    pub rest: Vec<u64>,
    /// Step 6: the segments, banks and offsets that follow.
    pub swizzle: Swizzle,
    /// Step 7: the most dimensions that segments may have (lemma 9.5).
    pub most: u32,
}

/// The values of each step for a buffer of 2^`bits` elements of 2^`bytes_log2` bytes, with vectors
/// that both sides share.
///
/// The arguments are those of [`swizzle`](super::swizzle).
pub fn replay(
    machine: &Machine,
    bits: u32,
    bytes_log2: u32,
    store: &Side,
    load: &Side,
) -> Result<Replay, LayoutError> {
    let (found, phases) = pairs(machine, bits, bytes_log2, store, load)?;
    let (u, v) = (Subspace::from_vectors(&phases.store), Subspace::from_vectors(&phases.load));
    let shared = u.intersection(&v);
    let beyond = |generators: &[u64]| -> Vec<u64> {
        let mut echelon = Echelon::of(shared.basis());
        generators.iter().copied().filter(|&column| echelon.grows(column)).collect()
    };
    let row = machine.row_bytes_log2().saturating_sub(bytes_log2);
    let segment_bits = bits.saturating_sub(row);
    let reached = u.sum(&v);
    let (sums, rest) = found.segment.iter().partition(|&&segment| reached.contains(segment));
    Ok(Replay {
        bank_bits: bits - segment_bits - (found.vector.len() as u32).min(bits - segment_bits),
        segment_bits,
        shared: shared.basis().collect(),
        only_store: beyond(&phases.store),
        only_load: beyond(&phases.load),
        store_phase: phases.store.clone(),
        load_phase: phases.load.clone(),
        sums,
        rest,
        most: bits - u.dim().max(v.dim()),
        vector: found.vector.clone(),
        swizzle: found,
    })
}
