//! Why a kernel could not be compiled.

use super::MOST_STAGES;
use crate::assign::AssignError;
use crate::budget::Overrun;
use crate::tile::Kernel;

/// Why a kernel could not be compiled.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CompileError {
    /// The number of warps is no power of two, or more than a block may have.
    #[error("a block of {warps} warps: {machine} takes a power of two up to {most}")]
    Warps {
        /// What was asked for.
        warps: u32,
        /// The name of the machine.
        machine: String,
        /// The most it takes.
        most: u32,
    },
    /// There are no pipelines of so many stages.
    #[error("software pipelines have 1 to {MOST_STAGES} stages, not {0}; 1 is none")]
    Stages(u32),
    /// The text was made for other blocks.
    #[error("the text is for blocks of {given} warps (`ttg.num-warps`), not of {asked}")]
    GivenWarps {
        /// What the text says.
        given: u32,
        /// What was asked for.
        asked: u32,
    },
    /// The text was made for other warps.
    #[error(
        "the text is for warps of {given} lanes (`ttg.threads-per-warp`), {machine} has {lanes}"
    )]
    GivenLanes {
        /// What the text says.
        given: u32,
        /// The name of the machine.
        machine: String,
        /// The lanes of its warps.
        lanes: u32,
    },
    /// The kernel needs more shared memory than a block may have.
    #[error(
        "`{kernel}` needs {needed} bytes of shared memory, a block of {machine} may have {limit}"
    )]
    SharedMemory {
        /// The name of the kernel.
        kernel: String,
        /// What it needs, in bytes.
        needed: u64,
        /// The name of the machine.
        machine: String,
        /// What there is, in bytes.
        limit: u64,
    },
    /// There is no such pass.
    #[error("there is no pass `{name}`; there are {known}")]
    NoSuchPass {
        /// What was asked for.
        name: String,
        /// The names, with commas.
        known: String,
    },
    /// No layout could be found.
    #[error("no layout could be found in `{kernel}`: {cause}")]
    Assign {
        /// The name of the kernel.
        kernel: String,
        /// What the layout engine said.
        cause: AssignError,
    },
    /// It takes more work than is allowed, or nobody wants it any more.
    #[error(transparent)]
    Overrun(#[from] Overrun),
    /// A pass left a program that breaks the rules: a defect of this compiler, never of its input.
    #[error("after `{pass}` the program of `{kernel}` breaks a rule: {broken} (a defect of weft)")]
    Broken {
        /// The name of the kernel.
        kernel: String,
        /// The name of the pass, as [`PASSES`](crate::simplify::PASSES) has it.
        pass: &'static str,
        /// The first broken rule.
        broken: String,
    },
}

impl CompileError {
    /// There are no homes, or no program with them.
    pub(super) fn refused(kernel: &Kernel, cause: AssignError) -> Self {
        match cause {
            AssignError::Overrun(overrun) => CompileError::Overrun(overrun),
            cause => CompileError::Assign { kernel: kernel.name.clone(), cause },
        }
    }
}
