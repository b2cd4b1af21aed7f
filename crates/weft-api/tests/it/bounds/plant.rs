//! One operation of a kernel, made another.

use weft::dtype::DType;
use weft::id::IdVec;
use weft::scalar::{self, Binary, Cast, Compare, Unary};
use weft::tile::{self, Element, Kernel, Op, OpId, OpKind, Region, Value, ValueData};

/// An error that can be planted: of which operation, and what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Error {
    pub(super) op: OpId,
    pub(super) kind: &'static str,
}

const KINDS: [&str; 12] = [
    "another operation",
    "operands swapped",
    "comparison off by one",
    "another constant",
    "range off by one",
    "no mask",
    "choice swapped",
    "another function",
    "another conversion",
    "rounded to f16",
    "no start of the sum",
    "factor taken twice",
];

/// Every error that may be planted into a kernel, operation by operation.
pub(super) fn errors(kernel: &Kernel) -> Vec<Error> {
    let mut errors = Vec::new();
    kernel.walk(&kernel.body, &mut |op, _| {
        errors.extend(KINDS.into_iter().map(|kind| Error { op, kind }));
    });
    errors.retain(|&error| planted(kernel, error).is_some());
    errors
}

/// The kernel with an error, if the operation can have it and what comes out is a kernel.
pub(super) fn planted(kernel: &Kernel, error: Error) -> Option<Kernel> {
    let mut changed = kernel.clone();
    let op = &mut changed.ops[error.op];
    let result = op.results.first().map(|&result| kernel.ty(result).clone());
    let dtype = result.as_ref().and_then(|ty| match ty.element {
        Element::Scalar(dtype) => Some(dtype),
        _ => None,
    });
    match (error.kind, &op.kind) {
        ("another operation", OpKind::Binary(binary)) => op.kind = OpKind::Binary(other(*binary)?),
        ("operands swapped", OpKind::Binary(Binary::Sub | Binary::Div | Binary::DivPrecise)) => {
            op.operands.swap(0, 1);
        }
        ("operands swapped", OpKind::Fma) => op.operands.swap(1, 2),
        ("comparison off by one", OpKind::Compare(compare)) => {
            op.kind = OpKind::Compare(neighbour(*compare)?);
        }
        ("another constant", OpKind::Constant(bits)) => {
            let dtype = dtype?;
            let changed = scalar::to_f64(dtype, *bits) * 1.25 + 0.125;
            let next = bits.wrapping_add(1) & dtype.mask();
            let bits = if dtype.is_float() { scalar::from_f64(dtype, changed) } else { next };
            op.kind = OpKind::Constant(bits);
        }
        ("range off by one", OpKind::MakeRange { start, end }) => {
            op.kind = OpKind::MakeRange { start: start + 1, end: end + 1 };
        }
        ("no mask", OpKind::Load(_)) if op.operands.len() > 1 => op.operands.truncate(1),
        ("no mask", OpKind::Store(_)) if op.operands.len() > 2 => op.operands.truncate(2),
        ("choice swapped", OpKind::Select) => op.operands.swap(1, 2),
        ("another function", OpKind::Unary(unary)) => {
            op.kind = OpKind::Unary(match unary {
                Unary::Exp => Unary::Exp2,
                Unary::Exp2 => Unary::Exp,
                Unary::Log => Unary::Log2,
                Unary::Log2 => Unary::Log,
                Unary::Sqrt => Unary::Rsqrt,
                Unary::Sin => Unary::Cos,
                Unary::Cos => Unary::Sin,
                Unary::Abs => Unary::Neg,
                Unary::Floor => Unary::Ceil,
                Unary::Tanh => Unary::Erf,
                _ => return None,
            });
        }
        ("another conversion", OpKind::Cast(cast)) => {
            op.kind = OpKind::Cast(match cast {
                Cast::ExtS => Cast::ExtU,
                Cast::ExtU => Cast::ExtS,
                Cast::FloatFromS => Cast::FloatFromU,
                Cast::FloatFromU => Cast::FloatFromS,
                Cast::SFromFloat => Cast::UFromFloat,
                _ => return None,
            });
        }
        ("rounded to f16", OpKind::Binary(_) | OpKind::Fma | OpKind::Dot(_))
            if dtype == Some(DType::F32) =>
        {
            round_to_half(&mut changed, error.op);
        }
        ("no start of the sum", OpKind::Dot(_)) => {
            let ty = result?;
            let (loc, span) = (op.loc, op.span);
            let zero = changed.values.push(ValueData::new(ty, None));
            let kind = OpKind::Constant(0);
            let constant = Op {
                kind,
                operands: vec![],
                results: vec![zero],
                regions: vec![],
                loc,
                span,
                spelled: false,
            };
            let constant = changed.ops.push(constant);
            changed.ops[error.op].operands[2] = zero;
            insert(&mut changed, error.op, &[constant], false);
        }
        ("factor taken twice", OpKind::Binary(Binary::Mul)) if op.operands[0] != op.operands[1] => {
            op.operands[1] = op.operands[0];
        }
        _ => return None,
    }
    tile::verify(&changed).ok().map(|()| changed)
}

