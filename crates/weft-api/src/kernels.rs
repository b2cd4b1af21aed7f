//! Triton IR to programs: reading, compiling, printing.

use crate::answer::{CompileAnswer, ConvertAnswer, MovementAnswer};
use crate::budget;
use crate::error::{ApiError, TextError};
use crate::occupancy;
use crate::reading;
use crate::request::{CompileRequest, DEFAULT_WARPS, Emit, machine};
use std::borrow::Cow;
use std::sync::OnceLock;
use weft::assign::{LayoutId, Pin, Trips};
use weft::axis::AxisFacts;
use weft::budget::{Bounds, Budget, Limit, Overrun};
use weft::compile::{self, CompileError, Compiled, MoreWarps, Options, Scratch, TensorMaps};
use weft::descriptors;
use weft::emit::{self, Language, Target, Unsupported, cuda, launcher, ptx};
use weft::lane::{self, Op, TensorMap, TensorWay};
use weft::location::Loc;
use weft::lower::Passed;
use weft::simplify::{order, park};
use weft::tile::{self, Kernel, Module, OpId, OpKind, Value};
use weft::ttir::{self, Places};
use weft_layout::machine::Isa;
use weft_layout::step::Strategy;
use weft_layout::{Machine, witness};

/// How many registers of a thread a bound may leave: what the assembler takes.
const REGISTERS: std::ops::RangeInclusive<u32> = 24..=255;

/// One kernel of a text, compiled.
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    /// The kernels of the text.
    pub module: Module,
    /// Which of them this is.
    pub index: usize,
    /// Which places its operations have.
    pub places: Places,
    /// What it was compiled for.
    pub machine: Cow<'static, Machine>,
    /// What is printed for it.
    pub target: Target,
    /// Warps in a block.
    pub warps: u32,
    /// The most stages of software pipelines.
    pub stages: u32,
    /// Whether products are fused with sums.
    pub fp_fusion: bool,
    /// The most registers of a thread in PTX, where somebody says.
    pub max_registers: Option<u32>,
    /// Whether PTX tells debuggers and profilers of lines.
    pub line_info: bool,
    /// Which descriptors that the kernel is given may be tensor maps.
    pub tensor_maps: TensorMaps,
    /// What memory the launcher gives blocks.
    pub scratch: Scratch,
    /// The homes that were asked for.
    pub pins: Vec<Pin>,
    /// The program, and the decisions that led to it.
    pub compiled: Compiled,
    /// The program without barriers between accesses to global memory, once somebody asked for it.
    unordered: OnceLock<Option<Compiled>>,
    /// What [`CompiledKernel::partial`] gives, once somebody asked for it.
    partial: OnceLock<Option<Kernel>>,
}

impl CompiledKernel {
    /// Reads a text and compiles the kernel that the request chooses.
    pub fn new(request: &CompileRequest) -> Result<Self, ApiError> {
        Self::for_launcher(request, TensorMaps::None, Scratch::None)
    }

    /// The same for a launcher that encodes descriptors as tensor maps, where the compiler wants that, and may give
    /// blocks memory for others that they make.
    pub fn for_launcher(
        request: &CompileRequest,
        tensor_maps: TensorMaps,
        scratch: Scratch,
    ) -> Result<Self, ApiError> {
        let CompileRequest { ttir, text_places, .. } = request;
        // What nobody can print nobody compiles, and the text of what is refused is not read.
        checked(request)?;
        let places = if *text_places { Places::Text } else { Places::Source };
        Self::of(read(ttir, places)?, places, request, (tensor_maps, scratch))
    }

