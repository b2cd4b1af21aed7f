//! What registers cannot keep through a loop is loaded again in it.

use super::{build, loop_to};
use crate::dtype::DType;
use crate::lane::{
    Access, BarrierScope, Builder, Multiprocessor, Op, Program, Space, Value, verify,
};
use crate::scalar::Binary;
use crate::simplify::reload;

/// Registers of a multiprocessor that give each of 64 threads so many.
fn multiprocessor(each: u32) -> Multiprocessor {
    Multiprocessor { registers: 64 * each, shared_bytes: 1 << 16, reserved_bytes: 0 }
}

/// Four loads of four words in front of a loop that adds them up; `inside` is written at the loop's end.
fn sums(
    each: u32,
    scratch: bool,
    behind: bool,
    inside: impl FnOnce(&mut Builder, Value),
) -> Program {
    let (mut build, n) = build();
    build.set_multiprocessor(multiprocessor(each));
    let (bytes, align, scope) = (4096, 16, BarrierScope::Block);
    let piece = if scratch {
        build.scratch(bytes, align, scope)
    } else {
        build.shared(bytes, align, scope)
    };
    let base = build.shared_base(piece);
    let access = Access::default();
    build.store(Space::Shared, access, base, None, &[n]);
    build.barrier(scope);
    let words: Vec<Value> = (0..4)
        .flat_map(|part| {
            let access = Access { offset: 16 * part, ..access };
            build.load(Space::Shared, access, DType::I32, 4, base, None)
        })
        .collect();
    let out = build.shared(4, 4, scope);
    let out = build.shared_base(out);
    loop_to(&mut build, n, |build, counter| {
        let sum = words.iter().fold(counter, |sum, &word| build.binary(Binary::Xor, sum, word));
        build.store(Space::Shared, access, out, None, &[sum]);
        inside(build, base);
    });
    if behind {
        build.store(Space::Shared, access, out, None, &words[..1]);
    }
    build.finish()
}

/// The loads in front of the loop, and those inside it.
fn loads(program: &Program) -> (usize, usize) {
    let is_load = |op: &Op| matches!(op, Op::Load { .. });
    let body = program.body.insts.iter().map(|&id| &program.insts[id]);
    let outside = body.clone().filter(|inst| is_load(&inst.op)).count();
    let mut inside = 0;
    for region in body.flat_map(|inst| &inst.regions) {
        program.walk(region, &mut |_, inst| inside += usize::from(is_load(&inst.op)));
    }
    (outside, inside)
}

fn after(program: Program) -> (usize, usize) {
    verify(&program).unwrap();
    let program = reload::run(program);
    verify(&program).unwrap();
    loads(&program)
}

fn nothing(_: &mut Builder, _: Value) {}

#[test]
fn as_many_loads_move_into_a_loop_as_do_not_fit() {
    // Of its registers a thread keeps 24 for other things. Sixteen words and the counter want seventeen, and a
    // sum or an address one or two more.
    assert_eq!(after(sums(64, true, false, nothing)), (4, 0));
    assert_eq!(after(sums(40, true, false, nothing)), (3, 1));
    assert_eq!(after(sums(32, true, false, nothing)), (1, 3));
    assert_eq!(after(sums(24, true, false, nothing)), (0, 4));
}

#[test]
fn what_others_write_or_use_stays_in_front() {
    let stores = |build: &mut Builder, base: Value| {
        let zero = build.i32(0);
        build.store(Space::Shared, Access::default(), base, None, &[zero]);
    };
    assert_eq!(after(sums(24, true, false, stores)), (4, 0), "stored to in the loop");
    assert_eq!(after(sums(24, false, false, nothing)), (4, 0), "not scratch");
    assert_eq!(after(sums(24, true, true, nothing)), (1, 3), "used behind the loop as well");
}
