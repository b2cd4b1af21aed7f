//! Loops whose rounds wait for other threads have the loads of the next round under way, whatever they store.

use crate::inputs::Argument::{I32, Whole};
use crate::inputs::make;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::pipeline::{self, Wanted};
use weft::sim::{self, Launch};
use weft::tile::{self, AsyncCopy, Kernel, OpKind, eval};
use weft::{axis::AxisFacts, ttir};
use weft_layout::machine::Machine;

/// Elements of a row.
const COLUMNS: usize = 64;

/// Adds up rows and stores each with one added; each row begins at a pointer of its own.
const BY_BASE: &str = r#"
tt.func public @rows(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %total: !tt.ptr<f32>, %rounds: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %width = arith.constant 64 : i32
  %ones = arith.constant dense<1.000000e+00> : tensor<64xf32>
  %none = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %columns = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %sum = scf.for %i = %zero to %rounds step %one iter_args(%before = %none) -> (tensor<64xf32>) : i32 {
    %begin = arith.muli %i, %width : i32
    %row = tt.addptr %x, %begin : !tt.ptr<f32>, i32
    %rows = tt.splat %row : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %from = tt.addptr %rows, %columns : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %loaded = tt.load %from : tensor<64x!tt.ptr<f32>>
    %all = "tt.reduce"(%loaded) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64xf32>) -> f32
    %same = tt.splat %all : f32 -> tensor<64xf32>
    %after = arith.addf %before, %same : tensor<64xf32>
    %more = arith.addf %loaded, %ones : tensor<64xf32>
    %there = tt.addptr %y, %begin : !tt.ptr<f32>, i32
    %theres = tt.splat %there : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %to = tt.addptr %theres, %columns : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %to, %more : tensor<64x!tt.ptr<f32>>
    scf.yield %after : tensor<64xf32>
  }
  %totals = tt.splat %total : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %last = tt.addptr %totals, %columns : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %last, %sum : tensor<64x!tt.ptr<f32>>
  tt.return
}
"#;

/// The same with pointers that the loop carries.
const CARRIED: &str = r#"
tt.func public @rows(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %total: !tt.ptr<f32>, %rounds: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %width = arith.constant dense<64> : tensor<64xi32>
  %ones = arith.constant dense<1.000000e+00> : tensor<64xf32>
  %none = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %columns = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %first = tt.addptr %rows, %columns : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %theres = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %there = tt.addptr %theres, %columns : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %end:3 = scf.for %i = %zero to %rounds step %one iter_args(%from = %first, %to = %there, %before = %none) -> (tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>, tensor<64xf32>) : i32 {
    %loaded = tt.load %from : tensor<64x!tt.ptr<f32>>
    %after = arith.addf %before, %loaded : tensor<64xf32>
    %more = arith.addf %loaded, %ones : tensor<64xf32>
    tt.store %to, %more : tensor<64x!tt.ptr<f32>>
    %next = tt.addptr %from, %width : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %then = tt.addptr %to, %width : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %next, %then, %after : tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>, tensor<64xf32>
  }
  %totals = tt.splat %total : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %last = tt.addptr %totals, %columns : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %last, %end#2 : tensor<64x!tt.ptr<f32>>
  tt.return
}
"#;

fn machine() -> Machine {
    Machine::by_name("sm_90").unwrap().clone()
}

/// How many loads of a kernel stand in loops, inside of branches there, and in front of all of them.
fn loads(kernel: &Kernel) -> [usize; 3] {
    let mut found = [0; 3];
    kernel.walk(&kernel.body, &mut |_, op| {
        let place = match op.kind {
            OpKind::For(_) => 0,
            OpKind::If => 1,
            _ => return,
        };
        for region in &op.regions {
            for &id in &region.ops {
                found[place] += usize::from(matches!(kernel.ops[id].kind, OpKind::Load(_)));
            }
        }
    });
    for &id in &kernel.body.ops {
        found[2] += usize::from(matches!(kernel.ops[id].kind, OpKind::Load(_)));
    }
    found
}

