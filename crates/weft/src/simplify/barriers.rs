//! Puts a barrier where scratch memory is written again.
//!
//! A movement through shared memory has a barrier between its stores and its loads. It cannot know who
//! used its scratch memory before: in a loop, its own last iteration. A store to a piece that was read since
//! the last barrier gets a barrier in front, of the piece's scope: where only the lanes of one warp share a
//! piece, a warp barrier is enough. Consecutive atomics need none. Of a piece that a loop double-buffers
//! ([`double_buffer`](super::double_buffer)) only the half that is written counts. A piece whose accesses are in order
//! already needs none. In the body of a role there are barriers of
//! warps alone: what its warps share with others is ordered as it is written.

use super::pieces::Pieces;
use crate::budget::Stop;
use crate::id::Id;
use crate::lane::{BarrierScope, Inst, InstData, Op, Program, Region, SharedData, Space, SyncOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Puts the barriers, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(program: Program, stop: &Stop) -> Program {
    let mut pass = Pass {
        pieces: Pieces::of(&program),
        result: program,
        starts: FxHashMap::default(),
        exits: FxHashMap::default(),
        in_role: false,
        stop: stop.clone(),
    };
    let body = core::mem::take(&mut pass.result.body);
    let (body, _) = pass.region(&body, Pending::default(), true);
    pass.result.body = body;
    pass.result
}

/// The pieces that were read since the last barrier that concerns them.
#[derive(Clone, Default, PartialEq)]
struct Pending(Vec<Read>);

/// What was read of a piece.
#[derive(Clone, Copy, Default, PartialEq)]
struct Read {
    /// All of it, or the half whose turn it is.
    this: Readers,
    /// The half whose turn it is not.
    other: Readers,
}

/// By which operations something was read.
#[derive(Clone, Copy, Default, PartialEq)]
struct Readers {
    loads: bool,
    atomics: bool,
}

impl Readers {
    fn join(self, other: Self) -> Self {
        let Self { loads, atomics } = other;
        Self { loads: self.loads || loads, atomics: self.atomics || atomics }
    }

    /// Whether a write must wait for them.
    fn hold_up(self, write_is_atomic: bool) -> bool {
        self.loads || self.atomics && !write_is_atomic
    }
}

impl Pending {
    fn join(&mut self, other: &Pending) {
        self.0.resize(self.0.len().max(other.0.len()), Read::default());
        for (mine, other) in self.0.iter_mut().zip(&other.0) {
            mine.this = mine.this.join(other.this);
            mine.other = mine.other.join(other.other);
        }
    }
}

struct Pass {
    result: Program,
    pieces: Pieces,
    /// What is pending where a round of a loop starts.
    starts: FxHashMap<Inst, Pending>,
    /// What is pending where a loop is left.
    exits: FxHashMap<Inst, Pending>,
    in_role: bool,
    stop: Stop,
}

impl Pass {
    /// Changes what was read of the pieces that this loop double-buffers.
    fn turning(&self, id: Inst, pending: &mut Pending, change: impl Fn(Read) -> Read) {
        for (piece, read) in self.result.shared.values().zip(&mut pending.0) {
            if piece.turns == Some(id) {
                *read = change(*read);
            }
        }
    }

    fn pass_barrier(&self, scope: BarrierScope, pending: &mut Pending) {
        for (id, piece) in self.result.shared.iter() {
            let SharedData { scope: shared_by, .. } = piece;
            if scope >= *shared_by
                && let Some(pending) = pending.0.get_mut(id.index())
            {
                *pending = Read::default();
            }
        }
    }

    /// Goes through a region from what is pending at its start; gives it with barriers (where
    /// `insert`) and what is pending at its end.
    fn region(&mut self, region: &Region, start: Pending, insert: bool) -> (Region, Pending) {
        let mut pending = start;
        pending.0.resize(self.result.shared.len(), Read::default());
        let mut insts = Vec::with_capacity(region.insts.len());
        for &id in &region.insts {
            if self.stop.is_set() {
                break;
            }
            let inst = &self.result.insts[id];
            let (effects, loc) = (inst.op.effects(), inst.loc);
            if let Some(scope) = effects.barrier() {
                self.pass_barrier(scope, &mut pending);
            }
            // What has no address is not a movement's: who reads allocated memory by descriptors is ordered
            // when the program is lowered, buffer by buffer.
            if effects.addresses_shared() {
                let atomic = effects.is_atomic();
                let pieces = self.pieces.touched(inst);
                if effects.writes.has(Space::Shared) {
                    let waiting =
                        pieces.iter().filter(|piece| pending.0[piece.index()].this.hold_up(atomic));
                    let scopes = waiting.map(|&piece| self.result.shared[piece].scope);
                    let most = if self.in_role { BarrierScope::Warp } else { BarrierScope::Block };
                    let scope = scopes.filter(|&scope| scope <= most).max();
                    if let Some(scope) = scope {
                        self.pass_barrier(scope, &mut pending);
                        if insert {
                            insts.push(self.result.insts.push(InstData {
                                op: Op::Sync(SyncOp::Barrier(scope)),
                                operands: SmallVec::new(),
                                results: SmallVec::new(),
                                regions: Vec::new(),
                                loc,
                            }));
                        }
                    }
                }
                if effects.reads.has(Space::Shared) {
                    for piece in self.pieces.touched(&self.result.insts[id]) {
                        if self.result.shared[*piece].ordered {
                            continue;
                        }
                        let readers = &mut pending.0[piece.index()].this;
                        *readers = readers.join(Readers { loads: !atomic, atomics: atomic });
                    }
                }
            }
            match self.result.insts[id].op {
                Op::If | Op::Roles(_) => {
                    let regions = self.result.insts[id].regions.clone();
                    // Warps without a role pass by.
                    let passes = matches!(self.result.insts[id].op, Op::Roles(_));
                    let mut end = if passes { pending.clone() } else { Pending::default() };
                    let mut new = Vec::with_capacity(regions.len());
                    let around = self.in_role;
                    self.in_role = around || passes;
                    for region in &regions {
                        let (region, arm) = self.region(region, pending.clone(), insert);
                        end.join(&arm);
                        new.push(region);
                    }
                    self.in_role = around;
                    self.result.insts[id].regions = new;
                    pending = end;
                }
                Op::Loop => pending = self.loop_(id, pending, insert),
                Op::BreakIf { target } => self.exits.entry(target).or_default().join(&pending),
                _ => {}
            }
            insts.push(id);
        }
        (Region { params: region.params.clone(), insts }, pending)
    }

    /// What is pending when a round starts is what was pending before the loop or at the end of any
    /// round; that is found without writing anything, then the barriers are written. Going over a
    /// loop again can only find more pending, so what was found before is where it starts from.
    fn loop_(&mut self, id: Inst, mut before: Pending, insert: bool) -> Pending {
        // Whose turn it was when the loop was left last is not known.
        self.turning(id, &mut before, |read| {
            let any = read.this.join(read.other);
            Read { this: any, other: any }
        });
        let body = self.result.insts[id].regions[0].clone();
        let mut start = before;
        let known = self.starts.get(&id).cloned();
        start.join(&known.clone().unwrap_or_default());
        if known.as_ref() != Some(&start) {
            loop {
                let (_, mut end) = self.region(&body, start.clone(), false);
                self.turning(id, &mut end, |read| Read { this: read.other, other: read.this });
                let mut joined = start.clone();
                joined.join(&end);
                if joined == start {
                    break;
                }
                start = joined;
            }
            self.starts.insert(id, start.clone());
        }
        if insert {
            let (body, _) = self.region(&body, start, true);
            self.result.insts[id].regions = vec![body];
        }
        // Behind a loop that nobody leaves nothing is pending.
        let mut end = self.exits.get(&id).cloned().unwrap_or_default();
        end.0.resize(self.result.shared.len(), Read::default());
        end
    }
}
