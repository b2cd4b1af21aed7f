//! What can be asked, as data.
//!
//! Every request is a JSON object whose key `request` names it; the other keys are the fields below.
//! The texts inside a request (element types, shapes, grids, argument values) are those of the command.
//!
//! Words that a key takes are an enumeration, whose comments are also what the schema of an agent's tool says of
//! them (feature `agent`) and what the command's help does (feature `command`).

use crate::bases::LayoutSource;
use crate::error::ApiError;
use crate::machines;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use weft::dtype::DType;
use weft::sim;
use weft_layout::Machine;

/// The machine that is meant when a request names none.
pub const DEFAULT_TARGET: &str = "sm_90";
/// The warps of a block when a request does not say: Triton's default.
pub const DEFAULT_WARPS: u32 = 4;
/// The most elements of a tensor that a request may ask about.
const MAX_ELEMENTS: u64 = 1 << 24;

/// Which machines are known, and what is known of them?
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct MachinesRequest {
    /// This machine alone; all if it is not given.
    pub target: Option<Target>,
}

/// What is this layout?
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct LayoutRequest {
    /// The layout: a Triton attribute, a layout's bases, or a CuTe layout.
    pub attribute: LayoutSource,
    /// The tensor's extents; an attribute needs them, the others know their own.
    #[serde(default)]
    pub shape: Vec<u64>,
    /// The type of the elements.
    pub element: Option<String>,
    /// The elements' width, instead of a type.
    pub element_bits: Option<u32>,
    /// How it is shown; not at all if it is not given.
    pub format: Option<Format>,
    /// What an SVG file shows: the grid if it is not given.
    pub picture: Option<Picture>,
    /// Where a grid or a bank map cuts the tensor: coordinates of the axes before the last two, 0
    /// where they are not given.
    #[serde(default)]
    pub slice: Vec<u64>,
    /// Show everything, up to 65536 cells; an SVG file always does.
    #[serde(default)]
    pub all: bool,
    /// The machine whose banks are shown.
    #[serde(default)]
    pub target: Target,
    /// Whether the answer tells the layout's names in the terms of others.
    #[serde(default)]
    pub names: bool,
}

/// What does an operator make of layouts?
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct OperateRequest {
    /// The operator that is applied.
    pub operator: Operator,
    /// The layout, in any of its texts or as data.
    pub layout: LayoutSource,
    /// Its tensor's extents; an attribute needs them, the others know their own.
    #[serde(default)]
    pub shape: Vec<u64>,
    /// The second layout, for an operator of two.
    pub other: Option<LayoutSource>,
    /// The extents of the second layout's tensor.
    #[serde(default)]
    pub other_shape: Vec<u64>,
    /// The axes in their new order, for [`Operator::Transpose`]; the new extents, for
    /// [`Operator::Reshape`].
    #[serde(default)]
    pub to: Vec<u64>,
}

/// An operator on layouts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Operator {
    /// The layout first, then the other one (definition 4.2).
    #[default]
    Compose,
    /// Both side by side, the bits of the other one above (definition 4.3).
    Product,
    /// The layout whose product with the other one on the left is the layout (definition 4.4).
    Divide,
    /// The inverse of the layout.
    Invert,
    /// The layout of the tensor with its axes in another order.
    Transpose,
    /// The layout of the tensor under another shape, its elements in row-major order.
    Reshape,
}

impl Operator {
    /// Its name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Compose => "compose",
            Operator::Product => "product",
            Operator::Divide => "divide",
            Operator::Invert => "invert",
            Operator::Transpose => "transpose",
            Operator::Reshape => "reshape",
        }
    }
}

/// A picture of a layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "command", derive(clap::ValueEnum), value(rename_all = "lower"))]
#[serde(rename_all = "lowercase")]
pub enum Picture {
    /// The tensor's last two axes, each element with the thread and register, or the offset, that
    /// hold it.
    #[default]
    Grid,
    /// Registers and lanes, or offsets, each with the element that it holds.
    Hardware,
    /// The tensor's last two axes, each element with its offset and bank.
    Banks,
    /// The matrix over F2.
    Matrix,
}

