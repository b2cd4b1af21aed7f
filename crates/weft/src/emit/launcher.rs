//! A kernel ahead of time: a C header with its PTX and the functions that launch it.
//!
//! The header is C11 and C++17 for Linux, and needs neither a CUDA toolkit nor Weft: it opens the
//! driver, `libcuda.so.1`, when the program asks it to. For a kernel `k` it has
//!
//! * `k_ptx`, the text, and `k_threads`, `k_shared_bytes`, `k_cluster_blocks` and `k_grid_axes`, what a
//!   launch takes and the kernel asks for;
//! * `k_load` and `k_unload`, of a module in the current context;
//! * `k_launch`, whose last parameters are the kernel's, in order and with their types. It refuses
//!   arguments that are no multiples of what the kernel was compiled for.
//!
//! Triton's kernels end in two more pointers, to scratch memory, which Weft's programs never use:
//! `k_launch` gives null for both.

use super::{Unsupported, ptx};
use crate::budget::Bounds;
use crate::dtype::DType;
use crate::lane::{IdKind, Op, Param, Program};
use crate::location::Locations;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Beyond so many bytes of shared memory a kernel must ask for them before it is launched (CUDA
/// programming guide, compute capabilities, shared memory).
const SHARED_BYTES_UNASKED: u32 = 48 << 10;

/// What every header has in common: how the driver is found and called.
const DRIVER: &str = include_str!("launcher_driver.h");

/// The header of a verified kernel, whose text has this many registers.
///
/// ```
/// use weft::emit::{launcher, ptx};
///
/// let program = weft::lane::Builder::new("nothing", 4, 5).finish();
/// let target = ptx::Target::by_name("sm_90").unwrap();
/// let header = launcher::print(&program, target, ptx::Registers::Balanced, ptx::LineInfo::Omitted)?;
/// assert!(header.contains("static inline int nothing_launch("));
/// assert!(header.contains("enum { nothing_threads = 128, nothing_shared_bytes = 0 }"));
/// # Ok::<(), weft::emit::Unsupported>(())
/// ```
pub fn print(
    program: &Program,
    target: &ptx::Target,
    registers: ptx::Registers,
    line_info: ptx::LineInfo,
) -> Result<String, Unsupported> {
    if !program.maps.is_empty() {
        return Err(Unsupported {
            operation: "tensor maps as arguments".into(),
            target: target.name,
            reason: "no header encodes them".into(),
            loc: Locations::unknown(),
        });
    }
    let ptx = ptx::print_within(program, target, registers, line_info, &Bounds::default())?;
    let symbol = ptx::symbol(&program.name);
    let name = identifier(&symbol);
    let guard = format!("WEFT_{}_{}_H", name.to_uppercase(), target.name.to_uppercase());
    let mut text = about(program, target, &name);
    put(&mut text, format_args!("#ifndef {guard}\n#define {guard}\n\n"));
    text.push_str(DRIVER);
    text.push('\n');
    constants(&mut text, program, &name);
    image(&mut text, &ptx, &name);
    functions(&mut text, program, &name, &symbol);
    put(&mut text, format_args!("\n#endif  // {guard}\n"));
    Ok(text)
}

fn put(text: &mut String, parts: std::fmt::Arguments<'_>) {
    // Writing to a text does not fail.
    let _ = text.write_fmt(parts);
}

/// The comment at the top: what a launch takes.
fn about(program: &Program, target: &ptx::Target, name: &str) -> String {
    let Program { warps, shared_bytes, params, .. } = program;
    let axes = match &*axes(program) {
        [] => "it asks for no place in the grid".to_owned(),
        axes => format!("it asks for its place along {}", axes.join(", ")),
    };
    let mut rows = vec![
        ("grid".to_owned(), format!("a block for each program instance; {axes}")),
        ("block".into(), format!("{} threads along x: {warps} warps", program.threads())),
        ("shared".into(), format!("{shared_bytes} bytes, dynamic")),
        ("cluster".into(), "one block".into()),
    ];
    let names = parameters(params, name);
    for (param, name) in params.iter().zip(&names) {
        rows.push((name.clone(), described(param)));
    }
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!(
        "// {name} for {}, compiled by Weft: its PTX, and what launches it through the CUDA driver.\n//\n",
        target.name
    );
    for (name, what) in &rows {
        put(&mut text, format_args!("//   {name:width$}  {what}\n"));
    }
    text.push_str(
        "//\n// C11 or C++17, for Linux. A context must be current where a function is called; each gives a\n\
         // CUresult, 0 for success. A launch returns before the kernel has run.\n",
    );
    text
}

/// The axes of the grid that a program looks at.
fn axes(program: &Program) -> Vec<&'static str> {
    let mut asked = BTreeSet::new();
    program.walk(&program.body, &mut |_, inst| {
        if let Op::Id(IdKind::Block(axis) | IdKind::Blocks(axis)) = inst.op {
            asked.insert(axis);
        }
    });
    let name = |axis: u8| ["x", "y", "z"].get(usize::from(axis)).copied();
    asked.into_iter().filter_map(name).collect()
}

