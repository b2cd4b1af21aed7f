//! What the race detector remembers of every byte.
//!
//! Memory is shadowed in pages that appear when first touched. A page is cut into cells of 4, 2 or 1
//! bytes: as large as every access to it so far allows, so that no cell ever belongs to two lanes of
//! one access. A cell remembers the last write and the reads since; reads by several warps of a block
//! at one tick are one entry with a mask of warps. Only what is not ordered with the newest entry goes
//! to a list beside the cell: reads from other blocks, and atomics, which do not replace each other.
//! That list holds at most [`LIST`] entries, so a race with the many-and-first reader of a byte may
//! go unreported; nothing ordered is ever reported.

use super::clock::Clock;
use super::room::Room;
use smallvec::SmallVec;

/// log2 of the bytes of a page.
const PAGE: u32 = 11;
/// Longest list beside a cell.
const LIST: usize = 16;
/// The lane of an entry that several lanes share.
pub(super) const SEVERAL: u32 = 64;

const LANE: u32 = 0x7f;
const WARP_SHIFT: u32 = 7;
const ATOMIC: u32 = 1 << 12;
const NARROW: u32 = 1 << 13;
const ROUND_SHIFT: u32 = 14;

/// A write that no later access is held against: whoever may touch what a bulk copy writes is known elsewhere.
const SETTLED: Entry = Entry { block: u32::MAX, tick: 1, warps: 0, who: 0, site: 0 };

/// Accesses that are remembered together. `tick` 0 is nothing.
#[derive(Clone, Copy, Default, Debug)]
struct Entry {
    block: u32,
    tick: u32,
    /// The warps (reads), or one bit.
    warps: u32,
    /// The last of them: lane, warp, whether atomic and among the block only, and the warp's round.
    who: u32,
    site: u32,
}

#[derive(Clone, Copy, Default, Debug)]
struct Cell {
    write: Entry,
    read: Entry,
    /// One more than the index of the first node of the list; 0 is no list.
    list: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    entry: Entry,
    write: bool,
    next: u32,
}

#[derive(Debug)]
struct Page {
    /// Whose contents these are; shared memory is reused by one block after another.
    owner: u32,
    /// log2 of the bytes of a cell.
    shift: u32,
    cells: Vec<Cell>,
}

/// The shadow of one piece of memory.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<Page>>>,
    nodes: Nodes,
}

#[derive(Debug, Default)]
struct Nodes {
    all: Vec<Node>,
    free: Vec<u32>,
    /// Where pages and nodes get their memory.
    room: Room,
}

/// Who makes an access, and what it knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accessor<'a> {
    pub(super) block: u32,
    pub(super) warp: u32,
    pub(super) tick: u32,
    pub(super) site: u32,
    pub(super) floor: u32,
    pub(super) own: &'a [u32],
    pub(super) others: &'a Clock,
    /// The pages' owner: the block for shared memory, 0 for global memory.
    pub(super) owner: u32,
    pub(super) atomic: bool,
    /// Whether the atomic is one among the block's threads only.
    pub(super) narrow: bool,
    /// Whether a read of what nothing wrote is a fault.
    pub(super) must_be_written: bool,
    /// Everything of [`Entry::who`] but the lane.
    pub(super) tag: u32,
}

/// What an access collided with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Conflict {
    /// Byte of the memory.
    pub(super) offset: usize,
    /// The lane that made the access.
    pub(super) lane: u32,
    /// The earlier access, or none if the byte was never written.
    pub(super) prior: Option<Prior>,
    /// Whether both are stores, of one value.
    pub(super) equal: bool,
}

/// The earlier access of a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Prior {
    pub(super) block: u32,
    pub(super) warp: u32,
    pub(super) lane: Option<u32>,
    pub(super) site: u32,
    pub(super) write: bool,
}

