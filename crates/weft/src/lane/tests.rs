//! Words of bytes, against bytes that are followed one by one.

mod base;
mod differences;
mod known_bits;
mod laws;
mod refused;
mod strength;

use super::{Access, Builder, Op, Param, Space, Value, verify};
use crate::dtype::DType;
use crate::memory::{Buffer, Memory};
use crate::scalar::{Binary, Cast};
use crate::sim::{self, Launch};
use weft_layout::machine::Machine;

const WORDS: u64 = 6;

/// Word `n` of the input: no two bytes of all are equal.
fn word(n: u64) -> u64 {
    (0..4).fold(0, |all, byte| all | (17 + 4 * n + byte) << (8 * byte))
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % sides
    }

    /// A number of as many bits as chance has it.
    fn bits(&mut self) -> u64 {
        let [high, low] = [(); 2].map(|()| self.roll(1 << 31) as u64);
        (high << 33 ^ low << 8 ^ high) >> self.roll(64)
    }
}

/// Values made of bytes of the input at random, and what each should be.
fn made(build: &mut Builder, inputs: &[Value], dice: &mut Dice) -> Vec<(Value, u64)> {
    let mut words: Vec<(Value, u64)> =
        inputs.iter().zip(0..).map(|(&value, n)| (value, word(n))).collect();
    for _ in 0..24 {
        let [(a, x), (b, y)] = [(); 2].map(|()| words[dice.roll(words.len())]);
        let made = match dice.roll(4) {
            0 => {
                let selector = (0..4).fold(0, |all, _| all << 4 | dice.roll(8) as u64);
                let chosen = build.constant(DType::I32, selector);
                (build.bytes(a, b, chosen), crate::scalar::byte_permute(x, y, selector))
            }
            1 => {
                let dtype = [DType::I8, DType::I16, DType::F16][dice.roll(3)];
                let (bits, count) = (dtype.bits(), (32 / dtype.bits()) as usize);
                let mut expected = 0;
                let mut parts = Vec::new();
                for place in 0..count {
                    let (whole, value) = words[dice.roll(words.len())];
                    let part = dice.roll(count);
                    parts.push(build.split(whole, dtype)[part]);
                    let part = value >> (part as u32 * bits) & dtype.mask();
                    expected |= part << (place as u32 * bits);
                }
                (build.join(&parts), expected)
            }
            2 => {
                // Half of a word, as a value of 16 bits that two of 8 bits make.
                let parts = [build.split(a, DType::I8)[3], build.split(b, DType::I8)[1]];
                let half = build.join(&parts);
                let half = build.cast(Cast::ExtU, half, DType::I32);
                (half, x >> 24 | (y >> 8 & 0xff) << 8)
            }
            _ => {
                let count = dice.roll(4) as u64 * 8;
                let [up, down] = [count, 32 - count].map(|count| build.constant(DType::I32, count));
                let (high, high_value) =
                    (build.binary(Binary::Shl, a, up), x << count & 0xffff_ffff);
                if count == 0 {
                    (high, high_value)
                } else {
                    let low = build.binary(Binary::ShrU, b, down);
                    (build.binary(Binary::Or, high, low), high_value | y >> (32 - count))
                }
            }
        };
        words.push(made);
    }
    words
}

/// Runs a program that loads `words` and stores what `write` makes of them, held against what that
/// says it should be. Returns how many there were.
fn run(
    words: &[u32],
    seed: u64,
    write: impl FnOnce(&mut Builder, &[Value], &mut Dice) -> Vec<(Value, u64)>,
) -> usize {
    let mut expected = Vec::new();
    let found = results(words, seed, |build, inputs, dice| {
        let made = write(build, inputs, dice);
        expected.extend(made.iter().map(|&(_, bits)| bits));
        made.into_iter().map(|(value, _)| value).collect()
    });
    for (word, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "seed {seed}, word {word}");
    }
    expected.len()
}

/// Runs a program that loads `words` and stores what `write` makes of them, each as a word; gives what it stored.
fn results(
    words: &[u32],
    seed: u64,
    write: impl FnOnce(&mut Builder, &[Value], &mut Dice) -> Vec<Value>,
) -> Vec<u64> {
    let machine = Machine::by_name("sm_90").unwrap();
    let mut build = Builder::new("made", 1, 5);
    let [source, result] = ["source", "result"].map(|name| {
        let (name, pointee) = (name.into(), Some(DType::I32));
        build.param(Param { name, dtype: DType::I64, pointee, divisibility: 16 })
    });
    let place = |build: &mut Builder, base: Value, word: u64| {
        let offset = build.constant(DType::I64, 4 * word);
        build.binary(Binary::Add, base, offset)
    };
    let inputs: Vec<Value> = (0..words.len() as u64)
        .map(|word| {
            let address = place(&mut build, source, word);
            build.load(Space::Global, Access::default(), DType::I32, 1, address, None)[0]
        })
        .collect();
    let made = write(&mut build, &inputs, &mut Dice(seed));
    for (&value, word) in made.iter().zip(0..) {
        let address = place(&mut build, result, word);
        build.store(Space::Global, Access::default(), address, None, &[value]);
    }
    let program = build.finish();
    assert_eq!(verify(&program), Ok(()), "seed {seed}");

    let mut memory = Memory::default();
    let mut push = |name: &str, bytes: Vec<u8>, initialised| {
        memory.push(Buffer { name: name.into(), bytes, dtype: DType::I32, initialised })
    };
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let args = [push("source", bytes, true), push("result", vec![0; 4 * made.len()], false)];
    let launch = Launch {
        program: &program,
        grid: [1, 1, 1],
        args: &args,
        machine: &crate::compile::simulated(machine, 1),
        options: sim::Options::default(),
    };
    assert!(sim::run(&launch, &mut memory).is_ok(), "{program}");
    (0..made.len() as u64).map(|word| memory.read(args[1] + 4 * word, 4).unwrap()).collect()
}