/// How a layout is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "command", derive(clap::ValueEnum), value(rename_all = "lower"))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Its bases, an axis a line.
    Text,
    /// The picture `grid` as text.
    Grid,
    /// The picture `hardware` as text.
    Hardware,
    /// The picture `banks` as text.
    Banks,
    /// The picture `matrix` as text.
    Matrix,
    /// The request's picture as an SVG file.
    Svg,
}

/// How does a tensor get from one layout into another?
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct ConvertRequest {
    /// The layout the tensor is in.
    pub from: LayoutSource,
    /// The layout to move it to.
    pub to: LayoutSource,
    /// The extents of the tensor, `dim0` first.
    pub shape: Vec<u64>,
    /// The type of the elements.
    pub element: Option<String>,
    /// The elements' width, instead of a type.
    pub element_bits: Option<u32>,
    /// The machine that it is for.
    #[serde(default)]
    pub target: Target,
    /// What to print; the answer has no text if it is not given.
    pub emit: Option<EmitConversion>,
}

/// What is printed of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "command", derive(clap::ValueEnum), value(rename_all = "lower"))]
#[serde(rename_all = "lowercase")]
pub enum EmitConversion {
    /// The plan, for people.
    Plan,
    /// Registers and memory, movement by movement, as text.
    Picture,
    /// The same as an SVG file.
    Svg,
    /// A device function in PTX.
    Ptx,
    /// A device function in CUDA C++.
    Cuda,
    /// A device function in HIP C++.
    Hip,
}

/// Where does a tensor lie best in shared memory?
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct SwizzleRequest {
    /// The layout from which it is stored, or `tma`: the tensor memory accelerator writes it.
    pub store: LayoutSource,
    /// The layouts into which it is loaded, or `tma`.
    pub loads: Vec<LayoutSource>,
    /// The extents of the tensor, `dim0` first.
    pub shape: Vec<u64>,
    /// The type of the elements.
    pub element: Option<String>,
    /// The elements' width, instead of a type.
    pub element_bits: Option<u32>,
    /// The machine that it is for.
    #[serde(default)]
    pub target: Target,
    /// Further machines on which the same memory layout must be good. Where one of them has waves of
    /// another width, the same threads, counted through all warps, are cut into waves of that width.
    #[serde(default)]
    pub also: Vec<Target>,
    /// How often the store and each load of threads happen; once each if it is not given.
    #[serde(default)]
    pub weights: Vec<u64>,
    /// The most bytes of the buffer, where that is less than a block can have; a larger tensor goes in
    /// rounds.
    pub scratch_bytes: Option<u64>,
    /// Show the steps of the paper's construction, for one load.
    #[serde(default)]
    pub trace: bool,
    /// Whether accesses may be matrix moves (`ldmatrix`, `stmatrix`) where the machine has them; else
    /// they are plain vectors. They may, unless this is `false`.
    pub matrix_moves: Option<bool>,
}

/// What becomes of a kernel, or of the accesses of a buffer, on another machine?
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct PortRequest {
    /// The kernel: Triton IR, or what Triton makes of it for the first machine (TTGIR).
    pub ttir: Option<String>,
    /// Which kernel, if the text has several.
    pub kernel: Option<String>,
    /// Warps in a block on the new machine; as many threads as before, unless said.
    pub warps: Option<u32>,
    /// Instead of a kernel, a buffer of shared memory: the layout from which it is stored.
    pub store: Option<LayoutSource>,
    /// The layouts into which the buffer is loaded.
    #[serde(default)]
    pub loads: Vec<LayoutSource>,
    /// The buffer's layout on the first machine, whose conflicts are counted on both.
    pub memory: Option<LayoutSource>,
    /// The extents of the buffer's tensor.
    #[serde(default)]
    pub shape: Vec<u64>,
    /// The type of the elements.
    pub element: Option<String>,
    /// The elements' width, instead of a type.
    pub element_bits: Option<u32>,
    /// The machine that it was made for.
    #[serde(default)]
    pub from: Target,
    /// The machine that it shall be for; gfx942 if it is not given.
    pub target: Option<Target>,
    /// What to print; the answer has no text if it is not given.
    pub emit: Option<EmitPort>,
}

