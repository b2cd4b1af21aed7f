//! The lane program: what one thread runs.
//!
//! A small typed SSA. Every value is one element of a [`DType`]; a global address is an i64, an
//! address in shared memory an i32 counted in bytes from the start of the block's shared memory.
//! A block is [`Program::warps`] warps of `2^lanes_log2` lanes; nothing assumes 32.
//!
//! # Meaning
//!
//! * Operations of one lane happen in order. Lanes of a warp run each operation together.
//! * Control is structured. [`Op::If`] runs one of two regions; [`Op::Loop`] runs its region until
//!   a [`Op::BreakIf`] that names it leaves it. The condition of a `BreakIf` is the same in every
//!   thread of the block, and so is that of an `If` around which a block barrier, a loop or a break
//!   stands; an `If` over element-wise operations and memory accesses may diverge.
//! * Memory written by one thread is seen by another only after a barrier between them (or a release
//!   seen by an acquire). A warp barrier orders the lanes of a warp, a block barrier the block.
//! * A [`SyncOp::Fence`] makes the relaxed atomics after it release, and those before it acquire, as its order
//!   says; so do the fences of PTX and C++.
//! * A predicated memory operation does nothing where its predicate is false; a load then yields its
//!   `other` operand.
//! * An asynchronous copy may write at any time between its operation and the wait for its group; until
//!   then nobody may touch what it writes.
//! * A product of a warpgroup may read shared memory, and write its accumulators, at any time between its
//!   operation and the wait for its group; it sees what was written before only behind a
//!   [`SyncOp::ProxyFence`], of the writer or of the reader.
//! * Warps may run bodies of their own ([`Op::Roles`]), side by side. No barrier inside one means the block.
//! * A bulk copy, or a copy of a box of a tensor, runs on by itself until its mbarrier's phase is over or its
//!   group has been waited for ([`BulkCopy`], [`TensorCopy`], [`Mbarrier`]). Until then nobody may touch what
//!   it writes, or write what it reads. Where bytes that it reads or overwrites were touched through the
//!   generic proxy before, a [`SyncOp::ProxyFence`] stands between.
//! * Reading shared memory that nothing has written, or outside what was allocated, is a fault.
//! * [`Op::Linear`] is an F2-linear map of the bits of an i32; it stays one operation until
//!   `simplify` expands it into shifts and masks.

mod atomics;
mod base;
mod builder;
mod bytes;
mod copies;
mod differences;
mod division;
pub mod effects;
mod family;
pub(crate) mod flight;
mod known_bits;
mod laws;
mod multiply;
mod numbers;
mod ordered;
mod read;
mod roles;
mod scaled;
mod strength;
mod sums;
mod sync;
mod tensor;
mod text;
mod transfer;
mod verify;
mod warpgroup;
#[cfg(test)]
mod tests;

pub use atomics::AtomicAccess;
pub use builder::Builder;
pub use copies::AsyncCopy;
pub use effects::Effects;
pub use family::{Operand, Operands};
pub use multiply::{Fragments, MatrixMultiply, Words};
pub use read::{ReadError, read};
pub use roles::Role;
pub use scaled::{ScaledMultiply, ScaledNumber};
pub use sync::{NamedBarrier, SyncOp};
pub use tensor::{MakeMap, Tensor, TensorCopy, TensorMap, TensorWay};
pub use transfer::{BulkCopy, Mbarrier};
pub use verify::verify;
pub use warpgroup::{WarpgroupMultiply, WarpgroupOp};

use crate::cache::Cache;
use crate::dtype::DType;
use crate::format::Format;
use crate::id::{IdMap, IdVec, define_id};
use crate::location::{Loc, Locations};
use crate::scalar::{Binary, Cast, Compare, Rounding, Unary};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The most bytes that one load or store of a lane moves.
pub const MAX_ACCESS_BYTES: u32 = 16;

/// How many bytes behind its base an [`Op::Offset`] may lead to.
pub const OFFSET_BYTES: u64 = 1 << 31;

define_id! {
    /// A value of a lane program.
    Value, "%"
}

define_id! {
    /// An operation of a lane program.
    Inst, "inst"
}

define_id! {
    /// A piece of shared memory.
    Shared, "@s"
}

