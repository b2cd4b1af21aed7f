//! `mma.sync` and `wgmma`: the fragments of the PTX manual.
//!
//! A tile of Triton's sums 8 · kWidth elements (4 · kWidth where an instruction has 8 rows).
//! For an instruction that sums half of that, its last register holds a copy, written `.`.

use std::string::String;

use super::{operand, rows};

fn mma(rows: u32, warps: [u32; 2]) -> String {
    std::format!(
        "#ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = {warps:?}, \
         instrShape = [{rows}, 8]}}>"
    )
}

fn a(k_width: u32) -> String {
    operand(0, &mma(16, [1, 1]), k_width)
}

fn b(k_width: u32) -> String {
    operand(1, &mma(16, [1, 1]), k_width)
}

fn a8(k_width: u32) -> String {
    operand(0, &mma(8, [1, 1]), k_width)
}

fn b8(k_width: u32) -> String {
    operand(1, &mma(8, [1, 1]), k_width)
}

fn wgmma(columns: u32, k: u32, warps: [u32; 2]) -> String {
    std::format!(
        "#ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = {warps:?}, \
         instrShape = [16, {columns}, {k}]}}>"
    )
}

fn wgmma_a(k: u32, k_width: u32) -> String {
    operand(0, &wgmma(64, k, [4, 1]), k_width)
}

