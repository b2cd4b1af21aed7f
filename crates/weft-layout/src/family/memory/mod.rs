//! Layouts of shared memory: from `[offset, block]`, offsets in elements, to a tensor.
//!
//! A plain memory is the identity; the others permute it so that the lanes of an access meet
//! different banks: by an exclusive-or of the column with bits of the row ([`SwizzledShared`],
//! [`RotatingShared`], [`NvmmaShared`]), by bases written out ([`SharedLinear`]), by gaps
//! ([`PaddedShared`]), or by several memories ([`PartitionedShared`]).
//! An [`OperandAtom`] is the piece of memory that a matrix instruction's descriptor repeats.

mod nvmma;
mod operand;
mod padded;
mod partitioned;
mod rotating;
mod shared_linear;
mod swizzled;

use alloc::vec::Vec;

pub use nvmma::NvmmaShared;
pub use operand::{Major, OperandAtom, SwizzleMode};
pub use padded::{PaddedElements, PaddedShared};
pub use partitioned::PartitionedShared;
pub use rotating::RotatingShared;
pub use shared_linear::SharedLinear;
pub use swizzled::SwizzledShared;

use super::{FamilyError, linear::extent};
use crate::{
    layout::Layout,
    space::{BLOCK, OFFSET, Space},
};

/// The row-major memory layout of a tensor: offset `i` (in elements) holds element `i`.
pub fn row_major(shape: &[u64]) -> Result<Layout, FamilyError> {
    let outs = Space::tensor(shape)?;
    let identity = Layout::identity(outs.total_bits(), OFFSET, OFFSET)?;
    Ok(identity.reshape_outs(outs)?)
}

/// The memory with these bases, which must reach every element of the tensor, and but for zero
/// bases each in one place.
fn written_out(
    offset: &[Vec<u64>],
    block: &[Vec<u64>],
    shape: &[u64],
) -> Result<Layout, FamilyError> {
    let rank = shape.len();
    if let Some(basis) = offset.iter().chain(block).find(|basis| basis.len() != rank) {
        return Err(FamilyError::Rank { expected: rank, found: basis.len() });
    }
    for (dim, &size) in shape.iter().enumerate() {
        let covered = extent(offset.iter().chain(block).map(|basis| basis[dim]));
        if covered != size {
            return Err(FamilyError::Covers { dim, size, covered });
        }
    }
    let bases = [(OFFSET, offset.to_vec()), (BLOCK, block.to_vec())];
    one_to_one(Layout::from_bases(&bases, Space::tensor(shape)?)?)
}

/// The layout, if it reaches every element, and but for zero bases each in one place.
fn one_to_one(layout: Layout) -> Result<Layout, FamilyError> {
    let nonzero = layout.matrix().columns().iter().filter(|&&column| column != 0).count() as u32;
    let (elements, rank) = (layout.outs().total_bits(), layout.rank());
    if rank != elements || rank != nonzero {
        return Err(FamilyError::NotOneToOne { elements, nonzero, rank });
    }
    Ok(layout)
}

/// A basis without the coordinates that leave a tensor of these sizes.
fn cut(basis: &mut [u64], sizes: &[u64]) {
    for (coordinate, &size) in basis.iter_mut().zip(sizes) {
        if *coordinate >= size {
            *coordinate = 0;
        }
    }
}
