//! Conversions within warps: the smallest one is planned, and its plans become plans of the whole.

use alloc::vec::Vec;

use super::{alike::Alike, threads::Exchanges};
use crate::plan::{PlanError, priced};
use crate::{layout::Layout, machine::Machine, step::Plan, witness};

/// A conversion that moves nothing between warps.
pub(in crate::plan) struct Within {
    alike: Alike,
    /// The smallest conversion.
    from: Layout,
    to: Layout,
    ways: Exchanges,
}

impl Within {
    /// `None` when a place reads another warp; `source` maps places of `to` to places of `from`.
    pub(in crate::plan) fn of(
        from: &Layout,
        to: &Layout,
        source: &Layout,
        bits: u32,
    ) -> Result<Option<Within>, PlanError> {
        let alike = Alike::of(source, bits);
        let [from, to, source] = alike.smallest(from, to, source)?;
        let ways = Exchanges::of(&source, bits);
        Ok(ways.map(|ways| Within { alike, from, to, ways }))
    }

    /// Whether every lane reads itself.
    pub(in crate::plan) fn stays(&self) -> bool {
        self.ways.stays()
    }

    /// The cheapest plan, if one can cost less than `most` hundredths of a cycle; with `all` as many as
    /// there are.
    pub(in crate::plan) fn plans(
        &self,
        machine: &Machine,
        most: u64,
        all: bool,
    ) -> Result<Vec<Plan>, PlanError> {
        let most = most.div_ceil(1 << self.alike.repetitions_log2());
        let shown =
            |plan: &Plan| witness::conversion_is_shown(plan, &self.from, &self.to) == Ok(true);
        let plans = self.ways.plans(machine, most, all, shown)?.into_iter();
        plans.filter_map(|plan| self.alike.whole(plan)).map(|plan| priced(plan, machine)).collect()
    }
}
