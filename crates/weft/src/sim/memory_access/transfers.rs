//! Bulk copies under way, and the groups in which threads wait for those from shared memory.
//!
//! A copy begins when it is issued. When it moves its bytes [`Timing`](crate::sim::Timing) says: at once, when
//! nothing else can go on, or some time between. Whether an access is ordered with it does not hang on that: each
//! piece of shared memory remembers which *agent* ([`clock`](crate::sim::clock)) last wrote it and which read
//! it since, and at which tick those copies were begun. Who does not know the agent up to that tick has not
//! waited.
//!
//! To the race detector a copy reads or writes shared memory as its thread, when it is begun; what it does to
//! global memory it does as its thread, and once more when it was waited for. Copies of one thread write global
//! memory in any order, unless it waited in between, so one that writes where another one still may is a race, but
//! for two that change it by the same atomic.

use super::boxes::{self, Run, Wrong};
use super::phases::Mbarriers;
use super::{Hit, accessor, report_conflicts};
use crate::atomic::Rmw;
use crate::dtype::DType;
use crate::lane::{BulkCopy, Tensor, TensorMap};
use crate::sim::count::Pattern;
use crate::sim::program::{Bulk, BulkOp, Code, Described, MakeOp, Row};
use crate::sim::report::{AccessKind, Actor, FindingKind};
use crate::sim::schedule::{Block, World};
use crate::sim::warp::{Warp, lanes_of, row};
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// log2 of the bytes that are remembered together.
const PIECE: u32 = BulkCopy::ALIGN.trailing_zeros();

/// A copy that touched a piece: its agent, when it was begun, and its memory operation.
#[derive(Clone, Copy, Default, Debug)]
struct Touch {
    agent: usize,
    /// When it began; 0 is never.
    tick: u32,
    site: u32,
}

/// Sixteen bytes of shared memory.
#[derive(Clone, Default, Debug)]
struct Piece {
    written: Touch,
    read: SmallVec<[Touch; 1]>,
}

/// A copy under way.
#[derive(Debug)]
struct Flying {
    number: u64,
    moved: Moved,
    /// Whether it writes shared memory, where an mbarrier counts its bytes.
    fills: bool,
    /// When it was begun.
    tick: u32,
    /// What it read from shared memory, once it has.
    carried: Option<Vec<u8>>,
}

/// The bulk copies of a block.
#[derive(Default, Debug)]
pub(in crate::sim) struct Transfers {
    /// Empty in a program without any.
    pieces: Vec<Piece>,
    flying: Vec<Flying>,
    begun: u64,
    /// The last copy of each agent, and who began it.
    last: Vec<(Touch, u32, u32)>,
    pub(in crate::sim) mbarriers: Mbarriers,
    /// The tensors of the maps that the block has made.
    made: BTreeMap<u32, Tensor>,
}

/// A copy from shared memory that a warp has begun.
#[derive(Clone, Debug)]
struct Begun {
    number: u64,
    tick: u32,
    lane: u32,
    /// The memory operation in global memory, and what it touches there.
    site: u32,
    runs: Rc<[Run]>,
    /// The atomic by which it changes global memory.
    reduces: Option<Rmw>,
}

/// The groups of a warp's copies from shared memory.
#[derive(Clone, Default, Debug)]
pub(in crate::sim) struct Groups {
    open: Vec<Begun>,
    closed: VecDeque<Vec<Begun>>,
}

impl Groups {
    pub(in crate::sim) fn clear(&mut self) {
        self.open.clear();
        self.closed.clear();
    }

    /// The copies of a lane that it has not waited for.
    fn under_way(&self, lane: u32) -> impl Iterator<Item = &Begun> {
        let all = self.closed.iter().flatten().chain(&self.open);
        all.filter(move |copy| copy.lane == lane)
    }

    pub(in crate::sim) fn commit(&mut self) {
        self.closed.push_back(core::mem::take(&mut self.open));
    }
}

impl Transfers {
    /// None, in so many bytes of shared memory; of no bytes, nothing will be remembered.
    pub(in crate::sim) fn reset(&mut self, bytes: usize, agents: u32) {
        self.pieces.clear();
        self.pieces.resize(bytes.div_ceil(1 << PIECE), Piece::default());
        self.flying.clear();
        self.begun = 0;
        self.last.clear();
        self.last.resize(agents as usize, (Touch::default(), 0, 0));
        self.mbarriers.clear();
        self.made.clear();
    }

