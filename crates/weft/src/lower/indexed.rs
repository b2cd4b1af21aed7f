//! Gathers and histograms: plans that follow numbers.

use super::{Lowerer, Movement};
use crate::assign::{AssignError, LayoutId, Task};
use crate::movement;
use crate::tile::{Op, OpId, Value};
use weft_layout::step::Plan;

impl Lowerer<'_> {
    /// A gather leaves what it finds where the indices are.
    pub(super) fn gather(&mut self, id: OpId, op: &Op, axis: usize) -> Result<(), AssignError> {
        let ([source, indices], result) = ([op.operands[0], op.operands[1]], op.results[0]);
        let from = match self.assignment.source_in(id) {
            Some(place) => self.without_copies(place)?,
            None => self.held_at(source)?,
        };
        let to = self.runs_in(id, result)?;
        let bits = (self.width(source), self.width(indices));
        let plan = self.planned(&Task::Gather(from, to, axis, bits))?;
        self.indexed(id, &plan, &[(source, from), (indices, to)], (result, to))
    }

    pub(super) fn histogram(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        let (numbers, result) = (op.operands[0], op.results[0]);
        let [from, to] = [self.runs_in(id, numbers)?, self.held_at(result)?];
        let (bits, masked) = (self.width(numbers), op.operands.len() > 1);
        let plan = self.planned(&Task::Histogram(from, to, bits, masked))?;
        let inputs: Vec<_> = op.operands.iter().map(|&operand| (operand, from)).collect();
        self.indexed(id, &plan, &inputs, (result, to))
    }

    /// The layout in which an operation runs: the one that was chosen, else where a tensor of it lives, in
    /// registers that hold no copies.
    pub(super) fn runs_in(&mut self, op: OpId, value: Value) -> Result<LayoutId, AssignError> {
        match self.assignment.runs_in(op) {
            Some(place) => self.without_copies(place),
            None => self.held_at(value),
        }
    }

    /// Where a tensor is at no price, in registers that hold no copies.
    pub(super) fn held_at(&mut self, value: Value) -> Result<LayoutId, AssignError> {
        let place = self.anywhere(value)?;
        self.without_copies(place)
    }

    /// The bits that an element takes in a register.
    pub(super) fn width(&self, value: Value) -> u32 {
        self.kernel.ty(value).dtype().bytes() * 8
    }

    /// Writes a plan of several inputs and one output.
    fn indexed(
        &mut self,
        id: OpId,
        plan: &Plan,
        from: &[(Value, LayoutId)],
        (result, to): (Value, LayoutId),
    ) -> Result<(), AssignError> {
        let mut inputs = Vec::new();
        for &(value, place) in from {
            inputs.push(self.get(value, place)?.to_vec());
        }
        if let Some(&(value, from)) = from.first() {
            self.movements.push(Movement { op: id, value, from, to, plan: plan.clone() });
        }
        let outputs = movement::write(&mut self.build, plan, inputs)?;
        self.bind_moved(result, to, outputs.first().map_or(&[], Vec::as_slice))
    }
}
