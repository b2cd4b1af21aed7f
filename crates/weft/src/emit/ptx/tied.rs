//! Values that share a register because one takes the place of the other.
//!
//! A product of a warpgroup writes the registers that it adds to, and while it is in flight nothing else may
//! touch them, not even a copy. So a value in flight and the one that it becomes (the result of the next
//! product, a loop's parameter or result) lie in one register. Where a value is not in flight a copy will do, and
//! a register is shared only if that is seen to be right:
//!
//! ```text
//! %8 = loop inst5 %2 (%3) {                        mov.b32 %r3, %r2;
//!   %4 = warpgroup.multiply.. %1, %1, %3           wgmma.mma_async.. {%r3, ..}, %rd1, %rd1, ..;
//!   warpgroup.commit                               wgmma.commit_group.sync.aligned;
//!   continue %4                                    bra.uni ..;
//! }
//! %9 = warpgroup.wait 0 %8                         wgmma.wait_group.sync.aligned 0;
//! ```
//!
//! To see that it is right, a walk through the program tracks what each shared register holds: a value must still
//! lie there wherever it is read, on every path.

use super::control::only_way_out;
use crate::emit::Unsupported;
use crate::lane::flight::{self, Flight};
use crate::lane::{Inst, InstData, Op, Program, Region, Value, WarpgroupOp};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Which register each value shares.
#[derive(Clone, Debug, Default)]
pub(in crate::emit) struct Tied {
    /// Of values that share one, a value before them that shares it; of the first, itself.
    of: FxHashMap<Value, Value>,
}

/// A value in flight that would have to be copied.
#[derive(Clone, Copy, Debug)]
pub(in crate::emit) struct Clash {
    pub(in crate::emit) inst: Inst,
    pub(in crate::emit) value: Value,
}

impl Clash {
    pub(in crate::emit) fn unsupported(
        self,
        program: &Program,
        target: &'static str,
    ) -> Unsupported {
        let Clash { inst, value } = self;
        Unsupported {
            operation: format!("{value} in flight at {inst}"),
            target,
            reason: "its register is wanted for another value, and it cannot be copied in flight"
                .into(),
            loc: program.insts[inst].loc,
        }
    }
}

/// What becomes what at one operation.
type Ties = Vec<(Value, Value)>;

impl Tied {
    /// Which values share registers; refused where values in flight cannot.
    pub(in crate::emit) fn of(program: &Program) -> Result<Tied, Clash> {
        let mut tied = Tied::default();
        if !flight::has_products(program) {
            return Ok(tied);
        }
        let flight = flight::of(program);
        let (forced, wished) = ties(program, &flight);
        for (from, into) in forced {
            tied.unite(from, into);
        }
        if let Some(clash) = tied.clash(program) {
            return Err(clash);
        }
        for ties in wished {
            let before = tied.clone();
            for (from, into) in ties {
                tied.unite(from, into);
            }
            if tied.clash(program).is_some() {
                tied = before;
            }
        }
        Ok(tied)
    }

    /// The value in whose register a value lies.
    pub(in crate::emit) fn register(&self, value: Value) -> Value {
        let mut value = value;
        while let Some(&earlier) = self.of.get(&value)
            && earlier != value
        {
            value = earlier;
        }
        value
    }

    /// Whether a value shares its register with others.
    pub(in crate::emit) fn is_shared(&self, value: Value) -> bool {
        self.of.contains_key(&value)
    }

    fn unite(&mut self, x: Value, y: Value) {
        for value in [x, y] {
            self.of.entry(value).or_insert(value);
        }
        let (x, y) = (self.register(x), self.register(y));
        self.of.insert(x.max(y), x.min(y));
    }

    fn clash(&self, program: &Program) -> Option<Clash> {
        let mut walk = Walk { program, tied: self, clash: None, loops: Vec::new() };
        walk.region(&program.body, Held::default());
        walk.clash
    }
}

