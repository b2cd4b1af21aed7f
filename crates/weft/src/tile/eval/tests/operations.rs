//! The pure operations.

use super::build::{Argument, Build, launch, tensor};
use crate::dtype::DType;
use crate::scalar::{self, Binary, Cast, Compare, Unary};
use crate::tile::{Element, OpKind, Precision, Type, Value};

/// What a kernel that reads arrays and stores one tensor leaves in its last argument.
pub(super) fn computed(
    inputs: &[(DType, &[u64], Vec<f64>)],
    output: (DType, u64),
    body: impl FnOnce(&mut Build, &[Value]) -> Value,
) -> Vec<f64> {
    let mut b = Build::new();
    let pointers: Vec<Value> = inputs.iter().map(|(dtype, ..)| b.pointer(*dtype)).collect();
    let out = b.pointer(output.0);
    let loaded: Vec<Value> =
        pointers.iter().zip(inputs).map(|(&p, (_, shape, _))| b.load_array(p, shape)).collect();
    let result = body(&mut b, &loaded);
    b.store_array(out, result);
    let mut arguments: Vec<Argument> =
        inputs.iter().map(|(dtype, _, data)| Argument::Array(*dtype, data.clone())).collect();
    arguments.push(Argument::Array(output.0, vec![-77.0; output.1 as usize]));
    let outcome = launch(&b.finish(), 1, arguments).unwrap();
    assert_eq!(outcome.report.findings, []);
    outcome.array(inputs.len())
}

pub(super) fn count(n: u64) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

/// Some values with signs, fractions and a wide range, exact in every float type.
fn mixed(n: u64, seed: u64) -> Vec<f64> {
    (0..n).map(|i| ((i * 37 + seed * 11) % 61) as f64 * 0.5 - 13.0).collect()
}

#[test]
fn elementwise_operations_are_the_scalar_ones_on_every_type() {
    for dtype in DType::ALL {
        let (xs, ys) = (mixed(16, 1), mixed(16, 2));
        let bits = |x: f64| scalar::from_f64(dtype, x);
        for &op in Binary::ALL {
            let Some(apply) = scalar::binary(op, dtype) else { continue };
            let got = computed(
                &[(dtype, &[16], xs.clone()), (dtype, &[16], ys.clone())],
                (dtype, 16),
                |b, v| b.binary(op, v[0], v[1]),
            );
            for i in 0..16 {
                let wanted = scalar::to_f64(dtype, apply(bits(xs[i]), bits(ys[i])));
                assert!(got[i] == wanted || got[i].is_nan() && wanted.is_nan(), "{op} {dtype}");
            }
        }
        for &op in Unary::ALL {
            let Some(apply) = scalar::unary(op, dtype) else { continue };
            let got = computed(&[(dtype, &[16], xs.clone())], (dtype, 16), |b, v| {
                let ty = b.ty(v[0]);
                b.op(OpKind::Unary(op), &[v[0]], &ty)
            });
            for (x, got) in xs.iter().zip(got) {
                let wanted = scalar::to_f64(dtype, apply(bits(*x)));
                assert!(got == wanted || got.is_nan() && wanted.is_nan(), "{op} {dtype}");
            }
        }
    }
}

#[test]
fn comparisons_select_and_casts() {
    let (xs, ys) = (mixed(16, 3), mixed(16, 4));
    let inputs = [(DType::F32, &[16u64][..], xs.clone()), (DType::F32, &[16][..], ys.clone())];
    let larger = computed(&inputs, (DType::F32, 16), |b, v| {
        let condition = b.compare(Compare::Ogt, v[0], v[1]);
        b.select(condition, v[0], v[1])
    });
    assert_eq!(larger, xs.iter().zip(&ys).map(|(x, y)| x.max(*y)).collect::<Vec<_>>());
    let by_scalar = computed(&inputs, (DType::F32, 16), |b, v| {
        let condition = b.constant(DType::I1, 0.0);
        b.select(condition, v[0], v[1])
    });
    assert_eq!(by_scalar, ys);
    let whole = computed(&inputs[..1], (DType::I8, 16), |b, v| {
        b.op(OpKind::Cast(Cast::SFromFloat), &[v[0]], &tensor(DType::I8, &[16]))
    });
    assert_eq!(whole, xs.iter().map(|x| x.trunc()).collect::<Vec<_>>());
    let fused = computed(&inputs, (DType::F32, 16), |b, v| {
        b.op(OpKind::Fma, &[v[0], v[1], v[0]], &tensor(DType::F32, &[16]))
    });
    assert_eq!(fused, xs.iter().zip(&ys).map(|(x, y)| x * y + x).collect::<Vec<_>>());
}

