//! Loads, stores and atomics of one warp.

mod boxes;
pub(super) mod copies;
mod matrix;
pub(super) mod phases;
pub(super) mod products;
pub(super) mod proxies;
pub(super) mod transfers;

use super::EqualStores;
use super::clock::Knowledge;
use super::count::{MAX_LANES, Pattern};
use super::program::{Code, MemoryOp, Row};
use super::report::{AccessKind, Actor, FindingKind, reaches_other_blocks};
use super::schedule::{Block, World};
use super::shadow::{Accessor, Conflict, SEVERAL, Shadow};
use super::warp::{Warp, lanes_of, row, truth};
use crate::lane::{OFFSET_BYTES, Space};
use crate::memory::Memory;
use smallvec::{SmallVec, smallvec};

/// A memory that an access falls into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hit {
    Shared,
    Buffer(usize),
}

/// The memories that an access falls into, with the lanes that touch each. Nearly always one.
type Hits = SmallVec<[(Hit, u64); 1]>;

/// Runs a load of the active lanes, and checks what it reads.
pub(super) fn load(warp: &mut Warp, block: &mut Block, world: &mut World<'_>, index: u32) {
    let code = world.code;
    let op = &code.memory[index as usize];
    if let Some(matrix) = op.matrix {
        return matrix::load(warp, block, world, index, matrix);
    }
    let lanes = code.lanes as usize;
    let (addresses, active) = addresses(warp, world, op);
    if op.predicate.is_some() {
        for (&result, &other) in op.results.iter().zip(&op.values) {
            for lane in lanes_of(warp.mask & !active) {
                let bits = row(&warp.registers, &code.constants, other, lanes)[lane];
                warp.registers[result as usize + lane] = bits;
            }
        }
    }
    let Some((pattern, places)) = locate(warp, block, world, index, &addresses, active) else {
        return;
    };
    if pattern.active != active {
        for &result in &op.results {
            for lane in lanes_of(active & !pattern.active) {
                warp.registers[result as usize + lane] = 0;
            }
        }
    }
    let uniform = pattern.lowest == pattern.highest && pattern.active.count_ones() > 1;
    for (place, mask) in places {
        let accessor = accessor(&warp.knowledge, warp.index, block, world, index, place, true);
        let (bytes, shadow, base) = place_of(place, block, world.memory, &mut world.shadows);
        let conflicts = &mut world.conflicts;
        if uniform {
            let offset = (pattern.lowest - base) as usize;
            shadow.access(&accessor, false, offset, op.bytes, SEVERAL, conflicts);
        } else {
            for lane in lanes_of(mask) {
                let offset = (pattern.addresses[lane] - base) as usize;
                shadow.access(&accessor, false, offset, op.bytes, lane as u32, conflicts);
            }
        }
        for (element, &result) in op.results.iter().enumerate() {
            let dst = &mut warp.registers[result as usize..result as usize + lanes];
            let base = base.wrapping_sub(element as u64 * u64::from(op.size));
            match op.size {
                1 => gather::<1>(dst, bytes, &pattern, mask, base),
                2 => gather::<2>(dst, bytes, &pattern, mask, base),
                4 => gather::<4>(dst, bytes, &pattern, mask, base),
                _ => gather::<8>(dst, bytes, &pattern, mask, base),
            }
        }
        note_read(warp, block, index, place, &pattern, mask);
        report_conflicts(warp, block, world, index, place);
    }
}

