//! Which bits may be set, against numbers that are computed.

use super::Dice;
use crate::dtype::DType;
use crate::lane::{Builder, IdKind, Op, Param, Value};
use crate::scalar::{self, Binary, Cast, Compare};

const TYPES: [DType; 3] = [DType::I8, DType::I32, DType::I64];
const OPS: [Binary; 16] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::Shl,
    Binary::ShrU,
    Binary::ShrS,
    Binary::MaxS,
    Binary::MinS,
    Binary::MaxU,
    Binary::MinU,
    Binary::DivS,
    Binary::RemS,
    Binary::DivU,
];

fn number(dtype: DType) -> Param {
    Param { name: "n".into(), dtype, pointee: None, divisibility: 1 }
}

/// A value, and what it is in each of some runs.
#[derive(Clone)]
struct Known {
    value: Value,
    bits: Vec<u64>,
}

/// Programs of random operations on arguments of which it is known what they are at most.
///
/// What the builder makes of an operation, folded or not, must be what the operation gives in every run, and
/// no bit may be set that is said to be clear.
#[test]
fn no_other_bit_is_set() {
    let (mut decided, mut narrow) = (0, 0);
    for seed in 0..400 {
        let mut dice = Dice(seed);
        let mut build = Builder::new("numbers", 1, 5);
        let mut known: Vec<Vec<Known>> = vec![vec![]; TYPES.len()];
        let mut truths: Vec<Known> = Vec::new();
        let mut all: Vec<Known> = Vec::new();
        for (ty, &dtype) in TYPES.iter().enumerate() {
            for _ in 0..3 {
                let value = build.param(number(dtype));
                let most = dtype.mask() >> dice.roll(dtype.bits() as usize);
                build.know_at_most(value, most);
                let bits = (0..16).map(|_| dice.bits() & most).chain([0, most]).collect();
                known[ty].push(Known { value, bits });
            }
            for bits in [0, 1, 5, 12, dtype.mask(), dtype.mask() >> 1] {
                let value = build.constant(dtype, bits);
                known[ty].push(Known { value, bits: vec![bits; 18] });
            }
        }
        for _ in 0..60 {
            let ty = dice.roll(TYPES.len());
            let [x, y] = [(); 2].map(|()| known[ty][dice.roll(known[ty].len())].clone());
            let pairs = || x.bits.iter().zip(&y.bits);
            match dice.roll(6) {
                0..3 => {
                    let op = OPS[dice.roll(OPS.len())];
                    let apply = scalar::binary(op, TYPES[ty]).unwrap();
                    let value = build.binary(op, x.value, y.value);
                    let bits = pairs().map(|(&x, &y)| apply(x, y)).collect();
                    known[ty].push(Known { value, bits });
                }
                3 => {
                    let op = Compare::ALL[dice.roll(Compare::ALL.len())];
                    let Some(apply) = scalar::compare(op, TYPES[ty]) else { continue };
                    let value = build.compare(op, x.value, y.value);
                    let bits: Vec<u64> = pairs().map(|(&x, &y)| apply(x, y)).collect();
                    decided += usize::from(build.constant_bits(value).is_some());
                    truths.push(Known { value, bits });
                }
                4 => {
                    let (from, to) = (TYPES[ty], dice.roll(TYPES.len()));
                    let op = match TYPES[to].bits().cmp(&from.bits()) {
                        core::cmp::Ordering::Less => Cast::Trunc,
                        core::cmp::Ordering::Equal => continue,
                        core::cmp::Ordering::Greater => [Cast::ExtS, Cast::ExtU][dice.roll(2)],
                    };
                    let value = build.cast(op, x.value, TYPES[to]);
                    let bits = x.bits.iter().map(|&x| scalar::cast(op, from, TYPES[to], x));
                    known[to].push(Known { value, bits: bits.collect() });
                }
                _ => {
                    let Some(by) = truths.last().cloned() else { continue };
                    let value = build.select(by.value, x.value, y.value);
                    let bits =
                        pairs().zip(&by.bits).map(|((&x, &y), &by)| if by == 1 { x } else { y });
                    known[ty].push(Known { value, bits: bits.collect() });
                }
            }
        }
        all.extend(known.into_iter().flatten());
        all.extend(truths);
        for one in &all {
            let possible = build.possible_bits(one.value);
            narrow += usize::from(possible != build.dtype(one.value).mask());
            for &bits in &one.bits {
                assert_eq!(bits & !possible, 0, "seed {seed}, {}", one.value);
                if let Some(constant) = build.constant_bits(one.value) {
                    assert_eq!(bits, constant, "seed {seed}, {}", one.value);
                }
            }
        }
    }
    assert!(decided > 400 && narrow > 4000, "{decided} {narrow}");
}

