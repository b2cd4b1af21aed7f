//! `weft run` on kernels that are right and on kernels that are wrong.

use crate::weft;
use expect_test::{Expect, expect};

fn check(line: &str, status: i32, report: &Expect) {
    let finished = weft(line);
    report.assert_eq(&finished.stdout);
    assert_eq!((finished.status, &*finished.stderr), (status, ""));
}

#[test]
fn vector_add_with_a_tail() {
    check(
        "run examples/vector_add.ttir --grid 4 --arg x=random:f32[4000] --arg y=random:f32[4000] \
         --arg out=empty:f32[4000] --arg n=4000",
        0,
        &expect![[r#"
            kernel             vector_add for sm_90, grid 4, 4 warps a block
            instructions       416 of warps, 13312 of lanes
            global sectors     1500 (ideal 1500)
            shared wavefronts  0 (ideal 0)
            shuffles           0
            barriers           0 of blocks, 0 of warps
            atomics            0
            shared memory      0 bytes a block

            x                  f32[4000] unchanged
            y                  f32[4000] unchanged
            out                f32[4000] bit for bit

            findings           none
        "#]],
    );
}

#[test]
fn row_softmax() {
    check(
        "run examples/row_softmax.ttir --grid 8 --arg x=random:f32[8x1008] \
         --arg out=empty:f32[8x1008] --arg n=1008 --verify",
        0,
        &expect![[r#"
            kernel             row_softmax for sm_90, grid 8, 4 warps a block
            instructions       2976 of warps, 95232 of lanes
            global sectors     2016 (ideal 2016)
            shared wavefronts  192 (ideal 192)
            shuffles           320
            barriers           64 of blocks, 0 of warps
            atomics            0
            shared memory      32 bytes a block
            plans              2, each replayed by the witness

            x                  f32[8064] unchanged
            out                f32[8064] off by at most 1.1e-3 of what rounding allows, largest relative error 1.4e-7

            findings           none
        "#]],
    );
}

#[test]
fn tiled_transpose_of_several_tiles_with_tails() {
    check(
        "run examples/tiled_transpose.ttir --grid 3x2 --arg x=random:f32[176x112] \
         --arg out=empty:f32[112x176] --arg m=176 --arg n=112 --verify",
        0,
        &expect![[r#"
            kernel             tiled_transpose for sm_90, grid 3x2, 4 warps a block
            instructions       5232 of warps, 167424 of lanes
            global sectors     4928 (ideal 4928)
            shared wavefronts  1536 (ideal 1536)
            shuffles           0
            barriers           24 of blocks, 0 of warps
            atomics            0
            shared memory      16384 bytes a block
            plans              1, each replayed by the witness

            x                  f32[19712] unchanged
            out                f32[19712] bit for bit

            findings           none
        "#]],
    );
}

#[test]
fn matmul() {
    check(
        "run examples/matmul.ttir --grid 2,3 --arg a=random:f32[128x64] --arg b=random:f32[64x192] \
         --arg c=empty:f32[128x192] --arg m=128 --arg n=192 --arg k=64 --verify",
        0,
        &expect![[r#"
            kernel             matmul for sm_90, grid 2x3, 4 warps a block
            instructions       62592 of warps, 2002944 of lanes
            global sectors     9216 (ideal 9216)
            shared wavefronts  14592 (ideal 14592)
            shuffles           0
            barriers           96 of blocks, 0 of warps
            atomics            0
            shared memory      24576 bytes a block
            plans              0, each replayed by the witness

            a                  f32[8192] unchanged
            b                  f32[12288] unchanged
            c                  f32[24576] bit for bit

            findings           none
        "#]],
    );
}

#[test]
fn spin_counter() {
    check(
        "run examples/spin_counter.ttir --grid 8 --arg slots=empty:i32[8] \
         --arg arrivals=zeros:i32[1] --arg out=empty:i32[8]",
        0,
        &expect![[r#"
            kernel             spin_counter for sm_90, grid 8, 4 warps a block
            instructions       1852 of warps, 59264 of lanes
            global sectors     47 (ideal 47)
            shared wavefronts  171 (ideal 171)
            shuffles           160
            barriers           216 of blocks, 0 of warps
            atomics            23
            shared memory      16 bytes a block

            slots              i32[8] bit for bit
            arrivals           i32[1] bit for bit
            out                i32[8] bit for bit

            findings           none
        "#]],
    );
}

#[test]
fn more_spinning_blocks_than_start_together() {
    let finished = weft(
        "run examples/spin_counter.ttir --grid 64 --arg slots=empty:i32[64] \
         --arg arrivals=zeros:i32[1] --arg out=empty:i32[64]",
    );
    assert_eq!(finished.status, 0, "{}", finished.stdout);
}

#[test]
fn spin_deadlock() {
    check(
        "run examples/spin_deadlock.ttir --grid 4 --arg arrivals=zeros:i32[1] \
         --arg out=empty:i32[4]",
        1,
        &expect![[r#"
            kernel             spin_deadlock for sm_90, grid 4, 4 warps a block
            instructions       1944 of warps, 62208 of lanes
            global sectors     56 (ideal 56)
            shared wavefronts  263 (ideal 263)
            shuffles           0
            barriers           428 of blocks, 0 of warps
            atomics            56
            shared memory      8 bytes a block

            evaluator          deadlock: 4 instances (the first is 0,0,0) go round loops in which nothing changes any more; results are not compared

            findings           1

            deadlock: 16 warps of 4 blocks (0, 1, 2, 3) go round here for ever: nothing will change what they look at
              at    examples/spin_deadlock.py:20:19, block 0, warp 0, several lanes
              help  wait only for what a running program will still write
        "#]],
    );
}

#[test]
fn a_race() {
    check(
        "run crates/weft/tests/kernels/bad_race.ttir --grid 4 --warps 1 --arg total=zeros:i32[1]",
        1,
        &expect![[r#"
            kernel             bad_race for sm_90, grid 4, 1 warps a block
            instructions       24 of warps, 768 of lanes
            global sectors     8 (ideal 8)
            shared wavefronts  0 (ideal 0)
            shuffles           0
            barriers           4 of blocks, 0 of warps
            atomics            0
            shared memory      0 bytes a block

            total              i32[1] DIFFERS: element 0 of `total` is 3, expected 6; 1 of 1 differ

            findings           2

            race: byte 0 of total is written by block 0, warp 0, lane 0, and read by block 3, warp 0, several lanes, with nothing that orders the two
              at    crates/weft/tests/kernels/kernels.py:201:5, block 0, warp 0, lane 0
              and   crates/weft/tests/kernels/kernels.py:201:21, block 3, warp 0, several lanes
              help  use one atomic operation, or order the two by a release and an acquire that sees it

            race: byte 0 of total is written by block 1, warp 0, lane 0, and written by block 0, warp 0, lane 0, with nothing that orders the two
              at    crates/weft/tests/kernels/kernels.py:201:5, block 1, warp 0, lane 0
              and   crates/weft/tests/kernels/kernels.py:201:5, block 0, warp 0, lane 0
              by    3 warp instructions; this is the first
              help  use one atomic operation, or order the two by a release and an acquire that sees it
            under Triton       1

            unordered: byte 0 of total is read by block 1, warp 0, several lanes, and written by block 0, warp 0, lane 0, with nothing that orders the two, but for a barrier that weft inserts
              at    crates/weft/tests/kernels/kernels.py:201:21, block 1, warp 0, several lanes
              and   crates/weft/tests/kernels/kernels.py:201:5, block 0, warp 0, lane 0
              by    3 warp instructions; this is the first
              help  Triton inserts no barrier for global memory: put `tl.debug_barrier()` between the two, or make them of one thread
        "#]],
    );
}

#[test]
fn a_store_out_of_range() {
    check(
        "run crates/weft/tests/kernels/bad_out_of_range.ttir --grid 2 --arg x=random:f32[200] \
         --arg out=empty:f32[200] --arg n=200",
        1,
        &expect![[r#"
            kernel             bad_out_of_range for sm_90, grid 2, 4 warps a block
            instructions       88 of warps, 2816 of lanes
            global sectors     50 (ideal 50)
            shared wavefronts  0 (ideal 0)
            shuffles           0
            barriers           0 of blocks, 0 of warps
            atomics            0
            shared memory      0 bytes a block

            x                  f32[200] unchanged
            out                f32[200] bit for bit

            findings           1

            out of range: 4 bytes at byte 800 of `out`, which has 800
              at    crates/weft/tests/kernels/kernels.py:195:5, block 1, warp 2, lane 8
              by    2 warp instructions; this is the first
              help  mask the access where it leaves the buffer, or give a larger one
        "#]],
    );
}

#[test]
fn reading_what_nobody_wrote() {
    let finished = weft(
        "run examples/vector_add.ttir --grid 1 --arg x=empty:f32[1024] --arg y=ones:f32[1024] \
         --arg out=empty:f32[1024] --arg n=1024",
    );
    assert_eq!(finished.status, 1);
    assert!(finished.stdout.contains("\nuninitialised: "), "{}", finished.stdout);
    assert!(finished.stdout.contains("examples/vector_add.py:15:"), "{}", finished.stdout);
}

#[test]
fn another_seed_gives_other_values_and_the_same_report() {
    let line = "run examples/row_softmax.ttir --grid 1 --arg x=random:f32[512] \
                --arg out=empty:f32[512] --arg n=512 --json --seed";
    let (first, again, other) =
        (weft(&format!("{line} 1")), weft(&format!("{line} 1")), weft(&format!("{line} 2")));
    assert_eq!(first.stdout, again.stdout);
    assert_ne!(first.stdout, other.stdout);
}

#[test]
fn a_kernel_comes_through_standard_input() {
    let text = std::fs::read_to_string(crate::root().join("examples/vector_add.ttir")).unwrap();
    let arguments = ["compile", "-", "--target", "sm_80"];
    let finished = crate::weft_with(&arguments, &text);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stdout.starts_with(".version 7.0\n.target sm_80\n"), "{}", finished.stdout);
}

#[test]
fn every_example_compiles_for_every_promised_target_in_every_form() {
    for name in
        ["matmul", "row_softmax", "spin_counter", "spin_deadlock", "tiled_transpose", "vector_add"]
    {
        for target in ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"] {
            let finished = weft(&format!("compile examples/{name}.ttir --target {target}"));
            assert_eq!(finished.status, 0, "{}", finished.stderr);
            assert!(finished.stdout.contains(&format!(".visible .entry {name}(")));
        }
        for (emit, holds) in
            [("tile", "tt.func public @"), ("lane", "lane @"), ("report", "\nlayouts\n")]
        {
            let finished = weft(&format!("compile examples/{name}.ttir --emit {emit}"));
            assert_eq!(finished.status, 0, "{}", finished.stderr);
            assert!(finished.stdout.contains(holds), "{}", finished.stdout);
        }
    }
}

#[test]
fn a_pass_can_be_looked_at() {
    let finished = weft("compile examples/row_softmax.ttir --dump-after lower");
    assert!(finished.stdout.starts_with("lane @row_softmax("), "{}", finished.stdout);
    let finished = weft("compile examples/row_softmax.ttir --dump-after weave");
    assert_eq!(finished.status, 2);
    assert!(finished.stderr.contains("there is no pass `weave`; there are lower, "));
}

#[test]
fn the_output_can_go_to_a_file() {
    let path = std::env::temp_dir().join(format!("weft-{}.ptx", std::process::id()));
    let name = path.display().to_string();
    let finished = crate::weft_with(&["compile", "examples/vector_add.ttir", "-o", &name], "");
    assert_eq!((finished.status, &*finished.stdout), (0, ""), "{}", finished.stderr);
    assert!(std::fs::read_to_string(&path).unwrap().contains(".visible .entry vector_add("));
    std::fs::remove_file(path).unwrap();
}
