//! The layouts that operations ask for, and what accesses cost.

use super::access::{AccessShape, Masks, Reach, may_be_tested, memory_order, vector_elements};
use super::layouts::{LayoutId, Layouts};
use super::{AssignError, Block};
use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::tile::{Kernel, Op, OpId};
use weft_layout::family::Blocked;
use weft_layout::{Layout, Space};

/// Asks a kernel's operations.
#[derive(Clone, Copy)]
pub(super) struct Anchors<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) facts: &'a AxisFacts,
    pub(super) block: Block<'a>,
}

impl Anchors<'_> {
    fn lanes(&self) -> u64 {
        1 << self.block.machine.lanes_log2
    }

    pub(super) fn blocked(
        self,
        layouts: &mut Layouts,
        shape: &[u64],
        per_thread: &[u64],
        order: &[usize],
    ) -> Result<LayoutId, AssignError> {
        let warps = u64::from(self.block.warps);
        let blocked = Blocked::for_memory(shape, per_thread, order, self.lanes(), warps)?;
        let layout = blocked.layout(shape)?;
        Ok(layouts.intern(layout))
    }

    pub(super) fn default_layout(
        self,
        layouts: &mut Layouts,
        shape: &[u64],
    ) -> Result<LayoutId, AssignError> {
        self.row_major(layouts, shape, 1)
    }

    /// The last axis first, so many neighbours along it in each thread.
    pub(super) fn row_major(
        self,
        layouts: &mut Layouts,
        shape: &[u64],
        neighbours: u64,
    ) -> Result<LayoutId, AssignError> {
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        let mut per_thread = vec![1; shape.len()];
        if let (Some(last), Some(extent)) = (per_thread.last_mut(), shape.last()) {
            *last = neighbours.clamp(1, *extent);
        }
        self.blocked(layouts, shape, &per_thread, &order)
    }

    /// The layout that coalesces a memory operation.
    pub(super) fn memory_layout(
        self,
        layouts: &mut Layouts,
        op: &Op,
    ) -> Result<LayoutId, AssignError> {
        self.coalesced(layouts, op, Masks::Same)
    }

    /// The layout that coalesces a memory operation whose masks are tested, if they may be.
    pub(super) fn tested_layout(
        self,
        layouts: &mut Layouts,
        op: &Op,
    ) -> Result<Option<LayoutId>, AssignError> {
        let layout = may_be_tested(op).then(|| self.coalesced(layouts, op, Masks::Tested));
        layout.transpose()
    }

    fn coalesced(
        self,
        layouts: &mut Layouts,
        op: &Op,
        masks: Masks,
    ) -> Result<LayoutId, AssignError> {
        let pointer = op.operands[0];
        let ty = self.kernel.ty(pointer);
        let shape = ty.shape.clone();
        let reach = Reach::of(self.kernel, self.facts, self.block.machine, op, masks)?;
        if reach.by_steps {
            return self.walked(layouts, &shape, &reach);
        }
        let order = memory_order(self.kernel, self.facts, pointer);
        let (per_thread, _) = self.vector(op, &order, masks);
        self.blocked(layouts, &shape, &per_thread, &order)
    }

    /// What a thread has of one instruction along each axis, and how often its share of the tensor has
    /// that.
    fn vector(self, op: &Op, order: &[usize], masks: Masks) -> (Vec<u64>, u64) {
        let ty = self.kernel.ty(op.operands[0]);
        let threads = self.lanes() * u64::from(self.block.warps);
        let vector = vector_elements(self.kernel, self.facts, self.block.machine, op, masks);
        let share = (ty.elements() / threads).max(1);
        let mut per_thread = vec![1; ty.shape.len()];
        let Some(&axis) = order.first() else { return (per_thread, share) };
        per_thread[axis] = vector.min(share).min(ty.shape[axis]);
        let left = share / per_thread[axis];
        (per_thread, left)
    }

    /// The layout that coalesces a memory operation on elements narrower than a word and gives each
    /// thread neighbours along the next axis too, as many as fill a word. Where the tensor is turned,
    /// these words are put together in registers, and no narrow element moves by itself.
    pub(super) fn words_layout(
        self,
        layouts: &mut Layouts,
        op: &Op,
    ) -> Result<Option<LayoutId>, AssignError> {
        let pointer = op.operands[0];
        let ty = self.kernel.ty(pointer);
        let bytes = ty.element.pointee().map_or(8, DType::bytes);
        let order = memory_order(self.kernel, self.facts, pointer);
        let (mut per_thread, left) = self.vector(op, &order, Masks::Same);
        let word = 4 / u64::from(bytes).min(4);
        let Some(&next) = order.get(1) else { return Ok(None) };
        if word == 1 || left < word || ty.shape[next] < word {
            return Ok(None);
        }
        per_thread[next] = word;
        self.blocked(layouts, &ty.shape, &per_thread, &order).map(Some)
    }

    /// The layout that walks memory in its order: registers as far as an instruction reaches and every
    /// thread has a share, then lanes, warps, and further registers.
    pub(super) fn walked(
        self,
        layouts: &mut Layouts,
        shape: &[u64],
        reach: &Reach,
    ) -> Result<LayoutId, AssignError> {
        let outs = Space::tensor(shape)?;
        let (lanes, warps) = (self.block.machine.lanes_log2, self.block.warps.ilog2());
        let share = outs.total_bits().saturating_sub(lanes + warps);
        let mut bits = reach.order.iter().map(|bit| 1_u64 << bit);
        let mut registers: Vec<u64> =
            bits.by_ref().take(reach.most_log2.min(share) as usize).collect();
        // What is left over when the tensor has run out are copies.
        let threads = (0..lanes + warps).map(|_| bits.next().unwrap_or(0)).collect::<Vec<u64>>();
        registers.extend(bits);
        let ins = Space::hardware(registers.len() as u32, lanes, warps, 0)?;
        let layout = Layout::new(ins, outs, &[registers, threads].concat())?;
        Ok(layouts.intern(layout))
    }

    /// What an access costs when it runs in `layout`, in the machine's unit of cost, over all warps.
    pub(super) fn access_cost(
        self,
        layouts: &Layouts,
        id: OpId,
        layout: LayoutId,
    ) -> Result<u64, AssignError> {
        let (machine, op) = (self.block.machine, &self.kernel.ops[id]);
        let layout = layouts.get(layout);
        let shape = AccessShape::of(self.kernel, self.facts, machine, op, layout)?;
        let each = shape.cost(machine, op)?;
        Ok(each * u64::from(self.block.warps))
    }
}
