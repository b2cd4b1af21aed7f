//! Reductions along one axis.
//!
//! A *plain* layout has no basis that moves along the axis and across it at once; then the places of
//! one fibre differ in registers, lanes and warps independently, and the reduction is three loops:
//! registers of a thread are combined pairwise, lanes exchange partial results across each lane bit
//! of the axis, and warps leave partial results in shared memory for all to read, or for lanes to read
//! a share each and combine them once more across lane bits that tell nothing else apart.
//! Lanes that would all end up with the same results may share them out instead: each sends half of
//! what it has across a lane bit and keeps the other half, so that later steps have less to move.
//! Bits that only make copies take no part, so that no element counts twice.
//! Any other layout is converted to a plain one first, and its result back.

use alloc::vec::Vec;

use super::{
    axis::{Axis, straightened},
    ordered,
    partials::{Exchange, Partials},
};
use crate::plan::{
    PlanError,
    buffer::sides::Elements,
    check_layout, check_pair, priced, stored_bits,
    swizzle::Side,
    writing::builder::permute,
    writing::sequel::{check_scratch, convert_outputs},
};
use crate::{
    f2::{Echelon, ones},
    family::slice,
    layout::{Layout, LayoutError},
    machine::Machine,
    space::{BLOCK, LANE, Label, REGISTER, Space, WARP},
    step::{File, FileType, LaneMap, Operator, Parity, Plan, Step, Strategy, combine},
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

/// The cheapest plan; of those that cost up to a quarter more, the one that asks least of shared
/// memory. What the operator costs is a guess, and prices say how much of each pipe is taken, not how
/// long one waits for an access, of which a reduction has little to hide behind.
fn chosen(plans: Vec<Plan>) -> Option<Plan> {
    let least = plans.iter().map(|plan| plan.cost.total).min()?;
    let near = plans.into_iter().filter(|plan| plan.cost.total <= least + least / 4);
    near.min_by_key(|plan| (accesses(plan), plan.cost.wavefronts, plan.cost.total))
}

/// The instructions of shared memory.
fn accesses(plan: &Plan) -> usize {
    let groups =
        |step: &Step| if let Step::Access(access) = step { access.groups.len() } else { 0 };
    plan.steps.iter().map(groups).sum()
}

/// How a reduction is written.
#[derive(Clone, Copy)]
struct ReductionStyle {
    order: Order,
    partials: Partials,
    sharing: Sharing,
    /// Whether lanes deal out the partial results of warps, rather than that each combines all of them.
    dealt: bool,
}

/// What lanes do that would all end up with the same results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// Each computes all of them.
    None,
    /// They share them out, and tell each other the results.
    Told,
    /// They share them out, and a conversion brings the results to all.
    Converted,
}

/// So many warps combine each other's partial results by lanes, whatever the operator.
const MANY_WARPS: u32 = 32;

/// What is tried, of a block of so many warps.
fn ways(types: &[FileType], order: Order, warps: u32, machine: &Machine) -> Vec<ReductionStyle> {
    let widest = types.iter().map(|ty| u64::from(ty.element_bits / 8)).max().unwrap_or(1);
    let vector = (u64::from(machine.shared_vector_bytes) / widest.max(1)).max(1).ilog2();
    let all = [Partials::Together, Partials::Apart, Partials::Mixed(vector)];
    let sharing = [Sharing::None, Sharing::Told, Sharing::Converted];
    let sharing = if order == Order::Any { &sharing[..] } else { &sharing[..1] };
    // Several operands are combined by more than an instruction: what sixteen warps leave, by a hundred
    // in each thread. What 32 warps leave takes forty instructions of each even where one combines two,
    // and those of so many warps wait for one another; fewer warps wait longer for the lanes' exchanges.
    let dealt = order == Order::Any && (types.len() > 1 || warps >= MANY_WARPS);
    let with = |&sharing: &Sharing| {
        let each = all.map(|partials| ReductionStyle { order, partials, sharing, dealt: false });
        let way = ReductionStyle { order, partials: Partials::Together, sharing, dealt };
        each.into_iter().chain(dealt.then_some(way))
    };
    sharing.iter().flat_map(with).collect()
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
    let result = result.unwrap_or(&sliced);
    let plan = choose(layout, dim, element_bits, order, result, machine)?;
    followed(&plan, layout, dim, result)?;
    Ok(Reduction { plan, result: result.clone() })
}

/// The reduction that is best, not yet followed.
pub(in crate::plan) fn choose(
    layout: &Layout,
    dim: usize,
    element_bits: &[u32],
    order: Order,
    result: &Layout,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    check_layout(layout, machine)?;
    if let Some(bit) = first_crossing_block(layout, dim) {
        return Err(PlanError::CrossesBlocks { label: BLOCK, bit });
    }
    check_pair(&slice(layout, dim)?, result, machine)?;
    let types = operand_types(layout, element_bits)?;
    let mut plans = Vec::new();
    for way in ways(&types, order, 1 << layout.in_bits(WARP), machine) {
        let mut plan = Plan::new(&types, layout.in_bits(LANE), layout.in_bits(WARP));
        plan.strategy = Strategy::Reduction;
        write(&mut plan, layout, dim, result, machine, way)?;
        plans.push(priced(plan, machine)?);
    }
    let plan = chosen(plans).ok_or(PlanError::TooLarge)?;
    check_scratch(&plan, machine)?;
    Ok(plan)
}

