//! Who has seen what: logical time for the race detector.
//!
//! A block counts *ticks*: one at each block barrier and one after each release of one of its warps.
//! An access happens at the tick its block is in. A warp knows, for every warp of its block, up to
//! which tick that warp's accesses happened before its own next one; a barrier raises all of that to
//! the present. What a warp knows of other blocks comes only through an acquire that meets a release
//! at the same address, and is kept sparsely.
//!
//! What runs on by itself counts as one more of the block: the bulk copies from shared memory that a warp has
//! begun, and those that one mbarrier counts, are an *agent* each. Who waited for them knows up to which tick
//! they were begun.

use crate::atomic::{Order, Scope};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// For some blocks, the tick up to which each warp's accesses are known; 0 is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(BTreeMap<u32, Box<[u32]>>);

impl Clock {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Up to which tick warp `warp` of `block` is known.
    pub(super) fn tick(&self, block: u32, warp: u32) -> u32 {
        self.0.get(&block).and_then(|ticks| ticks.get(warp as usize)).copied().unwrap_or(0)
    }

    fn join_block(&mut self, block: u32, ticks: &[u32]) {
        match self.0.get_mut(&block) {
            Some(known) => {
                for (known, &tick) in known.iter_mut().zip(ticks) {
                    *known = tick.max(*known);
                }
            }
            None => {
                self.0.insert(block, ticks.into());
            }
        }
    }

    pub(super) fn join(&mut self, other: &Clock) {
        for (&block, ticks) in &other.0 {
            self.join_block(block, ticks);
        }
    }
}

/// What one warp knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    /// Of its own block's warps, and behind them of its agents.
    pub(super) own: Vec<u32>,
    /// How many of them are warps.
    warps: usize,
    /// The least of what is known of warps.
    pub(super) floor: u32,
    /// What it knows of other blocks.
    pub(super) others: Clock,
    /// Counts the barriers of this warp: two accesses by different lanes are ordered if it differs.
    pub(super) rounds: u32,
}

impl Knowledge {
    pub(super) fn reset(&mut self, warps: u32, agents: u32) {
        let Self { own, warps: count, floor, others, rounds } = self;
        own.clear();
        own.resize((warps + agents) as usize, 0);
        *count = warps as usize;
        *floor = 0;
        others.clear();
        *rounds = 0;
    }

    /// Learns what others of its block know up to, warp by warp and agent by agent.
    fn learn_all(&mut self, ticks: &[u32]) {
        for (known, &tick) in self.own.iter_mut().zip(ticks) {
            *known = tick.max(*known);
        }
        self.floor = self.own[..self.warps].iter().copied().min().unwrap_or(0);
    }

    /// Learns what another one of its block knows.
    pub(super) fn join(&mut self, other: &Knowledge) {
        self.learn_all(&other.own);
        self.others.join(&other.others);
    }

    /// Learns of one agent.
    pub(super) fn learn(&mut self, agent: usize, tick: u32) {
        if let Some(known) = self.own.get_mut(self.warps + agent) {
            *known = tick.max(*known);
        }
    }

    /// Up to which tick an agent is known.
    pub(super) fn agent(&self, agent: usize) -> u32 {
        self.own.get(self.warps + agent).copied().unwrap_or(0)
    }

    /// What a warp lets others know when it has done all up to a tick.
    pub(super) fn published(&self, warp: u32, tick: u32) -> Knowledge {
        let mut published = self.clone();
        if let Some(own) = published.own.get_mut(warp as usize) {
            *own = tick.max(*own);
        }
        published
    }

    /// Takes part in a barrier at which everything up to `tick` of its block is known to all, and of agents what
    /// any of those knew who took part.
    pub(super) fn barrier(&mut self, tick: u32, all: &Knowledge) {
        self.learn_all(&all.own);
        self.own[..self.warps].fill(tick);
        self.floor = tick;
        self.others.clone_from(&all.others);
        self.rounds = self.rounds.wrapping_add(1);
    }

    /// Takes part in a barrier of some warps, who let each other know this.
    pub(super) fn meet(&mut self, all: &Knowledge) {
        self.join(all);
        self.rounds = self.rounds.wrapping_add(1);
    }
}

/// What the fences of a warp and its relaxed atomics leave for each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Fences {
    /// What the last fence that releases lets the atomics behind it publish: to whom, at which tick, and what the
    /// warp knew.
    released: Option<(Scope, u32, Knowledge)>,
    /// What was released to the atomics so far, which the next fence that acquires lets the warp know.
    met: Knowledge,
}

impl Fences {
    pub(super) fn reset(&mut self, warps: u32, agents: u32) {
        self.released = None;
        self.met.reset(warps, agents);
    }

    /// Passes a fence in tick `tick` of the block; the next one must begin then.
    pub(super) fn pass(
        &mut self,
        order: Order,
        scope: Scope,
        tick: u32,
        knowledge: &mut Knowledge,
    ) {
        if order.acquires() {
            knowledge.join(&self.met);
        }
        if order.releases() {
            self.released = Some((scope, tick, knowledge.clone()));
        }
    }

    /// Remembers what was released where an atomic that does not acquire reads.
    pub(super) fn meet(&mut self, releases: &Releases, address: u64, scope: Scope, block: u32) {
        releases.acquire(address, scope, block, &mut self.met);
    }

    /// Publishes what the last fence released where an atomic that does not release writes.
    pub(super) fn publish(
        &self,
        releases: &mut Releases,
        address: u64,
        scope: Scope,
        (block, warp): (u32, u32),
    ) {
        if let Some((of_fence, tick, knowledge)) = &self.released {
            releases.release(address, scope.min(*of_fence), (block, warp, *tick), knowledge);
        }
    }
}

/// What was released at each address.
#[derive(Debug, Default)]
pub(super) struct Releases(FxHashMap<u64, Released>);

#[derive(Debug, Default)]
struct Released {
    /// What was released to the whole GPU.
    all: Clock,
    /// To the threads of one block.
    block: BTreeMap<u32, Clock>,
}

impl Releases {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Publishes what `warp` of `block` knows, and all it has done up to `tick`.
    pub(super) fn release(
        &mut self,
        address: u64,
        scope: Scope,
        (block, warp, tick): (u32, u32, u32),
        knowledge: &Knowledge,
    ) {
        let released = self.0.entry(address).or_default();
        let publish = |clock: &mut Clock| {
            clock.join(&knowledge.others);
            clock.join_block(block, &knowledge.own);
            if let Some(own) =
                clock.0.get_mut(&block).and_then(|ticks| ticks.get_mut(warp as usize))
            {
                *own = tick.max(*own);
            }
        };
        if scope != Scope::Block {
            publish(&mut released.all);
        }
        publish(released.block.entry(block).or_default());
    }

    /// Learns what was released at an address to a scope that includes the warp.
    pub(super) fn acquire(
        &self,
        address: u64,
        scope: Scope,
        block: u32,
        knowledge: &mut Knowledge,
    ) {
        let Some(released) = self.0.get(&address) else { return };
        let mut learn = |clock: &Clock| {
            for (&from, ticks) in &clock.0 {
                if from == block {
                    knowledge.learn_all(ticks);
                } else {
                    knowledge.others.join_block(from, ticks);
                }
            }
        };
        if scope != Scope::Block {
            learn(&released.all);
        }
        if let Some(clock) = released.block.get(&block) {
            learn(clock);
        }
    }
}
