//! Memory layouts as code: the offset of an element from its coordinates.

use std::collections::BTreeMap;
use weft_layout::f2::Matrix;
use weft_layout::space::Label;
use weft_layout::{Layout, Space};

/// The offset of an element, by exclusive-or of shifted coordinates.
///
/// Where the memory holds a part of the tensor, the rest of it counts as if it were at offset 0.
pub(super) fn offset_of(memory: &Layout) -> String {
    let Some(offsets) = offsets(memory) else { return String::new() };
    let outs = memory.outs();
    // For each axis and distance (to the left positive) the bits that move so far.
    let mut terms: BTreeMap<(usize, i64), u64> = BTreeMap::new();
    for (dim, label) in outs.coordinate_order().into_iter().enumerate() {
        let start = outs.offset_of(label).unwrap_or(0);
        for bit in 0..outs.bits(label) {
            let column = offsets.apply(1 << (start + bit));
            for to in (0..memory.matrix().cols()).filter(|to| column >> to & 1 == 1) {
                *terms.entry((dim, i64::from(to) - i64::from(bit))).or_default() |= 1 << bit;
            }
        }
    }
    let order = outs.coordinate_order();
    let mut terms: Vec<((usize, i64), u64)> = terms.into_iter().collect();
    // The longest shifts first: those that choose the row.
    terms.sort_by_key(|&((dim, shift), _)| (-shift, dim));
    let term = |((dim, shift), mask): ((usize, i64), u64)| {
        let Some(label) = order.get(dim) else { return String::new() };
        let all = (1_u64 << outs.bits(*label).min(63)) - 1;
        let part = if mask == all { label.to_string() } else { format!("({label} & {mask})") };
        match shift {
            0 => part,
            1.. => format!("({part} << {shift})"),
            _ => format!("({part} >> {})", -shift),
        }
    };
    let terms: Vec<String> = terms.into_iter().map(term).collect();
    if terms.is_empty() { "0".into() } else { terms.join(" ^ ") }
}

/// The map from places of the tensor to offsets.
fn offsets(memory: &Layout) -> Option<Matrix> {
    let held = memory.matrix();
    let missing = held.image().complement(held.rows());
    let columns: Vec<u64> = held.columns().iter().copied().chain(missing.basis()).collect();
    let all = Matrix::new(held.rows(), &columns).ok()?.inverse().ok()?;
    let inside = (1_u64.checked_shl(held.cols()).unwrap_or(0)).wrapping_sub(1);
    Matrix::from_columns(held.cols(), all.columns().iter().map(|column| column & inside)).ok()
}

/// The parities of coordinates that these masks choose, as expressions.
pub(super) fn masks(outs: &Space, masks: &[u64]) -> Vec<String> {
    let part = |label: Label, mask: u64| {
        let bits = outs.coordinate(label, mask);
        (bits != 0).then(|| format!("parity({label} & {bits})"))
    };
    let text = |&mask: &u64| {
        let parts = outs.coordinate_order().into_iter().filter_map(|label| part(label, mask));
        parts.collect::<Vec<_>>().join(" ^ ")
    };
    masks.iter().map(text).collect()
}
