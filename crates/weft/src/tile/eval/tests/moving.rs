//! Operations that move elements or fold along an axis in order.

use super::build::tensor;
use super::operations::{computed, count};
use crate::dtype::DType;
use crate::scalar::Binary;
use crate::tile::OpKind;

const I: DType = DType::I32;

#[test]
fn scans_fold_what_came_before_on_the_left() {
    // x - 2y is not commutative, nor associative: the order of the evaluator itself is seen.
    let scanned = |shape: &'static [u64], axis, reverse| {
        computed(&[(I, shape, count(8))], (I, 8), |b, v| {
            let folded = b.scan((axis, reverse), &[v[0]], |b, sides| {
                let double = b.binary(Binary::Add, sides[1], sides[1]);
                vec![b.binary(Binary::Sub, sides[0], double)]
            });
            folded[0]
        })
    };
    assert_eq!(scanned(&[8], 0, false), [0., -2., -6., -12., -20., -30., -42., -56.]);
    assert_eq!(scanned(&[8], 0, true), [-35., -35., -33., -29., -23., -15., -5., 7.]);
    assert_eq!(scanned(&[2, 4], 0, false), [0., 1., 2., 3., -8., -9., -10., -11.]);
    assert_eq!(scanned(&[2, 4], 1, true), [-3., -3., -1., 3., -23., -15., -5., 7.]);
}

#[test]
fn a_scan_of_two_operands_carries_both() {
    // Pairs (a, b) compose as maps x -> a x + b: the first map is applied first.
    let slopes = vec![2., 1., -1., 3.];
    let offsets = vec![1., 5., 2., -4.];
    for (index, wanted) in [[2., 2., -2., -6.], [1., 6., -4., -16.]].into_iter().enumerate() {
        let inputs = [(I, &[4][..], slopes.clone()), (I, &[4][..], offsets.clone())];
        let got = computed(&inputs, (I, 4), |b, v| {
            let folded = b.scan((0, false), v, |b, sides| {
                let [a, b0, c, d] = [sides[0], sides[1], sides[2], sides[3]];
                let scaled = b.binary(Binary::Mul, b0, c);
                vec![b.binary(Binary::Mul, a, c), b.binary(Binary::Add, scaled, d)]
            });
            folded[index]
        });
        assert_eq!(got, wanted);
    }
}

#[test]
fn a_gather_takes_elements_along_its_axis() {
    let source: Vec<f64> = count(8).iter().map(|x| x * 10.).collect();
    let indices = [3., 0., 0., 1.];
    let gathered = |axis: u8, from: &'static [u64], to: &'static [u64], indices: Vec<f64>| {
        let wanted = to.iter().product();
        computed(&[(I, from, source.clone()), (I, to, indices)], (I, wanted), |b, v| {
            b.op(OpKind::Gather { axis }, v, &tensor(I, to))
        })
    };
    let rows = gathered(0, &[4, 2], &[2, 2], indices.to_vec());
    assert_eq!(rows, [60., 10., 0., 30.]);
    let columns = gathered(1, &[2, 4], &[2, 2], indices.to_vec());
    assert_eq!(columns, [30., 0., 40., 50.]);
    // Outside of the axis there is nothing.
    assert_eq!(gathered(1, &[2, 4], &[2, 1], vec![-1., 4.]), [0., 0.]);
}

#[test]
fn a_histogram_counts_what_is_in_its_bins_and_not_masked() {
    let elements = vec![0., 3., 3., 1., -1., 4., 3., 0.];
    let all = computed(&[(I, &[8], elements.clone())], (I, 4), |b, v| {
        b.op(OpKind::Histogram, v, &tensor(I, &[4]))
    });
    assert_eq!(all, [2., 1., 0., 3.]);
    let mask = vec![1., 0., 1., 1., 1., 1., 1., 0.];
    let inputs = [(I, &[8][..], elements), (DType::I1, &[8][..], mask)];
    let masked = computed(&inputs, (I, 4), |b, v| b.op(OpKind::Histogram, v, &tensor(I, &[4])));
    assert_eq!(masked, [1., 1., 0., 2.]);
}

#[test]
fn what_is_joined_can_be_split() {
    let (xs, ys) = (count(4), vec![10., 20., 30., 40.]);
    let inputs = [(I, &[4][..], xs.clone()), (I, &[4][..], ys.clone())];
    let joined = computed(&inputs, (I, 8), |b, v| b.op(OpKind::Join, v, &tensor(I, &[4, 2])));
    assert_eq!(joined, [0., 10., 1., 20., 2., 30., 3., 40.]);
    for (half, wanted) in [xs, ys].into_iter().enumerate() {
        let got = computed(&[(I, &[4, 2], joined.clone())], (I, 4), |b, v| b.split(v[0])[half]);
        assert_eq!(got, wanted);
    }
}
