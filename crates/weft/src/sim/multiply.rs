//! Products of matrices in the registers of a warp, from the fragments of the PTX ISA.

use crate::dtype::DType;
use crate::lane::MatrixMultiply;
use crate::scalar::{self, Cast, to_f64};

/// Where a lane's number `index` of the left factor stands: row and summed index.
fn left(multiply: MatrixMultiply, lane: usize, index: usize) -> (usize, usize) {
    if multiply.rows != 8 {
        return left_of_sixteen(multiply.left, lane, index);
    }
    let (word, within) = in_word(multiply.left, index);
    let width = per_word(multiply.left);
    (lane >> 2, (lane & 3) * width + within + 4 * width * word)
}

/// The same of a factor of 16 rows.
pub(super) fn left_of_sixteen(dtype: DType, lane: usize, index: usize) -> (usize, usize) {
    let (word, within) = in_word(dtype, index);
    let width = per_word(dtype);
    let (group, quad) = (lane >> 2, lane & 3);
    (group + 8 * (word & 1), quad * width + within + 4 * width * (word >> 1))
}

/// Where a lane's number `index` of the right factor stands: summed index and column.
fn right(multiply: MatrixMultiply, lane: usize, index: usize) -> (usize, usize) {
    let (word, within) = in_word(multiply.right, index);
    let width = per_word(multiply.right);
    ((lane & 3) * width + within + 4 * width * word, lane >> 2)
}

/// Where a lane's sum `index` stands: row and column.
fn sum(lane: usize, index: usize) -> (usize, usize) {
    ((lane >> 2) + 8 * (index >> 1), 2 * (lane & 3) + (index & 1))
}

/// How many numbers are in a word of 32 bits, or of 64 where they are as wide.
pub(super) fn per_word(dtype: DType) -> usize {
    (32 / dtype.bits() as usize).max(1)
}

fn in_word(dtype: DType, index: usize) -> (usize, usize) {
    (index / per_word(dtype), index % per_word(dtype))
}

/// Number `index` of a lane among the words that hold a matrix, each a row of all lanes.
pub(super) fn number(words: &[&[u64]], dtype: DType, lane: usize, index: usize) -> u64 {
    let (word, within) = in_word(dtype, index);
    let bits = words[word][lane];
    if dtype.bits() >= 32 { bits } else { bits >> (within as u32 * dtype.bits()) & dtype.mask() }
}

/// The words of the sum, word by word and in each all 32 lanes, from those of the factors and of what
/// is added to.
pub(super) fn multiply(
    multiply: MatrixMultiply,
    [left_words, right_words, sum_words]: [&[&[u64]]; 3],
) -> Vec<u64> {
    let [m, n, k] = [multiply.rows, multiply.columns, multiply.summed].map(usize::from);
    let (mut a, mut b) = (vec![0; m * k], vec![0; n * k]);
    for lane in 0..32 {
        for index in 0..m * k / 32 {
            let (row, at) = left(multiply, lane, index);
            a[row * k + at] = number(left_words, multiply.left, lane, index);
        }
        for index in 0..n * k / 32 {
            let (at, column) = right(multiply, lane, index);
            b[column * k + at] = number(right_words, multiply.right, lane, index);
        }
    }
    let dot = Dot::of(multiply.sum);
    let (a, b) = (dot.read(multiply.left, &a), dot.read(multiply.right, &b));
    let in_word = per_word(multiply.sum);
    let mut results = vec![0; m * n / in_word];
    for lane in 0..32 {
        for index in 0..m * n / 32 {
            let (row, column) = sum(lane, index);
            let factors = a[row * k..][..k].iter().zip(&b[column * k..][..k]);
            let start = number(sum_words, multiply.sum, lane, index);
            let bits = dot.fold(start, factors.map(|(&a, &b)| (a, b)));
            let shift = (index % in_word) as u32 * multiply.sum.bits();
            results[index / in_word * 32 + lane] |= bits << shift;
        }
    }
    results
}

/// How products are formed and added.
pub(super) enum Dot {
    /// As integers of 32 bits.
    Whole,
    /// As doubles, one rounding each.
    Doubles,
    /// Exactly, with one rounding at the end: to the nearest f16, or toward zero to f32.
    Once(DType),
}

impl Dot {
    pub(super) fn of(sum: DType) -> Dot {
        match sum {
            DType::I32 => Dot::Whole,
            DType::F64 => Dot::Doubles,
            dtype => Dot::Once(dtype),
        }
    }

    /// The factors as what they are multiplied as: integers of 64 bits or doubles.
    pub(super) fn read(&self, dtype: DType, bits: &[u64]) -> Vec<u64> {
        let wide = |&bits: &u64| match (self, dtype) {
            (Dot::Whole, _) => scalar::sign_extend(dtype, bits) as u64,
            // The instruction does not look at the lowest 13 bits.
            (_, DType::F32) => to_f64(dtype, bits & !0x1fff).to_bits(),
            _ => to_f64(dtype, bits).to_bits(),
        };
        bits.iter().map(wide).collect()
    }

