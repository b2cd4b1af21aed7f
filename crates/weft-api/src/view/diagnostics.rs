//! Diagnostics drawn in the text that they are about, as rustc draws its own.

use super::Colours;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;
use weft::diagnostic::{Diagnostics, Span};

/// The longest line that is drawn in full: of a longer one only the place is told.
const MAX_LINE: usize = 400;

/// How many bytes lie at most between what is drawn together: drawing costs some for each line between.
const MAX_BETWEEN: usize = 1 << 20;

/// Every diagnostic with its line of the source, a mark under the place, and the hint; coloured for a
/// terminal that can.
///
/// ```
/// use weft_api::view::Colours;
///
/// let text = "module {\n  tt.funk public @f() {\n  }\n}\n";
/// let diagnostics = weft::ttir::parse(text).unwrap_err();
/// let drawn = weft_api::view::diagnostics(&diagnostics, text, "f.ttir", Colours::Off);
/// assert!(drawn.contains("f.ttir:2:3"));
/// ```
pub fn diagnostics(diagnostics: &Diagnostics, text: &str, path: &str, colours: Colours) -> String {
    let renderer = match colours {
        Colours::Off => Renderer::plain(),
        Colours::On => Renderer::styled(),
    };
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
            let mut shown = whole_lines(text, &main);
            let mut labels = Vec::new();
            for (span, label) in &diagnostic.labels {
                let place = range(*span, text);
                let lines = whole_lines(text, &place);
                let both = shown.start.min(lines.start)..shown.end.max(lines.end);
                if longest_line(text, &place) <= MAX_LINE && both.len() <= MAX_BETWEEN {
                    shown = both;
                    labels.push((place, label));
                }
            }
            let inside = |place: Range<usize>| place.start - shown.start..place.end - shown.start;
            let first = text[..shown.start].matches('\n').count() + 1;
            let mut snippet = Snippet::source(&text[shown.clone()])
                .line_start(first)
                .path(path)
                .annotation(AnnotationKind::Primary.span(inside(main)));
            for (place, label) in labels {
                let label = AnnotationKind::Context.span(inside(place)).label(&**label);
                snippet = snippet.annotation(label);
            }
            title.element(snippet)
        };
        if let Some(hint) = &diagnostic.hint {
            group = group.element(Level::HELP.message(&**hint));
        }
        let report: &[Group<'_>] = &[group];
        drawn.push_str(&renderer.render(report));
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

/// The lines that a range touches, without the last one's end.
fn whole_lines(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |newline| range.end + newline);
    start..end
}

/// The length of the longest line that a range touches.
fn longest_line(text: &str, range: &Range<usize>) -> usize {
    text[whole_lines(text, range)].lines().map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drawing takes the lines between what is shown, not all lines of the text.
    #[test]
    fn a_fault_behind_many_lines_is_drawn_at_its_line() {
        let lines = 1 << 20;
        let text = format!("{}module {{\n  tt.funk public @f() {{\n  }}\n}}\n", "\n".repeat(lines));
        let faults = weft::ttir::parse(&text).unwrap_err();
        let drawn = diagnostics(&faults, &text, "f.ttir", Colours::Off);
        let line = lines + 2;
        assert!(drawn.contains(&format!("f.ttir:{line}:3")), "{drawn}");
        assert!(drawn.contains(&format!("{line} |   tt.funk public @f() {{")), "{drawn}");
    }

    #[test]
    fn a_label_far_away_is_left_out_and_a_near_one_is_drawn() {
        let draw = |between: usize| {
            let text = format!("first\n{}second\n", "\n".repeat(between));
            let at =
                |start: usize, length| Span { start: start as u32, end: (start + length) as u32 };
            let fault = weft::diagnostic::Diagnostic::new(at(6 + between, 6), "it is the second");
            let fault = fault.with_label(at(0, 5), "the first is here");
            diagnostics(&Diagnostics(vec![fault]), &text, "f", Colours::Off)
        };
        assert!(draw(3).contains("the first is here"));
        assert!(!draw(2 * MAX_BETWEEN).contains("the first is here"));
        assert!(draw(2 * MAX_BETWEEN).contains("second"));
    }
}
