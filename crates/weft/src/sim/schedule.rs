//! Turns: which warp runs when, and when nothing can run any more.

use super::clock::Releases;
use super::count::Wavefronts;
use super::memory_access::copies::{InFlight, Reading};
use super::memory_access::phases;
use super::memory_access::products::Warpgroups;
use super::memory_access::proxies::Proxies;
use super::memory_access::transfers::{self, Transfers};
use super::program::Code;
use super::report::{
    AccessCount, AccessKind, Actor, FindingKind, Findings, GlobalTraffic, Report, SharedTraffic,
};
use super::room::Room;
use super::shadow::{Conflict, Shadow};
use super::warp::{State, Warp};
use super::watch::Watch;
use super::{Launch, Progress, Timing};
use crate::format::Printed;
use crate::id::Id;
use crate::lane::{Inst, Space};
use crate::location::{Loc, Locations};
use crate::memory::Memory;
use core::ops::ControlFlow;

/// What all warps share.
#[derive(Debug)]
pub(super) struct World<'a> {
    pub(super) launch: &'a Launch<'a>,
    pub(super) code: &'a Code,
    pub(super) memory: &'a mut Memory,
    /// The shadow of each buffer.
    pub(super) shadows: Vec<Shadow>,
    /// For each buffer, whether reading what was not written is a fault.
    pub(super) must_be_written: Vec<bool>,
    pub(super) releases: Releases,
    /// What asynchronous copies may still read.
    pub(super) reading: Reading,
    pub(super) wavefronts: Wavefronts,
    pub(super) accesses: Vec<AccessCount>,
    pub(super) findings: Findings,
    /// What is no fault, but may not be meant.
    pub(super) notes: Findings,
    /// The lines that were printed so far.
    pub(super) printed: Printed,
    /// Scratch of one access.
    pub(super) conflicts: Vec<Conflict>,
    /// What chance has made of [`Timing::Random`].
    chance: u64,
    /// Whether in this turn a byte of memory changed, or a block ended.
    pub(super) changed: bool,
    pub(super) instructions: u64,
    pub(super) lane_instructions: u64,
    pub(super) shuffles: u64,
    pub(super) warp_barriers: u64,
    pub(super) block_barriers: u64,
}

/// A block that runs.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) index: u32,
    pub(super) coordinates: [u32; 3],
    /// Logical time; starts at 1.
    pub(super) tick: u32,
    pub(super) shared: Vec<u8>,
    pub(super) shadow: Shadow,
    pub(super) releases: Releases,
    /// Where asynchronous copies will write.
    pub(super) in_flight: InFlight,
    /// What products see of shared memory.
    pub(super) proxies: Proxies,
    /// The steps that warpgroups take, and what their products read.
    pub(super) warpgroups: Warpgroups,
    /// Bulk copies under way, and the barriers at which some warps meet.
    pub(super) transfers: Transfers,
}

#[derive(Debug, Default)]
struct Resident {
    block: Block,
    warps: Vec<Warp>,
    running: bool,
}

/// A run, with the blocks that are resident.
#[derive(Debug)]
pub(super) struct Schedule<'a> {
    world: World<'a>,
    residents: Vec<Resident>,
    /// What blocks, and what is remembered of memory, may take.
    room: Room,
    /// Where a warp touched memory last when the room was full.
    full_at: Option<Inst>,
    /// The next block to start.
    next: u32,
    blocks: u32,
}

/// Why a run came to no report.
pub(super) enum Ended {
    /// The watcher ended it.
    Stopped,
    /// It would hold more memory than it may; where it touched memory last.
    Full(Loc),
}

/// How many blocks run together at the start: few, because each holds its registers. When all of
/// them only wait, others join, up to what the machine runs together.
const RESIDENT_AT_FIRST: usize = 8;

/// Warp instructions between two reports to the watcher, some thousandths of a second, and of a program that
/// does something wrong in each some tenths: an interruption is heard soon, and listening costs nothing.
const TELL_EVERY: u64 = 1 << 14;

/// What a byte of shared memory holds before anybody writes it: a pattern that shows.
const GARBAGE: u8 = 0xff;

impl World<'_> {
    /// A number below a bound, the next one that [`Timing::Random`] has.
    fn chance(&mut self, below: usize) -> usize {
        // SplitMix64.
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.chance;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) % below.max(1) as u64) as usize
    }

    /// Whether what begins now, and may happen at any time, happens at once.
    pub(super) fn happens_early(&mut self) -> bool {
        match self.launch.options.timing {
            Timing::Earliest => true,
            Timing::Latest => false,
            Timing::Random(_) => self.chance(4) == 0,
        }
    }

    /// A block's index along each grid axis.
    pub(super) fn coordinates(&self, block: u32) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(|count| count.max(1));
        [block % x, block / x % y, block / x / y]
    }

    /// Somebody who did something, for a finding.
    pub(super) fn actor(&self, block: &Block, warp: u32, lane: Option<u32>, inst: Inst) -> Actor {
        Actor { inst, loc: self.loc(inst), block: block.coordinates, warp, lane }
    }

    fn loc(&self, inst: Inst) -> Loc {
        self.launch.program.insts[inst].loc
    }
}

