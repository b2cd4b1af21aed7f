//! Which values a value may be, and which argument of the kernel a pointer comes from.

use super::{DescriptorOp, Kernel, OpId, OpKind, Value};
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
                OpKind::For(_) => {
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
        let found = self.collect(pointer)?;
        match found[..] {
            [root] => Some(root),
            _ => None,
        }
    }

    /// The arguments that a pointer may come from; none when one of its sources is no argument.
    fn collect(&self, pointer: Value) -> Option<Vec<Value>> {
        let mut visited: IdMap<Value, bool> = IdMap::default();
        let (mut open, mut found) = (vec![pointer], Vec::new());
        while let Some(value) = open.pop() {
            if core::mem::replace(visited.entry(value), true) {
                continue;
            }
            if self.kernel.body.params.contains(&value) {
                found.push(value);
                continue;
            }
            if let Some(sources) = self.sources.get(value) {
                open.extend_from_slice(sources);
                continue;
            }
            let op = &self.kernel.ops[self.definitions[value]?];
            match op.kind {
                OpKind::Select => open.extend_from_slice(&op.operands[1..]),
                OpKind::AddPtr
                | OpKind::Descriptor(DescriptorOp::Given | DescriptorOp::Make { .. })
                | OpKind::Splat
                | OpKind::Unsplat
                | OpKind::Broadcast
                | OpKind::ExpandDims { .. }
                | OpKind::Reshape { .. }
                | OpKind::Trans { .. }
                | OpKind::ConvertLayout
                | OpKind::Cast(_) => open.push(op.operands[0]),
                _ => return None,
            }
        }
        Some(found)
    }
}
