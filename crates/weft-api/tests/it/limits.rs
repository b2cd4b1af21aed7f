//! Work that is too much, and work that nobody wants any more.

use serde_json::{Value, json};
use std::cell::Cell;
use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};
use weft_api::budget::{self, Budget, Limits};
use weft_api::kernels::CompiledKernel;
use weft_api::request::CompileRequest;
use weft_api::{ApiError, invoke};

/// `count` times `op` on a tensor of `elements` numbers.
fn chain(count: usize, op: &str, elements: u64) -> String {
    let tensor = |element: &str| format!("tensor<{elements}x{element}>");
    let (floats, pointers, integers) = (tensor("f32"), tensor("!tt.ptr<f32>"), tensor("i32"));
    let mut text = format!(
        "module {{
          tt.func public @chain(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
            %r = tt.make_range {{end = {elements} : i32, start = 0 : i32}} : {integers}
            %p = tt.splat %x : !tt.ptr<f32> -> {pointers}
            %a = tt.addptr %p, %r : {pointers}, {integers}
            %v0 = tt.load %a : {pointers}
        "
    );
    for index in 0..count {
        writeln!(text, "%v{} = {op} %v{index} : {floats} loc(\"chain.py\":{index}:4)", index + 1)
            .unwrap();
    }
    writeln!(text, "tt.store %a, %v{count} : {pointers} tt.return }} }}").unwrap();
    text
}

fn answer(request: &Value) -> Value {
    serde_json::from_str(&invoke(&request.to_string())).unwrap()
}

fn compile(ttir: &str, limits: &Value) -> Value {
    answer(&json!({"request": "compile", "ttir": ttir, "emit": ["ptx"], "limits": limits}))
}

#[test]
fn a_short_text_that_asks_for_much_is_refused_at_once() {
    let start = Instant::now();
    let text = chain(64, "math.sin", 1 << 24);
    let refused = &compile(&text, &json!({}))["error"];
    assert_eq!(refused["kind"], "limit");
    let message = refused["message"].as_str().unwrap();
    assert!(
        message.contains("has more than 4096 elements of a tensor for each thread"),
        "{message}"
    );
    assert!(refused["hint"].as_str().unwrap().contains("--limit elements=8192"), "{refused}");
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

#[test]
fn operations_are_counted_while_they_are_written() {
    // 4,096 elements a thread, of which each takes some thirty operations.
    let text = chain(64, "math.sin", 1 << 19);
    let refused = &compile(&text, &json!({}))["error"];
    assert_eq!(refused["kind"], "limit");
    let message = refused["message"].as_str().unwrap();
    let start = "`chain`, up to this `sin`, has more than 262144 operations for each thread, at ";
    assert!(message.starts_with(start), "{message}");
    assert_eq!(refused["source"]["file"], "chain.py");
    assert!(refused["source"]["line"].as_u64().unwrap() < 4, "{refused}");
}

#[test]
fn limits_are_lowered_and_raised_by_the_request() {
    let text = chain(4, "math.sin", 1 << 10);
    let free = compile(&text, &json!({}));
    assert!(free["ptx"].is_string(), "{free}");
    for (name, few, many) in
        [("elements", 7, 8), ("operations", 100, 1 << 20), ("text_bytes", 1000, 1 << 20)]
    {
        let refused = &compile(&text, &json!({name: few}))["error"];
        assert_eq!(refused["kind"], "limit", "{name}: {refused}");
        assert!(refused["message"].as_str().unwrap().contains(&format!("more than {few} ")));
        let raise = format!("--limit {name}={}", 2 * few);
        assert!(refused["hint"].as_str().unwrap().contains(&raise), "{refused}");
        assert_eq!(compile(&text, &json!({name: many})), free, "{name}");
    }
    for limits in [json!({"element": 1}), json!({"elements": -1}), json!([1]), json!("all")] {
        let refused = &compile(&text, &limits)["error"];
        assert_eq!(refused["kind"], "argument", "{limits}");
        assert!(refused["hint"].as_str().unwrap().contains("elements, operations"), "{refused}");
    }
}

#[test]
fn a_run_ends_at_its_limit() {
    let run = |grid: u32, elements: u64, instructions: u64| {
        answer(&json!({
            "request": "run", "ttir": chain(1, "math.sqrt", elements), "grid": grid,
            "args": {"x": format!("ones:f32[{elements}]")}, "limits": {"instructions": instructions},
        }))
    };
    assert_eq!(run(1, 128, 1 << 20)["passed"], true);
    let error = &run(1, 128, 10)["error"];
    assert_eq!(error["kind"], "limit");
    let message = error["message"].as_str().unwrap();
    let start =
        "the reference evaluator's run of `chain` has more than 10 simulated warp instructions";
    assert!(message.starts_with(start), "{message}");
    assert!(error["hint"].as_str().unwrap().contains("`--limit instructions=20`"), "{error}");
    // Each thread computes 256 elements, which are one operation of the evaluator.
    let ended = run(4, 1 << 15, 1024);
    assert_eq!(ended["passed"], false);
    let findings = ended["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["kind"] == "out of steps").unwrap();
    assert!(finding["message"].as_str().unwrap().contains("after 1024 warp instructions"));
    assert!(finding["hint"].as_str().unwrap().contains("--limit instructions=2048"), "{finding}");
}

/// A run holds no more than it may: neither its buffers, nor the programs that wait, of which a grid may have
/// two thousand million, nor what the simulator remembers of each byte.
#[test]
fn memory_is_a_limit_too() {
    let run = |ttir: &str, grid: i32, args: Value, limits: Value| {
        let request =
            json!({"request": "run", "ttir": ttir, "grid": grid, "args": args, "limits": limits});
        answer(&request)
    };
    let refused = |answer: &Value, start: &str, raise: &str| {
        let error = &answer["error"];
        assert_eq!(error["kind"], "limit", "{answer}");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with(start), "{message}");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains(&format!("`--limit memory_bytes={raise}`")), "{hint}");
    };
    let chain = chain(1, "math.sqrt", 128);
    for elements in [1_u64 << 30, 1 << 62, u64::MAX] {
        let args = json!({"x": format!("ones:f32[{elements}]")});
        let start = "the run with `x` has more than 1073741824 bytes of memory";
        refused(&run(&chain, 1, args, json!({})), start, "2147483648");
    }
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let spin = std::fs::read_to_string(format!("{examples}/spin_deadlock.ttir")).unwrap();
    let args = json!({"arrivals": "zeros:i32[1]", "out": "empty:i32[1]"});
    let start = "the reference evaluator's run of `spin_deadlock` has more than 4194304 bytes of memory, at \
                 examples/spin_deadlock.py:";
    let all = run(&spin, i32::MAX - 1, args, json!({"memory_bytes": 1 << 22}));
    refused(&all, start, "8388608");
    let (bytes, pointers) = ("tensor<1024xi8>", "tensor<1024x!tt.ptr<i8>>");
    let copy = format!(
        "module {{ tt.func public @copy(%x: !tt.ptr<i8>, %out: !tt.ptr<i8>) {{
         %each = arith.constant 1024 : i32
         %block = tt.get_program_id x : i32
         %start = arith.muli %block, %each : i32
         %r = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32>
         %s = tt.splat %start : i32 -> tensor<1024xi32>
         %at = arith.addi %r, %s : tensor<1024xi32>
         %xs = tt.splat %x : !tt.ptr<i8> -> {pointers}
         %from = tt.addptr %xs, %at : {pointers}, tensor<1024xi32>
         %v = tt.load %from : {pointers} loc(\"copy.py\":4:8)
         %outs = tt.splat %out : !tt.ptr<i8> -> {pointers}
         %to = tt.addptr %outs, %at : {pointers}, tensor<1024xi32>
         %w = arith.addi %v, %v : {bytes}
         tt.store %to, %w : {pointers} loc(\"copy.py\":5:8)
         tt.return }} }}"
    );
    let args = json!({"x": "ones:i8[65536]", "out": "empty:i8[65536]"});
    let whole = run(&copy, 64, args.clone(), json!({}));
    assert_eq!(whole["passed"], true, "{whole}");
    let start = "the simulation of `copy` has more than 2097152 bytes of memory, at copy.py:";
    refused(&run(&copy, 64, args, json!({"memory_bytes": 1 << 21})), start, "4194304");
}

