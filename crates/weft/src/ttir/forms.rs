//! How operations are written: the common shape, the generic shape, and those with a shape of their
//! own.

use super::attribute::{Attribute, Attributes};
use super::lexer::TokenKind;
use super::parser::Parser;
use super::syntax::{Action, Block, BlockParam, Operation, Parse, ResultName, Successor};
use super::table::{self, Details, Row, Special, Types};
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::location::Locations;
use crate::scalar;
use crate::tile::spelling::Domain;
use crate::tile::{Element, OpKind, Type};
use std::collections::VecDeque;

impl<'a> Operation<'a> {
    /// An operation without anything.
    fn new(action: Action<'a>, span: Span) -> Self {
        Self {
            action,
            results: Vec::new(),
            operands: Vec::new(),
            operand_types: Vec::new(),
            result_types: Vec::new(),
            regions: Vec::new(),
            successors: Vec::new(),
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
            Action::Do(kind) => kind.is_terminator(),
            Action::Branch | Action::CondBranch | Action::Return | Action::Broken => true,
            Action::Assume | Action::Clamp { .. } | Action::Call(_) => false,
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
            (Row::Common { .. }, false) => self.common(&row, details, start),
            (Row::Common { .. }, true) => self.generic(&row, details, start),
            (Row::Special(Special::Reduce), true) => self.reduce(details, start),
            (Row::Special(Special::Constant), true) => self.generic_constant(start),
            (Row::Special(_), true) => {
                let message = format!("the generic form of `{name}` is not read");
                Err(Diagnostic::new(span, message).with_hint("print it in its own form"))
            }
            (Row::Special(special), false) => match special {
                Special::Constant => self.constant(start),
                Special::For => self.for_(details, start),
                Special::If => self.if_(details, start),
                Special::While => self.while_(details, start),
                Special::Condition => self.condition(start),
                Special::Call => self.call(details, start),
                Special::Branch => self.branch(start),
                Special::CondBranch => self.cond_branch(start),
                Special::Reduce => {
                    let message = "`tt.reduce` is read in its generic form only";
                    Err(Diagnostic::new(span, message).with_hint("put its name in quotes"))
                }
            },
        }
    }

    // The common shape.

    fn common(&mut self, row: &Row, mut details: Details<'a>, start: Span) -> Parse<Operation<'a>> {
        let Row::Common { types, count, make } = row else {
            return self.expected("an operation");
        };
        let mut operation = Operation::new(Action::Broken, start);
        self.items(&mut details, &mut operation)?;
        if self.at(b'{') {
            let attributes = self.attributes()?;
            details.attributes.extend(attributes);
        }
        check_count(&details, operation.operands.len(), *count)?;
        let types_at = self.token.span;
        self.types(*types, details.name, &mut operation)?;
        operation.span = self.since(start);
        check_domain(row, details.name, &operation, self.since(types_at))?;
        operation.action = details.action(make)?;
        Ok(operation)
    }

    /// Operands and what stands among and after them: words, `key = value`, `flags<…>`.
    fn items(&mut self, details: &mut Details<'a>, operation: &mut Operation<'a>) -> Parse<()> {
        loop {
            match self.token.kind {
                TokenKind::Value => operation.operands.push(self.value()?),
                TokenKind::Word if !self.ends_items() => self.word_item(details)?,
                // After the last operand, words follow without a comma.
                _ => return Ok(()),
            }
            if self.eat(b',') {
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
        }
        Ok(())
    }

    /// The colon and the types after it.
    fn types(&mut self, types: Types, name: &str, operation: &mut Operation<'a>) -> Parse<()> {
        let count = operation.operands.len();
        if types == Types::Operands && count == 0 && !self.at(b':') {
            return Ok(());
        }
        self.expect(b':')?;
        let span = self.token.span;
        if types == Types::Function {
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
                results = vec![Type { element: first.element, shape: [].into_iter().collect() }];
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
                operands = vec![first];
                results = vec![self.ty()?];
            }
            Types::Product => {
                self.expect(b'*')?;
                let second = self.ty()?;
                self.expect_arrow()?;
                let result = self.ty()?;
                operands = vec![first, second, result.clone()];
                results = vec![result];
            }
            Types::Operands | Types::Function => {
                operands.push(first);
                while self.eat(b',') {
                    operands.push(self.ty()?);
                }
            }
        }
        operation.operand_types = operands;
        operation.result_types = results;
        check_types(name, operation, self.since(span))
    }

    /// `(T, U) -> V` or `(T, U) -> (V, W)`; operands, results.
    fn function_type(&mut self) -> Parse<(Vec<Type>, Vec<Type>)> {
        self.expect(b'(')?;
        let operands = self.list(b')', Self::ty)?;
        self.expect_arrow()?;
        let results = if self.eat(b'(') { self.list(b')', Self::ty)? } else { vec![self.ty()?] };
        Ok((operands, results))
    }

    // The generic shape: `"name"(%a) <{properties}> ({regions}) {attributes} : (T) -> U`.

    fn generic(
        &mut self,
        row: &Row,
        mut details: Details<'a>,
        start: Span,
    ) -> Parse<Operation<'a>> {
        let Row::Common { count, make, .. } = row else {
            return self.expected("an operation");
        };
        let mut operation = Operation::new(Action::Broken, start);
        self.expect(b'(')?;
        operation.operands = self.list(b')', Self::value)?;
        check_count(&details, operation.operands.len(), *count)?;
        self.properties(&mut details.attributes)?;
        self.generic_types(&details, &mut operation)?;
        operation.span = self.since(start);
        check_domain(row, details.name, &operation, operation.span)?;
        operation.action = details.action(make)?;
        Ok(operation)
    }

