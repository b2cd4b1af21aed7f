//! How a memory operation runs in a layout.

use super::AssignError;
use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::tile::{Kernel, Op, OpKind, Value};
use weft_layout::access::{Sectors, sectors};
use weft_layout::f2::Subspace;
use weft_layout::machine::Machine;
use weft_layout::plan::{self, Vectors};
use weft_layout::space::{LANE, OFFSET, REGISTER};
use weft_layout::{Label, Layout, LayoutError, Space};

/// A memory operation on tensors in one layout: which bits run through memory, and which registers
/// one instruction moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessShape {
    /// The layout, without the registers that only hold copies.
    pub layout: Layout,
    /// What each pointer points to.
    pub element: DType,
    /// The axes along which the pointers count up, innermost first.
    pub axes: Vec<usize>,
    /// The registers that each instruction moves.
    pub vectors: Vectors,
    /// The bytes that each bit of the tensor's space adds to the address.
    steps: Vec<u64>,
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
        let reach = Reach::of(kernel, facts, machine, op)?;
        let layout = layout.remove_zero_columns(REGISTER)?.0;
        let most = reach.most_log2;
        let vectors = plan::vectorize(&layout, &reach.memory(&layout)?, most)?;
        let element = element(kernel, op);
        Ok(Self { layout, element, axes: reach.axes, vectors, steps: reach.steps })
    }

    /// Bytes that one instruction moves for each lane.
    pub fn bytes(&self) -> u32 {
        self.vectors.bytes(self.element.bytes())
    }

    /// Instructions that each warp issues.
    pub fn instructions(&self) -> u64 {
        self.vectors.groups.len() as u64
    }

    /// The sectors that each instruction touches, as far as the layout tells: what runs through memory
    /// lies dense, and every step along another axis leads to other sectors.
    pub fn sectors(&self, machine: &Machine) -> Result<Sectors, AssignError> {
        let columns: Vec<u64> = self.addresses(LANE).collect();
        Ok(sectors(machine, &columns, self.bytes(), 0)?)
    }

    /// The sectors that memory brings for all instructions of a warp, each counted once. It brings two
    /// neighbours together, asked for or not.
    pub(super) fn brought_sectors(&self, machine: &Machine) -> u64 {
        let addresses = self.addresses(LANE).chain(self.addresses(REGISTER));
        2 * pieces(addresses, machine.sector_bytes.max(1).ilog2() + 1)
    }

    /// How often the pipe of the first cache moves, for all instructions: for each its lines, of as many
    /// bytes as that of shared memory moves at once, or for its bytes where these are more.
    pub(super) fn line_moves(&self, machine: &Machine) -> u64 {
        let line = machine.banks_log2 + machine.bank_bytes_log2;
        let lines = pieces(self.addresses(LANE), line);
        let bytes = u64::from(self.bytes()) << machine.lanes_log2;
        self.instructions() * lines.max(bytes >> line)
    }

    /// What each bit of a number of lanes or registers adds to the address.
    fn addresses(&self, label: Label) -> impl Iterator<Item = u64> {
        self.layout.columns(label).iter().map(|&column| {
            let steps = self.steps.iter().enumerate();
            steps.filter(|(bit, _)| column >> bit & 1 == 1).fold(0, |sum, (_, step)| sum ^ step)
        })
    }
}

/// How many aligned pieces of 2^`log2` bytes the sums of these addresses lie in.
fn pieces(addresses: impl Iterator<Item = u64>, log2: u32) -> u64 {
    let places: Vec<u64> = addresses.map(|address| address >> log2).collect();
    1 << Subspace::from_vectors(&places).dim().min(63)
}

/// How a memory operation's elements follow each other in memory, whatever its layout.
pub(super) struct Reach {
    /// The bits of the tensor's space, those that memory walks first in front.
    pub(super) order: Vec<u32>,
    /// How many of them one instruction may move at once.
    pub(super) most_log2: u32,
    /// The axes that those walk, innermost first.
    pub(super) axes: Vec<usize>,
    steps: Vec<u64>,
}

