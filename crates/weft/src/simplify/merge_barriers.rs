//! One barrier for two movements.
//!
//! A movement through scratch memory stores, waits and loads. Where the stores of a second one do not depend
//! on the loads of the first, they go in front of these loads, and the block waits once for both:
//!
//! ```text
//! store a; wait; ..; load a; store b; wait; load b
//! store a; ..; store b; wait; load a; load b
//! ```
//!
//! Between the two barriers there may only be computation, exchanges between lanes, accesses to scratch
//! memory, and reads of global memory that nothing may have written yet. Two barriers are merged where that
//! leaves fewer of them, or as many and fewer registers live, where these do not suffice: what is loaded to be moved
//! need not wait for the first movement. No merge keeps another block off the multiprocessor, though the scratch memory
//! of both movements is then in use at once.

use super::double_buffer::{barriers_with, room};
use super::{pack, pieces::Pieces, registers};
use crate::budget::Stop;
use crate::id::IdMap;
use crate::lane::effects::{Control, Fence, Proxy, Spaces, Tokens};
use crate::lane::{BarrierScope, Effects, Inst, Op, Program, Region, Shared, Space, Value};

/// Merges the barriers, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped, which leaves movements as they are.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let Some(room) = room(&program, stop) else { return program };
    let pieces = Pieces::of(&program);
    let most = registers::room(&program, registers::MOST);
    let mut known: Option<Cost> = None;
    for list in lists(&program) {
        let mut first = 0;
        while !stop.is_set()
            && let Some((barrier, order)) = list.candidate(&program, &pieces, first)
        {
            let before = *known.get_or_insert_with(|| Cost::of(&program, stop));
            let Some(insts) = list.insts_mut(&mut program) else { break };
            let apart = core::mem::replace(insts, order);
            let after = Cost::of(&program, stop);
            if after.bytes <= room.max(before.bytes) && after.is_less(before, most) {
                known = Some(after);
            } else {
                if let Some(insts) = list.insts_mut(&mut program) {
                    *insts = apart;
                }
                first = barrier + 1;
            }
        }
    }
    program
}

/// What a program takes.
#[derive(Clone, Copy)]
struct Cost {
    /// Barriers of the block.
    barriers: usize,
    /// Shared memory, in bytes.
    bytes: u32,
    /// The registers that are live at once.
    registers: u32,
}

impl Cost {
    fn of(program: &Program, stop: &Stop) -> Self {
        Self {
            barriers: barriers_with(program, stop),
            bytes: pack::shared_bytes(program, stop),
            registers: registers::live(program, stop),
        }
    }

    /// Whether the block waits less often than before, or as often with fewer registers where they do not suffice.
    fn is_less(self, before: Self, most: u32) -> bool {
        self.barriers < before.barriers
            || self.barriers == before.barriers
                && before.registers > most
                && self.registers < before.registers
    }
}

/// A list of operations of a program.
struct List {
    /// The operation whose region it is, and which one; none for the program's own.
    inside: Option<(Inst, usize)>,
    /// Whether what global memory holds may have changed before it or in another round of it.
    after_changes: bool,
}

/// Every list of a program in which the block waits twice.
fn lists(program: &Program) -> Vec<List> {
    let mut found = Vec::new();
    note(program, &program.body, None, false, &mut found);
    found
}

/// Whether the whole block waits at an operation.
fn waits(program: &Program, id: Inst) -> bool {
    program.insts[id].op.effects().barrier() == Some(BarrierScope::Block)
}

/// Whether global memory may hold something else behind operations with these effects: they write it, or learn
/// that others have. Of a barrier, the block's own writes are seen where they stand.
fn changes(effects: Effects) -> bool {
    let learns = effects.barrier().is_none() && effects.fence.acquires();
    effects.writes.has(Space::Global) || effects.visible || learns
}

/// Notes a region's lists; says whether what global memory holds may have changed at its end.
fn note(
    program: &Program,
    region: &Region,
    inside: Option<(Inst, usize)>,
    changed: bool,
    found: &mut Vec<List>,
) -> bool {
    let is_block = |id: &&Inst| waits(program, **id);
    if region.insts.iter().filter(is_block).count() > 1 {
        // What this list writes itself counts where it is met.
        found.push(List { inside, after_changes: changed });
    }
    let mut changed = changed;
    for &id in &region.insts {
        let inst = &program.insts[id];
        // Of a loop, the round before counts.
        let own = inst.regions.iter().any(|inner| program.any_effects(inner, changes));
        let before = changed || own && inst.op == Op::Loop;
        for (index, inner) in inst.regions.iter().enumerate() {
            changed |= note(program, inner, Some((id, index)), before, found);
        }
    }
    changed || program.any_effects(region, changes)
}

