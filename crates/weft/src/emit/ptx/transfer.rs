//! Bulk copies, mbarriers, and warps that run bodies of their own.
//!
//! ```text
//! mbarrier.expect %1, %2          mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], %r2;
//! mbarrier.wait %1, %3            $L_wait_7:
//!                                   mbarrier.try_wait.parity.shared::cta.b64 %q0, [%r1], %r4;
//!                                   @!%q0 bra $L_wait_7;
//! ```

use super::control::inside;
use super::writer::{Class, Reg, Writer, put};
use crate::atomic::Rmw;
use crate::emit::Unsupported;
use crate::id::Id;
use crate::lane::{
    BulkCopy, Inst, InstData, Mbarrier, NamedBarrier, Op, Program, Role, TensorCopy, TensorWay,
};
use core::cmp::Ordering;

/// The architecture and the version of PTX that have these instructions (PTX ISA 8.0).
const CAPABILITY: u32 = 90;

fn needs(w: &mut Writer<'_>, operation: &str) -> Result<(), Unsupported> {
    if w.target.capability < CAPABILITY {
        return Err(w.unsupported(operation, format!("sm_{CAPABILITY} and later have them")));
    }
    w.need((8, 0));
    Ok(())
}

/// An arrival at a barrier of some warps, which counts threads.
pub(super) fn named_barrier(w: &mut Writer<'_>, barrier: NamedBarrier) {
    let NamedBarrier { name, warps, waits } = barrier;
    let threads = warps << w.program.lanes_log2;
    put!(w, "bar.{} {name}, {threads}", if waits { "sync" } else { "arrive" });
}

