//! Laws of exclusive or, truth values and order, by which an operation is one that is there already.
//!
//! A sorting network says "the partner's element" as `x ^ (x ^ y)`, and "unless this half is turned
//! round" by a comparison of truth values widened to words. With these laws an exchange of two
//! elements is what it should be: the partner itself, one comparison and one choice.
//!
//! ```text
//! x ^ (x ^ y) = y                          words as groups under exclusive or
//! bits(bits(x)) = bits(x)
//! widened p != widened q = p ^ q           truth values, and words that are 0 or 1
//! choose(p ^ 1, x, y) = choose(p, y, x)
//! choose((y > x) ^ p, x, y) = choose((x > y) ^ p, y, x)
//! choose(x > y, x, y) = greatest(x, y)     integers: where they are equal, either will do
//! choose(p, x, 0) + choose(p, y, 0) = choose(p, x + y, 0)      any operation, any constants
//! choose(p, x, 0) + 0 = choose(p, x + 0, 0)                    of floats, where + 0 is not nothing
//! converted choose(p, 1, 0) = choose(p, converted 1, converted 0)     any constants
//! ```
//!
//! By the last two a thread that adds up what a mask lets through chooses once for each mask.

use super::{Builder, Op, Value};
use crate::dtype::DType;
use crate::scalar::{self, Binary, Cast, Compare};

impl Builder {
    /// The operands of a value that this operation of two defines.
    pub(super) fn operands_of(&self, value: Value, op: Binary) -> Option<[Value; 2]> {
        let inst = &self.program.insts[self.definitions[value]?];
        match (&inst.op, &inst.operands[..]) {
            (Op::Binary(defined), &[x, y]) if *defined == op => Some([x, y]),
            _ => None,
        }
    }

    /// The operand of a value that this conversion defines.
    pub(super) fn operand_of(&self, value: Value, op: Cast) -> Option<Value> {
        let inst = &self.program.insts[self.definitions[value]?];
        match (&inst.op, &inst.operands[..]) {
            (Op::Cast(defined), &[x]) if *defined == op => Some(x),
            _ => None,
        }
    }

    /// `x ^ y` by a law; a constant stands second.
    pub(super) fn sum(&mut self, x: Value, y: Value) -> Option<Value> {
        let dtype = self.dtype(x);
        if x == y {
            return Some(self.constant(dtype, 0));
        }
        for (one, other) in [(x, y), (y, x)] {
            let Some([a, b]) = self.operands_of(other, Binary::Xor) else { continue };
            if a == one {
                return Some(b);
            }
            if b == one {
                return Some(a);
            }
            let Some(bits) = self.constant_bits(b) else { continue };
            if let Some(more) = self.constant_bits(one) {
                let bits = self.constant(dtype, bits ^ more);
                return Some(self.binary(Binary::Xor, a, bits));
            }
            // Inversions go outside, where whoever chooses by the sum swaps what it chooses from.
            if dtype == DType::I1 {
                let inner = self.binary(Binary::Xor, one, a);
                return Some(self.inverted(inner));
            }
        }
        None
    }

    /// A conversion by a law: what was widened is what it was, and the same bits under a third type are those of
    /// the first.
    pub(super) fn recast(&mut self, op: Cast, x: Value, to: DType) -> Option<Value> {
        if let Some(choice) = self.choice_of_constants(op, x, to) {
            return Some(choice);
        }
        if op == Cast::Trunc
            && let Some(origin) = self.operand_of(x, Cast::ExtS).or(self.operand_of(x, Cast::ExtU))
            && self.dtype(origin) == to
        {
            return Some(origin);
        }
        if op == Cast::Float {
            return self.narrowed(x, to);
        }
        if matches!(op, Cast::FloatFromS | Cast::FloatFromU) {
            return self.counted_narrowly(op, x, to);
        }
        if op != Cast::Bits {
            return None;
        }
        let origin = self.operand_of(x, Cast::Bits)?;
        Some(self.cast(Cast::Bits, origin, to))
    }

    /// A conversion of one of two constants, as the choice between what they become.
    fn choice_of_constants(&mut self, op: Cast, x: Value, to: DType) -> Option<Value> {
        let (condition, if_true, if_false) = self.chosen(x)?;
        let (from, if_true) = (self.dtype(x), self.constant_bits(if_true)?);
        let [if_true, if_false] = [if_true, if_false].map(|bits| {
            let bits = scalar::cast(op, from, to, bits);
            self.constant(to, bits)
        });
        Some(self.select(condition, if_true, if_false))
    }

    /// `x == y` or `x != y` of truth values, or of words of which one is a widened truth value.
    pub(super) fn equality(&mut self, op: Compare, x: Value, y: Value) -> Option<Value> {
        if !matches!(op, Compare::Eq | Compare::Ne) {
            return None;
        }
        let differ = if self.dtype(x) == DType::I1 {
            self.binary(Binary::Xor, x, y)
        } else {
            let widened = |build: &Self, value| {
                build.operand_of(value, Cast::ExtU).filter(|&of| build.dtype(of) == DType::I1)
            };
            if widened(self, x).or_else(|| widened(self, y)).is_none() {
                return self.zero_or_one(op, x, y);
            }
            let (p, q) = (self.truth(x)?, self.truth(y)?);
            self.binary(Binary::Xor, p, q)
        };
        Some(if op == Compare::Ne { differ } else { self.inverted(differ) })
    }

