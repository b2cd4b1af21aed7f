//! Golden texts, and every operation of every type through a real assembler.
//!
//! The walk over operations and types is assembled only where `WEFT_PTXAS` names NVIDIA's `ptxas`.

use super::control::copies;
use super::interpret::Kernel;
use super::writer::Writer;
use super::{Target, Version, print, symbol};
use crate::atomic::{Order, Rmw, Scope};
use crate::cache::{Cache, CacheModifier, Eviction};
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::lane::{
    Access, BarrierScope, Builder, IdKind, Op, Param, Program, Space, Value, verify,
};
use crate::location::{Location, Locations};
use crate::scalar::{self, Binary, Cast, Compare, Unary};
use expect_test::expect;
use smallvec::smallvec;
use std::collections::BTreeMap;

fn target(name: &str) -> &'static Target {
    Target::by_name(name).unwrap()
}

fn pointer(name: &str, pointee: DType) -> Param {
    Param { name: name.into(), dtype: DType::I64, pointee: Some(pointee), divisibility: 16 }
}

fn argument(name: &str, dtype: DType) -> Param {
    Param { name: name.into(), dtype, pointee: None, divisibility: 1 }
}

/// `base + bytes * index`.
fn element(build: &mut Builder, base: Value, index: Value, bytes: u32) -> Value {
    let index = build.cast(Cast::ExtS, index, DType::I64);
    let bytes = build.constant(DType::I64, u64::from(bytes));
    let offset = build.binary(Binary::Mul, index, bytes);
    build.binary(Binary::Add, base, offset)
}

/// A program that loads elements of these types at the lane's index, computes, and stores the result.
fn elementwise(
    name: &str,
    from: &[DType],
    compute: impl FnOnce(&mut Builder, &[Value]) -> Value,
) -> Program {
    let mut build = Builder::new(name, 1, 5);
    let lane = build.id(IdKind::Lane);
    let values: Vec<Value> = from
        .iter()
        .enumerate()
        .map(|(index, &dtype)| {
            let stored = if dtype == DType::I1 { DType::I8 } else { dtype };
            let base = build.param(pointer(&format!("in{index}"), stored));
            let address = element(&mut build, base, lane, stored.bytes());
            let value = build.load(Space::Global, Access::default(), stored, 1, address, None)[0];
            build.cast(Cast::Trunc, value, dtype)
        })
        .collect();
    let mut result = compute(&mut build, &values);
    if build.dtype(result) == DType::I1 {
        result = build.cast(Cast::ExtU, result, DType::I8);
    }
    let dtype = build.dtype(result);
    let out = build.param(pointer("out", dtype));
    let address = element(&mut build, out, lane, dtype.bytes());
    build.store(Space::Global, Access::default(), address, None, &[result]);
    build.finish()
}

/// One small program for every operation that a type has.
fn every_operation() -> Vec<Program> {
    let mut programs = Vec::new();
    for dtype in DType::ALL {
        for &op in Unary::ALL {
            if scalar::unary(op, dtype).is_some() {
                let name = format!("unary_{op}_{dtype}");
                programs.push(elementwise(&name, &[dtype], |b, x| b.unary(op, x[0])));
            }
        }
        for &op in Binary::ALL {
            if scalar::binary(op, dtype).is_none() {
                continue;
            }
            let name = format!("binary_{op}_{dtype}");
            programs.push(elementwise(&name, &[dtype; 2], |b, x| b.binary(op, x[0], x[1])));
            let name = format!("binary_{op}_{dtype}_by_constant");
            programs.push(elementwise(&name, &[dtype], |b, x| {
                let three = b.constant(dtype, scalar::from_f64(dtype, 3.0));
                b.binary(op, x[0], three)
            }));
        }
        for &op in Compare::ALL {
            if scalar::compare(op, dtype).is_some() {
                let name = format!("compare_{op}_{dtype}");
                programs.push(elementwise(&name, &[dtype; 2], |b, x| b.compare(op, x[0], x[1])));
            }
        }
        let name = format!("select_{dtype}");
        programs.push(elementwise(&name, &[DType::I1, dtype, dtype], |b, x| {
            b.select(x[0], x[1], x[2])
        }));
        let name = format!("fma_{dtype}");
        programs.push(elementwise(&name, &[dtype; 3], |b, x| b.fma(x[0], x[1], x[2])));
        let name = format!("shuffle_{dtype}");
        programs.push(elementwise(&name, &[dtype, DType::I32], |b, x| {
            let swapped = b.shuffle_xor(x[0], 5);
            b.shuffle_index(swapped, x[1])
        }));
        for &op in Cast::ALL {
            for to in DType::ALL {
                if scalar::cast_applies(op, dtype, to) {
                    let name = format!("cast_{op}_{dtype}_{to}");
                    // The builder leaves out a cast to the same type; the language has it.
                    programs.push(elementwise(&name, &[dtype], |b, x| {
                        b.emit(Op::Cast(op), smallvec![x[0]], &[to])[0]
                    }));
                }
            }
        }
    }
    programs
}

