//! Families of operations: what is told of an operation in one place.
//!
//! An operation of a family stands in the family's file and in no other of the lane program's: what its operands
//! are, what it does besides computing its results, and its text, once for both ways. The verifier, the table of
//! effects, the reader and the printer ask the family, and whoever needs one of its operands asks for it by what
//! it is ([`InstData::operand`]).

use super::text::space_name;
use super::{
    AsyncCopy, AtomicAccess, BulkCopy, Effects, InstData, MakeMap, MatrixMultiply, Mbarrier, Op,
    ScaledMultiply, Space, SyncOp, TensorCopy, Value, WarpgroupOp,
};
use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::dtype::DType;
use core::fmt::{self, Write};
use smallvec::SmallVec;

/// What an operand is to the operation that has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// An address in a memory.
    Address(Space),
    /// Where it takes place.
    Predicate,
    /// Where a copy brings what is there, and not zeros.
    Filled,
    /// The address of the mbarrier that counts what is copied.
    Mbarrier,
    /// How many bytes are copied, or announced.
    Bytes,
    /// The low bit of a phase's number.
    Parity,
}

impl Operand {
    /// The type of such an operand.
    pub fn dtype(self) -> DType {
        match self {
            Operand::Address(Space::Global) => DType::I64,
            Operand::Address(Space::Shared) | Operand::Mbarrier | Operand::Bytes => DType::I32,
            Operand::Predicate | Operand::Filled | Operand::Parity => DType::I1,
        }
    }
}

/// What an operation's first operands are, in their order; values that it moves follow.
pub type Operands = SmallVec<[Operand; 4]>;

/// Operands that every operation of a kind has, and further ones that are there where something holds.
pub(super) fn listed(all: &[Operand], optional: &[(Operand, bool)]) -> Operands {
    let present = optional.iter().filter(|(_, is_there)| *is_there).map(|(operand, _)| *operand);
    all.iter().copied().chain(present).collect()
}

/// A family of operations.
pub(super) trait Family: Clone + 'static {
    /// An operation of each form, with any numbers: what the reader tries.
    const FORMS: &'static [Self];

    /// What it does besides computing its results.
    fn effects(&self) -> Effects;

    /// What its first operands are.
    fn operands(&self) -> Operands;

    /// Whether the values that it moves, which are its further operands, and its results are as it asks, and its
    /// numbers within their bounds.
    fn is_sound(&self, values: &[DType], results: &[DType]) -> bool;

    /// Goes through its text.
    fn text(&mut self, text: &mut dyn Text) -> Told;

    /// Whether operands and results have the types that the operation asks for.
    fn is_typed(&self, operands: &[DType], results: &[DType]) -> bool {
        let wanted = self.operands();
        let Some((known, values)) = operands.split_at_checked(wanted.len()) else { return false };
        let wanted = wanted.iter().map(|operand| operand.dtype());
        known.iter().copied().eq(wanted) && self.is_sound(values, results)
    }

    /// Writes its text.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.clone().text(&mut Printed(f)).map_err(|Differs| fmt::Error)
    }

    /// The operation of a text: its name, and the words behind it; none where that is no text of the family.
    fn read(name: &str, next: Next<'_>) -> Option<Self> {
        Self::FORMS.iter().find_map(|form| {
            let (mut op, mut text) = (form.clone(), Scanned { name, next });
            op.text(&mut text).ok()?;
            text.name.is_empty().then_some(op)
        })
    }

    /// How the family's texts look: `async.copy.N[+N][.run][.if][.filled]`.
    fn forms() -> impl Iterator<Item = String> {
        Self::FORMS.iter().filter_map(|form| {
            let mut text = Described(String::new());
            form.clone().text(&mut text).ok().map(|()| text.0)
        })
    }
}

/// Gives the words behind an operation's name, one after the other.
pub(super) type Next<'a> = &'a mut dyn FnMut() -> Option<String>;

/// The text is another than that of the operation.
#[derive(Debug)]
pub(super) struct Differs;

/// Whether a text goes on as the operation says.
pub(super) type Told = Result<(), Differs>;

