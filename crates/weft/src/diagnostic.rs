//! What is wrong with an input, and where.
//!
//! A [`Diagnostic`] is data: it is drawn elsewhere. Its message says what is wrong, its span where,
//! and its hint what would be right. Spans are byte ranges of the text that was read.

use crate::location::Source;
use core::fmt;

/// A byte range `start..end` of a source text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// The first byte of it in the text.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of a text.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end.max(start) as u32 }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Line and column of the span's start in `text`, both counted from one, the column in characters.
    pub fn line_column(self, text: &str) -> (usize, usize) {
        let mut start = (self.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// One thing that is wrong: what, where, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// What is wrong: one sentence, lower case, no full stop.
    pub message: String,
    /// Where, in the text that was read.
    pub span: Span,
    /// Other places that matter, each with a word on why.
    pub labels: Vec<(Span, String)>,
    /// What would be right.
    pub hint: Option<String>,
    /// Where in the source that the text was made from, if the text says so.
    pub source: Option<Source>,
}

impl Diagnostic {
    /// A diagnostic with a message at a place.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), span, labels: Vec::new(), hint: None, source: None }
    }

    /// Adds what would be right.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds another place that matters.
    #[must_use]
    pub fn with_label(mut self, span: Span, label: impl Into<String>) -> Self {
        self.labels.push((span, label.into()));
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong with one input, in order of discovery; never empty when it is an error.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl core::error::Error for Diagnostics {}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let text = "é = 1\nb = 2";
        assert_eq!(Span::new(0, 1).line_column(text), (1, 1));
        assert_eq!(Span::new(3, 4).line_column(text), (1, 3));
        assert_eq!(Span::new(7, 8).line_column(text), (2, 1));
        assert_eq!(Span::new(400, 401).line_column(text), (2, 6));
    }
}
