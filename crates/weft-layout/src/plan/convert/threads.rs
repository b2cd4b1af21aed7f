//! Conversions within a warp: registers renamed and selected, lanes exchanged.
//!
//! Let `Y` map each place of the target to the place of the source that it reads, within one warp:
//!
//! ```text
//! source register = Rr·register + Rl·lane + Rw·warp
//! source lane     = Lr·register + Ll·lane + Lw·warp
//! ```
//!
//! One exchange lets each lane read one register of one other lane, but the register is chosen by
//! the lane that is read.
//! So the target is first skewed by a map `P` of lanes to registers (undone by selects at the end)
//! that makes `Ll + Lr·P` as invertible as it can be, which frees pairs of lanes that would read
//! different registers of one lane; and then the choice of register is rewritten as a function `D`
//! of the lane read, which selects before the exchange carry out.
//! Where no such `P` exists, because a lane needs what several registers of one lane hold and has too
//! few target registers to receive them, each thread receives more registers than it keeps.
//! Registers with equal `Lr·register` share one lane map; elements narrower than a word can be packed
//! into words with others that do ([`Words`]).

use alloc::vec::Vec;

use super::{
    blocks::{Blocks, add},
    words::{Share, Words},
};
use crate::plan::{
    PlanError, key, priced, writing::builder::Builder, writing::fuse::fuse, writing::tidy::tidy,
};
use crate::{
    f2::{Echelon, Matrix, Subspace, extract_bits},
    layout::Layout,
    machine::{Machine, Prices},
    space::{LANE, WARP},
    step::{File, LaneMap, Plan, Step, Strategy, combine},
};

/// Movement within warps.
pub(in crate::plan) struct Exchanges {
    blocks: Blocks,
    lane_bits: u32,
    warp_bits: u32,
    /// The bits of an element.
    bits: u32,
}

impl Exchanges {
    /// `None` when a place reads another warp; `source` maps target places to source places.
    pub(in crate::plan) fn of(source: &Layout, bits: u32) -> Option<Exchanges> {
        let blocks = Blocks::of(source)?;
        let (lane_bits, warp_bits) = (source.in_bits(LANE), source.in_bits(WARP));
        Some(Exchanges { blocks, lane_bits, warp_bits, bits })
    }

    /// Whether every lane reads itself.
    pub(in crate::plan) fn stays(&self) -> bool {
        self.blocks.stays()
    }

    /// The cheapest plan with its cost, if one can cost less than `most` hundredths of a cycle; with
    /// `all` as many as there are.
    ///
    /// Elements narrower than a word travel alone, or packed as far as a word holds them; registers
    /// and lanes change places all at once, or first one or two bits on their own.
    /// Choices are part of byte permutes only where the plan is then `shown` to be right at once: bytes
    /// that nobody looks at may be no affine function of the thread.
    pub(in crate::plan) fn plans(
        &self,
        machine: &Machine,
        mut most: u64,
        all: bool,
        shown: impl Fn(&Plan) -> bool,
    ) -> Result<Vec<Plan>, PlanError> {
        let prices = &machine.prices;
        let together = (32 / self.bits.max(1)).max(1).ilog2();
        let (swaps, rests) = self.stages();
        let stages = [&self.blocks].into_iter().chain(&rests).enumerate();
        let ways = stages.flat_map(|(count, rest)| {
            (0..=together).map(move |packed| {
                (self.least(count as u64, rest, packed, prices), count, rest, packed)
            })
        });
        let mut ways: Vec<_> = ways.collect();
        ways.sort_by_key(|way| way.0);
        let mut plans: Vec<Plan> = Vec::new();
        for (least, count, rest, packed) in ways {
            // Where not all of a word is used, more travel anyway.
            let full = packed > 0 && packed == together;
            let shares = if full { &Share::ALL[..] } else { &Share::ALL[..1] };
            let mut least = least;
            let mut tried: Vec<Plan> = Vec::new();
            for &share in shares {
                if least >= most && !all {
                    break;
                }
                let Some(plan) = self.plan(&swaps[..count], rest, packed, share) else { break };
                if tried.contains(&plan) {
                    continue;
                }
                tried.push(plan.clone());
                let plan = priced(tidy(&plan).unwrap_or(plan), machine)?;
                // As many words travel whichever elements share them; only choices may take less.
                least = least.max(prices.shuffle.saturating_mul(plan.cost.shuffles));
                // A byte permute stands for two choices of each element of a word, at most.
                let choices = plan.cost.alu >> (together + 1);
                let fused = least.max(prices.alu.saturating_mul(choices));
                let slow = plan.cost.total > fused && (fused < most || all);
                let fused = slow.then(|| fuse(&plan)).flatten().and_then(|plan| tidy(&plan));
                most = most.min(plan.cost.total);
                plans.push(plan);
                let Some(fused) = fused else { continue };
                let fused = priced(fused, machine)?;
                if (fused.cost.total < most || all) && shown(&fused) {
                    most = most.min(fused.cost.total);
                    plans.push(fused);
                }
            }
        }
        if !all {
            // The first one of those that are equal.
            let best = plans.into_iter().reduce(|a, b| if key(&b) < key(&a) { b } else { a });
            plans = best.into_iter().collect();
        }
        Ok(plans)
    }