/// The text of an operation, as one reads or writes it: parts of its name, which dots divide, and a number behind
/// it. What is read is put where what is written is taken from.
pub(super) trait Text {
    /// These parts of the name.
    fn word(&mut self, word: &str) -> Told;
    /// A part that is a number.
    fn number(&mut self, number: &mut u32) -> Told;
    /// A part that is one of some words.
    fn choice(&mut self, what: &str, choice: &mut dyn Choice) -> Told;
    /// An offset in brackets, where it is not zero.
    fn offset(&mut self, offset: &mut i32) -> Told;
    /// A part that stands there where something holds.
    fn mark(&mut self, mark: &str, holds: &mut bool) -> Told;
    /// A part that is several numbers with `x` between them.
    fn sizes(&mut self, sizes: &mut [u32]) -> Told;
    /// A number behind the name.
    fn behind(&mut self, number: &mut u32) -> Told;
    /// A word behind the name.
    fn said(&mut self, word: &str) -> Told;
}

/// One of several things that have names.
pub(super) trait Choice {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Becomes the thing of a name, if there is one.
    fn choose(&mut self, name: &str) -> Told;
}

/// The things of a type that has names.
macro_rules! choices {
    ($($type:ty),+) => {$(
        impl Choice for $type {
            fn name(&self) -> &'static str {
                <$type>::name(*self)
            }

            fn choose(&mut self, name: &str) -> Told {
                *self = <$type>::by_name(name).ok_or(Differs)?;
                Ok(())
            }
        }
    )+};
}

choices!(Atomic, DType, Order, Rmw, Scope);

impl Choice for Space {
    fn name(&self) -> &'static str {
        space_name(*self)
    }

    fn choose(&mut self, name: &str) -> Told {
        let spaces = [Space::Global, Space::Shared];
        *self = spaces.into_iter().find(|&of| space_name(of) == name).ok_or(Differs)?;
        Ok(())
    }
}

/// A text that is written.
struct Printed<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Printed<'_, '_> {
    fn put(&mut self, text: fmt::Arguments<'_>) -> Told {
        self.0.write_fmt(text).map_err(|_| Differs)
    }
}

impl Text for Printed<'_, '_> {
    fn word(&mut self, word: &str) -> Told {
        self.put(format_args!("{word}"))
    }

    fn number(&mut self, number: &mut u32) -> Told {
        self.put(format_args!(".{number}"))
    }

    fn choice(&mut self, _: &str, choice: &mut dyn Choice) -> Told {
        self.put(format_args!(".{}", choice.name()))
    }

    fn offset(&mut self, offset: &mut i32) -> Told {
        if *offset == 0 { Ok(()) } else { self.put(format_args!("[{offset:+}]")) }
    }

    fn mark(&mut self, mark: &str, holds: &mut bool) -> Told {
        if *holds { self.put(format_args!(".{mark}")) } else { Ok(()) }
    }

    fn sizes(&mut self, sizes: &mut [u32]) -> Told {
        let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        self.put(format_args!(".{}", sizes.join("x")))
    }

    fn behind(&mut self, number: &mut u32) -> Told {
        self.put(format_args!(" {number}"))
    }

    fn said(&mut self, word: &str) -> Told {
        self.put(format_args!(" {word}"))
    }
}

/// A text that is read: what is left of the name, and the words behind it.
struct Scanned<'a, 'n> {
    name: &'a str,
    next: Next<'n>,
}

impl<'a> Scanned<'a, '_> {
    /// The next part of the name.
    fn part(&mut self) -> Result<&'a str, Differs> {
        let rest = self.name.strip_prefix('.').ok_or(Differs)?;
        let (part, rest) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
        self.name = rest;
        Ok(part)
    }
}

impl Text for Scanned<'_, '_> {
    fn word(&mut self, word: &str) -> Told {
        let rest = self.name.strip_prefix(word).ok_or(Differs)?;
        self.name = rest;
        if rest.is_empty() || rest.starts_with('.') { Ok(()) } else { Err(Differs) }
    }

    fn number(&mut self, number: &mut u32) -> Told {
        *number = self.part()?.parse().map_err(|_| Differs)?;
        Ok(())
    }

    fn choice(&mut self, _: &str, choice: &mut dyn Choice) -> Told {
        choice.choose(self.part()?)
    }

    fn offset(&mut self, offset: &mut i32) -> Told {
        let Some(rest) = self.name.strip_prefix('[') else {
            *offset = 0;
            return Ok(());
        };
        let (number, rest) = rest.split_once(']').ok_or(Differs)?;
        *offset = number.parse().map_err(|_| Differs)?;
        self.name = rest;
        Ok(())
    }

