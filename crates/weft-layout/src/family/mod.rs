//! The families of layouts that compilers name, as constructors.
//!
//! Each returns a [`Layout`] and is then forgotten: nothing in Weft asks which family a layout came
//! from.
//! The rules are Triton's, as version 3.9.0 follows them (`LinearLayoutConversions.cpp`), so that a
//! layout read from Triton's text has the same registers in the same order.

mod blocked;
mod linear;
mod memory;

use alloc::{boxed::Box, vec::Vec};
use core::fmt;

pub use blocked::{Blocked, DotOperand};
pub use linear::Linear;
pub use memory::{SwizzledShared, row_major};

use crate::{
    layout::{Layout, LayoutError},
    space::{BLOCK, LANE, REGISTER, Space, SpaceError, WARP},
};

/// A named layout of any family: what an attribute of a compiler's text says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// A tensor cut into equal boxes.
    Blocked(Blocked),
    /// Bases, written out.
    Linear(Linear),
    /// A layout without one of its axes.
    Slice(Slice),
    /// An operand of a matrix multiplication without matrix instructions.
    DotOperand(DotOperand),
    /// Rows of memory with their vectors permuted.
    SwizzledShared(SwizzledShared),
}

impl Family {
    /// The layout of a tensor of this shape.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        match self {
            Family::Blocked(blocked) => blocked.layout(shape),
            Family::Linear(linear) => linear.layout(shape),
            Family::Slice(slice) => slice.layout(shape),
            Family::DotOperand(operand) => operand.layout(shape),
            Family::SwizzledShared(shared) => shared.layout(shape),
        }
    }
}

/// A distributed layout without axis `dim`: what a reduction along `dim` leaves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The axis of the parent that is dropped.
    pub dim: usize,
    /// The layout that is sliced.
    pub parent: Box<Family>,
}

impl Slice {
    /// The layout of a tensor of this shape, which lacks the dropped axis.
    ///
    /// Lanes and warps that only walked along the axis become copies; such registers disappear.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        if self.dim > shape.len() {
            return Err(FamilyError::Rank { expected: self.dim, found: shape.len() });
        }
        let mut parent_shape = shape.to_vec();
        parent_shape.insert(self.dim, 1);
        slice(&self.parent.layout(&parent_shape)?, self.dim)
    }
}

/// The layout without axis `dim` of its tensor and without registers that have become copies.
///
/// This is the layout of the result of a reduction along `dim`.
pub fn slice(layout: &Layout, dim: usize) -> Result<Layout, FamilyError> {
    Ok(layout.slice(dim)?.remove_zero_columns(REGISTER)?.0)
}

/// Why a family has no layout of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FamilyError {
    /// A list of parameters, or the shape, has the wrong length.
    Rank {
        /// The length that the other parameters have.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// A parameter is not a power of two.
    NotPowerOfTwo {
        /// The name of the parameter, as Triton spells it.
        parameter: &'static str,
        /// Its value.
        value: u64,
    },
    /// `order` is no permutation of the axes.
    BadOrder,
    /// The tensor is smaller than the tile, and the layout cannot be cut to it.
    CannotCut {
        /// The axis.
        dim: usize,
        /// The size of the tensor along it.
        size: u64,
    },
    /// A parameter has a value that the family does not know.
    Unsupported {
        /// The name of the parameter.
        parameter: &'static str,
        /// Its value.
        value: u64,
    },
    /// The layout cannot be built.
    Layout(LayoutError),
}

impl From<LayoutError> for FamilyError {
    fn from(error: LayoutError) -> FamilyError {
        FamilyError::Layout(error)
    }
}

impl From<SpaceError> for FamilyError {
    fn from(error: SpaceError) -> FamilyError {
        FamilyError::Layout(LayoutError::Space(error))
    }
}

impl fmt::Display for FamilyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FamilyError::Rank { expected, found } => {
                write!(f, "{expected} axes are expected, {found} are given")
            }
            FamilyError::NotPowerOfTwo { parameter, value } => {
                write!(f, "`{parameter}` holds {value}, which is not a power of two")
            }
            FamilyError::BadOrder => f.write_str("`order` is no permutation of the axes"),
            FamilyError::CannotCut { dim, size } => write!(
                f,
                "the layout cannot be cut to size {size} along axis {dim}: a basis there has \
                 several bits"
            ),
            FamilyError::Unsupported { parameter, value } => {
                write!(f, "`{parameter}` cannot be {value}")
            }
            FamilyError::Layout(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for FamilyError {}

/// What becomes of registers beyond the tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surplus {
    /// They disappear.
    Dropped,
    /// They hold copies.
    Copies,
}

