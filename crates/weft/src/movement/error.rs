//! What does not fit between a plan, its inputs and the program that it is written into.

use super::Movement;
use crate::lane::Builder;
use thiserror::Error;
use weft_layout::step::File;

/// Why a plan cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Misfit {
    /// The plan is for another block.
    #[error(
        "the plan is for {warps} warps of {lanes} lanes, and the program's block has {own_warps} of \
         {own_lanes}"
    )]
    Block {
        /// The warps that the plan is for.
        warps: u64,
        /// The lanes of each.
        lanes: u64,
        /// The warps of the program's block.
        own_warps: u64,
        /// The lanes of each.
        own_lanes: u64,
    },
    /// The values given are not as many as the plan's inputs.
    #[error("the plan moves {expected} tensors at once, and {found} were given")]
    Inputs {
        /// The plan's input files.
        expected: usize,
        /// How many values were given.
        found: usize,
    },
    /// An input has another number of registers than its file.
    #[error("{file} has {expected} registers, and {found} values were given")]
    Registers {
        /// The file that is an input of the plan.
        file: File,
        /// How many registers the file has.
        expected: u32,
        /// How many values were given for it.
        found: usize,
    },
    /// An input has values of another width than its file.
    #[error("{file} has registers of {expected} bits, and a value of {found} bits was given")]
    Width {
        /// The file that is an input of the plan.
        file: File,
        /// The bits of its registers.
        expected: u32,
        /// Of a value given.
        found: u32,
    },
    /// Scratch memory is larger than an address in it.
    #[error("the plan takes {0} bytes of scratch memory: an address in it has 31 bits")]
    Scratch(u64),
    /// A step names a file that the plan does not have.
    #[error("a step names {0}, which the plan does not have")]
    NoSuchFile(File),
    /// A step reads a register that its file does not have.
    #[error("a step names register {register} of {file}, which has fewer")]
    NoSuchRegister {
        /// The file that is read.
        file: File,
        /// The number of the register that it does not have.
        register: u32,
    },
    /// A step accesses scratch memory in a plan that has none.
    #[error("a step accesses scratch memory, and the plan has none")]
    NoScratch,
}

/// Checks a plan against the block that it is written into, and its inputs against its files.
pub(super) fn check(build: &Builder, movement: &Movement<'_>) -> Result<(), Misfit> {
    let Movement { plan, inputs, .. } = movement;
    let program = build.program();
    let count = |bits: u32| 1u64.checked_shl(bits).unwrap_or(u64::MAX);
    let (warps, lanes) = (count(plan.warp_bits), count(plan.lane_bits));
    let (own_warps, own_lanes) = (u64::from(program.warps), count(program.lanes_log2));
    if (warps, lanes) != (own_warps, own_lanes) {
        return Err(Misfit::Block { warps, lanes, own_warps, own_lanes });
    }
    if plan.inputs.len() != inputs.len() {
        return Err(Misfit::Inputs { expected: plan.inputs.len(), found: inputs.len() });
    }
    if plan.scratch_bytes > i32::MAX as u64 {
        return Err(Misfit::Scratch(plan.scratch_bytes));
    }
    if let Some(&file) =
        plan.inputs.iter().chain(&plan.outputs).find(|file| file.index() >= plan.files.len())
    {
        return Err(Misfit::NoSuchFile(file));
    }
    for (&file, values) in plan.inputs.iter().zip(inputs) {
        let ty = plan.file(file);
        if values.len() != ty.registers as usize {
            return Err(Misfit::Registers { file, expected: ty.registers, found: values.len() });
        }
        let widths = values.iter().map(|&value| build.dtype(value).bytes() * 8);
        if let Some(found) = widths.into_iter().find(|&found| found != ty.element_bits) {
            return Err(Misfit::Width { file, expected: ty.element_bits, found });
        }
    }
    Ok(())
}
