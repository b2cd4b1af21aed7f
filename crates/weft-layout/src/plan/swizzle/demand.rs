//! One access in coordinates, and what it takes under a map from elements to offsets.

use alloc::vec::Vec;

use super::{
    forms::{Slot, Way},
    pair::Side,
    problem::SwizzleError,
    task::Task,
};
use crate::{
    access::{AccessError, Kind, matrix_wavefronts, wavefronts},
    f2::{Echelon, Matrix, Subspace, low_mask},
    machine::Machine,
    step::Form,
};

/// One access in coordinates.
pub(super) struct Demand<'m> {
    pub(super) machine: &'m Machine,
    pub(super) kind: Kind,
    pub(super) weight: u64,
    /// Independent registers, for a store none that other threads hold too; one column for each lane
    /// bit of the machine, zero for those that are idle or copies.
    pub(super) side: Side,
    /// The lane bits that take no part.
    idle: u64,
    /// The span of the registers.
    own: Subspace,
    /// The span of lanes and warps.
    threads: Subspace,
    /// The logarithm of the elements of one row over all banks that it sees.
    pub(super) row: u32,
    /// The ways in which it may move: vectors of one element, two, four and so on, then matrix moves.
    pub(super) ways: Vec<Way>,
}

/// What an access takes of one warp and round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) wavefronts: u64,
    /// Which of the ways.
    pub(super) way: usize,
}

/// What an access may do, beside what its layout says.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    pub(super) weight: u64,
    /// The logarithm of the most bytes of one lane in one instruction.
    pub(super) widest_log2: u32,
    pub(super) matrices: bool,
}

