//! Factors in shared memory: products that warpgroups compute.
//!
//! The matrix units of a warpgroup read the right factor, and the left one if it is there, from shared
//! memory by themselves. This pass rewrites the products of a tile program that such units can compute:
//!
//! ```text
//! %y = load …                       %y = load …
//! %s = dot %x, %y, %c        ==>    %m = local_alloc %y
//!                                   %s = warpgroup_dot %x, %m, %c
//! ```
//!
//! A factor is put into memory where it is defined, so that one from outside of a loop is put there once. One
//! that is the transpose of another tensor is stored as that tensor and read transposed. A left factor
//! that arithmetic made stays in registers, where it is; one that was loaded goes through memory.
//!
//! The program keeps its meaning. How the memory is laid out is decided later, when it is known who writes
//! it ([`assign::run`](crate::assign::run)).

use crate::assign::{readable_axes, warpgroup_instruction};
use crate::axis::AxisFacts;
use crate::id::IdMap;
use crate::prune;
use crate::tile::{
    DescriptorOp, Encoding, Kernel, LocalOp, Op, OpId, OpKind, Precision, Region, SharedMemory,
    Type, Value, ValueData,
};
use std::sync::Arc;
use weft_layout::family::{Family, SwizzledShared};
use weft_layout::machine::Machine;

/// The least elements along the axis that is contiguous in memory, in bytes: what one row of the narrowest
/// swizzle has.
const LEAST_ROW_BYTES: u64 = 32;

/// The kernel with its products computed by warpgroups, where the machine has such instructions and they
/// fit; nothing where none does, or where the program says itself where its tensors live.
pub fn run(kernel: &Kernel, facts: &AxisFacts, machine: &Machine, warps: u32) -> Option<Kernel> {
    if kernel.is_encoded() {
        return None;
    }
    let definitions = kernel.definitions();
    let along = IdMap::default();
    let mut search = Search { kernel, facts, machine, warps, definitions: &definitions, along };
    let mut found = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        if let OpKind::Dot(precision) = op.kind {
            found.extend(search.product(id, op, precision));
        }
    });
    if found.is_empty() {
        return None;
    }
    let mut rewriter = Rewriter {
        kernel: kernel.clone(),
        definitions: &definitions,
        stored: IdMap::default(),
        after: IdMap::default(),
        at_start: IdMap::default(),
    };
    for product in found {
        rewriter.product(product);
    }
    let mut shared = rewriter.placed();
    // Transposes that nobody takes any more.
    prune::run(&mut shared);
    Some(shared)
}

/// Those of some descriptors of which blocks are put into memory as factors, by the operations that put them together.
pub fn maps(kernel: &Kernel, maps: &[OpId]) -> Vec<OpId> {
    let definitions = kernel.definitions();
    let mut feeding = Vec::new();
    kernel.walk(&kernel.body, &mut |_, op| {
        let (OpKind::Local(LocalOp::Alloc), [tensor]) = (&op.kind, &op.operands[..]) else {
            return;
        };
        let Some(load) = definitions[*tensor].map(|id| &kernel.ops[id]) else { return };
        if load.kind == OpKind::Descriptor(DescriptorOp::Load) {
            feeding.extend(definitions[load.operands[0]]);
        }
    });
    maps.iter().copied().filter(|id| feeding.contains(id)).collect()
}

/// A factor in memory: the tensor that is stored, and the order of its dimensions in which it is read.
#[derive(Clone)]
struct Stored {
    tensor: Value,
    order: Option<Vec<u8>>,
}

impl Stored {
    /// The axis of the stored tensor that is this one as it is read.
    fn axis(&self, read: usize) -> usize {
        self.order.as_ref().map_or(read, |order| order[read].into())
    }
}

/// A product that warpgroups can compute.
struct Product {
    op: OpId,
    precision: Precision,
    /// The left factor, where it is read from memory.
    left: Option<Stored>,
    right: Stored,
}

