//! What values take of a thread's registers, and how many are live.

use crate::budget::Stop;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::effects::{Fence, Spaces, Step, Tokens};
use crate::lane::{Effects, Inst, InstData, Op, Program, Region, Value};
use crate::scalar::Binary;
use rustc_hash::FxHashMap;

/// The registers of a thread with which half of the warps of one of NVIDIA's multiprocessors run.
pub(crate) const HALF: u32 = 64;
/// Those that a thread is not taken to have more of: an assembler orders operations by the registers that it has.
pub(super) const LIKELY: u32 = 128;
/// The most registers that a thread of NVIDIA's GPUs has. AMD's may have more.
pub(super) const MOST: u32 = 255;
/// Of a thread's registers, what addresses, predicates and intermediate values of one operation take.
pub(super) const OTHERS: u32 = 24;

/// The registers that values may take in a thread that is to have `enough` at most, and no more than let its
/// block run.
pub(super) fn room(program: &Program, enough: u32) -> u32 {
    match program.multiprocessor {
        Some(multiprocessor) => room_of(multiprocessor.registers, program.threads(), enough),
        None => enough.saturating_sub(OTHERS),
    }
}

/// The same of a block of so many threads on a multiprocessor with so many registers.
pub(crate) fn room_of(registers: u32, threads: u32, enough: u32) -> u32 {
    share_of(registers, threads, enough).saturating_sub(OTHERS)
}

/// The registers of each thread of a block that has all of a multiprocessor's, `enough` at most.
fn share_of(registers: u32, threads: u32, enough: u32) -> u32 {
    (registers / threads.max(1) / 8 * 8).min(enough)
}

/// The registers that a thread is likely to have: those of what is live at once, and no fewer than with which half of
/// the warps run, since more of them need not. Where it is stopped, any.
pub(super) fn likely(program: &Program, stop: &Stop) -> u32 {
    live(program, stop).clamp(HALF, LIKELY)
}

/// The most registers that a thread of a program's block can have, where its machine says how many there are.
pub(crate) fn most(program: &Program) -> Option<u32> {
    program.multiprocessor.map(|all| share_of(all.registers, program.threads(), MOST))
}

/// The most registers that are live at once where loads are as late as they may be. Where it is stopped, fewer.
pub(super) fn live(program: &Program, stop: &Stop) -> u32 {
    let registers = Registers::of(program);
    let words = |value: Value| registers.words(program, value);
    peak(program, &program.body, (Loads::AtUse, Places::All), &words, stop)
}

/// The same where no order of operations takes fewer. Where it is stopped, fewer.
pub(crate) fn across(program: &Program, stop: &Stop) -> u32 {
    let registers = Registers::of(program);
    let words = |value: Value| registers.words(program, value);
    peak(program, &program.body, (Loads::AtUse, Places::Fixed), &words, stop)
}

/// Where loads are taken to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loads {
    /// At the place where they stand.
    InPlace,
    /// In front of the first operation that takes what they give, as an assembler issues them that lacks registers, but
    /// not behind one that orders memory.
    AtUse,
}

/// The places at which live registers are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Places {
    All,
    /// Around what is not moved: where threads meet or exchange words, memory is ordered, products or copies are under way,
    /// or a loop or a branch begins or ends. Between these an assembler computes numbers one after another.
    Fixed,
}

impl Places {
    fn include(self, inst: &InstData) -> bool {
        let effects = inst.op.effects();
        self == Self::All
            || !inst.regions.is_empty()
            || orders(effects)
            || effects.convergent.is_some()
            || effects.tokens != Tokens::None
    }
}

/// Whether an operation orders memory, or threads meet at it.
fn orders(effects: Effects) -> bool {
    effects.barrier().is_some() || effects.fence != Fence::None
}

/// The most registers of values that a region defines that are live at once; fewer where it is stopped.
pub(super) fn peak(
    program: &Program,
    region: &Region,
    ways: (Loads, Places),
    words: &dyn Fn(Value) -> u32,
    stop: &Stop,
) -> u32 {
    peak_of(program, region, &defined(program, region), ways, words, stop)
}