/// A kernel as one thread runs it.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The name of the kernel's symbol.
    pub name: String,
    /// The arguments, in the order of the launch.
    pub params: Vec<Param>,
    /// The arguments that are tensor maps, by number; nothing uses these but copies and what makes them.
    pub maps: BTreeMap<u32, TensorMap>,
    /// Warps in a block.
    pub warps: u32,
    /// log2 of the lanes in a warp.
    pub lanes_log2: u32,
    /// Every value, whether an argument, a parameter of a region or a result.
    pub values: IdVec<Value, ValueData>,
    /// Every operation, wherever it stands; the regions say in which order they run.
    pub insts: IdVec<Inst, InstData>,
    /// The pieces of shared memory.
    pub shared: IdVec<Shared, SharedData>,
    /// Bytes of shared memory that a block needs: the pieces, packed.
    pub shared_bytes: u32,
    /// Where the block runs, if that is known.
    pub multiprocessor: Option<Multiprocessor>,
    /// What a thread runs; ends with [`Op::Return`].
    pub body: Region,
    /// The places that operations refer to.
    pub locations: Locations,
}

/// What the blocks on a multiprocessor share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Multiprocessor {
    /// How many registers of 32 bits it has.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Those of them that every block takes beside its own.
    pub reserved_bytes: u32,
}

impl Multiprocessor {
    /// The shared memory that a block of so many threads can have where as many blocks run as there are
    /// registers for, so many for each thread.
    pub fn share(&self, threads: u32, registers: u32) -> u32 {
        let needed = threads.saturating_mul(registers).max(1);
        let blocks = (self.registers / needed).max(1);
        (self.shared_bytes / blocks).saturating_sub(self.reserved_bytes)
    }

    /// How many blocks of so many threads can run, as far as the registers that each of these has and the
    /// shared memory that a block takes say; none where it takes too much.
    pub fn blocks(&self, threads: u32, registers: u32, bytes: u32) -> u32 {
        let needed = threads.saturating_mul(registers).max(1);
        let by_registers = (self.registers / needed).max(1);
        by_registers.min(self.shared_bytes / bytes.saturating_add(self.reserved_bytes).max(1))
    }
}

/// An argument of the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name in the source.
    pub name: String,
    /// Its type; a pointer is an i64.
    pub dtype: DType,
    /// What it points to, if it is a pointer.
    pub pointee: Option<DType>,
    /// It is a multiple of this.
    pub divisibility: u64,
}

/// What is known of a value from its definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueData {
    /// The type of the value.
    pub dtype: DType,
}

/// A piece of shared memory.
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedData {
    /// How many bytes the piece has.
    pub bytes: u32,
    /// Alignment of its first byte, in bytes: a power of two.
    pub align: u32,
    /// Where it starts in the block's shared memory; set by packing.
    pub offset: u32,
    /// Whose threads meet in it: all of the block, or only the lanes of each warp, each warp in a
    /// part of its own.
    pub scope: BarrierScope,
    /// Whether it only serves movements: each stores, waits, and loads what it stored, so that nothing in
    /// it outlives a round of a loop, and nothing reaches it but by its address.
    pub scratch: bool,
    /// Whether a round of a loop that touches it stores what that round reads, and no later one reads it.
    pub renewed: bool,
    /// Whether all accesses to it are in order already: barriers stand where threads may meet, and each thread may
    /// touch bytes of its own without any.
    pub ordered: bool,
    /// The loop that double-buffers this allocation, if any.
    pub turns: Option<Inst>,
    /// Whether it holds mbarriers, [`Mbarrier::BYTES`] each, which only operations on them touch.
    pub mbarriers: bool,
}

/// Operations in order, and the values that enter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Region {
    /// The values that enter (carried by a loop).
    pub params: Vec<Value>,
    /// The operations, in the order in which they run.
    pub insts: Vec<Inst>,
}

/// One operation with what it reads and defines.
#[derive(Clone, PartialEq, Debug)]
pub struct InstData {
    /// What the operation does.
    pub op: Op,
    /// What it reads, in the order that [`Op`] says.
    pub operands: SmallVec<[Value; 4]>,
    /// The values that it defines.
    pub results: SmallVec<[Value; 2]>,
    /// The regions it owns.
    pub regions: Vec<Region>,
    /// Where it came from in the user's source.
    pub loc: Loc,
}

