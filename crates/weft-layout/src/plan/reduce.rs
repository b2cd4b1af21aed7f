//! Reductions along one axis.
//!
//! A *plain* layout has no basis that moves along the axis and across it at once; then the places of
//! one fibre differ in registers, lanes and warps independently, and the reduction is three loops:
//! registers of a thread are combined pairwise, lanes exchange partial results across each lane bit
//! of the axis, and warps leave partial results in shared memory for all to read.
//! Bits that only make copies take no part, so that no element counts twice.
//! Any other layout is converted to a plain one first, and its result back.

use alloc::vec::Vec;

use super::{
    PlanError,
    axis::{Axis, straightened},
    check_layout, check_pair,
    memory::{Elements, permute},
    ordered,
    partials::{Exchange, Partials},
    priced,
    sequel::{check_scratch, convert_outputs},
    stored_bits,
    swizzle::Side,
};
use crate::{
    f2::{Echelon, ones},
    family::slice,
    layout::Layout,
    machine::Machine,
    space::{BLOCK, LANE, Label, REGISTER, WARP},
    step::{File, FileType, LaneMap, Operator, Plan, Step, Strategy, combine},
    witness,
};

/// A reduction and where it leaves its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The steps; the operator of its combinations is [`Operator`] 0.
    pub plan: Plan,
    /// The layout of the result; unless another one was asked for, the source without the axis
    /// ([`slice()`]).
    pub result: Layout,
}

/// In which order a reduction may take the elements of its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// In any: the operator is commutative.
    Any,
    /// From the first to the last: the operator need not be commutative.
    Increasing,
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
    reduce_into(layout, dim, element_bits, Order::Any, None, machine)
}

/// As [`reduce`], in an order, and into a layout: one of the tensor without the axis, with as many
/// warps.
pub fn reduce_into(
    layout: &Layout,
    dim: usize,
    element_bits: &[u32],
    order: Order,
    result: Option<&Layout>,
    machine: &Machine,
) -> Result<Reduction, PlanError> {
    check_layout(layout, machine)?;
    let sliced = slice(layout, dim)?;
    if let Some(bit) = first_crossing_block(layout, dim) {
        return Err(PlanError::CrossesBlocks { label: BLOCK, bit });
    }
    if let Some(result) = result {
        check_pair(&sliced, result, machine)?;
    }
    let result = result.unwrap_or(&sliced);
    let types = operand_types(layout, element_bits)?;
    let mut best: Option<Plan> = None;
    for partials in [Partials::Together, Partials::Apart] {
        let mut plan = Plan::new(&types, layout.in_bits(LANE), layout.in_bits(WARP));
        plan.strategy = Strategy::Reduction;
        write(&mut plan, layout, dim, result, machine, (order, partials))?;
        let plan = priced(plan, machine)?;
        if best.as_ref().is_none_or(|best| plan.cost.total < best.cost.total) {
            best = Some(plan);
        }
    }
    let plan = best.ok_or(PlanError::TooLarge)?;
    check_scratch(&plan, machine)?;
    witness::reduction_by_bases(&plan, layout, dim, result).map_err(PlanError::Refused)?;
    if cfg!(debug_assertions) {
        witness::reduction(&plan, layout, dim, result).map_err(PlanError::Refused)?;
    }
    Ok(Reduction { plan, result: result.clone() })
}

/// The files that hold operands of these bits in a layout.
pub(super) fn operand_types(
    layout: &Layout,
    element_bits: &[u32],
) -> Result<Vec<FileType>, PlanError> {
    let registers = 1 << layout.in_bits(REGISTER);
    let bits = element_bits.iter().map(|&bits| stored_bits(bits));
    bits.map(|bits| Ok(FileType { registers, element_bits: bits? })).collect()
}

/// The first block bit that moves along the axis.
pub(super) fn first_crossing_block(layout: &Layout, dim: usize) -> Option<u32> {
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
    how: (Order, Partials),
) -> Result<(), PlanError> {
    let left = if let Some(left) = write_plain(plan, layout, dim, machine, how)? {
        left
    } else {
        let straight = straightened(layout, dim)?;
        convert_outputs(plan, layout, &straight, machine)?;
        write_plain(plan, &straight, dim, machine, how)?.ok_or(PlanError::TooLarge)?
    };
    if left == *result { Ok(()) } else { convert_outputs(plan, &left, result, machine) }
}

/// Writes the reduction of a layout that needs no conversion first, and gives the layout of its
/// result; nothing where it needs one.
fn write_plain(
    plan: &mut Plan,
    layout: &Layout,
    dim: usize,
    machine: &Machine,
    (order, partials): (Order, Partials),
) -> Result<Option<Layout>, PlanError> {
    match order {
        Order::Any => {
            let Some(plain) = Plain::of(layout, dim) else { return Ok(None) };
            plain.write(plan, machine, partials);
        }
        Order::Increasing => {
            let Some(axis) = Axis::of(layout, dim) else { return Ok(None) };
            let sliced = layout.slice(dim)?;
            let kept = (0..).zip(sliced.columns(REGISTER)).filter(|entry| *entry.1 != 0);
            let kept: Vec<u32> = kept.map(|entry| entry.0).collect();
            ordered::write(plan, &axis, &kept, machine, partials);
        }
    }
    Ok(Some(slice(layout, dim)?))
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
        plan.outputs = exchange.write(plan, &plan.outputs.clone(), machine);
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
