//! Which values are in flight, and whether each is used as a value in flight may be.
//!
//! The results of a product of a warpgroup, its *tile*, are in flight until a wait gives them back. They may
//! be the accumulators of another product, be carried by a loop, handed over by an `if` or a break, or be waited
//! for: each consumes the value, which nothing may use after. On every path one of them must consume it, or a
//! wait must wait for its group, before its region ends. A wait gives back only what belongs to a group that it
//! waits for. A value that a product takes from registers may not be defined again, in another iteration
//! of a loop, before the product was waited for. At the end of the program nothing is in flight.
//!
//! A fact holds at a place if it holds on every path to it: a forward data-flow analysis, iterated over loops
//! until nothing changes.

use super::{Inst, InstData, Op, Program, Region, Value, WarpgroupMultiply, WarpgroupOp};
use crate::id::IdMap;
use core::fmt::Display;
use std::collections::BTreeMap;

/// What is found out about a program.
pub(crate) struct Flight {
    /// The values that are in flight where they are defined, on some way there.
    pub(crate) in_flight: IdMap<Value, bool>,
    /// The rules that are broken, a sentence each.
    pub(super) errors: Vec<String>,
}

/// Goes over a program; where it has no products in flight, that is all.
pub(crate) fn of(program: &Program) -> Flight {
    let mut walk = Walk {
        program,
        flight: Flight { in_flight: IdMap::default(), errors: Vec::new() },
        loops: Vec::new(),
    };
    if has_products(program) {
        walk.region(&program.body, State::default());
    }
    walk.flight
}

/// Whether a program has products of warpgroups.
pub(crate) fn has_products(program: &Program) -> bool {
    program.insts.values().any(|inst| matches!(inst.op, Op::Warpgroup(WarpgroupOp::Multiply(_))))
}

/// How many groups were closed after the one of a product: none if that is open still. More than a wait can
/// leave in flight are not told apart.
type Age = Option<u32>;

/// A value that has been in flight.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Status {
    /// It is still in flight.
    Flying {
        /// The first value of its tile, how many there are, and which this one is.
        tile: (Value, usize, usize),
        age: Age,
        /// Whether a wait has waited for its group without listing it.
        landed: bool,
        /// The product that began it.
        since: Inst,
    },
    /// This operation took it.
    Taken(Inst),
}

/// What holds at a place.
#[derive(Clone, Default, PartialEq)]
struct State {
    values: BTreeMap<Value, Status>,
    /// What products in flight take from registers.
    read: BTreeMap<Value, Age>,
    /// Whether there are products in the open group.
    open: bool,
    /// How many groups may be in flight.
    pending: u32,
}

impl State {
    /// What holds on both of two ways.
    fn join(mut self, other: State) -> State {
        for (value, status) in other.values {
            let mine = self.values.entry(value).or_insert(status);
            *mine = match (*mine, status) {
                (
                    Status::Flying { tile, age, landed, since },
                    Status::Flying { age: other_age, landed: other, .. },
                ) => {
                    let (age, landed) = (age.min(other_age), landed && other);
                    Status::Flying { tile, age, landed, since }
                }
                (Status::Taken(by), _) | (_, Status::Taken(by)) => Status::Taken(by),
            };
        }
        for (value, age) in other.read {
            let mine = self.read.entry(value).or_insert(age);
            *mine = (*mine).min(age);
        }
        self.open |= other.open;
        self.pending = self.pending.max(other.pending);
        self
    }

    fn commit(&mut self) {
        let older = |age: &mut Age| {
            *age = Some(age.map_or(0, |age| (age + 1).min(WarpgroupOp::MAX_PENDING)));
        };
        for status in self.values.values_mut() {
            if let Status::Flying { age, .. } = status {
                older(age);
            }
        }
        self.read.values_mut().for_each(older);
        self.open = false;
        self.pending = (self.pending + 1).min(WarpgroupOp::MAX_PENDING + 1);
    }

    fn wait(&mut self, pending: u32) {
        self.read.retain(|_, age| !waited(*age, pending));
        for status in self.values.values_mut() {
            if let Status::Flying { age, landed, .. } = status {
                *landed = *landed || waited(*age, pending);
            }
        }
        self.pending = self.pending.min(pending);
    }
}

/// Whether a wait that leaves so many groups in flight waits for one of this age.
fn waited(age: Age, pending: u32) -> bool {
    age.is_some_and(|age| age >= pending)
}

/// A loop around the place.
struct Around {
    inst: Inst,
    /// The values in flight that are defined outside of it.
    outside: Vec<Value>,
    /// What holds where it has been left.
    left: Option<State>,
}

struct Walk<'a> {
    program: &'a Program,
    flight: Flight,
    loops: Vec<Around>,
}

impl<'a> Walk<'a> {
    fn error(&mut self, at: Inst, message: impl Display) {
        let error = format!("{at}: {message}");
        // Loops are gone over more than once.
        if !self.flight.errors.contains(&error) {
            self.flight.errors.push(error);
        }
    }

