//! Operations with regions, and those that lead elsewhere: loops, conditions, reductions, calls,
//! branches.

use super::forms::check_types;
use super::lexer::TokenKind;
use super::parser::Parser;
use super::syntax::{Action, Block, BlockParam, Function, Operation, Parse, Successor, Use};
use super::table::{Details, Special, Types};
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::location::Locations;
use crate::tile::{LoopHints, OpKind, Type};

impl<'a> Parser<'a> {
    /// A reduction or a scan, whose region folds, or a `tt.map_elementwise`.
    pub(super) fn folding(
        &mut self,
        special: Special,
        mut details: Details<'a>,
        start: Span,
    ) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Broken, start);
        self.expect(b'(')?;
        operation.operands = self.list(b')', Self::value)?;
        self.properties(&mut details.attributes)?;
        self.expect(b'(')?;
        operation.span = self.since(start);
        let mut blocks = self.blocks_of_region(Vec::new())?;
        if blocks.len() == 1 {
            operation.regions.append(&mut blocks);
        } else {
            operation.branching = Some(Box::new(as_function(details.name, start, blocks)));
        }
        self.expect(b')')?;
        self.properties(&mut details.attributes)?;
        self.generic_types(&details, &mut operation)?;
        if special == Special::Map {
            let pack = details.attributes.take_integer("pack")?;
            let pack = pack.and_then(|(pack, _)| u64::try_from(pack).ok()).unwrap_or(1);
            operation.action = Action::Map { pack };
            details.attributes.finish(details.name)?;
            return Ok(operation);
        }
        let axis = details.axis()?;
        operation.action = Action::Do(match special {
            Special::Scan => {
                OpKind::Scan { axis, reverse: details.attributes.take_bool("reverse")? }
            }
            _ => OpKind::Reduce { axis, contract: details.attributes.take_bool("contract")? },
        });
        details.attributes.finish(details.name)?;
        Ok(operation)
    }

    /// A region of one block or more.
    fn blocks_of_region(&mut self, params: Vec<BlockParam<'a>>) -> Parse<Vec<Block<'a>>> {
        let mut blocks = Vec::new();
        let span = self.token.span;
        self.region(params, &mut blocks)?;
        if blocks.is_empty() {
            return Err(Diagnostic::new(span, "a region has a block"));
        }
        Ok(blocks)
    }

    /// A region that has one block.
    fn single_block(&mut self, params: Vec<BlockParam<'a>>) -> Parse<Block<'a>> {
        let mut blocks = self.blocks_of_region(params)?;
        if let Some(second) = blocks.get(1) {
            return Err(Diagnostic::new(
                second.label_span,
                "the regions of `scf` have one block, and so do those of most operations of `tt`",
            ));
        }
        Ok(blocks.remove(0))
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

    /// `{attributes}` after the regions, all of them hints, of which this takes the promises about a region's parameters.
    fn hints(
        &mut self,
        details: &mut Details<'a>,
        operation: &mut Operation<'a>,
        params: usize,
    ) -> Parse<()> {
        if self.at(b'{') {
            let mut attributes = self.attributes()?;
            for param in 0..params {
                let promises = attributes.take_promises(&format!("_arg{param}"));
                operation.param_promises.push((param, promises));
            }
            details.attributes.extend(attributes);
        }
        Ok(())
    }

    /// `(%a = %x, …)`: the names inside and the values they begin with.
    fn bindings(&mut self) -> Parse<Vec<(BlockParam<'a>, Use<'a>)>> {
        self.expect(b'(')?;
        self.list(b')', |parser| {
            let (name, span) = parser.value_name("a name for a carried value")?;
            parser.expect(b'=')?;
            let value = parser.value()?;
            Ok((BlockParam { name, span, ty: Type::scalar(DType::I1) }, value))
        })
    }

    /// `%i = %low to %high step %step iter_args(%a = %x) -> (T) : i32 { … } {hints}`
    pub(super) fn for_(&mut self, mut details: Details<'a>, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Do(OpKind::For(LoopHints::default())), start);
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
        params.extend(with_types(&carried, &operation.result_types));
        let region = self.yielding_block(params, operation.result_types.len())?;
        let params = region.params.len();
        operation.regions.push(region);
        self.hints(&mut details, &mut operation, params)?;
        let stages = details.attributes.take_integer("tt.num_stages")?;
        let stages = stages.and_then(|(stages, _)| u32::try_from(stages).ok());
        let flatten = details.attributes.take_bool("tt.flatten")?;
        operation.action = Action::Do(OpKind::For(LoopHints { stages, flatten }));
        details.attributes.finish(details.name)?;
        Ok(operation)
    }

    /// `%c -> (T) { … } else { … } {hints}`
    pub(super) fn if_(&mut self, mut details: Details<'a>, start: Span) -> Parse<Operation<'a>> {
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
        self.hints(&mut details, &mut operation, 0)?;
        details.attributes.finish(details.name)?;
        Ok(operation)
    }

    /// `(%a = %x) : (T) -> (U) { … } do { ^bb0(%b: U): … } attributes {hints}`
    pub(super) fn while_(&mut self, mut details: Details<'a>, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Do(OpKind::While), start);
        let carried = if self.at(b'(') { self.bindings()? } else { Vec::new() };
        operation.operands = carried.iter().map(|(_, value)| *value).collect();
        self.expect(b':')?;
        let span = self.token.span;
        (operation.operand_types, operation.result_types) = self.function_type()?;
        operation.span = self.since(start);
        check_types("scf.while", &operation, self.since(span))?;
        let params = with_types(&carried, &operation.operand_types).collect();
        let before = self.single_block(params)?;
        operation.regions.push(before);
        self.expect_word("do")?;
        let after = self.yielding_block(Vec::new(), operation.operand_types.len())?;
        operation.regions.push(after);
        self.eat_word("attributes");
        self.hints(&mut details, &mut operation, 0)?;
        details.attributes.finish(details.name)?;
        Ok(operation)
    }

    /// `(%c) %a, %b : T, U`
    pub(super) fn condition(&mut self, start: Span) -> Parse<Operation<'a>> {
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
    pub(super) fn call(&mut self, details: &Details<'a>, start: Span) -> Parse<Operation<'a>> {
        let (symbol, _) = self.take(TokenKind::Symbol, "the name of a function after `@`")?;
        let name = symbol.trim_start_matches('@').trim_matches('"');
        let mut operation = Operation::new(Action::Call(name), start);
        self.expect(b'(')?;
        operation.operands = self.list(b')', Self::value)?;
        if self.at(b'{') {
            self.attributes()?;
        }
        self.generic_types(details, &mut operation)?;
        operation.span = self.since(start);
        Ok(operation)
    }

    /// Reads the end of a branch, `^bb1(%a : T)`.
    pub(super) fn branch(&mut self, start: Span) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Branch, start);
        operation.successors.push(self.successor()?);
        operation.span = self.since(start);
        Ok(operation)
    }

    /// `%c, ^bb1, ^bb2(%a : T)`
    pub(super) fn cond_branch(&mut self, start: Span) -> Parse<Operation<'a>> {
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
    carried: &[(BlockParam<'a>, Use<'a>)],
    types: &[Type],
) -> impl Iterator<Item = BlockParam<'a>> {
    carried.iter().zip(types).map(|((param, _), ty)| BlockParam { ty: ty.clone(), ..param.clone() })
}

/// A region of several blocks as a function, which returns what the region hands over.
fn as_function<'a>(name: &'a str, name_span: Span, mut blocks: Vec<Block<'a>>) -> Function<'a> {
    let mut result_types = None;
    for last in blocks.iter_mut().filter_map(|block| block.operations.last_mut()) {
        if matches!(last.action, Action::Do(OpKind::Yield)) {
            last.action = Action::Return;
            result_types.get_or_insert_with(|| last.operand_types.clone());
        }
    }
    Function {
        name,
        name_span,
        public: false,
        arguments: Vec::new(),
        result_types: result_types.unwrap_or_default(),
        blocks,
        loc: Locations::unknown(),
    }
}