pub(super) fn mbarrier(
    w: &mut Writer<'_>,
    id: Inst,
    op: Mbarrier,
    inst: &InstData,
) -> Result<(), Unsupported> {
    needs(w, "mbarriers that count bytes")?;
    let operands = w.regs(&inst.operands);
    match (op, &operands[..]) {
        (Mbarrier::Initialise { arrivals }, [at]) => {
            put!(w, "mbarrier.init.shared::cta.b64 [{at}], {arrivals}");
        }
        (Mbarrier::Arrive, [at]) => put!(w, "mbarrier.arrive.shared::cta.b64 _, [{at}]"),
        (Mbarrier::Expect, [at, bytes]) => {
            put!(w, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [{at}], {bytes}");
        }
        (Mbarrier::Wait, &[at, parity]) => wait(w, id, at, parity),
        (Mbarrier::Invalidate, [at]) => put!(w, "mbarrier.inval.shared::cta.b64 [{at}]"),
        // The verifier has seen how many there are.
        _ => {}
    }
    Ok(())
}

/// The instruction sleeps for a while, and may give up before the phase is over.
fn wait(w: &mut Writer<'_>, id: Inst, at: Reg, parity: Reg) {
    let (word, over) = (w.temp(Class::B32), w.temp(Class::Predicate));
    put!(w, "selp.b32 {word}, 1, 0, {parity}");
    w.label(format_args!("$L_wait_{}", id.index()));
    put!(w, "mbarrier.try_wait.parity.shared::cta.b64 {over}, [{at}], {word}");
    put!(w, "@!{over} bra $L_wait_{}", id.index());
}

pub(super) fn bulk_copy(
    w: &mut Writer<'_>,
    copy: BulkCopy,
    inst: &InstData,
) -> Result<(), Unsupported> {
    let what = match copy {
        BulkCopy::ToShared | BulkCopy::ToGlobal => "bulk copies",
        BulkCopy::Commit | BulkCopy::Wait { .. } => "groups of bulk copies",
    };
    needs(w, what)?;
    let operands = w.regs(&inst.operands);
    match (copy, &operands[..]) {
        (BulkCopy::Commit, _) => put!(w, "cp.async.bulk.commit_group"),
        (BulkCopy::Wait { pending, reads }, _) => {
            let reads = if reads { ".read" } else { "" };
            put!(w, "cp.async.bulk.wait_group{reads} {pending}");
        }
        (BulkCopy::ToShared, [shared, global, bytes, mbarrier]) => {
            let name = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
            put!(w, "{name} [{shared}], [{global}], {bytes}, [{mbarrier}]");
        }
        (BulkCopy::ToGlobal, [shared, global, bytes]) => {
            let name = "cp.async.bulk.global.shared::cta.bulk_group";
            put!(w, "{name} [{global}], [{shared}], {bytes}");
        }
        // The verifier has seen how many there are.
        _ => {}
    }
    Ok(())
}

/// The copy of a box. A map is told by the generic address of the parameter that it is.
pub(super) fn tensor_copy(
    w: &mut Writer<'_>,
    copy: TensorCopy,
    inst: &InstData,
) -> Result<(), Unsupported> {
    needs(w, "copies of boxes of tensors")?;
    if w.is_function {
        return Err(w.unsupported("copies of boxes of tensors", "only kernels are given maps"));
    }
    let TensorCopy { map, way } = copy;
    let name = super::parameter(map as usize, &w.program.params[map as usize]);
    let [address, generic] = [w.temp(Class::B64), w.temp(Class::B64)];
    put!(w, "mov.b64 {address}, {name}");
    put!(w, "cvta.param.u64 {generic}, {address}");
    let operands = w.regs(&inst.operands);
    let rank = w.program.maps.get(&map).map_or(0, |map| map.sides.len());
    // The verifier has seen how many there are.
    let (Some((shared, rest)), true) = (operands.split_first(), operands.len() > rank) else {
        return Ok(());
    };
    let coordinates: Vec<String> = rest[..rank].iter().map(ToString::to_string).collect();
    let at = format!("[{generic}, {{{}}}]", coordinates.join(", "));
    match (way, rest.get(rank)) {
        (TensorWay::ToShared, Some(mbarrier)) => {
            let of = "shared::cluster.global.mbarrier::complete_tx::bytes";
            put!(w, "cp.async.bulk.tensor.{rank}d.{of} [{shared}], {at}, [{mbarrier}]");
        }
        (TensorWay::Reduce(op), _) => {
            let op = match op {
                Rmw::Add | Rmw::FAdd => "add",
                Rmw::Min | Rmw::UMin => "min",
                Rmw::Max | Rmw::UMax => "max",
                other => other.name(),
            };
            let of = format!("global.shared::cta.{op}.bulk_group");
            put!(w, "cp.reduce.async.bulk.tensor.{rank}d.{of} {at}, [{shared}]");
        }
        _ => {
            let of = "global.shared::cta.bulk_group";
            put!(w, "cp.async.bulk.tensor.{rank}d.{of} {at}, [{shared}]");
        }
    }
    Ok(())
}

/// Registers that each thread of a kernel starts with, where its roles share them out: as many as there are, a
/// multiple of 8.
pub(super) fn starts_with(program: &Program) -> Option<u32> {
    const REGISTERS: u32 = 1 << 16;
    let shares = |inst: &InstData| match &inst.op {
        Op::Roles(roles) => roles.iter().any(|role| role.registers.is_some()),
        _ => false,
    };
    let each = (REGISTERS / program.threads().max(1) / 8 * 8).min(248);
    program.insts.values().any(shares).then_some(each)
}

/// Each warp goes to the body of its role.
pub(super) fn roles(
    w: &mut Writer<'_>,
    id: Inst,
    roles: &[Role],
    inst: &InstData,
) -> Result<(), Unsupported> {
    let n = id.index();
    w.uses_warp = true;
    let before = w.ready.clone();
    let mut after = before.clone();
    for (index, (role, body)) in roles.iter().zip(&inst.regions).enumerate() {
        let Role { first, warps, registers } = *role;
        let (warp, other) = (w.temp(Class::B32), w.temp(Class::Predicate));
        put!(w, "sub.u32 {warp}, %warp, {first}");
        put!(w, "setp.ge.u32 {other}, {warp}, {warps}");
        put!(w, "@{other} bra $L_role_{n}_{index}");
        if let (Some(registers), Some(start)) = (registers, starts_with(w.program)) {
            needs(w, "registers by role")?;
            if !w.target.architecture_specific {
                let reason = "only targets with the suffix `a` share registers out";
                return Err(w.unsupported("registers by role", reason));
            }
            match registers.cmp(&start) {
                Ordering::Less => put!(w, "setmaxnreg.dec.sync.aligned.u32 {registers}"),
                Ordering::Greater => put!(w, "setmaxnreg.inc.sync.aligned.u32 {registers}"),
                Ordering::Equal => {}
            }
        }
        w.ready = before.clone();
        inside(w, body)?;
        after.join(w.ready.clone());
        w.depth += 1;
        put!(w, "bra $L_roles_{n}");
        w.label(format_args!("$L_role_{n}_{index}"));
        w.depth -= 1;
    }
    w.depth += 1;
    w.label(format_args!("$L_roles_{n}"));
    w.depth -= 1;
    w.ready = after;
    Ok(())
}