/// Where rows go to: memory of its own, the rows themselves, the row after each, and the one before.
#[test]
fn rounds_see_what_those_before_them_have_stored() {
    // The end of each row is left out.
    let masked = CARRIED
        .replace("%loaded = tt.load %from", "%loaded = tt.load %from, %part, %none")
        .replace("tt.store %to, %more", "tt.store %to, %more, %part")
        .replace(
            "%rows = tt.splat %x",
            "%end_of = arith.constant dense<60> : tensor<64xi32>
  %part = arith.cmpi slt, %columns, %end_of : tensor<64xi32>
  %rows = tt.splat %x",
        );
    // Both in one loop: what begins at one pointer each, and what does not.
    let both = BY_BASE.replace(
        "scf.yield %after",
        "%far = arith.addi %i, %one : i32
    %then = arith.muli %far, %width : i32
    %base = tt.addptr %total, %width : !tt.ptr<f32>, i32
    %past = tt.addptr %base, %then : !tt.ptr<f32>, i32
    %pasts = tt.splat %past : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %shift = arith.addi %columns, %columns : tensor<64xi32>
    %on = tt.addptr %pasts, %shift : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %on, %more : tensor<64x!tt.ptr<f32>>
    scf.yield %after",
    );
    // One offset for both that the counter leads to, which the next round has another of.
    let counted = BY_BASE
        .replace(
            "%row = tt.addptr %x, %begin : !tt.ptr<f32>, i32",
            "%begins = tt.splat %begin : i32 -> tensor<64xi32>",
        )
        .replace(
            "%rows = tt.splat %row",
            "%at = arith.addi %begins, %columns : tensor<64xi32>\n    %rows = tt.splat %x",
        )
        .replace("%from = tt.addptr %rows, %columns", "%from = tt.addptr %rows, %at")
        .replace("%there = tt.addptr %y, %begin : !tt.ptr<f32>, i32\n", "")
        .replace("tt.splat %there", "tt.splat %y")
        .replace("%to = tt.addptr %theres, %columns", "%to = tt.addptr %theres, %at");
    for text in [BY_BASE, CARRIED, &masked, &both, &counted] {
        check_rows(text, [1, 1, 1]);
        // Three rounds ahead nothing is compared in each round, but all is asked in front of the first.
        let asked = asked(text, 4);
        check_rows(&asked, [0, 0, 0]);
        let kernel = &ttir::parse(&asked).unwrap().kernels[0];
        let one = Wanted { stages: 3, most: 1 };
        assert!(pipeline::run(kernel, &AxisFacts::of(kernel), &machine(), 2, one).is_none());
    }
}

/// A loop whose source asks for so many stages.
fn asked(text: &str, stages: u32) -> String {
    text.replacen("\n  }\n", &format!("\n  }} {{tt.num_stages = {stages} : i32}}\n"), 1)
}

/// How many copies of a kernel begin in front of its loops, in them and in their branches.
fn copies(kernel: &Kernel) -> usize {
    let mut found = 0;
    kernel.walk(&kernel.body, &mut |_, op| {
        found += usize::from(matches!(op.kind, OpKind::AsyncCopy(AsyncCopy::Begin(_))));
    });
    found
}

/// Runs a loop over rows with its loads ahead, of which so many stay in the loop, in branches there and in front of it.
fn check_rows(text: &str, left: [usize; 3]) {
    let module = ttir::parse(text).unwrap();
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let ahead =
        pipeline::run(kernel, &facts, &machine(), 2, Wanted { stages: 3, most: 8 }).unwrap();
    tile::verify(&ahead).unwrap();
    // The load of the next round, and that which is done again; or three copies in front, one in each round, and one
    // where stores are met.
    assert_eq!(loads(&ahead), left);
    assert_eq!(copies(&ahead), if left[0] == 0 { 5 } else { 0 });
    let options = Options { warps: 2, order_accesses: false, ..Options::for_machine(&machine()) };
    let program = compile::compile(&module, kernel, &options).unwrap().program;
    // Threads wait for each other for sums of rows alone.
    assert_eq!(program.to_string().contains("barrier"), text.contains("tt.reduce"), "{text}");
    for rounds in [0, 1, 2, 3, 4, 9] {
        for moved in [None, Some(0), Some(1), Some(-1)] {
            let arguments = [
                ("x", Whole(COLUMNS * 16, -3, 4)),
                ("y", Whole(COLUMNS * 16, -3, 4)),
                ("total", Whole(COLUMNS * 16, 0, 1)),
                ("rounds", I32(rounds)),
            ];
            let (mut args, memory) = make(&arguments);
            // From the second row on, so that there is one before.
            let row = 4 * COLUMNS as u64;
            args[0] += row;
            if let Some(rows) = moved {
                args[1] = args[0].wrapping_add_signed(rows * row.cast_signed());
            }
            let evaluated = |kernel: &Kernel| {
                let mut memory = memory.clone();
                let options = eval::Options::default();
                eval::run(kernel, [1, 1, 1], &args, &mut memory, options).unwrap();
                memory
            };
            let wanted = evaluated(kernel);
            let place = format!("{rounds} rounds, moved by {moved:?}: {text}");
            assert_eq!(evaluated(&ahead), wanted, "{place}");
            let launch = Launch {
                program: &program,
                grid: [1, 1, 1],
                args: &args,
                machine: &compile::simulated(&machine(), 1),
                options: sim::Options::default(),
            };
            let mut simulated = memory.clone();
            let report = sim::run(&launch, &mut simulated).unwrap();
            assert!(report.is_clean(), "{place}: {report:?}");
            assert_eq!(simulated, wanted, "{place}");
        }
    }
}

