//! Descriptors that are tensor maps: whatever blocks a copy engine brings, how many rounds there are and what lies
//! outside, the program computes what the tile program says, whenever its copies and products take place, and
//! nothing races.

use crate::inputs::{Argument, make};
use weft::compile::{self, Compiled, Options, TensorMaps};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::lane;
use weft::memory::Memory;
use weft::sim::{self, Launch, Timing};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

/// Products of blocks, one for each program or for each round of a loop around.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a case of its own")]
struct Case {
    factors: DType,
    /// Rows, columns, and what a round sums over.
    sizes: [usize; 3],
    /// Extents of the whole product.
    extents: [usize; 3],
    /// Whether rows of the right factor are summed over.
    turned: bool,
    /// Whether blocks have one more dimension, of extent one.
    deep: bool,
    /// Whether there is NaN outside.
    nan: bool,
    /// Tiles that a program computes one after the other, if it does.
    tiles: Option<usize>,
    /// Whether the left factor is also added to the result, in registers.
    shown: bool,
    warps: u32,
    stages: u32,
}

const PLAIN: Case = Case {
    factors: DType::F16,
    sizes: [64, 64, 64],
    extents: [64, 128, 192],
    turned: false,
    deep: false,
    nan: false,
    tiles: None,
    shown: false,
    warps: 4,
    stages: 3,
};

/// What Triton calls a type.
pub(crate) fn name(dtype: DType) -> &'static str {
    match dtype {
        DType::F8E4M3FN => "f8E4M3FN",
        DType::F8E5M2 => "f8E5M2",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        _ => "i8",
    }
}

/// Pitches are whole pieces of 16 bytes.
pub(crate) fn pitch(dtype: DType, columns: usize) -> usize {
    columns.next_multiple_of(16 / dtype.bytes() as usize)
}

