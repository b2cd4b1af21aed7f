//! Names that differ wherever two values can be mentioned at once.

use std::collections::{BTreeMap, BTreeSet};

/// The names that can be seen at one place of a text.
#[derive(Default)]
pub(crate) struct Names {
    visible: BTreeSet<String>,
    /// In order of appearance, so that a region's names can be forgotten.
    trail: Vec<String>,
    next_suffix: BTreeMap<String, usize>,
}

impl Names {
    /// The name itself, or the name with a number where it is taken; it is seen from now on.
    pub(crate) fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        if self.visible.contains(&name) {
            // In MLIR a name that begins with a digit is all digits.
            let letter = if wanted.starts_with(|c: char| c.is_ascii_digit()) { "v" } else { "" };
            let suffix = self.next_suffix.entry(name.clone()).or_insert(0);
            while self.visible.contains(&name) {
                name = format!("{letter}{wanted}_{suffix}");
                *suffix += 1;
            }
        }
        self.visible.insert(name.clone());
        self.trail.push(name.clone());
        name
    }

    /// Where the trail is now, to be given to [`Names::leave`].
    pub(crate) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Forgets the names that appeared since a mark.
    pub(crate) fn leave(&mut self, mark: usize) {
        for name in self.trail.drain(mark..) {
            self.visible.remove(&name);
        }
    }
}
