//! Loops, branches, the grid.

use super::build::{Argument, Build, launch, tensor};
use crate::dtype::DType;
use crate::scalar::{Binary, Compare};
use crate::tile::eval::{EvalError, Options, run};
use crate::tile::{OpKind, Type};

fn zeros(dtype: DType, count: usize) -> Argument {
    Argument::Array(dtype, vec![0.0; count])
}

#[test]
fn a_for_carries_values_and_runs_while_below() {
    // The sum of the counters low, low + step, … < high, and twice the number of rounds.
    for (low, high, step) in [(0, 10, 1), (3, 10, 3), (-5, 6, 4), (7, 7, 1), (9, 2, 1)] {
        let mut b = Build::new();
        let out = b.pointer(DType::I32);
        let ty = Type::scalar(DType::I32);
        let bounds = [b.argument(&ty), b.argument(&ty), b.argument(&ty)];
        let zero = b.constant(DType::I32, 0.0);
        let two = b.constant(DType::I32, 2.0);
        let results = b.for_loop(bounds, &[zero, zero], |b, p| {
            vec![b.binary(Binary::Add, p[1], p[0]), b.binary(Binary::Add, p[2], two)]
        });
        let one = b.constant(DType::I32, 1.0);
        b.store_array(out, results[0]);
        let second = b.at(out, one);
        b.store(&[second, results[1]]);
        let scalar = |x: i32| Argument::Scalar(u64::from(x as u32));
        let arguments = vec![zeros(DType::I32, 2), scalar(low), scalar(high), scalar(step)];
        let got = launch(&b.finish(), 1, arguments).unwrap().array(0);
        let rounds: Vec<i32> = (low..high).step_by(step as usize).collect();
        let sum: i32 = rounds.iter().sum();
        assert_eq!(got, [f64::from(sum), 2.0 * rounds.len() as f64], "{low}..{high} by {step}");
    }
}

