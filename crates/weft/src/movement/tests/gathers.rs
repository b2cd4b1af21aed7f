//! Gathers planned, written, run, and equal to a loop.

use super::random::{Dice, Kernel, cases, elements};
use crate::movement::write;
use weft_layout::machine::Machine;
use weft_layout::plan;
use weft_layout::step::Strategy;
use weft_layout::{Label, Layout};

fn check(
    dice: &mut Dice,
    machine: &Machine,
    source: &Layout,
    result: &Layout,
    dim: usize,
) -> Strategy {
    let plan = plan::gather(source, result, dim, 32, 32, machine).unwrap();
    let label = Label::dim(dim as u32);
    let (outs, taken) = (source.outs(), result.outs());
    let (size, count) = (1_usize << outs.total_bits(), 1_usize << taken.total_bits());
    let mut input: Vec<u32> = (0..size).map(|_| dice.roll() as u32).collect();
    let indices: Vec<u32> = (0..count).map(|_| dice.below(1 << outs.bits(label)) as u32).collect();
    input.extend(&indices);

    let mut kernel = Kernel::new(plan.warp_bits, machine);
    let inputs = vec![kernel.load(source, 0), kernel.load(result, size as u64)];
    let outputs = write(&mut kernel.build, &plan, inputs).unwrap();
    kernel.store(&outputs[0]);
    let found = kernel.run(machine, &input);
    for (register, row) in elements(result).iter().enumerate() {
        for (thread, &element) in row.iter().enumerate() {
            let coordinates = outs.labels().map(|other| {
                let own = taken.coordinate(other, element as u64);
                (other, if other == label { u64::from(indices[element]) } else { own })
            });
            let from = outs.pack(&coordinates.collect::<Vec<_>>()).unwrap();
            let place = (register, thread);
            let own = found[register][thread];
            assert_eq!(own, input[from as usize], "{place:?} of {result}, {dim}\n{source}\n{plan}");
        }
    }
    plan.strategy
}

#[test]
fn random_gathers_are_what_a_loop_finds() {
    let machines = ["sm_90", "gfx942"].map(|name| Machine::by_name(name).unwrap());
    let mut dice = Dice(2);
    let mut shuffles = 0;
    for _ in 0..cases() {
        let machine = *dice.pick(&machines);
        let bits = dice.below(10);
        let shape = dice.shape(bits);
        let dim = dice.below(shape.len() as u64) as usize;
        let warps = dice.below(4) as u32;
        let source = dice.layout(&shape, machine.lanes_log2, warps);
        let mut taken = shape.clone();
        if dice.below(2) == 0 {
            taken[dim] = 1 << dice.below(6);
        }
        let alike = taken == shape && dice.below(2) == 0;
        let result =
            if alike { source.clone() } else { dice.layout(&taken, machine.lanes_log2, warps) };
        let strategy = check(&mut dice, machine, &source, &result, dim);
        shuffles += u64::from(strategy == Strategy::GatherShuffles);
    }
    assert!(shuffles > 20 && shuffles + 20 < cases(), "{shuffles}");
}
