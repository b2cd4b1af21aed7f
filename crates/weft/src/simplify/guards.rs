//! One test for the predicates of many accesses.
//!
//! A tile at the edge of a tensor has a predicate for each row that a thread has, and nearly no tile is at the edge.
//! More of them than there are registers for predicates move to others and back, and an assembler puts off each load
//! until its predicate is there, so that few are under way, which is little where each loads a word or less. So where
//! such loads in a row have many, they are asked at once, and stores that have the same go by the answer:
//!
//! ```text
//!                                  if p and q and …:
//! x = load …, if p                     x, y = load …, load …
//! y = load …, if q          ==>    else:
//! …                                    x = load …, if p
//!                                      y = load …, if q
//! ```
//!
//! Threads may go either way. (`sglang`'s `kda_gate_chunk_cumsum_vector_kernel`, running sums down 64 rows of 64 columns in
//! two warps: 127 µs on an H200, with a load begun for every 44 instructions, and 40 µs with all of them begun at once.)

use super::registers::{self, HALF, replace_operands};
use super::sweep;
use crate::budget::Stop;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{Effects, Form, Inst, InstData, Op, Program, Region, Space, Value, ValueData};
use crate::scalar::{Binary, Compare};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The registers for predicates that a thread of NVIDIA's GPUs has.
const PREDICATES: usize = 7;
/// The most words that the accesses behind one test move.
const MOST_WORDS: u32 = 64;
/// The most operations between two stores, all of which are done in front of the first.
const MOST_BETWEEN: usize = 4;
/// Fewer predicates of a run than this take no fewer operations together.
const SHORT_RUN: usize = 3;
/// The lanes of a warp, as a logarithm, where predicates have registers of their own: AMD's waves of 64 have masks.
const LANES_LOG2: u32 = 5;

/// Runs the pass, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped, which leaves accesses as they are.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    if stop.is_set() || program.lanes_log2 != LANES_LOG2 || !has_many(&program) {
        return program;
    }
    let before = program.clone();
    let count = program.insts.len();
    let mut body = core::mem::take(&mut program.body);
    Pass { program: &mut program, makers: IdMap::default(), asked: Vec::new(), stop }
        .region(&mut body);
    program.body = body;
    if program.insts.len() == count {
        return before;
    }
    // Nothing asks for the predicates one by one any more.
    let program = sweep::run_until(program, stop);
    let [live, found] = [&before, &program].map(|program| registers::live(program, stop));
    let most = (live + live / 8).max(HALF - registers::OTHERS);
    let fits = found <= most.min(registers::room(&program, registers::MOST));
    if found <= live || fits { program } else { before }
}

/// Whether a program has more predicates of accesses to global memory than there are registers for them.
fn has_many(program: &Program) -> bool {
    let mut found = Vec::new();
    program
        .walk(&program.body, &mut |_, inst| found.extend(Kind::of(inst).map(|(_, guard)| guard)));
    found.sort_unstable();
    found.dedup();
    found.len() >= PREDICATES
}

/// What a group of accesses does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Loads,
    Stores,
}

impl Kind {
    /// That of an access to global memory by each lane for itself that has a predicate, with the predicate.
    fn of(inst: &InstData) -> Option<(Self, Value)> {
        let (kind, access) = match inst.op {
            Op::Load { space: Space::Global, access } => (Self::Loads, access),
            Op::Store { space: Space::Global, access } => (Self::Stores, access),
            _ => return None,
        };
        let plain = access.form == Form::Vector && !access.volatile;
        let predicate = inst.memory_operands()?.predicate?;
        plain.then_some((kind, predicate))
    }

    /// Whether an access is of a group that one of this kind begins.
    fn has(self, program: &Program, inst: &InstData) -> bool {
        Self::of(inst).is_some_and(|(kind, _)| kind == self)
            && (self == Self::Stores || moved(program, inst) <= 1)
    }
}

struct Pass<'a> {
    program: &'a mut Program,
    /// What makes each value of the region.
    makers: IdMap<Value, Option<Inst>>,
    /// Predicates that were asked for at once, with the answer.
    asked: Vec<(Vec<Value>, Value)>,
    stop: &'a Stop,
}

