//! C++ for GPUs: one printer, and two dialects of the language.
//!
//! What CUDA and HIP share is printed here: the names, the control, the arithmetic, the comments. Where
//! they differ, `dialect` says how; what neither has as an operator is a small function of the text's
//! `prelude`, of which a text has only what it uses.
//!
//! # Values
//!
//! Each value is a constant with a name, the Python variable's where the front end told it, and its
//! number in the lane program: `row_65`. An integer is unsigned, so that it wraps; an operation that
//! asks for a sign says so: `i32(x) < i32(y)`. The elements of one vector access stay together, as
//! `row_65.at[2]`. Carried values and what a branch decides are variables.
//!
//! # Floats
//!
//! A product is never fused into a sum, whatever the compiler's flags say: CUDA's intrinsics forbid it,
//! HIP's text switches it off. f16 and bf16 are computed by themselves where one rounding comes out,
//! else in f32. A NaN keeps no payload.

mod arithmetic;
mod buffer;
mod direct;
mod cast;
mod control;
mod dialect;
mod float;
mod live;
mod memory;
mod multiply;
mod scaled;
mod prelude;
mod report;
mod selectors;
mod sync;
#[cfg(test)]
mod tests;
mod warpgroup;
mod writer;

pub(super) use dialect::Dialect;

use super::Unsupported;
use super::comment::printable;
use crate::budget::Bounds;
use crate::dtype::DType;
use crate::lane::{IdKind, Inst, InstData, Op, Param, Program};
use crate::location::Locations;
use crate::simplify::abreast;
use writer::{Form, Writer, c_type, put};

/// The text of a kernel. It takes the program's parameters, and nothing else; it is launched with as
/// many threads along x as the block has, and [`Program::shared_bytes`] of dynamic shared memory.
pub(super) fn kernel(
    program: &Program,
    dialect: Dialect,
    bounds: &Bounds,
) -> Result<String, Unsupported> {
    let mut w = Writer::new(program, dialect, Form::Kernel)?;
    w.bounds = bounds.clone();
    let dialect = w.dialect;
    fits(&w)?;
    if !program.results().is_empty() {
        return Err(w.unsupported("return of values", "a kernel gives nothing to its caller"));
    }
    body(&mut w)?;

    let mut text = String::new();
    let name = kernel_symbol(&program.name);
    text.push_str(&format!("// {} for {}.\n//\n", printable(&program.name), dialect.target()));
    text.push_str(&dialect.manual());
    if w.helpers.contains(&prelude::Helper::Print) && !dialect.is_cuda() {
        text.push_str("// It prints, by AMD's device library: leave out -nogpulib.\n");
    }
    text.push_str(&format!("// Launch: {} threads along x a block", program.threads()));
    match program.shared_bytes {
        0 => text.push_str(".\n\n"),
        bytes => text.push_str(&format!(", {bytes} bytes of dynamic shared memory.\n\n")),
    }
    text.push_str(&w.prelude());
    if !program.shared.is_empty() {
        let align = program.shared.values().map(|piece| piece.align).max().unwrap_or(1);
        let align = align.clamp(16, 1024);
        text.push_str(&dialect.shared_array(align));
    }
    let params: Vec<String> =
        program.params.iter().enumerate().map(|(index, param)| declare(&w, index, param)).collect();
    let bounds = dialect.launch_bounds(program.threads(), abreast::blocks(program));
    let params = params.join(", ");
    text.push_str(&format!("extern \"C\" __global__ void {bounds} {name}({params}) {{\n"));
    text.push_str(&w.opening());
    text.push_str(&w.body);
    text.push_str("}\n");
    Ok(text)
}

/// The text of a device function whose parameters and results are the registers of one tensor.
///
/// It takes the array `from`, fills the array `to`, and, where the program has shared memory, takes a
/// pointer to as many bytes of it. `about` stands above it as a comment.
pub(super) fn function(
    program: &Program,
    dialect: Dialect,
    about: &[String],
) -> Result<String, Unsupported> {
    let mut w = Writer::new(program, dialect, Form::Function)?;
    let dialect = w.dialect;
    fits(&w)?;
    body(&mut w)?;

    let name = symbol(&program.name);
    let dtype = |dtypes: &mut dyn Iterator<Item = DType>| dtypes.next().unwrap_or(DType::I32);
    let from = dtype(&mut program.params.iter().map(|param| param.dtype));
    let to = dtype(&mut program.results().iter().map(|&value| program.dtype(value)));
    let (given, taken) = (program.params.len().max(1), program.results().len().max(1));
    w.need_type(from);
    w.need_type(to);

    let mut text = String::new();
    for line in about {
        text.push_str(format!("// {}", printable(line)).trim_end());
        text.push('\n');
    }
    text.push_str("//\n");
    text.push_str(&dialect.manual());
    text.push('\n');
    text.push_str(&dialect.includes(&w.helpers));
    text.push_str(&format!("namespace {name}_parts {{\n\n"));
    text.push_str(&w.prelude_parts());
    text.push_str(&format!("}}  // namespace {name}_parts\n\n"));
    let scratch = if program.shared.is_empty() { "" } else { ", void* scratch" };
    let [from, to] = [from, to].map(|dtype| match c_type(dtype) {
        built_in @ ("bool" | "float" | "double") => built_in.into(),
        ours => format!("{name}_parts::{ours}"),
    });
    text.push_str(&format!(
        "__device__ __forceinline__ void {name}(const {from} (&from)[{given}], \
         {to} (&to)[{taken}]{scratch}) {{\n"
    ));
    text.push_str(&format!("  using namespace {name}_parts;\n"));
    text.push_str(&w.opening());
    text.push_str(&w.body);
    text.push_str("}\n");
    Ok(text)
}

