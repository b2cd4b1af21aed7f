//! What the verifier says of values in flight.

use crate::dtype::DType;
use crate::lane::{Builder, Op, Program, Value, WarpgroupMultiply, verify};
use crate::scalar::{Binary, Compare};
use expect_test::{Expect, expect};

fn form() -> WarpgroupMultiply {
    WarpgroupMultiply {
        columns: 8,
        summed: 16,
        left: DType::F16,
        right: DType::F16,
        sum: DType::F32,
        left_in_registers: false,
        transposed: [false; 2],
        keeps: false,
    }
}

fn started(build: &mut Builder) -> Vec<Value> {
    let zero = build.constant(DType::F32, 0);
    multiply(build, &[zero; 4])
}

fn multiply(build: &mut Builder, sums: &[Value]) -> Vec<Value> {
    let descriptor = build.constant(DType::I64, 0x4000_0040 << 32);
    build.warpgroup_multiply(form(), &[descriptor], descriptor, None, sums).to_vec()
}

fn program(write: impl FnOnce(&mut Builder)) -> Program {
    let mut build = Builder::new("flight", 4, 5);
    write(&mut build);
    build.finish()
}

fn check(expected: &Expect, write: impl FnOnce(&mut Builder)) {
    let found =
        verify(&program(write)).map_or_else(|errors| errors.join("\n"), |()| "right".into());
    expected.assert_eq(&found);
}

/// A loop that carries values; its body gives the next ones.
fn rounds(
    build: &mut Builder,
    initial: &[Value],
    body: impl FnOnce(&mut Builder, &[Value]) -> Vec<Value>,
) -> Vec<Value> {
    let dtypes: Vec<DType> = initial.iter().map(|&value| build.dtype(value)).collect();
    let target = build.new_loop(initial, &dtypes);
    let params = build.open_region(&dtypes);
    let lane = build.id(crate::lane::IdKind::Warp);
    let done = build.compare(Compare::Eq, lane, lane);
    build.break_if(target, done, &params);
    let next = body(build, &params);
    let region = build.close_region(Op::Continue, &next);
    build.place_loop(target, region).to_vec()
}

#[test]
fn what_was_waited_for_may_be_used() {
    check(&expect![["right"]], |build| {
        let first = started(build);
        let first = multiply(build, &first);
        build.warpgroup_commit();
        let second = started(build);
        build.warpgroup_commit();
        let first = build.warpgroup_wait(1, &first);
        build.binary(Binary::Add, first[0], first[3]);
        let second = build.warpgroup_wait(0, &second);
        build.binary(Binary::Add, second[0], first[3]);
    });
}

