//! The tile program: what a kernel computes, on whole tensors, before any layout.
//!
//! One program instance runs the body on its own tiles; a launch runs one instance per point of the
//! grid. Values are in static single assignment form. Control is structured: `for`, `while` and `if`
//! own regions, a region is a list of operations, and its last operation hands values on (`yield`,
//! `condition`, `return`). Conditions are scalars, so control never diverges inside an instance.
//!
//! # Meaning
//!
//! * A tensor's element is found by its row-major index; shapes are powers of two.
//! * A value is computed once, when control reaches its operation.
//! * Memory operations of one instance happen in program order, as far as their pointers come from one
//!   argument. As in Triton, two elements that different arguments, or different rounds of one store,
//!   have in common are a race of the instance with itself. Those of different instances are ordered
//!   only by atomics with acquire and release.
//! * A block of a tensor descriptor is loaded and stored like the elements in memory that it stands for.
//! * Where a load's mask is false the result is `other`, or zero where none is given; memory is not
//!   touched.
//! * Shared memory belongs to one instance. What was not written there, and what an asynchronous copy
//!   brings before it is waited for, may not be looked at.
//! * A reduction's order is not fixed: its region must be associative and commutative up to rounding.
//!   A scan's is fixed up to brackets: its region must be associative up to rounding, and what comes
//!   earlier along the direction of the scan stands on the left.
//! * `poison` and an unmasked division by zero give some value, the same in every run.

mod aliases;
mod copies;
mod descriptor;
pub mod effects;
mod encoding;
mod flight;
pub(crate) mod form;
mod local;
mod precision;
pub(crate) mod names;
mod origin;
mod pointers;
pub mod report;
mod scaled;
mod signature;
mod slice;
pub(crate) mod spelling;
mod tap;
mod text;
mod transfer;
mod types;
mod verify;
mod write;

pub mod eval;

pub(crate) use copies::Begun;
pub use copies::{AsyncCopy, CopyOptions};
pub use descriptor::{DescriptorOp, MAX_DESCRIPTOR_RANK};
pub use effects::Effects;
pub use encoding::{Encoding, Launch, Misplaced, SharedMemory};
pub use flight::in_flight;
pub use local::{LocalOp, Touched};
pub use origin::{Origins, Sources};
pub use pointers::ByPointers;
pub use precision::Precision;
pub use scaled::{ScaledDot, ScaledFactor, ScaledOperands};
pub use slice::slice;
pub use tap::{tap, tappable};
pub(crate) use transfer::{Fetch, Sent};
pub use transfer::{Phase, TransferOp};
pub use types::{Element, Type};
pub use verify::verify;
pub(crate) use write::{Around, Copies, Rewrite, WriteOps};

use crate::atomic::{Atomic, Order, Scope};
use crate::cache::Cache;
use crate::diagnostic::Span;
use crate::id::{IdMap, IdVec, define_id};
use crate::location::{Loc, Locations};
use crate::scalar::{Binary, Cast, Compare, Directed, Function, Rounding, Unary};

/// The most elements of a tile.
pub const MAX_ELEMENTS: u64 = 1 << 24;
/// The most dimensions of a tile.
pub const MAX_RANK: usize = 32;
/// The most regions inside one another.
pub const MAX_DEPTH: usize = 64;

define_id! {
    /// A value of a kernel.
    Value, "%"
}

define_id! {
    /// An operation of a kernel.
    OpId, "op"
}

/// The kernels of one text, with the places they came from.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module {
    /// The entry points, in the text's order; every call has been inlined.
    pub kernels: Vec<Kernel>,
    /// The places that operations refer to.
    pub locations: Locations,
    /// What the text says of the launch.
    pub launch: Launch,
}

/// A kernel: an entry point with its operations.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// The name of the symbol, without `@`.
    pub name: String,
    /// The arguments; their values are the parameters of [`Kernel::body`], in order.
    pub params: Vec<Param>,
    /// Every value, argument or result.
    pub values: IdVec<Value, ValueData>,
    /// Every operation, wherever it stands; the regions say in which order they run.
    pub ops: IdVec<OpId, Op>,
    /// The kernel's region; it ends with `return`.
    pub body: Region,
    /// The place of the definition.
    pub loc: Loc,
}

