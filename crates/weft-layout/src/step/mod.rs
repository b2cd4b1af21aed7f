//! Movement as data: a plan is a list of steps over register files.
//!
//! A *file* is a register of some width, repeated: each thread has `registers` of them.
//! Files are in single-assignment form; each step reads files and defines a new one, and only loads
//! define one file together.
//! A [`Plan`] takes the files `inputs`, which hold a tensor in one layout (register `r` of lane `l`
//! of warp `w` holds the element at that place), and leaves the result in `outputs`.
//!
//! Semantics, which the witness executes and which translators follow:
//!
//! - All lanes of all warps of a block run every step, in order.
//! - Steps of different warps interleave freely, except across [`Step::Barrier`].
//! - Scratch memory is undefined at the start; a plan may write it at once, so that whoever used it
//!   before must have passed a barrier of the same scope.
//! - A lane that takes no part in a load holds undefined values in what the load defines.

mod form;
mod maps;
mod packing;
mod price;
mod text;

use alloc::vec::Vec;

pub use crate::access::Kind;
pub use crate::machine::Matrix;
pub use form::Form;
pub(crate) use maps::combine;
pub use maps::{DataMap, LaneMap, Parity, Selector};
pub use price::{Cost, price};
pub use text::StepText;

/// A register file of a plan; prints as `f3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct File(pub u16);

impl File {
    /// The place in [`Plan::files`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What a file is: the same in every thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileType {
    /// How many registers each thread has.
    pub registers: u32,
    /// The bits of each: 8, 16, 32 or 64.
    pub element_bits: u32,
}

/// One primitive movement. All threads of a block take it together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Register `i` of `to` is register `source[i]` of `from`. Free: a renaming.
    Permute {
        /// The file that is read.
        from: File,
        /// The file that is defined.
        to: File,
        /// For each register of `to` the one of `from`; one may serve several times.
        source: Vec<u32>,
    },
    /// The registers of several files, one file after the other. Free: a renaming.
    Concat {
        /// The files that are read, in order.
        from: Vec<File>,
        /// The file that is defined, as long as all of them.
        to: File,
    },
    /// `to` is `even` in threads where the chosen bits have even parity, else `odd`.
    Select {
        /// The file taken where the parity is even.
        even: File,
        /// The file taken where it is odd.
        odd: File,
        /// The file that is defined.
        to: File,
        /// Which threads are odd.
        odd_where: Parity,
    },
    /// `to` is `inside` in the threads of a set, else `outside`.
    Where {
        /// The file taken by the threads of the set.
        inside: File,
        /// The file taken by the others.
        outside: File,
        /// The file that is defined.
        to: File,
        /// The set, as fixed bits of lane and warp.
        threads: Cube,
    },
    /// Each register of `to` is put together from the bytes of the same register of two files.
    ///
    /// Bytes 0 to 3 of a pair are those of the register of `a`, 4 to 7 those of `b`, lowest first;
    /// those beyond a narrow register are undefined.
    Bytes {
        /// The file with bytes 0 to 3; at most 32 bits a register, as `b` and `to`.
        a: File,
        /// The file with bytes 4 to 7.
        b: File,
        /// The file that is defined.
        to: File,
        /// Which byte of the pair each byte is.
        selector: Selector,
    },
    /// Each register of `to` is the same register of `from` in another lane of the same warp.
    Exchange {
        /// The file that is read.
        from: File,
        /// The file that is defined.
        to: File,
        /// The lane read, for each lane.
        source: LaneMap,
    },
    /// Each register of `to` is the same register of `from` in a neighbouring lane of the same warp.
    ///
    /// Some bits of the lane are read as a number; the lane read has the number before or after, and
    /// the same other bits. After the last number comes the first.
    Shift {
        /// The file that is read.
        from: File,
        /// The file that is defined.
        to: File,
        /// The lane bits of the number, lowest first; all different.
        bits: Vec<u32>,
        /// Which neighbour is read.
        neighbour: Neighbour,
    },
    /// Each register of `to`, of 32 bits, is an affine function over F₂ of the same register of
    /// `from`, read as an unsigned number, and of the thread.
    Affine {
        /// The file of numbers.
        from: File,
        /// The file that is defined.
        to: File,
        /// The function of number, lane and warp.
        map: DataMap,
    },
    /// Each register of `to` is the same register of `from` in the lane that the same register of
    /// `lane` names, in the same warp.
    Fetch {
        /// The file that is read in the other lane.
        from: File,
        /// The lane read: a file of numbers of 32 bits.
        lane: File,
        /// The file that is defined.
        to: File,
    },
    /// Each register of `to` is that of `odd` where bit `bit` of the same register of `index` is set,
    /// else that of `even`.
    Pick {
        /// The file taken where the bit is clear.
        even: File,
        /// The file taken where it is set.
        odd: File,
        /// The file that is defined.
        to: File,
        /// A file of numbers of 32 bits.
        index: File,
        /// The number of the bit, below 32.
        bit: u32,
    },
    /// Each register of `to` is loaded from scratch memory, at the byte address in the same register
    /// of `address`.
    Lookup {
        /// A file of numbers of 32 bits.
        address: File,
        /// The file that is defined.
        to: File,
    },
    /// Every register of `to`, of 32 bits, is zero.
    Zero {
        /// The file that is defined.
        to: File,
    },
    /// Numbers add one each to counters in scratch memory, which are words of 32 bits. Threads do this
    /// in any order, and none is lost.
    Count(Count),
    /// Each register of `to` is the sum of the same registers of `a` and `b`, all of 32 bits.
    Add {
        /// A file of counts.
        a: File,
        /// The file that is added to it.
        b: File,
        /// The file that is defined.
        to: File,
    },
    /// Registers to scratch memory, or back.
    Access(Access),
    /// All threads in scope wait for each other, and their accesses before it come first.
    Barrier(Scope),
    /// `to[i]` is component `i` of an operator applied to the tuples `a` and `b`, register by
    /// register.
    Combine {
        /// Which operator; its meaning is the caller's.
        operator: Operator,
        /// The left tuple, a file for each component.
        a: Vec<File>,
        /// The right tuple, a file for each component.
        b: Vec<File>,
        /// The files that are defined, one for each component.
        to: Vec<File>,
        /// Whether exchanging `a` and `b` would change the result.
        ordered: bool,
    },
}

