//! What registers cannot keep through a loop is loaded again in it.

use super::{build, loop_to};
use crate::dtype::DType;
use crate::lane::{
    Access, BarrierScope, Builder, Multiprocessor, Op, Program, Space, Value, verify,
};
use crate::scalar::{Binary, Compare};
use crate::simplify::reload;

/// Registers of a multiprocessor that give each of 64 threads so many.
fn multiprocessor(each: u32) -> Multiprocessor {
    Multiprocessor { registers: 64 * each, shared_bytes: 1 << 16, reserved_bytes: 0 }
}

/// What stands around the loop.
#[derive(Clone, Copy, PartialEq)]
enum Around {
    Nothing,
    Branch,
    /// A branch whose other side stores a word that was loaded.
    BranchThatUses,
}

/// Four loads of four words in front of a loop that adds them up; `inside` is written at the loop's end.
fn sums(
    each: u32,
    scratch: bool,
    behind: bool,
    inside: impl FnOnce(&mut Builder, Value),
) -> Program {
    sums_in(each, scratch, behind, Around::Nothing, inside)
}

/// The same with something around the loop.
fn sums_in(
    each: u32,
    scratch: bool,
    behind: bool,
    around: Around,
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
    let is_inside = around != Around::Nothing;
    if is_inside {
        build.open_region(&[]);
    }
    loop_to(&mut build, n, |build, counter| {
        let sum = words.iter().fold(counter, |sum, &word| build.binary(Binary::Xor, sum, word));
        build.store(Space::Shared, access, out, None, &[sum]);
        inside(build, base);
    });
    if is_inside {
        let then = build.close_region(Op::Yield, &[]);
        build.open_region(&[]);
        if around == Around::BranchThatUses {
            build.store(Space::Shared, access, out, None, &words[..1]);
        }
        let otherwise = build.close_region(Op::Yield, &[]);
        let zero = build.i32(0);
        let taken = build.compare(Compare::Sgt, n, zero);
        build.if_(taken, then, otherwise, &[]);
    }
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

#[test]
fn through_a_branch_loads_move_into_the_loop_that_lacks_registers() {
    let program = |each, behind, around| sums_in(each, true, behind, around, nothing);
    assert_eq!(after(program(64, false, Around::Branch)), (4, 0), "all fit");
    let short = reload::run(program(24, false, Around::Branch));
    verify(&short).unwrap();
    assert_eq!(loads(&short), (0, 4));
    // What the loop wants is in the loop, not in front of it.
    let branch = short.body.insts.iter().map(|&id| &short.insts[id]).find(|inst| inst.op == Op::If);
    let side = &branch.unwrap().regions[0].insts;
    assert!(!side.iter().any(|&id| matches!(short.insts[id].op, Op::Load { .. })));
    assert_eq!(after(program(24, false, Around::BranchThatUses)), (1, 3), "used on the other side");
    assert_eq!(after(program(24, true, Around::Branch)), (1, 3), "used behind it");
}
