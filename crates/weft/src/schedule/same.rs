//! Which values are the same by how they are computed, and which loads therefore bring the same.

use crate::cache::CacheModifier;
use crate::id::IdMap;
use crate::tile::{Kernel, LoadOptions, Op, OpKind, Value};
use rustc_hash::FxHashMap;

/// Of each value the first one that is computed by the same operations from the same values.
pub(super) struct Same {
    first: IdMap<Value, Option<Value>>,
}

impl Same {
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut same = Self { first: IdMap::default() };
        // By operands, as kinds of operations have no hash.
        let mut computed = FxHashMap::<Vec<Value>, Vec<(&OpKind, Value)>>::default();
        kernel.walk(&kernel.body, &mut |_, op| {
            let &[result] = &op.results[..] else { return };
            if !op.kind.effects().is_pure() || !op.regions.is_empty() {
                return;
            }
            let known = computed.entry(same.all(&op.operands)).or_default();
            let is_same = |&&(kind, value): &&(&OpKind, Value)| {
                *kind == op.kind && kernel.ty(value) == kernel.ty(result)
            };
            match known.iter().take(ALIKE).find(is_same) {
                Some(&(_, value)) => same.first.set(result, Some(value)),
                None => known.push((&op.kind, result)),
            }
        });
        same
    }

    fn all(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|&value| self.first[value].unwrap_or(value)).collect()
    }

    /// Whether two loads bring the same if nothing is written between them. Which caches keep it is not what they bring;
    /// what must be fetched again is asked for again.
    pub(super) fn brings(&self, kernel: &Kernel, first: &Op, second: &Op) -> bool {
        let (OpKind::Load(one), OpKind::Load(other)) = (&first.kind, &second.kind) else {
            return false;
        };
        let again = |options: &LoadOptions| {
            options.volatile || options.cache.modifier == CacheModifier::Volatile
        };
        let types =
            |op: &Op| op.results.iter().map(|&it| kernel.ty(it).clone()).collect::<Vec<_>>();
        !again(one)
            && !again(other)
            && self.all(&first.operands) == self.all(&second.operands)
            && types(first) == types(second)
    }
}

/// With how many operations of the same operands one is compared.
const ALIKE: usize = 64;
