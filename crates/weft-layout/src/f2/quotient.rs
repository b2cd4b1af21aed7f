use super::{Subspace, deposit_bits, extract_bits, low_mask};

/// The space of `bits` bits modulo a subspace: vectors count as equal when they differ by an element
/// of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotient {
    subspace: Subspace,
    /// The bits that are no leading bits of the subspace: the coordinates of a class.
    free: u64,
}

impl Subspace {
    /// The space of the first `bits` bits modulo `self`.
    ///
    /// ```
    /// use weft_layout::f2::Subspace;
    ///
    /// let classes = Subspace::from_vectors(&[0b110]).quotient(3);
    /// assert_eq!(classes.dim(), 2);
    /// assert_eq!(classes.project(0b100), classes.project(0b010));
    /// assert_eq!(classes.lift(classes.project(0b101)), 0b011);
    /// ```
    pub fn quotient(&self, bits: u32) -> Quotient {
        Quotient { subspace: *self, free: !self.leads() & low_mask(bits) }
    }
}

impl Quotient {
    /// The dimension of the quotient.
    pub fn dim(&self) -> u32 {
        self.free.count_ones()
    }

    /// The coordinates of the class of `vector`, in the lowest [`dim`](Quotient::dim) bits: a linear
    /// map whose kernel is the subspace.
    pub fn project(&self, vector: u64) -> u64 {
        extract_bits(self.subspace.reduce(vector), self.free)
    }

    /// The representative of the class with these coordinates; higher bits are ignored.
    /// It is the least vector of its class, and linear in the coordinates.
    pub fn lift(&self, coordinates: u64) -> u64 {
        deposit_bits(coordinates, self.free)
    }

    /// The classes that a subspace meets.
    pub fn project_all(&self, subspace: &Subspace) -> Subspace {
        Subspace::spanned_by(subspace.basis().map(|vector| self.project(vector)))
    }

    /// The span of the representatives of these classes.
    pub fn lift_all(&self, classes: &Subspace) -> Subspace {
        Subspace::spanned_by(classes.basis().map(|class| self.lift(class)))
    }
}
