//! Golden texts, and every operation of every type through real compilers.
//!
//! The walk over operations and types is compiled only where `WEFT_NVCC` names NVIDIA's `nvcc`, and
//! `WEFT_CLANG` a clang that knows AMD's GPUs; `WEFT_NVCC_FLAGS` may add where headers are.

mod warpgroup;

use super::Dialect;
use crate::budget::Bounds;
use crate::cache::{Cache, CacheModifier, Eviction};
use crate::dtype::DType;
use crate::emit::tests::programs::{
    copy_behind_base, every_matrix_multiply, every_memory_operation, every_operation, fibonacci,
    linear, target, vector_add,
};
use crate::emit::{Unsupported, hip};
use crate::lane::{Access, Fragments, Program, verify};
use std::path::Path;
use std::process::Command;

fn amd(name: &str) -> Dialect {
    Dialect::Hip(hip::Target::by_name(name).unwrap())
}

/// The whole text of a kernel.
fn kernel(program: &Program, dialect: Dialect) -> Result<String, Unsupported> {
    super::kernel(program, dialect, &Bounds::default())
}

fn cuda(name: &str) -> Dialect {
    Dialect::Cuda(target(name))
}

/// A program of 32 lanes in a dialect's own width; the programs here ask nothing of it.
fn widened(mut program: Program, dialect: Dialect) -> Program {
    program.lanes_log2 = dialect.lanes_log2();
    verify(&program).unwrap_or_else(|errors| panic!("{}: {errors:?}", program.name));
    program
}

fn everything(dialect: Dialect) -> Vec<Program> {
    let mut programs = every_operation();
    programs.extend(every_memory_operation());
    programs.extend([vector_add(), fibonacci(), linear()]);
    if dialect.is_cuda() {
        return programs;
    }
    // Matrices are moved by warps of 32 lanes alone, and multiplied by each in its own way.
    programs.retain(|program| !program.name.starts_with("matrix_"));
    let mut programs: Vec<Program> =
        programs.into_iter().map(|program| widened(program, dialect)).collect();
    let lanes_log2 = dialect.lanes_log2();
    programs.extend(every_matrix_multiply(|fragments| {
        fragments != Fragments::Mma && fragments.lanes_log2() == lanes_log2
    }));
    programs
}

/// What a dialect refuses, each once.
fn refused(dialect: Dialect) -> String {
    let mut refused = Vec::new();
    for program in everything(dialect) {
        if let Err(Unsupported { operation, .. }) = kernel(&program, dialect)
            && !refused.contains(&operation)
        {
            refused.push(operation);
        }
    }
    refused.join("\n")
}

/// All texts in one, each in a namespace of its own.
fn together(dialect: Dialect) -> (usize, String) {
    let programs = everything(dialect);
    let texts: Vec<String> =
        programs.iter().filter_map(|program| kernel(program, dialect).ok()).collect();
    let (top, parts) = side_by_side(&texts);
    (texts.len(), format!("{top}{parts}"))
}

/// What texts include, each once, and the texts, each in a namespace of its own.
fn side_by_side(texts: &[String]) -> (String, String) {
    let mut top = String::new();
    let mut parts = String::new();
    for (count, text) in texts.iter().enumerate() {
        let start = text.find("using i8 =").unwrap();
        for line in text[..start].lines().filter(|line| line.starts_with('#')) {
            if !top.contains(line) {
                top.push_str(line);
                top.push('\n');
            }
        }
        let text = &text[start..];
        parts.push_str(&format!("namespace n{count} {{\n{text}}}\n"));
    }
    (top, parts)
}

fn compile(compiler: &str, arguments: &[&str], source: &Path) {
    let flags = std::env::var(format!("{compiler}_FLAGS")).unwrap_or_default();
    let output = Command::new(std::env::var_os(compiler).unwrap())
        .args(arguments)
        .args(flags.split_whitespace())
        .arg(source)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}:\n{errors}", source.display());
}

