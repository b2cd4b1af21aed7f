//! What registers cannot keep through a loop is stored in front of it, and loaded in its rounds.

use super::double_buffer::{add_up, place, simulated};
use super::loop_to;
use crate::dtype::DType;
use crate::lane::{
    Access, Builder, IdKind, InstData, Multiprocessor, Op, Param, Program, Region, Space, Value,
    verify,
};
use crate::scalar::{Binary, Cast, Compare};
use crate::simplify::park;
use arbtest::arbitrary::{Result, Unstructured};

/// A kernel of two warps whose threads have so many registers each, and no shared memory of their own.
fn kernel(
    registers: u32,
    shared_bytes: u32,
    body: impl FnOnce(&mut Builder, Value) -> Option<()>,
) -> Program {
    let mut build = Builder::new("parked", 2, 5);
    let registers = 64 * registers;
    build.set_multiprocessor(Multiprocessor { registers, shared_bytes, reserved_bytes: 0 });
    let (name, pointee) = ("out".into(), Some(DType::I32));
    let out = build.param(Param { name, dtype: DType::I64, pointee, divisibility: 16 });
    body(&mut build, out).unwrap();
    build.finish()
}

/// Words that are computed from what a thread reads, each another.
fn words(build: &mut Builder, out: Value, count: i32) -> Vec<Value> {
    let zero = build.i32(0);
    let offset = place(build, zero, false);
    let offset = build.cast(Cast::ExtU, offset, DType::I64);
    let at = build.binary(Binary::Add, out, offset);
    let read = build.load(Space::Global, Access::default(), DType::I32, 1, at, None)[0];
    let lane = build.id(IdKind::Lane);
    let own = build.binary(Binary::Xor, read, lane);
    (1..=count)
        .map(|number| {
            let factor = build.i32(2 * number + 1);
            build.binary(Binary::Mul, own, factor)
        })
        .collect()
}

/// Adds up, round by round, what a thread has in memory and each of the words.
fn sums(build: &mut Builder, out: Value, words: &[Value]) {
    let rounds = build.i32(3);
    loop_to(build, rounds, |build, round| {
        let sum = words.iter().fold(round, |sum, &word| {
            let turned = build.binary(Binary::Xor, sum, word);
            build.binary(Binary::Add, turned, round)
        });
        add_up(build, out, sum);
    });
}

/// Stores to shared memory, and loads from it in the outermost list and inside loops and branches.
fn counts(program: &Program) -> [usize; 3] {
    let is_store = |inst: &InstData| matches!(inst.op, Op::Store { space: Space::Shared, .. });
    let is_load = |inst: &InstData| matches!(inst.op, Op::Load { space: Space::Shared, .. });
    let front = program.body.insts.iter().map(|&id| &program.insts[id]);
    let outer = front.filter(|inst| is_load(inst)).count();
    let (mut stores, mut loads) = (0, 0);
    program.walk(&program.body, &mut |_, inst| {
        stores += usize::from(is_store(inst));
        loads += usize::from(is_load(inst));
    });
    [stores, outer, loads - outer]
}

/// The program with so many words parked, which computes the same without a race.
fn parked(program: &Program, words: u32) -> Program {
    verify(program).unwrap();
    let after = park::parked(program, words, 24).unwrap_or_else(|| program.clone());
    verify(&after).unwrap();
    let [(_, expected), (report, found)] = [program, &after].map(simulated);
    assert!(report.is_clean(), "{:#?}\n{after}", report.findings);
    assert_eq!(found, expected, "{program}\nafter:\n{after}");
    after
}

#[test]
fn as_many_words_are_parked_as_are_asked_for() {
    let program = kernel(24, 1 << 16, |build, out| {
        let words = words(build, out, 20);
        sums(build, out, &words);
        Some(())
    });
    for (words, groups) in [(0, 0), (1, 1), (4, 1), (5, 2), (20, 5), (99, 5)] {
        assert_eq!(counts(&parked(&program, words)), [groups, 0, groups], "{words} words");
    }
}

#[test]
fn nothing_is_parked_over_a_loop_that_fits() {
    // Of its registers a thread keeps 24 for other things. Twenty words want twenty; the round, the sum and its
    // address take up to five.
    for (registers, groups) in [(64, 0), (48, 5), (40, 5)] {
        let program = kernel(registers, 1 << 16, |build, out| {
            let words = words(build, out, 20);
            sums(build, out, &words);
            Some(())
        });
        assert_eq!(counts(&parked(&program, 20)), [groups, 0, groups], "{registers} registers");
    }
}