/// What must share registers, and what had better, operation by operation.
fn ties(program: &Program, flight: &Flight) -> (Ties, Vec<Ties>) {
    let mut touched = flight.in_flight.clone();
    program.walk(&program.body, &mut |_, inst| {
        if let Some(values) = accumulators(inst) {
            values.iter().chain(&inst.results).for_each(|&value| touched.set(value, true));
        }
    });
    let (mut forced, mut wished) = (Ties::new(), Vec::new());
    let mut sort = |from: &[Value], into: &[Value]| {
        let pairs = from.iter().copied().zip(into.iter().copied());
        let (must, may): (Ties, Ties) = pairs
            .filter(|&(from, into)| touched[from] || touched[into])
            .partition(|&(from, _)| flight.in_flight[from]);
        forced.extend(must);
        wished.push(may);
    };
    let mut waits = Vec::new();
    program.walk(&program.body, &mut |_, inst| match inst.op {
        // What a wait gives may always be copied.
        Op::Warpgroup(WarpgroupOp::Wait { .. }) => waits.push(pairs(&inst.operands, &inst.results)),
        Op::Warpgroup(WarpgroupOp::Multiply(_)) => {
            sort(accumulators(inst).unwrap_or(&[]), &inst.results);
        }
        Op::If => {
            inst.regions
                .iter()
                .for_each(|region| sort(handed_over(program, region), &inst.results));
        }
        Op::Loop => inst.regions.iter().for_each(|body| {
            sort(&inst.operands, &body.params);
            sort(handed_over(program, body), &body.params);
        }),
        Op::BreakIf { target } => {
            sort(inst.operands.get(1..).unwrap_or(&[]), &program.insts[target].results);
        }
        _ => {}
    });
    waits.extend(wished);
    waits.retain(|ties| !ties.is_empty());
    (forced, waits)
}

fn pairs(from: &[Value], into: &[Value]) -> Ties {
    from.iter().copied().zip(into.iter().copied()).collect()
}

/// The operands that results take the place of, of an operation on tiles of products.
fn accumulators(inst: &InstData) -> Option<&[Value]> {
    match inst.op {
        Op::Warpgroup(WarpgroupOp::Multiply(multiply)) => {
            inst.operands.get(multiply.first_accumulator()..)
        }
        Op::Warpgroup(WarpgroupOp::Wait { .. }) => Some(&inst.operands),
        _ => None,
    }
}

fn handed_over<'a>(program: &'a Program, region: &Region) -> &'a [Value] {
    region.insts.last().map_or(&[], |&last| &program.insts[last].operands)
}

/// What each shared register holds, where that is known.
#[derive(Clone, Default, PartialEq)]
struct Held(FxHashMap<Value, Value>);

impl Held {
    fn join(mut self, other: &Held) -> Held {
        self.0.retain(|register, value| other.0.get(register) == Some(value));
        self
    }
}

struct Walk<'a> {
    program: &'a Program,
    tied: &'a Tied,
    clash: Option<Clash>,
    /// The loops around the place, and what is held where they have been left.
    loops: Vec<(Inst, Option<Held>)>,
}

impl<'a> Walk<'a> {
    fn read(&mut self, inst: Inst, values: &[Value], held: &Held) {
        for &value in values {
            let shared = self.tied.is_shared(value);
            if shared && held.0.get(&self.tied.register(value)) != Some(&value) {
                self.clash.get_or_insert(Clash { inst, value });
            }
        }
    }

    fn write(&mut self, values: &[Value], held: &mut Held) {
        for &value in values {
            if self.tied.is_shared(value) {
                held.0.insert(self.tied.register(value), value);
            }
        }
    }

    fn region(&mut self, region: &'a Region, mut held: Held) -> Held {
        for &id in &region.insts {
            if self.clash.is_none() {
                held = self.inst(id, &self.program.insts[id], held);
            }
        }
        held
    }

