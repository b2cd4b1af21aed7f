//! What can be typed.

use crate::triton::{Constant, Type};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use weft_api::budget::{self, Budget, Limits, Stop};
use weft_api::port::DEFAULT_PORT;
use weft_api::request::{
    AccessKind, DEFAULT_TARGET, Emit, EmitConversion, EmitPort, EqualStores, Format, Grid, Picture,
    Table, parse_extents,
};

/// Compiles Triton kernels to PTX, runs them on a simulator that checks every access, and explains
/// tensor layouts.
#[derive(Parser)]
#[command(
    name = "weft",
    version = env!("WEFT_VERSION"),
    arg_required_else_help = true,
    after_help = EXAMPLES
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Whether answers and errors are coloured; auto: on a terminal, unless `NO_COLOR` is set.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value = "auto")]
    pub(crate) color: Color,
}

/// When there are colours.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub(crate) enum Color {
    /// On a terminal.
    Auto,
    /// Into files and pipes, too.
    Always,
    /// Nowhere.
    Never,
}

impl Color {
    /// Has it hold for all that is written from now on.
    pub(crate) fn choose(self) {
        match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

const EXAMPLES: &str = "\
Examples:
  weft run examples/vector_add.ttir --grid 4 --arg x=random:f32[4096] --arg y=random:f32[4096] \\
       --arg out=empty:f32[4096] --arg n=4096
  weft compile examples/vector_add.ttir --target sm_90 -o vector_add.ptx
  weft explain examples/tiled_transpose.ttir
  weft compile kernel.py --kernel add --signature '*fp32,*fp32,i32' --constexpr BLOCK=1024

Exit status: 0 if all is well, 1 if a run found something wrong or results differ, 2 if the input or
the machine is at fault.";

#[derive(Subcommand)]
pub(crate) enum Command {
    Layout(Layout),
    Convert(Convert),
    Swizzle(Swizzle),
    Conflicts(Conflicts),
    Port(Port),
    Compile(Compile),
    Run(Run),
    Explain(Explain),
    Machines(Machines),
    Probe(Probe),
    Paper(Paper),
    Serve(Serve),
    #[cfg(feature = "mcp")]
    Mcp(Mcp),
    Completions(Completions),
    Man(Man),
}

impl Command {
    /// What its work may take; those that answer the requests of others give each a budget of its own.
    pub(crate) fn budget(&self) -> Budget {
        let limits = match self {
            Command::Layout(layout) => layout.limited.limits(),
            Command::Convert(convert) => convert.limited.limits(),
            Command::Swizzle(swizzle) => swizzle.limited.limits(),
            Command::Conflicts(conflicts) => conflicts.limited.limits(),
            Command::Port(port) => port.limited.limits(),
            Command::Compile(compile) => compile.limited.limits(),
            Command::Run(run) => run.limited.limits(),
            Command::Explain(explain) => explain.limited.limits(),
            Command::Paper(paper) => paper.limited.limits(),
            Command::Machines(_)
            | Command::Probe(_)
            | Command::Serve(_)
            | Command::Completions(_)
            | Command::Man(_) => Limits::default(),
            #[cfg(feature = "mcp")]
            Command::Mcp(_) => Limits::default(),
        };
        Budget { limits, stop: Stop::default() }
    }

    /// Whether the answer is to be JSON.
    pub(crate) fn json(&self) -> bool {
        match self {
            Command::Layout(layout) => layout.json,
            Command::Convert(convert) => convert.json,
            Command::Swizzle(swizzle) => swizzle.json,
            Command::Conflicts(conflicts) => conflicts.json,
            Command::Port(port) => port.json,
            Command::Compile(compile) => compile.json,
            Command::Run(run) => run.json,
            Command::Explain(explain) => explain.json,
            Command::Machines(machines) => machines.json,
            Command::Probe(probe) => probe.json,
            Command::Paper(paper) => paper.json,
            Command::Serve(_) | Command::Completions(_) | Command::Man(_) => false,
            #[cfg(feature = "mcp")]
            Command::Mcp(Mcp { .. }) => false,
        }
    }
}

/// Says what a layout is: which register of which thread holds which element.
///
/// ATTR is a Triton attribute, a layout written as its bases, as `weft explain` prints them, or a CuTe
/// layout with or without swizzles.
#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(
    override_usage = "\
weft layout [OPTIONS] <ATTR>
       weft layout --batch <FILE>",
    after_help = "\
Examples:
  weft layout 'Swizzle<3,3,3> o 0 o (8,64):(64,1)' --element f16
  weft layout '#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1],
       order = [1, 0]}>' --shape 32x16
  weft layout '[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]' --shape 2x4 --format grid
  weft layout '#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>' \\
       --shape 32x64 --element f16 --format svg --picture banks > banks.svg
  weft layout --batch -     one JSON object a line in, one a line out"
)]
pub(crate) struct Layout {
    /// The layout: a Triton attribute, a layout's bases, or a CuTe layout.
    #[arg(value_name = "ATTR", required_unless_present = "batch")]
    pub(crate) attribute: Option<String>,
    /// The tensor's extents; an attribute needs them, the others know their own. For example 128x64.
    #[arg(long, value_parser = extents)]
    pub(crate) shape: Option<Extents>,
    /// The type of the elements, such as f16.
    #[arg(long)]
    pub(crate) element: Option<String>,
    /// Leave out what the layout is called in the terms of others.
    #[arg(long)]
    pub(crate) no_names: bool,
    /// How it is shown; as text if it is not given.
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// What an SVG file shows: the grid if it is not given.
    #[arg(long, value_enum)]
    pub(crate) picture: Option<Picture>,
    /// Where a grid or a bank map cuts the tensor: coordinates of the axes before the last two, 0 where
    /// they are not given. For example 1, or 0,3.
    #[arg(long, value_parser = extents)]
    pub(crate) slice: Option<Extents>,
    /// Show everything, up to 65536 cells; an SVG file always does.
    #[arg(long)]
    pub(crate) all: bool,
    /// The machine whose banks are shown: a name that `weft machines` lists, or a JSON file.
    #[arg(long, default_value = DEFAULT_TARGET)]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) limited: Limited,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print how long it took to standard error.
    #[arg(long)]
    pub(crate) time: bool,
    /// Answer each line of a file, or of standard input (-).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all =
            [
                "attribute", "shape", "element", "no_names", "format", "picture", "slice", "all",
                "target",
            ]
    )]
    pub(crate) batch: Option<PathBuf>,
}

