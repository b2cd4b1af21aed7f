//! What is left of a problem while it is solved, and how the rest follows.

use super::memory::{Memory, One, Two};
use super::{EdgePrices, NEVER, Problem, less, sum};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How the label of a node that was removed follows from those of its neighbours then.
#[derive(Clone, Debug)]
enum Removed {
    /// R0, or a branch.
    Alone { node: usize, label: usize },
    /// R1: by the neighbour's label.
    One { node: usize, neighbour: usize, best: Rc<[usize]> },
    /// R2: by the labels of both, the second's running first.
    Two { node: usize, neighbours: [usize; 2], columns: usize, best: Rc<[usize]> },
}

/// A problem with some of its nodes removed.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// What every choice costs.
    constant: u64,
    /// The prices of the labels of each node that is left.
    nodes: BTreeMap<usize, Vec<u64>>,
    edges: BTreeMap<(usize, usize), Rc<EdgePrices>>,
    neighbours: BTreeMap<usize, BTreeSet<usize>>,
    removed: Vec<Removed>,
    count: usize,
}

/// An edge, as one of its nodes sees it.
struct Side {
    matrix: Option<Rc<EdgePrices>>,
    /// Whether that node's labels are rows.
    first: bool,
}

impl Side {
    /// The price of a pair: nothing where there is no edge.
    fn get(&self, own: usize, theirs: usize) -> u64 {
        match &self.matrix {
            Some(matrix) if self.first => matrix.get(own, theirs),
            Some(matrix) => matrix.get(theirs, own),
            None => 0,
        }
    }
}

/// The label with the least price: the first of equals.
fn least(prices: impl Iterator<Item = u64>) -> (usize, u64) {
    let mut best = (0, NEVER);
    for (label, price) in prices.enumerate() {
        if price < best.1 {
            best = (label, price);
        }
    }
    best
}

impl Graph {
    pub(super) fn of(problem: &Problem) -> Self {
        let nodes: BTreeMap<usize, Vec<u64>> = problem.nodes.iter().cloned().enumerate().collect();
        let mut neighbours: BTreeMap<usize, BTreeSet<usize>> =
            nodes.keys().map(|&node| (node, BTreeSet::new())).collect();
        for &(a, b) in problem.edges.keys() {
            neighbours.entry(a).or_default().insert(b);
            neighbours.entry(b).or_default().insert(a);
        }
        let (edges, count) = (problem.edges.clone(), nodes.len());
        Self { constant: 0, nodes, edges, neighbours, removed: Vec::new(), count }
    }

    /// The prices of an edge, as one of its nodes sees them.
    fn edge(&self, node: usize, other: usize) -> Side {
        let matrix = self.edges.get(&(node.min(other), node.max(other))).cloned();
        Side { matrix, first: node < other }
    }

    fn degree(&self, node: usize) -> usize {
        self.neighbours.get(&node).map_or(0, BTreeSet::len)
    }

    fn labels_of(&self, node: usize) -> usize {
        self.nodes.get(&node).map_or(0, Vec::len)
    }

    /// Takes a node and its edges away; gives its prices and neighbours.
    fn remove(&mut self, node: usize) -> (Vec<u64>, Vec<usize>) {
        let prices = self.nodes.remove(&node).unwrap_or_default();
        let neighbours = self.neighbours.remove(&node).unwrap_or_default();
        for &other in &neighbours {
            self.unlink(node, other);
        }
        (prices, neighbours.into_iter().collect())
    }

    fn unlink(&mut self, a: usize, b: usize) {
        self.edges.remove(&(a.min(b), a.max(b)));
        for (own, other) in [(a, b), (b, a)] {
            if let Some(neighbours) = self.neighbours.get_mut(&own) {
                neighbours.remove(&other);
            }
        }
    }

    fn add(&mut self, node: usize, prices: impl Iterator<Item = u64>) {
        if let Some(own) = self.nodes.get_mut(&node) {
            for (own, price) in own.iter_mut().zip(prices) {
                *own = sum(*own, price);
            }
        }
    }

