//! What the arguments of a tool are, as JSON Schema: made from the types that requests are read into,
//! by hand where these are read by hand.

use crate::bases::LayoutSource;
use crate::budget;
use crate::request::{
    Arguments, CompileRequest, ConflictsRequest, ConvertRequest, DEFAULT_TARGET, ExplainRequest,
    Grid, LayoutRequest, MachinesRequest, OperateRequest, PaperRequest, PortRequest, RunRequest,
    SweepRequest, SwizzleRequest, Target, WavefrontsRequest,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The schema of arguments, closed: a key that it does not name is refused.
pub(super) fn of<T: JsonSchema>() -> Map<String, Value> {
    closed::<T>(SchemaSettings::draft2020_12())
}

/// The same of a request, which may say how much work it may take.
pub(super) fn limited<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = of::<T>();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let limit = |name: &str| (name.to_owned(), json!({"type": "integer", "minimum": 0}));
        let limits = json!({
            "type": "object",
            "description": "How much work may be done, where an error of the kind `limit` says that it takes more.",
            "properties": Map::from_iter(budget::NAMES.map(limit)),
            "additionalProperties": false,
        });
        properties.insert("limits".into(), limits);
    }
    schema
}

/// The schemas of all requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// The name of each request, and that of its schema among the definitions.
    pub names: Vec<(&'static str, String)>,
    /// The schemas, by their names: of the requests, and of what they have in common. A field that is not
    /// `required` may be left out.
    pub definitions: Map<String, Value>,
}

/// The schemas of all requests, for whoever writes them down in another language.
pub fn requests() -> Requests {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut names = Vec::new();
    macro_rules! request {
        ($($name:literal: $request:ty),+) => {$(
            let _reference = generator.subschema_for::<$request>();
            names.push(($name, <$request>::schema_name().into_owned()));
        )+};
    }
    request! {
        "machines": MachinesRequest, "layout": LayoutRequest, "operate": OperateRequest,
        "convert": ConvertRequest, "swizzle": SwizzleRequest, "port": PortRequest,
        "conflicts": ConflictsRequest, "wavefronts": WavefrontsRequest, "sweep": SweepRequest,
        "compile": CompileRequest, "run": RunRequest, "explain": ExplainRequest,
        "paper": PaperRequest
    }
    let mut definitions = Value::Object(generator.take_definitions(true));
    without_null(&mut definitions);
    let Value::Object(definitions) = definitions else {
        return Requests { names, definitions: Map::new() };
    };
    Requests { names, definitions }
}

/// The schema of what a tool answers: that of an answer, or the object of an error, which the protocol
/// lets clients hold against the same schema.
pub(super) fn of_answer<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = closed::<T>(SchemaSettings::draft2020_12().for_serialize());
    let required = schema.remove("required");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let description =
            "Instead of an answer: what cannot be answered, where, and what would be right.";
        let error = json!({
            "type": "object",
            "description": description,
            "properties": {
                "kind": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": "string"},
            },
            "required": ["kind", "message"],
        });
        properties.insert("error".into(), error);
    }
    schema.insert("anyOf".into(), json!([{"required": required}, {"required": ["error"]}]));
    schema
}

fn closed<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        // Some clients do not follow references.
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.remove("description");
    schema.insert("additionalProperties".into(), Value::Bool(false));
    // The protocol asks for it, also where there are no properties.
    schema.insert("type".into(), "object".into());
    let mut value = Value::from(schema);
    without_null(&mut value);
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Takes `null` out of what may be left out: it says the same as nothing, and takes room.
fn without_null(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = &types[..] {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice["type"] != "null");
                if let [Value::Object(only)] = &choices[..] {
                    let only = only.clone();
                    object.remove("anyOf");
                    // What may be left out has no default of its own: nothing is something else.
                    for (key, value) in only.into_iter().filter(|(key, _)| key != "default") {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            if object.get("default") == Some(&Value::Null) {
                object.remove("default");
            }
            object.values_mut().for_each(without_null);
        }
        Value::Array(list) => list.iter_mut().for_each(without_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl JsonSchema for LayoutSource {
    fn schema_name() -> Cow<'static, str> {
        "LayoutSource".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                {
                    "type": "string",
                    "description": "A Triton attribute, bases, or a CuTe layout.",
                },
                {
                    "type": "object",
                    "description": "The bases as data: for each axis the coordinates at each of its bits, lowest first.",
                    "properties": {
                        "bases": {
                            "type": "object",
                            "additionalProperties": {
                                "type": "array",
                                "items": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                            },
                        },
                        "shape": {
                            "type": "array",
                            "items": {"type": "integer", "minimum": 1},
                        },
                    },
                    "required": ["bases"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

impl JsonSchema for Target {
    fn schema_name() -> Cow<'static, str> {
        "Target".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                {"type": "string", "description": "A name that `machines` lists: sm_90, gfx942, …"},
                {"type": "object", "description": "A whole machine, as `machines` answers it."},
            ],
            "default": DEFAULT_TARGET,
        })
    }
}

impl JsonSchema for Grid {
    fn schema_name() -> Cow<'static, str> {
        "Grid".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 1},
                    "minItems": 1,
                    "maxItems": 3,
                },
            ],
        })
    }
}

impl JsonSchema for Arguments {
    fn schema_name() -> Cow<'static, str> {
        "Arguments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "A value for each of the kernel's arguments, by name: a number; or for a pointer a buffer, `random:f32[4096]`, `range:i32[64x64]`, `zeros:f16[64]`, `ones:…`, `-8..8:i8[64]` (random, from -8 up to but not 8), `empty:f32[4096]` (not initialised: reading it first is reported).",
            "additionalProperties": {"type": ["number", "boolean", "string"]},
        })
    }
}
