//! A long chain of operations, which used to end the process of whoever was asked about it.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::thread;
use weft_api::invoke;

/// What Triton makes of `for j in tl.static_range(600): i = (i * 5 + j) & 127`: 1,800 operations, each of
/// which hangs on the one before it, and whose result is an address.
fn chain() -> String {
    let (t, p) = ("tensor<128xi32>", "tensor<128x!tt.ptr<f32>>");
    let mut text = format!(
        "tt.func public @chain(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {{
           %r = tt.make_range {{end = 128 : i32, start = 0 : i32}} : {t}
           %five = arith.constant dense<5> : {t}
           %mask = arith.constant dense<127> : {t}
           %i0 = arith.addi %r, %five : {t}\n"
    );
    for j in 0..600 {
        writeln!(
            text,
            "%j{j} = arith.constant dense<{j}> : {t}
             %m{j} = arith.muli %i{j}, %five : {t}
             %a{j} = arith.addi %m{j}, %j{j} : {t}
             %i{} = arith.andi %a{j}, %mask : {t}",
            j + 1
        )
        .unwrap();
    }
    text + &format!(
        "%xs = tt.splat %x : !tt.ptr<f32> -> {p}
         %from = tt.addptr %xs, %i600 : {p}, {t}
         %v = tt.load %from : {p}
         %os = tt.splat %out : !tt.ptr<f32> -> {p}
         %to = tt.addptr %os, %r : {p}, {t}
         tt.store %to, %v : {p}
         tt.return }}\n"
    )
}

/// The compiler's own tests go from its text to its results; this is what requests add.
#[test]
fn a_long_chain_is_answered_on_little_stack_whatever_is_asked() {
    let ttir = chain();
    let args = json!({"x": "random:f32[128]", "out": "empty:f32[128]"});
    for request in [
        json!({"request": "compile", "ttir": ttir, "emit": ["tile", "ttgir", "lane", "ptx", "cuda", "report"]}),
        json!({"request": "explain", "ttir": ttir, "text_places": true}),
        json!({"request": "run", "ttir": ttir, "grid": 1, "args": args, "verify": true}),
    ] {
        let asked = move || invoke(&request.to_string());
        let answer = thread::Builder::new().stack_size(512 << 10).spawn(asked).unwrap().join();
        let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
        assert!(answer["error"].is_null(), "{answer}");
        assert_ne!(answer["passed"], false, "{answer}");
    }
}
