//! Answers as texts for people: short, aligned, the same bytes for the same answer.

mod machines;
mod paper;
mod swizzle;

pub use machines::{machine, machines};
pub use paper::paper;
pub use swizzle::swizzle;

use crate::answer::{
    ActorAnswer, AlternativeAnswer, BufferAnswer, ChoiceAnswer, ConflictAnswer, ConflictsAnswer,
    ConvertAnswer, ExplainAnswer, FindingAnswer, LayoutAnswer, MovementAnswer, NameAnswer,
    NextAnswer, RunAnswer, SharedAnswer, SideAnswer, SpentAnswer, SumsAnswer,
};
use crate::request::Grid;
use std::fmt::{self, Write as _};

/// The width of the first column.
const LABEL: usize = 17;

/// Adds a line of two columns.
fn row(text: &mut String, label: &str, value: impl fmt::Display) {
    let _ = writeln!(text, "{label:LABEL$}  {value}");
}

/// Adds a line.
fn line(text: &mut String, line: impl fmt::Display) {
    let _ = writeln!(text, "{line}");
}

/// A layout as its bases, an axis a line.
pub fn layout(answer: &LayoutAnswer) -> String {
    let mut text = String::new();
    for (label, images) in &answer.bases.0 {
        let images: Vec<String> = images.iter().map(|image| coordinates(image)).collect();
        let images = if images.is_empty() { "-".into() } else { images.join(" ") };
        line(&mut text, format_args!("{label:8}  {images}"));
    }
    if let Some(constant) = &answer.constant {
        line(&mut text, format_args!("{:8}  {}", "constant", coordinates(constant)));
    }
    line(&mut text, format_args!("{:8}  {}", "shape", extents(&answer.shape)));
    for [interval, padding] in &answer.paddings {
        line(&mut text, format_args!("{:8}  {padding} after every {interval} offsets", "gap"));
    }
    for NameAnswer { by, text: name } in answer.names.iter().flatten() {
        line(&mut text, format_args!("{by}: {name}"));
    }
    text
}

fn coordinates(image: &[u64]) -> String {
    match image {
        [only] => only.to_string(),
        _ => {
            let parts: Vec<String> = image.iter().map(u64::to_string).collect();
            format!("({})", parts.join(","))
        }
    }
}

fn extents(shape: &[u64]) -> String {
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

/// A conversion: what it costs, then its plan.
pub fn convert(answer: &ConvertAnswer) -> String {
    let mut text = String::new();
    row(&mut text, "strategy", &answer.strategy);
    row(&mut text, "cost", format_args!("{}, bound {}", cycles(answer.cost), cycles(answer.bound)));
    if let Some(least) = answer.least {
        row(
            &mut text,
            "least",
            format_args!("{}, to bring elements where they are not", cycles(least)),
        );
    }
    row(&mut text, "instructions", answer.instructions);
    row(&mut text, "shuffles", answer.shuffles);
    row(
        &mut text,
        "wavefronts",
        format_args!("{} (ideal {})", answer.wavefronts, answer.ideal_wavefronts),
    );
    row(&mut text, "barriers", answer.barriers);
    row(&mut text, "shared memory", format_args!("{} bytes a block", answer.shared_bytes));
    row(&mut text, "verified", if answer.verified { "by the witness" } else { "no" });
    let others = answer.alternatives.iter().flatten();
    for (index, other) in others.enumerate() {
        let AlternativeAnswer { strategy, instructions, shuffles, wavefronts, barriers, .. } =
            other;
        row(
            &mut text,
            if index == 0 { "alternatives" } else { "" },
            format_args!(
                "{strategy}: {}, {instructions} instructions, {shuffles} shuffles, {wavefronts} \
                 wavefronts, {barriers} barriers",
                cycles(other.cost)
            ),
        );
    }
    text.push('\n');
    line(&mut text, &answer.plan);
    text
}

/// A load or store: what it takes, and two lanes that collide.
pub fn conflicts(answer: &ConflictsAnswer) -> String {
    let ConflictsAnswer { kind, vector_bytes, instructions, wavefronts, ideal, witness } = answer;
    let mut text = String::new();
    let access = format_args!("{kind}, {vector_bytes} bytes a lane, {instructions} instructions");
    row(&mut text, "access", access);
    row(&mut text, "wavefronts", format_args!("{wavefronts} (ideal {ideal})"));
    let Some(ConflictAnswer { difference, bank, sides }) = witness else {
        row(&mut text, "conflict", "none");
        return text;
    };
    row(&mut text, "conflict", format_args!("{difference} in bank {bank}"));
    for side in sides {
        let SideAnswer { register, lane, warp, element, address } = side;
        let place = format_args!("in register {register} of warp {warp}");
        let element = coordinates(element);
        row(
            &mut text,
            &format!("  lane {lane}"),
            format_args!("byte {address}: {element} {place}"),
        );
    }
    text
}

fn cycles(hundredths: u64) -> String {
    format!("{}.{:02} cycles", hundredths / 100, hundredths % 100)
}

/// Layouts by number, so that each is spelled once.
#[derive(Default)]
struct Layouts<'a>(Vec<&'a str>);

