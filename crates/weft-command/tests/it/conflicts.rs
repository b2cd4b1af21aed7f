//! `weft conflicts`.

use crate::weft_with;
use expect_test::{Expect, expect};
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

fn check(registers: &str, memory: &str, rest: &str, status: i32, text: &Expect) {
    let (found, shown) = ask(registers, memory, rest);
    text.assert_eq(&shown);
    assert_eq!(found, status);
}

#[test]
fn two_folds_of_a_tile() {
    let tile = "--shape 16x32 --element f32";
    check(
        READ,
        XOR_M,
        tile,
        0,
        &expect![[r#"
        access             load, 4 bytes a lane, 16 instructions
        wavefronts         32 (ideal 16)
        conflict           dim0[0] ^ dim1[0] in bank 0
          lane 0           byte 0: (0,0) in register 0 of warp 0
          lane 17          byte 128: (1,1) in register 0 of warp 0
    "#]],
    );
    check(
        READ,
        XOR_2M,
        tile,
        0,
        &expect![[r#"
        access             load, 4 bytes a lane, 16 instructions
        wavefronts         16 (ideal 16)
        conflict           none
    "#]],
    );
}

#[test]
fn rows_with_gaps() {
    for (gap, text) in [
        (
            1,
            expect![[r#"
        access             load, 4 bytes a lane, 16 instructions
        wavefronts         32 (ideal 16)
        conflict           dim0[0] ^ dim1[0] in bank 1
          lane 16          byte 4: (0,1) in register 0 of warp 0
          lane 1           byte 132: (1,0) in register 0 of warp 0
    "#]],
        ),
        (
            2,
            expect![[r#"
        access             load, 4 bytes a lane, 16 instructions
        wavefronts         16 (ideal 16)
        conflict           none
    "#]],
        ),
    ] {
        let padded =
            format!("#ttg.padded_shared<[32:+{gap}] {{order = [1, 0], shape = [16, 32]}}>");
        // As Triton writes it, and as CuTe does.
        for memory in [padded, format!("(16,32):({},1)", 32 + gap)] {
            check(READ, &memory, "--shape 16x32 --element f32", 0, &text);
        }
    }
}

/// NVIDIA's 128-byte swizzle under 16-byte loads of 64 rows, on four machines.
#[test]
fn one_swizzle_on_several_machines() {
    let memory = "Swizzle<3,3,3> o 0 o (64,64):(64,1)";
    let mut shown = String::new();
    for (target, lanes) in [("sm_90", 5), ("gfx1100", 5), ("gfx942", 6), ("gfx950", 6)] {
        let rows: Vec<String> = (0..6).map(|bit| format!("({},0)", 1 << bit)).collect();
        let (lane, warp) = rows.split_at(lanes);
        let registers = format!(
            "[register: (0,1) (0,2) (0,4) (0,8) (0,16) (0,32), lane: {}, warp: {}] -> \
             [dim0: 64, dim1: 64]",
            lane.join(" "),
            warp.join(" ")
        );
        let rest = format!("--shape 64x64 --element bf16 --target {target}");
        let (status, text) = ask(&registers, memory, &rest);
        assert_eq!(status, 0, "{text}");
        shown += &format!("{target}\n{text}");
    }
    expect![[r#"
        sm_90
        access             load, 16 bytes a lane, 16 instructions
        wavefronts         64 (ideal 64)
        conflict           none
        gfx1100
        access             load, 16 bytes a lane, 16 instructions
        wavefronts         64 (ideal 64)
        conflict           none
        gfx942
        access             load, 16 bytes a lane, 8 instructions
        wavefronts         64 (ideal 64)
        conflict           none
        gfx950
        access             load, 16 bytes a lane, 8 instructions
        wavefronts         64 (ideal 32)
        conflict           dim0[3] ^ dim0[4] in bank 0
          lane 0           byte 0: (0,0) in register 0 of warp 0
          lane 24          byte 3072: (24,0) in register 0 of warp 0
    "#]]
    .assert_eq(&shown);
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

#[test]
fn what_does_not_fit_is_refused() {
    let tile = "--shape 16x32 --element f32";
    check(
        READ,
        READ,
        tile,
        2,
        &expect![[r#"
            error: the layout of the memory has no axis `offset`
              help: a memory is `#ttg.swizzled_shared<{…}>`, `#ttg.padded_shared<{…}>`, CuTe's `(16,32):(32,1)` or bases with the axis `offset`
        "#]],
    );
    check(
        READ,
        XOR_M,
        "--shape 16x32 --element f32 --target gfx90a",
        2,
        &expect![[r#"
            error: a warp has 32 lanes in the layout of the registers, and 64 on the machine
              help: give a layout with the lanes of the machine's warps, or another target
        "#]],
    );
    check(
        READ,
        "(16,16):(16,1)",
        tile,
        2,
        &expect![[r#"
            error: `memory` is a layout of a tensor of shape [16, 16], not [16, 32]
              help: give the extents 16x16, or a layout of a tensor of 16x32
        "#]],
    );
    check(
        READ,
        "(16,32):(32,0)",
        tile,
        2,
        &expect![[r#"
        error: `memory`: 0 and dim1=1 both go to 0
    "#]],
    );
    let half = "[offset: (0,1) (0,2) (0,4) (0,8)] -> [dim0: 16, dim1: 32]";
    check(
        READ,
        half,
        tile,
        2,
        &expect![[r#"
        error: bit 3 of `register` goes to dim1=16, which the other layout does not hold
    "#]],
    );
    check(
        READ,
        XOR_M,
        "--shape 16x32 --element f99",
        2,
        &expect![[r#"
            error: there is no element type `f99`
              help: known are i1, i8, i16, i32, i64, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, f16, bf16, f32, f64, f8E4M3B11FNUZ, !tt.ptr<f32> and other pointers
        "#]],
    );
}