/// A loop of 2^31 rounds, which changes something in each.
const ENDLESS: &str = "module {
  tt.func public @endless(%out: !tt.ptr<i32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %sum = scf.for %i = %zero to %n step %one iter_args(%sum = %zero) -> (i32) : i32 {
      %next = arith.addi %sum, %i : i32
      scf.yield %next : i32
    }
    tt.store %out, %sum : !tt.ptr<i32>
    tt.return
  }
}";

/// The answer to a request that is stopped after so long, and how long it then took to end.
fn stopped_after(wait: Duration, request: &Value) -> (Value, Duration) {
    let budget = Budget::default();
    let worker = thread::spawn({
        let (budget, text) = (budget.clone(), request.to_string());
        move || budget::within(&budget, || invoke(&text))
    });
    thread::sleep(wait);
    assert!(!worker.is_finished(), "it ended before it was stopped");
    let start = Instant::now();
    budget.stop.set();
    let answer = worker.join().unwrap();
    (serde_json::from_str(&answer).unwrap(), start.elapsed())
}

/// `count` kernels' worth of text that nothing uses.
fn long_text(count: usize) -> String {
    let mut text = "module { tt.func public @long() { %v0 = arith.constant 1 : i32\n".to_owned();
    for index in 0..count {
        writeln!(text, "%v{} = arith.addi %v{index}, %v0 : i32", index + 1).unwrap();
    }
    text + "tt.return } }"
}

