//! Products of matrices with scales in the registers of a warp, from the fragments of AMD's CDNA 4 instruction
//! set.

use super::multiply::exactly;
use crate::dtype::DType;
use crate::lane::{ScaledMultiply, ScaledNumber};
use crate::scalar::{self, Cast, to_f64};

/// How many bytes of a factor a lane has together.
const RUN_BYTES: usize = 16;

/// The number of four bits, or of eight, that so many bits are.
fn number(kind: ScaledNumber, bits: u64) -> f64 {
    match kind {
        ScaledNumber::E4M3 => to_f64(DType::F8E4M3FN, bits),
        ScaledNumber::E5M2 => to_f64(DType::F8E5M2, bits),
        ScaledNumber::E2M1 => {
            let (exponent, mantissa) = (bits >> 1 & 3, (bits & 1) as f64);
            let size = match exponent {
                0 => mantissa / 2.0,
                exponent => (1.0 + mantissa / 2.0) * f64::from(1_u32 << (exponent - 1)),
            };
            if bits & 8 == 0 { size } else { -size }
        }
    }
}

/// What a scale stands for.
fn scale(byte: u64) -> f64 {
    match byte & 0xff {
        0xff => f64::NAN,
        exponent => f64::from_bits((exponent + 1023 - 127) << 52),
    }
}

/// The scaled numbers of a factor, row by row of the left one or column by column of the right one.
fn factor(
    multiply: ScaledMultiply,
    kind: ScaledNumber,
    words: &[&[u64]],
    (scales, byte): (&[u64], u8),
) -> Vec<u64> {
    let (side, summed) = (usize::from(multiply.side), multiply.summed());
    let bits = kind.bits() as usize;
    let (run, in_word) = (8 * RUN_BYTES / bits, 32 / bits);
    let mut scaled = vec![0; side * summed];
    for lane in 0..1 << ScaledMultiply::LANES_LOG2 {
        let (kept, part) = (lane % side, lane / side);
        for index in 0..words.len() * in_word {
            let shift = index % in_word * bits;
            let own = words[index / in_word][lane] >> shift & ((1 << bits) - 1);
            let at = index / run * summed / 2 + part * run + index % run;
            // Another lane has the scale of this group.
            let owner = kept + at / ScaledMultiply::GROUP * side;
            let scale = scale(scales[owner] >> (8 * u32::from(byte)));
            scaled[kept * summed + at] = (number(kind, own) * scale).to_bits();
        }
    }
    scaled
}

