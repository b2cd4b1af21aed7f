//! The text of an operation, told once for both ways.
//!
//! An operation's file goes through its text by the steps of a [`Form`]; the parser reads and the printer writes
//! by them. What is read is put where what is written is taken from.

use super::{AsyncCopy, LocalOp, OpKind};
use crate::cache::Cache;

/// What an operand or a result is to the operation that has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    /// Pointers to elements of global memory.
    Pointers,
    /// Shared memory.
    Memory,
    /// The same memory, in part or described anew.
    View,
    /// A tensor as the memory holds.
    Tensor,
    /// Which of several buffers.
    Index,
    /// A truth value for each pointer.
    Mask,
    /// A value for each pointer, for where the mask is false.
    Other,
    /// That copies have begun, or were waited for.
    Token,
}

/// Goes through the text of an operation.
pub(crate) trait Form {
    /// Why it cannot go on.
    type Error;

    /// The operation's name.
    fn begins(&mut self, name: &str) -> Result<(), Self::Error>;

    /// These operands, with commas between them.
    fn operands(&mut self, operands: &[Operand]) -> Result<(), Self::Error>;

    /// An operand behind a word of its own, if it is there; where nothing says whether, it is the last one.
    fn behind(
        &mut self,
        word: &str,
        operand: Operand,
        is_there: Option<&mut bool>,
    ) -> Result<(), Self::Error>;

    /// All further operands; where a word is given, it stands in front of them if there are any.
    fn further(&mut self, word: Option<&str>, operand: Operand) -> Result<(), Self::Error>;

    /// The attributes that say how lines are cached.
    fn cache(&mut self, cache: &mut Cache) -> Result<(), Self::Error>;

    /// An attribute that is there where something holds.
    fn truth(&mut self, name: &str, holds: &mut bool) -> Result<(), Self::Error>;

    /// An attribute that is a number.
    fn number(&mut self, name: &str, number: &mut u32) -> Result<(), Self::Error>;

    /// An operand in brackets, right behind the one before it.
    fn index(&mut self, operand: Operand) -> Result<(), Self::Error>;

    /// Numbers in brackets, right behind the operand before them.
    fn offsets(&mut self, offsets: &mut Vec<u64>) -> Result<(), Self::Error>;

    /// The attribute that says in which order dimensions are.
    fn order(&mut self, order: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Attributes that may stand there, and of which nothing hangs.
    fn ignored(&mut self, names: &[&str]) -> Result<(), Self::Error>;

    /// Some types, `: T -> U`, from which those of other operands and results follow.
    fn types(&mut self, of: &[Operand]) -> Result<(), Self::Error>;

    /// The same, without the name of the type where it is that of memory.
    fn short_types(&mut self, of: &[Operand]) -> Result<(), Self::Error>;

    /// What the operation gives: the end of a text with [`Form::types`], or without any.
    fn gives(&mut self, result: Option<Operand>) -> Result<(), Self::Error>;

    /// The types of all operands and of what the operation gives, `: (T, U) -> V`: the end of a text.
    fn function(&mut self, result: Operand) -> Result<(), Self::Error>;
}

/// The names of the operations that are told so, each with one of those that have it.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, OpKind)> {
    let copies = AsyncCopy::all().map(|op| (op.spelled(), OpKind::AsyncCopy(op)));
    let local = LocalOp::all().map(|op| (op.spelled(), OpKind::Local(op)));
    copies.into_iter().chain(local)
}

impl OpKind {
    /// The name and then the text of an operation that is told so, by who reads or writes it.
    pub(crate) fn text<F: Form>(&mut self, form: &mut F) -> Result<(), F::Error> {
        match self {
            OpKind::AsyncCopy(op) => {
                form.begins(op.spelled())?;
                op.text(form)
            }
            OpKind::Local(op) => {
                form.begins(op.spelled())?;
                op.text(form)
            }
            // Others have texts of their own.
            _ => Ok(()),
        }
    }
}
