//! The text of an operation, told once for both ways.
//!
//! An operation's file goes through its text by the steps of a [`Form`]; the parser reads and the printer writes
//! by them. What is read is put where what is written is taken from.

use super::{AsyncCopy, OpKind};
use crate::cache::Cache;

/// What an operand or a result is to the operation that has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    /// Pointers to elements of global memory.
    Pointers,
    /// Shared memory, with room for what the pointers point to.
    Memory,
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

    /// The types of two operands, `: T -> U`, from which those of the others follow.
    fn types(&mut self, of: [Operand; 2]) -> Result<(), Self::Error>;

    /// What the operation gives.
    fn gives(&mut self, result: Operand) -> Result<(), Self::Error>;
}

/// The names of the operations that are told so, each with one of those that have it.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, OpKind)> {
    AsyncCopy::all().into_iter().map(|op| (op.spelled(), OpKind::AsyncCopy(op)))
}

impl OpKind {
    /// The name and then the text of an operation that is told so, by who reads or writes it.
    pub(crate) fn text<F: Form>(&mut self, form: &mut F) -> Result<(), F::Error> {
        match self {
            OpKind::AsyncCopy(op) => {
                form.begins(op.spelled())?;
                op.text(form)
            }
            // Others have texts of their own.
            _ => Ok(()),
        }
    }
}
