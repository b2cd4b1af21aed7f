//! Conversions as device functions, and kernels as C++.

use crate::{weft, weft_with};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

/// A register's bit and a lane's bit that change places, and the same through a wave of 64.
const FROM: &str = "[register: (0,1), lane: (1,0) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 2, dim1: 32]";
const TO: &str = "[register: (1,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 2, dim1: 32]";
const WAVE_FROM: &str =
    "[register: (0,1), lane: (0,2) (0,4) (0,8) (0,16) (0,32) (1,0)] -> [dim0: 2, dim1: 64]";
const WAVE_TO: &str =
    "[register: (1,0), lane: (0,2) (0,4) (0,8) (0,16) (0,32) (0,1)] -> [dim0: 2, dim1: 64]";

fn convert(from: &str, to: &str, rest: &str) -> (i32, String) {
    let head = ["convert", "--from", from, "--to", to];
    let finished = weft_with(&[&head[..], &rest.split(' ').collect::<Vec<_>>()].concat(), "");
    (finished.status, finished.stdout + &finished.stderr)
}

/// The text from a line that begins so.
fn since<'t>(text: &'t str, start: &str) -> &'t str {
    text.find(&format!("\n{start}")).map_or(text, |at| &text[at + 1..])
}

fn check(from: &str, to: &str, rest: &str, start: &str, expected: &Expect) {
    let (status, text) = convert(from, to, rest);
    assert_eq!(status, 0, "{text}");
    expected.assert_eq(since(&text, start));
}

