//! The home of each class, and the layout of each memory operation.

use super::access::{AccessShape, Reach, memory_order, vector_elements};
use super::classes::{Classes, definitions, find_free};
use super::layouts::{LayoutId, Layouts, Plans};
use super::product::choose;
use super::shape::{is_shape_op, result_layout};
use super::{AssignError, Assignment, Block, Reason};
use crate::axis::AxisFacts;
use crate::id::IdMap;
use crate::tile::{Kernel, Op, OpId, OpKind, Value};
use rustc_hash::FxHashMap;
use weft_layout::family::Blocked;
use weft_layout::plan;
use weft_layout::space::REGISTER;
use weft_layout::{Layout, Space};

/// Decides every home.
pub(super) fn run(
    kernel: &Kernel,
    facts: &AxisFacts,
    block: Block<'_>,
) -> Result<Assignment, AssignError> {
    let free = find_free(kernel);
    let classes = Classes::of(kernel, &free);
    let mut solver = Solver {
        kernel,
        facts,
        block,
        classes,
        anchors: FxHashMap::default(),
        resolved: FxHashMap::default(),
        definitions: definitions(kernel),
        result: Assignment {
            layouts: Layouts::default(),
            plans: Plans::default(),
            home: IdMap::default(),
            given: IdMap::default(),
            free,
            runs_in: IdMap::default(),
            products: IdMap::default(),
            reasons: IdMap::default(),
        },
    };
    solver.collect_anchors()?;
    solver.set_homes()?;
    solver.place_memory_ops()?;
    Ok(solver.result)
}

/// A layout that an operation asks a class for.
struct Anchor {
    op: OpId,
    layout: LayoutId,
    weight: u64,
}

struct Solver<'a> {
    kernel: &'a Kernel,
    facts: &'a AxisFacts,
    block: Block<'a>,
    classes: Classes,
    anchors: FxHashMap<Value, Vec<Anchor>>,
    /// The home of each class; none while it is being found.
    resolved: FxHashMap<Value, Option<(LayoutId, Reason)>>,
    definitions: IdMap<Value, Option<OpId>>,
    result: Assignment,
}

