//! Products with scales as products of widened and scaled factors, for machines without instructions for them.
//!
//! Each factor is widened to bf16 (f16 where a factor is f16), multiplied by its scale, and given to `dot`:
//!
//! * a number of four bits, two in a byte with the first in the low half, is a sign, two bits of
//!   exponent with bias 1 and one of mantissa: put where bf16 has them, it needs only its bias;
//! * a scale of eight bits is an exponent alone, with bf16's own bias; 255 is NaN, unless the
//!   operation promises that there is none.
//!
//! This is what Triton does. It means the same as the product itself ([`crate::tile::eval`]) where the scaled
//! numbers are ones of bf16, as those of four and eight bits are but at the ends of its range: a scale of 2⁻¹²⁷
//! is taken for zero, and what is too large for bf16 for infinity. So the rewritten kernel is what the evaluator
//! runs for such a machine.

use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{
    Kernel, Op, OpId, OpKind, Precision, Region, Rewrite, ScaledDot, ScaledFactor, ScaledOperands,
    Type, Value, WriteOps,
};

/// The kernel without products with scales but those that are kept; nothing where it has no others.
pub fn run(kernel: &Kernel, mut is_kept: impl FnMut(&Op) -> bool) -> Option<Kernel> {
    let mut chosen: IdMap<OpId, Option<ScaledDot>> = IdMap::default();
    let mut any = false;
    kernel.walk(&kernel.body, &mut |id, op| {
        if let OpKind::DotScaled(scaled) = op.kind
            && !is_kept(op)
        {
            chosen.set(id, Some(scaled));
            any = true;
        }
    });
    let mut result = any.then(|| kernel.clone())?;
    let body = core::mem::take(&mut result.body);
    result.body = rewritten(&mut result, body, &chosen);
    Some(result)
}

/// A region with plain products for those that are chosen.
fn rewritten(
    kernel: &mut Kernel,
    region: Region,
    chosen: &IdMap<OpId, Option<ScaledDot>>,
) -> Region {
    let mut ops = Vec::new();
    for id in region.ops {
        let regions = core::mem::take(&mut kernel.ops[id].regions);
        let regions = regions.into_iter().map(|region| rewritten(kernel, region, chosen));
        let regions = regions.collect();
        kernel.ops[id].regions = regions;
        if let Some(scaled) = chosen[id] {
            let operands = kernel.ops[id].operands.clone();
            let mut writer = Rewrite { kernel, at: id, out: &mut ops };
            let Some(operands) = plain(&mut writer, scaled, &operands) else { continue };
            let op = &mut kernel.ops[id];
            (op.kind, op.operands) = (OpKind::Dot(Precision::Ieee), operands.to_vec());
            op.spelled = false;
        }
        ops.push(id);
    }
    Region { params: region.params, ops }
}

/// What `dot` takes for a product with scales.
fn plain(writer: &mut impl WriteOps, scaled: ScaledDot, operands: &[Value]) -> Option<[Value; 3]> {
    let ScaledOperands { factors, scales, sum } = scaled.operands(operands)?;
    let types = factors.map(|factor| writer.ty(factor));
    let wide = scaled.wide(types.each_ref());
    let mut widened = factors;
    for side in 0..2 {
        // The left factor lies as it is scaled: the summed axis last. The right one is turned.
        let factor = if side == 1 { writer.transposed(factors[side]) } else { factors[side] };
        let mut numbers = match scaled.factors[side] {
            ScaledFactor::Pairs { along_summed } => nibbles(writer, factor, along_summed, wide),
            ScaledFactor::Floats => writer.cast(Cast::Float, factor, wide),
        };
        if let Some(scale) = scales[side] {
            let scale = repeated(writer, scale, numbers, (wide, scaled.fast))?;
            numbers = writer.binary(Binary::Mul, numbers, scale);
        }
        widened[side] = if side == 1 { writer.transposed(numbers) } else { numbers };
    }
    Some([widened[0], widened[1], sum])
}

/// The numbers of four bits in a tensor of bytes, each byte two neighbours along the last axis (`along_last`) or
/// along that before it.
pub(crate) fn nibbles(
    writer: &mut impl WriteOps,
    bytes: Value,
    along_last: bool,
    wide: DType,
) -> Value {
    // The axis along which bytes hold neighbours comes last.
    let bytes = if along_last { bytes } else { writer.transposed(bytes) };
    let bits = writer.cast(Cast::ExtU, bytes, DType::I16);
    let low = nibble(writer, bits, wide);
    let upper = writer.with_number(Binary::ShrU, bits, 4);
    let high = nibble(writer, upper, wide);
    let numbers = writer.interleaved(low, high);
    if along_last { numbers } else { writer.transposed(numbers) }
}

/// The low four bits as a float.
fn nibble(writer: &mut impl WriteOps, bits: Value, wide: DType) -> Value {
    // Where the mantissa ends, and what is between the two biases.
    let (shift, bias) = if wide == DType::F16 { (9, 14) } else { (6, 126) };
    let magnitude = writer.with_number(Binary::And, bits, 7);
    let magnitude = writer.with_number(Binary::Shl, magnitude, shift);
    let sign = writer.with_number(Binary::And, bits, 8);
    let sign = writer.with_number(Binary::Shl, sign, 12);
    let both = writer.binary(Binary::Or, magnitude, sign);
    let float = writer.cast(Cast::Bits, both, wide);
    let ty = writer.ty(float);
    let factor = writer.float(&ty, 2_f64.powi(bias));
    writer.binary(Binary::Mul, float, factor)
}

/// The scale of each of `numbers`.
fn repeated(
    writer: &mut impl WriteOps,
    scale: Value,
    numbers: Value,
    (wide, fast): (DType, bool),
) -> Option<Value> {
    let (from, to) = (writer.ty(scale), writer.ty(numbers));
    let each = ScaledDot::group(*to.shape.last()?, &from)?;
    let small = match from.dtype() {
        DType::I8 => {
            let exponent = writer.cast(Cast::ExtU, scale, DType::I16);
            let bits = writer.with_number(Binary::Shl, exponent, 7);
            let power = writer.cast(Cast::Bits, bits, DType::BF16);
            let power = if fast {
                power
            } else {
                let ty = writer.ty(power);
                let (nan, none) = (writer.float(&ty, f64::NAN), writer.constant(&from, 0xff));
                let is_nan = writer.compare(Compare::Eq, scale, none);
                writer.select(is_nan, nan, power)
            };
            writer.cast(Cast::Float, power, wide)
        }
        _ => writer.cast(Cast::Float, scale, wide),
    };
    let mut shape = from.shape.to_vec();
    shape.push(1);
    let column = Type::tensor(writer.ty(small).element, &shape);
    let axis = shape.len() as u8 - 1;
    let column = writer.one(OpKind::ExpandDims { axis }, &[small], &column);
    if let Some(last) = shape.last_mut() {
        *last = each;
    }
    let repeated = writer.broadcast(column, &shape);
    Some(writer.reshape(repeated, &to.shape))
}
