//! Loops whose rounds use two halves of scratch memory by turns, in the simulator: as many races and
//! barriers as expected, and the right sums.

use super::{keep, look, loop_to};
use crate::dtype::DType;
use crate::id::Id;
use crate::lane::{
    Access, BarrierScope, Builder, IdKind, Multiprocessor, Op, Param, Program, Space, SyncOp,
    Value, verify,
};
use crate::memory::{Buffer, Memory};
use crate::scalar::{Binary, Cast};
use crate::sim::{Launch, Machine, Options, Report, run};
use crate::simplify::{self, barriers, pack};

const ROUNDS: u32 = 5;
const THREADS: u32 = 64;
pub(super) const BYTES: u32 = 4 * THREADS;

/// Each thread's place in a piece, or that of the thread as far from the end.
pub(super) fn place(build: &mut Builder, base: Value, mirrored: bool) -> Value {
    let [lane, warp] = [IdKind::Lane, IdKind::Warp].map(|kind| build.id(kind));
    let (five, two) = (build.i32(5), build.i32(2));
    let warp = build.binary(Binary::Shl, warp, five);
    let mut thread = build.binary(Binary::Or, lane, warp);
    if mirrored {
        let all = build.i32(THREADS as i32 - 1);
        thread = build.binary(Binary::Xor, thread, all);
    }
    let offset = build.binary(Binary::Shl, thread, two);
    build.binary(Binary::Add, base, offset)
}

/// Stores a value, waits, and loads that of the mirrored thread.
pub(super) fn mirror(build: &mut Builder, base: Value, value: Value) -> Value {
    let (to, from) = (place(build, base, false), place(build, base, true));
    keep(build, to, value);
    build.barrier(BarrierScope::Block);
    look(build, from)
}

/// Adds a number to what the thread has in global memory.
pub(super) fn add_up(build: &mut Builder, out: Value, value: Value) {
    let zero = build.i32(0);
    let offset = place(build, zero, false);
    let offset = build.cast(Cast::ExtU, offset, DType::I64);
    let at = build.binary(Binary::Add, out, offset);
    let access = Access::default();
    let before = build.load(Space::Global, access, DType::I32, 1, at, None)[0];
    let sum = build.binary(Binary::Add, before, value);
    build.store(Space::Global, access, at, None, &[sum]);
}