impl Accessor<'_> {
    /// The tag of an access: set [`Accessor::tag`] to it.
    pub(super) fn tag(warp: u32, rounds: u32, atomic: bool, narrow: bool) -> u32 {
        let mut tag = warp << WARP_SHIFT | rounds << ROUND_SHIFT;
        if atomic {
            tag |= ATOMIC;
        }
        if narrow { tag | NARROW } else { tag }
    }

    fn who(&self, lane: u32) -> u32 {
        self.tag | lane
    }

    fn entry(&self, lane: u32) -> Entry {
        Entry {
            block: self.block,
            tick: self.tick,
            warps: 1 << self.warp,
            who: self.who(lane),
            site: self.site,
        }
    }

    /// Whether everything in the entry, lanes of this warp aside, happened before.
    fn is_after(&self, entry: &Entry) -> bool {
        if entry.block == self.block && entry.tick <= self.floor {
            return true;
        }
        bits(entry.warps).all(|warp| self.is_after_warp(entry, warp))
    }

    /// Whether whatever races with the entry would also race with this access, were it not ordered:
    /// a plain access collides with more than an atomic, one among the block with more than a wide
    /// one.
    fn covers(&self, entry: &Entry) -> bool {
        let (atomic, narrow) = (entry.who & ATOMIC != 0, entry.who & NARROW != 0);
        !self.atomic || atomic && (self.narrow || !narrow)
    }

    fn is_after_warp(&self, entry: &Entry, warp: u32) -> bool {
        if entry.block == self.block {
            warp == self.warp || self.own.get(warp as usize).is_some_and(|&t| entry.tick <= t)
        } else {
            entry.tick <= self.others.tick(entry.block, warp)
        }
    }

    /// The warp (and lane) of an entry that races with this access, if any; one of the two writes.
    fn races(&self, entry: &Entry, prior_writes: bool, writes: bool, lane: u32) -> Option<Prior> {
        if entry.tick == 0 {
            return None;
        }
        if self.atomic && entry.who & ATOMIC != 0 {
            let together = entry.block == self.block || !self.narrow && entry.who & NARROW == 0;
            if together {
                return None;
            }
        }
        let prior = |warp, lane| {
            let Entry { block, site, .. } = *entry;
            Some(Prior { block, warp, lane, site, write: prior_writes })
        };
        let prior_lane = entry.who & LANE;
        let named = (prior_lane != SEVERAL).then_some(prior_lane);
        let last = (entry.who >> WARP_SHIFT) & 31;
        if entry.block == self.block && last == self.warp {
            let same_round = (entry.who ^ self.who(0)) >> ROUND_SHIFT == 0;
            // Lanes that wrote one value together may all read it back.
            let shared_write =
                prior_lane == SEVERAL && prior_writes && !writes && entry.who & ATOMIC == 0;
            let other_lane = prior_lane != lane || lane == SEVERAL;
            if same_round && other_lane && !shared_write {
                return prior(last, named);
            }
        }
        if entry.block == self.block && entry.tick <= self.floor {
            return None;
        }
        let warp = bits(entry.warps).find(|&warp| !self.is_after_warp(entry, warp))?;
        prior(warp, if warp == last { named } else { None })
    }
}

fn bits(mut mask: u32) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(bit)
    })
}

impl Shadow {
    /// A shadow that takes its memory from a room, and remembers nothing more once that is full.
    pub(super) fn within(room: &Room) -> Self {
        let nodes = Nodes { room: room.clone(), ..Nodes::default() };
        Self { pages: Vec::new(), nodes }
    }

    /// Remembers a read or write of `bytes` bytes by one lane (or by [`SEVERAL`]), and says what it
    /// collided with.
    #[inline]
    pub(super) fn access(
        &mut self,
        accessor: &Accessor<'_>,
        writes: bool,
        offset: usize,
        bytes: u32,
        lane: u32,
        conflicts: &mut Vec<Conflict>,
    ) {
        let place = (offset, bytes);
        self.remember(accessor, place, lane, writes.then_some(&|_, _| false), conflicts);
    }