    /// How many copies are under way.
    pub(in crate::sim) fn under_way(&self) -> usize {
        self.flying.len()
    }

    /// Whether a copy may still tell an mbarrier of its bytes.
    pub(super) fn counts_at(&self, mbarrier: u32) -> bool {
        self.flying.iter().any(|copy| copy.fills && copy.moved.mbarrier == mbarrier)
    }

    /// A copy of these bytes that a warp has not waited for: one that writes them, or, where the warp writes,
    /// one that reads them. Gives its memory operation and the byte.
    fn unknown(
        &self,
        warp: &Warp,
        writes: bool,
        offset: usize,
        bytes: u32,
    ) -> Option<(u32, usize, &'static str)> {
        let end = (offset + bytes as usize).div_ceil(1 << PIECE).min(self.pieces.len());
        let first = (offset >> PIECE).min(end);
        let known = |touch: &Touch| touch.tick <= warp.knowledge.agent(touch.agent);
        for (at, piece) in self.pieces[first..end].iter().enumerate() {
            let byte = ((first + at) << PIECE).max(offset);
            if !known(&piece.written) {
                return Some((piece.written.site, byte, "to"));
            }
            if writes && let Some(read) = piece.read.iter().find(|read| !known(read)) {
                return Some((read.site, byte, "from"));
            }
        }
        None
    }

    fn pieces_of(&mut self, offset: usize, bytes: u32) -> &mut [Piece] {
        let end = (offset + bytes as usize).div_ceil(1 << PIECE).min(self.pieces.len());
        &mut self.pieces[(offset >> PIECE).min(end)..end]
    }
}

/// Reports an access to shared memory that touches what a bulk copy does.
#[inline]
pub(super) fn check(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    index: u32,
    pattern: &Pattern,
) {
    if block.transfers.begun == 0 {
        return;
    }
    let op = &world.code.memory[index as usize];
    let writes = world.accesses[index as usize].kind != AccessKind::Load;
    for lane in lanes_of(pattern.active) {
        let offset = pattern.addresses[lane] as usize;
        let actor = world.actor(block, warp.index, Some(lane as u32), op.inst);
        if check_bytes(warp, block, world, actor, writes, (offset, op.bytes)) {
            return;
        }
    }
}

/// Reports an access to some bytes, if it touches what a bulk copy does.
pub(super) fn check_bytes(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    actor: Actor,
    writes: bool,
    (offset, bytes): (usize, u32),
) -> bool {
    let Some((site, byte, way)) = block.transfers.unknown(warp, writes, offset, bytes) else {
        return false;
    };
    let site = &world.accesses[site as usize];
    let other = Actor { inst: site.inst, loc: site.loc, lane: None, ..actor };
    world.findings.add(FindingKind::InFlight, actor, Some(other), || {
        let what = if writes { "written" } else { "read" };
        format!(
            "byte {byte} of shared memory is {what}, and nothing waited for the bulk copy {way} it"
        )
    });
    true
}

/// What a lane's copy moves.
#[derive(Clone, Debug)]
struct Moved {
    lane: u32,
    /// The bytes of shared memory from here on.
    shared: usize,
    bytes: u32,
    /// Which of them go where in global memory.
    runs: Rc<[Run]>,
    /// An element where a run goes nowhere.
    outside: Vec<u8>,
    reduces: Option<(Rmw, DType)>,
    mbarrier: u32,
}

/// Begins a copy in each lane.
pub(in crate::sim) fn begin(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    op: &BulkOp,
) {
    for lane in lanes_of(warp.mask) {
        if let Some(moved) = moved(warp, block, world, op, lane) {
            begin_one(warp, block, world, op, &moved);
        }
    }
}

