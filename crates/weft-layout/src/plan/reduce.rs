//! Reductions along one axis.
//!
//! A *plain* layout has no basis that moves along the axis and across it at once; then the places of
//! one fibre differ in registers, lanes and warps independently, and the reduction is three loops:
//! registers of a thread are combined pairwise, lanes exchange partial results across each lane bit
//! of the axis, and warps leave partial results in shared memory for all to read.
//! Bits that only make copies take no part, so that no element counts twice.
//! Any other layout is converted to a plain one first, and its result back.

use alloc::{vec, vec::Vec};

use super::{
    PlanError, check_layout, choose,
    memory::{Elements, permute},
    partials::{Exchange, Partials},
    priced, stored_bits,
    swizzle::Side,
};
use crate::{
    f2::{Echelon, ones},
    family::{Blocked, slice},
    layout::{Layout, LayoutError},
    machine::Machine,
    space::{BLOCK, LANE, Label, REGISTER, WARP},
    step::{File, FileType, LaneMap, Operator, Plan, Scope, Step, Strategy, combine},
    witness,
};

/// A reduction and where it leaves its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The steps; the operator of its combinations is [`Operator`] 0.
    pub plan: Plan,
    /// The layout of the result: the source without the axis ([`slice()`]).
    pub result: Layout,
}

/// A plan that reduces a tuple of operands, all in layout `layout`, along axis `dim`.
///
/// `element_bits` are the widths of the operands, each 1 to 64; the operator takes two tuples to
/// one, is associative and commutative, and otherwise opaque.
/// The plan has been accepted by the witness.
///
/// Fails when the layout does not fit the machine, or the axis reaches over several blocks.
pub fn reduce(
    layout: &Layout,
    dim: usize,
    element_bits: &[u32],
    machine: &Machine,
) -> Result<Reduction, PlanError> {
    check_layout(layout, machine)?;
    let result = slice(layout, dim)?;
    if let Some(bit) = first_crossing_block(layout, dim) {
        return Err(PlanError::CrossesBlocks { label: BLOCK, bit });
    }
    let bits: Vec<u32> =
        element_bits.iter().map(|&bits| stored_bits(bits)).collect::<Result<_, _>>()?;
    let types: Vec<FileType> = (bits.iter())
        .map(|&bits| FileType { registers: 1 << layout.in_bits(REGISTER), element_bits: bits })
        .collect();
    let mut best: Option<Plan> = None;
    for order in [Partials::Together, Partials::Apart] {
        let mut plan = Plan::new(&types, layout.in_bits(LANE), layout.in_bits(WARP));
        plan.strategy = Strategy::Reduction;
        write(&mut plan, layout, dim, &result, machine, order)?;
        let plan = priced(plan, machine)?;
        if best.as_ref().is_none_or(|best| plan.cost.total < best.cost.total) {
            best = Some(plan);
        }
    }
    let plan = best.ok_or(PlanError::TooLarge)?;
    if plan.scratch_bytes > machine.shared_bytes_per_block {
        let available = machine.shared_bytes_per_block;
        return Err(PlanError::Scratch { needed: plan.scratch_bytes, available });
    }
    witness::reduction_by_bases(&plan, layout, dim, &result).map_err(PlanError::Refused)?;
    if cfg!(debug_assertions) {
        witness::reduction(&plan, layout, dim, &result).map_err(PlanError::Refused)?;
    }
    Ok(Reduction { plan, result })
}

/// The first block bit that moves along the axis.
fn first_crossing_block(layout: &Layout, dim: usize) -> Option<u32> {
    let axis = layout.outs().mask(Label::dim(dim as u32));
    let mut blocks = layout.columns(BLOCK).iter().zip(0..);
    blocks.find(|(column, _)| *column & axis != 0).map(|(_, bit)| bit)
}

fn write(
    plan: &mut Plan,
    layout: &Layout,
    dim: usize,
    result: &Layout,
    machine: &Machine,
    order: Partials,
) -> Result<(), PlanError> {
    if let Some(plain) = Plain::of(layout, dim) {
        plain.write(plan, machine, order);
        return Ok(());
    }
    let plain = plain_layout(layout, dim, machine)?;
    convert_outputs(plan, layout, &plain, machine)?;
    let reduced = slice(&plain, dim)?;
    Plain::of(&plain, dim).ok_or(PlanError::TooLarge)?.write(plan, machine, order);
    convert_outputs(plan, &reduced, result, machine)
}

