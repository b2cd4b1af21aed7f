//! Exactness and comparison.

use super::build::{Argument, Build, launch, tensor};
use crate::atomic::{Order, Rmw, Scope};
use crate::dtype::DType;
use crate::memory::Buffer;
use crate::scalar::{self, Binary, Cast, Unary};
use crate::tile::eval::{
    Agreement, Allowance, Exactness, Mismatch, Reason, Sums, Tolerance, Why, exactness,
    exactness_fused,
};
use crate::tile::{Kernel, OpKind, Precision, Type, Value};

/// The reasons of a kernel that computes on a vector of `dtype`.
fn reasons(dtype: DType, body: impl FnOnce(&mut Build, Value)) -> Vec<(String, Why)> {
    let mut b = Build::new();
    let x = b.pointer(dtype);
    let loaded = b.load_array(x, &[16]);
    body(&mut b, loaded);
    match exactness_fused(&b.finish()) {
        Exactness::Exact => Vec::new(),
        Exactness::Rounded { why, .. } => {
            why.into_iter().map(|Reason { name, why, .. }| (name, why)).collect()
        }
    }
}

#[test]
fn only_approximate_and_order_dependent_operations_round() {
    let unary = |op| {
        move |b: &mut Build, x| {
            b.op(OpKind::Unary(op), &[x], &b.ty(x));
        }
    };
    let twice = |op| {
        move |b: &mut Build, x| {
            b.binary(op, x, x);
        }
    };
    let fold = |op: Binary| {
        move |b: &mut Build, x| {
            b.reduce(0, &[x], |b, p| vec![b.binary(op, p[0], p[1])]);
        }
    };
    let none: Vec<(String, Why)> = Vec::new();
    let one = |name: &str, why| vec![(name.to_owned(), why)];
    assert_eq!(reasons(DType::F32, unary(Unary::Exp2)), one("exp2", Why::Approximate));
    assert_eq!(reasons(DType::F32, unary(Unary::Sqrt)), one("sqrt", Why::Approximate));
    assert_eq!(reasons(DType::F64, unary(Unary::Sqrt)), none);
    assert_eq!(reasons(DType::F32, unary(Unary::SqrtPrecise)), none);
    assert_eq!(reasons(DType::F32, unary(Unary::Floor)), none);
    assert_eq!(reasons(DType::F32, twice(Binary::Div)), one("div", Why::Approximate));
    assert_eq!(reasons(DType::F32, twice(Binary::DivPrecise)), none);
    assert_eq!(reasons(DType::F32, twice(Binary::Add)), none);
    assert_eq!(reasons(DType::F32, fold(Binary::Add)), one("reduce", Why::Order));
    assert_eq!(reasons(DType::F32, fold(Binary::Maximum)), none);
    assert_eq!(reasons(DType::I32, fold(Binary::Add)), none);
    let fused = |b: &mut Build, x: Value| {
        let product = b.binary(Binary::Mul, x, x);
        let turned = b.op(OpKind::Trans { order: vec![0] }, &[product], &b.ty(product));
        b.binary(Binary::Sub, x, turned);
    };
    assert_eq!(reasons(DType::F32, fused), one("sub", Why::Contraction));
    assert_eq!(reasons(DType::I32, fused), none);
}

#[test]
fn dots_and_atomics_round_in_floats_and_contraction_only_where_asked() {
    for (dtype, rounds) in [(DType::F32, true), (DType::I32, false)] {
        let mut b = Build::new();
        let x = b.pointer(dtype);
        let tile = b.load_array(x, &[16, 16]);
        let sum =
            b.op(OpKind::Dot(Precision::Ieee), &[tile, tile, tile], &tensor(dtype, &[16, 16]));
        let product = b.binary(Binary::Mul, sum, sum);
        b.binary(Binary::Add, product, sum);
        let scalar = b.constant(dtype, 1.0);
        let op = if rounds { Rmw::FAdd } else { Rmw::Add };
        let kind = OpKind::AtomicRmw { op, order: Order::Relaxed, scope: Scope::Gpu };
        b.op(kind, &[x, scalar], &Type::scalar(dtype));
        let kernel = b.finish();
        let names = |exactness| match exactness {
            Exactness::Exact => vec![],
            Exactness::Rounded { why, .. } => why.iter().map(Reason::to_string).collect(),
        };
        let (plain, fused) = (names(exactness(&kernel)), names(exactness_fused(&kernel)));
        if rounds {
            assert_eq!(
                plain,
                [
                    "dot depends on the order in which floats are folded",
                    "atomic_rmw fadd depends on the order in which floats are folded",
                ]
            );
            assert_eq!(fused[1], "add may be fused with the product that it adds");
        } else {
            assert_eq!((plain, fused), (vec![], vec![]));
        }
    }
}

