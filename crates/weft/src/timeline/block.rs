//! The block on its clock.

use super::known::{self, Known};
use super::need::{Need, Needs, Unit};
use super::{Loops, Round, Span, Work};
use crate::budget::Stop;
use crate::id::IdMap;
use crate::lane::effects::{Control, Fence, Step, Tokens};
use crate::lane::{
    BarrierScope, Inst, InstData, Mbarrier, NamedBarrier, Op, Program, Region, Space, Value,
    WarpgroupMultiply, WarpgroupOp,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use weft_layout::Machine;

/// The operations after which nothing is said: far more than any kernel of a few rounds has.
const MOST_STEPS: usize = 1_000_000;
/// After how many operations it is asked whether the times are still wanted.
const LOOKS: usize = 1024;
/// The rounds of an innermost loop whose end is not known, and of one around others.
const ROUNDS: u32 = 10;
const OUTER_ROUNDS: u32 = 2;
/// The rounds of a loop whose end is known.
const KNOWN_ROUNDS: u32 = 32;
/// Over how many of the last rounds a round's time is taken.
const STEADY: usize = 4;

/// What happens at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A copy to shared memory arrives, and an mbarrier may count it.
    Landed { mbarrier: Option<u64>, bytes: u64 },
    /// A warp goes on.
    Warp(u32),
}

/// Operations of a region that a warp runs.
struct Frame<'a> {
    region: &'a Region,
    next: usize,
    /// The operation whose region it is; none for the program's body.
    owner: Option<Inst>,
    /// The lanes that run it.
    lanes: u64,
    round: u32,
}

/// What runs on by itself in groups: when the open group and each closed one are done.
#[derive(Default)]
struct Groups {
    open: u64,
    closed: VecDeque<u64>,
}

impl Groups {
    fn add(&mut self, end: u64) {
        self.open = self.open.max(end);
    }

    fn close(&mut self) {
        self.closed.push_back(core::mem::take(&mut self.open));
    }

    /// When all groups but the latest so many are done.
    fn done(&mut self, pending: u32) -> u64 {
        let mut end = 0;
        while self.closed.len() > pending as usize {
            end = self.closed.pop_front().unwrap_or(0).max(end);
        }
        end
    }
}

struct Warp<'a> {
    at: u64,
    frames: Vec<Frame<'a>>,
    /// When each value may be used.
    ready: IdMap<Value, u64>,
    known: IdMap<Value, Known>,
    copies: Groups,
    products: Groups,
    stores: Groups,
    /// The warps that have its role: the first and how many.
    role: (u32, u32),
}

#[derive(Default)]
struct Counter {
    expected: u64,
    arrived: u64,
    bytes: i64,
    under_way: u64,
    phase: u64,
    waiting: Vec<(u32, u64)>,
}

impl Counter {
    fn is_over(&self) -> bool {
        self.expected > 0 && self.arrived >= self.expected && self.under_way == 0 && self.bytes <= 0
    }
}

/// What has been seen of a block.
#[derive(Default)]
pub(super) struct Record {
    /// By loop and the first warp of a role: when each round began, and how many warps have the role.
    rounds: BTreeMap<(Inst, u32), (u32, Vec<u64>)>,
    spans: BTreeMap<u32, Vec<Span>>,
    used: Vec<(Unit, u64, u64)>,
    parts: u64,
}

pub(super) struct Block<'a> {
    needs: Needs<'a>,
    loops: &'a Loops,
    warps: Vec<Warp<'a>>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    /// When each unit is free: of each part, or the first alone.
    free: BTreeMap<Unit, Vec<u64>>,
    counters: BTreeMap<u64, Counter>,
    /// The warps at the block's barrier and at each named one, with the time; how many have arrived there.
    meeting: BTreeMap<u8, (u32, Vec<u32>)>,
    running: u32,
    record: Record,
}

