//! Conversions through shared memory.
//!
//! Which elements stand at the lowest offsets says how each side can move: by vectors, where its
//! registers are there, or by matrices, where the lanes and registers of a row are ([`ways`](crate::plan::buffer::ways)).
//! So every such choice that suits a side, or both, is a candidate; segments are chosen so that the
//! phases of both sides meet different banks, and the accesses are priced before any is written.

use alloc::{vec, vec::Vec};

use super::rounds::Rounds;
use crate::plan::{
    PlanError,
    buffer::align::{Aligned, aligned, shared_first},
    buffer::fragment::Fragment,
    buffer::moves::Moves,
    buffer::sides::{Reader, Sides, StoringSide},
    buffer::ways::{Actor, Way},
    priced,
    swizzle::{Arranged, Phases, Preference, arrange, fill_word, vector_part},
    writing::builder::{concat, permute},
};
use crate::{
    access::widest_shared_log2,
    f2::Matrix,
    layout::{Layout, LayoutError},
    machine::{Kind, Machine},
    space::{LANE, REGISTER, WARP},
    step::{Acting, Cost, File, FileType, Plan, Scope, Step, Strategy},
};

/// How both sides move, and what that takes at least in one round.
struct Candidate<'a> {
    store: Moves<'a>,
    load: Moves<'a>,
    cost: Cost,
    /// Words that registers must be moved for.
    displaced: u64,
    matrices: bool,
}

/// What the cheapest is the least of: how long the busiest pipe takes, instructions, and words out of order.
type Key = (u64, u64, u64);

impl Candidate<'_> {
    fn key(&self, machine: &Machine) -> Key {
        self.key_of(self.cost, machine)
    }

    /// The key of what costs this in the end.
    fn key_of(&self, cost: Cost, machine: &Machine) -> Key {
        (cost.busiest(&machine.prices), cost.instructions, self.displaced)
    }

    fn has_conflicts(&self) -> bool {
        self.cost.wavefronts > self.cost.ideal_wavefronts
    }

    /// Nothing collides, and no vector could be wider.
    fn is_wide(&self) -> bool {
        !self.has_conflicts() && self.store.is_wide() && self.load.is_wide()
    }
}

/// Stores every element once, waits, and loads what each thread needs; in several rounds when
/// shared memory cannot hold all elements at once.
///
/// `source` maps places of `to` to places of `from`.
/// Gives the cheapest plan, with its cost; with `all` that of each kind: vectors on both sides, and
/// matrices on one or both.
pub(in crate::plan) fn plans(
    from: &Layout,
    to: &Layout,
    source: &Layout,
    bits: u32,
    machine: &Machine,
    all: bool,
) -> Result<Vec<Plan>, PlanError> {
    let bytes_log2 = (bits / 8).max(1).ilog2();
    let available = machine.shared_bytes_per_block;
    let room = (available >> bytes_log2).max(1).ilog2();
    let own = Sides::within_warps(from, source).filter(|sides| sides.bits <= room);
    let sides = own.unwrap_or_else(|| Sides::of(from, to));
    let excess = sides.bits.saturating_sub(room);
    let rounds = Rounds::new(&sides.from, &sides.to, sides.bits, excess);
    let needed = 1_u64.checked_shl(sides.bits + bytes_log2).unwrap_or(u64::MAX);
    let rounds = rounds.ok_or(PlanError::Scratch { needed, available })?;
    let writer = StoringSide::of(&rounds.from.side);
    let reader = Reader::of(&rounds.to.side);
    let numbers: Vec<u64> = (0..reader.side.registers.len()).map(|bit| 1 << bit).collect();
    let actor =
        |kind, side, numbers, acting| Actor { machine, kind, side, numbers, acting, bytes_log2 };
    let scope = if writer.feeds_own_warp(&reader.side) { Scope::Warp } else { Scope::Block };
    let search = Search {
        machine,
        bits: sides.bits - excess,
        bytes_log2,
        store: actor(Kind::Store, &writer.side, writer.numbers(), writer.acting),
        load: actor(Kind::Load, &reader.side, &numbers, Acting::ALL),
        fragments: [Kind::Store, Kind::Load].map(|kind| Fragment::all(machine, kind, bytes_log2)),
        given: if excess == 0 { reader.parts.as_slice() } else { &[] },
        writer: &|candidate: &Candidate<'_>| {
            let ty = FileType { registers: 1 << from.in_bits(REGISTER), element_bits: bits };
            let mut plan = Plan::new(&[ty], from.in_bits(LANE), from.in_bits(WARP));
            let mut loaded = Vec::new();
            for round in 0..1_u64 << excess {
                if round > 0 {
                    plan.steps.push(Step::Barrier(scope));
                }
                let part = permute(&mut plan, File(0), rounds.from.registers(round));
                plan.steps.push(Step::Access(candidate.store.access(part)));
                plan.steps.push(Step::Barrier(scope));
                let file = plan.add_file(1 << reader.side.registers.len(), bits);
                plan.steps.push(Step::Access(candidate.load.access(file)));
                loaded.push(permute(&mut plan, file, reader.expanded()));
            }
            let file = concat(&mut plan, loaded);
            plan.outputs = vec![permute(&mut plan, file, rounds.to.positions())];
            plan.scratch_bytes = 1 << (sides.bits - excess + bytes_log2);
            plan.strategy = Strategy::SharedMemory;
            priced(plan, machine)
        },
    };
    let mut found = search.run()?;
    found.sort_by_key(|candidate| candidate.key(machine));
    if !all {
        return Ok(vec![search.cheapest(&found)?]);
    }
    let (matrices, vectors): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| one.matrices);
    let kinds = [vectors, matrices].into_iter().filter(|kind| !kind.is_empty());
    kinds.map(|kind| search.cheapest(&kind)).collect()
}