/// Runs a store. Where several lanes write one byte, the highest lane wins.
pub(super) fn store(warp: &mut Warp, block: &mut Block, world: &mut World<'_>, index: u32) {
    let code = world.code;
    let op = &code.memory[index as usize];
    if let Some(matrix) = op.matrix {
        return matrix::store(warp, block, world, index, matrix);
    }
    let lanes = code.lanes as usize;
    let (addresses, active) = addresses(warp, world, op);
    let Some((pattern, places)) = locate(warp, block, world, index, &addresses, active) else {
        return;
    };
    // One lane for each place that several lanes write; the lanes that do so together.
    let (mut alone, mut together) = (pattern.active, 0);
    if !pattern.disjoint {
        (alone, together) = overlaps(warp, block, world, op, &pattern);
    }
    for (place, mask) in places {
        let accessor = accessor(&warp.knowledge, warp.index, block, world, index, place, false);
        let is_equal = op.space == Space::Global && may_be_equal(world, op);
        let (bytes, shadow, base) = place_of(place, block, world.memory, &mut world.shadows);
        for lane in lanes_of(mask & (alone | together)) {
            let offset = (pattern.addresses[lane] - base) as usize;
            let who = if together >> lane & 1 == 1 { SEVERAL } else { lane as u32 };
            let leaves = |at: usize, count: usize| {
                let byte = |at| stored(op, &warp.registers, code, lane, at - offset);
                is_equal && (at..at + count).all(|at| bytes.get(at) == Some(&byte(at)))
            };
            shadow.store(&accessor, offset, op.bytes, who, leaves, &mut world.conflicts);
        }
        let mut changed = world.changed;
        for (element, &value) in op.values.iter().enumerate() {
            let src = row(&warp.registers, &code.constants, value, lanes);
            let base = base.wrapping_sub(element as u64 * u64::from(op.size));
            changed |= match op.size {
                1 => scatter::<1>(src, bytes, &pattern, mask, base),
                2 => scatter::<2>(src, bytes, &pattern, mask, base),
                4 => scatter::<4>(src, bytes, &pattern, mask, base),
                _ => scatter::<8>(src, bytes, &pattern, mask, base),
            };
        }
        world.changed = changed;
        note_written(warp, block, index, place, &pattern, mask);
        report_conflicts(warp, block, world, index, place);
    }
}

/// Whether equal stores of an operation are no race.
fn may_be_equal(world: &World<'_>, op: &MemoryOp) -> bool {
    // In shared memory lanes of one instruction may, which hold copies by the compiler's layouts.
    op.space == Space::Shared || world.launch.options.equal_stores == EqualStores::Note
}

/// The byte that a lane stores so many bytes behind its address.
fn stored(op: &MemoryOp, registers: &[u64], code: &Code, lane: usize, behind: usize) -> u8 {
    let (element, byte) = (behind / op.size as usize, behind % op.size as usize);
    let value = op.values.get(element);
    let value = value.map(|&value| row(registers, &code.constants, value, code.lanes as usize));
    value.map_or(0, |row| row[lane].to_le_bytes()[byte])
}

/// Remembers who wrote shared memory, for those who read it through another proxy.
fn note_written(
    warp: &Warp,
    block: &mut Block,
    index: u32,
    place: Hit,
    pattern: &Pattern,
    mask: u64,
) {
    if place != Hit::Shared || !block.proxies.are_watched() {
        return;
    }
    for lane in lanes_of(mask) {
        let who = (warp.index, lane as u32, index);
        let offset = pattern.addresses[lane] as usize;
        block.proxies.write(who, block.tick, offset, pattern.bytes);
    }
}

/// Remembers who read shared memory, for those who overwrite it through another proxy.
fn note_read(warp: &Warp, block: &mut Block, index: u32, place: Hit, pattern: &Pattern, mask: u64) {
    if place != Hit::Shared || !block.proxies.are_reads_watched() {
        return;
    }
    for lane in lanes_of(mask) {
        let offset = pattern.addresses[lane] as usize;
        block.proxies.read((warp.index, index), block.tick, offset, pattern.bytes);
    }
}

