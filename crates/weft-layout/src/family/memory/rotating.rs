use alloc::vec;

use super::{SwizzledShared, cut, one_to_one};
use crate::{
    family::{FamilyError, share::Share},
    layout::Layout,
    space::OFFSET,
};

/// Memory rows whose permutation also changes from one run of `perPhase · maxPhase` rows to the
/// next (`amd_rotating_shared`).
///
/// Row `i` begins with column `vec · (p ⊕ r)`, where `p = (i / perPhase) mod maxPhase` as in
/// [`SwizzledShared`] and `r = (i / (perPhase · maxPhase)) mod maxPhase`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RotatingShared {
    /// The parameters, of the same names.
    pub rows: SwizzledShared,
}

impl RotatingShared {
    /// The layout of a tensor of this shape: `[offset, block]`, offsets in elements.
    ///
    /// Several blocks have the offsets of the whole tensor each, and those outside of a block's
    /// part are copies; fails when the permutation leads out of a part.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let SwizzledShared { per_phase, max_phase, .. } = self.rows;
        if shape.len() < 2 {
            return self.rows.layout(shape);
        }
        self.rows.check(shape)?;
        let share = Share::new(shape, &self.rows.blocks)?;
        let mut offset = self.rows.rows(shape, |row| {
            let phase = row / per_phase;
            (phase % max_phase) ^ (phase / max_phase % max_phase)
        });
        for basis in &mut offset {
            cut(basis, share.sizes());
        }
        one_to_one(share.layout(vec![(OFFSET, offset)])?)
    }
}
