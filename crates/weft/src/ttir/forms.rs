//! How operations are written: the common shape, `%r = name %a, %b word {attributes} : types`, and the
//! generic one, `%r = "name"(%a, %b) <{properties}> {attributes} : (types) -> types`.

use super::attribute::{Attribute, Attributes};
use super::lexer::TokenKind;
use super::parser::Parser;
use super::syntax::{Action, Operation, Parse, Promises, ResultName};
use super::table::{self, Common, Details, Row, Special, Types};
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::location::Locations;
use crate::tile::spelling::Domain;
use crate::tile::{Element, Type};
use std::collections::VecDeque;

impl<'a> Operation<'a> {
    /// An operation without anything.
    pub(super) fn new(action: Action<'a>, span: Span) -> Self {
        Self {
            action,
            results: Vec::new(),
            operands: Vec::new(),
            operand_types: Vec::new(),
            result_types: Vec::new(),
            regions: Vec::new(),
            branching: None,
            successors: Vec::new(),
            promises: Promises::default(),
            param_promises: Vec::new(),
            loc: Locations::unknown(),
            span,
        }
    }

    /// An operation that could not be read, with the names that it should have defined.
    pub(super) fn broken(results: Vec<ResultName<'a>>, span: Span) -> Self {
        Self { results, ..Self::new(Action::Broken, span) }
    }

    /// Whether the operation ends a block.
    pub(super) fn is_terminator(&self) -> bool {
        match &self.action {
            Action::Do(kind) => kind.effects().is_terminator(),
            Action::Branch | Action::CondBranch | Action::Return | Action::Broken => true,
            Action::Assume
            | Action::Ordered
            | Action::Cat
            | Action::Clamp { .. }
            | Action::External(_)
            | Action::Fp4 { .. }
            | Action::InlineAsm(_)
            | Action::Map { .. }
            | Action::Call(_) => false,
        }
    }
}

