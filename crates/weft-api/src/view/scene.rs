//! Scenes: what a picture shows, as data, before a drawer turns it into text or SVG.

use super::palette::Colour;
use crate::error::ApiError;

/// The most cells that a picture in full has.
pub const MAX_CELLS: u64 = 1 << 16;

/// A picture: panels of cells, with what there is to say about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// What is shown, in a few words.
    pub title: String,
    /// How a cell is read.
    pub caption: String,
    /// What holds for this layout alone; a sentence each.
    pub notes: Vec<String>,
    /// The panels, in order.
    pub panels: Vec<Panel>,
    /// How many panels were left out.
    pub panels_left_out: u64,
    /// What the colours mean.
    pub legend: Vec<Key>,
}

impl Scene {
    /// How a cell is read, what was left out, and what holds for this layout alone.
    pub fn sentences(&self) -> impl Iterator<Item = String> + '_ {
        let caption = std::iter::once(self.caption.clone());
        caption.chain(self.left_out()).chain(self.notes.iter().cloned())
    }

    /// What was left out, if anything was.
    pub fn left_out(&self) -> Option<String> {
        let panel = self.panels.first()?;
        let parts = [
            (panel.rows_left_out, panel.height(), "rows"),
            (panel.columns_left_out, panel.width(), "columns"),
            (self.panels_left_out, self.panels.len(), "panels"),
        ];
        let parts = parts.into_iter().filter(|&(left_out, _, _)| left_out > 0);
        let parts: Vec<String> = parts
            .map(|(left_out, shown, what)| {
                format!("{left_out} of {} {what}", left_out.saturating_add(shown as u64))
            })
            .collect();
        (!parts.is_empty()).then(|| format!("… left out: {}.", parts.join(", ")))
    }
}

/// A grid of cells with headings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panel {
    /// What tells it from the other panels; empty where there is one.
    pub heading: String,
    /// The headings of the rows.
    pub rows: Vec<Group>,
    /// The headings of the columns.
    pub columns: Vec<Group>,
    /// The cells, row by row: as many as there are headings of rows times headings of columns.
    pub cells: Vec<Cell>,
    /// How many rows were left out after the last one.
    pub rows_left_out: u64,
    /// How many columns were left out after the last one.
    pub columns_left_out: u64,
}

impl Panel {
    /// The number of rows.
    pub fn height(&self) -> usize {
        self.rows.iter().map(|group| group.heads.len()).sum()
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.columns.iter().map(|group| group.heads.len()).sum()
    }

    /// The names of the rows, group and heading.
    pub fn row_names(&self) -> Vec<String> {
        names_of(&self.rows)
    }

    /// The names of the columns, group and heading.
    pub fn column_names(&self) -> Vec<String> {
        names_of(&self.columns)
    }

    /// The cells of a row; none where there is no such row.
    pub fn row(&self, row: usize) -> &[Cell] {
        let width = self.width();
        let start = row.saturating_mul(width);
        self.cells.get(start..start.saturating_add(width)).unwrap_or_default()
    }
}

/// Rows or columns that belong together, such as the bits of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What the rows or columns are.
    pub label: String,
    /// The heading of each.
    pub heads: Vec<String>,
}

fn names_of(groups: &[Group]) -> Vec<String> {
    let name = |group: &Group, head: &String| format!("{} {head}", group.label).trim().to_owned();
    let named =
        |group: &Group| group.heads.iter().map(|head| name(group, head)).collect::<Vec<_>>();
    groups.iter().flat_map(named).collect()
}

/// A cell of a panel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// What is written in it.
    pub text: String,
    /// The same in words, for those who point at it or have it read to them.
    pub label: String,
    /// What it is filled with.
    pub fill: Fill,
    /// When it takes part in what the picture shows, where that shows an access.
    pub served: Option<Served>,
}

/// When something is served in an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The phase, in the order of lanes.
    pub phase: u32,
    /// The wavefront of the phase.
    pub wavefront: u32,
}

/// What a cell is filled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// With nothing: the page is seen.
    #[default]
    Empty,
    /// What shows that nobody holds this element.
    Dead,
    /// A colour of the palette.
    Colour(Colour),
}

/// A line of the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What is filled so.
    pub fill: Fill,
    /// The meaning of that filling.
    pub text: String,
}

/// How much of a picture is shown; the rest is left out and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The first rows and columns of the first panels.
    First {
        /// The most rows of a panel.
        rows: u64,
        /// The most columns of a panel.
        columns: u64,
        /// The most panels that are shown.
        panels: u64,
    },
    /// Everything, up to [`MAX_CELLS`] cells.
    Full,
}

impl Window {
    /// What fits a terminal that can be scrolled.
    pub const DEFAULT: Window = Window::First { rows: 32, columns: 32, panels: 4 };

    /// How many rows, columns and panels are shown of so many; fails when everything is wanted and
    /// too much.
    pub(super) fn clip(self, rows: u64, columns: u64, panels: u64) -> Result<Clip, ApiError> {
        let shown = match self {
            Window::First { rows: r, columns: c, panels: p } => {
                (rows.min(r), columns.min(c), panels.min(p))
            }
            Window::Full => {
                let cells = rows.saturating_mul(columns).saturating_mul(panels);
                if cells > MAX_CELLS {
                    return Err(ApiError::Picture {
                        reason: format!("{cells} cells are too many to draw in full"),
                        hint: format!(
                            "a picture in full has at most {MAX_CELLS} cells; as text it may be \
                             shown in part"
                        ),
                    });
                }
                (rows, columns, panels)
            }
        };
        let (r, c, p) = shown;
        Ok(Clip { shown, left_out: (rows - r, columns - c, panels - p) })
    }
}

/// How many rows, columns and panels are shown, and left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clip {
    pub(super) shown: (u64, u64, u64),
    pub(super) left_out: (u64, u64, u64),
}
