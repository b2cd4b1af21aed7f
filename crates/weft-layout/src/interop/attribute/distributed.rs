//! Attributes of distributed layouts.

use alloc::boxed::Box;
use core::fmt;

use super::{Fields, ParseError};
use crate::family::{Blocked, DotOperand, Family, Linear, Slice};

/// The family of that name, if it is distributed.
pub(super) fn read(name: &str, fields: &mut Fields) -> Result<Option<Family>, ParseError> {
    Ok(Some(match name {
        "ttg.blocked" => Family::Blocked(Blocked {
            size_per_thread: fields.numbers("sizePerThread")?,
            threads_per_warp: fields.numbers("threadsPerWarp")?,
            warps_per_cta: fields.numbers("warpsPerCTA")?,
            order: fields.dims("order")?,
            blocks: fields.bases_or_none("CGALayout")?,
        }),
        "ttg.linear" => Family::Linear(Linear {
            register: fields.bases("register")?,
            lane: fields.bases("lane")?,
            warp: fields.bases("warp")?,
            block: fields.bases("block")?,
        }),
        "ttg.slice" => Family::Slice(Slice {
            dim: fields.number("dim")? as usize,
            parent: Box::new(fields.attribute("parent")?),
        }),
        "ttg.dot_op" => Family::DotOperand(DotOperand {
            operand: fields.small("opIdx")?,
            parent: Box::new(fields.attribute("parent")?),
            k_width: if fields.has("kWidth") { fields.small("kWidth")? } else { 0 },
        }),
        _ => return Ok(None),
    }))
}

pub(super) fn blocked(f: &mut fmt::Formatter<'_>, blocked: &Blocked) -> fmt::Result {
    let Blocked { size_per_thread, threads_per_warp, warps_per_cta, order, blocks } = blocked;
    write!(f, "#ttg.blocked<{{sizePerThread = {size_per_thread:?}")?;
    write!(f, ", threadsPerWarp = {threads_per_warp:?}")?;
    write!(f, ", warpsPerCTA = {warps_per_cta:?}, order = {order:?}")?;
    if !blocks.is_empty() {
        write!(f, ", CGALayout = {blocks:?}")?;
    }
    f.write_str("}>")
}

pub(super) fn linear(f: &mut fmt::Formatter<'_>, linear: &Linear) -> fmt::Result {
    let Linear { register, lane, warp, block } = linear;
    write!(f, "#ttg.linear<{{register = {register:?}, lane = {lane:?}")?;
    write!(f, ", warp = {warp:?}, block = {block:?}}}>")
}

pub(super) fn slice(f: &mut fmt::Formatter<'_>, slice: &Slice) -> fmt::Result {
    let Slice { dim, parent } = slice;
    write!(f, "#ttg.slice<{{dim = {dim}, parent = {parent}}}>")
}

pub(super) fn dot_operand(f: &mut fmt::Formatter<'_>, operand: &DotOperand) -> fmt::Result {
    let DotOperand { operand, parent, k_width } = operand;
    write!(f, "#ttg.dot_op<{{opIdx = {operand}, parent = {parent}")?;
    if *k_width != 0 {
        write!(f, ", kWidth = {k_width}")?;
    }
    f.write_str("}>")
}