/// Loads and stores of every type, width, space and predicate; every atomic.
fn every_memory_operation() -> Vec<Program> {
    let mut programs = Vec::new();
    for dtype in DType::ALL.into_iter().filter(|&dtype| dtype != DType::I1) {
        for count in [1usize, 2, 4, 8, 16].into_iter().filter(|n| n * dtype.bytes() as usize <= 16)
        {
            programs.push(copy(dtype, count, Access::default()));
        }
        for &op in Rmw::ALL {
            if op.apply(dtype, 0, 0).is_some() {
                programs.push(atomic(dtype, Some(op)));
            }
        }
        programs.push(atomic(dtype, None));
    }
    let modifiers = [
        CacheModifier::None,
        CacheModifier::All,
        CacheModifier::Global,
        CacheModifier::Streaming,
        CacheModifier::Volatile,
        CacheModifier::WriteBack,
        CacheModifier::WriteThrough,
    ];
    for modifier in modifiers {
        for eviction in [Eviction::Normal, Eviction::First, Eviction::Last] {
            let access =
                Access { cache: Cache { modifier, eviction }, offset: -16, ..Access::default() };
            programs.push(copy(DType::F16, 8, access));
        }
    }
    programs.push(copy(DType::I32, 4, Access { volatile: true, ..Access::default() }));
    programs
}

/// Global to shared to global memory; the first load and the last store are predicated.
fn copy(dtype: DType, count: usize, access: Access) -> Program {
    let Access { offset, predicated: _, cache: Cache { modifier, eviction }, volatile } = access;
    let name = format!("copy_{count}_{dtype}_{modifier:?}_{eviction:?}_{volatile}_{offset}");
    let mut build = Builder::new(&name, 1, 5);
    let x = build.param(pointer("x", dtype));
    let guard = build.param(argument("guard", DType::I1));
    let lane = build.id(IdKind::Lane);
    let bytes = count as u32 * dtype.bytes();
    let from = element(&mut build, x, lane, bytes);
    let other = build.constant(dtype, scalar::from_f64(dtype, 1.0));
    let others = vec![other; count];
    let values = build.load(Space::Global, access, dtype, count, from, Some((guard, &others)));
    let piece = build.shared(32 * bytes, bytes);
    let base = build.shared_base(piece);
    let size = build.i32(bytes as i32);
    let offset = build.binary(Binary::Mul, lane, size);
    let near = build.binary(Binary::Add, base, offset);
    build.store(Space::Shared, access, near, None, &values);
    build.barrier(BarrierScope::Block);
    build.barrier(BarrierScope::Warp);
    let plain = build.load(Space::Shared, access, dtype, count, near, None);
    let others: Vec<Value> = values.iter().rev().copied().collect();
    let masked = build.load(Space::Shared, access, dtype, count, near, Some((guard, &others)));
    build.store(Space::Global, access, from, None, &plain);
    build.store(Space::Global, access, from, Some(guard), &masked);
    build.finish()
}

/// An atomic (none: compare-and-swap) in both spaces, in every order and scope.
fn atomic(dtype: DType, op: Option<Rmw>) -> Program {
    let name = format!("atomic_{}_{dtype}", op.map_or("cas", Rmw::name));
    let mut build = Builder::new(&name, 1, 5);
    let x = build.param(pointer("x", dtype));
    let guard = build.param(argument("guard", DType::I1));
    let value = build.param(argument("value", dtype));
    let piece = build.shared(16, 16);
    let base = build.shared_base(piece);
    for (space, address) in [(Space::Global, x), (Space::Shared, base)] {
        for &order in Order::ALL {
            for &scope in Scope::ALL {
                let predicated = scope == Scope::Gpu;
                let mut operands = smallvec![address];
                operands.extend(predicated.then_some(guard));
                operands.push(value);
                let op = match op {
                    Some(op) => Op::AtomicRmw { space, op, order, scope, predicated },
                    None => {
                        operands.push(value);
                        Op::AtomicCas { space, order, scope, predicated }
                    }
                };
                let old = build.emit(op, operands, &[dtype])[0];
                build.store(Space::Global, Access::default(), x, None, &[old]);
            }
        }
    }
    build.finish()
}

