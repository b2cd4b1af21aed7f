//! `mfma` and `wmma`: what AMD's matrix instruction calculator prints.

use std::string::String;

use super::{layout, operand, rows};
use crate::space::REGISTER;

fn mfma(shape: &str, transposed: bool, rest: &str) -> String {
    std::format!(
        "#ttg.amd_mfma<{{version = 3, warpsPerCTA = [1, 1], instrShape = [{shape}], \
         isTransposed = {transposed}{rest}}}>"
    )
}

fn a32(k_width: u32) -> String {
    operand(0, &mfma("32, 32, 8", false, ""), k_width)
}

fn a16(k_width: u32) -> String {
    operand(0, &mfma("16, 16, 16", false, ""), k_width)
}

fn b32(k_width: u32) -> String {
    operand(1, &mfma("32, 32, 8", false, ""), k_width)
}

fn b16(k_width: u32) -> String {
    operand(1, &mfma("16, 16, 16", true, ""), k_width)
}

fn wmma(version: u32, transposed: bool, shape: &str) -> String {
    let shape = if shape == "16, 16, 16" {
        String::new()
    } else {
        std::format!(", instrShape = [{shape}]")
    };
    std::format!(
        "#ttg.amd_wmma<{{version = {version}, isTranspose = {transposed}, ctaLayout = {{}}{shape}}}>"
    )
}

