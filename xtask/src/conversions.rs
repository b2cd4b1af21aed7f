//! The kernels of the grid of conversions: each pair of layouts as PTX that changes, converts and
//! consumes a tile in a loop.
//!
//! ```text
//! x = what the source points to, in the layout `from`
//! for i in 0..n { x ^= i; sum ^= convert(x) }         the empty loop: sum ^= x
//! what the result points to, a tile for each block = sum, in the layout `to`
//! ```
//!
//! Elements of 32 bits are floats, to which 1 is added, and which are added up. Narrower ones are
//! changed and consumed several at a time, as words in the order of their registers. The loop's step is
//! an argument, so that nobody unrolls it and merges what two rounds do.
//!
//! Of the ways that the planner knows, a kernel takes the one that is cheapest beside the rest of a round.

use crate::{root, say};
use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use weft::dtype::DType;
use weft::emit::ptx::{self, Registers};
use weft::lane::{self, Access, Builder, IdKind, Op, Param, Program, Space, Value};
use weft::movement::{multiprocessor, thread_map, write};
use weft::scalar::{Binary, Cast, Compare};
use weft_layout::interop::parse_attribute;
use weft_layout::space::{LANE, REGISTER, WARP};
use weft_layout::step::{Cost, Plan};
use weft_layout::{Layout, Machine, plan};

/// The machine that is measured.
const TARGET: &str = "sm_90";

/// The name of every kernel.
const SYMBOL: &str = "conversion";

/// A line of the grid.
#[derive(Deserialize, Clone)]
struct Point {
    pair: String,
    element: String,
    shape: Vec<u64>,
    warps: u32,
    from: String,
    to: String,
}

impl Point {
    fn bits(&self) -> anyhow::Result<u32> {
        match &self.element[..] {
            "i8" => Ok(8),
            "f16" => Ok(16),
            "f32" => Ok(32),
            other => anyhow::bail!("no kernel is written for {other}"),
        }
    }

    /// The bytes of the tile over the threads.
    fn bytes_of_a_thread(&self) -> anyhow::Result<u64> {
        let elements: u64 = self.shape.iter().product();
        Ok(elements * u64::from(self.bits()? / 8) / (32 * u64::from(self.warps.max(1))))
    }
}

/// What the program that times a kernel needs to know of it.
#[derive(Serialize)]
struct Kernel {
    element: String,
    shape: Vec<u64>,
    warps: u32,
    /// The source's and the target's layout, or the one of a loop that does not convert.
    layouts: Vec<String>,
    file: String,
    symbol: &'static str,
    shared: u32,
    plan: Option<Price>,
}

/// What a conversion costs a warp, as the planner counts it.
#[derive(Serialize)]
struct Price {
    strategy: String,
    wavefronts: u64,
    shuffles: u64,
    arithmetic: u64,
    barriers: u64,
    /// In hundredths of a cycle.
    total: u64,
}

#[derive(Serialize)]
struct Index {
    versions: String,
    kernels: Vec<Kernel>,
}

/// Writes the kernels of a grid, one file each, and `index.json`.
pub(crate) fn run(grid: &Path, output: &Path) -> anyhow::Result<()> {
    let path = root().join(grid);
    let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let machine = Machine::by_name(TARGET).context("no such machine")?;
    std::fs::create_dir_all(output)?;
    let points: Vec<Point> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let versions = format!("weft {}", env!("CARGO_PKG_VERSION"));
    let mut index = Index { versions, kernels: Vec::new() };
    let mut seen = BTreeSet::new();
    for point in &points {
        let pair = vec![point.from.clone(), point.to.clone()];
        for layouts in [pair, vec![point.from.clone()], vec![point.to.clone()]] {
            let Point { element, shape, warps, .. } = point.clone();
            if !seen.insert((element.clone(), shape.clone(), warps, layouts.clone())) {
                continue;
            }
            let file = format!("{:04}.ptx", index.kernels.len());
            let (program, plan) =
                kernel(point, &layouts, machine).with_context(|| point.pair.clone())?;
            let registers = registers(plan.as_ref(), point.bytes_of_a_thread()?);
            std::fs::write(output.join(&file), printed(&program, registers)?)?;
            let (symbol, shared) = (SYMBOL, program.shared_bytes);
            let plan = plan.map(|plan| Price {
                strategy: plan.strategy.to_string(),
                wavefronts: plan.cost.wavefronts,
                shuffles: plan.cost.shuffles,
                arithmetic: plan.cost.alu,
                barriers: plan.cost.barriers,
                total: plan.cost.total,
            });
            index.kernels.push(Kernel {
                element,
                shape,
                warps,
                layouts,
                file,
                symbol,
                shared,
                plan,
            });
        }
    }
    std::fs::write(output.join("index.json"), serde_json::to_string(&index)?)?;
    say(&format!("{} kernels in {}", index.kernels.len(), output.display()));
    Ok(())
}

