//! What is answered, as data. Answers hold no times: the same request gives the same bytes.

mod paper;
mod port;
mod swizzle;
mod wavefronts;

pub use paper::{PaperAnswer, PaperRows, ProductRow, ReductionRow, VectorRow};
pub use port::{
    CutAnswer, DirectAnswer, DirectBestAnswer, FragmentAnswer, PortAnswer, PortedAccess,
    PortedBuffer, PortedConversion, PortedInstruction, PortedKernel, PortedProduct, PortedShared,
    PortedValues,
};
pub use swizzle::{
    CertificateAnswer, MachineUseAnswer, PortableAnswer, SwizzleAnswer, TmaAnswer, TraceAnswer,
    UseAnswer,
};
pub use wavefronts::{
    AlgebraAnswer, MovedAnswer, PhaseAnswer, PlaceAnswer, SweepAnswer, SweptAnswer, TakenAnswer,
    WavefrontsAnswer, WordAnswer,
};

use crate::bases::Bases;
use crate::machines::MachineAnswer;
use weft_layout::affine::{Affine, Padded};
use weft_layout::plan::Conversions;
use weft_layout::step::{Plan, Step};

/// The machines that are known, and the types of elements.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MachinesAnswer {
    /// Each whole: NVIDIA's, then AMD's, oldest first.
    pub machines: Vec<MachineAnswer>,
    /// What requests may give as an element's type, narrow to wide.
    pub elements: Vec<ElementAnswer>,
}

/// A type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ElementAnswer {
    /// Its name in Triton IR.
    pub name: &'static str,
    /// What others call it, which requests may as well.
    pub other_names: &'static [&'static str],
}

/// A layout, with what can be said of it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LayoutAnswer {
    /// The image of each bit of each hardware axis, as coordinates of the tensor, `dim0` first.
    pub bases: Bases,
    /// Where place zero goes, unless it is element zero; every image is moved by exclusive-or with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant: Option<Vec<u64>>,
    /// The gaps of a memory: after every so many offsets, so many that are unused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paddings: Vec<[u64; 2]>,
    /// The tensor's extents; of a CuTe layout that leaves offsets unused or holds copies, how many
    /// offsets there are.
    pub shape: Vec<u64>,
    /// The width of an element, where the request gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element_bits: Option<u32>,
    /// What it is called elsewhere, the shortest name of each kind first; where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<NameAnswer>>,
    /// The same as text, which can be read back.
    pub text: String,
    /// The layout as the request's format shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// The map itself, for views.
    #[serde(skip)]
    pub map: Affine,
    /// The same with its gaps, where there are any.
    #[serde(skip)]
    pub padded: Option<Padded>,
}

/// A name of a layout.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct NameAnswer {
    /// Whose term it is: `triton`, `cute` (from coordinates to offsets), `cute thread-value` (from
    /// thread and value to the element's index), `absolute swizzle` (positions instead of a distance),
    /// `tma swizzle`.
    pub by: String,
    /// The name, as that term is written.
    pub text: String,
}

/// How a tensor moves from one layout to another. Counts are for one warp.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ConvertAnswer {
    /// How: `nothing`, `registers`, `shuffles`, `shared memory` or `reduction`.
    pub strategy: String,
    /// How many instructions there are.
    pub instructions: u64,
    /// Lane exchanges of 32 bits.
    pub shuffles: u64,
    /// Wavefronts of shared memory.
    pub wavefronts: u64,
    /// The wavefronts that these accesses would take without bank conflicts.
    pub ideal_wavefronts: u64,
    /// How many barriers there are.
    pub barriers: u64,
    /// Bytes of shared memory that a block needs for it.
    pub shared_bytes: u64,
    /// The price, in hundredths of a cycle.
    pub cost: u64,
    /// What the price was held against: the same without bank conflicts.
    pub bound: u64,
    /// Whether the witness has accepted the plan.
    pub verified: bool,
    /// The plan, one step a line.
    pub plan: String,
    /// The same with the long lists shortened.
    pub outline: String,
    /// The text that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What no list of steps could be cheaper than, in hundredths of a cycle: what it takes to bring
    /// elements to threads and warps that do not hold them. Told of a conversion by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
    /// What else was weighed, the cheapest first. Told of a conversion by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Vec<AlternativeAnswer>>,
}

