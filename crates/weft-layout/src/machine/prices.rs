/// What instructions cost, in hundredths of a cycle of one multiprocessor (compute unit), for one
/// instruction of one whole warp (wave).
///
/// The numbers named here are the H200's, *measured*; the rows of the other machines say where theirs
/// come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// One wavefront of shared memory.
    /// Measured: 1.00 for 32-bit loads and stores, 2 and 4 phases for 64 and 128 bits.
    pub wavefront: u64,
    /// One lane exchange of 32 bits by an instruction that goes to any lane; it uses the same pipe
    /// as shared memory.
    /// Measured: 1.00; a load and a shuffle together 2.00 to 2.03.
    pub shuffle: u64,
    /// One integer or logic instruction, select or byte permute; another pipe.
    /// Measured: 0.50 each, and 1.00 for any two of them.
    pub alu: u64,
    /// The issue of one instruction, any pipe: it decides between plans of equal pipes.
    /// Measured: 0.75 for three instructions of two pipes; documented: 4 schedulers, one warp
    /// instruction a cycle each.
    pub issue: u64,
    /// A barrier of one warp. Measured: 0.25, which is its issue.
    pub warp_barrier: u64,
    /// A barrier of a block, without the share of its warps.
    /// Measured: 20.0, 28.0, 44.0 cycles for 4, 8, 16 warps, hence 12 and 2 a warp.
    pub block_barrier: u64,
    /// The share of each warp in a barrier of a block.
    pub block_barrier_per_warp: u64,
    /// One sector of global memory, from or to DRAM.
    /// Documented: an H200 moves 4.8 TB/s, which is 18.4 bytes a cycle and multiprocessor at
    /// 1.98 GHz, hence 1.74 cycles for 32 bytes.
    pub sector: u64,
}

impl Prices {
    /// A barrier among `warps` warps of a block, which all wait at the same time.
    pub fn barrier(&self, warps: u64) -> u64 {
        self.block_barrier.saturating_add(self.block_barrier_per_warp.saturating_mul(warps))
    }

    /// The share of each of `warps` warps in a barrier of their block.
    pub fn barrier_share(&self, warps: u64) -> u64 {
        self.barrier(warps).div_ceil(warps.max(1))
    }
}
