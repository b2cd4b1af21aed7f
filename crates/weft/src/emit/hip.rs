//! HIP C++ for AMD GPUs, as clang compiles it without any header.
//!
//! # Unsupported
//!
//! * Waves of another size than the target's (64 lanes of CDNA, 32 of RDNA), blocks of more than 1024 threads, a fourth grid axis.
//! * `exp`, `exp2`, `log`, `log2` of f64, and the remainder of floats: they are in a library, and
//!   the text stands without it.
//! * Atomics narrower than 32 bits, except the sums of f16 and bf16 and the compare-and-swap of 16
//!   bits.
//! * Moves of matrices, products of a warpgroup, and matrix instructions that the target does not have.
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
//! # Bounds
//!
//! A predicated load or store by a base and an offset ([`Op::Offset`](crate::lane::Op::Offset)) goes through a buffer
//! resource, a descriptor of 16 bytes: the base, 2^31 bytes, and a last word that says how bounds are taken. Where the
//! predicate does not hold the offset is 2^31, which is out of bounds: the load gives zero, the store does nothing, and
//! no branch is needed. Other predicated accesses are branches around plain ones, and so are volatile ones.
//!
//! # Lanes
//!
//! An exchange within a row of 16 lanes is one move or two on the way to the next operation
//! (DPP), within 32 lanes a `ds_swizzle`, else a `ds_bpermute`. The lanes of a wave run together, so a
//! barrier of a warp only orders memory.

use super::Unsupported;
use super::c::{self, Dialect};
use crate::budget::Bounds;
use crate::dtype::DType;
use crate::lane::{Fragments, MatrixMultiply, Program};

/// A GPU as `--offload-arch` names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The name, such as `gfx942`.
    pub name: &'static str,
    /// The logarithm of the lanes of a wave.
    pub lanes_log2: u32,
    /// The instruction set, which decides what may be printed.
    pub generation: Generation,
}

/// A builtin of clang for a matrix instruction.
pub(in crate::emit) struct Builtin {
    pub(in crate::emit) name: String,
    /// Whether it is older than the type bf16, and takes shorts for such numbers.
    pub(in crate::emit) takes_shorts: bool,
}

/// AMD's instruction sets, as far as they differ here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Generation {
    /// CDNA 2, of the MI200 series.
    Cdna2,
    /// CDNA 3, of the MI300 series.
    Cdna3,
    /// CDNA 4, of the MI350 series.
    Cdna4,
    /// RDNA 3: RX 7000.
    Rdna3,
    /// RDNA 4: RX 9000.
    Rdna4,
}

impl Generation {
    /// Whether it is one of RDNA's.
    pub(in crate::emit) fn is_rdna(self) -> bool {
        matches!(self, Generation::Rdna3 | Generation::Rdna4)
    }

    /// The cache bits by which a buffer instruction says that its data is not needed again: those that clang sets
    /// for a non-temporal access of global memory. They are `glc`, `slc` and `dlc`, `nt`, and the temporal hint `NT`.
    pub(in crate::emit) fn non_temporal(self, loads: bool) -> u32 {
        match self {
            Generation::Cdna2 => 0b11,
            Generation::Cdna3 | Generation::Cdna4 => 0b10,
            Generation::Rdna3 if loads => 0b110,
            Generation::Rdna3 => 0b111,
            Generation::Rdna4 => 1,
        }
    }
}

