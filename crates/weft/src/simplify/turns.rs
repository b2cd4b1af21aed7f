//! Lets two warpgroups take turns at the matrix units.
//!
//! Where a barrier of the block is in each round of a loop, its warpgroups begin their products together, share the
//! matrix units, and are all at their arithmetic when those are done. Where one begins all of its products first, it
//! is at its arithmetic while the products of the other run:
//!
//! ```text
//! for …:                                  for …:
//!     wait for the block                      wait for the block
//!                                             wait for my turn
//!     s = q · keys                            s = q · keys
//!     sums = sums + p · values                sums = sums + p · values
//!                                             give the turn to the other
//!     p = weights(s)                          p = weights(s)
//! ```
//!
//! A turn is a named barrier at which one warpgroup waits and the other arrives. The first turn is the first
//! warpgroup's; behind the loop it takes back the turn that nobody needs any more, so that the loop may run again.
//!
//! There is one pair of barriers, so a loop around one that takes turns takes none.
//!
//! That helps where the products of a round are begun together and there is arithmetic with their sums in the round.
//! Where nothing holds the warpgroups together they are apart by themselves. (Attention of 128 numbers a head, 128 rows
//! in eight warps, on an H200: 514 TFLOP/s without turns, 558 with them.)

use crate::budget::Stop;
use crate::dtype::DType;
use crate::lane::effects::{Control, Effects, Fence, Step, Tokens};
use crate::lane::{
    BarrierScope, IdKind, Inst, InstData, NamedBarrier, Op, Program, Region, SyncOp, Value,
    ValueData, WarpgroupMultiply,
};
use crate::location::Loc;
use crate::scalar::Compare;
use core::ops::Range;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// The barriers at which the first and the second warpgroup wait for their turns.
const TURNS: [u8; 2] = [1, 2];

/// The warps of both warpgroups.
const WARPS: u32 = 2 * WarpgroupMultiply::WARPS;

/// Runs the pass.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped, which leaves loops as they are.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    if stop.is_set() || program.warps != WARPS || program.any_effects(&program.body, may_name) {
        return program;
    }
    let is_first = program.values.push(ValueData { dtype: DType::I1 });
    let mut body = core::mem::take(&mut program.body);
    let mut pass = Pass { program, is_first, stop: stop.clone(), found: None };
    pass.region(&mut body);
    if let Some(loc) = pass.found {
        pass.begin(&mut body, loc);
    }
    let Pass { mut program, .. } = pass;
    program.body = body;
    program
}

/// Whether a loop of a program has products of warpgroups, and arithmetic with their sums in the same round.
pub fn works_on_sums(program: &Program) -> bool {
    let mut works = false;
    program.walk(&program.body, &mut |_, inst| {
        works |=
            inst.op == Op::Loop && inst.regions.iter().any(|body| looks_at_sums(program, body));
    });
    works
}

/// Whether there is arithmetic in a round with the sums of its products.
fn looks_at_sums(program: &Program, body: &Region) -> bool {
    let mut sums: FxHashSet<Value> = FxHashSet::default();
    let mut looks = false;
    program.walk(body, &mut |_, inst| {
        let effects = inst.op.effects();
        match effects.tokens {
            Tokens::Products(Step::Awaits { .. }) => sums.extend(&inst.results),
            Tokens::Products(_) => {}
            _ if effects.control == Control::Ends => {}
            _ => looks |= inst.operands.iter().any(|value| sums.contains(value)),
        }
    });
    looks
}

/// Whether an operation may use barriers by name.
fn may_name(effects: Effects) -> bool {
    matches!(effects.fence, Fence::Named(_) | Fence::Unknown)
}

struct Pass {
    program: Program,
    /// Whether a thread is of the first warpgroup.
    is_first: Value,
    stop: Stop,
    /// Where a loop is that takes turns, if one does.
    found: Option<Loc>,
}

