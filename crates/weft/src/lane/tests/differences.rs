//! Comparisons by differences, against the comparisons as they stand.

use super::run;
use crate::dtype::DType;
use crate::lane::{Access, Builder, IdKind, Op, Space, Value};
use crate::scalar::{self, Binary, Cast, Compare};
use crate::simplify;

const WORDS: [u32; 8] = [0, 1, 7, 0x3fff_ffff, 0x4000_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_fff9];
const OPS: [Compare; 10] = [
    Compare::Eq,
    Compare::Ne,
    Compare::Slt,
    Compare::Sle,
    Compare::Sgt,
    Compare::Sge,
    Compare::Ult,
    Compare::Ule,
    Compare::Ugt,
    Compare::Uge,
];

/// Sums of numbers of which some bits are known, with addends of which both sides may have one.
#[test]
fn comparisons_by_differences_are_the_comparisons() {
    let mut removed = 0;
    for seed in 0..400 {
        run(&WORDS, seed, |build, inputs, dice| {
            let mut made = Vec::new();
            let pick = |dice: &mut super::Dice| {
                let index = dice.roll(WORDS.len());
                (inputs[index], u64::from(WORDS[index]))
            };
            for _ in 0..12 {
                let dtype = [DType::I32, DType::I64][dice.roll(2)];
                let add = scalar::binary(Binary::Add, dtype).unwrap();
                let of_word = |bits: u64| scalar::cast(Cast::ExtS, DType::I32, dtype, bits);
                let common = pick(dice);
                let mut side = |build: &mut Builder| {
                    let (mut value, mut bits) = pick(dice);
                    // Few bits, so that sums stay small; or all of them.
                    let mask = [0xff, 0x0fff_ffff, 0x3fff_ffff, u64::from(u32::MAX)][dice.roll(4)];
                    let known = build.constant(DType::I32, mask);
                    value = build.binary(Binary::And, value, known);
                    bits &= mask;
                    value = build.cast(Cast::ExtS, value, dtype);
                    bits = of_word(bits);
                    if dice.roll(3) > 0 {
                        // What both sides have, or a number of its own, which may be large.
                        let (other, word) = if dice.roll(2) == 0 { common } else { pick(dice) };
                        let masked = build.binary(Binary::And, other, known);
                        let mut wide = build.cast(Cast::ExtS, masked, dtype);
                        let mut word = of_word(word & mask);
                        if dtype == DType::I64 && dice.roll(2) == 0 {
                            let count = build.constant(dtype, 12);
                            wide = build.binary(Binary::Shl, wide, count);
                            word <<= 12;
                        }
                        if dice.roll(2) == 0 {
                            build.know_uniform(wide);
                        }
                        let sides = if dice.roll(2) == 0 { [value, wide] } else { [wide, value] };
                        value = build.binary(Binary::Add, sides[0], sides[1]);
                        bits = add(bits, word);
                    }
                    let constant = [0, 1, 8, 1 << 29, 1 << 31, u64::MAX][dice.roll(6)];
                    let constant = constant & dtype.mask();
                    let number = build.constant(dtype, constant);
                    (build.binary(Binary::Add, value, number), add(bits, constant))
                };
                let ((x, a), (y, b)) = (side(build), side(build));
                for op in OPS {
                    let truth = build.compare(op, x, y);
                    let constant = build.constant_bits(y).is_some();
                    removed += usize::from(
                        !constant
                            && !build
                                .program()
                                .insts
                                .values()
                                .any(|inst| inst.operands[..] == [x, y]),
                    );
                    let truth = build.cast(Cast::ExtU, truth, DType::I32);
                    made.push((truth, scalar::compare(op, dtype).unwrap()(a, b)));
                }
            }
            made
        });
    }
    assert!(removed > 2000, "{removed}");
}

