//! The pipeline, from a tile program to a lane program.
//!
//! [`compile`] reads like the table of contents of this crate. A kernel may be compiled in several ways: with the
//! factors of products in one memory or another, with more or fewer stages of software pipelines, at one price of
//! shared memory or another. These are a list of attempts, and the first program that fits a block is the answer.
//! The program is verified when it is lowered and when it is finished, and on request (and in debug builds) after
//! each pass; the text after any pass can be kept.

mod arguments;
mod attempt;
mod check;
mod error;
mod forms;
mod simulated;
mod warps;

pub use self::attempt::{Attempt, Factors};
pub use self::error::CompileError;
pub use self::simulated::simulated;
pub use self::warps::{Pressure, Relief};

use self::attempt::{Attempts, Futile};
use self::forms::{Form, Forms};
use crate::assign::{self, AssignError, Assignment, Block, Pin, Review, Spent};
use crate::axis::AxisFacts;
use crate::budget::{Budget, Overrun};
use crate::flat;
use crate::fuse;
use crate::lane;
use crate::lower::{self, Movement, Passed};
use crate::pipeline;
use crate::scaled;
use crate::simplify;
use crate::tile::{Kernel, LoopHints, Module, Op, OpId, OpKind, Value};
use weft_layout::machine::Machine;
use weft_layout::plan::PlanError;

/// The stages of software pipelines where nothing is said: Triton's default.
pub const DEFAULT_STAGES: u32 = 3;
/// The most stages that a pipeline may have: an error beyond, not a pipeline that fits nowhere.
const MOST_STAGES: u32 = 64;

/// Which of the descriptors that a kernel is given may be tensor maps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TensorMaps {
    /// None: the launcher takes them apart.
    #[default]
    None,
    /// All or none of a kernel's.
    All,
    /// Each by itself, whatever the others are.
    Each,
}

/// What global memory a launch gives each block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scratch {
    /// None.
    #[default]
    None,
    /// As many bytes as [`ptx::scratch_bytes`](crate::emit::ptx::scratch_bytes) says, for the tensor maps that a kernel
    /// makes.
    Maps,
}

/// When a block has more warps than were asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MoreWarps {
    /// Where their threads lack registers, or a multiprocessor has no other block to run.
    #[default]
    WhereBetter,
    /// Never.
    Never,
}

