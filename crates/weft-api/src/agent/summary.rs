//! Answers in a sentence or two.

use crate::answer::{
    CompileAnswer, ConflictsAnswer, ConvertAnswer, ExplainAnswer, LayoutAnswer, MachinesAnswer,
    MovementAnswer, PortAnswer, PortedAccess, PortedValues, RunAnswer, SharedAnswer, SharedCounts,
    SwizzleAnswer,
};
use crate::report::{self, cycles};
use crate::request::{
    CompileRequest, ConflictsRequest, ConvertRequest, ExplainRequest, LayoutRequest,
    MachinesRequest, PortRequest, RunRequest, SwizzleRequest,
};

pub(super) fn machines(request: &MachinesRequest, answer: &MachinesAnswer) -> String {
    match (&request.target, &answer.machines[..]) {
        (Some(_), [one]) => format!(
            "{}: {} lanes a warp, {} banks of {} bytes, shared accesses of at most {} bytes a lane, \
             {} bytes of shared memory a block.",
            one.name,
            one.lanes,
            one.banks,
            one.bank_bytes,
            one.shared_vector_bytes,
            one.shared_bytes_per_block
        ),
        _ => report::machines(answer),
    }
}

pub(super) fn layout(_: &LayoutRequest, answer: &LayoutAnswer) -> String {
    let axes = answer.bases.0.iter().filter(|(_, images)| !images.is_empty());
    let bits: Vec<String> = axes
        .map(|(axis, images)| {
            format!("{axis} of {}", 1_u64.checked_shl(images.len() as u32).unwrap_or(u64::MAX))
        })
        .collect();
    let shape: Vec<String> = answer.shape.iter().map(u64::to_string).collect();
    let gaps = if answer.paddings.is_empty() { "" } else { ", with gaps" };
    format!("{} onto a tensor of {}{gaps}.", bits.join(", "), shape.join("x"))
}

pub(super) fn conflicts(_: &ConflictsRequest, answer: &ConflictsAnswer) -> String {
    let ConflictsAnswer { kind, vector_bytes, instructions, wavefronts, ideal, witness } = answer;
    let access = format!("{instructions} {kind}s of {vector_bytes} bytes a lane");
    let Some(conflict) = witness else {
        return format!("{wavefronts} wavefronts, as few as {access} can take: no bank conflict.");
    };
    let [one, other] = &conflict.sides;
    format!(
        "{wavefronts} wavefronts where {access} need {ideal}. For one, lanes {} and {} ask bank {} at \
         once for different words, bytes {} and {}: elements {:?} and {:?}, whose coordinates differ by \
         {}.",
        one.lane,
        other.lane,
        conflict.bank,
        one.address,
        other.address,
        one.element,
        other.element,
        conflict.difference
    )
}

pub(super) fn swizzle(_: &SwizzleRequest, answer: &SwizzleAnswer) -> String {
    let proof = if answer.certificate.optimal {
        "no memory layout takes fewer".to_owned()
    } else {
        format!("and none takes fewer than {}", answer.bound)
    };
    let each: Vec<String> = (answer.accesses.iter())
        .map(|taken| {
            let by = taken.matrix.clone();
            let by = by.unwrap_or_else(|| format!("of {} bytes a lane", taken.vector_bytes));
            let (name, wavefronts) = (&taken.access, taken.wavefronts);
            format!("{name} {wavefronts} in {} instructions {by}", taken.instructions)
        })
        .collect();
    format!(
        "{} wavefronts of a warp, {proof}: {}. offset = {}",
        answer.wavefronts,
        each.join(", "),
        answer.xor
    )
}

pub(super) fn port(_: &PortRequest, answer: &PortAnswer) -> String {
    let PortAnswer { from, target, lanes, kernel, buffer, .. } = answer;
    let machines = format!("from {from} to {target}, warps of {} to {} lanes", lanes[0], lanes[1]);
    if let Some(buffer) = buffer {
        let all = |count: fn(&PortedAccess) -> Option<[u64; 2]>| {
            let each = buffer.accesses.iter().filter_map(count);
            each.fold([0, 0], |[all, ideal]: [u64; 2], [one, own]| {
                [all.saturating_add(one), ideal.saturating_add(own)]
            })
        };
        let ([before, _], [kept, ideal]) = (all(|one| one.before), all(|one| one.kept));
        let memory = if ideal > 0 {
            format!(
                " The memory as it is takes {before} wavefronts there and {kept} here, where {ideal} would do."
            )
        } else {
            String::new()
        };
        let swizzle = &buffer.swizzle;
        return format!(
            "A buffer {machines}.{memory} The best memory takes {} wavefronts of a warp, and none fewer than \
             {}: offset = {}",
            swizzle.wavefronts, swizzle.bound, swizzle.xor
        );
    }
    let Some(kernel) = kernel else { return machines };
    let is_new =
        |values: &&PortedValues| !matches!(values.change.as_deref(), Some("nothing" | "registers"));
    let count = |values: &PortedValues| values.values.len();
    let all: usize = kernel.values.iter().map(count).sum();
    let new: usize = kernel.values.iter().filter(is_new).map(count).sum();
    let products: Vec<String> = (kernel.products.iter())
        .map(|product| {
            format!(" {} is {} (was {}).", product.value, product.to.how, product.from.how)
        })
        .collect();
    format!(
        "{} {machines}, {} warps a block to {}: of {all} values {new} live with other threads; {} conversions \
         go through shared memory.{}",
        kernel.name,
        kernel.warps[0],
        kernel.warps[1],
        kernel.conversions.len(),
        products.concat()
    )
}

