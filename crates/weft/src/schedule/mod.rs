//! The order of a tile program's operations, where another one than the source's is faster.

mod early;
mod late;
mod live;

use crate::tile::Kernel;
use weft_layout::machine::Machine;

/// Moves products of warpgroups down whose sums would wait for too long: see the file.
pub fn late(kernel: &mut Kernel, machine: &Machine, warps: u32) {
    late::run(kernel, machine, warps);
}

/// The kernel with loads further up, in front of what waits for others; nothing where none can move.
pub fn early(kernel: &Kernel, machine: &Machine, warps: u32) -> Option<Kernel> {
    early::run(kernel, machine, warps)
}