struct Search<'a> {
    kernel: &'a Kernel,
    facts: &'a AxisFacts,
    machine: &'a Machine,
    warps: u32,
    definitions: &'a IdMap<Value, Option<OpId>>,
    /// The axis of a tensor in memory along which products sum, where they can read it along no other.
    along: IdMap<Value, Option<usize>>,
}

impl Search<'_> {
    fn product(&mut self, id: OpId, op: &Op, precision: Precision) -> Option<Product> {
        let [a, b, _] = op.operands[..] else { return None };
        warpgroup_instruction(self.kernel, op, self.machine, self.warps)?;
        let right = self.stored(b);
        if !self.is_readable(&right, 0) {
            return None;
        }
        self.claim(&right, 0);
        let left = (!self.is_made(a)).then(|| self.stored(a));
        let left = left.filter(|left| self.is_readable(left, 1));
        if let Some(left) = &left {
            self.claim(left, 1);
        }
        Some(Product { op: id, precision, left, right })
    }

    /// Keeps products that sum along another axis away from a factor that they could not read.
    fn claim(&mut self, stored: &Stored, summed: usize) {
        if self.kernel.ty(stored.tensor).dtype().bytes() != 2 {
            self.along.set(stored.tensor, Some(stored.axis(summed)));
        }
    }

    /// What is stored of a factor: what it is the transpose of.
    fn stored(&self, factor: Value) -> Stored {
        match self.definitions[factor].map(|id| &self.kernel.ops[id]) {
            Some(Op { kind: OpKind::Trans { order }, operands, .. }) => {
                Stored { tensor: operands[0], order: Some(order.clone()) }
            }
            _ => Stored { tensor: factor, order: None },
        }
    }

    /// Whether matrix units can read a factor as it will lie in memory, whose summed axis this is. Computed ones are
    /// stored along an axis that can be read; loaded ones of four bytes that lie along the other axis had to be copied
    /// one by one, which on an H200 took more than twice the time of a product by the instructions of a warp.
    fn is_readable(&self, stored: &Stored, summed: usize) -> bool {
        let ty = self.kernel.ty(stored.tensor);
        let bytes = u64::from(ty.dtype().bytes());
        let rows = |axis: usize| ty.shape[axis] * bytes >= LEAST_ROW_BYTES;
        let summed = stored.axis(summed);
        let is_free = bytes == 2 || self.along[stored.tensor].is_none_or(|along| along == summed);
        let mut axes = readable_axes(ty.dtype(), summed);
        let fits = match self.contiguous(stored.tensor) {
            Some(along) => axes.any(|axis| axis == along) && rows(along),
            None => axes.all(rows),
        };
        fits && is_free
    }

    /// The axis along which a loaded tensor lies in global memory, which is how it is copied; none where it is
    /// computed, and can be stored along either.
    fn contiguous(&self, tensor: Value) -> Option<usize> {
        let op = &self.kernel.ops[self.definitions[tensor]?];
        match op.kind {
            OpKind::Load(_) => {}
            OpKind::Descriptor(DescriptorOp::Load) => {
                return self.kernel.ty(tensor).shape.len().checked_sub(1);
            }
            _ => return None,
        }
        let dims = &self.facts.get(op.operands[0]).dims;
        let longest = dims.iter().map(|dim| dim.contiguity).max()?;
        dims.iter().rposition(|dim| dim.contiguity == longest)
    }

    /// Whether a left factor is in registers anyway: it is neither loaded nor the transpose of what is.
    fn is_made(&self, factor: Value) -> bool {
        let Stored { tensor, .. } = self.stored(factor);
        let loads = |id: OpId| {
            let kind = &self.kernel.ops[id].kind;
            matches!(kind, OpKind::Load(_) | OpKind::Descriptor(DescriptorOp::Load))
        };
        !self.definitions[tensor].is_some_and(loads)
    }
}

struct Rewriter<'a> {
    kernel: Kernel,
    definitions: &'a IdMap<Value, Option<OpId>>,
    /// The memory that each tensor was put into.
    stored: IdMap<Value, Option<Value>>,
    /// New operations, by the one that they follow.
    after: IdMap<OpId, Vec<OpId>>,
    /// New operations at the start of a region, by the parameter that they use.
    at_start: IdMap<Value, Vec<OpId>>,
}

