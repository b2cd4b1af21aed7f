//! The pipeline, from a tile program to a lane program.
//!
//! [`compile`] reads like the table of contents of this crate. The program is verified when it is
//! lowered and when it is finished, and on request (and in debug builds) after each pass; the text
//! after any pass can be kept.

use crate::assign::{self, AssignError, Assignment, Block, Pin, Review, Spent};
use crate::axis::AxisFacts;
use crate::budget::{Budget, Limit, Overrun};
use crate::descriptors;
use crate::dtype::DType;
use crate::factors;
use crate::fuse;
use crate::lane;
use crate::lower::{self, Movement, Passed};
use crate::memory::{Buffer, Memory};
use crate::pipeline;
use crate::sim;
use crate::simplify;
use crate::tile::{Kernel, Launch, Module, Op, OpId, Value};
use std::borrow::Cow;
use weft_layout::machine::{Kind, MAX_ACCESS_LOG2, Machine};

/// The stages of software pipelines where nothing is said: Triton's default.
pub const DEFAULT_STAGES: u32 = 3;
/// The most stages.
const MOST_STAGES: u32 = 64;

/// Which of the descriptors that a kernel is given may be tensor maps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TensorMaps {
    /// None: the launcher takes them apart.
    #[default]
    None,
    /// All or none of a kernel's.
    All,
    /// Each for itself.
    Each,
}

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// The machine that the code is for.
    pub machine: Machine,
    /// Warps in a block: a power of two.
    pub warps: u32,
    /// How many rounds of a loop the loads that feed matrix products may be apart from the products, and
    /// one: 1 leaves them where they are.
    pub stages: u32,
    /// Whether a product becomes one operation with the sum that takes it, which rounds once where the
    /// two round twice.
    pub fp_fusion: bool,
    /// Whether barriers order the accesses of one block to global memory that may meet. Triton inserts
    /// none for them: without, a program races where it does under Triton.
    pub order_accesses: bool,
    /// Which descriptors that the kernel is given its launcher encodes as tensor maps.
    pub tensor_maps: TensorMaps,
    /// Whether the program is verified after every pass.
    pub verify_each: bool,
    /// Keeps the program's text after this pass.
    pub dump_after: Option<String>,
    /// Values of the kernel with the layouts that they shall live in.
    pub pins: Vec<Pin>,
    /// How much work may be done.
    pub budget: Budget,
}

impl Options {
    /// Four warps and fused products, as Triton's defaults.
    pub fn for_machine(machine: &Machine) -> Self {
        Self {
            machine: machine.clone(),
            warps: 4,
            stages: DEFAULT_STAGES,
            fp_fusion: true,
            order_accesses: true,
            tensor_maps: TensorMaps::None,
            verify_each: cfg!(debug_assertions),
            dump_after: None,
            pins: Vec::new(),
            budget: Budget::default(),
        }
    }
}

/// A compiled kernel, with the decisions that led to it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The tile program that says what is computed: the one that was given, or one with products fused
    /// with sums.
    pub meaning: Kernel,
    /// The tile program that was lowered: that one, or one with its loads ahead.
    pub kernel: Kernel,
    /// What one thread runs.
    pub program: lane::Program,
    /// The homes of all values.
    pub assignment: Assignment,
    /// Every movement of data between threads.
    pub movements: Vec<Movement>,
    /// What operations cost a warp besides, in hundredths of a cycle.
    pub work: Vec<(OpId, u64)>,
    /// Whether barriers were put between accesses to global memory of one block that may meet.
    pub ordered: bool,
    /// What each argument of the program is.
    pub passed: Vec<Passed>,
    /// The program after the pass that was asked for.
    pub dump: Option<String>,
}

