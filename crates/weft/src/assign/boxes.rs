//! The boxes in which blocks of tensors come to shared memory, and go from there.

use super::{AssignError, Assignment, Buffers};
use crate::descriptors::{described, dimensions, is_made};
use crate::lane::TensorMap;
use crate::tile::{Fetch, Kernel, Op, OpId, OpKind, Sent, TransferOp, Value};
use std::collections::BTreeMap;
use weft_layout::family::Family;
use weft_layout::plan;
use weft_layout::space::Label;

/// The bytes that a box begins at a multiple of, whatever the swizzle.
const START: u64 = 128;

/// How a block is copied.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Boxes {
    /// The map that is asked for.
    pub(crate) map: TensorMap,
    /// For each copy, where it begins in the block, outermost dimension first, and in the buffer in bytes.
    pub(crate) copies: Vec<(Vec<u64>, u64)>,
}

/// How a block of a descriptor comes into memory, or goes from there.
pub(crate) fn boxes(
    kernel: &Kernel,
    assignment: &Assignment,
    Copied { descriptor, memory: buffer }: Copied,
) -> Result<Boxes, AssignError> {
    let refuse = |reason: String| {
        let name = kernel.value_name(descriptor);
        AssignError::NoBox { name, reason }
    };
    let (block, memory) = (kernel.ty(descriptor), kernel.ty(buffer));
    let dtype = block.dtype();
    let dimensions = dimensions(block, memory)
        .ok_or_else(|| refuse("a buffer has other dimensions than the block".into()))?;
    let Buffers { layout, count: buffers, .. } = &**assignment.buffers(buffer)?;
    if !layout.paddings().is_empty() {
        return Err(refuse("there are gaps in the buffer".into()));
    }
    let order: Vec<Label> =
        (0..memory.shape.len()).rev().map(|dim| Label::dim(dim as u32)).collect();
    let found = plan::copy_box(layout.layout(), dtype.bytes() * 8, &order)
        .map_err(|error| refuse(error.to_string()))?;
    // Buffers follow one another.
    let bytes = layout.size() * u64::from(dtype.bytes());
    let pattern = START.max(Buffers::ROWS * found.mode.span());
    if *buffers > 1 && !bytes.is_multiple_of(pattern) {
        return Err(refuse("buffers do not begin where patterns of the swizzle do".into()));
    }
    let side = |dim: &Option<usize>| {
        let label = dim.map(|dim| Label::dim(dim as u32));
        let side = found.sides.iter().find(|side| Some(side.0) == label);
        side.map_or(1, |side| side.1 as u32)
    };
    let sides = dimensions.iter().rev().map(side).collect();
    let span = found.mode.span() as u32;
    let map = TensorMap { element: dtype, sides, span, made: is_made(kernel, descriptor) };
    if !map.is_legal() {
        return Err(refuse(format!("there is no map of {map}")));
    }
    let copies = found.copies().map(|(place, start)| {
        let at = |dim: &Option<usize>| {
            let label = dim.map(|dim| Label::dim(dim as u32));
            place.iter().find(|at| Some(at.0) == label).map_or(0, |at| at.1)
        };
        (dimensions.iter().map(at).collect(), start)
    });
    let copies = copies.collect();
    Ok(Boxes { map, copies })
}

/// The map of each descriptor that is one.
pub(crate) fn maps(
    kernel: &Kernel,
    assignment: &Assignment,
) -> Result<BTreeMap<OpId, TensorMap>, AssignError> {
    let mut maps: BTreeMap<OpId, TensorMap> = BTreeMap::new();
    let mut refused = None;
    let given = described(kernel);
    kernel.walk(&kernel.body, &mut |_, op| {
        let Some(copied) = copied(op) else { return };
        let is_its = |id: &&OpId| kernel.ops[**id].results[0] == copied.descriptor;
        let Some(&id) = given.iter().find(is_its) else { return };
        match boxes(kernel, assignment, copied) {
            Ok(Boxes { map, .. }) => {
                if *maps.entry(id).or_insert_with(|| map.clone()) != map {
                    let name = kernel.value_name(copied.descriptor);
                    let reason = "its blocks lie differently in different buffers".into();
                    refused = Some(AssignError::NoBox { name, reason });
                }
            }
            Err(error) => refused = Some(error),
        }
    });
    refused.map_or(Ok(maps), Err)
}

/// A block that a copy engine moves, and the memory that it comes to or goes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    pub(crate) descriptor: Value,
    pub(crate) memory: Value,
}

/// What block an operation has copied, if it does.
pub(crate) fn copied(op: &Op) -> Option<Copied> {
    match op.kind {
        OpKind::Transfer(TransferOp::Fetch) => Fetch::of(&op.operands)
            .map(|Fetch { descriptor, memory, .. }| Copied { descriptor, memory }),
        OpKind::Transfer(TransferOp::Send(_)) => Sent::of(&op.operands)
            .map(|Sent { descriptor, memory, .. }| Copied { descriptor, memory }),
        _ => None,
    }
}

/// How many rows the boxes have in which a block of such elements comes to a buffer of this family, or goes from there:
/// the engine takes them one after the other. Nothing where there are no boxes.
pub(super) fn rows_of_boxes(family: &Family, shape: &[u64], bits: u32) -> Option<u64> {
    let order: Vec<Label> = (0..shape.len()).rev().map(|dim| Label::dim(dim as u32)).collect();
    let memory = family.padded(shape).ok().filter(|memory| memory.paddings().is_empty())?;
    let boxes = plan::copy_box(memory.layout(), bits, &order).ok()?;
    let row = boxes.sides.first().map_or(1, |side| side.1);
    Some(memory.size() / row)
}
