//! Golden texts, and every operation of every type through a real assembler.
//!
//! The walk over operations and types is assembled only where `WEFT_PTXAS` names NVIDIA's `ptxas`.

mod branches;
mod interpret;
mod warpgroup;
mod values;

use super::control::copies;
use super::writer::Writer;
use super::{Registers, Target, Version, print, print_with, symbol};
use crate::atomic::Rmw;
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::emit::tests::programs::{
    argument, elementwise, every_memory_operation, every_operation, fibonacci, linear, pointer,
    target, vector_add,
};
use crate::lane::{Access, AtomicAccess, Builder, Op, Program, Space, Value, verify};
use crate::scalar::{Binary, Cast, Compare, Unary};
use expect_test::expect;
use smallvec::smallvec;
use std::collections::BTreeMap;

#[test]
fn a_kernel_may_take_all_registers() {
    let program = Builder::new("nothing", 4, 5).finish();
    let plenty = print_with(&program, target("sm_90"), Registers::Blocks(1)).unwrap();
    assert!(plenty.contains(".reqntid 128\n.minnctapersm 1\n{\n"), "{plenty}");
    assert_eq!(plenty.replace(".minnctapersm 1\n", ""), print(&program, target("sm_90")).unwrap());
    let few = print_with(&program, target("sm_90"), Registers::AtMost(64)).unwrap();
    assert_eq!(few, plenty.replace(".minnctapersm 1\n", ".maxnreg 64\n"));
}

/// Every way to copy four registers into three of them, run move by move.
#[test]
fn copies_happen_at_once() {
    let mut build = Builder::new("copies", 1, 5);
    let values: Vec<Value> =
        (0..4).map(|index| build.param(argument(&format!("x{index}"), DType::I32))).collect();
    let program = build.finish();
    for code in 0..64 {
        let sources: Vec<usize> = (0..3).map(|digit| code >> (2 * digit) & 3).collect();
        let from: Vec<Value> = sources.iter().map(|&source| values[source]).collect();
        let mut w = Writer::new(&program, target("sm_80")).unwrap();
        copies(&mut w, &values[..3], &from);
        let names = ["%r0", "%r1", "%r2", "%r3"];
        let mut registers: BTreeMap<String, usize> = (0..4).map(|i| (names[i].into(), i)).collect();
        for line in w.body().lines() {
            let (d, x) = line.trim().strip_prefix("mov.b32 ").unwrap().split_once(", ").unwrap();
            let value = registers[x.trim_end_matches(';')];
            registers.insert(d.into(), value);
        }
        let copied: Vec<usize> = (0..3).map(|i| registers[names[i]]).collect();
        assert_eq!(copied, sources);
    }
}

/// Where a product of assembly might be fused into a sum, all sums say how they round.
#[test]
fn sums_whose_range_is_asked_for_say_no_rounding() {
    type Use = fn(&mut Builder, Value) -> Value;
    let uses: [(Use, bool); 5] = [
        (|b, sum| b.binary(Binary::Div, sum, sum), true),
        (|b, sum| b.unary(Unary::Rsqrt, sum), true),
        (|b, sum| b.unary(Unary::Log2Approximate, sum), true),
        (|b, sum| b.unary(Unary::Exp2, sum), false),
        (|b, sum| b.binary(Binary::Mul, sum, sum), false),
    ];
    for (used, asks_range) in uses {
        for has_assembly in [false, true] {
            let program = elementwise("sum", &[DType::F32; 2], |b, x| {
                if has_assembly {
                    let text = "mov.b32 $0, 1;".into();
                    b.emit(Op::InlineAsm { text, pure: false }, smallvec![], &[DType::I32]);
                }
                let product = b.binary(Binary::Mul, x[0], x[1]);
                let sum = b.binary(Binary::Sub, product, x[0]);
                used(b, sum)
            });
            let text = print(&program, target("sm_90")).unwrap();
            let is_plain = asks_range && !has_assembly;
            assert_eq!(text.contains(" sub.f32 "), is_plain, "{text}");
            assert_eq!(text.contains(" sub.rn.f32 "), !is_plain, "{text}");
            assert!(!text.contains(" mul.f32 "), "{text}");
        }
    }
}

#[test]
fn bytes_that_are_only_stored_are_not_cleared_above() {
    for (is_compared, clears) in [(false, 0), (true, 1)] {
        let mut build = Builder::new("bytes", 1, 5);
        let [x, y] = ["x", "y"].map(|name| build.param(argument(name, DType::I8)));
        let out = build.param(pointer("out", DType::I8));
        let sum = build.binary(Binary::Add, x, y);
        build.store(Space::Global, Access::default(), out, None, &[sum]);
        if is_compared {
            let carries = build.compare(Compare::Ult, sum, x);
            build.store(Space::Global, Access::default(), out, Some(carries), &[sum]);
        }
        let text = print(&build.finish(), target("sm_90")).unwrap();
        assert_eq!(text.matches("0xff;").count(), clears, "{text}");
    }
}

