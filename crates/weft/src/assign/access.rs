//! What an access can move at once.

use crate::tile::{Op, OpKind, Value};
use weft_layout::machine::Machine;
use weft_layout::space::REGISTER;
use weft_layout::{Label, Layout, Space};

/// The widest global access, in bytes: the machine's, as far as the lane program has it.
pub fn access_bytes(machine: &Machine) -> u64 {
    u64::from(machine.global_vector_bytes.min(crate::lane::MAX_ACCESS_BYTES))
}

/// The pointer operand of a memory operation, and its mask.
pub fn pointer_and_mask(op: &Op) -> (Value, Option<Value>) {
    let mask = match op.kind {
        OpKind::Load(_) => op.operands.get(1),
        OpKind::Store(_) | OpKind::AtomicRmw { .. } => op.operands.get(2),
        _ => None,
    };
    (op.operands[0], mask.copied())
}

/// The register bits that one access can move: bit `i` of the vector is the register bit whose image
/// is `2^i` along `axis`, as long as no other bit of the hardware touches that coordinate bit, and at
/// most `most` elements.
pub fn vector_bits(layout: &Layout, axis: usize, most: u64) -> Vec<u32> {
    let outs: &Space = layout.outs();
    let Some(offset) = outs.offset_of(Label::dim(axis as u32)) else { return Vec::new() };
    let mut bits = Vec::new();
    while 1u64 << bits.len() < most && (bits.len() as u32) < outs.bits(Label::dim(axis as u32)) {
        let image = 1u64 << (offset + bits.len() as u32);
        let columns = layout.matrix().columns();
        let touching: Vec<usize> =
            (0..columns.len()).filter(|&bit| columns[bit] & image != 0).collect();
        let register = layout.columns(REGISTER).iter().position(|&column| column == image);
        let start = layout.ins().offset_of(REGISTER).unwrap_or(0) as usize;
        match (register, &touching[..]) {
            (Some(register), [only]) if *only == start + register => bits.push(register as u32),
            _ => break,
        }
    }
    bits
}
