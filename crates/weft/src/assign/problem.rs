//! A kernel as a problem of choice: units that take a layout each, and flows of values between them.
//!
//! A unit is what decides alone: values that share a home ([`Regions`]), an operation that may run in
//! another layout than those of its operands and results (an access to memory, a reduction, a scan, a
//! gather, a histogram, a matrix product), or where a gather takes its source. A flow brings a value from
//! the unit that has it to one that needs it; on its way are shape operations, which rename elements, and
//! operations that are made again where they are needed.

use super::regions::Regions;
use super::shape::is_shape_op;
use super::trips::Trips;
use crate::id::IdMap;
use crate::tile::{ByPointers, Kernel, LocalOp, Op, OpId, OpKind, Value};
use rustc_hash::FxHashMap;
use weft_layout::plan::Direction;

/// What a unit decides for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum What {
    /// The home of the values that this one represents.
    Home(Value),
    /// The layout in which an operation runs.
    Runs(OpId),
    /// The layout in which a gather takes its source.
    Source(OpId),
}

/// The number of a unit.
pub(super) type UnitId = usize;

/// Something that takes one layout.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) what: What,
    /// The shape that its layouts have.
    pub(super) shape: Vec<u64>,
    /// The values in it with the bits of their elements, those of operations for none.
    pub(super) bits: u32,
    /// Words that its element-wise operations compute for each register, times how often.
    pub(super) work: u64,
    /// What loads values in it from memory that asynchronous copies fill, and a copy of each.
    pub(super) loads: Vec<(OpId, OpId)>,
    /// What stores values in it to memory that products of warpgroups read, and the axis over which these sum.
    pub(super) fills: Vec<(OpId, usize)>,
}

/// How what an operation takes or leaves follows from the layout that it runs in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Port {
    /// It is that layout.
    Same,
    /// Without an axis: what a reduction leaves.
    Without(usize),
    /// What a join of this result takes.
    Half,
    /// What a split into these results takes.
    Joined,
    /// A factor of a matrix product, by its operand: for multiply-adds without one axis of the result and
    /// with the summed one in registers, for matrix instructions as their fragments say.
    Factor(usize),
    /// The scales of a factor of a matrix product, by its operand: as the fragments say.
    Scale(usize),
}

/// What a flow is carried by.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Carrier {
    /// A conversion from one layout to another.
    Conversion,
    /// A gather along an axis, with indices of so many bits.
    Gather(usize, u32),
    /// A histogram, maybe with a mask.
    Histogram(bool),
}

/// A value on its way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Flow {
    pub(super) value: Value,
    pub(super) from: UnitId,
    pub(super) leaves: Port,
    /// The shape operations on its way, the last one first.
    pub(super) via: Vec<OpId>,
    pub(super) asked: Port,
    pub(super) to: UnitId,
    pub(super) carrier: Carrier,
    /// Words that operations on its way compute for each register where it is asked for.
    pub(super) work: u64,
    /// The loop before which it moves, if not where it is asked for.
    pub(super) ahead: Option<OpId>,
}

/// The units whose homes are chosen, and the flows of data between them.
pub(super) struct Problem<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) free: &'a IdMap<Value, bool>,
    pub(super) regions: Regions,
    pub(super) trips: Trips,
    definitions: IdMap<Value, Option<OpId>>,
    /// The copy that fills each memory, by what allocates it.
    filled: FxHashMap<Value, OpId>,
    /// The axis over which products sum that read each memory, by what allocates it.
    summed: FxHashMap<Value, usize>,
    pub(super) units: Vec<Unit>,
    ids: FxHashMap<What, UnitId>,
    pub(super) flows: Vec<Flow>,
    /// How often each flow moves: where it is asked for, and ahead of the loop if it can be.
    pub(super) times: Vec<(u64, u64)>,
    known: FxHashMap<Flow, usize>,
}

/// A value on the way from one that is asked for to those that it is computed from.
#[derive(Clone, Copy)]
struct Link {
    value: Value,
    /// How many of the operations on the way lead to it.
    known: usize,
    /// The work on the way.
    work: u64,
}

