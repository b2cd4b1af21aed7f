//! Lowers a tile program and its homes to a lane program.
//!
//! A tensor in a layout becomes one lane value for each register. Values with a home are computed
//! where they stand; free values and shape operations where they are used
//! (`values`). A user that needs a value in another layout than its home gets a planned movement
//! ([`movement`]), once per scope. Memory operations are in `memory`, the barriers between them in
//! `order`, shared memory of the program's own in `local` and `copies`, reductions and scans in `fold`,
//! gathers and histograms in `indexed`, matrix products in `product`, prints and assertions in `report`.
//!
//! A scalar differs from a tensor in one way only: every thread holds it.

mod copies;
mod fold;
mod indexed;
mod local;
mod local_order;
mod memory;
mod order;
mod product;
mod report;
mod rotations;
mod transfer;
mod values;
mod words;

use crate::assign::{AssignError, Assignment, Block, LayoutId, maps};
use crate::axis::AxisFacts;
use crate::budget::{Bounds, Budget, Limit, Overrun};
use crate::descriptors::Parts;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{self, BarrierScope, Builder, Op as LaneOp, Region as LaneRegion};
use crate::location::Locations;
use crate::movement;
use crate::scalar::{Binary, Compare};
use crate::tile::report::Print;
use crate::tile::{DescriptorOp, Element, Kernel, Op, OpId, OpKind, Region, Value};
use local_order::Orders;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use weft_layout::plan::Direction;
use weft_layout::step::Plan;

/// A movement that was written into the program, for reports.
#[derive(Clone, PartialEq, Debug)]
pub struct Movement {
    /// The operation that asked for it.
    pub op: OpId,
    /// The value that moved.
    pub value: Value,
    /// The layout that the value had.
    pub from: LayoutId,
    /// To which; for a reduction, gather or histogram the layout of its result.
    pub to: LayoutId,
    /// The steps by which it moves.
    pub plan: Plan,
}

/// A lowered program, with what a report says of it.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program of one thread.
    pub program: lane::Program,
    /// The movements in it, in order.
    pub movements: Vec<Movement>,
    /// What operations cost a warp besides movements and accesses to global memory, in hundredths of a
    /// cycle: element-wise arithmetic and loads of shared memory.
    pub work: Vec<(OpId, u64)>,
    /// Whether barriers order accesses to global memory of one block.
    pub ordered: bool,
    /// What each argument of the program is.
    pub passed: Vec<Passed>,
}

/// What an argument of a program is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Passed {
    /// An argument of the kernel, by its number.
    Argument(usize),
    /// The tensor map of a descriptor that the kernel is given in parts.
    Map(Parts),
    /// Nothing: a tensor map that each block makes.
    Made,
}

/// Lowers a verified kernel; accesses to global memory of one block that may meet are ordered by barriers,
/// unless that is not wanted.
pub fn run(
    kernel: &Kernel,
    locations: &Locations,
    facts: &AxisFacts,
    assignment: &mut Assignment,
    block: Block<'_>,
    order: bool,
) -> Result<Lowered, AssignError> {
    let mut build = Builder::new(&kernel.name, block.warps, block.machine.lanes_log2);
    build.set_locations(locations.clone());
    let Budget { limits, stop } = block.budget;
    build.set_bounds(Bounds { stop: stop.clone(), most: limits.operations });
    build.set_multiprocessor(movement::multiprocessor(block.machine));
    assignment.settle_copies(kernel, block)?;
    let barriers =
        if order { order::needs_barrier(kernel, facts, assignment) } else { IdMap::default() };
    let ordered = kernel.ops.keys().any(|op| barriers[op]);
    let orders = local_order::orders(kernel, assignment, barriers);
    let maps = maps(kernel, assignment)?;
    let mut lowerer = Lowerer {
        kernel,
        facts,
        assignment,
        block,
        build,
        definitions: kernel.definitions(),
        used: used(kernel),
        factors: words::factors(kernel),
        orders,
        warp: None,
        flights: Vec::new(),
        scopes: vec![Scope::default()],
        movements: Vec::new(),
        work: Vec::new(),
        offsets: FxHashMap::default(),
        maps: FxHashMap::default(),
        empty: FxHashMap::default(),
        passed: Vec::new(),
        current: None,
    };
    lowerer.params(&maps);
    lowerer.warp = lowerer.common_warp();
    lowerer.region(&kernel.body)?;
    lowerer.within_budget()?;
    let Lowerer { build, movements, work, passed, .. } = lowerer;
    Ok(Lowered { program: build.finish(), movements, work, ordered, passed })
}