/// Which tensor, and on which machine.
#[derive(Args)]
pub(crate) struct Tensor {
    /// The extents of the tensor, `dim0` first, such as 64x64.
    #[arg(long, value_parser = extents, required_unless_present = "batch")]
    shape: Option<Extents>,
    /// The type of the elements, such as f16.
    #[arg(long, required_unless_present = "batch")]
    pub(crate) element: Option<String>,
    /// The machine that it is for: a name that `weft machines` lists, a product such as h100, or a JSON
    /// file such as `weft probe` writes.
    #[arg(long, default_value = DEFAULT_TARGET)]
    pub(crate) target: String,
}

impl Tensor {
    /// The tensor's extents; none in a batch.
    pub(crate) fn shape(&self) -> Vec<u64> {
        self.shape.as_ref().map_or_else(Vec::new, |shape| shape.0.clone())
    }
}

/// Plans how a tensor moves from one layout to another.
#[derive(Args)]
#[command(
    override_usage = "\
weft convert [OPTIONS] --shape <SHAPE> --element <ELEMENT> --from <ATTR> --to <ATTR>
       weft convert --batch <FILE>",
    after_help = "\
Examples:
  weft convert --shape 64x64 --element f32 \\
       --from '#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>' \\
       --to '#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>'
  weft convert … --emit picture what registers and memory hold, movement by movement
  weft convert … --emit cuda    a device function to paste
  weft convert --batch -        one JSON object a line in, one a line out"
)]
pub(crate) struct Convert {
    /// The layout the tensor is in.
    #[arg(long, value_name = "ATTR", required_unless_present = "batch")]
    pub(crate) from: Option<String>,
    /// The layout to move it to.
    #[arg(long, value_name = "ATTR", required_unless_present = "batch")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) tensor: Tensor,
    /// What to print; the plan if it is not given.
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) emit: Option<EmitConversion>,
    #[command(flatten)]
    pub(crate) limited: Limited,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print how long it took to standard error.
    #[arg(long)]
    pub(crate) time: bool,
    /// Answer each line of a file, or of standard input (-).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["from", "to", "shape", "element", "target", "emit"]
    )]
    pub(crate) batch: Option<PathBuf>,
}

