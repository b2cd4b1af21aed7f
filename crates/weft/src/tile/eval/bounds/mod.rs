//! How far a compiled program's values may be from the evaluator's: an error analysis that runs beside
//! the program.
//!
//! With every element goes a bound: whatever compiled form of the program is run on the same arguments,
//! its element differs from the evaluator's by no more. Nothing means the same bits, infinity that
//! nothing is known. Bounds begin at nothing, grow where forms of a program may round differently, and
//! go from operands to results by the operations' own rules (Higham, *Accuracy and Stability of
//! Numerical Algorithms*, section 3.3):
//!
//! | operation | bound of the result |
//! | --- | --- |
//! | what moves, chooses or is rounded once and correctly, of operands without a bound | none |
//! | `x ± y`, `x·y`, `x/y`, `fma` | what the operands' bounds make of the result, and a rounding |
//! | a function that rises or falls | its distance to both ends of the operand's interval, and its error |
//! | a comparison | none where the intervals are apart, else either |
//! | a choice | that of the chosen, or the distance to the other where either may be chosen |
//! | a conversion | the distance to both ends, converted |
//! | a sum of `n + 1` terms in any order | `2·n·u·Σ\|x\|`, and the terms' bounds |
//! | the same of products that may stay unrounded | `u·Σ\|x·y\|` more |
//! | `c + a·b` over `k` terms | `3·(k + 1)·u·(\|c\| + Σ\|a·b\|)`, and the factors' bounds and roundings |
//! | any other fold of `n` elements | its own tree, a rounding of it counted as often as the longest order has more steps |
//! | integers | as reals while they do not wrap; bits of uncertain integers are uncertain |
//!
//! `u` is half a unit in the last place of one. A *rounding* is `2·u·|z|`: the evaluator's and the other
//! program's. The bound of sums holds for every order and with gradual underflow (Jeannerod and Rump,
//! *Improved error bounds for inner products in floating-point arithmetic*, SIAM J. Matrix Anal. Appl. 34,
//! 2013). Tensor cores cut off where the evaluator rounds, which is `2·u` for one and `u` for the other.
//! Functions and approximate instructions err by what `function` lists.
//!
//! Memory keeps the bounds of what was stored, sums of atomics those of their terms in any order.
//!
//! Control follows the evaluator: where rounding may decide a branch, a number of rounds, an address or
//! which instance comes first, the other program is taken to decide as the evaluator did.

mod arithmetic;
mod convert;
mod function;
mod integer;
mod order;
mod shadow;

pub(super) use order::{Fold, any_order, dot, of_product, scaled_dot};
pub use shadow::{BufferBounds, MemoryBounds};

use super::elements::{Bounded, Bounds, Elements};
use crate::dtype::DType;
use crate::scalar::{self, Binary, Cast, Unary};
use crate::tile::{Element, OpKind, Type};

/// What may be rounded differently at a place of the program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Freedom {
    /// How many roundings one counts for.
    pub(super) times: f64,
    /// Whether even operands without a bound may be others: in a fold, whose order is free.
    pub(super) order: bool,
    /// Whether a product may be fused with the sum that takes it.
    pub(super) contraction: bool,
}

/// A number and how far it may be off.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Near {
    value: f64,
    off: f64,
}

impl Near {
    /// Both ends of the interval.
    fn ends(self) -> [f64; 2] {
        [self.value - self.off, self.value + self.off]
    }

    fn is_exact(self) -> bool {
        self.off == 0.0
    }
}

/// How far apart two numbers are; not at all where they are the same or both none.
fn apart(x: f64, y: f64) -> f64 {
    if x == y || x.is_nan() && y.is_nan() {
        return 0.0;
    }
    known((x - y).abs())
}

/// A bound, or infinity where none could be computed.
fn known(bound: f64) -> f64 {
    if bound.is_nan() { f64::INFINITY } else { bound }
}

/// A factor's part in a bound; nothing is nothing even of infinity.
fn times(factor: f64, off: f64) -> f64 {
    if off == 0.0 { 0.0 } else { factor.abs() * off }
}

