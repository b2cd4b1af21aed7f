//! Addresses taken apart, against the sums that they are.

use super::{Dice, results};
use crate::dtype::DType;
use crate::lane::{Builder, IdKind, OFFSET_BYTES, Op, Value};
use crate::scalar::{self, Binary, Cast};

/// Numbers small and large, as thread and block may have them.
const WORDS: [u32; 8] = [5, 1000, 0x7fff_fc00, 0xffff_ffff, 64, 0, 0x1234_5678, 3];

/// One more number of 32 bits from two that are there.
fn step(build: &mut Builder, known: &[(Value, u32)], dice: &mut Dice) -> (Value, u32) {
    let [(x, a), (y, b)] = [(); 2].map(|()| known[dice.roll(known.len())]);
    let constant = |build: &mut Builder, bits: u32| (build.i32(bits.cast_signed()), bits);
    let (op, (y, b)) = match dice.roll(8) {
        0..3 => (Binary::Add, (y, b)),
        3 => ([Binary::Or, Binary::Xor][dice.roll(2)], (y, b)),
        4 => (Binary::Add, constant(build, [1, 16, 4096, u32::MAX, 1 << 31][dice.roll(5)])),
        5 => (Binary::Mul, constant(build, [3, 12, 1024, 1 << 20][dice.roll(4)])),
        6 => (Binary::Shl, constant(build, [1, 4, 10, 31][dice.roll(4)])),
        _ => (Binary::And, constant(build, [0xff, 0xfff0, 0x7fff_ffff][dice.roll(3)])),
    };
    let bits = scalar::binary(op, DType::I32).unwrap()(a.into(), b.into());
    (build.binary(op, x, y), bits as u32)
}

/// An address is its base, offset and distance, the base is uniform, and the offset reaches no further than it may.
#[test]
fn an_address_is_the_sum_of_its_parts() {
    let (mut apart, mut whole) = (0, 0);
    for seed in 0..600 {
        let mut expected = 0;
        let mut found: Option<u64> = None;
        let stored = results(&WORDS, seed, |build, inputs, dice| {
            let mut known: Vec<(Value, u32)> = Vec::new();
            let mut uniform: Vec<(Value, u32)> = Vec::new();
            for (&input, word) in inputs.iter().zip(WORDS) {
                if dice.roll(3) > 0 {
                    build.know_at_most(input, u64::from(word) + dice.roll(900) as u64);
                }
                if dice.roll(2) == 0 {
                    build.know_uniform(input);
                    uniform.push((input, word));
                }
                known.push((input, word));
            }
            for _ in 0..dice.roll(8) {
                let next = step(build, &known, dice);
                known.push(next);
            }
            let pointer = build.param_value(0);
            let mut address = pointer;
            for _ in 0..=dice.roll(3) {
                let (value, bits) = known[dice.roll(known.len())];
                let (cast, wide) = match dice.roll(2) {
                    0 => (Cast::ExtU, u64::from(bits)),
                    _ => (Cast::ExtS, i64::from(bits.cast_signed()).cast_unsigned()),
                };
                let value = build.cast(cast, value, DType::I64);
                let size = [1, 2, 4, 12, 1 << 16][dice.roll(5)];
                let times = build.constant(DType::I64, size);
                let value = build.binary(Binary::Mul, value, times);
                let op = [Binary::Add, Binary::Add, Binary::Sub][dice.roll(3)];
                address = build.binary(op, address, value);
                expected =
                    scalar::binary(op, DType::I64).unwrap()(expected, wide.wrapping_mul(size));
            }
            let Some(place) = build.behind_base(address) else { return vec![] };
            let (sum, distance) = build.apart(place);
            let inst = &build.program().insts[build.definitions[sum].unwrap()];
            assert_eq!(inst.op, Op::Offset);
            let [base, offset] = [inst.operands[0], inst.operands[1]];
            assert!(build.is_uniform(base));
            found = Some(distance);
            let beyond = build.binary(Binary::Sub, base, pointer);
            let count = build.constant(DType::I64, 32);
            let high = build.binary(Binary::ShrU, beyond, count);
            let [low, high] = [beyond, high].map(|half| build.cast(Cast::Trunc, half, DType::I32));
            vec![low, high, offset]
        });
        let Some(distance) = found else {
            whole += 1;
            continue;
        };
        apart += 1;
        let [low, high, offset] = stored[..] else { panic!("{stored:?}") };
        let sum = (low | high << 32).wrapping_add(offset).wrapping_add(distance);
        assert_eq!(sum, expected, "seed {seed}");
        assert!(offset + distance + 16 <= OFFSET_BYTES, "seed {seed}: {offset} + {distance}");
    }
    assert!(apart > 150 && whole > 150, "{apart} {whole}");
}