impl<'a> Problem<'a> {
    pub(super) fn of(
        kernel: &'a Kernel,
        free: &'a IdMap<Value, bool>,
        definitions: IdMap<Value, Option<OpId>>,
        pinned: &[Value],
    ) -> Self {
        let mut problem = Self {
            kernel,
            free,
            regions: Regions::of(kernel, free, pinned),
            trips: Trips::of(kernel),
            definitions,
            filled: FxHashMap::default(),
            summed: FxHashMap::default(),
            units: Vec::new(),
            ids: FxHashMap::default(),
            flows: Vec::new(),
            times: Vec::new(),
            known: FxHashMap::default(),
        };
        kernel.walk(&kernel.body, &mut |id, op| {
            if op.kind.by_pointers() == Some(ByPointers::Copy) {
                problem.filled.insert(problem.memory(op.operands[1]), id);
            }
            if let (OpKind::WarpgroupDot(_), &[left, right, ..]) = (&op.kind, &op.operands[..]) {
                for (factor, axis) in [(left, 1), (right, 0)] {
                    let (memory, axis) = problem.turned(factor, axis);
                    problem.summed.insert(memory, axis);
                }
            }
        });
        for value in kernel.values.keys() {
            problem.home_of(value);
        }
        kernel.walk(&kernel.body, &mut |id, op| problem.operation(id, op));
        problem
    }

    /// The same, made where there was none.
    fn home_of(&mut self, value: Value) -> Option<UnitId> {
        if !self.regions.has_home[value] {
            return None;
        }
        let unit = self.unit(What::Home(self.regions.classes.find(value)), value);
        let bits = &mut self.units[unit].bits;
        *bits = (*bits).max(bits_of(self.kernel, value));
        Some(unit)
    }

    /// The memory that a factor is a view of, and what one of the factor's two axes is there.
    fn turned(&self, factor: Value, axis: usize) -> (Value, usize) {
        let (mut view, mut axis) = (factor, axis);
        while let Some(id) = self.definitions[view] {
            let op = &self.kernel.ops[id];
            match &op.kind {
                OpKind::Local(LocalOp::Index) => {}
                OpKind::Local(LocalOp::Trans { order }) => axis = order[axis].into(),
                _ => break,
            }
            view = op.operands[0];
        }
        (view, axis)
    }

    /// The memory that one of several buffers is in.
    fn memory(&self, mut buffer: Value) -> Value {
        while let Some(id) = self.definitions[buffer] {
            let op = &self.kernel.ops[id];
            if op.kind != OpKind::Local(LocalOp::Index) {
                break;
            }
            buffer = op.operands[0];
        }
        buffer
    }

    /// The unit that decides for something, whose layouts are of the value's shape.
    fn unit(&mut self, what: What, like: Value) -> UnitId {
        let units = &mut self.units;
        *self.ids.entry(what).or_insert_with(|| {
            units.push(Unit {
                what,
                shape: self.kernel.ty(like).shape.to_vec(),
                bits: 0,
                work: 0,
                loads: Vec::new(),
                fills: Vec::new(),
            });
            units.len() - 1
        })
    }

    /// The unit of a value's home, if it has one.
    pub(super) fn home(&self, value: Value) -> Option<UnitId> {
        let what = What::Home(self.regions.classes.find(value));
        self.ids.get(&what).copied().filter(|_| self.regions.has_home[value])
    }