/// An argument of a kernel, with what the source promises of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// The name in the source, without `%`.
    pub name: String,
    /// The argument is a multiple of this (of so many bytes, for a pointer); 1 when nothing is known.
    pub divisibility: u64,
    /// Of a pointer, how many bits the distance in bytes of all that is reached through it takes, with a sign: at 32,
    /// as Triton says of buffers of up to 2 GiB (`tt.pointer_range`), it lies within 2^31 bytes behind it. 0 when
    /// nothing is known. Whoever launches the kernel keeps this promise.
    pub pointer_range: u32,
}

/// What is known of a value from its definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueData {
    /// The type of the value.
    pub ty: Type,
    /// Its name in the text that was read, without `%`.
    pub name: Option<String>,
    /// What the source promises, for each axis (one for a scalar); empty where it promises nothing.
    pub promises: Vec<Promise>,
    /// Between which integers it lies wherever anything looks at it, both included, as the counter of a round that a loop
    /// has ahead does if there is that round; nothing where its operation tells as much. How wide accesses are follows from
    /// it, and nothing else: equal operations elsewhere may give what lies outside.
    pub within: Option<(i64, i64)>,
}

impl ValueData {
    /// A value of which nothing is promised.
    pub fn new(ty: Type, name: Option<String>) -> Self {
        Self { ty, name, promises: Vec::new(), within: None }
    }
}

/// What the source promises of a tensor's elements along one axis, by `tl.max_contiguous`, `tl.multiple_of` and
/// `tl.max_constancy`. Powers of two, 1 where it promises nothing. How wide accesses are follows from it, and
/// nothing else: what an access does in whose middle a promise is broken is not defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Promise {
    /// Aligned runs of so many elements count up by one.
    pub contiguity: u64,
    /// The first element of each run is a multiple of this (of so many bytes, for a pointer).
    pub divisibility: u64,
    /// Aligned runs of so many elements are equal.
    pub constancy: u64,
}

impl Promise {
    /// What holds of any value: nothing is promised.
    pub const NONE: Self = Self { contiguity: 1, divisibility: 1, constancy: 1 };
}

/// A list of operations with the values that enter it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Region {
    /// The values that enter.
    pub params: Vec<Value>,
    /// The operations; the last one hands values on.
    pub ops: Vec<OpId>,
}

/// An operation with what it reads and defines.
#[derive(Clone, PartialEq, Debug)]
pub struct Op {
    /// What the operation does.
    pub kind: OpKind,
    /// What it reads, in the order that its kind says.
    pub operands: Vec<Value>,
    /// The values that it defines.
    pub results: Vec<Value>,
    /// The regions it owns.
    pub regions: Vec<Region>,
    /// Where it came from in the user's source.
    pub loc: Loc,
    /// Where it stands in the text that was read.
    pub span: Span,
    /// Whether the text has this very operation there, and not something that it is a part of: assembly,
    /// a function of a library.
    pub spelled: bool,
}