/// Which values any operation takes.
fn used(kernel: &Kernel) -> IdMap<Value, bool> {
    let mut used = IdMap::default();
    kernel.walk(&kernel.body, &mut |_, op| {
        for &operand in &op.operands {
            used.set(operand, true);
        }
    });
    used
}

/// What is known inside one open region.
#[derive(Default)]
struct Scope {
    scalars: FxHashMap<Value, lane::Value>,
    tensors: FxHashMap<(Value, LayoutId), Rc<[lane::Value]>>,
    views: FxHashMap<Value, local::View>,
}

struct Lowerer<'a> {
    kernel: &'a Kernel,
    facts: &'a AxisFacts,
    assignment: &'a mut Assignment,
    block: Block<'a>,
    build: Builder,
    definitions: IdMap<Value, Option<OpId>>,
    used: IdMap<Value, bool>,
    /// What loops carry for products alone.
    factors: IdMap<Value, bool>,
    /// What stands in front of operations.
    orders: Orders,
    /// The number of the warp, where products of warpgroups ask for it.
    warp: Option<lane::Value>,
    /// The sums of the products that are under way, the oldest first; none where another product has added to
    /// it since.
    flights: Vec<Option<Value>>,
    scopes: Vec<Scope>,
    movements: Vec<Movement>,
    work: Vec<(OpId, u64)>,
    /// Where carried parts of buffers begin.
    offsets: FxHashMap<Value, u64>,
    /// The arguments that tensor maps are, by their descriptors.
    maps: FxHashMap<Value, u32>,
    /// Whether a tensor of a map that the block makes has no elements.
    empty: FxHashMap<Value, lane::Value>,
    passed: Vec<Passed>,
    /// The operation being lowered.
    current: Option<OpId>,
}

impl AsMut<Builder> for Lowerer<'_> {
    fn as_mut(&mut self) -> &mut Builder {
        &mut self.build
    }
}

