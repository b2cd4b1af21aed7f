//! Choices, from bytes.

use arbitrary::Unstructured;

/// Chooses; when the bytes have run out, always the first.
pub(super) struct Dice<'a>(Unstructured<'a>);

impl<'a> Dice<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// A number below `count`, which is not zero.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0.int_in_range(0..=count - 1).unwrap_or(0)
    }

    /// True so many times of so many.
    pub(super) fn chance(&mut self, times: usize, of: usize) -> bool {
        self.below(of) < times
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Raw bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// The numbers below `count` in some order.
    pub(super) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for index in (1..count).rev() {
            order.swap(index, self.below(index + 1));
        }
        order
    }
}

/// The words that the generator splitmix64 makes from a seed.
fn words(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    core::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    })
}

/// So many bytes, all from one number.
pub(crate) fn bytes(seed: u64, count: usize) -> Vec<u8> {
    words(seed).flat_map(u64::to_le_bytes).take(count).collect()
}

/// A number below `count`, from a seed and apart from its bytes.
pub(super) fn drawn(seed: u64, count: usize) -> usize {
    words(!seed).next().map_or(0, |word| (word % count as u64) as usize)
}
