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
              .param .align 16 .b8 from[4],
              .param .b32 scratch
            )
            {
              .reg .b16 %rs<39>;
              .reg .b32 %r<37>;
              .reg .b32 %thread, %lane, %warp;
              mov.u32 %thread, %tid.x;
              and.b32 %lane, %thread, 31;
              ld.param.b16 %rs0, [from+0];
              ld.param.b16 %rs1, [from+2];
              ld.param.b32 %r2, [scratch];
              // step 1, 1 store of 4 bytes: store f0 matrices of 8 rows of 16 bits transposed at lane [64, 16, 32, 0, 0] warp [] [0, 1]@0
              mov.b32 %r3, %lane;
              mov.b32 %r4, 6;
              and.b32 %r5, %r3, %r4;
              mov.b32 %r6, 3;
              shl.b32 %r7, %r5, 3;
              mov.b32 %r8, 1;
              and.b32 %r9, %r3, %r8;
              shl.b32 %r10, %r9, 6;
              xor.b32 %r11, %r7, %r10;
              add.s32 %r12, %r2, %r11;
              mov.b16 %rs13, %rs0;
              cvt.u32.u16 %r14, %rs13;
              mov.b16 %rs15, %rs1;
              cvt.u32.u16 %r16, %rs15;
              mov.b32 %r17, 21520;
              prmt.b32 %r18, %r14, %r16, %r17;
              stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r12], {%r18};
              // step 2, the warp waits: barrier warp
              bar.warp.sync 0xffffffff;
              // step 3, 1 load of 4 bytes: f1: 2 x 16 bits = load matrices of 8 rows of 16 bits transposed at lane [16, 64, 32, 0, 0] warp [] [0, 1]@0
              mov.b32 %r19, 4;
              and.b32 %r20, %r3, %r19;
              shl.b32 %r21, %r20, 3;
              shl.b32 %r22, %r9, 4;
              xor.b32 %r23, %r21, %r22;
              mov.b32 %r24, 2;
              and.b32 %r25, %r3, %r24;
              mov.b32 %r26, 5;
              shl.b32 %r27, %r25, 5;
              xor.b32 %r28, %r23, %r27;
              add.s32 %r30, %r2, %r28;
              ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r32}, [%r30];
              cvt.u16.u32 %rs33, %r32;
              mov.b16 %rs34, %rs33;
              mov.b32 %r35, 16;
              shr.u32 %r36, %r32, 16;
              cvt.u16.u32 %rs37, %r36;
              mov.b16 %rs38, %rs37;
              st.param.b16 [to+0], %rs34;
              st.param.b16 [to+2], %rs38;
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
              const u32 v9 = u32(v3);
              const u32 v10 = u32(v2);
              const u32 v11 = v8 ? v10 : v9;
              // step 4, 1 register from another lane: f4: 1 x 8 bits = exchange f3 lane ^ 0x1
              const u32 v13 = shuffle_xor<1>(v11);
              // step 8, each thread picks 2 registers out of two files: f8: 2 x 8 bits = select f6 f7 by lane 0x1 warp 0x0
              const u32 v15 = v8 ? v13 : v10;
              const u8 v16 = u8(v15);
              const u32 v17 = v8 ? v9 : v13;
              const u8 v18 = u8(v17);
              const bool v20 = v16 != u8(0);
              const bool v21 = v18 != u8(0);
              to[0] = v20;
              to[1] = v21;
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
              const u16 v9 = bits<u16>(from[1]);
              const u32 v10 = u32(v9);
              const u16 v11 = bits<u16>(from[0]);
              const u32 v12 = u32(v11);
              const u32 v13 = v8 ? v12 : v10;
              // step 4, 1 register from another lane: f4: 1 x 16 bits = exchange f3 lane ^ 0x20
              const u32 v16 = shuffle_xor<32>(v13);
              // step 8, each thread picks 2 registers out of two files: f8: 2 x 16 bits = select f6 f7 by lane 0x20 warp 0x0
              const u32 v19 = v8 ? v16 : v12;
              const u16 v20 = u16(v19);
              const bf16 v21 = bits<bf16>(v20);
              const u32 v22 = v8 ? v10 : v16;
              const u16 v23 = u16(v22);
              const bf16 v24 = bits<bf16>(v23);
              to[0] = v21;
              to[1] = v24;
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
        // `scratch` is 128 bytes of shared memory, aligned to 256 bytes, that nobody uses meanwhile: wait for the block before and after other uses.
        //
        // Way: shared memory. Price for a warp: 2.25 cycles (2 wavefronts of at least 2, 0 shuffles, 0 arithmetic, 1 barriers; 3 instructions).
        // Bound without bank conflicts: 2.25 cycles.
        //
        // step 1, 1 store of 4 bytes: store f0 matrices of 8 rows of 16 bits transposed at lane [64, 16, 32, 0, 0] warp [] [0, 1]@0
        // step 2, the warp waits: barrier warp
        // step 3, 1 load of 4 bytes: f1: 2 x 16 bits = load matrices of 8 rows of 16 bits transposed at lane [16, 64, 32, 0, 0] warp [] [0, 1]@0
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
