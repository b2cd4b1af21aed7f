//! Operations on shared memory.

use super::{Printer, cache_policy};
use crate::tile::{CopyOptions, Op, OpKind};
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
            OpKind::AsyncCopy(options) => self.async_copy(*options, op),
            OpKind::AsyncCommit => {
                self.f.write_str("ttg.async_commit_group")?;
                self.call(if operands.is_empty() { "" } else { " tokens" }, operands)
            }
            OpKind::AsyncWait { pending } => {
                self.call("ttg.async_wait", operands)?;
                write!(self.f, " {{num = {pending} : i32}}")
            }
            // Printed where its kind belongs.
            _ => Ok(()),
        }
    }

    fn async_copy(&mut self, options: CopyOptions, op: &Op) -> fmt::Result {
        let (places, rest) = op.operands.split_at(op.operands.len().min(2));
        self.call("ttg.async_copy_global_to_local", places)?;
        let (mask, other) = rest.split_at(usize::from(options.masked).min(rest.len()));
        for (word, values) in [("mask", mask), ("other", other)] {
            if !values.is_empty() {
                write!(self.f, " {word} ")?;
                self.operands(values)?;
            }
        }
        let volatile = options.volatile.then(|| "isVolatile = true".to_string());
        let attributes: Vec<_> = cache_policy(options.cache).into_iter().chain(volatile).collect();
        if !attributes.is_empty() {
            write!(self.f, " {{{}}}", attributes.join(", "))?;
        }
        let memory = self.ty(places, 1).to_string();
        let memory = memory.trim_start_matches("!ttg.memdesc");
        write!(self.f, " : {} -> {memory}", self.ty(places, 0))
    }
}
