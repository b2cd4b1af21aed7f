//! The cheapest homes, with the bound that they are held against.
//!
//! The problem is solved with what prices cannot go below; the plans of the movements in the solution
//! are made, and it is solved again with their real prices, until all that it chose is real. What it
//! cost then is the least there is, and most plans were never made.

use super::anchors::{Anchors, is_access};
use super::candidates::{Candidates, asked, left};
use super::classes::{definitions, find_free};
use super::layouts::{LayoutId, Layouts, Plans};
use super::pbqp::{self, NEVER};
use super::price::{Movement, Prices};
use super::problem::{Carrier, Port, Problem, UnitId, What, bits_of};
use super::{AssignError, Assignment, Block, Pin, Reason, pins};
use crate::axis::AxisFacts;
use crate::tile::{Kernel, OpKind, Value};
use weft_layout::Layout;
use weft_layout::space::REGISTER;

/// The most rounds of solving and planning.
pub(super) const ROUNDS: usize = 32;
/// The steps of search in each round.
const STEPS: u64 = 200_000;
/// The most words of a tensor that a thread holds without letting others go.
const MANY_WORDS: u64 = 128;
/// The most registers of a tensor that is moved before a loop, and kept for all its rounds.
const MOST_KEPT: u32 = 6;

/// What a choice of all homes costs, in hundredths of a cycle of the block, over all rounds of loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Total {
    /// What was chosen.
    pub cost: u64,
    /// No choice among the candidates costs less.
    pub bound: u64,
}

/// Decides every home.
pub(super) fn run(
    kernel: &Kernel,
    facts: &AxisFacts,
    block: Block<'_>,
    pins: &[Pin],
) -> Result<Assignment, AssignError> {
    with_problem(kernel, facts, block, pins, |mut chooser| {
        let (labels, total) = chooser.solve(ROUNDS)?;
        Ok(chooser.decided(&labels, total))
    })
}

/// States the problem of a kernel, with the candidates, and does something with it.
pub(super) fn with_problem<T>(
    kernel: &Kernel,
    facts: &AxisFacts,
    block: Block<'_>,
    pins: &[Pin],
    then: impl FnOnce(Chooser<'_>) -> Result<T, AssignError>,
) -> Result<T, AssignError> {
    let free = find_free(kernel);
    let pinned: Vec<Value> = pins.iter().map(|pin| pin.value).collect();
    let problem = Problem::of(kernel, &free, definitions(kernel), &pinned);
    let anchors = Anchors { kernel, facts, block };
    let mut layouts = Layouts::default();
    let pinned = pins::units(&problem, &mut layouts, block, pins)?;
    let candidates = Candidates::of(&problem, anchors, &mut layouts, &pinned)?;
    then(Chooser::new(&problem, &candidates, anchors, layouts)?)
}

/// The ends of a flow, for each label of its units: none where the label's layout cannot be carried.
struct Ends {
    left: Vec<Option<LayoutId>>,
    asked: Vec<Option<LayoutId>>,
}

impl Ends {
    fn ends(&self, from: usize, to: usize) -> (Option<LayoutId>, Option<LayoutId>) {
        (self.left[from], self.asked[to])
    }
}

/// A problem while it is solved.
pub(super) struct Chooser<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) candidates: &'a Candidates,
    pub(super) layouts: Layouts,
    plans: Plans,
    prices: Prices<'a>,
    flows: Vec<Ends>,
    /// What each label of each unit costs by itself, without movements.
    pub(super) own: Vec<Vec<u64>>,
}

impl<'a> Chooser<'a> {
    fn new(
        problem: &'a Problem<'a>,
        candidates: &'a Candidates,
        anchors: Anchors<'a>,
        mut layouts: Layouts,
    ) -> Result<Self, AssignError> {
        let mut ends = |unit: UnitId, map: &dyn Fn(&Layout) -> Option<Layout>| {
            let labels = candidates.labels[unit].iter();
            labels
                .map(|&label| {
                    let layout = map(layouts.get(label))?;
                    Some(layouts.intern(layout))
                })
                .collect::<Vec<_>>()
        };
        let mut flows = Vec::with_capacity(problem.flows.len());
        for flow in &problem.flows {
            flows.push(Ends {
                left: ends(flow.from, &|label| left(flow, label).ok()),
                asked: ends(flow.to, &|label| asked(problem, flow, label).ok()),
            });
        }
        let mut own = Vec::with_capacity(problem.units.len());
        for (unit, labels) in candidates.labels.iter().enumerate() {
            let prices =
                labels.iter().map(|&label| own_price(problem, anchors, &layouts, unit, label));
            own.push(prices.collect::<Result<Vec<u64>, AssignError>>()?);
        }
        let (plans, prices) = (Plans::default(), Prices::new(anchors.block));
        Ok(Self { problem, candidates, layouts, plans, prices, flows, own })
    }

