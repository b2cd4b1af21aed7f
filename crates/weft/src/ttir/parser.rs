//! The parser's core: tokens, complaints and where to go on after one; modules, functions, blocks.

use super::MAX_DEPTH;
use super::lexer::{Lexer, Token, TokenKind};
use super::location::Aliases;
use super::syntax::{Block, BlockParam, Errors, Function, Operation, Parse, ResultName, Use};
use crate::diagnostic::{Diagnostic, Span};
use crate::location::{Loc, Locations};
use crate::tile::Type;

/// Everything that a text says.
pub(super) struct Reading<'a> {
    pub(super) functions: Vec<Function<'a>>,
    pub(super) locations: Locations,
    pub(super) errors: Errors,
}

/// Reads a whole text.
pub(super) fn read(text: &str) -> Reading<'_> {
    let mut parser = Parser::new(text);
    parser.top_level();
    let Parser { functions, locations, aliases, mut errors, .. } = parser;
    aliases.report_undefined(&mut errors);
    Reading { functions, locations, errors }
}

/// Reads tokens, one ahead.
pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    /// The next token.
    pub(super) token: Token,
    /// The end of the token before it.
    last_end: u32,
    /// How many `{` are open.
    braces: usize,
    /// How many regions are open.
    depth: usize,
    pub(super) locations: Locations,
    pub(super) aliases: Aliases<'a>,
    functions: Vec<Function<'a>>,
    pub(super) errors: Errors,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let token = lexer.next();
        Self {
            lexer,
            token,
            last_end: 0,
            braces: 0,
            depth: 0,
            locations: Locations::default(),
            aliases: Aliases::default(),
            functions: Vec::new(),
            errors: Errors::new(text.trim_end().len()),
        }
    }

    // Tokens.

    /// The next token's text.
    pub(super) fn text(&self) -> &'a str {
        self.lexer.slice(self.token.span)
    }

    /// Goes on to the next token.
    pub(super) fn bump(&mut self) {
        match self.token.kind {
            TokenKind::Mark(b'{') => self.braces += 1,
            TokenKind::Mark(b'}') => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
        self.last_end = self.token.span.end;
        self.token = self.lexer.next();
    }

    pub(super) fn at(&self, mark: u8) -> bool {
        self.token.kind == TokenKind::Mark(mark)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.token.kind == TokenKind::Word && self.text() == word
    }

    /// Takes a character if it is next.
    pub(super) fn eat(&mut self, mark: u8) -> bool {
        let found = self.at(mark);
        if found {
            self.bump();
        }
        found
    }

    /// Takes a word if it is next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn eat_arrow(&mut self) -> bool {
        let found = self.token.kind == TokenKind::Arrow;
        if found {
            self.bump();
        }
        found
    }

    /// Takes a character that must come next.
    pub(super) fn expect(&mut self, mark: u8) -> Parse<()> {
        if self.eat(mark) { Ok(()) } else { self.expected(&format!("`{}`", char::from(mark))) }
    }

    /// Takes a word that must come next.
    pub(super) fn expect_word(&mut self, word: &str) -> Parse<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// Takes `->`, which must come next.
    pub(super) fn expect_arrow(&mut self) -> Parse<()> {
        if self.eat_arrow() { Ok(()) } else { self.expected("`->`") }
    }

    /// Takes a token of a kind, which must come next; its text and place.
    pub(super) fn take(&mut self, kind: TokenKind, what: &str) -> Parse<(&'a str, Span)> {
        if self.token.kind != kind {
            return self.expected(what);
        }
        let found = (self.text(), self.token.span);
        self.bump();
        Ok(found)
    }

    /// The span from `start` to the last token taken.
    pub(super) fn since(&self, start: Span) -> Span {
        Span { start: start.start, end: self.last_end.max(start.end) }
    }

    /// The complaint that something else should stand here.
    pub(super) fn expected<T>(&self, what: &str) -> Parse<T> {
        let found = match self.token.kind {
            TokenKind::End => "the end of the text".to_string(),
            TokenKind::Bad(complaint) => return Err(Diagnostic::new(self.token.span, complaint)),
            _ => format!("`{}`", shortened(self.text())),
        };
        Err(Diagnostic::new(self.token.span, format!("expected {what}, found {found}")))
    }

    /// A list of things between commas, up to a closing character, which is taken.
    pub(super) fn list<T>(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(b',') {
                return self.expected(&format!("`,` or `{}`", char::from(close)));
            }
        }
    }

    /// Skips a bracketed piece of text whose opening bracket is next.
    pub(super) fn skip_brackets(&mut self) -> Parse<()> {
        let opening = self.token.span;
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.token.kind {
                TokenKind::Mark(b'(') => open.push(b')'),
                TokenKind::Mark(b'[') => open.push(b']'),
                TokenKind::Mark(b'{') => open.push(b'}'),
                TokenKind::Mark(b'<') => open.push(b'>'),
                TokenKind::Mark(mark @ (b')' | b']' | b'}' | b'>')) if open.pop() != Some(mark) => {
                    return self.expected("the closing bracket of what was opened before");
                }
                TokenKind::End => {
                    return Err(Diagnostic::new(opening, "this bracket is never closed"));
                }
                _ => {}
            }
            self.bump();
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    /// After a complaint about something that began at `start` with so many braces open: goes on to
    /// the next line at that nesting.
    fn recover(&mut self, start: Span, braces: usize) {
        while self.token.kind != TokenKind::End {
            let next_line = self.token.first_on_line && self.token.span.start > start.start;
            if self.braces <= braces && (next_line || self.at(b'}')) {
                return;
            }
            self.bump();
        }
    }

    // Modules and functions.

    fn top_level(&mut self) {
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
            self.attributes()?;
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
        let (params, divisibility): (Vec<_>, Vec<_>) = arguments.into_iter().unzip();
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
            divisibility,
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

    fn argument(&mut self) -> Parse<(BlockParam<'a>, u64)> {
        let (name, span) = self.value_name("the name of an argument, such as `%x`")?;
        self.expect(b':')?;
        let ty = self.ty()?;
        let mut divisibility = 1;
        if self.at(b'{') {
            let mut attributes = self.attributes()?;
            if let Some((value, at)) = attributes.take_integer("tt.divisibility")? {
                divisibility =
                    u64::try_from(value).ok().filter(|&value| value > 0).ok_or_else(|| {
                        Diagnostic::new(at, format!("{value} is not a divisor; 1 or more is"))
                    })?;
            }
        }
        self.optional_location()?;
        Ok((BlockParam { name, span, ty }, divisibility))
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
        operation.loc = self.optional_location()?;
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

    // Small things.

    /// `%x`, without the `%`.
    pub(super) fn value_name(&mut self, what: &str) -> Parse<(&'a str, Span)> {
        let (name, span) = self.take(TokenKind::Value, what)?;
        Ok((name.trim_start_matches('%'), span))
    }

    /// `%x` or `%x#1`.
    pub(super) fn value(&mut self) -> Parse<Use<'a>> {
        let (name, span) = self.value_name("a value, such as `%x`")?;
        let adjacent = self.token.kind == TokenKind::Alias && self.token.span.start == span.end;
        if !adjacent {
            return Ok(Use { name, index: None, span });
        }
        let digits = self.text().trim_start_matches('#');
        let Ok(index) = digits.parse() else {
            return self.expected("the number of a result after `#`");
        };
        let span = span.to(self.token.span);
        self.bump();
        Ok(Use { name, index: Some(index), span })
    }

    /// Values between commas; none if no value comes next.
    pub(super) fn values(&mut self) -> Parse<Vec<Use<'a>>> {
        let mut values = Vec::new();
        if self.token.kind == TokenKind::Value {
            values.push(self.value()?);
            while self.eat(b',') {
                values.push(self.value()?);
            }
        }
        Ok(values)
    }

    /// A decimal number without a sign.
    pub(super) fn index<T: core::str::FromStr>(&mut self, what: &str) -> Parse<T> {
        if self.token.kind != TokenKind::Integer {
            return self.expected(what);
        }
        let Ok(index) = self.text().parse() else {
            return self.expected(&format!("{what} that fits"));
        };
        self.bump();
        Ok(index)
    }

    /// `loc(…)` if it comes next.
    pub(super) fn optional_location(&mut self) -> Parse<Loc> {
        if self.at_word("loc") { self.location() } else { Ok(Locations::unknown()) }
    }
}

/// A text that fits in a message.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
