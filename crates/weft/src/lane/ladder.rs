//! Elements at multiples of a distance that is the same in the whole block.
//!
//! ```text
//! (x + c) * u = x * u + c * u             c a constant, u uniform, x not
//! (x + c u) * k = x * k + c (u k)         k uniform
//! (x + c u) + y = (x + y) + c u           likewise -
//! x + c u = (x + b u) + (c - b) u         where x + b u is there already
//! ```
//!
//! The rows of a thread lie at constant distances from each other, and their addresses at as many strides, which
//! are known when the kernel is launched. With these laws they become one address, which is all that differs from
//! thread to thread, and steps of a ladder: sums with a few numbers that the block has once. A loop then keeps the
//! first of the addresses and the height of a step, where it would keep them all.

use super::{Builder, Op, Value};
use crate::dtype::DType;
use crate::scalar::Binary;
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// A value at a distance from another one.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Where the ladder stands.
    foot: Value,
    /// What is uniform, and how many of it lie between.
    unit: Value,
    multiple: u64,
}

/// A step that is there.
#[derive(Clone, Copy, Debug)]
struct Made {
    multiple: u64,
    value: Value,
    /// How many units the sum that made it added.
    way: u64,
}

/// The ladders of a program.
#[derive(Debug, Default)]
pub(super) struct Ladders {
    steps: FxHashMap<Value, Step>,
    /// By foot and unit, the steps that the regions being written can see.
    made: FxHashMap<(Value, Value), Vec<Made>>,
    /// For each region but the outermost, those that it made.
    inside: Vec<Vec<(Value, Value)>>,
}

impl Ladders {
    /// How many steps there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Begins a region.
    pub(super) fn open(&mut self) {
        self.inside.push(Vec::new());
    }

    /// Ends it: what it made is not seen from outside.
    pub(super) fn close(&mut self) {
        for key in self.inside.pop().into_iter().flatten() {
            if let Some(made) = self.made.get_mut(&key) {
                made.pop();
            }
        }
    }

    /// From where, and how far, a step is reached: over a distance that another one took, else the shortest.
    fn reach(&self, Step { foot, unit, multiple }: Step) -> (Value, u64) {
        let made = self.made.get(&(foot, unit)).map_or(&[][..], Vec::as_slice);
        let ground = Made { multiple: 0, value: foot, way: 0 };
        let ways = made.iter().rev().chain([&ground]);
        let ways = ways.map(|from| (from.value, multiple.wrapping_sub(from.multiple)));
        let best = ways.min_by_key(|(_, way)| {
            let taken = made.iter().any(|made| made.way == *way);
            if taken { 0 } else { way.cast_signed().unsigned_abs() }
        });
        best.unwrap_or((foot, multiple))
    }
}

impl Builder {
    /// Lets it be known that a value is uniform: the same in every thread of the block.
    pub fn know_uniform(&mut self, value: Value) {
        self.uniform.set(value, true);
    }

    /// `x op y` of i64 by the laws above.
    pub(super) fn distance_outside(&mut self, op: Binary, x: Value, y: Value) -> Option<Value> {
        if self.dtype(x) != DType::I64 {
            return None;
        }
        match op {
            Binary::Mul if self.uniform[y] => self.scaled(op, x, y),
            Binary::Mul if self.uniform[x] => self.scaled(op, y, x),
            Binary::Shl if self.constant_bits(y).is_some_and(|count| count < 64) => {
                self.scaled(op, x, y)
            }
            Binary::Add | Binary::Sub if self.constant_bits(y).is_none() => {
                if let Some(&Step { foot, unit, multiple }) = self.ladders.steps.get(&x) {
                    let foot = self.binary(op, foot, y);
                    return Some(self.climb(foot, unit, multiple));
                }
                let &Step { foot, unit, multiple } = self.ladders.steps.get(&y)?;
                let foot = self.binary(op, x, foot);
                let down = op == Binary::Sub;
                Some(self.climb(foot, unit, if down { multiple.wrapping_neg() } else { multiple }))
            }
            _ => None,
        }
    }

    /// A step, or a sum with a constant, times a uniform factor.
    fn scaled(&mut self, op: Binary, x: Value, factor: Value) -> Option<Value> {
        if let Some(&Step { foot, unit, multiple }) = self.ladders.steps.get(&x) {
            let [foot, unit] = [foot, unit].map(|x| self.binary(op, x, factor));
            return Some(self.climb(foot, unit, multiple));
        }
        let (inner, constant) = self.apart(x);
        if constant == 0 || self.uniform[inner] {
            return None;
        }
        let foot = self.binary(op, inner, factor);
        Some(self.climb(foot, factor, constant))
    }

    /// So many units from `x`, which is not uniform.
    fn climb(&mut self, x: Value, unit: Value, multiple: u64) -> Value {
        let (x, constant) = self.apart(x);
        let mut step = Step { foot: x, unit, multiple };
        if let Some(below) = self.ladders.steps.get(&x).filter(|below| below.unit == unit) {
            step = Step { multiple: below.multiple.wrapping_add(multiple), ..*below };
        }
        let value = self.step(step);
        self.plus(value, constant)
    }

    fn step(&mut self, step: Step) -> Value {
        let Step { foot, unit, multiple } = step;
        if multiple == 0 {
            return foot;
        }
        let key = (foot, unit);
        let made = self.ladders.made.get(&key).map_or(&[][..], Vec::as_slice);
        if let Some(same) = made.iter().find(|made| made.multiple == multiple) {
            return same.value;
        }
        let (from, way) = self.ladders.reach(step);
        let distance = self.constant(DType::I64, way);
        let distance = self.binary(Binary::Mul, unit, distance);
        let value = self.pure(Op::Binary(Binary::Add), smallvec![from, distance], DType::I64);
        self.ladders.steps.insert(value, step);
        let made = Made { multiple, value, way };
        self.ladders.made.entry(key).or_default().push(made);
        if let Some(inside) = self.ladders.inside.last_mut() {
            inside.push(key);
        }
        value
    }
}
