//! Tile values in the layouts that they are asked for in.

use super::{Lowerer, Movement};
use crate::assign::{AssignError, LayoutId, Task, is_shape_op, operand_layout};
use crate::axis::Range;
use crate::dtype::DType;
use crate::lane;
use crate::math;
use crate::movement;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{InlineAsm, Op, OpId, OpKind, Value};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;
use weft_layout::space::{LANE, REGISTER, WARP};
use weft_layout::step::Plan;
use weft_layout::{Label, Layout};

/// How many registers a layout gives each thread.
pub(super) fn register_count(layout: &Layout) -> usize {
    1 << layout.in_bits(REGISTER)
}

/// A layout without its zero register columns, and for each of its registers the one that is kept.
fn unique_registers(layout: &Layout) -> Result<(Layout, Vec<usize>), AssignError> {
    let (unique, removed) = layout.remove_zero_columns(REGISTER)?;
    let kept: Vec<u32> =
        (0..layout.in_bits(REGISTER)).filter(|bit| !removed.contains(bit)).collect();
    let compress = |register: usize| {
        let bits = kept.iter().enumerate();
        bits.fold(0, |sum, (new, &old)| sum | (register >> old & 1) << new)
    };
    Ok((unique, (0..register_count(layout)).map(compress).collect()))
}

/// What an instruction's offset reaches, with room for the sum of some: 24 bits with a sign.
const MOST_OFFSET: u64 = 1 << 21;

/// The registers of several tensors.
type Parts = SmallVec<[Rc<[lane::Value]>; 4]>;

/// A value that is asked for in a layout.
struct Demand {
    value: Value,
    layout: LayoutId,
    how: How,
    /// What it is made from, each in the layout that it is asked for in.
    parts: SmallVec<[(Value, LayoutId); 4]>,
    /// The registers of those of them that are there, from the first on.
    made: Parts,
}

/// How a value in a layout is made.
enum How {
    /// Of the same without copies in registers: for each register the one that it copies.
    Copies(Vec<usize>),
    /// Moved from its home.
    Moved(LayoutId),
    /// By the operation that defines it.
    Computed(OpId),
}

