//! The layouts that each unit may take.
//!
//! Operations that care for layouts ask for some: accesses for what coalesces them, matrix products for
//! squares. These anchors are pushed, the heaviest first, along the flows in both directions, through
//! the linear maps of the shape operations on the way (theorem 9.3 of the paper), so that every unit can
//! take what would make its flows free. A unit keeps the first few that differ.

use super::AssignError;
use super::anchors::{Anchors, is_access};
use super::layouts::{LayoutId, Layouts};
use super::problem::{Carrier, Flow, Port, Problem, UnitId, What, bits_of};
use super::product::{self, Candidate, Product};
use super::shape::{operand_layout, result_layout};
use crate::tile::{Kernel, OpId, OpKind};
use rustc_hash::FxHashSet;
use weft_layout::space::{LANE, REGISTER, WARP};
use weft_layout::{Label, Layout, LayoutError, f2::Subspace};

/// The most labels of a unit, and of one among many.
const MOST: (usize, usize) = (12, 6);
/// The most ways of a matrix product, the cheapest alone.
const MOST_WAYS: usize = 12;
/// So many units are many.
const MANY: usize = 200;

/// Layouts that differ by the names of registers alone, which no movement sees.
type Key = (Subspace, Vec<u64>);

/// The labels of every unit.
pub(super) struct Candidates {
    pub(super) labels: Vec<Vec<LayoutId>>,
    /// For each label of a unit that is a matrix product, how it is computed then; nothing for others.
    pub(super) ways: Vec<Vec<Candidate>>,
    known: Vec<FxHashSet<Key>>,
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
            most: if count > MANY { MOST.1 } else { MOST.0 },
            around,
            room: vec![None; count],
        };
        for (unit, data) in problem.units.iter().enumerate() {
            if let What::Runs(id) = data.what
                && matches!(problem.kernel.ops[id].kind, OpKind::Dot(_))
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
        for Seed { unit, asked, .. } in seeds {
            match asked {
                Asked::Layout(layout) => candidates.push(problem, layouts, unit, layout)?,
                Asked::Ways(ways) => candidates.multiply(problem, layouts, unit, ways)?,
            }
        }
        for unit in 0..count {
            if candidates.labels[unit].is_empty() {
                let layout = anchors.default_layout(layouts, &problem.units[unit].shape)?;
                candidates.push(problem, layouts, unit, layout)?;
            }
        }
        candidates.turn(problem, layouts)?;
        Ok(candidates)
    }

    /// Where something is folded along an axis that runs over warps, which costs barriers, the layout in
    /// which warps and registers have changed places is worth a look: one conversion may spare many.
    fn turn(&mut self, problem: &Problem<'_>, layouts: &mut Layouts) -> Result<(), AssignError> {
        for (unit, data) in problem.units.iter().enumerate() {
            let What::Runs(id) = data.what else { continue };
            let (Some((axis, ..)), Some(&first)) = (problem.folds(id), self.labels[unit].first())
            else {
                continue;
            };
            let layout = layouts.get(first);
            let mask = layout.outs().mask(Label::dim(axis as u32));
            if layout.columns(WARP).iter().all(|column| column & mask == 0) {
                continue;
            }
            let mut columns = layout.matrix().columns().to_vec();
            let registers = layout.in_bits(REGISTER) as usize;
            let first_warp = registers + layout.in_bits(LANE) as usize;
            // The last registers are the farthest apart in memory.
            let swapped = (0..layout.in_bits(WARP) as usize).zip((0..registers).rev());
            for (warp, register) in swapped {
                columns.swap(first_warp + warp, register);
            }
            let turned = Layout::new(layout.ins().clone(), layout.outs().clone(), &columns)?;
            let turned = layouts.intern(turned);
            self.push(problem, layouts, unit, turned)?;
        }
        Ok(())
    }

    /// Gives a unit a label, if there is room and it has none like it.
    fn add(
        &mut self,
        layouts: &mut Layouts,
        unit: UnitId,
        layout: &Layout,
    ) -> Result<Option<usize>, LayoutError> {
        let most = self.room[unit].unwrap_or(self.most);
        if self.labels[unit].len() >= most {
            return Ok(None);
        }
        let unique = layout.remove_zero_columns(REGISTER)?.0;
        let registers = Subspace::from_vectors(unique.columns(REGISTER));
        let threads = [unique.columns(LANE), unique.columns(WARP)].concat();
        if !self.known[unit].insert((registers, threads)) {
            return Ok(None);
        }
        let id = layouts.intern(unique);
        self.labels[unit].push(id);
        Ok(Some(self.labels[unit].len() - 1))
    }

    /// Pushes a layout from a unit to all that it reaches.
    fn push(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        unit: UnitId,
        layout: LayoutId,
    ) -> Result<(), AssignError> {
        let layout = layouts.get(layout).clone();
        match self.add(layouts, unit, &layout)? {
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
        for way in ways.into_iter().take(MOST_WAYS) {
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
                let label = layouts.get(self.labels[unit][id]).clone();
                let (other, pushed) = if flow.from == unit {
                    (flow.to, forward(problem, flow, &label))
                } else {
                    (flow.from, backward(problem, layouts, flow, &label, self.way(unit, id)))
                };
                // What a map cannot carry is no candidate.
                if let Ok(Some(pushed)) = pushed
                    && let Some(id) = self.add(layouts, other, &pushed)?
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
        let What::Runs(id) = data.what else { continue };
        let op = &kernel.ops[id];
        let times = problem.trips.of_op(id).max(1);
        if is_access(&op.kind) {
            let ty = kernel.ty(op.operands[0]);
            let bytes = ty.element.pointee().map_or(8, crate::dtype::DType::bytes);
            let weight = ty.elements() * u64::from(bytes) * times;
            let asked = Asked::Layout(anchors.memory_layout(layouts, op)?);
            seeds.push(Seed { weight, unit, asked });
            if let Some(words) = anchors.words_layout(layouts, op)? {
                seeds.push(Seed { weight, unit, asked: Asked::Layout(words) });
            }
        } else if matches!(op.kind, OpKind::Dot(_)) {
            // Every element is touched once for each element of the summed axis.
            let summed = kernel.ty(op.operands[0]).shape.last().copied().unwrap_or(1);
            let result = op.results[0];
            let bytes = u64::from(bits_of(kernel, result) / 8);
            let weight = kernel.ty(result).elements() * bytes * summed * times;
            let mut ways = product::candidates(kernel, op, anchors.block, layouts)?;
            ways.sort_by_key(Candidate::price);
            seeds.push(Seed { weight, unit, asked: Asked::Ways(ways) });
        }
    }
    Ok(seeds)
}

/// The layout that a flow leaves its source in, without copies in registers.
pub(super) fn left(flow: &Flow, label: &Layout) -> Result<Layout, LayoutError> {
    match flow.leaves {
        Port::Without(axis) => slice_of(label, axis),
        _ => Ok(label.clone()),
    }
}

/// What a reduction of a tensor in this layout leaves.
fn slice_of(label: &Layout, axis: usize) -> Result<Layout, LayoutError> {
    Ok(label.slice(axis)?.remove_zero_columns(REGISTER)?.0)
}

/// The layout in which a flow's value is asked for by a unit in this layout, without copies in registers.
pub(super) fn asked(
    problem: &Problem<'_>,
    layouts: &Layouts,
    flow: &Flow,
    label: &Layout,
    way: Option<&Candidate>,
) -> Result<Layout, LayoutError> {
    let kernel = problem.kernel;
    let shape = match flow.via.first() {
        Some(&first) => &kernel.ty(kernel.ops[first].results[0]).shape,
        None => &kernel.ty(flow.value).shape,
    };
    let mut layout = match flow.asked {
        Port::Same | Port::Without(_) => label.clone(),
        Port::Half => label.slice(shape.len())?,
        Port::Joined => label.join()?,
        Port::Factor(side) => match way.map(|way| &way.product) {
            Some(Product::Matrix(matrix)) => {
                layouts.get(if side == 0 { matrix.left } else { matrix.right }).clone()
            }
            _ => {
                let other = shape.len() - 1 - side;
                label.slice(other)?.expand_dims(other)?.broadcast(shape)?
            }
        },
    };
    for &id in &flow.via {
        layout = below(kernel, id, &layout)?;
    }
    Ok(layout.remove_zero_columns(REGISTER)?.0)
}

/// The layout of a shape operation's operand, given that of its result.
fn below(kernel: &Kernel, id: OpId, result: &Layout) -> Result<Layout, LayoutError> {
    let op = &kernel.ops[id];
    operand_layout(&op.kind, result, &kernel.ty(op.operands[0]).shape)
}

/// The layout of a flow's target in which it asks for what the source leaves in this layout.
fn forward(
    problem: &Problem<'_>,
    flow: &Flow,
    label: &Layout,
) -> Result<Option<Layout>, LayoutError> {
    let kernel = problem.kernel;
    let mut layout = left(flow, label)?;
    for &id in flow.via.iter().rev() {
        let op = &kernel.ops[id];
        layout = result_layout(&op.kind, &layout, &kernel.ty(op.results[0]).shape)?;
    }
    let shape = &problem.units[flow.to].shape;
    match flow.asked {
        Port::Same => Ok(Some(layout)),
        Port::Half => result_layout(&OpKind::Join, &layout, shape).map(Some),
        Port::Joined => result_layout(&OpKind::Split, &layout, shape).map(Some),
        Port::Factor(_) | Port::Without(_) => Ok(None),
    }
}

/// The layout of a flow's source that leaves what the target asks for in this layout.
fn backward(
    problem: &Problem<'_>,
    layouts: &Layouts,
    flow: &Flow,
    label: &Layout,
    way: Option<&Candidate>,
) -> Result<Option<Layout>, LayoutError> {
    let layout = asked(problem, layouts, flow, label, way)?;
    match flow.leaves {
        Port::Without(axis) => {
            let shape = &problem.units[flow.from].shape;
            Ok(Some(layout.expand_dims(axis)?.broadcast(shape)?))
        }
        _ => Ok(Some(layout)),
    }
}
