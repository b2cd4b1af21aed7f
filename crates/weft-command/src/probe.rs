//! `weft probe`: runs the experiments of `weft-api` on a GPU, and writes the machine that they are of.

use crate::arguments;
use crate::failure::Failure;
use crate::output::Output;
use crate::{Outcome, device, progress};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};
use weft_api::probe::{self, Experiment, LONG, Probe, Row, SHORT, TIMES_BYTES};
use weft_driver::{Arg, Buffer, Device, DriverError, Function};

/// How often each kernel runs; the least time counts.
const REPETITIONS: usize = 5;
/// The same for patterns with many sets of addresses, which have each other to be compared with.
const REPETITIONS_OF_MANY: usize = 3;

/// The command `weft probe`: a GPU's times, and what follows from them.
pub(crate) fn run(arguments: &arguments::Probe, output: &mut Output) -> Result<Outcome, Failure> {
    let device = device::open(arguments.device)?;
    let base = device::target(&device)?.into();
    let probe = Probe::new(&base, described(&device)?)?;
    let experiments = probe.experiments();
    let mut bench = Bench::new(&device, &experiments)?;
    let mut rows = Vec::new();
    let mut loaded: Option<(&Experiment, Kernels)> = None;
    let progress = progress::steps("pattern", experiments.len());
    for experiment in &experiments {
        let kernels = match loaded.take().filter(|(other, _)| other.same_kernels(experiment)) {
            Some((_, kernels)) => kernels,
            None => Kernels::load(&device, &probe.ptx(experiment))?,
        };
        rows.push(bench.measure(experiment, &kernels)?);
        loaded = Some((experiment, kernels));
        progress.inc(1);
    }
    progress.finish_and_clear();
    let text = probe.infer(rows, &today())?.to_json();
    output.to(arguments.output.as_deref(), &text)?;
    Ok(Outcome::Good)
}

fn described(device: &Device) -> Result<probe::Device, Failure> {
    let (major, minor) = device.compute_capability();
    let properties = device.properties()?;
    let version = properties.driver_version;
    Ok(probe::Device {
        name: device.name().to_owned(),
        driver: format!("CUDA {}.{}", version / 1000, version % 1000 / 10),
        capability: major * 10 + minor,
        lanes: properties.warp_size,
        multiprocessors: properties.multiprocessors,
        shared_bytes_per_block: properties.shared_bytes_per_block.into(),
        shared_bytes: properties.shared_bytes.into(),
        threads_per_block: properties.threads_per_block,
        threads: properties.threads,
        blocks: properties.blocks,
        registers: properties.registers,
        clock_khz: properties.clock_khz.into(),
        memory_clock_khz: properties.memory_clock_khz.into(),
        memory_bus_bits: properties.memory_bus_bits.into(),
    })
}

/// The two kernels of an experiment.
struct Kernels {
    short: Function,
    long: Function,
}

impl Kernels {
    fn load(device: &Device, ptx: &str) -> Result<Kernels, DriverError> {
        let module = device.load_ptx(ptx)?;
        Ok(Kernels { short: module.function(SHORT)?, long: module.function(LONG)? })
    }
}

/// A device with the buffers that the kernels use.
struct Bench {
    lanes: u32,
    multiprocessors: u32,
    table: Buffer,
    times: Buffer,
}

impl Bench {
    fn new(device: &Device, experiments: &[Experiment]) -> Result<Bench, DriverError> {
        let properties = device.properties()?;
        let (lanes, multiprocessors) = (properties.warp_size, properties.multiprocessors);
        let warps = experiments.iter().map(|one| grid(one, multiprocessors) * one.warps).max();
        Ok(Bench {
            lanes,
            multiprocessors,
            table: device.alloc(4 * lanes as usize)?,
            times: device.alloc(TIMES_BYTES * warps.unwrap_or(1) as usize)?,
        })
    }

    fn measure(&mut self, experiment: &Experiment, kernels: &Kernels) -> Result<Row, DriverError> {
        let many = experiment.addresses.len() > 1;
        let repetitions = if many { REPETITIONS_OF_MANY } else { REPETITIONS };
        let mut cycles = Vec::new();
        for addresses in &experiment.addresses {
            let bytes: Vec<u8> = addresses.iter().flat_map(|at| at.to_le_bytes()).collect();
            self.table.copy_in(&bytes)?;
            let (mut short, mut long) = (u64::MAX, u64::MAX);
            for _ in 0..repetitions {
                short = short.min(self.time(experiment, &kernels.short)?);
                long = long.min(self.time(experiment, &kernels.long)?);
            }
            cycles.push(experiment.cycles(short, long));
        }
        Ok(Row::new(experiment, &cycles))
    }

    /// The cycles from the first warp's start to the last warp's end, of the multiprocessor in the
    /// middle.
    fn time(&self, experiment: &Experiment, kernel: &Function) -> Result<u64, DriverError> {
        let grid = grid(experiment, self.multiprocessors);
        let arguments = [
            Arg::Pointer(&self.table),
            Arg::Pointer(&self.times),
            Arg::I32(experiment.loops() as i32),
        ];
        let (threads, shared) = (experiment.warps * self.lanes, experiment.shared_bytes());
        kernel.launch([grid, 1, 1], threads, shared, &arguments)?;
        let bytes = self.times.copy_out()?;
        let warps =
            bytes.as_chunks::<TIMES_BYTES>().0.iter().take((grid * experiment.warps) as usize);
        let mut spans: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for warp in warps {
            let [start, end, multiprocessor] = numbers(warp);
            let span = spans.entry(multiprocessor).or_insert((start, end));
            *span = (span.0.min(start), span.1.max(end));
        }
        let mut cycles: Vec<u64> =
            spans.into_values().map(|(start, end)| end.saturating_sub(start)).collect();
        cycles.sort_unstable();
        Ok(cycles.get(cycles.len() / 2).copied().unwrap_or(0))
    }
}

fn numbers(bytes: &[u8; TIMES_BYTES]) -> [u64; 3] {
    let (numbers, _) = bytes.as_chunks::<8>();
    [0, 1, 2].map(|index| numbers.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes)))
}

/// The blocks of a launch: one, or as many as are wanted on every multiprocessor.
fn grid(experiment: &Experiment, multiprocessors: u32) -> u32 {
    if experiment.blocks == 1 { 1 } else { experiment.blocks * multiprocessors }
}

/// The day, as 2026-11-20.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86400)
}

/// The date of a day counted from 1970: years begin in March, so that a leap day ends one.
fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        let check = |days, expected| assert_eq!(date(days), expected);
        check(0, "1970-01-01");
        check(58, "1970-02-28");
        check(59, "1970-03-01");
        check(11_016, "2000-02-29");
        check(11_017, "2000-03-01");
        check(20_777, "2026-11-20");
    }
}
