//! The matrix instructions of each of NVIDIA's machines.
//!
//! *Documented*: the shapes and kinds by the PTX ISA; the prices by the rates of NVIDIA's data sheets
//! for dense matrices, divided by multiprocessors and clock. What they say in products a cycle of one
//! multiprocessor:
//!
//! | | f16, bf16 | tf32 | f64 | s8 | eight-bit floats |
//! | --- | --- | --- | --- | --- | --- |
//! | A100 | 1024 | 512 | 64 | 2048 | |
//! | RTX A6000 | 512 | 256 | 2 | 1024 | |
//! | L40S | 512 | 256 | 2 | 1024 | 1024 |
//! | RTX PRO 6000 | 512 | 256 | 2 | 1024 | 1024 |
//!
//! An H200's prices are *measured* (`docs/measurements/matrix_instructions.json`): `mma.sync` reaches two
//! thirds of the rate that the data sheet gives for its asynchronous instructions. It has no `mma.sync`
//! for eight-bit floats: ptxas writes twelve conversions and two instructions for f16 (*assembled*), at
//! the price of these.
//! For B200 no rate of `mma.sync` is documented: those of A100 (*inferred*), the floats of eight bits as
//! on an H200.

use alloc::borrow::Cow;

use crate::machine::{
    Fragments, MatrixMultiply,
    Number::{self, BF16, E4M3, E5M2, F16, F32, F64, S8, S32, TF32},
    Widths,
};

pub(super) const SM_80: &[MatrixMultiply] = &[
    mma("mma.m16n8k16.f32.f16.f16", [16, 8, 16], [F32, F16, F16], 200),
    mma("mma.m16n8k8.f32.f16.f16", [16, 8, 8], [F32, F16, F16], 100),
    mma("mma.m16n8k16.f16.f16.f16", [16, 8, 16], [F16, F16, F16], 200),
    mma("mma.m16n8k8.f16.f16.f16", [16, 8, 8], [F16, F16, F16], 100),
    mma("mma.m16n8k16.f32.bf16.bf16", [16, 8, 16], [F32, BF16, BF16], 200),
    mma("mma.m16n8k8.f32.bf16.bf16", [16, 8, 8], [F32, BF16, BF16], 100),
    mma("mma.m16n8k8.f32.tf32.tf32", [16, 8, 8], [F32, TF32, TF32], 200),
    mma("mma.m16n8k4.f32.tf32.tf32", [16, 8, 4], [F32, TF32, TF32], 100),
    mma("mma.m8n8k4.f64.f64.f64", [8, 8, 4], [F64, F64, F64], 400),
    mma("mma.m16n8k32.s32.s8.s8", [16, 8, 32], [S32, S8, S8], 200),
    mma("mma.m16n8k16.s32.s8.s8", [16, 8, 16], [S32, S8, S8], 100),
];

pub(super) const SM_86: &[MatrixMultiply] = &[
    mma("mma.m16n8k16.f32.f16.f16", [16, 8, 16], [F32, F16, F16], 400),
    mma("mma.m16n8k8.f32.f16.f16", [16, 8, 8], [F32, F16, F16], 200),
    mma("mma.m16n8k16.f16.f16.f16", [16, 8, 16], [F16, F16, F16], 400),
    mma("mma.m16n8k8.f16.f16.f16", [16, 8, 8], [F16, F16, F16], 200),
    mma("mma.m16n8k16.f32.bf16.bf16", [16, 8, 16], [F32, BF16, BF16], 400),
    mma("mma.m16n8k8.f32.bf16.bf16", [16, 8, 8], [F32, BF16, BF16], 200),
    mma("mma.m16n8k8.f32.tf32.tf32", [16, 8, 8], [F32, TF32, TF32], 400),
    mma("mma.m16n8k4.f32.tf32.tf32", [16, 8, 4], [F32, TF32, TF32], 200),
    mma("mma.m8n8k4.f64.f64.f64", [8, 8, 4], [F64, F64, F64], 12_800),
    mma("mma.m16n8k32.s32.s8.s8", [16, 8, 32], [S32, S8, S8], 400),
    mma("mma.m16n8k16.s32.s8.s8", [16, 8, 16], [S32, S8, S8], 200),
];