/// What is printed of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "command", derive(clap::ValueEnum), value(rename_all = "lower"))]
#[serde(rename_all = "lowercase")]
pub enum EmitPort {
    /// What maps and what changes, for people.
    Report,
    /// The kernel in HIP C++; of a buffer the function that gives the offset of an element.
    Hip,
    /// The kernel without the layouts of the first machine, as Triton IR.
    Tile,
    /// The kernel with its new layouts.
    Ttgir,
}

/// Does moving a tensor between registers and shared memory meet bank conflicts?
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct ConflictsRequest {
    /// The layout of the registers.
    pub registers: LayoutSource,
    /// The layout of the memory; it may have gaps, or begin with another element than the first.
    pub memory: LayoutSource,
    /// The extents of the tensor, `dim0` first.
    pub shape: Vec<u64>,
    /// The type of the elements.
    pub element: Option<String>,
    /// The elements' width, instead of a type.
    pub element_bits: Option<u32>,
    /// The machine that it is for.
    #[serde(default)]
    pub target: Target,
    /// Which way the tensor moves; from memory to registers if it is not given.
    #[serde(default)]
    pub kind: AccessKind,
}

/// How are the accesses of a tensor served, wavefront by wavefront?
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct WavefrontsRequest {
    /// The layout of the registers. Where the machine has waves of another width, the same threads,
    /// counted through all warps, are cut into waves of that width.
    pub registers: LayoutSource,
    /// The layout of the memory; it may have gaps, or begin with another element than the first.
    pub memory: LayoutSource,
    /// The extents of the tensor, `dim0` first.
    pub shape: Vec<u64>,
    /// The type of the elements.
    pub element: Option<String>,
    /// The elements' width, instead of a type.
    pub element_bits: Option<u32>,
    /// The machine that it is for.
    #[serde(default)]
    pub target: Target,
    /// Which way the tensor moves; from memory to registers if it is not given.
    #[serde(default)]
    pub kind: AccessKind,
    /// The instruction that is told in full: a number below those of one warp.
    #[serde(default)]
    pub instruction: u64,
    /// The warp whose instruction that is.
    #[serde(default)]
    pub warp: u64,
    /// Whether the answer has pictures of the instruction.
    #[serde(default)]
    pub pictures: bool,
    /// Whether the answer says where each element of the tile lies.
    #[serde(default)]
    pub places: bool,
}

/// What do accesses take on each memory that folds bits of the row into bits of the column?
///
/// In memory number `n` bit `i` of the column, which runs along the last axis, is flipped in all rows
/// whose bit `j` is one, for each `j` and `i` for which `n` has bit `j * c + i`, with `c` bits of the
/// column; a row is numbered by all other coordinates.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct SweepRequest {
    /// The layout from which the tensor is stored.
    pub store: LayoutSource,
    /// The layouts into which it is loaded.
    pub loads: Vec<LayoutSource>,
    /// The extents of the tensor, `dim0` first.
    pub shape: Vec<u64>,
    /// The type of the elements.
    pub element: Option<String>,
    /// The elements' width, instead of a type.
    pub element_bits: Option<u32>,
    /// The machine that it is for.
    #[serde(default)]
    pub target: Target,
    /// The number of the first memory.
    #[serde(default)]
    pub from: u64,
    /// How many memories are counted.
    pub count: u64,
}

/// Which way a tensor moves between registers and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "command", derive(clap::ValueEnum), value(rename_all = "lower"))]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// It is loaded, from memory to registers.
    #[default]
    Load,
    /// It is stored, from registers to memory.
    Store,
}

/// What does a kernel become?
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct CompileRequest {
    /// The text of the kernel in Triton IR.
    pub ttir: String,
    /// Which kernel, if the text has several.
    pub kernel: Option<String>,
    /// The machine that it is for.
    #[serde(default)]
    pub target: Target,
    /// Warps in a block; unless given, as many as the text says (TTGIR does), else 4. It gets more where these
    /// would lack registers, or where a multiprocessor has room for no other block.
    pub warps: Option<u32>,
    /// What to print; the answer holds all of these texts.
    #[serde(default = "default_emit")]
    pub emit: Vec<Emit>,
    /// The most stages of software pipelines, 1 for none: loads that feed a loop's matrix products run up
    /// to one round less ahead of them; 3 unless given, and what a loop of the source asks for goes first.
    pub stages: Option<u32>,
    /// Whether products become one operation with the sums that take them; unless said, they do.
    pub fp_fusion: Option<bool>,
    /// Values with the layouts that they shall live in: `VALUE=ATTR`, the name as `explain` prints it.
    #[serde(default)]
    pub pins: Vec<String>,
    /// Print the lane program as it is after this pass.
    pub dump_after: Option<String>,
    /// The most registers of a thread, in PTX: from 24 to 255.
    pub max_registers: Option<u32>,
    /// Write source lines into the PTX, for debuggers and profilers.
    #[serde(default)]
    pub line_info: bool,
    /// Whether places are those at which operations begin in the text, `text:line:column`, and not
    /// those in the user's source.
    #[serde(default)]
    pub text_places: bool,
}

