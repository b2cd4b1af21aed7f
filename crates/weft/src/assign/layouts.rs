//! Layouts and plans, each made once.

use crate::id::{IdVec, define_id};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use weft_layout::Layout;
use weft_layout::machine::Machine;
use weft_layout::plan;
use weft_layout::step::Plan;

define_id! {
    /// A layout in a [`Layouts`] table.
    LayoutId, "L"
}

/// Layouts, each once.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    table: IdVec<LayoutId, Layout>,
    ids: FxHashMap<Layout, LayoutId>,
}

impl Layouts {
    /// The id of a layout.
    pub fn intern(&mut self, layout: Layout) -> LayoutId {
        if let Some(&id) = self.ids.get(&layout) {
            return id;
        }
        let id = self.table.push(layout.clone());
        self.ids.insert(layout, id);
        id
    }

    /// The layout behind an id.
    pub fn get(&self, id: LayoutId) -> &Layout {
        &self.table[id]
    }
}

/// The plans of conversions and reductions, each made once.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    conversions: FxHashMap<(LayoutId, LayoutId, u32), Plan>,
    reductions: FxHashMap<(LayoutId, usize, Vec<u32>), plan::Reduction>,
}

impl Plans {
    /// The cheapest way from one layout to another for elements of `bits` bits.
    pub fn convert(
        &mut self,
        layouts: &Layouts,
        from: LayoutId,
        to: LayoutId,
        bits: u32,
        machine: &Machine,
    ) -> Result<&Plan, plan::PlanError> {
        match self.conversions.entry((from, to, bits)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let plan = plan::convert(layouts.get(from), layouts.get(to), bits, machine)?;
                Ok(place.insert(plan))
            }
        }
    }
}

impl Plans {
    /// The cheapest reduction along an axis of operands with elements of these bits.
    pub fn reduce(
        &mut self,
        layouts: &Layouts,
        layout: LayoutId,
        axis: usize,
        bits: &[u32],
        machine: &Machine,
    ) -> Result<&plan::Reduction, plan::PlanError> {
        match self.reductions.entry((layout, axis, bits.to_vec())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                Ok(place.insert(plan::reduce(layouts.get(layout), axis, bits, machine)?))
            }
        }
    }
}
