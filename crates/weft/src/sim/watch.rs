//! Finds runs that repeat for ever without changing memory.
//!
//! Nothing in a run is random. If all blocks are in a state in which they have been before (every
//! warp at the same place with the same registers, the same shared memory) and global memory has not
//! changed in between, they will come back to it for ever. Brent's method finds that with one saved
//! state: it is compared with each turn's, and replaced after 1, 2, 4, 8, … turns.

use super::warp::Warp;

/// Turns without a change before anything is saved: a run that makes progress pays nothing.
const PATIENCE: u64 = 32;

/// Where the warps of one block are, and what its shared memory holds.
#[derive(Clone, Debug)]
pub(super) struct Situation {
    warps: Vec<Warp>,
    shared: Vec<u8>,
}

/// What was seen since memory last changed.
#[derive(Debug, Default)]
pub(super) struct Watch {
    saved: Vec<Situation>,
    /// Turns since memory changed.
    quiet: u64,
    /// The turn at which the situation is saved anew.
    renew: u64,
}

impl Watch {
    /// Memory changed, or a block ended or began.
    pub(super) fn reset(&mut self) {
        self.quiet = 0;
        self.saved.clear();
    }

    /// A turn ended in which nothing changed; says whether its situation has been before.
    pub(super) fn repeats<'a>(
        &mut self,
        blocks: impl Iterator<Item = (&'a [Warp], &'a [u8])> + Clone,
    ) -> bool {
        self.quiet += 1;
        if self.quiet < PATIENCE {
            return false;
        }
        let same = |(saved, (warps, shared)): (&Situation, (&[Warp], &[u8]))| {
            saved.shared == shared
                && saved.warps.len() == warps.len()
                && saved.warps.iter().zip(warps).all(|(saved, warp)| saved.is_where(warp))
        };
        if self.saved.len() == blocks.clone().count()
            && self.saved.iter().zip(blocks.clone()).all(same)
        {
            return true;
        }
        if self.saved.is_empty() || self.quiet >= self.renew {
            let save = |(warps, shared): (&[Warp], &[u8])| Situation {
                warps: warps.to_vec(),
                shared: shared.to_vec(),
            };
            self.saved = blocks.map(save).collect();
            self.renew = self.quiet * 2;
        }
        false
    }
}
