//! Counts the copies that may be under way at a wait, where those of a machine make no groups.
//!
//! AMD's copies to the local data share count down one counter of the wave in the order in which they were begun, and
//! a wait is until at most so many are left. Of the groups that the program waits for this is left:
//!
//! ```text
//! copy a0, b0; commit             copy a0, b0
//! copy a1, b1; commit       ==>   copy a1, b1
//! wait 1                          wait until 2 copies are under way: a1 and b1
//! ```
//!
//! The count is the least number of copies that are certainly behind the commit of the last group that is waited for,
//! on any path: with more under way than that, a copy of the group itself might be one of them. Copies with a predicate
//! count for nothing, since no lane may have begun them. The other memory operations of a wave count down the same
//! counter; that there are more of them under way than are counted here only lets a wait last longer.

use crate::budget::Stop;
use crate::id::IdMap;
use crate::lane::effects::Tokens;
use crate::lane::{Inst, Op, Operand, Program, Region};

/// The most that an instruction can count.
const MOST: u32 = 63;

/// Runs the pass.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let mut runs = false;
    program.walk(&program.body, &mut |_, inst| runs |= inst.op.is_run());
    if stop.is_set() || !runs {
        return program;
    }
    let mut walk =
        Walk { program: &program, stop, left: IdMap::default(), counts: IdMap::default() };
    walk.region(&program.body, Some(Since(vec![0])));
    let counts = walk.counts;
    for id in program.insts.keys() {
        if let Some(copies) = counts[id] {
            program.insts[id].op.count_copies(copies);
        }
    }
    program
}

/// The least number of copies that were begun since the last commit, since the one before it, and so on; before the
/// first of the program there is no group, and any number of copies may be under way.
#[derive(Clone, PartialEq)]
struct Since(Vec<u32>);

impl Since {
    fn begin(&mut self) {
        self.0.iter_mut().for_each(|count| *count = (*count + 1).min(MOST));
    }

    fn commit(&mut self) {
        self.0.insert(0, 0);
        self.0.truncate(MOST as usize);
    }

    /// The copies that a wait for all but so many groups leaves.
    fn pending(&self, groups: u32) -> u32 {
        self.0.get(groups as usize).copied().unwrap_or(MOST)
    }

    /// What holds on two paths.
    fn meet(&mut self, other: &Since) {
        for (index, &count) in other.0.iter().enumerate() {
            match self.0.get_mut(index) {
                Some(own) => *own = count.min(*own),
                None => self.0.push(count),
            }
        }
    }
}

/// What holds at a place, on the paths that reach it, if any does.
type State = Option<Since>;

fn meet(state: &mut State, other: State) {
    match (state.as_mut(), other) {
        (Some(own), Some(other)) => own.meet(&other),
        (None, other) => *state = other,
        (Some(_), None) => {}
    }
}

struct Walk<'a> {
    program: &'a Program,
    stop: &'a Stop,
    /// What holds where loops are left.
    left: IdMap<Inst, State>,
    counts: IdMap<Inst, Option<u32>>,
}

impl Walk<'_> {
    /// Goes through a region; what holds at its end.
    fn region(&mut self, region: &Region, mut state: State) -> State {
        for &id in &region.insts {
            if self.stop.is_set() {
                return None;
            }
            state = self.step(id, state);
        }
        state
    }

    fn step(&mut self, id: Inst, mut state: State) -> State {
        let inst = &self.program.insts[id];
        if let Some(since) = &mut state {
            match inst.op.effects().tokens {
                Tokens::Starts
                    if inst.op.is_run() && inst.operand(Operand::Predicate).is_none() =>
                {
                    since.begin();
                }
                Tokens::Commits => since.commit(),
                Tokens::Awaits { pending } => {
                    let count = self.counts.entry(id);
                    let least = since.pending(pending);
                    *count = Some(count.map_or(least, |known| known.min(least)));
                }
                _ => {}
            }
        }
        match &inst.op {
            Op::BreakIf { target } => meet(self.left.entry(*target), state.clone()),
            Op::Loop => {
                let mut around = state;
                loop {
                    let mut next = around.clone();
                    for region in &inst.regions {
                        meet(&mut next, self.region(region, around.clone()));
                    }
                    if next == around || self.stop.is_set() {
                        break;
                    }
                    around = next;
                }
                state = self.left.entry(id).take();
            }
            _ => {
                // Other warps, or a branch that does not begin anything, go past the regions.
                let before = state.clone();
                for region in &inst.regions {
                    let end = self.region(region, before.clone());
                    meet(&mut state, end);
                }
            }
        }
        state
    }
}