/// The name of a kernel, which must not be that of a function of C's library.
pub(super) fn kernel_symbol(name: &str) -> String {
    let name = symbol(name);
    if name.ends_with("kernel") { name } else { format!("{name}_kernel") }
}

/// A name that C++ takes.
fn symbol(name: &str) -> String {
    let mut symbol: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if symbol.is_empty() || symbol.starts_with(|c: char| c.is_ascii_digit()) {
        symbol.insert(0, '_');
    }
    if prelude::is_reserved(&symbol) {
        symbol.push('_');
    }
    symbol
}

fn body(w: &mut Writer<'_>) -> Result<(), Unsupported> {
    if !w.has_products() {
        for (index, (_, piece)) in w.program.shared.iter().enumerate() {
            let (offset, bytes) = (piece.offset, piece.bytes);
            w.line(format_args!("constexpr u32 scratch_{index} = {offset};  // {bytes} bytes"));
        }
    }
    control::inside(w, &w.program.body)
}

/// The declaration of an argument.
fn declare(w: &Writer<'_>, index: usize, param: &Param) -> String {
    let name = w.parameter(index);
    match param.pointee {
        Some(DType::I1) => format!("u8* {name}"),
        Some(pointee) => format!("{}* {name}", c_type(pointee)),
        None => format!("{} {name}", c_type(param.dtype)),
    }
}

/// Refuses a program whose block the dialect does not have.
fn fits(w: &Writer<'_>) -> Result<(), Unsupported> {
    let refuse = |operation: String, reason: String| {
        let loc = Locations::unknown();
        Err(Unsupported { operation, target: w.dialect.target(), reason, loc })
    };
    let (own, lanes_log2) = (w.dialect.lanes_log2(), w.program.lanes_log2);
    if lanes_log2 != own {
        let lanes = 1u64 << lanes_log2.min(63);
        return refuse(format!("warp of {lanes} lanes"), format!("a warp has {} lanes", 1 << own));
    }
    let (warps, most) = (w.program.warps, 1024 >> own);
    if !(1..=most).contains(&warps) {
        return refuse(format!("block of {warps} warps"), format!("a block has 1 to {most} warps"));
    }
    Ok(())
}

/// Writes an operation with all that it owns.
fn operation<'a>(w: &mut Writer<'a>, id: Inst, inst: &'a InstData) -> Result<(), Unsupported> {
    if w.bounds.are_reached(w.body.len()) {
        return Ok(());
    }
    statements(w, id, inst)?;
    w.share(&inst.results);
    Ok(())
}

fn statements<'a>(w: &mut Writer<'a>, id: Inst, inst: &'a InstData) -> Result<(), Unsupported> {
    if inst.op.effects().is_removable() && !inst.results.iter().any(|&result| w.is_used(result)) {
        return Ok(());
    }
    w.enter(inst);
    if !inst.op.effects().starts_product() {
        w.ready.write(&inst.results);
    }
    match &inst.op {
        Op::If => return control::branch(w, inst),
        Op::Loop => return control::repeat(w, id, inst),
        Op::BreakIf { target } => control::break_if(w, *target, inst),
        Op::Return => {
            for (index, &value) in inst.operands.iter().enumerate() {
                put!(w, "to[{index}] = {}", w.spelled(value));
            }
        }
        Op::Continue | Op::Yield => {}
        Op::Load { space, access } => return memory::load(w, *space, *access, inst),
        Op::Store { space, access } => return memory::store(w, *space, *access, inst),
        Op::Atomic(op) => return memory::atomic(w, *op, inst),
        Op::AsyncCopy(op) => return memory::async_copy(w, *op, inst),
        Op::MatrixMultiply(form) => return multiply::multiply(w, *form, inst),
        Op::ScaledMultiply(form) => return scaled::multiply(w, *form, inst),
        Op::Warpgroup(op) => return warpgroup::step(w, *op, inst),
        Op::Sync(op) => return sync::sync(w, *op),
        Op::Mbarrier(_) | Op::BulkCopy(_) | Op::TensorCopy(_) | Op::MakeMap(_) | Op::Roles(_) => {
            return Err(w.only_in_ptx());
        }
        Op::Print(format) => report::print(w, format, inst),
        Op::Assert { message } => report::assert(w, message, inst),
        Op::InlineAsm { text, pure } => return report::assembly(w, text, *pure, inst),
        _ => {
            if let [result] = inst.results[..] {
                let dtype = w.program.dtype(result);
                return value(w, inst, dtype);
            }
        }
    }
    Ok(())
}

