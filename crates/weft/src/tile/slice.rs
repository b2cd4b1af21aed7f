//! The part of a program that some of its operations hang on.

use super::{Kernel, Op, OpId, OpKind, Region, Value};
use crate::id::IdMap;
use crate::scalar::{Binary, Cast};

impl Op {
    /// Whether the text has this operation, and Triton IR leaves its result open for some operands
    /// ([`Undefined`](crate::scalar::Undefined)).
    pub fn is_partial(&self) -> bool {
        let kind = matches!(
            self.kind,
            OpKind::Binary(
                Binary::DivS
                    | Binary::DivU
                    | Binary::RemS
                    | Binary::RemU
                    | Binary::Shl
                    | Binary::ShrS
                    | Binary::ShrU
            ) | OpKind::Cast(Cast::SFromFloat | Cast::UFromFloat)
        );
        kind && self.spelled
    }
}

/// The program with no more operations than `wanted` need to be computed as they are in the whole of it.
///
/// Where one of them hangs on what was read from memory, all operations are needed: others may have
/// written it.
pub fn slice(kernel: &Kernel, wanted: &[OpId]) -> Kernel {
    let mut slice = Slice {
        kernel,
        definitions: IdMap::default(),
        owners: IdMap::default(),
        needed: IdMap::default(),
    };
    slice.read(&kernel.body, None);
    for &id in wanted {
        slice.need(id);
    }
    let reads_memory = |id: OpId| {
        let effects = kernel.ops[id].kind.effects();
        slice.needed[id] && (effects.global.reads || effects.local.reads || effects.opaque)
    };
    let mut result = kernel.clone();
    if kernel.ops.keys().any(reads_memory) {
        return result;
    }
    let needed = slice.needed;
    result.body = kept(&mut result, &needed, &kernel.body);
    result
}

struct Slice<'k> {
    kernel: &'k Kernel,
    /// The operation that defines a value, as a result or as a parameter of its regions.
    definitions: IdMap<Value, Option<OpId>>,
    /// The operation in whose region an operation stands.
    owners: IdMap<OpId, Option<OpId>>,
    needed: IdMap<OpId, bool>,
}

impl Slice<'_> {
    fn read(&mut self, region: &Region, owner: Option<OpId>) {
        for &value in &region.params {
            self.definitions.set(value, owner);
        }
        for &id in &region.ops {
            let op = &self.kernel.ops[id];
            self.owners.set(id, owner);
            for &value in &op.results {
                self.definitions.set(value, Some(id));
            }
            for inner in &op.regions {
                self.read(inner, Some(id));
            }
        }
    }

    /// Notes that an operation is needed, with all that it hangs on: what it reads, what it stands in, and
    /// what its own regions hand on.
    fn need(&mut self, id: OpId) {
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            if self.needed[id] {
                continue;
            }
            self.needed.set(id, true);
            let op = &self.kernel.ops[id];
            stack.extend(self.owners[id]);
            stack.extend(op.operands.iter().filter_map(|&value| self.definitions[value]));
            // The last operation of a region hands its values on.
            stack.extend(op.regions.iter().filter_map(|region| region.ops.last().copied()));
        }
    }
}

/// A region with the operations that are needed, and its last one.
fn kept(kernel: &mut Kernel, needed: &IdMap<OpId, bool>, region: &Region) -> Region {
    let last = region.ops.last().copied();
    let mut ops = Vec::new();
    for &id in region.ops.iter().filter(|&&id| needed[id] || Some(id) == last) {
        let regions = core::mem::take(&mut kernel.ops[id].regions);
        kernel.ops[id].regions =
            regions.iter().map(|region| kept(kernel, needed, region)).collect();
        ops.push(id);
    }
    Region { params: region.params.clone(), ops }
}