    /// The kernel of a text that has been read; the request's own text plays no part.
    pub(crate) fn of(
        module: Module,
        places: Places,
        request: &CompileRequest,
        (tensor_maps, scratch): (TensorMaps, Scratch),
    ) -> Result<Self, ApiError> {
        let (machine, target) = checked(request)?;
        let CompileRequest {
            ttir: _,
            kernel,
            target: _,
            warps,
            stages,
            fp_fusion,
            pins,
            emit: _,
            dump_after,
            max_registers,
            line_info,
            text_places: _,
        } = request;
        let index = choose(&module, kernel.as_deref())?;
        let mut options = Options::for_machine(&machine);
        options.warps = warps.or(module.launch.warps).unwrap_or(DEFAULT_WARPS);
        // A bound of registers is meant for threads of so many warps.
        if max_registers.is_some() {
            options.more_warps = MoreWarps::Never;
        }
        options.stages = stages.unwrap_or(options.stages);
        options.fp_fusion = fp_fusion.unwrap_or(options.fp_fusion);
        (options.tensor_maps, options.scratch) = (tensor_maps, scratch);
        options.dump_after.clone_from(dump_after);
        let pinned = pins.iter().map(|pin| read_pin(&module.kernels[index], pin));
        options.pins = pinned.collect::<Result<_, _>>()?;
        options.budget = budget::current();
        budget::begin("while the kernel was compiled")?;
        let compiled = compile::compile(&module, &module.kernels[index], &options)
            .map_err(|error| refused(&module, error))?;
        let Options { stages, fp_fusion, pins, .. } = options;
        let warps = compiled.program.warps;
        let (max_registers, line_info) = (*max_registers, *line_info);
        Ok(Self {
            module,
            index,
            places,
            machine,
            target,
            warps,
            stages,
            fp_fusion,
            max_registers,
            line_info,
            tensor_maps,
            scratch,
            pins,
            compiled,
            unordered: OnceLock::new(),
            partial: OnceLock::new(),
        })
    }

    /// The tile program as it was read.
    pub fn kernel(&self) -> &Kernel {
        &self.module.kernels[self.index]
    }

    /// What the compiled program computes: the tile program as it was read, or with its products fused
    /// with sums.
    pub fn meaning(&self) -> &Kernel {
        &self.compiled.meaning
    }

    /// The tile program that was lowered: the one that says what is computed, or one whose loads run ahead.
    pub fn lowered(&self) -> &Kernel {
        &self.compiled.kernel
    }

    /// How it was compiled.
    pub fn options(&self) -> Options {
        let options = Options::for_machine(&self.machine);
        let Self { warps, stages, fp_fusion, tensor_maps, scratch, ref pins, .. } = *self;
        let budget = budget::current();
        let pins = pins.clone();
        Options {
            warps,
            more_warps: MoreWarps::Never,
            stages,
            fp_fusion,
            tensor_maps,
            scratch,
            pins,
            budget,
            ..options
        }
    }

    /// The tensor map of each descriptor that the kernel is given, in order, and whether blocks are stored through it;
    /// nothing where the launcher takes it apart.
    pub fn maps(&self) -> Vec<Option<(&TensorMap, bool)>> {
        let (kernel, Compiled { passed, program, .. }) = (self.kernel(), &self.compiled);
        let stores = |number: u32| {
            let mut stores = false;
            program.walk(&program.body, &mut |_, inst| {
                stores |= matches!(inst.op, Op::TensorCopy(copy)
                    if copy.map == number && copy.way != TensorWay::ToShared);
            });
            stores
        };
        let map_at = |first: usize| {
            let is_it = |passed: &Passed| matches!(passed, Passed::Map(parts) if parts.arguments.start == first);
            let number = passed.iter().position(is_it)?;
            let number = number as u32;
            program.maps.get(&number).map(|map| (map, stores(number)))
        };
        let first = |&given: &OpId| {
            let base = kernel.ops[given].operands.first();
            kernel.body.params.iter().position(|param| base == Some(param))
        };
        descriptors::given(kernel).iter().map(|given| first(given).and_then(map_at)).collect()
    }

    /// The program as it would be without the barriers that order accesses of one block to global memory,
    /// of which Triton inserts none; nothing where there are none.
    ///
    /// # Errors
    ///
    /// Where nobody wants it any more.
    pub fn unordered(&self) -> Result<Option<&Compiled>, ApiError> {
        if !self.compiled.ordered {
            return Ok(None);
        }
        kept(&self.unordered, || {
            let options = Options { order_accesses: false, ..self.options() };
            compile::compile(&self.module, self.kernel(), &options).ok()
        })
    }