    /// `<{…}>` and `{…}`, either or both or none.
    fn properties(&mut self, attributes: &mut Attributes<'a>) -> Parse<()> {
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

    fn generic_types(&mut self, details: &Details<'a>, operation: &mut Operation<'a>) -> Parse<()> {
        self.expect(b':')?;
        let span = self.token.span;
        (operation.operand_types, operation.result_types) = self.function_type()?;
        check_types(details.name, operation, self.since(span))
    }

    fn reduce(&mut self, mut details: Details<'a>, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Broken, start);
        self.expect(b'(')?;
        operation.operands = self.list(b')', Self::value)?;
        self.properties(&mut details.attributes)?;
        self.expect(b'(')?;
        operation.span = self.since(start);
        let region = self.single_block(Vec::new())?;
        operation.regions.push(region);
        self.expect(b')')?;
        self.properties(&mut details.attributes)?;
        self.generic_types(&details, &mut operation)?;
        let axis = details.axis()?;
        details.attributes.finish(details.name)?;
        operation.action = Action::Do(OpKind::Reduce { axis });
        Ok(operation)
    }

    // Constants.

    fn constant(&mut self, start: Span) -> Parse<Operation<'a>> {
        if self.at(b'{') {
            self.attributes()?;
        }
        let (bits, ty) = self.constant_value()?;
        Ok(self.constant_of(bits, ty, start))
    }

    /// `"arith.constant"() <{value = 1 : i32}> : () -> i32`
    fn generic_constant(&mut self, start: Span) -> Parse<Operation<'a>> {
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

    // Control flow.

