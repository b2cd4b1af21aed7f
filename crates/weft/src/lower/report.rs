//! Prints and assertions.

use super::Lowerer;
use crate::assign::AssignError;
use crate::dtype::DType;
use crate::format::Format;
use crate::lane::{self, IdKind, Op as LaneOp};
use crate::movement;
use crate::scalar::Binary;
use crate::tile::report::{self, Print};
use crate::tile::{Op, Value};
use smallvec::{SmallVec, smallvec};
use weft_layout::Layout;
use weft_layout::space::{LANE, REGISTER, WARP};
use weft_layout::step::Acting;

impl Lowerer<'_> {
    /// Every element is printed by the thread that holds it first; a scalar by the first thread.
    pub(super) fn print(&mut self, op: &Op, print: Print<'_>) -> Result<(), AssignError> {
        if op.operands.is_empty() {
            let first = self.first_thread();
            self.print_line(report::bare_line(print.prefix), first, &[], None);
        }
        for (index, &operand) in op.operands.iter().enumerate() {
            let line = report::line(self.kernel, &op.operands, index, print);
            if self.kernel.ty(operand).is_tensor() {
                self.print_tensor(operand, &line)?;
            } else {
                let first = self.first_thread();
                let scalar = self.scalar(operand);
                let value = self.printable(scalar, &line);
                self.print_line(line.format, first, &[], Some(value));
            }
        }
        Ok(())
    }

    fn print_tensor(&mut self, operand: Value, line: &report::Line) -> Result<(), AssignError> {
        let place = self.held_at(operand)?;
        let registers = self.get(operand, place)?;
        let layout = self.assignment.layouts.get(place).clone();
        let copies = layout.free_mask(REGISTER) as usize;
        let acting =
            Acting { idle_lanes: layout.free_mask(LANE), idle_warps: layout.free_mask(WARP) };
        let first = movement::takes_part(&mut self.build, acting);
        let first = first.unwrap_or_else(|| self.build.constant(DType::I1, 1));
        for (register, &value) in registers.iter().enumerate() {
            if register & copies == 0 {
                let index = self.coordinates(&layout, register as u64);
                let value = self.printable(value, line);
                self.print_line(line.format.clone(), first, &index, Some(value));
            }
        }
        Ok(())
    }

    /// The coordinates of a register's element, in the order in which they are written.
    fn coordinates(&mut self, layout: &Layout, register: u64) -> Vec<lane::Value> {
        let outs = layout.outs();
        let place = layout.apply_flat(register);
        let of = |label| {
            let part = |axis| -> Vec<u64> {
                layout.columns(axis).iter().map(|&column| outs.coordinate(label, column)).collect()
            };
            let thread = movement::thread_map(&mut self.build, &part(LANE), &part(WARP));
            let own = self.build.i32(outs.coordinate(label, place) as i32);
            self.build.binary(Binary::Xor, thread, own)
        };
        outs.coordinate_order().into_iter().map(of).collect()
    }

    /// An element as C's `printf` takes it.
    fn printable(&mut self, value: lane::Value, line: &report::Line) -> lane::Value {
        line.casts.iter().fold(value, |value, &(cast, to)| {
            // A pointer is a number here already.
            if self.build.dtype(value) == to { value } else { self.build.cast(cast, value, to) }
        })
    }

    fn print_line(
        &mut self,
        format: Format,
        predicate: lane::Value,
        index: &[lane::Value],
        value: Option<lane::Value>,
    ) {
        let mut operands: SmallVec<[lane::Value; 4]> = smallvec![predicate];
        for axis in 0..3 {
            operands.push(self.build.id(IdKind::Block(axis)));
        }
        operands.extend_from_slice(index);
        operands.extend(value);
        self.build.emit(LaneOp::Print(Box::new(format)), operands, &[]);
    }

    /// Each thread asserts what it holds of the condition.
    pub(super) fn assert(&mut self, op: &Op, message: &str) -> Result<(), AssignError> {
        let condition = op.operands[0];
        let mut holds = if self.kernel.ty(condition).is_tensor() {
            let place = self.held_at(condition)?;
            self.get(condition, place)?.to_vec()
        } else {
            vec![self.scalar(condition)]
        };
        // Pairs, then pairs of pairs: no long chain.
        while holds.len() > 1 {
            let pair = |pair: &[lane::Value]| match *pair {
                [a, b] => self.build.binary(Binary::And, a, b),
                _ => pair[0],
            };
            holds = holds.chunks(2).map(pair).collect();
        }
        let assertion = LaneOp::Assert { message: message.into() };
        self.build.emit(assertion, smallvec![holds[0]], &[]);
        Ok(())
    }
}