/// How a kernel is compiled.
#[derive(Clone, Debug)]
pub struct Options {
    /// The machine that the code is for.
    pub machine: Machine,
    /// Warps in a block: a power of two.
    pub warps: u32,
    /// Whether it may have more. Texts with layouts and pins count on their warps anyway.
    pub more_warps: MoreWarps,
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
    /// What global memory it gives each block.
    pub scratch: Scratch,
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
            more_warps: MoreWarps::default(),
            stages: DEFAULT_STAGES,
            fp_fusion: true,
            order_accesses: true,
            tensor_maps: TensorMaps::None,
            scratch: Scratch::None,
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
    /// Which of the ways to compile it this is.
    pub attempt: Attempt,
    /// Why its block has more warps than were asked for, if it has.
    pub relieved: Option<Relief>,
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

/// Compiles one kernel of a verified module.
pub fn compile(
    module: &Module,
    kernel: &Kernel,
    options: &Options,
) -> Result<Compiled, CompileError> {
    check::options(options)?;
    check::launch(&module.launch, options)?;
    check::elements(kernel, options)?;
    let meaning = meaning(kernel, options);
    let first = with_warps(module, &meaning, options)?;
    let best = relieved(module, &meaning, options, first);
    let best = in_place(module, &meaning, options, &best).unwrap_or(best);
    options.budget.check()?;
    Ok(best)
}

/// A kernel without products with its loads where they stand, if threads that have those of a round ahead lack registers,
/// which alone hold these, and more of them than do otherwise.
fn in_place(
    module: &Module,
    meaning: &Kernel,
    options: &Options,
    ahead: &Compiled,
) -> Option<Compiled> {
    let stop = &options.budget.stop;
    let lacking = |compiled: &Compiled| Some(Pressure::of(&compiled.program, stop)?.lacking());
    let multiplies = |op: &Op| op.kind.is_product();
    let before = lacking(ahead).filter(|&words| words > 0)?;
    if attempt::most_stages(meaning, options) < 2 || meaning.ops.values().any(multiplies) {
        return None;
    }
    let options = Options { stages: 1, ..options.clone() };
    let mut meaning = meaning.clone();
    for id in meaning.ops.keys() {
        if let OpKind::For(hints) = &mut meaning.ops[id].kind {
            hints.stages = None;
        }
    }
    let other = with_warps(module, &meaning, &options).ok()?;
    let other = relieved(module, &meaning, &options, other);
    (lacking(&other)? < before).then_some(other)
}

/// A compiled kernel with more warps, if that is better; what does not compile so stays as it is.
fn relieved(module: &Module, meaning: &Kernel, options: &Options, first: Compiled) -> Compiled {
    let stop = &options.budget.stop;
    let mut best = first;
    let mut wider = warps::doubled(meaning, &module.launch, options);
    let asked = Pressure::of(&best.program, stop).filter(|asked| asked.is_high());
    if let Some(asked) = asked {
        let mut now = Some(asked);
        while let (Some(pressure), Some(options)) = (now, wider) {
            let Ok(other) = with_warps(module, meaning, &options) else { break };
            let other_pressure = Pressure::of(&other.program, stop);
            now = other_pressure.filter(|other| other.lacking() < pressure.lacking());
            if now.is_some() {
                best = Compiled { relieved: Some(Relief::Registers(asked)), ..other };
            }
            wider = warps::doubled(meaning, &module.launch, &options);
        }
    } else if let Some(before) = warps::alone(&best.program, &options.machine, stop)
        && let Some(options) = wider
        && let Ok(other) = with_warps(module, meaning, &options)
    {
        let now = warps::time(&other.program, &options.machine, stop);
        if warps::is_faster(now, before) {
            let relief = Relief::Alone { warps: best.program.warps, before, now };
            best = Compiled { relieved: Some(relief), ..other };
        }
    }
    best
}

/// Compiles a kernel for a block of as many warps as the options say.
fn with_warps(
    module: &Module,
    meaning: &Kernel,
    options: &Options,
) -> Result<Compiled, CompileError> {
    let flat = flattened(meaning, options)?;
    let mut forms = Forms::new(flat.as_ref().unwrap_or(meaning), options);
    let mut attempts = Attempts::of(meaning, options);
    let mut needed = 0;
    while let Some(attempt) = attempts.next() {
        let Attempt { factors, stages, .. } = attempt;
        let form = match forms.form(attempt)? {
            Ok(form) => form,
            Err(futile) => {
                attempts.leave_out(futile);
                continue;
            }
        };
        match compile_as(module, meaning, &form, attempt, options) {
            Ok(compiled) if check::fits(&compiled.program, options) => return Ok(compiled),
            Ok(compiled) => {
                if compiled.assignment.total().is_none() {
                    attempts.leave_out(Futile::Prices(factors, stages));
                }
                if attempt.halvings == 0 {
                    needed = compiled.program.shared_bytes.into();
                }
            }
            Err(CompileError::Assign { cause: AssignError::NoBox { .. }, .. })
                if matches!(factors, Factors::Mapped { .. }) =>
            {
                attempts.leave_out(Futile::Factors(factors));
            }
            // Buffers of several stages may have none that copies could fill, where loads in place have.
            Err(CompileError::Assign { cause: AssignError::Plan(PlanError::TooLarge), .. })
                if stages > 1 && attempt.halvings == 0 =>
            {
                attempts.leave_out(Futile::Prices(factors, stages));
            }
            // With so little memory a movement may have no plan; what the kernel needs is what is told then.
            Err(_) if attempt.halvings > 0 => {}
            Err(error) => return Err(error),
        }
    }
    options.budget.check()?;
    let Machine { name, shared_bytes_per_block: limit, .. } = &options.machine;
    let (kernel, machine, limit) = (meaning.name.clone(), name.to_string(), *limit);
    Err(CompileError::SharedMemory { kernel, needed, machine, limit })
}

/// What a kernel computes when it is compiled so: products with scales are ones of widened factors where the machine
/// has no instruction for them, or where a pin says in which layout they are. A pinned product has a home, so it is
/// not fused.
fn meaning(kernel: &Kernel, options: &Options) -> Kernel {
    let pinned: Vec<Value> = options.pins.iter().map(|pin| pin.value).collect();
    let machine = &options.machine;
    let is_kept = |op: &Op| {
        let is_pinned = op.results.iter().any(|result| pinned.contains(result));
        !is_pinned && assign::multiplies_scaled(kernel, op, machine)
    };
    let plain = scaled::run(kernel, is_kept);
    let fused = options.fp_fusion.then(|| fuse::run(plain.as_ref().unwrap_or(kernel), &pinned));
    fused.flatten().or(plain).unwrap_or_else(|| kernel.clone())
}

/// The kernel with nested loops as one where the source asks for it, if that is of use: loads may be ahead of rounds. What
/// is pinned has to be there once.
fn flattened(kernel: &Kernel, options: &Options) -> Result<Option<Kernel>, Overrun> {
    let asks = |op: &Op| matches!(op.kind, OpKind::For(LoopHints { flatten: true, .. }));
    let is_of_use = options.pins.is_empty() && pipeline::has_copies(&options.machine);
    if !is_of_use || !kernel.ops.values().any(asks) {
        return Ok(None);
    }
    Ok(flat::run(kernel, &facts_of(kernel, options)?))
}

/// What is known of every value of a kernel, if that is still wanted.
fn facts_of(kernel: &Kernel, options: &Options) -> Result<AxisFacts, Overrun> {
    let Budget { stop, .. } = &options.budget;
    let facts = AxisFacts::of_until(kernel, stop);
    options.budget.check()?;
    Ok(facts)
}

/// Compiles a form of a kernel in one way, whether the program fits a block or not.
fn compile_as(
    module: &Module,
    meaning: &Kernel,
    form: &Form<'_>,
    attempt: Attempt,
    options: &Options,
) -> Result<Compiled, CompileError> {
    let options = &*attempt.options(options);
    let homes = assign::run(&form.kernel, &form.facts, block(options, attempt), &options.pins);
    with_homes(module, meaning, form, attempt, options, homes)
}

/// The kernel with the homes of a greedy choice, as Triton makes it: the heaviest access or product of tensors
/// that belong together decides, others convert.
pub fn compile_greedily(
    module: &Module,
    kernel: &Kernel,
    options: &Options,
) -> Result<Compiled, CompileError> {
    check::options(options)?;
    check::elements(kernel, options)?;
    let meaning = meaning(kernel, options);
    let form = Form::expanded(&meaning, options)?;
    let attempt = Attempt::PLAIN;
    let homes = assign::greedy(&form.kernel, &form.facts, block(options, attempt));
    with_homes(module, &meaning, &form, attempt, options, homes)
}

/// The block that homes are chosen for.
fn block(options: &Options, attempt: Attempt) -> Block<'_> {
    let Options { machine, warps, budget, .. } = options;
    Block { machine, warps: *warps, shared_byte: attempt.shared_byte, budget }
}

