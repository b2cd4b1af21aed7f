//! One function from text to text: a request as JSON in, its answer as JSON out.

use crate::answer::CompileAnswer;
use crate::error::ApiError;
use crate::request::{
    CompileRequest, ConvertRequest, Emit, ExplainRequest, LayoutRequest, MachinesRequest,
    RunRequest,
};
use crate::{explain, kernels, layouts, report, run};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Visitor};
use serde::{Serialize, forward_to_deserialize_any};
use serde_json::{Map, Value, json};

/// The requests, in the order in which a newcomer would try them.
pub const REQUESTS: &[&str] = &["machines", "layout", "convert", "compile", "run", "explain"];

/// What becomes of keys that a request does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownKeys {
    /// The request is refused: a key is misspelt more often than superfluous.
    Refused,
    /// They are passed over, as in the lines of a batch.
    Ignored,
}

/// Answers a request; one that cannot be answered gives `{"error": {"kind": …, "message": …, …}}`.
///
/// ```
/// let answer = weft_api::invoke(r#"{"request": "weave"}"#);
/// assert_eq!(
///     answer,
///     r#"{"error":{"kind":"request","message":"there is no request `weave`","#.to_owned()
///         + r#""hint":"`request` is one of machines, layout, convert, compile, run, explain"}}"#,
/// );
/// ```
pub fn invoke(text: &str) -> String {
    let answered = parse(text).and_then(|object| {
        let name = match object.get("request") {
            Some(Value::String(name)) => name.clone(),
            _ => return Err(ApiError::NoRequest { known: REQUESTS }),
        };
        answer(&name, text, &object, UnknownKeys::Refused)
    });
    answered.unwrap_or_else(|error| error_text(&error))
}

/// Answers one line of a batch of requests of one kind: as [`invoke`], but the line does not name
/// the request, and keys that the request does not take are passed over.
pub fn invoke_line(request: &str, line: &str) -> String {
    let answered =
        parse(line).and_then(|object| answer(request, line, &object, UnknownKeys::Ignored));
    answered.unwrap_or_else(|error| error_text(&error))
}

/// The error answer: what is wrong, where, and what would be right.
pub fn error_text(error: &ApiError) -> String {
    let all = match error {
        ApiError::Text(text) if text.places.len() > 1 => text
            .places
            .iter()
            .zip(&text.diagnostics.0)
            .map(|((line, column), fault)| {
                json!({
                    "message": fault.message, "hint": fault.hint, "line": line, "column": column,
                })
            })
            .collect(),
        _ => Vec::new(),
    };
    let (line, column) = error.place().unzip();
    let (message, hint) = (error.to_string(), error.hint());
    text_of(&ErrorAnswer { error: Fault { kind: error.kind(), message, hint, line, column, all } })
}

/// The error answer for what a shell itself could not do, such as read a file.
pub fn fault_text(kind: &str, message: &str, hint: Option<&str>) -> String {
    let (message, hint) = (message.to_owned(), hint.map(str::to_owned));
    let fault = Fault { kind, message, hint, line: None, column: None, all: Vec::new() };
    text_of(&ErrorAnswer { error: fault })
}

#[derive(Serialize)]
struct ErrorAnswer<'a> {
    error: Fault<'a>,
}

#[derive(Serialize)]
struct Fault<'a> {
    kind: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// Every fault of the text, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    all: Vec<Value>,
}

/// An answer as JSON.
pub fn text_of(answer: &impl Serialize) -> String {
    // Answers have text keys and no type that refuses to be written.
    serde_json::to_string(answer)
        .unwrap_or_else(|error| fault_text("defect", &error.to_string(), None))
}

/// What a kernel becomes, with the report if it was asked for.
pub fn compile(request: &CompileRequest) -> Result<CompileAnswer, ApiError> {
    let (kernel, mut answer) = kernels::compile(request)?;
    if request.emit.contains(&Emit::Report) {
        answer.report = Some(report::explain(&explain::explain_kernel(&kernel)));
    }
    Ok(answer)
}

fn parse(text: &str) -> Result<Map<String, Value>, ApiError> {
    serde_json::from_str(text).map_err(|error| json_error(&error))
}

fn json_error(error: &serde_json::Error) -> ApiError {
    let (line, column) = (error.line(), error.column());
    // serde_json appends the place to the sentence.
    let message = error.to_string();
    let place = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
    ApiError::Json { message, line, column }
}

fn answer(
    name: &str,
    text: &str,
    object: &Map<String, Value>,
    unknown: UnknownKeys,
) -> Result<String, ApiError> {
    let asked = Asked { text, object, unknown };
    Ok(match name {
        "machines" => text_of(&layouts::machines(&asked.read::<MachinesRequest>("machines")?)),
        "layout" => text_of(&layouts::layout(&asked.read::<LayoutRequest>("layout")?)?),
        "convert" => text_of(&layouts::convert(&asked.read::<ConvertRequest>("convert")?)?),
        "compile" => text_of(&compile(&asked.read::<CompileRequest>("compile")?)?),
        "run" => text_of(&run::run(&asked.read::<RunRequest>("run")?)?),
        "explain" => text_of(&explain::explain(&asked.read::<ExplainRequest>("explain")?)?),
        _ => return Err(ApiError::UnknownRequest { name: name.into(), known: REQUESTS }),
    })
}

/// A request whose kind is known.
#[derive(Clone, Copy)]
struct Asked<'a> {
    text: &'a str,
    object: &'a Map<String, Value>,
    unknown: UnknownKeys,
}

impl Asked<'_> {
    /// The typed request, read from the text once more so that faults have a place.
    fn read<T: DeserializeOwned>(self, request: &'static str) -> Result<T, ApiError> {
        let known = keys::<T>();
        let foreign = self.object.keys().find(|key| *key != "request" && !known.contains(&&***key));
        if let (UnknownKeys::Refused, Some(key)) = (self.unknown, foreign) {
            return Err(ApiError::UnknownKey { request, key: key.clone(), known });
        }
        serde_json::from_str(self.text).map_err(|error| json_error(&error))
    }
}

/// The keys that a struct is read from, asked of its own `Deserialize`.
fn keys<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Keys<'a>(&'a mut &'static [&'static str]);
    impl<'de> Deserializer<'de> for Keys<'_> {
        type Error = serde::de::value::Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(serde::de::Error::custom("only the keys are asked for"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            *self.0 = fields;
            self.deserialize_any(visitor)
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
            unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }
    let mut known: &'static [&'static str] = &[];
    // The error is the point: nothing is read.
    let _ = <T as Deserialize>::deserialize(Keys(&mut known));
    known
}
