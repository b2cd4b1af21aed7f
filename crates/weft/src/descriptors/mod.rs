//! Tensor descriptors as pointers.
//!
//! A block of a tensor becomes an array of pointers, `base + Σ (index + i) * stride`, under a mask of the
//! elements within the extents. A descriptor becomes its parts, also where loops and branches carry it:
//!
//! ```text
//! %d = make_tensor_descriptor %p, [%m, %n], …       %ms = maxsi %m, 0
//! %x = descriptor_load %d[%i, %j]              ==>  %x = load %pointers, %within, 0
//! ```
//!
//! # Descriptors that a kernel is given
//!
//! Only at run time is it known whether loads through these give NaN outside, whether they round to tf32, and
//! whether the last extent is a multiple of 16 bytes. Nearly always there are zeros outside, no rounding, and
//! rows of whole 16 bytes, each of which lies inside the extents or outside as a whole. So from the first
//! use of such descriptors on the kernel exists in two versions, and a test of the descriptors chooses one.
//! Those that are maps ([`mappable`]) stay as they are: what lies outside of a map is up to the copy engine.
//!
//! Operations and values of the kernel keep their numbers, in the first version where there are two.

mod access;
mod given;
mod sent;
#[cfg(test)]
mod tests;

pub use given::{Parts, described, dimensions, given, is_made, mappable, stored};
pub use sent::sent;

use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::{Binary, Compare};
use crate::tile::{DescriptorOp, Kernel, Op, OpId, OpKind, Region, Type, Value, ValueData};
use crate::tile::{Rewrite, WriteOps};

/// What rows of whole pieces of are loaded and stored at once, in bytes.
const ALIGNMENT: u64 = 16;

/// The kernel without descriptors but those that are maps, by the operations that put them together or make them;
/// nothing where it has none.
pub fn run(kernel: &Kernel, maps: &[OpId]) -> Option<Kernel> {
    if !kernel.values.values().any(|value| value.ty.is_descriptor()) {
        return None;
    }
    let maps = maps.to_vec();
    let mut expander = Expander { kernel: kernel.clone(), maps, parts: IdMap::default() };
    let body = core::mem::take(&mut expander.kernel.body);
    expander.kernel.body = expander.body(body);
    Some(expander.kernel)
}

/// What a descriptor is made of.
#[derive(Clone, Debug)]
struct Described {
    base: Value,
    /// i32, 0 to 2^31, so unsigned: no index is above.
    extents: Vec<Value>,
    /// i64, counted in elements.
    strides: Vec<Value>,
    /// What loads of floats give outside.
    outside: Outside,
    /// Whether loads round f32 to tf32: a truth value; never without one.
    rounds: Option<Value>,
}

/// What a load through a descriptor gives outside of the extents.
#[derive(Clone, Copy, Debug)]
enum Outside {
    Zero,
    /// NaN; zero for integers.
    Nan,
    /// NaN where this truth value says so.
    NanIf(Value),
}

struct Expander {
    kernel: Kernel,
    maps: Vec<OpId>,
    parts: IdMap<Value, Option<Described>>,
}

impl Expander {
    /// The kernel's own operations: from the first one on that uses descriptors that it is given, twice.
    fn body(&mut self, body: Region) -> Region {
        let is_given = |id: &OpId| {
            self.kernel.ops[*id].kind == OpKind::Descriptor(DescriptorOp::Given)
                && !self.maps.contains(id)
        };
        let mut given: Vec<OpId> = body.ops.iter().copied().filter(is_given).collect();
        let descriptors: Vec<Value> =
            given.iter().map(|&id| self.kernel.ops[id].results[0]).collect();
        let first = body.ops.iter().position(|&id| self.uses(id, &descriptors));
        let (Some(first), Some((&returns, rest))) = (first, body.ops.split_last()) else {
            return self.region(body);
        };
        let (before, rest) = rest.split_at(first);
        given.retain(|id| before.contains(id));
        let before = before.iter().copied().filter(|id| !given.contains(id)).collect();
        let again = Region { params: Vec::new(), ops: rest.to_vec() };
        let again = self.kernel.copy_of_region(&again, &mut IdMap::default());
        let Region { params, mut ops } = self.region(Region { params: body.params, ops: before });
        let at = given[0];
        let ordinary = self.ordinary(&given, &mut ops);
        let mut regions = Vec::new();
        for (is_ordinary, rest) in [(true, rest.to_vec()), (false, again.ops)] {
            let mut all = Vec::new();
            for &id in &given {
                self.assembled(id, is_ordinary, &mut all);
            }
            all.append(&mut self.region(Region { params: Vec::new(), ops: rest }).ops);
            let mut writer = Rewrite { kernel: &mut self.kernel, at, out: &mut all };
            writer.nothing(OpKind::Yield, &[]);
            regions.push(Region { params: Vec::new(), ops: all });
        }
        let mut writer = Rewrite { kernel: &mut self.kernel, at, out: &mut ops };
        let versions = writer.nothing(OpKind::If, &[ordinary]);
        self.kernel.ops[versions].regions = regions;
        ops.push(returns);
        Region { params, ops }
    }

