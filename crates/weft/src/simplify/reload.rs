//! Loads again, round by round, what registers cannot keep through a loop.
//!
//! A tile that does not change in a loop, such as the queries of attention, is loaded from shared memory in front
//! of it, and its fragments stay in registers. Where these do not suffice the assembler spills, and far beyond
//! that it gives up keeping anything in registers. But the tile still lies in its piece of scratch memory: while
//! nothing else is stored there, each round may load what it needs, where it first needs it.
//!
//! Where a branch is around the loop, loads that nothing else uses are first moved from in front of it to its beginning.
//!
//! Loads leave the front of a loop in their order until what is left fits. The price is their wavefronts in each
//! round, and that the piece stays in use ([`pack`](super::pack) shares its bytes with nothing then).

use super::pieces::Pieces;
use super::registers::{self, Loads, each_operand};
use crate::budget::Stop;
use crate::id::IdMap;
use crate::lane::effects::Latency;
use crate::lane::{Inst, InstData, Op, Program, Region, Shared, Space, Value};
use core::ops::RangeInclusive;
use rustc_hash::FxHashMap;

/// Loads again what does not fit, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let pieces = Pieces::of(&program);
    let mut body = core::mem::take(&mut program.body);
    let room = registers::room(&program, registers::MOST);
    let mut pass = Pass { program, pieces, room, stop: stop.clone() };
    pass.region(&mut body);
    let mut program = pass.program;
    program.body = body;
    program
}

struct Pass {
    program: Program,
    pieces: Pieces,
    /// The registers that values may take.
    room: u32,
    stop: Stop,
}

impl Pass {
    /// Goes over a list, and then over those inside it, which may take over what it gave.
    fn region(&mut self, region: &mut Region) {
        let loops =
            region.insts.iter().copied().filter(|&id| self.program.insts[id].op == Op::Loop);
        for id in loops.collect::<Vec<_>>() {
            if self.stop.is_set() {
                return;
            }
            let Some(place) = region.insts.iter().position(|&inst| inst == id) else { continue };
            let wanted = self.wanted(id);
            if wanted > 0 {
                self.relieve(region, place, wanted);
            }
        }
        self.enter_branches(region);
        for &id in &region.insts {
            let mut inner = core::mem::take(&mut self.program.insts[id].regions);
            for inner in &mut inner {
                self.region(inner);
            }
            self.program.insts[id].regions = inner;
        }
    }

    /// The registers that are missing in a loop.
    fn wanted(&self, id: Inst) -> u32 {
        let live = registers::through(&self.program, id, Loads::InPlace, &self.stop);
        live.saturating_sub(self.room)
    }

    /// Moves loads to the beginning of branches where a loop lacks registers. All threads take such a branch, since it has
    /// a loop.
    fn enter_branches(&mut self, region: &mut Region) {
        let branches = region.insts.iter().copied();
        let branches: Vec<Inst> =
            branches.filter(|&id| self.program.insts[id].op == Op::If).collect();
        for id in branches {
            for side in 0..self.program.insts[id].regions.len() {
                let inner = &self.program.insts[id].regions[side];
                let mut loops =
                    inner.insts.iter().filter(|&&id| self.program.insts[id].op == Op::Loop);
                if !self.stop.is_set() && loops.any(|&id| self.wanted(id) > 0) {
                    self.enter(region, id, side);
                }
            }
        }
    }

    /// Moves loads that only one side of a branch uses to its beginning.
    fn enter(&mut self, region: &mut Region, branch: Inst, side: usize) {
        let list = List::of(self, region);
        let place = list.places[&branch];
        let mut elsewhere: IdMap<Value, bool> = IdMap::default();
        self.program.insts[branch].operands.iter().for_each(|&value| elsewhere.set(value, true));
        for (other, inner) in self.program.insts[branch].regions.iter().enumerate() {
            if other != side {
                self.program.walk(inner, &mut |_, inst| {
                    inst.operands.iter().for_each(|&value| elsewhere.set(value, true));
                });
            }
        }
        let mut moved = Vec::new();
        for (at, &id) in region.insts[..place].iter().enumerate() {
            let inst = &self.program.insts[id];
            let only_here =
                list.users(inst) == [branch] && !inst.results.iter().any(|&value| elsewhere[value]);
            if only_here && self.may_go(&list, inst, at..=place) {
                moved.push(id);
            }
        }
        region.insts.retain(|id| !moved.contains(id));
        self.program.insts[branch].regions[side].insts.splice(0..0, moved);
    }

    /// Moves loads into the loop at a place of a list until they take so many registers.
    fn relieve(&mut self, region: &mut Region, place: usize, wanted: u32) {
        let list = List::of(self, region);
        let (target, mut freed, mut moved) = (region.insts[place], 0, Vec::new());
        for (at, &id) in region.insts[..place].iter().enumerate() {
            if freed >= wanted {
                break;
            }
            if self.may_move(&list, region, at, target) {
                let results = self.program.insts[id].results.iter();
                let words = results.map(|&value| self.program.dtype(value).bytes().div_ceil(4));
                freed += words.sum::<u32>();
                moved.push(id);
            }
        }
        region.insts.retain(|id| !moved.contains(id));
        let mut into: Vec<Inst> =
            moved.iter().flat_map(|&id| list.users(&self.program.insts[id])).collect();
        into.sort_unstable();
        into.dedup();
        for owner in into {
            let wanted = moved.iter().copied();
            let wanted = wanted.filter(|&id| list.users(&self.program.insts[id]).contains(&owner));
            let wanted: Vec<Inst> = wanted.collect();
            self.load_in(owner, &wanted);
        }
    }