impl<'a> Block<'a> {
    pub(super) fn new(program: &'a Program, machine: &'a Machine, loops: &'a Loops) -> Self {
        let lanes = u64::MAX >> (64 - (1u32 << program.lanes_log2));
        let warp = |_| Warp {
            at: 0,
            frames: vec![Frame { region: &program.body, next: 0, owner: None, lanes, round: 0 }],
            ready: IdMap::default(),
            known: IdMap::default(),
            copies: Groups::default(),
            products: Groups::default(),
            stores: Groups::default(),
            role: (0, program.warps),
        };
        let parts = machine.timing.parts.max(1) as usize;
        let free = |unit: Unit| (unit, vec![0; if unit.is_of_part() { parts } else { 1 }]);
        Self {
            needs: Needs { program, machine },
            loops,
            warps: (0..program.warps).map(warp).collect(),
            events: (0..program.warps).map(|warp| Reverse((0, Event::Warp(warp)))).collect(),
            free: Unit::ALL.into_iter().map(free).collect(),
            counters: BTreeMap::new(),
            meeting: BTreeMap::new(),
            running: program.warps,
            record: Record { parts: parts as u64, ..Record::default() },
        }
    }

    /// Runs the block to its end.
    pub(super) fn run(mut self, stop: &Stop) -> Option<Record> {
        let mut steps = 0;
        loop {
            while let Some(Reverse((now, event))) = self.events.pop() {
                steps += 1;
                if steps > MOST_STEPS || steps % LOOKS == 0 && stop.is_set() {
                    return None;
                }
                match event {
                    Event::Landed { mbarrier, bytes } => self.landed(mbarrier, bytes, now),
                    Event::Warp(warp) => self.step(warp, now),
                }
            }
            if !self.release() {
                return Some(self.record);
            }
        }
    }

    /// Where everybody waits for what will not happen in so few rounds, they go on.
    fn release(&mut self) -> bool {
        let mut waiting = Vec::new();
        for counter in self.counters.values_mut() {
            waiting.extend(core::mem::take(&mut counter.waiting).into_iter().map(|(warp, _)| warp));
        }
        for (_, (_, warps)) in core::mem::take(&mut self.meeting) {
            waiting.extend(warps);
        }
        let latest = waiting.iter().map(|&warp| self.warps[warp as usize].at).max();
        for &warp in &waiting {
            self.go_on(warp, latest.unwrap_or(0));
        }
        !waiting.is_empty()
    }

    /// A warp that waited goes on.
    fn go_on(&mut self, warp: u32, now: u64) {
        let since = self.warps[warp as usize].at;
        self.spend(warp, Work::Waits, since, now);
        self.warps[warp as usize].at = now.max(since);
        self.events.push(Reverse((now.max(since), Event::Warp(warp))));
    }

    fn spend(&mut self, warp: u32, work: Work, start: u64, end: u64) {
        if end > start {
            let first = self.warps[warp as usize].role.0;
            if first != warp {
                return;
            }
            self.record.spans.entry(warp).or_default().push(Span { work, start, end });
        }
    }

    /// When a unit that is asked for at a time begins, and has done so much.
    fn use_unit(&mut self, warp: u32, unit: Unit, now: u64, time: u64) -> (u64, u64) {
        let Some(free) = self.free.get_mut(&unit) else { return (now, now + time) };
        let part = warp as usize % free.len();
        let start = free[part].max(now);
        free[part] = start + time;
        self.record.used.push((unit, start, start + time));
        (start, start + time)
    }

    fn is_free_at(&self, warp: u32, unit: Unit) -> u64 {
        let free = &self.free[&unit];
        free[warp as usize % free.len()]
    }

