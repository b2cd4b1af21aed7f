use core::fmt;

use crate::layout::LayoutError;

/// A register of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the register in its thread.
    pub register: u32,
    /// The number of the lane in its warp.
    pub lane: u32,
    /// The number of the warp in its block.
    pub warp: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "register {} of lane {} of warp {}", self.register, self.lane, self.warp)
    }
}

/// What a place holds instead of what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing that was ever written.
    Nothing,
    /// One element of an operand.
    Element {
        /// The number of the operand, from zero.
        operand: u64,
        /// The number of the element in its tensor.
        element: u64,
    },
    /// A combination of elements other than the fibre.
    Combination,
    /// Bytes that do not form one value.
    Pieces,
}

impl Found {
    /// What a tag means among `operands` operands of `elements` elements; an error is itself.
    pub(super) fn of(tag: Result<u64, Found>, operands: u64, elements: u64) -> Found {
        match tag {
            Err(found) => found,
            Ok(_) if operands == 0 => Found::Nothing,
            Ok(tag) if tag / operands < elements => {
                Found::Element { operand: tag % operands, element: tag / operands }
            }
            Ok(_) => Found::Combination,
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Nothing => f.write_str("nothing defined"),
            Found::Element { operand, element } => {
                write!(f, "element {element} of operand {operand}")
            }
            Found::Combination => f.write_str("a combination of other elements"),
            Found::Pieces => f.write_str("pieces of several values"),
        }
    }
}

/// Why a plan is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WitnessError {
    /// The layouts do not belong to the plan or to each other.
    Layouts(&'static str),
    /// An operator on the layouts fails.
    Layout(LayoutError),
    /// The layouts disagree on what bit `bit` of the block number means.
    CrossesBlocks {
        /// The first bit on which they disagree.
        bit: u32,
    },
    /// There are more places than can be followed.
    TooLarge,
    /// A step is not well formed.
    Malformed {
        /// The index of the step in the plan.
        step: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A thread reads memory that nobody wrote.
    Unwritten {
        /// The index of the step.
        step: usize,
        /// The lane that reads.
        lane: u32,
        /// The warp that reads.
        warp: u32,
        /// The byte address in scratch memory.
        address: u64,
    },
    /// Two threads touch one byte, one of them writing, without a barrier between them.
    Race {
        /// The index of the later step.
        step: usize,
        /// The byte address in scratch memory.
        address: u64,
        /// Lane and warp of the thread in that step.
        thread: (u32, u32),
        /// Lane and warp of another thread that touched the byte; `None` when there were several.
        other: Option<(u32, u32)>,
    },
    /// A combination takes operands of one tuple from different elements.
    Mixed {
        /// The index of the step.
        step: usize,
        /// The first place where it happens.
        place: Place,
    },
    /// A place of the result does not hold what it should.
    Wrong {
        /// The number of the operand, from zero.
        operand: usize,
        /// The first place that is wrong.
        place: Place,
        /// The element of the result that belongs there.
        expected: u64,
        /// What is found there instead.
        found: Found,
    },
    /// A place of a histogram does not have as many elements as there are.
    Miscounted {
        /// The first place that is wrong.
        place: Place,
        /// The number that belongs there.
        number: u64,
    },
}

impl fmt::Display for WitnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WitnessError::Layouts(what) => write!(f, "the layouts do not fit: {what}"),
            WitnessError::Layout(error) => error.fmt(f),
            WitnessError::CrossesBlocks { bit } => {
                write!(f, "bit {bit} of the block number means different elements in the layouts")
            }
            WitnessError::TooLarge => f.write_str("the plan has more than 2^24 places to follow"),
            WitnessError::Malformed { step, what } => write!(f, "step {step} {what}"),
            WitnessError::Unwritten { step, lane, warp, address } => write!(
                f,
                "step {step}: lane {lane} of warp {warp} reads byte {address}, which nobody wrote"
            ),
            WitnessError::Race { step, address, thread: (lane, warp), other } => {
                write!(f, "step {step}: lane {lane} of warp {warp} touches byte {address} after ")?;
                match other {
                    Some((lane, warp)) => write!(f, "lane {lane} of warp {warp}")?,
                    None => f.write_str("several threads")?,
                }
                f.write_str(" without a barrier between")
            }
            WitnessError::Mixed { step, place } => {
                write!(f, "step {step}: {place} combines operands of different elements")
            }
            WitnessError::Wrong { operand, place, expected, found } => write!(
                f,
                "{place} of result {operand} should hold element {expected}, it holds {found}"
            ),
            WitnessError::Miscounted { place, number } => {
                write!(f, "{place} should have how often {number} occurs, and has another count")
            }
        }
    }
}

impl core::error::Error for WitnessError {}
