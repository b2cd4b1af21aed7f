//! Reductions that keep the order of the axis.
//!
//! Neighbours are combined first, from the lowest bit of the axis to its highest, in whichever
//! hardware dim each bit lies.

use alloc::vec::Vec;

use super::{
    axis::{Axis, Run, Unit},
    partials::{Exchange, Partials},
};
use crate::plan::writing::tuple::{self, Tuple};
use crate::{
    f2::extract_bits,
    machine::Machine,
    step::{LaneMap, Parity, Plan, combine},
};

/// Writes a reduction along the axis, in order. `kept` are the register bits of the result.
pub(in crate::plan) fn write(
    plan: &mut Plan,
    axis: &Axis,
    kept: &[u32],
    machine: &Machine,
    order: Partials,
) {
    let mut values = axis.gathered(plan, false);
    for (level, run) in axis.runs.iter().enumerate() {
        values = match run.unit {
            Unit::Register => registers(plan, values, run),
            Unit::Lane => lanes(plan, values, run),
            Unit::Warp => warps(plan, axis, &values, level, machine, order),
        };
    }
    // The registers across the axis, each as a sum of those that are no copies.
    let along = axis.register_bits(0).len() - axis.across.len();
    let part = |&bit: &u32| axis.parts.get(bit as usize).map_or(0, |part| part >> along);
    let parts: Vec<u64> = kept.iter().map(part).collect();
    let source = (0..1_u64 << parts.len()).map(|register| combine(&parts, register) as u32);
    plan.outputs = tuple::rename(plan, &values, &source.collect::<Vec<u32>>());
}

/// Combines pairs of neighbouring registers, once for each bit.
fn registers(plan: &mut Plan, mut values: Tuple, run: &Run) -> Tuple {
    for _ in &run.bits {
        let count = tuple::registers(plan, &values);
        let [first, second] = [0, 1].map(|start| {
            let source: Vec<u32> = (start..count).step_by(2).collect();
            tuple::rename(plan, &values, &source)
        });
        values = tuple::combine(plan, &first, &second, true);
    }
    values
}

/// Combines what two lanes have, the lower one's on the left in both.
fn lanes(plan: &mut Plan, mut values: Tuple, run: &Run) -> Tuple {
    for &bit in &run.bits {
        let other = LaneMap::butterfly(plan.lane_bits, 1 << bit);
        let other = tuple::exchange(plan, &values, &other);
        let odd_where = Parity { lane: 1 << bit, warp: 0 };
        let first = tuple::select(plan, &values, &other, odd_where);
        let second = tuple::select(plan, &other, &values, odd_where);
        values = tuple::combine(plan, &first, &second, true);
    }
    values
}

/// Combines what all warps of the run leave, in order.
fn warps(
    plan: &mut Plan,
    axis: &Axis,
    values: &Tuple,
    level: usize,
    machine: &Machine,
    order: Partials,
) -> Tuple {
    let Some(run) = axis.runs.get(level) else { return values.clone() };
    let side = axis.beyond(level + 1);
    let mask = run.bits.iter().fold(0, |mask, bit| mask | 1_u64 << bit);
    let loaded = Exchange::new(&side, mask, order).write(plan, values, machine);
    let registers = tuple::registers(plan, values);
    let units: Vec<u64> = run.bits.iter().map(|&bit| 1 << bit).collect();
    let mut all = (0..1_u64 << units.len()).map(|number| {
        let start = extract_bits(combine(&units, number), mask) as u32 * registers;
        (start..start + registers).collect::<Vec<u32>>()
    });
    let first = all.next().unwrap_or_default();
    let mut sum = tuple::rename(plan, &loaded, &first);
    for source in all {
        let own = tuple::rename(plan, &loaded, &source);
        sum = tuple::combine(plan, &sum, &own, true);
    }
    sum
}
