//! Operators that move, resize, join, drop and rename axes.

use alloc::vec::Vec;

use super::{Layout, LayoutError, mismatch, placement::Places};
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
        self.with_outs(outs)
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

    /// The input axis `label` with `bits` bits: its top bits are dropped, or zero bases are added
    /// above them.
    ///
    /// Fails when there is no such axis or there would be more than 64 bits.
    pub fn resize_in(&self, label: Label, bits: u32) -> Result<Layout, LayoutError> {
        self.with_ins(&resized(&self.ins, label, bits)?)
    }

    /// The output axis `label` with `bits` bits.
    ///
    /// Where it becomes smaller, coordinates that no longer fit become zero as a whole, basis by
    /// basis; where it becomes larger, the new places are not reached.
    /// Fails when there is no such axis or there would be more than 64 bits.
    ///
    /// ```
    /// use weft_layout::{Label, interop::parse_layout};
    ///
    /// let layout = parse_layout("[register: 1 3 4] -> [dim0: 8]")?;
    /// let narrow = parse_layout("[register: 1 0 0] -> [dim0: 2]")?;
    /// assert_eq!(layout.resize_out(Label::dim(0), 1)?, narrow);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resize_out(&self, label: Label, bits: u32) -> Result<Layout, LayoutError> {
        let outs = resized(&self.outs, label, bits)?;
        let places = Places::between(&self.outs, &outs, |_| 0);
        let axis = self.outs.mask(label);
        let columns = self.matrix.columns().iter().map(|&place| {
            let fits = self.outs.coordinate(label, place).checked_shr(bits).unwrap_or(0) == 0;
            places.place(if fits { place } else { place & !axis })
        });
        Layout::from_columns(self.ins.clone(), outs, columns)
    }

    /// Without the input axis `label`, which must have size 1.
    pub fn squeeze_in(&self, label: Label) -> Result<Layout, LayoutError> {
        self.reshape_ins(squeezed(&self.ins, label)?)
    }

    /// Without the output axis `label`, which must have size 1.
    pub fn squeeze_out(&self, label: Label) -> Result<Layout, LayoutError> {
        self.reshape_outs(squeezed(&self.outs, label)?)
    }

    /// The inputs of `self`, then those of `other`; both have the same outputs, matched by label.
    ///
    /// Fails with an output that differs and both its sizes, or when an input occurs in both.
    pub fn concat_ins(&self, other: &Layout) -> Result<Layout, LayoutError> {
        check_same_axes(&self.outs, &other.outs)?;
        let axes: Vec<_> = self.ins.axes().iter().chain(other.ins.axes()).copied().collect();
        let matrix = self.matrix.hcat(&other.with_outs(self.outs.clone())?.matrix)?;
        Layout::from_matrix(Space::new(&axes)?, self.outs.clone(), matrix)
    }

    /// The outputs of `self`, then those of `other`; both have the same inputs, matched by label.
    ///
    /// A place goes to both of its images at once.
    /// Fails with an input that differs and both its sizes, or when an output occurs in both.
    ///
    /// ```
    /// use weft_layout::interop::parse_layout;
    ///
    /// let rows = parse_layout("[register: 1, lane: 0] -> [row: 2]")?;
    /// let columns = parse_layout("[register: 0, lane: 1] -> [col: 2]")?;
    /// let both = parse_layout("[register: (1,0), lane: (0,1)] -> [row: 2, col: 2]")?;
    /// assert_eq!(rows.concat_outs(&columns)?, both);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn concat_outs(&self, other: &Layout) -> Result<Layout, LayoutError> {
        check_same_axes(&self.ins, &other.ins)?;
        let axes: Vec<_> = self.outs.axes().iter().chain(other.outs.axes()).copied().collect();
        let matrix = self.matrix.vcat(&other.with_ins(&self.ins)?.matrix)?;
        Layout::from_matrix(self.ins.clone(), Space::new(&axes)?, matrix)
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
        narrow.with_outs(Space::new(&kept)?)
    }

    /// The map seen through `ins`: axes are matched by label, missing bits are dropped.
    fn with_ins(&self, ins: &Space) -> Result<Layout, LayoutError> {
        let columns = ins.axes().iter().flat_map(|&(label, bits)| {
            let own = self.columns(label);
            (0..bits as usize).map(move |bit| own.get(bit).copied().unwrap_or(0))
        });
        Layout::from_columns(ins.clone(), self.outs.clone(), columns)
    }

    /// The map with its outputs placed in `outs`: axes are matched by label, bits without a place
    /// are dropped.
    pub(super) fn with_outs(&self, outs: Space) -> Result<Layout, LayoutError> {
        let places = Places::between(&self.outs, &outs, |_| 0);
        let columns = self.matrix.columns().iter().map(|&column| places.place(column));
        Layout::from_columns(self.ins.clone(), outs, columns)
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

fn resized(space: &Space, label: Label, bits: u32) -> Result<Space, SpaceError> {
    if !space.contains(label) {
        return Err(SpaceError::UnknownLabel(label));
    }
    let resize = |&(axis, old): &(Label, u32)| (axis, if axis == label { bits } else { old });
    Space::new(&space.axes().iter().map(resize).collect::<Vec<_>>())
}

fn squeezed(space: &Space, label: Label) -> Result<Space, LayoutError> {
    match space.bits(label) {
        _ if !space.contains(label) => Err(SpaceError::UnknownLabel(label).into()),
        0 => {
            let others = space.axes().iter().filter(|axis| axis.0 != label);
            Ok(Space::new(&others.copied().collect::<Vec<_>>())?)
        }
        bits => Err(LayoutError::NotSqueezable { label, bits }),
    }
}

/// Checks that two spaces have the same axes in some order.
fn check_same_axes(a: &Space, b: &Space) -> Result<(), LayoutError> {
    let differs =
        |&label: &Label| !a.contains(label) || !b.contains(label) || a.bits(label) != b.bits(label);
    a.labels().chain(b.labels()).find(differs).map_or(Ok(()), |label| Err(mismatch(a, b, label)))
}
