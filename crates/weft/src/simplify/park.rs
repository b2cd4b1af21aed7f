//! Parks in shared memory, over a loop, what an assembler found no registers for.
//!
//! What a loop only reads, such as factors that are scaled in front of it, is live through all of its iterations,
//! though each of them needs it at one place. Where registers do not suffice an assembler spills word by word, also
//! values that the loop changes, which are then stored and loaded in each iteration. Instead the words of a value
//! that is only read are stored to shared memory in front of the loop, four at a time, and each iteration loads them
//! where it first uses them. A thread loads what it stored itself, so that no barrier is needed, and the lanes of a
//! warp lie side by side, so that they have no bank conflicts.
//!
//! Words that are used in the shortest stretch of a round are parked first. What was not computed from memory,
//! addresses for one, is left to the assembler, which computes it again; so are factors that a product in flight reads
//! from registers, since loads between such products would make them wait for one another.
//!
//! Only an assembler can tell how many words do not fit: [`parked`] is for callers that can ask one.

use super::registers::{self, Loads, Registers, each_operand};
use crate::budget::Stop;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::effects::Spaces;
use crate::lane::{
    Access, BarrierScope, IdKind, Inst, InstData, Op, Program, Region, SharedData, Space, Value,
    ValueData,
};
use crate::location::Loc;
use crate::scalar::Binary;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::collections::{BTreeMap, BTreeSet};

/// The most words that one access moves.
const WORDS: usize = 4;
/// The bytes of a word.
const WORD: u32 = 4;
/// How an access of the most words is aligned, in bytes.
const ALIGN: u32 = WORD * WORDS as u32;

/// The program with so many words of each loop that registers do not suffice for in shared memory, if there are any;
/// `registers` are those that a thread has.
///
/// The program is a finished one: nothing is put between its accesses to shared memory, and the new ones take bytes of
/// their own, no more than keep any block off the multiprocessor.
pub fn parked(program: &Program, words: u32, registers: u32) -> Option<Program> {
    parked_within(program, registers::MOST, words, registers)
}

/// The same over each loop in which more is live than fits a thread of `enough` registers.
pub fn parked_within(
    program: &Program,
    enough: u32,
    words: u32,
    registers: u32,
) -> Option<Program> {
    let room = registers::room(program, enough);
    let bytes = program.multiprocessor?.share(program.threads(), registers);
    let left = bytes.saturating_sub(program.shared_bytes.next_multiple_of(ALIGN));
    let mut program = program.clone();
    let mut body = core::mem::take(&mut program.body);
    let mut pass = Pass { program, room, left };
    let freed = pass.region(&mut body, words);
    let mut program = pass.program;
    program.body = body;
    (freed > 0).then_some(program)
}

struct Pass {
    program: Program,
    /// The registers that values may take.
    room: u32,
    /// The bytes of shared memory that may still be taken.
    left: u32,
}

/// A list of operations inside a loop: an operation, and the number of its region.
type List = (Inst, usize);

/// Where a round uses words.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stretch {
    list: List,
    /// The operations of the list that use them first and last.
    first: usize,
    last: usize,
}

impl Stretch {
    fn length(self) -> usize {
        self.last - self.first
    }
}

/// Words that one access moves.
struct Group {
    values: Vec<Value>,
    stretch: Stretch,
    /// The operation in front of the loop behind which all are there.
    behind: usize,
}

impl Pass {
    /// Whether more is live in a loop than there are registers for.
    fn is_full(&self, id: Inst) -> bool {
        registers::through(&self.program, id, Loads::AtUse, &Stop::default()) > self.room
    }

    /// Parks so many words over each loop of a list and those inside it; gives how many at most.
    fn region(&mut self, region: &mut Region, wanted: u32) -> u32 {
        let mut most = 0;
        for id in region.insts.clone() {
            let is_loop = self.program.insts[id].op == Op::Loop;
            let freed =
                if is_loop && self.is_full(id) { self.relieve(region, id, wanted) } else { 0 };
            let mut inner = core::mem::take(&mut self.program.insts[id].regions);
            let more = inner
                .iter_mut()
                .map(|inner| self.region(inner, wanted.saturating_sub(freed)))
                .max();
            self.program.insts[id].regions = inner;
            most = most.max(freed + more.unwrap_or(0));
        }
        most
    }

