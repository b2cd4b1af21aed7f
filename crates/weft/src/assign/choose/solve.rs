//! Rounds of solving and planning.
//!
//! The problem is solved with what prices cannot go below; the plans of the movements in the solution
//! are made, and it is solved again with their real prices, until all that it chose is real. What it
//! cost then is the least there is, and most plans were never made.
//!
//! While much is not real yet, the first choice that a search meets tells as well as the best one what to
//! plan. All choices are searched only where nothing is left to learn from that.

use super::{Chooser, Total};
use crate::assign::AssignError;
use crate::assign::pbqp::{self, NEVER};
use crate::assign::problem::{Flow, What};

/// The most rounds of solving and planning.
pub(in crate::assign) const ROUNDS: usize = 32;
/// The most rounds without a search.
const MOST_HURRIED: usize = 64;
/// The steps of search in each round.
const STEPS: u64 = 200_000;

/// A problem as it was stated last.
#[derive(Default)]
pub(super) struct Stated {
    problem: pbqp::Problem,
    nodes: Vec<pbqp::Node>,
    is_complete: bool,
    memory: pbqp::Memory,
}

impl Chooser<'_> {
    /// The choice of labels, by number, and what it costs, after so many rounds at most.
    pub(in crate::assign) fn solve(
        &mut self,
        rounds: usize,
    ) -> Result<(Vec<usize>, Total), AssignError> {
        let mut best: Option<(u64, Vec<usize>)> = None;
        let mut bound = 0;
        let (mut searched, mut hurried) = (0, 0);
        let mut is_hurried = rounds > 1;
        while searched < rounds {
            self.block.budget.check()?;
            self.state();
            let known = best.as_ref().filter(|_| !is_hurried).map(|(_, labels)| &labels[..]);
            let steps = if is_hurried { 0 } else { STEPS };
            let solution = self.stated.problem.solve_again(steps, &mut self.stated.memory, known);
            searched += usize::from(!is_hurried);
            hurried += usize::from(is_hurried);
            let is_whole = !is_hurried || solution.cost <= solution.bound;
            bound = solution.bound.max(bound);
            let learned = self.plan(&solution.labels)?;
            let cost = if learned { self.weighed(&solution.labels) } else { solution.cost };
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, solution.labels));
            }
            if !learned && is_whole || best.as_ref().is_some_and(|(least, _)| *least <= bound) {
                break;
            }
            is_hurried = learned && rounds > 1 && hurried < MOST_HURRIED;
        }
        let (_, labels) = best.unwrap_or_default();
        let cost = self.cost(&labels);
        Ok((labels, Total { cost, bound: price_of(bound).min(cost) }))
    }

    /// States the problem with the prices that are known, as far as they are others than before.
    fn state(&mut self) {
        let mut stated = core::mem::take(&mut self.stated);
        for unit in 0..self.own.len() {
            let mut prices: Vec<u64> = (0..self.own[unit].len())
                .map(|label| {
                    let folded = self.folding_price(unit, label);
                    weight(self.own[unit][label].saturating_add(folded), 0)
                })
                .collect();
            for &flow in &self.alone[unit] {
                for (label, price) in prices.iter_mut().enumerate() {
                    *price = price.saturating_add(self.flow_weight(flow, label, label));
                }
            }
            match stated.nodes.get(unit) {
                Some(&node) => stated.problem.set_node(node, prices),
                None => stated.nodes.push(stated.problem.node(prices)),
            }
        }
        let mut is_learned = vec![false; self.prices.count()];
        for id in &self.learned {
            is_learned[id.index()] = true;
        }
        for (&(from, to), flows) in &self.pairs {
            let is_new = |flow: &usize| {
                let mut movements = self.flows[*flow].movements.iter().flatten();
                movements.any(|id| is_learned[id.index()])
            };
            if stated.is_complete && !flows.iter().any(is_new) {
                continue;
            }
            let price = |a: usize, b: usize| {
                let sum = |sum: u64, &flow: &usize| {
                    let is_turned = self.problem.flows[flow].from != from;
                    let (a, b) = if is_turned { (b, a) } else { (a, b) };
                    sum.saturating_add(self.flow_weight(flow, a, b))
                };
                flows.iter().fold(0, sum)
            };
            stated.problem.set_edge(stated.nodes[from], stated.nodes[to], price);
        }
        stated.is_complete = true;
        self.learned.clear();
        self.stated = stated;
    }

    /// What a choice costs, with what decides between equals.
    fn weighed(&self, labels: &[usize]) -> u64 {
        let ties = |(flow, data): (usize, &Flow)| {
            u64::from(self.is_early(flow, labels[data.from], labels[data.to]))
        };
        let ties = self.problem.flows.iter().enumerate().map(ties).sum();
        weight(self.cost(labels), ties)
    }

    /// What a flow costs between two labels, with what decides between equals.
    fn flow_weight(&self, flow: usize, from: usize, to: usize) -> u64 {
        weight(self.flow_price(flow, from, to), self.is_early(flow, from, to).into())
    }

    /// Whether a flow moves what an operation leaves, though nobody has asked for it yet. Of equals the
    /// other choice is taken: what one operation asks for moves together, and waits once.
    fn is_early(&self, flow: usize, from: usize, to: usize) -> bool {
        let data = &self.problem.flows[flow];
        let leaves = !matches!(self.problem.units[data.from].what, What::Home(_));
        // Where all of them together would outweigh a price, none decides.
        let weighs_less = self.problem.flows.len() < TIES as usize;
        leaves
            && weighs_less
            && self.movement(flow, from, to).is_some_and(|id| self.prices.get(id).total > 0)
    }
}

/// How much more a hundredth of a cycle weighs than what decides between choices of one price.
const TIES: u64 = 1 << 10;

/// A price with what decides between equals.
fn weight(price: u64, ties: u64) -> u64 {
    if price >= NEVER / TIES { NEVER } else { price * TIES + ties.min(TIES - 1) }
}

/// The lower bound on price that a lower bound on weight implies.
fn price_of(weight: u64) -> u64 {
    if weight >= NEVER { NEVER } else { weight / TIES }
}