/// The bound of an element with these bits and this bound that may as well be the other one.
pub(super) fn either(
    dtype: DType,
    (bits, bound): (u64, f64),
    (other, other_bound): (u64, f64),
) -> f64 {
    let distance =
        if bits == other { 0.0 } else { apart(number(dtype, bits), number(dtype, other)) };
    bound.max(distance + other_bound)
}

/// The number that raw bits stand for: integers with their sign, truth values zero or one.
fn number(dtype: DType, bits: u64) -> f64 {
    scalar::to_f64(dtype, bits)
}

/// How many binary digits a float type keeps.
pub(super) fn digits(dtype: DType) -> i32 {
    match dtype {
        DType::F8E5M2 | DType::F8E5M2FNUZ => 3,
        DType::F8E4M3FN | DType::F8E4M3FNUZ => 4,
        DType::BF16 => 8,
        DType::F16 => 11,
        DType::F32 => 24,
        _ => 53,
    }
}

/// Half a unit in the last place of one.
pub(super) fn half_unit(dtype: DType) -> f64 {
    0.5_f64.powi(digits(dtype))
}

/// The least number with all digits, and the largest finite one.
fn range(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F8E5M2 => (0.5_f64.powi(14), 57344.0),
        DType::F8E5M2FNUZ => (0.5_f64.powi(15), 57344.0),
        DType::F8E4M3FN => (0.5_f64.powi(6), 448.0),
        DType::F8E4M3FNUZ => (0.5_f64.powi(7), 240.0),
        DType::F16 => (0.5_f64.powi(14), 65504.0),
        DType::BF16 => (f64::from(f32::MIN_POSITIVE), 3.389_531_389_251_535_5e38),
        DType::F32 => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
        _ => (f64::MIN_POSITIVE, f64::MAX),
    }
}

/// What one rounding of a result of at most this magnitude may change, counted for both programs.
fn rounding(dtype: DType, magnitude: f64, freedom: Freedom) -> f64 {
    let (normal, _) = range(dtype);
    // Zeros and infinities are not rounded.
    let rounded = magnitude != 0.0 && magnitude.is_finite();
    let unit = if rounded { half_unit(dtype) * magnitude.max(normal) } else { 0.0 };
    2.0 * freedom.times * unit
}

/// The bound of a float that is `z`, from what its operands' bounds make of it: none where it is
/// certainly not finite, infinity where it may be either.
fn finished(dtype: DType, z: f64, operands: &[Near], bound: f64) -> f64 {
    let bound = known(bound);
    if bound == 0.0 || bound == f64::INFINITY {
        return bound;
    }
    if !z.is_finite() {
        let certain = operands.iter().any(|x| !x.value.is_finite());
        return if certain { 0.0 } else { f64::INFINITY };
    }
    let (_, most) = range(dtype);
    if z.abs() + bound > most { f64::INFINITY } else { bound }
}

