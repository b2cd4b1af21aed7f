//! Measured tables in the documents.
//!
//! Between `<!-- table: NAME -->` and `<!-- /table -->` a document shows the table of
//! `docs/measurements/NAME.json`, so that no figure is typed by hand.

use crate::measure::Measurement;
use crate::{root, say};
use anyhow::{Context as _, bail};
use std::path::PathBuf;

const OPEN: &str = "<!-- table: ";
const CLOSE: &str = "<!-- /table -->";

/// Writes every table, or checks that each stands where it should.
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    let mut tables = 0;
    for path in documents()? {
        let text = std::fs::read_to_string(&path)?;
        let (filled, count) = fill(&text).with_context(|| format!("{}", path.display()))?;
        tables += count;
        if filled != text {
            if check {
                stale.push(path.display().to_string());
            } else {
                std::fs::write(&path, filled)?;
            }
        }
    }
    if !stale.is_empty() {
        bail!("tables are not the measured ones in {}; run `cargo xtask tables`", stale.join(", "));
    }
    say(&format!("{tables} tables are the measured ones"));
    Ok(())
}

fn documents() -> anyhow::Result<Vec<PathBuf>> {
    let mut documents = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    for entry in std::fs::read_dir(root().join("docs/src"))? {
        documents.push(entry?.path());
    }
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    documents.sort();
    Ok(documents)
}

/// The text with every table in it as measured, and how many there are.
fn fill(text: &str) -> anyhow::Result<(String, usize)> {
    let (mut filled, mut rest, mut count) = (String::new(), text, 0);
    while let Some(open) = rest.find(OPEN) {
        let after = &rest[open + OPEN.len()..];
        let name = after.split(" -->").next().unwrap_or_default();
        let close = after.find(CLOSE).with_context(|| format!("table `{name}` is not closed"))?;
        let path = root().join(format!("docs/measurements/{name}.json"));
        let measured =
            std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
        let measurement: Measurement = serde_json::from_str(&measured)?;
        filled.push_str(&rest[..open]);
        filled.push_str(&format!("{OPEN}{name} -->\n{}{CLOSE}", measurement.table(name)));
        rest = &after[close + CLOSE.len()..];
        count += 1;
    }
    filled.push_str(rest);
    Ok((filled, count))
}
