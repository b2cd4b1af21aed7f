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
//!
//! A loop that is left at its beginning alone is, in HIP's text, left at its end: AMD's compiler would keep what a
//! round hands over twice, once for the next round and once for who stands behind the loop. (A product of 128 x 128
//! with 64 sums a lane: 234 registers and 32 moves a round, else 163 and none.)
//!
//! ```text
//! %6 = cmp.ge.u32 %3, %1                 const bool v6 = v3 >= v1;
//! break.if inst9 %6, %4                  if (!v6) {
//! …                                        for (;;) {
//! continue %7, %8                            …
//!                                            v3 = v7;
//!                                            v4 = v8;
//!                                            const bool v6 = v3 >= v1;
//!                                            if (v6) break;
//!                                          }
//!                                        }
//!                                        v5 = v4;
//! ```

use super::operation;
use super::warpgroup;
use super::writer::{Writer, c_type, put};
use crate::emit::Unsupported;
use crate::emit::copies::in_order;
use crate::id::Id;
use crate::lane::{Effects, Inst, InstData, Op, Region, Value};

/// Every operation of a region but its last, which belongs to the region's owner.
pub(super) fn inside<'a>(w: &mut Writer<'a>, region: &'a Region) -> Result<(), Unsupported> {
    instructions(w, &region.insts)
}

fn instructions<'a>(w: &mut Writer<'a>, insts: &'a [Inst]) -> Result<(), Unsupported> {
    let words = w.words.clone();
    let mut rest = insts;
    while let Some((&id, behind)) = rest.split_first() {
        let inst = &w.program.insts[id];
        (rest, w.rest) = (behind, behind);
        if !matches!(inst.op, Op::Yield | Op::Continue) {
            operation(w, id, inst)?;
        }
    }
    w.words = words;
    Ok(())
}

/// What a region hands over at its end.
fn handed_over<'a>(w: &Writer<'a>, region: &Region) -> &'a [Value] {
    match region.insts.last() {
        Some(&id) => &w.program.insts[id].operands,
        None => &[],
    }
}

pub(super) fn branch<'a>(w: &mut Writer<'a>, inst: &'a InstData) -> Result<(), Unsupported> {
    let (&[condition], [then, otherwise]) = (&inst.operands[..], &inst.regions[..]) else {
        return Ok(());
    };
    declare(w, &inst.results);
    w.line(format_args!("if ({}) {{", w.spelled(condition)));
    w.depth += 1;
    let before = w.ready.clone();
    inside(w, then)?;
    assign(w, &inst.results, handed_over(w, then));
    w.depth -= 1;
    let after_then = core::mem::replace(&mut w.ready, before);
    if otherwise.insts.len() > 1 || !inst.results.is_empty() {
        w.line(format_args!("}} else {{"));
        w.depth += 1;
        inside(w, otherwise)?;
        assign(w, &inst.results, handed_over(w, otherwise));
        w.depth -= 1;
    }
    w.ready.join(after_then);
    w.ready.write(&inst.results);
    w.line(format_args!("}}"));
    Ok(())
}

pub(super) fn repeat<'a>(
    w: &mut Writer<'a>,
    id: Inst,
    inst: &'a InstData,
) -> Result<(), Unsupported> {
    let [body] = &inst.regions[..] else { return Ok(()) };
    declare(w, &inst.results);
    receive(w, &body.params, &inst.operands);
    w.ready.write(&body.params);
    let before = w.ready.clone();
    if w.program.any_effects(body, Effects::starts_product) {
        warpgroup::loop_begins(w, &body.params);
    }
    let test = Test::of(w, id, body);
    if let Some(test) = &test {
        instructions(w, test.made)?;
        w.line(format_args!("if (!({})) {{", w.spelled(test.condition)));
        w.depth += 1;
    }
    w.line(format_args!("for (;;) {{"));
    w.depth += 1;
    w.loops.push(id);
    instructions(w, test.as_ref().map_or(&body.insts[..], |test| test.behind))?;
    w.loops.pop();
    assign(w, &body.params, handed_over(w, body));
    if let Some(test) = &test {
        instructions(w, test.made)?;
        put!(w, "if ({}) break", w.spelled(test.condition));
    }
    w.depth -= 1;
    w.line(format_args!("}}"));
    if let Some(test) = &test {
        w.depth -= 1;
        w.line(format_args!("}}"));
        assign(w, &inst.results, test.values);
    }
    w.ready.join(before);
    w.ready.write(&inst.results);
    if w.left_from_inside.contains(&id.index()) {
        w.line(format_args!("behind_{}:;", id.index()));
    }
    Ok(())
}