fn other(op: Binary) -> Option<Binary> {
    Some(match op {
        Binary::Add => Binary::Sub,
        Binary::Sub => Binary::Add,
        Binary::Mul => Binary::Add,
        Binary::Div | Binary::DivPrecise => Binary::Mul,
        Binary::MinNum => Binary::MaxNum,
        Binary::MaxNum => Binary::MinNum,
        Binary::Minimum => Binary::Maximum,
        Binary::Maximum => Binary::Minimum,
        Binary::MinS => Binary::MaxS,
        Binary::MaxS => Binary::MinS,
        Binary::And => Binary::Or,
        Binary::Or => Binary::And,
        Binary::Xor => Binary::Or,
        Binary::Shl => Binary::ShrU,
        Binary::ShrU | Binary::ShrS => Binary::Shl,
        Binary::DivS => Binary::RemS,
        Binary::RemS => Binary::DivS,
        Binary::DivU => Binary::RemU,
        Binary::RemU => Binary::DivU,
        _ => return None,
    })
}

fn neighbour(op: Compare) -> Option<Compare> {
    Some(match op {
        Compare::Slt => Compare::Sle,
        Compare::Sle => Compare::Slt,
        Compare::Sgt => Compare::Sge,
        Compare::Sge => Compare::Sgt,
        Compare::Ult => Compare::Ule,
        Compare::Olt => Compare::Oge,
        Compare::Ogt => Compare::Ole,
        Compare::Ole => Compare::Ogt,
        Compare::Oge => Compare::Olt,
        Compare::Eq => Compare::Ne,
        Compare::Ne => Compare::Eq,
        _ => return None,
    })
}

/// Rounds an operation's result to f16 and back.
fn round_to_half(kernel: &mut Kernel, id: OpId) {
    let Op { results, loc, span, .. } = kernel.ops[id].clone();
    let wide = kernel.ty(results[0]).clone();
    let values: &mut IdVec<Value, ValueData> = &mut kernel.values;
    let exact = values.push(ValueData::new(wide.clone(), None));
    let ty = wide.with_element(Element::Scalar(DType::F16));
    let half = values.push(ValueData::new(ty, None));
    kernel.ops[id].results = vec![exact];
    let mut cast = |from, to| {
        let kind = OpKind::Cast(Cast::Float);
        let op = Op {
            kind,
            operands: vec![from],
            results: vec![to],
            regions: vec![],
            loc,
            span,
            spelled: false,
        };
        kernel.ops.push(op)
    };
    let casts = [cast(exact, half), cast(half, results[0])];
    insert(kernel, id, &casts, true);
}

/// Puts operations before or behind another one, in its region.
fn insert(kernel: &mut Kernel, beside: OpId, ops: &[OpId], behind: bool) {
    fn into(region: &mut Region, beside: OpId, ops: &[OpId], behind: bool) {
        if let Some(at) = region.ops.iter().position(|&id| id == beside) {
            let at = at + usize::from(behind);
            region.ops.splice(at..at, ops.iter().copied());
        }
    }
    into(&mut kernel.body, beside, ops, behind);
    for id in kernel.ops.keys().collect::<Vec<_>>() {
        for region in &mut kernel.ops[id].regions {
            into(region, beside, ops, behind);
        }
    }
}