impl Case {
    fn text(&self) -> String {
        let Self { factors, sizes: [m, n, k], extents, turned, deep, tiles, shown, .. } = *self;
        let factor = name(factors);
        let sum = if factors == DType::I8 { "i32" } else { "f32" };
        let zero = if sum == "i32" { "0" } else { "0.000000e+00" };
        let one = if deep { "1x" } else { "" };
        let at = if deep { "%zero, " } else { "" };
        let [right, right_at] = if turned { [[n, k], [1, 0]] } else { [[k, n], [0, 1]] };
        let places = ["%at", "%column"];
        let b_at = format!("{}, {}", places[right_at[0]], places[right_at[1]]);
        let [da, db] =
            [[m, k], right].map(|[h, w]| format!("!tt.tensordesc<{one}{h}x{w}x{factor}>"));
        let (ta, tb, tc) = (
            format!("tensor<{m}x{k}x{factor}>"),
            format!("tensor<{k}x{n}x{factor}>"),
            format!("tensor<{m}x{n}x{sum}>"),
        );
        let loaded = format!("tensor<{}x{}x{factor}>", right[0], right[1]);
        let turn = if turned {
            format!("      %z = tt.trans %y {{order = array<i32: 1, 0>}} : {loaded} -> {tb}\n")
        } else {
            String::new()
        };
        let z = if turned { "%z" } else { "%y" };
        let precision = if factor == "f32" { ", inputPrecision = tf32" } else { "" };
        let (carried, handed, types, starts) = if shown {
            (
                ", %seen = %nothing".to_string(),
                ", %more".to_string(),
                format!(", {ta}"),
                format!("    %nothing = arith.constant dense<0.000000e+00> : {ta}\n"),
            )
        } else {
            Default::default()
        };
        let more = if shown {
            format!("      %more = arith.addf %seen, %x : {ta}\n")
        } else {
            String::new()
        };
        let out = |name: &str,
                   value: &str,
                   height: usize,
                   width: usize,
                   element: &str,
                   pitch: usize,
                   column: &str| {
            let p = format!("tensor<{height}x{width}x!tt.ptr<{element}>>");
            let i = format!("tensor<{height}x{width}xi32>");
            format!(
                "    %{name}r = tt.make_range {{end = {height} : i32, start = 0 : i32}} : tensor<{height}xi32>
    %{name}c = tt.make_range {{end = {width} : i32, start = 0 : i32}} : tensor<{width}xi32>
    %{name}re = tt.expand_dims %{name}r {{axis = 1 : i32}} : tensor<{height}xi32> -> tensor<{height}x1xi32>
    %{name}ce = tt.expand_dims %{name}c {{axis = 0 : i32}} : tensor<{width}xi32> -> tensor<1x{width}xi32>
    %{name}d = arith.constant dense<{pitch}> : tensor<{height}x1xi32>
    %{name}rs = arith.muli %{name}re, %{name}d : tensor<{height}x1xi32>
    %{name}rb = tt.broadcast %{name}rs : tensor<{height}x1xi32> -> {i}
    %{name}cb = tt.broadcast %{name}ce : tensor<1x{width}xi32> -> {i}
    %{name}o = arith.addi %{name}rb, %{name}cb : {i}
    %{name}w = arith.constant {pitch} : i32
    %{name}f = arith.muli %row, %{name}w : i32
    %{name}g = arith.addi %{name}f, {column} : i32
    %{name}h = tt.addptr %{name}, %{name}g : !tt.ptr<{element}>, i32
    %{name}s = tt.splat %{name}h : !tt.ptr<{element}> -> {p}
    %{name}p = tt.addptr %{name}s, %{name}o : {p}, {i}
    tt.store %{name}p, {value} : {p}\n"
            )
        };
        let [height, width] = self.rounded();
        let store = out("out", "%r#0", m, n, sum, width, "%column");
        let store =
            if shown { store + &out("seen", "%r#1", m, k, factor, k, "%zero") } else { store };
        let results = if shown { "%r:2" } else { "%r:1" };
        let product = format!(
            "    {results} = scf.for %i = %zero to %rounds step %one iter_args(%sums = %none{carried}) -> ({tc}{types})  : i32 {{
      %at = arith.muli %i, %step : i32
      %x = tt.descriptor_load %a[{at}%row, %at] : {da} -> {ta}
      %y = tt.descriptor_load %b[{at}{b_at}] : {db} -> {loaded}
{turn}{more}      %s = tt.dot %x, {z}, %sums{precision} : {ta} * {tb} -> {tc}
      scf.yield %s{handed} : {tc}{types}
    }}\n{store}"
        );
        let down = height / m;
        let place = |tile: &str| {
            format!(
                "    %d = arith.constant {down} : i32
    %tr = arith.remsi {tile}, %d : i32
    %tc = arith.divsi {tile}, %d : i32
    %row = arith.muli %tr, %height : i32
    %column = arith.muli %tc, %width : i32\n"
            )
        };
        let all = match tiles {
            None => place("%id") + &product,
            Some(tiles) => format!(
                "    %tiles = arith.constant {tiles} : i32
    %first = arith.muli %id, %tiles : i32
    scf.for %t = %zero to %tiles step %one  : i32 {{
    %tile = arith.addi %first, %t : i32
{}{product}    }}\n",
                place("%tile")
            ),
        };
        let _ = extents;
        format!(
            "module {{
  tt.func public @k(%a: {da}, %b: {db}, %out: !tt.ptr<{sum}> {{tt.divisibility = 16 : i32}}, %seen: !tt.ptr<{factor}> {{tt.divisibility = 16 : i32}}, %rounds: i32) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %step = arith.constant {k} : i32
    %height = arith.constant {m} : i32
    %width = arith.constant {n} : i32
    %none = arith.constant dense<{zero}> : {tc}
{starts}    %id = tt.get_program_id x : i32
{all}    tt.return\n  }}\n}}\n"
        )
        .replace("%seen = %nothing", "%seen_ = %nothing")
        .replace("addf %seen,", "addf %seen_,")
    }

    /// Rows and columns of the result, as whole tiles.
    fn rounded(&self) -> [usize; 2] {
        [0, 1].map(|axis| self.extents[axis].next_multiple_of(self.sizes[axis]))
    }

    fn inputs(&self, rounds: i32) -> (Vec<u64>, Memory) {
        let Self { factors, extents: [m, n, k], turned, deep, .. } = *self;
        let [height, width] = self.rounded();
        let shapes = [[m, k], if turned { [n, k] } else { [k, n] }];
        let sum = if factors == DType::I8 { DType::I32 } else { DType::F32 };
        let tensor =
            |[rows, columns]: [usize; 2]| Argument::Small(factors, rows * pitch(factors, columns));
        let (bits, memory) = make(&[
            ("a", tensor(shapes[0])),
            ("b", tensor(shapes[1])),
            ("out", Argument::Empty(sum, height * width)),
            ("seen", Argument::Empty(factors, height * self.sizes[2])),
        ]);
        let mut args = Vec::new();
        for (index, [rows, columns]) in shapes.into_iter().enumerate() {
            let row = pitch(factors, columns);
            args.push(bits[index]);
            args.extend(deep.then_some(1));
            args.extend([rows, columns].map(|extent| extent as u64));
            args.extend(deep.then_some((rows * row) as u64));
            args.extend([row as u64, 1, u64::from(self.nan), 0]);
        }
        args.extend(&bits[2..]);
        args.push(rounds as u64 & 0xffff_ffff);
        (args, memory)
    }

    fn options(&self) -> Options {
        let machine = Machine::by_name("sm_90").unwrap();
        let Self { warps, stages, .. } = *self;
        Options { warps, stages, tensor_maps: TensorMaps::Each, ..Options::for_machine(machine) }
    }

    fn programs(&self) -> u32 {
        let [height, width] = self.rounded();
        let tiles = height / self.sizes[0] * (width / self.sizes[1]);
        (tiles / self.tiles.unwrap_or(1)) as u32
    }

    fn compiled(&self) -> Compiled {
        let text = self.text();
        let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        compile::compile(&module, &module.kernels[0], &self.options())
            .unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// Runs the kernel all ways; how many copies of boxes there are in the program.
    fn run(&self, schedules: u64) -> usize {
        let compiled = self.compiled();
        let text = self.text();
        let module = ttir::parse(&text).unwrap();
        let kernel = &module.kernels[0];
        let full = self.extents[2].div_ceil(self.sizes[2]) as i32;
        for rounds in [full, 0, 1] {
            let grid = [self.programs(), 1, 1];
            let (_, mut wanted) = self.inputs(rounds);
            for form in [kernel, &compiled.kernel] {
                let (args, memory) = self.inputs(rounds);
                wanted = memory;
                let report = eval::run(form, grid, &args, &mut wanted, eval::Options::default());
                let report = report.unwrap_or_else(|error| panic!("{self:?} {rounds}: {error}"));
                assert!(report.findings.is_empty(), "{self:?} {rounds}: {:#?}", report.findings);
            }
            let (args, memory) = self.inputs(rounds);
            runs(
                &compiled,
                grid,
                &args,
                &memory,
                &wanted,
                schedules,
                &format!("{self:?} {rounds}"),
            );
        }
        copies(&compiled)
    }
}

