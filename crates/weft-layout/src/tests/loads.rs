//! Loads from a given memory layout, and stores to one.

use crate::{
    Layout, Machine,
    interop::parse_attribute,
    plan::{load, loaded, store, vectorize},
    space::{LANE, OFFSET, REGISTER, Space, WARP},
    step::{Access, Acting, File, FileType, Form, Group, Kind, Plan, Scope, Step},
    testing::{self, distributed_over, invertible, repeat, shape},
    witness,
};
use std::{vec, vec::Vec};

/// Where each element of a tensor goes that is stored one by one, and which threads store it.
fn one_by_one(memory: &Layout, registers: &Layout, bits: u32) -> Access {
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
    Access {
        kind: Kind::Store,
        form: Form::Vector,
        file: File(0),
        groups: vectors.groups.into_iter().map(group).collect(),
        lane: columns(LANE),
        warp: columns(WARP),
        acting: vectors.acting,
    }
}

/// What stores a tensor where a memory layout has it, element by element, and loads it again.
fn through(memory: &Layout, registers: &Layout, bits: u32, machine: &Machine) -> Plan {
    let ty = FileType { registers: 1 << registers.in_bits(REGISTER), element_bits: bits };
    let mut plan = Plan::new(&[ty], registers.in_bits(LANE), registers.in_bits(WARP));
    plan.steps.push(Step::Access(one_by_one(memory, registers, bits)));
    plan.steps.push(Step::Barrier(Scope::Block));
    let file = loaded(&mut plan, memory, registers, bits, machine).unwrap();
    plan.outputs = vec![file];
    plan.scratch_bytes = u64::from(bits / 8) << memory.ins().total_bits();
    plan
}

/// What stores a tensor by the planned store, and loads it again element by element: each thread from where it
/// would have stored it.
fn back(memory: &Layout, registers: &Layout, bits: u32, machine: &Machine) -> Plan {
    let mut plan = store(registers, memory, bits, machine).unwrap();
    plan.steps.push(Step::Barrier(Scope::Block));
    let file = plan.add_file(1 << registers.in_bits(REGISTER), bits);
    let all: Vec<u32> = (0..1 << registers.in_bits(REGISTER)).collect();
    let Access { lane, warp, .. } = one_by_one(memory, registers, bits);
    let places = registers.solve(memory).unwrap();
    let bytes = u64::from(bits / 8);
    let own = places.columns(REGISTER).iter().enumerate();
    let own: Vec<(usize, u64)> =
        own.map(|(bit, &c)| (bit, places.outs().coordinate(OFFSET, c) * bytes)).collect();
    let address = |register: u32| {
        let set = own.iter().filter(|(bit, _)| register >> bit & 1 == 1);
        set.fold(0, |sum, (_, column)| sum ^ column)
    };
    let group = |&register: &u32| Group { address: address(register), registers: vec![register] };
    plan.steps.push(Step::Access(Access {
        kind: Kind::Load,
        form: Form::Vector,
        file,
        groups: all.iter().map(group).collect(),
        lane,
        warp,
        acting: Acting::ALL,
    }));
    plan.outputs = vec![file];
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
        let plan = back(&memory, &registers, bits, machine);
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

/// The sums of warpgroups in rows as the copy engine reads them: by matrices, but for bytes, and without a conflict.
#[test]
fn sums_are_stored_by_matrices() {
    let machine = Machine::by_name("sm_90").unwrap();
    for (bits, shape, span, by_matrices) in [
        (16, [64, 64], 128, true),
        (16, [128, 256], 128, true),
        (16, [64, 32], 64, true),
        (16, [64, 16], 32, true),
        (32, [64, 32], 128, false),
        (8, [64, 128], 128, false),
    ] {
        let sums = std::format!(
            "#ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], \
             instrShape = [16, {}, 16]}}>",
            shape[1]
        );
        let rows = std::format!(
            "#ttg.nvmma_shared<{{swizzlingByteWidth = {span}, transposed = false, elementBitWidth = {bits}}}>"
        );
        let registers = parse_attribute(&sums).unwrap().layout(&shape).unwrap();
        let memory = parse_attribute(&rows).unwrap().layout(&shape).unwrap();
        let plan = store(&registers, &memory, bits, machine).unwrap();
        let is_matrix = |step: &Step| matches!(step, Step::Access(a) if a.form != Form::Vector);
        assert_eq!(plan.steps.iter().all(is_matrix), by_matrices, "{bits} {shape:?}");
        assert!(
            !by_matrices || plan.cost.wavefronts == plan.cost.ideal_wavefronts,
            "{bits} {shape:?}"
        );
        let plan = back(&memory, &registers, bits, machine);
        witness::conversion(&plan, &registers, &registers).unwrap();
    }
}