/// What an operation does.
#[derive(Clone, PartialEq, Debug)]
pub enum OpKind {
    /// A value all of whose elements have these raw bits. `() -> (T)`.
    Constant(u64),
    /// Some value. `() -> (T)`.
    Poison,
    /// The integers `start..end` as i32. `() -> (tensor)`.
    MakeRange {
        /// The first integer of the range.
        start: i32,
        /// One past the last.
        end: i32,
    },
    /// The instance's index along a grid axis (0 to 2), i32.
    ProgramId(u8),
    /// The grid's extent along an axis (0 to 2), i32.
    NumPrograms(u8),
    /// A tensor of copies of a scalar. `(scalar) -> (tensor)`.
    Splat,
    /// The only element of a tensor. `(tensor) -> (scalar)`.
    Unsplat,
    /// A new dimension of size one. `(tensor) -> (tensor)`.
    ExpandDims {
        /// The number of the new dimension in the result.
        axis: u8,
    },
    /// Dimensions of size one are repeated. `(tensor) -> (tensor)`.
    Broadcast,
    /// The same elements in row-major order under another shape. `(tensor) -> (tensor)`.
    Reshape {
        /// Whether any order of the elements will do.
        allow_reorder: bool,
    },
    /// Result dimension `i` is operand dimension `order[i]`. `(tensor) -> (tensor)`.
    Trans {
        /// The dimension of the operand that each one of the result is.
        order: Vec<u8>,
    },
    /// The same tensor in another layout, which the result's type says. `(tensor) -> (tensor)`.
    ConvertLayout,
    /// Two tensors side by side along a new last dimension of size two. `(x, y) -> (tensor)`.
    Join,
    /// What [`OpKind::Join`] joined: the elements at 0 and those at 1 of the last dimension, which has
    /// size two. `(tensor) -> (T, T)`.
    Split,
    /// `(x) -> (T)`, element by element.
    Unary(Unary),
    /// `(x, y) -> (T)`, element by element.
    Binary(Binary),
    /// `(x, y) -> (i1)`, element by element.
    Compare(Compare),
    /// `(condition, if true, if false) -> (T)`; the condition may be a scalar.
    Select,
    /// `(x) -> (T)`, element by element; pointers count as i64, and cast between pointee types.
    Cast(Cast),
    /// `(x, y, z) -> (T)`: `x * y + z` with one rounding.
    Fma,
    /// `(as many as it has) -> (T)`, element by element, rounded as told.
    Directed(Directed, Rounding),
    /// `(as many as it has) -> (T)`, element by element.
    Function(Function),
    /// A pointer plus a count of elements. `(pointers, i32 or i64 offsets) -> (pointers)`.
    AddPtr,
    /// `(pointers, [mask, [other]]) -> (T)`.
    Load(LoadOptions),
    /// `(pointers, values, [mask])`: writes the values where the mask holds.
    Store(Cache),
    /// The old value; what lies there is changed as one step. `(pointers, values, [mask]) -> (T)`, or, to compare
    /// and swap, `(pointers, expected, desired) -> (T)`.
    Atomic {
        /// What is done to what lies there.
        op: Atomic,
        /// How memory is ordered.
        order: Order,
        /// The threads that see it as one step.
        scope: Scope,
    },
    /// On a tensor in global memory that a descriptor describes.
    Descriptor(DescriptorOp),
    /// On blocks that a machine copies to shared memory by itself.
    Transfer(TransferOp),
    /// `(a: M x K, b: K x N, c: M x N) -> (M x N)`: c plus the matrix product, in c's type. Dimensions
    /// before these two count matrices.
    Dot(Precision),
    /// The same of numbers of few bits, groups of which along the summed axis share a scale: the number is the
    /// exact product of both. `(a, [its scales: M x groups], b, [its scales: N x groups], c: M x N) -> (M x N)`.
    DotScaled(ScaledDot),
    /// The same as `Dot` by the matrix units of a warpgroup, which read factors in shared memory by themselves.
    /// `(a: M x K in memory or a tensor, b: K x N in memory, c: M x N, [keep: i1]) -> (M x N)`; where `keep` is
    /// false c counts as zero.
    WarpgroupDot(Precision),
    /// Folds each operand along an axis. `(N tensors) -> (N tensors or scalars)`; its region has
    /// `2 N` scalar parameters (left, then right) and yields N.
    Reduce {
        /// The axis that disappears.
        axis: u8,
        /// Whether products that it adds up may go into the sums unrounded, by fused multiply-adds.
        contract: bool,
    },
    /// Every element with all before it along an axis, folded. `(N tensors) -> (N tensors)`; its
    /// region has `2 N` scalar parameters (what was folded so far, then the element) and yields N.
    Scan {
        /// The axis along which it goes.
        axis: u8,
        /// Whether it goes from the last element to the first.
        reverse: bool,
    },
    /// `result[i, j, k] = source[i, index[i, j, k], k]` for the axis in the middle.
    /// `(source, integer indices) -> (tensor of the indices' shape)`. What an index outside of the
    /// axis gives is not fixed.
    Gather {
        /// The axis that the indices count along.
        axis: u8,
    },
    /// How often each of `0..n` occurs among the elements (of those with a true mask), read as unsigned.
    /// `(integers of one dimension, [mask]) -> (n integers i32)`. Other elements are not counted.
    Histogram,
    /// On shared memory that the program allocates.
    Local(LocalOp),
    /// A step of asynchronous copies.
    AsyncCopy(AsyncCopy),
    /// No thread of the block goes on before all have come, and each then sees what the others wrote.
    /// `() -> ()`.
    Barrier,
    /// Goes on when the grids that this one depends on have ended, and sees what they wrote (programmatic dependent
    /// launch: `griddepcontrol.wait` of the PTX ISA). A grid that is launched otherwise does not begin before.
    /// `() -> ()`.
    GridWait,
    /// Lets grids that depend on this one begin when all of its blocks have come here or ended
    /// (`griddepcontrol.launch_dependents`); they see what it wrote only behind their [`GridWait`](OpKind::GridWait).
    /// `() -> ()`.
    GridLaunch,
    /// `(N values)`: prints a line for each element of each operand; of none, one line.
    Print {
        /// What stands before each value.
        prefix: String,
        /// Whether values are printed in hexadecimal.
        hex: bool,
        /// For each operand whether it is a signed integer.
        signed: Vec<bool>,
    },
    /// `(i1)`: says that every element is true. Where one is not, that is told, and the kernel may be
    /// ended.
    Assert {
        /// What is said to hold.
        message: String,
    },
    /// `(N words) -> (M words)`, element by element: assembly whose meaning is not known here. Words are
    /// integers of 32 or 64 bits.
    InlineAsm(Box<InlineAsm>),
    /// `(low, high, step, N initial values) -> (N)`; the region has the counter and N carried
    /// parameters and yields N. Runs while the counter is (signed) below `high`.
    For(LoopHints),
    /// `(N initial values) -> (M)`; the first region has N parameters and ends with `condition`,
    /// whose M values enter the second region, which yields N.
    While,
    /// `(i1) -> (N)`; two regions, each yields N.
    If,
    /// Hands values to the operation that owns the region.
    Yield,
    /// `(i1, values)`: goes on with the second region of a `while`, or leaves it.
    Condition,
    /// Leaves the kernel: the end of its region.
    Return,
}