    /// A region that has one block.
    fn single_block(&mut self, params: Vec<BlockParam<'a>>) -> Parse<Block<'a>> {
        let mut blocks = Vec::new();
        let span = self.token.span;
        self.region(params, &mut blocks)?;
        let mut blocks = blocks.into_iter();
        match (blocks.next(), blocks.next()) {
            (Some(block), None) => Ok(block),
            (_, Some(second)) => Err(Diagnostic::new(
                second.label_span,
                "the regions of `scf` and `tt.reduce` have one block",
            )),
            (None, None) => Err(Diagnostic::new(span, "a region has a block")),
        }
    }

    /// A region of `scf`, whose `scf.yield` may be left out where it would hand over nothing.
    fn yielding_block(&mut self, params: Vec<BlockParam<'a>>, results: usize) -> Parse<Block<'a>> {
        let mut block = self.single_block(params)?;
        let ended = block.operations.last().is_some_and(Operation::is_terminator);
        if results == 0 && !ended {
            let span = Span { start: self.token.span.start, end: self.token.span.start };
            block.operations.push(Operation::new(Action::Do(OpKind::Yield), span));
        }
        Ok(block)
    }

    /// `{attributes}` after the regions, all of them hints.
    fn hints(&mut self, mut details: Details<'a>) -> Parse<()> {
        if self.at(b'{') {
            let attributes = self.attributes()?;
            details.attributes.extend(attributes);
        }
        details.attributes.finish(details.name)
    }

    /// `(%a = %x, …)`: the names inside and the values they begin with.
    fn bindings(&mut self) -> Parse<Vec<(BlockParam<'a>, super::syntax::Use<'a>)>> {
        self.expect(b'(')?;
        self.list(b')', |parser| {
            let (name, span) = parser.value_name("a name for a carried value")?;
            parser.expect(b'=')?;
            let value = parser.value()?;
            Ok((BlockParam { name, span, ty: Type::scalar(DType::I1) }, value))
        })
    }

    /// `%i = %low to %high step %step iter_args(%a = %x) -> (T) : i32 { … } {hints}`
    fn for_(&mut self, details: Details<'a>, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Do(OpKind::For), start);
        let (name, span) = self.value_name("the loop's counter")?;
        self.expect(b'=')?;
        operation.operands.push(self.value()?);
        self.expect_word("to")?;
        operation.operands.push(self.value()?);
        self.expect_word("step")?;
        operation.operands.push(self.value()?);
        let mut carried = Vec::new();
        if self.eat_word("iter_args") {
            carried = self.bindings()?;
            self.expect_arrow()?;
            operation.result_types =
                if self.eat(b'(') { self.list(b')', Self::ty)? } else { vec![self.ty()?] };
        }
        if !self.at(b':') {
            return self.expected("`:` and the type of the loop's counter, such as `: i32`");
        }
        self.bump();
        let counter = self.ty()?;
        operation.operand_types = vec![counter.clone(); 3];
        operation.operand_types.extend(operation.result_types.iter().cloned());
        operation.operands.extend(carried.iter().map(|(_, value)| *value));
        operation.span = self.since(start);
        check_types("iter_args", &operation, operation.span)?;
        let mut params = vec![BlockParam { name, span, ty: counter }];
        params.extend(with_types(carried, &operation.result_types));
        let region = self.yielding_block(params, operation.result_types.len())?;
        operation.regions.push(region);
        self.hints(details)?;
        Ok(operation)
    }

    /// `%c -> (T) { … } else { … } {hints}`
    fn if_(&mut self, details: Details<'a>, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Do(OpKind::If), start);
        operation.operands.push(self.value()?);
        operation.operand_types.push(Type::scalar(DType::I1));
        if self.eat_arrow() {
            self.expect(b'(')?;
            operation.result_types = self.list(b')', Self::ty)?;
        }
        operation.span = self.since(start);
        let results = operation.result_types.len();
        let then = self.yielding_block(Vec::new(), results)?;
        operation.regions.push(then);
        let otherwise = if self.eat_word("else") {
            self.yielding_block(Vec::new(), results)?
        } else if results == 0 {
            let span = Span { start: self.token.span.start, end: self.token.span.start };
            let nothing = Operation::new(Action::Do(OpKind::Yield), span);
            Block { operations: vec![nothing], label_span: span, ..Block::default() }
        } else {
            return self.expected("`else`, since the operation has results");
        };
        operation.regions.push(otherwise);
        self.hints(details)?;
        Ok(operation)
    }

    /// `(%a = %x) : (T) -> (U) { … } do { ^bb0(%b: U): … } attributes {hints}`
    fn while_(&mut self, details: Details<'a>, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Do(OpKind::While), start);
        let carried = if self.at(b'(') { self.bindings()? } else { Vec::new() };
        operation.operands = carried.iter().map(|(_, value)| *value).collect();
        self.expect(b':')?;
        let span = self.token.span;
        (operation.operand_types, operation.result_types) = self.function_type()?;
        operation.span = self.since(start);
        check_types("scf.while", &operation, self.since(span))?;
        let params = with_types(carried, &operation.operand_types).collect();
        let before = self.single_block(params)?;
        operation.regions.push(before);
        self.expect_word("do")?;
        let after = self.yielding_block(Vec::new(), operation.operand_types.len())?;
        operation.regions.push(after);
        self.eat_word("attributes");
        self.hints(details)?;
        Ok(operation)
    }

    /// `(%c) %a, %b : T, U`
    fn condition(&mut self, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Do(OpKind::Condition), start);
        self.expect(b'(')?;
        let condition = self.value()?;
        self.expect(b')')?;
        operation.operands = self.values()?;
        self.types(Types::Operands, "scf.condition", &mut operation)?;
        operation.operands.insert(0, condition);
        operation.operand_types.insert(0, Type::scalar(DType::I1));
        operation.span = self.since(start);
        Ok(operation)
    }

    /// `@f(%x) : (T) -> U`
    fn call(&mut self, details: Details<'a>, start: Span) -> Parse<Operation<'a>> {
        let (symbol, _) = self.take(TokenKind::Symbol, "the name of a function after `@`")?;
        let name = symbol.trim_start_matches('@').trim_matches('"');
        let mut operation = Operation::new(Action::Call(name), start);
        self.expect(b'(')?;
        operation.operands = self.list(b')', Self::value)?;
        if self.at(b'{') {
            self.attributes()?;
        }
        self.generic_types(&details, &mut operation)?;
        operation.span = self.since(start);
        Ok(operation)
    }

    /// `^bb1(%a : T)`
    fn branch(&mut self, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Branch, start);
        operation.successors.push(self.successor()?);
        operation.span = self.since(start);
        Ok(operation)
    }

    /// `%c, ^bb1, ^bb2(%a : T)`
    fn cond_branch(&mut self, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::CondBranch, start);
        operation.operands.push(self.value()?);
        operation.operand_types.push(Type::scalar(DType::I1));
        for _ in 0..2 {
            self.expect(b',')?;
            operation.successors.push(self.successor()?);
        }
        operation.span = self.since(start);
        Ok(operation)
    }

