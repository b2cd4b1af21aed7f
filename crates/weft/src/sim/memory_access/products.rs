//! Products of a warpgroup in flight.
//!
//! Each warp computes its 16 rows. It reads the factors at its operation or at its wait, as
//! [`Timing`](crate::sim::Timing) says; for the race detector it reads them at both, and to write them in
//! between is a finding. Until the wait a register holds a *token* in place of a sum: bit 63, the number of the
//! product, and in the low bits which of its accumulators it is.

use super::{Hit, accessor, report_conflicts};
use crate::lane::{Inst, WarpgroupMultiply};
use crate::sim::program::{ProductOp, Row, WaitOp};
use crate::sim::report::{Actor, FindingKind};
use crate::sim::schedule::{Block, World};
use crate::sim::shadow::SEVERAL;
use crate::sim::warp::{Warp, row};
use crate::sim::warpgroup::{self, Factor, PIECE, ROWS};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// What tells a token from a number.
const TOKEN: u64 = 1 << 63;
/// Where in a token the product's number starts.
const NUMBER: u32 = 16;

/// Words of a warp, each of all lanes.
type Words = Vec<Vec<u64>>;

/// The left factor of a product.
#[derive(Clone, PartialEq, Debug)]
enum Left {
    Words(Words),
    Descriptor(u64),
}

/// A product and its operands.
#[derive(Clone, PartialEq, Debug)]
struct Product {
    number: u64,
    /// Which of the code's.
    index: u32,
    left: Left,
    right: u64,
    /// What is added to, which may be tokens; none where that counts as zero.
    start: Option<Words>,
}

/// The products of a warp.
#[derive(Clone, Default, PartialEq, Debug)]
pub(in crate::sim) struct Products {
    open: Vec<Product>,
    groups: VecDeque<Vec<Product>>,
    /// The sums of those that are computed.
    sums: FxHashMap<u64, Words>,
    begun: u64,
}

impl Products {
    pub(in crate::sim) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(in crate::sim) fn commit(&mut self) {
        self.groups.push_back(core::mem::take(&mut self.open));
    }

    /// The numbers that registers stand for.
    fn resolve(&self, words: &mut [u64]) {
        for (lane, word) in words.iter_mut().enumerate().filter(|(_, word)| **word & TOKEN != 0) {
            let (number, place) = ((*word & !TOKEN) >> NUMBER, *word & ((1 << NUMBER) - 1));
            let sums = self.sums.get(&number).and_then(|sums| sums.get(place as usize));
            *word = sums.and_then(|sums| sums.get(lane)).copied().unwrap_or(0);
        }
    }

    /// The product that registers stand for, if they do.
    fn number_of(words: &[u64]) -> Option<u64> {
        let token = words.first().filter(|word| **word & TOKEN != 0)?;
        Some((token & !TOKEN) >> NUMBER)
    }
}

/// What the warps of a warpgroup do together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::sim) struct Step {
    pub(in crate::sim) inst: Inst,
    /// The descriptors, and whether the accumulators count.
    operands: [u64; 3],
}

/// The steps of a warpgroup that some of its warps have not come to.
#[derive(Clone, Default, Debug)]
struct Log {
    steps: VecDeque<(Step, u32)>,
    /// How many steps came before those.
    passed: usize,
    /// How many steps each warp has taken.
    taken: [usize; WarpgroupMultiply::WARPS as usize],
}

impl Log {
    /// A warp takes its next step; gives the one that another warp has taken instead.
    fn take(&mut self, warp: u32, step: Step) -> Option<(Step, u32)> {
        let place = warp as usize % self.taken.len();
        let at = self.taken[place] - self.passed;
        self.taken[place] += 1;
        let other = self.steps.get(at).copied().filter(|(other, _)| *other != step);
        if at == self.steps.len() {
            self.steps.push_back((step, warp));
        }
        while self.taken.iter().all(|&taken| taken > self.passed) {
            self.steps.pop_front();
            self.passed += 1;
        }
        other
    }
}

