//! The layouts that each unit may take.
//!
//! Some operations prefer layouts, their *anchors*: accesses those that coalesce them, matrix products
//! squares. Anchors are propagated, the heaviest first, along the flows in both directions, through
//! the linear maps of the shape operations on the way (theorem 9.3 of the paper), so that every unit can
//! take a layout that makes its flows free. A unit keeps the first few that differ, and the layout of the
//! greedy choice.
//!
//! Some layouts are no operation's preference: those that spread over all threads a tensor that would
//! otherwise be copied in each of them, and those that suit reductions, scans and gathers.

use super::anchors::Anchors;
use super::carry::Carry;
use super::folded;
use super::layouts::{LayoutId, Layouts};
use super::problem::{Carrier, Flow, Port, Problem, UnitId, What, bits_of};
use super::product::{self, Candidate};
use super::{AssignError, Assignment};
use crate::tile::OpKind;
use rustc_hash::{FxHashMap, FxHashSet};
use weft_layout::LayoutError;
use weft_layout::f2::Subspace;
use weft_layout::layout::Surplus;
use weft_layout::machine::Prices;
use weft_layout::space::{LANE, REGISTER, WARP};

/// The most labels of a unit, and of one among many.
const MOST: (usize, usize) = (12, 6);
/// So many more that no operation asks for by itself: of one among few, and of another one.
const EXTRA: (usize, usize) = (6, 2);
/// The most ways of a matrix product, the cheapest alone.
const MOST_WAYS: usize = 12;
/// Of these the ones that others hear of before what accesses ask for.
const FIRST_WAYS: usize = 4;
/// No more units than this are few.
const FEW: usize = 48;
/// So many units are many.
const MANY: usize = 200;

/// Layouts that differ by the names of registers alone, which no movement sees.
type Key = (Subspace, Vec<u64>);

/// The labels of every unit.
pub(super) struct Candidates {
    pub(super) labels: Vec<Vec<LayoutId>>,
    /// For each label of a unit that is a matrix product, how it is computed then; nothing for others.
    pub(super) ways: Vec<Vec<Candidate>>,
    /// Which layouts each unit has, by their numbers in `kinds`.
    known: Vec<FxHashSet<usize>>,
    kinds: FxHashMap<Key, usize>,
    /// Layouts without copies in registers, with their numbers in `kinds`.
    unique: FxHashMap<LayoutId, (LayoutId, usize)>,
    carry: Carry,
    most: usize,
    /// The flows that start or end at each unit.
    around: Vec<Vec<usize>>,
    /// The most labels that are pushed to a unit, where that is not as many as to others: one to what is
    /// pinned, none to products, whose labels are their ways.
    room: Vec<Option<usize>>,
}

/// What an anchor asks a unit for.
struct Seed {
    weight: u64,
    unit: UnitId,
    asked: Asked,
}

enum Asked {
    Layout(LayoutId),
    /// The ways of a matrix product, the most promising first.
    Ways(Vec<Candidate>),
}

