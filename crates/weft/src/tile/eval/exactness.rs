//! Whether a compiled program must give the evaluator's results bit for bit.

use crate::atomic::Rmw;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::location::Loc;
use crate::scalar::{Binary, Cast, Unary};
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Value};

/// How the results of a compiled kernel relate to the evaluator's.
///
/// What is meant is rounding. A kernel whose results depend on which instance comes first (a ticket
/// from an atomic counter, say) has no one result to compare with, and this does not see it.
#[derive(Clone, PartialEq, Debug)]
pub enum Exactness {
    /// Bit for bit the same.
    Exact,
    /// The same but for rounding.
    Rounded {
        /// The operations that may round differently, in the program's order; never empty.
        why: Vec<Reason>,
        /// The float type with the fewest digits to which any operation of the kernel rounds: two
        /// results that differ by rounding may be that far apart, even in a wider type.
        coarsest: DType,
    },
}

impl Exactness {
    /// `Exact` if there is no reason for anything else.
    fn from_reasons(kernel: &Kernel, why: Vec<Reason>) -> Self {
        if why.is_empty() {
            return Exactness::Exact;
        }
        let roundings = kernel.ops.values().filter_map(|op| rounds_to(kernel, op));
        let coarsest = roundings.min_by_key(|&dtype| digits(dtype)).unwrap_or(DType::F64);
        Exactness::Rounded { why, coarsest }
    }
}

/// An operation that may round differently in a compiled program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// The operation.
    pub op: OpId,
    /// Its name.
    pub name: String,
    /// Where it came from.
    pub loc: Loc,
    /// What differs.
    pub why: Why,
}

impl core::fmt::Display for Reason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { op: _, name, loc: _, why } = self;
        f.write_str(name)?;
        f.write_str(match why {
            Why::Approximate => " is computed approximately by GPUs",
            Why::Order => " depends on the order in which floats are folded",
            Why::Contraction => " may be fused with the product that it adds",
        })
    }
}

/// What makes an operation round differently.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    /// GPUs have an approximate instruction for it.
    Approximate,
    /// It folds floats in an order that is not fixed.
    Order,
    /// A product and a sum become one operation with one rounding.
    Contraction,
}

/// The exactness of a kernel that is compiled without fusing products with sums.
///
/// ```
/// # use weft::tile::{Kernel, Region, eval};
/// # use weft::id::IdVec;
/// # use weft::location::Locations;
/// # let kernel = Kernel {
/// #     name: "nothing".into(), params: vec![], values: IdVec::new(), ops: IdVec::new(),
/// #     body: Region::default(), loc: Locations::unknown(),
/// # };
/// assert_eq!(eval::exactness(&kernel), eval::Exactness::Exact);
/// ```
pub fn exactness(kernel: &Kernel) -> Exactness {
    Exactness::from_reasons(kernel, collect(kernel, |op| reason(kernel, op)))
}

/// The exactness of a kernel in which a float product may be fused with the sum or difference that
/// takes it, as Triton does unless it is told not to.
pub fn exactness_fused(kernel: &Kernel) -> Exactness {
    let products = products(kernel);
    let why = collect(kernel, |op| {
        reason(kernel, op).or_else(|| {
            let sum = matches!(op.kind, OpKind::Binary(Binary::Add | Binary::Sub));
            let fused = sum && op.operands.iter().any(|&operand| products[operand]);
            fused.then_some(Why::Contraction)
        })
    });
    Exactness::from_reasons(kernel, why)
}

fn collect(kernel: &Kernel, reason: impl Fn(&Op) -> Option<Why>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        if let Some(why) = reason(op) {
            reasons.push(Reason { op: id, name: op.kind.name(), loc: op.loc, why });
        }
    });
    reasons
}