    /// Whether an operation uses some values, or one inside of it does.
    fn uses(&self, id: OpId, values: &[Value]) -> bool {
        let op = &self.kernel.ops[id];
        let mut uses = op.operands.iter().any(|operand| values.contains(operand));
        for region in &op.regions {
            self.kernel.walk(region, &mut |_, op| {
                uses |= op.operands.iter().any(|operand| values.contains(operand));
            });
        }
        uses
    }

    /// Whether all descriptors have no padding but zeros, no rounding, and rows of whole 16 bytes.
    fn ordinary(&mut self, given: &[OpId], out: &mut Vec<OpId>) -> Value {
        let mut all: Option<Value> = None;
        for &at in given {
            let (rank, per_alignment) = self.shape_of(at);
            let operands = self.kernel.ops[at].operands.clone();
            let mut writer = Rewrite { kernel: &mut self.kernel, at, out };
            let rest = writer.with_number(Binary::And, operands[rank], per_alignment - 1);
            let zero = writer.constant(&writer.ty(rest), 0);
            let mut holds = vec![writer.compare(Compare::Eq, rest, zero)];
            for &flag in &operands[1 + 2 * rank..] {
                holds.push(writer.with_number(Binary::Xor, flag, 1));
            }
            for more in holds {
                all = Some(match all {
                    Some(all) => writer.binary(Binary::And, all, more),
                    None => more,
                });
            }
        }
        let mut writer = Rewrite { kernel: &mut self.kernel, at: given[0], out };
        all.unwrap_or_else(|| writer.constant(&Type::scalar(DType::I1), 1))
    }

    /// The rank of a descriptor that an operation makes, and how many of its elements lie in 16 bytes.
    fn shape_of(&self, at: OpId) -> (usize, u64) {
        let ty = self.kernel.ty(self.kernel.ops[at].results[0]);
        (ty.shape.len(), ALIGNMENT / u64::from(ty.dtype().bytes()))
    }

    /// A descriptor of what the kernel was given; an ordinary one, where that was tested.
    fn assembled(&mut self, at: OpId, ordinary: bool, out: &mut Vec<OpId>) {
        let (rank, per_alignment) = self.shape_of(at);
        let Op { operands, results, .. } = self.kernel.ops[at].clone();
        let is_f32 = self.kernel.ty(results[0]).dtype() == DType::F32;
        let mut writer = Rewrite { kernel: &mut self.kernel, at, out };
        let (mut extents, strides) = (operands[1..=rank].to_vec(), &operands[1 + rank..=2 * rank]);
        let flags = &operands[1 + 2 * rank..];
        let (outside, rounds) = if ordinary {
            // It is a multiple, and now that can be seen.
            let last = &mut extents[rank - 1];
            *last = writer.with_number(Binary::And, *last, !(per_alignment - 1));
            (Outside::Zero, None)
        } else {
            let outside = flags.first().map_or(Outside::Zero, |&is_nan| Outside::NanIf(is_nan));
            (outside, flags.get(1).copied().filter(|_| is_f32))
        };
        let extents = extents.into_iter().map(|extent| writer.indexed(extent)).collect();
        let (base, strides) = (operands[0], strides.to_vec());
        self.parts.set(results[0], Some(Described { base, extents, strides, outside, rounds }));
    }

