//! What the shape operations of a tensor do to its layout (the paper's theorem 9.3).
//!
//! None of them moves data: each place keeps what it holds, and only the element's index changes.
//! The outputs must be the axes of a tensor, minor first ([`Space::tensor`]).

use alloc::vec::Vec;

use super::{Layout, LayoutError, placement::Places};
use crate::{
    f2::ones,
    space::{Label, REGISTER, Space},
};

impl Layout {
    /// `tt.trans`: axis `i` of the result is axis `order[i]` of `self`.
    pub fn transpose(&self, order: &[usize]) -> Result<Layout, LayoutError> {
        let bits = self.tensor_bits()?;
        if order.len() != bits.len() || (0..bits.len()).any(|dim| !order.contains(&dim)) {
            return Err(LayoutError::NotPermutation);
        }
        let moved = order.iter().map(|&dim| bits.get(dim).copied().unwrap_or(0));
        let outs = tensor_of(&moved.collect::<Vec<_>>())?;
        self.rename_outs(outs, |dim| order.iter().position(|&old| old == dim))
    }

    /// `tt.trans` backward: the layout of the operand, given that of the result.
    pub fn transpose_back(&self, order: &[usize]) -> Result<Layout, LayoutError> {
        let inverse: Option<Vec<usize>> =
            (0..order.len()).map(|dim| order.iter().position(|&old| old == dim)).collect();
        self.transpose(&inverse.ok_or(LayoutError::NotPermutation)?)
    }

    /// `tt.reshape`: the same row-major index, other axes.
    pub fn reshape(&self, shape: &[u64]) -> Result<Layout, LayoutError> {
        self.tensor_bits()?;
        self.reshape_outs(Space::tensor(shape)?)
    }

    /// `tt.reshape` backward: the layout of the operand, whose shape is `shape`, given that of the
    /// result.
    pub fn reshape_back(&self, shape: &[u64]) -> Result<Layout, LayoutError> {
        self.reshape(shape)
    }

    /// `tt.expand_dims`: a new axis of size 1 before axis `axis`.
    pub fn expand_dims(&self, axis: usize) -> Result<Layout, LayoutError> {
        let mut bits = self.tensor_bits()?;
        if axis > bits.len() {
            return Err(LayoutError::NoSuchDim { dim: axis, rank: bits.len() });
        }
        bits.insert(axis, 0);
        self.reshape_outs(tensor_of(&bits)?)
    }

    /// `tt.expand_dims` backward: the layout of the operand, given that of the result, whose axis
    /// `axis` has size 1.
    pub fn expand_dims_back(&self, axis: usize) -> Result<Layout, LayoutError> {
        match self.tensor_bits()?.get(axis) {
            Some(0) | None => self.slice(axis),
            Some(&bits) => Err(LayoutError::NotSqueezable { label: Label::dim(axis as u32), bits }),
        }
    }

    /// Without axis `axis`: what is left of the places of a tensor that is reduced along it
    /// (proposition 4.8).
    ///
    /// All inputs stay; those that only moved along the axis have become zero bases.
    pub fn slice(&self, axis: usize) -> Result<Layout, LayoutError> {
        let mut bits = self.tensor_bits()?;
        if axis >= bits.len() {
            return Err(LayoutError::NoSuchDim { dim: axis, rank: bits.len() });
        }
        bits.remove(axis);
        self.rename_outs(tensor_of(&bits)?, |dim| match dim {
            dim if dim == axis => None,
            dim => Some(if dim > axis { dim - 1 } else { dim }),
        })
    }

    /// `tt.broadcast` forward: the layout of the result of shape `shape`.
    ///
    /// Axes of size 1 grow; every thread holds all that it stands for, in new registers appended
    /// minor axis first.
    pub fn broadcast(&self, shape: &[u64]) -> Result<Layout, LayoutError> {
        let own = self.tensor_bits()?;
        let outs = Space::tensor(shape)?;
        let grown = grown_axes(&own, &outs)?;
        let wide = self.with_outs(outs)?;
        let new_bits: u64 = grown.iter().fold(0, |mask, &dim| mask | wide.outs.mask(dim));
        let bits: Vec<u64> = ones(new_bits).map(|bit| 1 << bit).collect();
        wide.with_bits(REGISTER, &bits, End::Major)
    }

    /// `tt.broadcast` backward: the layout of the operand of shape `shape`, given that of the
    /// result; the components along the broadcast axes are dropped.
    pub fn broadcast_back(&self, shape: &[u64]) -> Result<Layout, LayoutError> {
        self.tensor_bits()?;
        let outs = Space::tensor(shape)?;
        grown_axes(&bits_of(&outs), &self.outs)?;
        self.with_outs(outs)
    }

    /// `tt.join`: a new last axis of size 2, on register bit 0.
    pub fn join(&self) -> Result<Layout, LayoutError> {
        let mut bits = self.tensor_bits()?;
        bits.push(1);
        self.rename_outs(tensor_of(&bits)?, Some)?.with_bits(REGISTER, &[1], End::Minor)
    }

