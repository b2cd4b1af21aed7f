//! Inclusive scans along one axis.
//!
//! The axis is taken as runs of neighbouring bits that lie in one hardware dim each: registers, lanes
//! or warps, in any order.
//! Upwards, each run scans what the run below it leaves, one value for each of its places, and leaves
//! its totals: registers one after the other, lanes by Kogge and Stone's network (each lane adds what 1, 2, 4
//! and more lanes before it have) or, where their bits do not follow each other, by Sklansky's (each bit of the
//! axis adds the total of the lower half to the upper half), warps through shared memory.
//! Downwards, each run hands every place what comes before it, which is combined once with what the
//! runs below have scanned.
//! Nothing asks that the operator commutes, and copies of elements are not combined twice.
//!
//! A layout with a bit that moves along the axis and across it at once, or that holds copies of a
//! part of the axis, is converted to one without first, and the result back.

use alloc::{vec, vec::Vec};

use super::{
    axis::{Axis, Unit, straightened},
    partials::{Exchange, Partials},
    reduce::{first_crossing_block, operand_types},
};
use crate::plan::{
    PlanError, Task, check_layout, priced,
    writing::sequel::{check_scratch, convert_outputs},
    writing::tuple::{self, Tuple},
};
use crate::{
    f2::{extract_bits, low_mask},
    layout::Layout,
    machine::Machine,
    space::{BLOCK, LANE, WARP},
    step::{Cube, File, LaneMap, Neighbour, Parity, Plan, Strategy, combine},
    witness,
};

/// From which end a scan starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the first element of the axis.
    Forward,
    /// From the last one: the element `i` of the result combines those from the last one down to `i`.
    Reverse,
}

/// A plan that scans a tuple of operands, all in layout `layout`, along axis `dim`, and leaves the
/// result in the same layout.
///
/// `element_bits` are the widths of the operands, each 1 to 64; the operator takes two tuples to one
/// (what comes before on the left), is associative and otherwise opaque: the operator of the plan's
/// combinations is [`Operator`](crate::step::Operator) 0.
/// The plan has been accepted by the witness.
///
/// Fails when the layout does not fit the machine, or the axis reaches over several blocks.
///
/// ```
/// use weft_layout::{Machine, family::Blocked, plan, step::Strategy};
///
/// // Four elements in a thread, then 32 lanes, then four warps.
/// let layout = Blocked::new(&[4], &[32], &[4], &[0]).layout(&[512])?;
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// let plan = plan::scan(&layout, 0, &[32], plan::Direction::Forward, machine)?;
/// assert_eq!(plan.strategy, Strategy::Scan);
/// // One for each bit of the lane, one for the total of a warp, one to the next lane.
/// assert_eq!((plan.cost.shuffles, plan.cost.barriers), (7, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn scan(
    layout: &Layout,
    dim: usize,
    element_bits: &[u32],
    direction: Direction,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    Task::Scan { layout, dim, element_bits, direction }.plan(machine)
}

/// The cheapest scan, not yet followed.
pub(in crate::plan) fn choose(
    layout: &Layout,
    dim: usize,
    element_bits: &[u32],
    direction: Direction,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    check_layout(layout, machine)?;
    // Says whether there is such an axis.
    layout.slice(dim)?;
    if let Some(bit) = first_crossing_block(layout, dim) {
        return Err(PlanError::CrossesBlocks { label: BLOCK, bit });
    }
    let types = operand_types(layout, element_bits)?;
    let mut best: Option<Plan> = None;
    for order in [Partials::Together, Partials::Apart] {
        let mut plan = Plan::new(&types, layout.in_bits(LANE), layout.in_bits(WARP));
        plan.strategy = Strategy::Scan;
        if let Some(axis) = Axis::of(layout, dim) {
            Scan::new(&axis, direction, machine, order).write(&mut plan);
        } else {
            let straight = straightened(layout, dim)?;
            let axis = Axis::of(&straight, dim).ok_or(PlanError::TooLarge)?;
            convert_outputs(&mut plan, layout, &straight, machine)?;
            Scan::new(&axis, direction, machine, order).write(&mut plan);
            convert_outputs(&mut plan, &straight, layout, machine)?;
        }
        let plan = priced(plan, machine)?;
        if best.as_ref().is_none_or(|best| plan.cost.total < best.cost.total) {
            best = Some(plan);
        }
    }
    let plan = best.ok_or(PlanError::TooLarge)?;
    check_scratch(&plan, machine)?;
    Ok(plan)
}

