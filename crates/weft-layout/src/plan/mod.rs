//! Choosing movements: conversions, reductions, scans, gathers, histograms and vectors.
//!
//! Each strategy only writes steps; [`step::price`](crate::step::price) says what they cost, and
//! the cheapest is kept.
//! Before a plan is returned the [witness] checks it on basis vectors; where debug assertions are on
//! it also replays it. A [`Draft`] tells only what a plan costs, and is checked when it becomes one.

mod buffer;
mod convert;
mod fold;
mod hardware;
mod indexed;
pub mod swizzle;
mod task;
mod writing;

use alloc::vec::Vec;
use core::fmt;

pub use buffer::load::load;
#[cfg(test)]
pub(crate) use buffer::load::loaded;
pub use buffer::store::store;
pub use buffer::vectorize::{Vectors, vectorize};
use convert::{bound, memory, mixed, within::Within};
pub use fold::reduce::{Order, Reduction, reduce, reduce_into};
pub use fold::scan::{Direction, scan};
pub use hardware::copy_box::{CopyBoxes, NoBox, copy_box};
pub use hardware::direct::{Cut, DirectCopy, NoDirectCopy, direct_copies, direct_swizzle};
pub use hardware::operand;
pub use indexed::gather::gather;
pub use indexed::histogram::histogram;
pub use swizzle::{Preference, Side, Swizzle, swizzle};
pub use task::{Draft, Task};

use crate::{
    access::AccessError,
    family::FamilyError,
    layout::{Layout, LayoutError},
    machine::Machine,
    space::{BLOCK, LANE, Label, REGISTER, WARP},
    step::{Cost, Plan, price},
    witness::{self, WitnessError},
};

/// The logarithm of the most registers of a thread that are planned for.
const MAX_REGISTERS_LOG2: u32 = 14;

/// The cheapest plan that turns a tensor in layout `from` into layout `to`.
///
/// Both are distributed layouts of one tensor, with as many lanes as the machine has and as many
/// warps as each other; elements have 1 to 64 bits, and less than a byte moves as a byte.
/// The plan has been accepted by the witness.
///
/// ```
/// use weft_layout::{Machine, family::Blocked, plan, step::Strategy};
///
/// let rows = Blocked::new(&[1, 4], &[2, 16], &[4, 1], &[1, 0]).layout(&[64, 64])?;
/// let columns = Blocked::new(&[4, 1], &[16, 2], &[1, 4], &[0, 1]).layout(&[64, 64])?;
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// let plan = plan::convert(&rows, &columns, 32, machine)?;
/// assert_eq!(plan.strategy, Strategy::SharedMemory);
/// assert_eq!(plan.cost.wavefronts, plan.cost.ideal_wavefronts);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert(
    from: &Layout,
    to: &Layout,
    element_bits: u32,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    Task::Convert { from, to, element_bits }.plan(machine)
}

/// The cheapest conversion, not yet checked.
fn choose(
    from: &Layout,
    to: &Layout,
    element_bits: u32,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let found = enumerate(from, to, element_bits, machine, Wanted::Best)?;
    let best = found.into_iter().reduce(|a, b| if key(&b) < key(&a) { b } else { a });
    best.ok_or(PlanError::TooLarge)
}

/// The ways of a conversion that were weighed against each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversions {
    /// The plan that costs least.
    pub best: Plan,
    /// The others, the cheapest first; no two of equal price and strategy.
    pub others: Vec<Plan>,
    /// No list of steps has a lower price, in hundredths of a cycle: this is what it takes to bring
    /// elements to threads and warps that do not hold them.
    pub least: u64,
}

impl Conversions {
    /// All plans, the cheapest first.
    pub fn plans(&self) -> impl Iterator<Item = &Plan> {
        [&self.best].into_iter().chain(&self.others)
    }

    /// The cheapest plan where every warp also does other work each time it converts: exchanges leave
    /// the arithmetic pipe less room than memory does, which matters where the tile is computed with.
    pub fn beside(&self, work: Cost, machine: &Machine) -> &Plan {
        let others = self.others.iter();
        let price = |plan: &Plan| (plan.cost.beside(work, machine), key(plan));
        others.fold(&self.best, |best, plan| if price(plan) < price(best) { plan } else { best })
    }
}

/// What [`convert`] chooses from, and what no choice could be cheaper than.
///
/// All plans have been accepted by the witness.
pub fn conversions(
    from: &Layout,
    to: &Layout,
    element_bits: u32,
    machine: &Machine,
) -> Result<Conversions, PlanError> {
    let mut plans = enumerate(from, to, element_bits, machine, Wanted::All)?;
    plans.sort_by_key(key);
    let alike = |a: &mut Plan, b: &mut Plan| a.strategy == b.strategy && a.cost == b.cost;
    plans.dedup_by(alike);
    let mut others = plans;
    others.iter().try_for_each(|plan| followed(plan, from, to))?;
    if others.is_empty() {
        return Err(PlanError::TooLarge);
    }
    let best = others.remove(0);
    let least = bound::least(from, to, stored_bits(element_bits)?, machine);
    Ok(Conversions { best, others, least })
}

