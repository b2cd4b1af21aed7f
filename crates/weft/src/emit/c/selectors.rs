//! Which bits of words may be set, so that a byte permute is printed without what no selector of its asks for.
//!
//! A selector is an F2-linear map of the lane's number, as shifts, masks and multiplications: the operations that
//! made it tell which of its bits may be set.

use crate::id::IdMap;
use crate::lane::{IdKind, Inst, Op, Program, Value};
use crate::scalar::Binary;

/// The top bits of the four nibbles of a selector: each asks for eight copies of a byte's sign.
const SIGNS: u32 = 0x8888;

/// How far back definitions are followed.
const DEPTH: u32 = 16;

/// Whether a selector never asks for a byte's sign.
pub(super) fn takes_bytes_alone(
    program: &Program,
    definitions: &IdMap<Value, Option<Inst>>,
    selector: Value,
) -> bool {
    possible(program, definitions, selector, DEPTH) & SIGNS == 0
}

/// The bits that an i32 may have set.
fn possible(
    program: &Program,
    definitions: &IdMap<Value, Option<Inst>>,
    value: Value,
    depth: u32,
) -> u32 {
    let (Some(inst), Some(depth)) = (definitions[value], depth.checked_sub(1)) else {
        return u32::MAX;
    };
    let inst = &program.insts[inst];
    let of = |operand: usize| possible(program, definitions, inst.operands[operand], depth);
    let constant = |operand: usize| {
        let inst = definitions[inst.operands[operand]].map(|inst| &program.insts[inst].op);
        match inst {
            Some(Op::Const(bits)) => u32::try_from(*bits).ok(),
            _ => None,
        }
    };
    let up_to = |count: u32| (count.next_power_of_two().max(1)).wrapping_sub(1);
    match &inst.op {
        Op::Const(bits) => *bits as u32,
        Op::Id(IdKind::Lane) => up_to(1 << program.lanes_log2),
        Op::Id(IdKind::Warp) => up_to(program.warps),
        Op::Id(IdKind::Thread) => up_to(program.threads()),
        Op::Linear { columns } => {
            let given = of(0);
            let images = columns.iter().enumerate();
            images.filter(|(bit, _)| given >> bit & 1 == 1).fold(0, |all, (_, column)| all | column)
        }
        Op::Select => of(1) | of(2),
        Op::Binary(Binary::And) => of(0) & of(1),
        Op::Binary(Binary::Or | Binary::Xor) => of(0) | of(1),
        Op::Binary(Binary::Shl) => match constant(1) {
            Some(count @ 0..32) => of(0) << count,
            _ => u32::MAX,
        },
        Op::Binary(Binary::ShrU) => match constant(1) {
            Some(count @ 0..32) => of(0) >> count,
            _ => u32::MAX,
        },
        // Copies that do not meet: no bit is carried.
        Op::Binary(Binary::Mul) => constant(1).map_or(u32::MAX, |factor| {
            let bits = u64::from(of(0));
            let copies =
                (0..32).filter(|place| factor >> place & 1 == 1).map(|place| bits << place);
            let apart = |all: u64, copy: u64| (all & copy == 0).then_some(all | copy);
            copies.into_iter().try_fold(0, apart).map_or(u32::MAX, |all| all as u32)
        }),
        _ => u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::takes_bytes_alone;
    use crate::id::IdMap;
    use crate::lane::{Builder, IdKind, Inst, Value};
    use crate::scalar::Binary;

    #[test]
    fn a_selector_made_of_a_lanes_bits_takes_bytes_alone() {
        let mut build = Builder::new("selectors", 4, 6);
        let lane = build.id(IdKind::Lane);
        let constant = |build: &mut Builder, bits: i32| build.i32(bits);
        // Four copies of one bit, and a word that they are added to.
        let [one, all, word] = [1, 0x1111, 0x5410].map(|bits| constant(&mut build, bits));
        let bit = build.binary(Binary::And, lane, one);
        let copies = build.binary(Binary::Mul, bit, all);
        let selector = build.binary(Binary::Xor, copies, word);
        // The lane's number as it stands reaches the top bit of the second nibble.
        let four = constant(&mut build, 4);
        let shifted = build.binary(Binary::Shl, lane, four);
        let three = constant(&mut build, 3);
        // Copies of two bits that meet are carried into the third.
        let low = build.binary(Binary::And, lane, three);
        let meeting = build.binary(Binary::Mul, low, three);
        let signs = build.binary(Binary::Mul, bit, all);
        let signs = build.binary(Binary::Shl, signs, three);
        let program = build.finish();
        let mut definitions: IdMap<Value, Option<Inst>> = IdMap::default();
        for (id, inst) in program.insts.iter() {
            for &result in &inst.results {
                definitions.set(result, Some(id));
            }
        }
        let alone = |value| takes_bytes_alone(&program, &definitions, value);
        assert!(alone(selector) && alone(copies) && alone(bit));
        assert!(!alone(shifted) && !alone(meeting) && !alone(signs) && !alone(lane));
    }
}
