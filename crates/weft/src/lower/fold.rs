//! Reductions and scans: plans that combine, with the region of the operation as the operator.

use super::{Lowerer, Movement};
use crate::assign::{AssignError, LayoutId, Task};
use crate::dtype::DType;
use crate::lane::{self, Builder};
use crate::movement;
use crate::tile::{Op, OpId, OpKind, Region, Value};
use rustc_hash::FxHashMap;
use weft_layout::family::slice;
use weft_layout::plan::{Direction, PlanError};
use weft_layout::step::Plan;

/// The most products that one chain of fused multiply-adds adds up; chains run side by side.
const CHAIN: usize = 8;

/// Sums of few products in a thread, and of which.
#[derive(Default)]
struct Products(FxHashMap<lane::Value, Vec<[lane::Value; 2]>>);

impl Products {
    /// A sum of two that adds the products of one to the other, unrounded; nothing where neither is known
    /// as a sum of few products.
    ///
    /// A right operand that was summed up already is summed again: what it was is used no more.
    fn sum(
        &mut self,
        build: &mut Builder,
        left: lane::Value,
        right: lane::Value,
    ) -> Option<lane::Value> {
        let terms = |value| {
            let single = || build.factors(value).map(|factors| vec![factors]);
            self.0.get(&value).cloned().or_else(single).filter(|terms| terms.len() <= CHAIN / 2)
        };
        let (of_left, of_right) = (terms(left), terms(right));
        let (first, added) = match (&of_left, &of_right) {
            (_, Some(added)) => (left, added),
            (Some(added), None) => (right, added),
            (None, None) => return None,
        };
        let sum = added.iter().fold(first, |sum, &[x, y]| build.fma(x, y, sum));
        if let (Some(mut all), Some(others)) = (of_left, of_right) {
            all.extend(others);
            self.0.insert(sum, all);
        }
        Some(sum)
    }
}

impl Lowerer<'_> {
    pub(super) fn reduce(&mut self, id: OpId, op: &Op, axis: usize) -> Result<(), AssignError> {
        let from = self.runs_in(id, op.operands[0])?;
        let bits = self.widths(op);
        let plan = self.planned(&Task::Reduce(from, axis, bits))?;
        let to = slice(self.assignment.layouts.get(from), axis).map_err(PlanError::from)?;
        let to = self.assignment.layouts.intern(to);
        let outputs = self.combined(id, op, &plan, from, to)?;
        for (&value, registers) in op.results.iter().zip(outputs) {
            if self.kernel.ty(value).is_tensor() {
                self.bind_moved(value, to, &registers)?;
            } else {
                self.bind_scalar(value, registers[0]);
            }
        }
        Ok(())
    }

    pub(super) fn scan(
        &mut self,
        id: OpId,
        op: &Op,
        axis: usize,
        direction: Direction,
    ) -> Result<(), AssignError> {
        let place = self.runs_in(id, op.results[0])?;
        let bits = self.widths(op);
        let plan = self.planned(&Task::Scan(place, axis, bits, direction))?;
        let outputs = self.combined(id, op, &plan, place, place)?;
        for (&value, registers) in op.results.iter().zip(outputs) {
            self.bind_moved(value, place, &registers)?;
        }
        Ok(())
    }

    /// The bits that each operand's elements take in registers.
    fn widths(&self, op: &Op) -> Vec<u32> {
        op.operands.iter().map(|&value| self.width(value)).collect()
    }

    /// Writes a plan that combines the operands, all in one layout, by the operation's region.
    fn combined(
        &mut self,
        id: OpId,
        op: &Op,
        plan: &Plan,
        from: LayoutId,
        to: LayoutId,
    ) -> Result<Vec<Vec<lane::Value>>, AssignError> {
        let mut inputs = Vec::new();
        for &operand in &op.operands {
            inputs.push(self.get(operand, from)?.to_vec());
        }
        let value = op.operands[0];
        self.movements.push(Movement { op: id, value, from, to, plan: plan.clone() });
        let region = &op.regions[0];
        // Plans move a truth value as a byte; the region takes and gives truth values.
        let half = region.params.len() / 2;
        let truths: Vec<bool> = region.params[..half]
            .iter()
            .map(|&param| self.kernel.ty(param).dtype() == DType::I1)
            .collect();
        let movement = movement::Movement { plan, inputs, places: &[] };
        let contract = matches!(op.kind, OpKind::Reduce { contract: true, .. });
        let mut products = Products::default();
        let outputs =
            movement::write_together(self, vec![movement], &mut |lowerer, left, right| {
                if let (true, &[left], &[right]) = (contract, left, right)
                    && let Some(sum) = products.sum(&mut lowerer.build, left, right)
                {
                    return vec![sum];
                }
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
        Ok(outputs.into_iter().next().unwrap_or_default())
    }

    /// Binds what a movement leaves, and moves it to its home where that is another layout.
    pub(super) fn bind_moved(
        &mut self,
        value: Value,
        layout: LayoutId,
        registers: &[lane::Value],
    ) -> Result<(), AssignError> {
        self.bind_tensor(value, layout, registers.into());
        let Some(home) = self.assignment.registers(value) else { return Ok(()) };
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
            self.bind_element(param, value);
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
                    self.bind_element(result, value);
                }
                _ => results = operands,
            }
        }
        self.scopes.pop();
        results
    }
}