impl Compiled {
    /// The arguments of the program for those of the kernel. What tensor maps say is put into the memory, behind
    /// what is there.
    pub fn arguments(&self, given: &[u64], memory: &mut Memory) -> Vec<u64> {
        let part = |index: usize| given.get(index).copied().unwrap_or_default();
        let mut arguments = Vec::with_capacity(self.passed.len());
        for (number, passed) in (0..).zip(&self.passed) {
            let parts = match passed {
                Passed::Argument(index) => {
                    arguments.push(part(*index));
                    continue;
                }
                Passed::Map(parts) => parts,
            };
            let (first, rank) = (parts.arguments.start, parts.rank);
            let bytes = self.program.maps.get(&number).map_or(1, |map| map.element.bytes());
            let mut tensor = lane::Tensor { base: part(first), ..lane::Tensor::default() };
            for (dim, place) in (0..rank).rev().enumerate() {
                let [extent, stride] = [1, 1 + rank].map(|at| part(first + at + place));
                tensor.extents[dim] = extent.cast_signed().max(0).cast_unsigned();
                if dim > 0 {
                    tensor.strides[dim - 1] = stride.wrapping_mul(bytes.into());
                }
            }
            let flags = first + 1 + 2 * rank..parts.arguments.end;
            tensor.nan = flags.start < flags.end && part(flags.start) & 1 == 1;
            arguments.push(memory.push(Buffer {
                name: self.program.params[number as usize].name.clone(),
                bytes: tensor.to_bytes().to_vec(),
                dtype: DType::I64,
                initialised: true,
            }));
        }
        arguments
    }

    /// What movements, accesses and the work of the kernel cost.
    pub fn spent(&self, options: &Options) -> Result<Spent, CompileError> {
        let mut all = Spent::default();
        for (_, spent) in self.spent_by_operation(options)? {
            all += spent;
        }
        Ok(all)
    }

    /// The same, operation by operation; an operation may occur several times.
    pub fn spent_by_operation(
        &self,
        options: &Options,
    ) -> Result<Vec<(OpId, Spent)>, CompileError> {
        let Self { kernel, assignment, movements, work, .. } = self;
        let movements = movements.iter().map(|movement| (movement.op, &movement.plan));
        let facts = AxisFacts::of(kernel);
        assign::spent(kernel, &facts, assignment, block(options), movements, work)
            .map_err(|cause| refused(kernel, cause))
    }
}

/// What movements, accesses and arithmetic would cost with the homes of a greedy choice, as Triton makes
/// it: the heaviest access or product of tensors that belong together decides, others convert.
pub fn spent_greedily(
    module: &Module,
    kernel: &Kernel,
    options: &Options,
) -> Result<Spent, CompileError> {
    compile_greedily(module, kernel, options)?.spent(options)
}

/// The kernel with the homes of a greedy choice.
pub fn compile_greedily(
    module: &Module,
    kernel: &Kernel,
    options: &Options,
) -> Result<Compiled, CompileError> {
    check_options(options)?;
    check_elements(kernel, options)?;
    let meaning = meaning(kernel, options);
    let form = expanded(&meaning);
    let facts = AxisFacts::of(&form);
    let assignment = assign::greedy(&form, &facts, block(options));
    finish(module, &meaning, &form, options, &facts, assignment)
}

fn block(options: &Options) -> Block<'_> {
    let Options { machine, warps, budget, .. } = options;
    Block { machine, warps: *warps, shared_byte: 0, budget }
}

/// Why there are no homes or no program.
fn refused(kernel: &Kernel, cause: AssignError) -> CompileError {
    match cause {
        AssignError::Overrun(overrun) => CompileError::Overrun(overrun),
        cause => CompileError::Assign { kernel: kernel.name.clone(), cause },
    }
}

