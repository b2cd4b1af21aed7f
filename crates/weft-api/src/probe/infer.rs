//! From cycles to a machine.

use super::instruction::Instruction::{
    self, Fma, Load, Logic, Permute, Select, ShuffleIndex, ShuffleXor, WarpBarrier,
};
use super::patterns::{self, WIDTHS};
use super::{Device, Row};
use crate::invoke::text_of;
use crate::machines::{MEASURED, MachineAnswer};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use weft_layout::Machine;
use weft_layout::f2::Subspace;
use weft_layout::machine::{Kind, Origin, Phases, Pipe, Prices, Source, Together};

/// Why times say nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProbeError {
    /// A pattern is missing, or has another number of times than it needs.
    #[error("nothing was measured of `{pattern}`")]
    Missing {
        /// The name of the experiment.
        pattern: String,
    },
    /// No distance brings two lanes into one bank.
    #[error("no distance of lanes costs a wavefront more in `{pattern}`")]
    NoBanks {
        /// The name of the experiment.
        pattern: String,
    },
    /// The lanes that collide with lane 0 are no subspace, or another pair disagrees.
    #[error("lanes {0} and {1} do not collide as their difference says in `{pattern}`", .lanes[0], .lanes[1])]
    NoSubspace {
        /// The name of the experiment.
        pattern: String,
        /// The two lanes that disagree.
        lanes: [u32; 2],
    },
    /// A time is no price.
    #[error("`{pattern}` took {cycles} cycles, which is no price")]
    NoPrice {
        /// The name of the experiment.
        pattern: String,
        /// The time that was measured, in cycles.
        cycles: f64,
    },
}

/// A machine with the times that it was inferred from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbedMachine {
    /// The machine that was inferred.
    #[serde(flatten)]
    pub machine: MachineAnswer,
    /// The times that were measured.
    pub measured: Measured,
}

/// The times, and on what.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// What the numbers are.
    pub what: &'static str,
    /// The command that measured them.
    pub command: &'static str,
    /// The versions of what measured them.
    pub versions: String,
    /// The day on which they were measured.
    pub date: String,
    /// How they were measured, in words.
    pub method: &'static str,
    /// What the driver says of the device.
    pub device: Device,
    /// What each pattern took.
    pub rows: Vec<Row>,
}

impl ProbedMachine {
    /// The machine as JSON, a line for each row.
    pub fn to_json(&self) -> String {
        let mut without = self.clone();
        let rows: Vec<String> = without.measured.rows.drain(..).map(|row| text_of(&row)).collect();
        let text = text_of(&without);
        // The rows are the last list of all.
        let head = text.strip_suffix("]}}").unwrap_or(&text);
        format!("{head}\n{}\n]}}}}\n", rows.join(",\n"))
    }
}

const METHOD: &str = "cycles of one multiprocessor for one warp's instructions (for one block's, where \
     a barrier is among them): independent instructions in a loop in each of 16 warps unless the \
     pattern says otherwise, the time of a body twice as long minus that of the body, the least of \
     several runs";

/// The device and the rows of a file that a probe wrote.
pub fn read_rows(file: &Value) -> Option<(Device, Vec<Row>)> {
    let measured = file.get(MEASURED)?;
    let device = Device::deserialize(measured.get("device")?).ok()?;
    let rows = Vec::<Row>::deserialize(measured.get("rows")?).ok()?;
    Some((device, rows))
}

/// The machine that these times are of. What they do not say is taken over from `base`.
pub(super) fn infer(
    base: &Machine,
    device: &Device,
    rows: Vec<Row>,
    date: &str,
) -> Result<ProbedMachine, ProbeError> {
    let machine = Times { rows: &rows, lanes: device.lanes }.machine(base, device)?;
    let measured = Measured {
        what: "A machine by timing",
        command: "weft probe --device cuda:0",
        versions: format!("weft {}", env!("CARGO_PKG_VERSION")),
        date: date.into(),
        method: METHOD,
        device: device.clone(),
        rows,
    };
    Ok(ProbedMachine { machine: MachineAnswer::of(&machine), measured })
}

