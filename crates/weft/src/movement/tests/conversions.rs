//! Random conversions as lane programs: what every thread ends up with, and what that took.

use super::random::{Dice, indices};
use super::{element, expected};
use crate::dtype::DType;
use crate::lane::{Access, Builder, Form, Op, Param, Program, Space};
use crate::memory::{Buffer, Memory};
use crate::movement::{byte_of, thread_map, write};
use crate::scalar::{Binary, Cast};
use crate::sim::{self, Launch};
use std::collections::BTreeMap;
use weft_layout::Layout;
use weft_layout::machine::Machine;
use weft_layout::plan;
use weft_layout::space::REGISTER;
use weft_layout::step::{self, Plan, Step};

/// Two thousand cases where `WEFT_LONG` is set (best with `--release`), else a hundred.
fn cases() -> u64 {
    if std::env::var_os("WEFT_LONG").is_some() { 2000 } else { 100 }
}

/// A kernel that makes a tensor in the layout `from`, runs the plan, and stores what every thread holds.
fn kernel(plan: &Plan, from: &Layout, dtype: DType, machine: &Machine) -> Program {
    let mut build = Builder::new("converted", 1 << plan.warp_bits, machine.lanes_log2);
    let param =
        Param { name: "out".into(), dtype: DType::I64, pointee: Some(dtype), divisibility: 16 };
    let out = build.param(param);
    let inputs = indices(&mut build, from);
    let inputs = inputs.into_iter().map(|index| element(&mut build, index, dtype)).collect();
    let outputs = write(&mut build, plan, vec![inputs]).unwrap();
    let units = |start: u32, end: u32| (start..end).map(|bit| 1 << bit).collect::<Vec<u64>>();
    let (lanes, threads) = (plan.lane_bits, plan.lane_bits + plan.warp_bits);
    let thread = thread_map(&mut build, &units(0, lanes), &units(lanes, threads));
    for (register, &value) in outputs[0].iter().enumerate() {
        let start = build.i32((register << threads) as i32);
        let place = build.binary(Binary::Add, thread, start);
        let size = build.i32(dtype.bytes() as i32);
        let offset = build.binary(Binary::Mul, place, size);
        let offset = build.cast(Cast::ExtU, offset, DType::I64);
        let address = build.binary(Binary::Add, out, offset);
        let value = byte_of(&mut build, value);
        build.store(Space::Global, Access::default(), address, None, &[value]);
    }
    build.finish()
}

#[test]
fn random_conversions_end_where_layouts_say_and_take_what_plans_say() {
    let mut dice = Dice(36);
    let (mut strategies, mut matrices, mut refused) = (BTreeMap::new(), 0, 0);
    for case in 0..cases() {
        let machine = match dice.below(2) {
            0 => *dice.pick(&Machine::ALL),
            _ => Machine::by_name("sm_90").unwrap(),
        };
        let dtype = *dice.pick(&DType::ALL);
        let (bits, warps) = (dice.below(12), dice.below(4) as u32);
        let shape = dice.shape(bits);
        let mut layout = || dice.layout(&shape, machine.lanes_log2, warps);
        let (from, to) = (layout(), layout());
        let found = plan::conversions(&from, &to, dtype.bits(), machine);
        let Ok(found) = found else {
            refused += 1;
            continue;
        };
        // The cheapest one, any, or one that moves matrices.
        let by_matrices = |plan: &&Plan| {
            plan.steps.iter().any(|step| match step {
                Step::Access(access) => access.form != step::Form::Vector,
                _ => false,
            })
        };
        let plans: Vec<&Plan> = found.plans().collect();
        let plan = match dice.below(4) {
            0 => *dice.pick(&plans),
            1 => found.plans().find(by_matrices).unwrap_or(&found.best),
            _ => &found.best,
        };
        let program = kernel(plan, &from, dtype, machine);
        assert_eq!(crate::lane::verify(&program), Ok(()));
        let mut memory = Memory::default();
        let registers = to.in_bits(REGISTER);
        let threads = plan.lane_bits + plan.warp_bits;
        let bytes = vec![0; (dtype.bytes() as usize) << (registers + threads)];
        let out = memory.push(Buffer { name: "out".into(), bytes, dtype, initialised: false });
        let launch = Launch {
            program: &program,
            grid: [1, 1, 1],
            args: &[out],
            machine: &crate::compile::simulated(machine, 1),
            options: sim::Options::default(),
        };
        let report = sim::run(&launch, &mut memory).unwrap();
        assert!(report.is_clean(), "case {case}: {:?}\n{plan:#}\n{program}", report.findings);
        for place in 0..1_u64 << (registers + threads) {
            let (register, thread) = (place >> threads, place & ((1 << threads) - 1));
            let index = to.apply_flat(register | thread << registers);
            let found = memory.read(out + place * u64::from(dtype.bytes()), dtype.bytes()).unwrap();
            assert_eq!(found, expected(index, dtype), "case {case}: {place}\n{plan:#}");
        }
        let all_act = plan.steps.iter().all(|step| match step {
            Step::Access(access) => access.acting.idle_warps == 0,
            _ => true,
        });
        if all_act {
            let taken = report.shared.wavefronts;
            assert_eq!(taken, plan.cost.wavefronts << plan.warp_bits, "case {case}\n{plan:#}");
        }
        let mut moved = false;
        program.walk(&program.body, &mut |_, inst| {
            if let Op::Load { access, .. } | Op::Store { access, .. } = inst.op {
                moved |= access.form != Form::Vector;
            }
        });
        matrices += u32::from(moved);
        *strategies.entry(plan.strategy).or_insert(0) += 1;
    }
    println!("{strategies:?}, {matrices} with matrix moves, {refused} too large");
    assert!(matrices > 0 && strategies.len() >= 3, "{strategies:?}");
}
