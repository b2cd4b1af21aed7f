//! From subspaces to a matrix: the masks that read the lowest offset bits, and the elements at all.

use alloc::vec::Vec;

use super::{task::Task, vectors::Chain};
use crate::f2::{Echelon, Matrix, Subspace, parity};

/// For each element of a chain a mask whose parity is that offset bit.
///
/// The mask of bit `t` is odd on the element `t` and even on those below it, on what is fixed at
/// higher bits, on what the ways of the accesses keep apart from it, and on `above(t)`.
/// `None` when there is none: then these elements are no aligned vectors.
pub(super) fn masks(
    task: &Task<'_>,
    ways: &[usize],
    chain: &Chain,
    above: impl Fn(u32) -> Subspace,
) -> Option<Vec<u64>> {
    let mask = |t: usize| {
        let others = task.low_fixed().filter(|&(bit, _)| bit != t).map(|(_, element)| element);
        let fixed = others.chain(task.block.iter().copied());
        let even = chain.iter().take(t).copied().chain(fixed);
        let each = task.demands.iter().zip(ways);
        let even = each.fold(Subspace::spanned_by(even), |even, (demand, &way)| {
            even.sum(&demand.apart(way, t))
        });
        let masks = even.sum(&above(t as u32)).annihilator(task.bits);
        let odd = masks.basis().filter(|&mask| parity(mask & chain[t]));
        odd.min_by_key(|mask| (mask.count_ones(), *mask))
    };
    (0..chain.len()).map(mask).collect()
}

/// What has even parity under all masks: the elements at the offset bits above the chain.
pub(super) fn even(space: &Subspace, masks: &[u64]) -> Subspace {
    masks.iter().fold(*space, |space, &mask| {
        let odd = |vector: &u64| parity(vector & mask);
        let Some(pivot) = space.basis().find(odd) else { return space };
        Subspace::spanned_by(space.basis().map(|v| if odd(&v) { v ^ pivot } else { v }))
    })
}

/// The elements at all offset bits, from the masks of the lowest ones and the segments.
/// `None` when they are no basis.
pub(super) fn assemble(
    task: &Task<'_>,
    chain: &Chain,
    masks: &[u64],
    segments: &[u64],
) -> Option<Matrix> {
    // The elements of the chain at which exactly one mask is odd.
    let mut vector: Vec<u64> = Vec::with_capacity(chain.len());
    for &element in chain {
        let single = reduced(element, masks.get(..vector.len())?, &vector);
        vector.push(single);
    }
    let block = Subspace::from_vectors(&task.block);
    let bank = task.bank_from(chain.len());
    let mut echelon = Echelon::of(vector.iter().chain(&bank).chain(&task.block).copied());
    let segment: Vec<u64> =
        segments.iter().copied().filter(|&v| !block.contains(v) && echelon.grows(v)).collect();
    let mut columns = [vector.clone(), bank].concat();
    let units = (0..task.bits).map(|bit| 1 << bit);
    let sides = task.demands.iter().map(|demand| &demand.side);
    let natural = sides.flat_map(|s| s.lanes.iter().chain(&s.registers).chain(&s.warps)).copied();
    for element in natural.chain(units) {
        let element = reduced(element, masks, &vector);
        if echelon.grows(element) {
            columns.push(element);
        }
    }
    columns.extend(segment);
    columns.extend(&task.block);
    // Each column is independent of all others, so that as many as bits are a basis.
    let basis = columns.len() == task.bits as usize;
    Matrix::new(task.bits, &columns).ok().filter(|_| basis)
}

/// The element less its part in the vector: even under all masks.
fn reduced(element: u64, masks: &[u64], vector: &[u64]) -> u64 {
    let odd = masks.iter().zip(vector).filter(|(mask, _)| parity(element & *mask));
    odd.fold(element, |element, (_, vector)| element ^ vector)
}
