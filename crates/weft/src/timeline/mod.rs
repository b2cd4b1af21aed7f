//! When the warps of a block do what: a thread program on a clock.
//!
//! One block runs alone on a multiprocessor, on what is known of it without a launch. Each warp issues its operations in
//! order, each as soon as its operands are there, its part of the multiprocessor may issue, and the unit that works on
//! it is free. Products of warpgroups, copies and loads run on by themselves. Barriers, mbarriers and waits are
//! those of the program, with their identities and phases.
//!
//! An assembler orders arithmetic so that nothing waits for its results, so they count as there at once. Integers that
//! follow from the program are computed; a condition that hangs on anything else is taken as true, and a
//! loop whose end is not known is left after a few rounds. Shared memory is taken to have no conflicts
//! (what it has is counted elsewhere), and what is read from global memory to lie in the L2 cache. So
//! the times are a model's, and tell what a loop's round waits for. They choose one thing:
//! whether a block that is alone on its multiprocessor has more warps.

mod block;
mod known;
mod need;

pub use need::Unit;

use crate::budget::Stop;
use crate::lane::{Inst, Op, Program, Region};
use crate::location::Loc;
use std::collections::BTreeSet;
use weft_layout::Machine;

/// What a warp is at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Work {
    /// Copies that it began are under way.
    Copies,
    /// Products of matrices that it began are computed.
    Products,
    /// Shared memory is read or written for it, or its lanes exchange registers.
    Shared,
    /// Global memory is read or written for it.
    Global,
    /// It issues instructions.
    Issues,
    /// It waits: for an operand, a unit, or others.
    Waits,
}

impl Work {
    /// Every kind, in the order in which it is shown.
    pub const ALL: [Work; 6] =
        [Work::Copies, Work::Products, Work::Shared, Work::Global, Work::Issues, Work::Waits];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Work::Copies => "copies",
            Work::Products => "products",
            Work::Shared => "shared memory",
            Work::Global => "global memory",
            Work::Issues => "instructions",
            Work::Waits => "waits",
        }
    }
}

/// A stretch of a warp's time, in hundredths of a cycle since its round began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// What it is spent on.
    pub work: Work,
    /// When that begins.
    pub start: u64,
    /// When it ends.
    pub end: u64,
}

/// A round of a loop, as the warps that run it do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// The loop's operation.
    pub inst: Inst,
    /// Where it stands in the source.
    pub loc: Loc,
    /// The warps whose role runs it, the first and how many.
    pub warps: (u32, u32),
    /// How long a round takes, in hundredths of a cycle.
    pub time: u64,
    /// How long each unit works in that time for the whole block, the busiest first; those of which each part of a
    /// multiprocessor has one, in the mean.
    pub busy: Vec<(Unit, u64)>,
    /// What the first warp does in one round, by kind and time.
    pub spans: Vec<Span>,
}

/// A round of each innermost loop of a program, by the roles that run it; nothing where it is not known how the program
/// runs, there are too many operations, or the times are wanted no longer.
pub fn rounds(program: &Program, machine: &Machine, stop: &Stop) -> Vec<Round> {
    let loops = Loops::of(program);
    if machine.lanes_log2 != program.lanes_log2 || loops.innermost.is_empty() {
        return Vec::new();
    }
    match block::Block::new(program, machine, &loops).run(stop) {
        Some(record) => record.rounds(program, &loops),
        None => Vec::new(),
    }
}

/// The loops of a program.
#[derive(Default)]
pub(super) struct Loops {
    /// Those in which no other one stands.
    innermost: BTreeSet<Inst>,
}

impl Loops {
    fn of(program: &Program) -> Self {
        let mut loops = Self::default();
        loops.visit(program, &program.body);
        loops
    }

    /// Whether there is a loop in a region.
    fn visit(&mut self, program: &Program, region: &Region) -> bool {
        let mut any = false;
        for &id in &region.insts {
            let inst = &program.insts[id];
            let mut inside = false;
            for region in &inst.regions {
                inside |= self.visit(program, region);
            }
            if inst.op == Op::Loop {
                if !inside {
                    self.innermost.insert(id);
                }
                inside = true;
            }
            any |= inside;
        }
        any
    }

    fn is_innermost(&self, id: Inst) -> bool {
        self.innermost.contains(&id)
    }
}
