//! What operations stand in: modules, functions, blocks.

use super::MAX_DEPTH;
use super::descriptor_argument::DescriptorArgument;
use super::lexer::TokenKind;
use super::parser::Parser;
use super::syntax::{Argument, Block, BlockParam, Function, Operation, Parse, ResultName};
use crate::diagnostic::{Diagnostic, Span};
use crate::tile::Type;

impl<'a> Parser<'a> {
    pub(super) fn top_level(&mut self) {
        let mut modules = 0;
        while self.token.kind != TokenKind::End && !self.errors.full() {
            let (start, braces) = (self.token.span, self.braces);
            let result = match self.token.kind {
                TokenKind::Word if matches!(self.text(), "module" | "builtin.module") => {
                    modules += 1;
                    if modules > 1 {
                        self.unexpected("a second module", "give one module at a time")
                    } else {
                        self.module()
                    }
                }
                TokenKind::Mark(b'}') => {
                    let result = self.unexpected("`}`", "nothing is open here");
                    self.bump();
                    result
                }
                _ => self.top_level_item(),
            };
            if let Err(error) = result {
                self.errors.push(error);
                self.recover(start, braces);
            }
        }
    }

    fn unexpected(&self, what: &str, hint: &str) -> Parse<()> {
        Err(Diagnostic::new(self.token.span, format!("unexpected {what}")).with_hint(hint))
    }

    fn top_level_item(&mut self) -> Parse<()> {
        match self.token.kind {
            TokenKind::Alias => self.alias_definition(),
            TokenKind::Word if self.text() == "tt.func" => self.function(),
            _ => self.expected("`module`, `tt.func` or the definition of an alias"),
        }
    }

    fn module(&mut self) -> Parse<()> {
        self.bump();
        if self.token.kind == TokenKind::Symbol {
            self.bump();
        }
        if self.eat_word("attributes") {
            let attributes = self.attributes()?;
            self.launch_attributes(attributes)?;
        }
        self.expect(b'{')?;
        while !self.at(b'}') {
            if self.token.kind == TokenKind::End {
                return self.expected("`}` to close the module");
            }
            if self.errors.full() {
                return Ok(());
            }
            let (start, braces) = (self.token.span, self.braces);
            if let Err(error) = self.top_level_item() {
                self.errors.push(error);
                self.recover(start, braces);
            }
        }
        self.expect(b'}')?;
        self.optional_location()?;
        Ok(())
    }

    fn function(&mut self) -> Parse<()> {
        self.bump();
        let public = match self.token.kind {
            TokenKind::Word if self.text() == "private" => false,
            TokenKind::Word if self.text() == "public" => true,
            TokenKind::Word => return self.expected("`public`, `private` or the function's name"),
            _ => true,
        };
        self.eat_word("public");
        self.eat_word("private");
        let (name, name_span) = self.take(TokenKind::Symbol, "the function's name after `@`")?;
        self.expect(b'(')?;
        let arguments = self.list(b')', Self::argument)?;
        let (params, arguments): (Vec<_>, Vec<_>) = arguments.into_iter().unzip();
        let result_types = if self.eat_arrow() { self.function_results()? } else { Vec::new() };
        if self.eat_word("attributes") {
            self.attributes()?;
        }
        let mut blocks = Vec::new();
        if self.at(b'{') {
            self.region(params, &mut blocks)?;
        }
        let loc = self.optional_location()?;
        let name = name.trim_start_matches('@').trim_matches('"');
        self.functions.push(Function {
            name,
            name_span,
            public,
            arguments,
            result_types,
            blocks,
            loc,
        });
        Ok(())
    }

    /// `T` or `(T {attributes}, …)`.
    fn function_results(&mut self) -> Parse<Vec<Type>> {
        if !self.eat(b'(') {
            return Ok(vec![self.ty()?]);
        }
        self.list(b')', |parser| {
            let ty = parser.ty()?;
            if parser.at(b'{') {
                parser.attributes()?;
            }
            Ok(ty)
        })
    }

    fn argument(&mut self) -> Parse<(BlockParam<'a>, Argument)> {
        let (name, span) = self.value_name("the name of an argument, such as `%x`")?;
        self.expect(b':')?;
        let ty = self.ty()?;
        let mut divisibility = 1;
        let mut attributes = if self.at(b'{') { Some(self.attributes()?) } else { None };
        let descriptor = if ty.is_descriptor() {
            Some(DescriptorArgument::of(attributes.as_mut())?)
        } else {
            None
        };
        let mut pointer_range = 0;
        if let Some(mut attributes) = attributes {
            if let Some((value, at)) = attributes.take_integer("tt.divisibility")? {
                divisibility =
                    u64::try_from(value).ok().filter(|&value| value > 0).ok_or_else(|| {
                        Diagnostic::new(at, format!("{value} is not a divisor; 1 or more is"))
                    })?;
            }
            if let Some((value, at)) = attributes.take_integer("tt.pointer_range")? {
                let bits = u32::try_from(value).ok().filter(|bits| (1..=64).contains(bits));
                pointer_range = bits.ok_or_else(|| {
                    let message =
                        format!("a distance does not take {value} bits; it takes 1 to 64");
                    Diagnostic::new(at, message)
                })?;
            }
        }
        self.optional_location()?;
        Ok((BlockParam { name, span, ty }, Argument { divisibility, pointer_range, descriptor }))
    }

