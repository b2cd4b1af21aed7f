//! Assertions inside the region of a reduction or a scan.
//!
//! A region that folds has no effects: in which pairs elements meet, and which pairs are made for nothing,
//! is the plan's business. So the region says for each pair whether its assertion held, as one more component
//! of the tuple, and what came out is asserted behind the operation:
//!
//! ```text
//! %s = reduce(%x) { assert %c; yield %v }   ==>   %s, %h = reduce(%x, true) { yield %v, %l and %r and %c }
//!                                                 assert %h
//! ```

use super::build::Builder;
use super::syntax::{Action, Block, Operation};
use crate::dtype::DType;
use crate::location::Loc;
use crate::scalar::Binary;
use crate::tile::{Element, OpId, OpKind, Region, Type, Value};

/// An assertion that stood in a region.
struct Assertion {
    message: String,
    condition: Value,
    loc: Loc,
}

/// The message of an operation that asserts.
fn asserted<'o>(operation: &'o Operation<'_>) -> Option<&'o String> {
    match &operation.action {
        Action::Do(OpKind::Assert { message }) => Some(message),
        _ => None,
    }
}

/// The block of a region that folds, if it asserts without branches and calls.
pub(super) fn asserting<'o, 'a>(operation: &'o Operation<'a>) -> Option<&'o Block<'a>> {
    let [block] = &operation.regions[..] else { return None };
    let branches = |operation: &Operation<'_>| {
        !operation.regions.is_empty() || matches!(operation.action, Action::Call(_))
    };
    let operands = operation.operands.len();
    // What has other parameters, or no results, is refused with what folds otherwise.
    if operands == 0 || block.params.len() != 2 * operands || operation.result_types.is_empty() {
        return None;
    }
    let operations = &block.operations;
    let asserts = operations.iter().any(|operation| asserted(operation).is_some());
    (asserts && !operations.iter().any(branches)).then_some(block)
}

impl<'a, 'r> Builder<'a, 'r> {
    /// Builds a reduction or a scan whose region asserts.
    pub(super) fn asserting_fold(
        &mut self,
        kind: &OpKind,
        mut operands: Vec<Value>,
        (operation, block): (&'r Operation<'a>, &'r Block<'a>),
        out: &mut Vec<OpId>,
    ) -> Option<Vec<Value>> {
        let count = block.operations.iter().filter_map(asserted).count();
        let truth = Element::Scalar(DType::I1);
        let given = self.ty(*operands.first()?).with_element(truth);
        let left = match operation.result_types.first()? {
            ty if ty.is_tensor() => ty.with_element(truth),
            _ => Type::scalar(DType::I1),
        };
        let held = self.push_one(OpKind::Constant(1), vec![], ("held", &given), operation, out);
        operands.extend(vec![held; count]);
        let results = self.named_results(operation);
        let mut all = results.clone();
        for _ in 0..count {
            all.extend(self.new_results("held", std::slice::from_ref(&left)));
        }
        let (loc, span) = (self.place(operation.loc), operation.span);
        let id = self.push(kind.clone(), operands, all.clone(), loc, span, out);
        let (region, assertions) = self.in_region(block.label_span, |builder| {
            builder.asserting_region(count, operation, block)
        })?;
        self.set_region(id, region);
        for (assertion, result) in assertions.into_iter().zip(all.drain(results.len()..)) {
            let Assertion { message, loc, .. } = assertion;
            self.push(OpKind::Assert { message }, vec![result], Vec::new(), loc, span, out);
        }
        Some(results)
    }

    /// The region without its assertions, which yields besides whether each held.
    fn asserting_region(
        &mut self,
        count: usize,
        operation: &Operation<'a>,
        block: &'r Block<'a>,
    ) -> Option<(Region, Vec<Assertion>)> {
        let truth = Type::scalar(DType::I1);
        let (mut region, mut before) = (Region::default(), Vec::new());
        for side in block.params.chunks(operation.operands.len().max(1)) {
            region.params.extend(self.block_params(side));
            let held: Vec<Value> = (0..count).map(|_| self.unnamed(&truth)).collect();
            region.params.extend(&held);
            before.push(held);
        }
        let (last, body) = block.operations.split_last()?;
        let mut assertions = Vec::new();
        for inner in body {
            match asserted(inner) {
                Some(message) if self.visit(inner) => {
                    let condition = self.operand(inner.operands.first()?, &truth)?;
                    let (message, loc) = (message.clone(), self.place(inner.loc));
                    assertions.push(Assertion { message, condition, loc });
                }
                Some(_) => return None,
                None => self.operation(inner, &mut region.ops),
            }
        }
        let mut yielded = Vec::new();
        for (number, assertion) in assertions.iter().enumerate() {
            let [left, right] = &before[..] else { return None };
            let mut both = |x, y| {
                let (and, ops) = (OpKind::Binary(Binary::And), &mut region.ops);
                self.push_one(and, vec![x, y], ("held", &truth), operation, ops)
            };
            let sides = both(left[number], right[number]);
            yielded.push(both(sides, assertion.condition));
        }
        self.operation(last, &mut region.ops);
        self.ops[*region.ops.last()?].operands.extend(yielded);
        Some((region, assertions))
    }
}
