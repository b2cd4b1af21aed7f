//! CUDA C++ for NVIDIA GPUs, from `sm_80` on, as nvcc compiles it.
//!
//! # Unsupported
//!
//! * Warps of another size than 32 lanes, blocks of more than 1024 threads, a fourth grid axis.
//! * Atomics narrower than 32 bits, except the sum of f16, the sum of bf16 from `sm_90` on, and the
//!   compare-and-swap of 16 bits.
//! * Stores of matrices before `sm_90`, and moves of matrices of bytes but for `sm_100a`.
//! * Products of a warpgroup but for `sm_90a`, which a text for `sm_90` that has them asks for.
//! * Eviction priorities of loads and stores: left out, being hints.
//!
//! # Meaning
//!
//! As [`ptx`](super::ptx) says: the same rounding, the same approximations, by the same instructions.
//! Beyond PTX there are the exponentials and logarithms of f64 and the remainder of floats, from CUDA's
//! library. The text holds its meaning under nvcc's own flags, with or without `-fmad=false`; the flag
//! `--use_fast_math` would flush subnormals.

use super::Unsupported;
use super::c::{self, Dialect};
use super::ptx::Target;
use crate::budget::Bounds;
use crate::lane::Program;

/// The text of a kernel for a target.
///
/// It takes the program's parameters in order, and is launched with `32 * warps` threads along x and
/// [`Program::shared_bytes`] of dynamic shared memory. Its symbol is [`symbol`] of the program's name.
///
/// ```
/// use weft::emit::{cuda, ptx::Target};
///
/// let program = weft::lane::Builder::new("nothing", 4, 5).finish();
/// let text = cuda::print(&program, Target::by_name("sm_90").unwrap())?;
/// assert!(text.contains("__global__ void __launch_bounds__(128) nothing_kernel()"));
/// # Ok::<(), weft::emit::Unsupported>(())
/// ```
pub fn print(program: &Program, target: &'static Target) -> Result<String, Unsupported> {
    print_within(program, target, &Bounds::default())
}

/// The same as far as bytes of its operations go.
pub fn print_within(
    program: &Program,
    target: &'static Target,
    bounds: &Bounds,
) -> Result<String, Unsupported> {
    c::kernel(program, Dialect::Cuda(target), bounds)
}

/// The text of a device function whose parameters and results are registers of one tensor each:
/// `__device__ void NAME(const T (&from)[N], T (&to)[M], void* scratch)`. The pointer is there where the
/// program has shared memory, and points to [`Program::shared_bytes`] of it. `about` stands above the
/// function as a comment.
pub fn function(
    program: &Program,
    target: &'static Target,
    about: &[String],
) -> Result<String, Unsupported> {
    c::function(program, Dialect::Cuda(target), about)
}

/// The name of a kernel in its text: the program's, with what C++ does not allow replaced, and with
/// `_kernel` at its end, so that it is not that of a function of C's library.
pub fn symbol(name: &str) -> String {
    c::kernel_symbol(name)
}