pub(super) const SM_89: &[MatrixMultiply] = &[
    mma("mma.m16n8k16.f32.f16.f16", [16, 8, 16], [F32, F16, F16], 400),
    mma("mma.m16n8k8.f32.f16.f16", [16, 8, 8], [F32, F16, F16], 200),
    mma("mma.m16n8k16.f16.f16.f16", [16, 8, 16], [F16, F16, F16], 400),
    mma("mma.m16n8k8.f16.f16.f16", [16, 8, 8], [F16, F16, F16], 200),
    mma("mma.m16n8k16.f32.bf16.bf16", [16, 8, 16], [F32, BF16, BF16], 400),
    mma("mma.m16n8k8.f32.bf16.bf16", [16, 8, 8], [F32, BF16, BF16], 200),
    mma("mma.m16n8k8.f32.tf32.tf32", [16, 8, 8], [F32, TF32, TF32], 400),
    mma("mma.m16n8k4.f32.tf32.tf32", [16, 8, 4], [F32, TF32, TF32], 200),
    mma("mma.m8n8k4.f64.f64.f64", [8, 8, 4], [F64, F64, F64], 12_800),
    mma("mma.m16n8k32.s32.s8.s8", [16, 8, 32], [S32, S8, S8], 400),
    mma("mma.m16n8k16.s32.s8.s8", [16, 8, 16], [S32, S8, S8], 200),
    mma("mma.m16n8k32.f32.e4m3.e4m3", [16, 8, 32], [F32, E4M3, E4M3], 400),
    mma("mma.m16n8k32.f32.e4m3.e5m2", [16, 8, 32], [F32, E4M3, E5M2], 400),
    mma("mma.m16n8k32.f32.e5m2.e4m3", [16, 8, 32], [F32, E5M2, E4M3], 400),
    mma("mma.m16n8k32.f32.e5m2.e5m2", [16, 8, 32], [F32, E5M2, E5M2], 400),
];

pub(super) const SM_90: &[MatrixMultiply] = &[
    mma("mma.m16n8k16.f32.f16.f16", [16, 8, 16], [F32, F16, F16], 153),
    mma("mma.m16n8k8.f32.f16.f16", [16, 8, 8], [F32, F16, F16], 105),
    mma("mma.m16n8k16.f16.f16.f16", [16, 8, 16], [F16, F16, F16], 153),
    mma("mma.m16n8k8.f16.f16.f16", [16, 8, 8], [F16, F16, F16], 105),
    mma("mma.m16n8k16.f32.bf16.bf16", [16, 8, 16], [F32, BF16, BF16], 153),
    mma("mma.m16n8k8.f32.bf16.bf16", [16, 8, 8], [F32, BF16, BF16], 105),
    mma("mma.m16n8k8.f32.tf32.tf32", [16, 8, 8], [F32, TF32, TF32], 153),
    mma("mma.m16n8k4.f32.tf32.tf32", [16, 8, 4], [F32, TF32, TF32], 105),
    mma("mma.m16n8k16.f64.f64.f64", [16, 8, 16], [F64, F64, F64], 1695),
    mma("mma.m16n8k8.f64.f64.f64", [16, 8, 8], [F64, F64, F64], 809),
    mma("mma.m16n8k4.f64.f64.f64", [16, 8, 4], [F64, F64, F64], 431),
    mma("mma.m8n8k4.f64.f64.f64", [8, 8, 4], [F64, F64, F64], 401),
    mma("mma.m16n8k32.s32.s8.s8", [16, 8, 32], [S32, S8, S8], 155),
    mma("mma.m16n8k16.s32.s8.s8", [16, 8, 16], [S32, S8, S8], 107),
    mma("mma.m16n8k32.f32.e4m3.e4m3", [16, 8, 32], [F32, E4M3, E4M3], 906),
    mma("mma.m16n8k32.f32.e4m3.e5m2", [16, 8, 32], [F32, E4M3, E5M2], 906),
    mma("mma.m16n8k32.f32.e5m2.e4m3", [16, 8, 32], [F32, E5M2, E4M3], 906),
    mma("mma.m16n8k32.f32.e5m2.e5m2", [16, 8, 32], [F32, E5M2, E5M2], 906),
];

