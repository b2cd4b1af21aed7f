//! Sums of products that begin anew in the rounds of a loop.
//!
//! A kernel that goes over the products of many tiles in one loop stores a sum when its tile is done, and goes on
//! from zero:
//!
//! ```text
//! for … (%sum = %zero):                            for … (%sum = %zero, %keep = false):
//!     %next = warp_group_dot %a, %b, %sum              %next = warp_group_dot %a, %b, %sum, %keep
//!     %rest = if %done { …; yield %zero }     ==>      if %done { … }
//!             else { yield %next }                     %more = not %done
//!     yield %rest                                      yield %next, %more
//! ```
//!
//! The matrix unit is told whether the sum counts. So nobody writes zeros, no thread chooses between those and the sum,
//! and the product may be under way when the round ends.

use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::Binary;
use crate::tile::{
    Around, Kernel, Op, OpId, OpKind, Region, Rewrite, Type, Value, ValueData, WriteOps,
};

/// Tells products which carried sums count.
pub(crate) fn run(kernel: &mut Kernel) {
    let definitions = kernel.definitions();
    let mut found = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        if matches!(op.kind, OpKind::For(_)) {
            let carried = 0..op.results.len();
            found.extend(carried.filter_map(|index| Sum::of(kernel, &definitions, id, index)));
        }
    });
    if found.is_empty() {
        return;
    }
    let uses = uses(kernel, &kernel.body);
    let mut around: IdMap<OpId, Around> = IdMap::default();
    for sum in found {
        sum.rewrite(kernel, &definitions, &uses, around.entry(sum.at));
    }
    kernel.put_around(&around);
}

/// A sum that a loop carries, and that begins anew.
#[derive(Clone, Copy)]
struct Sum {
    /// The loop.
    at: OpId,
    /// Which of the values that it carries.
    index: usize,
    /// The product that adds to it.
    product: OpId,
    /// The sum at the end of a round, unless it begins anew then.
    last: Value,
    /// When it does so: where this truth value is that.
    when: (Value, bool),
}

impl Sum {
    fn of(
        kernel: &Kernel,
        definitions: &IdMap<Value, Option<OpId>>,
        at: OpId,
        index: usize,
    ) -> Option<Self> {
        let body = &kernel.ops[at].regions[0];
        let param = body.params[1 + index];
        let is_product = |id: &&OpId| {
            let op = &kernel.ops[**id];
            matches!(op.kind, OpKind::WarpgroupDot(_))
                && op.operands.len() == 3
                && op.operands[2] == param
        };
        let product = *body.ops.iter().find(is_product)?;
        if uses(kernel, body)[param] != 1 {
            return None;
        }
        let chosen = definitions[kernel.handed_over(body)[index]]?;
        let op = body.ops.contains(&chosen).then(|| &kernel.ops[chosen])?;
        let [yes, no] = match (&op.kind, &op.regions[..]) {
            (OpKind::Select, _) if !kernel.ty(op.operands[0]).is_tensor() => {
                [op.operands[1], op.operands[2]]
            }
            (OpKind::If, [then, otherwise]) => {
                let result = kernel.handed_over(body)[index];
                let number = op.results.iter().position(|&value| value == result)?;
                [then, otherwise].map(|arm| kernel.handed_over(arm)[number])
            }
            _ => return None,
        };
        let [begins, goes_on] = [yes, no].map(|value| is_zero(kernel, definitions, value));
        let (last, anew) = match (begins, goes_on) {
            (true, false) => (no, true),
            (false, true) => (yes, false),
            _ => return None,
        };
        let mut is_inside = false;
        for region in &op.regions {
            kernel.walk(region, &mut |_, inner| is_inside |= inner.results.contains(&last));
        }
        (!is_inside).then_some(Self { at, index, product, last, when: (op.operands[0], anew) })
    }

    fn rewrite(
        self,
        kernel: &mut Kernel,
        definitions: &IdMap<Value, Option<OpId>>,
        uses: &IdMap<Value, u32>,
        around: &mut Around,
    ) {
        let Self { at, index, product, last, when: (truth, anew) } = self;
        let i1 = Type::scalar(DType::I1);
        let first = kernel.ops[at].operands[3 + index];
        let counts = u64::from(!is_zero(kernel, definitions, first));
        let first = Rewrite { kernel, at, out: &mut around.before }.constant(&i1, counts);
        let [keep, kept] = [(); 2].map(|()| kernel.values.push(ValueData::new(i1.clone(), None)));

        let mut body = core::mem::take(&mut kernel.ops[at].regions[0]);
        let end = body.ops.pop();
        let more = if anew {
            Rewrite { kernel, at: product, out: &mut body.ops }.with_number(Binary::Xor, truth, 1)
        } else {
            truth
        };
        if let Some(end) = end {
            let operands = &mut kernel.ops[end].operands;
            let chosen = core::mem::replace(&mut operands[index], last);
            operands.push(more);
            body.ops.push(end);
            if uses[chosen] == 1 {
                no_longer_chosen(kernel, definitions, chosen);
            }
        }
        body.params.push(keep);
        kernel.ops[product].operands.push(keep);
        let result = kernel.ops[at].results[index];
        let op = &mut kernel.ops[at];
        op.regions[0] = body;
        op.operands.push(first);
        op.results.push(kept);
        if uses[result] > 0 {
            let sum = kernel.values.push(kernel.values[result].clone());
            kernel.ops[at].results[index] = sum;
            let ty = kernel.ty(result).clone();
            let mut rewrite = Rewrite { kernel, at: product, out: &mut around.after };
            let zero = rewrite.constant(&ty, 0);
            rewrite.select(kept, sum, zero);
            rewrite.conclude(result);
        }
    }
}

/// Takes from a branch the result that nobody uses.
fn no_longer_chosen(kernel: &mut Kernel, definitions: &IdMap<Value, Option<OpId>>, chosen: Value) {
    let Some(id) = definitions[chosen].filter(|&id| kernel.ops[id].kind == OpKind::If) else {
        return;
    };
    let op = &mut kernel.ops[id];
    let Some(number) = op.results.iter().position(|&result| result == chosen) else { return };
    op.results.remove(number);
    let ends: Vec<OpId> = op.regions.iter().filter_map(|arm| arm.ops.last().copied()).collect();
    for end in ends {
        kernel.ops[end].operands.remove(number);
    }
}

/// How often each value is used in a region.
fn uses(kernel: &Kernel, region: &Region) -> IdMap<Value, u32> {
    let mut uses: IdMap<Value, u32> = IdMap::default();
    let mut count = |_, op: &Op| op.operands.iter().for_each(|&operand| *uses.entry(operand) += 1);
    kernel.walk(region, &mut count);
    uses
}

/// Whether all elements are zero, a float's without a sign.
fn is_zero(kernel: &Kernel, definitions: &IdMap<Value, Option<OpId>>, value: Value) -> bool {
    definitions[value].is_some_and(|id| kernel.ops[id].kind == OpKind::Constant(0))
}
