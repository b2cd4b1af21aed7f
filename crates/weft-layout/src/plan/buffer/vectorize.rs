//! Vectorised access: which registers one instruction moves.
//!
//! An instruction of 2^v elements serves a layout when its tile divides it on the left (theorem 5.1).
//! Registers may be renamed for free, so that any order of them will do (section 5.3): the lowest v
//! bits of memory must be walked by registers alone, as sums of register bits, and no lane or warp
//! may touch them. The tensor's axes play no part: a vector may run over several of them.

use alloc::vec::Vec;

use crate::{
    access::{AccessError, Sectors, sectors},
    f2::{Echelon, low_mask},
    layout::{Layout, LayoutError},
    machine::Machine,
    space::{LANE, OFFSET, REGISTER, WARP},
    step::{Acting, combine},
};

/// How each thread moves its registers to or from memory, each element once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    /// The logarithm of the elements of one vector.
    pub vector_log2: u32,
    /// The registers of each instruction, in the order of memory. Registers that hold copies of
    /// others stand in none.
    pub groups: Vec<Vec<u32>>,
    /// For each register the one in `groups` that holds the same element.
    pub holders: Vec<u32>,
    /// The threads that hold an element first: those that store.
    pub acting: Acting,
    /// What each lane bit adds to the offset, in elements.
    pub lanes: Vec<u64>,
}

impl Vectors {
    /// The bytes that one instruction moves for each lane, with elements of `element_bytes`.
    pub fn bytes(&self, element_bytes: u32) -> u32 {
        element_bytes.checked_shl(self.vector_log2).unwrap_or(u32::MAX)
    }

    /// The sectors that each instruction of a warp touches in global memory.
    pub fn sectors(&self, machine: &Machine, element_bytes: u32) -> Result<Sectors, AccessError> {
        let columns: Vec<u64> =
            self.lanes.iter().map(|offset| offset.saturating_mul(element_bytes.into())).collect();
        sectors(machine, &columns, self.bytes(element_bytes), 0)
    }
}

/// The widest vectors of at most 2^`most_log2` elements with which the registers of `registers` reach
/// a memory.
///
/// `memory` says which element lies at each offset; `most_log2` says how many of its lowest offset
/// bits are known to be neighbours in an aligned piece of memory, within what the machine can move.
///
/// Fails when `memory` lacks an element of `registers`.
///
/// ```
/// use weft_layout::{interop::parse_layout, plan};
///
/// // Each thread holds two rows of two columns: eight neighbours in memory with the lanes' columns.
/// let registers = parse_layout("[register: (1,0) (0,1), lane: (2,0) (4,0)] -> [dim0: 8, dim1: 2]")?;
/// let rows = parse_layout("[offset: (0,1) (1,0) (2,0) (4,0)] -> [dim0: 8, dim1: 2]")?;
/// let vectors = plan::vectorize(&registers, &rows, 4)?;
/// // Four elements at once, over both axes, with the registers in another order.
/// assert_eq!(vectors.groups, [[0, 2, 1, 3]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn vectorize(
    registers: &Layout,
    memory: &Layout,
    most_log2: u32,
) -> Result<Vectors, LayoutError> {
    let found = registers.solve(memory)?;
    let offsets = |label| -> Vec<u64> {
        let outs = found.outs();
        found.columns(label).iter().map(|&column| outs.coordinate(OFFSET, column)).collect()
    };
    let (own, lanes) = (offsets(REGISTER), offsets(LANE));
    let others = found.ins().labels().filter(|&label| label != REGISTER);
    let touched = others.flat_map(offsets).fold(0, |all, column| all | column);
    // Each register bit as a sum of those that are no copies.
    let mut echelon = Echelon::new();
    let (mut kept, mut parts) = (Vec::new(), Vec::with_capacity(own.len()));
    for (bit, &column) in own.iter().enumerate() {
        let (residue, known) = echelon.reduce(column, 0);
        parts.push(known);
        if residue != 0 {
            let number = 1_u64 << bit;
            echelon.insert(column, number);
            parts[bit] = number;
            kept.push((column, number));
        }
    }
    let holders = (0..1_u64 << parts.len()).map(|register| combine(&parts, register) as u32);
    let walks = |bit: &u32| touched >> bit & 1 == 0 && echelon.reduce(1 << bit, 0).0 == 0;
    let vector_log2 = (0..most_log2.min(63)).take_while(walks).count() as u32;
    let walk: Vec<u64> = (0..vector_log2).map(|bit| echelon.reduce(1 << bit, 0).1).collect();
    // What leads from vector to vector, and starts where a vector does.
    let mut cosets = Echelon::of((0..vector_log2).map(|bit| 1 << bit));
    let starts = kept.into_iter().filter(|&(column, _)| cosets.grows(column));
    let starts: Vec<u64> = starts
        .map(|(column, number)| number ^ combine(&walk, column & low_mask(vector_log2)))
        .collect();
    let group = |index: u64| -> Vec<u32> {
        let start = combine(&starts, index);
        (0..1 << vector_log2).map(|place| (start ^ combine(&walk, place)) as u32).collect()
    };
    Ok(Vectors {
        vector_log2,
        groups: (0..1_u64 << starts.len()).map(group).collect(),
        holders: holders.collect(),
        acting: Acting {
            idle_lanes: registers.free_mask(LANE),
            idle_warps: registers.free_mask(WARP),
        },
        lanes,
    })
}
