//! Storing a tensor in a memory layout that is given, by vectors or by matrix moves.

use super::{fragment::Fragment, sides::StoringSide, ways::Actor};
use crate::plan::{PlanError, priced, stored_bits, swizzle::Side};
use crate::{
    layout::{Layout, LayoutError},
    machine::{Kind, Machine},
    space::{LANE, REGISTER, WARP},
    step::{File, FileType, Plan, Step, Strategy},
};

/// The cheapest way to store a tensor of elements of `bits` bits from `registers` where `memory` has them: by the
/// widest vectors that lie in each thread, or by matrix moves. Each element is stored once.
///
/// The plan has no output; its memory is the one that is stored to, and nobody reads it.
/// `memory` is from `offset` (in elements) to the tensor, each element at one offset.
/// Fails when it is not.
///
/// ```
/// use weft_layout::{Machine, interop::parse_attribute, plan};
///
/// // The sums of a product of a warpgroup, in the rows of 128 bytes that Hopper's copy engine writes.
/// let sums = parse_attribute(
///     "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>",
/// )?;
/// let rows = parse_attribute(
///     "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>",
/// )?;
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// let plan = plan::store(&sums.layout(&[64, 64])?, &rows.layout(&[64, 64])?, 16, machine)?;
/// // Four `stmatrix` of four matrices in each warp, and no bank conflict.
/// assert_eq!(plan.cost.instructions, 4);
/// assert_eq!(plan.cost.wavefronts, plan.cost.ideal_wavefronts);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn store(
    registers: &Layout,
    memory: &Layout,
    bits: u32,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    if memory.outs() != registers.outs() {
        return Err(PlanError::Tensors);
    }
    let offsets = memory.matrix().inverse().map_err(LayoutError::from)?;
    let bits = stored_bits(bits)?;
    let bytes_log2 = (bits / 8).ilog2();
    let columns = |label| registers.columns(label).to_vec();
    let all = Side { registers: columns(REGISTER), lanes: columns(LANE), warps: columns(WARP) };
    let writer = StoringSide::of(&all);
    let actor = Actor {
        machine,
        kind: Kind::Store,
        side: &writer.side,
        numbers: writer.numbers(),
        acting: writer.acting,
        bytes_log2,
    };
    let fragments = Fragment::all(machine, Kind::Store, bytes_log2);
    let moves = actor.cheapest(&fragments, &offsets, &[]).ok_or(PlanError::TooLarge)?;
    let ty = FileType { registers: 1 << registers.in_bits(REGISTER), element_bits: bits };
    let mut plan = Plan::new(&[ty], registers.in_bits(LANE), registers.in_bits(WARP));
    plan.steps.push(Step::Access(moves.access(File(0))));
    plan.strategy = Strategy::SharedMemory;
    let bytes = u64::from(bits / 8);
    plan.scratch_bytes = bytes.checked_shl(memory.ins().total_bits()).ok_or(PlanError::TooLarge)?;
    priced(plan, machine)
}