impl Target {
    /// Every target, CDNA before RDNA, oldest first.
    pub const ALL: &'static [Target] = &[
        Target { name: "gfx90a", lanes_log2: 6, generation: Generation::Cdna2 },
        Target { name: "gfx942", lanes_log2: 6, generation: Generation::Cdna3 },
        Target { name: "gfx950", lanes_log2: 6, generation: Generation::Cdna4 },
        Target { name: "gfx1100", lanes_log2: 5, generation: Generation::Rdna3 },
        Target { name: "gfx1200", lanes_log2: 5, generation: Generation::Rdna4 },
    ];

    /// The target with this name, such as `gfx942`.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        Target::ALL.iter().find(|target| target.name == name)
    }

    /// Whether it has a matrix instruction: LLVM's `BuiltinsAMDGPU` names the features that each needs.
    fn has(&self, multiply: MatrixMultiply) -> bool {
        use Generation::{Cdna2, Cdna3, Cdna4, Rdna3, Rdna4};
        let bits = multiply.left.bits();
        let without_zero = matches!(multiply.left, DType::F8E4M3FNUZ | DType::F8E5M2FNUZ);
        let [in_lane, ..] = multiply.numbers();
        match (multiply.fragments, self.generation) {
            (Fragments::Mma, _) => false,
            (Fragments::Mfma, Cdna2) => bits >= 16 && in_lane <= 4 || bits == 8 && in_lane == 4,
            (Fragments::Mfma, Cdna3) => {
                bits >= 16 && in_lane <= 4
                    || bits == 8 && in_lane == 8 && (multiply.left == DType::I8 || without_zero)
            }
            (Fragments::Mfma, Cdna4) => bits >= 16 || in_lane >= 8 && !without_zero,
            (Fragments::WmmaGfx11, Rdna3) | (Fragments::WmmaGfx12, Rdna4) => true,
            _ => false,
        }
    }

    /// Whether it multiplies matrices of numbers with scales.
    pub(in crate::emit) fn multiplies_scaled(&self) -> bool {
        self.generation == Generation::Cdna4
    }

    /// The builtin of clang for a matrix instruction, if the target has it.
    pub(in crate::emit) fn builtin(&self, multiply: MatrixMultiply) -> Option<Builtin> {
        let MatrixMultiply { fragments, rows, columns, summed, left, right, sum } = multiply;
        if !self.has(multiply) {
            return None;
        }
        let [in_lane, ..] = multiply.numbers();
        let shape = format!("{rows}x{columns}x{summed}");
        let sum = if sum == DType::I32 { "i32".into() } else { sum.to_string() };
        let eighth = |dtype: DType| match dtype {
            DType::F8E4M3FN | DType::F8E4M3FNUZ => "fp8",
            _ => "bf8",
        };
        // Names of factors' types changed with the generations.
        let factors = match (fragments, left) {
            (Fragments::Mfma, DType::BF16) if in_lane == 4 => "bf16_1k".into(),
            (Fragments::Mfma, DType::I8) if in_lane == 4 => "i8".into(),
            (Fragments::Mfma, DType::I8) => "_i8".into(),
            (_, DType::I8) => "_iu8".into(),
            (Fragments::Mfma, DType::F16 | DType::F32 | DType::F64) if in_lane <= 4 => {
                left.to_string()
            }
            (_, left) if left.is_f8() => format!("_{}_{}", eighth(left), eighth(right)),
            _ => format!("_{left}"),
        };
        let (family, ending, takes_shorts) = match fragments {
            Fragments::Mma => return None,
            Fragments::Mfma => ("mfma", "", in_lane == 4),
            Fragments::WmmaGfx11 => ("wmma", "_w32", true),
            Fragments::WmmaGfx12 => ("wmma", "_w32_gfx12", true),
        };
        let name = format!("__builtin_amdgcn_{family}_{sum}_{shape}{factors}{ending}");
        Some(Builtin { name, takes_shorts })
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
pub fn print(program: &Program, target: &'static Target) -> Result<String, Unsupported> {
    print_within(program, target, &Bounds::default())
}

/// The same as far as bytes of its operations go.
pub fn print_within(
    program: &Program,
    target: &'static Target,
    bounds: &Bounds,
) -> Result<String, Unsupported> {
    c::kernel(program, Dialect::Hip(target), bounds)
}

/// The text of a device function, as [`cuda::function`](super::cuda::function).
pub fn function(
    program: &Program,
    target: &'static Target,
    about: &[String],
) -> Result<String, Unsupported> {
    c::function(program, Dialect::Hip(target), about)
}
