//! Products of warpgroups that may be under way while the program goes on.
//!
//! A warpgroup's product runs beside the threads that issued it, and its sum is waited for where somebody
//! looks at it. A loop whose rounds end with a product may begin the next round meanwhile; where it does
//! nothing with the sum but add the next product to it, it need not wait at all:
//!
//! ```text
//! for … iter_args(%sum = …) { …; %next = warpgroup_dot %a, %b, %sum; …; yield %next }
//! ```

use super::{Kernel, Op, OpKind, Value};
use crate::id::IdMap;

/// The values that a `for` loop carries, by number, that may be under way from round to round, each with the
/// product that it is then: the round ends with it and does nothing else with it, but in branches.
///
/// Registers of a left factor must not be written while a product reads them, and in the next round they are.
/// So such a product goes on only where they hang on another product of the round, whose sum is there later
/// than that of any product before it.
pub fn in_flight(kernel: &Kernel, op: &Op) -> Vec<(usize, Value)> {
    let Some(body) = op.regions.first().filter(|_| matches!(op.kind, OpKind::For(_))) else {
        return Vec::new();
    };
    // An arm of a branch that looks at a sum waits by itself.
    let mut uses: IdMap<Value, u32> = IdMap::default();
    for &id in &body.ops {
        let op = &kernel.ops[id];
        let mut count = |op: &Op| op.operands.iter().for_each(|&operand| *uses.entry(operand) += 1);
        count(op);
        if op.kind != OpKind::If {
            op.regions.iter().for_each(|region| kernel.walk(region, &mut |_, op| count(op)));
        }
    }
    // What hangs on a product of the round, and the products that may go on.
    let mut later: IdMap<Value, bool> = IdMap::default();
    let mut goes_on: IdMap<Value, bool> = IdMap::default();
    for &id in &body.ops {
        let op = &kernel.ops[id];
        let hangs = op.operands.iter().any(|&operand| later[operand]);
        let is_product = matches!(op.kind, OpKind::WarpgroupDot(_));
        for &result in &op.results {
            later.set(result, hangs || is_product);
            let left = op.operands.first().filter(|_| is_product);
            let free = left.is_some_and(|&a| kernel.ty(a).memory().is_some() || later[a]);
            goes_on.set(result, free);
        }
    }
    let handed_over = kernel.handed_over(body).iter().copied().enumerate();
    handed_over.filter(|&(_, last)| goes_on[last] && uses[last] == 1).collect()
}
