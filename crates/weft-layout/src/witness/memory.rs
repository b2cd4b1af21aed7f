//! Scratch memory that remembers who touched what, and when.

use alloc::{vec, vec::Vec};

use super::{MAX_PLACES_LOG2, WitnessError};

/// Nobody: no thread has this number.
const NOBODY: u32 = u32::MAX;
/// Several lanes of one warp; the warp is added below.
const MANY: u32 = 1 << 31;
/// Threads of several warps.
const MANY_WARPS: u32 = u32::MAX - 1;

/// The number of barriers passed: each one of a block counts as one of a warp too.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) block: u32,
    pub(super) warp: u32,
}

#[derive(Clone, Copy)]
struct Cell {
    value: u64,
    writer: u32,
    /// Whether the last writers added atomically.
    adding: bool,
    reader: u32,
    written: Time,
    read: Time,
}

/// A thread by its number, `warp << lane_bits | lane`.
pub(super) struct Memory {
    cells: Vec<Cell>,
    /// The bytes of a cell.
    granule: u64,
    lane_bits: u32,
}

impl Memory {
    pub(super) fn new(bytes: u64, granule: u64, lane_bits: u32) -> Result<Memory, WitnessError> {
        let cells = bytes.div_ceil(granule.max(1));
        if cells > 1 << MAX_PLACES_LOG2 {
            return Err(WitnessError::TooLarge);
        }
        let empty = Cell {
            value: super::replay::UNDEFINED,
            writer: NOBODY,
            adding: false,
            reader: NOBODY,
            written: Time::default(),
            read: Time::default(),
        };
        Ok(Memory { cells: vec![empty; cells as usize], granule: granule.max(1), lane_bits })
    }

    /// Whether the bytes from `address` on lie within memory.
    pub(super) fn holds(&self, address: u64, bytes: u64) -> bool {
        address.checked_add(bytes).is_some_and(|end| end <= self.cells.len() as u64 * self.granule)
    }

    /// Writes a cell; gives the conflicting thread when there is a race.
    pub(super) fn write(
        &mut self,
        cell: u64,
        value: u64,
        thread: u32,
        now: Time,
    ) -> Result<(), u32> {
        let lane_bits = self.lane_bits;
        let Some(cell) = self.cells.get_mut(cell as usize) else { return Ok(()) };
        if !ordered(cell.writer, cell.written, thread, now, lane_bits) {
            return Err(cell.writer);
        }
        if !ordered(cell.reader, cell.read, thread, now, lane_bits) {
            return Err(cell.reader);
        }
        (cell.value, cell.writer, cell.written) = (value, thread, now);
        cell.adding = false;
        Ok(())
    }

    /// Changes a cell atomically: among themselves such changes need no order.
    ///
    /// Gives the conflicting thread when there is a race.
    pub(super) fn change(
        &mut self,
        cell: u64,
        thread: u32,
        now: Time,
        change: impl FnOnce(u64) -> u64,
    ) -> Result<(), u32> {
        let lane_bits = self.lane_bits;
        let Some(cell) = self.cells.get_mut(cell as usize) else { return Ok(()) };
        let together = cell.adding && cell.written.block == now.block;
        if !together && !ordered(cell.writer, cell.written, thread, now, lane_bits) {
            return Err(cell.writer);
        }
        if !ordered(cell.reader, cell.read, thread, now, lane_bits) {
            return Err(cell.reader);
        }
        let earlier = if together { cell.writer } else { NOBODY };
        cell.writer = merged(earlier, thread, lane_bits);
        (cell.value, cell.written, cell.adding) = (change(cell.value), now, true);
        Ok(())
    }

    /// Reads a cell; gives the conflicting thread when there is a race.
    pub(super) fn read(&mut self, cell: u64, thread: u32, now: Time) -> Result<u64, u32> {
        let lane_bits = self.lane_bits;
        let Some(cell) = self.cells.get_mut(cell as usize) else {
            return Ok(super::replay::UNDEFINED);
        };
        if !ordered(cell.writer, cell.written, thread, now, lane_bits) {
            return Err(cell.writer);
        }
        let earlier = if cell.read.block == now.block { cell.reader } else { NOBODY };
        cell.reader = merged(earlier, thread, lane_bits);
        cell.read = now;
        Ok(cell.value)
    }

    /// Lane and warp of a thread; `None` for several threads.
    pub(super) fn name(&self, thread: u32) -> Option<(u32, u32)> {
        (thread < MANY).then(|| (thread & ((1 << self.lane_bits) - 1), thread >> self.lane_bits))
    }
}

/// Whether what `earlier` did at `then` comes before what `thread` does `now`.
fn ordered(earlier: u32, then: Time, thread: u32, now: Time, lane_bits: u32) -> bool {
    if earlier == NOBODY || earlier == thread || now.block > then.block {
        return true;
    }
    let same_warp = match earlier {
        MANY_WARPS => false,
        many if many >= MANY => many - MANY == thread >> lane_bits,
        one => one >> lane_bits == thread >> lane_bits,
    };
    same_warp && now.warp > then.warp
}

/// The name of `earlier` and `thread` together.
fn merged(earlier: u32, thread: u32, lane_bits: u32) -> u32 {
    let warp = thread >> lane_bits;
    match earlier {
        NOBODY => thread,
        MANY_WARPS => MANY_WARPS,
        same if same == thread => thread,
        many if many >= MANY => {
            if many - MANY == warp {
                many
            } else {
                MANY_WARPS
            }
        }
        one if one >> lane_bits == warp => MANY + warp,
        _ => MANY_WARPS,
    }
}
