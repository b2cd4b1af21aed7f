//! What is asked of a swizzle, and what is answered.

use alloc::vec::Vec;
use core::fmt;

use crate::{
    access::{AccessError, Kind},
    layout::{Layout, LayoutError},
    machine::Machine,
    space::Label,
    step::Form,
    stop::Stop,
};

/// One access of a swizzled buffer by a whole block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which element each register of each thread holds: from register, lane, warp (and block) to
    /// the tensor.
    pub layout: Layout,
    /// Whether it reads or writes.
    pub kind: Kind,
    /// How often it happens for each time that the others do.
    pub weight: u64,
    /// The most bytes of one lane in one instruction, where that is less than the machine's.
    pub widest_bytes: Option<u32>,
    /// Whether it may be a matrix move, where the machine has them.
    pub matrix_moves: bool,
}

impl Access {
    /// An access that happens once, as wide as the machine can, by any of its instructions.
    pub fn new(kind: Kind, layout: Layout) -> Access {
        Access { layout, kind, weight: 1, widest_bytes: None, matrix_moves: true }
    }

    /// The same by plain vectors alone.
    #[must_use]
    pub fn plain(self) -> Access {
        Access { matrix_moves: false, ..self }
    }
}

/// Bits of an offset whose elements are chosen beforehand; elements are places of the tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    /// The elements at the lowest offset bits, lowest first.
    pub vector: Vec<u64>,
    /// The elements at the lowest bank bits: those above one word, and above `vector`.
    pub bank: Vec<u64>,
    /// The elements at the highest offset bits, highest last: those that choose the block of
    /// memory.
    pub block: Vec<u64>,
}

/// A buffer and its accesses.
#[derive(Clone, Debug)]
pub struct Problem<'m> {
    /// The machine whose banks are counted.
    pub machine: &'m Machine,
    /// The width of an element, 1 to 64 bits; less than a byte takes a byte.
    pub element_bits: u32,
    /// At least one access.
    /// Where one of them stores, all stores together must cover what is loaded.
    pub accesses: Vec<Access>,
    /// What is chosen already.
    pub fixed: Fixed,
    /// The most bytes of the buffer, where that is less than a block can have; a tensor that takes
    /// more goes in rounds.
    pub scratch_bytes: Option<u64>,
    /// Whether the answer is still wanted.
    pub stop: Stop,
}

impl<'m> Problem<'m> {
    /// The problem of these accesses, with nothing fixed.
    pub fn new(machine: &'m Machine, element_bits: u32, accesses: Vec<Access>) -> Problem<'m> {
        Problem {
            machine,
            element_bits,
            accesses,
            fixed: Fixed::default(),
            scratch_bytes: None,
            stop: Stop::default(),
        }
    }
}

/// A memory layout for a [`Problem`], and how good it can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    /// From `offset` (in elements) to the tensor: what the buffer holds in round 0.
    pub memory: Layout,
    /// The round of an element: bit `i` is its parity under `rounds[i]`.
    /// Empty when the buffer holds everything at once.
    pub rounds: Vec<u64>,
    /// What each access takes, in the order of the problem.
    pub uses: Vec<Use>,
    /// Weighted wavefronts of one warp, over all accesses and rounds.
    pub total: u64,
    /// No memory layout takes fewer.
    pub bound: u64,
    /// Why no memory layout takes fewer.
    pub certificate: Certificate,
}

/// What one access takes of one warp, over all its instructions and rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Use {
    /// By which instruction it moves.
    pub form: Form,
    /// The bytes of one lane in one instruction.
    pub bytes: u32,
    /// How many instructions a warp issues.
    pub instructions: u64,
    /// The wavefronts of those instructions.
    pub wavefronts: u64,
    /// No memory layout serves this access in fewer.
    pub floor: u64,
}

/// Why no memory layout takes fewer wavefronts than [`Solved::bound`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Certificate {
    /// By counting dimensions, for each choice of vector widths: a vector lies in the registers of
    /// all accesses that use it, apart from their threads; a phase of more dimensions than there are
    /// banks meets any segments.
    /// The layout takes so many if [`Solved::total`] is equal, else there is a gap.
    Dimensions,
    /// As before, but of the sum of each access's own least only: there are too many choices of
    /// widths to count each.
    Floors,
    /// All choices of vectors and segments that could be better than counting dimensions allows were
    /// tried; to solve the same problem again repeats it.
    Exhausted {
        /// How many there were.
        candidates: u64,
    },
}

