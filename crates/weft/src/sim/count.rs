//! Sectors and wavefronts, counted from the addresses of one warp instruction.
//!
//! * **Sectors**: the distinct values of `address / sector_bytes` over the bytes that active lanes
//!   touch. The ideal is as many sectors as that many distinct bytes fill, at least 1.
//! * **Wavefronts**: the machine serves groups of lanes ([`Machine::load_phases`]) one after another.
//!   A phase with an active lane takes as many passes as its busiest bank has distinct words in it (a
//!   word asked for twice is fetched once); an atomic takes one pass per lane and bank, for lanes that
//!   update one word must wait for each other. The ideal of a phase is as many passes as its distinct
//!   bytes need when all banks work, at least 1, and the access's ideal is the sum over its phases.
//!   An instruction that moves matrices serves eight rows in a phase.

use super::machine::{Machine, Phases};
use super::report::AccessKind;
use super::warp::lanes_of;

/// Most lanes that a warp can have.
pub(super) const MAX_LANES: usize = 64;

/// The addresses of one access, and which lanes make it.
#[derive(Debug)]
pub(super) struct Pattern {
    /// Addresses; meaningless in inactive lanes.
    pub(super) addresses: [u64; MAX_LANES],
    pub(super) active: u64,
    /// How many bytes each lane accesses.
    pub(super) bytes: u32,
    pub(super) lowest: u64,
    pub(super) highest: u64,
    /// Whether the active lanes, in order, lie one directly behind the other.
    pub(super) contiguous: bool,
    /// Whether no two lanes touch a common byte.
    pub(super) disjoint: bool,
    /// Active lanes by address; filled only where the lanes are not contiguous.
    order: [u8; MAX_LANES],
    count: usize,
}

impl Pattern {
    /// Sorts out the addresses of the active lanes, of which there is at least one.
    pub(super) fn new(addresses: &[u64; MAX_LANES], active: u64, bytes: u32) -> Self {
        let mut pattern = Self {
            addresses: *addresses,
            active,
            bytes,
            lowest: 0,
            highest: 0,
            contiguous: true,
            disjoint: true,
            order: [0; MAX_LANES],
            count: active.count_ones() as usize,
        };
        let first = addresses[active.trailing_zeros() as usize % MAX_LANES];
        let step = u64::from(bytes);
        let mut expected = first;
        let mut ascending = true;
        for lane in lanes_of(active) {
            let address = addresses[lane];
            pattern.contiguous &= address == expected;
            ascending &= address >= expected;
            expected = address.wrapping_add(step);
        }
        pattern.lowest = first;
        pattern.highest = expected.wrapping_sub(step);
        if pattern.contiguous {
            return pattern;
        }
        for (place, lane) in pattern.order.iter_mut().zip(lanes_of(active)) {
            *place = lane as u8;
        }
        if !ascending {
            let order = &mut pattern.order[..pattern.count];
            order.sort_by_key(|&lane| addresses[lane as usize]);
            pattern.lowest = addresses[order[0] as usize];
            pattern.highest = addresses[order[pattern.count - 1] as usize];
            pattern.disjoint = order.windows(2).all(|pair| {
                addresses[pair[1] as usize] - addresses[pair[0] as usize] >= u64::from(bytes)
            });
        }
        pattern
    }

    /// The active lanes with their addresses, by address; of equal addresses the lower lane first.
    pub(super) fn by_address(&self) -> impl Iterator<Item = (usize, u64)> {
        let first = if self.contiguous { self.active } else { 0 };
        let rest = if self.contiguous { 0 } else { self.count };
        lanes_of(first)
            .chain(self.order[..rest].iter().map(|&lane| lane as usize))
            .map(|lane| (lane, self.addresses[lane]))
    }

    fn distinct_bytes(&self) -> u64 {
        if self.disjoint {
            return self.count as u64 * u64::from(self.bytes);
        }
        let mut end = 0;
        self.by_address().fold(0, |sum, (_, address)| {
            let start = address.max(end);
            end = address.saturating_add(u64::from(self.bytes));
            sum + (end - start)
        })
    }

    /// The sectors touched, and the fewest for as many bytes.
    pub(super) fn sectors(&self, sector_bytes: u32) -> (u64, u64) {
        let sector = u64::from(sector_bytes.max(1));
        let ideal = self.distinct_bytes().div_ceil(sector).max(1);
        let last_of = |address: u64| address.saturating_add(u64::from(self.bytes) - 1) / sector;
        if self.contiguous {
            return (last_of(self.highest).saturating_sub(self.lowest / sector) + 1, ideal);
        }
        let mut next = 0;
        let sectors = self.by_address().fold(0, |sum, (_, address)| {
            let start = (address / sector).max(next);
            next = last_of(address).saturating_add(1);
            sum + next.saturating_sub(start)
        });
        (sectors, ideal)
    }
}

/// Counts wavefronts; holds scratch tables, so that counting allocates nothing.
#[derive(Debug)]
pub(super) struct Wavefronts {
    banks: u32,
    store_banks: u32,
    bank_bytes: u32,
    lanes: u32,
    loads: Vec<(u32, Vec<u64>)>,
    stores: Vec<(u32, Vec<u64>)>,
    merges: Vec<u32>,
    /// For each word of shared memory, the last phase that touched it.
    words: Vec<u32>,
    /// For each bank, its words in the current phase.
    busy: Vec<u32>,
    phase: u32,
}

