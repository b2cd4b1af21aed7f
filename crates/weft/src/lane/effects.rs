//! What each operation does besides computing its results, told once.
//!
//! [`Op::effects`] is the only place that knows what an operation does to memory, to control and to other
//! threads. Passes, printers and the verifier ask it; none of them learns an effect from an operation's
//! name. A new operation needs a row here before the crate compiles, because the match has no wildcard arm.
//!
//! A row says what cannot be derived. The questions that passes ask (may it be removed, shared, executed
//! where it was not going to be, exchanged with a neighbour) are methods of [`Effects`] over those facts.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::family::Family;
use super::{BarrierScope, Form, NamedBarrier, Op, Program, Region, Space};
use crate::atomic::{Order, Scope};
use core::ops::BitOr;

/// A set of memory spaces.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Spaces(u8);

impl Spaces {
    /// The empty set of spaces.
    pub const NONE: Self = Self(0);
    /// The set of global memory alone.
    pub const GLOBAL: Self = Self(1);
    /// The set of shared memory alone.
    pub const SHARED: Self = Self(2);
    /// Every space there is.
    pub const ALL: Self = Self(3);

    /// The set of one space.
    pub const fn of(space: Space) -> Self {
        match space {
            Space::Global => Self::GLOBAL,
            Space::Shared => Self::SHARED,
        }
    }

    /// Whether a space is in the set.
    pub fn has(self, space: Space) -> bool {
        self.meets(Self::of(space))
    }

    /// Whether two sets have a space in common.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Spaces {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl core::fmt::Debug for Spaces {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let named = [(Self::GLOBAL, "global"), (Self::SHARED, "shared")];
        let names = named.iter().filter(|(space, _)| self.meets(*space)).map(|(_, name)| *name);
        f.write_str(&names.collect::<Vec<_>>().join("+"))
    }
}

/// Which bytes of the spaces it names an operation touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extent {
    /// Those at the addresses among its operands.
    #[default]
    Addressed,
    /// Those that asynchronous copies under way write.
    InFlight,
    /// Those that products read by the descriptors of their factors.
    Described,
    /// Any that the program allocates or is given. Scratch memory, which only the compiler's own movements
    /// use, is not among them.
    Anywhere,
}

/// The path by which an access reaches memory. Accesses through different proxies are not ordered by a
/// barrier alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Proxy {
    /// Ordinary loads, stores and atomics, and copies by `cp.async`.
    #[default]
    Generic,
    /// Bulk copies and matrix units that read shared memory by themselves.
    Async,
    /// It is not known which: either must be expected.
    Unknown,
}

/// How an operation orders the accesses around it, as other threads see them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fence {
    /// It does not order them.
    #[default]
    None,
    /// An atomic, or a fence beside relaxed ones: with whoever writes what it reads or reads what it writes.
    Atomic(Order, Scope),
    /// The threads of a scope wait for one another, and what each did before is done for all of them.
    Barrier(BarrierScope),
    /// Some warps arrive, and some of them wait until all have: what each did before is done for those.
    Named(NamedBarrier),
    /// The thread's accesses to shared memory through one proxy with those through another.
    Proxy,
    /// Not known: it may order everything, and cannot be relied on to order anything.
    Unknown,
}

impl Fence {
    /// Whether accesses after it must stay after it.
    pub fn acquires(self) -> bool {
        match self {
            Fence::None => false,
            Fence::Atomic(order, _) => order.acquires(),
            Fence::Named(barrier) => barrier.waits,
            Fence::Barrier(_) | Fence::Proxy | Fence::Unknown => true,
        }
    }

    /// Whether accesses before it must stay before it.
    pub fn releases(self) -> bool {
        match self {
            Fence::None => false,
            Fence::Atomic(order, _) => order.releases(),
            Fence::Barrier(_) | Fence::Named(_) | Fence::Proxy | Fence::Unknown => true,
        }
    }
}

