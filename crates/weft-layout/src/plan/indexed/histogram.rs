//! Histograms: how often each number occurs.
//!
//! One word of shared memory for each number is set to zero; every element that is no copy adds one to
//! that of its number, and every place of the result loads its own.
//! Lanes that meet in one word wait for each other. Where there are fewer numbers than banks, lanes
//! count in several rows of words, one for each value of some of their bits, which lie in different
//! banks; the rows are added when they are loaded. How many rows, the price says.

use alloc::{vec, vec::Vec};

use crate::plan::{
    PlanError, Task,
    buffer::sides::{Elements, StoringSide},
    check_layout, priced, stored_bits,
    writing::builder::permute,
    writing::sequel::check_scratch,
};
use crate::{
    f2::Echelon,
    layout::Layout,
    machine::Machine,
    space::{BLOCK, LANE, REGISTER, WARP},
    step::{
        Access, Acting, Count, DataMap, File, FileType, Form, Group, Kind, Plan, Scope, Step,
        Strategy, combine,
    },
    witness,
};

/// The bytes of a counter.
const COUNTER: u64 = 4;

/// A plan that counts how often each number occurs in a tensor: `result` is a layout of the counts,
/// words of 32 bits, in row-major order of the numbers from 0 on.
///
/// The plan's inputs are the tensor in layout `source`, unsigned numbers of `element_bits` bits (1 to
/// 64), and, if it is `masked`, bytes in the same layout: a number whose byte is zero is not counted.
/// Numbers beyond the result's are not counted either.
/// The witness has followed the plan for several distributions of numbers.
///
/// Fails when the layouts do not fit the machine or each other, when the tensor lies in several blocks,
/// and when the counts do not fit into shared memory.
///
/// ```
/// use weft_layout::{Machine, family::Blocked, plan, step::Strategy};
///
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// let source = Blocked::new(&[4], &[32], &[4], &[0]).layout(&[2048])?;
/// let result = Blocked::new(&[1], &[32], &[4], &[0]).layout(&[256])?;
/// let plan = plan::histogram(&source, &result, 32, false, machine)?;
/// assert_eq!(plan.strategy, Strategy::Histogram);
/// assert_eq!(plan.scratch_bytes, 1024);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn histogram(
    source: &Layout,
    result: &Layout,
    element_bits: u32,
    masked: bool,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    Task::Histogram { source, result, element_bits, masked }.plan(machine)
}

