//! The order of a tile program's operations, where another one than the source's is faster.

mod early;
mod late;
mod live;
mod same;

use crate::tile::Kernel;
use weft_layout::machine::Machine;

/// Moves products of warpgroups down to the first use of their sums, where a thread's registers would not hold these
/// until then.
pub fn late(kernel: &mut Kernel, machine: &Machine, warps: u32) {
    late::run(kernel, machine, warps);
}

/// The kernel with loads in front of what waits for other loads, and without loads of what was loaded before, as far as
/// a thread's registers hold what they bring; nothing where none changes.
pub fn early(kernel: &Kernel, machine: &Machine, warps: u32) -> Option<Kernel> {
    early::run(kernel, machine, warps)
}
