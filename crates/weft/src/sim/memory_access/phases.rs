//! Mbarriers and named barriers.
//!
//! An mbarrier is state beside its bytes: how many arrivals and announced bytes its phase still waits for, how many
//! phases are over, and what those who arrived, and the copies it counted, let others know. For the race
//! detector to initialise one is to store its bytes and everything else an atomic on them, so that an arrival
//! that nothing orders behind the initialisation is a race.

use super::{accessor, addresses, locate, note_written, report_conflicts};
use crate::lane::{Inst, Mbarrier, NamedBarrier, Program};
use crate::sim::clock::Knowledge;
use crate::sim::program::Row;
use crate::sim::report::{Actor, FindingKind};
use crate::sim::schedule::{Block, World};
use crate::sim::warp::{State, Warp, lanes_of, row, truth};
use std::collections::BTreeMap;

/// The phases of an mbarrier.
#[derive(Clone, Default, Debug)]
struct Phases {
    agent: usize,
    arrivals: u32,
    /// Arrivals that the phase under way still waits for.
    missing: u32,
    /// Bytes announced and not written yet; negative where more were written than announced.
    announced: i64,
    /// How many phases are over.
    over: u64,
    /// What the phase under way will let others know.
    gathered: Knowledge,
    /// What the phases that are over let others know.
    known: Knowledge,
    /// How many phases each warp knows to be over.
    seen: Vec<u64>,
}

/// The mbarriers of a block, by address.
#[derive(Clone, Default, Debug)]
pub(in crate::sim) struct Mbarriers {
    by_address: BTreeMap<u32, Phases>,
    named: [Named; NamedBarrier::COUNT as usize],
}

/// A barrier of some warps, while they arrive.
#[derive(Clone, Default, Debug)]
struct Named {
    /// Who has arrived, and how many warps are expected; none where nobody has.
    arrived: Vec<u32>,
    expected: u32,
    first: Option<(Inst, u32)>,
    gathered: Knowledge,
}

/// How many agents the bulk copies of a program are: one for each warp's copies from shared memory, and one for
/// each mbarrier.
pub(in crate::sim) fn agents(program: &Program) -> u32 {
    let pieces = program.shared.values().filter(|piece| piece.mbarriers);
    program.warps + pieces.map(|piece| piece.bytes / Mbarrier::BYTES).sum::<u32>()
}

/// The agent of the mbarrier at an address; none where there is none.
fn agent_at(program: &Program, address: u32) -> Option<usize> {
    let mut before = program.warps;
    for piece in program.shared.values().filter(|piece| piece.mbarriers) {
        let inside = address.wrapping_sub(piece.offset);
        if inside < piece.bytes && inside.is_multiple_of(Mbarrier::BYTES) {
            return Some((before + inside / Mbarrier::BYTES) as usize);
        }
        before += piece.bytes / Mbarrier::BYTES;
    }
    None
}

impl Phases {
    /// Goes on to the next phase where this one waits for nothing.
    fn advance(&mut self) {
        if self.missing == 0 && self.announced == 0 {
            self.over += 1;
            self.missing = self.arrivals;
            let gathered = core::mem::take(&mut self.gathered);
            let before = core::mem::replace(&mut self.known, gathered);
            self.known.join(&before);
            self.gathered = self.known.clone();
        }
    }

    /// Whether the phase of a parity is over.
    fn is_over(&self, parity: bool) -> bool {
        (self.over & 1 == 1) != parity
    }
}

impl Mbarriers {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The agent whose copies an mbarrier counts.
    pub(super) fn agent(&self, address: u32) -> Option<usize> {
        self.by_address.get(&address).map(|phases| phases.agent)
    }

    /// A copy begins that the mbarrier counts; whoever waits for it knows what its thread knew.
    pub(super) fn begin(&mut self, address: u32, known: &Knowledge) {
        if let Some(phases) = self.by_address.get_mut(&address) {
            phases.gathered.join(known);
        }
    }

    /// A copy that was begun at a tick has written its bytes.
    pub(super) fn land(&mut self, address: u32, tick: u32, bytes: u32) {
        if let Some(phases) = self.by_address.get_mut(&address) {
            phases.gathered.learn(phases.agent, tick);
            phases.announced -= i64::from(bytes);
            phases.advance();
        }
    }

    /// Whether a wait at an address for a parity would end.
    pub(in crate::sim) fn lets_pass(&self, address: u32, parity: bool) -> bool {
        self.by_address.get(&address).is_none_or(|phases| phases.is_over(parity))
    }

    /// What the phase under way waits for.
    pub(in crate::sim) fn missing(&self, address: u32) -> String {
        let Some(phases) = self.by_address.get(&address) else { return String::new() };
        let arrivals = match phases.missing {
            1 => "1 more arrival".into(),
            count => format!("{count} more arrivals"),
        };
        match phases.announced {
            0 => arrivals,
            1.. => format!("{arrivals} and {} more bytes", phases.announced),
            _ => format!("{arrivals}; {} bytes were written unannounced", -phases.announced),
        }
    }

