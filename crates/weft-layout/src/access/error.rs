use alloc::vec::Vec;
use core::fmt;

use crate::{layout::LayoutError, machine::Matrix, space::Label};

/// Why an access is not legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessError {
    /// There is not one address column for each lane bit.
    Lanes {
        /// The lane bits of the machine.
        expected: u32,
        /// The number of columns that were given.
        found: usize,
    },
    /// There is not one address for each lane.
    Addresses {
        /// The lanes of the machine.
        expected: u32,
        /// The number of addresses that were given.
        found: usize,
    },
    /// The machine has no access of this width.
    Width {
        /// The bytes asked for.
        bytes: u32,
        /// The most that it can.
        widest: u32,
    },
    /// The machine has no instruction for these matrices.
    Matrices {
        /// The form of each.
        matrix: Matrix,
        /// The bytes that each lane would move.
        bytes: u32,
    },
    /// The addresses are not multiples of the width.
    Misaligned {
        /// The lane bit whose column is at fault.
        lane_bit: u32,
        /// The width in bytes.
        bytes: u32,
    },
    /// The address of a lane is not a multiple of the width.
    MisalignedLane {
        /// The first lane whose address is at fault.
        lane: u32,
        /// The byte address that this lane gives.
        address: u64,
        /// The width in bytes.
        bytes: u32,
    },
    /// There is not one address column for each bit of the rows of a matrix.
    Rows {
        /// The row bits of the instruction.
        expected: u32,
        /// The number of columns that were given.
        found: usize,
    },
    /// The rows of a matrix are not aligned.
    MisalignedRow {
        /// The bit of the row's number whose column is at fault.
        row_bit: u32,
        /// The bytes of a row.
        bytes: u32,
    },
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::Lanes { expected, found } => {
                write!(f, "an address needs {expected} lane columns, {found} are given")
            }
            AccessError::Addresses { expected, found } => {
                write!(f, "an access needs {expected} addresses, {found} are given")
            }
            AccessError::Width { bytes, widest } => write!(
                f,
                "an access of {bytes} bytes is not possible; a power of two up to {widest} is"
            ),
            AccessError::Matrices { matrix, bytes } => write!(
                f,
                "the machine has no instruction that moves {bytes} bytes a lane of {}matrices of \
                 {} rows of {} bits",
                if matrix.transposed { "transposed " } else { "" },
                matrix.rows,
                matrix.element_bits
            ),
            AccessError::Misaligned { lane_bit, bytes } => write!(
                f,
                "lane bit {lane_bit} moves the address by less than the {bytes} bytes of the access"
            ),
            AccessError::MisalignedLane { lane, address, bytes } => write!(
                f,
                "lane {lane} accesses {bytes} bytes at address {address}, which is no multiple"
            ),
            AccessError::Rows { expected, found } => {
                write!(f, "a matrix needs {expected} row columns, {found} are given")
            }
            AccessError::MisalignedRow { row_bit, bytes } => write!(
                f,
                "row bit {row_bit} moves the address by less than the {bytes} bytes of a row"
            ),
        }
    }
}

impl core::error::Error for AccessError {}

/// Why the conflicts of a tensor cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConflictsError {
    /// The memory does not hold what the registers hold.
    Layout(LayoutError),
    /// The machine has no such access.
    Access(AccessError),
    /// The layout of the registers has another number of lanes than the machine.
    Lanes {
        /// The lane bits of the layout.
        layout: u32,
        /// Those of the machine.
        machine: u32,
    },
    /// Elements of this width do not lie in memory.
    Element {
        /// The bits of an element.
        bits: u32,
    },
    /// The layout of the memory has no axis `offset`.
    NoOffset,
    /// The memory has 2⁶⁴ bits or more.
    TooLarge,
    /// A store would have to write copies: this place holds the same element as place zero.
    Copies {
        /// The place, as the coordinate along each axis of the registers.
        place: Vec<(Label, u64)>,
    },
    /// This bit of a register's place leads to another memory.
    OtherMemory {
        /// The axis of the place.
        label: Label,
        /// The bit of that axis.
        bit: u32,
        /// The axis that tells memories apart.
        axis: Label,
    },
    /// The element of place zero lies in another memory than the first.
    StartsElsewhere {
        /// The axis that tells memories apart.
        axis: Label,
        /// Which one it is.
        value: u64,
    },
    /// A store would write a part of a byte, whose other part another register or lane holds.
    PartOfByte {
        /// The bits that one lane holds together.
        bits: u32,
    },
    /// A memory with gaps is counted lane by lane, and there are more than 2²⁴.
    TooManyPlaces {
        /// How many, as a logarithm.
        bits: u32,
    },
}

impl From<LayoutError> for ConflictsError {
    fn from(error: LayoutError) -> ConflictsError {
        ConflictsError::Layout(error)
    }
}

impl From<AccessError> for ConflictsError {
    fn from(error: AccessError) -> ConflictsError {
        ConflictsError::Access(error)
    }
}

impl fmt::Display for ConflictsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConflictsError::Layout(error) => error.fmt(f),
            ConflictsError::Access(error) => error.fmt(f),
            ConflictsError::Lanes { layout, machine } => {
                let [layout, machine] = [layout, machine].map(|&bits| 1_u128.checked_shl(bits));
                let count = |count: Option<u128>| count.unwrap_or(u128::MAX);
                let (layout, machine) = (count(layout), count(machine));
                write!(
                    f,
                    "a warp has {layout} lanes in the layout of the registers, and {machine} on the machine"
                )
            }
            ConflictsError::Element { bits } => write!(
                f,
                "elements of {bits} bits do not lie in memory; a power of two up to 128 does"
            ),
            ConflictsError::NoOffset => {
                f.write_str("the layout of the memory has no axis `offset`")
            }
            ConflictsError::TooLarge => f.write_str("the memory has 2^64 bits or more"),
            ConflictsError::Copies { place } => {
                f.write_str(
                    "a store would have to write copies: the element of offset 0 also lies at",
                )?;
                for (index, (label, value)) in place.iter().enumerate() {
                    write!(f, "{} {label} {value}", if index == 0 { "" } else { "," })?;
                }
                Ok(())
            }
            ConflictsError::OtherMemory { label, bit, axis } => write!(
                f,
                "bit {bit} of `{label}` leads to the memory of another `{axis}`, which no access reaches"
            ),
            ConflictsError::StartsElsewhere { axis, value } => {
                write!(
                    f,
                    "the element of place zero lies in the memory of `{axis}` {value}, not of 0"
                )
            }
            ConflictsError::PartOfByte { bits } => write!(
                f,
                "a store would write {bits} bits of a byte, whose others another register or lane \
                 holds; pairs of neighbours must lie in the registers of one thread"
            ),
            ConflictsError::TooManyPlaces { bits } => write!(
                f,
                "a memory with gaps is counted lane by lane, and 2^{bits} are more than 2^24"
            ),
        }
    }
}

impl core::error::Error for ConflictsError {}
