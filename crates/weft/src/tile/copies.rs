//! Asynchronous copies from global to shared memory.
//!
//! Copies make groups; a wait is for the oldest of these. What is copied is read when the copy is met, and may be
//! looked at after a wait that covers its group.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::effects::{Effects, Tokens, Touch};
use super::form::{Form, Operand};
use super::local::{are_tokens, is_mutable};
use super::pointers::ByPointers;
use super::{Element, Type};
use crate::cache::Cache;
use crate::dtype::DType;

/// How an asynchronous copy behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CopyOptions {
    /// At which levels the line is kept, and how long.
    pub cache: Cache,
    /// Whether every execution must go to memory.
    pub volatile: bool,
    /// Whether a mask stands behind the memory.
    pub masked: bool,
}

/// A step of asynchronous copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AsyncCopy {
    /// `(pointers, memory, [mask, [other]]) -> (token)`: begins to copy from global to shared memory; zeros stand
    /// where the mask is false and no other value is given.
    Begin(CopyOptions),
    /// `(tokens) -> (token)`: makes a group of the copies since the last one.
    Commit,
    /// `(tokens) -> (token)`: waits until only so many of the latest groups may be under way.
    Wait {
        /// How many groups may still be under way.
        pending: u32,
    },
}

/// What a copy is begun with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun<V> {
    pub(crate) pointers: V,
    pub(crate) memory: V,
    pub(crate) mask: Option<V>,
    /// What stands where the mask is false, if that is not zero.
    pub(crate) other: Option<V>,
}

impl<V: Clone> Begun<V> {
    /// The operands of [`AsyncCopy::Begin`], by what they are.
    pub(crate) fn of(options: CopyOptions, operands: &[V]) -> Option<Self> {
        let [pointers, memory, rest @ ..] = operands else { return None };
        let (mask, other) = rest.split_at_checked(usize::from(options.masked))?;
        let (mask, other) = (mask.first().cloned(), other.first().cloned());
        Some(Self { pointers: pointers.clone(), memory: memory.clone(), mask, other })
    }
}

impl AsyncCopy {
    /// What it copies, if it begins to copy something.
    pub(crate) fn begun<V: Clone>(self, operands: &[V]) -> Option<Begun<V>> {
        match self {
            Self::Begin(options) => Begun::of(options, operands),
            Self::Commit | Self::Wait { .. } => None,
        }
    }

    /// One of each form: what the parser knows.
    pub(super) fn all() -> [Self; 3] {
        [Self::Begin(CopyOptions::default()), Self::Commit, Self::Wait { pending: 0 }]
    }

    /// Triton's name.
    pub(super) fn spelled(self) -> &'static str {
        match self {
            Self::Begin(_) => "ttg.async_copy_global_to_local",
            Self::Commit => "ttg.async_commit_group",
            Self::Wait { .. } => "ttg.async_wait",
        }
    }

    /// The operation's name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Begin(_) => "async_copy",
            Self::Commit => "async_commit",
            Self::Wait { .. } => "async_wait",
        }
    }

    /// What it does besides computing its results.
    pub(super) fn effects(self) -> Effects {
        let none = Effects::NONE;
        match self {
            Self::Begin(options) => Effects {
                global: Touch::READS,
                local: Touch::WRITES,
                tokens: Tokens::Starts,
                visible: options.volatile,
                ..none
            },
            Self::Commit => Effects { tokens: Tokens::Commits, ..none },
            Self::Wait { pending } => Effects { tokens: Tokens::Awaits { pending }, ..none },
        }
    }

    /// How it accesses global memory by pointers, if it does.
    pub(super) fn by_pointers(self) -> Option<ByPointers> {
        match self {
            Self::Begin(_) => Some(ByPointers::Copy),
            Self::Commit | Self::Wait { .. } => None,
        }
    }

    /// Whether operands and results are as it asks, and what it asks.
    pub(super) fn rule(self, operands: &[&Type], results: &[&Type]) -> (bool, &'static str) {
        match self {
            Self::Begin(options) => (
                match (operands, results) {
                    ([p, m, rest @ ..], [token]) => {
                        let (mask, other) =
                            rest.split_at(usize::from(options.masked).min(rest.len()));
                        p.is_tensor()
                            && p.element.pointee().map(Element::Scalar) == Some(m.element)
                            && m.memory().is_some()
                            && m.shape == p.shape
                            && is_mutable(m)
                            && mask.len() == usize::from(options.masked)
                            && mask
                                .iter()
                                .all(|x| **x == p.with_element(Element::Scalar(DType::I1)))
                            && matches!(other, [] | [_])
                            && (other.is_empty() || options.masked)
                            && other.iter().all(|x| **x == p.with_element(m.element))
                            && are_tokens(&[*token])
                    }
                    _ => false,
                },
                "takes pointers, mutable memory for what they point to, a mask i1 and other values, and \
             gives a token",
            ),
            Self::Commit | Self::Wait { .. } => (
                are_tokens(operands) && matches!(results, [token] if are_tokens(&[*token])),
                "takes tokens and gives one",
            ),
        }
    }

    /// Goes through its text from behind its name.
    pub(super) fn text<F: Form>(&mut self, form: &mut F) -> Result<(), F::Error> {
        match self {
            Self::Begin(CopyOptions { cache, volatile, masked }) => {
                form.operands(&[Operand::Pointers, Operand::Memory])?;
                form.behind("mask", Operand::Mask, Some(masked))?;
                form.behind("other", Operand::Other, None)?;
                form.cache(cache)?;
                form.truth("isVolatile", volatile)?;
                form.short_types(&[Operand::Pointers, Operand::Memory])?;
                // How many neighbours may be copied at once is found anew.
                form.ignored(&["contiguity", "operandSegmentSizes"])?;
            }
            Self::Commit => form.further(Some("tokens"), Operand::Token)?,
            Self::Wait { pending } => {
                form.further(None, Operand::Token)?;
                form.number("num", pending)?;
            }
        }
        form.gives(Some(Operand::Token))
    }
}