    /// The movement that a flow is between two labels; nothing where there can be none.
    fn movement(&self, flow: usize, from: usize, to: usize) -> Option<Movement> {
        let (Some(left), Some(asked)) = self.flows[flow].ends(from, to) else { return None };
        let flow = &self.problem.flows[flow];
        let bits = bits_of(self.problem.kernel, flow.value);
        Some(match flow.carrier {
            Carrier::Conversion => Movement::Convert(left, asked, bits),
            Carrier::Gather(axis, indices) => Movement::Gather(left, asked, axis, (bits, indices)),
            Carrier::Histogram(masked) => Movement::Histogram(left, asked, bits, masked),
        })
    }

    /// The movement that a unit is in itself.
    fn folding(&self, unit: UnitId, label: usize) -> Option<Movement> {
        let What::Runs(id) = self.problem.units[unit].what else { return None };
        let (axis, bits, direction) = self.problem.folds(id)?;
        let layout = self.candidates.labels[unit][label];
        Some(match direction {
            None => Movement::Reduce(layout, axis, bits),
            Some(direction) => Movement::Scan(layout, axis, bits, direction),
        })
    }

    fn times(&self, unit: UnitId) -> u64 {
        match self.problem.units[unit].what {
            What::Runs(id) | What::Source(id) => self.problem.trips.of_op(id),
            What::Home(_) => 1,
        }
    }

    /// How often a flow moves.
    fn flow_times(&self, flow: usize, to: usize) -> u64 {
        let (inside, before) = self.problem.times[flow];
        match self.flows[flow].asked[to] {
            Some(asked) if goes_ahead(&self.layouts, asked) => before,
            _ => inside,
        }
    }

    /// What a choice of labels, by number, decides.
    fn decided(self, labels: &[usize], total: Total) -> Assignment {
        let Chooser { problem, candidates, layouts, plans, flows, .. } = self;
        let mut result = Assignment::empty(problem.free.clone(), Reason::Cheapest);
        result.layouts = layouts;
        result.plans = plans;
        result.total = Some(total);
        let chosen = |unit: UnitId| candidates.labels[unit][labels[unit]];
        for (unit, data) in problem.units.iter().enumerate() {
            match data.what {
                What::Home(_) => {}
                What::Runs(id) => result.runs_in.set(id, Some(chosen(unit))),
                What::Source(id) => result.source_in.set(id, Some(chosen(unit))),
            }
        }
        for (flow, ends) in problem.flows.iter().zip(&flows) {
            let Some(ahead) = flow.ahead else { continue };
            if let (Some(from), Some(to)) = ends.ends(labels[flow.from], labels[flow.to])
                && from != to
                && goes_ahead(&result.layouts, to)
            {
                let moved: &mut Vec<_> = result.ahead.entry(ahead);
                if !moved.contains(&(flow.value, to)) {
                    moved.push((flow.value, to));
                }
            }
        }
        for value in problem.kernel.values.keys() {
            result.home.set(value, problem.home(value).map(chosen));
        }
        result
    }

