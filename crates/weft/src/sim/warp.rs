//! One warp as a machine: position, active lanes, registers.

use super::clock::{Fences, Knowledge};
use super::memory_access::transfers::{self, Groups};
use super::memory_access::{self, copies::Copies, phases, products, products::Products};
use super::multiply::multiply;
use super::program::{CONST, Code, MicroOp, Moves, OWN_ROWS, Row};
use super::report::FindingKind;
use super::schedule::{Block, World};
use crate::lane::Inst;
use crate::scalar;

/// How often a warp may go round before another one runs.
const ROUNDS: u32 = 64;

/// A warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Warp {
    pub(super) index: u32,
    pc: u32,
    /// The active lanes.
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
    /// It can.
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

/// The rows around one that is written.
struct Around<'a> {
    low: &'a [u64],
    high: &'a [u64],
    constants: &'a [u64],
    /// Where `high` starts.
    high_at: usize,
    lanes: usize,
}

impl Around<'_> {
    #[inline]
    fn get(&self, row: Row) -> &[u64] {
        let (from, at) = if row & CONST != 0 {
            (self.constants, (row & !CONST) as usize)
        } else if (row as usize) < self.high_at {
            (self.low, row as usize)
        } else {
            (self.high, row as usize - self.high_at)
        };
        &from[at..at + self.lanes]
    }
}

