//! Attributes of distributed layouts.

use alloc::boxed::Box;
use core::fmt;

use super::{Fields, ParseError, cga_layout};
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
        "ttg.linear" => Family::Linear(bases(fields)?),
        "ttg.generic_linear" => Family::GenericLinear(bases(fields)?),
        "ttg.slice" => Family::Slice(Slice {
            dim: fields.number("dim")? as usize,
            parent: Box::new(fields.attribute("parent")?),
        }),
        "ttg.dot_op" => Family::DotOperand(DotOperand {
            operand: fields.small("opIdx")?,
            parent: Box::new(fields.attribute("parent")?),
            k_width: fields.or("kWidth", 0, Fields::small)?,
        }),
        _ => return Ok(None),
    }))
}

fn bases(fields: &mut Fields) -> Result<Linear, ParseError> {
    Ok(Linear {
        register: fields.bases("register")?,
        lane: fields.bases("lane")?,
        warp: fields.bases("warp")?,
        block: fields.bases("block")?,
    })
}

pub(super) fn blocked(f: &mut fmt::Formatter<'_>, blocked: &Blocked) -> fmt::Result {
    let Blocked { size_per_thread, threads_per_warp, warps_per_cta, order, blocks } = blocked;
    write!(f, "#ttg.blocked<{{sizePerThread = {size_per_thread:?}")?;
    write!(f, ", threadsPerWarp = {threads_per_warp:?}")?;
    write!(f, ", warpsPerCTA = {warps_per_cta:?}, order = {order:?}")?;
    cga_layout(f, ", ", blocks)?;
    f.write_str("}>")
}

/// Bases under the name `linear` or `generic_linear`.
pub(super) fn linear(f: &mut fmt::Formatter<'_>, name: &str, linear: &Linear) -> fmt::Result {
    let Linear { register, lane, warp, block } = linear;
    write!(f, "#ttg.{name}<{{register = {register:?}, lane = {lane:?}")?;
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
