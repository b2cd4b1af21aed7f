//! The parser's core: tokens, complaints, and where to go on after one.

use super::Places;
use super::encoding::Encodings;
use super::lexer::{Lexer, Token, TokenKind};
use super::location::Aliases;
use super::syntax::{Errors, Function, Parse, Use};
use crate::budget::Stop;
use crate::diagnostic::{Diagnostic, Span};
use crate::location::{Loc, Location, Locations};
use crate::tile::Launch;

/// Everything that a text says.
pub(super) struct Reading<'a> {
    pub(super) functions: Vec<Function<'a>>,
    pub(super) locations: Locations,
    pub(super) launch: Launch,
    pub(super) aliases: Aliases<'a>,
    pub(super) errors: Errors,
}

/// Reads a whole text.
pub(super) fn read<'a>(text: &'a str, places: Places, stop: &Stop) -> Reading<'a> {
    let mut parser = Parser::new(text, places, stop);
    parser.top_level();
    let Parser { functions, locations, launch, aliases, mut errors, .. } = parser;
    aliases.report_undefined(&mut errors);
    Reading { functions, locations, launch, aliases, errors }
}

/// Reads tokens, one ahead.
pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    /// The next token, which was read and not taken yet.
    pub(super) token: Token,
    /// The end of the token before it.
    last_end: u32,
    /// How many `{` are open.
    pub(super) braces: usize,
    /// How many regions are open.
    pub(super) depth: usize,
    pub(super) locations: Locations,
    /// Where each line begins, if operations get their place in the text.
    line_starts: Option<Vec<u32>>,
    pub(super) aliases: Aliases<'a>,
    pub(super) encodings: Encodings<'a>,
    pub(super) launch: Launch,
    pub(super) functions: Vec<Function<'a>>,
    pub(super) errors: Errors,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, places: Places, stop: &Stop) -> Self {
        let ends = text.match_indices('\n').map(|(newline, _)| newline as u32 + 1);
        let line_starts = core::iter::once(0).chain(ends);
        let mut lexer = Lexer::new(text);
        let token = lexer.next();
        Self {
            lexer,
            token,
            last_end: 0,
            braces: 0,
            depth: 0,
            locations: Locations::default(),
            line_starts: (places == Places::Text).then(|| line_starts.collect()),
            aliases: Aliases::default(),
            encodings: Encodings::default(),
            launch: Launch::default(),
            functions: Vec::new(),
            errors: Errors::new(text.trim_end().len(), stop),
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
    pub(super) fn recover(&mut self, start: Span, braces: usize) {
        while self.token.kind != TokenKind::End {
            let next_line = self.token.first_on_line && self.token.span.start > start.start;
            if self.braces <= braces && (next_line || self.at(b'}')) {
                return;
            }
            self.bump();
        }
    }

    // Values and numbers.

    /// `%x`, without the `%`.
    pub(super) fn value_name(&mut self, what: &str) -> Parse<(&'a str, Span)> {
        let (name, span) = self.take(TokenKind::Value, what)?;
        Ok((name.trim_start_matches('%'), span))
    }

    /// Reads the use of a value, `%x` or `%x#1`.
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

    /// The place of an operation that begins here and that the text gives this place, which stays behind
    /// the one in the text.
    pub(super) fn operation_place(&mut self, start: Span, told: Loc) -> Loc {
        let Some(starts) = &self.line_starts else { return told };
        let line = starts.partition_point(|&first| first <= start.start).max(1);
        let first = starts.get(line - 1).copied().unwrap_or(0);
        let before = self.lexer.slice(Span { start: first, end: start.start });
        let (line, column) = (line as u32, before.chars().count() as u32 + 1);
        let here = self.locations.push(Location::File { file: super::TEXT.into(), line, column });
        self.locations.push(Location::CallSite { callee: here, caller: told })
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