struct Times<'a> {
    rows: &'a [Row],
    lanes: u32,
}

impl Times<'_> {
    fn machine(&self, base: &Machine, device: &Device) -> Result<Machine, ProbeError> {
        let prices = self.prices(base, device)?;
        let wavefront = prices.wavefront as f64 / 100.0;
        let (banks_log2, bank_bytes_log2) = self.banks(Kind::Load, wavefront)?;
        let (store_banks_log2, _) = self.banks(Kind::Store, wavefront)?;
        let mut shuffles = base.shuffles.to_vec();
        for (name, instruction) in [("idx", ShuffleIndex), ("bfly", ShuffleXor)] {
            let pipe = self.pipe_with_memory(instruction)?;
            for form in shuffles.iter_mut().filter(|form| form.name.contains(name)) {
                form.pipe = pipe;
            }
        }
        Ok(Machine {
            name: Cow::Owned(slug(&device.name)),
            lanes_log2: device.lanes.max(1).ilog2(),
            banks_log2,
            store_banks_log2,
            bank_bytes_log2,
            phases: self.phases(wavefront)?,
            shared_bytes_per_block: device.shared_bytes_per_block,
            shared_bytes: device.shared_bytes,
            threads_per_block: device.threads_per_block,
            threads: device.threads,
            blocks: device.blocks,
            registers: device.registers,
            multiprocessors: device.multiprocessors,
            shuffles: Cow::Owned(shuffles),
            prices,
            sources: Cow::Owned(sources(base, device)),
            ..base.clone()
        })
    }

    /// The times of a pattern, as many as expected.
    fn times(&self, pattern: &str, count: usize) -> Result<&[f64], ProbeError> {
        let row = self.rows.iter().find(|row| row.pattern == pattern);
        row.map(|row| &row.cycles[..])
            .filter(|cycles| cycles.len() == count)
            .ok_or_else(|| ProbeError::Missing { pattern: pattern.into() })
    }

    /// The time of a pattern that has one.
    fn time(&self, pattern: &str) -> Result<f64, ProbeError> {
        self.times(pattern, 1).map(|cycles| cycles.iter().sum())
    }

    /// The time of a pattern in hundredths of a cycle.
    fn price(&self, pattern: &str) -> Result<u64, ProbeError> {
        let cycles = self.time(pattern)?;
        hundredths(pattern, cycles)
    }

    fn prices(&self, base: &Machine, device: &Device) -> Result<Prices, ProbeError> {
        // One lane that comes back to the others' bank costs one wavefront more.
        let row = patterns::row_name(Kind::Load);
        let times = self.times(&row, patterns::row_distances().count())?;
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let most = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let arithmetic = [Permute, Logic, Select].map(|one| self.price(&one.to_string()));
        let mut alu = 0;
        for price in arithmetic {
            alu = alu.max(price?);
        }
        let (block_barrier, block_barrier_per_warp) = self.barriers()?;
        // Two pipes share these three, and neither is full: only their issue is left.
        let mixed = patterns::together(&[Permute, Fma, Fma]);
        Ok(Prices {
            wavefront: hundredths(&row, most - least)?,
            shuffle: self.price(&ShuffleIndex.to_string())?,
            alu,
            issue: hundredths(&mixed, self.time(&mixed)? / 3.0)?,
            warp_barrier: self.price(&WarpBarrier.to_string())?,
            block_barrier,
            block_barrier_per_warp,
            sector: sector(base, device).unwrap_or(base.prices.sector),
        })
    }

    /// The straight line closest to the times of a block's barrier: at no warps, and a warp.
    fn barriers(&self) -> Result<(u64, u64), ProbeError> {
        let mut points = Vec::new();
        for warps in [4, 8, 16] {
            points.push((f64::from(warps), self.time(&patterns::block_barrier_name(warps))?));
        }
        let count = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let product: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let square: f64 = points.iter().map(|(x, _)| (x - mean_x) * (x - mean_x)).sum();
        let slope = product / square;
        let pattern = patterns::block_barrier_name(16);
        Ok((hundredths(&pattern, mean_y - slope * mean_x)?, hundredths(&pattern, slope)?))
    }

    /// The logarithms of the number of banks and of the bytes of a bank.
    fn banks(&self, kind: Kind, wavefront: f64) -> Result<(u32, u32), ProbeError> {
        let distances: Vec<u32> = patterns::row_distances().collect();
        let pattern = patterns::row_name(kind);
        let times = self.times(&pattern, distances.len())?;
        let costs_more = |cycles: f64| cycles > times[0] + wavefront / 2.0;
        let row = distances.iter().zip(times).find(|(_, cycles)| costs_more(**cycles));
        let Some((row, _)) = row else { return Err(ProbeError::NoBanks { pattern }) };

        let distances: Vec<u32> = patterns::bank_distances().collect();
        let pattern = patterns::bank_name(kind);
        let times = self.times(&pattern, distances.len())?;
        // The last of them is in another bank, if there is any.
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let another =
            distances.iter().zip(times).find(|(_, cycles)| **cycles < least + wavefront / 2.0);
        let Some((bytes, _)) = another.filter(|(bytes, _)| *bytes <= row) else {
            return Err(ProbeError::NoBanks { pattern });
        };
        Ok(((row / bytes).max(1).ilog2(), bytes.ilog2()))
    }

    fn phases(&self, wavefront: f64) -> Result<Phases, ProbeError> {
        let mut tables = [Together::default(); 2];
        for (table, kind) in tables.iter_mut().zip([Kind::Load, Kind::Store]) {
            for (row, bytes) in table.iter_mut().zip(WIDTHS) {
                *row = self.together(kind, bytes, wavefront)?;
            }
        }
        let [load, store] = tables;
        let (mut merging, mut merging_from) = (0, u32::MAX);
        // What the widest loads do counts as far down as narrower ones do the same.
        for bytes in WIDTHS.into_iter().rev() {
            let bits = self.merging(bytes)?;
            if bits == 0 || merging != 0 && bits != merging {
                break;
            }
            (merging, merging_from) = (bits, bytes.ilog2());
        }
        Ok(Phases { load, store, merging, merging_from })
    }

    /// A basis of the lanes that are served with lane 0, after every pair has agreed with it.
    fn together(&self, kind: Kind, bytes: u32, wavefront: f64) -> Result<[u8; 6], ProbeError> {
        let apart = self.times(&patterns::apart_name(kind, bytes), self.lanes as usize - 1)?;
        let apart = apart.iter().copied().fold(f64::INFINITY, f64::min);
        let collide = |i: u32, j: u32| -> Result<bool, ProbeError> {
            let times =
                self.times(&patterns::pair_name(kind, bytes, i), (self.lanes - 1 - i) as usize)?;
            Ok(times[(j - i - 1) as usize] > apart + wavefront / 2.0)
        };
        let mut basis: Vec<u64> = Vec::new();
        for lane in 1..self.lanes {
            if collide(0, lane)? && !Subspace::from_vectors(&basis).contains(lane.into()) {
                basis.push(lane.into());
            }
        }
        let span = Subspace::from_vectors(&basis);
        for i in 0..self.lanes {
            for j in i + 1..self.lanes {
                if collide(i, j)? != span.contains(u64::from(i ^ j)) {
                    let pattern = patterns::pair_name(kind, bytes, i);
                    return Err(ProbeError::NoSubspace { pattern, lanes: [i, j] });
                }
            }
        }
        let mut row = [0; 6];
        for (slot, lane) in row.iter_mut().zip(basis) {
            *slot = lane as u8;
        }
        Ok(row)
    }

    /// The lane bits that, copied, halve the phases of a load.
    fn merging(&self, bytes: u32) -> Result<u8, ProbeError> {
        let whole = self.time(&patterns::consecutive_name(Kind::Load, bytes))?;
        let pattern = patterns::copies_name(Kind::Load, bytes);
        let copies = self.times(&pattern, self.lanes.max(1).ilog2() as usize)?;
        // A single phase cannot be halved.
        let halves = |cycles: &f64| *cycles < 0.75 * whole;
        let bits = copies.iter().enumerate().filter(|(_, cycles)| halves(cycles));
        Ok(bits.fold(0, |mask, (bit, _)| mask | 1 << bit))
    }

    /// The pipe of an instruction: that of memory when a load beside it takes time of its own.
    fn pipe_with_memory(&self, instruction: Instruction) -> Result<Pipe, ProbeError> {
        let load = self.time(&patterns::consecutive_name(Kind::Load, 4))?;
        let alone = self.time(&instruction.to_string())?;
        let both = self.time(&patterns::together(&[Load(4), instruction]))?;
        let shared = both > (load + alone + load.max(alone)) / 2.0;
        Ok(if shared { Pipe::Memory } else { Pipe::Arithmetic })
    }
}

