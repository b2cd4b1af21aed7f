//! Composition and product (definitions 4.2 and 4.3).

use alloc::vec::Vec;

use super::{Layout, LayoutError, placement::Placement};
use crate::space::Space;

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
        let ins = supremum(&self.ins, &other.ins)?;
        let outs = supremum(&self.outs, &other.outs)?;
        let minor = Placement::new(&self.outs, &outs, |_| 0);
        let major = Placement::new(&other.outs, &outs, |label| self.outs.bits(label) as i32);
        let (mut columns, mut count) = ([0; 64], 0);
        let mut push = |column| {
            columns[count] = column;
            count += 1;
        };
        for label in ins.labels() {
            self.columns(label).iter().for_each(|&column| push(minor.apply(column)));
            other.columns(label).iter().for_each(|&column| push(major.apply(column)));
        }
        Layout::new(ins, outs, &columns[..count])
    }
}

/// Both lists of axes in an order that extends both, with the bits added.
fn supremum(a: &Space, b: &Space) -> Result<Space, LayoutError> {
    if a.labels().eq(b.labels()) {
        return Ok(a.with_bits(|label, bits| bits + b.bits(label))?);
    }
    let (mut left, mut right) = (a.axes().iter().peekable(), b.axes().iter().peekable());
    let mut axes = Vec::with_capacity(a.axes().len() + b.axes().len());
    loop {
        let label = match (left.peek(), right.peek()) {
            (None, None) => return Ok(Space::new(&axes)?),
            (Some(&&(x, _)), Some(&&(y, _))) if x == y => x,
            (Some(&&(x, _)), _) if !b.contains(x) => x,
            (_, Some(&&(y, _))) if !a.contains(y) => y,
            (Some(&&(x, _)), Some(&&(y, _))) => return Err(LayoutError::Order(x, y)),
            (Some(&&(x, _)), None) | (None, Some(&&(x, _))) => {
                return Err(LayoutError::Order(x, x));
            }
        };
        left.next_if(|axis| axis.0 == label);
        right.next_if(|axis| axis.0 == label);
        axes.push((label, a.bits(label) + b.bits(label)));
    }
}
