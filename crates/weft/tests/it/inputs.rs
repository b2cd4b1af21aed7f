//! Arguments for runs: small deterministic arrays.

use weft::dtype::DType;
use weft::memory::{Buffer, Memory};
use weft::scalar;

/// One argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument {
    /// So many floats between -1 and 1.
    Random(DType, usize),
    /// So many integers of a range, low end included, high end not.
    Integers(usize, i64, i64),
    /// So many whole f32s of a range, low end included, high end not: sums of them round nothing.
    Whole(usize, i64, i64),
    /// So many whole numbers from -2 to 2 of any type: sums of products of them round nothing.
    Small(DType, usize),
    /// So many zeros.
    Zeros(DType, usize),
    /// So many elements that nobody has written.
    Empty(DType, usize),
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// A 32-bit float.
    F32(f32),
}

/// The arguments' raw bits, and the memory that their pointers point into.
pub(crate) fn make(arguments: &[(&str, Argument)]) -> (Vec<u64>, Memory) {
    let mut memory = Memory::default();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let buffer =
        |memory: &mut Memory, name: &str, dtype: DType, elements: Vec<u64>, initialised| {
            let bytes = dtype.bytes() as usize;
            let bytes =
                elements.iter().flat_map(|bits| bits.to_le_bytes()[..bytes].to_vec()).collect();
            memory.push(Buffer { name: name.into(), bytes, dtype, initialised })
        };
    let bits = arguments
        .iter()
        .map(|&(name, argument)| match argument {
            Argument::Random(dtype, count) => {
                let float =
                    |raw: u64| scalar::from_f64(dtype, raw as f64 / (1u64 << 30) as f64 - 1.0);
                let elements = (0..count).map(|_| float(next())).collect();
                buffer(&mut memory, name, dtype, elements, true)
            }
            Argument::Integers(count, low, high) => {
                let span = (high - low) as u64;
                let integer = |raw: u64| u64::from((low + (raw % span) as i64) as u32);
                let elements = (0..count).map(|_| integer(next())).collect();
                buffer(&mut memory, name, DType::I32, elements, true)
            }
            Argument::Whole(count, low, high) => {
                let span = (high - low) as u64;
                let whole =
                    |raw: u64| scalar::from_f64(DType::F32, (low + (raw % span) as i64) as f64);
                let elements = (0..count).map(|_| whole(next())).collect();
                buffer(&mut memory, name, DType::F32, elements, true)
            }
            Argument::Small(dtype, count) => {
                let whole = |raw: u64| {
                    let value = (raw % 5) as i64 - 2;
                    if dtype.is_float() {
                        scalar::from_f64(dtype, value as f64)
                    } else {
                        value as u64 & dtype.mask()
                    }
                };
                let elements = (0..count).map(|_| whole(next())).collect();
                buffer(&mut memory, name, dtype, elements, true)
            }
            Argument::Zeros(dtype, count) => buffer(&mut memory, name, dtype, vec![0; count], true),
            Argument::Empty(dtype, count) => {
                buffer(&mut memory, name, dtype, vec![0; count], false)
            }
            Argument::I32(value) => u64::from(value as u32),
            Argument::I64(value) => value as u64,
            Argument::F32(value) => u64::from(value.to_bits()),
        })
        .collect();
    (bits, memory)
}
