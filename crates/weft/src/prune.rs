//! Dead code of tile programs: operations without effect, and values that a loop carries for nothing.

use crate::id::IdMap;
use crate::tile::{Kernel, OpId, OpKind, Region, Value};

/// Removes operations without effect whose results nothing needs.
pub(crate) fn run(kernel: &mut Kernel) {
    let needed = Needed::of(kernel);
    let body = core::mem::take(&mut kernel.body);
    kernel.body = swept(kernel, body, &needed);
}

/// The values that something with an effect depends on.
struct Needed<'a> {
    kernel: &'a Kernel,
    definitions: IdMap<Value, Option<OpId>>,
    /// The loop and the number of what enters a body.
    carried: IdMap<Value, Option<(OpId, usize)>>,
    values: IdMap<Value, bool>,
    left: Vec<Value>,
}

impl<'a> Needed<'a> {
    fn of(kernel: &'a Kernel) -> IdMap<Value, bool> {
        let mut needed = Self {
            kernel,
            definitions: kernel.definitions(),
            carried: IdMap::default(),
            values: IdMap::default(),
            left: Vec::new(),
        };
        kernel.walk(&kernel.body, &mut |id, op| match op.kind {
            OpKind::For(_) => {
                for (index, &param) in op.regions[0].params[1..].iter().enumerate() {
                    needed.carried.set(param, Some((id, index)));
                }
                needed.left.extend(&op.operands[..3]);
            }
            // What a loop's body hands over is needed where the loop's results or carried values are.
            OpKind::Yield => {}
            ref kind if kind.effects().is_pure() => {}
            _ => needed.left.extend(&op.operands),
        });
        // The hand-overs of all other regions stay.
        kernel.walk(&kernel.body, &mut |_, op| {
            if !matches!(op.kind, OpKind::For(_)) {
                for region in &op.regions {
                    needed.left.extend(kernel.handed_over(region));
                }
            }
        });
        while let Some(value) = needed.left.pop() {
            if !core::mem::replace(needed.values.entry(value), true) {
                needed.follow(value);
            }
        }
        needed.values
    }

    fn follow(&mut self, value: Value) {
        let kernel = self.kernel;
        if let Some((id, index)) = self.carried[value] {
            return self.round(id, index);
        }
        let Some(id) = self.definitions[value] else { return };
        let op = &kernel.ops[id];
        if matches!(op.kind, OpKind::For(_)) {
            let index = op.results.iter().position(|&result| result == value);
            return index.into_iter().for_each(|index| self.round(id, index));
        }
        self.left.extend(&op.operands);
    }

    /// A value that a loop carries is needed: at its entry, and from the round before.
    fn round(&mut self, id: OpId, index: usize) {
        let op = &self.kernel.ops[id];
        let region = &op.regions[0];
        let handed_over = self.kernel.handed_over(region);
        self.left.extend([op.operands[3 + index], region.params[1 + index], handed_over[index]]);
    }
}

fn swept(kernel: &mut Kernel, region: Region, needed: &IdMap<Value, bool>) -> Region {
    let mut ops = Vec::with_capacity(region.ops.len());
    for id in region.ops {
        let op = &kernel.ops[id];
        if op.kind.effects().is_pure() && op.results.iter().all(|&result| !needed[result]) {
            continue;
        }
        if matches!(op.kind, OpKind::For(_)) {
            without_idle(kernel, id, needed);
        }
        let regions = core::mem::take(&mut kernel.ops[id].regions);
        let regions = regions.into_iter().map(|inner| swept(kernel, inner, needed)).collect();
        kernel.ops[id].regions = regions;
        ops.push(id);
    }
    Region { ops, ..region }
}

/// Takes from a loop what it carries for nobody.
fn without_idle(kernel: &mut Kernel, id: OpId, needed: &IdMap<Value, bool>) {
    let op = &mut kernel.ops[id];
    let params = &mut op.regions[0].params;
    let keeps: Vec<bool> = params[1..].iter().map(|&param| needed[param]).collect();
    // The first ones are not carried.
    let keep = |values: &mut Vec<Value>, first: usize| {
        let mut index = 0;
        values.retain(|_| {
            index += 1;
            index <= first || keeps[index - 1 - first]
        });
    };
    keep(params, 1);
    keep(&mut op.operands, 3);
    keep(&mut op.results, 0);
    if let Some(&last) = op.regions[0].ops.last() {
        keep(&mut kernel.ops[last].operands, 0);
    }
}
