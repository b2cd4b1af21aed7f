//! Scans are accepted by the witness, and changed scans are not.

use std::println;

use expect_test::expect;

use crate::{
    Layout, Machine,
    family::Blocked,
    interop::parse_layout,
    plan::{Direction, PlanError, scan},
    space::BLOCK,
    step::{Cube, Neighbour, Plan, Step},
    testing::{Kind, distributed_over, repeat, shape},
    witness::{self, WitnessError},
};

const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Reverse];

/// Any layout along any axis: axis bits in registers, lanes and warps in any order, copies, sums.
///
/// Twenty thousand where `WEFT_LONG` is set (best with `--release`), else four hundred.
#[test]
fn random_scans_are_accepted() {
    let cases = if std::env::var_os("WEFT_LONG").is_some() { 20_000 } else { 400 };
    let machines = ["sm_90", "gfx942"].map(|name| Machine::by_name(name).unwrap());
    let mut counts = std::collections::BTreeMap::new();
    repeat(cases, |u| {
        let kind = Kind::any(u)?;
        let machine = *u.choose(&machines)?;
        let bits = u.int_in_range(0..=11)?;
        let warps = u.int_in_range(0..=3)?;
        let shape = shape(u, bits)?;
        let dim = u.choose_index(shape.len())?;
        let layout = distributed_over(u, &shape, machine.lanes_log2, warps, kind)?;
        let operands = u.int_in_range(1..=3)?;
        let elements: std::vec::Vec<u32> =
            (0..operands).map(|_| u.choose(&[1, 16, 32, 64]).copied()).collect::<Result<_, _>>()?;
        let direction = *u.choose(&DIRECTIONS)?;
        match scan(&layout, dim, &elements, direction, machine) {
            Ok(plan) => {
                let class = (kind as u32, plan.cost.barriers > 0, plan.cost.shuffles > 0);
                *counts.entry(class).or_insert(0) += 1;
            }
            Err(error) => panic!("{error}\n{layout} along {dim}, {direction:?}"),
        }
        Ok(())
    });
    println!("{counts:?}");
    assert!(counts.len() >= 8, "{counts:?}");
}

fn layout(text: &str) -> Layout {
    parse_layout(text).unwrap()
}

/// Every way to share four bits of an axis among registers, lanes and warps.
#[test]
fn every_interleaving_of_an_axis_is_scanned_where_it_lies() {
    let machine = Machine::by_name("sm_90").unwrap();
    for way in 0..81_u32 {
        let mut units: [std::vec::Vec<u64>; 3] = Default::default();
        for bit in 0..4 {
            units[(way / 3_u32.pow(bit) % 3) as usize].push(1 << bit);
        }
        units[1].resize(5, 0);
        let join = |list: &[u64]| {
            list.iter()
                .map(std::string::ToString::to_string)
                .collect::<std::vec::Vec<_>>()
                .join(" ")
        };
        let [registers, lanes, warps] = [0, 1, 2].map(|unit| join(&units[unit]));
        let layout = layout(&std::format!(
            "[register: {registers}, lane: {lanes}, warp: {warps}, block:] -> [dim0: 16]"
        ));
        for direction in DIRECTIONS {
            let plan = scan(&layout, 0, &[32], direction, machine).unwrap();
            // No conversion first: nothing but partial results of warps goes through memory.
            let loads = units[2].iter().zip(units[2].iter().skip(1));
            let runs = loads.filter(|(a, b)| **b != **a << 1).count() + 1;
            let barriers = if units[2].is_empty() { 0 } else { runs as u64 };
            assert_eq!(plan.cost.barriers, barriers, "{layout}\n{plan}");
        }
    }
}

