//! Steps on tuples of files: one file for each operand, all with as many registers.

use alloc::vec::Vec;

use super::builder::permute;
use crate::step::{Cube, File, FileType, LaneMap, Neighbour, Operator, Parity, Plan, Step};

/// One file for each operand.
pub(in crate::plan) type Tuple = Vec<File>;

/// The registers of each file of a tuple.
pub(in crate::plan) fn registers(plan: &Plan, tuple: &[File]) -> u32 {
    tuple.first().map_or(0, |&file| plan.file(file).registers)
}

/// A new file like each one of a tuple, defined by the step that `step` makes of both.
fn each(plan: &mut Plan, tuple: &[File], step: impl Fn(usize, File, File) -> Step) -> Tuple {
    let one = |(index, &from): (usize, &File)| {
        let FileType { registers, element_bits } = plan.file(from);
        let to = plan.add_file(registers, element_bits);
        plan.steps.push(step(index, from, to));
        to
    };
    tuple.iter().enumerate().map(one).collect()
}

/// Register `i` of the result is register `source[i]`.
pub(in crate::plan) fn rename(plan: &mut Plan, tuple: &[File], source: &[u32]) -> Tuple {
    tuple.iter().map(|&file| permute(plan, file, source.to_vec())).collect()
}

/// The registers of several tuples, one after the other.
pub(in crate::plan) fn concat(plan: &mut Plan, tuples: &[Tuple]) -> Tuple {
    if let [tuple] = tuples {
        return tuple.clone();
    }
    let operands = tuples.first().map_or(0, Vec::len);
    let one = |operand: usize| {
        let from: Vec<File> = tuples.iter().map(|tuple| tuple[operand]).collect();
        let registers = from.iter().map(|&file| plan.file(file).registers).sum();
        let to = plan.add_file(registers, plan.file(from[0]).element_bits);
        plan.steps.push(Step::Concat { from, to });
        to
    };
    (0..operands).map(one).collect()
}

pub(in crate::plan) fn exchange(plan: &mut Plan, tuple: &[File], source: &LaneMap) -> Tuple {
    each(plan, tuple, |_, from, to| Step::Exchange { from, to, source: source.clone() })
}

pub(in crate::plan) fn shift(
    plan: &mut Plan,
    tuple: &[File],
    bits: &[u32],
    neighbour: Neighbour,
) -> Tuple {
    each(plan, tuple, |_, from, to| Step::Shift { from, to, bits: bits.to_vec(), neighbour })
}

pub(in crate::plan) fn select(
    plan: &mut Plan,
    even: &[File],
    odd: &[File],
    odd_where: Parity,
) -> Tuple {
    if even == odd {
        return even.to_vec();
    }
    each(plan, even, |index, even, to| Step::Select { even, odd: odd[index], to, odd_where })
}

/// `inside` in the threads of a set, else `outside`.
pub(in crate::plan) fn choose(
    plan: &mut Plan,
    inside: &[File],
    outside: &[File],
    threads: Cube,
) -> Tuple {
    each(plan, inside, |index, inside, to| Step::Where {
        inside,
        outside: outside[index],
        to,
        threads,
    })
}

/// The operator applied to two tuples.
pub(in crate::plan) fn combine(plan: &mut Plan, a: &[File], b: &[File], ordered: bool) -> Tuple {
    let types: Vec<FileType> = a.iter().map(|&file| plan.file(file)).collect();
    let to: Tuple = types.iter().map(|ty| plan.add_file(ty.registers, ty.element_bits)).collect();
    let (a, b) = (a.to_vec(), b.to_vec());
    plan.steps.push(Step::Combine { operator: Operator(0), a, b, to: to.clone(), ordered });
    to
}
