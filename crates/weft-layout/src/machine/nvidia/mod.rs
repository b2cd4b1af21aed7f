//! NVIDIA's rows.
//!
//! *Measured* means one H200 at 1.98 GHz by `weft probe` (`docs/measurements/h200`); *documented* NVIDIA's CUDA C++ programming guide, occupancy tables and
//! PTX ISA 9.1; *assembled* that ptxas 13.4 takes the form for exactly these targets; *recalled*
//! that no source was at hand.

mod multiplies;
mod sources;

use alloc::borrow::Cow;

use super::{
    Isa, Kind, Known, Machine, MatrixMove, Phases, Pipe, Prices, Reach, Shuffle, Timing, Transposes,
};

/// Consecutive lanes; 8 and 16 bytes a lane in 2 and 4 phases.
/// Measured: 1.00, 2.00 and 4.00 cycles, loads and stores alike; merging pairs of a load with lane
/// bit 0 or 1 a copy: 2.01 (16 bytes), 1.00 (8 bytes); bit 2 does not merge.
const PHASES: Phases =
    Phases { load: CONSECUTIVE, store: CONSECUTIVE, merging: 0b11, merging_from: 3 };

const CONSECUTIVE: super::Together = [
    [1, 2, 4, 8, 16, 0],
    [1, 2, 4, 8, 16, 0],
    [1, 2, 4, 8, 16, 0],
    [1, 2, 4, 8, 0, 0],
    [1, 2, 4, 0, 0, 0],
];

/// Measured on the H200; the documents give the other machines no reason to differ.
const PRICES: Prices = Prices {
    wavefront: 100,
    shuffle: 100,
    alu: 50,
    issue: 25,
    warp_barrier: 25,
    block_barrier: 1200,
    block_barrier_per_warp: 200,
    sector: 174,
};

/// Four parts, 16 special functions a cycle (documented: arithmetic throughput of the CUDA programming guide). 64
/// bytes a cycle out of the L2 cache, 33 cycles until a warp's product is there, and a hit in that cache
/// after 270: recalled. Exchanges and shared memory: measured, 24 and 23.
const TIMING: Timing = Timing {
    parts: 4,
    special: 200,
    l2_sector: 50,
    exchange: 2400,
    matrix: 3300,
    shared: 2300,
    global: 27_000,
};

/// Assembled from `sm_75` on. Measured: 1.03, 2.00 and 4.00 cycles for 1, 2 and 4 matrices,
/// transposed or not: one wavefront a matrix.
const LDMATRIX: MatrixMove = MatrixMove {
    name: Cow::Borrowed("ldmatrix.m8n8.b16"),
    kind: Kind::Load,
    element_bits: 16,
    rows: 8,
    row_bytes: 16,
    matrices: Cow::Borrowed(&[1, 2, 4]),
    transposes: Transposes::Either,
    architecture_specific: false,
};

/// Assembled from `sm_90` on. Measured: 4.00 cycles for 4 matrices.
const STMATRIX: MatrixMove =
    MatrixMove { name: Cow::Borrowed("stmatrix.m8n8.b16"), kind: Kind::Store, ..LDMATRIX };

/// Assembled for `sm_100a` and `sm_120a`; two phases a matrix are inferred.
const LDMATRIX_BYTES: MatrixMove = MatrixMove {
    name: Cow::Borrowed("ldmatrix.m16n16.b8"),
    kind: Kind::Load,
    element_bits: 8,
    rows: 16,
    row_bytes: 16,
    matrices: Cow::Borrowed(&[1, 2]),
    transposes: Transposes::Always,
    architecture_specific: true,
};

/// Assembled for `sm_100a` and `sm_120a`. Sixteen rows of 8 bytes in registers are 8 rows of 16 bytes in
/// memory, since it always transposes.
const STMATRIX_BYTES: MatrixMove = MatrixMove {
    name: Cow::Borrowed("stmatrix.m16n8.b8"),
    kind: Kind::Store,
    rows: 8,
    matrices: Cow::Borrowed(&[1, 2, 4]),
    ..LDMATRIX_BYTES
};

/// Assembled for all. Measured: 1.00 cycle each, on the pipe of shared memory.
const SHUFFLES: &[Shuffle] = &[
    Shuffle { name: Cow::Borrowed("shfl.sync.idx.b32"), reach: Reach::Any, pipe: Pipe::Memory },
    Shuffle {
        name: Cow::Borrowed("shfl.sync.bfly.b32"),
        reach: Reach::Within(0b1_1111),
        pipe: Pipe::Memory,
    },
];

