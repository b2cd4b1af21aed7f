//! Conversions as device functions, and kernels as C++.

use crate::{weft, weft_with};
use expect_test::expect;
use serde_json::{Value, json};

/// A register's bit and a lane's bit that change places.
const FROM: &str = "[register: (0,1), lane: (1,0) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 2, dim1: 32]";
const TO: &str = "[register: (1,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 2, dim1: 32]";

#[test]
fn a_batch_answers_with_texts() {
    let line = |emit: &str| {
        json!({"from": FROM, "to": TO, "shape": [2, 32], "element": "f32", "emit": emit})
            .to_string()
    };
    let input = ["plan", "ptx", "cuda", "hip", "c"].map(line).join("\n");
    let finished = weft_with(&["convert", "--batch", "-"], &input);
    assert_eq!(finished.status, 0);
    let answers: Vec<Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = |index: usize| answers[index]["text"].as_str().unwrap();
    assert!(text(0).starts_with("strategy"), "{}", text(0));
    assert!(text(1).contains(".visible .func"), "{}", text(1));
    assert!(text(2).contains("void convert_2x32_f32("), "{}", text(2));
    expect!["sm_90 has no `hip`: NVIDIA's GPUs are programmed in ptx and cuda"]
        .assert_eq(answers[3]["error"]["message"].as_str().unwrap());
    assert_eq!(answers[4]["error"]["kind"], "json");
}

#[test]
fn every_example_is_cuda_and_hip() {
    for example in ["vector_add", "row_softmax", "tiled_transpose", "matmul", "spin_counter"] {
        for (target, emit, word) in [
            ("sm_80", "cuda", "threadIdx.x"),
            ("gfx90a", "hip", "__builtin_amdgcn_workitem_id_x()"),
        ] {
            let finished =
                weft(&format!("compile examples/{example}.ttir --target {target} --emit {emit}"));
            assert_eq!(finished.status, 0, "{}", finished.stderr);
            assert!(finished.stdout.contains(&format!("{example}_kernel(")), "{}", finished.stdout);
            assert!(finished.stdout.contains(word), "{}", finished.stdout);
            assert!(finished.stdout.contains(&format!("// examples/{example}.py:")));
        }
    }
}