    // Blocks and operations.

    /// `{ … }` as blocks; the first gets `params` if it has no label of its own.
    pub(super) fn region(
        &mut self,
        params: Vec<BlockParam<'a>>,
        blocks: &mut Vec<Block<'a>>,
    ) -> Parse<()> {
        if self.depth >= MAX_DEPTH {
            return Err(Diagnostic::new(
                self.token.span,
                format!("more than {MAX_DEPTH} regions inside one another are not read"),
            ));
        }
        self.expect(b'{')?;
        self.depth += 1;
        let result = self.region_body(params, blocks);
        self.depth -= 1;
        result?;
        self.expect(b'}')
    }

    fn region_body(
        &mut self,
        params: Vec<BlockParam<'a>>,
        blocks: &mut Vec<Block<'a>>,
    ) -> Parse<()> {
        let mut block = Block { params, label_span: self.token.span, ..Block::default() };
        let mut labelled = false;
        while !self.at(b'}') && !self.errors.full() {
            match self.token.kind {
                TokenKind::End => return self.expected("`}` to close the region"),
                TokenKind::Label => {
                    let next = self.block_label()?;
                    let entry = !labelled && block.operations.is_empty() && blocks.is_empty();
                    if entry && (block.params.is_empty() || next.params.is_empty()) {
                        // The entry block may have a label; its parameters may stand elsewhere.
                        let params = core::mem::take(&mut block.params);
                        block = next;
                        if block.params.is_empty() {
                            block.params = params;
                        }
                    } else {
                        blocks.push(core::mem::replace(&mut block, next));
                    }
                    labelled = true;
                }
                _ => {
                    let operation = self.operation();
                    block.operations.push(operation);
                }
            }
        }
        blocks.push(block);
        Ok(())
    }

    /// `^bb0(%a: f32 loc(…), …):`
    fn block_label(&mut self) -> Parse<Block<'a>> {
        let (label, label_span) = self.take(TokenKind::Label, "a block's label")?;
        let params = if self.eat(b'(') {
            self.list(b')', |parser| {
                let (name, span) = parser.value_name("the name of a block's parameter")?;
                parser.expect(b':')?;
                let ty = parser.ty()?;
                parser.optional_location()?;
                Ok(BlockParam { name, span, ty })
            })?
        } else {
            Vec::new()
        };
        self.expect(b':')?;
        let label = label.trim_start_matches('^');
        Ok(Block { label, label_span, params, operations: Vec::new() })
    }

    /// One operation; one that cannot be read is reported, and stands as broken.
    fn operation(&mut self) -> Operation<'a> {
        let braces = self.braces;
        let start = self.token.span;
        let mut results = Vec::new();
        match self.operation_with(start, &mut results) {
            Ok(operation) => operation,
            Err(error) => {
                self.errors.push(error);
                self.recover(start, braces);
                Operation::broken(results, start)
            }
        }
    }

    fn operation_with(
        &mut self,
        start: Span,
        results: &mut Vec<ResultName<'a>>,
    ) -> Parse<Operation<'a>> {
        if self.token.kind == TokenKind::Value {
            loop {
                let (name, span) = self.value_name("the name of a result")?;
                let count = if self.eat(b':') { self.index("a number of results")? } else { 1 };
                if count == 0 {
                    return Err(Diagnostic::new(span, "a name stands for one result or more"));
                }
                results.push(ResultName { name, count, span });
                if !self.eat(b',') {
                    break;
                }
            }
            self.expect(b'=')?;
        }
        let mut operation = self.body(start)?;
        let told = self.optional_location()?;
        operation.loc = self.operation_place(start, told);
        let named = results.iter().fold(0usize, |sum, result| sum.saturating_add(result.count));
        let given = operation.result_types.len();
        // Results that nobody uses need no names.
        if named != given && !results.is_empty() {
            return Err(Diagnostic::new(
                operation.span,
                format!("names for {named} results, but the operation has {given}"),
            ));
        }
        operation.results = core::mem::take(results);
        Ok(operation)
    }
}
