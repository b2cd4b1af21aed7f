//! Loop-invariant code motion.
//!
//! An operation that may be executed where it was not going to be (the loop may be left before it, or a condition
//! around it not hold), and whose operands come from outside the loop, moves in front of it. Inner loops go first, so
//! that what leaves them can leave the outer one too.
//!
//! What is added in several steps to a number of the loop is added up in front of it:
//!
//! ```text
//! for …:                   c = a + b
//!     y = x + a            for …:
//!     z = y + b                z = x + c
//! ```
//!
//! Constants stay where they are: an access adds one to its address for nothing.

use crate::budget::Stop;
use crate::id::IdMap;
use crate::lane::{Inst, InstData, Op, Program, Region, Value, ValueData};
use crate::scalar::Binary;
use smallvec::smallvec;

/// Moves operations out of loops, without being stopped.
pub fn run(program: Program) -> Program {
    run_until(program, &Stop::default())
}

/// The same until it is stopped; what it then gives is no program.
pub fn run_until(mut program: Program, stop: &Stop) -> Program {
    let mut body = core::mem::take(&mut program.body);
    let known = Known::of(&program, &body);
    hoist_region(&mut program, &mut body, &known, stop);
    program.body = body;
    program
}

/// What is known of values before anything moves.
struct Known {
    /// How often each is used.
    uses: IdMap<Value, u32>,
    constants: IdMap<Value, bool>,
}

impl Known {
    fn of(program: &Program, body: &Region) -> Self {
        let (mut uses, mut constants) = (IdMap::default(), IdMap::default());
        program.walk(body, &mut |_, inst| {
            inst.operands.iter().for_each(|&operand| *uses.entry(operand) += 1);
            if let Op::Const(_) = inst.op {
                inst.results.iter().for_each(|&result| constants.set(result, true));
            }
        });
        Self { uses, constants }
    }
}

fn hoist_region(program: &mut Program, region: &mut Region, known: &Known, stop: &Stop) {
    let mut insts = Vec::with_capacity(region.insts.len());
    for id in core::mem::take(&mut region.insts) {
        if stop.is_set() {
            break;
        }
        let mut inner = core::mem::take(&mut program.insts[id].regions);
        for inner in &mut inner {
            hoist_region(program, inner, known, stop);
            if matches!(program.insts[id].op, Op::Loop) {
                let mut invariant = Invariant {
                    program,
                    known,
                    inside: IdMap::default(),
                    sums: IdMap::default(),
                    taken: Vec::new(),
                };
                invariant.take(inner);
                insts.extend(invariant.taken);
            }
        }
        program.insts[id].regions = inner;
        insts.push(id);
    }
    region.insts = insts;
}

/// What does not depend on a loop.
struct Invariant<'a> {
    program: &'a mut Program,
    known: &'a Known,
    /// What the loop defines.
    inside: IdMap<Value, bool>,
    /// The sums, each used once, of a number that the loop defines and one that it does not.
    sums: IdMap<Value, Option<[Value; 2]>>,
    /// What leaves the loop, in order.
    taken: Vec<Inst>,
}

impl Invariant<'_> {
    /// Removes from a region of the loop, and from the branches in it, the operations that do not depend on the loop.
    fn take(&mut self, region: &mut Region) {
        for &param in &region.params {
            self.inside.set(param, true);
        }
        let mut kept = Vec::new();
        for &id in &region.insts {
            let inst = &self.program.insts[id];
            if inst.op.effects().may_be_speculated()
                && inst.operands.iter().all(|&operand| !self.inside[operand])
            {
                self.taken.push(id);
                continue;
            }
            kept.push(id);
            for &result in &inst.results {
                self.inside.set(result, true);
            }
            if inst.op == Op::If {
                let mut branches = core::mem::take(&mut self.program.insts[id].regions);
                for branch in &mut branches {
                    self.take(branch);
                }
                self.program.insts[id].regions = branches;
            } else if inst.op == Op::Binary(Binary::Add) {
                self.add_up(id);
            }
        }
        region.insts = kept;
    }

    /// Adds to a number of the loop at once what is added to it in two steps.
    fn add_up(&mut self, id: Inst) {
        let inst = &self.program.insts[id];
        let (&[x, y], &[result]) = (&inst.operands[..], &inst.results[..]) else { return };
        let (inner, added) = if self.inside[x] { (x, y) } else { (y, x) };
        let dtype = self.program.dtype(result);
        if dtype.is_float() || self.inside[added] || self.known.constants[added] {
            return;
        }
        let mut sum = [inner, added];
        if let Some([inner, before]) = self.sums[inner] {
            let loc = inst.loc;
            let both = self.program.values.push(ValueData { dtype });
            self.taken.push(self.program.insts.push(InstData {
                op: Op::Binary(Binary::Add),
                operands: smallvec![before, added],
                results: smallvec![both],
                regions: vec![],
                loc,
            }));
            sum = [inner, both];
            self.program.insts[id].operands = smallvec![inner, both];
        }
        if self.known.uses[result] == 1 {
            self.sums.set(result, Some(sum));
        }
    }
}