    fn mark(&mut self, mark: &str, holds: &mut bool) -> Told {
        let rest = self.name.strip_prefix('.').and_then(|rest| rest.strip_prefix(mark));
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('.'));
        *holds = rest.is_some();
        self.name = rest.unwrap_or(self.name);
        Ok(())
    }

    fn sizes(&mut self, sizes: &mut [u32]) -> Told {
        let told: Vec<&str> = self.part()?.split('x').collect();
        if told.len() != sizes.len() {
            return Err(Differs);
        }
        for (size, told) in sizes.iter_mut().zip(told) {
            *size = told.parse().map_err(|_| Differs)?;
        }
        Ok(())
    }

    fn said(&mut self, word: &str) -> Told {
        if (self.next)().is_some_and(|said| said == word) { Ok(()) } else { Err(Differs) }
    }

    fn behind(&mut self, number: &mut u32) -> Told {
        *number = (self.next)().and_then(|word| word.parse().ok()).ok_or(Differs)?;
        Ok(())
    }
}

/// What a text looks like, for who wrote another.
struct Described(String);

impl Text for Described {
    fn word(&mut self, word: &str) -> Told {
        self.0.push_str(word);
        Ok(())
    }

    fn number(&mut self, _: &mut u32) -> Told {
        self.0.push_str(".N");
        Ok(())
    }

    fn choice(&mut self, what: &str, _: &mut dyn Choice) -> Told {
        write!(self.0, ".{what}").map_err(|_| Differs)
    }

    fn offset(&mut self, _: &mut i32) -> Told {
        self.0.push_str("[+N]");
        Ok(())
    }

    fn mark(&mut self, mark: &str, _: &mut bool) -> Told {
        write!(self.0, "[.{mark}]").map_err(|_| Differs)
    }

    fn sizes(&mut self, sizes: &mut [u32]) -> Told {
        let sizes = vec!["N"; sizes.len()].join("x");
        write!(self.0, ".{sizes}").map_err(|_| Differs)
    }

    fn behind(&mut self, _: &mut u32) -> Told {
        self.0.push_str(" N");
        Ok(())
    }

    fn said(&mut self, word: &str) -> Told {
        write!(self.0, " {word}").map_err(|_| Differs)
    }
}

/// The operation of a family that a text tells of, by its name and the words behind it.
pub(super) fn read(name: &str, next: Next<'_>) -> Option<Op> {
    None.or_else(|| AsyncCopy::read(name, next).map(Op::AsyncCopy))
        .or_else(|| AtomicAccess::read(name, next).map(Op::Atomic))
        .or_else(|| Mbarrier::read(name, next).map(Op::Mbarrier))
        .or_else(|| BulkCopy::read(name, next).map(Op::BulkCopy))
        .or_else(|| TensorCopy::read(name, next).map(Op::TensorCopy))
        .or_else(|| WarpgroupOp::read(name, next).map(Op::Warpgroup))
        .or_else(|| SyncOp::read(name, next).map(Op::Sync))
        .or_else(|| MatrixMultiply::read(name, next).map(Op::MatrixMultiply))
        .or_else(|| ScaledMultiply::read(name, next).map(Op::ScaledMultiply))
        .or_else(|| MakeMap::read(name, next).map(Op::MakeMap))
}

/// How the texts of operations whose names begin with a word look, as far as families tell of them.
pub(super) fn forms(first: &str) -> Vec<String> {
    let begins = |form: &String| {
        let rest = form.strip_prefix(first);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ']))
    };
    let copies = AsyncCopy::forms().chain(BulkCopy::forms()).chain(TensorCopy::forms());
    let others = AtomicAccess::forms().chain(Mbarrier::forms());
    let others = others.chain(SyncOp::forms()).chain(MakeMap::forms());
    let products = WarpgroupOp::forms().chain(MatrixMultiply::forms());
    let products = products.chain(ScaledMultiply::forms());
    copies.chain(others).chain(products).filter(begins).collect()
}

