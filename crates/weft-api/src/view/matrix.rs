//! A layout as its matrix.

use std::fmt::Write as _;
use weft_layout::Layout;

/// The matrix over F2: a column for each bit of the hardware, a row for each bit of the tensor, both
/// from the least significant; `1` where the bit of the column sets the bit of the row.
///
/// ```
/// use weft_layout::interop::parse_layout;
///
/// let layout = parse_layout("[register: (0,1), lane: (0,2) (1,1)] -> [dim0: 2, dim1: 4]")?;
/// let picture = [
///     "        register  lane",
///     "        0         0  1",
///     "dim1 0  1         .  1",
///     "dim1 1  .         1  .",
///     "dim0 0  .         .  1",
/// ];
/// assert!(weft_api::view::matrix(&layout).lines().eq(picture));
/// # Ok::<(), weft_layout::interop::ParseError>(())
/// ```
pub fn matrix(layout: &Layout) -> String {
    // Axes without bits would be empty columns.
    let columns: Vec<(String, Vec<u64>)> = (layout.ins().labels())
        .map(|label| (label.to_string(), layout.columns(label).to_vec()))
        .filter(|(_, images)| !images.is_empty())
        .collect();
    let widths: Vec<usize> =
        columns.iter().map(|(label, images)| label.len().max(3 * images.len() - 2)).collect();
    let rows: Vec<(String, u32)> = (layout.outs().iter())
        .flat_map(|(label, start, bits)| {
            (0..bits).map(move |bit| (format!("{label} {bit}"), start + bit))
        })
        .collect();
    let margin = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);

    let mut text = String::new();
    let mut line = |name: &str, cells: &dyn Fn(usize) -> String| {
        let mut line = format!("{name:margin$}");
        for (axis, width) in widths.iter().enumerate() {
            let _ = write!(line, "  {:width$}", cells(axis));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line("", &|axis| columns[axis].0.clone());
    line("", &|axis| {
        let bits = (0..columns[axis].1.len()).map(|bit| format!("{bit:<3}"));
        bits.collect::<String>().trim_end().to_owned()
    });
    for (name, row) in &rows {
        line(name, &|axis| {
            let mark = |image: &u64| if image >> row & 1 == 1 { "1" } else { "." };
            columns[axis].1.iter().map(mark).collect::<Vec<_>>().join("  ")
        });
    }
    text
}
