use core::fmt;

use crate::layout::{Layout, LayoutError};

/// A layout with a constant: place `x` goes to `Mx ⊕ b`.
///
/// A reversed axis is one (`7 - x = x ⊕ 7`), and so is a layout that begins at an odd offset.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Affine {
    layout: Layout,
    /// Invariant: a place of the layout's outputs.
    constant: u64,
}

impl Affine {
    /// `Mx ⊕ b`, `constant` being a place of the outputs of `layout`; fails when it lies outside.
    pub fn new(layout: Layout, constant: u64) -> Result<Affine, LayoutError> {
        let rows = layout.outs().total_bits();
        if constant & !crate::f2::low_mask(rows) != 0 {
            return Err(LayoutError::Constant { value: constant, rows });
        }
        Ok(Affine { layout, constant })
    }

    /// The linear part: `M`.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where place zero goes: `b`.
    pub fn constant(&self) -> u64 {
        self.constant
    }

    /// The place of the outputs that a place of the inputs goes to; higher bits are ignored.
    pub fn apply_flat(&self, place: u64) -> u64 {
        self.layout.apply_flat(place) ^ self.constant
    }
}

impl From<Layout> for Affine {
    fn from(layout: Layout) -> Affine {
        Affine { layout, constant: 0 }
    }
}

/// The layout's bases, then the constant: `[…] -> […] ^ 5`.
impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ^ {}", self.layout, self.constant)
    }
}

impl fmt::Debug for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