    /// The choice of labels, by number, and what it costs, after so many rounds at most.
    pub(super) fn solve(&mut self, rounds: usize) -> Result<(Vec<usize>, Total), AssignError> {
        let mut best: Option<(u64, Vec<usize>)> = None;
        let mut bound = 0;
        for _ in 0..rounds {
            let problem = self.stated();
            let solution = problem.solve(STEPS);
            bound = solution.bound.max(bound);
            let learned = self.plan(&solution.labels)?;
            let cost = if learned { self.cost(&solution.labels) } else { solution.cost };
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, solution.labels));
            }
            if !learned || best.as_ref().is_some_and(|(least, _)| *least <= bound) {
                break;
            }
        }
        let (cost, labels) = best.unwrap_or_default();
        Ok((labels, Total { cost, bound: bound.min(cost) }))
    }

    /// The problem with the prices that are known.
    fn stated(&mut self) -> pbqp::Problem {
        let mut stated = pbqp::Problem::default();
        let mut nodes = Vec::with_capacity(self.own.len());
        for unit in 0..self.own.len() {
            let mut prices = self.own[unit].clone();
            for (label, price) in prices.iter_mut().enumerate() {
                *price = price.saturating_add(self.folding_price(unit, label));
            }
            nodes.push(stated.node(prices));
        }
        for index in 0..self.problem.flows.len() {
            let flow = &self.problem.flows[index];
            let (from, to) = (flow.from, flow.to);
            if from == to && flow.via.is_empty() && flow.asked == Port::Same {
                continue;
            }
            stated.edge(nodes[from], nodes[to], |a, b| self.flow_price(index, a, b));
        }
        stated
    }

    pub(super) fn folding_price(&mut self, unit: UnitId, label: usize) -> u64 {
        let Some(movement) = self.folding(unit, label) else { return 0 };
        let price = self.prices.get(&self.layouts, &movement).total;
        times(price, self.times(unit))
    }

    pub(super) fn flow_price(&mut self, flow: usize, from: usize, to: usize) -> u64 {
        let Some(movement) = self.movement(flow, from, to) else { return NEVER };
        let price = self.prices.get(&self.layouts, &movement).total;
        times(price, self.flow_times(flow, to))
    }

    /// Makes the plans of a choice; says whether one of them was not known.
    fn plan(&mut self, labels: &[usize]) -> Result<bool, AssignError> {
        let mut learned = false;
        let own = (0..self.own.len()).filter_map(|unit| self.folding(unit, labels[unit]));
        let flows = self.problem.flows.iter().enumerate();
        let flows = flows
            .filter_map(|(index, flow)| self.movement(index, labels[flow.from], labels[flow.to]));
        for movement in own.chain(flows).collect::<Vec<_>>() {
            learned |= self.prices.plan(&self.layouts, &mut self.plans, &movement)?;
        }
        Ok(learned)
    }

    /// What a choice costs.
    fn cost(&mut self, labels: &[usize]) -> u64 {
        let mut cost: u64 = 0;
        for (unit, &label) in labels.iter().enumerate() {
            cost = cost.saturating_add(self.own[unit][label]);
            cost = cost.saturating_add(self.folding_price(unit, label));
        }
        for index in 0..self.problem.flows.len() {
            let flow = &self.problem.flows[index];
            let (from, to) = (labels[flow.from], labels[flow.to]);
            cost = cost.saturating_add(self.flow_price(index, from, to));
        }
        cost.min(NEVER)
    }
}

/// Whether a tensor in this layout is few enough registers to be kept over a loop.
fn goes_ahead(layouts: &Layouts, asked: LayoutId) -> bool {
    layouts.get(asked).in_bits(REGISTER) <= MOST_KEPT
}

fn times(price: u64, times: u64) -> u64 {
    if price >= NEVER { NEVER } else { price.saturating_mul(times).min(NEVER) }
}

/// What a label of a unit costs by itself: the instructions and sectors of an access, the arithmetic of a
/// product and of element-wise operations, and registers beyond those that a thread can spare.
fn own_price(
    problem: &Problem<'_>,
    anchors: Anchors<'_>,
    layouts: &Layouts,
    unit: UnitId,
    label: LayoutId,
) -> Result<u64, AssignError> {
    let Block { machine, warps, .. } = anchors.block;
    let prices = &machine.prices;
    let data = &problem.units[unit];
    let registers = 1_u64 << layouts.get(label).in_bits(REGISTER);
    let own = match data.what {
        What::Runs(id) => {
            let op = &problem.kernel.ops[id];
            let trips = problem.trips.of_op(id);
            if is_access(&op.kind) {
                return Ok(times(anchors.access_cost(layouts, op, label)?, trips));
            }
            if op.kind != OpKind::Dot {
                return Ok(0);
            }
            let summed = problem.kernel.ty(op.operands[0]).shape.last().copied().unwrap_or(1);
            let words = u64::from(bits_of(problem.kernel, op.results[0]).div_ceil(32));
            registers * summed * words * prices.alu * trips
        }
        What::Home(_) => {
            let words = registers * u64::from(data.bits.div_ceil(32));
            // What is too much is stored and loaded again.
            let spilled = words.saturating_sub(MANY_WORDS) * 2 * prices.wavefront;
            registers * data.work * prices.alu + spilled
        }
        What::Source(_) => 0,
    };
    Ok(own.saturating_mul(warps.into()).min(NEVER))
}