/// Where a lane's copy goes; what goes nowhere is reported.
fn moved(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    op: &BulkOp,
    lane: usize,
) -> Option<Moved> {
    let code = world.code;
    let of = |of: Row| row(&warp.registers, &code.constants, of, code.lanes as usize)[lane];
    let shared = of(code.memory[op.shared as usize].address);
    let mbarrier = op.mbarrier.map_or(0, of) as u32;
    let size = block.shared.len() as u64;
    let within = |bytes: u32| {
        let told = || {
            format!("{bytes} bytes at byte {shared} of shared memory, of which a block has {size}")
        };
        if shared + u64::from(bytes) > size {
            Err((FindingKind::OutOfRange, told()))
        } else {
            Ok(())
        }
    };
    let found = match &op.what {
        Bulk::Bytes(bytes) => {
            let (bytes, global) = (of(*bytes) as u32, of(code.memory[op.global as usize].address));
            consecutive(world, shared, global, bytes).and_then(|run| {
                within(bytes)?;
                Ok((bytes, vec![run], Vec::new(), None))
            })
        }
        Bulk::Box { map, tensor, coordinates, reduces } => {
            let bytes = map.bytes();
            let stores = op.mbarrier.is_none();
            let coordinates: Vec<i64> =
                coordinates.iter().map(|&row| i64::from(of(row) as i32)).collect();
            within(bytes).and_then(|()| {
                let tensor = described(block, world, *tensor)?;
                let nan = tensor.nan;
                let runs = box_runs(world, (map, &tensor), &coordinates, shared, stores)?;
                let outside = boxes::outside(map.element, nan);
                Ok((bytes, runs, outside, reduces.map(|op| (op, map.element))))
            })
        }
    };
    match found {
        Ok((0, ..)) => None,
        Ok((bytes, runs, outside, reduces)) => {
            let (lane, shared, runs) = (lane as u32, shared as usize, runs.into());
            Some(Moved { lane, shared, bytes, runs, outside, reduces, mbarrier })
        }
        Err((kind, told)) => {
            let actor = world.actor(block, warp.index, Some(lane as u32), op.inst);
            world.findings.add(kind, actor, None, || told);
            None
        }
    }
}

/// What is wrong with a copy.
type Told = (FindingKind, String);

/// The only run of a copy of bytes.
fn consecutive(world: &World<'_>, shared: u64, global: u64, bytes: u32) -> Result<Run, Told> {
    let align = u64::from(BulkCopy::ALIGN);
    for (what, number) in
        [("address in shared memory", shared), ("address", global), ("size", u64::from(bytes))]
    {
        if number % align != 0 {
            let told = format!("a bulk copy whose {what} is {number}, no multiple of {align}");
            return Err((FindingKind::Misaligned, told));
        }
    }
    let global = match world.memory.locate(global, bytes) {
        _ if bytes == 0 => None,
        Ok(place) => Some(place),
        Err(error) => return Err((FindingKind::OutOfRange, error.to_string())),
    };
    Ok(Run { shared: shared as usize, global, bytes })
}

/// How a tensor lies.
fn described(block: &Block, world: &World<'_>, of: Described) -> Result<Tensor, Told> {
    let address = match of {
        Described::Made(map) => {
            let made = block.transfers.made.get(&map).cloned();
            let told = || format!("the block has not made the tensor map of argument {map}");
            return made.ok_or_else(|| (FindingKind::Uninitialised, told()));
        }
        Described::At(address) => address,
    };
    let found = world.memory.locate(address, TensorMap::BYTES);
    let (buffer, at) = found.map_err(|error| (FindingKind::OutOfRange, error.to_string()))?;
    let bytes = &world.memory.buffers()[buffer].bytes[at..at + TensorMap::BYTES as usize];
    Ok(Tensor::from_bytes(bytes))
}

/// Makes a map, of what the first lane has.
pub(in crate::sim) fn make(warp: &Warp, block: &mut Block, code: &Code, op: &MakeOp) {
    let Some(lane) = lanes_of(warp.mask).next() else { return };
    let of = |of: Row| row(&warp.registers, &code.constants, of, code.lanes as usize)[lane];
    let parts: Vec<u64> = op.parts.iter().map(|&part| of(part)).collect();
    let mut tensor = Tensor { base: parts[0], nan: op.nan, ..Tensor::default() };
    let (extents, strides) = parts[1..].split_at(op.rank);
    for (to, &from) in tensor.extents.iter_mut().zip(extents) {
        *to = u64::from(from as u32);
    }
    for (to, &from) in tensor.strides.iter_mut().zip(strides) {
        *to = from;
    }
    block.transfers.made.insert(op.map, tensor);
}

