//! Prints and assertions: calls of the driver's `vprintf` and `__assertfail`; and assembly as it is.
//!
//! `vprintf` takes the format and the arguments as C puts them into memory: words, and long words and
//! doubles at multiples of 8.
//!
//! ```text
//! print "%u: %f\n" %1, %2, %3   st.local.b32 [arguments], %r2;
//!                               st.local.b64 [arguments+8], %rd3;
//!                               …
//!                               @%p1 call (%rt0), vprintf, (%rdt0, %rdt1);
//! ```

use super::writer::{Class, Reg, Writer, put};
use crate::emit::assembly::with_operands;
use crate::format::Format;
use crate::id::Id as _;
use crate::lane::{Inst, InstData};

pub(super) fn print(w: &mut Writer<'_>, format: &Format, inst: &InstData) {
    let Some((&predicate, values)) = inst.operands.split_first() else { return };
    w.call(".extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 arguments)");
    let predicate = w.reg(predicate);
    let mut end: u32 = 0;
    for &value in values {
        let bytes = w.program.dtype(value).bytes();
        let at = end.next_multiple_of(bytes);
        let value = w.reg(value);
        put!(w, "@{predicate} st.local.{} [arguments+{at}], {value}", value.class.suffix());
        end = at + bytes;
    }
    w.need_arguments(end.max(8));
    let text = w.text(&format.c());
    let format = address(w, "global", &text);
    let arguments = address(w, "local", "arguments");
    w.line("{");
    put!(w, ".param .b64 format");
    put!(w, ".param .b64 given");
    put!(w, ".param .b32 status");
    put!(w, "st.param.b64 [format], {format}");
    put!(w, "st.param.b64 [given], {arguments}");
    put!(w, "@{predicate} call (status), vprintf, (format, given)");
    w.line("}");
}

/// Who fails does not come back (`__assertfail` is declared so in CUDA's headers); `trap` says it to
/// `ptxas`, which else takes the warp for one whose lanes may part here, and each later exchange between
/// them for one that must look for itself.
pub(super) fn assert(w: &mut Writer<'_>, id: Inst, message: &str, inst: &InstData) {
    let Some(&condition) = inst.operands.first() else { return };
    w.call(
        ".extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, \
         .param .b64 function, .param .b64 width)",
    );
    let (condition, n) = (w.reg(condition), id.index());
    put!(w, "@{condition} bra $L_holds_{n}");
    let (file, line) = place(w);
    let name = w.program.name.clone();
    let texts = [message, &file, &name].map(|text| {
        let text = w.text(text);
        address(w, "global", &text)
    });
    w.line("{");
    put!(w, ".param .b64 message");
    put!(w, ".param .b64 file");
    put!(w, ".param .b32 line");
    put!(w, ".param .b64 function");
    put!(w, ".param .b64 width");
    put!(w, "st.param.b64 [message], {}", texts[0]);
    put!(w, "st.param.b64 [file], {}", texts[1]);
    put!(w, "st.param.b32 [line], {line}");
    put!(w, "st.param.b64 [function], {}", texts[2]);
    put!(w, "st.param.b64 [width], 1");
    put!(w, "call __assertfail, (message, file, line, function, width)");
    w.line("}");
    put!(w, "trap");
    w.depth += 1;
    w.label(format_args!("$L_holds_{n}"));
    w.depth -= 1;
}

/// The text in a scope of its own, with registers for operands.
pub(super) fn assembly(w: &mut Writer<'_>, text: &str, inst: &InstData) {
    let mut registers = w.regs(&inst.results);
    registers.extend(w.regs(&inst.operands));
    let name = |index: usize| registers.get(index).map(ToString::to_string);
    let text = with_operands(text, name);
    w.line("{");
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        w.line(line);
    }
    w.line("}");
}

/// A generic address of a symbol in a state space.
fn address(w: &mut Writer<'_>, space: &str, symbol: &str) -> Reg {
    let to = w.temp(Class::B64);
    put!(w, "mov.b64 {to}, {symbol}");
    put!(w, "cvta.{space}.u64 {to}, {to}");
    to
}

/// The file and the line of the operation being written.
fn place(w: &Writer<'_>) -> (String, u32) {
    match w.program.locations.resolve(w.loc) {
        Some((file, line, _)) => (file.into(), line),
        None => ("unknown".into(), 0),
    }
}