impl<'a> Parser<'a> {
    /// An operation from its name on, without its location; `start` is where its text begins.
    pub(super) fn body(&mut self, start: Span) -> Parse<Operation<'a>> {
        let span = self.token.span;
        let (name, generic) = match self.token.kind {
            TokenKind::Word => (self.text(), false),
            TokenKind::String => (self.text().trim_matches('"'), true),
            _ => return self.expected("an operation"),
        };
        let Some(row) = table::row(name) else {
            return Err(table::unsupported(name, span));
        };
        self.bump();
        let details =
            Details { name, span, words: VecDeque::new(), attributes: Attributes::default() };
        match (&row, generic) {
            (Row::Common(common), false) => self.common(common, details, start),
            (Row::Common(common), true) => self.generic(common, details, start),
            (Row::Special(special @ (Special::Reduce | Special::Scan | Special::Map)), true) => {
                self.folding(*special, details, start)
            }
            (Row::Special(Special::Constant), true) => self.generic_constant(start),
            (Row::Formed(kind), false) => self.formed(kind.clone(), details, start),
            (Row::Special(_) | Row::Formed(_), true) => {
                let message = format!("the generic form of `{name}` is not read");
                Err(Diagnostic::new(span, message).with_hint("print it in its own form"))
            }
            (Row::Special(special), false) => match special {
                Special::Constant => self.constant(start),
                Special::For => self.for_(details, start),
                Special::If => self.if_(details, start),
                Special::While => self.while_(details, start),
                Special::Condition => self.condition(start),
                Special::Call => self.call(&details, start),
                Special::Branch => self.branch(start),
                Special::CondBranch => self.cond_branch(start),
                Special::DotScaled => self.dot_scaled(details, start),
                Special::Print => self.print(details, start),
                Special::Assert => self.assert(start),
                Special::InlineAsm => self.inline_asm(details, start),
                Special::MakeDescriptor
                | Special::GivenDescriptor
                | Special::DescriptorLoad
                | Special::DescriptorStore
                | Special::DescriptorReduce
                | Special::DescriptorGather
                | Special::DescriptorScatter => self.descriptor(*special, details, start),
                Special::Reduce | Special::Scan | Special::Map => {
                    let message = format!("`{name}` is read in its generic form only");
                    Err(Diagnostic::new(span, message).with_hint("put its name in quotes"))
                }
            },
        }
    }

    // The common shape.

    fn common(
        &mut self,
        row: &Common,
        mut details: Details<'a>,
        start: Span,
    ) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Broken, start);
        self.items(&mut details, &mut operation)?;
        if row.types == Types::Indexed {
            self.expect(b'[')?;
            let indices = self.list(b']', Self::value)?;
            operation.operands.extend(indices);
        }
        if self.at(b'{') {
            let attributes = self.attributes()?;
            details.attributes.extend(attributes);
        }
        check_count(&details, operation.operands.len(), row.count)?;
        let types_at = self.token.span;
        self.types(row.types, details.name, &mut operation)?;
        operation.span = self.since(start);
        check_domain(row.domain, details.name, &operation, self.since(types_at))?;
        operation.promises = details.attributes.take_promises("");
        operation.action = details.action(&row.make)?;
        Ok(operation)
    }

    /// Operands and what stands among and after them: words, `key = value`, `flags<…>`.
    fn items(&mut self, details: &mut Details<'a>, operation: &mut Operation<'a>) -> Parse<()> {
        let mut continued = false;
        loop {
            match self.token.kind {
                // The next operation's result.
                TokenKind::Value if self.token.first_on_line && !continued => return Ok(()),
                TokenKind::Value => operation.operands.push(self.value()?),
                TokenKind::Word if !self.ends_items() => self.word_item(details)?,
                // After the last operand, words follow without a comma.
                _ => return Ok(()),
            }
            continued = self.eat(b',');
            if continued {
                let item = self.token.kind == TokenKind::Value
                    || self.token.kind == TokenKind::Word && !self.ends_items();
                if !item {
                    return self.expected("an operand");
                }
            } else if self.token.kind == TokenKind::Value && !self.token.first_on_line {
                return self.expected("`,` between operands");
            }
        }
    }

    /// Whether the next word is no longer part of the operation's items.
    fn ends_items(&self) -> bool {
        self.at_word("loc") || self.text().contains('.') || self.token.first_on_line
    }

    fn word_item(&mut self, details: &mut Details<'a>) -> Parse<()> {
        let (word, span) = self.take(TokenKind::Word, "a word")?;
        if self.eat(b'=') {
            let value = self.attribute(0)?;
            details.attributes.add(word, value, self.since(span));
        } else if self.at(b'<') {
            self.skip_brackets()?;
            details.attributes.add(word, Attribute::Other, self.since(span));
        } else {
            details.words.push_back((word, span));
            while self.eat(b'|') {
                details.words.push_back(self.take(TokenKind::Word, "a word")?);
            }
        }
        Ok(())
    }

    /// The colon and the types after it.
    pub(super) fn types(
        &mut self,
        types: Types,
        name: &str,
        operation: &mut Operation<'a>,
    ) -> Parse<()> {
        let count = operation.operands.len();
        if matches!(types, Types::Operands | Types::Each) && count == 0 && !self.at(b':') {
            return Ok(());
        }
        self.expect(b':')?;
        let span = self.token.span;
        if matches!(types, Types::Function | Types::Indexed) {
            (operation.operand_types, operation.result_types) = self.function_type()?;
            return check_types(name, operation, self.since(span));
        }
        let first = self.ty()?;
        let truth = first.with_element(Element::Scalar(DType::I1));
        let mut operands = Vec::new();
        let mut results = Vec::new();
        match types {
            Types::Same => {
                operands = vec![first.clone(); count];
                results = vec![first];
            }
            Types::Result => results = vec![first],
            Types::Compare => {
                operands = vec![first.clone(), first];
                results = vec![truth];
            }
            Types::Select => {
                let (condition, choice) = if self.eat(b',') {
                    (first, self.ty()?)
                } else {
                    (Type::scalar(DType::I1), first)
                };
                operands = vec![condition, choice.clone(), choice.clone()];
                results = vec![choice];
            }
            Types::Element => {
                results = vec![Type::single(first.element)];
                operands = vec![first];
            }
            Types::Load | Types::Store => {
                let Some(pointee) = first.element.pointee() else {
                    let message = format!("`{name}` goes through pointers, not `{first}`");
                    let span = self.since(span);
                    return Err(Diagnostic::new(span, message)
                        .with_hint("the type after the colon is that of the pointers"));
                };
                let value = first.with_element(Element::Scalar(pointee));
                if types == Types::Load {
                    operands = vec![first, truth, value.clone()];
                    results = vec![value];
                } else {
                    operands = vec![first, value, truth];
                }
                operands.truncate(count);
            }
            Types::AddPtr => {
                self.expect(b',')?;
                operands = vec![first.clone(), self.ty()?];
                results = vec![first];
            }
            Types::Convert => {
                if !self.eat_word("to") && !self.eat_arrow() {
                    return self.expected("`to` or `->` and the type of the result");
                }
                operands = vec![first; count];
                results = vec![self.ty()?];
            }
            Types::Halves | Types::Counts => {
                self.expect_arrow()?;
                let result = self.ty()?;
                operands = vec![first, truth];
                operands.truncate(count);
                results = match types {
                    Types::Halves => vec![result.clone(), result],
                    _ => vec![result],
                };
            }
            Types::Product => {
                self.expect(b'*')?;
                let second = self.ty()?;
                self.expect_arrow()?;
                let result = self.ty()?;
                operands = vec![first, second, result.clone()];
                // Whether the third counts.
                operands.resize(operation.operands.len().max(3), Type::scalar(DType::I1));
                results = vec![result];
            }
            Types::Operands | Types::Each | Types::Function | Types::Indexed => {
                operands.push(first);
                while self.eat(b',') {
                    operands.push(self.ty()?);
                }
                if types == Types::Each {
                    results.clone_from(&operands);
                }
            }
        }
        operation.operand_types = operands;
        operation.result_types = results;
        check_types(name, operation, self.since(span))
    }

    /// `(T, U) -> V` or `(T, U) -> (V, W)`; operands, results.
    pub(super) fn function_type(&mut self) -> Parse<(Vec<Type>, Vec<Type>)> {
        self.expect(b'(')?;
        let operands = self.list(b')', Self::ty)?;
        self.expect_arrow()?;
        let results = if self.eat(b'(') { self.list(b')', Self::ty)? } else { vec![self.ty()?] };
        Ok((operands, results))
    }

    // The generic shape: `"name"(%a) <{properties}> ({regions}) {attributes} : (T) -> U`.

    fn generic(
        &mut self,
        row: &Common,
        mut details: Details<'a>,
        start: Span,
    ) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Broken, start);
        self.expect(b'(')?;
        operation.operands = self.list(b')', Self::value)?;
        check_count(&details, operation.operands.len(), row.count)?;
        self.properties(&mut details.attributes)?;
        self.generic_types(&details, &mut operation)?;
        operation.span = self.since(start);
        check_domain(row.domain, details.name, &operation, operation.span)?;
        operation.promises = details.attributes.take_promises("");
        operation.action = details.action(&row.make)?;
        Ok(operation)
    }

    /// `<{…}>` and `{…}`, either or both or none.
    pub(super) fn properties(&mut self, attributes: &mut Attributes<'a>) -> Parse<()> {
        if self.eat(b'<') {
            let properties = self.attributes()?;
            attributes.extend(properties);
            self.expect(b'>')?;
        }
        if self.at(b'{') {
            let more = self.attributes()?;
            attributes.extend(more);
        }
        Ok(())
    }

    pub(super) fn generic_types(
        &mut self,
        details: &Details<'a>,
        operation: &mut Operation<'a>,
    ) -> Parse<()> {
        self.expect(b':')?;
        let span = self.token.span;
        (operation.operand_types, operation.result_types) = self.function_type()?;
        check_types(details.name, operation, self.since(span))
    }
}