/// The runs of a box.
fn box_runs(
    world: &World<'_>,
    (map, tensor): (&TensorMap, &Tensor),
    coordinates: &[i64],
    shared: u64,
    stores: bool,
) -> Result<Vec<Run>, Told> {
    let memory = &world.memory;
    let runs = boxes::runs(map, tensor, coordinates, shared as u32, stores, memory);
    runs.map_err(|wrong| match wrong {
        Wrong::Misaligned(told) => (FindingKind::Misaligned, told),
        Wrong::Outside(error) => (FindingKind::OutOfRange, error.to_string()),
    })
}

fn begin_one(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    op: &BulkOp,
    moved: &Moved,
) {
    let &Moved { lane, shared, bytes, mbarrier, .. } = moved;
    let writes = op.mbarrier.is_some();
    let actor = world.actor(block, warp.index, Some(lane), op.inst);
    let agent = if writes {
        let Some(agent) = block.transfers.mbarriers.agent(mbarrier) else {
            super::phases::report_unknown(world, actor, mbarrier);
            return;
        };
        super::phases::check_seen(warp, block, world, actor, mbarrier);
        agent
    } else {
        warp.index as usize
    };
    check_shared(warp, block, world, op, moved);
    if !writes {
        check_order(warp, world, actor, moved);
    }
    touch_global(warp, block, world, (op.global, lane), &moved.runs);
    let touch = Touch { agent, tick: block.tick, site: op.shared };
    if writes {
        block.shadow.settle(block.index, shared, bytes);
        block.proxies.forget(shared, bytes);
        for piece in block.transfers.pieces_of(shared, bytes) {
            *piece = Piece { written: touch, read: SmallVec::new() };
        }
        let known = warp.knowledge.published(warp.index, block.tick);
        block.transfers.mbarriers.begin(mbarrier, &known);
    } else {
        for piece in block.transfers.pieces_of(shared, bytes) {
            piece.read.retain(|read| read.agent != agent);
            piece.read.push(touch);
        }
    }
    block.tick += 1;
    let number = block.transfers.begun;
    block.transfers.begun += 1;
    block.transfers.last[agent] = (touch, warp.index, lane);
    if !writes {
        let (tick, site, runs) = (touch.tick, op.global, Rc::clone(&moved.runs));
        let reduces = moved.reduces.map(|(op, _)| op);
        warp.groups.open.push(Begun { number, tick, lane, site, runs, reduces });
    }
    count(world, op, bytes);
    block.transfers.flying.push(Flying {
        number,
        moved: moved.clone(),
        fills: writes,
        tick: touch.tick,
        carried: None,
    });
    if world.happens_early() {
        let last = block.transfers.flying.len() - 1;
        land(block, world, last);
    }
}

/// Reports a copy to global memory that may be overtaken by an earlier one of its thread.
fn check_order(warp: &Warp, world: &mut World<'_>, actor: Actor, moved: &Moved) {
    let reduces = moved.reduces.map(|(op, _)| op);
    let mut own: Option<Vec<Span>> = None;
    let overtaken = warp.groups.under_way(moved.lane).find_map(|copy| {
        if reduces.is_some() && copy.reduces == reduces {
            return None;
        }
        let own = own.get_or_insert_with(|| spans(&moved.runs));
        Some((copy.site, first_common(own, &spans(&copy.runs))?))
    });
    let Some((site, (buffer, byte))) = overtaken else { return };
    let site = &world.accesses[site as usize];
    let other = Actor { inst: site.inst, loc: site.loc, ..actor };
    let name = world.memory.buffers()[buffer].name.clone();
    world.findings.add(FindingKind::Race, actor, Some(other), || {
        format!(
            "byte {byte} of `{name}` is written by a bulk copy while an earlier one may still write it, for which \
             nothing waited"
        )
    });
}

/// Bytes of a buffer: from one to another.
type Span = (usize, usize, usize);

/// What runs touch in global memory, in order.
fn spans(runs: &[Run]) -> Vec<Span> {
    let span = |run: &Run| run.global.map(|(buffer, at)| (buffer, at, at + run.bytes as usize));
    let mut all: Vec<Span> = runs.iter().filter_map(span).collect();
    all.sort_unstable();
    all.dedup_by(|next, last| {
        let touches = next.0 == last.0 && next.1 <= last.2;
        last.2 = if touches { last.2.max(next.2) } else { last.2 };
        touches
    });
    all
}

