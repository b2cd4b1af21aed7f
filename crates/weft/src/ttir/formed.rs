//! Operations whose text is told once for both ways.

use super::lexer::TokenKind;
use super::parser::Parser;
use super::syntax::{Action, Operation, Parse};
use super::table::Details;
use crate::cache::Cache;
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::tile::form::{Form, Operand};
use crate::tile::{Element, OpKind, Type};

/// The text of an operation, as far as it is read.
struct Reading<'p, 'a> {
    parser: &'p mut Parser<'a>,
    details: Details<'a>,
    operation: Operation<'a>,
    /// What each of its operands is.
    operands: Vec<Operand>,
    /// The types that were told.
    types: Vec<(Operand, Type)>,
    /// Whether the attributes have been read.
    has_attributes: bool,
}

impl<'a> Parser<'a> {
    /// An operation that is told so, from behind its name; `kind` is one that has the name.
    pub(super) fn formed(
        &mut self,
        mut kind: OpKind,
        details: Details<'a>,
        start: Span,
    ) -> Parse<Operation<'a>> {
        let operation = Operation::new(Action::Broken, start);
        let mut reading = Reading {
            parser: self,
            details,
            operation,
            operands: Vec::new(),
            types: Vec::new(),
            has_attributes: false,
        };
        kind.text(&mut reading)?;
        let Reading { mut operation, details, .. } = reading;
        operation.span = self.since(start);
        super::forms::check_types(details.name, &operation, operation.span)?;
        details.attributes.finish(details.name)?;
        operation.action = Action::Do(kind);
        Ok(operation)
    }
}

impl Reading<'_, '_> {
    /// Reads the attributes, where they have not been read yet.
    fn attributes(&mut self) -> Parse<()> {
        if core::mem::replace(&mut self.has_attributes, true) {
            return Ok(());
        }
        while self.parser.at_word("cacheModifier") || self.parser.at_word("evictionPolicy") {
            let (word, span) = self.parser.take(TokenKind::Word, "a word")?;
            self.parser.expect(b'=')?;
            let value = self.parser.attribute(0)?;
            self.details.attributes.add(word, value, self.parser.since(span));
        }
        if self.parser.at(b'{') {
            let attributes = self.parser.attributes()?;
            self.details.attributes.extend(attributes);
        }
        Ok(())
    }

    fn operand(&mut self, operand: Operand) -> Parse<()> {
        self.operation.operands.push(self.parser.value()?);
        self.operands.push(operand);
        Ok(())
    }

    /// The type that was told of an operand.
    fn told(&self, operand: Operand) -> Option<&Type> {
        self.types.iter().find(|(known, _)| *known == operand).map(|(_, ty)| ty)
    }

    /// The type of an operand or result, which is told or follows from others.
    fn ty(&self, operand: Operand) -> Option<Type> {
        let pointers = self.told(Operand::Pointers);
        match operand {
            Operand::Pointers | Operand::Memory | Operand::View | Operand::Tensor => {
                self.told(operand).cloned()
            }
            Operand::Index => Some(Type::scalar(DType::I32)),
            Operand::Mask => pointers.map(|ty| ty.with_element(Element::Scalar(DType::I1))),
            Operand::Other => {
                let memory = self.told(Operand::Memory)?;
                pointers.map(|ty| ty.with_element(memory.element))
            }
            Operand::Token => Some(Type::single(Element::Token)),
        }
    }
}

impl Form for Reading<'_, '_> {
    type Error = Diagnostic;

    fn begins(&mut self, _: &str) -> Parse<()> {
        // Its name is how the operation was found.
        Ok(())
    }

    fn operands(&mut self, operands: &[Operand]) -> Parse<()> {
        for (index, &operand) in operands.iter().enumerate() {
            if index > 0 {
                self.parser.expect(b',')?;
            }
            self.operand(operand)?;
        }
        Ok(())
    }

    fn behind(&mut self, word: &str, operand: Operand, is_there: Option<&mut bool>) -> Parse<()> {
        let found = self.parser.eat_word(word);
        if let Some(is_there) = is_there {
            *is_there = found;
        }
        if found { self.operand(operand) } else { Ok(()) }
    }

    fn further(&mut self, word: Option<&str>, operand: Operand) -> Parse<()> {
        if word.is_none_or(|word| self.parser.eat_word(word)) {
            self.operation.operands = self.parser.values()?;
            self.operands.resize(self.operation.operands.len(), operand);
        }
        Ok(())
    }

    fn cache(&mut self, cache: &mut Cache) -> Parse<()> {
        self.attributes()?;
        *cache = self.details.cache()?;
        Ok(())
    }

    fn truth(&mut self, name: &str, holds: &mut bool) -> Parse<()> {
        self.attributes()?;
        *holds = self.details.attributes.take_bool(name)?;
        Ok(())
    }

    fn number(&mut self, name: &str, number: &mut u32) -> Parse<()> {
        self.attributes()?;
        *number = self.details.number(name)?;
        Ok(())
    }

    fn index(&mut self, operand: Operand) -> Parse<()> {
        self.parser.expect(b'[')?;
        self.operand(operand)?;
        self.parser.expect(b']')
    }

    fn offsets(&mut self, offsets: &mut Vec<u64>) -> Parse<()> {
        self.parser.expect(b'[')?;
        *offsets = self.parser.list(b']', |parser| parser.index("an offset"))?;
        Ok(())
    }

    fn order(&mut self, order: &mut Vec<u8>) -> Parse<()> {
        self.attributes()?;
        *order = self.details.order()?;
        Ok(())
    }

    fn ignored(&mut self, names: &[&str]) -> Parse<()> {
        self.attributes()?;
        self.details.attributes.ignore(names);
        Ok(())
    }

    fn types(&mut self, of: &[Operand]) -> Parse<()> {
        self.attributes()?;
        self.parser.expect(b':')?;
        for (index, &operand) in of.iter().enumerate() {
            if index > 0 {
                self.parser.expect_arrow()?;
            }
            let ty = match operand {
                Operand::Memory if self.parser.at(b'<') => self.parser.memory_description()?,
                _ => self.parser.ty()?,
            };
            self.types.push((operand, ty));
        }
        Ok(())
    }

    fn short_types(&mut self, of: &[Operand]) -> Parse<()> {
        // The name of a type of memory may be left out anywhere.
        self.types(of)
    }

    fn gives(&mut self, result: Option<Operand>) -> Parse<()> {
        self.attributes()?;
        self.operation.operand_types =
            self.operands.iter().filter_map(|&operand| self.ty(operand)).collect();
        self.operation.result_types =
            result.and_then(|result| self.ty(result)).into_iter().collect();
        Ok(())
    }

    fn function(&mut self, _: Operand) -> Parse<()> {
        self.attributes()?;
        self.parser.expect(b':')?;
        let (operands, results) = self.parser.function_type()?;
        (self.operation.operand_types, self.operation.result_types) = (operands, results);
        Ok(())
    }
}