/// A blocked layout with as many lanes and warps, the same blocks, and the axis in registers as far
/// as possible.
fn plain_layout(layout: &Layout, dim: usize, machine: &Machine) -> Result<Layout, PlanError> {
    let shape = layout.shape();
    let rank = shape.len();
    let mut order: Vec<usize> = (0..rank).rev().filter(|&other| other != dim).collect();
    order.push(dim);
    // The part of the tensor that one block holds must be a box for this.
    let blocks = layout.columns(BLOCK).to_vec();
    if blocks.iter().any(|&column| column != 0) {
        return Err(PlanError::CrossesBlocks { label: BLOCK, bit: 0 });
    }
    let warps = 1_u64.checked_shl(layout.in_bits(WARP)).ok_or(PlanError::TooLarge)?;
    let lanes = machine.lanes().into();
    let blocked = Blocked::for_memory(&shape, &vec![1; rank], &order, lanes, warps)?;
    let plain = blocked.layout(&shape)?;
    let zeros = vec![0; blocks.len()];
    let axis =
        crate::space::Space::new(&[(BLOCK, blocks.len() as u32)]).map_err(LayoutError::from)?;
    let ins = plain.restrict_ins(&[REGISTER, LANE, WARP])?;
    Ok(ins.concat_ins(&Layout::new(axis, plain.outs().clone(), &zeros)?)?)
}

/// Appends the conversion of every output.
fn convert_outputs(
    plan: &mut Plan,
    from: &Layout,
    to: &Layout,
    machine: &Machine,
) -> Result<(), PlanError> {
    for operand in 0..plan.outputs.len() {
        let bits = plan.file(plan.outputs[operand]).element_bits;
        let conversion = choose(from, to, bits, machine)?;
        append(plan, operand, conversion);
    }
    Ok(())
}

/// Appends a plan of one operand, in scratch memory of its own.
fn append(plan: &mut Plan, operand: usize, other: Plan) {
    let base = reserve(plan, other.scratch_bytes);
    let first = plan.files.len() as u16;
    let input = plan.outputs[operand];
    // The only input of `other` is its file 0.
    let rename = |file: File| if file.0 == 0 { input } else { File(first + file.0 - 1) };
    plan.files.extend_from_slice(other.files.get(1..).unwrap_or_default());
    for step in other.steps {
        plan.steps.push(renamed(step, rename, base));
    }
    plan.outputs[operand] = other.outputs.first().copied().map_or(input, rename);
}

/// Reserves scratch memory; the base is a multiple of the size rounded up to a power of two, so that
/// addresses in it add by exclusive-or.
fn reserve(plan: &mut Plan, bytes: u64) -> u64 {
    if bytes == 0 {
        return plan.scratch_bytes;
    }
    let align = bytes.next_power_of_two();
    let base = plan.scratch_bytes.next_multiple_of(align);
    plan.scratch_bytes = base + bytes;
    base
}

fn renamed(step: Step, rename: impl Fn(File) -> File, base: u64) -> Step {
    let all = |files: Vec<File>| files.into_iter().map(&rename).collect();
    match step {
        Step::Permute { from, to, source } => {
            Step::Permute { from: rename(from), to: rename(to), source }
        }
        Step::Concat { from, to } => Step::Concat { from: all(from), to: rename(to) },
        Step::Select { even, odd, to, odd_where } => {
            Step::Select { even: rename(even), odd: rename(odd), to: rename(to), odd_where }
        }
        Step::Bytes { a, b, to, selector } => {
            Step::Bytes { a: rename(a), b: rename(b), to: rename(to), selector }
        }
        Step::Exchange { from, to, source } => {
            Step::Exchange { from: rename(from), to: rename(to), source }
        }
        Step::Access(mut access) => {
            access.file = rename(access.file);
            access.groups.iter_mut().for_each(|group| group.address ^= base);
            Step::Access(access)
        }
        Step::Barrier(scope) => Step::Barrier(scope),
        Step::Combine { operator, a, b, to, ordered } => {
            Step::Combine { operator, a: all(a), b: all(b), to: all(to), ordered }
        }
    }
}

/// A layout whose bases move either along the axis or across it.
struct Plain {
    /// Elements without the axis; zero for bases along the axis.
    across: Side,
    /// Register bits along the axis that are no copies.
    registers: u64,
    /// Lane bits along the axis that are no copies.
    lanes: u64,
    /// Warp bits along the axis that are no copies.
    warps: u64,
    /// Register bits that remain in the result.
    kept: Vec<u32>,
}

