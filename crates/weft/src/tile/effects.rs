//! What each operation of a tile program does besides computing its results, told once.
//!
//! [`OpKind::effects`] is to tile programs what [`lane::Op::effects`](crate::lane::Op::effects) is to thread
//! programs: passes ask it and learn no effect from an operation's name. The match has no wildcard arm.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::OpKind;

/// What an operation does to one memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Touch {
    /// Whether it reads it.
    pub reads: bool,
    /// Whether it writes it.
    pub writes: bool,
}

impl Touch {
    const NONE: Self = Self { reads: false, writes: false };
    pub(super) const READS: Self = Self { reads: true, writes: false };
    pub(super) const WRITES: Self = Self { reads: false, writes: true };
    pub(super) const BOTH: Self = Self { reads: true, writes: true };

    /// Whether it does anything to it.
    pub fn any(self) -> bool {
        self.reads || self.writes
    }
}

/// Which bytes of a memory an operation touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extent {
    /// Those that its operands point to or describe.
    #[default]
    Addressed,
    /// It may be any byte.
    Anywhere,
}

/// How an operation orders the accesses around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fence {
    /// It does not order them.
    #[default]
    None,
    /// An atomic, which orders itself with other atomics, and what is around it as its order says.
    Atomic,
    /// All accesses of the block.
    Barrier,
    /// It is not known how: any of these must be expected.
    Unknown,
}

/// What an operation has to do with groups of asynchronous copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tokens {
    /// It has nothing to do with them.
    #[default]
    None,
    /// It starts a copy, which writes when it is waited for.
    Starts,
    /// It makes a group of what was started.
    Commits,
    /// It waits until only so many groups may be under way.
    Awaits {
        /// How many groups may still be under way behind it.
        pending: u32,
    },
    /// It starts a copy, which writes at any time until somebody waits for a phase of its mbarrier.
    Fetches,
    /// It starts a copy, which reads shared memory when it is met, as far as the program can tell.
    Sends,
    /// It begins, waits for or ends phases of mbarriers.
    Phases,
    /// It tells an mbarrier that a thread has done with memory that will be copied to.
    Leaves,
    /// The copies that start after it wait until all threads have left what they write.
    AfterLeaving,
}

/// What an operation does to the flow of control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Control {
    /// The next operation follows.
    #[default]
    None,
    /// It runs regions of its own, and their effects are its own too.
    Regions,
    /// It ends its region.
    Ends,
}

/// Which elements of an operation's operands an element of a result depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dependence {
    /// One of each, at its own place or at one that the shapes tell.
    #[default]
    Pointwise,
    /// Those of a row, or one that data chooses: threads may meet for it, to give each other what they hold.
    Across,
}

/// The effects of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// What it does to global memory.
    pub global: Touch,
    /// What it does to memory that the program allocates; not what the compiler uses to move data.
    pub local: Touch,
    /// Whether it begins or ends the life of such memory.
    pub allocates: bool,
    /// Where in those memories.
    pub extent: Extent,
    /// How it orders other accesses.
    pub fence: Fence,
    /// What it has to do with asynchronous copies.
    pub tokens: Tokens,
    /// Whether that it is executed can be seen from outside.
    pub visible: bool,
    /// Whether what it computes is not known here.
    pub opaque: bool,
    /// Which elements of its operands an element of a result depends on.
    pub dependence: Dependence,
    /// What it does to control.
    pub control: Control,
}

impl Effects {
    /// None: results from operands.
    pub const NONE: Self = Self {
        global: Touch::NONE,
        local: Touch::NONE,
        allocates: false,
        extent: Extent::Addressed,
        fence: Fence::None,
        tokens: Tokens::None,
        visible: false,
        opaque: false,
        dependence: Dependence::Pointwise,
        control: Control::None,
    };

    /// Whether it does nothing but compute results from its operands, in a way that is known: it may be
    /// repeated, moved, and removed.
    pub fn is_pure(self) -> bool {
        Self { dependence: Dependence::Pointwise, ..self } == Self::NONE
    }