/// The same of some values, those that the region defines among them; the others are live from its beginning to where
/// they are taken last.
fn peak_of(
    program: &Program,
    region: &Region,
    own: &IdMap<Value, bool>,
    (loads, places): (Loads, Places),
    words: &dyn Fn(Value) -> u32,
    stop: &Stop,
) -> u32 {
    let taken = match loads {
        Loads::InPlace => FxHashMap::default(),
        Loads::AtUse => loaded_at(program, region),
    };
    let mut is_live: IdMap<Value, bool> = IdMap::default();
    let (mut live, mut peak) = (0, 0);
    for &id in region.insts.iter().rev() {
        if stop.is_set() {
            break;
        }
        let inst = &program.insts[id];
        let counts = places.include(inst);
        let behind = live;
        for &result in &inst.results {
            if core::mem::replace(is_live.entry(result), false) {
                live -= words(result);
            }
        }
        let mut begun = |value: Value| {
            let is_new = own[value] && !core::mem::replace(is_live.entry(value), true);
            if is_new { words(value) } else { 0 }
        };
        // Sums of products that an arm of a branch waits for are there as what the wait gives.
        let mut sums = if inst.op == Op::If { awaited(program, inst) } else { Vec::new() };
        sums.retain(|&value| own[value]);
        let of_sums: u32 = sums.iter().map(|&value| begun(value)).sum();
        // What a loop begins with is what it carries from then on.
        each_inside(program, inst, &mut |value| live += begun(value));
        let inside = live;
        live += of_sums;
        inst.operands.iter().for_each(|&value| live += begun(value));
        let inner = inst.regions.iter().map(|region| {
            let mut own = defined(program, region);
            for &value in &sums {
                own.set(value, true);
            }
            peak_of(program, region, &own, (loads, places), words, stop)
        });
        let inner = inner.max().unwrap_or(0);
        if counts {
            peak = peak.max(behind).max(inside + inner).max(live);
        }
        for &value in taken.get(&id).into_iter().flatten() {
            if core::mem::replace(is_live.entry(value), false) {
                live -= words(value);
            }
        }
    }
    let carried: u32 = region.params.iter().map(|&value| words(value)).sum();
    peak.max(carried)
}

/// The sums of products under way that an arm of a branch waits for.
fn awaited(program: &Program, branch: &InstData) -> Vec<Value> {
    let mut sums = Vec::new();
    for arm in &branch.regions {
        program.walk(arm, &mut |_, inner| {
            if let Tokens::Products(Step::Awaits { .. }) = inner.op.effects().tokens {
                sums.extend_from_slice(&inner.operands);
            }
        });
    }
    sums
}

/// The most registers that are in use at once inside a loop; fewer where it is stopped.
pub(super) fn through(program: &Program, id: Inst, loads: Loads, stop: &Stop) -> u32 {
    let known = Registers::of(program);
    let words = |value: Value| known.words(program, value);
    let inst = &program.insts[id];
    let mut inside: IdMap<Value, bool> = IdMap::default();
    let mut through: Vec<Value> = Vec::new();
    for body in &inst.regions {
        define(program, body, &mut inside);
    }
    for body in &inst.regions {
        program.walk(body, &mut |_, inner| {
            through.extend(inner.operands.iter().filter(|&&value| !inside[value]));
        });
    }
    through.sort_unstable();
    through.dedup();
    let through: u32 = through.into_iter().map(words).sum();
    let ways = (loads, Places::All);
    let own = inst.regions.iter().map(|body| peak(program, body, ways, &words, stop)).max();
    through + own.unwrap_or(0)
}

/// Marks what is defined in a region and in those inside it.
fn define(program: &Program, region: &Region, inside: &mut IdMap<Value, bool>) {
    region.params.iter().for_each(|&param| inside.set(param, true));
    program.walk(region, &mut |_, inner| {
        let params = inner.regions.iter().flat_map(|region| &region.params);
        inner.results.iter().chain(params).for_each(|&value| inside.set(value, true));
    });
}