/// What is past the end of a row in every block and thread takes neither a comparison nor a load.
#[test]
fn a_tile_larger_than_its_row_is_not_computed_whole() {
    let mut build = Builder::new("row", 8, 5);
    let (block, thread) = (build.id(IdKind::Block(1)), build.id(IdKind::Thread));
    build.know_at_most(block, 0xffff);
    let [size, end] = [4096, 5].map(|number| build.i32(number));
    let first = build.binary(Binary::Mul, block, size);
    let index = build.binary(Binary::Add, first, thread);
    let truth_at = |build: &mut Builder, step: i32| {
        let step = build.i32(step);
        let index = build.binary(Binary::Add, index, step);
        let within = build.natural_comparison(Compare::Slt, index, end);
        build.constant_bits(within)
    };
    assert_eq!(truth_at(&mut build, 0), None);
    assert_eq!(truth_at(&mut build, 256), Some(0));
    assert_eq!(truth_at(&mut build, 3840), Some(0));
}

/// A quotient of widened numbers takes no division of 64 bits.
#[test]
fn quotients_are_as_narrow_as_their_numbers() {
    let mut build = Builder::new("narrow", 1, 5);
    let divisor = build.param(number(DType::I32));
    let block = build.id(IdKind::Block(0));
    build.know_at_most(block, 0x7fff_fffe);
    let [n, d] = [block, divisor].map(|value| build.cast(Cast::ExtS, value, DType::I64));
    let quotient = build.binary(Binary::DivS, n, d);
    let rest = build.binary(Binary::RemS, n, d);
    let program = build.finish_with(&[quotient, rest]);
    let divisions: Vec<DType> = program
        .insts
        .values()
        .filter(|inst| matches!(inst.op, Op::Binary(Binary::DivS | Binary::RemS)))
        .map(|inst| program.dtype(inst.results[0]))
        .collect();
    assert_eq!(divisions, [DType::I32]);
}

/// An integer that an f32 holds exactly becomes a bf16 by way of one, and one that 32 bits hold is converted as such.
#[test]
fn integers_become_floats_by_what_holds_them() {
    let steps = |from: DType, op: Cast, most: u64, to: DType| {
        let mut build = Builder::new("counted", 1, 5);
        let x = build.param(number(from));
        build.know_at_most(x, most);
        let made = build.cast(op, x, to);
        let program = build.finish_with(&[made]);
        let casts = program.insts.values().filter_map(|inst| match inst.op {
            Op::Cast(op) => Some((op, program.dtype(inst.results[0]))),
            _ => None,
        });
        casts.collect::<Vec<_>>()
    };
    let by_single = [(Cast::FloatFromS, DType::F32), (Cast::Float, DType::BF16)];
    let by_word = [(Cast::Trunc, DType::I32), by_single[0]];
    let exact = 1 << 24;
    for op in [Cast::FloatFromS, Cast::FloatFromU] {
        assert_eq!(steps(DType::I32, op, 15, DType::BF16), by_single);
        assert_eq!(steps(DType::I32, op, exact, DType::BF16).len(), 1);
        assert_eq!(steps(DType::I32, op, 15, DType::F16), [(op, DType::F16)]);
        assert_eq!(steps(DType::I64, op, 0x7fff_ffff, DType::F32), by_word);
        assert_eq!(steps(DType::I64, op, 0x8000_0000, DType::F32), [(op, DType::F32)]);
    }
    // One rounding is as good as two, the first of which loses nothing.
    let mut dice = Dice(7);
    let drawn = (0..10_000).map(|_| dice.bits() % (2 * exact + 1));
    for x in drawn.chain([0, 2 * exact]).map(|x| x.wrapping_sub(exact) & 0xffff_ffff) {
        let once = scalar::cast(Cast::FloatFromS, DType::I32, DType::BF16, x);
        let single = scalar::cast(Cast::FloatFromS, DType::I32, DType::F32, x);
        assert_eq!(scalar::cast(Cast::Float, DType::F32, DType::BF16, single), once);
    }
}
