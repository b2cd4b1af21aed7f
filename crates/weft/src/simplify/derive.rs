//! Lets a loop carry one of several values that differ by constants.
//!
//! A thread's pointers into a tile are often one pointer plus constants, and every iteration of a loop advances
//! all of them equally. Then the loop carries the first, and each of the others is a sum where it is used, which
//! costs nothing in an address:
//!
//! ```text
//! loop (p = a, q = a + 64) { ..; continue (p + 8, q + 8) }
//! loop (p = a) { q = p + 64; ..; continue (p + 8) }
//! ```
//!
//! The carried values are partitioned as states are when a finite automaton is minimized: values that start
//! as sums of one value and constants are assumed to keep their distances; where the body of the loop changes a
//! distance, the class is split, until no class splits any more.

use crate::budget::Stop;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{Inst, InstData, Op, Program, Value, ValueData};
use crate::scalar::Binary;
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// Derives the values, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let mut loops: Vec<Inst> = Vec::new();
    program.walk(&program.body, &mut |id, inst| {
        if inst.op == Op::Loop {
            loops.push(id);
        }
    });
    for target in loops {
        if stop.is_set() {
            break;
        }
        let derived = derived(&program, target);
        if derived.iter().any(Option::is_some) {
            carry_less(&mut program, target, &derived);
        }
    }
    program
}

/// A value and a constant that is added to it; the constant alone where there is no value.
type Sum = (Option<Value>, u64);

/// The values that are sums of another one and a constant, and the constants.
#[derive(Default)]
struct Sums(IdMap<Value, Option<Sum>>);

impl Sums {
    fn of_all(program: &Program) -> Self {
        let mut sums = Self::default();
        program.walk(&program.body, &mut |_, inst| sums.note(inst));
        sums
    }

    fn note(&mut self, inst: &InstData) {
        let sum = match inst.op {
            Op::Const(bits) => Some((None, bits)),
            Op::Binary(Binary::Add) => {
                let [x, y] = [0, 1].map(|index| self.of(inst.operands[index]));
                match (x, y) {
                    ((value, own), (None, other)) | ((None, own), (value, other)) => {
                        Some((value, own.wrapping_add(other)))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some(sum) = sum {
            self.0.set(inst.results[0], Some(sum));
        }
    }

    fn of(&self, value: Value) -> Sum {
        self.0[value].unwrap_or((Some(value), 0))
    }
}

/// Which of the values that a loop carries each is a sum of, by number, and the constant.
type Derived = Vec<Option<(usize, u64)>>;

fn derived(program: &Program, target: Inst) -> Derived {
    let sums = Sums::of_all(program);
    let inst = &program.insts[target];
    let [body] = &inst.regions[..] else { return Vec::new() };
    let Some(&last) = body.insts.last() else { return Vec::new() };
    let next = &program.insts[last].operands;
    let initial: Vec<Sum> = inst.operands.iter().map(|&value| sums.of(value)).collect();
    let dtypes: Vec<DType> = body.params.iter().map(|&param| program.dtype(param)).collect();
    let mut numbers: IdMap<Value, Option<usize>> = IdMap::default();
    for (index, &param) in body.params.iter().enumerate() {
        numbers.set(param, Some(index));
    }
    // The first of each class, which begins with what its members begin with but for a constant.
    let mut leaders = grouped(initial.iter().zip(&dtypes).map(|(&(value, _), &dtype)| {
        matches!(dtype, DType::I32 | DType::I64).then_some((dtype, value))
    }));
    loop {
        let apart = |index: usize| initial[index].1.wrapping_sub(initial[leaders[index]].1);
        let after = |index: usize| {
            let (value, constant) = sums.of(next[index]);
            match value.and_then(|value| numbers[value]) {
                Some(other) => {
                    (Some(body.params[leaders[other]]), constant.wrapping_add(apart(other)))
                }
                None => (value, constant),
            }
        };
        let finer = grouped((0..leaders.len()).map(|index| {
            let (value, constant) = after(index);
            let constant = constant.wrapping_sub(apart(index));
            Some((leaders[index], value, truncated(dtypes[index], constant)))
        }));
        if finer == leaders {
            break;
        }
        leaders = finer;
    }
    let found = leaders.iter().enumerate().map(|(index, &leader)| {
        let constant = initial[index].1.wrapping_sub(initial[leader].1);
        (leader != index).then_some((leader, truncated(dtypes[index], constant)))
    });
    found.collect()
}

/// Takes out of what a loop carries the values that are sums of another one and a constant; each is computed
/// in front of its first use, so that it takes no register before.
fn carry_less(program: &mut Program, target: Inst, derived: &Derived) {
    let Some(mut body) = program.insts[target].regions.pop() else { return };
    for id in body.insts.last().copied().into_iter().chain([target]) {
        let mut operands = program.insts[id].operands.to_vec();
        keep(&mut operands, derived);
        program.insts[id].operands = operands.into();
    }
    let mut missing: IdMap<Value, Option<(Value, u64)>> = IdMap::default();
    for (&value, sum) in body.params.iter().zip(derived) {
        missing.set(value, sum.map(|(leader, constant)| (body.params[leader], constant)));
    }
    let mut insts: Vec<Inst> = Vec::with_capacity(body.insts.len());
    for &id in &body.insts {
        for value in used(program, id) {
            if let Some((leader, constant)) = missing.entry(value).take() {
                insts.extend(sum(program, id, value, leader, constant));
            }
        }
        insts.push(id);
    }
    body.insts = insts;
    keep(&mut body.params, derived);
    program.insts[target].regions.push(body);
}

/// An operation with one result, for the sake of another one.
pub(super) fn emit(
    program: &mut Program,
    user: Inst,
    op: Op,
    operands: &[Value],
    result: Value,
) -> Inst {
    let loc = program.insts[user].loc;
    let (operands, results, regions) = (operands.into(), smallvec![result], Vec::new());
    program.insts.push(InstData { op, operands, results, regions, loc })
}

/// What an operation and those in its regions use.
pub(super) fn used(program: &Program, id: Inst) -> Vec<Value> {
    let inst = &program.insts[id];
    let mut used = inst.operands.to_vec();
    for region in &inst.regions {
        program.walk(region, &mut |_, inner| used.extend_from_slice(&inner.operands));
    }
    used
}

/// The operations that make a value the sum of another one and a constant, for the sake of a user.
fn sum(program: &mut Program, user: Inst, value: Value, other: Value, constant: u64) -> [Inst; 2] {
    let bits = program.values.push(ValueData { dtype: program.dtype(value) });
    let constant = emit(program, user, Op::Const(constant), &[], bits);
    [constant, emit(program, user, Op::Binary(Binary::Add), &[other, bits], value)]
}

/// What of a list the loop still carries.
fn keep(list: &mut Vec<Value>, derived: &Derived) {
    let mut carried = derived.iter().map(Option::is_none);
    list.retain(|_| carried.next().unwrap_or(true));
}

/// The number of the first with the same key, for each; their own for those without a key.
fn grouped<K: Eq + core::hash::Hash>(keys: impl Iterator<Item = Option<K>>) -> Vec<usize> {
    let mut first: FxHashMap<K, usize> = FxHashMap::default();
    let leader = |(index, key): (usize, Option<K>)| match key {
        Some(key) => *first.entry(key).or_insert(index),
        None => index,
    };
    keys.enumerate().map(leader).collect()
}

/// A constant as a number of this type has it.
fn truncated(dtype: DType, constant: u64) -> u64 {
    if dtype == DType::I32 { constant & u64::from(u32::MAX) } else { constant }
}
