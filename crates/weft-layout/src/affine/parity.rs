use alloc::{collections::BTreeMap, vec::Vec};
use core::fmt;

use crate::f2::{Subspace, TooManyElements, low_mask, ones, parity};

/// A sum of integers over the bits of a place: `Σ weight · parity(place & mask)`.
///
/// This is address arithmetic on bits: each column of a strided layout is a weight with a mask of
/// one bit, and an offset that was swizzled first has masks of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ParitySum {
    /// Invariant: masks (increasing, distinct) and weights are not zero; the weights add up to at
    /// most the largest `u64`.
    terms: Vec<(u64, u64)>,
}

impl ParitySum {
    /// The sum of these masks and weights; those of equal masks are added.
    ///
    /// Returns nothing when the weights add up to more than 64 bits hold.
    pub fn new(terms: &[(u64, u64)]) -> Option<ParitySum> {
        let mut sums = BTreeMap::new();
        for &(mask, weight) in terms.iter().filter(|term| term.0 != 0 && term.1 != 0) {
            let slot = sums.entry(mask).or_insert(0_u64);
            *slot = slot.checked_add(weight)?;
        }
        sums.values().try_fold(0_u64, |sum, &weight| sum.checked_add(weight))?;
        Some(ParitySum { terms: sums.into_iter().collect() })
    }

    /// The masks, increasing, with their weights.
    pub fn terms(&self) -> &[(u64, u64)] {
        &self.terms
    }

    /// The value at a place.
    pub fn at(&self, place: u64) -> u64 {
        self.terms.iter().filter(|term| parity(place & term.0)).map(|term| term.1).sum()
    }

    /// The values at all places of `bits` bits, in order; fails above 2²⁴ of them.
    pub fn values(&self, bits: u32) -> Result<impl Iterator<Item = u64> + '_, TooManyElements> {
        let places = Subspace::of_bits(low_mask(bits)).elements()?;
        Ok(places.map(|place| self.at(place)))
    }

    /// The columns of the matrix that computes this sum on places of `bits` bits (64 at most),
    /// masks being cut to them.
    ///
    /// There is one exactly when the weights have no bit in common, pair by pair.
    /// Enough: then no sum carries, and a sum without carries is an exclusive-or.
    /// Needed: parities of distinct masks are linearly independent functions (each is
    /// `(1 - χ) / 2` for a character `χ` of its own), so that a function is such a sum in one way
    /// only; if a matrix computes it, its row `k` is a parity of weight `2^k`, and the weight of a
    /// mask is the sum of the `2^k` of the rows that equal it.
    ///
    /// Fails with two terms that share a bit and a place at which the sum is not the exclusive-or
    /// of its values at the single bits.
    ///
    /// ```
    /// use weft_layout::affine::ParitySum;
    ///
    /// // 4:5, four places at stride 5: the columns 5 and 10 share no bit.
    /// let columns = ParitySum::new(&[(1, 5), (2, 10)]).and_then(|sum| sum.linear(2).ok());
    /// assert_eq!(columns, Some(vec![5, 10]));
    /// // 4:3: the columns 3 and 6 do.
    /// let carry = ParitySum::new(&[(1, 3), (2, 6)]).and_then(|sum| sum.linear(2).err());
    /// assert_eq!(carry.map(|carry| (carry.place, carry.sum, carry.xor)), Some((3, 9, 5)));
    /// ```
    pub fn linear(&self, bits: u32) -> Result<Vec<u64>, Carry> {
        let own = self.restricted(low_mask(bits));
        let columns: Vec<u64> = (0..bits.min(64)).map(|bit| own.at(1 << bit)).collect();
        let Some((first, second)) = own.carrying() else {
            return Ok(columns);
        };
        let place = own.difference(&columns);
        let xor = ones(place).fold(0, |xor, bit| xor ^ own.at(1 << bit));
        Err(Carry { first, second, place, sum: own.at(place), xor })
    }

    /// The sum on the places whose bits lie in `bits`.
    fn restricted(&self, bits: u64) -> ParitySum {
        let terms: Vec<_> =
            self.terms.iter().map(|&(mask, weight)| (mask & bits, weight)).collect();
        // Some of the same weights add up to no more, so that there is a sum.
        ParitySum::new(&terms).unwrap_or_default()
    }

    /// The first two terms that share a bit.
    fn carrying(&self) -> Option<((u64, u64), (u64, u64))> {
        let earlier = |index: usize, later: (u64, u64)| {
            self.terms[..index].iter().map(move |&term| (term, later))
        };
        let mut pairs = self.terms.iter().enumerate().flat_map(|(i, &term)| earlier(i, term));
        pairs.find(|(a, b)| a.1 & b.1 != 0)
    }

    /// A place at which the sum differs from the matrix of these columns, given that there is one.
    ///
    /// Bit by bit: a function that is not zero everywhere is not zero where the bit is 0, or not
    /// where it is 1, and its terms say whether it is.
    fn difference(&self, columns: &[u64]) -> u64 {
        let mut rest = Difference { constant: 0, terms: BTreeMap::new() };
        for &(mask, weight) in &self.terms {
            rest.add(mask, i128::from(weight));
        }
        for row in 0..64 {
            let bits = columns.iter().zip(0..).filter(|&(column, _)| column >> row & 1 == 1);
            rest.add(bits.fold(0, |mask, (_, bit)| mask | 1 << bit), -(1_i128 << row));
        }
        let mut place = 0;
        for bit in (0..64).take(columns.len()) {
            let zero = rest.fixed(bit, false);
            if zero.vanishes() {
                place |= 1 << bit;
                rest = rest.fixed(bit, true);
            } else {
                rest = zero;
            }
        }
        place
    }
}

