//! `tt.dot_scaled`, a product of numbers of few bits of which a group along the summed axis shares a scale, and
//! `ttg.fp4_to_fp`.

use super::parser::Parser;
use super::rewrite::Rewriter;
use super::syntax::{Action, Operation, Parse};
use super::table::Details;
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::scaled;
use crate::tile::{OpKind, ScaledDot, ScaledFactor, Type, Value, WriteOps};

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
        let packed = [self.is_packed("lhs")?, self.is_packed("rhs")?];
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
        let along_summed = [flag("lhs_k_pack", true)?, flag("rhs_k_pack", true)?];
        details.attributes.finish(details.name)?;
        let factors = [0, 1].map(|side| {
            if packed[side] {
                ScaledFactor::Pairs { along_summed: along_summed[side] }
            } else {
                ScaledFactor::Floats
            }
        });
        operation.action = Action::Do(OpKind::DotScaled(ScaledDot { factors, has_scale, fast }));
        Ok(operation)
    }

    /// Whether the numbers of one side are pairs in bytes: reads its format, `lhs = e4m3`.
    fn is_packed(&mut self, side: &str) -> Parse<bool> {
        self.expect_word(side)?;
        self.expect(b'=')?;
        let (word, span) = self.take(super::lexer::TokenKind::Word, "a format such as `e4m3`")?;
        match word {
            "e4m3" | "e5m2" | "bf16" | "fp16" => Ok(false),
            "e2m1" => Ok(true),
            _ => Err(Diagnostic::new(span, format!("the format `{word}` is not supported"))
                .with_hint("there are e4m3, e5m2, e2m1, bf16, fp16")),
        }
    }
}

impl Rewriter<'_, '_, '_> {
    /// `ttg.fp4_to_fp`: numbers of four bits, of which each byte holds two neighbours along an axis.
    pub(super) fn fp4_to_fp(&mut self, bytes: Value, axis: u8) -> Option<Value> {
        let ty = self.ty(bytes);
        let from_last = ty.shape.len().checked_sub(1 + usize::from(axis));
        let wide = self.operation.result_types.first().map(Type::dtype);
        match (from_last, wide) {
            (Some(0 | 1), Some(wide @ (DType::F16 | DType::BF16)))
                if ty.dtype() == DType::I8 && ty.shape.len() >= 2 =>
            {
                Some(scaled::nibbles(self, bytes, from_last == Some(0), wide))
            }
            (Some(0 | 1), Some(DType::F16 | DType::BF16)) => {
                self.refuse(format!("numbers of four bits come in pairs in i8, not in `{ty}`"))
            }
            _ => self.refuse("`ttg.fp4_to_fp` gives f16 or bf16 along one of the last two axes"),
        }
    }
}