/// The first byte that is in two lists.
fn first_common(x: &[Span], y: &[Span]) -> Option<(usize, usize)> {
    let (mut x, mut y) = (x.iter().peekable(), y.iter().peekable());
    while let (Some(&&(a, from, to)), Some(&&(b, start, end))) = (x.peek(), y.peek()) {
        if a == b && from < end && start < to {
            return Some((a, from.max(start)));
        }
        if (a, to) <= (b, end) {
            x.next()
        } else {
            y.next()
        };
    }
    None
}

/// Holds what a copy does to shared memory against what was done to it before.
fn check_shared(warp: &Warp, block: &Block, world: &mut World<'_>, op: &BulkOp, moved: &Moved) {
    let &Moved { lane, shared, bytes, .. } = moved;
    let writes = op.mbarrier.is_some();
    let actor = world.actor(block, warp.index, Some(lane), op.inst);
    let place = Hit::Shared;
    let by = accessor(&warp.knowledge, warp.index, block, world, op.shared, place, !writes);
    block.shadow.probe(&by, writes, (shared, bytes), lane, &mut world.conflicts);
    report_conflicts(warp, block, world, op.shared, place);
    check_bytes(warp, block, world, actor, writes, (shared, bytes));
    super::copies::check_read(block, world, actor, shared, bytes);
    if writes && let Some(site) = block.warpgroups.reading(shared, bytes) {
        let site = &world.accesses[site as usize];
        let other = Actor { inst: site.inst, loc: site.loc, lane: None, ..actor };
        world.findings.add(FindingKind::InFlight, actor, Some(other), || {
            format!(
                "byte {shared} of shared memory is written while a product in flight may read it"
            )
        });
    }
    let unseen = block.proxies.unseen(warp.index, &warp.knowledge, shared, bytes);
    let unseen = unseen.map(|(_, written)| (written.warp, written.site, "written"));
    let read = || {
        let reader = block.proxies.unseen_read(warp.index, &warp.knowledge, shared, bytes);
        reader.filter(|_| writes).map(|(warp, site)| (warp, site, "read"))
    };
    if let Some((warp, site, how)) = unseen.or_else(read) {
        let site = &world.accesses[site as usize];
        let other = Actor { inst: site.inst, loc: site.loc, warp, lane: None, ..actor };
        world.findings.add(FindingKind::Unfenced, actor, Some(other), || {
            let now = if writes { "overwritten" } else { "read" };
            format!(
                "bytes of shared memory from {shared} on, {how} by {other}, are {now} by a bulk copy with no \
                 fence between proxies after that"
            )
        });
    }
}

/// Holds what a copy does to global memory against what others do, as an access of its thread.
fn touch_global(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    (site, lane): (u32, u32),
    runs: &[Run],
) {
    let kind = world.accesses[site as usize].kind;
    let (reads, writes) = (kind != AccessKind::Store, kind != AccessKind::Load);
    for &Run { global, bytes, .. } in runs {
        let Some((buffer, offset)) = global else { continue };
        let place = Hit::Buffer(buffer);
        let by = accessor(&warp.knowledge, warp.index, block, world, site, place, reads);
        world.shadows[buffer].access(&by, writes, offset, bytes, lane, &mut world.conflicts);
        report_conflicts(warp, block, world, site, place);
    }
}

/// Counts a copy as one access of each memory.
fn count(world: &mut World<'_>, op: &BulkOp, bytes: u32) {
    let sector = world.launch.machine.sector_bytes;
    for (site, unit) in [(op.shared, 128), (op.global, sector)] {
        let access = &mut world.accesses[site as usize];
        let cost = u64::from(bytes.div_ceil(unit.max(1)));
        access.executions += 1;
        access.lanes += u64::from(bytes / BulkCopy::ALIGN);
        access.cost += cost;
        access.ideal += cost;
    }
}