/// Finds where a tensor lies best in shared memory, for one store and any number of loads.
#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(
    override_usage = "\
weft swizzle [OPTIONS] --shape <SHAPE> --element <ELEMENT> --store <ATTR> --load <ATTR>…
       weft swizzle --batch <FILE>",
    after_help = "\
Examples:
  weft swizzle --shape 16x32 --element f32 --trace \\
       --store '[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 16, dim1: 32]' \\
       --load '[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> [dim0: 16, dim1: 32]'
  weft swizzle … --target sm_90 --also gfx942,gfx950    one layout for several machines
  weft swizzle … --store tma                            only layouts that TMA can write
  weft swizzle --batch -    one JSON object a line in, one a line out"
)]
pub(crate) struct Swizzle {
    /// The layout from which it is stored, or `tma`: the tensor memory accelerator writes it.
    #[arg(long, value_name = "ATTR", required_unless_present = "batch")]
    pub(crate) store: Option<String>,
    /// The layouts into which it is loaded, or `tma`; one each time that the option is given.
    #[arg(long = "load", value_name = "ATTR", required_unless_present = "batch")]
    pub(crate) loads: Vec<String>,
    #[command(flatten)]
    pub(crate) tensor: Tensor,
    /// Further machines on which the same memory layout must be good. Where one of them has waves of
    /// another width, the same threads, counted through all warps, are cut into waves of that width. For
    /// example gfx942,gfx1200.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) also: Vec<String>,
    /// How often the store and each load of threads happen; once each if it is not given. For example 1,4.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = whole::<u64>)]
    pub(crate) weights: Vec<u64>,
    /// The most bytes of the buffer, where that is less than a block can have; a larger tensor goes in
    /// rounds.
    #[arg(long, value_name = "BYTES", value_parser = whole::<u64>)]
    pub(crate) scratch: Option<u64>,
    /// Show the steps of the paper's construction, for one load.
    #[arg(long)]
    pub(crate) trace: bool,
    /// Use plain vector accesses only, never ldmatrix or stmatrix.
    #[arg(long)]
    pub(crate) no_matrix_moves: bool,
    #[command(flatten)]
    pub(crate) limited: Limited,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print how long it took to standard error.
    #[arg(long)]
    pub(crate) time: bool,
    /// Answer each line of a file, or of standard input (-).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all =
            ["store", "loads", "shape", "element", "target", "also", "weights", "scratch", "trace", "no_matrix_moves"]
    )]
    pub(crate) batch: Option<PathBuf>,
}

/// Counts the bank conflicts between a layout of registers and a layout of shared memory.
///
/// A memory may have gaps (`#ttg.padded_shared`) or be a CuTe layout. Where two lanes collide, the
/// answer names them with their addresses, and the bits of the tensor that their elements differ by.
#[derive(Args)]
#[command(
    override_usage = "\
weft conflicts [OPTIONS] --shape <SHAPE> --element <ELEMENT> --registers <ATTR> --memory <ATTR>
       weft conflicts --batch <FILE>",
    after_help = "\
Examples:
  weft conflicts --shape 16x32 --element f32 \\
       --registers '[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> [dim0: 16, dim1: 32]' \\
       --memory 'Swizzle<4,0,5> o 0 o (16,32):(32,1)'
  weft conflicts --batch -  one JSON object a line in, one a line out"
)]
pub(crate) struct Conflicts {
    /// The layout of the registers.
    #[arg(long, value_name = "ATTR", required_unless_present = "batch")]
    pub(crate) registers: Option<String>,
    /// The layout of the memory; it may have gaps, or begin with another element than the first.
    #[arg(long, value_name = "ATTR", required_unless_present = "batch")]
    pub(crate) memory: Option<String>,
    #[command(flatten)]
    pub(crate) tensor: Tensor,
    /// Which way the tensor moves.
    #[arg(long, value_enum, default_value = "load")]
    pub(crate) kind: AccessKind,
    #[command(flatten)]
    pub(crate) limited: Limited,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print how long it took to standard error.
    #[arg(long)]
    pub(crate) time: bool,
    /// Answer each line of a file, or of standard input (-).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["registers", "memory", "shape", "element", "target", "kind"]
    )]
    pub(crate) batch: Option<PathBuf>,
}