/// A time in hundredths of a cycle; instructions take between a hundredth and a million cycles.
fn hundredths(pattern: &str, cycles: f64) -> Result<u64, ProbeError> {
    let price = (cycles * 100.0).round();
    if (1.0..1e8).contains(&price) {
        Ok(price as u64)
    } else {
        Err(ProbeError::NoPrice { pattern: pattern.into(), cycles })
    }
}

/// What a sector of memory takes when all multiprocessors share the bus, in hundredths of a cycle.
fn sector(base: &Machine, device: &Device) -> Option<u64> {
    let bytes_each_ms =
        (device.memory_clock_khz.checked_mul(2)?).checked_mul(device.memory_bus_bits / 8)?;
    let cycles_each_ms = device.clock_khz.checked_mul(device.multiprocessors.into())?;
    let hundred = cycles_each_ms.checked_mul(100 * u64::from(base.sector_bytes))?;
    hundred.checked_add(bytes_each_ms / 2)?.checked_div(bytes_each_ms).filter(|&price| price > 0)
}

/// `NVIDIA H200` as `nvidia-h200`.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let slug: String = name.chars().take(64).map(plain).collect();
    if slug.is_empty() { "device".into() } else { slug }
}

/// What was measured or told; the rest with where it is taken over from.
fn sources(base: &Machine, device: &Device) -> Vec<Source> {
    let own = |of: &'static str, from: String| Source {
        of: Cow::Borrowed(of),
        origin: Origin::Measured,
        from: Cow::Owned(from),
    };
    let timed = format!("timed on {}", device.name);
    let told = format!("the driver of {}", device.name);
    let bus =
        "the driver tells the memory's clock and bus, of which each multiprocessor has its share";
    let mut fresh = vec![
        own("banks", timed.clone()),
        own("store_banks", timed.clone()),
        own("bank_bytes", timed.clone()),
        own("phases", timed.clone()),
        own("prices", timed.clone()),
    ];
    if sector(base, device).is_some() {
        fresh.push(Source { origin: Origin::Documented, ..own("prices.sector", bus.into()) });
    } else if let Some(source) = base.source("prices.sector") {
        let of = Cow::Borrowed("prices.sector");
        fresh.push(Source { of, ..taken_over(base, source) });
    }
    for of in [
        "lanes",
        "shared_bytes_per_block",
        "shared_bytes",
        "threads_per_block",
        "threads",
        "blocks",
        "registers",
        "multiprocessors",
    ] {
        fresh.push(own(of, told.clone()));
    }
    // A source of the base that a fresh one replaces speaks of nothing any more.
    let replaced = |of: &str| {
        let first = of.split('.').next().unwrap_or_default();
        fresh.iter().any(|source| source.of == first)
    };
    let rest = base.sources.iter().filter(|source| !replaced(&source.of));
    let mut all: Vec<Source> = rest.map(|source| taken_over(base, source)).collect();
    all.extend(fresh);
    all
}

fn taken_over(base: &Machine, source: &Source) -> Source {
    let from = format!("not measured; taken over from {}: {}", base.name, source.from);
    Source { of: source.of.clone(), origin: source.origin, from: Cow::Owned(from) }
}
