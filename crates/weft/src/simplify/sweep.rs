//! Dead code elimination.
//!
//! A value that a loop carries is used if anything but its own value in the next iteration depends on it; a
//! value that a region yields, if the result is used.

use crate::budget::Stop;
use crate::id::IdMap;
use crate::lane::{Inst, InstData, Op, Program, Region, Value};

/// Removes dead code, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let used = Uses::of(&program, stop);
    let mut body = core::mem::take(&mut program.body);
    sweep_region(&mut program, &mut body, &used, stop);
    program.body = body;
    program
}

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Origin {
    /// It is this result of an operation.
    Result(Inst, usize),
    /// A loop carries it in this place.
    Carried(Inst, usize),
}

/// What is used, found from the operations that do something besides defining results.
struct Uses<'p> {
    program: &'p Program,
    origins: IdMap<Value, Option<Origin>>,
    /// What leaves each loop.
    leaves: IdMap<Inst, Vec<Inst>>,
    used: IdMap<Value, bool>,
    open: Vec<Value>,
}

impl<'p> Uses<'p> {
    fn of(program: &'p Program, stop: &Stop) -> IdMap<Value, bool> {
        let (origins, leaves, used) = (IdMap::default(), IdMap::default(), IdMap::default());
        let mut uses = Self { program, origins, leaves, used, open: Vec::new() };
        program.walk(&program.body, &mut |id, inst| uses.note(id, inst));
        while !stop.is_set()
            && let Some(value) = uses.open.pop()
        {
            uses.follow(value);
        }
        uses.used
    }

    fn note(&mut self, id: Inst, inst: &InstData) {
        for (index, &result) in inst.results.iter().enumerate() {
            self.origins.set(result, Some(Origin::Result(id, index)));
        }
        for region in &inst.regions {
            for (index, &param) in region.params.iter().enumerate() {
                self.origins.set(param, Some(Origin::Carried(id, index)));
            }
        }
        match inst.op {
            Op::Loop | Op::Continue | Op::Yield => {}
            Op::If => self.add(&inst.operands),
            Op::BreakIf { target } => {
                self.leaves.entry(target).push(id);
                self.add(&inst.operands[..1]);
            }
            _ if inst.op.effects().is_removable() => {}
            _ => self.add(&inst.operands),
        }
    }

    fn add(&mut self, values: &[Value]) {
        for &value in values {
            if !core::mem::replace(self.used.entry(value), true) {
                self.open.push(value);
            }
        }
    }

    /// What is used because a value is.
    fn follow(&mut self, value: Value) {
        let insts = &self.program.insts;
        match self.origins[value] {
            Some(Origin::Result(id, index)) => match insts[id].op {
                Op::Loop => {
                    for leave in self.leaves[id].clone() {
                        self.add(&insts[leave].operands[1 + index..2 + index]);
                    }
                }
                Op::If => self.add_handed(id, index),
                _ => self.add(&insts[id].operands),
            },
            Some(Origin::Carried(id, index)) => {
                self.add(&insts[id].operands[index..=index]);
                self.add_handed(id, index);
            }
            None => {}
        }
    }

    /// What the regions of an operation hand over in one place.
    fn add_handed(&mut self, id: Inst, index: usize) {
        let insts = &self.program.insts;
        for last in insts[id].regions.iter().filter_map(|region| region.insts.last()) {
            self.add(&insts[*last].operands[index..=index]);
        }
    }
}

fn sweep_region(
    program: &mut Program,
    region: &mut Region,
    used: &IdMap<Value, bool>,
    stop: &Stop,
) {
    let mut kept = Vec::with_capacity(region.insts.len());
    for id in core::mem::take(&mut region.insts) {
        if stop.is_set() {
            break;
        }
        let inst = &program.insts[id];
        let is_used = |values: &[Value]| values.iter().map(|&value| used[value]).collect();
        let results: Vec<bool> = is_used(&inst.results);
        if inst.op.effects().is_removable() && !results.contains(&true) {
            continue;
        }
        kept.push(id);
        if let Op::BreakIf { target } = inst.op {
            let handed = core::iter::once(true).chain(is_used(&program.insts[target].results));
            keep_operands(program, id, &handed.collect::<Vec<_>>());
            continue;
        }
        let mut regions = core::mem::take(&mut program.insts[id].regions);
        for inner in &mut regions {
            sweep_region(program, inner, used, stop);
        }
        if matches!(program.insts[id].op, Op::If | Op::Loop) {
            hand_over_less(program, id, &mut regions, used);
        }
        program.insts[id].regions = regions;
    }
    region.insts = kept;
}

/// Takes out of what an operation carries and hands over what nobody uses.
fn hand_over_less(
    program: &mut Program,
    id: Inst,
    regions: &mut [Region],
    used: &IdMap<Value, bool>,
) {
    let is_loop = program.insts[id].op == Op::Loop;
    let mut results = program.insts[id].results.to_vec();
    let given: Vec<bool> = results.iter().map(|&result| used[result]).collect();
    for region in regions {
        let carried: Vec<bool> = region.params.iter().map(|&param| used[param]).collect();
        keep(&mut region.params, &carried);
        if let Some(&last) = region.insts.last() {
            keep_operands(program, last, if is_loop { &carried } else { &given });
        }
        if is_loop {
            keep_operands(program, id, &carried);
        }
    }
    keep(&mut results, &given);
    program.insts[id].results = results.into();
}

fn keep_operands(program: &mut Program, id: Inst, kept: &[bool]) {
    let mut operands = program.insts[id].operands.to_vec();
    keep(&mut operands, kept);
    program.insts[id].operands = operands.into();
}

/// The values of a list that are to be kept.
fn keep(list: &mut Vec<Value>, kept: &[bool]) {
    let mut kept = kept.iter();
    list.retain(|_| kept.next().is_none_or(|&kept| kept));
}