#[test]
fn a_conversion_is_a_device_function_in_three_languages() {
    check(
        FROM,
        TO,
        "--shape 2x32 --element f16 --emit ptx",
        ".version",
        &expect![[r#"
            .version 7.8
            .target sm_90
            .address_size 64

            .visible .func (.param .align 16 .b8 to[4]) convert_2x32_f16(
              .param .align 16 .b8 from[4]
            )
            {
              .reg .pred %p<7>;
              .reg .b16 %rs<11>;
              .reg .b32 %r<6>;
              .reg .b32 %rt<2>;
              .reg .b32 %thread, %lane, %warp;
              mov.u32 %thread, %tid.x;
              and.b32 %lane, %thread, 31;
              ld.param.b16 %rs0, [from+0];
              ld.param.b16 %rs1, [from+2];
              // step 3, each thread picks 1 register out of two files: f3: 1 x 16 bits = select f1 f2 by lane 0x1 warp 0x0
              mov.b32 %r2, %lane;
              mov.b32 %r3, 1;
              and.b32 %r4, %r2, %r3;
              mov.b32 %r5, 0;
              setp.ne.u32 %p6, %r4, %r5;
              selp.b16 %rs7, %rs0, %rs1, %p6;
              // step 4, 1 register from another lane: f4: 1 x 16 bits = exchange f3 lane ^ 0x1
              cvt.u32.u16 %rt0, %rs7;
              shfl.sync.bfly.b32 %rt1, %rt0, 1, 0x1f, 0xffffffff;
              cvt.u16.u32 %rs8, %rt1;
              // step 8, each thread picks 2 registers out of two files: f8: 2 x 16 bits = select f6 f7 by lane 0x1 warp 0x0
              selp.b16 %rs9, %rs8, %rs0, %p6;
              selp.b16 %rs10, %rs1, %rs8, %p6;
              st.param.b16 [to+0], %rs9;
              st.param.b16 [to+2], %rs10;
              ret;
            }
        "#]],
    );
    check(
        FROM,
        TO,
        "--shape 2x32 --element i1 --emit cuda",
        "__device__ __forceinline__ void",
        &expect![[r#"
            __device__ __forceinline__ void convert_2x32_i1(const bool (&from)[2], bool (&to)[2]) {
              using namespace convert_2x32_i1_parts;
              const u32 lane = threadIdx.x % 32;
              const u8 v2 = from[0] ? u8(1) : u8(0);
              const u8 v3 = from[1] ? u8(1) : u8(0);
              // step 3, each thread picks 1 register out of two files: f3: 1 x 8 bits = select f1 f2 by lane 0x1 warp 0x0
              const u32 v6 = lane & 1u;
              const bool v8 = v6 != 0u;
              const u8 v9 = v8 ? v2 : v3;
              // step 4, 1 register from another lane: f4: 1 x 8 bits = exchange f3 lane ^ 0x1
              const u8 v10 = shuffle_xor<1>(v9);
              // step 8, each thread picks 2 registers out of two files: f8: 2 x 8 bits = select f6 f7 by lane 0x1 warp 0x0
              const u8 v11 = v8 ? v10 : v2;
              const u8 v12 = v8 ? v3 : v10;
              const bool v14 = v11 != u8(0);
              const bool v15 = v12 != u8(0);
              to[0] = v14;
              to[1] = v15;
            }
        "#]],
    );
    check(
        WAVE_FROM,
        WAVE_TO,
        "--shape 2x64 --element bf16 --target gfx942 --emit hip",
        "__device__ __forceinline__ void",
        &expect![[r#"
            __device__ __forceinline__ void convert_2x64_bf16(const convert_2x64_bf16_parts::bf16 (&from)[2], convert_2x64_bf16_parts::bf16 (&to)[2]) {
              using namespace convert_2x64_bf16_parts;
              const u32 lane = __builtin_amdgcn_workitem_id_x() % 64;
              // step 3, each thread picks 1 register out of two files: f3: 1 x 16 bits = select f1 f2 by lane 0x20 warp 0x0
              const u32 v4 = lane & 32u;
              const u32 v6 = v4 >> 5;
              const bool v8 = v6 != 0u;
              const bf16 v9 = v8 ? from[0] : from[1];
              // step 4, 1 register from another lane: f4: 1 x 16 bits = exchange f3 lane ^ 0x20
              const bf16 v10 = shuffle_xor<32>(v9);
              // step 8, each thread picks 2 registers out of two files: f8: 2 x 16 bits = select f6 f7 by lane 0x20 warp 0x0
              const bf16 v11 = v8 ? v10 : from[0];
              const bf16 v12 = v8 ? from[1] : v10;
              to[0] = v11;
              to[1] = v12;
            }
        "#]],
    );
    let (_, text) = convert(FROM, TO, "--shape 2x32 --element f16 --emit cuda");
    expect![[r#"
        // Moves a tensor of 2x32 elements of f16 between the threads of a block of 1 warp, for sm_90.
        // from  [register: (0,1), lane: (1,0) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 2, dim1: 32]
        // to    [register: (1,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 2, dim1: 32]
        //
        // Every thread of the block calls it, with the registers that it holds of `from`, and gets those of `to`; i1 as true or false.
        //
        // Way: shuffles. Price for a warp: 1.50 cycles (0 wavefronts of at least 0, 1 shuffles, 3 arithmetic, 0 barriers; 4 instructions).
        // Bound without bank conflicts: 1.50 cycles.
        //
        // step 1, 1 register renamed, which is free: f1: 1 x 16 bits = permute f0 [1]
        // step 2, 1 register renamed, which is free: f2: 1 x 16 bits = permute f0 [0]
        // step 3, each thread picks 1 register out of two files: f3: 1 x 16 bits = select f1 f2 by lane 0x1 warp 0x0
        // step 4, 1 register from another lane: f4: 1 x 16 bits = exchange f3 lane ^ 0x1
        // step 5, 3 registers put side by side, which is free: f5: 3 x 16 bits = concat f0 f4
        // step 6, 2 registers renamed, which is free: f6: 2 x 16 bits = permute f5 [0, 2]
        // step 7, 2 registers renamed, which is free: f7: 2 x 16 bits = permute f5 [2, 1]
        // step 8, each thread picks 2 registers out of two files: f8: 2 x 16 bits = select f6 f7 by lane 0x1 warp 0x0
        //
        // Compile: nvcc -std=c++17 -arch=sm_90 -cubin"#]].assert_eq(text.split("\n\n").next().unwrap());
}

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
