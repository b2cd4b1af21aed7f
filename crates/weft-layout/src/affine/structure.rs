//! Operators on the axes and the shape of an affine layout: those of its linear part, with the
//! constant carried along.

use alloc::vec::Vec;

use super::Affine;
use crate::{
    layout::{Layout, LayoutError},
    space::{Label, Space},
};

impl Affine {
    /// The same map with its input axes in another order, as [`Layout::transpose_ins`] has it.
    pub fn transpose_ins(&self, order: &[Label]) -> Result<Affine, LayoutError> {
        Ok(self.with_layout(self.layout().transpose_ins(order)?))
    }

    /// The same map with its output axes in another order, as [`Layout::transpose_outs`] has it.
    pub fn transpose_outs(&self, order: &[Label]) -> Result<Affine, LayoutError> {
        self.carried(|layout| layout.transpose_outs(order))
    }

    /// The same map on input axes that are cut in another way, as [`Layout::reshape_ins`] cuts them.
    pub fn reshape_ins(&self, ins: Space) -> Result<Affine, LayoutError> {
        Ok(self.with_layout(self.layout().reshape_ins(ins)?))
    }

    /// The same map to output axes that are cut in another way, as [`Layout::reshape_outs`] cuts them.
    pub fn reshape_outs(&self, outs: &Space) -> Result<Affine, LayoutError> {
        self.carried(|layout| layout.reshape_outs(outs.clone()))
    }

    /// The same map with another label for an input axis; see [`Layout::rename_in`].
    pub fn rename_in(&self, from: Label, to: Label) -> Result<Affine, LayoutError> {
        Ok(self.with_layout(self.layout().rename_in(from, to)?))
    }

    /// The same map with another label for an output axis; see [`Layout::rename_out`].
    pub fn rename_out(&self, from: Label, to: Label) -> Result<Affine, LayoutError> {
        self.carried(|layout| layout.rename_out(from, to))
    }

    /// The map with so many bits along an input axis; see [`Layout::resize_in`].
    pub fn resize_in(&self, label: Label, bits: u32) -> Result<Affine, LayoutError> {
        Ok(self.with_layout(self.layout().resize_in(label, bits)?))
    }

    /// The map without an input axis of size 1; see [`Layout::squeeze_in`].
    pub fn squeeze_in(&self, label: Label) -> Result<Affine, LayoutError> {
        Ok(self.with_layout(self.layout().squeeze_in(label)?))
    }

    /// The map without an output axis of size 1; see [`Layout::squeeze_out`].
    pub fn squeeze_out(&self, label: Label) -> Result<Affine, LayoutError> {
        self.carried(|layout| layout.squeeze_out(label))
    }

    /// The inputs of `self`, then those of `other`.
    ///
    /// Place zero belongs to both, so that the outputs, matched by label, and the constants must be
    /// equal; fails with the axis or the bits of the outputs at which they differ.
    pub fn concat_ins(&self, other: &Affine) -> Result<Affine, LayoutError> {
        let layout = self.layout().concat_ins(other.layout())?;
        let moved = other.outs().embedding(self.outs())?.apply(other.constant());
        match self.constant() ^ moved {
            0 => Ok(self.with_layout(layout)),
            bits => Err(self.constant_differs(bits)),
        }
    }

    /// [`Layout::concat_outs`]: the outputs of `self`, then those of `other`; so are the constants.
    pub fn concat_outs(&self, other: &Affine) -> Result<Affine, LayoutError> {
        let layout = self.layout().concat_outs(other.layout())?;
        let major = other.constant().checked_shl(self.outs().total_bits()).unwrap_or(0);
        Affine::new(layout, self.constant() | major)
    }

    /// Only the named input axes, in their present order; the others are held at zero.
    pub fn restrict_ins(&self, labels: &[Label]) -> Result<Affine, LayoutError> {
        Ok(self.with_layout(self.layout().restrict_ins(labels)?))
    }

