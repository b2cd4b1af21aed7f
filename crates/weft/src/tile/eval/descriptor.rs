//! Blocks of tensors in global memory, by what a descriptor means.
//!
//! A descriptor is the list of its parts: base, extents, strides, whether loads give NaN outside and whether
//! they round to tf32.

use super::access::Places;
use super::elements::{Bounded, Bounds, Elements};
use super::world::{Site, World};
use crate::dtype::DType;
use crate::scalar;
use crate::tile::{DescriptorOp, Type, Value};

/// How many parts a descriptor has.
pub(super) fn parts(descriptor: &Type) -> usize {
    2 * descriptor.shape.len() + 3
}

impl World<'_, '_> {
    /// Executes an operation on a descriptor; its result, if it has one.
    pub(super) fn descriptor(
        &mut self,
        site: Site<'_>,
        what: DescriptorOp,
        operands: &[Bounded],
    ) -> Result<Option<Bounded>, String> {
        let ty = |values: &[Value]| values.first().map(|&value| self.kernel.ty(value).clone());
        if let DescriptorOp::Make { .. } | DescriptorOp::Given = what {
            let descriptor = ty(&site.op.results).ok_or("it gives nothing")?;
            return Ok(Some(made(what, &descriptor, operands)));
        }
        let block = ty(&site.op.operands).and_then(|ty| ty.block());
        let mut block = block.ok_or("its first operand is no descriptor")?;
        let reads = matches!(what, DescriptorOp::Load | DescriptorOp::Gather);
        let taken = operands.len() - usize::from(!reads);
        let (descriptor, indices) = operands
            .get(..taken)
            .and_then(|taken| taken.split_first())
            .filter(|(_, indices)| indices.len() == block.shape.len())
            .ok_or("it lacks operands")?;
        let mut index_type = DType::I32;
        if what.is_by_rows() {
            let rows = self.kernel.ty(site.op.operands[1]);
            (block.shape[0], index_type) = (rows.elements(), rows.dtype());
        }
        let (pointers, mask) = places(what, &block, index_type, descriptor, indices);
        let (count, dtype) = (block.elements() as usize, block.dtype());
        let places = Places { count, dtype, pointers: &pointers, mask: Some(&mask) };
        match what {
            DescriptorOp::Store | DescriptorOp::Scatter => {
                self.store(site, places, &operands[taken]);
                Ok(None)
            }
            DescriptorOp::Reduce(op) => {
                self.read_modify_write(site, places, op, &operands[taken])?;
                Ok(None)
            }
            _ => {
                let rank = block.shape.len();
                let flag = |index: usize| descriptor.get(2 * rank + 1 + index) & 1 == 1;
                let nan = if flag(0) && dtype.is_float() { f64::NAN } else { 0.0 };
                let outside = Elements::Same(scalar::from_f64(dtype, nan));
                let loaded = self.load(site, places, &Bounded::exact(outside));
                Ok(Some(if flag(1) && dtype == DType::F32 {
                    to_tf32(&loaded, count)
                } else {
                    loaded
                }))
            }
        }
    }
}

fn made(what: DescriptorOp, descriptor: &Type, operands: &[Bounded]) -> Bounded {
    let (rank, count) = (descriptor.shape.len(), parts(descriptor));
    let extent = if what == DescriptorOp::Given { DType::I64 } else { DType::I32 };
    let bits = Elements::from_fn(count, |part| match (what, operands.get(part)) {
        (_, Some(x)) if (1..=rank).contains(&part) => scalar::sign_extend(extent, x.get(0)) as u64,
        (_, Some(x)) => x.get(0),
        (DescriptorOp::Make { nan }, None) => u64::from(nan && part == 2 * rank + 1),
        (_, None) => 0,
    });
    let bounds =
        Bounds::held(count, |part| operands.get(part).map_or(0.0, |operand| operand.bounds.get(0)));
    Bounded { bits, bounds }
}

/// Where the elements of a block lie, and whether each is within the extents.
fn places(
    what: DescriptorOp,
    block: &Type,
    index_type: DType,
    descriptor: &Bounded,
    indices: &[Bounded],
) -> (Bounded, Bounded) {
    let (rank, count) = (block.shape.len(), block.elements() as usize);
    let bytes = i64::from(block.dtype().bytes());
    let part = |index: usize| descriptor.get(index) as i64;
    let found = |element: usize| -> (u64, bool) {
        let (mut rest, mut address, mut within) = (element as u64, part(0), true);
        for dim in (0..rank).rev() {
            let away = rest % block.shape[dim];
            rest /= block.shape[dim];
            let coordinate = if what.is_by_rows() && dim == 0 {
                scalar::sign_extend(index_type, indices[0].get(away as usize))
            } else {
                scalar::sign_extend(DType::I32, indices[dim].get(0)) + away as i64
            };
            // Coordinates have 32 bits.
            within &= (0..part(1 + dim).min(1 << 31)).contains(&coordinate);
            let steps = coordinate.wrapping_mul(part(1 + rank + dim));
            address = address.wrapping_add(steps.wrapping_mul(bytes));
        }
        (address as u64, within)
    };
    // What is not sure of the indices or of the descriptor is not sure of any element.
    let sure = descriptor.bounds.is_exact() && indices.iter().all(|index| index.bounds.is_exact());
    let bounds = if sure { Bounds::EXACT } else { Elements::Same(f64::INFINITY) };
    let pointers = Elements::from_fn(count, |element| found(element).0);
    let mask = Elements::from_fn(count, |element| u64::from(found(element).1));
    (Bounded { bits: pointers, bounds: bounds.clone() }, Bounded { bits: mask, bounds })
}

/// f32 numbers rounded to what tf32 holds, to nearest and ties to even; infinity and NaN stay what they are.
fn to_tf32(x: &Bounded, count: usize) -> Bounded {
    const DROPPED: u32 = 13;
    let round = |bits: u64| {
        let bits = bits as u32;
        if !f32::from_bits(bits).is_finite() {
            return u64::from(bits);
        }
        let (kept, rest) = (bits >> DROPPED, bits & ((1 << DROPPED) - 1));
        let half = 1 << (DROPPED - 1);
        let up = rest > half || rest == half && kept & 1 == 1;
        u64::from((kept + u32::from(up)) << DROPPED)
    };
    // Two numbers are rounded at most a last place of the greater further apart than they are.
    let apart = |index: usize| match x.bounds.get(index) {
        0.0 => 0.0,
        bound => {
            let greatest = f64::from(f32::from_bits(x.get(index) as u32)).abs() + bound;
            bound + greatest * 2f64.powi(-10)
        }
    };
    Bounded { bits: x.bits.map(round), bounds: Bounds::held(count, apart) }
}
