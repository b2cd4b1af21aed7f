//! Conversions and bits under another type, by their names.

use super::ROUNDINGS;
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare, Directed, Rounding, Unary};
use crate::tile::{OpKind, Value, WriteOps};
use crate::ttir::rewrite::Rewriter;

/// The types in the names of conversions, and whether they have a sign.
const NAMED: &[(&str, DType, bool)] = &[
    ("float", DType::F32, true),
    ("double", DType::F64, true),
    ("int", DType::I32, true),
    ("uint", DType::I32, false),
    ("ll", DType::I64, true),
    ("ull", DType::I64, false),
    ("longlong", DType::I64, true),
];

impl Rewriter<'_, '_, '_> {
    /// The conversions that are named `A2B_rz` and `A_as_B`.
    pub(super) fn converted(&mut self, name: &str, operands: &[Value]) -> Option<Value> {
        let &[x] = operands else { return None };
        let named = |name: &str| NAMED.iter().find(|row| row.0 == name);
        if let Some((from, to)) = name.split_once("_as_") {
            let ((_, from, _), (_, to, _)) = (named(from)?, named(to)?);
            let fits = self.ty(x).dtype() == *from && from.bits() == to.bits();
            return fits.then(|| self.cast(Cast::Bits, x, *to));
        }
        let (from, rest) = name.split_once('2')?;
        let (_, rounding) = ROUNDINGS.iter().find(|(ending, _)| rest.ends_with(ending))?;
        let to = named(rest.rsplit_once('_')?.0)?;
        let ((_, from, signed), (_, to, to_signed)) = (named(from)?, to);
        if self.ty(x).dtype() != *from {
            return None;
        }
        match (from.is_float(), to.is_float(), rounding) {
            (true, true, None) => Some(self.cast(Cast::Float, x, *to)),
            (true, true, Some(rounding)) if from.bits() > to.bits() => {
                Some(self.narrowed(x, *rounding))
            }
            (false, true, None) => {
                let cast = if *signed { Cast::FloatFromS } else { Cast::FloatFromU };
                Some(self.cast(cast, x, *to))
            }
            (false, true, Some(rounding)) => {
                Some(self.integer_to_float(x, *signed, *to, *rounding))
            }
            (true, false, _) => {
                let op = match rounding {
                    None => Unary::Nearest,
                    Some(Rounding::Zero) => Unary::Trunc,
                    Some(Rounding::Down) => Unary::Floor,
                    Some(Rounding::Up) => Unary::Ceil,
                };
                let ty = self.ty(x);
                let whole = self.one(OpKind::Unary(op), &[x], &ty);
                let cast = if *to_signed { Cast::SFromFloat } else { Cast::UFromFloat };
                Some(self.cast(cast, whole, *to))
            }
            _ => None,
        }
    }

    /// An integer of 32 or 64 bits as an f32 or f64, rounded as told.
    pub(in crate::ttir) fn integer_to_float(
        &mut self,
        x: Value,
        signed: bool,
        to: DType,
        rounding: Rounding,
    ) -> Value {
        let wide = self.integer_to_f64(x, signed, rounding);
        // What rounds twice in one direction has rounded once.
        if to == DType::F64 { wide } else { self.narrowed(wide, rounding) }
    }

    /// An f64 as the f32 on one side: toward zero, and one further where that is the wrong one.
    pub(in crate::ttir) fn narrowed(&mut self, x: Value, rounding: Rounding) -> Value {
        let ty = self.ty(x);
        let single = ty.with_element(crate::tile::Element::Scalar(DType::F32));
        let inner = self.one(OpKind::Cast(Cast::FloatToZero), &[x], &single);
        let wrong = match rounding {
            Rounding::Zero => return inner,
            Rounding::Down => Compare::Ogt,
            Rounding::Up => Compare::Olt,
        };
        let back = self.cast(Cast::Float, inner, DType::F64);
        let wrong = self.compare(wrong, back, x);
        // Away from zero the bits count up; what vanished has the number's sign.
        let bits = self.cast(Cast::Bits, inner, DType::I32);
        let further = self.with_number(Binary::Add, bits, 1);
        let further = self.cast(Cast::Bits, further, DType::F32);
        self.select(wrong, further, inner)
    }

    /// An integer as an f64, of which only those of 64 bits need rounding: the sum of its halves.
    fn integer_to_f64(&mut self, x: Value, signed: bool, rounding: Rounding) -> Value {
        let cast = if signed { Cast::FloatFromS } else { Cast::FloatFromU };
        if self.ty(x).dtype() != DType::I64 {
            return self.cast(cast, x, DType::F64);
        }
        let shift = if signed { Binary::ShrS } else { Binary::ShrU };
        let high = self.with_number(shift, x, 32);
        let high = self.cast(cast, high, DType::F64);
        let low = self.with_number(Binary::And, x, 0xffff_ffff);
        let low = self.cast(Cast::FloatFromU, low, DType::F64);
        let ty = self.ty(high);
        let factor = self.float(&ty, 2f64.powi(32));
        self.directed(Directed::Fma, rounding, &[high, factor, low])
    }
}
