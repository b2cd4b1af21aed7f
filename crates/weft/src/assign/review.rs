//! Explains homes: which operations prefer each, and what the next best would cost.

use super::choose::{Chooser, ROUNDS, Total, with_problem};
use super::layouts::{LayoutId, Layouts};
use super::pbqp::NEVER;
use super::problem::{Carrier, UnitId, What};
use super::{AssignError, Block, Pin};
use crate::axis::AxisFacts;
use crate::id::IdMap;
use crate::tile::{Kernel, OpId, Value};

/// More units than this are weighed with fewer rounds each.
const MANY: usize = 64;

/// What speaks for one layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judged {
    /// The layout that was judged.
    pub layout: LayoutId,
    /// What it costs by itself: accesses, reductions and scans, products, element-wise operations.
    pub own: u64,
    /// The best choice of all in which this one is another layout: that layout, and what everything
    /// together costs more then. Nothing where no other is possible.
    pub next: Option<(LayoutId, u64)>,
    /// The operations beside it that run so that nothing has to move.
    pub agree: Vec<OpId>,
}

/// What speaks for every choice. Costs are in hundredths of a cycle of the block, over all rounds of
/// loops.
#[derive(Clone, Debug)]
pub struct Review {
    /// Every layout that is mentioned.
    pub layouts: Layouts,
    /// What everything costs together.
    pub total: Total,
    /// The homes of values.
    pub homes: IdMap<Value, Option<Judged>>,
    /// The layouts in which operations run.
    pub runs: IdMap<OpId, Option<Judged>>,
}

/// Makes the choice again, and then each time with one decision forbidden.
pub(super) fn run(
    kernel: &Kernel,
    facts: &AxisFacts,
    block: Block<'_>,
    pins: &[Pin],
) -> Result<Review, AssignError> {
    with_problem(kernel, facts, block, pins, |mut chooser| {
        let (labels, total) = chooser.solve(ROUNDS)?;
        let count = chooser.problem.units.len();
        let rounds = if count > MANY { 1 } else { ROUNDS };
        let mut judged = Vec::with_capacity(count);
        for unit in 0..count {
            judged.push(judge(&mut chooser, &labels, total, unit, rounds)?);
        }
        let (mut homes, mut runs) = (IdMap::default(), IdMap::default());
        for (data, judged) in chooser.problem.units.iter().zip(&judged) {
            if let What::Runs(id) = data.what {
                runs.set(id, Some(judged.clone()));
            }
        }
        for value in kernel.values.keys() {
            if let Some(unit) = chooser.problem.home(value) {
                homes.set(value, Some(judged[unit].clone()));
            }
        }
        Ok(Review { layouts: chooser.layouts, total, homes, runs })
    })
}

fn judge(
    chooser: &mut Chooser<'_>,
    labels: &[usize],
    total: Total,
    unit: UnitId,
    rounds: usize,
) -> Result<Judged, AssignError> {
    let problem = chooser.problem;
    let all = &chooser.candidates.labels[unit];
    let layout = all[labels[unit]];
    let own = chooser.own[unit][labels[unit]];
    let folded = chooser.folding_price(unit, labels[unit]);

    chooser.own[unit][labels[unit]] = NEVER;
    let (others, without) = chooser.solve(rounds)?;
    chooser.own[unit][labels[unit]] = own;
    let possible = without.cost < NEVER && others[unit] != labels[unit];
    let next = possible.then(|| (all[others[unit]], without.cost.saturating_sub(total.cost)));

    let mut agree = Vec::new();
    for (index, flow) in problem.flows.iter().enumerate() {
        let other = if flow.from == unit { flow.to } else { flow.from };
        let beside = flow.carrier == Carrier::Conversion && (flow.from == unit || flow.to == unit);
        let What::Runs(id) = problem.units[other].what else { continue };
        if !beside || agree.contains(&id) {
            continue;
        }
        if chooser.flow_price(index, labels[flow.from], labels[flow.to]) == 0 {
            agree.push(id);
        }
    }
    agree.sort_unstable();
    Ok(Judged { layout, own: own.saturating_add(folded), next, agree })
}
