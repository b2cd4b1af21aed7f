//! Which values a value may be, and which argument of the kernel a pointer comes from.

use super::{Kernel, OpId, OpKind, Value};
use crate::id::IdMap;
use rustc_hash::FxHashMap;

/// For what a region takes or an operation with regions gives: the values it may be.
pub struct Sources(FxHashMap<Value, Vec<Value>>);

impl Sources {
    /// The sources of every value that loops and branches carry.
    pub fn of(kernel: &Kernel) -> Self {
        let mut sources: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        let mut flow = |from: &[Value], to: &[Value]| {
            for (&from, &to) in from.iter().zip(to) {
                sources.entry(to).or_default().push(from);
            }
        };
        kernel.walk(&kernel.body, &mut |_, op| {
            let handed_over = |region: usize| -> &[Value] {
                op.regions.get(region).map_or(&[], |region| kernel.handed_over(region))
            };
            match op.kind {
                OpKind::For => {
                    let carried = &op.regions[0].params[1..];
                    flow(&op.operands[3..], carried);
                    flow(handed_over(0), carried);
                    flow(carried, &op.results);
                }
                OpKind::While => {
                    flow(&op.operands, &op.regions[0].params);
                    flow(handed_over(1), &op.regions[0].params);
                    let passed = handed_over(0).get(1..).unwrap_or(&[]);
                    flow(passed, &op.regions[1].params);
                    flow(passed, &op.results);
                }
                OpKind::If => {
                    flow(handed_over(0), &op.results);
                    flow(handed_over(1), &op.results);
                }
                _ => {}
            }
        });
        Self(sources)
    }

    /// What a value may be, if it is carried.
    pub fn get(&self, value: Value) -> Option<&[Value]> {
        self.0.get(&value).map(Vec::as_slice)
    }
}

/// Where pointers come from.
pub struct Origins<'a> {
    kernel: &'a Kernel,
    definitions: IdMap<Value, Option<OpId>>,
    sources: Sources,
}

impl<'a> Origins<'a> {
    /// Follows the pointers of a kernel.
    pub fn of(kernel: &'a Kernel) -> Self {
        Self { kernel, definitions: kernel.definitions(), sources: Sources::of(kernel) }
    }

    /// The argument that a pointer comes from; none when it cannot be told.
    pub fn argument(&self, pointer: Value) -> Option<Value> {
        let mut found = Vec::new();
        self.collect(pointer, &mut Vec::new(), &mut found)?;
        found.dedup();
        match found[..] {
            [root] => Some(root),
            _ => None,
        }
    }

    /// Adds the arguments that a pointer may come from; none when one of its sources is no argument.
    fn collect(
        &self,
        value: Value,
        visited: &mut Vec<Value>,
        found: &mut Vec<Value>,
    ) -> Option<()> {
        if visited.contains(&value) {
            return Some(());
        }
        visited.push(value);
        if self.kernel.body.params.contains(&value) {
            found.push(value);
            found.sort_unstable();
            return Some(());
        }
        if let Some(sources) = self.sources.get(value) {
            return sources.iter().try_for_each(|&source| self.collect(source, visited, found));
        }
        let op = &self.kernel.ops[self.definitions[value]?];
        match op.kind {
            OpKind::Select => {
                op.operands[1..].iter().try_for_each(|&source| self.collect(source, visited, found))
            }
            OpKind::AddPtr
            | OpKind::Splat
            | OpKind::Unsplat
            | OpKind::Broadcast
            | OpKind::ExpandDims { .. }
            | OpKind::Reshape { .. }
            | OpKind::Trans { .. }
            | OpKind::ConvertLayout
            | OpKind::Cast(_) => self.collect(op.operands[0], visited, found),
            _ => None,
        }
    }
}
