//! A smaller kernel that fails in the same way: crude, but it ends with a few lines.

use super::build::Sample;
use std::collections::BTreeSet;
use weft::id::Id;
use weft::tile::{self, Kernel, OpId, OpKind, Region, Value};

/// Drops operations that nobody uses, and puts older values in the place of newer ones, as long as
/// the kernel still fails.
pub(super) fn shrink(sample: &Sample, fails: impl Fn(&Sample) -> bool) -> Sample {
    let mut best = sample.clone();
    for _ in 0..3 {
        let before = size(&best.kernel);
        // What comes last is dropped first, so that its operands become unused.
        for id in best.kernel.ops.keys().rev().collect::<Vec<_>>() {
            attempt(&mut best, &fails, |kernel| drop_op(kernel, id));
        }
        for id in best.kernel.ops.keys().collect::<Vec<_>>() {
            let [result] = best.kernel.ops[id].results[..] else { continue };
            let older: Vec<Value> = best
                .kernel
                .values
                .keys()
                .filter(|&other| other != result && best.kernel.ty(other) == best.kernel.ty(result))
                .take(8)
                .collect();
            for other in older {
                if attempt(&mut best, &fails, |kernel| replace(kernel, id, result, other)) {
                    break;
                }
            }
        }
        if size(&best.kernel) == before {
            break;
        }
    }
    best
}

/// How many operations stand in the kernel.
pub(super) fn size(kernel: &Kernel) -> usize {
    let mut count = 0;
    kernel.walk(&kernel.body, &mut |_, _| count += 1);
    count
}

fn attempt(
    best: &mut Sample,
    fails: &impl Fn(&Sample) -> bool,
    change: impl FnOnce(&mut Kernel) -> bool,
) -> bool {
    let mut smaller = best.clone();
    let better =
        change(&mut smaller.kernel) && tile::verify(&smaller.kernel).is_ok() && fails(&smaller);
    if better {
        *best = smaller;
    }
    better
}

fn uses(kernel: &Kernel, value: Value) -> usize {
    let mut count = 0;
    kernel.walk(&kernel.body, &mut |_, op| {
        count += op.operands.iter().filter(|&&operand| operand == value).count();
    });
    count
}

fn remove(kernel: &mut Kernel, region: &Region, id: OpId) -> Region {
    let mut left = Region { params: region.params.clone(), ops: Vec::new() };
    for &op in region.ops.iter().filter(|&&op| op != id) {
        let regions = kernel.ops[op].regions.clone();
        let regions = regions.iter().map(|region| remove(kernel, region, id)).collect();
        kernel.ops[op].regions = regions;
        left.ops.push(op);
    }
    left
}

fn drop_op(kernel: &mut Kernel, id: OpId) -> bool {
    let op = &kernel.ops[id];
    if op.kind.effects().is_terminator()
        || op.results.iter().any(|&result| uses(kernel, result) > 0)
    {
        return false;
    }
    let before = size(kernel);
    let body = kernel.body.clone();
    kernel.body = remove(kernel, &body, id);
    size(kernel) < before
}

/// The operations in the regions of reductions and scans.
fn inside_reductions(kernel: &Kernel) -> BTreeSet<OpId> {
    let mut inside = BTreeSet::new();
    kernel.walk(&kernel.body, &mut |_, op| {
        if matches!(op.kind, OpKind::Reduce { .. } | OpKind::Scan { .. }) {
            inside.extend(op.regions.iter().flat_map(|region| region.ops.iter().copied()));
        }
    });
    inside
}

fn replace(kernel: &mut Kernel, id: OpId, from: Value, to: Value) -> bool {
    if matches!(kernel.ops[id].kind, OpKind::Constant(_)) || uses(kernel, from) == 0 {
        return false;
    }
    // What folds stays as it is: it must stay associative.
    let folding = inside_reductions(kernel);
    for op in kernel.ops.keys().filter(|op| !folding.contains(op)).collect::<Vec<OpId>>() {
        for operand in &mut kernel.ops[op].operands {
            if *operand == from {
                *operand = to;
            }
        }
    }
    // Older values only, so that this comes to an end; the verifier sees what is not visible.
    to.index() < from.index() && drop_op(kernel, id)
}