    /// The bits that may change places on their own, one after the other, and what is left to do after
    /// each.
    fn stages(&self) -> (Vec<Blocks>, Vec<Blocks>) {
        let (mut swaps, mut rests) = (Vec::new(), Vec::new());
        loop {
            let rest = rests.last().unwrap_or(&self.blocks);
            // Where one bit is all there is, it goes together with everything else.
            let mixed = rest.mixed();
            if swaps.len() >= STAGES || mixed == 0 || mixed == 1 && swaps.is_empty() {
                return (swaps, rests);
            }
            let Some((swap, next)) = rest.without_one() else { return (swaps, rests) };
            swaps.push(swap);
            rests.push(next);
        }
    }

    fn plan(&self, swaps: &[Blocks], rest: &Blocks, packed: u32, share: Share) -> Option<Plan> {
        let registers = 1_u32.checked_shl(self.blocks.register_bits)?;
        let mut builder = Builder::new(registers, self.bits, self.lane_bits, self.warp_bits);
        for stage in swaps.iter().chain([rest]) {
            builder.moved = stage.write(&mut builder, packed, share)?;
        }
        let exchanges = |step: &_| matches!(step, Step::Exchange { .. });
        let Builder { mut plan, moved } = builder;
        plan.outputs = [moved].to_vec();
        plan.strategy = match () {
            () if plan.steps.is_empty() => Strategy::Nothing,
            () if plan.steps.iter().any(exchanges) => Strategy::Shuffles,
            () => Strategy::Registers,
        };
        Some(plan)
    }

    /// Less than a plan costs: half of the words travel for each bit on its own, with three selects for
    /// each two words; all words where lanes change places among themselves, and a select of each word
    /// for each lane bit that skews registers. What is chosen before words travel may be part of
    /// packing them, or nothing.
    fn least(&self, swaps: u64, rest: &Blocks, packed: u32, prices: &Prices) -> u64 {
        let registers = 1_u64 << rest.read().min(32);
        let words =
            |registers: u64| (registers >> packed).max(1) * u64::from(self.bits.div_ceil(32));
        let swapped = swaps * (words(1 << self.blocks.sources().min(32)) / 2);
        let half = words(registers) / 2;
        let travel = match () {
            () if !rest.keeps_lanes() => words(registers),
            () if rest.mixed() > 0 => half,
            () => 0,
        };
        // A byte permute chooses among the elements of a word, and between two words.
        let idle = u64::from(rest.idle());
        let narrow = 32 / self.bits.clamp(1, 32);
        let among_words = 2 * idle.saturating_sub(u64::from(narrow.ilog2()));
        let levels = among_words.max(u64::from(idle > 0 && packed > 0));
        let each = if narrow > 1 { 1 } else { 3 };
        let alu = each * swapped + half * levels;
        (prices.shuffle * (swapped + travel)).max(prices.alu * alu)
    }
}

/// The most bits that change places on their own.
const STAGES: usize = 2;

