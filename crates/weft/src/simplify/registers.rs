//! What values take of a thread's registers, and how many are live.

use crate::budget::Stop;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::effects::Spaces;
use crate::lane::{Effects, Inst, Program, Region, Value};

/// The registers of a thread with which half of the warps of one of NVIDIA's multiprocessors run.
pub(super) const HALF: u32 = 64;
/// Those that a thread is not taken to have more of: an assembler orders operations by the registers that it has.
const LIKELY: u32 = 128;
/// The most registers that a thread of NVIDIA's GPUs has. AMD's may have more.
pub(super) const MOST: u32 = 255;
/// Of a thread's registers, what addresses, predicates and intermediate values of one operation take.
const OTHERS: u32 = 24;

/// The registers that values may take in a thread that is to have `enough` at most, and no more than let its
/// block run.
pub(super) fn room(program: &Program, enough: u32) -> u32 {
    let each = program.multiprocessor.map_or(enough, |multiprocessor| {
        (multiprocessor.registers / program.threads().max(1) / 8 * 8).min(enough)
    });
    each.saturating_sub(OTHERS)
}

/// The registers that a thread is likely to have: those of what is live at once, and no fewer than with which half of
/// the warps run, since more of them need not. Where it is stopped, any.
pub(super) fn likely(program: &Program, stop: &Stop) -> u32 {
    let registers = Registers::of(program);
    let words = |value: Value| registers.words(program, value);
    peak(program, &program.body, Loads::AtUse, &words, stop).clamp(HALF, LIKELY)
}

/// Where loads are taken to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loads {
    /// Where they stand.
    InPlace,
    /// In front of the first operation that takes what they give, as an assembler issues them that lacks registers.
    AtUse,
}

/// The most registers of values that a region defines that are live at once; fewer where it is stopped.
pub(super) fn peak(
    program: &Program,
    region: &Region,
    loads: Loads,
    words: &dyn Fn(Value) -> u32,
    stop: &Stop,
) -> u32 {
    let own = defined(program, region);
    // The first operation of the region that takes each value that is loaded.
    let mut first: IdMap<Value, Option<Inst>> = IdMap::default();
    if loads == Loads::AtUse {
        let mut is_loaded: IdMap<Value, bool> = IdMap::default();
        for &id in &region.insts {
            each_operand(program, id, &mut |value| {
                if is_loaded[value] {
                    first.entry(value).get_or_insert(id);
                }
            });
            let inst = &program.insts[id];
            let effects = inst.op.effects();
            if effects.is_removable() && effects.reads != Spaces::NONE {
                inst.results.iter().for_each(|&value| is_loaded.set(value, true));
            }
        }
    }
    let mut is_live: IdMap<Value, bool> = IdMap::default();
    let (mut live, mut peak) = (0, 0);
    for &id in region.insts.iter().rev() {
        if stop.is_set() {
            break;
        }
        let inst = &program.insts[id];
        for &result in &inst.results {
            if core::mem::replace(is_live.entry(result), false) {
                live -= words(result);
            }
        }
        each_operand(program, id, &mut |value| {
            if own[value] && !core::mem::replace(is_live.entry(value), true) {
                live += words(value);
            }
        });
        let mut loaded = 0;
        each_operand(program, id, &mut |value| {
            if first[value] == Some(id) && core::mem::replace(is_live.entry(value), false) {
                loaded += words(value);
            }
        });
        let inner =
            inst.regions.iter().map(|region| self::peak(program, region, loads, words, stop));
        peak = peak.max(live + inner.max().unwrap_or(0));
        live -= loaded;
    }
    let carried: u32 = region.params.iter().map(|&value| words(value)).sum();
    peak.max(carried)
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
    for region in &inst.regions {
        program.walk(region, &mut |_, inner| inner.operands.iter().for_each(|&value| visit(value)));
    }
}

/// The values that a region defines itself, not inside the regions in it.
pub(super) fn defined(program: &Program, region: &Region) -> IdMap<Value, bool> {
    let mut own = IdMap::default();
    let results = region.insts.iter().flat_map(|&id| &program.insts[id].results);
    region.params.iter().chain(results).for_each(|&value| own.set(value, true));
    own
}