pub(crate) fn runs(
    compiled: &Compiled,
    grid: [u32; 3],
    args: &[u64],
    memory: &Memory,
    wanted: &Memory,
    schedules: u64,
    what: &str,
) {
    let machine = Machine::by_name("sm_90").unwrap();
    let timings = [Timing::Earliest, Timing::Latest].into_iter();
    for timing in timings.chain((0..schedules).map(Timing::Random)) {
        let mut memory = memory.clone();
        let args = compiled.arguments(args, &mut memory);
        let launch = Launch {
            program: &compiled.program,
            grid,
            args: &args,
            machine: &compile::simulated(machine, 8),
            options: sim::Options { timing, ..sim::Options::default() },
        };
        let report =
            sim::run(&launch, &mut memory).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(report.findings.is_empty(), "{what} {timing:?}: {:#?}", report.findings);
        for (found, wanted) in memory.buffers().iter().zip(wanted.buffers()) {
            assert!(found == wanted, "{what} {timing:?}: {} differs", wanted.name);
        }
    }
}

pub(crate) fn copies(compiled: &Compiled) -> usize {
    let mut count = 0;
    let program = &compiled.program;
    program.walk(&program.body, &mut |_, inst| {
        count += usize::from(matches!(inst.op, lane::Op::TensorCopy(_)));
    });
    count
}

