//! What movements cost a block: by real plans, and before these are made by what no plan goes below.

use super::Block;
use super::layouts::{LayoutId, Layouts, Plans, Task};
use super::pbqp::NEVER;
use rustc_hash::FxHashMap;
use weft_layout::plan::{self, PlanError};
use weft_layout::space::{LANE, REGISTER, WARP};

/// A price, in hundredths of a cycle of the whole block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Price {
    pub(super) total: u64,
    /// Whether a plan costs this; else no plan costs less.
    pub(super) is_real: bool,
}

/// The number of a movement in [`Prices`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MovementId(u32);

impl MovementId {
    /// The number of the movement, from zero.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The prices of movements.
pub(super) struct Prices<'a> {
    block: Block<'a>,
    ids: FxHashMap<Task, MovementId>,
    all: Vec<(Task, Price)>,
}

impl<'a> Prices<'a> {
    pub(super) fn new(block: Block<'a>) -> Self {
        Self { block, ids: FxHashMap::default(), all: Vec::new() }
    }

    /// The number of a movement.
    pub(super) fn id(&mut self, layouts: &Layouts, movement: Task) -> MovementId {
        if let Some(&known) = self.ids.get(&movement) {
            return known;
        }
        let id = MovementId(self.all.len() as u32);
        let price = self.least(layouts, &movement);
        self.all.push((movement.clone(), price));
        self.ids.insert(movement, id);
        id
    }

    /// How many movements are known.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// What is known of a price.
    pub(super) fn get(&self, id: MovementId) -> Price {
        self.all[id.0 as usize].1
    }

    /// Makes the plan of a movement, whose price is real from now on; says whether it was not before.
    pub(super) fn plan(
        &mut self,
        layouts: &Layouts,
        plans: &mut Plans,
        id: MovementId,
    ) -> Result<bool, PlanError> {
        let (movement, price) = &self.all[id.0 as usize];
        if price.is_real {
            return Ok(false);
        }
        let total = match plans.draft(layouts, movement, self.block.machine) {
            Ok(draft) => {
                let own = draft.cost().total.saturating_mul(self.block.warps.into());
                own.saturating_add(draft.scratch_bytes().saturating_mul(self.block.shared_byte))
            }
            Err(error @ PlanError::Refused(_)) => return Err(error),
            // What cannot be done, or does not fit into shared memory, is not chosen.
            Err(_) => NEVER,
        };
        self.all[id.0 as usize].1 = Price { total: total.min(NEVER), is_real: true };
        Ok(true)
    }

    /// What no plan costs less than.
    fn least(&self, layouts: &Layouts, movement: &Task) -> Price {
        let machine = self.block.machine;
        let bound = match movement {
            Task::Convert(from, to, _) if from == to => {
                return Price { total: 0, is_real: true };
            }
            Task::Convert(from, to, bits) => {
                let (from, to) = (layouts.get(*from), layouts.get(*to));
                let least = plan::least_conversion(from, to, *bits, machine);
                // A pair that does not fit together is refused when its plan is made.
                least.unwrap_or(0)
            }
            Task::Reduce(from, axis, bits) | Task::Scan(from, axis, bits, _) => {
                self.least_along(layouts, *from, *axis, bits)
            }
            Task::Gather(..) | Task::Histogram(..) => 0,
        };
        Price { total: bound.saturating_mul(self.block.warps.into()), is_real: false }
    }

    /// What folding along an axis takes at least: where the axis runs over lanes an exchange, where over
    /// warps a barrier, and in each thread, which may share its work with those that hold the same, one
    /// combination for each element but one.
    fn least_along(&self, layouts: &Layouts, from: LayoutId, axis: usize, bits: &[u32]) -> u64 {
        let layout = layouts.get(from);
        let Some((start, width)) = layout.outs().locate(weft_layout::Label::dim(axis as u32))
        else {
            return 0;
        };
        let mask = ((1_u64 << width) - 1) << start;
        let runs = |label| layout.columns(label).iter().any(|column| column & mask != 0);
        let prices = &self.block.machine.prices;
        let words: u64 = bits.iter().map(|bits| u64::from(bits.div_ceil(32))).sum();
        let (mut all, mut kept) = (0_u32, 0_u32);
        for &column in layout.columns(REGISTER) {
            all += u32::from(column != 0);
            kept += u32::from(column & !mask != 0);
        }
        let copies = layout.free_mask(LANE).count_ones() + layout.free_mask(WARP).count_ones();
        let combined = ((1_u64 << all) - (1 << kept.min(all))) >> copies.min(63);
        let mut least = combined * words * prices.alu;
        if runs(LANE) {
            least = least.max(prices.shuffle * words);
        }
        if runs(WARP) {
            least += prices.barrier_share(self.block.warps.into());
        }
        least
    }
}
