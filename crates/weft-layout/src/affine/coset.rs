//! Affine subspaces, and the counting that boxes need.

use alloc::vec::Vec;

use super::Affine;
use crate::f2::{Echelon, Subspace};

/// The places whose bits in `mask` are those of `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) mask: u64,
    /// Invariant: no bit outside `mask`.
    pub(super) value: u64,
}

impl Cell {
    /// The coset of every place: no bit is fixed.
    pub(super) const ALL: Cell = Cell { mask: 0, value: 0 };

    /// The places in both, when the fixed bits of the two do not overlap.
    pub(super) fn and(self, other: Cell) -> Cell {
        Cell { mask: self.mask | other.mask, value: self.value | other.value }
    }
}

/// A subspace moved by a constant.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Coset {
    /// The representative without leading bits of `directions`, so that equal cosets are equal
    /// values.
    point: u64,
    directions: Subspace,
}

impl Coset {
    fn new(point: u64, directions: &Subspace) -> Coset {
        Coset { point: directions.reduce(point), directions: *directions }
    }

    /// The cell among the places whose bits lie in `all`.
    pub(super) fn of_cell(cell: Cell, all: u64) -> Coset {
        Coset::new(cell.value, &Subspace::of_bits(all & !cell.mask))
    }

    /// An element of the coset, the one whose free bits are zero.
    pub(super) fn point(&self) -> u64 {
        self.point
    }

    /// How many elements there are.
    pub(super) fn size(&self) -> u128 {
        1 << self.directions.dim()
    }

    /// The largest value of the bits in `mask` that an element has.
    pub(super) fn largest(&self, mask: u64) -> u64 {
        let seen: Vec<u64> = self.directions.basis().map(|vector| vector & mask).collect();
        let part = Coset::new(self.point & mask, &Subspace::from_vectors(&seen));
        // Each leading bit is moved by one basis vector only, and none is set in the point.
        part.directions.basis().fold(part.point, |sum, vector| sum ^ vector)
    }

    /// Where `map` sends the elements.
    pub(super) fn image(&self, map: &Affine) -> Coset {
        let moved: Vec<u64> = self.directions.basis().map(|v| map.layout().apply_flat(v)).collect();
        Coset::new(map.apply_flat(self.point), &Subspace::from_vectors(&moved))
    }

    /// The elements that `map` sends into `cell`, if there are any.
    pub(super) fn sent_into(&self, map: &Affine, cell: Cell) -> Option<Coset> {
        let mut echelon = Echelon::new();
        let images = self.directions.basis().map(|v| (map.layout().apply_flat(v) & cell.mask, v));
        // A combination of directions that the fixed bits do not see stays a direction.
        let unseen: Vec<u64> =
            images.filter_map(|(image, vector)| echelon.insert(image, vector)).collect();
        let goal = (map.apply_flat(self.point) & cell.mask) ^ cell.value;
        let (residue, shift) = echelon.reduce(goal, 0);
        (residue == 0).then(|| Coset::new(self.point ^ shift, &Subspace::from_vectors(&unseen)))
    }

    /// The elements of both, if there are any.
    fn intersection(&self, other: &Coset) -> Option<Coset> {
        let mut echelon = Echelon::new();
        for vector in self.directions.basis() {
            echelon.insert(vector, vector);
        }
        for vector in other.directions.basis() {
            echelon.insert(vector, 0);
        }
        let (residue, own) = echelon.reduce(self.point ^ other.point, 0);
        let directions = || self.directions.intersection(&other.directions);
        (residue == 0).then(|| Coset::new(self.point ^ own, &directions()))
    }

    fn contains(&self, other: &Coset) -> bool {
        self.directions.contains(self.point ^ other.point)
            && self.directions.contains_all(&other.directions)
    }
}

/// How many elements the cosets have together, or nothing when `budget` intersections do not
/// suffice to find out.
///
/// Inclusion and exclusion, one coset at a time: a coset adds its size less the union of what it
/// shares with the later ones.
/// Cosets within others are dropped first, so that those of one interval, which are nested or
/// disjoint, need no more than their pairwise intersections.
/// What a coset shares with one that does not hold it has fewer dimensions, which bounds the depth.
pub(super) fn union_size(cosets: Vec<Coset>, budget: &mut u64) -> Option<u128> {
    let mut rest = maximal(cosets, budget)?;
    let mut total = 0;
    while let Some(coset) = rest.pop() {
        spend(budget, rest.len())?;
        let shared = rest.iter().filter_map(|other| coset.intersection(other)).collect();
        total += coset.size() - union_size(shared, budget)?;
    }
    Some(total)
}

/// The cosets that lie within no other.
fn maximal(mut cosets: Vec<Coset>, budget: &mut u64) -> Option<Vec<Coset>> {
    cosets.sort_by_key(|coset| core::cmp::Reverse(coset.directions.dim()));
    let mut kept: Vec<Coset> = Vec::new();
    for coset in cosets {
        spend(budget, kept.len())?;
        if !kept.iter().any(|larger| larger.contains(&coset)) {
            kept.push(coset);
        }
    }
    Some(kept)
}

fn spend(budget: &mut u64, steps: usize) -> Option<()> {
    *budget = budget.checked_sub(steps as u64)?;
    Some(())
}