/// Writes an operation whose one effect is its result, of type `dtype`.
fn value(w: &mut Writer<'_>, inst: &InstData, dtype: DType) -> Result<(), Unsupported> {
    let result = inst.results[0];
    let operands: Vec<String> = inst.operands.iter().map(|&value| w.spelled(value)).collect();
    let of = inst.operands.first().map_or(dtype, |&value| w.program.dtype(value));
    let operand: Vec<&str> = operands.iter().map(String::as_str).collect();
    let text = match (&inst.op, &operand[..]) {
        // A constant is written where it is used.
        (Op::Const(bits), _) => {
            let literal = w.literal(dtype, *bits);
            w.spell(result, literal);
            return Ok(());
        }
        (Op::Param(index), _) => {
            let name = w.parameter(*index as usize);
            match w.program.params.get(*index as usize).and_then(|param| param.pointee) {
                Some(_) => format!("reinterpret_cast<u64>({name})"),
                None => {
                    w.spell(result, name);
                    return Ok(());
                }
            }
        }
        (Op::Id(kind), _) => match number(w, *kind)? {
            (name, true) => {
                w.spell(result, name);
                return Ok(());
            }
            (call, false) => call,
        },
        (Op::SharedBase(shared), _) if w.has_products() => {
            w.uses_shared_start = true;
            format!("shared_start + {}", w.program.shared[*shared].offset)
        }
        (Op::SharedBase(shared), _) => {
            w.spell(result, format!("scratch_{}", crate::id::Id::index(*shared)));
            return Ok(());
        }
        (Op::Linear { columns }, &[x]) => arithmetic::linear(columns, x),
        (Op::Unary(op), &[x]) if dtype.is_float() => float::unary(w, *op, dtype, x)?,
        (Op::Unary(op), &[x]) => arithmetic::unary(*op, dtype, x),
        (Op::Binary(op), &[x, y]) if dtype.is_float() => float::binary(w, *op, dtype, (x, y))?,
        (Op::Binary(op), &[x, y]) => {
            let y_bits = w.constant(inst.operands[1]);
            arithmetic::binary(w, *op, dtype, (x, y), y_bits)
        }
        (Op::Compare(op), &[x, y]) if of.is_float() => float::compare(*op, of, x, y),
        (Op::Compare(op), &[x, y]) => arithmetic::compare(*op, of, x, y),
        (Op::Select, &[condition, x, y]) => format!("{condition} ? {x} : {y}"),
        (Op::Cast(op), &[x]) => cast::cast(w, *op, (of, dtype), x),
        (Op::Fma, &[x, y, z]) if dtype.is_float() => float::multiply_add(w, dtype, [x, y, z]),
        (Op::Fma, &[x, y, z]) => arithmetic::multiply_add(dtype, [x, y, z]),
        (Op::FmaToward(rounding), &[x, y, z]) => {
            float::multiply_add_toward(w, *rounding, dtype, [x, y, z])
        }
        (Op::RoundPair(to), &[x, y]) => cast::round_pair(w, *to, [x, y]),
        (Op::WidenPair(from), &[x]) => cast::widen_pair(w, *from, x),
        (Op::Bytes, &[x, y, selector]) => {
            let signs = w.may_ask_for_signs(inst.operands[2]);
            w.byte_permute([x, y, selector], signs)
        }
        // An access that takes base and offset apart has no use for their sum.
        (Op::Offset, &[base, offset]) => {
            w.spell(result, format!("({base} + {offset})"));
            return Ok(());
        }
        (Op::ShuffleXor { mask }, &[x]) => w.shuffle_xor(x, *mask),
        (Op::ShuffleIndex, &[x, lane]) => w.shuffle(x, lane),
        // Nothing else has one result in a verified program.
        _ => return Ok(()),
    };
    w.define(result, &text);
    Ok(())
}

/// A number of the thread or block, and whether it has a name of its own.
fn number(w: &mut Writer<'_>, kind: IdKind) -> Result<(String, bool), Unsupported> {
    let (axis, count) = match kind {
        IdKind::Lane => {
            w.uses_lane = true;
            return Ok(("lane".into(), true));
        }
        IdKind::Warp => {
            w.uses_warp = true;
            return Ok(("warp".into(), true));
        }
        IdKind::Thread => return Ok((w.thread(), false)),
        IdKind::Block(axis) => (axis, false),
        IdKind::Blocks(axis) => (axis, true),
    };
    let Some(&name) = ["x", "y", "z"].get(usize::from(axis)) else {
        return Err(w.unsupported(format!("grid axis {axis}"), "a grid has the axes 0 to 2"));
    };
    let threads = if axis == 0 { w.program.threads() } else { 1 };
    Ok((w.dialect.block_number(name, count, threads), false))
}
