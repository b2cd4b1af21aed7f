//! Software pipelines: loads of later rounds of a loop, under way while a round multiplies matrices or waits.
//!
//! A loop that loads two tiles and multiplies them waits for memory in every iteration, or *round*. Here the
//! loads of round `i + s - 1` are issued in round `i`, as asynchronous copies into one of `s` buffers of shared
//! memory (`s` is the number of *stages*), and the product reads the buffer that was filled `s - 1`
//! rounds before:
//!
//! ```text
//! allocate s buffers                          for i in low..high:
//! for t in 0..s-1:                              wait until at most s - 2 groups are under way
//!     copy the tiles of round t into buffer t   copy the tiles of round i + s - 1 into the buffer
//!     commit them as one group                  that was read a round ago, and commit them
//!                                               load the tiles of round i, multiply, …
//! ```
//!
//! It rewrites tile programs: the result has the same meaning (the evaluator runs both), and no later pass
//! treats it specially. One barrier a round is enough, since a buffer is written
//! again only a round after it was read.
//!
//! What a round needs to know its addresses, pointers that a loop carries for example, is computed that
//! many rounds ahead as well, and so is a branch of nothing but arithmetic, by which a persistent kernel finds its next
//! tile; rounds that do not exist are masked. Rounds are counted without
//! overflow: a round ahead exists while what is left of the range is more than a step.
//!
//! Blocks of tensor descriptors that are tensor maps are copied by an engine, which an mbarrier for each buffer
//! counts instead of groups (`blocks`); those that are used outside of loops as well (`direct`).
//!
//! A load takes part when a product in the loop needs it, its address and mask are computed in the loop
//! from the loop's own values alone, it is no narrower than the smallest copy that is worth it (4 bytes a
//! thread; 16 on AMD's machines), and
//! nothing in the loop may write to the argument that it reads, or wait for other blocks. Other loads of a loop that has such loads, of a few
//! numbers, go to registers one round ahead; so do, on machines that do not copy what a product needs past the registers,
//! the loads of its factors.
//!
//! Where a tile's address hangs on a load of the same loop, as of a page's number, that is loaded a round earlier
//! ([`indices`]).
//!
//! So do all loads of a loop without products whose rounds wait for other threads, or go on from what the one before made
//! of loads and store it, if registers have room. They pass what the loop stores through other arguments. Should these
//! lead to the same memory, a round loads again in its place: it compares two pointers where a load and a store begin at
//! one each and go on alike, and else whether they meet in any round is asked in front of the loop (`reach`). Where
//! neither can be asked no load is ahead. Where the source asks for more than two stages, such loads are copied as far
//! ahead as that says, and whether they may meet what is stored is asked in front of the loop alone.

mod ahead;
mod behind;
mod blocks;
mod direct;
mod find;
mod grids;
mod indices;
mod reach;

use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::movement;
use crate::prune;
use crate::tile::effects::{Fence, Tokens};
use crate::tile::{
    Around, Element, Encoding, Kernel, Op, OpId, OpKind, Region, SharedMemory, Type, Value,
};
use find::Loop;
pub use indices::run as indices;
use std::sync::Arc;
use weft_layout::family::{Family, SwizzledShared};
use weft_layout::machine::{Isa, Machine};

/// How many stages pipelines have.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Where a loop asks for no number itself.
    pub stages: u32,
    /// At most, whatever a loop asks for.
    pub most: u32,
}

impl Wanted {
    /// So many in all loops, unless one asks for fewer.
    pub fn of(stages: u32) -> Self {
        Self { stages, most: stages }
    }
}

/// The kernel with its loads that feed matrix products one round less ahead than there are stages, or one round where registers hold
/// them; nothing where no loop has such loads, or the program says itself where its tensors live.
///
/// All buffers of a loop together take at most what a block of the machine may have; a loop whose
/// buffers would take more gets fewer stages. Where warps multiply, whose products are over
/// when a round ends, the last buffer only lets copies begin in front of the products of a round instead of behind
/// them: it is left out where more blocks find room without it (a state of 32 x 64 in two warps and four stages on
/// an H200: 109 µs with it, 98 µs without).
pub fn run(
    kernel: &Kernel,
    facts: &AxisFacts,
    machine: &Machine,
    warps: u32,
    wanted: Wanted,
) -> Option<Kernel> {
    if kernel.is_encoded() {
        return None;
    }
    let in_front = grids::waits_in_front(kernel);
    let kernel = in_front.as_ref().unwrap_or(kernel);
    let loops = find::loops(kernel, facts, machine, warps);
    if loops.is_empty() {
        return None;
    }
    // Warps of one warpgroup are held together by its products.
    let apart = machine.warpgroup_multiplies.iter().any(|product| warps > product.warps());
    let (mut result, mut loops_changed) = (kernel.clone(), false);
    let mut around: IdMap<OpId, Around> = IdMap::default();
    for found in loops {
        let each: u64 = found.loads().map(|load| bytes(kernel, load)).sum();
        let copies = each > 0;
        let fit = machine.shared_bytes_per_block / each.max(1);
        // Registers hold one round ahead.
        let stages = u64::from(found.asked.unwrap_or(wanted.stages).min(wanted.most));
        let mut stages = stages.min(if copies { fit } else { 2 }) as u32;
        if stages > 2
            && found.is_of_warps(kernel)
            && makes_room(kernel, &found, machine, warps, stages)
        {
            stages -= 1;
        }
        if stages >= 2 {
            let found = found.with_held(kernel, stages);
            loops_changed = true;
            around.set(found.op, ahead::rewrite(&mut result, &found, stages, apart && copies));
        }
    }
    if !loops_changed {
        return None;
    }
    result.put_around(&around);
    prune::run(&mut result);
    Some(result)
}