/// Runs an atomic, lane after lane from the lowest, in each element after element.
pub(super) fn atomic(warp: &mut Warp, block: &mut Block, world: &mut World<'_>, index: u32) {
    let code = world.code;
    let op = &code.memory[index as usize];
    let Some(atomic) = op.atomic else { return };
    let Some((what, dtype)) = atomic.op else { return };
    let lanes = code.lanes as usize;
    let (addresses, active) = addresses(warp, world, op);
    let Some((pattern, places)) = locate(warp, block, world, index, &addresses, active) else {
        return;
    };
    let releases = |place: Hit, block: &mut Block, world: &mut World<'_>| match place {
        Hit::Shared => core::mem::take(&mut block.releases),
        Hit::Buffer(_) => core::mem::take(&mut world.releases),
    };
    for (place, mask) in places {
        let mut released = releases(place, block, world);
        for address in addresses_of(op, &pattern, mask) {
            if atomic.order.acquires() {
                released.acquire(address, atomic.scope, block.index, &mut warp.knowledge);
            } else {
                warp.fences.meet(&released, address, atomic.scope, block.index);
            }
        }
        let accessor = accessor(&warp.knowledge, warp.index, block, world, index, place, true);
        let (bytes, shadow, base) = place_of(place, block, world.memory, &mut world.shadows);
        // A compare-and-swap that fails is a read.
        let mut writes = 0u64;
        for lane in lanes_of(mask) {
            let start = (pattern.addresses[lane] - base) as usize;
            for element in 0..op.elements() {
                let registers = &warp.registers;
                let operand =
                    |index: usize| row(registers, &code.constants, op.values[index], lanes)[lane];
                let offset = start + element * op.size as usize;
                let old = match op.size {
                    1 => read::<1>(bytes, offset),
                    2 => read::<2>(bytes, offset),
                    4 => read::<4>(bytes, offset),
                    _ => read::<8>(bytes, offset),
                };
                let new = what.apply(dtype, old, |value| operand(value * op.elements() + element));
                let is_write = new.is_some();
                writes |= u64::from(is_write) << lane;
                let conflicts = &mut world.conflicts;
                shadow.access(&accessor, is_write, offset, op.size, lane as u32, conflicts);
                if let Some(new) = new {
                    world.changed |= match op.size {
                        1 => write::<1>(bytes, offset, new),
                        2 => write::<2>(bytes, offset, new),
                        4 => write::<4>(bytes, offset, new),
                        _ => write::<8>(bytes, offset, new),
                    };
                }
                if let Some(&result) = op.results.get(element) {
                    warp.registers[result as usize + lane] = old;
                }
            }
        }
        let by = (block.index, warp.index, block.tick);
        for address in addresses_of(op, &pattern, writes) {
            if atomic.order.releases() {
                released.release(address, atomic.scope, by, &warp.knowledge);
            } else {
                warp.fences.publish(&mut released, address, atomic.scope, (by.0, by.1));
            }
        }
        block.tick += u32::from(atomic.order.releases() && writes != 0);
        note_written(warp, block, index, place, &pattern, writes);
        match place {
            Hit::Shared => block.releases = released,
            Hit::Buffer(_) => world.releases = released,
        }
        report_conflicts(warp, block, world, index, place);
    }
}

/// The addresses of the elements that some lanes update atomically, one for neighbouring lanes that share it.
fn addresses_of<'a>(
    op: &MemoryOp,
    pattern: &'a Pattern,
    lanes: u64,
) -> impl Iterator<Item = u64> + use<'a> {
    let (size, elements) = (u64::from(op.size), op.elements() as u64);
    let mut last = None;
    lanes_of(lanes)
        .map(|lane| pattern.addresses[lane])
        .filter(move |&address| last.replace(address) != Some(address))
        .flat_map(move |address| (0..elements).map(move |element| address + element * size))
}

/// The addresses of an access, and the lanes that make it.
#[inline]
fn addresses(warp: &Warp, world: &World<'_>, op: &MemoryOp) -> ([u64; MAX_LANES], u64) {
    let code = world.code;
    let lanes = code.lanes as usize;
    let mut active = warp.mask;
    if let Some(predicate) = op.predicate {
        active &= truth(row(&warp.registers, &code.constants, predicate, lanes));
    }
    let mut addresses = [0; MAX_LANES];
    let source = row(&warp.registers, &code.constants, op.address, lanes);
    let offset = i64::from(op.offset) as u64;
    let wrap = match op.space {
        Space::Global => u64::MAX,
        Space::Shared => 0xffff_ffff,
    };
    for (to, &from) in addresses.iter_mut().zip(source) {
        *to = from.wrapping_add(offset) & wrap;
    }
    (addresses, active)
}

