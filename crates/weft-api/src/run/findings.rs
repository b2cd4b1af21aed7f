//! What was wrong, and what would be right.

use super::{Culprit, Evaluated};
use crate::answer::{ActorAnswer, FindingAnswer};
use crate::budget;
use crate::error::raised;
use crate::kernels::CompiledKernel;
use weft::sim::{Actor, FindingKind, Report};
use weft::tile::eval::{self, Fault, LocalFault};

/// What the simulator found, with places in the user's source.
pub(super) fn of_simulator(kernel: &CompiledKernel, report: &Report) -> Vec<FindingAnswer> {
    report.findings.iter().map(|finding| answer(kernel, finding)).collect()
}

/// What is no fault, but may not be meant: the simulator's notes, and where the evaluator found that Triton IR
/// leaves a result open.
pub(super) fn notes(
    kernel: &CompiledKernel,
    report: &Report,
    undefined: &[eval::Finding],
) -> Vec<FindingAnswer> {
    let open = undefined.iter().map(|finding| FindingAnswer {
        kind: "undefined".into(),
        message: finding.to_string(),
        actor: ActorAnswer {
            place: kernel.place(finding.loc),
            block: finding.instance,
            warp: 0,
            lane: None,
        },
        other: None,
        count: finding.count,
        hint:
            "Triton IR leaves the result open: keep such elements from it, even those that are not \
               used, or expect another one from another compiler"
                .into(),
    });
    report.notes.iter().map(|finding| answer(kernel, finding)).chain(open).collect()
}

fn answer(kernel: &CompiledKernel, finding: &weft::sim::Finding) -> FindingAnswer {
    FindingAnswer {
        kind: finding.kind.to_string(),
        message: finding.message.clone(),
        actor: actor(kernel, &finding.actor),
        other: finding.other.as_ref().map(|other| actor(kernel, other)),
        count: finding.count,
        hint: hint(finding.kind),
    }
}

/// The races of a program without barriers between accesses to global memory that it has none of with
/// them: `report` is of the program with, `without` of the one without.
pub(super) fn unordered(
    kernel: &CompiledKernel,
    report: &Report,
    without: &Report,
) -> Vec<FindingAnswer> {
    let races = |report: &Report| {
        let races = report.findings.iter().filter(|finding| finding.kind == FindingKind::Race);
        races.cloned().collect::<Vec<_>>()
    };
    // The two programs' operations have other numbers, but the same places.
    let places = |finding: &weft::sim::Finding| {
        let other = finding.other.as_ref().map(|other| kernel.place(other.loc));
        (kernel.place(finding.actor.loc), other)
    };
    // One access of the kernel may be many operations of a thread: what is told is the first of them.
    let mut known: Vec<_> = races(report).iter().map(places).collect();
    let mut new: Vec<weft::sim::Finding> = Vec::new();
    for race in races(without) {
        let here = places(&race);
        if !known.contains(&here) {
            known.push(here);
            new.push(race);
        }
    }
    new.into_iter()
    .map(|race| FindingAnswer {
        kind: "unordered".into(),
        message: format!("{}, but for a barrier that weft inserts", race.message),
        actor: actor(kernel, &race.actor),
        other: race.other.as_ref().map(|other| actor(kernel, other)),
        count: race.count,
        hint: "Triton inserts no barrier for global memory: put `tl.debug_barrier()` between the two, \
               or make them of one thread"
            .into(),
    })
    .collect()
}