    /// The part of the kernel that tells whether an operation meets operands for which Triton IR leaves its
    /// result open; nothing where none can.
    ///
    /// # Errors
    ///
    /// Where nobody wants it any more.
    pub fn partial(&self) -> Result<Option<&Kernel>, ApiError> {
        kept(&self.partial, || {
            let kernel = self.kernel();
            let facts = AxisFacts::of_until(kernel, &budget::current().stop);
            let mut open = Vec::new();
            kernel.walk(&kernel.body, &mut |id, op| {
                if op.is_partial() && facts.may_be_undefined(kernel, op) {
                    open.push(id);
                }
            });
            (!open.is_empty()).then(|| tile::slice(kernel, &open))
        })
    }

    /// The lane program that was compiled.
    pub fn program(&self) -> &lane::Program {
        &self.compiled.program
    }

    /// A place in the user's source as `file:line:column`.
    pub fn place(&self, loc: Loc) -> Option<String> {
        place(&self.module, loc)
    }

    /// A layout that the compiler chose, as text.
    pub fn layout(&self, id: LayoutId) -> String {
        self.compiled.assignment.layouts.get(id).to_string()
    }

    /// The text in a language.
    pub fn text(&self, language: Language) -> Result<String, ApiError> {
        let Budget { limits, stop } = budget::current();
        let bounds = Bounds { stop, most: limits.text_bytes };
        let text = match (language, self.target) {
            (Language::Ptx, Target::Nvidia(target)) => {
                ptx::print_within(self.program(), target, self.registers(), self.lines(), &bounds)
            }
            _ if self.max_registers.is_some() => {
                return Err(ApiError::Argument {
                    reason: "registers are bounded in PTX alone".into(),
                    hint: "leave `max_registers` out, or emit PTX".into(),
                });
            }
            _ if self.line_info => {
                return Err(ApiError::Argument {
                    reason: "line information is written in PTX alone".into(),
                    hint: "leave `line_info` out, or emit PTX".into(),
                });
            }
            _ => emit::print_within(self.program(), language, self.target, &bounds),
        };
        self.told(text)
    }

    /// A text that was printed, if it is within the budget.
    fn told(&self, text: Result<String, Unsupported>) -> Result<String, ApiError> {
        let text = text.map_err(|error| self.unsupported(error))?;
        self.within_budget(&text)?;
        Ok(text)
    }

    /// Whether a text is no longer than is allowed, and still wanted.
    fn within_budget(&self, text: &str) -> Result<(), ApiError> {
        let budget = budget::current();
        let most = budget.limits.text_bytes;
        let what = format!("the text of `{}`", self.kernel().name);
        let long = Overrun::Limit { limit: Limit::TextBytes, what, most, loc: self.kernel().loc };
        let is_short = text.len() as u64 <= most;
        let checked = budget.check().and(if is_short { Ok(()) } else { Err(long) });
        checked.map_err(|overrun| refused(&self.module, overrun.into()))
    }

    /// A C header with the PTX and the functions that launch it.
    pub fn launcher(&self) -> Result<String, ApiError> {
        let Target::Nvidia(target) = self.target else {
            return Err(ApiError::Argument {
                reason: format!("a launcher is made of PTX, and {} has none", self.machine.name),
                hint: "give a target of NVIDIA's, or emit HIP".into(),
            });
        };
        launcher::print(self.program(), target, self.registers(), self.lines())
            .map_err(|error| self.unsupported(error))
    }

    /// The PTX text as it may be assembled a second time: for so many blocks on a multiprocessor, and in the order
    /// that needs fewer registers, if there is one and it is asked for.
    pub fn second_ptx(&self, blocks: u32, sparing: bool) -> Result<String, ApiError> {
        let other = sparing.then(|| order::sparing(self.program())).flatten();
        let program = other.as_ref().unwrap_or_else(|| self.program());
        self.ptx_of(program, ptx::Registers::Blocks(blocks))
    }

