//! Comparing what a compiled program wrote with what the evaluator wrote.

use super::exactness::Exactness;
use super::{Report, Sums};
use crate::dtype::DType;
use crate::memory::Buffer;
use crate::scalar::{sign_extend, to_f64};
use core::fmt;

/// How far a float may be from what was expected: `absolute + relative * |expected|`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// The part that grows with the expected value.
    pub relative: f64,
    /// The part that does not.
    pub absolute: f64,
}

impl Tolerance {
    const NONE: Self = Self { relative: 0.0, absolute: 0.0 };

    /// What results that were rounded to `dtype` may differ by; none for integers, which must agree.
    ///
    /// | type | relative | absolute |
    /// |------|----------|----------|
    /// | f64  | 1e-12    | 1e-12    |
    /// | f32  | 2e-5     | 1e-6     |
    /// | f16  | 2e-3     | 2e-3     |
    /// | bf16 | 1.6e-2   | 1.6e-2   |
    /// | f8E4M3 | 0.125  | 2e-3     |
    /// | f8E5M2 | 0.25   | 2e-5     |
    ///
    /// The relative parts are about 4500, 168, 2 and 2 units in the last place, and one of the floats
    /// of eight bits, with and without a negative zero; the absolute parts are for sums in which terms
    /// of about one cancel, and for one step between the least numbers of eight bits.
    pub fn of(dtype: DType) -> Option<Self> {
        let (relative, absolute) = match dtype {
            DType::F64 => (1e-12, 1e-12),
            DType::F32 => (2e-5, 1e-6),
            DType::F16 => (2e-3, 2e-3),
            DType::BF16 => (1.6e-2, 1.6e-2),
            DType::F8E4M3FN | DType::F8E4M3FNUZ => (0.125, 2e-3),
            DType::F8E5M2 | DType::F8E5M2FNUZ => (0.25, 2e-5),
            _ => return None,
        };
        Some(Self { relative, absolute })
    }

    /// The tolerance for a buffer of `dtype` that a kernel of some exactness wrote: that of the type,
    /// or of a coarser type to which the kernel rounded before. None means bit for bit.
    pub fn for_buffer(dtype: DType, exactness: &Exactness) -> Option<Self> {
        let Exactness::Rounded { coarsest, .. } = exactness else { return None };
        let (own, coarse) = (Self::of(dtype)?, Self::of(*coarsest)?);
        Some(if coarse.relative > own.relative { coarse } else { own })
    }
}

/// What two buffers may differ by; nothing by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowance<'a> {
    /// Every float; none where bits must be the same.
    pub tolerance: Option<Tolerance>,
    /// The sums that atomics left, with the place of the buffer among all: each may differ by what its
    /// number of terms allows, in addition.
    pub sums: Option<(&'a Sums, usize)>,
}

impl<'a> Allowance<'a> {
    /// The allowance for buffer `index` of a run that the evaluator reported on.
    pub fn new(
        dtype: DType,
        exactness: &Exactness,
        report: &'a Report,
        index: usize,
    ) -> Allowance<'a> {
        let tolerance = Tolerance::for_buffer(dtype, exactness);
        Allowance { tolerance, sums: Some((&report.sums, index)) }
    }

    /// The allowance for one element; none where its bits must be the same.
    fn of(&self, dtype: DType, index: usize) -> Option<Tolerance> {
        if !dtype.is_float() {
            return None;
        }
        let (sums, buffer) = self.sums.unzip();
        let sum = sums.and_then(|sums| sums.get(buffer?, index, dtype.bytes() as usize));
        let own = self.tolerance;
        let Some(sum) = sum else { return own };
        let Tolerance { relative, absolute } = own.unwrap_or(Tolerance::NONE);
        Some(Tolerance { relative, absolute: absolute + sum.bound() })
    }
}

/// How well two buffers agree, over all elements.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Agreement {
    /// The largest difference.
    pub max_abs: f64,
    /// The largest difference over the expected magnitude, where that is not zero.
    pub max_rel: f64,
    /// The largest number of representable values from one to the other.
    pub max_ulp: u64,
}

