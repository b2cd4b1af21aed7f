//! Regions on scalars without control flow: an `scf.if` or a branch inside becomes `select`s, and the operations
//! of `tt.map_elementwise` go from scalars to tensors.
//!
//! Both are right because such regions have no effects: what the way not taken computes is dropped.

use super::build::{Builder, Ending};
use super::flow::Flow;
use super::rewrite::Rewriter;
use super::syntax::{Action, Operation};
use crate::dtype::DType;
use crate::id::Id as _;
use crate::tile::{Element, Op, OpId, OpKind, Region, Type, Value, WriteOps};
use std::collections::BTreeMap;

/// A region that was built apart, to be written again in another form.
struct Apart {
    region: Region,
    ops: Vec<Op>,
    types: Vec<Type>,
    /// The numbers of the first operation and the first value.
    first_op: usize,
    first_value: usize,
}

impl<'a, 'r> Builder<'a, 'r> {
    /// The region of a reduction or scan. With `scf.if` or a call inside, it is built apart and written again
    /// without.
    pub(super) fn folding_region(&mut self, operation: &'r Operation<'a>) -> Option<Region> {
        let branches = |operation: &Operation<'_>| {
            !operation.regions.is_empty() || matches!(operation.action, Action::Call(_))
        };
        if let Some(block) = operation.regions.first()
            && !block.operations.iter().any(branches)
        {
            return self.in_region(block.label_span, |builder| Some(builder.region(block)));
        }
        let apart = self.apart(operation)?;
        let mut region = Region::default();
        let mut known = BTreeMap::new();
        for &param in &apart.region.params {
            let ty = apart.ty(param).clone();
            let value = self.unnamed(&ty);
            region.params.push(value);
            known.insert(param, value);
        }
        let mut rewriter = Rewriter { builder: self, operation, out: &mut region.ops };
        let results =
            rewriter.flatten(&apart, &apart.region, &mut known, &Type::scalar(DType::I1))?;
        rewriter.hand_over(results);
        Some(region)
    }

    /// `tt.map_elementwise`: the region's operations on whole tensors. With several elements at a time
    /// these are neighbours in row-major order.
    pub(super) fn map_elementwise(
        &mut self,
        pack: u64,
        operands: &[Value],
        operation: &'r Operation<'a>,
        out: &mut Vec<OpId>,
    ) -> Option<Vec<Value>> {
        let apart = self.apart(operation)?;
        let mut rewriter = Rewriter { builder: self, operation, out };
        let first = *operands.first()?;
        let shape = rewriter.ty(first).shape.to_vec();
        let elements: u64 = shape.iter().product();
        if !pack.is_power_of_two() || pack > elements {
            return rewriter.refuse(format!("{pack} elements at a time of {elements}"));
        }
        let mut entering = Vec::new();
        for &operand in operands {
            let flat = if pack == 1 { operand } else { rewriter.reshape(operand, &[elements]) };
            entering.extend(rewriter.dealt(flat, pack));
        }
        if entering.len() != apart.region.params.len() {
            let wanted = apart.region.params.len();
            return rewriter
                .refuse(format!("the region takes {wanted} values, not {}", entering.len()));
        }
        let mut known: BTreeMap<Value, Value> =
            apart.region.params.iter().copied().zip(entering).collect();
        let lines = match pack {
            1 => rewriter.ty(first),
            _ => Type::tensor(Element::Scalar(DType::I1), &[elements / pack]),
        };
        let results = rewriter.flatten(&apart, &apart.region, &mut known, &lines)?;
        let wanted = operation.result_types.len() * pack as usize;
        if results.len() != wanted {
            let found = results.len();
            return rewriter.refuse(format!("the region gives {found} values, not {wanted}"));
        }
        let mut mapped = Vec::new();
        for hand in results.chunks(pack as usize) {
            let whole: Vec<Value> =
                hand.iter().map(|&value| rewriter.splat_like(value, &lines)).collect();
            let flat = rewriter.collected(&whole);
            mapped.push(rewriter.reshape(flat, &shape));
        }
        Some(mapped)
    }

    /// Builds an operation's region and takes its operations and values away again. Branches between
    /// blocks become `if`s.
    fn apart(&mut self, operation: &'r Operation<'a>) -> Option<Apart> {
        let (first_op, first_value) = (self.ops.len(), self.values.len());
        let region = match &operation.branching {
            None => {
                let block = operation.regions.first()?;
                self.in_region(block.label_span, |builder| Some(builder.region(block)))
            }
            Some(function) => self.in_region(function.name_span, |builder| {
                let flow = Flow::of(function, builder.errors)?;
                let params = builder.block_params(&function.blocks.first()?.params);
                let mut ops = Vec::new();
                let ending = builder.blocks(function, &flow, 0, None, &mut ops)?;
                let Ending { values, loc, span } = ending;
                builder.push(OpKind::Yield, values, Vec::new(), loc, span, &mut ops);
                Some(Region { params, ops })
            }),
        };
        let ops = self.ops.split_off(first_op);
        let types = self.values.split_off(first_value).into_iter().map(|value| value.ty).collect();
        Some(Apart { region: region?, ops, types, first_op, first_value })
    }
}

