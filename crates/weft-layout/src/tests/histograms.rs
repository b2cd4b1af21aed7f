//! Histograms are accepted by the witness, and changed histograms are not.

use std::vec::Vec;

use expect_test::expect;

use crate::{
    Layout, Machine,
    family::Blocked,
    interop::parse_layout,
    plan::{PlanError, histogram},
    step::{Plan, Step, Strategy},
    testing::{Kind, distributed_over, repeat, shape},
    witness::{self, WitnessError},
};

/// Any layout of the numbers, any of the counts.
///
/// Five thousand where `WEFT_LONG` is set (best with `--release`), else two hundred.
#[test]
fn random_histograms_are_accepted() {
    let cases = if std::env::var_os("WEFT_LONG").is_some() { 5000 } else { 200 };
    let machines = ["sm_90", "gfx942"].map(|name| Machine::by_name(name).unwrap());
    let mut rows = 0;
    repeat(cases, |u| {
        let kind = Kind::any(u)?;
        let machine = *u.choose(&machines)?;
        let bits = u.int_in_range(0..=10)?;
        let warps = u.int_in_range(0..=3)?;
        let shape = shape(u, bits)?;
        let bins = u.int_in_range(0..=9)?;
        let source = distributed_over(u, &shape, machine.lanes_log2, warps, kind)?;
        let result = distributed_over(u, &[1 << bins], machine.lanes_log2, warps, kind)?;
        let (element, masked) = (*u.choose(&[1, 8, 16, 32, 64])?, u.arbitrary()?);
        match histogram(&source, &result, element, masked, machine) {
            Ok(plan) => rows += u32::from(plan.scratch_bytes > 4 << bins),
            Err(error) => panic!("{error}\n{source}\n{result}"),
        }
        Ok(())
    });
    assert!(rows > 20, "{rows}");
}

fn numbers(count: u64) -> Layout {
    Blocked::new(&[4], &[32], &[4], &[0]).layout(&[count]).unwrap()
}

fn bins(count: u64) -> Layout {
    Blocked::new(&[1], &[32], &[4], &[0]).layout(&[count]).unwrap()
}

/// Few counters are spread over the banks, many are not.
#[test]
fn few_counters_have_several_rows() {
    let machine = Machine::by_name("sm_90").unwrap();
    let rows = |count: u64| {
        let plan = histogram(&numbers(4096), &bins(count), 32, false, machine).unwrap();
        assert_eq!(plan.strategy, Strategy::Histogram);
        plan.scratch_bytes / 4 / count
    };
    assert_eq!([2, 8, 32, 256].map(rows), [16, 4, 1, 1]);
}