    /// The next operation of a warp.
    fn step(&mut self, index: u32, now: u64) {
        let warp = &mut self.warps[index as usize];
        let Some(frame) = warp.frames.last_mut() else { return };
        let Some(&id) = frame.region.insts.get(frame.next) else {
            // Regions end with an operation that leaves them.
            warp.frames.pop();
            self.events.push(Reverse((now, Event::Warp(index))));
            return;
        };
        let lanes = frame.lanes;
        let inst = &self.needs.program.insts[id];
        let need = self.needs.of(inst, lanes.count_ones().into());
        // In order: not before its operands are there, its part issues, and a unit of the part takes it.
        let operands = inst.operands.iter().map(|&value| warp.ready[value]).max().unwrap_or(0);
        let mut from = if is_structure(&inst.op) { now } else { operands.max(now) };
        if need.instructions > 0 {
            from = from.max(self.is_free_at(index, Unit::Issue));
        }
        if let Some((unit @ (Unit::Integer | Unit::Special), _)) = need.unit {
            from = from.max(self.is_free_at(index, unit));
        }
        if from > now {
            self.warps[index as usize].at = now;
            self.go_on(index, from);
            return;
        }
        if let Some(frame) = self.warps[index as usize].frames.last_mut() {
            frame.next += 1;
        }
        let (_, mut end) = match need.instructions {
            0 => (now, now),
            count => {
                let issue = self.needs.machine.prices.issue * self.record.parts;
                self.use_unit(index, Unit::Issue, now, count * issue)
            }
        };
        self.spend(index, Work::Issues, now, end);
        let done = self.work(index, inst, need, now);
        // Of sums in flight other products are all that may use them, and these are computed in order.
        let usable = if inst.op.effects().starts_product() { end } else { done };
        self.warps[index as usize].at = end;
        for &result in &inst.results {
            let known =
                known::result(self.needs.program, inst, &self.warps[index as usize].known, index);
            let warp = &mut self.warps[index as usize];
            warp.ready.set(result, usable);
            warp.known.set(result, known);
        }
        if self.act(index, id, inst, lanes, done, &mut end) {
            self.warps[index as usize].at = end;
            self.events.push(Reverse((end, Event::Warp(index))));
        }
    }

    /// What a unit does for an operation, and when its results are there.
    fn work(&mut self, warp: u32, inst: &InstData, need: Need, now: u64) -> u64 {
        let Some((unit, time)) = need.unit else { return now + need.latency };
        let (start, end) = self.use_unit(warp, unit, now, time);
        let done = end.max(start + need.latency);
        match unit {
            Unit::Matrix => self.spend(warp, Work::Products, start, done),
            Unit::Shared => self.spend(warp, Work::Shared, start, end),
            Unit::Global => {
                let copies = matches!(inst.op, Op::AsyncCopy(_));
                self.spend(warp, if copies { Work::Copies } else { Work::Global }, start, done);
            }
            Unit::Issue | Unit::Integer | Unit::Special => {}
        }
        if let Op::Warpgroup(WarpgroupOp::Multiply(product)) = &inst.op {
            // The factors' way; the product lasts as long as that at least, so that nothing else waits for it.
            let read = self.needs.wavefronts(Needs::read_by(product))
                / u64::from(WarpgroupMultiply::WARPS);
            self.record.used.push((Unit::Shared, start, start + read));
        }
        done
    }