/// A way to move a tensor that was not the cheapest.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AlternativeAnswer {
    /// How: a word as of the answer itself.
    pub strategy: String,
    /// How many instructions there are.
    pub instructions: u64,
    /// Lane exchanges of 32 bits.
    pub shuffles: u64,
    /// Wavefronts of shared memory.
    pub wavefronts: u64,
    /// How many barriers there are.
    pub barriers: u64,
    /// Bytes of shared memory that a block needs for it.
    pub shared_bytes: u64,
    /// The price, in hundredths of a cycle.
    pub cost: u64,
}

impl AlternativeAnswer {
    fn of(plan: &Plan) -> Self {
        Self {
            strategy: plan.strategy.to_string(),
            instructions: plan.cost.instructions,
            shuffles: plan.cost.shuffles,
            wavefronts: plan.cost.wavefronts,
            barriers: plan.cost.barriers,
            shared_bytes: plan.scratch_bytes,
            cost: plan.cost.total,
        }
    }
}

impl ConvertAnswer {
    /// What there is to say of the cheapest of several plans that the witness has accepted, and of the
    /// others.
    pub fn of_all(conversions: &Conversions) -> Self {
        let alternatives = conversions.others.iter().map(AlternativeAnswer::of).collect();
        let least = Some(conversions.least);
        Self { least, alternatives: Some(alternatives), ..Self::of(&conversions.best) }
    }

    /// What there is to say of a plan that the witness has accepted.
    pub fn of(plan: &Plan) -> Self {
        let cost = &plan.cost;
        Self {
            strategy: plan.strategy.to_string(),
            instructions: cost.instructions,
            shuffles: cost.shuffles,
            wavefronts: cost.wavefronts,
            ideal_wavefronts: cost.ideal_wavefronts,
            barriers: plan.steps.iter().filter(|step| matches!(step, Step::Barrier(_))).count()
                as u64,
            shared_bytes: plan.scratch_bytes,
            cost: cost.total,
            bound: plan.bound.total,
            verified: true,
            plan: format!("{plan:#}"),
            outline: plan.to_string(),
            text: None,
            least: None,
            alternatives: None,
        }
    }
}

/// What it takes to move a tensor between registers and shared memory, by plain vector accesses.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ConflictsAnswer {
    /// Which way it moves: `load` or `store`.
    pub kind: String,
    /// Bytes of one lane in one instruction.
    pub vector_bytes: u32,
    /// Instructions of all warps that take part.
    pub instructions: u64,
    /// Their wavefronts ([`weft_layout::access`] says what these are).
    pub wavefronts: u64,
    /// The wavefronts of as many instructions without bank conflicts.
    pub ideal: u64,
    /// A conflict, if there is any.
    pub witness: Option<ConflictAnswer>,
}

/// Two lanes that are served together and ask one bank for different words.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ConflictAnswer {
    /// What the elements of the two differ by, as bits of the tensor's axes: `dim0[0] ^ dim1[0]`.
    pub difference: String,
    /// The number of the bank that both ask.
    pub bank: u64,
    /// The two lanes, with what each asks for.
    pub sides: [SideAnswer; 2],
}

/// One lane of a conflict.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SideAnswer {
    /// The register that the lane moves.
    pub register: u64,
    /// The lane in its warp.
    pub lane: u64,
    /// The warp in its block.
    pub warp: u64,
    /// The element there, `dim0` first.
    pub element: Vec<u64>,
    /// The byte address that the lane asks for.
    pub address: u64,
}

