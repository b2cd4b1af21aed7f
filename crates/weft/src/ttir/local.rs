//! Shared memory: operations of TTGIR whose text has a shape of its own.

use super::parser::Parser;
use super::syntax::{Action, Operation, Parse};
use super::table::{self, Details, Special};
use crate::diagnostic::Span;
use crate::dtype::DType;
use crate::tile::{Element, OpKind, Type};

impl<'a> Parser<'a> {
    /// `ttg.local_*` and `ttg.memdesc_*`, from behind the name.
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
            _ => return Err(table::unsupported(details.name, details.span)),
        };
        operation.span = self.since(start);
        super::forms::check_types(details.name, &operation, operation.span)?;
        details.attributes.finish(details.name)?;
        operation.action = Action::Do(kind);
        Ok(operation)
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
    pub(super) fn memory(&mut self) -> Parse<Type> {
        if self.at(b'<') { self.memory_description() } else { self.ty() }
    }

    pub(super) fn more_attributes(&mut self, details: &mut Details<'a>) -> Parse<()> {
        if self.at(b'{') {
            let attributes = self.attributes()?;
            details.attributes.extend(attributes);
        }
        Ok(())
    }
}
