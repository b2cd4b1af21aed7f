use alloc::vec::Vec;
use core::fmt;

use crate::{
    f2::{Matrix, low_mask},
    layout::{Layout, LayoutError, write_place},
    space::{Label, OFFSET, Space, SpaceError},
};

/// A layout with a constant: place `x` goes to `Mx ⊕ b`.
///
/// A reversed axis is one (`7 - x = x ⊕ 7`), and so is a layout that begins at an odd offset, or
/// the part of a layout that one warp holds.
///
/// The constant changes no rank: `{Mx ⊕ b}` is the image of `M` moved by `b`, a coset of the same
/// size.
/// So `b` decides neither whether the map is injective or surjective nor how many wavefronts or
/// sectors an access takes ([`access`](crate::access)), and those questions go to [`layout`].
///
/// [`layout`]: Affine::layout
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
        if constant & !low_mask(rows) != 0 {
            return Err(LayoutError::Constant { value: constant, rows });
        }
        Ok(Affine { layout, constant })
    }

    /// The map of `space` to itself that reverses one axis: coordinate `x` of an axis of size `n`
    /// becomes `n - 1 - x`.
    ///
    /// Composed after a layout it reverses an output axis, composed before it an input axis.
    ///
    /// ```
    /// use weft_layout::{Label, Space, affine::Affine};
    ///
    /// let flip = Affine::flip(&Space::tensor(&[8, 4])?, Label::dim(0))?;
    /// let dims = |x, y| [(Label::dim(1), y), (Label::dim(0), x)];
    /// assert_eq!(flip.apply(&dims(2, 1))?, dims(5, 1));
    /// # Ok::<(), weft_layout::LayoutError>(())
    /// ```
    pub fn flip(space: &Space, axis: Label) -> Result<Affine, LayoutError> {
        if !space.contains(axis) {
            return Err(SpaceError::UnknownLabel(axis).into());
        }
        Ok(Affine { layout: identity(space)?, constant: space.mask(axis) })
    }

    /// The layout that begins at `offset`: place `x` goes to `layout(x) + offset`, a sum of
    /// integers.
    ///
    /// The sum is the exclusive-or `Mx ⊕ offset` for every `x` exactly when no basis has a bit in
    /// common with `offset`; fails with the first one that has, since there the sum carries.
    pub fn at_offset(layout: Layout, offset: u64) -> Result<Affine, LayoutError> {
        for (label, _, bits) in layout.ins().iter() {
            for bit in 0..bits {
                let shared = layout.basis(label, bit) & offset;
                if shared != 0 {
                    let shared = layout.outs().unpack(shared);
                    return Err(LayoutError::OffsetCarries { label, bit, shared });
                }
            }
        }
        Affine::new(layout, offset)
    }

    /// The linear part: `M`.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where place zero goes: `b`.
    pub fn constant(&self) -> u64 {
        self.constant
    }

    /// The space of the inputs, with the label and the bits of each axis.
    pub fn ins(&self) -> &Space {
        self.layout.ins()
    }

    /// The space of the outputs, with the label and the bits of each axis.
    pub fn outs(&self) -> &Space {
        self.layout.outs()
    }

    /// The layout that this is; fails with the constant when that is not zero.
    pub fn linear(&self) -> Result<Layout, LayoutError> {
        match self.constant {
            0 => Ok(self.layout.clone()),
            _ => Err(self.constant_differs(self.constant)),
        }
    }

    /// The place of the outputs that a place of the inputs goes to; higher bits are ignored.
    pub fn apply_flat(&self, place: u64) -> u64 {
        self.layout.apply_flat(place) ^ self.constant
    }

    /// The output coordinates of these input coordinates; axes that are not named are 0.
    pub fn apply(&self, coordinates: &[(Label, u64)]) -> Result<Vec<(Label, u64)>, SpaceError> {
        Ok(self.outs().unpack(self.apply_flat(self.ins().pack(coordinates)?)))
    }

    /// The dimension of the set of results; the constant does not change it.
    pub fn rank(&self) -> u32 {
        self.layout.rank()
    }

    /// Whether every output place is reached.
    pub fn is_surjective(&self) -> bool {
        self.layout.is_surjective()
    }

    /// Whether no output place is reached twice.
    pub fn is_injective(&self) -> bool {
        self.layout.is_injective()
    }

    /// Whether every output place is reached exactly once.
    pub fn is_invertible(&self) -> bool {
        self.layout.is_invertible()
    }

    /// First `self`, then `outer`: `M'(Mx ⊕ b) ⊕ b'`, axes matched as in [`Layout::compose`].
    pub fn compose(&self, outer: &Affine) -> Result<Affine, LayoutError> {
        let moved = self.carried(|layout| layout.compose(&outer.layout))?;
        Ok(Affine { constant: moved.constant ^ outer.constant, ..moved })
    }

    /// The direct sum with `self` as the minor part ([`Layout::product`]); so are the constants.
    pub fn product(&self, other: &Affine) -> Result<Affine, LayoutError> {
        let layout = self.layout.product(&other.layout)?;
        let (minor, major) = parts(self.outs(), other.outs())?;
        let constant = minor.apply(self.constant) ^ major.apply(other.constant);
        Ok(Affine { layout, constant })
    }

    /// The map `C` with `self = divisor.product(C)`, over the axes of `self`.
    ///
    /// Fails as [`Layout::divide_left`] does, or with the bits of the outputs at which the part of
    /// the constant that belongs to `divisor` differs from the constant of `divisor`.
    pub fn divide_left(&self, divisor: &Affine) -> Result<Affine, LayoutError> {
        let layout = self.layout.divide_left(&divisor.layout)?;
        let (minor, major) = parts(divisor.outs(), layout.outs())?;
        self.quotient(layout, divisor, &minor, &major)
    }

    /// The map `C` with `self = C.product(divisor)`, over the axes of `self`.
    ///
    /// Fails as [`Layout::divide_right`] does, or with the bits of the outputs at which the part of
    /// the constant that belongs to `divisor` differs from the constant of `divisor`.
    pub fn divide_right(&self, divisor: &Affine) -> Result<Affine, LayoutError> {
        let layout = self.layout.divide_right(&divisor.layout)?;
        let (minor, major) = parts(layout.outs(), divisor.outs())?;
        self.quotient(layout, divisor, &major, &minor)
    }

    /// The quotient of linear part `layout`; `tile` and `rest` place the outputs of the divisor and
    /// of the quotient among those of `self`.
    fn quotient(
        &self,
        layout: Layout,
        divisor: &Affine,
        tile: &Matrix,
        rest: &Matrix,
    ) -> Result<Affine, LayoutError> {
        // The columns of a placement are distinct unit vectors: its transpose undoes it.
        let bits = tile.apply(tile.transpose().apply(self.constant) ^ divisor.constant);
        if bits != 0 {
            return Err(self.constant_differs(bits));
        }
        Ok(Affine { layout, constant: rest.transpose().apply(self.constant) })
    }

    /// The inverse map `M⁻¹(y ⊕ b)`; fails when the linear part is not invertible.
    pub fn invert(&self) -> Result<Affine, LayoutError> {
        self.undone(self.layout.invert()?)
    }

    /// A map `X` with `self ∘ X` the identity, using the lowest input bits that suffice.
    ///
    /// Fails with the first output bit that is not reached.
    pub fn right_inverse(&self) -> Result<Affine, LayoutError> {
        self.undone(self.layout.right_inverse()?)
    }

    /// The map that takes `y` to `inverse(y ⊕ b)`, where `b` is the constant.
    fn undone(&self, inverse: Layout) -> Result<Affine, LayoutError> {
        let constant = inverse.apply_flat(self.constant);
        Affine::new(inverse, constant)
    }

    /// A map `X` with `to ∘ X = self`: for each place of `self` a place of `to` that holds the same
    /// element, as local as [`Layout::solve`] makes it.
    ///
    /// It exists exactly when the linear parts have a solution and the image of `to` holds the
    /// element of place zero; fails as [`Layout::solve`] does, or with that element.
    pub fn solve(&self, to: &Affine) -> Result<Affine, LayoutError> {
        let layout = self.layout.solve(&to.layout)?;
        let start = self.outs().embedding(to.outs())?.apply(self.constant) ^ to.constant;
        let constant = match one_place(to.outs(), start)?.solve(&to.layout) {
            Ok(place) => place.basis(OFFSET, 0),
            Err(LayoutError::NotReached { .. }) => {
                let image = self.outs().unpack(self.constant);
                return Err(LayoutError::ConstantNotReached { image });
            }
            Err(error) => return Err(error),
        };
        Ok(Affine { layout, constant })
    }

    /// The error of constants that should be equal and differ in `bits` of the outputs.
    pub(super) fn constant_differs(&self, bits: u64) -> LayoutError {
        LayoutError::ConstantDiffers { bits: self.outs().unpack(bits) }
    }

    /// The map with an operator on the outputs applied, which moves the constant like a basis.
    pub(super) fn carried(
        &self,
        operator: impl Fn(&Layout) -> Result<Layout, LayoutError>,
    ) -> Result<Affine, LayoutError> {
        let constant = operator(&one_place(self.outs(), self.constant)?)?.basis(OFFSET, 0);
        Ok(Affine { layout: operator(&self.layout)?, constant })
    }

    /// The map with an operator on the inputs applied, which leaves the constant alone.
    pub(super) fn with_layout(&self, layout: Layout) -> Affine {
        Affine { layout, constant: self.constant }
    }
}

