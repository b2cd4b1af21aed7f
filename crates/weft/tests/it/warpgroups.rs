//! Products of warpgroups: whatever the types, the order in memory and the share of warps, the program that
//! reads factors by descriptors computes what the tile program says, whenever its products take place, and
//! nothing races.

use crate::inputs::{Argument, make};
use std::fmt::Write as _;
use weft::compile::{self, Compiled, Options};
use weft::dtype::DType;
use weft::lane;
use weft::sim::{self, Launch, Timing};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

/// The rounds of the loop.
const ROUNDS: usize = 4;

/// A loop that adds products of tiles from memory to a tile of sums.
#[derive(Clone, Copy, Debug)]
struct Loop {
    factors: DType,
    sum: DType,
    /// Rows, columns, and what a round sums over.
    sizes: [usize; 3],
    /// Whether rows of the left factor and of the right one are contiguous.
    rows: [bool; 2],
    /// Whether the left factor is doubled before it is multiplied, so that it comes from registers.
    doubled: bool,
    /// Whether sums are stored as halves.
    narrowed: bool,
    warps: u32,
    stages: u32,
}

/// What Triton calls a type.
fn name(dtype: DType) -> &'static str {
    match dtype {
        DType::F8E4M3FN => "f8E4M3FN",
        DType::F8E5M2 => "f8E5M2",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        DType::I8 => "i8",
        _ => "i32",
    }
}

impl Loop {
    fn text(&self) -> String {
        let Self { factors, sum, sizes: [m, n, k], rows, doubled, .. } = *self;
        let (factor, sum, stored) = (name(factors), name(sum), name(self.stored()));
        let all = k * ROUNDS;
        let mut text = format!(
            "module {{\n  tt.func public @k(%a: !tt.ptr<{factor}> {{tt.divisibility = 16 : i32}}, %b: \
             !tt.ptr<{factor}> {{tt.divisibility = 16 : i32}}, %out: !tt.ptr<{stored}> {{tt.divisibility = 16 \
             : i32}}, %rounds: i32) {{\n    %zero = arith.constant 0 : i32\n    %one = arith.constant 1 : \
             i32\n    %none = arith.constant dense<0{}> : tensor<{m}x{n}x{sum}>\n",
            if sum == "i32" { "" } else { ".000000e+00" },
        );
        // The pointers of a tile of `height` by `width`, whose rows or columns are `pitch` apart.
        let mut tile = |name: &str,
                        element: &str,
                        [height, width]: [usize; 2],
                        by_rows: bool,
                        pitch: usize| {
            let (down, across) = if by_rows { (pitch, 1) } else { (1, pitch) };
            let p = format!("tensor<{height}x{width}x!tt.ptr<{element}>>");
            let i = format!("tensor<{height}x{width}xi32>");
            write!(
                text,
                "    %{name}r = tt.make_range {{end = {height} : i32, start = 0 : i32}} : tensor<{height}xi32>
    %{name}c = tt.make_range {{end = {width} : i32, start = 0 : i32}} : tensor<{width}xi32>
    %{name}re = tt.expand_dims %{name}r {{axis = 1 : i32}} : tensor<{height}xi32> -> tensor<{height}x1xi32>
    %{name}ce = tt.expand_dims %{name}c {{axis = 0 : i32}} : tensor<{width}xi32> -> tensor<1x{width}xi32>
    %{name}d = arith.constant dense<{down}> : tensor<{height}x1xi32>
    %{name}w = arith.constant dense<{across}> : tensor<1x{width}xi32>
    %{name}rs = arith.muli %{name}re, %{name}d : tensor<{height}x1xi32>
    %{name}cs = arith.muli %{name}ce, %{name}w : tensor<1x{width}xi32>
    %{name}rb = tt.broadcast %{name}rs : tensor<{height}x1xi32> -> {i}
    %{name}cb = tt.broadcast %{name}cs : tensor<1x{width}xi32> -> {i}
    %{name}o = arith.addi %{name}rb, %{name}cb : {i}
    %{name}s = tt.splat %{name} : !tt.ptr<{element}> -> {p}
    %{name}p = tt.addptr %{name}s, %{name}o : {p}, {i}\n"
            )
            .unwrap();
        };
        tile("a", factor, [m, k], rows[0], if rows[0] { all } else { m });
        tile("b", factor, [k, n], rows[1], if rows[1] { n } else { all });
        tile("out", stored, [m, n], true, n);
        let steps = [if rows[0] { k } else { k * m }, if rows[1] { k * n } else { k }];
        let (pa, pb) = (
            format!("tensor<{m}x{k}x!tt.ptr<{factor}>>"),
            format!("tensor<{k}x{n}x!tt.ptr<{factor}>>"),
        );
        let (ta, tb, tc) = (
            format!("tensor<{m}x{k}x{factor}>"),
            format!("tensor<{k}x{n}x{factor}>"),
            format!("tensor<{m}x{n}x{sum}>"),
        );
        let twice =
            if doubled { format!("      %y = arith.addf %x, %x : {ta}\n") } else { String::new() };
        let td = format!("tensor<{m}x{n}x{stored}>");
        let (narrow, result) = if self.narrowed {
            (format!("    %h = arith.truncf %r#0 : {tc} to {td}\n"), "%h")
        } else {
            (String::new(), "%r#0")
        };
        let left = if doubled { "%y" } else { "%x" };
        let precision = if factor == "f32" { ", inputPrecision = tf32" } else { "" };
        write!(
            text,
            "    %astep = arith.constant dense<{}> : tensor<{m}x{k}xi32>
    %bstep = arith.constant dense<{}> : tensor<{k}x{n}xi32>
    %r:3 = scf.for %i = %zero to %rounds step %one iter_args(%sums = %none, %pa = %ap, %pb = %bp) -> ({tc}, {pa}, {pb})  : i32 {{
      %x = tt.load %pa : {pa}
{twice}      %z = tt.load %pb : {pb}
      %s = tt.dot {left}, %z, %sums{precision} : {ta} * {tb} -> {tc}
      %na = tt.addptr %pa, %astep : {pa}, tensor<{m}x{k}xi32>
      %nb = tt.addptr %pb, %bstep : {pb}, tensor<{k}x{n}xi32>
      scf.yield %s, %na, %nb : {tc}, {pa}, {pb}
    }}
{narrow}    tt.store %outp, {result} : tensor<{m}x{n}x!tt.ptr<{stored}>>
    tt.return\n  }}\n}}\n",
            steps[0], steps[1]
        )
        .unwrap();
        text
    }

    fn stored(&self) -> DType {
        if self.narrowed { DType::F16 } else { self.sum }
    }

    fn arguments(&self) -> [(&'static str, Argument); 4] {
        let [m, n, k] = self.sizes;
        [
            ("a", Argument::Small(self.factors, m * k * ROUNDS)),
            ("b", Argument::Small(self.factors, k * n * ROUNDS)),
            ("out", Argument::Empty(self.stored(), m * n)),
            ("rounds", Argument::I32(ROUNDS as i32)),
        ]
    }

    fn options(&self) -> Options {
        let machine = Machine::by_name("sm_90").unwrap();
        Options { warps: self.warps, stages: self.stages, ..Options::for_machine(machine) }
    }
}

