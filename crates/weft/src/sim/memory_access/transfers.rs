//! Bulk copies under way, and the groups in which threads wait for those from shared memory.
//!
//! A copy begins when it is issued. When it moves its bytes [`Timing`](crate::sim::Timing) says: at once, when
//! nothing else can go on, or some time between. Whether an access is ordered with it does not hang on that: each
//! piece of shared memory remembers which *agent* ([`clock`](crate::sim::clock)) last wrote it and which read
//! it since, and at which tick those copies were begun. Who does not know the agent up to that tick has not
//! waited.
//!
//! To the race detector a copy reads or writes shared memory as its thread, when it is begun; what it does to
//! global memory it does as its thread, and once more when it was waited for.

use super::phases::Mbarriers;
use super::{Place, accessor, report_conflicts};
use crate::lane::BulkCopy;
use crate::sim::count::Pattern;
use crate::sim::program::{BulkOp, Row};
use crate::sim::report::{AccessKind, Actor, FindingKind};
use crate::sim::schedule::{Block, World};
use crate::sim::warp::{Warp, lanes_of, row};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// log2 of the bytes that are remembered together.
const PIECE: u32 = BulkCopy::ALIGN.trailing_zeros();

/// A copy that touched a piece: its agent, when it was begun, and its memory operation.
#[derive(Clone, Copy, Default, Debug)]
struct Touch {
    agent: usize,
    /// 0 is never.
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
    copy: BulkCopy,
    shared: usize,
    buffer: usize,
    global: usize,
    bytes: u32,
    /// Where the mbarrier is that counts its bytes.
    mbarrier: u32,
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
}

/// A copy from shared memory that a warp has begun.
#[derive(Clone, Copy, Debug)]
struct Begun {
    number: u64,
    tick: u32,
    lane: u32,
    /// The memory operation in global memory, the buffer, and which bytes.
    site: u32,
    buffer: usize,
    global: usize,
    bytes: u32,
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
    }

    /// How many copies are under way.
    pub(in crate::sim) fn under_way(&self) -> usize {
        self.flying.len()
    }

    /// Whether a copy may still tell an mbarrier of its bytes.
    pub(super) fn counts_at(&self, mbarrier: u32) -> bool {
        self.flying.iter().any(|copy| copy.is_counted() && copy.mbarrier == mbarrier)
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

impl Flying {
    /// Whether an mbarrier counts its bytes.
    fn is_counted(&self) -> bool {
        self.copy == BulkCopy::ToShared
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
struct Moved {
    lane: u32,
    shared: usize,
    buffer: usize,
    /// The byte of the buffer.
    global: usize,
    bytes: u32,
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
    let global = of(code.memory[op.global as usize].address);
    let (bytes, mbarrier) = (of(op.bytes) as u32, op.mbarrier.map_or(0, of) as u32);
    let actor = world.actor(block, warp.index, Some(lane as u32), op.inst);
    let align = u64::from(BulkCopy::ALIGN);
    for (what, number) in
        [("address in shared memory", shared), ("address", global), ("size", u64::from(bytes))]
    {
        if number % align != 0 {
            let told = || format!("a bulk copy whose {what} is {number}, no multiple of {align}");
            world.findings.add(FindingKind::Misaligned, actor, None, told);
            return None;
        }
    }
    let size = block.shared.len();
    if bytes == 0 {
        return None;
    }
    if shared + u64::from(bytes) > size as u64 {
        world.findings.add(FindingKind::OutOfRange, actor, None, || {
            format!("{bytes} bytes at byte {shared} of shared memory, of which a block has {size}")
        });
        return None;
    }
    let shared = shared as usize;
    match world.memory.locate(global, bytes) {
        Ok((buffer, global)) => {
            Some(Moved { lane: lane as u32, shared, buffer, global, bytes, mbarrier })
        }
        Err(error) => {
            world.findings.add(FindingKind::OutOfRange, actor, None, || error.to_string());
            None
        }
    }
}

fn begin_one(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    op: &BulkOp,
    moved: &Moved,
) {
    let &Moved { lane, shared, buffer, global, bytes, mbarrier } = moved;
    let writes = op.copy == BulkCopy::ToShared;
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
    touch_global(warp, block, world, (op.global, lane), buffer, (global, bytes));
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
        let (tick, site) = (touch.tick, op.global);
        warp.groups.open.push(Begun { number, tick, lane, site, buffer, global, bytes });
    }
    count(world, op, bytes);
    block.transfers.flying.push(Flying {
        number,
        copy: op.copy,
        shared,
        buffer,
        global,
        bytes,
        mbarrier,
        tick: touch.tick,
        carried: None,
    });
    if world.happens_early() {
        let last = block.transfers.flying.len() - 1;
        land(block, world, last);
    }
}

/// Holds what a copy does to shared memory against what was done to it before.
fn check_shared(warp: &Warp, block: &Block, world: &mut World<'_>, op: &BulkOp, moved: &Moved) {
    let &Moved { lane, shared, bytes, .. } = moved;
    let writes = op.copy == BulkCopy::ToShared;
    let actor = world.actor(block, warp.index, Some(lane), op.inst);
    let place = Place::Shared;
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
    buffer: usize,
    (offset, bytes): (usize, u32),
) {
    let (place, writes) =
        (Place::Buffer(buffer), world.accesses[site as usize].kind != AccessKind::Load);
    let by = accessor(&warp.knowledge, warp.index, block, world, site, place, !writes);
    world.shadows[buffer].access(&by, writes, offset, bytes, lane, &mut world.conflicts);
    report_conflicts(warp, block, world, site, place);
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
    if block.transfers.flying[place].is_counted() {
        let copy = block.transfers.flying.remove(place);
        let bytes = copy.bytes as usize;
        let from = world.memory.buffers()[copy.buffer].bytes.get(copy.global..copy.global + bytes);
        if let (Some(from), Some(to)) =
            (from, block.shared.get_mut(copy.shared..copy.shared + bytes))
        {
            to.copy_from_slice(from);
        }
        block.transfers.mbarriers.land(copy.mbarrier, copy.tick, copy.bytes);
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
        let bytes = block.shared.get(copy.shared..copy.shared + copy.bytes as usize);
        copy.carried = Some(bytes.unwrap_or_default().to_vec());
    }
}

/// Writes what a copy from shared memory has read.
fn deliver(block: &mut Block, world: &mut World<'_>, place: usize) {
    let copy = block.transfers.flying.remove(place);
    let bytes = world.memory.bytes_mut(copy.buffer);
    let to = bytes.get_mut(copy.global..copy.global + copy.bytes as usize);
    if let (Some(to), Some(carried)) = (to, copy.carried) {
        to.copy_from_slice(&carried);
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
        let Begun { number, tick, lane, site, buffer, global, bytes } = copy;
        warp.knowledge.learn(warp.index as usize, tick);
        if !reads {
            touch_global(warp, block, world, (site, lane), buffer, (global, bytes));
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
