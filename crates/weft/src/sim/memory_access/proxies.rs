//! Which bytes of shared memory products see.
//!
//! Loads, stores, atomics and copies go through the generic proxy, products of a warpgroup and bulk copies through the async one.
//! A barrier does not order the two. What was written through the generic proxy is seen by a product if
//!
//! * the thread that wrote it has passed a fence between proxies since, and that happened before the product, or
//! * the product's warp has passed one since it learned of the write.
//!
//! The same holds for bulk copies from shared memory, which read through the async proxy too. A bulk copy to
//! shared memory must find what it overwrites neither written nor read through the generic proxy, but for a fence.

use crate::sim::clock::Knowledge;
use smallvec::SmallVec;

/// The last write of a byte; `tick` 0 is none.
#[derive(Clone, Copy, Default, Debug)]
pub(in crate::sim) struct Written {
    pub(super) warp: u32,
    pub(super) lane: u32,
    /// The number of the memory operation.
    pub(super) site: u32,
    tick: u32,
    /// When its thread passed a fence; 0 is never.
    fenced: u32,
}

/// The last read of some bytes by a warp.
#[derive(Clone, Copy, Debug)]
struct Reader {
    warp: u32,
    site: u32,
    tick: u32,
    /// When the warp passed a fence; 0 is never.
    fenced: u32,
}

/// log2 of the bytes whose readers are remembered together: of those that a bulk copy moves.
const READ: u32 = 4;

/// Bytes that a lane wrote.
#[derive(Clone, Copy, Debug)]
struct Piece {
    lane: u32,
    offset: usize,
    bytes: u32,
}

/// What is known of a block's shared memory.
#[derive(Default, Debug)]
pub(in crate::sim) struct Proxies {
    /// For each byte; empty where nothing reads through another proxy.
    bytes: Vec<Written>,
    /// For each warp what it wrote since its last fence.
    unfenced: Vec<Vec<Piece>>,
    /// For each warp what it knew of each at its last fence.
    known: Vec<Vec<u32>>,
    /// Who read which bytes; empty where nothing overwrites them through another proxy.
    readers: Vec<SmallVec<[Reader; 2]>>,
    /// For each warp what it read since its last fence.
    unfenced_reads: Vec<Vec<usize>>,
}

impl Proxies {
    /// Nothing was written or read yet. Of no bytes nothing will be remembered; reads are, where bulk copies write.
    pub(in crate::sim) fn reset(&mut self, bytes: usize, reads: bool, warps: u32) {
        let warps = warps as usize;
        let readers = if reads { bytes.div_ceil(1 << READ) } else { 0 };
        self.readers.clear();
        self.readers.resize(readers, SmallVec::new());
        self.unfenced_reads = vec![Vec::new(); warps];
        self.bytes.clear();
        self.bytes.resize(bytes, Written::default());
        self.unfenced = vec![Vec::new(); warps];
        self.known = vec![vec![0; warps]; warps];
    }

    /// Whether writes need to be told.
    pub(super) fn are_watched(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Whether reads need to be told.
    pub(super) fn are_reads_watched(&self) -> bool {
        !self.readers.is_empty()
    }

    /// A lane of a warp wrote bytes at a tick.
    pub(super) fn write(
        &mut self,
        (warp, lane, site): (u32, u32, u32),
        tick: u32,
        offset: usize,
        bytes: u32,
    ) {
        let Some(written) = self.bytes.get_mut(offset..offset + bytes as usize) else { return };
        written.fill(Written { warp, lane, site, tick, fenced: 0 });
        self.unfenced[warp as usize].push(Piece { lane, offset, bytes });
    }

    /// A warp read bytes at a tick.
    pub(super) fn read(&mut self, (warp, site): (u32, u32), tick: u32, offset: usize, bytes: u32) {
        let end = (offset + bytes as usize).div_ceil(1 << READ).min(self.readers.len());
        for piece in (offset >> READ).min(end)..end {
            let readers = &mut self.readers[piece];
            let reader = Reader { warp, site, tick, fenced: 0 };
            match readers.iter_mut().find(|reader| reader.warp == warp) {
                Some(known) if known.tick == tick && known.fenced == 0 => continue,
                Some(known) => *known = reader,
                None => readers.push(reader),
            }
            self.unfenced_reads[warp as usize].push(piece);
        }
    }

    /// Bytes were written through the async proxy: what was done to them before is of no matter.
    pub(super) fn forget(&mut self, offset: usize, bytes: u32) {
        if let Some(written) = self.bytes.get_mut(offset..offset + bytes as usize) {
            written.fill(Written::default());
        }
        let end = (offset + bytes as usize).div_ceil(1 << READ).min(self.readers.len());
        for readers in &mut self.readers[(offset >> READ).min(end)..end] {
            readers.clear();
        }
    }

    /// A warp that read bytes, and the memory operation, of which no fence lets another warp's copies know.
    pub(super) fn unseen_read(
        &self,
        writer: u32,
        knowledge: &Knowledge,
        offset: usize,
        bytes: u32,
    ) -> Option<(u32, u32)> {
        let end = (offset + bytes as usize).div_ceil(1 << READ).min(self.readers.len());
        let known = &self.known[writer as usize];
        let seen = |reader: &&Reader| {
            let warp = reader.warp as usize;
            let ordered = reader.warp == writer || reader.fenced <= knowledge.own[warp];
            reader.fenced != 0 && ordered || reader.tick <= known[warp]
        };
        let mut readers = self.readers[(offset >> READ).min(end)..end].iter().flatten();
        readers.find(|reader| !seen(reader)).map(|reader| (reader.warp, reader.site))
    }

    /// Lanes of a warp pass a fence at a tick.
    pub(in crate::sim) fn fence(
        &mut self,
        warp: u32,
        (lanes, all): (u64, u64),
        tick: u32,
        knowledge: &Knowledge,
    ) {
        let bytes = &mut self.bytes;
        self.unfenced[warp as usize].retain(|&Piece { lane, offset, bytes: count }| {
            let passes = lanes >> lane & 1 == 1;
            if passes && let Some(written) = bytes.get_mut(offset..offset + count as usize) {
                let own = |written: &&mut Written| {
                    (written.warp, written.lane, written.fenced) == (warp, lane, 0)
                };
                written.iter_mut().filter(own).for_each(|written| written.fenced = tick);
            }
            !passes
        });
        if lanes == all {
            for piece in core::mem::take(&mut self.unfenced_reads[warp as usize]) {
                let readers = self.readers.get_mut(piece).into_iter().flatten();
                let own = |reader: &&mut Reader| (reader.warp, reader.fenced) == (warp, 0);
                readers.filter(own).for_each(|reader| reader.fenced = tick);
            }
            self.known[warp as usize].clone_from(&knowledge.own);
        }
    }

    /// A byte of a piece, and who wrote it, that a product of a warp does not see.
    pub(super) fn unseen(
        &self,
        reader: u32,
        knowledge: &Knowledge,
        offset: usize,
        bytes: u32,
    ) -> Option<(usize, Written)> {
        let written = self.bytes.get(offset..offset + bytes as usize)?;
        let known = &self.known[reader as usize];
        let seen = |written: &Written| {
            let warp = written.warp as usize;
            let ordered = written.warp == reader || written.fenced <= knowledge.own[warp];
            written.tick == 0 || written.fenced != 0 && ordered || written.tick <= known[warp]
        };
        let at = written.iter().position(|written| !seen(written))?;
        Some((offset + at, written[at]))
    }
}
