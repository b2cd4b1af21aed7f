//! Bounds and comparison.

use super::build::{Argument, Build, launch, tensor};
use crate::atomic::{Order, Rmw, Scope};
use crate::dtype::DType;
use crate::memory::Buffer;
use crate::scalar::{self, Binary, Cast, Compare, Unary};
use crate::tile::eval::{Agreement, BufferBounds, Mismatch, Options, Sums, compare, run};
use crate::tile::{Kernel, OpKind, Precision, Type, Value};

/// The largest bound of what a kernel of 16 elements of `x` stores, infinity where one has none.
fn bound_with(
    options: Options,
    dtype: DType,
    values: &[f64],
    body: impl FnOnce(&mut Build, Value) -> Value,
) -> f64 {
    let mut b = Build::new();
    let x = b.pointer(dtype);
    let loaded = b.load_array(x, &[16]);
    let result = body(&mut b, loaded);
    let ty = b.ty(result);
    let out = b.pointer(ty.dtype());
    let places = b.range(ty.elements());
    let places = b.at(out, places);
    b.store(&[places, result]);
    let kernel = b.finish();
    let mut memory = crate::memory::Memory::default();
    let mut at = |dtype: DType, values: &[f64]| memory.push(buffer(dtype, values));
    let args = [at(dtype, values), at(ty.dtype(), &vec![0.0; ty.elements() as usize])];
    let report = run(&kernel, [1, 1, 1], &args, &mut memory, options).unwrap();
    let bounds = report.bounds.of_buffer(1);
    if bounds.unbounded() > 0 { f64::INFINITY } else { bounds.largest() }
}

fn bound(dtype: DType, body: impl FnOnce(&mut Build, Value) -> Value) -> f64 {
    let values: Vec<f64> = (1..=16).map(f64::from).collect();
    bound_with(Options::default(), dtype, &values, body)
}

fn unary(op: Unary) -> impl FnOnce(&mut Build, Value) -> Value {
    move |b, x| b.op(OpKind::Unary(op), &[x], &b.ty(x))
}

fn twice(op: Binary) -> impl FnOnce(&mut Build, Value) -> Value {
    move |b, x| b.binary(op, x, x)
}

#[test]
fn only_approximate_and_order_dependent_operations_have_bounds() {
    for (dtype, op, rounds) in [
        (DType::F32, Unary::Exp2, true),
        (DType::F32, Unary::Sqrt, true),
        (DType::F64, Unary::Sqrt, false),
        (DType::F32, Unary::SqrtPrecise, false),
        (DType::F32, Unary::Floor, false),
        (DType::F64, Unary::Sin, true),
    ] {
        assert_eq!(bound(dtype, unary(op)) > 0.0, rounds, "{op} of {dtype}");
    }
    for (dtype, op, rounds) in [
        (DType::F32, Binary::Div, true),
        (DType::F64, Binary::Div, false),
        (DType::F32, Binary::DivPrecise, false),
        (DType::F32, Binary::Add, false),
        (DType::F16, Binary::Mul, false),
    ] {
        assert_eq!(bound(dtype, twice(op)) > 0.0, rounds, "{op} of {dtype}");
    }
    let fold = |op: Binary| {
        move |b: &mut Build, x| {
            let folded = b.reduce(0, &[x], |b, p| vec![b.binary(op, p[0], p[1])])[0];
            b.splat(folded, &[2])
        }
    };
    // 15 additions of at most 136 together.
    assert_eq!(bound(DType::F32, fold(Binary::Add)), 2.0 * 15.0 * 0.5_f64.powi(24) * 136.0);
    assert_eq!(bound(DType::F32, fold(Binary::Maximum)), 0.0);
    assert_eq!(bound(DType::I32, fold(Binary::Add)), 0.0);
    let product = |b: &mut Build, x| {
        let tile =
            b.op(OpKind::Reshape { allow_reorder: false }, &[x], &tensor(DType::F32, &[4, 4]));
        let product = OpKind::Dot(Precision::Ieee);
        let product = b.op(product, &[tile, tile, tile], &tensor(DType::F32, &[4, 4]));
        b.op(OpKind::Reshape { allow_reorder: false }, &[product], &tensor(DType::F32, &[16]))
    };
    // 16, and 13, 14, 15 and 16 times 4, 8, 12 and 16: two roundings of five.
    let magnitude = 16.0 + 13.0 * 4.0 + 14.0 * 8.0 + 15.0 * 12.0 + 16.0 * 16.0;
    assert_eq!(bound(DType::F32, product), 2.0 * 5.0 * 0.5_f64.powi(24) * magnitude);
}