    /// `tt.join` backward: the layout of both operands, given that of the result, whose last axis has
    /// size 2.
    ///
    /// A register bit that only moves along the last axis disappears.
    /// Where the axis lies elsewhere each thread keeps its place in both operands, and holds more of
    /// them than it needs.
    pub fn join_back(&self) -> Result<Layout, LayoutError> {
        let (half, holders) = self.half()?;
        match holders[..] {
            [(REGISTER, bit)] if half.basis(REGISTER, bit) == 0 => {
                half.without_bits(REGISTER, &[bit])
            }
            _ => Ok(half),
        }
    }

    /// `tt.split`: without the last axis of size 2.
    /// Returns the layout of each half and the register bit that tells them apart.
    ///
    /// Fails unless that axis lies on one register bit of its own: elsewhere half of the threads
    /// would hold nothing.
    pub fn split(&self) -> Result<(Layout, u32), LayoutError> {
        let (half, holders) = self.half()?;
        match holders[..] {
            [(REGISTER, bit)] if half.basis(REGISTER, bit) == 0 => {
                Ok((half.without_bits(REGISTER, &[bit])?, bit))
            }
            _ => Err(LayoutError::NotSplit { size: Some(2), holders }),
        }
    }

    /// `tt.split` backward: the layout of the operand, given that of both results: the same as
    /// [`join`](Layout::join) forward.
    pub fn split_back(&self) -> Result<Layout, LayoutError> {
        self.join()
    }

    /// Without the last axis, which must have size 2, and the input bits that reach it.
    fn half(&self) -> Result<(Layout, Vec<(Label, u32)>), LayoutError> {
        let bits = self.tensor_bits()?;
        match bits[..] {
            [.., 1] => {}
            _ => {
                let size = bits.last().map(|&bits| 1_u64.checked_shl(bits).unwrap_or(u64::MAX));
                return Err(LayoutError::NotSplit { size, holders: Vec::new() });
            }
        }
        // The last axis is the lowest output bit.
        let holders = self.ins.labels().flat_map(|label| {
            let columns = (0..).zip(self.columns(label)).filter(|&(_, &column)| column & 1 == 1);
            columns.map(move |(bit, _)| (label, bit))
        });
        Ok((self.slice(bits.len() - 1)?, holders.collect()))
    }

    /// The bits of each axis of the tensor that the outputs are, `dim0` first.
    fn tensor_bits(&self) -> Result<Vec<u32>, LayoutError> {
        if self.outs.is_tensor() { Ok(bits_of(&self.outs)) } else { Err(LayoutError::NotTensor) }
    }

    /// The axes of the tensor under the numbers that `new_dim` gives them in `outs`, or dropped.
    fn rename_outs(
        &self,
        outs: Space,
        new_dim: impl Fn(usize) -> Option<usize>,
    ) -> Result<Layout, LayoutError> {
        let target = |label: Label| {
            let dim = label.dim_index().and_then(|dim| new_dim(dim as usize))?;
            Some((Label::dim(dim as u32), 0))
        };
        let places = Places::renamed(&self.outs, &outs, target);
        let columns = self.matrix.columns().iter().map(|&column| places.place(column));
        Layout::from_columns(self.ins.clone(), outs, columns)
    }

    /// With more bits of these images on an input axis, below or above those present; an axis that is
    /// missing comes first.
    pub(super) fn with_bits(
        &self,
        label: Label,
        images: &[u64],
        end: End,
    ) -> Result<Layout, LayoutError> {
        let mut axes: Vec<(Label, u32)> = self.ins.axes().to_vec();
        if !self.ins.contains(label) {
            axes.insert(0, (label, 0));
        }
        let mut columns = Vec::with_capacity(self.matrix.columns().len() + images.len());
        for (axis, bits) in &mut axes {
            let present = self.columns(*axis);
            if *axis != label {
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
pub(super) enum End {
    /// Below the bits present.
    Minor,
    /// Above the bits present.
    Major,
}

/// The bits of each axis of a tensor, `dim0` first.
fn bits_of(tensor: &Space) -> Vec<u32> {
    tensor.axes().iter().rev().map(|axis| axis.1).collect()
}

/// The tensor whose axes have these bits, `dim0` first.
fn tensor_of(bits: &[u32]) -> Result<Space, LayoutError> {
    let axes = bits.iter().enumerate().rev().map(|(dim, &bits)| (Label::dim(dim as u32), bits));
    Ok(Space::new(&axes.collect::<Vec<_>>())?)
}

/// The axes that grow from size 1 to that in `large`; all others must be equal.
fn grown_axes(small: &[u32], large: &Space) -> Result<Vec<Label>, LayoutError> {
    let large = bits_of(large);
    if small.len() != large.len() {
        return Err(LayoutError::Rank { expected: small.len(), found: large.len() });
    }
    let mut grown = Vec::new();
    for (dim, (&from, &to)) in small.iter().zip(&large).enumerate() {
        match (from, to) {
            (from, to) if from == to => {}
            (0, _) => grown.push(Label::dim(dim as u32)),
            _ => {
                let size = |bits: u32| 1_u64.checked_shl(bits).unwrap_or(u64::MAX);
                return Err(LayoutError::NotBroadcast { dim, from: size(from), to: size(to) });
            }
        }
    }
    Ok(grown)
}
