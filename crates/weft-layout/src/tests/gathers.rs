//! Gathers are accepted by the witness, and changed gathers are not.

use std::println;

use expect_test::expect;

use crate::{
    Layout, Machine,
    family::Blocked,
    interop::parse_layout,
    plan::{PlanError, gather},
    space::Label,
    step::{Plan, Step, Strategy},
    testing::{Kind, distributed_over, repeat, shape},
    witness,
};

/// Any source, any layout of the indices, any axis, also of two sizes.
///
/// Ten thousand where `WEFT_LONG` is set (best with `--release`), else three hundred.
#[test]
fn random_gathers_are_accepted() {
    let cases = if std::env::var_os("WEFT_LONG").is_some() { 10_000 } else { 300 };
    let machines = ["sm_90", "gfx942"].map(|name| Machine::by_name(name).unwrap());
    let mut counts = std::collections::BTreeMap::new();
    repeat(cases, |u| {
        let kind = Kind::any(u)?;
        let machine = *u.choose(&machines)?;
        let bits = u.int_in_range(0..=10)?;
        let warps = u.int_in_range(0..=3)?;
        let shape = shape(u, bits)?;
        let dim = u.choose_index(shape.len())?;
        let mut taken = shape.clone();
        if u.arbitrary()? {
            taken[dim] = 1 << u.int_in_range(0..=5)?;
        }
        let source = distributed_over(u, &shape, machine.lanes_log2, warps, kind)?;
        let alike = taken == shape && u.ratio(1, 2)?;
        let result = if alike {
            source.clone()
        } else {
            distributed_over(u, &taken, machine.lanes_log2, warps, kind)?
        };
        let element = *u.choose(&[1, 8, 16, 32, 64])?;
        let index = *u.choose(&[8, 32, 64])?;
        match gather(&source, &result, dim, element, index, machine) {
            Ok(plan) => *counts.entry(plan.strategy).or_insert(0) += 1,
            Err(error) => panic!("{error}\n{source}\n{result} along {dim}"),
        }
        Ok(())
    });
    println!("{counts:?}");
    assert!(counts.values().all(|&count| count > 10) && counts.len() == 2, "{counts:?}");
}

/// Shared memory of a few bytes: as many rounds as it takes, in some of which the index chooses.
#[test]
fn gathers_of_more_than_shared_memory_take_rounds() {
    let cases = if std::env::var_os("WEFT_LONG").is_some() { 2000 } else { 150 };
    let machine = Machine::by_name("sm_90").unwrap();
    let (mut rounds, mut picked) = (0, 0);
    repeat(cases, |u| {
        let kind = Kind::any(u)?;
        let warps = u.int_in_range(0..=2)?;
        let bits = u.int_in_range(6 + warps..=11)?;
        let shape = shape(u, bits)?;
        let dim = u.choose_index(shape.len())?;
        let source = distributed_over(u, &shape, machine.lanes_log2, warps, kind)?;
        let result = distributed_over(u, &shape, machine.lanes_log2, warps, kind)?;
        let element = *u.choose(&[8, 16, 32, 64])?;
        let bytes = u64::from(element / 8) << bits >> u.int_in_range(1..=3)?;
        let small = Machine { shared_bytes_per_block: bytes, ..machine.clone() };
        match gather(&source, &result, dim, element, 32, &small) {
            Ok(plan) if plan.strategy == Strategy::GatherMemory => {
                let barriers = |step: &Step| matches!(step, Step::Barrier(_));
                assert!(plan.scratch_bytes <= bytes, "{plan}");
                rounds += u32::from(plan.steps.iter().filter(|step| barriers(step)).count() > 1);
                picked += u32::from(plan.steps.iter().any(|s| matches!(s, Step::Pick { .. })));
            }
            Ok(_) | Err(PlanError::Scratch { .. }) => {}
            Err(error) => panic!("{error}\n{source}\n{result} along {dim}"),
        }
        Ok(())
    });
    println!("{rounds} in rounds, {picked} of them picked by the index");
    assert!(picked > 10 && rounds > picked + 10, "{rounds} {picked}");
}

fn rows(columns: u64) -> Layout {
    Blocked::new(&[1, 1], &[1, 32], &[4, 1], &[1, 0]).layout(&[32, columns]).unwrap()
}

/// As many exchanges as the axis has registers, until loading by index is cheaper.
#[test]
fn s1_23_shuffles_until_memory_is_cheaper() {
    let machine = Machine::by_name("sm_90").unwrap();
    let (mut crossed, mut half) = (false, None);
    for registers in 0..6 {
        let layout = rows(32 << registers);
        let cost = gather(&layout, &layout, 1, 32, 32, machine).unwrap();
        crossed |= cost.strategy == Strategy::GatherMemory;
        assert_eq!(crossed, cost.strategy == Strategy::GatherMemory, "{registers}");
        if !crossed {
            // 8 rows of a warp, each with 2^registers results and as many rounds.
            assert_eq!(cost.cost.shuffles, 8 << (2 * registers), "{registers}");
        }
        // From there on nothing grows with the square of the registers.
        if let Some(half) = half.filter(|_| crossed) {
            assert!(cost.cost.total < 3 * half, "{registers} {}", cost.cost);
        }
        half = crossed.then_some(cost.cost.total);
    }
    assert!(crossed);
    // An axis over several warps goes through memory.
    let across = Blocked::new(&[1, 1], &[1, 32], &[1, 4], &[1, 0]).layout(&[4, 128]).unwrap();
    let plan = gather(&across, &across, 1, 32, 32, machine).unwrap();
    assert_eq!(plan.strategy, Strategy::GatherMemory);
}