/// Adds two vectors of f16, eight elements a thread.
fn vector_add() -> Program {
    let mut build = Builder::new("add_kernel", 4, 5);
    let mut locations = Locations::default();
    let line = |line| Location::File { file: "add.py".into(), line, column: 1 };
    let (loads, sums) = (locations.push(line(7)), locations.push(line(9)));
    build.set_locations(locations);
    build.set_loc(loads);
    let [x, y, out] =
        ["x_ptr", "y_ptr", "out_ptr"].map(|name| build.param(pointer(name, DType::F16)));
    let n = build.param(argument("n", DType::I32));
    let (lane, warp, block) =
        (build.id(IdKind::Lane), build.id(IdKind::Warp), build.id(IdKind::Block(0)));
    let [eight, tile, row] = [8, 1024, 256].map(|value| build.i32(value));
    let index = build.binary(Binary::Mul, lane, eight);
    let warps = build.binary(Binary::Mul, warp, row);
    let blocks = build.binary(Binary::Mul, block, tile);
    let index = build.binary(Binary::Add, index, warps);
    let index = build.binary(Binary::Add, index, blocks);
    let inside = build.compare(Compare::Slt, index, n);
    let zero = build.constant(DType::F16, 0);
    let [x, y, out] = [x, y, out].map(|base| element(&mut build, base, index, 2));
    let others = [zero; 8];
    let [x, y] = [x, y].map(|address| {
        build.load(
            Space::Global,
            Access::default(),
            DType::F16,
            8,
            address,
            Some((inside, &others)),
        )
    });
    build.set_loc(sums);
    let sum: Vec<Value> =
        x.iter().zip(&y).map(|(&x, &y)| build.binary(Binary::Add, x, y)).collect();
    build.store(Space::Global, Access::default(), out, Some(inside), &sum);
    build.finish()
}

/// Sums Fibonacci numbers in a loop that swaps its carried values, and branches inside.
fn fibonacci() -> Program {
    let mut build = Builder::new("fibonacci", 1, 5);
    let n = build.param(argument("n", DType::I32));
    let out = build.param(pointer("out", DType::I32));
    let [zero, one] = [0, 1].map(|value| build.i32(value));
    let round = build.new_loop(&[zero, one, zero], &[DType::I32]);
    let [a, b, i] = build.open_region(&[DType::I32; 3])[..] else { unreachable!() };
    let done = build.compare(Compare::Sge, i, n);
    build.break_if(round, done, &[a]);
    let odd = build.cast(Cast::Trunc, i, DType::I1);
    build.open_region(&[]);
    let sum = build.binary(Binary::Add, a, b);
    let then = build.close_region(Op::Yield, &[sum]);
    build.open_region(&[]);
    let otherwise = build.close_region(Op::Yield, &[a]);
    let sum = build.if_(odd, then, otherwise, &[DType::I32])[0];
    build.open_region(&[]);
    build.store(Space::Global, Access::default(), out, None, &[sum]);
    let then = build.close_region(Op::Yield, &[]);
    build.open_region(&[]);
    let otherwise = build.close_region(Op::Yield, &[]);
    build.if_(odd, then, otherwise, &[]);
    let next = build.binary(Binary::Add, i, one);
    let body = build.close_region(Op::Continue, &[b, a, next]);
    let result = build.place_loop(round, body)[0];
    build.store(Space::Global, Access::default(), out, None, &[result]);
    build.finish()
}

fn linear() -> Program {
    elementwise("linear", &[DType::I32], |b, x| {
        let swizzled = b.linear(&[1, 2, 4, 8 ^ 1, 16 ^ 2, 32 ^ 4], x[0]);
        let gray: Vec<u32> = (0..32).map(|bit| 1 << bit | (1u32 << bit) >> 1).collect();
        b.linear(&gray, swizzled)
    })
}

