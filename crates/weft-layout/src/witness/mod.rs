//! The independent check of a plan: run its steps on names instead of numbers.
//!
//! Each element of the source tensor is a letter.
//! Every place of the source layout is filled with the letter of its element, the steps are run for
//! all lanes and warps, and at the end every place of the target layout must hold its own letter
//! (after a reduction: a word with exactly the letters of its fibre).
//! Registers and scratch memory hold parts of letters, so that torn and misplaced values are seen
//! whatever the width; two threads that touch one byte, one of them writing, need a barrier between them.
//!
//! Two checks do this.
//! The *replay* follows every place of every thread, and names the first one that is wrong.
//! The check on *basis vectors* follows affine functions of the thread instead: steps are affine, so
//! that it is as complete and takes microseconds; what has no such form is left to the replay.
//!
//! This module shares no code with [`plan`](crate::plan): it knows what steps mean, not why they
//! were chosen.

mod bases;
mod error;
mod memory;
mod replay;
mod trace;
mod words;

use alloc::{vec, vec::Vec};

pub use error::{Found, Place, WitnessError};
use memory::Time;
use replay::{Counted, Replay};
pub use trace::{Piece, Touch, Trace};

use crate::{
    f2::{Matrix, low_mask},
    layout::Layout,
    space::{BLOCK, LANE, Label, OFFSET, REGISTER, WARP},
    step::{File, FileType, Plan, Step},
};

/// The logarithm of the most register values, and memory cells, that are followed.
const MAX_PLACES_LOG2: u32 = 24;

/// Checks that `plan` turns every operand from layout `from` into layout `to`, by replaying every
/// place of every thread.
pub fn conversion(plan: &Plan, from: &Layout, to: &Layout) -> Result<(), WitnessError> {
    let (source, target) = conversion_places(plan, from, to)?;
    let operands = plan.inputs.len() as u64;
    let mut replay = Replay::new(plan, from.outs().total_bits())?;
    replay.fill_inputs(&source)?;
    replay.run()?;
    replay.each_output(&target, |_, operand, place, element, tag| {
        if tag == Ok(element * operands + operand as u64) {
            return Ok(());
        }
        let found = Found::of(tag, operands, 1 << from.outs().total_bits());
        Err(WitnessError::Wrong { operand, place, expected: element, found })
    })
}

/// Checks what [`conversion`] checks, on basis vectors.
///
/// Steps that are no affine functions of the thread are replayed; so is whatever is wrong, so that
/// the errors are the same.
pub fn conversion_by_bases(plan: &Plan, from: &Layout, to: &Layout) -> Result<(), WitnessError> {
    if conversion_is_shown(plan, from, to)? { Ok(()) } else { conversion(plan, from, to) }
}

/// Whether basis vectors suffice to accept a conversion.
pub(crate) fn conversion_is_shown(
    plan: &Plan,
    from: &Layout,
    to: &Layout,
) -> Result<bool, WitnessError> {
    let (source, target) = conversion_places(plan, from, to)?;
    Ok(bases::conversion(plan, from.outs().total_bits(), &source, &target).is_some())
}

fn conversion_places(
    plan: &Plan,
    from: &Layout,
    to: &Layout,
) -> Result<(Places, Places), WitnessError> {
    if from.outs() != to.outs() {
        return Err(WitnessError::Layouts("they hold different tensors"));
    }
    let places = (Places::of(from, plan)?, Places::of(to, plan)?);
    check_blocks(from, to)?;
    Ok(places)
}

/// Checks that `plan` reduces operands in layout `from` along axis `dim` into layout `to`: every
/// place of `to` holds each element of its fibre exactly once (in increasing order when the
/// operator is ordered). Every place of every thread is replayed.
pub fn reduction(plan: &Plan, from: &Layout, dim: usize, to: &Layout) -> Result<(), WitnessError> {
    let (source, target) = reduction_places(plan, from, dim, to)?;
    let projection = projection(from, dim)?;
    let fibre_bits = from.outs().total_bits() - to.outs().total_bits();
    let operands = plan.inputs.len() as u64;
    let mut replay = Replay::new(plan, from.outs().total_bits())?;
    replay.fill_inputs(&source)?;
    replay.run()?;
    let mut reader = words::Reader::new(1 << from.outs().total_bits());
    replay.each_output(&target, |words, operand, place, element, tag| {
        let found = || Found::of(tag, operands, 1 << from.outs().total_bits());
        let wrong = |found| Err(WitnessError::Wrong { operand, place, expected: element, found });
        let word = match tag {
            Ok(tag) if tag % operands == operand as u64 => tag / operands,
            _ => return wrong(found()),
        };
        let fits = reader
            .is_fibre(words, word, 1 << fibre_bits, element, |letter| projection.apply(letter));
        if !fits {
            return wrong(found());
        }
        Ok(())
    })
}