/// Why there is no swizzle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SwizzleError {
    /// There is no access.
    NoAccess,
    /// There are too many accesses.
    TooMany {
        /// How many there are.
        accesses: usize,
        /// How many there may be.
        most: usize,
    },
    /// An access is of another tensor than the first one.
    Tensor {
        /// The number of the access, from zero.
        access: usize,
    },
    /// An input axis is no register, lane, warp or block.
    UnknownAxis {
        /// The number of the access, from zero.
        access: usize,
        /// The axis that it has.
        label: Label,
    },
    /// A layout does not have the machine's lanes.
    Lanes {
        /// The number of the access, from zero.
        access: usize,
        /// The lane bits of the layout.
        layout: u32,
        /// The lane bits of the machine.
        machine: u32,
    },
    /// No element has this many bits.
    ElementBits(u32),
    /// An access moves an element that no store writes.
    NotStored {
        /// The number of the access, from zero.
        access: usize,
        /// A place of the tensor.
        element: u64,
    },
    /// The vector of an access cannot be this wide.
    Width {
        /// The number of the access, from zero.
        access: usize,
        /// The most bytes asked for.
        bytes: u32,
    },
    /// The buffer takes more bytes than there may be, and the accesses have too few registers in
    /// common for as many rounds.
    Scratch {
        /// How many bytes the memory needs.
        needed: u64,
        /// How many bytes are allowed.
        available: u64,
    },
    /// A fixed element is no element of the buffer, or depends on other fixed ones.
    FixedElement {
        /// A place of the tensor.
        element: u64,
    },
    /// There are more fixed elements than offset bits of their kind.
    FixedCount {
        /// The bits that there are.
        bits: u32,
        /// How many elements were given.
        found: usize,
    },
    /// The construction of the paper is for one store and one load.
    NotAPair {
        /// The accesses that there are.
        accesses: usize,
    },
    /// Problems that share a memory layout have other elements than the first, or do not hold all of
    /// them at once.
    OtherBuffer {
        /// The number of the problem, from zero.
        problem: usize,
    },
    /// A memory layout is not one of the elements that the buffer holds, each at one offset.
    NotMemory,
    /// Nobody wants the answer any more: [`Problem::stop`] is set.
    Stopped,
    /// A layout has no inverse: a defect of the solver.
    Layout(LayoutError),
    /// An access is not possible: a defect of the solver.
    Access(AccessError),
}

impl From<LayoutError> for SwizzleError {
    fn from(error: LayoutError) -> SwizzleError {
        SwizzleError::Layout(error)
    }
}

impl From<AccessError> for SwizzleError {
    fn from(error: AccessError) -> SwizzleError {
        SwizzleError::Access(error)
    }
}

impl fmt::Display for SwizzleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwizzleError::NoAccess => f.write_str("a swizzle needs at least one access"),
            SwizzleError::TooMany { accesses, most } => {
                write!(f, "{accesses} accesses are too many, {most} are possible")
            }
            SwizzleError::Tensor { access } => {
                write!(f, "access {access} holds another tensor than access 0")
            }
            SwizzleError::UnknownAxis { access, label } => {
                write!(f, "axis `{label}` of access {access} is no register, lane, warp or block")
            }
            SwizzleError::Lanes { access, layout, machine } => {
                write!(f, "access {access} has {layout} lane bits, the machine has {machine}")
            }
            SwizzleError::ElementBits(bits) => {
                write!(f, "elements of {bits} bits cannot be moved, 1 to 64 bits can")
            }
            SwizzleError::NotStored { access, element } => {
                write!(f, "access {access} moves element {element}, which no store writes")
            }
            SwizzleError::Width { access, bytes } => write!(
                f,
                "access {access} may use at most {bytes} bytes at once, which is less than one \
                 element or no power of two"
            ),
            SwizzleError::Scratch { needed, available } => write!(
                f,
                "the buffer needs {needed} bytes, {available} are allowed, and the accesses share \
                 too few registers to go in rounds"
            ),
            SwizzleError::FixedElement { element } => write!(
                f,
                "the fixed element {element} is not in the buffer, or is a sum of other fixed ones"
            ),
            SwizzleError::FixedCount { bits, found } => {
                write!(f, "{found} elements are fixed for {bits} offset bits")
            }
            SwizzleError::NotAPair { accesses } => write!(
                f,
                "the construction is for one store and one load, in this order, not for these \
                 {accesses} accesses"
            ),
            SwizzleError::OtherBuffer { problem } => write!(
                f,
                "problem {problem} has another buffer than problem 0: one layout is for one tensor of \
                 one width that all hold at once"
            ),
            SwizzleError::NotMemory => f.write_str(
                "the memory layout does not give each element of the buffer exactly one offset",
            ),
            SwizzleError::Stopped => f.write_str("the search was stopped"),
            SwizzleError::Layout(error) => write!(f, "the swizzle is wrong: {error}"),
            SwizzleError::Access(error) => write!(f, "the swizzle is wrong: {error}"),
        }
    }
}

impl core::error::Error for SwizzleError {}
