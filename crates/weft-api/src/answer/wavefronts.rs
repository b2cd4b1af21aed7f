//! The answers to `wavefronts` and `sweep` requests.

/// How the accesses of a tensor are served. Counts are for one warp.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct WavefrontsAnswer {
    /// The name of the machine.
    pub machine: String,
    /// Which way elements move: `load` or `store`.
    pub kind: String,
    /// Bytes of one lane in one instruction.
    pub vector_bytes: u32,
    /// How many instructions a warp issues.
    pub instructions: u64,
    /// How many warps the layout of the registers has.
    pub warps: u64,
    /// The wavefronts of all instructions, counted address by address.
    pub wavefronts: u64,
    /// The wavefronts of the same words without bank conflicts.
    pub ideal: u64,
    /// The rank law of every instruction; none where the memory has gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algebra: Option<AlgebraAnswer>,
    /// The instruction that is told in full.
    pub instruction: u64,
    /// The warp that issues it.
    pub warp: u64,
    /// The phases in which it is served.
    pub phases: Vec<PhaseAnswer>,
    /// The tensor coloured by bank, with what the instruction moves marked: an SVG file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile: Option<String>,
    /// What the banks serve, wavefront by wavefront: an SVG file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub banks: Option<String>,
    /// Where each element of the pictured tile lies, row by row; none for an element that nobody holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<Option<PlaceAnswer>>>,
}

/// Where an element lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PlaceAnswer {
    /// The offset in elements, gaps included.
    pub offset: u64,
    /// The bank in which it begins.
    pub bank: u64,
}

/// The rank law for one instruction; elements are coordinates.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AlgebraAnswer {
    /// A basis of the elements that share a bank with the first: what the segment bits of the offset
    /// step along.
    pub segment: Vec<Vec<u64>>,
    /// What one phase steps along: its lanes, then the words of a vector.
    pub phase: Vec<Vec<u64>>,
    /// A basis of what both span.
    pub meet: Vec<Vec<u64>>,
    /// The dimension of that meet.
    pub dimension: u32,
    /// The phases of an instruction.
    pub phases: u64,
    /// The wavefronts of an instruction: two to the dimension for each phase.
    pub wavefronts: u64,
}

/// The lanes that are served together.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PhaseAnswer {
    /// The lanes of the phase, by number.
    pub lanes: Vec<u32>,
    /// How many wavefronts the phase takes.
    pub wavefronts: u32,
    /// The words that they ask for, each once, by bank and wavefront.
    pub words: Vec<WordAnswer>,
}

/// A word that a bank serves in one wavefront.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct WordAnswer {
    /// The number of the bank.
    pub bank: u64,
    /// The wavefront of the phase.
    pub wavefront: u32,
    /// The byte address of the word.
    pub address: u64,
    /// Who asks for it, and what each moves of it.
    pub moved: Vec<MovedAnswer>,
}

/// An element that a lane moves.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MovedAnswer {
    /// The lane in its warp.
    pub lane: u32,
    /// The register of the lane.
    pub register: u64,
    /// The element, `dim0` first.
    pub element: Vec<u64>,
}

/// What accesses take on some of the memories of a family. Counts are for one warp.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SweepAnswer {
    /// The logarithm of the number of memories: bits of the row times bits of the column.
    pub toggles: u32,
    /// The number of the first memory.
    pub from: u64,
    /// How many memories were counted.
    pub count: u64,
    /// The store, then the loads.
    pub accesses: Vec<SweptAnswer>,
    /// On how many memories and accesses the rank law and the count differ.
    pub disagreements: u64,
}

/// What one access takes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SweptAnswer {
    /// `store`, or `load` and its number where there are several.
    pub access: String,
    /// How often what, the fewest instructions and wavefronts first.
    pub taken: Vec<TakenAnswer>,
}

/// How many memories are alike.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TakenAnswer {
    /// How many instructions there are.
    pub instructions: u64,
    /// Their wavefronts, counted address by address.
    pub wavefronts: u64,
    /// On how many memories.
    pub memories: u64,
}
