//! Golden texts, and every operation of every type through real compilers.
//!
//! The walk over operations and types is compiled only where `WEFT_NVCC` names NVIDIA's `nvcc`, and
//! `WEFT_CLANG` a clang that knows AMD's GPUs; `WEFT_NVCC_FLAGS` may add where headers are.

mod warpgroup;

use super::Dialect;
use crate::budget::Bounds;
use crate::emit::tests::programs::{
    every_matrix_multiply, every_memory_operation, every_operation, every_scaled_multiply,
    fibonacci, linear, target, vector_add,
};
use crate::emit::{Unsupported, hip};
use crate::lane::{Fragments, Program, ScaledMultiply, verify};
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
    if lanes_log2 == ScaledMultiply::LANES_LOG2 {
        programs.extend(every_scaled_multiply());
    }
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
        products of bf16 and bf16 with 32 rows
        products of e4m3 and e4m3 with scales
        products of e4m3 and e5m2 with scales
        products of e4m3 and e2m1 with scales
        products of e5m2 and e4m3 with scales
        products of e5m2 and e5m2 with scales
        products of e5m2 and e2m1 with scales
        products of e2m1 and e4m3 with scales
        products of e2m1 and e5m2 with scales
        products of e2m1 and e2m1 with scales"#]]
    .assert_eq(&refused(amd("gfx942")));
}
