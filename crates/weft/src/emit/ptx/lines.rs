//! Lines of the user's source, for debuggers and profilers: `.file`, `.loc` and the texts that these name
//! (PTX ISA, debugging directives).
//!
//! Of a place in a function that was inlined, the place of the call comes first, then its own with where it
//! was inlined:
//!
//! ```text
//! .loc 1 21 14
//! .loc 2 191 16, function_name $inlined_0, inlined_at 1 21 14
//! ```
//!
//! Triton IR does not name the functions that were inlined: each has the name of its file.

use super::Version;
use super::writer::push;
use crate::emit::comment::printable;
use crate::location::{Loc, Locations, Source};

/// The version that knows of functions which were inlined.
const INLINED: Version = (7, 2);

/// The places told so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The files, by their numbers from one.
    files: Vec<String>,
    /// The files whose functions were inlined somewhere.
    inlined: Vec<String>,
    /// The place last told, and from where it was called.
    last: Vec<Source>,
}

impl Lines {
    /// The directives that lead to an operation, if it came from another place than the last one, and the
    /// version that they need.
    pub(super) fn lead(
        &mut self,
        locations: &Locations,
        loc: Loc,
    ) -> (Vec<String>, Option<Version>) {
        let trail = locations.trail(loc);
        if trail.is_empty() || trail == self.last {
            return (Vec::new(), None);
        }
        let (mut directives, mut caller) = (Vec::new(), None::<String>);
        for Source { file, line, column } in trail.iter().rev() {
            let place = format!("{} {line} {column}", 1 + index_of(&mut self.files, file));
            directives.push(match &caller {
                None => format!(".loc {place}"),
                Some(caller) => {
                    let name = index_of(&mut self.inlined, file);
                    format!(".loc {place}, function_name $inlined_{name}, inlined_at {caller}")
                }
            });
            caller = Some(place);
        }
        self.last = trail;
        let version = (directives.len() > 1).then_some(INLINED);
        (directives, version)
    }

    /// What stands at the end of the text: the files, and the names of what was inlined.
    pub(super) fn tables(&self) -> String {
        let mut text = String::new();
        for (index, file) in self.files.iter().enumerate() {
            let file = printable(file).replace('"', "?");
            push(&mut text, format_args!(".file {} \"{file}\"\n", index + 1));
        }
        if self.inlined.is_empty() {
            return text;
        }
        text.push_str(".section .debug_str\n{\n");
        for (index, file) in self.inlined.iter().enumerate() {
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            let bytes: Vec<String> = name.bytes().chain([0]).map(|byte| byte.to_string()).collect();
            push(&mut text, format_args!("$inlined_{index}:\n.b8 {}\n", bytes.join(", ")));
        }
        text.push_str("}\n");
        text
    }
}

/// The place of a text among others, where it is put if it is new.
fn index_of(texts: &mut Vec<String>, text: &str) -> usize {
    texts.iter().position(|known| known == text).unwrap_or_else(|| {
        texts.push(text.into());
        texts.len() - 1
    })
}
