//! Layouts carried along flows: from what a unit lives in to what it leaves or asks for, and on to the
//! unit at the other end.
//!
//! Many flows of a kernel go the same way through shapes, as each step of a sorting network does. What
//! such a way makes of a layout is found once.

use super::layouts::{LayoutId, Layouts};
use super::problem::{Flow, Port, Problem};
use super::product::Candidate;
use super::shape::{operand_layout, result_layout};
use crate::tile::{Kernel, OpId, OpKind};
use rustc_hash::FxHashMap;
use weft_layout::space::REGISTER;
use weft_layout::{Layout, LayoutError};

/// The way of a flow, as far as layouts see it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Route {
    leaves: Port,
    asked: Port,
    /// The shape operations, the last one first.
    steps: Vec<Step>,
    /// The shapes of the units at both ends, of the value, and of what is asked for.
    shapes: [Vec<u64>; 4],
}

/// A shape operation: what it does, and the shapes of its operand and of its result.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Step {
    order: Option<Vec<usize>>,
    repeats: bool,
    shapes: [Vec<u64>; 2],
}

/// Which layout is wanted of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Wanted {
    Left,
    Asked,
    Forward,
    Backward,
}

/// What ways make of layouts, each once; nothing where a map cannot carry one.
pub(super) struct Carry {
    /// The number of each flow's way.
    ways: Vec<usize>,
    known: FxHashMap<(usize, Wanted, LayoutId), Option<LayoutId>>,
}

impl Carry {
    /// Of the flows of a problem.
    pub(super) fn of(problem: &Problem<'_>) -> Self {
        let mut numbers = FxHashMap::default();
        let number = |flow| {
            let next = numbers.len();
            *numbers.entry(Route::of(problem, flow)).or_insert(next)
        };
        Self { ways: problem.flows.iter().map(number).collect(), known: FxHashMap::default() }
    }

    /// The layout that a flow leaves its source in, without copies in registers.
    pub(super) fn left(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        flow: usize,
        label: LayoutId,
    ) -> Option<LayoutId> {
        let data = &problem.flows[flow];
        self.once(layouts, flow, Wanted::Left, label, |_, label| left(data, label).map(Some))
    }

    /// The layout in which a flow's value is asked for by a unit in this layout, without copies in
    /// registers.
    pub(super) fn asked(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        flow: usize,
        label: LayoutId,
        way: Option<&Candidate>,
    ) -> Option<LayoutId> {
        let data = &problem.flows[flow];
        let make =
            |layouts: &Layouts, label: &Layout| asked(problem, layouts, data, label, way).map(Some);
        if let Port::Factor(_) | Port::Scale(_) = data.asked {
            // How a product is computed says more than its layout.
            return carried(layouts, label, make);
        }
        self.once(layouts, flow, Wanted::Asked, label, make)
    }

    /// The layout of a flow's target in which it asks for what the source leaves in this layout.
    pub(super) fn forward(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        flow: usize,
        label: LayoutId,
    ) -> Option<LayoutId> {
        let data = &problem.flows[flow];
        let make = |_: &Layouts, label: &Layout| forward(problem, data, label);
        self.once(layouts, flow, Wanted::Forward, label, make)
    }

    /// The layout of a flow's source that leaves what the target asks for in this layout.
    pub(super) fn backward(
        &mut self,
        problem: &Problem<'_>,
        layouts: &mut Layouts,
        flow: usize,
        label: LayoutId,
        way: Option<&Candidate>,
    ) -> Option<LayoutId> {
        let asked = self.asked(problem, layouts, flow, label, way)?;
        let data = &problem.flows[flow];
        let Port::Without(axis) = data.leaves else { return Some(asked) };
        let shape = &problem.units[data.from].shape;
        let make =
            |_: &Layouts, asked: &Layout| asked.expand_dims(axis)?.broadcast(shape).map(Some);
        self.once(layouts, flow, Wanted::Backward, asked, make)
    }

    fn once(
        &mut self,
        layouts: &mut Layouts,
        flow: usize,
        wanted: Wanted,
        label: LayoutId,
        make: impl FnOnce(&Layouts, &Layout) -> Result<Option<Layout>, LayoutError>,
    ) -> Option<LayoutId> {
        let key = (self.ways[flow], wanted, label);
        *self.known.entry(key).or_insert_with(|| carried(layouts, label, make))
    }
}

fn carried(
    layouts: &mut Layouts,
    label: LayoutId,
    make: impl FnOnce(&Layouts, &Layout) -> Result<Option<Layout>, LayoutError>,
) -> Option<LayoutId> {
    let made = make(layouts, layouts.get(label)).ok()??;
    Some(layouts.intern(made))
}

impl Route {
    fn of(problem: &Problem<'_>, flow: &Flow) -> Self {
        let kernel = problem.kernel;
        let shape = |value| kernel.ty(value).shape.to_vec();
        let step = |&id: &OpId| {
            let op = &kernel.ops[id];
            let order = match &op.kind {
                OpKind::Trans { order } => {
                    Some(order.iter().map(|&axis| usize::from(axis)).collect())
                }
                _ => None,
            };
            let shapes = [shape(op.operands[0]), shape(op.results[0])];
            Step { order, repeats: op.kind == OpKind::Broadcast, shapes }
        };
        let [from, to] = [flow.from, flow.to].map(|unit| problem.units[unit].shape.clone());
        let shapes = [from, to, shape(flow.value), asked_shape(kernel, flow).to_vec()];
        let steps = flow.via.iter().map(step).collect();
        Self { leaves: flow.leaves, asked: flow.asked, steps, shapes }
    }
}

/// The shape of what is asked for at the end of a flow.
fn asked_shape<'k>(kernel: &'k Kernel, flow: &Flow) -> &'k [u64] {
    let value = flow.via.first().map_or(flow.value, |&first| kernel.ops[first].results[0]);
    &kernel.ty(value).shape
}

fn left(flow: &Flow, label: &Layout) -> Result<Layout, LayoutError> {
    match flow.leaves {
        // What a reduction of a tensor in this layout leaves.
        Port::Without(axis) => Ok(label.slice(axis)?.remove_zero_columns(REGISTER)?.0),
        _ => Ok(label.clone()),
    }
}

fn asked(
    problem: &Problem<'_>,
    layouts: &Layouts,
    flow: &Flow,
    label: &Layout,
    way: Option<&Candidate>,
) -> Result<Layout, LayoutError> {
    let kernel = problem.kernel;
    let shape = asked_shape(kernel, flow);
    let mut layout = match flow.asked {
        Port::Same | Port::Without(_) => label.clone(),
        Port::Half => label.slice(shape.len())?,
        Port::Joined => label.join()?,
        Port::Factor(side) => match way.and_then(|way| way.product.factor(side)) {
            Some(factor) => layouts.get(factor).clone(),
            None => {
                let other = shape.len() - 1 - side;
                label.slice(other)?.expand_dims(other)?.broadcast(shape)?
            }
        },
        Port::Scale(side) => match way.and_then(|way| way.product.scale(side)) {
            Some(scale) => layouts.get(scale).clone(),
            // As a factor of which all of the summed axis is in registers.
            None => {
                let (last, other) = (shape.len() - 1, shape.len() - 1 - side);
                label.slice(other)?.expand_dims(last)?.broadcast(shape)?
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
        Port::Factor(_) | Port::Scale(_) | Port::Without(_) => Ok(None),
    }
}
