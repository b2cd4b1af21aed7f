//! One memory layout for several machines.

use super::accesses::Accesses;
use super::names::{Names, ordered};
use super::{Found, Measured, certificate, uses};
use crate::answer::{MachineUseAnswer, PortableAnswer};
use crate::error::ApiError;
use std::borrow::Cow;
use weft_layout::Machine;
use weft_layout::plan::swizzle::{Meter, Portability, Problem, Solved, check, portable};

/// A layout for the machine of a problem and others, counted again address by address on each.
pub(super) fn solve(
    problem: &Problem<'_>,
    accesses: &Accesses,
    others: &[Cow<'_, Machine>],
    shape: &[u64],
) -> Result<Found, ApiError> {
    if accesses.tma {
        let reason = "its modes are those of one machine, and several are asked about".into();
        return Err(ApiError::Tma { reason });
    }
    let mut problems = vec![problem.clone()];
    for machine in others {
        let list = accesses.in_waves_of(machine)?;
        problems.push(Problem { machine, accesses: list, ..problem.clone() });
    }
    let found = portable(&problems)?;
    let best = match found.portability() {
        Portability::Everywhere => "everywhere",
        Portability::Nowhere => "nowhere",
        Portability::Unknown => "unknown",
    };
    let machines = problems.iter().zip(&found.uses).map(|(problem, (uses, total))| {
        Ok(Measured { meter: Meter::new(problem)?, uses, total: *total })
    });
    let machines = machines.collect::<Result<Vec<_>, ApiError>>()?;
    let whole = Solved {
        memory: found.memory.clone(),
        rounds: Vec::new(),
        uses: found.uses.first().map_or_else(Vec::new, |(uses, _)| uses.clone()),
        total: found.total,
        bound: found.bound,
        certificate: found.certificate,
    };
    let memory = ordered(problem, &whole, &machines);
    let names = Names::of(&memory, &machines, shape);
    let mut told = Vec::new();
    for ((problem, measured), alone) in problems.iter().zip(&machines).zip(found.alone) {
        told.push(MachineUseAnswer {
            machine: problem.machine.name.to_string(),
            wavefronts: measured.total,
            alone: alone.total,
            bound: alone.bound,
            accesses: uses(problem.machine, accesses, measured.uses),
        });
        let (uses, total) = (measured.uses.to_vec(), measured.total);
        let here = Solved { memory: memory.clone(), uses, total, ..alone };
        check(problem, &here).map_err(|error| ApiError::Unchecked { error })?;
    }
    Ok(Found {
        certificate: certificate(&whole, whole.total == whole.bound),
        solved: Solved { memory, ..whole },
        names,
        portable: Some(PortableAnswer { best, machines: told }),
        without_tma: None,
    })
}
