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
//! inside the loop, so that may happen before the branch is known to be taken.
//!
//! Some branches and breaks are said to be uniform (`uniform`). Behind the others the assembler joins lanes
//! that may have parted.

use super::writer::{Reg, Writer, put};
use super::{operation, terminates};
use crate::emit::Unsupported;
use crate::emit::copies::in_order;
use crate::id::Id;
use crate::lane::{Effects, Inst, InstData, Op, Program, Region, Value};

/// Every operation of a region but its last, which belongs to the region's owner.
pub(super) fn inside(w: &mut Writer<'_>, region: &Region) -> Result<(), Unsupported> {
    some(w, &region.insts)
}

/// What stands in a region before one of its operations.
fn before(w: &mut Writer<'_>, region: &Region, until: Inst) -> Result<(), Unsupported> {
    let count = region.insts.iter().take_while(|&&id| id != until).count();
    some(w, &region.insts[..count])
}

fn some(w: &mut Writer<'_>, insts: &[Inst]) -> Result<(), Unsupported> {
    w.depth += 1;
    for &id in insts {
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
    let given = (0..inst.results.len()).map(Given::Result).collect();
    either(w, id, inst, &End { of: id, into: &inst.results, given, is_next: true })?;
    w.depth += 1;
    w.label(format_args!("$L_end_{}", id.index()));
    w.depth -= 1;
    Ok(())
}

/// Where both regions of a branch end, and what they give there.
///
/// A branch that is the last operation in a region of another ends where that one ends, and so on outwards:
///
/// ```text
/// %5 = if inst5 %1 {                       @!%p1 bra $L_else_5;
///   yield %2                                 mov.b32 %r5, %r2;
/// } else {                                   bra.uni $L_end_5;
///   %6 = if inst6 %3 {                     $L_else_5:
///     yield %4                               @!%p3 bra $L_else_6;
///   } else {                                   mov.b32 %r5, %r4;
///     yield %2                                 bra.uni $L_end_5;
///   }                                        $L_else_6:
///   yield %6                                   mov.b32 %r5, %r2;
/// }                                        $L_end_5:
/// ```
///
/// So the assembler has lanes wait for one another once. At an end for each branch they would wait at every
/// one, with instructions and registers for it.
struct End<'a> {
    /// The outermost of the branches that end here.
    of: Inst,
    /// The results of that branch.
    into: &'a [Value],
    /// What becomes each of them.
    given: Vec<Given>,
    /// Whether its label is what comes next.
    is_next: bool,
}

/// What becomes a result of the outermost branch.
#[derive(Clone, Copy)]
enum Given {
    /// What a region of this branch gives in this place.
    Result(usize),
    /// A value that was there before.
    Value(Value),
}

/// Writes a branch but for the label of its end.
fn either(w: &mut Writer<'_>, id: Inst, inst: &InstData, end: &End<'_>) -> Result<(), Unsupported> {
    let (&[condition], [then, otherwise]) = (&inst.operands[..], &inst.regions[..]) else {
        return Ok(());
    };
    let (condition, n) = (w.reg(condition), id.index());
    let has_else = otherwise.insts.len() > 1 || !end.into.is_empty();
    let bra = bra(w, id, inst.operands[0]);
    if has_else {
        put!(w, "@!{condition} {bra} $L_else_{n}");
    } else {
        put!(w, "@!{condition} {bra} $L_end_{}", end.of.index());
    }
    let before = w.ready.clone();
    alternative(w, then, end, end.is_next && !has_else)?;
    let after_then = core::mem::replace(&mut w.ready, before);
    if has_else {
        w.depth += 1;
        w.label(format_args!("$L_else_{n}"));
        w.depth -= 1;
        alternative(w, otherwise, end, end.is_next)?;
    }
    w.ready.join(after_then);
    Ok(())
}

/// Writes a region of a branch, and the way from there to the end.
fn alternative(
    w: &mut Writer<'_>,
    region: &Region,
    end: &End<'_>,
    is_next: bool,
) -> Result<(), Unsupported> {
    let handed = handed_over(w, region);
    let values: Vec<Value> = end
        .given
        .iter()
        .filter_map(|&given| match given {
            Given::Result(place) => handed.get(place).copied(),
            Given::Value(value) => Some(value),
        })
        .collect();
    let program = w.program;
    let inner = region.insts.iter().rev().find(|&&id| !terminates(&program.insts[id]));
    let inner = inner.map(|&id| (id, &program.insts[id])).filter(|(_, inst)| inst.op == Op::If);
    let Some((id, inst)) = inner else {
        inside(w, region)?;
        w.depth += 1;
        copies(w, end.into, &values);
        if !is_next {
            put!(w, "bra.uni $L_end_{}", end.of.index());
        }
        w.depth -= 1;
        return Ok(());
    };
    // Nothing but the end of the region takes its results.
    let given = values.iter().map(|&value| {
        let place = inst.results.iter().position(|&result| result == value);
        place.map_or(Given::Value(value), Given::Result)
    });
    let end = End { of: end.of, into: end.into, given: given.collect(), is_next };
    before(w, region, id)?;
    w.depth += 1;
    w.enter(inst);
    either(w, id, inst, &end)?;
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
    let (bra, condition) = (bra(w, target, condition), w.reg(condition));
    put!(w, "@{condition} {bra} $L_end_{}", target.index());
}

/// How lanes go on in a branch, or leave a loop: all of a warp in one way, or each in its own.
fn bra(w: &Writer<'_>, owner: Inst, condition: Value) -> &'static str {
    if w.uniform.must_be_told(owner, condition) { "bra.uni" } else { "bra" }
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
