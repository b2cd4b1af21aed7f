//! Products of which both halves are used, joined and simulated.

use super::double_buffer::{place, simulated};
use crate::dtype::DType;
use crate::lane::{Access, Builder, IdKind, Op, Param, Program, Space, verify};
use crate::scalar::{Binary, Cast};
use crate::simplify::expand;
use arbtest::arbtest;

/// Each thread's `factor * lane * more` by halves, into global memory: the exclusive or of those asked
/// for, each with the factors in this order or the other.
fn product(factor: u32, more: u32, asked: &[(bool, bool)], apart: bool) -> Program {
    let mut build = Builder::new("product", 2, 5);
    let out = build.param(Param {
        name: "out".into(),
        dtype: DType::I64,
        pointee: Some(DType::I32),
        divisibility: 16,
    });
    let zero = build.i32(0);
    let offset = place(&mut build, zero, false);
    let offset = build.cast(Cast::ExtU, offset, DType::I64);
    let at = build.binary(Binary::Add, out, offset);
    let lane = build.id(IdKind::Lane);
    let [factor, more] = [factor, more].map(|bits| build.i32(bits as i32));
    let x = build.binary(Binary::Mul, lane, more);
    let half = |build: &mut Builder, &(upper, turned): &(bool, bool)| {
        let op = if upper { Binary::MulHiU } else { Binary::Mul };
        let (x, y) = if turned { (x, lane) } else { (lane, x) };
        let product = build.binary(op, x, y);
        let other = build.binary(op, product, factor);
        build.binary(Binary::Xor, product, other)
    };
    let mut sum = zero;
    for asked in asked {
        if apart {
            // Only one of the halves in each region.
            let one = build.i32(1);
            let odd = build.binary(Binary::And, lane, one);
            let odd = build.cast(Cast::Trunc, odd, DType::I1);
            build.open_region(&[]);
            let value = half(&mut build, asked);
            let then = build.close_region(Op::Yield, &[value]);
            build.open_region(&[]);
            let otherwise = build.close_region(Op::Yield, &[zero]);
            let value = build.if_(odd, then, otherwise, &[DType::I32])[0];
            sum = build.binary(Binary::Xor, sum, value);
        } else {
            let value = half(&mut build, asked);
            sum = build.binary(Binary::Xor, sum, value);
        }
    }
    build.store(Space::Global, Access::default(), at, None, &[sum]);
    build.finish()
}

fn right(factor: u32, more: u32, asked: &[(bool, bool)], apart: bool, lane: u32) -> u32 {
    let half = |upper: bool, x: u32, y: u32| {
        let product = u64::from(x) * u64::from(y);
        (if upper { product >> 32 } else { product }) as u32
    };
    let x = lane.wrapping_mul(more);
    asked.iter().filter(|_| !apart || lane % 2 == 1).fold(0, |sum, &(upper, _)| {
        let product = half(upper, lane, x);
        sum ^ product ^ half(upper, product, factor)
    })
}

/// How many products there are of each kind: of 32 bits, upper halves, of 64 bits.
fn products(program: &Program) -> [usize; 3] {
    let mut count = [0; 3];
    program.walk(&program.body, &mut |_, inst| match inst.op {
        Op::Binary(Binary::MulHiU) => count[1] += 1,
        Op::Binary(Binary::Mul) => {
            count[if program.dtype(inst.results[0]) == DType::I64 { 2 } else { 0 }] += 1;
        }
        _ => {}
    });
    count
}

#[test]
fn both_halves_are_one_product() {
    let (factor, more) = (0xd251_1f53, 0xcd9e_8d57);
    let both = [(true, false), (false, true)];
    // The product of the lane with `more` stays; those of each half with the factor have no other half.
    let joined = expand::run(product(factor, more, &both, false));
    assert_eq!(products(&joined), [2, 1, 1], "{joined}");
    for (asked, apart, wanted) in [
        (&both[..1], false, [1, 2, 0]),
        (&both[1..], false, [3, 0, 0]),
        (&both[..], true, [3, 2, 0]),
    ] {
        let program = expand::run(product(factor, more, asked, apart));
        assert_eq!(products(&program), wanted, "{program}");
    }
}

#[test]
fn products_are_right_by_halves() {
    arbtest(|u| {
        let (factor, more, apart) = (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
        let asked: Vec<(bool, bool)> =
            (0..u.int_in_range(1..=4)?).map(|_| u.arbitrary()).collect::<Result<_, _>>()?;
        let program = expand::run(product(factor, more, &asked, apart));
        verify(&program).unwrap();
        let (report, found) = simulated(&program);
        assert!(report.is_clean(), "{:#?}", report.findings);
        for (thread, found) in found.into_iter().enumerate() {
            let lane = thread as u32 % 32;
            let right = right(factor, more, &asked, apart, lane);
            assert_eq!(found, right, "lane {lane}, {factor:#x}, {more:#x}, {asked:?}\n{program}");
        }
        Ok(())
    })
    .budget_ms(500);
}
