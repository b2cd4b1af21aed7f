//! Stores of one value to one byte that nothing orders: a note, or a race where the request says so.

use serde_json::{Value, json};
use weft_api::invoke;

/// Two blocks store the same number to one place.
const KERNEL: &str = "module { tt.func public @flag(%x: !tt.ptr<i32>) {
    %one = arith.constant 1 : i32
    tt.store %x, %one : !tt.ptr<i32>
    tt.return } }";

fn run(what: &Value) -> Value {
    let mut request = json!({
        "request": "run", "ttir": KERNEL, "grid": 2, "args": {"x": "zeros:i32[1]"},
    });
    if !what.is_null() {
        request["equal_stores"] = what.clone();
    }
    serde_json::from_str(&invoke(&request.to_string())).unwrap()
}

#[test]
fn the_request_says_what_equal_stores_are() {
    for what in [json!(null), json!("note")] {
        let answer = run(&what);
        assert_eq!(answer["passed"], true, "{answer}");
        assert_eq!(answer["notes"][0]["kind"], "equal stores");
        let hint = answer["notes"][0]["hint"].as_str().unwrap();
        assert!(hint.contains("`equal_stores`"), "{hint}");
    }
    let answer = run(&json!("race"));
    assert_eq!(answer["passed"], false, "{answer}");
    assert_eq!(answer["findings"][0]["kind"], "race");
    assert!(answer["notes"].as_array().is_none_or(Vec::is_empty), "{answer}");
    assert_eq!(run(&json!("both"))["error"]["path"], "equal_stores");
}