/// A near address is the base, and the offset what it takes to come from there to the sum.
#[test]
fn an_address_is_the_sum_of_a_near_one_and_an_offset() {
    let mut promised = 0;
    for seed in 0..300 {
        let mut expected = 0;
        let stored = results(&WORDS, seed, |build, inputs, dice| {
            let mut known: Vec<(Value, u32)> = inputs.iter().copied().zip(WORDS).collect();
            for _ in 0..dice.roll(8) {
                let next = step(build, &known, dice);
                known.push(next);
            }
            let pointer = build.param_value(0);
            build.know_near(pointer);
            let mut address = pointer;
            for _ in 0..=dice.roll(4) {
                let (value, bits) = known[dice.roll(known.len())];
                let value = build.cast(Cast::ExtS, value, DType::I64);
                let wide = i64::from(bits.cast_signed()).cast_unsigned();
                let by = [1, 4, 12, 1 << 16][dice.roll(4)];
                let times = build.constant(DType::I64, by);
                let value = build.binary(Binary::Mul, value, times);
                let op = [Binary::Add, Binary::Sub][dice.roll(2)];
                address = build.binary(op, address, value);
                expected = scalar::binary(op, DType::I64).unwrap()(expected, wide.wrapping_mul(by));
            }
            let place = build.behind_base(address).unwrap();
            let (sum, distance) = build.apart(place);
            let inst = &build.program().insts[build.definitions[sum].unwrap()];
            let [base, offset] = [inst.operands[0], inst.operands[1]];
            // What is proved may have another base.
            if base != pointer || distance != 0 {
                return vec![];
            }
            vec![offset]
        });
        for offset in stored {
            promised += 1;
            assert_eq!(offset, expected & 0xffff_ffff, "seed {seed}");
        }
    }
    assert!(promised > 200, "{promised}");
}

/// What is taken apart, and what is not for want of a proof.
#[test]
fn an_offset_is_proved_to_reach() {
    let four = |build: &mut Builder, x: Value, cast| {
        let wide = build.cast(cast, x, DType::I64);
        let two = build.constant(DType::I64, 2);
        build.binary(Binary::Shl, wide, two)
    };
    let all = |write: &dyn Fn(&mut Builder, [Value; 3]) -> Value| {
        let mut build = Builder::new("all", 4, 6);
        let [p, n] = [DType::I64, DType::I32].map(|dtype| {
            let (name, pointee) = ("x".into(), None);
            build.param(crate::lane::Param { name, dtype, pointee, divisibility: 1 })
        });
        build.know_uniform(p);
        build.know_uniform(n);
        let thread = build.id(IdKind::Thread);
        let index = write(&mut build, [p, n, thread]);
        let offset = four(&mut build, index, Cast::ExtS);
        let address = build.binary(Binary::Add, p, offset);
        build.behind_base(address).is_some()
    };
    // A thread's number is less than 256.
    assert!(all(&|_, [_, _, thread]| thread));
    // Nothing says how large the other number is: their sum may wrap.
    assert!(!all(&|build, [_, n, thread]| build.binary(Binary::Add, n, thread)));
    // If the sum is not negative, it has not.
    assert!(all(&|build, [_, n, thread]| {
        build.know_at_most(n, (1 << 31) - 1);
        let sum = build.binary(Binary::Add, n, thread);
        build.know_at_most(sum, (1 << 31) - 1);
        sum
    }));
    // 256 rows at a stride that nobody knows.
    assert!(!all(&|build, [_, n, thread]| build.binary(Binary::Mul, n, thread)));
    // 256 * 2^20 numbers of four bytes lie within 2^31 bytes, and 256 * 2^23 do not.
    for (count, reaches) in [(20, true), (23, false)] {
        let shifted = |build: &mut Builder, [_, _, thread]: [Value; 3]| {
            let count = build.i32(count);
            build.binary(Binary::Shl, thread, count)
        };
        assert_eq!(all(&shifted), reaches, "{count}");
    }
}
