//! The decisions behind a kernel, as a reviewer would tell them.

use super::{cycles, line, rounds};
use crate::answer::{
    AccessAnswer, BarrierAnswer, BuffersAnswer, ChoiceAnswer, ExplainAnswer, HomeAnswer,
    MovementAnswer, NextAnswer, ProductAnswer, RelievedAnswer, SharedAnswer, SharedCounts,
    SharedPrice, SpentAnswer,
};

/// Layouts by number, so that each is spelled once.
#[derive(Default)]
pub(super) struct Layouts<'a>(Vec<&'a str>);

impl<'a> Layouts<'a> {
    /// Each, in the order of their numbers.
    pub(super) fn all(&self) -> &[&'a str] {
        &self.0
    }

    pub(super) fn name(&mut self, layout: &'a str) -> String {
        let known = self.0.iter().position(|other| *other == layout);
        let index = known.unwrap_or_else(|| {
            self.0.push(layout);
            self.0.len() - 1
        });
        format!("L{index}")
    }
}

/// The decisions behind a kernel: layouts, homes, products, movements with their plans, loads of shared
/// memory, accesses, barriers.
pub fn explain(answer: &ExplainAnswer) -> String {
    let mut layouts = Layouts::default();
    let mut body = String::new();
    homes(&mut body, answer, &mut layouts);

    if !answer.products.is_empty() {
        line(&mut body, "\nproducts");
    }
    for product in &answer.products {
        explain_product(&mut body, product, &mut layouts);
    }

    line(&mut body, "\nmovements");
    for (index, movement) in answer.movements.iter().enumerate() {
        let same = |other: &&MovementAnswer| other.movement.plan == movement.movement.plan;
        let known = answer.movements[..index].iter().find(same);
        explain_movement(&mut body, movement, known, answer.warps, &mut layouts);
    }
    none_if_empty(&mut body, answer.movements.is_empty());

    line(&mut body, "\naccesses");
    for access in &answer.accesses {
        explain_access(&mut body, access, &mut layouts);
    }
    none_if_empty(&mut body, answer.accesses.is_empty());

    shared(&mut body, answer, &mut layouts);

    line(&mut body, "\nbarriers");
    for barrier in &answer.barriers {
        explain_barrier(&mut body, barrier);
    }
    none_if_empty(&mut body, answer.barriers.is_empty());

    let mut text = format!(
        "{} for {}, {} warps a block, {} bytes of shared memory\n",
        answer.name, answer.target, answer.warps, answer.shared_bytes
    );
    if let Some(RelievedAnswer { warps, why }) = &answer.relieved {
        line(&mut text, format_args!("  asked for {warps}: {why}"));
    }
    costs(&mut text, answer);
    rounds::rounds(&mut text, &answer.rounds);
    line(&mut text, "\nlayouts");
    for (index, layout) in layouts.0.iter().enumerate() {
        line(&mut text, format_args!("  L{index} = {layout}"));
    }
    none_if_empty(&mut text, layouts.0.is_empty());
    text + &body
}

/// The most characters of a line of names.
const NAMES: usize = 100;

/// Where values live; those of one type for which the same is said, together.
fn homes<'a>(body: &mut String, answer: &'a ExplainAnswer, layouts: &mut Layouts<'a>) {
    line(body, "\nhomes");
    let same = |one: &HomeAnswer, other: &HomeAnswer| {
        let said = |home: &HomeAnswer| (home.reason.clone(), home.next.clone());
        let same = one.ty == other.ty && one.layout == other.layout;
        same && one.buffers == other.buffers && said(one) == said(other)
    };
    let mut groups: Vec<Vec<&'a HomeAnswer>> = Vec::new();
    for home in &answer.homes {
        match groups.iter_mut().find(|group| same(group[0], home)) {
            Some(group) => group.push(home),
            None => groups.push(vec![home]),
        }
    }
    let firsts = || groups.iter().filter_map(|group| group.first());
    let width = firsts().map(|home| home.value.len()).max().unwrap_or(0);
    let types = firsts().map(|home| home.ty.len()).max().unwrap_or(0);
    for group in &groups {
        let [home, others @ ..] = &group[..] else { continue };
        let HomeAnswer { value, ty, buffers, reason, next, .. } = home;
        let layout = layouts.name(&home.layout);
        let indent = 2 + width + 2 + types + 2 + 3 + 2;
        let home = format!("  {value:width$}  {ty:types$}  {layout:3}");
        if let Some(buffers) = buffers {
            line(body, format_args!("{home}  in shared memory: {}", told(buffers)));
            line(body, format_args!("{:indent$}{}", "", buffers.attribute));
            line(body, format_args!("{:indent$}{reason}", ""));
        } else {
            line(body, format_args!("{home}  {reason}"));
        }
        if next.is_none() && buffers.is_none() && answer.choice.is_some() {
            line(body, format_args!("{:indent$}no other candidate", ""));
        }
        next_best(body, indent, next.as_ref(), layouts);
        let mut names = String::from("    so do");
        for (index, other) in others.iter().enumerate() {
            let comma = if index + 1 < others.len() { "," } else { "" };
            if names.len() + 1 + other.value.len() > NAMES {
                line(body, &names);
                names = String::from("         ");
            }
            names += &format!(" {}{comma}", other.value);
        }
        if !others.is_empty() {
            line(body, names);
        }
    }
    none_if_empty(body, answer.homes.is_empty());
}

