//! How a memory operation runs in a layout.

use super::AssignError;
use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::tile::{Kernel, Op, OpKind, Value};
use weft_layout::access::{Sectors, sectors};
use weft_layout::machine::Machine;
use weft_layout::plan::{self, Vectors};
use weft_layout::space::{LANE, OFFSET, REGISTER};
use weft_layout::{Label, Layout, LayoutError, Space};

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
    /// The registers that each instruction moves.
    pub vectors: Vectors,
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
        let label = Label::dim(axis as u32);
        let most = most.max(1).ilog2().min(layout.out_bits(label));
        let vectors = plan::vectorize(&layout, &along(&layout, label)?, most)?;
        Ok(Self { layout, element: element(kernel, op), axis, vectors })
    }

    /// Bytes that one instruction moves for each lane.
    pub fn bytes(&self) -> u32 {
        self.vectors.bytes(self.element.bytes())
    }

    /// Instructions that each warp issues.
    pub fn instructions(&self) -> u64 {
        self.vectors.groups.len() as u64
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

/// The memory in which an axis runs through the lowest offsets, and the others behind it.
fn along(layout: &Layout, axis: Label) -> Result<Layout, LayoutError> {
    let outs = layout.outs();
    let others = outs.labels().filter(|&label| label != axis);
    let places = [axis].into_iter().chain(others).flat_map(|label| {
        let start = outs.offset_of(label).unwrap_or(0);
        (start..start + outs.bits(label)).map(|bit| 1 << bit)
    });
    let columns: Vec<u64> = places.collect();
    let ins = Space::new(&[(OFFSET, outs.total_bits())]).map_err(LayoutError::from)?;
    Layout::new(ins, outs.clone(), &columns)
}
