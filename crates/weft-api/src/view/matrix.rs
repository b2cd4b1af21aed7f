//! A layout as its matrix.

use super::palette::Colour;
use super::scene::{Cell, Fill, Group, Panel, Scene};
use super::tile::numbers;
use weft_layout::affine::Affine;

use super::holders::words;

/// The matrix over F2: a column for each bit of the hardware, a row for each bit of the tensor, both
/// from the least significant; `1` where the bit of the column sets the bit of the row. The columns
/// of an axis are a block of their own and share a hue.
pub(super) fn scene(map: &Affine) -> Scene {
    let layout = map.layout();
    let (ins, outs) = (layout.ins(), layout.outs());
    // Axes without bits would be empty blocks.
    let group = |(label, _, bits): (weft_layout::Label, u32, u32)| {
        (bits > 0).then(|| Group { label: label.to_string(), heads: numbers(bits.into()) })
    };
    let axes = ins
        .iter()
        .zip(0..)
        .flat_map(|((label, _, bits), axis)| (0..bits).map(move |bit| (label, bit, axis)));
    let axes: Vec<_> = axes.collect();
    let cells = outs.iter().flat_map(|(row_label, start, bits)| {
        (0..bits).map(move |bit| (row_label, bit, start + bit))
    });
    let cells = cells.flat_map(|(row_label, row_bit, row)| {
        axes.iter().zip(layout.matrix().columns()).map(move |(&(label, bit, axis), image)| {
            let one = image >> row & 1 == 1;
            let verb = if one { "sets" } else { "leaves" };
            Cell {
                text: if one { "1" } else { "." }.into(),
                label: format!("bit {bit} of {label} {verb} bit {row_bit} of {row_label}"),
                fill: if one { Fill::Colour(Colour::of(axis)) } else { Fill::Empty },
                ..Cell::default()
            }
        })
    });
    let notes = (map.constant() != 0)
        .then(|| format!("Then exclusive-or with {}.", words(outs, map.constant())));
    Scene {
        title: format!("Matrix of a layout of {outs}"),
        caption: "A column is a bit of the hardware; a one says that it sets the tensor's bit of \
                  that row."
            .into(),
        notes: notes.into_iter().collect(),
        panels: vec![Panel {
            heading: String::new(),
            rows: outs.iter().filter_map(group).collect(),
            columns: ins.iter().filter_map(group).collect(),
            cells: cells.collect(),
            rows_left_out: 0,
            columns_left_out: 0,
        }],
        panels_left_out: 0,
        legend: Vec::new(),
    }
}
