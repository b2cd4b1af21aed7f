//! Attributes of memory layouts.

use core::fmt;

use super::{Fields, ParseError};
use crate::family::{Family, SwizzledShared};

/// The family of that name, if it is one of memory.
pub(super) fn read(name: &str, fields: &mut Fields) -> Result<Option<Family>, ParseError> {
    Ok(Some(match name {
        "ttg.swizzled_shared" => Family::SwizzledShared(SwizzledShared {
            vec: fields.number("vec")?,
            per_phase: fields.number("perPhase")?,
            max_phase: fields.number("maxPhase")?,
            order: fields.dims("order")?,
        }),
        _ => return Ok(None),
    }))
}

pub(super) fn swizzled_shared(f: &mut fmt::Formatter<'_>, shared: &SwizzledShared) -> fmt::Result {
    let SwizzledShared { vec, per_phase, max_phase, order } = shared;
    write!(f, "#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per_phase}")?;
    write!(f, ", maxPhase = {max_phase}, order = {order:?}}}>")
}
