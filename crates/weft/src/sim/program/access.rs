//! Accesses to memory.

use super::{
    AtomicOp, Bulk, BulkOp, Compiler, Described, MakeOp, MemoryOp, MicroOp, ProductOp, Row, WaitOp,
};
use crate::atomic::{Atomic, Order, Scope};
use crate::lane::{
    Access, AtomicAccess, BulkCopy, Form, Inst, InstData, MakeMap, Matrix, Mbarrier, Op, Space,
    TensorCopy, TensorWay, WarpgroupMultiply, WarpgroupOp,
};
use crate::sim::act::Act;
use crate::sim::report::{AccessCount, AccessKind};
use crate::sim::warpgroup::PIECE;
use smallvec::SmallVec;

impl Compiler<'_> {
    /// Adds a memory operation that moves so many bytes a lane; gives its index.
    pub(in crate::sim) fn access(
        &mut self,
        op: MemoryOp,
        kind: AccessKind,
        lane_bytes: u32,
    ) -> u32 {
        let (inst, space) = (op.inst, op.space);
        let loc = self.launch.program.insts[inst].loc;
        let (executions, lanes, cost, ideal) = (0, 0, 0, 0);
        let count =
            AccessCount { inst, loc, space, kind, lane_bytes, executions, lanes, cost, ideal };
        self.code.accesses.push(count);
        self.code.memory.push(op);
        self.code.memory.len() as u32 - 1
    }

    pub(super) fn warpgroup(&mut self, id: Inst, inst: &InstData, op: WarpgroupOp) {
        match op {
            WarpgroupOp::Multiply(multiply) => self.product(id, inst, multiply),
            WarpgroupOp::Fence => self.act(Act::ProductFence { inst: id }),
            WarpgroupOp::Commit => self.act(Act::ProductCommit { inst: id }),
            WarpgroupOp::Wait { pending } => {
                let from = self.rows(&inst.operands);
                let to = inst.results.iter().map(|&result| self.allocate(result)).collect();
                self.act(Act::ProductWait(Box::new(WaitOp { pending, from, to, inst: id })));
            }
        }
    }

    /// Its reads count as one memory operation.
    fn product(&mut self, id: Inst, inst: &InstData, multiply: WarpgroupMultiply) {
        let (others, start) = inst.operands.split_at(multiply.first_accumulator());
        let (others, start) = (self.rows(others), self.rows(start));
        let count = multiply.left_operands().count();
        let results = inst.results.iter().map(|&result| self.allocate(result)).collect();
        let (left, right) = (others[..count].into(), others[count]);
        let keep = others.get(count + 1).copied();
        let op = MemoryOp::plain(id, (Space::Shared, right, 0), PIECE);
        let access = self.access(op, AccessKind::Load, PIECE);
        self.act(Act::Product(self.code.products.len() as u32));
        self.code.products.push(ProductOp {
            multiply,
            left,
            right,
            keep,
            start,
            results,
            inst: id,
            access,
        });
    }

    /// To initialise one is to store it, and all else an atomic, as far as other threads see it.
    pub(super) fn mbarrier(&mut self, id: Inst, inst: &InstData, op: Mbarrier) {
        let rows = self.rows(&inst.operands);
        let order = match op {
            Mbarrier::Initialise { .. } | Mbarrier::Invalidate => None,
            Mbarrier::Arrive | Mbarrier::Expect => Some(Order::Release),
            Mbarrier::Wait => Some(Order::Acquire),
        };
        let scope = Scope::Block;
        let atomic = order.map(|order| AtomicOp { op: None, order, scope });
        let kind = if atomic.is_some() { AccessKind::Atomic } else { AccessKind::Store };
        let touched = MemoryOp::plain(id, (Space::Shared, rows[0], 0), Mbarrier::BYTES);
        let index = self.access(MemoryOp { atomic, ..touched }, kind, Mbarrier::BYTES);
        let operand = rows.get(1).copied();
        self.code.ops.push(MicroOp::Mbarrier { op, index, operand });
    }

    /// An access to shared and one to global memory, of as many bytes as it turns out.
    pub(super) fn bulk_copy(&mut self, id: Inst, inst: &InstData, copy: BulkCopy) {
        let rows = self.rows(&inst.operands);
        let (shared, global) = match copy {
            BulkCopy::ToShared => (AccessKind::Store, AccessKind::Load),
            BulkCopy::ToGlobal => (AccessKind::Load, AccessKind::Store),
            BulkCopy::Commit => return self.act(Act::BulkCommit),
            BulkCopy::Wait { pending, reads } => return self.act(Act::BulkWait { pending, reads }),
        };
        let piece = BulkCopy::ALIGN;
        let of = |space, row| MemoryOp::plain(id, (space, row, 0), piece);
        let shared = self.access(of(Space::Shared, rows[0]), shared, piece);
        let global = self.access(of(Space::Global, rows[1]), global, piece);
        let (bytes, mbarrier) = (rows[2], rows.get(3).copied());
        let op = BulkOp { what: Bulk::Bytes(bytes), mbarrier, inst: id, shared, global };
        self.act(Act::BulkCopy(Box::new(op)));
    }

    /// The same of a box.
    pub(super) fn tensor_copy(&mut self, id: Inst, inst: &InstData, copy: TensorCopy) {
        let TensorCopy { map: argument, way } = copy;
        let Some(map) = self.launch.program.maps.get(&argument).cloned() else { return };
        let tensor = match self.launch.args.get(argument as usize) {
            _ if map.made => Described::Made(argument),
            address => Described::At(address.copied().unwrap_or(0)),
        };
        let rows = self.rows(&inst.operands);
        let rank = map.sides.len();
        let (coordinates, mbarrier) = (rows[1..=rank].into(), rows.get(1 + rank).copied());
        let (shared, global, reduces) = match way {
            TensorWay::ToShared => (AccessKind::Store, AccessKind::Load, None),
            TensorWay::ToGlobal => (AccessKind::Load, AccessKind::Store, None),
            TensorWay::Reduce(op) => (AccessKind::Load, AccessKind::Atomic, Some(op)),
        };
        let (order, scope) = (Order::Relaxed, Scope::Gpu);
        let rmw = |op| AtomicOp { op: Some((Atomic::Rmw(op), map.element)), order, scope };
        let atomic = reduces.map(rmw);
        let piece = BulkCopy::ALIGN;
        let of = |space| MemoryOp::plain(id, (space, rows[0], 0), piece);
        let shared = self.access(of(Space::Shared), shared, piece);
        let global = self.access(MemoryOp { atomic, ..of(Space::Global) }, global, piece);
        let what = Bulk::Box { map, tensor, coordinates, reduces };
        let op = BulkOp { what, mbarrier, inst: id, shared, global };
        self.act(Act::BulkCopy(Box::new(op)));
    }

    /// What a block knows of a map from then on.
    pub(super) fn make_map(&mut self, inst: &InstData, make: MakeMap) {
        let MakeMap { map, nan } = make;
        let rank = self.launch.program.maps.get(&map).map_or(0, |map| map.sides.len());
        let parts = self.rows(&inst.operands[1..]).into_iter().collect();
        self.act(Act::MakeMap(Box::new(MakeOp { map, nan, parts, rank })));
    }

    pub(super) fn memory(&mut self, id: Inst, inst: &InstData) {
        let program = self.launch.program;
        let Some(roles) = inst.memory_operands() else { return };
        let space = roles.space;
        let moved = match inst.op {
            Op::Load { .. } => &inst.results[..],
            Op::Atomic(atomic) => &roles.values[..roles.values.len() / atomic.op.values()],
            _ => roles.values,
        };
        let dtype = program.dtype(moved[0]);
        let Access { offset, volatile, form, .. } = match inst.op {
            Op::Load { access, .. } | Op::Store { access, .. } => access,
            _ => Access::default(),
        };
        let matrix = match form {
            Form::Vector => None,
            Form::Matrix(matrix) => Some(matrix),
        };
        let (kind, atomic) = match inst.op {
            Op::Atomic(AtomicAccess { op, order, scope, .. }) => {
                (AccessKind::Atomic, Some(AtomicOp { op: Some((op, dtype)), order, scope }))
            }
            Op::Load { .. } => (AccessKind::Load, None),
            _ => (AccessKind::Store, None),
        };
        let size = dtype.bytes();
        let lane_bytes = size * moved.len() as u32;
        let bytes = if matrix.is_some() { Matrix::ROW_BYTES } else { lane_bytes };
        let address = self.row[roles.address];
        let base = self.base_of(roles.address);
        let predicate = roles.predicate.map(|predicate| self.row[predicate]);
        let values = self.rows(roles.values);
        let results = inst.results.iter().map(|&result| self.allocate(result)).collect();
        let op = MemoryOp {
            inst: id,
            space,
            address,
            base,
            predicate,
            offset,
            matrix,
            size,
            bytes,
            values,
            results,
            volatile,
            atomic,
        };
        let index = self.access(op, kind, lane_bytes);
        self.act(match kind {
            AccessKind::Load => Act::Load(index),
            AccessKind::Store => Act::Store(index),
            AccessKind::Atomic => Act::Atomic(index),
        });
    }
}

impl MemoryOp {
    /// One of so many bytes at an address, with no predicate and no values.
    pub(in crate::sim) fn plain(
        inst: Inst,
        (space, address, offset): (Space, Row, i32),
        bytes: u32,
    ) -> Self {
        MemoryOp {
            inst,
            space,
            address,
            base: None,
            predicate: None,
            offset,
            matrix: None,
            size: bytes,
            bytes,
            values: SmallVec::new(),
            results: SmallVec::new(),
            volatile: false,
            atomic: None,
        }
    }
}
