//! Instances that wait for one another, and those that wait in vain.

use super::build::{Argument, Build, launch, place};
use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::dtype::DType;
use crate::scalar::{Binary, Compare};
use crate::tile::eval::{EvalError, Waiting};
use crate::tile::{Kernel, OpId, OpKind, Type, Value};

fn rmw(b: &mut Build, op: Rmw, pointer: Value, operand: Value) -> Value {
    let kind = OpKind::Atomic { op: op.into(), order: Order::AcqRel, scope: Scope::Gpu };
    b.op(kind, &[pointer, operand], &Type::scalar(DType::I32))
}

fn cells(values: &[f64]) -> Argument {
    Argument::Array(DType::I32, values.to_vec())
}

/// Each instance arrives, then waits until `expected` have arrived.
fn barrier(expected: impl FnOnce(&mut Build) -> Value) -> (Kernel, OpId) {
    let mut b = Build::new();
    let arrivals = b.pointer(DType::I32);
    let [zero, one] = [0.0, 1.0].map(|x| b.constant(DType::I32, x));
    let expected = expected(&mut b);
    rmw(&mut b, Rmw::Add, arrivals, one);
    let (id, _) = b.while_loop(
        &[zero],
        |b, p| b.compare(Compare::Slt, p[0], expected),
        |b, _| vec![rmw(b, Rmw::Add, arrivals, zero)],
    );
    (b.finish(), id)
}

#[test]
fn all_instances_meet_at_a_barrier_even_when_they_are_many() {
    let programs = |b: &mut Build| b.op(OpKind::NumPrograms(0), &[], &Type::scalar(DType::I32));
    for grid in [1, 2, 64, 65, 300] {
        let (kernel, _) = barrier(programs);
        let outcome = launch(&kernel, grid, vec![cells(&[0.0])]).unwrap();
        assert_eq!(outcome.array(0), [f64::from(grid)]);
    }
}

#[test]
fn a_barrier_that_waits_for_too_many_is_a_deadlock_in_its_loop() {
    let (kernel, id) = barrier(|b| b.constant(DType::I32, 100.0));
    let error = launch(&kernel, 70, vec![cells(&[0.0])]).err().unwrap();
    assert_eq!(error.loc(), Some(place(id)));
    assert_eq!(
        error.to_string(),
        "deadlock: 70 instances (the first is 0,0,0) go round loops in which nothing changes any \
         more"
    );
    let waiting = vec![Waiting { op: id, loc: place(id), instance: [0; 3], instances: 70 }];
    assert_eq!(error, EvalError::Deadlock { waiting });
}

#[test]
fn a_lock_is_taken_by_one_instance_at_a_time() {
    // lock(); a slow increment of a plain counter; unlock().
    let mut b = Build::new();
    let (lock, counter) = (b.pointer(DType::I32), b.pointer(DType::I32));
    let [zero, one, four] = [0.0, 1.0, 4.0].map(|x| b.constant(DType::I32, x));
    b.while_loop(
        &[one],
        |b, p| b.compare(Compare::Ne, p[0], zero),
        |b, _| {
            let kind = OpKind::Atomic { op: Atomic::Cas, order: Order::AcqRel, scope: Scope::Gpu };
            vec![b.op(kind, &[lock, zero, one], &Type::scalar(DType::I32))]
        },
    );
    let before = b.load(&[counter]);
    let after =
        b.for_loop([zero, four, one], &[before], |b, p| vec![b.binary(Binary::Add, p[1], one)]);
    b.store(&[counter, after[0]]);
    rmw(&mut b, Rmw::Exch, lock, zero);
    let outcome = launch(&b.finish(), 150, vec![cells(&[0.0]), cells(&[0.0])]).unwrap();
    assert_eq!(outcome.array(1), [600.0]);
}

#[test]
fn a_later_instance_releases_an_earlier_one_that_polls_by_writing() {
    // Memory changes in every turn, so that only time starts further instances.
    let mut b = Build::new();
    let (polls, flag) = (b.pointer(DType::I32), b.pointer(DType::I32));
    let program = b.program();
    let [zero, one, last] = [0.0, 1.0, 64.0].map(|x| b.constant(DType::I32, x));
    let releases = b.compare(Compare::Eq, program, last);
    b.if_else(
        releases,
        &[],
        |b| {
            b.store(&[flag, one]);
            vec![]
        },
        |_| vec![],
    );
    b.while_loop(
        &[zero],
        |b, p| b.compare(Compare::Eq, p[0], zero),
        |b, _| {
            rmw(b, Rmw::Add, polls, one);
            vec![b.load(&[flag])]
        },
    );
    let outcome = launch(&b.finish(), 65, vec![cells(&[0.0]), cells(&[0.0])]).unwrap();
    assert_eq!(outcome.array(1), [1.0]);
}

#[test]
fn waiting_in_circles_of_several_loops_is_a_deadlock() {
    // Polls the flag three times in an inner loop, for ever.
    let mut b = Build::new();
    let flag = b.pointer(DType::I32);
    let [zero, one, three] = [0.0, 1.0, 3.0].map(|x| b.constant(DType::I32, x));
    let (outer, _) = b.while_loop(
        &[zero],
        |b, p| b.compare(Compare::Eq, p[0], zero),
        |b, _| {
            b.for_loop([zero, three, one], &[zero], |b, p| {
                let seen = b.load(&[flag]);
                vec![b.binary(Binary::Or, p[1], seen)]
            })
        },
    );
    let kernel = b.finish();
    let error = launch(&kernel, 2, vec![cells(&[0.0])]).err().unwrap();
    let waiting = vec![Waiting { op: outer, loc: place(outer), instance: [0; 3], instances: 2 }];
    assert_eq!(error, EvalError::Deadlock { waiting });
    launch(&kernel, 2, vec![cells(&[1.0])]).unwrap();
}

#[test]
fn a_long_count_without_memory_is_no_deadlock() {
    let mut b = Build::new();
    let out = b.pointer(DType::I32);
    let [zero, one, many] = [0.0, 1.0, 5000.0].map(|x| b.constant(DType::I32, x));
    let sum = b.for_loop([zero, many, one], &[zero], |b, p| vec![b.binary(Binary::Xor, p[1], one)]);
    b.store(&[out, sum[0]]);
    let outcome = launch(&b.finish(), 1, vec![cells(&[9.0])]).unwrap();
    assert_eq!(outcome.array(0), [0.0]);
}

#[test]
fn a_run_that_never_repeats_is_ended_by_its_limit() {
    let mut b = Build::new();
    let cell = b.pointer(DType::I32);
    let one = b.constant(DType::I32, 1.0);
    b.while_loop(
        &[one],
        |b, _| b.constant(DType::I1, 1.0),
        |b, _| vec![rmw(b, Rmw::Add, cell, one)],
    );
    let error = launch(&b.finish(), 1, vec![cells(&[0.0])]).err().unwrap();
    assert!(matches!(error, EvalError::StepLimit { limit: 1_000_000, .. }), "{error}");
}
