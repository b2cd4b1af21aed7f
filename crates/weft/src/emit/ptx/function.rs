//! A function that a kernel calls, instead of a kernel.
//!
//! The registers of a tensor come and go as arrays, as a C++ `struct { T at[N]; }` by value does; scratch
//! memory comes as an address in shared memory:
//!
//! ```text
//! extern "C" __device__ Registers NAME(Registers from, unsigned scratch);
//! ```

use super::writer::{Class, Reg, Writer, push, put};
use super::{Target, entry, fits, load_parameter, operation, symbol};
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::emit::comment::printable;
use crate::lane::{Program, Value};

/// The text of a device function whose parameters and results are registers of one tensor each.
///
/// It takes the array `from` and, where the program has shared memory, the address `scratch` in shared
/// memory of [`Program::shared_bytes`] of it, and gives the array `to`. `about` stands above it as a
/// comment.
pub fn function(
    program: &Program,
    target: &Target,
    about: &[String],
) -> Result<String, Unsupported> {
    fits(program, target)?;
    let mut w = Writer::new(program, target)?;
    w.is_function = true;
    for &id in &program.body.insts {
        operation(&mut w, id, &program.insts[id])?;
    }

    let mut text = String::new();
    for line in about {
        text.push_str(format!("// {}", printable(line)).trim_end());
        text.push('\n');
    }
    let (major, minor) = w.version;
    push(&mut text, format_args!(".version {major}.{minor}\n.target {}\n", w.target.name));
    text.push_str(".address_size 64\n\n");
    text.push_str(&w.outside());
    let from = bytes(program.params.iter().map(|param| param.dtype));
    let to = bytes(program.results().iter().map(|&value| program.dtype(value)));
    let name = symbol(&program.name);
    push(&mut text, format_args!(".visible .func (.param .align 16 .b8 to[{to}]) {name}(\n"));
    push(&mut text, format_args!("  .param .align 16 .b8 from[{from}]"));
    text.push_str(if program.shared.is_empty() { "\n" } else { ",\n  .param .b32 scratch\n" });
    text.push_str(")\n{\n");
    text.push_str(&w.declarations());
    entry(&mut text, &w);
    text.push_str(w.body());
    text.push_str("}\n");
    Ok(text)
}

/// The size of an array of these; an array is never empty.
fn bytes(elements: impl Iterator<Item = DType>) -> u32 {
    elements.map(DType::bytes).sum::<u32>().max(1)
}

/// The bytes of the parameters before one.
fn offset(w: &Writer<'_>, index: usize) -> u32 {
    w.program.params.iter().take(index).map(|param| param.dtype.bytes()).sum()
}

/// One register of `from`.
pub(super) fn argument(w: &mut Writer<'_>, index: usize, d: Reg) {
    let address = format!("from+{}", offset(w, index));
    let dtype = w.program.params[index].dtype;
    load_parameter(w, dtype, d, &address);
}

/// An address in scratch memory.
pub(super) fn scratch(w: &mut Writer<'_>, d: Reg, offset: u32) {
    put!(w, "ld.param.b32 {d}, [scratch]");
    if offset != 0 {
        put!(w, "add.s32 {d}, {d}, {offset}");
    }
}

/// Leaves the results in `to`.
pub(super) fn give(w: &mut Writer<'_>, values: &[Value]) {
    let mut offset = 0;
    for &value in values {
        let (dtype, x) = (w.program.dtype(value), w.reg(value));
        match dtype {
            DType::I1 => {
                let byte = w.temp(Class::B16);
                put!(w, "selp.b16 {byte}, 1, 0, {x}");
                put!(w, "st.param.b8 [to+{offset}], {byte}");
            }
            DType::I8 => put!(w, "st.param.b8 [to+{offset}], {x}"),
            _ => put!(w, "st.param.{} [to+{offset}], {x}", x.class.suffix()),
        }
        offset += dtype.bytes();
    }
}
