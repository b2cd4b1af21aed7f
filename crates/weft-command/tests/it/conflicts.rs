//! `weft conflicts`.

use crate::weft_with;
use serde_json::{Value, json};

/// A warp that reads a 16 x 32 tile by columns, two at a time.
const READ: &str = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> \
                    [dim0: 16, dim1: 32]";
/// Columns folded with the row, and with twice the row.
const XOR_M: &str = "Swizzle<4,0,5> o 0 o (16,32):(32,1)";
const XOR_2M: &str = "Swizzle<4,1,4> o 0 o (16,32):(32,1)";

fn ask(registers: &str, memory: &str, rest: &str) -> (i32, String) {
    let head = ["conflicts", "--registers", registers, "--memory", memory];
    let finished = weft_with(&[&head[..], &rest.split(' ').collect::<Vec<_>>()].concat(), "");
    (finished.status, finished.stdout + &finished.stderr)
}

#[test]
fn stores_and_json() {
    let (status, text) = ask(READ, XOR_M, "--shape 16x32 --element f32 --kind store --json");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(status, 0);
    assert_eq!((&answer["kind"], &answer["wavefronts"]), (&json!("store"), &json!(32)));
    let sides = json!([
        {"register": 0, "lane": 0, "warp": 0, "element": [0, 0], "address": 0},
        {"register": 0, "lane": 17, "warp": 0, "element": [1, 1], "address": 128},
    ]);
    assert_eq!(answer["witness"]["sides"], sides);
    let (_, text) = ask(READ, XOR_2M, "--shape 16x32 --element f32 --json");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&answer["wavefronts"], &answer["ideal"]), (&json!(16), &json!(16)));
    assert_eq!(answer["witness"], Value::Null);
}

#[test]
fn a_batch() {
    let good = json!({
        "registers": READ, "memory": XOR_M, "shape": [16, 32], "element": "f32", "target": "sm_80",
    });
    let wrong = json!({"registers": READ, "memory": XOR_M, "shape": [16, 32]});
    let input = format!("{good}\n{wrong}\n{{}}\n");
    let finished = weft_with(&["conflicts", "--batch", "-"], &input);
    assert_eq!((finished.status, &*finished.stderr), (0, ""));
    let lines: Vec<Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["wavefronts"], &lines[0]["ideal"]), (&json!(32), &json!(16)));
    assert_eq!(lines[0]["witness"]["difference"], "dim0[0] ^ dim1[0]");
    assert_eq!(lines[1]["error"]["kind"], "element");
    assert_eq!(lines[2]["error"]["message"], "missing field `registers`");
}
