//! The requests on which the shells are compared: whatever carries a request, the answer's bytes are the
//! same.

use serde_json::Value;
use std::collections::BTreeSet;
use weft_api::invoke::{REQUESTS, invoke, invoke_line};

const LINES: &str = include_str!("../transports/requests.jsonl");

/// Every request, every format, picture and emit, and errors of every sort are among them.
#[test]
fn the_list_asks_for_everything() {
    assert!(LINES.lines().count() >= 50);
    let mut asked = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for line in LINES.lines() {
        let answer: Value = serde_json::from_str(&invoke(line)).unwrap();
        if let Some(kind) = answer["error"]["kind"].as_str() {
            kinds.insert(kind.to_owned());
        }
        let Ok(request) = serde_json::from_str::<Value>(line) else { continue };
        let Some(name) = request["request"].as_str() else { continue };
        asked.insert(name.to_owned());
        for key in ["format", "picture", "emit"] {
            match &request[key] {
                Value::Array(list) => {
                    asked.extend(
                        list.iter().map(|emit| format!("{name} {}", emit.as_str().unwrap())),
                    );
                }
                Value::String(word) => drop(asked.insert(format!("{name} {word}"))),
                _ => {}
            }
        }
        if request["target"].is_object() {
            asked.insert("machine".into());
        }
    }
    for expected in REQUESTS.iter().copied().chain([
        "layout text",
        "layout grid",
        "layout hardware",
        "layout banks",
        "layout matrix",
        "layout svg",
        "convert plan",
        "convert picture",
        "convert svg",
        "convert ptx",
        "convert cuda",
        "convert hip",
        "port report",
        "port hip",
        "port tile",
        "port ttgir",
        "compile tile",
        "compile ttgir",
        "compile ptx",
        "compile cuda",
        "compile hip",
        "compile lane",
        "compile report",
        "compile c-launcher",
        "machine",
    ]) {
        assert!(asked.contains(expected), "nothing asks for {expected}");
    }
    for kind in [
        "attribute",
        "argument",
        "compile",
        "element",
        "json",
        "kernel",
        "request",
        "shape",
        "swizzle",
        "target",
        "ttir",
    ] {
        assert!(kinds.contains(kind), "nothing is refused as {kind}; {kinds:?}");
    }
}

/// A batch's line is answered as the request by itself.
#[test]
fn a_line_of_a_batch_is_a_request() {
    for line in LINES.lines() {
        let alone = invoke(line);
        let Ok(Value::Object(request)) = serde_json::from_str(line) else { continue };
        // Keys that a request does not take are refused alone, and passed over in a batch.
        if alone.contains(r#""kind":"request""#) {
            continue;
        }
        let name = request["request"].as_str().unwrap();
        assert_eq!(invoke_line(name, line), alone);
    }
}