#[test]
fn a_product_that_may_be_fused_has_a_bound_where_that_is_asked_for() {
    let values: Vec<f64> = (1..=16).map(f64::from).collect();
    let fused = Options { contraction: true, ..Options::default() };
    let difference = |b: &mut Build, x: Value| {
        let product = b.binary(Binary::Mul, x, x);
        b.binary(Binary::Sub, product, x)
    };
    assert_eq!(bound_with(Options::default(), DType::F32, &values, difference), 0.0);
    assert!(bound_with(fused, DType::F32, &values, difference) > 0.0);
    assert_eq!(bound_with(fused, DType::I32, &values, difference), 0.0);
}

#[test]
fn bounds_go_from_operands_to_results() {
    // The bound of a function's result, and of what is computed from it.
    let after = |then: fn(&mut Build, Value, Value) -> Value| {
        bound(DType::F32, move |b, x| {
            let root = b.op(OpKind::Unary(Unary::Sqrt), &[x], &b.ty(x));
            then(b, root, x)
        })
    };
    let own = after(|_, root, _| root);
    assert!(own > 0.0 && own < 1e-5, "{own}");
    let near = |got: f64, wanted: f64| assert!((got / wanted - 1.0).abs() < 0.5, "{got} {wanted}");
    near(after(|b, root, _| b.binary(Binary::Add, root, root)), 2.0 * own);
    near(after(|b, root, _| b.binary(Binary::Mul, root, root)), 2.0 * 4.0 * own);
    assert_eq!(after(|b, root, _| b.op(OpKind::Unary(Unary::Neg), &[root], &b.ty(root))), own);
    // The difference of equal numbers cancels, and keeps both bounds.
    near(after(|b, root, _| b.binary(Binary::Sub, root, root)), 2.0 * own);
    // What is far from both is certain, what is close may be either.
    let choose = |b: &mut Build, root: Value, limit: f64| {
        let limit = b.constant(DType::F32, limit);
        let limit = b.splat(limit, &[16]);
        let less = b.compare(Compare::Olt, root, limit);
        let (one, two) = (b.constant(DType::F32, 1.0), b.constant(DType::F32, 3.0));
        let (one, two) = (b.splat(one, &[16]), b.splat(two, &[16]));
        b.select(less, one, two)
    };
    assert_eq!(
        bound(DType::F32, |b, x| {
            let root = b.op(OpKind::Unary(Unary::Sqrt), &[x], &b.ty(x));
            choose(b, root, 2.9)
        }),
        0.0
    );
    assert_eq!(
        bound(DType::F32, |b, x| {
            let root = b.op(OpKind::Unary(Unary::Sqrt), &[x], &b.ty(x));
            choose(b, root, 3.0)
        }),
        2.0
    );
    // Rounded to fewer digits, either neighbour.
    let half =
        after(|b, root, _| b.op(OpKind::Cast(Cast::Float), &[root], &tensor(DType::F16, &[16])));
    assert!(half == 0.0 || (half - 0.5_f64.powi(9)).abs() < 1e-9, "{half}");
    let whole = after(|b, root, _| {
        b.op(OpKind::Cast(Cast::SFromFloat), &[root], &tensor(DType::I32, &[16]))
    });
    assert_eq!(whole, 1.0);
    // By a divisor that may be zero, anything.
    let quotient = after(|b, root, _| {
        let nothing = b.binary(Binary::Sub, root, root);
        b.binary(Binary::Div, root, nothing)
    });
    assert_eq!(quotient, f64::INFINITY);
    // The bits of an uncertain number are uncertain; with its sign alone they are in order.
    let bits = after(|b, root, _| {
        let bits = b.op(OpKind::Cast(Cast::Bits), &[root], &tensor(DType::I32, &[16]));
        b.binary(Binary::Xor, bits, bits)
    });
    assert_eq!(bits, f64::INFINITY);
    let bits =
        after(|b, root, _| b.op(OpKind::Cast(Cast::Bits), &[root], &tensor(DType::I32, &[16])));
    assert!((1.0..20.0).contains(&bits), "{bits}");
}

