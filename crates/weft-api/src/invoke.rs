//! One function from text to text: a request as JSON in, its answer as JSON out.

use crate::answer::{CompileAnswer, LayoutAnswer};
use crate::error::ApiError;
use crate::request::{
    CompileRequest, ConflictsRequest, ConvertRequest, Emit, ExplainRequest, Format, LayoutRequest,
    MachinesRequest, OperateRequest, PaperRequest, Picture, PortRequest, RunRequest, SweepRequest,
    SwizzleRequest, WavefrontsRequest, machine,
};
use crate::view::{self, Banks, Colours, View, Window};
use crate::{
    budget, conflicts, conversions, explain, kernels, layouts, operators, paper, port, report, run,
    sweep, swizzles, wavefronts,
};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Visitor};
use serde::{Serialize, forward_to_deserialize_any};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use weft::location::Source;

/// The requests, in the order in which a newcomer would try them.
pub const REQUESTS: &[&str] = &[
    "machines",
    "layout",
    "operate",
    "convert",
    "swizzle",
    "port",
    "conflicts",
    "wavefronts",
    "sweep",
    "compile",
    "run",
    "explain",
    "paper",
];

/// What becomes of keys that a request does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownKeys {
    /// The request is refused: a key is misspelt more often than superfluous.
    Refused,
    /// They are passed over, as in the lines of a batch.
    Ignored,
}

/// The most requests of an array.
pub const MOST_TOGETHER: usize = 256;

/// From how many requests on an array takes its time, though each is answered soon.
const MANY_TOGETHER: usize = 32;

/// Answers a request; one that cannot be answered gives `{"error": {"kind": …, "message": …, …}}`.
///
/// An array of requests is answered in one go, by the array of their answers in the same order. Each is
/// the text that the request alone would be answered by, an error of its own among them, and has the
/// limits that the request alone would have.
///
/// ```
/// let answer = weft_api::invoke(r#"{"request": "weave"}"#);
/// assert_eq!(
///     answer,
///     r#"{"error":{"kind":"request","message":"there is no request `weave`","#.to_owned()
///         + r#""hint":"`request` is one of machines, layout, operate, convert, swizzle, port, conflicts, wavefronts, sweep, compile, run, explain, paper"}}"#,
/// );
/// let one = r#"{"request": "machines", "target": "sm_90"}"#;
/// let several = weft_api::invoke(&format!(r#"[{one}, {{"request": "weave"}}]"#));
/// assert_eq!(several, format!("[{},{answer}]", weft_api::invoke(one)));
/// ```
pub fn invoke(text: &str) -> String {
    // Nothing else that is JSON begins so.
    if text.trim_start().starts_with('[') {
        return several(text).unwrap_or_else(|error| error_text(&error));
    }
    one(text)
}

/// Answers the requests of an array, one after the other.
fn several(text: &str) -> Result<String, ApiError> {
    let requests = array(text).map_err(|error| json_error(&error, None))?;
    if requests.len() > MOST_TOGETHER {
        return Err(ApiError::Together { most: MOST_TOGETHER as u64, of: "requests" });
    }
    let most = budget::current().limits.text_bytes;
    let mut answers = String::from("[");
    for (index, request) in requests.iter().enumerate() {
        if index > 0 {
            answers.push(',');
        }
        // What one answer may take is bounded, so that this bounds them all.
        if answers.len() as u64 > most {
            answers += &error_text(&ApiError::Together { most, of: "bytes of answers" });
        } else {
            answers += &one(request.get());
        }
    }
    answers.push(']');
    Ok(answers)
}

/// The texts of an array's elements.
fn array(text: &str) -> serde_json::Result<Vec<&RawValue>> {
    serde_json::from_str(text)
}

/// Answers a single request.
fn one(text: &str) -> String {
    let answered = parse(text).and_then(|object| {
        let name = match object.get("request") {
            Some(Value::String(name)) => name.clone(),
            _ => return Err(ApiError::NoRequest { known: REQUESTS }),
        };
        limited(&name, text, &object, UnknownKeys::Refused)
    });
    answered.unwrap_or_else(|error| error_text(&error))
}

