//! Memory as affine functions from addresses to names.

use alloc::vec::Vec;

use super::value::{ELEMENT, Forms, NAME, Value};
use crate::{
    f2::Echelon,
    step::{Access, Form, Group, combine},
    witness::Time,
};

/// Where the thread that wrote a name stands above it.
const THREAD: u32 = ELEMENT + 24;

/// The lanes of a warp that moves matrices.
const LANES: u64 = 32;

/// What one access wrote: an affine subspace of addresses, all of it.
struct Region {
    /// The address that thread 0 wrote first.
    base: u64,
    /// The name at `base`.
    constant: u64,
    /// The differences of addresses, each with the difference of names and of writing threads.
    map: Echelon,
    word: u16,
    written: Time,
    read: Option<Time>,
    /// Whether all that was read was read by the warp that wrote it.
    own_warp: bool,
}

impl Region {
    /// The name at an address and the thread that wrote it, side by side.
    fn at(&self, address: u64) -> Option<u64> {
        let (outside, content) = self.map.reduce(address ^ self.base, self.constant);
        (outside == 0).then_some(content)
    }

    /// What name and thread change by along a difference of addresses.
    fn along(&self, difference: u64) -> Option<u64> {
        let (outside, content) = self.map.reduce(difference, 0);
        (outside == 0).then_some(content)
    }

    /// The highest byte address of the region.
    fn last(&self) -> u64 {
        let mut vectors: Vec<u64> = self.map.vectors().collect();
        vectors.reverse();
        vectors.iter().fold(self.base, |address, vector| address.max(address ^ vector))
    }
}

pub(super) struct Memory {
    regions: Vec<Region>,
    bytes: u64,
    granule: u64,
    lane_bits: u32,
}

/// A granule that an access touches: its address in thread 0, and its place in the file.
struct Cell {
    address: u64,
    place: usize,
}

impl Memory {
    pub(super) fn new(bytes: u64, granule: u64, lane_bits: u32) -> Memory {
        let bytes = bytes.div_ceil(granule).saturating_mul(granule);
        Memory { regions: Vec::new(), bytes, granule, lane_bits }
    }

    /// The columns of the address of a lane's byte 0, for the thread bits that take part.
    fn columns(&self, forms: &Forms, access: &Access) -> Option<Vec<Option<u64>>> {
        let lanes = self.lane_bits as usize;
        let matrices = access.form != Form::Vector;
        if matrices && (access.acting.idle_lanes != 0 || 1 << lanes != LANES) {
            return None;
        }
        let of = |bit: usize| {
            let (address, idle, number) = match bit.checked_sub(lanes) {
                None if matrices => (dealt(access, 1 << bit, 0)?, 0, bit),
                None => {
                    let address = access.lane.get(bit).copied().unwrap_or(0);
                    (address, access.acting.idle_lanes, bit)
                }
                Some(bit) => {
                    let address = access.warp.get(bit).copied().unwrap_or(0);
                    (address, access.acting.idle_warps, bit)
                }
            };
            let idle = idle.checked_shr(number as u32).unwrap_or(0) & 1 == 1;
            Some((!idle).then_some(address))
        };
        (0..forms.thread_bits()).map(of).collect()
    }

    /// Writes registers of a file; `bytes` is the width of each.
    pub(super) fn store(
        &mut self,
        forms: &Forms,
        access: &Access,
        bytes: u64,
        file: &[Value],
        now: Time,
    ) -> Option<()> {
        let columns = self.columns(forms, access)?;
        let moving = moving(access, columns.iter().flatten());
        let mut written = Vec::with_capacity(file.len());
        for group in &access.groups {
            for cell in cells(access, group, bytes, self.granule, moving)? {
                written.push((cell.address, *file.get(cell.place)?));
            }
        }
        let &(base, first) = written.first()?;
        let form = forms.get(first.form)?;
        // Different threads write different addresses.
        let mut map = Echelon::new();
        let mut writers = 0;
        for ((bit, column), name) in columns.iter().enumerate().zip(form.columns) {
            if let Some(column) = column {
                writers += 1;
                if map.insert(*column, name | 1 << (THREAD as usize + bit)).is_some() {
                    return None;
                }
            }
        }
        for &(address, value) in &written {
            if value.form != first.form {
                return None;
            }
            let (outside, content) = map.reduce(address ^ base, value.constant ^ first.constant);
            if outside != 0 {
                map.insert(outside, content);
            } else if content != 0 {
                return None;
            }
        }
        // Nothing is written twice, and the whole subspace is written.
        let mut addresses: Vec<u64> = written.iter().map(|cell| cell.0).collect();
        addresses.sort_unstable();
        let twice = addresses.windows(2).any(|pair| pair[0] == pair[1]);
        if twice || 1_u64.checked_shl(map.rank() - writers) != Some(written.len() as u64) {
            return None;
        }
        let region = Region {
            base,
            constant: first.constant,
            map,
            word: form.word,
            written: now,
            read: None,
            own_warp: true,
        };
        if region.last().checked_add(self.granule)? > self.bytes {
            return None;
        }
        self.replace(region, now)
    }

    /// Adds a region, in place of an earlier one with the same addresses.
    fn replace(&mut self, region: Region, now: Time) -> Option<()> {
        let mut kept = Vec::with_capacity(self.regions.len() + 1);
        for old in core::mem::take(&mut self.regions) {
            let mut both = old.map.clone();
            for vector in region.map.vectors() {
                both.insert(vector, 0);
            }
            if both.reduce(old.base ^ region.base, 0).0 != 0 {
                kept.push(old);
                continue;
            }
            let equal = both.rank() == old.map.rank() && both.rank() == region.map.rank();
            if !equal || !self.comes_after(&old, &region, now) {
                return None;
            }
        }
        kept.push(region);
        self.regions = kept;
        Some(())
    }

