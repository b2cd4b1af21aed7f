//! Machines: what a GPU can do and what it costs, as data.
//!
//! Nothing here computes; [`access`](crate::access) and [`step`](crate::step) read these rows.
//! Prices are integers in hundredths of a cycle of one multiprocessor, for one instruction of one
//! whole warp.
//! Rows marked *measured* come from one H200 at 1.98 GHz (one block of 16 warps, 8 independent
//! instructions in a loop of 2,000, best of 5); rows marked *documented* from NVIDIA's CUDA C++
//! programming guide and occupancy tables; the other machines take the measured prices over where
//! the documents give no reason to differ.

use alloc::borrow::Cow;

use crate::f2::{Subspace, ones};

/// The widest access of one lane that any machine has: 2⁴ bytes.
pub const MAX_ACCESS_LOG2: u32 = 4;

/// The instruction set of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// NVIDIA PTX of this compute capability.
    Ptx {
        /// Compute capability, for example 90.
        capability: u32,
    },
}

/// A GPU as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The name under which it is chosen, for example `sm_90`.
    pub name: Cow<'static, str>,
    /// The instruction set.
    pub isa: Isa,
    /// The logarithm of the number of lanes of a warp.
    pub lanes_log2: u32,
    /// The logarithm of the number of banks of shared memory.
    pub banks_log2: u32,
    /// The logarithm of the bytes that a bank serves in one wavefront (one word).
    pub bank_bytes_log2: u32,
    /// How shared memory serves the lanes of a warp.
    pub phases: Phases,
    /// The most bytes of one lane in one access of shared memory.
    pub shared_vector_bytes: u32,
    /// The most bytes of one lane in one access of global memory.
    pub global_vector_bytes: u32,
    /// The bytes that global memory moves together.
    pub sector_bytes: u32,
    /// The most bytes of shared memory that one block can ask for.
    pub shared_bytes_per_block: u64,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_bytes: u64,
    /// The most threads of a block.
    pub threads_per_block: u32,
    /// The most threads on a multiprocessor.
    pub threads: u32,
    /// The most blocks on a multiprocessor.
    pub blocks: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// The most 32-bit registers of a thread.
    pub registers_per_thread: u32,
    /// Multiprocessors of the largest device of this kind.
    pub multiprocessors: u32,
    /// What instructions cost.
    pub prices: Prices,
}

/// Which lanes shared memory serves together, for each width of access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phases {
    /// `together[w]`: a basis of the lanes (as exclusive-or differences) that one phase of an
    /// access of 2^`w` bytes a lane serves; zeros fill the row.
    ///
    /// A subspace, not a count, because AMD's phases are not runs of consecutive lanes.
    pub together: [[u8; 6]; MAX_ACCESS_LOG2 as usize + 1],
    /// Lane bits that let a load join its phases in pairs: when one of them is a copy for the whole
    /// warp (its address column is zero), a load is served like one of half its width.
    pub merging: u8,
    /// The logarithm of the narrowest load that merges.
    pub merging_from: u32,
}

impl Phases {
    /// The lanes served together by an access of 2^`width_log2` bytes a lane, as differences.
    pub fn subspace(&self, width_log2: u32) -> Subspace {
        let row = self.together.get(width_log2 as usize).unwrap_or(&self.together[0]);
        let mut basis = [0; 6];
        for (slot, &vector) in basis.iter_mut().zip(row) {
            *slot = u64::from(vector);
        }
        Subspace::from_vectors(&basis)
    }

    /// Whether a load of this width, whose address does not depend on the lane bits in `copies`,
    /// joins its phases in pairs.
    pub fn merges(&self, width_log2: u32, copies: u64) -> bool {
        width_log2 >= self.merging_from
            && ones(u64::from(self.merging)).any(|b| copies >> b & 1 == 1)
    }
}

/// What instructions cost, in hundredths of a cycle a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// One wavefront of shared memory.
    /// Measured: 1.00 for 32-bit loads and stores, 2 and 4 phases for 64 and 128 bits.
    pub wavefront: u64,
    /// One lane exchange of 32 bits; it uses the same pipe as shared memory.
    /// Measured: 1.00; a load and a shuffle together 2.04.
    pub shuffle: u64,
    /// One integer or logic instruction, select or byte permute; another pipe.
    /// Measured: 0.52.
    pub alu: u64,
    /// The issue of one instruction, any pipe: it decides between plans of equal pipes.
    /// Documented: 4 schedulers, one warp instruction a cycle each.
    pub issue: u64,
    /// A barrier of one warp. Measured: 0.14.
    pub warp_barrier: u64,
    /// A barrier of a block, without the share of its warps.
    /// Measured: 20.3, 28.3, 44.3 cycles for 4, 8, 16 warps, hence 12.3 and 2 a warp.
    pub block_barrier: u64,
    /// The share of each warp in a barrier of a block.
    pub block_barrier_per_warp: u64,
    /// One sector of global memory, from or to DRAM.
    /// Documented: an H200 moves 4.8 TB/s, which is 18.4 bytes a cycle and multiprocessor at
    /// 1.98 GHz, hence 1.74 cycles for 32 bytes.
    pub sector: u64,
}

