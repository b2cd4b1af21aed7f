//! What a run says about the program: counts, and everything that was wrong.

use crate::atomic::Scope;
use crate::format::Printed;
use crate::id::Id;
use crate::lane::{Inst, Space};
use crate::location::Loc;
use core::fmt;
use rustc_hash::FxHashMap;

/// The result of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Warp instructions: operations run by a warp with at least one lane in them. Constants,
    /// arguments and ids are operands and cost nothing; so do `Loop` and `Yield`.
    pub instructions: u64,
    /// The lanes in those instructions, together.
    pub lane_instructions: u64,
    /// Accesses to global memory.
    pub global: GlobalTraffic,
    /// Accesses to shared memory.
    pub shared: SharedTraffic,
    /// Warp instructions that exchange values between lanes.
    pub shuffles: u64,
    /// Warp barriers, one for each warp that passed.
    pub warp_barriers: u64,
    /// Block barriers, one for each warp that arrived.
    pub block_barriers: u64,
    /// Atomic operations, one for each lane.
    pub atomics: u64,
    /// One entry for each memory operation of the program, in program order.
    pub accesses: Vec<AccessCount>,
    /// What was wrong, in order of discovery.
    pub findings: Vec<Finding>,
    /// How many findings there was no room for.
    pub findings_dropped: u64,
    /// What is no fault, but may not be meant: [`FindingKind::EqualStores`].
    pub notes: Vec<Finding>,
    /// What was printed, in the order of the run.
    pub printed: Printed,
    /// Whether every block came to its end.
    pub finished: bool,
}

impl Report {
    /// Whether every block came to its end and nothing was wrong.
    pub fn is_clean(&self) -> bool {
        self.finished && self.findings.is_empty()
    }
}

/// Accesses to global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GlobalTraffic {
    /// How many instructions of warps there were.
    pub accesses: u64,
    /// Distinct sectors that each instruction touched, summed.
    pub sectors: u64,
    /// The sectors that as many distinct bytes need at least, summed.
    pub ideal_sectors: u64,
    /// Bytes moved by lanes.
    pub bytes: u64,
}

/// Accesses to shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SharedTraffic {
    /// How many instructions of warps there were.
    pub accesses: u64,
    /// Passes over the banks.
    pub wavefronts: u64,
    /// The passes that as many distinct bytes in each phase need at least.
    pub ideal_wavefronts: u64,
    /// Bytes moved by lanes.
    pub bytes: u64,
}

/// What kind of memory operation it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessKind {
    /// An access that only reads.
    Load,
    /// An access that only writes.
    Store,
    /// An atomic read-modify-write or compare-and-swap.
    Atomic,
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
        })
    }
}

/// The cost of one memory operation over the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessCount {
    /// The operation that makes the accesses.
    pub inst: Inst,
    /// Where it came from.
    pub loc: Loc,
    /// The memory that it accesses.
    pub space: Space,
    /// Load, store or atomic.
    pub kind: AccessKind,
    /// Bytes that one lane moves.
    pub lane_bytes: u32,
    /// How often a warp ran it with at least one lane active.
    pub executions: u64,
    /// The active lanes, together.
    pub lanes: u64,
    /// Sectors (global) or wavefronts (shared).
    pub cost: u64,
    /// The least that `cost` could be for as many distinct bytes.
    pub ideal: u64,
}

/// A kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// Two threads touch one byte, one of them writes, and nothing orders the two.
    Race,
    /// An access outside every buffer, or outside the block's shared memory.
    OutOfRange,
    /// Threads store one value to one byte, and nothing orders them.
    EqualStores,
    /// A write to a buffer that may only be read; its bytes stay as they are.
    ReadOnly,
    /// A read of a byte that nothing has written.
    Uninitialised,
    /// An access to bytes to which an asynchronous copy is under way, or a write of bytes that a copy or a product
    /// in flight reads.
    InFlight,
    /// A read of bytes that were written through another proxy, without a fence between the two.
    Unfenced,
    /// An mbarrier whose phases do not add up: an arrival too many, a wait that comes two phases late, one that is
    /// initialised or given up while it is in use.
    Phase,
    /// An address that is no multiple of the access's size.
    Misaligned,
    /// Threads that wait for something that cannot happen.
    Deadlock,
    /// An operation that needs all lanes together, met by some of them.
    Divergence,
    /// The budget of steps ran out.
    OutOfSteps,
    /// What the program asserts does not hold.
    Assertion,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FindingKind::Race => "race",
            FindingKind::OutOfRange => "out of range",
            FindingKind::EqualStores => "equal stores",
            FindingKind::ReadOnly => "read-only",
            FindingKind::Uninitialised => "uninitialised",
            FindingKind::InFlight => "in flight",
            FindingKind::Unfenced => "unfenced",
            FindingKind::Phase => "phase",
            FindingKind::Misaligned => "misaligned",
            FindingKind::Deadlock => "deadlock",
            FindingKind::Divergence => "divergence",
            FindingKind::OutOfSteps => "out of steps",
            FindingKind::Assertion => "assertion",
        })
    }
}

/// The operation, warp and lane that did something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Actor {
    /// The operation that did it.
    pub inst: Inst,
    /// Where it came from.
    pub loc: Loc,
    /// The block, by its index along each grid axis.
    pub block: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
    /// The lane in its warp; none where several lanes did it together.
    pub lane: Option<u32>,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.block;
        match (y, z) {
            (0, 0) => write!(f, "block {x}")?,
            _ => write!(f, "block ({x}, {y}, {z})")?,
        }
        write!(f, ", warp {}", self.warp)?;
        match self.lane {
            Some(lane) => write!(f, ", lane {lane}"),
            None => f.write_str(", several lanes"),
        }
    }
}

/// Something that was wrong. Faults of one kind at one operation (and with one other operation, for
/// races) are one finding; what is told is the first of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What kind of fault it is.
    pub kind: FindingKind,
    /// What happened, in a sentence.
    pub message: String,
    /// Who did it first.
    pub actor: Actor,
    /// With whom, for a race.
    pub other: Option<Actor>,
    /// How many warp instructions did it.
    pub count: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({}: {})", self.kind, self.message, self.actor.inst, self.actor)?;
        if let Some(other) = &self.other {
            write!(f, " (other: {}: {other})", other.inst)?;
        }
        if self.count > 1 {
            write!(f, " [{} times]", self.count)?;
        }
        Ok(())
    }
}

/// The findings of a run, one for each kind and place.
#[derive(Debug, Default)]
pub(super) struct Findings {
    known: FxHashMap<(FindingKind, usize, usize), usize>,
    pub(super) list: Vec<Finding>,
    pub(super) dropped: u64,
    limit: usize,
}

impl Findings {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Counts a fault, and tells it when it is the first of its kind at its place.
    pub(super) fn add(
        &mut self,
        kind: FindingKind,
        actor: Actor,
        other: Option<Actor>,
        message: impl FnOnce() -> String,
    ) {
        let key = (kind, actor.inst.index(), other.map_or(usize::MAX, |other| other.inst.index()));
        match self.known.get(&key) {
            Some(&index) => self.list[index].count += 1,
            None if self.list.len() >= self.limit => self.dropped += 1,
            None => {
                self.known.insert(key, self.list.len());
                self.list.push(Finding { kind, message: message(), actor, other, count: 1 });
            }
        }
    }
}

/// The narrower of two scopes decides whether two atomics of different blocks are atomic together.
pub(super) fn reaches_other_blocks(scope: Scope) -> bool {
    scope != Scope::Block
}
