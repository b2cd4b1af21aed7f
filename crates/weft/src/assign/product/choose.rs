//! The cheapest way for each product.
//!
//! A product whose left or right factor is another one's sum, but for element-wise operations, may find
//! it where that product leaves it: if the two layouts have the same lanes and warps, nothing is read
//! from shared memory. So products that hand over are chosen together.

use super::{Candidate, candidates, is_product};
use crate::assign::layouts::{LayoutId, Layouts};
use crate::assign::shape::is_elementwise;
use crate::assign::{AssignError, Block};
use crate::id::IdMap;
use crate::tile::{Kernel, OpId, Value};
use weft_layout::space::{LANE, REGISTER, WARP};

/// The most combinations of candidates that are all tried.
const MOST: usize = 4096;

/// A factor of one product that another one computes.
struct Handover {
    from: usize,
    to: usize,
    side: usize,
}

/// The choice for each product of a kernel, in the program's order.
pub(in crate::assign) fn choose(
    kernel: &Kernel,
    definitions: &IdMap<Value, Option<OpId>>,
    block: Block<'_>,
    layouts: &mut Layouts,
) -> Result<Vec<(OpId, Candidate)>, AssignError> {
    let mut products = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        if is_product(&op.kind) {
            products.push(id);
        }
    });
    let mut lists = Vec::new();
    for &id in &products {
        lists.push(candidates(kernel, &kernel.ops[id], block, layouts)?);
    }
    let mut handovers = Vec::new();
    for (to, &id) in products.iter().enumerate() {
        for side in 0..2 {
            let Some(factor) = kernel.ops[id].factors().map(|factors| factors[side]) else {
                continue;
            };
            let Some(source) = source(kernel, definitions, factor) else { continue };
            let from = products.iter().position(|&other| other == source);
            handovers.extend(from.map(|from| Handover { from, to, side }));
        }
    }
    let chosen = cheapest(&lists, &handovers, layouts);
    let pick = |(index, mut list): (usize, Vec<Candidate>)| list.swap_remove(index);
    let picked = chosen.into_iter().zip(lists).map(pick);
    Ok(products.into_iter().zip(picked).collect())
}

/// The product whose sum a value is, seen through operations that keep elements in place.
fn source(kernel: &Kernel, definitions: &IdMap<Value, Option<OpId>>, value: Value) -> Option<OpId> {
    let mut seen: IdMap<OpId, bool> = IdMap::default();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let Some(id) = definitions[value] else { continue };
        if core::mem::replace(seen.entry(id), true) {
            continue;
        }
        let op = &kernel.ops[id];
        match op.kind {
            ref kind if is_product(kind) => return Some(id),
            ref kind if is_elementwise(kind) => open.extend(op.operands.iter().rev()),
            _ => {}
        }
    }
    None
}

/// The index of the candidate for each product.
fn cheapest(lists: &[Vec<Candidate>], handovers: &[Handover], layouts: &Layouts) -> Vec<usize> {
    let alone = |list: &Vec<Candidate>| {
        let best = list.iter().enumerate().min_by_key(|(_, candidate)| candidate.price());
        best.map_or(0, |(index, _)| index)
    };
    let mut chosen: Vec<usize> = lists.iter().map(alone).collect();
    let mut linked: Vec<usize> =
        handovers.iter().flat_map(|handover| [handover.from, handover.to]).collect();
    linked.sort_unstable();
    linked.dedup();
    let combinations: usize =
        linked.iter().map(|&product| lists[product].len()).fold(1, usize::saturating_mul);
    let price = |chosen: &[usize]| -> u64 {
        let own = lists.iter().zip(chosen).map(|(list, &index)| list[index].price());
        let saved = handovers.iter().map(|handover| {
            let [from, to] = [handover.from, handover.to].map(|at| &lists[at][chosen[at]]);
            if is_free(layouts, from, to, handover.side) { to.moves[handover.side] } else { 0 }
        });
        own.sum::<u64>().saturating_sub(saved.sum())
    };
    if linked.is_empty() {
        return chosen;
    }
    if combinations > MOST {
        // One product after the other, the others as they are.
        for &product in &linked {
            let tried = (0..lists[product].len()).min_by_key(|&index| {
                let mut chosen = chosen.clone();
                chosen[product] = index;
                price(&chosen)
            });
            chosen[product] = tried.unwrap_or(chosen[product]);
        }
        return chosen;
    }
    let mut best = (price(&chosen), chosen.clone());
    for combination in 0..combinations {
        let mut rest = combination;
        for &product in &linked {
            chosen[product] = rest % lists[product].len();
            rest /= lists[product].len();
        }
        let found = price(&chosen);
        if found < best.0 {
            best = (found, chosen.clone());
        }
    }
    best.1
}

/// Whether a sum lies where the product that takes it wants it, but for the order of registers.
fn is_free(layouts: &Layouts, from: &Candidate, to: &Candidate, side: usize) -> bool {
    let Some(wanted) = to.product.factor(side) else { return false };
    same_threads(layouts, from.accumulator, wanted)
}

/// Whether two layouts hold the same elements in each thread.
fn same_threads(layouts: &Layouts, a: LayoutId, b: LayoutId) -> bool {
    let [a, b] = [layouts.get(a), layouts.get(b)];
    let registers = |layout: &weft_layout::Layout| {
        let mut columns = layout.columns(REGISTER).to_vec();
        columns.sort_unstable();
        columns
    };
    a.outs() == b.outs()
        && a.columns(LANE) == b.columns(LANE)
        && a.columns(WARP) == b.columns(WARP)
        && registers(a) == registers(b)
}