/// The program of a kernel with these homes: lowered, then simplified pass by pass.
fn with_homes(
    module: &Module,
    meaning: &Kernel,
    form: &Form<'_>,
    attempt: Attempt,
    options: &Options,
    homes: Result<Assignment, AssignError>,
) -> Result<Compiled, CompileError> {
    options.budget.check()?;
    let kernel = &*form.kernel;
    let mut assignment = homes.map_err(|cause| CompileError::refused(kernel, cause))?;
    let (locations, block) = (&module.locations, block(options, Attempt::PLAIN));
    let order = options.order_accesses;
    let lowered = lower::run(kernel, locations, &form.facts, &mut assignment, block, order)
        .map_err(|cause| CompileError::refused(kernel, cause))?;
    let mut stages = Stages { kernel, options, dump: None };
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
    Ok(Compiled {
        meaning: meaning.clone(),
        kernel: kernel.clone(),
        program,
        attempt,
        relieved: None,
        assignment,
        movements,
        work,
        ordered,
        passed,
        dump: stages.dump,
    })
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

impl Compiled {
    /// The block that homes were chosen for.
    fn block<'a>(&self, options: &'a Options, attempt: Attempt) -> Block<'a> {
        Block { warps: self.program.warps, ..block(options, attempt) }
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
        let block = self.block(options, Attempt::PLAIN);
        assign::spent(kernel, &facts, assignment, block, movements, work)
            .map_err(|cause| CompileError::refused(kernel, cause))
    }
}

/// What movements, accesses and arithmetic would cost with the homes of a greedy choice.
pub fn spent_greedily(
    module: &Module,
    kernel: &Kernel,
    options: &Options,
) -> Result<Spent, CompileError> {
    compile_greedily(module, kernel, options)?.spent(options)
}

/// What speaks for each home of a compiled kernel, and what the next best would cost, in the problem that was
/// solved for it; nothing where the text itself says where values live.
pub fn review(compiled: &Compiled, options: &Options) -> Result<Option<Review>, CompileError> {
    let Compiled { kernel, attempt, .. } = compiled;
    let options = &*attempt.options(options);
    let facts = AxisFacts::of(kernel);
    assign::review(kernel, &facts, compiled.block(options, *attempt), &options.pins)
        .map_err(|cause| CompileError::refused(kernel, cause))
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
        let block = compiled.block(options, Attempt::PLAIN);
        assign::encode(kernel, &mut compiled.assignment.clone(), block)
            .map_err(|cause| CompileError::refused(kernel, cause))?
    };
    Ok(Module { kernels: vec![encoded], locations: module.locations.clone(), launch })
}
