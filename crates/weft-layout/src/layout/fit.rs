//! Fitting a layout to a tensor that is smaller or larger than it.

use alloc::vec::Vec;

use super::{Layout, LayoutError, placement::Places, shape_ops::End};
use crate::space::{Label, REGISTER, Space, SpaceError};

/// What becomes of registers that lie beyond the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Surplus {
    /// They disappear from the layout.
    Dropped,
    /// They stay as copies: their bases become zero.
    Copies,
}

impl Layout {
    /// The layout of a tensor that is nowhere larger than `shape` (`dim0` first).
    ///
    /// Bases beyond it become zero: those lanes, warps and blocks hold copies, and so do registers
    /// unless they are [dropped](Surplus::Dropped).
    /// Axes that are smaller already stay as they are.
    ///
    /// Fails when the outputs are no tensor, the number of axes or a size is wrong, or with the first
    /// basis beyond the tensor that is more than one bit, so that it cannot be cut.
    ///
    /// ```
    /// use weft_layout::{interop::parse_layout, layout::Surplus};
    ///
    /// let wide = parse_layout("[register: 1 8, lane: 2 4] -> [dim0: 16]")?;
    /// let four = parse_layout("[register: 1, lane: 2 0] -> [dim0: 4]")?;
    /// assert_eq!(wide.cut_to(&[4], Surplus::Dropped)?, four);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cut_to(&self, shape: &[u64], surplus: Surplus) -> Result<Layout, LayoutError> {
        let wanted = self.fitting_axes(shape)?;
        let least =
            |(&(label, bits), &(_, own)): (&(Label, u32), &(Label, u32))| (label, bits.min(own));
        let axes: Vec<_> = wanted.axes().iter().zip(self.outs.axes()).map(least).collect();
        let outs = Space::new(&axes)?;
        let places = Places::between(&self.outs, &outs, |_| 0);
        let beyond = |column: u64| places.place(column).count_ones() < column.count_ones();
        let mut dropped = Vec::new();
        let mut columns = Vec::with_capacity(self.matrix.columns().len());
        for label in self.ins.labels() {
            for (bit, &column) in (0..).zip(self.columns(label)) {
                if beyond(column) && column.count_ones() > 1 {
                    let image = self.outs.unpack(column);
                    return Err(LayoutError::CannotCut { label, bit, image, outs });
                }
                if beyond(column) && label == REGISTER && surplus == Surplus::Dropped {
                    dropped.push(bit);
                }
                columns.push(places.place(column));
            }
        }
        Layout::new(self.ins.clone(), outs, &columns)?.without_bits(REGISTER, &dropped)
    }

    /// The layout of a tensor that is nowhere smaller than `shape` (`dim0` first).
    ///
    /// Bits are added at the top of the input axis `label`, walking along the axes of the tensor in
    /// `order`; axes that are larger already stay as they are.
    ///
    /// Fails when the outputs are no tensor, `order` is no permutation of its axes, the number of
    /// axes or a size is wrong, or there would be more than 64 bits.
    ///
    /// ```
    /// use weft_layout::{interop::parse_layout, space::REGISTER};
    ///
    /// let tile = parse_layout("[register: (0,1), lane: (1,0)] -> [dim0: 2, dim1: 2]")?;
    /// let grown = parse_layout(
    ///     "[register: (0,1) (0,2) (2,0), lane: (1,0)] -> [dim0: 4, dim1: 4]",
    /// )?;
    /// assert_eq!(tile.grow_to(REGISTER, &[4, 4], &[1, 0])?, grown);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn grow_to(
        &self,
        label: Label,
        shape: &[u64],
        order: &[usize],
    ) -> Result<Layout, LayoutError> {
        let wanted = self.fitting_axes(shape)?;
        if order.len() != shape.len() || (0..shape.len()).any(|dim| !order.contains(&dim)) {
            return Err(LayoutError::NotPermutation);
        }
        let most =
            |(&(label, bits), &(_, own)): (&(Label, u32), &(Label, u32))| (label, bits.max(own));
        let axes: Vec<_> = wanted.axes().iter().zip(self.outs.axes()).map(most).collect();
        let outs = Space::new(&axes)?;
        let wide = self.with_outs(outs)?;
        let added = order.iter().flat_map(|&dim| {
            let axis = Label::dim(dim as u32);
            let offset = wide.outs.offset_of(axis).unwrap_or(0);
            (self.outs.bits(axis)..wide.outs.bits(axis)).map(move |bit| 1 << (offset + bit))
        });
        let added: Vec<u64> = added.collect();
        wide.with_bits(label, &added, End::Major)
    }

    /// The axes of a tensor of this shape, of as many axes as the outputs.
    fn fitting_axes(&self, shape: &[u64]) -> Result<Space, LayoutError> {
        if !self.outs.is_tensor() {
            return Err(LayoutError::NotTensor);
        }
        let rank = self.outs.axes().len();
        if shape.len() != rank {
            return Err(LayoutError::Rank { expected: rank, found: shape.len() });
        }
        let axis = |(dim, &size): (usize, &u64)| {
            let label = Label::dim(dim as u32);
            let axis = (label, size.trailing_zeros());
            size.is_power_of_two().then_some(axis).ok_or(SpaceError::NotPowerOfTwo { label, size })
        };
        let axes = shape.iter().enumerate().rev().map(axis).collect::<Result<Vec<_>, _>>()?;
        Ok(Space::new(&axes)?)
    }
}