/// A text that compiling gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "command", derive(clap::ValueEnum), value(rename_all = "lower"))]
#[serde(rename_all = "lowercase")]
pub enum Emit {
    /// The tile program, as it was read.
    Tile,
    /// The tile program with its homes as encodings.
    Ttgir,
    /// The kernel as PTX, for NVIDIA's GPUs.
    Ptx,
    /// The kernel as CUDA C++, for NVIDIA's GPUs.
    Cuda,
    /// The kernel as HIP C++, for AMD's GPUs.
    Hip,
    /// The program of one thread.
    Lane,
    /// Homes, movements and accesses, for people.
    Report,
    /// A C header with the PTX and the functions that launch it.
    #[serde(rename = "c-launcher")]
    #[cfg_attr(feature = "command", value(name = "c-launcher"))]
    Launcher,
}

/// Where does each value of a kernel live, and what does each movement and access cost?
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct ExplainRequest {
    /// The text of the kernel in Triton IR.
    pub ttir: String,
    /// Which kernel, if the text has several.
    pub kernel: Option<String>,
    /// The machine that it is for.
    #[serde(default)]
    pub target: Target,
    /// Warps in a block; unless given, as many as the text says (TTGIR does), else 4. It gets more where these
    /// would lack registers, or where a multiprocessor has room for no other block.
    pub warps: Option<u32>,
    /// The most stages of software pipelines, 1 for none: loads that feed a loop's matrix products run up
    /// to one round less ahead of them; 3 unless given, and what a loop of the source asks for goes first.
    pub stages: Option<u32>,
    /// Whether products become one operation with the sums that take them; unless said, they do.
    pub fp_fusion: Option<bool>,
    /// Values with the layouts that they shall live in: `VALUE=ATTR`, the name as `explain` prints it.
    #[serde(default)]
    pub pins: Vec<String>,
    /// Whether places are those at which operations begin in the text, `text:line:column`, and not
    /// those in the user's source.
    #[serde(default)]
    pub text_places: bool,
}

/// What does a kernel compute, what does it cost, and is anything wrong with it?
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct RunRequest {
    /// The text of the kernel in Triton IR.
    pub ttir: String,
    /// Which kernel, if the text has several.
    pub kernel: Option<String>,
    /// Blocks along x, y and z.
    pub grid: Grid,
    /// A value for each of the kernel's arguments.
    #[serde(default)]
    pub args: Arguments,
    /// The machine that is simulated.
    #[serde(default)]
    pub target: Target,
    /// Warps in a block; unless given, as many as the text says (TTGIR does), else 4. It gets more where these
    /// would lack registers, or where a multiprocessor has room for no other block.
    pub warps: Option<u32>,
    /// The most stages of software pipelines, 1 for none: loads that feed a loop's matrix products run up
    /// to one round less ahead of them; 3 unless given, and what a loop of the source asks for goes first.
    pub stages: Option<u32>,
    /// Whether products become one operation with the sums that take them; unless said, they do.
    pub fp_fusion: Option<bool>,
    /// Values with the layouts that they shall live in: `VALUE=ATTR`, the name as `explain` prints it.
    #[serde(default)]
    pub pins: Vec<String>,
    /// The seed of random values.
    #[serde(default)]
    pub seed: u64,
    /// Have the witness replay every plan, lane by lane, and verify the lane program again.
    #[serde(default)]
    pub verify: bool,
    /// How to judge stores of one value to the same byte of global memory that nothing orders.
    #[serde(default)]
    pub equal_stores: EqualStores,
    /// Whether places are those at which operations begin in the text, `text:line:column`, and not
    /// those in the user's source.
    #[serde(default)]
    pub text_places: bool,
}