impl Apart {
    fn op(&self, id: OpId) -> Option<&Op> {
        self.ops.get(id.index().checked_sub(self.first_op)?)
    }

    fn ty(&self, value: Value) -> &Type {
        // Values of the region alone are asked for.
        &self.types[value.index() - self.first_value]
    }

    fn is_own(&self, value: Value) -> bool {
        value.index() >= self.first_value
    }
}

impl Rewriter<'_, '_, '_> {
    /// Writes a region's operations again, on values of the type `like` but for the
    /// element; what
    /// the region hands over.
    fn flatten(
        &mut self,
        apart: &Apart,
        region: &Region,
        known: &mut BTreeMap<Value, Value>,
        like: &Type,
    ) -> Option<Vec<Value>> {
        let mut results = Vec::new();
        for &id in &region.ops {
            let op = apart.op(id)?;
            let mut operands = Vec::new();
            for &operand in &op.operands {
                let value = match known.get(&operand) {
                    Some(&value) => value,
                    None if apart.is_own(operand) => return None,
                    None => operand,
                };
                operands.push(value);
            }
            match &op.kind {
                OpKind::If => {
                    let [then, otherwise] = &op.regions[..] else { return None };
                    let yes = self.flatten(apart, then, known, like)?;
                    let no = self.flatten(apart, otherwise, known, like)?;
                    for ((&result, yes), no) in op.results.iter().zip(yes).zip(no) {
                        let (yes, no) = (self.splat_like(yes, like), self.splat_like(no, like));
                        let condition = self.splat_like(operands[0], like);
                        known.insert(result, self.select(condition, yes, no));
                    }
                }
                OpKind::Yield => results = operands,
                kind if kind.effects().is_pure()
                    && op.regions.is_empty()
                    && op.results.len() == 1 =>
                {
                    let result = op.results[0];
                    let scalar = apart.ty(result);
                    if scalar.is_tensor() {
                        return self.refuse(format!(
                            "`{}` on tensors in a region on scalars",
                            kind.name()
                        ));
                    }
                    // What is the same for all elements stays a scalar.
                    let lifts = operands.iter().any(|&operand| self.ty(operand).is_tensor());
                    let ty = if lifts { like.with_element(scalar.element) } else { scalar.clone() };
                    if lifts {
                        operands =
                            operands.iter().map(|&value| self.splat_like(value, like)).collect();
                    }
                    known.insert(result, self.one(kind.clone(), &operands, &ty));
                }
                kind => {
                    let name = kind.name();
                    return self.refuse(format!(
                        "`{name}` in a region on scalars, which has no effects and no loops"
                    ));
                }
            }
        }
        Some(results)
    }

    /// `count` neighbours of each group of so many, each in a tensor of its own.
    fn dealt(&mut self, flat: Value, count: u64) -> Vec<Value> {
        if count == 1 {
            return vec![flat];
        }
        let ty = self.ty(flat);
        let half = ty.elements() / 2;
        let pairs = self.reshape(flat, &[half, 2]);
        let [even, odd] = self.halves(pairs, &Type::tensor(ty.element, &[half]));
        let (even, odd) = (self.dealt(even, count / 2), self.dealt(odd, count / 2));
        even.into_iter().zip(odd).flat_map(|(even, odd)| [even, odd]).collect()
    }

    /// The reverse of [`Rewriter::dealt`].
    fn collected(&mut self, hands: &[Value]) -> Value {
        if let [only] = hands {
            return *only;
        }
        let every = |first: usize| hands.iter().copied().skip(first).step_by(2).collect::<Vec<_>>();
        let (even, odd) = (self.collected(&every(0)), self.collected(&every(1)));
        self.interleaved(even, odd)
    }

    fn halves(&mut self, joined: Value, half: &Type) -> [Value; 2] {
        let results = [half, half].map(|ty| self.builder.unnamed(ty));
        let loc = self.builder.place(self.operation.loc);
        let span = self.operation.span;
        self.builder.push(OpKind::Split, vec![joined], results.to_vec(), loc, span, self.out);
        results
    }

    /// Ends a region, which hands these values over.
    pub(super) fn hand_over(&mut self, results: Vec<Value>) {
        let loc = self.builder.place(self.operation.loc);
        let span = self.operation.span;
        self.builder.push(OpKind::Yield, results, Vec::new(), loc, span, self.out);
    }
}