#[test]
fn a_rounding_in_a_coarser_type_widens_the_tolerance() {
    let mut b = Build::new();
    let x = b.pointer(DType::F32);
    let loaded = b.load_array(x, &[16]);
    let powers = b.op(OpKind::Unary(Unary::Exp), &[loaded], &tensor(DType::F32, &[16]));
    let narrow = OpKind::Cast(Cast::Float);
    b.op(narrow, &[powers], &tensor(DType::BF16, &[16]));
    let exactness = exactness(&b.finish());
    assert!(matches!(exactness, Exactness::Rounded { coarsest: DType::BF16, .. }));
    assert_eq!(Tolerance::for_buffer(DType::F32, &exactness), Tolerance::of(DType::BF16));
    assert_eq!(Tolerance::for_buffer(DType::I32, &exactness), None);
    assert_eq!(Tolerance::for_buffer(DType::F32, &Exactness::Exact), None);
}

fn buffer(dtype: DType, values: &[f64]) -> Buffer {
    let bytes = values.iter().flat_map(|&value| {
        scalar::from_f64(dtype, value).to_le_bytes().into_iter().take(dtype.bytes() as usize)
    });
    Buffer { name: "out".into(), bytes: bytes.collect(), dtype, initialised: true }
}

fn rounded(coarsest: DType) -> Exactness {
    Exactness::Rounded { why: Vec::new(), coarsest }
}

/// Compared as strictly as an exactness allows, where nothing was added up by atomics.
fn compare(wanted: &Buffer, got: &Buffer, exactness: &Exactness) -> Result<Agreement, Mismatch> {
    let tolerance = Tolerance::for_buffer(wanted.dtype, exactness);
    super::super::compare(wanted, got, &Allowance { tolerance, sums: None })
}

#[test]
fn floats_are_compared_within_the_tolerance_of_their_type() {
    let near = [
        (DType::F64, 1.0 + 1.5e-12, 1.0 + 2.5e-12),
        (DType::F32, 1.0 + 2e-5, 1.0 + 2.3e-5),
        (DType::F16, 1.0 + 3e-3, 1.0 + 5e-3),
        (DType::BF16, 1.0 + 3.1e-2, 1.0 + 4e-2),
    ];
    for (dtype, inside, outside) in near {
        let exactness = rounded(dtype);
        let one = buffer(dtype, &[0.0, 1.0]);
        let agreement = compare(&one, &buffer(dtype, &[0.0, inside]), &exactness).unwrap();
        assert!(agreement.max_ulp > 0 && agreement.max_rel > 0.0);
        assert_eq!(agreement.max_abs, agreement.max_rel);
        let mismatch = compare(&one, &buffer(dtype, &[0.0, outside]), &exactness).unwrap_err();
        assert_eq!((mismatch.index, mismatch.mismatches, mismatch.elements), (1, 1, 2), "{dtype}");
        assert!(compare(&one, &buffer(dtype, &[0.0, inside]), &Exactness::Exact).is_err());
    }
}

#[test]
fn special_values_lengths_and_integers() {
    let f32s = |values: &[f64]| buffer(DType::F32, values);
    let (nan, infinity) = (f64::NAN, f64::INFINITY);
    for exactness in [Exactness::Exact, rounded(DType::F32)] {
        let mut other_nan = f32s(&[nan, infinity]);
        other_nan.bytes[0] = 1;
        assert!(compare(&f32s(&[nan, infinity]), &other_nan, &exactness).is_ok());
        for (wanted, got) in [(nan, 1.0), (1.0, nan), (infinity, -infinity), (infinity, 3e38)] {
            assert!(compare(&f32s(&[wanted]), &f32s(&[got]), &exactness).is_err());
        }
        let short = compare(&f32s(&[1.0, 2.0]), &f32s(&[1.0]), &exactness).unwrap_err();
        assert_eq!((short.index, short.actual), (1, None));
        let ints = |values: &[f64]| buffer(DType::I16, values);
        let same = compare(&ints(&[1.0, -2.0]), &ints(&[1.0, -2.0]), &exactness).unwrap();
        assert_eq!(same, Agreement::default());
        let mismatch = compare(&ints(&[1.0, -2.0]), &ints(&[1.0, -3.0]), &exactness).unwrap_err();
        assert_eq!(mismatch.to_string(), "element 1 of `out` is -3, expected -2; 1 of 2 differ");
    }
    let zeros = compare(&f32s(&[0.0]), &f32s(&[-0.0]), &rounded(DType::F32)).unwrap();
    assert_eq!(zeros.max_ulp, 0);
    assert!(compare(&f32s(&[0.0]), &f32s(&[-0.0]), &Exactness::Exact).is_err());
}