/// Accesses in a row.
struct Group {
    accesses: Vec<Inst>,
    /// What stands between them and goes in front, or behind, as it needs what they load.
    front: Vec<Inst>,
    behind: Vec<Inst>,
    /// Where in the list it ends.
    end: usize,
}

/// Predicates that compare numbers behind one number with one bound.
struct Run {
    of: Compared,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Compared {
    base: Value,
    bound: Value,
    compare: Compare,
    /// Whether the numbers are to be below the bound, and not above it.
    below: bool,
}

/// One of these numbers, how far it lies behind, and what is asked of it.
struct Step {
    distance: u64,
    place: Value,
    guard: Value,
}

impl Pass<'_> {
    fn region(&mut self, list: &mut Region) {
        let mut insts = Vec::with_capacity(list.insts.len());
        let known = self.asked.len();
        let mut at = 0;
        while let Some(&id) = list.insts.get(at) {
            let inst = &self.program.insts[id];
            if inst.op == Op::If {
                let mut inner = core::mem::take(&mut self.program.insts[id].regions);
                for inner in &mut inner {
                    self.region(inner);
                }
                self.program.insts[id].regions = inner;
            } else if let Some((kind, _)) = Kind::of(inst)
                && kind.has(self.program, inst)
                && !self.stop.is_set()
            {
                let group = self.group(&list.insts, at, kind);
                let guards = self.guards(&group);
                at = group.end;
                if guards.len() >= PREDICATES
                    && !guards.iter().any(|&guard| self.is_contrary(guard))
                    && (kind == Kind::Loads || self.answer(&guards).is_some())
                {
                    insts.extend(&group.front);
                    self.guard(&group, guards, &mut insts);
                    insts.extend(&group.behind);
                } else {
                    insts.extend(&list.insts[at - group.len()..at]);
                }
                continue;
            }
            self.note(id);
            insts.push(id);
            at += 1;
        }
        list.insts = insts;
        self.asked.truncate(known);
    }

    fn note(&mut self, id: Inst) {
        for &result in &self.program.insts[id].results {
            self.makers.set(result, Some(id));
        }
    }

    /// The accesses that may be done together with the one at a place.
    fn group(&mut self, list: &[Inst], start: usize, kind: Kind) -> Group {
        let mut group = Group { accesses: vec![], front: vec![], behind: vec![], end: start };
        let mut loaded: IdMap<Value, bool> = IdMap::default();
        let (mut between, mut words) = (Vec::new(), 0);
        for (place, &id) in (start..).zip(&list[start..]) {
            let inst = &self.program.insts[id];
            let awaits = inst.operands.iter().any(|&operand| loaded[operand]);
            if kind.has(self.program, inst) && !awaits && words < MOST_WORDS {
                words += moved(self.program, inst);
                for (id, awaits) in between.drain(..) {
                    if awaits { group.behind.push(id) } else { group.front.push(id) }
                }
                inst.results.iter().for_each(|&result| loaded.set(result, true));
                group.accesses.push(id);
                group.end = place + 1;
            } else if may_move(inst.op.effects(), kind)
                && (kind == Kind::Loads || between.len() < MOST_BETWEEN)
            {
                if awaits {
                    inst.results.iter().for_each(|&result| loaded.set(result, true));
                }
                between.push((id, awaits));
            } else {
                break;
            }
        }
        list[start..group.end].iter().for_each(|&id| self.note(id));
        group
    }

    /// The predicates that all hold where those of a group do.
    fn guards(&self, group: &Group) -> Vec<Value> {
        let mut guards = Vec::new();
        for &id in &group.accesses {
            let guard = Kind::of(&self.program.insts[id]).map(|(_, guard)| guard);
            let mut open: SmallVec<[Value; 8]> = guard.into_iter().collect();
            while let Some(value) = open.pop() {
                match self.both(value) {
                    Some(both) => open.extend(both),
                    None => guards.push(value),
                }
            }
        }
        guards.sort_unstable();
        guards.dedup();
        guards
    }

    /// Whether a predicate holds where another does not: of the elements of a vector that does not move at once, say, which
    /// are asked for because some of them are outside.
    fn is_contrary(&self, guard: Value) -> bool {
        let op = self.makers[guard].map(|id| &self.program.insts[id].op);
        matches!(op, Some(Op::Binary(Binary::Xor)))
    }

