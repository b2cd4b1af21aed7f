//! Random numbers that are the same on every machine: splitmix64 (Steele, Lea, Flood 2014).

/// A stream of numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The stream of one argument: streams of other arguments and other seeds are unrelated.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let start = Self(seed).next_u64();
        Self(Self(start ^ stream).next_u64())
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from -1 up to, not including, 1, in steps of 2^-23.
    pub(super) fn symmetric(&mut self) -> f64 {
        let step = 1.0 / f64::from(1 << 23);
        (self.next_u64() >> 40) as f64 * step - 1.0
    }

    /// An integer from zero up to, not including, `end`; `end` is below 2^32, and its
    /// even odds are as even as 2^32 over `end` is large.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((self.next_u64() >> 32) * end) >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_the_published_generator() {
        let mut random = Random(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, published);
    }

    #[test]
    fn numbers_stay_in_their_ranges() {
        let mut random = Random::new(1, 2);
        for _ in 0..10_000 {
            assert!((-1.0..1.0).contains(&random.symmetric()));
            assert!(random.below(100) < 100);
        }
    }
}