    fn region(&mut self, region: Region) -> Region {
        let params = self.flat_results(&region.params);
        let mut ops = Vec::with_capacity(region.ops.len());
        for id in region.ops {
            self.op(id, &mut ops);
        }
        Region { params, ops }
    }

    fn op(&mut self, id: OpId, out: &mut Vec<OpId>) {
        match self.kernel.ops[id].kind {
            OpKind::Descriptor(DescriptorOp::Given | DescriptorOp::Make { .. })
                if self.maps.contains(&id) =>
            {
                out.push(id);
            }
            OpKind::Descriptor(DescriptorOp::Make { nan }) => {
                let Op { operands, results, .. } = self.kernel.ops[id].clone();
                let rank = self.shape_of(id).0;
                let mut writer = Rewrite { kernel: &mut self.kernel, at: id, out };
                let extents = &operands[1..=rank];
                let extents = extents.iter().map(|&extent| writer.not_negative(extent)).collect();
                let outside = if nan { Outside::Nan } else { Outside::Zero };
                let (base, strides) = (operands[0], operands[1 + rank..].to_vec());
                let parts = Described { base, extents, strides, outside, rounds: None };
                self.parts.set(results[0], Some(parts));
            }
            OpKind::Descriptor(DescriptorOp::Given) => self.assembled(id, false, out),
            OpKind::Descriptor(what) => {
                let descriptor = self.kernel.ops[id].operands[0];
                match &self.parts[descriptor] {
                    Some(parts) => {
                        Rewrite { kernel: &mut self.kernel, at: id, out }.access(what, parts);
                    }
                    // Blocks of a map are loaded and stored as they are.
                    None => out.push(id),
                }
            }
            _ => {
                let operands = self.kernel.ops[id].operands.clone();
                let operands = self.flat(&operands, id, out);
                let results = self.kernel.ops[id].results.clone();
                let results = self.flat_results(&results);
                let regions = core::mem::take(&mut self.kernel.ops[id].regions);
                let regions = regions.into_iter().map(|inner| self.region(inner)).collect();
                let op = &mut self.kernel.ops[id];
                (op.operands, op.results, op.regions) = (operands, results, regions);
                out.push(id);
            }
        }
    }

    /// Values with the parts of descriptors in their places: base, extents, strides, and two truth values.
    fn flat(&mut self, values: &[Value], at: OpId, out: &mut Vec<OpId>) -> Vec<Value> {
        let mut flat = Vec::with_capacity(values.len());
        for &value in values {
            let Some(Described { base, extents, strides, outside, rounds }) =
                self.parts[value].clone()
            else {
                flat.push(value);
                continue;
            };
            let mut writer = Rewrite { kernel: &mut self.kernel, at, out };
            let mut truth = |bit| writer.constant(&Type::scalar(DType::I1), bit);
            let is_nan = match outside {
                Outside::NanIf(is_nan) => is_nan,
                Outside::Nan => truth(1),
                Outside::Zero => truth(0),
            };
            let rounds = rounds.unwrap_or_else(|| truth(0));
            flat.push(base);
            flat.extend(extents);
            flat.extend(strides);
            flat.extend([is_nan, rounds]);
        }
        flat
    }

    /// Values that are defined here, and new ones for the parts of descriptors among them.
    fn flat_results(&mut self, values: &[Value]) -> Vec<Value> {
        let mut flat = Vec::with_capacity(values.len());
        for &value in values {
            let ty = self.kernel.ty(value).clone();
            if !ty.is_descriptor() {
                flat.push(value);
                continue;
            }
            let rank = ty.shape.len();
            let name = self.kernel.values[value].name.clone();
            let mut part = |ty: Type| {
                let value = self.kernel.values.push(ValueData::new(ty, name.clone()));
                flat.push(value);
                value
            };
            let base = part(Type::pointer(ty.dtype()));
            let extents = (0..rank).map(|_| part(Type::scalar(DType::I32))).collect();
            let strides = (0..rank).map(|_| part(Type::scalar(DType::I64))).collect();
            let outside = Outside::NanIf(part(Type::scalar(DType::I1)));
            let rounds = Some(part(Type::scalar(DType::I1))).filter(|_| ty.dtype() == DType::F32);
            self.parts.set(value, Some(Described { base, extents, strides, outside, rounds }));
        }
        flat
    }
}
