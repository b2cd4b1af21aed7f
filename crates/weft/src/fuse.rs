//! Makes fused multiply-adds of products and sums.
//!
//! A sum of a product rounds twice: the product, then the sum. A fused multiply-add rounds once and is
//! one instruction instead of two. Triton has LLVM fuse them unless it is told not to
//! (`enable_fp_fusion`), and so does Weft, by rewriting the tile program. The rewritten program
//! is what the reference evaluator runs and what every later check compares with.
//!
//! | before | after |
//! | --- | --- |
//! | `x * y + z`, `z + x * y` | `fma(x, y, z)` |
//! | `x * y - z` | `fma(x, y, -z)` |
//! | `z - x * y` | `fma(-x, y, z)` |
//!
//! Sums along an axis take products, too: a reduction that adds up a product which nothing else uses may
//! leave it unrounded ([`OpKind::Reduce`], `contract`), and is lowered with fused multiply-adds where
//! factors and sum are in one thread.
//!
//! A product is fused where every use of it is a sum or a difference of the same region that it can be
//! fused with; then the product itself is gone, and nothing is computed twice. Of two such products in
//! one sum the one with fewer uses is fused, the left one where both have as many, as LLVM does
//! (`DAGCombiner::visitFADDForFMACombine`).

use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::{Binary, Unary};
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Value, ValueData};

/// The kernel with its products fused with sums, but for those in `kept`; nothing where none is.
///
/// Values keep their numbers, and a fused sum its result, name and place. Fusing once more gives
/// nothing.
pub fn run(kernel: &Kernel, kept: &[Value]) -> Option<Kernel> {
    let mut fused = None;
    // A sum that took one product leaves the other as an addend, which may settle other sums.
    while let Some(next) = round(fused.as_ref().unwrap_or(kernel), kept) {
        fused = Some(next);
    }
    contracted(fused.as_ref().unwrap_or(kernel), kept).or(fused)
}

/// The kernel in which reductions may leave products unrounded; nothing where none does that did not.
fn contracted(kernel: &Kernel, kept: &[Value]) -> Option<Kernel> {
    let (definitions, regions) = (kernel.definitions(), regions(kernel));
    let mut uses: IdMap<Value, u32> = IdMap::default();
    kernel.walk(&kernel.body, &mut |_, op| {
        for &operand in &op.operands {
            *uses.entry(operand) += 1;
        }
    });
    let mut found = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        let (OpKind::Reduce { axis, contract: false }, &[term]) = (&op.kind, &op.operands[..])
        else {
            return;
        };
        let Some(product) = definitions[term] else { return };
        if kernel.ops[product].kind == OpKind::Binary(Binary::Mul)
            && matches!(kernel.ty(term).dtype(), DType::F32 | DType::F64)
            && (uses[term], regions[product]) == (1, regions[id])
            && !kept.contains(&term)
            && op.regions.iter().all(|region| adds(kernel, region))
        {
            found.push((id, *axis));
        }
    });
    let mut result = (!found.is_empty()).then(|| kernel.clone())?;
    for (id, axis) in found {
        result.ops[id].kind = OpKind::Reduce { axis, contract: true };
    }
    Some(result)
}

/// Whether a region of two parameters gives their sum.
fn adds(kernel: &Kernel, region: &Region) -> bool {
    let (&[left, right], &[sum, end]) = (&region.params[..], &region.ops[..]) else { return false };
    let [sum, end] = [sum, end].map(|id| &kernel.ops[id]);
    sum.kind == OpKind::Binary(Binary::Add)
        && (sum.operands == [left, right] || sum.operands == [right, left])
        && end.operands == sum.results
}

/// What is decided at once; nothing where no product is fused.
fn round(kernel: &Kernel, kept: &[Value]) -> Option<Kernel> {
    let mut plan = Plan::of(kernel, kept);
    while plan.withdraw() {}
    if plan.products.is_empty() {
        return None;
    }
    let mut result = kernel.clone();
    let body = core::mem::take(&mut result.body);
    result.body = plan.rewritten(&mut result, body);
    Some(result)
}

/// The products that may be fused.
struct Plan<'a> {
    kernel: &'a Kernel,
    /// In the program's order.
    products: Vec<Value>,
    /// For each of these its uses; empty for any other value.
    uses: IdMap<Value, Vec<OpId>>,
    definitions: IdMap<Value, Option<OpId>>,
}

impl<'a> Plan<'a> {
    /// Those whose every use is a sum or a difference of the region that they stand in.
    fn of(kernel: &'a Kernel, kept: &[Value]) -> Self {
        let definitions = kernel.definitions();
        let mut plan = Self { kernel, products: Vec::new(), uses: IdMap::default(), definitions };
        let mut uses: IdMap<Value, Vec<OpId>> = IdMap::default();
        kernel.walk(&kernel.body, &mut |id, op| {
            for &operand in &op.operands {
                uses.entry(operand).push(id);
            }
        });
        let regions = regions(kernel);
        kernel.walk(&kernel.body, &mut |id, op| {
            if let (OpKind::Binary(Binary::Mul), &[product]) = (&op.kind, &op.results[..])
                && has_fma(kernel.ty(product).dtype())
                && !kept.contains(&product)
            {
                let uses = &uses[product];
                let with_it = |&user: &OpId| regions[user] == regions[id] && plan.is_sum(user);
                if !uses.is_empty() && uses.iter().all(with_it) {
                    plan.products.push(product);
                    plan.uses.set(product, uses.clone());
                }
            }
        });
        plan
    }