/// What the source asks of a loop, as arguments of `tl.range`. None of it changes what the loop means.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LoopHints {
    /// In how many rounds at a time its loads are under way (`num_stages`): those of a product are, without being asked
    /// for; all of them where this says so. Nothing is under way ahead at 0 and 1.
    pub stages: Option<u32>,
    /// Whether it and the loop inside it had better be one (`flatten`).
    pub flatten: bool,
}

/// Assembly that is handed on as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InlineAsm {
    /// PTX, with `$0` for the first result, and so on through the operands.
    pub text: String,
    /// Results, then operands, as LLVM writes them: `=r,l`.
    pub constraints: String,
    /// Whether it does nothing but define its results.
    pub pure: bool,
    /// Why it is not read.
    pub reason: String,
}

/// How a load behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LoadOptions {
    /// At which levels the line is kept, and how long.
    pub cache: Cache,
    /// Whether every execution must go to memory.
    pub volatile: bool,
}

impl OpKind {
    /// Whether each element of the result is computed from those at its place.
    pub fn is_elementwise(&self) -> bool {
        matches!(
            self,
            OpKind::Unary(_)
                | OpKind::Binary(_)
                | OpKind::Compare(_)
                | OpKind::Select
                | OpKind::Cast(_)
                | OpKind::Fma
                | OpKind::Directed(..)
                | OpKind::Function(_)
                | OpKind::AddPtr
        )
    }

    /// Whether it is a product of matrices, added to its last operand.
    pub fn is_product(&self) -> bool {
        matches!(self, OpKind::Dot(_) | OpKind::DotScaled(_) | OpKind::WarpgroupDot(_))
    }