/// Checks what [`reduction`] checks, on basis vectors, as [`conversion_by_bases`] does.
pub fn reduction_by_bases(
    plan: &Plan,
    from: &Layout,
    dim: usize,
    to: &Layout,
) -> Result<(), WitnessError> {
    if reduction_is_shown(plan, from, dim, to)? { Ok(()) } else { reduction(plan, from, dim, to) }
}

/// Whether basis vectors suffice to accept a reduction.
pub(crate) fn reduction_is_shown(
    plan: &Plan,
    from: &Layout,
    dim: usize,
    to: &Layout,
) -> Result<bool, WitnessError> {
    let (source, target) = reduction_places(plan, from, dim, to)?;
    let projection = projection(from, dim)?;
    let bits = from.outs().total_bits();
    let fibre_bits = bits.saturating_sub(to.outs().total_bits());
    Ok(bases::reduction(plan, bits, &source, &target, &projection, fibre_bits).is_some())
}

/// Checks that `plan` scans operands in layout `layout` along axis `dim` and leaves the result in the
/// same layout: every place holds the elements of its fibre up to its own, each exactly once and in
/// order, from the first one on, or in `reverse` from the last one down.
///
/// Order counts, so that a plan with a combination that is not ordered is refused.
/// Every place of every thread is replayed.
pub fn scan(plan: &Plan, layout: &Layout, dim: usize, reverse: bool) -> Result<(), WitnessError> {
    let projection = projection(layout, dim)?;
    let places = Places::of(layout, plan)?;
    let unordered = |step: &Step| matches!(step, Step::Combine { ordered: false, .. });
    if let Some(step) = plan.steps.iter().position(unordered) {
        let what = "combines in any order, but a scan has one";
        return Err(WitnessError::Malformed { step, what });
    }
    let label = Label::dim(dim as u32);
    let last = low_mask(layout.outs().bits(label));
    let count = |element: u64| {
        let place = layout.outs().coordinate(label, element);
        if reverse { last ^ place } else { place }
    };
    let operands = plan.inputs.len() as u64;
    let bits = layout.outs().total_bits();
    let mut replay = Replay::new(plan, bits)?;
    replay.fill_inputs(&places)?;
    replay.run()?;
    let letter = |letter: u64| (projection.apply(letter), count(letter));
    let intervals = words::Intervals::of(replay.words(), letter);
    replay.each_output(&places, |_, operand, place, element, tag| {
        let (fibre, end) = letter(element);
        let word = tag.ok().filter(|tag| tag % operands == operand as u64);
        let found = word.and_then(|tag| intervals.get(tag / operands));
        if found == Some(words::Interval { fibre, start: 0, end }) {
            return Ok(());
        }
        let found = Found::of(tag, operands, 1 << bits);
        Err(WitnessError::Wrong { operand, place, expected: element, found })
    })
}

