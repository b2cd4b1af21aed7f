//! Random pins: no value costs less in a layout that somebody draws than where the compiler put it.
//!
//! Each value with a home of its own is pinned to random blocked layouts, everything else is chosen
//! again, and the totals are compared, in the compiler's own currency. A pin that costs less shows a layout
//! that should have been among the candidates.
//!
//! A few pins of every kernel are tried; `cargo test --release --test it pinned -- --ignored` tries five
//! thousand, `WEFT_RUNS=500` so many, on the recorded kernels and on those in the directory
//! `WEFT_KERNELS`, if it is set. There a `times.tsv` may name, in its columns `file` and `warps`, the
//! warps of each.

use std::path::{Path, PathBuf};
use weft::assign::{self, Block, Pin};
use weft::axis::AxisFacts;
use weft::budget::Budget;
use weft::descriptors;
use weft::fuse;
use weft::scaled;
use weft::tile::{Kernel, Value};
use weft::ttir;
use weft_layout::Layout;
use weft_layout::family::Blocked;
use weft_layout::machine::Machine;

/// How much less a pin may cost, in thousandths: two choices of nearly one price are no matter.
const NEARLY: u64 = 20;

/// The kernels of which a few pins still cost less; the list shall become shorter.
///
/// Those that turn tensors are here because of their price: in squares of 64 bytes by 128 nothing moves
/// between threads, and every sector is used, but on an H200 a transpose of 8192 x 8192 `f32` takes 151 to
/// 156 us so, and 138 us through shared memory. Lines of memory that come in parts cost more than
/// prices of sectors say.
const KNOWN: [&str; 11] = [
    "add_bias_relu",
    "add_transposed",
    "column_sum",
    "embedding_backward",
    "rank_of_each",
    "sort_by_digits",
    "tiled_transpose",
    "top_of_rows",
    "top_of_rows.3.6",
    "transpose_longs",
    "transpose_words",
];

struct Dice(u64);

impl Dice {
    /// A number below `count`.
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % count as u64) as usize
    }

    /// A power of two dealt out over axes.
    fn dealt(&mut self, log2: u32, rank: usize) -> Vec<u64> {
        let mut sizes = vec![1; rank];
        for _ in 0..log2 {
            sizes[self.below(rank)] *= 2;
        }
        sizes
    }

    /// A blocked layout.
    fn layout(&mut self, shape: &[u64], lanes_log2: u32, warps: u32) -> Option<Layout> {
        let rank = shape.len();
        let registers = self.below(6) as u32;
        let sizes = self.dealt(registers, rank);
        let lanes = self.dealt(lanes_log2, rank);
        let warps = self.dealt(warps.ilog2(), rank);
        let mut order: Vec<usize> = (0..rank).collect();
        for index in (1..rank).rev() {
            order.swap(index, self.below(index + 1));
        }
        Blocked::new(&sizes, &lanes, &warps, &order).layout(shape).ok()
    }
}

/// A recorded kernel and the warps of its blocks.
struct Recorded {
    name: String,
    kernel: Kernel,
    warps: u32,
}

fn texts(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ttir"));
    paths.sort();
    paths
}

fn read(path: &Path, warps: Option<u32>) -> Vec<Recorded> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).unwrap();
    let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let warps = warps.or(module.launch.warps).unwrap_or(4);
    let fused = |kernel: &Kernel| {
        let plain = scaled::run(kernel, |_| false).unwrap_or_else(|| kernel.clone());
        fuse::run(&plain, &[]).unwrap_or(plain)
    };
    let expanded = |kernel| descriptors::run(&kernel, &[]).unwrap_or(kernel);
    let kernels = module.kernels.iter().map(fused).map(expanded);
    kernels.map(|kernel| Recorded { name: name.clone(), kernel, warps }).collect()
}

fn recorded() -> Vec<Recorded> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["kernels", "examples", "crates/weft/tests/kernels"];
    folders
        .iter()
        .flat_map(|folder| texts(&root.join(folder)))
        .flat_map(|path| read(&path, None))
        .collect()
}