/// What an operation does to the flow of control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Control {
    /// The next operation follows.
    #[default]
    None,
    /// It runs regions of its own; their effects are its own too ([`Program::any_effects`]).
    Regions,
    /// It may leave regions around it.
    Leaves,
    /// It ends its region.
    Ends,
}

/// The threads that execute an operation together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Participants {
    /// The lanes of a warp.
    Warp,
    /// Four warps in a row, the first of which is a multiple of four.
    Warpgroup,
    /// All warps of the block.
    Block,
}

impl From<BarrierScope> for Participants {
    fn from(scope: BarrierScope) -> Self {
        match scope {
            BarrierScope::Warp => Participants::Warp,
            BarrierScope::Block => Participants::Block,
        }
    }
}

/// What an operation has to do with groups of asynchronous copies, or of products in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tokens {
    /// It has nothing to do with them.
    #[default]
    None,
    /// It starts a copy, which joins the thread's open group and is under way from then on.
    Starts,
    /// It closes the open group.
    Commits,
    /// It waits until at most so many of the latest groups are under way.
    Awaits {
        /// How many groups may still be under way behind it.
        pending: u32,
    },
    /// It is a step of the products in flight.
    Products(Step),
    /// It is a step of the bulk copies under way.
    Bulk(Step),
    /// It is not known what: any of these must be expected.
    Unknown,
}

/// What an operation has to do with groups of products or bulk copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It makes ready the registers that products take, or the mbarrier that counts what copies write.
    Prepares,
    /// It starts a product or copy, which joins the open group and is in flight from then on.
    Starts,
    /// It closes the open group.
    Commits,
    /// It waits until at most so many of the latest groups are in flight.
    Awaits {
        /// How many groups may still be in flight behind it.
        pending: u32,
    },
}

/// How long it takes until what an operation gives may be used: what scheduling asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Latency {
    /// No time: it is an operand of others, structure, or an instruction that nobody waits for.
    #[default]
    None,
    /// As long as arithmetic.
    Arithmetic,
    /// As long as an exchange of registers between lanes.
    Exchange,
    /// As long as a product of matrices.
    Matrix,
    /// As long as a round trip to shared memory.
    Shared,
    /// As long as a round trip to global memory.
    Global,
    /// Until other threads, or copies under way, are ready.
    Wait,
    /// It is not known how long.
    Unknown,
}

impl Latency {
    /// How long a round trip to a space takes.
    pub(super) fn round_trip(space: Space) -> Self {
        match space {
            Space::Global => Latency::Global,
            Space::Shared => Latency::Shared,
        }
    }
}

/// The effects of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// The spaces that it reads.
    pub reads: Spaces,
    /// The spaces that it writes.
    pub writes: Spaces,
    /// Where in those spaces.
    pub extent: Extent,
    /// Through which proxy its accesses go.
    pub proxy: Proxy,
    /// How it orders other accesses.
    pub fence: Fence,
    /// The threads that must execute it together, if any must: a lane's part in it hangs on the others'.
    pub convergent: Option<Participants>,
    /// What it does to control.
    pub control: Control,
    /// Whether that it is executed can be seen from outside: lines that are printed, assertions, volatile
    /// accesses. Such operations keep their number and their order.
    pub visible: bool,
    /// What it has to do with asynchronous copies and products in flight.
    pub tokens: Tokens,
    /// When its results are there.
    pub latency: Latency,
}

impl Effects {
    /// None: a computation of results from operands.
    pub const NONE: Self = Self {
        reads: Spaces::NONE,
        writes: Spaces::NONE,
        extent: Extent::Addressed,
        proxy: Proxy::Generic,
        fence: Fence::None,
        convergent: None,
        control: Control::None,
        visible: false,
        tokens: Tokens::None,
        latency: Latency::None,
    };

