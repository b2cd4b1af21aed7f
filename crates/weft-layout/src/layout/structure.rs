//! Operators that move, drop and rename axes.

use alloc::vec::Vec;

use super::{Layout, LayoutError, map_rows};
use crate::space::{Label, Space, SpaceError};

impl Layout {
    /// The input axes in another order, given as a permutation of their labels.
    pub fn transpose_ins(&self, order: &[Label]) -> Result<Layout, LayoutError> {
        let ins = self.ins.reordered(order)?;
        self.with_ins(&ins)
    }

    /// The output axes in another order, given as a permutation of their labels.
    pub fn transpose_outs(&self, order: &[Label]) -> Result<Layout, LayoutError> {
        let outs = self.outs.reordered(order)?;
        let rows = self.outs.embedding(&outs)?;
        let matrix = map_rows(&self.matrix, outs.total_bits(), rows.columns())?;
        Layout::from_matrix(self.ins.clone(), outs, matrix)
    }

    /// The same map with its flat input places read through other axes of as many bits.
    pub fn reshape_ins(&self, ins: Space) -> Result<Layout, LayoutError> {
        same_size(&self.ins, &ins)?;
        Layout::from_matrix(ins, self.outs.clone(), self.matrix)
    }

    /// The same map with its flat output places read through other axes of as many bits.
    pub fn reshape_outs(&self, outs: Space) -> Result<Layout, LayoutError> {
        same_size(&self.outs, &outs)?;
        Layout::from_matrix(self.ins.clone(), outs, self.matrix)
    }

    /// One input axis under another name.
    pub fn rename_in(&self, from: Label, to: Label) -> Result<Layout, LayoutError> {
        self.reshape_ins(renamed(&self.ins, from, to)?)
    }

    /// One output axis under another name.
    pub fn rename_out(&self, from: Label, to: Label) -> Result<Layout, LayoutError> {
        self.reshape_outs(renamed(&self.outs, from, to)?)
    }

    /// The inputs of `self`, then those of `other`; both have the same outputs.
    pub fn concat_ins(&self, other: &Layout) -> Result<Layout, LayoutError> {
        if self.outs != other.outs {
            return Err(LayoutError::AxesDiffer(first_difference(&self.outs, &other.outs)));
        }
        let axes: Vec<_> = self.ins.axes().iter().chain(other.ins.axes()).copied().collect();
        let columns: Vec<u64> =
            self.matrix.columns().iter().chain(other.matrix.columns()).copied().collect();
        Layout::new(Space::new(&axes)?, self.outs.clone(), &columns)
    }

    /// Only the named input axes, in their present order; the others are held at zero.
    pub fn restrict_ins(&self, labels: &[Label]) -> Result<Layout, LayoutError> {
        let axes: Vec<_> =
            self.ins.axes().iter().filter(|axis| labels.contains(&axis.0)).copied().collect();
        self.with_ins(&Space::new(&axes)?)
    }

    /// Only the named input and output axes, in their present order.
    /// The result is in general not surjective.
    pub fn sublayout(&self, ins: &[Label], outs: &[Label]) -> Result<Layout, LayoutError> {
        let narrow = self.restrict_ins(ins)?;
        let kept: Vec<_> =
            self.outs.axes().iter().filter(|axis| outs.contains(&axis.0)).copied().collect();
        let space = Space::new(&kept)?;
        let mut rows = Vec::with_capacity(self.outs.total_bits() as usize);
        for (label, _, bits) in self.outs.iter() {
            let offset = space.offset_of(label);
            rows.extend((0..bits).map(|bit| offset.map_or(0, |offset| 1_u64 << (offset + bit))));
        }
        let matrix = map_rows(&narrow.matrix, space.total_bits(), &rows)?;
        Layout::from_matrix(narrow.ins, space, matrix)
    }

    /// The layout without the zero bases of one input axis, and the positions of those removed.
    pub fn remove_zero_columns(&self, label: Label) -> Result<(Layout, Vec<u32>), LayoutError> {
        let zeros = self.columns(label).iter().enumerate().filter(|basis| *basis.1 == 0);
        let removed: Vec<u32> = zeros.map(|basis| basis.0 as u32).collect();
        Ok((self.without_bits(label, &removed)?, removed))
    }

    /// The layout without these bits of one input axis.
    pub fn without_bits(&self, label: Label, bits: &[u32]) -> Result<Layout, LayoutError> {
        let mut axes = Vec::with_capacity(self.ins.axes().len());
        let mut columns = Vec::with_capacity(self.matrix.columns().len());
        for axis in self.ins.labels() {
            let kept = self.columns(axis).iter().enumerate();
            let kept = kept.filter(|(bit, _)| axis != label || !bits.contains(&(*bit as u32)));
            let before = columns.len();
            columns.extend(kept.map(|(_, &column)| column));
            axes.push((axis, (columns.len() - before) as u32));
        }
        Layout::new(Space::new(&axes)?, self.outs.clone(), &columns)
    }

    /// The map seen through `ins`: axes are matched by label, missing bits are dropped.
    fn with_ins(&self, ins: &Space) -> Result<Layout, LayoutError> {
        let columns: Vec<u64> = (ins.iter())
            .flat_map(|(label, _, bits)| (0..bits).map(move |bit| self.basis(label, bit)))
            .collect();
        Layout::new(ins.clone(), self.outs.clone(), &columns)
    }
}

fn same_size(from: &Space, to: &Space) -> Result<(), LayoutError> {
    let (from, to) = (from.total_bits(), to.total_bits());
    if from == to { Ok(()) } else { Err(LayoutError::Resize { from, to }) }
}

fn renamed(space: &Space, from: Label, to: Label) -> Result<Space, SpaceError> {
    if !space.contains(from) {
        return Err(SpaceError::UnknownLabel(from));
    }
    let swap = |&(label, bits): &(Label, u32)| (if label == from { to } else { label }, bits);
    Space::new(&space.axes().iter().map(swap).collect::<Vec<_>>())
}

/// The first label at which two different spaces differ.
pub(super) fn first_difference(a: &Space, b: &Space) -> Label {
    let longer = if a.axes().len() >= b.axes().len() { a } else { b };
    let pairs = a.axes().iter().zip(b.axes());
    let position = pairs.take_while(|(x, y)| x == y).count();
    longer.axes().get(position).map_or(crate::space::REGISTER, |axis| axis.0)
}
