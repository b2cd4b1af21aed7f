//! Blocks that are stored through tensor maps, by way of shared memory.
//!
//! ```text
//! descriptor_store %d[%i, %j], %x    ==>    %m = local_alloc
//!                                           local_store %x, %m
//!                                           send_block %d[%i, %j], %m
//! ```
//!
//! The copy runs on while the program goes on. It is waited for where the memory is written again, which is in the
//! next round of a loop, or when the kernel ends.

use crate::tile::{
    DescriptorOp, Encoding, Kernel, LocalOp, Op, OpId, OpKind, Region, Sent, SharedMemory,
    TransferOp,
};
use crate::tile::{Rewrite, WriteOps};
use std::sync::Arc;
use weft_layout::family::{Family, SwizzledShared};

/// The kernel with the blocks that are still stored through descriptors sent by a copy engine.
pub fn sent(kernel: &Kernel) -> Kernel {
    let mut result = kernel.clone();
    let body = core::mem::take(&mut result.body);
    result.body = region(&mut result, body);
    result
}

fn region(kernel: &mut Kernel, list: Region) -> Region {
    let mut ops = Vec::with_capacity(list.ops.len());
    for id in list.ops {
        let regions = core::mem::take(&mut kernel.ops[id].regions);
        kernel.ops[id].regions = regions.into_iter().map(|inner| region(kernel, inner)).collect();
        let how = match kernel.ops[id].kind {
            OpKind::Descriptor(DescriptorOp::Store) => TransferOp::Send(None),
            OpKind::Descriptor(DescriptorOp::Reduce(op)) => TransferOp::Send(Some(op)),
            _ => {
                ops.push(id);
                continue;
            }
        };
        send(kernel, id, how, &mut ops);
    }
    Region { ops, ..list }
}

/// Sends the block that an operation stores.
fn send(kernel: &mut Kernel, id: OpId, how: TransferOp, out: &mut Vec<OpId>) {
    let Op { operands, .. } = kernel.ops[id].clone();
    let [descriptor, indices @ .., block] = &operands[..] else { return };
    let mut writer = Rewrite { kernel, at: id, out };
    let tensor = writer.ty(*block);
    let order: Vec<usize> = (0..tensor.shape.len()).rev().collect();
    let family = Family::SwizzledShared(SwizzledShared::new(1, 1, 1, &order));
    let memory = SharedMemory { family, mutable: true, allocated: tensor.shape.clone() };
    let ty = tensor.bare().with_encoding(Encoding::Shared(Arc::new(memory)));
    let memory = writer.one(OpKind::Local(LocalOp::Alloc), &[], &ty);
    writer.nothing(OpKind::Local(LocalOp::Store), &[*block, memory]);
    let sent = Sent { descriptor: *descriptor, indices: indices.to_vec(), memory };
    writer.nothing(OpKind::Transfer(how), &sent.operands());
}