    /// Removes every node with at most two neighbours; what is remembered of the same need not be found
    /// again.
    pub(super) fn reduce(&mut self, mut memory: Option<&mut Memory>) {
        let small = |graph: &Self, node: &usize| graph.degree(*node) <= 2;
        let mut queue: BTreeSet<usize> =
            self.nodes.keys().copied().filter(|node| small(self, node)).collect();
        while let Some(node) = queue.pop_first() {
            let neighbours: Vec<usize> =
                self.neighbours.get(&node).into_iter().flatten().copied().collect();
            match neighbours[..] {
                [] => self.reduce_alone(node),
                [other] => self.reduce_one(node, other, memory.as_deref_mut()),
                // Neighbours come in order.
                [a, b] => self.reduce_two(node, [a, b], memory.as_deref_mut()),
                _ => continue,
            }
            queue.extend(neighbours.iter().filter(|other| small(self, other)));
        }
    }

    /// R0: nothing else depends on it.
    fn reduce_alone(&mut self, node: usize) {
        let (prices, _) = self.remove(node);
        let (label, price) = least(prices.into_iter());
        self.constant = sum(self.constant, price);
        self.removed.push(Removed::Alone { node, label });
    }

    /// The edge between two nodes, the labels of the first in rows.
    fn turned(&self, node: usize, other: usize) -> Option<Rc<EdgePrices>> {
        let Side { matrix, first } = self.edge(node, other);
        let matrix = matrix?;
        Some(if first { matrix } else { Rc::new(matrix.turned()) })
    }

    /// R1: the best label for each label of the neighbour.
    fn reduce_one(&mut self, node: usize, neighbour: usize, memory: Option<&mut Memory>) {
        let own = self.nodes.get(&node).cloned().unwrap_or_default();
        let Some(edge) = self.edge(node, neighbour).matrix else { return };
        let turned = || self.turned(node, neighbour);
        let found = match memory {
            Some(memory) => memory.one(node, own, edge, turned),
            None => turned().map(|edge| One::of(&own, &edge)),
        };
        let Some(One { best, prices }) = found else { return };
        self.remove(node);
        self.add(neighbour, prices.iter().copied());
        self.removed.push(Removed::One { node, neighbour, best });
    }

    /// R2: the best label for each pair of labels of the neighbours.
    fn reduce_two(&mut self, node: usize, [a, b]: [usize; 2], memory: Option<&mut Memory>) {
        let own = self.nodes.get(&node).cloned().unwrap_or_default();
        let edges = [self.edge(node, a).matrix, self.edge(node, b).matrix];
        let [Some(edge_a), Some(edge_b)] = edges else { return };
        let known = self.edge(a, b).matrix;
        let turned = || self.turned(node, a).zip(self.turned(node, b));
        let found = match memory {
            Some(memory) => memory.two(node, own, [edge_a, edge_b], known, turned),
            None => turned().map(|(a, b)| Two::of(&own, &a, &b, known.as_deref())),
        };
        let Some(Two { best, prices }) = found else { return };
        let columns = prices.columns;
        self.remove(node);
        self.edges.insert((a, b), prices);
        for (own, other) in [(a, b), (b, a)] {
            self.neighbours.entry(own).or_default().insert(other);
        }
        self.removed.push(Removed::Two { node, neighbours: [a, b], columns, best });
    }

    /// Moves what every choice pays from edges to nodes, and from nodes to the constant. No sum changes.
    pub(super) fn move_to_nodes(&mut self) {
        let edges: Vec<(usize, usize)> = self.edges.keys().copied().collect();
        for (a, b) in edges {
            let Some(matrix) = self.edges.get(&(a, b)).cloned() else { continue };
            let (rows, columns) = (self.labels_of(a), self.labels_of(b));
            let of_rows: Vec<u64> = (0..rows)
                .map(|row| least((0..columns).map(|column| matrix.get(row, column))).1)
                .collect();
            // A row that may never be chosen is so by its node from now on.
            let rest = |row: usize, column: usize| {
                let moved = of_rows[row];
                if moved >= NEVER { 0 } else { less(matrix.get(row, column), moved) }
            };
            let of_columns: Vec<u64> = (0..columns)
                .map(|column| least((0..rows).map(|row| rest(row, column))).1)
                .collect();
            let matrix = EdgePrices::new(rows, columns, |row, column| {
                let moved = of_columns[column];
                if moved >= NEVER { 0 } else { less(rest(row, column), moved) }
            });
            self.add(a, of_rows.iter().copied());
            self.add(b, of_columns.iter().copied());
            if matrix.prices.iter().all(|&price| price == 0) {
                self.unlink(a, b);
            } else {
                self.edges.insert((a, b), Rc::new(matrix));
            }
        }
        for prices in self.nodes.values_mut() {
            let moved = prices.iter().copied().min().unwrap_or(0);
            self.constant = sum(self.constant, moved);
            if moved < NEVER {
                for price in prices {
                    *price = less(*price, moved);
                }
            }
        }
    }

