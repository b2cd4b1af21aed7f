//! Lets a loop carry how far the pointers of its asynchronous copies have come, where they advance together.
//!
//! Pointers to several rows of a tile differ by no constant ([`derive`](super::derive) is for those that do), but all
//! advance by the same number. Then the loop carries the distance:
//!
//! ```text
//! loop (p = a, q = b) { ..; continue (p + s, q + s) }
//! loop (d = 0) { p = a + d; q = b + d; ..; continue (d + s) }
//! ```
//!
//! These are as many sums. But NVIDIA's assembler advances a carried pointer in front of its use and copies the old
//! one for that, all of them through one register, so that each asynchronous copy waits until the one before it has
//! read its address: a product of f16 in blocks of 128 x 128 with 4 warps took 2,054 µs for 8192^3 on an H200, and
//! 1,851 so.
//!
//! Other loops stay as they are: where the assembler unrolls one, a carried pointer and a constant step are one address
//! with several immediate offsets.

use super::derive::{emit, used};
use crate::budget::Stop;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::effects::Tokens;
use crate::lane::{Inst, Op, Program, Value, ValueData};
use crate::scalar::Binary;

/// Runs the pass.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let mut loops: Vec<Inst> = Vec::new();
    let mut copies = false;
    program.walk(&program.body, &mut |id, inst| {
        if inst.op == Op::Loop {
            loops.push(id);
        }
        copies |= inst.op.effects().tokens == Tokens::Starts;
    });
    for target in loops.into_iter().filter(|_| copies) {
        if stop.is_set() {
            break;
        }
        let groups = with_one_step(&program, target);
        if !groups.is_empty() {
            carry_distances(&mut program, target, groups);
        }
    }
    program
}

/// The pointers that a loop carries, by number, that advance by the same number in each round and are used for nothing
/// else then; several for each number, which is known in front of the loop, and asynchronous copies use one of them.
fn with_one_step(program: &Program, target: Inst) -> Vec<(Value, Vec<usize>)> {
    let [body] = &program.insts[target].regions[..] else { return Vec::new() };
    let Some(&last) = body.insts.last() else { return Vec::new() };
    let mut inside: IdMap<Value, bool> = IdMap::default();
    let mut uses: IdMap<Value, u32> = IdMap::default();
    let mut sums: IdMap<Value, Option<[Value; 2]>> = IdMap::default();
    let mut copied: IdMap<Value, bool> = IdMap::default();
    for &param in &body.params {
        inside.set(param, true);
    }
    program.walk(body, &mut |_, inst| {
        for &operand in &inst.operands {
            *uses.entry(operand) += 1;
        }
        let params = inst.regions.iter().flat_map(|region| &region.params);
        for &value in inst.results.iter().chain(params) {
            inside.set(value, true);
        }
        if let (Op::Binary(Binary::Add), &[x, y]) = (&inst.op, &inst.operands[..]) {
            sums.set(inst.results[0], Some([x, y]));
        }
        if inst.op.effects().tokens == Tokens::Starts {
            for &operand in &inst.operands {
                for value in [operand].into_iter().chain(sums[operand].into_iter().flatten()) {
                    copied.set(value, true);
                }
            }
        }
    });
    let mut found: Vec<(Value, Vec<usize>)> = Vec::new();
    for (index, (&param, next)) in body.params.iter().zip(&program.insts[last].operands).enumerate()
    {
        let step = match sums[*next] {
            Some([x, y]) if x == param => y,
            Some([x, y]) if y == param => x,
            _ => continue,
        };
        if program.dtype(param) != DType::I64 || inside[step] || uses[*next] != 1 {
            continue;
        }
        match found.iter_mut().find(|(known, _)| *known == step) {
            Some((_, members)) => members.push(index),
            None => found.push((step, vec![index])),
        }
    }
    found.retain(|(_, members)| {
        members.len() > 1 && members.iter().any(|&index| copied[body.params[index]])
    });
    found
}

/// Has a loop carry how far pointers have come that have one step, in place of them.
fn carry_distances(program: &mut Program, target: Inst, groups: Vec<(Value, Vec<usize>)>) {
    let Some(mut body) = program.insts[target].regions.pop() else { return };
    let Some(last) = body.insts.pop() else { return };
    let sum = Op::Binary(Binary::Add);
    let mut stays = vec![true; body.params.len()];
    let mut bases: IdMap<Value, Option<[Value; 2]>> = IdMap::default();
    let (mut zeros, mut advances, mut distances) = (Vec::new(), Vec::new(), Vec::new());
    for (step, members) in groups {
        let [zero, distance, next] =
            [(); 3].map(|()| program.values.push(ValueData { dtype: DType::I64 }));
        zeros.push(emit(program, target, Op::Const(0), &[], zero));
        advances.push(emit(program, target, sum.clone(), &[distance, step], next));
        distances.push([zero, distance, next]);
        for index in members {
            let base = program.insts[target].operands[index];
            bases.set(body.params[index], Some([base, distance]));
            stays[index] = false;
        }
    }
    for (id, new) in [(target, 0), (last, 2)] {
        let mut operands = program.insts[id].operands.to_vec();
        keep(&mut operands, &stays);
        operands.extend(distances.iter().map(|values| values[new]));
        program.insts[id].operands = operands.into();
    }
    let mut insts: Vec<Inst> = Vec::with_capacity(body.insts.len());
    for &id in body.insts.iter().chain([&last]) {
        for value in used(program, id) {
            if let Some(operands) = bases.entry(value).take() {
                insts.push(emit(program, id, sum.clone(), &operands, value));
            }
        }
        if id == last {
            insts.append(&mut advances);
        }
        insts.push(id);
    }
    body.insts = insts;
    keep(&mut body.params, &stays);
    body.params.extend(distances.iter().map(|values| values[1]));
    program.insts[target].regions.push(body);
    program.body.insts.splice(0..0, zeros);
}

/// What of a list the loop still carries.
fn keep(list: &mut Vec<Value>, stays: &[bool]) {
    let mut stays = stays.iter();
    list.retain(|_| stays.next().copied().unwrap_or(true));
}