/// A movement of a kernel's value between layouts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MovementAnswer {
    /// The value that moves.
    pub value: String,
    /// The type of the value.
    #[serde(rename = "type")]
    pub ty: String,
    /// The operation that asked for it.
    pub operation: String,
    /// Where that stands in the user's source: `file:line:column`.
    pub place: Option<String>,
    /// The layout that the value had.
    pub from: String,
    /// The layout that it gets.
    pub to: String,
    /// How often: loops whose bounds are not known are counted 16 times.
    pub times: u64,
    /// How, and at what cost.
    #[serde(flatten)]
    pub movement: ConvertAnswer,
}

/// A compiled kernel, with the texts that were asked for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CompileAnswer {
    /// The name of the kernel.
    pub name: String,
    /// The name of the machine.
    pub target: String,
    /// Warps in a block.
    pub warps: u32,
    /// Bytes of dynamic shared memory that a launch must give.
    pub shared_bytes: u32,
    /// The movements of data between threads, in the program's order.
    pub conversions: Vec<MovementAnswer>,
    /// The text in PTX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx: Option<String>,
    /// The CUDA C++ text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<String>,
    /// The HIP C++ text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hip: Option<String>,
    /// The tile program's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile: Option<String>,
    /// The tile program's text with its homes as encodings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttgir: Option<String>,
    /// The lane program's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// Homes, movements and accesses, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// A C header with the PTX and the functions that launch it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c_launcher: Option<String>,
    /// The lane program's text after the pass that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dump: Option<String>,
}

/// A kernel's decisions with their reasons.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ExplainAnswer {
    /// The name of the kernel.
    pub name: String,
    /// The name of the machine.
    pub target: String,
    /// Warps in a block.
    pub warps: u32,
    /// Why these are more than were asked for, where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relieved: Option<RelievedAnswer>,
    /// Bytes of dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// What movements and accesses cost with these homes.
    pub spent: SpentAnswer,
    /// What they would cost with the homes of a greedy choice, as Triton makes it; none where the text
    /// itself says where values live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub greedy: Option<SpentAnswer>,
    /// How far the choice may be from the best; none where the text itself says where values live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<ChoiceAnswer>,
    /// Where each value lives.
    pub homes: Vec<HomeAnswer>,
    /// Every product of matrices, with the instruction that computes it.
    pub products: Vec<ProductAnswer>,
    /// Every movement of data between threads.
    pub movements: Vec<MovementAnswer>,
    /// Every access of a tensor to memory.
    pub accesses: Vec<AccessAnswer>,
    /// Every load and store of a tensor in shared memory that the program allocates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedAnswer>,
    /// Every barrier of the program.
    pub barriers: Vec<BarrierAnswer>,
    /// What a multiprocessor has room for.
    pub occupancy: OccupancyAnswer,
    /// A round of each innermost loop, as a model of the multiprocessor has it.
    pub rounds: Vec<RoundAnswer>,
    /// Every line of the text at which an operation begins, where places in the text were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineAnswer>,
}

/// Why a block has more warps than were asked for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RelievedAnswer {
    /// The warps that were asked for.
    pub warps: u32,
    /// Why those were too few, in words.
    pub why: String,
}

/// What a multiprocessor runs of a program at the same time, as far as threads and shared memory decide it;
/// an assembler decides how many registers a thread has.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OccupancyAnswer {
    /// How many blocks.
    pub blocks: u32,
    /// How many warps those blocks have.
    pub warps: u32,
    /// The most warps that it could run.
    pub most_warps: u32,
    /// What there is no more of: `threads`, `shared memory` or `blocks`.
    pub limit: &'static str,
    /// The most 32-bit registers of a thread with which all these blocks still find room.
    pub registers: u32,
    /// Bytes of shared memory that it has.
    pub shared_bytes: u64,
}

