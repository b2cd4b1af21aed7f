//! Prints and assertions.

use super::prelude::Helper;
use super::writer::{Writer, put};
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

/// A text between quotes of C; three digits, so that no digit after them is taken for one of theirs.
fn escaped(text: &str) -> String {
    quoted(text, |byte| match byte {
        b'\n' => "\\n".into(),
        _ => format!("\\{byte:03o}"),
    })
}
