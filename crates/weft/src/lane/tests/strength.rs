//! Sums with multiples of uniform numbers, against sums that are computed as they stand.

use super::{Dice, run};
use crate::dtype::DType;
use crate::lane::{Access, Builder, IdKind, Op, Param, Program, Space, Value, verify};
use crate::scalar::{self, Binary, Cast, Compare};
use crate::simplify;

/// A value and what it should be.
type Known = (Value, u64);

const WORDS: [u32; 6] = [7, 0xffff_fff9, 1 << 30, 96, 0, 0x8000_0003];

/// One more number from two that are there.
fn step(build: &mut Builder, known: &[Known], dice: &mut Dice) -> Known {
    let [(x, a), (y, b)] = [(); 2].map(|()| known[dice.roll(known.len())]);
    let (op, (y, b)) = match dice.roll(6) {
        0..3 => {
            let bits = [8, 16, 24, 1, u64::MAX, 1 << 63][dice.roll(6)];
            (Binary::Add, (build.constant(DType::I64, bits), bits))
        }
        3 => ([Binary::Add, Binary::Sub][dice.roll(2)], (y, b)),
        4 => (Binary::Mul, (y, b)),
        _ => {
            let op = [Binary::Mul, Binary::Shl][dice.roll(2)];
            let bits = [1, 3, 12, 63][dice.roll(4)];
            (op, (build.constant(DType::I64, bits), bits))
        }
    };
    let (x, y, a, b) = if dice.roll(2) == 0 || op == Binary::Shl || op == Binary::Sub {
        (x, y, a, b)
    } else {
        (y, x, b, a)
    };
    (build.binary(op, x, y), scalar::binary(op, DType::I64).unwrap()(a, b))
}

/// In regions too, of which one does not see what another made.
#[test]
fn sums_by_the_laws_are_the_sums() {
    let mut distances = 0;
    for seed in 0..300 {
        run(&WORDS, seed, |build, inputs, dice| {
            let mut known: Vec<Known> = Vec::new();
            for (&input, word) in inputs.iter().zip(WORDS) {
                let wide = build.cast(Cast::ExtS, input, DType::I64);
                if dice.roll(2) == 0 {
                    build.know_uniform(wide);
                }
                known.push((wide, i64::from(word.cast_signed()).cast_unsigned()));
            }
            let zero = build.i32(0);
            let holds = build.compare(Compare::Eq, inputs[0], zero);
            let mut made = Vec::new();
            for _ in 0..4 {
                for _ in 0..6 {
                    let next = step(build, &known, dice);
                    known.push(next);
                }
                let (outside, mut expected) = (known.len(), 0);
                let regions = [(); 2].map(|()| {
                    build.open_region(&[]);
                    for _ in 0..8 {
                        let next = step(build, &known, dice);
                        known.push(next);
                    }
                    let (last, bits) = known[known.len() - 1];
                    known.truncate(outside);
                    expected = bits;
                    build.close_region(Op::Yield, &[last])
                });
                let [then, otherwise] = regions;
                let results = build.if_(holds, then, otherwise, &[DType::I64]);
                known.push((results[0], expected));
            }
            let count = build.constant(DType::I64, 32);
            for &(value, bits) in &known {
                let high = build.binary(Binary::ShrU, value, count);
                for (half, bits) in [(value, bits), (high, bits >> 32)] {
                    let half = build.cast(Cast::Trunc, half, DType::I32);
                    made.push((half, bits & 0xffff_ffff));
                }
            }
            distances += build.strided.len();
            made
        });
    }
    assert!(distances > 500, "{distances}");
}

/// An argument.
fn argument(build: &mut Builder, name: &str, pointee: Option<DType>) -> Value {
    build.param(Param { name: name.into(), dtype: DType::I64, pointee, divisibility: 1 })
}

/// The elements of a thread, eight rows from one another, in a column of its own.
fn elements(build: &mut Builder, base: Value, first: Value, stride: Value) -> Vec<Value> {
    let lane = build.id(IdKind::Lane);
    let lane = build.cast(Cast::ExtS, lane, DType::I64);
    let two = build.constant(DType::I64, 2);
    let addresses = (0..8).map(|row| {
        let rows = build.constant(DType::I64, 8 * row);
        let row = build.binary(Binary::Add, lane, rows);
        let row = build.binary(Binary::Add, row, first);
        let offset = build.binary(Binary::Mul, row, stride);
        let offset = build.binary(Binary::Add, offset, lane);
        let offset = build.binary(Binary::Shl, offset, two);
        build.binary(Binary::Add, base, offset)
    });
    addresses.collect()
}