    fn successor(&mut self) -> Parse<Successor<'a>> {
        let (label, span) = self.take(TokenKind::Label, "a block, such as `^bb1`")?;
        let mut operands = Vec::new();
        let mut types = Vec::new();
        if self.eat(b'(') && !self.eat(b')') {
            operands = self.values()?;
            self.expect(b':')?;
            types = self.list(b')', Self::ty)?;
        }
        if operands.len() != types.len() {
            let message = format!("{} values have {} types", operands.len(), types.len());
            return Err(Diagnostic::new(self.since(span), message));
        }
        Ok(Successor { label: label.trim_start_matches('^'), span, operands, types })
    }
}

/// The carried values of a loop with their types.
fn with_types<'a>(
    carried: Vec<(BlockParam<'a>, super::syntax::Use<'a>)>,
    types: &[Type],
) -> impl Iterator<Item = BlockParam<'a>> {
    carried.into_iter().zip(types).map(|((param, _), ty)| BlockParam { ty: ty.clone(), ..param })
}

/// Refuses a wrong number of operands.
fn check_count(details: &Details<'_>, found: usize, (least, most): table::Count) -> Parse<()> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let message = format!("`{}` takes {wanted} operands, not {found}", details.name);
    Err(Diagnostic::new(details.span, message))
}

/// Refuses as many types as there are not operands.
fn check_types(name: &str, operation: &Operation<'_>, span: Span) -> Parse<()> {
    let (operands, types) = (operation.operands.len(), operation.operand_types.len());
    if operands == types {
        return Ok(());
    }
    let message = format!("`{name}` has {operands} operands here and types for {types}");
    Err(Diagnostic::new(span, message))
}

/// Refuses integers where the operation's name says floats, and the other way round.
fn check_domain(row: &Row, name: &str, operation: &Operation<'_>, span: Span) -> Parse<()> {
    let domain = table::domain(row, name);
    let wrong = operation.operand_types.iter().find(|ty| match ty.element {
        Element::Scalar(dtype) => !domain.has(dtype),
        Element::Pointer(_) => domain != Domain::Any,
    });
    match wrong {
        None => Ok(()),
        Some(ty) => {
            let message = format!("`{name}` works on {}, not on `{ty}`", domain.name());
            Err(Diagnostic::new(span, message))
        }
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
