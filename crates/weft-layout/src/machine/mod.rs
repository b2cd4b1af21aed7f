//! Machines: what a GPU can do and what it costs, as data.
//!
//! Nothing here computes; [`access`](crate::access) and [`step`](crate::step) read these rows.
//! Each row says where its numbers come from ([`Machine::source`]): measured, published by others,
//! documented, found by assembling, inferred or recalled.
//!
//! ```
//! use weft_layout::{Machine, f2::Subspace, machine::Kind};
//!
//! // Which lanes does a 16-byte load of an MI300X serve together with lane 0?
//! let machine = Machine::by_name("gfx942").ok_or("no such machine")?;
//! let together = machine.phases.subspace(Kind::Load, 4);
//! assert_eq!(together, Subspace::from_vectors(&[1, 2, 20]));
//! assert!(together.elements()?.eq([0, 1, 2, 3, 20, 21, 22, 23]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod phases;
mod prices;
mod forms;
mod matrix_descriptor;
mod multiply;
mod sources;
mod timing;
mod nvidia;
mod amd;

use alloc::borrow::Cow;

pub use forms::{Matrix, MatrixMove, Pipe, Reach, Shuffle, Transposes};
pub use matrix_descriptor::MatrixDescriptor;
pub use multiply::{BrokenGroup, Fragments, MatrixMultiply, Number, Part, Storage, Widths};
pub use phases::{MAX_ACCESS_LOG2, Phases, Together};
pub use prices::Prices;
pub use sources::{Origin, Source};
pub use timing::Timing;

/// Whether an access reads or writes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A load, from memory to registers.
    Load,
    /// A store, from registers to memory.
    Store,
}

/// The instruction set of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// NVIDIA PTX of this compute capability.
    Ptx {
        /// Compute capability, for example 90.
        capability: u32,
    },
    /// AMD's instruction set for the processor that the machine is named after.
    Amdgcn,
}

/// A GPU as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The name under which it is chosen, for example `sm_90`.
    pub name: Cow<'static, str>,
    /// The instruction set that programs for it are written in.
    pub isa: Isa,
    /// The logarithm of the number of lanes of a warp.
    pub lanes_log2: u32,
    /// The logarithm of the number of banks of shared memory.
    pub banks_log2: u32,
    /// The logarithm of the number of banks as stores see them.
    pub store_banks_log2: u32,
    /// The logarithm of the bytes that a bank serves in one wavefront (one word).
    pub bank_bytes_log2: u32,
    /// How shared memory serves the lanes of a warp.
    pub phases: Phases,
    /// The most bytes of one lane in one access of shared memory.
    pub shared_vector_bytes: u32,
    /// The most bytes of one lane in one access of global memory.
    pub global_vector_bytes: u32,
    /// The most bytes of one lane to which one atomic in global memory adds floats of 16 or 32 bits, each by
    /// itself. An atomic of one element is always there.
    pub atomic_vector_bytes: u32,
    /// The bytes that global memory moves together.
    pub sector_bytes: u32,
    /// The most bytes of shared memory that one block can ask for.
    pub shared_bytes_per_block: u64,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_bytes: u64,
    /// The most threads of a block.
    pub threads_per_block: u32,
    /// The most threads on a multiprocessor.
    pub threads: u32,
    /// The most blocks on a multiprocessor.
    pub blocks: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// The most 32-bit registers of a thread.
    pub registers_per_thread: u32,
    /// Multiprocessors of the largest device of this kind.
    pub multiprocessors: u32,
    /// The barriers that the warps of one block can wait at.
    pub barriers: u32,
    /// The most blocks of a cluster, which can access each other's shared memory; 1 without clusters.
    pub cluster_blocks: u32,
    /// The bytes of one lane that a copy from global straight into shared memory moves, where the lanes
    /// of a wave write side by side; the narrowest first, none without such copies.
    pub direct_copies: Cow<'static, [u32]>,
    /// The instructions that move matrices between shared memory and registers.
    pub matrix_moves: Cow<'static, [MatrixMove]>,
    /// The instructions by which one warp multiplies matrices in its registers.
    pub matrix_multiplies: Cow<'static, [MatrixMultiply]>,
    /// The instructions by which four warps (a warpgroup) multiply matrices, asynchronously and from
    /// shared memory.
    pub warpgroup_multiplies: Cow<'static, [MatrixMultiply]>,
    /// The instructions by which one warp multiplies matrices of numbers of few bits, of which neighbours
    /// along the summed index share a scale.
    pub scaled_multiplies: Cow<'static, [MatrixMultiply]>,
    /// The instructions that exchange registers between lanes.
    pub shuffles: Cow<'static, [Shuffle]>,
    /// The instruction that makes a word of any four bytes of two.
    pub byte_permute: Cow<'static, str>,
    /// What each kind of instruction costs a warp.
    pub prices: Prices,
    /// How long instructions take.
    pub timing: Timing,
    /// Where these numbers come from; [`Machine::source`] finds the row of one.
    pub sources: Cow<'static, [Source]>,
}