    /// Parks so many words over a loop of a list; gives how many.
    fn relieve(&mut self, region: &mut Region, id: Inst, wanted: u32) -> u32 {
        let Some(place) = region.insts.iter().position(|&inst| inst == id) else { return 0 };
        let threads = self.program.threads();
        let mut groups = self.groups(region, place);
        groups.sort_by_key(|group| (group.stretch.length(), group.behind));
        let (mut freed, mut bytes) = (0, 0);
        groups.retain(|group| {
            let words = group.values.len() as u32;
            let more = words * WORD * threads;
            let takes = freed < wanted && bytes + more <= self.left;
            if takes {
                (freed, bytes) = (freed + words, bytes + more);
            }
            takes
        });
        if groups.is_empty() {
            return 0;
        }
        self.left -= bytes;
        let offset = self.program.shared_bytes.next_multiple_of(ALIGN);
        self.program.shared_bytes = offset + bytes;
        let piece = self.program.shared.push(SharedData {
            bytes,
            align: ALIGN,
            offset,
            scope: BarrierScope::Warp,
            scratch: false,
            renewed: false,
            ordered: false,
            turns: None,
            mbarriers: false,
        });
        let loc = self.program.insts[id].loc;
        let mut offset = 0;
        let mut stores: Vec<(usize, Inst)> = Vec::new();
        let mut loads: BTreeMap<List, Vec<(usize, Inst)>> = BTreeMap::new();
        // The first byte of a thread, by the words of a group.
        let mut own: FxHashMap<usize, Value> = FxHashMap::default();
        let mut front: Vec<Inst> = Vec::new();
        for group in &groups {
            let words = group.values.len();
            let address = *own.entry(words).or_insert_with(|| {
                let thread = self.made(&mut front, loc, Op::Id(IdKind::Thread), smallvec![]);
                let size = self.made(
                    &mut front,
                    loc,
                    Op::Const(u64::from(WORD) * words as u64),
                    smallvec![],
                );
                let far =
                    self.made(&mut front, loc, Op::Binary(Binary::Mul), smallvec![thread, size]);
                let base = self.made(&mut front, loc, Op::SharedBase(piece), smallvec![]);
                self.made(&mut front, loc, Op::Binary(Binary::Add), smallvec![base, far])
            });
            let access = Access { offset: offset as i32, ..Access::default() };
            offset += words as u32 * WORD * threads;
            let loc = self.program.insts[region.insts[group.behind]].loc;
            let operands = core::iter::once(address).chain(group.values.iter().copied()).collect();
            let store = InstData {
                op: Op::Store { space: Space::Shared, access },
                operands,
                results: smallvec![],
                regions: vec![],
                loc,
            };
            stores.push((group.behind, self.program.insts.push(store)));
            let again: SmallVec<[Value; 2]> = group
                .values
                .iter()
                .map(|&value| {
                    let data = self.program.values[value];
                    self.program.values.push(data)
                })
                .collect();
            let load = InstData {
                op: Op::Load { space: Space::Shared, access },
                operands: smallvec![address],
                results: again.clone(),
                regions: vec![],
                loc,
            };
            let load = self.program.insts.push(load);
            let Stretch { list, first, last } = group.stretch;
            loads.entry(list).or_default().push((first, load));
            let by = group.values.iter().copied().zip(again).collect();
            let (inst, number) = list;
            let users = self.program.insts[inst].regions[number].insts[first..=last].to_vec();
            for user in users {
                registers::replace_operands(&mut self.program, user, &by);
            }
        }
        for ((inst, number), mut loads) in loads {
            loads.sort_by_key(|&(at, _)| at);
            let insts = core::mem::take(&mut self.program.insts[inst].regions[number].insts);
            self.program.insts[inst].regions[number].insts = with(insts, &loads, false);
        }
        // Addresses stand in front of everything.
        stores.sort_by_key(|&(at, _)| at);
        let insts = core::mem::take(&mut region.insts);
        let insts = with(insts, &stores, true);
        region.insts = front.into_iter().chain(insts).collect();
        freed
    }

    /// Adds an operation that gives an i32.
    fn made(
        &mut self,
        list: &mut Vec<Inst>,
        loc: Loc,
        op: Op,
        operands: SmallVec<[Value; 4]>,
    ) -> Value {
        let result = self.program.values.push(ValueData { dtype: DType::I32 });
        let inst = InstData { op, operands, results: smallvec![result], regions: vec![], loc };
        list.push(self.program.insts.push(inst));
        result
    }