fn products(compiled: &Compiled) -> usize {
    let mut count = 0;
    let program = &compiled.program;
    program.walk(&program.body, &mut |_, inst| {
        count +=
            usize::from(matches!(inst.op, lane::Op::Warpgroup(lane::WarpgroupOp::Multiply(_))));
    });
    count
}

/// Compiles and runs a loop both ways; how many products it issues a round.
fn run(case: &Loop) -> usize {
    products(&compiled(case, &case.text()))
}

/// Compiles a loop's text and runs it both ways.
fn compiled(case: &Loop, text: &str) -> Compiled {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let kernel = &module.kernels[0];
    let options = case.options();
    let compiled = compile::compile(&module, kernel, &options)
        .unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let (args, mut wanted) = make(&case.arguments());
    for form in [kernel, &compiled.kernel] {
        (_, wanted) = make(&case.arguments());
        let report = eval::run(form, [1, 1, 1], &args, &mut wanted, eval::Options::default());
        assert!(report.unwrap().findings.is_empty(), "{case:?}");
    }
    for timing in [Timing::Earliest, Timing::Latest] {
        let (args, mut memory) = make(&case.arguments());
        let launch = Launch {
            program: &compiled.program,
            grid: [1, 1, 1],
            args: &args,
            machine: &compile::simulated(&options.machine, 8),
            options: sim::Options { timing, ..sim::Options::default() },
        };
        let report =
            sim::run(&launch, &mut memory).unwrap_or_else(|error| panic!("{case:?}: {error}"));
        assert!(report.findings.is_empty(), "{case:?} {timing:?}: {:#?}", report.findings);
        assert_eq!(memory, wanted, "{case:?} {timing:?}");
    }
    compiled
}