    /// How many warps a named barrier waits for.
    pub(in crate::sim) fn missing_warps(&self, name: u8) -> u32 {
        let named = &self.named[usize::from(name) % self.named.len()];
        named.expected.saturating_sub(named.arrived.len() as u32)
    }
}

/// Reports an operation on an mbarrier that nobody initialised.
pub(super) fn report_unknown(world: &mut World<'_>, actor: Actor, address: u32) {
    world.findings.add(FindingKind::Uninitialised, actor, None, || {
        format!("no mbarrier was initialised at byte {address} of shared memory")
    });
}

/// Reports a bulk copy to which the mbarrier's initialisation is not known, through its proxy.
pub(super) fn check_seen(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    actor: Actor,
    address: u32,
) {
    let bytes = Mbarrier::BYTES;
    let unseen = block.proxies.unseen(warp.index, &warp.knowledge, address as usize, bytes);
    let Some((_, written)) = unseen else { return };
    let site = &world.accesses[written.site as usize];
    let (inst, loc, lane) = (site.inst, site.loc, Some(written.lane));
    let other = Actor { inst, loc, warp: written.warp, lane, ..actor };
    world.findings.add(FindingKind::Unfenced, actor, Some(other), || {
        format!(
            "the mbarrier at byte {address} of shared memory, initialised by {other}, is used by a bulk copy with \
             no fence between proxies after that"
        )
    });
}

/// Does something to an mbarrier in each lane; returns whether the warp must wait, and for what.
pub(in crate::sim) fn mbarrier(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    op: Mbarrier,
    index: u32,
    operand: Option<Row>,
) -> Option<State> {
    let code = world.code;
    let touched = &code.memory[index as usize];
    let (at, active) = addresses(warp, world, touched);
    let lanes = code.lanes as usize;
    let operands = operand.map(|operand| row(&warp.registers, &code.constants, operand, lanes));
    if op == Mbarrier::Wait {
        let parities = operands.map_or(0, truth);
        for lane in lanes_of(active) {
            let (address, parity) = (at[lane] as u32, parities >> lane & 1 == 1);
            if !block.transfers.mbarriers.lets_pass(address, parity) {
                let state = State::AtMbarrier(touched.inst, address, parity);
                check_behind(warp, block, world, touched.inst, address, parity);
                return Some(state);
            }
        }
    }
    let operands: Vec<u64> = operands.map(<[u64]>::to_vec).unwrap_or_default();
    let (pattern, _) = locate(warp, block, world, index, &at, active)?;
    let reads = !matches!(op, Mbarrier::Initialise { .. });
    let place = super::Hit::Shared;
    let by = accessor(&warp.knowledge, warp.index, block, world, index, place, reads);
    for lane in lanes_of(pattern.active) {
        let (offset, bytes) = (pattern.addresses[lane] as usize, Mbarrier::BYTES);
        let conflicts = &mut world.conflicts;
        block.shadow.access(&by, op != Mbarrier::Wait, offset, bytes, lane as u32, conflicts);
    }
    report_conflicts(warp, block, world, index, place);
    for lane in lanes_of(pattern.active) {
        let actor = world.actor(block, warp.index, Some(lane as u32), touched.inst);
        let operand = operands.get(lane).copied().unwrap_or(0);
        one(warp, block, world, op, (pattern.addresses[lane] as u32, operand), actor);
    }
    if !reads {
        note_written(warp, block, index, place, &pattern, pattern.active);
    }
    block.tick += 1;
    world.changed = true;
    None
}

