//! The requests are defined once, in `weft-api`: JSON, their schemas and those of an agent's tools are derived from
//! the definition, and the command and the Rust functions build its types. The page's types are written from the
//! schemas (`UPDATE_EXPECT=1`); what Python names of requests is held against them.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use weft_api::agent::{Requests, requests};
use weft_api::invoke::REQUESTS;

type Keys = BTreeMap<String, BTreeSet<String>>;

/// The page's types of requests.
const OF_THE_PAGE: &str = "workbench/src/engine/asked.ts";

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn text(path: &str) -> String {
    fs::read_to_string(file(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A description as a comment that is so far indented.
fn comment(schema: &Value, indent: &str) -> String {
    let Some(description) = schema["description"].as_str() else { return String::new() };
    // The names of Rust's items are links.
    let told = description.replace("[`", "`").replace("`]", "`");
    let lines: Vec<&str> = told.lines().collect();
    match lines[..] {
        [line] => format!("{indent}/** {line} */\n"),
        _ => {
            let lines =
                lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n");
            format!("{indent}/**\n{}{indent} */\n", lines.collect::<String>())
        }
    }
}

/// A schema as a type of TypeScript's.
fn typescript(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let union = |types: &[Value]| types.iter().map(typescript).collect::<Vec<_>>().join(" | ");
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choice].as_array() {
            return union(choices);
        }
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    let one = |name: &str| match name {
        "integer" | "number" => "number".to_owned(),
        "array" => match typescript(&schema["items"]) {
            each if each.contains('|') => format!("({each})[]"),
            each => format!("{each}[]"),
        },
        "object" => object(schema),
        name => name.to_owned(),
    };
    match &schema["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" | ")
        }
        _ => panic!("a schema without a type: {schema}"),
    }
}

/// The fields of an object, each with what the schema says of it.
fn fields(schema: &Value) -> impl Iterator<Item = (&String, &Value, bool)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(key, field)| {
        let required =
            schema["required"].as_array().is_some_and(|all| all.iter().any(|name| name == key));
        (key, field, required)
    })
}

fn object(schema: &Value) -> String {
    if schema["properties"].is_object() {
        let fields = fields(schema).map(|(key, field, required)| {
            format!("{key}{}: {}", if required { "" } else { "?" }, typescript(field))
        });
        return format!("{{ {} }}", fields.collect::<Vec<_>>().join("; "));
    }
    match &schema["additionalProperties"] {
        Value::Object(each) => {
            format!("Record<string, {}>", typescript(&Value::Object(each.clone())))
        }
        _ => "Record<string, unknown>".into(),
    }
}

/// The types of all requests, for the page.
fn types_of_the_page() -> String {
    let Requests { names, definitions } = requests();
    let mut types = String::from(
        "/**\n * What can be asked.\n *\n * Written from the definitions in `weft-api` by the test `xtask/tests/requests.rs`; change those.\n */\n",
    );
    for (name, schema) in &definitions {
        let request = names.iter().find(|(_, known)| known == name).map(|(request, _)| request);
        let _ = write!(types, "\n{}", comment(schema, ""));
        let Some(request) = request else {
            let _ = writeln!(types, "export type {name} = {};", typescript(schema));
            continue;
        };
        let _ = writeln!(types, "export interface {name} {{\n  request: \"{request}\";");
        for (key, field, required) in fields(schema) {
            let (mark, ty) = (if required { "" } else { "?" }, typescript(field));
            let _ = writeln!(types, "{}  {key}{mark}: {ty};", comment(field, "  "));
        }
        types.push_str("}\n");
    }
    types
}

#[test]
fn the_page_has_the_types_of_all_requests() {
    expect_test::expect_file![file(OF_THE_PAGE)].assert_eq(&types_of_the_page());
}

#[test]
fn every_request_has_a_schema() {
    let Requests { names, definitions } = requests();
    assert!(names.iter().map(|(name, _)| *name).eq(REQUESTS.iter().copied()));
    assert!(names.iter().all(|(_, schema)| definitions[schema]["properties"].is_object()));
}

/// The word that a text ends with.
fn last_word(text: &str) -> &str {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let start = text.rfind(|letter| !is_word(letter));
    &text[start.map_or(0, |start| start + 1)..]
}

/// What stands in front of a mark, where a word does.
fn words_before<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(mark).map(|(at, _)| last_word(&text[..at])).filter(|word| !word.is_empty())
}