/// Why a kernel could not be compiled.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CompileError {
    /// The number of warps is no power of two, or more than a block may have.
    #[error("a block of {warps} warps: {machine} takes a power of two up to {most}")]
    Warps {
        /// What was asked for.
        warps: u32,
        /// The machine.
        machine: String,
        /// The most it takes.
        most: u32,
    },
    /// There are no pipelines of so many stages.
    #[error("software pipelines have 1 to {MOST_STAGES} stages, not {0}; 1 is none")]
    Stages(u32),
    /// The text was made for other blocks.
    #[error("the text is for blocks of {given} warps (`ttg.num-warps`), not of {asked}")]
    GivenWarps {
        /// What the text says.
        given: u32,
        /// What was asked for.
        asked: u32,
    },
    /// The text was made for other warps.
    #[error(
        "the text is for warps of {given} lanes (`ttg.threads-per-warp`), {machine} has {lanes}"
    )]
    GivenLanes {
        /// What the text says.
        given: u32,
        /// The machine.
        machine: String,
        /// The lanes of its warps.
        lanes: u32,
    },
    /// The kernel needs more shared memory than a block may have.
    #[error(
        "`{kernel}` needs {needed} bytes of shared memory, a block of {machine} may have {limit}"
    )]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// What it needs, in bytes.
        needed: u64,
        /// The machine.
        machine: String,
        /// What there is, in bytes.
        limit: u64,
    },
    /// There is no such pass.
    #[error("there is no pass `{name}`; there are {known}")]
    NoSuchPass {
        /// What was asked for.
        name: String,
        /// The names, with commas.
        known: String,
    },
    /// No layout could be found.
    #[error("no layout could be found in `{kernel}`: {cause}")]
    Assign {
        /// The kernel.
        kernel: String,
        /// What the layout engine said.
        cause: AssignError,
    },
    /// It takes more work than is allowed, or nobody wants it any more.
    #[error(transparent)]
    Overrun(#[from] Overrun),
    /// A pass left a program that breaks the rules: a defect of this compiler, never of its input.
    #[error("after `{pass}` the program of `{kernel}` breaks a rule: {broken} (a defect of weft)")]
    Broken {
        /// The kernel.
        kernel: String,
        /// The pass.
        pass: &'static str,
        /// The first broken rule.
        broken: String,
    },
}

/// The prices of a byte of shared memory, in hundredths of a cycle of the block, at which homes are
/// chosen: the next one where a block does not have enough of it with those before.
const SHARED_BYTE: [u64; 4] = [0, 1, 10, 100];

/// How often the memory that a movement may take is halved where all together take too much.
const MOST_HALVINGS: u32 = 3;

/// Compiles one kernel of a verified module.
pub fn compile(
    module: &Module,
    kernel: &Kernel,
    options: &Options,
) -> Result<Compiled, CompileError> {
    check_options(options)?;
    check_launch(&module.launch, options)?;
    check_elements(kernel, options)?;
    let meaning = meaning(kernel, options);
    if let Some(compiled) = compile_with_maps(module, &meaning, options)? {
        return Ok(compiled);
    }
    let form = expanded(&meaning);
    let facts = facts_of(&form, options)?;
    if let Some(form) = factors::run(&form, &facts, &options.machine, options.warps) {
        let compiled = compile_staged(module, &meaning, &form, options)?;
        if check_shared_memory(&compiled.program, options).is_ok() {
            return Ok(compiled);
        }
    }
    let compiled = compile_staged(module, &meaning, &form, options)?;
    match check_shared_memory(&compiled.program, options) {
        Ok(()) => Ok(compiled),
        Err(lack) => compile_in_rounds(module, &meaning, &form, options, &facts).ok_or(lack),
    }
}

