//! `weft mcp`: the protocol, from outside.

use crate::{root, weft};
use serde_json::{Map, Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const REGISTERS: &str = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> \
                         [dim0: 16, dim1: 32]";
const STORE: &str = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> \
                     [dim0: 16, dim1: 32]";

/// A session with the command.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    count: u64,
}

impl Session {
    fn begin() -> Self {
        Self::begin_with(&[])
    }

    fn begin_with(options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_weft"))
            .arg("mcp")
            .args(options)
            .current_dir(root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut session = Self { child, input, output, count: 0 };
        let client = json!({"name": "test", "version": "1"});
        let about =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let answer = session.request("initialize", &about);
        assert_eq!(answer["result"]["serverInfo"]["name"], "weft");
        session.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        session
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
        self.input.flush().unwrap();
    }

    /// The next line of the protocol.
    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.count += 1;
        let id = self.count;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.say(&request.to_string());
        let answer: Value = serde_json::from_str(&self.hear()).unwrap();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)));
        answer
    }

    /// The object that a tool answers, and whether that is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> (Value, bool) {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let object = result["structuredContent"].clone();
        // The same as text, for clients that know no other.
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), object);
        (object, result["isError"] == true)
    }

    /// The answer of a question that can be answered.
    fn ask(&mut self, tool: &str, arguments: &Value) -> Value {
        let (object, error) = self.call(tool, arguments);
        assert!(!error, "{tool} {arguments}: {object}");
        object
    }

    /// Everything behind a handle, page by page.
    fn all(&mut self, handle: &Value, length: u64) -> String {
        let (mut text, mut offset) = (String::new(), json!(0));
        while !offset.is_null() {
            let page =
                self.ask("more", &json!({"handle": handle, "offset": offset, "length": length}));
            text += page["text"].as_str().unwrap();
            offset = page["next_offset"].clone();
        }
        text
    }

    /// Ends it: nothing more is said, on either stream.
    fn end(mut self) {
        drop(self.input);
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!((rest, errors), (String::new(), String::new()));
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

fn kernel() -> String {
    std::fs::read_to_string(root().join("examples/row_softmax.ttir")).unwrap()
}

/// A question of every tool that can be answered.
fn questions() -> Vec<(&'static str, Value)> {
    let tensor = json!({"shape": [16, 32], "element": "f32", "target": "sm_90"});
    let with = |more: Value| {
        let mut all = tensor.as_object().unwrap().clone();
        all.extend(more.as_object().unwrap().clone());
        Value::from(all)
    };
    let ttir = kernel();
    let args = json!({"x": "random:f32[2x1024]", "out": "empty:f32[2x1024]", "n": 1024});
    vec![
        ("machines", json!({})),
        ("machines", json!({"target": "gfx942"})),
        ("layout", with(json!({"attribute": REGISTERS, "names": true}))),
        (
            "layout",
            with(json!({"attribute": "(16,32):(32,1)", "format": "svg", "picture": "banks"})),
        ),
        ("conflicts", with(json!({"registers": REGISTERS, "memory": "(16,32):(32,1)"}))),
        ("swizzle", with(json!({"store": STORE, "loads": [REGISTERS], "trace": true}))),
        ("convert", with(json!({"from": STORE, "to": REGISTERS, "emit": "cuda"}))),
        ("port", json!({"ttir": ttir, "target": "gfx950"})),
        ("compile", json!({"ttir": ttir, "emit": ["ptx", "report"]})),
        ("explain", json!({"ttir": ttir})),
        ("simulate", json!({"ttir": ttir, "grid": 2, "args": args})),
    ]
}

#[test]
fn tools_teach_what_they_take() {
    let mut session = Session::begin();
    let listed = session.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let known = [
        "machines",
        "layout",
        "conflicts",
        "swizzle",
        "convert",
        "port",
        "compile",
        "explain",
        "simulate",
        "more",
    ];
    assert_eq!(names, known);
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let schema = &tool["inputSchema"];
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false))
        );
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        // The schema names the keys that the request takes, and no others.
        let (refused, error) = session.call(name, &json!({"no such key": 1}));
        assert!(error, "{refused}");
        let hint = refused["error"]["hint"].as_str().unwrap().strip_prefix("it takes ").unwrap();
        let limited = keys.iter().any(|key| key.as_str() == "limits");
        assert_eq!(limited, name != "more", "{name}");
        let own: Vec<_> =
            keys.iter().map(|key| key.as_str()).filter(|key| *key != "limits").collect();
        assert_eq!(own, hint.split(", ").collect::<Vec<_>>());
        // The example of the description can be asked as it stands.
        let description = tool["description"].as_str().unwrap();
        let example = description.split("Example: ").nth(1).expect(name);
        let example: Value = serde_json::from_str(example).expect(name);
        assert!(example.as_object().unwrap().keys().all(|key| keys.contains(&key)), "{name}");
        if example["ttir"].is_null() && name != "more" {
            session.ask(name, &example);
        }
    }
    session.end();
}

