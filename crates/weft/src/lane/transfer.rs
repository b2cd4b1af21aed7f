//! Bulk copies between global and shared memory, and the barriers that count their bytes.
//!
//! One thread begins a bulk copy, and it runs on by itself through the asynchronous proxy. What is written to
//! shared memory is announced at an *mbarrier*, what is read from it by groups of the thread's copies.
//!
//! # Mbarriers
//!
//! An mbarrier is eight bytes of shared memory that go through *phases* 0, 1, 2, …: a phase is over when as many
//! threads have arrived as were expected, and as many bytes have been written as were announced (PTX ISA,
//! "Parallel synchronization: mbarrier"). Whoever waits names a phase by its *parity*, the low bit of its number:
//! the wait ends if the phase under way has the other parity. So a fresh mbarrier lets pass who waits for
//! parity 1, and who waits must never be two phases behind.
//!
//! What the threads that arrived had done before is done for those that waited; so are the copies.

/// What is done to an mbarrier, whose address is the first operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mbarrier {
    /// `(address)`: begins phase 0; each phase expects so many arrivals, 1 to 2^20 - 1.
    Initialise {
        /// How many arrivals end a phase.
        arrivals: u32,
    },
    /// `(address)`: each thread arrives once.
    Arrive,
    /// `(address, bytes: i32)`: announces bytes for the phase under way, and arrives.
    Expect,
    /// `(address, parity: i1)`: waits until the phase of this parity is over.
    Wait,
    /// `(address)`: nothing will happen to it any more; its bytes may be used for other things.
    Invalidate,
}

impl Mbarrier {
    /// Bytes and alignment of one in shared memory.
    pub const BYTES: u32 = 8;
    /// The most arrivals that a phase can expect; bytes announced stay below as well.
    pub const MOST: u32 = (1 << 20) - 1;
}

/// A copy of consecutive bytes: `cp.async.bulk` of the PTX ISA. Both addresses and the number of bytes are
/// multiples of 16.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BulkCopy {
    /// `(shared address, global address, bytes: i32, mbarrier address)`: the bytes may be written at any time
    /// until the phase under way of the mbarrier is over. They may be touched by those who waited for that.
    ToShared,
    /// `(shared address, global address, bytes: i32)`: the bytes may be read, and those in global memory
    /// written, at any time until the thread has waited for the copy's group.
    ToGlobal,
}

impl BulkCopy {
    /// What addresses and sizes are multiples of.
    pub const ALIGN: u32 = 16;
}
