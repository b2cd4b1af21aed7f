//! How one side of a buffer moves: by vectors of each lane, or by matrices of the warp.
//!
//! The lowest offset bits say which. A vector wants registers there; a matrix move wants what one row
//! holds ([`Fragment`]).

use alloc::vec::Vec;

use super::fragment::{Fragment, Slot};
use crate::plan::swizzle::{Side, phase};
use crate::{
    f2::{Echelon, Subspace},
    machine::{Kind, Machine},
    step::Acting,
};

/// By which instruction a side moves.
#[derive(Clone, Copy)]
pub(in crate::plan) enum Way<'a> {
    /// Vectors of so many elements, as a logarithm.
    Vector(u32),
    /// Matrices.
    Matrix(&'a Fragment<'a>),
}

/// One side of a buffer: who holds what, and who takes part.
#[derive(Clone, Copy)]
pub(in crate::plan) struct Actor<'a> {
    pub(in crate::plan) machine: &'a Machine,
    pub(in crate::plan) kind: Kind,
    pub(in crate::plan) side: &'a Side,
    /// The register number of each register column.
    pub(in crate::plan) numbers: &'a [u64],
    pub(in crate::plan) acting: Acting,
    pub(in crate::plan) bytes_log2: u32,
}

impl<'a> Actor<'a> {
    /// The ways that the elements at the lowest offset bits allow, the widest vector first; vectors
    /// have at most 2^`widest` elements.
    pub(in crate::plan) fn ways(
        &self,
        low: &[u64],
        widest: u32,
        all: &'a [Fragment<'a>],
    ) -> Vec<Way<'a>> {
        let own = Subspace::from_vectors(&self.side.registers);
        let held = low.iter().take_while(|&&element| own.contains(element)).count();
        let mut ways = alloc::vec![Way::Vector(widest.min(held as u32))];
        if self.acting.idle_lanes == 0 {
            let fits = all.iter().filter(|fragment| fragment.fits(self.side, &own, low));
            ways.extend(fits.map(Way::Matrix));
        }
        ways
    }

    /// What one phase touches.
    pub(in crate::plan) fn touched(&self, way: Way<'_>, low: &[u64], word: usize) -> Vec<u64> {
        let fragment = match way {
            Way::Vector(vector) => {
                let copies = self.side.lanes.iter().zip(0..64).filter(|lane| *lane.0 == 0);
                let copies = copies.fold(0, |mask, (_, bit)| mask | 1 << bit);
                let width = self.bytes_log2 + vector;
                let joined = self.kind == Kind::Load && self.machine.phases.merges(width, copies);
                let width = width - u32::from(joined);
                let vector = vector as usize;
                return phase(self.machine, self.kind, self.side, width, low, vector, word);
            }
            Way::Matrix(fragment) => fragment,
        };
        let mut echelon = Echelon::of(low.iter().copied());
        let mut free = self.side.registers.iter().copied().filter(|&c| echelon.grows(c));
        let together = fragment.rows.iter().take(3);
        let rows = together.filter_map(|slot| match *slot {
            Slot::Lane(bit) => self.side.lanes.get(bit).copied(),
            Slot::Register(_) => free.next(),
        });
        let rows: Vec<u64> = rows.collect();
        let all = rows.into_iter().chain(low.iter().copied());
        all.filter(|&element| element != 0).collect()
    }
}
