//! Loads and stores of narrow numbers that only move.
//!
//! Numbers that only move need no registers of their own. A load of words gives whole words, where a load of
//! numbers takes them apart only for them to be packed again; and a store of words takes whole words, or
//! words packed from bytes of several:
//!
//! ```text
//! a, b: f16 = load …          w: i32 = load …
//! w: i32 = bytes a b
//! store … a b                 store … w
//! ```
//!
//! Floats of eight bits that are rounded only to be stored are rounded two at a time, which machines
//! have an instruction for.

use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{Form, Inst, InstData, Op, Program, Value};
use crate::scalar::{Binary, Cast};

/// How many operations are followed between a number and the word that has it.
const DEPTH: u32 = 4;

/// The loads of numbers of 8 or 16 bits, some whole words of them, each of which is used as a byte of a
/// word or stored in one, and at least one is; and the stores of such numbers that are all loaded so, or
/// pieces of words.
pub(super) fn accesses(program: &Program) -> IdMap<Inst, bool> {
    let mut chosen = IdMap::default();
    let (mut loads, mut stores) = (Vec::new(), Vec::new());
    let mut users: IdMap<Value, Vec<Inst>> = IdMap::default();
    program.walk(&program.body, &mut |id, inst| match inst.op {
        Op::Load { .. } if is_narrow(program, inst) => loads.push(id),
        Op::Store { .. } if is_narrow(program, inst) => stores.push(id),
        _ => {}
    });
    if loads.is_empty() && stores.is_empty() {
        return chosen;
    }
    program.walk(&program.body, &mut |id, inst| {
        for &operand in &inst.operands {
            users.entry(operand).push(id);
        }
    });
    let definitions = definitions(program);
    for &id in loads.iter().chain(&stores) {
        chosen.set(id, true);
    }
    // A load needs its stores, and a store its loads: those that lack one are given up, until none is.
    let mut given_up = true;
    while given_up {
        given_up = false;
        let within = Within { program, users: &users, definitions: &definitions, chosen: &chosen };
        let kept = |id: &Inst| chosen[*id];
        let lost: Vec<Inst> = (loads.iter().filter(|id| kept(id) && !within.is_moved(**id)))
            .chain(stores.iter().filter(|id| kept(id) && !within.is_pieces(**id)))
            .copied()
            .collect();
        for id in lost {
            chosen.set(id, false);
            given_up = true;
        }
    }
    chosen
}

/// The operation that defines each value, where one does.
pub(super) fn definitions(program: &Program) -> IdMap<Value, Option<Inst>> {
    let mut definitions: IdMap<Value, Option<Inst>> = IdMap::default();
    program.walk(&program.body, &mut |id, inst| {
        for &result in &inst.results {
            definitions.set(result, Some(id));
        }
    });
    definitions
}

/// The f32 that an operation rounds to a float of eight bits, if it does that.
fn rounded(program: &Program, id: Inst) -> Option<Value> {
    let inst = &program.insts[id];
    let (&operand, &result) = (inst.operands.first()?, inst.results.first()?);
    let single = program.dtype(operand) == DType::F32 && program.dtype(result).is_f8();
    (inst.op == Op::Cast(Cast::Float) && single).then_some(operand)
}

/// The numbers that a load gives or a store takes.
fn numbers(inst: &InstData) -> &[Value] {
    match inst.op {
        Op::Store { .. } => inst.memory_operands().map_or(&[], |operands| operands.values),
        _ => &inst.results,
    }
}

fn is_narrow(program: &Program, inst: &InstData) -> bool {
    let (Op::Load { access, .. } | Op::Store { access, .. }) = inst.op else { return false };
    let numbers = numbers(inst);
    let dtype = numbers.first().map_or(DType::I32, |&first| program.dtype(first));
    let bytes = dtype.bytes() as usize * numbers.len();
    access.form == Form::Vector && matches!(dtype.bits(), 8 | 16) && bytes.is_multiple_of(4)
}

/// What is chosen so far, and what it hangs on.
struct Within<'a> {
    program: &'a Program,
    users: &'a IdMap<Value, Vec<Inst>>,
    definitions: &'a IdMap<Value, Option<Inst>>,
    chosen: &'a IdMap<Inst, bool>,
}

impl Within<'_> {
    /// Whether a load gives nothing but bytes of words, and some.
    fn is_moved(&self, load: Inst) -> bool {
        let results = &self.program.insts[load].results;
        results.iter().all(|&result| self.is_joined(result, DEPTH))
            && results.iter().any(|&result| !self.users[result].is_empty())
    }

    /// Whether a value is nothing but bytes of words.
    fn is_joined(&self, value: Value, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        self.users[value].iter().all(|&user| {
            let inst = &self.program.insts[user];
            match inst.op {
                Op::Bytes => true,
                Op::Store { .. } => self.chosen[user],
                Op::Cast(Cast::Bits | Cast::ExtU) => self.is_joined(inst.results[0], depth),
                _ => false,
            }
        })
    }

    /// Whether a store takes nothing but pieces of words.
    fn is_pieces(&self, store: Inst) -> bool {
        let taken = numbers(&self.program.insts[store]);
        taken.iter().all(|&value| self.is_piece(value, DEPTH))
    }

    /// Whether a number is a piece of a word, which a chosen load may give.
    fn is_piece(&self, value: Value, depth: u32) -> bool {
        let (Some(depth), Some(id)) = (depth.checked_sub(1), self.definitions[value]) else {
            return false;
        };
        let inst = &self.program.insts[id];
        match inst.op {
            Op::Load { .. } => self.chosen[id],
            Op::Cast(Cast::Bits) => self.is_piece(inst.operands[0], depth),
            // Two are rounded at once where nobody else asks for one.
            Op::Cast(Cast::Float) => {
                rounded(self.program, id).is_some() && self.users[value].len() == 1
            }
            Op::Cast(Cast::Trunc) => {
                let whole = inst.operands[0];
                let left = |id: Inst| self.program.insts[id].op == Op::Binary(Binary::ShrU);
                match self.definitions[whole] {
                    Some(shift) if left(shift) => {
                        self.is_word(self.program.insts[shift].operands[0])
                    }
                    _ => self.is_word(whole),
                }
            }
            _ => false,
        }
    }

    /// Whether a value is a word that came from elsewhere.
    fn is_word(&self, value: Value) -> bool {
        let Some(id) = self.definitions[value] else { return false };
        let op = &self.program.insts[id].op;
        self.program.dtype(value) == DType::I32
            && matches!(op, Op::Load { .. } | Op::Bytes | Op::ShuffleXor { .. } | Op::ShuffleIndex)
    }
}
