//! Descriptors as the tensor maps that a copy engine reads.
//!
//! Triton's launcher takes a descriptor apart, or encodes it as a map, as the compiler wants it. With a map
//! the kernel can do nothing but have whole blocks copied. So a descriptor is a map where all that is done with
//! it is to load blocks, or all to store and reduce them, and the engine gives what that means:
//!
//! * A row of a block begins with a whole piece of 16 bytes, whatever the indices are.
//! * A block is what the load gives or the store takes, but for extents of one.
//! * Nobody rounds f32 to tf32, which a map of f32 might be asked to do.
//! * The kernel writes to no memory that may be the tensor's, and orders none that others write: the engine
//!   does not see what threads write before they say so.
//!
//! A descriptor that a kernel makes itself is a map on the same terms, where the launch gives memory for it, it is made
//! once, at the beginning, and it is seen that base, strides, and the last extent of what is stored are multiples of
//! those pieces.
//!
//! The engine stores whole pieces of 16 bytes: where a row of the tensor ends within one, it writes up to the end of
//! that piece, on behalf of Triton's own code too (triton-lang/triton#11893).

use crate::atomic::Rmw;
use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::TensorWay;
use crate::tile::effects::Fence;
use crate::tile::{DescriptorOp, Kernel, Op, OpId, OpKind, Origins, Type, Value};
use core::ops::Range;

/// What rows of blocks are multiples of in bytes, from their first element on.
const PIECE: u64 = 16;
/// The most bytes of an element.
const MOST_BYTES: u32 = 4;

/// The arguments that a descriptor is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parts {
    /// The numbers of all of them: base, extents, strides, and truth values.
    pub arguments: Range<usize>,
    /// How many dimensions it has.
    pub rank: usize,
}

impl Parts {
    /// The arguments of the descriptor that an operation puts together, where they serve nothing else.
    pub fn of(kernel: &Kernel, given: OpId) -> Option<Self> {
        let Op { operands, results, .. } = &kernel.ops[given];
        let rank = kernel.ty(*results.first()?).shape.len();
        let params = &kernel.body.params;
        let first = params.iter().position(|param| operands.first() == Some(param))?;
        let arguments = first..first + operands.len();
        let parts = params.get(arguments.clone())?;
        // The last stride is one, whatever the launcher says.
        let is_its_own = |(place, (part, operand)): (usize, (&Value, &Value))| {
            place == 2 * rank || part == operand
        };
        let all = parts.iter().zip(operands).enumerate().all(is_its_own);
        let mut alone = true;
        kernel.walk(&kernel.body, &mut |id, op| {
            alone &= id == given || !op.operands.iter().any(|operand| parts.contains(operand));
        });
        (all && alone).then_some(Self { arguments, rank })
    }
}

/// The operations that put descriptors together, in order.
pub fn given(kernel: &Kernel) -> Vec<OpId> {
    let mut found = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        found.extend((op.kind == OpKind::Descriptor(DescriptorOp::Given)).then_some(id));
    });
    found
}

/// The operations that put descriptors together or make them, in order.
pub fn described(kernel: &Kernel) -> Vec<OpId> {
    let mut found = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        let is_one =
            matches!(op.kind, OpKind::Descriptor(DescriptorOp::Given | DescriptorOp::Make { .. }));
        found.extend(is_one.then_some(id));
    });
    found
}

/// Whether a kernel makes a descriptor itself.
pub fn is_made(kernel: &Kernel, descriptor: Value) -> bool {
    let definition = kernel.definitions()[descriptor];
    definition.is_some_and(|id| {
        matches!(kernel.ops[id].kind, OpKind::Descriptor(DescriptorOp::Make { .. }))
    })
}

/// The descriptors that may be maps, by the operations that put them together, or, where the launch gives memory for
/// these, that make them.
pub fn mappable(kernel: &Kernel, facts: &AxisFacts, scratch: bool) -> Vec<OpId> {
    let mut given = given(kernel);
    if scratch {
        let is_made = |id: &OpId| {
            matches!(kernel.ops[*id].kind, OpKind::Descriptor(DescriptorOp::Make { .. }))
        };
        given.extend(kernel.body.ops.iter().copied().filter(is_made));
    }
    if given.is_empty() || orders_memory(kernel) {
        return Vec::new();
    }
    let mut fits: IdMap<OpId, bool> = IdMap::default();
    let mut ways: IdMap<OpId, Option<bool>> = IdMap::default();
    let definitions = kernel.definitions();
    for &id in &given {
        fits.set(id, is_mappable(kernel, facts, id));
    }
    kernel.walk(&kernel.body, &mut |_, op| {
        for (place, &operand) in op.operands.iter().enumerate() {
            let Some(id) = definitions[operand].filter(|id| given.contains(id)) else { continue };
            let stores = op.kind.effects().global.writes;
            let other_way = ways[id].is_some_and(|before| before != stores);
            ways.set(id, Some(stores));
            if place > 0 || other_way || !is_whole(kernel, facts, op) {
                fits.set(id, false);
            }
        }
    });
    // Of those that are given the launcher sees to it.
    let ends = |id: OpId| {
        let is_given = kernel.ops[id].kind == OpKind::Descriptor(DescriptorOp::Given);
        ways[id] != Some(true) || is_given || ends_whole(kernel, facts, id)
    };
    given.into_iter().filter(|&id| fits[id] && ends(id)).collect()
}