/// Whether the text of a request asks for work that may take seconds, where others take milliseconds: to
/// read a kernel, or to compute a table; or that of an array, one of which does so, or which is long itself.
pub fn may_take_long(text: &str) -> bool {
    match array(text) {
        Ok(all) => {
            all.len() > MANY_TOGETHER || all.iter().any(|request| one_may_take_long(request.get()))
        }
        Err(_) => one_may_take_long(text),
    }
}

fn one_may_take_long(text: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        request: std::borrow::Cow<'a, str>,
    }
    let long = ["compile", "run", "explain", "paper", "port", "sweep"];
    let named = serde_json::from_str::<Named<'_>>(text);
    named.is_ok_and(|named| long.contains(&&*named.request))
}

/// Answers one line of a batch of requests of one kind: as [`invoke`], but the line does not name
/// the request, and keys that the request does not take are passed over.
pub fn invoke_line(request: &str, line: &str) -> String {
    let answered =
        parse(line).and_then(|object| limited(request, line, &object, UnknownKeys::Ignored));
    answered.unwrap_or_else(|error| error_text(&error))
}

/// The error answer: what is wrong, where, and what would be right.
pub fn error_text(error: &ApiError) -> String {
    let all = match error {
        ApiError::Text(text) if text.places.len() > 1 => text
            .places
            .iter()
            .zip(&text.diagnostics.0)
            .map(|(&(line, column), fault)| {
                let (message, hint) = (fault.message.clone(), fault.hint.clone());
                let source = fault.source.as_ref().map(SourceAnswer::of);
                Each { column, hint, line, message, source }
            })
            .collect(),
        _ => Vec::new(),
    };
    let (line, column) = error.place().unzip();
    let (message, hint) = (error.to_string(), error.hint());
    let path = error.path().map(str::to_owned);
    let (kind, source) = (error.kind(), error.source().map(SourceAnswer::of));
    let fault = Fault { kind, message, hint, path, line, column, source, all };
    text_of(&ErrorAnswer { error: fault })
}

/// The error answer for a panic, which is a defect of Weft: what was asked for has no answer, and whoever asked goes on.
pub fn panic_text(panic: &(dyn core::any::Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
    fault_text("defect", &format!("{} (a defect of weft)", said.unwrap_or("a panic")), None)
}

/// The error answer for what a shell itself could not do, such as read a file.
pub fn fault_text(kind: &str, message: &str, hint: Option<&str>) -> String {
    let (message, hint) = (message.to_owned(), hint.map(str::to_owned));
    let fault = Fault {
        kind,
        message,
        hint,
        path: None,
        line: None,
        column: None,
        source: None,
        all: Vec::new(),
    };
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
    /// Where in the request: `shape[1]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// Where in the source that the text was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<SourceAnswer<'a>>,
    /// Every fault of the text, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    all: Vec<Each<'a>>,
}

/// One of several faults of a text.
#[derive(Serialize)]
struct Each<'a> {
    column: usize,
    hint: Option<String>,
    line: usize,
    message: String,
    source: Option<SourceAnswer<'a>>,
}

#[derive(Serialize)]
struct SourceAnswer<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

impl<'a> SourceAnswer<'a> {
    fn of(source: &'a Source) -> Self {
        let Source { file, line, column } = source;
        Self { file, line: *line, column: *column }
    }
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
        answer.report = Some(report::explain(&explain::explain_kernel(&kernel)?));
    }
    Ok(answer)
}

/// What a layout is, with the picture if it was asked for.
pub fn layout(request: &LayoutRequest) -> Result<LayoutAnswer, ApiError> {
    let mut answer = layouts::layout(request)?;
    if let Some(format) = request.format {
        answer.picture = Some(picture(request, &answer, format, Colours::Off)?);
    }
    Ok(answer)
}

