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
use crate::split::{self, Place};
use crate::tile::{Kernel, Op, OpId, OpKind, Value};

/// A kernel with such loops in two.
pub struct Whole {
    /// The kernel.
    pub kernel: Kernel,
    /// The loops of whole rounds.
    loops: Vec<OpId>,
}

impl Whole {
    /// Whether each loop of whole rounds has a load whose mask is the same in all of them, by what is known of the new
    /// kernel.
    pub fn helps(&self, facts: &AxisFacts) -> bool {
        let definitions = self.kernel.definitions();
        self.loops.iter().all(|id| {
            let mut inside: IdMap<Value, bool> = IdMap::default();
            let mut masks = Vec::new();
            for region in &self.kernel.ops[*id].regions {
                region.params.iter().for_each(|&param| inside.set(param, true));
                self.kernel.walk(region, &mut |_, op| {
                    op.results.iter().for_each(|&result| inside.set(result, true));
                    masks.extend(mask(op));
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
            masks.into_iter().any(stays)
        })
    }
}

/// The mask of a load.
fn mask(op: &Op) -> Option<Value> {
    matches!(op.kind, OpKind::Load(_)).then(|| op.operands.get(1).copied()).flatten()
}

/// The kernel with its loops of whole rounds and last ones apart; nothing where it has no such loops.
pub fn run(kernel: &Kernel, facts: &AxisFacts) -> Option<Whole> {
    let (kernel, loops) = split::run(kernel, |op| end_of_whole_rounds(kernel, facts, op))?;
    Some(Whole { kernel, loops })
}

/// Where the whole rounds of a loop end that is to be in two.
fn end_of_whole_rounds(kernel: &Kernel, facts: &AxisFacts, op: &Op) -> Option<Place> {
    let (low, high, step) = split::bounds(facts, op)?;
    let length = high?.checked_sub(low)?;
    let (rounds, cut) = (length / step, length % step);
    let (mut is_plain, mut is_masked) = (true, false);
    for region in &op.regions {
        kernel.walk(region, &mut |_, op| match op.kind {
            OpKind::For(_) | OpKind::While | OpKind::If => is_plain = false,
            ref kind if kind.is_product() => is_plain = false,
            _ => is_masked |= mask(op).is_some(),
        });
    }
    (rounds > 0 && cut > 0 && is_plain && is_masked)
        .then_some(Place { middle: low + rounds * step, may_be_empty: false })
}
