//! What shared memory is used again for, where control branches.

use super::{build, keep, look, loop_to};
use crate::dtype::DType;
use crate::lane::{Access, BarrierScope, Builder, Op, Region, Space, Value, verify};
use crate::scalar::Compare;
use crate::simplify::pack;
use smallvec::smallvec;

/// A piece's bytes.
const BYTES: u32 = 1024;

/// The addresses of some pieces, the number that the program is given, and what stands in a program of them:
/// how many pieces' bytes it takes.
fn taken<const N: usize>(body: impl FnOnce(&mut Builder, [Value; N], Value)) -> u32 {
    let (mut build, n) = build();
    let pieces = [(); N].map(|()| {
        let piece = build.shared(BYTES, 128, BarrierScope::Block);
        build.shared_base(piece)
    });
    body(&mut build, pieces, n);
    let program = pack::run(build.finish());
    verify(&program).unwrap();
    assert_eq!(program.shared_bytes % BYTES, 0);
    program.shared_bytes / BYTES
}

fn region(build: &mut Builder, body: impl FnOnce(&mut Builder)) -> Region {
    build.open_region(&[]);
    body(build);
    build.close_region(Op::Yield, &[])
}

/// Runs one of two lists, by a number that all threads are given.
fn either(
    build: &mut Builder,
    n: Value,
    then: impl FnOnce(&mut Builder),
    otherwise: impl FnOnce(&mut Builder),
) {
    let zero = build.i32(0);
    let condition = build.compare(Compare::Eq, n, zero);
    let then = region(build, then);
    let otherwise = region(build, otherwise);
    build.if_(condition, then, otherwise, &[]);
}

/// A store, a barrier and a load.
fn movement(build: &mut Builder, piece: Value, value: Value) {
    keep(build, piece, value);
    build.barrier(BarrierScope::Block);
    let seen = look(build, piece);
    keep(build, piece, seen);
}

#[test]
fn a_block_that_takes_one_branch_needs_no_memory_for_the_other() {
    let pieces = taken(|build, [x, y, z], n| {
        either(
            build,
            n,
            |build| movement(build, x, n),
            |build| {
                loop_to(build, n, |build, counter| movement(build, y, counter));
                keep(build, z, n);
            },
        );
    });
    assert_eq!(pieces, 2);
}

#[test]
fn warps_that_may_part_use_both_branches_at_once() {
    // No barrier says that all threads go the same way.
    let pieces = taken(|build, [x, y], n| {
        either(build, n, |build| keep(build, x, n), |build| keep(build, y, n));
    });
    assert_eq!(pieces, 2);
}

#[test]
fn what_is_used_around_a_branch_lives_in_it() {
    let pieces = taken(|build, [x, y, z], n| {
        keep(build, x, n);
        either(build, n, |build| movement(build, y, n), |build| movement(build, z, n));
        let seen = look(build, x);
        keep(build, x, seen);
    });
    assert_eq!(pieces, 2);
}

#[test]
fn a_barrier_in_a_branch_is_not_one_on_the_other_way() {
    let around = |inside: bool| {
        taken(move |build, [x, y], n| {
            keep(build, x, n);
            if !inside {
                build.barrier(BarrierScope::Block);
            }
            either(build, n, |build| build.barrier(BarrierScope::Block), |_| {});
            keep(build, y, n);
        })
    };
    assert_eq!([around(false), around(true)], [1, 2]);
}

#[test]
fn a_barrier_in_a_branch_parts_what_is_used_there_from_the_rest() {
    let before = taken(|build, [x, y], n| {
        keep(build, x, n);
        let behind = |build: &mut Builder| {
            build.barrier(BarrierScope::Block);
            keep(build, y, n);
        };
        either(build, n, behind, |_| {});
    });
    let after = taken(|build, [x, y], n| {
        let ahead = |build: &mut Builder| {
            keep(build, x, n);
            build.barrier(BarrierScope::Block);
        };
        either(build, n, ahead, |_| {});
        keep(build, y, n);
    });
    // A use on the other way comes before no barrier.
    let on_both = taken(|build, [x, y], n| {
        let ahead = |build: &mut Builder| {
            keep(build, x, n);
            build.barrier(BarrierScope::Block);
        };
        either(build, n, ahead, |build| keep(build, x, n));
        keep(build, y, n);
    });
    assert_eq!([before, after, on_both], [1, 1, 2]);
}

/// Uses a value.
fn keep_global(build: &mut Builder, value: Value) {
    let address = build.constant(DType::I64, 0);
    build.store(Space::Global, Access::default(), address, None, &[value]);
}

/// Copies into a piece in each of two loops, waited for behind each, or behind the last alone.
fn copied_in_turn(waits: [bool; 2]) -> u32 {
    taken(move |build, pieces: [Value; 2], n| {
        let from = build.constant(DType::I64, 0);
        let copy = Op::AsyncCopy { bytes: 16, offset: 0, predicated: false, filled: false };
        for (piece, waits) in pieces.into_iter().zip(waits) {
            loop_to(build, n, |build, _| {
                build.emit(copy.clone(), smallvec![piece, from], &[]);
                build.emit(Op::AsyncCommit, smallvec![], &[]);
            });
            if waits {
                build.emit(Op::AsyncWait { pending: 0 }, smallvec![], &[]);
            }
            build.barrier(BarrierScope::Block);
            let seen = look(build, piece);
            build.barrier(BarrierScope::Block);
            keep_global(build, seen);
        }
    })
}

#[test]
fn a_wait_ends_what_was_begun_before_it_and_nothing_that_comes_later() {
    assert_eq!(copied_in_turn([true, true]), 1);
    // What the first loop copies may land in the second one.
    assert_eq!(copied_in_turn([false, true]), 2);
    assert_eq!(copied_in_turn([false, false]), 2);
}
