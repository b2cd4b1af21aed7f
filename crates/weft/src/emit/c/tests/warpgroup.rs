//! Products in flight: their texts, and what NVIDIA's compiler and assembler make of them.

use super::{amd, cuda, kernel, side_by_side};
use crate::emit::tests::products::{attention, carried, form, forms, single};
use crate::lane::{Program, WarpgroupMultiply, verify};
use expect_test::expect;
use std::path::Path;
use std::process::Command;

#[test]
fn a_sum_carried_in_flight_stays_in_its_variables() {
    let program = carried(form(8));
    verify(&program).unwrap();
    let text = kernel(&program, cuda("sm_90")).unwrap();
    let body = text.split("extern \"C\"").nth(1).unwrap();
    expect![[r#"
         __global__ void __launch_bounds__(128) carried_kernel(float* out) {
          const u32 shared_start = static_cast<u32>(__cvta_generic_to_shared(shared_memory));
          float sum13;
          float sum14;
          float sum15;
          float sum16;
          const u64 v0 = reinterpret_cast<u64>(out);
          const u32 v1 = shared_start + 0;
          const u32 v3 = v1 >> 4;
          const u64 v4 = u64(v3);
          const u64 v6 = v4 | 0x4000004000000000ull;
          const u32 v7 = shared_start + 65536;
          const u32 v8 = v7 >> 4;
          const u64 v9 = u64(v8);
          const u64 v10 = v9 | 0x4000004000000000ull;
          u32 v17 = 0u;
          sum13 = 0.0f;
          sum14 = 0.0f;
          sum15 = 0.0f;
          sum16 = 0.0f;
          pin(sum13, sum14, sum15, sum16);
          #pragma unroll 1
          for (;;) {
            const bool v23 = i32(v17) >= i32(100u);
            if (v23) {
              break;
            }
            const u32 v25 = v17 << 2;
            const u64 v26 = u64(v25);
            const u64 v27 = v6 + v26;
            const u64 v28 = v10 + v26;
            asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
            pin(sum13, sum14, sum15, sum16);
            asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
            warpgroup_multiply_64x8x16_f32_f16_f16(sum13, sum14, sum15, sum16, v27, v28);
            const u64 v35 = v27 + 2ull;
            const u64 v36 = v28 + 2ull;
            warpgroup_multiply_64x8x16_f32_f16_f16(sum13, sum14, sum15, sum16, v35, v36);
            const u64 v42 = v27 + 4ull;
            const u64 v43 = v28 + 4ull;
            warpgroup_multiply_64x8x16_f32_f16_f16(sum13, sum14, sum15, sum16, v42, v43);
            const u64 v49 = v27 + 6ull;
            const u64 v50 = v28 + 6ull;
            warpgroup_multiply_64x8x16_f32_f16_f16(sum13, sum14, sum15, sum16, v49, v50);
            asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
            asm volatile("wgmma.wait_group.sync.aligned 1;" : : : "memory");
            __syncthreads();
            const u32 v56 = v17 + 1u;
            v17 = v56;
          }
          asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
          pin(sum13, sum14, sum15, sum16);
          const u32 v61 = threadIdx.x;
          const u32 v63 = v61 << 4;
          const u64 v64 = u64(v63);
          const u64 v65 = v0 + v64;
          *global<float>(v65) = sum13;
          *global<float>(v65 + 4) = sum14;
          *global<float>(v65 + 8) = sum15;
          *global<float>(v65 + 12) = sum16;
        }
    "#]]
    .assert_eq(body);
}

#[test]
fn the_text_says_that_it_is_for_one_architecture() {
    let text = kernel(&carried(form(8)), cuda("sm_90")).unwrap();
    assert_eq!(Ok(text.clone()), kernel(&carried(form(8)), cuda("sm_90a")));
    let head = text.split("\n\n").next().unwrap();
    expect![[r#"
        // carried for sm_90a.
        //
        // Compile: nvcc -std=c++17 -arch=sm_90a -cubin
        // Launch: 128 threads along x a block, 131072 bytes of dynamic shared memory."#]]
    .assert_eq(head);
    assert!(text.contains("__align__(1024) u8 shared_memory[]"), "{text}");
    let refused = kernel(&carried(form(8)), cuda("sm_100")).unwrap_err();
    expect!["sm_100a has no `products of f16 and f16 by a warpgroup`: wgmma is an instruction of sm_90a alone"].assert_eq(&refused.to_string());
    let wide = Program { lanes_log2: 6, ..carried(form(8)) };
    expect!["gfx942 has no `products of matrices by a warpgroup`: the matrix instructions of a wave are not asynchronous"].assert_eq(&kernel(&wide, amd("gfx942")).unwrap_err().to_string());
}

/// A truth value that is known is a number in the instruction; else it is tested in front.
#[test]
fn accumulators_may_count_as_zero() {
    let instruction = |program: &Program| {
        let text = kernel(program, cuda("sm_90")).unwrap();
        let lines = text.lines().filter(|line| line.contains("wgmma.mma_async"));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>().join("\n")
    };
    let asked = WarpgroupMultiply { keeps: true, left_in_registers: true, ..form(8) };
    expect![[r#"asm volatile("{ .reg .pred adds; setp.ne.u32 adds, %9, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, adds, 1, 1, 0; }""#]].assert_eq(&instruction(&single(asked)));
    let scores = instruction(&attention());
    let told = |end: &str| scores.lines().filter(|line| line.ends_with(end)).count();
    assert_eq!((told(", 0, 1, 1, 0, 0;\""), told(", 1, 1, 1, 0, 0;\"")), (1, 1), "{scores}");
}

/// What a product reads from registers stays there until it was waited for.
#[test]
fn a_left_factor_in_registers_is_kept() {
    let text = kernel(&attention(), cuda("sm_90")).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let place = |part: &str| lines.iter().rposition(|line| line.starts_with(part)).unwrap();
    let product = place("warpgroup_multiply_64x128x16_f32_f16_f16_registers");
    let wait = place("asm volatile(\"wgmma.wait_group.sync.aligned 0;");
    let kept =
        lines.iter().enumerate().filter(|(_, line)| line.starts_with("keep(")).map(|(at, _)| at);
    let kept: Vec<usize> = kept.collect();
    assert!(product < wait && kept.iter().any(|&at| at > wait), "{text}");
    // Words and sums are made ready by one fence in front of all products of a round.
    let fences = lines.iter().filter(|line| line.contains("wgmma.fence")).count();
    assert_eq!(fences, 1, "{text}");
}

/// The compiler copies no register in flight, and the assembler, which says so as information, makes no products
/// wait for one another.
#[test]
fn the_compiler_leaves_products_in_flight() {
    let Some(nvcc) = std::env::var_os("WEFT_NVCC") else {
        println!("skipped: set WEFT_NVCC to the path of NVIDIA's nvcc");
        return;
    };
    let folder = std::env::temp_dir().join(format!("weft-c-warpgroup-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut programs = vec![("attention".to_owned(), attention())];
    for columns in [8, 96, 256] {
        programs.push((format!("carried_{columns}"), carried(form(columns))));
    }
    for (name, program) in programs {
        let text = kernel(&program, cuda("sm_90")).unwrap();
        let said = compiled(Path::new(&nvcc), &text, &name, &folder);
        assert!(!said.contains("(C75"), "{name}: {said}\n{text}");
    }
    let mut texts = Vec::new();
    for form in forms().into_iter().filter(|form| [8, 24, 96].contains(&form.columns)) {
        let program = Program { name: format!("single_{}", texts.len()), ..single(form) };
        texts.push(kernel(&program, cuda("sm_90")).unwrap());
    }
    let (top, parts) = side_by_side(&texts);
    let said = compiled(Path::new(&nvcc), &format!("{top}{parts}"), "single", &folder);
    assert!(!said.contains("(C75"), "{said}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What the compiler and the assembler say of a text.
fn compiled(nvcc: &Path, text: &str, name: &str, folder: &Path) -> String {
    let source = folder.join(format!("{name}.cu"));
    std::fs::write(&source, text).unwrap();
    let flags = std::env::var("WEFT_NVCC_FLAGS").unwrap_or_default();
    let output = Command::new(nvcc)
        .args(["-std=c++17", "-arch=sm_90a", "-cubin", "-Werror=all-warnings", "-o"])
        .arg(source.with_extension("cubin"))
        .args(flags.split_whitespace())
        .arg(&source)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{name}: {said}\n{text}");
    said
}
