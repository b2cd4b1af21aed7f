//! Accesses that only a barrier orders which weft inserts: told, and no fault of the run.

use crate::kernels::of;
use weft_api::answer::RunAnswer;
use weft_api::run;

/// A kernel of one block on 1024 integers: reversed in place, with something between the two accesses.
fn reversed(between: &str) -> RunAnswer {
    let text = format!(
        "module {{ tt.func public @reverse(%x: !tt.ptr<i32>) {{
         %p = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32>
         %last = arith.constant dense<1023> : tensor<1024xi32>
         %from = arith.subi %last, %p : tensor<1024xi32>
         %base = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
         %there = tt.addptr %base, %from : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
         %a = tt.load %there : tensor<1024x!tt.ptr<i32>>
         {between}
         %here = tt.addptr %base, %p : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
         tt.store %here, %a : tensor<1024x!tt.ptr<i32>>
         tt.return }} }}"
    );
    run::run(&of(&text, "1", &["x=range:i32[1024]".into()], "sm_90").unwrap()).unwrap()
}

#[test]
fn what_only_an_inserted_barrier_orders_is_told() {
    let answer = reversed("");
    assert!(answer.passed && answer.findings.is_empty());
    let kinds: Vec<&str> = answer.unordered.iter().map(|finding| &*finding.kind).collect();
    assert_eq!(kinds, ["unordered"]);
    assert!(answer.unordered[0].other.is_some());
    let message = &answer.unordered[0].message;
    assert!(message.ends_with("orders the two, but for a barrier that weft inserts"), "{message}");
    assert!(weft_api::report::run(&answer).contains("\nunder Triton       1\n"));
}

#[test]
fn what_the_program_orders_itself_is_not() {
    let answer = reversed("gpu.barrier");
    assert!(answer.passed && answer.unordered.is_empty());
}
