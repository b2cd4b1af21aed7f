//! Indices that loops load for other loads, a round ahead.
//!
//! Where a tile lies may be told by memory: by a table of pages, or by lists of rows. Such a tile can be copied ahead of a
//! product only if its index is there before, so the loop carries that:
//!
//! ```text
//! for i in low..high:                           index = load table of low
//!     index = load table of i            ==>    for i in low..high, with index:
//!     tile = load memory of index                   next = load table of i + 1, if there is such a round
//!     …                                             tile = load memory of index
//!                                                   …
//!                                                   yield next
//! ```
//!
//! What computes the addresses of a round ahead then loads, too: the index of the round after that one. A tile that is no
//! copy, such as one whose neighbours nobody knows of, at least does not wait for its index.

use super::find::{Body, Index};
use super::replace;
use crate::axis::AxisFacts;
use crate::id::IdMap;
use crate::scalar::{Binary, Compare};
use crate::tile::{Around, Copies, Kernel, OpId, OpKind, Origins, Rewrite, Value, WriteOps};
use weft_layout::machine::Machine;

/// The kernel with indices of tiles that feed products loaded a round ahead; nothing where there are none.
pub fn run(kernel: &Kernel, facts: &AxisFacts, machine: &Machine, warps: u32) -> Option<Kernel> {
    if kernel.is_encoded() {
        return None;
    }
    let origins = Origins::of(kernel);
    let threads = u64::from(warps) << machine.lanes_log2;
    let mut found = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        if matches!(op.kind, OpKind::For(_)) {
            let body = Body::of(kernel, facts, &origins, machine, op);
            let indices = body.map(|body| body.indices(machine, threads)).unwrap_or_default();
            let counter = facts.get(op.regions[0].params[0]).range;
            found.extend(indices.into_iter().map(|index| (id, (counter.low, counter.high), index)));
        }
    });
    if found.is_empty() {
        return None;
    }
    let mut kernel = kernel.clone();
    let mut around: IdMap<OpId, Around> = IdMap::default();
    for (id, counts, index) in found {
        carry(&mut kernel, id, counts, &index, around.entry(id));
    }
    kernel.put_around(&around);
    Some(kernel)
}

/// Lets a loop carry the index of its round.
fn carry(kernel: &mut Kernel, id: OpId, counts: (i64, i64), index: &Index, around: &mut Around) {
    let mut body = core::mem::take(&mut kernel.ops[id].regions[0]);
    let [low, high, step] = [0, 1, 2].map(|place| kernel.ops[id].operands[place]);
    let yields = kernel.handed_over(&body).to_vec();

    // That of the first round, if there is one.
    let initial = kernel.ops[id].operands[3..].to_vec();
    let mut rewrite = Rewrite { kernel, at: index.load, out: &mut around.before };
    let exists = rewrite.compare(Compare::Slt, low, high);
    let first = load(
        kernel,
        index,
        &body.params,
        [&[low], &initial[..]].concat(),
        exists,
        &mut around.before,
    );

    // And that of the next, as soon as what it hangs on is known.
    let known = body.ops.iter().rposition(|id| {
        let results = &kernel.ops[*id].results;
        index.carried.iter().any(|&carried| results.contains(&yields[carried]))
    });
    let mut next = Vec::new();
    let counter = body.params[0];
    let mut rewrite = Rewrite { kernel, at: index.load, out: &mut next };
    let left = rewrite.binary(Binary::Sub, high, counter);
    let more = rewrite.compare(Compare::Ult, step, left);
    let after = rewrite.binary(Binary::Add, counter, step);
    kernel.values[after].within = Some(counts);
    let following =
        load(kernel, index, &body.params, [&[after], &yields[..]].concat(), more, &mut next);
    let place = known.map_or(0, |place| place + 1);
    body.ops.splice(place..place, next);

    let loaded = kernel.ops[index.load].results[0];
    let [carried, last] = [(); 2].map(|()| {
        let value = kernel.values[loaded].clone();
        kernel.values.push(value)
    });
    body.ops.retain(|&op| op != index.load);
    replace(kernel, &body, loaded, carried);
    body.params.push(carried);
    if let Some(&end) = body.ops.last() {
        kernel.ops[end].operands.push(following);
    }
    let op = &mut kernel.ops[id];
    op.operands.push(first);
    op.results.push(last);
    op.regions[0] = body;
}

/// The index of the round whose counter and carried values these are, or zeros if there is no such round.
fn load(
    kernel: &mut Kernel,
    index: &Index,
    params: &[Value],
    values: Vec<Value>,
    exists: Value,
    out: &mut Vec<OpId>,
) -> Value {
    let mut copies = Copies::default();
    for (&param, value) in params.iter().zip(values) {
        copies.set(param, Some(value));
    }
    for &id in &index.slice {
        let copy = kernel.copy_of(id, &mut copies);
        out.push(copy);
    }
    let copy = kernel.copy_of(index.load, &mut copies);
    let operands = kernel.ops[copy].operands.clone();
    let ty = kernel.ty(kernel.ops[copy].results[0]).clone();
    let mut rewrite = Rewrite { kernel, at: index.load, out };
    let exists = if ty.is_tensor() { rewrite.splat(exists, &ty.shape) } else { exists };
    let mask = match operands.get(1) {
        Some(&own) => rewrite.binary(Binary::And, own, exists),
        None => exists,
    };
    let other = operands.get(2).copied().unwrap_or_else(|| rewrite.constant(&ty, 0));
    kernel.ops[copy].operands = vec![operands[0], mask, other];
    out.push(copy);
    kernel.ops[copy].results[0]
}