/// An operator of [`Step::Combine`], by number: associative, otherwise opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operator(pub u16);

/// Loads or stores of scratch memory, all of one form and with one address map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Whether memory is read or written.
    pub kind: Kind,
    /// Which bytes each lane moves.
    pub form: Form,
    /// The file whose registers are written to memory, or defined from it.
    pub file: File,
    /// The registers and addresses of each instruction, in order.
    pub groups: Vec<Group>,
    /// What each lane bit contributes to the byte address that the lane gives.
    pub lane: Vec<u64>,
    /// What each warp bit contributes to the byte address.
    pub warp: Vec<u64>,
    /// Which threads take part; of a warp that moves matrices all lanes, or none.
    pub acting: Acting,
}

/// Which counter in scratch memory each number adds one to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The file of numbers, unsigned.
    pub numbers: File,
    /// A file of bytes with as many registers: where one is zero, its number is not counted.
    pub mask: Option<File>,
    /// Numbers from here on are not counted.
    pub below: u64,
    /// The byte address of the counter.
    pub map: DataMap,
    /// Which threads take part.
    pub acting: Acting,
}

/// One instruction of an [`Access`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// The registers, in the order of their bytes in [`Form::place`]; a power of two of them.
    pub registers: Vec<u32>,
    /// What the group contributes to the byte address, by exclusive-or.
    pub address: u64,
}

/// Threads that take part: those with none of these bits set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Acting {
    /// Lanes with one of these bits are idle.
    pub idle_lanes: u64,
    /// Warps with one of these bits are idle.
    pub idle_warps: u64,
}

impl Acting {
    /// Every thread of a block takes part.
    pub const ALL: Acting = Acting { idle_lanes: 0, idle_warps: 0 };

