//! What a device costs, found by timing: the kernels, and what their times say.
//!
//! A [`Probe`] is a list of experiments: instructions, lane addresses and a name for the pattern. A
//! shell that has a device runs their kernels and reads its clock before and after;
//! [`Probe::infer`] turns the cycles into a [`Machine`]. Nothing about banks,
//! phases or pipes is taken from a table: lanes are made to collide, and the time says whether they
//! did.
//!
//! * **Rows and banks.** One lane goes further and further from the others until it costs a wavefront
//!   more: it is back in their bank.
//! * **Phases.** Two lanes ask one bank for different words while all others look elsewhere, at one
//!   address. It costs a wavefront more exactly when the two are served together; those together
//!   with lane 0 must be a subspace, and every other pair must agree.
//! * **Merging.** All lanes are consecutive except that one bit of the lane is a copy.
//! * **Prices.** Independent instructions in a row, alone, and two kinds side by side: kinds that
//!   share a pipe take the sum, others the larger.
//!
//! What was not measured (capacities that the driver does not tell, instructions' forms) is taken over
//! from the nearest machine that is known, and the sources of the answer say so.

mod instruction;
mod kernel;
mod patterns;
mod infer;

pub use infer::{Measured, ProbeError, ProbedMachine, read_rows};
pub use instruction::Instruction;
pub use kernel::{LONG, SHORT, TIMES_BYTES};

use crate::error::ApiError;
use crate::kernels::printed;
use crate::request::{Target, machine};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use weft::emit::{self, ptx};
use weft_layout::Machine;
use weft_layout::machine::Isa;

/// What the driver of a device says about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// What its vendor calls it.
    pub name: String,
    /// The version of the driver's interface.
    pub driver: String,
    /// The compute capability, ten times: 90.
    pub capability: u32,
    /// Lanes of a warp.
    pub lanes: u32,
    /// How many multiprocessors the device has.
    pub multiprocessors: u32,
    /// The most bytes of shared memory of a block.
    pub shared_bytes_per_block: u64,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_bytes: u64,
    /// The most threads of a block.
    pub threads_per_block: u32,
    /// The most threads on a multiprocessor.
    pub threads: u32,
    /// The most blocks on a multiprocessor.
    pub blocks: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// The clock, in kHz.
    pub clock_khz: u64,
    /// The clock of the memory, in kHz; two transfers each. 0 where the driver does not say.
    pub memory_clock_khz: u64,
    /// The width of the memory's bus, in bits.
    pub memory_bus_bits: u64,
}

impl Device {
    /// The device that a machine would be, of an unknown memory.
    pub fn like(machine: &Machine) -> Device {
        Device {
            name: machine.name.to_string(),
            driver: String::new(),
            capability: match machine.isa {
                Isa::Ptx { capability } => capability,
                _ => 0,
            },
            lanes: machine.lanes(),
            multiprocessors: machine.multiprocessors,
            shared_bytes_per_block: machine.shared_bytes_per_block,
            shared_bytes: machine.shared_bytes,
            threads_per_block: machine.threads_per_block,
            threads: machine.threads,
            blocks: machine.blocks,
            registers: machine.registers,
            clock_khz: 0,
            memory_clock_khz: 0,
            memory_bus_bits: 0,
        }
    }
}

/// An experiment: a program to time.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// What it is, for people; unique.
    pub pattern: String,
    /// The instructions that are repeated.
    pub instructions: Vec<Instruction>,
    /// The byte address of each lane in shared memory; one set for each time that is wanted.
    pub addresses: Vec<Vec<u32>>,
    /// Warps of a block.
    pub warps: u32,
    /// Blocks on each multiprocessor, of which all run at once.
    pub blocks: u32,
    /// Whether the cycles are those of a whole block, as for a barrier, or of each warp.
    pub per_block: bool,
    /// How often the shorter body repeats the instructions.
    pub units: u32,
}

/// What a device is asked.
#[derive(Clone, Debug)]
pub struct Probe {
    device: Device,
    base: Cow<'static, Machine>,
    target: &'static ptx::Target,
}

impl Probe {
    /// A probe of a device; what is not measured is taken over from a machine whose code it runs.
    pub fn new(base: &Target, device: Device) -> Result<Probe, ApiError> {
        let base = machine(base)?;
        match printed(&base)? {
            emit::Target::Nvidia(target) => Ok(Probe { device, base, target }),
            emit::Target::Amd(_) => Err(ApiError::NoProbe { name: base.name.to_string() }),
        }
    }

    /// Everything that is timed, in order.
    pub fn experiments(&self) -> Vec<Experiment> {
        patterns::all(self.device.lanes, self.device.capability)
    }

    /// The module of an experiment's kernels, [`SHORT`] and [`LONG`].
    pub fn ptx(&self, experiment: &Experiment) -> String {
        kernel::text(self.target, &experiment.instructions, experiment.units)
    }

    /// The machine that these times are of, measured on this day.
    pub fn infer(&self, rows: Vec<Row>, date: &str) -> Result<ProbedMachine, ProbeError> {
        infer::infer(&self.base, &self.device, rows, date)
    }
}

impl Experiment {
    /// Whether another experiment runs the same kernels.
    pub fn same_kernels(&self, other: &Experiment) -> bool {
        (&self.instructions, self.units) == (&other.instructions, other.units)
    }

    /// Bytes of shared memory of a block: the widest access at the highest address ends there.
    pub fn shared_bytes(&self) -> u32 {
        self.addresses.iter().flatten().max().map_or(0, |highest| highest + 16)
    }

    /// How often the loops go round, so that a launch takes about a tenth of a millisecond.
    pub fn loops(&self) -> u32 {
        let each = self.units * self.warps * self.blocks * self.instructions.len() as u32;
        ((1 << 16) / each.max(1)).max(8)
    }

    /// The cycles of the instructions, by those that the slowest warp took in the two kernels.
    pub fn cycles(&self, short: u64, long: u64) -> f64 {
        let times = f64::from(self.loops()) * f64::from(self.units);
        let parts =
            f64::from(self.blocks) * if self.per_block { 1.0 } else { f64::from(self.warps) };
        (long as f64 - short as f64) / times / parts
    }
}

/// What was measured of one pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The name of the experiment.
    pub pattern: String,
    /// Cycles of a warp's instructions, or of a block's, in hundredths; one for each set of addresses.
    pub cycles: Vec<f64>,
}

impl Row {
    /// A row of these cycles, rounded to hundredths.
    pub fn new(experiment: &Experiment, cycles: &[f64]) -> Self {
        let rounded = |cycles: &f64| (cycles * 100.0).round() / 100.0;
        Row { pattern: experiment.pattern.clone(), cycles: cycles.iter().map(rounded).collect() }
    }
}
