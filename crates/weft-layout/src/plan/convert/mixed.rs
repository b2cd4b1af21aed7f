//! Shared memory with exchanges before or behind it.
//!
//! A side stores or loads whole words where what stands in a word of memory stands in its registers.
//! Where elements are narrow and both sides have too little of that in common, one of them moves single
//! elements, each in a wavefront of its own. Then register bits that only this side has in its registers
//! first change places with lane bits that the other side has in its registers:
//!
//! ```text
//! bytes, from columns to rows     registers   lanes
//! source                          r0 r1 c4    c0 c1 r2
//! r0 and c0, r1 and c1 exchanged  c0 c1 c4    r0 r1 r2     words of four columns, as the target's
//! target                          c0 c1 r4    c2 c3 c4
//! ```
//!
//! An exchange of one bit moves half of the words, which is less than storing or loading all elements
//! one by one.

use alloc::vec::Vec;

use super::{memory, within::Within};
use crate::plan::{PlanError, priced, writing::sequel, writing::tidy::tidy};
use crate::{
    f2::Subspace,
    layout::{Layout, LayoutError},
    machine::Machine,
    space::{LANE, REGISTER},
    step::{Plan, Strategy},
};

/// Conversions that exchange before they store or after they load; none where `through`, the cheapest
/// plan without exchanges, has few more wavefronts than whole words take.
pub(in crate::plan) fn plans(
    from: &Layout,
    to: &Layout,
    bits: u32,
    machine: &Machine,
    through: &Plan,
) -> Result<Vec<Plan>, PlanError> {
    let bytes =
        |layout: &Layout| u64::from(bits / 8) << (layout.in_bits(REGISTER) + machine.lanes_log2);
    let whole = (bytes(from) + bytes(to)) >> machine.row_bytes_log2();
    let mut found = Vec::new();
    if bits >= 32 || 4 * through.cost.wavefronts <= 5 * whole {
        return Ok(found);
    }
    for middle in middles(from, to, bits)? {
        let before = within_warps(from, &middle, bits, machine)?;
        let behind = through_memory(&middle, to, bits, machine)?;
        found.extend(together(before, behind, machine)?);
    }
    for middle in middles(to, from, bits)? {
        let before = through_memory(from, &middle, bits, machine)?;
        let behind = within_warps(&middle, to, bits, machine)?;
        found.extend(together(before, behind, machine)?);
    }
    Ok(found)
}

/// The layouts of one side with register and lane bits exchanged, until it has as much in common with
/// the other side's registers as a word holds.
fn middles(side: &Layout, other: &Layout, bits: u32) -> Result<Vec<Layout>, LayoutError> {
    let [own, theirs] = [side, other].map(|one| Subspace::from_vectors(one.columns(REGISTER)));
    let word = (32 / bits).ilog2();
    let missing = word.saturating_sub(own.intersection(&theirs).dim());
    let held = |&(_, column): &(usize, u64)| column != 0 && theirs.contains(column);
    let numbered = |label| side.columns(label).iter().copied().enumerate();
    let registers = numbered(REGISTER).filter(|one| one.1 != 0 && !held(one));
    // First what stands lowest in the other side's words.
    let mut lanes: Vec<_> = numbered(LANE).filter(held).collect();
    let place = |column| other.columns(REGISTER).iter().position(|&one| one == column);
    lanes.sort_by_key(|&(_, column)| place(column).unwrap_or(usize::MAX));
    let pairs: Vec<_> = registers.zip(lanes).take(missing as usize).collect();
    let first = |label| side.ins().offset_of(label).unwrap_or(0) as usize;
    let (first_register, first_lane) = (first(REGISTER), first(LANE));
    let mut columns =
        (0..side.matrix().cols()).map(|index| side.matrix().column(index)).collect::<Vec<_>>();
    let swapped = pairs.into_iter().map(|((register, _), (lane, _))| {
        columns.swap(first_register + register, first_lane + lane);
        Layout::new(side.ins().clone(), side.outs().clone(), &columns)
    });
    swapped.collect()
}

/// The cheapest exchanges within warps.
fn within_warps(
    from: &Layout,
    to: &Layout,
    bits: u32,
    machine: &Machine,
) -> Result<Option<Plan>, PlanError> {
    let source = to.solve(from)?;
    let Some(within) = Within::of(from, to, &source, bits)? else { return Ok(None) };
    Ok(within.plans(machine, u64::MAX, false)?.pop())
}

/// The cheapest way through memory.
fn through_memory(
    from: &Layout,
    to: &Layout,
    bits: u32,
    machine: &Machine,
) -> Result<Option<Plan>, PlanError> {
    let source = to.solve(from)?;
    Ok(memory::plans(from, to, &source, bits, machine, false)?.pop())
}

/// One plan and then the other, with its price.
fn together(
    before: Option<Plan>,
    behind: Option<Plan>,
    machine: &Machine,
) -> Result<Option<Plan>, PlanError> {
    let (Some(mut plan), Some(behind)) = (before, behind) else { return Ok(None) };
    sequel::append(&mut plan, 0, behind, machine);
    plan.strategy = Strategy::SharedMemory;
    priced(tidy(&plan).unwrap_or(plan), machine).map(Some)
}