/// Has the witness follow a scan.
pub(in crate::plan) fn followed(
    plan: &Plan,
    layout: &Layout,
    dim: usize,
    direction: Direction,
) -> Result<(), PlanError> {
    let reverse = direction == Direction::Reverse;
    witness::scan(plan, layout, dim, reverse).map_err(PlanError::from)
}

/// A scan being written.
///
/// Places along the axis are counted from where the scan starts, so that a bit of the count is one
/// bit of the hardware, or its opposite when the scan runs in reverse.
struct Scan<'a> {
    axis: &'a Axis,
    reverse: bool,
    machine: &'a Machine,
    order: Partials,
}

/// What one run has scanned.
enum Scanned {
    /// For each number of the run's registers what comes up to it.
    Registers(Vec<Tuple>),
    /// What comes up to each lane.
    Lanes(Tuple),
    /// What comes before each warp; anything in the first one.
    Warps(Tuple),
}

impl<'a> Scan<'a> {
    fn new(
        axis: &'a Axis,
        direction: Direction,
        machine: &'a Machine,
        order: Partials,
    ) -> Scan<'a> {
        Scan { axis, reverse: direction == Direction::Reverse, machine, order }
    }

    fn write(&self, plan: &mut Plan) {
        let runs = &self.axis.runs;
        if runs.is_empty() {
            return;
        }
        let elements = self.axis.gathered(plan, self.reverse);
        let mut scanned = Vec::with_capacity(runs.len());
        let mut totals = elements.clone();
        for (level, run) in runs.iter().enumerate() {
            let last = level + 1 == runs.len();
            let (own, rest) = match run.unit {
                Unit::Register => {
                    // Nothing asks for the last one of the last run but the result.
                    let spared = u32::from(last && level > 0);
                    registers(plan, &totals, run.bits.len(), spared)
                }
                Unit::Lane => self.lanes(plan, &totals, &run.bits, last),
                Unit::Warp => self.warps(plan, &totals, level, last),
            };
            scanned.push(own);
            totals = rest;
        }
        let mut before: Option<Tuple> = None;
        for (level, own) in scanned.iter().enumerate().skip(1).rev() {
            before = Some(self.handed_down(plan, level, own, before.as_deref()));
        }
        let result = match &scanned[0] {
            Scanned::Registers(own) => {
                let whole = self.each(plan, 0, own, before.as_deref());
                interleaved(plan, &whole)
            }
            Scanned::Lanes(own) => self.with(plan, 1, before.as_deref(), own),
            own @ Scanned::Warps(_) => {
                let before = self.handed_down(plan, 0, own, before.as_deref());
                self.with(plan, 0, Some(&before), &elements)
            }
        };
        plan.outputs = self.scattered(plan, &result);
    }

    /// The registers in the order of the layout again.
    fn scattered(&self, plan: &mut Plan, result: &[File]) -> Tuple {
        let parts = &self.axis.parts;
        let along = self.axis.register_bits(0).len() - self.axis.across.len();
        let start = if self.reverse { low_mask(along as u32) } else { 0 };
        let source = (0..1_u64 << parts.len()).map(|r| (combine(parts, r) ^ start) as u32);
        tuple::rename(plan, result, &source.collect::<Vec<u32>>())
    }

    /// What comes up to each lane, over lane bits; and the totals in every lane, except after the last run.
    fn lanes(&self, plan: &mut Plan, values: &Tuple, bits: &[u32], last: bool) -> (Scanned, Tuple) {
        let is_run = bits.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let sum = if is_run {
            self.by_shifts(plan, values, bits)
        } else {
            self.by_halves(plan, values, bits)
        };
        let totals = if last {
            sum.clone()
        } else {
            let end = self.lane_at(plan, bits, 0);
            tuple::exchange(plan, &sum, &end)
        };
        (Scanned::Lanes(sum), totals)
    }

    /// Kogge and Stone's network: each lane adds what 1, 2, 4 and more lanes before it have, if there are so many.
    /// That lane is a difference away, where the bits follow each other.
    fn by_shifts(&self, plan: &mut Plan, values: &Tuple, bits: &[u32]) -> Tuple {
        let neighbour = if self.reverse { Neighbour::After } else { Neighbour::Before };
        let mut sum = values.clone();
        for index in 0..bits.len() {
            let before = tuple::shift(plan, &sum, &bits[index..], neighbour);
            let whole = tuple::combine(plan, &before, &sum, true);
            sum = tuple::choose(plan, &sum, &whole, self.start(Unit::Lane, &bits[index..]));
        }
        sum
    }

    /// Sklansky's network: each bit of the axis adds the total of the lower half to the upper half.
    fn by_halves(&self, plan: &mut Plan, values: &Tuple, bits: &[u32]) -> Tuple {
        let mut sum = values.clone();
        for (index, &bit) in bits.iter().enumerate() {
            // The last lane of the lower half.
            let below = self.lane_at(plan, &bits[..=index], 1 << index);
            let before = tuple::exchange(plan, &sum, &below);
            let whole = tuple::combine(plan, &before, &sum, true);
            let odd_where = Parity { lane: 1 << bit, warp: 0 };
            let (first, second) = if self.reverse { (&whole, &sum) } else { (&sum, &whole) };
            sum = tuple::select(plan, first, second, odd_where);
        }
        sum
    }

    /// The lane whose number over `bits` is the last one, except for the bits of `first`.
    fn lane_at(&self, plan: &Plan, bits: &[u32], first: u64) -> LaneMap {
        let mut map = LaneMap::butterfly(plan.lane_bits, 0);
        for (index, &bit) in bits.iter().enumerate() {
            if let Some(column) = map.lane.get_mut(bit as usize) {
                *column = 0;
            }
            let counted_up = first >> index & 1 == 0;
            if counted_up != self.reverse {
                map.xor |= 1 << bit;
            }
        }
        map
    }

    /// What comes before each warp, through shared memory; and the totals.
    fn warps(&self, plan: &mut Plan, values: &Tuple, level: usize, last: bool) -> (Scanned, Tuple) {
        let bits = &self.axis.runs[level].bits;
        let side = self.axis.beyond(level + 1);
        let mask = bits.iter().fold(0, |mask, bit| mask | 1_u64 << bit);
        let exchange = Exchange::new(&side, mask, self.order);
        let loaded = exchange.write(plan, values, self.machine);
        let registers = tuple::registers(plan, values);
        // Partial results are numbered by warp bits in their own order.
        let place = |number: u64| {
            let ones = bits.iter().enumerate().filter(|(index, _)| number >> index & 1 == 1);
            let warp = ones.fold(0, |warp, (_, bit)| warp | 1_u64 << bit);
            let warp = if self.reverse { warp ^ mask } else { warp };
            extract_bits(warp, mask) as u32
        };
        let count = 1_u64 << bits.len();
        let mut before: Vec<Tuple> = Vec::with_capacity(count as usize);
        let mut sum: Option<Tuple> = None;
        for number in 0..count - u64::from(last) {
            let start = place(number) * registers;
            let source: Vec<u32> = (start..start + registers).collect();
            let own = tuple::rename(plan, &loaded, &source);
            let whole = match &sum {
                Some(sum) => tuple::combine(plan, sum, &own, true),
                None => own,
            };
            // Nothing comes before the first warp: it takes anything.
            if number == 0 {
                before.push(whole.clone());
            }
            before.push(whole.clone());
            sum = Some(whole);
        }
        before.truncate(count as usize);
        for &bit in bits {
            let odd_where = Parity { lane: 0, warp: 1 << bit };
            let pair = |pair: &[Tuple]| match (pair, self.reverse) {
                ([a, b], false) => tuple::select(plan, a, b, odd_where),
                ([a, b], true) => tuple::select(plan, b, a, odd_where),
                _ => pair.concat(),
            };
            before = before.chunks(2).map(pair).collect();
        }
        let before = before.into_iter().next().unwrap_or_default();
        (Scanned::Warps(before), sum.unwrap_or_default())
    }

    /// What comes before each place of the run below `level`.
    fn handed_down(
        &self,
        plan: &mut Plan,
        level: usize,
        own: &Scanned,
        before: Option<&[File]>,
    ) -> Tuple {
        let run = &self.axis.runs[level];
        let first = |plan: &mut Plan, later: Tuple, cube: Cube| match before {
            Some(before) => tuple::choose(plan, before, &later, cube),
            None => later,
        };
        match own {
            Scanned::Registers(all) => {
                let most = all.len().min((1 << run.bits.len()) - 1);
                let mut whole = self.each(plan, level, &all[..most], before);
                // Where nothing comes before, anything does.
                let start = before.map_or_else(|| whole[0].clone(), <[_]>::to_vec);
                whole.insert(0, start);
                interleaved(plan, &whole)
            }
            Scanned::Lanes(own) => {
                let whole = self.with(plan, level + 1, before, own);
                let neighbour = if self.reverse { Neighbour::After } else { Neighbour::Before };
                let later = tuple::shift(plan, &whole, &run.bits, neighbour);
                first(plan, later, self.start(Unit::Lane, &run.bits))
            }
            Scanned::Warps(own) => {
                let later = self.with(plan, level + 1, before, own);
                first(plan, later, self.start(Unit::Warp, &run.bits))
            }
        }
    }

    /// The threads whose bits stand where the scan starts.
    fn start(&self, unit: Unit, bits: &[u32]) -> Cube {
        let mask = bits.iter().fold(0, |mask, bit| mask | 1_u64 << bit);
        let lanes = if unit == Unit::Lane { mask } else { 0 };
        let warps = if unit == Unit::Warp { mask } else { 0 };
        Cube { lanes, warps, ones: self.reverse }
    }

    /// Each of the tuples of a run of registers with what comes before the run.
    fn each(
        &self,
        plan: &mut Plan,
        level: usize,
        own: &[Tuple],
        before: Option<&[File]>,
    ) -> Vec<Tuple> {
        own.iter().map(|own| self.with(plan, level + 1, before, own)).collect()
    }

    /// `own` with what comes before it, which is nothing where all bits of the runs from `level` on
    /// stand where the scan starts.
    fn with(&self, plan: &mut Plan, level: usize, before: Option<&[File]>, own: &Tuple) -> Tuple {
        let Some(before) = before else { return own.clone() };
        let later = &self.axis.runs[level..];
        let bits = |unit: Unit| later.iter().filter(move |run| run.unit == unit);
        let mask = |unit: Unit| {
            bits(unit).flat_map(|run| &run.bits).fold(0, |mask, bit| mask | 1_u64 << bit)
        };
        let first = Cube { lanes: mask(Unit::Lane), warps: mask(Unit::Warp), ones: self.reverse };
        let along: usize = bits(Unit::Register).map(|run| run.bits.len()).sum();
        let registers = tuple::registers(plan, own);
        // The registers before which something comes in every thread, and the others.
        let (always, sometimes): (Vec<u32>, Vec<u32>) =
            (0..registers).partition(|&r| u64::from(r) & low_mask(along as u32) != 0);
        let mut parts = Vec::new();
        if !always.is_empty() {
            let [a, b] = [before, own].map(|tuple| tuple::rename(plan, tuple, &always));
            parts.push(tuple::combine(plan, &a, &b, true));
        }
        let [a, b] = [before, own].map(|tuple| tuple::rename(plan, tuple, &sometimes));
        if first.lanes | first.warps == 0 {
            parts.push(b);
        } else {
            let whole = tuple::combine(plan, &a, &b, true);
            parts.push(tuple::choose(plan, &b, &whole, first));
        }
        let all = tuple::concat(plan, &parts);
        let mut source = vec![0; registers as usize];
        for (place, &register) in always.iter().chain(&sometimes).enumerate() {
            source[register as usize] = place as u32;
        }
        tuple::rename(plan, &all, &source)
    }
}

