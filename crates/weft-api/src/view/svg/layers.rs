//! Cells as shapes and texts.

use super::style::{DEAD, hue_class, ink_class};
use super::{BAR, BASELINE, CELL};
use crate::view::scene::Fill;
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Cells by what they are drawn with: a shape for each fill, one for each ink of bars, texts by ink.
#[derive(Default)]
pub(super) struct Layers<'a> {
    fills: BTreeMap<&'static str, String>,
    bars: BTreeMap<&'static str, String>,
    texts: BTreeMap<&'static str, Vec<(u64, u64, &'a str)>>,
}

impl<'a> Layers<'a> {
    /// Adds a cell with its upper left corner here.
    pub(super) fn add(&mut self, text: &'a str, fill: Fill, (x, y): (u64, u64), width: u64) {
        // A pixel of the page parts the cell from the next ones.
        let (wide, high) = (width - 1, CELL - 1);
        let mut ink = "page-ink";
        match fill {
            Fill::Empty => {}
            Fill::Dead => rectangle(self.fills.entry(DEAD).or_default(), x, y, wide, high),
            Fill::Colour(colour) => {
                let fill = self.fills.entry(hue_class(colour)).or_default();
                rectangle(fill, x, y, wide, high);
                ink = ink_class(colour.ink());
                let edges = [
                    (x, y, BAR, high),
                    (x, y + high - BAR, wide, BAR),
                    (x + wide - BAR, y, BAR, high),
                ];
                for (bit, (x, y, width, height)) in edges.into_iter().enumerate() {
                    if colour.bars() >> bit & 1 == 1 {
                        rectangle(self.bars.entry(ink).or_default(), x, y, width, height);
                    }
                }
            }
        }
        if !text.is_empty() {
            let texts = self.texts.entry(ink).or_default();
            texts.push((x + width / 2, y + CELL - BASELINE, text));
        }
    }

    /// The layers, fills first.
    pub(super) fn markup(&self) -> Markup {
        html! {
            @for (class, path) in self.fills.iter().chain(&self.bars) {
                path class=(class) d=(path) {}
            }
            @for (class, texts) in &self.texts {
                g class=(class) { @for (x, y, text) in texts { text x=(x) y=(y) { (text) } } }
            }
        }
    }
}

/// Adds a rectangle to a path.
fn rectangle(path: &mut String, x: u64, y: u64, width: u64, height: u64) {
    let _ = write!(path, "M{x} {y}h{width}v{height}h-{width}z");
}
