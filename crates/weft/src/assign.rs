//! Homes: in which layout each tensor value lives, and in which each memory operation runs.
//!
//! Three kinds of value:
//!
//! * *Free* values are cheap functions of constants, ranges and scalars: masks, offsets, pointers.
//!   They have no home; whoever needs one computes it in the layout that it is needed in.
//! * *Shape operations* (`trans`, `reshape`, `expand_dims`, `broadcast`) move nothing: asked for a
//!   layout, they ask their operand for the one before them (theorem 9.3 of the paper, backward).
//! * Everything else has a *home*. Values that an element-wise operation, a loop or an `if` ties
//!   together share one; they form a *class*.
//!
//! A class that a reduction defines takes what the reduction leaves: the operand's layout without the
//! axis. Every other takes the layout of its heaviest *anchor*: an access to memory asks for the
//! layout that coalesces it, weighed by the bytes it moves, a matrix product for a square of results
//! in each thread. A class without an anchor takes what a shape operation gives: its operand's layout
//! carried forward.
//!
//! A memory operation then runs either in its class's home or in its own coalesced layout with a
//! conversion, whichever costs less. Nothing here depends on a layout's name.

use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::id::{IdMap, IdVec, define_id};
use crate::scalar::{Binary, Unary};
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Value};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use weft_layout::family::Blocked;
use weft_layout::machine::Machine;
use weft_layout::plan;
use weft_layout::space::{LANE, REGISTER, WARP};
use weft_layout::step::Plan;
use weft_layout::{Label, Layout, LayoutError, Space};

define_id! {
    /// A layout in a [`Layouts`] table.
    LayoutId, "L"
}

/// Layouts, each once.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    table: IdVec<LayoutId, Layout>,
    ids: FxHashMap<Layout, LayoutId>,
}

impl Layouts {
    /// The id of a layout.
    pub fn intern(&mut self, layout: Layout) -> LayoutId {
        if let Some(&id) = self.ids.get(&layout) {
            return id;
        }
        let id = self.table.push(layout.clone());
        self.ids.insert(layout, id);
        id
    }

    /// The layout behind an id.
    pub fn get(&self, id: LayoutId) -> &Layout {
        &self.table[id]
    }
}

/// The plans of conversions and reductions, each made once.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    conversions: FxHashMap<(LayoutId, LayoutId, u32), Plan>,
    reductions: FxHashMap<(LayoutId, usize, Vec<u32>), plan::Reduction>,
}

impl Plans {
    /// The cheapest way from one layout to another for elements of `bits` bits.
    pub fn convert(
        &mut self,
        layouts: &Layouts,
        from: LayoutId,
        to: LayoutId,
        bits: u32,
        machine: &Machine,
    ) -> Result<&Plan, plan::PlanError> {
        match self.conversions.entry((from, to, bits)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let plan = plan::convert(layouts.get(from), layouts.get(to), bits, machine)?;
                Ok(place.insert(plan))
            }
        }
    }
}

impl Plans {
    /// The cheapest reduction along an axis of operands with elements of these bits.
    pub fn reduce(
        &mut self,
        layouts: &Layouts,
        layout: LayoutId,
        axis: usize,
        bits: &[u32],
        machine: &Machine,
    ) -> Result<&plan::Reduction, plan::PlanError> {
        match self.reductions.entry((layout, axis, bits.to_vec())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                Ok(place.insert(plan::reduce(layouts.get(layout), axis, bits, machine)?))
            }
        }
    }
}

/// Why a class has its home.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The heaviest anchor is this operation, with this weight in bytes; others weighed so much.
    Anchor {
        /// The operation.
        op: OpId,
        /// Its weight.
        weight: u64,
        /// The weight of the anchors that asked for another layout.
        against: u64,
    },
    /// It follows from the layout of an operand of the operation that defines it.
    Follows(OpId),
    /// Nothing asked for any: the default for the shape.
    Default,
}

/// The decisions.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Every layout that is mentioned.
    pub layouts: Layouts,
    /// The plans made while deciding.
    pub plans: Plans,
    home: IdMap<Value, Option<LayoutId>>,
    free: IdMap<Value, bool>,
    runs_in: IdMap<OpId, Option<LayoutId>>,
    reasons: IdMap<Value, Option<Reason>>,
}

/// What the block of a kernel looks like, and the machine it runs on.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Warps in the block: a power of two.
    pub warps: u32,
}

