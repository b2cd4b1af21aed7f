//! Loads from a given memory layout.

use crate::{
    Layout, Machine,
    interop::parse_attribute,
    plan::{load, loaded, vectorize},
    space::{LANE, OFFSET, REGISTER, Space, WARP},
    step::{Access, File, FileType, Form, Group, Kind, Plan, Scope, Step},
    testing::{self, distributed_over, invertible, repeat, shape},
    witness,
};
use std::{vec, vec::Vec};

/// What stores a tensor where a memory layout has it, element by element, and loads it again.
fn through(memory: &Layout, registers: &Layout, bits: u32, machine: &Machine) -> Plan {
    let ty = FileType { registers: 1 << registers.in_bits(REGISTER), element_bits: bits };
    let mut plan = Plan::new(&[ty], registers.in_bits(LANE), registers.in_bits(WARP));
    let vectors = vectorize(registers, memory, 0).unwrap();
    let places = registers.solve(memory).unwrap();
    let bytes = u64::from(bits / 8);
    let columns = |label| -> Vec<u64> {
        places.columns(label).iter().map(|&c| places.outs().coordinate(OFFSET, c) * bytes).collect()
    };
    let own = columns(REGISTER);
    let address = |register: u32| {
        let set = own.iter().enumerate().filter(|(bit, _)| register >> bit & 1 == 1);
        set.fold(0, |sum, (_, column)| sum ^ column)
    };
    let group = |registers: Vec<u32>| Group { address: address(registers[0]), registers };
    plan.steps.push(Step::Access(Access {
        kind: Kind::Store,
        form: Form::Vector,
        file: File(0),
        groups: vectors.groups.into_iter().map(group).collect(),
        lane: columns(LANE),
        warp: columns(WARP),
        acting: vectors.acting,
    }));
    plan.steps.push(Step::Barrier(Scope::Block));
    let file = loaded(&mut plan, memory, registers, bits, machine).unwrap();
    plan.outputs = vec![file];
    plan.scratch_bytes = bytes << memory.ins().total_bits();
    plan
}

#[test]
fn every_thread_loads_its_own_elements() {
    let machine = Machine::by_name("sm_90").unwrap();
    let mut matrices = 0;
    repeat(2_000, |u| {
        let shape = shape(u, 9)?;
        let outs = Space::tensor(&shape).unwrap();
        let kind = testing::Kind::any(u)?;
        let registers = distributed_over(u, &shape, 5, 2, kind)?;
        let columns = invertible(u, outs.total_bits())?.columns().to_vec();
        let ins = Space::new(&[(OFFSET, outs.total_bits())]).unwrap();
        let memory = Layout::new(ins, outs, &columns).unwrap();
        let bits = *u.choose(&[8, 16, 32, 64])?;
        let plan = through(&memory, &registers, bits, machine);
        witness::conversion(&plan, &registers, &registers).unwrap();
        Ok(())
    });
    // The factors of a product, from swizzled rows, as they lie and turned.
    for (index, shape) in [(0, [64, 32]), (1, [32, 64])] {
        let factor = std::format!(
            "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, \
             warpsPerCTA = [2, 2], instrShape = [16, 8]}}>, kWidth = 2}}>"
        );
        let registers = parse_attribute(&factor).unwrap().layout(&shape).unwrap();
        let rows = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>";
        let memory = parse_attribute(rows).unwrap().layout(&shape).unwrap();
        let plan = through(&memory, &registers, 16, machine);
        witness::conversion(&plan, &registers, &registers).unwrap();
        let plan = load(&memory, &registers, 16, machine).unwrap();
        let is_matrix = |step: &&Step| matches!(step, Step::Access(a) if a.form != Form::Vector);
        matrices += plan.steps.iter().filter(is_matrix).count();
    }
    assert_eq!(matrices, 2);
}
