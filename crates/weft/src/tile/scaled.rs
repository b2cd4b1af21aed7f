//! Products of numbers of few bits, of which groups along the summed axis share a scale.
//!
//! The formats are those of the Open Compute Project's MX specification: numbers of four bits (E2M1) and of eight,
//! and scales that are an exponent alone (E8M0), of which 255 is NaN; a scale may also be a float of eight bits, as
//! NVFP4 has it.

use super::{Element, Type};
use crate::dtype::DType;

/// How the numbers of a factor are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScaledFactor {
    /// They are the tensor's own floats, of 8 or 16 bits.
    Floats,
    /// Four bits each, two in an i8 with the first in the low half.
    Pairs {
        /// Whether the two are neighbours along the summed axis, and not along the other one.
        along_summed: bool,
    },
}

/// A product of factors with scales.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScaledDot {
    /// How the numbers of the left and of the right factor are written.
    pub factors: [ScaledFactor; 2],
    /// Whether they have scales; without them they are taken as they are.
    pub has_scale: [bool; 2],
    /// Whether it is promised that no scale is NaN.
    pub fast: bool,
}

/// The operands of a product, by what they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScaledOperands<V> {
    /// The left factor and the right one.
    pub factors: [V; 2],
    /// Their scales: rows or columns by groups along the summed axis.
    pub scales: [Option<V>; 2],
    /// What the product is added to.
    pub sum: V,
}

impl ScaledDot {
    /// The operands, by what they are; nothing where there are more or fewer.
    pub fn operands<V: Copy>(self, operands: &[V]) -> Option<ScaledOperands<V>> {
        let mut rest = operands.iter().copied();
        let mut next = |has_scale: bool| {
            let factor = rest.next()?;
            Some((factor, if has_scale { Some(rest.next()?) } else { None }))
        };
        let [left, right] = self.has_scale;
        let ((left, left_scale), (right, right_scale)) = (next(left)?, next(right)?);
        let sum = rest.next()?;
        let scales = [left_scale, right_scale];
        rest.next().is_none().then_some(ScaledOperands { factors: [left, right], scales, sum })
    }

    /// The shape of a factor, in numbers, of a tensor of at least two dimensions.
    pub fn shape(self, side: usize, tensor: &Type) -> Option<Vec<u64>> {
        let mut shape = tensor.shape.to_vec();
        let summed_from_end = if side == 0 { 1 } else { 2 };
        let from_end = match self.factors[side] {
            ScaledFactor::Floats => return (shape.len() >= 2).then_some(shape),
            ScaledFactor::Pairs { along_summed: true } => summed_from_end,
            ScaledFactor::Pairs { along_summed: false } => 3 - summed_from_end,
        };
        let axis = shape.len().checked_sub(from_end).filter(|_| shape.len() >= 2)?;
        shape[axis] = shape[axis].checked_mul(2)?;
        Some(shape)
    }

    /// How many neighbours along the summed axis share a scale.
    pub fn group(summed: u64, scale: &Type) -> Option<u64> {
        let groups = *scale.shape.last()?;
        summed.checked_div(groups).filter(|&group| group > 0)
    }

    /// Whether operands and results are as it asks, and what it asks.
    pub(super) fn rule(self, operands: &[&Type], results: &[&Type]) -> (bool, &'static str) {
        let count = "takes a left factor, a right one, scales of those that have them, and a sum, and gives a sum";
        let (Some(ScaledOperands { factors, scales, sum }), [result]) =
            (self.operands(operands), results)
        else {
            return (false, count);
        };
        for (side, factor) in factors.into_iter().enumerate() {
            let is_written = match (self.factors[side], factor.element) {
                (ScaledFactor::Floats, Element::Scalar(dtype)) => {
                    dtype.is_float() && dtype.bits() <= 16
                }
                (ScaledFactor::Pairs { .. }, element) => element == Element::Scalar(DType::I8),
                _ => false,
            };
            if !is_written {
                return (false, "takes factors of floats of 8 or 16 bits, or pairs of e2m1 in i8");
            }
        }
        let shapes = [0, 1].map(|side| self.shape(side, factors[side]).unwrap_or_default());
        let ([a_outer @ .., m, k], [b_outer @ .., b_k, n], [outer @ .., rows, columns]) =
            (&shapes[0][..], &shapes[1][..], &sum.shape[..])
        else {
            return (false, "takes factors and a sum that are matrices, or as many of each");
        };
        if (a_outer, b_outer, m, n, k) != (outer, outer, rows, columns, b_k) {
            return (false, "takes factors of M x K and of K x N numbers, and a sum of M x N");
        }
        for (scale, kept) in scales.into_iter().zip([m, n]) {
            let Some(scale) = scale else { continue };
            let shares = match &scale.shape[..] {
                [scale_outer @ .., own, groups] => {
                    (scale_outer, own) == (outer, kept) && groups <= k
                }
                _ => false,
            };
            if !shares {
                return (
                    false,
                    "takes scales of M or N x the groups of the K numbers that share one",
                );
            }
            let is_scale = matches!(scale.element, Element::Scalar(DType::I8 | DType::F8E4M3FN));
            if !is_scale {
                return (false, "takes scales that are i8 or f8E4M3FN");
            }
        }
        let wide = self.wide(factors);
        let holds = match sum.element {
            Element::Scalar(DType::F32 | DType::F64) => true,
            element => element == Element::Scalar(wide),
        };
        (holds && result == &sum, "gives what it adds to, of floats that hold the factors' numbers")
    }

    /// The type of 16 bits that the factors are widened to where there is no instruction for them: f16 where one of
    /// them is, else bf16.
    pub fn wide(self, factors: [&Type; 2]) -> DType {
        let is_half = |ty: &&Type| ty.element == Element::Scalar(DType::F16);
        if factors.iter().any(is_half) { DType::F16 } else { DType::BF16 }
    }
}