/// Compiles a kernel with those descriptors as tensor maps that may be ones and of which blocks are factors of products of
/// warpgroups; nothing where there are none, or where what they need does not fit a block.
fn compile_with_maps(
    module: &Module,
    meaning: &Kernel,
    options: &Options,
) -> Result<Option<Compiled>, CompileError> {
    if options.tensor_maps == TensorMaps::None || options.stages < 2 || meaning.is_encoded() {
        return Ok(None);
    }
    let facts = facts_of(meaning, options)?;
    let mut maps = descriptors::mappable(meaning, &facts);
    let Options { machine, warps, .. } = options;
    let form = loop {
        let all = maps.len() == descriptors::given(meaning).len();
        if maps.is_empty() || options.tensor_maps == TensorMaps::All && !all {
            return Ok(None);
        }
        let Some(form) = descriptors::run(meaning, &maps) else { return Ok(None) };
        let facts = facts_of(&form, options)?;
        let Some(form) = factors::run(&form, &facts, machine, *warps) else { return Ok(None) };
        let feeding = factors::maps(&form, &maps);
        if feeding == maps || options.tensor_maps == TensorMaps::All && !feeding.is_empty() {
            break form;
        }
        maps = feeding;
    };
    let facts = facts_of(&form, options)?;
    for stages in (2..=options.stages).rev() {
        let ahead = pipeline::run(&form, &facts, machine, *warps, stages);
        let Some(ahead) = pipeline::direct(ahead.as_ref().unwrap_or(&form)) else { break };
        let facts = facts_of(&ahead, options)?;
        match compile_fitting(module, meaning, &ahead, options, &facts) {
            Ok(compiled) if check_shared_memory(&compiled.program, options).is_ok() => {
                return Ok(Some(compiled));
            }
            Ok(_) => {}
            Err(CompileError::Assign { cause: AssignError::NoBox { .. }, .. }) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Compiles a form of a kernel with as many stages as a block has the memory for, or with one.
fn compile_staged(
    module: &Module,
    meaning: &Kernel,
    form: &Kernel,
    options: &Options,
) -> Result<Compiled, CompileError> {
    let facts = facts_of(form, options)?;
    for stages in (2..=options.stages).rev() {
        let Options { machine, warps, .. } = options;
        let Some(ahead) = pipeline::run(form, &facts, machine, *warps, stages) else { break };
        let facts = facts_of(&ahead, options)?;
        let compiled = compile_fitting(module, meaning, &ahead, options, &facts)?;
        if check_shared_memory(&compiled.program, options).is_ok() {
            return Ok(compiled);
        }
    }
    compile_fitting(module, meaning, form, options, &facts)
}

/// Compiles a kernel with movements that take less of the memory that they do not fit into together, each
/// in more rounds; nothing where they do not fit then either.
fn compile_in_rounds(
    module: &Module,
    meaning: &Kernel,
    form: &Kernel,
    options: &Options,
    facts: &AxisFacts,
) -> Option<Compiled> {
    let [.., price] = SHARED_BYTE;
    (1..=MOST_HALVINGS).find_map(|halvings| {
        let machine = &options.machine;
        let shared_bytes_per_block = machine.shared_bytes_per_block >> halvings;
        let machine = Machine { shared_bytes_per_block, ..machine.clone() };
        let less = Options { machine, ..options.clone() };
        // What cannot be planned with so little cannot be with less.
        let compiled = compile_at(module, meaning, form, &less, facts, price).ok()?;
        check_shared_memory(&compiled.program, options).is_ok().then_some(compiled)
    })
}

/// What is known of every value of a kernel, if that is still wanted.
fn facts_of(kernel: &Kernel, options: &Options) -> Result<AxisFacts, Overrun> {
    let Budget { stop, .. } = &options.budget;
    let facts = AxisFacts::of_until(kernel, stop);
    options.budget.check()?;
    Ok(facts)
}

/// What a kernel computes when it is compiled so. A pinned product has a home, so it is not fused.
fn meaning(kernel: &Kernel, options: &Options) -> Kernel {
    let pinned: Vec<Value> = options.pins.iter().map(|pin| pin.value).collect();
    let fused = options.fp_fusion.then(|| fuse::run(kernel, &pinned)).flatten();
    fused.unwrap_or_else(|| kernel.clone())
}

/// The kernel with pointers where it has tensor descriptors.
fn expanded(kernel: &Kernel) -> Cow<'_, Kernel> {
    descriptors::run(kernel, &[]).map_or(Cow::Borrowed(kernel), Cow::Owned)
}

/// Compiles a kernel at the lowest price of shared memory at which it fits, or at the highest.
fn compile_fitting(
    module: &Module,
    meaning: &Kernel,
    kernel: &Kernel,
    options: &Options,
    facts: &AxisFacts,
) -> Result<Compiled, CompileError> {
    let mut compiled = compile_at(module, meaning, kernel, options, facts, SHARED_BYTE[0])?;
    for price in &SHARED_BYTE[1..] {
        let chosen = compiled.assignment.total().is_some();
        if !chosen || check_shared_memory(&compiled.program, options).is_ok() {
            break;
        }
        compiled = compile_at(module, meaning, kernel, options, facts, *price)?;
    }
    Ok(compiled)
}

/// Compiles a kernel at a price of shared memory.
fn compile_at(
    module: &Module,
    meaning: &Kernel,
    kernel: &Kernel,
    options: &Options,
    facts: &AxisFacts,
    shared_byte: u64,
) -> Result<Compiled, CompileError> {
    let block = Block { shared_byte, ..block(options) };
    let assignment = assign::run(kernel, facts, block, &options.pins);
    finish(module, meaning, kernel, options, facts, assignment)
}

/// The program of a kernel with these homes.
fn finish(
    module: &Module,
    meaning: &Kernel,
    kernel: &Kernel,
    options: &Options,
    facts: &AxisFacts,
    assignment: Result<Assignment, AssignError>,
) -> Result<Compiled, CompileError> {
    options.budget.check()?;
    let cause = |cause| refused(kernel, cause);
    let mut assignment = assignment.map_err(cause)?;
    let (locations, block) = (&module.locations, block(options));
    let kernel = kernel.clone();
    let order = options.order_accesses;
    let lowered = lower::run(&kernel, locations, facts, &mut assignment, block, order);
    let lowered = lowered.map_err(cause)?;
    let mut stages = Stages { kernel: &kernel, options, dump: None };
    let mut program = lowered.program;
    stages.verify("lower", &program)?;
    stages.keep("lower", &program);
    for pass in simplify::PASSES {
        program = (pass.run)(program, &options.budget.stop);
        // What a stopped pass gives is no program.
        options.budget.check()?;
        if options.verify_each {
            stages.verify(pass.name, &program)?;
        }
        stages.keep(pass.name, &program);
    }
    stages.verify("the last pass", &program)?;
    let lower::Lowered { movements, work, ordered, passed, .. } = lowered;
    let (dump, meaning) = (stages.dump, meaning.clone());
    Ok(Compiled { meaning, kernel, program, assignment, movements, work, ordered, passed, dump })
}

/// What speaks for each home, and what the next best would cost; nothing where the text itself says
/// where values live.
pub fn review(kernel: &Kernel, options: &Options) -> Result<Option<Review>, CompileError> {
    let facts = AxisFacts::of(kernel);
    assign::review(kernel, &facts, block(options), &options.pins)
        .map_err(|cause| refused(kernel, cause))
}

/// The kernel as TTGIR: with the homes that were chosen for it as encodings.
///
/// A kernel that came with encodings is given back as it is.
pub fn encoded(
    module: &Module,
    compiled: &Compiled,
    options: &Options,
) -> Result<Module, CompileError> {
    let kernel = &compiled.kernel;
    let (encoded, launch) = if kernel.is_encoded() {
        (kernel.clone(), module.launch.clone())
    } else {
        let block = block(options);
        assign::encode(kernel, &mut compiled.assignment.clone(), block)
            .map_err(|cause| refused(kernel, cause))?
    };
    Ok(Module { kernels: vec![encoded], locations: module.locations.clone(), launch })
}

struct Stages<'a> {
    kernel: &'a Kernel,
    options: &'a Options,
    dump: Option<String>,
}

impl Stages<'_> {
    /// Verifies what a pass left.
    fn verify(&self, pass: &'static str, program: &lane::Program) -> Result<(), CompileError> {
        lane::verify(program).map_err(|broken| CompileError::Broken {
            kernel: self.kernel.name.clone(),
            pass,
            broken: broken.into_iter().next().unwrap_or_default(),
        })
    }

    /// Keeps the text of what a pass left, if that was asked for.
    fn keep(&mut self, pass: &'static str, program: &lane::Program) {
        if self.options.dump_after.as_deref() == Some(pass) {
            self.dump = Some(program.to_string());
        }
    }
}

