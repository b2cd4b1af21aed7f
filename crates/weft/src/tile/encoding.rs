//! Encodings: where a program says that a value lives.
//!
//! Triton IR says nothing of layouts; TTGIR gives every tensor one, and describes tensors in shared
//! memory. What is said is kept as the family's name, so that it prints as it was read, and is obeyed by
//! whoever decides on homes. The evaluator looks at none of it.

use super::Type;
use core::fmt;
use smallvec::SmallVec;
use std::sync::Arc;
use weft_layout::affine::Padded;
use weft_layout::family::{Family, FamilyError};
use weft_layout::space::{BLOCK, LANE, REGISTER, WARP};
use weft_layout::{Layout, LayoutError};

/// Where a value lives.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Encoding {
    /// In the threads' registers.
    Registers(Arc<Family>),
    /// In shared memory: the value is not the elements, it says where they are.
    Shared(Arc<SharedMemory>),
}

/// How a tensor lies in shared memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SharedMemory {
    /// The layout of the allocated tensor; of each buffer, where the layout has one dimension less.
    pub family: Family,
    /// Whether it may be written after it was made.
    pub mutable: bool,
    /// The extents of the tensor that was allocated, of which the value's are a part.
    pub allocated: SmallVec<[u64; 4]>,
}

impl SharedMemory {
    /// What stands in a type after its element.
    pub(super) fn spell(&self, shape: &[u64], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, mutable, allocated } = self;
        write!(f, ", {family}, #ttg.shared_memory{}", if *mutable { ", mutable" } else { "" })?;
        if allocated[..] == *shape {
            return Ok(());
        }
        let extents: Vec<String> = allocated.iter().map(ToString::to_string).collect();
        write!(f, ", {}", extents.join("x"))
    }

    /// The rank of the tensors that the layout is of: of the allocated one, or of each of its buffers.
    pub fn rank(&self) -> Result<usize, FamilyError> {
        let all = self.allocated.len();
        let fits = |rank: usize| self.family.padded(self.buffer(rank)).map(|_| rank);
        match fits(all) {
            Err(error) if all > 1 => fits(all - 1).map_err(|_| error),
            found => found,
        }
    }

    /// The last extents of the allocated tensor.
    fn buffer(&self, rank: usize) -> &[u64] {
        &self.allocated[self.allocated.len() - rank.min(self.allocated.len())..]
    }

    /// Where the elements of the allocated tensor, or of each of its buffers, lie.
    pub fn layout(&self) -> Result<Padded, FamilyError> {
        self.family.padded(self.buffer(self.rank()?))
    }

    /// How many such tensors were allocated, one after the other.
    pub fn buffers(&self) -> Result<u64, FamilyError> {
        let rank = self.rank()?;
        Ok(self.allocated[..self.allocated.len() - rank].iter().product())
    }
}

/// What a text says of the launch that it was made for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Launch {
    /// Warps in a block (`ttg.num-warps`).
    pub warps: Option<u32>,
    /// Lanes in a warp (`ttg.threads-per-warp`).
    pub lanes: Option<u32>,
    /// The GPU, as `cuda:90` (`ttg.target`).
    pub target: Option<String>,
}

/// Why a value cannot have an encoding.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Misplaced {
    /// The layout is not one of tensors of this shape.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// The layout's algebra refused.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The layout is for other blocks.
    #[error("the layout is for {found} {what}, and there are {wanted}")]
    Count {
        /// Lanes of a warp, warps of a block, or blocks of a cluster.
        what: &'static str,
        /// How many the layout has.
        found: u64,
        /// How many there are.
        wanted: u64,
    },
    /// The layout leaves elements without a thread or a place.
    #[error("the layout does not hold every element")]
    Holes,
    /// A view of more than there is.
    #[error("the view is larger than what was allocated")]
    Larger,
}

impl Type {
    /// The layout that the type says its elements have among the threads, without the registers that
    /// only hold copies; nothing where it says none.
    pub fn given_layout(&self) -> Option<Result<Layout, Misplaced>> {
        let family = self.distribution()?;
        let layout = || Ok(family.layout(&self.shape)?.remove_zero_columns(REGISTER)?.0);
        Some(layout())
    }

    /// Whether a block as the launch has it can hold the value as its encoding says.
    pub fn check_encoding(&self, launch: &Launch) -> Result<(), Misplaced> {
        if let Some(layout) = self.given_layout() {
            let layout = layout?;
            let wanted = [
                ("lanes", LANE, launch.lanes),
                ("warps", WARP, launch.warps),
                ("blocks", BLOCK, Some(1)),
            ];
            for (what, label, wanted) in wanted {
                let found = 1u64.checked_shl(layout.in_bits(label)).unwrap_or(u64::MAX);
                match wanted.map(u64::from) {
                    Some(wanted) if wanted != found => {
                        return Err(Misplaced::Count { what, found, wanted });
                    }
                    _ => {}
                }
            }
            return if layout.is_surjective() { Ok(()) } else { Err(Misplaced::Holes) };
        }
        if let Some(memory) = self.memory() {
            let padded = memory.layout()?;
            let found = 1u64.checked_shl(padded.layout().in_bits(BLOCK)).unwrap_or(u64::MAX);
            if found != 1 {
                return Err(Misplaced::Count { what: "blocks", found, wanted: 1 });
            }
            if !padded.layout().is_surjective() {
                return Err(Misplaced::Holes);
            }
            let skipped = memory.allocated.len().saturating_sub(self.shape.len());
            let parts = self.shape.iter().zip(memory.allocated.iter().skip(skipped));
            if self.shape.len() > memory.allocated.len() || parts.clone().any(|(x, all)| x > all) {
                return Err(Misplaced::Larger);
            }
        }
        Ok(())
    }
}
