//! What a round of each loop waits for, and what it takes at least.

use crate::answer::{BandwidthAnswer, BusyAnswer, RoundAnswer, SpanAnswer, cycles};
use crate::budget;
use crate::error::ApiError;
use crate::kernels::CompiledKernel;
use crate::occupancy;
use weft::timeline::{self, Round, Unit, Work};
use weft_layout::Machine;
use weft_layout::machine::Origin;

/// From which share in hundredths on a unit is what a round takes its time for.
const FULL: u64 = 85;

/// A round of each innermost loop of a compiled kernel.
pub(super) fn rounds(compiled: &CompiledKernel) -> Result<Vec<RoundAnswer>, ApiError> {
    budget::begin("while a round of each loop was timed")?;
    let (program, machine) = (compiled.program(), &*compiled.machine);
    let blocks = occupancy::occupancy(machine, program).blocks;
    let answer = |round: Round| {
        let sectors = time_of(&round, Unit::Global) / machine.timing.l2_sector.max(1);
        RoundAnswer {
            place: compiled.place(round.loc),
            first_warp: round.warps.0,
            warps: round.warps.1,
            time: round.time,
            verdict: verdict(&round),
            side_by_side: side_by_side(&round, blocks),
            bytes: sectors * u64::from(machine.sector_bytes),
            memories: memories(&round, machine, blocks, sectors),
            busy: round
                .busy
                .iter()
                .map(|&(unit, time)| BusyAnswer { unit: unit.word(), time })
                .collect(),
            spans: round
                .spans
                .iter()
                .map(|span| SpanAnswer { work: span.work.word(), start: span.start, end: span.end })
                .collect(),
        }
    };
    let stop = &budget::current().stop;
    let rounds = timeline::rounds(program, machine, stop);
    // Where they were stopped there are none, which says nothing of the program.
    budget::check()?;
    Ok(rounds.into_iter().map(answer).collect())
}

/// How long a unit works in a round.
fn time_of(round: &Round, unit: Unit) -> u64 {
    round.busy.iter().find(|(busy, _)| *busy == unit).map_or(0, |&(_, time)| time)
}

/// What binds a round of a block that is alone.
fn verdict(round: &Round) -> String {
    if let Some(&(unit, time)) = round.busy.first()
        && 100 * time >= FULL * round.time
    {
        return format!("bound by {}", unit.word());
    }
    let waits = round.spans.iter().filter(|span| span.work == Work::Waits);
    let waits: u64 = waits.map(|span| span.end - span.start).sum();
    let length = round.spans.iter().map(|span| span.end).max().unwrap_or(0).max(1);
    let share = (100 * waits + length / 2) / length;
    format!("no unit is full; warp {} waits {share} % of the time", round.warps.0)
}

/// The least time of a round where so many blocks share a multiprocessor: each unit does the work of all of them, and
/// none of them is faster than alone.
fn least(round: &Round, blocks: u32) -> u64 {
    let busiest = round.busy.first().map_or(0, |&(_, time)| time);
    busiest.max(round.time.div_ceil(u64::from(blocks.max(1))))
}

/// What blocks that share a multiprocessor make of it.
fn side_by_side(round: &Round, blocks: u32) -> String {
    let (plural, time) = (if blocks == 1 { "" } else { "s" }, cycles(least(round, blocks)));
    let binding = match round.busy.first() {
        Some(&(unit, busy)) if busy > 0 && round.time.div_ceil(busy) <= blocks.into() => {
            let bound = format!("bound by {}", unit.word());
            match round.time.div_ceil(busy) {
                1 => bound,
                needed => format!("with {needed} side by side {bound}"),
            }
        }
        _ => "no unit is full".into(),
    };
    format!("room for {blocks} block{plural}: {binding}, at least {time} a round")
}

/// What the memories behind a multiprocessor allow. A bandwidth that was taken over from another machine says nothing of
/// this one.
fn memories(round: &Round, machine: &Machine, blocks: u32, sectors: u64) -> Vec<BandwidthAnswer> {
    let sector = u64::from(machine.sector_bytes);
    let known = |path: &str, price: u64| {
        let source = machine.source(path).filter(|source| source.origin != Origin::Inferred)?;
        let (time, rate) = (sectors * price, 100 * 100 * sector / price.max(1));
        let rate = format!("{}.{:02} bytes a cycle", rate / 100, rate % 100);
        Some((time, format!("{rate} ({}: {})", source.origin, source.from)))
    };
    let mut memories = Vec::new();
    if sectors == 0 {
        return memories;
    }
    if let Some((time, reason)) = known("timing.l2_sector", machine.timing.l2_sector) {
        memories.push(BandwidthAnswer { memory: Unit::Global.word(), time, reason });
    }
    if let Some((time, rate)) = known("prices.sector", machine.prices.sector) {
        let least = least(round, blocks);
        // The share of the bytes that must not come from there.
        let reason = match (100 * time.saturating_sub(least)).div_ceil(time.max(1)) {
            0 => format!("{rate}, no bound even where the L2 cache has none of them"),
            share => format!("{rate}, a bound unless the L2 cache has {share} % of them"),
        };
        memories.push(BandwidthAnswer { memory: "DRAM", time, reason });
    }
    memories
}
