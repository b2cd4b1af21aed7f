//! A kernel on a memory that somebody brings: what a driver does.

use super::findings;
use crate::answer::{AccessCountAnswer, Counts, FindingAnswer, LaunchAnswer};
use crate::budget;
use crate::error::ApiError;
use crate::kernels::CompiledKernel;
use crate::occupancy;
use core::ops::ControlFlow;
use weft::budget::Budget;
use weft::compile;
use weft::lane::{Program, Space};
use weft::memory::Memory;
use weft::sim::{self, AccessCount, Launch, Progress, SimError};
use weft::tile::eval;

/// Runs a compiled kernel on the simulator: `arguments` are the raw bits of its parameters in order,
/// pointers as addresses of the memory. The watcher hears how far it is and may end it.
///
/// # Errors
///
/// Where the simulator does not take the launch, and where the watcher ended it.
pub fn launch(
    kernel: &CompiledKernel,
    grid: [u32; 3],
    arguments: &[u64],
    memory: &mut Memory,
    watcher: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<LaunchAnswer, ApiError> {
    let before = kernel.unordered().map(|_| memory.clone());
    let undefined = undefined(kernel, grid, arguments, memory);
    let report = simulate(kernel, grid, arguments, memory, watcher)?;
    let program = kernel.program();
    let unordered = before.map(|memory| unordered(kernel, grid, arguments, memory, &report));
    Ok(LaunchAnswer {
        name: kernel.kernel().name.clone(),
        grid,
        target: kernel.machine.name.to_string(),
        warps: program.warps,
        threads: program.threads(),
        clean: report.is_clean(),
        conversions: kernel.movements(),
        counts: counts(&report, program.shared_bytes),
        printed: printed(&report),
        printed_dropped: printed_dropped(&report),
        findings: findings::of_simulator(kernel, &report),
        findings_dropped: report.findings_dropped,
        notes: findings::notes(kernel, &report, &undefined),
        unordered: unordered.transpose()?.unwrap_or_default(),
    })
}

/// The results that Triton IR leaves open in a launch: what the evaluator finds in the part of the program that
/// they hang on.
fn undefined(
    kernel: &CompiledKernel,
    grid: [u32; 3],
    arguments: &[u64],
    memory: &Memory,
) -> Vec<eval::Finding> {
    let Some(slice) = kernel.partial() else { return Vec::new() };
    let (mut memory, stop) = (memory.clone(), budget::current().stop);
    let options = eval::Options::default();
    let report = eval::run_until(slice, grid, arguments, &mut memory, options, &stop);
    // What goes wrong besides is told of the program that is compiled.
    report.map(|report| report.undefined).unwrap_or_default()
}

/// The races that only those barriers prevent which [`CompiledKernel::unordered`] goes without; `report` is
/// the simulator's on the program with them.
///
/// # Errors
///
/// Where nobody wants the result any more.
pub(super) fn unordered(
    kernel: &CompiledKernel,
    grid: [u32; 3],
    arguments: &[u64],
    mut memory: Memory,
    report: &sim::Report,
) -> Result<Vec<FindingAnswer>, ApiError> {
    let Some(program) = kernel.unordered() else { return Ok(Vec::new()) };
    let keep_on = &mut |_| ControlFlow::Continue(());
    match simulate_program(kernel, program, grid, arguments, &mut memory, keep_on) {
        Ok(without) => Ok(findings::unordered(kernel, report, &without)),
        Err(ApiError::Stopped) => Err(ApiError::Stopped),
        // What goes wrong besides is told of the program that is compiled.
        Err(_) => Ok(Vec::new()),
    }
}

/// As [`launch`], and returns what the simulator itself says.
///
/// # Errors
///
/// Those of [`launch`].
pub fn simulate(
    kernel: &CompiledKernel,
    grid: [u32; 3],
    arguments: &[u64],
    memory: &mut Memory,
    watcher: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<sim::Report, ApiError> {
    simulate_program(kernel, kernel.program(), grid, arguments, memory, watcher)
}

/// As [`simulate`], of any form of the kernel.
fn simulate_program(
    kernel: &CompiledKernel,
    program: &Program,
    grid: [u32; 3],
    arguments: &[u64],
    memory: &mut Memory,
    watcher: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<sim::Report, ApiError> {
    let machine = simulated_machine(kernel, program);
    let Budget { limits, stop } = budget::current();
    let options = sim::Options { max_steps: limits.instructions, ..sim::Options::default() };
    let launch = Launch { program, grid, args: arguments, machine: &machine, options };
    let watch =
        &mut |progress| if stop.is_set() { ControlFlow::Break(()) } else { watcher(progress) };
    sim::run_watched(&launch, memory, watch).map_err(|error| match error {
        SimError::Stopped { .. } if stop.is_set() => ApiError::Stopped,
        error => error.into(),
    })
}

/// What the simulator knows of the machine that a program of a kernel runs on.
pub(super) fn simulated_machine(kernel: &CompiledKernel, program: &Program) -> sim::Machine {
    compile::simulated(&kernel.machine, occupancy::resident_blocks(&kernel.machine, program))
}

/// What the kernel printed: the first lines, without their ends.
pub(super) fn printed(report: &sim::Report) -> Vec<String> {
    report.printed.lines.iter().map(|line| line.trim_end().to_string()).collect()
}

/// How many more lines it printed.
pub(super) fn printed_dropped(report: &sim::Report) -> u64 {
    report.printed.count - report.printed.lines.len() as u64
}

/// What each operation on memory cost that ran.
pub(super) fn accesses(kernel: &CompiledKernel, report: &sim::Report) -> Vec<AccessCountAnswer> {
    let ran = report.accesses.iter().filter(|access| access.executions > 0);
    ran.map(|access| {
        let &AccessCount {
            inst: _,
            loc,
            space,
            kind,
            lane_bytes,
            executions,
            lanes: _,
            cost,
            ideal,
        } = access;
        let space = match space {
            Space::Global => "global",
            Space::Shared => "shared",
        };
        let (place, kind) = (kernel.place(loc), kind.to_string());
        AccessCountAnswer { place, space: space.into(), kind, lane_bytes, executions, cost, ideal }
    })
    .collect()
}

/// What the run cost.
pub(super) fn counts(report: &sim::Report, shared_bytes: u32) -> Counts {
    Counts {
        instructions: report.instructions,
        lane_instructions: report.lane_instructions,
        global_sectors: report.global.sectors,
        ideal_global_sectors: report.global.ideal_sectors,
        global_bytes: report.global.bytes,
        shared_wavefronts: report.shared.wavefronts,
        ideal_shared_wavefronts: report.shared.ideal_wavefronts,
        shared_traffic_bytes: report.shared.bytes,
        shuffles: report.shuffles,
        block_barriers: report.block_barriers,
        warp_barriers: report.warp_barriers,
        atomics: report.atomics,
        shared_bytes,
    }
}