/// The bases of a distributed layout while it is being built: each a vector of coordinates,
/// `dim0` first.
#[derive(Clone, Default)]
struct Tile {
    register: Vec<Vec<u64>>,
    lane: Vec<Vec<u64>>,
    warp: Vec<Vec<u64>>,
}

impl Tile {
    /// The extent of the tile along an axis: the smallest power of two above all coordinates.
    fn size(&self, dim: usize) -> u64 {
        let coordinates = [&self.register, &self.lane, &self.warp].into_iter().flatten();
        let all = coordinates.fold(0, |all, basis| all | basis.get(dim).copied().unwrap_or(0));
        all.checked_add(1).and_then(u64::checked_next_power_of_two).unwrap_or(u64::MAX)
    }

    /// The tile made as large as `shape` by appending registers, axis by axis in `order`.
    fn grow(&mut self, shape: &[u64], order: &[usize]) {
        for &dim in order {
            let mut size = self.size(dim);
            while size < shape.get(dim).copied().unwrap_or(1) {
                self.register.push(unit(shape.len(), dim, size));
                size = size.saturating_mul(2);
            }
        }
    }

    /// The tile cut to `shape`: lanes and warps beyond it become copies.
    fn cut(&mut self, shape: &[u64], surplus: Surplus) -> Result<(), FamilyError> {
        for (dim, &size) in shape.iter().enumerate() {
            if surplus == Surplus::Dropped {
                self.register.retain(|basis| !beyond(basis, dim, size) || !is_unit(basis));
            }
            let bases = self.register.iter_mut().chain(&mut self.lane).chain(&mut self.warp);
            for basis in bases.filter(|basis| beyond(basis, dim, size)) {
                if !is_unit(basis) {
                    return Err(FamilyError::CannotCut { dim, size });
                }
                basis.fill(0);
            }
        }
        Ok(())
    }

    /// The layout of the tile in each block, with `blocks` choosing the block's part of `shape`.
    fn layout(
        mut self,
        shape: &[u64],
        order: &[usize],
        blocks: &[Vec<u64>],
        surplus: Surplus,
    ) -> Result<Layout, FamilyError> {
        let outs = Space::tensor(shape)?;
        if let Some(basis) = blocks.iter().find(|basis| basis.len() != shape.len()) {
            return Err(FamilyError::Rank { expected: shape.len(), found: basis.len() });
        }
        let mut block_shape = shape.to_vec();
        for (dim, size) in block_shape.iter_mut().enumerate() {
            let splits = blocks.iter().filter(|basis| basis[dim] != 0).count() as u32;
            *size = size.checked_shr(splits).unwrap_or(0).max(1);
        }
        self.grow(&block_shape, order);
        self.cut(&block_shape, surplus)?;
        let scale = |(dim, &part): (usize, &u64)| part.saturating_mul(block_shape[dim]);
        let fit = |(c, &size): (u64, &u64)| if c < size { c } else { 0 };
        let block: Vec<Vec<u64>> = (blocks.iter())
            .map(|basis| basis.iter().enumerate().map(scale).zip(shape).map(fit).collect())
            .collect();
        let bases =
            [(REGISTER, self.register), (LANE, self.lane), (WARP, self.warp), (BLOCK, block)];
        Ok(Layout::from_bases(&bases, outs)?)
    }
}

/// The coordinates that are `value` along one axis and zero along the others.
fn unit(rank: usize, dim: usize, value: u64) -> Vec<u64> {
    (0..rank).map(|other| if other == dim { value } else { 0 }).collect()
}

/// Whether a basis leaves a tensor of this size along an axis.
fn beyond(basis: &[u64], dim: usize, size: u64) -> bool {
    basis.get(dim).is_some_and(|&coordinate| coordinate >= size)
}

/// Whether a basis is a single bit of a single axis.
fn is_unit(basis: &[u64]) -> bool {
    basis.iter().map(|coordinate| coordinate.count_ones()).sum::<u32>() == 1
}

/// Checks that `order` is a permutation of `0..rank`.
fn check_order(order: &[usize], rank: usize) -> Result<(), FamilyError> {
    if order.len() != rank {
        return Err(FamilyError::Rank { expected: rank, found: order.len() });
    }
    let complete = (0..rank).all(|dim| order.contains(&dim));
    if complete { Ok(()) } else { Err(FamilyError::BadOrder) }
}

/// Checks the length of a list and that it holds powers of two.
fn check_sizes(parameter: &'static str, values: &[u64], rank: usize) -> Result<(), FamilyError> {
    if values.len() != rank {
        return Err(FamilyError::Rank { expected: rank, found: values.len() });
    }
    match values.iter().find(|value| !value.is_power_of_two()) {
        Some(&value) => Err(FamilyError::NotPowerOfTwo { parameter, value }),
        None => Ok(()),
    }
}
