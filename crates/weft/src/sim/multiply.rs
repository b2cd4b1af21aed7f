//! Products of matrices in the registers of a warp, from the fragments of the PTX ISA and of AMD's
//! instruction sets.

use crate::dtype::DType;
use crate::lane::{Fragments, MatrixMultiply};
use crate::scalar::{self, Cast, to_f64};

/// Where a lane's number `index` of the left factor stands: row and summed index.
fn left(multiply: MatrixMultiply, lane: usize, index: usize) -> (usize, usize) {
    match (multiply.fragments, multiply.rows) {
        (Fragments::Mma, 8) => {
            let (at, row) = right_of_mma(multiply.left, lane, index);
            (row, at)
        }
        (Fragments::Mma, _) => left_of_sixteen(multiply.left, lane, index),
        _ => {
            let [numbers, ..] = multiply.numbers();
            of_wave(multiply.fragments, usize::from(multiply.rows), numbers, lane, index)
        }
    }
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
    if multiply.fragments == Fragments::Mma {
        return right_of_mma(multiply.right, lane, index);
    }
    let [_, numbers, _] = multiply.numbers();
    let columns = usize::from(multiply.columns);
    let (column, at) = of_wave(multiply.fragments, columns, numbers, lane, index);
    (at, column)
}

/// The same of `mma.sync`.
fn right_of_mma(dtype: DType, lane: usize, index: usize) -> (usize, usize) {
    let (word, within) = in_word(dtype, index);
    let width = per_word(dtype);
    ((lane & 3) * width + within + 4 * width * word, lane >> 2)
}

/// Where a number of a factor of AMD's instructions stands, along the side that the sum keeps, of `side`
/// rows or columns, and along the summed one, of which a lane has `numbers`.
fn of_wave(
    fragments: Fragments,
    side: usize,
    numbers: usize,
    lane: usize,
    index: usize,
) -> (usize, usize) {
    let run = if fragments == Fragments::WmmaGfx11 { 0 } else { lane / side };
    (lane % side, numbers * run + index)
}