/// A memory that addresses refer to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// All blocks' memory; addresses are i64.
    Global,
    /// The block's memory; addresses are i32.
    Shared,
}

/// Who waits at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BarrierScope {
    /// The lanes of each warp.
    Warp,
    /// All warps of the block.
    Block,
}

/// A number that differs between threads or blocks; an i32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum IdKind {
    /// The lane's index in its warp.
    Lane,
    /// The warp's index in its block.
    Warp,
    /// The thread's index in its block: the lane's bits below the warp's.
    Thread,
    /// The block's index along a grid axis (0 to 2).
    Block(u8),
    /// The number of blocks along a grid axis (0 to 2).
    Blocks(u8),
}

/// Which bytes each lane moves in a load or store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Form {
    /// Consecutive bytes from its own address on.
    #[default]
    Vector,
    /// Words of matrices whose rows the lanes give the addresses of; shared memory only.
    Matrix(Matrix),
}

/// The matrices that a warp of 32 lanes moves together: `ldmatrix` and `stmatrix` of the PTX ISA.
///
/// Matrix `m` has `rows` rows of 16 bytes in memory; lane `m * rows + r` gives the address of its row
/// `r`, a multiple of 16, and the addresses of further lanes are not looked at.
/// Each lane has `rows / 8` words of 32 bits of each matrix, matrix by matrix; narrower values fill
/// words from the low bits on. With `quad = lane % 4` and `group = lane / 4`, byte `b` of word `k` is
///
/// | bits | rows | transposed | row | byte of the row |
/// | --- | --- | --- | --- | --- |
/// | 16 | 8 | no | `group` | `4 * quad + b` |
/// | 16 | 8 | yes | `2 * quad + b / 2` | `2 * group + b % 2` |
/// | 8 | 8 | yes | `2 * quad + b % 2` | `group + 8 * (b / 2)` |
/// | 8 | 16 | yes | `4 * quad + b` | `group + 8 * k` |
///
/// The third form only stores, the fourth only loads. A predicate is the same in all lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Matrix {
    /// Bits of an element.
    pub element_bits: u8,
    /// Rows of a matrix.
    pub rows: u8,
    /// Whether each matrix is transposed on the way.
    pub transposed: bool,
}

impl Matrix {
    /// Bytes of a row.
    pub const ROW_BYTES: u32 = 16;

    /// How many matrices are moved where each lane moves so many bytes; none if there is no such
    /// instruction.
    pub fn count(self, loads: bool, lane_bytes: u32) -> Option<u32> {
        let width = u32::from(self.rows) / 2;
        let known = match (self.element_bits, self.rows, self.transposed) {
            (16, 8, _) => true,
            (8, 8, true) => !loads,
            (8, 16, true) => loads,
            _ => false,
        };
        let whole = known && lane_bytes.is_multiple_of(width);
        whole.then(|| lane_bytes / width).filter(|count| matches!(count, 1 | 2 | 4))
    }

    /// The row that a byte of a lane's words of one matrix belongs to, and its place in the row.
    pub fn place(self, lane: u32, byte: u32) -> (u32, u32) {
        let (quad, group, word, byte) = (lane % 4, lane / 4 % 8, byte / 4, byte % 4);
        match (self.element_bits, self.rows, self.transposed) {
            (16, _, false) => (group, 4 * quad + byte),
            (16, _, true) => (2 * quad + byte / 2, 2 * group + byte % 2),
            (_, 8, _) => (2 * quad + byte % 2, group + 8 * (byte / 2)),
            _ => (4 * quad + byte, group + 8 * word),
        }
    }
}

/// How a load or store is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Access {
    /// Which bytes each lane moves.
    pub form: Form,
    /// Added to the address, in bytes.
    pub offset: i32,
    /// Whether a predicate follows the address among the operands.
    pub predicated: bool,
    /// The cache operator, as the tile program gave it.
    pub cache: Cache,
    /// Whether every execution must go to memory.
    pub volatile: bool,
}

