//! Double-buffers scratch memory in a loop, so that an iteration need not wait for the one before.
//!
//! A movement stores, waits and loads. In a loop the stores of the next iteration would have to wait for
//! these loads too. With two halves that iterations use alternately, the barrier between the stores and the
//! loads of an iteration also separates the loads from a half and the stores to it two iterations later:
//!
//! ```text
//! loop (.., half = 0) { store to s + half; wait; load from s + half; continue (.., bytes - half) }
//! ```
//!
//! So one barrier of two is saved, and a warp whose loads are done goes on to compute and to store while
//! others still load. A piece is doubled where that saves a barrier of the block and keeps no other block
//! off the multiprocessor ([`Program::multiprocessor`]): one that the registers leave room for.

use super::{barriers, pack, pieces::Pieces, registers};
use crate::budget::Stop;
use crate::dtype::DType;
use crate::id::{Id, IdMap};
use crate::lane::{
    BarrierScope, Inst, InstData, Op, Program, Region, Shared, SharedData, Value, ValueData,
};
use crate::scalar::Binary;
use smallvec::{SmallVec, smallvec};

/// Doubles the buffers, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped, which leaves scratch memory as it is.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let Some(multiprocessor) = program.multiprocessor else { return program };
    let candidates = candidates(&program);
    if candidates.is_empty() {
        return program;
    }
    let mut waits = barriers_with(&program, stop);
    let likely = registers::likely(&program, stop);
    for (piece, target) in candidates {
        if stop.is_set() {
            break;
        }
        let registers = likely.max(carried(&program, target));
        let room = multiprocessor.share(program.threads(), registers);
        if half_of(&program.shared[piece]) > room {
            continue;
        }
        let doubled = double(program.clone(), piece, target);
        let fewer = barriers_with(&doubled, stop);
        if fewer < waits && pack::shared_bytes(&doubled, stop) <= room {
            (program, waits) = (doubled, fewer);
        }
    }
    program
}

/// The shared memory that a block may take without keeping another one off the multiprocessor; none where
/// that is not known.
pub(super) fn room(program: &Program, stop: &Stop) -> Option<u32> {
    Some(program.multiprocessor?.share(program.threads(), registers::likely(program, stop)))
}

/// The registers of what a loop carries from round to round.
fn carried(program: &Program, target: Inst) -> u32 {
    let values = program.insts[target].regions.iter().flat_map(|body| &body.params);
    values.map(|&value| program.dtype(value).bytes().div_ceil(4)).sum()
}

/// The bytes of a half of a piece: every half is aligned as the piece is.
fn half_of(piece: &SharedData) -> u32 {
    piece.bytes.next_multiple_of(piece.align.max(1))
}

/// The barriers of a block that the program would have, unless it is stopped.
pub(super) fn barriers_with(program: &Program, stop: &Stop) -> usize {
    let program = barriers::run_until(program.clone(), stop);
    let mut count = 0;
    program.walk(&program.body, &mut |_, inst| {
        count += usize::from(inst.op.effects().barrier() == Some(BarrierScope::Block));
    });
    count
}

/// The innermost loop around an access.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Around {
    #[default]
    Unused,
    Loop(Inst),
    /// There is no loop around, or there are several.
    Other,
}

/// The pieces that the rounds of one loop use, each its own contents, and that loop.
fn candidates(program: &Program) -> Vec<(Shared, Inst)> {
    let pieces = Pieces::of(program);
    let mut around = vec![Around::Unused; program.shared.len()];
    note(program, &pieces, &program.body, None, &mut around);
    let found = program.shared.iter().filter_map(|(piece, data)| match around[piece.index()] {
        Around::Loop(target) if data.scratch && data.scope == BarrierScope::Block => {
            Some((piece, target))
        }
        _ => None,
    });
    found.collect()
}

