//! The answer to a `swizzle` request.

use super::DirectAnswer;
use crate::bases::Bases;

/// Where a tensor lies in shared memory, and how good that is.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SwizzleAnswer {
    /// The memory layout: the element at each bit of the offset, which counts elements.
    pub bases: Bases,
    /// The extents of the tensor.
    pub shape: Vec<u64>,
    /// Weighted wavefronts of one warp, over all accesses.
    pub wavefronts: u64,
    /// No memory layout takes fewer.
    pub bound: u64,
    /// Why no memory layout takes fewer.
    pub certificate: CertificateAnswer,
    /// What each access of threads takes: the store, then the loads.
    pub accesses: Vec<UseAnswer>,
    /// Where several machines were asked about: what each takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub portable: Option<PortableAnswer>,
    /// Bytes of the buffer.
    pub shared_bytes: u64,
    /// Where the buffer is too small for the tensor: for each bit of the round the coordinates whose
    /// parity it is.
    pub rounds: Vec<String>,
    /// The offset of an element from its coordinates, as an expression of C.
    pub xor: String,
    /// The layout in CuTe's words: with one swizzle where that exists.
    pub cute: Option<String>,
    /// A swizzled layout of Triton that takes as few wavefronts.
    pub triton: Option<String>,
    /// The best mode of the tensor memory accelerator, on machines that have it.
    pub tma: Option<TmaAnswer>,
    /// Where the accelerator moves the tensor too, what the threads take on the best memory layout of
    /// all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_tma: Option<u64>,
    /// How copies from global straight into shared memory fill it, on machines that have such copies; the
    /// narrowest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub direct: Vec<DirectAnswer>,
    /// The steps of the construction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceAnswer>,
}

/// Why no memory layout takes fewer wavefronts than the bound.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CertificateAnswer {
    /// `dimensions`, `floors`, `exhausted`, or `modes`: of the modes of the tensor memory accelerator
    /// alone.
    pub kind: &'static str,
    /// Whether the layout takes as few as the bound.
    pub optimal: bool,
    /// How many candidates a search tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u64>,
}

/// One memory layout on several machines.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PortableAnswer {
    /// `everywhere` where the layout is the best on every machine, `nowhere` where none is, else
    /// `unknown`.
    pub best: &'static str,
    /// The machines, in the order in which they were given.
    pub machines: Vec<MachineUseAnswer>,
}

/// What the accesses take on one of several machines.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MachineUseAnswer {
    /// The name of the machine.
    pub machine: String,
    /// Weighted wavefronts of one warp.
    pub wavefronts: u64,
    /// The same on a memory layout for this machine alone.
    pub alone: u64,
    /// No memory layout takes fewer on this machine.
    pub bound: u64,
    /// What each access takes.
    pub accesses: Vec<UseAnswer>,
}

/// What one access takes of one warp.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct UseAnswer {
    /// `store`, or `load` and its number where there are several.
    pub access: String,
    /// The matrix move that it is, for example `ldmatrix.m8n8.x4.trans.b16`; nothing for vectors.
    pub matrix: Option<String>,
    /// The bytes of a lane in one instruction.
    pub vector_bytes: u32,
    /// How many instructions there are.
    pub instructions: u64,
    /// The wavefronts of those instructions.
    pub wavefronts: u64,
    /// The fewest wavefronts that any memory layout gives this access alone.
    pub floor: u64,
}

/// The best mode of the tensor memory accelerator.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TmaAnswer {
    /// The bytes of its swizzle; 0 for none.
    pub swizzle_bytes: u64,
    /// Whether the first axis is the contiguous one.
    pub transposed: bool,
    /// The weighted wavefronts of the accesses on it.
    pub wavefronts: u64,
    /// Whether that is as few as the answer's.
    pub as_few: bool,
}

/// The seven steps of the construction for one store and one load; elements are coordinates.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TraceAnswer {
    /// Step 1: the elements of a vector that both sides use, filled up to one word.
    pub vector: Vec<Vec<u64>>,
    /// Step 2: the offset bits that choose a bank.
    pub bank_bits: u32,
    /// And those that choose a segment.
    pub segment_bits: u32,
    /// Step 3: in how many phases one instruction is served: the store, the load.
    pub phases: [u64; 2],
    /// What one phase of the store touches.
    pub store_phase: Vec<Vec<u64>>,
    /// What one phase of the load touches.
    pub load_phase: Vec<Vec<u64>>,
    /// Step 4: what both phases span (I).
    pub shared: Vec<Vec<u64>>,
    /// What only the store's adds (E).
    pub only_store: Vec<Vec<u64>>,
    /// What only the load's adds (F).
    pub only_load: Vec<Vec<u64>>,
    /// The most dimensions of segments without conflicts (lemma 9.5).
    pub most_segment_bits: u32,
    /// Step 5: the sums of one of E and one of F (H).
    pub sums: Vec<Vec<u64>>,
    /// Step 6: what neither phase reaches (C).
    pub rest: Vec<Vec<u64>>,
    /// The basis of the segments that is chosen.
    pub segment: Vec<Vec<u64>>,
    /// Step 7: the banks.
    pub bank: Vec<Vec<u64>>,
    /// The offset that follows, as an expression of C.
    pub xor: String,
    /// The weighted wavefronts of both sides on it.
    pub wavefronts: u64,
}