    fn is_sum(&self, op: OpId) -> bool {
        matches!(self.kernel.ops[op].kind, OpKind::Binary(Binary::Add | Binary::Sub))
    }

    /// The operand that a sum is fused with, by number.
    fn choice(&self, sum: &Op) -> Option<usize> {
        // None of its uses is more than any number of them.
        let uses = |index: &usize| match self.uses[sum.operands[*index]].len() {
            0 => usize::MAX,
            uses => uses,
        };
        let chosen = (0..sum.operands.len()).min_by_key(uses)?;
        (!self.uses[sum.operands[chosen]].is_empty()).then_some(chosen)
    }

    /// Gives up the products that one of their uses is not fused with; whether there were any.
    fn withdraw(&mut self) -> bool {
        let is_fused = |&product: &Value| {
            self.uses[product].iter().all(|&user| {
                let sum = &self.kernel.ops[user];
                let chosen = self.choice(sum).map(|index| sum.operands[index]);
                // Of a sum with itself one half would remain a product.
                chosen == Some(product) && sum.operands[0] != sum.operands[1]
            })
        };
        let (fused, given_up): (Vec<Value>, Vec<Value>) =
            self.products.iter().partition(|product| is_fused(product));
        for &product in &given_up {
            self.uses.set(product, Vec::new());
        }
        self.products = fused;
        !given_up.is_empty()
    }

    /// A region of `kernel` without the products, its sums fused.
    fn rewritten(&self, kernel: &mut Kernel, region: Region) -> Region {
        let mut ops = Vec::with_capacity(region.ops.len());
        for id in region.ops {
            let regions = core::mem::take(&mut kernel.ops[id].regions);
            let regions = regions.into_iter().map(|inner| self.rewritten(kernel, inner)).collect();
            kernel.ops[id].regions = regions;
            let op = &self.kernel.ops[id];
            if op.results.iter().any(|&result| !self.uses[result].is_empty()) {
                continue;
            }
            if self.is_sum(id)
                && let Some(index) = self.choice(op)
            {
                self.fuse(kernel, id, index, &mut ops);
            }
            ops.push(id);
        }
        Region { ops, ..region }
    }

    /// Makes a sum a fused multiply-add; what it needs besides is added to `ops`.
    fn fuse(&self, kernel: &mut Kernel, sum: OpId, index: usize, ops: &mut Vec<OpId>) {
        let Op { kind, operands, .. } = &self.kernel.ops[sum];
        let factors = self.definitions[operands[index]].map(|id| &self.kernel.ops[id].operands[..]);
        let Some(&[mut x, mut y]) = factors else { return };
        let mut z = operands[1 - index];
        if *kind == OpKind::Binary(Binary::Sub) {
            match index {
                0 => z = self.negated(kernel, sum, z, ops),
                _ if self.constant(y).is_some() => y = self.negated(kernel, sum, y, ops),
                _ => x = self.negated(kernel, sum, x, ops),
            }
        }
        (kernel.ops[sum].kind, kernel.ops[sum].operands) = (OpKind::Fma, vec![x, y, z]);
    }

    /// The bits of a constant.
    fn constant(&self, value: Value) -> Option<u64> {
        match self.kernel.ops[self.definitions[value]?].kind {
            OpKind::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    /// A value with the other sign, for an operation that follows.
    fn negated(&self, kernel: &mut Kernel, user: OpId, value: Value, ops: &mut Vec<OpId>) -> Value {
        let ty = kernel.ty(value).clone();
        let (kind, operands) = match self.constant(value) {
            Some(bits) => (OpKind::Constant(bits ^ (1 << (ty.dtype().bits() - 1))), Vec::new()),
            None => (OpKind::Unary(Unary::Neg), vec![value]),
        };
        let result = kernel.values.push(ValueData::new(ty, None));
        let Op { loc, span, .. } = kernel.ops[user];
        let op = Op {
            kind,
            operands,
            results: vec![result],
            regions: Vec::new(),
            loc,
            span,
            spelled: false,
        };
        ops.push(kernel.ops.push(op));
        result
    }
}

/// For each operation the number of the region that it stands in.
fn regions(kernel: &Kernel) -> IdMap<OpId, u32> {
    let (mut numbers, mut count) = (IdMap::default(), 1);
    kernel.walk(&kernel.body, &mut |_, op| {
        for region in &op.regions {
            for &id in &region.ops {
                numbers.set(id, count);
            }
            count += 1;
        }
    });
    numbers
}

/// Whether numbers of a type have a fused multiply-add.
fn has_fma(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}