/// The schema of each request.
fn defined() -> BTreeMap<&'static str, Value> {
    let Requests { names, mut definitions } = requests();
    let mut schema = |known: &String| definitions.remove(known).expect("each has one");
    names.iter().map(|(name, known)| (*name, schema(known))).collect()
}

/// The keys that the functions of the Python package give to requests.
fn of_python() -> Keys {
    let questions = text("crates/weft-py/python/weft/questions.py");
    let mut all = Keys::new();
    for function in questions.split("\ndef ").skip(1) {
        let Some((_, asked)) = function.split_once("ask(") else { continue };
        let Some(name) = asked.trim_start().strip_prefix('"') else { continue };
        let (name, asked) = name.split_once('"').expect("the end of a name");
        let keys = all.entry(name.to_owned()).or_default();
        keys.extend(words_before(asked, "=").map(ToOwned::to_owned));
        let lines = function.lines().filter(|line| line.trim_start().starts_with("keys"));
        for line in lines {
            keys.extend(words_before(line, "\":").map(ToOwned::to_owned));
        }
        if asked.contains("shape") {
            keys.insert("shape".into());
        }
    }
    all
}

#[test]
fn python_names_only_keys_that_requests_have() {
    let defined = defined();
    let mut wrong = Vec::new();
    let asked = of_python();
    assert!(asked.len() >= 5, "{asked:?}");
    for (request, keys) in &asked {
        let Some(schema) = defined.get(&request[..]) else {
            wrong.push(format!("there is no request `{request}`"));
            continue;
        };
        let unknown = keys.iter().filter(|key| schema["properties"].get(key.as_str()).is_none());
        wrong.extend(unknown.map(|key| format!("`{request}` has no key `{key}`")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A schema as a type of Python's.
fn python(schema: &Value) -> String {
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|choice| schema[*choice].as_array());
    if schema["enum"].is_array() || schema.get("const").is_some() {
        return "str".into();
    }
    if let Some(alternatives) = alternatives {
        let types: BTreeSet<String> = alternatives.iter().map(python).collect();
        return types.into_iter().collect::<Vec<_>>().join(" | ");
    }
    match schema["type"].as_str() {
        Some("string") => "str".into(),
        Some("integer") => "int".into(),
        Some("boolean") => "bool".into(),
        Some("number") => "float".into(),
        Some("array") => format!("Sequence[{}]", python(&schema["items"])),
        _ => "object".into(),
    }
}

/// The class of kernels takes some keys of the request `compile`, under their names, as what they are there.
#[test]
fn the_stub_of_kernels_has_keys_and_types_of_a_request() {
    let Requests { definitions, .. } = requests();
    let stub = text("crates/weft-py/python/weft/_weft.pyi");
    let (_, class) = stub.split_once("class Kernel:").expect("the class of kernels");
    let (_, rest) = class.split_once("def __init__(\n").expect("what makes one");
    let (parameters, _) = rest.split_once(") -> None").expect("its end");
    let mut known = 0;
    for parameter in parameters.lines().map(|line| line.trim().trim_end_matches(',')) {
        let Some((key, told)) = parameter.split_once(": ") else { continue };
        let (ty, default) = told.split_once(" = ").map_or((told, None), |(ty, by)| (ty, Some(by)));
        // Tensor maps, and the memory in which kernels make them, are the Triton plug-in's own business.
        if matches!(key, "tensor_maps" | "scratch") {
            continue;
        }
        let schema = &definitions["CompileRequest"];
        let Some((_, field, required)) = fields(schema).find(|(name, ..)| *name == key) else {
            panic!("`compile` has no key `{key}`");
        };
        let field = referred(field, &definitions);
        let base = ty.trim_end_matches(" | None");
        assert!(python(field).split(" | ").any(|known| known == base), "{key}: {ty}, {field}");
        assert!(!required || default.is_none(), "`{key}` must be given");
        known += 1;
    }
    assert!(known >= 7, "{known}");
}

/// What a reference stands for.
fn referred<'a>(schema: &'a Value, definitions: &'a Map<String, Value>) -> &'a Value {
    match schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        Some(name) => &definitions[name],
        None => schema,
    }
}

#[test]
fn the_scan_of_requests_sees_what_it_must() {
    assert!(types_of_the_page().contains("  from: LayoutSource;\n"));
    let python = of_python();
    assert!(["pins", "ttir", "fp_fusion"].iter().all(|key| python["compile"].contains(*key)));
}
