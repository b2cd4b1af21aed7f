//! Operations in an order in which fewer registers are live.

use super::{build, check, keep};
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{
    Access, BarrierScope, Builder, InstData, Op, Param, Program, Space, Value, verify,
};
use crate::scalar::{Binary, Unary};
use crate::simplify::order;
use expect_test::expect;

/// A program that loads so many pairs of words, and keeps what is made of them.
fn of_pairs(loads: u32, combine: impl FnOnce(&mut Builder, Vec<Value>) -> Value) -> Program {
    let (mut build, _) = build();
    let (dtype, pointee) = (DType::I64, Some(DType::I32));
    let x = build.param(Param { name: "x".into(), dtype, pointee, divisibility: 16 });
    let words = (0..loads).flat_map(|index| {
        let access = Access { offset: 8 * index as i32, ..Access::default() };
        build.load(Space::Global, access, DType::I32, 2, x, None)
    });
    let words = words.collect();
    let result = combine(&mut build, words);
    let out = build.shared(4, 4, BarrierScope::Block);
    let out = build.shared_base(out);
    keep(&mut build, out, result);
    build.finish()
}

/// Their sum, level by level.
fn sum(loads: u32) -> Program {
    of_pairs(loads, |build, words| tree(build, Binary::Xor, words))
}

/// What is made of words level by level: of the first half and the second, until one is left.
fn tree(build: &mut Builder, op: Binary, mut words: Vec<Value>) -> Value {
    while let [_, _, ..] = words[..] {
        let (low, high) = words.split_at(words.len() / 2);
        let pairs = low.iter().zip(high);
        words = pairs.map(|(&x, &y)| build.binary(op, x, y)).collect();
    }
    words[0]
}

/// The most words of loads and sums that are live at once.
fn live(program: &Program) -> usize {
    let mut last: IdMap<Value, Option<usize>> = IdMap::default();
    let insts = program.body.insts.iter().map(|&id| &program.insts[id]).enumerate();
    for (place, inst) in insts.clone() {
        inst.operands.iter().for_each(|&value| last.set(value, Some(place)));
    }
    let counted = |inst: &InstData| matches!(inst.op, Op::Load { .. } | Op::Binary(_));
    let mut ends: Vec<usize> = vec![0; program.body.insts.len()];
    let (mut live, mut most) = (0, 0);
    for (place, inst) in insts {
        live -= ends[place];
        let results = inst.results.iter().filter(|_| counted(inst));
        for end in results.filter_map(|&value| last[value]) {
            live += 1;
            ends[end] += 1;
        }
        most = most.max(live);
    }
    most
}