/// What a parameter is, for people.
fn described(param: &Param) -> String {
    let multiple = param.divisibility;
    match (param.pointee, multiple > 1) {
        (Some(pointee), true) => format!("an address of {pointee}, a multiple of {multiple} bytes"),
        (Some(pointee), false) => format!("an address of {pointee}"),
        (None, true) => format!("{}, a multiple of {multiple}", param.dtype),
        (None, false) => match param.dtype {
            dtype if is_bits(dtype) => format!("the bits of {dtype}"),
            dtype => dtype.to_string(),
        },
    }
}

/// Whether C has no type for these numbers, so that their bits are passed.
fn is_bits(dtype: DType) -> bool {
    dtype.is_float() && !matches!(dtype, DType::F32 | DType::F64)
}

/// A parameter's type in C.
fn c_type(param: &Param) -> &'static str {
    match param.dtype {
        _ if param.pointee.is_some() => "uint64_t",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::I1 => "uint8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int32_t",
        DType::I64 => "int64_t",
        DType::I8 => "int8_t",
        dtype if dtype.bits() <= 8 => "uint8_t",
        _ => "uint16_t",
    }
}

/// Words of C and C++, and names that the header has itself.
const TAKEN: &str = "\
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl \
    concept const consteval constexpr constinit continue co_await co_return co_yield decltype \
    default delete do double else enum explicit export extern false float for friend goto if \
    inline int linux long mutable namespace new noexcept not not_eq nullptr operator or or_eq \
    private protected public register requires restrict return short signed sizeof static \
    static_assert struct switch template this thread_local throw true try typedef typeid \
    typename typeof union unix unsigned using virtual void volatile wchar_t while xor xor_eq \
    NULL WEFT_INVALID_VALUE arguments driver global_scratch grid_x grid_y grid_z kernel \
    profile_scratch stream uint64_t";

fn is_taken(name: &str) -> bool {
    TAKEN.split(' ').any(|taken| taken == name)
}

/// A name that begins what the header defines for a kernel.
fn identifier(symbol: &str) -> String {
    let mut name: String =
        symbol.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    // What the headers share begins so.
    if name == "weft" || name.starts_with("weft_driver") {
        name.push('_');
    }
    name
}

/// The names of a kernel's parameters in C, each once.
fn parameters(params: &[Param], kernel: &str) -> Vec<String> {
    let mut known = BTreeSet::new();
    // The body of `k_launch` names `k_threads` and `k_shared_bytes`.
    let own = |name: &str| name.strip_prefix(kernel).is_some_and(|rest| rest.starts_with('_'));
    let name = |param: &Param| {
        let mut name = identifier(&param.name);
        if own(&name) {
            name.insert(0, '_');
        }
        while name.is_empty() || is_taken(&name) || !known.insert(name.clone()) {
            name.push('_');
        }
        name
    };
    params.iter().map(name).collect()
}