/// A round of a loop in its steady state: one block alone on a multiprocessor, its data in the L2 cache. Times are
/// hundredths of a cycle.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RoundAnswer {
    /// Where the loop stands in the source.
    pub place: Option<String>,
    /// The first of the warps that run it.
    pub first_warp: u32,
    /// How many warps run it.
    pub warps: u32,
    /// How long a round takes.
    pub time: u64,
    /// How long each unit works for the block in that time, the busiest first.
    pub busy: Vec<BusyAnswer>,
    /// What binds it, in words: a unit that is full, or that none is.
    pub verdict: String,
    /// The least that it takes of a multiprocessor which several blocks share, and how many blocks reach that, in words.
    pub side_by_side: String,
    /// The bytes that the block moves from and to global memory in it.
    pub bytes: u64,
    /// The least time for these bytes, by each memory whose bandwidth is known.
    pub memories: Vec<BandwidthAnswer>,
    /// What the first warp spends one round on; kinds overlap where the hardware works side by side.
    pub spans: Vec<SpanAnswer>,
}

/// How long a unit works in a round.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BusyAnswer {
    /// `matrix units`, `shared memory`, `L2 cache`, `special functions`, `integer units` or `issue`.
    pub unit: &'static str,
    /// For how long.
    pub time: u64,
}

/// The time that bytes of a round take at a memory's full bandwidth.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BandwidthAnswer {
    /// `L2 cache` or `DRAM`.
    pub memory: &'static str,
    /// The least time for the bytes, where this memory brings all of them.
    pub time: u64,
    /// The bandwidth with its source, and for DRAM from when on it binds, in words.
    pub reason: String,
}

/// A stretch of a round, from its start.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SpanAnswer {
    /// `copies`, `products`, `shared memory`, `global memory`, `instructions` or `waits`.
    pub work: &'static str,
    /// When it begins.
    pub start: u64,
    /// When it ends.
    pub end: u64,
}

/// A line of the text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LineAnswer {
    /// Its number, from one.
    pub line: u32,
    /// Where its operations stand in the user's source, `file:line:column`: of a function that was inlined
    /// the place in it, then those of its callers.
    pub sources: Vec<String>,
    /// What movements, accesses, products and other work of its operations cost, in hundredths of a cycle
    /// of the block, over all rounds of loops.
    pub cost: u64,
}

impl LineAnswer {
    /// A line of which nothing is known yet.
    pub(crate) fn at(line: u32) -> Self {
        Self { line, sources: Vec::new(), cost: 0 }
    }
}

/// How a matrix product is computed. Costs are in hundredths of a cycle of the block, for one time.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ProductAnswer {
    /// Where it stands in the user's source: `file:line:column`.
    pub place: Option<String>,
    /// The type of the sum.
    #[serde(rename = "type")]
    pub ty: String,
    /// The layout of the sum.
    pub layout: String,
    /// The instruction that computes it, or what is done in its place.
    pub how: String,
    /// How often a warp issues it, for one time.
    pub runs: u64,
    /// What its instructions cost.
    pub cost: u64,
    /// What those of the cheapest way cost.
    pub bound: u64,
    /// How often: loops whose bounds are not known are counted 16 times.
    pub times: u64,
    /// What the next best way would cost; none where no other is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NextAnswer>,
}

/// A barrier, and why it is there.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BarrierAnswer {
    /// Who waits: `block` or `warp`.
    pub scope: &'static str,
    /// Where it stands in the user's source: `file:line:column`.
    pub place: Option<String>,
    /// Where the loops around it stand, the outermost first.
    pub loops: Vec<Option<String>>,
    /// What it costs all who wait, for one time, in hundredths of a cycle of the block.
    pub cost: u64,
    /// What would race without it; nothing where the source itself asks for it.
    pub reasons: Vec<String>,
}

/// What homes cost, in hundredths of a cycle of the block, over all rounds of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SpentAnswer {
    /// Conversions, reductions, scans, gathers and histograms.
    pub movements: u64,
    /// Accesses to global memory.
    pub accesses: u64,
    /// Element-wise arithmetic, and loads of shared memory.
    pub work: u64,
}

/// What was chosen of all homes, in hundredths of a cycle of the block, over all rounds of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ChoiceAnswer {
    /// Movements, accesses, and the arithmetic that homes decide on.
    pub cost: u64,
    /// No choice among the candidates costs less.
    pub bound: u64,
}