    /// The two predicates that one asks for.
    fn both(&self, value: Value) -> Option<[Value; 2]> {
        let inst = &self.program.insts[self.makers[value]?];
        match (&inst.op, inst.operands.as_slice()) {
            (Op::Binary(Binary::And), &[first, second]) => Some([first, second]),
            _ => None,
        }
    }

    /// Whether predicates hold, all of which were asked for at once.
    fn answer(&self, guards: &[Value]) -> Option<Value> {
        let is_asked =
            |asked: &&(Vec<Value>, Value)| guards.iter().all(|guard| asked.0.contains(guard));
        self.asked.iter().find(is_asked).map(|&(_, all)| all)
    }

    /// Fewer predicates that hold only where all of some do. Of a number and others that lie constant distances behind
    /// it, the last is below a bound only if all are, as long as none wraps around; the pairs that come with them are the
    /// first and the last of such runs, which do not where they are in order.
    fn fewer(&self, guards: &[Value]) -> (Vec<Value>, Vec<(Value, Value)>) {
        let mut few = Vec::new();
        let mut runs: Vec<Run> = Vec::new();
        for &guard in guards {
            let Some((of, step)) = self.step(guard) else {
                few.push(guard);
                continue;
            };
            match runs.iter_mut().find(|run| run.of == of) {
                Some(run) => run.steps.push(step),
                None => runs.push(Run { of, steps: vec![step] }),
            }
        }
        let mut ordered = Vec::new();
        for Run { of, mut steps } in runs {
            if steps.len() < SHORT_RUN {
                few.extend(steps.iter().map(|step| step.guard));
                continue;
            }
            steps.sort_unstable_by_key(|step| step.distance);
            let [first, .., last] = steps.as_slice() else { continue };
            few.push(if of.below { last.guard } else { first.guard });
            if !ordered.contains(&(of.base, last.place)) {
                ordered.push((of.base, last.place));
            }
        }
        (few, ordered)
    }

    /// What a predicate asks of a number behind another, if it compares such a number with a bound.
    fn step(&self, guard: Value) -> Option<(Compared, Step)> {
        let inst = &self.program.insts[self.makers[guard]?];
        let (Op::Compare(compare), &[place, bound]) = (&inst.op, inst.operands.as_slice()) else {
            return None;
        };
        let below = match compare {
            Compare::Slt | Compare::Sle => true,
            Compare::Sgt | Compare::Sge => false,
            _ => return None,
        };
        let (base, distance) = self.behind(place).unwrap_or((place, 0));
        let of = Compared { base, bound, compare: *compare, below };
        Some((of, Step { distance, place, guard }))
    }

    /// The number that one lies a constant distance behind, and that.
    fn behind(&self, place: Value) -> Option<(Value, u64)> {
        let inst = &self.program.insts[self.makers[place]?];
        let (Op::Binary(Binary::Add), &[first, second]) = (&inst.op, inst.operands.as_slice())
        else {
            return None;
        };
        let constant = |value: Value| {
            let Op::Const(bits) = self.program.insts[self.makers[value]?].op else { return None };
            let sign = self.program.dtype(value).bits() - 1;
            (bits >> sign == 0).then_some(bits)
        };
        let second_is = constant(second).map(|distance| (first, distance));
        second_is.or_else(|| constant(first).map(|distance| (second, distance)))
    }

