//! Orders operations so that fewer registers are live.
//!
//! A tile program works tile by tile, and so do the operations of a thread that come from it: all loads, then the
//! next operation on all that they gave, and so on, level by level of a sum. Where the values of a level do
//! not fit the registers, another order of the same operations may: from what is wanted at the end back to
//! what that needs (Sethi and Ullman, *The Generation of Optimal Code for Arithmetic Expressions*, 1970), and
//! at once whatever gives back as many registers as it takes. So a sum of thousands of elements adds up each load
//! as it comes, and keeps one partial sum a level.
//!
//! Chains that share what they take, such as the sums of two products with one factor, go on side by side instead, where
//! that takes fewer: what most operations wait for comes first, so that all users of a word stand together. (A gated
//! unit of f32, two products of 64 x 64 x 32 a round in four warps: 168 registers where it took 255 and 576 bytes of
//! stack.)
//!
//! Loads then stand as early as there are registers for what they give, so that many are under way while what came
//! before them is used.
//!
//! What is ordered is a *stretch*: operations in a row that leave nothing behind but their results and that each
//! lane runs by itself. They may read memory, since nothing in the stretch writes it.
//!
//! Where its values fit, the order of the source is kept. An assembler orders the operations once more, so that
//! loads are waited for less, and does that best with the loads in front; it does not find an order like this by
//! itself. Only an assembler can tell whether fewer registers let more blocks run, so [`sparing`] gives the
//! other order to callers that can ask one.

use super::registers::{self, HALF, Registers, defined, each_operand};
use crate::budget::Stop;
use crate::id::IdMap;
use crate::lane::{Effects, Inst, InstData, Program, Region, Space, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Runs the pass: what would not fit the registers of a thread is put in another order.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped.
pub fn run_until(program: Program, stop: &Stop) -> Program {
    within_until(program, registers::MOST, stop)
}

/// The program in an order that needs fewer registers, as if its threads had so few that half of all warps run;
/// nothing where the order would be the same.
pub fn sparing(program: &Program) -> Option<Program> {
    let other = within(program.clone(), HALF);
    (other.body != program.body || other.insts != program.insts).then_some(other)
}

/// The most registers of a thread, which has so many, that wait for loads from global memory at once: those of all that
/// it loads before it does anything that has its place, or what addresses and intermediate values leave.
pub fn loaded_at_once(program: &Program, registers: u32) -> u32 {
    let room = registers.saturating_sub(registers::OTHERS);
    let registers = Registers::of(program);
    let (mut most, mut now) = (0, 0);
    for_each(program, &program.body, &mut |inst| {
        let effects = inst.op.effects();
        if !moves(effects) {
            now = 0;
        } else if effects.reads.has(Space::Global) {
            now += inst.results.iter().map(|&value| registers.words(program, value)).sum::<u32>();
            most = most.max(now);
        }
    });
    most.min(room)
}

/// Calls a function with each operation, an owner of regions in front of what they hold.
fn for_each(program: &Program, region: &Region, visit: &mut dyn FnMut(&InstData)) {
    for &id in &region.insts {
        let inst = &program.insts[id];
        visit(inst);
        inst.regions.iter().for_each(|inner| for_each(program, inner, visit));
    }
}

/// Whether an operation may change places with its neighbours that may.
fn moves(effects: Effects) -> bool {
    effects.is_removable() && effects.convergent.is_none()
}

/// The program with its stretches in another order where they would not fit a thread of so many registers, and the
/// other order takes an eighth less.
pub fn within(program: Program, registers: u32) -> Program {
    within_until(program, registers, &Stop::default())
}

fn within_until(mut program: Program, registers: u32, stop: &Stop) -> Program {
    let room = registers::room(&program, registers);
    let registers = Registers::but_for_sums(&program);
    let mut body = core::mem::take(&mut program.body);
    Pass { program: &mut program, registers, room, stop }.region(&mut body, 0);
    program.body = body;
    program
}

/// The most operations that are done earlier for the sake of one load.
const MOST_NEEDED: usize = 16;

struct Pass<'a> {
    program: &'a mut Program,
    registers: Registers,
    /// The registers that values may take.
    room: u32,
    stop: &'a Stop,
}