/// Has the witness follow a reduction.
pub(in crate::plan) fn followed(
    plan: &Plan,
    layout: &Layout,
    dim: usize,
    result: &Layout,
) -> Result<(), PlanError> {
    witness::reduction_by_bases(plan, layout, dim, result).map_err(PlanError::from)?;
    if cfg!(debug_assertions) {
        witness::reduction(plan, layout, dim, result).map_err(PlanError::from)?;
    }
    Ok(())
}

/// The files that hold operands of these bits in a layout.
pub(in crate::plan) fn operand_types(
    layout: &Layout,
    element_bits: &[u32],
) -> Result<Vec<FileType>, PlanError> {
    let registers = 1 << layout.in_bits(REGISTER);
    let bits = element_bits.iter().map(|&bits| stored_bits(bits));
    bits.map(|bits| Ok(FileType { registers, element_bits: bits? })).collect()
}

/// The first block bit that moves along the axis.
pub(in crate::plan) fn first_crossing_block(layout: &Layout, dim: usize) -> Option<u32> {
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
    way: ReductionStyle,
) -> Result<(), PlanError> {
    let left = if let Some(left) = write_plain(plan, layout, dim, machine, way)? {
        left
    } else {
        let straight = straightened(layout, dim)?;
        convert_outputs(plan, layout, &straight, machine)?;
        write_plain(plan, &straight, dim, machine, way)?.ok_or(PlanError::TooLarge)?
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
    way: ReductionStyle,
) -> Result<Option<Layout>, PlanError> {
    match way.order {
        Order::Any => {
            let Some(mut plain) = Plain::of(layout, dim) else { return Ok(None) };
            let moved = plain.write(plan, machine, way);
            return Ok(Some(shared(&slice(layout, dim)?, &moved)?));
        }
        Order::Increasing => {
            let Some(axis) = Axis::of(layout, dim) else { return Ok(None) };
            let sliced = layout.slice(dim)?;
            let kept = (0..).zip(sliced.columns(REGISTER)).filter(|entry| *entry.1 != 0);
            let kept: Vec<u32> = kept.map(|entry| entry.0).collect();
            ordered::write(plan, &axis, &kept, machine, way.partials);
        }
    }
    Ok(Some(slice(layout, dim)?))
}

/// A layout whose highest register bits, so many as there are lane bits here, have moved to these.
fn shared(layout: &Layout, lanes: &[u32]) -> Result<Layout, LayoutError> {
    let (left, moved) = layout
        .columns(REGISTER)
        .split_at(layout.columns(REGISTER).len().saturating_sub(lanes.len()));
    let mut columns = layout.columns(LANE).to_vec();
    for (&lane, &column) in lanes.iter().zip(moved.iter().rev()) {
        if let Some(place) = columns.get_mut(lane as usize) {
            *place = column;
        }
    }
    let [lane, warp, block] = [LANE, WARP, BLOCK].map(|label| layout.in_bits(label));
    let ins = Space::hardware(left.len() as u32, lane, warp, block)?;
    let rest = layout.columns(WARP).iter().chain(layout.columns(BLOCK)).copied();
    let columns: Vec<u64> = left.iter().copied().chain(columns).chain(rest).collect();
    Layout::new(ins, layout.outs().clone(), &columns)
}

/// A layout whose bases move either along the axis or across it.
struct Plain {
    /// Elements without the axis; zero for bases along the axis. Of the registers those that remain.
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
        let kept: Vec<u32> = kept.map(|entry| entry.1).collect();
        let across = Elements::of(&sliced).side(&sliced);
        let remain = kept.iter().map(|&bit| across.registers[bit as usize]).collect();
        let across = Side { registers: remain, ..across };
        Some(Plain { across, registers, lanes, warps, kept })
    }

    /// Writes the reduction, and gives the lane bits to which the highest register bits of the result
    /// have moved.
    fn write(&mut self, plan: &mut Plan, machine: &Machine, way: ReductionStyle) -> Vec<u32> {
        let sharing = way.sharing;
        self.within_threads(plan);
        let mut moved = Vec::new();
        for bit in ones(self.lanes) {
            if sharing != Sharing::None
                && let Some(column) = self.across.registers.pop()
            {
                share_out(plan, bit);
                self.across.lanes[bit as usize] = column;
                moved.push(bit);
                continue;
            }
            combine_across(plan, bit);
        }
        if self.warps != 0 {
            self.across_warps(plan, machine, way);
        }
        if sharing == Sharing::Told {
            for bit in moved.drain(..).rev() {
                tell(plan, bit);
            }
        }
        moved
    }

    /// Combines the registers of each thread that differ along the axis.
    fn within_threads(&self, plan: &mut Plan) {
        let mut bits: Vec<u32> = self.kept.clone();
        // The bits from the highest on are combined first: neighbours, which one load brings together.
        let mut axis: Vec<u32> = ones(self.registers).collect();
        axis.reverse();
        bits.extend(axis);
        let columns: Vec<u64> = bits.iter().map(|&bit| 1 << bit).collect();
        let source: Vec<u32> =
            (0..1_u64 << bits.len()).map(|r| combine(&columns, r) as u32).collect();
        plan.outputs = each(plan, |plan, file| permute(plan, file, source.clone()));
        for _ in ones(self.registers) {
            halve(plan);
        }
    }

    /// Leaves the results of each warp in memory and combines those of all warps, each thread all of them
    /// or lanes together.
    fn across_warps(&self, plan: &mut Plan, machine: &Machine, way: ReductionStyle) {
        let partials = self.warps.count_ones() as usize;
        let dealt = if way.dealt { self.lanes_to_deal(partials) } else { Vec::new() };
        let exchange = Exchange::new(&self.across, self.warps, way.partials);
        let exchange = exchange.dealt_by(dealt.clone());
        plan.outputs = exchange.write(plan, &plan.outputs.clone(), machine);
        for _ in dealt.len()..partials {
            halve(plan);
        }
        for bit in dealt {
            combine_across(plan, bit);
        }
    }

    /// At most so many lane bits that tell no results apart; none where that spares no combination.
    fn lanes_to_deal(&self, most: usize) -> Vec<u32> {
        let lanes = self.across.lanes.iter().zip(0..).filter(|entry| *entry.0 == 0);
        let lanes: Vec<u32> = lanes.map(|entry| entry.1).take(most).collect();
        if lanes.len() > 1 { lanes } else { Vec::new() }
    }
}

