//! Blocks of tensors that come a few rounds ahead.
//!
//! A copy engine brings them, and mbarriers tell when they are there: one for each stage of a stream, whose
//! phases are the rounds that use the stage. The loop carries the parity of the phase that it waits for next;
//! it changes where the stages begin again. What is read a round later waits for the round before, of which
//! the first one has none: the odd phase before the first, which is over.

use super::ahead::{Buffer, Prefetcher};
use super::find::is_block;
use super::mbarriers_type;
use crate::dtype::DType;
use crate::scalar::{Binary, Compare};
use crate::tile::{Fetch, OpKind, TransferOp, Type, Value};

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

    pub(super) fn open_mbarriers(&mut self) {
        for stream in &self.found.streams {
            let copies = self.blocks(stream.lag);
            let mbarriers = (copies > 0).then(|| {
                let ty = mbarriers_type(self.stages.into());
                self.emit(OpKind::Transfer(TransferOp::Open { copies }), &[], ty)
            });
            self.mbarriers.push(mbarriers);
        }
    }

    pub(super) fn close_mbarriers(&mut self) {
        for mbarriers in self.mbarriers.clone().into_iter().flatten() {
            self.op(OpKind::Transfer(TransferOp::Close), &[mbarriers], &[]);
        }
    }

    /// The mbarriers of the streams that have some, and how many rounds these lag.
    fn opened(&self) -> Vec<(Value, usize)> {
        let streams = self.mbarriers.iter().zip(&self.found.streams);
        streams.filter_map(|(mbarriers, stream)| Some(((*mbarriers)?, stream.lag))).collect()
    }

    /// The parity of the phase that the first round waits for, of each stream with mbarriers.
    pub(super) fn parities(&mut self) -> Vec<Value> {
        let lags: Vec<usize> = self.opened().into_iter().map(|(_, lag)| lag).collect();
        let truth = Type::scalar(DType::I1);
        let parity = |lag: usize| OpKind::Constant(u64::from(lag > 0));
        lags.into_iter().map(|lag| self.emit(parity(lag), &[], truth.clone())).collect()
    }

    /// Waits for the blocks of a round; the parities of the next.
    pub(super) fn wait_for_blocks(&mut self, slots: &[Value], parities: &[Value]) -> Vec<Value> {
        let mut next = Vec::with_capacity(parities.len());
        for ((mbarriers, lag), &parity) in self.opened().into_iter().zip(parities) {
            let slot = slots[if lag == 0 { 0 } else { slots.len() - 1 }];
            self.op(OpKind::Transfer(TransferOp::Wait), &[mbarriers, slot, parity], &[]);
            let end = self.slot(self.stages - 1);
            let turns = self.truth(OpKind::Compare(Compare::Eq), &[slot, end]);
            next.push(self.truth(OpKind::Binary(Binary::Xor), &[parity, turns]));
        }
        next
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