fn note(
    program: &Program,
    pieces: &Pieces,
    region: &Region,
    inside: Option<Inst>,
    around: &mut [Around],
) {
    let here = inside.map_or(Around::Other, Around::Loop);
    for &id in &region.insts {
        let inst = &program.insts[id];
        let addressed = pieces.addressed(inst);
        for &piece in pieces.touched(inst) {
            let known = &mut around[piece.index()];
            let mine = addressed == Some(piece) && (*known == Around::Unused || *known == here);
            *known = if mine { here } else { Around::Other };
        }
        let inside = if inst.op == Op::Loop { Some(id) } else { inside };
        for inner in &inst.regions {
            note(program, pieces, inner, inside, around);
        }
    }
}

/// The program with a piece that a loop double-buffers.
fn double(mut program: Program, piece: Shared, target: Inst) -> Program {
    let bytes = half_of(&program.shared[piece]);
    let pieces = Pieces::of(&program);
    let mut body = core::mem::take(&mut program.body);
    let mut writer = Doubling { program, pieces, piece, target, bytes };
    writer.outside(&mut body);
    let mut program = writer.program;
    program.body = body;
    let end = program.shared_bytes;
    let data = &mut program.shared[piece];
    // Behind all others, until `pack` places them anew.
    data.offset = end.next_multiple_of(data.align.max(1));
    data.bytes = 2 * bytes;
    data.turns = Some(target);
    program.shared_bytes = data.offset + data.bytes;
    program
}

struct Doubling {
    program: Program,
    pieces: Pieces,
    piece: Shared,
    target: Inst,
    bytes: u32,
}

impl Doubling {
    /// A new operation beside another one, not yet placed.
    fn value(&mut self, op: Op, operands: SmallVec<[Value; 4]>, beside: Inst) -> (Inst, Value) {
        let loc = self.program.insts[beside].loc;
        let value = self.program.values.push(ValueData { dtype: DType::I32 });
        let results = smallvec![value];
        let regions = Vec::new();
        let inst = self.program.insts.push(InstData { op, operands, results, regions, loc });
        (inst, value)
    }

    /// Goes to the loop, and gives it the half that a round uses.
    fn outside(&mut self, region: &mut Region) {
        let mut insts = Vec::with_capacity(region.insts.len() + 2);
        for id in core::mem::take(&mut region.insts) {
            let mut inner = core::mem::take(&mut self.program.insts[id].regions);
            if id == self.target {
                let (zero, first) = self.value(Op::Const(0), smallvec![], id);
                let (size, bytes) = self.value(Op::Const(self.bytes.into()), smallvec![], id);
                insts.extend([zero, size]);
                self.program.insts[id].operands.push(first);
                for body in &mut inner {
                    self.round(body, bytes);
                }
            } else {
                for inner in &mut inner {
                    self.outside(inner);
                }
            }
            self.program.insts[id].regions = inner;
            insts.push(id);
        }
        region.insts = insts;
    }

    fn round(&mut self, body: &mut Region, bytes: Value) {
        let half = self.program.values.push(ValueData { dtype: DType::I32 });
        body.params.push(half);
        self.accesses(body, half);
        if let Some(end) = body.insts.pop() {
            let (turn, other) = self.value(Op::Binary(Binary::Sub), smallvec![bytes, half], end);
            self.program.insts[end].operands.push(other);
            body.insts.extend([turn, end]);
        }
    }

    /// Adds the half to every address of the piece.
    fn accesses(&mut self, region: &mut Region, half: Value) {
        let mut moved: IdMap<Value, Option<Value>> = IdMap::default();
        let mut insts = Vec::with_capacity(region.insts.len());
        for id in core::mem::take(&mut region.insts) {
            let mut inner = core::mem::take(&mut self.program.insts[id].regions);
            for inner in &mut inner {
                self.accesses(inner, half);
            }
            self.program.insts[id].regions = inner;
            let inst = &self.program.insts[id];
            if self.pieces.addressed(inst) == Some(self.piece) {
                let address = inst.operands[0];
                let new = moved[address].unwrap_or_else(|| {
                    let sum = Op::Binary(Binary::Add);
                    let (add, new) = self.value(sum, smallvec![address, half], id);
                    insts.push(add);
                    moved.set(address, Some(new));
                    new
                });
                self.program.insts[id].operands[0] = new;
            }
            insts.push(id);
        }
        region.insts = insts;
    }
}