/// How to judge stores of one value to the same byte of global memory that nothing orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "command", derive(clap::ValueEnum), value(rename_all = "lower"))]
#[serde(rename_all = "lowercase")]
pub enum EqualStores {
    /// A note: the byte holds the same in any order.
    #[default]
    Note,
    /// A race, as stores of different values are.
    Race,
}

impl EqualStores {
    /// The same in the simulator's words.
    pub(crate) fn simulated(self) -> sim::EqualStores {
        match self {
            EqualStores::Note => sim::EqualStores::Note,
            EqualStores::Race => sim::EqualStores::Race,
        }
    }
}

impl RunRequest {
    /// The part of the request that says what is compiled.
    pub fn compile(&self) -> CompileRequest {
        CompileRequest {
            ttir: self.ttir.clone(),
            kernel: self.kernel.clone(),
            target: self.target.clone(),
            warps: self.warps,
            stages: self.stages,
            fp_fusion: self.fp_fusion,
            pins: self.pins.clone(),
            emit: Vec::new(),
            dump_after: None,
            max_registers: None,
            line_info: false,
            text_places: self.text_places,
        }
    }
}

fn default_emit() -> Vec<Emit> {
    vec![Emit::Ptx]
}

/// What are the numbers of this table of the paper *Linear Layouts*, here?
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
pub struct PaperRequest {
    /// Which table.
    pub table: Table,
    /// The machine that it is for.
    #[serde(default)]
    pub target: Target,
    /// Take every Nth case of `table4`, counted from the first; all if it is not given.
    #[serde(default = "one")]
    pub every: u32,
}

fn one() -> u32 {
    1
}

/// A table of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "agent", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "command", derive(clap::ValueEnum), value(rename_all = "lower"))]
#[serde(rename_all = "lowercase")]
pub enum Table {
    /// Bits of an access to memory.
    Table2,
    /// Reductions, and what they ask of shared memory.
    Table3,
    /// Products of integers with floats.
    Table4,
}

/// The machine that a request is about.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(untagged)]
pub enum Target {
    /// One of those that are known, by its name.
    Name(String),
    /// Any, as the answer to `machines` writes it.
    Whole(Box<serde_json::Value>),
}

impl Default for Target {
    fn default() -> Self {
        DEFAULT_TARGET.into()
    }
}

impl From<&str> for Target {
    fn from(name: &str) -> Self {
        Target::Name(name.into())
    }
}

impl From<String> for Target {
    fn from(name: String) -> Self {
        Target::Name(name)
    }
}

/// The machine of this name, or of these numbers.
pub fn machine(target: &Target) -> Result<Cow<'static, Machine>, ApiError> {
    match target {
        Target::Name(name) => match Machine::by_name(name) {
            Some(machine) => Ok(Cow::Borrowed(machine)),
            None => Err(ApiError::Target { name: name.into() }),
        },
        Target::Whole(value) => Ok(Cow::Owned(machines::read(value)?)),
    }
}

/// An element type that layouts are of and the compiler has not, by MLIR's name: 8 bits.
const NOT_COMPILED: &str = "f8E4M3B11FNUZ";

/// The width in bits of an element type, by Triton's name or another that is in use
/// ([`DType::called`]); a pointer has 64.
///
/// ```
/// assert_eq!(weft_api::request::element_bits("bf16"), Ok(16));
/// assert_eq!(weft_api::request::element_bits("!tt.ptr<f16>"), Ok(64));
/// assert_eq!(weft_api::request::element_bits("float16"), Ok(16));
/// assert!(weft_api::request::element_bits("f17").is_err());
/// ```
pub fn element_bits(name: &str) -> Result<u32, ApiError> {
    if let Some(dtype) = DType::called(name) {
        return Ok(dtype.bits());
    }
    if name == NOT_COMPILED {
        return Ok(8);
    }
    let pointee = name.strip_prefix("!tt.ptr<").and_then(|rest| rest.strip_suffix('>'));
    match pointee {
        Some(pointee) if !pointee.starts_with('!') && element_bits(pointee).is_ok() => Ok(64),
        _ => Err(ApiError::Element { name: name.into(), known: element_names() }),
    }
}

