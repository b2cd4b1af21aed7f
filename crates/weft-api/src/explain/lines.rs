//! What is known of each line of the text.

use super::Explained;
use crate::answer::{LineAnswer, ProductAnswer};
use crate::error::ApiError;
use std::collections::BTreeMap;
use weft::location::Loc;
use weft::tile::Kernel;

impl Explained<'_> {
    /// Every line at which an operation begins: where it stands in the user's source, and what it costs.
    pub(super) fn lines(&self, products: &[ProductAnswer]) -> Result<Vec<LineAnswer>, ApiError> {
        let compiled = self.compiled;
        let locations = &compiled.module.locations;
        let mut lines: BTreeMap<u32, LineAnswer> = BTreeMap::new();
        let line_of = |loc: Loc| locations.resolve(loc).map(|(_, line, _)| line);
        let mut place = |kernel: &Kernel| {
            for op in kernel.ops.values() {
                let Some(line) = line_of(op.loc) else { continue };
                let known = lines.entry(line).or_insert_with(|| LineAnswer::at(line));
                for source in locations.trail(op.loc).iter().skip(1).map(ToString::to_string) {
                    if !known.sources.contains(&source) {
                        known.sources.push(source);
                    }
                }
            }
        };
        // Both as it was read and as it was lowered: the one has lines that came to nothing, the other costs.
        place(compiled.kernel());
        place(compiled.lowered());
        let mut cost = |line: Option<u32>, cost: u64| {
            if let Some(known) = line.and_then(|line| lines.get_mut(&line)) {
                known.cost = known.cost.saturating_add(cost);
            }
        };
        for (op, spent) in compiled.compiled.spent_by_operation(&compiled.options())? {
            cost(line_of(compiled.lowered().ops[op].loc), spent.total());
        }
        for product in products {
            let line = product.place.as_deref().and_then(|place| place.split(':').nth(1));
            cost(
                line.and_then(|line| line.parse().ok()),
                product.cost.saturating_mul(product.times),
            );
        }
        Ok(lines.into_values().collect())
    }
}