#[test]
fn shape_operations_move_the_element_that_they_say() {
    let input = [(DType::I32, &[4u64, 2, 8][..], count(64))];
    let order = [2u8, 0, 1];
    let got = computed(&input, (DType::I32, 64), |b, v| {
        let kind = OpKind::Trans { order: order.to_vec() };
        b.op(kind, &[v[0]], &tensor(DType::I32, &[8, 4, 2]))
    });
    for (i, j, k) in (0..8).flat_map(|i| (0..4).flat_map(move |j| (0..2).map(move |k| (i, j, k)))) {
        assert_eq!(got[(i * 4 + j) * 2 + k] as usize, (j * 2 + k) * 8 + i);
    }
    let got = computed(&[(DType::I32, &[4], count(4))], (DType::I32, 32), |b, v| {
        let column = b.op(OpKind::ExpandDims { axis: 1 }, &[v[0]], &tensor(DType::I32, &[4, 1]));
        b.op(OpKind::Broadcast, &[column], &tensor(DType::I32, &[4, 8]))
    });
    assert_eq!(got, (0..32).map(|i| f64::from(i / 8)).collect::<Vec<_>>());
    let got = computed(&[(DType::I32, &[4], count(4))], (DType::I32, 32), |b, v| {
        let row = b.op(OpKind::ExpandDims { axis: 0 }, &[v[0]], &tensor(DType::I32, &[1, 4]));
        b.op(OpKind::Broadcast, &[row], &tensor(DType::I32, &[8, 4]))
    });
    assert_eq!(got, (0..32).map(|i| f64::from(i % 4)).collect::<Vec<_>>());
    let got = computed(&[(DType::I32, &[1], vec![9.0])], (DType::I32, 1), |b, v| {
        b.op(OpKind::Unsplat, &[v[0]], &Type::scalar(DType::I32))
    });
    assert_eq!(got, [9.0]);
}

#[test]
fn ranges_constants_and_poison() {
    let got = computed(&[], (DType::I32, 8), |b, _| {
        let kind = OpKind::MakeRange { start: -3, end: 5 };
        b.op(kind, &[], &tensor(DType::I32, &[8]))
    });
    assert_eq!(got, (-3..5).map(f64::from).collect::<Vec<_>>());
    let got = computed(&[], (DType::F16, 4), |b, _| {
        let bits = scalar::from_f64(DType::F16, 1.5);
        b.op(OpKind::Constant(bits), &[], &tensor(DType::F16, &[4]))
    });
    assert_eq!(got, [1.5; 4]);
    let got =
        computed(&[], (DType::I32, 4), |b, _| b.op(OpKind::Poison, &[], &tensor(DType::I32, &[4])));
    assert_eq!(got, [0.0; 4]);
}

#[test]
fn dot_is_the_sum_of_products_in_the_type_of_c() {
    let (m, n, k) = (4u64, 8u64, 16u64);
    for (narrow, wide) in [
        (DType::F16, DType::F32),
        (DType::BF16, DType::F32),
        (DType::F32, DType::F32),
        (DType::F64, DType::F64),
        (DType::I8, DType::I32),
    ] {
        let (a, b, c) = (mixed(m * k, 5), mixed(k * n, 6), mixed(m * n, 7));
        let (a, b, c): (Vec<f64>, Vec<f64>, Vec<f64>) = (
            a.iter().map(|x| x.trunc()).collect(),
            b.iter().map(|x| x.trunc()).collect(),
            c.iter().map(|x| x.trunc()).collect(),
        );
        let inputs = [
            (narrow, &[m, k][..], a.clone()),
            (narrow, &[k, n][..], b.clone()),
            (wide, &[m, n][..], c.clone()),
        ];
        let got = computed(&inputs, (wide, m * n), |build, v| {
            build.op(OpKind::Dot(Precision::Ieee), v, &tensor(wide, &[m, n]))
        });
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let products = (0..k).map(|l| a[(i * k + l) as usize] * b[(l * n + j) as usize]);
            let wanted = c[(i * n + j) as usize] + products.sum::<f64>();
            assert_eq!(got[(i * n + j) as usize], wanted, "{narrow} {wide}");
        }
    }
}

#[test]
fn dot_of_several_matrices() {
    let (a, b) = (mixed(2 * 4 * 2, 1), mixed(2 * 2 * 4, 2));
    let inputs =
        [(DType::F32, &[2u64, 4, 2][..], a.clone()), (DType::F32, &[2, 2, 4][..], b.clone())];
    let got = computed(&inputs, (DType::F32, 32), |build, v| {
        let ty = tensor(DType::F32, &[2, 4, 4]);
        let zero = build.op(OpKind::Constant(0), &[], &ty);
        build.op(OpKind::Dot(Precision::Ieee), &[v[0], v[1], zero], &ty)
    });
    for (place, got) in got.into_iter().enumerate() {
        let (z, i, j) = (place / 16, place / 4 % 4, place % 4);
        let wanted: f64 = (0..2).map(|l| a[(z * 4 + i) * 2 + l] * b[(z * 2 + l) * 4 + j]).sum();
        assert_eq!(got, wanted);
    }
}

