//! Asynchronous copies from global to shared memory.
//!
//! A copy reads when it is issued; what it brings is written when its thread waits for it. On a GPU both
//! may happen at any time in between, so that to touch the bytes that it writes, or to write those that it
//! reads, is a finding until then, whoever does it. For the race detector a copy is a
//! write of its thread twice, when it is issued and when it lands: what others did before must be
//! ordered before the first, what they do after behind the second.

use super::{Hit, accessor, addresses, locate, place_of, report_conflicts};
use crate::lane::effects::Tokens;
use crate::lane::{AsyncCopy, Inst, InstData, Operand, Space};
use crate::memory::Memory;
use crate::sim::act::Act;
use crate::sim::count::Pattern;
use crate::sim::program::{Compiler, MemoryOp, Row};
use crate::sim::report::{AccessKind, Actor, FindingKind};
use crate::sim::schedule::{Block, World};
use crate::sim::warp::{Warp, lanes_of, row, truth};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;

/// log2 of the bytes that are in flight together: the smallest copy.
const CELL: u32 = 2;

/// One lane's copy under way.
#[derive(Clone, PartialEq, Debug)]
struct Copy {
    lane: u32,
    /// Whether it is the first lane of those that copy together.
    leads: bool,
    /// The first byte in shared memory.
    offset: usize,
    bytes: u32,
    data: [u8; 16],
    /// The number of the memory operation that began it.
    index: u32,
    /// The buffer and the byte that it reads from, if it reads.
    source: Option<(usize, usize)>,
}

/// The copies of a warp.
#[derive(Clone, Default, PartialEq, Debug)]
pub(in crate::sim) struct Copies {
    open: Vec<Copy>,
    groups: VecDeque<Vec<Copy>>,
}

impl Copies {
    /// Forgets every copy, as where a block begins.
    pub(in crate::sim) fn clear(&mut self) {
        self.open.clear();
        self.groups.clear();
    }

    /// The copies of all groups but the latest `pending`, or all but the latest `copies`, where these are counted;
    /// they are no longer under way.
    fn landed(&mut self, pending: u32, copies: Option<u32>) -> Vec<Copy> {
        let Some(mut left) = copies else {
            let all = self.groups.len().saturating_sub(pending as usize);
            return self.groups.drain(..all).flatten().collect();
        };
        let mut landed: Vec<Vec<Copy>> = Vec::new();
        for group in self.groups.iter_mut().chain([&mut self.open]).rev() {
            let mut kept = group.len();
            while kept > 0 && left > 0 {
                kept -= 1;
                left -= u32::from(group[kept].leads);
            }
            landed.push(group.drain(..kept).collect());
        }
        while self.groups.front().is_some_and(Vec::is_empty) {
            self.groups.pop_front();
        }
        landed.into_iter().rev().flatten().collect()
    }

    /// Closes the open group.
    fn commit(&mut self) {
        self.groups.push_back(core::mem::take(&mut self.open));
    }
}

/// The bytes of global memory that copies under way may still read.
#[derive(Clone, Default, Debug)]
pub(in crate::sim) struct Reading {
    /// For each buffer and cell how many copies read it, and the memory operation of one.
    cells: FxHashMap<(usize, usize), (u32, u32)>,
}

impl Reading {
    fn begin(&mut self, (buffer, offset): (usize, usize), bytes: u32, index: u32) {
        for cell in cells(offset, bytes) {
            self.cells.entry((buffer, cell)).or_insert((0, index)).0 += 1;
        }
    }

    fn end(&mut self, (buffer, offset): (usize, usize), bytes: u32) {
        for cell in cells(offset, bytes) {
            if let Entry::Occupied(mut known) = self.cells.entry((buffer, cell)) {
                known.get_mut().0 -= 1;
                if known.get().0 == 0 {
                    known.remove();
                }
            }
        }
    }

