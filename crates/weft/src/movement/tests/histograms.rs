//! Histograms planned, written, run, and equal to a loop.

use super::random::{Dice, Kernel, cases, elements};
use crate::dtype::DType;
use crate::movement::write;
use crate::scalar::Cast;
use weft_layout::Layout;
use weft_layout::machine::Machine;
use weft_layout::plan;

fn check(dice: &mut Dice, machine: &Machine, source: &Layout, result: &Layout) {
    let masked = dice.below(2) == 0;
    let bits = *dice.pick(&[8, 32]);
    let plan = plan::histogram(source, result, bits, masked, machine).unwrap();
    let size = 1_usize << source.outs().total_bits();
    let bins = 1_u64 << result.outs().total_bits();
    let end = (bins + bins / 2 + 1).min(1 << bits);
    let mut input: Vec<u32> = (0..size).map(|_| dice.below(end) as u32).collect();
    let masks: Vec<u32> = (0..size).map(|_| dice.below(2) as u32).collect();
    input.extend(&masks);

    let mut kernel = Kernel::new(plan.warp_bits, machine);
    let mut narrow = |start: usize, bits: u32| {
        let words = kernel.load(source, start as u64);
        match bits {
            8 => words.iter().map(|&x| kernel.build.cast(Cast::Trunc, x, DType::I8)).collect(),
            _ => words,
        }
    };
    let mut inputs = vec![narrow(0, bits)];
    if masked {
        inputs.push(narrow(size, 8));
    }
    let outputs = write(&mut kernel.build, &plan, inputs).unwrap();
    kernel.store(&outputs[0]);
    let found = kernel.run(machine, &input);
    let mut expected = vec![0; bins as usize];
    for (element, &mask) in masks.iter().enumerate() {
        if let Some(count) = expected.get_mut(input[element] as usize)
            && (!masked || mask == 1)
        {
            *count += 1;
        }
    }
    for (register, row) in elements(result).iter().enumerate() {
        for (thread, &element) in row.iter().enumerate() {
            let place = (register, thread);
            let own = found[register][thread];
            assert_eq!(own, expected[element], "{place:?} of {result}\n{source}\n{plan}");
        }
    }
}

#[test]
fn random_histograms_are_what_a_loop_counts() {
    let machines = ["sm_90", "gfx942"].map(|name| Machine::by_name(name).unwrap());
    let mut dice = Dice(3);
    for _ in 0..cases() {
        let machine = *dice.pick(&machines);
        let bits = dice.below(10);
        let shape = dice.shape(bits);
        let warps = dice.below(4) as u32;
        let source = dice.layout(&shape, machine.lanes_log2, warps);
        let bins = 1 << dice.below(9);
        let result = dice.layout(&[bins], machine.lanes_log2, warps);
        check(&mut dice, machine, &source, &result);
    }
}