/// A type in a signature of Triton's, in its spelling; a pointer has `*` before its element's type.
///
/// ```
/// use weft_api::request::signature_type;
///
/// assert_eq!(signature_type("*float16").as_deref(), Ok("*fp16"));
/// assert_eq!(signature_type("u8").as_deref(), Ok("u8"));
/// assert!(signature_type("*fp33").is_err());
/// ```
pub fn signature_type(text: &str) -> Result<String, ApiError> {
    let (star, name) = match text.trim().strip_prefix('*') {
        Some(name) => ("*", name),
        None => ("", text.trim()),
    };
    let name = match DType::called(name) {
        // Triton tells signs apart in types.
        Some(dtype) if name.starts_with('u') => format!("u{}", dtype.bits()),
        Some(dtype) => triton_name(dtype).to_owned(),
        None => {
            let known = DType::ALL.map(triton_name).join(", ");
            let known = format!("{known}, a pointer such as *fp32");
            return Err(ApiError::Element { name: name.into(), known });
        }
    };
    Ok(format!("{star}{name}"))
}

/// What Triton's language calls a type.
fn triton_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F8E4M3FN => "fp8e4nv",
        DType::F8E5M2 => "fp8e5",
        DType::F8E4M3FNUZ => "fp8e4b8",
        DType::F8E5M2FNUZ => "fp8e5b16",
        DType::F16 => "fp16",
        DType::F32 => "fp32",
        DType::F64 => "fp64",
        other => other.name(),
    }
}

/// The element types, with commas.
fn element_names() -> String {
    let mut names: Vec<&str> = DType::ALL.into_iter().map(DType::name).collect();
    names.extend([NOT_COMPILED, "!tt.ptr<f32> and other pointers"]);
    names.join(", ")
}

/// The type that registers of elements have in code: what has no arithmetic of its own, and what only a
/// width is known of, is an integer.
pub(crate) fn register_dtype(name: Option<&str>, bits: u32) -> DType {
    name.and_then(DType::called).unwrap_or(match bits {
        0..=8 => DType::I8,
        9..=16 => DType::I16,
        17..=32 => DType::I32,
        _ => DType::I64,
    })
}

/// The width that a request gives by a type or by a number; none where it gives neither.
pub(crate) fn given_bits(name: Option<&str>, bits: Option<u32>) -> Result<Option<u32>, ApiError> {
    match (name, bits) {
        (Some(_), Some(_)) => Err(ApiError::ElementCount("given twice")),
        (Some(name), None) => element_bits(name).map(Some),
        (None, bits) => Ok(bits),
    }
}

/// As [`given_bits`], where the width must be known.
pub(crate) fn needed_bits(
    element: Option<&str>,
    element_bits: Option<u32>,
) -> Result<u32, ApiError> {
    given_bits(element, element_bits)?.ok_or(ApiError::ElementCount("missing"))
}

/// Checks that a shape is one of a tensor of moderate size.
pub(crate) fn check_shape(shape: &[u64]) -> Result<(), ApiError> {
    let refuse = |reason: String, hint: String| Err(ApiError::Shape { reason, hint });
    if shape.is_empty() {
        return refuse(
            "a tensor has at least one extent".into(),
            "give them, such as 128x64".into(),
        );
    }
    if let Some(extent) = shape.iter().find(|extent| !extent.is_power_of_two()) {
        let above = extent.checked_next_power_of_two().filter(|above| *above <= MAX_ELEMENTS);
        let hint = match above {
            Some(1) => "an extent is at least 1".into(),
            Some(above) => format!("pad it to {above}, and mask what is beyond"),
            None => "give powers of two, such as 128x64".into(),
        };
        let reason = format!("{extent} is not a power of two, as the extents of a tensor must be");
        return refuse(reason, hint);
    }
    let elements = shape.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent));
    match elements {
        Some(elements) if elements <= MAX_ELEMENTS && shape.len() <= 32 => Ok(()),
        _ => refuse(
            format!("a tensor has at most {MAX_ELEMENTS} elements and 32 extents"),
            "ask about one tile of it: layouts repeat beyond".into(),
        ),
    }
}