impl Lowerer<'_> {
    /// A layout that a value can be asked for in at no price.
    pub(super) fn anywhere(&mut self, value: Value) -> Result<LayoutId, AssignError> {
        self.assignment.anywhere(self.kernel, &self.definitions, self.block, value)
    }

    /// A layout without the registers that only hold copies of others.
    pub(super) fn without_copies(&mut self, layout: LayoutId) -> Result<LayoutId, AssignError> {
        let unique = self.assignment.layouts.get(layout).remove_zero_columns(REGISTER)?.0;
        Ok(self.assignment.layouts.intern(unique))
    }

    /// The registers of a tensor in a layout, one lane value each.
    ///
    /// What is computed wherever it is needed may be the end of a chain as long as the program, so what each
    /// value is made from waits in a list and not on the stack.
    pub(super) fn get(
        &mut self,
        value: Value,
        layout: LayoutId,
    ) -> Result<Rc<[lane::Value]>, AssignError> {
        if let Some(known) = self.known(value, layout) {
            return Ok(known);
        }
        let mut open = vec![self.demand(value, layout)?];
        loop {
            let Some(demand) = open.last_mut() else { return Ok(Rc::default()) };
            let next = demand.parts.get(demand.made.len()).copied();
            let made = match next {
                Some((value, layout)) => match self.known(value, layout) {
                    Some(known) => known,
                    None => {
                        let demand = self.demand(value, layout)?;
                        open.push(demand);
                        continue;
                    }
                },
                None => {
                    let Some(demand) = open.pop() else { return Ok(Rc::default()) };
                    let registers = self.produce(&demand)?;
                    self.bind_tensor(demand.value, demand.layout, registers.clone());
                    registers
                }
            };
            match (next, open.last_mut()) {
                (_, Some(demand)) => demand.made.push(made),
                (_, None) => return Ok(made),
            }
        }
    }

    /// What a value in a layout is made from.
    fn demand(&mut self, value: Value, layout: LayoutId) -> Result<Demand, AssignError> {
        // Copies within a thread are one lane value.
        let (unique, registers) = unique_registers(self.assignment.layouts.get(layout))?;
        let unique = self.assignment.layouts.intern(unique);
        let (how, parts) = if unique != layout {
            (How::Copies(registers), smallvec![(value, unique)])
        } else {
            match (self.assignment.registers(value), self.definitions[value]) {
                (Some(home), _) => (How::Moved(home), smallvec![(value, home)]),
                (None, Some(id)) => {
                    let op = &self.kernel.ops[id];
                    (How::Computed(id), self.parts(op, layout)?)
                }
                // A region's parameter always has a home.
                (None, None) => (How::Copies(Vec::new()), smallvec![]),
            }
        };
        Ok(Demand { value, layout, how, parts, made: SmallVec::new() })
    }

    pub(super) fn known(&self, value: Value, layout: LayoutId) -> Option<Rc<[lane::Value]>> {
        self.scopes.iter().rev().find_map(|scope| scope.tensors.get(&(value, layout)).cloned())
    }

    /// Makes a value from what it is made from.
    fn produce(&mut self, demand: &Demand) -> Result<Rc<[lane::Value]>, AssignError> {
        let Demand { value, layout, how, parts: _, made } = demand;
        self.within_budget()?;
        match how {
            How::Copies(registers) => match made.first() {
                Some(values) => Ok(registers.iter().map(|&register| values[register]).collect()),
                None => Ok(Rc::default()),
            },
            How::Moved(home) => {
                let source = made.first().map_or(Vec::new(), |source| source.to_vec());
                let plan = self.plan(*value, *home, *layout)?;
                Ok(self.moved(&plan, source)?.into())
            }
            How::Computed(id) => Ok(self.computed(&self.kernel.ops[*id], *value, *layout, made)),
        }
    }

    /// The plan of a task.
    pub(super) fn planned(&mut self, task: &Task) -> Result<Plan, AssignError> {
        let assignment = &mut *self.assignment;
        let plan = assignment.plans.plan(&assignment.layouts, task, self.block.machine)?;
        Ok(plan.clone())
    }

    /// The plan of a conversion, noted for the report.
    pub(super) fn plan(
        &mut self,
        value: Value,
        from: LayoutId,
        to: LayoutId,
    ) -> Result<Plan, AssignError> {
        let bits = self.kernel.ty(value).dtype().bytes() * 8;
        let plan = self.planned(&Task::Convert(from, to, bits))?;
        if let Some(op) = self.current {
            self.movements.push(Movement { op, value, from, to, plan: plan.clone() });
        }
        Ok(plan)
    }

    /// Computes the result of an operation in a layout, register by register.
    pub(super) fn compute(
        &mut self,
        op: &Op,
        result: Value,
        layout: LayoutId,
    ) -> Result<Rc<[lane::Value]>, AssignError> {
        let parts = self.parts(op, layout)?;
        let mut made: Parts = SmallVec::new();
        for (operand, layout) in parts {
            made.push(self.get(operand, layout)?);
        }
        Ok(self.computed(op, result, layout, &made))
    }

    /// The tensors that the result of an operation in a layout is computed from, each with the layout that it
    /// is asked for in.
    fn parts(
        &mut self,
        op: &Op,
        layout: LayoutId,
    ) -> Result<SmallVec<[(Value, LayoutId); 4]>, AssignError> {
        Ok(match &op.kind {
            OpKind::Constant(_) | OpKind::Poison | OpKind::Splat | OpKind::MakeRange { .. } => {
                smallvec![]
            }
            OpKind::ConvertLayout => smallvec![(op.operands[0], layout)],
            OpKind::Join => {
                let rank = self.kernel.ty(op.operands[0]).shape.len();
                let half = self.assignment.layouts.get(layout).slice(rank)?;
                let half = self.assignment.layouts.intern(half);
                smallvec![(op.operands[0], half), (op.operands[1], half)]
            }
            OpKind::Split => {
                // Joined, the halves are told apart by the lowest register bit.
                let joined = self.assignment.layouts.get(layout).join()?;
                smallvec![(op.operands[0], self.assignment.layouts.intern(joined))]
            }
            kind if is_shape_op(kind) => {
                let operand = op.operands[0];
                let shape = self.kernel.ty(operand).shape.clone();
                let below = operand_layout(kind, self.assignment.layouts.get(layout), &shape)?;
                smallvec![(operand, self.assignment.layouts.intern(below))]
            }
            _ => {
                let tensors =
                    op.operands.iter().filter(|&&value| self.kernel.ty(value).is_tensor());
                tensors.map(|&operand| (operand, layout)).collect()
            }
        })
    }

    /// Computes the result of an operation in a layout from the registers of its parts.
    fn computed(
        &mut self,
        op: &Op,
        result: Value,
        layout: LayoutId,
        parts: &[Rc<[lane::Value]>],
    ) -> Rc<[lane::Value]> {
        let ty = self.kernel.ty(result);
        let count = register_count(self.assignment.layouts.get(layout));
        match &op.kind {
            OpKind::Constant(bits) => {
                let constant = self.build.constant(ty.dtype(), *bits);
                vec![constant; count].into()
            }
            OpKind::Poison => {
                let zero = self.build.constant(ty.dtype(), 0);
                vec![zero; count].into()
            }
            OpKind::Splat => {
                let scalar = self.scalar(op.operands[0]);
                vec![scalar; count].into()
            }
            OpKind::MakeRange { start, .. } => self.range(*start, layout),
            OpKind::Join => self.join([&parts[0], &parts[1]], layout),
            OpKind::Split => {
                let half = usize::from(op.results.first() != Some(&result));
                (0..count).map(|register| parts[0][2 * register + half]).collect()
            }
            kind if *kind == OpKind::ConvertLayout || is_shape_op(kind) => parts[0].clone(),
            _ => {
                let mut parts = parts.iter();
                let mut operands = Vec::with_capacity(op.operands.len());
                for &operand in &op.operands {
                    let is_tensor = self.kernel.ty(operand).is_tensor();
                    let part = if is_tensor { parts.next().cloned() } else { None };
                    operands.push(match part {
                        Some(part) => part,
                        None => vec![self.scalar(operand); count].into(),
                    });
                }
                if !self.assignment.is_free(result) {
                    let words = u64::from(self.kernel.ty(result).dtype().bytes().div_ceil(4));
                    self.spend(count as u64 * words * self.block.machine.prices.alu);
                }
                let mut registers: Vec<lane::Value> = Vec::with_capacity(count);
                let mut row = vec![];
                let repeated = self.repeated_bits(result, layout);
                let steps = self.steps(op, result, layout);
                let stepping = steps.iter().fold(0, |bits, (bit, _)| bits | bit) & !repeated;
                for register in 0..count {
                    if register & repeated != 0 {
                        registers.push(registers[register & !repeated]);
                        continue;
                    }
                    if register & stepping != 0 {
                        let set = steps.iter().filter(|(bit, _)| register & bit != 0);
                        let step = set.fold(0, |sum: u64, (_, step)| sum.wrapping_add(*step));
                        let step = self.build.constant(ty.dtype(), step & ty.dtype().mask());
                        let first = registers[register & !stepping];
                        registers.push(self.build.binary(Binary::Add, first, step));
                        continue;
                    }
                    row.clear();
                    row.extend(operands.iter().map(|operand| operand[register]));
                    registers.push(self.element(op, result, &row));
                }
                for &register in &registers {
                    self.know_range(result, register);
                }
                registers.into()
            }
        }
    }

    /// Hands on what the analysis knows of an integer's range.
    pub(super) fn know_range(&mut self, value: Value, register: lane::Value) {
        let ty = self.kernel.ty(value);
        if !ty.dtype().is_int() || ty.element.pointee().is_some() {
            return;
        }
        let range = self.facts.get(value).range;
        if range.is_natural() {
            self.build.know_at_most(register, range.high as u64);
        }
    }

    /// The same of what a loop counts, from `low` on by `step`: the number that ends it is one step beyond those
    /// that its body sees, or where it begins.
    pub(super) fn know_counter(
        &mut self,
        counter: Value,
        [low, step]: [Value; 2],
        register: lane::Value,
    ) {
        let [counted, low, step] = [counter, low, step].map(|value| self.facts.get(value).range);
        let all = Range::of_type(self.kernel.ty(counter));
        let end = counted.high.checked_add(step.high).filter(|&end| end <= all.high);
        if let Some(end) = end
            && [counted, low, step].iter().all(|range| range.is_natural())
        {
            self.build.know_at_most(register, end.max(low.high) as u64);
        }
    }

    /// The bits of register numbers that lead to elements known to be equal, such as the truths of a mask
    /// whose end is a multiple of what a thread has.
    fn repeated_bits(&self, value: Value, layout: LayoutId) -> usize {
        let (dims, layout) = (&self.facts.get(value).dims, self.assignment.layouts.get(layout));
        let within = |&column: &u64| {
            let coordinate = |dim: usize| layout.outs().coordinate(Label::dim(dim as u32), column);
            dims.iter().enumerate().all(|(dim, facts)| coordinate(dim) < facts.constancy)
        };
        let columns = layout.columns(REGISTER).iter().enumerate();
        columns.filter(|(_, column)| within(column)).fold(0, |bits, (bit, _)| bits | 1 << bit)
    }

    /// The bits of register numbers, each as a mask, that add a proved number to what a thread has: such
    /// elements need not be computed but from the first. Of pointers, numbers that an access takes along.
    fn steps(&self, op: &Op, value: Value, layout: LayoutId) -> Vec<(usize, u64)> {
        let ty = self.kernel.ty(value);
        let is_pointer = op.kind == OpKind::AddPtr;
        let layout = self.assignment.layouts.get(layout);
        let is_integer = ty.dtype().is_int() && ty.dtype() != DType::I1;
        let computes = matches!(op.kind, OpKind::Binary(_) | OpKind::Cast(_)) && is_integer;
        if !(is_pointer || computes) || !ty.is_tensor() {
            return Vec::new();
        }
        let columns = layout.columns(REGISTER);
        let others =
            [LANE, WARP].map(|label| layout.columns(label).iter().fold(0, |all, x| all | x));
        let known = &self.facts.get(value).strides.steps;
        let step = |(bit, &column): (usize, &u64)| {
            let own = columns.iter().enumerate().filter(|(other, _)| *other != bit);
            let all = own.fold(others[0] | others[1], |all, (_, column)| all | column);
            if column & all != 0 {
                return None;
            }
            let bits = (0..known.len()).filter(|place| column >> place & 1 == 1);
            let step = bits
                .map(|place| known[place])
                .try_fold(0, |sum: u64, step| Some(sum.wrapping_add(step?)))?;
            let near = step.cast_signed().unsigned_abs() < MOST_OFFSET;
            (!is_pointer || near).then_some((1 << bit, step))
        };
        columns.iter().enumerate().filter_map(step).collect()
    }

    /// Each place of a joined tensor takes what one of the operands has there: which one, the registers,
    /// the lane and the warp say.
    fn join(&mut self, sides: [&[lane::Value]; 2], layout: LayoutId) -> Rc<[lane::Value]> {
        let joined = self.assignment.layouts.get(layout).clone();
        // The last axis is the lowest output bit.
        let [lanes, warps] = [LANE, WARP]
            .map(|label| joined.columns(label).iter().map(|column| column & 1).collect::<Vec<_>>());
        let by_thread = lanes.iter().chain(&warps).any(|&bit| bit == 1);
        let second = by_thread.then(|| {
            let side = movement::thread_map(&mut self.build, &lanes, &warps);
            let zero = self.build.i32(0);
            self.build.compare(Compare::Ne, side, zero)
        });
        let registers = (0..register_count(&joined)).map(|register| {
            let side = joined.apply_flat(register as u64) as usize & 1;
            let (own, other) = (sides[side][register], sides[1 - side][register]);
            match second {
                Some(second) => self.build.select(second, other, own),
                None => own,
            }
        });
        registers.collect()
    }

    /// Assembly runs once for each register of its results.
    pub(super) fn inline_asm(&mut self, op: &Op, asm: &InlineAsm) -> Result<(), AssignError> {
        let dtypes: Vec<DType> =
            op.results.iter().map(|&result| self.kernel.ty(result).dtype()).collect();
        let first = op.results[0];
        let place =
            if self.kernel.ty(first).is_tensor() { Some(self.anywhere(first)?) } else { None };
        let mut operands: Vec<Rc<[lane::Value]>> = Vec::new();
        for &operand in &op.operands {
            operands.push(match place {
                Some(place) => self.get(operand, place)?,
                None => vec![self.scalar(operand)].into(),
            });
        }
        let count = place.map_or(1, |place| register_count(self.assignment.layouts.get(place)));
        let mut results = vec![Vec::with_capacity(count); dtypes.len()];
        for register in 0..count {
            let row = operands.iter().map(|operand| operand[register]).collect();
            let kind = lane::Op::InlineAsm { text: asm.text.clone(), pure: asm.pure };
            for (list, value) in results.iter_mut().zip(self.build.emit(kind, row, &dtypes)) {
                list.push(value);
            }
        }
        for (&result, registers) in op.results.iter().zip(results) {
            match place {
                Some(place) => self.bind_moved(result, place, &registers)?,
                None => self.bind_scalar(result, registers[0]),
            }
        }
        Ok(())
    }

    /// The integers from `start` on, each in its place.
    fn range(&mut self, start: i32, layout: LayoutId) -> Rc<[lane::Value]> {
        let layout = self.assignment.layouts.get(layout).clone();
        let (lanes, warps) = (layout.columns(LANE), layout.columns(WARP));
        let thread = movement::thread_map(&mut self.build, lanes, warps);
        let moving = lanes.iter().chain(warps).fold(0, |all, column| all | column);
        let start = self.build.i32(start);
        (0..register_count(&layout))
            .map(|register| {
                // The registers are the lowest input bits.
                let part = layout.apply_flat(register as u64);
                // Of the bits that no thread moves, adding is the same as exclusive or.
                let moved = self.build.i32((part & moving) as i32);
                let index = self.build.binary(Binary::Xor, thread, moved);
                let apart = self.build.i32((part & !moving) as i32);
                let index = self.build.binary(Binary::Add, index, apart);
                self.build.binary(Binary::Add, index, start)
            })
            .collect()
    }

    /// One element of an operation that computes each from its operands in the same place.
    pub(super) fn element(
        &mut self,
        op: &Op,
        result: Value,
        operands: &[lane::Value],
    ) -> lane::Value {
        let ty = self.kernel.ty(result);
        match (&op.kind, operands) {
            (OpKind::Constant(bits), _) => self.build.constant(ty.dtype(), *bits),
            (OpKind::ProgramId(axis), _) => self.build.id(lane::IdKind::Block(*axis)),
            (OpKind::NumPrograms(axis), _) => self.build.id(lane::IdKind::Blocks(*axis)),
            (OpKind::Unary(unary), &[x]) => math::unary(&mut self.build, *unary, x),
            (OpKind::Binary(binary), &[x, y]) => {
                let [of_x, of_y] = [0, 1].map(|index| self.facts.get(op.operands[index]).range);
                let divides =
                    matches!(binary, Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU);
                let half = i64::from(i32::MIN)..=i64::from(i32::MAX);
                if divides
                    && ty.dtype() == DType::I64
                    && half.contains(&of_x.low)
                    && half.contains(&of_x.high)
                {
                    let most = of_x.is_natural().then_some(of_x.high as u64);
                    self.build.division_of_half(*binary, x, y, most)
                } else if divides && of_x.is_natural() && of_y.low > 0 {
                    self.build.natural_division(*binary, x, y, of_x.high as u64)
                } else {
                    math::binary(&mut self.build, *binary, x, y)
                }
            }
            // A verified operation has operands.
            (OpKind::Function(function), operands) => {
                let value = math::function(&mut self.build, *function, operands);
                value.unwrap_or_else(|| self.build.constant(ty.dtype(), 0))
            }
            (OpKind::Directed(op, rounding), operands) => {
                let value = math::directed(&mut self.build, *op, *rounding, operands);
                value.unwrap_or_else(|| self.build.constant(ty.dtype(), 0))
            }
            (OpKind::Compare(_), _) if let Some(truth) = self.facts.get(result).constant => {
                self.build.constant(DType::I1, truth)
            }
            (OpKind::Compare(compare), &[x, y]) if self.is_natural(op.operands[0]) => {
                self.build.natural_comparison(*compare, x, y)
            }
            (OpKind::Compare(compare), &[x, y]) => self.build.compare(*compare, x, y),
            (OpKind::Select, &[condition, x, y]) => self.build.select(condition, x, y),
            (OpKind::Cast(cast), &[x]) => self.build.cast(*cast, x, ty.dtype()),
            (OpKind::Fma, &[x, y, z]) => self.build.fma(x, y, z),
            (OpKind::AddPtr, &[pointer, offset]) => {
                let bytes = ty.element.pointee().map_or(1, DType::bytes);
                let natural = self.is_natural(op.operands[1]);
                self.add_bytes(pointer, offset, bytes, natural)
            }
            // Poison, and shapes that a verified kernel does not have.
            _ => self.build.constant(ty.dtype(), 0),
        }
    }

    /// Whether no element of an integer value is negative.
    fn is_natural(&self, value: Value) -> bool {
        self.kernel.ty(value).dtype().is_int() && self.facts.get(value).range.is_natural()
    }

    /// A pointer moved by a signed count of elements; `natural` says that the count is not negative.
    fn add_bytes(
        &mut self,
        pointer: lane::Value,
        offset: lane::Value,
        bytes: u32,
        natural: bool,
    ) -> lane::Value {
        let wide = if natural {
            self.build.natural_widened(offset)
        } else {
            self.build.cast(Cast::ExtS, offset, DType::I64)
        };
        let size = self.build.constant(DType::I64, bytes.into());
        let distance = self.build.binary(Binary::Mul, wide, size);
        self.build.binary(Binary::Add, pointer, distance)
    }
}