    /// Goes through a region; gives what holds at its end, before what it hands over.
    fn region(&mut self, region: &'a Region, mut state: State) -> State {
        for &id in &region.insts {
            state = self.inst(id, &self.program.insts[id], state);
        }
        state
    }

    fn inst(&mut self, id: Inst, inst: &'a InstData, mut state: State) -> State {
        match &inst.op {
            Op::Warpgroup(WarpgroupOp::Multiply(multiply)) => {
                self.multiply(id, inst, *multiply, &mut state);
            }
            Op::Warpgroup(WarpgroupOp::Commit) => state.commit(),
            Op::Warpgroup(WarpgroupOp::Wait { pending }) => {
                self.wait(id, inst, *pending, &mut state);
            }
            Op::If | Op::Roles(_) => return self.branch(id, inst, state),
            Op::Loop => return self.repeat(id, inst, state),
            Op::BreakIf { target } => self.leave(id, inst, *target, &state),
            // Their owner takes what they hand over.
            Op::Continue | Op::Yield => {}
            _ => {
                self.plain(id, &inst.operands, &state);
                self.define(id, &inst.results, &mut state);
                if inst.op == Op::Return && (state.open || state.pending > 0) {
                    self.error(id, "products may be in flight at the end");
                }
            }
        }
        state
    }

    /// Uses that no value in flight may have.
    fn plain(&mut self, id: Inst, operands: &[Value], state: &State) {
        for value in operands {
            match state.values.get(value) {
                Some(Status::Flying { since, .. }) => self.error(
                    id,
                    format_args!(
                        "{value} is in flight since {since}: wait for it, and use what that gives"
                    ),
                ),
                Some(Status::Taken(by)) => {
                    self.error(id, format_args!("{value} was in flight, and {by} has taken it"));
                }
                None => {}
            }
        }
    }

    /// Values are defined, which are not in flight.
    fn define(&mut self, id: Inst, results: &[Value], state: &mut State) {
        for value in results {
            if let Some(status) = state.values.remove(value) {
                self.lost(id, *value, status);
            }
            if state.read.contains_key(value) {
                let message = "is defined again while a product in flight takes it from registers";
                self.error(id, format_args!("{value} {message}"));
            }
        }
    }

    /// A value goes whose product may still write it.
    fn lost(&mut self, id: Inst, value: Value, status: Status) {
        if let Status::Flying { landed: false, since, .. } = status {
            let message = "and nothing behind here can wait for it";
            self.error(id, format_args!("{value} is in flight since {since}, {message}"));
        }
    }

    /// What a region defines is not seen behind it.
    fn close(&mut self, region: &Region, state: &mut State) {
        let Some(&last) = region.insts.last() else { return };
        for &id in &region.insts {
            for value in &self.program.insts[id].results {
                if let Some(status) = state.values.remove(value) {
                    self.lost(last, *value, status);
                }
            }
        }
    }

    /// A value is defined, which is in flight.
    fn begin(&mut self, id: Inst, value: Value, status: Status, state: &mut State) {
        self.define(id, &[value], state);
        state.values.insert(value, status);
        self.flight.in_flight.set(value, true);
    }

    /// Takes values that may be in flight; gives what they were.
    fn take(&mut self, id: Inst, values: &[Value], state: &mut State) -> Vec<Option<Status>> {
        let mut all = Vec::with_capacity(values.len());
        for value in values {
            let status = state.values.get(value).copied();
            if let Some(Status::Taken(_)) = status {
                self.plain(id, &[*value], state);
            }
            if status.is_some() {
                state.values.insert(*value, Status::Taken(id));
            }
            all.push(status.filter(|status| matches!(status, Status::Flying { .. })));
        }
        all
    }

    fn multiply(
        &mut self,
        id: Inst,
        inst: &InstData,
        multiply: WarpgroupMultiply,
        state: &mut State,
    ) {
        let (others, accumulators) = inst.operands.split_at(multiply.first_accumulator());
        self.plain(id, others, state);
        let taken = self.take(id, accumulators, state);
        if taken.iter().any(Option::is_some) {
            let first = accumulators.first().copied();
            let tile = |place: usize| match taken[place] {
                Some(Status::Flying { tile, .. }) => Some(tile),
                _ => None,
            };
            let leader = tile(0).map(|(leader, ..)| leader);
            let whole = (0..taken.len()).all(|place| {
                leader.is_some_and(|leader| tile(place) == Some((leader, taken.len(), place)))
            });
            if let (false, Some(first)) = (whole, first) {
                let message = "are not one tile in flight, whole and in order";
                self.error(id, format_args!("the accumulators from {first} on {message}"));
            }
        }
        let count = inst.results.len();
        for (place, &result) in inst.results.iter().enumerate() {
            let tile = (inst.results[0], count, place);
            self.begin(
                id,
                result,
                Status::Flying { tile, age: None, landed: false, since: id },
                state,
            );
        }
        let words = if multiply.left_in_registers { &others[..4] } else { &[] };
        state.read.extend(words.iter().map(|&word| (word, None)));
        state.open = true;
    }