#[test]
fn vector_add_is_printed() {
    let text = print(&vector_add(), target("sm_80")).unwrap();
    expect![[r"
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
          cvt.s64.s32 %rd19, %r16;
          mov.b64 %rd20, 2;
          mov.b64 %rd21, 1;
          shl.b64 %rd22, %rd19, 1;
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
    "]]
    .assert_eq(&text);
}

#[test]
fn a_loop_swaps_its_carried_values() {
    let text = print(&fibonacci(), target("sm_90")).unwrap();
    expect![[r"
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
            mov.b32 %r4, %r5;
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
          st.global.b32 [%rd1], %r4;
          ret;
        }
    "]]
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
        let mut w = Writer::new(&program, target("sm_80"));
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
        refused(&atomic(DType::BF16, Some(Rmw::FAdd)), "sm_89"),
        refused(&atomic(DType::I16, Some(Rmw::Add)), "sm_90"),
        refused(&Builder::new("wide", 4, 6).finish(), "sm_90"),
        refused(&Builder::new("large", 64, 5).finish(), "sm_90"),
    ];
    expect![[r"
        sm_90 has no `exp of f64`: PTX has no exponential or logarithm of f64; compute it in f32
        sm_80 has no `rem of f32`: PTX has no remainder of floats, and x - trunc(x / y) * y is not exact
        sm_89 has no `atomic fadd of bf16`: the atomic sum of bf16 needs sm_90; use f16 or f32
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
                    let listed = operation.starts_with("rem of")
                        || operation.ends_with("of f64")
                        || operation.starts_with("atomic");
                    assert!(listed, "{operation} is not listed");
                    if !refused.contains(&operation) {
                        refused.push(operation);
                    }
                }
            }
        }
    }
    expect![[r"
        rem of f16
        rem of bf16
        rem of f32
        exp of f64
        exp2 of f64
        log of f64
        log2 of f64
        rem of f64
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
        atomic exch of f16
        atomic fadd of bf16
        atomic exch of bf16"]]
    .assert_eq(&refused.join("\n"));
}

/// Operations whose instructions are approximations.
fn is_approximate(op: Unary) -> bool {
    matches!(op, Unary::Exp | Unary::Exp2 | Unary::Log | Unary::Log2 | Unary::Rsqrt)
}

/// Reads the printed text with an interpreter written from NVIDIA's manual, and holds every operation
/// of every type against `scalar` on the values where something can go wrong.
#[test]
fn printed_operations_compute_what_scalar_says() {
    for name in ["sm_80", "sm_90"] {
        let check = |program: &Program,
                     from: &[DType],
                     to: DType,
                     units: f64,
                     want: &dyn Fn(&[u64]) -> u64| {
            let Ok(text) = print(program, target(name)) else { return };
            let kernel = Kernel::read(&text);
            for operands in tuples(from) {
                let (got, want) = (kernel.run(&operands), want(&operands));
                assert!(
                    equal(to, got, want, units),
                    "{name} {}({operands:#x?}) = {got:#x}, not {want:#x}\n{text}",
                    program.name
                );
            }
        };
        for dtype in DType::ALL {
            for &op in Unary::ALL {
                if let Some(apply) = scalar::unary(op, dtype) {
                    let program = elementwise(op.name(), &[dtype], |b, x| b.unary(op, x[0]));
                    let units = if is_approximate(op) { 2.0 } else { 0.0 };
                    check(&program, &[dtype], dtype, units, &|x| apply(x[0]));
                }
            }
            for &op in Binary::ALL {
                if let Some(apply) = scalar::binary(op, dtype) {
                    let program =
                        elementwise(op.name(), &[dtype; 2], |b, x| b.binary(op, x[0], x[1]));
                    check(&program, &[dtype; 2], dtype, 0.0, &|x| apply(x[0], x[1]));
                    let three = scalar::from_f64(dtype, 3.0);
                    let program = elementwise(op.name(), &[dtype], |b, x| {
                        let three = b.constant(dtype, three);
                        b.binary(op, x[0], three)
                    });
                    check(&program, &[dtype], dtype, 0.0, &|x| apply(x[0], three));
                }
            }
            for &op in Compare::ALL {
                if let Some(apply) = scalar::compare(op, dtype) {
                    let program =
                        elementwise(op.name(), &[dtype; 2], |b, x| b.compare(op, x[0], x[1]));
                    check(&program, &[dtype; 2], DType::I1, 0.0, &|x| apply(x[0], x[1]));
                }
            }
            for &op in Cast::ALL {
                for to in DType::ALL.into_iter().filter(|&to| scalar::cast_applies(op, dtype, to)) {
                    let name = format!("{op}_{dtype}_{to}");
                    let program = elementwise(&name, &[dtype], |b, x| {
                        b.emit(Op::Cast(op), smallvec![x[0]], &[to])[0]
                    });
                    check(&program, &[dtype], to, 0.0, &|x| scalar::cast(op, dtype, to, x[0]));
                }
            }
            let select = elementwise("select", &[DType::I1, dtype, dtype], |b, x| {
                b.select(x[0], x[1], x[2])
            });
            check(&select, &[DType::I1, dtype, dtype], dtype, 0.0, &|x| x[2 - x[0] as usize]);
            if dtype.is_int() {
                let fma = elementwise("fma", &[dtype; 3], |b, x| b.fma(x[0], x[1], x[2]));
                let apply = scalar::fma(dtype);
                check(&fma, &[dtype; 3], dtype, 0.0, &|x| apply(x[0], x[1], x[2]));
            }
        }
        let columns = [3, 0x8000_0001, 0, 0x70, 0xffff_ffff, 1 << 9];
        let program = elementwise("linear", &[DType::I32], |b, x| b.linear(&columns, x[0]));
        check(&program, &[DType::I32], DType::I32, 0.0, &|x| {
            let set = (0..6).filter(|bit| x[0] >> bit & 1 == 1);
            set.fold(0, |sum, bit| sum ^ u64::from(columns[bit]))
        });
    }
}

#[test]
fn integers_and_doubles_reach_bf16_in_one_rounding() {
    let above_half = (1u64 << 30) + (1 << 22) + 1;
    let double = (1.0 + 1.0 / 256.0 + 2f64.powi(-40)).to_bits();
    for (op, from, bits, want) in [
        (Cast::FloatFromS, DType::I32, above_half, 0x4e81),
        (Cast::FloatFromU, DType::I32, above_half - 1, 0x4e80),
        (Cast::FloatFromS, DType::I32, above_half.wrapping_neg() & 0xffff_ffff, 0xce81),
        (Cast::FloatFromU, DType::I64, above_half << 33, 0x5f01),
        (Cast::FloatFromS, DType::I64, above_half << 32, 0x5e81),
        (Cast::Float, DType::F64, double, 0x3f81),
    ] {
        let program = elementwise("f", &[from], |b, x| b.cast(op, x[0], DType::BF16));
        let text = print(&program, target("sm_80")).unwrap();
        assert_eq!(Kernel::read(&text).run(&[bits]), want, "{op} {from} {bits:#x}");
    }
}

/// Every combination of the values of each type where something can go wrong.
fn tuples(from: &[DType]) -> Vec<Vec<u64>> {
    from.iter().fold(vec![vec![]], |tuples, &dtype| {
        let values = samples(dtype);
        let extend = |tuple: &Vec<u64>, value: u64| [&tuple[..], &[value]].concat();
        tuples.iter().flat_map(|tuple| values.iter().map(move |&v| extend(tuple, v))).collect()
    })
}

fn samples(dtype: DType) -> Vec<u64> {
    let mut values: Vec<u64> = if dtype.is_float() {
        let numbers = [
            0.0,
            1.0,
            0.5,
            1.5,
            2.5,
            3.0,
            0.75,
            0.001,
            100.7,
            127.5,
            128.0,
            129.0,
            255.9,
            256.0,
            32767.9,
            40000.0,
            65504.0,
            65536.0,
            3e9,
            1e20,
            1e-30,
            2f64.powi(31),
            2f64.powi(63),
            2f64.powi(64),
            f64::INFINITY,
        ];
        let signed = numbers.into_iter().flat_map(|value| [value, -value]);
        let mut bits: Vec<u64> = signed.map(|value| scalar::from_f64(dtype, value)).collect();
        // The least and a larger subnormal number.
        bits.extend([scalar::from_f64(dtype, f64::NAN), 1, 0x55]);
        bits
    } else {
        let top = 1u64 << (dtype.bits() - 1);
        let numbers = [
            0,
            1,
            2,
            3,
            7,
            8,
            15,
            16,
            17,
            31,
            32,
            33,
            63,
            64,
            100,
            127,
            128,
            200,
            255,
            1 << 16,
            1 << 32,
            (1 << 32) + 1,
            0x1234_5678_9abc_def0,
            top,
            top - 1,
            top + 1,
            u64::MAX,
            u64::MAX - 1,
            u64::MAX - 6,
        ];
        numbers.into_iter().map(|value| value & dtype.mask()).collect()
    };
    values.sort_unstable();
    values.dedup();
    values
}

/// Whether two results are equal, NaN being NaN, and floats off by no more than some units of the
/// last place.
fn equal(dtype: DType, got: u64, want: u64, units: f64) -> bool {
    if got == want || !dtype.is_float() {
        return got == want;
    }
    let (x, y) = (scalar::to_f64(dtype, got), scalar::to_f64(dtype, want));
    let digits = match dtype {
        DType::F16 => 10,
        DType::BF16 => 7,
        DType::F32 => 23,
        _ => 52,
    };
    let unit = y.abs() * 2f64.powi(-digits) + scalar::to_f64(dtype, 1);
    x.is_nan() && y.is_nan() || units > 0.0 && (x - y).abs() <= units * unit
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