#[test]
fn loops_over_blocks_run_ahead() {
    for stages in 2..=4 {
        let blocks = 2 * stages as usize;
        assert_eq!(Case { stages, ..PLAIN }.run(2), blocks, "{stages}");
    }
    // Rows longer than a swizzle come in two boxes.
    let wide = Case { sizes: [64, 128, 64], ..PLAIN };
    assert_eq!(wide.run(1), 9);
    let long = Case { sizes: [128, 64, 128], extents: [128, 64, 256], warps: 8, ..PLAIN };
    assert_eq!(long.run(1), 9);
    // Without a loop that runs ahead there is nothing to be won.
    assert_eq!(Case { stages: 1, ..PLAIN }.run(0), 0);
}

#[test]
fn what_is_outside_of_a_map_is_padding() {
    for (extents, turned) in
        [([50, 90, 200], false), ([64, 72, 136], true), ([1, 1, 1], true), ([65, 64, 65], false)]
    {
        let case = Case { extents, turned, ..PLAIN };
        assert_eq!(case.run(1), 6, "{case:?}");
    }
    let case = Case { extents: [64, 64, 120], nan: true, turned: true, ..PLAIN };
    assert_eq!(case.run(0), 6, "{case:?}");
}

#[test]
fn numbers_of_any_width_come_in_blocks() {
    for (factors, turned) in [
        (DType::BF16, false),
        (DType::BF16, true),
        (DType::F8E4M3FN, true),
        (DType::F8E5M2, true),
        (DType::I8, true),
    ] {
        let case = Case { factors, turned, extents: [64, 64, 200], ..PLAIN };
        assert_eq!(case.run(0), 6, "{case:?}");
    }
    // Whether f32 is rounded is not known.
    let case = Case { factors: DType::F32, turned: true, ..PLAIN };
    assert_eq!(case.run(0), 0);
}

#[test]
fn blocks_may_have_dimensions_of_one() {
    for turned in [false, true] {
        let case = Case { deep: true, turned, extents: [60, 64, 130], ..PLAIN };
        assert_eq!(case.run(0), 6, "{case:?}");
    }
}

#[test]
fn loops_in_loops_begin_anew() {
    for turned in [false, true] {
        let case = Case { tiles: Some(2), turned, ..PLAIN };
        assert_eq!(case.run(3), 6, "{case:?}");
    }
}

#[test]
fn blocks_are_also_read_by_threads() {
    for stages in 2..=3 {
        let case = Case { shown: true, stages, ..PLAIN };
        assert_eq!(case.run(2), 2 * stages as usize, "{case:?}");
    }
}

/// The program without operations of a kind, in loops alone or everywhere.
pub(crate) fn without(
    program: &lane::Program,
    in_loops: bool,
    gone: &dyn Fn(&lane::Op) -> bool,
) -> lane::Program {
    let mut less = program.clone();
    let goes = |id: &lane::Inst| gone(&program.insts[*id].op);
    let mut lists: Vec<lane::Inst> = Vec::new();
    program.walk(&program.body, &mut |id, inst| {
        if !in_loops || inst.op == lane::Op::Loop {
            lists.push(id);
        }
    });
    for id in lists {
        for region in &mut less.insts[id].regions {
            region.insts.retain(|id| !goes(id));
        }
    }
    if !in_loops {
        less.body.insts.retain(|id| !goes(id));
    }
    less
}

/// Each thing that orders copies with those who read what they bring is needed: the simulator finds it missing.
#[test]
fn nothing_that_orders_copies_is_there_in_vain() {
    let is_wait = |op: &lane::Op| *op == lane::Op::Mbarrier(lane::Mbarrier::Wait);
    let is_barrier =
        |op: &lane::Op| *op == lane::Op::Sync(lane::SyncOp::Barrier(lane::BarrierScope::Block));
    let is_fence = |op: &lane::Op| *op == lane::Op::Sync(lane::SyncOp::ProxyFence);
    let is_end = |op: &lane::Op| matches!(op, lane::Op::Warpgroup(lane::WarpgroupOp::Wait { .. }));
    let threads = Case { shown: true, ..PLAIN };
    for (case, in_loops, gone) in [
        (PLAIN, true, &is_wait as &dyn Fn(&lane::Op) -> bool),
        (PLAIN, true, &is_barrier),
        (PLAIN, false, &is_fence),
        (threads, true, &is_fence),
        (PLAIN, true, &is_end),
    ] {
        let compiled = case.compiled();
        let rounds = 4;
        let spoilt = without(&compiled.program, in_loops, gone);
        let mut found = false;
        for timing in [Timing::Earliest, Timing::Latest, Timing::Random(1)] {
            let (args, mut memory) = case.inputs(rounds);
            let args = compiled.arguments(&args, &mut memory);
            let launch = Launch {
                program: &spoilt,
                grid: [case.programs(), 1, 1],
                args: &args,
                machine: &compile::simulated(&case.options().machine, 8),
                options: sim::Options { timing, ..sim::Options::default() },
            };
            // What is missing may also make the program an illegal one.
            found |=
                sim::run(&launch, &mut memory).map_or(true, |report| !report.findings.is_empty());
        }
        assert!(found, "{case:?} {in_loops}");
    }
}

