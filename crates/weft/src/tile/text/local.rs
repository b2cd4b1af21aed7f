//! Operations on shared memory.

use super::Printer;
use crate::tile::{Op, OpKind};
use core::fmt::{self, Write};

impl Printer<'_, '_, '_> {
    /// An operation on shared memory.
    pub(super) fn local(&mut self, op: &Op) -> fmt::Result {
        let Op { kind, operands, results, .. } = op;
        let (first, result) = (self.ty(operands, 0), self.ty(results, 0));
        match kind {
            OpKind::LocalAlloc => {
                self.call("ttg.local_alloc", operands)?;
                self.function_type(operands, results)
            }
            OpKind::LocalLoad => {
                let (memory, token) = operands.split_at(operands.len().min(1));
                self.call("ttg.local_load", memory)?;
                if !token.is_empty() {
                    self.f.write_str(" token ")?;
                    self.operands(token)?;
                }
                write!(self.f, " : {first} -> {result}")
            }
            OpKind::LocalStore => {
                self.call("ttg.local_store", operands)?;
                write!(self.f, " : {first} -> {}", self.ty(operands, 1))
            }
            OpKind::LocalDealloc => {
                self.call("ttg.local_dealloc", operands)?;
                write!(self.f, " : {first}")
            }
            OpKind::MemdescIndex => {
                let (memory, index) = operands.split_at(operands.len().min(1));
                self.call("ttg.memdesc_index", memory)?;
                self.f.write_char('[')?;
                self.operands(index)?;
                write!(self.f, "] : {first} -> {result}")
            }
            OpKind::MemdescSubslice { offsets } => {
                self.converted("ttg.memdesc_subslice", op, &format!("{offsets:?}"))
            }
            OpKind::MemdescTrans { order } => {
                let order: Vec<_> = order.iter().map(ToString::to_string).collect();
                let order = format!(" {{order = array<i32: {}>}}", order.join(", "));
                self.converted("ttg.memdesc_trans", op, &order)
            }
            OpKind::MemdescReshape => self.converted("ttg.memdesc_reshape", op, ""),
            OpKind::MemdescReinterpret => self.converted("ttg.memdesc_reinterpret", op, ""),
            // Printed where its kind belongs.
            _ => Ok(()),
        }
    }
}