    /// What an operation does beside computing; whether the warp goes on, at `end`.
    fn act(
        &mut self,
        index: u32,
        id: Inst,
        inst: &'a InstData,
        lanes: u64,
        done: u64,
        end: &mut u64,
    ) -> bool {
        let now = *end;
        let warp = &mut self.warps[index as usize];
        let known = |warp: &Warp<'_>, operand: usize| {
            let lane = lanes.trailing_zeros() as usize;
            inst.operands.get(operand).and_then(|&value| warp.known[value].of_lane(lane))
        };
        let effects = inst.op.effects();
        if let Op::Mbarrier(step) = inst.op {
            let (Some(address), second) = (known(warp, 0), known(warp, 1)) else { return true };
            let lanes = lanes.count_ones().into();
            return self.mbarrier(index, step, address, second, lanes, now);
        }
        match effects.tokens {
            Tokens::Starts => {
                warp.copies.add(done);
                let lanes = u64::from(lanes.count_ones());
                if let Op::AsyncCopy(step) = inst.op
                    && let Some((bytes, _)) = step.moves()
                {
                    let landed = Event::Landed { mbarrier: None, bytes: lanes * u64::from(bytes) };
                    self.events.push(Reverse((done, landed)));
                }
            }
            Tokens::Commits => warp.copies.close(),
            Tokens::Awaits { pending } => {
                let over = warp.copies.done(pending);
                self.wait_until(index, over, end);
            }
            Tokens::Products(Step::Starts) => warp.products.add(done),
            Tokens::Products(Step::Commits) => warp.products.close(),
            Tokens::Products(Step::Awaits { pending }) => {
                let over = warp.products.done(pending).max(now);
                for (&value, &result) in inst.operands.iter().zip(&inst.results) {
                    let known = warp.known[value].clone();
                    warp.known.set(result, known);
                    warp.ready.set(result, over);
                }
                self.wait_until(index, over, end);
            }
            Tokens::Bulk(Step::Starts) => {
                let map = match &inst.op {
                    Op::TensorCopy(copy) => self.needs.program.maps.get(&copy.map),
                    _ => None,
                };
                let bytes = map.map_or_else(|| known(warp, 2), |map| Some(map.bytes().into()));
                let mbarrier = known(warp, inst.operands.len() - 1);
                if effects.writes.has(Space::Shared) {
                    self.copy_to_shared(index, bytes.unwrap_or(0), mbarrier, now);
                } else {
                    self.copy_to_global(index, bytes.unwrap_or(0), now);
                }
            }
            Tokens::Bulk(Step::Commits) => warp.stores.close(),
            Tokens::Bulk(Step::Awaits { pending }) => {
                let over = warp.stores.done(pending);
                self.wait_until(index, over, end);
            }
            Tokens::None
            | Tokens::Unknown
            | Tokens::Products(Step::Prepares)
            | Tokens::Bulk(Step::Prepares) => {}
        }
        match effects.fence {
            Fence::Barrier(BarrierScope::Warp) => *end += self.needs.machine.prices.warp_barrier,
            Fence::Barrier(BarrierScope::Block) => {
                return self.meet(index, 0, self.running, true, now);
            }
            Fence::Named(NamedBarrier { name, warps, waits }) => {
                return self.meet(index, name, warps, waits, now);
            }
            Fence::None | Fence::Atomic(..) | Fence::Proxy | Fence::Unknown => {}
        }
        match effects.control {
            Control::None => true,
            Control::Regions | Control::Leaves | Control::Ends => {
                self.turn_to(index, id, inst, lanes, now)
            }
        }
    }

    /// Which operation a warp runs next, behind one that says so; whether there is one.
    fn turn_to(&mut self, index: u32, id: Inst, inst: &'a InstData, lanes: u64, now: u64) -> bool {
        let program = self.needs.program;
        let warp = &mut self.warps[index as usize];
        let enter = |region: &'a Region, lanes: u64| Frame {
            region,
            next: 0,
            owner: Some(id),
            lanes,
            round: 0,
        };
        let condition = inst.operands.first().map(|&value| &warp.known[value]);
        if inst.op == Op::If {
            // Of what is not known the longer side is taken.
            let [yes, no] = match condition.and_then(|known| known.lanes(1 << program.lanes_log2)) {
                Some(chosen) => [lanes & chosen, lanes & !chosen],
                None if longer(program, inst) == 0 => [lanes, 0],
                None => [0, lanes],
            };
            for (lanes, region) in [no, yes].into_iter().zip(inst.regions.iter().rev()) {
                if lanes != 0 {
                    warp.frames.push(enter(region, lanes));
                }
            }
        } else if let Op::Roles(roles) = &inst.op {
            if let Some(own) = roles.iter().position(|role| role.has(index)) {
                warp.role = (roles[own].first, roles[own].warps);
                warp.frames.push(enter(&inst.regions[own], lanes));
            }
        } else if inst.op == Op::Loop {
            let region = &inst.regions[0];
            hand_over(warp, &inst.operands, &region.params);
            warp.frames.push(enter(region, lanes));
            self.begins_round(index, id, now);
        } else if let Op::BreakIf { target } = inst.op {
            let most =
                match condition.and_then(|known| known.of_lane(lanes.trailing_zeros() as usize)) {
                    Some(0) => KNOWN_ROUNDS,
                    Some(_) => 0,
                    None if self.loops.is_innermost(target) => ROUNDS,
                    None => OUTER_ROUNDS,
                };
            let is_left = |frame: &Frame<'_>| frame.owner == Some(target);
            let left = warp.frames.iter().rev().find(|frame| is_left(frame));
            if left.is_none_or(|frame| frame.round >= most) {
                while warp.frames.pop().is_some_and(|frame| !is_left(&frame)) {}
                hand_over(warp, &inst.operands[1..], &program.insts[target].results);
            }
        } else if inst.op == Op::Continue {
            let Some(frame) = warp.frames.last_mut() else { return false };
            (frame.next, frame.round) = (0, frame.round + 1);
            let (region, owner) = (frame.region, frame.owner);
            hand_over(warp, &inst.operands, &region.params);
            if let Some(owner) = owner {
                self.begins_round(index, owner, now);
            }
        } else if inst.op == Op::Yield {
            if let Some(owner) = warp.frames.pop().and_then(|frame| frame.owner) {
                let owner = &program.insts[owner];
                hand_over(warp, &inst.operands, &owner.results);
                if matches!(owner.op, Op::Roles(_)) {
                    warp.role = (0, program.warps);
                }
            }
        } else {
            warp.frames.clear();
            self.running -= 1;
            return false;
        }
        true
    }

    fn wait_until(&mut self, warp: u32, over: u64, end: &mut u64) {
        self.spend(warp, Work::Waits, *end, over);
        *end = over.max(*end);
    }

    fn begins_round(&mut self, warp: u32, id: Inst, now: u64) {
        let (first, count) = self.warps[warp as usize].role;
        if first == warp {
            self.record.rounds.entry((id, first)).or_insert((count, Vec::new())).1.push(now);
        }
    }

    fn copy_to_shared(&mut self, warp: u32, bytes: u64, mbarrier: Option<u64>, now: u64) {
        let time = self.needs.sectors(bytes);
        let (start, end) = self.use_unit(warp, Unit::Global, now, time);
        let landed = end + self.needs.machine.timing.global;
        self.spend(warp, Work::Copies, start, landed);
        if let Some(mbarrier) = mbarrier {
            self.counters.entry(mbarrier).or_default().under_way += 1;
        }
        self.events.push(Reverse((landed, Event::Landed { mbarrier, bytes })));
    }

    fn copy_to_global(&mut self, warp: u32, bytes: u64, now: u64) {
        let read = self.needs.wavefronts(bytes);
        let (start, _) = self.use_unit(warp, Unit::Shared, now, read);
        let time = self.needs.sectors(bytes);
        let (_, end) = self.use_unit(warp, Unit::Global, start, time);
        self.spend(warp, Work::Copies, start, end);
        self.warps[warp as usize].stores.add(end);
    }

    fn landed(&mut self, mbarrier: Option<u64>, bytes: u64, now: u64) {
        self.use_unit(0, Unit::Shared, now, self.needs.wavefronts(bytes));
        let Some(mbarrier) = mbarrier else { return };
        let counter = self.counters.entry(mbarrier).or_default();
        // A loop that is left after a few rounds leaves copies behind, for an mbarrier that is no more.
        if counter.under_way == 0 {
            return;
        }
        counter.under_way -= 1;
        counter.bytes -= bytes as i64;
        self.turn(mbarrier, now);
    }

    /// Begins the next phase of an mbarrier where this one is over.
    fn turn(&mut self, mbarrier: u64, now: u64) {
        let Some(counter) = self.counters.get_mut(&mbarrier) else { return };
        if !counter.is_over() {
            return;
        }
        counter.phase += 1;
        (counter.arrived, counter.bytes) = (0, 0);
        let (over, waiting) = core::mem::take(&mut counter.waiting)
            .into_iter()
            .partition::<Vec<_>, _>(|(_, parity)| counter.phase & 1 != *parity);
        counter.waiting = waiting;
        for (warp, _) in over {
            self.go_on(warp, now);
        }
    }

    /// What a warp does to an mbarrier: who releases arrives, and may announce bytes; who acquires waits.
    fn mbarrier(
        &mut self,
        warp: u32,
        step: Mbarrier,
        address: u64,
        second: Option<u64>,
        lanes: u64,
        now: u64,
    ) -> bool {
        let fence = Op::Mbarrier(step).effects().fence;
        let counter = self.counters.entry(address).or_default();
        if fence.acquires() {
            // The phase under way has the parity of its number.
            match second {
                Some(parity) if counter.expected > 0 && counter.phase & 1 == parity => {
                    counter.waiting.push((warp, parity));
                    return false;
                }
                Some(_) | None => return true,
            }
        }
        if fence.releases() {
            counter.arrived += lanes;
            counter.bytes += second.unwrap_or(0) as i64;
            self.turn(address, now);
        } else if let Mbarrier::Initialise { arrivals } = step {
            *counter = Counter { expected: arrivals.into(), ..Counter::default() };
        } else {
            *counter = Counter::default();
        }
        true
    }

    /// A warp arrives at a barrier.
    fn meet(&mut self, index: u32, name: u8, expected: u32, waits: bool, now: u64) -> bool {
        let (arrived, waiting) = self.meeting.entry(name).or_default();
        *arrived += 1;
        if waits {
            waiting.push(index);
        }
        if *arrived < expected {
            return !waits;
        }
        let (_, waiting) = self.meeting.remove(&name).unwrap_or_default();
        let over = now + self.needs.machine.prices.barrier(expected.into());
        for warp in waiting {
            self.go_on(warp, over);
        }
        !waits
    }
}

