//! A swizzle as a text.

use super::port::direct;
use super::{coordinates, extents, line, row};
use crate::answer::{
    MachineUseAnswer, PortableAnswer, SwizzleAnswer, TmaAnswer, TraceAnswer, UseAnswer,
};

/// A swizzle: what it costs and why that is the least, then the layout in several forms.
pub fn swizzle(answer: &SwizzleAnswer) -> String {
    let mut text = String::new();
    if let Some(trace) = &answer.trace {
        steps(&mut text, trace);
    }
    let certificate = &answer.certificate;
    row(
        &mut text,
        "wavefronts",
        match (answer.wavefronts - answer.bound.min(answer.wavefronts), certificate.candidates) {
            (0, Some(modes)) if certificate.kind == "modes" => {
                format!("{}, the fewest of {modes} TMA modes", answer.wavefronts)
            }
            (0, Some(candidates)) => format!(
                "{}, the fewest possible: exhausted, {candidates} candidates",
                answer.wavefronts
            ),
            (0, None) => {
                format!("{}, the fewest possible by counting dimensions", answer.wavefronts)
            }
            (gap, _) => {
                format!("{}, bound {}: a gap of {gap}", answer.wavefronts, answer.bound)
            }
        },
    );
    if let Some(free) = answer.without_tma {
        row(&mut text, "without tma", format_args!("{free}, on the best memory layout of all"));
    }
    match &answer.portable {
        None => accesses(&mut text, &answer.accesses),
        Some(portable) => several(&mut text, portable),
    }
    row(&mut text, "shared memory", format_args!("{} bytes a block", answer.shared_bytes));
    for (bit, round) in answer.rounds.iter().enumerate() {
        row(&mut text, &format!("round bit {bit}"), round);
    }
    for (label, images) in &answer.bases.0 {
        row(&mut text, label, all(images));
    }
    row(&mut text, "shape", extents(&answer.shape));
    row(&mut text, "xor", format_args!("offset = {}", answer.xor));
    row(&mut text, "cute", answer.cute.as_deref().unwrap_or("none"));
    row(&mut text, "triton", answer.triton.as_deref().unwrap_or("no swizzled_shared is as good"));
    if let Some(tma) = &answer.tma {
        row(&mut text, "tma", mode(tma));
    }
    for copy in &answer.direct {
        row(&mut text, "direct", direct(copy));
    }
    text
}

fn accesses(text: &mut String, accesses: &[UseAnswer]) {
    for access in accesses {
        let by = match &access.matrix {
            Some(matrix) => matrix.clone(),
            None => format!("of {} bytes a lane", access.vector_bytes),
        };
        row(
            text,
            &access.access,
            format_args!(
                "{} instructions {by}, {} wavefronts (alone at least {})",
                access.instructions, access.wavefronts, access.floor
            ),
        );
    }
}

/// Whether one layout serves all machines, then what each takes.
fn several(text: &mut String, portable: &PortableAnswer) {
    row(
        text,
        "portable",
        match portable.best {
            "everywhere" => "the best on each machine",
            "nowhere" => "no memory layout is the best on each machine",
            _ => "not the best on each machine, and nothing shows that none is",
        },
    );
    for machine in &portable.machines {
        let MachineUseAnswer { wavefronts, alone, bound, .. } = machine;
        let own = match (wavefronts == alone, alone == bound) {
            (true, true) => "as few as on a layout of its own".into(),
            (true, false) => format!("as few as on the best layout known, bound {bound}"),
            (false, _) => format!("{alone} on a layout of its own"),
        };
        row(text, &machine.machine, format_args!("{wavefronts} wavefronts, {own}"));
        accesses(text, &machine.accesses);
    }
}

fn mode(tma: &TmaAnswer) -> String {
    let swizzle = match tma.swizzle_bytes {
        0 => "no swizzle".into(),
        bytes => format!("{bytes}-byte swizzle"),
    };
    let axis = if tma.transposed { "first" } else { "last" };
    let name = format!("{swizzle}, the {axis} axis contiguous");
    if tma.as_few { name } else { format!("no TMA mode can: {} at best, {name}", tma.wavefronts) }
}

/// Elements with spaces, `-` where there are none.
fn all(elements: &[Vec<u64>]) -> String {
    let elements: Vec<String> = elements.iter().map(|element| coordinates(element)).collect();
    if elements.is_empty() { "-".into() } else { elements.join(" ") }
}

/// The seven steps of the construction.
fn steps(text: &mut String, trace: &TraceAnswer) {
    let TraceAnswer { bank_bits, segment_bits, phases: [store, load], .. } = trace;
    line(text, "the construction of section 9.2, step by step");
    row(text, "1 vectors", format_args!("V = {}, v = {}", all(&trace.vector), trace.vector.len()));
    row(
        text,
        "2 sizes",
        format_args!("b = {bank_bits} bank bits, s = {segment_bits} segment bits"),
    );
    row(text, "3 phases", format_args!("the store is served in {store}, the load in {load}"));
    row(text, "", format_args!("A = {}", all(&trace.store_phase)));
    row(text, "", format_args!("B = {}", all(&trace.load_phase)));
    row(text, "4 sorting", format_args!("I = {}", all(&trace.shared)));
    row(text, "", format_args!("E = {}", all(&trace.only_store)));
    row(text, "", format_args!("F = {}", all(&trace.only_load)));
    row(
        text,
        "",
        format_args!("segments without conflicts: at most {} bits", trace.most_segment_bits),
    );
    row(text, "5 pairing", format_args!("H = {}", all(&trace.sums)));
    for sum in &trace.sums {
        row(text, "", pair(trace, sum));
    }
    row(text, "6 topping up", format_args!("C = {}", all(&trace.rest)));
    row(text, "", format_args!("segments {}", all(&trace.segment)));
    row(text, "7 banks", all(&trace.bank));
    row(text, "", format_args!("offset = {}", trace.xor));
    row(text, "", format_args!("{} wavefronts", trace.wavefronts));
    text.push('\n');
}

/// A sum with its parts, where one of E and one of F make it.
fn pair(trace: &TraceAnswer, sum: &[u64]) -> String {
    let is_sum = |(e, f): &(&Vec<u64>, &Vec<u64>)| {
        e.iter().zip(f.iter()).map(|(e, f)| e ^ f).eq(sum.iter().copied())
    };
    let pairs = trace.only_store.iter().flat_map(|e| trace.only_load.iter().map(move |f| (e, f)));
    match pairs.into_iter().find(is_sum) {
        Some((e, f)) => format!("{} ^ {} = {}", coordinates(e), coordinates(f), coordinates(sum)),
        None => coordinates(sum),
    }
}
