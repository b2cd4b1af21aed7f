//! One swizzle for a memory layout whose banks may be numbered anew.

use alloc::vec::Vec;

use super::{Composed, export};
use crate::{
    layout::Layout,
    space::{OFFSET, Space},
};

/// A memory layout that CuTe writes with at most one swizzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// From elements to offsets.
    pub composed: Composed,
    /// The elements at the vector bits of an offset, in their new order.
    pub vector: Vec<u64>,
    /// The elements at the bank bits of an offset, in their new order.
    pub bank: Vec<u64>,
    /// The elements at the segment bits of an offset, in their new order.
    pub segment: Vec<u64>,
}

/// The memory layout of these basis elements, ordered so that one swizzle suffices.
///
/// `vectors`, `bank` and `segment` are the places in `elements` of the lowest, middle and highest
/// bits of an offset; together they are a basis.
/// Which lanes collide depends on the spans of the three alone, so that banks may be numbered anew,
/// and segments too.
/// Within a vector the order says which register holds what: it is free inside each of the
/// `vectors`, which follow each other, the lowest first.
/// Give one list for each width that an access has, or lists of one to keep an order.
///
/// Say that each segment is a unit vector, or the sum `e ⊕ f` of a unit vector `e` that is a bank
/// or vector element and another one `f`, all `e` different and all `f` different.
/// With the banks `e` last and the sums first, in the same order, the `k` sums are one block at one
/// distance: `Swizzle<k, v + b - k, k>` for `v` vector and `b` bank bits.
/// If some `e` are vector elements, these go last in their lists and the banks `e` first, and the
/// same holds when they are neighbours then.
///
/// `None` when the elements are no basis, or this does not lead to one swizzle; [`export`] then
/// gives a chain.
pub fn single_swizzle(
    elements: &Space,
    vectors: &[&[u64]],
    bank: &[u64],
    segment: &[u64],
) -> Option<Ordered> {
    let plain = (vectors.concat(), bank.to_vec(), segment.to_vec());
    let orders = [ordered(vectors, bank, segment), plain];
    orders.into_iter().find_map(|(vector, bank, segment)| {
        let columns = [&vector[..], &bank, &segment].concat();
        let offsets = Space::new(&[(OFFSET, columns.len() as u32)]).ok()?;
        let memory = Layout::new(offsets, elements.clone(), &columns).ok()?;
        let composed = export(&memory.invert().ok()?.into()).ok()?.composed;
        let single = composed.swizzles.len() <= 1;
        single.then_some(Ordered { composed, vector, bank, segment })
    })
}

/// Vectors, banks and segments in the order in which the sums are one block.
fn ordered(vectors: &[&[u64]], bank: &[u64], segment: &[u64]) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let sums: Vec<u64> = segment.iter().copied().filter(|sum| sum.count_ones() == 2).collect();
    let paired = |unit: &u64| unit.is_power_of_two() && sums.iter().any(|sum| sum & unit != 0);
    let split = |list: &[u64]| -> (Vec<u64>, Vec<u64>) { list.iter().partition(|e| paired(e)) };
    let vector: Vec<u64> = vectors
        .iter()
        .flat_map(|list| {
            let (last, first) = split(list);
            [first, last].concat()
        })
        .collect();
    let (with, without) = split(bank);
    let banks = if vector.iter().any(paired) { [with, without] } else { [without, with] }.concat();

    let units = vector.iter().chain(&banks).filter(|&unit| paired(unit));
    let mut rest = segment.to_vec();
    let mut segments = Vec::with_capacity(rest.len());
    for unit in units {
        let sum = rest.iter().position(|sum| sum.count_ones() == 2 && sum & unit != 0);
        segments.extend(sum.map(|sum| rest.remove(sum)));
    }
    segments.extend(rest);
    (vector, banks, segments)
}