impl Reach {
    pub(super) fn of(
        kernel: &Kernel,
        facts: &AxisFacts,
        machine: &Machine,
        op: &Op,
    ) -> Result<Self, AssignError> {
        let shape = &kernel.ty(op.operands[0]).shape;
        let outs = Space::tensor(shape)?;
        let bytes_log2 = element(kernel, op).bytes().trailing_zeros();
        let axis = memory_order(facts, op.operands[0]).first().copied().unwrap_or(0);
        let along = vector_elements(kernel, facts, machine, op).max(1).ilog2();
        let along = along.min(outs.bits(Label::dim(axis as u32)));
        let chain = neighbours(kernel, facts, machine, op);
        // A step along another axis leads far away.
        let far = |bit: u32| 1 << (34 + bit.min(29));
        if chain.len() as u32 > along {
            // A place in the tensor's space is the row-major index. What leads far away comes late,
            // and what adds nothing last.
            let steps = facts.get(op.operands[0]).strides.steps.iter().zip(0..);
            let steps: Vec<u64> = steps.map(|(step, bit)| step.unwrap_or(far(bit))).collect();
            let mut order: Vec<u32> = (0..outs.total_bits()).collect();
            order.sort_by_key(|&bit| steps[bit as usize].wrapping_sub(1));
            let axis = |&bit: &u32| shape.len() - 1 - axis_from_last(&outs, bit);
            let mut axes: Vec<usize> = order[..chain.len()].iter().map(axis).collect();
            axes.dedup();
            return Ok(Self { order, most_log2: chain.len() as u32, axes, steps });
        }
        let (start, bits) = outs.locate(Label::dim(axis as u32)).unwrap_or((0, 0));
        let front = start..start + bits;
        let others = (0..outs.total_bits()).filter(|bit| !front.contains(bit));
        let step = |bit| {
            if front.contains(&bit) { 1 << (bit - start + bytes_log2) } else { far(bit) }
        };
        Ok(Self {
            order: front.clone().chain(others).collect(),
            most_log2: along,
            axes: vec![axis],
            steps: (0..outs.total_bits()).map(step).collect(),
        })
    }

    /// The memory in which the bits lie in this order.
    fn memory(&self, layout: &Layout) -> Result<Layout, LayoutError> {
        let outs = layout.outs();
        let columns: Vec<u64> = self.order.iter().map(|bit| 1 << bit).collect();
        let ins = Space::new(&[(OFFSET, outs.total_bits())]).map_err(LayoutError::from)?;
        Layout::new(ins, outs.clone(), &columns)
    }
}

/// The bits of the row-major index that one access may walk, over any number of axes.
fn neighbours(kernel: &Kernel, facts: &AxisFacts, machine: &Machine, op: &Op) -> Vec<usize> {
    let Some((mask, most)) = guard(machine, op) else { return Vec::new() };
    let pointer = op.operands[0];
    facts.neighbours(pointer, mask, &kernel.ty(pointer).shape, element(kernel, op), most)
}

/// Which axis of a tensor's space a bit belongs to, counted from the last dimension.
fn axis_from_last(outs: &Space, bit: u32) -> usize {
    outs.iter().position(|(_, start, bits)| (start..start + bits).contains(&bit)).unwrap_or(0)
}

/// The axes of a memory operation's pointers, the one that runs through memory first; of equals the
/// last, as in row-major order.
pub(super) fn memory_order(facts: &AxisFacts, pointer: Value) -> Vec<usize> {
    let dims = &facts.get(pointer).dims;
    let mut order: Vec<usize> = (0..dims.len()).rev().collect();
    order.sort_by_key(|&axis| core::cmp::Reverse(dims[axis].contiguity));
    order
}

/// How many elements one instruction of a memory operation may move along one axis, whatever its
/// layout: one for an atomic, else as many as pointers, mask and machine allow.
pub(super) fn vector_elements(
    kernel: &Kernel,
    facts: &AxisFacts,
    machine: &Machine,
    op: &Op,
) -> u64 {
    let Some((mask, most)) = guard(machine, op) else { return 1 };
    let pointer = op.operands[0];
    let axis = memory_order(facts, pointer).first().copied().unwrap_or(0);
    facts.vector_elements(pointer, mask, axis, element(kernel, op), most)
}

/// The mask of a load or store and the most bytes that an instruction of it moves; none for an atomic.
fn guard(machine: &Machine, op: &Op) -> Option<(Option<Value>, u64)> {
    let mask = match op.kind {
        OpKind::Load(_) => op.operands.get(1),
        OpKind::Store(_) | OpKind::AsyncCopy(_) => op.operands.get(2),
        _ => return None,
    };
    // The machine's widest access, as far as the lane program has it.
    let widest = machine.global_vector_bytes.min(crate::lane::MAX_ACCESS_BYTES);
    Some((mask.copied(), widest.into()))
}

/// What a memory operation's pointers point to.
fn element(kernel: &Kernel, op: &Op) -> DType {
    kernel.ty(op.operands[0]).element.pointee().unwrap_or(DType::I64)
}
