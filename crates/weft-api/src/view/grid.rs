//! A layout as the tensor's grid, with who holds each element.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use weft_layout::space::{LANE, Label, REGISTER, WARP};
use weft_layout::{Layout, Space};

/// The most rows and columns that are drawn.
const MOST: u64 = 32;
/// The most places of the hardware that are looked at.
const MAX_PLACES_BITS: u32 = 24;

/// The tensor's last two axes as a grid; of the others, the first element. A cell names the lowest
/// place that holds the element: `T5:2` is register 2 of thread 5 of the block (its lane, plus the
/// lanes of a warp for each warp before its own), and of a memory layout the offset.
///
/// ```
/// use weft_layout::interop::parse_layout;
///
/// let layout = parse_layout("[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]")?;
/// let picture = "\
/// T0:0  T0:1  T1:0  T1:1
/// T2:0  T2:1  T3:0  T3:1
/// ";
/// assert_eq!(weft_api::view::grid(&layout), picture);
/// # Ok::<(), weft_layout::interop::ParseError>(())
/// ```
pub fn grid(layout: &Layout) -> String {
    let shape = layout.shape();
    let rank = shape.len() as u32;
    let extent = |from_last: u32| {
        let dim = rank.checked_sub(from_last + 1);
        dim.map_or(1, |dim| shape[dim as usize])
    };
    let (rows, columns) = (extent(1), extent(0));
    let (shown_rows, shown_columns) = (rows.min(MOST), columns.min(MOST));
    let places = layout.ins().total_bits();
    if rank == 0 || places > MAX_PLACES_BITS {
        return "too large to draw\n".into();
    }

    // The lowest place of each element that is drawn.
    let mut holders: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let outs = layout.outs();
    for place in 0..1_u64 << places {
        let element = layout.apply_flat(place);
        let at = |from_last: u32| {
            rank.checked_sub(from_last + 1)
                .map_or(0, |dim| outs.coordinate(Label::dim(dim), element))
        };
        let (row, column) = (at(1), at(0));
        let first = (2..rank).all(|from_last| at(from_last) == 0);
        if first && row < shown_rows && column < shown_columns {
            holders.entry((row, column)).or_insert(place);
        }
    }

    let cell = |row, column| match holders.get(&(row, column)) {
        Some(&place) => spelled(layout.ins(), place),
        None => "-".into(),
    };
    let width = (0..shown_rows)
        .flat_map(|row| (0..shown_columns).map(move |column| (row, column)))
        .map(|(row, column)| cell(row, column).len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for row in 0..shown_rows {
        let mut line = String::new();
        for column in 0..shown_columns {
            let gap = if column == 0 { "" } else { "  " };
            let _ = write!(line, "{gap}{:width$}", cell(row, column));
        }
        text.push_str(line.trim_end());
        text.push_str(if columns > shown_columns { "  …\n" } else { "\n" });
    }
    if rows > shown_rows {
        text.push_str("…\n");
    }
    text
}

/// A place of the hardware: thread and register, or the flat offset where there are no lanes.
fn spelled(ins: &Space, place: u64) -> String {
    if !ins.contains(LANE) {
        return place.to_string();
    }
    let thread = ins.coordinate(LANE, place) | ins.coordinate(WARP, place) << ins.bits(LANE);
    format!("T{thread}:{}", ins.coordinate(REGISTER, place))
}
