//! Blocks of tensors that are used where they are loaded.
//!
//! ```text
//! %x = descriptor_load %d[%i, %j]         %m = local_alloc
//! %n = local_alloc %x               ==>   %b = open_mbarriers
//! …                                       fetch_block %d[%i, %j], %m, %b[0]
//! … = warpgroup_dot %n, …                 …
//!                                         wait_mbarrier %b[0], even
//!                                         close_mbarriers %b
//!                                         … = warpgroup_dot %m, …
//! ```
//!
//! It is waited for as late as possible: in front of the first operation of the list that uses it.

use super::find::is_block;
use super::{mbarriers_type, replace};
use crate::dtype::DType;
use crate::id::IdMap;
use crate::tile::{
    Encoding, Fetch, Kernel, LocalOp, Op, OpId, OpKind, Phase, Region, SharedMemory, TransferOp,
    Type, Value, ValueData,
};
use std::sync::Arc;
use weft_layout::family::{Family, SwizzledShared};

/// Lets a copy engine bring the blocks that are still loaded.
pub(super) fn run(kernel: &mut Kernel) {
    let body = kernel.body.clone();
    kernel.body = region(kernel, body);
}

fn region(kernel: &mut Kernel, list: Region) -> Region {
    let mut ops = Vec::with_capacity(list.ops.len());
    // What stands in front of operations.
    let mut before: IdMap<OpId, Vec<OpId>> = IdMap::default();
    let mut gone: IdMap<OpId, bool> = IdMap::default();
    for (place, &id) in list.ops.iter().enumerate() {
        let regions = kernel.ops[id].regions.clone();
        let regions = regions.into_iter().map(|inner| region(kernel, inner)).collect();
        kernel.ops[id].regions = regions;
        ops.append(before.entry(id));
        if !is_block(&kernel.ops[id]) {
            if !gone[id] {
                ops.push(id);
            }
            continue;
        }
        let mut writer = Replacement { kernel, place: id, list: Vec::new() };
        let (memory, mbarriers, zero) = writer.fetch();
        ops.append(&mut writer.list);
        let even = writer.constant(DType::I1, 0);
        writer.op(OpKind::Transfer(TransferOp::Wait), &[mbarriers, zero, even], &[]);
        writer.op(OpKind::Transfer(TransferOp::Close), &[mbarriers], &[]);
        let mut wait = writer.list;
        let loaded = kernel.ops[id].results[0];
        let mut stored = Vec::new();
        for &user in &list.ops[place + 1..] {
            let op = &kernel.ops[user];
            if op.kind == OpKind::Local(LocalOp::Alloc) && op.operands == [loaded] {
                gone.set(user, true);
                stored.push(op.results[0]);
            }
        }
        for memory_of_user in stored {
            replace(kernel, &list, memory_of_user, memory);
        }
        let uses = |kernel: &Kernel, user: OpId, value: Value| {
            let op = &kernel.ops[user];
            let mut uses = op.operands.contains(&value);
            for inner in &op.regions {
                kernel.walk(inner, &mut |_, op| uses |= op.operands.contains(&value));
            }
            uses && !gone[user]
        };
        let rest = &list.ops[place + 1..];
        let is_used = rest.iter().any(|&user| uses(kernel, user, loaded));
        if is_used {
            let op = &mut kernel.ops[id];
            (op.kind, op.operands) = (OpKind::Local(LocalOp::Load), vec![memory]);
            wait.push(id);
        }
        let first = rest
            .iter()
            .find(|&&user| uses(kernel, user, loaded) || uses(kernel, user, memory))
            .or(rest.last());
        if let Some(&first) = first {
            before.entry(first).append(&mut wait);
        }
    }
    Region { ops, ..list }
}

struct Replacement<'a> {
    kernel: &'a mut Kernel,
    /// The load whose place new operations get.
    place: OpId,
    list: Vec<OpId>,
}

impl Replacement<'_> {
    fn op(&mut self, kind: OpKind, operands: &[Value], results: &[Value]) {
        let (operands, results) = (operands.to_vec(), results.to_vec());
        let Op { loc, span, .. } = self.kernel.ops[self.place];
        let op = Op { kind, operands, results, regions: Vec::new(), loc, span, spelled: false };
        self.list.push(self.kernel.ops.push(op));
    }

    fn emit(&mut self, kind: OpKind, operands: &[Value], ty: Type) -> Value {
        let value = self.kernel.values.push(ValueData::new(ty, None));
        self.op(kind, operands, &[value]);
        value
    }

    fn constant(&mut self, dtype: DType, bits: u64) -> Value {
        self.emit(OpKind::Constant(bits), &[], Type::scalar(dtype))
    }

    /// Begins to fetch the block; its memory, the mbarriers that tell of it, and the number of the first.
    fn fetch(&mut self) -> (Value, Value, Value) {
        let Op { operands, results, .. } = self.kernel.ops[self.place].clone();
        let tensor = self.kernel.ty(results[0]).clone();
        let order: Vec<usize> = (0..tensor.shape.len()).rev().collect();
        let family = Family::SwizzledShared(SwizzledShared::new(1, 1, 1, &order));
        let memory = SharedMemory { family, mutable: true, allocated: tensor.shape.clone() };
        let ty = tensor.bare().with_encoding(Encoding::Shared(Arc::new(memory)));
        let memory = self.emit(OpKind::Local(LocalOp::Alloc), &[], ty);
        let name = self.kernel.values[results[0]].name.clone();
        self.kernel.values[memory].name = name;
        let open = OpKind::Transfer(TransferOp::Open { phase: Phase::Copies(1) });
        let mbarriers = self.emit(open, &[], mbarriers_type(1));
        let (zero, exists) = (self.constant(DType::I32, 0), self.constant(DType::I1, 1));
        let (descriptor, indices) = (operands[0], operands[1..].to_vec());
        let fetch = Fetch { descriptor, indices, memory, mbarriers, which: zero, exists };
        self.op(OpKind::Transfer(TransferOp::Fetch), &fetch.operands(), &[]);
        (memory, mbarriers, zero)
    }
}
