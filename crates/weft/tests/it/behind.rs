//! Products that run a round behind: whatever stands between two chained products, whatever the sums begin with
//! and however many rounds there are, the program computes what the tile program says, whenever its products
//! take place, and nothing races.

use crate::inputs::{Argument, make};
use weft::compile::{self, Compiled, Options, TensorMaps};
use weft::dtype::DType;
use weft::lane::effects::Fence;
use weft::sim::{self, Launch, Timing};
use weft::tile::{Kernel, OpKind, eval};
use weft::ttir;
use weft_layout::machine::Machine;

/// The most rounds of a loop.
const ROUNDS: usize = 5;

/// A loop that weighs rows of values by what it computes from products of queries and keys, all numbers small
/// enough that nothing is rounded.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a case of its own")]
struct Weighing {
    /// Queries, keys of a round, and elements of each.
    sizes: [usize; 3],
    /// Whether the sums are halved in a round that finds larger scores in their row.
    scaled: bool,
    /// Whether a query sees no keys behind it.
    causal: bool,
    /// Whether keys and values are one array, loaded once.
    same: bool,
    /// Whether queries, keys and values come in blocks of tensors.
    blocks: bool,
    /// What the sums begin with.
    start: &'static str,
    warps: u32,
    stages: u32,
}

const PLAIN: Weighing = Weighing {
    sizes: [64, 32, 64],
    scaled: true,
    causal: false,
    same: false,
    blocks: false,
    start: "0.000000e+00",
    warps: 4,
    stages: 2,
};

