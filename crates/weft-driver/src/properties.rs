//! What the driver says about a device.

use std::ffi::c_int;

use cudarc::driver::sys;

/// What the driver says about a device; 0 where it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Properties {
    /// The version of the driver's interface: 13000 is 13.0.
    pub driver_version: u32,
    /// Lanes of a warp.
    pub warp_size: u32,
    /// How many multiprocessors it has.
    pub multiprocessors: u32,
    /// The most threads of a block.
    pub threads_per_block: u32,
    /// The most threads on a multiprocessor.
    pub threads: u32,
    /// The most blocks on a multiprocessor.
    pub blocks: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// The most bytes of shared memory that a block can ask for.
    pub shared_bytes_per_block: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_bytes: u32,
    /// The clock of the multiprocessors at its highest, in kHz.
    pub clock_khz: u32,
    /// The clock of the memory at its highest, in kHz.
    pub memory_clock_khz: u32,
    /// The width of the memory's bus, in bits.
    pub memory_bus_bits: u32,
}

impl Properties {
    /// Asks for each; what cannot be told is 0.
    pub(crate) fn ask(
        driver_version: c_int,
        attribute: impl Fn(sys::CUdevice_attribute) -> Option<u32>,
    ) -> Properties {
        use sys::CUdevice_attribute as Attribute;
        let ask = |which| attribute(which).unwrap_or(0);
        Properties {
            driver_version: driver_version.max(0) as u32,
            warp_size: ask(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE),
            multiprocessors: ask(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
            threads_per_block: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            threads: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
            blocks: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
            registers: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
            shared_bytes_per_block: ask(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            ),
            shared_bytes: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
            clock_khz: ask(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            memory_clock_khz: ask(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
            memory_bus_bits: ask(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
        }
    }
}
