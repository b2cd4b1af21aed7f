//! What shared memory is used again for, where control branches.

use super::double_buffer::{self, add_up, clean, kernel, mirror, simulated};
use super::{build, keep, look, loop_to};
use crate::dtype::DType;
use crate::lane::{
    Access, AsyncCopy, BarrierScope, Builder, BulkCopy, IdKind, Mbarrier, Op, Program, Region,
    Space, Value, verify,
};
use crate::scalar::{Binary, Compare};
use crate::simplify::pack;
use crate::simplify::{barriers, double_buffer as halves};
use arbtest::arbitrary::{Result, Unstructured};
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
        let copy = Op::AsyncCopy(AsyncCopy::Begin {
            bytes: 16,
            offset: 0,
            run: false,
            predicated: false,
            filled: false,
        });
        for (piece, waits) in pieces.into_iter().zip(waits) {
            loop_to(build, n, |build, _| {
                build.emit(copy.clone(), smallvec![piece, from], &[]);
                build.emit(Op::AsyncCopy(AsyncCopy::Commit), smallvec![], &[]);
            });
            if waits {
                build.emit(
                    Op::AsyncCopy(AsyncCopy::Wait { pending: 0, copies: None }),
                    smallvec![],
                    &[],
                );
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

/// More scratch memory.
fn another(build: &mut Builder) -> Value {
    let piece = build.scratch(double_buffer::BYTES, 16, BarrierScope::Block);
    build.shared_base(piece)
}

fn packed(program: Program) -> Program {
    let program = pack::run(barriers::run(program));
    verify(&program).unwrap();
    program
}

/// Three movements in each round of a loop in a loop, each of what the one before it gave.
fn in_turn(build: &mut Builder, out: Value, base: Value) {
    let pieces = [base, another(build), another(build)];
    let times = build.i32(2);
    loop_to(build, times, |build, time| {
        let rounds = build.i32(3);
        loop_to(build, rounds, |build, round| {
            let lane = build.id(IdKind::Lane);
            let mut value = build.binary(Binary::Add, lane, round);
            for piece in pieces {
                value = mirror(build, piece, value);
                value = build.binary(Binary::Add, value, time);
            }
            add_up(build, out, value);
        });
    });
}

#[test]
fn movements_of_a_round_use_the_same_memory_where_more_blocks_run() {
    const BYTES: u32 = double_buffer::BYTES;
    let [narrow, wide] = [BYTES, 3 * BYTES].map(|room| packed(kernel(room, in_turn)));
    assert_eq!((narrow.shared_bytes, wide.shared_bytes), (BYTES, 3 * BYTES));
    // One barrier a movement, as each waits for what the others loaded; two where they share their bytes.
    assert_eq!(clean(&narrow, 6 * 6), clean(&wide, 6 * 3));
}

/// Memory that a round reads before it stores to it.
#[test]
fn what_is_in_memory_from_round_to_round_stays_there() {
    let carried = |build: &mut Builder, out: Value, base: Value| {
        let kept = build.shared(double_buffer::BYTES, 16, BarrierScope::Block);
        let kept = build.shared_base(kept);
        let lane = build.id(IdKind::Lane);
        let kept = double_buffer::place(build, kept, false);
        let rounds = build.i32(3);
        loop_to(build, rounds, |build, round| {
            let is_first = build.i32(0);
            let is_first = build.compare(Compare::Eq, round, is_first);
            build.store(Space::Shared, Access::default(), kept, Some(is_first), &[lane]);
            let seen = look(build, kept);
            let moved = mirror(build, base, seen);
            let sum = build.binary(Binary::Add, moved, seen);
            keep(build, kept, sum);
            add_up(build, out, sum);
        });
    };
    let room = double_buffer::BYTES;
    let program = packed(kernel(room, carried));
    assert_eq!(program.shared_bytes, 2 * room);
    assert_eq!(simulated(&program), simulated(&packed(kernel(2 * room, carried))));
}

/// Movements, loops and branches in one another; `common` is the same in all threads.
fn body(
    u: &mut Unstructured<'_>,
    build: &mut Builder,
    pieces: &[Value],
    [common, mut value]: [Value; 2],
    depth: u32,
) -> Result<Value> {
    for _ in 0..u.int_in_range(1..=3)? {
        match u.int_in_range(0..=if depth < 3 { 4 } else { 1 })? {
            0 | 1 => {
                let place = u.choose_index(2 * pieces.len())?;
                let piece = pieces.get(place).copied().unwrap_or_else(|| another(build));
                value = mirror(build, piece, value);
            }
            2 => {
                let last = build.i32(u.int_in_range(0..=2)?);
                let condition = build.compare(Compare::Slt, common, last);
                let [then, otherwise] = [(); 2].map(|()| {
                    build.open_region(&[]);
                    let result = body(u, build, pieces, [common, value], depth + 1);
                    result.map(|result| build.close_region(Op::Yield, &[result]))
                });
                value = build.if_(condition, then?, otherwise?, &[DType::I32])[0];
            }
            _ => {
                let rounds = build.i32(u.int_in_range(0..=3)?);
                let zero = build.i32(0);
                let target = build.new_loop(&[zero, value], &[DType::I32]);
                let [counter, mut carried] = build.open_region(&[DType::I32; 2])[..] else {
                    unreachable!("a loop of two values")
                };
                let done = build.compare(Compare::Sge, counter, rounds);
                build.break_if(target, done, &[carried]);
                carried = body(u, build, pieces, [counter, carried], depth + 1)?;
                if u.arbitrary()? {
                    let last = build.i32(u.int_in_range(0..=2)?);
                    let done = build.compare(Compare::Eq, counter, last);
                    build.break_if(target, done, &[carried]);
                    carried = body(u, build, pieces, [counter, carried], depth + 1)?;
                }
                let one = build.i32(1);
                let next = build.binary(Binary::Add, counter, one);
                let region = build.close_region(Op::Continue, &[next, carried]);
                value = build.place_loop(target, region)[0];
            }
        }
    }
    Ok(value)
}

/// Whatever control flow stands around movements, nothing races in little memory, and the results are the same.
#[test]
fn movements_in_any_control_flow_share_memory_without_a_race() {
    let (mut shared, mut state) = (0, 1u64);
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..256)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let program = |room: u32| {
            kernel(room, |build, out, base| {
                let pieces = [base, another(build)];
                let (lane, zero) = (build.id(IdKind::Lane), build.i32(0));
                let mut u = Unstructured::new(&bytes);
                // An exhausted source gives zeros, and no error.
                let value = body(&mut u, build, &pieces, [zero, lane], 0).unwrap_or(lane);
                add_up(build, out, value);
            })
        };
        let wide = packed(program(1 << 16));
        let (report, sums) = simulated(&wide);
        assert!(report.is_clean(), "{:#?}\n{wide}", report.findings);
        for room in [1, 2, 3].map(|pieces| pieces * double_buffer::BYTES) {
            for program in [program(room), halves::run(program(room))] {
                let narrow = packed(program);
                let (report, found) = simulated(&narrow);
                assert!(report.is_clean(), "{:#?}\n{narrow}", report.findings);
                assert_eq!(found, sums, "{narrow}");
                shared += u32::from(narrow.shared_bytes < wide.shared_bytes);
            }
        }
    }
    assert!(shared > 500, "{shared} programs share memory");
}

