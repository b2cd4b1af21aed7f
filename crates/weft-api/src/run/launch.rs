//! A kernel on a memory that somebody brings: what a driver does.

use super::findings;
use crate::answer::{AccessCountAnswer, Counts, FindingAnswer, LaunchAnswer};
use crate::budget;
use crate::error::ApiError;
use crate::kernels::CompiledKernel;
use crate::occupancy;
use crate::request::EqualStores;
use core::ops::ControlFlow;
use weft::budget::Limit;
use weft::compile::{self, Compiled};
use weft::lane::{Program, Space};
use weft::memory::Memory;
use weft::sim::{self, AccessCount, Progress, SimError};
use weft::tile::eval;

/// A launch of a compiled kernel on the simulator, on a memory that somebody brings.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The kernel that is launched.
    pub kernel: &'a CompiledKernel,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// The raw bits of its parameters in order, pointers as addresses of the memory.
    pub arguments: &'a [u64],
    /// What equal stores are that nothing orders.
    pub equal_stores: EqualStores,
}

/// Hears how far a run is, and may end it.
pub type Watcher<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

impl Launch<'_> {
    /// Runs the kernel, and says what there is to say of it. The watcher hears how far it is and may end
    /// it.
    ///
    /// # Errors
    ///
    /// Where the simulator does not take the launch, and where the watcher ended it.
    pub fn run(&self, memory: &mut Memory, watcher: Watcher<'_>) -> Result<LaunchAnswer, ApiError> {
        let Launch { kernel, grid, .. } = *self;
        let before = kernel.unordered()?.map(|_| memory.clone());
        let undefined = self.undefined(memory)?;
        let report = self.simulate(memory, watcher)?;
        let program = kernel.program();
        let unordered = before.map(|memory| self.unordered(memory, &report));
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

    /// The results that Triton IR leaves open: what the evaluator finds in the part of the program that they
    /// hang on.
    fn undefined(&self, memory: &Memory) -> Result<Vec<eval::Finding>, ApiError> {
        let Some(slice) = self.kernel.partial()? else { return Ok(Vec::new()) };
        budget::begin("while the reference evaluator ran")?;
        let (mut memory, stop) = (memory.clone(), budget::current().stop);
        let options = super::bounded(&memory).0;
        let report = eval::run_until(slice, self.grid, self.arguments, &mut memory, options, &stop);
        budget::check()?;
        // What goes wrong besides is told of the program that is compiled.
        Ok(report.map(|report| report.undefined).unwrap_or_default())
    }

    /// The races that only those barriers prevent which [`CompiledKernel::unordered`] goes without; `report`
    /// is the simulator's on the program with them.
    ///
    /// # Errors
    ///
    /// Where nobody wants the result any more.
    pub(super) fn unordered(
        &self,
        mut memory: Memory,
        report: &sim::Report,
    ) -> Result<Vec<FindingAnswer>, ApiError> {
        let Some(compiled) = self.kernel.unordered()? else { return Ok(Vec::new()) };
        let keep_on = &mut |_| ControlFlow::Continue(());
        match self.simulate_form(compiled, &mut memory, keep_on) {
            Ok(without) => Ok(findings::unordered(self.kernel, report, &without)),
            Err(error @ (ApiError::Stopped | ApiError::Limit { .. })) => Err(error),
            // What goes wrong besides is told of the program that is compiled.
            Err(_) => Ok(Vec::new()),
        }
    }

    /// As [`Launch::run`], and returns what the simulator itself says.
    ///
    /// # Errors
    ///
    /// Those of [`Launch::run`].
    pub fn simulate(
        &self,
        memory: &mut Memory,
        watcher: Watcher<'_>,
    ) -> Result<sim::Report, ApiError> {
        self.simulate_form(&self.kernel.compiled, memory, watcher)
    }

    /// As [`Launch::simulate`], of any form of the kernel.
    fn simulate_form(
        &self,
        compiled: &Compiled,
        memory: &mut Memory,
        watcher: Watcher<'_>,
    ) -> Result<sim::Report, ApiError> {
        budget::begin("while the kernel was simulated")?;
        let program = &compiled.program;
        let machine = simulated_machine(self.kernel, program);
        let (equal_stores, stop) = (self.equal_stores.simulated(), budget::current().stop);
        let options = sim::Options { equal_stores, ..super::bounded(memory).1 };
        let (grid, given) = (self.grid, memory.buffers().len());
        let args = &compiled.arguments(self.arguments, memory);
        let launch = sim::Launch { program, grid, args, machine: &machine, options };
        let watch =
            &mut |progress| if stop.is_set() { ControlFlow::Break(()) } else { watcher(progress) };
        let report = sim::run_watched(&launch, memory, watch);
        memory.truncate(given);
        report.map_err(|error| match error {
            SimError::Stopped { .. } if stop.is_set() => ApiError::Stopped,
            SimError::Memory { name, loc, .. } => {
                let what = format!("the simulation of `{name}`");
                super::over(Limit::MemoryBytes, what, Some((self.kernel, loc)))
            }
            error => error.into(),
        })
    }
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