    fn operation(&mut self, id: OpId, op: &Op) {
        let kernel = self.kernel;
        let tensor = |value: &Value| kernel.ty(*value).is_tensor();
        match &op.kind {
            OpKind::For(_) => {
                let params = &op.regions[0].params[1..];
                self.hand_over(id, &op.operands[3..], params);
                self.yielded(op, 0, 0, params);
            }
            OpKind::While => {
                self.hand_over(id, &op.operands, &op.regions[0].params);
                self.yielded(op, 0, 1, &op.results);
                self.yielded(op, 1, 0, &op.regions[0].params);
            }
            OpKind::If => {
                self.yielded(op, 0, 0, &op.results);
                self.yielded(op, 1, 0, &op.results);
            }
            OpKind::Local(LocalOp::Alloc) => self.fill(id, op, op.results[0]),
            OpKind::Local(LocalOp::Store) => self.fill(id, op, op.operands[1]),
            kind if kind.by_pointers().is_some() => {
                if tensor(&op.operands[0]) {
                    self.running_op(id, op, Port::Same);
                }
            }
            OpKind::Reduce { axis, .. } => self.running_op(id, op, Port::Without((*axis).into())),
            OpKind::Scan { .. } => self.running_op(id, op, Port::Same),
            kind if kind.is_product() => self.product(id, op),
            OpKind::Gather { axis } => {
                let [source, indices] = [op.operands[0], op.operands[1]];
                let from = self.unit(What::Source(id), source);
                let to = self.unit(What::Runs(id), op.results[0]);
                self.ask(id, source, Port::Same, from);
                self.ask(id, indices, Port::Same, to);
                let carrier = Carrier::Gather((*axis).into(), bits_of(kernel, indices));
                self.carry(id, source, from, to, carrier);
                self.leave(id, op.results[0], to, Port::Same);
            }
            OpKind::Histogram => {
                let from = self.unit(What::Runs(id), op.operands[0]);
                for &operand in &op.operands {
                    self.ask(id, operand, Port::Same, from);
                }
                if let Some(to) = self.home_of(op.results[0]) {
                    let carrier = Carrier::Histogram(op.operands.len() > 1);
                    self.carry(id, op.operands[0], from, to, carrier);
                }
            }
            kind => {
                let port = match kind {
                    OpKind::Join => Port::Half,
                    OpKind::Split => Port::Joined,
                    _ => Port::Same,
                };
                for &result in &op.results {
                    let Some(home) = self.home_of(result) else { continue };
                    if op.kind == OpKind::Local(LocalOp::Load)
                        && let Some(&copy) = self.filled.get(&self.memory(op.operands[0]))
                    {
                        self.units[home].loads.push((id, copy));
                        continue;
                    }
                    let words = u64::from(bits_of(kernel, result).div_ceil(32));
                    self.units[home].work += words * self.trips.of_op(id);
                    for &operand in op.operands.iter().filter(|operand| tensor(operand)) {
                        let like = port != Port::Same
                            || kernel.ty(operand).shape == kernel.ty(result).shape;
                        if like {
                            self.ask(id, operand, port, home);
                        }
                    }
                }
            }
        }
    }

    /// A store to memory, of what it takes first, if that is for products to read.
    fn fill(&mut self, id: OpId, op: &Op, memory: Value) {
        let Some(&tensor) = op.operands.first() else { return };
        let summed = self.summed.get(&self.memory(memory)).copied();
        if let (Some(home), Some(summed)) = (self.home_of(tensor), summed) {
            self.units[home].fills.push((id, summed));
        }
    }

    /// An operation that takes its operands in the layout that it runs in.
    fn running_op(&mut self, id: OpId, op: &Op, leaves: Port) {
        let unit = self.unit(What::Runs(id), op.operands[0]);
        for &operand in &op.operands {
            self.ask(id, operand, Port::Same, unit);
        }
        for &result in &op.results {
            self.leave(id, result, unit, leaves);
        }
    }

    fn product(&mut self, id: OpId, op: &Op) {
        let unit = self.unit(What::Runs(id), op.results[0]);
        let mut scales = [None; 2];
        if let OpKind::DotScaled(scaled) = op.kind
            && let Some(parts) = scaled.operands(&op.operands)
        {
            scales = parts.scales;
        }
        for (side, factor) in op.factors().into_iter().flatten().enumerate() {
            self.ask(id, factor, Port::Factor(side), unit);
        }
        for (side, scale) in scales.into_iter().enumerate() {
            if let Some(scale) = scale {
                self.ask(id, scale, Port::Scale(side), unit);
            }
        }
        if let Some(&sum) = op.operands.last() {
            self.ask(id, sum, Port::Same, unit);
        }
        self.leave(id, op.results[0], unit, Port::Same);
    }

    /// Values that `at` hands over to others.
    fn hand_over(&mut self, at: OpId, values: &[Value], places: &[Value]) {
        for (&value, &place) in values.iter().zip(places) {
            if let Some(home) = self.home_of(place) {
                self.ask(at, value, Port::Same, home);
            }
        }
    }

    /// Values that a region hands over at its end, after the first few.
    fn yielded(&mut self, op: &Op, region: usize, skipped: usize, places: &[Value]) {
        if let Some(&last) = op.regions[region].ops.last() {
            let values = &self.kernel.ops[last].operands;
            self.hand_over(last, values.get(skipped..).unwrap_or(&[]), places);
        }
    }