    pub(super) fn fold(&self, start: u64, factors: impl Iterator<Item = (u64, u64)>) -> u64 {
        match *self {
            Dot::Whole => {
                let sum = factors.fold(start, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(b)));
                sum & DType::I32.mask()
            }
            Dot::Doubles => {
                let fma = scalar::fma(DType::F64);
                factors.fold(start, |sum, (a, b)| fma(a, b, sum))
            }
            Dot::Once(dtype) => {
                let products = factors.map(|(a, b)| f64::from_bits(a) * f64::from_bits(b));
                // The products are exact in f64, and 53 digits hold their sum but for what rounding
                // to 24 or 11 would drop.
                let sum = products.fold(to_f64(dtype, start), |sum, product| sum + product);
                match dtype {
                    DType::F32 => {
                        let most = 2.0_f64 * f64::from(2.0_f32.powi(127));
                        let finite = sum.is_finite() && sum.abs() < most;
                        let op = if finite { Cast::FloatToZero } else { Cast::Float };
                        scalar::cast(op, DType::F64, dtype, sum.to_bits())
                    }
                    _ => scalar::cast(Cast::Float, DType::F64, dtype, sum.to_bits()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [[u8; 2]; 6] = [[8, 4], [16, 4], [16, 8], [16, 16], [16, 32], [8, 8]];

    fn forms() -> Vec<MatrixMultiply> {
        let mut forms = Vec::new();
        for [rows, summed] in SHAPES {
            for left in DType::ALL {
                for (right, sum) in DType::ALL.into_iter().flat_map(|r| DType::ALL.map(|s| (r, s)))
                {
                    forms.push(MatrixMultiply { rows, columns: 8, summed, left, right, sum });
                }
            }
        }
        forms.retain(|form| form.exists());
        forms
    }

    /// The words of a matrix given by its elements, by the place of each of a lane's numbers.
    fn dealt(
        dtype: DType,
        count: usize,
        place: impl Fn(usize, usize) -> (usize, usize),
        element: impl Fn(usize, usize) -> u64,
    ) -> Vec<u64> {
        let mut words = vec![0; count / per_word(dtype)];
        for (lane, index) in (0..32).flat_map(|lane| (0..count / 32).map(move |i| (lane, i))) {
            let (row, column) = place(lane, index);
            let (word, within) = in_word(dtype, index);
            words[word * 32 + lane] |= element(row, column) << (within as u32 * dtype.bits() % 64);
        }
        words
    }

    #[test]
    fn products_are_those_of_matrices() {
        let forms = forms();
        assert_eq!(forms.len(), 18);
        for form in forms {
            let [m, n, k] = [form.rows, form.columns, form.summed].map(usize::from);
            // Small integers are exact in every type, and so are their sums.
            let number = |dtype: DType, value: i64| {
                if dtype.is_float() {
                    scalar::from_f64(dtype, value as f64)
                } else {
                    value as u64 & dtype.mask()
                }
            };
            let a = |row: usize, at: usize| (row * 7 + at * 5) as i64 % 8 - 3;
            let b = |at: usize, column: usize| (at * 3 + column * 11) as i64 % 7 - 4;
            let c = |row: usize, column: usize| (row * 8 + column) as i64 % 16 - 5;
            let left_words = dealt(
                form.left,
                m * k,
                |lane, index| left(form, lane, index),
                |row, at| number(form.left, a(row, at)),
            );
            let right_words = dealt(
                form.right,
                n * k,
                |lane, index| right(form, lane, index),
                |at, column| number(form.right, b(at, column)),
            );
            let start = dealt(form.sum, m * n, sum, |row, column| number(form.sum, c(row, column)));
            let expected = dealt(form.sum, m * n, sum, |row, column| {
                let products = (0..k).map(|at| a(row, at) * b(at, column));
                number(form.sum, c(row, column) + products.sum::<i64>())
            });
            let rows = [&left_words, &right_words, &start].map(|words| words.chunks(32).collect());
            let [x, y, z]: [Vec<&[u64]>; 3] = rows;
            assert_eq!(multiply(form, [&x, &y, &z]), expected, "{form:?}");
        }
    }

    /// One lane's sum of f32 from a start and one product.
    fn summed(start: f32, a: f32, b: f32) -> f32 {
        let form = MatrixMultiply {
            rows: 16,
            columns: 8,
            summed: 4,
            left: DType::F32,
            right: DType::F32,
            sum: DType::F32,
        };
        let row = |x: f32| vec![u64::from(x.to_bits()); 32];
        let zero = row(0.0);
        // Each lane has one number along the summed index; three of four are zeros.
        let first = |x: f32| {
            let lane = |lane: u64| if lane.is_multiple_of(4) { u64::from(x.to_bits()) } else { 0 };
            (0..32).map(lane).collect::<Vec<u64>>()
        };
        let (a, b, start) = (first(a), first(b), row(start));
        let sums = multiply(form, [&[&a, &zero], &[&b], &[&start[..]; 4]]);
        f32::from_bits(sums[0] as u32)
    }

    #[test]
    fn sums_are_rounded_once_toward_zero() {
        let step = f32::EPSILON;
        assert_eq!(summed(1.0, step, 0.75), 1.0);
        assert_eq!(summed(-1.0, step, -0.75), -1.0);
        assert_eq!(summed(1.0, -step, 0.25), 1.0 - step / 2.0);
        assert_eq!(summed(f32::MAX, f32::MAX, 1.0), f32::INFINITY);
        assert!(summed(f32::INFINITY, f32::NEG_INFINITY, 1.0).is_nan());
    }

    #[test]
    fn of_tf32_the_lowest_bits_are_not_looked_at() {
        let close = f32::from_bits(1.0_f32.to_bits() | 0x1fff);
        assert_eq!(summed(0.0, close, 3.0), 3.0);
        let next = f32::from_bits(1.0_f32.to_bits() | 0x2000);
        assert_eq!(summed(0.0, next, 1.0), next);
    }
}
