//! Structured control as labels and branches.
//!
//! A value that a region hands over is copied into the register of what receives it: an `If`'s result,
//! a loop's carried value, a loop's result. The copies of one edge happen at once: where one would
//! overwrite what another still reads, they are put in order, and a cycle goes through a temporary.
//!
//! ```text
//! %5 = loop inst9 %1, %2 (%3, %4) {      mov.b32 %r3, %r1;
//!   break.if inst9 %7, %3                mov.b32 %r4, %r2;
//!   continue %4, %3                      $L_loop_9:
//! }                                        @%p7 bra $L_end_9;
//!                                          mov.b32 %rt0, %r3;
//!                                          mov.b32 %r3, %r4;
//!                                          mov.b32 %r4, %rt0;
//!                                          bra.uni $L_loop_9;
//!                                        $L_end_9:
//!                                          mov.b32 %r5, %r3;
//! ```
//!
//! Where several breaks leave a loop, each writes its results in front of its branch: they are not read
//! inside the loop, so that may happen before the branch is known to be taken. Branches are not said
//! to be uniform: the assembler joins diverging lanes behind them.

use super::writer::{Reg, Writer, put};
use super::{operation, terminates};
use crate::emit::Unsupported;
use crate::emit::copies::in_order;
use crate::id::Id;
use crate::lane::{Effects, Inst, InstData, Op, Program, Region, Value};

/// Every operation of a region but its last, which belongs to the region's owner.
pub(super) fn inside(w: &mut Writer<'_>, region: &Region) -> Result<(), Unsupported> {
    w.depth += 1;
    for &id in &region.insts {
        let inst = &w.program.insts[id];
        if !terminates(inst) {
            operation(w, id, inst)?;
        }
    }
    w.depth -= 1;
    Ok(())
}

/// What a region hands over at its end.
fn handed_over<'a>(w: &Writer<'a>, region: &Region) -> &'a [Value] {
    match region.insts.last() {
        Some(&id) => &w.program.insts[id].operands,
        None => &[],
    }
}

pub(super) fn branch(w: &mut Writer<'_>, id: Inst, inst: &InstData) -> Result<(), Unsupported> {
    let (&[condition], [then, otherwise]) = (&inst.operands[..], &inst.regions[..]) else {
        return Ok(());
    };
    let (condition, n) = (w.reg(condition), id.index());
    let has_else = otherwise.insts.len() > 1 || !inst.results.is_empty();
    let past_then = if has_else { "else" } else { "end" };
    put!(w, "@!{condition} bra $L_{past_then}_{n}");
    let before = w.ready.clone();
    inside(w, then)?;
    w.depth += 1;
    let values = handed_over(w, then);
    copies(w, &inst.results, values);
    let after_then = core::mem::replace(&mut w.ready, before);
    if has_else {
        put!(w, "bra.uni $L_end_{n}");
        w.label(format_args!("$L_else_{n}"));
        w.depth -= 1;
        inside(w, otherwise)?;
        w.depth += 1;
        let values = handed_over(w, otherwise);
        copies(w, &inst.results, values);
    }
    w.ready.join(after_then);
    w.label(format_args!("$L_end_{n}"));
    w.depth -= 1;
    Ok(())
}

pub(super) fn repeat(w: &mut Writer<'_>, id: Inst, inst: &InstData) -> Result<(), Unsupported> {
    let [body] = &inst.regions[..] else { return Ok(()) };
    let n = id.index();
    copies(w, &body.params, &inst.operands);
    // The round before may have written them.
    w.written(&body.params);
    let before = w.ready.clone();
    w.depth += 1;
    w.label(format_args!("$L_loop_{n}"));
    w.depth -= 1;
    if w.program.any_effects(body, Effects::starts_product) {
        // Where ptxas 12.8 and 13.4 unroll such a loop, the first rounds may take an accumulator for what it
        // was before the product.
        put!(w, ".pragma \"nounroll\"");
    }
    w.loops += 1;
    inside(w, body)?;
    w.loops -= 1;
    w.depth += 1;
    let values = handed_over(w, body);
    copies(w, &body.params, values);
    put!(w, "bra.uni $L_loop_{n}");
    w.label(format_args!("$L_end_{n}"));
    if let Some(values) = only_way_out(w.program, id) {
        copies(w, &inst.results, values);
    }
    w.ready.join(before);
    w.depth -= 1;
    Ok(())
}

/// What the loop's results become, where there is one way out: it is copied behind the loop then,
/// once, and not in each round in front of a branch that is not taken.
pub(super) fn only_way_out(program: &Program, id: Inst) -> Option<&[Value]> {
    let mut ways = Vec::new();
    for body in &program.insts[id].regions {
        program.walk(body, &mut |_, inst| {
            if matches!(inst.op, Op::BreakIf { target } if target == id) {
                ways.push(inst.operands.get(1..).unwrap_or(&[]));
            }
        });
    }
    if let [values] = ways[..] { Some(values) } else { None }
}

pub(super) fn break_if(w: &mut Writer<'_>, target: Inst, inst: &InstData) {
    let Some((&condition, values)) = inst.operands.split_first() else { return };
    let leaves = &w.program.insts[target];
    if only_way_out(w.program, target).is_none() {
        copies(w, &leaves.results, values);
    }
    let condition = w.reg(condition);
    put!(w, "@{condition} bra $L_end_{}", target.index());
}

/// Copies all values into all places at once.
pub(super) fn copies(w: &mut Writer<'_>, into: &[Value], values: &[Value]) {
    let pairs: Vec<(Reg, Reg)> = w.regs(into).into_iter().zip(w.regs(values)).collect();
    if w.ready.is_watched() {
        let copied = into.iter().zip(&pairs).filter(|(_, (into, from))| into != from);
        let copied: Vec<Value> = copied.map(|(&into, _)| into).collect();
        w.written(&copied);
    }
    in_order(w, pairs, Writer::copy, |w, saved: Reg| {
        let temporary = w.temp(saved.class);
        w.copy(temporary, saved);
        temporary
    });
}
