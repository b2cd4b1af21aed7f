//! Movements that wait at one barrier, in the simulator: as many barriers as expected, no race, and the
//! same sums.

use super::double_buffer::{BYTES, add_up, clean, kernel, mirror, place, simplified};
use super::{keep, look, loop_to};
use crate::dtype::DType;
use crate::lane::{
    Access, BarrierScope, Builder, IdKind, Multiprocessor, Op, Program, Space, SyncOp, Value,
    verify,
};
use crate::scalar::{Binary, Cast};
use crate::simplify::merge_barriers;

/// What the thread has in global memory.
fn read(build: &mut Builder, out: Value, access: Access) -> Value {
    let zero = build.i32(0);
    let offset = place(build, zero, false);
    let offset = build.cast(Cast::ExtU, offset, DType::I64);
    let at = build.binary(Binary::Add, out, offset);
    build.load(Space::Global, access, DType::I32, 1, at, None)[0]
}

/// A second scratch piece.
fn second(build: &mut Builder) -> Value {
    let piece = build.scratch(BYTES, 16, BarrierScope::Block);
    build.shared_base(piece)
}

/// Two movements, of the lane and of three more than what `beside` gives, added up.
fn two(beside: fn(&mut Builder, Value, Value) -> Value) -> impl Fn(&mut Builder, Value, Value) {
    move |build, out, base| {
        let other = second(build);
        let lane = build.id(IdKind::Lane);
        let first = mirror(build, base, lane);
        let five = build.i32(5);
        let changed = build.binary(Binary::Mul, first, five);
        let found = beside(build, out, changed);
        let three = build.i32(3);
        let value = build.binary(Binary::Add, found, three);
        let last = mirror(build, other, value);
        let sum = build.binary(Binary::Add, changed, last);
        add_up(build, out, sum);
    }
}

fn warp(build: &mut Builder, _: Value, _: Value) -> Value {
    build.id(IdKind::Warp)
}

fn from_memory(build: &mut Builder, out: Value, _: Value) -> Value {
    read(build, out, Access::default())
}

#[test]
fn two_movements_meet_where_the_second_does_not_hang_on_the_first() {
    type Beside = fn(&mut Builder, Value, Value) -> Value;
    for (beside, counted) in [(warp as Beside, 1), (from_memory, 0)] {
        let program = simplified(kernel(2 * BYTES, two(beside)));
        assert_eq!(program.shared_bytes, 2 * BYTES);
        let sums = clean(&program, 1);
        let sum = |thread: u32| 5 * (31 - thread % 32) + counted * (1 - thread / 32) + 3;
        assert!(sums.iter().zip(0..).all(|(&found, thread)| found == sum(thread)), "{sums:?}");
    }
}

/// Of three movements the last one may use the memory of the first, if they stay apart.
#[test]
fn movements_stay_apart_where_they_would_keep_another_block_off() {
    let three = |build: &mut Builder, out: Value, base| {
        let (second, third) = (second(build), second(build));
        let lane = build.id(IdKind::Lane);
        let mut sum = build.i32(0);
        for piece in [base, second, third] {
            let moved = mirror(build, piece, lane);
            sum = build.binary(Binary::Add, sum, moved);
        }
        add_up(build, out, sum);
    };
    let [narrow, wide] = [2 * BYTES, 3 * BYTES].map(|room| simplified(kernel(room, three)));
    assert_eq!((narrow.shared_bytes, wide.shared_bytes), (2 * BYTES, 3 * BYTES));
    assert_eq!(clean(&narrow, 3), clean(&wide, 1));
}

#[test]
fn what_hangs_on_a_load_or_has_another_order_waits_for_itself() {
    let hangs: fn(&mut Builder, Value, Value) -> Value = |_, _, changed| changed;
    let volatile = |build: &mut Builder, out, _| {
        read(build, out, Access { volatile: true, ..Access::default() })
    };
    let written = |build: &mut Builder, out, changed| {
        add_up(build, out, changed);
        build.id(IdKind::Lane)
    };
    for beside in [hangs, volatile, written] {
        clean(&simplified(kernel(8 * BYTES, two(beside))), 2);
    }
}

