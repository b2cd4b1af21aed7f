//! Loops of whole rounds, apart from a last one that is cut short.
//!
//! Where a constant step does not divide a constant range, every round tests what the last one alone has to:
//!
//! ```text
//! for %i = 0 to 2040 step 16 {              for %i = 0 to 2032 step 16 {
//!   %mask = %i + range < 2040       ==>       %mask = true, …
//!   load …, %mask                           }
//! }                                         for %i = 2032 to 2040 step 16 {
//!                                             %mask = %i + range < 2040
//!                                             load …, %mask
//!                                           }
//! ```
//!
//! The last round is a loop that runs once, of which [`once`](crate::once) makes its body. NVIDIA's assembler writes
//! several rounds of a loop one after the other and begins their loads together, but not where the number of rounds is
//! known and loads have predicates. (Sums of 4,096 columns over 2,040 rows in blocks of 128 by 16 on an H200: 65 µs,
//! and 32 µs by whole rounds.)
//!
//! It is done to innermost loops, if a load has no mask in whole rounds, or one that no round changes. Loops with
//! products are left alone: pipelines begin their loads ahead.

use crate::axis::AxisFacts;
use crate::id::IdMap;
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Value, ValueData};

/// A kernel with such loops in two.
pub struct Whole {
    /// The kernel.
    pub kernel: Kernel,
    /// The loops of whole rounds, each with its loads that had a mask.
    loops: Vec<(OpId, Vec<OpId>)>,
}

impl Whole {
    /// Whether each loop of whole rounds has a load whose mask is the same in all of them, by what is known of the new
    /// kernel.
    pub fn helps(&self, facts: &AxisFacts) -> bool {
        let definitions = self.kernel.definitions();
        self.loops.iter().all(|(id, loads)| {
            let mut inside: IdMap<Value, bool> = IdMap::default();
            for region in &self.kernel.ops[*id].regions {
                region.params.iter().for_each(|&param| inside.set(param, true));
                self.kernel.walk(region, &mut |_, op| {
                    op.results.iter().for_each(|&result| inside.set(result, true));
                });
            }
            let stays = |mask: Value| {
                // A condition, and what it is made of.
                let mut open = vec![mask];
                let mut seen: IdMap<Value, bool> = IdMap::default();
                while let Some(value) = open.pop() {
                    if facts.get(value).constant.is_some() || !inside[value] || seen[value] {
                        continue;
                    }
                    let Some(op) = definitions[value].map(|id| &self.kernel.ops[id]) else {
                        return false;
                    };
                    if !op.kind.effects().is_pure() || !op.regions.is_empty() {
                        return false;
                    }
                    seen.set(value, true);
                    open.extend(&op.operands);
                }
                true
            };
            loads
                .iter()
                .any(|&load| self.kernel.ops[load].operands.get(1).is_some_and(|&mask| stays(mask)))
        })
    }
}

/// The kernel with its loops of whole rounds and last ones apart; nothing where it has no such loops.
pub fn run(kernel: &Kernel, facts: &AxisFacts) -> Option<Whole> {
    let mut ends = IdMap::<OpId, Option<i64>>::default();
    let mut any = false;
    kernel.walk(&kernel.body, &mut |id, op| {
        let end = end_of_whole_rounds(kernel, facts, op);
        any |= end.is_some();
        ends.set(id, end);
    });
    any.then(|| {
        let mut whole = Whole { kernel: kernel.clone(), loops: Vec::new() };
        let body = core::mem::take(&mut whole.kernel.body);
        whole.kernel.body = whole.region(body, &ends);
        whole
    })
}

/// Where the whole rounds of a loop end that is to be in two.
fn end_of_whole_rounds(kernel: &Kernel, facts: &AxisFacts, op: &Op) -> Option<i64> {
    let (OpKind::For, &[low, high, step, ..]) = (&op.kind, &op.operands[..]) else { return None };
    let constant = |value: Value| {
        let range = facts.get(value).range;
        (range.low == range.high).then_some(range.low)
    };
    let (low, high, step) = (constant(low)?, constant(high)?, constant(step)?);
    let length = high.checked_sub(low).filter(|_| step > 0)?;
    let (rounds, cut) = (length / step, length % step);
    let (mut is_plain, mut is_masked) = (true, false);
    for region in &op.regions {
        kernel.walk(region, &mut |_, op| match op.kind {
            OpKind::For | OpKind::While | OpKind::If => is_plain = false,
            OpKind::Dot(_) | OpKind::WarpgroupDot(_) => is_plain = false,
            OpKind::Load(_) => is_masked |= op.operands.len() > 1,
            _ => {}
        });
    }
    (rounds > 0 && cut > 0 && is_plain && is_masked).then_some(low + rounds * step)
}

impl Whole {
    fn region(&mut self, region: Region, ends: &IdMap<OpId, Option<i64>>) -> Region {
        let mut ops = Vec::with_capacity(region.ops.len());
        for id in region.ops {
            let regions = core::mem::take(&mut self.kernel.ops[id].regions);
            self.kernel.ops[id].regions =
                regions.into_iter().map(|inner| self.region(inner, ends)).collect();
            if let Some(end) = ends[id] {
                self.in_two(id, end, &mut ops);
            }
            ops.push(id);
        }
        Region { ops, ..region }
    }

    /// Puts whole rounds in front of a loop, which goes on where they end.
    fn in_two(&mut self, id: OpId, end: i64, ops: &mut Vec<OpId>) {
        // What the source promises of the step it does not promise of this place.
        let ty = self.kernel.ty(self.kernel.ops[id].operands[2]).clone();
        let bits = end as u64 & ty.dtype().mask();
        let middle = self.kernel.values.push(ValueData::new(ty, None));
        ops.push(self.kernel.ops.push(Op {
            kind: OpKind::Constant(bits),
            operands: vec![],
            results: vec![middle],
            regions: vec![],
            spelled: false,
            ..self.kernel.ops[id].clone()
        }));
        let mut loads = Vec::new();
        let whole = self.copy(id, &mut IdMap::default(), &mut loads);
        self.loops.push((whole, loads));
        self.kernel.ops[whole].operands[1] = middle;
        let sums = self.kernel.ops[whole].results.clone();
        let rest = &mut self.kernel.ops[id].operands;
        rest[0] = middle;
        rest.splice(3.., sums);
        ops.push(whole);
    }

    /// A copy of an operation with all that is inside it, on what stands for its operands; its masked loads are noted.
    fn copy(
        &mut self,
        id: OpId,
        copies: &mut IdMap<Value, Option<Value>>,
        loads: &mut Vec<OpId>,
    ) -> OpId {
        let mut op = self.kernel.ops[id].clone();
        for operand in &mut op.operands {
            *operand = copies[*operand].unwrap_or(*operand);
        }
        for region in &mut op.regions {
            self.rename(&mut region.params, copies);
            for inner in &mut region.ops {
                *inner = self.copy(*inner, copies, loads);
            }
        }
        self.rename(&mut op.results, copies);
        let is_masked = matches!(op.kind, OpKind::Load(_)) && op.operands.len() > 1;
        let copy = self.kernel.ops.push(op);
        loads.extend(is_masked.then_some(copy));
        copy
    }

    fn rename(&mut self, values: &mut [Value], copies: &mut IdMap<Value, Option<Value>>) {
        for value in values {
            let data = self.kernel.values[*value].clone();
            let copy = self.kernel.values.push(data);
            copies.set(*value, Some(copy));
            *value = copy;
        }
    }
}