    /// No choice of what is left costs less.
    pub(super) fn bound(&self) -> u64 {
        self.constant
    }

    /// How much there is to look at.
    pub(super) fn size(&self) -> u64 {
        let nodes: usize = self.nodes.values().map(Vec::len).sum();
        let edges: usize = self.edges.values().map(|matrix| matrix.prices.len()).sum();
        (nodes + edges) as u64
    }

    /// The node to branch on: one with the most neighbours.
    pub(super) fn branching(&self) -> Option<usize> {
        let most = |&node: &usize| (self.degree(node), std::cmp::Reverse(node));
        self.nodes.keys().copied().max_by_key(most)
    }

    /// The labels of a node that may be in the cheapest choice, the most promising first, with what no
    /// choice with them costs less than.
    pub(super) fn promising(&self, node: usize) -> Vec<(usize, u64)> {
        let Some(prices) = self.nodes.get(&node) else { return Vec::new() };
        let neighbours: Vec<usize> =
            self.neighbours.get(&node).into_iter().flatten().copied().collect();
        let rows: Vec<Vec<Vec<u64>>> = (0..prices.len())
            .map(|label| {
                let row = |&other: &usize| {
                    let (labels, edge) = (0..self.labels_of(other), self.edge(node, other));
                    labels.map(|theirs| edge.get(label, theirs)).collect()
                };
                neighbours.iter().map(row).collect()
            })
            .collect();
        // Never worse than another label, whatever the neighbours take; of equals the first stays.
        let dominated = |label: usize| {
            (0..prices.len()).any(|other| {
                let mut worse = prices[other];
                for (own, theirs) in rows[label].iter().zip(&rows[other]) {
                    let most = own.iter().zip(theirs).map(|(own, theirs)| excess(*theirs, *own));
                    worse = sum_excess(worse, most.max().unwrap_or(0));
                }
                other != label && (worse < prices[label] || worse == prices[label] && other < label)
            })
        };
        let hopeful = |label: usize| {
            let around = rows[label].iter().zip(&neighbours).map(|(row, other)| {
                let theirs = self.nodes.get(other).into_iter().flatten();
                row.iter().zip(theirs).map(|(&pair, &own)| sum(pair, own)).min().unwrap_or(0)
            });
            around.fold(prices[label], sum)
        };
        let may_be = |&label: &usize| prices[label] < NEVER && !dominated(label);
        let with_bound = |label| (label, sum(self.constant, hopeful(label)));
        let mut labels: Vec<(usize, u64)> =
            (0..prices.len()).filter(may_be).map(with_bound).collect();
        if labels.is_empty() {
            labels.push((0, self.constant));
        }
        labels.sort_by_key(|&(label, least)| (least, label));
        labels
    }

    /// Gives a node a label.
    pub(super) fn fix(&mut self, node: usize, label: usize) {
        let neighbours: Vec<usize> =
            self.neighbours.get(&node).into_iter().flatten().copied().collect();
        for &other in &neighbours {
            let edge = self.edge(node, other);
            let row: Vec<u64> =
                (0..self.labels_of(other)).map(|theirs| edge.get(label, theirs)).collect();
            self.add(other, row.into_iter());
        }
        let (prices, _) = self.remove(node);
        self.constant = sum(self.constant, prices.get(label).copied().unwrap_or(NEVER));
        self.removed.push(Removed::Alone { node, label });
    }

    /// The label of every node, when none is left.
    pub(super) fn labels(&self) -> Vec<usize> {
        let mut labels = vec![0; self.count];
        for removed in self.removed.iter().rev() {
            let (node, label) = match removed {
                Removed::Alone { node, label } => (*node, *label),
                Removed::One { node, neighbour, best } => (*node, best[labels[*neighbour]]),
                Removed::Two { node, neighbours: [a, b], columns, best } => {
                    (*node, best[labels[*a] * columns + labels[*b]])
                }
            };
            labels[node] = label;
        }
        labels
    }
}

/// By how much more one price is than another; less than nothing where it is less.
fn excess(price: u64, other: u64) -> i128 {
    if price >= NEVER && other < NEVER {
        i128::from(NEVER)
    } else {
        i128::from(price) - i128::from(other)
    }
}

fn sum_excess(price: u64, excess: i128) -> u64 {
    let sum = (i128::from(price) + excess).clamp(0, i128::from(NEVER));
    u64::try_from(sum).unwrap_or(NEVER)
}