/// Loads stay where they are in rounds that wait for nobody and go on from none before, where they are the same in every
/// round, behind a store of their own round, where the loop stores through the same argument or holds all threads
/// together, and where threads have not the registers.
#[test]
fn other_loops_keep_their_loads() {
    let streams = CARRIED.replace("%before, %loaded", "%before, %ones");
    let fixed = BY_BASE.replace("%row = tt.addptr %x, %begin", "%row = tt.addptr %x, %zero");
    let written = BY_BASE.replace("tt.addptr %y, %begin", "tt.addptr %x, %begin");
    let together = BY_BASE.replace("scf.yield %after", "gpu.barrier\n scf.yield %after");
    let behind = BY_BASE.replace(
        "%loaded = tt.load",
        "%starts = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %start = tt.addptr %starts, %columns : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %start, %ones : tensor<64x!tt.ptr<f32>>
    %loaded = tt.load",
    );
    for text in [streams, fixed, written, together, behind] {
        let module = ttir::parse(&text).unwrap();
        let kernel = &module.kernels[0];
        let ahead = pipeline::run(kernel, &AxisFacts::of(kernel), &machine(), 1, Wanted::of(3));
        assert!(ahead.is_none());
    }
    let wide = BY_BASE.replace("64 :", "8192 :").replace("64x", "8192x");
    let module = ttir::parse(&wide).unwrap();
    let kernel = &module.kernels[0];
    let runs = |warps| {
        pipeline::run(kernel, &AxisFacts::of(kernel), &machine(), warps, Wanted::of(3)).is_some()
    };
    assert_eq!([1, 2, 4, 8].map(runs), [false, false, false, true]);
}

/// A block alone on its multiprocessor, where another one ran beside it, waits longer than it gains; one that has a share
/// of the rounds has nobody beside it.
#[test]
fn loads_ahead_leave_room_for_other_blocks() {
    let wide = DIVIDED.replace("64 :", "16384 :").replace("64x", "16384x");
    let share = wide.replace(
        "%greatest = scf.for %i = %zero",
        "%block = tt.get_program_id x : i32
  %first = arith.muli %block, %width : i32
  %greatest = scf.for %i = %first",
    );
    for (text, wanted) in [(wide, [false; 3]), (share, [false, true, true])] {
        let module = ttir::parse(&text).unwrap();
        let kernel = &module.kernels[0];
        let runs = |warps| {
            pipeline::run(kernel, &AxisFacts::of(kernel), &machine(), warps, Wanted::of(3))
                .is_some()
        };
        assert_eq!([8, 16, 32].map(runs), wanted);
    }
}

/// A round that keeps `count` tiles of 64 by 64 until the sum of all is known.
fn many(count: usize) -> String {
    let (mut body, mut sum, mut out) = (String::new(), "%none".into(), "%before".to_string());
    for tile in 0..count {
        let from = if tile == 0 { "%loaded".into() } else { format!("%tile{}", tile - 1) };
        body += &format!(
            r#"%tile{tile} = math.exp {from} : tensor<64x64xf32>
    %flat{tile} = tt.reshape %tile{tile} : tensor<64x64xf32> -> tensor<4096xf32>
    %all{tile} = "tt.reduce"(%flat{tile}) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }}) : (tensor<4096xf32>) -> f32
    %sum{tile} = arith.addf {sum}, %all{tile} : f32
    "#
        );
        sum = format!("%sum{tile}");
    }
    body += &format!("%same = tt.splat {sum} : f32 -> tensor<64x64xf32>\n");
    for tile in 0..count {
        body += &format!(
            "    %by{tile} = arith.mulf %tile{tile}, %same : tensor<64x64xf32>
    %out{tile} = arith.addf {out}, %by{tile} : tensor<64x64xf32>\n"
        );
        out = format!("%out{tile}");
    }
    format!(
        r#"
tt.func public @many(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %rounds: i32) {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %width = arith.constant 4096 : i32
  %none = arith.constant 0.000000e+00 : f32
  %nones = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %range = tt.make_range {{end = 4096 : i32, start = 0 : i32}} : tensor<4096xi32>
  %places = tt.reshape %range : tensor<4096xi32> -> tensor<64x64xi32>
  %total = scf.for %i = %zero to %rounds step %one iter_args(%before = %nones) -> (tensor<64x64xf32>) : i32 {{
    %begin = arith.muli %i, %width : i32
    %row = tt.addptr %x, %begin : !tt.ptr<f32>, i32
    %rows = tt.splat %row : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %from = tt.addptr %rows, %places : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %loaded = tt.load %from : tensor<64x64x!tt.ptr<f32>>
    {body}    scf.yield {out} : tensor<64x64xf32>
  }}
  %outs = tt.splat %y : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %to = tt.addptr %outs, %places : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %to, %total : tensor<64x64x!tt.ptr<f32>>
  tt.return
}}
"#
    )
}

