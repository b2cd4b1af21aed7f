//! Every barrier of every recorded kernel is needed, and the simulator sees that.
//!
//! Each barrier of each compiled program is taken out in turn. Without it the simulator must report
//! a fault (a race, a read of what nobody wrote); where it does not, the barrier is redundant. Those
//! are listed in the test, so that a new one is noticed: a release waits for the whole block, also
//! where nobody but the thread that releases has written before.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use crate::corpus::{Case, cases, text};
use crate::inputs::make;
use std::fmt::Write as _;
use weft::compile::{self, Options};
use weft::lane::{Inst, Op, Program, Region, SyncOp};
use weft::sim::{self, Launch};
use weft::ttir;
use weft_layout::machine::Machine;

/// Whether a program's run is without faults.
fn is_clean(case: &Case, machine: &Machine, program: &Program) -> bool {
    let (args, mut memory) = make(&case.arguments);
    let launch = Launch {
        program,
        grid: case.grid,
        args: &args,
        machine: &compile::simulated(machine, 8),
        options: sim::Options { max_steps: 1 << 24, ..sim::Options::default() },
    };
    sim::run(&launch, &mut memory).unwrap().is_clean()
}

/// A region without one operation, in it or in the regions inside it.
fn without(program: &mut Program, region: &Region, inst: Inst) -> Region {
    let insts: Vec<Inst> = region.insts.iter().copied().filter(|&id| id != inst).collect();
    for &id in &insts {
        let inner = program.insts[id].regions.clone();
        let inner = inner.iter().map(|inner| without(program, inner, inst)).collect();
        program.insts[id].regions = inner;
    }
    Region { params: region.params.clone(), insts }
}

/// The barriers without which nothing goes wrong, and how many there are altogether.
fn redundant(case: &Case, warps: u32) -> (Vec<String>, usize) {
    let machine = Machine::by_name("sm_90").unwrap();
    let module = ttir::parse(&text(case.file)).unwrap();
    let options = Options { warps, ..Options::for_machine(machine) };
    let program = compile::compile(&module, &module.kernels[0], &options).unwrap().program;
    let mut barriers = Vec::new();
    program.walk(&program.body, &mut |id, inst| {
        if let Op::Sync(SyncOp::Barrier(scope)) = inst.op {
            let place = module.locations.display(inst.loc).to_string();
            barriers.push((id, format!("{scope:?} at {place}")));
        }
    });
    let count = barriers.len();
    let redundant = barriers.into_iter().filter(|(id, _)| {
        let mut fewer = program.clone();
        fewer.body = without(&mut fewer, &program.body, *id);
        is_clean(case, machine, &fewer)
    });
    (redundant.map(|(_, name)| name).collect(), count)
}

#[test]
fn a_program_without_one_of_its_barriers_is_caught() {
    let mut found = String::new();
    let mut count = 0;
    for case in cases() {
        for warps in [1, 4] {
            let (names, all) = redundant(&case, warps);
            count += all;
            for name in names {
                writeln!(found, "{} with {warps} warps: {name}", case.file).unwrap();
            }
        }
    }
    expect_test::expect![[r#"
        examples/spin_counter with 1 warps: Block at examples/spin_counter.py:22:5
        examples/spin_counter with 1 warps: Block at examples/spin_counter.py:26:17
        examples/spin_counter with 4 warps: Block at examples/spin_counter.py:22:5
        crates/weft/tests/kernels/means_in_steps with 1 warps: Block at crates/weft/tests/kernels/kernels.py:235:5
        crates/weft/tests/kernels/means_in_steps with 1 warps: Block at crates/weft/tests/kernels/kernels.py:236:5
        crates/weft/tests/kernels/means_in_steps with 4 warps: Block at crates/weft/tests/kernels/kernels.py:235:5
        crates/weft/tests/kernels/means_in_steps with 4 warps: Block at crates/weft/tests/kernels/kernels.py:236:5
        crates/weft/tests/kernels/count_digits with 1 warps: Block at crates/weft/tests/kernels/kernels.py:126:5
        crates/weft/tests/kernels/count_digits with 4 warps: Block at crates/weft/tests/kernels/kernels.py:126:5
    "#]].assert_eq(&found);
    assert!(count > 20, "only {count} barriers");
}
