//! What is checked before a kernel is compiled, and when it is.

use super::{CompileError, MOST_STAGES, Options};
use crate::budget::{Limit, Overrun};
use crate::tile::{Kernel, Launch, Op};
use crate::{lane, simplify};

/// Whether there are such blocks, pipelines and passes.
pub(super) fn options(options: &Options) -> Result<(), CompileError> {
    let machine = &options.machine;
    let most = machine.threads_per_block >> machine.lanes_log2;
    if !options.warps.is_power_of_two() || options.warps > most {
        let machine = machine.name.to_string();
        return Err(CompileError::Warps { warps: options.warps, machine, most });
    }
    if !(1..=MOST_STAGES).contains(&options.stages) {
        return Err(CompileError::Stages(options.stages));
    }
    let names = || core::iter::once("lower").chain(simplify::PASSES.iter().map(|pass| pass.name));
    match &options.dump_after {
        Some(name) if !names().any(|known| known == name) => Err(CompileError::NoSuchPass {
            name: name.clone(),
            known: names().collect::<Vec<_>>().join(", "),
        }),
        _ => Ok(()),
    }
}

/// Checks that threads hold no more of any tensor than is allowed, which takes no time before anything
/// else does.
pub(super) fn elements(kernel: &Kernel, options: &Options) -> Result<(), CompileError> {
    let threads = u64::from(options.warps) << options.machine.lanes_log2;
    let most = options.budget.limits.elements;
    let is_large = |op: &&Op| {
        let held = op.results.iter().map(|&result| kernel.ty(result));
        held.filter(|ty| ty.is_tensor()).any(|ty| ty.elements() / threads > most)
    };
    let Some(op) = kernel.ops.values().find(is_large) else { return Ok(()) };
    let what = format!("the result of this `{}`", op.kind.name());
    Err(Overrun::Limit { limit: Limit::Elements, what, most, loc: op.loc }.into())
}

/// Whether the text was made for such blocks.
pub(super) fn launch(launch: &Launch, options: &Options) -> Result<(), CompileError> {
    match launch.warps {
        Some(given) if given != options.warps => {
            return Err(CompileError::GivenWarps { given, asked: options.warps });
        }
        _ => {}
    }
    let lanes = options.machine.lanes();
    match launch.lanes {
        Some(given) if given != lanes => {
            let machine = options.machine.name.to_string();
            Err(CompileError::GivenLanes { given, machine, lanes })
        }
        _ => Ok(()),
    }
}

/// Whether a program finds room in a block.
pub(super) fn fits(program: &lane::Program, options: &Options) -> bool {
    u64::from(program.shared_bytes) <= options.machine.shared_bytes_per_block
}