/// The cheapest histogram, not yet followed.
pub(in crate::plan) fn choose(
    source: &Layout,
    result: &Layout,
    element_bits: u32,
    masked: bool,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    check_layout(source, machine)?;
    check_layout(result, machine)?;
    let warps = (source.in_bits(WARP), result.in_bits(WARP));
    if warps.0 != warps.1 {
        return Err(PlanError::Warps(warps.0, warps.1));
    }
    if let Some(bit) = source.columns(BLOCK).iter().position(|&column| column != 0) {
        return Err(PlanError::CrossesBlocks { label: BLOCK, bit: bit as u32 });
    }
    let bits = stored_bits(element_bits)?;
    let mut best: Option<Plan> = None;
    let writer = StoringSide::of(&Elements::of(source).side(source));
    for rows_log2 in 0..=machine.lanes_log2 {
        let histogram = Histogram { source, result, writer: &writer, rows_log2 };
        let plan = histogram.write(bits, masked, machine);
        if check_scratch(&plan, machine).is_err() && best.is_some() {
            break;
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

/// Has the witness follow a histogram where all elements are different (as far as there are as many numbers), all the
/// same, and at random, some of them beyond the result's and masked.
pub(in crate::plan) fn followed(
    plan: &Plan,
    source: &Layout,
    result: &Layout,
) -> Result<(), PlanError> {
    let count = 1_u64.checked_shl(result.outs().total_bits()).ok_or(PlanError::TooLarge)?;
    let width = plan.file(File(0)).element_bits;
    let most = u64::MAX.checked_shr(64 - width).unwrap_or(u64::MAX);
    let mixed = |element: u64| {
        let mixed = (element + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    };
    let follow = |number: &dyn Fn(u64) -> u64, mask: &dyn Fn(u64) -> bool| {
        let number = |element| number(element).min(most);
        witness::histogram(plan, source, result, number, mask).map_err(PlanError::from)
    };
    follow(&|element| element % count, &|_| true)?;
    follow(&|_| count - 1, &|element| element % 3 != 0)?;
    follow(&|element| mixed(element) % (count + count / 2 + 1), &|element| {
        mixed(element) >> 63 == 0
    })
}

struct Histogram<'a> {
    source: &'a Layout,
    result: &'a Layout,
    /// Which registers and threads hold each element first.
    writer: &'a StoringSide,
    /// The logarithm of the rows of counters.
    rows_log2: u32,
}

impl Histogram<'_> {
    /// The logarithm of the counters.
    fn counters_log2(&self) -> u32 {
        self.result.outs().total_bits() + self.rows_log2
    }

    fn write(&self, bits: u32, masked: bool, machine: &Machine) -> Plan {
        let registers = 1 << self.source.in_bits(REGISTER);
        let mut types = vec![FileType { registers, element_bits: bits }];
        types.extend(masked.then_some(FileType { registers, element_bits: 8 }));
        let mut plan = Plan::new(&types, self.source.in_bits(LANE), self.source.in_bits(WARP));
        plan.strategy = Strategy::Histogram;
        plan.scratch_bytes = COUNTER.checked_shl(self.counters_log2()).unwrap_or(u64::MAX);
        let scope = if plan.warp_bits == 0 { Scope::Warp } else { Scope::Block };
        self.clear(&mut plan, machine);
        plan.steps.push(Step::Barrier(scope));
        self.count(&mut plan, masked);
        plan.steps.push(Step::Barrier(scope));
        let rows = self.load(&mut plan, machine);
        let sum = self.added(&mut plan, rows);
        plan.outputs = vec![sum];
        plan
    }

    /// The logarithm of the most counters that one access moves.
    fn widest(machine: &Machine) -> u32 {
        (u64::from(machine.shared_vector_bytes) / COUNTER).max(1).ilog2()
    }

    /// Sets every counter to zero: neighbours by one access, then by the lanes, then by the warps.
    fn clear(&self, plan: &mut Plan, machine: &Machine) {
        let all = self.counters_log2();
        let mut start = all.min(Self::widest(machine));
        let vector = 1_u32 << start;
        let mut acting = Acting::ALL;
        let mut thread = |bits: u32, idle: &mut u64| -> Vec<u64> {
            let column = |bit: u32| {
                if start < all {
                    start += 1;
                    COUNTER << (start - 1)
                } else {
                    *idle |= 1 << bit;
                    0
                }
            };
            (0..bits).map(column).collect()
        };
        let lane = thread(plan.lane_bits, &mut acting.idle_lanes);
        let warp = thread(plan.warp_bits, &mut acting.idle_warps);
        let file = plan.add_file(vector, 32);
        plan.steps.push(Step::Zero { to: file });
        let group = |index: u64| Group {
            registers: (0..vector).collect(),
            address: index * (COUNTER << start),
        };
        let groups = (0..1_u64 << (all - start)).map(group).collect();
        let (kind, form) = (Kind::Store, Form::Vector);
        plan.steps.push(Step::Access(Access { kind, form, file, groups, lane, warp, acting }));
    }

    /// Counts every element once, each in the row of its lane.
    fn count(&self, plan: &mut Plan, masked: bool) {
        let numbers = self.writer.numbers();
        let own = (0..1_u64 << numbers.len()).map(|index| combine(numbers, index) as u32);
        let own: Vec<u32> = own.collect();
        let map = DataMap {
            data: (0..self.result.outs().total_bits())
                .map(|bit| COUNTER << (bit + self.rows_log2))
                .collect(),
            lane: (0..plan.lane_bits)
                .map(|bit| if bit < self.rows_log2 { COUNTER << bit } else { 0 })
                .collect(),
            warp: vec![0; plan.warp_bits as usize],
            xor: vec![0; own.len()],
        };
        let count = Count {
            numbers: permute(plan, File(0), own.clone()),
            mask: masked.then(|| permute(plan, File(1), own)),
            below: 1_u64.checked_shl(self.result.outs().total_bits()).unwrap_or(u64::MAX),
            map,
            acting: self.writer.acting,
        };
        plan.steps.push(Step::Count(count));
    }

    /// Loads the counters of each place, row after row.
    fn load(&self, plan: &mut Plan, machine: &Machine) -> File {
        let address = |column: &u64| COUNTER.checked_shl(self.rows_log2).unwrap_or(0) * column;
        let columns = |label| self.result.columns(label).iter().map(address).collect::<Vec<u64>>();
        let registers = columns(REGISTER);
        // What each bit of a register of the file that is loaded adds to the address.
        let rows = (0..self.rows_log2).map(|bit| COUNTER << bit);
        let all: Vec<u64> = registers.iter().copied().chain(rows).collect();
        let (lane, warp) = (columns(LANE), columns(WARP));
        // Registers that walk neighbouring counters, which nothing else does.
        let mut vector = Vec::new();
        for place in 0..Self::widest(machine) {
            let own = COUNTER << place;
            let moving = lane.iter().chain(&warp).chain(&all).filter(|&column| column & own != 0);
            match (moving.count(), all.iter().position(|&column| column == own)) {
                (1, Some(bit)) => vector.push(1_u64 << bit),
                _ => break,
            }
        }
        let mut echelon = Echelon::of(vector.iter().copied());
        let others: Vec<u64> =
            (0..all.len()).map(|bit| 1 << bit).filter(|&bit| echelon.grows(bit)).collect();
        let group = |index: u64| {
            let start = combine(&others, index);
            let inside = 0..1_u64 << vector.len();
            Group {
                registers: inside.map(|place| (start | combine(&vector, place)) as u32).collect(),
                address: combine(&all, start),
            }
        };
        let groups = (0..1_u64 << others.len()).map(group).collect();
        let file = plan.add_file(1 << all.len(), 32);
        let (kind, form, acting) = (Kind::Load, Form::Vector, Acting::ALL);
        plan.steps.push(Step::Access(Access { kind, form, file, groups, lane, warp, acting }));
        file
    }

    /// The sum of the rows.
    fn added(&self, plan: &mut Plan, mut file: File) -> File {
        for _ in 0..self.rows_log2 {
            let half = plan.file(file).registers / 2;
            let a = permute(plan, file, (0..half).collect());
            let b = permute(plan, file, (half..2 * half).collect());
            let to = plan.add_file(half, 32);
            plan.steps.push(Step::Add { a, b, to });
            file = to;
        }
        file
    }
}
