//! The hardware view: each place with the element that it holds.

use super::View;
use super::holders::{Holders, coloured_by, is_memory, note_on_copies, words};
use super::palette::{Colour, legend};
use super::scene::{Cell, Fill, Group, Panel, Scene};
use super::tile::{extent, numbers};
use crate::error::ApiError;
use weft_layout::affine::Affine;
use weft_layout::f2::low_mask;
use weft_layout::space::{LANE, OFFSET, REGISTER};
use weft_layout::{Label, Space};

/// The bits of an offset that a row of the view shows.
const ROW_BITS: u32 = 5;

/// A panel for each warp: a row for each register, a column for each lane, in each cell the
/// coordinates of the element. An element has the colour that it has in the grid, so that copies are
/// seen as such. Of memory, a row is 32 offsets.
pub(super) fn scene(map: &Affine, view: &View<'_>) -> Result<Scene, ApiError> {
    let (layout, ins, outs) = (map.layout(), map.ins(), map.outs());
    let holders = Holders::new(layout).map_err(ApiError::drawing)?;
    let copies = note_on_copies(layout);
    let colour = coloured_by(ins);
    let order = outs.coordinate_order();
    let axes = Axes::of(ins);
    let clip = view.window.clip(
        extent(axes.rows.bits),
        extent(axes.columns.bits),
        extent(axes.panels.iter().map(|(_, field)| field.bits).sum()),
    )?;
    let (height, width, count) = clip.shown;

    let cell = |place: u64| {
        let element = map.apply_flat(place);
        let lowest = holders.lowest(element ^ map.constant()).unwrap_or(place);
        let coordinates: Vec<String> =
            order.iter().map(|&label| outs.coordinate(label, element).to_string()).collect();
        let mark = if lowest == place { "" } else { "*" };
        let number = colour.map_or(0, |label| ins.coordinate(label, lowest));
        Cell {
            text: coordinates.join(",") + mark,
            label: format!("{}: {}", words(ins, place), words(outs, element)),
            fill: Fill::Colour(Colour::of(number)),
            ..Cell::default()
        }
    };
    let panel = |index: u64| {
        let base = axes.panel(index);
        let places = (0..height).flat_map(|row| {
            (0..width).map(move |column| base | axes.rows.place(row) | axes.columns.place(column))
        });
        Panel {
            heading: axes.heading(base),
            rows: vec![Group { label: axes.row_label(), heads: axes.row_heads(height) }],
            columns: vec![Group { label: axes.column_label(), heads: numbers(width) }],
            cells: places.map(cell).collect(),
            rows_left_out: clip.left_out.0,
            columns_left_out: clip.left_out.1,
        }
    };
    let (title, caption) = if is_memory(ins) {
        ("Offsets", "A cell is an offset; the numbers in it are the coordinates of its element.")
    } else {
        (
            "Registers and lanes",
            "A cell is a register of a lane; the numbers in it are the coordinates of its element.",
        )
    };
    let copies = copies.map(|_| "* a copy of what a lower place holds.".into());
    Ok(Scene {
        title: format!("{title} that hold {outs}"),
        caption: caption.into(),
        notes: copies.into_iter().collect(),
        panels: (0..count).map(panel).collect(),
        panels_left_out: clip.left_out.2,
        legend: colour.map_or_else(Vec::new, |label| legend(label.as_str(), ins.bits(label))),
    })
}

/// Some bits of a place next to each other.
#[derive(Clone, Copy, Default)]
struct Field {
    start: u32,
    bits: u32,
}

impl Field {
    fn of(space: &Space, label: Label) -> Self {
        Field { start: space.offset_of(label).unwrap_or(0), bits: space.bits(label) }
    }

    /// The place that has this value here and zero elsewhere.
    fn place(self, value: u64) -> u64 {
        value.checked_shl(self.start).unwrap_or(0)
    }
}

/// Which bits of a place choose the row, the column and the panel.
struct Axes {
    /// The one axis that is cut into rows and columns, where there are no registers and lanes.
    cut: Option<Label>,
    rows: Field,
    columns: Field,
    panels: Vec<(Label, Field)>,
}

impl Axes {
    fn of(ins: &Space) -> Self {
        let cut = if is_memory(ins) { Some(OFFSET) } else { ins.labels().next() };
        let cut = cut.filter(|_| !ins.contains(LANE) && !ins.contains(REGISTER));
        let (rows, columns) = match cut {
            Some(label) => {
                let Field { start, bits } = Field::of(ins, label);
                let low = bits.min(ROW_BITS);
                (Field { start: start + low, bits: bits - low }, Field { start, bits: low })
            }
            None => (Field::of(ins, REGISTER), Field::of(ins, LANE)),
        };
        let others = ins.labels().filter(|&label| {
            cut.map_or(label != LANE && label != REGISTER, |cut| label != cut)
                && ins.bits(label) > 0
        });
        let panels = others.map(|label| (label, Field::of(ins, label))).collect();
        Self { cut, rows, columns, panels }
    }

    /// The first place of a panel.
    fn panel(&self, index: u64) -> u64 {
        let mut rest = index;
        let mut place = 0;
        for (_, field) in &self.panels {
            place |= field.place(rest & low_mask(field.bits));
            rest = rest.checked_shr(field.bits).unwrap_or(0);
        }
        place
    }

    /// A panel in words.
    fn heading(&self, base: u64) -> String {
        let part = |(label, field): &(Label, Field)| {
            let value = base.checked_shr(field.start).unwrap_or(0) & low_mask(field.bits);
            format!("{label} {value}")
        };
        self.panels.iter().map(part).collect::<Vec<_>>().join(", ")
    }

    fn row_label(&self) -> String {
        self.cut.unwrap_or(REGISTER).to_string()
    }

    /// Registers by number, parts of an axis by what they begin with.
    fn row_heads(&self, count: u64) -> Vec<String> {
        let first = if self.cut.is_some() { extent(self.columns.bits) } else { 1 };
        (0..count).map(|row| row.saturating_mul(first).to_string()).collect()
    }

    fn column_label(&self) -> String {
        self.cut.map_or_else(|| LANE.to_string(), |label| format!("{label} +"))
    }
}