/// A layout as a format shows it.
pub fn picture(
    request: &LayoutRequest,
    answer: &LayoutAnswer,
    format: Format,
    colours: Colours,
) -> Result<String, ApiError> {
    let LayoutRequest { picture, slice, all, target, .. } = request;
    let picture = match (format, picture) {
        (Format::Svg, picture) => picture.unwrap_or_default(),
        (_, Some(_)) => {
            return Err(ApiError::Picture {
                reason: "`picture` says what an SVG file shows, and the format is another".into(),
                hint: "give the format `svg`, or the picture itself as the format".into(),
            });
        }
        (Format::Text, None) => return Ok(report::layout(answer)),
        (Format::Grid, None) => Picture::Grid,
        (Format::Hardware, None) => Picture::Hardware,
        (Format::Banks, None) => Picture::Banks,
        (Format::Matrix, None) => Picture::Matrix,
    };
    let machine = machine(target)?;
    let full = *all || format == Format::Svg;
    let scene = view::scene(
        &answer.map,
        &View {
            picture,
            slice,
            window: if full { Window::Full } else { Window::DEFAULT },
            padded: answer.padded.as_ref(),
            banks: answer
                .element_bits
                .map(|element_bits| Banks { machine: &machine, element_bits }),
        },
    )?;
    Ok(if format == Format::Svg { view::svg(&scene) } else { view::terminal(&scene, colours) })
}

fn parse(text: &str) -> Result<Map<String, Value>, ApiError> {
    serde_json::from_str(text).map_err(|error| json_error(&error, None))
}

/// A text without the mark at its beginning that some editors write into files of UTF-8.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn json_error(error: &serde_json::Error, path: Option<String>) -> ApiError {
    let (line, column) = (error.line(), error.column());
    // serde_json appends the place to the sentence.
    let message = error.to_string();
    let place = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
    ApiError::Json { message, path, line, column }
}

/// A typed request from an object whose text this is; keys that it does not take are refused.
#[cfg(feature = "agent")]
pub(crate) fn read<T: DeserializeOwned>(
    request: &'static str,
    text: &str,
    object: &Map<String, Value>,
) -> Result<T, ApiError> {
    Asked { text, object, unknown: UnknownKeys::Refused }.read(request)
}

/// Answers within the limits that the request names.
fn limited(
    name: &str,
    text: &str,
    object: &Map<String, Value>,
    unknown: UnknownKeys,
) -> Result<String, ApiError> {
    budget::answered(object.get("limits"), budget::REQUEST_MILLISECONDS, || {
        answer(name, text, object, unknown)
    })
}

