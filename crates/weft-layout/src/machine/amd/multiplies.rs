//! The matrix instructions of each of AMD's machines.
//!
//! *Documented*: shapes and kinds by AMD's instruction set documents; clang 19 or 22 takes the
//! builtins for exactly these targets. Prices are the cycles that one instruction keeps a unit of lanes
//! busy, as AMD's matrix instruction calculator tells them (for gfx950 LLVM's model), by the units of a
//! compute unit: four of CDNA, two of RDNA. LLVM's model does not tell scaled instructions apart by what they
//! multiply; that factors of four bits take 16 or 32 cycles, and any of eight bits twice as many, is inferred
//! from the peaks of the MI355X's data sheet, 10 and 5 PFLOP/s. None of this is measured.
//!
//! Left out are the instructions of several blocks, those for `xf32`, whose rounding is not established,
//! factors of 6 bits, and sums of 16 bits, which leave halves of registers empty on gfx11.

use alloc::borrow::Cow;

use crate::machine::{
    Fragments, MatrixMultiply,
    Number::{self, BF16, E2M1, E4M3, E4M3FNUZ, E5M2, E5M2FNUZ, F16, F32, F64, S8, S32},
};

pub(super) const GFX90A: &[MatrixMultiply] = &[
    mfma("mfma.m32n32k8.f32.f16.f16", [32, 32, 8], [F32, F16, F16], 1600),
    mfma("mfma.m16n16k16.f32.f16.f16", [16, 16, 16], [F32, F16, F16], 800),
    mfma("mfma.m32n32k8.f32.bf16.bf16", [32, 32, 8], [F32, BF16, BF16], 1600),
    mfma("mfma.m16n16k16.f32.bf16.bf16", [16, 16, 16], [F32, BF16, BF16], 800),
    mfma("mfma.m32n32k8.s32.s8.s8", [32, 32, 8], [S32, S8, S8], 1600),
    mfma("mfma.m16n16k16.s32.s8.s8", [16, 16, 16], [S32, S8, S8], 800),
    mfma("mfma.m32n32k2.f32.f32.f32", [32, 32, 2], [F32, F32, F32], 1600),
    mfma("mfma.m16n16k4.f32.f32.f32", [16, 16, 4], [F32, F32, F32], 800),
    mfma("mfma.m16n16k4.f64.f64.f64", [16, 16, 4], [F64, F64, F64], 800),
];

pub(super) const GFX942: &[MatrixMultiply] = &[
    mfma("mfma.m32n32k8.f32.f16.f16", [32, 32, 8], [F32, F16, F16], 800),
    mfma("mfma.m16n16k16.f32.f16.f16", [16, 16, 16], [F32, F16, F16], 400),
    mfma("mfma.m32n32k8.f32.bf16.bf16", [32, 32, 8], [F32, BF16, BF16], 800),
    mfma("mfma.m16n16k16.f32.bf16.bf16", [16, 16, 16], [F32, BF16, BF16], 400),
    mfma("mfma.m32n32k16.s32.s8.s8", [32, 32, 16], [S32, S8, S8], 800),
    mfma("mfma.m16n16k32.s32.s8.s8", [16, 16, 32], [S32, S8, S8], 400),
    mfma("mfma.m32n32k16.f32.e4m3fnuz.e4m3fnuz", [32, 32, 16], [F32, E4M3FNUZ, E4M3FNUZ], 800),
    mfma("mfma.m16n16k32.f32.e4m3fnuz.e4m3fnuz", [16, 16, 32], [F32, E4M3FNUZ, E4M3FNUZ], 400),
    mfma("mfma.m32n32k16.f32.e4m3fnuz.e5m2fnuz", [32, 32, 16], [F32, E4M3FNUZ, E5M2FNUZ], 800),
    mfma("mfma.m16n16k32.f32.e4m3fnuz.e5m2fnuz", [16, 16, 32], [F32, E4M3FNUZ, E5M2FNUZ], 400),
    mfma("mfma.m32n32k16.f32.e5m2fnuz.e4m3fnuz", [32, 32, 16], [F32, E5M2FNUZ, E4M3FNUZ], 800),
    mfma("mfma.m16n16k32.f32.e5m2fnuz.e4m3fnuz", [16, 16, 32], [F32, E5M2FNUZ, E4M3FNUZ], 400),
    mfma("mfma.m32n32k16.f32.e5m2fnuz.e5m2fnuz", [32, 32, 16], [F32, E5M2FNUZ, E5M2FNUZ], 800),
    mfma("mfma.m16n16k32.f32.e5m2fnuz.e5m2fnuz", [16, 16, 32], [F32, E5M2FNUZ, E5M2FNUZ], 400),
    mfma("mfma.m32n32k2.f32.f32.f32", [32, 32, 2], [F32, F32, F32], 1600),
    mfma("mfma.m16n16k4.f32.f32.f32", [16, 16, 4], [F32, F32, F32], 800),
    mfma("mfma.m16n16k4.f64.f64.f64", [16, 16, 4], [F64, F64, F64], 800),
];