/// The choice of low offset bits and of ways.
struct Search<'a> {
    machine: &'a Machine,
    bits: u32,
    bytes_log2: u32,
    store: Actor<'a>,
    load: Actor<'a>,
    fragments: [Vec<Fragment<'a>>; 2],
    /// For each register bit of the result its part in the registers that are loaded; nothing where
    /// they are loaded in several rounds.
    given: &'a [u64],
    /// The whole plan of a candidate, with its cost.
    writer: &'a dyn Fn(&Candidate<'_>) -> Result<Plan, PlanError>,
}

impl Search<'_> {
    /// The candidates that may be the cheapest.
    fn run(&self) -> Result<Vec<Candidate<'_>>, PlanError> {
        let mut found: Vec<Candidate<'_>> = Vec::new();
        for widest in (0..=widest_shared_log2(self.machine)).rev() {
            let Some(widest) = widest.checked_sub(self.bytes_log2) else { break };
            let mut tried: Vec<Vec<u64>> = Vec::new();
            for low in self.lows(widest) {
                if tried.contains(&low) {
                    continue;
                }
                let first = found.len();
                self.try_all(&low, widest, false, &mut found)?;
                tried.push(low);
                for candidate in found.iter().skip(first).filter(|one| one.is_wide()) {
                    let Cost { wavefronts, alu, .. } = (self.writer)(candidate)?.cost;
                    // Only memory is busy, and it cannot be less so. Where bytes are put into words, or words
                    // in another order, a matrix move may spare that.
                    let in_place = alu == 0 && candidate.displaced == 0;
                    if wavefronts == candidate.cost.wavefronts && in_place {
                        return Ok(found.drain(first..).collect());
                    }
                }
            }
            // Narrower vectors only help where wide ones collide.
            if found.iter().any(|one| !one.has_conflicts()) {
                break;
            }
        }
        let widest = widest_shared_log2(self.machine).saturating_sub(self.bytes_log2);
        let mut tried: Vec<Vec<u64>> = Vec::new();
        for low in self.rows() {
            if !tried.contains(&low) {
                self.try_all(&low, widest, true, &mut found)?;
                tried.push(low);
            }
        }
        Ok(found)
    }

    /// The cheapest plan of these candidates, the one that may be cheapest first.
    fn cheapest(&self, found: &[Candidate<'_>]) -> Result<Plan, PlanError> {
        let mut best: Option<(Key, Plan)> = None;
        for candidate in found {
            if best.as_ref().is_some_and(|(best, _)| *best <= candidate.key(self.machine)) {
                break;
            }
            let plan = (self.writer)(candidate)?;
            let key = candidate.key_of(plan.cost, self.machine);
            if best.as_ref().is_none_or(|(best, _)| key < *best) {
                best = Some((key, plan));
            }
        }
        best.map(|(_, plan)| plan).ok_or(PlanError::TooLarge)
    }

    /// The elements at the lowest offset bits that suit vectors.
    fn lows(&self, widest: u32) -> impl Iterator<Item = Vec<u64>> {
        let (store, load) = (self.store.side, self.load.side);
        let word = self.word();
        let simple = Preference::ALL.into_iter().map(move |preference| {
            let (mut low, _) = vector_part(store, load, preference, widest as usize);
            fill_word(&mut low, word, store, load);
            low
        });
        let shared = [store, load].into_iter().map(move |more| {
            let mut low = shared_first(store, load, widest as usize, more);
            fill_word(&mut low, word, store, load);
            low
        });
        simple.chain(shared)
    }

    /// The elements at the lowest offset bits that suit matrices of one side or both.
    fn rows(&self) -> Vec<Vec<u64>> {
        let (store, load) = (self.store.side, self.load.side);
        let [stores, loads] = &self.fragments;
        let mut found = Vec::new();
        if self.store.acting.idle_lanes == 0 {
            for fragment in stores {
                let with = loads.iter().map(Some).chain([None]);
                found.extend(with.filter_map(|with| fragment.shared(store, with, load)));
            }
        }
        found.extend(loads.iter().filter_map(|fragment| fragment.shared(load, None, store)));
        found
    }

    /// The logarithm of the elements of a word.
    fn word(&self) -> usize {
        let word = self.machine.bank_bytes_log2.saturating_sub(self.bytes_log2);
        word.min(self.bits) as usize
    }

    /// Tries all ways that `low` allows; with `matrices` only those with a matrix move.
    fn try_all<'s>(
        &'s self,
        low: &[u64],
        widest: u32,
        matrices: bool,
        found: &mut Vec<Candidate<'s>>,
    ) -> Result<(), LayoutError> {
        let [stores, loads] = &self.fragments;
        let is_matrix = |way: &Way<'_>| matches!(way, Way::Matrix(_));
        for store in self.store.ways(low, widest, stores) {
            for load in self.load.ways(low, widest, loads) {
                if (is_matrix(&store) || is_matrix(&load)) != matrices {
                    continue;
                }
                self.candidates(low, store, load, found)?;
            }
        }
        Ok(())
    }

    /// The candidates that move these ways.
    fn candidates<'s>(
        &'s self,
        low: &[u64],
        store: Way<'s>,
        load: Way<'s>,
        found: &mut Vec<Candidate<'s>>,
    ) -> Result<(), LayoutError> {
        let word = self.word();
        let phases = Phases {
            store: self.store.touched(store, low, word),
            load: self.load.touched(load, low, word),
            rigid: low.to_vec(),
        };
        let row = self.machine.row_bytes_log2().saturating_sub(self.bytes_log2);
        let (writer, reader) = (self.store.side, self.load.side);
        let Arranged { offsets, .. } = arrange(self.bits, row, writer, reader, &phases)?;
        let first = self.candidate(store, load, &offsets);
        let as_wanted = |one: &Candidate<'_>| one.store.moves(store) && one.load.moves(load);
        let done = first.as_ref().is_some_and(as_wanted);
        found.extend(first);
        if done {
            return Ok(());
        }
        // Threads move addresses by less than a vector or a row: first one side is seen to, then the
        // other.
        for store_first in [true, false] {
            let sides = ((&self.store, store), (&self.load, load));
            let Some(inside) = aligned(sides.0, sides.1, &phases, store_first) else { continue };
            let Aligned { store: writer, load: reader, phases } = inside;
            let Arranged { offsets, .. } = arrange(self.bits, row, &writer, &reader, &phases)?;
            found.extend(self.candidate(store, load, &offsets));
        }
        Ok(())
    }

    /// What these offsets make of two ways.
    fn candidate<'s>(
        &'s self,
        store: Way<'s>,
        load: Way<'s>,
        offsets: &Matrix,
    ) -> Option<Candidate<'s>> {
        let matrices = matches!(store, Way::Matrix(_)) || matches!(load, Way::Matrix(_));
        let (store, load) = (self.store.place(store, offsets)?, self.load.place(load, offsets)?);
        let mut cost = Cost::default();
        let priced = store.price(&mut cost, &[]).and_then(|()| load.price(&mut cost, self.given));
        let displaced = store.displaced(&[]) + load.displaced(self.given);
        priced.is_ok().then_some(Candidate { store, load, cost, displaced, matrices })
    }
}