#[test]
fn every_tool_answers_and_proposes() {
    let mut session = Session::begin();
    for (tool, arguments) in questions() {
        let answer = session.ask(tool, &arguments);
        assert!(!answer["summary"].as_str().unwrap().is_empty());
        assert!(answer["answer"].is_object());
        for left in answer["more"].as_array().into_iter().flatten() {
            let text = session.all(&left["handle"], 3_000);
            assert_eq!(text.chars().count() as u64, left["characters"].as_u64().unwrap());
            assert!(answer["answer"].get(left["field"].as_str().unwrap()).is_none());
        }
        // What follows can be asked as it stands where nothing is left open.
        for next in answer["next"].as_array().into_iter().flatten() {
            if next.get("fill").is_none() {
                session.ask(next["tool"].as_str().unwrap(), &next["arguments"]);
            }
        }
    }
    session.end();
}

/// What an answer leaves out is what the command prints.
#[test]
fn whole_answers_are_those_of_the_command() {
    let mut session = Session::begin();
    let answer = session.ask("machines", &json!({}));
    let left = &answer["more"][0];
    assert_eq!(left["field"], "answer");
    assert_eq!(session.all(&left["handle"], 32_000) + "\n", weft("machines --json").stdout);
    let compiled = session.ask("compile", &json!({"ttir": kernel()}));
    let ptx = compiled["more"][0].clone();
    assert_eq!(ptx["field"], "ptx");
    let printed = weft("compile examples/row_softmax.ttir").stdout;
    assert_eq!(session.all(&ptx["handle"], 500), printed);
    let uri = json!({"uri": ptx["handle"]});
    let read = session.request("resources/read", &uri);
    let contents = &read["result"]["contents"][0];
    assert_eq!(
        (contents["text"].as_str(), &contents["mimeType"]),
        (Some(&*printed), &json!("text/plain"))
    );
    let listed = session.request("resources/list", &json!({}));
    assert!(listed.to_string().contains(ptx["handle"].as_str().unwrap()));
    session.end();
}