/// The best choice of all in which something is in another layout.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct NextAnswer {
    /// The other layout.
    pub layout: String,
    /// What everything together costs more then, in hundredths of a cycle of the block.
    pub more: u64,
}

/// Where a value lives.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct HomeAnswer {
    /// The name of the value.
    pub value: String,
    /// The type of the value.
    #[serde(rename = "type")]
    pub ty: String,
    /// In which memory: `registers` or `shared memory`.
    pub memory: &'static str,
    /// The layout: which element each register of each thread holds, or which lies at each offset of a buffer.
    pub layout: String,
    /// What it takes of shared memory, where it lives there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers: Option<BuffersAnswer>,
    /// Why it lives there, in words.
    pub reason: String,
    /// What the next best home would cost; none where no other is possible, and for shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NextAnswer>,
    /// Where the value is computed in the user's source, `file:line:column`: of what enters a loop's
    /// body, the loop.
    pub place: Option<String>,
}

/// Buffers of shared memory that follow one another, each with a tensor.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BuffersAnswer {
    /// How many there are: rounds of a loop that fill one ahead of the rounds that read others.
    pub count: u64,
    /// The bytes from one to the next.
    pub bytes: u64,
    /// The layout as Triton writes it.
    pub attribute: String,
    /// The bytes of a row within which matrix units and copy engines swizzle; none where the layout is not one of
    /// theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swizzle_bytes: Option<u64>,
}

/// How a load, store or atomic on a tensor goes to global memory.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AccessAnswer {
    /// The name of the operation.
    pub operation: String,
    /// Where it stands in the user's source: `file:line:column`.
    pub place: Option<String>,
    /// What is moved: the elements' type with the shape.
    #[serde(rename = "type")]
    pub ty: String,
    /// The layout in which it runs.
    pub layout: String,
    /// Bytes of one lane in one instruction.
    pub vector_bytes: u64,
    /// Whether so many move at once only where all their masks are true, and one by one elsewhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tested: bool,
    /// Instructions of one warp.
    pub instructions: u64,
    /// What it costs the block, for one time, in hundredths of a cycle.
    pub cost: u64,
    /// What as many bytes cost in whole sectors, by the widest instructions; those that several elements
    /// share count once.
    pub bound: u64,
    /// Sectors that one instruction touches, if rows of memory do not share any.
    pub sectors: u64,
    /// The sectors of as many bytes without gaps.
    pub ideal_sectors: u64,
    /// Why it takes more sectors or more instructions than as many bytes need: a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// How often it runs: loops whose bounds are not known are counted 16 times.
    pub times: u64,
    /// What the next best layout for it would cost; none where no other is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NextAnswer>,
}

/// How a tensor goes to or from shared memory that the program allocates.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SharedAnswer {
    /// The name of the operation.
    pub operation: String,
    /// Which way: `load` or `store`.
    pub kind: &'static str,
    /// The tensor in registers.
    pub value: String,
    /// Where the operation stands in the user's source: `file:line:column`.
    pub place: Option<String>,
    /// The type of the tensor.
    #[serde(rename = "type")]
    pub ty: String,
    /// The layout of the registers.
    pub layout: String,
    /// The layout of the memory, as the program's text has it.
    pub memory: String,
    /// What it takes; none where the tensor meets a part of a buffer.
    #[serde(flatten)]
    pub counted: Option<SharedCounts>,
    /// What a planned load costs; none for stores, for loads of padded memory and of a part of a buffer.
    #[serde(flatten)]
    pub price: Option<SharedPrice>,
    /// Why there are more wavefronts than the ideal: two lanes that collide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// How often it runs: loops whose bounds are not known are counted 16 times.
    pub times: u64,
}

