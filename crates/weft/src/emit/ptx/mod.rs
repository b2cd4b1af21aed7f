//! PTX for NVIDIA GPUs, from `sm_80` on.
//!
//! # Unsupported
//!
//! * Warps of another size than 32 lanes, blocks of more than 1024 threads, a fourth grid axis.
//! * `exp`, `exp2`, `log`, `log2` of f64; `sin`, `cos`, `tanh`, `erf`, `expm1`, `log1p`, `pow` and `rem`
//!   of floats: PTX has none. Lowering writes algorithms of other operations for them (`math`).
//! * Atomics narrower than 32 bits, except sums, maxima and minima of f16 and bf16, and the
//!   compare-and-swap of 16 bits.
//!
//! # Registers
//!
//! Each value has one virtual register, whose number is the value's: `%r12` holds `%12`, so that a
//! text can be read beside the lane program. Registers are untyped: `%p` holds an i1, `%rs` 16 bits,
//! `%r` 32, `%rd` 64, and temporaries have a `t` before their number. An i8 lies zero-extended in 16
//! bits: operations that ask for its sign repeat it first, operations that may leave bits above
//! clear them afterwards, unless their result is only stored.
//!
//! ```text
//! %3: i8 = shr_s %1, %2         cvt.s16.s8 %rst0, %rs1;
//!                               cvt.u32.u16 %rt0, %rs2;
//!                               shr.s16 %rs3, %rst0, %rt0;
//!                               and.b16 %rs3, %rs3, 0xff;
//! ```
//!
//! # Floats
//!
//! Products are printed with `.rn`, and so are sums, but for those whose range the assembler asks for:
//! it fuses a product into a sum where neither says `.rn`, and the program says `fma` where it wants it.
//! Subnormals are kept everywhere (no `.ftz`), except by the hardware's atomic sum of f32 in global
//! memory and by `exp2_normal` and `reciprocal`, which are defined so. These, `exp`, `exp2`, `log`, `log2`,
//! `sqrt`, `rsqrt` and `div` of f32 are the machine's approximations, within a few units in the last place
//! of the true value (`exp` within about |x| units, since it is `exp2` of a rounded product). Everything
//! else is rounded once and correctly, and equal to `scalar` but for the payload of a NaN. f16 and bf16 are
//! computed by themselves where one rounding comes out, else in f32.
//!
//! ```text
//! %3: bf16 = add %1, %2         mov.b16 %rst0, 0x3f80;
//!   (before sm_90)              fma.rn.bf16 %rs3, %rs1, %rst0, %rs2;
//! ```
//!
//! # Shared memory
//!
//! A lane program counts addresses from the start of the block's shared memory; the hardware's start
//! may be elsewhere. The symbol `global_smem` is added where an address begins, and nowhere else:
//!
//! ```text
//! %4: i32 = address @s1         mov.b32 %r4, global_smem+512;
//! ```
//!
//! The other tricks are explained where they are played: `memory` packs elements into words,
//! `exchange` cuts values into words, `control` orders copies, `integer` divides and shifts, `cast`
//! rounds once, `wide` multiplies into 64 bits.

mod cast;
mod control;
mod exchange;
mod float;
mod function;
mod integer;
mod lines;
mod memory;
mod multiply;
mod narrow;
mod report;
pub(super) mod sync;
mod target;
mod tied;
#[cfg(test)]
mod tests;
mod transfer;
mod uniform;
mod warpgroup;
mod wide;
mod writer;

pub use function::function;
pub use target::{Target, Version};
pub use transfer::scratch_bytes;

pub(super) use memory::{CAS_WIDTHS, is_swapped, matrix_move, rmw_kind};
pub(super) use multiply::instruction as matrix_multiply;
pub(super) use tied::{Clash, Ready, Tied};
pub(super) use warpgroup::instruction as warpgroup_multiply;

use super::Unsupported;
use crate::budget::Bounds;
use crate::dtype::DType;
use crate::lane::{IdKind, Inst, InstData, Op, Param, Program, TensorMap};
use crate::location::Locations;
use crate::scalar::{Binary, Cast};
use crate::simplify::abreast;
use lines::Lines;
use writer::{Class, Reg, Vector, Writer, push, put};

/// The symbol of the block's shared memory.
const SHARED: &str = "global_smem";