/// Where a lane's sum `index` stands: row and column.
fn sum(multiply: MatrixMultiply, lane: usize, index: usize) -> (usize, usize) {
    let side = usize::from(multiply.columns);
    let (run, column) = (lane / side, lane % side);
    match multiply.fragments {
        Fragments::Mma => ((lane >> 2) + 8 * (index >> 1), 2 * (lane & 3) + (index & 1)),
        Fragments::Mfma => {
            let runs = 64 / side;
            let row = if multiply.sum == DType::F64 {
                runs * index + run
            } else {
                4 * runs * (index / 4) + 4 * run + index % 4
            };
            (row, column)
        }
        Fragments::WmmaGfx11 => (2 * index + run, column),
        Fragments::WmmaGfx12 => (8 * run + index, column),
    }
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

/// The words of the sum, word by word and in each all lanes, from those of the factors and of what is
/// added to.
pub(super) fn multiply(
    multiply: MatrixMultiply,
    [left_words, right_words, sum_words]: [&[&[u64]]; 3],
) -> Vec<u64> {
    let [m, n, k] = [multiply.rows, multiply.columns, multiply.summed].map(usize::from);
    let lanes = 1 << multiply.fragments.lanes_log2();
    let [in_left, in_right, in_sum] = multiply.numbers();
    // Where lanes have copies, the sums of a lane are made of those that lie in its own part of the warp:
    // what a program left out of the copies is seen.
    let copies = multiply.fragments.copies();
    let part = |lane: usize| lane * copies / lanes;
    let (mut a, mut b) = (vec![0; copies * m * k], vec![0; copies * n * k]);
    for lane in 0..lanes {
        for index in 0..in_left {
            let (row, at) = left(multiply, lane, index);
            a[(part(lane) * m + row) * k + at] = number(left_words, multiply.left, lane, index);
        }
        for index in 0..in_right {
            let (at, column) = right(multiply, lane, index);
            b[(part(lane) * n + column) * k + at] =
                number(right_words, multiply.right, lane, index);
        }
    }
    let dot = Dot::of(multiply);
    let (a, b) = (dot.read(multiply.left, &a), dot.read(multiply.right, &b));
    let in_word = per_word(multiply.sum);
    let mut results = vec![0; in_sum * lanes / in_word];
    for lane in 0..lanes {
        for index in 0..in_sum {
            let (row, column) = sum(multiply, lane, index);
            let (row, column) = (part(lane) * m + row, part(lane) * n + column);
            let factors = a[row * k..][..k].iter().zip(&b[column * k..][..k]);
            let start = number(sum_words, multiply.sum, lane, index);
            let bits = dot.fold(start, factors.map(|(&a, &b)| (a, b)));
            let shift = (index % in_word) as u32 * multiply.sum.bits();
            results[index / in_word * lanes + lane] |= bits << shift;
        }
    }
    results
}

/// How products are formed and added.
pub(super) enum Dot {
    /// As integers of 32 bits.
    Whole,
    /// One after the other as numbers of this type, one rounding each.
    Each(DType),
    /// Exactly, with one rounding at the end: to the nearest number of this type.
    Nearest(DType),
    /// Exactly, of factors of at most 19 bits, with one rounding at the end, toward zero to f32.
    TowardZero,
}

impl Dot {
    fn of(multiply: MatrixMultiply) -> Dot {
        match (multiply.fragments, multiply.left, multiply.sum) {
            (Fragments::Mma, _, sum) => Dot::of_nvidia(sum),
            (_, DType::F32, DType::F32) => Dot::Each(DType::F32),
            (_, _, DType::F32) => Dot::Nearest(DType::F32),
            (_, _, sum) => Dot::of_nvidia(sum),
        }
    }

    /// As the matrix units of NVIDIA's GPUs do.
    pub(super) fn of_nvidia(sum: DType) -> Dot {
        match sum {
            DType::I32 => Dot::Whole,
            DType::F64 => Dot::Each(DType::F64),
            DType::F32 => Dot::TowardZero,
            dtype => Dot::Nearest(dtype),
        }
    }

    /// The factors as what they are multiplied as: integers of 64 bits, numbers of their own type, or
    /// doubles.
    pub(super) fn read(&self, dtype: DType, bits: &[u64]) -> Vec<u64> {
        let wide = |&bits: &u64| match (self, dtype) {
            (Dot::Whole, _) => scalar::sign_extend(dtype, bits) as u64,
            (Dot::Each(_), _) => bits,
            // The instruction does not look at the lowest 13 bits.
            (Dot::TowardZero, DType::F32) => to_f64(dtype, bits & !0x1fff).to_bits(),
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
            Dot::Each(dtype) => {
                let fma = scalar::fma(dtype);
                factors.fold(start, |sum, (a, b)| fma(a, b, sum))
            }
            Dot::Nearest(dtype) => {
                let sum = exactly(to_f64(dtype, start), factors);
                scalar::cast(Cast::Float, DType::F64, dtype, sum.to_bits())
            }
            Dot::TowardZero => {
                let sum = exactly(to_f64(DType::F32, start), factors);
                let most = 2.0_f64 * f64::from(2.0_f32.powi(127));
                let finite = sum.is_finite() && sum.abs() < most;
                let op = if finite { Cast::FloatToZero } else { Cast::Float };
                scalar::cast(op, DType::F64, DType::F32, sum.to_bits())
            }
        }
    }
}

/// A sum of products, as doubles: the products are exact there, and 53 digits hold their sum but for what
/// rounding to 24 or 11 would drop.
pub(super) fn exactly(start: f64, factors: impl Iterator<Item = (u64, u64)>) -> f64 {
    factors.fold(start, |sum, (a, b)| sum + f64::from_bits(a) * f64::from_bits(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a matrix given by its elements, by the place of each of a lane's numbers.
    fn dealt(
        dtype: DType,
        [lanes, numbers]: [usize; 2],
        place: impl Fn(usize, usize) -> (usize, usize),
        element: impl Fn(usize, usize) -> u64,
    ) -> Vec<u64> {
        let mut words = vec![0; lanes * numbers / per_word(dtype)];
        for (lane, index) in (0..lanes).flat_map(|lane| (0..numbers).map(move |i| (lane, i))) {
            let (row, column) = place(lane, index);
            let (word, within) = in_word(dtype, index);
            words[word * lanes + lane] |=
                element(row, column) << (within as u32 * dtype.bits() % 64);
        }
        words
    }

    #[test]
    fn products_are_those_of_matrices() {
        let forms = MatrixMultiply::every();
        let of = |fragments| forms.iter().filter(|form| form.fragments == fragments).count();
        assert_eq!(Fragments::ALL.map(of), [18, 33, 3, 7]);
        for form in forms {
            let k = usize::from(form.summed);
            let lanes = 1 << form.fragments.lanes_log2();
            let [in_left, in_right, in_sum] = form.numbers().map(|numbers| [lanes, numbers]);
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
                in_left,
                |lane, index| left(form, lane, index),
                |row, at| number(form.left, a(row, at)),
            );
            let right_words = dealt(
                form.right,
                in_right,
                |lane, index| right(form, lane, index),
                |at, column| number(form.right, b(at, column)),
            );
            let place = |lane, index| sum(form, lane, index);
            let start =
                dealt(form.sum, in_sum, place, |row, column| number(form.sum, c(row, column)));
            let expected = dealt(form.sum, in_sum, place, |row, column| {
                let products = (0..k).map(|at| a(row, at) * b(at, column));
                number(form.sum, c(row, column) + products.sum::<i64>())
            });
            let rows =
                [&left_words, &right_words, &start].map(|words| words.chunks(lanes).collect());
            let [x, y, z]: [Vec<&[u64]>; 3] = rows;
            assert_eq!(multiply(form, [&x, &y, &z]), expected, "{form:?}");
        }
    }

    /// One lane's sum of f32 from a start and one product.
    fn summed(start: f32, a: f32, b: f32) -> f32 {
        let form = MatrixMultiply {
            fragments: Fragments::Mma,
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