/// What one access of allocated shared memory takes, of all warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SharedCounts {
    /// Whether it is loaded by matrix moves.
    pub matrix_moves: bool,
    /// Bytes of one lane in one instruction.
    pub vector_bytes: u32,
    /// How many instructions there are.
    pub instructions: u64,
    /// The wavefronts of those instructions.
    pub wavefronts: u64,
    /// The wavefronts of as many instructions without bank conflicts.
    pub ideal: u64,
}

/// What one load of allocated shared memory costs, in hundredths of a cycle of a warp, for one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SharedPrice {
    /// The price with its bank conflicts.
    pub cost: u64,
    /// The same without bank conflicts.
    pub bound: u64,
}

/// A run on the simulator, checked against the reference evaluator.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RunAnswer {
    /// The name of the kernel.
    pub name: String,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// The name of the machine.
    pub target: String,
    /// Warps in a block.
    pub warps: u32,
    /// Threads in a block.
    pub threads: u32,
    /// What random values started from.
    pub seed: u64,
    /// Whether nothing was found and every buffer agrees.
    pub passed: bool,
    /// What the run cost on the simulator.
    pub counts: Counts,
    /// What each load, store and atomic operation took that ran, in the program's order.
    pub accesses: Vec<AccessCountAnswer>,
    /// Each buffer as the simulator left it, against the reference evaluator.
    pub buffers: Vec<BufferAnswer>,
    /// Why the reference evaluator did not finish; buffers are not compared then.
    pub evaluator: Option<String>,
    /// What the kernel printed on the simulator: the first lines, without their ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<String>,
    /// How many more lines it printed.
    #[serde(skip_serializing_if = "is_zero")]
    pub printed_dropped: u64,
    /// What was wrong, the first of each kind at each place.
    pub findings: Vec<FindingAnswer>,
    /// How many findings there was no room for.
    pub findings_dropped: u64,
    /// What is no fault, but may not be meant: `equal stores`, `undefined`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<FindingAnswer>,
    /// Races that the kernel has under a compiler that inserts no barriers for global memory, as Triton:
    /// only a barrier that weft inserts orders the two. Nothing of this run was wrong for that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unordered: Vec<FindingAnswer>,
    /// How many plans the witness replayed, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plans_verified: Option<usize>,
    /// The same PTX on a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceAnswer>,
}

/// What a launch on the simulator did.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LaunchAnswer {
    /// The name of the kernel.
    pub name: String,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// The name of the machine.
    pub target: String,
    /// Warps in a block.
    pub warps: u32,
    /// Threads in a block.
    pub threads: u32,
    /// Whether every block came to its end and nothing was found.
    pub clean: bool,
    /// What the run cost.
    pub counts: Counts,
    /// The movements of data between threads, in the program's order.
    pub conversions: Vec<MovementAnswer>,
    /// What the kernel printed: the first lines, without their ends.
    pub printed: Vec<String>,
    /// How many more lines it printed.
    pub printed_dropped: u64,
    /// What was wrong, the first of each kind at each place.
    pub findings: Vec<FindingAnswer>,
    /// How many findings there was no room for.
    pub findings_dropped: u64,
    /// What is no fault, but may not be meant: `equal stores`, `undefined`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<FindingAnswer>,
    /// Races that the kernel has under a compiler that inserts no barriers for global memory, as Triton:
    /// only a barrier that weft inserts orders the two. Nothing of this run was wrong for that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unordered: Vec<FindingAnswer>,
}

/// What a run on a GPU gave.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DeviceAnswer {
    /// What its vendor calls it.
    pub name: String,
    /// The instruction set that it runs, such as `sm_90`.
    pub capability: String,
    /// Each buffer as the device left it, against the reference evaluator.
    pub buffers: Vec<BufferAnswer>,
    /// Each buffer as the device left it, against the simulator.
    pub simulator: Vec<BufferAnswer>,
}