impl Pass<'_> {
    fn words(&self, value: Value) -> u32 {
        self.registers.words(self.program, value)
    }

    /// Orders the stretches of a region and of those inside it; `around` is what values of other regions take.
    fn region(&mut self, region: &mut Region, around: u32) {
        let own = defined(self.program, region);
        let mut live = Live { own, values: IdMap::default(), words: around };
        let mut end = region.insts.len();
        while end > 0 && !self.stop.is_set() {
            let length = region.insts[..end]
                .iter()
                .rev()
                .take_while(|&&id| moves(self.program.insts[id].op.effects()));
            let start = end - length.count();
            if start < end {
                self.stretch(&mut region.insts[start..end], &live);
                for &id in region.insts[start..end].iter().rev() {
                    self.step_back(id, &mut live);
                }
                end = start;
            } else {
                end -= 1;
                let id = region.insts[end];
                self.step_back(id, &mut live);
                let mut inner = core::mem::take(&mut self.program.insts[id].regions);
                for inner in &mut inner {
                    self.region(inner, live.words);
                }
                self.program.insts[id].regions = inner;
            }
        }
    }

    /// From what is live behind an operation to what is in front of it; an operation with regions keeps alive
    /// what they use.
    fn step_back(&self, id: Inst, live: &mut Live) {
        for &result in &self.program.insts[id].results {
            if core::mem::take(live.values.entry(result)) {
                live.words -= self.words(result);
            }
        }
        each_operand(self.program, id, &mut |value| {
            if live.own[value] && !core::mem::replace(live.values.entry(value), true) {
                live.words += self.words(value);
            }
        });
    }

    /// Orders a stretch anew if its values do not fit as they are, and that helps.
    fn stretch(&self, insts: &mut [Inst], behind: &Live) {
        let stretch = Stretch::of(self, insts, behind);
        let as_is: Vec<u32> = (0..insts.len() as u32).collect();
        let peak = stretch.peak(&as_is);
        if peak <= self.room || self.stop.is_set() {
            return;
        }
        let orders = [stretch.back_from_ends(), stretch.side_by_side()];
        let orders = orders.into_iter().map(|order| (stretch.peak(&order), order));
        if let Some((least, order)) = orders.min_by_key(|&(least, _)| least)
            && least <= peak - peak / 8
        {
            let old = insts.to_vec();
            let order = stretch.with_early_loads(&order, self.room);
            for (inst, place) in insts.iter_mut().zip(order) {
                *inst = old[place as usize];
            }
        }
    }
}

/// What is live at a place of a region.
struct Live {
    /// The values that the region defines.
    own: IdMap<Value, bool>,
    /// Which of these are live.
    values: IdMap<Value, bool>,
    /// The registers that these take, with what values of other regions take.
    words: u32,
}

/// Operations that may change places, by number.
struct Stretch {
    /// Whether each loads from global memory.
    loads: Vec<bool>,
    /// The values that each takes and gives, by number, each once.
    operands: Vec<SmallVec<[u32; 4]>>,
    results: Vec<SmallVec<[u32; 4]>>,
    /// The registers of each value.
    words: Vec<u32>,
    /// The operation that makes each value; none for those from in front of the stretch.
    maker: Vec<Option<u32>>,
    /// The operations that take each value.
    users: Vec<SmallVec<[u32; 4]>>,
    /// Whether each value is live behind the stretch.
    outlives: Vec<bool>,
    /// The registers of all that is live in front of the stretch.
    before: u32,
}

impl Stretch {
    fn of(pass: &Pass<'_>, insts: &[Inst], behind: &Live) -> Self {
        let loads = insts.iter().map(|&id| {
            let effects = pass.program.insts[id].op.effects();
            effects.reads.has(Space::Global)
        });
        let mut stretch = Self {
            loads: loads.collect(),
            operands: Vec::with_capacity(insts.len()),
            results: Vec::with_capacity(insts.len()),
            words: Vec::new(),
            maker: Vec::new(),
            users: Vec::new(),
            outlives: Vec::new(),
            before: behind.words,
        };
        let mut numbers: FxHashMap<Value, u32> = FxHashMap::default();
        for (&id, index) in insts.iter().zip(0..) {
            let inst = &pass.program.insts[id];
            let mut operands = SmallVec::new();
            for &value in &inst.operands {
                let number = *numbers.entry(value).or_insert_with(|| {
                    // A value of another region, or one that is used behind, is among `behind`.
                    let outlives = !behind.own[value] || behind.values[value];
                    let words = pass.words(value);
                    if !outlives {
                        stretch.before += words;
                    }
                    stretch.add(words, None, outlives)
                });
                if !operands.contains(&number) {
                    operands.push(number);
                    stretch.users[number as usize].push(index);
                }
            }
            stretch.operands.push(operands);
            let results = inst.results.iter().map(|&value| {
                let outlives = behind.values[value];
                let words = pass.words(value);
                if outlives {
                    stretch.before -= words;
                }
                let number = stretch.add(words, Some(index), outlives);
                numbers.insert(value, number);
                number
            });
            let results = results.collect();
            stretch.results.push(results);
        }
        stretch
    }