impl<'m> Demand<'m> {
    pub(super) fn new(
        machine: &'m Machine,
        kind: Kind,
        mut side: Side,
        bytes_log2: u32,
        allowed: Allowed,
    ) -> Demand<'m> {
        let mut idle = 0;
        let mut echelon = Echelon::new();
        if kind == Kind::Store {
            // Lanes and warps first: as many threads as possible share the work.
            for (bit, lane) in side.lanes.iter_mut().enumerate() {
                if !echelon.grows(*lane) {
                    *lane = 0;
                    idle |= 1 << bit;
                }
            }
            for warp in &mut side.warps {
                if !echelon.grows(*warp) {
                    *warp = 0;
                }
            }
        }
        side.registers.retain(|&column| echelon.grows(column));
        let own = Subspace::from_vectors(&side.registers);
        let threads = Subspace::spanned_by(side.lanes.iter().chain(&side.warps).copied());
        let apart = own.dim() - own.intersection(&threads).dim();
        let widest = allowed.widest_log2.saturating_sub(bytes_log2).min(apart);
        let vector = |vector| Way::vector(machine, kind, &side, idle, bytes_log2, vector);
        let mut ways: Vec<Way> = (0..=widest).map(vector).collect();
        // Every lane of a matrix store writes.
        if allowed.matrices && idle == 0 {
            ways.extend(Way::matrices(machine, kind, &side, bytes_log2, allowed.widest_log2));
        }
        let row = machine.banks_log2_of(kind).saturating_add(machine.bank_bytes_log2);
        let row = row.saturating_sub(bytes_log2);
        Demand { machine, kind, weight: allowed.weight, side, idle, own, threads, row, ways }
    }

    /// The way of this number; numbers come from `ways`.
    pub(super) fn way(&self, way: usize) -> &Way {
        &self.ways[way]
    }

    /// The least wavefronts of all ways.
    pub(super) fn floor(&self) -> u64 {
        self.ways.iter().map(|way| way.least(self.row)).min().unwrap_or(0)
    }

    /// The element at this lane bit.
    fn lane(&self, bit: usize) -> u64 {
        self.side.lanes.get(bit).copied().unwrap_or(0)
    }

    /// The elements that the registers step along.
    pub(super) fn own(&self) -> &Subspace {
        &self.own
    }

    /// The elements of lanes and warps, without these lane bits.
    fn threads_but(&self, lanes: &[Slot]) -> impl Iterator<Item = u64> + '_ {
        let left_out = lanes.iter().fold(0_u64, |mask, slot| match slot {
            Slot::Lane(bit) => mask | 1 << bit,
            Slot::Register => mask,
        });
        let lanes = self.side.lanes.iter().enumerate();
        let lanes = lanes.filter(move |(bit, _)| left_out >> bit & 1 == 0).map(|(_, lane)| lane);
        lanes.chain(&self.side.warps).copied()
    }

    /// What the way asks of the element at offset bit `bit`.
    pub(super) fn place(&self, way: usize, bit: usize) -> Option<Place> {
        Some(match self.way(way).low.get(bit)? {
            Slot::Register => Place { inside: self.own, element: None },
            Slot::Lane(lane) => {
                let element = self.lane(*lane);
                Place { inside: Subspace::from_vectors(&[element]), element: Some(element) }
            }
        })
    }

    /// What has no part at offset bit `bit`.
    pub(super) fn apart(&self, way: usize, bit: usize) -> Subspace {
        match self.way(way).low.get(bit) {
            None => Subspace::ZERO,
            Some(Slot::Register) => self.threads,
            Some(slot) => {
                let threads = self.threads_but(core::slice::from_ref(slot));
                Subspace::spanned_by(threads.chain(self.own.basis()))
            }
        }
    }

    /// Where the elements at the lowest `count` offset bits lie, and what has no part at any of
    /// these bits; nothing where the way does not speak of so many.
    pub(super) fn room(&self, way: usize, count: usize) -> Option<(Subspace, Subspace)> {
        let low = self.way(way).low.get(..count)?;
        let registers = low.contains(&Slot::Register);
        if low.iter().all(|slot| *slot == Slot::Register) {
            return Some((self.own, self.threads));
        }
        let lanes = low.iter().filter_map(|slot| match slot {
            Slot::Lane(bit) => Some(self.lane(*bit)),
            Slot::Register => None,
        });
        let inside = self.own.basis().filter(|_| registers).chain(lanes);
        let outside = self.own.basis().filter(|_| !registers).chain(self.threads_but(low));
        Some((Subspace::spanned_by(inside), Subspace::spanned_by(outside)))
    }

    /// What the access takes under a map from elements to offsets, in the best way that it allows:
    /// by the rank law on the addresses.
    pub(super) fn taken(&self, task: &Task<'_>, offsets: &Matrix) -> Result<Taken, SwizzleError> {
        let placed = Placed::new(&self.side, offsets);
        let mut best: Option<(u64, u64, usize)> = None;
        for (number, way) in self.ways.iter().enumerate().filter(|(_, way)| placed.allows(way)) {
            let one = match way.form {
                Form::Vector => {
                    let columns = addresses(&placed.side.lanes, task.bytes_log2);
                    let bytes = 1 << way.width_log2(task.bytes_log2);
                    wavefronts(self.machine, self.kind, &columns, bytes, self.idle)?
                }
                Form::Matrix(matrix) => {
                    let rows = addresses(&placed.rows(way, self.row), task.bytes_log2);
                    let mut moves = self.machine.matrix_moves.iter();
                    let found = moves.find(|found| found.moves(self.kind, matrix, way.count()));
                    let bytes = 1 << way.width_log2(task.bytes_log2);
                    let found = found.ok_or(AccessError::Matrices { matrix, bytes })?;
                    matrix_wavefronts(self.machine, found, &rows)?
                }
            };
            // Fewer instructions win where wavefronts are equal, then plain vectors.
            let key = (way.all(one.actual), way.instructions());
            if best.is_none_or(|best| key < (best.0, best.1)) {
                best = Some((key.0, key.1, number));
            }
        }
        let (wavefronts, _, way) = best.unwrap_or_default();
        Ok(Taken { wavefronts, way })
    }
}

