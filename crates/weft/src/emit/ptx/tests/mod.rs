//! Golden texts, and every operation of every type through a real assembler.
//!
//! The walk over operations and types is assembled only where `WEFT_PTXAS` names NVIDIA's `ptxas`.

mod interpret;
mod warpgroup;
mod transfer;
mod values;

use super::control::copies;
use super::writer::Writer;
use super::{Registers, Target, Version, print, print_with, symbol};
use crate::atomic::Rmw;
use crate::cache::{Cache, CacheModifier, Eviction};
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::emit::tests::programs::{
    argument, atomic, copy, elementwise, every_memory_operation, every_operation, fibonacci,
    linear, matrix_multiply, pointer, target, vector_add, vector_atomic,
};
use crate::lane::{Access, Builder, Fragments, MatrixMultiply, Op, Program, Space, Value, verify};
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

#[test]
fn vector_add_is_printed() {
    let text = print(&vector_add(), target("sm_80")).unwrap();
    expect![[r#"
        .version 7.0
        .target sm_80
        .address_size 64

        .visible .entry add_kernel(
          .param .u64 .ptr .global .align 1 p0_x_ptr,
          .param .u64 .ptr .global .align 1 p1_y_ptr,
          .param .u64 .ptr .global .align 1 p2_out_ptr,
          .param .u32 p3_n,
          .param .u64 .ptr .global .align 1 p4_global_scratch,
          .param .u64 .ptr .global .align 1 p5_profile_scratch
        )
        .reqntid 128
        {
          .reg .pred %p<18>;
          .reg .b16 %rs<50>;
          .reg .b32 %r<17>;
          .reg .b32 %rt<12>;
          .reg .b64 %rd<26>;
          .reg .b32 %thread, %lane, %warp;
          mov.u32 %thread, %tid.x;
          and.b32 %lane, %thread, 31;
          shr.u32 %warp, %thread, 5;
          // add.py:7
          ld.param.b64 %rd0, [p0_x_ptr];
          ld.param.b64 %rd1, [p1_y_ptr];
          ld.param.b64 %rd2, [p2_out_ptr];
          ld.param.b32 %r3, [p3_n];
          mov.b32 %r4, %lane;
          mov.b32 %r5, %warp;
          mov.u32 %r6, %ctaid.x;
          mov.b32 %r7, 8;
          mov.b32 %r8, 1024;
          mov.b32 %r9, 256;
          mov.b32 %r10, 3;
          shl.b32 %r11, %r4, 3;
          shl.b32 %r12, %r5, 8;
          mov.b32 %r13, 10;
          shl.b32 %r14, %r6, 10;
          add.s32 %r15, %r11, %r12;
          add.s32 %r16, %r15, %r14;
          setp.lt.s32 %p17, %r16, %r3;
          mov.b16 %rs18, 0x0000;
          mov.b64 %rd20, 2;
          mov.b64 %rd21, 1;
          mul.wide.s32 %rd22, %r16, 2;
          add.s64 %rd23, %rd0, %rd22;
          add.s64 %rd24, %rd1, %rd22;
          add.s64 %rd25, %rd2, %rd22;
          mov.b32 %rt0, 0x0;
          mov.b32 %rt1, 0x0;
          mov.b32 %rt2, 0x0;
          mov.b32 %rt3, 0x0;
          @%p17 ld.global.v4.b32 {%rt0, %rt1, %rt2, %rt3}, [%rd23];
          mov.b32 {%rs26, %rs27}, %rt0;
          mov.b32 {%rs28, %rs29}, %rt1;
          mov.b32 {%rs30, %rs31}, %rt2;
          mov.b32 {%rs32, %rs33}, %rt3;
          mov.b32 %rt4, 0x0;
          mov.b32 %rt5, 0x0;
          mov.b32 %rt6, 0x0;
          mov.b32 %rt7, 0x0;
          @%p17 ld.global.v4.b32 {%rt4, %rt5, %rt6, %rt7}, [%rd24];
          mov.b32 {%rs34, %rs35}, %rt4;
          mov.b32 {%rs36, %rs37}, %rt5;
          mov.b32 {%rs38, %rs39}, %rt6;
          mov.b32 {%rs40, %rs41}, %rt7;
          // add.py:9
          add.rn.f16 %rs42, %rs26, %rs34;
          add.rn.f16 %rs43, %rs27, %rs35;
          add.rn.f16 %rs44, %rs28, %rs36;
          add.rn.f16 %rs45, %rs29, %rs37;
          add.rn.f16 %rs46, %rs30, %rs38;
          add.rn.f16 %rs47, %rs31, %rs39;
          add.rn.f16 %rs48, %rs32, %rs40;
          add.rn.f16 %rs49, %rs33, %rs41;
          mov.b32 %rt8, {%rs42, %rs43};
          mov.b32 %rt9, {%rs44, %rs45};
          mov.b32 %rt10, {%rs46, %rs47};
          mov.b32 %rt11, {%rs48, %rs49};
          @%p17 st.global.v4.b32 [%rd25], {%rt8, %rt9, %rt10, %rt11};
          ret;
        }
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_loop_swaps_its_carried_values() {
    let text = print(&fibonacci(), target("sm_90")).unwrap();
    expect![[r#"
        .version 7.8
        .target sm_90
        .address_size 64

        .visible .entry fibonacci(
          .param .u32 p0_n,
          .param .u64 .ptr .global .align 1 p1_out,
          .param .u64 .ptr .global .align 1 p2_global_scratch,
          .param .u64 .ptr .global .align 1 p3_profile_scratch
        )
        .reqntid 32
        {
          .reg .pred %p<10>;
          .reg .b32 %r<13>;
          .reg .b32 %rt<2>;
          .reg .b64 %rd<2>;
          ld.param.b32 %r0, [p0_n];
          ld.param.b64 %rd1, [p1_out];
          mov.b32 %r2, 0;
          mov.b32 %r3, 1;
          mov.b32 %r5, %r2;
          mov.b32 %r6, %r3;
          mov.b32 %r7, %r2;
          $L_loop_4:
            setp.ge.s32 %p8, %r7, %r0;
            @%p8 bra $L_end_4;
            and.b32 %rt0, %r7, 1;
            setp.ne.u32 %p9, %rt0, 0;
            @!%p9 bra $L_else_11;
              add.s32 %r10, %r5, %r6;
              mov.b32 %r11, %r10;
              bra.uni $L_end_11;
            $L_else_11:
              mov.b32 %r11, %r5;
            $L_end_11:
            @!%p9 bra $L_end_15;
              st.global.b32 [%rd1], %r11;
            $L_end_15:
            add.s32 %r12, %r7, %r3;
            mov.b32 %r7, %r12;
            mov.b32 %rt1, %r5;
            mov.b32 %r5, %r6;
            mov.b32 %r6, %rt1;
            bra.uni $L_loop_4;
          $L_end_4:
            mov.b32 %r4, %r5;
          st.global.b32 [%rd1], %r4;
          ret;
        }
    "#]]
    .assert_eq(&text);
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

#[test]
fn shuffles_cut_and_widen() {
    let program = elementwise("exchange", &[DType::I64, DType::F16, DType::I1], |b, x| {
        let wide = b.shuffle_xor(x[0], 16);
        let narrow = b.shuffle_xor(x[1], 1);
        let wide = b.cast(Cast::Trunc, wide, DType::I32);
        b.shuffle_index(narrow, wide);
        b.shuffle_xor(x[2], 3)
    });
    let text = print(&program, target("sm_100")).unwrap();
    let body: Vec<_> =
        text.lines().map(str::trim).skip_while(|line| !line.starts_with("shfl")).collect();
    expect![[r"
        shfl.sync.bfly.b32 %rt1, %rt0, 16, 0x1f, 0xffffffff;
        shfl.sync.bfly.b32 %rt3, %rt2, 16, 0x1f, 0xffffffff;
        mov.b64 %rd18, {%rt1, %rt3};
        cvt.u32.u16 %rt4, %rs13;
        shfl.sync.bfly.b32 %rt5, %rt4, 1, 0x1f, 0xffffffff;
        cvt.u16.u32 %rs19, %rt5;
        cvt.u32.u64 %r20, %rd18;
        cvt.u32.u16 %rt6, %rs19;
        shfl.sync.idx.b32 %rt7, %rt6, %r20, 0x1f, 0xffffffff;
        cvt.u16.u32 %rs21, %rt7;
        selp.b32 %rt8, 1, 0, %p17;
        shfl.sync.bfly.b32 %rt9, %rt8, 3, 0x1f, 0xffffffff;
        setp.ne.u32 %p22, %rt9, 0;
        selp.b16 %rs23, 0x1, 0, %p22;
        ld.param.b64 %rd24, [p3_out];
        add.s64 %rd25, %rd24, %rd2;
        st.global.u8 [%rd25], %rs23;
        ret;
        }"]]
    .assert_eq(&body.join("\n"));
}

#[test]
fn a_priority_holds_for_both_caches() {
    let lines = |modifier, eviction, volatile| {
        let access = Access { cache: Cache { modifier, eviction }, volatile, ..Access::default() };
        let text = print(&copy(DType::F16, 8, access), target("sm_80")).unwrap();
        let is_told = |line: &&str| line.contains("policy") || line.contains(".global.");
        text.lines().filter(is_told).map(str::trim).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        createpolicy.fractional.L2::evict_last.b64 %evict_last, 1.0;
        @%p1 ld.global.L1::evict_last.L2::cache_hint.v4.b32 {%rt0, %rt1, %rt2, %rt3}, [%rd7], %evict_last;
        st.global.L1::evict_last.v4.b32 [%rd7], {%rt16, %rt17, %rt18, %rt19};
        @%p1 st.global.L1::evict_last.v4.b32 [%rd7], {%rt20, %rt21, %rt22, %rt23};"#]]
    .assert_eq(&lines(CacheModifier::None, Eviction::Last, false));
    for (modifier, volatile) in [(CacheModifier::Global, false), (CacheModifier::None, true)] {
        let told = lines(modifier, Eviction::First, volatile);
        assert!(!told.contains("evict") && !told.contains("policy"), "{told}");
    }
}

/// In a loop: an offset of one address, one of two addresses, and one from before the loop.
#[test]
fn a_sum_in_a_loop_takes_in_the_product_that_serves_it_alone() {
    let mut build = Builder::new("sums", 1, 5);
    let n = build.param(argument("n", DType::I32));
    let [x, out] = ["x", "out"].map(|name| build.param(pointer(name, DType::I32)));
    let [zero, one] = [0, 1].map(|value| build.i32(value));
    let offset = |build: &mut Builder, index: Value| {
        let index = build.cast(Cast::ExtS, index, DType::I64);
        let bytes = build.constant(DType::I64, 4);
        build.binary(Binary::Mul, index, bytes)
    };
    let before = offset(&mut build, n);
    let round = build.new_loop(&[zero], &[]);
    let i = build.open_region(&[DType::I32])[0];
    let done = build.compare(Compare::Sge, i, n);
    build.break_if(round, done, &[]);
    let shared = offset(&mut build, i);
    let next = build.binary(Binary::Add, i, one);
    let alone = offset(&mut build, next);
    for (base, offset) in [(x, alone), (x, shared), (out, shared), (x, before)] {
        let address = build.binary(Binary::Add, base, offset);
        build.store(Space::Global, Access::default(), address, None, &[i]);
    }
    let body = build.close_region(Op::Continue, &[next]);
    build.place_loop(round, body);
    let text = print(&build.finish(), target("sm_80")).unwrap();
    let told =
        |line: &&str| ["wide", "add.s64", "cvt", "loop"].iter().any(|part| line.contains(part));
    let lines: Vec<_> = text.lines().filter(told).map(str::trim).collect();
    expect![[r#"
        mul.wide.s32 %rd8, %r0, 4;
        $L_loop_9:
        mul.wide.s32 %rd12, %r9, 4;
        mad.wide.s32 %rd16, %r13, 4, %rd1;
        add.s64 %rd17, %rd1, %rd12;
        add.s64 %rd18, %rd2, %rd12;
        add.s64 %rd19, %rd1, %rd8;
        bra.uni $L_loop_9;"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn linear_maps_move_diagonals() {
    let text = print(&linear(), target("sm_80")).unwrap();
    let body: Vec<_> = text.lines().filter(|line| line.contains("%rt")).map(str::trim).collect();
    expect![[r"
          .reg .b32 %rt<7>;
          and.b32 %rt0, %r7, 0x38;
          shr.u32 %rt1, %rt0, 3;
          and.b32 %rt2, %r7, 0x3f;
          xor.b32 %rt3, %rt1, %rt2;
          mov.b32 %r8, %rt3;
          and.b32 %rt4, %r8, 0xfffffffe;
          shr.u32 %rt5, %rt4, 1;
          xor.b32 %rt6, %rt5, %r8;
          mov.b32 %r9, %rt6;"]]
    .assert_eq(&body.join("\n"));
}

#[test]
fn bf16_has_its_own_sum_from_sm_90_on() {
    let program = elementwise("sum", &[DType::BF16; 2], |b, x| b.binary(Binary::Sub, x[0], x[1]));
    for (name, line) in [
        ("sm_80", "fma.rn.bf16 %rs11, %rs10, %rst0, %rs7;"),
        ("sm_89", "fma.rn.bf16 %rs11, %rs10, %rst0, %rs7;"),
        ("sm_90", "sub.rn.bf16 %rs11, %rs7, %rs10;"),
    ] {
        let text = print(&program, target(name)).unwrap();
        assert!(text.contains(line), "{name}: {text}");
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

/// A vector from `sm_90` on, before it a pair of f16 in one register; of bf16 each by compare-and-swaps.
#[test]
fn sums_of_neighbours_are_one_atomic_where_there_is_one() {
    let atoms = |dtype, count, name| {
        let text = print(&vector_atomic(dtype, count), target(name)).unwrap();
        let is_first = |line: &&str| line.contains("atom.acq_rel.gpu.");
        let lines = text.lines().map(str::trim).filter(is_first);
        let lines: Vec<_> = lines.filter(|line| line.starts_with('@')).collect();
        lines.join("\n")
    };
    let texts = [
        atoms(DType::F32, 4, "sm_90"),
        atoms(DType::BF16, 2, "sm_90"),
        atoms(DType::F32, 2, "sm_80"),
        atoms(DType::F16, 4, "sm_80"),
    ];
    expect![[r#"
        @%p1 atom.acq_rel.gpu.global.add.v4.f32 {%r87, %r88, %r89, %r90}, [%rd0], {%r2, %r2, %r2, %r2};
        @%p1 atom.acq_rel.gpu.global.add.noftz.v2.bf16 {%rs45, %rs46}, [%rd0], {%rs2, %rs2};
        @%p1 atom.acq_rel.gpu.global.add.f32 %r45, [%rd0], %r2;
        @%p1 atom.acq_rel.gpu.global.add.f32 %r46, [%rd0+4], %r2;
        @%p1 atom.acq_rel.gpu.global.add.noftz.f16x2 %rt110, [%rd0], %rt111;
        @%p1 atom.acq_rel.gpu.global.add.noftz.f16x2 %rt112, [%rd0+4], %rt113;"#]].assert_eq(&texts.join("\n"));
    assert_eq!(atoms(DType::BF16, 2, "sm_80"), "");
    let swaps = print(&vector_atomic(DType::BF16, 2), target("sm_80")).unwrap();
    let swaps = swaps.lines().filter(|line| line.contains("atom.acq_rel.gpu.global.cas.b16"));
    assert_eq!(swaps.filter(|line| line.contains("+2]")).count(), 2);
}

/// There are no such atomics of integers, of wide floats and in shared memory.
#[test]
fn only_sums_of_narrow_floats_in_global_memory_have_neighbours() {
    let sums = |dtype: DType, op, shared: bool, count: usize| {
        let mut build = Builder::new("sums", 1, 5);
        let x = build.param(pointer("x", dtype));
        let value = build.param(argument("value", dtype));
        let piece = build.shared(16, 16, crate::lane::BarrierScope::Block);
        let near = build.shared_base(piece);
        let (space, at) = if shared { (Space::Shared, near) } else { (Space::Global, x) };
        let (order, scope) = (crate::atomic::Order::Relaxed, crate::atomic::Scope::Gpu);
        let op = Op::AtomicRmw { space, op, order, scope, predicated: false };
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
fn what_ptx_lacks_is_refused_with_its_name() {
    let refused = |program: &Program, name: &str| {
        print(program, target(name)).map_err(|error| error.to_string()).unwrap_err()
    };
    let exp = elementwise("f", &[DType::F64], |b, x| b.unary(Unary::Exp, x[0]));
    let rem = elementwise("f", &[DType::F32; 2], |b, x| b.binary(Binary::Rem, x[0], x[1]));
    let texts = [
        refused(&exp, "sm_90"),
        refused(&rem, "sm_80"),
        refused(&atomic(DType::I16, Some(Rmw::Add)), "sm_90"),
        refused(&Builder::new("wide", 4, 6).finish(), "sm_90"),
        refused(&Builder::new("large", 64, 5).finish(), "sm_90"),
    ];
    expect![[r"
        sm_90 has no `exp of f64`: PTX has no such instruction; lowering writes an algorithm of others
        sm_80 has no `rem of f32`: PTX has no such instruction; lowering writes an algorithm of others
        sm_90 has no `atomic add of i16`: atomics of integers and exchanges have 32 or 64 bits
        sm_90 has no `warp of 64 lanes`: a warp has 32 lanes
        sm_90 has no `block of 64 warps`: a block has 1 to 32 warps"]].assert_eq(&texts.join("\n"));
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
fn products_of_matrices_are_one_instruction() {
    let line = |form: MatrixMultiply, name: &str| {
        let text =
            print(&matrix_multiply(form), target(name)).map_err(|error| error.to_string())?;
        let lines = text.lines().filter(|line| line.contains("mma") || line.contains(".version"));
        Ok::<_, String>(lines.collect::<Vec<_>>().join("\n"))
    };
    let form = |[rows, summed]: [u8; 2], left, right, sum| MatrixMultiply {
        fragments: Fragments::Mma,
        rows,
        columns: 8,
        summed,
        left,
        right,
        sum,
    };
    let half = form([16, 16], DType::F16, DType::F16, DType::F32);
    expect![[r#"
        .version 7.0
          mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r24, %r25, %r26, %r27}, {%r7, %r8, %r9, %r10}, {%r16, %r17}, {%r20, %r21, %r22, %r23};"#]].assert_eq(&line(half, "sm_80").unwrap());
    let short = form([16, 8], DType::F16, DType::F16, DType::F16);
    expect![[r#"
        .version 7.0
          mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r19, %r20}, {%r7, %r8}, {%r14}, {%r17, %r18};"#]].assert_eq(&line(short, "sm_80").unwrap());
    let rounded = form([16, 4], DType::F32, DType::F32, DType::F32);
    expect![[r#"
        .version 7.0
          mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%r23, %r24, %r25, %r26}, {%r7, %r8}, {%r14}, {%r19, %r20, %r21, %r22};"#]].assert_eq(&line(rounded, "sm_80").unwrap());
    let doubles = form([16, 4], DType::F64, DType::F64, DType::F64);
    expect!["sm_80 has no `products of f64 and f64 with 16 rows`: mma.sync of f64 with 16 rows needs sm_90; one with 8 rows does not"].assert_eq(&line(doubles, "sm_80").unwrap_err());
    expect![[r#"
        .version 7.8
          mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%rd24, %rd25, %rd26, %rd27}, {%rd7, %rd8}, {%rd14}, {%rd20, %rd21, %rd22, %rd23};"#]].assert_eq(&line(doubles, "sm_90").unwrap());
    let mixed = form([16, 32], DType::F8E4M3FN, DType::F8E5M2, DType::F32);
    expect!["sm_80 has no `products of f8E4M3FN and f8E5M2 with 16 rows`: mma.sync of 8-bit floats needs sm_89; widen them to f16"].assert_eq(&line(mixed, "sm_80").unwrap_err());
    expect![[r#"
        .version 8.4
          mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%r24, %r25, %r26, %r27}, {%r7, %r8, %r9, %r10}, {%r16, %r17}, {%r20, %r21, %r22, %r23};"#]].assert_eq(&line(mixed, "sm_89").unwrap());
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