/// The kernel with a copy engine that brings the blocks that are still loaded where they are used; nothing where
/// that is in an innermost loop, each round of which would wait for them.
pub fn direct(kernel: &Kernel) -> Option<Kernel> {
    let is_loop = |op: &Op| matches!(op.kind, OpKind::For(_) | OpKind::While);
    let mut waits = false;
    kernel.walk(&kernel.body, &mut |_, op| {
        let (mut is_innermost, mut loads) = (is_loop(op), false);
        for region in &op.regions {
            kernel.walk(region, &mut |_, op| {
                is_innermost &= !is_loop(op);
                loads |= find::is_block(op);
            });
        }
        waits |= is_innermost && loads;
    });
    let mut result = kernel.clone();
    direct::run(&mut result);
    (!waits).then_some(result)
}

/// The type of so many mbarriers.
fn mbarriers_type(count: u64) -> Type {
    let family = Family::SwizzledShared(SwizzledShared::new(1, 1, 1, &[0]));
    let memory = SharedMemory { family, mutable: true, allocated: [count, 1][..].into() };
    let encoding = Encoding::Shared(Arc::new(memory));
    Type::tensor(Element::Scalar(DType::I64), &[count, 1]).with_encoding(encoding)
}

/// Whether more blocks run on a multiprocessor if a loop does without one of its stages. Measured of copies past the
/// first cache alone, so not asked of machines whose waves copy into memory.
fn makes_room(kernel: &Kernel, found: &Loop, machine: &Machine, warps: u32, stages: u32) -> bool {
    let each: u64 = found.loads().map(|load| bytes(kernel, load)).sum();
    let threads = warps << machine.lanes_log2;
    let registers = registers(kernel, found, machine, warps);
    let blocks = |stages: u32| {
        let bytes = (each * u64::from(stages)) as u32;
        movement::multiprocessor(machine).blocks(threads, registers, bytes)
    };
    machine.direct_copy_bytes().is_none() && blocks(stages - 1) > blocks(stages)
}

/// The registers that each of so many threads can have.
fn registers_of_thread(machine: &Machine, threads: u64) -> u64 {
    (u64::from(machine.registers) / threads).min(machine.registers_per_thread.into())
}

/// The registers that a thread may need in a loop: numbers that the loop carries, and others.
fn registers(kernel: &Kernel, found: &Loop, machine: &Machine, warps: u32) -> u32 {
    let threads = u64::from(warps) << machine.lanes_log2;
    let bits = kernel.ops[found.op].results.iter().map(|&value| {
        let ty = kernel.ty(value);
        match ty.element {
            Element::Scalar(dtype) => ty.elements() * u64::from(dtype.bits()),
            _ => 0,
        }
    });
    (bits.sum::<u64>() / 32 / threads + behind::OTHER_REGISTERS) as u32
}

/// The bytes of what a load gives.
fn bytes(kernel: &Kernel, load: OpId) -> u64 {
    let ty = kernel.ty(kernel.ops[load].results[0]);
    ty.elements() * u64::from(ty.dtype().bytes())
}

/// Whether a machine copies from global to shared memory asynchronously.
pub(crate) fn has_copies(machine: &Machine) -> bool {
    matches!(machine.isa, Isa::Ptx { capability } if capability >= 80)
        || machine.direct_copy_bytes().is_some()
}

/// Whether loads may not move across an operation, whatever they load: it orders what other blocks write, as an atomic
/// does if its result is looked at, or has groups of copies of its own. A barrier is none of these: what the block
/// itself writes is looked at store by store.
fn orders_memory(kind: &OpKind) -> bool {
    let effects = kind.effects();
    let fences = match effects.fence {
        Fence::None | Fence::Barrier => false,
        Fence::Atomic | Fence::Unknown => true,
    };
    fences || !matches!(effects.tokens, Tokens::None | Tokens::Sends)
}

/// Lets the operations of a region take one value for another.
fn replace(kernel: &mut Kernel, region: &Region, from: Value, to: Value) {
    let mut users = Vec::new();
    kernel.walk(region, &mut |id, op| users.extend(op.operands.contains(&from).then_some(id)));
    for id in users {
        for operand in kernel.ops[id].operands.iter_mut().filter(|operand| **operand == from) {
            *operand = to;
        }
    }
}