/// The text of a verified program for a target.
///
/// The kernel has Triton's parameters: the program's, then two pointers to scratch memory (global and
/// profile) that the launcher passes always. Its symbol is [`symbol`] of the program's name. It is
/// launched with `32 * warps` threads along x and [`Program::shared_bytes`] of dynamic shared memory.
///
/// ```
/// use weft::emit::ptx::{Target, print};
///
/// let program = weft::lane::Builder::new("nothing", 4, 5).finish();
/// let text = print(&program, Target::by_name("sm_80").unwrap())?;
/// assert!(text.starts_with(".version 7.0\n.target sm_80\n"));
/// # Ok::<(), weft::emit::Unsupported>(())
/// ```
pub fn print(program: &Program, target: &Target) -> Result<String, Unsupported> {
    print_with(program, target, Registers::Balanced)
}

/// How many registers the assembler gives each thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Registers {
    /// As it weighs them against the threads that a multiprocessor can hold: for the sake of those it
    /// may put loads and exchanges that could overlap one behind the other. Where a kernel waits for nothing
    /// but loads it is told how many blocks are enough ([`abreast`]).
    #[default]
    Balanced,
    /// So many at most, as `.maxnreg` says (PTX ISA, performance-tuning directives).
    AtMost(u32),
    /// As many as are of use while so many blocks fit on a multiprocessor, as `.minnctapersm` says.
    Blocks(u32),
}

/// The PTX of a kernel as [`print()`] has it, with a say in its registers.
pub fn print_with(
    program: &Program,
    target: &Target,
    registers: Registers,
) -> Result<String, Unsupported> {
    print_within(program, target, registers, LineInfo::Omitted, &Bounds::default())
}

/// Whether a text tells debuggers and profilers which lines of the source its instructions came from.
/// Comments tell readers in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineInfo {
    /// It does not: `.file` and `.loc` are left out.
    #[default]
    Omitted,
    /// By `.file` and `.loc`; `ptxas -lineinfo` keeps them. No instruction is another for it.
    Written,
}

/// The same as far as bytes of its operations go.
pub fn print_within(
    program: &Program,
    target: &Target,
    registers: Registers,
    line_info: LineInfo,
    bounds: &Bounds,
) -> Result<String, Unsupported> {
    fits(program, target)?;
    let mut w = Writer::new(program, target)?;
    w.bounds = bounds.clone();
    w.lines = (line_info == LineInfo::Written).then(Lines::default);
    if !program.results().is_empty() {
        return Err(w.unsupported("return of values", "a kernel gives nothing to its caller"));
    }
    for &id in &program.body.insts {
        operation(&mut w, id, &program.insts[id])?;
    }
    let end = program.params.iter().zip(0..).fold(0, |end: u32, (param, index)| {
        let [bytes, align] = match program.maps.get(&index) {
            Some(map) if map.made => return end,
            Some(_) => [TensorMap::BYTES, MAP_ALIGN],
            None => [param.dtype.bytes(); 2],
        };
        end.next_multiple_of(align) + bytes
    });
    if end.next_multiple_of(8) + 16 > 4352 {
        w.need((8, 1));
    }

    let mut text = String::new();
    let (major, minor) = w.version;
    push(&mut text, format_args!(".version {major}.{minor}\n.target {}\n", w.target.name));
    text.push_str(".address_size 64\n\n");
    if program.shared_bytes > 0 || !program.shared.is_empty() {
        let align = program.shared.values().map(|piece| piece.align).max().unwrap_or(1);
        let align = align.clamp(16, 1024);
        push(&mut text, format_args!(".extern .shared .align {align} .b8 {SHARED}[];\n\n"));
    }
    text.push_str(&w.outside());
    push(&mut text, format_args!(".visible .entry {}(\n", symbol(&program.name)));
    for (index, param) in program.params.iter().enumerate() {
        let declared = match program.maps.get(&(index as u32)) {
            Some(map) if map.made => continue,
            Some(_) => declare_map(index, param),
            None => declare(index, param),
        };
        push(&mut text, format_args!("  {declared},\n"));
    }
    let count = program.params.len();
    push(&mut text, format_args!("  {POINTER} p{count}_global_scratch,\n"));
    push(&mut text, format_args!("  {POINTER} p{}_profile_scratch\n)\n", count + 1));
    push(&mut text, format_args!(".reqntid {}\n", program.threads()));
    // What roles share out is said by them.
    let registers = match (transfer::starts_with(program), registers) {
        (Some(first), _) => Registers::AtMost(first),
        (None, Registers::Balanced) => {
            abreast::blocks(program).map_or(Registers::Balanced, Registers::Blocks)
        }
        (None, other) => other,
    };
    match registers {
        Registers::Balanced => {}
        Registers::AtMost(most) => push(&mut text, format_args!(".maxnreg {most}\n")),
        Registers::Blocks(blocks) => push(&mut text, format_args!(".minnctapersm {blocks}\n")),
    }
    text.push_str("{\n");
    text.push_str(&w.declarations());
    entry(&mut text, &w);
    text.push_str(w.body());
    text.push_str("}\n");
    text.push_str(&w.lines.as_ref().map(Lines::tables).unwrap_or_default());
    Ok(text)
}

