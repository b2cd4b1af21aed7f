//! `dpas`: the layouts of Intel's Triton backend.

use std::string::String;

use super::{operand, rows};

/// One instruction of 8 rows and 16 columns with `ops` elements in 32 bits.
fn dpas(ops: u32, threads: u32) -> String {
    let k = 8 * ops;
    std::format!(
        "#ttig.dpas<{{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = {ops}, \
         threadsPerWarp = {threads}, warpsPerCTA = [1, 1], repCluster = [1, 1], A = [8, {k}], \
         B = [{k}, 16], C = [8, 16]}}>"
    )
}

/// Clusters of 4 × 2 instructions.
fn clusters(threads: u32, warps: [u32; 2]) -> String {
    std::format!(
        "#ttig.dpas<{{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, \
         threadsPerWarp = {threads}, warpsPerCTA = {warps:?}, repCluster = [4, 2], A = [32, 16], \
         B = [16, 32], C = [32, 32]}}>"
    )
}

rows! {
    s1_7_dpas_c_16_threads: dpas(2, 16), [8, 16], "mn", "m1 m2 m4", "n1 n2 n4 n8", "";
    s1_7_dpas_c_32_threads: dpas(2, 32), [8, 16], "mn", "m2 m4", "n1 n2 n4 n8 m1", "";
    s1_7_dpas_8_bit_a: operand(0, &dpas(4, 32), 2), [8, 32], "mk",
        "k1 m2 m4", "k2 k4 k8 k16 m1", "";
    s1_7_dpas_16_bit_a: operand(0, &dpas(2, 32), 1), [8, 16], "mk",
        "m2 m4", "k1 k2 k4 k8 m1", "";
    s1_7_dpas_tf32_a: operand(0, &dpas(1, 32), 1), [8, 8], "mk", "m4", "k1 k2 k4 m1 m2", "";
    s1_7_dpas_8_bit_b: operand(1, &dpas(4, 32), 4), [32, 16], "kn",
        "k1 k2 k8 k16", "n1 n2 n4 n8 k4", "";
    s1_7_dpas_16_bit_b: operand(1, &dpas(2, 32), 2), [16, 16], "kn",
        "k1 k4 k8", "n1 n2 n4 n8 k2", "";
    s1_7_dpas_tf32_b: operand(1, &dpas(1, 32), 1), [8, 16], "kn",
        "k2 k4", "n1 n2 n4 n8 k1", "";

    dpas_clusters_of_c: clusters(16, [1, 1]), [32, 32], "mn",
        "m1 m2 m4 n16 m8 m16", "n1 n2 n4 n8", "";
    dpas_warps_of_c: clusters(32, [2, 2]), [64, 64], "mn",
        "m2 m4 n16 m8 m16", "n1 n2 n4 n8 m1", "n32 m32";
    dpas_warps_of_a: operand(0, &clusters(32, [2, 2]), 1), [64, 64], "mk",
        "m2 m4 m8 m16 k16 k32", "k1 k2 k4 k8 m1", ". m32";
    dpas_warps_of_b: operand(1, &clusters(32, [2, 2]), 2), [64, 64], "kn",
        "k1 k4 k8 n16 k16 k32", "n1 n2 n4 n8 k2", "n32 .";
    dpas_repetitions_of_c: clusters(16, [8, 4]), [512, 256], "mn",
        "m1 m2 m4 n16 m8 m16 n128 m256", "n1 n2 n4 n8", "n32 n64 m32 m64 m128";
    dpas_batches:
        "#ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 4, \
         fp4KPack = 2, threadsPerWarp = 16, warpsPerCTA = [2, 1, 1], repCluster = [1, 1, 1], \
         A = [1, 8, 32], B = [1, 32, 16], C = [1, 8, 16]}>", [4, 8, 16], "bmn",
        "m1 m2 m4 b2", "n1 n2 n4 n8", "b1";
}
