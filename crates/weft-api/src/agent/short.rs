//! An answer without its long parts.

use super::shelf::Kept;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The most characters of a field that is answered at once.
const MAX_FIELD: usize = 2_000;
/// Parts of the members of a list that only the whole answer has: a plan is a page, and a kernel has many.
const IN_LISTS: [&str; 2] = ["plan", "outline"];

/// An answer without its long parts.
pub(super) struct Short {
    /// What is short enough.
    pub(super) fields: Map<String, Value>,
    /// What was too long, by field.
    pub(super) left: Vec<Left>,
    /// The texts of that.
    pub(super) kept: Vec<Kept>,
}

/// A field that was left out.
#[derive(Serialize, JsonSchema)]
pub(super) struct Left {
    /// Which; `answer` for the whole answer.
    field: String,
    /// Where `more` finds it.
    handle: String,
    characters: usize,
    lines: usize,
}

/// Cuts an answer, of which this is the JSON text.
pub(super) fn of(tool: &str, text: String) -> Short {
    let mut short = Short { fields: Map::new(), left: Vec::new(), kept: Vec::new() };
    let Ok(Value::Object(fields)) = serde_json::from_str(&text) else { return short };
    let mut whole = true;
    for (key, mut field) in fields {
        // The outline is the plan again.
        if tool == "convert" && key == "outline" {
            whole = false;
            continue;
        }
        whole &= !shorten(&mut field);
        let long = match &field {
            Value::String(text) => text.chars().count() > MAX_FIELD,
            Value::Array(_) | Value::Object(_) => field.to_string().len() > MAX_FIELD,
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        };
        match field {
            Value::String(text) if long => {
                short.leave(&key, text);
                whole = false;
            }
            // Lists are read in the whole answer.
            _ if long => whole = false,
            field => {
                short.fields.insert(key, field);
            }
        }
    }
    if !whole {
        short.leave("answer", text);
    }
    short
}

/// Takes the pages out of the members of a list; whether there were any.
fn shorten(field: &mut Value) -> bool {
    let mut cut = false;
    for member in field.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        for key in IN_LISTS {
            cut |= member.remove(key).is_some();
        }
    }
    cut
}

impl Short {
    fn leave(&mut self, field: &str, text: String) {
        let (characters, lines) = (text.chars().count(), text.lines().count());
        let kept = Kept::new(text);
        let (field, handle) = (field.to_owned(), kept.handle.clone());
        self.left.push(Left { field, handle, characters, lines });
        self.kept.push(kept);
    }
}