    /// Whether loops of the list may load in each round what the operation at a place of it loads: nothing else
    /// uses it, this loop does, and nothing is stored to its piece until they are done.
    fn may_move(&self, list: &List, region: &Region, at: usize, target: Inst) -> bool {
        let inst = &self.program.insts[region.insts[at]];
        let users = list.users(inst);
        let inside = |&user: &Inst| {
            let owner = &self.program.insts[user];
            owner.op == Op::Loop && !owner.operands.iter().any(|value| inst.results.contains(value))
        };
        let last = users.iter().filter_map(|user| list.places.get(user)).max();
        users.contains(&target)
            && users.iter().all(inside)
            && last.is_some_and(|&last| self.may_go(list, inst, at..=last))
    }

    /// Whether what an operation loads is the same anywhere among some places of a list: it loads from scratch memory
    /// that nothing stores to there.
    fn may_go(&self, list: &List, inst: &InstData, places: RangeInclusive<usize>) -> bool {
        let effects = inst.op.effects();
        let plain = effects.is_removable() && effects.latency == Latency::Shared;
        let alone = inst.memory_operands().is_some_and(|roles| roles.predicate.is_none());
        let piece = self.pieces.addressed(inst).filter(|_| plain && alone);
        let is_stored = |piece| {
            let stores = list.stores.get(&piece).map_or(&[][..], |stores| stores);
            stores.iter().any(|place| places.contains(place))
        };
        piece.is_some_and(|piece| self.program.shared[piece].scratch && !is_stored(piece))
    }

    /// Loads in each round of a loop what operations in front of it load, each where it is first used.
    fn load_in(&mut self, owner: Inst, loads: &[Inst]) {
        let mut from: FxHashMap<Value, usize> = FxHashMap::default();
        for (index, &id) in loads.iter().enumerate() {
            from.extend(self.program.insts[id].results.iter().map(|&value| (value, index)));
        }
        let mut regions = core::mem::take(&mut self.program.insts[owner].regions);
        for body in &mut regions {
            let mut first: Vec<Option<usize>> = vec![None; loads.len()];
            for (place, &id) in body.insts.iter().enumerate() {
                each_operand(&self.program, id, &mut |value| {
                    if let Some(&index) = from.get(&value) {
                        first[index].get_or_insert(place);
                    }
                });
            }
            let mut own: FxHashMap<Value, Value> = FxHashMap::default();
            let mut new: Vec<(usize, Inst)> = Vec::new();
            for (&id, first) in loads.iter().zip(first) {
                let Some(first) = first else { continue };
                let mut load = self.program.insts[id].clone();
                for value in &mut load.results {
                    let data = self.program.values[*value];
                    let again = self.program.values.push(data);
                    own.insert(*value, again);
                    *value = again;
                }
                new.push((first, self.program.insts.push(load)));
            }
            for &id in &body.insts {
                registers::replace_operands(&mut self.program, id, &own);
            }
            new.sort_by_key(|&(place, _)| place);
            let mut new = new.into_iter().peekable();
            let mut insts = Vec::with_capacity(body.insts.len() + loads.len());
            for (place, &id) in body.insts.iter().enumerate() {
                while let Some((_, load)) = new.next_if(|&(first, _)| first == place) {
                    insts.push(load);
                }
                insts.push(id);
            }
            body.insts = insts;
        }
        self.program.insts[owner].regions = regions;
    }
}

/// What a list of operations does, by place.
struct List {
    /// The operations of the list that take a value, or have one inside that does.
    users: FxHashMap<Value, Vec<Inst>>,
    places: FxHashMap<Inst, usize>,
    /// Where something may be stored to each piece.
    stores: FxHashMap<Shared, Vec<usize>>,
}

impl List {
    fn of(pass: &Pass, region: &Region) -> Self {
        let mut list = Self {
            users: FxHashMap::default(),
            places: FxHashMap::default(),
            stores: FxHashMap::default(),
        };
        for (place, &id) in region.insts.iter().enumerate() {
            list.places.insert(id, place);
            each_operand(&pass.program, id, &mut |value| {
                let users = list.users.entry(value).or_default();
                if users.last() != Some(&id) {
                    users.push(id);
                }
            });
            let mut note = |inst: &InstData| {
                if inst.op.effects().writes.has(Space::Shared) {
                    for &piece in pass.pieces.touched(inst) {
                        list.stores.entry(piece).or_default().push(place);
                    }
                }
            };
            let inst = &pass.program.insts[id];
            note(inst);
            for region in &inst.regions {
                pass.program.walk(region, &mut |_, inner| note(inner));
            }
        }
        list
    }

    /// The operations that use what one gives.
    fn users(&self, inst: &InstData) -> Vec<Inst> {
        let all = inst.results.iter().filter_map(|value| self.users.get(value));
        let mut all: Vec<Inst> = all.flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