/// The bounds of an operation that works element by element, of its `count` results.
///
/// `types` are those of the operands.
pub(super) fn of(
    kind: &OpKind,
    types: &[&Type],
    operands: &[Bounded],
    (result, bits): (&Type, &Elements),
    count: usize,
    freedom: Freedom,
) -> Bounds {
    let exact = operands.iter().all(|operand| operand.bounds.is_exact());
    let Element::Scalar(dtype) = result.element else {
        // An address that may be another one may be any.
        return if exact { Bounds::EXACT } else { pointers(kind, operands, bits, count) };
    };
    let from = types.first().map_or(dtype, |ty| ty.dtype());
    if exact && !rounds(kind, from, dtype, freedom) {
        return Bounds::EXACT;
    }
    let near = |operand: usize, index: usize| {
        let Bounded { bits, bounds } = &operands[operand];
        Near { value: number(types[operand].dtype(), bits.get(index)), off: bounds.get(index) }
    };
    let rule = |index: usize| {
        let z = number(dtype, bits.get(index));
        let x = near(0, index);
        let bound = match kind {
            OpKind::Unary(op) if dtype.is_float() => function::unary(*op, dtype, x, z, freedom),
            OpKind::Unary(op) => integer::unary(*op, dtype, x, z),
            OpKind::Binary(op) if dtype.is_float() => {
                arithmetic::binary(*op, dtype, [x, near(1, index)], z, freedom)
            }
            OpKind::Binary(op) => integer::binary(*op, dtype, [x, near(1, index)], z),
            OpKind::Compare(op) => arithmetic::compare(*op, [x, near(1, index)]),
            OpKind::Select => {
                let [mut chosen, mut other] = [near(1, index), near(2, index)];
                if operands[0].get(index) & 1 == 0 {
                    core::mem::swap(&mut chosen, &mut other);
                }
                if x.is_exact() {
                    chosen.off
                } else {
                    chosen.off.max(apart(chosen.value, other.value) + other.off)
                }
            }
            OpKind::Fma => {
                let terms = [x, near(1, index), near(2, index)];
                arithmetic::fma(dtype, terms, z, freedom)
            }
            OpKind::Directed(op, _) => {
                let mut terms = [x; 3];
                for (place, term) in terms.iter_mut().enumerate().take(op.arity()) {
                    *term = near(place, index);
                }
                arithmetic::directed(*op, dtype, terms, z, freedom)
            }
            OpKind::Function(function) => {
                let mut terms = [Near { value: 0.0, off: 0.0 }; 4];
                for (place, term) in terms.iter_mut().enumerate().take(operands.len()) {
                    *term = near(place, index);
                }
                function::function(*function, dtype, &terms[..operands.len()], z, freedom)
            }
            OpKind::Cast(op) => {
                convert::cast(*op, from, dtype, (x, operands[0].get(index)), z, freedom)
            }
            _ => f64::INFINITY,
        };
        known(bound)
    };
    let alike = bits.only().is_some()
        && operands.iter().all(|x| x.bits.only().is_some() && x.bounds.only().is_some());
    Bounds::held(if alike { 1 } else { count }, rule)
}

/// Of addresses of which one may be another.
fn pointers(kind: &OpKind, operands: &[Bounded], bits: &Elements, count: usize) -> Bounds {
    Bounds::held(count, |index| match (kind, operands) {
        (OpKind::Select, [condition, yes, no]) if condition.bounds.get(index) == 0.0 => {
            let chosen = if condition.get(index) & 1 == 1 { yes } else { no };
            chosen.bounds.get(index)
        }
        (OpKind::Select, [_, yes, no])
            if yes.get(index) == no.get(index)
                && yes.bounds.get(index) + no.bounds.get(index) == 0.0 =>
        {
            0.0
        }
        _ if operands.iter().all(|operand| operand.bounds.get(index) == 0.0) => 0.0,
        _ => {
            debug_assert!(bits.fits(count));
            f64::INFINITY
        }
    })
}

/// Whether an operation may give other bits of the same operands.
fn rounds(kind: &OpKind, from: DType, to: DType, freedom: Freedom) -> bool {
    let approximate = match kind {
        OpKind::Unary(op) => to.is_float() && function::is_approximate(*op, to),
        OpKind::Binary(Binary::Pow) => to.is_float(),
        // For doubles the only quotient is the correctly rounded one.
        OpKind::Binary(Binary::Div) => to.is_float() && to != DType::F64,
        OpKind::Binary(Binary::Mul) => to.is_float() && freedom.contraction,
        OpKind::Function(_) => true,
        _ => false,
    };
    let rounded = || match kind {
        OpKind::Unary(op) => !matches!(
            op,
            Unary::Neg | Unary::Abs | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Nearest
        ),
        OpKind::Binary(op) => !matches!(
            op,
            Binary::MinNum | Binary::MaxNum | Binary::Minimum | Binary::Maximum | Binary::Rem
        ),
        OpKind::Fma | OpKind::Directed(..) => true,
        OpKind::Cast(Cast::Float | Cast::FloatToZero) => digits(to) < digits(from),
        _ => false,
    };
    approximate || freedom.order && to.is_float() && rounded()
}
