//! What each barrier orders.
//!
//! A barrier is there for accesses that would race without it. The program is walked in order, each loop's
//! body twice and both regions of an `if` one after the other. Each access between the last barrier and this
//! one is paired with an access to the same memory behind this one, up to the next barrier or, if there is
//! none, further on. A barrier without such a pair is one that the source asks for.

use super::pieces::Pieces;
use crate::lane::effects::{Extent, Tokens};
use crate::lane::{
    BarrierScope, Effects, Inst, InstData, Op, Program, Region, Shared, SharedData, Space,
};
use crate::location::Loc;

/// Why the order of two accesses matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conflict {
    /// What is stored is loaded.
    Stored,
    /// What asynchronous copies bring is loaded.
    Landed,
    /// What has been loaded is overwritten.
    Overwritten,
    /// Global memory is written and touched again.
    Global,
}

/// Two accesses that a barrier keeps in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// What would go wrong without the barrier.
    pub conflict: Conflict,
    /// Where the one before the barrier stands in the source.
    pub before: Loc,
    /// Where the one behind it does.
    pub after: Loc,
}

/// A barrier with what it is there for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// The operation that is the barrier.
    pub inst: Inst,
    /// The threads that wait for one another.
    pub scope: BarrierScope,
    /// Where it stands in the source.
    pub loc: Loc,
    /// The loops around it, the outermost first.
    pub loops: Vec<Loc>,
    /// The pairs of accesses that it keeps in order.
    pub orders: Vec<Order>,
}

/// Every barrier of a program, in order.
pub fn barriers(program: &Program) -> Vec<Barrier> {
    let pieces = Pieces::of(program);
    let (events, loops, found) = (Vec::new(), Vec::new(), Vec::new());
    let mut walk = Walk { program, pieces, events, loops, found };
    walk.region(&program.body);
    let Walk { events, mut found, .. } = walk;
    for (place, event) in events.iter().enumerate() {
        let Effect::Waits(_) = event.effect else { continue };
        if let Some(barrier) = found.iter_mut().find(|barrier| barrier.inst == event.inst) {
            for order in orders(program, &events, place) {
                if !barrier.orders.contains(&order) {
                    barrier.orders.push(order);
                }
            }
        }
    }
    found
}

/// What happens at one place of the straight line.
struct Event {
    inst: Inst,
    loc: Loc,
    effect: Effect,
}

enum Effect {
    Waits(BarrierScope),
    Touches(Touch),
}

/// An access to memory.
struct Touch {
    /// The pieces of shared memory; none for global memory.
    pieces: Option<Vec<Shared>>,
    writes: bool,
    copies: Copies,
}

/// What an access has to do with asynchronous copies.
#[derive(Clone, Copy, PartialEq)]
enum Copies {
    Nothing,
    /// It starts one, whose end is waited for elsewhere.
    Starts,
    /// It waits for some.
    Lands,
}

impl Touch {
    /// Why the order of this and a later access matters, if it does.
    fn conflict(&self, program: &Program, later: &Touch) -> Option<Conflict> {
        if !self.writes && !later.writes || self.copies == Copies::Starts {
            return None;
        }
        match (&self.pieces, &later.pieces) {
            (None, None) => Some(Conflict::Global),
            (Some(own), Some(others)) if own.iter().any(|piece| others.contains(piece)) => {
                Some(match (self.writes, later.writes) {
                    (false, _) => Conflict::Overwritten,
                    (true, _) if self.copies == Copies::Lands => Conflict::Landed,
                    (true, _) => Conflict::Stored,
                })
            }
            // Another piece that lies in the same bytes.
            (Some(own), Some(others)) => {
                let meets = |&piece: &Shared| {
                    let data = &program.shared[piece];
                    let end = |data: &SharedData| data.offset + data.bytes;
                    let others = others.iter().map(|&other| &program.shared[other]);
                    others
                        .into_iter()
                        .any(|other| data.offset < end(other) && other.offset < end(data))
                };
                let overwritten = !self.writes && own.iter().any(meets);
                overwritten.then_some(Conflict::Overwritten)
            }
            _ => None,
        }
    }
}

struct Walk<'a> {
    program: &'a Program,
    pieces: Pieces,
    events: Vec<Event>,
    loops: Vec<Loc>,
    found: Vec<Barrier>,
}

impl Walk<'_> {
    fn region(&mut self, region: &Region) {
        let program = self.program;
        for &id in &region.insts {
            let inst = &program.insts[id];
            let loc = inst.loc;
            let effects = inst.op.effects();
            if let Some(scope) = effects.barrier() {
                if self.found.iter().all(|barrier| barrier.inst != id) {
                    let (loops, orders) = (self.loops.clone(), Vec::new());
                    self.found.push(Barrier { inst: id, scope, loc, loops, orders });
                }
                self.events.push(Event { inst: id, loc, effect: Effect::Waits(scope) });
            }
            for touch in touches(&self.pieces, inst, effects) {
                self.events.push(Event { inst: id, loc, effect: Effect::Touches(touch) });
            }
            let rounds = if inst.op == Op::Loop {
                self.loops.push(loc);
                2
            } else {
                1
            };
            for _ in 0..rounds {
                for inner in &inst.regions {
                    self.region(inner);
                }
            }
            if inst.op == Op::Loop {
                self.loops.pop();
            }
        }
    }
}

/// The accesses of an operation, one for each space.
fn touches(pieces: &Pieces, inst: &InstData, effects: Effects) -> impl Iterator<Item = Touch> {
    let copies = match (effects.tokens, effects.extent) {
        (_, Extent::InFlight) => Copies::Lands,
        (Tokens::Starts, _) => Copies::Starts,
        _ => Copies::Nothing,
    };
    let spaces = [Space::Global, Space::Shared].into_iter();
    let touched = spaces.filter(move |&space| (effects.reads | effects.writes).has(space));
    touched.map(move |space| {
        let shared = space == Space::Shared;
        let pieces = shared.then(|| pieces.touched(inst).to_vec());
        Touch { pieces, writes: effects.writes.has(space), copies }
    })
}

/// What the barrier at a place orders.
fn orders(program: &Program, events: &[Event], place: usize) -> Vec<Order> {
    let Effect::Waits(own) = events[place].effect else { return Vec::new() };
    let is_next = |event: &Event| matches!(event.effect, Effect::Waits(scope) if scope >= own);
    let start = events[..place].iter().rposition(is_next).map_or(0, |last| last + 1);
    let behind = &events[place + 1..];
    let end = behind.iter().position(is_next).unwrap_or(behind.len());
    let (near, far) = behind.split_at(end);
    let before = &events[start..place];
    let found = pairs(program, before, near);
    if found.is_empty() { pairs(program, before, far).into_iter().take(1).collect() } else { found }
}

/// The first access behind that each one before must stay in front of.
fn pairs(program: &Program, before: &[Event], behind: &[Event]) -> Vec<Order> {
    let mut found: Vec<Order> = Vec::new();
    for event in before {
        let Effect::Touches(touch) = &event.effect else { continue };
        let order = behind.iter().find_map(|later| {
            let Effect::Touches(other) = &later.effect else { return None };
            let conflict = touch.conflict(program, other)?;
            Some(Order { conflict, before: event.loc, after: later.loc })
        });
        found.extend(order.filter(|order| !found.contains(order)));
    }
    found
}