    /// What an access would collide with, without being remembered.
    pub(super) fn probe(
        &self,
        accessor: &Accessor<'_>,
        writes: bool,
        (offset, bytes): (usize, u32),
        lane: u32,
        conflicts: &mut Vec<Conflict>,
    ) {
        let mut at = offset;
        while at < offset + bytes as usize {
            let page = self.pages.get(at >> PAGE).and_then(Option::as_ref);
            let page = page.filter(|page| page.owner == accessor.owner);
            let cell = page.map(|page| {
                let inside = at & ((1 << PAGE) - 1);
                (page.cells[inside >> page.shift], 1 << page.shift)
            });
            let (cell, size) = cell.unwrap_or((Cell::default(), 4));
            let conflict = |prior| Conflict { offset: at, lane, prior, equal: false };
            if cell.write.tick == 0 && !writes && accessor.must_be_written {
                note(conflicts, conflict(None));
            }
            let mut prior = accessor.races(&cell.write, true, writes, lane);
            if writes {
                prior = prior.or_else(|| accessor.races(&cell.read, false, true, lane));
            }
            let mut at_node = cell.list;
            while let Some(node) = self.nodes.all.get(at_node.wrapping_sub(1) as usize) {
                if writes || node.write {
                    let other = || accessor.races(&node.entry, node.write, writes, lane);
                    prior = prior.or_else(other);
                }
                at_node = node.next;
            }
            if prior.is_some() {
                note(conflicts, conflict(prior));
            }
            at += size;
        }
    }

    /// Remembers bytes, whole words of four, as written; what was done to them before is forgotten.
    pub(super) fn settle(&mut self, owner: u32, offset: usize, bytes: u32) {
        let (mut at, end) = (offset, offset + bytes as usize);
        while at < end {
            let Some(page) = page(&mut self.pages, &mut self.nodes, at >> PAGE, owner) else {
                return;
            };
            let inside = at & ((1 << PAGE) - 1);
            let here = (end - at).min((1 << PAGE) - inside);
            for cell in &mut page.cells[inside >> page.shift..(inside + here) >> page.shift] {
                self.nodes.forget(cell);
                *cell = Cell { write: SETTLED, ..Cell::default() };
            }
            at += here;
        }
    }

    /// As [`access`](Self::access), of a store; `leaves` says whether it leaves so many bytes from an offset
    /// on as they are.
    #[inline]
    pub(super) fn store(
        &mut self,
        accessor: &Accessor<'_>,
        offset: usize,
        bytes: u32,
        lane: u32,
        leaves: impl Fn(usize, usize) -> bool,
        conflicts: &mut Vec<Conflict>,
    ) {
        self.remember(accessor, (offset, bytes), lane, Some(&leaves), conflicts);
    }

    #[inline]
    fn remember(
        &mut self,
        accessor: &Accessor<'_>,
        (offset, bytes): (usize, u32),
        lane: u32,
        leaves: Option<&impl Fn(usize, usize) -> bool>,
        conflicts: &mut Vec<Conflict>,
    ) {
        let (mut offset, end) = (offset, offset + bytes as usize);
        while offset < end {
            let page_end = ((offset >> PAGE) + 1) << PAGE;
            let here = end.min(page_end) - offset;
            let (pages, nodes) = (&mut self.pages, &mut self.nodes);
            let Some(page) = page(pages, nodes, offset >> PAGE, accessor.owner) else { return };
            let shift = (offset | here).trailing_zeros().min(2);
            if page.shift > shift && !page.split(nodes, shift) {
                return;
            }
            let shift = page.shift;
            let inside = offset & ((1 << PAGE) - 1);
            let cells = (inside >> shift)..((inside + here) >> shift);
            let base = offset - inside;
            let first = cells.start;
            for (index, cell) in page.cells[cells].iter_mut().enumerate() {
                let at = base + ((first + index) << shift);
                if let Some(leaves) = leaves {
                    let leaves = || leaves(at, 1 << shift);
                    nodes.write(cell, accessor, at, lane, leaves, conflicts);
                } else {
                    nodes.read(cell, accessor, at, lane, conflicts);
                }
            }
            offset += here;
        }
    }
}

/// The page of some bytes, for its owner from now on; none where there is no room for it.
#[inline]
fn page<'a>(
    pages: &'a mut Vec<Option<Box<Page>>>,
    nodes: &mut Nodes,
    index: usize,
    owner: u32,
) -> Option<&'a mut Page> {
    if pages.len() <= index {
        pages.resize_with(index + 1, || None);
    }
    let slot = &mut pages[index];
    if slot.is_none() {
        let cells = 1 << (PAGE - 2);
        if !nodes.room.take(cells * size_of::<Cell>()) {
            return None;
        }
        *slot = Some(Box::new(Page { owner, shift: 2, cells: vec![Cell::default(); cells] }));
    }
    let page = slot.as_mut()?;
    if page.owner != owner {
        for cell in &mut page.cells {
            nodes.forget(cell);
            *cell = Cell::default();
        }
        page.owner = owner;
    }
    Some(page)
}