    /// What may be parked over the loop at a place of a list.
    fn groups(&self, region: &Region, place: usize) -> Vec<Group> {
        let program = &self.program;
        let target = region.insts[place];
        let known = Registers::of(program);
        let mut read: IdMap<Value, bool> = IdMap::default();
        let mut defined: FxHashMap<Value, usize> = FxHashMap::default();
        for (at, &id) in region.insts[..place].iter().enumerate() {
            let inst = &program.insts[id];
            let effects = inst.op.effects();
            let comes = effects.reads != Spaces::NONE
                || !inst.regions.is_empty()
                || inst.operands.iter().any(|&operand| read[operand]);
            for &result in inst.results.iter().filter(|_| comes) {
                read.set(result, true);
                let is_word = program.dtype(result).bytes() == WORD;
                if is_word && known.words(program, result) == 1 {
                    defined.insert(result, at);
                }
            }
        }
        // What the loop changes, or others need behind it, stays, and so do factors of products in flight.
        for &operand in &program.insts[target].operands {
            defined.remove(&operand);
        }
        for body in &program.insts[target].regions {
            program.walk(body, &mut |_, inst| {
                if inst.op.effects().starts_product() {
                    inst.operands.iter().for_each(|operand| {
                        defined.remove(operand);
                    });
                }
            });
        }
        for &id in &region.insts[place + 1..] {
            each_operand(program, id, &mut |value| {
                defined.remove(&value);
            });
        }
        let mut stretches = FxHashMap::default();
        self.stretches((target, 0), &|value| defined.contains_key(&value), &mut stretches);
        let mut found: Vec<(Value, Stretch)> = stretches.into_iter().collect();
        found.sort_by_key(|&(value, Stretch { list, first, last })| {
            (list, program.dtype(value), first, last, value)
        });
        let mut groups: Vec<Group> = Vec::new();
        for (value, stretch) in found {
            let behind = defined[&value];
            let joins = |group: &&mut Group| {
                group.values.len() < WORDS
                    && group.stretch.list == stretch.list
                    && program.dtype(group.values[0]) == program.dtype(value)
            };
            match groups.last_mut().filter(joins) {
                Some(group) => {
                    group.values.push(value);
                    group.stretch.last = group.stretch.last.max(stretch.last);
                    group.behind = group.behind.max(behind);
                }
                None => groups.push(Group { values: vec![value], stretch, behind }),
            }
        }
        // One access moves a power of two of words.
        groups.retain(|group| group.values.len().is_power_of_two());
        groups
    }

    /// Where a list inside a loop uses values: in the regions of an `if`, or of a loop that registers do not suffice for
    /// either, if nothing else uses them.
    fn stretches(
        &self,
        list: List,
        is_wanted: &dyn Fn(Value) -> bool,
        found: &mut FxHashMap<Value, Stretch>,
    ) {
        let program = &self.program;
        let insts = &program.insts[list.0].regions[list.1].insts;
        let mut own: FxHashMap<Value, Stretch> = FxHashMap::default();
        for (at, &id) in insts.iter().enumerate() {
            each_operand(program, id, &mut |value| {
                if is_wanted(value) {
                    let new = Stretch { list, first: at, last: at };
                    own.entry(value).or_insert(new).last = at;
                }
            });
        }
        let mut inner: BTreeSet<Inst> = BTreeSet::new();
        for (_, stretch) in own.iter().filter(|(_, stretch)| stretch.length() == 0) {
            let user = insts[stretch.first];
            let op = &program.insts[user].op;
            if *op == Op::If || *op == Op::Loop && self.is_full(user) {
                inner.insert(user);
            }
        }
        for user in inner {
            let mut sides = vec![FxHashMap::default(); program.insts[user].regions.len()];
            let only = |value: Value| {
                own.get(&value).is_some_and(|own| own.length() == 0 && insts[own.first] == user)
                    && !program.insts[user].operands.contains(&value)
            };
            for (number, side) in sides.iter_mut().enumerate() {
                self.stretches((user, number), &only, side);
            }
            for (number, side) in sides.iter().enumerate() {
                let others = sides.iter().enumerate().filter(|(other, _)| *other != number);
                let alone = side.iter().filter(|&(value, _)| {
                    others.clone().all(|(_, other)| !other.contains_key(value))
                });
                own.extend(alone.map(|(&value, &stretch)| (value, stretch)));
            }
        }
        found.extend(own);
    }
}

/// A list with operations in front of those at some places of it, or behind them.
fn with(insts: Vec<Inst>, new: &[(usize, Inst)], behind: bool) -> Vec<Inst> {
    let mut all = Vec::with_capacity(insts.len() + new.len());
    let mut new = new.iter().peekable();
    for (at, id) in insts.into_iter().enumerate() {
        if behind {
            all.push(id);
        }
        while let Some((_, more)) = new.next_if(|(place, _)| *place == at) {
            all.push(*more);
        }
        if !behind {
            all.push(id);
        }
    }
    all
}
