//! Constants: numbers, and tensors of one number.

use super::lexer::TokenKind;
use super::parser::Parser;
use super::syntax::{Action, Operation, Parse};
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::scalar;
use crate::tile::{Element, OpKind, Type};

impl<'a> Parser<'a> {
    pub(super) fn constant(&mut self, start: Span) -> Parse<Operation<'a>> {
        if self.at(b'{') {
            self.attributes()?;
        }
        let (bits, ty) = self.constant_value()?;
        Ok(self.constant_of(bits, ty, start))
    }

    /// `"arith.constant"() <{value = 1 : i32}> : () -> i32`
    pub(super) fn generic_constant(&mut self, start: Span) -> Parse<Operation<'a>> {
        self.expect(b'(')?;
        self.expect(b')')?;
        self.expect(b'<')?;
        self.expect(b'{')?;
        self.expect_word("value")?;
        self.expect(b'=')?;
        let (bits, ty) = self.constant_value()?;
        self.expect(b'}')?;
        self.expect(b'>')?;
        self.expect(b':')?;
        let span = self.token.span;
        let (operands, results) = self.function_type()?;
        if !operands.is_empty() || results != [ty.clone()] {
            let message = format!("a constant `{ty}` has the type `() -> {ty}`");
            return Err(Diagnostic::new(self.since(span), message));
        }
        Ok(self.constant_of(bits, ty, start))
    }

    fn constant_of(&self, bits: u64, ty: Type, start: Span) -> Operation<'a> {
        let action = Action::Do(OpKind::Constant(bits));
        Operation { result_types: vec![ty], ..Operation::new(action, self.since(start)) }
    }

    /// `1.0 : f32`, `true`, `dense<0> : tensor<4xi32>`.
    fn constant_value(&mut self) -> Parse<(u64, Type)> {
        let dense = self.eat_word("dense");
        if dense {
            self.expect(b'<')?;
        }
        let span = self.token.span;
        let number = self.number()?;
        let span = self.since(span);
        if dense {
            self.expect(b'>')?;
        }
        let ty = if self.eat(b':') {
            self.ty()?
        } else if matches!(number, Number::Bool(_)) && !dense {
            Type::scalar(DType::I1)
        } else {
            return self.expected("`:` and the constant's type");
        };
        if dense != ty.is_tensor() {
            let message = if dense {
                format!("`dense` makes tensors, not `{ty}`")
            } else {
                format!("a constant `{ty}` is written `dense<…>`")
            };
            return Err(Diagnostic::new(span, message));
        }
        match ty.element {
            Element::Scalar(dtype) => Ok((number.bits(dtype, span)?, ty)),
            Element::Pointer(_) => Err(Diagnostic::new(span, "there are no constant pointers")),
            Element::Token => Err(Diagnostic::new(span, "there are no constant tokens")),
            Element::Descriptor(_) => {
                Err(Diagnostic::new(span, "there are no constant descriptors"))
            }
        }
    }

    fn number(&mut self) -> Parse<Number> {
        let negative = self.eat(b'-');
        let text = self.text();
        let number = match self.token.kind {
            TokenKind::Word if !negative && matches!(text, "true" | "false") => {
                self.bump();
                Number::Bool(text == "true")
            }
            TokenKind::Integer => {
                let value = self.integer()?;
                let value = if negative { -value } else { value };
                Number::Integer { value, hexadecimal: text.starts_with("0x") }
            }
            TokenKind::Float => {
                let Ok(value) = text.parse::<f64>() else {
                    return self.expected("a number");
                };
                self.bump();
                Number::Float(if negative { -value } else { value })
            }
            TokenKind::Mark(b'[') => {
                let message = "constants whose elements differ are not read";
                return Err(Diagnostic::new(self.token.span, message)
                    .with_hint("one number stands for all elements: `dense<0>`"));
            }
            _ => return self.expected("a number, `true`, `false` or `dense<…>`"),
        };
        Ok(number)
    }
}

/// A number as it is written.
enum Number {
    Bool(bool),
    Integer { value: i128, hexadecimal: bool },
    Float(f64),
}

impl Number {
    /// The raw bits of the number as an element of `dtype`.
    fn bits(&self, dtype: DType, span: Span) -> Parse<u64> {
        let fits = |ok: bool, bits: u64| {
            if ok {
                Ok(bits)
            } else {
                Err(Diagnostic::new(span, format!("this number does not fit `{dtype}`")))
            }
        };
        match *self {
            Number::Bool(value) if dtype == DType::I1 => Ok(u64::from(value)),
            Number::Integer { value, hexadecimal } if hexadecimal || dtype.is_int() => {
                let negative_limit = if dtype.is_int() { 1i128 << (dtype.bits() - 1) } else { 0 };
                let range = -negative_limit..=i128::from(dtype.mask());
                fits(range.contains(&value), value as u64 & dtype.mask())
            }
            Number::Float(value) if dtype.is_float() => {
                let bits = scalar::from_f64(dtype, value);
                fits(scalar::to_f64(dtype, bits).is_finite(), bits)
            }
            Number::Integer { .. } => {
                let error = Diagnostic::new(span, format!("an integer is no `{dtype}`"));
                Err(error.with_hint("write `1.0`, or the bits as `0x3F800000`"))
            }
            Number::Bool(_) | Number::Float(_) => {
                Err(Diagnostic::new(span, format!("this is no `{dtype}`")))
            }
        }
    }
}
