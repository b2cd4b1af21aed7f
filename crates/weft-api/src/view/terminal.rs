//! Scenes as text for a terminal.

use super::scene::{Cell, Fill, Panel, Scene};
use anstyle::{RgbColor, Style};
use std::fmt::Write as _;

/// Whether a text may have the escape sequences that colour it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Text alone: for files, pipes and answers.
    Off,
    /// Colours of 24 bits: for a terminal.
    On,
}

/// The characters for the bars of a colour, by [`Colour::bars`]: the upper left quarter for the left
/// bar, the lower left for the bottom, the upper right for the right.
const BARS: [char; 8] = [' ', '▘', '▖', '▌', '▝', '▀', '▞', '▛'];
/// Keys of the legend in a line.
const KEYS: usize = 4;

/// A scene as text: panels with headings, then what there is to say; with colours a legend too.
///
/// ```
/// use weft_api::view::{Colours, View, scene, terminal};
/// use weft_layout::interop::parse_layout;
///
/// let layout = parse_layout("[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]")?;
/// let picture = [
///     "        dim1",
///     "        0     1     2     3",
///     "dim0 0  T0:0  T0:1  T1:0  T1:1",
///     "dim0 1  T2:0  T2:1  T3:0  T3:1",
/// ];
/// let scene = scene(&layout.into(), &View::default())?;
/// assert!(terminal(&scene, Colours::Off).lines().eq(picture));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn terminal(scene: &Scene, colours: Colours) -> String {
    let mut text = String::new();
    for (index, panel) in scene.panels.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        if !panel.heading.is_empty() {
            text.push_str(&panel.heading);
            text.push('\n');
        }
        draw_panel(&mut text, panel, colours);
    }
    let left_out = scene.left_out();
    if left_out.is_some() || !scene.notes.is_empty() {
        text.push('\n');
    }
    for note in left_out.iter().chain(&scene.notes) {
        let _ = writeln!(text, "{note}");
    }
    if colours == Colours::On && !scene.legend.is_empty() {
        text.push('\n');
        for keys in scene.legend.chunks(KEYS) {
            let keys = keys.iter().map(|key| {
                let chip = Cell { text: " ".into(), fill: key.fill, ..Cell::default() };
                format!("{} {}", drawn(&chip, 1, colours).trim_start(), key.text)
            });
            let _ = writeln!(text, "{}", keys.collect::<Vec<_>>().join("  "));
        }
    }
    text
}

/// The rows of a panel beneath its headings.
fn draw_panel(text: &mut String, panel: &Panel, colours: Colours) {
    let names = panel.row_names();
    let heads = panel.columns.iter().flat_map(|group| &group.heads);
    let cells = panel.cells.iter().map(|cell| &cell.text);
    let width = heads.chain(cells).map(|text| length(text)).max().unwrap_or(0);
    let room = |columns: usize| columns * (width + GAP);
    let table = Table {
        margin: names.iter().map(|name| length(name)).max().unwrap_or(0),
        blocks: (panel.columns.iter())
            .map(|group| room(group.heads.len()).max(length(&group.label) + GAP))
            .collect(),
    };

    let labels = panel
        .columns
        .iter()
        .map(|group| (format!("  {}", group.label), length(&group.label) + GAP));
    table.line(text, "", labels, "");
    let heads = panel.columns.iter().map(|group| {
        let heads = group.heads.iter().map(|head| format!("  {head:width$}"));
        (heads.collect(), room(group.heads.len()))
    });
    table.line(text, "", heads, "");
    let end = if panel.columns_left_out > 0 { "  …" } else { "" };
    for (row, name) in names.iter().enumerate() {
        let mut cells = panel.row(row).iter();
        let blocks = panel.columns.iter().map(|group| {
            let cells = cells.by_ref().take(group.heads.len());
            (cells.map(|cell| drawn(cell, width, colours)).collect(), room(group.heads.len()))
        });
        table.line(text, name, blocks, end);
    }
    if panel.rows_left_out > 0 {
        text.push_str("…\n");
    }
}

/// The space before a column; a bar stands in the second half.
const GAP: usize = 2;

/// Columns that stand beneath each other.
struct Table {
    /// The room for the names of rows.
    margin: usize,
    /// The room for each block of columns.
    blocks: Vec<usize>,
}

impl Table {
    /// Adds a line: the name of a row, and for each block a text and the room that it takes.
    fn line(
        &self,
        text: &mut String,
        name: &str,
        blocks: impl Iterator<Item = (String, usize)>,
        end: &str,
    ) {
        let mut line = format!("{name:0$}", self.margin);
        for ((block, taken), &room) in blocks.zip(&self.blocks) {
            line.push_str(&block);
            line.extend(std::iter::repeat_n(' ', room.saturating_sub(taken)));
        }
        text.push_str(line.trim_end());
        text.push_str(end);
        text.push('\n');
    }
}

/// A cell with the space before it.
fn drawn(cell: &Cell, width: usize, colours: Colours) -> String {
    let text = &cell.text;
    match (colours, cell.fill) {
        (Colours::On, Fill::Colour(colour)) => {
            let bars = BARS.get(usize::from(colour.bars())).unwrap_or(&' ');
            format!(" {}", painted(cell.fill, &format!("{bars}{text:width$}")))
        }
        _ => format!("  {text:width$}"),
    }
}

/// A text on a fill.
fn painted(fill: Fill, text: &str) -> String {
    let Fill::Colour(colour) = fill else { return text.to_owned() };
    let rgb = |[r, g, b]: [u8; 3]| Some(RgbColor(r, g, b).into());
    let style = Style::new().fg_color(rgb(colour.ink().rgb())).bg_color(rgb(colour.fill()));
    format!("{style}{text}{style:#}")
}

fn length(text: &str) -> usize {
    text.chars().count()
}
