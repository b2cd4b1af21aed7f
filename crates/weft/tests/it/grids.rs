//! Grids that depend on others (programmatic dependent launch).

use crate::checked::check;
use crate::inputs::Argument::{Empty, I32, Random};
use weft::axis::AxisFacts;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::pipeline::{self, Wanted};
use weft::tile::{self, OpKind};
use weft::ttir;
use weft_layout::machine::Machine;

/// The operations as Triton 3.9 prints them, and the assembly that Triton 3.6 has for them.
const SPELLINGS: [[&str; 2]; 2] = [
    ["tt.grid_dependency_wait", "tt.grid_dependency_launch_dependents"],
    [
        r#"%w = tt.elementwise_inline_asm "griddepcontrol.wait; // dummy $0" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32"#,
        r#"%l = tt.elementwise_inline_asm "griddepcontrol.launch_dependents; // dummy $0" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32"#,
    ],
];

/// Reads the same numbers in front of a wait and behind it.
fn twice([wait, launch]: [&str; 2]) -> String {
    format!(
        "tt.func public @twice(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {{
  {launch}
  %a = tt.load %x : !tt.ptr<f32>
  {wait}
  %b = tt.load %x : !tt.ptr<f32>
  %c = arith.addf %a, %b : f32
  tt.store %y, %c : !tt.ptr<f32>
  tt.return
}}"
    )
}

/// A product of tiles, of which the right one is known to be there only behind a wait in the loop.
fn product([wait, _]: [&str; 2]) -> String {
    format!(
        "tt.func public @product(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %z: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %rounds: i32) {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tile = arith.constant 1024 : i32
  %none = arith.constant dense<0.0> : tensor<32x32xf32>
  %range = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32>
  %down = tt.expand_dims %range {{axis = 1 : i32}} : tensor<32xi32> -> tensor<32x1xi32>
  %over = tt.expand_dims %range {{axis = 0 : i32}} : tensor<32xi32> -> tensor<1x32xi32>
  %width = arith.constant dense<32> : tensor<32x1xi32>
  %lines = arith.muli %down, %width : tensor<32x1xi32>
  %a0 = tt.broadcast %lines : tensor<32x1xi32> -> tensor<32x32xi32>
  %a1 = tt.broadcast %over : tensor<1x32xi32> -> tensor<32x32xi32>
  %square = arith.addi %a0, %a1 : tensor<32x32xi32>
  %sum = scf.for %i = %zero to %rounds step %one iter_args(%before = %none) -> (tensor<32x32xf32>) : i32 {{
    %begin = arith.muli %i, %tile : i32
    %from = tt.addptr %x, %begin : !tt.ptr<f16>, i32
    %froms = tt.splat %from : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %lefts = tt.addptr %froms, %square : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %a = tt.load %lefts : tensor<32x32x!tt.ptr<f16>>
    {wait}
    %there = tt.addptr %y, %begin : !tt.ptr<f16>, i32
    %theres = tt.splat %there : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %rights = tt.addptr %theres, %square : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %b = tt.load %rights : tensor<32x32x!tt.ptr<f16>>
    %after = tt.dot %a, %b, %before : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    scf.yield %after : tensor<32x32xf32>
  }}
  %out = tt.splat %z : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %outs = tt.addptr %out, %square : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %outs, %sum : tensor<32x32x!tt.ptr<f32>>
  tt.return
}}"
    )
}

fn options(name: &str) -> Options {
    Options::for_machine(Machine::by_name(name).unwrap())
}

fn printed(text: &str, name: &str, language: Language) -> String {
    let module = ttir::parse(text).unwrap();
    let program = compile::compile(&module, &module.kernels[0], &options(name)).unwrap().program;
    emit::print(&program, language, Target::by_name(name).unwrap()).unwrap()
}

#[test]
fn both_spellings_are_the_same_operations() {
    for spelling in SPELLINGS {
        let module = ttir::parse(&twice(spelling)).unwrap();
        let kernel = &module.kernels[0];
        let kinds: Vec<&OpKind> = kernel.body.ops.iter().map(|&id| &kernel.ops[id].kind).collect();
        let count = |kind: OpKind| kinds.iter().filter(|&&own| *own == kind).count();
        assert_eq!((count(OpKind::GridWait), count(OpKind::GridLaunch)), (1, 1));
        assert!(!kinds.iter().any(|kind| matches!(kind, OpKind::InlineAsm(_))));
    }
}

/// What was read in front of a wait is read again behind it, and neither load crosses it.
#[test]
fn loads_stay_on_their_side_of_a_wait() {
    let text = twice(SPELLINGS[0]);
    for (language, load) in [(Language::Ptx, "ld.global"), (Language::Cuda, "*global<")] {
        let text = printed(&text, "sm_90", language);
        let wait = text.find("griddepcontrol.wait;").unwrap();
        let launch = text.find("griddepcontrol.launch_dependents;").unwrap();
        assert!(launch < wait, "{text}");
        let (before, after) = text.split_at(wait);
        assert_eq!(
            [before, after].map(|part| part.matches(load).count() >= 1),
            [true, true],
            "{text}"
        );
        assert_eq!(
            after.matches(load).count(),
            if language == Language::Ptx { 1 } else { 2 },
            "{text}"
        );
    }
    // Grids of one stream run one after another there.
    for (name, language) in
        [("sm_80", Language::Ptx), ("sm_80", Language::Cuda), ("gfx942", Language::Hip)]
    {
        let text = printed(&text, name, language);
        assert!(!text.contains("griddep"), "{text}");
    }
    for name in ["sm_90", "sm_80", "gfx942"] {
        let arguments = [("x", Random(DType::F32, 1)), ("y", Empty(DType::F32, 1))];
        check(&text, &options(name), [1, 1, 1], &arguments);
    }
}

/// A wait in a loop is one in front of it, and the loads of later rounds run ahead.
#[test]
fn loops_wait_once_in_front() {
    for spelling in SPELLINGS {
        let text = product(spelling);
        let module = ttir::parse(&text).unwrap();
        let kernel = &module.kernels[0];
        let machine = Machine::by_name("sm_90").unwrap();
        let ahead =
            pipeline::run(kernel, &AxisFacts::of(kernel), machine, 4, Wanted::of(3)).unwrap();
        tile::verify(&ahead).unwrap();
        let waits = |op: &OpKind| *op == OpKind::GridWait;
        let outside = ahead.body.ops.iter().filter(|&&id| waits(&ahead.ops[id].kind)).count();
        let mut everywhere = 0;
        ahead.walk(&ahead.body, &mut |_, op| everywhere += usize::from(waits(&op.kind)));
        assert_eq!((outside, everywhere), (1, 1));
        let ptx = printed(&text, "sm_90", Language::Ptx);
        let wait = ptx.find("griddepcontrol.wait;").unwrap();
        assert!(wait < ptx.find("cp.async").unwrap(), "{ptx}");
        for rounds in [0, 1, 5] {
            let elements = 1024 * rounds.max(1) as usize;
            let arguments = [
                ("x", Random(DType::F16, elements)),
                ("y", Random(DType::F16, elements)),
                ("z", Empty(DType::F32, 1024)),
                ("rounds", I32(rounds)),
            ];
            for name in ["sm_90", "sm_80", "gfx942"] {
                check(&text, &options(name), [1, 1, 1], &arguments);
            }
        }
    }
}
