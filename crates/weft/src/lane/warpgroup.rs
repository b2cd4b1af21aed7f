//! Products of matrices in shared memory, by a warpgroup.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::effects::{Effects, Extent, Latency, Participants, Proxy, Spaces, Step, Tokens};
use super::family::{Differs, Family, Operands, Text, Told};
use super::{Builder, Op, Program, Value};
use crate::dtype::DType;
use smallvec::{SmallVec, smallvec};

/// A step of the products that a warpgroup has in flight.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WarpgroupOp {
    /// `(left, right, [keep], accumulators) -> accumulators`: begins a product of matrices that the four warps
    /// add to the accumulators. The results are *in flight*.
    Multiply(WarpgroupMultiply),
    /// `()`: what the warpgroup's threads wrote to registers before is what products begun after see.
    Fence,
    /// `()`: closes the warpgroup's open group of products.
    Commit,
    /// `(values) -> values`: waits until only so many of the warpgroup's latest groups of products may be in
    /// flight. The results are the operands, no longer in flight; what is not listed stays so.
    Wait {
        /// How many groups may still be in flight: at most [`WarpgroupOp::MAX_PENDING`].
        pending: u32,
    },
}

/// A product of two matrices added to a third: `wgmma.mma_async` of the PTX ISA, "Asynchronous Warpgroup
/// Level Matrix Instructions", of 64 rows. The four warps of a warpgroup (the first is a multiple of four)
/// execute it together; warp `w` of them has rows `16 w` to `16 w + 15`.
///
/// The right factor lies in shared memory, the left one there or in registers, the sum in registers.
/// What is said of a factor in memory is a *descriptor*, an i64 that is equal in all four warps:
///
/// | bits | field |
/// | --- | --- |
/// | 0 to 13 | the address of its first byte in shared memory, over 16 |
/// | 16 to 29 | leading stride in bytes, over 16 |
/// | 32 to 45 | other stride in bytes, over 16 |
/// | 49 to 51 | base offset: 0 where every atom is aligned to its size |
/// | 62 to 63 | bytes that are swizzled together: 0 none, 1 128, 2 64, 3 32 |
///
/// The address is that of the hardware: the program takes it from [`Op::SharedBase`](super::Op::SharedBase)
/// and what the text of a target adds to it.
///
/// In registers, with `group = lane / 4` and `quad = lane % 4`, a lane has of the left factor four words of
/// 32 bits as a [`MatrixMultiply`](super::MatrixMultiply) of 16 rows has them (of tf32, four f32), and of the
/// sum, row by `16 w`, number `j`: row `group + 8 (j / 2 % 2)`, column `2 quad + j % 2 + 8 (j / 4)`. Sums of
/// f16 are packed in pairs, the first in the low half.
///
/// # In flight
///
/// The product runs on by itself. From its operation until a [`WarpgroupOp::Wait`]
/// that lists them, its results may only be the accumulators of another product (all of them, in order),
/// be carried by a loop, or be handed over by an `if` or a break, each once; and the words of a left factor in
/// registers may not be defined anew.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WarpgroupMultiply {
    /// Columns of the right factor and of the sum: 8 to 256.
    pub columns: u16,
    /// How many products each sum gets: 32 bytes of a factor's numbers.
    pub summed: u8,
    /// The type of the left factor's numbers; an f32 counts as tf32.
    pub left: DType,
    /// The type of the right factor's numbers.
    pub right: DType,
    /// The type of the sums.
    pub sum: DType,
    /// Whether the left factor lies in registers.
    pub left_in_registers: bool,
    /// Whether consecutive numbers in memory of the left and the right factor go along the rows or columns,
    /// and not along the summed index; 16-bit types only.
    pub transposed: [bool; 2],
    /// Whether a truth value follows the right factor: where it is false the accumulators count as zero.
    /// It is equal in all four warps.
    pub keeps: bool,
}

