//! Gathers: elements taken by index along one axis.
//!
//! `B · X = A` says where each element of the result lies in the source, as a function of the place
//! and of the index; it is affine over F₂, so that a few shifts and masks of the index compute it.
//!
//! Where no index leads to another warp, lanes exchange: for each register that an index may name
//! one exchange from the lane that it names, and a tree of selects by the bits of the index picks one
//! of them. When the lane does not depend on the index, what may be asked for is exchanged once.
//! Otherwise, and where there are many such registers, every element is stored once and loaded by
//! index. The cheaper of the two is kept; loads by index are priced as loads from random banks.
//!
//! Where shared memory cannot hold the tensor it does so in rounds. Best the round depends on the
//! register of the result alone, so that each is loaded in one of them; otherwise all are loaded in
//! every round, and the index picks.

use alloc::{vec, vec::Vec};

use crate::plan::{
    PlanError, Task, better,
    buffer::sides::{Elements, StoringSide},
    buffer::ways::{Actor, Way},
    check_blocks, check_layout,
    convert::rounds::{Cut, Part},
    priced, stored_bits,
    swizzle::{Preference, Side, swizzle},
    writing::builder::{concat, permute},
    writing::sequel::check_scratch,
};
use crate::{
    access::widest_shared_log2,
    f2::{Echelon, low_mask},
    layout::{Layout, LayoutError},
    machine::{Kind, Machine},
    space::{BLOCK, LANE, Label, OFFSET, REGISTER, Space, WARP},
    step::{DataMap, File, FileType, LaneMap, Plan, Scope, Step, Strategy, combine},
    witness,
};

/// The index of an element while `A` is solved: an axis that no distributed layout has.
const INDEX: Label = OFFSET;

/// The axes of a place of the result, in the order of their bits.
const PLACE: [Label; 4] = [REGISTER, LANE, WARP, BLOCK];

/// A plan that takes elements of a tensor by index: at each place of `result` the element of `source`
/// at the same coordinates, except that along axis `dim` it stands at the place's index.
///
/// The plan's inputs are the tensor, with elements of `element_bits` bits, and the indices, unsigned
/// numbers of `index_bits` bits in the layout `result`; both have 1 to 64 bits. The axis may have
/// another size in `result`. Indices beyond the axis take any element.
/// The witness has followed the plan for every index, or for many where the axis is long.
///
/// Fails when the layouts do not fit the machine or each other, when an index leads to another block,
/// and when it leads to another warp and threads alone tell more elements apart than shared memory holds.
///
/// ```
/// use weft_layout::{Machine, family::Blocked, plan, step::Strategy};
///
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// let rows = Blocked::new(&[1, 1], &[1, 32], &[4, 1], &[1, 0]);
/// let short = rows.layout(&[32, 32])?;
/// let plan = plan::gather(&short, &short, 1, 32, 32, machine)?;
/// assert_eq!(plan.strategy, Strategy::GatherShuffles);
/// let long = rows.layout(&[32, 1024])?;
/// let plan = plan::gather(&long, &long, 1, 32, 32, machine)?;
/// assert_eq!(plan.strategy, Strategy::GatherMemory);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gather(
    source: &Layout,
    result: &Layout,
    dim: usize,
    element_bits: u32,
    index_bits: u32,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    Task::Gather { source, result, dim, element_bits, index_bits }.plan(machine)
}

/// The cheapest gather, not yet followed; `bits` are those of an element and of an index.
pub(in crate::plan) fn choose(
    source: &Layout,
    result: &Layout,
    dim: usize,
    bits: (u32, u32),
    machine: &Machine,
) -> Result<Plan, PlanError> {
    check_layout(source, machine)?;
    check_layout(result, machine)?;
    let warps = (source.in_bits(WARP), result.in_bits(WARP));
    if warps.0 != warps.1 {
        return Err(PlanError::Warps(warps.0, warps.1));
    }
    // Says whether there is such an axis.
    source.slice(dim)?;
    let label = Label::dim(dim as u32);
    let wanted = wanted(source, result, label)?;
    let found = wanted.solve(source)?;
    check_blocks(&found)?;
    let bits = (stored_bits(bits.0)?, stored_bits(bits.1)?);
    let gather = Gather { source, wanted: &wanted, found: &found, bits };
    let through = gather.through_memory(machine).and_then(|plan| priced(plan, machine));
    let best = match gather.by_shuffles().map(|plan| priced(plan, machine)) {
        Some(shuffles) => better(shuffles, through),
        None => through,
    };
    let plan = best?;
    check_scratch(&plan, machine)?;
    Ok(plan)
}

