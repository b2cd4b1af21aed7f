//! Numbers that differ in every round of a loop.
//!
//! A loop that carries distinct constants and only hands them round has them in another order in each
//! round: whatever the round, two of them differ.

use crate::id::IdMap;
use crate::tile::{Kernel, OpId, OpKind, Value};
use std::collections::BTreeSet;

/// What is handed round.
pub(super) struct Rotations {
    turns: IdMap<Value, Option<Turns>>,
}

/// The constants that a value takes in turn, and the loop whose parameter it is, if it is one.
#[derive(Clone)]
struct Turns {
    of: Option<OpId>,
    constants: BTreeSet<u64>,
}

impl Rotations {
    pub(super) fn of(kernel: &Kernel, definitions: &IdMap<Value, Option<OpId>>) -> Self {
        let constant = |value: Value| match kernel.ops[definitions[value]?].kind {
            OpKind::Constant(bits) => Some(bits),
            _ => None,
        };
        let mut turns = IdMap::default();
        kernel.walk(&kernel.body, &mut |id, op| {
            if let (OpKind::Constant(bits), [result]) = (&op.kind, &op.results[..]) {
                turns.set(*result, Some(Turns { of: None, constants: BTreeSet::from([*bits]) }));
            }
            let (OpKind::For(_), [region]) = (&op.kind, &op.regions[..]) else { return };
            let Some(last) = region.ops.last() else { return };
            let (params, yields) = (&region.params[1..], &kernel.ops[*last].operands);
            // What a parameter is in the next round: another parameter of the loop.
            let next = |at: usize| params.iter().position(|param| yields.get(at) == Some(param));
            for (first, &param) in params.iter().enumerate() {
                let (mut at, mut taken) = (first, BTreeSet::new());
                let distinct = loop {
                    let initial = op.operands.get(3 + at).and_then(|&value| constant(value));
                    if !initial.is_some_and(|bits| taken.insert(bits)) {
                        break false;
                    }
                    match next(at) {
                        Some(after) if after == first => break true,
                        Some(after) => at = after,
                        None => break false,
                    }
                };
                if distinct {
                    turns.set(param, Some(Turns { of: Some(id), constants: taken }));
                }
            }
        });
        Self { turns }
    }

    /// Whether two values differ whenever both are looked at in one round.
    ///
    /// Two of one loop differ when they go round the same constants (each is at another of them), or
    /// constants of which they share none; so do a constant and a value that never is it.
    pub(super) fn differ(&self, x: Value, y: Value) -> bool {
        let (Some(one), Some(other)) = (&self.turns[x], &self.turns[y]) else { return false };
        let together = one.of.is_some() && one.of == other.of;
        one.constants.is_disjoint(&other.constants)
            || (x != y && together && one.constants == other.constants)
    }
}