#[test]
fn what_cannot_be_answered_is_told_and_the_session_goes_on() {
    let mut session = Session::begin();
    let tensor = json!({"registers": REGISTERS, "memory": "(16,32):(32,1)", "shape": [16, 32]});
    for (tool, arguments, kind, path) in [
        ("conflicts", json!({}), "json", Value::Null),
        ("conflicts", tensor, "element", Value::Null),
        ("layout", json!({"attribute": REGISTERS, "shape": [16, "32"]}), "json", json!("shape[1]")),
        ("layout", json!({"attribute": 7}), "json", json!("attribute")),
        ("layout", json!({"attribute": "#ttg.woven<{}>", "shape": [4]}), "attribute", Value::Null),
        ("layout", json!({"attribute": "/etc/passwd", "shape": [4]}), "attribute", Value::Null),
        ("machines", json!({"target": "examples/matmul.ttir"}), "target", Value::Null),
        ("compile", json!({"ttir": "examples/matmul.ttir"}), "ttir", Value::Null),
        ("simulate", json!({"ttir": kernel(), "grid": 1}), "argument", Value::Null),
        ("more", json!({"handle": "weft://kept/nothing"}), "handle", Value::Null),
        ("more", json!({"handle": "file:///etc/passwd"}), "handle", Value::Null),
    ] {
        let (object, error) = session.call(tool, &arguments);
        assert!(error, "{tool} {arguments}: {object}");
        let fault = &object["error"];
        assert_eq!((&fault["kind"], &fault["path"]), (&json!(kind), &path), "{fault}");
        assert!(!fault["message"].as_str().unwrap().is_empty());
    }
    let unknown = session.request("tools/call", &json!({"name": "weave", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("there is no tool `weave`"));
    assert_eq!(session.request("weft/nothing", &json!({}))["error"]["code"], -32601);
    let read = session.request("resources/read", &json!({"uri": "file:///etc/passwd"}));
    assert!(read["error"]["message"].as_str().unwrap().contains("nothing is kept"));
    session.say("");
    session.say(&json!({"jsonrpc": "2.0", "method": "notifications/unknown"}).to_string());
    assert!(session.request("tools/list", &json!({}))["result"]["tools"].is_array());
    session.end();
}

#[test]
fn long_input_is_read_and_judged() {
    let mut session = Session::begin();
    let text = format!("module {{ {} }}", "tt.func ".repeat(1 << 19));
    let (object, error) = session.call("compile", &json!({"ttir": text}));
    assert!(error);
    assert_eq!(object["error"]["kind"], "ttir");
    let (object, error) =
        session.call("layout", &json!({"attribute": "(".repeat(1 << 20), "shape": [4]}));
    assert!(error);
    assert_eq!(object["error"]["kind"], "attribute");
    let (object, error) =
        session.call("layout", &json!({"attribute": "(4):(1)", "shape": vec![1; 1 << 17]}));
    assert!(error);
    assert_eq!(object["error"]["kind"], "shape");
    session.ask("machines", &json!({"target": "sm_80"}));
    session.end();
}

/// The error that answers a line which is no message.
fn refusal(session: &mut Session, line: &[u8]) -> Value {
    session.input.write_all(line).unwrap();
    session.input.write_all(b"\n").unwrap();
    let answer: Value = serde_json::from_str(&session.hear()).unwrap();
    assert_eq!(answer["jsonrpc"], "2.0");
    assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
    answer
}

#[test]
fn a_line_that_is_no_message_is_answered() {
    let mut session = Session::begin();
    for line in
        [&b"no JSON"[..], b"{", b"\0\x01", b"{\"id\": 1,}", b"\xff\xfe", b"{\"a\": \"\xc3\"}"]
    {
        let answer = refusal(&mut session, line);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)));
    }
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {{"name": "layout", "arguments": {arguments}}}}}"#
        )
    };
    for (line, id) in [
        ("[1, 2]".to_owned(), Value::Null),
        (r#"{"jsonrpc": "2.0"}"#.into(), Value::Null),
        (r#"{"jsonrpc": "1.0", "id": "x", "method": "tools/list"}"#.into(), json!("x")),
        (r#"{"id": 3}"#.into(), json!(3)),
        (deep.clone(), Value::Null),
        (call(&format!(r#"{{"attribute": {deep}}}"#)), Value::Null),
    ] {
        let answer = refusal(&mut session, line.as_bytes());
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32600)), "{answer}");
    }
    session.ask("machines", &json!({"target": "sm_80"}));
    session.end();
}

#[test]
fn a_message_that_is_too_long_is_answered_and_passed_over() {
    let mut session = Session::begin();
    let answer = refusal(&mut session, &vec![b'a'; 65 << 20]);
    assert_eq!(answer["error"]["code"], -32600);
    assert!(answer["error"]["message"].as_str().unwrap().contains("64 MiB"));
    session.ask("machines", &json!({"target": "sm_80"}));
    session.end();
}

/// A kernel of 2^31 rounds, each of which changes something.
const ENDLESS: &str = "module { tt.func public @endless(%out: !tt.ptr<i32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %sum = scf.for %i = %zero to %n step %one iter_args(%sum = %zero) -> (i32) : i32 {
      %next = arith.addi %sum, %i : i32
      scf.yield %next : i32
    }
    tt.store %out, %sum : !tt.ptr<i32>
    tt.return
} }";

/// More calls than are answered at the same time, all of which would take very long: when they are
/// cancelled, others get their places.
#[test]
fn a_call_that_is_cancelled_ends() {
    let mut session = Session::begin();
    let args = json!({"out": "empty:i32[1]", "n": i32::MAX});
    let arguments = json!({"ttir": ENDLESS, "grid": 1, "args": args});
    let params = json!({"name": "simulate", "arguments": arguments});
    let ids: Vec<String> = (0..10).map(|index| format!("endless {index}")).collect();
    for id in &ids {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        session.say(&call.to_string());
    }
    // What is no call is answered beside them.
    assert!(session.request("tools/list", &json!({}))["result"]["tools"].is_array());
    for id in &ids {
        let params = json!({"requestId": id, "reason": "nobody waits"});
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        session.say(&cancel.to_string());
    }
    let start = std::time::Instant::now();
    session.ask("machines", &json!({"target": "sm_80"}));
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
    session.end();
}