/// The one test that ends a loop, at its beginning.
struct Test<'a> {
    /// What computes the condition, and nothing else.
    made: &'a [Inst],
    condition: Value,
    /// What the loop gives then.
    values: &'a [Value],
    /// The other instructions of the body.
    behind: &'a [Inst],
}

impl<'a> Test<'a> {
    fn of(w: &Writer<'a>, id: Inst, body: &'a Region) -> Option<Self> {
        if w.dialect.is_cuda() {
            return None;
        }
        let program = w.program;
        let is_pure = |inst: &Inst| program.insts[*inst].op.effects().is_pure();
        let place = body.insts.iter().position(|inst| !is_pure(inst))?;
        let (made, rest) = body.insts.split_at(place);
        let (&test, behind) = rest.split_first()?;
        let test = &program.insts[test];
        let (&condition, values) = test.operands.split_first()?;
        if test.op != (Op::BreakIf { target: id }) {
            return None;
        }
        let results = made.iter().flat_map(|&inst| &program.insts[inst].results);
        let made_here: Vec<Value> = results.copied().collect();
        let mut is_only_test = !values.iter().any(|value| made_here.contains(value));
        for &inst in behind {
            let mut look = |inst: &InstData| {
                is_only_test &= inst.op != Op::BreakIf { target: id };
                is_only_test &= !inst.operands.iter().any(|value| made_here.contains(value));
            };
            look(&program.insts[inst]);
            for region in &program.insts[inst].regions {
                program.walk(region, &mut |_, inst| look(inst));
            }
        }
        is_only_test.then_some(Self { made, condition, values, behind })
    }
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

/// Variables with what they begin as, where anybody reads them.
pub(super) fn receive(w: &mut Writer<'_>, into: &[Value], values: &[Value]) {
    for (&into, &value) in into.iter().zip(values) {
        if w.is_used(into) && !w.is_shared(into) {
            let initial = w.spelled(value);
            let name = w.named(into);
            put!(w, "{} {name} = {initial}", c_type(w.program.dtype(into)));
        }
    }
    let shared = into.iter().zip(values).filter(|&(&into, _)| w.is_shared(into));
    let (into, values): (Vec<Value>, Vec<Value>) = shared.unzip();
    assign(w, &into, &values);
}

/// Variables for values that are assigned later, where anybody reads them.
fn declare(w: &mut Writer<'_>, values: &[Value]) {
    let own = |&value: &Value| w.is_used(value) && !w.is_shared(value);
    for value in values.iter().copied().filter(own).collect::<Vec<_>>() {
        let name = w.named(value);
        put!(w, "{} {name}", c_type(w.program.dtype(value)));
    }
}

/// A place that is read or written by a copy.
#[derive(Clone, Copy, PartialEq)]
enum CopySlot {
    Value(Value),
    /// What was saved of a value in a temporary of this number.
    Saved(usize),
}

/// Assigns all values to all variables at once; what nobody reads has none.
fn assign(w: &mut Writer<'_>, into: &[Value], values: &[Value]) {
    let pairs = into.iter().zip(values).filter(|&(&into, _)| w.is_used(into));
    let pairs = pairs
        .map(|(&into, &from)| {
            (CopySlot::Value(w.register(into)), CopySlot::Value(w.register(from)))
        })
        .collect();
    let mut writer = (w, Vec::<String>::new());
    let spelled = |(w, saved): &(&mut Writer<'_>, Vec<String>), place: CopySlot| match place {
        CopySlot::Value(value) => w.spelled(value),
        CopySlot::Saved(index) => saved[index].clone(),
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
            let CopySlot::Value(value) = from else { return from };
            put!(writer.0, "const {} {name} = {text}", c_type(writer.0.program.dtype(value)));
            writer.1.push(name);
            CopySlot::Saved(writer.1.len() - 1)
        },
    );
}