/// What an operation does. After `->` stands what it defines.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// `() -> x`: these raw bits.
    Const(u64),
    /// `() -> x`: argument `n`.
    Param(u32),
    /// `() -> i32`: which lane, warp, thread or block this is, or how many blocks there are.
    Id(IdKind),
    /// `(i32) -> i32`: the exclusive or of `columns[i]` over the set bits `i` of the operand; bits
    /// beyond the columns are ignored.
    Linear {
        /// The images of bit 0, bit 1, …
        columns: Vec<u32>,
    },
    /// `(x) -> x`: an operation of one operand.
    Unary(Unary),
    /// `(x, y) -> x`.
    Binary(Binary),
    /// `(x, y) -> i1`.
    Compare(Compare),
    /// `(i1, if true, if false) -> x`.
    Select,
    /// `(x) -> y`: a conversion, to the type of the result.
    Cast(Cast),
    /// `(x, y, z) -> x`: `x * y + z`, rounded once.
    Fma,
    /// `(x, y, z) -> x`: `x * y + z` of f32 or f64, rounded once, and as told.
    FmaToward(Rounding),
    /// `(x: f32, y: f32) -> i16 or i32`: both rounded to this type of 8 or 16 bits as by [`Cast::Float`], the
    /// first in the low half.
    RoundPair(DType),
    /// `(i16) -> i32`: two floats of this type of 8 bits, side by side, as f16, the first in the low half; f16
    /// holds each of them.
    WidenPair(DType),
    /// `(a: i32, b: i32, selector: i32) -> i32`: each byte of the result is one of the eight bytes of
    /// `a` (0 to 3) and `b` (4 to 7), lowest first; byte `i` is the one that the low three bits of
    /// nibble `i` of the selector name, or eight copies of its sign where the nibble's top bit is set.
    Bytes,
    /// `() -> i32`: the address of a piece of shared memory.
    SharedBase(Shared),
    /// `(base: i64, offset: i32) -> i64`: an address of global memory, the sum of both; the offset counts as
    /// unsigned. The base is the same in every thread of the block, and all that is accessed at the address, or
    /// at a constant distance from it, lies within [`OFFSET_BYTES`] behind the base. So a buffer resource, as
    /// AMD's GPUs have them, takes such an address apart, and its bounds are the access's predicate.
    Offset,
    /// `(address, [predicate, one other per result]) -> n values of one type`, consecutive in memory.
    /// The address is a multiple of the whole access's size.
    Load {
        /// The memory that is read.
        space: Space,
        /// At which distance from the address, and how it is cached.
        access: Access,
    },
    /// `(address, [predicate], n values of one type)`, consecutive in memory. The address is a
    /// multiple of the whole access's size.
    Store {
        /// The memory that is written.
        space: Space,
        /// At which distance from the address, and how it is cached.
        access: Access,
    },
    /// Changes memory as one step.
    Atomic(AtomicAccess),
    /// A step of asynchronous copies from global to shared memory.
    AsyncCopy(AsyncCopy),
    /// `(x) -> x` of lane `id ^ mask`. Every lane of the warp takes part.
    ShuffleXor {
        /// Added to the lane's index by exclusive or.
        mask: u32,
    },
    /// `(x, i32 lane) -> x` of that lane, its index taken modulo the lanes of a warp.
    ShuffleIndex,
    /// `(words of the left factor, of the right one, of the sum) -> words of the sum`. Every lane of
    /// the warp takes part.
    MatrixMultiply(MatrixMultiply),
    /// `(words of the left factor, of the right one, its scales, those of the right one, words of the sum) ->
    /// words of the sum`. Every lane of the warp takes part.
    ScaledMultiply(ScaledMultiply),
    /// A step of products of a warpgroup, in flight.
    Warpgroup(WarpgroupOp),
    /// A fence or barrier.
    Sync(SyncOp),
    /// What a phase needs, or a wait for it.
    Mbarrier(Mbarrier),
    /// A step of bulk copies.
    BulkCopy(BulkCopy),
    /// Begins the copy of a box of a tensor.
    TensorCopy(TensorCopy),
    /// `(address, base, extents …, strides …)`: makes a tensor map.
    MakeMap(MakeMap),
    /// `(words) -> words`: PTX that is not read, with `$0` for the first result, and so on through the
    /// operands; i32 and i64. Only a GPU of NVIDIA's can run it.
    InlineAsm {
        /// The text, with `$` and a number for each operand.
        text: String,
        /// Whether it does nothing but define its results.
        pure: bool,
    },
    /// `(i1, values)`: prints a line where the first operand holds. The values are those of the format:
    /// i32, i64 and f64.
    Print(Box<Format>),
    /// `(i1)`: where the operand does not hold, says that `message` does not, and may end the kernel.
    Assert {
        /// What is said to hold.
        message: String,
    },
    /// `(i1) -> n values`: the first region or the second; each ends with `Yield`.
    If,
    /// `()`: region `i` is the body of the warps that have role `i`; other warps have none, and go on. Each ends
    /// with `Yield` of nothing. No roles inside of roles.
    Roles(Vec<Role>),
    /// `(n initial values) -> m values`: runs its region, whose parameters are the carried values and
    /// whose last operation is `Continue`, until a `BreakIf` that names this operation leaves it.
    Loop,
    /// `(i1, m values)`: where the condition holds, leaves `target` (a loop around it), whose results
    /// become the values.
    BreakIf {
        /// The loop that is left.
        target: Inst,
    },
    /// `(n values)`: the end of a loop's region: goes round again.
    Continue,
    /// `(n values)`: the end of an `If`'s region.
    Yield,
    /// `(n values)`: the end of the program. A kernel gives nothing; a function that others call
    /// gives its results.
    Return,
}