/// The first element that does not agree.
#[derive(Clone, PartialEq, Debug)]
pub struct Mismatch {
    /// The buffer.
    pub buffer: String,
    /// Which element.
    pub index: usize,
    /// The type that both were read as.
    pub dtype: DType,
    /// The expected raw bits; none where that buffer has ended.
    pub expected: Option<u64>,
    /// The actual raw bits; none where that buffer has ended.
    pub actual: Option<u64>,
    /// What was tolerated; none where the bits had to be the same.
    pub tolerance: Option<Tolerance>,
    /// How many elements do not agree.
    pub mismatches: usize,
    /// How many elements there are.
    pub elements: usize,
}

impl core::error::Error for Mismatch {}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { buffer, index, dtype, expected, actual, tolerance, mismatches, elements } = self;
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
        match tolerance {
            Some(Tolerance { relative, absolute }) => {
                write!(f, " by more than {relative:e} of the value plus {absolute:e}")
            }
            None => Ok(()),
        }
    }
}

fn hex_width(dtype: DType) -> usize {
    2 + 2 * dtype.bytes() as usize
}

/// Compares a buffer with what was expected, within what may differ.
///
/// NaN equals NaN whatever its bits, because GPUs have one of their own; infinities must match. Both
/// are read as elements of the expected buffer's type.
///
/// ```
/// use weft::dtype::DType;
/// use weft::memory::Buffer;
/// use weft::tile::eval::{Allowance, compare};
///
/// let buffer = |values: [f32; 2]| Buffer {
///     name: "out".into(),
///     bytes: values.into_iter().flat_map(f32::to_le_bytes).collect(),
///     dtype: DType::F32,
///     initialised: true,
/// };
/// let (expected, actual) = (buffer([1.0, 2.0]), buffer([1.0, 2.5]));
/// assert!(compare(&expected, &expected, &Allowance::default()).is_ok());
/// let mismatch = compare(&expected, &actual, &Allowance::default()).unwrap_err();
/// assert_eq!(mismatch.index, 1);
/// ```
pub fn compare(
    expected: &Buffer,
    actual: &Buffer,
    allowance: &Allowance<'_>,
) -> Result<Agreement, Mismatch> {
    let dtype = expected.dtype;
    let mut agreement = Agreement::default();
    let mut first: Option<Mismatch> = None;
    let bytes = dtype.bytes() as usize;
    let elements = expected.bytes.len().max(actual.bytes.len()).div_ceil(bytes);
    for index in 0..elements {
        let tolerance = allowance.of(dtype, index);
        let [wanted, got] = [expected, actual].map(|buffer| element(buffer, index, bytes));
        if let (Some(wanted), Some(got)) = (wanted, got)
            && agrees(dtype, wanted, got, tolerance, &mut agreement)
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
                    tolerance,
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

fn agrees(
    dtype: DType,
    expected: u64,
    actual: u64,
    tolerance: Option<Tolerance>,
    agreement: &mut Agreement,
) -> bool {
    if expected == actual {
        return true;
    }
    if dtype.is_int() {
        return false;
    }
    let (wanted, got) = (to_f64(dtype, expected), to_f64(dtype, actual));
    if wanted.is_nan() || got.is_nan() {
        return wanted.is_nan() && got.is_nan();
    }
    let Some(Tolerance { relative, absolute }) = tolerance else { return false };
    if wanted.is_infinite() || got.is_infinite() {
        return false;
    }
    let difference = (wanted - got).abs();
    agreement.max_abs = agreement.max_abs.max(difference);
    if wanted != 0.0 {
        agreement.max_rel = agreement.max_rel.max(difference / wanted.abs());
    }
    let distance = ordinal(dtype, expected).abs_diff(ordinal(dtype, actual));
    agreement.max_ulp = agreement.max_ulp.max(distance);
    difference <= absolute + relative * wanted.abs()
}

/// The place of a float among all floats of its type, both zeros at zero.
fn ordinal(dtype: DType, bits: u64) -> i64 {
    let sign = 1 << (dtype.bits() - 1);
    let magnitude = (bits & (sign - 1)) as i64;
    if bits & sign == 0 { magnitude } else { -magnitude }
}