/// The products of a block.
#[derive(Clone, Default, Debug)]
pub(in crate::sim) struct Warpgroups {
    logs: Vec<Log>,
    /// For each piece of shared memory how many products may read it, and the memory operation of one.
    reading: FxHashMap<usize, (u32, u32)>,
}

impl Warpgroups {
    pub(in crate::sim) fn reset(&mut self, warps: u32) {
        let groups = warps.div_ceil(WarpgroupMultiply::WARPS) as usize;
        (self.logs, self.reading) = (vec![Log::default(); groups], FxHashMap::default());
    }

    /// A step to which some warps of a group never came, and a warp that did.
    pub(in crate::sim) fn missed(&self) -> Option<(Inst, u32)> {
        let first = |log: &Log| log.steps.front().map(|(step, warp)| (step.inst, *warp));
        self.logs.iter().find_map(first)
    }

    /// The memory operation of a product that may read some of these bytes.
    pub(super) fn reading(&self, offset: usize, bytes: u32) -> Option<u32> {
        let pieces = offset / PIECE as usize..(offset + bytes as usize).div_ceil(PIECE as usize);
        pieces.into_iter().find_map(|piece| self.reading.get(&piece)).map(|(_, index)| *index)
    }
}

/// Reports a write of bytes that a product in flight may read.
pub(super) fn check_written(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    index: u32,
    pattern: &super::Pattern,
) {
    if block.warpgroups.reading.is_empty() {
        return;
    }
    let op = &world.code.memory[index as usize];
    for lane in super::lanes_of(pattern.active) {
        let offset = pattern.addresses[lane] as usize;
        let Some(product) = block.warpgroups.reading(offset, op.bytes) else { continue };
        let actor = world.actor(block, warp.index, Some(lane as u32), op.inst);
        let site = &world.accesses[product as usize];
        let other = Actor { inst: site.inst, loc: site.loc, lane: None, ..actor };
        world.findings.add(FindingKind::InFlight, actor, Some(other), || {
            format!(
                "byte {offset} of shared memory is written while a product in flight may read it"
            )
        });
        return;
    }
}

/// All warps of a warpgroup take the same steps.
pub(in crate::sim) fn step(
    warp: &Warp,
    block: &mut Block,
    world: &mut World<'_>,
    inst: Inst,
    operands: [u64; 3],
) {
    let group = (warp.index / WarpgroupMultiply::WARPS) as usize;
    let Some(log) = block.warpgroups.logs.get_mut(group) else { return };
    let Some((step, by)) = log.take(warp.index, Step { inst, operands }) else { return };
    let actor = world.actor(block, warp.index, None, inst);
    let other = world.actor(block, by, None, step.inst);
    world.findings.add(FindingKind::Divergence, actor, Some(other), || {
        let what = if step.inst == inst { "with other operands" } else { "at another operation" };
        format!("the warps of a warpgroup take their steps together, and warp {by} is {what}")
    });
}

/// The value that all lanes have; reports where they differ.
fn uniform(warp: &Warp, block: &Block, world: &mut World<'_>, inst: Inst, of: Row) -> u64 {
    let lanes = world.code.lanes as usize;
    let words = row(&warp.registers, &world.code.constants, of, lanes);
    if words.iter().any(|word| *word != words[0]) {
        let actor = world.actor(block, warp.index, None, inst);
        let told = || "an operand of a product of a warpgroup differs between lanes".into();
        world.findings.add(FindingKind::Divergence, actor, None, told);
    }
    words[0]
}

fn words(warp: &Warp, world: &World<'_>, rows: &[Row]) -> Words {
    let lanes = world.code.lanes as usize;
    let word = |&of: &Row| row(&warp.registers, &world.code.constants, of, lanes).to_vec();
    rows.iter().map(word).collect()
}

