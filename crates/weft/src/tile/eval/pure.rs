//! The operations that compute their result from their operands alone.

use super::bounds::{self, Freedom};
use super::dot::dot;
use super::elements::{Bounded, Bounds, Elements, strides};
use super::scaled;
use super::world::World;
use crate::dtype::DType;
use crate::scalar;
use crate::tile::{Element, LocalOp, Op, OpKind, Type};

/// The result of a pure operation other than a reduction, with how far its elements may be off.
///
/// `count` is how many elements the result has; the operands are known to have as many as their
/// types say.
pub(super) fn evaluate(
    world: &World<'_, '_>,
    instance: [u32; 3],
    op: &Op,
    operands: &[Bounded],
    count: usize,
    freedom: Freedom,
) -> Result<Bounded, String> {
    let given = op.operands.iter().zip(operands);
    let types: Vec<&Type> = given.map(|(&value, _)| world.kernel.ty(value)).collect();
    let result = op.results.first().map(|&value| world.kernel.ty(value));
    let result = result.ok_or("an operation without a result")?;
    let parts: Vec<&Elements> = operands.iter().map(|operand| &operand.bits).collect();
    if let Some(bits) = moved(op, &parts, operands, (&types, result), count)? {
        if operands.iter().all(|operand| operand.bounds.is_exact()) {
            return Ok(Bounded::exact(bits));
        }
        let parts: Vec<&Bounds> = operands.iter().map(|operand| &operand.bounds).collect();
        let bounds = moved(op, &parts, operands, (&types, result), count)?;
        let bounds = bounds.ok_or("it moves nothing")?;
        return Ok(Bounded { bits, bounds: indexed(op, operands, bounds, count) });
    }
    let bits = match op.kind {
        OpKind::DotScaled(dot) => scaled::dot(dot, operands, &types)?,
        _ => computed(world, instance, op, &parts, (&types, result), count)?,
    };
    let bounds = match (&op.kind, &types[..]) {
        (
            OpKind::Constant(_)
            | OpKind::Poison
            | OpKind::MakeRange { .. }
            | OpKind::ProgramId(_)
            | OpKind::NumPrograms(_),
            _,
        ) => Bounds::EXACT,
        (OpKind::Dot(precision) | OpKind::WarpgroupDot(precision), &[a, b, c]) => {
            bounds::dot(*precision, [a, b, c], operands)
        }
        (OpKind::DotScaled(dot), types) => scaled::bounds_of(*dot, operands, types)?,
        (OpKind::Histogram, [ty, ..]) => {
            // Each number that may be another one may be counted elsewhere.
            let may_move = |index: &usize| operands.iter().any(|x| x.bounds.get(*index) != 0.0);
            let moving = (0..ty.elements() as usize).filter(may_move).count();
            Elements::Same(moving as f64)
        }
        _ => bounds::of(&op.kind, &types, operands, (result, &bits), count, freedom),
    };
    Ok(Bounded { bits, bounds })
}

/// What an operation that only moves elements makes of something of each; nothing of other operations.
fn moved<T: Copy + Default>(
    op: &Op,
    parts: &[&Elements<T>],
    operands: &[Bounded],
    (types, result): (&[&Type], &Type),
    count: usize,
) -> Result<Option<Elements<T>>, String> {
    Ok(Some(match (&op.kind, parts, types) {
        (OpKind::Splat | OpKind::Unsplat, [x], _) => {
            Elements::Same(x.only().ok_or("an operand of more than one element")?)
        }
        (OpKind::ExpandDims { .. } | OpKind::Reshape { .. } | OpKind::ConvertLayout, [x], _) => {
            (*x).clone()
        }
        (OpKind::Broadcast, [x], [from]) => {
            let repeated = broadcast_strides(&from.shape, &result.shape)?;
            x.strided(&result.shape, &repeated)
        }
        (OpKind::Trans { order } | OpKind::Local(LocalOp::Trans { order }), [x], [from]) => {
            let permuted = permuted_strides(&from.shape, order, &result.shape)?;
            x.strided(&result.shape, &permuted)
        }
        (OpKind::Join, [x, y], _) => {
            Elements::from_fn(count, |index| [x, y][index % 2].get(index / 2))
        }
        (OpKind::Gather { axis }, [source, _], [from, index_type]) => {
            let indices = &operands[1].bits;
            gather(source, indices, (from, index_type, result), usize::from(*axis))?
        }
        _ => return Ok(None),
    }))
}

