//! Products of numbers with scales, from the formats' definitions.
//!
//! A scaled number is the exact product of number and scale, and the product of two of them is exact, too. They
//! are added to the sum for summed indices upward, each time with one rounding to the sum's type, as `dot` does.

use super::bounds;
use super::elements::{Bounded, Bounds, Elements};
use crate::dtype::DType;
use crate::scalar;
use crate::tile::{ScaledDot, ScaledFactor, ScaledOperands, Type};

/// What numbers of four bits are without their sign.
const E2M1: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// What a scale of eight bits stands for: a power of two, or, of 255, NaN.
fn power(exponent: u64) -> f64 {
    match exponent {
        255 => f64::NAN,
        exponent => 2_f64.powi(exponent as i32 - 127),
    }
}

/// The factors' scaled numbers, each with how far it may be off; the summed index is the last one of both.
struct Factors {
    sides: [Vec<(f64, f64)>; 2],
    rows: usize,
    columns: usize,
    summed: usize,
}

impl Factors {
    fn of(scaled: ScaledDot, operands: &[Bounded], types: &[&Type]) -> Result<Self, String> {
        let wrong = || "its operands are not those of a scaled product".to_owned();
        let parts = scaled.operands(types).ok_or_else(wrong)?;
        let indices: Vec<usize> = (0..operands.len()).collect();
        let places = scaled.operands(&indices).ok_or_else(wrong)?;
        let mut sides = [Vec::new(), Vec::new()];
        let mut sizes = [[0; 2]; 2];
        for side in 0..2 {
            let shape = scaled.shape(side, parts.factors[side]).ok_or_else(wrong)?;
            let &[.., high, low] = &shape[..] else { return Err(wrong()) };
            let (kept, summed) = if side == 0 { (high, low) } else { (low, high) };
            sizes[side] = [kept as usize, summed as usize];
            let factor = Factor {
                written: scaled.factors[side],
                dtype: parts.factors[side].dtype(),
                side,
                kept: kept as usize,
                summed: summed as usize,
            };
            let scale = parts.scales[side].zip(places.scales[side]);
            let scale = scale.map(|(ty, at)| (ty, &operands[at]));
            let count = shape.iter().product::<u64>() as usize;
            let tensor = &operands[places.factors[side]];
            sides[side] = (0..count).map(|at| factor.scaled(at, tensor, scale)).collect();
        }
        let [[rows, summed], [columns, _]] = sizes;
        Ok(Self { sides, rows, columns, summed })
    }

    /// The scaled numbers whose products an element of the sum is of.
    fn of_sum(&self, place: usize) -> [&[(f64, f64)]; 2] {
        let (row, column) = (place / self.columns, place % self.columns);
        let other = row / self.rows * self.columns + column;
        [(0, row), (1, other)]
            .map(|(side, at)| &self.sides[side][at * self.summed..][..self.summed])
    }
}

/// How one factor is written, and its sizes.
struct Factor {
    written: ScaledFactor,
    dtype: DType,
    side: usize,
    kept: usize,
    summed: usize,
}

impl Factor {
    /// A scaled number by its place, the summed index last, and how far it may be off.
    fn scaled(&self, at: usize, tensor: &Bounded, scale: Option<(&Type, &Bounded)>) -> (f64, f64) {
        let Self { written, dtype, side, kept, summed } = *self;
        let (outer, index) = (at / summed, at % summed);
        let (matrix, own) = (outer / kept, outer % kept);
        let (number, off) = match written {
            ScaledFactor::Floats => {
                let place = if side == 0 { at } else { (matrix * summed + index) * kept + own };
                (scalar::to_f64(dtype, tensor.get(place)), tensor.bounds.get(place))
            }
            ScaledFactor::Pairs { along_summed } => {
                let (own, index, kept, summed, half) = if along_summed {
                    (own, index / 2, kept, summed / 2, index % 2)
                } else {
                    (own / 2, index, kept / 2, summed, own % 2)
                };
                let place = if side == 0 {
                    (matrix * kept + own) * summed + index
                } else {
                    (matrix * summed + index) * kept + own
                };
                let bits = tensor.get(place) >> (4 * half) & 15;
                let size = E2M1[bits as usize & 7];
                // Of bits that may be others nothing is known.
                let off = if tensor.bounds.get(place) == 0.0 { 0.0 } else { f64::INFINITY };
                (if bits < 8 { size } else { -size }, off)
            }
        };
        let Some((ty, scales)) = scale else { return (number, off) };
        let groups = ty.shape.last().copied().unwrap_or(1) as usize;
        let place = outer * groups + index * groups / summed;
        let bits = scales.get(place);
        let (scale, scale_off) = match ty.dtype() {
            DType::I8 => {
                let off = if scales.bounds.get(place) == 0.0 { 0.0 } else { f64::INFINITY };
                (power(bits & 0xff), off)
            }
            dtype => (scalar::to_f64(dtype, bits), scales.bounds.get(place)),
        };
        (number * scale, bounds::of_product((number, off), (scale, scale_off)))
    }
}

/// The sum's elements.
pub(super) fn dot(
    scaled: ScaledDot,
    operands: &[Bounded],
    types: &[&Type],
) -> Result<Elements, String> {
    let factors = Factors::of(scaled, operands, types)?;
    let sum_type = types.last().ok_or("it has no sum")?;
    let start = operands.last().ok_or("it has no sum")?;
    let dtype = sum_type.dtype();
    // Where the sum's type holds all factors, a multiply-add of that type rounds but once.
    let holds = |&(x, _): &(f64, f64)| {
        let back = scalar::to_f64(dtype, scalar::from_f64(dtype, x));
        back == x || x.is_nan()
    };
    let narrow = factors.sides.iter().flatten().all(holds);
    let (fma, bits) = (scalar::fma(dtype), |x: f64| scalar::from_f64(dtype, x));
    Ok(Elements::from_fn(sum_type.elements() as usize, |place| {
        let [a, b] = factors.of_sum(place);
        a.iter().zip(b).fold(start.get(place), |sum, (&(x, _), &(y, _))| {
            if narrow {
                fma(bits(x), bits(y), sum)
            } else {
                bits(scalar::to_f64(dtype, sum) + x * y)
            }
        })
    }))
}

/// How far they may be off.
pub(super) fn bounds_of(
    scaled: ScaledDot,
    operands: &[Bounded],
    types: &[&Type],
) -> Result<Bounds, String> {
    let factors = Factors::of(scaled, operands, types)?;
    let ScaledOperands { sum, .. } = scaled.operands(types).ok_or("it has other operands")?;
    let start = operands.last().ok_or("it has no sum")?;
    Ok(bounds::scaled_dot(sum, start, factors.summed, |place| factors.of_sum(place)))
}
