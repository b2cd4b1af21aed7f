use super::Kind;
use crate::f2::{Subspace, ones};

/// The widest access of one lane that any machine has: 2⁴ bytes.
pub const MAX_ACCESS_LOG2: u32 = 4;

/// Row `w`: a basis of the lanes (as exclusive-or differences) that one phase of an access of
/// 2^`w` bytes a lane serves; zeros fill the row.
pub type Together = [[u8; 6]; MAX_ACCESS_LOG2 as usize + 1];

/// Which lanes shared memory serves together, for each kind and width of access.
///
/// Lanes that are served together are a coset of a subspace of lane numbers: a run of consecutive
/// lanes on NVIDIA's machines, and on AMD's wide loads runs of four that an exclusive-or brings
/// together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phases {
    /// The phases of loads.
    pub load: Together,
    /// The phases of stores.
    pub store: Together,
    /// Lane bits that let a load join its phases in pairs: when one of them is a copy for the whole
    /// warp (its address column is zero), a load is served like one of half its width.
    pub merging: u8,
    /// The logarithm of the narrowest load that merges.
    pub merging_from: u32,
}

impl Phases {
    /// The lanes served together by an access of 2^`width_log2` bytes a lane, as differences.
    pub fn subspace(&self, kind: Kind, width_log2: u32) -> Subspace {
        let table = match kind {
            Kind::Load => &self.load,
            Kind::Store => &self.store,
        };
        let row = table.get(width_log2 as usize).unwrap_or(&table[0]);
        Subspace::from_vectors(&row.map(u64::from))
    }

    /// Whether a load of this width, whose address does not depend on the lane bits in `copies`,
    /// joins its phases in pairs.
    pub fn merges(&self, width_log2: u32, copies: u64) -> bool {
        width_log2 >= self.merging_from
            && ones(u64::from(self.merging)).any(|b| copies >> b & 1 == 1)
    }

    /// The lanes that one phase of an access serves, as differences: those of half the width when
    /// it is a load that joins its phases in pairs.
    pub fn served(&self, kind: Kind, width_log2: u32, copies: u64) -> Subspace {
        let joined = kind == Kind::Load && self.merges(width_log2, copies);
        self.subspace(kind, width_log2.saturating_sub(u32::from(joined)))
    }
}