impl Blocks {
    /// Writes the plan with 2^`packed` elements in a word; `None` when no so many travel together.
    fn write(&self, builder: &mut Builder, packed: u32, share: Share) -> Option<File> {
        let (kept, mut skew) = (self.rr.len(), self.skew());
        let more = self.received(&mut skew)?;
        let wider;
        let blocks = if more.is_empty() {
            self
        } else {
            wider = self.widened(&more);
            &wider
        };
        blocks.write_skewed(builder, packed, share, &skew, kept)
    }

    /// Writes the plan whose target registers are skewed by `skew`, of which the first 2^`kept` are
    /// wanted.
    fn write_skewed(
        &self,
        builder: &mut Builder,
        packed: u32,
        share: Share,
        skew: &[u64],
        kept: usize,
    ) -> Option<File> {
        let ll = add(&self.ll, skew, &self.lr);
        let rl = add(&self.rl, skew, &self.rr);
        let choice = factor(&rl, &ll, self.register_bits)?;
        // Seen from the lane that is read: register = rr·register + choice·lane + rw·warp.
        let rr = add(&self.rr, &self.lr, &choice);
        let rw = add(&self.rw, &self.lw, &choice);

        let all: Vec<u64> = rr.iter().chain(&choice).chain(&rw).copied().collect();
        let numbers = Subspace::from_vectors(&all);
        let compact = |columns: &[u64]| -> Vec<u64> {
            columns.iter().map(|&column| extract_bits(column, numbers.leads())).collect()
        };
        let mut targets = Targets::new(&compact(&rr), &self.lr, numbers.dim());
        let skew: Vec<u64> = skew.iter().map(|&r| combine(&targets.numbers, r)).collect();
        targets.numbers.truncate(kept);
        let (choice, rw) = (compact(&choice), compact(&rw));
        let chosen: Vec<u64> = choice.iter().chain(&rw).copied().collect();
        let word = u64::from((4 / builder.bytes_of(&[builder.moved]).max(1)).max(1));
        let inside = numbers.basis().zip(0..).filter(|register| register.0 < word);
        let together = inside.fold(0, |mask, (_, bit)| mask | 1 << bit);
        let words = Words::new(&targets, &chosen, together, numbers.dim(), packed, share)?;

        let registers: Vec<u64> = numbers.basis().collect();
        let file = words.pack(builder, &registers, &choice, &rw);
        let file = words.exchange(builder, file, &targets, |xor| LaneMap {
            lane: ll.clone(),
            warp: self.lw.clone(),
            xor,
        });
        Some(words.unpack(builder, file, &targets, &skew))
    }
}

/// The target registers, of which those that read one register of one lane are one.
pub(in crate::plan) struct Targets {
    /// For each target register bit its part in the numbers of those that are read.
    pub(in crate::plan) numbers: Vec<u64>,
    /// For each number bit the source register read.
    pub(in crate::plan) registers: Vec<u64>,
    /// For each number bit what it adds to the lane read.
    pub(in crate::plan) lanes: Vec<u64>,
}

impl Targets {
    fn new(registers: &[u64], lanes: &[u64], register_bits: u32) -> Targets {
        let mut echelon = Echelon::new();
        let mut targets = Targets { numbers: Vec::new(), registers: Vec::new(), lanes: Vec::new() };
        for (&register, &lane) in registers.iter().zip(lanes) {
            let place = lane << register_bits | register;
            let (residue, known) = echelon.reduce(place, 0);
            targets.numbers.push(if residue == 0 {
                known
            } else {
                let own = 1 << targets.registers.len();
                echelon.insert(place, own);
                targets.registers.push(register);
                targets.lanes.push(lane);
                own
            });
        }
        targets
    }
}

/// `D` with `D·inner = target`, if there is one: its columns, one for each row of `inner`.
fn factor(target: &[u64], inner: &[u64], target_rows: u32) -> Option<Vec<u64>> {
    let rows = inner.len() as u32;
    let inner = Matrix::new(rows, inner).ok()?.transpose();
    let target = Matrix::new(target_rows, target).ok()?.transpose();
    Some(inner.solve(&target).ok()?.transpose().columns().to_vec())
}
