//! The instructions that a probe times, and how each is written in PTX.
//!
//! Each stands in a loop over eight *slots*: register sets of their own, so that eight in a row are
//! independent. What an instruction reads changes from one time round to the next (its own result, or
//! memory that is volatile), and every result is read, so that the assembler can move nothing out of
//! the loop, and neither share nor drop it.

use std::fmt::{self, Write};

/// How many instructions in a row are independent.
pub(super) const SLOTS: usize = 8;

/// An instruction that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// A load of shared memory of so many bytes a lane.
    Load(u32),
    /// A store to shared memory of so many bytes a lane.
    Store(u32),
    /// `ldmatrix` of so many matrices.
    LoadMatrix {
        /// How many matrices it loads.
        count: u32,
        /// Whether each is transposed.
        transposed: bool,
    },
    /// `stmatrix` of so many matrices.
    StoreMatrix {
        /// How many matrices it stores.
        count: u32,
        /// Whether each is transposed.
        transposed: bool,
    },
    /// A shuffle from any lane.
    ShuffleIndex,
    /// A shuffle from the lane that differs by a mask.
    ShuffleXor,
    /// A permutation of the bytes of two registers.
    Permute,
    /// A logic operation of three operands.
    Logic,
    /// A select by a predicate.
    Select,
    /// An integer product and sum.
    Multiply,
    /// A product and sum of floats, of which a multiprocessor does as many as it can issue.
    Fma,
    /// A barrier of a warp.
    WarpBarrier,
    /// A barrier of a block.
    BlockBarrier,
}

impl fmt::Display for Instruction {
    /// Writes the mnemonic, as PTX spells it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Instruction::Load(bytes) => write!(f, "ld.shared.{}", width(bytes)),
            Instruction::Store(bytes) => write!(f, "st.shared.{}", width(bytes)),
            Instruction::LoadMatrix { count, transposed } => {
                write!(f, "ldmatrix.x{count}{}", if transposed { ".trans" } else { "" })
            }
            Instruction::StoreMatrix { count, transposed } => {
                write!(f, "stmatrix.x{count}{}", if transposed { ".trans" } else { "" })
            }
            Instruction::ShuffleIndex => f.write_str("shfl.sync.idx"),
            Instruction::ShuffleXor => f.write_str("shfl.sync.bfly"),
            Instruction::Permute => f.write_str("prmt.b32"),
            Instruction::Logic => f.write_str("lop3.b32"),
            Instruction::Select => f.write_str("selp.b32"),
            Instruction::Multiply => f.write_str("mad.lo.u32"),
            Instruction::Fma => f.write_str("fma.rn.f32"),
            Instruction::WarpBarrier => f.write_str("bar.warp.sync"),
            Instruction::BlockBarrier => f.write_str("bar.sync"),
        }
    }
}

/// The type and vector of an access of so many bytes.
fn width(bytes: u32) -> &'static str {
    match bytes {
        1 => "u8",
        2 => "u16",
        4 => "u32",
        8 => "v2.u32",
        _ => "v4.u32",
    }
}

impl Instruction {
    /// The oldest compute capability that has it.
    pub(super) fn since(self) -> u32 {
        match self {
            Instruction::StoreMatrix { .. } => 90,
            Instruction::LoadMatrix { .. } => 75,
            _ => 70,
        }
    }

    /// Whether it reads what a load beside it gave; else the load's result is folded by a logic
    /// operation of its own.
    pub(super) fn consumes(self) -> bool {
        matches!(self, Instruction::Permute | Instruction::Fma)
    }