    /// All of them at once: what must be assumed of an operation that cannot be read.
    pub const UNKNOWN: Self = Self {
        reads: Spaces::ALL,
        writes: Spaces::ALL,
        extent: Extent::Anywhere,
        proxy: Proxy::Unknown,
        fence: Fence::Unknown,
        convergent: Some(Participants::Block),
        visible: true,
        tokens: Tokens::Unknown,
        latency: Latency::Unknown,
        ..Self::NONE
    };

    /// A read of shared memory by address.
    pub const SHARED_READ: Self =
        Self { reads: Spaces::SHARED, latency: Latency::Shared, ..Self::NONE };

    /// Whether it reads or writes any memory.
    pub fn touches_memory(self) -> bool {
        !(self.reads | self.writes).is_empty()
    }

    /// Whether it does nothing but compute its results from its operands, in each lane by itself. It may
    /// then be shared with an equal operation, and executed where it was not going to be.
    pub fn is_pure(self) -> bool {
        self.is_removable() && self.reads.is_empty() && self.convergent.is_none()
    }

    /// Whether its results are all that it leaves behind, so that it may go when nobody uses them. It may
    /// still look at memory or at other lanes.
    pub fn is_removable(self) -> bool {
        self.writes.is_empty()
            && self.fence == Fence::None
            && self.control == Control::None
            && self.tokens == Tokens::None
            && !self.visible
    }

    /// Whether it may be executed where it was not going to be. What reads memory may not, since its
    /// address may be wrong there, nor what lanes must execute together.
    pub fn may_be_speculated(self) -> bool {
        self.is_pure()
    }

    /// Whether it ends its region.
    pub fn is_terminator(self) -> bool {
        self.control == Control::Ends
    }

    /// Whether its results are in flight: a product of a warpgroup.
    pub fn starts_product(self) -> bool {
        self.tokens == Tokens::Products(Step::Starts)
    }

    /// The threads that wait for one another at it, and for which it orders memory.
    pub fn barrier(self) -> Option<BarrierScope> {
        match self.fence {
            Fence::Barrier(scope) => Some(scope),
            Fence::None | Fence::Atomic(..) | Fence::Named(_) | Fence::Proxy | Fence::Unknown => {
                None
            }
        }
    }

    /// Whether it is a read-modify-write that no other one of its kind can come between.
    pub fn is_atomic(self) -> bool {
        matches!(self.fence, Fence::Atomic(..)) && self.touches_memory()
    }

    /// Whether it touches shared memory at the address that is its first operand.
    pub fn addresses_shared(self) -> bool {
        self.extent == Extent::Addressed && (self.reads | self.writes).has(Space::Shared)
    }

    /// Whether an operation with the effects `later` must stay behind this one, whatever addresses the two
    /// have. That a value of the one is an operand of the other is not looked at.
    pub fn precedes(self, later: Self) -> bool {
        let conflict =
            self.writes.meets(later.reads | later.writes) || self.reads.meets(later.writes);
        let fences = self.fence != Fence::None && later.fence != Fence::None;
        conflict
            || fences
            || self.touches_memory() && later.fence.releases()
            || self.fence.acquires() && later.touches_memory()
            || self.control != Control::None
            || later.control != Control::None
            || self.visible && later.visible
            || self.tokens != Tokens::None && later.tokens != Tokens::None
    }
}

impl Op {
    /// What the operation does besides computing its results; what regions of its own do is not in it
    /// ([`Program::any_effects`]).
    #[inline]
    pub fn effects(&self) -> Effects {
        let effects = self.declared();
        #[cfg(test)]
        let effects = testing::replaced(self, effects);
        effects
    }