impl Candidates {
    pub(super) fn of(
        problem: &Problem<'_>,
        anchors: Anchors<'_>,
        layouts: &mut Layouts,
        pinned: &[(UnitId, LayoutId)],
    ) -> Result<Self, AssignError> {
        let count = problem.units.len();
        let mut around = vec![Vec::new(); count];
        for (index, flow) in problem.flows.iter().enumerate() {
            around[flow.from].push(index);
            if flow.to != flow.from {
                around[flow.to].push(index);
            }
        }
        let mut candidates = Self {
            labels: vec![Vec::new(); count],
            ways: vec![Vec::new(); count],
            known: vec![FxHashSet::default(); count],
            kinds: FxHashMap::default(),
            unique: FxHashMap::default(),
            carry: Carry::of(problem),
            most: if count > MANY { MOST.1 } else { MOST.0 },
            around,
            room: vec![None; count],
        };
        for (unit, data) in problem.units.iter().enumerate() {
            if let What::Runs(id) = data.what
                && product::is_product(&problem.kernel.ops[id].kind)
            {
                candidates.room[unit] = Some(0);
            }
        }
        for &(unit, layout) in pinned {
            candidates.room[unit] = Some(1);
            candidates.push(problem, layouts, unit, layout)?;
        }
        let mut seeds = seeds(problem, anchors, layouts)?;
        seeds.sort_by_key(|seed| core::cmp::Reverse(seed.weight));
        let mut others = Vec::new();
        for Seed { unit, asked, .. } in seeds {
            anchors.block.budget.check()?;
            match asked {
                Asked::Layout(layout) => candidates.push(problem, layouts, unit, layout)?,
                Asked::Ways(mut ways) => {
                    let rest = ways.split_off(FIRST_WAYS.min(ways.len()));
                    candidates.multiply(problem, layouts, unit, ways)?;
                    others.push((unit, rest));
                }
            }
        }
        for (unit, ways) in others {
            candidates.multiply(problem, layouts, unit, ways)?;
        }
        candidates.spread_out(problem, anchors, layouts)?;
        candidates.most += if count <= FEW {
            EXTRA.0
        } else if count <= MANY {
            EXTRA.1
        } else {
            0
        };
        candidates.turn(problem, layouts, &anchors.block.machine.prices)?;
        candidates.leave(problem, anchors, layouts)?;
        candidates.bring(problem, anchors, layouts)?;
        Ok(candidates)
    }

    /// Where all that a unit may take gives threads more than their share of a tensor, it may also be dealt
    /// out over all of them: what is asked for on the other side of a broadcast, say, leaves everything
    /// in every thread.
    fn spread_out(
        &mut self,
        problem: &Problem<'_>,
        anchors: Anchors<'_>,
        layouts: &mut Layouts,
    ) -> Result<(), AssignError> {
        let threads = anchors.block.machine.lanes_log2 + anchors.block.warps.ilog2();
        // What is pushed from the largest tensors reaches others.
        let elements = |unit: &UnitId| problem.units[*unit].shape.iter().product::<u64>();
        let mut units: Vec<UnitId> = (0..problem.units.len()).collect();
        units.sort_by_key(|unit| core::cmp::Reverse(elements(unit)));
        for unit in units {
            let share = elements(&unit).ilog2().saturating_sub(threads);
            let is_dealt_out = |&label: &LayoutId| layouts.get(label).in_bits(REGISTER) <= share;
            if self.labels[unit].iter().any(is_dealt_out) {
                continue;
            }
            let data = &problem.units[unit];
            // One element after the other, and as many as a load would move at once.
            let bytes = u64::from(data.bits.max(32) / 8);
            let wide = u64::from(anchors.block.machine.global_vector_bytes) / bytes;
            for vector in [1, wide.min(1 << share)] {
                let layout = anchors.row_major(layouts, &data.shape, vector)?;
                self.push(problem, layouts, unit, layout)?;
            }
        }
        Ok(())
    }

    /// What a reduction leaves lies in few threads, the others hold copies; it may be dealt out as well.
    fn leave(
        &mut self,
        problem: &Problem<'_>,
        anchors: Anchors<'_>,
        layouts: &mut Layouts,
    ) -> Result<(), AssignError> {
        let leaves = |flow: &&Flow| matches!(flow.leaves, Port::Without(_));
        for flow in problem.flows.iter().filter(leaves) {
            let shape = &problem.units[flow.to].shape;
            let layout = anchors.row_major(layouts, shape, 1)?;
            self.push(problem, layouts, flow.to, layout)?;
        }
        Ok(())
    }

    /// What an asynchronous copy brought may be loaded by whole vectors, as it came.
    fn bring(
        &mut self,
        problem: &Problem<'_>,
        anchors: Anchors<'_>,
        layouts: &mut Layouts,
    ) -> Result<(), AssignError> {
        for (unit, data) in problem.units.iter().enumerate() {
            for &(_, copy) in &data.loads {
                let layout = anchors.memory_layout(layouts, &problem.kernel.ops[copy])?;
                self.push(problem, layouts, unit, layout)?;
            }
        }
        Ok(())
    }

