use alloc::vec::Vec;

use super::{SwizzledShared, written_out};
use crate::{
    affine::{Padded, Padding},
    family::{FamilyError, linear::is_unit},
    layout::Layout,
};

/// A memory with gaps: after every so many elements, some unused ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PaddedShared {
    /// The gaps, at least one, in elements.
    pub paddings: Vec<Padding>,
    /// The elements between the gaps.
    pub elements: PaddedElements,
}

/// In which order a padded memory holds the elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PaddedElements {
    /// One axis after the other.
    Order {
        /// The axes, fastest first.
        order: Vec<usize>,
        /// The sizes of the tensor.
        shape: Vec<u64>,
    },
    /// By bases, each a power of two along one axis.
    Bases {
        /// The bases of the offset bits, without the gaps.
        offset: Vec<Vec<u64>>,
        /// The bases of the block bits, in elements.
        block: Vec<Vec<u64>>,
    },
}

impl PaddedShared {
    /// The layout of a tensor of this shape, which must be the one that the elements are.
    pub fn padded(&self, shape: &[u64]) -> Result<Padded, FamilyError> {
        if self.paddings.is_empty() {
            let (parameter, expected) = ("gaps", "a list of at least one");
            return Err(FamilyError::Value { parameter, value: 0, expected });
        }
        Ok(Padded::new(self.elements.layout(shape)?, &self.paddings)?)
    }
}

impl PaddedElements {
    /// The linear part: `[offset, block]`.
    fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        match self {
            PaddedElements::Order { order, shape: own } => {
                if own.len() != shape.len() {
                    return Err(FamilyError::Rank { expected: own.len(), found: shape.len() });
                }
                for (dim, (&size, &covered)) in shape.iter().zip(own).enumerate() {
                    if size != covered {
                        return Err(FamilyError::Covers { dim, size, covered });
                    }
                }
                SwizzledShared::new(1, 1, 1, order).layout(shape)
            }
            PaddedElements::Bases { offset, block } => {
                if let Some(index) = offset.iter().position(|basis| !is_unit(basis)) {
                    return Err(FamilyError::NotUnit { parameter: "offset", index });
                }
                written_out(offset, block, shape)
            }
        }
    }
}
