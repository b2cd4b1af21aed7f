//! AMD's rows: a multiprocessor is a compute unit, a warp a wave, a block a workgroup.
//!
//! No AMD device was at hand, so nothing here is measured by this project.
//! *Published* means measurements by others: the phases by `HipKittens` and by the empirical study of
//! the local data share in amd-shark-ai, which agree with AMD's CK-Tile documentation; *compiled*
//! that clang 19 or 22 takes the instruction for exactly these targets; *documented* AMD's
//! instruction set and HIP documents; *recalled* that no source was at hand; *inferred* that it
//! follows from the others.

mod multiplies;
mod sources;

use alloc::borrow::Cow;

use super::{
    Isa, Kind, Known, Machine, MatrixMove, Phases, Pipe, Prices, Reach, Shuffle, Timing, Together,
    Transposes,
};

/// Runs of consecutive lanes that fill 32 banks: 128 bytes.
/// Published for 4 and 8 bytes, and for stores of 16; narrower accesses as 4 bytes: inferred.
const CONSECUTIVE: Together = [
    [1, 2, 4, 8, 16, 0],
    [1, 2, 4, 8, 16, 0],
    [1, 2, 4, 8, 16, 0],
    [1, 2, 4, 8, 0, 0],
    [1, 2, 4, 0, 0, 0],
];

/// Loads of 16 bytes serve lanes 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27,
/// and the same from lane 32 on: cosets of the span of 1, 2 and 20. Published.
const CROSSED: Together =
    [CONSECUTIVE[0], CONSECUTIVE[1], CONSECUTIVE[2], CONSECUTIVE[3], [1, 2, 20, 0, 0, 0]];

/// Loads over 64 banks: all 64 lanes of 4 bytes, halves of 8 bytes, and of 16 bytes lanes 0-3 with
/// 12-15 and 20-27, 4-11 with 16-19 and 28-31: cosets of the span of 1, 2, 12 and 20. Published.
const CROSSED_64: Together = [
    [1, 2, 4, 8, 16, 32],
    [1, 2, 4, 8, 16, 32],
    [1, 2, 4, 8, 16, 32],
    [1, 2, 4, 8, 16, 0],
    [1, 2, 12, 20, 0, 0],
];

/// Nothing is known of phases that merge.
const fn phases(load: Together) -> Phases {
    Phases { load, store: CONSECUTIVE, merging: 0, merging_from: u32::MAX }
}

/// Of CDNA 3: a phase moves 128 bytes, a cycle's worth (documented). A shuffle is an access of 4
/// bytes, two phases (published). Four units of 16 lanes take a wave of 64 every 4 cycles each
/// (documented). Up to five instructions of different kinds issue a cycle (recalled). A barrier
/// waits for its slowest wave; the rest of its price is taken over from the H200 (inferred).
/// DRAM: 5.3 TB/s over 304 units at 2.1 GHz are 8.3 bytes a cycle, 7.71 cycles for 64 bytes
/// (recalled).
const PRICES: Prices = Prices {
    wavefront: 100,
    shuffle: 200,
    alu: 100,
    issue: 20,
    warp_barrier: 20,
    block_barrier: 1200,
    block_barrier_per_warp: 200,
    sector: 771,
};

/// Waves of 32 on two units of 32 lanes: two instructions a cycle, and a shuffle is one phase
/// (documented). DRAM of an RX 7900 XTX: 0.96 TB/s over 96 units at 2.5 GHz are 4 bytes a cycle, 16
/// cycles for 64 bytes (recalled).
const RDNA_PRICES: Prices = Prices { shuffle: 100, alu: 50, issue: 50, sector: 1600, ..PRICES };

/// Four units of 16 lanes, each of which takes four cycles for a wave of 64, and special functions at a quarter
/// of that rate (documented). 64 bytes a cycle out of the L2 cache, and all latencies: recalled.
const TIMING: Timing = Timing {
    parts: 4,
    special: 400,
    l2_sector: 100,
    exchange: 5000,
    matrix: 3600,
    shared: 6400,
    global: 50_000,
};

/// Two units of 32 lanes (documented); the rest as above, recalled.
const RDNA_TIMING: Timing = Timing { parts: 2, special: 200, ..TIMING };

/// Goes to any lane through the crossbar of the local data share, without its memory. Compiled.
const BPERMUTE: Shuffle =
    Shuffle { name: Cow::Borrowed("ds_bpermute_b32"), reach: Reach::Any, pipe: Pipe::Memory };