impl Pass {
    /// Goes over a list and those inside it, but for roles, whose warps are apart. Gives whether a loop takes turns.
    fn region(&mut self, region: &mut Region) -> bool {
        let mut any = false;
        let mut insts = Vec::with_capacity(region.insts.len());
        for &id in &region.insts {
            let is_roles = matches!(self.program.insts[id].op, Op::Roles(_));
            if self.stop.is_set() || is_roles {
                insts.push(id);
                continue;
            }
            let mut inner = core::mem::take(&mut self.program.insts[id].regions);
            let mut inside = false;
            for inner in &mut inner {
                inside |= self.region(inner);
            }
            any |= inside;
            // Loops inside have these barriers for themselves, and give a turn in each round of this one.
            let together = (self.program.insts[id].op == Op::Loop && !inside)
                .then(|| inner.iter().find_map(|body| self.together(body)))
                .flatten();
            if let Some(together) = together {
                let loc = self.program.insts[id].loc;
                // The first turn, and behind the loop the last one.
                insts.push(self.each(loc, [None, Some((TURNS[0], false))]));
                self.take_turns(&mut inner[0], together);
                self.program.insts[id].regions = inner;
                insts.extend([id, self.each(loc, [Some((TURNS[0], true)), None])]);
                self.found = Some(loc);
                any = true;
            } else {
                self.program.insts[id].regions = inner;
                insts.push(id);
            }
        }
        region.insts = insts;
        any
    }

    /// Where in the body of a loop all products of a round are begun, by places, if the warpgroups come to them
    /// together and have arithmetic with their sums.
    fn together(&self, body: &Region) -> Option<Range<usize>> {
        let effects: Vec<Effects> =
            body.insts.iter().map(|&id| self.program.insts[id].op.effects()).collect();
        let is = |step: Step| move |effects: &Effects| effects.tokens == Tokens::Products(step);
        let first = effects.iter().position(is(Step::Prepares))?;
        let last = effects.iter().rposition(is(Step::Commits))?;
        let begun = effects.get(first..last)?;
        let groups = begun.iter().filter(|effects| is(Step::Commits)(effects)).count() + 1;
        let at_once = begun.iter().all(|effects| {
            effects.control == Control::None
                && !matches!(effects.tokens, Tokens::Products(Step::Awaits { .. }))
        });
        let are_held = effects.iter().any(|effects| effects.barrier() == Some(BarrierScope::Block));
        (groups >= 2 && at_once && are_held && looks_at_sums(&self.program, body))
            .then_some(first..last + 1)
    }

    /// Puts the products at some places of a loop's body into turns.
    fn take_turns(&mut self, body: &mut Region, products: Range<usize>) {
        let loc = self.program.insts[body.insts[products.start]].loc;
        let given = self.each(loc, [Some((TURNS[1], false)), Some((TURNS[0], false))]);
        let taken = self.each(loc, TURNS.map(|name| Some((name, true))));
        body.insts.insert(products.end, given);
        body.insts.insert(products.start, taken);
    }

    /// A branch in which each warpgroup comes to a barrier of its own, if to any: by name, and whether it waits.
    fn each(&mut self, loc: Loc, barriers: [Option<(u8, bool)>; 2]) -> Inst {
        let regions = barriers.map(|barrier| {
            let barrier = barrier.map(|(name, waits)| NamedBarrier { name, warps: WARPS, waits });
            let ops = barrier.map(|barrier| Op::Sync(SyncOp::Named(barrier)));
            let ops = ops.into_iter().chain([Op::Yield]);
            let insts = ops.map(|op| self.inst(loc, op, &[], &[], vec![])).collect();
            Region { params: vec![], insts }
        });
        self.inst(loc, Op::If, &[self.is_first], &[], regions.into())
    }

    /// Finds out in front of a program of which warpgroup a thread is.
    fn begin(&mut self, body: &mut Region, loc: Loc) {
        let [warp, half] =
            [(); 2].map(|()| self.program.values.push(ValueData { dtype: DType::I32 }));
        let warps = u64::from(WarpgroupMultiply::WARPS);
        let made = [
            self.inst(loc, Op::Id(IdKind::Warp), &[], &[warp], vec![]),
            self.inst(loc, Op::Const(warps), &[], &[half], vec![]),
            self.inst(loc, Op::Compare(Compare::Ult), &[warp, half], &[self.is_first], vec![]),
        ];
        body.insts.splice(0..0, made);
    }

    fn inst(
        &mut self,
        loc: Loc,
        op: Op,
        operands: &[Value],
        results: &[Value],
        regions: Vec<Region>,
    ) -> Inst {
        let (operands, results) = (SmallVec::from_slice(operands), SmallVec::from_slice(results));
        self.program.insts.push(InstData { op, operands, results, regions, loc })
    }
}
