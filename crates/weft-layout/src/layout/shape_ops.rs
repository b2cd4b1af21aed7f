//! What the shape operations of a tensor do to its layout (the paper's theorem 9.3).
//!
//! None of them moves data: each place keeps what it holds, and the layout says what that is
//! called.
//! The outputs must be the axes of a tensor, minor first ([`Space::tensor`]).

use alloc::vec::Vec;

use super::{Layout, LayoutError, map_rows};
use crate::{
    f2::ones,
    space::{Label, REGISTER, Space},
};

impl Layout {
    /// `tt.trans`: axis `i` of the result is axis `order[i]` of `self`.
    pub fn transpose(&self, order: &[usize]) -> Result<Layout, LayoutError> {
        let shape = self.tensor_shape()?;
        if order.len() != shape.len() || (0..shape.len()).any(|dim| !order.contains(&dim)) {
            return Err(LayoutError::NotPermutation);
        }
        let new_shape: Vec<u64> = order.iter().map(|&dim| shape[dim]).collect();
        let outs = Space::tensor(&new_shape)?;
        let new_dim = |dim: usize| order.iter().position(|&old| old == dim);
        self.rename_rows(outs, |dim| new_dim(dim as usize).map(|new| new as u32))
    }

    /// The inverse of [`transpose`](Layout::transpose): the layout of the operand, given that of
    /// the result.
    pub fn transpose_back(&self, order: &[usize]) -> Result<Layout, LayoutError> {
        let inverse: Option<Vec<usize>> =
            (0..order.len()).map(|dim| order.iter().position(|&old| old == dim)).collect();
        self.transpose(&inverse.ok_or(LayoutError::NotPermutation)?)
    }

    /// `tt.reshape`: the same row-major index, other axes; its own inverse.
    pub fn reshape(&self, shape: &[u64]) -> Result<Layout, LayoutError> {
        self.tensor_shape()?;
        self.reshape_outs(Space::tensor(shape)?)
    }

    /// `tt.expand_dims`: a new axis of size 1 before axis `axis`.
    pub fn expand_dims(&self, axis: usize) -> Result<Layout, LayoutError> {
        let mut shape = self.tensor_shape()?;
        if axis > shape.len() {
            return Err(LayoutError::NoSuchDim { dim: axis, rank: shape.len() });
        }
        shape.insert(axis, 1);
        self.reshape(&shape)
    }

    /// Without axis `axis`: what is left of the places of a tensor that is reduced along it.
    ///
    /// All inputs stay; those that only moved along the axis have become zero bases.
    pub fn slice(&self, axis: usize) -> Result<Layout, LayoutError> {
        let mut shape = self.tensor_shape()?;
        if axis >= shape.len() {
            return Err(LayoutError::NoSuchDim { dim: axis, rank: shape.len() });
        }
        shape.remove(axis);
        let axis = axis as u32;
        self.rename_rows(Space::tensor(&shape)?, |dim| match dim {
            dim if dim == axis => None,
            dim => Some(if dim > axis { dim - 1 } else { dim }),
        })
    }

    /// `tt.broadcast` forward: the layout of the result of shape `shape`.
    ///
    /// Axes of size 1 grow; every thread holds all that it stands for, in new registers appended
    /// minor axis first.
    pub fn broadcast(&self, shape: &[u64]) -> Result<Layout, LayoutError> {
        let grown = Layout::grown_axes(&self.tensor_shape()?, shape)?;
        let outs = Space::tensor(shape)?;
        let rows = self.outs.embedding(&outs)?;
        let wide = map_rows(&self.matrix, outs.total_bits(), rows.columns())?;
        let wide = Layout::from_matrix(self.ins.clone(), outs, wide)?;
        let new_bits: u64 = grown.iter().fold(0, |mask, &dim| mask | wide.outs.mask(dim));
        let bits: Vec<u64> = ones(new_bits).map(|bit| 1 << bit).collect();
        wide.with_registers(&bits, End::Major)
    }

    /// `tt.broadcast` backward: the layout of the operand of shape `shape`, given that of the
    /// result; the components along the broadcast axes are dropped.
    pub fn broadcast_back(&self, shape: &[u64]) -> Result<Layout, LayoutError> {
        let own = self.tensor_shape()?;
        Layout::grown_axes(shape, &own)?;
        let outs = Space::tensor(shape)?;
        let kept = |dim: u32| shape.get(dim as usize).is_some_and(|&size| size > 1);
        self.rename_rows(outs, |dim| kept(dim).then_some(dim))
    }