#[test]
fn a_gather_as_steps() {
    let machine = Machine::by_name("sm_90").unwrap();
    let layout =
        parse_layout("[register: 1, lane: 4 2 0 0 0, warp:, block:] -> [dim0: 8]").unwrap();
    let plan = gather(&layout, &layout, 0, 32, 32, machine).unwrap();
    expect![[r#"
        f0: 2 x 32 bits = input
        f1: 2 x 32 bits = input
        f2: 2 x 32 bits = affine f1 [4, 16, 8] lane [0, 0, 0, 0, 0] warp [] ^ [0, 0]
        store f0 at lane [8, 16, 0, 0, 0] warp [] idle lane 0x1c warp 0x0 [0, 1]@0
        barrier warp
        f3: 2 x 32 bits = lookup at f2
        output f3
        # gather from shared memory: 11.25 cycles (9 wavefronts of at least 9, 0 shuffles, 22 arithmetic, 1 barriers; 26 instructions), 32 bytes of scratch
    "#]].assert_eq(&std::format!("{plan}\n"));
    let across =
        parse_layout("[register:, lane: 1 2 0 0 0, warp: 4, block:] -> [dim0: 8]").unwrap();
    let plan = gather(&across, &across, 0, 16, 64, machine).unwrap();
    expect![[r#"
        f0: 1 x 16 bits = input
        f1: 1 x 64 bits = input
        f2: 1 x 32 bits = affine f1 [2, 4, 8] lane [0, 0, 0, 0, 0] warp [0] ^ [0]
        store f0 at lane [2, 4, 0, 0, 0] warp [8] idle lane 0x1c warp 0x0 [0]@0
        barrier block
        f3: 1 x 16 bits = lookup at f2
        output f3
        # gather from shared memory: 13.00 cycles (5 wavefronts of at least 5, 0 shuffles, 5 arithmetic, 1 barriers; 8 instructions), 16 bytes of scratch
    "#]].assert_eq(&std::format!("{plan}\n"));
}

fn damaged(plan: &Plan, index: usize) -> Option<Plan> {
    let mut plan = plan.clone();
    match &mut plan.steps[index] {
        Step::Affine { map, .. } => map.data.rotate_right(1),
        Step::Barrier(_) => drop(plan.steps.remove(index)),
        Step::Pick { even, odd, .. } => core::mem::swap(even, odd),
        Step::Access(access) => drop(access.groups.pop()),
        _ => return None,
    }
    Some(plan)
}

#[test]
fn damaged_gathers_are_refused() {
    let machine = Machine::by_name("sm_90").unwrap();
    let mut count = 0;
    for columns in [64, 1024] {
        let layout = rows(columns);
        let sound = gather(&layout, &layout, 1, 32, 32, machine).unwrap();
        let mixed = |element: u64| (element.wrapping_mul(0x9e37_79b9) >> 7) & (columns - 1);
        assert_eq!(witness::gather(&sound, &layout, &layout, 1, mixed), Ok(()));
        for plan in (0..sound.steps.len()).filter_map(|index| damaged(&sound, index)) {
            count += 1;
            let verdict = witness::gather(&plan, &layout, &layout, 1, mixed);
            assert!(verdict.is_err(), "{plan}");
        }
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn what_is_no_gather_is_refused() {
    let machine = Machine::by_name("sm_90").unwrap();
    let (source, other) = (rows(64), rows(128));
    let transposed = other.transpose(&[1, 0]).unwrap();
    assert_eq!(gather(&source, &transposed, 1, 32, 32, machine), Err(PlanError::Indices));
    assert_eq!(gather(&source, &other, 0, 32, 32, machine), Err(PlanError::Indices));
    assert!(gather(&source, &other, 1, 32, 32, machine).is_ok());
    assert!(matches!(gather(&source, &source, 2, 32, 32, machine), Err(PlanError::Layout(_))));
    let verdict = gather(&source, &source, 1, 65, 32, machine);
    assert_eq!(verdict, Err(PlanError::ElementBits(65)));
    let crossing = "[register:, lane: 2 4 8 16 32, warp:, block: 1] -> [dim0: 64]";
    let crossing = parse_layout(crossing).unwrap();
    let verdict = gather(&crossing, &crossing, 0, 32, 32, machine);
    assert!(matches!(verdict, Err(PlanError::CrossesBlocks { .. })), "{verdict:?}");
    assert!(crossing.outs().contains(Label::dim(0)));
}