#[test]
fn a_scan_as_steps() {
    let machine = Machine::by_name("sm_90").unwrap();
    let rows = layout("[register: 1, lane: 2 4 0 0 0, warp: 8, block:] -> [dim0: 16]");
    let plan = scan(&rows, 0, &[32], Direction::Forward, machine).unwrap();
    expect![[r#"
        f0: 2 x 32 bits = input
        f1: 1 x 32 bits = permute f0 [0]
        f2: 1 x 32 bits = permute f0 [1]
        f3: 1 x 32 bits = combine 0 ( f1 ) ( f2 ) ordered
        f4: 1 x 32 bits = shift f3 from before along lane bits [0, 1]
        f5: 1 x 32 bits = combine 0 ( f4 ) ( f3 ) ordered
        f6: 1 x 32 bits = where lane 0x3 warp 0x0 are 0 f3 f5
        f7: 1 x 32 bits = shift f6 from before along lane bits [1]
        f8: 1 x 32 bits = combine 0 ( f7 ) ( f6 ) ordered
        f9: 1 x 32 bits = where lane 0x2 warp 0x0 are 0 f6 f8
        f10: 1 x 32 bits = exchange f9 lane [0, 0, 4, 8, 16] warp [] ^ 0x3
        store f10 at lane [0, 0, 0, 0, 0] warp [4] idle lane 0x1f warp 0x0 [0]@0
        barrier block
        f11: 2 x 32 bits = load at lane [0, 0, 0, 0, 0] warp [0] [0, 1]@0
        f12: 1 x 32 bits = permute f11 [0]
        f13: 1 x 32 bits = combine 0 ( f12 ) ( f9 ) ordered
        f14: 1 x 32 bits = where lane 0x0 warp 0x1 are 0 f9 f13
        f15: 1 x 32 bits = shift f14 from before along lane bits [0, 1]
        f16: 1 x 32 bits = where lane 0x3 warp 0x0 are 0 f12 f15
        f17: 1 x 32 bits = combine 0 ( f16 ) ( f1 ) ordered
        f18: 1 x 32 bits = where lane 0x3 warp 0x1 are 0 f1 f17
        f19: 1 x 32 bits = combine 0 ( f16 ) ( f3 ) ordered
        f20: 1 x 32 bits = where lane 0x3 warp 0x1 are 0 f3 f19
        f21: 2 x 32 bits = concat f18 f20
        output f21
        # scan: 14.00 cycles (2 wavefronts of at least 2, 4 shuffles, 12 arithmetic, 1 barriers; 19 instructions), 8 bytes of scratch
    "#]].assert_eq(&std::format!("{plan}\n"));
    let lanes = layout("[register:, lane: 2 1 0 0 0, warp:, block:] -> [dim0: 4]");
    let plan = scan(&lanes, 0, &[32], Direction::Reverse, machine).unwrap();
    expect![[r#"
        f0: 1 x 32 bits = input
        f1: 1 x 32 bits = exchange f0 lane [1, 0, 4, 8, 16] warp [] ^ 0x2
        f2: 1 x 32 bits = combine 0 ( f1 ) ( f0 ) ordered
        f3: 1 x 32 bits = select f2 f0 by lane 0x2 warp 0x0
        f4: 1 x 32 bits = exchange f3 lane [0, 0, 4, 8, 16] warp [] ^ 0x1
        f5: 1 x 32 bits = combine 0 ( f4 ) ( f3 ) ordered
        f6: 1 x 32 bits = select f5 f3 by lane 0x1 warp 0x0
        output f6
        # scan: 2.00 cycles (0 wavefronts of at least 0, 2 shuffles, 4 arithmetic, 0 barriers; 6 instructions)
    "#]].assert_eq(&std::format!("{plan}\n"));
}

/// Copies in lanes and warps add nothing to what one holder does, and copies in registers nothing at
/// all.
#[test]
fn copies_are_scanned_once() {
    let machine = Machine::by_name("sm_90").unwrap();
    let once = layout("[register: 1 2, lane: 4 8 16 32 64, warp:, block:] -> [dim0: 128]");
    let twice = layout("[register: 1 0 2, lane: 4 8 16 32 64, warp: 0, block:] -> [dim0: 128]");
    let costs = [&once, &twice]
        .map(|layout| scan(layout, 0, &[32], Direction::Forward, machine).unwrap().cost);
    assert_eq!(costs[0], costs[1]);
}

/// Conversions before and after use the same memory, one after the other, where it is scarce.
#[test]
fn scarce_memory_is_used_again() {
    let large = Machine::by_name("gfx942").unwrap();
    // One operand of 64 bits through memory, in and out, and partial results of warps.
    let mixed = layout(
        "[register: (2,40) (0,0) (0,50) (1,0) (0,0), lane: (8,32) (4,32) (8,0) (10,0) (0,112) (0,1), \
         warp: (0,4) (0,34), block:] -> [dim0: 16, dim1: 128]",
    );
    let elements = [64, 64, 64];
    let plan = scan(&mixed, 1, &elements, Direction::Reverse, large).unwrap();
    assert!(plan.scratch_bytes <= 65536, "{}", plan.scratch_bytes);
    let small = Machine { shared_bytes_per_block: 1 << 14, ..large.clone() };
    let again = scan(&mixed, 1, &elements, Direction::Reverse, &small).unwrap();
    assert!(again.scratch_bytes <= 1 << 14, "{}", again.scratch_bytes);
    assert!(again.cost.barriers > plan.cost.barriers);
}

fn damaged(plan: &Plan, index: usize) -> Option<Plan> {
    let mut plan = plan.clone();
    match &mut plan.steps[index] {
        Step::Combine { a, b, .. } => core::mem::swap(a, b),
        Step::Barrier(_) => drop(plan.steps.remove(index)),
        Step::Exchange { source, .. } => source.xor ^= 1,
        // Of two numbers each is before and after the other.
        Step::Shift { bits, neighbour, .. } if bits.len() > 1 => {
            *neighbour = match neighbour {
                Neighbour::Before => Neighbour::After,
                Neighbour::After => Neighbour::Before,
            }
        }
        Step::Where { threads: Cube { ones, .. }, .. } => *ones ^= true,
        Step::Select { odd_where, .. } => odd_where.lane ^= 1,
        _ => return None,
    }
    Some(plan)
}

#[test]
fn damaged_scans_are_refused() {
    let machine = Machine::by_name("sm_90").unwrap();
    let from = Blocked::new(&[1, 4], &[1, 32], &[1, 4], &[1, 0]).layout(&[1, 1024]).unwrap();
    for direction in DIRECTIONS {
        let sound = scan(&from, 1, &[32, 64], direction, machine).unwrap();
        let reverse = direction == Direction::Reverse;
        assert_eq!(witness::scan(&sound, &from, 1, reverse), Ok(()));
        assert!(witness::scan(&sound, &from, 1, !reverse).is_err());
        let mut count = 0;
        for index in 0..sound.steps.len() {
            let Some(plan) = damaged(&sound, index) else { continue };
            count += 1;
            assert!(witness::scan(&plan, &from, 1, reverse).is_err(), "{index}: {plan}");
        }
        assert!(count > 30, "{count}");
        let mut plan = sound;
        for step in &mut plan.steps {
            if let Step::Combine { ordered, .. } = step {
                *ordered = false;
            }
        }
        let verdict = witness::scan(&plan, &from, 1, reverse);
        assert!(matches!(verdict, Err(WitnessError::Malformed { .. })), "{verdict:?}");
    }
}

#[test]
fn an_axis_over_several_blocks_is_refused() {
    let machine = Machine::by_name("sm_90").unwrap();
    let crossing = layout("[register: 1, lane: 2 4 8 16 32, warp:, block: 64] -> [dim0: 128]");
    let verdict = scan(&crossing, 0, &[32], Direction::Forward, machine);
    assert_eq!(verdict, Err(PlanError::CrossesBlocks { label: BLOCK, bit: 0 }));
    let across = layout(
        "[register: (0,1) (1,0), lane: (0,2) (0,4) (0,8) (0,16) (1,1), warp:, block: (2,0)] -> [dim0: 4, dim1: 32]",
    );
    let verdict = scan(&across, 1, &[32], Direction::Forward, machine);
    assert!(verdict.is_ok(), "{verdict:?}");
}