#[test]
fn a_sum_takes_each_load_as_it_comes() {
    check(
        |program| order::within(program, 0),
        &sum(4),
        &expect![[r#"
        lane @test(n: i32, x: ptr<i32> by 16) warps 2 lanes 32 shared 4 {
          @s0 = 4 bytes at 0 align 4
          %0: i32 = param 0
          %1: i64 = param 1
          %2: i32, %3: i32 = load.global %1
          %4: i32, %5: i32 = load.global[+8] %1
          %6: i32, %7: i32 = load.global[+16] %1
          %8: i32, %9: i32 = load.global[+24] %1
          %10: i32 = xor %2, %6
          %11: i32 = xor %3, %7
          %12: i32 = xor %4, %8
          %13: i32 = xor %5, %9
          %14: i32 = xor %10, %12
          %15: i32 = xor %11, %13
          %16: i32 = xor %14, %15
          %17: i32 = address @s0
          store.shared %17, %16
          return
        }

        after:
        lane @test(n: i32, x: ptr<i32> by 16) warps 2 lanes 32 shared 4 {
          @s0 = 4 bytes at 0 align 4
          %0: i32 = param 0
          %1: i64 = param 1
          %2: i32, %3: i32 = load.global %1
          %6: i32, %7: i32 = load.global[+16] %1
          %10: i32 = xor %2, %6
          %11: i32 = xor %3, %7
          %4: i32, %5: i32 = load.global[+8] %1
          %8: i32, %9: i32 = load.global[+24] %1
          %12: i32 = xor %4, %8
          %14: i32 = xor %10, %12
          %13: i32 = xor %5, %9
          %15: i32 = xor %11, %13
          %16: i32 = xor %14, %15
          %17: i32 = address @s0
          store.shared %17, %16
          return
        }
    "#]],
    );
}

#[test]
fn a_sum_of_any_length_keeps_one_word_or_two_a_level() {
    for levels in 2..=10 {
        let program = sum(1 << levels);
        assert_eq!(live(&program), 2 << levels);
        let ordered = order::within(program.clone(), 0);
        verify(&ordered).unwrap();
        assert!(live(&ordered) <= 2 * levels + 2, "{} of {levels} levels", live(&ordered));
        // The same operations, each once.
        let sorted = |program: &Program| {
            let mut insts = program.body.insts.clone();
            insts.sort_unstable();
            insts
        };
        assert_eq!(sorted(&ordered), sorted(&program));
    }
}

/// Two products of a matrix of 8 by 8 words with a vector each, one after the other.
fn two_products_of_one_matrix() -> Program {
    of_pairs(40, |build, words| {
        let (matrix, vectors) = words.split_at(64);
        let mut sums = Vec::new();
        for vector in vectors.chunks(8) {
            let mut rows = vec![vector[0]; 8];
            for (k, &factor) in vector.iter().enumerate() {
                for (row, sum) in rows.iter_mut().enumerate() {
                    let product = build.binary(Binary::And, matrix[8 * row + k], factor);
                    *sum = build.binary(Binary::Xor, *sum, product);
                }
            }
            sums.extend(rows);
        }
        tree(build, Binary::Or, sums)
    })
}

#[test]
fn products_with_a_factor_in_common_go_on_side_by_side() {
    let program = two_products_of_one_matrix();
    let other = order::within(program.clone(), 0);
    assert_eq!(verify(&other), Ok(()));
    // All of the matrix waits for the second product. Side by side two columns of it do, which are loaded together, with
    // two numbers of each vector, and of each row of both a sum and a product.
    let (before, after) = (live(&program), live(&other));
    assert!(before >= 64, "{before}");
    assert!(after <= 2 * (8 + 2) + 2 * 16, "{after}");
}

#[test]
fn what_fits_stays_as_it_is() {
    let program = sum(16);
    // Of a thread's registers 24 are for other things; 32 words and an address are live.
    assert_eq!(order::within(program.clone(), 24 + 34), program);
    assert_ne!(order::within(program.clone(), 24 + 31), program);
    assert_eq!(order::run(program.clone()), program);
    assert_eq!(order::sparing(&program), None);
    let program = sum(32);
    assert_eq!(order::run(program.clone()), program);
    assert!(order::sparing(&program).is_some());
    assert_ne!(order::run(sum(256)), sum(256));
}

#[test]
fn loads_stand_as_early_as_there_is_room() {
    let program = sum(256);
    let under_way = |program: &Program| {
        let insts = program.body.insts.iter().map(|&id| &program.insts[id].op);
        let before = insts.take_while(|op| !matches!(op, Op::Binary(_)));
        before.filter(|op| matches!(op, Op::Load { .. })).count()
    };
    for room in [24, 40, 100] {
        let other = order::within(program.clone(), 24 + room);
        assert_eq!(verify(&other), Ok(()));
        // An operation's operands and its result are counted together here. Partial sums of nine levels, an address of
        // two words, and pairs of words.
        assert!(live(&other) <= room as usize + 2, "{room}: {}", live(&other));
        assert!(2 * under_way(&other) + 13 >= room as usize, "{room}: {}", under_way(&other));
    }
    // Where registers leave room for 40 words of the 512, so many wait at once.
    assert_eq!(order::loaded_at_once(&program, 64), 40);
    assert_eq!(order::loaded_at_once(&sum(8), 64), 16);
}

#[test]
fn loads_stay_between_what_writes() {
    let access = Access::default();
    let (mut build, n) = build();
    let piece = build.shared(64, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let read = |build: &mut Builder| build.load(Space::Shared, access, DType::I32, 4, base, None);
    let before = read(&mut build);
    build.store(Space::Shared, access, base, None, &[n]);
    let after = read(&mut build);
    build.barrier(BarrierScope::Block);
    let later = read(&mut build);
    for (&x, (&y, &z)) in before.iter().zip(after.iter().zip(&later)) {
        let sum = build.binary(Binary::Add, x, y);
        let sum = build.binary(Binary::Add, sum, z);
        let not = build.unary(Unary::Neg, sum);
        keep(&mut build, base, not);
    }
    let program = build.finish();
    let ordered = order::within(program.clone(), 0);
    verify(&ordered).unwrap();
    let fixed = |program: &Program| {
        let insts = program.body.insts.iter().map(|&id| &program.insts[id].op);
        let memory = insts.filter(|op| op.effects() != crate::lane::Effects::NONE);
        memory.filter(|op| !op.effects().is_pure()).cloned().collect::<Vec<Op>>()
    };
    assert_eq!(fixed(&ordered), fixed(&program));
}

#[test]
fn long_chains_need_no_stack() {
    let run = || {
        // The last sum needs all others, and the last load is needed first.
        let program = of_pairs(50_000, |build, words| {
            let add = |sum, &word: &Value| build.binary(Binary::Xor, sum, word);
            words[1..].iter().rev().fold(words[0], add)
        });
        let ordered = order::within(program.clone(), 0);
        assert_eq!(live(&program), 100_000);
        assert!(live(&ordered) <= 4);
    };
    std::thread::Builder::new().stack_size(128 << 10).spawn(run).unwrap().join().unwrap();
}
