//! Bulk copies between global and shared memory, and the barriers that count their bytes.
//!
//! One thread begins a bulk copy, and it runs on by itself through the asynchronous proxy. What is written to
//! shared memory is announced at an *mbarrier*, what is read from it by groups of the thread's copies.
//!
//! # Mbarriers
//!
//! An mbarrier is eight bytes of shared memory that go through *phases* 0, 1, 2, …: a phase is over when as many
//! threads have arrived as were expected, and as many bytes have been written as were announced (PTX ISA,
//! "Parallel synchronization: mbarrier"). Whoever waits names a phase by its *parity*, the low bit of its number:
//! the wait ends if the phase under way has the other parity. So a fresh mbarrier lets pass who waits for
//! parity 1, and who waits must never be two phases behind.
//!
//! What the threads that arrived had done before is done for those that waited; so are the copies.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::Space;
use super::effects::{Effects, Extent, Fence, Latency, Proxy, Spaces, Step, Tokens};
use super::family::{Family, Operand, Operands, Text, Told, listed};
use crate::atomic::{Order, Scope};
use crate::dtype::DType;

/// What is done to an mbarrier, whose address is the first operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mbarrier {
    /// `(address)`: begins phase 0; each phase expects so many arrivals, 1 to 2^20 - 1.
    Initialise {
        /// How many arrivals end a phase.
        arrivals: u32,
    },
    /// `(address)`: each thread arrives once.
    Arrive,
    /// `(address, bytes: i32)`: announces bytes for the phase under way, and arrives.
    Expect,
    /// `(address, parity: i1)`: waits until the phase of this parity is over.
    Wait,
    /// `(address)`: nothing will happen to it any more; its bytes may be used for other things.
    Invalidate,
}

impl Mbarrier {
    /// Bytes and alignment of one in shared memory.
    pub const BYTES: u32 = 8;
    /// The most arrivals that a phase can expect; bytes announced stay below as well.
    pub const MOST: u32 = (1 << 20) - 1;
}

/// A step of copies of consecutive bytes: `cp.async.bulk` of the PTX ISA. Both addresses and the number of bytes are
/// multiples of 16.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BulkCopy {
    /// `(shared address, global address, bytes: i32, mbarrier address)`: the bytes may be written at any time
    /// until the phase under way of the mbarrier is over. They may be touched by those who waited for that.
    ToShared,
    /// `(shared address, global address, bytes: i32)`: the bytes may be read, and those in global memory
    /// written, at any time until the thread has waited for the copy's group.
    ToGlobal,
    /// `()`: closes the thread's open group of copies to global memory.
    Commit,
    /// `()`: waits for all but the latest so many groups.
    Wait {
        /// How many groups may still be under way.
        pending: u32,
        /// Whether it is enough that what they copy has been read; else it has been written too.
        reads: bool,
    },
}

impl BulkCopy {
    /// What addresses and sizes are multiples of.
    pub const ALIGN: u32 = 16;
}

/// The effects of a copy that runs on by itself, by the spaces that it reads and writes. How many bytes it moves
/// is an operand, or in its map.
pub(super) fn begins(reads: Spaces, writes: Spaces) -> Effects {
    Effects {
        reads,
        writes,
        extent: Extent::Anywhere,
        proxy: Proxy::Async,
        tokens: Tokens::Bulk(Step::Starts),
        ..Effects::NONE
    }
}

