//! Where AMD's numbers come from.

use crate::machine::{
    Origin::{Assembled, Documented, Inferred, Published, Recalled},
    Source,
    sources::source,
};

const STUDIES: &str = "HipKittens, amd-shark-ai's study of the local data share, AMD's CK-Tile";

const MANUALS: Source = source("", Documented, "AMD's instruction set and HIP documents");
const VECTORS: Source =
    source("shared_vector_bytes", Assembled, "clang 19 or 22 takes 16 bytes for this target");
const GLOBAL_VECTORS: Source =
    source("global_vector_bytes", Assembled, "clang 19 or 22 takes 16 bytes for this target");
const ATOMICS: Source =
    source("atomic_vector_bytes", Inferred, "no printer writes packed atomics for this target");
const COPIES: Source = source(
    "direct_copies",
    Assembled,
    "llvm-mc 22 takes these widths for this target, and no others",
);
const BLOCK_MEMORY: Source =
    source("shared_bytes_per_block", Assembled, "clang 19 or 22 takes as much for this target");
const SECTORS: Source = source("sector_bytes", Published, "DRAM transactions of 64 bytes");
const WORKGROUPS: Source = source("blocks", Recalled, "workgroups of a compute unit");
const DEVICE: Source = source("multiprocessors", Recalled, "the largest device of this kind");
const SHUFFLES: Source = source("shuffles", Assembled, "clang 19 or 22 takes them for this target");
const PERMUTE: Source =
    source("byte_permute", Assembled, "clang 19 or 22 takes it for this target");

const MULTIPLIES: Source = source(
    "matrix_multiplies",
    Documented,
    "AMD's instruction set documents and matrix instruction calculator; on gfx950 LLVM's model",
);

const SCALED: Source = source(
    "scaled_multiplies",
    Inferred,
    "clang 22 takes the builtins for this target; cycles by the peaks of the MI355X's data sheet",
);

const PHASES: Source = source("phases", Published, STUDIES);
const LOADS_1: Source = source("phases.load.1", Inferred, "as accesses of 4 bytes");
const LOADS_2: Source = source("phases.load.2", Inferred, "as accesses of 4 bytes");
const STORES_1: Source = source("phases.store.1", Inferred, "as accesses of 4 bytes");
const STORES_2: Source = source("phases.store.2", Inferred, "as accesses of 4 bytes");
const MERGING: Source = source("phases.merging", Inferred, "nothing is known of phases that merge");

const BARRIERS: Source = source("prices", Inferred, "taken over from the H200");
const WAVEFRONT: Source =
    source("prices.wavefront", Documented, "a phase moves 128 bytes, a cycle's worth");
const CROSSBAR: Source = source("prices.shuffle", Published, "an access of 4 bytes, two phases");
const UNITS: Source =
    source("prices.alu", Documented, "four units take a wave every 4 cycles each");
const ISSUE: Source =
    source("prices.issue", Recalled, "up to five instructions of different kinds a cycle");
const BANDWIDTH: Source =
    source("prices.sector", Recalled, "the data sheet's bandwidth, units and clock");

const TIMING: Source =
    source("timing", Recalled, "the documents' rates, and latencies of papers; it chooses nothing");

pub(super) const GFX942: &[Source] = &[
    MANUALS,
    TIMING,
    VECTORS,
    GLOBAL_VECTORS,
    ATOMICS,
    COPIES,
    BLOCK_MEMORY,
    SECTORS,
    WORKGROUPS,
    DEVICE,
    SHUFFLES,
    PERMUTE,
    MULTIPLIES,
    PHASES,
    LOADS_1,
    LOADS_2,
    STORES_1,
    STORES_2,
    MERGING,
    BARRIERS,
    WAVEFRONT,
    CROSSBAR,
    UNITS,
    ISSUE,
    BANDWIDTH,
];

pub(super) const GFX90A: &[Source] = &[
    MANUALS,
    TIMING,
    VECTORS,
    GLOBAL_VECTORS,
    ATOMICS,
    COPIES,
    BLOCK_MEMORY,
    SECTORS,
    WORKGROUPS,
    DEVICE,
    SHUFFLES,
    PERMUTE,
    MULTIPLIES,
    PHASES,
    LOADS_1,
    LOADS_2,
    STORES_1,
    STORES_2,
    MERGING,
    source("phases.load.16", Inferred, "as CDNA 3"),
    source("phases.store.16", Inferred, "as CDNA 3"),
    BARRIERS,
    WAVEFRONT,
    CROSSBAR,
    UNITS,
    ISSUE,
    BANDWIDTH,
];

pub(super) const GFX950: &[Source] = &[
    MANUALS,
    TIMING,
    VECTORS,
    GLOBAL_VECTORS,
    ATOMICS,
    COPIES,
    BLOCK_MEMORY,
    SECTORS,
    WORKGROUPS,
    DEVICE,
    SHUFFLES,
    PERMUTE,
    MULTIPLIES,
    SCALED,
    source("banks", Published, STUDIES),
    source("store_banks", Inferred, "stores of 8 bytes behave as on 32 banks; so do all"),
    source("matrix_moves", Assembled, "clang 22 takes them for this target alone"),
    PHASES,
    LOADS_1,
    LOADS_2,
    source("phases.store", Inferred, "stores of 8 bytes behave as on 32 banks; so do all"),
    MERGING,
    BARRIERS,
    WAVEFRONT,
    CROSSBAR,
    UNITS,
    ISSUE,
    BANDWIDTH,
];

/// Both RDNA machines: of each only its 16-byte loads were measured.
pub(super) const GFX1100: &[Source] = &[
    MANUALS,
    TIMING,
    VECTORS,
    GLOBAL_VECTORS,
    ATOMICS,
    COPIES,
    BLOCK_MEMORY,
    WORKGROUPS,
    DEVICE,
    SHUFFLES,
    PERMUTE,
    MULTIPLIES,
    source("sector_bytes", Recalled, "DRAM transactions of 64 bytes"),
    source("registers", Recalled, "1536 registers a lane, two units of 32 lanes"),
    source("registers_per_thread", Recalled, "what an instruction can name"),
    source("threads", Recalled, "16 waves on each of two units"),
    source("phases", Inferred, "consecutive lanes"),
    source("phases.load.16", Published, STUDIES),
    MERGING,
    BARRIERS,
    WAVEFRONT,
    source("prices.shuffle", Documented, "one phase of 32 lanes"),
    source("prices.alu", Documented, "two units of 32 lanes"),
    source("prices.issue", Documented, "two units, an instruction each"),
    BANDWIDTH,
];

pub(super) const GFX1200: &[Source] = GFX1100;