impl Page {
    /// Cuts the cells into smaller ones, each with the memories of the one it came from; false where there
    /// is no room for them.
    fn split(&mut self, nodes: &mut Nodes, shift: u32) -> bool {
        let parts = 1usize << (self.shift - shift);
        if !nodes.room.take((parts - 1) * size_of_val(&*self.cells)) {
            return false;
        }
        let mut cells = Vec::with_capacity(self.cells.len() * parts);
        for cell in &self.cells {
            cells.push(*cell);
            for _ in 1..parts {
                cells.push(Cell { list: nodes.copy(cell.list), ..*cell });
            }
        }
        self.cells = cells;
        self.shift = shift;
        true
    }
}

impl Nodes {
    #[inline]
    fn read(
        &mut self,
        cell: &mut Cell,
        by: &Accessor<'_>,
        at: usize,
        lane: u32,
        conflicts: &mut Vec<Conflict>,
    ) {
        let write = &cell.write;
        let quiet = if write.tick == 0 {
            !by.must_be_written
        } else {
            write.block == by.block && write.tick <= by.floor
        };
        if quiet && cell.list == 0 && !by.atomic {
            let read = &mut cell.read;
            if read.tick == 0 || read.block == by.block && read.tick <= by.floor {
                *read = by.entry(lane);
                return;
            }
            if read.block == by.block && read.tick == by.tick && read.who & ATOMIC == 0 {
                merge(read, by, lane);
                return;
            }
        }
        self.read_slowly(cell, by, at, lane, conflicts);
    }

    #[inline]
    fn write(
        &mut self,
        cell: &mut Cell,
        by: &Accessor<'_>,
        at: usize,
        lane: u32,
        leaves: impl Fn() -> bool,
        conflicts: &mut Vec<Conflict>,
    ) {
        let ordered = |e: &Entry| e.tick == 0 || e.block == by.block && e.tick <= by.floor;
        if cell.list == 0 && !by.atomic && ordered(&cell.write) && ordered(&cell.read) {
            cell.write = by.entry(lane);
            cell.read.tick = 0;
            return;
        }
        let equal = !by.atomic && leaves();
        self.write_slowly(cell, by, at, lane, equal, conflicts);
    }

    #[inline(never)]
    fn read_slowly(
        &mut self,
        cell: &mut Cell,
        by: &Accessor<'_>,
        at: usize,
        lane: u32,
        conflicts: &mut Vec<Conflict>,
    ) {
        if cell.write.tick == 0 && by.must_be_written {
            note(conflicts, Conflict { offset: at, lane, prior: None, equal: false });
        }
        let mut prior = by.races(&cell.write, true, false, lane);
        let mut at_node = cell.list;
        let mut length = 0;
        let mut merged = false;
        while let Some(node) = self.all.get_mut(at_node.wrapping_sub(1) as usize) {
            if node.write {
                prior = prior.or_else(|| by.races(&node.entry, true, false, lane));
            } else if joins(&node.entry, by) {
                merge(&mut node.entry, by, lane);
                merged = true;
            }
            length += 1;
            at_node = node.next;
        }
        if let Some(prior) = prior {
            note(conflicts, Conflict { offset: at, lane, prior: Some(prior), equal: false });
        }
        if merged {
            return;
        }
        if joins(&cell.read, by) {
            merge(&mut cell.read, by, lane);
        } else if cell.read.tick == 0
            || by.covers(&cell.read) && by.is_after(&cell.read) && !self_lanes(&cell.read, by)
        {
            cell.read = by.entry(lane);
        } else if length < LIST {
            let entry = core::mem::replace(&mut cell.read, by.entry(lane));
            self.push(cell, entry, false);
        }
    }