/// How much of shared memory, and how it is swizzled for matrix units.
fn told(buffers: &BuffersAnswer) -> String {
    let BuffersAnswer { count, bytes, swizzle_bytes, .. } = buffers;
    let size = match count {
        1 => format!("{bytes} bytes"),
        count => format!("{count} buffers of {bytes} bytes"),
    };
    match swizzle_bytes {
        None => size,
        Some(0) => format!("{size}, not swizzled"),
        Some(span) => format!("{size}, swizzled in rows of {span} bytes"),
    }
}

fn explain_product<'a>(body: &mut String, product: &'a ProductAnswer, layouts: &mut Layouts<'a>) {
    let ProductAnswer { place, ty, how, runs, cost, bound, next, .. } = product;
    let (layout, place) = (layouts.name(&product.layout), at(place.as_ref()));
    line(body, format_args!("  {ty} in {layout}, {place}{}", times(product.times)));
    let all = in_all(*cost, product.times);
    let (cost, bound) = (cycles(*cost), cycles(*bound));
    line(
        body,
        format_args!("    {how}, {runs} a warp: {cost}, the cheapest way alone {bound}{all}"),
    );
    next_best(body, 4, next.as_ref(), layouts);
}

fn explain_access<'a>(body: &mut String, access: &'a AccessAnswer, layouts: &mut Layouts<'a>) {
    let AccessAnswer { operation, ty, vector_bytes, instructions, sectors, .. } = access;
    let (layout, place) = (layouts.name(&access.layout), at(access.place.as_ref()));
    line(body, format_args!("  {operation} of {ty} in {layout}, {place}{}", times(access.times)));
    let ideal = access.ideal_sectors;
    line(
        body,
        format_args!(
            "    {vector_bytes} bytes a lane, {instructions} instructions a warp, {sectors} sectors \
             each (ideal {ideal})"
        ),
    );
    if access.tested {
        line(body, "    at once where all masks of a lane are true, else one by one");
    }
    for reason in &access.reasons {
        line(body, format_args!("    {reason}"));
    }
    let all = in_all(access.cost, access.times);
    let (cost, bound) = (cycles(access.cost), cycles(access.bound));
    line(body, format_args!("    {cost}, bound {bound}{all}"));
    next_best(body, 4, access.next.as_ref(), layouts);
}

fn explain_barrier(body: &mut String, barrier: &BarrierAnswer) {
    let BarrierAnswer { scope, place, loops, cost, reasons } = barrier;
    let rounds = match &loops[..] {
        [] => String::new(),
        [.., inner] => format!(", in each round of the loop at {}", at(inner.as_ref())),
    };
    let (cost, place) = (cycles(*cost), at(place.as_ref()));
    line(body, format_args!("  of the {scope} at {place}{rounds}: {cost}"));
    for reason in reasons {
        line(body, format_args!("    {reason}"));
    }
    if reasons.is_empty() {
        line(body, "    the source asks for it");
    }
}

/// A place in the user's source.
fn at(place: Option<&String>) -> &str {
    place.map_or("an unknown place", String::as_str)
}

/// What all times together cost, where it is more than once.
fn in_all(cost: u64, times: u64) -> String {
    if times == 1 {
        String::new()
    } else {
        format!(", {} in all", cycles(cost.saturating_mul(times)))
    }
}

