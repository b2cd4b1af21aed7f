//! Printers: one lane program, three texts, the same meaning.
//!
//! A printer takes a verified [`Program`] and a target, and gives the text, or the first thing that cannot be
//! expressed there. What the operations mean is written once, in [`lane`](crate::lane) and
//! [`scalar`](crate::scalar); a printer explains only how to express it in its language. Printers know
//! nothing of tiles, layouts or plans.

mod assembly;
mod comment;
mod copies;
mod past;
mod truth;
mod c;
#[cfg(test)]
mod tests;

pub mod ptx;
pub mod cuda;
pub mod hip;
pub mod launcher;

use crate::budget::Bounds;
use crate::lane::Program;
use crate::location::{Loc, Locations};
use core::fmt;
use thiserror::Error;

/// A text that a program is printed as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// PTX, the virtual instructions of NVIDIA's GPUs.
    Ptx,
    /// C++ for NVIDIA's GPUs.
    Cuda,
    /// C++ for AMD's GPUs.
    Hip,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Language::Ptx => "ptx",
            Language::Cuda => "cuda",
            Language::Hip => "hip",
        })
    }
}

/// A GPU that texts are printed for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// NVIDIA's, in PTX and CUDA.
    Nvidia(&'static ptx::Target),
    /// One of AMD's, in HIP.
    Amd(&'static hip::Target),
}

impl Target {
    /// The target with this name, such as `sm_90` or `gfx942`.
    ///
    /// ```
    /// use weft::emit::Target;
    ///
    /// assert!(matches!(Target::by_name("sm_90"), Some(Target::Nvidia(_))));
    /// assert!(matches!(Target::by_name("gfx942"), Some(Target::Amd(_))));
    /// assert_eq!(Target::by_name("gfx803"), None);
    /// ```
    pub fn by_name(name: &str) -> Option<Target> {
        let nvidia = ptx::Target::by_name(name).map(Target::Nvidia);
        nvidia.or_else(|| hip::Target::by_name(name).map(Target::Amd))
    }

    /// The name, such as `sm_90`.
    pub fn name(self) -> &'static str {
        match self {
            Target::Nvidia(target) => target.name,
            Target::Amd(target) => target.name,
        }
    }

    /// Refuses a language that the target's maker does not have.
    fn lacks(self, language: Language) -> Unsupported {
        let reason = match self {
            Target::Nvidia(_) => "NVIDIA's GPUs are programmed in ptx and cuda",
            Target::Amd(_) => "AMD's GPUs are programmed in hip",
        };
        Unsupported {
            operation: language.to_string(),
            target: self.name(),
            reason: reason.into(),
            loc: Locations::unknown(),
        }
    }
}

/// The text of a verified kernel.
pub fn print(program: &Program, language: Language, target: Target) -> Result<String, Unsupported> {
    print_within(program, language, target, &Bounds::default())
}

/// The same as far as bytes of its operations go.
pub fn print_within(
    program: &Program,
    language: Language,
    target: Target,
    bounds: &Bounds,
) -> Result<String, Unsupported> {
    match (language, target) {
        (Language::Ptx, Target::Nvidia(target)) => {
            let (registers, lines) = (ptx::Registers::Balanced, ptx::LineInfo::Omitted);
            ptx::print_within(program, target, registers, lines, bounds)
        }
        (Language::Cuda, Target::Nvidia(target)) => cuda::print_within(program, target, bounds),
        (Language::Hip, Target::Amd(target)) => hip::print_within(program, target, bounds),
        _ => Err(target.lacks(language)),
    }
}

/// The text of a verified function, which gives values to its caller; `about` stands above it as a
/// comment.
pub fn function(
    program: &Program,
    language: Language,
    target: Target,
    about: &[String],
) -> Result<String, Unsupported> {
    match (language, target) {
        (Language::Ptx, Target::Nvidia(target)) => ptx::function(program, target, about),
        (Language::Cuda, Target::Nvidia(target)) => cuda::function(program, target, about),
        (Language::Hip, Target::Amd(target)) => hip::function(program, target, about),
        _ => Err(target.lacks(language)),
    }
}

/// An operation that a printer cannot express for a target.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{target} has no `{operation}`: {reason}")]
pub struct Unsupported {
    /// The operation with its types, as the lane text spells them.
    pub operation: String,
    /// The name of the target.
    pub target: &'static str,
    /// What is missing, and what would be possible instead.
    pub reason: String,
    /// Where the operation came from.
    pub loc: Loc,
}