/// A session has the limits that it was begun with; a call may name others.
#[test]
fn a_session_has_limits() {
    let mut session = Session::begin_with(&["--limit", "milliseconds=0"]);
    let (refused, is_error) = session.call("machines", &json!({}));
    assert!(is_error);
    assert_eq!(refused["error"]["kind"], "limit");
    assert_eq!(refused["error"]["message"], "the request takes more than 0 milliseconds");
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.starts_with("raise the limit: `--limit milliseconds="), "{hint}");
    session.ask("machines", &json!({"limits": {"milliseconds": 600_000}}));
    let args = json!({"out": "empty:i32[1]", "n": i32::MAX});
    let (refused, _) = session.call(
        "simulate",
        &json!({"ttir": ENDLESS, "grid": 1, "args": args, "limits": {"milliseconds": 300}}),
    );
    let message = "the request takes more than 300 milliseconds: they were over while";
    assert!(refused["error"]["message"].as_str().unwrap().starts_with(message), "{refused}");
    session.end();
}

/// Whether a value is what a schema of the tools says: as far as these schemas go.
fn conforms(value: &Value, schema: &Value) -> bool {
    let of_type = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64(),
        _ => true,
    };
    let has = |name: &Value| value.get(name.as_str().unwrap()).is_some();
    let all = |schema: &Value| schema["required"].as_array().into_iter().flatten().all(has);
    let any = schema["anyOf"].as_array().is_none_or(|ways| ways.iter().any(all));
    let properties = schema["properties"].as_object();
    let closed = schema["additionalProperties"] == false;
    let members = value.as_object().into_iter().flatten().all(|(name, member)| {
        match properties.and_then(|properties| properties.get(name)) {
            Some(schema) => conforms(member, schema),
            None => !closed,
        }
    });
    let items = value.as_array().into_iter().flatten().all(|item| conforms(item, &schema["items"]));
    of_type && all(schema) && any && members && items
}

#[test]
fn tools_say_what_they_answer_and_answer_so() {
    let mut session = Session::begin();
    let listed = session.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let schema_of = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(tool["outputSchema"]["type"], "object");
        tool["outputSchema"].clone()
    };
    let more = schema_of("more");
    for (tool, arguments) in questions() {
        let schema = schema_of(tool);
        let (answer, error) = session.call(tool, &arguments);
        assert!(!error && conforms(&answer, &schema), "{tool}: {answer}");
        for left in answer["more"].as_array().into_iter().flatten() {
            let page = session.ask("more", &json!({"handle": left["handle"]}));
            assert!(conforms(&page, &more), "{page}");
            assert!(!conforms(&page, &schema), "{page}");
        }
        let (refused, error) = session.call(tool, &json!({"no such key": 1}));
        assert!(error && conforms(&refused, &schema), "{tool}: {refused}");
        assert!(!conforms(&json!({}), &schema) && !conforms(&json!({"summary": 1}), &schema));
    }
    session.end();
}

/// Calls beside each other, answered in any order, give what they give alone, in every session.
#[test]
fn the_same_call_gives_the_same_bytes() {
    let mut alone = Session::begin();
    let expected: Vec<(Value, bool)> =
        questions().iter().map(|(tool, arguments)| alone.call(tool, arguments)).collect();
    alone.end();
    let mut session = Session::begin();
    let mut asked = Map::new();
    for (index, (tool, arguments)) in questions().iter().enumerate().cycle().take(30) {
        let id = format!("{}", asked.len());
        let params = json!({"name": tool, "arguments": arguments});
        session.say(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
                .to_string(),
        );
        asked.insert(id, index.into());
    }
    while !asked.is_empty() {
        let line = session.hear();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let index = asked.remove(answer["id"].as_str().unwrap()).unwrap().as_u64().unwrap();
        let (object, _) = &expected[index as usize];
        // The bytes, not only the values.
        assert!(line.contains(&object.to_string()), "{line}");
    }
    session.end();
}

/// A client of a few lines fixes five of the conflicted kernels by what it is told.
#[test]
fn a_client_fixes_five_conflicts() {
    let mut client = Command::new("python3");
    client.args(["examples/conflicts/fix.py", "--weft", env!("CARGO_BIN_EXE_weft")]);
    client
        .args(["--check", "docs/measurements/conflicted.json"])
        .env("PYTHONDONTWRITEBYTECODE", "1");
    client.args([
        "transpose_f16",
        "ldmatrix_turned",
        "retarget_gfx942",
        "exchange_between_lanes",
        "staged_product",
    ]);
    let finished = crate::finished(&mut client, "");
    assert_eq!(finished.status, 0, "{}{}", finished.stdout, finished.stderr);
    assert_eq!(finished.stdout.lines().count(), 5, "{}", finished.stdout);
}
