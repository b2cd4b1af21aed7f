//! A kernel's arguments and the bytes in which they travel.

use crate::Buffer;

/// One argument of a kernel, in the type that the kernel declares for it.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// The address of a buffer: a `.u64` parameter.
    Pointer(&'a Buffer),
    /// A truth value or an 8-bit integer.
    I8(i8),
    /// An integer of 16 bits.
    I16(i16),
    /// An integer of 32 bits.
    I32(i32),
    /// A 64-bit integer, or an address from elsewhere; 0 is the null pointer.
    I64(i64),
    /// The bits of an IEEE half or of a bfloat16.
    F16(u16),
    /// A float of 32 bits.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
}

/// The parameter buffer of a launch: every argument at a multiple of its own size, as PTX lays out
/// `.param` space.
pub(crate) fn pack(arguments: &[Arg<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for argument in arguments {
        match *argument {
            Arg::Pointer(buffer) => push(&mut bytes, buffer.address().to_ne_bytes()),
            Arg::I8(value) => push(&mut bytes, value.to_ne_bytes()),
            Arg::I16(value) => push(&mut bytes, value.to_ne_bytes()),
            Arg::I32(value) => push(&mut bytes, value.to_ne_bytes()),
            Arg::I64(value) => push(&mut bytes, value.to_ne_bytes()),
            Arg::F16(bits) => push(&mut bytes, bits.to_ne_bytes()),
            Arg::F32(value) => push(&mut bytes, value.to_ne_bytes()),
            Arg::F64(value) => push(&mut bytes, value.to_ne_bytes()),
        }
    }
    bytes
}

fn push<const SIZE: usize>(bytes: &mut Vec<u8>, value: [u8; SIZE]) {
    bytes.resize(bytes.len().next_multiple_of(SIZE), 0);
    bytes.extend(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_lie_at_multiples_of_their_size() {
        let packed = pack(&[Arg::I8(-1), Arg::F16(0x3c00), Arg::I32(2), Arg::I8(3), Arg::I64(4)]);
        let mut expected = vec![0xff, 0, 0x00, 0x3c, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        expected.extend([4, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(packed, expected);
        assert_eq!(pack(&[]), []);
    }
}