/// Wherever the largest requests are stopped, in the reader, the analyses, the choice of homes, lowering,
/// a pass or a printer, they end soon, and say nothing else than that they were stopped.
#[test]
fn large_requests_end_soon_wherever_they_are_stopped() {
    let kernel = |name: &str| {
        let path = format!("{}/../../kernels/{name}.ttir", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    for (name, ttir) in [
        ("4,096 elements a thread", chain(40, "math.absf", 1 << 19)),
        ("functions of 512 elements a thread", chain(4, "math.sin", 1 << 16)),
        ("a long chain", chain(4000, "math.absf", 128)),
        ("a long text", long_text(100_000)),
        ("a sort", kernel("sort_rows")),
        ("a product", kernel("linear_bf16")),
    ] {
        let request = json!({"request": "compile", "ttir": ttir, "emit": ["ptx", "cuda"]});
        let request = request.to_string();
        let start = Instant::now();
        let whole = invoke(&request);
        let time = start.elapsed();
        assert!(!whole.starts_with("{\"error\""), "{name}: {whole}");
        for part in 1..12 {
            let budget = Budget::default();
            let worker = thread::spawn({
                let (budget, request) = (budget.clone(), request.clone());
                move || budget::within(&budget, || invoke(&request))
            });
            thread::sleep(time * part / 12);
            let start = Instant::now();
            budget.stop.set();
            let answer = worker.join().unwrap();
            let after = start.elapsed();
            let stopped = r#"{"error":{"kind":"stopped","message":"the request was stopped"}}"#;
            assert!(answer == stopped || answer == whole, "{name} at {part}: {answer}");
            // A tenth of a second in a build with optimisation; here only what hangs is told.
            assert!(after < Duration::from_secs(10), "{name} at {part}: {after:?} of {time:?}");
        }
    }
}

#[test]
fn time_is_a_limit_too() {
    let arguments = json!({"out": "empty:i32[1]", "n": i32::MAX});
    let start = Instant::now();
    let refused = answer(&json!({
        "request": "run", "ttir": ENDLESS, "grid": 1, "args": arguments,
        "limits": {"milliseconds": 50},
    }));
    let error = &refused["error"];
    assert_eq!(error["kind"], "limit", "{refused}");
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("the request takes more than 50 milliseconds"), "{message}");
    assert!(error["hint"].as_str().unwrap().contains("--limit milliseconds=100"), "{refused}");
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    // Whoever is within the time does not notice it, and neither does the next request.
    let text = chain(1, "math.sqrt", 128);
    assert_eq!(compile(&text, &json!({"milliseconds": 60_000})), compile(&text, &json!({})));
}

/// A clock that is a second further each time that it is asked.
fn ticking() -> u64 {
    thread_local! {
        static NOW: Cell<u64> = const { Cell::new(0) };
    }
    NOW.set(NOW.get() + 1000);
    NOW.get()
}

/// A clock that is far behind every limit whenever it is asked again.
fn leaping() -> u64 {
    thread_local! {
        static NOW: Cell<u64> = const { Cell::new(0) };
    }
    NOW.set(NOW.get() + (1 << 40));
    NOW.get()
}

/// A request of each kind that can be answered.
fn requests() -> Vec<Value> {
    let rows = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] \
                -> [dim0: 16, dim1: 32]";
    let memory = "(16,32):(32,1)";
    let ttir = chain(1, "math.sqrt", 128);
    vec![
        json!({"request": "machines"}),
        json!({"request": "layout", "attribute": rows}),
        json!({"request": "operate", "operator": "invert", "layout": rows}),
        json!({"request": "convert", "from": rows, "to": rows, "shape": [16, 32], "element": "f32"}),
        json!({"request": "swizzle", "store": rows, "loads": [rows], "shape": [16, 32],
               "element": "f32"}),
        json!({"request": "port", "ttir": ttir}),
        json!({"request": "conflicts", "registers": rows, "memory": memory, "shape": [16, 32],
               "element": "f32"}),
        json!({"request": "wavefronts", "registers": rows, "memory": memory, "shape": [16, 32],
               "element": "f32"}),
        json!({"request": "sweep", "store": rows, "loads": [rows], "shape": [16, 32],
               "element": "f32", "from": 0, "count": 16}),
        json!({"request": "compile", "ttir": ttir}),
        json!({"request": "run", "ttir": ttir, "grid": 1, "args": {"x": "ones:f32[128]"}}),
        json!({"request": "explain", "ttir": ttir}),
        json!({"request": "paper", "table": "table2"}),
    ]
}