/// Checks that `plan`, whose inputs are a tensor in layout `source` and indices in layout `result`,
/// leaves in every place of `result` the element of `source` at the same coordinates, except that
/// along axis `dim` it stands at the place's index: `index` gives that for each element of `result`.
///
/// Every place of every thread is replayed, for these indices.
pub fn gather(
    plan: &Plan,
    source: &Layout,
    result: &Layout,
    dim: usize,
    index: impl Fn(u64) -> u64,
) -> Result<(), WitnessError> {
    let (&[_, indices], [_]) = (&plan.inputs[..], &plan.outputs[..]) else {
        return Err(WitnessError::Layouts("a gather takes a tensor and its indices"));
    };
    let label = Label::dim(dim as u32);
    let (outs, taken) = (source.outs(), result.outs());
    let same = |other: Label| other == label || outs.bits(other) == taken.bits(other);
    if !outs.contains(label) || outs.axes().len() != taken.axes().len() || !outs.labels().all(same)
    {
        return Err(WitnessError::Layouts("they differ in more than the axis of the gather"));
    }
    let (from, to) = (Places::of(source, plan)?, Places::of(result, plan)?);
    let moved = |element: u64| -> u64 {
        let labels = outs.labels().map(|other| {
            let at = if other == label { index(element) } else { taken.coordinate(other, element) };
            at << outs.offset_of(other).unwrap_or(0)
        });
        labels.fold(0, |sum, part| sum | part)
    };
    let mut replay = Replay::new(plan, outs.total_bits())?;
    replay.fill(&from, 1)?;
    replay.fill_numbers(indices, &to, &index)?;
    replay.run()?;
    replay.each_result(&to, |_, operand, place, element, tag| {
        let expected = moved(element);
        if tag == Ok(expected) {
            return Ok(());
        }
        let found = Found::of(tag, 1, 1 << outs.total_bits());
        Err(WitnessError::Wrong { operand, place, expected, found })
    })
}

/// Checks that `plan` counts how often each number occurs, of those for which `mask` holds if the plan
/// has one: its inputs are numbers, and maybe a mask, in layout `source`; every place of `result` has
/// how often its own number occurs. `number` and `mask` give those of each element of `source`.
///
/// Elements count as weights instead of ones, so that one that is left out, counted twice or counted
/// elsewhere changes a sum. Every place of every thread is replayed, for these numbers.
pub fn histogram(
    plan: &Plan,
    source: &Layout,
    result: &Layout,
    number: impl Fn(u64) -> u64,
    mask: impl Fn(u64) -> bool,
) -> Result<(), WitnessError> {
    let (numbers, masks) = match plan.inputs[..] {
        [numbers] => (numbers, None),
        [numbers, mask] => (numbers, Some(mask)),
        _ => return Err(WitnessError::Layouts("a histogram takes numbers and maybe a mask")),
    };
    let &[output] = &plan.outputs[..] else {
        return Err(WitnessError::Layouts("a histogram has one result"));
    };
    let (from, to) = (Places::of(source, plan)?, Places::of(result, plan)?);
    let bits = source.outs().total_bits();
    let mut replay = Replay::new(plan, bits)?;
    let elements = 0..1_u64 << bits;
    replay.start_counting(Counted {
        numbers: elements.clone().map(&number).collect(),
        mask: elements.clone().map(&mask).collect(),
    });
    replay.fill_numbers(numbers, &from, |element| element)?;
    if let Some(masks) = masks {
        replay.fill_numbers(masks, &from, |element| element)?;
    }
    replay.run()?;
    let mut sums = vec![0; 1 << result.outs().total_bits()];
    for element in elements.filter(|&element| masks.is_none() || mask(element)) {
        let bin = usize::try_from(number(element)).unwrap_or(usize::MAX);
        if let Some(sum) = sums.get_mut(bin) {
            *sum = replay::sum(*sum, replay::weight(element));
        }
    }
    replay.each_place(output, &to, |place, element, tag| {
        let expected = sums.get(element as usize).copied();
        match tag {
            Ok(found) if Some(found) == expected => Ok(()),
            Ok(_) => Err(WitnessError::Miscounted { place, number: element }),
            Err(found) => Err(WitnessError::Wrong { operand: 0, place, expected: element, found }),
        }
    })
}

fn reduction_places(
    plan: &Plan,
    from: &Layout,
    dim: usize,
    to: &Layout,
) -> Result<(Places, Places), WitnessError> {
    let sliced = from.slice(dim).map_err(WitnessError::Layout)?;
    if sliced.outs() != to.outs() {
        return Err(WitnessError::Layouts("the target is not the source without the axis"));
    }
    let places = (Places::of(from, plan)?, Places::of(to, plan)?);
    check_blocks(&sliced, to)?;
    Ok(places)
}

