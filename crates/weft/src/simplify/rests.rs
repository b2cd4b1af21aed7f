//! Remainders whose quotients nothing else uses.
//!
//! ```text
//! q = div n, d
//! p = mul q, d          ==>     r = rem n, d
//! r = sub n, p
//! ```
//!
//! Until this is known, a remainder is what its quotient leaves, which both then share ([`crate::lane::division`]). Alone,
//! it is cheaper as what it is: machines take it from the same estimate of the quotient, which need not be right then, and
//! of 64 bits there are no two products more. (A deviation of 12 million numbers whose indices a run's sizes of 64 bits
//! wrap, on an H200: 44.6 µs, and 39.5 so.)

use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{Inst, Op, Program, Value};
use crate::scalar::Binary;

/// A difference as a remainder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// The operation.
    pub(super) op: Binary,
    /// The numerator and the divisor.
    pub(super) of: [Value; 2],
    /// What the difference is above the remainder: constants are moved out of sums.
    pub(super) above: u64,
}

/// The differences that are such remainders.
pub(super) fn of(program: &Program) -> IdMap<Inst, Option<Rest>> {
    let mut uses: IdMap<Value, u32> = IdMap::default();
    let mut made: IdMap<Value, Option<Inst>> = IdMap::default();
    program.walk(&program.body, &mut |id, inst| {
        inst.operands.iter().for_each(|&operand| *uses.entry(operand) += 1);
        inst.results.iter().for_each(|&result| made.set(result, Some(id)));
    });
    let binary = |value: Value| {
        let inst = &program.insts[made[value]?];
        let (&Op::Binary(op), &[x, y]) = (&inst.op, &inst.operands[..]) else { return None };
        Some((op, [x, y]))
    };
    let once = |value: Value| binary(value).filter(|_| uses[value] == 1);
    // A value as another one and a constant.
    let parts = |value: Value| {
        let sum = binary(value).and_then(|(op, [x, y])| {
            let inst = &program.insts[made[y]?];
            let Op::Const(bits) = inst.op else { return None };
            (op == Binary::Add).then_some((x, bits))
        });
        sum.unwrap_or((value, 0))
    };
    let mut rests = IdMap::default();
    program.walk(&program.body, &mut |id, inst| {
        let (Op::Binary(Binary::Sub), &[from, product]) = (&inst.op, &inst.operands[..]) else {
            return;
        };
        let Some((Binary::Mul, [x, y])) = once(product) else { return };
        let rest = [(x, y), (y, x)].into_iter().find_map(|(quotient, divisor)| {
            let (op, of) = once(quotient)?;
            let op = match op {
                Binary::DivS => Binary::RemS,
                Binary::DivU => Binary::RemU,
                _ => return None,
            };
            let [(base, above), (of_base, of_above)] = [from, of[0]].map(parts);
            let above = above.wrapping_sub(of_above);
            (of[1] == divisor && base == of_base).then_some(Rest { op, of, above })
        });
        if matches!(program.dtype(from), DType::I32 | DType::I64) {
            rests.set(id, rest);
        }
    });
    rests
}