/// Every request has a limit of time, also where nobody named one; a shell may set another for all, and the
/// request's own counts before both.
#[test]
fn every_request_has_a_limit_of_time() {
    let requests = requests();
    let names: Vec<_> =
        requests.iter().map(|request| request["request"].as_str().unwrap()).collect();
    assert_eq!(names, invoke::REQUESTS);
    let shell = |milliseconds| Budget {
        limits: Limits { milliseconds, ..Limits::default() },
        ..Budget::default()
    };
    for request in requests {
        let name = request["request"].as_str().unwrap();
        let asked = |milliseconds: u64, request: &Value| {
            let text = request.to_string();
            let answer = budget::within_by(leaping, &shell(milliseconds), || invoke(&text));
            serde_json::from_str::<Value>(&answer).unwrap()["error"].take()
        };
        let error = asked(u64::MAX, &request);
        assert_eq!(error["kind"], "limit", "{name}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("the request takes more than 60000 milliseconds"), "{message}");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains(r#"`"limits": {"milliseconds": 120000}`"#), "{hint}");
        let message = asked(5000, &request)["message"].to_string();
        assert!(message.contains("more than 5000 milliseconds"), "{message}");
        let mut own = request.clone();
        own["limits"] = json!({"milliseconds": 7});
        let message = asked(5000, &own)["message"].to_string();
        assert!(message.contains("more than 7 milliseconds"), "{message}");
        // A request may ask for more than the shell would give it.
        own["limits"] = json!({"milliseconds": u64::MAX});
        let error = asked(5000, &own);
        assert!(error.is_null(), "{name}: {error}");
        // A line of a batch does not name the request.
        let line = budget::within_by(leaping, &Budget::default(), || {
            invoke::invoke_line(name, &request.to_string())
        });
        assert!(line.contains("more than 60000 milliseconds"), "{line}");
    }
}

/// The numbers of the book's table are those of the code.
#[test]
fn the_book_tells_the_limits() {
    let book = include_str!("../../../../docs/src/json.md");
    let row = |start: &str| book.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    let limits = Limits::default();
    let Limits { elements, operations, text_bytes, instructions, memory_bytes, .. } = limits;
    for (name, most) in [
        ("elements", elements),
        ("operations", operations),
        ("text_bytes", text_bytes),
        ("instructions", instructions),
        ("memory_bytes", memory_bytes),
    ] {
        assert!(row(&format!("| `{name}` |")).ends_with(&format!("| {most} |")), "{name}");
    }
    let (request, call) = (budget::REQUEST_MILLISECONDS, budget::CALL_MILLISECONDS);
    assert!(row("| a request as text").contains(&format!("| {request} |")));
    assert!(row("| `weft serve`").contains(&format!("| {request}, ")));
    assert!(row("| a call of a tool").contains(&format!("| {call} |")));
}

/// What was done when the time was over is told.
#[test]
fn the_place_where_the_time_was_over_is_told() {
    let during = |request: &Value| {
        let request = request.to_string();
        let refused = budget::within_by(ticking, &Budget::default(), || invoke(&request));
        let refused: Value = serde_json::from_str(&refused).unwrap();
        refused["error"]["message"].as_str().unwrap_or_default().to_owned()
    };
    let arguments = json!({"out": "empty:i32[1]", "n": i32::MAX});
    let run = json!({"request": "run", "ttir": ENDLESS, "grid": 1, "args": arguments});
    let end = "milliseconds: they were over while the reference evaluator ran";
    assert!(during(&run).ends_with(end), "{}", during(&run));
    let table = json!({"request": "paper", "table": "table4"});
    assert!(during(&table).contains("they were over while the "), "{}", during(&table));
}

/// Every search and every loop that a short request may make long asks for its time: a clock that runs a
/// second at each question ends them long before they would end.
#[test]
fn long_loops_ask_for_their_time() {
    let blocked = |each: [u32; 2], threads: [u32; 2], warps: [u32; 2], order: [u32; 2]| {
        format!(
            "#ttg.blocked<{{sizePerThread = {each:?}, threadsPerWarp = {threads:?}, \
             warpsPerCTA = {warps:?}, order = {order:?}}}>"
        )
    };
    let rows = blocked([1, 4], [8, 4], [4, 1], [1, 0]);
    let columns = blocked([4, 1], [4, 8], [1, 4], [0, 1]);
    let also = vec!["gfx942"; 100];
    let copy = "module { tt.func public @copy(%x: !tt.ptr<f32>) {
        %v = tt.load %x : !tt.ptr<f32>
        tt.store %x, %v : !tt.ptr<f32>
        tt.return } }";
    let start = Instant::now();
    for request in [
        json!({"request": "swizzle", "store": rows, "loads": [columns], "shape": [64, 64],
               "element": "f32", "also": also}),
        json!({"request": "run", "ttir": copy, "grid": i32::MAX, "args": {"x": "ones:f32[1]"}}),
        json!({"request": "paper", "table": "table3"}),
        json!({"request": "paper", "table": "table4"}),
        json!({"request": "sweep", "store": rows, "loads": [columns], "shape": [64, 64],
               "element": "f32", "from": 0, "count": 1 << 20}),
    ] {
        let request = request.to_string();
        let refused = budget::within_by(ticking, &Budget::default(), || invoke(&request));
        let refused: Value = serde_json::from_str(&refused).unwrap();
        assert_eq!(refused["error"]["kind"], "limit", "{refused}");
    }
    // More registers than a plan can be made for, unless somebody wants them; and a picture that does not
    // fit is not drawn to be counted.
    let mut request = json!({"request": "convert", "from": rows, "to": columns, "shape": [32, 65536],
                             "element": "bf16", "emit": "svg"});
    let refused = answer(&request);
    let message = "`from` has more than 4096 elements of a tensor for each thread";
    assert_eq!(refused["error"]["message"], message);
    request["limits"] = json!({"elements": 16384});
    let refused = answer(&request);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("are too many to draw in full"), "{message}");
    // Minutes without what is tested here.
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}