/// What was written before the first barrier may be read by others behind it.
#[test]
fn a_read_of_what_was_written_stays_behind_its_barrier() {
    let body = |build: &mut Builder, out: Value, base| {
        let lane = build.id(IdKind::Lane);
        add_up(build, out, lane);
        two(from_memory)(build, out, base);
    };
    clean(&simplified(kernel(8 * BYTES, body)), 2);
}

/// A piece that is no scratch memory keeps its barrier.
#[test]
fn what_lives_on_is_not_moved() {
    let body = |build: &mut Builder, out: Value, base| {
        let piece = build.shared(BYTES, 16, BarrierScope::Block);
        let other = build.shared_base(piece);
        let lane = build.id(IdKind::Lane);
        let moved = mirror(build, base, lane);
        let at = place(build, other, false);
        keep(build, at, moved);
        let one = build.id(IdKind::Warp);
        let again = mirror(build, other, one);
        let kept = look(build, at);
        let sum = build.binary(Binary::Add, again, kept);
        add_up(build, out, sum);
    };
    clean(&simplified(kernel(8 * BYTES, body)), 2);
}

/// Products of a word, each another.
fn several(build: &mut Builder, word: Value, count: i32) -> Vec<Value> {
    let factors = (1..=count).map(|number| 2 * number + 1);
    let product = |factor| {
        let factor = build.i32(factor);
        build.binary(Binary::Mul, word, factor)
    };
    factors.map(product).collect()
}

/// Rounds that compute many words, move one other and work with it, and then move the words; threads have so many
/// registers.
fn words_over_a_movement(registers: u32) -> Program {
    const WORDS: u32 = 48;
    kernel(1 << 16, |build, out, base| {
        let registers = registers * BYTES / 4;
        let (shared_bytes, reserved_bytes) = (1 << 16, 0);
        build.set_multiprocessor(Multiprocessor { registers, shared_bytes, reserved_bytes });
        let piece = build.scratch(WORDS * BYTES, 16, BarrierScope::Block);
        let other = build.shared_base(piece);
        let rounds = build.i32(3);
        loop_to(build, rounds, |build, round| {
            let lane = build.id(IdKind::Lane);
            let own = build.binary(Binary::Add, lane, round);
            let words = several(build, own, WORDS as i32);
            let moved = mirror(build, base, own);
            let mut sum = several(build, moved, 16).into_iter().fold(moved, |sum, word| {
                let turned = build.binary(Binary::Xor, sum, word);
                build.binary(Binary::Add, turned, round)
            });
            let at = |number: usize| Access {
                offset: (number as u32 * BYTES) as i32,
                ..Access::default()
            };
            let (to, from) = (place(build, other, false), place(build, other, true));
            for (number, &word) in words.iter().enumerate() {
                build.store(Space::Shared, at(number), to, None, &[word]);
            }
            build.barrier(BarrierScope::Block);
            for number in 0..words.len() {
                let found = build.load(Space::Shared, at(number), DType::I32, 1, from, None)[0];
                sum = build.binary(Binary::Add, sum, found);
            }
            add_up(build, out, sum);
        });
    })
}

/// Stores in front of the first barrier of the loop.
fn stored_first(program: &Program) -> usize {
    let mut body = program.body.insts.iter().flat_map(|&id| &program.insts[id].regions);
    let insts = body.next().unwrap().insts.iter().map(|&id| &program.insts[id].op);
    let first = insts.take_while(|op| !matches!(op, Op::Sync(SyncOp::Barrier(_))));
    first.filter(|op| matches!(op, Op::Store { space: Space::Shared, .. })).count()
}

/// Where the words do not fit the registers they are stored in front of the other movement's barrier, though the block
/// waits as often.
#[test]
fn movements_meet_for_registers_that_do_not_suffice() {
    let mut sums = Vec::new();
    for (registers, stores) in [(128, 1), (64, 49)] {
        let program = words_over_a_movement(registers);
        let met = merge_barriers::run(program);
        verify(&met).unwrap();
        assert_eq!(stored_first(&met), stores, "{registers} registers\n{met}");
        sums.push(clean(&simplified(met), 6));
    }
    assert_eq!(sums[0], sums[1]);
}
