//! Comparing what a compiled program wrote with what the evaluator wrote.

use super::BufferBounds;
use crate::dtype::DType;
use crate::memory::Buffer;
use crate::scalar::{sign_extend, to_f64};
use core::fmt;

/// How well two buffers agree, over all elements.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Agreement {
    /// The largest difference of two elements.
    pub max_abs: f64,
    /// The largest difference over the expected magnitude, where that is not zero.
    pub max_rel: f64,
    /// The largest number of representable values from one to the other.
    pub max_ulp: u64,
    /// The largest difference over what was allowed, where that is finite.
    pub max_share: f64,
}

/// The first element that does not agree.
#[derive(Clone, PartialEq, Debug)]
pub struct Mismatch {
    /// The name of the buffer.
    pub buffer: String,
    /// The number of the element in its buffer, from zero.
    pub index: usize,
    /// The type that both were read as.
    pub dtype: DType,
    /// The expected raw bits; none where that buffer has ended.
    pub expected: Option<u64>,
    /// The actual raw bits; none where that buffer has ended.
    pub actual: Option<u64>,
    /// How far off it may have been; zero where the bits had to be the same.
    pub bound: f64,
    /// How many elements do not agree.
    pub mismatches: usize,
    /// How many elements there are.
    pub elements: usize,
}

impl core::error::Error for Mismatch {}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { buffer, index, dtype, expected, actual, bound, mismatches, elements } = self;
        let show = |bits: Option<u64>| match bits {
            None => "nothing".to_owned(),
            Some(bits) if dtype.is_float() => {
                format!("{:?} ({bits:#0width$x})", to_f64(*dtype, bits), width = hex_width(*dtype))
            }
            Some(bits) => sign_extend(*dtype, bits).to_string(),
        };
        write!(
            f,
            "element {index} of `{buffer}` is {}, expected {}; {mismatches} of {elements} differ",
            show(*actual),
            show(*expected)
        )?;
        if *bound > 0.0 {
            write!(f, " by more than rounding allows, which is {bound:.1e} for this one")?;
        }
        Ok(())
    }
}

fn hex_width(dtype: DType) -> usize {
    2 + 2 * dtype.bytes() as usize
}

/// Compares a buffer with what was expected, each element within its bound.
///
/// NaN equals NaN whatever its bits, because GPUs have one of their own; infinities must match where the
/// bound is finite. Both are read as elements of the expected buffer's type.
///
/// ```
/// use weft::dtype::DType;
/// use weft::memory::Buffer;
/// use weft::tile::eval::{BufferBounds, compare};
///
/// let buffer = |values: [f32; 2]| Buffer {
///     name: "out".into(),
///     bytes: values.into_iter().flat_map(f32::to_le_bytes).collect(),
///     dtype: DType::F32,
///     initialised: true,
/// };
/// let (expected, actual) = (buffer([1.0, 2.0]), buffer([1.0, 2.5]));
/// assert!(compare(&expected, &expected, BufferBounds::EXACT).is_ok());
/// let mismatch = compare(&expected, &actual, BufferBounds::EXACT).unwrap_err();
/// assert_eq!(mismatch.index, 1);
/// assert!(compare(&expected, &actual, BufferBounds::from(&[0.0, 0.5][..])).is_ok());
/// ```
pub fn compare(
    expected: &Buffer,
    actual: &Buffer,
    bounds: BufferBounds<'_>,
) -> Result<Agreement, Mismatch> {
    let dtype = expected.dtype;
    let mut agreement = Agreement::default();
    let mut first: Option<Mismatch> = None;
    let bytes = dtype.bytes() as usize;
    let elements = expected.bytes.len().max(actual.bytes.len()).div_ceil(bytes);
    for index in 0..elements {
        let bound = bounds.get(index);
        let [wanted, got] = [expected, actual].map(|buffer| element(buffer, index, bytes));
        if let (Some(wanted), Some(got)) = (wanted, got)
            && agrees(dtype, wanted, got, bound, &mut agreement)
        {
            continue;
        }
        match &mut first {
            Some(first) => first.mismatches += 1,
            None => {
                first = Some(Mismatch {
                    buffer: expected.name.clone(),
                    index,
                    dtype,
                    expected: wanted,
                    actual: got,
                    bound,
                    mismatches: 1,
                    elements,
                });
            }
        }
    }
    first.map_or(Ok(agreement), Err)
}

/// The raw bits of an element of a buffer, or none past its end.
fn element(buffer: &Buffer, index: usize, bytes: usize) -> Option<u64> {
    let place = buffer.bytes.get(index * bytes..(index + 1) * bytes)?;
    let mut bits = [0; 8];
    bits[..bytes].copy_from_slice(place);
    Some(u64::from_le_bytes(bits))
}

fn agrees(dtype: DType, expected: u64, actual: u64, bound: f64, agreement: &mut Agreement) -> bool {
    if expected == actual || bound == f64::INFINITY {
        return true;
    }
    let (wanted, got) = (to_f64(dtype, expected), to_f64(dtype, actual));
    if wanted.is_nan() || got.is_nan() {
        return wanted.is_nan() && got.is_nan();
    }
    let exact = bound == 0.0;
    if exact || wanted.is_infinite() || got.is_infinite() {
        return false;
    }
    let difference = (wanted - got).abs();
    agreement.max_abs = agreement.max_abs.max(difference);
    agreement.max_share = agreement.max_share.max(difference / bound);
    if wanted != 0.0 {
        agreement.max_rel = agreement.max_rel.max(difference / wanted.abs());
    }
    if dtype.is_float() {
        let distance = ordinal(dtype, expected).abs_diff(ordinal(dtype, actual));
        agreement.max_ulp = agreement.max_ulp.max(distance);
    }
    difference <= bound
}

/// The place of a float among all floats of its type, both zeros at zero.
fn ordinal(dtype: DType, bits: u64) -> i64 {
    let sign = 1 << (dtype.bits() - 1);
    let magnitude = (bits & (sign - 1)) as i64;
    if bits & sign == 0 { magnitude } else { -magnitude }
}