/// The extents in a text such as `128x64`.
///
/// ```
/// assert_eq!(weft_api::request::parse_extents("128x64"), Some(vec![128, 64]));
/// assert_eq!(weft_api::request::parse_extents("4,2"), Some(vec![4, 2]));
/// assert_eq!(weft_api::request::parse_extents("4x"), None);
/// ```
pub fn parse_extents(text: &str) -> Option<Vec<u64>> {
    text.split(['x', ',']).map(|part| part.trim().parse().ok()).collect()
}

/// Blocks along x, y and z. In JSON a number, or a list of up to three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid(pub [u32; 3]);

impl Grid {
    /// The grid of one to three counts, each at least one, less than 2^31 blocks in all.
    ///
    /// ```
    /// use weft_api::request::Grid;
    ///
    /// assert_eq!(Grid::new(&[4, 2]), Ok(Grid([4, 2, 1])));
    /// assert!(Grid::new(&[4, 0]).is_err());
    /// ```
    pub fn new(counts: &[u64]) -> Result<Self, ApiError> {
        let refuse = |reason: &str| Err(ApiError::Grid { reason: reason.into() });
        if counts.is_empty() || counts.len() > 3 {
            return refuse(&format!("a grid of {} counts", counts.len()));
        }
        let blocks = counts.iter().try_fold(1u64, |all, &count| all.checked_mul(count));
        match blocks {
            Some(0) => return refuse("a grid without blocks"),
            Some(blocks) if blocks < 1 << 31 => {}
            _ => return refuse("a grid of 2^31 blocks or more"),
        }
        // Along y and z the driver counts in 16 bits.
        if counts[1..].iter().any(|&count| count > 65535) {
            return refuse("a grid of more than 65535 blocks along y or z");
        }
        let mut grid = [1; 3];
        for (slot, &count) in grid.iter_mut().zip(counts) {
            *slot = count as u32;
        }
        Ok(Self(grid))
    }

    /// The grid in a text such as `8`, `4,2` or `4x2`.
    pub fn parse(text: &str) -> Result<Self, ApiError> {
        match parse_extents(text) {
            Some(counts) => Self::new(&counts),
            None => Err(ApiError::Grid { reason: format!("`{text}` is no grid") }),
        }
    }
}

impl fmt::Display for Grid {
    /// `8`, `4x2` or `4x2x3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [x, 1, 1] => write!(f, "{x}"),
            [x, y, 1] => write!(f, "{x}x{y}"),
            [x, y, z] => write!(f, "{x}x{y}x{z}"),
        }
    }
}

impl<'de> Deserialize<'de> for Grid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Counts;
        impl<'de> Visitor<'de> for Counts {
            type Value = Vec<u64>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count of blocks, or a list of up to three")
            }

            fn visit_u64<E>(self, count: u64) -> Result<Self::Value, E> {
                Ok(vec![count])
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut counts = Vec::new();
                while let Some(count) = list.next_element()? {
                    counts.push(count);
                }
                Ok(counts)
            }
        }
        let counts = deserializer.deserialize_any(Counts)?;
        Grid::new(&counts).map_err(de::Error::custom)
    }
}

/// Names and values of a kernel's arguments, as they were given, in order.
///
/// In JSON an object: `{"x": "random:f32[4096]", "n": 4096}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments(pub Vec<(String, String)>);

impl Arguments {
    /// Adds the argument in a text `NAME=VALUE`.
    pub fn push(&mut self, text: &str) -> Result<(), ApiError> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                self.0.push((name.trim().into(), value.trim().into()));
                Ok(())
            }
            _ => Err(ApiError::Argument {
                reason: format!("`{text}` is no argument"),
                hint: "an argument is NAME=VALUE, such as n=4096 or x=random:f32[4096]".into(),
            }),
        }
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Arguments;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of argument names and values")
            }

            // Not a map type: a name that is given twice must be seen twice.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((name, Value(value))) = map.next_entry()? {
                    entries.push((name, value));
                }
                Ok(Arguments(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A number, a truth value or a text, as the text that the command would take.
struct Value(String);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Spelling;
        impl Visitor<'_> for Spelling {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a text such as \"random:f32[4096]\"")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value(value.to_string()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value(value.to_string()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(Value(value.to_string()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value(format!("{value:?}")))
            }

            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(Value(value.into()))
            }
        }
        deserializer.deserialize_any(Spelling)
    }
}
