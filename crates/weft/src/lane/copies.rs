//! Asynchronous copies from global to shared memory: `cp.async` of the PTX ISA, and the loads of AMD's GPUs that
//! write to the local data share.
//!
//! A thread's copies join its open group, which a commit closes; a wait is for the oldest groups. AMD's copies write
//! one *run* of a wave, lane beside lane, and know no groups: a wait is for all but so many of the wave's latest
//! copies, which `simplify::waits` counts.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::effects::{Effects, Extent, Latency, Spaces, Tokens};
use super::family::{Family, Operand, Operands, Text, Told, listed};
use super::{Op, Space};
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
        /// Whether the lanes of a warp write side by side: the address of each is that of lane 0 and `bytes` for
        /// every lane before it.
        run: bool,
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
        /// How many of the warp's latest copies may still be, where that is what is waited for: no more than there
        /// are in those groups and the open one.
        copies: Option<u32>,
    },
}

impl AsyncCopy {
    /// How many bytes each lane copies, and what is added to its address in shared memory; nothing where it
    /// begins no copy.
    pub fn moves(self) -> Option<(u32, i32)> {
        match self {
            Self::Begin { bytes, offset, run: _, predicated: _, filled: _ } => {
                Some((bytes, offset))
            }
            Self::Commit | Self::Wait { .. } => None,
        }
    }

    /// How many of the warp's latest copies a wait leaves under way, where it counts them.
    pub fn counted(self) -> Option<u32> {
        match self {
            Self::Wait { copies, .. } => copies,
            Self::Begin { .. } | Self::Commit => None,
        }
    }

    /// Whether it begins a copy whose lanes write side by side.
    pub fn is_run(self) -> bool {
        match self {
            Self::Begin { run, .. } => run,
            Self::Commit | Self::Wait { .. } => false,
        }
    }
}

impl Op {
    /// Whether it begins a copy whose lanes write side by side.
    pub(crate) fn is_run(&self) -> bool {
        matches!(self, Op::AsyncCopy(copy) if copy.is_run())
    }

    /// Lets a wait for copies count them.
    pub(crate) fn count_copies(&mut self, latest: u32) {
        if let Op::AsyncCopy(AsyncCopy::Wait { copies, .. }) = self {
            *copies = Some(latest);
        }
    }
}

impl Family for AsyncCopy {
    const FORMS: &'static [Self] = &[
        Self::Begin { bytes: 0, offset: 0, run: false, predicated: false, filled: false },
        Self::Commit,
        // The longer name first: a text of the shorter one has no such part.
        Self::Wait { pending: 0, copies: Some(0) },
        Self::Wait { pending: 0, copies: None },
    ];

    fn effects(&self) -> Effects {
        let none = Effects::NONE;
        match self {
            Self::Begin { bytes: _, offset: _, run: _, predicated: _, filled: _ } => Effects {
                reads: Spaces::GLOBAL,
                writes: Spaces::SHARED,
                tokens: Tokens::Starts,
                ..none
            },
            Self::Commit => Effects { tokens: Tokens::Commits, ..none },
            // What the copies write is there only now, as if the wait wrote it.
            Self::Wait { pending, copies: _ } => Effects {
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
            Self::Begin { bytes, offset, run, predicated, filled } => {
                text.word("async.copy")?;
                text.number(bytes)?;
                text.offset(offset)?;
                text.mark("run", run)?;
                text.mark("if", predicated)?;
                text.mark("filled", filled)
            }
            Self::Commit => text.word("async.commit"),
            Self::Wait { pending, copies } => {
                text.word("async.wait")?;
                if let Some(copies) = copies {
                    text.word(".copies")?;
                    text.number(copies)?;
                }
                text.behind(pending)
            }
        }
    }
}