/// Splits off the row that is written.
#[inline]
fn split<'a>(
    registers: &'a mut [u64],
    constants: &'a [u64],
    dst: Row,
    lanes: usize,
) -> (&'a mut [u64], Around<'a>) {
    let (low, rest) = registers.split_at_mut(dst as usize);
    let (dst_row, high) = rest.split_at_mut(lanes);
    (dst_row, Around { low, high, constants, high_at: dst as usize + lanes, lanes })
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
        let full = full(code.lanes);
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
                MicroOp::BinaryRow { f, x, y, dst } => {
                    count!();
                    let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                    f(dst, around.get(*x), around.get(*y));
                }
                MicroOp::TernaryRow { f, x, y, z, dst } => {
                    count!();
                    let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                    f(dst, around.get(*x), around.get(*y), around.get(*z));
                }
                MicroOp::UnaryRow { f, x, dst } => {
                    count!();
                    let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                    f(dst, around.get(*x));
                }
                MicroOp::Unary { f, x, dst } => {
                    count!();
                    let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                    for (dst, &x) in dst.iter_mut().zip(around.get(*x)) {
                        *dst = f(x);
                    }
                }
                MicroOp::Binary { f, x, y, dst } => {
                    count!();
                    let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                    for ((dst, &x), &y) in dst.iter_mut().zip(around.get(*x)).zip(around.get(*y)) {
                        *dst = f(x, y);
                    }
                }
                MicroOp::Ternary { f, x, y, z, dst } => {
                    count!();
                    let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                    let (x, y, z) = (around.get(*x), around.get(*y), around.get(*z));
                    for (((dst, &x), &y), &z) in dst.iter_mut().zip(x).zip(y).zip(z) {
                        *dst = f(x, y, z);
                    }
                }
                MicroOp::Cast { op, from, to, x, dst } => {
                    count!();
                    let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                    for (dst, &x) in dst.iter_mut().zip(around.get(*x)) {
                        *dst = scalar::cast(*op, *from, *to, x);
                    }
                }
                MicroOp::Linear { columns, x, dst } => {
                    count!();
                    let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                    dst.fill(0);
                    for (bit, &column) in columns.iter().enumerate() {
                        for (dst, &x) in dst.iter_mut().zip(around.get(*x)) {
                            *dst ^= u64::from(column) & (x >> bit & 1).wrapping_neg();
                        }
                    }
                }
                MicroOp::Load(index) => {
                    count!();
                    memory_access::load(self, block, world, *index);
                }
                MicroOp::Store(index) => {
                    count!();
                    memory_access::store(self, block, world, *index);
                }
                MicroOp::Atomic(index) => {
                    count!();
                    memory_access::atomic(self, block, world, *index);
                }
                MicroOp::AsyncCopy { index, filled } => {
                    count!();
                    memory_access::copies::issue(self, block, world, *index, *filled);
                }
                MicroOp::AsyncCommit => {
                    count!();
                    self.copies.commit();
                }
                MicroOp::AsyncWait { pending } => {
                    count!();
                    let pending = *pending as usize;
                    memory_access::copies::wait(self, block, world, pending);
                }
                MicroOp::ShuffleXor { mask, x, dst, inst } => {
                    count!();
                    world.shuffles += u64::from(self.mask != 0);
                    self.together(block, world, *inst, full, "a shuffle");
                    let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                    let x = around.get(*x);
                    for (lane, dst) in dst.iter_mut().enumerate() {
                        *dst = x[(lane ^ *mask as usize) & (lanes - 1)];
                    }
                }
                MicroOp::ShuffleIndex { x, lane, dst, inst } => {
                    count!();
                    world.shuffles += u64::from(self.mask != 0);
                    self.together(block, world, *inst, full, "a shuffle");
                    let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                    let x = around.get(*x);
                    for (dst, &from) in dst.iter_mut().zip(around.get(*lane)) {
                        *dst = x[from as usize & (lanes - 1)];
                    }
                }
                MicroOp::MatrixMultiply(op) => {
                    count!();
                    self.together(block, world, op.inst, full, "a product of matrices");
                    let operands = op.operands.each_ref().map(|rows| {
                        let words = rows.iter();
                        words.map(|&word| row(&self.registers, constants, word, lanes)).collect()
                    });
                    let [a, b, sum]: [Vec<&[u64]>; 3] = operands;
                    let results = multiply(op.multiply, [&a, &b, &sum]);
                    for (&to, words) in op.results.iter().zip(results.chunks_exact(lanes)) {
                        self.registers[to as usize..][..lanes].copy_from_slice(words);
                    }
                }
                MicroOp::Product(index) => {
                    count!();
                    let inst = code.products[*index as usize].inst;
                    self.together(block, world, inst, full, "a product of a warpgroup");
                    products::begin(self, block, world, *index);
                }
                MicroOp::ProductFence { inst } => {
                    count!();
                    self.together(block, world, *inst, full, "a fence of a warpgroup");
                    products::step(self, block, world, *inst, [0; 3]);
                }
                MicroOp::ProductCommit { inst } => {
                    count!();
                    self.together(block, world, *inst, full, "a commit of a warpgroup");
                    products::step(self, block, world, *inst, [0; 3]);
                    self.products.commit();
                }
                MicroOp::ProductWait(op) => {
                    count!();
                    self.together(block, world, op.inst, full, "a wait of a warpgroup");
                    products::step(self, block, world, op.inst, [0; 3]);
                    products::wait(self, block, world, op);
                }
                &MicroOp::Fence { order, scope } => {
                    count!();
                    self.fences.pass(order, scope, block.tick, &mut self.knowledge);
                    block.tick += 1;
                }
                MicroOp::ProxyFence => {
                    count!();
                    let lanes = (self.mask, full);
                    block.proxies.fence(self.index, lanes, block.tick, &self.knowledge);
                }
                MicroOp::WarpBarrier { inst } => {
                    count!();
                    if self.mask != 0 {
                        world.warp_barriers += 1;
                        self.together(block, world, *inst, full, "a warp barrier");
                        self.knowledge.rounds = self.knowledge.rounds.wrapping_add(1);
                    }
                }
                MicroOp::BlockBarrier { inst } => {
                    count!();
                    if self.mask != 0 {
                        world.block_barriers += 1;
                        self.together(block, world, *inst, full, "a block barrier");
                        self.state = State::AtBarrier(*inst);
                        break true;
                    }
                }
                MicroOp::NamedBarrier { barrier, inst } => {
                    count!();
                    if self.mask != 0 {
                        self.together(block, world, *inst, full, "a named barrier");
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
                MicroOp::BulkCopy(op) => {
                    count!();
                    transfers::begin(self, block, world, op);
                }
                MicroOp::BulkCommit => {
                    count!();
                    if self.mask != 0 {
                        self.groups.commit();
                    }
                }
                MicroOp::BulkWait { pending, reads } => {
                    count!();
                    if self.mask != 0 {
                        transfers::wait(self, block, world, *pending, *reads);
                    }
                }
                MicroOp::Role { first, warps, otherwise } => {
                    if !(*first..*first + *warps).contains(&self.index) {
                        pc = *otherwise as usize;
                    }
                }
                MicroOp::Jump(target) => pc = *target as usize,
                MicroOp::Print { format, predicate, values } => {
                    count!();
                    let holds = truth(row(&self.registers, constants, *predicate, lanes));
                    for lane in lanes_of(self.mask & holds) {
                        let value = |&value| row(&self.registers, constants, value, lanes)[lane];
                        let values: Vec<u64> = values.iter().map(value).collect();
                        world.printed.push(|| format.line(&values));
                    }
                }
                MicroOp::Assert { message, condition, inst } => {
                    count!();
                    let holds = truth(row(&self.registers, constants, *condition, lanes));
                    let failed = self.mask & !holds;
                    if failed != 0 {
                        let lane = failed.trailing_zeros();
                        let actor = world.actor(block, self.index, Some(lane), *inst);
                        let told = || format!("`{message}` does not hold");
                        world.findings.add(FindingKind::Assertion, actor, None, told);
                    }
                }
                MicroOp::Moves(moves) => {
                    let mask = self.mask;
                    self.copy(code, *moves, mask);
                }
                MicroOp::If { condition, otherwise } => {
                    count!();
                    let condition = truth(row(&self.registers, constants, *condition, lanes));
                    let (taken, not) = (self.mask & condition, self.mask & !condition);
                    let both = taken != 0 && not != 0;
                    self.frames
                        .push(Frame { after: self.mask, inside: if both { not } else { 0 } });
                    if both {
                        self.mask = taken;
                    } else if taken == 0 {
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
                    if leaving == 0 {
                        continue;
                    }
                    self.copy(code, *moves, leaving);
                    let depth = *depth as usize;
                    let inside = self.frames[depth].inside;
                    if leaving != inside {
                        let actor = world.actor(block, self.index, None, *inst);
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
                        pc = *exit as usize;
                        continue;
                    }
                    for frame in &mut self.frames[depth + 1..] {
                        frame.after &= !leaving;
                        frame.inside &= !leaving;
                    }
                    self.mask &= !leaving;
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

    /// Reports an operation that all lanes must run together, if they do not.
    fn together(
        &self,
        block: &Block,
        world: &mut World<'_>,
        inst: Inst,
        full: u64,
        what: &'static str,
    ) {
        if self.mask != full && self.mask != 0 {
            let active = self.mask.count_ones();
            let actor = world.actor(block, self.index, None, inst);
            world.findings.add(FindingKind::Divergence, actor, None, || {
                format!("{what} where only {active} of {} lanes are", full.count_ones())
            });
        }
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
