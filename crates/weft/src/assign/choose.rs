//! The cheapest homes, with the bound that they are held against: the prices of units and flows, which
//! [`solve`] puts together.

mod solve;

pub(super) use self::solve::ROUNDS;

use self::solve::Stated;
use super::anchors::Anchors;
use super::candidates::Candidates;
use super::classes::find_free;
use super::layouts::{LayoutId, Layouts, Plans, Task};
use super::near::{Near, readable_axes};
use super::pbqp::NEVER;
use super::price::{MovementId, Prices};
use super::problem::{Carrier, Port, Problem, UnitId, What, bits_of};
use super::product::Candidate;
use super::{AssignError, Assignment, Block, Pin, Reason, greedy, pins};
use crate::axis::AxisFacts;
use crate::tile::{Kernel, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;
use weft_layout::machine::Kind;
use weft_layout::space::REGISTER;

/// The most words of a tensor that a thread holds without letting others go.
const MANY_WORDS: u64 = 128;
/// The most registers of a tensor that is moved before a loop, and kept for all its rounds.
const MOST_KEPT: u32 = 6;

/// What a choice of all homes costs, in hundredths of a cycle of the block, over all rounds of loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Total {
    /// What the homes that were chosen cost together, in hundredths of a cycle of the block.
    pub cost: u64,
    /// No choice among the candidates costs less.
    pub bound: u64,
}

/// Decides every home, by what all movements and accesses cost together.
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
    let problem = Problem::of(kernel, &free, kernel.definitions(), &pinned);
    let anchors = Anchors { kernel, facts, block };
    let mut layouts = Layouts::default();
    let pinned = pins::units(&problem, &mut layouts, block, pins)?;
    let mut candidates = Candidates::of(&problem, anchors, &mut layouts, &pinned)?;
    candidates.take_in(&problem, &mut layouts, &greedy::run(kernel, facts, block)?)?;
    then(Chooser::new(&problem, &mut candidates, anchors, layouts)?)
}

/// The ends of a flow, for each label of its units: none where the label's layout cannot be carried.
struct Ends {
    left: Vec<Option<LayoutId>>,
    asked: Vec<Option<LayoutId>>,
    /// The movements between them, those from the first label in front; shared by flows with equal ends.
    movements: Rc<[Option<MovementId>]>,
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
    block: Block<'a>,
    plans: Plans,
    prices: Prices<'a>,
    flows: Vec<Ends>,
    /// For each label of each unit that folds along an axis, that movement.
    folds: Vec<Vec<MovementId>>,
    /// What each label of each unit costs by itself, without movements.
    pub(super) own: Vec<Vec<u64>>,
    /// The flows between two units, and those from a unit to itself.
    pairs: BTreeMap<(UnitId, UnitId), Vec<usize>>,
    alone: Vec<Vec<usize>>,
    /// The movements whose prices are others than the stated problem says.
    learned: Vec<MovementId>,
    stated: Stated,
}

impl<'a> Chooser<'a> {
    fn new(
        problem: &'a Problem<'a>,
        candidates: &'a mut Candidates,
        anchors: Anchors<'a>,
        mut layouts: Layouts,
    ) -> Result<Self, AssignError> {
        let (plans, mut prices) = (Plans::default(), Prices::new(anchors.block));
        let mut known: FxHashMap<_, Rc<[Option<MovementId>]>> = FxHashMap::default();
        let mut flows = Vec::with_capacity(problem.flows.len());
        for (index, flow) in problem.flows.iter().enumerate() {
            anchors.block.budget.check()?;
            let [left, asked] = candidates.ends(problem, &mut layouts, index);
            let mut ends = Ends { left, asked, movements: Rc::default() };
            let bits = bits_of(problem.kernel, flow.value);
            let key = (ends.left.clone(), ends.asked.clone(), flow.carrier.clone(), bits);
            let movements = known.entry(key).or_insert_with(|| {
                let pairs = ends
                    .left
                    .iter()
                    .flat_map(|&left| ends.asked.iter().map(move |&asked| left.zip(asked)));
                let movement = |(left, asked)| match flow.carrier {
                    Carrier::Conversion => Task::Convert(left, asked, bits),
                    Carrier::Gather(axis, indices) => {
                        Task::Gather(left, asked, axis, (bits, indices))
                    }
                    Carrier::Histogram(masked) => Task::Histogram(left, asked, bits, masked),
                };
                pairs.map(|pair| pair.map(|pair| prices.id(&layouts, movement(pair)))).collect()
            });
            ends.movements = Rc::clone(movements);
            flows.push(ends);
        }
        let mut folds = Vec::with_capacity(problem.units.len());
        for (unit, labels) in candidates.labels.iter().enumerate() {
            let What::Runs(id) = problem.units[unit].what else {
                folds.push(Vec::new());
                continue;
            };
            let fold = problem.folds(id);
            let movement = |&label: &LayoutId| {
                let movement = match fold.clone()? {
                    (axis, bits, None) => Task::Reduce(label, axis, bits),
                    (axis, bits, Some(direction)) => Task::Scan(label, axis, bits, direction),
                };
                Some(prices.id(&layouts, movement))
            };
            folds.push(labels.iter().filter_map(movement).collect());
        }
        let mut own = Vec::with_capacity(problem.units.len());
        for (unit, labels) in candidates.labels.iter().enumerate() {
            anchors.block.budget.check()?;
            let prices = labels.iter().enumerate().map(|(index, &label)| {
                let way = candidates.way(unit, index);
                own_price(problem, anchors, &layouts, unit, label, way)
            });
            own.push(prices.collect::<Result<Vec<u64>, AssignError>>()?);
        }
        let mut pairs: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let mut alone = vec![Vec::new(); problem.units.len()];
        for (index, flow) in problem.flows.iter().enumerate() {
            let (from, to) = (flow.from, flow.to);
            if from != to {
                pairs.entry((from.min(to), from.max(to))).or_default().push(index);
            } else if !flow.via.is_empty() || flow.asked != Port::Same || flow.work > 0 {
                alone[from].push(index);
            }
        }
        Ok(Self {
            problem,
            block: anchors.block,
            candidates,
            layouts,
            plans,
            prices,
            flows,
            folds,
            own,
            pairs,
            alone,
            learned: Vec::new(),
            stated: Stated::default(),
        })
    }

