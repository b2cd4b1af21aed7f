//! One plan after another.

use alloc::vec::Vec;

use crate::plan::{PlanError, choose};
use crate::{
    layout::Layout,
    machine::Machine,
    step::{Count, File, Plan, Scope, Step},
};

/// Appends the conversion of every output.
pub(in crate::plan) fn convert_outputs(
    plan: &mut Plan,
    from: &Layout,
    to: &Layout,
    machine: &Machine,
) -> Result<(), PlanError> {
    for operand in 0..plan.outputs.len() {
        let bits = plan.file(plan.outputs[operand]).element_bits;
        let conversion = choose(from, to, bits, machine)?;
        append(plan, operand, conversion, machine);
    }
    Ok(())
}

/// Appends a plan of one operand.
pub(in crate::plan) fn append(plan: &mut Plan, operand: usize, other: Plan, machine: &Machine) {
    let base = reserve(plan, other.scratch_bytes, machine);
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

/// Reserves scratch memory for the steps that follow; the base is a multiple of the size rounded up
/// to a power of two, so that addresses in it add by exclusive-or.
///
/// Where a block cannot have so much, all threads wait, and what the steps before used is used again.
pub(in crate::plan) fn reserve(plan: &mut Plan, bytes: u64, machine: &Machine) -> u64 {
    if bytes == 0 {
        return plan.scratch_bytes;
    }
    let align = bytes.next_power_of_two();
    let mut base = plan.scratch_bytes.next_multiple_of(align);
    if plan.scratch_bytes > 0 && base.saturating_add(bytes) > machine.shared_bytes_per_block {
        plan.steps.push(Step::Barrier(Scope::Block));
        base = 0;
    }
    plan.scratch_bytes = plan.scratch_bytes.max(base + bytes);
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
        Step::Where { inside, outside, to, threads } => {
            let (inside, outside) = (rename(inside), rename(outside));
            Step::Where { inside, outside, to: rename(to), threads }
        }
        Step::Bytes { a, b, to, selector } => {
            Step::Bytes { a: rename(a), b: rename(b), to: rename(to), selector }
        }
        Step::Exchange { from, to, source } => {
            Step::Exchange { from: rename(from), to: rename(to), source }
        }
        Step::Shift { from, to, bits, neighbour } => {
            Step::Shift { from: rename(from), to: rename(to), bits, neighbour }
        }
        Step::Affine { from, to, map } => Step::Affine { from: rename(from), to: rename(to), map },
        Step::Fetch { from, lane, to } => {
            Step::Fetch { from: rename(from), lane: rename(lane), to: rename(to) }
        }
        Step::Pick { even, odd, to, index, bit } => {
            let (even, odd) = (rename(even), rename(odd));
            Step::Pick { even, odd, to: rename(to), index: rename(index), bit }
        }
        // Conversions, which alone are appended, neither look anything up nor count.
        Step::Lookup { address, to } => Step::Lookup { address: rename(address), to: rename(to) },
        Step::Zero { to } => Step::Zero { to: rename(to) },
        Step::Count(count) => {
            let (numbers, mask) = (rename(count.numbers), count.mask.map(&rename));
            Step::Count(Count { numbers, mask, ..count })
        }
        Step::Add { a, b, to } => Step::Add { a: rename(a), b: rename(b), to: rename(to) },
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

/// Checks that a block can have as much shared memory as a plan needs.
pub(in crate::plan) fn check_scratch(plan: &Plan, machine: &Machine) -> Result<(), PlanError> {
    let (needed, available) = (plan.scratch_bytes, machine.shared_bytes_per_block);
    if needed > available { Err(PlanError::Scratch { needed, available }) } else { Ok(()) }
}
