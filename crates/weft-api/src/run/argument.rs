//! Values of a kernel's arguments: what a text such as `random:f32[4096]` stands for.

use super::random::Random;
use crate::error::ApiError;
use crate::request::parse_extents;
use weft::budget::Limit;
use weft::dtype::DType;
use weft::memory::Buffer;
use weft::scalar::from_f64;
use weft::tile::{Kernel, Param, Type};

/// Random integers are below this, and not negative.
pub const RANDOM_INTEGERS: u64 = 100;

/// How a buffer is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Floats from -1 to 1, integers from 0 to 99, truth values.
    Random,
    /// Every element is zero.
    Zeros,
    /// Every element is one.
    Ones,
    /// Random numbers from `low` up to, not including, `high`; whole ones for integers.
    Between {
        /// The least value that there may be.
        low: i32,
        /// What all are below.
        high: i32,
    },
    /// 0, 1, 2, … in row-major order.
    Range,
    /// Nothing: reading an element before it is written is a fault.
    Empty,
}

impl Fill {
    const ALL: [(&'static str, Fill); 5] = [
        ("random", Fill::Random),
        ("zeros", Fill::Zeros),
        ("ones", Fill::Ones),
        ("range", Fill::Range),
        ("empty", Fill::Empty),
    ];

    /// The way to fill that a word names.
    fn by_name(word: &str) -> Option<Self> {
        if let Some((low, high)) = word.split_once("..") {
            let (low, high) = (low.parse().ok()?, high.parse().ok()?);
            return (low < high).then_some(Self::Between { low, high });
        }
        Self::ALL.into_iter().find(|(known, _)| *known == word).map(|(_, fill)| fill)
    }

    /// Whether an element type can hold what is asked for.
    fn fits(self, dtype: DType) -> bool {
        let Self::Between { low, high } = self else { return true };
        // Either sign's reading of the bits will do.
        let half = 1_i64 << (dtype.bits().min(33) - 1);
        dtype.is_float() || i64::from(low) >= -half && i64::from(high) <= 2 * half
    }
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number or a truth value, by itself.
    Scalar {
        /// The type of the scalar.
        dtype: DType,
        /// The raw bits of the scalar, in the low bits.
        bits: u64,
    },
    /// A buffer, by its number in the run's memory.
    Buffer(usize),
}

/// A buffer that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ask {
    fill: Fill,
    dtype: DType,
    elements: u64,
}

/// The kernel's arguments as people write them: `vector_add(x: ptr<f32>, n: i32 (multiple of 16))`.
pub fn signature(kernel: &Kernel) -> String {
    let argument = |(param, value)| spelled(param, kernel.ty(value));
    let arguments: Vec<String> = kernel.arguments().map(argument).collect();
    format!("{}({})", kernel.name, arguments.join(", "))
}

fn spelled(param: &Param, ty: &Type) -> String {
    let name = &param.name;
    match ty.element.pointee() {
        Some(pointee) => format!("{name}: ptr<{pointee}>"),
        None if param.divisibility > 1 => {
            format!("{name}: {ty} (multiple of {})", param.divisibility)
        }
        None => format!("{name}: {ty}"),
    }
}

/// The raw bits of a scalar argument.
pub(super) fn scalar(param: &Param, dtype: DType, text: &str) -> Result<u64, ApiError> {
    let name = &param.name;
    if text.contains(':') {
        let reason = format!("`{name}` is one {dtype}, and `{text}` is a buffer");
        return Err(ApiError::Argument { reason, hint: format!("give a number, as in {name}=4") });
    }
    if dtype.is_float() {
        let hint = format!("give a number, as in {name}=0.5");
        let reason = format!("`{text}` is no {dtype} for `{name}`");
        let value: f64 = text.parse().map_err(|_| ApiError::Argument { reason, hint })?;
        return Ok(from_f64(dtype, value));
    }
    let value: i128 = match text {
        "false" => 0,
        "true" => 1,
        _ => text.parse().map_err(|_| ApiError::Argument {
            reason: format!("`{text}` is no {dtype} for `{name}`"),
            hint: format!("give a whole number, as in {name}=4"),
        })?,
    };
    // Either sign's spelling of the bits will do, except for a truth value.
    let low = if dtype == DType::I1 { 0 } else { -(1_i128 << (dtype.bits() - 1)) };
    let high = (1_i128 << dtype.bits()) - 1;
    if !(low..=high).contains(&value) {
        return Err(ApiError::Argument {
            reason: format!("{value} does not fit `{name}`, which is an {dtype}"),
            hint: format!("give a number from {low} to {high}"),
        });
    }
    let divisor = i128::from(param.divisibility.max(1));
    if value % divisor != 0 {
        let below = value - value.rem_euclid(divisor);
        return Err(ApiError::Argument {
            reason: format!(
                "`{name}` is {value}, and the kernel was compiled for multiples of {divisor} (tt.divisibility)"
            ),
            hint: format!("the nearest are {below} and {}", below + divisor),
        });
    }
    Ok(value as u64 & dtype.mask())
}