impl<'a> Schedule<'a> {
    pub(super) fn new(
        launch: &'a Launch<'a>,
        code: &'a Code,
        blocks: u32,
        memory: &'a mut Memory,
    ) -> Self {
        let must_be_written: Vec<bool> =
            memory.buffers().iter().map(|buffer| !buffer.initialised).collect();
        let room = Room::of(launch.options.max_bytes);
        let shadows = must_be_written.iter().map(|_| Shadow::within(&room)).collect();
        let shared_bytes = launch.program.shared_bytes;
        let world = World {
            launch,
            code,
            memory,
            shadows,
            must_be_written,
            releases: Releases::default(),
            reading: Reading::default(),
            wavefronts: Wavefronts::new(launch.machine, code.lanes, shared_bytes),
            accesses: code.accesses.clone(),
            findings: Findings::new(launch.options.max_findings),
            notes: Findings::new(launch.options.max_findings),
            printed: Printed::default(),
            conflicts: Vec::new(),
            chance: match launch.options.timing {
                Timing::Random(seed) => seed,
                Timing::Earliest | Timing::Latest => 0,
            },
            changed: false,
            instructions: 0,
            lane_instructions: 0,
            shuffles: 0,
            warp_barriers: 0,
            block_barriers: 0,
        };
        Self { world, residents: Vec::new(), room, full_at: None, next: 0, blocks }
    }