const PLAIN: Loop = Loop {
    factors: DType::F16,
    sum: DType::F32,
    sizes: [64, 64, 64],
    rows: [true, true],
    doubled: false,
    narrowed: false,
    warps: 4,
    stages: 3,
};

/// NVIDIA's assembler lets every product of a kernel end before the next (C7514) where a sum of the round before is
/// used while another product of that round is under way.
#[test]
fn products_of_the_round_before_are_waited_for_together() {
    let wide = "tensor<64x64xf32>";
    let text = PLAIN.text();
    let text = text
        .replace("%r:3 = scf.for", "%r:4 = scf.for")
        .replace("(%sums = %none,", "(%sums = %none, %more = %none,")
        .replace(&format!("-> ({wide},"), &format!("-> ({wide}, {wide},"))
        .replace(
            "      %x = tt.load",
            &format!(
                "      %twice = arith.addf %sums, %sums : {wide}
      %both = arith.addf %twice, %more : {wide}
      tt.store %outp, %both : tensor<64x64x!tt.ptr<f32>>
      %x = tt.load"
            ),
        )
        .replace(
            "      scf.yield %s,",
            &format!(
                "      %t = tt.dot %x, %z, %more : tensor<64x64xf16> * tensor<64x64xf16> -> {wide}
      scf.yield %s, %t,"
            ),
        )
        .replace(&format!("%nb : {wide},"), &format!("%nb : {wide}, {wide},"));
    let compiled = compiled(&PLAIN, &text);
    assert_eq!(products(&compiled), 8);
    let program = &compiled.program;
    let mut waits = Vec::new();
    program.walk(&program.body, &mut |_, inst| {
        if let lane::Op::Warpgroup(lane::WarpgroupOp::Wait { pending }) = inst.op {
            waits.push(pending);
        }
    });
    assert!(!waits.is_empty() && waits.iter().all(|&pending| pending == 0), "{waits:?}");
}

#[test]
fn halves_are_read_along_either_axis() {
    for factors in [DType::F16, DType::BF16] {
        for rows in [[true, true], [true, false], [false, true], [false, false]] {
            assert_eq!(run(&Loop { factors, rows, ..PLAIN }), 4, "{factors} {rows:?}");
        }
    }
}

#[test]
fn narrow_and_wide_numbers_are_read_along_the_summed_axis() {
    for (factors, sum, products) in [
        (DType::I8, DType::I32, 2),
        (DType::F8E4M3FN, DType::F32, 2),
        (DType::F8E5M2, DType::F32, 2),
        (DType::F32, DType::F32, 8),
        (DType::F16, DType::F16, 4),
    ] {
        let case = Loop { factors, sum, rows: [true, false], ..PLAIN };
        assert_eq!(run(&case), products, "{factors}");
        // By other numbers than halves no instruction sums along rows.
        let turned = Loop { rows: [true, true], ..case };
        let expected = if factors == DType::F16 { products } else { 0 };
        assert_eq!(run(&turned), expected, "{factors}");
    }
}

#[test]
fn computed_numbers_are_stored_along_the_summed_axis() {
    for (factors, sum, operation, issued) in
        [(DType::F32, DType::F32, "addf", 8), (DType::I8, DType::I32, "addi", 2)]
    {
        for rows in [[true, true], [true, false]] {
            let case = Loop { factors, sum, rows, ..PLAIN };
            let of = |name| format!("tensor<64x64x{name}>");
            let (tile, sums) = (of(name(factors)), of(name(sum)));
            let text = case.text().replace(
                "      %s = tt.dot %x, %z,",
                &format!("      %w = arith.{operation} %z, %z : {tile}\n      %s = tt.dot %x, %w,"),
            );
            assert_eq!(products(&compiled(&case, &text)), issued, "{factors} {rows:?}");
            // A product that sums the same numbers along the other axis reads them elsewhere.
            let precision = if factors == DType::F32 { ", inputPrecision = tf32" } else { "" };
            let turned = text.replace(
                "      %na = ",
                &format!(
                    "      %v = tt.trans %w {{order = array<i32: 1, 0>}} : {tile} -> {tile}
      %t = tt.dot %x, %v, %none{precision} : {tile} * {tile} -> {sums}
      tt.store %outp, %t : tensor<64x64x!tt.ptr<{}>>
      %na = ",
                    name(sum)
                ),
            );
            assert_eq!(products(&compiled(&case, &turned)), issued, "{factors} {rows:?}");
        }
    }
}