    /// `tt.join`: a new last axis of size 2, on register bit 0.
    pub fn join(&self) -> Result<Layout, LayoutError> {
        let mut shape = self.tensor_shape()?;
        shape.push(2);
        let outs = Space::tensor(&shape)?;
        let rows: Vec<u64> = (1..outs.total_bits()).map(|bit| 1 << bit).collect();
        let matrix = map_rows(&self.matrix, outs.total_bits(), &rows)?;
        Layout::from_matrix(self.ins.clone(), outs, matrix)?.with_registers(&[1], End::Minor)
    }

    /// `tt.split`: without the last axis of size 2.
    /// Returns the layout of each half and the register bit that tells them apart.
    ///
    /// Fails unless that axis lies on one register bit of its own: elsewhere half of the threads
    /// would hold nothing.
    pub fn split(&self) -> Result<(Layout, u32), LayoutError> {
        let mut shape = self.tensor_shape()?;
        let position = self.columns(REGISTER).iter().position(|&column| column == 1);
        let holders = self.matrix.columns().iter().filter(|&&column| column & 1 == 1).count();
        let (Some(2), Some(position), 1) = (shape.pop(), position, holders) else {
            return Err(LayoutError::NotSplit);
        };
        let outs = Space::tensor(&shape)?;
        let rows: Vec<u64> = (0..self.outs.total_bits())
            .map(|bit| bit.checked_sub(1).map_or(0, |bit| 1 << bit))
            .collect();
        let matrix = map_rows(&self.matrix, outs.total_bits(), &rows)?;
        let half = Layout::from_matrix(self.ins.clone(), outs, matrix)?;
        Ok((half.without_bits(REGISTER, &[position as u32])?, position as u32))
    }

    fn tensor_shape(&self) -> Result<Vec<u64>, LayoutError> {
        if self.outs.is_tensor() { Ok(self.shape()) } else { Err(LayoutError::NotTensor) }
    }

    /// The rows of each axis moved to the axis that `new_dim` names in `outs`, or dropped.
    fn rename_rows(
        &self,
        outs: Space,
        new_dim: impl Fn(u32) -> Option<u32>,
    ) -> Result<Layout, LayoutError> {
        let mut rows = Vec::with_capacity(self.outs.total_bits() as usize);
        for (label, _, bits) in self.outs.iter() {
            let target = label.dim_index().and_then(&new_dim).map(Label::dim);
            let offset = target.and_then(|label| outs.offset_of(label));
            rows.extend((0..bits).map(|bit| {
                offset.map_or(0, |offset| 1_u64.checked_shl(offset + bit).unwrap_or(0))
            }));
        }
        let matrix = map_rows(&self.matrix, outs.total_bits(), &rows)?;
        Layout::from_matrix(self.ins.clone(), outs, matrix)
    }

    /// The labels of the axes that grow from `small` to `large`; all others must be equal.
    fn grown_axes(small: &[u64], large: &[u64]) -> Result<Vec<Label>, LayoutError> {
        if small.len() != large.len() {
            return Err(LayoutError::NoSuchDim { dim: large.len(), rank: small.len() });
        }
        let mut grown = Vec::new();
        for (dim, (&from, &to)) in small.iter().zip(large).enumerate() {
            match (from, to) {
                (from, to) if from == to => {}
                (1, _) => grown.push(Label::dim(dim as u32)),
                _ => return Err(LayoutError::NotBroadcast { dim, from, to }),
            }
        }
        Ok(grown)
    }

    /// With more register bits of these images, below or above those present.
    pub(crate) fn with_registers(&self, images: &[u64], end: End) -> Result<Layout, LayoutError> {
        let mut axes: Vec<(Label, u32)> = self.ins.axes().to_vec();
        if !self.ins.contains(REGISTER) {
            axes.insert(0, (REGISTER, 0));
        }
        let mut columns = Vec::with_capacity(self.matrix.columns().len() + images.len());
        for (label, bits) in &mut axes {
            let present = self.columns(*label);
            if *label != REGISTER {
                columns.extend_from_slice(present);
                continue;
            }
            *bits += images.len() as u32;
            let (first, second) =
                if end == End::Minor { (images, present) } else { (present, images) };
            columns.extend_from_slice(first);
            columns.extend_from_slice(second);
        }
        Layout::new(Space::new(&axes)?, self.outs.clone(), &columns)
    }
}

/// At which end of an axis bits are added.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Below the bits present.
    Minor,
    /// Above the bits present.
    Major,
}
