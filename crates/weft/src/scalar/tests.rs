use super::*;

fn f32_bits(value: f32) -> u64 {
    u64::from(value.to_bits())
}

#[test]
fn integers_wrap_in_their_width() {
    let add = binary(Binary::Add, DType::I8).unwrap();
    assert_eq!(add(200, 100), 44);
    let shift = binary(Binary::ShrS, DType::I8).unwrap();
    assert_eq!(shift(0x80, 200), 0xff);
    let divide = binary(Binary::DivS, DType::I32).unwrap();
    assert_eq!(divide(0x8000_0000, 0xffff_ffff), 0x8000_0000);
    assert_eq!(unary(Unary::Abs, DType::I16).unwrap()(0x8000), 0x8000);
    assert_eq!(binary(Binary::MulHiU, DType::I64).unwrap()(u64::MAX, u64::MAX), u64::MAX - 1);
}

#[test]
fn a_number_wins_over_nan_or_loses_as_named() {
    let (nan, one) = (f32_bits(f32::NAN), f32_bits(1.0));
    assert_eq!(binary(Binary::MaxNum, DType::F32).unwrap()(nan, one), one);
    let maximum = binary(Binary::Maximum, DType::F32).unwrap()(one, nan);
    assert!(f32::from_bits(maximum as u32).is_nan());
    let min = binary(Binary::MinNum, DType::F32).unwrap();
    assert_eq!(min(f32_bits(0.0), f32_bits(-0.0)), f32_bits(-0.0));
    assert_eq!(compare(Compare::FUlt, DType::F32).unwrap()(nan, one), 1);
    assert_eq!(compare(Compare::Olt, DType::F32).unwrap()(nan, one), 0);
}

#[test]
fn every_operation_belongs_to_a_type_and_says_so() {
    for &op in Binary::ALL {
        let types: Vec<_> =
            DType::ALL.into_iter().filter(|&dtype| binary(op, dtype).is_some()).collect();
        assert!(!types.is_empty(), "{op} belongs to no type");
        assert_eq!(Binary::by_name(op.name()), Some(op));
    }
    assert!(binary(Binary::And, DType::F32).is_none());
    assert!(unary(Unary::Exp, DType::I32).is_none());
}

#[test]
fn narrow_floats_are_rounded_once() {
    // Each lies a hair off a tie that a detour through another type would fall into.
    assert_eq!(fma(DType::F16)(0x2401, 0x27fe, 0x3c01), 0x3c01);
    let above = |exponent: i32| 1.0 + 2f64.powi(exponent) + 2f64.powi(-40);
    assert_eq!(from_f64(DType::F16, above(-11)), 0x3c01);
    assert_eq!(from_f64(DType::BF16, above(-8)), 0x3f81);
    assert_eq!(from_f64(DType::F16, 1.0 + 2f64.powi(-11)), 0x3c00);
    let tie = (1u64 << 62) + (1 << 54);
    assert_eq!(cast(Cast::FloatFromS, DType::I64, DType::BF16, tie), 0x5e80);
    assert_eq!(cast(Cast::FloatFromS, DType::I64, DType::BF16, tie + 1), 0x5e81);
    assert_eq!(from_f64(DType::F16, 1e300), 0x7c00);
    assert_eq!(from_f64(DType::BF16, -1e300), 0xff80);
}

/// Every number of each type of eight bits, and what lies between two neighbours.
#[test]
fn floats_of_eight_bits_take_the_nearest_number() {
    let types = [
        (DType::F8E4M3FN, 448.0, 2f64.powi(-9)),
        (DType::F8E5M2, 57344.0, 2f64.powi(-16)),
        (DType::F8E4M3FNUZ, 240.0, 2f64.powi(-10)),
        (DType::F8E5M2FNUZ, 57344.0, 2f64.powi(-17)),
    ];
    for (dtype, largest, least) in types {
        let largest_bits = from_f64(dtype, f64::INFINITY);
        assert_eq!(to_f64(dtype, largest_bits), largest);
        assert_eq!(to_f64(dtype, 1), least);
        assert!(to_f64(dtype, from_f64(dtype, f64::NAN)).is_nan());
        for bits in 0..largest_bits {
            let (low, high) = (to_f64(dtype, bits), to_f64(dtype, bits + 1));
            let (near, middle) = (low * 0.75 + high * 0.25, f64::midpoint(low, high));
            assert_eq!(from_f64(dtype, low), bits);
            assert_eq!(from_f64(dtype, near), bits, "{dtype} {near}");
            assert_eq!(from_f64(dtype, middle), bits + bits % 2, "{dtype} {middle}");
            let to_zero = |value: f64| cast(Cast::FloatToZero, DType::F64, dtype, value.to_bits());
            assert_eq!(to_zero(high.next_down()), bits);
            let negative =
                if bits == 0 && Narrow::of(dtype).unwrap().unsigned_zero { 0 } else { bits | 0x80 };
            assert_eq!(to_zero(-high.next_down()), negative);
        }
    }
}

