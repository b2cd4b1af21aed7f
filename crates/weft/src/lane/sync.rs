//! Fences and barriers: what orders a thread's accesses, and what lets threads wait for others.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::effects::{Effects, Extent, Fence, Latency, Participants, Spaces};
use super::family::{Differs, Family, Operands, Text, Told};
use super::{BarrierScope, Builder, Op};
use crate::atomic::{Order, Scope};
use crate::dtype::DType;
use smallvec::smallvec;

/// A fence or barrier, of no operands and no results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SyncOp {
    /// Waits for the others, and orders memory between them.
    Barrier(BarrierScope),
    /// Arrives at a barrier of some of the block's warps.
    Named(NamedBarrier),
    /// Orders the thread's accesses around it as an atomic of this order would, through the relaxed atomics
    /// beside it: what was done before is seen by whoever acquires what one behind it writes, and what was
    /// released to one before it is seen behind.
    Fence {
        /// Which accesses stay on their side.
        order: Order,
        /// The threads that it orders accesses for.
        scope: Scope,
    },
    /// What the thread wrote to shared memory before, or learned of at a barrier, is what products begun after
    /// see.
    ProxyFence,
    /// Waits until the grids that this one depends on have ended, and sees what they wrote.
    GridWait,
    /// Lets grids that depend on this one begin when all of its blocks have come here or ended.
    GridLaunch,
}

/// An arrival at one of the block's barriers: `barrier.cta` of the PTX ISA. When as many warps have arrived as
/// it expects, those that wait go on, and what each had done when it arrived is done for them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NamedBarrier {
    /// Which one: 1 to 15. Barrier 0 is that of the whole block.
    pub name: u8,
    /// How many warps it expects, those that do not wait among them.
    pub warps: u32,
    /// Whether the warp waits for the others, or goes on.
    pub waits: bool,
}

impl NamedBarrier {
    /// How many barriers a block has, that of the whole block among them.
    pub const COUNT: u8 = 16;
}

impl SyncOp {
    /// Whether a block of so many warps can come to it.
    pub(super) fn fits(self, warps: u32) -> bool {
        match self {
            Self::Named(barrier) => barrier.warps <= warps,
            Self::Barrier(_)
            | Self::Fence { .. }
            | Self::ProxyFence
            | Self::GridWait
            | Self::GridLaunch => true,
        }
    }
}

impl Builder {
    /// Orders memory around relaxed atomics.
    pub fn fence(&mut self, order: Order, scope: Scope) {
        self.emit(Op::Sync(SyncOp::Fence { order, scope }), smallvec![], &[]);
    }

    /// Lets products see what was written to shared memory.
    pub fn proxy_fence(&mut self) {
        self.emit(Op::Sync(SyncOp::ProxyFence), smallvec![], &[]);
    }

    /// Waits for the grids that this one depends on.
    pub fn grid_wait(&mut self) {
        self.emit(Op::Sync(SyncOp::GridWait), smallvec![], &[]);
    }

    /// Lets the grids that depend on this one begin.
    pub fn grid_launch(&mut self) {
        self.emit(Op::Sync(SyncOp::GridLaunch), smallvec![], &[]);
    }

    /// A barrier, at which all threads of the scope wait for one another.
    pub fn barrier(&mut self, scope: BarrierScope) {
        self.emit(Op::Sync(SyncOp::Barrier(scope)), smallvec![], &[]);
    }
}

impl Family for SyncOp {
    const FORMS: &'static [Self] = &[
        Self::Barrier(BarrierScope::Warp),
        Self::Barrier(BarrierScope::Block),
        Self::Named(NamedBarrier { name: 1, warps: 1, waits: true }),
        Self::Named(NamedBarrier { name: 1, warps: 1, waits: false }),
        Self::ProxyFence,
        Self::GridWait,
        Self::GridLaunch,
        Self::Fence { order: Order::AcqRel, scope: Scope::Gpu },
    ];

    fn effects(&self) -> Effects {
        let none = Effects::NONE;
        match *self {
            Self::Barrier(scope) => Effects {
                fence: Fence::Barrier(scope),
                convergent: Some(scope.into()),
                latency: Latency::Wait,
                ..none
            },
            Self::Named(barrier) => Effects {
                fence: Fence::Named(barrier),
                convergent: Some(Participants::Warp),
                latency: if barrier.waits { Latency::Wait } else { Latency::None },
                ..none
            },
            Self::Fence { order, scope } => {
                Effects { fence: Fence::Atomic(order, scope), latency: Latency::Wait, ..none }
            }
            Self::ProxyFence => Effects { fence: Fence::Proxy, latency: Latency::Wait, ..none },
            // Other grids write what they like until then.
            Self::GridWait => Effects {
                reads: Spaces::GLOBAL,
                writes: Spaces::GLOBAL,
                extent: Extent::Anywhere,
                fence: Fence::Unknown,
                visible: true,
                latency: Latency::Wait,
                ..none
            },
            Self::GridLaunch => Effects { visible: true, ..none },
        }
    }

    fn operands(&self) -> Operands {
        Operands::new()
    }

    fn is_sound(&self, values: &[DType], results: &[DType]) -> bool {
        let fits = match self {
            Self::Named(NamedBarrier { name, warps, waits: _ }) => {
                (1..NamedBarrier::COUNT).contains(name) && *warps >= 1
            }
            Self::Barrier(_)
            | Self::Fence { .. }
            | Self::ProxyFence
            | Self::GridWait
            | Self::GridLaunch => true,
        };
        fits && values.is_empty() && results.is_empty()
    }

    fn text(&mut self, text: &mut dyn Text) -> Told {
        match self {
            Self::Barrier(BarrierScope::Warp) => text.word("barrier.warp"),
            Self::Barrier(BarrierScope::Block) => text.word("barrier.block"),
            Self::Named(NamedBarrier { name, warps, waits }) => {
                text.word(if *waits { "barrier.wait" } else { "barrier.arrive" })?;
                let mut number = u32::from(*name);
                text.behind(&mut number)?;
                *name = u8::try_from(number).map_err(|_| Differs)?;
                text.said("of")?;
                text.behind(warps)
            }
            Self::Fence { order, scope } => {
                text.word("fence")?;
                text.choice("ORDER", order)?;
                text.choice("SCOPE", scope)
            }
            Self::ProxyFence => text.word("fence.proxy"),
            Self::GridWait => text.word("grid.wait"),
            Self::GridLaunch => text.word("grid.launch"),
        }
    }
}