fn check_options(options: &Options) -> Result<(), CompileError> {
    let machine = &options.machine;
    let most = machine.threads_per_block >> machine.lanes_log2;
    if !options.warps.is_power_of_two() || options.warps > most {
        let machine = machine.name.to_string();
        return Err(CompileError::Warps { warps: options.warps, machine, most });
    }
    if !(1..=MOST_STAGES).contains(&options.stages) {
        return Err(CompileError::Stages(options.stages));
    }
    let names = || core::iter::once("lower").chain(simplify::PASSES.iter().map(|pass| pass.name));
    match &options.dump_after {
        Some(name) if !names().any(|known| known == name) => Err(CompileError::NoSuchPass {
            name: name.clone(),
            known: names().collect::<Vec<_>>().join(", "),
        }),
        _ => Ok(()),
    }
}

/// Checks that threads hold no more of any tensor than is allowed, which takes no time before anything
/// else does.
fn check_elements(kernel: &Kernel, options: &Options) -> Result<(), CompileError> {
    let threads = u64::from(options.warps) << options.machine.lanes_log2;
    let most = options.budget.limits.elements;
    let is_large = |op: &&Op| {
        let held = op.results.iter().map(|&result| kernel.ty(result));
        held.filter(|ty| ty.is_tensor()).any(|ty| ty.elements() / threads > most)
    };
    let Some(op) = kernel.ops.values().find(is_large) else { return Ok(()) };
    let what = format!("the result of this `{}`", op.kind.name());
    Err(Overrun::Limit { limit: Limit::Elements, what, most, loc: op.loc }.into())
}

