//! Blocks of tensors that come a few rounds ahead.
//!
//! A copy engine brings them, and mbarriers tell when they are there: one for each stage of a stream, whose
//! phases are the rounds that use the stage. The loop carries the parity of the phase that it waits for next;
//! it changes where the stages begin again. What is read a round later waits for the round before, of which
//! the first one has none: the odd phase before the first, which is over.
//!
//! A copy may begin when no thread looks at what it writes any more. A barrier says so, but holds all warps
//! together, and warps that multiply in the same moment also compute in the same moment. Where several warpgroups
//! share a block, and the products of a round are over when it ends, the threads tell an mbarrier at its end that they
//! have left the buffers, and the thread that copies alone waits for it: the warpgroups may be apart by nearly a
//! round, one of them multiplying while the other computes. There is one for each stage too, as a warp may have left
//! a round that another one has not left yet. Products that go on in the next round keep matrix units busy without
//! that, and were slower so (8192 x 8192 by 128 x 128 in 8 warps on an H200: 549 for 618 TFLOP/s).

use super::ahead::{Buffer, Prefetcher};
use super::find::is_block;
use super::mbarriers_type;
use crate::scalar::{Binary, Compare};
use crate::tile::{Fetch, OpKind, Phase, TransferOp, Value, in_flight};

impl Prefetcher<'_> {
    /// How many blocks come in a round of a stream.
    fn blocks(&self, lag: usize) -> u32 {
        let blocks = |buffer: &&Buffer| buffer.lag == lag && is_block(&buffer.op);
        self.buffers.iter().filter(blocks).count() as u32
    }

    /// Whether there are copies in groups.
    pub(super) fn has_groups(&self) -> bool {
        self.buffers.iter().any(|buffer| !is_block(&buffer.op))
    }

    /// Begins with the mbarriers.
    pub(super) fn open_mbarriers(&mut self, apart: bool) {
        for stream in &self.found.streams {
            let copies = self.blocks(stream.lag);
            let mbarriers = (copies > 0).then(|| {
                let ty = mbarriers_type(self.stages.into());
                let phase = Phase::Copies(copies);
                self.emit(OpKind::Transfer(TransferOp::Open { phase }), &[], ty)
            });
            self.mbarriers.push(mbarriers);
        }
        if apart && !self.has_groups() && self.ends_products() {
            let open = OpKind::Transfer(TransferOp::Open { phase: Phase::Threads });
            self.leaving = Some(self.emit(open, &[], mbarriers_type(self.stages.into())));
        }
    }

    /// Whether no product is under way when a round ends. One that runs a round behind is over then, as its left
    /// factor is written for the next.
    fn ends_products(&self) -> bool {
        let is_behind = |sum: usize| self.found.behind.iter().any(|behind| behind.sum == sum);
        let flying = in_flight(self.kernel, &self.kernel.ops[self.found.op]);
        flying.into_iter().all(|(sum, _)| is_behind(sum))
    }

    pub(super) fn close_mbarriers(&mut self) {
        for mbarriers in self.mbarriers.clone().into_iter().flatten().chain(self.leaving) {
            self.op(OpKind::Transfer(TransferOp::Close), &[mbarriers], &[]);
        }
    }

    /// The mbarriers of the streams that have some, and how many rounds these lag.
    fn opened(&self) -> Vec<(Value, usize)> {
        let streams = self.mbarriers.iter().zip(&self.found.streams);
        streams.filter_map(|(mbarriers, stream)| Some(((*mbarriers)?, stream.lag))).collect()
    }

    /// The parity of the phase that the first round waits for, of each stream with mbarriers, and of the mbarriers
    /// that count threads.
    pub(super) fn parities(&mut self) -> Vec<Value> {
        let streams = self.opened().into_iter().map(|(_, lag)| lag > 0);
        let threads = self.leaving.is_some().then_some(true);
        let odd: Vec<bool> = streams.chain(threads).collect();
        let parity = |odd: bool| self.truth(OpKind::Constant(odd.into()), &[]);
        odd.into_iter().map(parity).collect()
    }

    /// Waits for the blocks of a round; the parities of the next.
    pub(super) fn wait_for_blocks(&mut self, slots: &[Value], parities: &[Value]) -> Vec<Value> {
        let mut next = Vec::with_capacity(parities.len());
        for ((mbarriers, lag), &parity) in self.opened().into_iter().zip(parities) {
            let slot = slots[if lag == 0 { 0 } else { slots.len() - 1 }];
            self.op(OpKind::Transfer(TransferOp::Wait), &[mbarriers, slot, parity], &[]);
            next.push(self.next_parity(slot, parity));
        }
        next
    }

    /// The parity of the phase that the next round waits for, when this one waited for that of a slot.
    fn next_parity(&mut self, slot: Value, parity: Value) -> Value {
        let end = self.slot(self.stages - 1);
        let turns = self.truth(OpKind::Compare(Compare::Eq), &[slot, end]);
        self.truth(OpKind::Binary(Binary::Xor), &[parity, turns])
    }

    /// Has the copies of a round wait until the threads have left the round before; the parity of the next.
    pub(super) fn wait_for_threads(
        &mut self,
        slots: &[Value],
        parities: &[Value],
    ) -> Option<Value> {
        let (mbarriers, &before, &parity) = (self.leaving?, slots.last()?, parities.last()?);
        self.op(OpKind::Transfer(TransferOp::AfterLeave), &[mbarriers, before, parity], &[]);
        Some(self.next_parity(before, parity))
    }

    /// What the threads do at the end of a round, which looked at these buffers.
    pub(super) fn leave_round(&mut self, slots: &[Value], views: &[Value]) {
        if let Some(mbarriers) = self.leaving {
            let operands = [&[mbarriers, slots[0]], views].concat();
            self.op(OpKind::Transfer(TransferOp::Leave), &operands, &[]);
        }
    }

    /// Waits, behind the loop, for the blocks that are read a round later.
    pub(super) fn wait_for_last_blocks(&mut self, newest: Value, parities: &[Value]) {
        for ((mbarriers, lag), &parity) in self.opened().into_iter().zip(parities) {
            if lag > 0 {
                self.op(OpKind::Transfer(TransferOp::Wait), &[mbarriers, newest, parity], &[]);
            }
        }
    }

    /// Fetches the block that a load with these operands gives into a buffer, if the round exists.
    pub(super) fn fetch_block(
        &mut self,
        buffer: &Buffer,
        operands: &[Value],
        slot: Value,
        exists: Value,
    ) {
        let stream = self.found.streams.iter().position(|stream| stream.lag == buffer.lag);
        let Some(mbarriers) = stream.and_then(|stream| self.mbarriers[stream]) else { return };
        self.place = buffer.load;
        let memory = self.view(buffer, slot);
        let Some((&descriptor, indices)) = operands.split_first() else { return };
        let indices = indices.to_vec();
        let fetch = Fetch { descriptor, indices, memory, mbarriers, which: slot, exists };
        self.op(OpKind::Transfer(TransferOp::Fetch), &fetch.operands(), &[]);
    }
}
