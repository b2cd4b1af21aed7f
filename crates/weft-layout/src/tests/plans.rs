//! Plans are accepted by the witness, and changed plans are not.

use std::println;

use arbitrary::Unstructured;
use arbtest::arbtest;
use expect_test::expect;

use crate::{
    Layout, Machine,
    family::Blocked,
    interop::parse_layout,
    plan::{Order, PlanError, convert, reduce, reduce_into},
    space::{LANE, REGISTER},
    step::{Plan, Step, Strategy},
    testing::{Kind, distributed, distributed_over, repeat, shape},
    witness::{self, WitnessError},
};

#[test]
fn random_conversions_are_accepted() {
    let large = Machine::by_name("sm_90").unwrap();
    // Too small for most: conversions go in rounds.
    let small = Machine { shared_bytes_per_block: 2048, ..large.clone() };
    let mut counts = std::collections::BTreeMap::new();
    arbtest(|u| {
        let kind = Kind::any(u)?;
        let bits = u.int_in_range(0..=11)?;
        let warps = u.int_in_range(0..=2)?;
        let shape = shape(u, bits)?;
        let from = distributed(u, &shape, warps, kind)?;
        let to = distributed(u, &shape, warps, kind)?;
        let element = *u.choose(&[1, 8, 16, 32, 64])?;
        let machine = if u.ratio(1, 4)? { &small } else { large };
        match convert(&from, &to, element, machine) {
            Err(PlanError::Scratch { .. }) if machine == &small => {}
            Ok(plan) => {
                let conflicts = plan.cost.wavefronts > plan.cost.ideal_wavefronts;
                let barriers = plan.cost.barriers;
                *counts.entry((plan.strategy, conflicts, barriers)).or_insert(0) += 1;
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

/// Order kept, in any layout, into any layout.
#[test]
fn random_ordered_reductions_are_accepted() {
    let machines = ["sm_90", "gfx942"].map(|name| Machine::by_name(name).unwrap());
    let cases = if std::env::var_os("WEFT_LONG").is_some() { 20_000 } else { 300 };
    repeat(cases, |u| {
        let kind = Kind::any(u)?;
        let machine = *u.choose(&machines)?;
        let bits = u.int_in_range(0..=11)?;
        let warps = u.int_in_range(0..=3)?;
        let mut shape = shape(u, bits)?;
        let dim = u.choose_index(shape.len())?;
        let layout = distributed_over(u, &shape, machine.lanes_log2, warps, kind)?;
        shape.remove(dim);
        let elements = if u.arbitrary()? { &[32][..] } else { &[16, 64] };
        let order = *u.choose(&[Order::Any, Order::Increasing])?;
        let target = distributed_over(u, &shape, machine.lanes_log2, warps, kind)?;
        let target = Some(&target).filter(|_| !shape.is_empty());
        match reduce_into(&layout, dim, elements, order, target, machine) {
            Ok(found) => {
                let unordered = |step: &Step| matches!(step, Step::Combine { ordered: false, .. });
                let kept = !found.plan.steps.iter().any(unordered);
                assert!(kept || order == Order::Any, "{}", found.plan);
                assert!(target.is_none_or(|target| *target == found.result));
            }
            Err(error) => panic!("{error}\n{layout} along {dim}, {order:?}"),
        }
        Ok(())
    });
}

/// Changes one thing in a plan that carries meaning.
pub(super) fn damage(plan: &mut Plan, u: &mut Unstructured<'_>) -> arbitrary::Result<bool> {
    let index = u.choose_index(plan.steps.len())?;
    match &mut plan.steps[index] {
        Step::Barrier(_) => {
            plan.steps.remove(index);
        }
        Step::Exchange { source, .. } => source.xor ^= 1 << u.int_in_range(0..=4)?,
        Step::Permute { source, .. } if source.len() > 1 => {
            let last = source.len() - 1;
            let (a, b) = (u.int_in_range(0..=last)?, u.int_in_range(0..=last)?);
            if source[a] == source[b] {
                return Ok(false);
            }
            source.swap(a, b);
        }
        Step::Select { odd_where, .. } => odd_where.lane ^= 1 << u.int_in_range(0..=4)?,
        Step::Access(access) if access.groups.len() > 1 => {
            let group = u.choose_index(access.groups.len())?;
            if u.arbitrary()? {
                access.groups.remove(group);
            } else {
                access.groups[group].address ^= access.groups[0].address ^ access.groups[1].address;
            }
        }
        Step::Combine { a, b, .. } => a.clone_from(b),
        _ => return Ok(false),
    }
    Ok(true)
}

#[test]
fn damaged_plans_are_refused() {
    let machine = Machine::by_name("sm_90").unwrap();
    let (mut refused, mut reductions) = (0, 0);
    // In rounds, since a round of a fixed time has few cases on a busy machine.
    for _ in 0..100 {
        arbtest(|u| {
            let bits = u.int_in_range(7..=10)?;
            let shape = shape(u, bits)?;
            let from = distributed(u, &shape, 1, Kind::Permutation)?;
            let to = distributed(u, &shape, 1, Kind::Permutation)?;
            let mut plan = convert(&from, &to, 32, machine).unwrap();
            // A swap of registers that hold equal elements, and the like, changes nothing.
            let plain = from.is_injective() && to.is_injective();
            if plain && !plan.steps.is_empty() && damage(&mut plan, u)? {
                assert!(witness::conversion(&plan, &from, &to).is_err(), "{plan}");
                refused += 1;
            }
            let dim = u.choose_index(shape.len())?;
            let mut reduction = reduce(&from, dim, &[32, 64], machine).unwrap();
            if shape[dim] > 1 && plain && damage(&mut reduction.plan, u)? {
                // Some changes leave a right reduction: another order of lanes, say.
                let verdict = witness::reduction(&reduction.plan, &from, dim, &reduction.result);
                reductions += u32::from(verdict.is_err());
            }
            Ok(())
        })
        .budget_ms(200)
        .size_min(256);
        if refused > 10 && reductions > 10 {
            break;
        }
    }
    assert!(refused > 10 && reductions > 10, "{refused} {reductions}");
}

/// What always breaks a reduction: an operand taken twice, or a barrier less.
#[test]
fn damaged_reductions_are_refused() {
    let machine = Machine::by_name("sm_90").unwrap();
    let from = Blocked::new(&[1, 4], &[2, 16], &[1, 4], &[1, 0]).layout(&[4, 256]).unwrap();
    let sound = reduce(&from, 1, &[32], machine).unwrap();
    let mut broken = 0;
    for index in 0..sound.plan.steps.len() {
        let mut plan = sound.plan.clone();
        match &mut plan.steps[index] {
            Step::Combine { a, b, .. } => a.clone_from(b),
            Step::Barrier(_) => drop(plan.steps.remove(index)),
            _ => continue,
        }
        broken += 1;
        assert!(witness::reduction(&plan, &from, 1, &sound.result).is_err(), "{plan}");
    }
    assert!(broken >= 8, "{broken}");
}

#[test]
fn a_missing_barrier_is_a_race() {
    let machine = Machine::by_name("sm_80").unwrap();
    let from = Blocked::new(&[1, 4], &[2, 16], &[4, 1], &[1, 0]).layout(&[64, 64]).unwrap();
    let to = Blocked::new(&[4, 1], &[16, 2], &[1, 4], &[0, 1]).layout(&[64, 64]).unwrap();
    let mut plan = convert(&from, &to, 32, machine).unwrap();
    assert_eq!(plan.cost.wavefronts, plan.cost.ideal_wavefronts);
    plan.steps.retain(|step| !matches!(step, Step::Barrier(_)));
    let error = witness::conversion(&plan, &from, &to).unwrap_err();
    assert!(matches!(error, WitnessError::Race { .. }), "{error}");
}

#[test]
fn impossible_conversions_say_why() {
    let machine = Machine::by_name("sm_90").unwrap();
    let row = Blocked::new(&[1], &[32], &[1], &[0]).layout(&[32]).unwrap();
    assert!(matches!(convert(&row, &row, 0, machine), Err(PlanError::ElementBits(0))));
    assert!(matches!(convert(&row, &row, 65, machine), Err(PlanError::ElementBits(65))));
    let short = Blocked::new(&[1], &[16], &[1], &[0]).layout(&[32]).unwrap();
    assert!(matches!(convert(&row, &short, 8, machine), Err(PlanError::Lanes { .. })));
    let wide = Blocked::new(&[1], &[32], &[2], &[0]).layout(&[32]).unwrap();
    assert!(matches!(convert(&row, &wide, 8, machine), Err(PlanError::Warps(0, 1))));
    assert!(matches!(reduce(&row, 1, &[32], machine), Err(PlanError::Family(_))));
}

#[test]
fn plans_read_as_text() {
    let machine = Machine::by_name("sm_90").unwrap();
    let from = Blocked::new(&[1, 2], &[8, 4], &[1, 1], &[1, 0]).layout(&[8, 8]).unwrap();
    let to = Blocked::new(&[2, 1], &[4, 8], &[1, 1], &[1, 0]).layout(&[8, 8]).unwrap();
    let plan = convert(&from, &to, 32, machine).unwrap();
    expect![[r#"
        f0: 2 x 32 bits = input
        f1: 2 x 32 bits = permute f0 [1, 0]
        f2: 2 x 32 bits = select f0 f1 by lane 0x4 warp 0x0
        f3: 1 x 32 bits = permute f2 [0]
        f4: 1 x 32 bits = exchange f3 lane [4, 1, 2, 8, 16] warp [] ^ 0x0
        f5: 1 x 32 bits = permute f2 [1]
        f6: 1 x 32 bits = exchange f5 lane [4, 1, 2, 8, 16] warp [] ^ 0x4
        f7: 2 x 32 bits = concat f4 f6
        f8: 2 x 32 bits = permute f7 [1, 0]
        f9: 2 x 32 bits = select f7 f8 by lane 0x1 warp 0x0
        output f9
        # shuffles: 2.00 cycles (0 wavefronts of at least 0, 2 shuffles, 4 arithmetic, 0 barriers; 6 instructions)
    "#]].assert_eq(&std::format!("{plan}\n"));
    let sum = reduce(&from, 1, &[32], machine).unwrap();
    expect![[r"
        f0: 2 x 32 bits = input
        f1: 1 x 32 bits = permute f0 [0]
        f2: 1 x 32 bits = permute f0 [1]
        f3: 1 x 32 bits = combine 0 ( f1 ) ( f2 )
        f4: 1 x 32 bits = exchange f3 lane ^ 0x1
        f5: 1 x 32 bits = combine 0 ( f3 ) ( f4 )
        f6: 1 x 32 bits = exchange f5 lane ^ 0x2
        f7: 1 x 32 bits = combine 0 ( f5 ) ( f6 )
        output f7
        # reduction: 2.00 cycles (0 wavefronts of at least 0, 2 shuffles, 3 arithmetic, 0 barriers; 5 instructions)
        [register:, lane: 0 0 1 2 4, warp:, block:] -> [dim0: 8]
    "]].assert_eq(&std::format!("{}\n{}\n", sum.plan, sum.result));
}

/// The operator of several operands is long: no thread combines what all warps leave, but lanes do,
/// which hold the same otherwise. That of one operand is an instruction, and waits for no lane.
#[test]
fn lanes_deal_out_what_many_warps_leave_of_several_operands() {
    let machine = Machine::by_name("sm_90").unwrap();
    for warp_bits in 3..=4 {
        let layout = Blocked::new(&[1], &[32], &[1 << warp_bits], &[0]);
        let layout = layout.layout(&[32 << warp_bits]).unwrap();
        for operands in 1..=3 {
            let sum = reduce(&layout, 0, &[32, 32, 32][..operands], machine).unwrap();
            let barrier = |step: &Step| matches!(step, Step::Barrier(_));
            let after = sum.plan.steps.iter().skip_while(|step| !barrier(step));
            let combined = |step: &Step| match step {
                Step::Combine { to, .. } => sum.plan.file(to[0]).registers,
                _ => 0,
            };
            let combined: u32 = after.map(combined).sum();
            let all = (1 << warp_bits) - 1;
            assert_eq!(combined, if operands == 1 { all } else { warp_bits }, "{}", sum.plan);
        }
    }
}

#[test]
fn long_lists_show_their_ends() {
    let machine = Machine::by_name("sm_90").unwrap();
    let from = Blocked::new(&[1, 4], &[2, 16], &[4, 1], &[1, 0]).layout(&[64, 64]).unwrap();
    let to = from.transpose(&[1, 0]).unwrap();
    let plan = convert(&from, &to, 32, machine).unwrap();
    let (short, whole) = (std::format!("{plan}"), std::format!("{plan:#}"));
    let load = |text: &str| text.lines().find(|line| line.contains("load")).unwrap().len();
    assert!(short.contains(" (28 more) "), "{short}");
    assert!(!whole.contains(" more) "), "{whole}");
    assert!(load(&short) * 3 < load(&whole));
    assert_eq!(short.lines().count(), whole.lines().count());
}

#[test]
fn narrow_elements_are_packed_for_shuffles() {
    let machine = Machine::by_name("sm_90").unwrap();
    // Lanes change places, registers stay: the words that hold them travel as they are.
    let from = Blocked::new(&[1, 8], &[32, 1], &[1, 1], &[1, 0]).layout(&[32, 8]).unwrap();
    let mut lanes = from.columns(LANE).to_vec();
    lanes.rotate_left(1);
    let columns = [from.columns(REGISTER), &lanes].concat();
    let to = Layout::new(from.ins().clone(), from.outs().clone(), &columns).unwrap();
    for (bits, shuffles, alu, total) in
        [(64, 16, 0, 1600), (32, 8, 0, 800), (16, 4, 0, 400), (8, 2, 0, 200)]
    {
        let cost = convert(&from, &to, bits, machine).unwrap().cost;
        assert_eq!((cost.shuffles, cost.alu, cost.total), (shuffles, alu, total), "{bits}");
    }
}

#[test]
fn what_stays_in_a_thread_is_chosen_once() {
    let machine = Machine::by_name("sm_90").unwrap();
    // One register bit and one lane bit change places.
    let from = Blocked::new(&[2, 1], &[8, 4], &[1, 1], &[1, 0]).layout(&[32, 32]).unwrap();
    let to = Blocked::new(&[1, 1], &[16, 2], &[1, 1], &[1, 0]).layout(&[32, 32]).unwrap();
    let plan = convert(&from, &to, 32, machine).unwrap();
    assert_eq!(plan.strategy, Strategy::Shuffles);
    // Of two registers one goes: a select before, two after.
    assert_eq!((plan.cost.shuffles, plan.cost.alu), (16, 48), "{plan}");
}

#[test]
fn lanes_choose_among_registers_that_they_receive() {
    let machine = Machine::by_name("sm_90").unwrap();
    // Neighbours need different registers of one lane, and every thread keeps one.
    let from = "[register: 1, lane: 2 4 8 16 0, warp: 0 0, block:] -> [dim0: 32]";
    let to = "[register:, lane: 1 2 4 8 16, warp: 0 0, block:] -> [dim0: 32]";
    let (from, to) = (parse_layout(from).unwrap(), parse_layout(to).unwrap());
    let plan = convert(&from, &to, 32, machine).unwrap();
    assert_eq!(plan.strategy, Strategy::Shuffles);
    assert_eq!((plan.cost.shuffles, plan.cost.alu, plan.cost.total), (2, 1, 200), "{plan}");
}