/// Checks where an access goes, reports what goes nowhere, and counts the rest. The pattern that
/// comes back has only lanes that go somewhere; none if there are none.
#[inline]
fn locate(
    warp: &mut Warp,
    block: &Block,
    world: &mut World<'_>,
    index: u32,
    addresses: &[u64; MAX_LANES],
    active: u64,
) -> Option<(Pattern, Hits)> {
    if active == 0 {
        return None;
    }
    let op = &world.code.memory[index as usize];
    warp.last_memory = Some(op.inst);
    let mut pattern = Pattern::new(addresses, active, op.bytes);
    if let Some(base) = op.base {
        check_base(warp, block, world, op, &pattern, base);
    }
    let unaligned = lanes_of(active).fold(0, |bits, lane| bits | addresses[lane]);
    if unaligned & u64::from(op.bytes - 1) != 0 {
        report_misaligned(warp, block, world, op, &pattern);
    }
    let end = pattern.highest.saturating_add(u64::from(op.bytes));
    let mut places: Hits = smallvec![];
    match op.space {
        Space::Shared if end <= block.shared.len() as u64 => places.push((Hit::Shared, active)),
        Space::Shared => {
            let size = block.shared.len() as u64;
            let inside = |address: u64| address + u64::from(op.bytes) <= size;
            let good = lanes_of(active)
                .filter(|&lane| inside(addresses[lane]))
                .fold(0, |mask, lane| mask | 1 << lane);
            let bad = (active & !good).trailing_zeros();
            let address = addresses[bad as usize % MAX_LANES] as u32;
            report_outside(warp, block, world, op, bad, || {
                let bytes = op.bytes;
                let at = if address as i32 >= 0 {
                    address.to_string()
                } else {
                    (address as i32).to_string()
                };
                format!("{bytes} bytes at byte {at} of shared memory, of which a block has {size}")
            });
            places.push((Hit::Shared, good));
            if good == 0 {
                return None;
            }
            pattern = Pattern::new(addresses, good, op.bytes);
        }
        Space::Global => {
            let lowest = world.memory.locate(pattern.lowest, op.bytes);
            let highest = world.memory.locate(pattern.highest, op.bytes);
            match (lowest, highest) {
                (Ok((one, _)), Ok((other, _))) if one == other => {
                    places.push((Hit::Buffer(one), active));
                }
                _ => {
                    let mut good = 0;
                    for lane in lanes_of(active) {
                        match world.memory.locate(addresses[lane], op.bytes) {
                            Ok((buffer, _)) => {
                                good |= 1 << lane;
                                let place = Hit::Buffer(buffer);
                                match places.iter_mut().find(|known| known.0 == place) {
                                    Some(known) => known.1 |= 1 << lane,
                                    None => places.push((place, 1 << lane)),
                                }
                            }
                            Err(error) => {
                                let first = active & !good & ((1 << lane) - 1) == 0;
                                if first {
                                    let message = || error.to_string();
                                    report_outside(warp, block, world, op, lane as u32, message);
                                }
                            }
                        }
                    }
                    if good == 0 {
                        return None;
                    }
                    if good != active {
                        pattern = Pattern::new(addresses, good, op.bytes);
                    }
                }
            }
        }
    }
    if world.accesses[index as usize].kind != AccessKind::Load {
        let writable = report_read_only(warp, block, world, index, &pattern, &mut places);
        if writable == 0 {
            return None;
        }
        if writable != pattern.active {
            pattern = Pattern::new(addresses, writable, op.bytes);
        }
    }
    match op.space {
        Space::Shared => {
            copies::check(warp, block, world, index, &pattern);
            transfers::check(warp, block, world, index, &pattern);
            if world.accesses[index as usize].kind != AccessKind::Load {
                products::check_written(warp, block, world, index, &pattern);
            }
        }
        Space::Global => copies::check_written(warp, block, world, index, &pattern, &places),
    }
    let op = &world.code.memory[index as usize];
    let access = &mut world.accesses[index as usize];
    let (cost, ideal) = match op.space {
        Space::Shared if op.matrix.is_some() => world.wavefronts.count_rows(&pattern),
        Space::Global => pattern.sectors(world.launch.machine.sector_bytes),
        Space::Shared => world.wavefronts.count(&pattern, access.kind),
    };
    access.executions += 1;
    access.lanes += u64::from(pattern.active.count_ones());
    access.cost += cost;
    access.ideal += ideal;
    Some((pattern, places))
}

/// The bytes of a place, their shadow, and the address of the first.
#[inline]
fn place_of<'a>(
    place: Hit,
    block: &'a mut Block,
    memory: &'a mut Memory,
    shadows: &'a mut [Shadow],
) -> (&'a mut [u8], &'a mut Shadow, u64) {
    match place {
        Hit::Shared => (&mut block.shared, &mut block.shadow, 0),
        Hit::Buffer(index) => (memory.bytes_mut(index), &mut shadows[index], Memory::base(index)),
    }
}

/// The warp as the shadow knows it.
#[inline]
fn accessor<'a>(
    knowledge: &'a Knowledge,
    warp: u32,
    block: &Block,
    world: &World<'_>,
    index: u32,
    place: Hit,
    reads: bool,
) -> Accessor<'a> {
    let op = &world.code.memory[index as usize];
    let atomic = op.atomic.is_some() || op.volatile;
    let narrow = op.atomic.is_some_and(|atomic| !reaches_other_blocks(atomic.scope));
    Accessor {
        block: block.index,
        warp,
        tick: block.tick,
        site: index,
        floor: knowledge.floor,
        own: &knowledge.own,
        others: &knowledge.others,
        owner: if place == Hit::Shared { block.index } else { 0 },
        atomic,
        narrow,
        must_be_written: reads
            && match place {
                Hit::Shared => true,
                Hit::Buffer(index) => world.must_be_written[index],
            },
        tag: Accessor::tag(warp, knowledge.rounds, atomic, narrow),
    }
}