impl<'a> Layouts<'a> {
    fn name(&mut self, layout: &'a str) -> String {
        let known = self.0.iter().position(|other| *other == layout);
        let index = known.unwrap_or_else(|| {
            self.0.push(layout);
            self.0.len() - 1
        });
        format!("L{index}")
    }
}

/// The decisions behind a kernel: layouts, homes, movements with their plans, accesses.
pub fn explain(answer: &ExplainAnswer) -> String {
    let mut layouts = Layouts::default();
    let mut body = String::new();
    line(&mut body, "\nhomes");
    let width = answer.homes.iter().map(|home| home.value.len()).max().unwrap_or(0);
    let types = answer.homes.iter().map(|home| home.ty.len()).max().unwrap_or(0);
    for home in &answer.homes {
        let layout = layouts.name(&home.layout);
        line(
            &mut body,
            format_args!(
                "  {:width$}  {:types$}  {layout:3}  {}",
                home.value, home.ty, home.reason
            ),
        );
        let indent = 2 + width + 2 + types + 2 + 3 + 2;
        next_best(&mut body, indent, home.next.as_ref(), &mut layouts);
    }
    none_if_empty(&mut body, answer.homes.is_empty());

    line(&mut body, "\nmovements");
    for (index, movement) in answer.movements.iter().enumerate() {
        let same = |other: &&MovementAnswer| other.movement.plan == movement.movement.plan;
        let known = answer.movements[..index].iter().find(same);
        explain_movement(&mut body, movement, known, &mut layouts);
    }
    none_if_empty(&mut body, answer.movements.is_empty());

    line(&mut body, "\naccesses");
    for access in &answer.accesses {
        line(
            &mut body,
            format_args!(
                "  {} of {} in {}, {}{}",
                access.operation,
                access.ty,
                layouts.name(&access.layout),
                access.place.as_deref().unwrap_or("at an unknown place"),
                times(access.times)
            ),
        );
        line(
            &mut body,
            format_args!(
                "    {} bytes a lane, {} instructions a warp, {} sectors each (ideal {})",
                access.vector_bytes, access.instructions, access.sectors, access.ideal_sectors
            ),
        );
        next_best(&mut body, 4, access.next.as_ref(), &mut layouts);
    }
    none_if_empty(&mut body, answer.accesses.is_empty());
    shared(&mut body, &answer.shared, &mut layouts);

    let mut text = format!(
        "{} for {}, {} warps a block, {} bytes of shared memory\n",
        answer.name, answer.target, answer.warps, answer.shared_bytes
    );
    costs(&mut text, answer);
    line(&mut text, "\nlayouts");
    for (index, layout) in layouts.0.iter().enumerate() {
        line(&mut text, format_args!("  L{index} = {layout}"));
    }
    none_if_empty(&mut text, layouts.0.is_empty());
    text + &body
}