pub(super) const GFX950: &[MatrixMultiply] = &[
    mfma("mfma.m32n32k8.f32.f16.f16", [32, 32, 8], [F32, F16, F16], 800),
    mfma("mfma.m16n16k16.f32.f16.f16", [16, 16, 16], [F32, F16, F16], 400),
    mfma("mfma.m32n32k8.f32.bf16.bf16", [32, 32, 8], [F32, BF16, BF16], 800),
    mfma("mfma.m16n16k16.f32.bf16.bf16", [16, 16, 16], [F32, BF16, BF16], 400),
    mfma("mfma.m32n32k16.f32.f16.f16", [32, 32, 16], [F32, F16, F16], 800),
    mfma("mfma.m16n16k32.f32.f16.f16", [16, 16, 32], [F32, F16, F16], 400),
    mfma("mfma.m32n32k16.f32.bf16.bf16", [32, 32, 16], [F32, BF16, BF16], 800),
    mfma("mfma.m16n16k32.f32.bf16.bf16", [16, 16, 32], [F32, BF16, BF16], 400),
    mfma("mfma.m32n32k16.s32.s8.s8", [32, 32, 16], [S32, S8, S8], 800),
    mfma("mfma.m16n16k32.s32.s8.s8", [16, 16, 32], [S32, S8, S8], 400),
    mfma("mfma.m32n32k32.s32.s8.s8", [32, 32, 32], [S32, S8, S8], 800),
    mfma("mfma.m16n16k64.s32.s8.s8", [16, 16, 64], [S32, S8, S8], 400),
    mfma("mfma.m32n32k16.f32.e4m3.e4m3", [32, 32, 16], [F32, E4M3, E4M3], 800),
    mfma("mfma.m16n16k32.f32.e4m3.e4m3", [16, 16, 32], [F32, E4M3, E4M3], 400),
    mfma("mfma.m32n32k16.f32.e4m3.e5m2", [32, 32, 16], [F32, E4M3, E5M2], 800),
    mfma("mfma.m16n16k32.f32.e4m3.e5m2", [16, 16, 32], [F32, E4M3, E5M2], 400),
    mfma("mfma.m32n32k16.f32.e5m2.e4m3", [32, 32, 16], [F32, E5M2, E4M3], 800),
    mfma("mfma.m16n16k32.f32.e5m2.e4m3", [16, 16, 32], [F32, E5M2, E4M3], 400),
    mfma("mfma.m32n32k16.f32.e5m2.e5m2", [32, 32, 16], [F32, E5M2, E5M2], 800),
    mfma("mfma.m16n16k32.f32.e5m2.e5m2", [16, 16, 32], [F32, E5M2, E5M2], 400),
    mfma("mfma.m32n32k2.f32.f32.f32", [32, 32, 2], [F32, F32, F32], 1600),
    mfma("mfma.m16n16k4.f32.f32.f32", [16, 16, 4], [F32, F32, F32], 800),
    mfma("mfma.m16n16k4.f64.f64.f64", [16, 16, 4], [F64, F64, F64], 1600),
];