/// The simulator's findings, and those of the evaluator where the simulator has none: the two see
/// every access, so that a difference is itself one.
pub(super) fn of(
    kernel: &CompiledKernel,
    evaluated: &Evaluated,
    report: &Report,
) -> Vec<FindingAnswer> {
    let mut findings = of_simulator(kernel, report);
    let seen = |kind: FindingKind| report.findings.iter().any(|finding| finding.kind == kind);
    if let Ok(evaluation) = &evaluated.outcome {
        let alone = evaluation.findings.iter();
        let alone = alone.filter_map(|finding| Some((kind(&finding.fault)?, finding)));
        findings.extend(alone.filter(|(kind, _)| !seen(*kind)).map(|(kind, finding)| {
            FindingAnswer {
                kind: kind.to_string(),
                message: format!("{finding}, seen by the reference evaluator alone"),
                actor: ActorAnswer {
                    place: kernel.place(finding.loc),
                    block: finding.instance,
                    warp: 0,
                    lane: None,
                },
                other: None,
                count: finding.count,
                hint: hint(kind),
            }
        }));
    }
    let seen = |finding: &&weft::sim::Finding| finding.kind == FindingKind::Assertion;
    if report.findings.iter().find(seen).is_none()
        && let Ok(evaluation) = &evaluated.outcome
    {
        findings.extend(evaluation.failures.iter().map(|failure| FindingAnswer {
            kind: FindingKind::Assertion.to_string(),
            message: format!(
                "`{}` does not hold for element {}, seen by the reference evaluator alone",
                failure.message, failure.element
            ),
            actor: ActorAnswer {
                place: kernel.place(failure.loc),
                block: failure.instance,
                warp: 0,
                lane: None,
            },
            other: None,
            count: failure.count,
            hint: hint(FindingKind::Assertion),
        }));
    }
    findings
}

/// The first operation whose value leaves its bound.
pub(super) fn difference(kernel: &CompiledKernel, culprit: &Culprit) -> FindingAnswer {
    let op = &kernel.meaning().ops[culprit.op];
    let message = format!(
        "{} is the first operation whose value is not what it should be: {}",
        op.kind.name(),
        culprit.mismatch
    );
    let place = kernel.place(op.loc);
    FindingAnswer {
        kind: "difference".into(),
        message,
        actor: ActorAnswer { place, block: [0; 3], warp: 0, lane: None },
        other: None,
        count: 1,
        hint:
            "a program that weft compiled computes what the kernel says, but for rounding: please \
               report it"
                .into(),
    }
}

/// The simulator's word for what the evaluator found; it has none for values.
fn kind(fault: &Fault) -> Option<FindingKind> {
    Some(match fault {
        Fault::Outside(_) | Fault::Local(LocalFault::Outside) => FindingKind::OutOfRange,
        Fault::ReadOnly { .. } => FindingKind::ReadOnly,
        Fault::Local(LocalFault::Unwritten) => FindingKind::Uninitialised,
        Fault::Local(LocalFault::InFlight) => FindingKind::InFlight,
        Fault::Undefined(_) => return None,
    })
}

fn actor(kernel: &CompiledKernel, actor: &Actor) -> ActorAnswer {
    let Actor { inst: _, loc, block, warp, lane } = *actor;
    ActorAnswer { place: kernel.place(loc), block, warp, lane }
}

fn hint(kind: FindingKind) -> String {
    let fixed = match kind {
        FindingKind::Race => {
            "use one atomic operation, or order the two by a release and an acquire that sees it"
        }
        FindingKind::OutOfRange => {
            "mask the access where it leaves the buffer, or give a larger one"
        }
        FindingKind::EqualStores => {
            "let one thread store it; with `equal_stores` as `race` it is a race"
        }
        FindingKind::ReadOnly => "give an array that may be written, or store elsewhere",
        FindingKind::Uninitialised => "store before it is read, or start from zeros:…",
        FindingKind::InFlight => {
            "wait for the copy's group (`async_wait`) before its bytes are used"
        }
        FindingKind::Unfenced => {
            "a fence between the proxies must follow the write; a program that weft compiled has one: \
             please report it"
        }
        FindingKind::Phase => {
            "each phase expects as many arrivals as `mbarrier.initialise` says, and every phase is waited for"
        }
        FindingKind::Misaligned => "the addresses must keep what tt.divisibility promises",
        FindingKind::Deadlock => "wait only for what a running program will still write",
        FindingKind::Divergence => {
            "all lanes must reach this operation together; a program that weft compiled does not do \
             this: please report it"
        }
        FindingKind::Assertion => {
            "on a GPU the kernel ends here with an error; on the simulator it went on"
        }
        FindingKind::OutOfSteps => {
            let raised = raised("instructions", budget::current().limits.instructions);
            return format!("the loop does not end, or it takes long: {raised}");
        }
    };
    fixed.into()
}