/// Why no layout could be found; never happens for a verified kernel within the machine's limits.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AssignError {
    /// The layout algebra refused.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A layout of a family could not be made.
    #[error(transparent)]
    Family(#[from] weft_layout::family::FamilyError),
    /// A conversion could not be planned.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
}

impl From<weft_layout::SpaceError> for AssignError {
    fn from(error: weft_layout::SpaceError) -> Self {
        AssignError::Layout(error.into())
    }
}

impl Assignment {
    /// The layout that a value lives in: none for scalars, free values and shape operations.
    pub fn home(&self, value: Value) -> Option<LayoutId> {
        self.home[value]
    }

    /// Whether a value is computed wherever it is needed.
    pub fn is_free(&self, value: Value) -> bool {
        self.free[value]
    }

    /// The layout in which a load, store or atomic runs.
    pub fn runs_in(&self, op: OpId) -> Option<LayoutId> {
        self.runs_in[op]
    }

    /// Why a value has its home.
    pub fn reason(&self, value: Value) -> Option<&Reason> {
        self.reasons[value].as_ref()
    }
}

/// Whether an operation renames the elements of a tensor and moves nothing.
pub fn is_shape_op(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Trans { .. }
            | OpKind::Reshape { .. }
            | OpKind::ExpandDims { .. }
            | OpKind::Broadcast
    )
}

/// Whether an operation computes each element from those of its operands in the same place.
pub fn is_elementwise(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Unary(_)
            | OpKind::Binary(_)
            | OpKind::Compare(_)
            | OpKind::Select
            | OpKind::Cast(_)
            | OpKind::Fma
            | OpKind::AddPtr
    )
}

/// The layout of a shape operation's operand, given that of its result.
pub fn operand_layout(
    kind: &OpKind,
    result: &Layout,
    operand_shape: &[u64],
) -> Result<Layout, LayoutError> {
    match kind {
        OpKind::Trans { order } => {
            let order: Vec<usize> = order.iter().map(|&axis| usize::from(axis)).collect();
            result.transpose_back(&order)
        }
        OpKind::Broadcast => result.broadcast_back(operand_shape),
        _ => result.reshape(operand_shape),
    }
}

/// The layout of a shape operation's result, given that of its operand.
pub fn result_layout(
    kind: &OpKind,
    operand: &Layout,
    shape: &[u64],
) -> Result<Layout, LayoutError> {
    match kind {
        OpKind::Trans { order } => {
            let order: Vec<usize> = order.iter().map(|&axis| usize::from(axis)).collect();
            operand.transpose(&order)
        }
        OpKind::Broadcast => operand.broadcast(shape),
        _ => operand.reshape(shape),
    }
}

/// Decides every home.
pub fn run(
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
            free,
            runs_in: IdMap::default(),
            reasons: IdMap::default(),
        },
    };
    solver.collect_anchors()?;
    solver.set_homes()?;
    solver.place_memory_ops()?;
    Ok(solver.result)
}

/// The operation that defines each value, where one does.
pub fn definitions(kernel: &Kernel) -> IdMap<Value, Option<OpId>> {
    let mut definitions = IdMap::default();
    kernel.walk(&kernel.body, &mut |id, op| {
        for &result in &op.results {
            definitions.set(result, Some(id));
        }
    });
    definitions
}

fn find_free(kernel: &Kernel) -> IdMap<Value, bool> {
    let mut free = IdMap::default();
    kernel.walk(&kernel.body, &mut |_, op| {
        let [result] = op.results[..] else { return };
        if !kernel.ty(result).is_tensor() {
            return;
        }
        let cheap = match &op.kind {
            OpKind::Constant(_) | OpKind::Poison | OpKind::MakeRange { .. } | OpKind::Splat => true,
            OpKind::Unary(op) => matches!(op, Unary::Neg | Unary::Abs | Unary::Not),
            OpKind::Binary(op) => !matches!(
                op,
                Binary::Div
                    | Binary::DivPrecise
                    | Binary::Rem
                    | Binary::DivS
                    | Binary::DivU
                    | Binary::RemS
                    | Binary::RemU
            ),
            kind => is_elementwise(kind) || is_shape_op(kind),
        };
        let inputs_free =
            op.operands.iter().all(|&value| free[value] || !kernel.ty(value).is_tensor());
        free.set(result, cheap && inputs_free);
    });
    free
}