/// Within 32 lanes, by the same crossbar. Compiled.
const SWIZZLE: Shuffle = Shuffle {
    name: Cow::Borrowed("ds_swizzle_b32"),
    reach: Reach::Within(0b1_1111),
    pipe: Pipe::Memory,
};

/// A modifier of arithmetic instructions; its price is that of a move (inferred; published as 4 to
/// 12 cycles of one wave). Compiled.
const QUAD_PERMUTE: Shuffle = Shuffle {
    name: Cow::Borrowed("dpp quad_perm"),
    reach: Reach::Within(0b11),
    pipe: Pipe::Arithmetic,
};

/// `row_half_mirror`, `row_ror:8` and `row_mirror`; products of two reach every mask below 16.
/// Compiled.
const MIRRORS: Shuffle = Shuffle {
    name: Cow::Borrowed("dpp row_mirror"),
    reach: Reach::Masks(Cow::Borrowed(&[7, 8, 15])),
    pipe: Pipe::Arithmetic,
};

/// Compiled for gfx950 only.
const SWAP_16: Shuffle = Shuffle {
    name: Cow::Borrowed("v_permlane16_swap_b32"),
    reach: Reach::Swap(16),
    pipe: Pipe::Arithmetic,
};

/// Compiled for gfx950 only.
const SWAP_32: Shuffle = Shuffle {
    name: Cow::Borrowed("v_permlane32_swap_b32"),
    reach: Reach::Swap(32),
    pipe: Pipe::Arithmetic,
};

/// Compiled for gfx11 and gfx12 only.
const ROW_MASK: Shuffle = Shuffle {
    name: Cow::Borrowed("dpp row_xmask"),
    reach: Reach::Within(0b1111),
    pipe: Pipe::Arithmetic,
};

/// The other row of 16 lanes, each lane reading the one at its own place. Compiled for gfx11 and
/// gfx12 only.
const OTHER_ROW: Shuffle = Shuffle {
    name: Cow::Borrowed("v_permlanex16_b32"),
    reach: Reach::Masks(Cow::Borrowed(&[16])),
    pipe: Pipe::Arithmetic,
};

/// Sixteen lanes give the addresses of 8 bytes each and exchange what they read; the four groups of
/// a wave do so at once. Compiled for gfx950 only.
const fn transposing_read(name: &'static str, element_bits: u32) -> MatrixMove {
    MatrixMove {
        name: Cow::Borrowed(name),
        kind: Kind::Load,
        element_bits,
        rows: 16,
        row_bytes: 8,
        matrices: Cow::Borrowed(&[4]),
        transposes: Transposes::Always,
        architecture_specific: false,
    }
}

/// CDNA 3 (MI300X: 304 units, recalled).
/// Documented: waves of 64, 32 banks of 4 bytes, 8 waves on each of 4 units of 16 lanes, 512
/// registers a lane of which 256 hold accumulators, one barrier a workgroup. Compiled: 64 KiB a
/// workgroup, 16 bytes a lane from the local data share and from global memory. DRAM transactions of
/// 64 bytes: published. Workgroups of a unit: recalled.
const GFX942: Machine = Machine {
    name: Cow::Borrowed("gfx942"),
    isa: Isa::Amdgcn,
    lanes_log2: 6,
    banks_log2: 5,
    store_banks_log2: 5,
    bank_bytes_log2: 2,
    phases: phases(CROSSED),
    shared_vector_bytes: 16,
    global_vector_bytes: 16,
    atomic_vector_bytes: 1,
    sector_bytes: 64,
    shared_bytes_per_block: 64 << 10,
    shared_bytes: 64 << 10,
    threads_per_block: 1024,
    threads: 2048,
    blocks: 32,
    registers: 131_072,
    registers_per_thread: 512,
    multiprocessors: 304,
    barriers: 1,
    cluster_blocks: 1,
    // Those of one and two bytes fill words, and are left out.
    direct_copies: Cow::Borrowed(&[4]),
    matrix_moves: Cow::Borrowed(&[]),
    shuffles: Cow::Borrowed(&[BPERMUTE, SWIZZLE, QUAD_PERMUTE, MIRRORS]),
    matrix_multiplies: Cow::Borrowed(multiplies::GFX942),
    warpgroup_multiplies: Cow::Borrowed(&[]),
    scaled_multiplies: Cow::Borrowed(&[]),
    byte_permute: Cow::Borrowed("v_perm_b32"),
    prices: PRICES,
    timing: TIMING,
    sources: Cow::Borrowed(sources::GFX942),
};

