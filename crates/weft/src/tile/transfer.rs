//! Blocks that a machine copies by itself between a tensor in global memory and shared memory, and the *mbarriers*
//! that tell when those are there that come.
//!
//! An mbarrier counts copies, phase after phase: a phase is over when as many copies have begun in it as the
//! operation says that made the mbarrier, and all of them have landed. Or it counts the threads of the block,
//! and a phase is over when all of them have left the memory that is copied to. The next phase begins at once.
//! Phases are told apart by their parity: the first is even. Who waits for a phase of a parity waits until the
//! phase under way has the other one; so the odd phase before the first counts as over.
//!
//! A block that goes to a tensor needs none: who writes the memory again, or ends, waits until it was read.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::effects::{Effects, Fence, Tokens, Touch};
use super::{Element, Type};
use crate::atomic::Rmw;
use crate::dtype::DType;

/// What ends a phase of an mbarrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// So many copies, which have landed.
    Copies(u32),
    /// All threads of the block, which have left ([`TransferOp::Leave`]).
    Threads,
}

/// An operation on blocks and mbarriers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransferOp {
    /// `() -> (mbarriers)`: memory for as many as its type has elements, each of which begins its first phase.
    Open {
        /// What ends each phase.
        phase: Phase,
    },
    /// `(descriptor, N indices i32, memory, mbarriers, i32, i1)`: begins to copy a block, if the truth value
    /// says so, which the mbarrier of that number counts. What is copied is read when the operation is met.
    Fetch,
    /// `(descriptor, N indices i32, memory)`: copies a block from memory to the tensor; each element there becomes
    /// that of the block, or is changed by it atomically, without any order. What is copied is read when the
    /// operation is met.
    Send(Option<Rmw>),
    /// `(mbarriers, i32, parity i1)`: waits for a phase of the mbarrier of that number. What was copied in it
    /// may be looked at then.
    Wait,
    /// `(mbarriers, i32, memories …)`: the threads of the block leave the memories: they have done with all that
    /// they did so far, there and elsewhere. The mbarrier of that number counts them.
    Leave,
    /// `(mbarriers, i32, parity i1)`: copies that begin after it wait for a phase of the mbarrier of that number,
    /// in which the threads of the block left what is copied to. Nothing else waits.
    AfterLeave,
    /// `(mbarriers)`: they are not used any more.
    Close,
}

impl TransferOp {
    /// What it does besides computing its results.
    pub(super) fn effects(self) -> Effects {
        let none = Effects::NONE;
        match self {
            TransferOp::Open { phase: _ } | TransferOp::Close => {
                Effects { allocates: true, fence: Fence::Barrier, tokens: Tokens::Phases, ..none }
            }
            TransferOp::Fetch => Effects {
                global: Touch::READS,
                local: Touch::WRITES,
                tokens: Tokens::Fetches,
                ..none
            },
            TransferOp::Send(op) => Effects {
                global: if op.is_some() { Touch::BOTH } else { Touch::WRITES },
                local: Touch::READS,
                tokens: Tokens::Sends,
                ..none
            },
            TransferOp::Wait => Effects { tokens: Tokens::Phases, ..none },
            TransferOp::Leave => Effects { tokens: Tokens::Leaves, ..none },
            TransferOp::AfterLeave => Effects { tokens: Tokens::AfterLeaving, ..none },
        }
    }

    /// The operation's name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            TransferOp::Open { .. } => "open_mbarriers",
            TransferOp::Fetch => "fetch_block",
            TransferOp::Send(None) => "send_block",
            TransferOp::Send(Some(_)) => "reduce_block",
            TransferOp::Wait => "wait_mbarrier",
            TransferOp::Leave => "leave",
            TransferOp::AfterLeave => "after_leave",
            TransferOp::Close => "close_mbarriers",
        }
    }
}

/// What a block is copied by.
pub(crate) struct Fetch<V> {
    pub(crate) descriptor: V,
    pub(crate) indices: Vec<V>,
    pub(crate) memory: V,
    pub(crate) mbarriers: V,
    /// The number of the mbarrier.
    pub(crate) which: V,
    /// Whether the block is copied at all.
    pub(crate) exists: V,
}

impl<V: Clone> Fetch<V> {
    /// The operands of [`TransferOp::Fetch`], by what they are.
    pub(crate) fn of(operands: &[V]) -> Option<Self> {
        let (rest, last) = operands.split_last_chunk::<4>()?;
        let (descriptor, indices) = rest.split_first()?;
        let [memory, mbarriers, which, exists] = last.clone();
        Some(Self {
            descriptor: descriptor.clone(),
            indices: indices.to_vec(),
            memory,
            mbarriers,
            which,
            exists,
        })
    }

