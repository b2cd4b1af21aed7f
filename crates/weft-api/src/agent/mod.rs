//! The requests as tools of an agent: short answers, with handles to what they leave out, and with the
//! questions that follow.
//!
//! A tool takes the keys of a request ([`crate::request`]) and gives one object:
//!
//! | field | what it is |
//! |---|---|
//! | `summary` | the answer in a sentence or two |
//! | `answer` | the answer's own fields; a field is here whole or not at all |
//! | `more` | the fields that were too long, each with a handle, and `answer`: the whole answer |
//! | `next` | questions that follow, with their arguments |
//!
//! or, where it cannot be answered, the `error` object of [`crate::invoke()`].
//! The same call gives the same bytes, whatever was called before or beside it.
//! A shell keeps the texts behind the handles on a [`Shelf`], and reads them with [`more()`].
//!
//! ```
//! use serde_json::json;
//! use weft_api::agent::{self, Shelf};
//!
//! let row = "[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]";
//! let question = json!({"attribute": row, "shape": [2, 4]});
//! let reply = agent::call("layout", question.as_object().unwrap()).unwrap();
//! assert!(!reply.is_error);
//! assert_eq!(reply.value["answer"]["bases"]["lane"], json!([[0, 2], [1, 0]]));
//! assert!(agent::call("weave", question.as_object().unwrap()).is_none());
//!
//! let mut shelf = Shelf::default();
//! let all = agent::call("machines", &Default::default()).unwrap();
//! for kept in all.kept.clone() {
//!     shelf.keep(kept);
//! }
//! let handle = all.value["more"][0]["handle"].clone();
//! let page = agent::more(&shelf, json!({"handle": handle, "length": 12}).as_object().unwrap());
//! assert_eq!(page.value["text"], r#"{"machines":"#);
//! ```

mod schema;
mod shelf;
mod short;
mod next;
mod summary;

pub use schema::{Requests, requests};
pub use shelf::{Kept, Page, SCHEME, Shelf};

use crate::error::ApiError;
use crate::request::{
    CompileRequest, ConflictsRequest, ConvertRequest, ExplainRequest, LayoutRequest,
    MachinesRequest, PortRequest, RunRequest, SwizzleRequest,
};
use crate::{budget, conflicts, conversions, explain, invoke, layouts, port, run, swizzles};
use next::Next;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use short::Short;

/// What an agent is told before it asks anything.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");

/// The ways to write a layout, for who has written it otherwise.
const FORMS: &str = "a layout is a Triton attribute (#ttg.blocked<{…}>, #ttg.swizzled_shared<{…}>), bases \
                     ([offset: (0,1) (1,0)] -> [dim0: 2, dim1: 2]) or a CuTe layout ((8,64):(64,1), \
                     Swizzle<3,3,3> o 0 o (8,64):(64,1)), and fits the tensor's shape";

/// A question that an agent can ask.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The name by which it is called, such as `layout`.
    pub name: &'static str,
    /// What it answers, in a few words.
    pub title: &'static str,
    /// What it answers, what it takes, and one example.
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// The JSON Schema of what it answers.
    pub output_schema: Map<String, Value>,
}

/// What a call gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The object that is answered.
    pub value: Value,
    /// Whether it says that the question cannot be answered.
    pub is_error: bool,
    /// What the object leaves out.
    pub kept: Vec<Kept>,
}

/// The arguments of `more`.
#[derive(Clone, Debug, serde::Deserialize, JsonSchema)]
struct MoreRequest {
    /// The handle, as an answer's `more` gives it.
    handle: String,
    /// The first character, from zero: an earlier page's `next_offset`.
    #[serde(default)]
    offset: usize,
    /// The most characters; 8000 if it is not given, 32000 at most.
    length: Option<usize>,
}

/// The tools, in the order in which a newcomer would try them.
pub fn tools() -> Vec<Tool> {
    macro_rules! tool {
        ($name:literal, $title:literal, $request:ty) => {
            tool!($name, $title, schema::limited::<$request>(), Told)
        };
        ($name:literal, $title:literal, $input:expr, $answer:ty) => {
            Tool {
                name: $name,
                title: $title,
                description: include_str!(concat!("tools/", $name, ".md")).trim_ascii_end(),
                input_schema: $input,
                output_schema: schema::of_answer::<$answer>(),
            }
        };
    }
    vec![
        tool!("machines", "GPUs that are known", MachinesRequest),
        tool!("layout", "What a layout is", LayoutRequest),
        tool!("conflicts", "Bank conflicts of an access", ConflictsRequest),
        tool!("swizzle", "The best shared-memory layout", SwizzleRequest),
        tool!("convert", "From one layout into another", ConvertRequest),
        tool!("port", "From NVIDIA's GPUs to AMD's", PortRequest),
        tool!("compile", "A Triton kernel as code", CompileRequest),
        tool!("explain", "What a compiled kernel costs and why", ExplainRequest),
        tool!("simulate", "A kernel run, counted and checked", RunRequest),
        tool!("more", "The rest of an answer", schema::of::<MoreRequest>(), Page),
    ]
}