fn printed(program: &Program, registers: Registers) -> anyhow::Result<String> {
    let target = ptx::Target::by_name(TARGET).context("no such target")?;
    Ok(ptx::print_with(program, target, registers)?)
}

/// Exchanges want registers for what is under way; so do tiles so small that the assembler would make
/// room for all the threads that a multiprocessor can hold, and put one load behind the other for it.
fn registers(plan: Option<&Plan>, bytes_of_a_thread: u64) -> Registers {
    match plan {
        Some(plan) if plan.cost.shuffles > 0 || bytes_of_a_thread <= SMALL => Registers::Blocks(1),
        _ => Registers::Balanced,
    }
}

/// The bytes of a tile that a thread holds of a small one.
const SMALL: u64 = 64;

/// The kernel of a tile in these layouts: one, or two with a conversion between them.
fn kernel(
    point: &Point,
    layouts: &[String],
    machine: &Machine,
) -> anyhow::Result<(Program, Option<Plan>)> {
    let layout = |text: &String| -> anyhow::Result<Layout> {
        let family = parse_attribute(text).map_err(|error| anyhow::anyhow!("{text}: {error:?}"))?;
        Ok(family.layout(&point.shape)?)
    };
    let (from, to) = (layout(&layouts[0])?, layout(&layouts[layouts.len() - 1])?);
    let bits = point.bits()?;
    let dtype = match bits {
        8 => DType::I8,
        16 => DType::F16,
        _ => DType::F32,
    };
    let work = rest_of_a_round(&from, &to, bits);
    let plan = (layouts.len() > 1).then(|| plan::conversions(&from, &to, bits, machine));
    let plan = plan.transpose()?.map(|known| known.beside(work, machine).clone());

    let mut build = Builder::new(SYMBOL, point.warps, machine.lanes_log2);
    build.set_multiprocessor(multiprocessor(machine));
    let [source, result] = ["source", "result"].map(|name| {
        let (name, pointee) = (name.into(), Some(dtype));
        build.param(Param { name, dtype: DType::I64, pointee, divisibility: 16 })
    });
    let [count, step] = ["n", "step"].map(|name| {
        let (name, dtype) = (name.into(), DType::I32);
        build.param(Param { name, dtype, pointee: None, divisibility: 1 })
    });

    let elements: Vec<Value> = addresses(&mut build, &from, bits, source)?
        .into_iter()
        .map(|(address, how)| build.load(Space::Global, how, dtype, 1, address, None)[0])
        .collect();
    let tile = packed(&mut build, &elements);
    let (word, first) = (dtype_of_words(dtype), build.i32(0));
    let zero = build.constant(word, 0);
    let sums = vec![zero; (1_usize << to.in_bits(REGISTER)) * bits as usize / 32];

    let carried: Vec<Value> = [first].iter().chain(&tile).chain(&sums).copied().collect();
    let rounds = build.new_loop(&carried, &vec![word; sums.len()]);
    let mut types = vec![word; carried.len()];
    types[0] = DType::I32;
    let inside = build.open_region(&types);
    let (round, rest) = inside.split_first().context("a loop without a counter")?;
    let (tile_before, sums_before) = rest.split_at(tile.len());
    let done = build.compare(Compare::Sge, *round, count);
    build.break_if(rounds, done, sums_before);
    let (operation, change) = match dtype {
        DType::F32 => (Binary::Add, build.constant(DType::F32, u64::from(1_f32.to_bits()))),
        _ => (Binary::Xor, repeated(&mut build, *round, bits)),
    };
    let tile: Vec<Value> =
        tile_before.iter().map(|&word| build.binary(operation, word, change)).collect();
    let converted = match &plan {
        Some(plan) => {
            let elements = unpacked(&mut build, &tile, dtype);
            let converted = write(&mut build, plan, vec![elements])?;
            packed(&mut build, converted.first().context("a plan without an output")?)
        }
        None => tile.clone(),
    };
    let sums: Vec<Value> = (sums_before.iter().zip(&converted))
        .map(|(&sum, &word)| build.binary(operation, sum, word))
        .collect();
    let next = build.binary(Binary::Add, *round, step);
    let carried: Vec<Value> = [next].iter().chain(&tile).chain(&sums).copied().collect();
    let region = build.close_region(Op::Continue, &carried);
    let sums = build.place_loop(rounds, region);

    let elements = unpacked(&mut build, &sums, dtype);
    let block = build.id(IdKind::Block(0));
    let bytes = build.i32((bits / 8) as i32 * point.shape.iter().product::<u64>() as i32);
    let skipped = build.binary(Binary::Mul, block, bytes);
    let skipped = build.cast(Cast::ExtU, skipped, DType::I64);
    let result = build.binary(Binary::Add, result, skipped);
    for ((address, how), element) in
        addresses(&mut build, &to, bits, result)?.into_iter().zip(elements)
    {
        build.store(Space::Global, how, address, None, &[element]);
    }
    let program = weft::simplify::run(build.finish());
    if let Err(broken) = lane::verify(&program) {
        anyhow::bail!("a broken program: {}", broken.join("; "));
    }
    Ok((program, plan))
}

