//! CuTe: reading, importing, exporting, and the names of swizzles.

mod export;
mod import;
mod names;
mod order;
mod text;

use arbitrary::{Result, Unstructured};
use std::vec::Vec;

use crate::interop::cute::{Composed, CuteLayout, Mode, Swizzle, Tree, parse};

/// A text that is known to be well formed.
fn read(text: &str) -> Composed {
    parse(text).unwrap()
}

/// A swizzle of the lowest `width` bits.
fn swizzle(u: &mut Unstructured<'_>, width: u32) -> Result<Swizzle> {
    let all: Vec<Swizzle> = Swizzle::all(width).collect();
    Ok(*u.choose(&all)?)
}

/// Up to four modes: extents mostly powers of two, strides of all kinds.
fn modes(u: &mut Unstructured<'_>) -> Result<Vec<Mode>> {
    let mut modes = Vec::new();
    // The strides begin beyond those of the modes before, so that some layouts are linear.
    let mut free = 1_i64;
    for _ in 0..u.int_in_range(0..=4)? {
        let extent =
            if u.ratio(1, 24)? { u.int_in_range(1..=7)? } else { 1 << u.int_in_range(0..=3)? };
        let stride = match u.int_in_range(0..=9)? {
            0 => 0,
            1 => u.int_in_range(-9..=24)?,
            2 => 1 << u.int_in_range(0..=6)?,
            3 => -free,
            4 => free * 3,
            _ => free,
        };
        free = free.max(stride.abs() * extent as i64);
        modes.push(Mode { extent, stride });
    }
    for index in (1..modes.len()).rev() {
        modes.swap(index, u.choose_index(index + 1)?);
    }
    Ok(modes)
}

/// The modes in their order, nested at random.
fn nested(u: &mut Unstructured<'_>, modes: &[Mode], depth: u32) -> Result<Tree<Mode>> {
    if let [mode] = modes
        && (depth == 0 || u.ratio(3, 4)?)
    {
        return Ok(Tree::leaf(*mode));
    }
    let mut children = Vec::new();
    let mut rest = modes;
    while !rest.is_empty() {
        let count = if depth == 0 { 1 } else { 1 + u.choose_index(rest.len())? };
        let (child, after) = rest.split_at(count);
        children.push(nested(u, child, depth.saturating_sub(1))?);
        rest = after;
    }
    Ok(Tree::tuple(children).unwrap())
}

fn composed(u: &mut Unstructured<'_>) -> Result<Composed> {
    let modes = modes(u)?;
    let layout = CuteLayout::new(nested(u, &modes, 3)?).unwrap();
    let below: i64 =
        modes.iter().map(|mode| mode.stride.min(0) * (mode.extent as i64 - 1)).sum::<i64>();
    let offset = match u.int_in_range(0..=5)? {
        0 => u.int_in_range(-2..=40)?,
        1 => 1 << u.int_in_range(0..=12)?,
        _ => -below,
    };
    let swizzles = (0..u.int_in_range(0..=2)?).map(|_| swizzle(u, 12)).collect::<Result<_>>()?;
    Ok(Composed { swizzles, offset, layout })
}
