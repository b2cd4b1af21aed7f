//! The homes that a greedy choice gives, as Triton's passes make it: what the costs of
//! [`choose`](super::choose) are compared with.
//!
//! A class that a reduction defines takes what the reduction leaves: the operand's layout without the
//! axis. Every other takes the layout of its heaviest anchor: an access asks for the layout that coalesces
//! it, weighed by the bytes it moves, a matrix product for a square of results in each thread. A class
//! without an anchor takes what a shape operation gives. A memory operation then runs either in its
//! class's home or in its own coalesced layout with a conversion, whichever costs less.

use super::anchors::Anchors;
use super::classes::{Classes, find_free};
use super::layouts::{LayoutId, Task};
use super::product::{choose, is_product};
use super::shape::{is_shape_op, result_layout};
use super::{AssignError, Assignment, Block, Reason};
use crate::axis::AxisFacts;
use crate::id::IdMap;
use crate::tile::{ByPointers, Kernel, OpId, OpKind, Value};
use rustc_hash::FxHashMap;
use weft_layout::plan;
use weft_layout::space::REGISTER;

/// Decides every home by itself, in the order of the program.
pub(super) fn run(
    kernel: &Kernel,
    facts: &AxisFacts,
    block: Block<'_>,
) -> Result<Assignment, AssignError> {
    let free = find_free(kernel);
    let classes = Classes::of(kernel, &free);
    let mut members: IdMap<Value, Vec<Value>> = IdMap::default();
    for value in kernel.values.keys().filter(|&value| has_home(kernel, &free, value)) {
        members.entry(classes.find(value)).push(value);
    }
    let mut solver = Solver {
        kernel,
        ask: Anchors { kernel, facts, block },
        block,
        classes,
        members,
        anchors: FxHashMap::default(),
        resolved: FxHashMap::default(),
        definitions: kernel.definitions(),
        result: Assignment::empty(free, Reason::Cheapest),
    };
    solver.collect_anchors()?;
    solver.set_homes()?;
    solver.place_memory_ops()?;
    solver.place_reductions();
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
    ask: Anchors<'a>,
    block: Block<'a>,
    classes: Classes,
    /// The values of each class that have a home, in the order of the program.
    members: IdMap<Value, Vec<Value>>,
    anchors: FxHashMap<Value, Vec<Anchor>>,
    /// The home of each class; none while it is being found.
    resolved: FxHashMap<Value, Option<LayoutId>>,
    definitions: IdMap<Value, Option<OpId>>,
    result: Assignment,
}

fn has_home(kernel: &Kernel, free: &IdMap<Value, bool>, value: Value) -> bool {
    kernel.ty(value).is_tensor() && !free[value]
}

