//! What the verifier says of programs that no text tells of.

use crate::id::Id;
use crate::lane::{Inst, Program, Value, read, verify};
use expect_test::expect;

/// `inst1` is a loop; in it, `inst4` is a branch.
const NESTED: &str = "lane @nested(n: i32) warps 1 lanes 32 shared 0 {
  %0: i32 = param 0
  loop inst1 %0 (%1: i32) {
    %2: i1 = cast.trunc %1
    break.if inst1 %2
    if %2 {
      %3: i32 = add %1, %0
      yield
    } else {
      yield
    }
    continue %1
  }
  return
}
";

/// A change of the program, of which operations and values are told by their numbers.
type Change = fn(&mut Program, fn(usize) -> Inst, fn(usize) -> Value);

fn changed(change: Change) -> String {
    let mut program = read(NESTED, "nested").unwrap();
    assert_eq!(verify(&program), Ok(()));
    change(&mut program, Inst::new, Value::new);
    verify(&program).map_or_else(|errors| errors.join("; "), |()| "right".into())
}

#[test]
fn what_a_region_takes_somebody_hands_over() {
    let changes: [Change; 3] = [
        |program, _, _| {
            // It was the result of an operation, which is gone.
            let first = program.body.insts.remove(0);
            program.body.params.extend(program.insts[first].results.iter().copied());
        },
        |program, inst, value| {
            let twin = program.values.push(program.values[value(0)]);
            program.insts[inst(4)].regions[1].params.push(twin);
        },
        |program, inst, value| {
            let twin = program.values.push(program.values[value(0)]);
            program.insts[inst(1)].regions[0].params.push(twin);
        },
    ];
    expect![[r#"
        the program's region takes values, which nothing hands over
        inst4: a region of it takes values, which nothing hands over
        inst8: the region hands over values of the wrong types; inst1: Loop does not take (i32) and give ()"#]].assert_eq(&changes.map(changed).join("\n"));
}

#[test]
fn operations_stand_in_one_place_and_values_are_defined_once() {
    let changes: [Change; 6] = [
        // One without results, in its own region and in another.
        |program, inst, _| {
            let again = program.insts[inst(4)].regions[0].insts[1];
            program.insts[inst(4)].regions[1].insts = vec![again];
        },
        // One with results, in both branches.
        |program, inst, _| {
            let regions = &mut program.insts[inst(4)].regions;
            regions[1] = regions[0].clone();
        },
        // A branch that is part of itself.
        |program, inst, _| {
            let regions = program.insts[inst(1)].regions.clone();
            program.insts[inst(4)].regions = [regions.clone(), regions].concat();
        },
        // Another operation with the same result, after the region of the first.
        |program, inst, value| {
            let mut twin = program.insts[inst(2)].clone();
            twin.operands[0] = value(0);
            let twin = program.insts.push(twin);
            program.body.insts.insert(2, twin);
        },
        // One operation with one result twice.
        |program, inst, value| program.insts[inst(5)].results.push(value(3)),
        // Values and operations that there are not.
        |program, inst, value| {
            program.insts[inst(5)].results[0] = value(9);
            program.body.insts.insert(1, inst(99));
        },
    ];
    expect![[r#"
        inst6: the operation stands in more than one place
        inst5: the operation stands in more than one place
        inst4: a region of it takes values, which nothing hands over; %1 is defined twice; inst2: the operation stands in more than one place; %1 is defined twice; inst2: the operation stands in more than one place
        %2 is defined twice
        inst5: Binary(Add) does not take (i32, i32) and give (i32, i32); %3 is defined twice
        inst99 does not exist; inst5: Binary(Add) does not take (i32, i32) and give (); %9 does not exist"#]].assert_eq(&changes.map(changed).join("\n"));
}

#[test]
fn operations_own_the_regions_that_they_take() {
    let changes: [Change; 3] = [
        |program, inst, _| {
            let region = program.insts[inst(4)].regions.pop().unwrap();
            program.insts[inst(0)].regions.push(region);
        },
        |program, inst, _| drop(program.insts[inst(1)].regions.pop()),
        |program, inst, _| {
            let body = program.insts[inst(1)].regions[0].clone();
            program.insts[inst(1)].regions.push(body);
        },
    ];
    expect![[r#"
        inst0: its regions are 1, and it takes 0; inst4: its regions are 1, and it takes 2
        inst1: its regions are 0, and it takes 1
        inst1: its regions are 2, and it takes 1"#]]
    .assert_eq(&changes.map(changed).join("\n"));
}
