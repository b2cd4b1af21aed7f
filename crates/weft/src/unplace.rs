//! Programs that say where their tensors live, without that.
//!
//! TTGIR is made for one machine: its layouts have that machine's lanes, and its shared memory that
//! machine's banks. Where the same program is to run on another one, what it computes must be kept and
//! what it says of places forgotten, so that homes are chosen anew.
//!
//! ```text
//! %y = ttg.convert_layout %x                 nothing: %x is used in the place of %y
//! %m = ttg.local_alloc %x                    a tensor that goes through memory unchanged
//! %t = ttg.memdesc_trans %m {order}    ==>   %r = tt.trans %x {order}
//! %r = ttg.local_load %t
//!
//! %s = ttng.warp_group_dot %m, %n, %c        %a = ttg.local_load %m, or what was put there, and so %b
//! %d = ttng.warp_group_dot_wait %s     ==>   %s = tt.dot %a, %b, %c
//! ```
//!
//! Memory that is written after it was made stays: the buffers of a software pipeline, say. Whoever
//! compiles the result lays it out anew where it is only indexed and transposed
//! ([`assign::run`](crate::assign::run)), and as the text says elsewhere: a layout of
//! memory has no lanes.

use crate::id::IdMap;
use crate::prune;
use crate::tile::{
    Kernel, Launch, LocalOp, Module, Op, OpId, OpKind, Region, Rewrite, Value, ValueData, WriteOps,
};

/// The kernel of a module without the places of its tensors, in a module that is for any launch of as many
/// warps; `None` where it gives no places.
pub fn run(module: &Module, kernel: &Kernel) -> Option<Module> {
    if !kernel.is_encoded() {
        return None;
    }
    let mut result = kernel.clone();
    for value in kernel.values.keys() {
        let ty = &mut result.values[value].ty;
        if ty.is_tensor() {
            *ty = ty.bare();
        }
    }
    let definitions = kernel.definitions();
    let mut instead: IdMap<Value, Option<Value>> = IdMap::default();
    let (mut turned, mut products) = (Vec::new(), Vec::new());
    kernel.walk(&kernel.body, &mut |id, op| match op.kind {
        OpKind::ConvertLayout => instead.set(op.results[0], Some(op.operands[0])),
        OpKind::Local(LocalOp::Load) => {
            match through_memory(kernel, &definitions, op.operands[0]) {
                Some((source, None)) => instead.set(op.results[0], Some(source)),
                Some((source, Some(order))) => turned.push((id, source, order)),
                None => {}
            }
        }
        OpKind::WarpgroupDot(precision) => products.push((id, precision)),
        _ => {}
    });
    // The memory that a warpgroup's product reads is read in front of it.
    let mut before: IdMap<OpId, Vec<OpId>> = IdMap::default();
    for (id, precision) in products {
        for factor in 0..2 {
            let memory = kernel.ops[id].operands[factor];
            if kernel.ty(memory).memory().is_none() {
                continue;
            }
            let (kind, source) = match through_memory(kernel, &definitions, memory) {
                Some((source, None)) => {
                    result.ops[id].operands[factor] = source;
                    continue;
                }
                Some((source, Some(order))) => (OpKind::Trans { order }, source),
                None => (OpKind::Local(LocalOp::Load), memory),
            };
            let ty = kernel.ty(memory).bare();
            let loaded = result.values.push(ValueData::new(ty, None));
            let Op { loc, span, .. } = kernel.ops[id];
            let (operands, results, regions) = (vec![source], vec![loaded], Vec::new());
            let load = Op { kind, operands, results, regions, loc, span, spelled: false };
            before.entry(id).push(result.ops.push(load));
            result.ops[id].operands[factor] = loaded;
        }
        result.ops[id].kind = OpKind::Dot(precision);
        // The product of tensors adds to zeros instead.
        if let Some(keep) = result.ops[id].operands.get(3).copied() {
            result.ops[id].operands.truncate(3);
            let sum = result.ops[id].operands[2];
            let ty = result.ty(sum).clone();
            let mut rewrite = Rewrite { kernel: &mut result, at: id, out: before.entry(id) };
            let zero = rewrite.constant(&ty, 0);
            let sum = rewrite.select(keep, sum, zero);
            result.ops[id].operands[2] = sum;
        }
    }
    for (id, source, order) in turned {
        let op = &mut result.ops[id];
        (op.kind, op.operands) = (OpKind::Trans { order }, vec![source]);
    }
    // What is replaced is defined in front of what replaces it, however long the chain.
    let last = |mut value: Value| {
        while let Some(other) = instead[value] {
            value = other;
        }
        value
    };
    for id in result.ops.keys() {
        result.ops[id].operands.iter_mut().for_each(|operand| *operand = last(*operand));
    }
    let body = core::mem::take(&mut result.body);
    result.body = without(&mut result, body, &instead, &before);
    prune::run(&mut result);
    let launch = Launch { lanes: None, target: None, ..module.launch.clone() };
    Some(Module { kernels: vec![result], locations: module.locations.clone(), launch })
}

/// The tensor that is read from memory, where it was put there and nothing else writes it; with the order
/// of its axes, where that is another.
fn through_memory(
    kernel: &Kernel,
    definitions: &IdMap<Value, Option<OpId>>,
    mut memory: Value,
) -> Option<(Value, Option<Vec<u8>>)> {
    let mut order: Option<Vec<u8>> = None;
    loop {
        let op = &kernel.ops[definitions[memory]?];
        match &op.kind {
            OpKind::Local(LocalOp::Trans { order: inner }) => {
                let all = match order {
                    None => inner.clone(),
                    Some(outer) => {
                        let each = outer.iter().map(|&axis| inner.get(usize::from(axis)).copied());
                        each.collect::<Option<_>>()?
                    }
                };
                order = Some(all);
                memory = op.operands[0];
            }
            OpKind::Local(LocalOp::Alloc) if !kernel.ty(memory).memory()?.mutable => {
                return Some((*op.operands.first()?, order));
            }
            _ => return None,
        }
    }
}

/// A region without the operations whose results are replaced, and with those that stand before others.
fn without(
    kernel: &mut Kernel,
    region: Region,
    instead: &IdMap<Value, Option<Value>>,
    before: &IdMap<OpId, Vec<OpId>>,
) -> Region {
    let mut ops = Vec::with_capacity(region.ops.len());
    for id in region.ops {
        let regions = core::mem::take(&mut kernel.ops[id].regions);
        kernel.ops[id].regions =
            regions.into_iter().map(|region| without(kernel, region, instead, before)).collect();
        let is_replaced = |result: &Value| instead[*result].is_some();
        ops.extend(&before[id]);
        if !kernel.ops[id].results.first().is_some_and(is_replaced) {
            ops.push(id);
        }
    }
    Region { ops, ..region }
}
