//! Each pass on a few lines: before and after.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod double_buffer;
mod derive;
mod effects;
mod halves;
mod linear;
mod merge_barriers;
mod order;
mod ordered;
mod pack;
mod park;
mod reload;

use super::{barriers, expand, hoist, redundant_barriers, sink, sweep};
use crate::dtype::DType;
use crate::lane::{
    Access, BarrierScope, Builder, IdKind, Inst, Multiprocessor, Op, Param, Program, Space, Value,
    verify,
};
use crate::scalar::{Binary, Cast, Compare, Unary};
use expect_test::{Expect, expect};

fn check(pass: fn(Program) -> Program, before: &Program, expected: &Expect) {
    verify(before).unwrap();
    let after = pass(before.clone());
    verify(&after).unwrap();
    expected.assert_eq(&format!("{before}\nafter:\n{after}"));
}

fn build() -> (Builder, Value) {
    let mut build = Builder::new("test", 2, 5);
    let param = Param { name: "n".into(), dtype: DType::I32, pointee: None, divisibility: 1 };
    let n = build.param(param);
    (build, n)
}

/// A loop that counts to `n`; its body has the counter.
fn loop_to(build: &mut Builder, n: Value, body: impl FnOnce(&mut Builder, Value)) {
    let zero = build.i32(0);
    let target = build.new_loop(&[zero], &[]);
    let counter = build.open_region(&[DType::I32])[0];
    let done = build.compare(Compare::Sge, counter, n);
    build.break_if(target, done, &[]);
    body(build, counter);
    let one = build.i32(1);
    let next = build.binary(Binary::Add, counter, one);
    let region = build.close_region(Op::Continue, &[next]);
    build.place_loop(target, region);
}

fn keep(build: &mut Builder, address: Value, value: Value) {
    build.store(Space::Shared, Access::default(), address, None, &[value]);
}

fn look(build: &mut Builder, address: Value) -> Value {
    build.load(Space::Shared, Access::default(), DType::I32, 1, address, None)[0]
}

#[test]
fn expand_writes_a_linear_map_as_one_shift_a_diagonal() {
    let (mut build, _) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let lane = build.id(IdKind::Lane);
    let moved = build.linear(&[1, 2, 16, 32, 64], lane);
    keep(&mut build, base, moved);
    check(
        expand::run,
        &build.finish(),
        &expect![[r#"
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              %2: i32 = lane
              %3: i32 = linear [1 2 16 32 64] %2
              store.shared %1, %3
              return
            }

            after:
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              %2: i32 = lane
              %3: i32 = const 0x3
              %4: i32 = and %2, %3
              %5: i32 = const 0x0
              %6: i32 = const 0x1c
              %7: i32 = and %2, %6
              %8: i32 = const 0x2
              %9: i32 = shl %7, %8
              %10: i32 = xor %4, %9
              store.shared %1, %10
              return
            }
        "#]],
    );
}

