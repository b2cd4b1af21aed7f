//! Prints and assertions.
//!
//! ```text
//! tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<8xi32>
//! tt.assert %0, "x is positive" : tensor<8xi1>
//! ```

use super::attribute::Attribute;
use super::lexer::TokenKind;
use super::location::unescape;
use super::parser::Parser;
use super::syntax::{Action, Operation, Parse};
use super::table::{Details, Types};
use crate::diagnostic::{Diagnostic, Span};
use crate::tile::OpKind;

impl<'a> Parser<'a> {
    /// A print, from its text on.
    pub(super) fn print(&mut self, mut details: Details<'a>, start: Span) -> Parse<Operation<'a>> {
        let prefix = self.string()?;
        if self.at(b'{') {
            let attributes = self.attributes()?;
            details.attributes.extend(attributes);
        }
        let hex = details.attributes.take_bool("hex")?;
        let signed = match details.attributes.take("isSigned") {
            Some((Attribute::Integers(signs), _)) => signs.iter().map(|&sign| sign != 0).collect(),
            None => Vec::new(),
            // A list of none.
            Some((Attribute::Other | Attribute::Unit, _)) => Vec::new(),
            Some((_, span)) => {
                return Err(Diagnostic::new(span, "signs are a list, `array<i32: 1, 0>`"));
            }
        };
        details.attributes.finish(details.name)?;
        let mut operation = Operation::new(Action::Broken, start);
        if self.eat(b':') {
            operation.operands.push(self.value()?);
            while self.eat(b',') {
                operation.operands.push(self.value()?);
            }
            self.types(Types::Operands, details.name, &mut operation)?;
        }
        operation.span = self.since(start);
        operation.action = Action::Do(OpKind::Print { prefix, hex, signed });
        Ok(operation)
    }

    /// An assertion, from its condition on.
    pub(super) fn assert(&mut self, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Broken, start);
        operation.operands.push(self.value()?);
        self.expect(b',')?;
        let message = self.string()?;
        if self.at(b'{') {
            self.attributes()?;
        }
        self.types(Types::Operands, "tt.assert", &mut operation)?;
        operation.span = self.since(start);
        operation.action = Action::Do(OpKind::Assert { message });
        Ok(operation)
    }

    fn string(&mut self) -> Parse<String> {
        if self.token.kind != TokenKind::String {
            return self.expected("a text in quotes");
        }
        let text = unescape(self.text());
        self.bump();
        Ok(text)
    }
}