    /// Without one input axis, which is held at `value`: what warp 3 holds, say.
    ///
    /// Fails when there is no such axis or `value` does not fit it.
    pub fn fix(&self, axis: Label, value: u64) -> Result<Affine, LayoutError> {
        let constant = self.apply_flat(self.ins().pack(&[(axis, value)])?);
        let others: Vec<Label> = self.ins().labels().filter(|&label| label != axis).collect();
        Affine::new(self.layout().restrict_ins(&others)?, constant)
    }

    /// Only the named input and output axes, in their present order; the other inputs are held at
    /// zero.
    pub fn sublayout(&self, ins: &[Label], outs: &[Label]) -> Result<Affine, LayoutError> {
        self.restrict_ins(ins)?.carried(|layout| {
            let all: Vec<Label> = layout.ins().labels().collect();
            layout.sublayout(&all, outs)
        })
    }

    /// The map without the bits of an input axis that change nothing, and which bits are left; see
    /// [`Layout::remove_zero_columns`].
    pub fn remove_zero_columns(&self, label: Label) -> Result<(Affine, Vec<u32>), LayoutError> {
        let (layout, removed) = self.layout().remove_zero_columns(label)?;
        Ok((self.with_layout(layout), removed))
    }

    /// [`Layout::without_bits`]: the bits are held at zero.
    pub fn without_bits(&self, label: Label, bits: &[u32]) -> Result<Affine, LayoutError> {
        Ok(self.with_layout(self.layout().without_bits(label, bits)?))
    }

    /// The layout of the transposed tensor; see [`Layout::transpose`].
    pub fn transpose(&self, order: &[usize]) -> Result<Affine, LayoutError> {
        self.carried(|layout| layout.transpose(order))
    }

    /// The layout of the tensor whose transpose lies in this one; see [`Layout::transpose_back`].
    pub fn transpose_back(&self, order: &[usize]) -> Result<Affine, LayoutError> {
        self.carried(|layout| layout.transpose_back(order))
    }

    /// The layout of the reshaped tensor; see [`Layout::reshape`].
    pub fn reshape(&self, shape: &[u64]) -> Result<Affine, LayoutError> {
        self.carried(|layout| layout.reshape(shape))
    }

    /// The layout of the tensor with one more axis, of size 1; see [`Layout::expand_dims`].
    pub fn expand_dims(&self, axis: usize) -> Result<Affine, LayoutError> {
        self.carried(|layout| layout.expand_dims(axis))
    }

    /// The layout of the tensor without an axis of size 1; see [`Layout::expand_dims_back`].
    pub fn expand_dims_back(&self, axis: usize) -> Result<Affine, LayoutError> {
        let layout = self.layout().expand_dims_back(axis)?;
        // The axis has size 1, so that the flat place does not change.
        Affine::new(layout, self.constant())
    }

    /// [`Layout::slice`]: the constant loses its coordinate in the axis too.
    pub fn slice(&self, axis: usize) -> Result<Affine, LayoutError> {
        self.carried(|layout| layout.slice(axis))
    }

    /// The layout of the tensor broadcast to a shape; see [`Layout::broadcast`].
    pub fn broadcast(&self, shape: &[u64]) -> Result<Affine, LayoutError> {
        let layout = self.layout().broadcast(shape)?;
        let constant = self.outs().embedding(layout.outs())?.apply(self.constant());
        Affine::new(layout, constant)
    }

    /// A layout whose broadcast is this one; see [`Layout::broadcast_back`].
    pub fn broadcast_back(&self, shape: &[u64]) -> Result<Affine, LayoutError> {
        self.carried(|layout| layout.broadcast_back(shape))
    }

    /// The layout of two such tensors joined along a new last axis; see [`Layout::join`].
    pub fn join(&self) -> Result<Affine, LayoutError> {
        self.carried(Layout::join)
    }

    /// [`Layout::split`]: the layout of each half, the register bit that
    /// tells them apart, and whether the constant exchanges them.
    ///
    /// When it does, the registers with that bit set hold half 0.
    pub fn split(&self) -> Result<(Affine, u32, bool), LayoutError> {
        let (half, position) = self.layout().split()?;
        let exchanged = self.constant() & 1 == 1;
        // The last axis, of size 2, is the lowest bit of the outputs.
        Ok((Affine::new(half, self.constant() >> 1)?, position, exchanged))
    }
}