rows! {
    s1_7_mfma_32x32_d: mfma("32, 32, 8", false, ""), [32, 32], "mn",
        "m1 m2 m8 m16", "n1 n2 n4 n8 n16 m4", "";
    mfma_32x32_transposed_d: mfma("32, 32, 8", true, ""), [32, 32], "mn",
        "n1 n2 n8 n16", "m1 m2 m4 m8 m16 n4", "";
    mfma_16x16_d: mfma("16, 16, 16", false, ""), [16, 16], "mn",
        "m1 m2", "n1 n2 n4 n8 m4 m8", "";
    mfma_16x16x4_f64_d: mfma("16, 16, 4", false, ", elementBitWidth = 64"), [16, 16], "mn",
        "m4 m8", "n1 n2 n4 n8 m1 m2", "";
    mfma_4x64_d: mfma("4, 64, 4", false, ""), [4, 64], "mn",
        "m1 m2", "n1 n2 n4 n8 n16 n32", "";
    mfma_64x4_d: mfma("64, 4, 4", true, ""), [64, 4], "mn",
        "n1 n2", "m1 m2 m4 m8 m16 m32", "";
    mfma_4x64_transposed_d: mfma("4, 64, 4", true, ""), [4, 64], "mn",
        "n1 n2", "m1 m2 n4 n8 n16 n32", "";

    mfma_32x32x2_f32_a: a32(1), [32, 2], "mk", "", "m1 m2 m4 m8 m16 k1", "";
    mfma_16x16x4_f32_a: a16(1), [16, 4], "mk", "", "m1 m2 m4 m8 k1 k2", "";
    mfma_32x32x4_xf32_a: a32(2), [32, 4], "mk", "k1", "m1 m2 m4 m8 m16 k2", "";
    mfma_16x16x8_xf32_a: a16(2), [16, 8], "mk", "k1", "m1 m2 m4 m8 k2 k4", "";
    mfma_32x32x8_f16_a: a32(4), [32, 8], "mk", "k1 k2", "m1 m2 m4 m8 m16 k4", "";
    mfma_16x16x16_f16_a: a16(4), [16, 16], "mk", "k1 k2", "m1 m2 m4 m8 k4 k8", "";
    mfma_32x32x8_f16_b: b32(4), [8, 32], "kn", "k1 k2", "n1 n2 n4 n8 n16 k4", "";
    mfma_16x16x16_f16_b: b16(4), [16, 16], "kn", "k1 k2", "n1 n2 n4 n8 k4 k8", "";
    mfma_32x32x16_fp8_a: a32(8), [32, 16], "mk", "k1 k2 k4", "m1 m2 m4 m8 m16 k8", "";
    mfma_16x16x32_fp8_a: a16(8), [16, 32], "mk", "k1 k2 k4", "m1 m2 m4 m8 k8 k16", "";
    mfma_32x32x32_i8_a: a32(16), [32, 32], "mk", "k1 k2 k4 k8", "m1 m2 m4 m8 m16 k16", "";
    mfma_16x16x64_i8_a: a16(16), [16, 64], "mk", "k1 k2 k4 k8", "m1 m2 m4 m8 k16 k32", "";
    mfma_32x32x64_fp4_a: a32(32), [32, 64], "mk",
        "k1 k2 k4 k8 k16", "m1 m2 m4 m8 m16 k32", "";
    mfma_32x32x64_fp8_a: a32(16), [32, 64], "mk",
        "k1 k2 k4 k8 k32", "m1 m2 m4 m8 m16 k16", "";
    mfma_16x16x128_fp4_a: a16(32), [16, 128], "mk",
        "k1 k2 k4 k8 k16", "m1 m2 m4 m8 k32 k64", "";
    mfma_16x16x128_fp8_a: a16(16), [16, 128], "mk",
        "k1 k2 k4 k8 k64", "m1 m2 m4 m8 k16 k32", "";
    mfma_4x64_b_holds_the_whole_sum: operand(1, &mfma("4, 64, 4", false, ""), 4), [64, 64], "kn",
        "k1 k2 k4 k8 k16 k32", "n1 n2 n4 n8 n16 n32", "";
    mfma_4x64_a: operand(0, &mfma("4, 64, 4", false, ""), 4), [4, 64], "mk",
        "k1 k2", "m1 m2 k4 k8 k16 k32", "";

    s1_7_wmma_gfx11_a: operand(0, &wmma(1, false, "16, 16, 16"), 16), [16, 16], "mk",
        "k1 k2 k4 k8", "m1 m2 m4 m8 .", "";
    wmma_gfx11_b: operand(1, &wmma(1, false, "16, 16, 16"), 16), [16, 16], "kn",
        "k1 k2 k4 k8", "n1 n2 n4 n8 .", "";
    wmma_gfx11_d: wmma(1, false, "16, 16, 16"), [16, 16], "mn",
        "m2 m4 m8", "n1 n2 n4 n8 m1", "";
    wmma_gfx11_transposed_d: wmma(1, true, "16, 16, 16"), [16, 16], "mn",
        "n2 n4 n8", "m1 m2 m4 m8 n1", "";
    wmma_gfx12_f16_a: operand(0, &wmma(2, false, "16, 16, 16"), 4), [16, 16], "mk",
        "k1 k2 k8", "m1 m2 m4 m8 k4", "";
    wmma_gfx12_fp8_a: operand(0, &wmma(2, false, "16, 16, 16"), 8), [16, 16], "mk",
        "k1 k2 k4", "m1 m2 m4 m8 k8", "";
    wmma_gfx12_iu4_a: operand(0, &wmma(2, false, "16, 16, 32"), 16), [16, 32], "mk",
        "k1 k2 k4 k8", "m1 m2 m4 m8 k16", "";
    wmma_gfx12_d: wmma(2, false, "16, 16, 16"), [16, 16], "mn",
        "m1 m2 m4", "n1 n2 n4 n8 m8", "";
    wmma_gfx1250_f16_a: operand(0, &wmma(3, false, "16, 16, 32"), 8), [16, 32], "mk",
        "k1 k2 k4 k16", "m1 m2 m4 m8 k8", "";
    wmma_gfx1250_8_bit_a: operand(0, &wmma(3, false, "16, 16, 64"), 8), [16, 64], "mk",
        "k1 k2 k4 k16 k32", "m1 m2 m4 m8 k8", "";
    wmma_gfx1250_f8f6f4_a: operand(0, &wmma(3, false, "16, 16, 128"), 16), [16, 128], "mk",
        "k1 k2 k4 k8 k32 k64", "m1 m2 m4 m8 k16", "";
    wmma_gfx1250_f32_a: operand(0, &wmma(3, false, "16, 16, 4"), 2), [16, 4], "mk",
        "k1", "m1 m2 m4 m8 k2", "";
    wmma_gfx1250_d: wmma(3, false, "16, 16, 32"), [16, 16], "mn",
        "m1 m2 m4", "n1 n2 n4 n8 m8", "";
    wmma_gfx1250_32x16_d: wmma(3, false, "32, 16, 128"), [32, 16], "mn",
        "m1 m2 m4 m16", "n1 n2 n4 n8 m8", "";
    wmma_gfx1250_32x16_transposed_d: wmma(3, true, "32, 16, 128"), [16, 32], "mn",
        "n1 n2 n4 n16", "m1 m2 m4 m8 n8", "";
    wmma_gfx1250_32x16_a: operand(0, &wmma(3, false, "32, 16, 128"), 16), [32, 128], "mk",
        "k1 k2 k4 k8 k32 k64 m16", "m1 m2 m4 m8 k16", "";
    wmma_gfx1250_32x16_transposed_a: operand(0, &wmma(3, true, "32, 16, 128"), 16), [32, 128], "mk",
        "k1 k2 k4 k8 k32 k64 m16", "m1 m2 m4 m8 k16", "";

    mfma_tiles_of_a_warp_lie_together:
        "#ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [16, 16, 32], \
         isTransposed = true, tilesPerWarp = [2, 2]}>", [128, 128], "mn",
        "n1 n2 n16 n64 m16 m64", "m1 m2 m4 m8 n4 n8", "n32 m32";
    wmma_tiles_of_a_warp_are_bases:
        "#ttg.amd_wmma<{version = 2, isTranspose = false, \
         ctaLayout = {register = [[1, 0]], warp = [[0, 1], [2, 0]]}}>", [64, 64], "mn",
        "m1 m2 m4 m16 n32", "n1 n2 n4 n8 m8", "n16 m32";
    wmma_operands_forget_tiles_of_the_other_one:
        operand(1, "#ttg.amd_wmma<{version = 2, isTranspose = false, \
         ctaLayout = {register = [[1, 0]], warp = [[0, 1], [2, 0]]}}>", 8), [16, 64], "kn",
        "k1 k2 k4 n32", "n1 n2 n4 n8 k8", "n16 .";
    wmma_bases_may_be_swizzled:
        "#ttg.amd_wmma<{version = 2, isTranspose = false, \
         ctaLayout = {register = [[0, 1]], warp = [[1, 0]]}}>", [32, 32], "mn",
        "m1 m2 m4 n16", "n1 n2 n4 n8 m8", "m16";
}

#[test]
fn s4_12_blocks_cut_operands_of_mfma_along_the_sum_but_not_of_mma() {
    let mfma = operand(0, &mfma("16, 16, 16", false, ", CGALayout = [[0, 1]]"), 4);
    let mma = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], \
               CGALayout = [[0, 1]], instrShape = [16, 8]}>";
    let [mfma, mma] = [mfma, operand(0, mma, 2)].map(|operand| layout(&operand, &[16, 32]));
    assert_eq!(mfma.bases()[3].1, [[0, 16]]);
    assert_eq!(mma.bases()[3].1, [[0, 0]]);
    // The registers that lie in the other block's part hold copies.
    assert_eq!(mfma.columns(REGISTER), [1, 2, 0]);
}