/// The accesses of shared memory that the program allocates, where there are any.
fn shared<'a>(text: &mut String, accesses: &'a [SharedAnswer], layouts: &mut Layouts<'a>) {
    if accesses.is_empty() {
        return;
    }
    line(text, "\nshared memory that the program allocates, all warps");
    for access in accesses {
        let place = access.place.as_deref().unwrap_or("at an unknown place");
        let SharedAnswer { operation, kind, ty, value, memory, wavefronts, ideal, .. } = access;
        let layout = layouts.name(&access.layout);
        let times = times(access.times);
        line(text, format_args!("  {operation} of {value} {ty} in {layout}, {place}{times}"));
        let by = if access.matrix_moves { " by matrix moves" } else { "" };
        line(text, format_args!("    {kind} of {memory}"));
        line(
            text,
            format_args!(
                "    {} bytes a lane{by}, {} instructions, {wavefronts} wavefronts (ideal {ideal})",
                access.vector_bytes, access.instructions
            ),
        );
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
    line(
        text,
        format_args!(
            "    {}: {} a warp, bound {}",
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

/// A run: what it cost, how each buffer agrees, what was wrong.
pub fn run(answer: &RunAnswer) -> String {
    let mut text = String::new();
    let RunAnswer { counts, .. } = answer;
    let grid = Grid(answer.grid);
    row(
        &mut text,
        "kernel",
        format_args!(
            "{} for {}, grid {grid}, {} warps a block",
            answer.name, answer.target, answer.warps
        ),
    );
    row(
        &mut text,
        "instructions",
        format_args!("{} of warps, {} of lanes", counts.instructions, counts.lane_instructions),
    );
    row(
        &mut text,
        "global sectors",
        format_args!("{} (ideal {})", counts.global_sectors, counts.ideal_global_sectors),
    );
    row(
        &mut text,
        "shared wavefronts",
        format_args!("{} (ideal {})", counts.shared_wavefronts, counts.ideal_shared_wavefronts),
    );
    row(&mut text, "shuffles", counts.shuffles);
    row(
        &mut text,
        "barriers",
        format_args!("{} of blocks, {} of warps", counts.block_barriers, counts.warp_barriers),
    );
    row(&mut text, "atomics", counts.atomics);
    row(&mut text, "shared memory", format_args!("{} bytes a block", counts.shared_bytes));
    if let Some(plans) = answer.plans_verified {
        row(&mut text, "plans", format_args!("{plans}, each replayed by the witness"));
    }
    text.push('\n');
    for buffer in &answer.buffers {
        row(&mut text, &buffer.name, described(buffer));
    }
    if let Some(error) = &answer.evaluator {
        row(&mut text, "evaluator", format_args!("{error}; results are not compared"));
    }
    if let Some(device) = &answer.device {
        text.push('\n');
        row(&mut text, "device", format_args!("{}, {}", device.name, device.capability));
        for (index, buffer) in device.buffers.iter().enumerate() {
            let same = device.simulator.get(index).is_some_and(|simulated| simulated.exact);
            let same = if same { "; the simulator's bits" } else { "; not the simulator's bits" };
            row(&mut text, &buffer.name, described(buffer) + same);
        }
    }
    text.push('\n');
    printed(&mut text, answer);
    findings(&mut text, answer);
    text
}

/// The lines that the kernel printed, as they are.
fn printed(text: &mut String, answer: &RunAnswer) {
    if answer.printed.is_empty() {
        return;
    }
    let count = answer.printed.len() as u64 + answer.printed_dropped;
    row(text, "printed", count);
    for shown in answer.printed.iter().take(SHOWN) {
        line(text, format_args!("  {shown}"));
    }
    if count > SHOWN as u64 {
        line(text, format_args!("  and {} more lines", count - SHOWN as u64));
    }
    text.push('\n');
}

/// The most printed lines that the report shows.
const SHOWN: usize = 100;

fn described(buffer: &BufferAnswer) -> String {
    let BufferAnswer { element, elements, .. } = buffer;
    let ty = format!("{element}[{elements}]");
    if let Some(mismatch) = &buffer.mismatch {
        return format!("{ty} DIFFERS: {mismatch}");
    }
    let sums = buffer.sums.map(|sums| {
        let SumsAnswer { additions, allowed, .. } = sums;
        format!("; {allowed:.1e} more for sums of up to {} terms in any order", additions + 1)
    });
    let sums = sums.unwrap_or_default();
    match buffer.tolerance {
        _ if !buffer.changed && buffer.exact => format!("{ty} unchanged"),
        _ if buffer.exact => format!("{ty} bit for bit"),
        Some(tolerance) => format!(
            "{ty} largest relative error {:.1e}, {tolerance:e} allowed{sums}",
            buffer.max_relative_error.unwrap_or(0.0)
        ),
        None => format!("{ty} equal but for the bits of NaNs"),
    }
}

fn findings(text: &mut String, answer: &RunAnswer) {
    if answer.findings.is_empty() {
        row(text, "findings", "none");
        return;
    }
    let count = answer.findings.len() as u64 + answer.findings_dropped;
    row(text, "findings", count);
    for finding in &answer.findings {
        self::finding(text, finding);
    }
    if answer.findings_dropped > 0 {
        line(text, format_args!("and {} more", answer.findings_dropped));
    }
}

fn finding(text: &mut String, finding: &FindingAnswer) {
    let FindingAnswer { kind, message, actor: who, other, count, hint } = finding;
    line(text, format_args!("\n{kind}: {message}"));
    line(text, format_args!("  at    {}", actor(who)));
    if let Some(other) = other {
        line(text, format_args!("  and   {}", actor(other)));
    }
    if *count > 1 {
        line(text, format_args!("  by    {count} warp instructions; this is the first"));
    }
    line(text, format_args!("  help  {hint}"));
}

fn actor(actor: &ActorAnswer) -> String {
    let ActorAnswer { place, block: [x, y, z], warp, lane } = actor;
    let place = place.as_deref().unwrap_or("an unknown place");
    let block = if (*y, *z) == (0, 0) { x.to_string() } else { format!("{x},{y},{z}") };
    let lane = lane.map_or_else(|| "several lanes".into(), |lane| format!("lane {lane}"));
    format!("{place}, block {block}, warp {warp}, {lane}")
}
