//! Where NVIDIA's numbers come from.

use crate::machine::{
    Origin::{Assembled, Documented, Inferred, Measured, Recalled},
    Source,
    sources::source,
};

/// What the documents give.
const GUIDE: Source =
    source("", Documented, "CUDA C++ programming guide, occupancy tables and PTX ISA 9.1");

const AS_H200: Source =
    source("phases", Inferred, "the H200's; the documents give no reason to differ");

const PRICES_AS_H200: Source =
    source("prices", Inferred, "the H200's; the documents give no reason to differ");

const MOVES: Source = source("matrix_moves", Assembled, "ptxas 13.4 takes it for this target");

const SHUFFLE_FORMS: Source =
    source("shuffles", Assembled, "ptxas 13.4 takes them for this target");

const ISSUE: Source =
    source("prices.issue", Documented, "four schedulers, one warp instruction a cycle each");

const MULTIPLIES: Source = source(
    "matrix_multiplies",
    Documented,
    "PTX ISA 9.1, and the rates of NVIDIA's data sheets for dense matrices",
);

const TIMING: Source = source(
    "timing",
    Recalled,
    "papers that time one instruction after another; it chooses nothing",
);

const PARTS: Source =
    source("timing.parts", Documented, "four schedulers, a warp instruction a cycle each");

const SPECIAL: Source =
    source("timing.special", Documented, "CUDA C++ programming guide, 16 results a cycle");

pub(super) const SM_90: &[Source] = &[
    GUIDE,
    TIMING,
    PARTS,
    SPECIAL,
    source("timing.exchange", Measured, "one H200, a chain of exchanges"),
    source("timing.shared", Measured, "one H200, a chain of loads"),
    source("phases", Measured, "one H200, by `weft probe` (docs/measurements/h200)"),
    source("prices", Measured, "one H200, by `weft probe` (docs/measurements/h200)"),
    MOVES,
    source(
        "matrix_multiplies",
        Measured,
        "one H200, by docs/measurements/matrix_instructions.py; shapes by PTX ISA 9.1",
    ),
    source(
        "matrix_multiplies.mma.m16n8k32.f32",
        Inferred,
        "two products of f16 and the twelve conversions that ptxas writes",
    ),
    source(
        "warpgroup_multiplies",
        Inferred,
        "shapes by PTX ISA 9.1; 4096 operations of f16 a cycle by the data sheet's rate and clock",
    ),
    SHUFFLE_FORMS,
    source(
        "prices.sector",
        Documented,
        "4.8 TB/s over 132 multiprocessors at 1.98 GHz are 18.4 bytes a cycle",
    ),
];

pub(super) const SM_80: &[Source] = &[
    GUIDE,
    TIMING,
    PARTS,
    SPECIAL,
    AS_H200,
    PRICES_AS_H200,
    ISSUE,
    MOVES,
    MULTIPLIES,
    SHUFFLE_FORMS,
];

pub(super) const SM_86: &[Source] = &[
    GUIDE,
    TIMING,
    PARTS,
    SPECIAL,
    AS_H200,
    PRICES_AS_H200,
    ISSUE,
    MOVES,
    MULTIPLIES,
    SHUFFLE_FORMS,
    source("multiprocessors", Recalled, "RTX A6000"),
];

pub(super) const SM_89: &[Source] = SM_80;

pub(super) const SM_100: &[Source] = &[
    GUIDE,
    TIMING,
    PARTS,
    SPECIAL,
    AS_H200,
    PRICES_AS_H200,
    ISSUE,
    MOVES,
    source("matrix_multiplies", Inferred, "shapes by PTX ISA 9.1, prices as on an A100"),
    SHUFFLE_FORMS,
    source("global_vector_bytes", Assembled, "ptxas 13.4 takes 32 bytes for this target"),
];

pub(super) const SM_120: &[Source] = &[
    GUIDE,
    TIMING,
    PARTS,
    SPECIAL,
    AS_H200,
    PRICES_AS_H200,
    ISSUE,
    MOVES,
    MULTIPLIES,
    SHUFFLE_FORMS,
    source("global_vector_bytes", Assembled, "ptxas 13.4 takes 32 bytes for this target"),
    source("multiprocessors", Recalled, "RTX PRO 6000"),
    source("cluster_blocks", Inferred, "no larger cluster is documented"),
];