    /// The memory operation of a copy that may still read some of these bytes.
    fn find(&self, buffer: usize, offset: usize, bytes: u32) -> Option<u32> {
        cells(offset, bytes).find_map(|cell| self.cells.get(&(buffer, cell))).map(|cell| cell.1)
    }
}

/// The cells that some bytes are in.
fn cells(offset: usize, bytes: u32) -> core::ops::Range<usize> {
    offset >> CELL..(offset + bytes as usize).div_ceil(1 << CELL)
}

/// The bytes of a block's shared memory that copies are on the way to.
#[derive(Clone, Default, Debug)]
pub(in crate::sim) struct InFlight {
    /// For each cell one more than the memory operation of the copy; 0 where there is none.
    cells: Vec<u32>,
    count: usize,
}

impl InFlight {
    /// Nothing, in so many bytes.
    pub(in crate::sim) fn reset(&mut self, bytes: usize) {
        self.cells.clear();
        self.cells.resize(bytes.div_ceil(1 << CELL), 0);
        self.count = 0;
    }

    fn cells_of(&self, offset: usize, bytes: u32) -> core::ops::Range<usize> {
        let cells = cells(offset, bytes);
        let end = cells.end.min(self.cells.len());
        cells.start.min(end)..end
    }

    fn set(&mut self, offset: usize, bytes: u32, to: u32) {
        for cell in self.cells_of(offset, bytes) {
            self.count += usize::from(to != 0);
            self.count -= usize::from(self.cells[cell] != 0);
            self.cells[cell] = to;
        }
    }

    /// The memory operation of a copy that is on the way to some of these bytes.
    fn find(&self, offset: usize, bytes: u32) -> Option<u32> {
        let mut cells = self.cells[self.cells_of(offset, bytes)].iter();
        cells.find(|&&cell| cell != 0).map(|cell| cell - 1)
    }
}

/// Reports an access to shared memory that touches what is in flight.
#[inline]
pub(super) fn check(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    index: u32,
    pattern: &Pattern,
) {
    if block.in_flight.count != 0 {
        check_slowly(warp, block, world, index, pattern);
    }
}

#[cold]
fn check_slowly(warp: &Warp, block: &Block, world: &mut World<'_>, index: u32, pattern: &Pattern) {
    let op = &world.code.memory[index as usize];
    for lane in lanes_of(pattern.active) {
        let offset = pattern.addresses[lane] as usize;
        let Some(copy) = block.in_flight.find(offset, op.bytes) else { continue };
        let actor = world.actor(block, warp.index, Some(lane as u32), op.inst);
        let site = &world.accesses[copy as usize];
        let other = Actor { inst: site.inst, loc: site.loc, lane: None, ..actor };
        world.findings.add(FindingKind::InFlight, actor, Some(other), || {
            format!(
                "byte {offset} of shared memory is touched while an asynchronous copy to it is under \
                 way"
            )
        });
        return;
    }
}

/// Reports a read of bytes to which a copy is under way.
pub(super) fn check_read(
    block: &Block,
    world: &mut World<'_>,
    actor: Actor,
    offset: usize,
    bytes: u32,
) {
    if block.in_flight.count == 0 {
        return;
    }
    let Some(copy) = block.in_flight.find(offset, bytes) else { return };
    let site = &world.accesses[copy as usize];
    let other = Actor { inst: site.inst, loc: site.loc, lane: None, ..actor };
    world.findings.add(FindingKind::InFlight, actor, Some(other), || {
        format!(
            "byte {offset} of shared memory is read while an asynchronous copy to it is under way"
        )
    });
}

/// Reports a write to global memory that a copy may still read.
#[inline]
pub(super) fn check_written(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    index: u32,
    pattern: &Pattern,
    places: &[(Hit, u64)],
) {
    if !world.reading.cells.is_empty() && world.accesses[index as usize].kind != AccessKind::Load {
        check_written_slowly(warp, block, world, index, pattern, places);
    }
}

