//! Layouts and plans, each made once.

use crate::id::{IdVec, define_id};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use weft_layout::Layout;
use weft_layout::machine::Machine;
use weft_layout::plan::{self, Direction, PlanError};
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

/// What a plan is for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Task {
    /// From one layout to another, elements of so many bits.
    Convert(LayoutId, LayoutId, u32),
    /// Along an axis, operands of these bits.
    Scan(LayoutId, usize, Vec<u32>, Direction),
    /// A source and a result, along an axis, elements and indices of so many bits.
    Gather(LayoutId, LayoutId, usize, (u32, u32)),
    /// Numbers, and maybe a mask, to counts.
    Histogram(LayoutId, LayoutId, u32, bool),
}

/// The plans of movements, each made once.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    plans: FxHashMap<Task, Plan>,
    reductions: FxHashMap<(LayoutId, usize, Vec<u32>), plan::Reduction>,
}

impl Plans {
    fn once(
        &mut self,
        task: Task,
        make: impl FnOnce() -> Result<Plan, PlanError>,
    ) -> Result<&Plan, PlanError> {
        match self.plans.entry(task) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(make()?)),
        }
    }

    /// The cheapest way from one layout to another for elements of `bits` bits.
    pub fn convert(
        &mut self,
        layouts: &Layouts,
        from: LayoutId,
        to: LayoutId,
        bits: u32,
        machine: &Machine,
    ) -> Result<&Plan, PlanError> {
        self.once(Task::Convert(from, to, bits), || {
            plan::convert(layouts.get(from), layouts.get(to), bits, machine)
        })
    }

    /// The cheapest reduction along an axis of operands with elements of these bits.
    pub fn reduce(
        &mut self,
        layouts: &Layouts,
        layout: LayoutId,
        axis: usize,
        bits: &[u32],
        machine: &Machine,
    ) -> Result<&plan::Reduction, PlanError> {
        match self.reductions.entry((layout, axis, bits.to_vec())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                Ok(place.insert(plan::reduce(layouts.get(layout), axis, bits, machine)?))
            }
        }
    }

    /// The cheapest scan along an axis of operands with elements of these bits, all in one layout.
    pub fn scan(
        &mut self,
        layouts: &Layouts,
        layout: LayoutId,
        axis: usize,
        bits: &[u32],
        direction: Direction,
        machine: &Machine,
    ) -> Result<&Plan, PlanError> {
        self.once(Task::Scan(layout, axis, bits.to_vec(), direction), || {
            plan::scan(layouts.get(layout), axis, bits, direction, machine)
        })
    }

    /// The cheapest gather along an axis, of elements and by indices of so many bits.
    pub fn gather(
        &mut self,
        layouts: &Layouts,
        source: LayoutId,
        result: LayoutId,
        axis: usize,
        bits: (u32, u32),
        machine: &Machine,
    ) -> Result<&Plan, PlanError> {
        self.once(Task::Gather(source, result, axis, bits), || {
            plan::gather(layouts.get(source), layouts.get(result), axis, bits.0, bits.1, machine)
        })
    }

    /// The cheapest histogram of numbers of `bits` bits, of those with a true mask if there is one.
    pub fn histogram(
        &mut self,
        layouts: &Layouts,
        source: LayoutId,
        result: LayoutId,
        bits: u32,
        masked: bool,
        machine: &Machine,
    ) -> Result<&Plan, PlanError> {
        self.once(Task::Histogram(source, result, bits, masked), || {
            plan::histogram(layouts.get(source), layouts.get(result), bits, masked, machine)
        })
    }
}
