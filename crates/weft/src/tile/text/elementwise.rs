//! Operations on elements with the same index.

use super::Printer;
use crate::scalar::Cast;
use crate::tile::spelling::{self, Spelling};
use crate::tile::{Element, Op, OpKind, Type};
use core::fmt;

impl Printer<'_, '_, '_> {
    /// An operation on elements with the same index.
    pub(super) fn elementwise(&mut self, op: &Op) -> fmt::Result {
        let Op { kind, operands, results, .. } = op;
        let (first, result) = (self.ty(operands, 0), self.ty(results, 0));
        match kind {
            OpKind::Unary(_) | OpKind::Binary(_) | OpKind::Fma => {
                let spelling = spelling::elementwise(kind, first.dtype());
                self.call(spelling.map_or("weft.untyped", |row: &Spelling| row.name), operands)?;
                write!(self.f, "{} : {first}", self.promised("", results))
            }
            OpKind::Function(_) | OpKind::Directed(..) => {
                self.call("tt.extern_elementwise", operands)?;
                let symbol = spelling::symbol(kind, first.dtype());
                write!(self.f, " {{libname = \"\", libpath = \"\", pure = true, symbol = ")?;
                write!(self.f, "\"{symbol}\"}}")?;
                self.function_type(operands, results)
            }
            OpKind::Compare(predicate) => {
                let (name, table) = if first.dtype().is_float() {
                    ("arith.cmpf", spelling::FLOAT_PREDICATES)
                } else {
                    ("arith.cmpi", spelling::INTEGER_PREDICATES)
                };
                let predicate = spelling::name_of(table, predicate).unwrap_or("untyped");
                write!(self.f, "{name} {predicate}, ")?;
                self.operands(operands)?;
                write!(self.f, "{} : {first}", self.promised("", results))
            }
            OpKind::Select => {
                self.call("arith.select", operands)?;
                self.f.write_str(&self.promised("", results))?;
                if first.is_tensor() {
                    write!(self.f, " : {first}, {result}")
                } else {
                    write!(self.f, " : {result}")
                }
            }
            OpKind::Cast(cast) => {
                let name = cast_name(*cast, &first, &result);
                self.call(name, operands)?;
                let to = if name.starts_with("arith.") { "to" } else { "->" };
                let rounding = match cast {
                    Cast::FloatToZero => ", rounding = rtz",
                    Cast::Float if name == "tt.fp_to_fp" && result.dtype().is_f8() => {
                        ", rounding = rtne"
                    }
                    _ => "",
                };
                let attributes = self.promised(rounding, results);
                write!(self.f, "{attributes} : {first} {to} {result}")
            }
            OpKind::AddPtr => {
                self.call("tt.addptr", operands)?;
                let attributes = self.promised("", results);
                write!(self.f, "{attributes} : {first}, {}", self.ty(operands, 1))
            }
            // Printed where its kind belongs.
            _ => Ok(()),
        }
    }
}

/// Triton's name for a conversion.
fn cast_name(cast: Cast, from: &Type, to: &Type) -> &'static str {
    let (narrow, wide) = (from.dtype().bits(), to.dtype().bits());
    match (cast, from.element, to.element) {
        (Cast::Float, ..) if from.dtype().is_f8() || to.dtype().is_f8() => "tt.fp_to_fp",
        (Cast::Float, ..) if narrow < wide => "arith.extf",
        (Cast::Float, ..) if narrow > wide => "arith.truncf",
        (Cast::Bits, Element::Pointer(_), Element::Pointer(_)) => "tt.bitcast",
        (Cast::Bits, Element::Pointer(_), _) => "tt.ptr_to_int",
        (Cast::Bits, _, Element::Pointer(_)) => "tt.int_to_ptr",
        (Cast::Bits, ..) if from.is_tensor() => "tt.bitcast",
        (Cast::Bits, ..) => "arith.bitcast",
        _ => spelling::elementwise(&OpKind::Cast(cast), from.dtype())
            .map_or("weft.untyped", |row| row.name),
    }
}