/// The name under which a kernel is found in the assembled module: the program's, with what PTX does
/// not allow in a name replaced.
pub fn symbol(name: &str) -> String {
    let mut symbol = sanitised(name);
    if symbol.is_empty() || symbol.starts_with(|c: char| c.is_ascii_digit()) {
        symbol.insert(0, '_');
    }
    // A single mark is no name, and these two mean something.
    if matches!(&symbol[..], "_" | "$" | "WARP_SZ" | SHARED) {
        symbol.push('_');
    }
    symbol
}

fn sanitised(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '$' { c } else { '_' }).collect()
}

const POINTER: &str = ".param .u64 .ptr .global .align 1";

pub(super) fn parameter(index: usize, param: &Param) -> String {
    format!("p{index}_{}", sanitised(&param.name))
}

/// The declaration of an argument, as Triton's launcher expects it.
fn declare(index: usize, param: &Param) -> String {
    let name = parameter(index, param);
    let kind = match param.dtype {
        _ if param.pointee.is_some() => POINTER,
        dtype if dtype.bits() <= 8 => ".param .u8",
        DType::I16 => ".param .u16",
        DType::I32 => ".param .u32",
        DType::I64 => ".param .u64",
        DType::F32 => ".param .f32",
        DType::F64 => ".param .f64",
        _ => return format!(".param .align 2 .b8 {name}[2]"),
    };
    format!("{kind} {name}")
}

/// What a tensor map among the parameters is a multiple of, in bytes, as Triton's launcher places them.
const MAP_ALIGN: u32 = 64;

fn declare_map(index: usize, param: &Param) -> String {
    let (name, bytes) = (parameter(index, param), TensorMap::BYTES);
    format!(".param .align {MAP_ALIGN} .b8 {name}[{bytes}]")
}

/// Refuses a program whose block PTX does not have.
fn fits(program: &Program, target: &Target) -> Result<(), Unsupported> {
    let refuse = |operation: String, reason: &str| {
        let (reason, loc) = (reason.into(), Locations::unknown());
        Err(Unsupported { operation, target: target.name, reason, loc })
    };
    if program.lanes_log2 != 5 {
        let lanes = 1u64 << program.lanes_log2.min(63);
        return refuse(format!("warp of {lanes} lanes"), "a warp has 32 lanes");
    }
    if !(1..=32).contains(&program.warps) {
        let warps = program.warps;
        return refuse(format!("block of {warps} warps"), "a block has 1 to 32 warps");
    }
    Ok(())
}

/// The index of the thread's lane and warp, and the priorities of loads, computed once where they are
/// asked for.
fn entry(text: &mut String, w: &Writer<'_>) {
    transfer::made_maps(text, w.program);
    for priority in &w.priorities {
        push(text, format_args!("  .reg .b64 %{priority};\n"));
        push(
            text,
            format_args!("  {};\n", memory::create_policy(priority, &format!("%{priority}"))),
        );
    }
    if !w.uses_lane && !w.uses_warp {
        return;
    }
    text.push_str("  .reg .b32 %thread, %lane, %warp;\n");
    text.push_str("  mov.u32 %thread, %tid.x;\n");
    if w.uses_lane {
        text.push_str("  and.b32 %lane, %thread, 31;\n");
    }
    if w.uses_warp {
        text.push_str("  shr.u32 %warp, %thread, 5;\n");
    }
}

/// Whether an operation ends a region, so that the region's owner writes it.
fn terminates(inst: &InstData) -> bool {
    matches!(inst.op, Op::Yield | Op::Continue)
}

