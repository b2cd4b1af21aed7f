//! What all instances of a run share.

use super::bounds::{Freedom, MemoryBounds};
use super::elements::Bounded;
use super::{EvalError, Failure, Fault, Finding, Options, Sums};
use crate::budget::Stop;
use crate::format::Printed;
use crate::memory::{Memory, OutOfRange};
use crate::scalar::Undefined;
use crate::tile::{Kernel, Op, OpId, OpKind, Value};

/// The state of a run outside of its instances.
pub(super) struct World<'k, 'm> {
    /// The kernel that all instances run.
    pub(super) kernel: &'k Kernel,
    /// How many instances there are along each axis.
    pub(super) grid: [u32; 3],
    /// The buffers that all instances share.
    pub(super) memory: &'m mut Memory,
    /// Whether memory changed since somebody last set this to false.
    pub(super) changed: bool,
    /// The faults found so far.
    pub(super) findings: Vec<Finding>,
    /// The results that Triton IR leaves open.
    pub(super) undefined: Vec<Finding>,
    /// The assertions that did not hold.
    pub(super) failures: Vec<Failure>,
    /// How far off what lies in memory may be.
    pub(super) bounds: MemoryBounds,
    /// The float sums of atomics that stand in memory.
    pub(super) sums: Sums,
    /// The lines that were printed so far.
    pub(super) printed: Printed,
    /// How many operations were executed.
    pub(super) steps: u64,
    /// The bytes of all instances but the one that runs.
    pub(super) held: usize,
    /// The bounds of the run.
    pub(super) options: Options,
    /// Whether the run shall end.
    pub(super) stop: Stop,
}

/// Who accesses memory: what a finding says besides the access.
#[derive(Clone, Copy)]
pub(super) struct Site<'k> {
    pub(super) id: OpId,
    pub(super) op: &'k Op,
    pub(super) instance: [u32; 3],
}

impl World<'_, '_> {
    /// What may be rounded differently outside of folds.
    pub(super) fn freedom(&self) -> Freedom {
        Freedom { times: 1.0, order: false, contraction: self.options.contraction }
    }

    /// Counts the execution of `op` by an instance that takes so many bytes.
    pub(super) fn step(&mut self, op: &Op, held: usize) -> Result<(), EvalError> {
        let limit = self.options.max_bytes;
        if (self.held + held) as u64 > limit {
            return Err(EvalError::Memory { limit, op: op.kind.name(), loc: op.loc });
        }
        if self.steps >= self.options.max_steps {
            return Err(EvalError::StepLimit {
                limit: self.options.max_steps,
                op: op.kind.name(),
                loc: op.loc,
            });
        }
        if self.stop.is_set() {
            return Err(EvalError::Stopped);
        }
        self.steps += 1;
        Ok(())
    }

    /// Notes that one element of an assertion is false.
    pub(super) fn failed(&mut self, site: Site<'_>, element: usize, message: &str) {
        match self.failures.iter_mut().find(|failure| failure.op == site.id) {
            Some(failure) => failure.count += 1,
            None => self.failures.push(Failure {
                op: site.id,
                message: message.into(),
                loc: site.op.loc,
                instance: site.instance,
                element: element as u64,
                count: 1,
            }),
        }
    }

    /// Notes that one element of an operation was outside of memory.
    pub(super) fn outside(&mut self, site: Site<'_>, element: usize, access: OutOfRange) {
        self.fault(site, element, Fault::Outside(access));
    }

    /// Notes that one element of an operation was accessed as it must not.
    pub(super) fn fault(&mut self, site: Site<'_>, element: usize, fault: Fault) {
        note(&mut self.findings, site, element, fault);
    }

    /// Notes the elements of an operation of the text that Triton IR leaves open.
    pub(super) fn look_for_undefined(
        &mut self,
        site: Site<'_>,
        operands: &[Bounded],
        count: usize,
    ) {
        let ty = |values: &[Value]| values.first().map(|&value| self.kernel.ty(value).dtype());
        let (from, to) = (ty(&site.op.operands), ty(&site.op.results));
        let (Some(from), Some(to)) = (from, to) else { return };
        let undefined = |index: usize| match (&site.op.kind, operands) {
            (OpKind::Binary(op), [x, y]) => {
                Undefined::of_binary(*op, from, x.get(index), y.get(index))
            }
            (OpKind::Cast(op), [x]) => Undefined::of_cast(*op, from, to, x.get(index)),
            _ => None,
        };
        for index in 0..count {
            if let Some(undefined) = undefined(index) {
                note(&mut self.undefined, site, index, Fault::Undefined(undefined));
            }
        }
    }
}

/// Notes a fault of one element, with those of the same operation.
fn note(findings: &mut Vec<Finding>, site: Site<'_>, element: usize, fault: Fault) {
    match findings.iter_mut().find(|finding| finding.op == site.id) {
        Some(finding) => finding.count += 1,
        None => findings.push(Finding {
            op: site.id,
            name: site.op.kind.name(),
            loc: site.op.loc,
            instance: site.instance,
            element: element as u64,
            fault,
            count: 1,
        }),
    }
}
