//! Asynchronous copies from global to shared memory.
//!
//! A copy reads when it is issued; what it brings is written when its thread waits for it. In between its
//! bytes are in flight: to touch them is a finding, whoever does it. For the race detector a copy is a
//! write of its thread twice, when it is issued and when it lands: what others did before must be
//! ordered before the first, what they do after behind the second.

use super::{Place, accessor, addresses, locate, place_of, report_conflicts};
use crate::sim::count::Pattern;
use crate::sim::program::Row;
use crate::sim::report::{Actor, FindingKind};
use crate::sim::schedule::{Block, World};
use crate::sim::warp::{Warp, lanes_of, row, truth};
use std::collections::VecDeque;

/// log2 of the bytes that are in flight together: the smallest copy.
const CELL: u32 = 2;

/// One lane's copy under way.
#[derive(Clone, PartialEq, Debug)]
struct Copy {
    lane: u32,
    /// The first byte in shared memory.
    offset: usize,
    bytes: u32,
    data: [u8; 16],
    /// The memory operation.
    index: u32,
}

/// The copies of a warp.
#[derive(Clone, Default, PartialEq, Debug)]
pub(in crate::sim) struct Copies {
    open: Vec<Copy>,
    groups: VecDeque<Vec<Copy>>,
}

impl Copies {
    /// Forgets everything.
    pub(in crate::sim) fn clear(&mut self) {
        self.open.clear();
        self.groups.clear();
    }

    /// Closes the open group.
    pub(in crate::sim) fn commit(&mut self) {
        self.groups.push_back(core::mem::take(&mut self.open));
    }
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
        let end = (offset + bytes as usize).div_ceil(1 << CELL).min(self.cells.len());
        (offset >> CELL).min(end)..end
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

/// Issues a copy: memory operation `index` is the write, the next one the read.
pub(in crate::sim) fn issue(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    index: u32,
    filled: Option<Row>,
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
    if let Some((pattern, parts)) = locate(warp, block, world, index + 1, &from, reading) {
        for (place, mask) in parts {
            let by = accessor(&warp.knowledge, warp.index, block, world, index + 1, place, true);
            let (bytes, shadow, base) = place_of(place, block, world.memory, &mut world.shadows);
            for lane in lanes_of(mask & pattern.active) {
                let offset = (pattern.addresses[lane] - base) as usize;
                shadow.access(&by, false, offset, op.bytes, lane as u32, &mut world.conflicts);
                let end = offset + op.bytes as usize;
                if let Some(found) = bytes.get(offset..end) {
                    data[lane][..found.len()].copy_from_slice(found);
                }
            }
            report_conflicts(warp, block, world, index + 1, place);
        }
    }
    let Some((pattern, _)) = locate(warp, block, world, index, &places, active) else { return };
    let by = accessor(&warp.knowledge, warp.index, block, world, index, Place::Shared, false);
    for lane in lanes_of(pattern.active) {
        let offset = pattern.addresses[lane] as usize;
        let shadow = &mut block.shadow;
        shadow.access(&by, true, offset, op.bytes, lane as u32, &mut world.conflicts);
        block.in_flight.set(offset, op.bytes, index + 1);
        let (lane, data) = (lane as u32, data[lane]);
        warp.copies.open.push(Copy { lane, offset, bytes: op.bytes, data, index });
    }
    report_conflicts(warp, block, world, index, Place::Shared);
}

/// Lets all groups land but the latest `pending`.
pub(in crate::sim) fn wait(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    pending: usize,
) {
    while warp.copies.groups.len() > pending {
        for copy in warp.copies.groups.pop_front().into_iter().flatten() {
            let Copy { lane, offset, bytes, data, index } = copy;
            let by =
                accessor(&warp.knowledge, warp.index, block, world, index, Place::Shared, false);
            block.shadow.access(&by, true, offset, bytes, lane, &mut world.conflicts);
            block.in_flight.set(offset, bytes, 0);
            let end = offset + bytes as usize;
            if let Some(place) = block.shared.get_mut(offset..end) {
                place.copy_from_slice(&data[..bytes as usize]);
            }
            report_conflicts(warp, block, world, index, Place::Shared);
        }
    }
}
