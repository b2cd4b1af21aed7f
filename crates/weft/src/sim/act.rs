//! What a warp does to memory and among its lanes, and then goes on: whatever happens, the next operation
//! follows.

use super::compute::split;
use super::memory_access::{self, copies, products, transfers};
use super::multiply::multiply;
use super::program::{BulkOp, Code, MakeOp, MultiplyOp, Row, ScaledOp, WaitOp};
use super::report::FindingKind;
use super::scaled;
use super::schedule::{Block, World};
use super::warp::{Warp, full, lanes_of, row, truth};
use crate::atomic::{Order, Scope};
use crate::format::Format;
use crate::lane::Inst;
use smallvec::SmallVec;

/// A flat operation on memory or among lanes.
#[derive(Debug)]
pub(super) enum Act {
    Load(u32),
    Store(u32),
    Atomic(u32),
    AsyncCopy(copies::Step),
    ShuffleXor {
        mask: u32,
        x: Row,
        dst: Row,
        inst: Inst,
    },
    ShuffleIndex {
        x: Row,
        lane: Row,
        dst: Row,
        inst: Inst,
    },
    MatrixMultiply(Box<MultiplyOp>),
    ScaledMultiply(Box<ScaledOp>),
    /// Begins product `index` of a warpgroup.
    Product(u32),
    ProductFence {
        inst: Inst,
    },
    ProductCommit {
        inst: Inst,
    },
    ProductWait(Box<WaitOp>),
    Fence {
        order: Order,
        scope: Scope,
    },
    ProxyFence,
    WarpBarrier {
        inst: Inst,
    },
    BulkCopy(Box<BulkOp>),
    MakeMap(Box<MakeOp>),
    BulkCommit,
    BulkWait {
        pending: u32,
        reads: bool,
    },
    Print {
        format: Box<Format>,
        predicate: Row,
        values: SmallVec<[Row; 4]>,
    },
    Assert {
        message: String,
        condition: Row,
        inst: Inst,
    },
}

impl Warp {
    /// Does what the warp is to do here, for its active lanes.
    pub(super) fn act(&mut self, act: &Act, block: &mut Block, world: &mut World<'_>) {
        let code = world.code;
        let lanes = code.lanes as usize;
        let constants = &code.constants[..];
        match act {
            Act::Load(index) => memory_access::load(self, block, world, *index),
            Act::Store(index) => memory_access::store(self, block, world, *index),
            Act::Atomic(index) => memory_access::atomic(self, block, world, *index),
            Act::AsyncCopy(step) => copies::take(self, block, world, *step),
            Act::ShuffleXor { mask, x, dst, inst } => {
                world.shuffles += u64::from(self.mask != 0);
                self.together(block, world, *inst, "a shuffle");
                let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                let x = around.get(*x);
                for (lane, dst) in dst.iter_mut().enumerate() {
                    *dst = x[(lane ^ *mask as usize) & (lanes - 1)];
                }
            }
            Act::ShuffleIndex { x, lane, dst, inst } => {
                world.shuffles += u64::from(self.mask != 0);
                self.together(block, world, *inst, "a shuffle");
                let (dst, around) = split(&mut self.registers, constants, *dst, lanes);
                let x = around.get(*x);
                for (dst, &from) in dst.iter_mut().zip(around.get(*lane)) {
                    *dst = x[from as usize & (lanes - 1)];
                }
            }
            Act::MatrixMultiply(op) => {
                self.together(block, world, op.inst, "a product of matrices");
                self.multiply(code, op);
            }
            Act::ScaledMultiply(op) => {
                self.together(block, world, op.inst, "a product of matrices");
                self.scaled_multiply(code, op);
            }
            Act::Product(index) => {
                let inst = code.products[*index as usize].inst;
                self.together(block, world, inst, "a product of a warpgroup");
                products::begin(self, block, world, *index);
            }
            Act::ProductFence { inst } => {
                self.together(block, world, *inst, "a fence of a warpgroup");
                products::step(self, block, world, *inst, [0; 3]);
            }
            Act::ProductCommit { inst } => {
                self.together(block, world, *inst, "a commit of a warpgroup");
                products::step(self, block, world, *inst, [0; 3]);
                self.products.commit();
            }
            Act::ProductWait(op) => {
                self.together(block, world, op.inst, "a wait of a warpgroup");
                products::step(self, block, world, op.inst, [0; 3]);
                products::wait(self, block, world, op);
            }
            &Act::Fence { order, scope } => {
                self.fences.pass(order, scope, block.tick, &mut self.knowledge);
                block.tick += 1;
            }
            Act::ProxyFence => {
                let lanes = (self.mask, full(code.lanes));
                block.proxies.fence(self.index, lanes, block.tick, &self.knowledge);
            }
            Act::WarpBarrier { inst } => {
                if self.mask != 0 {
                    world.warp_barriers += 1;
                    self.together(block, world, *inst, "a warp barrier");
                    self.knowledge.rounds = self.knowledge.rounds.wrapping_add(1);
                }
            }
            Act::BulkCopy(op) => transfers::begin(self, block, world, op),
            Act::MakeMap(op) => transfers::make(self, block, code, op),
            Act::BulkCommit => {
                if self.mask != 0 {
                    self.groups.commit();
                }
            }
            Act::BulkWait { pending, reads } => {
                if self.mask != 0 {
                    transfers::wait(self, block, world, *pending, *reads);
                }
            }
            Act::Print { format, predicate, values } => {
                let holds = truth(row(&self.registers, constants, *predicate, lanes));
                for lane in lanes_of(self.mask & holds) {
                    let value = |&value| row(&self.registers, constants, value, lanes)[lane];
                    let values: Vec<u64> = values.iter().map(value).collect();
                    world.printed.push(|| format.line(&values));
                }
            }
            Act::Assert { message, condition, inst } => {
                let holds = truth(row(&self.registers, constants, *condition, lanes));
                let failed = self.mask & !holds;
                if failed != 0 {
                    let lane = failed.trailing_zeros();
                    let actor = world.actor(block, self.index, Some(lane), *inst);
                    let told = || format!("`{message}` does not hold");
                    world.findings.add(FindingKind::Assertion, actor, None, told);
                }
            }
        }
    }