impl WarpgroupMultiply {
    /// Rows of the left factor and of the sum.
    pub const ROWS: u32 = 64;
    /// Warps of a warpgroup.
    pub const WARPS: u32 = 4;

    /// Whether there is such an instruction.
    pub fn exists(self) -> bool {
        let Self { columns, summed, left, right, sum, left_in_registers, transposed, keeps: _ } =
            self;
        let wide = columns.is_multiple_of(8) && (8..=256).contains(&columns);
        let halves = left.bits() == 16;
        let typed = match (left, right, sum) {
            (DType::F16, DType::F16, DType::F16 | DType::F32)
            | (DType::BF16, DType::BF16, DType::F32)
            | (DType::F32, DType::F32, DType::F32) => true,
            (DType::I8, DType::I8, DType::I32) => columns <= 32 || columns.is_multiple_of(16),
            (
                DType::F8E4M3FN | DType::F8E5M2,
                DType::F8E4M3FN | DType::F8E5M2,
                DType::F16 | DType::F32,
            ) => true,
            _ => false,
        };
        typed
            && wide
            && u32::from(summed) * left.bits() == 256
            && (halves || transposed == [false; 2])
            && !(left_in_registers && transposed[0])
    }

    /// The types of the words of the left factor, or of its descriptor.
    pub fn left_operands(self) -> impl Iterator<Item = DType> {
        let word = if self.left == DType::F32 { DType::F32 } else { DType::I32 };
        let (dtype, count) = if self.left_in_registers { (word, 4) } else { (DType::I64, 1) };
        core::iter::repeat_n(dtype, count)
    }

    /// The types of the accumulators.
    pub fn accumulators(self) -> impl Iterator<Item = DType> + Clone {
        let columns = usize::from(self.columns);
        let (dtype, count) = if self.sum == DType::F16 {
            (DType::I32, columns / 4)
        } else {
            (self.sum, columns / 2)
        };
        core::iter::repeat_n(dtype, count)
    }

    /// The types of all operands.
    fn operands(self) -> impl Iterator<Item = DType> {
        let keep = self.keeps.then_some(DType::I1);
        self.left_operands().chain([DType::I64]).chain(keep).chain(self.accumulators())
    }

    /// Where among the operands the accumulators begin.
    pub fn first_accumulator(self) -> usize {
        self.left_operands().count() + 1 + usize::from(self.keeps)
    }
}

impl WarpgroupOp {
    /// The most groups that a wait leaves in flight.
    pub const MAX_PENDING: u32 = 7;

    /// Whether the blocks of a program have whole warpgroups, where it takes them together.
    pub(super) fn fits(self, program: &Program) -> bool {
        match self {
            Self::Multiply(_) => {
                program.lanes_log2 == 5 && program.warps.is_multiple_of(WarpgroupMultiply::WARPS)
            }
            Self::Fence | Self::Commit | Self::Wait { .. } => true,
        }
    }
}

impl Builder {
    /// Begins a product of a warpgroup: `left` is the words of the left factor, or its descriptor; where
    /// `keep` is false the accumulators count as zero. The results are in flight.
    pub fn warpgroup_multiply(
        &mut self,
        multiply: WarpgroupMultiply,
        left: &[Value],
        right: Value,
        keep: Option<Value>,
        accumulators: &[Value],
    ) -> SmallVec<[Value; 2]> {
        let multiply = WarpgroupMultiply { keeps: keep.is_some(), ..multiply };
        let mut operands: SmallVec<[Value; 4]> = SmallVec::from_slice(left);
        operands.push(right);
        operands.extend(keep);
        operands.extend_from_slice(accumulators);
        let results: Vec<DType> = multiply.accumulators().collect();
        self.emit(Op::Warpgroup(WarpgroupOp::Multiply(multiply)), operands, &results)
    }