impl Weighing {
    fn text(&self) -> String {
        let Self { sizes: [m, n, d], scaled, causal, same, start, .. } = *self;
        let pointers = |name: &str, rows: usize| {
            format!(
                "    %{name}r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
    %{name}re = tt.expand_dims %{name}r {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
    %{name}w = arith.constant dense<{d}> : tensor<{rows}x1xi32>
    %{name}y = arith.muli %{name}re, %{name}w : tensor<{rows}x1xi32>
    %{name}rb = tt.broadcast %{name}y : tensor<{rows}x1xi32> -> tensor<{rows}x{d}xi32>
    %{name}cb = tt.broadcast %de : tensor<1x{d}xi32> -> tensor<{rows}x{d}xi32>
    %{name}o = arith.addi %{name}rb, %{name}cb : tensor<{rows}x{d}xi32>\n"
            )
        };
        let typed = |name: &str, rows: usize, element: &str| {
            format!(
                "    %{name}b = tt.splat %{name} : !tt.ptr<{element}> -> tensor<{rows}x{d}x!tt.ptr<{element}>>
    %{name}p = tt.addptr %{name}b, %{name}o : tensor<{rows}x{d}x!tt.ptr<{element}>>, tensor<{rows}x{d}xi32>\n"
            )
        };
        let tensors: String =
            [("q", m, "f16"), ("k", n, "f16"), ("v", n, "f16"), ("out", m, "f32")]
                .map(|(name, rows, element)| pointers(name, rows) + &typed(name, rows, element))
                .concat();
        let s = format!("tensor<{m}x{n}xf32>");
        let (row, o) = (format!("tensor<{m}xf32>"), format!("tensor<{m}x{d}xf32>"));
        let (tile, tile_p) =
            (format!("tensor<{n}x{d}xf16>"), format!("tensor<{n}x{d}x!tt.ptr<f16>>"));
        let masked = if causal {
            format!(
                "      %at = arith.muli %i, %width : i32
      %ats = tt.splat %at : i32 -> tensor<{n}xi32>
      %cols = arith.addi %ats, %kr : tensor<{n}xi32>
      %cole = tt.expand_dims %cols {{axis = 0 : i32}} : tensor<{n}xi32> -> tensor<1x{n}xi32>
      %colb = tt.broadcast %cole : tensor<1x{n}xi32> -> tensor<{m}x{n}xi32>
      %rowb = tt.broadcast %qre : tensor<{m}x1xi32> -> tensor<{m}x{n}xi32>
      %seen = arith.cmpi sle, %colb, %rowb : tensor<{m}x{n}xi32>
      %s = arith.select %seen, %raw, %nothing : tensor<{m}x{n}xi1>, {s}\n"
            )
        } else {
            format!("      %s = arith.addf %raw, %nothing : {s}\n")
        };
        let sums = if scaled {
            format!(
                "      %scale = arith.select %grew, %halves, %ones : tensor<{m}xi1>, {row}
      %scalee = tt.expand_dims %scale {{axis = 1 : i32}} : {row} -> tensor<{m}x1xf32>
      %scaleb = tt.broadcast %scalee : tensor<{m}x1xf32> -> {o}
      %old = arith.mulf %sums, %scaleb : {o}\n"
            )
        } else {
            String::new()
        };
        let value =
            if same { String::new() } else { format!("      %y = tt.load %vs : {tile_p}\n") };
        let old = if scaled { "%old" } else { "%sums" };
        let values = if same { "%x" } else { "%y" };
        format!(
            "module {{
  tt.func public @k(%q: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %k: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %v: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %out: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %rounds: i32) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %width = arith.constant {n} : i32
    %none = arith.constant dense<0.000000e+00> : {s}
    %nothing = arith.constant dense<1.000000e+00> : {s}
    %start = arith.constant dense<{start}> : {o}
    %least = arith.constant dense<-1.600000e+01> : {row}
    %ones = arith.constant dense<1.000000e+00> : {row}
    %halves = arith.constant dense<5.000000e-01> : {row}
    %eighths = arith.constant dense<1.250000e-01> : {s}
    %d = tt.make_range {{end = {d} : i32, start = 0 : i32}} : tensor<{d}xi32>
    %de = tt.expand_dims %d {{axis = 0 : i32}} : tensor<{d}xi32> -> tensor<1x{d}xi32>
{tensors}    %step = arith.constant dense<{step}> : tensor<{n}x{d}xi32>
    %query = tt.load %qp : tensor<{m}x{d}x!tt.ptr<f16>>
    %r:4 = scf.for %i = %zero to %rounds step %one iter_args(%sums = %start, %most = %least, %ks = %kp, %vs = %vp) -> ({o}, {row}, {tile_p}, {tile_p})  : i32 {{
      %x = tt.load %ks : {tile_p}
      %turned = tt.trans %x {{order = array<i32: 1, 0>}} : {tile} -> tensor<{d}x{n}xf16>
      %raw = tt.dot %query, %turned, %none : tensor<{m}x{d}xf16> * tensor<{d}x{n}xf16> -> {s}
{masked}      %largest = \"tt.reduce\"(%s) <{{axis = 1 : i32}}> ({{
      ^bb0(%l: f32, %g: f32):
        %max = arith.maxnumf %l, %g : f32
        tt.reduce.return %max : f32
      }}) : ({s}) -> {row}
      %next = arith.maxnumf %most, %largest : {row}
      %grew = arith.cmpf ogt, %next, %most : {row}
      %small = arith.mulf %s, %eighths : {s}
      %whole = math.floor %small : {s}
      %p = arith.truncf %whole : {s} to tensor<{m}x{n}xf16>
{sums}{value}      %new = tt.dot %p, {values}, {old} : tensor<{m}x{n}xf16> * {tile} -> {o}
      %kn = tt.addptr %ks, %step : {tile_p}, tensor<{n}x{d}xi32>
      %vn = tt.addptr %vs, %step : {tile_p}, tensor<{n}x{d}xi32>
      scf.yield %new, %next, %kn, %vn : {o}, {row}, {tile_p}, {tile_p}
    }}
    tt.store %outp, %r#0 : tensor<{m}x{d}x!tt.ptr<f32>>
    tt.return
  }}
}}
",
            step = n * d,
        )
    }

    /// The text with blocks in the place of tiles that are loaded by pointers.
    fn text_with_blocks(&self) -> String {
        let [m, n, d] = self.sizes;
        let block = |rows: usize| format!("!tt.tensordesc<{rows}x{d}xf16>");
        let (of_rows, of_columns) = (block(m), block(n));
        let load = |line: &str, value: &str, name: &str, rows: usize, at: &str| {
            let (block, tile) = (block(rows), format!("tensor<{rows}x{d}xf16>"));
            let by_blocks =
                format!("{value} = tt.descriptor_load %{name}[{at}, %zero] : {block} -> {tile}\n");
            (format!("{value} = tt.load {line} : tensor<{rows}x{d}x!tt.ptr<f16>>\n"), by_blocks)
        };
        let lines = [
            load("%qp", "%query", "dq", m, "%zero"),
            load("%ks", "%x", "dk", n, "%place"),
            load("%vs", "%y", "dv", n, "%place"),
        ];
        let place = "      %place = arith.muli %i, %width : i32\n      %x = ";
        let text = lines.iter().fold(self.text(), |text, (from, to)| text.replace(from, to));
        text.replace("      %x = ", place)
            .replace("@k(", &format!("@k(%dq: {of_rows}, %dk: {of_columns}, %dv: {of_columns}, "))
    }

    fn inputs(&self, rounds: usize) -> (Vec<u64>, weft::memory::Memory) {
        let (args, memory) = make(&self.arguments(rounds));
        if !self.blocks {
            return (args, memory);
        }
        let [m, n, d] = self.sizes.map(|size| size as u64);
        let described = |base: u64, rows: u64| [base, rows, d, d, 1, 0, 0];
        let all = n * ROUNDS as u64;
        let parts = [described(args[0], m), described(args[1], all), described(args[2], all)];
        ([parts.concat(), args].concat(), memory)
    }

    fn arguments(&self, rounds: usize) -> [(&'static str, Argument); 5] {
        let [m, n, d] = self.sizes;
        [
            ("q", Argument::Small(DType::F16, m * d)),
            ("k", Argument::Small(DType::F16, n * d * ROUNDS)),
            ("v", Argument::Small(DType::F16, n * d * ROUNDS)),
            ("out", Argument::Empty(DType::F32, m * d)),
            ("rounds", Argument::I32(rounds as i32)),
        ]
    }

    fn options(&self) -> Options {
        let machine = Machine::by_name("sm_90").unwrap();
        let Self { warps, stages, .. } = *self;
        Options { warps, stages, tensor_maps: TensorMaps::All, ..Options::for_machine(machine) }
    }
}