    fn wait(&mut self, id: Inst, inst: &InstData, pending: u32, state: &mut State) {
        let taken = self.take(id, &inst.operands, state);
        for (value, status) in inst.operands.iter().zip(taken) {
            let Some(Status::Flying { age, since, .. }) = status else { continue };
            if age.is_none() {
                self.error(
                    id,
                    format_args!("{value} belongs to a group that is not closed: {since}"),
                );
            } else if !waited(age, pending) {
                self.error(
                    id,
                    format_args!(
                        "{value}, in flight since {since}, may be among the {pending} latest groups"
                    ),
                );
            }
        }
        state.wait(pending);
        self.define(id, &inst.results, state);
    }

    /// What `into` become where values are handed over to them.
    fn hand_over(&mut self, id: Inst, values: &[Value], into: &[Value], state: &mut State) {
        let taken = self.take(id, values, state);
        for (place, &to) in into.iter().enumerate() {
            let Some(Status::Flying { tile: (leader, count, index), age, landed, since }) =
                taken.get(place).copied().flatten()
            else {
                self.define(id, &[to], state);
                continue;
            };
            let leads = values.iter().position(|&value| value == leader);
            let Some(&leader) = leads.and_then(|place| into.get(place)) else {
                self.error(
                    id,
                    format_args!("{} is handed over without the rest of its tile", values[place]),
                );
                continue;
            };
            let status = Status::Flying { tile: (leader, count, index), age, landed, since };
            self.begin(id, to, status, state);
        }
    }

    /// What the last operation of a region hands over.
    fn handed_over(&self, region: &'a Region) -> (Option<Inst>, &'a [Value]) {
        let last = region.insts.last().copied();
        (last, last.map_or(&[], |last| &self.program.insts[last].operands))
    }

    fn branch(&mut self, id: Inst, inst: &'a InstData, state: State) -> State {
        self.plain(id, &inst.operands, &state);
        // Warps without a role pass by.
        let passes = matches!(inst.op, Op::Roles(_));
        let mut joined: Option<State> = passes.then(|| state.clone());
        for region in &inst.regions {
            let mut end = self.region(region, state.clone());
            let (last, values) = self.handed_over(region);
            self.hand_over(last.unwrap_or(id), values, &inst.results, &mut end);
            self.close(region, &mut end);
            joined = Some(match joined.take() {
                Some(other) => self.same_tiles(id, &inst.results, other, end),
                None => end,
            });
        }
        joined.unwrap_or(state)
    }

    /// What holds on both of two ways that hand over these values.
    fn same_tiles(&mut self, id: Inst, values: &[Value], one: State, other: State) -> State {
        for value in values {
            let statuses = (one.values.get(value), other.values.get(value));
            if let (Some(Status::Flying { tile, .. }), Some(Status::Flying { tile: other, .. })) =
                statuses
                && tile != other
            {
                self.error(id, format_args!("{value} belongs to two tiles, by the way there"));
            }
        }
        for (value, status) in &one.values {
            let flies = |status: &Status| matches!(status, Status::Flying { landed: false, .. });
            match other.values.get(value) {
                Some(also) if flies(status) && matches!(also, Status::Taken(_)) => {
                    self.lost(id, *value, *status);
                }
                Some(also) if flies(also) && matches!(status, Status::Taken(_)) => {
                    self.lost(id, *value, *also);
                }
                _ => {}
            }
        }
        one.join(other)
    }

    fn repeat(&mut self, id: Inst, inst: &'a InstData, mut state: State) -> State {
        let [body] = &inst.regions[..] else { return state };
        let outside: Vec<Value> = state.values.keys().copied().collect();
        self.hand_over(id, &inst.operands, &body.params, &mut state);
        loop {
            self.loops.push(Around { inst: id, outside: outside.clone(), left: None });
            let mut end = self.region(body, state.clone());
            let (last, values) = self.handed_over(body);
            self.hand_over(last.unwrap_or(id), values, &body.params, &mut end);
            self.close(body, &mut end);
            let left = self.loops.pop().and_then(|around| around.left);
            let joined = self.same_tiles(id, &body.params, state.clone(), end);
            if joined == state {
                // A loop that nobody leaves has nothing behind it.
                return left.unwrap_or(state);
            }
            state = joined;
        }
    }

    fn leave(&mut self, id: Inst, inst: &'a InstData, target: Inst, state: &State) {
        let Some((condition, values)) = inst.operands.split_first() else { return };
        self.plain(id, &[*condition], state);
        let mut left = state.clone();
        let results = &self.program.insts[target].results;
        self.hand_over(id, values, results, &mut left);
        let Some(place) = self.loops.iter().position(|around| around.inst == target) else {
            return;
        };
        let seen =
            |value: &Value| self.loops[place].outside.contains(value) || results.contains(value);
        let inner: Vec<Value> = left.values.keys().copied().filter(|value| !seen(value)).collect();
        for value in inner {
            if let Some(status) = left.values.remove(&value) {
                self.lost(id, value, status);
            }
        }
        let other = self.loops[place].left.take();
        let joined = match other {
            Some(other) => self.same_tiles(id, results, other, left),
            None => left,
        };
        self.loops[place].left = Some(joined);
    }
}