#[test]
fn compilers_accept_every_operation() {
    let folder = std::env::temp_dir().join(format!("weft-c-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let object = folder.join("out");
    let object = object.to_str().unwrap();
    if std::env::var_os("WEFT_NVCC").is_some() {
        for name in ["sm_80", "sm_90"] {
            let (count, text) = together(cuda(name));
            let source = folder.join(format!("{name}.cu"));
            std::fs::write(&source, text).unwrap();
            let architecture = format!("-arch={name}");
            // What an operation of truth values does not depend on is printed all the same.
            let flags = [
                "-std=c++17",
                &architecture,
                "-cubin",
                "-Werror=all-warnings",
                "-diag-suppress=177",
                "-o",
                object,
            ];
            compile("WEFT_NVCC", &flags, &source);
            println!("{name}: {count} programs");
        }
    } else {
        println!("skipped: set WEFT_NVCC to the path of NVIDIA's nvcc to compile every operation");
    }
    if std::env::var_os("WEFT_CLANG").is_some() {
        for target in hip::Target::ALL {
            let (count, text) = together(Dialect::Hip(target));
            let source = folder.join(format!("{}.hip", target.name));
            std::fs::write(&source, text).unwrap();
            let architecture = format!("--offload-arch={}", target.name);
            let flags = [
                "-x",
                "hip",
                "-std=c++17",
                "--cuda-device-only",
                "--no-gpu-bundle-output",
                &architecture,
                "-nogpulib",
                "-nogpuinc",
                "-O3",
                "-Werror",
                "-o",
                object,
            ];
            compile("WEFT_CLANG", &flags, &source);
            println!("{}: {count} programs", target.name);
        }
    } else {
        println!("skipped: set WEFT_CLANG to the path of clang to compile every operation");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn every_operation_is_printed_or_refused_as_listed() {
    expect_test::expect![[r#"
        log of f16
        log2 of f16
        sin of f16
        cos of f16
        tanh of f16
        erf of f16
        expm1 of f16
        log1p of f16
        pow of f16
        log of bf16
        log2 of bf16
        sin of bf16
        cos of bf16
        tanh of bf16
        erf of bf16
        expm1 of bf16
        log1p of bf16
        pow of bf16
        log of f32
        log2 of f32
        sin of f32
        cos of f32
        tanh of f32
        erf of f32
        expm1 of f32
        log1p of f32
        pow of f32
        log of f64
        log2 of f64
        sin of f64
        cos of f64
        tanh of f64
        erf of f64
        expm1 of f64
        log1p of f64
        pow of f64
        products of f64 and f64 with 16 rows
        products of f8E4M3FN and f8E4M3FN with 16 rows
        products of f8E4M3FN and f8E5M2 with 16 rows
        products of f8E5M2 and f8E4M3FN with 16 rows
        products of f8E5M2 and f8E5M2 with 16 rows
        atomic and of i8
        atomic or of i8
        atomic xor of i8
        atomic add of i8
        atomic max of i8
        atomic min of i8
        atomic umax of i8
        atomic umin of i8
        atomic exch of i8
        atomic cas of i8
        atomic and of i16
        atomic or of i16
        atomic xor of i16
        atomic add of i16
        atomic max of i16
        atomic min of i16
        atomic umax of i16
        atomic umin of i16
        atomic exch of i16
        atomic exch of f8E4M3FN
        atomic cas of f8E4M3FN
        atomic exch of f8E5M2
        atomic cas of f8E5M2
        atomic exch of f8E4M3FNUZ
        atomic cas of f8E4M3FNUZ
        atomic exch of f8E5M2FNUZ
        atomic cas of f8E5M2FNUZ
        atomic exch of f16
        atomic exch of bf16
        stores of matrices
        loads of matrices of bytes"#]]
    .assert_eq(&refused(cuda("sm_80")));
    expect_test::expect![[r#"
        log of f16
        log2 of f16
        sin of f16
        cos of f16
        tanh of f16
        erf of f16
        expm1 of f16
        log1p of f16
        pow of f16
        log of bf16
        log2 of bf16
        sin of bf16
        cos of bf16
        tanh of bf16
        erf of bf16
        expm1 of bf16
        log1p of bf16
        pow of bf16
        log of f32
        log2 of f32
        sin of f32
        cos of f32
        tanh of f32
        erf of f32
        expm1 of f32
        log1p of f32
        pow of f32
        log of f64
        log2 of f64
        sin of f64
        cos of f64
        tanh of f64
        erf of f64
        expm1 of f64
        log1p of f64
        pow of f64
        atomic and of i8
        atomic or of i8
        atomic xor of i8
        atomic add of i8
        atomic max of i8
        atomic min of i8
        atomic umax of i8
        atomic umin of i8
        atomic exch of i8
        atomic cas of i8
        atomic and of i16
        atomic or of i16
        atomic xor of i16
        atomic add of i16
        atomic max of i16
        atomic min of i16
        atomic umax of i16
        atomic umin of i16
        atomic exch of i16
        atomic exch of f8E4M3FN
        atomic cas of f8E4M3FN
        atomic exch of f8E5M2
        atomic cas of f8E5M2
        atomic exch of f8E4M3FNUZ
        atomic cas of f8E4M3FNUZ
        atomic exch of f8E5M2FNUZ
        atomic cas of f8E5M2FNUZ
        atomic exch of f16
        atomic exch of bf16
        stores of matrices of bytes
        loads of matrices of bytes"#]]
    .assert_eq(&refused(cuda("sm_90")));
    expect_test::expect![[r#"
        log of f16
        log2 of f16
        sin of f16
        cos of f16
        tanh of f16
        erf of f16
        expm1 of f16
        log1p of f16
        rem of f16
        pow of f16
        log of bf16
        log2 of bf16
        sin of bf16
        cos of bf16
        tanh of bf16
        erf of bf16
        expm1 of bf16
        log1p of bf16
        rem of bf16
        pow of bf16
        log of f32
        log2 of f32
        sin of f32
        cos of f32
        tanh of f32
        erf of f32
        expm1 of f32
        log1p of f32
        rem of f32
        pow of f32
        exp of f64
        exp2 of f64
        log of f64
        log2 of f64
        sin of f64
        cos of f64
        tanh of f64
        erf of f64
        expm1 of f64
        log1p of f64
        rem of f64
        pow of f64
        atomic and of i8
        atomic or of i8
        atomic xor of i8
        atomic add of i8
        atomic max of i8
        atomic min of i8
        atomic umax of i8
        atomic umin of i8
        atomic exch of i8
        atomic cas of i8
        atomic and of i16
        atomic or of i16
        atomic xor of i16
        atomic add of i16
        atomic max of i16
        atomic min of i16
        atomic umax of i16
        atomic umin of i16
        atomic exch of i16
        atomic exch of f8E4M3FN
        atomic cas of f8E4M3FN
        atomic exch of f8E5M2
        atomic cas of f8E5M2
        atomic exch of f8E4M3FNUZ
        atomic cas of f8E4M3FNUZ
        atomic exch of f8E5M2FNUZ
        atomic cas of f8E5M2FNUZ
        atomic exch of f16
        atomic exch of bf16
        products of i8 and i8 with 16 rows
        products of f8E4M3FN and f8E4M3FN with 16 rows
        products of f8E4M3FN and f8E5M2 with 16 rows
        products of f8E5M2 and f8E4M3FN with 16 rows
        products of f8E5M2 and f8E5M2 with 16 rows
        products of f16 and f16 with 16 rows
        products of bf16 and bf16 with 16 rows
        products of i8 and i8 with 32 rows
        products of f8E4M3FN and f8E4M3FN with 32 rows
        products of f8E4M3FN and f8E5M2 with 32 rows
        products of f8E5M2 and f8E4M3FN with 32 rows
        products of f8E5M2 and f8E5M2 with 32 rows
        products of f16 and f16 with 32 rows
        products of bf16 and bf16 with 32 rows"#]]
    .assert_eq(&refused(amd("gfx942")));
}

#[test]
fn a_vector_sum_is_printed() {
    expect_test::expect![[r#"
        // add_kernel for sm_90.
        //
        // Compile: nvcc -std=c++17 -arch=sm_90 -cubin
        // Launch: 128 threads along x a block.

        #include <cuda_fp16.h>

        using i8 = signed char;
        using i16 = short;
        using i32 = int;
        using i64 = long long;
        using u8 = unsigned char;
        using u16 = unsigned short;
        using u32 = unsigned int;
        using u64 = unsigned long long;
        using f16 = __half;
        using u32x4 = uint4;

        // The elements of one access, the first at the lowest address.
        template <typename T, int N>
        struct alignas(sizeof(T) * N) Vec {
          T at[N];
        };

        // The same bits as another type.
        template <typename To, typename From>
        __device__ __forceinline__ To bits(From from) {
          static_assert(sizeof(To) == sizeof(From), "bits of one width");
          To to;
          __builtin_memcpy(&to, &from, sizeof to);
          return to;
        }

        // Global memory at an address.
        template <typename T>
        __device__ __forceinline__ T* global(u64 address) {
          return static_cast<T*>(__cvta_global_to_generic(address));
        }

        extern "C" __global__ void __launch_bounds__(128) add_kernel(f16* x_ptr, f16* y_ptr, f16* out_ptr, u32 n) {
          const u32 lane = threadIdx.x % 32;
          const u32 warp = threadIdx.x / 32;
          // add.py:7
          const u64 v0 = reinterpret_cast<u64>(x_ptr);
          const u64 v1 = reinterpret_cast<u64>(y_ptr);
          const u64 v2 = reinterpret_cast<u64>(out_ptr);
          const u32 v6 = blockIdx.x;
          const u32 v11 = lane << 3;
          const u32 v12 = warp << 8;
          const u32 v14 = v6 << 10;
          const u32 v15 = v11 + v12;
          const u32 v16 = v15 + v14;
          const bool v17 = i32(v16) < i32(n);
          const u64 v19 = u64(i32(v16));
          const u64 v22 = v19 << 1;
          const u64 v23 = v0 + v22;
          const u64 v24 = v1 + v22;
          const u64 v25 = v2 + v22;
          Vec<f16, 8> v26 = {};
          if (v17) v26 = bits<Vec<f16, 8>>(*global<u32x4>(v23));
          Vec<f16, 8> v34 = {};
          if (v17) v34 = bits<Vec<f16, 8>>(*global<u32x4>(v24));
          // add.py:9
          const f16 v42 = __hadd_rn(v26.at[0], v34.at[0]);
          const f16 v43 = __hadd_rn(v26.at[1], v34.at[1]);
          const f16 v44 = __hadd_rn(v26.at[2], v34.at[2]);
          const f16 v45 = __hadd_rn(v26.at[3], v34.at[3]);
          const f16 v46 = __hadd_rn(v26.at[4], v34.at[4]);
          const f16 v47 = __hadd_rn(v26.at[5], v34.at[5]);
          const f16 v48 = __hadd_rn(v26.at[6], v34.at[6]);
          const f16 v49 = __hadd_rn(v26.at[7], v34.at[7]);
          if (v17) *global<u32x4>(v25) = bits<u32x4>(Vec<f16, 8>{{v42, v43, v44, v45, v46, v47, v48, v49}});
        }
    "#]].assert_eq(&kernel(&vector_add(), cuda("sm_90")).unwrap());
    let wide = widened(vector_add(), amd("gfx942"));
    expect_test::expect![[r#"
        // add_kernel for gfx942.
        //
        // Compile: clang++ -x hip -std=c++17 --cuda-device-only --offload-arch=gfx942 -nogpulib -nogpuinc -O3
        // A warp is a wave of 64 lanes.
        // Launch: 256 threads along x a block.

        #ifndef __device__
        #define __device__ __attribute__((device))
        #define __global__ __attribute__((global))
        #define __shared__ __attribute__((shared))
        #define __forceinline__ inline __attribute__((always_inline))
        #endif
        #pragma clang fp contract(off)

        using i8 = signed char;
        using i16 = short;
        using i32 = int;
        using i64 = long long;
        using u8 = unsigned char;
        using u16 = unsigned short;
        using u32 = unsigned int;
        using u64 = unsigned long long;
        using f16 = _Float16;
        using u32x4 = u32 __attribute__((ext_vector_type(4)));

        // The elements of one access, the first at the lowest address.
        template <typename T, int N>
        struct alignas(sizeof(T) * N) Vec {
          T at[N];
        };

        // The same bits as another type.
        template <typename To, typename From>
        __device__ __forceinline__ To bits(From from) {
          static_assert(sizeof(To) == sizeof(From), "bits of one width");
          To to;
          __builtin_memcpy(&to, &from, sizeof to);
          return to;
        }

        // Global memory at an address.
        template <typename T>
        __device__ __forceinline__ auto global(u64 address) {
          typedef __attribute__((address_space(1))) T Word __attribute__((may_alias));
          return reinterpret_cast<Word*>(address);
        }

        extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(256, 256))) add_kernel(f16* x_ptr, f16* y_ptr, f16* out_ptr, u32 n) {
          const u32 lane = __builtin_amdgcn_workitem_id_x() % 64;
          const u32 warp = __builtin_amdgcn_workitem_id_x() / 64;
          // add.py:7
          const u64 v0 = reinterpret_cast<u64>(x_ptr);
          const u64 v1 = reinterpret_cast<u64>(y_ptr);
          const u64 v2 = reinterpret_cast<u64>(out_ptr);
          const u32 v6 = __builtin_amdgcn_workgroup_id_x();
          const u32 v11 = lane << 3;
          const u32 v12 = warp << 8;
          const u32 v14 = v6 << 10;
          const u32 v15 = v11 + v12;
          const u32 v16 = v15 + v14;
          const bool v17 = i32(v16) < i32(n);
          const u64 v19 = u64(i32(v16));
          const u64 v22 = v19 << 1;
          const u64 v23 = v0 + v22;
          const u64 v24 = v1 + v22;
          const u64 v25 = v2 + v22;
          Vec<f16, 8> v26 = {};
          if (v17) v26 = bits<Vec<f16, 8>>(*global<u32x4>(v23));
          Vec<f16, 8> v34 = {};
          if (v17) v34 = bits<Vec<f16, 8>>(*global<u32x4>(v24));
          // add.py:9
          const f16 v42 = v26.at[0] + v34.at[0];
          const f16 v43 = v26.at[1] + v34.at[1];
          const f16 v44 = v26.at[2] + v34.at[2];
          const f16 v45 = v26.at[3] + v34.at[3];
          const f16 v46 = v26.at[4] + v34.at[4];
          const f16 v47 = v26.at[5] + v34.at[5];
          const f16 v48 = v26.at[6] + v34.at[6];
          const f16 v49 = v26.at[7] + v34.at[7];
          if (v17) *global<u32x4>(v25) = bits<u32x4>(Vec<f16, 8>{{v42, v43, v44, v45, v46, v47, v48, v49}});
        }
    "#]].assert_eq(&kernel(&wide, amd("gfx942")).unwrap());
}

#[test]
fn a_loop_swaps_its_carried_values() {
    let text = kernel(&fibonacci(), cuda("sm_90")).unwrap();
    let body = text.split("extern \"C\"").nth(1).unwrap();
    expect_test::expect![[r#"
         __global__ void __launch_bounds__(32) fibonacci_kernel(u32 n, u32* out) {
          const u64 v1 = reinterpret_cast<u64>(out);
          u32 v4;
          u32 v5 = 0u;
          u32 v6 = 1u;
          u32 v7 = 0u;
          for (;;) {
            const bool v8 = i32(v7) >= i32(n);
            if (v8) {
              v4 = v5;
              break;
            }
            const bool v9 = (v7 & 1) != 0;
            u32 v11;
            if (v9) {
              const u32 v10 = v5 + v6;
              v11 = v10;
            } else {
              v11 = v5;
            }
            if (v9) {
              *global<u32>(v1) = v11;
            }
            const u32 v12 = v7 + 1u;
            v7 = v12;
            const u32 t0 = v5;
            v5 = v6;
            v6 = t0;
          }
          *global<u32>(v1) = v4;
        }
    "#]]
    .assert_eq(body);
}

#[test]
fn an_access_by_base_and_offset_needs_no_branch() {
    let cache = Cache { modifier: CacheModifier::Streaming, eviction: Eviction::Normal };
    let access = Access { cache, offset: 4112, ..Access::default() };
    let program = copy_behind_base(DType::F16, 2, access);
    let text = |name: &str| kernel(&widened(program.clone(), amd(name)), amd(name)).unwrap();
    let cdna = text("gfx942");
    assert!(!cdna.contains("if ("), "{cdna}");
    expect_test::expect![[r#"
        // Global memory from an address on, which all lanes of the wave have in common; the compiler need not find that
        // out. Beyond 2^31 bytes a load gives zero and a store does nothing: a lane whose offset is `outside` takes no part.
        constexpr u32 outside = 0x80000000;
        __device__ __forceinline__ __amdgpu_buffer_rsrc_t buffer(u64 address) {
          const u32 low = __builtin_amdgcn_readfirstlane(u32(address));
          const u32 high = __builtin_amdgcn_readfirstlane(u32(address >> 32));
          void* const start = reinterpret_cast<void*>(u64(high) << 32 | low);
          return __builtin_amdgcn_make_buffer_rsrc(start, 0, outside, 0x00027000);
        }

        extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(64, 64))) behind_2_f16_Streaming_Normal_4112_kernel(f16* x) {
          const u32 lane = __builtin_amdgcn_workitem_id_x() % 64;
          const u64 v0 = reinterpret_cast<u64>(x);
          const bool v3 = i32(lane) < i32(9u);
          const u32 v6 = lane << 2;
          const Vec<f16, 2> t0 = bits<Vec<f16, 2>>(u32(__builtin_amdgcn_raw_buffer_load_b32(buffer(v0), (v3 ? v6 : outside) + 16, 4096, 2)));
          const f16 v11 = v3 ? t0.at[1] : f16(1.0f);
          __builtin_amdgcn_raw_buffer_store_b32(bits<u32>(Vec<f16, 2>{{v11, t0.at[0]}}), buffer(v0), (v3 ? v6 : outside) + 16, 4096, 2);
        }
    "#]].assert_eq(&cdna[cdna.find("// Global memory").unwrap()..]);
    // The rows of the table that differ: the resource's last word, and the cache bits of loads and stores.
    for (name, word, loads, stores) in [
        ("gfx90a", "0x00027000", 3, 3),
        ("gfx950", "0x00027000", 2, 2),
        ("gfx1100", "0x31027000", 6, 7),
        ("gfx1200", "0x31027000", 1, 1),
    ] {
        let text = text(name);
        assert!(text.contains(word), "{text}");
        assert!(text.contains(&format!(" : outside) + 16, 4096, {loads}))")), "{text}");
        assert!(text.contains(&format!(" : outside) + 16, 4096, {stores});")), "{text}");
    }
    // In front of the base nothing is within its bounds.
    let before = copy_behind_base(DType::F16, 2, Access { offset: -4, ..Access::default() });
    let text = kernel(&widened(before, amd("gfx942")), amd("gfx942")).unwrap();
    assert!(!text.contains("buffer"), "{text}");
}