/// Loads stay where registers suffice without those of a round ahead, and not with them.
#[test]
fn loads_stay_where_registers_lack() {
    let ahead = |count: usize| {
        let module = ttir::parse(&many(count)).unwrap_or_else(|errors| panic!("{errors:?}"));
        let kernel = &module.kernels[0];
        let found = pipeline::run(kernel, &AxisFacts::of(kernel), &machine(), 4, Wanted::of(2));
        assert!(found.is_some(), "{count}");
        let options = Options { warps: 4, stages: 2, ..Options::for_machine(&machine()) };
        let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
        loads(&compiled.kernel).iter().sum::<usize>()
    };
    assert_eq!([2, 6].map(ahead), [2, 1]);
}

/// The greatest of a matrix's elements, whose rows a quotient tells and whose columns its remainder.
const DIVIDED: &str = r#"
tt.func public @divided(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}, %d: i32 {tt.divisibility = 16 : i32}, %pitch: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant 0 : i32
  %width = arith.constant 64 : i32
  %none = arith.constant 0.000000e+00 : f32
  %nones = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ds = tt.splat %d : i32 -> tensor<64xi32>
  %pitches = tt.splat %pitch : i32 -> tensor<64xi32>
  %ends = tt.splat %n : i32 -> tensor<64xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %greatest = scf.for %i = %zero to %n step %width iter_args(%before = %none) -> (f32) : i32 {
    %begin = tt.splat %i : i32 -> tensor<64xi32>
    %places = arith.addi %begin, %range : tensor<64xi32>
    %mask = arith.cmpi slt, %places, %ends : tensor<64xi32>
    %row = arith.divsi %places, %ds : tensor<64xi32>
    %column = arith.remsi %places, %ds : tensor<64xi32>
    %far = arith.muli %row, %pitches : tensor<64xi32>
    %offsets = arith.addi %far, %column : tensor<64xi32>
    %from = tt.addptr %base, %offsets : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %loaded = tt.load %from, %mask, %nones : tensor<64x!tt.ptr<f32>>
    %most = "tt.reduce"(%loaded) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64xf32>) -> f32
    %after = arith.maxnumf %before, %most : f32
    scf.yield %after : f32
  }
  tt.store %y, %greatest : !tt.ptr<f32>
  tt.return
}
"#;

/// The counter of the next round lies where that of a round does, so that quotients and remainders by it tell as much.
#[test]
fn loads_ahead_are_as_wide_as_those_of_the_source() {
    let module = ttir::parse(DIVIDED).unwrap();
    let kernel = &module.kernels[0];
    let widths = |kernel: &Kernel| {
        let facts = AxisFacts::of(kernel);
        let mut found = Vec::new();
        kernel.walk(&kernel.body, &mut |_, op| {
            if matches!(op.kind, OpKind::Load(_)) {
                let mask = op.operands.get(1).copied();
                found.push(facts.vector_elements(op.operands[0], mask, 0, DType::F32, 16));
            }
        });
        found
    };
    assert_eq!(widths(kernel), [4]);
    let ahead =
        pipeline::run(kernel, &AxisFacts::of(kernel), &machine(), 1, Wanted::of(3)).unwrap();
    assert_eq!(widths(&ahead), [4, 4]);
}