impl Solver<'_> {
    fn has_home(&self, value: Value) -> bool {
        has_home(self.kernel, &self.result.free, value)
    }

    /// A product asks for the layout of its sum.
    fn anchor_products(&mut self) -> Result<(), AssignError> {
        let layouts = &mut self.result.layouts;
        for (id, candidate) in choose(self.kernel, &self.definitions, self.block, layouts)? {
            let op = &self.kernel.ops[id];
            // Every element is touched once for each element of the summed axis.
            let k = self.kernel.ty(op.operands[0]).shape.last().copied().unwrap_or(1);
            self.anchor(op.results[0], id, candidate.accumulator, k);
            self.result.runs_in.set(id, Some(candidate.accumulator));
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
                ref kind if kind.by_pointers().is_some() => {
                    if !self.kernel.ty(op.operands[0]).is_tensor() {
                        continue;
                    }
                    let layout = self.ask.memory_layout(&mut self.result.layouts, op)?;
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
            let Some(layout) = self.resolve(self.classes.find(value))? else { continue };
            // A shape operation alone in its class is only a name for its operand.
            if !shape_op {
                self.result.set_registers(value, Some(layout));
            }
        }
        Ok(())
    }

    /// The home of a class: none while it is being found further up.
    fn resolve(&mut self, class: Value) -> Result<Option<LayoutId>, AssignError> {
        if let Some(found) = self.resolved.get(&class) {
            return Ok(*found);
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
            found = Some(self.ask.default_layout(&mut self.result.layouts, &shape)?);
        }
        self.resolved.insert(class, found);
        Ok(found)
    }

    /// Whether a matrix product asks for a layout of the class.
    fn has_product(&self, class: Value) -> bool {
        let anchors = self.anchors.get(&class).map_or(&[][..], |anchors| anchors);
        anchors.iter().any(|anchor| is_product(&self.kernel.ops[anchor.op].kind))
    }

    fn heaviest(&self, class: Value) -> Option<LayoutId> {
        let anchors = self.anchors.get(&class)?;
        // Weights of equal layouts add up.
        let weight_of = |layout: LayoutId| -> u64 {
            anchors
                .iter()
                .filter(|anchor| anchor.layout == layout)
                .map(|anchor| anchor.weight)
                .sum()
        };
        let mut best: Option<(&Anchor, u64)> = None;
        for anchor in anchors {
            let weight = weight_of(anchor.layout);
            if best.is_none_or(|(_, most)| weight > most) {
                best = Some((anchor, weight));
            }
        }
        best.map(|(anchor, _)| anchor.layout)
    }

    /// What the definitions (of such kinds) of a class's members give, from layouts found elsewhere.
    fn follow(
        &mut self,
        class: Value,
        through: fn(&OpKind) -> bool,
    ) -> Result<Option<LayoutId>, AssignError> {
        for index in 0..self.members[class].len() {
            let member = self.members[class][index];
            let Some(id) = self.definitions[member] else { continue };
            let op = &self.kernel.ops[id];
            if !through(&op.kind) {
                continue;
            }
            let Some(&source) = op.operands.iter().find(|&&value| self.has_home(value)) else {
                continue;
            };
            let Some(layout) = self.resolve(self.classes.find(source))? else { continue };
            let operand = self.result.layouts.get(layout).clone();
            let layout = match op.kind {
                OpKind::Reduce { axis, .. } => {
                    let sliced = operand.slice(usize::from(axis))?;
                    sliced.remove_zero_columns(REGISTER)?.0
                }
                _ => result_layout(&op.kind, &operand, &self.kernel.ty(member).shape)?,
            };
            let layout = self.result.layouts.intern(layout);
            return Ok(Some(layout));
        }
        Ok(None)
    }

    /// A reduction runs where the first of its operands lives that has a home, a scan where it leaves
    /// its results.
    fn place_reductions(&mut self) {
        let result = &mut self.result;
        self.kernel.walk(&self.kernel.body, &mut |id, op| {
            let place = match op.kind {
                OpKind::Reduce { .. } => {
                    op.operands.iter().find_map(|&value| result.registers(value))
                }
                OpKind::Scan { .. } => result.registers(op.results[0]),
                _ => None,
            };
            if place.is_some() {
                result.runs_in.set(id, place);
            }
        });
    }

    /// Lets each memory operation run in its value's home or, with a conversion, in its own layout.
    fn place_memory_ops(&mut self) -> Result<(), AssignError> {
        let mut ops = Vec::new();
        self.kernel.walk(&self.kernel.body, &mut |id, op| ops.push((id, op)));
        for (id, op) in ops {
            let Some(how) = op.kind.by_pointers() else { continue };
            if how == ByPointers::Copy {
                let own = self.ask.memory_layout(&mut self.result.layouts, op)?;
                self.result.runs_in.set(id, Some(own));
            }
            let Some(moved) = how.moved(op) else { continue };
            if !self.kernel.ty(op.operands[0]).is_tensor() {
                continue;
            }
            let own = self.ask.memory_layout(&mut self.result.layouts, op)?;
            let home = match self.resolved.get(&self.classes.find(moved)) {
                Some(Some(home)) if self.has_home(moved) => *home,
                _ => own,
            };
            let place = if own == home {
                own
            } else {
                let access = |layout| self.ask.access_cost(&self.result.layouts, id, layout);
                let (in_home, in_own) = (access(home)?, access(own)?);
                let bits = self.kernel.ty(moved).dtype().bytes() * 8;
                let (from, to) = if how == ByPointers::Store { (home, own) } else { (own, home) };
                let result = &mut self.result;
                let machine = self.block.machine;
                match result.plans.draft(&result.layouts, &Task::Convert(from, to, bits), machine) {
                    Ok(draft)
                        if in_own + u64::from(self.block.warps) * draft.cost().total < in_home =>
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
            if how != ByPointers::Store {
                self.result.set_registers(moved, Some(place));
            }
        }
        Ok(())
    }
}
