use alloc::{boxed::Box, vec::Vec};

use crate::{
    affine::Padded,
    family::{Family, FamilyError, check_sizes, unit},
    layout::{Bases, Layout},
    space::{OFFSET, PARTITION, Space},
};

/// A tensor dealt out along one axis to several memories.
///
/// The axis is cut into `numPartitions · numGroups` pieces; piece `i` lies in memory
/// `i mod numPartitions`, as number `i / numPartitions` there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionedShared {
    /// How many memories; a power of two, at least 2.
    pub num_partitions: u64,
    /// How many pieces each memory holds; a power of two.
    pub num_groups: u64,
    /// The axis that is cut.
    pub partition_dim: usize,
    /// How a piece lies in its memory.
    pub partition_layout: Box<Family>,
}

impl PartitionedShared {
    /// The layout of a tensor of this shape: `[offset, block, partition]`, offsets in elements from
    /// the start of each memory.
    pub fn layout(&self, shape: &[u64]) -> Result<Layout, FamilyError> {
        let piece = self.piece(shape)?;
        self.deal(&self.partition_layout.layout(&piece)?, &piece, shape)
    }

    /// The layout with the gaps of the pieces, which go on from one piece of a memory to the next.
    pub fn padded(&self, shape: &[u64]) -> Result<Padded, FamilyError> {
        let piece = self.piece(shape)?;
        let padded = self.partition_layout.padded(&piece)?;
        let layout = self.deal(padded.layout(), &piece, shape)?;
        Ok(Padded::new(layout, padded.paddings())?)
    }

    /// The sizes of a piece.
    fn piece(&self, shape: &[u64]) -> Result<Vec<u64>, FamilyError> {
        check_sizes("shape", shape, shape.len())?;
        check_sizes("numPartitions", &[self.num_partitions], 1)?;
        check_sizes("numGroups", &[self.num_groups], 1)?;
        if self.num_partitions < 2 {
            let (parameter, expected) = ("numPartitions", "a power of two from 2 on");
            return Err(FamilyError::Value { parameter, value: 1, expected });
        }
        let dim = self.partition_dim;
        let Some(&size) = shape.get(dim) else {
            let (parameter, expected) = ("partitionDim", "an axis of the tensor");
            return Err(FamilyError::Value { parameter, value: dim as u64, expected });
        };
        let needed = self.num_partitions.saturating_mul(self.num_groups);
        if size < needed {
            return Err(FamilyError::TooSmall { dim, size, needed });
        }
        let mut piece = shape.to_vec();
        piece[dim] = size / needed;
        Ok(piece)
    }

    /// The pieces in their memories, given the layout of one.
    fn deal(&self, piece: &Layout, sizes: &[u64], shape: &[u64]) -> Result<Layout, FamilyError> {
        let dim = self.partition_dim;
        let steps = |first: u64, count: u64| {
            (0..count.trailing_zeros()).map(move |bit| unit(shape.len(), dim, first << bit))
        };
        let size = sizes[dim];
        let mut bases: Bases = piece.bases();
        let Some((_, offset)) = bases.iter_mut().find(|axis| axis.0 == OFFSET) else {
            return Err(FamilyError::NoOffsets);
        };
        offset.extend(steps(size * self.num_partitions, self.num_groups));
        let partitions = steps(size, self.num_partitions);
        match bases.iter_mut().find(|axis| axis.0 == PARTITION) {
            Some((_, partition)) => partition.extend(partitions),
            None => bases.push((PARTITION, partitions.collect())),
        }
        Ok(Layout::from_bases(&bases, Space::tensor(shape)?)?)
    }
}