/// The Hopper row; the others say where they differ.
/// Documented: 32 banks of 4 bytes, 16 bytes a lane, sectors of 32 bytes, capacities, the portable
/// cluster of 8 blocks, 16 named barriers.
const SM_90: Machine = Machine {
    name: Cow::Borrowed("sm_90"),
    isa: Isa::Ptx { capability: 90 },
    lanes_log2: 5,
    banks_log2: 5,
    store_banks_log2: 5,
    bank_bytes_log2: 2,
    phases: PHASES,
    shared_vector_bytes: 16,
    global_vector_bytes: 16,
    atomic_vector_bytes: 16,
    sector_bytes: 32,
    shared_bytes_per_block: 227 << 10,
    shared_bytes: 228 << 10,
    threads_per_block: 1024,
    threads: 2048,
    blocks: 32,
    registers: 65536,
    registers_per_thread: 255,
    multiprocessors: 132,
    barriers: 16,
    cluster_blocks: 8,
    // Those of `cp.async` write where each lane says.
    direct_copies: Cow::Borrowed(&[]),
    matrix_moves: Cow::Borrowed(&[LDMATRIX, STMATRIX]),
    matrix_multiplies: Cow::Borrowed(multiplies::SM_90),
    warpgroup_multiplies: Cow::Borrowed(multiplies::SM_90_WARPGROUP),
    scaled_multiplies: Cow::Borrowed(&[]),
    shuffles: Cow::Borrowed(SHUFFLES),
    byte_permute: Cow::Borrowed("prmt.b32"),
    prices: PRICES,
    timing: TIMING,
    sources: Cow::Borrowed(sources::SM_90),
};

/// Documented; A100: 108 multiprocessors.
const SM_80: Machine = Machine {
    name: Cow::Borrowed("sm_80"),
    isa: Isa::Ptx { capability: 80 },
    // Two of f16.
    atomic_vector_bytes: 4,
    shared_bytes_per_block: 163 << 10,
    shared_bytes: 164 << 10,
    multiprocessors: 108,
    cluster_blocks: 1,
    matrix_moves: Cow::Borrowed(&[LDMATRIX]),
    matrix_multiplies: Cow::Borrowed(multiplies::SM_80),
    warpgroup_multiplies: Cow::Borrowed(&[]),
    sources: Cow::Borrowed(sources::SM_80),
    ..SM_90
};

/// Documented; RTX A6000: 84 multiprocessors (recalled).
const SM_86: Machine = Machine {
    name: Cow::Borrowed("sm_86"),
    isa: Isa::Ptx { capability: 86 },
    shared_bytes_per_block: 99 << 10,
    shared_bytes: 100 << 10,
    threads: 1536,
    blocks: 16,
    multiprocessors: 84,
    matrix_multiplies: Cow::Borrowed(multiplies::SM_86),
    sources: Cow::Borrowed(sources::SM_86),
    ..SM_80
};

/// Documented; L40S: 142 multiprocessors.
const SM_89: Machine = Machine {
    name: Cow::Borrowed("sm_89"),
    isa: Isa::Ptx { capability: 89 },
    blocks: 24,
    multiprocessors: 142,
    matrix_multiplies: Cow::Borrowed(multiplies::SM_89),
    sources: Cow::Borrowed(sources::SM_89),
    ..SM_86
};

/// Documented; B200: 148 multiprocessors. Global vectors of 32 bytes: assembled.
const SM_100: Machine = Machine {
    name: Cow::Borrowed("sm_100"),
    isa: Isa::Ptx { capability: 100 },
    global_vector_bytes: 32,
    multiprocessors: 148,
    matrix_moves: Cow::Borrowed(&[LDMATRIX, STMATRIX, LDMATRIX_BYTES, STMATRIX_BYTES]),
    matrix_multiplies: Cow::Borrowed(multiplies::SM_100),
    warpgroup_multiplies: Cow::Borrowed(&[]),
    sources: Cow::Borrowed(sources::SM_100),
    ..SM_90
};

/// Documented; RTX PRO 6000: 188 multiprocessors (recalled). Clusters of one block: inferred.
const SM_120: Machine = Machine {
    name: Cow::Borrowed("sm_120"),
    isa: Isa::Ptx { capability: 120 },
    shared_bytes_per_block: 99 << 10,
    shared_bytes: 100 << 10,
    threads: 1536,
    blocks: 24,
    multiprocessors: 188,
    cluster_blocks: 1,
    matrix_multiplies: Cow::Borrowed(multiplies::SM_120),
    sources: Cow::Borrowed(sources::SM_120),
    ..SM_100
};

/// Every machine of NVIDIA, oldest first, and the names by which people know it: its products, as in NVIDIA's
/// list of compute capabilities (developer.nvidia.com/cuda-gpus), and the variant of the instruction set
/// that compilers are told (`sm_90a`).
pub(super) const MACHINES: [Known; 6] = [
    (&SM_80, &["a100", "a30"]),
    (
        &SM_86,
        &[
            "rtx3090",
            "rtx3090ti",
            "rtx3080",
            "rtx3080ti",
            "rtx3070",
            "rtx3070ti",
            "rtx3060",
            "rtx3060ti",
            "a40",
            "a10",
            "a10g",
            "rtxa6000",
            "rtxa5000",
            "rtxa4000",
        ],
    ),
    (
        &SM_89,
        &[
            "rtx4090",
            "rtx4080",
            "rtx4080super",
            "rtx4070",
            "rtx4070super",
            "rtx4070ti",
            "rtx4070tisuper",
            "rtx4060",
            "rtx4060ti",
            "l4",
            "l40",
            "l40s",
            "rtx6000ada",
        ],
    ),
    (&SM_90, &["h100", "h200", "h800", "h20", "gh200", "sm_90a"]),
    (&SM_100, &["b200", "gb200", "sm_100a"]),
    (
        &SM_120,
        &[
            "rtx5090",
            "rtx5080",
            "rtx5070",
            "rtx5070ti",
            "rtx5060",
            "rtx5060ti",
            "rtx5050",
            "rtxpro6000",
            "sm_120a",
        ],
    ),
];