fn touch(build: &mut Builder, addresses: &[Value]) {
    for &address in addresses {
        let zero = build.constant(DType::F32, 0);
        build.store(Space::Global, Access::default(), address, None, &[zero]);
    }
}

fn count(program: &Program, wanted: impl Fn(&Op, DType) -> bool) -> usize {
    let mut count = 0;
    program.walk(&program.body, &mut |_, inst| {
        let dtype = inst.results.first().map(|&result| program.dtype(result));
        count += usize::from(dtype.is_some_and(|dtype| wanted(&inst.op, dtype)));
    });
    count
}

#[test]
fn rows_at_a_stride_are_sums_with_one_address() {
    let mut build = Builder::new("rows", 1, 5);
    let base = argument(&mut build, "base", Some(DType::F32));
    let [first, stride] = ["first", "stride"].map(|name| argument(&mut build, name, None));
    let addresses = elements(&mut build, base, first, stride);
    touch(&mut build, &addresses);
    let program = simplify::run(build.finish());
    assert_eq!(verify(&program), Ok(()));
    // Of the first row; the distance of the others is a shifted stride.
    assert_eq!(count(&program, |op, _| *op == Op::Binary(Binary::Mul)), 1, "{program}");
    // Those of the first row, and one for each other.
    let sums = count(&program, |op, ty| *op == Op::Binary(Binary::Add) && ty == DType::I64);
    assert_eq!(sums, 3 + 7, "{program}");
}

#[test]
fn a_loop_keeps_one_address_and_a_distance() {
    let mut build = Builder::new("loop", 1, 5);
    let base = argument(&mut build, "base", Some(DType::F32));
    let stride = argument(&mut build, "stride", None);
    let zero = build.constant(DType::I64, 0);
    let target = build.new_loop(&[zero], &[]);
    let counter = build.open_region(&[DType::I64])[0];
    build.know_uniform(counter);
    let end = build.constant(DType::I64, 1024);
    let done = build.compare(Compare::Sge, counter, end);
    build.break_if(target, done, &[]);
    let moved = build.binary(Binary::Mul, counter, stride);
    let corner = build.binary(Binary::Add, base, moved);
    let addresses = elements(&mut build, corner, zero, stride);
    touch(&mut build, &addresses);
    let more = build.constant(DType::I64, 64);
    let next = build.binary(Binary::Add, counter, more);
    let region = build.close_region(Op::Continue, &[next]);
    build.place_loop(target, region);
    let program = simplify::run(build.finish());
    assert_eq!(verify(&program), Ok(()));
    let body = program.insts.values().find(|inst| inst.op == Op::Loop).unwrap();
    let body = &body.regions[0];
    let mut inside: Vec<Value> = body.params.clone();
    let mut outside: Vec<Value> = Vec::new();
    program.walk(body, &mut |_, inst| {
        inside.extend(&inst.results);
        let wide = |value: &&Value| program.dtype(**value) == DType::I64;
        outside.extend(inst.operands.iter().filter(wide));
    });
    outside.sort();
    outside.dedup();
    outside.retain(|value| !inside.contains(value));
    let is_constant = |value: &Value| {
        program
            .insts
            .values()
            .any(|inst| inst.results[..] == [*value] && matches!(inst.op, Op::Const(_)))
    };
    outside.retain(|value| !is_constant(value));
    // The base with the thread's part of the addresses, the stride, and eight strides in bytes.
    assert_eq!(outside.len(), 3, "{program}");
}

#[test]
fn sums_that_are_the_same_in_the_whole_block_stay_as_they_are() {
    let mut build = Builder::new("uniform", 1, 5);
    let [x, stride] = ["x", "stride"].map(|name| argument(&mut build, name, None));
    let eight = build.constant(DType::I64, 8);
    let row = build.binary(Binary::Add, x, eight);
    let offset = build.binary(Binary::Mul, row, stride);
    assert_eq!(build.definition(offset), Some(&Op::Binary(Binary::Mul)));
    let lane = build.id(IdKind::Lane);
    let lane = build.cast(Cast::ExtS, lane, DType::I64);
    let row = build.binary(Binary::Add, lane, eight);
    let offset = build.binary(Binary::Mul, row, stride);
    assert_eq!(build.definition(offset), Some(&Op::Binary(Binary::Add)));
}