/// Writes an operation with all that it owns.
fn operation(w: &mut Writer<'_>, id: Inst, inst: &InstData) -> Result<(), Unsupported> {
    let is_taken = matches!(inst.results[..], [result] if w.wide.takes(result));
    if is_taken || w.bounds.are_reached(w.body().len()) {
        return Ok(());
    }
    w.enter(inst);
    if !inst.op.effects().starts_product() {
        w.written(&inst.results);
    }
    match &inst.op {
        Op::If => return control::branch(w, id, inst),
        Op::Loop => return control::repeat(w, id, inst),
        Op::BreakIf { target } => control::break_if(w, *target, inst),
        Op::Return => {
            function::give(w, &inst.operands);
            put!(w, "ret");
        }
        Op::Continue | Op::Yield => {}
        Op::Load { space, access } => return memory::load(w, *space, *access, inst),
        Op::Store { space, access } => return memory::store(w, *space, *access, inst),
        Op::Atomic(op) => return memory::atomic(w, *op, inst),
        Op::AsyncCopy(op) => memory::async_copy(w, *op, inst),
        Op::MatrixMultiply(form) => return multiply::multiply(w, *form, inst),
        Op::ScaledMultiply(form) => {
            let (left, right) = (form.left.word(), form.right.word());
            let what = format!("products of {left} and {right} with scales");
            return Err(w.unsupported(what, "they are instructions of gfx950"));
        }
        Op::Warpgroup(op) => return warpgroup::step(w, *op, inst),
        Op::Sync(op) => sync::sync(w, *op),
        Op::Mbarrier(op) => return transfer::mbarrier(w, id, *op, inst),
        Op::BulkCopy(copy) => return transfer::bulk_copy(w, *copy, inst),
        Op::TensorCopy(copy) => return transfer::tensor_copy(w, *copy, inst),
        Op::MakeMap(make) => return transfer::make_map(w, id, *make, inst),
        Op::Roles(roles) => return transfer::roles(w, id, roles, inst),
        Op::Print(format) => report::print(w, format, inst),
        Op::Assert { message } => report::assert(w, id, message, inst),
        Op::InlineAsm { text, .. } => report::assembly(w, text, inst),
        _ => {
            if let [result] = inst.results[..] {
                let dtype = w.program.dtype(result);
                let d = w.reg(result);
                return value(w, inst, dtype, d);
            }
        }
    }
    Ok(())
}

/// Writes an operation whose one effect is its result `d`, of type `dtype`.
fn value(w: &mut Writer<'_>, inst: &InstData, dtype: DType, d: Reg) -> Result<(), Unsupported> {
    let operands = w.regs(&inst.operands);
    match (&inst.op, &operands[..]) {
        (Op::Const(bits), _) => constant(w, dtype, d, *bits),
        (Op::Param(index), _) if w.is_function => function::argument(w, *index as usize, d),
        (Op::Param(index), _) => argument(w, *index as usize, d),
        (Op::Id(kind), _) => return number(w, *kind, d),
        (Op::SharedBase(shared), _) => {
            let offset = w.program.shared[*shared].offset;
            if w.is_function {
                function::scratch(w, d, offset);
            } else {
                put!(w, "mov.b32 {d}, {SHARED}+{offset}");
            }
        }
        (Op::Linear { columns }, &[x]) => integer::linear(w, columns, d, x),
        (Op::Unary(op), &[x]) if dtype.is_float() => return float::unary(w, *op, dtype, d, x),
        (Op::Unary(op), &[x]) => integer::unary(w, *op, dtype, d, x),
        (Op::Binary(op), &[x, y]) => return binary(w, *op, inst, dtype, d, (x, y)),
        (Op::Compare(op), &[x, y]) => {
            let of = w.program.dtype(inst.operands[0]);
            let compare = if of.is_float() { float::compare } else { integer::compare };
            compare(w, *op, of, d, x, y);
        }
        (Op::Select, &[condition, x, y]) => select(w, d, condition, x, y),
        (Op::Cast(op), &[x]) => {
            let from = w.program.dtype(inst.operands[0]);
            match (op, w.rounded(inst.operands[0])) {
                (Cast::SFromFloat | Cast::UFromFloat, Some((how, x))) => {
                    let (x, signed) = (w.reg(x), *op == Cast::SFromFloat);
                    cast::integer_from_float(w, how, signed, (from, dtype), d, x);
                }
                _ => {
                    let part = w.part(inst.operands[0]);
                    cast::cast(w, *op, (from, dtype), part, d, x);
                }
            }
        }
        (Op::Fma, &[x, y, z]) if dtype.is_float() => float::multiply_add(w, dtype, d, [x, y, z]),
        (Op::Fma, &[x, y, z]) => integer::multiply_add(w, dtype, d, [x, y, z]),
        (Op::FmaToward(rounding), &[x, y, z]) => {
            float::multiply_add_toward(w, *rounding, dtype, d, [x, y, z]);
        }
        (Op::RoundPair(to), &[x, y]) => narrow::round_pair(w, *to, d, [x, y]),
        (Op::WidenPair(from), &[x]) => narrow::widen_pair(w, *from, d, x),
        (Op::Bytes, &[x, y, selector]) => match w.halves(&inst.operands) {
            Some(halves) => put!(w, "mov.b32 {d}, {}", Vector(&halves)),
            None => put!(w, "prmt.b32 {d}, {x}, {y}, {selector}"),
        },
        (Op::Offset, &[base, offset]) => {
            let wide = w.temp(d.class);
            put!(w, "cvt.u64.u32 {wide}, {offset}");
            put!(w, "add.s64 {d}, {base}, {wide}");
        }
        (Op::ShuffleXor { mask }, &[x]) => exchange::shuffle_xor(w, *mask, d, x),
        (Op::ShuffleIndex, &[x, lane]) => exchange::shuffle_index(w, d, x, lane),
        // Nothing else has one result in a verified program.
        _ => {}
    }
    Ok(())
}