    /// The PTX text in the order that needs fewer registers, if there is one and more registers, or more
    /// blocks, would help a kernel whose threads were given so many registers and so many bytes of a stack.
    pub fn sparing_ptx(
        &self,
        registers: u32,
        stack_bytes: u32,
    ) -> Result<Option<String>, ApiError> {
        let wanted = self.max_registers.is_none()
            && occupancy::wants_registers(&self.machine, self.program(), registers, stack_bytes);
        let other = wanted.then(|| order::sparing(self.program())).flatten();
        other.map(|program| self.ptx_of(&program, ptx::Registers::Balanced)).transpose()
    }

    /// The PTX text of a program that parks words in shared memory, if there are words to park and threads with so many
    /// registers have so many bytes of a stack besides; for so many blocks on a multiprocessor, if a number is given.
    /// With it stand the bytes of shared memory that a block takes, and those that each thread parks.
    pub fn parked_ptx(
        &self,
        registers: u32,
        stack_bytes: u32,
        blocks: Option<u32>,
        sparing: bool,
    ) -> Result<Option<(String, u32, u32)>, ApiError> {
        let other = sparing.then(|| order::sparing(self.program())).flatten();
        let program = other.as_ref().unwrap_or_else(|| self.program());
        let words = if self.max_registers.is_none() { stack_bytes.div_ceil(4) } else { 0 };
        let Some(program) = park::parked(program, words, registers) else { return Ok(None) };
        let blocks = blocks.map_or(ptx::Registers::Balanced, ptx::Registers::Blocks);
        let parked = program.shared_bytes - self.program().shared_bytes;
        let text = self.ptx_of(&program, blocks)?;
        Ok(Some((text, program.shared_bytes, parked / program.threads().max(1))))
    }

    /// The PTX text of a program in the place of the kernel's own.
    fn ptx_of(
        &self,
        program: &lane::Program,
        registers: ptx::Registers,
    ) -> Result<String, ApiError> {
        let Target::Nvidia(target) = self.target else { return self.ptx() };
        let Budget { limits, stop } = budget::current();
        let bounds = Bounds { stop, most: limits.text_bytes };
        self.told(ptx::print_within(program, target, registers, self.lines(), &bounds))
    }

    /// The blocks that run on a multiprocessor where each thread has so many registers.
    pub fn blocks(&self, registers: u32) -> u32 {
        occupancy::blocks_of(&self.machine, self.program(), registers)
    }

    /// Whether more blocks run on a multiprocessor where each thread has `found` registers than where it has `before`,
    /// and no less of what they load is under way at once.
    pub fn has_more(&self, found: u32, before: u32) -> bool {
        let blocks = |registers| self.blocks(registers);
        let loads = |registers| occupancy::under_way(&self.machine, self.program(), registers);
        blocks(found) > blocks(before) && loads(found) >= loads(before)
    }

    /// Whether more of what is loaded is under way at once on a multiprocessor where each thread has `found` registers
    /// than where it has `before`.
    pub fn loads_more(&self, found: u32, before: u32) -> bool {
        let loads = |registers| occupancy::under_way(&self.machine, self.program(), registers);
        loads(found) > loads(before)
    }

    /// For how many blocks on a multiprocessor a kernel had better be assembled again whose threads were
    /// given so many registers and so many bytes of a stack; `None` where that will do.
    pub fn second_assembly(&self, registers: u32, stack_bytes: u32) -> Option<u32> {
        if self.max_registers.is_some() {
            return None;
        }
        occupancy::second_assembly(&self.machine, self.program(), registers, stack_bytes)
    }

    fn registers(&self) -> ptx::Registers {
        self.max_registers.map_or(ptx::Registers::Balanced, ptx::Registers::AtMost)
    }

    fn lines(&self) -> ptx::LineInfo {
        if self.line_info { ptx::LineInfo::Written } else { ptx::LineInfo::Omitted }
    }

    fn unsupported(&self, error: Unsupported) -> ApiError {
        let place = self.module.locations.source(error.loc);
        ApiError::Emit { error, place }
    }