impl Wavefronts {
    pub(super) fn new(machine: &Machine, lanes: u32, shared_bytes: u32) -> Self {
        let all = u64::MAX >> (64 - lanes.clamp(1, 64));
        let table = |phases: &[Phases]| -> Vec<(u32, Vec<u64>)> {
            let mut table: Vec<_> = phases
                .iter()
                .map(|row| {
                    let mut rest = all;
                    let mut masks: Vec<u64> = Vec::new();
                    for group in &row.groups {
                        let mask = group.iter().fold(0, |mask, lane| mask | 1 << (lane & 63));
                        masks.push(mask & rest);
                        rest &= !mask;
                    }
                    masks.push(rest);
                    masks.retain(|&mask| mask != 0);
                    (row.lane_bytes, masks)
                })
                .collect();
            table.sort_by_key(|row| row.0);
            table.push((u32::MAX, vec![all]));
            table
        };
        let bank_bytes = machine.bank_bytes.max(1);
        Self {
            banks: machine.banks.max(1),
            store_banks: machine.store_banks.max(1),
            bank_bytes,
            lanes,
            loads: table(&machine.load_phases),
            stores: table(&machine.store_phases),
            merges: machine.load_merge_masks.clone(),
            words: vec![0; (shared_bytes / bank_bytes) as usize + 1],
            busy: vec![0; machine.banks.max(machine.store_banks).max(1) as usize],
            phase: 0,
        }
    }

    /// The wavefronts of an access to shared memory, and its ideal. Every address is inside.
    pub(super) fn count(&mut self, pattern: &Pattern, kind: AccessKind) -> (u64, u64) {
        let loads = kind == AccessKind::Load;
        let table = core::mem::take(if loads { &mut self.loads } else { &mut self.stores });
        let row = table.iter().find(|row| pattern.bytes <= row.0).map_or(&[][..], |row| &row.1);
        let merged = loads && row.len() > 1 && self.merges(pattern);
        let banks = if loads { self.banks } else { self.store_banks };
        let (mut passes, mut ideal) = (0, 0);
        for group in row.chunks(if merged { 2 } else { 1 }) {
            let lanes = group.iter().fold(0, |all, mask| all | mask) & pattern.active;
            if lanes != 0 {
                let atomic = kind == AccessKind::Atomic;
                let (worst, least) = self.phase(pattern, lanes, atomic, banks);
                passes += worst;
                ideal += least;
            }
        }
        if loads {
            self.loads = table;
        } else {
            self.stores = table;
        }
        (passes, ideal)
    }

    /// The wavefronts of an instruction that moves matrices, and its ideal: eight rows at a time.
    pub(super) fn count_rows(&mut self, pattern: &Pattern) -> (u64, u64) {
        let (mut passes, mut ideal) = (0, 0);
        for first in (0..self.lanes.min(64)).step_by(8) {
            let rows = pattern.active & (0xff << first);
            if rows != 0 {
                let (worst, least) = self.phase(pattern, rows, false, self.banks);
                passes += worst;
                ideal += least;
            }
        }
        (passes, ideal)
    }

    /// Whether some mask's lane pairs all have equal addresses, and are active together.
    fn merges(&self, pattern: &Pattern) -> bool {
        self.merges.iter().any(|&mask| {
            lanes_of(pattern.active).all(|lane| {
                let other = lane ^ mask as usize;
                other < self.lanes as usize
                    && pattern.active >> other & 1 == 1
                    && pattern.addresses[lane] == pattern.addresses[other]
            })
        })
    }

    fn phase(&mut self, pattern: &Pattern, lanes: u64, atomic: bool, banks: u32) -> (u64, u64) {
        let width = u64::from(banks) * u64::from(self.bank_bytes);
        let bank_bytes = u64::from(self.bank_bytes);
        let step = u64::from(pattern.bytes);
        if pattern.contiguous && !atomic {
            // One run of bytes: its words go round the banks.
            let start = pattern.addresses[lanes.trailing_zeros() as usize % MAX_LANES];
            let last = pattern.addresses[63 - lanes.leading_zeros() as usize % MAX_LANES];
            let bytes = u64::from(lanes.count_ones()) * step;
            if last.wrapping_sub(start).wrapping_add(step) == bytes {
                let words = (last + step - 1) / bank_bytes - start / bank_bytes + 1;
                let ideal = bytes.div_ceil(width).max(1);
                return (words.div_ceil(u64::from(banks)).max(1), ideal);
            }
        }
        if self.phase >= u32::MAX - 1 {
            self.words.fill(0);
            self.phase = 0;
        }
        self.phase += 1;
        self.busy.fill(0);
        let mut worst = 1;
        for lane in lanes_of(lanes) {
            let address = pattern.addresses[lane];
            for word in address / bank_bytes..=(address + step - 1) / bank_bytes {
                let Some(seen) = self.words.get_mut(word as usize) else { continue };
                if core::mem::replace(seen, self.phase) != self.phase || atomic {
                    let busy = &mut self.busy[(word % u64::from(banks)) as usize];
                    *busy += 1;
                    worst = worst.max(*busy);
                }
            }
        }
        let mut end = 0;
        let mut distinct = 0;
        if pattern.disjoint {
            distinct = u64::from(lanes.count_ones()) * step;
        } else {
            for (lane, address) in pattern.by_address() {
                if lanes >> lane & 1 == 1 {
                    let start = address.max(end);
                    end = address + step;
                    distinct += end.saturating_sub(start);
                }
            }
        }
        (u64::from(worst), distinct.div_ceil(width).max(1))
    }
}
