//! Which values are read by anything that has an effect, so that a text defines no others: compilers
//! warn of them.

use crate::id::IdMap;
use crate::lane::{Inst, Op, Program, Region, Value};

/// Whether each value counts: what an operation with an effect reads, and what that is made of.
pub(super) fn live(program: &Program) -> IdMap<Value, bool> {
    let mut sources = Sources { program, from: IdMap::default(), roots: Vec::new() };
    sources.region(&program.body, &[]);
    let Sources { from, mut roots, .. } = sources;
    let mut live: IdMap<Value, bool> = IdMap::default();
    while let Some(value) = roots.pop() {
        if !core::mem::replace(live.entry(value), true) {
            roots.extend_from_slice(&from[value]);
        }
    }
    live
}

struct Sources<'a> {
    program: &'a Program,
    /// For each value those that it is made of.
    from: IdMap<Value, Vec<Value>>,
    /// The values that something with an effect reads.
    roots: Vec<Value>,
}

impl Sources<'_> {
    /// Goes through a region whose last operation hands its operands to `to`.
    fn region(&mut self, region: &Region, to: &[Value]) {
        for &id in &region.insts {
            self.inst(id, to);
        }
    }

    fn flow(&mut self, into: &[Value], from: &[Value]) {
        for (&into, &from) in into.iter().zip(from) {
            self.from.entry(into).push(from);
        }
    }

    fn inst(&mut self, id: Inst, to: &[Value]) {
        let program = self.program;
        let inst = &program.insts[id];
        match &inst.op {
            Op::Yield | Op::Continue => self.flow(to, &inst.operands),
            Op::BreakIf { target } => {
                let (condition, values) = inst.operands.split_at(1.min(inst.operands.len()));
                self.roots.extend_from_slice(condition);
                self.flow(&program.insts[*target].results, values);
            }
            Op::Loop => {
                for body in &inst.regions {
                    self.flow(&body.params, &inst.operands);
                    self.region(body, &body.params);
                }
            }
            Op::If => {
                self.roots.extend_from_slice(&inst.operands);
                for region in &inst.regions {
                    self.region(region, &inst.results);
                }
            }
            op if op.effects().is_removable() => {
                for &result in &inst.results {
                    self.from.entry(result).extend_from_slice(&inst.operands);
                }
            }
            op => {
                self.roots.extend_from_slice(&inst.operands);
                // A product writes them, whether anybody reads them or not.
                if op.effects().starts_product() {
                    self.roots.extend_from_slice(&inst.results);
                }
            }
        }
    }
}
