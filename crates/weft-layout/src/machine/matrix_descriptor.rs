use crate::family::{Major, SwizzleMode};

/// What tells `wgmma` how an operand lies in shared memory: all of a matrix descriptor but the address
/// where a tile starts.
///
/// | bits | |
/// | --- | --- |
/// | 0–13 | the start's address / 16 |
/// | 16–29 | `leading` / 16 |
/// | 32–45 | `stride` / 16 |
/// | 49–51 | where the pattern begins, if not at a multiple of 8 rows; always 0 here |
/// | 62–63 | the mode: 0 none, 1 for 128 bytes, 2 for 64, 3 for 32 |
///
/// `major` is not in the descriptor but in the instruction (its `trans` immediates).
/// Source: PTX ISA, "Matrix descriptor format" of `wgmma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixDescriptor {
    /// Which vectors of 16 bytes change places.
    pub mode: SwizzleMode,
    /// The axis along which the elements of a vector of 16 bytes lie.
    pub major: Major,
    /// The leading dimension byte offset (LBO).
    pub leading: u64,
    /// The stride dimension byte offset (SBO).
    pub stride: u64,
}

impl MatrixDescriptor {
    /// The largest stride that a descriptor can hold.
    pub const MAX_STRIDE: u64 = 0x3fff << 4;

    /// The constant bits: all but the address.
    ///
    /// ```
    /// use weft_layout::{family::{Major, SwizzleMode}, machine::MatrixDescriptor};
    ///
    /// let mode = SwizzleMode::Bytes128;
    /// let rows = MatrixDescriptor { mode, major: Major::K, leading: 0, stride: 1024 };
    /// assert_eq!(rows.bits(), 0x4000_0040_0000_0000);
    /// ```
    pub fn bits(&self) -> u64 {
        let mode = match self.mode {
            SwizzleMode::None => 0,
            SwizzleMode::Bytes128 => 1,
            SwizzleMode::Bytes64 => 2,
            SwizzleMode::Bytes32 => 3,
        };
        let field = |bytes: u64| bytes >> 4 & 0x3fff;
        field(self.leading) << 16 | field(self.stride) << 32 | mode << 62
    }

    /// The address of a tile's element of `bytes` bytes, whose tile starts at address `start`: `mn`
    /// counts along the axis that is kept, `k` along the one that is summed over.
    ///
    /// This is the law of the hardware, on bytes: nothing here knows of layouts.
    pub fn address(&self, start: u64, bytes: u64, mn: u64, k: u64) -> u64 {
        let span = self.mode.span();
        let (mn_byte, k_byte) = (mn * bytes, k * bytes);
        let offset = match (self.major, self.mode) {
            (Major::K, SwizzleMode::None) => {
                mn % 8 * 16 + mn / 8 * self.stride + k_byte / 16 * self.leading + k_byte % 16
            }
            (Major::K, _) => mn % 8 * span + mn / 8 * self.stride + k_byte,
            (Major::Mn, SwizzleMode::None) => {
                mn_byte % 16 + mn_byte / 16 * self.stride + k % 8 * 16 + k / 8 * self.leading
            }
            (Major::Mn, _) => {
                mn_byte % span + mn_byte / span * self.leading + k % 8 * span + k / 8 * self.stride
            }
        };
        let address = start + offset;
        // Address bits 7, 8 and 9, as many as the mode has, are added to bits 4, 5 and 6.
        let permuted = match self.mode {
            SwizzleMode::None => 0,
            SwizzleMode::Bytes32 => 0b001,
            SwizzleMode::Bytes64 => 0b011,
            SwizzleMode::Bytes128 => 0b111,
        };
        address ^ (address >> 3 & permuted << 4)
    }
}
