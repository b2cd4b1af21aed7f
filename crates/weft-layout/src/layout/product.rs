//! Composition and product (definitions 4.2 and 4.3).

use alloc::vec::Vec;
use core::ops::Range;

use super::{Layout, LayoutError, placement::Places};
use crate::space::{Label, Space};

impl Layout {
    /// First `self`, then `outer` (definition 4.2).
    ///
    /// The outputs of `self` are matched by label with the inputs of `outer`, which may be larger;
    /// inputs of `outer` that `self` does not have are zero.
    ///
    /// Fails with the label of an output that `outer` lacks, or with both sizes where it is too
    /// small.
    pub fn compose(&self, outer: &Layout) -> Result<Layout, LayoutError> {
        let matrix = if self.outs == outer.ins {
            self.matrix.compose(&outer.matrix)?
        } else {
            self.matrix.compose(&self.outs.embedding(&outer.ins)?)?.compose(&outer.matrix)?
        };
        Layout::from_matrix(self.ins.clone(), outer.outs.clone(), matrix)
    }

    /// The direct sum with `self` as the minor part: in each axis the bits of `self`, then those of
    /// `other` (definition 4.3).
    ///
    /// It is associative, and [`Layout::empty`] is neutral.
    /// Fails when the axes of the two have no common order or exceed 64 bits.
    ///
    /// ```
    /// use weft_layout::{Label, Layout, space::{LANE, REGISTER}};
    ///
    /// let pairs = Layout::identity(1, REGISTER, Label::dim(0))?;
    /// let lanes = Layout::identity(2, LANE, Label::dim(0))?;
    /// assert_eq!(
    ///     pairs.product(&lanes)?.to_string(),
    ///     "[register: 1, lane: 2 4] -> [dim0: 8]"
    /// );
    /// # Ok::<(), weft_layout::LayoutError>(())
    /// ```
    pub fn product(&self, other: &Layout) -> Result<Layout, LayoutError> {
        let (mut minor, mut major) = (Places::new(), Places::new());
        let outs = merge(&self.outs, &other.outs, |start, left, right| {
            minor.put(left.clone(), start);
            major.put(right, start + left.len() as u32);
        })?;
        let (left_columns, right_columns) = (self.matrix.columns(), other.matrix.columns());
        let mut columns = [0; 64];
        let ins = merge(&self.ins, &other.ins, |start, left, right| {
            let low = left_columns[left].iter().map(|&column| minor.place(column));
            let high = right_columns[right].iter().map(|&column| major.place(column));
            let slots = columns.iter_mut().skip(start as usize);
            slots.zip(low.chain(high)).for_each(|(slot, column)| *slot = column);
        })?;
        Layout::from_array(ins, outs, &columns)
    }
}

/// Both lists of axes in an order that extends both, with the bits added.
/// Calls `visit` for each axis with its first bit, and with its bits in `a` and in `b`.
fn merge(
    a: &Space,
    b: &Space,
    mut visit: impl FnMut(u32, Range<usize>, Range<usize>),
) -> Result<Space, LayoutError> {
    let (mut left_start, mut right_start, mut start) = (0, 0, 0);
    let mut visit = |low: u32, high: u32| {
        let (low, high) = (low as usize, high as usize);
        visit(start, left_start..left_start + low, right_start..right_start + high);
        left_start += low;
        right_start += high;
        start += (low + high) as u32;
    };
    // The usual case: nothing has to be searched for.
    if a.labels().eq(b.labels()) {
        a.axes().iter().zip(b.axes()).for_each(|(low, high)| visit(low.1, high.1));
        return Ok(a.with_bits(|label, bits| bits + b.bits(label))?);
    }
    let (mut left, mut right) = (a.axes(), b.axes());
    let mut axes = Vec::with_capacity(left.len() + right.len());
    let lacks = |rest: &[(Label, u32)], label: Label| rest.iter().all(|axis| axis.0 != label);
    loop {
        let (label, low, high) = match (left, right) {
            ([], []) => return Ok(Space::new(&axes)?),
            ([(x, low), rest @ ..], [(y, high), other @ ..]) if x == y => {
                (left, right) = (rest, other);
                (*x, *low, *high)
            }
            ([(x, bits), rest @ ..], _) if lacks(right, *x) => {
                left = rest;
                (*x, *bits, 0)
            }
            (_, [(y, bits), rest @ ..]) if lacks(left, *y) => {
                right = rest;
                (*y, 0, *bits)
            }
            ([(x, _), ..], [(y, _), ..]) => return Err(LayoutError::Order(*x, *y)),
            // Not reached: an axis is lacking where there are none.
            ([(x, _), ..], []) | ([], [(x, _), ..]) => return Err(LayoutError::Order(*x, *x)),
        };
        visit(low, high);
        axes.push((label, low + high));
    }
}