    /// Lets products see what was written to registers.
    pub fn warpgroup_fence(&mut self) {
        self.emit(Op::Warpgroup(WarpgroupOp::Fence), smallvec![], &[]);
    }

    /// Closes the open group of products.
    pub fn warpgroup_commit(&mut self) {
        self.emit(Op::Warpgroup(WarpgroupOp::Commit), smallvec![], &[]);
    }

    /// Waits until at most `pending` groups of products are in flight, and gives the values, which are
    /// not then.
    pub fn warpgroup_wait(&mut self, pending: u32, values: &[Value]) -> SmallVec<[Value; 2]> {
        let results: Vec<DType> = values.iter().map(|&value| self.dtype(value)).collect();
        self.emit(
            Op::Warpgroup(WarpgroupOp::Wait { pending }),
            SmallVec::from_slice(values),
            &results,
        )
    }
}

impl Family for WarpgroupOp {
    const FORMS: &'static [Self] = &[
        Self::Multiply(WarpgroupMultiply {
            columns: 0,
            summed: 0,
            left: DType::F16,
            right: DType::F16,
            sum: DType::F32,
            left_in_registers: false,
            transposed: [false; 2],
            keeps: false,
        }),
        Self::Fence,
        Self::Commit,
        Self::Wait { pending: 0 },
    ];

    fn effects(&self) -> Effects {
        let warpgroup = Effects { convergent: Some(Participants::Warpgroup), ..Effects::NONE };
        match self {
            Self::Multiply(_) => Effects {
                reads: Spaces::SHARED,
                extent: Extent::Described,
                proxy: Proxy::Async,
                tokens: Tokens::Products(Step::Starts),
                ..warpgroup
            },
            Self::Fence => Effects { tokens: Tokens::Products(Step::Prepares), ..warpgroup },
            Self::Commit => Effects { tokens: Tokens::Products(Step::Commits), ..warpgroup },
            // What the products read may change only now, as if the wait read it.
            Self::Wait { pending } => Effects {
                reads: Spaces::SHARED,
                extent: Extent::Described,
                proxy: Proxy::Async,
                tokens: Tokens::Products(Step::Awaits { pending: *pending }),
                latency: Latency::Wait,
                ..warpgroup
            },
        }
    }

    fn operands(&self) -> Operands {
        Operands::new()
    }

    fn is_sound(&self, values: &[DType], results: &[DType]) -> bool {
        match self {
            Self::Multiply(multiply) => {
                multiply.exists()
                    && values.iter().copied().eq(multiply.operands())
                    && results.iter().copied().eq(multiply.accumulators())
            }
            Self::Fence | Self::Commit => values.is_empty() && results.is_empty(),
            Self::Wait { pending } => *pending <= Self::MAX_PENDING && values == results,
        }
    }

    fn text(&mut self, text: &mut dyn Text) -> Told {
        match self {
            Self::Multiply(multiply) => {
                let WarpgroupMultiply { columns, summed, left, right, sum, .. } = multiply;
                text.word("warpgroup.multiply")?;
                let mut sizes = [u32::from(*columns), u32::from(*summed)];
                text.sizes(&mut sizes)?;
                *columns = u16::try_from(sizes[0]).map_err(|_| Differs)?;
                *summed = u8::try_from(sizes[1]).map_err(|_| Differs)?;
                text.choice("SUM", sum)?;
                text.choice("LEFT", left)?;
                text.choice("RIGHT", right)?;
                text.mark("registers", &mut multiply.left_in_registers)?;
                text.mark("transposed.left", &mut multiply.transposed[0])?;
                text.mark("transposed.right", &mut multiply.transposed[1])?;
                text.mark("if", &mut multiply.keeps)
            }
            Self::Fence => text.word("warpgroup.fence"),
            Self::Commit => text.word("warpgroup.commit"),
            Self::Wait { pending } => {
                text.word("warpgroup.wait")?;
                text.behind(pending)
            }
        }
    }
}
