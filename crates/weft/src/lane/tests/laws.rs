//! The laws, against the operations done one by one.

use super::{Dice, run};
use crate::dtype::DType;
use crate::lane::{Access, Builder, Op, Space, Value};
use crate::scalar::{self, Binary, Cast, Compare};

const TYPES: [DType; 7] =
    [DType::I1, DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F16];

/// Words of which some are equal, some zeros of either sign, some no numbers.
const WORDS: [u32; 10] =
    [5, 5, 0, 0x8000_0000, 1, 0xffff_ffff, 0x7fc0_0001, 0xffc0_0002, 0x3f80_0000, 0xbf80_0000];

/// A value and what it should be.
#[derive(Clone, Copy)]
struct Known {
    value: Value,
    bits: u64,
}

struct Game {
    build: Builder,
    /// By place in [`TYPES`].
    values: [Vec<Known>; 7],
    dice: Dice,
}

impl Game {
    fn pick(&mut self, ty: usize) -> Known {
        let values = &self.values[ty];
        values[self.dice.roll(values.len())]
    }

    fn integer(&mut self) -> usize {
        self.dice.roll(5)
    }

    fn xor(&mut self, x: Known, y: Known) -> Known {
        Known { value: self.build.binary(Binary::Xor, x.value, y.value), bits: x.bits ^ y.bits }
    }

    fn cast(&mut self, op: Cast, from: usize, to: usize, x: Known) -> Known {
        let value = self.build.cast(op, x.value, TYPES[to]);
        Known { value, bits: scalar::cast(op, TYPES[from], TYPES[to], x.bits) }
    }

    fn minus(&mut self, ty: usize, x: Known, y: Known) -> Known {
        let apply = scalar::binary(Binary::Sub, TYPES[ty]).unwrap();
        let value = self.build.binary(Binary::Sub, x.value, y.value);
        Known { value, bits: apply(x.bits, y.bits) }
    }

    /// A constant: zero, one, or all bits.
    fn number(&mut self, ty: usize) -> Known {
        let bits = [0, 1, TYPES[ty].mask()][self.dice.roll(3)];
        Known { value: self.build.constant(TYPES[ty], bits), bits }
    }

    /// A comparison of two values of a type, any that the type has.
    fn compare(&mut self, ty: usize, x: Known, y: Known) -> Known {
        loop {
            let op = Compare::ALL[self.dice.roll(Compare::ALL.len())];
            if let Some(apply) = scalar::compare(op, TYPES[ty]) {
                let value = self.build.compare(op, x.value, y.value);
                return Known { value, bits: apply(x.bits, y.bits) };
            }
        }
    }

    fn select(&mut self, condition: Known, x: Known, y: Known) -> Known {
        let value = self.build.select(condition.value, x.value, y.value);
        Known { value, bits: if condition.bits == 1 { x.bits } else { y.bits } }
    }