#[test]
fn no_more_is_parked_than_shared_memory_has_room_for() {
    // Four words of 64 threads are a KiB.
    for (kibibytes, groups) in [(0, 0), (1, 1), (3, 3), (9, 4)] {
        let program = kernel(24, kibibytes << 10, |build, out| {
            let words = words(build, out, 16);
            sums(build, out, &words);
            Some(())
        });
        assert_eq!(counts(&parked(&program, 16)), [groups, 0, groups], "{kibibytes} KiB");
    }
}

#[test]
fn what_is_needed_behind_the_loop_or_cheap_to_compute_stays() {
    let behind = kernel(24, 1 << 16, |build, out| {
        let words = words(build, out, 16);
        sums(build, out, &words);
        words[4..].iter().for_each(|&word| add_up(build, out, word));
        Some(())
    });
    assert_eq!(counts(&parked(&behind, 16)), [1, 0, 1]);
    let cheap = kernel(24, 1 << 16, |build, out| {
        let thread = build.id(IdKind::Thread);
        let words: Vec<Value> = (1..=16)
            .map(|number| {
                let factor = build.i32(2 * number + 1);
                build.binary(Binary::Mul, thread, factor)
            })
            .collect();
        sums(build, out, &words);
        Some(())
    });
    assert_eq!(counts(&parked(&cheap, 16)), [0, 0, 0]);
}

fn region(build: &mut Builder, body: impl FnOnce(&mut Builder)) -> Region {
    build.open_region(&[]);
    body(build);
    build.close_region(Op::Yield, &[])
}

/// Words that one side of a branch uses are loaded there, those that both use in front of it.
#[test]
fn a_branch_loads_what_it_alone_uses() {
    for (both, inside) in [(false, [2, 0]), (true, [0, 0])] {
        let program = kernel(24, 1 << 16, |build, out| {
            let words = words(build, out, 8);
            let rounds = build.i32(3);
            loop_to(build, rounds, |build, round| {
                let one = build.i32(1);
                let condition = build.compare(Compare::Eq, round, one);
                let [used, other] = if both { [&words[..], &words] } else { [&words[..], &[]] };
                let [then, otherwise] = [used, other].map(|words| {
                    region(build, |build| words.iter().for_each(|&word| add_up(build, out, word)))
                });
                build.if_(condition, then, otherwise, &[]);
            });
            Some(())
        });
        let after = parked(&program, 8);
        let mut found = Vec::new();
        after.walk(&after.body, &mut |_, inst| {
            if inst.op == Op::If {
                found.extend(inst.regions.iter().map(|region| {
                    let is_load = |op: &Op| matches!(op, Op::Load { space: Space::Shared, .. });
                    region.insts.iter().filter(|&&id| is_load(&after.insts[id].op)).count()
                }));
            }
        });
        assert_eq!(found, inside, "both: {both}\n{after}");
        assert_eq!(counts(&after)[2], 2);
    }
}

/// Loops and branches in one another that use words, and make new ones of them.
fn body(
    u: &mut Unstructured<'_>,
    build: &mut Builder,
    words: &[Value],
    [common, mut value]: [Value; 2],
    depth: u32,
) -> Result<Value> {
    let mut words = words.to_vec();
    for _ in 0..u.int_in_range(1..=5)? {
        match u.int_in_range(0..=if depth < 3 { 5 } else { 2 })? {
            0..=2 => {
                for _ in 0..u.int_in_range(1..=6)? {
                    let word = words[u.choose_index(words.len())?];
                    let turned = build.binary(Binary::Xor, value, word);
                    value = build.binary(Binary::Add, turned, common);
                }
                words.push(value);
            }
            3 => {
                let last = build.i32(u.int_in_range(0..=2)?);
                let condition = build.compare(Compare::Slt, common, last);
                let [then, otherwise] = [(); 2].map(|()| {
                    build.open_region(&[]);
                    let result = body(u, build, &words, [common, value], depth + 1);
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
                carried = body(u, build, &words, [counter, carried], depth + 1)?;
                let one = build.i32(1);
                let next = build.binary(Binary::Add, counter, one);
                let region = build.close_region(Op::Continue, &[next, carried]);
                value = build.place_loop(target, region)[0];
            }
        }
    }
    Ok(value)
}

#[test]
fn words_are_parked_over_any_control_flow() {
    let (mut some, mut state) = (0, 1u64);
    for _ in 0..400 {
        let bytes: Vec<u8> = (0..512)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let program = kernel(24, 1 << 16, |build, out| {
            let words = words(build, out, 12);
            let (lane, zero) = (build.id(IdKind::Lane), build.i32(0));
            let mut u = Unstructured::new(&bytes);
            // An exhausted source gives zeros, and no error.
            let value = body(&mut u, build, &words, [zero, lane], 0).ok()?;
            add_up(build, out, value);
            Some(())
        });
        some += u32::from(counts(&parked(&program, 12))[0] > 0);
    }
    assert!(some > 100, "{some} programs park words");
}
