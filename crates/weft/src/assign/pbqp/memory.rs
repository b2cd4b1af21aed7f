//! Reductions of single nodes, each made once.
//!
//! A problem is solved again when some of its prices are known better. The nodes are removed in the same
//! order then, and most of them meet the same prices as before: what their removal leaves is remembered.

use super::{EdgePrices, NEVER};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What R1 leaves: the best label and its price for each label of the neighbour.
#[derive(Clone, Debug)]
pub(super) struct One {
    pub(super) best: Rc<[usize]>,
    pub(super) prices: Rc<[u64]>,
}

impl One {
    /// Of a node with these prices and an edge whose rows are its labels.
    pub(super) fn of(own: &[u64], edge: &EdgePrices) -> Self {
        let (best, prices) = least_of(own, edge);
        Self { best: best.into(), prices: prices.into() }
    }
}

/// What R2 leaves: the best label for each pair of labels of the neighbours, and the edge between these.
#[derive(Clone, Debug)]
pub(super) struct Two {
    pub(super) best: Rc<[usize]>,
    pub(super) prices: Rc<EdgePrices>,
}

impl Two {
    /// Of a node with these prices and two edges whose rows are its labels, and the edge that there is
    /// between the neighbours.
    pub(super) fn of(
        own: &[u64],
        a: &EdgePrices,
        b: &EdgePrices,
        known: Option<&EdgePrices>,
    ) -> Self {
        let mut best = Vec::with_capacity(a.columns * b.columns);
        let mut prices = Vec::with_capacity(a.columns * b.columns);
        for row in 0..a.columns {
            let beside = |(label, &price): (usize, &u64)| price + a.get(label, row);
            let with_a: Vec<u64> = own.iter().enumerate().map(beside).collect();
            let (labels, least) = least_of(&with_a, b);
            best.extend(labels);
            prices.extend(least);
        }
        if let Some(known) = known {
            for (price, known) in prices.iter_mut().zip(&known.prices) {
                *price = (*price + known).min(NEVER);
            }
        }
        let prices = Rc::new(EdgePrices { columns: b.columns, prices });
        Self { best: best.into(), prices }
    }
}

/// For each column the row with the least sum of its own price and the pair's, the first of equals, with
/// that sum. Own prices are sums of two at most, so that nothing overflows.
fn least_of(own: &[u64], edge: &EdgePrices) -> (Vec<usize>, Vec<u64>) {
    let mut best = vec![0; edge.columns];
    let mut prices = vec![NEVER; edge.columns];
    let rows = edge.prices.chunks_exact(edge.columns.max(1));
    for (label, (&own, row)) in own.iter().zip(rows).enumerate() {
        for ((best, price), pair) in best.iter_mut().zip(&mut prices).zip(row) {
            let sum = own + pair;
            if sum < *price {
                (*best, *price) = (label, sum);
            }
        }
    }
    (best, prices)
}

/// Edges of a problem that are the same as long as they are the same allocation, which is kept.
fn same(a: &Rc<EdgePrices>, b: &Rc<EdgePrices>) -> bool {
    Rc::ptr_eq(a, b)
}

#[derive(Clone, Debug)]
struct KnownOne {
    own: Vec<u64>,
    edge: Rc<EdgePrices>,
    found: One,
}

#[derive(Clone, Debug)]
struct KnownTwo {
    own: Vec<u64>,
    edges: [Rc<EdgePrices>; 2],
    between: Option<Rc<EdgePrices>>,
    found: Two,
}

/// The last reduction of each node.
#[derive(Clone, Debug, Default)]
pub(in crate::assign) struct Memory {
    ones: FxHashMap<usize, KnownOne>,
    twos: FxHashMap<usize, KnownTwo>,
}

impl Memory {
    /// R1 of a node with these prices and this edge, whose rows `turned` makes the node's labels.
    pub(super) fn one(
        &mut self,
        node: usize,
        own: Vec<u64>,
        edge: Rc<EdgePrices>,
        turned: impl FnOnce() -> Option<Rc<EdgePrices>>,
    ) -> Option<One> {
        if let Some(known) = self.ones.get(&node)
            && same(&known.edge, &edge)
            && known.own == own
        {
            return Some(known.found.clone());
        }
        let found = One::of(&own, &*turned()?);
        self.ones.insert(node, KnownOne { own, edge, found: found.clone() });
        Some(found)
    }

    /// R2 of a node with these prices and edges, between whose neighbours there may be another one.
    pub(super) fn two(
        &mut self,
        node: usize,
        own: Vec<u64>,
        edges: [Rc<EdgePrices>; 2],
        between: Option<Rc<EdgePrices>>,
        turned: impl FnOnce() -> Option<(Rc<EdgePrices>, Rc<EdgePrices>)>,
    ) -> Option<Two> {
        if let Some(known) = self.twos.get(&node) {
            let beside = match (&known.between, &between) {
                (Some(known), Some(between)) => same(known, between),
                (None, None) => true,
                _ => false,
            };
            let edges = known.edges.iter().zip(&edges);
            if beside && edges.into_iter().all(|(a, b)| same(a, b)) && known.own == own {
                return Some(known.found.clone());
            }
        }
        let (a, b) = turned()?;
        let found = Two::of(&own, &a, &b, between.as_deref());
        self.twos.insert(node, KnownTwo { own, edges, between, found: found.clone() });
        Some(found)
    }
}