#[cold]
fn check_written_slowly(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    index: u32,
    pattern: &Pattern,
    places: &[(Hit, u64)],
) {
    let op = &world.code.memory[index as usize];
    for &(place, mask) in places {
        let Hit::Buffer(buffer) = place else { continue };
        for lane in lanes_of(mask & pattern.active) {
            let offset = (pattern.addresses[lane] - Memory::base(buffer)) as usize;
            let Some(copy) = world.reading.find(buffer, offset, op.bytes) else { continue };
            let actor = world.actor(block, warp.index, Some(lane as u32), op.inst);
            let site = &world.accesses[copy as usize];
            let other = Actor { inst: site.inst, loc: site.loc, lane: None, ..actor };
            let name = &world.memory.buffers()[buffer].name;
            world.findings.add(FindingKind::InFlight, actor, Some(other), || {
                format!("byte {offset} of {name} is written while an asynchronous copy may read it")
            });
            return;
        }
    }
}

/// Forgets the copies of a warp that came to its end.
pub(in crate::sim) fn abandon(warp: &mut Warp, world: &mut World<'_>) {
    let Copies { open, groups } = &mut warp.copies;
    for Copy { source, bytes, .. } in open.drain(..).chain(groups.drain(..).flatten()) {
        if let Some(source) = source {
            world.reading.end(source, bytes);
        }
    }
}

/// A step of a warp's copies, ready to run.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) enum Step {
    /// Memory operation `index` is the write to shared memory, the next one the read.
    Begin {
        index: u32,
        filled: Option<Row>,
        run: bool,
    },
    Commit,
    Wait {
        pending: u32,
        copies: Option<u32>,
    },
}

impl Compiler<'_> {
    /// A step of copies, as its row of effects says. A copy counts as a write to shared memory and a read of
    /// global memory.
    pub(in crate::sim) fn async_copy(&mut self, id: Inst, inst: &InstData, op: AsyncCopy) {
        let step = match (inst.op.effects().tokens, op.moves()) {
            (Tokens::Starts, Some((bytes, offset))) => {
                let [place, source] = [Space::Shared, Space::Global]
                    .map(|space| self.operand(inst, Operand::Address(space)));
                let (Some(place), Some(source)) = (place, source) else { return };
                let predicate = self.operand(inst, Operand::Predicate);
                let written = MemoryOp::plain(id, (Space::Shared, place, offset), bytes);
                let read = MemoryOp::plain(id, (Space::Global, source, 0), bytes);
                let base = inst.operand(Operand::Address(Space::Global));
                let base = base.and_then(|address| self.base_of(address));
                let read = MemoryOp { base, ..read };
                let written = MemoryOp { predicate, ..written };
                let index = self.access(written, AccessKind::Store, bytes);
                self.access(MemoryOp { predicate, ..read }, AccessKind::Load, bytes);
                Step::Begin { index, filled: self.operand(inst, Operand::Filled), run: op.is_run() }
            }
            (Tokens::Commits, _) => Step::Commit,
            (Tokens::Awaits { pending }, _) => Step::Wait { pending, copies: op.counted() },
            // No other step is one of copies.
            _ => return,
        };
        self.act(Act::AsyncCopy(step));
    }
}

/// Takes a step.
pub(in crate::sim) fn take(warp: &mut Warp, block: &mut Block, world: &mut World<'_>, step: Step) {
    match step {
        Step::Begin { index, filled, run } => begin(warp, block, world, index, (filled, run)),
        Step::Commit => warp.copies.commit(),
        Step::Wait { pending, copies } => wait(warp, block, world, pending, copies),
    }
}

