//! Each pass on a few lines: before and after.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod abreast;
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

use super::sink;
use crate::dtype::DType;
use crate::lane::{
    Access, BarrierScope, Builder, IdKind, Inst, Multiprocessor, Op, Param, Program, Space, Value,
    verify,
};
use crate::scalar::{Binary, Cast, Compare, Unary};
use expect_test::Expect;

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
fn sink_leaves_what_the_next_round_begins_with_behind_a_branch() {
    let (mut build, n) = build();
    let piece = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let target = build.new_loop(&[n, n], &[]);
    let params = build.open_region(&[DType::I32, DType::I32]);
    let done = build.compare(Compare::Sge, params[0], n);
    build.break_if(target, done, &[]);
    // The branch stores a sum, behind which the next one begins with zero; the other goes on from what nothing else needs.
    let sums = [0, 1].map(|index| build.binary(Binary::Xor, params[index], n));
    let is_last = build.compare(Compare::Sgt, sums[0], n);
    let zero = build.i32(0);
    let next = build.select(is_last, zero, sums[0]);
    let other = build.unary(Unary::Abs, sums[1]);
    build.open_region(&[]);
    keep(&mut build, base, sums[0]);
    let then = build.close_region(Op::Yield, &[]);
    build.open_region(&[]);
    let otherwise = build.close_region(Op::Yield, &[]);
    build.if_(is_last, then, otherwise, &[]);
    let region = build.close_region(Op::Continue, &[next, other]);
    build.place_loop(target, region);
    let program = sink::run(build.finish());
    verify(&program).unwrap();
    let body = &program.insts[target].regions[0].insts;
    let at = |value: Value| body.iter().position(|&id| program.insts[id].results[..] == [value]);
    let branch = body.iter().position(|&id| program.insts[id].op == Op::If);
    assert!(at(next) > branch, "{program}");
    assert!(at(other) < branch, "{program}");
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
fn sink_moves_what_waits_for_memory_behind_roots_that_do_not_need_it() {
    let (mut build, n) = build();
    let load = |build: &mut Builder| {
        let address = build.cast(Cast::ExtS, n, DType::I64);
        build.load(Space::Global, Access::default(), DType::F32, 1, address, None)[0]
    };
    let [near, far] = [load(&mut build), load(&mut build)];
    let double = build.binary(Binary::Add, far, far);
    let sum = build.binary(Binary::Add, near, near);
    let root = build.unary(Unary::SqrtPrecise, sum);
    let product = build.binary(Binary::Mul, double, root);
    let address = build.cast(Cast::ExtS, n, DType::I64);
    build.store(Space::Global, Access::default(), address, None, &[product]);
    let program = sink::run(build.finish());
    verify(&program).unwrap();
    let at = |value: Value| {
        let mut places = program.body.insts.iter();
        places.position(|&id| program.insts[id].results[..] == [value]).unwrap()
    };
    let order = [near, far, sum, root, double, product].map(at);
    assert!(order.is_sorted(), "{order:?}\n{program}");
}