/// The words of the sum, word by word and in each all lanes, from those of the factors, of what is added to,
/// and of the scales.
pub(super) fn multiply(
    multiply: ScaledMultiply,
    [left, right, start]: [&[&[u64]]; 3],
    scales: [&[u64]; 2],
) -> Vec<u64> {
    let (side, summed) = (usize::from(multiply.side), multiply.summed());
    let [in_left, in_right] = multiply.bytes;
    let a = factor(multiply, multiply.left, left, (scales[0], in_left));
    let b = factor(multiply, multiply.right, right, (scales[1], in_right));
    let lanes = 1 << ScaledMultiply::LANES_LOG2;
    let mut results = Vec::with_capacity(start.len() * lanes);
    for (index, words) in start.iter().enumerate() {
        for (lane, &word) in words.iter().enumerate().take(lanes) {
            let (row, column) =
                (4 * (lanes / side) * (index / 4) + 4 * (lane / side) + index % 4, lane % side);
            let factors = a[row * summed..][..summed].iter().zip(&b[column * summed..][..summed]);
            let sum = exactly(to_f64(DType::F32, word), factors.map(|(&a, &b)| (a, b)));
            results.push(scalar::cast(Cast::Float, DType::F64, DType::F32, sum.to_bits()));
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_four_bits_are_those_of_the_specification() {
        let positive = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
        for (bits, value) in positive.into_iter().enumerate() {
            assert_eq!(number(ScaledNumber::E2M1, bits as u64), value);
            assert_eq!(number(ScaledNumber::E2M1, bits as u64 | 8), -value);
        }
        assert_eq!([0, 127, 254].map(scale), [2_f64.powi(-127), 1.0, 2_f64.powi(127)]);
        assert!(scale(255).is_nan());
    }

    /// What the lanes hold of a factor whose numbers are `bits` of row or column and summed index, by the
    /// table of [`ScaledMultiply`].
    fn dealt(
        form: ScaledMultiply,
        kind: ScaledNumber,
        bits: impl Fn(usize, usize) -> u64,
    ) -> Vec<Vec<u64>> {
        let side = usize::from(form.side);
        let width = kind.bits() as usize;
        let (w, per_word) = (128 / width, 32 / width);
        let word = |word: usize, lane: usize| {
            let number = |e: usize| {
                let i = word * per_word + e;
                let at = w * (lane / side) + i % w + 1024 / side * (i / w);
                bits(lane % side, at) << (width * e)
            };
            (0..per_word).map(number).sum()
        };
        (0..width).map(|at| (0..64).map(|lane| word(at, lane)).collect()).collect()
    }

    /// Every instruction, each scale in each byte, against sums of scaled numbers.
    #[test]
    fn products_are_those_of_scaled_matrices() {
        let forms = ScaledMultiply::every();
        assert_eq!(forms.len(), 18);
        for (count, form) in forms.into_iter().enumerate() {
            let bytes = [count % 4, (count / 4 + 1) % 4].map(|byte| byte as u8);
            let form = ScaledMultiply { bytes, ..form };
            let (side, summed) = (usize::from(form.side), form.summed());
            // Without infinities and NaN.
            let bits = |kind: ScaledNumber, seed: usize| {
                move |kept: usize, at: usize| {
                    let any = (kept * 13 + at * 7 + seed) as u64;
                    match kind {
                        ScaledNumber::E2M1 => any % 16,
                        ScaledNumber::E4M3 | ScaledNumber::E5M2 => {
                            (any * 37 % 0x60) | ((any % 2) << 7)
                        }
                    }
                }
            };
            let exponent = |kept: usize, group: usize| 120 + (kept * 5 + group * 3) as u64 % 15;
            let (x, y) = (bits(form.left, 3), bits(form.right, 8));
            let (a, b) = (dealt(form, form.left, x), dealt(form, form.right, y));
            // What is not chosen is NaN.
            let scales = bytes.map(|byte| -> Vec<u64> {
                let of = |lane: usize| exponent(lane % side, lane / side) << (8 * byte);
                (0..64).map(|lane| of(lane) | 0xffff_ffff ^ 0xff << (8 * byte)).collect()
            });
            let start = vec![vec![u64::from(1.5_f32.to_bits()); 64]; side * side / 64];
            let [a, b, start] = [&a, &b, &start]
                .map(|words| -> Vec<&[u64]> { words.iter().map(|words| &words[..]).collect() });
            let got = multiply(form, [&a, &b, &start], scales.each_ref().map(|words| &words[..]));
            for (place, &got) in got.iter().enumerate() {
                let (i, lane) = (place / 64, place % 64);
                let row = 4 * (64 / side) * (i / 4) + 4 * (lane / side) + i % 4;
                let column = lane % side;
                let mut sum = 1.5;
                for at in 0..summed {
                    let power = exponent(row, at / 32) + exponent(column, at / 32);
                    let product = number(form.left, x(row, at)) * number(form.right, y(column, at));
                    sum += product * 2_f64.powi(power as i32 - 254);
                }
                assert_eq!(f32::from_bits(got as u32), sum as f32, "{form:?} {row} {column}");
            }
        }
    }

    #[test]
    fn a_scale_of_255_makes_a_row_nan_and_no_other() {
        let (side, number) = (16, ScaledNumber::E2M1);
        let form = ScaledMultiply { side, left: number, right: number, bytes: [0, 0] };
        let ones = vec![vec![0x2222_2222_u64; 64]; 4];
        let zero = vec![vec![0; 64]; 4];
        let mut scales = vec![127; 64];
        // Row 5, its third group.
        scales[5 + 2 * 16] = 255;
        let [a, c] =
            [&ones, &zero].map(|words| words.iter().map(|words| &words[..]).collect::<Vec<_>>());
        let got = multiply(form, [&a, &a, &c], [&scales, &[127; 64]]);
        for (place, &bits) in got.iter().enumerate() {
            let row = 4 * (place % 64 / 16) + place / 64;
            let value = f32::from_bits(bits as u32);
            assert_eq!((value.is_nan(), value == 128.0), (row == 5, row != 5));
        }
    }
}
