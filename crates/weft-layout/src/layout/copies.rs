//! Copies: bits of an input axis that reach nothing new.

use alloc::vec::Vec;

use super::{BitAction, Layout, LayoutError};
use crate::{
    f2::Echelon,
    space::{Label, SpaceError},
};

/// A layout without the copies along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// The layout of the bits that are left.
    pub layout: Layout,
    /// Which bits those are.
    pub kept: BitAction,
    /// For each place before, the place left that holds the same element:
    /// `source.compose(&layout)` is the layout before.
    pub source: Layout,
}

impl Layout {
    /// The layout without the zero bases of one input axis, and the positions of those removed.
    pub fn remove_zero_columns(&self, label: Label) -> Result<(Layout, Vec<u32>), LayoutError> {
        let zeros = self.columns(label).iter().enumerate().filter(|basis| *basis.1 == 0);
        let removed: Vec<u32> = zeros.map(|basis| basis.0 as u32).collect();
        Ok((self.without_bits(label, &removed)?, removed))
    }

    /// The layout without the bits of one input axis that only make copies along it: those whose
    /// images are sums of images of lower bits of the axis.
    ///
    /// Zero bases are the plainest of them.
    /// What is left of the axis holds no element twice, whatever the other axes are.
    /// Fails when there is no such axis.
    ///
    /// ```
    /// use weft_layout::{interop::parse_layout, space::REGISTER};
    ///
    /// let layout = parse_layout("[register: 1 2 3 0] -> [dim0: 4]")?;
    /// let narrow = layout.without_copies(REGISTER)?;
    /// assert_eq!(narrow.kept.bits(), [0, 1]);
    /// // Register 4 repeats register 3, and registers from 8 on repeat those below.
    /// assert_eq!(narrow.source.apply_flat(4), 3);
    /// assert_eq!(narrow.source.compose(&narrow.layout)?, layout);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn without_copies(&self, label: Label) -> Result<Narrowed, LayoutError> {
        let offset = self.ins.offset_of(label).ok_or(SpaceError::UnknownLabel(label))?;
        let mut echelon = Echelon::new();
        let mut kept = Vec::new();
        let mut sources = Vec::with_capacity(self.ins.bits(label) as usize);
        for (bit, &column) in (0..).zip(self.columns(label)) {
            let number = 1 << (offset + kept.len() as u32);
            sources.push(match echelon.reduce(column, 0) {
                (0, combination) => combination,
                _ => {
                    echelon.insert(column, number);
                    kept.push(bit);
                    number
                }
            });
        }
        let kept = BitAction::new(label, self.ins.bits(label), &kept)?;
        let layout = kept.apply(self)?;
        let columns = self.ins.iter().flat_map(|(axis, _, bits)| {
            let (sources, start) = (&sources, layout.ins.offset_of(axis).unwrap_or(0));
            (0..bits).map(move |bit| match sources.get(bit as usize) {
                Some(&source) if axis == label => source,
                _ => 1 << (start + bit),
            })
        });
        let source = Layout::from_columns(self.ins.clone(), layout.ins.clone(), columns)?;
        Ok(Narrowed { layout, kept, source })
    }

    /// The layout without these bits of one input axis.
    pub fn without_bits(&self, label: Label, bits: &[u32]) -> Result<Layout, LayoutError> {
        let kept: Vec<u32> = (0..self.ins.bits(label)).filter(|bit| !bits.contains(bit)).collect();
        self.select_bits(label, &kept)
    }

    /// The layout with these bits of one input axis, in this order; bits that do not exist are zero.
    pub(super) fn select_bits(&self, label: Label, bits: &[u32]) -> Result<Layout, LayoutError> {
        let mut axes = Vec::with_capacity(self.ins.axes().len());
        let mut columns = Vec::with_capacity(self.matrix.columns().len());
        for &(axis, width) in self.ins.axes() {
            if axis == label {
                axes.push((axis, bits.len() as u32));
                columns.extend(bits.iter().map(|&bit| self.basis(axis, bit)));
            } else {
                axes.push((axis, width));
                columns.extend_from_slice(self.columns(axis));
            }
        }
        Layout::new(crate::Space::new(&axes)?, self.outs.clone(), &columns)
    }
}
