//! Why a request could not be answered.
//!
//! An [`ApiError`] keeps what the layer below said, so that a shell can draw it; its message says what
//! is wrong, [`ApiError::place`] where, and [`ApiError::hint`] what would be right.

mod hint;

pub(crate) use hint::raised;

use crate::machines::MachineError;
use thiserror::Error;
use weft::budget::Overrun;
use weft::compile::CompileError;
use weft::diagnostic::Diagnostics;
use weft::emit::Unsupported;
use weft::location::Source;
use weft::movement::Misfit;
use weft::sim::SimError;
use weft::tile::eval::EvalError;
use weft_layout::LayoutError;
use weft_layout::access::ConflictsError;
use weft_layout::family::FamilyError;
use weft_layout::interop::ParseError;
use weft_layout::interop::cute::{CuteLayout, ImportError};
use weft_layout::plan::PlanError;
use weft_layout::plan::swizzle::{CheckError, SwizzleError};
use weft_layout::witness::WitnessError;

/// Why a request could not be answered.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ApiError {
    /// The text is no JSON, or a value in it has another type than the request's.
    #[error("{message}")]
    Json {
        /// What is wrong with it.
        message: String,
        /// Where in the request, as keys and indices: `shape[1]`; none where it is no request.
        path: Option<String>,
        /// The line of the text, from one.
        line: usize,
        /// The column in that line, from one.
        column: usize,
    },
    /// The text is JSON and does not say what is asked.
    #[error("the request does not say what it asks for")]
    NoRequest {
        /// The requests there are.
        known: &'static [&'static str],
    },
    /// There is no such request.
    #[error("there is no request `{name}`")]
    UnknownRequest {
        /// The name that was asked for.
        name: String,
        /// The requests there are.
        known: &'static [&'static str],
    },
    /// A request has a key that it does not take.
    #[error("a `{request}` request does not take `{key}`")]
    UnknownKey {
        /// The name of the request.
        request: &'static str,
        /// The key that it does not take.
        key: String,
        /// The keys that it takes.
        known: &'static [&'static str],
    },
    /// There is no such machine.
    #[error("there is no target `{name}`")]
    Target {
        /// What was asked for.
        name: String,
    },
    /// The machine that is given whole is none.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The machine is known, and there is no printer of code for it.
    #[error("there is no printer for `{name}` yet")]
    NoPrinter {
        /// The name of the machine.
        name: String,
    },
    /// The machine is not one of NVIDIA's.
    #[error("there are no experiments for `{name}`: only NVIDIA's GPUs are probed")]
    NoProbe {
        /// The name of the machine.
        name: String,
    },
    /// There is no such element type.
    #[error("there is no element type `{name}`")]
    Element {
        /// What was asked for.
        name: String,
        /// The types there are, with commas.
        known: String,
    },
    /// The element type is missing, or given twice.
    #[error("the element's type is {0}")]
    ElementCount(&'static str),
    /// A tensor of this shape is not possible.
    #[error("{reason}")]
    Shape {
        /// What is wrong with it.
        reason: String,
        /// What would be right.
        hint: String,
    },
    /// The text of a layout cannot be read.
    #[error("`{parameter}`, column {column}: {}", .error.kind)]
    Attribute {
        /// Which of the request's layouts.
        parameter: &'static str,
        /// The column of the fault, from one.
        column: usize,
        /// What is wrong with it.
        error: Box<ParseError>,
    },
    /// The layout does not exist for the shape.
    #[error("`{parameter}`: {error}")]
    Family {
        /// Which of the request's layouts.
        parameter: &'static str,
        /// What the family says.
        error: Box<FamilyError>,
    },
    /// The bases are those of no layout.
    #[error("`{parameter}`{}: {error}", of_basis(.basis.as_ref()))]
    Layout {
        /// Which of the request's layouts.
        parameter: &'static str,
        /// The basis at fault: its axis and its bit.
        basis: Option<(String, usize)>,
        /// What the engine says.
        error: Box<LayoutError>,
    },
    /// A CuTe layout is no matrix of bits.
    #[error("`{parameter}`: {error}")]
    Cute {
        /// Which of the request's layouts.
        parameter: &'static str,
        /// What stands against it.
        error: Box<ImportError>,
        /// A layout that holds it, where it is known.
        grown: Option<CuteLayout>,
    },
    /// A layout says nothing about the size of its tensor, and nor does the request.
    #[error("`{parameter}` does not say how large its tensor is")]
    ShapeMissing {
        /// Which of the request's layouts.
        parameter: &'static str,
    },
    /// The layout is of another tensor.
    #[error("`{parameter}` is a layout of a tensor of shape {found:?}, not {expected:?}")]
    OtherShape {
        /// Which of the request's layouts.
        parameter: &'static str,
        /// The shape that the layout has.
        found: Vec<u64>,
        /// The shape that the request has.
        expected: Vec<u64>,
    },
    /// The layout cannot be drawn so.
    #[error("{reason}")]
    Picture {
        /// What is in the way.
        reason: String,
        /// What would be right.
        hint: String,
    },
    /// There is no way from one layout to the other.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A plan cannot be written as a function.
    #[error(transparent)]
    Movement(#[from] Misfit),
    /// The conflicts of these layouts cannot be counted.
    #[error(transparent)]
    Conflicts(#[from] ConflictsError),
    /// A movement has no such instruction or warp.
    #[error("there is no {what} {asked}: the first is 0, and there are {count}")]
    Instruction {
        /// What there is not: `instruction` or `warp`.
        what: &'static str,
        /// Which one was asked for.
        asked: u64,
        /// How many there are.
        count: u64,
    },
    /// The memories cannot be swept.
    #[error("{reason}")]
    Sweep {
        /// Why they cannot be swept, in a sentence.
        reason: String,
    },
    /// There is no swizzle for these accesses.
    #[error(transparent)]
    Swizzle(SwizzleError),
    /// A swizzle needs something to load.
    #[error("a swizzle is for one store and at least one load")]
    NoLoads,
    /// The tensor memory accelerator cannot take part in a swizzle.
    #[error("`tma`: {reason}")]
    Tma {
        /// Why it cannot take part, in a sentence.
        reason: String,
    },
    /// The threads of a layout do not fill the waves of a machine.
    #[error(
        "`{parameter}` has {} threads, and a wave of {machine} has {}",
        power(*threads), power(*lanes)
    )]
    Threads {
        /// Which of the request's layouts.
        parameter: &'static str,
        /// The logarithm of its threads.
        threads: u32,
        /// The name of the machine.
        machine: String,
        /// The logarithm of its lanes.
        lanes: u32,
    },
    /// There is not one weight for each access.
    #[error("{given} weights are given for {accesses} accesses")]
    Weights {
        /// How many weights there are.
        given: usize,
        /// How many accesses there are.
        accesses: usize,
    },
    /// A weight is larger than can be counted with.
    #[error("a weight of {weight} is more than {most}")]
    Weight {
        /// The weight that was given.
        weight: u64,
        /// The largest weight that is taken.
        most: u64,
    },
    /// A swizzle failed its check: a defect of this compiler, never of its input.
    #[error("the swizzle fails its check: {error} (a defect of weft)")]
    Unchecked {
        /// What the check found.
        error: CheckError,
    },
    /// A plan or program failed its check: a defect of this compiler, never of its input.
    #[error("{what} fails its check: {error} (a defect of weft)")]
    Refused {
        /// The plan or program that was checked.
        what: String,
        /// What the witness found.
        error: WitnessError,
    },
    /// The Triton IR cannot be read.
    #[error("{}", .0.message())]
    Text(TextError),
    /// The text has no kernel, or none of that name.
    #[error("{}", no_kernel(.name.as_deref()))]
    NoKernel {
        /// The name asked for.
        name: Option<String>,
        /// The kernels there are.
        known: Vec<String>,
    },
    /// The text has several kernels, and none was chosen.
    #[error("the text has {} kernels, and none is chosen", .known.len())]
    Kernels {
        /// The kernels there are.
        known: Vec<String>,
    },
    /// The kernel cannot be compiled.
    #[error(transparent)]
    Compile(CompileError),
    /// It takes more work than is allowed.
    #[error("{error}{}", at(.place.as_ref()))]
    Limit {
        /// The limit, and what went beyond it.
        error: Overrun,
        /// The place in the user's source.
        place: Option<Source>,
    },
    /// It takes more time than is allowed.
    #[error("the request takes more than {milliseconds} milliseconds{}", over(*.during))]
    Late {
        /// The time that is allowed, in milliseconds.
        milliseconds: u64,
        /// What was done when they were over, as the end of a sentence.
        during: Option<&'static str>,
    },
    /// An array asks for more than is answered in one go.
    #[error("an array of requests has at most {most} {of}")]
    Together {
        /// How many there may be.
        most: u64,
        /// What there may be so many of.
        of: &'static str,
    },
    /// Nobody wants the answer any more.
    #[error("the request was stopped")]
    Stopped,
    /// The program cannot be printed for the target.
    #[error("{error}{}", at(.place.as_ref()))]
    Emit {
        /// What cannot be said.
        error: Unsupported,
        /// The place in the user's source.
        place: Option<Source>,
    },
    /// The grid is not possible.
    #[error("{reason}")]
    Grid {
        /// What is wrong with it.
        reason: String,
    },
    /// An argument is missing, unknown, or not what the kernel takes.
    #[error("{reason}")]
    Argument {
        /// What is wrong with it, in a sentence.
        reason: String,
        /// What would be right.
        hint: String,
    },
    /// The reference evaluator refused the kernel.
    #[error(transparent)]
    Evaluate(#[from] EvalError),
    /// The simulator refused the launch.
    #[error(transparent)]
    Simulate(#[from] SimError),
}

/// Everything that is wrong with a text of Triton IR, each with its line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// What is wrong; never empty.
    pub diagnostics: Diagnostics,
    /// Line and column of each, both from one.
    pub places: Vec<(usize, usize)>,
}

impl TextError {
    /// Finds the places of diagnostics in the text that they are about.
    pub fn new(diagnostics: Diagnostics, text: &str) -> Self {
        let places = diagnostics.0.iter().map(|error| error.span.line_column(text)).collect();
        Self { diagnostics, places }
    }

    fn message(&self) -> String {
        let Some(first) = self.diagnostics.0.first() else { return "the text is refused".into() };
        match self.diagnostics.0.len() {
            1 => first.message.clone(),
            count => format!("{} (and {} more)", first.message, count - 1),
        }
    }
}

impl ApiError {
    /// The layout of a `layout` request is not one that can be drawn.
    pub(crate) fn drawing(error: LayoutError) -> Self {
        ApiError::Layout { parameter: "attribute", basis: None, error: Box::new(error) }
    }

    /// What sort of error it is, as a word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            ApiError::Json { .. } => "json",
            ApiError::NoRequest { .. }
            | ApiError::UnknownRequest { .. }
            | ApiError::UnknownKey { .. } => "request",
            ApiError::Target { .. }
            | ApiError::Machine(_)
            | ApiError::NoPrinter { .. }
            | ApiError::NoProbe { .. } => "target",
            ApiError::Element { .. } | ApiError::ElementCount(_) => "element",
            ApiError::Shape { .. }
            | ApiError::ShapeMissing { .. }
            | ApiError::OtherShape { .. } => "shape",
            ApiError::Attribute { .. }
            | ApiError::Family { .. }
            | ApiError::Cute { .. }
            | ApiError::Layout { .. } => "attribute",
            ApiError::Picture { .. } => "picture",
            ApiError::Plan(_) | ApiError::Movement(_) => "plan",
            ApiError::Conflicts(_) | ApiError::Instruction { .. } | ApiError::Sweep { .. } => {
                "conflicts"
            }
            ApiError::Swizzle(_)
            | ApiError::NoLoads
            | ApiError::Tma { .. }
            | ApiError::Threads { .. }
            | ApiError::Weights { .. }
            | ApiError::Weight { .. } => "swizzle",
            ApiError::Refused { .. } | ApiError::Unchecked { .. } => "defect",
            ApiError::Text(_) => "ttir",
            ApiError::NoKernel { .. } | ApiError::Kernels { .. } => "kernel",
            ApiError::Compile(CompileError::Broken { .. }) => "defect",
            ApiError::Compile(_) => "compile",
            ApiError::Limit { .. } | ApiError::Late { .. } | ApiError::Together { .. } => "limit",
            ApiError::Stopped => "stopped",
            ApiError::Emit { .. } => "emit",
            ApiError::Grid { .. } => "grid",
            ApiError::Argument { .. } => "argument",
            ApiError::Evaluate(_) => "evaluate",
            ApiError::Simulate(_) => "simulate",
        }
    }

    /// The part of the request that has another type than the request's, as keys and indices.
    pub fn path(&self) -> Option<&str> {
        match self {
            ApiError::Json { path, .. } => path.as_deref(),
            _ => None,
        }
    }

    /// The place in the source that the text was made from, such as a line of Python.
    pub fn source(&self) -> Option<&Source> {
        match self {
            ApiError::Text(text) => text.diagnostics.0.first()?.source.as_ref(),
            ApiError::Emit { place, .. } | ApiError::Limit { place, .. } => place.as_ref(),
            _ => None,
        }
    }

    /// Line and column of the text that the error is about, both from one.
    pub fn place(&self) -> Option<(usize, usize)> {
        match self {
            ApiError::Json { line, column, .. } => Some((*line, *column)),
            ApiError::Attribute { column, .. } => Some((1, *column)),
            ApiError::Text(text) => text.places.first().copied(),
            _ => None,
        }
    }
}

impl From<SwizzleError> for ApiError {
    fn from(error: SwizzleError) -> Self {
        match error {
            SwizzleError::Stopped => ApiError::Stopped,
            error => ApiError::Swizzle(error),
        }
    }
}

impl From<CompileError> for ApiError {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::Overrun(Overrun::Stopped) => ApiError::Stopped,
            CompileError::Overrun(error) => ApiError::Limit { error, place: None },
            error => ApiError::Compile(error),
        }
    }
}

fn power(log2: u32) -> u64 {
    1_u64.checked_shl(log2).unwrap_or(u64::MAX)
}

fn no_kernel(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("the text has no kernel `{name}`"),
        None => "the text has no kernel".into(),
    }
}

fn of_basis(basis: Option<&(String, usize)>) -> String {
    basis.map(|(axis, bit)| format!(", basis {bit} of `{axis}`")).unwrap_or_default()
}

fn over(during: Option<&str>) -> String {
    during.map(|during| format!(": they were over {during}")).unwrap_or_default()
}

fn at(place: Option<&Source>) -> String {
    place.map(|place| format!(", at {place}")).unwrap_or_default()
}
