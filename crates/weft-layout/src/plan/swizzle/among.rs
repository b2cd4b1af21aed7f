//! The best of some memory layouts.

use alloc::vec::Vec;

use super::{
    meter::Meter,
    problem::{Certificate, Problem, Solved, SwizzleError},
};
use crate::layout::Layout;

/// The memory layout of a list on which the accesses take the fewest wavefronts, and its place in the
/// list; of equals the one with fewest instructions, then the first.
///
/// For a buffer that something else than the threads writes or reads too, in some modes of its own.
/// Each candidate is a map from `offset` to the tensor; those that do not hold each element of the
/// buffer at one offset are passed over, and `None` says that all were.
/// The certificate counts the others, all of which were measured: the bound is theirs, not that of all
/// memory layouts.
pub fn best_of<'a>(
    problem: &Problem<'_>,
    candidates: impl IntoIterator<Item = &'a Layout>,
) -> Result<Option<(usize, Solved)>, SwizzleError> {
    let meter = Meter::new(problem)?;
    let measure = |(index, memory)| match meter.measure(memory) {
        Ok((total, uses)) => Some(Ok((index, memory, total, uses))),
        Err(SwizzleError::NotMemory) => None,
        Err(error) => Some(Err(error)),
    };
    let measured = candidates.into_iter().enumerate().filter_map(measure);
    let measured = measured.collect::<Result<Vec<(usize, &Layout, u64, Vec<_>)>, _>>()?;
    let candidates = measured.len() as u64;
    let best = measured.into_iter().min_by_key(|(_, _, total, uses)| {
        let instructions = uses.iter().zip(&problem.accesses);
        let instructions = instructions.fold(0_u64, |sum, (used, access)| {
            sum.saturating_add(used.instructions.saturating_mul(access.weight))
        });
        (*total, instructions)
    });
    Ok(best.map(|(index, memory, total, uses)| {
        let solved = Solved {
            memory: memory.clone(),
            rounds: Vec::new(),
            uses,
            total,
            bound: total,
            certificate: Certificate::Exhausted { candidates },
        };
        (index, solved)
    }))
}