/// Answers a call of a tool other than `more`; nothing where there is no such tool.
///
/// Depends on its arguments alone, and never panics on bad ones.
pub fn call(tool: &str, arguments: &Map<String, Value>) -> Option<Reply> {
    let asked = Asked { arguments };
    Some(match tool {
        "machines" => asked.reply("machines", layouts::machines, summary::machines, next::machines),
        "layout" => asked.reply("layout", invoke::layout, summary::layout, next::layout),
        "conflicts" => {
            asked.reply("conflicts", conflicts::conflicts, summary::conflicts, next::conflicts)
        }
        "swizzle" => asked.reply("swizzle", swizzles::swizzle, summary::swizzle, next::swizzle),
        "convert" => asked.reply("convert", conversions::convert, summary::convert, next::convert),
        "port" => asked.reply("port", port::port, summary::port, next::port),
        "compile" => asked.reply("compile", invoke::compile, summary::compile, next::compile),
        "explain" => asked.reply("explain", explain::explain, summary::explain, next::explain),
        "simulate" => asked.reply("simulate", run::run, summary::simulate, next::simulate),
        _ => return None,
    })
}

/// A part of a text that an earlier reply left out.
pub fn more(shelf: &Shelf, arguments: &Map<String, Value>) -> Reply {
    let asked = Asked { arguments };
    let MoreRequest { handle, offset, length } = match asked.read("more") {
        Ok(request) => request,
        Err(error) => return refusal(&error),
    };
    let length = length.unwrap_or(shelf::PAGE).clamp(1, shelf::MAX_PAGE);
    match shelf.page(&handle, offset, length) {
        Some(page) => Reply { value: value(&page), is_error: false, kept: Vec::new() },
        None => {
            let message = format!("nothing is kept as `{handle}`");
            let hint =
                "handles stand in the `more` of an answer; the call that gave one gives it again";
            failed(&invoke::fault_text("handle", &message, Some(hint)))
        }
    }
}

/// The reply to a call that a defect of Weft ended.
pub fn defect(what: &str) -> Reply {
    let hint = "the session goes on; ask something else, and report this call";
    failed(&invoke::fault_text("defect", what, Some(hint)))
}

fn refusal(error: &ApiError) -> Reply {
    let mut reply = failed(&invoke::error_text(error));
    if error.path().is_some()
        && let Some(fault) = reply.value.get_mut("error").and_then(Value::as_object_mut)
    {
        // Line and column are those of a text that the agent never saw.
        fault.remove("line");
        fault.remove("column");
    }
    if matches!(error.kind(), "attribute")
        && let Some(fault) = reply.value.get_mut("error").and_then(Value::as_object_mut)
        && !fault.contains_key("hint")
    {
        fault.insert("hint".into(), FORMS.into());
    }
    reply
}

fn failed(text: &str) -> Reply {
    let value = serde_json::from_str(text).unwrap_or(Value::Null);
    Reply { value, is_error: true, kept: Vec::new() }
}

fn value(answer: &impl Serialize) -> Value {
    // Answers have text keys and no type that refuses to be written.
    serde_json::to_value(answer).unwrap_or(Value::Null)
}

/// A call with its arguments.
#[derive(Clone, Copy)]
struct Asked<'a> {
    arguments: &'a Map<String, Value>,
}

/// What is answered, beside the answer itself.
#[derive(Serialize, JsonSchema)]
struct Told {
    /// The answer in a sentence or two.
    summary: String,
    /// The answer's own fields; a field is here whole or not at all.
    answer: Map<String, Value>,
    /// The fields that were too long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<short::Left>,
    /// Questions that may follow from this answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<Next>,
}

impl Asked<'_> {
    fn read<T: DeserializeOwned>(self, name: &'static str) -> Result<T, ApiError> {
        let text = invoke::text_of(self.arguments);
        invoke::read(name, &text, self.arguments)
    }

    fn reply<Q: DeserializeOwned, A: Serialize>(
        self,
        name: &'static str,
        answer: impl Fn(&Q) -> Result<A, ApiError>,
        summary: impl Fn(&Q, &A) -> String,
        next: impl Fn(&Map<String, Value>, &Q, &A) -> Vec<Next>,
    ) -> Reply {
        let milliseconds = budget::CALL_MILLISECONDS;
        let answered = budget::answered(self.arguments.get("limits"), milliseconds, || {
            let request = self.read::<Q>(name)?;
            answer(&request).map(|found| (request, found))
        });
        let (request, found) = match answered {
            Ok(answered) => answered,
            Err(error) => return refusal(&error),
        };
        let Short { fields, left, kept } = short::of(name, invoke::text_of(&found));
        let told = Told {
            summary: summary(&request, &found),
            answer: fields,
            more: left,
            next: next(self.arguments, &request, &found),
        };
        Reply { value: value(&told), is_error: false, kept }
    }
}