    fn add(&mut self, words: u32, maker: Option<u32>, outlives: bool) -> u32 {
        self.words.push(words);
        self.maker.push(maker);
        self.users.push(SmallVec::new());
        self.outlives.push(outlives);
        self.words.len() as u32 - 1
    }

    /// How many operations still take each value.
    fn uses(&self) -> Vec<u32> {
        self.users.iter().map(|users| users.len() as u32).collect()
    }

    /// The registers that an operation gives back, if each of its operands is still taken so many times: those
    /// of operands that nobody takes after it.
    fn gives_back(&self, inst: u32, uses: &[u32]) -> u32 {
        let last = |&&value: &&u32| uses[value as usize] == 1 && !self.outlives[value as usize];
        let last = self.operands[inst as usize].iter().filter(last);
        last.map(|&value| self.words[value as usize]).sum()
    }

    /// The registers that an operation takes: those of its results.
    fn takes(&self, inst: u32) -> u32 {
        self.results[inst as usize].iter().map(|&value| self.words[value as usize]).sum()
    }

    /// The most registers that are live at once in an order.
    fn peak(&self, order: &[u32]) -> u32 {
        self.live(order).fold(self.before, u32::max)
    }

    /// The registers that are live at each operation of an order.
    fn live<'a>(&'a self, order: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        let (mut uses, mut live) = (self.uses(), self.before);
        order.iter().map(move |&inst| {
            live = live - self.gives_back(inst, &uses) + self.takes(inst);
            let at_it = live;
            for &value in &self.operands[inst as usize] {
                uses[value as usize] -= 1;
            }
            let unused = |&&value: &&u32| {
                self.users[value as usize].is_empty() && !self.outlives[value as usize]
            };
            let unused = self.results[inst as usize].iter().filter(unused);
            live -= unused.map(|&value| self.words[value as usize]).sum::<u32>();
            at_it
        })
    }

    /// An order with its loads from global memory, one after the other, as early as there is room for what they give.
    fn with_early_loads(&self, order: &[u32], room: u32) -> Vec<u32> {
        let mut live: Vec<u32> = self.live(order).collect();
        let mut places = vec![0; order.len()];
        for (place, &inst) in order.iter().enumerate() {
            places[inst as usize] = place;
        }
        let mut loads = order.iter().copied().filter(|&inst| self.loads[inst as usize]).peekable();
        let mut early = Vec::with_capacity(order.len());
        let mut done = vec![false; order.len()];
        // Up to where the next load has to wait.
        let mut full_until = 0;
        for (place, &inst) in order.iter().enumerate() {
            while loads.next_if(|&load| places[load as usize] <= place).is_some() {
                full_until = 0;
            }
            while let Some(&load) = loads.peek()
                && place >= full_until
            {
                let at = places[load as usize];
                let Some(mut needed) = self.needed(load, &done) else { break };
                let words = self.takes(load);
                let is_full = |&place: &usize| live[place] + words > room;
                if let Some(full) = (place..at).rfind(is_full) {
                    full_until = full + 1;
                    break;
                }
                live[place..at].iter_mut().for_each(|live| *live += words);
                needed.sort_unstable_by_key(|&inst| places[inst as usize]);
                for &inst in &needed {
                    let is_for_it = |&user: &u32| user == load || needed.contains(&user);
                    let results = self.results[inst as usize].iter();
                    let kept = results
                        .filter(|&&value| !self.users[value as usize].iter().all(is_for_it))
                        .map(|&value| self.words[value as usize])
                        .sum::<u32>();
                    let until = places[inst as usize];
                    live[place..until].iter_mut().for_each(|live| *live += kept);
                }
                for inst in needed.into_iter().chain([load]) {
                    done[inst as usize] = true;
                    early.push(inst);
                }
                loads.next();
            }
            if !core::mem::replace(&mut done[inst as usize], true) {
                early.push(inst);
            }
        }
        early
    }

    /// What has still to be done in front of a load, if that is little and waits for no other load.
    fn needed(&self, load: u32, done: &[bool]) -> Option<SmallVec<[u32; 8]>> {
        let (mut needed, mut open) = (SmallVec::new(), vec![load]);
        while let Some(inst) = open.pop() {
            for &value in &self.operands[inst as usize] {
                let Some(maker) = self.maker[value as usize] else { continue };
                if self.loads[maker as usize] {
                    return None;
                }
                if !done[maker as usize] && !needed.contains(&maker) {
                    needed.push(maker);
                    open.push(maker);
                }
            }
            if needed.len() > MOST_NEEDED {
                return None;
            }
        }
        Some(needed)
    }

    /// An order from the ends of the stretch back to what they need.
    fn back_from_ends(&self) -> Vec<u32> {
        let count = self.operands.len();
        let made = |inst: &SmallVec<[u32; 4]>| {
            inst.iter().filter(|&&value| self.maker[value as usize].is_some()).count()
        };
        let mut progress = Progress {
            order: Vec::with_capacity(count),
            done: vec![false; count],
            missing: self.operands.iter().map(made).collect(),
            uses: self.uses(),
        };
        let is_end = |inst: &usize| {
            self.results[*inst].iter().all(|&value| self.users[value as usize].is_empty())
        };
        let mut stack: Vec<(u32, usize)> = Vec::new();
        for end in (0..count).filter(is_end) {
            stack.push((end as u32, 0));
            // The next operand of the operation on top, until all are there.
            while let Some((inst, next)) = stack.last_mut() {
                let inst = *inst;
                let operand = self.operands[inst as usize].get(*next);
                *next += 1;
                match operand.map(|&value| self.maker[value as usize]) {
                    _ if progress.done[inst as usize] => drop(stack.pop()),
                    Some(Some(maker)) if !progress.done[maker as usize] => stack.push((maker, 0)),
                    Some(_) => {}
                    None => {
                        stack.pop();
                        self.place(inst, &mut progress);
                    }
                }
            }
        }
        progress.order
    }

    /// An order in which chains of operations go on side by side: what most operations wait for first, one after the
    /// other.
    fn side_by_side(&self) -> Vec<u32> {
        let count = self.operands.len();
        // How many operations the longest chain has that waits for each. Users stand behind what they use.
        let mut waiting = vec![0_u32; count];
        for inst in (0..count).rev() {
            let with_this = waiting[inst] + 1;
            let makers = self.operands[inst].iter().filter_map(|&value| self.maker[value as usize]);
            for maker in makers {
                waiting[maker as usize] = waiting[maker as usize].max(with_this);
            }
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by_key(|&inst| core::cmp::Reverse(waiting[inst as usize]));
        order
    }

    /// Places an operation next, and behind it those that now give back as many registers as they take.
    fn place(&self, first: u32, progress: &mut Progress) {
        progress.done[first as usize] = true;
        let mut next: Vec<u32> = vec![first];
        while let Some(inst) = next.pop() {
            progress.order.push(inst);
            let (operands, results) = (&self.operands[inst as usize], &self.results[inst as usize]);
            for &value in operands {
                progress.uses[value as usize] -= 1;
            }
            let placed = next.len();
            let users = |value: &u32| &self.users[*value as usize];
            for &user in results.iter().flat_map(users) {
                progress.missing[user as usize] -= 1;
            }
            let last = operands.iter().filter(|&&value| progress.uses[value as usize] == 1);
            let last: SmallVec<[u32; 4]> = last.copied().collect();
            for &user in results.iter().chain(&last).flat_map(users) {
                let ready = !progress.done[user as usize] && progress.missing[user as usize] == 0;
                if ready && self.gives_back(user, &progress.uses) >= self.takes(user) {
                    progress.done[user as usize] = true;
                    next.push(user);
                }
            }
            next[placed..].reverse();
        }
    }
}

/// An order that is being made.
struct Progress {
    order: Vec<u32>,
    /// What has its place, or is about to.
    done: Vec<bool>,
    /// How many operands of each operation the stretch has still to make.
    missing: Vec<usize>,
    /// How many operations still take each value.
    uses: Vec<u32>,
}