/// What the simulator counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// How many instructions warps ran.
    pub instructions: u64,
    /// The lanes in them.
    pub lane_instructions: u64,
    /// Sectors of global memory.
    pub global_sectors: u64,
    /// The sectors that as many distinct bytes need at least.
    pub ideal_global_sectors: u64,
    /// Bytes that lanes moved from and to global memory.
    pub global_bytes: u64,
    /// Wavefronts of shared memory.
    pub shared_wavefronts: u64,
    /// The wavefronts that as many distinct bytes need at least.
    pub ideal_shared_wavefronts: u64,
    /// Bytes that lanes moved from and to shared memory.
    pub shared_traffic_bytes: u64,
    /// How many instructions exchanged registers between lanes.
    pub shuffles: u64,
    /// Block barriers, one for each warp that arrived.
    pub block_barriers: u64,
    /// Warp barriers, one for each warp that passed.
    pub warp_barriers: u64,
    /// Atomic operations, one for each lane.
    pub atomics: u64,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
}

/// What the simulator counted of one operation on memory, over the whole run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AccessCountAnswer {
    /// Where it stands in the user's source: `file:line:column`.
    pub place: Option<String>,
    /// Which memory: `global` or `shared`.
    pub space: String,
    /// What it does: `load`, `store` or `atomic`.
    pub kind: String,
    /// Bytes that one lane moves.
    pub lane_bytes: u32,
    /// How often a warp ran it with at least one lane active.
    pub executions: u64,
    /// Sectors of global memory, or wavefronts of shared memory.
    pub cost: u64,
    /// The least that these could be for as many distinct bytes.
    pub ideal: u64,
}

/// A buffer against what was expected of it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct BufferAnswer {
    /// The argument of the kernel that the buffer is.
    pub name: String,
    /// The type of its elements.
    pub element: String,
    /// How many there are.
    pub elements: usize,
    /// Whether the kernel changed it.
    pub changed: bool,
    /// Whether each element is as expected, but for what rounding allows.
    pub agrees: bool,
    /// Whether it is so bit for bit.
    pub exact: bool,
    /// The largest difference over the expected magnitude; none where something differs.
    pub max_relative_error: Option<f64>,
    /// What rounding allows; none where every bit must be the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<BoundsAnswer>,
    /// The sums that atomics left in it, in whatever order they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sums: Option<SumsAnswer>,
    /// The first element that is not as expected.
    pub mismatch: Option<String>,
}

/// How far the elements of a buffer may be off: each has a bound of its own, from an analysis of the
/// program's errors beside its values.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct BoundsAnswer {
    /// The largest bound of an element.
    pub largest: f64,
    /// The largest difference over its bound; none where something differs.
    pub used: Option<f64>,
    /// How many elements may be anything, because rounding decides what they are: they are not compared.
    pub unbounded: usize,
}

/// Sums of floats in a buffer, whose order of addition is not fixed.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SumsAnswer {
    /// How many elements of the buffer are such sums.
    pub places: usize,
    /// The most additions that made one of them.
    pub additions: u64,
    /// The most that one of them may differ by: for each, from the number of its additions and the
    /// magnitudes of its terms.
    pub allowed: f64,
}

/// Something that was wrong.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FindingAnswer {
    /// What kind: `race`, `out of range`, `read-only`, `uninitialised`, `in flight`, `unfenced`, `misaligned`,
    /// `deadlock`, `divergence`, `assertion`, `out of steps`, `difference`, `unordered`; of notes `equal stores`
    /// and `undefined`.
    pub kind: String,
    /// What happened, in a sentence.
    pub message: String,
    /// Who did it first.
    pub actor: ActorAnswer,
    /// With whom, for a race.
    pub other: Option<ActorAnswer>,
    /// How many warp instructions did it.
    pub count: u64,
    /// What would be right.
    pub hint: String,
}

/// The operation, block, warp and lane that did something.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ActorAnswer {
    /// Where it stands in the user's source: `file:line:column`.
    pub place: Option<String>,
    /// The block, along each grid axis.
    pub block: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
    /// The lane in its warp; none where several lanes did it together.
    pub lane: Option<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// An amount of cycles in words.
pub(crate) fn cycles(hundredths: u64) -> String {
    format!("{}.{:02} cycles", hundredths / 100, hundredths % 100)
}