fn answer(
    name: &str,
    text: &str,
    object: &Map<String, Value>,
    unknown: UnknownKeys,
) -> Result<String, ApiError> {
    let asked = Asked { text, object, unknown };
    Ok(match name {
        "machines" => text_of(&layouts::machines(&asked.read::<MachinesRequest>("machines")?)?),
        "layout" => text_of(&layout(&asked.read::<LayoutRequest>("layout")?)?),
        "operate" => text_of(&operators::operate(&asked.read::<OperateRequest>("operate")?)?),
        "convert" => text_of(&conversions::convert(&asked.read::<ConvertRequest>("convert")?)?),
        "conflicts" => {
            text_of(&conflicts::conflicts(&asked.read::<ConflictsRequest>("conflicts")?)?)
        }
        "wavefronts" => {
            text_of(&wavefronts::wavefronts(&asked.read::<WavefrontsRequest>("wavefronts")?)?)
        }
        "sweep" => text_of(&sweep::sweep(&asked.read::<SweepRequest>("sweep")?)?),
        "swizzle" => text_of(&swizzles::swizzle(&asked.read::<SwizzleRequest>("swizzle")?)?),
        "port" => text_of(&port::port(&asked.read::<PortRequest>("port")?)?),
        "compile" => text_of(&compile(&asked.read::<CompileRequest>("compile")?)?),
        "run" => text_of(&run::run(&asked.read::<RunRequest>("run")?)?),
        "paper" => text_of(&paper::paper(&asked.read::<PaperRequest>("paper")?)?),
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
        let is_foreign =
            |key: &&String| !["request", "limits"].contains(&&***key) && !known.contains(&&***key);
        let foreign = self.object.keys().filter(is_foreign);
        // Objects may keep the order of the text or not; the first by name is the same.
        let foreign = foreign.min();
        if let (UnknownKeys::Refused, Some(key)) = (self.unknown, foreign) {
            return Err(ApiError::UnknownKey { request, key: key.clone(), known });
        }
        serde_json::from_str(self.text).map_err(|error| {
            // Read again for the place in the object: that costs something, and faults are rare.
            let mut reader = serde_json::Deserializer::from_str(self.text);
            let path = serde_path_to_error::deserialize::<_, T>(&mut reader).err();
            let path = path.map(|fault| fault.path().to_string()).filter(|path| path != ".");
            json_error(&error, path)
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The error of a request, as an object.
    fn error(text: &str) -> Value {
        let answer: Value = serde_json::from_str(&invoke(text)).unwrap();
        assert!(answer["error"]["kind"].is_string(), "{text}: {answer}");
        answer["error"].clone()
    }

    #[test]
    fn requests_that_nobody_knows_name_those_that_are_known() {
        for text in ["{}", r#"{"request": 4}"#, r#"{"request": "Machines"}"#] {
            let error = error(text);
            assert_eq!(error["kind"], "request");
            assert!(error["hint"].as_str().unwrap().contains("machines, layout, operate, convert"));
        }
    }

    #[test]
    fn faults_of_the_text_have_a_place() {
        let place = |text| {
            let error = error(text);
            assert_eq!(error["kind"], "json");
            (error["line"].as_u64().unwrap(), error["column"].as_u64().unwrap())
        };
        assert_eq!(place("{\"request\":\n  layout}"), (2, 3));
        assert_eq!(place("{\"request\": \"layout\",\n\"shape\": [8, \"8\"]}"), (2, 16));
        assert_eq!(place("7"), (1, 1));
        assert_eq!(place("[1, 2"), (1, 5));
        assert_eq!(place(""), (1, 0));
    }

    #[test]
    fn an_array_is_answered_as_each_of_its_requests_is_alone() {
        let requests = [
            r#"{"request": "machines", "target": "sm_80"}"#,
            "{\"request\": \"layout\",\n\"shape\": [8, \"8\"]}",
            r#"{"request": "layout", "attribute": "(4,2):(2,1)"}"#,
            r#"{"request": "machines", "limits": {"milliseconds": 0}}"#,
            r#"[{"request": "machines"}]"#,
            "7",
        ];
        let asked = requests.join(" ,\n");
        let alone: Vec<String> = requests.iter().map(|text| one(text)).collect();
        assert_eq!(invoke(&format!("\n [{asked}]")), format!("[{}]", alone.join(",")));
        assert_eq!(invoke("[]"), "[]");
        // An array within an array is no request, and what has the limit 0 is late.
        assert!(alone[4].contains(r#""kind":"json""#), "{}", alone[4]);
        assert!(alone[3].contains(r#""kind":"limit""#), "{}", alone[3]);
    }

    #[test]
    fn arrays_have_limits() {
        let most = format!("[{}7]", "7,".repeat(MOST_TOGETHER - 1));
        assert_eq!(
            serde_json::from_str::<Vec<Value>>(&invoke(&most)).unwrap().len(),
            MOST_TOGETHER
        );
        let more = error(&format!("[{}7]", "7,".repeat(MOST_TOGETHER)));
        assert_eq!(more["message"], "an array of requests has at most 256 requests");
        // One answer goes over the bytes of text; the next is none.
        let limits = budget::Limits { text_bytes: 100, ..budget::Limits::default() };
        let few = budget::Budget { limits, ..budget::Budget::default() };
        let asked = r#"[{"request": "machines"}, {"request": "machines"}]"#;
        let answers = budget::within(&few, || invoke(asked));
        let answers: Vec<Value> = serde_json::from_str(&answers).unwrap();
        assert!(answers[0]["machines"].is_array());
        assert_eq!(answers[1]["error"]["kind"], "limit");
        assert_eq!(
            answers[1]["error"]["message"],
            "an array of requests has at most 100 bytes of answers"
        );
    }

    #[test]
    fn an_array_that_is_stopped_is_answered_by_errors() {
        let budget = budget::Budget::default();
        budget.stop.set();
        let asked = r#"[{"request": "machines"}, {"request": "machines"}]"#;
        let stopped = r#"{"error":{"kind":"stopped","message":"the request was stopped"}}"#;
        assert_eq!(budget::within(&budget, || invoke(asked)), format!("[{stopped},{stopped}]"));
    }

    #[test]
    fn what_may_take_long_is_known_by_its_names_and_its_length() {
        assert!(!may_take_long(r#"{"request": "layout"}"#));
        assert!(may_take_long(r#"{"request": "sweep"}"#));
        assert!(!may_take_long(r#"[{"request": "layout"}, 7]"#));
        assert!(may_take_long(r#"[7, {"request": "layout"}, {"request": "compile"}]"#));
        let layouts = |count: usize| format!("[{}7]", r#"{"request": "layout"},"#.repeat(count));
        assert!(!may_take_long(&layouts(MANY_TOGETHER - 1)));
        assert!(may_take_long(&layouts(MANY_TOGETHER)));
    }

    #[test]
    fn a_misspelt_key_is_refused_alone_and_passed_over_in_a_batch() {
        let error = error(r#"{"request": "machines", "targt": 1}"#);
        assert_eq!(error["message"], "a `machines` request does not take `targt`");
        assert_eq!(error["hint"], "did you mean `target`? it takes target");
        let request = r#"{"attribute": "[lane: 1] -> [dim0: 2]", "shape": [2], "shap": 1}"#;
        assert!(invoke_line("layout", request).starts_with(r#"{"bases":{"lane":[[1]]}"#));
    }

    #[test]
    fn every_request_knows_its_keys() {
        assert_eq!(keys::<MachinesRequest>(), ["target"]);
        assert_eq!(
            keys::<LayoutRequest>(),
            [
                "attribute",
                "shape",
                "element",
                "element_bits",
                "format",
                "picture",
                "slice",
                "all",
                "target",
                "names"
            ]
        );
        for known in [
            keys::<ConvertRequest>(),
            keys::<ConflictsRequest>(),
            keys::<WavefrontsRequest>(),
            keys::<SweepRequest>(),
            keys::<CompileRequest>(),
            keys::<RunRequest>(),
            keys::<ExplainRequest>(),
            keys::<PaperRequest>(),
            keys::<PortRequest>(),
        ] {
            assert!(known.contains(&"target"));
        }
    }

    #[test]
    fn hostile_requests_are_answered() {
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        let answers: Vec<Value> = serde_json::from_str(&invoke(&deep)).unwrap();
        assert!(answers.len() == 1 && answers[0]["error"]["kind"] == "json", "{answers:?}");
        error(&format!("{{\"request\": {deep}}}"));
        for shape in ["[]", "[0]", "[3]", "[18446744073709551615]", "[9223372036854775808, 2]"] {
            let attribute =
                "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>";
            let request =
                format!(r#"{{"request": "layout", "attribute": "{attribute}", "shape": "#);
            assert_eq!(error(&format!("{request}{shape}}}"))["kind"], "shape");
        }
        for grid in ["0", "[1, 1, 1, 1]", "[4294967296]", "\"8\"", "-1", "1.5"] {
            error(&format!(r#"{{"request": "run", "ttir": "", "grid": {grid}}}"#));
        }
        for ttir in ["", "module {", "}", "tt.func"] {
            let error = error(&json!({"request": "compile", "ttir": ttir}).to_string());
            assert!(["ttir", "kernel"].contains(&error["kind"].as_str().unwrap()), "{error}");
        }
    }

    #[test]
    fn arguments_may_be_numbers_texts_and_truth_values() {
        let text = r#"{"x": "zeros:f32[4]", "n": 16, "scale": -0.5, "flag": true, "n": 1}"#;
        let arguments: crate::request::Arguments = serde_json::from_str(text).unwrap();
        let values: Vec<&str> = arguments.0.iter().map(|(_, value)| &**value).collect();
        assert_eq!(values, ["zeros:f32[4]", "16", "-0.5", "true", "1"]);
    }
}
