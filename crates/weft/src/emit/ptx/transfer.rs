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
use crate::dtype::DType;
use crate::emit::Unsupported;
use crate::id::Id;
use crate::lane::{
    BulkCopy, Inst, InstData, MakeMap, Mbarrier, Op, Program, Role, TensorCopy, TensorMap,
    TensorWay,
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
    let [address, generic] = [w.temp(Class::B64), w.temp(Class::B64)];
    match place_of_made(w.program, map) {
        Some(place) => put!(w, "add.u64 {generic}, %maps, {place}"),
        None => {
            let name = super::parameter(map as usize, &w.program.params[map as usize]);
            put!(w, "mov.b64 {address}, {name}");
            put!(w, "cvta.param.u64 {generic}, {address}");
        }
    }
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

/// Bytes of global memory that a launch gives each block for the maps that it makes.
pub fn scratch_bytes(program: &Program) -> u32 {
    program.maps.values().filter(|map| map.made).count() as u32 * TensorMap::BYTES
}

/// Where in a block's memory for maps one lies, if the block makes it.
fn place_of_made(program: &Program, map: u32) -> Option<u32> {
    program.maps.get(&map).filter(|map| map.made)?;
    let before = program.maps.range(..map).filter(|(_, map)| map.made).count() as u32;
    Some(before * TensorMap::BYTES)
}

/// The address of a block's memory for the maps that it makes: blocks follow one another in their order.
pub(super) fn made_maps(text: &mut String, program: &Program) {
    let bytes = scratch_bytes(program);
    if bytes == 0 {
        return;
    }
    let scratch = program.params.len();
    text.push_str(&format!(
        "  .reg .b64 %maps;
  .reg .b32 %block, %of, %more;
  mov.u32 %block, %ctaid.z;
  mov.u32 %of, %nctaid.y;
  mov.u32 %more, %ctaid.y;
  mad.lo.u32 %block, %block, %of, %more;
  mov.u32 %of, %nctaid.x;
  mov.u32 %more, %ctaid.x;
  mad.lo.u32 %block, %block, %of, %more;
  ld.param.b64 %maps, [p{scratch}_global_scratch];
  mad.wide.u32 %maps, %block, {bytes}, %maps;
"
    ));
}

/// A map is put together in shared memory, by one lane behind zeros of all, and copied by all to where the copy engine
/// reads it, which is told of it.
pub(super) fn make_map(
    w: &mut Writer<'_>,
    id: Inst,
    make: MakeMap,
    inst: &InstData,
) -> Result<(), Unsupported> {
    const OPERATION: &str = "making of tensor maps";
    needs(w, OPERATION)?;
    w.need((8, 3));
    if w.is_function || !w.target.architecture_specific {
        return Err(w.unsupported(OPERATION, "kernels for targets with the suffix `a` make them"));
    }
    let operands = w.regs(&inst.operands);
    let known = w.program.maps.get(&make.map).zip(place_of_made(w.program, make.map));
    let (Some((map, place)), [staging, base, parts @ ..]) = (known, &operands[..]) else {
        return Ok(());
    };
    let (element, sides, span) = (map.element, map.sides.clone(), map.span);
    let rank = sides.len();
    w.uses_lane = true;
    let (own, others, slot) = (w.temp(Class::B32), w.temp(Class::Predicate), w.temp(Class::B64));
    put!(w, "shl.b32 {own}, %lane, 2");
    put!(w, "add.u32 {own}, {own}, {staging}");
    put!(w, "st.shared.b32 [{own}], 0");
    put!(w, "bar.warp.sync 0xffffffff");
    put!(w, "setp.ne.b32 {others}, %lane, 0");
    put!(w, "@{others} bra $L_map_{}", id.index());
    let name = |field: &str| format!("tensormap.replace.tile.{field}.shared::cta.b1024");
    put!(w, "{}.b64 [{staging}], {base}", name("global_address"));
    put!(w, "{}.b32 [{staging}], {}", name("rank"), rank - 1);
    for (axis, side) in sides.iter().enumerate() {
        put!(w, "{}.b32 [{staging}], {axis}, {side}", name("box_dim"));
        put!(w, "{}.b32 [{staging}], {axis}, {}", name("global_dim"), parts[axis]);
        put!(w, "{}.b32 [{staging}], {axis}, 1", name("element_stride"));
    }
    for (axis, stride) in parts[rank..].iter().enumerate() {
        put!(w, "{}.b64 [{staging}], {axis}, {stride}", name("global_stride"));
    }
    put!(w, "{}.b32 [{staging}], {}", name("elemtype"), element_code(element));
    put!(w, "{}.b32 [{staging}], {}", name("swizzle_mode"), (span / TensorMap::PIECE).ilog2());
    if make.nan && element.is_float() {
        put!(w, "{}.b32 [{staging}], 1", name("fill_mode"));
    }
    w.label(format_args!("$L_map_{}", id.index()));
    put!(w, "bar.warp.sync 0xffffffff");
    put!(w, "add.u64 {slot}, %maps, {place}");
    let of = "global.shared::cta.tensormap::generic.release.gpu.sync.aligned";
    put!(w, "tensormap.cp_fenceproxy.{of} [{slot}], [{staging}], {}", TensorMap::BYTES);
    put!(w, "fence.proxy.tensormap::generic.acquire.gpu [{slot}], {}", TensorMap::BYTES);
    // Triton waits for the copy as for one from shared memory; the text of the instruction does not say.
    put!(w, "cp.async.bulk.commit_group");
    put!(w, "cp.async.bulk.wait_group.read 0");
    Ok(())
}

/// What a map calls its elements (PTX ISA, `tensormap.replace`).
fn element_code(element: DType) -> u32 {
    match (element, element.bytes()) {
        (DType::F16, _) => 6,
        (DType::F32, _) => 7,
        (DType::F64, _) => 9,
        (DType::BF16, _) => 10,
        (_, 1) => 0,
        (_, 2) => 1,
        (_, 4) => 2,
        _ => 4,
    }
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