/// The buffer that a text stands for, where a run may hold so many bytes.
pub(super) fn buffer(
    name: &str,
    pointee: DType,
    text: &str,
    random: Random,
    most: u64,
) -> Result<Buffer, ApiError> {
    let Ask { fill, dtype, elements } = ask(name, pointee, text)?;
    let bytes = elements.saturating_mul(u64::from(dtype.bytes()));
    if bytes > most {
        return Err(super::over(Limit::MemoryBytes, format!("the run with `{name}`"), None));
    }
    if dtype != pointee {
        return Err(ApiError::Argument {
            reason: format!("`{name}` points to {pointee}, and `{text}` holds {dtype}"),
            hint: format!("write {pointee}[…] instead of {dtype}[…]"),
        });
    }
    let bytes = filled(fill, dtype, elements as usize, random);
    Ok(Buffer { name: name.into(), bytes, dtype, initialised: fill != Fill::Empty })
}

/// Reads what was given for a pointer, `KIND:TYPE[SHAPE]`.
fn ask(name: &str, pointee: DType, text: &str) -> Result<Ask, ApiError> {
    let hint = || {
        format!(
            "give a buffer, as in {name}=random:{pointee}[4096]; kinds are random, LOW..HIGH, zeros, ones, range, empty"
        )
    };
    let refuse = |reason: String| ApiError::Argument { reason, hint: hint() };
    let Some((kind, rest)) = text.split_once(':') else {
        return Err(refuse(format!("`{name}` points to {pointee}, and `{text}` is no buffer")));
    };
    let Some(fill) = Fill::by_name(kind) else {
        return Err(refuse(format!("`{kind}` is no kind of buffer for `{name}`")));
    };
    let typed = rest.strip_suffix(']').and_then(|rest| rest.split_once('['));
    let Some((ty, extents)) = typed else {
        return Err(refuse(format!("`{rest}` is no type and shape for `{name}`")));
    };
    let Some(dtype) = DType::called(ty) else {
        return Err(refuse(format!("there is no element type `{ty}` for `{name}`")));
    };
    if !fill.fits(dtype) {
        return Err(refuse(format!("`{kind}` does not fit {dtype}, which `{name}` points to")));
    }
    let Some(extents) = parse_extents(extents) else {
        return Err(refuse(format!("`{extents}` is no shape for `{name}`")));
    };
    let elements = extents.iter().fold(1u64, |all, &extent| all.saturating_mul(extent));
    Ok(Ask { fill, dtype, elements })
}

fn filled(fill: Fill, dtype: DType, elements: usize, mut random: Random) -> Vec<u8> {
    let width = dtype.bytes() as usize;
    let mut bytes = vec![0; elements * width];
    if matches!(fill, Fill::Zeros | Fill::Empty) {
        return bytes;
    }
    let one = from_f64(dtype, 1.0);
    for (index, place) in bytes.chunks_exact_mut(width).enumerate() {
        let bits = match fill {
            Fill::Random if dtype.is_float() => from_f64(dtype, random.symmetric()),
            Fill::Random if dtype == DType::I1 => random.below(2),
            Fill::Random => random.below(RANDOM_INTEGERS),
            Fill::Between { low, high } if dtype.is_float() => {
                let share = f64::midpoint(random.symmetric(), 1.0);
                from_f64(dtype, f64::from(low) + share * (f64::from(high) - f64::from(low)))
            }
            Fill::Between { low, high } => {
                let above = random.below(low.abs_diff(high).into());
                i64::from(low).wrapping_add_unsigned(above) as u64 & dtype.mask()
            }
            Fill::Range if dtype.is_float() => from_f64(dtype, index as f64),
            Fill::Range => index as u64 & dtype.mask(),
            _ => one,
        };
        place.copy_from_slice(&bits.to_le_bytes()[..width]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str, dtype: DType) -> Vec<u8> {
        buffer("x", dtype, text, Random::new(0, 0), 1 << 20).unwrap().bytes
    }

    #[test]
    fn numbers_between_two_bounds_are_all_that_there_are() {
        let mut seen: Vec<i8> =
            bytes("-8..8:i8[400]", DType::I8).iter().map(|byte| byte.cast_signed()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (-8..8).collect::<Vec<_>>());
        let floats = bytes("-1..3:f32[400]", DType::F32);
        let floats: Vec<f32> =
            floats.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
        assert!(floats.iter().all(|number| (-1.0..3.0).contains(number)));
        assert!(floats.iter().any(|&number| number > 2.5) && floats.iter().any(|&n| n < -0.5));
        assert!(floats.iter().any(|number| number.fract() != 0.0));
    }

    #[test]
    fn bounds_fit_the_type_in_either_sign() {
        for (text, dtype, fits) in [
            ("-128..128:i8[1]", DType::I8, true),
            ("0..256:i8[1]", DType::I8, true),
            ("-129..0:i8[1]", DType::I8, false),
            ("0..257:i8[1]", DType::I8, false),
            ("-2147483648..2147483647:i32[1]", DType::I32, true),
            ("0..2147483648:i64[1]", DType::I64, false),
            ("3..2:i32[1]", DType::I32, false),
        ] {
            assert_eq!(ask("x", dtype, text).is_ok(), fits, "{text}");
        }
    }
}