/// The element of `source` for each index and place of `result`, with the index lowest.
fn wanted(source: &Layout, result: &Layout, label: Label) -> Result<Layout, PlanError> {
    let (outs, taken) = (source.outs(), result.outs());
    let same = |other: Label| other == label || outs.bits(other) == taken.bits(other);
    if outs.axes().len() != taken.axes().len() || !outs.labels().all(same) {
        return Err(PlanError::Indices);
    }
    let place = |column: &u64| {
        let others = outs.labels().filter(|&other| other != label);
        others.fold(0, |sum, other| {
            let start = outs.offset_of(other).unwrap_or(0);
            sum | taken.coordinate(other, *column).checked_shl(start).unwrap_or(0)
        })
    };
    let start = outs.offset_of(label).unwrap_or(0);
    let mut axes = vec![(INDEX, outs.bits(label))];
    let mut columns: Vec<u64> = (0..outs.bits(label)).map(|bit| 1 << (start + bit)).collect();
    for axis in PLACE {
        axes.push((axis, result.in_bits(axis)));
        columns.extend(result.columns(axis).iter().map(place));
    }
    let ins = Space::new(&axes).map_err(LayoutError::from)?;
    Ok(Layout::new(ins, outs.clone(), &columns)?)
}

/// Has the witness follow a gather for every index, or for enough of them: an affine function is known from zero
/// and the powers of two, and a tree of selects from random ones.
pub(in crate::plan) fn followed(
    plan: &Plan,
    source: &Layout,
    result: &Layout,
    dim: usize,
) -> Result<(), PlanError> {
    let bits = source.out_bits(Label::dim(dim as u32));
    let mask = low_mask(bits);
    let follow = |index: &dyn Fn(u64) -> u64| {
        witness::gather(plan, source, result, dim, index).map_err(PlanError::from)
    };
    if bits <= EXHAUSTIVE_LOG2 {
        return (0..=mask).try_for_each(|start| follow(&|element| (element ^ start) & mask));
    }
    let powers = core::iter::once(0).chain((0..bits).map(|bit| 1 << bit));
    for (round, power) in powers.enumerate() {
        follow(&|_| power)?;
        let mixed = |element: u64| {
            let mixed = (element ^ (round as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed >> 40) & mask
        };
        follow(&mixed)?;
    }
    Ok(())
}

/// The logarithm of the longest axis each index of which is followed in each place.
const EXHAUSTIVE_LOG2: u32 = 4;

struct Gather<'a> {
    source: &'a Layout,
    /// The element for each index and place.
    wanted: &'a Layout,
    /// Where it lies in the source.
    found: &'a Layout,
    /// The bits that elements and indices take.
    bits: (u32, u32),
}

