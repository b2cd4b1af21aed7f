//! From a layout back to its names.
//!
//! A name is guessed from the shape of the layout and then built and compared, so that every name
//! that is returned is right; a guess costs about a microsecond, and there are some thousand.

mod blocked;
mod matrix;
mod memory;

use alloc::{
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};
use core::mem::{Discriminant, discriminant};

use super::{Family, Linear, SharedLinear, Slice};
use crate::{
    layout::Layout,
    space::{BLOCK, LANE, Label, OFFSET, REGISTER, Space, WARP},
};

/// The names of a layout among the families, one a family, the shortest text first; last its bases
/// written out.
///
/// A distributed layout has axes among register, lane, warp and block, a memory layout among offset
/// and block; others have no name, and neither have layouts whose outputs are no tensor.
/// Every surjective layout of either kind has one: its bases, written out.
///
/// ```
/// use weft_layout::{family, interop::parse_layout};
///
/// let layout = parse_layout("[register: (0,1), lane: (0,2) (0,4) (1,0)] -> [dim0: 2, dim1: 8]")?;
/// let names = family::names(&layout);
/// assert_eq!(
///     names[0].to_string(),
///     "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], \
///      order = [1, 0]}>",
/// );
/// # Ok::<(), weft_layout::interop::ParseError>(())
/// ```
pub fn names(layout: &Layout) -> Vec<Family> {
    if !layout.outs().is_tensor() {
        return Vec::new();
    }
    let mut found;
    if let Some(layout) = with_axes(layout, &[REGISTER, LANE, WARP, BLOCK]) {
        found = right(parents(&layout), &layout);
        if found.is_empty() {
            // A slice says less than what is no slice.
            found = right(slices(&layout), &layout);
        }
        found.extend(right(alloc::vec![Family::of(&layout)], &layout));
    } else if let Some(layout) = with_axes(layout, &[OFFSET, BLOCK]) {
        found = right(memory(&layout), &layout);
    } else {
        return Vec::new();
    }
    let mut found: Vec<(String, Family)> =
        found.into_iter().map(|family| (family.to_string(), family)).collect();
    let order = |(text, family): &(String, Family)| (is_written_out(family), text.len());
    // Of equally long names the first guess is the more usual one.
    found.sort_by_key(order);
    let mut kinds: Vec<Kind> = Vec::new();
    found.retain(|(_, family)| {
        let kind = kind(family);
        let new = !kinds.contains(&kind);
        kinds.push(kind);
        new
    });
    found.into_iter().map(|(_, family)| family).collect()
}

/// Whether a family is any list of bases.
fn is_written_out(family: &Family) -> bool {
    matches!(family, Family::Linear(_) | Family::GenericLinear(_) | Family::SharedLinear(_))
}

/// A family, and for those that have one their parent's.
type Kind = Vec<Discriminant<Family>>;

fn kind(family: &Family) -> Kind {
    let mut kind = Vec::new();
    // Any bases are also one-bit bases, where they are.
    let written_out = Family::Linear(Linear::default());
    let mut next = Some(if is_written_out(family) { &written_out } else { family });
    while let Some(family) = next {
        kind.push(discriminant(family));
        next = match family {
            Family::Slice(slice) => Some(&slice.parent),
            Family::DotOperand(operand) => Some(&operand.parent),
            _ => None,
        };
    }
    kind
}

/// The layout with exactly these input axes, if it has no others; those that it lacks have no bits.
fn with_axes(layout: &Layout, labels: &[Label]) -> Option<Layout> {
    let known = layout.ins().labels().all(|label| labels.contains(&label));
    if !known || !layout.ins().contains(*labels.first()?) {
        return None;
    }
    let axes: Vec<_> = labels.iter().map(|&label| (label, layout.in_bits(label))).collect();
    let columns: Vec<u64> =
        labels.iter().flat_map(|&label| layout.columns(label).iter().copied()).collect();
    Layout::new(Space::new(&axes).ok()?, layout.outs().clone(), &columns).ok()
}

/// The guesses that are right.
fn right(guesses: Vec<Family>, layout: &Layout) -> Vec<Family> {
    let shape = layout.shape();
    let right = |family: &Family| family.layout(&shape).as_ref() == Ok(layout);
    guesses.into_iter().filter(right).collect()
}

fn slices(layout: &Layout) -> Vec<Family> {
    let mut guesses = Vec::new();
    for dim in 0..=layout.shape().len() {
        let Ok(wide) = layout.expand_dims(dim) else { continue };
        let slices = parents(&wide).into_iter();
        guesses.extend(slices.map(|parent| Family::Slice(Slice { dim, parent: Box::new(parent) })));
    }
    guesses
}

