//! Structured control.
//!
//! A loop runs for ever and is left by `break`; a loop that is left from inside another one has a
//! label behind it. What a region hands over is assigned to the variable of what receives it, all at
//! once:
//!
//! ```text
//! %5 = loop inst9 %1, %2 (%3, %4) {      u32 v5;
//!   break.if inst9 %7, %3                u32 v3 = v1;
//!   continue %4, %3                      u32 v4 = v2;
//! }                                      for (;;) {
//!                                          if (v7) {
//!                                            v5 = v3;
//!                                            break;
//!                                          }
//!                                          const u32 t0 = v3;
//!                                          v3 = v4;
//!                                          v4 = t0;
//!                                        }
//! ```

use super::operation;
use super::writer::{Writer, c_type, put};
use crate::emit::Unsupported;
use crate::emit::copies::in_order;
use crate::id::Id;
use crate::lane::{Inst, InstData, Op, Region, Value};

/// Every operation of a region but its last, which belongs to the region's owner.
fn inside(w: &mut Writer<'_>, region: &Region) -> Result<(), Unsupported> {
    for &id in &region.insts {
        let inst = &w.program.insts[id];
        if !matches!(inst.op, Op::Yield | Op::Continue) {
            operation(w, id, inst)?;
        }
    }
    Ok(())
}

/// What a region hands over at its end.
fn handed_over<'a>(w: &Writer<'a>, region: &Region) -> &'a [Value] {
    match region.insts.last() {
        Some(&id) => &w.program.insts[id].operands,
        None => &[],
    }
}

pub(super) fn branch(w: &mut Writer<'_>, inst: &InstData) -> Result<(), Unsupported> {
    let (&[condition], [then, otherwise]) = (&inst.operands[..], &inst.regions[..]) else {
        return Ok(());
    };
    declare(w, &inst.results);
    w.line(format_args!("if ({}) {{", w.spelled(condition)));
    w.depth += 1;
    inside(w, then)?;
    assign(w, &inst.results, handed_over(w, then));
    w.depth -= 1;
    if otherwise.insts.len() > 1 || !inst.results.is_empty() {
        w.line(format_args!("}} else {{"));
        w.depth += 1;
        inside(w, otherwise)?;
        assign(w, &inst.results, handed_over(w, otherwise));
        w.depth -= 1;
    }
    w.line(format_args!("}}"));
    Ok(())
}

pub(super) fn repeat(w: &mut Writer<'_>, id: Inst, inst: &InstData) -> Result<(), Unsupported> {
    let [body] = &inst.regions[..] else { return Ok(()) };
    declare(w, &inst.results);
    for (&param, &value) in body.params.iter().zip(&inst.operands) {
        if !w.is_used(param) {
            continue;
        }
        let initial = w.spelled(value);
        let name = w.named(param);
        put!(w, "{} {name} = {initial}", c_type(w.program.dtype(param)));
    }
    w.line(format_args!("for (;;) {{"));
    w.depth += 1;
    w.loops.push(id);
    inside(w, body)?;
    w.loops.pop();
    assign(w, &body.params, handed_over(w, body));
    w.depth -= 1;
    w.line(format_args!("}}"));
    if w.left_from_inside.contains(&id.index()) {
        w.line(format_args!("behind_{}:;", id.index()));
    }
    Ok(())
}

pub(super) fn break_if(w: &mut Writer<'_>, target: Inst, inst: &InstData) {
    let Some((&condition, values)) = inst.operands.split_first() else { return };
    w.line(format_args!("if ({}) {{", w.spelled(condition)));
    w.depth += 1;
    let results = &w.program.insts[target].results;
    assign(w, results, values);
    if w.loops.last() == Some(&target) {
        put!(w, "break");
    } else {
        w.left_from_inside.insert(target.index());
        put!(w, "goto behind_{}", target.index());
    }
    w.depth -= 1;
    w.line(format_args!("}}"));
}

/// Variables for values that are assigned later, where anybody reads them.
fn declare(w: &mut Writer<'_>, values: &[Value]) {
    for value in values.iter().copied().filter(|&value| w.is_used(value)).collect::<Vec<_>>() {
        let name = w.named(value);
        put!(w, "{} {name}", c_type(w.program.dtype(value)));
    }
}

/// A place that is read or written by a copy.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Value(Value),
    /// What was saved of a value in a temporary of this number.
    Saved(usize),
}

/// Assigns all values to all variables at once; what nobody reads has none.
fn assign(w: &mut Writer<'_>, into: &[Value], values: &[Value]) {
    let pairs = into.iter().zip(values).filter(|&(&into, _)| w.is_used(into));
    let pairs = pairs.map(|(&into, &from)| (Place::Value(into), Place::Value(from))).collect();
    let mut writer = (w, Vec::<String>::new());
    let spelled = |(w, saved): &(&mut Writer<'_>, Vec<String>), place: Place| match place {
        Place::Value(value) => w.spelled(value),
        Place::Saved(index) => saved[index].clone(),
    };
    in_order(
        &mut writer,
        pairs,
        |writer, into, from| {
            let (into, from) = (spelled(writer, into), spelled(writer, from));
            put!(writer.0, "{into} = {from}");
        },
        |writer, from| {
            let text = spelled(writer, from);
            let name = writer.0.temporary();
            let Place::Value(value) = from else { return from };
            put!(writer.0, "const {} {name} = {text}", c_type(writer.0.program.dtype(value)));
            writer.1.push(name);
            Place::Saved(writer.1.len() - 1)
        },
    );
}