/// Begins a copy: memory operation `index` is the write, the next one the read.
fn begin(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    index: u32,
    (filled, run): (Option<Row>, bool),
) {
    let code = world.code;
    let lanes = code.lanes as usize;
    let (op, source) = (&code.memory[index as usize], &code.memory[index as usize + 1]);
    let (places, active) = addresses(warp, world, op);
    let (from, mut reading) = addresses(warp, world, source);
    if let Some(filled) = filled {
        reading &= truth(row(&warp.registers, &code.constants, filled, lanes));
    }
    let mut data = [[0u8; 16]; super::MAX_LANES];
    let mut sources = [None; super::MAX_LANES];
    if let Some((pattern, parts)) = locate(warp, block, world, index + 1, &from, reading) {
        for (place, mask) in parts {
            let by = accessor(&warp.knowledge, warp.index, block, world, index + 1, place, true);
            let (bytes, shadow, base) = place_of(place, block, world.memory, &mut world.shadows);
            for lane in lanes_of(mask & pattern.active) {
                let offset = (pattern.addresses[lane] - base) as usize;
                shadow.access(&by, false, offset, op.bytes, lane as u32, &mut world.conflicts);
                if let Hit::Buffer(buffer) = place {
                    sources[lane] = Some((buffer, offset));
                }
                let end = offset + op.bytes as usize;
                if let Some(found) = bytes.get(offset..end) {
                    data[lane][..found.len()].copy_from_slice(found);
                }
            }
            report_conflicts(warp, block, world, index + 1, place);
        }
    }
    let Some((pattern, _)) = locate(warp, block, world, index, &places, active) else { return };
    if run {
        check_run(warp, block, world, index, &pattern);
    }
    let by = accessor(&warp.knowledge, warp.index, block, world, index, Hit::Shared, false);
    for lane in lanes_of(pattern.active) {
        let offset = pattern.addresses[lane] as usize;
        let shadow = &mut block.shadow;
        shadow.access(&by, true, offset, op.bytes, lane as u32, &mut world.conflicts);
        block.in_flight.set(offset, op.bytes, index + 1);
        let (source, data, bytes) = (sources[lane], data[lane], op.bytes);
        if let Some(source) = source {
            world.reading.begin(source, bytes, index);
        }
        let leads = lane == pattern.active.trailing_zeros() as usize;
        let lane = lane as u32;
        warp.copies.open.push(Copy { lane, leads, offset, bytes, data, index, source });
    }
    report_conflicts(warp, block, world, index, Hit::Shared);
}

/// Reports a copy whose lanes do not write side by side.
fn check_run(warp: &Warp, block: &Block, world: &mut World<'_>, index: u32, pattern: &Pattern) {
    let op = &world.code.memory[index as usize];
    let start =
        |lane: usize| pattern.addresses[lane].wrapping_sub(lane as u64 * u64::from(op.bytes));
    let first = start(pattern.active.trailing_zeros() as usize);
    let Some(lane) = lanes_of(pattern.active).find(|&lane| start(lane) != first) else { return };
    let actor = world.actor(block, warp.index, Some(lane as u32), op.inst);
    let (mine, wanted) = (pattern.addresses[lane], first.wrapping_add(pattern.addresses[lane]));
    let wanted = wanted.wrapping_sub(start(lane));
    world.findings.add(FindingKind::Divergence, actor, None, || {
        format!(
            "a copy writes lane beside lane, so that this one writes byte {wanted} of shared memory, and not \
             {mine}"
        )
    });
}

/// Lets all groups land but the latest `pending`, or all copies but the latest ones, where these are counted.
fn wait(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    pending: u32,
    copies: Option<u32>,
) {
    for copy in warp.copies.landed(pending, copies) {
        let Copy { lane, leads: _, offset, bytes, data, index, source } = copy;
        if let Some(source) = source {
            world.reading.end(source, bytes);
        }
        let by = accessor(&warp.knowledge, warp.index, block, world, index, Hit::Shared, false);
        block.shadow.access(&by, true, offset, bytes, lane, &mut world.conflicts);
        block.in_flight.set(offset, bytes, 0);
        if block.proxies.are_watched() {
            block.proxies.write((warp.index, lane, index), block.tick, offset, bytes);
        }
        let end = offset + bytes as usize;
        if let Some(place) = block.shared.get_mut(offset..end) {
            place.copy_from_slice(&data[..bytes as usize]);
        }
        report_conflicts(warp, block, world, index, Hit::Shared);
    }
}