impl Plain {
    /// `None` when a basis moves both along and across.
    fn of(layout: &Layout, dim: usize) -> Option<Plain> {
        let axis = layout.outs().mask(Label::dim(dim as u32));
        let mut echelon = Echelon::new();
        let mut along = |label: Label| -> Option<u64> {
            let mut mask = 0;
            for (bit, &column) in layout.columns(label).iter().enumerate() {
                if column & axis != 0 {
                    if column & !axis != 0 {
                        return None;
                    }
                    mask |= u64::from(echelon.grows(column)) << bit;
                }
            }
            Some(mask)
        };
        let (registers, lanes, warps) = (along(REGISTER)?, along(LANE)?, along(WARP)?);
        let sliced = layout.slice(dim).ok()?;
        let kept = sliced.columns(REGISTER).iter().zip(0..).filter(|entry| *entry.0 != 0);
        let kept = kept.map(|entry| entry.1).collect();
        let across = Elements::of(&sliced).side(&sliced);
        Some(Plain { across, registers, lanes, warps, kept })
    }

    fn write(&self, plan: &mut Plan, machine: &Machine, order: Partials) {
        self.within_threads(plan);
        for bit in ones(self.lanes) {
            let map = LaneMap::butterfly(plan.lane_bits, 1 << bit);
            let others = each(plan, |plan, from| {
                let to = plan.add_file(plan.file(from).registers, plan.file(from).element_bits);
                plan.steps.push(Step::Exchange { from, to, source: map.clone() });
                to
            });
            combine_files(plan, plan.outputs.clone(), others);
        }
        if self.warps != 0 {
            self.across_warps(plan, machine, order);
        }
    }

    /// Combines the registers of each thread that differ along the axis.
    fn within_threads(&self, plan: &mut Plan) {
        let mut bits: Vec<u32> = self.kept.clone();
        bits.extend(ones(self.registers));
        let columns: Vec<u64> = bits.iter().map(|&bit| 1 << bit).collect();
        let source: Vec<u32> =
            (0..1_u64 << bits.len()).map(|r| combine(&columns, r) as u32).collect();
        plan.outputs = each(plan, |plan, file| permute(plan, file, source.clone()));
        for _ in ones(self.registers) {
            halve(plan);
        }
    }

    /// Leaves the results of each warp in memory and combines those of all warps in each thread.
    fn across_warps(&self, plan: &mut Plan, machine: &Machine, order: Partials) {
        let kept = |columns: &[u64]| self.kept.iter().map(|&b| columns[b as usize]).collect();
        let side = Side { registers: kept(&self.across.registers), ..self.across.clone() };
        let exchange = Exchange::new(&side, self.warps, order);
        let stored = plan.outputs.clone();
        let bases: Vec<u64> = stored
            .iter()
            .map(|&file| {
                let bytes = u64::from(plan.file(file).element_bits / 8) << exchange.bits();
                reserve(plan, bytes)
            })
            .collect();
        for (&file, &base) in stored.iter().zip(&bases) {
            let step = exchange.store(plan, file, base);
            plan.steps.push(step);
        }
        plan.steps.push(Step::Barrier(Scope::Block));
        let loaded = stored
            .iter()
            .zip(&bases)
            .map(|(&file, &base)| exchange.load(plan, file, base, machine));
        plan.outputs = loaded.collect();
        for _ in ones(self.warps) {
            halve(plan);
        }
    }
}

/// Combines the lower half of the registers with the upper half.
fn halve(plan: &mut Plan) {
    let half = |plan: &mut Plan, file: File, upper: bool| {
        let middle = plan.file(file).registers / 2;
        let start = if upper { middle } else { 0 };
        permute(plan, file, (start..start + middle).collect())
    };
    let low = each(plan, |plan, file| half(plan, file, false));
    let high = each(plan, |plan, file| half(plan, file, true));
    combine_files(plan, low, high);
}

fn combine_files(plan: &mut Plan, a: Vec<File>, b: Vec<File>) {
    let types: Vec<FileType> = a.iter().map(|&file| plan.file(file)).collect();
    let to: Vec<File> =
        types.iter().map(|ty| plan.add_file(ty.registers, ty.element_bits)).collect();
    plan.outputs.clone_from(&to);
    plan.steps.push(Step::Combine { operator: Operator(0), a, b, to, ordered: false });
}

/// Calls `write` for each output and collects the files it defines.
fn each(plan: &mut Plan, mut write: impl FnMut(&mut Plan, File) -> File) -> Vec<File> {
    plan.outputs.clone().into_iter().map(|file| write(plan, file)).collect()
}