    /// Where something is folded along an axis, other layouts than those that accesses ask for are worth a
    /// look: one conversion may spare many steps.
    fn turn(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        prices: &Prices,
    ) -> Result<(), AssignError> {
        let others = if problem.units.len() > FEW { 1 } else { 2 };
        for (unit, data) in problem.units.iter().enumerate() {
            let What::Runs(id) = data.what else { continue };
            let Some(&first) = self.labels[unit].first() else { continue };
            if let OpKind::Gather { axis } = problem.kernel.ops[id].kind {
                self.gather(problem, layouts, unit, axis.into())?;
            }
            let Some((axis, _, direction)) = problem.folds(id) else { continue };
            let (first, in_order) = (layouts.get(first), direction.is_some());
            for layout in folded::worth_a_look(first, axis, in_order, prices, others)? {
                let layout = layouts.intern(layout);
                self.push(problem, layouts, unit, layout)?;
            }
        }
        Ok(())
    }

    /// Where something is gathered along an axis, source and indices may lie so that an exchange inside
    /// warps finds it: the axis in one warp, all others in the same threads.
    fn gather(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        unit: UnitId,
        axis: usize,
    ) -> Result<(), AssignError> {
        let first = self.labels[unit][0];
        let sources = self.around[unit].iter().map(|&flow| &problem.flows[flow]);
        let mut sources = sources.filter(|flow| matches!(flow.carrier, Carrier::Gather(..)));
        let Some(source) = sources.find(|flow| flow.to == unit).map(|flow| flow.from) else {
            return Ok(());
        };
        let shape = &problem.units[source].shape;
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        for layout in folded::in_a_warp(layouts.get(first), axis)? {
            let fitting = layout.cut_to(shape, Surplus::Dropped)?;
            let fitting = layouts.intern(fitting.grow_to(REGISTER, shape, &order)?);
            let layout = layouts.intern(layout);
            self.push(problem, layouts, unit, layout)?;
            self.push(problem, layouts, source, fitting)?;
        }
        Ok(())
    }

    /// Takes in another choice of homes, so that each unit may also take what it has there.
    pub(super) fn take_in(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        other: &Assignment,
    ) -> Result<(), AssignError> {
        for (unit, data) in problem.units.iter().enumerate() {
            let chosen = match data.what {
                What::Home(value) => other.registers(value),
                What::Runs(id) => other.runs_in(id),
                What::Source(id) => other.source_in(id),
            };
            let (Some(chosen), None) = (chosen, self.room[unit]) else { continue };
            let layout = layouts.intern(other.layouts.get(chosen).clone());
            let (unique, kind) = self.without_copies(layouts, layout)?;
            if self.known[unit].insert(kind) {
                self.labels[unit].push(unique);
            }
        }
        Ok(())
    }

    /// Gives a unit a label, if there is room and it has none like it.
    fn add(
        &mut self,
        layouts: &mut Layouts,
        unit: UnitId,
        layout: LayoutId,
    ) -> Result<Option<usize>, LayoutError> {
        let most = self.room[unit].unwrap_or(self.most);
        if self.labels[unit].len() >= most {
            return Ok(None);
        }
        let (unique, kind) = self.without_copies(layouts, layout)?;
        if !self.known[unit].insert(kind) {
            return Ok(None);
        }
        self.labels[unit].push(unique);
        Ok(Some(self.labels[unit].len() - 1))
    }

    /// A layout without copies in registers, and the number of those that are no other to movements.
    fn without_copies(
        &mut self,
        layouts: &mut Layouts,
        layout: LayoutId,
    ) -> Result<(LayoutId, usize), LayoutError> {
        if let Some(&known) = self.unique.get(&layout) {
            return Ok(known);
        }
        let unique = layouts.get(layout).remove_zero_columns(REGISTER)?.0;
        let registers = Subspace::from_vectors(unique.columns(REGISTER));
        let threads = [unique.columns(LANE), unique.columns(WARP)].concat();
        let next = self.kinds.len();
        let kind = *self.kinds.entry((registers, threads)).or_insert(next);
        let found = (layouts.intern(unique), kind);
        self.unique.insert(layout, found);
        Ok(found)
    }

    /// Pushes a layout from a unit to all that it reaches.
    fn push(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        unit: UnitId,
        layout: LayoutId,
    ) -> Result<(), AssignError> {
        match self.add(layouts, unit, layout)? {
            Some(label) => self.spread(problem, layouts, (unit, label)),
            None => Ok(()),
        }
    }