    /// The row of the table, as it is written down for each operation.
    #[inline]
    #[allow(clippy::too_many_lines, reason = "a table")]
    fn declared(&self) -> Effects {
        let none = Effects::NONE;
        let warp = Some(Participants::Warp);
        match self {
            Op::Const(_) | Op::Param(_) | Op::Id(_) | Op::SharedBase(_) => none,
            Op::Linear { columns: _ }
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::Select
            | Op::Cast(_)
            | Op::Fma
            | Op::FmaToward(_)
            | Op::RoundPair(_)
            | Op::WidenPair(_)
            | Op::Offset
            | Op::Bytes => Effects { latency: Latency::Arithmetic, ..none },
            Op::Load { space, access } => Effects {
                reads: Spaces::of(*space),
                convergent: if access.form == Form::Vector { None } else { warp },
                visible: access.volatile,
                latency: Latency::round_trip(*space),
                ..none
            },
            Op::Store { space, access } => Effects {
                writes: Spaces::of(*space),
                convergent: if access.form == Form::Vector { None } else { warp },
                visible: access.volatile,
                ..none
            },
            Op::Atomic(op) => op.effects(),
            Op::AsyncCopy(op) => op.effects(),
            // Lanes that exchange registers wait for one another, but order no memory.
            Op::ShuffleXor { mask: _ } | Op::ShuffleIndex => {
                Effects { convergent: warp, latency: Latency::Exchange, ..none }
            }
            Op::MatrixMultiply(op) => op.effects(),
            Op::ScaledMultiply(op) => op.effects(),
            Op::Warpgroup(op) => op.effects(),
            Op::Sync(op) => op.effects(),
            Op::Mbarrier(op) => op.effects(),
            Op::BulkCopy(op) => op.effects(),
            Op::TensorCopy(op) => op.effects(),
            Op::MakeMap(op) => op.effects(),
            // Its results may come from other lanes.
            Op::InlineAsm { text: _, pure: true } => {
                Effects { convergent: warp, latency: Latency::Unknown, ..none }
            }
            Op::InlineAsm { text: _, pure: false } => Effects::UNKNOWN,
            Op::Print(_) | Op::Assert { message: _ } => Effects { visible: true, ..none },
            Op::If | Op::Loop => Effects { control: Control::Regions, ..none },
            Op::Roles(_) => Effects { control: Control::Regions, convergent: warp, ..none },
            Op::BreakIf { target: _ } => Effects { control: Control::Leaves, ..none },
            Op::Continue | Op::Yield | Op::Return => Effects { control: Control::Ends, ..none },
        }
    }
}

impl Program {
    /// Whether an operation of a region, or of the regions inside it, has effects that pass a test: what is true
    /// of one of them is true of the operation that owns the region.
    pub fn any_effects(&self, region: &Region, test: impl Fn(Effects) -> bool) -> bool {
        let mut any = false;
        self.walk(region, &mut |_, inst| any = any || test(inst.op.effects()));
        any
    }
}

/// Rows replaced for the tests that show that each one is obeyed.
#[cfg(test)]
pub(crate) mod testing {
    use super::{Effects, Op};
    use core::cell::Cell;
    use core::mem::{Discriminant, discriminant};

    type Row = (Discriminant<Op>, Effects);

    thread_local! {
        static REPLACED: Cell<Option<(Row, Effects)>> = const { Cell::new(None) };
    }

    /// Runs a function with another row in place of that of `op`: of operations of its kind that declare the
    /// same.
    pub(crate) fn with<T>(op: &Op, instead: Effects, run: impl FnOnce() -> T) -> T {
        let row = (discriminant(op), op.declared());
        REPLACED.set(Some((row, instead)));
        let _restore = Restore;
        run()
    }

    /// Ends a replacement, also where what runs with it panics.
    struct Restore;

    impl Drop for Restore {
        fn drop(&mut self) {
            REPLACED.set(None);
        }
    }

    /// The row that is asked for.
    pub(super) fn replaced(op: &Op, declared: Effects) -> Effects {
        match REPLACED.get() {
            Some((row, instead)) if row == (discriminant(op), declared) => instead,
            _ => declared,
        }
    }
}
