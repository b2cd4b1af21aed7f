//! Matrix products.

mod matrix;
mod parts;
mod scaled;
mod warpgroup;

use super::Lowerer;
use crate::assign::{AssignError, LayoutId, Product};
use crate::dtype::DType;
use crate::lane;
use crate::movement;
use crate::scalar::Cast;
use crate::tile::{Op, OpId, Precision, ScaledDot, ScaledOperands, Value};
use std::rc::Rc;
use weft_layout::step::Plan;

impl Lowerer<'_> {
    pub(super) fn dot(
        &mut self,
        id: OpId,
        op: &Op,
        precision: Precision,
    ) -> Result<(), AssignError> {
        match self.assignment.product(id).clone() {
            Product::Multiply => self.multiply_adds(id, op),
            Product::Matrix(matrix) if matrix.instruction.scale_group().is_some() => {
                let [left, right, sum] = [0, 1, 2].map(|index| op.operands[index]);
                let operands = ScaledOperands { factors: [left, right], scales: [None; 2], sum };
                self.scaled_product(op, operands, &matrix)
            }
            Product::Matrix(matrix) => self.matrix_product(op, &matrix, precision),
            Product::Warpgroup(product) => self.warpgroup_product(id, op, &product),
        }
    }

    /// A product of numbers with scales, which no other instructions compute than those that it was left for.
    pub(super) fn dot_scaled(
        &mut self,
        id: OpId,
        op: &Op,
        scaled: ScaledDot,
    ) -> Result<(), AssignError> {
        let operands = scaled.operands(&op.operands);
        match (self.assignment.product(id).clone(), operands) {
            (Product::Matrix(matrix), Some(operands)) => self.scaled_product(op, operands, &matrix),
            _ => {
                let name = self.kernel.value_name(op.results[0]);
                Err(AssignError::NoScaled { name, machine: self.block.machine.name.to_string() })
            }
        }
    }

    /// Each thread multiplies and adds what its results need: the summed axis lies in registers, and
    /// the operands follow from the result's layout by dropping the other axis.
    fn multiply_adds(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        let [a, b, c] = [0, 1, 2].map(|index| op.operands[index]);
        let result = op.results[0];
        let home = self.runs_in(id, result)?;
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
        self.bind_moved(result, home, &sums)
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
        wanted: &[(Value, LayoutId)],
    ) -> Result<Vec<Rc<[lane::Value]>>, AssignError> {
        let mut plans: Vec<Plan> = Vec::new();
        let mut inputs = Vec::new();
        let mut moved = Vec::new();
        for &(value, layout) in wanted {
            let unique = self.without_copies(layout)?;
            if let Some(home) = self.assignment.registers(value)
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
