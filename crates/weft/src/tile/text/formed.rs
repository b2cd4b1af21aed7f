//! Operations whose text is told once for both ways.

use super::{Printer, cache_policy};
use crate::cache::Cache;
use crate::tile::form::{Form, Operand};
use crate::tile::{Op, Value};
use core::fmt::{self, Write as _};

/// The text of an operation, as far as it is written.
struct Written<'p, 'o, 'a, 'f, 'g> {
    printer: &'p mut Printer<'a, 'f, 'g>,
    op: &'o Op,
    /// The operands that come next.
    rest: &'o [Value],
    /// What those before them are.
    told: Vec<Operand>,
    /// Attributes that are still to be written.
    attributes: Vec<String>,
}

impl Printer<'_, '_, '_> {
    /// An operation that is told so.
    pub(super) fn formed(&mut self, op: &Op) -> fmt::Result {
        let (told, attributes) = (Vec::new(), Vec::new());
        let mut written = Written { printer: self, op, rest: &op.operands, told, attributes };
        op.kind.clone().text(&mut written)
    }
}

impl<'o> Written<'_, 'o, '_, '_, '_> {
    fn next(&mut self, operands: &[Operand]) -> &'o [Value] {
        let (next, rest) = self.rest.split_at(operands.len().min(self.rest.len()));
        self.rest = rest;
        self.told.extend(operands);
        next
    }

    /// Types with arrows between them, each as it is to be written.
    fn arrows(&mut self, of: &[Operand], write: fn(Operand, &str) -> &str) -> fmt::Result {
        self.attributes()?;
        for (index, &operand) in of.iter().enumerate() {
            let place = self.told.iter().position(|&told| told == operand);
            // What is no operand is what it gives.
            let ty = match place {
                Some(at) => self.printer.ty(&self.op.operands, at),
                None => self.printer.ty(&self.op.results, 0),
            };
            let (word, ty) = (if index == 0 { " : " } else { " -> " }, ty.to_string());
            write!(self.printer.f, "{word}{}", write(operand, &ty))?;
        }
        Ok(())
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
        let next = self.next(operands);
        self.printer.call("", next)
    }

    fn behind(&mut self, word: &str, operand: Operand, is_there: Option<&mut bool>) -> fmt::Result {
        if !is_there.map_or(!self.rest.is_empty(), |is_there| *is_there) {
            return Ok(());
        }
        let next = self.next(&[operand]);
        self.printer.call(&format!(" {word}"), next)
    }

    fn further(&mut self, word: Option<&str>, operand: Operand) -> fmt::Result {
        let rest = self.next(&vec![operand; self.rest.len()]);
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

    fn index(&mut self, operand: Operand) -> fmt::Result {
        let next = self.next(&[operand]);
        self.printer.f.write_char('[')?;
        self.printer.operands(next)?;
        self.printer.f.write_char(']')
    }

    fn offsets(&mut self, offsets: &mut Vec<u64>) -> fmt::Result {
        write!(self.printer.f, "{offsets:?}")
    }

    fn order(&mut self, order: &mut Vec<u8>) -> fmt::Result {
        let order: Vec<_> = order.iter().map(ToString::to_string).collect();
        self.attributes.push(format!("order = array<i32: {}>", order.join(", ")));
        Ok(())
    }

    fn ignored(&mut self, _: &[&str]) -> fmt::Result {
        Ok(())
    }

    fn types(&mut self, of: &[Operand]) -> fmt::Result {
        self.arrows(of, |_, ty| ty)
    }

    fn short_types(&mut self, of: &[Operand]) -> fmt::Result {
        self.arrows(of, |operand, ty| match operand {
            Operand::Memory => ty.trim_start_matches("!ttg.memdesc"),
            _ => ty,
        })
    }

    fn gives(&mut self, _: Option<Operand>) -> fmt::Result {
        self.attributes()
    }

    fn function(&mut self, _: Operand) -> fmt::Result {
        self.attributes()?;
        self.printer.function_type(&self.op.operands, &self.op.results)
    }
}