pub(super) const SM_100: &[MatrixMultiply] = &[
    mma("mma.m16n8k16.f32.f16.f16", [16, 8, 16], [F32, F16, F16], 200),
    mma("mma.m16n8k8.f32.f16.f16", [16, 8, 8], [F32, F16, F16], 100),
    mma("mma.m16n8k16.f16.f16.f16", [16, 8, 16], [F16, F16, F16], 200),
    mma("mma.m16n8k8.f16.f16.f16", [16, 8, 8], [F16, F16, F16], 100),
    mma("mma.m16n8k16.f32.bf16.bf16", [16, 8, 16], [F32, BF16, BF16], 200),
    mma("mma.m16n8k8.f32.bf16.bf16", [16, 8, 8], [F32, BF16, BF16], 100),
    mma("mma.m16n8k8.f32.tf32.tf32", [16, 8, 8], [F32, TF32, TF32], 200),
    mma("mma.m16n8k4.f32.tf32.tf32", [16, 8, 4], [F32, TF32, TF32], 100),
    mma("mma.m16n8k16.f64.f64.f64", [16, 8, 16], [F64, F64, F64], 3200),
    mma("mma.m16n8k8.f64.f64.f64", [16, 8, 8], [F64, F64, F64], 1600),
    mma("mma.m16n8k4.f64.f64.f64", [16, 8, 4], [F64, F64, F64], 800),
    mma("mma.m8n8k4.f64.f64.f64", [8, 8, 4], [F64, F64, F64], 400),
    mma("mma.m16n8k32.s32.s8.s8", [16, 8, 32], [S32, S8, S8], 200),
    mma("mma.m16n8k16.s32.s8.s8", [16, 8, 16], [S32, S8, S8], 100),
    mma("mma.m16n8k32.f32.e4m3.e4m3", [16, 8, 32], [F32, E4M3, E4M3], 1000),
    mma("mma.m16n8k32.f32.e4m3.e5m2", [16, 8, 32], [F32, E4M3, E5M2], 1000),
    mma("mma.m16n8k32.f32.e5m2.e4m3", [16, 8, 32], [F32, E5M2, E4M3], 1000),
    mma("mma.m16n8k32.f32.e5m2.e5m2", [16, 8, 32], [F32, E5M2, E5M2], 1000),
];

pub(super) const SM_120: &[MatrixMultiply] = &[
    mma("mma.m16n8k16.f32.f16.f16", [16, 8, 16], [F32, F16, F16], 400),
    mma("mma.m16n8k8.f32.f16.f16", [16, 8, 8], [F32, F16, F16], 200),
    mma("mma.m16n8k16.f16.f16.f16", [16, 8, 16], [F16, F16, F16], 400),
    mma("mma.m16n8k8.f16.f16.f16", [16, 8, 8], [F16, F16, F16], 200),
    mma("mma.m16n8k16.f32.bf16.bf16", [16, 8, 16], [F32, BF16, BF16], 400),
    mma("mma.m16n8k8.f32.bf16.bf16", [16, 8, 8], [F32, BF16, BF16], 200),
    mma("mma.m16n8k8.f32.tf32.tf32", [16, 8, 8], [F32, TF32, TF32], 400),
    mma("mma.m16n8k4.f32.tf32.tf32", [16, 8, 4], [F32, TF32, TF32], 200),
    mma("mma.m16n8k16.f64.f64.f64", [16, 8, 16], [F64, F64, F64], 102_400),
    mma("mma.m16n8k8.f64.f64.f64", [16, 8, 8], [F64, F64, F64], 51_200),
    mma("mma.m16n8k4.f64.f64.f64", [16, 8, 4], [F64, F64, F64], 25_600),
    mma("mma.m8n8k4.f64.f64.f64", [8, 8, 4], [F64, F64, F64], 12_800),
    mma("mma.m16n8k32.s32.s8.s8", [16, 8, 32], [S32, S8, S8], 400),
    mma("mma.m16n8k16.s32.s8.s8", [16, 8, 16], [S32, S8, S8], 200),
    mma("mma.m16n8k32.f32.e4m3.e4m3", [16, 8, 32], [F32, E4M3, E4M3], 400),
    mma("mma.m16n8k32.f32.e4m3.e5m2", [16, 8, 32], [F32, E4M3, E5M2], 400),
    mma("mma.m16n8k32.f32.e5m2.e4m3", [16, 8, 32], [F32, E5M2, E4M3], 400),
    mma("mma.m16n8k32.f32.e5m2.e5m2", [16, 8, 32], [F32, E5M2, E5M2], 400),
];

