//! `tt.dot_scaled`: a product of numbers of few bits, of which a group along the summed axis shares a
//! scale.
//!
//! The formats are those of the Open Compute Project's MX specification. Each factor is widened to
//! bf16 (f16 where a factor is f16), multiplied by its scale, and given to `dot`:
//!
//! * a number of four bits, two in a byte with the first in the low half, is a sign, two bits of
//!   exponent with bias 1 and one of mantissa: put where bf16 has them, it needs only its bias;
//! * a scale of eight bits is an exponent alone, with bf16's own bias; 255 is NaN, unless the
//!   operation promises that there is none.

use super::parser::Parser;
use super::rewrite::Rewriter;
use super::syntax::{Action, Operation, Parse};
use super::table::Details;
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{OpKind, Precision, Type, Value};

/// How the numbers of a factor are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    /// The tensor's own elements are floats.
    Floats,
    /// Four bits, two in a byte.
    E2M1,
}

/// What `tt.dot_scaled` says besides its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scaled {
    /// Whether the left and the right factor have a scale.
    has_scale: [bool; 2],
    formats: [Format; 2],
    /// Whether two numbers of four bits in a byte are neighbours along the summed axis.
    packed_along_k: [bool; 2],
    /// Whether no scale is NaN.
    fast: bool,
}

impl<'a> Parser<'a> {
    /// `%a scale %s, %b scale %t, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : A, S * B, T -> C`
    pub(super) fn dot_scaled(
        &mut self,
        mut details: Details<'a>,
        start: Span,
    ) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Broken, start);
        let mut has_scale = [false; 2];
        for scale in &mut has_scale {
            operation.operands.push(self.value()?);
            *scale = self.eat_word("scale");
            if *scale {
                operation.operands.push(self.value()?);
            }
            self.expect(b',')?;
        }
        operation.operands.push(self.value()?);
        let formats = [self.format("lhs")?, self.format("rhs")?];
        if self.at(b'{') {
            details.attributes.extend(self.attributes()?);
        }
        self.expect(b':')?;
        for (scale, end) in has_scale.into_iter().zip([b'*', b'-']) {
            operation.operand_types.push(self.ty()?);
            if scale {
                self.expect(b',')?;
                operation.operand_types.push(self.ty()?);
            }
            if end == b'*' {
                self.expect(b'*')?;
            }
        }
        self.expect_arrow()?;
        let result = self.ty()?;
        operation.operand_types.push(result.clone());
        operation.result_types = vec![result];
        operation.span = self.since(start);
        let mut flag = |name: &str, otherwise: bool| {
            let given = details.attributes.has(name);
            let value = details.attributes.take_bool(name)?;
            Ok(if given { value } else { otherwise })
        };
        let fast = flag("fastMath", false)?;
        let packed_along_k = [flag("lhs_k_pack", true)?, flag("rhs_k_pack", true)?];
        details.attributes.finish(details.name)?;
        operation.action = Action::DotScaled(Scaled { has_scale, formats, packed_along_k, fast });
        Ok(operation)
    }

    /// Reads the format of one side, `lhs = e4m3`.
    fn format(&mut self, side: &str) -> Parse<Format> {
        self.expect_word(side)?;
        self.expect(b'=')?;
        let (word, span) = self.take(super::lexer::TokenKind::Word, "a format such as `e4m3`")?;
        match word {
            "e4m3" | "e5m2" | "bf16" | "fp16" => Ok(Format::Floats),
            "e2m1" => Ok(Format::E2M1),
            _ => Err(Diagnostic::new(span, format!("the format `{word}` is not supported"))
                .with_hint("there are e4m3, e5m2, e2m1, bf16, fp16")),
        }
    }
}

