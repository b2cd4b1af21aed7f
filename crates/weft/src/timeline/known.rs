//! What is known of integers without a launch: numbers that follow from the program and from which warp and lane
//! it is.

use crate::id::IdMap;
use crate::lane::{IdKind, InstData, Op, Program, Value};
use crate::scalar::{self, Binary};
use std::rc::Rc;

/// What is known of a value in the lanes of a warp.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) enum Known {
    /// Nothing.
    #[default]
    Nothing,
    /// Every lane has this number.
    Same(u64),
    /// The number of each lane.
    Each(Rc<[u64]>),
}

impl Known {
    /// A lane's number.
    pub(super) fn of_lane(&self, lane: usize) -> Option<u64> {
        match self {
            Known::Nothing => None,
            Known::Same(number) => Some(*number),
            Known::Each(numbers) => numbers.get(lane).copied(),
        }
    }

    /// The lanes that have another number than zero, as a mask.
    pub(super) fn lanes(&self, lanes: u32) -> Option<u64> {
        let bit = |lane: u32| Some(u64::from(self.of_lane(lane as usize)? != 0) << lane);
        (0..lanes).try_fold(0, |mask, lane| Some(mask | bit(lane)?))
    }

    /// Whether every lane has zero.
    fn is_zero(&self) -> bool {
        match self {
            Known::Nothing => false,
            Known::Same(number) => *number == 0,
            Known::Each(numbers) => numbers.iter().all(|&number| number == 0),
        }
    }

    fn map(operands: &[&Known], lanes: u32, apply: &dyn Fn(&[u64]) -> u64) -> Known {
        let of_lane = |lane: usize| -> Option<Vec<u64>> {
            operands.iter().map(|known| known.of_lane(lane)).collect()
        };
        if operands.iter().all(|known| matches!(known, Known::Same(_))) {
            return of_lane(0).map_or(Known::Nothing, |numbers| Known::Same(apply(&numbers)));
        }
        let each: Option<Vec<u64>> =
            (0..lanes as usize).map(|lane| of_lane(lane).map(|numbers| apply(&numbers))).collect();
        each.map_or(Known::Nothing, |numbers| Known::Each(numbers.into()))
    }
}

/// What is known of the result of an operation of integers in a warp, by what is known of its operands.
pub(super) fn result(
    program: &Program,
    inst: &InstData,
    known: &IdMap<Value, Known>,
    warp: u32,
) -> Known {
    let lanes = 1 << program.lanes_log2;
    let Some(&result) = inst.results.first() else { return Known::Nothing };
    let to = program.dtype(result);
    if !to.is_int() {
        return Known::Nothing;
    }
    let operands: Vec<&Known> = inst.operands.iter().map(|&value| &known[value]).collect();
    let from = inst.operands.first().map_or(to, |&value| program.dtype(value));
    let map = |apply: &dyn Fn(&[u64]) -> u64| Known::map(&operands, lanes, apply);
    match &inst.op {
        Op::Const(bits) => Known::Same(*bits),
        Op::SharedBase(shared) => Known::Same(program.shared[*shared].offset.into()),
        Op::Id(IdKind::Warp) => Known::Same(warp.into()),
        Op::Id(IdKind::Lane) => Known::Each((0..u64::from(lanes)).collect()),
        Op::Id(IdKind::Thread) => {
            Known::Each((0..u64::from(lanes)).map(|lane| u64::from(warp * lanes) + lane).collect())
        }
        Op::Linear { columns } => map(&|x| {
            let image = |sum: u32, (bit, column): (usize, &u32)| {
                if x[0] >> bit & 1 == 1 { sum ^ column } else { sum }
            };
            columns.iter().enumerate().fold(0, image).into()
        }),
        Op::Unary(op) if from.is_int() => match scalar::unary(*op, from) {
            Some(apply) => map(&|x| apply(x[0])),
            None => Known::Nothing,
        },
        // One thread issues a copy, if there is a next round: whether there is need not be known of the other threads.
        Op::Binary(Binary::And) if operands.iter().any(|known| known.is_zero()) => Known::Same(0),
        Op::Binary(op) if from.is_int() => match scalar::binary(*op, from) {
            Some(apply) => map(&|x| apply(x[0], x[1])),
            None => Known::Nothing,
        },
        Op::Compare(op) if from.is_int() => match scalar::compare(*op, from) {
            Some(apply) => map(&|x| apply(x[0], x[1])),
            None => Known::Nothing,
        },
        Op::Select => match operands[0] {
            Known::Same(0) => operands[2].clone(),
            Known::Same(_) => operands[1].clone(),
            _ => map(&|x| if x[0] == 0 { x[2] } else { x[1] }),
        },
        Op::Cast(op) if from.is_int() => map(&|x| scalar::cast(*op, from, to, x[0])),
        Op::Fma => {
            let apply = scalar::fma(to);
            map(&|x| apply(x[0], x[1], x[2]))
        }
        Op::Bytes => map(&|x| scalar::byte_permute(x[0], x[1], x[2])),
        // The first lane's, where all have the same.
        Op::ShuffleIndex => match operands[0] {
            Known::Same(number) => Known::Same(*number),
            _ => Known::Nothing,
        },
        _ => Known::Nothing,
    }
}
