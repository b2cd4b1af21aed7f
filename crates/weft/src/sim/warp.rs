//! One warp as a machine: position, active lanes, registers.

use super::clock::{Fences, Knowledge};
use super::compute::split;
use super::memory_access::transfers::Groups;
use super::memory_access::{self, copies::Copies, phases, products::Products};
use super::program::{CONST, Code, MicroOp, Moves, OWN_ROWS, Row};
use super::report::FindingKind;
use super::schedule::{Block, World};
use crate::lane::Inst;

/// How often a warp may go round before another one runs.
const ROUNDS: u32 = 64;

/// The state of a warp while it runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Warp {
    pub(super) index: u32,
    pc: u32,
    /// The active lanes, a bit each.
    pub(super) mask: u64,
    frames: Vec<Frame>,
    pub(super) registers: Vec<u64>,
    pub(super) knowledge: Knowledge,
    pub(super) fences: Fences,
    pub(super) state: State,
    /// The back edge at which the last turn ended.
    edge: Option<u32>,
    /// The asynchronous copies under way.
    pub(super) copies: Copies,
    /// The groups of its bulk copies from shared memory.
    pub(super) groups: Groups,
    /// The products of its warpgroup in flight, as far as they are its own.
    pub(super) products: Products,
    /// The last memory operation: where a warp that goes round in vain is told to wait.
    pub(super) last_memory: Option<Inst>,
}

/// Whether a warp can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum State {
    /// It can go on.
    #[default]
    Ready,
    /// It is at a back edge, and can.
    Round(Inst),
    /// It waits for the other warps of its block.
    AtBarrier(Inst),
    /// It waits at a named barrier.
    AtNamed(Inst, u8),
    /// It waits at the mbarrier at an address for a phase of this parity.
    AtMbarrier(Inst, u32, bool),
    /// It came to its end.
    Done,
}

/// An open `If` or loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Frame {
    /// The active lanes after it.
    after: u64,
    /// `If`: the lanes that still have to run the second region. Loop: the lanes that are in it.
    inside: u64,
}

/// The set bits of a mask, from the lowest.
pub(super) fn lanes_of(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

/// A row for reading.
#[inline]
pub(super) fn row<'a>(
    registers: &'a [u64],
    constants: &'a [u64],
    row: Row,
    lanes: usize,
) -> &'a [u64] {
    if row & CONST != 0 {
        let at = (row & !CONST) as usize;
        &constants[at..at + lanes]
    } else {
        &registers[row as usize..row as usize + lanes]
    }
}

/// The lanes in which a truth value holds.
#[inline]
pub(super) fn truth(row: &[u64]) -> u64 {
    row.iter().enumerate().fold(0, |mask, (lane, &bit)| mask | (bit & 1) << lane)
}

impl Warp {
    /// Starts at the beginning of the program, in a block.
    pub(super) fn start(&mut self, code: &Code, index: u32, coordinates: [u32; 3], warps: u32) {
        let lanes = code.lanes as usize;
        self.index = index;
        self.pc = 0;
        self.mask = full(code.lanes);
        self.frames.clear();
        self.registers.resize(code.rows as usize * lanes, 0);
        let [x, y, z] = coordinates;
        let own = self.registers[..OWN_ROWS as usize * lanes].chunks_exact_mut(lanes);
        for (row, number) in own.zip([index, x, y, z]) {
            row.fill(u64::from(number));
        }
        let threads = &mut self.registers[4 * lanes..OWN_ROWS as usize * lanes];
        for (lane, thread) in threads.iter_mut().enumerate() {
            *thread = u64::from(index) * lanes as u64 + lane as u64;
        }
        self.knowledge.reset(warps, code.agents);
        self.fences.reset(warps, code.agents);
        self.state = State::Ready;
        self.edge = None;
        self.last_memory = None;
        self.copies.clear();
        self.groups.clear();
        self.products.clear();
    }

    /// Whether another warp would go on exactly as this one: same place, same lanes, same registers.
    pub(super) fn is_where(&self, other: &Warp) -> bool {
        self.pc == other.pc
            && self.mask == other.mask
            && self.state == other.state
            && self.frames == other.frames
            && self.registers == other.registers
            && self.copies == other.copies
            && self.products == other.products
    }

