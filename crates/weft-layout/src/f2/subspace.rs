use core::fmt;

use super::{Echelon, low_mask, ones};

/// A subspace of F₂⁶⁴, held as its reduced echelon basis, so that equal subspaces are equal values.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Subspace {
    /// The positions of the leading (highest) bits of the basis.
    leads: u64,
    /// Invariant: `vectors[i]` is zero unless `leads` has bit `i`; else its highest bit is `i` and
    /// it is the only vector with that bit.
    vectors: [u64; 64],
}

/// The most elements that [`Subspace::elements`] walks through.
const MAX_ELEMENTS_LOG2: u32 = 24;

impl Subspace {
    /// The subspace that holds zero only.
    pub const ZERO: Subspace = Subspace { leads: 0, vectors: [0; 64] };

    /// The span of `vectors`.
    pub fn from_vectors(vectors: &[u64]) -> Subspace {
        Subspace::spanned_by(vectors.iter().copied())
    }

    pub(crate) fn spanned_by(vectors: impl IntoIterator<Item = u64>) -> Subspace {
        Subspace::from_echelon(&Echelon::of(vectors))
    }

    fn from_echelon(echelon: &Echelon) -> Subspace {
        let mut subspace = Subspace::ZERO;
        // Lowest leading bit first: each vector is reduced by those below it.
        for vector in echelon.vectors() {
            let lead = vector.ilog2();
            subspace.vectors[lead as usize] = subspace.reduce(vector);
            subspace.leads |= 1 << lead;
        }
        subspace
    }

    /// The span of the unit vectors at the set bits of `mask`.
    pub fn of_bits(mask: u64) -> Subspace {
        let mut subspace = Subspace { leads: mask, vectors: [0; 64] };
        for bit in ones(mask) {
            subspace.vectors[bit as usize] = 1 << bit;
        }
        subspace
    }

    /// The dimension: the logarithm of the number of elements.
    pub fn dim(&self) -> u32 {
        self.leads.count_ones()
    }

    /// The leading bits of the basis as a mask.
    /// The entries of an element at these bits are its coordinates in [`basis`](Self::basis).
    pub fn leads(&self) -> u64 {
        self.leads
    }

    /// The reduced echelon basis, lowest leading bit first.
    pub fn basis(&self) -> impl Iterator<Item = u64> + '_ {
        ones(self.leads).map(|lead| self.vectors[lead as usize])
    }

    /// The representative of `vector` modulo the subspace: the one without leading bits.
    pub fn reduce(&self, vector: u64) -> u64 {
        // The basis is reduced, so that one pass suffices.
        ones(vector & self.leads).fold(vector, |rest, lead| rest ^ self.vectors[lead as usize])
    }

    /// Whether `vector` is an element.
    pub fn contains(&self, vector: u64) -> bool {
        self.reduce(vector) == 0
    }

    /// The smallest subspace that holds both.
    pub fn sum(&self, other: &Subspace) -> Subspace {
        Subspace::spanned_by(self.basis().chain(other.basis()))
    }

    /// The intersection: what lies in both subspaces.
    pub fn intersection(&self, other: &Subspace) -> Subspace {
        let mut echelon = Echelon::new();
        for vector in self.basis() {
            echelon.insert(vector, vector);
        }
        let mut common = Echelon::new();
        // A vector of `other` that reduces to zero equals the vectors of `self` subtracted.
        for vector in other.basis() {
            if let Some(element) = echelon.insert(vector, 0) {
                common.grows(element);
            }
        }
        Subspace::from_echelon(&common)
    }

    /// A complement within the first `bits` bits, spanned by unit vectors: together with `self` it
    /// spans all of them (when `self` lies within them), and the two share only zero.
    pub fn complement(&self, bits: u32) -> Subspace {
        Subspace::of_bits(!self.leads & low_mask(bits))
    }

    /// The masks within the first `bits` bits whose parity with every element is even: the
    /// orthogonal complement, of dimension `bits` less that of `self` when `self` lies within them.
    ///
    /// ```
    /// use weft_layout::f2::Subspace;
    ///
    /// let line = Subspace::from_vectors(&[0b011]);
    /// assert_eq!(line.annihilator(3), Subspace::from_vectors(&[0b011, 0b100]));
    /// assert_eq!(line.annihilator(3).annihilator(3), line);
    /// ```
    pub fn annihilator(&self, bits: u32) -> Subspace {
        let within = Subspace::spanned_by(self.basis().map(|vector| vector & low_mask(bits)));
        // A basis vector is its leading bit and free bits, so each free bit has one mask: itself and
        // the leading bits of the vectors that hold it.
        let holds = |lead: u32, free: u32| within.vectors[lead as usize] >> free & 1;
        let mask = |free: u32| {
            ones(within.leads).fold(1 << free, |mask, lead| mask | holds(lead, free) << lead)
        };
        Subspace::spanned_by(ones(!within.leads & low_mask(bits)).map(mask))
    }

    /// Whether every element of `other` is one of `self`.
    pub fn contains_all(&self, other: &Subspace) -> bool {
        other.basis().all(|vector| self.contains(vector))
    }

    /// All elements, zero first; fails above 2²⁴ of them.
    pub fn elements(&self) -> Result<Elements, TooManyElements> {
        if self.dim() > MAX_ELEMENTS_LOG2 {
            return Err(TooManyElements { dim: self.dim() });
        }
        Ok(Elements { subspace: *self, next: Some(0) })
    }
}

impl fmt::Debug for Subspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.basis()).finish()
    }
}

/// The elements of a [`Subspace`], in increasing order of value.
#[derive(Clone, Debug)]
pub struct Elements {
    subspace: Subspace,
    /// The coordinates of the next element, at the leading bits.
    next: Option<u64>,
}

impl Iterator for Elements {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let leads = self.subspace.leads;
        let coordinates = self.next?;
        // Counting within the mask: fill the gaps, add one, clear the gaps.
        let following = (coordinates | !leads).wrapping_add(1) & leads;
        self.next = (following != 0).then_some(following);
        let vectors = &self.subspace.vectors;
        Some(ones(coordinates).fold(0, |sum, lead| sum ^ vectors[lead as usize]))
    }
}

/// A subspace too large to be walked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyElements {
    /// The dimension of the subspace: its basis has so many vectors.
    pub dim: u32,
}

impl fmt::Display for TooManyElements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a subspace of dimension {} has more than 2^24 elements", self.dim)
    }
}

impl core::error::Error for TooManyElements {}