/// The terms of a sum, some large and some small, of both signs.
fn terms(dtype: DType, count: u64, seed: u64) -> Vec<u64> {
    let hash = |index: u64| (seed * 1000 + index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    (0..count)
        .map(|index| {
            let bits = hash(index);
            // Thirds fill the digits of every type.
            let size = f64::from(1 << (bits % 7)) / 48.0;
            let value = (f64::from((bits >> 8) as u32 & 0xffff) / 32768.0 - 1.0) * size;
            scalar::from_f64(dtype, value)
        })
        .collect()
}

/// A kernel of which each instance adds its element of `x` to the only one of `sum`.
fn sum_of_floats(dtype: DType) -> Kernel {
    let mut b = Build::new();
    let [x, sum] = [dtype; 2].map(|dtype| b.pointer(dtype));
    let place = b.program();
    let pointer = b.at(x, place);
    let term = b.load(&[pointer]);
    let kind = OpKind::AtomicRmw { op: Rmw::FAdd, order: Order::Relaxed, scope: Scope::Gpu };
    b.op(kind, &[sum, term], &Type::scalar(dtype));
    b.finish()
}

/// Every order of a sum lies within what the evaluator allows for it, and a sum that lacks a term or
/// has one twice does not, where that term is larger than what is allowed.
#[test]
fn unordered_sums_differ_by_what_their_number_of_terms_allows() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let add = scalar::binary(Binary::Add, dtype).unwrap();
        let kernel = sum_of_floats(dtype);
        let (mut furthest, mut missed) = (0.0_f64, 0);
        for (seed, count) in [2, 2, 4, 4, 16, 64, 256].into_iter().enumerate() {
            let x = terms(dtype, count, seed as u64);
            let values = x.iter().map(|&bits| scalar::to_f64(dtype, bits)).collect();
            let arguments = vec![Argument::Array(dtype, values), Argument::Array(dtype, vec![0.5])];
            let outcome = launch(&kernel, count as u32, arguments).unwrap();
            let sum = *outcome.report.sums.get(1, 0, dtype.bytes() as usize).unwrap();
            assert_eq!((sum.dtype, sum.additions), (dtype, count));
            assert_eq!(outcome.report.sums.of_buffer(0).count(), 0);
            let allowance = Allowance { tolerance: None, sums: Some((&outcome.report.sums, 1)) };
            let expected = &outcome.memory.buffers()[1];
            let verdict = |value: u64| {
                let bytes = value.to_le_bytes()[..dtype.bytes() as usize].to_vec();
                super::super::compare(expected, &Buffer { bytes, ..expected.clone() }, &allowance)
            };
            let start = scalar::from_f64(dtype, 0.5);
            let of = |order: &[u64]| order.iter().fold(start, |sum, &term| add(sum, term));
            let mut orders = vec![x.clone()];
            orders.push(x.iter().rev().copied().collect());
            for by_size in [1.0, -1.0] {
                let mut sorted = x.clone();
                let size = |&bits: &u64| scalar::to_f64(dtype, bits).abs() * by_size;
                sorted.sort_by(|x, y| size(x).total_cmp(&size(y)));
                orders.push(sorted);
            }
            for order in orders {
                let agreement = verdict(of(&order)).unwrap();
                furthest = furthest.max(agreement.max_abs / sum.bound());
            }
            for (index, &term) in x.iter().enumerate() {
                let mut without = x.clone();
                without.remove(index);
                let twice = [&x[..], &[term]].concat();
                // What is left out is off by its size, give or take another order's rounding.
                if scalar::to_f64(dtype, term).abs() > 2.0 * sum.bound() {
                    missed += 1;
                    assert!(verdict(of(&without)).is_err() && verdict(of(&twice)).is_err());
                }
            }
        }
        assert!(furthest > 0.0 && furthest <= 1.0, "{dtype}: {furthest}");
        assert!(missed >= 5, "{dtype}: {missed} terms are larger than what is allowed");
    }
}

#[test]
fn a_place_that_is_stored_to_holds_no_sum() {
    let mut b = Build::new();
    let x = b.pointer(DType::F32);
    let one = b.constant(DType::F32, 1.0);
    let kind = OpKind::AtomicRmw { op: Rmw::FAdd, order: Order::Relaxed, scope: Scope::Gpu };
    b.op(kind, &[x, one], &Type::scalar(DType::F32));
    b.store(&[x, one]);
    let arguments = vec![Argument::Array(DType::F32, vec![2.0])];
    let outcome = launch(&b.finish(), 1, arguments).unwrap();
    assert_eq!(outcome.report.sums, Sums::default());
}