/// Refuses plans and tensors that have too many places to follow.
pub(crate) fn check_size(plan: &Plan, element_bits: u32) -> Result<(), WitnessError> {
    let threads = plan.lane_bits.saturating_add(plan.warp_bits);
    let registers: u64 = plan.files.iter().map(|ty| u64::from(ty.registers)).sum();
    let most = 1_u64 << MAX_PLACES_LOG2;
    if threads > 16 || element_bits > MAX_PLACES_LOG2 || registers > most >> threads {
        return Err(WitnessError::TooLarge);
    }
    Ok(())
}

/// The bytes that no step tears apart: one where single bytes are moved, else the width of the
/// narrowest file, or of what an instruction deals to one lane.
fn granule(plan: &Plan) -> u64 {
    let torn = plan.steps.iter().filter_map(|step| match step {
        Step::Bytes { .. } => Some(1),
        Step::Access(access) => access.form.unit(),
        _ => None,
    });
    let bytes = plan.files.iter().map(|ty| u64::from(ty.element_bits / 8));
    bytes.chain(torn).min().unwrap_or(1).max(1)
}

/// The granules of a register; `None` when its width is no multiple of a granule, or not 1, 2, 4 or
/// 8 bytes.
fn parts(ty: FileType, granule: u64) -> Option<u64> {
    let bytes = u64::from(ty.element_bits / 8);
    (ty.element_bits.is_multiple_of(8) && bytes.is_power_of_two() && bytes <= 8)
        .then_some(bytes / granule.max(1))
        .filter(|&parts| parts * granule == bytes)
}

/// The granule of `parts` that each byte of a pair of registers is; none beyond a narrow one.
///
/// Byte `i` of the pair is byte `i % 4` of its half.
fn byte_of_pair(index: u64, a: FileType, b: FileType) -> Option<u64> {
    let ty = if index < 4 { a } else { b };
    Some(index % 4).filter(|&byte| byte < u64::from(ty.element_bits / 8))
}

/// The map from the elements of a tensor to those of the tensor without axis `dim`.
fn projection(layout: &Layout, dim: usize) -> Result<Matrix, WitnessError> {
    let elements = Layout::identity(layout.outs().total_bits(), OFFSET, OFFSET)
        .and_then(|identity| identity.reshape_outs(layout.outs().clone()))
        .and_then(|identity| identity.slice(dim));
    Ok(*elements.map_err(WitnessError::Layout)?.matrix())
}

/// Blocks run the same steps without seeing each other, so that both layouts must agree on what
/// the block adds; then the check for block 0 covers all.
fn check_blocks(from: &Layout, to: &Layout) -> Result<(), WitnessError> {
    let bits = from.in_bits(BLOCK).max(to.in_bits(BLOCK));
    match (0..bits).find(|&bit| from.basis(BLOCK, bit) != to.basis(BLOCK, bit)) {
        Some(bit) => Err(WitnessError::CrossesBlocks { bit }),
        None => Ok(()),
    }
}

/// The element at each place of a distributed layout, as columns.
struct Places {
    register: Vec<u64>,
    lane: Vec<u64>,
    warp: Vec<u64>,
}

impl Places {
    fn of(layout: &Layout, plan: &Plan) -> Result<Places, WitnessError> {
        let known = |label: Label| [REGISTER, LANE, WARP, BLOCK].contains(&label);
        if !layout.ins().labels().all(known) {
            return Err(WitnessError::Layouts("an input is no register, lane, warp or block"));
        }
        if layout.in_bits(LANE) != plan.lane_bits || layout.in_bits(WARP) != plan.warp_bits {
            return Err(WitnessError::Layouts("they have other lanes or warps than the plan"));
        }
        let columns = |label| layout.columns(label).to_vec();
        Ok(Places { register: columns(REGISTER), lane: columns(LANE), warp: columns(WARP) })
    }

    /// The columns of all thread bits, lanes lowest.
    fn thread_columns(&self) -> Vec<u64> {
        self.lane.iter().chain(&self.warp).copied().collect()
    }

    /// Checks that a file has a register for each of the layout.
    fn check(&self, plan: &Plan, file: File) -> Result<(), WitnessError> {
        let registers = plan.files.get(file.index()).map(|ty| u64::from(ty.registers));
        if registers == 1_u64.checked_shl(self.register.len() as u32) {
            Ok(())
        } else {
            Err(WitnessError::Layouts("a file has other registers than its layout"))
        }
    }
}
