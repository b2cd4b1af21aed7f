//! The words of MLIR's text.

use crate::diagnostic::Span;

/// What a token is; its text is found through its span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    /// A name or keyword, such as `tt.load`, `dense` or `f32`.
    Word,
    /// `%x`, without a result number.
    Value,
    /// The name of a function, `@kernel` or `@"kernel"`.
    Symbol,
    /// The name of a block, `^bb1`.
    Label,
    /// `#loc3`, `#tt.cache_policy`, and the `#1` of `%0#1`.
    Alias,
    /// The name of a type of a dialect, `!tt.ptr`.
    TypeName,
    /// Digits, decimal or hexadecimal: `12` or `0xFF`.
    Integer,
    /// A number with a point, such as `1.0e+00`.
    Float,
    /// A text in quotes, which belong to it: `"text"`.
    String,
    /// The arrow `->` between types.
    Arrow,
    /// Any other character, by itself.
    Mark(u8),
    /// The end of the text.
    End,
    /// No token of MLIR; the words say why.
    Bad(&'static str),
}

/// A token, with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    /// What kind of token it is.
    pub(super) kind: TokenKind,
    /// Where it stands in the text.
    pub(super) span: Span,
    /// Whether a line began between the token before and this one.
    pub(super) first_on_line: bool,
}

/// Reads tokens one after another; never fails, but gives [`TokenKind::Bad`] where none begins.
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// The next byte to be read; always at a character boundary.
    position: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, position: 0 }
    }

    /// The text of a span; empty where the span is not one of this text.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// What has not been read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// Goes back (or forward) to a byte, for the few places where MLIR's tokens depend on context.
    pub(super) fn seek(&mut self, position: usize) {
        self.position = position.min(self.text.len());
    }

    /// Reads the next token; at the end of the text it is that again and again.
    pub(super) fn next(&mut self) -> Token {
        let first_on_line = self.skip_blanks();
        let start = self.position;
        let kind = self.scan();
        Token { kind, span: Span::new(start, self.position), first_on_line }
    }

    /// Skips blanks and comments; whether a line ended among them.
    fn skip_blanks(&mut self) -> bool {
        let mut line_ended = self.position == 0;
        loop {
            let rest = self.rest();
            match rest.bytes().next() {
                Some(b'\n') => line_ended = true,
                Some(b' ' | b'\t' | b'\r') => {}
                Some(b'/') if rest.starts_with("//") => {
                    self.position += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
                _ => return line_ended,
            }
            self.position += 1;
        }
    }

    fn scan(&mut self) -> TokenKind {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return TokenKind::End };
        self.position += first.len_utf8();
        match first {
            '%' => self.name(TokenKind::Value, "a name stands after `%`"),
            '^' => self.name(TokenKind::Label, "a name stands after `^`"),
            '#' => self.name(TokenKind::Alias, "a name stands after `#`"),
            '!' => self.name(TokenKind::TypeName, "a name stands after `!`"),
            '@' if self.rest().starts_with('"') => {
                self.position += 1;
                self.string(TokenKind::Symbol)
            }
            '@' => self.name(TokenKind::Symbol, "a name stands after `@`"),
            '"' => self.string(TokenKind::String),
            '0'..='9' => self.number(),
            'a'..='z' | 'A'..='Z' | '_' => {
                self.take_while(is_name_byte);
                TokenKind::Word
            }
            '-' if self.rest().starts_with('>') => {
                self.position += 1;
                TokenKind::Arrow
            }
            _ if first.is_ascii_graphic() => TokenKind::Mark(first as u8),
            _ => TokenKind::Bad("this character has no meaning here"),
        }
    }

    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> usize {
        let length = self.rest().bytes().take_while(|&byte| belongs(byte)).count();
        self.position += length;
        length
    }

    fn name(&mut self, kind: TokenKind, complaint: &'static str) -> TokenKind {
        // MLIR allows `-` in the names of values and blocks, and `->` may follow one.
        let dashes = matches!(kind, TokenKind::Value | TokenKind::Label);
        let start = self.position;
        loop {
            self.take_while(is_name_byte);
            let rest = self.rest();
            if dashes && self.position > start && rest.starts_with('-') && !rest.starts_with("->") {
                self.position += 1;
            } else {
                break;
            }
        }
        if self.position > start { kind } else { TokenKind::Bad(complaint) }
    }

    /// The rest of a string whose opening quote has been read.
    fn string(&mut self, kind: TokenKind) -> TokenKind {
        let mut escaped = false;
        for (index, byte) in self.rest().bytes().enumerate() {
            match byte {
                b'\n' => break,
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    self.position += index + 1;
                    return kind;
                }
                _ => {}
            }
        }
        let line = self.rest().find('\n').unwrap_or(self.rest().len());
        self.position += line;
        TokenKind::Bad("the string does not end on its line")
    }

    fn number(&mut self) -> TokenKind {
        self.position -= 1;
        let hexadecimal = self
            .rest()
            .strip_prefix("0x")
            .is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_hexdigit()));
        if hexadecimal {
            self.position += 2;
            self.take_while(|byte| byte.is_ascii_hexdigit());
            return TokenKind::Integer;
        }
        self.take_while(|byte| byte.is_ascii_digit());
        if !self.rest().starts_with('.') {
            return TokenKind::Integer;
        }
        self.position += 1;
        self.take_while(|byte| byte.is_ascii_digit());
        let exponent = self.rest().strip_prefix(['e', 'E']).map(|rest| {
            let sign = usize::from(rest.starts_with(['+', '-']));
            (1 + sign, rest.as_bytes().get(sign).is_some_and(u8::is_ascii_digit))
        });
        if let Some((length, true)) = exponent {
            self.position += length;
            self.take_while(|byte| byte.is_ascii_digit());
        }
        TokenKind::Float
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}