fn constants(text: &mut String, program: &Program, name: &str) {
    let (threads, shared) = (program.threads(), program.shared_bytes);
    let axes = axes(program).len();
    put(
        text,
        format_args!(
            "// Threads of a block, along x, and the bytes of dynamic shared memory that it has.\n\
             enum {{ {name}_threads = {threads}, {name}_shared_bytes = {shared} }};\n\
             // Blocks of a cluster, and axes of the grid that the kernel looks at.\n\
             enum {{ {name}_cluster_blocks = 1, {name}_grid_axes = {axes} }};\n\n"
        ),
    );
}

/// The PTX as a string of C, a line a line.
fn image(text: &mut String, ptx: &str, name: &str) {
    text.push_str(
        "// Longer than the strings that C promises to take.\n\
         #if defined(__GNUC__)\n#pragma GCC diagnostic push\n\
         #pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n",
    );
    put(text, format_args!("static const char {name}_ptx[] ="));
    for line in ptx.split_inclusive('\n') {
        text.push_str("\n    \"");
        for byte in line.bytes() {
            match byte {
                b'\n' => text.push_str("\\n"),
                // A question mark may begin a trigraph.
                b'"' | b'\\' | b'?' => {
                    text.push('\\');
                    text.push(char::from(byte));
                }
                b' '..=b'~' => text.push(char::from(byte)),
                _ => put(text, format_args!("\\{byte:03o}")),
            }
        }
        text.push('"');
    }
    text.push_str(";\n#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif\n\n");
}

fn functions(text: &mut String, program: &Program, name: &str, symbol: &str) {
    put(
        text,
        format_args!(
            "// The kernel in a context.\n\
             typedef struct {name}_kernel {{\n  void *module;\n  void *function;\n}} {name}_kernel;\n\n\
             // Compiles the text for the GPU of the current context.\n\
             static inline int {name}_load(const weft_driver *driver, {name}_kernel *kernel) {{\n  \
             return weft_load(driver, &kernel->module, &kernel->function, {name}_ptx, \"{symbol}\", {});\n\
             }}\n\n\
             static inline int {name}_unload(const weft_driver *driver, {name}_kernel *kernel) {{\n  \
             return driver->module_unload(kernel->module);\n}}\n\n",
            if program.shared_bytes > SHARED_BYTES_UNASKED { program.shared_bytes } else { 0 },
        ),
    );
    let names = parameters(&program.params, name);
    let pairs = || program.params.iter().zip(&names);
    put(
        text,
        format_args!(
            "// Launches so many blocks on a stream; null is the default one.\n\
             static inline int {name}_launch(const weft_driver *driver, const {name}_kernel *kernel,\n    \
             unsigned grid_x, unsigned grid_y, unsigned grid_z, void *stream"
        ),
    );
    for (param, name) in pairs() {
        put(text, format_args!(",\n    {} {name}", c_type(param)));
    }
    text.push_str(") {\n");
    let unequal: Vec<String> = pairs()
        .filter(|(param, _)| param.divisibility > 1)
        .map(|(param, name)| format!("{name} % {} != 0", param.divisibility))
        .collect();
    if !unequal.is_empty() {
        let unequal = unequal.join(" || ");
        put(text, format_args!("  if ({unequal}) return WEFT_INVALID_VALUE;\n"));
    }
    text.push_str("  uint64_t global_scratch = 0, profile_scratch = 0;\n  void *arguments[] = {");
    for name in &names {
        put(text, format_args!("&{name}, "));
    }
    put(
        text,
        format_args!(
            "&global_scratch, &profile_scratch}};\n  \
             return driver->launch(kernel->function, grid_x, grid_y, grid_z, {name}_threads, 1, 1,\n      \
             {name}_shared_bytes, stream, arguments, NULL);\n}}\n"
        ),
    );
}