/// What is asked of the element at an offset bit.
pub(super) struct Place {
    /// It lies in this subspace.
    pub(super) inside: Subspace,
    /// It is this element, where one is given.
    pub(super) element: Option<u64>,
}

/// An access whose elements are offsets.
pub(super) struct Placed {
    side: Side,
    /// The span of the registers.
    held: Subspace,
    /// The offset bits that some lane or warp has.
    low: u64,
}

impl Placed {
    pub(super) fn new(side: &Side, offsets: &Matrix) -> Placed {
        let apply = |columns: &[u64]| columns.iter().map(|&c| offsets.apply(c)).collect();
        let side = Side {
            registers: apply(&side.registers),
            lanes: apply(&side.lanes),
            warps: apply(&side.warps),
        };
        let held = Subspace::from_vectors(&side.registers);
        let low = side.lanes.iter().chain(&side.warps).fold(0, |all, offset| all | offset);
        Placed { side, held, low }
    }

    /// Whether the elements stand where the way wants them.
    pub(super) fn allows(&self, way: &Way) -> bool {
        let low = low_mask(way.length());
        if way.form == Form::Vector {
            return self.low & low == 0
                && (0..way.length()).all(|bit| self.held.contains(1 << bit));
        }
        let (mut along, mut walking) = (0_u64, 0_u64);
        for (bit, slot) in way.low.iter().enumerate() {
            match *slot {
                Slot::Register if !self.held.contains(1 << bit) => return false,
                Slot::Register => {}
                Slot::Lane(lane) if self.side.lanes.get(lane) != Some(&(1 << bit)) => return false,
                Slot::Lane(lane) => (along, walking) = (along | 1 << bit, walking | 1 << lane),
            }
        }
        let others = self.side.lanes.iter().enumerate();
        let mut others = others.filter(|(lane, _)| walking >> lane & 1 == 0).map(|(_, lane)| lane);
        others.all(|offset| offset & low == 0)
            && self.side.warps.iter().all(|offset| offset & low == 0)
            && self.side.registers.iter().all(|offset| offset & along == 0)
    }

    /// The offsets of the bits of a row's number, with the registers that collide least; a row over
    /// all banks has 2^`row` elements.
    pub(super) fn rows(&self, way: &Way, row: u32) -> Vec<u64> {
        let lanes = way.rows.iter().filter_map(|slot| match slot {
            Slot::Lane(bit) => self.side.lanes.get(*bit).copied(),
            Slot::Register => None,
        });
        let (low, banks) = (low_mask(way.length()), low_mask(row));
        let lanes: Vec<u64> = lanes.collect();
        let together = lanes.iter().take(way.lanes_together());
        let mut registers = registers_of_rows(
            &Subspace::spanned_by(self.held.basis().map(|offset| offset & !low)),
            &Subspace::spanned_by(together.copied()),
            |offset| offset & banks,
            way.chosen(),
        )
        .into_iter();
        let mut lanes = lanes.into_iter();
        let next = |slot: &Slot| match slot {
            Slot::Register => registers.next(),
            Slot::Lane(_) => lanes.next(),
        };
        way.rows.iter().filter_map(next).collect()
    }
}

fn addresses(offsets: &[u64], bytes_log2: u32) -> Vec<u64> {
    offsets.iter().map(|offset| offset << bytes_log2).collect()
}

/// `count` independent registers that collide least with the rows that lanes count: those that are
/// such rows themselves, then those in new banks.
fn registers_of_rows(
    own: &Subspace,
    lanes: &Subspace,
    bank: impl Fn(u64) -> u64,
    count: u32,
) -> Vec<u64> {
    let mut banks = Echelon::of(lanes.basis().map(&bank));
    let same = own.intersection(lanes);
    let (new, old): (Vec<u64>, Vec<u64>) = own.basis().partition(|&x| banks.grows(bank(x)));
    let mut chosen = Echelon::new();
    let all = same.basis().chain(new).chain(old);
    all.filter(|&x| chosen.grows(x)).take(count as usize).collect()
}
