//! Asynchronous copies from global to shared memory.
//!
//! A copy runs in the layout that is chosen for it, else in that of its pointers. It moves 4, 8 or 16 bytes for each
//! thread; where the machine has no such copies, a thread's elements are too few to make 4 bytes, or the machine's
//! lanes write side by side and these do not, a load and a store take its place, and committing and waiting do nothing
//! for it.

use super::Lowerer;
use crate::assign::AssignError;
use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::lane::{self, Access, Op as LaneOp, Space};
use crate::movement;
use crate::pipeline::has_copies;
use crate::scalar::Binary;
use crate::tile::{AsyncCopy, Begun, CopyOptions, Op, OpId, Value};
use smallvec::{SmallVec, smallvec};
use weft_layout::space::{Label, OFFSET};

impl Lowerer<'_> {
    /// A step of asynchronous copies. Where the machine has none, nothing is to be waited for.
    pub(super) fn async_copy(
        &mut self,
        id: OpId,
        op: &Op,
        step: AsyncCopy,
    ) -> Result<(), AssignError> {
        let step = match step {
            AsyncCopy::Begin(options) => {
                let begun = step.begun(&op.operands);
                return begun.map_or(Ok(()), |begun| self.begin_copy(id, begun, options));
            }
            AsyncCopy::Commit => lane::AsyncCopy::Commit,
            AsyncCopy::Wait { pending } => lane::AsyncCopy::Wait { pending, copies: None },
        };
        if has_copies(self.block.machine) {
            self.build.emit(LaneOp::AsyncCopy(step), smallvec![], &[]);
        }
        Ok(())
    }

    fn begin_copy(
        &mut self,
        id: OpId,
        begun: Begun<Value>,
        options: CopyOptions,
    ) -> Result<(), AssignError> {
        let Begun { pointers, memory, mask, other } = begun;
        let place = match self.assignment.runs_in(id) {
            Some(place) => place,
            None => self.place_of(pointers)?,
        };
        let element = self.kernel.ty(memory).dtype();
        let most = self.copied_at_once(pointers, mask, memory)?;
        let view = self.view(memory);
        let meeting = self.meeting(place, memory, most)?;
        let addresses = self.get(pointers, place)?;
        let masks = mask.map(|mask| self.get(mask, place)).transpose()?;
        let others = other.map(|other| self.get(other, place)).transpose()?;
        let base = meeting.base(&mut self.build, view);
        let acting = movement::takes_part(&mut self.build, meeting.vectors.acting);
        let dtype = element.in_memory();
        let cost = meeting.vectors.bytes(dtype.bytes());
        let direct = self.block.machine.direct_copy_bytes();
        let fits = match direct {
            Some(bytes) => cost == bytes && meeting.is_run(),
            None => matches!(cost, 4 | 8 | 16),
        };
        let copies = has_copies(self.block.machine) && fits;
        let zero = self.build.constant(dtype, 0);
        for group in &meeting.vectors.groups {
            let first = group[0] as usize;
            let (address, offset) = meeting.address(&mut self.build, view, base, group[0]);
            let mask = masks.as_ref().map(|masks| masks[first]);
            let instead: Vec<lane::Value> = group
                .iter()
                .map(|&register| match &others {
                    Some(others) => movement::byte_of(&mut self.build, others[register as usize]),
                    None => zero,
                })
                .collect();
            let source = self.behind_base(addresses[first], mask.is_some());
            let shared = Access { offset, ..Access::default() };
            if copies {
                let is_zero = instead.iter().all(|&x| self.build.constant_bits(x) == Some(0));
                let fills = mask.filter(|_| is_zero);
                // Where other values than zeros are wanted they are stored by those who do not copy.
                let copier = mask.filter(|_| !is_zero);
                let predicate = self.build.and_predicates(acting, copier);
                let copy = lane::AsyncCopy::Begin {
                    bytes: cost,
                    offset,
                    run: direct.is_some(),
                    predicated: predicate.is_some(),
                    filled: fills.is_some(),
                };
                let mut operands: SmallVec<[lane::Value; 4]> = smallvec![address, source];
                operands.extend(predicate);
                operands.extend(fills);
                self.build.emit(LaneOp::AsyncCopy(copy), operands, &[]);
                if let Some(copier) = copier {
                    let one = self.build.constant(DType::I1, 1);
                    let not = self.build.binary(Binary::Xor, copier, one);
                    let predicate = self.build.and_predicates(acting, Some(not));
                    self.build.store(Space::Shared, shared, address, predicate, &instead);
                }
            } else {
                let how = Access {
                    cache: options.cache,
                    volatile: options.volatile,
                    ..Access::default()
                };
                let guarded = mask.map(|mask| (mask, &instead[..]));
                let loaded =
                    self.build.load(Space::Global, how, dtype, group.len(), source, guarded);
                self.build.store(Space::Shared, shared, address, acting, &loaded);
            }
        }
        Ok(())
    }

    /// How many neighbours in memory one copy may take.
    fn copied_at_once(
        &self,
        pointers: Value,
        mask: Option<Value>,
        memory: Value,
    ) -> Result<u64, AssignError> {
        let facts: &AxisFacts = self.facts;
        let ty = self.kernel.ty(memory);
        let buffers = self.assignment.buffers(memory)?;
        let widest = u64::from(lane::MAX_ACCESS_BYTES);
        let along = |axis: usize| {
            let most = facts.vector_elements(pointers, mask, axis, ty.dtype(), widest);
            let run = buffers.layout.layout().contiguous_run(OFFSET, Label::dim(axis as u32));
            most.min(run)
        };
        // Neighbours in shared memory are neighbours in global memory along one axis alone.
        Ok((0..ty.shape.len()).map(along).max().unwrap_or(1))
    }
}
