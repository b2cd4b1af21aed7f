//! The requests as tools of an agent.

use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use expect_test::expect_file;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use weft_api::agent::{self, Kept, Shelf};
use weft_api::budget::{self, Budget};

const REGISTERS: &str = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> \
                         [dim0: 16, dim1: 32]";

const KERNEL: &str = r"
tt.func public @double(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %two = arith.constant dense<2.0> : tensor<128xf32>
  %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %at = tt.addptr %base, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %old = tt.load %at : tensor<128x!tt.ptr<f32>>
  %new = arith.mulf %old, %two : tensor<128xf32>
  tt.store %at, %new : tensor<128x!tt.ptr<f32>>
  tt.return
}";

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

/// Names, descriptions and schemas are what programs and prompts are written against.
#[test]
fn the_tools_as_they_are_listed() {
    let tools: Vec<Value> = agent::tools()
        .into_iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "inputSchema": tool.input_schema,
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&tools).unwrap() + "\n";
    expect_file!["agent_tools.json"].assert_eq(&text);
    // Descriptions are for a reader who does not have the crate's documentation.
    assert!(!text.contains("[`") && !text.contains("::"));
}

/// Calls have a limit of time that programs of agents wait for; a call may name its own.
#[test]
fn every_tool_has_a_limit_of_time() {
    fn leaping() -> u64 {
        thread_local! {
            static NOW: Cell<u64> = const { Cell::new(0) };
        }
        NOW.set(NOW.get() + (1 << 40));
        NOW.get()
    }
    let called = |tool: &str, arguments: &Value| {
        let call = || agent::call(tool, object(arguments)).unwrap();
        let reply = budget::within_by(leaping, &Budget::default(), call);
        (reply.is_error, reply.value["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    let accesses = json!({"registers": REGISTERS, "memory": "(16,32):(32,1)", "shape": [16, 32],
                          "element": "f32"});
    for (tool, mut arguments) in [
        ("machines", json!({})),
        ("layout", json!({"attribute": REGISTERS})),
        ("conflicts", accesses),
        (
            "swizzle",
            json!({"store": REGISTERS, "loads": [REGISTERS], "shape": [16, 32],
                           "element": "f32"}),
        ),
        (
            "convert",
            json!({"from": REGISTERS, "to": REGISTERS, "shape": [16, 32],
                           "element": "f32"}),
        ),
        ("compile", json!({"ttir": KERNEL})),
        ("explain", json!({"ttir": KERNEL})),
        ("simulate", json!({"ttir": KERNEL, "grid": 1, "args": {"x": "ones:f32[128]"}})),
    ] {
        let (is_error, message) = called(tool, &arguments);
        let start = "the request takes more than 30000 milliseconds";
        assert!(is_error && message.starts_with(start), "{tool}: {message}");
        arguments["limits"] = json!({"milliseconds": 9});
        let (is_error, message) = called(tool, &arguments);
        assert!(is_error && message.contains("than 9 milliseconds"), "{tool}: {message}");
        arguments["limits"] = json!({"milliseconds": u64::MAX});
        assert_eq!(called(tool, &arguments), (false, String::new()), "{tool}");
        arguments["limits"] = json!({"hours": 1});
        assert_eq!(called(tool, &arguments).1, "there is no limit `hours`");
    }
}

#[test]
fn a_kept_text_is_read_in_pages_and_the_oldest_goes_first() {
    let mut shelf = Shelf::default();
    let long = Kept::new("ä".repeat(20 << 20));
    let again = Kept::new("ä".repeat(20 << 20));
    assert_eq!(long.handle, again.handle);
    shelf.keep(long.clone());
    shelf.keep(again);
    let other = Kept::new("b".repeat(20 << 20));
    shelf.keep(other.clone());
    assert!(shelf.find(&long.handle).is_some());
    let third = Kept::new("c".repeat(20 << 20));
    shelf.keep(third.clone());
    assert!(shelf.find(&long.handle).is_none());
    assert_eq!(shelf.all().count(), 2);

    let asked = json!({"handle": other.handle, "offset": (20 << 20) - 3, "length": 100});
    let page = agent::more(&shelf, object(&asked));
    assert_eq!(page.value["text"], "bbb");
    assert_eq!(page.value["next_offset"], Value::Null);
    let asked = json!({"handle": third.handle, "offset": u64::MAX, "length": u64::MAX});
    assert_eq!(agent::more(&shelf, object(&asked)).value["text"], "");
    let gone = agent::more(&shelf, object(&json!({"handle": long.handle})));
    assert!(gone.is_error);
    assert!(gone.value["error"]["hint"].as_str().unwrap().contains("gives it again"));
}

#[test]
fn media_types_follow_from_the_text() {
    for (text, expected) in [
        ("{\"a\": 1}", "application/json"),
        ("{ no JSON", "text/plain"),
        ("<svg xmlns=\"\"/>", "image/svg+xml"),
        (".version 7.8", "text/plain"),
        ("", "text/plain"),
    ] {
        assert_eq!(Kept::new(text.into()).media_type, expected, "{text}");
    }
}

#[test]
fn a_conflict_names_the_question_that_removes_it() {
    let asked = json!({
        "registers": REGISTERS, "memory": "(16,32):(32,1)", "shape": [16, 32], "element": "f32",
    });
    let reply = agent::call("conflicts", object(&asked)).unwrap();
    assert!(!reply.is_error);
    let next = &reply.value["next"][0];
    assert_eq!(
        (&next["tool"], &next["arguments"]["loads"]),
        (&json!("swizzle"), &json!([REGISTERS]))
    );
    assert!(next["fill"]["store"].is_string());
    assert!(reply.value["summary"].as_str().unwrap().starts_with("256 wavefronts where 16 loads"));
}

/// The order of axes is kept from a request to its answer: the first axis is the least significant.
#[test]
fn axes_keep_their_order() {
    let text = r#"{"attribute": {"bases": {"warp": [[1]], "lane": [[2]], "register": [[4]]}}, "shape": [8]}"#;
    let asked: Value = serde_json::from_str(text).unwrap();
    let reply = agent::call("layout", object(&asked)).unwrap();
    assert_eq!(reply.value["answer"]["text"], "[warp: 1, lane: 2, register: 4] -> [dim0: 8]");
}

/// Good questions, bent at random: whatever comes, the reply is an answer or an error that says what is
/// wrong, and the same twice.
#[test]
fn bent_questions_are_answered_or_refused() {
    let tensor = |more: Value| {
        let mut all = json!({"shape": [16, 32], "element": "f32", "target": "sm_90"});
        object_mut(&mut all).extend(object(&more).clone());
        all
    };
    let questions = [
        ("machines", json!({"target": "sm_90"})),
        ("layout", tensor(json!({"attribute": REGISTERS, "format": "svg", "names": true}))),
        (
            "conflicts",
            tensor(json!({"registers": REGISTERS, "memory": "(16,32):(32,1)", "kind": "load"})),
        ),
        (
            "swizzle",
            tensor(json!({"store": REGISTERS, "loads": [REGISTERS, "tma"], "weights": [1, 2]})),
        ),
        ("convert", tensor(json!({"from": REGISTERS, "to": REGISTERS, "emit": "ptx"}))),
        ("compile", json!({"ttir": KERNEL, "emit": ["ptx", "lane"], "warps": 1})),
        ("explain", json!({"ttir": KERNEL, "warps": 1, "pins": ["%old=[register: 1]"]})),
        (
            "simulate",
            json!({"ttir": KERNEL, "grid": [1], "args": {"x": "random:f32[128]"}, "seed": 1}),
        ),
    ];
    arbtest(|u| {
        let (tool, question) = u.choose(&questions)?;
        let mut bent = question.clone();
        for _ in 0..u.int_in_range(1..=3)? {
            bend(u, &mut bent)?;
        }
        let Some(arguments) = bent.as_object() else { return Ok(()) };
        let reply = agent::call(tool, arguments).unwrap();
        assert_eq!(reply, agent::call(tool, arguments).unwrap());
        if reply.is_error {
            let error = &reply.value["error"];
            assert!(error["kind"].is_string(), "{bent}: {error}");
            assert!(!error["message"].as_str().unwrap().is_empty());
            assert_ne!(error["kind"], "defect", "{bent}: {error}");
        } else {
            assert!(reply.value["summary"].is_string());
            assert_eq!(reply.kept.len(), reply.value["more"].as_array().map_or(0, Vec::len));
        }
        Ok(())
    });
}

fn object_mut(value: &mut Value) -> &mut Map<String, Value> {
    value.as_object_mut().unwrap()
}

/// Changes one part of a value.
fn bend(u: &mut Unstructured<'_>, value: &mut Value) -> Result<()> {
    match value {
        Value::Object(map) if !map.is_empty() && u.ratio(4, 5)? => {
            let key = u.choose_iter(map.keys())?.clone();
            match u.int_in_range(0..=5)? {
                0 => drop(map.remove(&key)),
                1 => drop(map.insert("key".into(), json!(1))),
                _ => bend(u, &mut map[&key])?,
            }
        }
        Value::Array(list) if !list.is_empty() && u.ratio(4, 5)? => {
            let index = u.choose_index(list.len())?;
            match u.int_in_range(0..=3)? {
                0 => drop(list.remove(index)),
                1 => list.push(list[index].clone()),
                _ => bend(u, &mut list[index])?,
            }
        }
        Value::String(text) if !text.is_empty() && u.ratio(4, 5)? => {
            let start = u.choose_index(text.len())?;
            let end = u.int_in_range(start..=text.len())?;
            let with = *u.choose(&["", "x", "(", "]", "99999999999999999999", "#", "é", "<0>"])?;
            // Every text here is ASCII until something else is put in.
            if text.is_char_boundary(start) && text.is_char_boundary(end.min(start + 4)) {
                text.replace_range(start..end.min(start + 4), with);
            }
        }
        Value::Number(number) if u.ratio(4, 5)? => {
            let other = *u.choose(&[0, 1, 2, 3, 64, 1 << 20, u64::MAX])?;
            *number = other.into();
        }
        _ => {
            *value = u
                .choose(&[json!(null), json!(-1), json!(true), json!([]), json!({}), json!("")])?
                .clone();
        }
    }
    Ok(())
}
