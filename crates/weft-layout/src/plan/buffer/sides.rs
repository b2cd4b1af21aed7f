//! Who stores and who loads what, in coordinates of a buffer in shared memory.
//!
//! Threads that hold the same elements need not all store them, and a thread need not load one element
//! twice: what is left of a side has independent columns.

use alloc::vec::Vec;

use crate::plan::swizzle::Side;
use crate::{
    f2::{Echelon, Subspace, extract_bits},
    layout::Layout,
    space::{BLOCK, LANE, REGISTER, WARP},
    step::{Acting, combine},
};

/// Whether every place reads its own warp.
pub(in crate::plan) fn keeps_warp(source: &Layout) -> bool {
    source.ins().labels().filter(|&label| label != BLOCK).all(|label| {
        source.columns(label).iter().enumerate().all(|(bit, &place)| {
            let stay = if label == WARP { 1 << bit } else { 0 };
            source.outs().coordinate(WARP, place) == stay
        })
    })
}

/// Who holds what on both sides, in coordinates of a buffer.
pub(in crate::plan) struct Sides {
    pub(in crate::plan) from: Side,
    pub(in crate::plan) to: Side,
    /// The logarithm of the elements of the buffer.
    pub(in crate::plan) bits: u32,
}

impl Sides {
    /// One buffer for the elements of a block.
    pub(in crate::plan) fn of(from: &Layout, to: &Layout) -> Sides {
        let elements = Elements::of(from);
        Sides { from: elements.side(from), to: elements.side(to), bits: elements.bits }
    }

    /// A buffer for each warp, where no place reads another warp: then a warp has what it needs, even
    /// of what other warps have too.
    pub(in crate::plan) fn within_warps(from: &Layout, source: &Layout) -> Option<Sides> {
        if !keeps_warp(source) {
            return None;
        }
        let held = [REGISTER, LANE].map(|label| from.columns(label)).concat();
        let span = Subspace::from_vectors(&held);
        let warp = |bit: usize| 1_u64.checked_shl(span.dim() + bit as u32).unwrap_or(0);
        let warps = source.in_bits(WARP) as usize;
        let own = |column: u64| extract_bits(column, span.leads());
        let of_place = |place: u64| {
            let part = |label| {
                let bits = source.outs().coordinate(label, place);
                combine(from.columns(label), bits)
            };
            own(part(REGISTER) ^ part(LANE))
        };
        let read = |label| -> Vec<u64> {
            source.columns(label).iter().map(|&place| of_place(place)).collect()
        };
        let from = Side {
            registers: from.columns(REGISTER).iter().map(|&column| own(column)).collect(),
            lanes: from.columns(LANE).iter().map(|&column| own(column)).collect(),
            warps: (0..warps).map(warp).collect(),
        };
        let to = Side {
            registers: read(REGISTER),
            lanes: read(LANE),
            warps: (0..).zip(read(WARP)).map(|(bit, column)| column | warp(bit)).collect(),
        };
        Some(Sides { from, to, bits: span.dim() + warps as u32 })
    }
}

/// Coordinates on the elements that one block holds.
pub(in crate::plan) struct Elements {
    span: Subspace,
    pub(in crate::plan) bits: u32,
}

impl Elements {
    /// The elements of block 0 of a layout.
    pub(in crate::plan) fn of(layout: &Layout) -> Elements {
        let columns = [REGISTER, LANE, WARP].map(|label| layout.columns(label)).concat();
        let span = Subspace::from_vectors(&columns);
        Elements { bits: span.dim(), span }
    }

    /// Elements in these coordinates.
    pub(in crate::plan) fn columns(&self, columns: &[u64]) -> Vec<u64> {
        columns.iter().map(|&column| extract_bits(column, self.span.leads())).collect()
    }

    /// The columns of a layout in these coordinates.
    pub(in crate::plan) fn side(&self, layout: &Layout) -> Side {
        let columns = |label| self.columns(layout.columns(label));
        Side { registers: columns(REGISTER), lanes: columns(LANE), warps: columns(WARP) }
    }
}

/// Who stores what: every element exactly once.
pub(in crate::plan) struct StoringSide {
    /// Independent columns; zero for lanes and warps that are idle.
    pub(in crate::plan) side: Side,
    /// The register number of each register column.
    numbers: Vec<u64>,
    pub(in crate::plan) acting: Acting,
}

impl StoringSide {
    pub(in crate::plan) fn of(all: &Side) -> StoringSide {
        let mut echelon = Echelon::new();
        let mut acting = Acting::ALL;
        // Lanes and warps first: as many threads as possible share the work.
        let mut lanes = all.lanes.clone();
        for (bit, column) in lanes.iter_mut().enumerate() {
            if !echelon.grows(*column) {
                *column = 0;
                acting.idle_lanes |= 1 << bit;
            }
        }
        let mut warps = all.warps.clone();
        for (bit, column) in warps.iter_mut().enumerate() {
            if !echelon.grows(*column) {
                *column = 0;
                acting.idle_warps |= 1 << bit;
            }
        }
        let kept = all.registers.iter().enumerate().filter(|entry| echelon.grows(*entry.1));
        let (numbers, registers) = kept.map(|(bit, &column)| (1_u64 << bit, column)).unzip();
        StoringSide { side: Side { registers, lanes, warps }, numbers, acting }
    }

    /// The register number of each register column.
    pub(in crate::plan) fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// Whether every thread only reads what its own warp stores.
    pub(in crate::plan) fn feeds_own_warp(&self, reader: &Side) -> bool {
        let mut echelon = Echelon::new();
        for &column in self.side.lanes.iter().chain(&self.side.registers) {
            echelon.insert(column, 0);
        }
        for (bit, &column) in self.side.warps.iter().enumerate() {
            echelon.insert(column, 1 << bit);
        }
        let warp = |column: u64| echelon.reduce(column, 0).1;
        let inside = reader.lanes.iter().chain(&reader.registers).all(|&c| warp(c) == 0);
        inside && reader.warps.iter().enumerate().all(|(bit, &c)| warp(c) == 1 << bit)
    }
}

/// Who loads what: each thread each of its elements once.
pub(in crate::plan) struct Reader {
    /// Independent register columns; all lanes and warps.
    pub(in crate::plan) side: Side,
    /// For each register bit of the layout its part in the registers that are loaded.
    pub(in crate::plan) parts: Vec<u64>,
}

impl Reader {
    pub(in crate::plan) fn of(all: &Side) -> Reader {
        let mut echelon = Echelon::new();
        let mut registers = Vec::new();
        let mut parts = Vec::with_capacity(all.registers.len());
        for &column in &all.registers {
            let (residue, known) = echelon.reduce(column, 0);
            parts.push(if residue == 0 {
                known
            } else {
                let own = 1 << registers.len();
                echelon.insert(column, own);
                registers.push(column);
                own
            });
        }
        Reader { side: Side { registers, ..all.clone() }, parts }
    }

    /// For each register of the layout the one that is loaded for it.
    pub(in crate::plan) fn expanded(&self) -> Vec<u32> {
        (0..1_u64 << self.parts.len()).map(|r| combine(&self.parts, r) as u32).collect()
    }
}
