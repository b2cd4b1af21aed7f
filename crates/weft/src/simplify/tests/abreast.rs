//! Which loops an assembler is asked to give registers for their loads.

use super::{build, loop_to};
use crate::dtype::DType;
use crate::lane::{Access, BarrierScope, Builder, Multiprocessor, Param, Space, Value};
use crate::scalar::{Binary, Unary};
use crate::simplify::abreast;

/// For how many blocks of two warps there is room beside the loads of a loop that sums up what it loads, and does
/// more in each round.
fn blocks(rounds: impl FnOnce(&mut Builder, Value)) -> Option<u32> {
    kernel(|build, n, source| loop_to(build, n, |build, _| rounds(build, source)))
}

/// The same of any kernel.
fn kernel(body: impl FnOnce(&mut Builder, Value, Value)) -> Option<u32> {
    let (mut build, n) = build();
    let source = build.param(Param {
        name: "source".into(),
        dtype: DType::I64,
        pointee: Some(DType::F32),
        divisibility: 16,
    });
    body(&mut build, n, source);
    let mut program = build.finish();
    let shared_bytes = 227 << 10;
    program.multiprocessor =
        Some(Multiprocessor { registers: 1 << 16, shared_bytes, reserved_bytes: 1024 });
    abreast::blocks(&program)
}

/// A number from global memory, with so much arithmetic on it.
fn load(build: &mut Builder, source: Value, arithmetic: u32) {
    let mut value = build.load(Space::Global, Access::default(), DType::F32, 1, source, None)[0];
    for _ in 0..arithmetic {
        value = build.binary(Binary::Mul, value, value);
    }
    build.store(Space::Global, Access::default(), source, None, &[value]);
}

#[test]
fn half_of_the_warps_are_enough_where_a_round_waits_for_loads() {
    // 65,536 registers: 16 blocks of 64 threads with 64 each.
    assert_eq!(blocks(|build, source| load(build, source, 1)), Some(16));
    assert_eq!(blocks(|build, source| (0..3).for_each(|_| load(build, source, 30))), Some(16));
    assert_eq!(blocks(|_, _| ()), None);
}

#[test]
fn kernels_without_loops_have_loads_side_by_side_if_there_are_several() {
    let loads = |count| kernel(|build, _, source| (0..count).for_each(|_| load(build, source, 1)));
    assert_eq!([0, 1, 2].map(loads), [None, None, Some(16)]);
    // They begin together, however soon what they give is stored: 80 of them, the others, and a step of eight.
    assert_eq!([80, 110].map(loads), [Some(9), None]);
}

#[test]
fn one_loop_with_much_to_compute_decides_for_all() {
    let loops = |arithmetic| {
        kernel(|build, n, source| {
            loop_to(build, n, |build, _| load(build, source, 1));
            loop_to(build, n, |build, _| load(build, source, arithmetic));
        })
    };
    assert_eq!([1, 60].map(loops), [Some(16), None]);
}

#[test]
fn an_assembler_decides_where_other_warps_help_more() {
    assert_eq!(blocks(|build, source| load(build, source, 60)), None);
    let roots = |build: &mut Builder, source| {
        let mut value =
            build.load(Space::Global, Access::default(), DType::F32, 1, source, None)[0];
        for _ in 0..8 {
            value = build.unary(Unary::SqrtPrecise, value);
        }
        build.store(Space::Global, Access::default(), source, None, &[value]);
    };
    assert_eq!(blocks(roots), None);
    let meets = |build: &mut Builder, source| {
        load(build, source, 1);
        build.barrier(BarrierScope::Block);
    };
    assert_eq!(blocks(meets), None);
}

#[test]
fn what_is_live_at_once_has_its_registers() {
    let sums = |build: &mut Builder, source, count| {
        let access = Access::default();
        let mut all: Vec<Value> = Vec::new();
        for _ in 0..count {
            let one = build.load(Space::Global, access, DType::F32, 1, source, None)[0];
            all.push(build.binary(Binary::Mul, one, one));
        }
        for value in all {
            build.store(Space::Global, access, source, None, &[value]);
        }
    };
    // A hundred products, the others, and a step of eight.
    assert_eq!(blocks(|build, source| sums(build, source, 100)), Some(8));
    // Registers are scarce.
    assert_eq!(blocks(|build, source| sums(build, source, 110)), None);
}

#[test]
fn what_is_summed_up_as_it_comes_has_half_of_the_registers_in_front_of_a_barrier() {
    let sums = |count, arithmetic, behind| {
        kernel(|build, _, source| {
            let access = Access::default();
            let ones = |build: &mut Builder| {
                build.load(Space::Global, access, DType::F32, 4, source, None)
            };
            let mut sum = build.constant(DType::F32, 0);
            for _ in 0..count {
                for mut value in ones(build) {
                    for _ in 0..arithmetic {
                        value = build.binary(Binary::Mul, value, value);
                    }
                    sum = build.binary(Binary::Add, sum, value);
                }
            }
            build.barrier(BarrierScope::Block);
            for _ in 0..behind {
                let loaded = ones(build);
                build.store(Space::Global, access, source, None, &loaded);
            }
            build.store(Space::Global, access, source, None, &[sum]);
        })
    };
    assert_eq!([15, 16].map(|count| sums(count, 0, 0)), [None, Some(16)]);
    // Where half of the warps have as much to compute as a load takes, and where as much is loaded behind the barrier.
    assert_eq!([18, 19].map(|arithmetic| sums(17, arithmetic, 0)), [Some(16), None]);
    assert_eq!([16, 17].map(|behind| sums(17, 0, behind)), [Some(16), None]);
}