/// The layout of one input bit that goes to `place`.
pub(super) fn one_place(outs: &Space, place: u64) -> Result<Layout, LayoutError> {
    Layout::new(Space::new(&[(OFFSET, 1)])?, outs.clone(), &[place])
}

/// The identity of a space.
pub(super) fn identity(space: &Space) -> Result<Layout, LayoutError> {
    Layout::from_matrix(space.clone(), space.clone(), Matrix::identity(space.total_bits())?)
}

/// Where a product puts the outputs of its minor and of its major factor.
fn parts(minor: &Space, major: &Space) -> Result<(Matrix, Matrix), LayoutError> {
    let nothing = |space: &Space| Layout::zeros(Space::empty(), space.clone());
    let low = identity(minor)?.product(&nothing(major)?)?;
    let high = nothing(minor)?.product(&identity(major)?)?;
    Ok((*low.matrix(), *high.matrix()))
}

impl From<Layout> for Affine {
    fn from(layout: Layout) -> Affine {
        Affine { layout, constant: 0 }
    }
}

/// The layout's bases, then the constant, written like a basis: `[…] -> […] ^ (0,5)`.
impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ^ ", self.layout)?;
        write_place(f, self.outs(), &self.outs().coordinate_order(), self.constant)
    }
}

impl fmt::Debug for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