fn buffer(dtype: DType, values: &[f64]) -> Buffer {
    let bytes = values.iter().flat_map(|&value| {
        scalar::from_f64(dtype, value).to_le_bytes().into_iter().take(dtype.bytes() as usize)
    });
    Buffer { name: "out".into(), bytes: bytes.collect(), dtype, initialised: true }
}

/// Compared with one bound for every element.
fn within(wanted: &Buffer, got: &Buffer, bound: f64) -> Result<Agreement, Mismatch> {
    compare(wanted, got, BufferBounds::from(&vec![bound; wanted.bytes.len()][..]))
}

#[test]
fn elements_are_compared_within_their_bounds() {
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        let one = buffer(dtype, &[0.0, 1.0]);
        let other = buffer(dtype, &[0.0, 1.25]);
        let agreement = within(&one, &other, 0.5).unwrap();
        assert!(agreement.max_ulp > 0);
        assert_eq!((agreement.max_abs, agreement.max_rel, agreement.max_share), (0.25, 0.25, 0.5));
        let mismatch = within(&one, &other, 0.2).unwrap_err();
        assert_eq!((mismatch.index, mismatch.mismatches, mismatch.elements), (1, 1, 2), "{dtype}");
        assert!(within(&one, &other, 0.0).is_err());
        assert!(within(&one, &other, f64::INFINITY).is_ok());
    }
    let (one, other) = (buffer(DType::I8, &[3.0]), buffer(DType::I8, &[4.0]));
    assert!(within(&one, &other, 1.0).is_ok() && within(&one, &other, 0.0).is_err());
}

#[test]
fn special_values_lengths_and_integers() {
    let f32s = |values: &[f64]| buffer(DType::F32, values);
    let (nan, infinity) = (f64::NAN, f64::INFINITY);
    for bound in [0.0, 1.0] {
        let mut other_nan = f32s(&[nan, infinity]);
        other_nan.bytes[0] = 1;
        assert!(within(&f32s(&[nan, infinity]), &other_nan, bound).is_ok());
        for (wanted, got) in [(nan, 1.0), (1.0, nan), (infinity, -infinity), (infinity, 3e38)] {
            assert!(within(&f32s(&[wanted]), &f32s(&[got]), bound).is_err());
        }
        let short = within(&f32s(&[1.0, 2.0]), &f32s(&[1.0]), bound).unwrap_err();
        assert_eq!((short.index, short.actual), (1, None));
    }
    let ints = |values: &[f64]| buffer(DType::I16, values);
    let same = within(&ints(&[1.0, -2.0]), &ints(&[1.0, -2.0]), 0.0).unwrap();
    assert_eq!(same, Agreement::default());
    let mismatch = within(&ints(&[1.0, -2.0]), &ints(&[1.0, -3.0]), 0.0).unwrap_err();
    assert_eq!(mismatch.to_string(), "element 1 of `out` is -3, expected -2; 1 of 2 differ");
    let zeros = within(&f32s(&[0.0]), &f32s(&[-0.0]), 1.0).unwrap();
    assert_eq!(zeros.max_ulp, 0);
    assert!(within(&f32s(&[0.0]), &f32s(&[-0.0]), 0.0).is_err());
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
    let kind = OpKind::Atomic { op: Rmw::FAdd.into(), order: Order::Relaxed, scope: Scope::Gpu };
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
            let bounds = outcome.report.bounds.of_buffer(1);
            assert_eq!(bounds.get(0), sum.bound());
            let expected = &outcome.memory.buffers()[1];
            let verdict = |value: u64| {
                let bytes = value.to_le_bytes()[..dtype.bytes() as usize].to_vec();
                compare(expected, &Buffer { bytes, ..expected.clone() }, bounds)
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
    let kind = OpKind::Atomic { op: Rmw::FAdd.into(), order: Order::Relaxed, scope: Scope::Gpu };
    b.op(kind, &[x, one], &Type::scalar(DType::F32));
    b.store(&[x, one]);
    let arguments = vec![Argument::Array(DType::F32, vec![2.0])];
    let outcome = launch(&b.finish(), 1, arguments).unwrap();
    assert_eq!(outcome.report.sums, Sums::default());
}
