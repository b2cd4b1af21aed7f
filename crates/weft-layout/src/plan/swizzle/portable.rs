//! One memory layout for several machines.

use alloc::vec::Vec;

use super::{
    meter::Meter,
    problem::{Certificate, Problem, Solved, SwizzleError, Use},
    search::{best, memory, solve},
    task::Task,
};
use crate::layout::Layout;

/// A memory layout for several problems at once, each of its own machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portable {
    /// From `offset` (in elements) to the tensor.
    pub memory: Layout,
    /// What the accesses of each problem take on it, and their weighted sum for one warp.
    pub uses: Vec<(Vec<Use>, u64)>,
    /// What each problem takes when it has a memory layout of its own.
    pub alone: Vec<Solved>,
    /// The sum over all problems.
    pub total: u64,
    /// No memory layout takes fewer in all.
    pub bound: u64,
    /// Why no memory layout takes fewer.
    pub certificate: Certificate,
}

/// Whether one layout is as good everywhere as each machine's own best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Portability {
    /// This one is: on each machine it meets the bound.
    Everywhere,
    /// None is: together the machines need more than the sum of what each can have alone.
    Nowhere,
    /// This one is not, and nothing shows that none is.
    Unknown,
}

impl Portable {
    /// Whether this layout, or any, is the best on every machine.
    pub fn portability(&self) -> Portability {
        let totals = || self.uses.iter().map(|(_, total)| *total);
        let alone = self.alone.iter().fold(0_u64, |sum, alone| sum.saturating_add(alone.total));
        if totals().zip(&self.alone).all(|(total, alone)| total <= alone.bound) {
            Portability::Everywhere
        } else if self.bound > alone {
            Portability::Nowhere
        } else {
            Portability::Unknown
        }
    }
}

/// A memory layout on which the accesses of all problems take few wavefronts in all.
///
/// Each problem has its own machine, and layouts with that machine's lanes; all are of one tensor
/// and one width of elements, and each machine holds it at once.
/// Weights say how much each machine counts; what the first problem has fixed is fixed.
/// A search that the first problem's [`Problem::stop`] ends is the error [`SwizzleError::Stopped`].
///
/// ```
/// use weft_layout::{Machine, access::Kind, interop::parse_layout};
/// use weft_layout::plan::swizzle::{Access, Portability, Problem, portable};
///
/// // 16 bytes a lane from rows of 64: one row a lane, of warps of 32 and waves of 64 lanes.
/// let rows = ["[register: (0,1) (0,2) (32,0), lane: (1,0) (2,0) (4,0) (8,0) (16,0)]",
///             "[register: (0,1) (0,2), lane: (1,0) (2,0) (4,0) (8,0) (16,0) (32,0)]"];
/// let problem = |name, rows: &str| {
///     let machine = Machine::by_name(name).ok_or("no such machine")?;
///     let layout = parse_layout(&format!("{rows} -> [dim0: 64, dim1: 4]"))?;
///     let load = Access::new(Kind::Load, layout);
///     Ok::<_, Box<dyn std::error::Error>>(Problem::new(machine, 32, vec![load]))
/// };
/// let problems = [problem("sm_90", rows[0])?, problem("gfx942", rows[1])?];
/// let found = portable(&problems)?;
/// assert_eq!(found.portability(), Portability::Everywhere);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn portable(problems: &[Problem<'_>]) -> Result<Portable, SwizzleError> {
    let first = problems.first().ok_or(SwizzleError::NoAccess)?;
    let task = Task::joint(problems)?;
    let found = best(&task)?;
    let memory = memory(&task, first, &found.columns)?;
    let measure = |problem| {
        let (total, uses) = Meter::new(problem)?.measure(&memory)?;
        Ok((uses, total))
    };
    let uses =
        problems.iter().map(measure).collect::<Result<Vec<(Vec<Use>, u64)>, SwizzleError>>()?;
    let total = uses.iter().fold(0_u64, |sum, (_, total)| sum.saturating_add(*total));
    Ok(Portable {
        alone: problems.iter().map(solve).collect::<Result<_, _>>()?,
        uses,
        total,
        bound: found.bound,
        certificate: found.certificate,
        memory,
    })
}