/// Scans the lowest `bits` register bits, one after the other, without the last `spared`; and the
/// totals.
fn registers(plan: &mut Plan, values: &Tuple, bits: usize, spared: u32) -> (Scanned, Tuple) {
    let count = (1_u32 << bits) - spared;
    let rest = tuple::registers(plan, values) >> bits;
    let mut all: Vec<Tuple> = Vec::with_capacity(count as usize);
    for number in 0..count {
        let source: Vec<u32> = (0..rest).map(|r| number + (r << bits)).collect();
        let own = tuple::rename(plan, values, &source);
        let sum = match all.last() {
            Some(before) => tuple::combine(plan, before, &own, true),
            None => own,
        };
        all.push(sum);
    }
    let totals = all.last().cloned().unwrap_or_default();
    (Scanned::Registers(all), totals)
}

/// Tuples of a run of registers as one tuple, the run lowest.
fn interleaved(plan: &mut Plan, tuples: &[Tuple]) -> Tuple {
    let count = tuples.len() as u32;
    let each = tuples.first().map_or(0, |tuple| tuple::registers(plan, tuple));
    let all = tuple::concat(plan, tuples);
    let source = (0..each).flat_map(|r| (0..count).map(move |number| number * each + r));
    tuple::rename(plan, &all, &source.collect::<Vec<u32>>())
}
