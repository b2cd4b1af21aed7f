//! Which product is which machine.
//!
//! NVIDIA's are as in its list of compute capabilities (developer.nvidia.com/cuda-gpus), AMD's as in the
//! table of processors of LLVM's AMDGPU back end, and in AMD's own list of GPUs.

/// A machine's name and the names by which people know it: products, and the variant of the instruction
/// set that compilers are told (`sm_90a`).
pub(super) const PRODUCTS: [(&str, &[&str]); 11] = [
    ("sm_80", &["a100", "a30"]),
    (
        "sm_86",
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
        "sm_89",
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
    ("sm_90", &["h100", "h200", "h800", "h20", "gh200", "sm_90a"]),
    ("sm_100", &["b200", "gb200", "sm_100a"]),
    (
        "sm_120",
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
    ("gfx90a", &["mi250x", "mi250", "mi210"]),
    ("gfx942", &["mi300x", "mi300a", "mi325x"]),
    ("gfx950", &["mi355x", "mi350x"]),
    ("gfx1100", &["rx7900xtx", "rx7900xt", "w7900", "w7800"]),
    ("gfx1200", &["rx9060xt"]),
];