/// The lower and the upper half of the registers of each output.
fn halves(plan: &mut Plan) -> [Vec<File>; 2] {
    [false, true].map(|upper| {
        each(plan, |plan, file| {
            let middle = plan.file(file).registers / 2;
            let start = if upper { middle } else { 0 };
            permute(plan, file, (start..start + middle).collect())
        })
    })
}

/// Combines the lower half of the registers with the upper half.
fn halve(plan: &mut Plan) {
    let [low, high] = halves(plan);
    combine_files(plan, low, high);
}

/// Lets a lane keep the half of the registers that its bit says, and gives the other half to the lane
/// across that bit.
fn share_out(plan: &mut Plan, bit: u32) {
    let [low, high] = halves(plan);
    let own = selected(plan, &low, &high, bit);
    let sent = selected(plan, &high, &low, bit);
    let others = exchanged(plan, sent, bit);
    combine_files(plan, own, others);
}

/// Puts what the lane across a bit has beside what a lane has itself, the lower lane's first.
fn tell(plan: &mut Plan, bit: u32) {
    let own = plan.outputs.clone();
    let others = exchanged(plan, own.clone(), bit);
    let low = selected(plan, &own, &others, bit);
    let high = selected(plan, &others, &own, bit);
    let both = low.into_iter().zip(high).map(|(low, high)| {
        let ty = plan.file(low);
        let to = plan.add_file(2 * ty.registers, ty.element_bits);
        plan.steps.push(Step::Concat { from: [low, high].to_vec(), to });
        to
    });
    plan.outputs = both.collect();
}

/// The second of each pair of files in the lanes whose bit is set, else the first.
fn selected(plan: &mut Plan, even: &[File], odd: &[File], bit: u32) -> Vec<File> {
    let odd_where = Parity { lane: 1 << bit, warp: 0 };
    let select = |(&even, &odd): (&File, &File)| {
        let ty = plan.file(even);
        let to = plan.add_file(ty.registers, ty.element_bits);
        plan.steps.push(Step::Select { even, odd, to, odd_where });
        to
    };
    even.iter().zip(odd).map(select).collect()
}

/// What the lane across a bit has in these files.
fn exchanged(plan: &mut Plan, files: Vec<File>, bit: u32) -> Vec<File> {
    let map = LaneMap::butterfly(plan.lane_bits, 1 << bit);
    let exchange = |from: File| {
        let ty = plan.file(from);
        let to = plan.add_file(ty.registers, ty.element_bits);
        plan.steps.push(Step::Exchange { from, to, source: map.clone() });
        to
    };
    files.into_iter().map(exchange).collect()
}

/// Combines what a lane has with what the lane across a bit has.
fn combine_across(plan: &mut Plan, bit: u32) {
    let others = exchanged(plan, plan.outputs.clone(), bit);
    combine_files(plan, plan.outputs.clone(), others);
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
