//! Composition and product (definitions 4.2 and 4.3).

use alloc::vec::Vec;

use super::{Layout, LayoutError, placement::placement};
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
        let minor = placement(&self.outs, &outs, |_| 0)?;
        let major = placement(&other.outs, &outs, |label| self.outs.bits(label) as i32)?;
        let columns = ins.labels().flat_map(|label| {
            let low = self.columns(label).iter().map(|&column| minor.apply(column));
            low.chain(other.columns(label).iter().map(|&column| major.apply(column)))
        });
        Layout::from_columns(ins.clone(), outs, columns)
    }
}

/// Both lists of axes in an order that extends both, with the bits added.
fn supremum(a: &Space, b: &Space) -> Result<Space, LayoutError> {
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
