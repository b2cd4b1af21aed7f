//! Prints, assertions and assembly.

use super::prelude::Helper;
use super::writer::{Writer, c_type, put};
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::emit::assembly::with_operands;
use crate::emit::comment::printable;
use crate::format::{Format, How, Piece, quoted};
use crate::lane::InstData;

pub(super) fn print(w: &mut Writer<'_>, format: &Format, inst: &InstData) {
    let Some((&predicate, values)) = inst.operands.split_first() else { return };
    w.need(Helper::Print);
    let pieces = format.0.iter().filter_map(|piece| match *piece {
        Piece::Text(_) => None,
        Piece::Value { how, wide, .. } => Some((how, wide)),
    });
    let mut call = format!("printf(\"{}\"", escaped(&format.c()));
    for ((how, wide), &value) in pieces.zip(values) {
        let value = w.spelled(value);
        call.push_str(&match (how, wide) {
            (How::Signed, false) => format!(", i32({value})"),
            (How::Signed, true) => format!(", i64({value})"),
            _ => format!(", {value}"),
        });
    }
    let predicate = w.spelled(predicate);
    put!(w, "if ({predicate}) {call})");
}

pub(super) fn assert(w: &mut Writer<'_>, message: &str, inst: &InstData) {
    let Some(&condition) = inst.operands.first() else { return };
    w.need(Helper::Print);
    let place = match w.program.locations.resolve(inst.loc) {
        Some((file, line, _)) => format!("{}:{line}", printable(file)),
        None => "unknown".into(),
    };
    let told = format!("{place}: {}: assertion `{message}` failed.\n", w.program.name);
    let told = escaped(&told.replace('%', "%%"));
    let condition = w.spelled(condition);
    let end = if w.dialect.is_cuda() { "__trap()" } else { "__builtin_trap()" };
    w.line(format_args!("if (!({condition})) {{ printf(\"{told}\"); {end}; }}"));
}

/// PTX as CUDA's `asm`: `%0` for `$0`, and `%%` for a special register's mark.
pub(super) fn assembly(
    w: &mut Writer<'_>,
    text: &str,
    pure: bool,
    inst: &InstData,
) -> Result<(), Unsupported> {
    if !w.dialect.is_cuda() {
        let reason = "PTX that is not read is only for GPUs of NVIDIA's";
        return Err(w.unsupported(format!("inline assembly `{}`", printable(text.trim())), reason));
    }
    let count = inst.results.len() + inst.operands.len();
    let name = |index: usize| (index < count).then(|| format!("%{index}"));
    let text = with_operands(&text.replace('%', "%%"), name);
    let letter = |dtype: DType| if dtype.bits() == 64 { 'l' } else { 'r' };
    let mut outputs = Vec::new();
    for &result in &inst.results {
        let dtype = w.program.dtype(result);
        let name = w.named(result);
        put!(w, "{} {name}", c_type(dtype));
        outputs.push(format!("\"={}\"({name})", letter(dtype)));
    }
    let inputs = inst.operands.iter().map(|&value| {
        let dtype = w.program.dtype(value);
        format!("\"{}\"({})", letter(dtype), w.spelled(value))
    });
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    let volatile = if pure { "" } else { " volatile" };
    let (text, outputs) = (escaped(&format!("{{ {text} }}")), outputs.join(", "));
    put!(w, "asm{volatile}(\"{text}\" : {outputs} : {inputs})");
    Ok(())
}

/// A text between quotes of C; three digits, so that no digit after them is taken for one of theirs.
fn escaped(text: &str) -> String {
    quoted(text, |byte| match byte {
        b'\n' => "\\n".into(),
        _ => format!("\\{byte:03o}"),
    })
}
