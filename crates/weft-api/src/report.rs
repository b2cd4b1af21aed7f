//! Answers as texts for people: short, aligned, the same bytes for the same answer.

mod explain;
mod machines;
mod paper;
mod port;
mod rounds;
mod swizzle;

pub use explain::explain;
pub use machines::{machine, machines};
pub use paper::paper;
pub use port::port;
pub use swizzle::swizzle;

pub(crate) use crate::answer::cycles;
use crate::answer::{
    ActorAnswer, AlternativeAnswer, BoundsAnswer, BufferAnswer, ConflictAnswer, ConflictsAnswer,
    ConvertAnswer, FindingAnswer, LayoutAnswer, NameAnswer, RunAnswer, SideAnswer, SumsAnswer,
};
use crate::request::Grid;
use std::fmt::{self, Write as _};

/// The width of the first column.
const LABEL: usize = 17;

/// Adds a line of two columns.
fn row(text: &mut String, label: &str, value: impl fmt::Display) {
    let _ = writeln!(text, "{label:LABEL$}  {value}");
}

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
        format!("; {allowed:.1e} for sums of up to {} terms in any order", additions + 1)
    });
    let sums = sums.unwrap_or_default();
    match buffer.bounds {
        _ if !buffer.changed && buffer.exact => format!("{ty} unchanged"),
        _ if buffer.exact => format!("{ty} bit for bit"),
        Some(BoundsAnswer { used, unbounded, .. }) => {
            let decided = match unbounded {
                0 => String::new(),
                count => format!("; {count} not compared, rounding decides them"),
            };
            format!(
                "{ty} off by at most {} of what rounding allows, largest relative error {:.1e}{sums}{decided}",
                share(used.unwrap_or(0.0)),
                buffer.max_relative_error.unwrap_or(0.0)
            )
        }
        None => format!("{ty} equal but for the bits of NaNs"),
    }
}

/// A share of a whole with two digits that say something.
fn share(share: f64) -> String {
    if share == 0.0 || share >= 0.1 { format!("{share:.2}") } else { format!("{share:.1e}") }
}

fn findings(text: &mut String, answer: &RunAnswer) {
    if answer.findings.is_empty() {
        row(text, "findings", "none");
        lesser(text, answer);
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
    lesser(text, answer);
}

/// What would be wrong without the barriers that Triton does not insert, and what may not be meant.
fn lesser(text: &mut String, answer: &RunAnswer) {
    for (name, list) in [("under Triton", &answer.unordered), ("notes", &answer.notes)] {
        if !list.is_empty() {
            row(text, name, list.len());
            for finding in list {
                self::finding(text, finding);
            }
        }
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