    /// Whether it ends its region.
    pub fn is_terminator(self) -> bool {
        self.control == Control::Ends
    }

    /// Whether it is an access to global memory through pointers among its operands.
    pub fn is_global_access(self) -> bool {
        self.global.any() && self.extent == Extent::Addressed
    }
}

impl OpKind {
    /// What the operation does besides computing its results.
    pub fn effects(&self) -> Effects {
        let none = Effects::NONE;
        match self {
            OpKind::Constant(_)
            | OpKind::Poison
            | OpKind::MakeRange { start: _, end: _ }
            | OpKind::ProgramId(_)
            | OpKind::NumPrograms(_)
            | OpKind::Splat
            | OpKind::Unsplat
            | OpKind::ExpandDims { axis: _ }
            | OpKind::Broadcast
            | OpKind::Reshape { allow_reorder: _ }
            | OpKind::Trans { order: _ }
            | OpKind::ConvertLayout
            | OpKind::Join
            | OpKind::Split
            | OpKind::Unary(_)
            | OpKind::Binary(_)
            | OpKind::Compare(_)
            | OpKind::Select
            | OpKind::Cast(_)
            | OpKind::Fma
            | OpKind::Directed(..)
            | OpKind::Function(_)
            | OpKind::AddPtr => none,
            OpKind::Dot(_)
            | OpKind::DotScaled(_)
            | OpKind::Reduce { axis: _, contract: _ }
            | OpKind::Scan { axis: _, reverse: _ }
            | OpKind::Gather { axis: _ }
            | OpKind::Histogram => Effects { dependence: Dependence::Across, ..none },
            OpKind::Load(options) => {
                Effects { global: Touch::READS, visible: options.volatile, ..none }
            }
            OpKind::Store(_) => Effects { global: Touch::WRITES, ..none },
            OpKind::Atomic { op: _, order: _, scope: _ } => {
                Effects { global: Touch::BOTH, fence: Fence::Atomic, ..none }
            }
            OpKind::Descriptor(op) => op.effects(),
            OpKind::Transfer(op) => op.effects(),
            // Its left factor may be a tensor; the right one never is.
            OpKind::WarpgroupDot(_) => {
                Effects { local: Touch::READS, dependence: Dependence::Across, ..none }
            }
            OpKind::Local(op) => op.effects(),
            OpKind::AsyncCopy(op) => op.effects(),
            OpKind::Barrier => Effects { fence: Fence::Barrier, ..none },
            // Other grids write what they like until then.
            OpKind::GridWait => Effects {
                global: Touch::BOTH,
                extent: Extent::Anywhere,
                fence: Fence::Unknown,
                visible: true,
                ..none
            },
            OpKind::GridLaunch => Effects { visible: true, ..none },
            OpKind::Print { prefix: _, hex: _, signed: _ } | OpKind::Assert { message: _ } => {
                Effects { visible: true, ..none }
            }
            OpKind::InlineAsm(asm) if asm.pure => Effects { opaque: true, ..none },
            OpKind::InlineAsm(_) => Effects {
                global: Touch::BOTH,
                local: Touch::BOTH,
                extent: Extent::Anywhere,
                fence: Fence::Unknown,
                visible: true,
                opaque: true,
                ..none
            },
            OpKind::For(_) | OpKind::While | OpKind::If => {
                Effects { control: Control::Regions, ..none }
            }
            OpKind::Yield | OpKind::Condition | OpKind::Return => {
                Effects { control: Control::Ends, ..none }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, Dependence, Effects, Extent, Fence, Tokens, Touch};
    use crate::atomic::{Atomic, Order, Rmw, Scope};
    use crate::cache::Cache;
    use crate::scalar::{Binary, Cast, Compare, Directed, Function, Rounding, Unary};
    use crate::tile::{
        AsyncCopy, ByPointers, CopyOptions, DescriptorOp, InlineAsm, LoadOptions, LocalOp,
        LoopHints, OpKind, Phase, Precision, ScaledDot, ScaledFactor, TransferOp,
    };

    /// Each row of the table, by itself.
    #[test]
    fn rows_are_what_they_are_meant_to_be() {
        let none = Effects::NONE;
        let across = Effects { dependence: Dependence::Across, ..none };
        let begin = |options| OpKind::AsyncCopy(AsyncCopy::Begin(options));
        let volatile = CopyOptions { volatile: true, ..CopyOptions::default() };
        let asm = |pure| {
            let (text, constraints, reason) = (String::new(), String::new(), String::new());
            OpKind::InlineAsm(Box::new(InlineAsm { text, constraints, pure, reason }))
        };
        let load = |volatile| OpKind::Load(LoadOptions { volatile, ..LoadOptions::default() });
        let (order, scope) = (Order::AcqRel, Scope::Gpu);
        let atomic = Effects { global: Touch::BOTH, fence: Fence::Atomic, ..none };
        let copy =
            Effects { global: Touch::READS, local: Touch::WRITES, tokens: Tokens::Starts, ..none };
        let any = Effects {
            global: Touch::BOTH,
            local: Touch::BOTH,
            extent: Extent::Anywhere,
            fence: Fence::Unknown,
            visible: true,
            opaque: true,
            ..none
        };
        let mbarriers =
            Effects { allocates: true, fence: Fence::Barrier, tokens: Tokens::Phases, ..none };
        let sent =
            Effects { global: Touch::WRITES, local: Touch::READS, tokens: Tokens::Sends, ..none };
        let waits = Tokens::Awaits { pending: 2 };
        let regions = Effects { control: Control::Regions, ..none };
        let ends = Effects { control: Control::Ends, ..none };
        let factors = [ScaledFactor::Floats, ScaledFactor::Pairs { along_summed: true }];
        let scaled = ScaledDot { factors, has_scale: [false, true], fast: false };
        let print = OpKind::Print { prefix: String::new(), hex: false, signed: Vec::new() };
        let rows = [
            (OpKind::Constant(1), none),
            (OpKind::Poison, none),
            (OpKind::MakeRange { start: 0, end: 8 }, none),
            (OpKind::ProgramId(0), none),
            (OpKind::NumPrograms(0), none),
            (OpKind::Splat, none),
            (OpKind::Unsplat, none),
            (OpKind::ExpandDims { axis: 0 }, none),
            (OpKind::Broadcast, none),
            (OpKind::Reshape { allow_reorder: true }, none),
            (OpKind::Trans { order: vec![1, 0] }, none),
            (OpKind::ConvertLayout, none),
            (OpKind::Join, none),
            (OpKind::Split, none),
            (OpKind::Unary(Unary::Exp), none),
            (OpKind::Binary(Binary::DivS), none),
            (OpKind::Compare(Compare::Eq), none),
            (OpKind::Select, none),
            (OpKind::Cast(Cast::Bits), none),
            (OpKind::Fma, none),
            (OpKind::Directed(Directed::Div, Rounding::Up), none),
            (OpKind::Function(Function::Tan), none),
            (OpKind::AddPtr, none),
            (OpKind::Dot(Precision::Ieee), across),
            (OpKind::DotScaled(scaled), across),
            (OpKind::Reduce { axis: 0, contract: true }, across),
            (OpKind::Scan { axis: 0, reverse: true }, across),
            (OpKind::Gather { axis: 0 }, across),
            (OpKind::Histogram, across),
            (OpKind::Local(LocalOp::Index), none),
            (OpKind::Local(LocalOp::Subslice { offsets: vec![0] }), none),
            (OpKind::Local(LocalOp::Trans { order: vec![1, 0] }), none),
            (OpKind::Local(LocalOp::Reshape), none),
            (OpKind::Local(LocalOp::Reinterpret), none),
            (load(false), Effects { global: Touch::READS, ..none }),
            (load(true), Effects { global: Touch::READS, visible: true, ..none }),
            (OpKind::Store(Cache::default()), Effects { global: Touch::WRITES, ..none }),
            (OpKind::Atomic { op: Rmw::Add.into(), order, scope }, atomic),
            (OpKind::Atomic { op: Atomic::Cas, order, scope }, atomic),
            (OpKind::Descriptor(DescriptorOp::Make { nan: true }), none),
            (OpKind::Descriptor(DescriptorOp::Given), none),
            (OpKind::Descriptor(DescriptorOp::Load), Effects { global: Touch::READS, ..none }),
            (OpKind::Descriptor(DescriptorOp::Gather), Effects { global: Touch::READS, ..none }),
            (OpKind::Descriptor(DescriptorOp::Store), Effects { global: Touch::WRITES, ..none }),
            (OpKind::Descriptor(DescriptorOp::Scatter), Effects { global: Touch::WRITES, ..none }),
            (OpKind::Descriptor(DescriptorOp::Reduce(Rmw::Add)), atomic),
            (OpKind::Transfer(TransferOp::Open { phase: Phase::Copies(1) }), mbarriers),
            (OpKind::Transfer(TransferOp::Leave), Effects { tokens: Tokens::Leaves, ..none }),
            (
                OpKind::Transfer(TransferOp::AfterLeave),
                Effects { tokens: Tokens::AfterLeaving, ..none },
            ),
            (OpKind::Transfer(TransferOp::Close), mbarriers),
            (OpKind::Transfer(TransferOp::Fetch), Effects { tokens: Tokens::Fetches, ..copy }),
            (OpKind::Transfer(TransferOp::Send(None)), sent),
            (
                OpKind::Transfer(TransferOp::Send(Some(Rmw::FAdd))),
                Effects { global: Touch::BOTH, ..sent },
            ),
            (OpKind::Transfer(TransferOp::Wait), Effects { tokens: Tokens::Phases, ..none }),
            (
                OpKind::Local(LocalOp::Alloc),
                Effects { local: Touch::WRITES, allocates: true, ..none },
            ),
            (OpKind::Local(LocalOp::Load), Effects { local: Touch::READS, ..none }),
            (OpKind::WarpgroupDot(Precision::Ieee), Effects { local: Touch::READS, ..across }),
            (OpKind::Local(LocalOp::Store), Effects { local: Touch::WRITES, ..none }),
            (OpKind::Local(LocalOp::Dealloc), Effects { allocates: true, ..none }),
            (begin(CopyOptions::default()), copy),
            (begin(volatile), Effects { visible: true, ..copy }),
            (OpKind::AsyncCopy(AsyncCopy::Commit), Effects { tokens: Tokens::Commits, ..none }),
            (OpKind::AsyncCopy(AsyncCopy::Wait { pending: 2 }), Effects { tokens: waits, ..none }),
            (OpKind::Barrier, Effects { fence: Fence::Barrier, ..none }),
            (print, Effects { visible: true, ..none }),
            (OpKind::Assert { message: String::new() }, Effects { visible: true, ..none }),
            (asm(true), Effects { opaque: true, ..none }),
            (asm(false), any),
            (OpKind::For(LoopHints::default()), regions),
            (OpKind::While, regions),
            (OpKind::If, regions),
            (OpKind::Yield, ends),
            (OpKind::Condition, ends),
            (OpKind::Return, ends),
        ];
        for (kind, expected) in rows {
            assert_eq!(kind.effects(), expected, "{}", kind.name());
            assert_eq!(
                kind.effects().is_pure(),
                expected == none || expected == across,
                "{}",
                kind.name()
            );
            let touched = kind.by_pointers().map(|how| match how {
                ByPointers::Load => (Touch::READS, Touch::NONE),
                ByPointers::Store => (Touch::WRITES, Touch::NONE),
                ByPointers::Atomic => (Touch::BOTH, Touch::NONE),
                ByPointers::Copy => (Touch::READS, Touch::WRITES),
            });
            // Descriptors have no pointers, and assembly may do anything.
            let otherwise =
                matches!(kind, OpKind::Descriptor(_) | OpKind::Transfer(_) | OpKind::InlineAsm(_));
            let own = expected.global.any() && !otherwise;
            assert_eq!(
                touched,
                own.then_some((expected.global, expected.local)),
                "{}",
                kind.name()
            );
        }
    }
}
