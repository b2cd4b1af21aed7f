//! Sums whose order is free: of reductions, scans, matrix products and atomics.

use super::{Freedom, half_unit, known, number, range, times};
use crate::dtype::DType;
use crate::scalar::Binary;
use crate::tile::eval::elements::{Bounded, Bounds};
use crate::tile::{Kernel, OpKind, Precision, Region, Type};

/// The most by which two orders of so many additions differ, of terms whose magnitudes are together
/// `magnitude`.
pub(in crate::tile::eval) fn any_order(dtype: DType, additions: f64, magnitude: f64) -> f64 {
    let bound = 2.0 * additions * half_unit(dtype) * magnitude;
    let (_, most) = range(dtype);
    // Another order may exceed the largest number.
    if magnitude.is_finite() && magnitude + bound > most { f64::INFINITY } else { bound }
}

/// How the operands of a reduction or scan are folded, and what that leaves of their bounds.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::tile::eval) struct Fold {
    /// What may be rounded differently in its region.
    pub(in crate::tile::eval) freedom: Freedom,
    /// For each operand its type where it is a sum of floats.
    sums: Vec<Option<DType>>,
    /// Whether terms may be products that another program does not round.
    contract: bool,
}

impl Fold {
    /// A reduction of `extent` elements: the evaluator's order has as many steps one after the other as
    /// the extent has bits, the longest one fewer than elements.
    pub(in crate::tile::eval) fn reduction(
        kernel: &Kernel,
        region: &Region,
        extent: u64,
        contract: bool,
    ) -> Self {
        let steps = f64::from(extent.max(2).ilog2());
        let fold = Self::new(kernel, region, (extent.max(2) - 1) as f64 / steps);
        Self { contract, ..fold }
    }

    /// A scan, whose order here is the longest; another one may round its own parts.
    pub(in crate::tile::eval) fn scan(kernel: &Kernel, region: &Region) -> Self {
        Self::new(kernel, region, 2.0)
    }

    fn new(kernel: &Kernel, region: &Region, times: f64) -> Self {
        let freedom = Freedom { times, order: true, contraction: false };
        Self { freedom, sums: sums(kernel, region), contract: false }
    }

    /// The bounds of sums along an axis, for each operand that is one: of all elements of a line, or of
    /// those up to each place where `prefixes` are asked for, in the order that `place` gives.
    ///
    /// Lines are counted by `lines`, and have `extent` elements; `place` tells where a line has its
    /// element of a step.
    pub(in crate::tile::eval) fn of_sums(
        &self,
        operands: &[Bounded],
        [lines, extent]: [usize; 2],
        place: impl Fn(usize, usize) -> usize,
        prefixes: bool,
    ) -> Vec<Option<Bounds>> {
        let of = |operand: &Bounded, dtype: DType| {
            let count = if prefixes { lines * extent } else { lines };
            let mut bounds = vec![0.0; count];
            for line in 0..lines {
                let (mut magnitude, mut off) = (0.0, 0.0);
                for step in 0..extent {
                    let at = place(line, step);
                    let term = number(dtype, operand.get(at)).abs();
                    magnitude += term;
                    off += operand.bounds.get(at);
                    if self.contract {
                        off += unrounded(dtype, term);
                    }
                    let slot = if prefixes { at } else { line };
                    bounds[slot] = of_sum(dtype, step, magnitude, off);
                }
            }
            Bounds::held(count, |index| bounds[index])
        };
        let each = operands.iter().zip(&self.sums);
        each.map(|(operand, sum)| sum.map(|dtype| of(operand, dtype))).collect()
    }
}

/// How far the magnitude of a product, which the evaluator rounds, is from that of one that is not.
fn unrounded(dtype: DType, product: f64) -> f64 {
    let (normal, _) = range(dtype);
    // What is no number is none unrounded either; what is too large may be a number.
    if product.is_nan() { 0.0 } else { half_unit(dtype) * product.max(normal) }
}

fn of_sum(dtype: DType, additions: usize, magnitude: f64, off: f64) -> f64 {
    match (additions, off) {
        (0, off) => off,
        // Of infinities and what is no number, every order makes the same.
        (_, 0.0) if !magnitude.is_finite() => 0.0,
        _ => known(off + any_order(dtype, additions as f64, magnitude + off)),
    }
}

/// For each operand of a fold its type where the region adds its elements up, as floats.
fn sums(kernel: &Kernel, region: &Region) -> Vec<Option<DType>> {
    let operands = region.params.len() / 2;
    let yielded = region.ops.last().and_then(|&id| kernel.ops.get(id));
    let yielded = yielded.map_or(&[][..], |op| &op.operands[..]);
    (0..operands)
        .map(|index| {
            let (left, right) = (region.params[index], region.params[operands + index]);
            let result = *yielded.get(index)?;
            let dtype = kernel.ty(result).dtype();
            let adds = region.ops.iter().filter_map(|&id| kernel.ops.get(id)).any(|op| {
                op.kind == OpKind::Binary(Binary::Add)
                    && op.results == [result]
                    && (op.operands == [left, right] || op.operands == [right, left])
            });
            (adds && dtype.is_float()).then_some(dtype)
        })
        .collect()
}