/// The bytes of two buffers, of which a copy fills the second when something has been done to the first.
fn refilled(lead: impl FnOnce(&mut Builder, Value), between: impl FnOnce(&mut Builder)) -> u32 {
    let (mut build, _) = build();
    let pieces = [(); 2].map(|()| build.shared(BYTES, 128, BarrierScope::Block));
    let counter = build.mbarriers(1);
    let [first, second, counter] =
        [pieces[0], pieces[1], counter].map(|piece| build.shared_base(piece));
    lead(&mut build, first);
    between(&mut build);
    let thread = build.id(IdKind::Thread);
    let zero = build.i32(0);
    let leads = build.compare(Compare::Eq, thread, zero);
    let then = region(&mut build, |build| fill(build, second, counter));
    let otherwise = region(&mut build, |_| {});
    build.if_(leads, then, otherwise, &[]);
    land(&mut build, counter);
    let program = pack::run(build.finish());
    verify(&program).unwrap();
    program.shared_bytes / BYTES
}

/// Begins a copy that an mbarrier counts.
fn fill(build: &mut Builder, buffer: Value, counter: Value) {
    let from = build.constant(DType::I64, 0);
    let bytes = build.i32(BYTES as i32);
    build.emit(Op::Mbarrier(Mbarrier::Expect), smallvec![counter, bytes], &[]);
    let operands = smallvec![buffer, from, bytes, counter];
    build.emit(Op::BulkCopy(BulkCopy::ToShared), operands, &[]);
}

fn land(build: &mut Builder, counter: Value) {
    let zero = build.i32(0);
    let even = build.compare(Compare::Ne, zero, zero);
    build.emit(Op::Mbarrier(Mbarrier::Wait), smallvec![counter, even], &[]);
}

#[test]
fn copies_fill_memory_again_that_the_copy_engine_was_told_of() {
    let touch = |build: &mut Builder, buffer: Value| {
        let thread = build.id(IdKind::Thread);
        keep(build, buffer, thread);
    };
    let barrier = |build: &mut Builder| build.barrier(BarrierScope::Block);
    let told = |build: &mut Builder| {
        build.proxy_fence();
        build.barrier(BarrierScope::Block);
    };
    let told_too_late = |build: &mut Builder| {
        build.barrier(BarrierScope::Block);
        build.proxy_fence();
    };
    assert_eq!(refilled(touch, told), 1);
    assert_eq!(refilled(touch, barrier), 2);
    assert_eq!(refilled(touch, told_too_late), 2);
    assert_eq!(refilled(touch, Builder::proxy_fence), 2);
}
