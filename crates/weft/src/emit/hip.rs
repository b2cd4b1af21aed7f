//! HIP C++ for AMD GPUs, as clang compiles it without any header.
//!
//! # Unsupported
//!
//! * Waves of another size than 64 lanes, blocks of more than 1024 threads, a fourth grid axis.
//! * `exp`, `exp2`, `log`, `log2` of f64, and the remainder of floats: they are in a library, and
//!   the text stands without it.
//! * Atomics narrower than 32 bits, except the sums of f16 and bf16 and the compare-and-swap of 16
//!   bits.
//! * Moves of matrices, and products of a warpgroup: a wave has no such instructions.
//! * Eviction priorities and cache operators but `cs` (non-temporal) and `cv` (volatile): left out,
//!   being hints.
//!
//! # Meaning
//!
//! As [`ptx`](super::ptx) says, with these differences: `sqrt`, `rsqrt` and `div` of f32 are correctly
//! rounded in each step; `exp`, `exp2`, `log` and `log2` of f32 are what the compiler makes of
//! `v_exp_f32` and `v_log_f32`, within a few units in the last place, subnormals kept. The text switches
//! the fusing of products into sums off.
//!
//! # Lanes
//!
//! An exchange within four lanes or across a row's mirror is a move on the way to the next operation
//! (DPP), within 32 lanes a `ds_swizzle`, else a `ds_bpermute`. The lanes of a wave run together, so a
//! barrier of a warp only orders memory.

use super::Unsupported;
use super::c::{self, Dialect};
use crate::budget::Bounds;
use crate::lane::Program;

/// A GPU as `--offload-arch` names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The name.
    pub name: &'static str,
}

impl Target {
    /// Every target, oldest first.
    pub const ALL: &'static [Target] = &[Target { name: "gfx90a" }, Target { name: "gfx942" }];

    /// The target with this name, such as `gfx942`.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        Target::ALL.iter().find(|target| target.name == name)
    }
}

/// The text of a kernel for a target.
///
/// It takes the program's parameters in order, and is launched with `64 * warps` threads along x and
/// [`Program::shared_bytes`] of dynamic shared memory. Its symbol is
/// [`cuda::symbol`](super::cuda::symbol) of the program's name.
///
/// ```
/// use weft::emit::hip::{Target, print};
///
/// let program = weft::lane::Builder::new("nothing", 4, 6).finish();
/// let text = print(&program, Target::by_name("gfx942").unwrap())?;
/// assert!(text.contains("amdgpu_flat_work_group_size(256, 256)"));
/// # Ok::<(), weft::emit::Unsupported>(())
/// ```
pub fn print(program: &Program, target: &Target) -> Result<String, Unsupported> {
    print_within(program, target, &Bounds::default())
}

/// The same as far as bytes of its operations go.
pub fn print_within(
    program: &Program,
    target: &Target,
    bounds: &Bounds,
) -> Result<String, Unsupported> {
    c::kernel(program, Dialect::Hip(target.name), bounds)
}

/// The text of a device function, as [`cuda::function`](super::cuda::function).
pub fn function(
    program: &Program,
    target: &Target,
    about: &[String],
) -> Result<String, Unsupported> {
    c::function(program, Dialect::Hip(target.name), about)
}