#[test]
fn warpgroups_share_rows_then_columns() {
    for (sizes, warps, products) in [
        ([128, 32, 32], 8, 2),
        ([64, 128, 32], 8, 2),
        ([128, 128, 32], 4, 4),
        ([64, 16, 64], 4, 4),
        ([256, 64, 32], 16, 2),
        // Too few rows for a warpgroup, and too few warps.
        ([32, 64, 32], 4, 0),
        ([64, 64, 32], 2, 0),
    ] {
        for rows in [[true, true], [true, false]] {
            assert_eq!(run(&Loop { sizes, rows, warps, ..PLAIN }), products, "{sizes:?} {warps}");
        }
    }
}

#[test]
fn a_left_factor_that_is_computed_stays_in_registers() {
    for stages in 1..=4 {
        for doubled in [false, true] {
            assert_eq!(run(&Loop { doubled, stages, ..PLAIN }), 4, "{stages} {doubled}");
        }
    }
}

/// The program without the operation at this place of its outermost list.
fn without(program: &lane::Program, position: usize) -> lane::Program {
    let mut less = program.clone();
    less.body.insts.remove(position);
    less
}

fn races(case: &Loop, program: &lane::Program, timing: Timing) -> bool {
    let (args, mut memory) = make(&case.arguments());
    let launch = Launch {
        program,
        grid: [1, 1, 1],
        args: &args,
        machine: &compile::simulated(&case.options().machine, 8),
        options: sim::Options { timing, ..sim::Options::default() },
    };
    !sim::run(&launch, &mut memory).unwrap().findings.is_empty()
}

#[test]
fn sums_move_through_the_buffers_of_the_loop_behind_it() {
    for (stages, warps, sizes) in
        [(3, 4, [128, 64, 64]), (4, 4, [128, 128, 32]), (3, 8, [128, 128, 64])]
    {
        let case = Loop { stages, warps, sizes, narrowed: true, ..PLAIN };
        run(&case);
        let module = ttir::parse(&case.text()).unwrap();
        let compiled = compile::compile(&module, &module.kernels[0], &case.options()).unwrap();
        let program = &compiled.program;
        let [m, n, k] = sizes;
        assert_eq!(program.shared_bytes as usize, stages as usize * 2 * k * (m + n), "{case:?}");
        let scratch = program.shared.values().filter(|piece| piece.scratch && piece.bytes > 0);
        assert_eq!(scratch.map(|piece| piece.offset).collect::<Vec<_>>(), [0], "{case:?}");
        // Without the barrier between the loop and the stores some warp may still multiply.
        let insts = &program.body.insts;
        let is = |position: usize, op: &lane::Op| program.insts[insts[position]].op == *op;
        let barrier = lane::Op::Sync(lane::SyncOp::Barrier(lane::BarrierScope::Block));
        let first = insts.iter().position(|&id| program.insts[id].op == lane::Op::Loop).unwrap();
        let behind = (first..insts.len()).find(|&position| is(position, &barrier)).unwrap();
        let late = without(program, behind);
        assert!(
            [Timing::Earliest, Timing::Latest].iter().any(|&timing| races(&case, &late, timing))
        );
        assert!(!races(&case, program, Timing::Latest));
    }
}

#[test]
fn encodings_of_warpgroups_are_read_back() {
    for doubled in [false, true] {
        let case = Loop { doubled, rows: [true, false], ..PLAIN };
        let module = ttir::parse(&case.text()).unwrap();
        let options = case.options();
        let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
        let encoded = compile::encoded(&module, &compiled, &options).unwrap();
        let text = encoded.to_string();
        assert!(
            text.contains("ttng.warp_group_dot") && text.contains("#ttg.nvmma_shared"),
            "{text}"
        );
        let again = ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let given = compile::compile(&again, &again.kernels[0], &options).unwrap();
        assert_eq!(products(&given), products(&compiled), "{text}");
        let (args, mut memory) = make(&case.arguments());
        let launch = Launch {
            program: &given.program,
            grid: [1, 1, 1],
            args: &args,
            machine: &compile::simulated(&options.machine, 8),
            options: sim::Options::default(),
        };
        let report = sim::run(&launch, &mut memory).unwrap();
        assert!(report.findings.is_empty(), "{:#?}", report.findings);
        let (args, mut wanted) = make(&case.arguments());
        eval::run(&module.kernels[0], [1, 1, 1], &args, &mut wanted, eval::Options::default())
            .unwrap();
        assert_eq!(memory, wanted);
    }
}
