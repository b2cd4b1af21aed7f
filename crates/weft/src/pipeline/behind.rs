//! Products that run a round behind.
//!
//! Where the left factor of a product is computed from the sum of another product of the same round, as
//! attention weighs its values by its scores, the matrix units wait for the arithmetic between the two, and
//! the arithmetic for them. Such a product is put off to the next round, where it is under way while the
//! arithmetic of that round is done:
//!
//! ```text
//! for …:                                  p, values of the round before = 0, -0
//!     s = q · keys                        for …:
//!     p = weights(s)                          s = q · keys
//!     sums = sums * scale                     sums = sums + p · values of the round before
//!     sums = sums + p · values                p = weights(s)
//!                                             sums = sums * scale
//!                                         sums = sums + p · values of the last round
//! ```
//!
//! This is retiming: what a loop carried behind an operation it carries in front of it. The first product adds
//! nothing to what the loop begins with: zero times minus zero is minus zero, and any number plus that is the
//! number, minus zero too.
//!
//! The buffer that the right factor was copied into is read a round later, so the load is one round less
//! ahead than the others and takes as many buffers as they do.

use super::{registers_of_thread, replace};
use crate::id::IdMap;
use crate::tile::{Kernel, LocalOp, Op, OpId, OpKind, Region, Value};
use weft_layout::machine::Machine;

/// The registers that a thread keeps for all that is neither sums nor factors of products: addresses, and
/// what is known of each row.
pub(super) const OTHER_REGISTERS: u64 = 72;

/// A product that is put off.
pub(super) struct Behind {
    pub(super) product: OpId,
    /// The load that its right factor is.
    pub(super) load: OpId,
    /// What describes the memory of that as the product reads it, in order.
    pub(super) views: Vec<OpId>,
    /// The carried value, by number, that it adds to.
    pub(super) sum: usize,
    /// What it then stands in front of: the first operation that looks at the sum of another product.
    pub(super) front: OpId,
}

/// The products of a loop's body that are put off, of those whose right factor is one of some loads.
pub(super) fn products(
    kernel: &Kernel,
    body: &Region,
    loads: &[OpId],
    machine: &Machine,
    warps: u32,
) -> Vec<Behind> {
    let search = Search::of(kernel, body, loads);
    let Some(front) = search.front() else { return Vec::new() };
    let found: Vec<Behind> = body.ops.iter().filter_map(|&id| search.product(id, front)).collect();
    let factors = found.iter().map(|behind| kernel.ops[behind.product].operands[0]);
    let sums = search.sums();
    let threads = u64::from(warps) << machine.lanes_log2;
    let bits = factors.chain(sums).map(|value| {
        let ty = kernel.ty(value);
        ty.elements() * u64::from(ty.dtype().bits())
    });
    let needed = bits.sum::<u64>() / 32 / threads + OTHER_REGISTERS;
    if needed <= registers_of_thread(machine, threads) { found } else { Vec::new() }
}

/// The operations of a body with a product put off: it adds to what the loop carries, and what was done with
/// that is done with its sum. That is done last, when there is nothing else to do, and only then are the
/// registers written that the product takes in the next round.
pub(super) fn put_off(
    kernel: &mut Kernel,
    behind: &Behind,
    body: &Region,
    factor: Value,
) -> Vec<OpId> {
    let Behind { product, ref views, sum, front, .. } = *behind;
    let (before, result) = (body.params[1 + sum], kernel.ops[product].results[0]);
    let made = kernel.ops[product].operands[0];
    replace(kernel, body, before, result);
    let term = kernel.ops[product].operands[2];
    kernel.ops[product].operands[0] = factor;
    kernel.ops[product].operands[2] = before;
    if let Some(&last) = body.ops.last() {
        kernel.ops[last].operands[sum] = term;
    }
    let moved = [&views[..], &[product]].concat();
    let mut ops: Vec<OpId> = body.ops.iter().copied().filter(|id| !moved.contains(id)).collect();
    let place = ops.iter().position(|&id| id == front).unwrap_or_default();
    ops.splice(place..place, moved);
    let ops = sunk(kernel, ops, result, false);
    sunk(kernel, ops, made, true)
}