pub(super) fn convert(_: &ConvertRequest, answer: &ConvertAnswer) -> String {
    let mut text = format!("By {}: {}.", answer.strategy, counts(answer));
    if let Some(other) = answer.alternatives.iter().flatten().next() {
        text += &format!(" The next best is {}, {}.", other.strategy, cycles(other.cost));
    }
    text
}

fn counts(answer: &ConvertAnswer) -> String {
    format!(
        "{} a warp, {} instructions, {} shuffles, {} wavefronts of shared memory ({} without \
         conflicts), {} barriers, {} bytes of shared memory",
        cycles(answer.cost),
        answer.instructions,
        answer.shuffles,
        answer.wavefronts,
        answer.ideal_wavefronts,
        answer.barriers,
        answer.shared_bytes
    )
}

pub(super) fn compile(_: &CompileRequest, answer: &CompileAnswer) -> String {
    format!(
        "{} for {}: {} warps a block, {} bytes of shared memory, {} movements between threads.{}",
        answer.name,
        answer.target,
        answer.warps,
        answer.shared_bytes,
        answer.conversions.len(),
        costliest(&answer.conversions)
    )
}

pub(super) fn explain(_: &ExplainRequest, answer: &ExplainAnswer) -> String {
    let spent = &answer.spent;
    format!(
        "{} for {}, in a block over all rounds of loops: movements {}, accesses {}, work {}.{}{}",
        answer.name,
        answer.target,
        cycles(spent.movements),
        cycles(spent.accesses),
        cycles(spent.work),
        costliest(&answer.movements),
        allocated(&answer.shared)
    )
}

/// What the accesses of allocated shared memory take together.
fn allocated(accesses: &[SharedAnswer]) -> String {
    let counted: Vec<(SharedCounts, u64)> =
        accesses.iter().filter_map(|one| Some((one.counted?, one.times))).collect();
    if counted.is_empty() {
        return String::new();
    }
    let all = |count: fn(SharedCounts) -> u64| -> u64 {
        let each = counted.iter().map(|&(counted, times)| count(counted).saturating_mul(times));
        each.fold(0, u64::saturating_add)
    };
    let (wavefronts, ideal) = (all(|one| one.wavefronts), all(|one| one.ideal));
    format!(
        " Allocated shared memory: {wavefronts} wavefronts of all warps, {ideal} without bank conflicts."
    )
}

/// The movement that costs most, by name.
fn costliest(movements: &[MovementAnswer]) -> String {
    // Of equal ones the first.
    let most = movements.iter().rev().max_by_key(|one| one.movement.cost.saturating_mul(one.times));
    most.map_or_else(String::new, |most| {
        let place = most.place.as_deref().map(|place| format!(" at {place}")).unwrap_or_default();
        let times = if most.times > 1 { format!(", {} times", most.times) } else { String::new() };
        format!(
            " The costliest movement is that of {} for the {}{place}{times}: {}, {}.",
            most.value,
            most.operation,
            most.movement.strategy,
            cycles(most.movement.cost)
        )
    })
}

pub(super) fn simulate(_: &RunRequest, answer: &RunAnswer) -> String {
    let counts = &answer.counts;
    let wrong: Vec<&str> =
        answer.buffers.iter().filter(|buffer| !buffer.agrees).map(|one| &*one.name).collect();
    let result = match (&answer.findings[..], &wrong[..]) {
        ([], []) if answer.passed => {
            "Passed: every buffer is as the reference evaluator leaves it.".to_owned()
        }
        ([], []) => "Not passed: the reference evaluator did not finish.".to_owned(),
        ([], wrong) => {
            format!("Not passed: {} differ from the reference evaluator.", wrong.join(", "))
        }
        ([first, ..], _) => {
            format!(
                "Not passed: {} findings; the first is {}: {}.",
                answer.findings.len(),
                first.kind,
                first.message
            )
        }
    };
    format!(
        "{result} Shared memory took {} wavefronts where {} would do without bank conflicts, global memory \
         {} sectors of at least {}; {} shuffles, {} barriers.",
        counts.shared_wavefronts,
        counts.ideal_shared_wavefronts,
        counts.global_sectors,
        counts.ideal_global_sectors,
        counts.shuffles,
        counts.block_barriers
    )
}
