//! Blocks that a copy engine brings to shared memory, and those that it takes from there.
//!
//! One thread of the block begins the copies and tells the mbarrier of their bytes; every thread waits for its
//! phase by itself, so that no barrier stands between a copy and those who read it.

use super::{Lowerer, Passed};
use crate::assign::{AssignError, Boxes, Copied, boxes};
use crate::descriptors::{Parts, given};
use crate::dtype::DType;
use crate::lane::{
    self, BarrierScope, BulkCopy, IdKind, MakeMap, Mbarrier, Op as LaneOp, TensorCopy, TensorMap,
    TensorWay,
};
use crate::scalar::{Binary, Compare};
use crate::tile::{Fetch, Op, OpId, Phase, Sent, TransferOp, Value};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// A coordinate at which no box reaches into a tensor; whole pieces from the first element on.
const OUTSIDE: i32 = -(1 << 20);

impl Lowerer<'_> {
    /// Declares the kernel's arguments, with a tensor map in the place of the parts of a descriptor that is one.
    pub(super) fn params(&mut self, maps: &BTreeMap<OpId, TensorMap>) {
        let kernel = self.kernel;
        let parts = given(kernel).into_iter().filter(|id| maps.contains_key(id));
        let parts: Vec<(OpId, Parts)> =
            parts.filter_map(|id| Some((id, Parts::of(kernel, id)?))).collect();
        let mut declared = BTreeMap::new();
        for (index, (param, value)) in kernel.arguments().enumerate() {
            let of_map = parts.iter().find(|(_, parts)| parts.arguments.contains(&index));
            if let Some((id, parts)) = of_map {
                if parts.arguments.start == index {
                    let number = self.passed.len() as u32;
                    declared.insert(number, maps[id].clone());
                    self.maps.insert(kernel.ops[*id].results[0], number);
                    self.passed.push(Passed::Map(parts.clone()));
                    self.build.declare_param(lane::Param {
                        name: param.name.clone(),
                        dtype: DType::I64,
                        pointee: None,
                        divisibility: 1,
                    });
                }
                continue;
            }
            self.passed.push(Passed::Argument(index));
            let element = kernel.ty(value).element;
            let lowered = self.build.param(lane::Param {
                name: param.name.clone(),
                dtype: element.dtype(),
                pointee: element.pointee(),
                divisibility: param.divisibility,
            });
            if (1..=32).contains(&param.pointer_range) && element.pointee().is_some() {
                self.build.know_near(lowered);
            }
            self.bind_scalar(value, lowered);
        }
        for (&id, map) in maps.iter().filter(|(_, map)| map.made) {
            let descriptor = self.kernel.ops[id].results[0];
            let number = self.passed.len() as u32;
            declared.insert(number, map.clone());
            self.maps.insert(descriptor, number);
            self.passed.push(Passed::Made);
            self.build.declare_param(lane::Param {
                name: self.kernel.value_name(descriptor),
                dtype: DType::I64,
                pointee: None,
                divisibility: 1,
            });
        }
        self.build.set_maps(declared);
    }

    /// Makes the map of a descriptor. Of a tensor without elements it is that of another one, and what is copied by it
    /// lies outside.
    pub(super) fn make_map(&mut self, op: &Op, nan: bool) {
        let Some(&map) = self.maps.get(&op.results[0]) else { return };
        let descriptor = self.kernel.ty(op.results[0]);
        let (rank, bytes) = (descriptor.shape.len(), i64::from(descriptor.dtype().bytes()));
        let operands: Vec<lane::Value> =
            op.operands.iter().map(|&operand| self.scalar(operand)).collect();
        let (extents, strides) = operands[1..].split_at(rank);
        let build = &mut self.build;
        let (one, bytes) = (build.i32(1), build.constant(DType::I64, bytes.cast_unsigned()));
        let staging = build.shared(TensorMap::BYTES, TensorMap::ALIGN, BarrierScope::Block);
        let mut parts: SmallVec<[lane::Value; 4]> =
            smallvec![build.shared_base(staging), operands[0]];
        let mut empty: Option<lane::Value> = None;
        for &extent in extents.iter().rev() {
            let none = build.compare(Compare::Slt, extent, one);
            empty = Some(empty.map_or(none, |empty| build.binary(Binary::Or, empty, none)));
            parts.push(build.binary(Binary::MaxS, extent, one));
        }
        for &stride in strides[..rank - 1].iter().rev() {
            parts.push(build.binary(Binary::Mul, stride, bytes));
        }
        self.empty.extend(empty.map(|empty| (op.results[0], empty)));
        self.alone(IdKind::Warp, None, |lowerer| {
            lowerer.build.emit(LaneOp::MakeMap(MakeMap { map, nan }), parts, &[]);
        });
    }

    pub(super) fn transfer(
        &mut self,
        id: OpId,
        op: &Op,
        what: TransferOp,
    ) -> Result<(), AssignError> {
        match what {
            TransferOp::Open { phase } => {
                let arrivals = match phase {
                    Phase::Copies(copies) => copies,
                    Phase::Threads => self.block.warps,
                };
                self.open_mbarriers(op, arrivals);
            }
            TransferOp::Fetch => self.fetch(op)?,
            TransferOp::Send(reduces) => {
                let way = reduces.map_or(TensorWay::ToGlobal, TensorWay::Reduce);
                self.send(id, op, way)?;
            }
            TransferOp::Wait | TransferOp::AfterLeave => {
                let at = self.mbarrier(op.operands[0], op.operands[1]);
                let parity = self.scalar(op.operands[2]);
                let wait = LaneOp::Mbarrier(Mbarrier::Wait);
                if what == TransferOp::Wait {
                    self.build.emit(wait, smallvec![at, parity], &[]);
                } else {
                    self.alone(IdKind::Thread, None, |lowerer| {
                        lowerer.build.emit(wait, smallvec![at, parity], &[]);
                    });
                }
            }
            TransferOp::Leave => {
                let at = self.mbarrier(op.operands[0], op.operands[1]);
                // One lane tells what all of its warp have done.
                self.build.barrier(BarrierScope::Warp);
                self.alone(IdKind::Lane, None, |lowerer| {
                    lowerer.build.emit(LaneOp::Mbarrier(Mbarrier::Arrive), smallvec![at], &[]);
                });
            }
            TransferOp::Close => self.close_mbarriers(op.operands[0]),
        }
        Ok(())
    }

    /// How many mbarriers a value describes.
    fn count(&self, mbarriers: Value) -> u32 {
        self.kernel.ty(mbarriers).elements() as u32
    }

    /// The address of the mbarrier of a number.
    fn mbarrier(&mut self, mbarriers: Value, which: Value) -> lane::Value {
        let which = self.scalar(which);
        let bytes = self.build.i32(Mbarrier::BYTES as i32);
        let distance = self.build.binary(Binary::Mul, which, bytes);
        let base = self.view(mbarriers).base();
        self.build.binary(Binary::Add, base, distance)
    }

    /// What the thread alone does whose index in its block, or warp, is zero, if something holds.
    fn alone(&mut self, index: IdKind, holds: Option<lane::Value>, what: impl FnOnce(&mut Self)) {
        let index = self.build.id(index);
        let zero = self.build.i32(0);
        let leads = self.build.compare(Compare::Eq, index, zero);
        let condition = match holds {
            Some(holds) => self.build.binary(Binary::And, leads, holds),
            None => leads,
        };
        self.open(&[]);
        what(self);
        let then = self.close(LaneOp::Yield, &[]);
        self.open(&[]);
        let otherwise = self.close(LaneOp::Yield, &[]);
        self.build.if_(condition, then, otherwise, &[]);
    }

    /// Begins the first phases. Behind the barrier all threads may use the mbarriers, and the copy engine sees
    /// what any of them has done to shared memory.
    fn open_mbarriers(&mut self, op: &Op, arrivals: u32) {
        let mbarriers = op.results[0];
        let count = self.count(mbarriers);
        let piece = self.build.mbarriers(count);
        let base = self.build.shared_base(piece);
        self.bind_memory(mbarriers, base);
        self.alone(IdKind::Thread, None, |lowerer| {
            lowerer.each_mbarrier(base, count, Mbarrier::Initialise { arrivals });
        });
        self.build.proxy_fence();
        self.build.barrier(BarrierScope::Block);
    }

    fn close_mbarriers(&mut self, mbarriers: Value) {
        let (base, count) = (self.view(mbarriers).base(), self.count(mbarriers));
        self.build.barrier(BarrierScope::Block);
        self.alone(IdKind::Thread, None, |lowerer| {
            lowerer.each_mbarrier(base, count, Mbarrier::Invalidate);
        });
    }

    fn each_mbarrier(&mut self, base: lane::Value, count: u32, what: Mbarrier) {
        for which in 0..count {
            let distance = self.build.i32((which * Mbarrier::BYTES) as i32);
            let at = self.build.binary(Binary::Add, base, distance);
            self.build.emit(LaneOp::Mbarrier(what), smallvec![at], &[]);
        }
    }

    fn fetch(&mut self, op: &Op) -> Result<(), AssignError> {
        let Some(fetch) = Fetch::of(&op.operands) else { return Ok(()) };
        let Fetch { descriptor, indices, memory, mbarriers, which, exists } = fetch;
        let copied = Copied { descriptor, memory };
        let boxes = boxes(self.kernel, self.assignment, copied)?;
        let mbarrier = self.mbarrier(mbarriers, which);
        let indices: Vec<lane::Value> = indices.iter().map(|&index| self.scalar(index)).collect();
        let exists = self.scalar(exists);
        let bytes = boxes.map.bytes() * boxes.copies.len() as u32;
        self.alone(IdKind::Thread, Some(exists), |lowerer| {
            let bytes = lowerer.build.i32(bytes as i32);
            lowerer.build.emit(LaneOp::Mbarrier(Mbarrier::Expect), smallvec![mbarrier, bytes], &[]);
            lowerer.copies(copied, &boxes, &indices, TensorWay::ToShared, Some(mbarrier));
        });
        Ok(())
    }

    /// Sends a block as a group of its own, once those are there that it must not overtake.
    fn send(&mut self, id: OpId, op: &Op, way: TensorWay) -> Result<(), AssignError> {
        let Some(Sent { descriptor, indices, memory }) = Sent::of(&op.operands) else {
            return Ok(());
        };
        let copied = Copied { descriptor, memory };
        let boxes = boxes(self.kernel, self.assignment, copied)?;
        let indices: Vec<lane::Value> = indices.iter().map(|&index| self.scalar(index)).collect();
        let unsent = self.orders.unsent[id];
        self.alone(IdKind::Thread, None, |lowerer| {
            if let Some(pending) = unsent {
                let wait = LaneOp::BulkCopy(BulkCopy::Wait { pending, reads: false });
                lowerer.build.emit(wait, smallvec![], &[]);
            }
            lowerer.copies(copied, &boxes, &indices, way, None);
            lowerer.build.emit(LaneOp::BulkCopy(BulkCopy::Commit), smallvec![], &[]);
        });
        Ok(())
    }

    /// Has the thread that sends blocks wait until all but so many of the latest were read.
    pub(super) fn wait_for_sent(&mut self, pending: u32) {
        self.alone(IdKind::Thread, None, |lowerer| {
            lowerer.build.emit(
                LaneOp::BulkCopy(BulkCopy::Wait { pending, reads: true }),
                smallvec![],
                &[],
            );
        });
    }

    /// Copies the boxes of a block.
    fn copies(
        &mut self,
        copied: Copied,
        boxes: &Boxes,
        indices: &[lane::Value],
        way: TensorWay,
        mbarrier: Option<lane::Value>,
    ) {
        let map = self.maps.get(&copied.descriptor).copied().unwrap_or_default();
        let view = self.view(copied.memory).base();
        let build = &mut self.build;
        let mut indices = indices.to_vec();
        if let (Some(&empty), Some(first)) =
            (self.empty.get(&copied.descriptor), indices.first_mut())
        {
            let outside = build.i32(OUTSIDE);
            *first = build.select(empty, outside, *first);
        }
        for (from, start) in &boxes.copies {
            let start = build.i32(*start as i32);
            let mut operands: SmallVec<[lane::Value; 4]> =
                smallvec![build.binary(Binary::Add, view, start)];
            for (&index, &from) in indices.iter().zip(from).rev() {
                let from = build.i32(from as i32);
                operands.push(build.binary(Binary::Add, index, from));
            }
            operands.extend(mbarrier);
            build.emit(LaneOp::TensorCopy(TensorCopy { map, way }), operands, &[]);
        }
    }
}