    /// Turns until every block has ended, or until nothing can happen any more.
    pub(super) fn run(
        mut self,
        watcher: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Report, Ended> {
        let mut told = 0;
        let most = self.world.launch.machine.resident_blocks.max(1).min(self.blocks) as usize;
        for _ in 0..most.min(RESIDENT_AT_FIRST) {
            self.add_resident();
        }
        let max_steps = self.world.launch.options.max_steps;
        let mut watch = Watch::default();
        let finished = loop {
            if self.room.is_full() {
                let place = self.full_at.map(|inst| self.world.loc(inst));
                return Err(Ended::Full(place.unwrap_or_else(Locations::unknown)));
            }
            if !self.residents.iter().any(|resident| resident.running) {
                break true;
            }
            if self.world.instructions - told >= TELL_EVERY {
                told = self.world.instructions;
                if watcher(self.progress()).is_break() {
                    return Err(Ended::Stopped);
                }
            }
            self.world.changed = false;
            let mut progress = false;
            for index in 0..self.residents.len() {
                progress |= self.turn(index);
                if self.world.instructions > max_steps || self.room.is_full() {
                    break;
                }
            }
            if self.room.is_full() {
                continue;
            }
            let is_over = !self.residents.iter().any(|resident| resident.running);
            if self.world.instructions > max_steps && !is_over {
                self.report_waiting(FindingKind::OutOfSteps);
                break false;
            }
            if self.world.changed {
                watch.reset();
                continue;
            }
            if !progress || watch.repeats(self.situations()) {
                // They may wait for a block that the machine would have started too.
                if self.next < self.blocks && self.residents.len() < most {
                    for _ in 0..self.residents.len().min(most - self.residents.len()) {
                        self.add_resident();
                    }
                    watch.reset();
                    continue;
                }
                self.report_waiting(FindingKind::Deadlock);
                break false;
            }
        };
        Ok(self.report(finished))
    }

    fn progress(&self) -> Progress {
        let running = self.residents.iter().filter(|resident| resident.running).count();
        let ended = self.next - running as u32;
        Progress { ended, blocks: self.blocks, instructions: self.world.instructions }
    }

    /// Where the running blocks are.
    fn situations(&self) -> impl Iterator<Item = (&[Warp], &[u8])> + Clone {
        let running = self.residents.iter().filter(|resident| resident.running);
        running.map(|resident| (&resident.warps[..], &resident.block.shared[..]))
    }

    /// Starts the next block beside the others, where there is room for it.
    fn add_resident(&mut self) {
        let Code { rows, lanes, .. } = *self.world.code;
        let program = self.world.launch.program;
        let row = lanes as usize * size_of::<u64>();
        let registers = program.warps as usize * rows as usize * row;
        if !self.room.take(registers + program.shared_bytes as usize) {
            return;
        }
        let shadow = Shadow::within(&self.room);
        self.residents
            .push(Resident { block: Block { shadow, ..Block::default() }, ..Resident::default() });
        self.start(self.residents.len() - 1);
    }

    /// Puts the next block into a place, if there is one.
    fn start(&mut self, index: usize) {
        let resident = &mut self.residents[index];
        resident.running = self.next < self.blocks;
        if !resident.running {
            return;
        }
        let program = self.world.launch.program;
        let Resident { block, warps, .. } = resident;
        let Block {
            index: number, coordinates, tick, shared, shadow: _, releases, in_flight, ..
        } = block;
        *number = self.next;
        *coordinates = self.world.coordinates(self.next);
        *tick = 1;
        shared.clear();
        shared.resize(program.shared_bytes as usize, GARBAGE);
        releases.clear();
        in_flight.reset(shared.len());
        // Only products and bulk copies go through another proxy.
        let Code { products, agents, fills, .. } = self.world.code;
        let watched = if products.is_empty() && *agents == 0 { 0 } else { shared.len() };
        block.proxies.reset(watched, *fills, program.warps);
        block.transfers.reset(if *agents == 0 { 0 } else { shared.len() }, *agents);
        block.warpgroups.reset(program.warps);
        warps.resize_with(program.warps as usize, Warp::default);
        for (warp, state) in warps.iter_mut().enumerate() {
            state.start(self.world.code, warp as u32, *coordinates, program.warps);
        }
        self.next += 1;
    }

    /// Runs each warp of a block once; returns whether anything is new.
    fn turn(&mut self, index: usize) -> bool {
        let Resident { block, warps, running } = &mut self.residents[index];
        if !*running {
            return false;
        }
        let mut progress = false;
        let (count, random) =
            (warps.len(), matches!(self.world.launch.options.timing, Timing::Random(_)));
        let first = if random { self.world.chance(count) } else { 0 };
        for index in 0..count {
            let warp = &mut warps[(first + index) % count];
            let runs = match warp.state {
                State::Ready | State::Round(_) => true,
                State::AtMbarrier(..) => phases::may_go_on(warp, block),
                State::AtBarrier(_) | State::AtNamed(..) | State::Done => false,
            };
            if !runs || random && self.world.chance(4) == 0 {
                progress |= runs;
                continue;
            }
            progress |= warp.run(block, &mut self.world);
            if self.room.is_full() {
                self.full_at = warp.last_memory;
                return true;
            }
            progress |= phases::pass(warps, block);
            let under_way = block.transfers.under_way();
            if random && under_way > 0 && self.world.chance(2) == 0 {
                let place = self.world.chance(under_way);
                transfers::land(block, &mut self.world, place);
            }
        }
        if !progress && block.transfers.under_way() > 0 {
            transfers::land(block, &mut self.world, 0);
            progress = true;
        }
        if warps.iter().all(|warp| warp.state == State::Done) {
            if let Some((inst, warp)) = block.warpgroups.missed() {
                let actor = self.world.actor(block, warp, None, inst);
                self.world.findings.add(FindingKind::Divergence, actor, None, || {
                    format!("the warps of a warpgroup take their steps together, and only some came to {inst}")
                });
            }
            transfers::end(warps, block, &mut self.world);
            self.start(index);
            self.world.changed = true;
            return true;
        }
        let barrier = |warp: &Warp| match warp.state {
            State::AtBarrier(inst) => Some(inst),
            _ => None,
        };
        if let Some(first) = warps.first().and_then(barrier)
            && warps.iter().all(|warp| barrier(warp).is_some())
        {
            if let Some(other) = warps.iter().find(|warp| barrier(warp) != Some(first)) {
                let at = barrier(other).unwrap_or(first);
                let actor = self.world.actor(block, other.index, None, at);
                self.world.findings.add(FindingKind::Divergence, actor, None, || {
                    format!("warps of one block meet at two barriers: warp 0 is at {first}")
                });
            }
            pass_barrier(block, warps);
            progress = true;
        }
        progress
    }

    /// Tells where the warps are that did not end.
    fn report_waiting(&mut self, kind: FindingKind) {
        let mut places: Vec<WaitingAt> = Vec::new();
        for resident in self.residents.iter().filter(|resident| resident.running) {
            for warp in &resident.warps {
                let (state, inst) = match warp.state {
                    State::Done => continue,
                    state @ (State::AtBarrier(inst)
                    | State::AtNamed(inst, _)
                    | State::AtMbarrier(inst, ..)) => (state, inst),
                    State::Round(edge) => (State::Round(edge), warp.last_memory.unwrap_or(edge)),
                    State::Ready => (State::Ready, warp.last_memory.unwrap_or(Inst::new(0))),
                };
                let actor = self.world.actor(&resident.block, warp.index, None, inst);
                let who = (resident.block.index, actor);
                // Warps that go round are together when the user sees them at one place.
                let barrier = |state: State| !matches!(state, State::Round(_) | State::Ready);
                let seen = |actor: &Actor| self.world.launch.program.locations.resolve(actor.loc);
                let same = |place: &&mut WaitingAt| {
                    let Some((_, first)) = place.2.first() else { return false };
                    let place_seen = !barrier(state) && seen(first).is_some();
                    barrier(place.0) == barrier(state)
                        && (first.inst == inst || place_seen && seen(first) == seen(&actor))
                };
                match places.iter_mut().find(same) {
                    Some(place) => place.2.push(who),
                    None => places.push((state, missing(state, &resident.block), vec![who])),
                }
            }
        }
        let not_started = self.blocks - self.next;
        for (state, missing, who) in places {
            let Some(&(_, actor)) = who.first() else { continue };
            let mut blocks: Vec<u32> = who.iter().map(|&(block, _)| block).collect();
            blocks.dedup();
            let steps = self.world.launch.options.max_steps;
            self.world.findings.add(kind, actor, None, || {
                let warps = many(who.len(), "warp");
                let named: Vec<_> = blocks.iter().take(4).map(u32::to_string).collect();
                let more = if blocks.len() > 4 { ", …" } else { "" };
                let (named, blocks) = (named.join(", "), many(blocks.len(), "block"));
                let what = match (kind, state) {
                    (FindingKind::OutOfSteps, State::AtBarrier(_) | State::AtNamed(..)) => {
                        "wait at this barrier"
                    }
                    (FindingKind::OutOfSteps, State::AtMbarrier(..)) => "wait at this mbarrier",
                    (FindingKind::OutOfSteps, _) => "still run",
                    (_, State::AtBarrier(_) | State::AtNamed(..)) => {
                        "wait at this barrier for warps that will never come to it"
                    }
                    (_, State::AtMbarrier(..)) => {
                        "wait at this mbarrier for a phase that will never be over"
                    }
                    _ => "go round here for ever: nothing will change what they look at",
                };
                let budget = match kind {
                    FindingKind::OutOfSteps => {
                        format!("; the run was given up after {steps} warp instructions")
                    }
                    _ => String::new(),
                };
                let rest = match not_started {
                    0 => String::new(),
                    count => format!("; {} not started", many(count as usize, "block")),
                };
                format!("{warps} of {blocks} ({named}{more}) {what}{missing}{budget}{rest}")
            });
        }
    }

    fn report(self, finished: bool) -> Report {
        let world = self.world;
        let mut global = GlobalTraffic::default();
        let mut shared = SharedTraffic::default();
        let mut atomics = 0;
        for access in &world.accesses {
            let bytes = access.lanes * u64::from(access.lane_bytes);
            match access.space {
                Space::Global => {
                    global.accesses += access.executions;
                    global.sectors += access.cost;
                    global.ideal_sectors += access.ideal;
                    global.bytes += bytes;
                }
                Space::Shared => {
                    shared.accesses += access.executions;
                    shared.wavefronts += access.cost;
                    shared.ideal_wavefronts += access.ideal;
                    shared.bytes += bytes;
                }
            }
            if access.kind == AccessKind::Atomic {
                atomics += access.lanes;
            }
        }
        Report {
            instructions: world.instructions,
            lane_instructions: world.lane_instructions,
            global,
            shared,
            shuffles: world.shuffles,
            warp_barriers: world.warp_barriers,
            block_barriers: world.block_barriers,
            atomics,
            accesses: world.accesses,
            findings: world.findings.list,
            findings_dropped: world.findings.dropped,
            notes: world.notes.list,
            printed: world.printed,
            finished,
        }
    }
}

/// Where warps are, what is missing there, and the blocks and warps.
type WaitingAt = (State, String, Vec<(u32, Actor)>);

/// What a barrier of some warps or an mbarrier still waits for.
fn missing(state: State, block: &Block) -> String {
    let mbarriers = &block.transfers.mbarriers;
    match state {
        State::AtNamed(_, name) => {
            format!(
                " (barrier {name} misses {})",
                many(mbarriers.missing_warps(name) as usize, "warp")
            )
        }
        State::AtMbarrier(_, address, _) => format!(" (it misses {})", mbarriers.missing(address)),
        State::Ready | State::Round(_) | State::AtBarrier(_) | State::Done => String::new(),
    }
}

/// A number of things, in words.
fn many(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Lets a block's warps pass: what any of them did or knew is now known to all.
fn pass_barrier(block: &mut Block, warps: &mut [Warp]) {
    let tick = block.tick;
    block.tick += 1;
    let Some((first, rest)) = warps.split_first() else { return };
    let mut all = first.knowledge.clone();
    for warp in rest {
        all.join(&warp.knowledge);
    }
    for warp in warps {
        warp.knowledge.barrier(tick, &all);
        warp.state = State::Ready;
    }
}