pub(super) const GFX950_SCALED: &[MatrixMultiply] = &[
    mfma_scaled("mfma_scale.m32n32k64.f32.e4m3.e4m3", [32, 32, 64], [F32, E4M3, E4M3], 1600),
    mfma_scaled("mfma_scale.m16n16k128.f32.e4m3.e4m3", [16, 16, 128], [F32, E4M3, E4M3], 800),
    mfma_scaled("mfma_scale.m32n32k64.f32.e4m3.e5m2", [32, 32, 64], [F32, E4M3, E5M2], 1600),
    mfma_scaled("mfma_scale.m16n16k128.f32.e4m3.e5m2", [16, 16, 128], [F32, E4M3, E5M2], 800),
    mfma_scaled("mfma_scale.m32n32k64.f32.e4m3.e2m1", [32, 32, 64], [F32, E4M3, E2M1], 1600),
    mfma_scaled("mfma_scale.m16n16k128.f32.e4m3.e2m1", [16, 16, 128], [F32, E4M3, E2M1], 800),
    mfma_scaled("mfma_scale.m32n32k64.f32.e5m2.e4m3", [32, 32, 64], [F32, E5M2, E4M3], 1600),
    mfma_scaled("mfma_scale.m16n16k128.f32.e5m2.e4m3", [16, 16, 128], [F32, E5M2, E4M3], 800),
    mfma_scaled("mfma_scale.m32n32k64.f32.e5m2.e5m2", [32, 32, 64], [F32, E5M2, E5M2], 1600),
    mfma_scaled("mfma_scale.m16n16k128.f32.e5m2.e5m2", [16, 16, 128], [F32, E5M2, E5M2], 800),
    mfma_scaled("mfma_scale.m32n32k64.f32.e5m2.e2m1", [32, 32, 64], [F32, E5M2, E2M1], 1600),
    mfma_scaled("mfma_scale.m16n16k128.f32.e5m2.e2m1", [16, 16, 128], [F32, E5M2, E2M1], 800),
    mfma_scaled("mfma_scale.m32n32k64.f32.e2m1.e4m3", [32, 32, 64], [F32, E2M1, E4M3], 1600),
    mfma_scaled("mfma_scale.m16n16k128.f32.e2m1.e4m3", [16, 16, 128], [F32, E2M1, E4M3], 800),
    mfma_scaled("mfma_scale.m32n32k64.f32.e2m1.e5m2", [32, 32, 64], [F32, E2M1, E5M2], 1600),
    mfma_scaled("mfma_scale.m16n16k128.f32.e2m1.e5m2", [16, 16, 128], [F32, E2M1, E5M2], 800),
    mfma_scaled("mfma_scale.m32n32k64.f32.e2m1.e2m1", [32, 32, 64], [F32, E2M1, E2M1], 800),
    mfma_scaled("mfma_scale.m16n16k128.f32.e2m1.e2m1", [16, 16, 128], [F32, E2M1, E2M1], 400),
];

pub(super) const GFX1100: &[MatrixMultiply] = &[
    wmma_gfx11("wmma.m16n16k16.f32.f16.f16", [16, 16, 16], [F32, F16, F16], 1600),
    wmma_gfx11("wmma.m16n16k16.f32.bf16.bf16", [16, 16, 16], [F32, BF16, BF16], 1600),
    wmma_gfx11("wmma.m16n16k16.s32.s8.s8", [16, 16, 16], [S32, S8, S8], 1600),
];

pub(super) const GFX1200: &[MatrixMultiply] = &[
    wmma_gfx12("wmma.m16n16k16.f32.f16.f16", [16, 16, 16], [F32, F16, F16], 800),
    wmma_gfx12("wmma.m16n16k16.f32.bf16.bf16", [16, 16, 16], [F32, BF16, BF16], 800),
    wmma_gfx12("wmma.m16n16k16.f32.e4m3.e4m3", [16, 16, 16], [F32, E4M3, E4M3], 400),
    wmma_gfx12("wmma.m16n16k16.f32.e4m3.e5m2", [16, 16, 16], [F32, E4M3, E5M2], 400),
    wmma_gfx12("wmma.m16n16k16.f32.e5m2.e4m3", [16, 16, 16], [F32, E5M2, E4M3], 400),
    wmma_gfx12("wmma.m16n16k16.f32.e5m2.e5m2", [16, 16, 16], [F32, E5M2, E5M2], 400),
    wmma_gfx12("wmma.m16n16k16.s32.s8.s8", [16, 16, 16], [S32, S8, S8], 400),
];

/// An instruction of a wave of 64 lanes.
const fn mfma(
    name: &'static str,
    shape: [u32; 3],
    kinds: [Number; 3],
    price: u64,
) -> MatrixMultiply {
    row(name, shape, kinds, (Fragments::Mfma, price))
}

/// One of factors with scales.
const fn mfma_scaled(
    name: &'static str,
    shape: [u32; 3],
    kinds: [Number; 3],
    price: u64,
) -> MatrixMultiply {
    row(name, shape, kinds, (Fragments::MfmaScaled, price))
}

/// An instruction of gfx11.
const fn wmma_gfx11(
    name: &'static str,
    shape: [u32; 3],
    kinds: [Number; 3],
    price: u64,
) -> MatrixMultiply {
    row(name, shape, kinds, (Fragments::WmmaGfx11, price))
}

/// An instruction of gfx12.
const fn wmma_gfx12(
    name: &'static str,
    shape: [u32; 3],
    kinds: [Number; 3],
    price: u64,
) -> MatrixMultiply {
    row(name, shape, kinds, (Fragments::WmmaGfx12, price))
}

const fn row(
    name: &'static str,
    [rows, columns, summed]: [u32; 3],
    [sum, left, right]: [Number; 3],
    (fragments, price): (Fragments, u64),
) -> MatrixMultiply {
    MatrixMultiply {
        name: Cow::Borrowed(name),
        rows,
        columns,
        widths: Cow::Borrowed(&[]),
        summed,
        left,
        right,
        sum,
        fragments,
        transposed: false,
        architecture_specific: false,
        price,
    }
}
