//! The answer to a `port` request.

use super::{OccupancyAnswer, SwizzleAnswer};
use crate::bases::Bases;

/// What becomes of a kernel, or of the accesses of a buffer, on another machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortAnswer {
    /// The machine that it was made for.
    pub from: String,
    /// The machine that it is for now.
    pub target: String,
    /// The lanes of a warp on both.
    pub lanes: [u32; 2],
    /// The banks of shared memory, as loads see them, on both.
    pub banks: [u32; 2],
    /// The kernel on both machines; nothing where a buffer was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<PortedKernel>,
    /// The buffer on both machines; nothing where a kernel was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<PortedBuffer>,
    /// The text that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A kernel on both machines.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortedKernel {
    /// The name of the kernel.
    pub name: String,
    /// Warps of a block, before and now.
    pub warps: [u32; 2],
    /// Bytes of shared memory of a block, before and now.
    pub shared_bytes: [u32; 2],
    /// What bounds the blocks on a multiprocessor, before and now.
    pub occupancy: [OccupancyAnswer; 2],
    /// Where values live, before and now; those for which the same holds together.
    pub values: Vec<PortedValues>,
    /// The products, by instructions of both.
    pub products: Vec<PortedProduct>,
    /// What the program does to shared memory that it allocates.
    pub shared: Vec<PortedShared>,
    /// The conversions through shared memory that are needed now.
    pub conversions: Vec<PortedConversion>,
}

/// Values of one type with the same layouts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortedValues {
    /// The names of the values.
    pub values: Vec<String>,
    /// The type that they have in common.
    #[serde(rename = "type")]
    pub ty: String,
    /// The layout before; nothing where no register held it.
    pub from: Option<String>,
    /// What Triton calls it, where it has a name.
    pub from_name: Option<String>,
    /// The layout that they have now.
    pub to: String,
    /// What Triton calls it.
    pub to_name: Option<String>,
    /// What it would take to get from the layout before, its threads cut into waves of the new width, to the
    /// one now: `nothing`, `registers`, `shuffles` or `shared memory`; nothing where there are not as many
    /// threads.
    pub change: Option<String>,
}

/// A product on both machines.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortedProduct {
    /// The value that is the sum.
    pub value: String,
    /// The place in the source.
    pub place: Option<String>,
    /// The type of the sum.
    #[serde(rename = "type")]
    pub ty: String,
    /// How it was multiplied.
    pub from: PortedInstruction,
    /// How it is multiplied now.
    pub to: PortedInstruction,
}

/// How a product is multiplied.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortedInstruction {
    /// The instruction, or `multiply-adds of each thread`.
    pub how: String,
    /// Its fragments, as bases: those that lie in registers.
    pub fragments: Vec<FragmentAnswer>,
}

/// A part of a product as one instruction takes it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FragmentAnswer {
    /// `left`, `right` or `sum`.
    pub part: &'static str,
    /// The layout of that part, as bases.
    pub layout: String,
}

/// An access of allocated shared memory.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortedShared {
    /// The name of the operation.
    pub operation: String,
    /// The tensor that it moves.
    pub value: String,
    /// The type of the tensor.
    #[serde(rename = "type")]
    pub ty: String,
    /// The layout that the memory had.
    pub from: String,
    /// The memory now; nothing where the tensor stays in registers or is converted.
    pub to: Option<String>,
    /// Wavefronts of all warps before, and of as many instructions without conflicts.
    pub before: Option<[u64; 2]>,
    /// The same of the old layouts on the new machine, their threads cut into its waves.
    pub kept: Option<[u64; 2]>,
    /// The same of the new ones.
    pub now: Option<[u64; 2]>,
}

/// A conversion through shared memory.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortedConversion {
    /// The value that is converted.
    pub value: String,
    /// The type of the value.
    #[serde(rename = "type")]
    pub ty: String,
    /// The operation that needs it.
    pub operation: String,
    /// The layout that the value has.
    pub from: String,
    /// The layout that the operation needs.
    pub to: String,
    /// Wavefronts of a warp, and of as many instructions without conflicts.
    pub wavefronts: [u64; 2],
    /// The best memory layout between the two, with its proof.
    pub swizzle: Option<SwizzleAnswer>,
}

/// A buffer of shared memory on the new machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortedBuffer {
    /// What stores to it and loads from it.
    pub accesses: Vec<PortedAccess>,
    /// The best memory layout, with the proof that no other takes fewer wavefronts.
    pub swizzle: SwizzleAnswer,
}

/// An access of a buffer on both machines.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortedAccess {
    /// `store`, or `load` and its number.
    pub access: String,
    /// The layout of the registers before.
    pub from: String,
    /// The layout of the registers now.
    pub to: String,
    /// What Triton calls it, where it has a name.
    pub name: Option<String>,
    /// How the one became the other: `waves` where the same threads were cut into waves of the new width,
    /// or the instruction whose fragment takes the place of the old one's.
    pub how: String,
    /// Wavefronts on the old memory and machine, and of as many instructions without conflicts; where the
    /// memory is given.
    pub before: Option<[u64; 2]>,
    /// The same of the new registers on the old memory and the new machine.
    pub kept: Option<[u64; 2]>,
}

/// How copies from global straight into shared memory, whose lanes write side by side, fill a memory layout.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DirectAnswer {
    /// The bytes of one lane in one instruction.
    pub bytes: u32,
    /// The axis along which global memory is taken to be contiguous, each row beginning with a sector.
    pub axis: u32,
    /// The instructions of one wave that write the whole buffer; nothing where they cannot.
    pub instructions: Option<u64>,
    /// The sectors of global memory that one of them touches.
    pub sectors: Option<u64>,
    /// The fewest that as many bytes lie in.
    pub ideal_sectors: Option<u64>,
    /// Where the bytes of one lane would come from elsewhere.
    pub cut: Option<CutAnswer>,
    /// The best memory layout for the loads that such copies write.
    pub best: Option<DirectBestAnswer>,
}

/// Why copies do not fill a memory layout.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CutAnswer {
    /// The lowest bit of the offset, in elements, at which a lane's bytes come from elsewhere.
    pub bit: u32,
    /// The element there; nothing where the buffer ends before.
    pub found: Option<Vec<u64>>,
    /// The element that should be there; nothing where the row ends before.
    pub wanted: Option<Vec<u64>>,
}

/// A memory layout that copies fill.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DirectBestAnswer {
    /// The element at each bit of the offset.
    pub bases: Bases,
    /// Weighted wavefronts of one warp, over all loads.
    pub wavefronts: u64,
    /// No memory layout that keeps a lane's bytes together takes fewer.
    pub bound: u64,
    /// The sectors that one copy touches.
    pub sectors: u64,
    /// The fewest that as many bytes lie in.
    pub ideal_sectors: u64,
    /// The offset of an element, as an expression of C.
    pub xor: String,
}
