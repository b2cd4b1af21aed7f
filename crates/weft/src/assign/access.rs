//! How a memory operation runs in a layout.

use super::AssignError;
use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::tile::{Kernel, Op, OpKind, Value};
use weft_layout::access::{Sectors, sectors};
use weft_layout::machine::Machine;
use weft_layout::space::{LANE, REGISTER};
use weft_layout::{Label, Layout, Space};

/// A memory operation on tensors in one layout: which axis runs through memory, and which registers
/// one instruction moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessShape {
    /// The layout, without the registers that only hold copies.
    pub layout: Layout,
    /// What each pointer points to.
    pub element: DType,
    /// The axis along which the pointers count up.
    pub axis: usize,
    /// The register bits that one instruction moves, in the order of memory.
    pub vector: Vec<u32>,
}

impl AccessShape {
    /// The shape of `op`, a load, store or atomic of tensors, in `layout`.
    pub fn of(
        kernel: &Kernel,
        facts: &AxisFacts,
        machine: &Machine,
        op: &Op,
        layout: &Layout,
    ) -> Result<Self, AssignError> {
        let axis = memory_order(facts, op.operands[0]).first().copied().unwrap_or(0);
        let most = vector_elements(kernel, facts, machine, op);
        let layout = layout.remove_zero_columns(REGISTER)?.0;
        let vector = vector_bits(&layout, axis, most);
        Ok(Self { layout, element: element(kernel, op), axis, vector })
    }

    /// Bytes that one instruction moves for each lane.
    pub fn bytes(&self) -> u32 {
        self.element.bytes() << self.vector.len()
    }

    /// Instructions that each warp issues.
    pub fn instructions(&self) -> u64 {
        1 << (self.layout.in_bits(REGISTER) as usize - self.vector.len())
    }

    /// The sectors that each instruction touches, as far as the layout tells: the axis that runs
    /// through memory lies dense, and every step along another one leads to other sectors.
    pub fn sectors(&self, machine: &Machine) -> Result<Sectors, AssignError> {
        let label = Label::dim(self.axis as u32);
        let outs = self.layout.outs();
        let bytes_log2 = self.element.bytes().trailing_zeros();
        let address = |&column: &u64| {
            (outs.coordinate(label, column) << bytes_log2) | (column & !outs.mask(label)) << 34
        };
        let columns: Vec<u64> = self.layout.columns(LANE).iter().map(address).collect();
        Ok(sectors(machine, &columns, self.bytes(), 0)?)
    }
}

/// The axes of a memory operation's pointers, the one that runs through memory first; of equals the
/// last, as in row-major order.
pub(super) fn memory_order(facts: &AxisFacts, pointer: Value) -> Vec<usize> {
    let dims = &facts.get(pointer).dims;
    let mut order: Vec<usize> = (0..dims.len()).rev().collect();
    order.sort_by_key(|&axis| core::cmp::Reverse(dims[axis].contiguity));
    order
}

/// How many elements one instruction of a memory operation may move, whatever its layout: one for an
/// atomic, else as many as pointers, mask and machine allow.
pub(super) fn vector_elements(
    kernel: &Kernel,
    facts: &AxisFacts,
    machine: &Machine,
    op: &Op,
) -> u64 {
    let mask = match op.kind {
        OpKind::Load(_) => op.operands.get(1),
        OpKind::Store(_) => op.operands.get(2),
        _ => return 1,
    };
    let pointer = op.operands[0];
    let axis = memory_order(facts, pointer).first().copied().unwrap_or(0);
    // The machine's widest access, as far as the lane program has it.
    let widest = machine.global_vector_bytes.min(crate::lane::MAX_ACCESS_BYTES);
    facts.vector_elements(pointer, mask.copied(), axis, element(kernel, op), widest.into())
}

/// What a memory operation's pointers point to.
fn element(kernel: &Kernel, op: &Op) -> DType {
    kernel.ty(op.operands[0]).element.pointee().unwrap_or(DType::I64)
}

/// The register bits that one access can move: bit `i` of the vector is the register bit whose image
/// is `2^i` along `axis`, as long as no other bit of the hardware touches that coordinate bit, and at
/// most `most` elements.
fn vector_bits(layout: &Layout, axis: usize, most: u64) -> Vec<u32> {
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
