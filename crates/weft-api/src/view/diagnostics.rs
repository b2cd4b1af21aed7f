//! Diagnostics drawn in the text that they are about, as rustc draws its own.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;
use weft::diagnostic::{Diagnostics, Span};

/// The longest line that is drawn in full: of a longer one only the place is told.
const MAX_LINE: usize = 400;

/// Every diagnostic with its line of the source, a mark under the place, and the hint.
///
/// ```
/// let text = "module {\n  tt.funk public @f() {\n  }\n}\n";
/// let diagnostics = weft::ttir::parse(text).unwrap_err();
/// let drawn = weft_api::view::diagnostics(&diagnostics, text, "f.ttir");
/// assert!(drawn.contains("f.ttir:2:3"));
/// ```
pub fn diagnostics(diagnostics: &Diagnostics, text: &str, path: &str) -> String {
    let mut drawn = String::new();
    for diagnostic in &diagnostics.0 {
        if !drawn.is_empty() {
            drawn.push_str("\n\n");
        }
        let title = Level::ERROR.primary_title(&*diagnostic.message);
        let main = range(diagnostic.span, text);
        let (line, column) = diagnostic.span.line_column(text);
        let mut group = if longest_line(text, &main) > MAX_LINE {
            let origin = annotate_snippets::Origin::path(path).line(line).char_column(column);
            title.element(origin)
        } else {
            let mut snippet =
                Snippet::source(text).path(path).annotation(AnnotationKind::Primary.span(main));
            for (span, label) in &diagnostic.labels {
                let place = range(*span, text);
                if longest_line(text, &place) <= MAX_LINE {
                    snippet =
                        snippet.annotation(AnnotationKind::Context.span(place).label(&**label));
                }
            }
            title.element(snippet)
        };
        if let Some(hint) = &diagnostic.hint {
            group = group.element(Level::HELP.message(&**hint));
        }
        let report: &[Group<'_>] = &[group];
        drawn.push_str(&Renderer::plain().render(report));
    }
    drawn
}

/// The bytes of a span, inside the text and at the borders of characters.
fn range(span: Span, text: &str) -> Range<usize> {
    let border = |mut place: usize| {
        place = place.min(text.len());
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        place
    };
    let (start, end) = (border(span.start as usize), border(span.end as usize));
    start..end.max(start)
}

/// The length of the longest line that a range touches.
fn longest_line(text: &str, range: &Range<usize>) -> usize {
    let start = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |newline| range.end + newline);
    text[start..end].lines().map(str::len).max().unwrap_or(0)
}
