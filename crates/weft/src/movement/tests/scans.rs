//! Scans planned, written, run, and equal to a loop.

use super::random::{Dice, Kernel, cases, elements};
use crate::lane::{Builder, Value};
use crate::movement::{Movement, write_together};
use crate::scalar::Binary;
use weft_layout::machine::Machine;
use weft_layout::plan::{self, Direction};
use weft_layout::{Label, Layout, Space};

/// First `x -> a x + b`, then `x -> c x + d`: associative, and not commutative.
fn after(first: (u32, u32), then: (u32, u32)) -> (u32, u32) {
    let (a, b) = first;
    let (c, d) = then;
    (a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d))
}

fn write_after(build: &mut Builder, first: &[Value], then: &[Value]) -> Vec<Value> {
    let ([a, b], [c, d]) = (first, then) else { panic!("two operands on each side") };
    let factor = build.binary(Binary::Mul, *a, *c);
    let scaled = build.binary(Binary::Mul, *b, *c);
    vec![factor, build.binary(Binary::Add, scaled, *d)]
}

/// What each element should hold.
fn expected(
    outs: &Space,
    dim: usize,
    direction: Direction,
    input: &[(u32, u32)],
) -> Vec<(u32, u32)> {
    let label = Label::dim(dim as u32);
    let place = |element: usize| outs.coordinate(label, element as u64) as usize;
    let stride = outs.mask(label).trailing_zeros();
    let size = 1_usize << outs.bits(label);
    let sum = |element: usize| {
        let start = element & !(outs.mask(label) as usize);
        let of = |place: usize| input[if size == 1 { start } else { start | place << stride }];
        match direction {
            Direction::Forward => (0..place(element))
                .map(of)
                .reduce(after)
                .map_or_else(|| input[element], |before| after(before, input[element])),
            Direction::Reverse => (place(element) + 1..size)
                .rev()
                .map(of)
                .reduce(after)
                .map_or_else(|| input[element], |before| after(before, input[element])),
        }
    };
    (0..input.len()).map(sum).collect()
}

fn check(dice: &mut Dice, machine: &Machine, layout: &Layout) {
    let shape = layout.shape();
    let dim = dice.below(shape.len() as u64) as usize;
    let direction = *dice.pick(&[Direction::Forward, Direction::Reverse]);
    let plan = plan::scan(layout, dim, &[32, 32], direction, machine).unwrap();
    let size = 1_usize << layout.outs().total_bits();
    let input: Vec<u32> = (0..2 * size).map(|_| dice.roll() as u32 | 1).collect();

    let mut kernel = Kernel::new(plan.warp_bits, machine);
    let inputs = vec![kernel.load(layout, 0), kernel.load(layout, size as u64)];
    let movement = Movement { plan: &plan, inputs, places: &[] };
    let outputs = write_together(&mut kernel.build, vec![movement], &mut write_after).unwrap();
    for values in &outputs[0] {
        kernel.store(values);
    }
    let found = kernel.run(machine, &input);
    let pairs: Vec<(u32, u32)> = (0..size).map(|i| (input[i], input[size + i])).collect();
    let expected = expected(layout.outs(), dim, direction, &pairs);
    let (factors, summands) = found.split_at(found.len() / 2);
    for (register, row) in elements(layout).iter().enumerate() {
        for (thread, &element) in row.iter().enumerate() {
            let own = (factors[register][thread], summands[register][thread]);
            let place = (register, thread);
            assert_eq!(
                own, expected[element],
                "{place:?} of {layout}, {dim} {direction:?}\n{plan}"
            );
        }
    }
}

#[test]
fn random_scans_are_what_a_loop_computes() {
    let machines = ["sm_90", "gfx942"].map(|name| Machine::by_name(name).unwrap());
    let mut dice = Dice(1);
    for _ in 0..cases() {
        let machine = *dice.pick(&machines);
        let bits = dice.below(10);
        let shape = dice.shape(bits);
        let warps = dice.below(4) as u32;
        let layout = dice.layout(&shape, machine.lanes_log2, warps);
        check(&mut dice, machine, &layout);
    }
}