impl List {
    fn region<'a>(&self, program: &'a Program) -> Option<&'a Region> {
        match self.inside {
            None => Some(&program.body),
            Some((id, index)) => program.insts[id].regions.get(index),
        }
    }

    fn insts_mut<'a>(&self, program: &'a mut Program) -> Option<&'a mut Vec<Inst>> {
        let region = match self.inside {
            None => Some(&mut program.body),
            Some((id, index)) => program.insts[id].regions.get_mut(index),
        };
        region.map(|region| &mut region.insts)
    }

    /// The next barrier from `first` on that may meet the one after it, and the order in which both have
    /// met.
    fn candidate(
        &self,
        program: &Program,
        pieces: &Pieces,
        first: usize,
    ) -> Option<(usize, Vec<Inst>)> {
        let insts = &self.region(program)?.insts;
        let (mut start, mut earlier) = (0, None);
        let mut changed = self.after_changes;
        for (place, &id) in insts.iter().enumerate() {
            let inst = &program.insts[id];
            if !waits(program, id) {
                changed = changed
                    || changes(inst.op.effects())
                    || inst.regions.iter().any(|region| program.any_effects(region, changes));
                continue;
            }
            if let Some((before, quiet)) = earlier
                && before >= first
            {
                let between = Between { program, pieces, insts, quiet };
                if let Some(order) = between.met(start, before, place) {
                    return Some((before, order));
                }
            }
            start = earlier.map_or(0, |(before, _)| before + 1);
            earlier = Some((place, !changed));
        }
        None
    }
}

/// A list in which two barriers may meet.
struct Between<'a> {
    program: &'a Program,
    pieces: &'a Pieces,
    insts: &'a [Inst],
    /// Whether global memory still holds before them what it held first.
    quiet: bool,
}

/// What an operation between two barriers is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Computation, and exchanges between lanes.
    Plain,
    /// A read of global memory.
    Reads,
    /// A load from a piece.
    Loads(Shared),
    /// A store to a piece.
    Stores(Shared),
}

impl Between<'_> {
    /// What an operation is; none where it must stay where it is.
    fn kind(&self, id: Inst) -> Option<Kind> {
        let effects = self.program.insts[id].op.effects();
        let Effects { reads, writes, extent: _, proxy, fence, convergent: _, .. } = effects;
        let Effects { control, visible, tokens, latency: _, .. } = effects;
        let stays = proxy != Proxy::Generic
            || fence != Fence::None
            || control != Control::None
            || tokens != Tokens::None
            || visible;
        if stays {
            return None;
        }
        match (reads, writes) {
            (Spaces::NONE, Spaces::NONE) => Some(Kind::Plain),
            (Spaces::GLOBAL, Spaces::NONE) => Some(Kind::Reads),
            (Spaces::SHARED, Spaces::NONE) => self.scratch(id).map(Kind::Loads),
            (Spaces::NONE, Spaces::SHARED) => self.scratch(id).map(Kind::Stores),
            _ => None,
        }
    }

    /// The piece of scratch memory that an operation touches, if it is one.
    fn scratch(&self, id: Inst) -> Option<Shared> {
        let piece = self.pieces.addressed(&self.program.insts[id])?;
        self.program.shared[piece].scratch.then_some(piece)
    }

    /// The order in which the barriers at two places have met; `start` is where the list since the barrier
    /// before them begins.
    fn met(&self, start: usize, earlier: usize, later: usize) -> Option<Vec<Inst>> {
        let mut used: Vec<Shared> = Vec::new();
        for &id in &self.insts[start..earlier] {
            self.touched_in(id, &mut used);
        }
        let between = earlier + 1..later;
        let kinds: Vec<Kind> =
            self.insts[between.clone()].iter().map(|&id| self.kind(id)).collect::<Option<_>>()?;
        let needs = |kind: &Kind| matches!(kind, Kind::Loads(piece) | Kind::Stores(piece) if used.contains(piece));
        let waiting = kinds.iter().position(needs).unwrap_or(kinds.len());
        if kinds.contains(&Kind::Reads) && !self.quiet {
            return None;
        }
        let place = earlier + 1 + waiting;
        let mut wanted: IdMap<Value, bool> = IdMap::default();
        let (mut ahead, mut behind) = (Vec::new(), Vec::new());
        for (kind, &id) in kinds[waiting..].iter().zip(&self.insts[place..later]).rev() {
            let inst = &self.program.insts[id];
            let is_wanted = inst.results.iter().any(|&result| wanted[result]);
            let goes_ahead = match kind {
                Kind::Stores(piece) if used.contains(piece) => return None,
                // A read of global memory was ordered before what is written behind the later barrier.
                Kind::Stores(_) | Kind::Reads => true,
                Kind::Plain => is_wanted,
                Kind::Loads(_) if !is_wanted => false,
                Kind::Loads(_) => return None,
            };
            if goes_ahead {
                for &operand in &inst.operands {
                    wanted.set(operand, true);
                }
                ahead.push(id);
            } else {
                behind.push(id);
            }
        }
        let mut order = self.insts[..earlier].to_vec();
        order.extend_from_slice(&self.insts[earlier + 1..place]);
        order.extend(ahead.into_iter().rev());
        order.push(self.insts[later]);
        order.extend(behind.into_iter().rev());
        order.extend_from_slice(&self.insts[later + 1..]);
        Some(order)
    }

    /// Every piece that an operation or one inside it may touch.
    fn touched_in(&self, id: Inst, used: &mut Vec<Shared>) {
        let inst = &self.program.insts[id];
        for &piece in self.pieces.touched(inst) {
            if !used.contains(&piece) {
                used.push(piece);
            }
        }
        for region in &inst.regions {
            for &inner in &region.insts {
                self.touched_in(inner, used);
            }
        }
    }
}