impl Rewriter<'_> {
    fn product(&mut self, product: Product) {
        let Product { op, precision, left, right } = product;
        let right = self.memory(op, &right);
        let left = left.map(|left| self.memory(op, &left));
        let op = &mut self.kernel.ops[op];
        op.kind = OpKind::WarpgroupDot(precision);
        op.operands[1] = right;
        if let Some(left) = left {
            op.operands[0] = left;
        }
    }

    /// The memory that a factor is read from.
    fn memory(&mut self, user: OpId, factor: &Stored) -> Value {
        let known = self.stored[factor.tensor];
        let memory = known.unwrap_or_else(|| self.allocate(user, factor.tensor));
        let Some(order) = &factor.order else { return memory };
        let tensor = self.kernel.ty(factor.tensor);
        let shape: Vec<u64> = order.iter().map(|&axis| tensor.shape[usize::from(axis)]).collect();
        let turned = Type { shape: shape.into(), ..tensor.clone() };
        let ty = memory_type(&turned, &turned_order(order));
        let kind = OpKind::Local(LocalOp::Trans { order: order.clone() });
        self.emit(user, kind, memory, ty, factor.tensor)
    }

    fn allocate(&mut self, user: OpId, tensor: Value) -> Value {
        let ty = self.kernel.ty(tensor).bare();
        let order: Vec<usize> = (0..ty.shape.len()).rev().collect();
        let memory = self.emit(
            user,
            OpKind::Local(LocalOp::Alloc),
            tensor,
            memory_type(&ty, &order),
            tensor,
        );
        let name = self.kernel.values[tensor].name.clone();
        self.kernel.values[memory].name = name;
        self.stored.set(tensor, Some(memory));
        memory
    }

    /// An operation that stands where a tensor is defined.
    fn emit(&mut self, user: OpId, kind: OpKind, operand: Value, ty: Type, at: Value) -> Value {
        let result = self.kernel.values.push(ValueData::new(ty, None));
        let Op { loc, span, .. } = self.kernel.ops[user];
        let op = Op {
            kind,
            operands: vec![operand],
            results: vec![result],
            regions: Vec::new(),
            loc,
            span,
            spelled: false,
        };
        let op = self.kernel.ops.push(op);
        match self.definitions[at] {
            Some(id) => self.after.entry(id).push(op),
            None => self.at_start.entry(at).push(op),
        }
        result
    }

    /// The kernel with everything in its place.
    fn placed(mut self) -> Kernel {
        let body = core::mem::take(&mut self.kernel.body);
        self.kernel.body = self.region(body);
        self.kernel
    }

    fn region(&mut self, region: Region) -> Region {
        let mut ops = Vec::with_capacity(region.ops.len());
        for &param in &region.params {
            ops.append(self.at_start.entry(param));
        }
        for id in region.ops {
            let regions = core::mem::take(&mut self.kernel.ops[id].regions);
            let regions = regions.into_iter().map(|inner| self.region(inner)).collect();
            self.kernel.ops[id].regions = regions;
            ops.push(id);
            ops.append(self.after.entry(id));
        }
        Region { ops, ..region }
    }
}

/// The order of the dimensions of a transposed row-major tensor, the fastest first.
fn turned_order(order: &[u8]) -> Vec<usize> {
    let position = |axis: usize| order.iter().position(|&from| usize::from(from) == axis);
    (0..order.len()).rev().map(|axis| position(axis).unwrap_or(axis)).collect()
}

/// Memory for a tensor whose dimensions follow one another in this order, until it is known who uses it.
fn memory_type(tensor: &Type, order: &[usize]) -> Type {
    let family = Family::SwizzledShared(SwizzledShared::new(1, 1, 1, order));
    let memory = SharedMemory { family, mutable: true, allocated: tensor.shape.clone() };
    Type::tensor(tensor.element, &tensor.shape).with_encoding(Encoding::Shared(Arc::new(memory)))
}
