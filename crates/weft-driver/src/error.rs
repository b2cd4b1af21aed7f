//! What can go wrong between a program and a GPU.

use std::fmt::Display;

/// Why the driver could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The machine has no CUDA driver.
    #[error(
        "no CUDA driver on this machine: libcuda.so.1 was not found; \
         install NVIDIA's driver, or run on the simulator, which needs none"
    )]
    NoDriver,
    /// There is a driver, and no device of that number.
    #[error("no CUDA device {ordinal}: {}", devices(*.count))]
    NoDevice {
        /// The device asked for.
        ordinal: u32,
        /// How many there are; they count from 0.
        count: u32,
    },
    /// The driver's own compiler refused a PTX text.
    #[error("the driver refused the PTX ({reason}): {log}")]
    Ptx {
        /// The driver's name for the failure.
        reason: String,
        /// What its compiler said, line by line.
        log: String,
    },
    /// A text that is passed to the driver holds a NUL character.
    #[error("{what} holds a NUL character at byte {position}")]
    Nul {
        /// Which text it is, in words.
        what: &'static str,
        /// Where the character is.
        position: usize,
    },
    /// A module has no kernel of that name.
    #[error("the module has no kernel `{name}`")]
    NoKernel {
        /// The name asked for.
        name: String,
    },
    /// A launch asked for more dynamic shared memory than a block of this device can have.
    #[error("{given} bytes of shared memory were asked for; a block of this device has {limit}")]
    SharedMemory {
        /// How many bytes were asked for.
        given: u32,
        /// Bytes that a block can have.
        limit: u32,
    },
    /// A launch was given other bytes than the kernel's parameters take.
    #[error("arguments of {given} bytes, for a kernel whose parameters take {declared}")]
    Arguments {
        /// Bytes of the arguments, each at a multiple of its own size.
        given: usize,
        /// Bytes of the parameters that the PTX declares.
        declared: usize,
    },
    /// A copy's length is not the buffer's.
    #[error("a copy of {given} bytes into a buffer of {length}")]
    Length {
        /// How many bytes were given.
        given: usize,
        /// Bytes of the buffer.
        length: usize,
    },
    /// A time was asked for and no repetition to measure it by.
    #[error("a time needs at least one repetition")]
    NoRepetitions,
    /// Any other failure that the driver reports.
    #[error("{call} failed: {reason}")]
    Call {
        /// The name of the driver's function.
        call: &'static str,
        /// The driver's name for the failure and its sentence about it.
        reason: String,
    },
}

/// How many devices there are, as a sentence for people.
fn devices(count: u32) -> impl Display {
    match count {
        0 => "the driver sees none".to_owned(),
        1 => "the driver sees one, device 0".to_owned(),
        _ => format!("the driver sees {count}, devices 0 to {}", count - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_device_is_told_from_a_missing_driver() {
        let message = |count| DriverError::NoDevice { ordinal: 3, count }.to_string();
        assert_eq!(message(0), "no CUDA device 3: the driver sees none");
        assert_eq!(message(1), "no CUDA device 3: the driver sees one, device 0");
        assert_eq!(message(2), "no CUDA device 3: the driver sees 2, devices 0 to 1");
    }
}