/// Begins a product: it takes its words, and is in flight from then on.
pub(in crate::sim) fn begin(warp: &mut Warp, block: &mut Block, world: &mut World<'_>, index: u32) {
    let code = world.code;
    let op = &code.products[index as usize];
    let ProductOp { multiply, left, right, keep, start, results, inst, .. } = op;
    let right = uniform(warp, block, world, *inst, *right);
    let keeps = keep.is_none_or(|keep| uniform(warp, block, world, *inst, keep) & 1 == 1);
    let (left, descriptor) = if multiply.left_in_registers {
        (Left::Words(words(warp, world, left)), 0)
    } else {
        let descriptor = uniform(warp, block, world, *inst, left[0]);
        (Left::Descriptor(descriptor), descriptor)
    };
    step(warp, block, world, *inst, [descriptor, right, u64::from(keeps)]);
    if [descriptor, right].into_iter().any(Factor::has_base_offset) {
        let actor = world.actor(block, warp.index, None, *inst);
        let told = || "a descriptor with a base offset, which nothing here gives a meaning".into();
        world.findings.add(FindingKind::Misaligned, actor, None, told);
    }
    let number = warp.products.begun;
    warp.products.begun += 1;
    let start = keeps.then(|| words(warp, world, start));
    let lanes = code.lanes as usize;
    for (place, &result) in results.iter().enumerate() {
        let token = TOKEN | number << NUMBER | place as u64;
        warp.registers[result as usize..][..lanes].fill(token);
    }
    let product = Product { number, index, left, right, start };
    read(warp, block, world, &product, Turn::Begins);
    warp.products.open.push(product);
    if world.happens_early() {
        // Products take place in the order in which they began.
        let Products { groups, open, sums, .. } = &warp.products;
        let begun = groups.iter().flatten().chain(open);
        let left = begun.filter(|product| !sums.contains_key(&product.number));
        for product in left.cloned().collect::<Vec<_>>() {
            compute(warp, block, world, &product);
        }
    }
}

/// Waits for all groups but the latest ones, and gives back what is listed.
pub(in crate::sim) fn wait(warp: &mut Warp, block: &mut Block, world: &mut World<'_>, op: &WaitOp) {
    while warp.products.groups.len() > op.pending as usize {
        for product in warp.products.groups.pop_front().into_iter().flatten() {
            if !warp.products.sums.contains_key(&product.number) {
                compute(warp, block, world, &product);
            }
            read(warp, block, world, &product, Turn::Ends);
        }
    }
    let mut listed = words(warp, world, &op.from);
    for words in &mut listed {
        warp.products.resolve(words);
    }
    let lanes = world.code.lanes as usize;
    for (words, &to) in listed.iter().zip(&op.to) {
        warp.registers[to as usize..][..lanes].copy_from_slice(words);
    }
}

/// The sums of a product.
fn compute(warp: &mut Warp, block: &Block, world: &World<'_>, product: &Product) {
    let multiply = world.code.products[product.index as usize].multiply;
    let numbers = |side: Side| {
        let Some((factor, lines, summed)) = side.factor(warp.index, multiply, product) else {
            return Vec::new();
        };
        warpgroup::read(factor, lines, summed, |address| {
            let bytes = block.shared.get(address as usize..).and_then(<[u8]>::first_chunk);
            bytes.copied().unwrap_or_default()
        })
    };
    let left = match &product.left {
        Left::Words(words) => warpgroup::left(multiply, words),
        Left::Descriptor(_) => numbers(Side::Left),
    };
    let right = numbers(Side::Right);
    let start = product.start.clone().map(|mut words| {
        let before = words.first().and_then(|words| Products::number_of(words));
        for words in &mut words {
            warp.products.resolve(words);
        }
        // Nothing else may look at it.
        before.map(|before| warp.products.sums.remove(&before));
        words
    });
    let sums = warpgroup::product(multiply, [&left, &right], start.as_deref());
    warp.products.sums.insert(product.number, sums);
}

