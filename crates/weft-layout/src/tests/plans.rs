//! Plans are accepted by the witness, and changed plans are not.

use std::println;

use arbtest::arbtest;

use crate::{
    Machine,
    plan::{PlanError, convert, reduce},
    testing::{Kind, distributed, shape},
};

#[test]
fn random_conversions_are_accepted() {
    let machine = Machine::by_name("sm_90").unwrap();
    let mut counts = std::collections::BTreeMap::new();
    arbtest(|u| {
        let kind = Kind::any(u)?;
        let bits = u.int_in_range(0..=11)?;
        let warps = u.int_in_range(0..=2)?;
        let shape = shape(u, bits)?;
        let from = distributed(u, &shape, warps, kind)?;
        let to = distributed(u, &shape, warps, kind)?;
        let element = *u.choose(&[1, 8, 16, 32, 64])?;
        match convert(&from, &to, element, machine) {
            Ok(plan) => {
                let conflicts = plan.cost.wavefronts > plan.cost.ideal_wavefronts;
                *counts.entry((plan.strategy, conflicts)).or_insert(0) += 1;
            }
            Err(PlanError::Refused(error)) => panic!("{error}\n{from}\n{to}"),
            Err(error) => panic!("{error}\n{from}\n{to}"),
        }
        Ok(())
    })
    .budget_ms(3000)
    .size_min(512)
    .size_max(4096);
    println!("{counts:?}");
}

#[test]
fn random_reductions_are_accepted() {
    let machine = Machine::by_name("sm_90").unwrap();
    let mut counts = std::collections::BTreeMap::new();
    arbtest(|u| {
        let kind = Kind::any(u)?;
        let bits = u.int_in_range(0..=11)?;
        let warps = u.int_in_range(0..=3)?;
        let shape = shape(u, bits)?;
        let dim = u.choose_index(shape.len())?;
        let layout = distributed(u, &shape, warps, kind)?;
        let operands = u.int_in_range(1..=3)?;
        let elements: std::vec::Vec<u32> =
            (0..operands).map(|_| u.choose(&[1, 16, 32, 64]).copied()).collect::<Result<_, _>>()?;
        match reduce(&layout, dim, &elements, machine) {
            Ok(_) => *counts.entry(kind as u32).or_insert(0) += 1,
            Err(error) => panic!("{error}\n{layout} along {dim}"),
        }
        Ok(())
    })
    .budget_ms(3000)
    .size_min(512)
    .size_max(4096);
    println!("{counts:?}");
}
