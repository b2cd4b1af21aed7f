//! `weft swizzle`.

use crate::weft_with;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

const ROWS: &str = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] \
                    -> [dim0: 16, dim1: 32]";
const PAIRS: &str = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] \
                     -> [dim0: 16, dim1: 32]";
const FRAGMENT: &str = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], \
                        instrShape = [16, 8]}>";
const BLOCKED: &str = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], \
                       warpsPerCTA = [4, 1], order = [1, 0]}>";

fn check(arguments: &[&str], text: &Expect) {
    let finished = weft_with(arguments, "");
    text.assert_eq(&finished.stdout);
    assert_eq!((finished.status, &*finished.stderr), (0, ""));
}

#[test]
fn the_trace_of_the_16_by_32_transpose() {
    check(
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
            "--trace",
        ],
        &expect![[r#"
            the construction of section 9.2, step by step
            1 vectors          V = -, v = 0
            2 sizes            b = 5 bank bits, s = 4 segment bits
            3 phases           the store is served in 1, the load in 1
                               A = (0,1) (0,2) (0,4) (0,8) (0,16)
                               B = (1,0) (2,0) (4,0) (8,0) (0,1)
            4 sorting          I = (0,1)
                               E = (0,2) (0,4) (0,8) (0,16)
                               F = (1,0) (2,0) (4,0) (8,0)
                               segments without conflicts: at most 4 bits
            5 pairing          H = (1,2) (2,4) (4,8) (8,16)
                               (0,2) ^ (1,0) = (1,2)
                               (0,4) ^ (2,0) = (2,4)
                               (0,8) ^ (4,0) = (4,8)
                               (0,16) ^ (8,0) = (8,16)
            6 topping up       C = -
                               segments (1,2) (2,4) (4,8) (8,16)
            7 banks            (0,1) (0,2) (0,4) (0,8) (0,16)
                               offset = (dim0 << 5) ^ (dim0 << 1) ^ dim1
                               32 wavefronts

            wavefronts         32, the fewest possible by counting dimensions
            store              4 instructions of 16 bytes a lane, 16 wavefronts (alone at least 16)
            load               4 instructions ldmatrix.m8n8.x4.b16, 16 wavefronts (alone at least 16)
            shared memory      2048 bytes a block
            offset             (1,0) (2,0) (0,1) (0,2) (0,4) (4,2) (8,4) (0,8) (0,16)
            shape              16x32
            xor                offset = ((dim1 & 24) << 4) ^ ((dim0 & 12) << 3) ^ ((dim1 & 7) << 2) ^ ((dim0 & 12) << 1) ^ (dim0 & 3)
            cute               Sw<2,3,2> o 0 o ((4,4),(8,4)):((1,32),(4,128))
            triton             #ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 16, order = [1, 0]}>
            tma                64-byte swizzle, the first axis contiguous
        "#]],
    );
}

#[test]
fn a_fragment_is_stored_and_read_in_rows() {
    let swizzle = ["swizzle", "--store", FRAGMENT, "--load", BLOCKED, "--shape", "64x64"];
    check(
        &[&swizzle[..], &["--element", "f16"]].concat(),
        &expect![[r#"
            wavefronts         32, the fewest possible by counting dimensions
            store              4 instructions of 16 bytes a lane, 16 wavefronts (alone at least 16)
            load               4 instructions ldmatrix.m8n8.x4.b16, 16 wavefronts (alone at least 16)
            shared memory      8192 bytes a block
            offset             (0,1) (0,8) (0,16) (1,0) (0,2) (0,4) (0,34) (2,4) (4,0) (8,0) (16,0) (32,0)
            shape              64x64
            xor                offset = ((dim0 & 62) << 6) ^ ((dim0 & 2) << 4) ^ ((dim0 & 1) << 3) ^ ((dim1 & 6) << 3) ^ ((dim1 & 32) << 1) ^ (dim1 & 1) ^ ((dim1 & 32) >> 1) ^ ((dim1 & 24) >> 2)
            cute               Sw<2,4,2> o 0 o ((2,32),(2,4,4,2)):((8,128),(1,16,2,64))
            triton             #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
            tma                128-byte swizzle, the last axis contiguous
        "#]],
    );
    check(
        &[&swizzle[..], &["--element", "i8", "--load", FRAGMENT, "--weights", "1,2,1"]].concat(),
        &expect![[r#"
            wavefronts         32, the fewest possible by counting dimensions
            store              8 instructions of 4 bytes a lane, 8 wavefronts (alone at least 8)
            load 1             2 instructions ldmatrix.m8n8.x4.trans.b16, 8 wavefronts (alone at least 8)
            load 2             8 instructions of 4 bytes a lane, 8 wavefronts (alone at least 8)
            shared memory      4096 bytes a block
            offset             (0,1) (0,32) (1,0) (2,0) (0,2) (0,4) (4,0) (0,20) (4,8) (8,0) (16,0) (32,0)
            shape              64x64
            xor                offset = ((dim0 & 56) << 6) ^ ((dim1 & 8) << 5) ^ ((dim0 & 4) << 4) ^ ((dim1 & 30) << 3) ^ ((dim0 & 3) << 2) ^ ((dim1 & 16) << 1) ^ (dim1 & 1) ^ ((dim1 & 32) >> 4)
            cute               Sw<2,5,2> o 0 o ((4,2,8),(2,4,2,2,2)):((4,64,512),(1,16,256,128,2))
            triton             no swizzled_shared is as good
            tma                no TMA mode can: 48 at best, 64-byte swizzle, the last axis contiguous
        "#]],
    );
}

#[test]
fn a_budget_takes_rounds() {
    check(
        &[
            "swizzle",
            "--store",
            FRAGMENT,
            "--load",
            BLOCKED,
            "--shape",
            "64x64",
            "--element",
            "f32",
            "--scratch",
            "8192",
        ],
        &expect![[r#"
            wavefronts         64, the fewest possible by counting dimensions
            store              8 instructions of 16 bytes a lane, 32 wavefronts (alone at least 32)
            load               8 instructions ldmatrix.m8n8.x4.b16, 32 wavefronts (alone at least 32)
            shared memory      8192 bytes a block
            round bit 0        parity(dim1 & 1)
            offset             (0,8) (0,16) (0,2) (0,4) (1,0) (0,34) (2,4) (4,0) (8,0) (16,0) (32,0)
            shape              64x64
            xor                offset = ((dim0 & 62) << 5) ^ ((dim0 & 1) << 4) ^ ((dim0 & 2) << 2) ^ ((dim1 & 6) << 1) ^ (dim1 & 32) ^ ((dim1 & 56) >> 3)
            cute               none
            triton             no swizzled_shared is as good
        "#]],
    );
}

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
fn refusals_say_what_would_be_right() {
    let refused = |more: &[&str], message: Expect| {
        let swizzle = ["swizzle", "--store", ROWS, "--load", PAIRS, "--shape", "16x32"];
        let finished = weft_with(&[&swizzle[..], more].concat(), "");
        message.assert_eq(&finished.stderr);
        assert_eq!((finished.status, &*finished.stdout), (2, ""));
    };
    refused(
        &["--element", "f32", "--weights", "1"],
        expect![[r#"
            error: 1 weights are given for 2 accesses
              help: give the weight of the store, then one for each load; none for `tma`
        "#]],
    );
    refused(
        &["--element", "f32", "--scratch", "1024"],
        expect![[r#"
            error: the buffer needs 2048 bytes, 1024 are allowed, and the accesses share too few registers to go in rounds
              help: allow 2048 bytes, or leave the limit out
        "#]],
    );
    refused(
        &["--element", "f32", "--load", ROWS, "--trace"],
        expect![[r#"
            error: the construction is for one store and one load, in this order, not for these 3 accesses
              help: leave the trace out, or give one load
        "#]],
    );
    refused(
        &["--element", "f32", "--target", "gfx942"],
        expect![[r#"
            error: access 0 has 5 lane bits, the machine has 6
              help: give layouts with the lanes of the machine's warps, or another target
        "#]],
    );
    refused(
        &["--element", "quarter"],
        expect![[r#"
        error: there is no element type `quarter`
          help: known are i1, i8, i16, i32, i64, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, f16, bf16, f32, f64, f8E4M3B11FNUZ, !tt.ptr<f32> and other pointers
    "#]],
    );
}

/// 16 bytes of a row for each thread of a warp.
const A_ROW_EACH: &str = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 1], \
                          warpsPerCTA = [2, 2], order = [0, 1]}>";

#[test]
fn one_layout_for_several_machines() {
    check(
        &[
            "swizzle",
            "--store",
            BLOCKED,
            "--load",
            A_ROW_EACH,
            "--shape",
            "64x64",
            "--element",
            "f16",
            "--also",
            "gfx942,gfx950",
        ],
        &expect![[r#"
            wavefronts         144, the fewest possible by counting dimensions
            portable           the best on each machine
            sm_90              32 wavefronts, as few as on a layout of its own
            store              4 instructions of 16 bytes a lane, 16 wavefronts (alone at least 16)
            load               4 instructions of 16 bytes a lane, 16 wavefronts (alone at least 16)
            gfx942             64 wavefronts, as few as on a layout of its own
            store              4 instructions of 16 bytes a lane, 32 wavefronts (alone at least 32)
            load               4 instructions of 16 bytes a lane, 32 wavefronts (alone at least 32)
            gfx950             48 wavefronts, as few as on a layout of its own
            store              4 instructions of 16 bytes a lane, 32 wavefronts (alone at least 32)
            load               4 instructions of 16 bytes a lane, 16 wavefronts (alone at least 16)
            shared memory      8192 bytes a block
            offset             (0,1) (0,2) (0,4) (0,8) (0,16) (0,32) (16,0) (1,8) (2,16) (4,32) (8,0) (32,0)
            shape              64x64
            xor                offset = ((dim0 & 15) << 7) ^ ((dim0 & 32) << 6) ^ ((dim0 & 7) << 3) ^ ((dim0 & 16) << 2) ^ dim1
            cute               Sw<3,3,4> o 0 o ((16,2,2),64):((128,64,2048),1)
            triton             no swizzled_shared is as good
        "#]],
    );
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

#[test]
fn only_layouts_that_tma_can_write() {
    let tile = ["--shape", "64x64", "--element", "f16"];
    check(
        &[&["swizzle", "--store", "tma", "--load", A_ROW_EACH], &tile[..]].concat(),
        &expect![[r#"
            wavefronts         16, the fewest of 8 TMA modes
            without tma        16, on the best memory layout of all
            load               4 instructions of 16 bytes a lane, 16 wavefronts (alone at least 16)
            shared memory      8192 bytes a block
            offset             (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,8) (8,0) (16,0) (32,0) (0,16) (0,32)
            shape              64x64
            xor                offset = ((dim1 & 48) << 6) ^ (dim0 << 4) ^ ((dim0 & 4) << 1) ^ (dim1 & 15)
            cute               Sw<1,3,3> o 0 o (64,(16,4)):(16,(1,1024))
            triton             #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
            tma                32-byte swizzle, the last axis contiguous
        "#]],
    );
    let refused = |arguments: &[&str]| {
        let finished = weft_with(&[&["swizzle"], arguments, &tile].concat(), "");
        assert_eq!((finished.status, &*finished.stdout), (2, ""));
        finished.stderr
    };
    expect![[r#"
        error: `tma`: nothing is left for the threads to store or load
        error: `tma`: gfx942 has no tensor memory accelerator
        error: `tma`: its modes are those of one machine, and several are asked about
        error: 2 weights are given for 1 accesses
          help: give the weight of the store, then one for each load; none for `tma`
    "#]]
    .assert_eq(
        &[
            refused(&["--store", "tma", "--load", "tma"]),
            refused(&["--store", "tma", "--load", BLOCKED, "--target", "gfx942"]),
            refused(&["--store", "tma", "--load", BLOCKED, "--also", "sm_80"]),
            refused(&["--store", "tma", "--load", BLOCKED, "--weights", "1,1"]),
        ]
        .concat(),
    );
}

#[test]
fn threads_that_fill_no_wave_are_refused() {
    let finished = weft_with(
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
            "--also",
            "gfx942",
        ],
        "",
    );
    assert_eq!(finished.status, 2);
    expect![[r#"
        error: `store` has 32 threads, and a wave of gfx942 has 64
          help: give layouts of more warps, or ask about that machine alone
    "#]]
    .assert_eq(&finished.stderr);
}
