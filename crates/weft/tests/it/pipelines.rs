//! Loops whose loads run ahead mean what they meant.

use crate::checked::check;
use crate::corpus::{Case, cases, text};
use crate::inputs::Argument::{self, Empty, I32, Random};
use crate::inputs::make;
use expect_test::expect;
use weft::axis::AxisFacts;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::pipeline::{self, Wanted};
use weft::tile::{self, AsyncCopy, Kernel, LocalOp, Op, OpKind, eval};
use weft::ttir;
use weft_layout::machine::Machine;

fn machine(name: &str) -> Machine {
    Machine::by_name(name).unwrap().clone()
}

/// What memory holds after a run, and what was found on the way.
fn evaluated(case: &Case, kernel: &Kernel) -> (weft::memory::Memory, eval::Report) {
    run((case.grid, &case.arguments), kernel)
}

fn run(
    (grid, arguments): ([u32; 3], &[(&str, Argument)]),
    kernel: &Kernel,
) -> (weft::memory::Memory, eval::Report) {
    let (args, mut memory) = make(arguments);
    let report = eval::run(kernel, grid, &args, &mut memory, eval::Options::default());
    (memory, report.unwrap())
}

fn copies(kernel: &Kernel) -> usize {
    let mut count = 0;
    kernel.walk(&kernel.body, &mut |_, op| {
        count += usize::from(matches!(op.kind, OpKind::AsyncCopy(AsyncCopy::Begin(_))));
    });
    count
}

