//! Steps that follow numbers in registers.

use super::types::integer;
use super::{takes_part, thread_map};
use crate::atomic::{Order, Rmw, Scope};
use crate::dtype::DType;
use crate::lane::{Access, AtomicAccess, Builder, Op, Space, Value};
use crate::scalar::{Binary, Cast, Compare};
use smallvec::{SmallVec, smallvec};
use weft_layout::step::{Count, DataMap};

/// An affine function of each number and of the thread.
pub(super) fn affine(build: &mut Builder, numbers: &[Value], map: &DataMap) -> Vec<Value> {
    let data: Vec<u32> = map.data.iter().take(32).map(|&column| column as u32).collect();
    let thread = thread_map(build, &map.lane, &map.warp);
    let image = |(register, &number): (usize, &Value)| {
        let word = match build.dtype(number).bits() {
            64 => build.cast(Cast::Trunc, number, DType::I32),
            bits => {
                let number = build.cast(Cast::Bits, number, integer(bits));
                build.cast(Cast::ExtU, number, DType::I32)
            }
        };
        let moved = build.linear(&data, word);
        let xor = build.i32(map.xor.get(register).copied().unwrap_or(0) as i32);
        let place = build.binary(Binary::Xor, thread, xor);
        build.binary(Binary::Xor, moved, place)
    };
    numbers.iter().enumerate().map(image).collect()
}

/// Of each pair the second where a bit of its index is set.
pub(super) fn pick<'a>(
    build: &mut Builder,
    pairs: impl Iterator<Item = (&'a Value, &'a Value)>,
    indices: &[Value],
    bit: u32,
) -> Vec<Value> {
    let mask = build.i32(1_i32.checked_shl(bit).unwrap_or(0));
    let zero = build.i32(0);
    let pick = |((&even, &odd), &index): ((&Value, &Value), &Value)| {
        let own = build.binary(Binary::And, index, mask);
        let is_odd = build.compare(Compare::Ne, own, zero);
        build.select(is_odd, odd, even)
    };
    pairs.zip(indices).map(pick).collect()
}

/// What stands at each address of scratch memory.
pub(super) fn lookup(
    build: &mut Builder,
    base: Value,
    dtype: DType,
    addresses: &[Value],
) -> Vec<Value> {
    let load = |&address: &Value| {
        let address = build.binary(Binary::Add, base, address);
        build.load(Space::Shared, Access::default(), dtype, 1, address, None)[0]
    };
    addresses.iter().map(load).collect()
}

/// Adds one to the counter of each number that is small enough and whose mask is true.
pub(super) fn count(
    build: &mut Builder,
    base: Value,
    numbers: &[Value],
    mask: Option<&[Value]>,
    count: &Count,
) {
    let takes_part = takes_part(build, count.acting);
    let places = affine(build, numbers, &count.map);
    let one = build.i32(1);
    for (register, (&number, &place)) in numbers.iter().zip(&places).enumerate() {
        let dtype = build.dtype(number);
        let mut predicate = takes_part;
        if count.below <= dtype.mask() {
            let end = build.constant(dtype, count.below);
            let below = build.compare(Compare::Ult, number, end);
            predicate = build.and_predicates(predicate, Some(below));
        }
        if let Some(&mask) = mask.and_then(|mask| mask.get(register)) {
            let zero = build.constant(DType::I8, 0);
            let counts = build.compare(Compare::Ne, mask, zero);
            predicate = build.and_predicates(predicate, Some(counts));
        }
        let address = build.binary(Binary::Add, base, place);
        let mut operands: SmallVec<[Value; 4]> = smallvec![address];
        operands.extend(predicate);
        operands.push(one);
        let access = AtomicAccess {
            space: Space::Shared,
            op: Rmw::Add.into(),
            order: Order::Relaxed,
            scope: Scope::Block,
            predicated: predicate.is_some(),
        };
        build.emit(Op::Atomic(access), operands, &[DType::I32]);
    }
}
