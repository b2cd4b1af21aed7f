//! What is told of blocks that have more warps than were asked for.

use weft_api::explain::explain;
use weft_api::kernels::CompiledKernel;
use weft_api::report;

/// A row without its greatest element, for which every thread holds its part of the row.
const KERNEL: &str = r#"module {
  tt.func public @below(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>>
    %places = tt.addptr %base, %r : tensor<16384x!tt.ptr<f32>>, tensor<16384xi32>
    %row = tt.load %places : tensor<16384x!tt.ptr<f32>>
    %most = "tt.reduce"(%row) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = arith.maxnumf %a, %b : f32
      tt.reduce.return %m : f32
    }) : (tensor<16384xf32>) -> f32
    %all = tt.splat %most : f32 -> tensor<16384xf32>
    %rest = arith.subf %row, %all : tensor<16384xf32>
    %to = tt.splat %out : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>>
    %at = tt.addptr %to, %r : tensor<16384x!tt.ptr<f32>>, tensor<16384xi32>
    tt.store %at, %rest : tensor<16384x!tt.ptr<f32>>
    tt.return
  }
}"#;

#[test]
fn more_warps_than_were_asked_for_are_told_with_the_reason() {
    let asked =
        |warps: u32| serde_json::json!({ "ttir": KERNEL, "target": "sm_90", "warps": warps });
    let answer = explain(&serde_json::from_value(asked(1)).unwrap()).unwrap();
    assert_eq!(answer.warps, 4);
    let relieved = answer.relieved.as_ref().unwrap();
    assert_eq!(relieved.warps, 1);
    assert!(relieved.why.ends_with("registers at once, and can have 255"), "{}", relieved.why);
    let text = report::explain(&answer);
    let mut lines = text.lines();
    assert!(lines.next().unwrap().contains(", 4 warps a block, "), "{text}");
    let told = format!("  asked for 1: {}", relieved.why);
    assert_eq!(lines.next(), Some(&told[..]));
    let enough = explain(&serde_json::from_value(asked(4)).unwrap()).unwrap();
    assert_eq!((enough.warps, enough.relieved), (4, None));
}

/// Whoever bounds the registers of a thread has counted its threads.
#[test]
fn a_bound_of_registers_keeps_the_warps() {
    let request = |most: Option<u32>| {
        let json = serde_json::json!({
            "ttir": KERNEL, "target": "sm_90", "warps": 1, "emit": ["ptx"], "max_registers": most,
        });
        CompiledKernel::new(&serde_json::from_value(json).unwrap()).unwrap()
    };
    assert_eq!((request(Some(128)).warps, request(None).warps), (1, 4));
}
