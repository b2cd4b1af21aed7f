//! `--json` and `--batch`.

use crate::{root, weft, weft_with};
use serde_json::{Value, json};

fn parsed(line: &str) -> (i32, Value) {
    let finished = weft(line);
    (finished.status, serde_json::from_str(&finished.stdout).expect(&finished.stdout))
}

#[test]
fn runs() {
    let (status, answer) = parsed(
        "run examples/tiled_transpose.ttir --grid 2x1 --arg x=range:f32[128x64] \
         --arg out=empty:f32[64x128] --arg m=128 --arg n=64 --verify --json",
    );
    assert_eq!(status, 0);
    assert_eq!(answer["passed"], true);
    assert_eq!(answer["grid"], json!([2, 1, 1]));
    assert_eq!(answer["buffers"][1]["name"], "out");
    assert_eq!(answer["buffers"][1]["exact"], true);
    assert_eq!(answer["plans_verified"], 1);
    assert_eq!(answer["findings"], json!([]));
    let counts = &answer["counts"];
    assert_eq!(counts["global_sectors"], counts["ideal_global_sectors"]);
}

#[test]
fn findings_have_places() {
    let (status, answer) = parsed(
        "run crates/weft/tests/kernels/bad_out_of_range.ttir --grid 2 --arg x=random:f32[200] \
         --arg out=empty:f32[200] --arg n=200 --json",
    );
    assert_eq!(status, 1);
    let finding = &answer["findings"][0];
    assert_eq!(finding["kind"], "out of range");
    assert_eq!(finding["actor"]["place"], "crates/weft/tests/kernels/kernels.py:197:5");
    assert_eq!(finding["actor"]["block"], json!([1, 0, 0]));
    assert!(finding["hint"].is_string());
}

#[test]
fn compiled_and_explained_kernels() {
    let (status, answer) = parsed("compile examples/tiled_transpose.ttir --json");
    assert_eq!(status, 0);
    assert_eq!(answer["name"], "tiled_transpose");
    assert!(answer["ptx"].as_str().unwrap().contains(".visible .entry tiled_transpose("));
    assert_eq!(answer["conversions"][0]["strategy"], "shared memory");
    let (status, answer) = parsed("explain examples/tiled_transpose.ttir --json");
    assert_eq!(status, 0);
    assert_eq!(answer["accesses"][0]["vector_bytes"], 16);
    assert!(answer["movements"][0]["cost"].is_u64());
}

#[test]
fn errors_too() {
    let (status, answer) = parsed("run examples/vector_add.ttir --grid 1 --json");
    assert_eq!(status, 2);
    assert_eq!(answer["error"]["kind"], "argument");
    let (status, answer) = parsed("compile examples/nothing.ttir --json");
    assert_eq!(status, 2);
    assert_eq!(answer["error"]["kind"], "read");

    let text = std::fs::read_to_string(root().join("examples/vector_add.ttir")).unwrap();
    let text = text.replace("tt.splat %n", "tt.splat %m");
    let finished = weft_with(&["compile", "-", "--json"], &text);
    let answer: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(answer["error"]["kind"], "ttir");
    assert_eq!((&answer["error"]["line"], &answer["error"]["column"]), (&json!(14), &json!(22)));
}

#[test]
fn a_batch_answers_line_by_line() {
    let blocked = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], \
                   warpsPerCTA = [1, 1], order = [1, 0]}>";
    let good = json!({"attribute": blocked, "shape": [8, 8], "element": "f16", "id": 7});
    let input = format!("{good}\nnothing\n{}\n{good}", json!({"shape": [8, 8]}));
    let finished = weft_with(&["layout", "--batch", "-"], &input);
    assert_eq!((finished.status, &*finished.stderr), (0, ""));
    let lines: Vec<Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0]["bases"]["lane"][2], json!([1, 0]));
    assert_eq!(lines[0], lines[3]);
    assert_eq!(lines[1]["error"]["kind"], "json");
    assert_eq!(lines[2]["error"]["message"], "missing field `attribute`");

    let to = "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [4, 8], \
              warpsPerCTA = [1, 1], order = [0, 1]}>";
    let convert =
        json!({"from": blocked, "to": to, "shape": [8, 8], "element": "f16", "target": "sm_90"});
    let finished = weft_with(&["convert", "--batch", "-"], &convert.to_string());
    let answer: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(answer["verified"], true);
    let keys = [
        "strategy",
        "instructions",
        "wavefronts",
        "ideal_wavefronts",
        "barriers",
        "shared_bytes",
        "cost",
        "bound",
        "least",
    ];
    assert!(keys.iter().all(|key| !answer[key].is_null()), "{answer}");
    let others = answer["alternatives"].as_array().unwrap();
    assert!(!others.is_empty(), "{answer}");
    for other in others {
        assert!(other["cost"].as_u64() >= answer["cost"].as_u64(), "{answer}");
        assert!(other["strategy"].is_string(), "{answer}");
    }
}