    /// Whether all that was done in `old` comes before what writes `new` in its place.
    fn comes_after(&self, old: &Region, new: &Region, now: Time) -> bool {
        let blocks = |then: Time| now.block > then.block;
        if blocks(old.written) && old.read.is_none_or(blocks) {
            return true;
        }
        let warps = |then: Time| now.warp > then.warp;
        let same_warp =
            |old: Option<u64>, new: u64| old.is_some_and(|old| self.warp(old) == self.warp(new));
        warps(old.written)
            && old.read.is_none_or(warps)
            && old.own_warp
            && same_warp(old.at(new.base), new.constant)
            && new.map.vectors().all(|vector| {
                let along = new.map.reduce(vector, 0).1;
                same_warp(old.along(vector), along)
            })
    }

    /// The warp bits of what [`Region::at`] gives.
    fn warp(&self, content: u64) -> u64 {
        content >> (THREAD + self.lane_bits)
    }

    /// Reads registers of a file.
    pub(super) fn load(
        &mut self,
        forms: &mut Forms,
        access: &Access,
        bytes: u64,
        file: &mut [Value],
        now: Time,
    ) -> Option<()> {
        // Idle threads would hold undefined values.
        let columns: Vec<u64> = self.columns(forms, access)?.into_iter().collect::<Option<_>>()?;
        let moving = moving(access, &columns);
        let mut current: Option<(usize, u16)> = None;
        for group in &access.groups {
            for cell in cells(access, group, bytes, self.granule, moving)? {
                let inside = |&(index, _): &(usize, u16)| {
                    self.regions.get(index).is_some_and(|region| region.at(cell.address).is_some())
                };
                let (index, form) = match current.filter(inside) {
                    Some(known) => known,
                    None => {
                        let mut regions = self.regions.iter();
                        let index = regions.position(|region| region.at(cell.address).is_some())?;
                        *current.insert((index, self.enter(forms, index, &columns, now)?))
                    }
                };
                let region = self.regions.get_mut(index)?;
                let content = region.at(cell.address)?;
                let writer = content >> THREAD;
                let own_warp = writer >> self.lane_bits == 0;
                region.own_warp &= own_warp;
                let ordered = now.block > region.written.block
                    || own_warp && (now.warp > region.written.warp || writer == 0);
                *file.get_mut(cell.place).filter(|_| ordered)? =
                    Value { form, constant: content & NAME };
            }
        }
        Some(())
    }

    /// How names in a region vary with the reading thread; `None` when some thread reads outside,
    /// or races with who wrote.
    fn enter(
        &mut self,
        forms: &mut Forms,
        index: usize,
        columns: &[u64],
        now: Time,
    ) -> Option<u16> {
        let region = self.regions.get_mut(index)?;
        let contents: Vec<u64> =
            columns.iter().map(|&column| region.along(column)).collect::<Option<_>>()?;
        let own = |shift: u32| {
            let mut threads = contents.iter().zip(0..);
            threads.all(|(content, bit)| content >> THREAD >> shift == (1_u64 << bit) >> shift)
        };
        let own_warp = own(self.lane_bits);
        let ordered = now.block > region.written.block
            || own_warp && now.warp > region.written.warp
            || own(0);
        region.own_warp &= own_warp;
        region.read = Some(now);
        let names = contents.iter().map(|content| content & NAME);
        if ordered { forms.add(names, region.word) } else { None }
    }
}

/// Where a byte of a lane's matrices lies, without what warp and group add.
fn dealt(access: &Access, lane: u64, byte: u64) -> Option<u64> {
    let (giver, inside) = access.form.place(lane, byte)?;
    // Addresses are checked to be aligned, so that adding is the same.
    Some(combine(&access.lane, giver) ^ inside)
}

/// The address bits that some thread moves in the addresses that it gives; `columns` are those of
/// the addresses that it touches.
fn moving<'a>(access: &Access, columns: impl IntoIterator<Item = &'a u64>) -> u64 {
    let all = |all: u64, column: &u64| all | column;
    match access.form {
        Form::Vector => columns.into_iter().fold(0, all),
        Form::Matrix(_) => access.lane.iter().chain(&access.warp).fold(0, all),
    }
}

/// The granules of a group; `None` when it is not aligned.
fn cells<'a>(
    access: &'a Access,
    group: &'a Group,
    bytes: u64,
    granule: u64,
    moving: u64,
) -> Option<impl Iterator<Item = Cell> + use<'a>> {
    let length = group.registers.len() as u64;
    let width = bytes.checked_mul(length)?;
    let aligned = access.form.alignment(width);
    if !length.is_power_of_two() || (moving | group.address) & (aligned - 1) != 0 {
        return None;
    }
    if let Form::Matrix(matrix) = access.form {
        let rows = u64::from(Form::matrices(matrix, width)?) * u64::from(matrix.rows);
        if bytes > 4 || rows > LANES || dealt(access, 0, 0).is_none() {
            return None;
        }
    }
    let parts = (bytes / granule) as usize;
    let places = group.registers.iter().flat_map(move |&register| {
        let first = (register as usize).saturating_mul(parts);
        first..first.saturating_add(parts)
    });
    // A group is aligned, so that no address passes its end.
    let address = move |index: u64| {
        let byte = index.wrapping_mul(granule);
        let inside = match access.form {
            Form::Vector => byte,
            Form::Matrix(_) => dealt(access, 0, byte).unwrap_or(u64::MAX),
        };
        group.address ^ inside
    };
    Some((0..).zip(places).map(move |(index, place)| Cell { address: address(index), place }))
}