    /// One more value, of the type at this place.
    fn step(&mut self) -> (usize, Known) {
        match self.dice.roll(12) {
            0 => {
                let ty = self.integer();
                let (x, y) = (self.pick(ty), self.pick(ty));
                (ty, self.xor(x, y))
            }
            1 => {
                let ty = self.integer();
                let (x, y) = (self.pick(ty), self.pick(ty));
                let sum = self.xor(x, y);
                let turned = self.dice.roll(2) == 0;
                (ty, if turned { self.xor(x, sum) } else { self.xor(sum, y) })
            }
            2 => {
                let (from, to) = [(3, 5), (5, 3)][self.dice.roll(2)];
                let x = self.pick(from);
                (to, self.cast(Cast::Bits, from, to, x))
            }
            3 => {
                let ty = self.dice.roll(TYPES.len());
                let (x, y) = (self.pick(ty), self.pick(ty));
                (0, self.compare(ty, x, y))
            }
            4 => {
                let from = self.dice.roll(4);
                let to = from + 1 + self.dice.roll(4 - from);
                let x = self.pick(from);
                (to, self.cast(Cast::ExtU, from, to, x))
            }
            5 => {
                let ty = 1 + self.dice.roll(4);
                let x = self.pick(ty);
                let bits = [1, 3, 0][self.dice.roll(3)];
                let mask = self.build.constant(TYPES[ty], bits);
                let value = self.build.binary(Binary::And, x.value, mask);
                (ty, Known { value, bits: x.bits & bits })
            }
            // A choice between two that are compared, inverted or not by another truth.
            6 => {
                let ty = self.dice.roll(TYPES.len());
                let (x, y) = (self.pick(ty), self.pick(ty));
                let mut condition = self.compare(ty, x, y);
                if self.dice.roll(2) == 0 {
                    let by = self.pick(0);
                    condition = self.xor(condition, by);
                }
                let (x, y) = if self.dice.roll(2) == 0 { (x, y) } else { (y, x) };
                (ty, self.select(condition, x, y))
            }
            // A difference of a difference, as -x - 1 is.
            7 => {
                let ty = self.integer();
                let (x, y) = (self.pick(ty), self.pick(ty));
                let first = self.minus(ty, x, y);
                let less = self.number(ty);
                (ty, self.minus(ty, first, less))
            }
            // An integer or its inverse, by a comparison with zero.
            8 => {
                let ty = self.integer();
                let (x, number) = (self.pick(ty), self.number(ty));
                let inverse = self.xor(x, number);
                let zero = Known { value: self.build.constant(TYPES[ty], 0), bits: 0 };
                let condition = self.compare(ty, x, zero);
                let (x, y) = if self.dice.roll(2) == 0 { (x, inverse) } else { (inverse, x) };
                (ty, self.select(condition, x, y))
            }
            // A comparison of floats that were halves, or of one with a constant.
            9 => {
                let (x, y) = (self.pick(6), self.pick(6));
                let mut wide = [x, y].map(|half| self.cast(Cast::Float, 6, 5, half));
                if self.dice.roll(2) == 0 {
                    // Half of these are halves.
                    let bits = [0xff80_0000, 0x3f80_0000, 0x7fc0_0000, 0x3f80_0001, 0x4780_0000];
                    let bits = bits[self.dice.roll(bits.len())];
                    let value = self.build.constant(DType::F32, bits);
                    wide[self.dice.roll(2)] = Known { value, bits };
                }
                (0, self.compare(5, wide[0], wide[1]))
            }
            // An operation on floats, one or both of them chosen from others or a constant.
            10 => {
                let ty = 5 + self.dice.roll(2);
                let (x, mut y, condition) = (self.pick(ty), self.pick(ty), self.pick(0));
                // Of two NaNs either may be the result.
                if [x, y].iter().all(|known| scalar::to_f64(TYPES[ty], known.bits).is_nan()) {
                    y = Known { value: self.build.constant(TYPES[ty], 0), bits: 0 };
                }
                let one = [0x3f80_0000, 0x3c00][ty - 5];
                let [zero, other] = [0, one]
                    .map(|bits| Known { value: self.build.constant(TYPES[ty], bits), bits });
                let left = self.select(condition, x, zero);
                let right = match self.dice.roll(3) {
                    0 => other,
                    1 => y,
                    _ => self.select(condition, y, other),
                };
                let op = [Binary::Add, Binary::Mul, Binary::MaxNum][self.dice.roll(3)];
                let value = self.build.binary(op, left.value, right.value);
                let apply = scalar::binary(op, TYPES[ty]).unwrap();
                (ty, Known { value, bits: apply(left.bits, right.bits) })
            }
            _ => {
                let ty = self.dice.roll(TYPES.len());
                let (condition, x, y) = (self.pick(0), self.pick(ty), self.pick(ty));
                (ty, self.select(condition, x, y))
            }
        }
    }
}