/// Values that share a home, by union and find.
struct Classes {
    parent: IdMap<Value, Option<Value>>,
}

impl Classes {
    fn of(kernel: &Kernel, free: &IdMap<Value, bool>) -> Self {
        let mut classes = Self { parent: IdMap::default() };
        kernel.walk(&kernel.body, &mut |_, op| match op.kind {
            OpKind::For => {
                let body = &op.regions[0];
                let next = handed_over(kernel, body);
                for (index, &result) in op.results.iter().enumerate() {
                    let carried = [op.operands[3 + index], body.params[1 + index], next[index]];
                    classes.tie(kernel, free, result, &carried);
                }
            }
            OpKind::While => {
                let (before, after) = (&op.regions[0], &op.regions[1]);
                let next = handed_over(kernel, after);
                for (index, &param) in before.params.iter().enumerate() {
                    classes.tie(kernel, free, param, &[op.operands[index], next[index]]);
                }
                let passed = handed_over(kernel, before).get(1..).unwrap_or(&[]);
                for (index, &result) in op.results.iter().enumerate() {
                    classes.tie(kernel, free, result, &[passed[index], after.params[index]]);
                }
            }
            OpKind::If => {
                for (index, &result) in op.results.iter().enumerate() {
                    for region in &op.regions {
                        let yielded = handed_over(kernel, region);
                        classes.tie(kernel, free, result, &[yielded[index]]);
                    }
                }
            }
            _ if is_elementwise(&op.kind) => {
                classes.tie(kernel, free, op.results[0], &op.operands);
            }
            _ => {}
        });
        classes
    }

    /// Puts the tensors among `others` that have a home into the class of `value`.
    fn tie(&mut self, kernel: &Kernel, free: &IdMap<Value, bool>, value: Value, others: &[Value]) {
        if free[value] || !kernel.ty(value).is_tensor() {
            return;
        }
        for &other in others {
            if !free[other] && kernel.ty(other).is_tensor() {
                let (a, b) = (self.find(value), self.find(other));
                // The older value represents the class, so that the result depends on no order.
                let (root, child) = if a <= b { (a, b) } else { (b, a) };
                if root != child {
                    self.parent.set(child, Some(root));
                }
            }
        }
    }

    fn find(&self, value: Value) -> Value {
        let mut at = value;
        while let Some(parent) = self.parent[at] {
            at = parent;
        }
        at
    }
}