impl Rewriter<'_, '_, '_> {
    /// The product as a `dot` of widened and scaled factors.
    pub(super) fn dot_scaled(&mut self, scaled: Scaled, operands: &[Value]) -> Option<Value> {
        let mut rest = operands.iter().copied();
        let mut factors = Vec::new();
        for has_scale in scaled.has_scale {
            let factor = rest.next()?;
            factors.push((factor, if has_scale { Some(rest.next()?) } else { None }));
        }
        let sum = rest.next()?;
        let is_half = |&(factor, _): &(Value, Option<Value>)| self.ty(factor).dtype() == DType::F16;
        let wide = if factors.iter().any(is_half) { DType::F16 } else { DType::BF16 };
        let mut widened = Vec::new();
        for (side, &(factor, scale)) in factors.iter().enumerate() {
            // The left factor lies as it is scaled: the summed axis last. The right one is turned.
            let factor = if side == 1 { self.matrix(factor)? } else { factor };
            let mut numbers = match scaled.formats[side] {
                Format::E2M1 => self.nibbles(factor, scaled.packed_along_k[side], wide)?,
                Format::Floats => self.floats(factor, wide)?,
            };
            if let Some(scale) = scale {
                let scale = self.scale(scale, numbers, wide, scaled.fast)?;
                numbers = self.binary(Binary::Mul, numbers, scale);
            }
            widened.push(if side == 1 { self.transposed(numbers) } else { numbers });
        }
        let result = self.ty(sum);
        Some(self.one(OpKind::Dot(Precision::Ieee), &[widened[0], widened[1], sum], &result))
    }

    /// `ttg.fp4_to_fp`: numbers of four bits, of which each byte holds two neighbours along an axis.
    pub(super) fn fp4_to_fp(&mut self, bytes: Value, axis: u8) -> Option<Value> {
        let rank = self.ty(bytes).shape.len();
        let from_last = rank.checked_sub(1 + usize::from(axis));
        let wide = self.operation.result_types.first().map(Type::dtype);
        match (from_last, wide) {
            (Some(0 | 1), Some(wide @ (DType::F16 | DType::BF16))) => {
                self.nibbles(bytes, from_last == Some(0), wide)
            }
            _ => self.refuse("`ttg.fp4_to_fp` gives f16 or bf16 along one of the last two axes"),
        }
    }

    /// A matrix transposed, or many.
    fn matrix(&mut self, factor: Value) -> Option<Value> {
        if self.ty(factor).shape.len() < 2 {
            return self.refuse("the factors of `tt.dot_scaled` are matrices");
        }
        Some(self.transposed(factor))
    }

    fn floats(&mut self, factor: Value, wide: DType) -> Option<Value> {
        let from = self.ty(factor).dtype();
        if !from.is_float() || from.bits() > 16 {
            return self.refuse(format!(
                "`tt.dot_scaled` takes a factor of 8 or 16-bit floats in this format, not {from}"
            ));
        }
        Some(self.cast(Cast::Float, factor, wide))
    }

    /// The numbers of four bits in a tensor of bytes.
    fn nibbles(&mut self, bytes: Value, along_k: bool, wide: DType) -> Option<Value> {
        let ty = self.ty(bytes);
        if ty.dtype() != DType::I8 || ty.shape.len() < 2 {
            return self.refuse(format!("numbers of four bits come in pairs in i8, not in `{ty}`"));
        }
        // The axis along which bytes hold neighbours comes last.
        let bytes = if along_k { bytes } else { self.transposed(bytes) };
        let bits = self.cast(Cast::ExtU, bytes, DType::I16);
        let low = self.nibble(bits, wide);
        let upper = self.with_number(Binary::ShrU, bits, 4);
        let high = self.nibble(upper, wide);
        let numbers = self.interleaved(low, high);
        Some(if along_k { numbers } else { self.transposed(numbers) })
    }

    /// The low four bits as a float.
    fn nibble(&mut self, bits: Value, wide: DType) -> Value {
        // Where the mantissa ends, and what is between the two biases.
        let (shift, bias) = if wide == DType::F16 { (9, 14) } else { (6, 126) };
        let magnitude = self.with_number(Binary::And, bits, 7);
        let magnitude = self.with_number(Binary::Shl, magnitude, shift);
        let sign = self.with_number(Binary::And, bits, 8);
        let sign = self.with_number(Binary::Shl, sign, 12);
        let both = self.binary(Binary::Or, magnitude, sign);
        let float = self.cast(Cast::Bits, both, wide);
        let ty = self.ty(float);
        let factor = self.float(&ty, 2f64.powi(bias));
        self.binary(Binary::Mul, float, factor)
    }

    /// The scale of each of `numbers`.
    fn scale(&mut self, scale: Value, numbers: Value, wide: DType, fast: bool) -> Option<Value> {
        let (from, to) = (self.ty(scale), self.ty(numbers));
        let groups = match (&from.shape[..], &to.shape[..]) {
            ([outer @ .., groups], [wanted @ .., all]) if outer == wanted && groups <= all => {
                *groups
            }
            _ => {
                return self.refuse(format!(
                    "a scale of type `{from}` does not scale groups of {} numbers",
                    to.elements()
                ));
            }
        };
        let each = to.shape.last()? / groups;
        let small = match from.dtype() {
            DType::I8 => {
                let exponent = self.cast(Cast::ExtU, scale, DType::I16);
                let bits = self.with_number(Binary::Shl, exponent, 7);
                let power = self.cast(Cast::Bits, bits, DType::BF16);
                let power = if fast {
                    power
                } else {
                    let ty = self.ty(power);
                    let (nan, none) = (self.float(&ty, f64::NAN), self.constant(&from, 0xff));
                    let is_nan = self.compare(Compare::Eq, scale, none);
                    self.select(is_nan, nan, power)
                };
                self.cast(Cast::Float, power, wide)
            }
            DType::F8E4M3FN => self.cast(Cast::Float, scale, wide),
            other => {
                return self.refuse(format!("a scale is an i8 or an f8E4M3FN, not an {other}"));
            }
        };
        let mut shape = from.shape.to_vec();
        shape.push(1);
        let column = Type::tensor(self.ty(small).element, &shape);
        let axis = shape.len() as u8 - 1;
        let column = self.one(OpKind::ExpandDims { axis }, &[small], &column);
        if let Some(last) = shape.last_mut() {
            *last = each;
        }
        let repeated = self.broadcast(column, &shape);
        Some(self.reshape(repeated, &to.shape))
    }
}
