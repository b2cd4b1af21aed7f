//! Laws of functions that take the place of an algorithm.

use super::binary;
use crate::dtype::DType;
use crate::lane::{Builder, Op, Param};
use crate::scalar::{self, Binary};

/// Every f16, and random bits of the others: what is written instead of the power is the power.
#[test]
fn short_powers_are_powers() {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state ^ state >> 29
    };
    for dtype in [DType::F32, DType::F64] {
        let numbers: Vec<u64> = (0..=u64::from(u16::MAX))
            .map(|bits| scalar::from_f64(dtype, scalar::to_f64(DType::F16, bits)))
            .chain(core::iter::repeat_with(|| random() & dtype.mask()).take(100_000))
            .collect();
        let power = scalar::binary(Binary::Pow, dtype).unwrap();
        for exponent in [0.0, 1.0, 2.0, -1.0] {
            let mut build = Builder::new("power", 1, 5);
            let x = build.param(Param { name: "x".into(), dtype, pointee: None, divisibility: 1 });
            let y = build.constant(dtype, scalar::from_f64(dtype, exponent));
            let result = binary(&mut build, Binary::Pow, x, y);
            let short: Box<dyn Fn(u64) -> u64> = match build.definition(result) {
                Some(&Op::Param(_)) => Box::new(|x| x),
                Some(&Op::Const(bits)) => Box::new(move |_| bits),
                Some(&Op::Binary(op)) => {
                    let apply = scalar::binary(op, dtype).unwrap();
                    let one = scalar::from_f64(dtype, 1.0);
                    Box::new(move |x| if op == Binary::Mul { apply(x, x) } else { apply(one, x) })
                }
                other => panic!("{exponent}: {other:?}"),
            };
            for &x in &numbers {
                let [short, power] = [short(x), power(x, scalar::from_f64(dtype, exponent))]
                    .map(|bits| scalar::to_f64(dtype, bits));
                // `libm`'s power of f64 is not always the nearest one.
                let ends =
                    dtype == DType::F64 && (short - power).abs() <= power.abs() * f64::EPSILON;
                let same = short.to_bits() == power.to_bits() || ends;
                assert!(same || short.is_nan() && power.is_nan(), "{x:#x}^{exponent}");
            }
        }
    }
}