    /// Multiplies matrices whose words lie in the lanes' registers.
    fn multiply(&mut self, code: &Code, op: &MultiplyOp) {
        let lanes = code.lanes as usize;
        let operands = op.operands.each_ref().map(|rows| {
            let words = rows.iter();
            words.map(|&word| row(&self.registers, &code.constants, word, lanes)).collect()
        });
        let [a, b, sum]: [Vec<&[u64]>; 3] = operands;
        let results = multiply(op.multiply, [&a, &b, &sum]);
        self.set_words(&op.results, &results, lanes);
    }

    /// The same with a scale for each group of numbers.
    fn scaled_multiply(&mut self, code: &Code, op: &ScaledOp) {
        let lanes = code.lanes as usize;
        let of = |&word: &Row| row(&self.registers, &code.constants, word, lanes);
        let [a, b, sum]: [Vec<&[u64]>; 3] =
            op.operands.each_ref().map(|rows| rows.iter().map(of).collect());
        let scales = op.scales.each_ref().map(of);
        let results = scaled::multiply(op.multiply, [&a, &b, &sum], scales);
        self.set_words(&op.results, &results, lanes);
    }

    /// Sets registers to words, of each word all lanes.
    fn set_words(&mut self, registers: &[Row], words: &[u64], lanes: usize) {
        for (&to, words) in registers.iter().zip(words.chunks_exact(lanes)) {
            self.registers[to as usize..][..lanes].copy_from_slice(words);
        }
    }

    /// Reports an operation that all lanes must run together, if they do not.
    pub(super) fn together(
        &self,
        block: &Block,
        world: &mut World<'_>,
        inst: Inst,
        what: &'static str,
    ) {
        let full = full(world.code.lanes);
        if self.mask != full && self.mask != 0 {
            let active = self.mask.count_ones();
            let actor = world.actor(block, self.index, None, inst);
            world.findings.add(FindingKind::Divergence, actor, None, || {
                format!("{what} where only {active} of {} lanes are", full.count_ones())
            });
        }
    }
}