    /// The tile program with the homes that were chosen as encodings.
    pub fn ttgir(&self) -> Result<String, ApiError> {
        let options = self.options();
        Ok(compile::encoded(&self.module, &self.compiled, &options)?.to_string())
    }

    /// The text in PTX, or why there is none.
    pub fn ptx(&self) -> Result<String, ApiError> {
        self.text(Language::Ptx)
    }

    /// The name under which a driver finds the kernel in its PTX.
    pub fn symbol(&self) -> String {
        ptx::symbol(&self.kernel().name)
    }

    /// The kernel's name in its CUDA and HIP texts.
    pub fn cuda_symbol(&self) -> String {
        cuda::symbol(&self.kernel().name)
    }

    /// Every movement of data between threads, in the program's order.
    pub fn movements(&self) -> Vec<MovementAnswer> {
        let kernel = self.lowered();
        let trips = Trips::of(kernel);
        let movements = self.compiled.movements.iter();
        let answer = |movement: &weft::lower::Movement| {
            let op = &kernel.ops[movement.op];
            MovementAnswer {
                value: kernel.value_name(movement.value),
                ty: kernel.ty(movement.value).bare().to_string(),
                operation: op.kind.name(),
                place: self.place(op.loc),
                from: self.layout(movement.from),
                to: self.layout(movement.to),
                times: trips.of_op(movement.op),
                movement: ConvertAnswer::of(&movement.plan),
            }
        };
        movements.map(answer).collect()
    }

    /// Has the witness replay every movement's plan, lane by lane, and says how many there are.
    pub fn verify(&self) -> Result<usize, ApiError> {
        let layouts = &self.compiled.assignment.layouts;
        for movement in &self.compiled.movements {
            let (from, to) = (layouts.get(movement.from), layouts.get(movement.to));
            let op = &self.lowered().ops[movement.op];
            let outcome = match (movement.plan.strategy, &op.kind) {
                (Strategy::Reduction, OpKind::Reduce { axis, .. }) => {
                    witness::reduction(&movement.plan, from, usize::from(*axis), to)
                }
                _ => witness::conversion(&movement.plan, from, to),
            };
            outcome.map_err(|error| ApiError::Refused {
                what: format!("the movement of {}", self.lowered().value_name(movement.value)),
                error,
            })?;
        }
        Ok(self.compiled.movements.len())
    }
}

/// What a kernel becomes. The report is not in here: it is written from [`explain`](crate::explain).
pub fn compile(request: &CompileRequest) -> Result<(CompiledKernel, CompileAnswer), ApiError> {
    let kernel = CompiledKernel::new(request)?;
    let wanted = |emit| request.emit.contains(&emit);
    let text = |emit, language| wanted(emit).then(|| kernel.text(language)).transpose();
    let answer = CompileAnswer {
        name: kernel.kernel().name.clone(),
        target: kernel.machine.name.to_string(),
        warps: kernel.warps,
        shared_bytes: kernel.program().shared_bytes,
        conversions: kernel.movements(),
        ptx: text(Emit::Ptx, Language::Ptx)?,
        cuda: text(Emit::Cuda, Language::Cuda)?,
        hip: text(Emit::Hip, Language::Hip)?,
        tile: wanted(Emit::Tile).then(|| kernel.module.to_string()),
        ttgir: wanted(Emit::Ttgir).then(|| kernel.ttgir()).transpose()?,
        lane: wanted(Emit::Lane).then(|| kernel.program().to_string()),
        report: None,
        c_launcher: wanted(Emit::Launcher).then(|| kernel.launcher()).transpose()?,
        dump: kernel.compiled.dump.clone(),
    };
    Ok((kernel, answer))
}

