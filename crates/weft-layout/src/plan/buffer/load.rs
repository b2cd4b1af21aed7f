//! Loading a tensor from a memory layout that is given, by vectors or by matrix moves.

use alloc::vec::Vec;

use super::{fragment::Fragment, sides::Reader, ways::Actor};
use crate::plan::{PlanError, priced, stored_bits, swizzle::Side, writing::builder::permute};
use crate::{
    layout::{Layout, LayoutError},
    machine::{Kind, Machine},
    space::{LANE, REGISTER, WARP},
    step::{Acting, File, Plan, Step, Strategy},
};

/// The cheapest way to load a tensor of elements of `bits` bits into `registers` from where `memory`
/// has them: by the widest vectors that lie in each thread, or by matrix moves.
///
/// The plan has no input; its memory is the one that is loaded from, and nobody writes to it.
/// `memory` is from `offset` (in elements) to the tensor, each element at one offset.
/// Fails when it is not.
///
/// ```
/// use weft_layout::{Machine, interop::{parse_attribute, parse_layout}, plan};
///
/// // The left factor of a product, from rows of 16 halves.
/// let factor = parse_attribute(
///     "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, \
///      warpsPerCTA = [1, 1], instrShape = [16, 8]}>, kWidth = 2}>",
/// )?;
/// let rows = parse_layout(
///     "[offset: (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,0) (8,0)] -> [dim0: 16, dim1: 16]",
/// )?;
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// let plan = plan::load(&rows, &factor.layout(&[16, 16])?, 16, machine)?;
/// // One `ldmatrix` of four matrices.
/// assert_eq!(plan.cost.instructions, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load(
    memory: &Layout,
    registers: &Layout,
    bits: u32,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let mut plan = Plan::new(&[], registers.in_bits(LANE), registers.in_bits(WARP));
    let file = loaded(&mut plan, memory, registers, bits, machine)?;
    plan.outputs = Vec::from([file]);
    plan.strategy = Strategy::SharedMemory;
    let bytes = u64::from(stored_bits(bits)? / 8);
    plan.scratch_bytes = bytes.checked_shl(memory.ins().total_bits()).ok_or(PlanError::TooLarge)?;
    priced(plan, machine)
}

/// Adds the load to a plan; the file that it fills.
pub(crate) fn loaded(
    plan: &mut Plan,
    memory: &Layout,
    registers: &Layout,
    bits: u32,
    machine: &Machine,
) -> Result<File, PlanError> {
    if memory.outs() != registers.outs() {
        return Err(PlanError::Tensors);
    }
    let offsets = memory.matrix().inverse().map_err(LayoutError::from)?;
    let bits = stored_bits(bits)?;
    let bytes_log2 = (bits / 8).ilog2();
    let columns = |label| registers.columns(label).to_vec();
    let side = Side { registers: columns(REGISTER), lanes: columns(LANE), warps: columns(WARP) };
    let reader = Reader::of(&side);
    let numbers: Vec<u64> = (0..reader.side.registers.len()).map(|bit| 1 << bit).collect();
    let actor = Actor {
        machine,
        kind: Kind::Load,
        side: &reader.side,
        numbers: &numbers,
        acting: Acting::ALL,
        bytes_log2,
    };
    let fragments = Fragment::all(machine, Kind::Load, bytes_log2);
    let moves = actor.cheapest(&fragments, &offsets, &reader.parts).ok_or(PlanError::TooLarge)?;
    let file = plan.add_file(1 << reader.side.registers.len(), bits);
    plan.steps.push(Step::Access(moves.access(file)));
    Ok(permute(plan, file, reader.expanded()))
}