#[test]
fn toward_zero_never_grows() {
    let to_zero = |to: DType, value: f32| cast(Cast::FloatToZero, DType::F32, to, f32_bits(value));
    assert_eq!(to_zero(DType::F16, 2049.9), 0x6800);
    assert_eq!(to_zero(DType::F16, -2051.0), 0xe801);
    assert_eq!(to_zero(DType::F16, 1e9), 0x7bff);
    assert_eq!(to_zero(DType::F16, f32::INFINITY), 0x7c00);
    assert_eq!(to_zero(DType::BF16, 1.999), 0x3fff);
}

#[test]
fn casts_round_to_nearest_even_and_saturate() {
    assert_eq!(cast(Cast::Float, DType::F32, DType::F16, f32_bits(2049.0)), 0x6800);
    assert_eq!(cast(Cast::SFromFloat, DType::F32, DType::I16, f32_bits(4e4)), 0x7fff);
    assert_eq!(cast(Cast::UFromFloat, DType::F32, DType::I16, f32_bits(-1.0)), 0);
    assert_eq!(cast(Cast::UFromFloat, DType::F32, DType::I64, f32_bits(1e30)), u64::MAX);
    assert_eq!(cast(Cast::ExtS, DType::I1, DType::I32, 1), 0xffff_ffff);
    assert_eq!(
        cast(Cast::FloatFromU, DType::I64, DType::F32, u64::MAX),
        f32_bits(18_446_744_073_709_551_616.0)
    );
}

/// PTX ISA, `cvt`: the least destination has 16 bits, at which it saturates, and NaN is zero where neither
/// side has 64 bits.
#[test]
fn floats_become_integers_as_the_instruction_has_it() {
    for (number, signed, unsigned) in [
        (300.0, 300, 300),
        (-300.0, -300, 0),
        (-129.9, -129, 0),
        (4e4, 0x7fff, 40_000),
        (-4e4, -0x8000, 0),
        (7e4, 0x7fff, 0xffff),
        (f32::INFINITY, 0x7fff, 0xffff),
        (f32::NEG_INFINITY, -0x8000, 0),
        (f32::NAN, 0, 0),
    ] {
        for (op, whole) in [(Cast::SFromFloat, signed), (Cast::UFromFloat, unsigned)] {
            let bits = f32_bits(number);
            assert_eq!(cast(op, DType::F32, DType::I8, bits), whole as u64 & 0xff, "{number}");
            assert_eq!(cast(op, DType::F32, DType::I16, bits), whole as u64 & 0xffff, "{number}");
        }
    }
    let none = |from: DType, to: DType| {
        let bits = if from == DType::F64 { f64::NAN.to_bits() } else { f32_bits(f32::NAN) };
        assert_eq!(cast(Cast::SFromFloat, from, to, bits), cast(Cast::UFromFloat, from, to, bits));
        cast(Cast::SFromFloat, from, to, bits)
    };
    assert_eq!(none(DType::F32, DType::I32), 0);
    assert_eq!(none(DType::F32, DType::I64), 1 << 63);
    assert_eq!(none(DType::F64, DType::I32), 1 << 31);
    assert_eq!(none(DType::F64, DType::I16), 1 << 15);
    assert_eq!(none(DType::F64, DType::I8), 0);
}

#[test]
fn a_pair_is_two_roundings_side_by_side() {
    for dtype in [DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ] {
        let pair = round_pair(dtype);
        let one = |bits| cast(Cast::Float, DType::F32, dtype, bits);
        // Every exponent and sign, with some digits.
        let singles = (0..1 << 12).map(|high: u64| high << 20 | ((high * 0x9e37) & 0xf_ffff));
        for (x, y) in singles.clone().zip(singles.rev()) {
            assert_eq!(pair(x, y), one(x) | one(y) << 8, "{dtype} {x:#x} {y:#x}");
        }
    }
}
