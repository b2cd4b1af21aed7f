//! Subspaces, their quotients, and what avoids them.

use std::vec::Vec;

use crate::{
    f2::{Subspace, low_mask, parity},
    testing::{holds, matrix},
};

#[test]
fn subspaces_obey_their_laws() {
    holds(300, |u| {
        let bits = u.int_in_range(0..=10)?;
        let (rank_a, rank_b) = (u.int_in_range(0..=bits)?, u.int_in_range(0..=bits)?);
        let a = matrix(u, bits, rank_a)?.image();
        let b = matrix(u, bits, rank_b)?.image();
        let (sum, both) = (a.sum(&b), a.intersection(&b));
        assert_eq!(sum.dim() + both.dim(), a.dim() + b.dim());
        assert!(both.elements().unwrap().all(|v| a.contains(v) && b.contains(v)));
        let rest = a.complement(bits);
        assert_eq!((a.sum(&rest).dim(), a.intersection(&rest)), (bits, Subspace::ZERO));
        let elements: Vec<u64> = a.elements().unwrap().collect();
        assert_eq!(elements.len(), 1 << a.dim());
        assert!(elements.is_sorted() && elements.iter().all(|&v| a.contains(v)));
        Ok(())
    });
}

#[test]
fn annihilators_hold_the_even_masks() {
    holds(300, |u| {
        let bits = u.int_in_range(0..=8)?;
        let rank = u.int_in_range(0..=bits)?;
        let space = matrix(u, bits, rank)?.image();
        let masks = space.annihilator(bits);
        for mask in 0..1_u64 << bits {
            let even = space.basis().all(|vector| !parity(vector & mask));
            assert_eq!(masks.contains(mask), even);
        }
        assert_eq!(masks.annihilator(bits), space);
        // Elements beyond the bits count by what they have within them.
        let wide = matrix(u, 12, 3)?.image();
        let cut: Vec<u64> = wide.basis().map(|vector| vector & low_mask(bits)).collect();
        assert_eq!(wide.annihilator(bits), Subspace::from_vectors(&cut).annihilator(bits));
        Ok(())
    });
    assert_eq!(Subspace::ZERO.annihilator(64), Subspace::of_bits(u64::MAX));
}

#[test]
fn quotients_tell_classes_apart() {
    holds(300, |u| {
        let bits = u.int_in_range(0..=7)?;
        let rank = u.int_in_range(0..=bits)?;
        let space = matrix(u, bits, rank)?.image();
        let classes = space.quotient(bits);
        assert_eq!(classes.dim() + space.dim(), bits);
        for a in 0..1_u64 << bits {
            let class = classes.project(a);
            assert!(class < 1 << classes.dim());
            let least = space.elements().unwrap().map(|element| a ^ element).min().unwrap();
            assert_eq!(classes.lift(class), least);
            let b = u.arbitrary::<u64>()? & low_mask(bits);
            assert_eq!(class == classes.project(b), space.contains(a ^ b));
            assert_eq!(class ^ classes.project(b), classes.project(a ^ b));
        }
        let other = matrix(u, bits, rank)?.image();
        let met = classes.project_all(&other);
        assert!(other.basis().all(|vector| met.contains(classes.project(vector))));
        assert_eq!(met.dim(), other.sum(&space).dim() - space.dim());
        assert_eq!(classes.lift_all(&met).sum(&space), other.sum(&space));
        Ok(())
    });
}

/// The largest dimension of a subspace of `bits` bits that avoids all of these, by trying all sets
/// of vectors in increasing order.
fn largest_by_force(bits: u32, avoided: &[Subspace]) -> u32 {
    fn grow(bits: u32, avoided: &[Subspace], space: &Subspace, from: u64) -> u32 {
        let mut best = space.dim();
        for vector in from..1 << bits {
            let larger = space.sum(&Subspace::from_vectors(&[vector]));
            let free = |other: &Subspace| larger.intersection(other).dim() == 0;
            if larger.dim() > space.dim() && avoided.iter().all(free) {
                best = best.max(grow(bits, avoided, &larger, vector + 1));
            }
        }
        best
    }
    grow(bits, avoided, &Subspace::ZERO, 1)
}

#[test]
fn lemma_9_5_for_two_subspaces_of_any_dimensions() {
    let mut unequal = 0;
    holds(300, |u| {
        let bits = u.int_in_range(0..=64)?;
        let ranks = [u.int_in_range(0..=bits)?, u.int_in_range(0..=bits)?];
        let [a, b] = [matrix(u, bits, ranks[0])?.image(), matrix(u, bits, ranks[1])?.image()];
        let found = Subspace::largest_avoiding(bits, &[a, b]);
        assert_eq!(found.space.dim(), bits - a.dim().max(b.dim()));
        assert!(found.is_largest());
        assert!(Subspace::of_bits(low_mask(bits)).contains_all(&found.space));
        assert_eq!([a, b].map(|space| space.intersection(&found.space)), [Subspace::ZERO; 2]);
        unequal += u32::from(a.dim() != b.dim());
        Ok(())
    });
    assert!(unequal > 20, "{unequal}");
}

#[test]
fn avoiding_subspaces_are_as_large_as_any_in_small_spaces() {
    holds(1000, |u| {
        let bits = u.int_in_range(0..=4)?;
        let count = u.int_in_range(0..=5)?;
        let mut avoided = Vec::new();
        for _ in 0..count {
            let rank = u.int_in_range(0..=bits.min(2))?;
            avoided.push(matrix(u, bits, rank)?.image());
        }
        let found = Subspace::largest_avoiding(bits, &avoided);
        assert!(found.is_largest());
        assert_eq!(found.space.dim(), largest_by_force(bits, &avoided), "{bits} {avoided:?}");
        assert!(avoided.iter().all(|space| space.intersection(&found.space).dim() == 0));
        Ok(())
    });
}

#[test]
fn greedy_choices_avoid_and_are_bounded() {
    let mut largest = 0;
    holds(500, |u| {
        let bits = u.int_in_range(7..=20)?;
        let mut avoided = Vec::new();
        for _ in 0..u.int_in_range(3..=4)? {
            let rank = u.int_in_range(1..=bits - 2)?;
            avoided.push(matrix(u, bits, rank)?.image());
        }
        let found = Subspace::largest_avoiding(bits, &avoided);
        assert!(avoided.iter().all(|space| space.intersection(&found.space).dim() == 0));
        assert!(found.space.dim() <= found.bound);
        assert!(found.bound <= bits - avoided.iter().map(Subspace::dim).max().unwrap());
        largest += u32::from(found.is_largest());
        Ok(())
    });
    assert!(largest > 2, "{largest}");
}

#[test]
fn p12_three_lines_leave_nothing_of_a_plane() {
    let lines = [1, 2, 3].map(|line| Subspace::from_vectors(&[line]));
    let found = Subspace::largest_avoiding(2, &lines);
    assert_eq!((found.space, found.bound), (Subspace::ZERO, 0));
    // In space they leave one direction.
    assert_eq!(Subspace::largest_avoiding(3, &lines).space.dim(), 1);
}

#[test]
fn what_is_too_large_to_walk_through_is_refused() {
    let large = Subspace::of_bits(low_mask(25));
    assert_eq!(large.elements().unwrap_err().dim, 25);
    assert_eq!(Subspace::of_bits(low_mask(24)).elements().unwrap().take(3).last(), Some(2));
}
