//! Values of a kernel's arguments: what a text such as `random:f32[4096]` stands for.

use super::random::Random;
use crate::error::ApiError;
use crate::request::parse_extents;
use weft::dtype::DType;
use weft::memory::Buffer;
use weft::scalar::from_f64;
use weft::tile::{Kernel, Param, Type};

/// The most bytes of one buffer.
pub const MAX_BUFFER_BYTES: u64 = 1 << 28;

/// Random integers are below this, and not negative.
pub const RANDOM_INTEGERS: u64 = 100;

/// How a buffer is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Floats from -1 to 1, integers from 0 to 99, truth values.
    Random,
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
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
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar.
    Scalar {
        /// Its type.
        dtype: DType,
        /// Its raw bits.
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

/// The buffer that a text stands for.
pub(super) fn buffer(
    name: &str,
    pointee: DType,
    text: &str,
    random: Random,
) -> Result<Buffer, ApiError> {
    let Ask { fill, dtype, elements } = ask(name, pointee, text)?;
    if dtype != pointee {
        return Err(ApiError::Argument {
            reason: format!("`{name}` points to {pointee}, and `{text}` holds {dtype}"),
            hint: format!("write {pointee}[…] instead of {dtype}[…]"),
        });
    }
    let bytes = filled(fill, dtype, elements as usize, random);
    Ok(Buffer { name: name.into(), bytes, dtype, initialised: fill != Fill::Empty })
}

/// Reads `KIND:TYPE[SHAPE]`.
fn ask(name: &str, pointee: DType, text: &str) -> Result<Ask, ApiError> {
    let hint = || {
        format!(
            "give a buffer, as in {name}=random:{pointee}[4096]; kinds are random, zeros, ones, range, empty"
        )
    };
    let refuse = |reason: String| ApiError::Argument { reason, hint: hint() };
    let Some((kind, rest)) = text.split_once(':') else {
        return Err(refuse(format!("`{name}` points to {pointee}, and `{text}` is no buffer")));
    };
    let fill = Fill::ALL.into_iter().find(|(known, _)| *known == kind);
    let Some((_, fill)) = fill else {
        return Err(refuse(format!("`{kind}` is no kind of buffer for `{name}`")));
    };
    let typed = rest.strip_suffix(']').and_then(|rest| rest.split_once('['));
    let Some((ty, extents)) = typed else {
        return Err(refuse(format!("`{rest}` is no type and shape for `{name}`")));
    };
    let Some(dtype) = DType::by_name(ty) else {
        return Err(refuse(format!("there is no element type `{ty}` for `{name}`")));
    };
    let Some(extents) = parse_extents(extents) else {
        return Err(refuse(format!("`{extents}` is no shape for `{name}`")));
    };
    let elements = extents.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent));
    let bytes = elements.and_then(|elements| elements.checked_mul(u64::from(dtype.bytes())));
    match (elements, bytes) {
        (Some(elements), Some(bytes)) if bytes <= MAX_BUFFER_BYTES => {
            Ok(Ask { fill, dtype, elements })
        }
        _ => Err(ApiError::Argument {
            reason: format!("`{name}` would have more than {} MiB", MAX_BUFFER_BYTES >> 20),
            hint: "give a smaller buffer".into(),
        }),
    }
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
            Fill::Range if dtype.is_float() => from_f64(dtype, index as f64),
            Fill::Range => index as u64 & dtype.mask(),
            _ => one,
        };
        place.copy_from_slice(&bits.to_le_bytes()[..width]);
    }
    bytes
}