    /// The movement that a flow is between two labels; nothing where there can be none.
    fn movement(&self, flow: usize, from: usize, to: usize) -> Option<MovementId> {
        let ends = &self.flows[flow];
        ends.movements[from * ends.asked.len() + to]
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
                What::Runs(id) => {
                    result.runs_in.set(id, Some(chosen(unit)));
                    let way = candidates.way(unit, labels[unit]);
                    result.products.set(id, way.map(|way| way.product.clone()));
                }
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
            result.set_registers(value, problem.home(value).map(chosen));
        }
        result
    }

    pub(super) fn folding_price(&self, unit: UnitId, label: usize) -> u64 {
        let Some(&movement) = self.folds[unit].get(label) else { return 0 };
        times(self.prices.get(movement).total, self.times(unit))
    }

    pub(super) fn flow_price(&self, flow: usize, from: usize, to: usize) -> u64 {
        let Some(movement) = self.movement(flow, from, to) else { return NEVER };
        let moved = times(self.prices.get(movement).total, self.flow_times(flow, to));
        moved.saturating_add(self.flow_work(flow, to)).min(NEVER)
    }

    /// What the operations on a flow's way cost, which are made where they are asked for.
    fn flow_work(&self, flow: usize, to: usize) -> u64 {
        let work = self.problem.flows[flow].work;
        let Some(asked) = self.flows[flow].asked[to].filter(|_| work > 0) else { return 0 };
        let registers = 1_u64 << self.layouts.get(asked).in_bits(REGISTER);
        let each = registers * work * self.block.machine.prices.alu * u64::from(self.block.warps);
        times(each, self.problem.times[flow].0)
    }

    /// Makes the plans of a choice; says whether one of them was not known.
    fn plan(&mut self, labels: &[usize]) -> Result<bool, AssignError> {
        let mut learned = false;
        let own =
            (0..self.own.len()).filter_map(|unit| self.folds[unit].get(labels[unit]).copied());
        let flows = self.problem.flows.iter().enumerate();
        let flows = flows
            .filter_map(|(index, flow)| self.movement(index, labels[flow.from], labels[flow.to]));
        for movement in own.chain(flows).collect::<Vec<_>>() {
            if self.prices.plan(&self.layouts, &mut self.plans, movement)? {
                learned = true;
                self.learned.push(movement);
            }
        }
        Ok(learned)
    }

    /// What a choice costs.
    fn cost(&self, labels: &[usize]) -> u64 {
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

/// A price with a hundredth of a cycle for each instruction: of accesses that take as long the fewer are better.
fn few((price, instructions): (u64, u64)) -> u64 {
    price + instructions
}

/// What a label of a unit costs by itself: the instructions and sectors of an access, the arithmetic of a
/// product and of element-wise operations, and registers beyond those that a thread can spare.
fn own_price(
    problem: &Problem<'_>,
    anchors: Anchors<'_>,
    layouts: &Layouts,
    unit: UnitId,
    label: LayoutId,
    way: Option<&Candidate>,
) -> Result<u64, AssignError> {
    let Block { machine, warps, .. } = anchors.block;
    let prices = &machine.prices;
    let data = &problem.units[unit];
    let registers = 1_u64 << layouts.get(label).in_bits(REGISTER);
    let own = match data.what {
        What::Runs(id) => {
            let op = &problem.kernel.ops[id];
            let trips = problem.trips.of_op(id);
            if op.kind.by_pointers().is_some() {
                let cost = anchors.access_cost(layouts, id, label)?;
                return Ok(times(cost, trips));
            }
            // What all warps issue.
            return Ok(times(way.map_or(0, |way| way.instructions), trips));
        }
        What::Home(_) => {
            let words = registers * u64::from(data.bits.div_ceil(32));
            // What is too much is stored and loaded again.
            let spilled = words.saturating_sub(MANY_WORDS) * 2 * prices.wavefront;
            let mut loads = 0_u64;
            for &(load, copy) in &data.loads {
                let copy = &problem.kernel.ops[copy];
                let near = Near::of(problem.kernel, anchors.facts, anchors.block, copy);
                let each = near.price(Kind::Load, layouts.get(label), anchors.block);
                loads = loads.saturating_add(times(few(each), problem.trips.of_op(load)));
            }
            let mut fills = 0_u64;
            for &(fill, summed) in &data.fills {
                let dtype = problem.kernel.ty(problem.kernel.ops[fill].operands[0]).dtype();
                let price = readable_axes(dtype, summed).map(|axis| {
                    let near = Near::along(&data.shape, axis, dtype);
                    few(near.price(Kind::Store, layouts.get(label), anchors.block))
                });
                let least = price.min().unwrap_or_default();
                fills = fills.saturating_add(times(least, problem.trips.of_op(fill)));
            }
            (registers * data.work * prices.alu + spilled)
                .saturating_add(loads)
                .saturating_add(fills)
        }
        What::Source(_) => 0,
    };
    Ok(own.saturating_mul(warps.into()).min(NEVER))
}