fn reason(kernel: &Kernel, op: &Op) -> Option<Why> {
    let dtype = kernel.ty(*op.results.first()?).dtype();
    match &op.kind {
        OpKind::Unary(
            Unary::Exp
            | Unary::Exp2
            | Unary::Exp2Normal
            | Unary::Log
            | Unary::Log2
            | Unary::Rsqrt
            | Unary::Reciprocal
            | Unary::Sin
            | Unary::Cos
            | Unary::Tanh
            | Unary::Erf
            | Unary::Expm1
            | Unary::Log1p,
        )
        | OpKind::Binary(Binary::Pow)
        | OpKind::Function(_) => Some(Why::Approximate),
        // For doubles the only square root and quotient are the correctly rounded ones.
        OpKind::Unary(Unary::Sqrt) | OpKind::Binary(Binary::Div) if dtype != DType::F64 => {
            Some(Why::Approximate)
        }
        OpKind::Dot(_) | OpKind::WarpgroupDot(_) if dtype.is_float() => Some(Why::Order),
        OpKind::AtomicRmw { op: Rmw::FAdd, .. } => Some(Why::Order),
        OpKind::Reduce { .. } | OpKind::Scan { .. } => {
            op.regions.iter().any(|region| rounds(kernel, region)).then_some(Why::Order)
        }
        _ => None,
    }
}

/// Whether the order in which a region folds changes its roundings: any float operation but those
/// that choose one of their operands.
fn rounds(kernel: &Kernel, region: &Region) -> bool {
    let mut rounds = false;
    kernel.walk(region, &mut |_, op| {
        rounds |= match op.kind {
            OpKind::Unary(Unary::Neg | Unary::Abs) => false,
            OpKind::Binary(Binary::MinNum | Binary::MaxNum | Binary::Minimum | Binary::Maximum) => {
                false
            }
            OpKind::Unary(_)
            | OpKind::Binary(_)
            | OpKind::Fma
            | OpKind::Directed(..)
            | OpKind::Function(_)
            | OpKind::Cast(_) => {
                op.results.iter().any(|&result| kernel.ty(result).dtype().is_float())
            }
            _ => false,
        };
    });
    rounds
}

/// The values that are a float product, seen through operations that only move elements.
fn products(kernel: &Kernel) -> IdMap<Value, bool> {
    let mut products: IdMap<Value, bool> = IdMap::default();
    kernel.walk(&kernel.body, &mut |_, op| {
        let Some(&first) = op.operands.first() else { return };
        let product = match op.kind {
            OpKind::Binary(Binary::Mul) => kernel.ty(first).dtype().is_float(),
            OpKind::Splat
            | OpKind::Unsplat
            | OpKind::ExpandDims { .. }
            | OpKind::Broadcast
            | OpKind::Reshape { .. }
            | OpKind::Trans { .. }
            | OpKind::ConvertLayout
            | OpKind::Split
            | OpKind::Gather { .. }
            | OpKind::Unary(Unary::Neg) => products[first],
            OpKind::Join => op.operands.iter().any(|&operand| products[operand]),
            _ => false,
        };
        for &result in op.results.iter().filter(|_| product) {
            products.set(result, true);
        }
    });
    products
}

/// The float type to which an operation rounds its result, if it does.
fn rounds_to(kernel: &Kernel, op: &Op) -> Option<DType> {
    let result = kernel.ty(*op.results.first()?).dtype();
    let rounds = match op.kind {
        OpKind::Unary(op) => !matches!(
            op,
            Unary::Neg | Unary::Abs | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Nearest
        ),
        OpKind::Binary(op) => !matches!(
            op,
            Binary::MinNum | Binary::MaxNum | Binary::Minimum | Binary::Maximum | Binary::Rem
        ),
        OpKind::Cast(Cast::Float | Cast::FloatToZero) => {
            digits(result) < digits(kernel.ty(*op.operands.first()?).dtype())
        }
        // Factors of f32 that are rounded to 11 or 16 digits: as if to f16.
        OpKind::Dot(precision) | OpKind::WarpgroupDot(precision) => {
            let factors = kernel.ty(*op.operands.first()?).dtype();
            if factors == DType::F32 && precision.digits() <= 16 {
                return Some(DType::F16);
            }
            true
        }
        // What sums of atomics may differ by is known for each of them.
        OpKind::Fma | OpKind::Function(_) => true,
        _ => false,
    };
    (rounds && result.is_float()).then_some(result)
}

/// How many binary digits a float type keeps.
pub(super) fn digits(dtype: DType) -> u32 {
    match dtype {
        DType::F8E5M2 | DType::F8E5M2FNUZ => 3,
        DType::F8E4M3FN | DType::F8E4M3FNUZ => 4,
        DType::BF16 => 8,
        DType::F16 => 11,
        DType::F32 => 24,
        _ => 53,
    }
}