impl Prices {
    /// A barrier among `warps` warps of a block.
    pub fn barrier(&self, warps: u64) -> u64 {
        self.block_barrier.saturating_add(self.block_barrier_per_warp.saturating_mul(warps))
    }
}

impl Machine {
    /// Every machine that Weft knows.
    pub const ALL: [&'static Machine; 6] = [&SM_80, &SM_86, &SM_89, &SM_90, &SM_100, &SM_120];

    /// The machine of this name.
    pub fn by_name(name: &str) -> Option<&'static Machine> {
        Machine::ALL.into_iter().find(|machine| machine.name == name)
    }

    /// The number of lanes of a warp.
    pub fn lanes(&self) -> u32 {
        1_u32.checked_shl(self.lanes_log2).unwrap_or(0)
    }

    /// The logarithm of the bytes that all banks serve in one wavefront.
    pub fn row_bytes_log2(&self) -> u32 {
        self.banks_log2.saturating_add(self.bank_bytes_log2)
    }
}

/// Consecutive lanes; 8 and 16 bytes a lane in 2 and 4 phases.
/// Measured: 1.00, 2.00 and 4.01 cycles; merging pairs with lane bit 0 or 1 a copy: 2.09, 1.10.
const NVIDIA_PHASES: Phases = Phases {
    together: [
        [1, 2, 4, 8, 16, 0],
        [1, 2, 4, 8, 16, 0],
        [1, 2, 4, 8, 16, 0],
        [1, 2, 4, 8, 0, 0],
        [1, 2, 4, 0, 0, 0],
    ],
    merging: 0b11,
    merging_from: 3,
};

const NVIDIA_PRICES: Prices = Prices {
    wavefront: 100,
    shuffle: 100,
    alu: 52,
    issue: 25,
    warp_barrier: 14,
    block_barrier: 1230,
    block_barrier_per_warp: 200,
    sector: 174,
};

/// The Hopper row; the others say where they differ. Capacities are documented.
const SM_90: Machine = Machine {
    name: Cow::Borrowed("sm_90"),
    isa: Isa::Ptx { capability: 90 },
    lanes_log2: 5,
    banks_log2: 5,
    bank_bytes_log2: 2,
    phases: NVIDIA_PHASES,
    shared_vector_bytes: 16,
    global_vector_bytes: 16,
    sector_bytes: 32,
    shared_bytes_per_block: 227 << 10,
    shared_bytes: 228 << 10,
    threads_per_block: 1024,
    threads: 2048,
    blocks: 32,
    registers: 65536,
    registers_per_thread: 255,
    multiprocessors: 132,
    prices: NVIDIA_PRICES,
};

const SM_80: Machine = Machine {
    name: Cow::Borrowed("sm_80"),
    isa: Isa::Ptx { capability: 80 },
    shared_bytes_per_block: 163 << 10,
    shared_bytes: 164 << 10,
    multiprocessors: 108,
    ..SM_90
};

const SM_86: Machine = Machine {
    name: Cow::Borrowed("sm_86"),
    isa: Isa::Ptx { capability: 86 },
    shared_bytes_per_block: 99 << 10,
    shared_bytes: 100 << 10,
    threads: 1536,
    blocks: 16,
    multiprocessors: 84,
    ..SM_90
};

const SM_89: Machine = Machine {
    name: Cow::Borrowed("sm_89"),
    isa: Isa::Ptx { capability: 89 },
    shared_bytes_per_block: 99 << 10,
    shared_bytes: 100 << 10,
    threads: 1536,
    blocks: 24,
    multiprocessors: 142,
    ..SM_90
};

const SM_100: Machine = Machine {
    name: Cow::Borrowed("sm_100"),
    isa: Isa::Ptx { capability: 100 },
    global_vector_bytes: 32,
    multiprocessors: 148,
    ..SM_90
};

const SM_120: Machine = Machine {
    name: Cow::Borrowed("sm_120"),
    isa: Isa::Ptx { capability: 120 },
    global_vector_bytes: 32,
    shared_bytes_per_block: 99 << 10,
    shared_bytes: 100 << 10,
    threads: 1536,
    blocks: 24,
    multiprocessors: 188,
    ..SM_90
};
