//! Partitioned boolean quadratic problems.
//!
//! Every node takes one of its labels. A label has a price, and each pair of labels of two nodes that an
//! edge joins has one; what is wanted is the least sum (Scholz and Eckstein, *Register allocation for
//! irregular architectures*, 2002; Hames and Scholz, *Nearly optimal register allocation with PBQP*,
//! 2006).
//!
//! A node with at most two neighbours is solved for every choice of these, and what that costs becomes
//! part of their own prices (the reductions R0, R1 and R2): this loses nothing, and solves every
//! series-parallel problem. What remains, a core in which every node has three neighbours or more, is
//! searched by branch and bound. The bound comes from moving prices from edges to nodes, which changes no
//! sum. The search counts its steps; where they run out, the best choice so far comes with the bound
//! that the open branches leave.

mod graph;
mod memory;
#[cfg(test)]
mod tests;

pub(super) use self::memory::Memory;

use self::graph::Graph;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The price of what may not be chosen: more than any sum of others.
pub(super) const NEVER: u64 = 1 << 60;

/// The sum of two prices.
fn sum(a: u64, b: u64) -> u64 {
    a.saturating_add(b).min(NEVER)
}

/// What is left of a price when a part of it, at most the whole, is counted elsewhere.
fn less(price: u64, part: u64) -> u64 {
    if price >= NEVER { NEVER } else { price - part }
}

/// A node of a [`Problem`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Node(usize);

/// Prices of pairs of labels, those of the first node in rows.
#[derive(Clone, PartialEq, Eq, Debug)]
struct EdgePrices {
    columns: usize,
    prices: Vec<u64>,
}

impl EdgePrices {
    fn new(rows: usize, columns: usize, mut price: impl FnMut(usize, usize) -> u64) -> Self {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let prices = places.map(|(row, column)| price(row, column).min(NEVER)).collect();
        Self { columns, prices }
    }

    fn get(&self, row: usize, column: usize) -> u64 {
        self.prices[row * self.columns + column]
    }

    /// The prices with rows for columns.
    fn turned(&self) -> Self {
        let rows = self.prices.len() / self.columns.max(1);
        Self::new(self.columns, rows, |row, column| self.get(column, row))
    }
}

/// Nodes with the prices of their labels, and edges with the prices of pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct Problem {
    nodes: Vec<Vec<u64>>,
    /// By their nodes, the smaller first.
    edges: BTreeMap<(usize, usize), Rc<EdgePrices>>,
}

/// A choice of a label for every node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Solution {
    /// The label of each node.
    pub(super) labels: Vec<usize>,
    /// Its price; [`NEVER`] where no choice is allowed.
    pub(super) cost: u64,
    /// No choice has a lower price.
    pub(super) bound: u64,
}

impl Solution {
    /// Whether no choice is cheaper.
    #[cfg(test)]
    fn is_exact(&self) -> bool {
        self.cost == self.bound
    }
}

impl Problem {
    /// A node whose labels have these prices; at least one label.
    pub(super) fn node(&mut self, prices: Vec<u64>) -> Node {
        debug_assert!(!prices.is_empty(), "a node without labels");
        self.nodes.push(prices.into_iter().map(|price| price.min(NEVER)).collect());
        Node(self.nodes.len() - 1)
    }

    /// Other prices for the labels of a node.
    pub(super) fn set_node(&mut self, node: Node, prices: Vec<u64>) {
        debug_assert_eq!(prices.len(), self.nodes[node.0].len(), "labels stay");
        self.nodes[node.0] = prices.into_iter().map(|price| price.min(NEVER)).collect();
    }

    /// Other prices of pairs of labels, in place of all that there were.
    pub(super) fn set_edge(&mut self, a: Node, b: Node, price: impl FnMut(usize, usize) -> u64) {
        self.edges.remove(&(a.0.min(b.0), a.0.max(b.0)));
        self.edge(a, b, price);
    }

    /// Adds prices of pairs of labels; an edge from a node to itself adds to its labels.
    pub(super) fn edge(&mut self, a: Node, b: Node, mut price: impl FnMut(usize, usize) -> u64) {
        if a == b {
            for (label, own) in self.nodes[a.0].iter_mut().enumerate() {
                *own = sum(*own, price(label, label));
            }
            return;
        }
        let (low, high) = (a.0.min(b.0), a.0.max(b.0));
        let (rows, columns) = (self.nodes[low].len(), self.nodes[high].len());
        let known = self.edges.get(&(low, high));
        let matrix = EdgePrices::new(rows, columns, |row, column| {
            let own = if low == a.0 { price(row, column) } else { price(column, row) };
            sum(known.map_or(0, |known| known.get(row, column)), own)
        });
        self.edges.insert((low, high), Rc::new(matrix));
    }

    /// The price of a choice.
    pub(super) fn cost(&self, labels: &[usize]) -> u64 {
        let nodes = self.nodes.iter().zip(labels).map(|(prices, &label)| prices[label]);
        let edges = self.edges.iter().map(|(&(a, b), matrix)| matrix.get(labels[a], labels[b]));
        nodes.chain(edges).fold(0, sum)
    }

    /// The cheapest choice that so many steps of search find; the first descent is always made.
    #[cfg(test)]
    fn solve(&self, budget: u64) -> Solution {
        self.solve_again(budget, &mut Memory::default(), None)
    }

    /// The same, with what is remembered of a problem of the same nodes and edges, but for some prices, and
    /// a choice that is known. Where the budget suffices, the choice found is the same as without it.
    pub(super) fn solve_again(
        &self,
        budget: u64,
        memory: &mut Memory,
        known: Option<&[usize]>,
    ) -> Solution {
        // Of equals the search takes the first one that it meets, so what costs as much is looked at.
        let ceiling = known.map_or(u64::MAX, |labels| self.cost(labels).saturating_add(1));
        let mut search = Search { steps: 0, budget, best: None, ceiling, open: NEVER };
        let mut graph = Graph::of(self);
        graph.reduce(Some(memory));
        search.descend(graph);
        let none = || known.map_or_else(|| vec![0; self.nodes.len()], <[usize]>::to_vec);
        let labels = search.best.unwrap_or_else(none);
        let cost = self.cost(&labels);
        Solution { bound: search.open.min(cost), labels, cost }
    }
}

struct Search {
    steps: u64,
    budget: u64,
    /// The cheapest choice so far.
    best: Option<Vec<usize>>,
    /// What costs so much or more is not looked for: more than any price while no choice is known.
    ceiling: u64,
    /// The least bound of the branches that were not searched.
    open: u64,
}

impl Search {
    /// Searches what is left of a problem.
    fn descend(&mut self, mut graph: Graph) {
        graph.reduce(None);
        graph.move_to_nodes();
        let bound = graph.bound();
        if bound >= self.ceiling {
            return;
        }
        let Some(node) = graph.branching() else {
            self.best = Some(graph.labels());
            self.ceiling = bound;
            return;
        };
        for (label, least) in graph.promising(node) {
            if least >= self.ceiling {
                continue;
            }
            self.steps += graph.size();
            if self.ceiling < u64::MAX && self.steps > self.budget {
                self.open = self.open.min(bound);
                return;
            }
            let mut branch = graph.clone();
            branch.fix(node, label);
            self.descend(branch);
        }
    }
}