    #[inline(never)]
    fn write_slowly(
        &mut self,
        cell: &mut Cell,
        by: &Accessor<'_>,
        at: usize,
        lane: u32,
        equal: bool,
        conflicts: &mut Vec<Conflict>,
    ) {
        // The stores of the same value that nothing orders with this one.
        let mut equals: SmallVec<[Entry; 4]> = SmallVec::new();
        let mut note_race = |entry: &Entry, write: bool, conflicts: &mut Vec<Conflict>| {
            if let Some(prior) = by.races(entry, write, true, lane) {
                let equal = equal && write && entry.who & ATOMIC == 0;
                if equal {
                    equals.push(*entry);
                }
                note(conflicts, Conflict { offset: at, lane, prior: Some(prior), equal });
            }
        };
        note_race(&cell.write, true, conflicts);
        note_race(&cell.read, false, conflicts);
        if cell.write.tick == 0 && by.atomic && by.must_be_written {
            note(conflicts, Conflict { offset: at, lane, prior: None, equal: false });
        }
        let mut at_node = cell.list;
        let mut length = 0;
        while let Some(node) = self.all.get(at_node.wrapping_sub(1) as usize) {
            note_race(&node.entry, node.write, conflicts);
            length += 1;
            at_node = node.next;
        }
        if by.atomic {
            // What may race with a later atomic, although not with this one, is kept.
            let before = cell.write;
            if before.tick != 0 && joins(&before, by) {
                merge(&mut cell.write, by, lane);
                return;
            }
            let replaced = by.covers(&before) && by.is_after(&before);
            if before.tick != 0 && !replaced && length < LIST {
                self.push(cell, before, true);
            }
            cell.write = by.entry(lane);
            return;
        }
        self.forget(cell);
        cell.write = by.entry(lane);
        cell.read.tick = 0;
        // What races with one of several equal stores need not race with the last of them.
        for mut entry in equals.into_iter().take(LIST) {
            if joins(&entry, by) {
                merge(&mut entry, by, lane);
                cell.write = entry;
            } else {
                self.push(cell, entry, true);
            }
        }
    }

    fn push(&mut self, cell: &mut Cell, entry: Entry, write: bool) {
        let node = Node { entry, write, next: cell.list };
        let index = match self.free.pop() {
            Some(index) => {
                self.all[index as usize] = node;
                index
            }
            None if self.room.take(size_of::<Node>()) => {
                self.all.push(node);
                self.all.len() as u32 - 1
            }
            None => return,
        };
        cell.list = index + 1;
    }

    /// Gives a cell's list back.
    fn forget(&mut self, cell: &mut Cell) {
        while let Some(node) = self.all.get(cell.list.wrapping_sub(1) as usize) {
            self.free.push(cell.list - 1);
            cell.list = node.next;
        }
        cell.list = 0;
    }

    /// A copy of a list.
    fn copy(&mut self, list: u32) -> u32 {
        let mut copy = Cell::default();
        let mut at = list;
        while let Some(&node) = self.all.get(at.wrapping_sub(1) as usize) {
            self.push(&mut copy, node.entry, node.write);
            at = node.next;
        }
        copy.list
    }
}

/// Whether an access of the same sort belongs into an entry.
fn joins(entry: &Entry, by: &Accessor<'_>) -> bool {
    entry.block == by.block
        && entry.tick == by.tick
        && (entry.who ^ by.who(0)) & (ATOMIC | NARROW) == 0
}

fn merge(entry: &mut Entry, by: &Accessor<'_>, lane: u32) {
    let who = by.who(lane);
    // Apart from the lane the same warp in the same round: more than one lane, if not this one.
    entry.who = if entry.who ^ who != 0 && (entry.who ^ who) & !LANE == 0 {
        (who & !LANE) | SEVERAL
    } else {
        who
    };
    entry.warps |= 1 << by.warp;
    entry.site = by.site;
}

/// Whether an entry tells of lanes of this very warp in this round.
fn self_lanes(entry: &Entry, by: &Accessor<'_>) -> bool {
    entry.block == by.block && (entry.who ^ by.who(0)) & !(LANE | ATOMIC | NARROW) == 0
}

/// Adds a conflict unless one with the same place in the program is there.
fn note(conflicts: &mut Vec<Conflict>, conflict: Conflict) {
    let site =
        |conflict: &Conflict| conflict.prior.map(|prior| (prior.site, prior.write, conflict.equal));
    if !conflicts.iter().any(|known| site(known) == site(&conflict)) {
        conflicts.push(conflict);
    }
}