/// The bounds of what was moved: of what was found by an index that may be another, nothing is known.
fn indexed(op: &Op, operands: &[Bounded], bounds: Bounds, count: usize) -> Bounds {
    match (&op.kind, operands) {
        (OpKind::Gather { .. }, [_, indices]) if !indices.bounds.is_exact() => {
            Bounds::held(count, |index| match indices.bounds.get(index) {
                0.0 => bounds.get(index),
                _ => f64::INFINITY,
            })
        }
        _ => bounds,
    }
}

/// The elements that an operation computes from those of its operands.
fn computed(
    world: &World<'_, '_>,
    instance: [u32; 3],
    op: &Op,
    operands: &[&Elements],
    (types, result): (&[&Type], &Type),
    count: usize,
) -> Result<Elements, String> {
    let missing = |dtype: DType| format!("no operation on {dtype}");
    Ok(match (&op.kind, operands, types) {
        (OpKind::Constant(bits), [], _) => Elements::Same(bits & result.dtype().mask()),
        (OpKind::Poison, [], _) => Elements::Same(0),
        (OpKind::MakeRange { start, .. }, [], _) => {
            let first = i64::from(*start);
            Elements::from_fn(count, |index| (first + index as i64) as u64 & DType::I32.mask())
        }
        (OpKind::ProgramId(axis), [], _) => Elements::Same(along(instance, *axis)?),
        (OpKind::NumPrograms(axis), [], _) => Elements::Same(along(world.grid, *axis)?),
        (OpKind::Histogram, [x, mask @ ..], [ty, ..]) => {
            let mut counts = vec![0; count];
            for element in 0..ty.elements() as usize {
                // Integers have no sign of their own: all are read from zero on.
                let bin = usize::try_from(x.get(element) & ty.dtype().mask());
                let counted = mask.first().is_none_or(|mask| mask.get(element) & 1 == 1);
                if let Some(bin) = bin.ok().and_then(|bin| counts.get_mut(bin)).filter(|_| counted)
                {
                    *bin += 1;
                }
            }
            Elements::each(counts.into())
        }
        (OpKind::Unary(op), [x], [ty]) => {
            x.map(scalar::unary(*op, ty.dtype()).ok_or_else(|| missing(ty.dtype()))?)
        }
        (OpKind::Binary(op), [x, y], [ty, _]) => {
            x.zip(y, scalar::binary(*op, ty.dtype()).ok_or_else(|| missing(ty.dtype()))?)
        }
        (OpKind::Compare(op), [x, y], [ty, _]) => {
            x.zip(y, scalar::compare(*op, ty.dtype()).ok_or_else(|| missing(ty.dtype()))?)
        }
        (OpKind::Select, [condition, yes, no], _) => Elements::zip3(
            count,
            [condition, yes, no],
            |condition, yes, no| {
                if condition & 1 == 1 { yes } else { no }
            },
        ),
        (OpKind::Cast(op), [x], [ty]) => {
            let (from, to) = (ty.dtype(), result.dtype());
            if !scalar::cast_applies(*op, from, to) {
                return Err(format!("no conversion from {from} to {to}"));
            }
            x.map(|bits| scalar::cast(*op, from, to, bits))
        }
        (OpKind::Fma, [x, y, z], _) => {
            Elements::zip3(count, [x, y, z], scalar::fma(result.dtype()))
        }
        (OpKind::Function(function), operands, [ty, ..]) => {
            by_element(count, operands, |bits| function.apply(ty.dtype(), bits))
        }
        (OpKind::Directed(op, rounding), operands, [ty, ..]) => {
            by_element(count, operands, |bits| op.apply(*rounding, ty.dtype(), bits))
        }
        (OpKind::AddPtr, [pointers, offsets], [_, offset]) => {
            let Element::Pointer(pointee) = result.element else {
                return Err("the result is no pointer".into());
            };
            let (bytes, dtype) = (i64::from(pointee.bytes()), offset.dtype());
            pointers.zip(offsets, |pointer, offset| {
                let offset = scalar::sign_extend(dtype, offset);
                pointer.wrapping_add(offset.wrapping_mul(bytes) as u64)
            })
        }
        (OpKind::Dot(_) | OpKind::WarpgroupDot(_), [a, b, c], &[a_type, b_type, c_type]) => {
            dot([a, b, c], [a_type, b_type, c_type])?
        }
        _ => return Err(format!("it has {} operands", operands.len())),
    })
}