#[test]
fn laws_give_what_the_operations_give() {
    for seed in 0..300 {
        let made = run(&WORDS, seed, |build, inputs, dice| {
            let mut game = Game {
                build: core::mem::replace(build, Builder::new("", 1, 5)),
                values: Default::default(),
                dice: Dice(dice.0),
            };
            for (&value, bits) in inputs.iter().zip(WORDS) {
                game.values[3].push(Known { value, bits: u64::from(bits) });
            }
            for bits in [0xfc00, 0x3c00] {
                let value = game.build.constant(DType::F16, bits);
                game.values[6].push(Known { value, bits });
            }
            for bits in 0..2 {
                let value = game.build.constant(DType::I1, bits);
                game.values[0].push(Known { value, bits });
                let value = game.build.i32(bits as i32);
                game.values[3].push(Known { value, bits });
            }
            for index in 0..4 {
                let x = game.values[3][index];
                for to in [1, 2] {
                    let narrow = game.cast(Cast::Trunc, 3, to, x);
                    game.values[to].push(narrow);
                }
                for (op, to) in [(Cast::ExtS, 4), (Cast::Bits, 5)] {
                    let other = game.cast(op, 3, to, x);
                    game.values[to].push(other);
                }
                let half = game.values[2][index];
                let half = game.cast(Cast::Bits, 2, 6, half);
                game.values[6].push(half);
            }
            for _ in 0..60 {
                let (ty, known) = game.step();
                game.values[ty].push(known);
            }
            let mut made = Vec::new();
            for (ty, &dtype) in TYPES.iter().enumerate() {
                for known in core::mem::take(&mut game.values[ty]) {
                    // The low word of each.
                    let mut value = known.value;
                    if dtype == DType::F16 {
                        value = game.build.cast(Cast::Bits, value, DType::I16);
                    }
                    let op = match dtype {
                        DType::F32 => Cast::Bits,
                        DType::I64 => Cast::Trunc,
                        _ => Cast::ExtU,
                    };
                    let value = game.build.cast(op, value, DType::I32);
                    made.push((value, known.bits & 0xffff_ffff));
                }
            }
            *build = game.build;
            made
        });
        assert!(made > 60, "seed {seed}");
    }
}

/// Two arguments of a type.
fn two(build: &mut Builder, dtype: DType) -> [Value; 2] {
    ["x", "y"].map(|name| {
        let (name, pointee) = (name.into(), None);
        build.param(crate::lane::Param { name, dtype, pointee, divisibility: 1 })
    })
}

#[test]
fn a_partner_said_by_sums_is_the_partner() {
    let mut build = Builder::new("partner", 1, 5);
    let [x, y] = two(&mut build, DType::F32);
    let [x_bits, y_bits] = [x, y].map(|value| build.cast(Cast::Bits, value, DType::I32));
    let sum = build.binary(Binary::Xor, x_bits, y_bits);
    let partner = build.binary(Binary::Xor, x_bits, sum);
    assert_eq!(build.cast(Cast::Bits, partner, DType::F32), y);
}

/// How many operations are left of a program that stores this, and what they are.
fn left(mut build: Builder, value: Value) -> Vec<Op> {
    let address = build.constant(DType::I64, 64);
    build.store(Space::Global, Access::default(), address, None, &[value]);
    let program = crate::simplify::sweep::run(build.finish());
    let mut ops = Vec::new();
    program.walk(&program.body, &mut |_, inst| {
        if !matches!(inst.op, Op::Const(_) | Op::Param(_) | Op::Store { .. } | Op::Return) {
            ops.push(inst.op.clone());
        }
    });
    ops
}

#[test]
fn an_integer_inverted_below_zero_takes_its_sign_in_every_bit() {
    for written_as_difference in [true, false] {
        let mut build = Builder::new("magnitude", 1, 5);
        let [x, _] = two(&mut build, DType::I32);
        let [zero, one, ones] = [0, 1, -1].map(|number| build.i32(number));
        let below = build.compare(Compare::Slt, x, zero);
        let inverse = if written_as_difference {
            let negative = build.binary(Binary::Sub, zero, x);
            build.binary(Binary::Sub, negative, one)
        } else {
            build.binary(Binary::Xor, x, ones)
        };
        let magnitude = build.select(below, inverse, x);
        let wanted = [Op::Binary(Binary::ShrS), Op::Binary(Binary::Xor)];
        assert_eq!(left(build, magnitude), wanted);
    }
}