/// A machine, and the names of its products.
type Known = (&'static Machine, &'static [&'static str]);

/// How many machines Weft knows.
const KNOWN: usize = nvidia::MACHINES.len() + amd::MACHINES.len();

/// One of them, NVIDIA's first.
const fn known(index: usize) -> Known {
    let (nvidia, amd) = (nvidia::MACHINES, amd::MACHINES);
    if index < nvidia.len() { nvidia[index] } else { amd[index - nvidia.len()] }
}

impl Machine {
    /// Every machine that Weft knows: NVIDIA's, then AMD's, each oldest first.
    pub const ALL: [&'static Machine; KNOWN] = {
        let mut all = [nvidia::MACHINES[0].0; KNOWN];
        let mut index = 1;
        while index < KNOWN {
            all[index] = known(index).0;
            index += 1;
        }
        all
    };

    /// The machine of this name, or the one that a product of this name is; case and what stands
    /// between letters and digits do not matter.
    ///
    /// ```
    /// use weft_layout::Machine;
    ///
    /// for name in ["sm_90", "sm90", "h100", "H200"] {
    ///     assert_eq!(Machine::by_name(name).map(|machine| &*machine.name), Some("sm_90"));
    /// }
    /// assert_eq!(Machine::by_name("sm_12"), None);
    /// ```
    pub fn by_name(name: &str) -> Option<&'static Machine> {
        let named = |machine: &&Machine| {
            same(&machine.name, name) || machine.products().any(|product| same(product, name))
        };
        Machine::ALL.into_iter().find(named)
    }

    /// The products whose chip this machine is, for example `h100`, and the further names of its
    /// instruction set, under which it is chosen too; none for a machine that is given as data.
    pub fn products(&self) -> impl Iterator<Item = &'static str> + use<> {
        let row = (0..KNOWN).map(known).find(|(machine, _)| machine.name == self.name);
        row.map_or(&[][..], |(_, products)| products).iter().copied()
    }

    /// The number of lanes of a warp.
    pub fn lanes(&self) -> u32 {
        1_u32.checked_shl(self.lanes_log2).unwrap_or(0)
    }

    /// The bytes of one lane in a copy from global straight into shared memory, where such copies are as wide as
    /// loads; narrower ones are an instruction for each word, and registers bring as much in fewer.
    pub fn direct_copy_bytes(&self) -> Option<u32> {
        self.direct_copies.last().copied().filter(|&bytes| bytes >= self.global_vector_bytes)
    }

    /// The logarithm of the number of banks that an access of this kind sees.
    pub fn banks_log2_of(&self, kind: Kind) -> u32 {
        match kind {
            Kind::Load => self.banks_log2,
            Kind::Store => self.store_banks_log2,
        }
    }

    /// The logarithm of the bytes that all banks serve in one wavefront.
    pub fn row_bytes_log2(&self) -> u32 {
        self.banks_log2.saturating_add(self.bank_bytes_log2)
    }
}

/// Whether two names have the same letters and digits.
fn same(one: &str, other: &str) -> bool {
    let plain = |name: &'_ str| -> alloc::string::String {
        let kept = name.chars().filter(char::is_ascii_alphanumeric);
        kept.map(|c| c.to_ascii_lowercase()).collect()
    };
    plain(one) == plain(other)
}