impl Lowerer<'_> {
    /// Moves registers as a plan of one tensor says.
    fn moved(
        &mut self,
        plan: &Plan,
        registers: Vec<lane::Value>,
    ) -> Result<Vec<lane::Value>, AssignError> {
        let outputs = movement::write(&mut self.build, plan, vec![registers])?;
        Ok(outputs.into_iter().next().unwrap_or_default())
    }

    /// Counts what the operation being lowered costs a warp.
    fn spend(&mut self, price: u64) {
        self.work.extend(self.current.map(|op| (op, price)));
    }

    /// Binds a scalar of the program, which every thread holds.
    fn bind_scalar(&mut self, value: Value, lowered: lane::Value) {
        self.build.know_uniform(lowered);
        self.bind_element(value, lowered);
    }

    /// Binds one element, which is a scalar in the region that combines it with another one.
    fn bind_element(&mut self, value: Value, lowered: lane::Value) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.scalars.insert(value, lowered);
        }
    }

    fn bind_tensor(&mut self, value: Value, layout: LayoutId, registers: Rc<[lane::Value]>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.tensors.insert((value, layout), registers);
        }
    }

    fn scalar(&mut self, value: Value) -> lane::Value {
        let known = self.scopes.iter().rev().find_map(|scope| scope.scalars.get(&value).copied());
        debug_assert!(known.is_some(), "{value} is used before it is lowered");
        match known {
            Some(lowered) => lowered,
            // Not reached for a verified kernel; zero keeps the program well-formed.
            None => self.build.constant(self.kernel.ty(value).dtype(), 0),
        }
    }

    fn region(&mut self, region: &Region) -> Result<(), AssignError> {
        for &id in &region.ops {
            self.current = Some(id);
            let op = &self.kernel.ops[id];
            self.build.set_loc(op.loc);
            self.op(id, op)?;
            self.within_budget()?;
        }
        Ok(())
    }

    /// Whether what was written is allowed, and still wanted.
    fn within_budget(&self) -> Result<(), AssignError> {
        let budget = self.block.budget;
        budget.check()?;
        let most = budget.limits.operations;
        if self.build.len() as u64 <= most {
            return Ok(());
        }
        let current = self.current.map(|id| &self.kernel.ops[id]);
        let what =
            current.map_or_else(String::new, |op| format!(", up to this `{}`,", op.kind.name()));
        let what = format!("`{}`{what}", self.kernel.name);
        let loc = current.map_or(self.kernel.loc, |op| op.loc);
        Err(Overrun::Limit { limit: Limit::Operations, what, most, loc }.into())
    }

    fn op(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        if let Some(pending) = self.orders.waits[id] {
            self.wait_for_products(pending)?;
        }
        if let Some(pending) = self.orders.unread[id] {
            self.wait_for_sent(pending);
        }
        if self.orders.fences_before[id] {
            self.build.proxy_fence();
        }
        if self.orders.barriers[id] {
            self.build.barrier(BarrierScope::Block);
        }
        if self.orders.fences[id] {
            self.build.proxy_fence();
        }
        for (value, layout) in self.assignment.ahead(id).to_vec() {
            self.get(value, layout)?;
        }
        match &op.kind {
            OpKind::For(_) => self.for_loop(id, op),
            OpKind::While => self.while_loop(op),
            OpKind::If => self.if_else(id, op),
            OpKind::Load(options) => self.load(id, op, *options),
            OpKind::Store(cache) => self.store(id, op, *cache),
            OpKind::Atomic { .. } => self.atomic(id, op),
            OpKind::Local(what) => self.local(id, op, what),
            OpKind::AsyncCopy(step) => self.async_copy(id, op, *step),
            OpKind::Barrier => {
                self.build.barrier(BarrierScope::Block);
                Ok(())
            }
            OpKind::GridWait => {
                self.build.grid_wait();
                Ok(())
            }
            OpKind::GridLaunch => {
                self.build.grid_launch();
                Ok(())
            }
            OpKind::Transfer(what) => self.transfer(id, op, *what),
            OpKind::Descriptor(DescriptorOp::Make { nan }) => {
                self.make_map(op, *nan);
                Ok(())
            }
            // What is given is an argument.
            OpKind::Descriptor(_) => Ok(()),
            OpKind::Reduce { axis, .. } => self.reduce(id, op, usize::from(*axis)),
            OpKind::Dot(precision) | OpKind::WarpgroupDot(precision) => {
                self.dot(id, op, *precision)
            }
            OpKind::DotScaled(scaled) => self.dot_scaled(id, op, *scaled),
            OpKind::Print { prefix, hex, signed } => {
                self.print(op, Print { prefix, hex: *hex, signed })
            }
            OpKind::Assert { message } => self.assert(op, message),
            OpKind::InlineAsm(asm) => self.inline_asm(op, asm),
            OpKind::Yield | OpKind::Condition | OpKind::Return => Ok(()),
            OpKind::Scan { axis, reverse } => {
                let direction = if *reverse { Direction::Reverse } else { Direction::Forward };
                self.scan(id, op, usize::from(*axis), direction)
            }
            OpKind::Gather { axis } => self.gather(id, op, usize::from(*axis)),
            OpKind::Histogram => self.histogram(id, op),
            OpKind::Split => op.results.iter().try_for_each(|&result| self.settle(op, result)),
            _ => self.pure(op),
        }
    }

    fn pure(&mut self, op: &Op) -> Result<(), AssignError> {
        let [result] = op.results[..] else { return Ok(()) };
        if self.kernel.ty(result).is_tensor() {
            return self.settle(op, result);
        }
        let lowered = match &op.kind {
            OpKind::Unsplat => {
                let operand = op.operands[0];
                let home = self.anywhere(operand)?;
                self.get(operand, home)?[0]
            }
            _ => {
                let operands: Vec<lane::Value> =
                    op.operands.iter().map(|&value| self.scalar(value)).collect();
                self.element(op, result, &operands)
            }
        };
        self.know_range(result, lowered);
        self.bind_scalar(result, lowered);
        Ok(())
    }

    /// Computes a tensor in its home. Free values and shape operations wait until somebody asks.
    fn settle(&mut self, op: &Op, result: Value) -> Result<(), AssignError> {
        if let Some(home) = self.assignment.registers(result) {
            let registers = self.compute(op, result, home)?;
            self.bind_tensor(result, home, registers);
        }
        Ok(())
    }

    /// How many lane values a tile value takes where it is carried around.
    fn registers_of(&self, value: Value) -> usize {
        match self.assignment.registers(value) {
            Some(home) => {
                let count = values::register_count(self.assignment.layouts.get(home));
                count / self.numbers_in_word(value)
            }
            // A token is nothing to carry.
            None => usize::from(self.kernel.ty(value).element != Element::Token),
        }
    }

    /// The lane types of values that a region carries.
    fn carried_dtypes(&self, values: &[Value]) -> Vec<DType> {
        values
            .iter()
            .flat_map(|&value| {
                let ty = self.kernel.ty(value);
                // Memory is carried as its address.
                let words = ty.memory().is_some() || self.numbers_in_word(value) > 1;
                let dtype = if words { DType::I32 } else { ty.dtype() };
                vec![dtype; self.registers_of(value)]
            })
            .collect()
    }

    /// The lane values of `values`, each in the home of its counterpart in `homes`.
    fn carried(
        &mut self,
        values: &[Value],
        homes: &[Value],
    ) -> Result<Vec<lane::Value>, AssignError> {
        let mut carried = Vec::new();
        for (&value, &place) in values.iter().zip(homes) {
            match self.assignment.registers(place) {
                Some(home) => {
                    let numbers = self.get(value, home)?;
                    let in_word = self.numbers_in_word(place);
                    carried.extend(self.in_words(&numbers, in_word));
                }
                None if self.registers_of(place) == 0 => {}
                None if self.is_memory(place) => carried.push(self.carried_view(value, place)?),
                None => carried.push(self.scalar(value)),
            }
        }
        Ok(carried)
    }

    /// Binds values to the lane values that stand for them.
    fn bind_carried(&mut self, values: &[Value], lowered: &[lane::Value]) {
        let mut rest = lowered;
        for &value in values {
            let (own, others) = rest.split_at(self.registers_of(value).min(rest.len()));
            rest = others;
            match self.assignment.registers(value) {
                Some(home) => {
                    let numbers = self.out_of_words(value, own);
                    self.bind_tensor(value, home, numbers.into());
                }
                None => {
                    for &own in own {
                        if self.is_memory(value) {
                            self.bind_carried_view(value, own);
                        } else {
                            self.bind_scalar(value, own);
                        }
                    }
                }
            }
        }
    }

    fn open(&mut self, params: &[DType]) -> Vec<lane::Value> {
        self.scopes.push(Scope::default());
        self.build.open_region(params)
    }

    fn close(&mut self, end: LaneOp, values: &[lane::Value]) -> LaneRegion {
        self.scopes.pop();
        self.build.close_region(end, values)
    }

    fn for_loop(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        let body = &op.regions[0];
        let carried = &body.params[1..];
        let [low, high, step] = [0, 1, 2].map(|index| self.scalar(op.operands[index]));
        let mut inits = vec![low];
        inits.extend(self.carried(&op.operands[3..], carried)?);
        let dtypes = self.carried_dtypes(carried);
        let inst = self.build.new_loop(&inits, &dtypes);
        let mut params = vec![self.build.dtype(low)];
        params.extend(&dtypes);
        let params = self.open(&params);
        self.bind_scalar(body.params[0], params[0]);
        self.know_counter(body.params[0], [op.operands[0], op.operands[2]], params[0]);
        self.bind_carried(carried, &params[1..]);
        let done = self.build.compare(Compare::Sge, params[0], high);
        self.build.break_if(inst, done, &params[1..]);
        let flights = self.orders.carried[id].clone();
        self.flights.clone_from(&flights);
        self.region(body)?;
        let mut next = vec![self.build.binary(Binary::Add, params[0], step)];
        next.extend(self.carried(self.kernel.handed_over(body), carried)?);
        let region = self.close(LaneOp::Continue, &next);
        let results = self.build.place_loop(inst, region);
        self.carry_on(carried, &op.results);
        self.bind_carried(&op.results, &results);
        let result = |param: Value| {
            let index = carried.iter().position(|&carried| carried == param);
            index.map(|index| op.results[index])
        };
        self.flights = flights.into_iter().map(|sum| sum.and_then(result)).collect();
        // ptxas keeps products under way over the end of a loop only if nothing stands between.
        self.wait_for_products(0)
    }

    fn while_loop(&mut self, op: &Op) -> Result<(), AssignError> {
        let (before, after) = (&op.regions[0], &op.regions[1]);
        let inits = self.carried(&op.operands, &before.params)?;
        let results = self.carried_dtypes(&op.results);
        let inst = self.build.new_loop(&inits, &results);
        let params = self.open(&self.carried_dtypes(&before.params));
        self.bind_carried(&before.params, &params);
        self.region(before)?;
        let condition = self.kernel.handed_over(before);
        let goes_on = self.scalar(condition[0]);
        let one = self.build.constant(DType::I1, 1);
        let done = self.build.binary(Binary::Xor, goes_on, one);
        let passed = self.carried(&condition[1..], &op.results)?;
        self.build.break_if(inst, done, &passed);
        self.carry_on(&op.results, &after.params);
        self.bind_carried(&after.params, &passed);
        self.region(after)?;
        let next = self.carried(self.kernel.handed_over(after), &before.params)?;
        let region = self.close(LaneOp::Continue, &next);
        let lowered = self.build.place_loop(inst, region);
        self.bind_carried(&op.results, &lowered);
        Ok(())
    }

    fn if_else(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        let condition = self.scalar(op.operands[0]);
        let flights = self.flights.clone();
        let landed = self.orders.landed[id].clone();
        let mut regions = Vec::new();
        let mut left = Vec::new();
        for region in &op.regions {
            self.open(&[]);
            self.flights.clone_from(&flights);
            self.region(region)?;
            let mut values = self.carried(self.kernel.handed_over(region), &op.results)?;
            for &sum in &landed {
                let home = self.anywhere(sum)?;
                values.extend_from_slice(&self.get(sum, home)?);
            }
            if self.flights.len() >= left.len() {
                left.clone_from(&self.flights);
            }
            regions.push(self.close(LaneOp::Yield, &values));
        }
        self.flights = left;
        let mut dtypes = self.carried_dtypes(&op.results);
        let own = dtypes.len();
        let mut sums = Vec::new();
        for &sum in &landed {
            let home = self.anywhere(sum)?;
            let registers = self.get(sum, home)?.to_vec();
            dtypes.extend(registers.iter().map(|&register| self.build.dtype(register)));
            sums.push((sum, home, registers.len()));
        }
        let otherwise = regions.pop().unwrap_or_default();
        let then = regions.pop().unwrap_or_default();
        let lowered = self.build.if_(condition, then, otherwise, &dtypes);
        let (own, mut rest) = lowered.split_at(own);
        self.bind_carried(&op.results, own);
        for (sum, home, count) in sums {
            let (registers, others) = rest.split_at(count);
            rest = others;
            self.bind_tensor(sum, home, registers.into());
        }
        Ok(())
    }
}