/// The address of each register's element of a row-major tile: one for all threads' part, and what is
/// added to it.
fn addresses(
    build: &mut Builder,
    layout: &Layout,
    bits: u32,
    base: Value,
) -> anyhow::Result<Vec<(Value, Access)>> {
    let row_major = |place: u64| {
        let [rows, columns] = [0, 1].map(|dim| layout.outs().labels().nth(dim));
        let part =
            |label: Option<_>| label.map_or(0, |label| layout.outs().coordinate(label, place));
        let width = columns.map_or(0, |label| layout.out_bits(label));
        (part(rows) << width | part(columns)) * u64::from(bits / 8)
    };
    let columns = |label| -> Vec<u64> {
        layout.columns(label).iter().map(|&place| row_major(place)).collect()
    };
    let (lanes, warps, registers) = (columns(LANE), columns(WARP), columns(REGISTER));
    let threads = lanes.iter().chain(&warps).fold(0, |all, column| all | column);
    ensure!(
        registers.iter().all(|column| column & threads == 0),
        "registers and threads of a layout share bits of the tile"
    );
    let thread = thread_map(build, &lanes, &warps);
    let thread = build.cast(Cast::ExtU, thread, DType::I64);
    let base = build.binary(Binary::Add, base, thread);
    let place = |register: usize| {
        let set = registers.iter().enumerate().filter(|(bit, _)| register >> bit & 1 == 1);
        let offset = set.fold(0, |all, (_, column)| all ^ column) as i32;
        (base, Access { offset, ..Access::default() })
    };
    Ok((0..1_usize << registers.len()).map(place).collect())
}

/// What a warp does in each round beside the conversion: an operation on each word before and behind
/// it. Floats are added by a pipe of their own; exclusive-or shares one with selects and byte permutes.
fn rest_of_a_round(from: &Layout, to: &Layout, bits: u32) -> Cost {
    let words = |layout: &Layout| (1 << layout.in_bits(REGISTER)) * u64::from(bits) / 32;
    let instructions = words(from) + words(to);
    Cost { alu: if bits == 32 { 0 } else { instructions }, instructions, ..Cost::default() }
}

/// A number in every element of a word.
fn repeated(build: &mut Builder, value: Value, bits: u32) -> Value {
    let (mask, factor) = match bits {
        8 => (0xff, 0x0101_0101),
        16 => (0xffff, 0x0001_0001),
        _ => return value,
    };
    let (mask, factor) = (build.i32(mask), build.i32(factor));
    let low = build.binary(Binary::And, value, mask);
    build.binary(Binary::Mul, low, factor)
}

/// The type of the words in which elements are changed and summed up.
fn dtype_of_words(dtype: DType) -> DType {
    if dtype.bits() == 32 { dtype } else { DType::I32 }
}

/// Elements in words, the first lowest.
fn packed(build: &mut Builder, elements: &[Value]) -> Vec<Value> {
    let bits = elements.first().map_or(32, |&element| build.dtype(element).bits());
    let parts = elements.chunks((32 / bits) as usize);
    let mut word = |parts: &[Value]| match parts {
        &[element] => element,
        parts => build.join(parts),
    };
    parts.map(&mut word).collect()
}

/// The elements of words.
fn unpacked(build: &mut Builder, words: &[Value], dtype: DType) -> Vec<Value> {
    let mut elements = Vec::new();
    for &word in words {
        match dtype.bits() {
            32 => elements.push(word),
            _ => elements.extend(build.split(word, dtype)),
        }
    }
    elements
}
