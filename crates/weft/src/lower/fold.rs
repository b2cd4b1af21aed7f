//! Reductions and matrix products.

use super::{Lowerer, Movement};
use crate::assign::AssignError;
use crate::dtype::DType;
use crate::lane;
use crate::movement;
use crate::scalar::Cast;
use crate::tile::{Op, OpId, Region, Value};
use std::rc::Rc;
use weft_layout::plan;
use weft_layout::space::REGISTER;
use weft_layout::step::Plan;

impl Lowerer<'_> {
    pub(super) fn reduce(&mut self, id: OpId, op: &Op, axis: usize) -> Result<(), AssignError> {
        let mut source = None;
        for &operand in &op.operands {
            source = source.or(self.assignment.home(operand));
        }
        let from = match source {
            Some(home) => home,
            None => self.anywhere(op.operands[0])?,
        };
        let mut inputs = Vec::new();
        let mut bits = Vec::new();
        let unique = self.assignment.layouts.get(from).remove_zero_columns(REGISTER)?.0;
        let from = self.assignment.layouts.intern(unique);
        for &operand in &op.operands {
            inputs.push(self.get(operand, from)?.to_vec());
            bits.push(self.kernel.ty(operand).dtype().bytes() * 8);
        }
        let assignment = &mut *self.assignment;
        let plan::Reduction { plan, result } = assignment
            .plans
            .reduce(&assignment.layouts, from, axis, &bits, self.block.machine)?
            .clone();
        let to = self.assignment.layouts.intern(result);
        self.movements.push(Movement {
            op: id,
            value: op.operands[0],
            from,
            to,
            plan: plan.clone(),
        });
        let region = &op.regions[0];
        // Plans move a truth value as a byte; the region takes and gives truth values.
        let half = region.params.len() / 2;
        let truths: Vec<bool> = region.params[..half]
            .iter()
            .map(|&param| self.kernel.ty(param).dtype() == DType::I1)
            .collect();
        let movement = movement::Movement { plan: &plan, inputs, places: &[] };
        let outputs =
            movement::write_together(self, vec![movement], &mut |lowerer, left, right| {
                let mut side = |values: &[lane::Value]| -> Vec<lane::Value> {
                    let value = |(&value, &truth): (&lane::Value, &bool)| {
                        if truth { movement::truth_of(&mut lowerer.build, value) } else { value }
                    };
                    values.iter().zip(&truths).map(value).collect()
                };
                let (left, right) = (side(left), side(right));
                let results = lowerer.inline(region, &left, &right);
                let bytes =
                    results.into_iter().map(|value| movement::byte_of(&mut lowerer.build, value));
                bytes.collect()
            })?;
        let outputs = outputs.into_iter().next().unwrap_or_default();
        for (&value, registers) in op.results.iter().zip(outputs) {
            if self.kernel.ty(value).is_tensor() {
                self.bind_reduced(value, to, &registers)?;
            } else {
                self.bind_scalar(value, registers[0]);
            }
        }
        Ok(())
    }

    /// Binds what a reduction leaves, and moves it to its home where that is another layout.
    fn bind_reduced(
        &mut self,
        value: Value,
        layout: crate::assign::LayoutId,
        registers: &[lane::Value],
    ) -> Result<(), AssignError> {
        self.bind_tensor(value, layout, registers.into());
        let Some(home) = self.assignment.home(value) else { return Ok(()) };
        if home != layout {
            let plan = self.plan(value, layout, home)?;
            let moved = self.moved(&plan, registers.to_vec())?;
            self.bind_tensor(value, home, moved.into());
        }
        Ok(())
    }

    /// A region of scalar operations, applied to a left and a right tuple.
    fn inline(
        &mut self,
        region: &Region,
        left: &[lane::Value],
        right: &[lane::Value],
    ) -> Vec<lane::Value> {
        self.scopes.push(super::Scope::default());
        for (&param, &value) in region.params.iter().zip(left.iter().chain(right)) {
            self.bind_scalar(param, value);
        }
        let kernel = self.kernel;
        let mut results = Vec::new();
        for &id in &region.ops {
            let op = &kernel.ops[id];
            let operands: Vec<lane::Value> =
                op.operands.iter().map(|&operand| self.scalar(operand)).collect();
            match op.results[..] {
                [result] => {
                    let value = self.element(op, result, &operands);
                    self.bind_scalar(result, value);
                }
                _ => results = operands,
            }
        }
        self.scopes.pop();
        results
    }

    /// Each thread multiplies and adds what its results need: the summed axis lies in registers, and
    /// the operands follow from the result's layout by dropping the other axis.
    pub(super) fn dot(&mut self, op: &Op) -> Result<(), AssignError> {
        let [a, b, c] = [0, 1, 2].map(|index| op.operands[index]);
        let result = op.results[0];
        let Some(home) = self.assignment.home(result) else { return Ok(()) };
        let layout = self.assignment.layouts.get(home).clone();
        let rank = self.kernel.ty(result).shape.len();
        let summed = self.kernel.ty(a).shape[rank - 1];
        let mut operands = Vec::new();
        // Dimensions before the last two count matrices.
        for (value, other) in [(a, rank - 1), (b, rank - 2)] {
            // Without the other axis, and with the summed one in registers of its own.
            let shape = self.kernel.ty(value).shape.clone();
            let wanted = layout.slice(other)?.expand_dims(other)?.broadcast(&shape)?;
            operands.push((value, self.assignment.layouts.intern(wanted)));
        }
        let operands = self.get_together(&operands)?;
        let start = self.get(c, home)?;
        let dtype = self.kernel.ty(result).dtype();
        let results = start.len();
        let mut sums = start.to_vec();
        for k in 0..summed as usize {
            for (register, sum) in sums.iter_mut().enumerate() {
                // The summed axis was appended above the result's registers.
                let place = register + k * results;
                let x = self.widen(operands[0][place], dtype);
                let y = self.widen(operands[1][place], dtype);
                *sum = self.build.fma(x, y, *sum);
            }
        }
        self.bind_tensor(result, home, sums.into());
        Ok(())
    }

    /// An operand of a product in the type of its sum.
    fn widen(&mut self, value: lane::Value, to: DType) -> lane::Value {
        let from = self.build.dtype(value);
        match (from.is_float(), to.is_float()) {
            (true, _) => self.build.cast(Cast::Float, value, to),
            (false, true) => self.build.cast(Cast::FloatFromS, value, to),
            (false, false) => self.build.cast(Cast::ExtS, value, to),
        }
    }

    /// Values in layouts, their movements written side by side so that they share barriers.
    fn get_together(
        &mut self,
        wanted: &[(Value, crate::assign::LayoutId)],
    ) -> Result<Vec<Rc<[lane::Value]>>, AssignError> {
        let mut plans: Vec<Plan> = Vec::new();
        let mut inputs = Vec::new();
        let mut moved = Vec::new();
        for &(value, layout) in wanted {
            let unique = self.assignment.layouts.get(layout).remove_zero_columns(REGISTER)?.0;
            let unique = self.assignment.layouts.intern(unique);
            if let Some(home) = self.assignment.home(value)
                && home != unique
                && !moved.contains(&(value, unique))
                && self.known(value, unique).is_none()
            {
                inputs.push(vec![self.get(value, home)?.to_vec()]);
                plans.push(self.plan(value, home, unique)?);
                moved.push((value, unique));
            }
        }
        let movements = plans
            .iter()
            .zip(inputs)
            .map(|(plan, inputs)| movement::Movement { plan, inputs, places: &[] })
            .collect();
        let outputs = movement::write_together(self, movements, &mut |_, left, _| left.to_vec())?;
        for ((value, layout), registers) in moved.into_iter().zip(outputs) {
            if let Some(registers) = registers.into_iter().next() {
                self.bind_tensor(value, layout, registers.into());
            }
        }
        wanted.iter().map(|&(value, layout)| self.get(value, layout)).collect()
    }
}