/// The columns of `wgmma`; of bytes, odd multiples of 8 end at 24 (PTX ISA; ptxas 13.4 refuses 40).
const WIDTHS: &[Widths] = &[Widths { from: 8, to: 256, step: 8 }];
const WIDTHS_OF_INTEGERS: &[Widths] =
    &[Widths { from: 8, to: 32, step: 8 }, Widths { from: 48, to: 256, step: 16 }];

/// `wgmma`, assembled for `sm_90a`. A multiprocessor takes 4096 operations of f16 a cycle, and those of
/// other kinds so that 32 bytes of the summed index take as long: half a cycle a column.
pub(super) const SM_90_WARPGROUP: &[MatrixMultiply] = &[
    wgmma("wgmma.m64nNk16.f32.f16.f16", 16, [F32, F16, F16], WIDTHS),
    wgmma("wgmma.m64nNk16.f16.f16.f16", 16, [F16, F16, F16], WIDTHS),
    wgmma("wgmma.m64nNk16.f32.bf16.bf16", 16, [F32, BF16, BF16], WIDTHS),
    wgmma("wgmma.m64nNk8.f32.tf32.tf32", 8, [F32, TF32, TF32], WIDTHS),
    wgmma("wgmma.m64nNk32.f32.e4m3.e4m3", 32, [F32, E4M3, E4M3], WIDTHS),
    wgmma("wgmma.m64nNk32.f32.e4m3.e5m2", 32, [F32, E4M3, E5M2], WIDTHS),
    wgmma("wgmma.m64nNk32.f32.e5m2.e4m3", 32, [F32, E5M2, E4M3], WIDTHS),
    wgmma("wgmma.m64nNk32.f32.e5m2.e5m2", 32, [F32, E5M2, E5M2], WIDTHS),
    wgmma("wgmma.m64nNk32.f16.e4m3.e4m3", 32, [F16, E4M3, E4M3], WIDTHS),
    wgmma("wgmma.m64nNk32.f16.e4m3.e5m2", 32, [F16, E4M3, E5M2], WIDTHS),
    wgmma("wgmma.m64nNk32.f16.e5m2.e4m3", 32, [F16, E5M2, E4M3], WIDTHS),
    wgmma("wgmma.m64nNk32.f16.e5m2.e5m2", 32, [F16, E5M2, E5M2], WIDTHS),
    wgmma("wgmma.m64nNk32.s32.s8.s8", 32, [S32, S8, S8], WIDTHS_OF_INTEGERS),
];

const fn mma(
    name: &'static str,
    [rows, columns, summed]: [u32; 3],
    [sum, left, right]: [Number; 3],
    price: u64,
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
        fragments: Fragments::Mma,
        transposed: false,
        architecture_specific: false,
        price,
    }
}

const fn wgmma(
    name: &'static str,
    summed: u32,
    [sum, left, right]: [Number; 3],
    widths: &'static [Widths],
) -> MatrixMultiply {
    MatrixMultiply {
        name: Cow::Borrowed(name),
        rows: 64,
        columns: 8,
        widths: Cow::Borrowed(widths),
        summed,
        left,
        right,
        sum,
        fragments: Fragments::Wgmma,
        transposed: false,
        architecture_specific: true,
        price: 400,
    }
}