/// What the homes cost, how far from the best that may be, and what others would.
fn costs(text: &mut String, answer: &ExplainAnswer) {
    let spent = |SpentAnswer { movements, accesses, work }: SpentAnswer| {
        let (movements, accesses, work) = (cycles(movements), cycles(accesses), cycles(work));
        format!("movements {movements}, accesses {accesses}, work {work}")
    };
    line(text, "\ncosts of a block, over all rounds of loops");
    line(text, format_args!("  {}", spent(answer.spent)));
    if let Some(ChoiceAnswer { cost, bound }) = answer.choice {
        let arithmetic = format!("{} with the arithmetic that homes decide on", cycles(cost));
        if cost == bound {
            line(text, format_args!("  {arithmetic}: no choice among the candidates costs less"));
        } else {
            let bound = cycles(bound);
            line(text, format_args!("  {arithmetic}: no choice costs less than {bound}"));
        }
    }
    if let Some(greedy) = answer.greedy {
        line(text, format_args!("  greedily, as Triton chooses: {}", spent(greedy)));
    }
}

/// How often, where that is not once.
fn times(times: u64) -> String {
    if times == 1 { String::new() } else { format!(", {times} times") }
}

/// What the next best would cost.
fn next_best<'a>(
    text: &mut String,
    indent: usize,
    next: Option<&'a NextAnswer>,
    layouts: &mut Layouts<'a>,
) {
    if let Some(NextAnswer { layout, more }) = next {
        let layout = layouts.name(layout);
        let next = match more {
            0 => format!("{layout} would cost the same"),
            more => format!("next best {layout}, {} more", cycles(*more)),
        };
        line(text, format_args!("{:indent$}{next}", ""));
    }
}

fn explain_movement<'a>(
    text: &mut String,
    movement: &'a MovementAnswer,
    known: Option<&MovementAnswer>,
    warps: u32,
    layouts: &mut Layouts<'a>,
) {
    let (from, to) = (layouts.name(&movement.from), layouts.name(&movement.to));
    let place = movement.place.as_deref().unwrap_or("an unknown place");
    line(
        text,
        format_args!(
            "  {} {} from {from} to {to}, for the {} at {place}{}",
            movement.value,
            movement.ty,
            movement.operation,
            times(movement.times)
        ),
    );
    let cost = &movement.movement;
    let all = in_all(cost.cost.saturating_mul(warps.into()), movement.times);
    line(
        text,
        format_args!(
            "    {}: {} a warp, bound {}{all}",
            cost.strategy,
            cycles(cost.cost),
            cycles(cost.bound)
        ),
    );
    if let Some(known) = known {
        line(text, format_args!("      by the plan that moves {}", known.value));
        return;
    }
    for step in cost.outline.lines() {
        line(text, format_args!("      {step}"));
    }
}

fn none_if_empty(text: &mut String, empty: bool) {
    if empty {
        line(text, "  none");
    }
}

/// The accesses of shared memory that the program allocates, where there are any.
fn shared<'a>(text: &mut String, answer: &'a ExplainAnswer, layouts: &mut Layouts<'a>) {
    if answer.shared.is_empty() {
        return;
    }
    line(text, "\nshared memory that the program allocates, all warps");
    for access in &answer.shared {
        let SharedAnswer { operation, kind, ty, value, memory, counted, price, .. } = access;
        let (layout, place) = (layouts.name(&access.layout), at(access.place.as_ref()));
        let times = times(access.times);
        line(text, format_args!("  {operation} of {value} {ty} in {layout}, {place}{times}"));
        line(text, format_args!("    {kind} of {memory}"));
        if let Some(counted) = counted {
            let SharedCounts { vector_bytes, instructions, wavefronts, ideal, .. } = counted;
            let by = if counted.matrix_moves { " by matrix moves" } else { "" };
            line(
                text,
                format_args!(
                    "    {vector_bytes} bytes a lane{by}, {instructions} instructions, {wavefronts} \
                     wavefronts (ideal {ideal})"
                ),
            );
        }
        for reason in &access.reasons {
            line(text, format_args!("    {reason}"));
        }
        if let Some(SharedPrice { cost, bound }) = price {
            let all = in_all(cost.saturating_mul(answer.warps.into()), access.times);
            let (cost, bound) = (cycles(*cost), cycles(*bound));
            line(text, format_args!("    {cost} a warp, bound {bound}{all}"));
        }
    }
}