/// What no conversion could be cheaper than ([`Conversions::least`]), in hundredths of a cycle of one
/// warp. It looks at dimensions only, which takes a small part of the time that a plan takes.
pub fn least_conversion(
    from: &Layout,
    to: &Layout,
    element_bits: u32,
    machine: &Machine,
) -> Result<u64, PlanError> {
    check_pair(from, to, machine)?;
    Ok(bound::least(from, to, stored_bits(element_bits)?, machine))
}

/// Has the witness follow a conversion.
fn followed(plan: &Plan, from: &Layout, to: &Layout) -> Result<(), PlanError> {
    witness::conversion_by_bases(plan, from, to).map_err(PlanError::from)?;
    if cfg!(debug_assertions) {
        witness::conversion(plan, from, to).map_err(PlanError::from)?;
    }
    Ok(())
}

/// Which plans are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Those that may be the cheapest.
    Best,
    /// The best of every kind.
    All,
}

/// The plans of a conversion, at least one, not yet checked.
fn enumerate(
    from: &Layout,
    to: &Layout,
    element_bits: u32,
    machine: &Machine,
    wanted: Wanted,
) -> Result<Vec<Plan>, PlanError> {
    let bits = stored_bits(element_bits)?;
    check_pair(from, to, machine)?;
    let source = to.solve(from)?;
    check_blocks(&source)?;
    let all = wanted == Wanted::All;
    let mut found = Vec::new();
    let (stays, moves) = match Within::of(from, to, &source, bits)? {
        Some(within) if within.stays() => (Some(within), None),
        within => (None, within),
    };
    if let Some(stays) = stays {
        found.extend(stays.plans(machine, u64::MAX, all)?);
        if found.iter().any(|plan| plan.cost.total == 0) {
            return Ok(found);
        }
    }
    let (through, refused) = match memory::plans(from, to, &source, bits, machine, all) {
        Ok(plans) => (plans, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    found.extend(through);
    if let Some(moves) = moves {
        let most = found.iter().map(|plan| plan.cost.total).min().unwrap_or(u64::MAX);
        found.extend(moves.plans(machine, most, all)?);
    }
    if let Some(best) = found.iter().min_by_key(|plan| key(plan)) {
        found.extend(mixed::plans(from, to, bits, machine, best)?);
    }
    match refused {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

/// The cheaper of two plans; the first one when they are equal.
fn better(a: Result<Plan, PlanError>, b: Result<Plan, PlanError>) -> Result<Plan, PlanError> {
    match (a, b) {
        (Ok(a), Ok(b)) if key(&b) < key(&a) => Ok(b),
        (Ok(a), _) => Ok(a),
        (Err(_), b) => b,
    }
}

/// What is compared: price, then instructions, then memory.
fn key(plan: &Plan) -> (u64, u64, u64) {
    (plan.cost.total, plan.cost.instructions, plan.scratch_bytes)
}

fn priced(mut plan: Plan, machine: &Machine) -> Result<Plan, PlanError> {
    plan.cost = price(&plan, machine)?;
    plan.bound = plan.cost.without_conflicts(machine);
    Ok(plan)
}

/// The bits that an element of `bits` bits takes in registers and memory.
fn stored_bits(bits: u32) -> Result<u32, PlanError> {
    match bits {
        1..=64 => Ok(bits.next_power_of_two().max(8)),
        _ => Err(PlanError::ElementBits(bits)),
    }
}

fn check_pair(from: &Layout, to: &Layout, machine: &Machine) -> Result<(), PlanError> {
    check_layout(from, machine)?;
    check_layout(to, machine)?;
    if from.outs() != to.outs() {
        return Err(PlanError::Tensors);
    }
    let warps = (from.in_bits(WARP), to.in_bits(WARP));
    if warps.0 == warps.1 { Ok(()) } else { Err(PlanError::Warps(warps.0, warps.1)) }
}

fn check_layout(layout: &Layout, machine: &Machine) -> Result<(), PlanError> {
    let known = |label: &Label| [REGISTER, LANE, WARP, BLOCK].contains(label);
    if let Some(label) = layout.ins().labels().find(|label| !known(label)) {
        return Err(PlanError::UnknownAxis(label));
    }
    let lanes = layout.in_bits(LANE);
    if lanes != machine.lanes_log2 {
        return Err(PlanError::Lanes { layout: lanes, machine: machine.lanes_log2 });
    }
    let most_threads = machine.threads_per_block.max(1).ilog2();
    let threads = lanes.saturating_add(layout.in_bits(WARP));
    if layout.in_bits(REGISTER) > MAX_REGISTERS_LOG2 || threads > most_threads {
        return Err(PlanError::TooLarge);
    }
    Ok(())
}

/// Checks that no place reads another block, and that the block changes nothing else.
fn check_blocks(source: &Layout) -> Result<(), PlanError> {
    let blocks = source.outs().mask(BLOCK);
    for (label, _, bits) in source.ins().iter() {
        for bit in 0..bits {
            let stay = if label == BLOCK { single(source, bit) } else { 0 };
            let column = source.basis(label, bit);
            let crosses = if label == BLOCK { column != stay } else { column & blocks != 0 };
            if crosses {
                return Err(PlanError::CrossesBlocks { label, bit });
            }
        }
    }
    Ok(())
}

/// The place that is bit `bit` of the block number; 0 when there is no such bit.
fn single(source: &Layout, bit: u32) -> u64 {
    let offset = source.outs().offset_of(BLOCK).filter(|_| bit < source.outs().bits(BLOCK));
    offset.map_or(0, |offset| 1 << (offset + bit))
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// An input axis is no register, lane, warp or block.
    UnknownAxis(Label),
    /// The two layouts hold different tensors.
    Tensors,
    /// A layout does not have the machine's lanes.
    Lanes {
        /// The lane bits of the layout.
        layout: u32,
        /// The lane bits of the machine.
        machine: u32,
    },
    /// The layouts have different warp bits.
    Warps(u32, u32),
    /// No element has this many bits.
    ElementBits(u32),
    /// A place needs an element of another block: bit `bit` of axis `label` of the target.
    CrossesBlocks {
        /// The axis of the target.
        label: Label,
        /// The bit of that axis.
        bit: u32,
    },
    /// A thread would have more than 2^14 registers, or a block more threads than the machine can, or the
    /// plan more places than the witness follows.
    TooLarge,
    /// The plan would need more shared memory than a block can have.
    Scratch {
        /// How many bytes the movement needs.
        needed: u64,
        /// The bytes of the machine.
        available: u64,
    },
    /// The indices of a gather do not have the axes of its source.
    Indices,
    /// A layout operator fails; for a conversion, the source lacks what the target holds.
    Layout(LayoutError),
    /// A family has no such layout.
    Family(FamilyError),
    /// The machine has no such access.
    Access(AccessError),
    /// The witness refused the plan: a defect of the planner.
    Refused(WitnessError),
}

impl From<LayoutError> for PlanError {
    fn from(error: LayoutError) -> PlanError {
        PlanError::Layout(error)
    }
}

impl From<FamilyError> for PlanError {
    fn from(error: FamilyError) -> PlanError {
        PlanError::Family(error)
    }
}

impl From<AccessError> for PlanError {
    fn from(error: AccessError) -> PlanError {
        PlanError::Access(error)
    }
}

impl From<WitnessError> for PlanError {
    /// A plan that is too large to be checked is none; what the witness finds wrong is a defect.
    fn from(error: WitnessError) -> PlanError {
        match error {
            WitnessError::TooLarge => PlanError::TooLarge,
            error => PlanError::Refused(error),
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::UnknownAxis(label) => {
                write!(f, "axis `{label}` is no register, lane, warp or block")
            }
            PlanError::Tensors => f.write_str("the two layouts hold different tensors"),
            PlanError::Lanes { layout, machine } => {
                write!(f, "the layout has {layout} lane bits, the machine has {machine}")
            }
            PlanError::Warps(from, to) => {
                write!(f, "the layouts have {from} and {to} warp bits, they must be equal")
            }
            PlanError::ElementBits(bits) => {
                write!(f, "elements of {bits} bits cannot be moved, 1 to 64 bits can")
            }
            PlanError::CrossesBlocks { label, bit } => {
                write!(f, "bit {bit} of `{label}` needs elements of another block")
            }
            PlanError::TooLarge => f.write_str(
                "a thread would have more than 2^14 registers, or a block too many threads, or the \
                 plan too many places to be checked",
            ),
            PlanError::Scratch { needed, available } => write!(
                f,
                "the plan needs {needed} bytes of shared memory, a block can have {available}"
            ),
            PlanError::Indices => f.write_str(
                "source and indices of a gather differ in more than the size of its axis",
            ),
            PlanError::Layout(error) => error.fmt(f),
            PlanError::Family(error) => error.fmt(f),
            PlanError::Access(error) => error.fmt(f),
            PlanError::Refused(error) => write!(f, "the plan is wrong: {error}"),
        }
    }
}

impl core::error::Error for PlanError {}