/// `constant + Σ weight · parity(place & mask)` with signs.
/// It is zero everywhere exactly when it has no terms and no constant.
struct Difference {
    constant: i128,
    /// Invariant: neither masks nor weights are zero.
    /// The weights are at most 2 · 2⁶⁴ in all, of either sign, so that no sum of them overflows.
    terms: BTreeMap<u64, i128>,
}

impl Difference {
    fn add(&mut self, mask: u64, weight: i128) {
        if mask == 0 {
            return;
        }
        let slot = self.terms.entry(mask).or_insert(0);
        *slot += weight;
        if *slot == 0 {
            self.terms.remove(&mask);
        }
    }

    fn vanishes(&self) -> bool {
        self.constant == 0 && self.terms.is_empty()
    }

    /// The function of the other bits when `bit` has this value.
    fn fixed(&self, bit: u32, value: bool) -> Difference {
        let mut fixed = Difference { constant: self.constant, terms: BTreeMap::new() };
        for (&mask, &weight) in &self.terms {
            let flips = value && mask >> bit & 1 == 1;
            // parity(x ⊕ 1) = 1 - parity(x)
            fixed.constant += if flips { weight } else { 0 };
            fixed.add(mask & !(1 << bit), if flips { -weight } else { weight });
        }
        fixed
    }
}

/// Why a sum is no exclusive-or: two terms share a bit, so that their sum carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carry {
    /// Mask and weight of one term.
    pub first: (u64, u64),
    /// Mask and weight of another one, which shares a bit of the weight.
    pub second: (u64, u64),
    /// A place at which the sum is not the exclusive-or of its values at the bits of the place.
    pub place: u64,
    /// The sum of the parts at that place.
    pub sum: u64,
    /// The exclusive-or of the parts at that place.
    pub xor: u64,
}

impl fmt::Display for Carry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Carry { first, second, place, sum, xor } = self;
        write!(
            f,
            "the weights {} (place bits {:#b}) and {} (place bits {:#b}) have bits in common, so \
             that their sum carries: place {place} goes to {sum}, the exclusive-or is {xor}",
            first.1, first.0, second.1, second.0
        )
    }
}

impl core::error::Error for Carry {}
