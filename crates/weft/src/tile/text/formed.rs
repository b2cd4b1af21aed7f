//! Operations whose text is told once for both ways.

use super::{Printer, cache_policy};
use crate::cache::Cache;
use crate::tile::form::{Form, Operand};
use crate::tile::{Op, Value};
use core::fmt;

/// The text of an operation, as far as it is written.
struct Written<'p, 'o, 'a, 'f, 'g> {
    printer: &'p mut Printer<'a, 'f, 'g>,
    op: &'o Op,
    /// The operands that come next.
    rest: &'o [Value],
    /// Attributes that are still to be written.
    attributes: Vec<String>,
}

impl Printer<'_, '_, '_> {
    /// An operation that is told so.
    pub(super) fn formed(&mut self, op: &Op) -> fmt::Result {
        let attributes = Vec::new();
        let mut written = Written { printer: self, op, rest: &op.operands, attributes };
        op.kind.clone().text(&mut written)
    }
}

impl<'o> Written<'_, 'o, '_, '_, '_> {
    fn next(&mut self, count: usize) -> &'o [Value] {
        let (next, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        next
    }

    fn attributes(&mut self) -> fmt::Result {
        if self.attributes.is_empty() {
            return Ok(());
        }
        let attributes = core::mem::take(&mut self.attributes).join(", ");
        write!(self.printer.f, " {{{attributes}}}")
    }
}

impl Form for Written<'_, '_, '_, '_, '_> {
    type Error = fmt::Error;

    fn begins(&mut self, name: &str) -> fmt::Result {
        self.printer.f.write_str(name)
    }

    fn operands(&mut self, operands: &[Operand]) -> fmt::Result {
        let next = self.next(operands.len());
        self.printer.call("", next)
    }

    fn behind(&mut self, word: &str, _: Operand, is_there: Option<&mut bool>) -> fmt::Result {
        if !is_there.map_or(!self.rest.is_empty(), |is_there| *is_there) {
            return Ok(());
        }
        let next = self.next(1);
        self.printer.call(&format!(" {word}"), next)
    }

    fn further(&mut self, word: Option<&str>, _: Operand) -> fmt::Result {
        let rest = self.next(self.rest.len());
        let word = word.filter(|_| !rest.is_empty());
        self.printer.call(&word.map_or_else(String::new, |word| format!(" {word}")), rest)
    }

    fn cache(&mut self, cache: &mut Cache) -> fmt::Result {
        self.attributes.extend(cache_policy(*cache));
        Ok(())
    }

    fn truth(&mut self, name: &str, holds: &mut bool) -> fmt::Result {
        self.attributes.extend(holds.then(|| format!("{name} = true")));
        Ok(())
    }

    fn number(&mut self, name: &str, number: &mut u32) -> fmt::Result {
        self.attributes.push(format!("{name} = {number} : i32"));
        Ok(())
    }

    fn types(&mut self, of: [Operand; 2]) -> fmt::Result {
        self.attributes()?;
        let mut words = [" : ", " -> "].into_iter();
        for ((at, operand), word) in of.into_iter().enumerate().zip(&mut words) {
            let ty = self.printer.ty(&self.op.operands, at).to_string();
            let ty = match operand {
                Operand::Memory => ty.trim_start_matches("!ttg.memdesc"),
                _ => &ty,
            };
            write!(self.printer.f, "{word}{ty}")?;
        }
        Ok(())
    }

    fn gives(&mut self, _: Operand) -> fmt::Result {
        self.attributes()
    }
}