/// Whether an operation hands its operands on as they are, and waits for none of them.
fn is_structure(op: &Op) -> bool {
    matches!(op, Op::Loop | Op::Continue | Op::Yield | Op::BreakIf { .. })
}

/// Which region of an `If` has more operations.
fn longer(program: &Program, inst: &InstData) -> usize {
    let count = |region: &Region| {
        let mut count = 0;
        program.walk(region, &mut |_, _| count += 1);
        count
    };
    match &inst.regions[..] {
        [yes, no] if count(no) > count(yes) => 1,
        _ => 0,
    }
}

/// Hands values over to others, all at once.
fn hand_over(warp: &mut Warp<'_>, from: &[Value], to: &[Value]) {
    let state = |value: &Value| (warp.ready[*value], warp.known[*value].clone());
    let states: Vec<_> = from.iter().map(state).collect();
    for (&value, (ready, known)) in to.iter().zip(states) {
        warp.ready.set(value, ready);
        warp.known.set(value, known);
    }
}

impl Record {
    /// A round of each innermost loop in its steady state.
    pub(super) fn rounds(mut self, program: &Program, loops: &Loops) -> Vec<Round> {
        let mut rounds = Vec::new();
        for ((inst, first), (warps, begins)) in core::mem::take(&mut self.rounds) {
            let count = begins.len();
            if !loops.is_innermost(inst) || count < 3 {
                continue;
            }
            let steady = STEADY.min(count - 2);
            let (from, to) = (begins[count - 1 - steady], begins[count - 1]);
            let busy = |unit: Unit| {
                let used = self.used.iter().filter(|(used, ..)| *used == unit);
                let time = used.map(|&(_, start, end)| end.min(to).saturating_sub(start.max(from)));
                let time: u64 = time.sum();
                let shared = if unit.is_of_part() { self.parts } else { 1 };
                (unit, time / steady as u64 / shared)
            };
            let mut busy = Unit::ALL.map(busy).to_vec();
            busy.sort_by_key(|&(_, time)| Reverse(time));
            let spans = self.spans.get(&first).map_or(&[][..], |spans| spans);
            rounds.push(Round {
                inst,
                loc: program.insts[inst].loc,
                warps: (first, warps),
                time: (to - from) / steady as u64,
                busy,
                spans: within(spans, begins[count - 2], to),
            });
        }
        rounds
    }
}

/// What of some spans lies within a time, counted from its start: for each kind of work in order, without overlaps.
fn within(spans: &[Span], start: u64, end: u64) -> Vec<Span> {
    let inside = spans.iter().filter(|span| span.end > start && span.start < end);
    let mut inside: Vec<Span> = inside
        .map(|span| Span {
            start: span.start.saturating_sub(start),
            end: span.end.min(end) - start,
            ..*span
        })
        .collect();
    inside.sort_by_key(|span| (span.work, span.start));
    let mut joined: Vec<Span> = Vec::new();
    for span in inside {
        match joined.last_mut() {
            Some(last) if last.work == span.work && span.start <= last.end => {
                last.end = last.end.max(span.end);
            }
            _ => joined.push(span),
        }
    }
    joined
}
