//! Narrow numbers carried as words.
//!
//! Products take the narrow numbers of a left factor in registers as whole words. Where a loop carries such a
//! factor for products alone, it carries the words, so that they need not be packed in every iteration.

use super::{Lowerer, values};
use crate::id::IdMap;
use crate::lane;
use crate::tile::{Kernel, OpKind, Value};

/// What loops carry, and give in the end, for nothing but left factors of warpgroups' products.
pub(super) fn factors(kernel: &Kernel) -> IdMap<Value, bool> {
    let mut others: IdMap<Value, bool> = IdMap::default();
    let mut factors: IdMap<Value, bool> = IdMap::default();
    kernel.walk(&kernel.body, &mut |_, op| {
        for (place, &operand) in op.operands.iter().enumerate() {
            let is_factor = place == 0 && matches!(op.kind, OpKind::WarpgroupDot(_));
            let uses = if is_factor { &mut factors } else { &mut others };
            uses.set(operand, true);
        }
    });
    let mut carried = IdMap::default();
    kernel.walk(&kernel.body, &mut |_, op| {
        if matches!(op.kind, OpKind::For(_)) {
            for (&param, &result) in op.regions[0].params[1..].iter().zip(&op.results) {
                if factors[param] && !others[param] && !others[result] {
                    carried.set(param, true);
                    carried.set(result, true);
                }
            }
        }
    });
    carried
}

impl Lowerer<'_> {
    /// How many numbers of a carried value lie in each lane value that is carried for it.
    pub(super) fn numbers_in_word(&self, value: Value) -> usize {
        let Some(home) = self.assignment.registers(value).filter(|_| self.factors[value]) else {
            return 1;
        };
        let numbers = (32 / self.kernel.ty(value).dtype().bits()).max(1) as usize;
        let count = values::register_count(self.assignment.layouts.get(home));
        if count.is_multiple_of(numbers) { numbers } else { 1 }
    }

    /// Numbers as words of so many.
    pub(super) fn in_words(&mut self, numbers: &[lane::Value], in_word: usize) -> Vec<lane::Value> {
        match in_word {
            1 => numbers.to_vec(),
            _ => numbers.chunks(in_word).map(|word| self.build.join(word)).collect(),
        }
    }

    /// The numbers of a value that is carried as words.
    pub(super) fn out_of_words(&mut self, value: Value, words: &[lane::Value]) -> Vec<lane::Value> {
        let dtype = self.kernel.ty(value).dtype();
        match self.numbers_in_word(value) {
            1 => words.to_vec(),
            _ => words.iter().flat_map(|&word| self.build.split(word, dtype)).collect(),
        }
    }
}