/// Does something to an mbarrier.
fn one(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    op: Mbarrier,
    (address, operand): (u32, u64),
    actor: Actor,
) {
    let counts = block.transfers.counts_at(address);
    let mbarriers = &mut block.transfers.mbarriers;
    let known = warp.knowledge.published(warp.index, block.tick);
    let mut fault = |message: String| {
        world.findings.add(FindingKind::Phase, actor, None, || message);
    };
    if let Mbarrier::Initialise { arrivals } = op {
        let Some(agent) = agent_at(world.launch.program, address) else {
            fault(format!("byte {address} of shared memory holds no mbarrier"));
            return;
        };
        let in_use = mbarriers.by_address.get(&address).is_some_and(|phases| {
            phases.missing != phases.arrivals || phases.announced != 0 || counts
        });
        if in_use {
            fault("an mbarrier is initialised again while a phase of it is under way".into());
        }
        let seen = vec![0; world.launch.program.warps as usize];
        let mut gathered = known.clone();
        gathered.reset(world.launch.program.warps, world.code.agents);
        let phases = Phases {
            agent,
            arrivals,
            missing: arrivals,
            seen,
            known: gathered.clone(),
            gathered,
            ..Phases::default()
        };
        mbarriers.by_address.insert(address, phases);
        return;
    }
    let Some(phases) = mbarriers.by_address.get_mut(&address) else {
        report_unknown(world, actor, address);
        return;
    };
    match op {
        Mbarrier::Initialise { .. } => {}
        Mbarrier::Wait => {
            let known = phases.known.clone();
            phases.seen[warp.index as usize] = phases.over;
            warp.knowledge.join(&known);
        }
        Mbarrier::Invalidate => {
            if counts {
                fault(
                    "an mbarrier is invalidated while bulk copies that it counts are under way"
                        .into(),
                );
            }
            mbarriers.by_address.remove(&address);
        }
        Mbarrier::Arrive | Mbarrier::Expect => {
            let seen = &mut phases.seen[warp.index as usize];
            *seen = phases.over.max(*seen);
            if phases.missing == 0 {
                fault(format!(
                    "an arrival more than the {} that each phase of the mbarrier expects",
                    phases.arrivals
                ));
                return;
            }
            if op == Mbarrier::Expect {
                phases.announced += i64::from(operand as u32);
                if phases.announced > i64::from(Mbarrier::MOST) {
                    let (announced, most) = (phases.announced, Mbarrier::MOST);
                    fault(format!(
                        "{announced} bytes announced in one phase, which counts to {most}"
                    ));
                }
            }
            phases.gathered.join(&known);
            phases.missing -= 1;
            phases.advance();
        }
    }
}

/// Reports a wait that is a phase too late: the phase that comes next to the warp is over, and so is the one
/// behind it, whose end it now mistakes for that.
fn check_behind(
    warp: &Warp,
    block: &Block,
    world: &mut World<'_>,
    inst: Inst,
    address: u32,
    parity: bool,
) {
    let Some(phases) = block.transfers.mbarriers.by_address.get(&address) else { return };
    let seen = phases.seen[warp.index as usize];
    if phases.over >= seen + 2 && (seen & 1 == 1) == parity {
        let actor = world.actor(block, warp.index, None, inst);
        let over = phases.over;
        world.findings.add(FindingKind::Phase, actor, None, || {
            format!(
                "a wait for phase {seen} of an mbarrier of which {over} phases are over: whoever waits must not be \
                 two behind"
            )
        });
    }
}

/// A warp arrives at a named barrier; returns whether it must wait.
pub(in crate::sim) fn arrive(
    warp: &mut Warp,
    block: &mut Block,
    world: &mut World<'_>,
    barrier: NamedBarrier,
    inst: Inst,
) -> bool {
    let NamedBarrier { name, warps, waits } = barrier;
    let known = warp.knowledge.published(warp.index, block.tick);
    block.tick += 1;
    let actor = world.actor(block, warp.index, None, inst);
    let coordinates = block.coordinates;
    let named = &mut block.transfers.mbarriers.named[usize::from(name) % 16];
    let (first, by) = *named.first.get_or_insert((inst, warp.index));
    let other = Actor {
        inst: first,
        loc: world.launch.program.insts[first].loc,
        block: coordinates,
        warp: by,
        lane: None,
    };
    if named.arrived.is_empty() {
        named.expected = warps;
        named.gathered = known;
    } else {
        named.gathered.join(&known);
        if named.expected != warps {
            let expected = named.expected;
            world.findings.add(FindingKind::Divergence, actor, Some(other), || {
                format!("barrier {name} is told to expect {warps} warps here, and {expected} there")
            });
        }
    }
    if named.arrived.contains(&warp.index) {
        world.findings.add(FindingKind::Divergence, actor, Some(other), || {
            format!(
                "warp {} arrives at barrier {name} twice before the others have come",
                warp.index
            )
        });
    }
    named.arrived.push(warp.index);
    world.changed = true;
    waits
}

/// Lets the warps of the named barriers pass at which all have arrived.
pub(in crate::sim) fn pass(warps: &mut [Warp], block: &mut Block) -> bool {
    let mut passed = false;
    for (name, named) in block.transfers.mbarriers.named.iter_mut().enumerate() {
        if named.arrived.is_empty() || named.arrived.len() < named.expected as usize {
            continue;
        }
        passed = true;
        let Named { gathered, .. } = core::mem::take(named);
        for warp in warps.iter_mut() {
            if matches!(warp.state, State::AtNamed(_, at) if usize::from(at) == name) {
                warp.knowledge.meet(&gathered);
                warp.state = State::Ready;
            }
        }
    }
    passed
}

/// Whether a warp that waits at an mbarrier may go on.
pub(in crate::sim) fn may_go_on(warp: &Warp, block: &Block) -> bool {
    match warp.state {
        State::AtMbarrier(_, address, parity) => {
            block.transfers.mbarriers.lets_pass(address, parity)
        }
        _ => true,
    }
}
