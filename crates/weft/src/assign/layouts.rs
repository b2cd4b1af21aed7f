//! Layouts and plans, each made once.

use crate::id::{IdVec, define_id};
use rustc_hash::FxHashMap;
use weft_layout::Layout;
use weft_layout::machine::Machine;
use weft_layout::plan::{self, Direction, Draft, PlanError};
use weft_layout::step::Plan;

define_id! {
    /// A layout in a [`Layouts`] table.
    LayoutId, "L"
}

/// The layouts of a kernel, each with a number of its own.
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

/// What a plan is for, in layouts of a [`Layouts`] table; [`plan::Task`] tells each.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Task {
    /// From one layout to another, elements of so many bits.
    Convert(LayoutId, LayoutId, u32),
    /// Along an axis, operands of these bits.
    Reduce(LayoutId, usize, Vec<u32>),
    /// Along an axis, operands of these bits.
    Scan(LayoutId, usize, Vec<u32>, Direction),
    /// A source and a result, along an axis, elements and indices of so many bits.
    Gather(LayoutId, LayoutId, usize, (u32, u32)),
    /// Numbers of so many bits, and maybe a mask, to counts.
    Histogram(LayoutId, LayoutId, u32, bool),
}

impl Task {
    fn on<'a>(&'a self, layouts: &'a Layouts) -> plan::Task<'a> {
        match *self {
            Task::Convert(from, to, element_bits) => {
                plan::Task::Convert { from: layouts.get(from), to: layouts.get(to), element_bits }
            }
            Task::Reduce(layout, dim, ref element_bits) => {
                plan::Task::Reduce { layout: layouts.get(layout), dim, element_bits }
            }
            Task::Scan(layout, dim, ref element_bits, direction) => {
                plan::Task::Scan { layout: layouts.get(layout), dim, element_bits, direction }
            }
            Task::Gather(source, result, dim, (element_bits, index_bits)) => {
                let (source, result) = (layouts.get(source), layouts.get(result));
                plan::Task::Gather { source, result, dim, element_bits, index_bits }
            }
            Task::Histogram(source, result, element_bits, masked) => {
                let (source, result) = (layouts.get(source), layouts.get(result));
                plan::Task::Histogram { source, result, element_bits, masked }
            }
        }
    }
}

/// The plans of movements, each made once, and followed by the witness where one is written down.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    drafts: FxHashMap<Task, Draft>,
    plans: FxHashMap<Task, Plan>,
}

impl Plans {
    /// The cheapest way to do a task, of which only the price is known.
    pub fn draft(
        &mut self,
        layouts: &Layouts,
        task: &Task,
        machine: &Machine,
    ) -> Result<&Draft, PlanError> {
        if !self.drafts.contains_key(task) {
            let draft = task.on(layouts).draft(machine)?;
            self.drafts.insert(task.clone(), draft);
        }
        Ok(&self.drafts[task])
    }

    /// The cheapest way to do a task.
    pub fn plan(
        &mut self,
        layouts: &Layouts,
        task: &Task,
        machine: &Machine,
    ) -> Result<&Plan, PlanError> {
        if !self.plans.contains_key(task) {
            let draft = self.draft(layouts, task, machine)?.clone();
            self.plans.insert(task.clone(), draft.checked(&task.on(layouts))?);
        }
        Ok(&self.plans[task])
    }
}