/// Finds lanes of a store that write common bytes: those that write alone, and one for each group
/// that writes the same value together. Groups with different values are reported.
fn overlaps(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    op: &MemoryOp,
    pattern: &Pattern,
) -> (u64, u64) {
    let code = world.code;
    let (mut alone, mut together) = (0u64, 0u64);
    let mut before: Option<(usize, u64)> = None;
    for (lane, address) in pattern.by_address() {
        match before {
            Some((first, at)) if address - at < u64::from(op.bytes) => {
                alone &= !(1 << first);
                together |= 1 << first;
                let apart = (address - at) as usize;
                let byte = |lane, behind| stored(op, &warp.registers, code, lane, behind);
                let same = (apart..op.bytes as usize)
                    .all(|behind| byte(first, behind) == byte(lane, behind - apart));
                let kind = match (same && may_be_equal(world, op), op.space) {
                    (true, Space::Shared) => continue,
                    (true, Space::Global) => FindingKind::EqualStores,
                    (false, _) => FindingKind::Race,
                };
                let actor = world.actor(block, warp.index, Some(lane as u32), op.inst);
                let other = world.actor(block, warp.index, Some(first as u32), op.inst);
                let told =
                    if kind == FindingKind::Race { &mut world.findings } else { &mut world.notes };
                told.add(kind, actor, Some(other), || {
                    let what = if same { "the same value" } else { "different values" };
                    format!("lanes {first} and {lane} store {what} to one byte")
                });
            }
            _ => {
                alone |= 1 << lane;
                before = Some((lane, address));
            }
        }
    }
    (alone, together)
}

/// Takes the buffers that may only be read from those that are written, and tells of them; returns the lanes
/// that are left.
fn report_read_only(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    index: u32,
    pattern: &Pattern,
    places: &mut Hits,
) -> u64 {
    let op = &world.code.memory[index as usize];
    let is_read_only = |memory: &Memory, place: &Hit| match *place {
        Hit::Buffer(buffer) => memory.is_read_only(buffer),
        Hit::Shared => false,
    };
    for (place, mask) in &*places {
        if let Hit::Buffer(buffer) = *place
            && world.memory.is_read_only(buffer)
        {
            let lane = mask.trailing_zeros();
            let offset = pattern.addresses[lane as usize % MAX_LANES] - Memory::base(buffer);
            let name = &world.memory.buffers()[buffer].name;
            let message =
                format!("{} bytes at byte {offset} of `{name}`, which is read-only", op.bytes);
            let actor = world.actor(block, warp.index, Some(lane), op.inst);
            world.findings.add(FindingKind::ReadOnly, actor, None, || message);
        }
    }
    places.retain(|(place, _)| !is_read_only(world.memory, place));
    places.iter().fold(0, |lanes, (_, mask)| lanes | mask)
}

/// Checks an access by a base and offsets: lanes have the base in common, and none goes further from it than an
/// offset reaches.
fn check_base(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    op: &MemoryOp,
    pattern: &Pattern,
    base: Row,
) {
    let bases = row(&warp.registers, &world.code.constants, base, world.code.lanes as usize);
    let first = bases[pattern.active.trailing_zeros() as usize];
    if let Some(lane) = lanes_of(pattern.active).find(|&lane| bases[lane] != first) {
        let (mine, actor) =
            (bases[lane], world.actor(block, warp.index, Some(lane as u32), op.inst));
        world.findings.add(FindingKind::Divergence, actor, None, || {
            format!(
                "lanes give {mine:#x} and {first:#x} as the base, which they must have in common"
            )
        });
    }
    let end =
        |lane: usize| pattern.addresses[lane].wrapping_sub(first).saturating_add(op.bytes.into());
    if let Some(lane) = lanes_of(pattern.active).find(|&lane| end(lane) > OFFSET_BYTES) {
        let (end, actor) = (end(lane), world.actor(block, warp.index, Some(lane as u32), op.inst));
        world.findings.add(FindingKind::OutOfRange, actor, None, || {
            format!("an access up to {end} bytes behind its base, where an offset reaches {OFFSET_BYTES}")
        });
    }
}