/// Ports a kernel, or the accesses of a buffer, to a machine with other warps, banks and instructions.
///
/// Says which layouts map and which must change, gives fragments of matrix instructions by those of the new
/// machine, and lays shared memory out anew with a proof that no layout takes fewer wavefronts. A kernel
/// is Triton IR, or the Triton GPU IR that Triton made for the old machine, whose layouts are left out.
#[derive(Args)]
#[command(
    override_usage = "\
weft port [OPTIONS] <KERNEL>
       weft port [OPTIONS] --shape <SHAPE> --element <ELEMENT> --load <ATTR>… [--store <ATTR>] [--memory <ATTR>]
       weft port --batch <FILE>",
    after_help = "\
Examples:
  weft port kernels/ttgir/product_f16_sums.80.ttgir --from sm_80 --target gfx942
  weft port kernels/matmul_f16.ttir --target gfx950 --emit hip > matmul_f16.hip
  weft port --shape 64x64 --element f16 --target gfx942 \\
       --memory '#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>' \\
       --load '#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>'
  weft port --batch -       one JSON object a line in, one a line out"
)]
pub(crate) struct Port {
    /// A file of Triton IR or Triton GPU IR (*.ttir, *.ttgir), a Python file (*.py), the name of a recorded
    /// kernel, or standard input (-).
    #[arg(value_name = "KERNEL", required_unless_present_any = ["batch", "loads", "store"])]
    pub(crate) file: Option<PathBuf>,
    /// The machine that it was made for: a name that `weft machines` lists, or a JSON file.
    #[arg(long, default_value = DEFAULT_TARGET)]
    pub(crate) from: String,
    /// The machine that it shall be for.
    #[arg(long, default_value = DEFAULT_PORT)]
    pub(crate) target: String,
    /// Warps in a block on the new machine; as many threads as before, unless said.
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub(crate) warps: Option<u32>,
    /// Which kernel, if the text has several.
    #[arg(long = "kernel", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Instead of a kernel, a buffer of shared memory: the layout from which it is stored.
    #[arg(long, value_name = "ATTR", conflicts_with = "file")]
    pub(crate) store: Option<String>,
    /// The layouts into which the buffer is loaded; one each time that the option is given.
    #[arg(long = "load", value_name = "ATTR", conflicts_with = "file")]
    pub(crate) loads: Vec<String>,
    /// The buffer's layout on the first machine, whose conflicts are counted on both.
    #[arg(long, value_name = "ATTR", conflicts_with = "file")]
    pub(crate) memory: Option<String>,
    /// The extents of the buffer's tensor, such as 64x64.
    #[arg(long, value_parser = extents, conflicts_with = "file")]
    pub(crate) shape: Option<Extents>,
    /// The type of the elements, such as f16.
    #[arg(long, conflicts_with = "file")]
    pub(crate) element: Option<String>,
    /// What to print.
    #[arg(long, value_name = "WHAT", default_value = "report", value_enum)]
    pub(crate) emit: EmitPort,
    #[command(flatten)]
    pub(crate) limited: Limited,
    #[command(flatten)]
    pub(crate) python: FromPython,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print how long it took to standard error.
    #[arg(long)]
    pub(crate) time: bool,
    /// Answer each line of a file, or of standard input (-).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["file", "from", "target", "warps", "name", "store", "loads", "memory", "shape", "element", "emit"]
    )]
    pub(crate) batch: Option<PathBuf>,
}

/// How much work may be done.
#[derive(Args)]
pub(crate) struct Limited {
    /// Allow more work, or less: the most `elements` of a tensor or `operations` for each thread,
    /// `text_bytes` of the code, simulated warp `instructions`, `memory_bytes` of a run, or
    /// `milliseconds`; may be given several times.
    #[arg(long = "limit", value_name = "NAME=N", value_parser = limit)]
    limits: Vec<(&'static str, u64)>,
}

impl Limited {
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for (name, most) in &self.limits {
            budget::set(&mut limits, name, *most);
        }
        limits
    }
}

fn limit(text: &str) -> Result<(&'static str, u64), String> {
    let known = |name: &str| budget::NAMES.into_iter().find(|known| *known == name);
    let parts = text.split_once('=').and_then(|(name, most)| Some((known(name)?, most)));
    parts.and_then(|(name, most)| Some((name, most.parse().ok()?))).ok_or_else(|| {
        format!(
            "a limit is one of {} and a number, such as operations=1000000",
            budget::NAMES.join(", ")
        )
    })
}