/// The kernels of a directory that somebody names.
fn others(folder: &Path) -> Vec<Recorded> {
    let table = std::fs::read_to_string(folder.join("times.tsv")).unwrap_or_default();
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = lines.next().unwrap_or_default();
    let column = |name| head.iter().position(|&column| column == name);
    let columns = column("file").zip(column("warps"));
    let rows: Vec<_> = lines.collect();
    let warps = |path: &Path| {
        let (file, warps) = columns?;
        let name = path.file_stem()?.to_str()?;
        rows.iter().find(|row| row.get(file) == Some(&name))?.get(warps)?.parse().ok()
    };
    texts(folder).iter().flat_map(|path| read(path, warps(path))).collect()
}

fn total(kernel: &Kernel, facts: &AxisFacts, block: Block<'_>, pins: &[Pin]) -> Option<u64> {
    Some(assign::run(kernel, facts, block, pins).ok()?.total()?.cost)
}

/// Tries so many pins of a kernel: those that cost less, as text.
fn tried(recorded: &Recorded, machine: &Machine, tries: usize, seed: u64) -> (usize, Vec<String>) {
    let Recorded { name, kernel, warps } = recorded;
    let facts = AxisFacts::of(kernel);
    let block = Block { machine, warps: *warps, shared_byte: 0, budget: &Budget::default() };
    let chosen = assign::run(kernel, &facts, block, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
    let Some(own) = chosen.total() else { return (0, Vec::new()) };
    let homes: Vec<Value> =
        kernel.values.keys().filter(|&value| chosen.home(value).is_some()).collect();
    if homes.is_empty() {
        return (0, Vec::new());
    }
    let mut dice = Dice(seed);
    let (mut made, mut found) = (0, Vec::new());
    for _ in 0..tries {
        let value = homes[dice.below(homes.len())];
        let shape = &kernel.ty(value).shape;
        let Some(layout) = dice.layout(shape, machine.lanes_log2, *warps) else { continue };
        let pin = [Pin { value, layout: layout.clone() }];
        let Some(pinned) = total(kernel, &facts, block, &pin) else { continue };
        made += 1;
        if pinned < own.cost - own.cost * NEARLY / 1000 {
            let (less, value) = (own.cost - pinned, kernel.value_name(value));
            let percent = less * 100 / own.cost;
            found.push(format!(
                "{name}: -{percent} % of {} (at least {}): {value} in {layout}",
                own.cost, own.bound
            ));
        }
    }
    (made, found)
}

fn try_all(kernels: &[Recorded], tries: usize) {
    let machine = Machine::by_name("sm_90").unwrap();
    let (mut made, mut found) = (0, Vec::new());
    for (index, recorded) in kernels.iter().enumerate() {
        let share = tries / kernels.len() + usize::from(index < tries % kernels.len());
        let (own, cheaper) = tried(recorded, machine, share, index as u64);
        made += own;
        if !KNOWN.contains(&recorded.name.as_str()) {
            found.extend(cheaper);
        }
    }
    assert!(found.is_empty(), "{} of {made} pins cost less:\n{}", found.len(), found.join("\n"));
}

#[test]
fn no_random_pin_costs_less() {
    let kernels = recorded();
    try_all(&kernels, kernels.len());
}

#[test]
#[ignore = "takes minutes"]
fn no_random_pin_of_thousands_costs_less() {
    let count = |name| std::env::var(name).ok()?.parse().ok();
    let mut kernels = recorded();
    if let Some(folder) = std::env::var_os("WEFT_KERNELS") {
        kernels.extend(others(Path::new(&folder)));
    }
    if let Ok(only) = std::env::var("WEFT_ONLY") {
        kernels.retain(|recorded| recorded.name.contains(&only));
    }
    try_all(&kernels, count("WEFT_RUNS").unwrap_or(5000));
}
