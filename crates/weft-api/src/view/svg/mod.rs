//! Scenes as SVG.

mod layers;
mod style;

use super::scene::{Cell, Group, Key, Panel, Scene};
use layers::Layers;
use maud::{Markup, html};
use style::style;

/// The most cells of a scene in which each of them is an element with a label of its own. A larger
/// picture draws all cells of a hue as one shape: a third of the size, and the texts remain.
const MAX_LABELLED: usize = 1 << 12;

// Lengths are in pixels of the picture's own scale.
/// The height of a cell.
const CELL: u64 = 24;
/// The thickness of a bar.
const BAR: u64 = 3;
/// The height of a line of text.
const LINE: u64 = 18;
/// The space around the picture, and between its parts.
const SPACE: u64 = 16;
/// The space between blocks.
const GAP: u64 = 6;
/// Keys of the legend in a line.
const KEYS: u64 = 4;
/// The least width that sentences have before they are broken.
const SENTENCE: u64 = 420;
/// Where text stands in a line.
const BASE: u64 = 13;
/// How far above the end of a cell its text stands.
const BASELINE: u64 = 8;

/// A scene as an SVG file: one text, without scripts, fonts or anything else from outside. It follows
/// the light or dark surrounding. Up to 4096 cells each are an element of their own, with a label and,
/// as `data-panel`, `data-row` and `data-column`, with their place; headings then say, as `data-head`,
/// what they are of (`lane 9`), and as `data-row` or `data-column` where.
///
/// ```
/// use weft_api::view::{View, scene, svg};
/// use weft_layout::interop::parse_layout;
///
/// let layout = parse_layout("[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]")?;
/// let picture = svg(&scene(&layout.into(), &View::default())?);
/// assert!(picture.contains("<title>dim0 1, dim1 3: register 1, lane 3</title>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn svg(scene: &Scene) -> String {
    let cells = scene.panels.iter().map(|panel| panel.cells.len()).sum::<usize>();
    let labelled = cells <= MAX_LABELLED;
    let sizes = Sizes::of(&scene.panels);
    let panels = scene.panels.iter().enumerate();
    let drawn = panels.map(|(number, panel)| panel_part(number, panel, sizes, labelled));
    let legend = Some(&scene.legend).filter(|legend| !legend.is_empty());
    let drawn: Vec<Part> = drawn.chain(legend.map(|legend| legend_part(legend))).collect();
    let widest = drawn.iter().map(|part| part.width).max().unwrap_or(0);
    let mut parts = vec![text_part(scene, widest.max(SENTENCE))];
    parts.extend(drawn);
    let width = parts.iter().map(|part| part.width).max().unwrap_or(0) + 2 * SPACE;
    let mut bottom = SPACE;
    let mut placed = Vec::new();
    for part in parts {
        placed.push(html! {
            g transform=(format!("translate({SPACE} {bottom})")) { (part.markup) }
        });
        bottom += part.height + SPACE;
    }
    let document = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="weft" width=(width) height=(bottom)
            viewBox=(format!("0 0 {width} {bottom}")) {
            title { (scene.title) }
            desc { (scene.sentences().collect::<Vec<_>>().join(" ")) }
            style { (style()) }
            rect class="page" width=(width) height=(bottom) {}
            @for part in &placed { (part) }
        }
    };
    document.into_string() + "\n"
}

/// A part of the picture, drawn from its own upper left corner.
struct Part {
    markup: Markup,
    width: u64,
    height: u64,
}

/// The width that a text takes: 12 pixels of a monospaced font, a little generously.
fn room(text: &str) -> u64 {
    (text.chars().count() as u64).saturating_mul(15).div_ceil(2)
}

/// The title and the sentences under it, broken where they are wider than this.
fn text_part(scene: &Scene, width: u64) -> Part {
    let sentences: Vec<String> =
        scene.sentences().flat_map(|sentence| broken(&sentence, width)).collect();
    let lines = (1..).map(|line| line * LINE).zip(&sentences);
    let longest = sentences.iter().map(|sentence| room(sentence)).max().unwrap_or(0);
    Part {
        width: longest.max(room(&scene.title) * 7 / 6),
        height: LINE * (1 + sentences.len() as u64),
        markup: html! {
            text class="title" y=(BASE) { (scene.title) }
            @for (y, sentence) in lines { text class="start" y=(y + BASE) { (sentence) } }
        },
    }
}