/// A kernel of two warps with one scratch piece on a multiprocessor with this much memory.
pub(super) fn kernel(shared_bytes: u32, body: impl FnOnce(&mut Builder, Value, Value)) -> Program {
    let mut build = Builder::new("rounds", 2, 5);
    // Registers for one block.
    let (registers, reserved_bytes) = (64 * THREADS, 0);
    build.set_multiprocessor(Multiprocessor { registers, shared_bytes, reserved_bytes });
    let param = Param {
        name: "out".into(),
        dtype: DType::I64,
        pointee: Some(DType::I32),
        divisibility: 16,
    };
    let out = build.param(param);
    let piece = build.scratch(BYTES, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    body(&mut build, out, base);
    build.finish()
}

pub(super) fn simplified(program: Program) -> Program {
    let done = simplify::run(program);
    verify(&done).unwrap();
    done
}

pub(super) fn simulated(program: &Program) -> (Report, Vec<u32>) {
    let mut memory = Memory::default();
    let bytes = vec![0; BYTES as usize];
    let out = Buffer { name: "out".into(), bytes, dtype: DType::I32, initialised: true };
    let args = [memory.push(out)];
    let (machine, options) = (Machine::nvidia(), Options::default());
    let launch = Launch { program, grid: [1, 1, 1], args: &args, machine: &machine, options };
    let report = run(&launch, &mut memory).unwrap();
    let words = memory.buffers()[0].bytes.chunks_exact(4);
    (report, words.map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
}

/// Runs a program clean, with these barriers for each warp, and gives what it adds up.
pub(super) fn clean(program: &Program, barriers: u64) -> Vec<u32> {
    let (report, sums) = simulated(program);
    assert!(report.is_clean(), "{:#?}\n{program}", report.findings);
    assert_eq!(report.block_barriers, 2 * barriers, "{program}");
    sums
}

fn one_loop(build: &mut Builder, out: Value, base: Value) {
    let rounds = build.i32(ROUNDS as i32);
    loop_to(build, rounds, |build, round| {
        let lane = build.id(IdKind::Lane);
        let value = build.binary(Binary::Add, lane, round);
        let moved = mirror(build, base, value);
        add_up(build, out, moved);
    });
}

#[test]
fn two_halves_save_a_barrier_of_two() {
    let rounds = u64::from(ROUNDS);
    let [narrow, wide] = [BYTES, 2 * BYTES].map(|room| simplified(kernel(room, one_loop)));
    assert_eq!((narrow.shared_bytes, wide.shared_bytes), (BYTES, 2 * BYTES));
    let sums = clean(&narrow, 2 * rounds);
    assert_eq!(clean(&wide, rounds), sums);
    let sum = |thread: u32| (0..ROUNDS).map(|round| (31 - thread % 32) + round).sum::<u32>();
    assert!(sums.iter().zip(0..).all(|(&found, thread)| found == sum(thread)), "{sums:?}");
}

/// A loop that is entered again starts with the first half, which its last round may have used.
#[test]
fn a_loop_that_is_entered_again_waits_for_its_last_round() {
    for inner in 1..4_u64 {
        let nested = |build: &mut Builder, out, base| {
            let outer = build.i32(3);
            loop_to(build, outer, |build, time| {
                let rounds = build.i32(inner as i32);
                loop_to(build, rounds, |build, round| {
                    let value = build.binary(Binary::Add, time, round);
                    let moved = mirror(build, base, value);
                    add_up(build, out, moved);
                });
            });
        };
        let [narrow, wide] = [0, 4 * BYTES].map(|room| simplified(kernel(room, nested)));
        let (report, sums) = simulated(&wide);
        assert!(report.is_clean(), "{:#?}\n{wide}", report.findings);
        assert_eq!(clean(&narrow, 3 * 2 * inner), sums);
    }
}

/// Each of two movements in a loop brings the barrier that the other one needs.
#[test]
fn where_no_barrier_is_saved_nothing_is_doubled() {
    let both = |build: &mut Builder, out, base| {
        let piece = build.scratch(BYTES, 16, BarrierScope::Block);
        let other = build.shared_base(piece);
        let rounds = build.i32(ROUNDS as i32);
        loop_to(build, rounds, |build, round| {
            let moved = mirror(build, base, round);
            let moved = mirror(build, other, moved);
            add_up(build, out, moved);
        });
    };
    let program = simplified(kernel(8 * BYTES, both));
    assert_eq!(program.shared_bytes, 2 * BYTES);
    clean(&program, 2 * u64::from(ROUNDS));
}

/// What is read again in a later round, before the loop or behind it stays where it is.
#[test]
fn what_outlives_a_round_is_not_doubled() {
    let before = |build: &mut Builder, out, base| {
        let seven = build.i32(7);
        let moved = mirror(build, base, seven);
        add_up(build, out, moved);
        one_loop(build, out, base);
    };
    assert_eq!(simplified(kernel(8 * BYTES, before)).shared_bytes, BYTES);
    let kept = |build: &mut Builder, out, _| {
        let piece = build.shared(BYTES, 16, BarrierScope::Block);
        let base = build.shared_base(piece);
        one_loop(build, out, base);
    };
    assert_eq!(simplified(kernel(8 * BYTES, kept)).shared_bytes, BYTES);
}

/// Two halves without the barrier in between: `barriers` must put one for the half that comes again.
#[test]
fn a_half_that_comes_again_gets_a_barrier() {
    let unordered = |build: &mut Builder, out, base| {
        let rounds = build.i32(ROUNDS as i32);
        loop_to(build, rounds, |build, round| {
            let at = place(build, base, false);
            keep(build, at, round);
            let moved = look(build, at);
            add_up(build, out, moved);
        });
    };
    let mut program = kernel(0, unordered);
    let mut target = None;
    program.walk(&program.body, &mut |id, inst| {
        if inst.op == Op::Loop {
            target = Some(id);
        }
    });
    let barriers_of = |program: &Program| {
        let program = pack::run(barriers::run(program.clone()));
        let mut found = 0;
        program.walk(&program.body, &mut |_, inst| {
            found += usize::from(matches!(inst.op, Op::Sync(SyncOp::Barrier(_))));
        });
        found
    };
    assert_eq!(barriers_of(&program), 1);
    let piece = program.shared.keys().next().unwrap();
    assert_eq!(piece.index(), 0);
    program.shared[piece].turns = target;
    assert_eq!(barriers_of(&program), 1);
}