    /// The operands in their order.
    pub(crate) fn operands(self) -> Vec<V> {
        let Self { descriptor, indices, memory, mbarriers, which, exists } = self;
        [vec![descriptor], indices, vec![memory, mbarriers, which, exists]].concat()
    }
}

/// What a block is sent by.
pub(crate) struct Sent<V> {
    pub(crate) descriptor: V,
    pub(crate) indices: Vec<V>,
    pub(crate) memory: V,
}

impl<V: Clone> Sent<V> {
    /// The operands of [`TransferOp::Send`], by what they are.
    pub(crate) fn of(operands: &[V]) -> Option<Self> {
        let ([descriptor, indices @ ..], [memory]) = operands.split_last_chunk::<1>()? else {
            return None;
        };
        let (descriptor, indices) = (descriptor.clone(), indices.to_vec());
        Some(Self { descriptor, indices, memory: memory.clone() })
    }

    /// The operands in their order.
    pub(crate) fn operands(self) -> Vec<V> {
        let Self { descriptor, indices, memory } = self;
        [vec![descriptor], indices, vec![memory]].concat()
    }
}

/// Whether operands and results are as an operation asks, and what it asks.
pub(super) fn rule(op: TransferOp, operands: &[&Type], results: &[&Type]) -> (bool, &'static str) {
    let number = |ty: &Type| *ty == Type::scalar(DType::I32);
    let truth = |ty: &Type| *ty == Type::scalar(DType::I1);
    match op {
        TransferOp::Open { phase } => (
            phase != Phase::Copies(0)
                && matches!((operands, results), ([], [m]) if are_mbarriers(m)),
            "takes nothing and gives mbarriers, each of which counts threads, or a copy at least",
        ),
        TransferOp::Fetch => (
            results.is_empty()
                && Fetch::of(operands).is_some_and(|fetch| {
                    let Fetch { descriptor, indices, memory, mbarriers, which, exists } = fetch;
                    is_block(descriptor, &indices, memory)
                        && memory.memory().is_some_and(|memory| memory.mutable)
                        && are_mbarriers(mbarriers)
                        && number(which)
                        && truth(exists)
                }),
            "takes a descriptor, an index i32 for each of its dimensions, mutable memory for a block, mbarriers, \
             the number i32 of one and an i1, and gives nothing",
        ),
        TransferOp::Send(op) => (
            results.is_empty()
                && Sent::of(operands)
                    .is_some_and(|sent| is_block(sent.descriptor, &sent.indices, sent.memory))
                && op.is_none_or(|op| op.apply(operands[0].dtype(), 0, 0).is_some()),
            "takes a descriptor, an index i32 for each of its dimensions and memory with a block of numbers that \
             have the operation, and gives nothing",
        ),
        TransferOp::Leave => (
            results.is_empty()
                && matches!(operands, [m, which, memories @ ..]
                    if are_mbarriers(m) && number(which)
                        && memories.iter().all(|memory| memory.memory().is_some())),
            "takes mbarriers, the number i32 of one and the memories that are left, and gives nothing",
        ),
        TransferOp::Wait | TransferOp::AfterLeave => (
            matches!((operands, results), ([m, which, parity], [])
                if are_mbarriers(m) && number(which) && truth(parity)),
            "takes mbarriers, the number i32 of one and a parity i1, and gives nothing",
        ),
        TransferOp::Close => (
            matches!((operands, results), ([m], []) if are_mbarriers(m)),
            "takes mbarriers and gives nothing",
        ),
    }
}

/// Whether memory has a block of a descriptor, which indices name.
fn is_block(descriptor: &Type, indices: &[&Type], memory: &Type) -> bool {
    let holds =
        |block: Type| block.element == memory.element && block.elements() == memory.elements();
    indices.len() == descriptor.shape.len()
        && indices.iter().all(|index| **index == Type::scalar(DType::I32))
        && descriptor.block().is_some_and(holds)
        && memory.memory().is_some()
}

/// Whether a type is that of mbarriers: a list of buffers of an i64 each.
fn are_mbarriers(ty: &Type) -> bool {
    ty.element == Element::Scalar(DType::I64)
        && matches!(ty.shape[..], [_, 1])
        && ty.memory().is_some_and(|memory| memory.mutable && memory.allocated == ty.shape)
}