/// The machine of a request and what is printed for it, where what is asked of them is possible.
fn checked(request: &CompileRequest) -> Result<(Cow<'static, Machine>, Target), ApiError> {
    if let Some(most) = request.max_registers.filter(|most| !REGISTERS.contains(most)) {
        return Err(ApiError::Argument {
            reason: format!("a thread of at most {most} registers is not possible"),
            hint: format!("give from {} to {}", REGISTERS.start(), REGISTERS.end()),
        });
    }
    let machine = machine(&request.target)?;
    let target = printed(&machine)?;
    Ok((machine, target))
}

/// What is printed for a machine; one of NVIDIA's may be known by another name.
pub(crate) fn printed(machine: &Machine) -> Result<Target, ApiError> {
    let target = match machine.isa {
        Isa::Ptx { capability } => Target::by_name(&format!("sm_{capability}")),
        _ => Target::by_name(&machine.name),
    };
    target.ok_or_else(|| ApiError::NoPrinter { name: machine.name.to_string() })
}

/// Why a kernel was not compiled, with the place where a limit was met.
pub(crate) fn refused(module: &Module, error: CompileError) -> ApiError {
    let place = match &error {
        CompileError::Overrun(Overrun::Limit { loc, .. }) => module.locations.source(*loc),
        _ => None,
    };
    match error.into() {
        ApiError::Limit { error, .. } => ApiError::Limit { error, place },
        error => error,
    }
}

/// What is made once and kept, but for what was made while the work was stopped: that lacks something.
fn kept<T>(
    place: &OnceLock<Option<T>>,
    make: impl FnOnce() -> Option<T>,
) -> Result<Option<&T>, ApiError> {
    if let Some(made) = place.get() {
        return Ok(made.as_ref());
    }
    let made = make();
    budget::check()?;
    Ok(place.get_or_init(|| made).as_ref())
}

pub(crate) fn read(text: &str, places: Places) -> Result<Module, ApiError> {
    budget::begin("while the text was read")?;
    let read = ttir::parse_within(text, places, &budget::current());
    // What is read until then may be anything.
    budget::check()?;
    read.map_err(|diagnostics| ApiError::Text(TextError::new(diagnostics, text)))
}

pub(crate) fn choose(module: &Module, name: Option<&str>) -> Result<usize, ApiError> {
    let known = || module.kernels.iter().map(|kernel| kernel.name.clone()).collect();
    match name {
        Some(name) => {
            let found = module.kernels.iter().position(|kernel| kernel.name == name);
            let missing = || ApiError::NoKernel { name: Some(name.into()), known: known() };
            found.ok_or_else(missing)
        }
        None => match module.kernels.len() {
            0 => Err(ApiError::NoKernel { name: None, known: Vec::new() }),
            1 => Ok(0),
            _ => Err(ApiError::Kernels { known: known() }),
        },
    }
}

/// A value and the layout that it shall live in, from `NAME=ATTR`.
fn read_pin(kernel: &Kernel, text: &str) -> Result<Pin, ApiError> {
    let refused = |reason: String, hint: &str| ApiError::Argument { reason, hint: hint.into() };
    let Some((name, attribute)) = text.split_once('=') else {
        let hint = "a pin is a value and a layout, such as %tile=#ttg.blocked<{…}>";
        return Err(refused(format!("the pin `{text}` has no `=`"), hint));
    };
    let name = name.trim();
    let known = |&value: &Value| {
        let spelled = kernel.value_name(value);
        spelled == name || spelled.strip_prefix('%') == Some(name)
    };
    let value = kernel.values.keys().find(known).ok_or_else(|| {
        refused(format!("there is no value `{name}` to pin"), "`weft explain` names the values")
    })?;
    let ty = kernel.ty(value);
    if !ty.is_tensor() {
        let reason = format!("`{name}` is no tensor: every thread holds it");
        return Err(refused(reason, "pin a value with a home; `weft explain` lists them"));
    }
    let layout = reading::read_linear("pin", &attribute.trim().into(), &ty.shape)?;
    Ok(Pin { value, layout })
}

/// A place in the user's source as `file:line:column`.
pub(crate) fn place(module: &Module, loc: Loc) -> Option<String> {
    module.locations.resolve(loc).map(|(file, line, column)| format!("{file}:{line}:{column}"))
}