/// A factor of a product.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

impl Side {
    /// The factor if it is in shared memory, which rows (or columns) of it a warp needs, and how many numbers
    /// are summed.
    fn factor(
        self,
        warp: u32,
        multiply: WarpgroupMultiply,
        product: &Product,
    ) -> Option<(Factor, (u32, u32), u32)> {
        let [left, right] = multiply.transposed;
        let summed = u32::from(multiply.summed);
        let rows = ROWS as u32;
        match (self, &product.left) {
            (Side::Left, Left::Words(_)) => None,
            (Side::Left, Left::Descriptor(descriptor)) => {
                let factor = Factor::new(*descriptor, multiply.left.bits(), left);
                Some((factor, (warp % WarpgroupMultiply::WARPS * rows, rows), summed))
            }
            (Side::Right, _) => {
                let factor = Factor::new(product.right, multiply.right.bits(), right);
                Some((factor, (0, u32::from(multiply.columns)), summed))
            }
        }
    }
}

/// When a product's reads are looked at.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Begins,
    Ends,
}

/// Holds what a product reads against the rules, and remembers that it does. The unit that multiplies may read
/// all rows of the left factor on behalf of any warp of the group.
fn read(warp: &Warp, block: &mut Block, world: &mut World<'_>, product: &Product, turn: Turn) {
    let op = &world.code.products[product.index as usize];
    let multiply = op.multiply;
    for side in [Side::Left, Side::Right] {
        let Some((factor, lines, summed)) = side.factor(warp.index, multiply, product) else {
            continue;
        };
        let all = match side {
            Side::Left => (0, WarpgroupMultiply::ROWS),
            Side::Right => lines,
        };
        let mut pieces = Vec::new();
        warpgroup::read(factor, all, summed, |address| {
            pieces.push(address as usize);
            [0; PIECE as usize]
        });
        for offset in pieces {
            piece(warp, block, world, op, offset, turn);
        }
    }
    report_conflicts(warp, block, world, op.access, Hit::Shared);
}

fn piece(
    warp: &Warp,
    block: &mut Block,
    world: &mut World<'_>,
    op: &ProductOp,
    offset: usize,
    turn: Turn,
) {
    let size = block.shared.len();
    let actor = world.actor(block, warp.index, None, op.inst);
    if offset + PIECE as usize > size {
        world.findings.add(FindingKind::OutOfRange, actor, None, || {
            format!("{PIECE} bytes at byte {offset} of shared memory, of which a block has {size}")
        });
        return;
    }
    let by = accessor(&warp.knowledge, warp.index, block, world, op.access, Hit::Shared, true);
    block.shadow.access(&by, false, offset, PIECE, SEVERAL, &mut world.conflicts);
    super::copies::check_read(block, world, actor, offset, PIECE);
    super::transfers::check_bytes(warp, block, world, actor, false, (offset, PIECE));
    let reading = &mut block.warpgroups.reading;
    let piece = offset / PIECE as usize;
    match turn {
        Turn::Begins => reading.entry(piece).or_insert((0, op.access)).0 += 1,
        Turn::Ends => {
            if let Some((count, _)) = reading.get_mut(&piece) {
                *count -= 1;
                if *count == 0 {
                    reading.remove(&piece);
                }
            }
            return;
        }
    }
    let Some((byte, written)) = block.proxies.unseen(warp.index, &warp.knowledge, offset, PIECE)
    else {
        return;
    };
    let site = &world.accesses[written.site as usize];
    let (inst, loc, lane) = (site.inst, site.loc, Some(written.lane));
    let other = Actor { inst, loc, warp: written.warp, lane, ..actor };
    world.findings.add(FindingKind::Unfenced, actor, Some(other), || {
        format!(
            "byte {byte} of shared memory, written by {other}, is read by a product with no fence between \
             proxies after the write"
        )
    });
}
