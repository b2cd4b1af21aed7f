//! What values take of a thread's registers, and how many are live.

use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{Effects, Inst, Program, Region, Value};

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
