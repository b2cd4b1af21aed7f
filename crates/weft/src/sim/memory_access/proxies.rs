//! Which bytes of shared memory products see.
//!
//! Loads, stores, atomics and copies go through the generic proxy, products of a warpgroup through the async one.
//! A barrier does not order the two. What was written through the generic proxy is seen by a product if
//!
//! * the thread that wrote it has passed a fence between proxies since, and that happened before the product, or
//! * the product's warp has passed one since it learned of the write.

use crate::sim::clock::Knowledge;

/// The last write of a byte; `tick` 0 is none.
#[derive(Clone, Copy, Default, Debug)]
pub(in crate::sim) struct Written {
    pub(super) warp: u32,
    pub(super) lane: u32,
    /// The memory operation.
    pub(super) site: u32,
    tick: u32,
    /// When its thread passed a fence; 0 is never.
    fenced: u32,
}

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
}

impl Proxies {
    /// Nothing was written yet; of no bytes, nothing will be remembered.
    pub(in crate::sim) fn reset(&mut self, bytes: usize, warps: u32) {
        let warps = warps as usize;
        self.bytes.clear();
        self.bytes.resize(bytes, Written::default());
        self.unfenced = vec![Vec::new(); warps];
        self.known = vec![vec![0; warps]; warps];
    }

    /// Whether writes need to be told.
    pub(super) fn are_watched(&self) -> bool {
        !self.bytes.is_empty()
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