/// What of the tiles of two indices of 64 bits lies below the diagonal, of which one index is that of a loop.
#[test]
fn far_from_the_diagonal_it_does_not_matter_how_far() {
    let mut build = Builder::new("causal", 1, 5);
    let lane = build.id(IdKind::Lane);
    let size = build.constant(DType::I64, 64);
    let corners = [0, 1].map(|axis| {
        let block = build.id(IdKind::Block(axis));
        build.know_at_most(block, 0x7fff_ffff);
        let block = build.cast(Cast::ExtS, block, DType::I64);
        build.binary(Binary::Mul, block, size)
    });
    let own = [0x1c, 3].map(|bits| {
        let bits = build.i32(bits);
        let own = build.binary(Binary::And, lane, bits);
        build.cast(Cast::ExtS, own, DType::I64)
    });
    let sides = [0, 1].map(|side| build.binary(Binary::Add, corners[side], own[side]));
    let address = build.constant(DType::I64, 64);
    for place in 0..8 {
        let place = build.constant(DType::I64, place);
        let column = build.binary(Binary::Add, sides[1], place);
        let below = build.compare(Compare::Sge, sides[0], column);
        let below = build.cast(Cast::ExtU, below, DType::I8);
        build.store(Space::Global, Access::default(), address, None, &[below]);
    }
    let program = simplify::run(build.finish());
    let mut comparisons = 0;
    program.walk(&program.body, &mut |_, inst| {
        if matches!(inst.op, Op::Compare(_)) {
            assert_eq!(program.dtype(inst.operands[0]), DType::I32, "{program}");
            comparisons += 1;
        }
    });
    assert_eq!(comparisons, 8, "{program}");
}

/// What of a square tile lies below its diagonal, as a thread of two rows and four columns asks.
#[test]
fn a_diagonal_is_one_difference() {
    let mut build = Builder::new("diagonal", 1, 5);
    let lane = build.id(IdKind::Lane);
    let block = build.id(IdKind::Block(0));
    build.know_at_most(block, 0x7fff_ffff);
    let wide = |build: &mut Builder, value| build.cast(Cast::ExtS, value, DType::I64);
    let size = build.constant(DType::I64, 64);
    let block = wide(&mut build, block);
    let corner = build.binary(Binary::Mul, block, size);
    let index = |build: &mut Builder, bits: u32, places: &[u64]| -> Vec<Value> {
        let bits = build.i32(bits.cast_signed());
        let own = build.binary(Binary::And, lane, bits);
        let own = wide(build, own);
        let first = build.binary(Binary::Add, corner, own);
        let mut at = |&place: &u64| {
            let place = build.constant(DType::I64, place);
            build.binary(Binary::Add, first, place)
        };
        places.iter().map(&mut at).collect()
    };
    let rows = index(&mut build, 0x1c, &[0, 32]);
    let columns = index(&mut build, 3, &[0, 16, 32, 48]);
    let address = build.constant(DType::I64, 64);
    for &row in &rows {
        for &column in &columns {
            let below = build.compare(Compare::Sgt, row, column);
            let below = build.cast(Cast::ExtU, below, DType::I8);
            build.store(Space::Global, Access::default(), address, None, &[below]);
        }
    }
    let program = simplify::run(build.finish());
    let mut wide = 0;
    let (mut differences, mut comparisons) = (0, 0);
    program.walk(&program.body, &mut |_, inst| {
        let Some(&result) = inst.results.first() else { return };
        differences += usize::from(inst.op == Op::Binary(Binary::Sub));
        comparisons += usize::from(matches!(inst.op, Op::Compare(_)));
        let is_number = !matches!(inst.op, Op::Const(_));
        wide += usize::from(is_number && program.dtype(result) == DType::I64);
    });
    // The columns are less than 4 and the rows less than 29 in the thread, so that all of them lie on one side
    // where tiles of 16 begin elsewhere than at 0 or 16 from each other.
    assert_eq!((differences, comparisons, wide), (1, 2, 0), "{program}");
}
