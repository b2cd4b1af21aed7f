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
              .reg .b16 %rs<26>;
              .reg .b32 %r<24>;
              .reg .b32 %thread, %lane, %warp;
              mov.u32 %thread, %tid.x;
              and.b32 %lane, %thread, 31;
              ld.param.b16 %rs0, [from+0];
              ld.param.b16 %rs1, [from+2];
              // step 3, 1 register put together from bytes: f3: 1 x 32 bits = bytes f1 f2 0x5410
              mov.b32 %r2, %lane;
              mov.b32 %r3, 21520;
              mov.b16 %rs4, %rs0;
              mov.b16 %rs6, %rs1;
              cvt.u32.u16 %r5, %rs4;
              cvt.u32.u16 %r7, %rs6;
              prmt.b32 %r8, %r5, %r7, %r3;
              // step 4, 1 register put together from bytes: f4: 1 x 16 bits = bytes f3 f3 0x32 ^ lane [22] warp []
              mov.b32 %r9, 1;
              and.b32 %r10, %r2, %r9;
              mov.b32 %r11, 34;
              mul.lo.s32 %r12, %r10, %r11;
              mov.b32 %r13, 50;
              xor.b32 %r14, %r12, %r13;
              prmt.b32 %r15, %r8, %r8, %r14;
              // step 5, 1 register from another lane: f5: 1 x 16 bits = exchange f4 lane ^ 0x1
              shfl.sync.bfly.b32 %r16, %r15, 1, 0x1f, 0xffffffff;
              // step 6, 1 register put together from bytes: f6: 1 x 32 bits = bytes f3 f5 0x5410 ^ lane [6644] warp []
              mov.b32 %r17, 26180;
              mul.lo.s32 %r18, %r10, %r17;
              xor.b32 %r19, %r18, %r3;
              prmt.b32 %r20, %r8, %r16, %r19;
              // step 7, 1 register put together from bytes: f7: 1 x 16 bits = bytes f6 f6 0x10
              cvt.u16.u32 %rs21, %r20;
              mov.b16 %rs22, %rs21;
              // step 8, 1 register put together from bytes: f8: 1 x 16 bits = bytes f6 f6 0x32
              prmt.b32 %r23, %r20, %r20, %r13;
              cvt.u16.u32 %rs24, %r23;
              mov.b16 %rs25, %rs24;
              st.param.b16 [to+0], %rs22;
              st.param.b16 [to+2], %rs25;
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
              // step 3, 1 register put together from bytes: f3: 1 x 16 bits = bytes f1 f2 0x40
              // step 4, 1 register put together from bytes: f4: 1 x 8 bits = bytes f3 f3 0x1 ^ lane [1] warp []
              const u32 v10 = lane & 1u;
              const u32 v11 = v10 ^ 1u;
              const u8 v2 = from[0] ? u8(1) : u8(0);
              const u8 v3 = from[1] ? u8(1) : u8(0);
              // step 3, 1 register put together from bytes: f3: 1 x 16 bits = bytes f1 f2 0x40
              const u32 v7 = u32(v2);
              const u32 v8 = u32(v3);
              // step 4, 1 register put together from bytes: f4: 1 x 8 bits = bytes f3 f3 0x1 ^ lane [1] warp []
              const u32 v13 = byte_permute(v7, v8, 12864u);
              const u32 v15 = byte_permute(0u, v13, 84u);
              const u32 v16 = byte_permute(v15, v15, v11);
              // step 5, 1 register from another lane: f5: 1 x 8 bits = exchange f4 lane ^ 0x1
              const u32 v17 = shuffle_xor<1>(v16);
              // step 6, 1 register put together from bytes: f6: 1 x 16 bits = bytes f3 f5 0x40 ^ lane [54] warp []
              const u32 v18 = v10 * 84u;
              const u32 v19 = v18 ^ 64u;
              const u32 v20 = byte_permute(v15, v17, v19);
              // step 7, 1 register put together from bytes: f7: 1 x 8 bits = bytes f6 f6 0x0
              const u8 v21 = u8(v20);
              // step 8, 1 register put together from bytes: f8: 1 x 8 bits = bytes f6 f6 0x1
              const u32 v22 = byte_permute(v20, v20, 1u);
              const u8 v23 = u8(v22);
              const bool v25 = v21 != u8(0);
              const bool v26 = v23 != u8(0);
              to[0] = v25;
              to[1] = v26;
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
              // step 3, 1 register put together from bytes: f3: 1 x 32 bits = bytes f1 f2 0x5410
              const u16 v4 = bits<u16>(from[0]);
              const u16 v6 = bits<u16>(from[1]);
              const u32 v5 = u32(v4);
              const u32 v7 = u32(v6);
              const u32 v8 = byte_choice(v5, v7, 21520u);
              // step 4, 1 register put together from bytes: f4: 1 x 16 bits = bytes f3 f3 0x32 ^ lane [0, 0, 0, 0, 0, 22] warp []
              const u32 v10 = lane & 32u;
              const u32 v12 = v10 >> 4;
              const u32 v13 = v12 ^ v10;
              const u32 v15 = v13 ^ 50u;
              const u32 v16 = byte_choice(v8, v8, v15);
              // step 5, 1 register from another lane: f5: 1 x 16 bits = exchange f4 lane ^ 0x20
              const u32 v17 = shuffle_xor<32>(v16);
              // step 6, 1 register put together from bytes: f6: 1 x 32 bits = bytes f3 f5 0x5410 ^ lane [0, 0, 0, 0, 0, 6644] warp []
              const u32 v19 = v10 >> 3;
              const u32 v21 = v19 * 6545u;
              const u32 v22 = v21 ^ 21520u;
              const u32 v23 = byte_choice(v8, v17, v22);
              // step 7, 1 register put together from bytes: f7: 1 x 16 bits = bytes f6 f6 0x10
              const u16 v24 = u16(v23);
              const bf16 v25 = bits<bf16>(v24);
              // step 8, 1 register put together from bytes: f8: 1 x 16 bits = bytes f6 f6 0x32
              const u32 v26 = byte_choice(v23, v23, 50u);
              const u16 v27 = u16(v26);
              const bf16 v28 = bits<bf16>(v27);
              to[0] = v25;
              to[1] = v28;
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
        // Way: shuffles. Price for a warp: 1.00 cycles (0 wavefronts of at least 0, 1 shuffles, 2 arithmetic, 0 barriers; 3 instructions).
        // Bound without bank conflicts: 1.00 cycles.
        //
        // step 1, 1 register renamed, which is free: f1: 1 x 16 bits = permute f0 [0]
        // step 2, 1 register renamed, which is free: f2: 1 x 16 bits = permute f0 [1]
        // step 3, 1 register put together from bytes: f3: 1 x 32 bits = bytes f1 f2 0x5410
        // step 4, 1 register put together from bytes: f4: 1 x 16 bits = bytes f3 f3 0x32 ^ lane [22] warp []
        // step 5, 1 register from another lane: f5: 1 x 16 bits = exchange f4 lane ^ 0x1
        // step 6, 1 register put together from bytes: f6: 1 x 32 bits = bytes f3 f5 0x5410 ^ lane [6644] warp []
        // step 7, 1 register put together from bytes: f7: 1 x 16 bits = bytes f6 f6 0x10
        // step 8, 1 register put together from bytes: f8: 1 x 16 bits = bytes f6 f6 0x32
        // step 9, 2 registers put side by side, which is free: f9: 2 x 16 bits = concat f7 f8
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
