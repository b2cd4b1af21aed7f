//! The check on basis vectors agrees with the replay, on sound plans and on damaged ones.

use std::{println, vec::Vec};

use arbitrary::{Result, Unstructured};

use super::plans::damage;
use crate::{
    Layout, Machine,
    f2::low_mask,
    machine::Prices,
    plan::{PlanError, convert, reduce},
    step::{Plan, Scope, Step},
    testing::{Kind, distributed, holds, invertible, shape},
    witness::{self, conversion_is_shown, reduction_is_shown},
};

/// How the two checks compare on plans that were changed.
#[derive(Debug, Default)]
struct Verdicts {
    refused: u32,
    accepted: u32,
    /// Accepted by the replay alone.
    left: u32,
}

impl Verdicts {
    /// What is shown is right; what is right may be left to the replay.
    fn add(&mut self, shown: bool, replayed: bool, plan: &Plan) {
        assert!(replayed || !shown, "shown, but wrong:\n{plan:#}");
        self.refused += u32::from(!replayed);
        self.accepted += u32::from(shown);
        self.left += u32::from(replayed && !shown);
    }
}

fn pair(u: &mut Unstructured<'_>, kind: Kind) -> Result<(Layout, Layout)> {
    let bits = u.int_in_range(0..=10)?;
    let warps = u.int_in_range(0..=2)?;
    let shape = shape(u, bits)?;
    Ok((distributed(u, &shape, warps, kind)?, distributed(u, &shape, warps, kind)?))
}

/// Two layouts between which no element leaves its warp.
fn within_warps(u: &mut Unstructured<'_>) -> Result<(Layout, Layout)> {
    let (bits, warps) = (u.int_in_range(0..=4)?, u.int_in_range(0..=2)?);
    let shape = shape(u, bits + 5 + warps)?;
    let from = distributed(u, &shape, warps, Kind::Permutation)?;
    let places = from.ins().total_bits();
    let inside = invertible(u, places - warps)?;
    // The warp keeps its bits and may choose registers and lanes.
    let mut columns: Vec<u64> = inside.columns().to_vec();
    for warp in 0..warps {
        let choice = u.arbitrary::<u64>()? & low_mask(places - warps);
        columns.push(1 << (places - warps + warp) | if u.ratio(1, 2)? { choice } else { 0 });
    }
    let columns: Vec<u64> = columns.iter().map(|&place| from.apply_flat(place)).collect();
    let to = Layout::new(from.ins().clone(), from.outs().clone(), &columns).unwrap();
    Ok((from, to))
}

/// Changes a step, perhaps in a way that [`damage`] does not know.
fn change(plan: &mut Plan, u: &mut Unstructured<'_>) -> Result<bool> {
    if u.ratio(2, 3)? {
        return damage(plan, u);
    }
    let index = u.choose_index(plan.steps.len())?;
    match &mut plan.steps[index] {
        Step::Barrier(scope) => *scope = Scope::Warp,
        Step::Select { even, odd, .. } => core::mem::swap(even, odd),
        Step::Bytes { a, b, selector, .. } => match u.int_in_range(0..=2)? {
            0 => core::mem::swap(a, b),
            1 => selector.xor ^= 1 << u.int_in_range(0..=15)?,
            _ => {
                selector.lane.resize(5, 0);
                selector.lane[u.choose_index(5)?] ^= 0x4444;
            }
        },
        Step::Exchange { source, .. } => {
            let columns = source.lane.len();
            source.lane.swap(0, u.choose_index(columns)?);
        }
        Step::Access(access) => {
            let mask = 1 << u.int_in_range(0..=4)?;
            let columns = access.lane.len();
            match u.int_in_range(0..=4)? {
                0 => access.acting.idle_lanes ^= mask,
                1 => access.lane.swap(0, u.choose_index(columns)?),
                2 if access.warp.len() > 1 => access.warp.swap(0, 1),
                3 => access.groups[0].address ^= access.lane[0],
                _ => access.groups.reverse(),
            }
        }
        _ => plan.scratch_bytes /= 2,
    }
    Ok(true)
}

#[test]
fn conversions_are_shown_on_basis_vectors() {
    let large = Machine::by_name("sm_90").unwrap();
    let small = Machine { shared_bytes_per_block: 2048, ..large.clone() };
    // Where shuffles are all that counts, they are packed.
    let prices = Prices { wavefront: 10_000, alu: 0, issue: 0, ..large.prices };
    let packing = Machine { prices, ..large.clone() };
    let mut verdicts = Verdicts::default();
    let mut packed = 0;
    holds(2000, |u| {
        let kind = Kind::any(u)?;
        let (from, to) = if u.ratio(1, 2)? { pair(u, kind)? } else { within_warps(u)? };
        let element = *u.choose(&[1, 8, 16, 32, 64])?;
        let machine = *u.choose(&[large, &small, &packing, &packing])?;
        let mut plan = match convert(&from, &to, element, machine) {
            Err(PlanError::Scratch { .. }) => return Ok(()),
            plan => plan.unwrap(),
        };
        assert_eq!(conversion_is_shown(&plan, &from, &to), Ok(true), "{plan:#}\n{from}\n{to}");
        packed += u32::from(plan.steps.iter().any(|step| matches!(step, Step::Bytes { .. })));
        if !plan.steps.is_empty() && change(&mut plan, u)? {
            let shown = conversion_is_shown(&plan, &from, &to) == Ok(true);
            let verdict = witness::conversion(&plan, &from, &to);
            verdicts.add(shown, verdict.is_ok(), &plan);
            assert_eq!(witness::conversion_by_bases(&plan, &from, &to), verdict);
        }
        Ok(())
    });
    println!("{verdicts:?}, {packed} packed");
    assert!(packed > 100, "{packed}");
    assert!(verdicts.refused > 100 && verdicts.left * 20 < verdicts.refused, "{verdicts:?}");
}

#[test]
fn reductions_are_shown_on_basis_vectors() {
    let machine = Machine::by_name("sm_90").unwrap();
    let mut verdicts = Verdicts::default();
    holds(2000, |u| {
        let kind = Kind::any(u)?;
        let (from, _) = pair(u, kind)?;
        let dim = u.choose_index(from.shape().len())?;
        let elements: Vec<u32> = (0..u.int_in_range(1..=2)?)
            .map(|_| u.choose(&[1, 16, 32, 64]).copied())
            .collect::<Result<_>>()?;
        let mut sum = reduce(&from, dim, &elements, machine).unwrap();
        let shown = reduction_is_shown(&sum.plan, &from, dim, &sum.result);
        assert_eq!(shown, Ok(true), "{:#}\n{from} along {dim}", sum.plan);
        if !sum.plan.steps.is_empty() && change(&mut sum.plan, u)? {
            let shown = reduction_is_shown(&sum.plan, &from, dim, &sum.result) == Ok(true);
            let verdict = witness::reduction(&sum.plan, &from, dim, &sum.result);
            verdicts.add(shown, verdict.is_ok(), &sum.plan);
            let by_bases = witness::reduction_by_bases(&sum.plan, &from, dim, &sum.result);
            assert_eq!(by_bases, verdict);
        }
        Ok(())
    });
    println!("{verdicts:?}");
    assert!(verdicts.refused > 100, "{verdicts:?}");
}