rows! {
    s1_8_m8n8k4_f64_a: a8(1), [8, 4], "mk", "", "k1 k2 m1 m2 m4", "";
    s1_8_m8n8k4_f64_b: b8(1), [4, 8], "kn", "", "k1 k2 n1 n2 n4", "";
    s1_8_m8n8k4_f64_c: mma(8, [1, 1]), [8, 8], "mn", "n1", "n2 n4 m1 m2 m4", "";
    s1_8_m16n8k4_f64_a: a(1), [16, 4], "mk", "m8 .", "k1 k2 m1 m2 m4", "";
    s1_8_m16n8k4_f64_b: b(1), [4, 8], "kn", ".", "k1 k2 n1 n2 n4", "";
    s1_8_m16n8k8_f64_a: a(1), [16, 8], "mk", "m8 k4", "k1 k2 m1 m2 m4", "";
    s1_8_m16n8k8_f64_b: b(1), [8, 8], "kn", "k4", "k1 k2 n1 n2 n4", "";
    s1_8_m16n8k16_f64_a: a(1), [16, 16], "mk", "m8 k4 k8", "k1 k2 m1 m2 m4", "";
    s1_8_m16n8k16_f64_b: b(1), [16, 8], "kn", "k4 k8", "k1 k2 n1 n2 n4", "";
    s1_8_m16n8k4_tf32_a: a(1), [16, 4], "mk", "m8 .", "k1 k2 m1 m2 m4", "";
    s1_8_m16n8k8_tf32_a: a(1), [16, 8], "mk", "m8 k4", "k1 k2 m1 m2 m4", "";
    s1_8_m16n8k8_tf32_b: b(1), [8, 8], "kn", "k4", "k1 k2 n1 n2 n4", "";
    s1_8_m16n8k8_f16_a: a(2), [16, 8], "mk", "k1 m8 .", "k2 k4 m1 m2 m4", "";
    s1_8_m16n8k8_f16_b: b(2), [8, 8], "kn", "k1 .", "k2 k4 n1 n2 n4", "";
    s1_8_m16n8k16_f16_a: a(2), [16, 16], "mk", "k1 m8 k8", "k2 k4 m1 m2 m4", "";
    s1_8_m16n8k16_f16_b: b(2), [16, 8], "kn", "k1 k8", "k2 k4 n1 n2 n4", "";
    s1_8_m16n8_c: mma(16, [1, 1]), [16, 8], "mn", "n1 m8", "n2 n4 m1 m2 m4", "";
    s1_8_m8n8k16_s8_a: a8(4), [8, 16], "mk", "k1 k2", "k4 k8 m1 m2 m4", "";
    s1_8_m8n8k16_s8_b: b8(4), [16, 8], "kn", "k1 k2", "k4 k8 n1 n2 n4", "";
    s1_8_m16n8k16_s8_a: a(4), [16, 16], "mk", "k1 k2 m8 .", "k4 k8 m1 m2 m4", "";
    s1_8_m16n8k16_s8_b: b(4), [16, 8], "kn", "k1 k2 .", "k4 k8 n1 n2 n4", "";
    s1_8_m16n8k32_fp8_a: a(4), [16, 32], "mk", "k1 k2 m8 k16", "k4 k8 m1 m2 m4", "";
    s1_8_m16n8k32_fp8_b: b(4), [32, 8], "kn", "k1 k2 k16", "k4 k8 n1 n2 n4", "";
    s1_8_m8n8k32_s4_a: a8(8), [8, 32], "mk", "k1 k2 k4", "k8 k16 m1 m2 m4", "";
    s1_8_m16n8k32_s4_a: a(8), [16, 32], "mk", "k1 k2 k4 m8 .", "k8 k16 m1 m2 m4", "";
    s1_8_m16n8k32_s4_b: b(8), [32, 8], "kn", "k1 k2 k4 .", "k8 k16 n1 n2 n4", "";
    s1_8_m16n8k64_e2m1_a: a(8), [16, 64], "mk", "k1 k2 k4 m8 k32", "k8 k16 m1 m2 m4", "";
    s1_8_m16n8k64_e2m1_b: b(8), [64, 8], "kn", "k1 k2 k4 k32", "k8 k16 n1 n2 n4", "";
    s1_8_m16n8k256_b1_a: a(32), [16, 256], "mk",
        "k1 k2 k4 k8 k16 m8 k128", "k32 k64 m1 m2 m4", "";
    s1_8_m16n8k256_b1_b: b(32), [256, 8], "kn",
        "k1 k2 k4 k8 k16 k128", "k32 k64 n1 n2 n4", "";

    mma_warps_walk_columns_first: mma(16, [2, 2]), [64, 64], "mn",
        "n1 m8 n16 n32 m32", "n2 n4 m1 m2 m4", "n8 m16";
    mma_warps_hold_copies_of_a: operand(0, &mma(16, [2, 2]), 2), [64, 16], "mk",
        "k1 m8 k8 m32", "k2 k4 m1 m2 m4", ". m16";
    mma_warps_hold_copies_of_b: operand(1, &mma(16, [2, 2]), 2), [16, 64], "kn",
        "k1 k8 n16 n32", "k2 k4 n1 n2 n4", "n8 .";
    mma_small_tensors_leave_copies: mma(16, [1, 2]), [2, 32], "mn",
        "n1 . n16", "n2 n4 m1 . .", "n8";

    s1_8_wgmma_m64n256_d: wgmma(256, 16, [4, 1]), [64, 256], "mn",
        "n1 m8 n8 n16 n32 n64 n128", "n2 n4 m1 m2 m4", "m16 m32";
    s1_8_wgmma_m64n8_d: wgmma(8, 16, [4, 1]), [64, 8], "mn",
        "n1 m8", "n2 n4 m1 m2 m4", "m16 m32";
    s1_8_wgmma_k16_f16_a: wgmma_a(16, 2), [64, 16], "mk",
        "k1 m8 k8", "k2 k4 m1 m2 m4", "m16 m32";
    s1_8_wgmma_k8_tf32_a: wgmma_a(8, 1), [64, 8], "mk",
        "m8 k4", "k1 k2 m1 m2 m4", "m16 m32";
    s1_8_wgmma_k32_fp8_a: wgmma_a(32, 4), [64, 32], "mk",
        "k1 k2 m8 k16", "k4 k8 m1 m2 m4", "m16 m32";
    s1_8_wgmma_k256_b1_a: wgmma_a(256, 32), [64, 256], "mk",
        "k1 k2 k4 k8 k16 m8 k128", "k32 k64 m1 m2 m4", "m16 m32";
    wgmma_warpgroups_walk_rows_then_columns: wgmma(64, 16, [8, 2]), [256, 128], "mn",
        "n1 m8 n8 n16 n32 m128", "n2 n4 m1 m2 m4", "m16 m32 m64 n64";
}