/// Those of some descriptors that blocks are stored through.
pub fn stored(kernel: &Kernel, given: &[OpId]) -> Vec<OpId> {
    let definitions = kernel.definitions();
    let mut found = Vec::new();
    kernel.walk(&kernel.body, &mut |_, op| {
        if let OpKind::Descriptor(DescriptorOp::Store | DescriptorOp::Reduce(_)) = op.kind {
            found.extend(definitions[op.operands[0]]);
        }
    });
    given.iter().copied().filter(|id| found.contains(id)).collect()
}

/// Whether a kernel writes where it cannot be told, or orders what others write. What is done through descriptors
/// orders nothing.
fn orders_memory(kernel: &Kernel) -> bool {
    let origins = Origins::of(kernel);
    let mut orders = false;
    kernel.walk(&kernel.body, &mut |_, op| {
        let effects = op.kind.effects();
        let written = || op.operands.first().and_then(|&pointer| origins.argument(pointer));
        let reduces = matches!(op.kind, OpKind::Descriptor(_));
        orders |= matches!(effects.fence, Fence::Atomic | Fence::Unknown) && !reduces
            || (effects.global.writes && written().is_none());
    });
    orders
}

/// Whether there are maps of such tensors.
fn is_mappable(kernel: &Kernel, facts: &AxisFacts, id: OpId) -> bool {
    let Op { kind, operands, results, .. } = &kernel.ops[id];
    let ty = kernel.ty(results[0]);
    let (dtype, rank) = (ty.dtype(), ty.shape.len());
    let is_whole = if *kind == OpKind::Descriptor(DescriptorOp::Given) {
        let may_round = dtype == DType::F32 && operands.len() > 2 * rank + 2;
        !may_round && Parts::of(kernel, id).is_some()
    } else {
        let (strides, last) = (&operands[1 + rank..2 * rank], operands[2 * rank]);
        let one = kernel.definitions()[last].map(|id| &kernel.ops[id].kind);
        let elements = PIECE / u64::from(dtype.bytes());
        is_multiple(facts, operands[0], PIECE)
            && strides.iter().all(|&stride| is_multiple(facts, stride, elements))
            && one == Some(&OpKind::Constant(1))
    };
    dtype != DType::I1 && dtype.bytes() <= MOST_BYTES && is_whole
}

/// Whether rows of the tensor of a descriptor that a kernel makes end with whole pieces.
fn ends_whole(kernel: &Kernel, facts: &AxisFacts, made: OpId) -> bool {
    let Op { operands, results, .. } = &kernel.ops[made];
    let ty = kernel.ty(results[0]);
    is_multiple(facts, operands[ty.shape.len()], PIECE / u64::from(ty.dtype().bytes()))
}

/// Whether a scalar is known to be a multiple of a number.
fn is_multiple(facts: &AxisFacts, value: Value, of: u64) -> bool {
    let dims = &facts.get(value).dims;
    !dims.is_empty() && dims.iter().all(|dim| dim.divisibility.is_multiple_of(of))
}

/// Whether an operation loads or stores a block whose rows begin with whole pieces.
fn is_whole(kernel: &Kernel, facts: &AxisFacts, op: &Op) -> bool {
    let (OpKind::Descriptor(what), [descriptor, rest @ ..]) = (&op.kind, &op.operands[..]) else {
        return false;
    };
    let block = kernel.ty(*descriptor);
    let (indices, tensor) = match (what, rest) {
        (DescriptorOp::Load, indices) => (indices, op.results[0]),
        (DescriptorOp::Store, [indices @ .., tensor]) => (indices, *tensor),
        (DescriptorOp::Reduce(op), [indices @ .., tensor])
            if TensorWay::Reduce(*op).takes(block.dtype()) && !orders_signs(*op, block) =>
        {
            (indices, *tensor)
        }
        _ => return false,
    };
    let (bytes, tensor) = (u64::from(block.dtype().bytes()), kernel.ty(tensor));
    let begins = indices.last().is_some_and(|&index| is_multiple(facts, index, PIECE / bytes));
    begins && tensor.encoding.is_none() && dimensions(block, tensor).is_some()
}

/// Whether an operation takes integers for signed ones, which the launcher's maps do not tell from others.
fn orders_signs(op: Rmw, block: &Type) -> bool {
    matches!(op, Rmw::Min | Rmw::Max) && !block.dtype().is_float()
}

/// For each dimension of a block the dimension of what lies in memory that it is, none for an extent of one; nothing
/// where they differ in more than extents of one.
pub fn dimensions(block: &Type, memory: &Type) -> Option<Vec<Option<usize>>> {
    let mut own = (0..memory.shape.len()).filter(|&dim| memory.shape[dim] > 1);
    let mut found = Vec::with_capacity(block.shape.len());
    for &extent in &block.shape {
        found.push(match extent {
            1 => None,
            _ => Some(own.next().filter(|&dim| memory.shape[dim] == extent)?),
        });
    }
    own.next().is_none().then_some(found)
}
