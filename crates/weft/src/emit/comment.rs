//! What a text says between its operations of where they came from.

use crate::location::{Loc, Locations};

/// The place last told.
#[derive(Debug, Default)]
pub(super) struct Told<'a> {
    line: Option<(&'a str, u32)>,
    note: Option<&'a str>,
}

impl<'a> Told<'a> {
    /// The comments (without the marks of one) that lead to an operation: its note and its line, each
    /// where it is another than the last one told.
    pub(super) fn lead(&mut self, locations: &'a Locations, loc: Loc) -> Vec<String> {
        let mut lines = Vec::new();
        let note = locations.note(loc);
        if note.is_some() && note != self.note {
            lines.extend(note.map(printable));
        }
        self.note = note;
        if let Some((file, line, _)) = locations.resolve(loc)
            && self.line != Some((file, line))
        {
            self.line = Some((file, line));
            lines.push(format!("{}:{line}", printable(file)));
        }
        lines
    }
}

/// The comment must not end early, and assemblers read ASCII. A backslash at its end would go on.
pub(super) fn printable(text: &str) -> String {
    let plain = |c: char| c.is_ascii_graphic() && c != '\\' || c == ' ';
    text.chars().map(|c| if plain(c) { c } else { '?' }).collect()
}