/// A sentence in lines of at most this width; a longer word has a line of its own.
fn broken(sentence: &str, width: u64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in sentence.split(' ') {
        match lines.last_mut() {
            Some(line) if room(line) + room(" ") + room(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// What the colours mean.
fn legend_part(legend: &[Key]) -> Part {
    let longest = legend.iter().map(|key| room(&key.text)).max().unwrap_or(0);
    let (column, row) = (CELL + GAP + longest + SPACE, CELL + GAP);
    let keys = legend.iter().zip(0..).map(|(key, index)| {
        let (x, y) = (index % KEYS * column, index / KEYS * row);
        let mut chip = Layers::default();
        chip.add("", key.fill, (x, y), CELL);
        (chip, (x + CELL + GAP, y + CELL - BASELINE), &key.text)
    });
    Part {
        width: column * KEYS.min(legend.len() as u64),
        height: (legend.len() as u64).div_ceil(KEYS) * row,
        markup: html! {
            @for (chip, (x, y), meaning) in keys {
                (chip.markup())
                text class="start" x=(x) y=(y) { (meaning) }
            }
        },
    }
}

/// A cell as an element of its own: what it says, and for scripts where it stands (panel, row and
/// column, from zero) and when it is served.
fn labelled_cell(
    cell: &Cell,
    [panel, row, column]: [usize; 3],
    layers: &Layers<'_>,
    at: (u64, u64),
    width: u64,
) -> Markup {
    let served = cell.served;
    html! {
        g class=[served.map(|_| "served")] data-panel=(panel) data-row=(row) data-column=(column)
            data-phase=[served.map(|served| served.phase)]
            data-wavefront=[served.map(|served| served.wavefront)] {
            title { (cell.label) }
            (layers.markup())
            @if served.is_some() { path class="ring" d=(ring(at, width)) {} }
        }
    }
}

/// The outline of a cell with its upper left corner here, inside it.
fn ring((x, y): (u64, u64), width: u64) -> String {
    let (wide, high) = (width - 3, CELL - 3);
    format!("M{} {}h{wide}v{high}h-{wide}z", x + 1, y + 1)
}

/// What the panels of a picture have in common, so that columns that mean the same stand below each
/// other.
#[derive(Clone, Copy)]
struct Sizes {
    /// The width of a cell.
    width: u64,
    /// The room to the left of the cells, for the names of rows.
    margin: u64,
}

impl Sizes {
    /// As much as the longest text of any panel takes.
    fn of(panels: &[Panel]) -> Self {
        let longest = |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| room(text)).max();
        let heads = panels.iter().flat_map(|panel| &panel.columns).flat_map(|group| &group.heads);
        let cells = panels.iter().flat_map(|panel| &panel.cells).map(|cell| &cell.text);
        let names: Vec<String> = panels.iter().flat_map(Panel::row_names).collect();
        Self {
            width: longest(&mut heads.chain(cells)).unwrap_or(0) + 4 * BAR,
            margin: longest(&mut names.iter()).unwrap_or(0),
        }
    }
}

/// A panel with its headings; it is the one of this number.
fn panel_part(number: usize, panel: &Panel, sizes: Sizes, labelled: bool) -> Part {
    let Sizes { width, margin } = sizes;
    let names = panel.row_names();
    let heading = if panel.heading.is_empty() { 0 } else { LINE };
    let columns = Places::new(&panel.columns, margin + GAP, width, |group| room(&group.label));
    let rows = Places::new(&panel.rows, heading + 2 * LINE, CELL, |_| 0);

    let mut sheet = Layers::default();
    let mut labels = Vec::new();
    let mut rings = String::new();
    for (row, &y) in rows.starts.iter().enumerate() {
        for (column, (cell, &x)) in panel.row(row).iter().zip(&columns.starts).enumerate() {
            if labelled {
                let mut alone = Layers::default();
                alone.add(&cell.text, cell.fill, (x, y), width);
                labels.push(labelled_cell(cell, [number, row, column], &alone, (x, y), width));
            } else {
                sheet.add(&cell.text, cell.fill, (x, y), width);
                if cell.served.is_some() {
                    rings.push_str(&ring((x, y), width));
                }
            }
        }
    }
    let column_heads = panel.columns.iter().flat_map(|group| &group.heads).zip(&columns.starts);
    let column_names = panel.column_names();
    Part {
        width: columns.end,
        height: rows.end,
        markup: html! {
            @if heading > 0 { text class="title" y=(BASE) { (panel.heading) } }
            @for (group, (x, _)) in panel.columns.iter().zip(&columns.blocks) {
                text class="start" x=(x) y=(heading + BASE) { (group.label) }
            }
            @for (column, ((head, x), name)) in column_heads.zip(&column_names).enumerate() {
                text data-head=[labelled.then_some(name)] data-column=[labelled.then_some(column)]
                    x=(x + width / 2) y=(heading + LINE + BASE) { (head) }
            }
            @for (row, (name, y)) in names.iter().zip(&rows.starts).enumerate() {
                text class="end" data-head=[labelled.then_some(name)] data-row=[labelled.then_some(row)]
                    x=(margin) y=(y + CELL - BASELINE) { (name) }
            }
            g class="cells" {
                @for label in &labels { (label) }
                @if !labelled { (sheet.markup()) }
                @if !rings.is_empty() { path class="ring" d=(rings) {} }
            }
            @for (x, w) in &columns.blocks {
                @for (y, h) in &rows.blocks {
                    rect class="block" x=(x) y=(y) width=(w) height=(h) {}
                }
            }
        },
    }
}

/// Where columns, or rows, stand.
struct Places {
    /// Where each column or row begins.
    starts: Vec<u64>,
    /// Where each group begins, and how far it reaches.
    blocks: Vec<(u64, u64)>,
    /// Where the last group ends.
    end: u64,
}

impl Places {
    /// Places of this size from `start` on; a group takes at least what `least` says.
    fn new(groups: &[Group], start: u64, size: u64, least: impl Fn(&Group) -> u64) -> Self {
        let mut places = Places { starts: Vec::new(), blocks: Vec::new(), end: start };
        let mut next = start;
        for group in groups {
            let count = group.heads.len() as u64;
            places.starts.extend((0..count).map(|index| next + index * size));
            places.blocks.push((next, count * size));
            places.end = next + (count * size).max(least(group));
            next = places.end + GAP;
        }
        places
    }
}