/// How many products stand outside of loops.
fn products_behind(kernel: &Kernel) -> usize {
    let ops = kernel.body.ops.iter().map(|&id| &kernel.ops[id]);
    ops.filter(|op| matches!(op.kind, OpKind::WarpgroupDot(_))).count()
}

/// Whether warpgroups take turns at the matrix units.
fn takes_turns(compiled: &Compiled) -> bool {
    let program = &compiled.program;
    program.any_effects(&program.body, |effects| matches!(effects.fence, Fence::Named(_)))
}

fn simulated(
    case: &Weighing,
    compiled: &Compiled,
    rounds: usize,
    timing: Timing,
) -> weft::memory::Memory {
    let (args, mut memory) = case.inputs(rounds);
    let given = memory.buffers().len();
    let args = compiled.arguments(&args, &mut memory);
    let launch = Launch {
        program: &compiled.program,
        grid: [1, 1, 1],
        args: &args,
        machine: &compile::simulated(&case.options().machine, 8),
        options: sim::Options { timing, ..sim::Options::default() },
    };
    let report = sim::run(&launch, &mut memory).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    assert!(report.findings.is_empty(), "{case:?} {rounds} {timing:?}: {:#?}", report.findings);
    memory.truncate(given);
    memory
}

/// Compiles and runs a loop every way, with any number of rounds; how many products run a round behind.
fn run(case: &Weighing) -> usize {
    let text = if case.blocks { case.text_with_blocks() } else { case.text() };
    let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let kernel = &module.kernels[0];
    let compiled = compile::compile(&module, kernel, &case.options())
        .unwrap_or_else(|error| panic!("{case:?}: {error}"));
    for rounds in 0..=ROUNDS {
        let evaluated = |form: &Kernel| {
            let (args, mut memory) = case.inputs(rounds);
            let report = eval::run(form, [1, 1, 1], &args, &mut memory, eval::Options::default());
            assert!(report.unwrap().findings.is_empty(), "{case:?}");
            memory
        };
        let wanted = evaluated(kernel);
        assert_eq!(evaluated(&compiled.kernel), wanted, "{case:?} {rounds}");
        assert_eq!(compiled.program.maps.len(), if case.blocks { 3 } else { 0 }, "{case:?}");
        let timings = [Timing::Earliest, Timing::Latest].into_iter();
        // Warpgroups that take turns, or that no barrier holds together, can be apart in many ways.
        let random = match (case.blocks, case.warps) {
            (false, 4) => 0,
            (true, 4) => 1,
            (_, _) => 6,
        };
        for timing in timings.chain((0..random).map(Timing::Random)) {
            assert_eq!(
                simulated(case, &compiled, rounds, timing),
                wanted,
                "{case:?} {rounds} {timing:?}"
            );
        }
    }
    let behind = products_behind(&compiled.kernel);
    // A barrier holds the warpgroups together where threads copy.
    let in_turns = behind > 0 && case.warps == 8 && !case.blocks;
    assert_eq!(takes_turns(&compiled), in_turns, "{case:?}");
    behind
}

#[test]
fn a_product_of_what_another_gives_runs_a_round_behind() {
    for stages in 2..=4 {
        for (scaled, causal) in [(true, false), (true, true), (false, false), (false, true)] {
            assert_eq!(run(&Weighing { scaled, causal, stages, ..PLAIN }), 1);
        }
    }
}

#[test]
fn sums_begin_with_any_number() {
    for start in ["-0.000000e+00", "3.000000e+00", "0xFF800000"] {
        assert_eq!(run(&Weighing { start, ..PLAIN }), 1, "{start}");
    }
}

#[test]
fn warpgroups_have_rows_of_their_own() {
    assert_eq!(run(&Weighing { sizes: [128, 32, 32], warps: 8, ..PLAIN }), 1);
}

#[test]
fn a_load_of_this_round_is_not_read_in_the_next() {
    assert_eq!(run(&Weighing { same: true, ..PLAIN }), 0);
}

#[test]
fn a_product_that_does_not_fit_into_registers_stays() {
    for (warps, behind) in [(4, 0), (8, 1)] {
        assert_eq!(run(&Weighing { sizes: [128, 64, 128], warps, ..PLAIN }), behind, "{warps}");
    }
}

#[test]
fn blocks_are_read_a_round_later() {
    for (stages, scaled, causal) in [(2, true, false), (3, false, true), (4, true, true)] {
        assert_eq!(run(&Weighing { scaled, causal, stages, blocks: true, ..PLAIN }), 1);
    }
    for stages in 2..=4 {
        let wide = Weighing { sizes: [128, 32, 128], warps: 8, blocks: true, stages, ..PLAIN };
        assert_eq!(run(&wide), 1);
    }
    for start in ["-0.000000e+00", "0xFF800000"] {
        assert_eq!(run(&Weighing { start, blocks: true, ..PLAIN }), 1, "{start}");
    }
}