    /// Writes the accesses of a group twice: for threads for which all of some predicates hold, and for others.
    fn guard(&mut self, group: &Group, guards: Vec<Value>, insts: &mut Vec<Inst>) {
        let Some(&first) = group.accesses.first() else { return };
        let loc = self.program.insts[first].loc;
        let all = match self.answer(&guards) {
            Some(all) => all,
            None => {
                let mut ask = |program: &mut Program, op, first, second| {
                    let result = program.values.push(ValueData { dtype: DType::I1 });
                    let (operands, results) = (smallvec![first, second], smallvec![result]);
                    let data = InstData { op, operands, results, regions: vec![], loc };
                    insts.push(program.insts.push(data));
                    result
                };
                let (mut few, runs) = self.fewer(&guards);
                for (first, last) in runs {
                    few.push(ask(self.program, Op::Compare(Compare::Sle), first, last));
                }
                let all = few
                    .into_iter()
                    .reduce(|all, guard| ask(self.program, Op::Binary(Binary::And), all, guard));
                let Some(all) = all else { return };
                self.asked.push((guards, all));
                all
            }
        };
        let (mut plain, mut other) = (Region::default(), Region::default());
        let mut results: SmallVec<[Value; 2]> = SmallVec::new();
        let mut yields: [SmallVec<[Value; 4]>; 2] = Default::default();
        for &id in &group.accesses {
            results.extend(self.program.insts[id].results.iter().copied());
            let (first, second) = (self.again(id), self.again(id));
            unguarded(&mut self.program.insts[first]);
            if let Some((_, guard)) = Kind::of(&self.program.insts[second]) {
                let guard = [(guard, self.asked_again(guard, &mut other))].into_iter().collect();
                replace_operands(self.program, second, &guard);
            }
            for (copy, yields) in [first, second].into_iter().zip(&mut yields) {
                yields.extend(self.program.insts[copy].results.iter().copied());
            }
            plain.insts.push(first);
            other.insts.push(second);
        }
        for (region, operands) in [&mut plain, &mut other].into_iter().zip(yields) {
            let (op, results) = (Op::Yield, smallvec![]);
            let end = InstData { op, operands, results, regions: vec![], loc };
            region.insts.push(self.program.insts.push(end));
        }
        let (op, operands, regions) = (Op::If, smallvec![all], vec![plain, other]);
        insts.push(self.program.insts.push(InstData { op, operands, results, regions, loc }));
    }

    /// A predicate, asked where it is needed and not kept until then, nor the steps that it is asked of.
    fn asked_again(&mut self, value: Value, region: &mut Region) -> Value {
        let Some(id) = self.makers[value].filter(|&id| self.is_step(id)) else { return value };
        let operands = self.program.insts[id].operands.clone();
        let again =
            operands.into_iter().map(|operand| (operand, self.asked_again(operand, region)));
        let by: FxHashMap<Value, Value> = again.collect();
        let copy = self.again(id);
        replace_operands(self.program, copy, &by);
        region.insts.push(copy);
        self.program.insts[copy].results[0]
    }

    /// Whether an operation asks for something, or is a step by a constant from a value that others have as well.
    fn is_step(&self, id: Inst) -> bool {
        let inst = &self.program.insts[id];
        let is_constant = |&value: &Value| {
            self.makers[value].is_some_and(|id| matches!(self.program.insts[id].op, Op::Const(_)))
        };
        match inst.op {
            Op::Compare(_) => true,
            Op::Binary(Binary::And) if self.program.dtype(inst.results[0]) == DType::I1 => true,
            Op::Binary(Binary::Add | Binary::Or) => inst.operands.iter().any(is_constant),
            _ => false,
        }
    }

    /// A copy of an operation without regions, with results of its own.
    fn again(&mut self, id: Inst) -> Inst {
        let mut copy = self.program.insts[id].clone();
        for result in &mut copy.results {
            let data = self.program.values[*result];
            *result = self.program.values.push(data);
        }
        self.program.insts.push(copy)
    }
}

impl Group {
    fn len(&self) -> usize {
        self.accesses.len() + self.front.len() + self.behind.len()
    }
}

/// Whether an operation may go in front of accesses of a kind, or behind them.
fn may_move(effects: Effects, kind: Kind) -> bool {
    effects.is_removable()
        && effects.convergent.is_none()
        && (kind == Kind::Loads || !effects.reads.has(Space::Global))
}

/// The registers of what an access loads or stores: one at least for each that it moves alone.
fn moved(program: &Program, inst: &InstData) -> u32 {
    let values = match inst.op {
        Op::Load { .. } => &inst.results[..],
        _ => inst.memory_operands().map_or(&[][..], |roles| roles.values),
    };
    let bits = values.iter().map(|&value| program.dtype(value).bits());
    bits.sum::<u32>().div_ceil(32)
}

/// Takes the predicate of an access away, and what a load gives where it does not hold.
fn unguarded(inst: &mut InstData) {
    let others = inst.results.len();
    match &mut inst.op {
        Op::Load { access, .. } => {
            access.predicated = false;
            let left = inst.operands.len() - others;
            inst.operands.truncate(left);
            inst.operands.remove(1);
        }
        Op::Store { access, .. } => {
            access.predicated = false;
            inst.operands.remove(1);
        }
        _ => {}
    }
}
