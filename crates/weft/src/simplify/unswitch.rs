//! Loop unswitching: loops whose loads need no predicate, where no round changes it.
//!
//! Predicates of loads that no round changes, as those of columns outside of a matrix are, are asked in front of the
//! loop:
//!
//! ```text
//!                                  if p:
//! for …:                               for …:
//!     x = load …, if p                     x = load …
//!     sum = sum + x                        sum = sum + x
//!                                  else:
//!                                      for …:
//!                                          x = load …, if p
//!                                          sum = sum + x
//! ```
//!
//! NVIDIA's assembler unrolls short loops and begins the loads of several rounds together, but not where loads have
//! predicates. (Sums of 1,000 columns over 32,768 rows in blocks of 64 by 8 on an H200: 1,443 µs, and 114 µs without
//! predicates.) It is done to innermost loops of few operations (at most `MOST`) that do nothing but load and compute,
//! each thread by itself: threads may go either way.

use crate::budget::Stop;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::effects::{Control, Fence, Latency, Tokens};
use crate::lane::{Inst, InstData, Op, Program, Region, Value, ValueData};
use crate::scalar::Binary;
use smallvec::{SmallVec, smallvec};

/// The most operations of a loop that is written twice: NVIDIA's assembler unrolls loops of up to some fifty
/// instructions (seen of ptxas 12.8: of 47, not of 53), and some of the operations are none.
const MOST: usize = 64;

/// Unswitches loops, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped, which leaves loops as they are.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let mut body = core::mem::take(&mut program.body);
    region(&mut program, &mut body, stop);
    program.body = body;
    program
}

fn region(program: &mut Program, list: &mut Region, stop: &Stop) {
    let mut insts = Vec::with_capacity(list.insts.len());
    for &id in &list.insts {
        if stop.is_set() {
            insts.push(id);
            continue;
        }
        let mut inner = core::mem::take(&mut program.insts[id].regions);
        for inner in &mut inner {
            region(program, inner, stop);
        }
        program.insts[id].regions = inner;
        let predicates = predicates(program, id);
        if predicates.is_empty() {
            insts.push(id);
        } else {
            unswitch(program, id, &predicates, &mut insts);
        }
    }
    list.insts = insts;
}

/// The predicates of a loop's loads that come from outside, if the loop may be written twice.
fn predicates(program: &Program, id: Inst) -> Vec<Value> {
    let InstData { op: Op::Loop, regions, .. } = &program.insts[id] else { return Vec::new() };
    let mut inside: IdMap<Value, bool> = IdMap::default();
    let (mut wanted, mut count, mut is_plain) = (Vec::new(), 0, true);
    for body in regions {
        body.params.iter().for_each(|&param| inside.set(param, true));
        program.walk(body, &mut |_, inst| {
            let effects = inst.op.effects();
            count += 1;
            is_plain &= effects.writes.is_empty()
                && !effects.visible
                && effects.fence == Fence::None
                && effects.tokens == Tokens::None
                && effects.convergent.is_none()
                && effects.control != Control::Regions;
            if effects.latency == Latency::Global {
                wanted.extend(inst.memory_operands().and_then(|roles| roles.predicate));
            }
            inst.results.iter().for_each(|&result| inside.set(result, true));
        });
    }
    wanted.sort_unstable();
    wanted.dedup();
    wanted.retain(|&predicate| !inside[predicate]);
    if is_plain && count <= MOST { wanted } else { Vec::new() }
}

/// Writes a loop twice: for threads for which all of some predicates hold, and for others.
fn unswitch(program: &mut Program, id: Inst, predicates: &[Value], insts: &mut Vec<Inst>) {
    let loc = program.insts[id].loc;
    let mut pushed = |program: &mut Program, op, operands: SmallVec<[Value; 4]>| {
        let result = program.values.push(ValueData { dtype: DType::I1 });
        let results = smallvec![result];
        insts.push(program.insts.push(InstData { op, operands, results, regions: vec![], loc }));
        result
    };
    let holds = pushed(program, Op::Const(1), smallvec![]);
    let all = predicates.iter().copied().reduce(|all, predicate| {
        pushed(program, Op::Binary(Binary::And), smallvec![all, predicate])
    });
    let Some(all) = all else { return };
    let copy = copied(program, id, predicates, holds);
    let results = program.insts[id].results.clone();
    let own: SmallVec<[Value; 2]> =
        results.iter().map(|&value| program.values.push(program.values[value])).collect();
    program.insts[id].results.clone_from(&own);
    let ends = [program.insts[copy].results.clone(), own];
    let regions = [copy, id].into_iter().zip(ends).map(|(of, end)| {
        let (operands, results) = (SmallVec::from_slice(&end), smallvec![]);
        let end = InstData { op: Op::Yield, operands, results, regions: vec![], loc };
        Region { params: vec![], insts: vec![of, program.insts.push(end)] }
    });
    let regions = regions.collect();
    insts.push(program.insts.push(InstData {
        op: Op::If,
        operands: smallvec![all],
        results,
        regions,
        loc,
    }));
}

/// A copy of a loop in which no operation has regions, where one value stands for others.
fn copied(program: &mut Program, id: Inst, others: &[Value], one: Value) -> Inst {
    let mut copies: IdMap<Value, Option<Value>> = IdMap::default();
    for &other in others {
        copies.set(other, Some(one));
    }
    let copy = program.insts.push(program.insts[id].clone());
    renamed(program, copy, None, &mut copies);
    let mut bodies = core::mem::take(&mut program.insts[copy].regions);
    for body in &mut bodies {
        for param in &mut body.params {
            *param = again(program, *param, &mut copies);
        }
        for inst in &mut body.insts {
            *inst = program.insts.push(program.insts[*inst].clone());
            renamed(program, *inst, Some((id, copy)), &mut copies);
        }
    }
    program.insts[copy].regions = bodies;
    copy
}

/// Lets a copy of an operation take and give copies of values, and leave the copy of a loop.
fn renamed(
    program: &mut Program,
    id: Inst,
    around: Option<(Inst, Inst)>,
    copies: &mut IdMap<Value, Option<Value>>,
) {
    let results = core::mem::take(&mut program.insts[id].results);
    let results = results.into_iter().map(|result| again(program, result, copies)).collect();
    let inst = &mut program.insts[id];
    inst.results = results;
    for operand in &mut inst.operands {
        *operand = copies[*operand].unwrap_or(*operand);
    }
    if let (Op::BreakIf { target }, Some((of, copy))) = (&mut inst.op, around)
        && *target == of
    {
        *target = copy;
    }
}

/// Another value of the type of one.
fn again(program: &mut Program, value: Value, copies: &mut IdMap<Value, Option<Value>>) -> Value {
    let data = program.values[value];
    let copy = program.values.push(data);
    copies.set(value, Some(copy));
    copy
}