    /// The operation's name in messages.
    pub fn name(&self) -> String {
        match self {
            OpKind::Constant(_) => "constant".into(),
            OpKind::Poison => "poison".into(),
            OpKind::MakeRange { .. } => "make_range".into(),
            OpKind::ProgramId(_) => "program_id".into(),
            OpKind::NumPrograms(_) => "num_programs".into(),
            OpKind::Splat => "splat".into(),
            OpKind::Unsplat => "unsplat".into(),
            OpKind::ExpandDims { .. } => "expand_dims".into(),
            OpKind::Broadcast => "broadcast".into(),
            OpKind::Reshape { .. } => "reshape".into(),
            OpKind::Trans { .. } => "trans".into(),
            OpKind::ConvertLayout => "convert_layout".into(),
            OpKind::Join => "join".into(),
            OpKind::Split => "split".into(),
            OpKind::Unary(op) => op.name().into(),
            OpKind::Binary(op) => op.name().into(),
            OpKind::Compare(op) => format!("compare {op}"),
            OpKind::Select => "select".into(),
            OpKind::Cast(op) => format!("cast {op}"),
            OpKind::Fma => "fma".into(),
            OpKind::Directed(op, rounding) => format!("{op}.{rounding}"),
            OpKind::Function(function) => function.name().into(),
            OpKind::AddPtr => "addptr".into(),
            OpKind::Load(_) => "load".into(),
            OpKind::Store(_) => "store".into(),
            OpKind::Atomic { op, .. } => spelling::atomic(*op).told(*op),
            OpKind::Descriptor(op) => op.name(),
            OpKind::Transfer(op) => op.name().into(),
            OpKind::Dot(_) => "dot".into(),
            OpKind::DotScaled(_) => "dot_scaled".into(),
            OpKind::WarpgroupDot(_) => "warpgroup_dot".into(),
            OpKind::Reduce { .. } => "reduce".into(),
            OpKind::Scan { .. } => "scan".into(),
            OpKind::Gather { .. } => "gather".into(),
            OpKind::Histogram => "histogram".into(),
            OpKind::Local(op) => op.name().into(),
            OpKind::AsyncCopy(op) => op.name().into(),
            OpKind::Barrier => "barrier".into(),
            OpKind::GridWait => "wait for other grids".into(),
            OpKind::GridLaunch => "launch of dependent grids".into(),
            OpKind::Print { .. } => "print".into(),
            OpKind::Assert { .. } => "assert".into(),
            OpKind::InlineAsm(_) => "inline assembly".into(),
            OpKind::For(_) => "for".into(),
            OpKind::While => "while".into(),
            OpKind::If => "if".into(),
            OpKind::Yield => "yield".into(),
            OpKind::Condition => "condition".into(),
            OpKind::Return => "return".into(),
        }
    }
}

impl Op {
    /// The left and the right factor of a product of matrices.
    pub fn factors(&self) -> Option<[Value; 2]> {
        match self.kind {
            OpKind::DotScaled(scaled) => Some(scaled.operands(&self.operands)?.factors),
            _ if self.kind.is_product() => Some([*self.operands.first()?, *self.operands.get(1)?]),
            _ => None,
        }
    }
}

impl Kernel {
    /// The type of a value.
    pub fn ty(&self, value: Value) -> &Type {
        &self.values[value].ty
    }

    /// The arguments with their values.
    pub fn arguments(&self) -> impl Iterator<Item = (&Param, Value)> {
        self.params.iter().zip(self.body.params.iter().copied())
    }

    /// How a value is called in messages: its name in the text, or its number.
    pub fn value_name(&self, value: Value) -> String {
        match &self.values[value].name {
            Some(name) => format!("%{name}"),
            None => value.to_string(),
        }
    }

    /// Whether the program says itself where its tensors live, at least of one.
    pub fn is_encoded(&self) -> bool {
        let mut tensors = self.values.values().filter(|value| value.ty.is_tensor());
        tensors.any(|value| value.ty.encoding.is_some())
    }

    /// What a region hands over at its end: the operands of its last operation.
    pub fn handed_over(&self, region: &Region) -> &[Value] {
        region.ops.last().map_or(&[], |&last| &self.ops[last].operands)
    }

    /// The operation that defines each value, where one does.
    pub fn definitions(&self) -> IdMap<Value, Option<OpId>> {
        let mut definitions = IdMap::default();
        self.walk(&self.body, &mut |id, op| {
            for &result in &op.results {
                definitions.set(result, Some(id));
            }
        });
        definitions
    }

    /// Every operation of a region and of the regions inside it, outer before inner, in order.
    pub fn walk<'a>(&'a self, region: &'a Region, visit: &mut dyn FnMut(OpId, &'a Op)) {
        for &id in &region.ops {
            let op = &self.ops[id];
            visit(id, op);
            for inner in &op.regions {
                self.walk(inner, visit);
            }
        }
    }
}
