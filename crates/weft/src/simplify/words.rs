//! Loads of narrow numbers that are only put into words.
//!
//! What moves from global to shared memory as it is needs no number by itself. A load of words gives the
//! words at once, where one of numbers has them taken apart by the load and put together again:
//!
//! ```text
//! a, b: f16 = load …          w: i32 = load …
//! w: i32 = bytes a b
//! ```

use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{Form, Inst, InstData, Op, Program, Value};
use crate::scalar::Cast;

/// How many operations are followed from a number to the word that has it.
const DEPTH: u32 = 4;

/// The loads of numbers of 8 or 16 bits, some whole words of them, each of which is used as a byte of a
/// word alone; at least one is.
pub(super) fn loads(program: &Program) -> IdMap<Inst, bool> {
    let mut loads = IdMap::default();
    let mut found = Vec::new();
    program.walk(&program.body, &mut |id, inst| {
        if is_narrow(program, inst) {
            found.push(id);
        }
    });
    if found.is_empty() {
        return loads;
    }
    let mut users: IdMap<Value, Vec<Inst>> = IdMap::default();
    program.walk(&program.body, &mut |id, inst| {
        for &operand in &inst.operands {
            users.entry(operand).push(id);
        }
    });
    for id in found {
        let results = &program.insts[id].results;
        let joined = results.iter().all(|&result| is_joined(program, &users, result, DEPTH));
        let used = results.iter().any(|&result| !users[result].is_empty());
        loads.set(id, joined && used);
    }
    loads
}

fn is_narrow(program: &Program, inst: &InstData) -> bool {
    let Op::Load { access, .. } = inst.op else { return false };
    let dtype = inst.results.first().map_or(DType::I32, |&first| program.dtype(first));
    let bytes = dtype.bytes() as usize * inst.results.len();
    access.form == Form::Vector && matches!(dtype.bits(), 8 | 16) && bytes.is_multiple_of(4)
}

/// Whether a value is nothing but bytes of words.
fn is_joined(program: &Program, users: &IdMap<Value, Vec<Inst>>, value: Value, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    users[value].iter().all(|&user| {
        let inst = &program.insts[user];
        match inst.op {
            Op::Bytes => true,
            Op::Cast(Cast::Bits | Cast::ExtU) => is_joined(program, users, inst.results[0], depth),
            _ => false,
        }
    })
}