impl Family for Mbarrier {
    const FORMS: &'static [Self] = &[
        Self::Initialise { arrivals: 0 },
        Self::Arrive,
        Self::Expect,
        Self::Wait,
        Self::Invalidate,
    ];

    fn effects(&self) -> Effects {
        let none = Effects::NONE;
        match self {
            Self::Initialise { arrivals: _ } | Self::Invalidate => {
                Effects { writes: Spaces::SHARED, tokens: Tokens::Bulk(Step::Prepares), ..none }
            }
            // Its bytes are announced before they are written, by this thread too.
            Self::Arrive | Self::Expect => Effects {
                reads: Spaces::SHARED,
                writes: Spaces::SHARED,
                fence: Fence::Atomic(Order::Release, Scope::Block),
                tokens: Tokens::Bulk(Step::Prepares),
                ..none
            },
            // What the copies write is there only now, as if the wait wrote it.
            Self::Wait => Effects {
                reads: Spaces::SHARED,
                writes: Spaces::SHARED,
                extent: Extent::Anywhere,
                fence: Fence::Atomic(Order::Acquire, Scope::Block),
                tokens: Tokens::Bulk(Step::Awaits { pending: 0 }),
                latency: Latency::Wait,
                ..none
            },
        }
    }

    fn operands(&self) -> Operands {
        let second = match self {
            Self::Initialise { .. } | Self::Arrive | Self::Invalidate => None,
            Self::Expect => Some(Operand::Bytes),
            Self::Wait => Some(Operand::Parity),
        };
        [Operand::Address(Space::Shared)].into_iter().chain(second).collect()
    }

    fn is_sound(&self, values: &[DType], results: &[DType]) -> bool {
        let fits = match self {
            Self::Initialise { arrivals } => (1..=Self::MOST).contains(arrivals),
            Self::Arrive | Self::Expect | Self::Wait | Self::Invalidate => true,
        };
        fits && values.is_empty() && results.is_empty()
    }

    fn text(&mut self, text: &mut dyn Text) -> Told {
        match self {
            Self::Initialise { arrivals } => {
                text.word("mbarrier.initialise")?;
                text.behind(arrivals)
            }
            Self::Arrive => text.word("mbarrier.arrive"),
            Self::Expect => text.word("mbarrier.expect"),
            Self::Wait => text.word("mbarrier.wait"),
            Self::Invalidate => text.word("mbarrier.invalidate"),
        }
    }
}

impl Family for BulkCopy {
    const FORMS: &'static [Self] =
        &[Self::ToShared, Self::ToGlobal, Self::Commit, Self::Wait { pending: 0, reads: false }];

    fn effects(&self) -> Effects {
        let none = Effects::NONE;
        match self {
            // The mbarrier is shared memory as well.
            Self::ToShared => begins(Spaces::ALL, Spaces::SHARED),
            Self::ToGlobal => begins(Spaces::SHARED, Spaces::GLOBAL),
            Self::Commit => Effects { tokens: Tokens::Bulk(Step::Commits), ..none },
            // What the copies read may change only now, as if the wait read it; what they write is there.
            Self::Wait { pending, reads } => Effects {
                reads: Spaces::SHARED,
                writes: if *reads { Spaces::NONE } else { Spaces::GLOBAL },
                extent: Extent::Anywhere,
                proxy: Proxy::Async,
                tokens: Tokens::Bulk(Step::Awaits { pending: *pending }),
                latency: Latency::Wait,
                ..none
            },
        }
    }

    fn operands(&self) -> Operands {
        let copied =
            [Operand::Address(Space::Shared), Operand::Address(Space::Global), Operand::Bytes];
        match self {
            Self::ToShared => listed(&copied, &[(Operand::Mbarrier, true)]),
            Self::ToGlobal => listed(&copied, &[]),
            Self::Commit | Self::Wait { .. } => Operands::new(),
        }
    }

    fn is_sound(&self, values: &[DType], results: &[DType]) -> bool {
        values.is_empty() && results.is_empty()
    }

    fn text(&mut self, text: &mut dyn Text) -> Told {
        match self {
            Self::ToShared => text.word("bulk.copy.to.shared"),
            Self::ToGlobal => text.word("bulk.copy.to.global"),
            Self::Commit => text.word("bulk.commit"),
            Self::Wait { pending, reads } => {
                text.word("bulk.wait")?;
                text.mark("reads", reads)?;
                text.behind(pending)
            }
        }
    }
}