/// Guesses that a slice can be taken of.
fn parents(layout: &Layout) -> Vec<Family> {
    let Some(parts) = Parts::of(layout) else { return Vec::new() };
    let mut guesses: Vec<Family> =
        blocked::guesses(&parts).into_iter().map(Family::Blocked).collect();
    guesses.extend(matrix::guesses(&parts));
    guesses
}

fn memory(layout: &Layout) -> Vec<Family> {
    let bases = |label| {
        let all = layout.bases().into_iter().find(|axis| axis.0 == label);
        all.map(|axis| axis.1).unwrap_or_default()
    };
    let mut guesses = alloc::vec![Family::SharedLinear(SharedLinear {
        offset: bases(OFFSET),
        block: bases(BLOCK),
        alignment: 16,
    })];
    guesses.extend(blocks(layout).into_iter().flat_map(|blocks| memory::guesses(layout, &blocks)));
    guesses
}

/// What a bit reaches: an axis and a bit of it; nothing if it makes copies.
type Unit = Option<(usize, u32)>;

/// A distributed layout taken apart: what a block holds, and which part that is.
struct Parts {
    /// The logarithms of the sizes of a block's part, `dim0` first.
    bits: Vec<u32>,
    /// What each register bit reaches.
    register: Vec<Unit>,
    /// The same for the lane bits.
    lane: Vec<Unit>,
    /// The same for the warp bits.
    warp: Vec<Unit>,
    /// For each bit of the block number the part that it chooses, in units of a part.
    blocks: Vec<Vec<u64>>,
}

impl Parts {
    /// The parts of a layout all of whose bases are single bits or zero.
    fn of(layout: &Layout) -> Option<Parts> {
        let shape = layout.shape();
        let unit = |&column: &u64| {
            if column == 0 {
                return Some(None);
            }
            let dims = layout.outs().unpack(column);
            let mut reached = dims.into_iter().filter(|axis| axis.1 != 0);
            match (reached.next(), reached.next()) {
                (Some((label, value)), None) if value.is_power_of_two() => {
                    Some(Some((label.dim_index()? as usize, value.trailing_zeros())))
                }
                _ => None,
            }
        };
        let units = |label| layout.columns(label).iter().map(unit).collect::<Option<Vec<_>>>();
        let blocks = blocks(layout)?;
        let splits = |dim: usize| blocks.iter().filter(|basis| basis[dim] != 0).count() as u32;
        let bits = (shape.iter().enumerate())
            .map(|(dim, size)| size.trailing_zeros().checked_sub(splits(dim)))
            .collect::<Option<_>>()?;
        let (register, lane, warp) = (units(REGISTER)?, units(LANE)?, units(WARP)?);
        Some(Parts { bits, register, lane, warp, blocks })
    }

    fn rank(&self) -> usize {
        self.bits.len()
    }
}

/// What each bit of the block number chooses, in units of a block's part.
fn blocks(layout: &Layout) -> Option<Vec<Vec<u64>>> {
    let shape = layout.shape();
    let bases = layout.bases().into_iter().find(|axis| axis.0 == BLOCK)?.1;
    let splits = |dim: usize| bases.iter().filter(|basis| basis[dim] != 0).count() as u32;
    let part = |dim: usize| shape[dim].trailing_zeros().saturating_sub(splits(dim));
    let scaled = |(dim, value): (usize, &u64)| value.checked_shr(part(dim)).unwrap_or(0);
    Some(bases.iter().map(|basis| basis.iter().enumerate().map(scaled).collect()).collect())
}

/// All orders of the axes `0..rank`, or only the two usual ones where there are many axes.
fn orders(rank: usize) -> Vec<Vec<usize>> {
    if rank > 5 {
        return alloc::vec![(0..rank).rev().collect(), (0..rank).collect()];
    }
    let mut orders = alloc::vec![Vec::new()];
    for _ in 0..rank {
        orders = (orders.iter())
            .flat_map(|order: &Vec<usize>| {
                let unused = (0..rank).rev().filter(|dim| !order.contains(dim));
                unused.map(|dim| order.iter().copied().chain([dim]).collect::<Vec<_>>())
            })
            .collect();
    }
    orders
}

/// All lists of `rank` powers of two whose product is 2^`bits`.
fn factorings(rank: usize, bits: usize) -> Vec<Vec<u64>> {
    let mut lists = alloc::vec![(Vec::new(), bits)];
    for position in 0..rank {
        lists = (lists.into_iter())
            .flat_map(|(list, left): (Vec<u64>, usize)| {
                let least = if position + 1 == rank { left } else { 0 };
                (least..=left).map(move |taken| {
                    let longer = list.iter().copied().chain([1 << taken.min(63)]).collect();
                    (longer, left - taken)
                })
            })
            .collect();
    }
    lists.into_iter().filter(|list| list.1 == 0).map(|list| list.0).collect()
}