impl Op {
    /// What the first operands of an operation of a family are; empty for others.
    pub fn known_operands(&self) -> Operands {
        match self {
            Op::AsyncCopy(op) => op.operands(),
            Op::Atomic(op) => op.operands(),
            Op::Mbarrier(op) => op.operands(),
            Op::BulkCopy(op) => op.operands(),
            Op::TensorCopy(op) => op.operands(),
            Op::Warpgroup(op) => op.operands(),
            Op::Sync(op) => op.operands(),
            Op::MatrixMultiply(op) => op.operands(),
            Op::ScaledMultiply(op) => op.operands(),
            Op::MakeMap(op) => op.operands(),
            _ => Operands::new(),
        }
    }
}

impl InstData {
    /// The operand that is this to the operation, if it has one.
    pub fn operand(&self, what: Operand) -> Option<Value> {
        let at = self.op.known_operands().iter().position(|&known| known == what)?;
        self.operands.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use crate::lane::read;
    use expect_test::expect;

    /// What is said of an operation whose text is none.
    fn told(op: &str) -> String {
        let text = format!("lane @f() warps 1 lanes 32 shared 0 {{\n  {op}\n  return\n}}\n");
        read(&text, "f").map_or_else(|error| error.message, |program| program.to_string())
    }

    #[test]
    fn a_slip_in_a_name_is_answered_with_what_there_is() {
        let slips = [
            "async.copy.x",
            "async.copy.16.filled.if",
            "async.copy.16[+4",
            "async.wait",
            "async.committed",
            "atomic.global.add.relaxed",
            "atomic.shared.swap.relaxed.gpu",
            "atomics",
            "mbarrier.waits",
            "bulk.wait.read 1",
            "tensor.copy.exchange.to.global 2",
            "barrier.wait 1 for 2",
            "barrier.wait 300 of 2",
            "fence.acquire",
            "warpgroup.multiply.64.f32.f16.f16",
            "mma.16x8.f32.f16.f16",
        ];
        let told: Vec<String> = slips.map(told).into();
        expect![[r#"
            `async.copy.x` is no operation: such are `async.copy.N[+N][.run][.if][.filled]`, `async.commit`, `async.wait.copies.N N`, `async.wait N`
            `async.copy.16.filled.if` is no operation: such are `async.copy.N[+N][.run][.if][.filled]`, `async.commit`, `async.wait.copies.N N`, `async.wait N`
            `async.copy.16[+4` is no operation: such are `async.copy.N[+N][.run][.if][.filled]`, `async.commit`, `async.wait.copies.N N`, `async.wait N`
            `async.wait` is no operation: such are `async.copy.N[+N][.run][.if][.filled]`, `async.commit`, `async.wait.copies.N N`, `async.wait N`
            `async.committed` is no operation: such are `async.copy.N[+N][.run][.if][.filled]`, `async.commit`, `async.wait.copies.N N`, `async.wait N`
            `atomic.global.add.relaxed` is no operation: such are `atomic.MEMORY.OPERATION.ORDER.SCOPE[.if]`
            `atomic.shared.swap.relaxed.gpu` is no operation: such are `atomic.MEMORY.OPERATION.ORDER.SCOPE[.if]`
            `atomics` is no operation
            `mbarrier.waits` is no operation: such are `mbarrier.initialise N`, `mbarrier.arrive`, `mbarrier.expect`, `mbarrier.wait`, `mbarrier.invalidate`
            `bulk.wait.read` is no operation: such are `bulk.copy.to.shared`, `bulk.copy.to.global`, `bulk.commit`, `bulk.wait[.reads] N`
            `tensor.copy.exchange.to.global` is no operation: such are `tensor.copy.to.shared N`, `tensor.copy.to.global N`, `tensor.copy.OPERATION.to.global N`, `tensor.map[.nan] N`
            `barrier.wait` is no operation: such are `barrier.warp`, `barrier.block`, `barrier.wait N of N`, `barrier.arrive N of N`
            `barrier.wait` is no operation: such are `barrier.warp`, `barrier.block`, `barrier.wait N of N`, `barrier.arrive N of N`
            `fence.acquire` is no operation: such are `fence.proxy`, `fence.ORDER.SCOPE`
            `warpgroup.multiply.64.f32.f16.f16` is no operation: such are `warpgroup.multiply.NxN.SUM.LEFT.RIGHT[.registers][.transposed.left][.transposed.right][.if]`, `warpgroup.fence`, `warpgroup.commit`, `warpgroup.wait N`
            `mma.16x8.f32.f16.f16` is no operation: such are `mma.NxNxN.SUM.LEFT.RIGHT`"#]].assert_eq(&told.join("\n"));
    }
}