#[test]
fn hoist_takes_out_of_branches_what_no_round_changes() {
    let (mut build, n) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    loop_to(&mut build, n, |build, counter| {
        let is_last = build.compare(Compare::Eq, counter, n);
        build.open_region(&[]);
        let square = build.binary(Binary::Mul, n, n);
        let cube = build.binary(Binary::Mul, square, n);
        let sum = build.binary(Binary::Add, cube, counter);
        let seen = look(build, base);
        let more = build.binary(Binary::Add, seen, n);
        keep(build, base, more);
        let then = build.close_region(Op::Yield, &[sum]);
        build.open_region(&[]);
        let otherwise = build.close_region(Op::Yield, &[counter]);
        let sum = build.if_(is_last, then, otherwise, &[DType::I32])[0];
        keep(build, base, sum);
    });
    check(
        hoist::run,
        &build.finish(),
        &expect![[r#"
        lane @test(n: i32) warps 2 lanes 32 shared 256 {
          @s0 = 256 bytes at 0 align 16
          %0: i32 = param 0
          %1: i32 = address @s0
          %2: i32 = const 0x0
          loop inst3 %2 (%3: i32) {
            %4: i1 = cmp.sge %3, %0
            break.if inst3 %4
            %5: i1 = cmp.eq %3, %0
            %11: i32 = if %5 {
              %6: i32 = mul %0, %0
              %7: i32 = mul %6, %0
              %8: i32 = add %7, %3
              %9: i32 = load.shared %1
              %10: i32 = add %9, %0
              store.shared %1, %10
              yield %8
            } else {
              yield %3
            }
            store.shared %1, %11
            %12: i32 = const 0x1
            %13: i32 = add %3, %12
            continue %13
          }
          return
        }

        after:
        lane @test(n: i32) warps 2 lanes 32 shared 256 {
          @s0 = 256 bytes at 0 align 16
          %0: i32 = param 0
          %1: i32 = address @s0
          %2: i32 = const 0x0
          %6: i32 = mul %0, %0
          %7: i32 = mul %6, %0
          %12: i32 = const 0x1
          loop inst3 %2 (%3: i32) {
            %4: i1 = cmp.sge %3, %0
            break.if inst3 %4
            %5: i1 = cmp.eq %3, %0
            %11: i32 = if %5 {
              %8: i32 = add %7, %3
              %9: i32 = load.shared %1
              %10: i32 = add %9, %0
              store.shared %1, %10
              yield %8
            } else {
              yield %3
            }
            store.shared %1, %11
            %13: i32 = add %3, %12
            continue %13
          }
          return
        }
    "#]],
    );
}

#[test]
fn hoist_takes_out_what_no_round_changes() {
    let (mut build, n) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    loop_to(&mut build, n, |build, counter| {
        let square = build.binary(Binary::Mul, n, n);
        let sum = build.binary(Binary::Add, square, counter);
        keep(build, base, sum);
    });
    check(
        hoist::run,
        &build.finish(),
        &expect![[r#"
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              %2: i32 = const 0x0
              loop inst3 %2 (%3: i32) {
                %4: i1 = cmp.sge %3, %0
                break.if inst3 %4
                %5: i32 = mul %0, %0
                %6: i32 = add %5, %3
                store.shared %1, %6
                %7: i32 = const 0x1
                %8: i32 = add %3, %7
                continue %8
              }
              return
            }

            after:
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              %2: i32 = const 0x0
              %5: i32 = mul %0, %0
              %7: i32 = const 0x1
              loop inst3 %2 (%3: i32) {
                %4: i1 = cmp.sge %3, %0
                break.if inst3 %4
                %6: i32 = add %5, %3
                store.shared %1, %6
                %8: i32 = add %3, %7
                continue %8
              }
              return
            }
        "#]],
    );
}

#[test]
fn sweep_removes_what_only_unused_values_use() {
    let (mut build, n) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let seen = look(&mut build, base);
    build.binary(Binary::Mul, seen, n);
    keep(&mut build, base, n);
    check(
        sweep::run,
        &build.finish(),
        &expect![[r#"
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              %2: i32 = load.shared %1
              %3: i32 = mul %2, %0
              store.shared %1, %0
              return
            }

            after:
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              store.shared %1, %0
              return
            }
        "#]],
    );
}

#[test]
fn sink_leaves_steps_to_the_end_of_a_round() {
    let (mut build, n) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let target = build.new_loop(&[n, n], &[]);
    let params = build.open_region(&[DType::I32, DType::I32]);
    // The one is wanted by the next round alone, the other in this one too.
    let steps = [0, 1].map(|index| build.binary(Binary::Add, params[index], n));
    let done = build.compare(Compare::Sge, params[0], params[1]);
    build.break_if(target, done, &[]);
    keep(&mut build, base, steps[1]);
    keep(&mut build, base, params[0]);
    let region = build.close_region(Op::Continue, &steps);
    build.place_loop(target, region);
    let program = sink::run(build.finish());
    verify(&program).unwrap();
    let body = &program.insts[target].regions[0].insts;
    let at = |value: Value| body.iter().position(|&id| program.insts[id].results[..] == [value]);
    assert_eq!(at(steps[0]), Some(body.len() - 2), "{program}");
    assert_eq!(at(steps[1]), Some(2), "{program}");
}

#[test]
fn sink_widens_numbers_where_they_are_used() {
    let (mut build, _) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let half = Access::default();
    let narrow = build.load(Space::Shared, half, DType::F16, 2, base, None);
    let wide: Vec<Value> = narrow.iter().map(|&x| build.cast(Cast::Float, x, DType::F32)).collect();
    let root = build.unary(Unary::Sqrt, wide[0]);
    let sum = build.binary(Binary::Add, root, wide[1]);
    let short = build.cast(Cast::Float, sum, DType::F16);
    keep(&mut build, base, root);
    keep(&mut build, base, short);
    let program = sink::run(build.finish());
    verify(&program).unwrap();
    let at = |value: Value| {
        let mut body = program.body.insts.iter();
        body.position(|&id| program.insts[id].results.contains(&value))
    };
    // The second number is wide where it is added, and the sum is narrow as soon as it is there.
    assert!(at(root) < at(wide[1]), "{program}");
    assert_eq!(at(short), at(sum).map(|place| place + 1), "{program}");
}

#[test]
fn sink_leaves_a_value_before_its_first_use_where_another_use_moves_down() {
    let (mut build, _) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let half = build.load(Space::Shared, Access::default(), DType::F16, 1, base, None)[0];
    let wide = build.cast(Cast::Float, half, DType::F32);
    let wider = build.cast(Cast::Float, wide, DType::F64);
    keep(&mut build, base, wide);
    keep(&mut build, base, wider);
    let program = sink::run(build.finish());
    verify(&program).unwrap();
}

#[test]
fn sink_brings_loads_to_their_use_but_not_over_a_store() {
    let (mut build, n) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let (first, second) = (look(&mut build, base), look(&mut build, base));
    let product = build.binary(Binary::Mul, n, n);
    let sum = build.binary(Binary::Add, product, first);
    keep(&mut build, base, sum);
    let sum = build.binary(Binary::Add, n, second);
    keep(&mut build, base, sum);
    check(
        sink::run,
        &build.finish(),
        &expect![[r#"
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              %2: i32 = load.shared %1
              %3: i32 = load.shared %1
              %4: i32 = mul %0, %0
              %5: i32 = add %4, %2
              store.shared %1, %5
              %6: i32 = add %0, %3
              store.shared %1, %6
              return
            }

            after:
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              %4: i32 = mul %0, %0
              %2: i32 = load.shared %1
              %5: i32 = add %4, %2
              %3: i32 = load.shared %1
              store.shared %1, %5
              %6: i32 = add %0, %3
              store.shared %1, %6
              return
            }
        "#]],
    );
}

#[test]
fn a_piece_that_is_written_in_each_round_gets_one_barrier() {
    let (mut build, n) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let lane = build.id(IdKind::Lane);
    let place = build.binary(Binary::Add, base, lane);
    loop_to(&mut build, n, |build, counter| {
        keep(build, place, counter);
        build.barrier(BarrierScope::Block);
        look(build, base);
    });
    check(
        barriers::run,
        &build.finish(),
        &expect![[r#"
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              %2: i32 = lane
              %3: i32 = add %1, %2
              %4: i32 = const 0x0
              loop inst5 %4 (%5: i32) {
                %6: i1 = cmp.sge %5, %0
                break.if inst5 %6
                store.shared %3, %5
                barrier.block
                %7: i32 = load.shared %1
                %8: i32 = const 0x1
                %9: i32 = add %5, %8
                continue %9
              }
              return
            }

            after:
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              %2: i32 = lane
              %3: i32 = add %1, %2
              %4: i32 = const 0x0
              loop inst5 %4 (%5: i32) {
                %6: i1 = cmp.sge %5, %0
                break.if inst5 %6
                barrier.block
                store.shared %3, %5
                barrier.block
                %7: i32 = load.shared %1
                %8: i32 = const 0x1
                %9: i32 = add %5, %8
                continue %9
              }
              return
            }
        "#]],
    );
}

#[test]
fn a_piece_of_each_warp_gets_a_barrier_of_the_warp() {
    let (mut build, n) = build();
    let piece = build.shared(256, 16, BarrierScope::Warp);
    let base = build.shared_base(piece);
    keep(&mut build, base, n);
    build.barrier(BarrierScope::Warp);
    let seen = look(&mut build, base);
    keep(&mut build, base, seen);
    check(
        barriers::run,
        &build.finish(),
        &expect![[r#"
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16 warp
              %0: i32 = param 0
              %1: i32 = address @s0
              store.shared %1, %0
              barrier.warp
              %2: i32 = load.shared %1
              store.shared %1, %2
              return
            }

            after:
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16 warp
              %0: i32 = param 0
              %1: i32 = address @s0
              store.shared %1, %0
              barrier.warp
              %2: i32 = load.shared %1
              barrier.warp
              store.shared %1, %2
              return
            }
        "#]],
    );
}

#[test]
fn idle_removes_barriers_with_nothing_on_one_side() {
    let (mut build, n) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    build.barrier(BarrierScope::Block);
    keep(&mut build, base, n);
    build.barrier(BarrierScope::Warp);
    build.barrier(BarrierScope::Block);
    build.barrier(BarrierScope::Warp);
    look(&mut build, base);
    build.barrier(BarrierScope::Block);
    check(
        redundant_barriers::run,
        &build.finish(),
        &expect![[r#"
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              barrier.block
              store.shared %1, %0
              barrier.warp
              barrier.block
              barrier.warp
              %2: i32 = load.shared %1
              barrier.block
              return
            }

            after:
            lane @test(n: i32) warps 2 lanes 32 shared 256 {
              @s0 = 256 bytes at 0 align 16
              %0: i32 = param 0
              %1: i32 = address @s0
              store.shared %1, %0
              barrier.block
              %2: i32 = load.shared %1
              return
            }
        "#]],
    );
}

/// A store to a piece, a barrier, a load from it: one movement. Of three in a row the third may lie
/// where the first did, because a barrier stands between them; the second may not.
#[test]
fn the_third_movement_uses_the_memory_of_the_first() {
    let (mut build, n) = build();
    let mut value = n;
    for bytes in [512, 256, 384] {
        let piece = build.shared(bytes, 128, BarrierScope::Block);
        let lane = build.id(IdKind::Lane);
        let four = build.i32(4);
        let place = build.binary(Binary::Mul, lane, four);
        let base = build.shared_base(piece);
        let address = build.binary(Binary::Add, base, place);
        build.store(Space::Shared, Access::default(), address, None, &[value]);
        build.barrier(BarrierScope::Block);
        value = build.load(Space::Shared, Access::default(), DType::I32, 1, address, None)[0];
    }
    build.shared(4096, 16, BarrierScope::Block);
    let before = build.finish();
    let after = super::pack::run(before.clone());
    verify(&after).unwrap();
    let offsets = |program: &Program| -> Vec<(u32, u32)> {
        program.shared.values().map(|piece| (piece.offset, piece.bytes)).collect()
    };
    assert_eq!(offsets(&before), [(0, 512), (512, 256), (768, 384), (1152, 4096)]);
    assert_eq!(offsets(&after), [(0, 512), (512, 256), (0, 384), (0, 0)]);
    assert_eq!((before.shared_bytes, after.shared_bytes), (5248, 768));
}

/// A piece that a loop reads and one behind it, of scratch memory or not, on a multiprocessor that has this much
/// memory: the bytes that a block takes, and the barriers behind the loop.
fn behind_a_loop(shared_bytes: u32, is_scratch: bool) -> (u32, usize) {
    let (mut build, n) = build();
    build.set_multiprocessor(Multiprocessor {
        registers: 1 << 16,
        shared_bytes,
        reserved_bytes: 0,
    });
    let kept = build.shared(1024, 128, BarrierScope::Block);
    let other = if is_scratch {
        build.scratch(512, 128, BarrierScope::Block)
    } else {
        build.shared(512, 128, BarrierScope::Block)
    };
    let [kept, other] = [kept, other].map(|piece| build.shared_base(piece));
    loop_to(&mut build, n, |build, counter| keep(build, kept, counter));
    keep(&mut build, other, n);
    build.barrier(BarrierScope::Block);
    let seen = look(&mut build, other);
    keep(&mut build, other, seen);
    let program = super::pack::run(build.finish());
    verify(&program).unwrap();
    let is_barrier = |id: &&Inst| program.insts[**id].op.effects().barrier().is_some();
    (program.shared_bytes, program.body.insts.iter().filter(is_barrier).count())
}

#[test]
fn a_barrier_behind_a_loop_makes_room_for_another_block() {
    // There is room for 16 blocks of two warps by registers.
    for is_scratch in [false, true] {
        assert_eq!(behind_a_loop(16 * 1536, is_scratch), (1536, 1));
        assert_eq!(behind_a_loop(10 * 1536, is_scratch), (1024, 2));
        assert_eq!(behind_a_loop(1535, is_scratch), (1024, 2));
        assert_eq!(behind_a_loop(2047, is_scratch), (1536, 1));
        assert_eq!(behind_a_loop(1023, is_scratch), (1536, 1));
    }
    // No barrier where two of three blocks run without it, unless what waits has to wait for the loop anyhow.
    assert_eq!(behind_a_loop(16 * 1536 - 1, false), (1536, 1));
    assert_eq!(behind_a_loop(16 * 1536 - 1, true), (1024, 2));
}

#[test]
fn narrow_numbers_that_only_move_are_loaded_as_words() {
    let (mut build, _) = build();
    let [from, to] = ["from", "to"].map(|name| {
        build.param(Param {
            name: name.into(),
            dtype: DType::I64,
            pointee: Some(DType::F16),
            divisibility: 16,
        })
    });
    let access = Access::default();
    let moved = build.load(Space::Global, access, DType::F16, 4, from, None);
    let words: Vec<Value> = moved.chunks(2).map(|pair| build.join(pair)).collect();
    build.store(Space::Global, access, to, None, &words);
    // A number that is computed with is loaded as it is.
    let number = build.load(Space::Global, access, DType::F16, 2, to, None);
    let sum = build.binary(Binary::Add, number[0], number[1]);
    build.store(Space::Global, access, from, None, &[sum]);
    check(
        |program| sweep::run(expand::run(program)),
        &build.finish(),
        &expect![[r#"
            lane @test(n: i32, from: ptr<f16> by 16, to: ptr<f16> by 16) warps 2 lanes 32 shared 0 {
              %0: i32 = param 0
              %1: i64 = param 1
              %2: i64 = param 2
              %3: f16, %4: f16, %5: f16, %6: f16 = load.global %1
              %7: i16 = cast.bits %3
              %8: i32 = cast.ext_u %7
              %9: i16 = cast.bits %4
              %10: i32 = cast.ext_u %9
              %11: i32 = const 0x5410
              %12: i32 = bytes %8, %10, %11
              %13: i16 = cast.bits %5
              %14: i32 = cast.ext_u %13
              %15: i16 = cast.bits %6
              %16: i32 = cast.ext_u %15
              %17: i32 = bytes %14, %16, %11
              store.global %2, %12, %17
              %18: f16, %19: f16 = load.global %2
              %20: f16 = add %18, %19
              store.global %1, %20
              return
            }

            after:
            lane @test(n: i32, from: ptr<f16> by 16, to: ptr<f16> by 16) warps 2 lanes 32 shared 0 {
              %1: i64 = param 1
              %2: i64 = param 2
              %3: i32, %4: i32 = load.global %1
              store.global %2, %3, %4
              %22: f16, %23: f16 = load.global %2
              %24: f16 = add %22, %23
              store.global %1, %24
              return
            }
        "#]],
    );
}

#[test]
fn floats_of_eight_bits_are_rounded_in_pairs_to_be_stored() {
    let (mut build, _) = build();
    let [from, to] = ["from", "to"].map(|name| {
        build.param(Param {
            name: name.into(),
            dtype: DType::I64,
            pointee: Some(DType::F32),
            divisibility: 16,
        })
    });
    let access = Access::default();
    let numbers = build.load(Space::Global, access, DType::F32, 4, from, None);
    let narrow = |build: &mut Builder, number| build.cast(Cast::Float, number, DType::F8E4M3FN);
    let rounded: Vec<Value> = numbers.iter().map(|&number| narrow(&mut build, number)).collect();
    build.store(Space::Global, access, to, None, &rounded);
    check(
        |program| sweep::run(expand::run(program)),
        &build.finish(),
        &expect![[r#"
            lane @test(n: i32, from: ptr<f32> by 16, to: ptr<f32> by 16) warps 2 lanes 32 shared 0 {
              %0: i32 = param 0
              %1: i64 = param 1
              %2: i64 = param 2
              %3: f32, %4: f32, %5: f32, %6: f32 = load.global %1
              %7: f8E4M3FN = cast.float %3
              %8: f8E4M3FN = cast.float %4
              %9: f8E4M3FN = cast.float %5
              %10: f8E4M3FN = cast.float %6
              store.global %2, %7, %8, %9, %10
              return
            }

            after:
            lane @test(n: i32, from: ptr<f32> by 16, to: ptr<f32> by 16) warps 2 lanes 32 shared 0 {
              %1: i64 = param 1
              %2: i64 = param 2
              %3: f32, %4: f32, %5: f32, %6: f32 = load.global %1
              %11: i16 = round.pair.f8E4M3FN %3, %4
              %12: i16 = round.pair.f8E4M3FN %5, %6
              %13: i32 = cast.ext_u %11
              %14: i32 = cast.ext_u %12
              %15: i32 = const 0x5410
              %16: i32 = bytes %13, %14, %15
              store.global %2, %16
              return
            }
        "#]],
    );
}
