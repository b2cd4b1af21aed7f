//! Pictures of layouts: as they are, against the definition, and what the drawers make of them.

mod answers;
mod definition;
mod drawers;
mod drawn;
mod movements;

use weft_api::request::Picture;
use weft_api::view::{Banks, Cell, Scene, View, Window, scene};
use weft_layout::interop::parse_attribute;
use weft_layout::{Layout, Machine};

pub(super) const ROWS: &str = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], \
                    warpsPerCTA = [2, 1], order = [1, 0]}>";
pub(super) const SWIZZLED: &str =
    "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>";
/// Elements (2..4, *) are held by nobody, the others by two lanes.
pub(super) const GAPS: &str = "[register: (0,1), lane: (0,2) (1,0) (1,1)] -> [dim0: 4, dim1: 4]";

pub(super) fn attribute(text: &str, shape: &[u64]) -> Layout {
    parse_attribute(text).unwrap().layout(shape).unwrap()
}

pub(super) fn banks(element_bits: u32) -> Banks<'static> {
    Banks { machine: Machine::by_name("sm_90").unwrap(), element_bits }
}

pub(super) fn full(picture: Picture) -> View<'static> {
    View { picture, window: Window::Full, banks: Some(banks(16)), ..View::default() }
}

pub(super) fn drawn(layout: &Layout, picture: Picture) -> Scene {
    scene(&layout.clone().into(), &full(picture)).unwrap()
}

/// The cells of a scene.
pub(super) fn cells(scene: &Scene) -> impl Iterator<Item = &Cell> {
    scene.panels.iter().flat_map(|panel| &panel.cells)
}

/// The text that stands in a row and column of a scene's only panel.
pub(super) fn at(scene: &Scene, row: u64, column: u64) -> &Cell {
    &scene.panels[0].row(row as usize)[column as usize]
}