#[test]
fn words_of_bytes_are_what_their_operations_say() {
    let words: Vec<u32> = (0..WORDS).map(|n| word(n) as u32).collect();
    for seed in 0..300 {
        run(&words, seed, made);
    }
}

/// How many byte permutes a program has in which nothing is unused.
fn permutes(build: Builder) -> usize {
    let program = crate::simplify::sweep::run(build.finish());
    let mut count = 0;
    program.walk(&program.body, &mut |_, inst| count += usize::from(inst.op == Op::Bytes));
    count
}

#[test]
fn bytes_that_were_rounded_are_rounded_in_pairs_where_they_are_joined() {
    let mut build = Builder::new("rounded", 1, 5);
    let singles: Vec<Value> = (0..4)
        .map(|n| {
            let (name, dtype) = (format!("x{n}"), DType::F32);
            build.param(Param { name, dtype, pointee: None, divisibility: 1 })
        })
        .collect();
    for (dtype, joined) in
        [(DType::F8E5M2, 4), (DType::F8E4M3FN, 4), (DType::F8E5M2, 2), (DType::BF16, 2)]
    {
        let integer = if dtype.bits() == 16 { DType::I16 } else { DType::I8 };
        // As numbers and as their bits.
        for bits in [false, true] {
            let parts: Vec<Value> = singles[..joined]
                .iter()
                .map(|&single| {
                    let rounded = build.cast(Cast::Float, single, dtype);
                    if bits { build.cast(Cast::Bits, rounded, integer) } else { rounded }
                })
                .collect();
            let pairs: Vec<Value> = singles[..joined]
                .chunks(2)
                .map(|pair| build.round_pair(dtype, pair[0], pair[1]))
                .collect();
            let expected = if let [pair] = pairs[..] { pair } else { build.join(&pairs) };
            assert_eq!(build.join(&parts), expected, "{joined} of {dtype}, bits: {bits}");
        }
    }
    // What was rounded to two types is not.
    let [x, y] = [singles[0], singles[1]];
    let parts =
        [build.cast(Cast::Float, x, DType::F8E5M2), build.cast(Cast::Float, y, DType::F8E4M3FN)];
    let half = build.join(&parts);
    assert_ne!(half, build.round_pair(DType::F8E5M2, x, y));
}

#[test]
fn floats_of_eight_bits_are_widened_in_pairs_where_they_are_joined() {
    let mut build = Builder::new("widened", 1, 5);
    let (name, dtype) = ("word".into(), DType::I32);
    let word = build.param(Param { name, dtype, pointee: None, divisibility: 1 });
    for dtype in [DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ] {
        let narrow = build.split(word, dtype);
        let halves: Vec<Value> =
            narrow.iter().map(|&x| build.cast(Cast::Float, x, DType::F16)).collect();
        for pair in [[0, 1], [2, 3], [3, 0]] {
            let bytes = build.join(&pair.map(|at| narrow[at]));
            let expected = build.widen_pair(dtype, bytes);
            assert_eq!(build.join(&pair.map(|at| halves[at])), expected, "{pair:?} of {dtype}");
        }
        // bf16 has no instruction of its own.
        let others = [0, 1].map(|at| build.cast(Cast::Float, narrow[at], DType::BF16));
        let joined = build.join(&others);
        let inst = build.definitions[joined].map(|inst| build.program.insts[inst].op.clone());
        assert!(!matches!(inst, Some(Op::WidenPair(_))), "{inst:?}");
    }
}

#[test]
fn four_words_are_transposed_with_eight_permutes() {
    let mut build = Builder::new("transposed", 1, 5);
    let params: Vec<Value> = (0..4)
        .map(|n| {
            let (name, dtype) = (format!("word{n}"), DType::I32);
            build.param(Param { name, dtype, pointee: None, divisibility: 1 })
        })
        .collect();
    let cut: Vec<_> = params.iter().map(|&word| build.split(word, DType::I8)).collect();
    // Whole again, they are the words themselves.
    for (parts, &word) in cut.iter().zip(&params) {
        assert_eq!(build.join(parts), word);
    }
    let columns: Vec<Value> = (0..4)
        .map(|byte| {
            let column: Vec<Value> = cut.iter().map(|parts| parts[byte]).collect();
            build.join(&column)
        })
        .collect();
    let address = build.constant(DType::I64, 64);
    build.store(Space::Global, Access::default(), address, None, &columns);
    assert_eq!(permutes(build), 8);
}
