//! How long instructions take, beside what they cost.

/// How a multiprocessor keeps time: what a [`Prices`](super::Prices) row leaves out because no choice of a layout
/// hangs on it. Times are hundredths of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The parts of a multiprocessor that issue for themselves, each with arithmetic and matrix units of its own;
    /// warp `w` of a block runs on part `w` modulo their number.
    pub parts: u32,
    /// One exponential, logarithm, root, reciprocal or sine of a whole warp, all parts together.
    pub special: u64,
    /// One sector of global memory out of the L2 cache.
    pub l2_sector: u64,
    /// From the issue of an exchange between lanes until its result may be used.
    pub exchange: u64,
    /// From the issue of a warp's product of matrices until its sum may be used.
    pub matrix: u64,
    /// From the issue of a load from shared memory until what it loads may be used.
    pub shared: u64,
    /// From the issue of a load from global memory until what it loads may be used, where the L2 cache has it.
    pub global: u64,
}