fn check_launch(launch: &Launch, options: &Options) -> Result<(), CompileError> {
    match launch.warps {
        Some(given) if given != options.warps => {
            return Err(CompileError::GivenWarps { given, asked: options.warps });
        }
        _ => {}
    }
    let lanes = options.machine.lanes();
    match launch.lanes {
        Some(given) if given != lanes => {
            let machine = options.machine.name.to_string();
            Err(CompileError::GivenLanes { given, machine, lanes })
        }
        _ => Ok(()),
    }
}

fn check_shared_memory(program: &lane::Program, options: &Options) -> Result<(), CompileError> {
    let (needed, limit) = (u64::from(program.shared_bytes), options.machine.shared_bytes_per_block);
    if needed <= limit {
        return Ok(());
    }
    Err(CompileError::SharedMemory {
        kernel: program.name.clone(),
        needed,
        machine: options.machine.name.to_string(),
        limit,
    })
}

/// What the simulator needs to know of a machine: the banks, the phases of each access width, the
/// sectors. `resident_blocks` is how many blocks run at the same time.
pub fn simulated(machine: &Machine, resident_blocks: u32) -> sim::Machine {
    let phases = |kind: Kind, width_log2: u32| {
        let together = machine.phases.subspace(kind, width_log2);
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for lane in 0..machine.lanes() {
            // Lanes are served together when they differ by an element of the subspace.
            let same = |group: &&mut Vec<u32>| together.contains(u64::from(group[0] ^ lane));
            match groups.iter_mut().find(same) {
                Some(group) => group.push(lane),
                None => groups.push(vec![lane]),
            }
        }
        sim::Phases { lane_bytes: 1 << width_log2, groups }
    };
    let all = |kind| (0..=MAX_ACCESS_LOG2).map(|width_log2| phases(kind, width_log2)).collect();
    let merging = u32::from(machine.phases.merging);
    sim::Machine {
        banks: 1 << machine.banks_log2,
        store_banks: 1 << machine.store_banks_log2,
        bank_bytes: 1 << machine.bank_bytes_log2,
        sector_bytes: machine.sector_bytes,
        load_phases: all(Kind::Load),
        store_phases: all(Kind::Store),
        load_merge_masks: (0..8).map(|bit| 1 << bit).filter(|mask| merging & mask != 0).collect(),
        resident_blocks,
    }
}