#[test]
fn loops_that_run_ahead_mean_the_same() {
    let mut pipelined = String::new();
    for case in cases() {
        let module = ttir::parse(&text(case.file)).unwrap();
        let kernel = &module.kernels[0];
        let ways = ["sm_80", "gfx942", "gfx950", "gfx1100"]
            .into_iter()
            .flat_map(|name| [2, 3, 4].map(|s| (name, s)));
        for (name, stages) in ways {
            let facts = AxisFacts::of(kernel);
            let Some(ahead) = pipeline::run(kernel, &facts, &machine(name), 4, Wanted::of(stages))
            else {
                continue;
            };
            tile::verify(&ahead).unwrap();
            let ((memory, report), (wanted, before)) =
                (evaluated(&case, &ahead), evaluated(&case, kernel));
            assert_eq!(memory, wanted, "{} with {stages} stages for {name}", case.file);
            assert_eq!(report.findings, before.findings, "{}", case.file);
            if (name, stages) == ("sm_80", 3) {
                pipelined += &format!("{} {}\n", case.file, copies(&ahead));
            }
        }
    }
    expect![[r#"
        examples/matmul 6
        crates/weft/tests/kernels/matmul_f16 6
    "#]]
    .assert_eq(&pipelined);
}

/// Waves that do not copy past the registers keep the factors of the next round there, if they have so many.
#[test]
fn registers_hold_the_factors_of_machines_without_copies() {
    let roomy = machine("gfx942");
    let narrow = Machine { registers: 64 * 256, ..roomy.clone() };
    for file in ["examples/matmul", "crates/weft/tests/kernels/matmul_f16"] {
        let module = ttir::parse(&text(file)).unwrap();
        let kernel = &module.kernels[0];
        let facts = AxisFacts::of(kernel);
        for (machine, stages) in [(&roomy, 1), (&narrow, 2)] {
            assert!(
                pipeline::run(kernel, &facts, machine, 4, Wanted::of(stages)).is_none(),
                "{file}"
            );
        }
        let once = pipeline::run(kernel, &facts, &roomy, 4, Wanted::of(2)).unwrap();
        let more = pipeline::run(kernel, &facts, &roomy, 4, Wanted::of(4)).unwrap();
        assert_eq!(once.to_string(), more.to_string(), "registers hold one round");
        assert_eq!(copies(&once), 0);
        let is_load = |op: &Op| matches!(op.kind, OpKind::Load(_));
        let (mut inside, mut products) = (0, 0);
        once.walk(&once.body, &mut |_, op| {
            for region in op.regions.iter().filter(|_| matches!(op.kind, OpKind::For(_))) {
                once.walk(region, &mut |_, op| {
                    inside += usize::from(is_load(op));
                    let factors = op.operands.iter().take(2);
                    let is_product = matches!(op.kind, OpKind::Dot(_));
                    products += usize::from(is_product);
                    // They were loaded in the round before.
                    let carried = |factor| region.params.contains(factor);
                    assert!(!is_product || factors.clone().all(carried), "{file}");
                });
            }
        });
        assert_eq!((inside, products), (2, 1), "{file}");
    }
}

/// Where copies put down what they read as it is, threads find neighbours along the sum only if memory has them so.
#[test]
fn copies_past_the_registers_bring_factors_that_lie_along_the_sum() {
    // Both factors, the right one by columns; the left one; none, as no stride is promised to be a multiple.
    for (name, wanted) in [("matmul_bf16", 6), ("matmul_f16", 3), ("linear_bf16", 0)] {
        let path = format!("{}/../../kernels/{name}.ttir", env!("CARGO_MANIFEST_DIR"));
        let module = ttir::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        let kernel = &module.kernels[0];
        let facts = AxisFacts::of(kernel);
        let ahead = pipeline::run(kernel, &facts, &machine("gfx950"), 4, Wanted::of(3));
        if let Some(ahead) = &ahead {
            tile::verify(ahead).unwrap();
        }
        assert_eq!(ahead.as_ref().map_or(0, copies), wanted, "{name}");
    }
}

/// A state that each round stores, weakens by a gate and adds the product of two tiles to.
const GATED: &str = r#"
module {
  tt.func public @gated(%keys: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %gates: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %halves: !tt.ptr<f16>, %states: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %rounds: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %tile = arith.constant 256 : i32
    %none = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %width = arith.constant dense<16> : tensor<16x1xi32>
    %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %down = tt.expand_dims %range {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %across = tt.expand_dims %range {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %lines = arith.muli %down, %width : tensor<16x1xi32>
    %wide = tt.broadcast %lines : tensor<16x1xi32> -> tensor<16x16xi32>
    %high = tt.broadcast %across : tensor<1x16xi32> -> tensor<16x16xi32>
    %within = arith.addi %wide, %high : tensor<16x16xi32>
    %end = scf.for %i = %zero to %rounds step %one iter_args(%state = %none) -> (tensor<16x16xf32>) : i32 {
      %begin = arith.muli %i, %tile : i32
      %row = tt.addptr %states, %begin : !tt.ptr<f32>, i32
      %rows = tt.splat %row : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
      %places = tt.addptr %rows, %within : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
      tt.store %places, %state : tensor<16x16x!tt.ptr<f32>>
      %key = tt.addptr %keys, %begin : !tt.ptr<f16>, i32
      %splat = tt.splat %key : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
      %pointers = tt.addptr %splat, %within : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
      %a = tt.load %pointers : tensor<16x16x!tt.ptr<f16>>
      %b = tt.trans %a {order = array<i32: 1, 0>} : tensor<16x16xf16> -> tensor<16x16xf16>
      %gate = tt.addptr %gates, %i : !tt.ptr<f32>, i32
      %factor = tt.load %gate : !tt.ptr<f32>
      %factors = tt.splat %factor : f32 -> tensor<16x16xf32>
      %half = tt.addptr %halves, %begin : !tt.ptr<f16>, i32
      %first = tt.splat %half : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
      %each = tt.addptr %first, %range : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
      %narrow = tt.load %each : tensor<16x!tt.ptr<f16>>
      %line = tt.expand_dims %narrow {axis = 0 : i32} : tensor<16xf16> -> tensor<1x16xf16>
      %column = tt.broadcast %line : tensor<1x16xf16> -> tensor<16x16xf16>
      %weight = arith.extf %column : tensor<16x16xf16> to tensor<16x16xf32>
      %weak = arith.mulf %state, %factors : tensor<16x16xf32>
      %weaker = arith.mulf %weak, %weight : tensor<16x16xf32>
      %next = tt.dot %a, %b, %weaker : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %next : tensor<16x16xf32>
    }
    tt.return
  }
}
"#;

/// What a round of a pipelined loop loads by pointers, and how many of these loads are for the round itself: they
/// have no mask, which those of a round that may not exist have.
fn loads_of_rounds(kernel: &Kernel) -> (usize, usize) {
    let (mut ahead, mut own) = (0, 0);
    kernel.walk(&kernel.body, &mut |_, op| {
        for region in op.regions.iter().filter(|_| matches!(op.kind, OpKind::For(_))) {
            kernel.walk(region, &mut |_, op| {
                let masked = op.operands.len() > 1;
                ahead += usize::from(matches!(op.kind, OpKind::Load(_)) && masked);
                own += usize::from(matches!(op.kind, OpKind::Load(_)) && !masked);
            });
        }
    });
    (ahead, own)
}

/// A gate of one number, and weights too narrow to be copied, are in registers when their round begins.
#[test]
fn a_few_numbers_come_one_round_ahead() {
    let module = ttir::parse(GATED).unwrap();
    let kernel = &module.kernels[0];
    for rounds in [0, 1, 2, 7] {
        let elements = 256 * rounds as usize;
        let arguments = [
            ("keys", Random(DType::F16, elements)),
            ("gates", Random(DType::F32, rounds as usize)),
            ("halves", Random(DType::F16, elements)),
            ("states", Empty(DType::F32, elements)),
            ("rounds", I32(rounds)),
        ];
        let launch = ([1, 1, 1], &arguments[..]);
        for stages in 2..=4 {
            let facts = AxisFacts::of(kernel);
            let ahead =
                pipeline::run(kernel, &facts, &machine("sm_90"), 1, Wanted::of(stages)).unwrap();
            tile::verify(&ahead).unwrap();
            assert_eq!(loads_of_rounds(&ahead), (2, 0), "{stages} stages");
            let ((memory, report), (wanted, before)) = (run(launch, &ahead), run(launch, kernel));
            assert_eq!(memory, wanted, "{rounds} rounds, {stages} stages");
            assert_eq!(report.findings, before.findings);
        }
    }
}

/// In a gate that the loop itself may write to, or that has to be read again each time, nothing moves.
#[test]
fn what_a_round_may_write_to_is_loaded_where_it_stands() {
    let written = GATED
        .replace("tt.addptr %gates, %i : !tt.ptr<f32>", "tt.addptr %states, %i : !tt.ptr<f32>");
    let again = GATED.replace("tt.load %gate :", "tt.load %gate {isVolatile = true} :");
    for text in [written, again] {
        let module = ttir::parse(&text).unwrap();
        let kernel = &module.kernels[0];
        let ahead =
            pipeline::run(kernel, &AxisFacts::of(kernel), &machine("sm_90"), 1, Wanted::of(3))
                .unwrap();
        assert_eq!(loads_of_rounds(&ahead), (1, 1));
    }
}

/// Loads pass an atomic whose result nobody looks at; another result may say that another block came first.
#[test]
fn loads_pass_atomics_that_tell_nothing() {
    let adds = GATED.replace(
        "tt.store %places, %state : tensor<16x16x!tt.ptr<f32>>",
        "%old = tt.atomic_rmw fadd, acq_rel, gpu, %places, %state : (tensor<16x16x!tt.ptr<f32>>, tensor<16x16xf32>) -> tensor<16x16xf32>",
    );
    let looks = adds.replace("arith.mulf %state, %factors", "arith.mulf %old, %factors");
    for (text, runs) in [(adds, true), (looks, false)] {
        let module = ttir::parse(&text).unwrap();
        let kernel = &module.kernels[0];
        let ahead =
            pipeline::run(kernel, &AxisFacts::of(kernel), &machine("sm_90"), 1, Wanted::of(3));
        assert_eq!(ahead.is_some(), runs);
    }
}

/// The last of the stages that a kernel asks for is left out where blocks find room without it.
#[test]
fn stages_leave_room_for_blocks() {
    let module = ttir::parse(GATED).unwrap();
    let kernel = &module.kernels[0];
    let stages = |machine: &Machine, stages: u32| {
        let ahead =
            pipeline::run(kernel, &AxisFacts::of(kernel), machine, 1, Wanted::of(stages)).unwrap();
        let mut found = 0;
        ahead.walk(&ahead.body, &mut |_, op| {
            if op.kind == OpKind::Local(LocalOp::Alloc) {
                found = ahead.ty(op.results[0]).shape[0];
            }
        });
        found
    };
    let roomy = machine("sm_90");
    assert_eq!(stages(&roomy, 3), 3);
    // A stage has 512 bytes; 25 blocks of 32 threads find registers.
    let narrow = Machine { shared_bytes: 40 << 10, ..roomy };
    assert_eq!(stages(&narrow, 4), 3);
}

/// A product whose left factor lies along its rows, of which the source promises that neighbours follow one another.
const ALONG_ROWS: &str = "
tt.func public @along_rows(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f32>, %m: i32, %step: i32 {tt.divisibility = 16 : i32}, %rounds: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %width = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %size = tt.splat %m : i32 -> tensor<64xi32>
  %rows = arith.remsi %range, %size {tt.contiguity = dense<64> : tensor<1xi32>, tt.divisibility = dense<64> : tensor<1xi32>} : tensor<64xi32>
  %down = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %all = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x32xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %over = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %under = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %steps = tt.splat %step : i32 -> tensor<1x32xi32>
  %far = arith.muli %over, %steps : tensor<1x32xi32>
  %fars = tt.broadcast %far : tensor<1x32xi32> -> tensor<64x32xi32>
  %at = arith.addi %all, %fars : tensor<64x32xi32>
  %widths = tt.splat %width : i32 -> tensor<32x1xi32>
  %below = arith.muli %under, %widths : tensor<32x1xi32>
  %belows = tt.broadcast %below : tensor<32x1xi32> -> tensor<32x32xi32>
  %right = tt.broadcast %over : tensor<1x32xi32> -> tensor<32x32xi32>
  %square = arith.addi %belows, %right : tensor<32x32xi32>
  %sum = scf.for %i = %zero to %rounds step %one iter_args(%before = %none) -> (tensor<64x32xf32>) : i32 {
    %begin = arith.muli %i, %step : i32
    %from = tt.addptr %x, %begin : !tt.ptr<f16>, i32
    %froms = tt.splat %from : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %lefts = tt.addptr %froms, %at : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %there = tt.addptr %y, %begin : !tt.ptr<f16>, i32
    %theres = tt.splat %there : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %rights = tt.addptr %theres, %square : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %a = tt.load %lefts : tensor<64x32x!tt.ptr<f16>>
    %b = tt.load %rights : tensor<32x32x!tt.ptr<f16>>
    %after = tt.dot %a, %b, %before : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
    scf.yield %after : tensor<64x32xf32>
  }
  %out = tt.splat %z : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
  tt.store %out, %sum : tensor<64x32x!tt.ptr<f32>>
  tt.return
}
";

/// Copies are as wide as loads along whichever axis of a factor lies along memory, promised or proved.
#[test]
fn copies_are_wide_along_any_axis() {
    let module = ttir::parse(ALONG_ROWS).unwrap();
    let options = Options { warps: 4, stages: 3, ..Options::for_machine(&machine("sm_90")) };
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    let target = Target::by_name("sm_90").unwrap();
    let text = emit::print(&compiled.program, Language::Ptx, target).unwrap();
    assert!(text.contains("cp.async.cg.shared.global"));
    assert!(!text.contains("ld.global.b16"), "{text}");
}

/// Warpgroups' first product of a round, whose sum the round looks at, begins in front of the copies for a later one, unless
/// the round computes one of its factors.
#[test]
fn products_begin_in_front_of_copies() {
    let text = ALONG_ROWS
        .replace("%after = tt.dot %a, %b, %before :", "%sum_of_round = tt.dot %a, %b, %none :");
    let text = text.replace(
        "    scf.yield %after",
        "    %power = math.exp %sum_of_round : tensor<64x32xf32>
    %after = arith.addf %before, %power : tensor<64x32xf32>
    scf.yield %after",
    );
    let computed = text.replace(
        "%sum_of_round = tt.dot %a",
        "%turned = math.absf %a : tensor<64x32xf16>\n%sum_of_round = tt.dot %turned",
    );
    for (text, first) in [(text, true), (computed, false)] {
        assert_eq!(begins_in_front(&text), first);
    }
}

fn begins_in_front(text: &str) -> bool {
    let module = ttir::parse(text).unwrap();
    let options = Options { warps: 4, stages: 3, ..Options::for_machine(&machine("sm_90")) };
    let kernel = compile::compile(&module, &module.kernels[0], &options).unwrap().kernel;
    let mut order = Vec::new();
    kernel.walk(&kernel.body, &mut |_, op| {
        if matches!(op.kind, OpKind::For(_)) {
            order = op.regions[0].ops.iter().map(|&id| kernel.ops[id].kind.clone()).collect();
        }
    });
    let first = |takes: &dyn Fn(&OpKind) -> bool| order.iter().position(takes).unwrap();
    let product = first(&|kind| matches!(kind, OpKind::WarpgroupDot(_)));
    product < first(&|kind| matches!(kind, OpKind::AsyncCopy(AsyncCopy::Begin(_))))
}

/// Products of tiles one after the other in one loop: a branch finds the next tile, another one stores a sum.
const FLATTENED: &str = "tt.func public @flattened(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %lines: i32, %rounds: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %before = arith.constant -1 : i32
  %tall = arith.constant 32 : i32
  %tile = arith.constant 1024 : i32
  %none = arith.constant dense<0.0> : tensor<32x32xf32>
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %over = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %overs = tt.broadcast %over : tensor<1x32xi32> -> tensor<32x32xi32>
  %down = tt.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %width = arith.constant dense<32> : tensor<32x1xi32>
  %shifted = arith.muli %down, %width : tensor<32x1xi32>
  %downs = tt.broadcast %shifted : tensor<32x1xi32> -> tensor<32x32xi32>
  %square = arith.addi %downs, %overs : tensor<32x32xi32>
  %length = arith.constant dense<64> : tensor<32x1xi32>
  %end:4 = scf.for %i = %zero to %rounds step %one iter_args(%k = %one, %number = %before, %rows = %range, %sum = %none) -> (i32, i32, tensor<32xi32>, tensor<32x32xf32>) : i32 {
    %more = arith.addi %k, %one : i32
    %is_last = arith.cmpi eq, %k, %one : i32
    %next = arith.select %is_last, %zero, %more : i32
    %is_new = arith.cmpi eq, %next, %zero : i32
    %found:2 = scf.if %is_new -> (i32, tensor<32xi32>) {
      %after = arith.addi %number, %one : i32
      %first = arith.muli %after, %tall : i32
      %firsts = tt.splat %first : i32 -> tensor<32xi32>
      %all = arith.addi %firsts, %range : tensor<32xi32>
      %wraps = tt.splat %lines : i32 -> tensor<32xi32>
      %own = arith.remsi %all, %wraps : tensor<32xi32>
      scf.yield %after, %own : i32, tensor<32xi32>
    } else {
      scf.yield %number, %rows : i32, tensor<32xi32>
    }
    %at = arith.muli %next, %tall : i32
    %ats = tt.splat %at : i32 -> tensor<32x32xi32>
    %line = tt.expand_dims %found#1 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %starts = arith.muli %line, %length : tensor<32x1xi32>
    %left = tt.broadcast %starts : tensor<32x1xi32> -> tensor<32x32xi32>
    %lefts = arith.addi %left, %overs : tensor<32x32xi32>
    %from = arith.addi %lefts, %ats : tensor<32x32xi32>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %a_at = tt.addptr %xs, %from : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %a = tt.load %a_at : tensor<32x32x!tt.ptr<f16>>
    %begin = arith.muli %next, %tile : i32
    %y_at = tt.addptr %y, %begin : !tt.ptr<f16>, i32
    %ys = tt.splat %y_at : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %b_at = tt.addptr %ys, %square : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %b = tt.load %b_at : tensor<32x32x!tt.ptr<f16>>
    %product = tt.dot %a, %b, %sum : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %is_done = arith.cmpi eq, %next, %one : i32
    scf.if %is_done {
      %place = arith.muli %found#0, %tile : i32
      %z_at = tt.addptr %z, %place : !tt.ptr<f32>, i32
      %zs = tt.splat %z_at : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
      %out = tt.addptr %zs, %square : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
      tt.store %out, %product : tensor<32x32x!tt.ptr<f32>>
    }
    %left_over = arith.select %is_done, %none, %product : tensor<32x32xf32>
    scf.yield %next, %found#0, %found#1, %left_over : i32, i32, tensor<32xi32>, tensor<32x32xf32>
  }
  tt.return
}";

/// What a branch computes for addresses is computed ahead as well, by a branch.
#[test]
fn loads_whose_addresses_a_branch_finds_run_ahead() {
    let module = ttir::parse(FLATTENED).unwrap();
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    for stages in [2, 3, 4] {
        let ahead =
            pipeline::run(kernel, &facts, &machine("sm_80"), 4, Wanted::of(stages)).unwrap();
        tile::verify(&ahead).unwrap();
        assert_eq!(copies(&ahead), 2 * stages as usize, "{stages} stages");
    }
    for rounds in [0, 1, 2, 3, 8] {
        let tiles = (rounds as usize / 2).max(1);
        let arguments = [
            ("x", Random(DType::F16, 48 * 64)),
            ("y", Random(DType::F16, 2 * 1024)),
            ("z", Empty(DType::F32, 1024 * tiles)),
            ("lines", I32(48)),
            ("rounds", I32(rounds)),
        ];
        for name in ["sm_80", "sm_90", "gfx942", "gfx950"] {
            for stages in [2, 3] {
                let options = Options { stages, ..Options::for_machine(&machine(name)) };
                check(FLATTENED, &options, [1, 1, 1], &arguments);
            }
        }
    }
}