/// What a round of the loop says in PTX.
#[test]
fn a_round_waits_once_and_meets_once() {
    let compiled = PLAIN.compiled();
    let target = Target::by_name("sm_90").unwrap();
    let text = emit::print(&compiled.program, Language::Ptx, target).unwrap();
    let says = ["mbarrier", "cp.async.bulk", "bar.sync", "fence", "wgmma", "$L", "entry", ".param"];
    let shown = text.lines().filter(|line| says.iter().any(|word| line.contains(word)));
    let shown = shown.map(|line| {
        let line = line.trim();
        // Not the registers of a product.
        line.split_once(" {%").filter(|_| line.starts_with("wgmma")).map_or(line, |(name, _)| name)
    });
    let shown = shown.collect::<Vec<_>>().join("\n") + "\n";
    expect_test::expect![[r#"
        .visible .entry k(
        .param .align 64 .b8 p0_a[128],
        .param .align 64 .b8 p1_b[128],
        .param .u64 .ptr .global .align 1 p2_out,
        .param .u64 .ptr .global .align 1 p3_seen,
        .param .u32 p4_rounds,
        .param .u64 .ptr .global .align 1 p5_global_scratch,
        .param .u64 .ptr .global .align 1 p6_profile_scratch
        ld.param.b64 %rd0, [p2_out];
        ld.param.b32 %r1, [p4_rounds];
        @!%p15 bra $L_end_25;
        mbarrier.init.shared::cta.b64 [%r13], 2;
        mbarrier.init.shared::cta.b64 [%r17], 2;
        mbarrier.init.shared::cta.b64 [%r19], 2;
        $L_end_25:
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @!%p24 bra $L_end_37;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r13], %r22;
        cvta.param.u64 %rdt1, %rdt0;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rdt1, {%r2, %r8}], [%r13];
        $L_end_37:
        @!%p24 bra $L_end_42;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r13], %r22;
        cvta.param.u64 %rdt3, %rdt2;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rdt3, {%r9, %r2}], [%r13];
        $L_end_42:
        @!%p29 bra $L_end_52;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r28], %r22;
        cvta.param.u64 %rdt5, %rdt4;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r27], [%rdt5, {%r4, %r8}], [%r28];
        $L_end_52:
        @!%p29 bra $L_end_58;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r28], %r22;
        cvta.param.u64 %rdt7, %rdt6;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r30], [%rdt7, {%r9, %r4}], [%r28];
        $L_end_58:
        $L_loop_73:
        @%p115 bra $L_end_73;
        $L_wait_78:
        mbarrier.try_wait.parity.shared::cta.b64 %pt0, [%r117], %rt0;
        @!%pt0 bra $L_wait_78;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
        wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
        wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
        wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 1;
        bar.sync 0;
        @!%p289 bra $L_end_135;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r288], %r22;
        cvta.param.u64 %rdt9, %rdt8;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r286], [%rdt9, {%r284, %r8}], [%r288];
        $L_end_135:
        @!%p289 bra $L_end_141;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r288], %r22;
        cvta.param.u64 %rdt11, %rdt10;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r290], [%rdt11, {%r9, %r284}], [%r288];
        $L_end_141:
        bra.uni $L_loop_73;
        $L_end_73:
        wgmma.wait_group.sync.aligned 0;
        bar.sync 0;
        @!%p15 bra $L_end_159;
        mbarrier.inval.shared::cta.b64 [%r13];
        mbarrier.inval.shared::cta.b64 [%r28];
        mbarrier.inval.shared::cta.b64 [%r331];
        $L_end_159:
        bar.sync 0;
    "#]].assert_eq(&shown);
}