impl Gather<'_> {
    fn start(&self, strategy: Strategy) -> Plan {
        let registers = |layout: &Layout| 1 << layout.in_bits(REGISTER);
        let source = FileType { registers: registers(self.source), element_bits: self.bits.0 };
        let indices = FileType { registers: registers(self.wanted), element_bits: self.bits.1 };
        let mut plan =
            Plan::new(&[source, indices], self.wanted.in_bits(LANE), self.wanted.in_bits(WARP));
        plan.strategy = strategy;
        plan
    }

    /// What the bits of an axis contribute to part `part` of the place in the source.
    fn columns(&self, axis: Label, part: Label) -> Vec<u64> {
        let outs = self.found.outs();
        self.found.columns(axis).iter().map(|&column| outs.coordinate(part, column)).collect()
    }

    /// Exchanges within the warp, if no index leads out of it.
    fn by_shuffles(&self) -> Option<Plan> {
        let stays = |axis: Label| {
            let own = |bit: u32| if axis == WARP { 1 << bit } else { 0 };
            let mut columns = (0..).zip(self.columns(axis, WARP));
            columns.all(|(bit, column)| column == own(bit))
        };
        if ![INDEX, REGISTER, LANE, WARP].into_iter().all(stays) {
            return None;
        }
        let mut plan = self.start(Strategy::GatherShuffles);
        let registers = self.registers();
        let count = 1_u64 << self.wanted.in_bits(REGISTER);
        let places = |part: Label| -> Vec<u64> {
            let columns = self.columns(REGISTER, part);
            (0..count).map(|register| combine(&columns, register)).collect()
        };
        // Which registers each register of the result may ask for.
        let starts = places(REGISTER);
        let reached: Vec<u64> = registers.vectors().collect();
        let lanes = self.lanes(&mut plan, places(LANE));
        let mut files: Vec<File> = Vec::with_capacity(1 << reached.len());
        for number in 0..1_u64 << reached.len() {
            let shift = combine(&reached, number);
            let source = starts.iter().map(|start| (start ^ shift) as u32).collect();
            let file = permute(&mut plan, lanes.source, source);
            files.push(match lanes.by_index {
                None => file,
                Some(lane) => {
                    let to = plan.add_file(count as u32, self.bits.0);
                    plan.steps.push(Step::Fetch { from: file, lane, to });
                    to
                }
            });
        }
        let file = self.picked(&mut plan, files, &reached);
        plan.outputs = vec![file];
        Some(plan)
    }

    /// The differences between registers that one place may ask for.
    fn registers(&self) -> Echelon {
        let varying = [INDEX, LANE, WARP].map(|axis| self.columns(axis, REGISTER));
        Echelon::of(varying.concat())
    }

    /// The tensor where its lanes are read, and the lane to read when that depends on the index.
    fn lanes(&self, plan: &mut Plan, constants: Vec<u64>) -> Lanes {
        let [data, lane, warp] = [INDEX, LANE, WARP].map(|axis| self.columns(axis, LANE));
        let moving = data.iter().chain(&constants).any(|&column| column != 0);
        if moving {
            let map = DataMap { data, lane, warp, xor: constants };
            return Lanes { source: File(0), by_index: Some(affine(plan, map)) };
        }
        let source = LaneMap { lane, warp, xor: 0 };
        if source.is_butterfly() {
            return Lanes { source: File(0), by_index: None };
        }
        let FileType { registers, element_bits } = plan.file(File(0));
        let to = plan.add_file(registers, element_bits);
        plan.steps.push(Step::Exchange { from: File(0), to, source });
        Lanes { source: to, by_index: None }
    }

    /// The one of 2^n files that index and thread ask for; file `i` holds the registers that differ
    /// by combination `i` of `reached`.
    fn picked(&self, plan: &mut Plan, files: Vec<File>, reached: &[u64]) -> File {
        if let [file] = files[..] {
            return file;
        }
        let mut numbering = Echelon::new();
        for (bit, &vector) in reached.iter().enumerate() {
            numbering.insert(vector, 1 << bit);
        }
        let [data, lane, warp] = [INDEX, LANE, WARP].map(|axis| -> Vec<u64> {
            let columns = self.columns(axis, REGISTER).into_iter();
            columns.map(|column| numbering.reduce(column, 0).1).collect()
        });
        let count = plan.file(File(1)).registers;
        let index = affine(plan, DataMap { data, lane, warp, xor: vec![0; count as usize] });
        pick(plan, files, index)
    }

    /// Stores every element once, waits, and loads by index; in rounds where shared memory cannot hold
    /// all elements at once.
    fn through_memory(&self, machine: &Machine) -> Result<Plan, PlanError> {
        let elements = Elements::of(self.source);
        let bytes_log2 = (self.bits.0 / 8).max(1).ilog2();
        let (from, to) = (elements.side(self.source), elements.side(self.wanted));
        let index = elements.columns(self.wanted.columns(INDEX));
        let available = machine.shared_bytes_per_block;
        let room = (available >> bytes_log2).max(1).ilog2();
        let excess = elements.bits.saturating_sub(room);
        let needed = 1_u64.checked_shl(elements.bits + bytes_log2).unwrap_or(u64::MAX);
        let refused = PlanError::Scratch { needed, available };
        let (cut, part) = cut(&from, &to, &index, elements.bits, excess).ok_or(refused)?;
        let writer = StoringSide::of(&part.side);
        let widest = widest_shared_log2(machine);
        let swizzle = swizzle(
            machine,
            cut.kept,
            bytes_log2,
            &writer.side,
            &writer.side,
            Preference::ALL[0],
            widest,
        )?;
        let actor = Actor {
            machine,
            kind: Kind::Store,
            side: &writer.side,
            numbers: writer.numbers(),
            acting: writer.acting,
            bytes_log2,
        };
        let moves = actor.place(Way::Vector(swizzle.store_vector), &swizzle.offsets);
        let moves = moves.ok_or(PlanError::TooLarge)?;
        let inside = |columns: &[u64]| -> Vec<u64> {
            columns.iter().map(|&column| cut.inside(column)).collect()
        };
        let reader = Side {
            registers: inside(&[&index[..], &to.registers].concat()),
            lanes: inside(&to.lanes),
            warps: inside(&to.warps),
        };
        let scope = if writer.feeds_own_warp(&reader) { Scope::Warp } else { Scope::Block };
        let mut plan = self.start(Strategy::GatherMemory);
        let address = |column: &u64| swizzle.offsets.apply(cut.inside(*column)) << bytes_log2;
        let map = function(&to, &index, address);
        let by_round = function(&to, &index, |column| cut.round(*column));
        let follows = [&by_round.data, &by_round.lane, &by_round.warp].into_iter().flatten();
        let picked = follows.copied().any(|column| column != 0);
        let addresses = affine(&mut plan, map);
        let mut found = Vec::new();
        for round in 0..cut.rounds() {
            if round > 0 {
                plan.steps.push(Step::Barrier(scope));
            }
            let stored = permute(&mut plan, File(0), part.registers(round));
            plan.steps.push(Step::Access(moves.access(stored)));
            plan.steps.push(Step::Barrier(scope));
            // Where the register alone says in which round its element comes, it waits for that.
            let comes = |register: &usize| picked || by_round.xor[*register] == round;
            let own = (0..by_round.xor.len()).filter(comes).map(|register| register as u32);
            let address = permute(&mut plan, addresses, own.collect());
            let to = plan.add_file(plan.file(address).registers, self.bits.0);
            plan.steps.push(Step::Lookup { address, to });
            found.push(to);
        }
        let file = if picked {
            let rounds = affine(&mut plan, by_round);
            pick(&mut plan, found, rounds)
        } else {
            let file = concat(&mut plan, found);
            permute(&mut plan, file, places(&by_round.xor))
        };
        plan.outputs = vec![file];
        plan.scratch_bytes = 1 << (cut.kept + bytes_log2);
        Ok(plan)
    }
}