#[test]
fn a_histogram_as_steps() {
    let machine = Machine::by_name("sm_90").unwrap();
    let plan = histogram(&numbers(256), &bins(64), 8, true, machine).unwrap();
    expect![[r#"
        f0: 4 x 8 bits = input
        f1: 4 x 8 bits = input
        f2: 4 x 32 bits = zero
        store f2 at lane [16, 32, 64, 128, 0] warp [0, 0] idle lane 0x10 warp 0x3 [0, 1, 2, 3]@0
        barrier block
        count f0 below 64 where f1 at [4, 8, 16, 32, 64, 128] lane [0, 0, 0, 0, 0] warp [0, 0] ^ [0, 0, 0, 0] idle lane 0x0 warp 0x2
        barrier block
        f3: 1 x 32 bits = load at lane [4, 8, 16, 32, 64] warp [128, 0] [0]@0
        output f3
        # histogram: 28.00 cycles (18 wavefronts of at least 18, 0 shuffles, 34 arithmetic, 2 barriers; 42 instructions), 256 bytes of scratch
    "#]].assert_eq(&std::format!("{plan}\n"));
    let source = parse_layout("[register: 1, lane: 2 4 8 0 0, warp:, block:] -> [dim0: 16]");
    let result = parse_layout("[register:, lane: 1 0 0 0 0, warp:, block:] -> [dim0: 2]");
    let plan = histogram(&source.unwrap(), &result.unwrap(), 32, false, machine).unwrap();
    expect![[r#"
        f0: 2 x 32 bits = input
        f1: 4 x 32 bits = zero
        store f1 at lane [16, 32, 0, 0, 0] warp [] idle lane 0x1c warp 0x0 [0, 1, 2, 3]@0
        barrier warp
        count f0 below 2 at [32] lane [4, 8, 16, 0, 0] warp [] ^ [0, 0] idle lane 0x18 warp 0x0
        barrier warp
        f2: 8 x 32 bits = load at lane [32, 0, 0, 0, 0] warp [] [0, 1, 2, 3]@0 [4, 5, 6, 7]@16
        f3: 4 x 32 bits = permute f2 [0, 1, 2, 3]
        f4: 4 x 32 bits = permute f2 [4, 5, 6, 7]
        f5: 4 x 32 bits = add f3 f4
        f6: 2 x 32 bits = permute f5 [0, 1]
        f7: 2 x 32 bits = permute f5 [2, 3]
        f8: 2 x 32 bits = add f6 f7
        f9: 1 x 32 bits = permute f8 [0]
        f10: 1 x 32 bits = permute f8 [1]
        f11: 1 x 32 bits = add f9 f10
        output f11
        # histogram: 15.50 cycles (15 wavefronts of at least 15, 0 shuffles, 19 arithmetic, 2 barriers; 26 instructions), 64 bytes of scratch
    "#]].assert_eq(&std::format!("{plan}\n"));
}

fn damaged(plan: &Plan, index: usize) -> Vec<Plan> {
    let mut changes: Vec<fn(&mut Plan, usize)> = Vec::new();
    match &plan.steps[index] {
        Step::Count(count) => {
            changes.push(|plan, at| drop(plan.steps.remove(at)));
            changes.push(|plan, at| plan.steps.insert(at, plan.steps[at].clone()));
            changes.push(|plan, at| {
                let Step::Count(count) = &mut plan.steps[at] else { return };
                count.map.data.rotate_right(1);
            });
            changes.push(|plan, at| {
                let Step::Count(count) = &mut plan.steps[at] else { return };
                count.below /= 2;
            });
            if count.mask.is_some() {
                changes.push(|plan, at| {
                    let Step::Count(count) = &mut plan.steps[at] else { return };
                    count.mask = None;
                });
            }
            if count.acting.idle_lanes != 0 {
                changes.push(|plan, at| {
                    let Step::Count(count) = &mut plan.steps[at] else { return };
                    count.acting.idle_lanes = 0;
                });
            }
        }
        Step::Barrier(_) => changes.push(|plan, at| drop(plan.steps.remove(at))),
        Step::Access(_) => changes.push(|plan, at| {
            let Step::Access(access) = &mut plan.steps[at] else { return };
            access.groups.pop();
        }),
        Step::Add { .. } => changes.push(|plan, at| {
            let Step::Add { a, b, .. } = &mut plan.steps[at] else { return };
            *b = *a;
        }),
        _ => {}
    }
    let change = |change: fn(&mut Plan, usize)| {
        let mut plan = plan.clone();
        change(&mut plan, index);
        plan
    };
    changes.into_iter().map(change).collect()
}

#[test]
fn damaged_histograms_are_refused() {
    let machine = Machine::by_name("sm_90").unwrap();
    let mut count = 0;
    for (elements, bins) in [(64, bins(8)), (1024, bins(256))] {
        let source = numbers(elements);
        let sound = histogram(&source, &bins, 32, true, machine).unwrap();
        let end = bins.outs().mask(crate::Label::dim(0)) + 2;
        let number = |element: u64| element.wrapping_mul(0x9e37_79b9) % end;
        let mask = |element: u64| element % 5 != 1;
        let verdict = witness::histogram(&sound, &source, &bins, number, mask);
        assert_eq!(verdict, Ok(()));
        for plan in (0..sound.steps.len()).flat_map(|index| damaged(&sound, index)) {
            count += 1;
            let verdict = witness::histogram(&plan, &source, &bins, number, mask);
            assert!(verdict.is_err(), "{plan}");
        }
    }
    assert!(count >= 15, "{count}");
}

#[test]
fn what_is_no_histogram_is_refused() {
    let machine = Machine::by_name("sm_90").unwrap();
    let (source, result) = (numbers(256), bins(64));
    let verdict = histogram(&source, &result, 65, false, machine);
    assert_eq!(verdict, Err(PlanError::ElementBits(65)));
    let other = Blocked::new(&[1], &[32], &[2], &[0]).layout(&[64]).unwrap();
    assert_eq!(histogram(&source, &other, 32, false, machine), Err(PlanError::Warps(2, 1)));
    let many = Blocked::new(&[1], &[32], &[4], &[0]).layout(&[1 << 17]).unwrap();
    let verdict = histogram(&source, &many, 32, false, machine);
    assert!(matches!(verdict, Err(PlanError::Scratch { .. })), "{verdict:?}");
    let crossing = "[register:, lane: 2 4 8 16 32, warp:, block: 1] -> [dim0: 64]";
    let crossing = parse_layout(crossing).unwrap();
    let verdict = histogram(&crossing, &crossing, 32, false, machine);
    assert!(matches!(verdict, Err(PlanError::CrossesBlocks { .. })), "{verdict:?}");
    // A plan that counts moves no elements.
    let plan = histogram(&source, &source, 32, false, machine).unwrap();
    let verdict = witness::conversion(&plan, &source, &source);
    assert!(matches!(verdict, Err(WitnessError::Malformed { .. })), "{verdict:?}");
}