/// The operations of a body with those as late as they may be that need a value, or with the one alone that gives
/// it: where they have no effects, and nothing but such operations and the end of the round takes what they give.
fn sunk(kernel: &Kernel, ops: Vec<OpId>, value: Value, alone: bool) -> Vec<OpId> {
    let mut needs: IdMap<Value, bool> = IdMap::default();
    needs.set(value, true);
    for &id in &ops {
        let op = &kernel.ops[id];
        if !alone && op.operands.iter().any(|&operand| needs[operand]) {
            op.results.iter().for_each(|&result| needs.set(result, true));
        }
    }
    let Some((&last, rest)) = ops.split_last() else { return ops };
    // What somebody takes who stays.
    let mut taken: IdMap<Value, bool> = IdMap::default();
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for &id in rest.iter().rev() {
        let op = &kernel.ops[id];
        let moves = op.kind.effects().is_pure()
            && op.regions.is_empty()
            && op.results.iter().all(|&result| needs[result] && !taken[result]);
        if moves {
            late.push(id);
        } else {
            early.push(id);
            let mut take =
                |op: &Op| op.operands.iter().for_each(|&operand| taken.set(operand, true));
            take(op);
            op.regions.iter().for_each(|region| kernel.walk(region, &mut |_, op| take(op)));
        }
    }
    early.reverse();
    late.reverse();
    [early, late, vec![last]].concat()
}

struct Search<'a> {
    kernel: &'a Kernel,
    body: &'a Region,
    loads: &'a [OpId],
    definitions: IdMap<Value, Option<OpId>>,
    /// The operations directly in the body that use a value, or have one inside that does, by their place.
    users: IdMap<Value, Vec<usize>>,
    /// What hangs on the sum of a product of the round.
    later: IdMap<Value, bool>,
}

impl<'a> Search<'a> {
    fn of(kernel: &'a Kernel, body: &'a Region, loads: &'a [OpId]) -> Self {
        let mut definitions = IdMap::default();
        let mut users: IdMap<Value, Vec<usize>> = IdMap::default();
        let mut later = IdMap::default();
        for (place, &id) in body.ops.iter().enumerate() {
            let op = &kernel.ops[id];
            let mut used = op.operands.clone();
            for region in &op.regions {
                kernel.walk(region, &mut |_, inner| used.extend(&inner.operands));
            }
            let hangs = is_product(op) || used.iter().any(|&value| later[value]);
            for &result in &op.results {
                definitions.set(result, Some(id));
                later.set(result, hangs);
            }
            for value in used {
                users.entry(value).push(place);
            }
        }
        Self { kernel, body, loads, definitions, users, later }
    }

    /// Where the first operation stands that looks at the sum of a product, other than to add another product.
    fn front(&self) -> Option<usize> {
        self.body.ops.iter().position(|&id| {
            let op = &self.kernel.ops[id];
            let looked = if is_product(op) { &op.operands[..2] } else { &op.operands[..] };
            looked.iter().any(|&value| self.later[value])
        })
    }

    fn product(&self, id: OpId, front: usize) -> Option<Behind> {
        let op = &self.kernel.ops[id];
        let [a, b, _] = op.operands[..] else { return None };
        if !is_product(op) || !self.later[a] {
            return None;
        }
        let handed_over = self.kernel.handed_over(self.body);
        let sum = handed_over.iter().position(|&value| value == op.results[0])?;
        let is_last = self.users[op.results[0]] == [self.body.ops.len() - 1];
        let before = self.body.params[1 + sum];
        let starts = self.users[before].iter().all(|&place| place >= front);
        let (load, views) = self.loaded(b)?;
        let front = self.body.ops[front];
        (is_last && starts).then_some(Behind { product: id, load, views, sum, front })
    }

    /// The load that is in some memory, and what describes that memory, where nobody else reads either.
    fn loaded(&self, memory: Value) -> Option<(OpId, Vec<OpId>)> {
        let (mut at, mut views) = (memory, Vec::new());
        loop {
            let [_] = self.users[at][..] else { return None };
            let id = self.definitions[at]?;
            let op = &self.kernel.ops[id];
            if self.loads.contains(&id) {
                views.reverse();
                return Some((id, views));
            }
            match op.kind {
                OpKind::Local(LocalOp::Trans { .. }) => views.push(id),
                ref kind if kind.effects().allocates => {}
                _ => return None,
            }
            at = *op.operands.first()?;
        }
    }

    /// The sums of the products that have registers of their own.
    fn sums(&self) -> impl Iterator<Item = Value> {
        let products = self.body.ops.iter().map(|&id| &self.kernel.ops[id]);
        let sum_of_product = |value: Value| {
            self.definitions[value].is_some_and(|id| is_product(&self.kernel.ops[id]))
        };
        let begins = move |op: &&Op| is_product(op) && !sum_of_product(op.operands[2]);
        products.filter(begins).map(|op| op.results[0])
    }
}

fn is_product(op: &Op) -> bool {
    matches!(op.kind, OpKind::WarpgroupDot(_))
}