/// There are no such atomics of integers, of wide floats and in shared memory.
#[test]
fn only_sums_of_narrow_floats_in_global_memory_have_neighbours() {
    let sums = |dtype: DType, op: Rmw, shared: bool, count: usize| {
        let mut build = Builder::new("sums", 1, 5);
        let x = build.param(pointer("x", dtype));
        let value = build.param(argument("value", dtype));
        let piece = build.shared(16, 16, crate::lane::BarrierScope::Block);
        let near = build.shared_base(piece);
        let (space, at) = if shared { (Space::Shared, near) } else { (Space::Global, x) };
        let (order, scope) = (crate::atomic::Order::Relaxed, crate::atomic::Scope::Gpu);
        let op = Op::Atomic(AtomicAccess { space, op: op.into(), order, scope, predicated: false });
        let mut operands = smallvec::smallvec![at];
        operands.extend(core::iter::repeat_n(value, count));
        build.emit(op, operands, &vec![dtype; count]);
        verify(&build.finish()).is_ok()
    };
    assert!(sums(DType::F32, Rmw::FAdd, false, 4));
    assert!(sums(DType::F32, Rmw::FAdd, true, 1));
    assert!(!sums(DType::F32, Rmw::FAdd, true, 4));
    assert!(!sums(DType::F32, Rmw::FAdd, false, 8));
    assert!(!sums(DType::F32, Rmw::Exch, false, 2));
    assert!(!sums(DType::I32, Rmw::Add, false, 2));
    assert!(!sums(DType::F64, Rmw::FAdd, false, 2));
}

#[test]
fn names_are_made_fit_for_ptx() {
    let names = ["add_kernel", "a.b", "2d", "", "_", "WARP_SZ", "größe", "global_smem"];
    let symbols = names.map(symbol);
    assert_eq!(
        symbols,
        ["add_kernel", "a_b", "_2d", "__", "__", "WARP_SZ_", "gr__e", "global_smem_"]
    );
}

#[test]
fn every_operation_is_printed_or_refused_as_listed() {
    let mut refused = Vec::new();
    let mut programs = every_operation();
    programs.extend(every_memory_operation());
    for program in &programs {
        assert_eq!(verify(program), Ok(()), "{}", program.name);
        for target in Target::ALL {
            match print(program, target) {
                Ok(text) => assert_eq!(Ok(text), print(program, target)),
                Err(Unsupported { operation, .. }) => {
                    let functions = [
                        "rem", "pow", "sin", "cos", "tanh", "erf", "expm1", "log", "log2", "log1p",
                    ];
                    let function = operation.split(' ').next().unwrap_or_default();
                    let listed = functions.contains(&function)
                        || operation.ends_with("of f64")
                        || operation.contains("matrices")
                        || operation.starts_with("products of ")
                        || operation.starts_with("atomic");
                    assert!(listed, "{operation} is not listed");
                    if !refused.contains(&operation) {
                        refused.push(operation);
                    }
                }
            }
        }
    }
    expect![[r#"
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
        stores of matrices of bytes
        loads of matrices of bytes"#]]
    .assert_eq(&refused.join("\n"));
}

/// Joins programs into one module: assembling one is as slow as assembling hundreds.
fn module(programs: &[Program], target: &Target) -> (usize, String) {
    let mut version: Version = target.ptx_version;
    let mut entries = String::new();
    let mut count = 0;
    for program in programs {
        let Ok(text) = print(program, target) else { continue };
        let number = text.split_whitespace().nth(1).unwrap();
        let (major, minor) = number.split_once('.').unwrap();
        version = version.max((major.parse().unwrap(), minor.parse().unwrap()));
        entries += &text[text.find(".visible").unwrap()..];
        count += 1;
    }
    let (major, minor) = version;
    let header = format!(
        ".version {major}.{minor}\n.target {}\n.address_size 64\n\
         .extern .shared .align 16 .b8 global_smem[];\n",
        target.name
    );
    (count, header + &entries)
}

#[test]
fn the_assembler_accepts_every_operation() {
    let Some(ptxas) = std::env::var_os("WEFT_PTXAS") else {
        println!(
            "skipped: set WEFT_PTXAS to the path of NVIDIA's ptxas to assemble every operation"
        );
        return;
    };
    let mut programs = every_operation();
    programs.extend(every_memory_operation());
    programs.extend([vector_add(), fibonacci(), linear()]);
    let folder = std::env::temp_dir().join(format!("weft-ptx-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for target in Target::ALL {
        let (count, text) = module(&programs, target);
        let (source, object) =
            (folder.join(format!("{}.ptx", target.name)), folder.join("out.cubin"));
        std::fs::write(&source, text).unwrap();
        let output = std::process::Command::new(&ptxas)
            .arg(format!("-arch={}", target.name))
            .arg(&source)
            .arg("-o")
            .arg(&object)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} in {}:\n{errors}", target.name, source.display());
        println!("{}: {count} programs", target.name);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn directed_rounding_is_the_instructions_own() {
    use crate::scalar::Rounding;
    for (rounding, modifier) in
        [(Rounding::Zero, "rz"), (Rounding::Down, "rm"), (Rounding::Up, "rp")]
    {
        for dtype in [DType::F32, DType::F64] {
            let program =
                elementwise("fma", &[dtype; 3], |b, x| b.fma_toward(rounding, x[0], x[1], x[2]));
            let text = print(&program, target("sm_80")).unwrap();
            assert!(text.contains(&format!("fma.{modifier}.{dtype} ")), "{text}");
        }
    }
}

#[test]
fn a_rounded_number_is_converted_as_it_is_rounded() {
    for (op, how) in [
        (Unary::Nearest, "rni"),
        (Unary::Floor, "rmi"),
        (Unary::Ceil, "rpi"),
        (Unary::Trunc, "rzi"),
    ] {
        for (cast, kind) in [(Cast::SFromFloat, "s64"), (Cast::UFromFloat, "u64")] {
            let program = elementwise("round", &[DType::F32], |b, x| {
                let whole = b.unary(op, x[0]);
                b.cast(cast, whole, DType::I64)
            });
            let text = print(&program, target("sm_80")).unwrap();
            assert!(text.contains(&format!("cvt.{how}.{kind}.f32 ")), "{text}");
        }
    }
}