/// How a kernel in a Python file becomes Triton IR.
#[derive(Args)]
pub(crate) struct FromPython {
    /// The types of a Python kernel's arguments in their order, such as '*fp32:16,*fp32:16,i32': `:16` promises a
    /// multiple of 16, a number is a constant. Unless given, what SIGNATURES in the file says.
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    pub(crate) signature: Option<Vec<Type>>,
    /// The value of a Python kernel's `tl.constexpr` argument; may be given several times.
    #[arg(long = "constexpr", value_name = "NAME=VALUE", value_parser = constant)]
    pub(crate) constants: Vec<(String, Constant)>,
    /// The Python that imports a Python file and has Triton; no GPU is needed.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub(crate) python: PathBuf,
}

impl FromPython {
    /// An option that was given and says something about a Python file.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match (&self.signature, &self.constants[..]) {
            (Some(_), _) => Some("--signature"),
            (None, [_, ..]) => Some("--constexpr"),
            (None, []) => None,
        }
    }
}

fn constant(text: &str) -> Result<(String, Constant), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            let Ok(value) = value.trim().parse();
            Ok((name.trim().into(), value))
        }
        _ => Err("a constant is NAME=VALUE, such as BLOCK=1024".into()),
    }
}

/// A whole number of a type, within whose bounds it lies.
fn whole<T: FromStr + Bounded + Display>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("it is a whole number from 0 to {}", T::MAX))
}

/// Numbers with a largest one.
trait Bounded {
    const MAX: Self;
}

macro_rules! bounded {
    ($($number:ty)*) => { $(impl Bounded for $number { const MAX: Self = <$number>::MAX; })* };
}

bounded!(u16 u32 u64);

/// Which kernel of which text, and for what.
#[derive(Args)]
pub(crate) struct Kernel {
    /// The machine that it is for: a name that `weft machines` lists, a product such as h100, or a JSON
    /// file such as `weft probe` writes.
    #[arg(long, default_value = DEFAULT_TARGET)]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) how: How,
}

/// Which kernel of a text, and how it is compiled.
#[derive(Args)]
pub(crate) struct How {
    /// Warps in a block; unless given, as many as the text says (TTGIR does), else 4. It gets more where these
    /// would lack registers, or where a multiprocessor has room for no other block.
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub(crate) warps: Option<u32>,
    /// Which kernel, if the text has several.
    #[arg(long = "kernel", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The most stages of software pipelines, 1 for none: loads that feed a loop's matrix products run up
    /// to one round less ahead of them; 3 unless given, and what a loop of the source asks for goes first.
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub(crate) stages: Option<u32>,
    /// Round every product before it is added, without fused multiply-adds
    #[arg(long)]
    pub(crate) no_fp_fusion: bool,
    /// Values with the layouts that they shall live in: `VALUE=ATTR`, the name as `explain` prints it; one
    /// each time that the option is given.
    #[arg(long = "pin", value_name = "VALUE=ATTR")]
    pub(crate) pins: Vec<String>,
}

/// Compiles a kernel from Triton IR, or from a Python file.
#[derive(Args)]
#[command(
    override_usage = "\
weft compile [OPTIONS] <KERNEL>
       weft compile --batch <FILE>",
    after_help = "\
Examples:
  weft compile examples/row_softmax.ttir --target sm_90 -o row_softmax.ptx
  weft compile examples/row_softmax.ttir --emit cuda
  weft compile examples/row_softmax.ttir --target gfx942 --emit hip
  weft compile examples/row_softmax.ttir --emit lane
  weft compile examples/row_softmax.ttir --emit c-launcher -o row_softmax.h
  weft compile examples/row_softmax.ttir --dump-after lower
  weft compile row_softmax --target h100        a recorded kernel, in ., examples or kernels
  weft compile examples/row_softmax.py          by an installed Triton (pip install triton)
  weft compile kernel.py --kernel add --signature '*fp32:16,*fp32:16,i32' --constexpr BLOCK=1024
  weft compile --batch -    one JSON object a line in, one a line out"
)]
pub(crate) struct Compile {
    /// A file of Triton IR (*.ttir), a Python file (*.py), the name of a recorded kernel, or standard
    /// input (-).
    #[arg(value_name = "KERNEL", required_unless_present = "batch")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) kernel: Kernel,
    #[command(flatten)]
    pub(crate) limited: Limited,
    #[command(flatten)]
    pub(crate) python: FromPython,
    /// What to print.
    #[arg(long, value_name = "WHAT", default_value = "ptx", value_enum)]
    pub(crate) emit: Emit,
    /// Print the lane program as it is after this pass, and nothing else.
    #[arg(long, value_name = "PASS", conflicts_with = "emit")]
    pub(crate) dump_after: Option<String>,
    /// The most registers of a thread, in PTX: from 24 to 255.
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub(crate) max_registers: Option<u32>,
    /// Write source lines into the PTX, for debuggers and profilers.
    #[arg(long)]
    pub(crate) line_info: bool,
    /// Write to this file instead of standard output (-).
    #[arg(short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print how long it took to standard error.
    #[arg(long)]
    pub(crate) time: bool,
    /// Answer each line of a file, or of standard input (-).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["file", "target", "warps", "stages", "no_fp_fusion", "name", "pins", "emit", "dump_after", "max_registers", "line_info", "output", "signature", "constants"]
    )]
    pub(crate) batch: Option<PathBuf>,
}

