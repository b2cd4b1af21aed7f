//! The tensor's grid: each element with who holds it.

use super::View;
use super::holders::{Holders, coloured_by, is_memory, note_on_copies, short, words};
use super::palette::{Colour, legend};
use super::scene::{Cell, Fill, Panel, Scene, Served};
use super::tile::Tile;
use crate::error::ApiError;
use weft_layout::affine::Affine;

/// Each element with the lowest place that holds it, coloured by lane; of a memory layout with its
/// offset.
pub(super) fn scene(map: &Affine, view: &View<'_>) -> Result<Scene, ApiError> {
    let ins = map.ins();
    let colour = coloured_by(ins);
    let (title, caption) = if is_memory(ins) {
        ("Offsets", "A cell is an element; the number in it is the offset that holds it.")
    } else {
        (
            "Threads and registers",
            "A cell is an element; T5:2 in it says that register 2 of thread 5 holds it.",
        )
    };
    let held = |_, place: u64| Held {
        text: short(ins, place, view),
        more: String::new(),
        colour: Colour::of(colour.map_or(0, |label| ins.coordinate(label, place))),
        served: None,
    };
    let mut scene = of_elements(map, view, title, caption, held)?;
    scene.legend = colour.map_or_else(Vec::new, |label| legend(label.as_str(), ins.bits(label)));
    Ok(scene)
}

/// How the place of an element is shown.
pub(super) struct Held {
    /// The text of the cell.
    pub(super) text: String,
    /// What follows the place in the cell's label.
    pub(super) more: String,
    /// What the cell is filled with.
    pub(super) colour: Colour,
    /// When it is served, where an access is shown.
    pub(super) served: Option<Served>,
}

/// A scene with a cell for each element of the view's tile; `held` shows an element and the lowest
/// place that holds it. The scene has no legend yet.
pub(super) fn of_elements(
    map: &Affine,
    view: &View<'_>,
    title: &str,
    caption: &str,
    held: impl Fn(u64, u64) -> Held,
) -> Result<Scene, ApiError> {
    let (layout, ins, outs) = (map.layout(), map.ins(), map.outs());
    let tile = Tile::new(outs, view.slice, view.window)?;
    let holders = Holders::new(layout).map_err(ApiError::drawing)?;
    let copies = note_on_copies(layout);
    let mark = if copies.is_some() { "*" } else { "" };
    let cell = |element: u64| {
        let element_in_words = words(outs, element);
        let Some(place) = holders.lowest(element ^ map.constant()) else {
            let label = format!("{element_in_words}: held by nobody");
            return Cell { text: "-".into(), label, fill: Fill::Dead, ..Cell::default() };
        };
        let Held { text, more, colour, served } = held(element, place);
        Cell {
            text: text + mark,
            label: format!("{element_in_words}: {}{more}", words(ins, place)),
            fill: Fill::Colour(colour),
            served,
        }
    };
    let [rows, columns] = tile.headings();
    let (rows_left_out, columns_left_out) = tile.left_out();
    let panel = Panel {
        heading: String::new(),
        rows,
        columns,
        cells: tile.elements().map(cell).collect(),
        rows_left_out,
        columns_left_out,
    };
    let nobody = (!layout.is_surjective()).then(|| "- held by nobody.".into());
    Ok(Scene {
        title: format!("{title} of {outs}"),
        caption: caption.into(),
        notes: [tile.note(), copies, nobody].into_iter().flatten().collect(),
        panels: vec![panel],
        panels_left_out: 0,
        legend: Vec::new(),
    })
}