#[test]
fn reductions_fold_each_axis() {
    let input = [(DType::I32, &[4u64, 8, 2][..], count(64))];
    let at = |i: usize, j: usize, k: usize| ((i * 8 + j) * 2 + k) as f64;
    for axis in 0..3u8 {
        let extent = [4, 8, 2][usize::from(axis)];
        let got = computed(&input, (DType::I32, 64 / extent), |b, v| {
            b.reduce(axis, &[v[0]], |b, p| vec![b.binary(Binary::Add, p[0], p[1])])[0]
        });
        let wanted: Vec<f64> = match axis {
            0 => (0..16).map(|r| (0..4).map(|i| at(i, r / 2, r % 2)).sum()).collect(),
            1 => (0..8).map(|r| (0..8).map(|j| at(r / 2, j, r % 2)).sum()).collect(),
            _ => (0..32).map(|r| (0..2).map(|k| at(r / 8, r % 8, k)).sum()).collect(),
        };
        assert_eq!(got, wanted, "axis {axis}");
    }
}

#[test]
fn reductions_go_pairwise_from_the_lowest_index_bit() {
    // In f32, 2^24 + 1 is 2^24: a sequential sum loses what the pairs keep.
    let xs = vec![16_777_216.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let add = |x: f64, y: f64| f64::from(x as f32 + y as f32);
    let pairs = [add(xs[0], xs[1]), add(xs[2], xs[3]), add(xs[4], xs[5]), add(xs[6], xs[7])];
    let wanted = add(add(pairs[0], pairs[1]), add(pairs[2], pairs[3]));
    assert_eq!(wanted, 16_777_222.0);
    let got = computed(&[(DType::F32, &[8], xs)], (DType::F32, 1), |b, v| {
        b.reduce(0, &[v[0]], |b, p| vec![b.binary(Binary::Add, p[0], p[1])])[0]
    });
    assert_eq!(got, [wanted]);
    // An operation that is not commutative shows that the lower index stands on the left.
    for at_once in [true, false] {
        let got = computed(&[(DType::I32, &[8], count(8))], (DType::I32, 1), |b, v| {
            b.reduce(0, &[v[0]], |b, p| {
                if at_once {
                    return vec![p[0]];
                }
                let yes = b.constant(DType::I1, 1.0);
                b.if_else(yes, &[Type::scalar(DType::I32)], |_| vec![p[0]], |_| vec![p[1]])
            })[0]
        });
        assert_eq!(got, [0.0]);
    }
}

/// The maximum and its index; of several, the first. With `branches`, by `if`.
fn argmax(b: &mut Build, p: &[Value], branches: bool) -> Vec<Value> {
    let [left, left_index, right, right_index] = *p else { unreachable!() };
    let greater = b.compare(Compare::Ogt, left, right);
    let equal = b.compare(Compare::Oeq, left, right);
    let first = b.compare(Compare::Slt, left_index, right_index);
    let tie = b.binary(Binary::And, equal, first);
    let takes_left = b.binary(Binary::Or, greater, tie);
    if branches {
        let types = [Type::scalar(DType::F32), Type::scalar(DType::I32)];
        return b.if_else(
            takes_left,
            &types,
            |_| vec![left, left_index],
            |_| vec![right, right_index],
        );
    }
    vec![b.select(takes_left, left, right), b.select(takes_left, left_index, right_index)]
}

#[test]
fn argmax_of_rows_takes_the_first_of_equal_elements() {
    let data: Vec<f64> = (0..128u32).map(|i| f64::from(i * 7 % 5)).collect();
    for branches in [false, true] {
        let got = computed(&[(DType::F32, &[8, 16], data.clone())], (DType::I32, 8), |b, v| {
            let columns = b.range(16);
            let kind = OpKind::ExpandDims { axis: 0 };
            let row = b.op(kind, &[columns], &tensor(DType::I32, &[1, 16]));
            let indices = b.op(OpKind::Broadcast, &[row], &tensor(DType::I32, &[8, 16]));
            b.reduce(1, &[v[0], indices], |b, p| argmax(b, p, branches))[1]
        });
        let wanted: Vec<f64> = data
            .chunks(16)
            .map(|row| {
                let best = row.iter().copied().fold(f64::MIN, f64::max);
                row.iter().position(|&x| x == best).unwrap() as f64
            })
            .collect();
        assert_eq!(got, wanted, "branches: {branches}");
    }
}

#[test]
fn pointers_step_by_elements_and_compare_as_integers() {
    let mut b = Build::new();
    let (x, out) = (b.pointer(DType::F64), b.pointer(DType::I64));
    let offset = b.constant(DType::I32, -2.0);
    let moved = b.at(x, offset);
    let as_integer =
        |b: &mut Build, p| b.op(OpKind::Cast(Cast::Bits), &[p], &Type::scalar(DType::I64));
    let (from, to) = (as_integer(&mut b, x), as_integer(&mut b, moved));
    let distance = b.binary(Binary::Sub, to, from);
    let as_bytes = b.op(OpKind::Cast(Cast::Bits), &[x], &Type::pointer(DType::I8));
    assert_eq!(b.ty(as_bytes).element, Element::Pointer(DType::I8));
    b.store_array(out, distance);
    let arrays =
        vec![Argument::Array(DType::F64, vec![0.0; 4]), Argument::Array(DType::I64, vec![0.0])];
    assert_eq!(launch(&b.finish(), 1, arrays).unwrap().array(1), [-16.0]);
}