/// A loop over rows whose addresses are what `offsets` says, of columns `%cols`, the counter `%i` and sizes `%a`, `%b`.
fn walk(counts: &str, [from, to]: [&str; 2], mask: &str) -> String {
    format!(
        "tt.func public @walk(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %low: i32, %high: i32, %a: i32, %b: i32) {{
  %step = arith.constant {counts} : i32
  %none = arith.constant dense<0.0> : tensor<32xf32>
  %ones = arith.constant dense<1.0> : tensor<32xf32>
  %cols = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32>
  %wide_b = arith.extsi %b : i32 to i64
  %end = tt.splat %a : i32 -> tensor<32xi32>
  %inside = arith.cmpi slt, %cols, %end : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %sum = scf.for %i = %low to %high step %step iter_args(%before = %none) -> (tensor<32xf32>) : i32 {{
    {from}
    %loads = tt.addptr %xs, %from : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %loaded = tt.load %loads{} : tensor<32x!tt.ptr<f32>>
    %more = arith.addf %loaded, %before : tensor<32xf32>
    {to}
    %stores = tt.addptr %ys, %to : tensor<32x!tt.ptr<f32>>, tensor<32xi64>
    %after = arith.addf %more, %ones : tensor<32xf32>
    tt.store %stores, %after{} : tensor<32x!tt.ptr<f32>>
    scf.yield %more : tensor<32xf32>
  }}
  %all = tt.addptr %ys, %cols : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %all, %sum : tensor<32x!tt.ptr<f32>>
  tt.return
}}",
        if mask.is_empty() { String::new() } else { format!(", {mask}, %none") },
        if mask.is_empty() { String::new() } else { format!(", {mask}") },
    )
}

/// Wherever two pointers lie in one memory, and however rows go on, the loop means what it meant.
#[test]
fn loads_ahead_of_stores_anywhere_mean_the_same() {
    let froms = [
        "%row = arith.muli %i, %a : i32
    %rows = tt.splat %row : i32 -> tensor<32xi32>
    %from = arith.addi %cols, %rows : tensor<32xi32>",
        "%row = arith.subi %b, %i : i32
    %rows = tt.splat %row : i32 -> tensor<32xi32>
    %from = arith.subi %rows, %cols : tensor<32xi32>",
        "%row = arith.maxsi %i, %b : i32
    %rows = tt.splat %row : i32 -> tensor<32xi32>
    %two = arith.constant dense<2> : tensor<32xi32>
    %twice = arith.muli %cols, %two : tensor<32xi32>
    %from = arith.addi %twice, %rows : tensor<32xi32>",
    ];
    let tos = [
        "%wide = arith.extsi %i : i32 to i64
    %line = arith.muli %wide, %wide_b : i64
    %lines = tt.splat %line : i64 -> tensor<32xi64>
    %wider = arith.extsi %cols : tensor<32xi32> to tensor<32xi64>
    %to = arith.addi %lines, %wider : tensor<32xi64>",
        "%line = arith.muli %i, %b : i32
    %back = arith.subi %a, %line : i32
    %lines = tt.splat %back : i32 -> tensor<32xi32>
    %there = arith.addi %lines, %cols : tensor<32xi32>
    %to = arith.extsi %there : tensor<32xi32> to tensor<32xi64>",
    ];
    let (mut ahead_of, mut met, mut state) = (0, 0, 1_u64);
    let mut of = |count: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % count
    };
    for (from, to, mask) in froms.iter().flat_map(|from| {
        tos.iter().flat_map(move |to| ["", "%inside"].map(|mask| (*from, *to, mask)))
    }) {
        for step in ["1", "3"] {
            let text = walk(step, [from, to], mask);
            let module = ttir::parse(&text).unwrap();
            let kernel = &module.kernels[0];
            let facts = AxisFacts::of(kernel);
            let Some(ahead) = pipeline::run(kernel, &facts, &machine(), 1, Wanted::of(3)) else {
                continue;
            };
            tile::verify(&ahead).unwrap();
            ahead_of += 1;
            for _ in 0..40 {
                let low = of(5) as i32 - 2;
                let (high, a, b) = (low + of(9) as i32 - 1, of(80) as i32 - 20, of(80) as i32 - 40);
                let arguments = [
                    ("x", Whole(2048, -3, 4)),
                    ("y", Whole(32, 0, 1)),
                    ("low", I32(low)),
                    ("high", I32(high)),
                    ("a", I32(a)),
                    ("b", I32(b)),
                ];
                let (mut args, memory) = make(&arguments);
                args[1] = args[0] + 4 * (1024 + of(256)) - 512;
                args[0] += 4 * (1024 + of(64));
                let [wanted, found] = [kernel, &ahead].map(|kernel| {
                    let mut memory = memory.clone();
                    let options = eval::Options::default();
                    eval::run(kernel, [1, 1, 1], &args, &mut memory, options).unwrap();
                    memory
                });
                assert!(found == wanted, "{low}..{high}, a {a}, b {b}, {args:?}: {text}");
                met += usize::from(args[0].abs_diff(args[1]) < 1024);
            }
        }
    }
    assert!(ahead_of >= 12 && met > 400, "{ahead_of} {met}");
}