#[cold]
fn report_misaligned(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    op: &MemoryOp,
    pattern: &Pattern,
) {
    let size = u64::from(op.bytes);
    let Some(lane) =
        lanes_of(pattern.active).find(|&lane| pattern.addresses[lane] & (size - 1) != 0)
    else {
        return;
    };
    let actor = world.actor(block, warp.index, Some(lane as u32), op.inst);
    let address = pattern.addresses[lane];
    let near = world.memory.locate(address, op.bytes);
    let name = match (op.space, near) {
        (Space::Shared, _) => format!("byte {address} of shared memory"),
        (Space::Global, Ok((index, offset))) => {
            format!("byte {offset} of `{}`", world.memory.buffers()[index].name)
        }
        (Space::Global, Err(_)) => format!("address {address:#x}"),
    };
    world.findings.add(FindingKind::Misaligned, actor, None, || {
        format!("an access of {size} bytes at {name}, which is no multiple of {size}")
    });
}

#[cold]
fn report_outside(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    op: &MemoryOp,
    lane: u32,
    message: impl FnOnce() -> String,
) {
    let actor = world.actor(block, warp.index, Some(lane), op.inst);
    world.findings.add(FindingKind::OutOfRange, actor, None, message);
}

/// Turns what the shadow found in one access into findings.
#[inline]
fn report_conflicts(warp: &Warp, block: &Block, world: &mut World<'_>, index: u32, place: Hit) {
    if !world.conflicts.is_empty() {
        report_conflicts_slowly(warp, block, world, index, place);
    }
}

#[cold]
fn report_conflicts_slowly(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    index: u32,
    place: Hit,
) {
    let op = &world.code.memory[index as usize];
    let kind = world.accesses[index as usize].kind;
    let mut conflicts = core::mem::take(&mut world.conflicts);
    for &Conflict { offset, lane, prior, equal } in &conflicts {
        let lane = (lane != SEVERAL).then_some(lane);
        let actor = world.actor(block, warp.index, lane, op.inst);
        let name = match place {
            Hit::Shared => "shared memory",
            Hit::Buffer(index) => &world.memory.buffers()[index].name,
        };
        let Some(prior) = prior else {
            world.findings.add(FindingKind::Uninitialised, actor, None, || {
                format!("byte {offset} of {name} is read, and nothing wrote it")
            });
            continue;
        };
        let site = &world.accesses[prior.site as usize];
        let other = Actor {
            inst: site.inst,
            loc: site.loc,
            block: world.coordinates(prior.block),
            warp: prior.warp,
            lane: prior.lane,
        };
        let did = |kind: AccessKind, write: bool| match (kind, write) {
            (AccessKind::Atomic, _) => "updated atomically",
            (_, true) => "written",
            (_, false) => "read",
        };
        if equal {
            if place != Hit::Shared {
                world.notes.add(FindingKind::EqualStores, actor, Some(other), || {
                    format!(
                        "byte {offset} of {name} is stored by {actor}, and by {other}, with nothing that \
                         orders the two: both store the same value"
                    )
                });
            }
            continue;
        }
        let now = did(kind, kind != AccessKind::Load);
        let then = did(site.kind, prior.write);
        world.findings.add(FindingKind::Race, actor, Some(other), || {
            format!(
                "byte {offset} of {name} is {now} by {actor}, and {then} by {other}, with nothing \
                 that orders the two"
            )
        });
    }
    conflicts.clear();
    world.conflicts = conflicts;
}

#[inline]
fn read<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut wide = [0; 8];
    if let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>()) {
        wide[..N].copy_from_slice(chunk);
    }
    u64::from_le_bytes(wide)
}

/// Writes the low `N` bytes; returns whether one changed.
#[inline]
fn write<const N: usize>(bytes: &mut [u8], at: usize, value: u64) -> bool {
    let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>()) else {
        return false;
    };
    let value = value.to_le_bytes();
    let changed = place[..] != value[..N];
    place.copy_from_slice(&value[..N]);
    changed
}

#[inline]
fn gather<const N: usize>(dst: &mut [u64], bytes: &[u8], pattern: &Pattern, mask: u64, base: u64) {
    for lane in lanes_of(mask) {
        dst[lane] = read::<N>(bytes, pattern.addresses[lane].wrapping_sub(base) as usize);
    }
}

#[inline]
fn scatter<const N: usize>(
    src: &[u64],
    bytes: &mut [u8],
    pattern: &Pattern,
    mask: u64,
    base: u64,
) -> bool {
    lanes_of(mask).fold(false, |changed, lane| {
        let at = pattern.addresses[lane].wrapping_sub(base) as usize;
        write::<N>(bytes, at, src[lane]) | changed
    })
}