/// More machines than one memory layout can be sought for are refused, and the room they would take is
/// never asked for.
#[test]
fn too_many_machines_are_refused() {
    let rows = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] \
                -> [dim0: 16, dim1: 32]";
    let refused = answer(&json!({
        "request": "swizzle", "store": rows, "loads": [rows], "shape": [16, 32], "element": "f32",
        "also": vec!["sm_80"; 2050],
    }));
    assert_eq!(refused["error"]["message"], "4102 accesses are too many, 256 are possible");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("fewer machines"), "{refused}");
}

/// What was made while a request was stopped lacks something, and is not kept for the next one.
#[test]
fn nothing_half_made_is_kept() {
    let text = "module { tt.func public @reverse(%x: !tt.ptr<i32>) {
         %p = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
         %last = arith.constant dense<1023> : tensor<1024xi32>
         %from = arith.subi %last, %p : tensor<1024xi32>
         %base = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
         %there = tt.addptr %base, %from : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
         %a = tt.load %there : tensor<1024x!tt.ptr<i32>>
         %q = arith.divsi %a, %p : tensor<1024xi32>
         %here = tt.addptr %base, %p : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
         tt.store %here, %q : tensor<1024x!tt.ptr<i32>>
         tt.return } }";
    let request: CompileRequest = serde_json::from_value(json!({"ttir": text})).unwrap();
    let kernel = CompiledKernel::new(&request).unwrap();
    let stopped = Budget::default();
    stopped.stop.set();
    budget::within(&stopped, || {
        assert!(matches!(kernel.unordered(), Err(ApiError::Stopped)));
        assert!(matches!(kernel.partial(), Err(ApiError::Stopped)));
    });
    assert!(kernel.unordered().unwrap().is_some());
    assert!(kernel.partial().unwrap().is_some());
}

#[test]
fn what_nobody_wants_any_more_ends() {
    let arguments = json!({"out": "empty:i32[1]", "n": i32::MAX});
    let store = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] \
                 -> [dim0: 16, dim1: 32]";
    let sweep = json!({"request": "sweep", "store": store, "loads": [store], "shape": [16, 32],
                       "element": "f32", "from": 0, "count": 1 << 20});
    let long = chain(2000, "math.sin", 1 << 12);
    for request in [
        json!({"request": "run", "ttir": ENDLESS, "grid": 1, "args": arguments}),
        json!({"request": "compile", "ttir": long, "limits": {"operations": 1 << 30}}),
        json!({"request": "explain", "ttir": long, "limits": {"operations": 1 << 30}}),
        sweep,
    ] {
        let (answer, after) = stopped_after(Duration::from_millis(50), &request);
        assert_eq!(answer["error"]["kind"], "stopped", "{}", request["request"]);
        // A tenth of a second, and ten times that for builds without optimisation on a busy machine.
        assert!(after < Duration::from_secs(1), "{}: {after:?}", request["request"]);
    }
}