/// The bounds of `c` plus the product of two matrices.
pub(in crate::tile::eval) fn dot(
    precision: Precision,
    types: [&Type; 3],
    factors: &[Bounded],
) -> Bounds {
    let ([a, b, c], [a_type, b_type, c_type]) = (factors, types) else { return Bounds::EXACT };
    let dtype = c_type.dtype();
    let exact = factors.iter().all(|factor| factor.bounds.is_exact());
    if exact && !dtype.is_float() {
        return Bounds::EXACT;
    }
    let ([.., m, k], [.., n]) = (&a_type.shape[..], &b_type.shape[..]) else {
        return Bounds::EXACT;
    };
    let [m, k, n] = [*m, *k, *n].map(|extent| extent as usize);
    let law = Product::of(precision, a_type.dtype(), b_type.dtype(), dtype, k);
    let read = |x: &Bounded, ty: &Type| -> Vec<(f64, f64)> {
        let near = |index| (number(ty.dtype(), x.get(index)), x.bounds.get(index));
        (0..ty.elements() as usize).map(near).collect()
    };
    let (a, b) = (read(a, a_type), read(b, b_type));
    Bounds::held(c_type.elements() as usize, |place| {
        let (row, column) = (place / n, place % n);
        let matrix = row / m;
        let (start, start_off) = (number(dtype, c.get(place)), c.bounds.get(place));
        let factors = (0..k).map(|step| (a[row * k + step], b[(matrix * k + step) * n + column]));
        law.of_sum((start, start_off), factors)
    })
}

/// The same of scaled numbers, of each element those whose products it is the sum of.
pub(in crate::tile::eval) fn scaled_dot<'a>(
    sum_type: &Type,
    sum: &Bounded,
    summed: usize,
    factors: impl Fn(usize) -> [&'a [(f64, f64)]; 2],
) -> Bounds {
    let dtype = sum_type.dtype();
    // Products are exact, as those of 16 bits are.
    let law = Product::of(Precision::Ieee, DType::BF16, DType::BF16, dtype, summed);
    Bounds::held(sum_type.elements() as usize, |place| {
        let [a, b] = factors(place);
        let start = (number(dtype, sum.get(place)), sum.bounds.get(place));
        law.of_sum(start, a.iter().copied().zip(b.iter().copied()))
    })
}

/// How far the product of two numbers may be off that may be off themselves.
pub(in crate::tile::eval) fn of_product((x, x_off): (f64, f64), (y, y_off): (f64, f64)) -> f64 {
    if x_off == 0.0 && y_off == 0.0 {
        return 0.0;
    }
    times(x, y_off) + times(y, x_off) + times(x_off, y_off)
}

/// How a product of matrices is rounded.
struct Product {
    dtype: DType,
    /// Of each product, relative.
    factors: f64,
    /// Of the sum of all magnitudes.
    sum: f64,
    /// Of the largest product.
    largest: f64,
}

impl Product {
    fn of(precision: Precision, a: DType, b: DType, dtype: DType, k: usize) -> Self {
        let rounded = a == DType::F32 && precision != Precision::Ieee;
        let factors = if rounded { 4.0 * 0.5_f64.powi(precision.digits() as i32) } else { 0.0 };
        // The evaluator's order and another one that rounds, or one that cuts off.
        let plain = matches!(a, DType::F32 | DType::F64) && !rounded;
        let each = if plain { 2.0 } else { 3.0 };
        let sum = each * (k + 1) as f64 * half_unit(dtype);
        // Tensor cores before Blackwell keep about 14 digits of what products of eight bits add up to
        // (DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.5.2).
        let narrow = a.is_f8() && b.is_f8();
        let largest = if narrow { k as f64 * 0.5_f64.powi(13) } else { 0.0 };
        Self { dtype, factors, sum, largest }
    }

    /// Of a sum of products and of what it starts with.
    fn of_sum(
        &self,
        (start, start_off): (f64, f64),
        factors: impl Iterator<Item = ((f64, f64), (f64, f64))>,
    ) -> f64 {
        let (mut magnitude, mut off, mut most) = (start.abs(), start_off, 0.0_f64);
        for (x, y) in factors {
            let product = (x.0 * y.0).abs();
            magnitude += product;
            most = most.max(product);
            off += of_product(x, y);
        }
        self.bound(magnitude, off, most)
    }

    fn bound(&self, magnitude: f64, off: f64, most: f64) -> f64 {
        if !self.dtype.is_float() {
            let most = 2_f64.powi(self.dtype.bits() as i32 - 1);
            return if off == 0.0 || magnitude + off < most { off } else { f64::INFINITY };
        }
        if off == 0.0 && !magnitude.is_finite() {
            return 0.0;
        }
        let all = magnitude + off;
        let (normal, largest) = range(self.dtype);
        // A product below the normal numbers is rounded to a multiple of the least one.
        let rounded = self.sum * all.max(normal);
        let bound = off + self.factors * all + rounded + self.largest * most;
        known(if all + bound > largest { f64::INFINITY } else { bound })
    }
}