/// Cuts the elements of a gather into rounds, the fewer of which an index chooses the better.
fn cut(from: &Side, to: &Side, index: &[u64], bits: u32, count: u32) -> Option<(Cut, Part)> {
    let own = [&from.lanes[..], &from.warps].concat();
    let followed = [index, &to.lanes, &to.warps].concat();
    [[&own[..], &followed].concat(), [&own[..], index].concat(), own.clone()].iter().find_map(
        |fixed| {
            let cut = Cut::new(&from.registers, fixed, bits, count)?;
            let part = Part::new(from, &cut)?;
            Some((cut, part))
        },
    )
}

/// A function of the element that each place and index ask for.
fn function(to: &Side, index: &[u64], of: impl Fn(&u64) -> u64) -> DataMap {
    let all = |columns: &[u64]| -> Vec<u64> { columns.iter().map(&of).collect() };
    let registers = all(&to.registers);
    DataMap {
        data: all(index),
        lane: all(&to.lanes),
        warp: all(&to.warps),
        xor: (0..1_u64 << registers.len()).map(|number| combine(&registers, number)).collect(),
    }
}

/// The numbers that a function makes of the indices.
fn affine(plan: &mut Plan, map: DataMap) -> File {
    let to = plan.add_file(map.xor.len() as u32, 32);
    plan.steps.push(Step::Affine { from: File(1), to, map });
    to
}

/// The one of 2^n files that the bits of the numbers in `index` name.
fn pick(plan: &mut Plan, mut files: Vec<File>, index: File) -> File {
    for bit in 0..files.len().max(1).ilog2() {
        let pick = |pair: &[File]| match *pair {
            [even, odd] => {
                let FileType { registers, element_bits } = plan.file(even);
                let to = plan.add_file(registers, element_bits);
                plan.steps.push(Step::Pick { even, odd, to, index, bit });
                to
            }
            _ => pair.first().copied().unwrap_or(File(0)),
        };
        files = files.chunks(2).map(pick).collect();
    }
    files.first().copied().unwrap_or(File(0))
}

/// Where each register lies when those of round 0 come first, then those of round 1, and so on.
fn places(rounds: &[u64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rounds.len() as u32).collect();
    order.sort_by_key(|&register| rounds[register as usize]);
    let mut places = vec![0; rounds.len()];
    for (place, register) in (0..).zip(order) {
        places[register as usize] = place;
    }
    places
}

/// Where the lanes of a gather read.
struct Lanes {
    source: File,
    /// The lane, when it depends on index or register.
    by_index: Option<File>,
}
