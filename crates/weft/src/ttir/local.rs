//! Shared memory and asynchronous copies: the operations of TTGIR whose text has a shape of its own.

use super::lexer::TokenKind;
use super::parser::Parser;
use super::syntax::{Action, Operation, Parse};
use super::table::{Details, Special};
use crate::diagnostic::Span;
use crate::dtype::DType;
use crate::tile::{CopyOptions, Element, OpKind, Type};

impl<'a> Parser<'a> {
    /// `ttg.local_*`, `ttg.memdesc_*` and `ttg.async_*`, from behind the name.
    pub(super) fn local(
        &mut self,
        special: Special,
        mut details: Details<'a>,
        start: Span,
    ) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Broken, start);
        let kind = match special {
            Special::LocalAlloc => {
                operation.operands = self.values()?;
                self.more_attributes(&mut details)?;
                self.expect(b':')?;
                (operation.operand_types, operation.result_types) = self.function_type()?;
                OpKind::LocalAlloc
            }
            Special::LocalLoad => {
                operation.operands.push(self.value()?);
                let token = self.eat_word("token");
                if token {
                    operation.operands.push(self.value()?);
                }
                self.memory_to_result(&mut details, &mut operation)?;
                if token {
                    operation.operand_types.push(Type::single(Element::Token));
                }
                OpKind::LocalLoad
            }
            Special::LocalStore => {
                operation.operands.push(self.value()?);
                self.expect(b',')?;
                operation.operands.push(self.value()?);
                self.more_attributes(&mut details)?;
                self.expect(b':')?;
                let stored = self.ty()?;
                self.expect_arrow()?;
                operation.operand_types = vec![stored, self.memory()?];
                OpKind::LocalStore
            }
            Special::LocalDealloc => {
                operation.operands.push(self.value()?);
                self.more_attributes(&mut details)?;
                self.expect(b':')?;
                operation.operand_types = vec![self.memory()?];
                OpKind::LocalDealloc
            }
            Special::MemdescIndex => {
                operation.operands.push(self.value()?);
                self.expect(b'[')?;
                operation.operands.push(self.value()?);
                self.expect(b']')?;
                self.memory_to_result(&mut details, &mut operation)?;
                operation.operand_types.push(Type::scalar(DType::I32));
                OpKind::MemdescIndex
            }
            Special::MemdescSubslice => {
                operation.operands.push(self.value()?);
                self.expect(b'[')?;
                let offsets = self.list(b']', |parser| parser.index("an offset"))?;
                self.memory_to_result(&mut details, &mut operation)?;
                OpKind::MemdescSubslice { offsets }
            }
            Special::MemdescTrans => {
                operation.operands.push(self.value()?);
                self.memory_to_result(&mut details, &mut operation)?;
                OpKind::MemdescTrans { order: details.order()? }
            }
            Special::MemdescReshape => {
                operation.operands.push(self.value()?);
                self.memory_to_result(&mut details, &mut operation)?;
                OpKind::MemdescReshape
            }
            Special::MemdescReinterpret => {
                operation.operands.push(self.value()?);
                self.memory_to_result(&mut details, &mut operation)?;
                OpKind::MemdescReinterpret
            }
            Special::AsyncCopy => self.async_copy(&mut details, &mut operation)?,
            Special::AsyncCommit => {
                if self.eat_word("tokens") {
                    operation.operands = self.values()?;
                }
                self.tokens(&mut details, &mut operation)?;
                OpKind::AsyncCommit
            }
            _ => {
                operation.operands = self.values()?;
                self.tokens(&mut details, &mut operation)?;
                OpKind::AsyncWait { pending: details.pending()? }
            }
        };
        operation.span = self.since(start);
        super::forms::check_types(details.name, &operation, operation.span)?;
        details.attributes.finish(details.name)?;
        operation.action = Action::Do(kind);
        Ok(operation)
    }

    /// `%pointers, %memory mask %m other %o {attributes} : P -> M`
    fn async_copy(
        &mut self,
        details: &mut Details<'a>,
        operation: &mut Operation<'a>,
    ) -> Parse<OpKind> {
        operation.operands.push(self.value()?);
        self.expect(b',')?;
        operation.operands.push(self.value()?);
        let masked = self.eat_word("mask");
        if masked {
            operation.operands.push(self.value()?);
        }
        let other = self.eat_word("other");
        if other {
            operation.operands.push(self.value()?);
        }
        while self.at_word("cacheModifier") || self.at_word("evictionPolicy") {
            let (word, span) = self.take(TokenKind::Word, "a word")?;
            self.expect(b'=')?;
            let value = self.attribute(0)?;
            details.attributes.add(word, value, self.since(span));
        }
        self.more_attributes(details)?;
        self.expect(b':')?;
        let pointers = self.ty()?;
        self.expect_arrow()?;
        let memory = self.memory()?;
        let values = pointers.with_element(memory.element);
        let truth = pointers.with_element(Element::Scalar(DType::I1));
        operation.operand_types = vec![pointers, memory];
        operation.operand_types.extend(masked.then_some(truth));
        operation.operand_types.extend(other.then_some(values));
        operation.result_types = vec![Type::single(Element::Token)];
        // How many neighbours may be copied at once is found anew.
        details.attributes.ignore(&["contiguity", "operandSegmentSizes"]);
        let volatile = details.attributes.take_bool("isVolatile")?;
        Ok(OpKind::AsyncCopy(CopyOptions { cache: details.cache()?, volatile, masked }))
    }

    /// Operands that are tokens, and one as the result.
    fn tokens(&mut self, details: &mut Details<'a>, operation: &mut Operation<'a>) -> Parse<()> {
        self.more_attributes(details)?;
        operation.operand_types = vec![Type::single(Element::Token); operation.operands.len()];
        operation.result_types = vec![Type::single(Element::Token)];
        Ok(())
    }

    /// `{attributes} : M -> T`
    fn memory_to_result(
        &mut self,
        details: &mut Details<'a>,
        operation: &mut Operation<'a>,
    ) -> Parse<()> {
        self.more_attributes(details)?;
        self.expect(b':')?;
        operation.operand_types = vec![self.memory()?];
        self.expect_arrow()?;
        operation.result_types = vec![self.ty()?];
        Ok(())
    }

    /// `!ttg.memdesc<…>`, whose name may be left out.
    fn memory(&mut self) -> Parse<Type> {
        if self.at(b'<') { self.memory_description() } else { self.ty() }
    }

    fn more_attributes(&mut self, details: &mut Details<'a>) -> Parse<()> {
        if self.at(b'{') {
            let attributes = self.attributes()?;
            details.attributes.extend(attributes);
        }
        Ok(())
    }
}