    /// What an operation leaves goes home.
    fn leave(&mut self, at: OpId, result: Value, from: UnitId, leaves: Port) {
        if let Some(to) = self.home_of(result) {
            let flow = Flow {
                value: result,
                from,
                leaves,
                via: Vec::new(),
                asked: Port::Same,
                to,
                carrier: Carrier::Conversion,
                work: 0,
                ahead: None,
            };
            self.add(flow, at, at);
        }
    }

    /// A movement that an operation is.
    fn carry(&mut self, at: OpId, value: Value, from: UnitId, to: UnitId, carrier: Carrier) {
        let (leaves, asked) = (Port::Same, Port::Same);
        let (via, work) = (Vec::new(), 0);
        let flow = Flow { value, from, leaves, via, asked, to, carrier, work, ahead: None };
        self.add(flow, at, at);
    }

    /// A value is asked for, in what follows from the layout of a unit.
    fn ask(&mut self, at: OpId, value: Value, asked: Port, to: UnitId) {
        // A chain of operations may be as long as the program: what is still to be followed waits in a list,
        // each value with how much of `via` leads to it.
        let mut via = Vec::new();
        let mut open = vec![Link { value, known: 0, work: 0 }];
        while let Some(link) = open.pop() {
            via.truncate(link.known);
            self.ask_via(at, link, &mut via, asked, to, &mut open);
        }
    }

    fn ask_via(
        &mut self,
        at: OpId,
        link: Link,
        via: &mut Vec<OpId>,
        asked: Port,
        to: UnitId,
        open: &mut Vec<Link>,
    ) {
        let Link { value, known: _, mut work } = link;
        if self.free[value] || !self.kernel.ty(value).is_tensor() {
            return;
        }
        if let Some(from) = self.home_of(value) {
            let ahead = self.trips.ahead_of(at, value);
            let flow = Flow {
                value,
                from,
                leaves: Port::Same,
                via: via.clone(),
                asked,
                to,
                carrier: Carrier::Conversion,
                work,
                ahead,
            };
            // The loop itself stands where the movement is made.
            self.add(flow, at, ahead.unwrap_or(at));
            return;
        }
        let Some(id) = self.definitions[value] else { return };
        let op = &self.kernel.ops[id];
        let renames = is_shape_op(&op.kind);
        if renames {
            via.push(id);
        } else {
            work += u64::from(bits_of(self.kernel, value).div_ceil(32));
        }
        let first = open.len();
        for (index, &operand) in op.operands.iter().enumerate() {
            let moves = self.kernel.ty(operand).is_tensor() && !self.free[operand];
            if moves && !op.operands[..index].contains(&operand) {
                // What is computed of several operands is computed once.
                let (known, work) = (via.len(), core::mem::take(&mut work));
                open.push(Link { value: operand, known, work });
            }
        }
        open[first..].reverse();
    }

    fn add(&mut self, flow: Flow, at: OpId, ahead: OpId) {
        let times = (self.trips.of_op(at), self.trips.of_op(ahead));
        if let Some(&known) = self.known.get(&flow) {
            // Who asks again finds what was moved before.
            let (inside, before) = self.times[known];
            self.times[known] = (inside.max(times.0), before.max(times.1));
            return;
        }
        self.known.insert(flow.clone(), self.flows.len());
        self.flows.push(flow);
        self.times.push(times);
    }

    /// What an operation along an axis folds, if it does.
    pub(super) fn folds(&self, op: OpId) -> Option<(usize, Vec<u32>, Option<Direction>)> {
        let op = &self.kernel.ops[op];
        let bits = || op.operands.iter().map(|&value| bits_of(self.kernel, value)).collect();
        match op.kind {
            OpKind::Reduce { axis, .. } => Some((axis.into(), bits(), None)),
            OpKind::Scan { axis, reverse } => {
                let direction = if reverse { Direction::Reverse } else { Direction::Forward };
                Some((axis.into(), bits(), Some(direction)))
            }
            _ => None,
        }
    }
}

/// The bits that an element takes in a register.
pub(super) fn bits_of(kernel: &Kernel, value: Value) -> u32 {
    kernel.ty(value).dtype().bytes() * 8
}
