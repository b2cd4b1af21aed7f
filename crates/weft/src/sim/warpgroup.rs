//! Products of a warpgroup by themselves: what descriptors say, where numbers lie in memory and in
//! registers, and what comes out. The rules are those of the PTX ISA, "Asynchronous Warpgroup Level Matrix
//! Multiply-Accumulate Operations"; nothing here knows layouts.

use super::multiply::{Dot, left_of_sixteen, number, per_word};
use crate::lane::WarpgroupMultiply;

/// Rows of a warp.
pub(super) const ROWS: usize = 16;

/// Bytes that stay together whatever the swizzle: factors are read in such pieces.
pub(super) const PIECE: u32 = 16;

/// A factor in shared memory, as its descriptor says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Factor {
    start: u32,
    leading: u32,
    other: u32,
    /// Bytes that are swizzled together; 16 where nothing is.
    span: u32,
    /// Bytes of a number.
    bytes: u32,
    /// Whether consecutive numbers go along rows or columns.
    transposed: bool,
}

impl Factor {
    pub(super) fn new(descriptor: u64, bits: u32, transposed: bool) -> Self {
        let field = |low: u32| (descriptor >> low & 0x3fff) as u32 * 16;
        let span = [16, 128, 64, 32][(descriptor >> 62) as usize];
        let (start, leading, other) = (field(0), field(16), field(32));
        Self { start, leading, other, span, bytes: bits / 8, transposed }
    }

    /// Whether the descriptor moves the start of the swizzle, as for atoms that are not aligned to their size.
    pub(super) fn has_base_offset(descriptor: u64) -> bool {
        descriptor >> 49 & 7 != 0
    }

    /// The address of the number at a row (or column) and a summed index.
    pub(super) fn address(&self, line: u32, summed: u32) -> u32 {
        let Self { start, leading, other, span, bytes, transposed } = *self;
        let swizzled = span > PIECE;
        let (along, across) =
            if transposed { (line * bytes, summed) } else { (summed * bytes, line) };
        let (group, within) = (across / 8, across % 8);
        let offset = match (transposed, swizzled) {
            (false, true) => within * span + group * other + along,
            (false, false) => {
                within * PIECE + group * other + along / PIECE * leading + along % PIECE
            }
            (true, true) => along % span + along / span * leading + within * span + group * other,
            (true, false) => {
                along % PIECE + along / PIECE * other + within * PIECE + group * leading
            }
        };
        let address = start.wrapping_add(offset);
        address ^ ((address >> 7 & (span / PIECE - 1)) << 4)
    }
}

/// The numbers of a factor in shared memory, one row (or column) after the other; `first` is the first of
/// `lines`. Memory is asked for pieces.
pub(super) fn read(
    factor: Factor,
    (first, lines): (u32, u32),
    summed: u32,
    mut piece: impl FnMut(u32) -> [u8; PIECE as usize],
) -> Vec<u64> {
    let mut numbers = vec![0; (lines * summed) as usize];
    let each = PIECE / factor.bytes;
    let (along, across) = if factor.transposed { (lines, summed) } else { (summed, lines) };
    for far in 0..across {
        for near in (0..along).step_by(each as usize) {
            let place = |near| if factor.transposed { (near, far) } else { (far, near) };
            let (line, at) = place(near);
            let bytes = piece(factor.address(first + line, at));
            for (count, bytes) in bytes.chunks_exact(factor.bytes as usize).enumerate() {
                let (line, at) = place(near + count as u32);
                let bits = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
                if let Some(number) = numbers.get_mut((line * summed + at) as usize) {
                    *number = bits;
                }
            }
        }
    }
    numbers
}

/// The left factor of a warp from the words of its lanes, row by row.
pub(super) fn left(multiply: WarpgroupMultiply, words: &[Vec<u64>]) -> Vec<u64> {
    let summed = usize::from(multiply.summed);
    let words: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
    let mut numbers = vec![0; ROWS * summed];
    for lane in 0..32 {
        for index in 0..ROWS * summed / 32 {
            let (row, at) = left_of_sixteen(multiply.left, lane, index);
            numbers[row * summed + at] = number(&words, multiply.left, lane, index);
        }
    }
    numbers
}

/// The row and column of a lane's sum `index`.
fn sum(lane: usize, index: usize) -> (usize, usize) {
    ((lane >> 2) + 8 * (index >> 1 & 1), 2 * (lane & 3) + (index & 1) + 8 * (index >> 2))
}

/// The accumulators of a warp, word by word and in each all lanes, from the factors' numbers and from what is
/// added to, if anything is.
///
/// The model, to be measured: products are exact, and an instruction's sum with what it is added to is rounded
/// once, toward zero to f32 and to the nearest f16.
pub(super) fn product(
    multiply: WarpgroupMultiply,
    [left, right]: [&[u64]; 2],
    start: Option<&[Vec<u64>]>,
) -> Vec<Vec<u64>> {
    let (columns, summed) = (usize::from(multiply.columns), usize::from(multiply.summed));
    let dot = Dot::of_nvidia(multiply.sum);
    let (left, right) = (dot.read(multiply.left, left), dot.read(multiply.right, right));
    let in_word = per_word(multiply.sum);
    let start: Option<Vec<&[u64]>> = start.map(|words| words.iter().map(Vec::as_slice).collect());
    let mut results = vec![vec![0; 32]; columns / 2 / in_word];
    for (index, lane) in (0..columns / 2).flat_map(|index| (0..32).map(move |lane| (index, lane))) {
        let (row, column) = sum(lane, index);
        let factors =
            left[row * summed..][..summed].iter().zip(&right[column * summed..][..summed]);
        let start = start.as_ref().map_or(0, |words| number(words, multiply.sum, lane, index));
        let bits = dot.fold(start, factors.map(|(&a, &b)| (a, b)));
        results[index / in_word][lane] |= bits << ((index % in_word) as u32 * multiply.sum.bits());
    }
    results
}