/// Moves the bytes of the copy at a place among those under way.
pub(in crate::sim) fn land(block: &mut Block, world: &mut World<'_>, place: usize) {
    if block.transfers.flying[place].fills {
        let Flying { moved, tick, .. } = block.transfers.flying.remove(place);
        for run in &*moved.runs {
            let bytes = run.bytes as usize;
            let Some(to) = block.shared.get_mut(run.shared..run.shared + bytes) else { continue };
            match run.global {
                Some((buffer, at)) => {
                    let from = world.memory.buffers()[buffer].bytes.get(at..at + bytes);
                    to.copy_from_slice(from.unwrap_or(&vec![0; bytes]));
                }
                None => {
                    let outside = moved.outside.iter().cycle();
                    to.iter_mut().zip(outside).for_each(|(to, &byte)| *to = byte);
                }
            }
        }
        block.transfers.mbarriers.land(moved.mbarrier, tick, moved.bytes);
    } else {
        carry(block, place);
        deliver(block, world, place);
    }
    world.changed = true;
}

/// Reads what a copy from shared memory moves, if it has not yet.
fn carry(block: &mut Block, place: usize) {
    let copy = &mut block.transfers.flying[place];
    if copy.carried.is_none() {
        let Moved { shared, bytes, .. } = copy.moved;
        let bytes = block.shared.get(shared..shared + bytes as usize);
        copy.carried = Some(bytes.unwrap_or_default().to_vec());
    }
}

/// Writes what a copy from shared memory has read.
fn deliver(block: &mut Block, world: &mut World<'_>, place: usize) {
    let Flying { moved, carried, .. } = block.transfers.flying.remove(place);
    let carried = carried.unwrap_or_default();
    for run in &*moved.runs {
        let Some((buffer, at)) = run.global else { continue };
        let (first, bytes) = (run.shared - moved.shared, run.bytes as usize);
        let to = world.memory.bytes_mut(buffer).get_mut(at..at + bytes);
        let (Some(to), Some(from)) = (to, carried.get(first..first + bytes)) else { continue };
        match moved.reduces {
            None => to.copy_from_slice(from),
            Some((op, dtype)) => reduce(op, dtype, to, from),
        }
    }
}

/// Changes each element by an atomic.
fn reduce(op: Rmw, dtype: DType, to: &mut [u8], from: &[u8]) {
    let size = dtype.bytes() as usize;
    let number =
        |bytes: &[u8]| bytes.iter().rev().fold(0, |n: u64, &byte| n << 8 | u64::from(byte));
    for (to, from) in to.chunks_exact_mut(size).zip(from.chunks_exact(size)) {
        if let Some(left) = op.apply(dtype, number(to), number(from)) {
            to.copy_from_slice(&left.to_le_bytes()[..size]);
        }
    }
}

/// Waits for all groups of a warp but the latest ones: that they have read, or that they are done.
pub(in crate::sim) fn wait(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    pending: u32,
    reads: bool,
) {
    let waited = warp.groups.closed.len().saturating_sub(pending as usize);
    let groups: Vec<Vec<Begun>> = if reads {
        warp.groups.closed.iter().take(waited).cloned().collect()
    } else {
        warp.groups.closed.drain(..waited).collect()
    };
    for copy in groups.into_iter().flatten() {
        let Begun { number, tick, lane, site, runs, reduces: _ } = copy;
        warp.knowledge.learn(warp.index as usize, tick);
        if !reads {
            touch_global(warp, block, world, (site, lane), &runs);
        }
        let is_it = |copy: &Flying| copy.number == number;
        let Some(place) = block.transfers.flying.iter().position(is_it) else { continue };
        carry(block, place);
        if !reads {
            deliver(block, world, place);
            world.changed = true;
        }
    }
}

/// Ends what is under way when all warps of a block came to their end, and reports what nobody waited for.
pub(in crate::sim) fn end(warps: &[Warp], block: &mut Block, world: &mut World<'_>) {
    for agent in 0..block.transfers.last.len() {
        let (touch, warp, lane) = block.transfers.last[agent];
        let known = warps.iter().any(|warp| touch.tick <= warp.knowledge.agent(agent));
        if known {
            continue;
        }
        let inst = world.accesses[touch.site as usize].inst;
        let actor = world.actor(block, warp, Some(lane), inst);
        world.findings.add(FindingKind::InFlight, actor, None, || {
            "the block ends, and nothing waited for this bulk copy, which may still touch its shared \
             memory"
                .into()
        });
    }
    while !block.transfers.flying.is_empty() {
        land(block, world, 0);
    }
}
