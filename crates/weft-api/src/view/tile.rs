//! The part of a tensor that a grid shows.

use super::scene::{Clip, Group, Window};
use crate::error::ApiError;
use weft_layout::{Label, Space};

/// The last two axes of a tensor, at one place of the others.
pub(super) struct Tile<'a> {
    outs: &'a Space,
    /// The place of the element in the first row and column.
    base: u64,
    /// Row and column axis: the first is missing where the tensor has one axis.
    axes: [Option<Label>; 2],
    clip: Clip,
}

impl<'a> Tile<'a> {
    /// The tile of a tensor's elements at `slice`, the coordinates of the leading axes; those that
    /// are not given are 0.
    pub(super) fn new(outs: &'a Space, slice: &[u64], window: Window) -> Result<Self, ApiError> {
        let rank = outs.shape().len();
        if !outs.is_tensor() || rank == 0 {
            return Err(ApiError::Picture {
                reason: format!("{outs} is no tensor"),
                hint: "a picture shows a layout of the axes dim0, dim1, …".into(),
            });
        }
        let leading = rank.saturating_sub(2);
        if slice.len() > leading {
            return Err(ApiError::Picture {
                reason: format!("a slice of {} coordinates, and {leading} axes", slice.len()),
                hint: "a slice has a coordinate for each axis but the last two".into(),
            });
        }
        let coordinates: Vec<_> = (0..).map(Label::dim).zip(slice.iter().copied()).collect();
        let base = outs.pack(&coordinates).map_err(|error| ApiError::Picture {
            reason: format!("there is no such slice: {error}"),
            hint: "a slice has a coordinate for each axis but the last two".into(),
        })?;
        let axis = |from_last: usize| rank.checked_sub(from_last).map(|dim| Label::dim(dim as u32));
        let axes = [axis(2), axis(1)];
        let extent = |axis: Option<Label>| axis.map_or(1, |label| extent(outs.bits(label)));
        let clip = window.clip(extent(axes[0]), extent(axes[1]), 1)?;
        Ok(Self { outs, base, axes, clip })
    }

    /// The elements that are shown, row by row.
    pub(super) fn elements(&self) -> impl Iterator<Item = u64> + '_ {
        let (rows, columns, _) = self.clip.shown;
        let [row_start, column_start] =
            self.axes.map(|axis| axis.and_then(|label| self.outs.offset_of(label)));
        let at = |start: Option<u32>, index: u64| {
            start.and_then(|start| index.checked_shl(start)).unwrap_or(0)
        };
        (0..rows).flat_map(move |row| {
            let first = self.base | at(row_start, row);
            (0..columns).map(move |column| first | at(column_start, column))
        })
    }

    /// The headings of rows and columns.
    pub(super) fn headings(&self) -> [Vec<Group>; 2] {
        let (rows, columns, _) = self.clip.shown;
        let group = |axis: Option<Label>, count: u64| {
            vec![match axis {
                Some(label) => Group { label: label.to_string(), heads: numbers(count) },
                None => Group { label: String::new(), heads: vec![String::new()] },
            }]
        };
        [group(self.axes[0], rows), group(self.axes[1], columns)]
    }

    /// The rows and columns that are left out.
    pub(super) fn left_out(&self) -> (u64, u64) {
        let (rows, columns, _) = self.clip.left_out;
        (rows, columns)
    }

    /// Which slice it is, where the tensor has several.
    pub(super) fn note(&self) -> Option<String> {
        let leading = self.outs.coordinate_order();
        let leading = leading.get(..leading.len().saturating_sub(2))?;
        let parts: Vec<String> = (leading.iter())
            .map(|&label| {
                let coordinate = self.outs.coordinate(label, self.base);
                format!("{label} = {coordinate} of {}", extent(self.outs.bits(label)))
            })
            .collect();
        (!parts.is_empty()).then(|| format!("The slice {}.", parts.join(", ")))
    }
}

/// How many values so many bits have; at most the largest `u64`.
pub(super) fn extent(bits: u32) -> u64 {
    1_u64.checked_shl(bits).unwrap_or(u64::MAX)
}

/// The headings 0, 1, 2, …
pub(super) fn numbers(count: u64) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}