/// CDNA 2 (one die of an MI250X: 110 units, recalled).
/// Its phases of 16 bytes are those of CDNA 3: inferred. DRAM: 1.6 TB/s over 110 units at 1.7 GHz are
/// 8.56 bytes a cycle, 7.48 cycles for 64 bytes (recalled).
const GFX90A: Machine = Machine {
    name: Cow::Borrowed("gfx90a"),
    multiprocessors: 110,
    prices: Prices { sector: 748, ..PRICES },
    matrix_multiplies: Cow::Borrowed(multiplies::GFX90A),
    sources: Cow::Borrowed(sources::GFX90A),
    ..GFX942
};

/// CDNA 4 (MI355X: 256 units, recalled).
/// Published: loads use 64 banks, stores of 8 bytes behave as on 32; so do all stores: inferred.
/// Compiled: 160 KiB a workgroup, transposing reads, swaps of rows. DRAM: 8 TB/s over 256 units at 2.4
/// GHz are 13 bytes a cycle, 4.92 cycles for 64 bytes (recalled).
const GFX950: Machine = Machine {
    name: Cow::Borrowed("gfx950"),
    banks_log2: 6,
    phases: phases(CROSSED_64),
    shared_bytes_per_block: 160 << 10,
    shared_bytes: 160 << 10,
    multiprocessors: 256,
    direct_copies: Cow::Borrowed(&[4, 16]),
    matrix_moves: Cow::Borrowed(&[
        transposing_read("ds_read_b64_tr_b16", 16),
        transposing_read("ds_read_b64_tr_b8", 8),
        transposing_read("ds_read_b64_tr_b4", 4),
    ]),
    shuffles: Cow::Borrowed(&[BPERMUTE, SWIZZLE, QUAD_PERMUTE, MIRRORS, SWAP_16, SWAP_32]),
    prices: Prices { sector: 492, ..PRICES },
    matrix_multiplies: Cow::Borrowed(multiplies::GFX950),
    scaled_multiplies: Cow::Borrowed(multiplies::GFX950_SCALED),
    sources: Cow::Borrowed(sources::GFX950),
    ..GFX942
};

/// RDNA 3 (RX 7900 XTX: 96 units, recalled), with waves of 32.
/// Published: its loads of 16 bytes have the phases of CDNA 3, without the upper half; stores of
/// consecutive lanes: inferred. Compiled: 64 KiB a workgroup. Sectors, registers, waves (16 on each of
/// 2 units of 32 lanes, 1536 registers a lane there): recalled.
const GFX1100: Machine = Machine {
    name: Cow::Borrowed("gfx1100"),
    lanes_log2: 5,
    threads: 1024,
    registers: 98_304,
    registers_per_thread: 256,
    multiprocessors: 96,
    direct_copies: Cow::Borrowed(&[]),
    shuffles: Cow::Borrowed(&[BPERMUTE, SWIZZLE, QUAD_PERMUTE, ROW_MASK, OTHER_ROW]),
    prices: RDNA_PRICES,
    timing: RDNA_TIMING,
    matrix_multiplies: Cow::Borrowed(multiplies::GFX1100),
    sources: Cow::Borrowed(sources::GFX1100),
    ..GFX942
};

/// RDNA 4 (RX 9060 XT: 32 units, recalled), with waves of 32.
/// Published: loads of 16 bytes serve 8 consecutive lanes. DRAM: 0.32 TB/s over 32 units at 3.1 GHz are
/// 3.2 bytes a cycle, 20 cycles for 64 bytes (recalled).
const GFX1200: Machine = Machine {
    name: Cow::Borrowed("gfx1200"),
    phases: phases(CONSECUTIVE),
    multiprocessors: 32,
    prices: Prices { sector: 2000, ..RDNA_PRICES },
    matrix_multiplies: Cow::Borrowed(multiplies::GFX1200),
    sources: Cow::Borrowed(sources::GFX1200),
    ..GFX1100
};

/// Every machine of AMD, oldest first, and the products by which people know it, as in the table of
/// processors of LLVM's AMDGPU back end and in AMD's own list of GPUs.
pub(super) const MACHINES: [Known; 5] = [
    (&GFX90A, &["mi250x", "mi250", "mi210"]),
    (&GFX942, &["mi300x", "mi300a", "mi325x"]),
    (&GFX950, &["mi355x", "mi350x"]),
    (&GFX1100, &["rx7900xtx", "rx7900xt", "w7900", "w7800"]),
    (&GFX1200, &["rx9060xt"]),
];