/// Refuses a wrong number of operands.
pub(super) fn check_count(
    details: &Details<'_>,
    found: usize,
    (least, most): table::Count,
) -> Parse<()> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let message = format!("`{}` takes {wanted} operands, not {found}", details.name);
    Err(Diagnostic::new(details.span, message))
}

/// Refuses as many types as there are not operands.
pub(super) fn check_types(name: &str, operation: &Operation<'_>, span: Span) -> Parse<()> {
    let (operands, types) = (operation.operands.len(), operation.operand_types.len());
    if operands == types {
        return Ok(());
    }
    let message = format!("`{name}` has {operands} operands here and types for {types}");
    Err(Diagnostic::new(span, message))
}

/// Refuses integers where the operation's name says floats, and the other way round.
fn check_domain(domain: Domain, name: &str, operation: &Operation<'_>, span: Span) -> Parse<()> {
    let wrong = operation.operand_types.iter().find(|ty| match ty.element {
        Element::Scalar(dtype) => !domain.has(dtype),
        Element::Pointer(_) | Element::Token | Element::Descriptor(_) => domain != Domain::Any,
    });
    match wrong {
        None => Ok(()),
        Some(ty) => {
            let message = format!("`{name}` works on {}, not on `{ty}`", domain.name());
            Err(Diagnostic::new(span, message))
        }
    }
}