#[test]
fn tensors_are_carried_through_nested_loops() {
    // Three rounds of two rounds, each adding the outer counter to every element.
    let mut b = Build::new();
    let out = b.pointer(DType::I32);
    let [zero, one, two, three] = [0.0, 1.0, 2.0, 3.0].map(|x| b.constant(DType::I32, x));
    let start = b.range(8);
    let results = b.for_loop([zero, three, one], &[start], |b, outer| {
        let (counter, carried) = (outer[0], outer[1]);
        b.for_loop([zero, two, one], &[carried], |b, inner| {
            let more = b.splat(counter, &[8]);
            vec![b.binary(Binary::Add, inner[1], more)]
        })
    });
    b.store_array(out, results[0]);
    let outcome = launch(&b.finish(), 1, vec![zeros(DType::I32, 8)]).unwrap();
    assert_eq!(outcome.array(0), (6..14).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn a_while_gives_what_its_condition_hands_over() {
    // Collatz: how many steps from the instance's index plus one to 1.
    let mut b = Build::new();
    let out = b.pointer(DType::I32);
    let program = b.program();
    let [zero, one, two, three] = [0.0, 1.0, 2.0, 3.0].map(|x| b.constant(DType::I32, x));
    let start = b.binary(Binary::Add, program, one);
    let (_, results) = b.while_loop(
        &[start, zero],
        |b, p| b.compare(Compare::Ne, p[0], one),
        |b, p| {
            let odd = b.binary(Binary::And, p[0], one);
            let is_odd = b.compare(Compare::Eq, odd, one);
            let next = b.if_else(
                is_odd,
                &[Type::scalar(DType::I32)],
                |b| {
                    let tripled = b.binary(Binary::Mul, p[0], three);
                    vec![b.binary(Binary::Add, tripled, one)]
                },
                |b| vec![b.binary(Binary::DivS, p[0], two)],
            );
            vec![next[0], b.binary(Binary::Add, p[1], one)]
        },
    );
    let place = b.at(out, program);
    b.store(&[place, results[1]]);
    // More instances than are resident at first, so that ended ones make room.
    let outcome = launch(&b.finish(), 200, vec![zeros(DType::I32, 200)]).unwrap();
    assert_eq!(outcome.report.instances, 200);
    for (index, steps) in outcome.array(0).into_iter().enumerate() {
        let (mut x, mut wanted) = (index as u64 + 1, 0.0);
        while x != 1 {
            x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
            wanted += 1.0;
        }
        assert_eq!(steps, wanted, "from {}", index + 1);
    }
}

#[test]
fn the_grid_has_three_axes() {
    let mut b = Build::new();
    let out = b.pointer(DType::I32);
    let i32_type = Type::scalar(DType::I32);
    let [x, y, z] = [0, 1, 2].map(|axis| b.op(OpKind::ProgramId(axis), &[], &i32_type));
    let [nx, ny, nz] = [0, 1, 2].map(|axis| b.op(OpKind::NumPrograms(axis), &[], &i32_type));
    let plane = b.binary(Binary::Mul, z, ny);
    let row = b.binary(Binary::Add, plane, y);
    let rows = b.binary(Binary::Mul, row, nx);
    let index = b.binary(Binary::Add, rows, x);
    let place = b.at(out, index);
    let value = b.binary(Binary::Add, index, nz);
    b.store(&[place, value]);
    let kernel = b.finish();
    let mut memory = crate::memory::Memory::default();
    let address = memory.push(crate::memory::Buffer {
        name: "out".into(),
        bytes: vec![0; 4 * 30],
        dtype: DType::I32,
        initialised: false,
    });
    let report = run(&kernel, [2, 3, 5], &[address], &mut memory, Options::default()).unwrap();
    assert_eq!(report.instances, 30);
    for i in 0..30 {
        assert_eq!(memory.read(address + 4 * i, 4), Ok(i + 5));
    }
    let none = run(&kernel, [2, 0, 5], &[address], &mut memory, Options::default()).unwrap();
    assert_eq!(none.instances, 0);
}

#[test]
fn a_return_inside_a_branch_ends_the_instance() {
    let mut b = Build::new();
    let out = b.pointer(DType::I32);
    let program = b.program();
    let two = b.constant(DType::I32, 2.0);
    let late = b.compare(Compare::Sge, program, two);
    b.if_else(
        late,
        &[],
        |b| {
            b.effect(OpKind::Return, &[]);
            vec![]
        },
        |_| vec![],
    );
    let one = b.constant(DType::I32, 1.0);
    let place = b.at(out, program);
    b.store(&[place, one]);
    let outcome = launch(&b.finish(), 4, vec![zeros(DType::I32, 4)]).unwrap();
    assert_eq!(outcome.array(0), [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn a_launch_that_does_not_fit_is_refused() {
    let mut b = Build::new();
    b.pointer(DType::I32);
    let kernel = b.finish();
    let error = launch(&kernel, 1, vec![]).err().unwrap();
    assert_eq!(error, EvalError::Arguments { expected: 1, given: 0 });

    let mut b = Build::new();
    b.op(OpKind::Poison, &[], &tensor(DType::I8, &[1 << 40, 1 << 40]));
    let error = launch(&b.finish(), 1, vec![]).err().unwrap();
    assert!(matches!(error, EvalError::TooLarge { .. }), "{error}");

    let mut b = Build::new();
    let truth = b.constant(DType::F32, 1.0);
    b.binary(Binary::Xor, truth, truth);
    let error = launch(&b.finish(), 1, vec![]).err().unwrap();
    assert_eq!(error.to_string(), "xor: no operation on f32");

    let mut b = Build::new();
    let (x, y) = (b.range(8), b.range(4));
    let eight = b.compare(Compare::Eq, x, x);
    b.select(eight, x, y);
    let error = launch(&b.finish(), 1, vec![]).err().unwrap();
    assert_eq!(error.to_string(), "select: its operands differ in shape");
}