/// What is loaded in front of each operation of a region if loads are as late as an assembler may issue them: in front of
/// the first operation that takes what they give, or of the first behind them that orders memory.
fn loaded_at(program: &Program, region: &Region) -> FxHashMap<Inst, Vec<Value>> {
    let mut taken: FxHashMap<Inst, Vec<Value>> = FxHashMap::default();
    let mut waiting: IdMap<Value, bool> = IdMap::default();
    let mut all: Vec<Value> = Vec::new();
    for &id in &region.insts {
        let inst = &program.insts[id];
        let waits = orders(inst.op.effects())
            || inst.regions.iter().any(|region| program.any_effects(region, orders));
        let mut note = |value: Value| {
            if core::mem::replace(waiting.entry(value), false) {
                taken.entry(id).or_default().push(value);
            }
        };
        if waits {
            all.drain(..).for_each(&mut note);
        } else {
            each_operand(program, id, &mut note);
        }
        let effects = inst.op.effects();
        if effects.is_removable() && effects.reads != Spaces::NONE {
            inst.results.iter().for_each(|&value| waiting.set(value, true));
            all.extend_from_slice(&inst.results);
        }
    }
    taken
}

/// Which values take no register of their own: constants, arguments and indices.
pub(super) struct Registers {
    free: IdMap<Value, bool>,
}

impl Registers {
    pub(super) fn of(program: &Program) -> Self {
        let mut free = IdMap::default();
        let own = program.insts.values().filter(|inst| inst.op.effects() == Effects::NONE);
        for &value in own.flat_map(|inst| &inst.results) {
            free.set(value, true);
        }
        Self { free }
    }

    /// The same where sums of 32 bits with a constant, such as the numbers of elements, are free as well: an assembler
    /// that lacks registers adds once more.
    pub(super) fn but_for_sums(program: &Program) -> Self {
        let mut registers = Self::of(program);
        let constant = |inst: &InstData| matches!(inst.op, Op::Const(_));
        let constants = program.insts.values().filter(|inst| constant(inst));
        let mut is_constant: IdMap<Value, bool> = IdMap::default();
        constants.flat_map(|inst| &inst.results).for_each(|&value| is_constant.set(value, true));
        for inst in program.insts.values() {
            let sums = inst.op == Op::Binary(Binary::Add)
                && inst.operands.iter().any(|&value| is_constant[value]);
            for &value in inst.results.iter().filter(|_| sums) {
                if program.dtype(value) == DType::I32 {
                    registers.free.set(value, true);
                }
            }
        }
        registers
    }

    /// How many registers a value takes: none if it is free, or a truth value.
    pub(super) fn words(&self, program: &Program, value: Value) -> u32 {
        match program.dtype(value) {
            _ if self.free[value] => 0,
            DType::I1 => 0,
            dtype => dtype.bytes().div_ceil(4),
        }
    }
}

/// Every value that an operation, or one inside it, takes.
pub(super) fn each_operand(program: &Program, id: Inst, visit: &mut dyn FnMut(Value)) {
    let inst = &program.insts[id];
    inst.operands.iter().for_each(|&value| visit(value));
    each_inside(program, inst, visit);
}

/// Every value that an operation takes inside another.
fn each_inside(program: &Program, inst: &InstData, visit: &mut dyn FnMut(Value)) {
    for region in &inst.regions {
        program.walk(region, &mut |_, inner| inner.operands.iter().for_each(|&value| visit(value)));
    }
}

/// Takes other values in place of some, in an operation and those inside it.
pub(super) fn replace_operands(program: &mut Program, id: Inst, by: &FxHashMap<Value, Value>) {
    for operand in &mut program.insts[id].operands {
        *operand = by.get(operand).copied().unwrap_or(*operand);
    }
    let regions = core::mem::take(&mut program.insts[id].regions);
    for &inner in regions.iter().flat_map(|region| &region.insts) {
        replace_operands(program, inner, by);
    }
    program.insts[id].regions = regions;
}

/// The values that a region defines itself, not inside the regions in it.
pub(super) fn defined(program: &Program, region: &Region) -> IdMap<Value, bool> {
    let mut own = IdMap::default();
    let results = region.insts.iter().flat_map(|&id| &program.insts[id].results);
    region.params.iter().chain(results).for_each(|&value| own.set(value, true));
    own
}
