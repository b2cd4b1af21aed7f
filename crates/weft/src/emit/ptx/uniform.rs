//! Which branches the assembler must be told to be uniform.
//!
//! Where lanes of a warp do something together (shuffle, move matrices, wait), they have come there
//! together: every branch around it, and every break out of a loop around it, is the same for all of them,
//! or the program would be wrong. The assembler sees this of conditions that depend only on the kernel's
//! arguments and the number of the block. Where a condition depends on data it does not, and writes each
//! shuffle a second time for lanes that have diverged.
//!
//! Only branches that it cannot see through are marked, because it does not unroll a loop whose exit is marked
//! as uniform.

use crate::id::IdMap;
use crate::lane::effects::Latency;
use crate::lane::{IdKind, Inst, InstData, Op, Program, Region, Value};

/// How often loops are gone through before nothing is known of what they carry.
const PASSES: u32 = 8;

pub(super) struct Uniform {
    /// The branches and loops in which lanes of a warp do something together.
    together: IdMap<Inst, bool>,
    /// The values of which the assembler sees that they are the same in all lanes.
    seen: IdMap<Value, bool>,
}

impl Uniform {
    pub(super) fn of(program: &Program) -> Self {
        let mut uniform = Self { together: IdMap::default(), seen: IdMap::default() };
        uniform.find_together(program, &program.body);
        let mut varying = IdMap::default();
        for pass in 0..=PASSES {
            if !uniform.see(program, &program.body, &mut varying, pass == PASSES) {
                break;
            }
        }
        uniform
    }

    /// Whether the branch that owns regions, or what leaves the loop that does, must be told to be uniform.
    pub(super) fn must_be_told(&self, owner: Inst, condition: Value) -> bool {
        self.together[owner] && !self.seen[condition]
    }

    /// What assembly does is not known: lanes that have parted may make it.
    fn find_together(&mut self, program: &Program, region: &Region) -> bool {
        let mut any = false;
        for &id in &region.insts {
            let inst = &program.insts[id];
            let effects = inst.op.effects();
            let mut together = effects.convergent.is_some() && effects.latency != Latency::Unknown;
            for inner in &inst.regions {
                together |= self.find_together(program, inner);
            }
            self.together.set(id, together);
            any |= together;
        }
        any
    }

    /// Goes through a region, taking for seen what a loop carries unless it is known to vary; whether more
    /// turned out to vary. The last time all of it counts as varying.
    fn see(
        &mut self,
        program: &Program,
        region: &Region,
        varying: &mut IdMap<Value, bool>,
        is_last: bool,
    ) -> bool {
        let mut found = false;
        for &id in &region.insts {
            let inst = &program.insts[id];
            if inst.op == Op::Loop {
                for body in &inst.regions {
                    for (&param, &init) in body.params.iter().zip(&inst.operands) {
                        self.seen.set(param, self.seen[init] && !varying[param] && !is_last);
                    }
                }
            }
            for inner in &inst.regions {
                found |= self.see(program, inner, varying, is_last);
            }
            if inst.op == Op::Loop {
                for body in &inst.regions {
                    let next = body.insts.last().map_or(&[][..], |&id| &program.insts[id].operands);
                    for (&param, &next) in body.params.iter().zip(next) {
                        if self.seen[param] && !self.seen[next] {
                            varying.set(param, true);
                            found = true;
                        }
                    }
                }
            }
            for (place, &result) in inst.results.iter().enumerate() {
                self.seen.set(result, self.sees(program, inst, place));
            }
        }
        found
    }

    /// Whether the assembler sees that an operation's result of this number is the same in all lanes.
    fn sees(&self, program: &Program, inst: &InstData, place: usize) -> bool {
        let all = inst.operands.iter().all(|&operand| self.seen[operand]);
        match &inst.op {
            Op::Id(kind) => !matches!(kind, IdKind::Lane | IdKind::Warp | IdKind::Thread),
            Op::If => {
                all && inst.regions.iter().all(|region| {
                    let last = region.insts.last().map(|&id| &program.insts[id].operands);
                    last.and_then(|given| given.get(place)).is_some_and(|&given| self.seen[given])
                })
            }
            op => all && inst.regions.is_empty() && op.effects().is_pure(),
        }
    }
}