/// Runs a kernel on the simulator and checks its results against the reference evaluator.
///
/// The simulator runs every thread, counts what the run costs from the addresses, and reports races,
/// accesses outside buffers, reads of memory that was never written, and deadlocks, each with its place in the
/// kernel's source. With --device the same kernel runs on a GPU as well.
#[derive(Args)]
#[command(after_help = "\
Values of arguments (--arg NAME=VALUE, once for each of the kernel's):
  n=4096                 a number
  x=random:f32[4096]     floats from -1 to 1, integers from 0 to 99; the same for the same --seed
  x=-8..8:i8[64]         random numbers from -8 up to, not including, 8; whole ones for integers
  x=range:i32[64x64]     0, 1, 2, … in row-major order
  x=zeros:f32[64]        zeros; also ones:…
  out=empty:f32[4096]    not initialised: reading it before it is written is reported

Examples:
  weft run examples/row_softmax.ttir --grid 8 --arg x=random:f32[8x1008] \\
       --arg out=empty:f32[8x1008] --arg n=1008
  weft run examples/matmul.ttir --grid 2x3 --arg a=random:f32[128x64] --arg b=random:f32[64x192] \\
       --arg c=empty:f32[128x192] --arg m=128 --arg n=192 --arg k=64 --device cuda:0 --time")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Run {
    /// A file of Triton IR (*.ttir), a Python file (*.py), the name of a recorded kernel, or standard
    /// input (-).
    #[arg(value_name = "KERNEL")]
    pub(crate) file: PathBuf,
    /// Blocks along x, y and z, such as 8, 4x2 or 4,2.
    #[arg(long, value_parser = grid)]
    pub(crate) grid: Grid,
    /// A value for each of the kernel's arguments; one each time that the option is given.
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub(crate) args: Vec<String>,
    /// The machine that is simulated: a name that `weft machines` lists, a product such as h100, or a JSON
    /// file such as `weft probe` writes. With --device, that device's unless given.
    #[arg(long)]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) how: How,
    /// The seed of random values.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>)]
    pub(crate) seed: u64,
    /// Have the witness replay every plan, lane by lane, and verify the lane program again.
    #[arg(long)]
    pub(crate) verify: bool,
    /// How to judge stores of one value to the same byte of global memory that nothing orders.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = EqualStores::Note)]
    pub(crate) equal_stores: EqualStores,
    #[command(flatten)]
    pub(crate) limited: Limited,
    #[command(flatten)]
    pub(crate) python: FromPython,
    /// Run on a GPU as well.
    #[arg(long, value_name = "cuda:N", value_parser = device)]
    pub(crate) device: Option<u32>,
    /// Launch this PTX there, which `nvcc -ptx` made of the kernel's CUDA text.
    #[arg(long, value_name = "FILE.ptx", requires = "device")]
    pub(crate) compiled: Option<PathBuf>,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print how long each step took to standard error.
    #[arg(long)]
    pub(crate) time: bool,
}

/// Explains what the compiler decided: the home of every value, every movement, every access.
#[derive(Args)]
#[command(after_help = "\
Example:
  weft explain examples/tiled_transpose.ttir --target sm_80")]