/// The operands of a memory operation, by role.
#[derive(Clone, Copy, Debug)]
pub struct MemoryOperands<'a> {
    /// The memory that the address refers to.
    pub space: Space,
    /// The address, before the immediate offset.
    pub address: Value,
    /// Where the operation takes place, if not everywhere.
    pub predicate: Option<Value>,
    /// What is stored; for a load, what it yields where the predicate is false.
    pub values: &'a [Value],
}

impl InstData {
    /// The operands of a load, store or atomic by role; none for other operations.
    pub fn memory_operands(&self) -> Option<MemoryOperands<'_>> {
        let (space, predicated) = match self.op {
            Op::Load { space, access } | Op::Store { space, access } => (space, access.predicated),
            Op::Atomic(AtomicAccess { space, predicated, .. }) => (space, predicated),
            _ => return None,
        };
        let (&address, rest) = self.operands.split_first()?;
        if !predicated {
            return Some(MemoryOperands { space, address, predicate: None, values: rest });
        }
        let (&predicate, values) = rest.split_first()?;
        Some(MemoryOperands { space, address, predicate: Some(predicate), values })
    }
}

/// An F2-linear map by the diagonals of its matrix: which bits of the operand move up by the same
/// distance (down where it is negative), as a mask; lowest distance first, empty ones left out. The
/// map is the exclusive or of `(x & mask) << distance`.
pub fn diagonals(columns: &[u32]) -> impl Iterator<Item = (u32, i32)> {
    let mut masks = [0u32; 63];
    for (bit, &column) in columns.iter().enumerate().take(32) {
        for row in (0..32).filter(|row| column >> row & 1 == 1) {
            masks[31 + row - bit] |= 1 << bit;
        }
    }
    masks.into_iter().zip(-31..).filter(|&(mask, _)| mask != 0)
}

impl Program {
    /// What the program gives at its end: nothing, if it is a kernel.
    pub fn results(&self) -> &[Value] {
        match self.body.insts.last() {
            Some(&last) => &self.insts[last].operands,
            None => &[],
        }
    }

    /// The type of a value.
    pub fn dtype(&self, value: Value) -> DType {
        self.values[value].dtype
    }

    /// Threads in a block.
    pub fn threads(&self) -> u32 {
        self.warps << self.lanes_log2
    }

    /// The base and the offset of each value that [`Op::Offset`] gives.
    pub fn offsets(&self) -> IdMap<Value, Option<[Value; 2]>> {
        let mut offsets = IdMap::default();
        self.walk(&self.body, &mut |_, inst| {
            if let (Op::Offset, &[base, offset], &[result]) =
                (&inst.op, &inst.operands[..], &inst.results[..])
            {
                offsets.set(result, Some([base, offset]));
            }
        });
        offsets
    }

    /// Every operation of a region and of the regions inside it, outer before inner, in order.
    pub fn walk<'a>(&'a self, region: &'a Region, visit: &mut dyn FnMut(Inst, &'a InstData)) {
        for &id in &region.insts {
            let inst = &self.insts[id];
            visit(id, inst);
            for inner in &inst.regions {
                self.walk(inner, visit);
            }
        }
    }
}