    /// `x ^ 1` against zero, where `x` is 0 or 1.
    fn zero_or_one(&mut self, op: Compare, x: Value, y: Value) -> Option<Value> {
        let [word, one] = self.operands_of(x, Binary::Xor)?;
        let holds = self.constant_bits(y) == Some(0)
            && self.constant_bits(one) == Some(1)
            && self.possible_bits(word) <= 1;
        holds.then(|| {
            let differ = self.compare(op, word, y);
            self.inverted(differ)
        })
    }

    /// A word that is 0 or 1 as a truth value.
    fn truth(&mut self, word: Value) -> Option<Value> {
        if let Some(of) = self.operand_of(word, Cast::ExtU)
            && self.dtype(of) == DType::I1
        {
            return Some(of);
        }
        match self.constant_bits(word) {
            Some(bits @ 0..=1) => Some(self.constant(DType::I1, bits)),
            None if self.possible_bits(word) <= 1 => {
                let zero = self.constant(self.dtype(word), 0);
                Some(self.compare(Compare::Ne, word, zero))
            }
            _ => None,
        }
    }

    fn inverted(&mut self, truth: Value) -> Value {
        let one = self.constant(DType::I1, 1);
        self.binary(Binary::Xor, truth, one)
    }

    /// A choice by a law: between two integers by their own order, the form in which equal choices
    /// look equal.
    pub(super) fn choice(
        &mut self,
        condition: Value,
        if_true: Value,
        if_false: Value,
    ) -> Option<Value> {
        let parts = self.operands_of(condition, Binary::Xor);
        if let Some([inner, one]) = parts
            && self.constant_bits(one) == Some(1)
        {
            return Some(self.select(inner, if_false, if_true));
        }
        let dtype = self.dtype(if_true);
        if !dtype.is_int() || dtype == DType::I1 {
            return None;
        }
        if let Some(value) = self.inverted_below_zero(condition, if_true, if_false) {
            return Some(value);
        }
        // The comparison of the two, by itself or inverted where something else holds.
        let pair = [if_true.min(if_false), if_true.max(if_false)];
        let (comparison, order, by) = match parts {
            None => (condition, self.order_of(condition, pair)?, None),
            Some([x, y]) => match self.order_of(x, pair) {
                Some(order) => (x, order, Some(y)),
                None => (y, self.order_of(y, pair)?, Some(x)),
            },
        };
        let signed = order.signed;
        if by.is_none() && matches!(dtype, DType::I16 | DType::I32) {
            // The first where it is the greater one: the greatest of both.
            let greatest = (if_true == pair[0]) == order.first_is_greater;
            let op = match (greatest, signed) {
                (true, true) => Binary::MaxS,
                (true, false) => Binary::MaxU,
                (false, true) => Binary::MinS,
                (false, false) => Binary::MinU,
            };
            return Some(self.binary(op, if_true, if_false));
        }
        let greater = if signed { Compare::Sgt } else { Compare::Ugt };
        let first_is_greater = self.compare(greater, pair[0], pair[1]);
        if first_is_greater == comparison {
            return None;
        }
        let same = match by {
            Some(by) => self.binary(Binary::Xor, first_is_greater, by),
            None => first_is_greater,
        };
        Some(if order.first_is_greater {
            self.select(same, if_true, if_false)
        } else {
            self.select(same, if_false, if_true)
        })
    }

    /// An operation on floats that were chosen by one condition from others or constants, as a choice of its
    /// results.
    pub(super) fn choice_outside(&mut self, op: Binary, x: Value, y: Value) -> Option<Value> {
        let dtype = self.dtype(x);
        let apply = scalar::binary(op, dtype).filter(|_| dtype.is_float())?;
        let parts = [x, y].map(|value| self.chosen(value));
        let condition = parts.iter().flatten().map(|(condition, ..)| *condition).next()?;
        let one = |value: Value, part: Option<(Value, Value, u64)>| match part {
            Some((by, if_true, if_false)) => (by == condition).then_some((if_true, if_false)),
            None => self.constant_bits(value).map(|bits| (value, bits)),
        };
        let (left, right) = (one(x, parts[0])?, one(y, parts[1])?);
        let if_true = self.binary(op, left.0, right.0);
        let if_false = self.constant(dtype, apply(left.1, right.1));
        Some(self.select(condition, if_true, if_false))
    }

    /// The condition of a choice, and what it chooses where that holds and the constant where it does not.
    fn chosen(&self, value: Value) -> Option<(Value, Value, u64)> {
        let inst = &self.program.insts[self.definitions[value]?];
        match (&inst.op, &inst.operands[..]) {
            (Op::Select, &[condition, if_true, if_false]) => {
                Some((condition, if_true, self.constant_bits(if_false)?))
            }
            _ => None,
        }
    }

    /// What a comparison says of the order of two values that are not equal; none where it compares
    /// something else.
    fn order_of(&self, comparison: Value, pair: [Value; 2]) -> Option<Order> {
        let inst = &self.program.insts[self.definitions[comparison]?];
        let Op::Compare(op) = inst.op else { return None };
        let (greater, signed) = match op {
            Compare::Sgt | Compare::Sge => (true, true),
            Compare::Slt | Compare::Sle => (false, true),
            Compare::Ugt | Compare::Uge => (true, false),
            Compare::Ult | Compare::Ule => (false, false),
            _ => return None,
        };
        let in_order = inst.operands[..] == pair;
        (in_order || inst.operands[..] == [pair[1], pair[0]])
            .then_some(Order { first_is_greater: greater == in_order, signed })
    }
}

/// The order of two integers that are not equal, where a comparison of them holds.
struct Order {
    first_is_greater: bool,
    signed: bool,
}
