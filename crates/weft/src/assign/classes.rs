//! Which values are free, and which share a home.

use super::shape::{is_elementwise, is_shape_op};
use crate::id::IdMap;
use crate::scalar::{Binary, Unary};
use crate::tile::{Kernel, Op, OpId, OpKind, Value};

/// The most operations that make an element of a free value: with more, computing it in two layouts costs
/// more than moving it. An index that is taken apart by a few divisions has a third of these; a random
/// number has hundreds.
const MOST_FREE: u32 = 48;

/// The operations that a quotient or remainder by a constant becomes.
const OF_DIVISION: u32 = 4;

/// The tensors that are functions of constants, ranges and scalars alone, and cheap ones.
pub(super) fn find_free(kernel: &Kernel) -> IdMap<Value, bool> {
    let mut free = IdMap::default();
    let definitions = kernel.definitions();
    // How many operations make an element, counted as often as they are used.
    let mut made: IdMap<Value, u32> = IdMap::default();
    kernel.walk(&kernel.body, &mut |_, op| {
        let [result] = op.results[..] else { return };
        if !kernel.ty(result).is_tensor() {
            return;
        }
        let own = match &op.kind {
            OpKind::Constant(_)
            | OpKind::Poison
            | OpKind::MakeRange { .. }
            | OpKind::Splat
            | OpKind::ConvertLayout => Some(0),
            kind if is_shape_op(kind) => Some(0),
            OpKind::Binary(Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU) => {
                is_cheap(kernel, &definitions, op).then_some(OF_DIVISION)
            }
            _ => is_cheap(kernel, &definitions, op).then_some(1),
        };
        let inputs_free =
            op.operands.iter().all(|&value| free[value] || !kernel.ty(value).is_tensor());
        let all = op
            .operands
            .iter()
            .fold(own.unwrap_or(0), |all, &value| all.saturating_add(made[value]));
        made.set(result, all);
        free.set(result, own.is_some() && inputs_free && all <= MOST_FREE);
    });
    free
}

/// Whether an element-wise operation costs so little that it may be done twice. Quotients and remainders by
/// constants are products and shifts.
pub(super) fn is_cheap(kernel: &Kernel, definitions: &IdMap<Value, Option<OpId>>, op: &Op) -> bool {
    match &op.kind {
        OpKind::Unary(op) => matches!(op, Unary::Neg | Unary::Abs | Unary::Not),
        OpKind::Binary(Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU) => {
            op.operands.get(1).is_some_and(|&divisor| is_constant(kernel, definitions, divisor))
        }
        OpKind::Binary(op) => {
            !matches!(op, Binary::Div | Binary::DivPrecise | Binary::Rem | Binary::Pow)
        }
        kind => is_elementwise(kind),
    }
}

/// Whether all elements of a value are one number that the program says.
fn is_constant(kernel: &Kernel, definitions: &IdMap<Value, Option<OpId>>, value: Value) -> bool {
    let mut at = value;
    while let Some(id) = definitions[at] {
        let op = &kernel.ops[id];
        match (&op.kind, op.operands.first()) {
            (OpKind::Constant(_), _) => return true,
            (OpKind::Splat | OpKind::ConvertLayout, Some(&operand)) => at = operand,
            (kind, Some(&operand)) if is_shape_op(kind) => at = operand,
            _ => return false,
        }
    }
    false
}

/// Values that share a home, by union and find.
#[derive(Default)]
pub(super) struct Classes {
    parent: IdMap<Value, Option<Value>>,
}

impl Classes {
    pub(super) fn of(kernel: &Kernel, free: &IdMap<Value, bool>) -> Self {
        let mut classes = Self { parent: IdMap::default() };
        kernel.walk(&kernel.body, &mut |_, op| match op.kind {
            OpKind::For(_) => {
                let body = &op.regions[0];
                let next = kernel.handed_over(body);
                for (index, &result) in op.results.iter().enumerate() {
                    let carried = [op.operands[3 + index], body.params[1 + index], next[index]];
                    classes.tie(kernel, free, result, &carried);
                }
            }
            OpKind::While => {
                let (before, after) = (&op.regions[0], &op.regions[1]);
                let next = kernel.handed_over(after);
                for (index, &param) in before.params.iter().enumerate() {
                    classes.tie(kernel, free, param, &[op.operands[index], next[index]]);
                }
                let passed = kernel.handed_over(before).get(1..).unwrap_or(&[]);
                for (index, &result) in op.results.iter().enumerate() {
                    classes.tie(kernel, free, result, &[passed[index], after.params[index]]);
                }
            }
            OpKind::If => {
                for (index, &result) in op.results.iter().enumerate() {
                    for region in &op.regions {
                        let yielded = kernel.handed_over(region);
                        classes.tie(kernel, free, result, &[yielded[index]]);
                    }
                }
            }
            OpKind::Scan { .. } | OpKind::InlineAsm(_) => {
                classes.tie(kernel, free, op.results[0], &op.operands);
                classes.tie(kernel, free, op.results[0], &op.results[1..]);
            }
            OpKind::Gather { .. } => {
                classes.tie(kernel, free, op.results[0], &op.operands[1..]);
            }
            _ if is_elementwise(&op.kind) => {
                classes.tie(kernel, free, op.results[0], &op.operands);
            }
            _ => {}
        });
        classes
    }

    /// Puts the tensors among `others` that have a home into the class of `value`.
    fn tie(&mut self, kernel: &Kernel, free: &IdMap<Value, bool>, value: Value, others: &[Value]) {
        if free[value] || !kernel.ty(value).is_tensor() {
            return;
        }
        for &other in others {
            if !free[other] && kernel.ty(other).is_tensor() {
                self.join(value, other);
            }
        }
    }

    /// Makes one class of those of two values.
    pub(super) fn join(&mut self, a: Value, b: Value) {
        let (a, b) = (self.find(a), self.find(b));
        // The older value represents the class, so that the result depends on no order.
        let (root, child) = if a <= b { (a, b) } else { (b, a) };
        if root != child {
            self.parent.set(child, Some(root));
        }
    }

    pub(super) fn find(&self, value: Value) -> Value {
        let mut at = value;
        while let Some(parent) = self.parent[at] {
            at = parent;
        }
        at
    }
}
