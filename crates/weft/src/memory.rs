//! Global memory of a run: named buffers of bytes behind 64-bit addresses.
//!
//! Every buffer has a window of 2^40 addresses of its own, so that an address names its buffer and an
//! access one byte past the end is seen to be outside. The evaluator and the simulator run on the same
//! memory type, each on its own copy.

use crate::dtype::DType;
use core::fmt;

/// log2 of the addresses between the starts of two buffers.
const WINDOW: u32 = 40;

/// A piece of global memory that a run is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// The name that reports use: the kernel's argument.
    pub name: String,
    /// What it holds, byte by byte; numbers have their low byte first.
    pub bytes: Vec<u8>,
    /// The type that reports read the contents as.
    pub dtype: DType,
    /// Whether the contents were given: reading a byte of a buffer that was not, before it was
    /// written, is a fault.
    pub initialised: bool,
}

/// All buffers of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    buffers: Vec<Buffer>,
    /// The buffers that may only be read.
    read_only: Vec<usize>,
}

/// An access that no buffer holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutOfRange {
    /// The address of the first byte.
    pub address: u64,
    /// How many bytes from there.
    pub bytes: u32,
    /// The buffer whose window the address is in: its name, its size in bytes, and the offset.
    pub near: Option<(String, usize, u64)>,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.near {
            Some((name, size, offset)) if *offset >= 1 << (WINDOW - 1) => write!(
                f,
                "{} bytes at byte -{} of `{name}`, which has {size} bytes",
                self.bytes,
                (1u64 << WINDOW) - offset
            ),
            Some((name, size, offset)) => {
                write!(f, "{} bytes at byte {offset} of `{name}`, which has {size}", self.bytes)
            }
            None => write!(
                f,
                "{} bytes at address {:#x}, which no argument has",
                self.bytes, self.address
            ),
        }
    }
}

impl Memory {
    /// Adds a buffer and returns the address of its first byte.
    pub fn push(&mut self, buffer: Buffer) -> u64 {
        self.buffers.push(buffer);
        Self::base(self.buffers.len() - 1)
    }

    /// Keeps the first buffers alone, so many.
    pub fn truncate(&mut self, count: usize) {
        self.buffers.truncate(count);
        self.read_only.retain(|&index| index < count);
    }

    /// Says that buffer `index` may only be read.
    pub fn protect(&mut self, index: usize) {
        self.read_only.push(index);
    }

    /// Whether buffer `index` may only be read.
    pub fn is_read_only(&self, index: usize) -> bool {
        self.read_only.contains(&index)
    }

    /// The address of the first byte of buffer `index`.
    pub fn base(index: usize) -> u64 {
        (index as u64 + 1) << WINDOW
    }

    /// The buffers, in order of addition.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// One buffer's contents, to be changed in place; empty where there is no such buffer.
    pub fn bytes_mut(&mut self, index: usize) -> &mut [u8] {
        self.buffers.get_mut(index).map_or(&mut [], |buffer| &mut buffer.bytes)
    }

    /// The buffer and byte offset of an access, if all of it lies inside one buffer.
    pub fn locate(&self, address: u64, bytes: u32) -> Result<(usize, usize), OutOfRange> {
        let (window, offset) = (address >> WINDOW, address & ((1 << WINDOW) - 1));
        let index = (window as usize).wrapping_sub(1);
        match self.buffers.get(index) {
            Some(buffer) if offset + u64::from(bytes) <= buffer.bytes.len() as u64 => {
                Ok((index, offset as usize))
            }
            _ => Err(self.out_of_range(address, bytes)),
        }
    }

    fn out_of_range(&self, address: u64, bytes: u32) -> OutOfRange {
        let (window, offset) = (address >> WINDOW, address & ((1 << WINDOW) - 1));
        // An address in the upper half of a window is just below the next buffer.
        let owner = if offset >= 1 << (WINDOW - 1) { window + 1 } else { window };
        let near = self
            .buffers
            .get((owner as usize).wrapping_sub(1))
            .map(|buffer| (buffer.name.clone(), buffer.bytes.len(), offset));
        OutOfRange { address, bytes, near }
    }

    /// The `bytes <= 8` bytes at `address`, little-endian.
    pub fn read(&self, address: u64, bytes: u32) -> Result<u64, OutOfRange> {
        let (index, offset) = self.locate(address, bytes)?;
        let mut value = [0; 8];
        let bytes = bytes.min(8) as usize;
        value[..bytes].copy_from_slice(&self.buffers[index].bytes[offset..offset + bytes]);
        Ok(u64::from_le_bytes(value))
    }

    /// Writes the low `bytes <= 8` bytes of `value` at `address`, little-endian; says whether any
    /// byte changed.
    pub fn write(&mut self, address: u64, bytes: u32, value: u64) -> Result<bool, OutOfRange> {
        let (index, offset) = self.locate(address, bytes)?;
        let bytes = bytes.min(8) as usize;
        let place = &mut self.buffers[index].bytes[offset..offset + bytes];
        let value = &value.to_le_bytes()[..bytes];
        let changed = place != value;
        place.copy_from_slice(value);
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_buffer_and_outside_is_outside() {
        let mut memory = Memory::default();
        let buffer = |name: &str| Buffer {
            name: name.into(),
            bytes: vec![0; 16],
            dtype: DType::F32,
            initialised: true,
        };
        let x = memory.push(buffer("x"));
        let y = memory.push(buffer("y"));
        assert_eq!(memory.write(x + 4, 4, 0x0102_0304), Ok(true));
        assert_eq!(memory.write(x + 4, 4, 0x0102_0304), Ok(false));
        assert_eq!(memory.read(x + 5, 2), Ok(0x0203));
        assert_eq!(memory.read(y + 4, 4), Ok(0));
        let past = memory.read(x + 14, 4).unwrap_err().to_string();
        assert_eq!(past, "4 bytes at byte 14 of `x`, which has 16");
        let before = memory.read(y - 4, 4).unwrap_err().to_string();
        assert_eq!(before, "4 bytes at byte -4 of `y`, which has 16 bytes");
        assert!(memory.read(0, 1).is_err());
    }
}
