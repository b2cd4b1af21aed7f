//! Asynchronous copies from global to shared memory: `cp.async` of the PTX ISA.
//!
//! A thread's copies join its open group, which a commit closes; a wait is for the oldest groups.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::Space;
use super::effects::{Effects, Extent, Latency, Spaces, Tokens};
use super::family::{Family, Operand, Operands, Text, Told, listed};
use crate::dtype::DType;

/// A step of a thread's asynchronous copies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AsyncCopy {
    /// `(shared address, global address, [predicate], [filled])`: begins to copy so many bytes (4, 8 or
    /// 16, both addresses multiples) from global to shared memory. Where `filled` is false zeros are
    /// written and global memory is not looked at. The copy belongs to the thread's open group; the
    /// bytes may be touched when the thread has waited for that, and by others after a barrier then.
    Begin {
        /// How many bytes each lane copies.
        bytes: u32,
        /// Added to the shared address, in bytes.
        offset: i32,
        /// Whether a predicate follows the addresses.
        predicated: bool,
        /// Whether `filled` comes last.
        filled: bool,
    },
    /// `()`: closes the thread's open group of copies.
    Commit,
    /// `()`: waits until only so many of the thread's latest groups may be under way.
    Wait {
        /// How many groups may still be under way.
        pending: u32,
    },
}

impl AsyncCopy {
    /// How many bytes each lane copies, and what is added to its address in shared memory; nothing where it
    /// begins no copy.
    pub fn moves(self) -> Option<(u32, i32)> {
        match self {
            Self::Begin { bytes, offset, predicated: _, filled: _ } => Some((bytes, offset)),
            Self::Commit | Self::Wait { .. } => None,
        }
    }
}

impl Family for AsyncCopy {
    const FORMS: &'static [Self] = &[
        Self::Begin { bytes: 0, offset: 0, predicated: false, filled: false },
        Self::Commit,
        Self::Wait { pending: 0 },
    ];

    fn effects(&self) -> Effects {
        let none = Effects::NONE;
        match self {
            Self::Begin { bytes: _, offset: _, predicated: _, filled: _ } => Effects {
                reads: Spaces::GLOBAL,
                writes: Spaces::SHARED,
                tokens: Tokens::Starts,
                ..none
            },
            Self::Commit => Effects { tokens: Tokens::Commits, ..none },
            // What the copies write is there only now, as if the wait wrote it.
            Self::Wait { pending } => Effects {
                writes: Spaces::SHARED,
                extent: Extent::InFlight,
                tokens: Tokens::Awaits { pending: *pending },
                latency: Latency::Wait,
                ..none
            },
        }
    }

    fn operands(&self) -> Operands {
        match *self {
            Self::Begin { predicated, filled, .. } => listed(
                &[Operand::Address(Space::Shared), Operand::Address(Space::Global)],
                &[(Operand::Predicate, predicated), (Operand::Filled, filled)],
            ),
            Self::Commit | Self::Wait { .. } => Operands::new(),
        }
    }

    fn is_sound(&self, values: &[DType], results: &[DType]) -> bool {
        let fits = match self {
            Self::Begin { bytes, .. } => matches!(bytes, 4 | 8 | 16),
            Self::Commit | Self::Wait { .. } => true,
        };
        fits && values.is_empty() && results.is_empty()
    }

    fn text(&mut self, text: &mut dyn Text) -> Told {
        match self {
            Self::Begin { bytes, offset, predicated, filled } => {
                text.word("async.copy")?;
                text.number(bytes)?;
                text.offset(offset)?;
                text.mark("if", predicated)?;
                text.mark("filled", filled)
            }
            Self::Commit => text.word("async.commit"),
            Self::Wait { pending } => {
                text.word("async.wait")?;
                text.behind(pending)
            }
        }
    }
}
