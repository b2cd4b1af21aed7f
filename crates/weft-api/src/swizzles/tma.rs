//! The modes of the tensor memory accelerator as memory layouts.

use super::{Measured, memory_of};
use crate::answer::TmaAnswer;
use crate::error::ApiError;
use weft_layout::family::NvmmaShared;
use weft_layout::machine::Isa;
use weft_layout::plan::swizzle::{Problem, Solved, best_of};
use weft_layout::{Layout, Machine};

/// A mode: which swizzle, and which axis is the contiguous one.
struct Mode {
    swizzle_bytes: u64,
    transposed: bool,
    memory: Layout,
}

/// Whether a machine has the accelerator.
pub(super) fn has_tma(machine: &Machine) -> bool {
    matches!(machine.isa, Isa::Ptx { capability: 90.. })
}

/// Every mode in which a tensor of this shape can lie.
fn modes(shape: &[u64], element_bits: u32) -> Vec<Mode> {
    let bits = u64::from(element_bits.next_power_of_two().max(8));
    let modes = [0, 32, 64, 128].into_iter().flat_map(|bytes| [(bytes, false), (bytes, true)]);
    let mode = |(swizzle_bytes, transposed)| {
        let family =
            NvmmaShared { transposed, rank: shape.len(), ..NvmmaShared::new(swizzle_bytes, bits) };
        let memory = memory_of(&family.layout(shape).ok()?);
        Some(Mode { swizzle_bytes, transposed, memory })
    };
    modes.filter_map(mode).collect()
}

/// The mode on which the threads take the fewest wavefronts.
pub(super) fn solve(problem: &Problem<'_>, shape: &[u64]) -> Result<Solved, ApiError> {
    if !has_tma(problem.machine) {
        let reason = format!("{} has no tensor memory accelerator", problem.machine.name);
        return Err(ApiError::Tma { reason });
    }
    let modes = modes(shape, problem.element_bits);
    let best = best_of(problem, modes.iter().map(|mode| &mode.memory))?;
    best.map(|(_, solved)| solved).ok_or_else(|| {
        let reason = "no mode holds a tensor of this shape and element at once".into();
        ApiError::Tma { reason }
    })
}

/// The same mode by name, beside what the first of some machines takes on its memory layout.
pub(super) fn best(
    problem: &Problem<'_>,
    machines: &[Measured<'_>],
    shape: &[u64],
) -> Option<TmaAnswer> {
    let Measured { meter, total, .. } = machines.first()?;
    let measured = modes(shape, problem.element_bits).into_iter().filter_map(|mode| {
        let (wavefronts, _) = meter.measure(&mode.memory).ok()?;
        let Mode { swizzle_bytes, transposed, .. } = mode;
        Some(TmaAnswer { swizzle_bytes, transposed, wavefronts, as_few: wavefronts <= *total })
    });
    measured.min_by_key(|mode| mode.wavefronts)
}
