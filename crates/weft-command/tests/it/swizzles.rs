//! `weft swizzle`.

use crate::weft_with;
use serde_json::{Value, json};

const ROWS: &str = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] \
                    -> [dim0: 16, dim1: 32]";
const PAIRS: &str = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] \
                     -> [dim0: 16, dim1: 32]";
#[test]
fn answers_in_json_one_by_one_and_in_a_batch() {
    let alone = weft_with(
        &[
            "swizzle",
            "--store",
            ROWS,
            "--load",
            PAIRS,
            "--shape",
            "16x32",
            "--element",
            "f32",
            "--json",
        ],
        "",
    );
    let line = json!({"store": ROWS, "loads": [PAIRS], "shape": [16, 32], "element": "f32"});
    let other = json!({"store": ROWS, "loads": [], "shape": [16, 32], "element": "f32"});
    let finished = weft_with(&["swizzle", "--batch", "-"], &format!("{line}\n{other}\n"));
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!(lines[0], alone.stdout.trim_end());
    let answer: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(answer["wavefronts"], 32);
    assert_eq!(answer["bound"], 32);
    assert_eq!(answer["certificate"], json!({"kind": "dimensions", "optimal": true}));
    assert_eq!(answer["bases"]["offset"].as_array().unwrap().len(), 9);
    let error: Value = serde_json::from_str(lines[1]).unwrap();
    assert_eq!(error["error"]["kind"], "swizzle");
    assert_eq!((lines.len(), finished.status), (2, 0));
}

#[test]
fn what_each_machine_takes_adds_up() {
    let tile = ["--shape", "64x64", "--element", "f16", "--also", "gfx942"];
    let of_64 = "[register: (0,1) (0,2) (0,4) (0,8) (0,16) (0,32), lane: (1,0) (2,0) (4,0) (8,0) \
                 (16,0), warp: (32,0)] -> [dim0: 64, dim1: 64]";
    let arguments = [&["swizzle", "--store", of_64, "--load", of_64], &tile[..]].concat();
    let finished = weft_with(&[&arguments[..], &["--json"]].concat(), "");
    let answer: Value = serde_json::from_str(&finished.stdout).unwrap();
    let machines = answer["portable"]["machines"].as_array().unwrap();
    let sum: u64 = machines.iter().map(|machine| machine["wavefronts"].as_u64().unwrap()).sum();
    assert_eq!(answer["wavefronts"], sum);
    let names: Vec<&Value> = machines.iter().map(|machine| &machine["machine"]).collect();
    assert_eq!(names, ["sm_90", "gfx942"]);
}