/// A function of any number of operands of the elements at each index.
fn by_element(count: usize, operands: &[&Elements], apply: impl Fn(&[u64]) -> u64) -> Elements {
    let mut bits = vec![0; operands.len()];
    Elements::from_fn(count, |index| {
        for (bits, operand) in bits.iter_mut().zip(operands) {
            *bits = operand.get(index);
        }
        apply(&bits)
    })
}

/// The source's elements at the indices' places, but along `axis` at the index; zero where an index is
/// outside.
fn gather<T: Copy + Default>(
    source: &Elements<T>,
    indices: &Elements,
    (from, index_type, result): (&Type, &Type, &Type),
    axis: usize,
) -> Result<Elements<T>, String> {
    let agree = |dim: usize| dim == axis || from.shape.get(dim) == result.shape.get(dim);
    let rank = result.shape.len();
    if axis >= rank || from.shape.len() != rank || !(0..rank).all(agree) {
        return Err(format!("{from} has no common axis {axis} with {result}"));
    }
    let product = |shape: &[u64]| shape.iter().product::<u64>() as usize;
    let (extent, wanted) = (from.shape[axis] as usize, result.shape[axis] as usize);
    let inner = product(&result.shape[axis + 1..]);
    Ok(Elements::from_fn(product(&result.shape), |place| {
        let index = scalar::sign_extend(index_type.dtype(), indices.get(place));
        let (outer, within) = (place / inner / wanted, place % inner);
        match usize::try_from(index) {
            Ok(index) if index < extent => source.get((outer * extent + index) * inner + within),
            _ => T::default(),
        }
    }))
}

fn along(extents: [u32; 3], axis: u8) -> Result<u64, String> {
    let extent = extents.get(usize::from(axis)).ok_or("a grid has three axes")?;
    Ok(u64::from(*extent))
}

/// The strides with which a tensor of shape `from` is read as one of shape `to`: zero along the
/// dimensions that are repeated.
fn broadcast_strides(from: &[u64], to: &[u64]) -> Result<Vec<usize>, String> {
    let agree = |(from, to): (&u64, &u64)| *from == 1 || from == to;
    if from.len() != to.len() || !from.iter().zip(to).all(agree) {
        return Err(format!("{from:?} is not broadcast to {to:?}"));
    }
    let extents = from.iter().copied();
    Ok(strides(from).into_iter().zip(extents).map(|(s, n)| if n == 1 { 0 } else { s }).collect())
}

/// The strides with which a tensor of shape `from` is read when dimension `i` is its `order[i]`.
fn permuted_strides(from: &[u64], order: &[u8], to: &[u64]) -> Result<Vec<usize>, String> {
    let wrong = || format!("order {order:?} does not take {from:?} to {to:?}");
    if from.len() != to.len() || from.len() != order.len() {
        return Err(wrong());
    }
    let by_axis = strides(from);
    let mut seen = vec![false; from.len()];
    let mut permuted = Vec::with_capacity(from.len());
    for (&axis, &extent) in order.iter().zip(to) {
        let axis = usize::from(axis);
        if from.get(axis) != Some(&extent) || core::mem::replace(&mut seen[axis], true) {
            return Err(wrong());
        }
        permuted.push(by_axis[axis]);
    }
    Ok(permuted)
}