/// The operands of a region's last operation.
fn handed_over<'a>(kernel: &'a Kernel, region: &Region) -> &'a [Value] {
    region.ops.last().map_or(&[], |&last| &kernel.ops[last].operands)
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

    /// The axes of a memory operation, the one that runs through memory first.
    fn order(&self, pointer: Value) -> Vec<usize> {
        let facts = self.facts.get(pointer);
        let mut order: Vec<usize> = (0..facts.dims.len()).rev().collect();
        // A stable sort: equal axes stay in row-major order.
        order.sort_by_key(|&axis| core::cmp::Reverse(facts.dims[axis].contiguity));
        order
    }

    /// The layout that coalesces a memory operation.
    fn memory_layout(&mut self, op: &Op) -> Result<LayoutId, AssignError> {
        let (pointer, mask) = pointer_and_mask(op);
        let ty = self.kernel.ty(pointer);
        let shape = ty.shape.clone();
        let element = ty.element.pointee().unwrap_or(DType::I64);
        let order = self.order(pointer);
        let threads = self.lanes() * u64::from(self.block.warps);
        let vector = match order.first() {
            Some(&axis)
                if !matches!(op.kind, OpKind::AtomicRmw { .. } | OpKind::AtomicCas { .. }) =>
            {
                let most = access_bytes(self.block.machine);
                self.facts.vector_elements(pointer, mask, axis, element, most)
            }
            _ => 1,
        };
        let share = (ty.elements() / threads).max(1);
        let mut per_thread = vec![1; shape.len()];
        if let Some(&axis) = order.first() {
            per_thread[axis] = vector.min(share).min(shape[axis]);
        }
        self.blocked(&shape, &per_thread, &order)
    }

    /// A square of results in each thread, the lanes along a row first.
    fn dot_layout(&mut self, shape: &[u64]) -> Result<LayoutId, AssignError> {
        let threads = self.lanes() * u64::from(self.block.warps);
        let share = shape.iter().product::<u64>() / threads;
        let side = if share >= 16 {
            4
        } else if share >= 4 {
            2
        } else {
            1
        };
        let per_thread: Vec<u64> = shape.iter().map(|&extent| extent.min(side)).collect();
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        self.blocked(shape, &per_thread, &order)
    }

    fn collect_anchors(&mut self) -> Result<(), AssignError> {
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
                OpKind::Dot => {
                    let layout = self.dot_layout(&self.kernel.ty(op.results[0]).shape.clone())?;
                    // Every element is touched once for each element of the summed axis.
                    let k = self.kernel.ty(op.operands[0]).shape.last().copied().unwrap_or(1);
                    self.anchor(op.results[0], id, layout, k);
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
            found = self.follow(class, is_shape_op)?;
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
        anchors.iter().any(|anchor| matches!(self.kernel.ops[anchor.op].kind, OpKind::Dot))
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
            let (pointer, mask) = pointer_and_mask(op);
            if !self.kernel.ty(pointer).is_tensor() {
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
                let access = |layout| self.access_cost(pointer, mask, layout);
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
    fn access_cost(
        &self,
        pointer: Value,
        mask: Option<Value>,
        layout: LayoutId,
    ) -> Result<u64, AssignError> {
        let ty = self.kernel.ty(pointer);
        let element = ty.element.pointee().unwrap_or(DType::I64);
        let order = self.order(pointer);
        let layout = self.result.layouts.get(layout).remove_zero_columns(REGISTER)?.0;
        let axis = order.first().copied().unwrap_or(0);
        let machine = self.block.machine;
        let most = self.facts.vector_elements(pointer, mask, axis, element, access_bytes(machine));
        let vector = vector_bits(&layout, axis, most).len() as u32;
        let instructions = 1u64 << (layout.in_bits(REGISTER) - vector + layout.in_bits(WARP));
        // Bytes of the fastest axis below, every other axis far above: another row, another sector.
        let sector = machine.sector_bytes.trailing_zeros();
        let bytes_log2 = element.bytes().trailing_zeros();
        let place = |column: u64| -> u64 {
            let along = layout.outs().coordinate(Label::dim(axis as u32), column) << bytes_log2;
            let others = column & !layout.outs().mask(Label::dim(axis as u32));
            (along >> sector) | others << 24
        };
        let lanes: Vec<u64> = layout.columns(LANE).iter().map(|&column| place(column)).collect();
        let distinct = weft_layout::f2::Subspace::from_vectors(&lanes).dim();
        Ok(instructions * ((1u64 << distinct) * machine.prices.sector + machine.prices.issue))
    }
}

/// The widest global access, in bytes: the machine's, as far as the lane program has it.
pub fn access_bytes(machine: &Machine) -> u64 {
    u64::from(machine.global_vector_bytes.min(crate::lane::MAX_ACCESS_BYTES))
}

/// The pointer operand of a memory operation, and its mask.
pub fn pointer_and_mask(op: &Op) -> (Value, Option<Value>) {
    let mask = match op.kind {
        OpKind::Load(_) => op.operands.get(1),
        OpKind::Store(_) | OpKind::AtomicRmw { .. } => op.operands.get(2),
        _ => None,
    };
    (op.operands[0], mask.copied())
}

/// The register bits that one access can move: bit `i` of the vector is the register bit whose image
/// is `2^i` along `axis`, as long as no other bit of the hardware touches that coordinate bit, and at
/// most `most` elements.
pub fn vector_bits(layout: &Layout, axis: usize, most: u64) -> Vec<u32> {
    let outs: &Space = layout.outs();
    let Some(offset) = outs.offset_of(Label::dim(axis as u32)) else { return Vec::new() };
    let mut bits = Vec::new();
    while 1u64 << bits.len() < most && (bits.len() as u32) < outs.bits(Label::dim(axis as u32)) {
        let image = 1u64 << (offset + bits.len() as u32);
        let columns = layout.matrix().columns();
        let touching: Vec<usize> =
            (0..columns.len()).filter(|&bit| columns[bit] & image != 0).collect();
        let register = layout.columns(REGISTER).iter().position(|&column| column == image);
        let start = layout.ins().offset_of(REGISTER).unwrap_or(0) as usize;
        match (register, &touching[..]) {
            (Some(register), [only]) if *only == start + register => bits.push(register as u32),
            _ => break,
        }
    }
    bits
}

#[cfg(test)]
mod tests;
