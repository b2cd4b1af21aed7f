//! How often operations run, and from which loops a movement can be taken out.

use crate::id::IdMap;
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Value};

/// The rounds of a loop whose bounds are not known.
const UNKNOWN: u64 = 16;
/// In so many rounds of a loop with products, what a branch does that has none is done once: it begins tiles or ends
/// them, in kernels that go over the products of several in one loop.
const OF_A_TILE: u64 = UNKNOWN;
/// No loop counts for more rounds, nested or not.
const MOST: u64 = 1 << 24;

/// Loops around operations and values.
#[derive(Clone, Debug)]
pub struct Trips {
    /// The innermost loop around an operation.
    around_op: IdMap<OpId, Option<OpId>>,
    /// The innermost loop around the place where a value is defined.
    around_value: IdMap<Value, Option<OpId>>,
    /// How often the body of a loop runs, all outer loops counted.
    rounds: IdMap<OpId, u64>,
    /// What is done once for a tile whose products are rounds of the loop around it.
    seldom: IdMap<OpId, bool>,
}

impl Trips {
    /// Counts a kernel's loops.
    pub fn of(kernel: &Kernel) -> Self {
        let mut constants = IdMap::default();
        kernel.walk(&kernel.body, &mut |_, op| {
            if let (OpKind::Constant(bits), &[result]) = (&op.kind, &op.results[..]) {
                let bytes = kernel.ty(result).dtype().bytes().clamp(1, 8);
                let unused = 64 - 8 * bytes;
                constants.set(result, Some((*bits << unused).cast_signed() >> unused));
            }
        });
        let mut trips = Self {
            around_op: IdMap::default(),
            around_value: IdMap::default(),
            rounds: IdMap::default(),
            seldom: IdMap::default(),
        };
        trips.region(kernel, &kernel.body, None, &constants);
        kernel.walk(&kernel.body, &mut |_, op| {
            if matches!(op.kind, OpKind::For(_) | OpKind::While) {
                trips.tiles(kernel, op);
            }
        });
        trips
    }

    /// Finds what is seldom done in a loop.
    fn tiles(&mut self, kernel: &Kernel, op: &Op) {
        let multiplies = |&id: &OpId| kernel.ops[id].kind.is_product();
        for region in &op.regions {
            if !region.ops.iter().any(multiplies) {
                continue;
            }
            let branches = region.ops.iter().map(|&id| &kernel.ops[id]);
            for branch in branches.filter(|op| op.kind == OpKind::If) {
                let mut inside = Vec::new();
                for arm in &branch.regions {
                    kernel.walk(arm, &mut |id, _| inside.push(id));
                }
                let multiplies = inside.iter().any(multiplies);
                for id in inside.into_iter().filter(|_| !multiplies) {
                    self.seldom.set(id, true);
                }
            }
        }
    }

    fn region(
        &mut self,
        kernel: &Kernel,
        region: &Region,
        around: Option<OpId>,
        constants: &IdMap<Value, Option<i64>>,
    ) {
        for &param in &region.params {
            self.around_value.set(param, around);
        }
        for &id in &region.ops {
            let op = &kernel.ops[id];
            self.around_op.set(id, around);
            for &result in &op.results {
                self.around_value.set(result, around);
            }
            let rounds = match (&op.kind, &op.operands[..]) {
                (OpKind::For(_), &[low, high, step, ..]) => {
                    match [low, high, step].map(|bound| constants[bound]) {
                        [Some(low), Some(high), Some(step)] if step > 0 => {
                            let length = high.saturating_sub(low).max(0).unsigned_abs();
                            Some(length.div_ceil(step.unsigned_abs()))
                        }
                        _ => Some(UNKNOWN),
                    }
                }
                (OpKind::While, _) => Some(UNKNOWN),
                _ => None,
            };
            let inner = if let Some(rounds) = rounds {
                self.rounds.set(id, self.inside(around).saturating_mul(rounds).min(MOST));
                Some(id)
            } else {
                around
            };
            for region in &op.regions {
                self.region(kernel, region, inner, constants);
            }
        }
    }

    /// How often the body of a loop runs.
    fn inside(&self, around: Option<OpId>) -> u64 {
        around.map_or(1, |around| self.rounds[around])
    }

    /// How often an operation runs: loops of constant bounds as often as these say, others 16 times; both
    /// sides of a condition, in loops over the products of tiles where these begin or end.
    pub fn of_op(&self, op: OpId) -> u64 {
        let times = self.inside(self.around_op[op]);
        if self.seldom[op] { (times / OF_A_TILE).max(1) } else { times }
    }

    /// The outermost loop around an operation in which a value is not defined.
    pub(super) fn ahead_of(&self, op: OpId, value: Value) -> Option<OpId> {
        let (mut at, mut found) = (self.around_op[op], None);
        while let Some(around) = at
            && at != self.around_value[value]
        {
            found = at;
            at = self.around_op[around];
        }
        found
    }
}