impl Solver<'_> {
    fn lanes(&self) -> u64 {
        1 << self.block.machine.lanes_log2
    }

    fn has_home(&self, value: Value) -> bool {
        self.kernel.ty(value).is_tensor() && !self.result.free[value]
    }

    fn blocked(
        &mut self,
        shape: &[u64],
        per_thread: &[u64],
        order: &[usize],
    ) -> Result<LayoutId, AssignError> {
        let warps = u64::from(self.block.warps);
        let blocked = Blocked::for_memory(shape, per_thread, order, self.lanes(), warps)?;
        let layout = blocked.layout(shape)?;
        Ok(self.result.layouts.intern(layout))
    }

    fn default_layout(&mut self, shape: &[u64]) -> Result<LayoutId, AssignError> {
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        self.blocked(shape, &vec![1; shape.len()], &order)
    }

    /// The layout that coalesces a memory operation.
    fn memory_layout(&mut self, op: &Op) -> Result<LayoutId, AssignError> {
        let pointer = op.operands[0];
        let ty = self.kernel.ty(pointer);
        let shape = ty.shape.clone();
        let reach = Reach::of(self.kernel, self.facts, self.block.machine, op)?;
        if reach.axes.len() > 1 {
            return self.walked(&shape, &reach);
        }
        let order = memory_order(self.facts, pointer);
        let threads = self.lanes() * u64::from(self.block.warps);
        let vector = vector_elements(self.kernel, self.facts, self.block.machine, op);
        let share = (ty.elements() / threads).max(1);
        let mut per_thread = vec![1; shape.len()];
        if let Some(&axis) = order.first() {
            per_thread[axis] = vector.min(share).min(shape[axis]);
        }
        self.blocked(&shape, &per_thread, &order)
    }

    /// The layout that walks memory in its order: registers as far as an instruction reaches and every
    /// thread has a share, then lanes, warps, and further registers.
    fn walked(&mut self, shape: &[u64], reach: &Reach) -> Result<LayoutId, AssignError> {
        let outs = Space::tensor(shape)?;
        let (lanes, warps) = (self.block.machine.lanes_log2, self.block.warps.ilog2());
        let share = outs.total_bits().saturating_sub(lanes + warps);
        let mut bits = reach.order.iter().map(|bit| 1_u64 << bit);
        let mut registers: Vec<u64> =
            bits.by_ref().take(reach.most_log2.min(share) as usize).collect();
        // What is left over when the tensor has run out are copies.
        let threads = (0..lanes + warps).map(|_| bits.next().unwrap_or(0)).collect::<Vec<u64>>();
        registers.extend(bits);
        let ins = Space::hardware(registers.len() as u32, lanes, warps, 0)?;
        let layout = Layout::new(ins, outs, &[registers, threads].concat())?;
        Ok(self.result.layouts.intern(layout))
    }

    /// A product asks for the layout of its sum.
    fn anchor_products(&mut self) -> Result<(), AssignError> {
        let layouts = &mut self.result.layouts;
        for (id, candidate) in choose(self.kernel, &self.definitions, self.block, layouts)? {
            let op = &self.kernel.ops[id];
            // Every element is touched once for each element of the summed axis.
            let k = self.kernel.ty(op.operands[0]).shape.last().copied().unwrap_or(1);
            self.anchor(op.results[0], id, candidate.accumulator, k);
            self.result.products.set(id, Some(candidate.product));
        }
        Ok(())
    }

    fn collect_anchors(&mut self) -> Result<(), AssignError> {
        self.anchor_products()?;
        let mut ops = Vec::new();
        self.kernel.walk(&self.kernel.body, &mut |id, op| ops.push((id, op)));
        for (id, op) in ops {
            match op.kind {
                OpKind::Load(_)
                | OpKind::Store(_)
                | OpKind::AtomicRmw { .. }
                | OpKind::AtomicCas { .. } => {
                    if !self.kernel.ty(op.operands[0]).is_tensor() {
                        continue;
                    }
                    let layout = self.memory_layout(op)?;
                    let tensors = op.operands.iter().chain(&op.results).copied();
                    for value in tensors.collect::<Vec<_>>() {
                        self.anchor(value, id, layout, 1);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn anchor(&mut self, value: Value, op: OpId, layout: LayoutId, times: u64) {
        if self.has_home(value) {
            let ty = self.kernel.ty(value);
            let weight = ty.elements() * u64::from(ty.dtype().bytes()) * times;
            let class = self.classes.find(value);
            self.anchors.entry(class).or_default().push(Anchor { op, layout, weight });
        }
    }

    fn set_homes(&mut self) -> Result<(), AssignError> {
        for value in self.kernel.values.keys() {
            let shape_op =
                self.definitions[value].is_some_and(|op| is_shape_op(&self.kernel.ops[op].kind));
            if !self.has_home(value) {
                continue;
            }
            let Some((layout, reason)) = self.resolve(self.classes.find(value))? else { continue };
            // A shape operation alone in its class is only a name for its operand.
            if !shape_op {
                self.result.home.set(value, Some(layout));
                self.result.reasons.set(value, Some(reason));
            }
        }
        Ok(())
    }

    /// The home of a class: none while it is being found further up.
    fn resolve(&mut self, class: Value) -> Result<Option<(LayoutId, Reason)>, AssignError> {
        if let Some(found) = self.resolved.get(&class) {
            return Ok(found.clone());
        }
        self.resolved.insert(class, None);
        // What a reduction leaves is small and already spread over the threads that need it: moving
        // it costs more than an access that is not coalesced, which decides for itself later.
        let mut found = None;
        if !self.has_product(class) {
            found = self.follow(class, |kind| matches!(kind, OpKind::Reduce { .. }))?;
        }
        if found.is_none() {
            found = self.heaviest(class);
        }
        if found.is_none() {
            let through =
                |kind: &OpKind| is_shape_op(kind) || matches!(kind, OpKind::Join | OpKind::Split);
            found = self.follow(class, through)?;
        }
        if found.is_none() {
            let shape = self.kernel.ty(class).shape.clone();
            found = Some((self.default_layout(&shape)?, Reason::Default));
        }
        self.resolved.insert(class, found.clone());
        Ok(found)
    }

    /// Whether a matrix product asks for a layout of the class.
    fn has_product(&self, class: Value) -> bool {
        let anchors = self.anchors.get(&class).map_or(&[][..], |anchors| anchors);
        anchors.iter().any(|anchor| matches!(self.kernel.ops[anchor.op].kind, OpKind::Dot(_)))
    }

    fn heaviest(&self, class: Value) -> Option<(LayoutId, Reason)> {
        let anchors = self.anchors.get(&class)?;
        // Weights of equal layouts add up.
        let weight_of = |layout: LayoutId| -> u64 {
            anchors
                .iter()
                .filter(|anchor| anchor.layout == layout)
                .map(|anchor| anchor.weight)
                .sum()
        };
        let total: u64 = anchors.iter().map(|anchor| anchor.weight).sum();
        let mut best: Option<(&Anchor, u64)> = None;
        for anchor in anchors {
            let weight = weight_of(anchor.layout);
            if best.is_none_or(|(_, most)| weight > most) {
                best = Some((anchor, weight));
            }
        }
        let (anchor, weight) = best?;
        let reason = Reason::Anchor { op: anchor.op, weight, against: total - weight };
        Some((anchor.layout, reason))
    }

    /// What the definitions (of such kinds) of a class's members give, from layouts found elsewhere.
    fn follow(
        &mut self,
        class: Value,
        through: fn(&OpKind) -> bool,
    ) -> Result<Option<(LayoutId, Reason)>, AssignError> {
        let members: Vec<Value> = self
            .kernel
            .values
            .keys()
            .filter(|&value| self.has_home(value) && self.classes.find(value) == class)
            .collect();
        for member in members {
            let Some(id) = self.definitions[member] else { continue };
            let op = &self.kernel.ops[id];
            if !through(&op.kind) {
                continue;
            }
            let Some(&source) = op.operands.iter().find(|&&value| self.has_home(value)) else {
                continue;
            };
            let Some((layout, _)) = self.resolve(self.classes.find(source))? else { continue };
            let operand = self.result.layouts.get(layout).clone();
            let layout = match op.kind {
                OpKind::Reduce { axis } => {
                    let sliced = operand.slice(usize::from(axis))?;
                    sliced.remove_zero_columns(REGISTER)?.0
                }
                _ => result_layout(&op.kind, &operand, &self.kernel.ty(member).shape)?,
            };
            let layout = self.result.layouts.intern(layout);
            return Ok(Some((layout, Reason::Follows(id))));
        }
        Ok(None)
    }

    /// Lets each memory operation run in its value's home or, with a conversion, in its own layout.
    fn place_memory_ops(&mut self) -> Result<(), AssignError> {
        let mut ops = Vec::new();
        self.kernel.walk(&self.kernel.body, &mut |id, op| ops.push((id, op)));
        for (id, op) in ops {
            let moved = match op.kind {
                OpKind::Load(_) => op.results.first(),
                OpKind::Store(_) => op.operands.get(1),
                OpKind::AtomicRmw { .. } | OpKind::AtomicCas { .. } => op.results.first(),
                _ => None,
            };
            let Some(&moved) = moved else { continue };
            if !self.kernel.ty(op.operands[0]).is_tensor() {
                continue;
            }
            let own = self.memory_layout(op)?;
            let home = match self.resolved.get(&self.classes.find(moved)) {
                Some(Some((home, _))) if self.has_home(moved) => *home,
                _ => own,
            };
            let place = if own == home {
                own
            } else {
                let access = |layout| self.access_cost(op, layout);
                let (in_home, in_own) = (access(home)?, access(own)?);
                let bits = self.kernel.ty(moved).dtype().bytes() * 8;
                let (from, to) =
                    if matches!(op.kind, OpKind::Store(_)) { (home, own) } else { (own, home) };
                let result = &mut self.result;
                let machine = self.block.machine;
                match result.plans.convert(&result.layouts, from, to, bits, machine) {
                    Ok(plan)
                        if in_own + u64::from(self.block.warps) * plan.cost.total < in_home =>
                    {
                        own
                    }
                    // What does not fit into shared memory stays where it is.
                    Ok(_) | Err(plan::PlanError::Scratch { .. }) => home,
                    Err(error) => return Err(error.into()),
                }
            };
            self.result.runs_in.set(id, Some(place));
            // A load lives where it ran; its class converts from there on demand.
            if matches!(
                op.kind,
                OpKind::Load(_) | OpKind::AtomicRmw { .. } | OpKind::AtomicCas { .. }
            ) {
                self.result.home.set(moved, Some(place));
            }
        }
        Ok(())
    }

    /// What an access costs when it runs in `layout`, in the machine's unit of cost, over all warps.
    fn access_cost(&self, op: &Op, layout: LayoutId) -> Result<u64, AssignError> {
        let machine = self.block.machine;
        let layout = self.result.layouts.get(layout);
        let shape = AccessShape::of(self.kernel, self.facts, machine, op, layout)?;
        let instructions = shape.instructions() * u64::from(self.block.warps);
        let sectors = shape.sectors(machine)?.actual;
        Ok(instructions * (sectors * machine.prices.sector + machine.prices.issue))
    }
}