fn binary(
    w: &mut Writer<'_>,
    op: Binary,
    inst: &InstData,
    dtype: DType,
    d: Reg,
    operands: (Reg, Reg),
) -> Result<(), Unsupported> {
    if dtype.is_float() {
        return float::binary(w, op, dtype, d, operands);
    }
    if wide::product(w, inst.results[0], d) {
        return Ok(());
    }
    let y_bits = w.constant(inst.operands[1]);
    integer::binary(w, op, dtype, d, operands, y_bits);
    Ok(())
}

fn constant(w: &mut Writer<'_>, dtype: DType, d: Reg, bits: u64) {
    let suffix = d.class.suffix();
    match dtype {
        DType::I1 => put!(w, "mov.pred {d}, {bits}"),
        DType::F32 => put!(w, "mov.b32 {d}, 0f{bits:08X}"),
        DType::F64 => put!(w, "mov.b64 {d}, 0d{bits:016X}"),
        DType::F16 | DType::BF16 => put!(w, "mov.b16 {d}, {bits:#06x}"),
        _ if dtype.bits() == 8 => put!(w, "mov.b16 {d}, {bits}"),
        _ => put!(w, "mov.{suffix} {d}, {}", crate::scalar::sign_extend(dtype, bits)),
    }
}

fn argument(w: &mut Writer<'_>, index: usize, d: Reg) {
    let param = &w.program.params[index];
    let name = parameter(index, param);
    load_parameter(w, param.dtype, d, &name);
}

/// Reads what stands at an address among the parameters.
fn load_parameter(w: &mut Writer<'_>, dtype: DType, d: Reg, address: &str) {
    match dtype {
        DType::I1 => {
            let byte = w.temp(Class::B16);
            put!(w, "ld.param.u8 {byte}, [{address}]");
            put!(w, "setp.ne.u16 {d}, {byte}, 0");
        }
        dtype if dtype.bits() == 8 => put!(w, "ld.param.u8 {d}, [{address}]"),
        _ => put!(w, "ld.param.{} {d}, [{address}]", d.class.suffix()),
    }
}

fn number(w: &mut Writer<'_>, kind: IdKind, d: Reg) -> Result<(), Unsupported> {
    let (register, axis) = match kind {
        IdKind::Lane => {
            w.uses_lane = true;
            put!(w, "mov.b32 {d}, %lane");
            return Ok(());
        }
        IdKind::Warp => {
            w.uses_warp = true;
            put!(w, "mov.b32 {d}, %warp");
            return Ok(());
        }
        IdKind::Thread => {
            put!(w, "mov.u32 {d}, %tid.x");
            return Ok(());
        }
        IdKind::Block(axis) => ("ctaid", axis),
        IdKind::Blocks(axis) => ("nctaid", axis),
    };
    let Some(name) = ["x", "y", "z"].get(usize::from(axis)) else {
        return Err(w.unsupported(format!("grid axis {axis}"), "a grid has the axes 0 to 2"));
    };
    put!(w, "mov.u32 {d}, %{register}.{name}");
    Ok(())
}

fn select(w: &mut Writer<'_>, d: Reg, condition: Reg, x: Reg, y: Reg) {
    if d.class != Class::Predicate {
        return put!(w, "selp.{} {d}, {x}, {y}, {condition}", d.class.suffix());
    }
    let [taken, inverse, left] = [(); 3].map(|()| w.temp(Class::Predicate));
    put!(w, "and.pred {taken}, {condition}, {x}");
    put!(w, "not.pred {inverse}, {condition}");
    put!(w, "and.pred {left}, {inverse}, {y}");
    put!(w, "or.pred {d}, {taken}, {left}");
}