    /// Writes it into a loop; `place` counts the instructions of its kind in the loop's body, and
    /// `loaded` is the slot of a load beside it that somebody must read.
    pub(super) fn write(self, text: &mut String, place: usize, loaded: Option<usize>) {
        let slot = place % SLOTS;
        let operand = loaded.map_or("%seed0".into(), |slot| format!("%l{slot}_0"));
        let real = loaded.map_or("%real".into(), |slot| format!("%l{slot}_0"));
        let registers = |name: &str, count: u32| -> String {
            let all: Vec<String> = (0..count).map(|i| format!("%{name}{slot}_{i}")).collect();
            if count == 1 { all.concat() } else { format!("{{{}}}", all.join(", ")) }
        };
        let seeds = |count: u32| -> String {
            let all: Vec<String> = (0..count).map(|i| format!("%seed{i}")).collect();
            if count == 1 { all.concat() } else { format!("{{{}}}", all.join(", ")) }
        };
        let trans = |transposed: bool| if transposed { ".trans" } else { "" };
        // Memory that text is written to does not fail.
        let _ = match self {
            Instruction::Load(bytes) => {
                let words = bytes.div_ceil(4);
                let to = registers("l", words);
                let _ = writeln!(text, "  ld.volatile.shared.{} {to}, [%address];", width(bytes));
                fold(text, slot, if loaded.is_some() { 0 } else { words })
            }
            Instruction::Store(bytes) => {
                let from = seeds(bytes.div_ceil(4));
                writeln!(text, "  st.volatile.shared.{} [%address], {from};", width(bytes))
            }
            Instruction::LoadMatrix { count, transposed } => {
                let (to, trans) = (braced(&registers("l", count)), trans(transposed));
                // Equal loads of memory that is not volatile would be one.
                let _ = writeln!(text, "  add.u32 %at{slot}, %at{slot}, %zero;");
                let _ =
                    writeln!(text, "  ld{MATRIX}.x{count}{trans}.shared.b16 {to}, [%at{slot}];");
                fold(text, slot, count)
            }
            Instruction::StoreMatrix { count, transposed } => {
                let (from, trans) = (braced(&seeds(count)), trans(transposed));
                writeln!(text, "  st{MATRIX}.x{count}{trans}.shared.b16 [%address], {from};")
            }
            Instruction::ShuffleIndex => {
                writeln!(text, "  shfl.sync.idx.b32 %x{slot}, %x{slot}, %other, 31, 0xffffffff;")
            }
            Instruction::ShuffleXor => {
                writeln!(text, "  shfl.sync.bfly.b32 %x{slot}, %x{slot}, 5, 31, 0xffffffff;")
            }
            Instruction::Permute => {
                writeln!(text, "  prmt.b32 %p{slot}, %p{slot}, {operand}, %selector;")
            }
            Instruction::Logic => {
                writeln!(text, "  lop3.b32 %o{slot}, %o{slot}, %seed0, %seed1, 0x6a;")
            }
            // Pairs of slots change places where the predicate holds.
            Instruction::Select => {
                let (read, written) =
                    if (place / SLOTS).is_multiple_of(2) { ("e", "f") } else { ("f", "e") };
                let other = slot ^ 1;
                writeln!(text, "  selp.b32 %{written}{slot}, %{read}{slot}, %{read}{other}, %odd;")
            }
            Instruction::Multiply => {
                writeln!(text, "  mad.lo.u32 %m{slot}, %m{slot}, %seed0, %seed1;")
            }
            Instruction::Fma => writeln!(text, "  fma.rn.f32 %g{slot}, %g{slot}, {real}, %real;"),
            Instruction::WarpBarrier => writeln!(text, "  bar.warp.sync 0xffffffff;"),
            Instruction::BlockBarrier => writeln!(text, "  bar.sync 0;"),
        };
    }
}

/// The middle of a matrix move's mnemonic.
const MATRIX: &str = "matrix.sync.aligned.m8n8";

/// Reads what a load gave, so that it is not dropped.
fn fold(text: &mut String, slot: usize, words: u32) -> fmt::Result {
    (0..words).try_for_each(|i| writeln!(text, "  xor.b32 %k{slot}, %k{slot}, %l{slot}_{i};"))
}

/// Registers of a matrix move, which has braces even around one.
fn braced(registers: &str) -> String {
    if registers.starts_with('{') { registers.into() } else { format!("{{{registers}}}") }
}