#[test]
fn a_value_in_flight_is_used_by_products_alone() {
    check(
        &expect![[r#"
        inst4: %2 is in flight since inst2: wait for it, and use what that gives
        inst4: %5 is in flight since inst2: wait for it, and use what that gives"#]],
        |build| {
            let sums = started(build);
            build.warpgroup_commit();
            build.binary(Binary::Add, sums[0], sums[3]);
            build.warpgroup_wait(0, &[]);
        },
    );
    check(
        &expect![[r#"
        inst4: %2 was in flight, and inst3 has taken it
        inst4: %3 was in flight, and inst3 has taken it
        inst4: %4 was in flight, and inst3 has taken it
        inst4: %5 was in flight, and inst3 has taken it"#]],
        |build| {
            let sums = started(build);
            let next = multiply(build, &sums);
            let other = multiply(build, &sums);
            build.warpgroup_commit();
            build.warpgroup_wait(0, &[&next[..], &other].concat());
        },
    );
    check(
        &expect![
            "inst3: the accumulators from %3 on are not one tile in flight, whole and in order"
        ],
        |build| {
            let mut sums = started(build);
            sums.swap(0, 1);
            multiply(build, &sums);
            build.warpgroup_commit();
            build.warpgroup_wait(0, &[]);
        },
    );
}

#[test]
fn a_wait_gives_back_what_it_waits_for() {
    check(
        &expect![[r#"
        inst6: %6, in flight since inst4, may be among the 1 latest groups
        inst6: %7, in flight since inst4, may be among the 1 latest groups
        inst6: %8, in flight since inst4, may be among the 1 latest groups
        inst6: %9, in flight since inst4, may be among the 1 latest groups"#]],
        |build| {
            let first = started(build);
            build.warpgroup_commit();
            let second = started(build);
            build.warpgroup_commit();
            build.warpgroup_wait(1, &second);
            build.warpgroup_wait(0, &first);
        },
    );
    check(
        &expect![[r#"
        inst3: %2 belongs to a group that is not closed: inst2
        inst3: %3 belongs to a group that is not closed: inst2
        inst3: %4 belongs to a group that is not closed: inst2
        inst3: %5 belongs to a group that is not closed: inst2"#]],
        |build| {
            let sums = started(build);
            build.warpgroup_wait(0, &sums);
            build.warpgroup_commit();
            build.warpgroup_wait(0, &[]);
        },
    );
}

#[test]
fn nothing_is_in_flight_at_the_end() {
    check(&expect!["inst5: products may be in flight at the end"], |build| {
        started(build);
        build.warpgroup_commit();
        build.warpgroup_wait(1, &[]);
    });
    check(&expect!["inst4: products may be in flight at the end"], |build| {
        started(build);
        build.warpgroup_wait(0, &[]);
    });
}

#[test]
fn loops_carry_what_is_in_flight() {
    check(&expect![["right"]], |build| {
        let zero = build.constant(DType::F32, 0);
        let sums = rounds(build, &[zero; 4], |build, sums| {
            let sums = multiply(build, sums);
            build.warpgroup_commit();
            build.warpgroup_wait(1, &[]);
            sums
        });
        build.warpgroup_wait(0, &sums);
    });
    // The value of the loop may be that of the round before, and in flight.
    check(
        &expect![[r#"
        inst5: %5 is in flight since inst7: wait for it, and use what that gives
        inst5: %6 is in flight since inst7: wait for it, and use what that gives"#]],
        |build| {
            let zero = build.constant(DType::F32, 0);
            let sums = rounds(build, &[zero; 4], |build, sums| {
                build.binary(Binary::Add, sums[0], sums[1]);
                let sums = multiply(build, sums);
                build.warpgroup_commit();
                sums
            });
            build.warpgroup_wait(0, &sums);
        },
    );
    // Each round begins a product that nobody carries.
    check(
        &expect![[r#"
        inst8: %4 is in flight since inst6, and nothing behind here can wait for it
        inst8: %5 is in flight since inst6, and nothing behind here can wait for it
        inst8: %6 is in flight since inst6, and nothing behind here can wait for it
        inst8: %7 is in flight since inst6, and nothing behind here can wait for it"#]],
        |build| {
            rounds(build, &[], |build, _| {
                started(build);
                build.warpgroup_commit();
                Vec::new()
            });
            build.warpgroup_wait(0, &[]);
        },
    );
    // What a product takes from registers is computed anew in the next round.
    check(
        &expect!["inst7: %13 is defined again while a product in flight takes it from registers"],
        |build| {
            let zero = build.constant(DType::F32, 0);
            let sums = rounds(build, &[zero; 4], |build, sums| {
                let descriptor = build.constant(DType::I64, 64);
                let lane = build.id(crate::lane::IdKind::Lane);
                let word = build.shuffle_xor(lane, 1);
                let form = WarpgroupMultiply { left_in_registers: true, ..form() };
                let sums = build.warpgroup_multiply(form, &[word; 4], descriptor, None, sums);
                build.warpgroup_commit();
                build.warpgroup_wait(1, &[]);
                sums.to_vec()
            });
            build.warpgroup_wait(0, &sums);
        },
    );
}

#[test]
fn branches_take_a_value_on_all_ways_or_on_none() {
    let branch = |build: &mut Builder, take_twice: bool| {
        let sums = started(build);
        let (lane, warp) = (build.i32(3), build.id(crate::lane::IdKind::Warp));
        let condition = build.compare(Compare::Slt, lane, warp);
        build.open_region(&[]);
        let more = multiply(build, &sums);
        let then = build.close_region(Op::Yield, &more);
        build.open_region(&[]);
        let zero = build.constant(DType::F32, 0);
        let kept = if take_twice { sums } else { vec![zero; 4] };
        let otherwise = build.close_region(Op::Yield, &kept);
        let sums = build.if_(condition, then, otherwise, &[DType::F32; 4]);
        build.warpgroup_commit();
        build.warpgroup_wait(0, &sums);
    };
    check(&expect![["right"]], |build| branch(build, true));
    check(
        &expect![[r#"
        inst9: %2 is in flight since inst2, and nothing behind here can wait for it
        inst9: %3 is in flight since inst2, and nothing behind here can wait for it
        inst9: %4 is in flight since inst2, and nothing behind here can wait for it
        inst9: %5 is in flight since inst2, and nothing behind here can wait for it"#]],
        |build| branch(build, false),
    );
}