    /// Whether a thread takes part.
    pub fn takes_part(self, lane: u64, warp: u64) -> bool {
        lane & self.idle_lanes == 0 && warp & self.idle_warps == 0
    }
}

/// Threads by the values of some of their bits: a cube in the space of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cube {
    /// The lane bits that count.
    pub lanes: u64,
    /// The warp bits that count.
    pub warps: u64,
    /// What all of these bits are.
    pub ones: bool,
}

impl Cube {
    /// Whether a thread belongs to the set.
    pub fn holds(self, lane: u64, warp: u64) -> bool {
        if self.ones {
            lane & self.lanes == self.lanes && warp & self.warps == self.warps
        } else {
            lane & self.lanes == 0 && warp & self.warps == 0
        }
    }
}

/// A neighbour in a row of numbered lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Neighbour {
    /// The lane whose number is one less.
    Before,
    /// The lane whose number is one more.
    After,
}

impl Neighbour {
    /// The lane that `lane` reads, in a row numbered by these lane bits.
    pub fn of(self, lane: u64, bits: &[u32]) -> u64 {
        let carries_at = match self {
            Neighbour::Before => 1,
            Neighbour::After => 0,
        };
        // Counting flips bits from the lowest on, up to the first one that does not carry.
        let mut flipped = 0;
        for &bit in bits {
            let mask = 1_u64.checked_shl(bit).unwrap_or(0);
            flipped |= mask;
            if u64::from(lane & mask != 0) == carries_at {
                break;
            }
        }
        lane ^ flipped
    }
}

/// Who waits at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The lanes of one warp.
    Warp,
    /// All warps of a block.
    Block,
}

/// Which way of moving a plan takes, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Nothing moves: registers are renamed at most.
    Nothing,
    /// Registers are renamed (or selected) within each thread.
    Registers,
    /// Lanes of a warp exchange registers.
    Shuffles,
    /// Elements go through shared memory.
    SharedMemory,
    /// Operands are combined by an operator.
    Reduction,
    /// Operands are combined with all that come before them.
    Scan,
    /// Elements are taken by index through lane exchanges.
    GatherShuffles,
    /// Elements are taken by index from shared memory.
    GatherMemory,
    /// Numbers are counted in shared memory.
    Histogram,
}

/// A list of steps with its price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The files that hold the source, one for each operand.
    pub inputs: Vec<File>,
    /// The files that hold the result.
    pub outputs: Vec<File>,
    /// The type of every file.
    pub files: Vec<FileType>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The logarithm of the lanes of a warp.
    pub lane_bits: u32,
    /// The logarithm of the warps of a block.
    pub warp_bits: u32,
    /// The bytes of shared memory used; aligned to the widest access.
    pub scratch_bytes: u64,
    /// The price of the steps.
    pub cost: Cost,
    /// The price that the same movement would have if no access had a bank conflict.
    pub bound: Cost,
    /// How the plan moves data.
    pub strategy: Strategy,
}

impl Plan {
    /// A plan without steps whose inputs are files of these types.
    pub fn new(inputs: &[FileType], lane_bits: u32, warp_bits: u32) -> Plan {
        let files: Vec<File> = (0..inputs.len()).map(|index| File(index as u16)).collect();
        Plan {
            inputs: files.clone(),
            outputs: files,
            files: inputs.to_vec(),
            steps: Vec::new(),
            lane_bits,
            warp_bits,
            scratch_bytes: 0,
            cost: Cost::default(),
            bound: Cost::default(),
            strategy: Strategy::Nothing,
        }
    }

    /// The type of a file; one without registers when there is no such file.
    pub fn file(&self, file: File) -> FileType {
        self.files.get(file.index()).copied().unwrap_or(FileType { registers: 0, element_bits: 8 })
    }

    /// A new file of this type.
    /// Beyond 2^16 files the numbers wrap, which the witness refuses.
    pub fn add_file(&mut self, registers: u32, element_bits: u32) -> File {
        let file = File(self.files.len() as u16);
        self.files.push(FileType { registers, element_bits });
        file
    }
}