    fn inst(&mut self, id: Inst, inst: &'a InstData, mut held: Held) -> Held {
        self.read(id, &inst.operands, &held);
        match &inst.op {
            Op::If | Op::Roles(_) => {
                // Warps without a role pass by.
                let passes = matches!(inst.op, Op::Roles(_)).then(|| held.clone());
                let mut ends = passes.into_iter().chain(inst.regions.iter().map(|region| {
                    let mut end = self.region(region, held.clone());
                    self.write(&inst.results, &mut end);
                    end
                }));
                let first = ends.next().unwrap_or_default();
                let ends: SmallVec<[Held; 1]> = ends.collect();
                ends.iter().fold(first, Held::join)
            }
            Op::Loop => self.repeat(id, inst, held),
            Op::BreakIf { target } => {
                self.leave(inst, *target, &mut held);
                held
            }
            Op::Warpgroup(WarpgroupOp::Multiply(multiply)) => {
                self.write(&inst.results, &mut held);
                // The accumulators are copied first, where they are.
                self.read(id, &inst.operands[..multiply.first_accumulator()], &held);
                held
            }
            _ => {
                self.write(&inst.results, &mut held);
                held
            }
        }
    }

    fn repeat(&mut self, id: Inst, inst: &'a InstData, mut held: Held) -> Held {
        let [body] = &inst.regions[..] else { return held };
        self.write(&body.params, &mut held);
        loop {
            self.loops.push((id, None));
            let mut end = self.region(body, held.clone());
            self.write(&body.params, &mut end);
            let left = self.loops.pop().and_then(|(_, left)| left);
            let joined = held.clone().join(&end);
            if joined == held || self.clash.is_some() {
                return left.unwrap_or(held);
            }
            held = joined;
        }
    }

    fn leave(&mut self, inst: &InstData, target: Inst, held: &mut Held) {
        let results = &self.program.insts[target].results;
        // What several breaks hand over is copied before it is known whether the branch is taken.
        if only_way_out(self.program, target).is_none() {
            for (from, into) in pairs(&inst.operands[1..], results) {
                if self.tied.register(from) != self.tied.register(into) {
                    self.write(&[into], held);
                }
            }
        }
        let mut left = held.clone();
        self.write(results, &mut left);
        if let Some((_, all)) = self.loops.iter_mut().find(|(inst, _)| *inst == target) {
            *all = Some(match all.take() {
                Some(other) => other.join(&left),
                None => left,
            });
        }
    }
}

/// Whether registers must be made ready before the next product (`wgmma.fence`): what a warpgroup's thread
/// wrote to a register since, or may still be reading, a product must not take by itself.
#[derive(Clone, Debug, Default)]
pub(in crate::emit) struct Ready {
    /// Whether the program has products: else nothing is remembered.
    watched: bool,
    /// Whether the program asks for it.
    asked: bool,
    /// What was written since.
    written: FxHashSet<Value>,
}

impl Ready {
    pub(in crate::emit) fn new(watched: bool) -> Self {
        Self { watched, ..Self::default() }
    }

    pub(in crate::emit) fn is_watched(&self) -> bool {
        self.watched
    }

    pub(in crate::emit) fn ask(&mut self) {
        self.asked = true;
    }

    pub(in crate::emit) fn write(&mut self, values: &[Value]) {
        if self.watched {
            self.written.extend(values);
        }
    }

    pub(in crate::emit) fn is_written(&self, value: Value) -> bool {
        self.written.contains(&value)
    }

    /// Whether a product that takes these must wait until they are ready.
    pub(in crate::emit) fn is_needed(&self, values: &[Value]) -> bool {
        self.asked || values.iter().any(|&value| self.is_written(value))
    }

    pub(in crate::emit) fn done(&mut self) {
        *self = Ready::new(self.watched);
    }

    /// What is so where another way comes in.
    pub(in crate::emit) fn join(&mut self, other: Ready) {
        self.asked |= other.asked;
        self.written.extend(other.written);
    }
}