    /// Gives a matrix product its labels, one for each way to compute it, and pushes what these take and
    /// leave.
    fn multiply(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        unit: UnitId,
        ways: Vec<Candidate>,
    ) -> Result<(), AssignError> {
        for way in ways {
            self.labels[unit].push(way.accumulator);
            self.ways[unit].push(way);
            self.spread(problem, layouts, (unit, self.labels[unit].len() - 1))?;
        }
        Ok(())
    }

    /// How a unit computes with a label, if it is a matrix product.
    pub(super) fn way(&self, unit: UnitId, label: usize) -> Option<&Candidate> {
        self.ways[unit].get(label)
    }

    /// The layouts that a flow leaves its source in and that its target asks for, for each of their
    /// labels; nothing where a layout cannot be carried.
    pub(super) fn ends(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        flow: usize,
    ) -> [Vec<Option<LayoutId>>; 2] {
        let data = &problem.flows[flow];
        let left = self.labels[data.from].iter();
        let left = left.map(|&label| self.carry.left(problem, layouts, flow, label)).collect();
        let asked = self.labels[data.to].iter().enumerate().map(|(index, &label)| {
            let way = self.ways[data.to].get(index);
            self.carry.asked(problem, layouts, flow, label, way)
        });
        [left, asked.collect()]
    }

    /// Pushes a label of a unit to all that it reaches.
    fn spread(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        from: (UnitId, usize),
    ) -> Result<(), AssignError> {
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some((unit, id)) = queue.pop_front() {
            for at in self.around[unit].clone() {
                let flow = &problem.flows[at];
                if flow.carrier != Carrier::Conversion {
                    continue;
                }
                let label = self.labels[unit][id];
                let (other, pushed) = if flow.from == unit {
                    (flow.to, self.carry.forward(problem, layouts, at, label))
                } else {
                    let way = self.ways[unit].get(id);
                    (flow.from, self.carry.backward(problem, layouts, at, label, way))
                };
                // What a map cannot carry is no candidate.
                if let Some(pushed) = pushed
                    && let Some(id) = self.add(layouts, other, pushed)?
                {
                    queue.push_back((other, id));
                }
            }
        }
        Ok(())
    }
}

/// What operations ask for.
fn seeds(
    problem: &Problem<'_>,
    anchors: Anchors<'_>,
    layouts: &mut Layouts,
) -> Result<Vec<Seed>, AssignError> {
    let kernel = problem.kernel;
    let mut seeds = Vec::new();
    for (unit, data) in problem.units.iter().enumerate() {
        anchors.block.budget.check()?;
        let What::Runs(id) = data.what else { continue };
        let op = &kernel.ops[id];
        let times = problem.trips.of_op(id).max(1);
        if op.kind.by_pointers().is_some() {
            let ty = kernel.ty(op.operands[0]);
            let bytes = ty.element.pointee().map_or(8, crate::dtype::DType::bytes);
            let weight = ty.elements() * u64::from(bytes) * times;
            let asked = Asked::Layout(anchors.memory_layout(layouts, op)?);
            seeds.push(Seed { weight, unit, asked });
            if let Some(words) = anchors.words_layout(layouts, op)? {
                seeds.push(Seed { weight, unit, asked: Asked::Layout(words) });
            }
            if let Some(tested) = anchors.tested_layout(layouts, op)? {
                // Behind what needs no test.
                let asked = Asked::Layout(tested);
                seeds.push(Seed { weight: weight / 2, unit, asked });
            }
        } else if product::is_product(&op.kind) {
            // Every element is touched once for each element of the summed axis.
            let summed = kernel.ty(op.operands[0]).shape.last().copied().unwrap_or(1);
            let result = op.results[0];
            let bytes = u64::from(bits_of(kernel, result) / 8);
            let weight = kernel.ty(result).elements() * bytes * summed * times;
            let mut ways = product::candidates(kernel, op, anchors.block, layouts)?;
            ways.sort_by_key(Candidate::price);
            ways.truncate(MOST_WAYS);
            seeds.push(Seed { weight, unit, asked: Asked::Ways(ways) });
        }
    }
    Ok(seeds)
}
