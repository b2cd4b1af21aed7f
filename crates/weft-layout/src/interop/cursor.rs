//! Reading text with spans.

use alloc::string::String;
use core::{fmt, ops::Range};

use crate::{layout::LayoutError, space::SpaceError};

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The bytes of the text.
    pub span: Range<usize>,
    /// What is wrong with them.
    pub kind: ParseErrorKind,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else should stand here.
    Expected(&'static str),
    /// A number is too large.
    TooLarge,
    /// Attributes or lists are nested too deeply.
    TooDeep,
    /// There is no attribute of this name.
    UnknownAttribute(String),
    /// The attribute has no such parameter.
    UnknownKey(String),
    /// A parameter is given twice.
    DuplicateKey(String),
    /// A parameter is missing.
    MissingKey(&'static str),
    /// The layout is refused.
    Layout(LayoutError),
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseErrorKind::Expected(what) => write!(f, "expected {what}"),
            ParseErrorKind::TooLarge => f.write_str("the number does not fit 64 bits"),
            ParseErrorKind::TooDeep => f.write_str("nested more than 32 levels deep"),
            ParseErrorKind::UnknownAttribute(name) => {
                write!(f, "unknown attribute `#{name}`; known are ")?;
                f.write_str(
                    "ttg.blocked, ttg.linear, ttg.generic_linear, ttg.slice, ttg.dot_op, ",
                )?;
                f.write_str("ttg.nvidia_mma, ttg.amd_mfma, ttg.amd_wmma, ttig.dpas, ")?;
                f.write_str("ttg.swizzled_shared, ttg.amd_rotating_shared, ttg.padded_shared, ")?;
                f.write_str("ttg.partitioned_shared, ttg.nvmma_shared, ttg.shared_linear, ")?;
                f.write_str("ttng.tensor_memory_encoding, ttng.tensor_memory_scales_encoding")
            }
            ParseErrorKind::UnknownKey(key) => write!(f, "unknown parameter `{key}`"),
            ParseErrorKind::DuplicateKey(key) => write!(f, "parameter `{key}` is given twice"),
            ParseErrorKind::MissingKey(key) => write!(f, "parameter `{key}` is missing"),
            ParseErrorKind::Layout(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.span.start, self.kind)
    }
}

impl core::error::Error for ParseError {}

/// A position in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, position: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// Skips white space and gives the position after it.
    pub(super) fn start(&mut self) -> usize {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
        self.position
    }

    /// The next character after white space.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.start();
        self.rest().chars().next()
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Takes `token` if it comes next.
    pub(super) fn take(&mut self, token: &str) -> bool {
        self.start();
        let found = self.rest().starts_with(token);
        if found {
            self.position += token.len();
        }
        found
    }

    pub(super) fn expect(&mut self, token: &'static str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(self.error(ParseErrorKind::Expected(token))) }
    }

    /// Whether nothing but white space is left.
    pub(super) fn at_end(&mut self) -> bool {
        self.start() == self.text.len()
    }

    /// The next run of letters, digits, `_` and `.`; empty when there is none.
    pub(super) fn word(&mut self) -> &'a str {
        self.start();
        let rest = self.rest();
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        self.position += end;
        &rest[..end]
    }

    /// A number if one comes next.
    pub(super) fn number(&mut self) -> Result<Option<u64>, ParseError> {
        let start = self.start();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if end == 0 {
            return Ok(None);
        }
        self.position += end;
        let error = ParseError { span: start..self.position, kind: ParseErrorKind::TooLarge };
        rest[..end].parse().map(Some).map_err(|_| error)
    }

    pub(super) fn expect_number(&mut self) -> Result<u64, ParseError> {
        let number = self.number()?;
        number.ok_or_else(|| self.error(ParseErrorKind::Expected("a number")))
    }

    /// An error about the next character.
    pub(super) fn error(&mut self, kind: ParseErrorKind) -> ParseError {
        let start = self.start();
        let width = self.peek().map_or(0, char::len_utf8);
        ParseError { span: start..start + width, kind }
    }

    /// An error about what has been read since `start`.
    pub(super) fn error_since(&self, start: usize, kind: ParseErrorKind) -> ParseError {
        ParseError { span: start..self.position, kind }
    }

    /// An error of a space about what has been read since `start`.
    pub(super) fn space_error(&self, start: usize, error: SpaceError) -> ParseError {
        self.error_since(start, ParseErrorKind::Layout(LayoutError::Space(error)))
    }
}
