use core::fmt;

/// Why an access is not legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessError {
    /// There is not one address column for each lane bit.
    Lanes {
        /// The lane bits of the machine.
        expected: u32,
        /// The columns given.
        found: usize,
    },
    /// There is not one address for each lane.
    Addresses {
        /// The lanes of the machine.
        expected: u32,
        /// The addresses given.
        found: usize,
    },
    /// The machine has no access of this width.
    Width {
        /// The bytes asked for.
        bytes: u32,
        /// The most that it can.
        widest: u32,
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
        /// The lane.
        lane: u32,
        /// Its address.
        address: u64,
        /// The width in bytes.
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
            AccessError::Misaligned { lane_bit, bytes } => write!(
                f,
                "lane bit {lane_bit} moves the address by less than the {bytes} bytes of the access"
            ),
            AccessError::MisalignedLane { lane, address, bytes } => write!(
                f,
                "lane {lane} accesses {bytes} bytes at address {address}, which is no multiple"
            ),
        }
    }
}

impl core::error::Error for AccessError {}