pub(crate) struct Explain {
    /// A file of Triton IR (*.ttir), a Python file (*.py), the name of a recorded kernel, or standard
    /// input (-).
    #[arg(value_name = "KERNEL")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) kernel: Kernel,
    #[command(flatten)]
    pub(crate) limited: Limited,
    #[command(flatten)]
    pub(crate) python: FromPython,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print how long it took to standard error.
    #[arg(long)]
    pub(crate) time: bool,
}

/// Lists the known machines, or says what is known of one and from which source.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft machines sm_90
  weft machines sm_90 --json > mine.json    a machine to change, for --target mine.json")]
pub(crate) struct Machines {
    /// This machine alone: a name of the list, or a JSON file.
    #[arg(value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Measures a GPU and prints it as a machine, which --target reads.
///
/// Lanes are made to collide in shared memory and the time tells whether they did; instructions run
/// alone and side by side. The file keeps every time, and says of each number whether it was timed,
/// told by the driver, or taken over from the nearest machine that is known.
#[derive(Args)]
#[command(after_help = "\
Example:
  weft probe --device cuda:0 -o mine.json
  weft convert … --target mine.json")]
pub(crate) struct Probe {
    /// The GPU.
    #[arg(long, value_name = "cuda:N", value_parser = device)]
    pub(crate) device: u32,
    /// Write to this file instead of standard output (-).
    #[arg(short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Report errors as JSON; the machine is JSON in any case.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Recomputes a table of the paper Linear Layouts, beside the paper's numbers.
///
/// Every case is compiled, and those of table3 and table4 are simulated and compared with the evaluator.
/// As JSON each case is a row. The exit status is 1 where a case is not right.
#[derive(Args)]
#[command(after_help = "\
Example:
  weft paper table2")]
pub(crate) struct Paper {
    /// Which table.
    #[arg(value_enum)]
    pub(crate) table: Table,
    /// The machine that it is for: a name that `weft machines` lists, or a JSON file.
    #[arg(long, default_value = DEFAULT_TARGET)]
    pub(crate) target: String,
    /// Take every Nth case of `table4`, counted from the first; all if it is not given.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>)]
    pub(crate) every: u32,
    #[command(flatten)]
    pub(crate) limited: Limited,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Serves the requests as an agent's tools, over the Model Context Protocol on standard input and output.
///
/// An agent's program starts it; answers are short, and name handles under which the rest is read.
/// Nothing is read from files or the network, and nothing is written but the protocol.
#[cfg(feature = "mcp")]
#[derive(Args)]
#[command(after_help = "\
Example, in the configuration of an agent's program:
  {\"mcpServers\": {\"weft\": {\"command\": \"weft\", \"args\": [\"mcp\"]}}}")]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) limited: Limited,
}

/// A tensor's extents.
#[derive(Clone)]
pub(crate) struct Extents(pub(crate) Vec<u64>);

fn extents(text: &str) -> Result<Extents, String> {
    parse_extents(text)
        .map(Extents)
        .ok_or_else(|| "extents are numbers with x or commas between them, such as 128x64".into())
}

fn grid(text: &str) -> Result<Grid, String> {
    Grid::parse(text).map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

fn device(text: &str) -> Result<u32, String> {
    let ordinal = text.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok());
    ordinal.ok_or_else(|| "a device is cuda:0, cuda:1, …".into())
}

/// Shows the workbench: layouts, swizzles, conversions and kernels as pictures, in a browser.
///
/// The page is served to this machine alone and is answered by this program. Nothing is fetched from
/// anywhere and no file is opened.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft serve                then open the address that it prints; Ctrl-C stops it
  weft serve --open         and have the browser open it
  weft serve --port 0       at any free port")]
pub(crate) struct Serve {
    /// The port; 0 for any that is free.
    #[arg(long, value_name = "N", default_value_t = 4338, value_parser = whole::<u16>)]
    pub(crate) port: u16,
    /// Open the page in the browser.
    #[arg(long)]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) limited: Limited,
}

/// Writes a completion script for a shell.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft completions bash > ~/.local/share/bash-completion/completions/weft
  weft completions zsh > ~/.zfunc/_weft                   a folder of $fpath
  weft completions fish > ~/.config/fish/completions/weft.fish")]
pub(crate) struct Completions {
    /// Which shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Writes a page of the manual.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft man | man -l -
  weft man compile > weft-compile.1")]
pub(crate) struct Man {
    /// The subcommand to write about; the whole command if none is given.
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}