#[test]
fn halves_are_compared_as_halves_where_the_constant_is_one() {
    for (bits, narrow) in [(0xff80_0000, true), (0x3f80_0001, false)] {
        let mut build = Builder::new("compare", 1, 5);
        let [x, _] = two(&mut build, DType::F16);
        let wide = build.cast(Cast::Float, x, DType::F32);
        let constant = build.constant(DType::F32, bits);
        let equal = build.compare(Compare::Oeq, wide, constant);
        let equal = build.cast(Cast::ExtU, equal, DType::I32);
        let (widens, compares) = (Op::Cast(Cast::Float), Op::Compare(Compare::Oeq));
        let mut wanted = vec![widens, compares, Op::Cast(Cast::ExtU)];
        if narrow {
            wanted.remove(0);
        }
        assert_eq!(left(build, equal), wanted);
    }
}

#[test]
fn numbers_made_of_integers_equal_themselves() {
    let mut build = Builder::new("ordered", 1, 5);
    let [integer, _] = two(&mut build, DType::I32);
    let [any, _] = two(&mut build, DType::F32);
    let number = build.cast(Cast::FloatFromS, integer, DType::F32);
    let constant =
        |build: &mut Builder, number: f32| build.constant(DType::F32, u64::from(number.to_bits()));
    let [half, zero, infinite] = [0.5, 0.0, f32::INFINITY].map(|bits| constant(&mut build, bits));
    let mut is_nan = |op: Binary, x: Value, y: Value| {
        let made = build.binary(op, x, y);
        let differs = build.compare(Compare::Une, made, made);
        build.constant_bits(differs)
    };
    for op in [Binary::Add, Binary::Mul, Binary::MaxNum] {
        assert_eq!(is_nan(op, number, half), Some(0));
    }
    assert_eq!(is_nan(Binary::Mul, number, zero), Some(0));
    // Infinity by zero, infinities of both signs, and what may be any number at all.
    assert_eq!(is_nan(Binary::Mul, number, infinite), None);
    assert_eq!(is_nan(Binary::Add, any, half), None);
    assert_eq!(is_nan(Binary::Mul, any, zero), None);
    assert_eq!(is_nan(Binary::MaxNum, any, zero), Some(0));
}

#[test]
fn what_one_condition_lets_through_is_chosen_once() {
    let mut build = Builder::new("masked", 1, 5);
    let [x, y] = two(&mut build, DType::F32);
    let zero = build.constant(DType::F32, 0);
    let condition = build.compare(Compare::Olt, x, y);
    let chosen = [x, y].map(|value| build.select(condition, value, zero));
    let sum = build.binary(Binary::Add, chosen[0], chosen[1]);
    let sum = build.binary(Binary::Add, sum, zero);
    let add = || Op::Binary(Binary::Add);
    assert_eq!(left(build, sum), [Op::Compare(Compare::Olt), add(), add(), Op::Select]);
}

#[test]
fn an_exchange_is_one_comparison_and_two_choices() {
    for (dtype, comparisons, choices, extremes) in
        [(DType::I64, 1, 2, 0), (DType::I32, 0, 0, 2), (DType::F32, 2, 2, 0)]
    {
        let mut build = Builder::new("exchange", 1, 5);
        let [x, y] = two(&mut build, dtype);
        let op = if dtype == DType::F32 { Compare::Ogt } else { Compare::Sgt };
        let [zero, one] = [0, 1].map(|right| build.i32(right));
        // Each element looks at its partner; the right one keeps the greater.
        let kept = [(x, y, zero), (y, x, one)].map(|(own, other, right)| {
            let greater = build.compare(op, own, other);
            let greater = build.cast(Cast::ExtU, greater, DType::I32);
            let swaps = build.compare(Compare::Ne, greater, right);
            build.select(swaps, other, own)
        });
        let address = build.constant(DType::I64, 64);
        build.store(Space::Global, Access::default(), address, None, &kept);
        let program = crate::simplify::sweep::run(build.finish());
        let count = |wanted: fn(&Op) -> bool| {
            let mut count = 0;
            program.walk(&program.body, &mut |_, inst| count += usize::from(wanted(&inst.op)));
            count
        };
        assert_eq!(count(|op| matches!(op, Op::Compare(_))), comparisons, "{program}");
        assert_eq!(count(|op| matches!(op, Op::Select)), choices, "{program}");
        assert_eq!(count(|op| matches!(op, Op::Binary(_))), extremes, "{program}");
    }
}
