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
//! Registers with equal `Lr·register` share one lane map.

use alloc::{collections::BTreeMap, vec::Vec};

use super::builder::Builder;
use crate::{
    f2::{Echelon, Matrix, Subspace, extract_bits},
    layout::Layout,
    space::{BLOCK, LANE, Label, REGISTER, WARP},
    step::{File, LaneMap, Plan, Strategy, combine},
};

/// The blocks of `Y`, as columns.
struct Blocks {
    rr: Vec<u64>,
    rl: Vec<u64>,
    rw: Vec<u64>,
    lr: Vec<u64>,
    ll: Vec<u64>,
    lw: Vec<u64>,
    register_bits: u32,
}

/// The plan within warps, if there is one; `source` maps target places to source places.
pub(super) fn plan(source: &Layout, bits: u32) -> Option<Plan> {
    if !keeps_warp(source) {
        return None;
    }
    let block = |input: Label, output: Label| -> Vec<u64> {
        let columns = source.columns(input).iter();
        columns.map(|&place| source.outs().coordinate(output, place)).collect()
    };
    let blocks = Blocks {
        rr: block(REGISTER, REGISTER),
        rl: block(LANE, REGISTER),
        rw: block(WARP, REGISTER),
        lr: block(REGISTER, LANE),
        ll: block(LANE, LANE),
        lw: block(WARP, LANE),
        register_bits: source.out_bits(REGISTER),
    };
    let (lane_bits, warp_bits) = (source.in_bits(LANE), source.in_bits(WARP));
    let registers = 1_u32.checked_shl(blocks.register_bits)?;
    let mut builder = Builder::new(registers, bits, lane_bits, warp_bits);
    let input = File(0);
    let output = blocks.write(&mut builder, input)?;
    let exchanges = |step: &_| matches!(step, crate::step::Step::Exchange { .. });
    let mut plan = builder.plan;
    plan.outputs = [output].to_vec();
    plan.strategy = match () {
        () if plan.steps.is_empty() => Strategy::Nothing,
        () if plan.steps.iter().any(exchanges) => Strategy::Shuffles,
        () => Strategy::Registers,
    };
    Some(plan)
}

/// Whether every place reads its own warp.
fn keeps_warp(source: &Layout) -> bool {
    source.ins().labels().filter(|&label| label != BLOCK).all(|label| {
        source.columns(label).iter().enumerate().all(|(bit, &place)| {
            let stay = if label == WARP { 1 << bit } else { 0 };
            source.outs().coordinate(WARP, place) == stay
        })
    })
}

impl Blocks {
    fn write(&self, builder: &mut Builder, input: File) -> Option<File> {
        let skew = self.skew();
        let ll = add(&self.ll, &skew, &self.lr);
        let rl = add(&self.rl, &skew, &self.rr);
        let choice = factor(&rl, &ll, self.register_bits)?;
        // Seen from the lane that is read: register = rr·register + choice·lane + rw·warp.
        let rr = add(&self.rr, &self.lr, &choice);
        let rw = add(&self.rw, &self.lw, &choice);

        let (file, numbers) = Blocks::select_before(builder, input, &rr, &choice, &rw);
        let (file, places) = self.exchange(builder, file, &numbers, &rr, &ll);
        let expanded = (0..1_u64 << self.rr.len()).map(|r| combine(&places.0, r));
        let position = |compact: u64| places.1.get(compact as usize).copied().unwrap_or(0);
        let file = builder.permute(file, expanded.map(position).collect());
        Some(builder.shift(file, &skew, &[]))
    }

    /// `P`: for each lane bit the registers that it skews, so that lanes read distinct lanes.
    fn skew(&self) -> Vec<u64> {
        let mut echelon = Echelon::new();
        let idle: Vec<usize> = self
            .ll
            .iter()
            .enumerate()
            .filter_map(|(bit, &column)| (!echelon.grows(column)).then_some(bit))
            .collect();
        let mut skew = alloc::vec![0; self.ll.len()];
        let movers = self.lr.iter().enumerate().filter(|&(_, &column)| echelon.grows(column));
        for (&lane, (register, _)) in idle.iter().zip(movers) {
            skew[lane] = 1 << register;
        }
        skew
    }

    /// Gathers the source registers that are ever read and chooses among them by lane and warp.
    /// Returns the subspace of source registers that number the file.
    fn select_before(
        builder: &mut Builder,
        input: File,
        rr: &[u64],
        choice: &[u64],
        rw: &[u64],
    ) -> (File, Subspace) {
        let all: Vec<u64> = rr.iter().chain(choice).chain(rw).copied().collect();
        let numbers = Subspace::from_vectors(&all);
        let elements = numbers.elements().into_iter().flatten();
        let file = builder.permute(input, elements.map(|register| register as u32).collect());
        let compact = |columns: &[u64]| -> Vec<u64> {
            columns.iter().map(|&column| extract_bits(column, numbers.leads())).collect()
        };
        (builder.shift(file, &compact(choice), &compact(rw)), numbers)
    }

    /// Exchanges, one lane map for all registers that share it.
    /// Returns the file, and how a target register is found in it: a linear compact number, and the
    /// register of each compact number.
    fn exchange(
        &self,
        builder: &mut Builder,
        file: File,
        numbers: &Subspace,
        rr: &[u64],
        ll: &[u64],
    ) -> (File, (Vec<u64>, Vec<u32>)) {
        // Target registers that read the same register of the same lane are one.
        let mut echelon = Echelon::new();
        let mut kept = Vec::new();
        let mut compact = Vec::with_capacity(rr.len());
        for (&register, &lane) in rr.iter().zip(&self.lr) {
            let place = lane << self.register_bits | register;
            let (residue, known) = echelon.reduce(place, 0);
            compact.push(if residue == 0 {
                known
            } else {
                let own = 1 << kept.len();
                echelon.insert(place, own);
                kept.push((register, lane));
                own
            });
        }
        let mut classes: BTreeMap<u64, Vec<(usize, u32)>> = BTreeMap::new();
        let (registers, lanes): (Vec<u64>, Vec<u64>) = kept.iter().copied().unzip();
        for number in 0..1_u64 << kept.len() {
            let register = extract_bits(combine(&registers, number), numbers.leads());
            let class = classes.entry(combine(&lanes, number)).or_default();
            class.push((number as usize, register as u32));
        }
        let mut positions = alloc::vec![0; 1 << kept.len()];
        let mut files = Vec::with_capacity(classes.len());
        let mut next = 0;
        for (xor, class) in classes {
            for &(number, _) in &class {
                positions[number] = next;
                next += 1;
            }
            let part = builder.permute(file, class.iter().map(|entry| entry.1).collect());
            let map = LaneMap { lane: ll.to_vec(), warp: self.lw.clone(), xor };
            files.push(builder.exchange(part, map));
        }
        (builder.concat(files), (compact, positions))
    }
}

/// `base + outer·inner`, column by column of `inner`.
fn add(base: &[u64], inner: &[u64], outer: &[u64]) -> Vec<u64> {
    base.iter().zip(inner).map(|(&column, &place)| column ^ combine(outer, place)).collect()
}

/// `D` with `D·inner = target`, if there is one: its columns, one for each row of `inner`.
fn factor(target: &[u64], inner: &[u64], target_rows: u32) -> Option<Vec<u64>> {
    let rows = inner.len() as u32;
    let inner = Matrix::new(rows, inner).ok()?.transpose();
    let target = Matrix::new(target_rows, target).ok()?.transpose();
    Some(inner.solve(&target).ok()?.transpose().columns().to_vec())
}