    /// Runs until the warp waits, ends, or has gone round often enough. Returns whether its state is
    /// a new one: not the one in which it began this turn.
    pub(super) fn run(&mut self, block: &mut Block, world: &mut World<'_>) -> bool {
        let code = world.code;
        let lanes = code.lanes as usize;
        let constants = &code.constants[..];
        let mut pc = self.pc as usize;
        let mut rounds = 0;
        let mut instructions = 0u64;
        let mut lane_instructions = 0u64;
        let started_at = self.edge.take();
        let waited = matches!(self.state, State::AtMbarrier(..));
        self.state = State::Ready;
        macro_rules! count {
            () => {{
                instructions += u64::from(self.mask != 0);
                lane_instructions += u64::from(self.mask.count_ones());
            }};
        }
        let progress = loop {
            let op = &code.ops[pc];
            pc += 1;
            match op {
                MicroOp::Compute(compute) => {
                    count!();
                    compute.run(&mut self.registers, constants, lanes);
                }
                MicroOp::Act(act) => {
                    count!();
                    self.act(act, block, world);
                }
                MicroOp::BlockBarrier { inst } => {
                    count!();
                    if self.mask != 0 {
                        world.block_barriers += 1;
                        self.together(block, world, *inst, "a block barrier");
                        self.state = State::AtBarrier(*inst);
                        break true;
                    }
                }
                MicroOp::NamedBarrier { barrier, inst } => {
                    count!();
                    if self.mask != 0 {
                        self.together(block, world, *inst, "a named barrier");
                        if phases::arrive(self, block, world, *barrier, *inst) {
                            self.state = State::AtNamed(*inst, barrier.name);
                        }
                        break true;
                    }
                }
                MicroOp::Mbarrier { op, index, operand } => {
                    if let Some(state) = phases::mbarrier(self, block, world, *op, *index, *operand)
                    {
                        pc -= 1;
                        self.state = state;
                        break !waited || instructions > 0;
                    }
                    count!();
                }
                MicroOp::Role { first, warps, otherwise } => {
                    if !(*first..*first + *warps).contains(&self.index) {
                        pc = *otherwise as usize;
                    }
                }
                MicroOp::Jump(target) => pc = *target as usize,
                MicroOp::Moves(moves) => {
                    let mask = self.mask;
                    self.copy(code, *moves, mask);
                }
                MicroOp::If { condition, otherwise } => {
                    count!();
                    let condition = truth(row(&self.registers, constants, *condition, lanes));
                    if !self.divide(condition) {
                        pc = *otherwise as usize;
                    }
                }
                MicroOp::Else { end } => match self.frames.last_mut() {
                    Some(frame) if frame.inside != 0 => {
                        self.mask = core::mem::take(&mut frame.inside);
                    }
                    _ => pc = *end as usize,
                },
                MicroOp::EndIf | MicroOp::ExitLoop => {
                    if let Some(frame) = self.frames.pop() {
                        self.mask = frame.after;
                    }
                }
                MicroOp::EnterLoop { exit } => {
                    self.frames.push(Frame { after: self.mask, inside: self.mask });
                    if self.mask == 0 {
                        pc = *exit as usize;
                    }
                }
                MicroOp::BreakIf { condition, moves, exit, depth, inst } => {
                    count!();
                    let condition = truth(row(&self.registers, constants, *condition, lanes));
                    let leaving = self.mask & condition;
                    if leaving != 0 {
                        self.copy(code, *moves, leaving);
                        if !self.leave(block, world, *inst, leaving, *depth as usize) {
                            pc = *exit as usize;
                        }
                    }
                }
                MicroOp::BackEdge { spills, moves, start, exit, inst } => {
                    if self.mask == 0 {
                        pc = *exit as usize;
                        continue;
                    }
                    count!();
                    let mask = self.mask;
                    self.copy(code, *spills, mask);
                    let changed = self.copy(code, *moves, mask);
                    let here = pc as u32 - 1;
                    pc = *start as usize;
                    rounds += 1;
                    if !changed || rounds >= ROUNDS {
                        self.edge = Some(here);
                        self.state = State::Round(*inst);
                        break changed || rounds > 1 || started_at != Some(here);
                    }
                }
                MicroOp::Return => {
                    count!();
                    self.state = State::Done;
                    memory_access::copies::abandon(self, world);
                    break true;
                }
            }
        };
        self.pc = pc as u32;
        world.instructions += instructions;
        world.lane_instructions += lane_instructions;
        progress
    }

    /// Opens an `If`, whose first region runs for the lanes that take it; returns whether any does.
    fn divide(&mut self, condition: u64) -> bool {
        let (taken, not) = (self.mask & condition, self.mask & !condition);
        let both = taken != 0 && not != 0;
        self.frames.push(Frame { after: self.mask, inside: if both { not } else { 0 } });
        if both {
            self.mask = taken;
        }
        taken != 0
    }

    /// Takes lanes out of the loop whose frame is at `depth`; returns whether any stay in it.
    fn leave(
        &mut self,
        block: &Block,
        world: &mut World<'_>,
        inst: Inst,
        leaving: u64,
        depth: usize,
    ) -> bool {
        let inside = self.frames[depth].inside;
        if leaving != inside {
            let actor = world.actor(block, self.index, None, inst);
            world.findings.add(FindingKind::Divergence, actor, None, || {
                format!(
                    "{} of the {} lanes in the loop leave it, the others do not",
                    leaving.count_ones(),
                    inside.count_ones()
                )
            });
        }
        self.frames[depth].inside &= !leaving;
        if self.frames[depth].inside == 0 {
            self.frames.truncate(depth + 1);
            return false;
        }
        for frame in &mut self.frames[depth + 1..] {
            frame.after &= !leaving;
            frame.inside &= !leaving;
        }
        self.mask &= !leaving;
        true
    }

    /// Copies rows in the lanes of a mask; returns whether anything changed there.
    fn copy(&mut self, code: &Code, moves: Moves, mask: u64) -> bool {
        let lanes = code.lanes as usize;
        let mut difference = 0;
        for &(src, dst) in &code.moves[moves.start as usize..moves.end as usize] {
            let (dst, around) = split(&mut self.registers, &code.constants, dst, lanes);
            let src = around.get(src);
            if mask == full(code.lanes) {
                for (dst, &src) in dst.iter_mut().zip(src) {
                    difference |= *dst ^ src;
                    *dst = src;
                }
            } else {
                for lane in lanes_of(mask) {
                    difference |= dst[lane] ^ src[lane];
                    dst[lane] = src[lane];
                }
            }
        }
        difference != 0
    }
}

/// The mask of all lanes.
pub(super) fn full(lanes: u32) -> u64 {
    u64::MAX >> (64 - lanes)
}
