//! Loops without what only their first round does.
//!
//! ```text
//! for %i = 0 to %n step 1024 {                if 0 < %n {
//!   if %i == 0 { a } else { b }       ==>       a
//! }                                           }
//!                                             for %i = 1024 to %n step 1024 { b }
//! ```
//!
//! An assembler begins the loads of several rounds together, but not across a branch in each; and what the first
//! round begins with are constants there. (`torch.compile` writes means and variances of long rows so. Of 8,192 rows
//! of 4,096 columns the variance and the place of the greatest, in two rounds, on an H200: 103 µs, and 62 so.)
//!
//! It is done to innermost loops in which a comparison of the counter decides a branch one way in the first
//! round and the other way in all others. Loops with products are left alone: pipelines begin their loads ahead.

use crate::axis::{AxisFacts, Range};
use crate::id::IdMap;
use crate::split::{self, Place};
use crate::tile::{Kernel, Op, OpId, OpKind, Value};

/// The kernel with first rounds apart; nothing where it has no such loops.
pub fn run(kernel: &Kernel, facts: &AxisFacts) -> Option<Kernel> {
    let definitions = kernel.definitions();
    let (kernel, _) = split::run(kernel, |op| second_round(kernel, facts, &definitions, op))?;
    Some(kernel)
}

/// Where the second round of a loop begins whose first one differs.
fn second_round(
    kernel: &Kernel,
    facts: &AxisFacts,
    definitions: &IdMap<Value, Option<OpId>>,
    op: &Op,
) -> Option<Place> {
    let (low, high, step) = split::bounds(facts, op)?;
    let (middle, counter) = (low.checked_add(step)?, op.regions[0].params[0]);
    let last = Range::of_type(kernel.ty(counter)).high;
    if middle > last || high.is_some_and(|high| high <= low) {
        return None;
    }
    let rounds = [Range::new(low, low), Range::new(middle, last)];
    let differs = |condition: Value| {
        let decision = &kernel.ops[definitions[condition]?];
        let (OpKind::Compare(compare), &[x, y]) = (&decision.kind, &decision.operands[..]) else {
            return None;
        };
        let [first, others] = rounds.map(|range| {
            let of = |value: Value| if value == counter { range } else { facts.get(value).range };
            Range::compared(*compare, of(x), of(y))
        });
        Some(first? != others?)
    };
    let (mut is_plain, mut any) = (true, false);
    for region in &op.regions {
        kernel.walk(region, &mut |_, op| match op.kind {
            OpKind::For(_) | OpKind::While => is_plain = false,
            ref kind if kind.is_product() => is_plain = false,
            OpKind::If => any |= differs(op.operands[0]) == Some(true),
            _ => {}
        });
    }
    let may_be_empty = high.is_none();
    (is_plain && any).then_some(Place { middle, may_be_empty })
}
