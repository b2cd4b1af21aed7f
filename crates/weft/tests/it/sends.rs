//! Results that are stored through descriptors which are tensor maps: whatever the blocks are, in one tile or in one
//! after the other, the program leaves what the tile program says, whenever the copies take place, and nothing races.

use crate::inputs::{Argument, make};
use crate::maps::{copies, name, pitch, runs, without};
use weft::compile::{self, Attempt, Compiled, Factors, Options, Scratch, TensorMaps};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::lane::{self, TensorWay};
use weft::memory::Memory;
use weft::sim::{self, Launch, Timing};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

/// What becomes of a result.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    /// It is stored.
    Stored,
    /// Its columns are stored in two halves.
    Halves,
    /// The same, both to the same place: the second one stays.
    Twice,
    /// It is added to what is there, twice.
    Added,
}

/// A product whose result goes through a descriptor.
#[derive(Clone, Copy, Debug)]
struct Case {
    result: DType,
    way: Way,
    /// Rows and columns of a tile.
    sizes: [usize; 2],
    /// Those of the whole.
    extents: [usize; 2],
    /// Tiles that a program computes one after the other; one without a loop where there is none.
    tiles: Option<usize>,
    /// Whether the source wants the loop of these and that of their products to be one.
    flat: bool,
    /// Whether all programs write the same tile.
    same: bool,
    warps: u32,
    maps: TensorMaps,
    /// Whether the kernel makes its descriptors, of tensors with so many rows.
    made: Option<usize>,
}

const PLAIN: Case = Case {
    result: DType::F16,
    way: Way::Stored,
    sizes: [64, 64],
    extents: [128, 128],
    tiles: None,
    flat: false,
    same: false,
    warps: 4,
    maps: TensorMaps::All,
    made: None,
};
/// What is summed over, and what of it in a round.
const SUMMED: [usize; 2] = [128, 64];

impl Case {
    fn text(&self) -> String {
        let Self { result, way, sizes: [m, n], tiles, same, .. } = *self;
        let [_, k] = SUMMED;
        let half = n / 2;
        let (tc, to) =
            (format!("tensor<{m}x{n}xf32>"), format!("tensor<{m}x{n}x{}>", name(result)));
        let th = format!("tensor<{m}x{half}x{}>", name(result));
        let columns = if matches!(way, Way::Halves | Way::Twice) { half } else { n };
        let dc = format!("!tt.tensordesc<{m}x{columns}x{}>", name(result));
        let converted = match result {
            DType::F32 => format!("%o = arith.addf %r, %none : {tc}"),
            _ => format!("%o = arith.truncf %r : {tc} to {to}"),
        };
        let halves = |second: &str| {
            format!(
                "%h = tt.reshape %o : {to} -> tensor<{m}x2x{half}x{e}>
      %t = tt.trans %h {{order = array<i32: 0, 2, 1>}} : tensor<{m}x2x{half}x{e}> -> tensor<{m}x{half}x2x{e}>
      %p, %q = tt.split %t : tensor<{m}x{half}x2x{e}> -> {th}
      tt.descriptor_store %c[%row, %column], %p : {dc}, {th}
      %further = arith.addi %column, %half : i32
      tt.descriptor_store %c[%row, {second}], %q : {dc}, {th}",
                e = name(result)
            )
        };
        let stored = match way {
            Way::Stored => format!("tt.descriptor_store %c[%row, %column], %o : {dc}, {to}"),
            Way::Halves => halves("%further"),
            Way::Twice => halves("%column"),
            Way::Added => format!(
                "tt.descriptor_reduce add, %c[%row, %column], %o : {dc}, {to}
      tt.descriptor_reduce add, %c[%row, %column], %o : {dc}, {to}"
            ),
        };
        let down = self.extents[0].div_ceil(m);
        let place = if same { "%zero" } else { "%tile" };
        let tile = format!(
            "      %tr = arith.remsi {place}, %down : i32
      %tc = arith.divsi {place}, %down : i32
      %row = arith.muli %tr, %height : i32
      %column = arith.muli %tc, %width : i32
      %r = scf.for %i = %zero to %rounds step %one iter_args(%sums = %none) -> ({tc})  : i32 {{
        %at = arith.muli %i, %step : i32
        %x = tt.descriptor_load %a[%row, %at] : !tt.tensordesc<{m}x{k}xf16> -> tensor<{m}x{k}xf16>
        %y = tt.descriptor_load %b[%at, %column] : !tt.tensordesc<{k}x{n}xf16> -> tensor<{k}x{n}xf16>
        %s = tt.dot %x, %y, %sums : tensor<{m}x{k}xf16> * tensor<{k}x{n}xf16> -> {tc}
        scf.yield %s : {tc}
      }}
      {converted}
      {stored}\n"
        );
        let all = match tiles {
            None => format!("      %tile = arith.addi %id, %zero : i32\n{tile}"),
            Some(tiles) => format!(
                "    %tiles = arith.constant {tiles} : i32
    %first = arith.muli %id, %tiles : i32
    scf.for %u = %zero to %tiles step %one  : i32 {{
      %tile = arith.addi %first, %u : i32
{tile}    }}{}\n",
                if self.flat { " {tt.flatten}" } else { "" }
            ),
        };
        let (da, db) =
            (format!("!tt.tensordesc<{m}x{k}xf16>"), format!("!tt.tensordesc<{k}x{n}xf16>"));
        let (arguments, made) = if self.made.is_some() {
            let pointer = |name: &str, dtype: &str| {
                format!("%{name}: !tt.ptr<{dtype}> {{tt.divisibility = 16 : i32}}")
            };
            let element = name(result);
            let of = |name: &str, element: &str, [rows, columns]: [&str; 2], [m, n]: [usize; 2]| {
                format!(
                    "    %{name}s = arith.extsi %{columns} : i32 to i64
    %{name} = tt.make_tensor_descriptor %{name}p, [%{rows}, %{columns}], [%{name}s, %unit] : <{element}>, <{m}x{n}x{element}>\n"
                )
            };
            let arguments = [
                pointer("ap", "f16"),
                pointer("bp", "f16"),
                pointer("cp", element),
                "%m: i32".into(),
                "%n: i32 {tt.divisibility = 16 : i32}".into(),
                "%k: i32 {tt.divisibility = 16 : i32}".into(),
            ];
            let made = [
                "    %unit = arith.constant 1 : i64\n".to_string(),
                of("a", "f16", ["m", "k"], [m, k]),
                of("b", "f16", ["k", "n"], [k, n]),
                of("c", element, ["m", "n"], [m, columns]),
            ];
            (arguments.join(", "), made.concat())
        } else {
            let given = format!("%a: {da}, %b: {db}, %c: {dc} {{weft.flags = 1 : i32}}");
            (given, String::new())
        };
        format!(
            "module {{
  tt.func public @k({arguments}, %rounds: i32) {{
{made}    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %step = arith.constant {k} : i32
    %height = arith.constant {m} : i32
    %width = arith.constant {n} : i32
    %half = arith.constant {half} : i32
    %down = arith.constant {down} : i32
    %none = arith.constant dense<0.000000e+00> : {tc}
    %id = tt.get_program_id x : i32
{all}    tt.return\n  }}\n}}\n"
        )
    }

    fn inputs(&self) -> (Vec<u64>, Memory) {
        let Self { result, extents: [m, n], .. } = *self;
        let shapes = [[m, SUMMED[0]], [SUMMED[0], n], [m, n]];
        let dtypes = [DType::F16, DType::F16, result];
        let pitches = [0, 1, 2].map(|which| pitch(dtypes[which], shapes[which][1]));
        let count = |which: usize| shapes[which][0] * pitches[which];
        let (bits, memory) = make(&[
            ("a", Argument::Small(DType::F16, count(0))),
            ("b", Argument::Small(DType::F16, count(1))),
            ("c", Argument::Small(result, count(2))),
        ]);
        let mut args = Vec::new();
        if let Some(rows) = self.made {
            let numbers = [rows, n, SUMMED[0], SUMMED[0] / SUMMED[1]];
            args.extend(bits.into_iter().chain(numbers.map(|number| number as u64)));
            return (args, memory);
        }
        for (which, [rows, columns]) in shapes.into_iter().enumerate() {
            args.extend([bits[which], rows as u64, columns as u64, pitches[which] as u64, 1, 0]);
            args.extend((which < 2).then_some(0));
        }
        args.push((SUMMED[0] / SUMMED[1]) as u64);
        (args, memory)
    }

    fn options(&self) -> Options {
        let machine = Machine::by_name("sm_90").unwrap();
        let Self { warps, maps, made, .. } = *self;
        let scratch = if made.is_some() { Scratch::Maps } else { Scratch::None };
        Options { warps, tensor_maps: maps, scratch, ..Options::for_machine(machine) }
    }

    fn programs(&self) -> u32 {
        let [down, across] = [0, 1].map(|axis| self.extents[axis].div_ceil(self.sizes[axis]));
        let tiles = if self.same { 1 } else { down * across };
        (tiles / self.tiles.unwrap_or(1)).max(1) as u32
    }

    fn compiled(&self) -> Compiled {
        let text = self.text();
        let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        compile::compile(&module, &module.kernels[0], &self.options())
            .unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// Runs the kernel all ways.
    fn run(&self, schedules: u64) -> Compiled {
        let compiled = self.compiled();
        let module = ttir::parse(&self.text()).unwrap();
        let grid = [self.programs(), 1, 1];
        let mut wanted = self.inputs().1;
        for form in [&module.kernels[0], &compiled.kernel] {
            let (args, memory) = self.inputs();
            wanted = memory;
            let report = eval::run(form, grid, &args, &mut wanted, eval::Options::default());
            let report = report.unwrap_or_else(|error| panic!("{self:?}: {error}"));
            assert!(report.findings.is_empty(), "{self:?}: {:#?}", report.findings);
        }
        let (args, memory) = self.inputs();
        runs(&compiled, grid, &args, &memory, &wanted, schedules, &format!("{self:?}"));
        compiled
    }
}

/// The copies from shared memory of a program.
fn sent(compiled: &Compiled) -> usize {
    let (program, mut count) = (&compiled.program, 0);
    program.walk(&program.body, &mut |_, inst| {
        let lane::Op::TensorCopy(copy) = &inst.op else { return };
        count += usize::from(copy.way != TensorWay::ToShared);
    });
    count
}

#[test]
fn results_are_sent_in_boxes() {
    for (result, sizes, warps, boxes) in [
        (DType::F16, [64, 64], 4, 1),
        (DType::BF16, [64, 32], 4, 1),
        (DType::F16, [128, 128], 8, 2),
        // Rows of 128 bytes of f32.
        (DType::F32, [64, 64], 4, 2),
    ] {
        let extents = [2 * sizes[0], 2 * sizes[1]];
        let case = Case { result, sizes, extents, warps, ..PLAIN };
        assert_eq!(sent(&case.run(2)), boxes, "{case:?}");
    }
}

#[test]
fn what_is_outside_is_not_stored() {
    for extents in [[100, 120], [1, 8], [65, 72]] {
        for tiles in [None, Some(1)] {
            let case = Case { extents, tiles, ..PLAIN };
            assert_eq!(sent(&case.run(1)), 1, "{case:?}");
        }
    }
}

#[test]
fn tiles_follow_one_another() {
    for way in [Way::Stored, Way::Halves, Way::Added] {
        for tiles in [2, 4] {
            let case = Case { way, tiles: Some(tiles), ..PLAIN };
            let compiled = case.run(3);
            assert!(sent(&compiled) > 0, "{case:?}");
            let factors = Factors::Mapped { stores: true };
            assert!(matches!(compiled.attempt, Attempt { factors: f, .. } if f == factors));
        }
    }
}

/// The tiles whose products are rounds of one loop, and the version of a nest without rounds, store by one map, from memory
/// that the two versions share.
#[test]
fn tiles_of_one_loop_are_sent_while_the_next_one_comes() {
    for (way, sizes, warps) in
        [(Way::Stored, [64, 64], 4), (Way::Halves, [128, 128], 8), (Way::Added, [64, 64], 4)]
    {
        let extents = sizes.map(|size| 2 * size);
        let nest = Case { way, sizes, extents, warps, tiles: Some(2), ..PLAIN };
        let flat = Case { flat: true, ..nest };
        let [nest, flat] = [nest, flat].map(|case| case.run(3));
        let factors = Factors::Mapped { stores: true };
        assert_eq!([nest.attempt, flat.attempt].map(|attempt| attempt.factors), [factors; 2]);
        assert_eq!(sent(&flat), 2 * sent(&nest));
        let [before, after] = [nest, flat].map(|compiled| compiled.program.shared_bytes);
        assert!(after <= before, "{after} bytes, and {before} of a nest");
    }
}

/// Blocks that may be the same are written in the order of the program.
#[test]
fn the_last_block_stays() {
    for (way, tiles) in [(Way::Twice, None), (Way::Twice, Some(2)), (Way::Stored, Some(4))] {
        let case = Case { way, tiles, same: true, ..PLAIN };
        assert!(sent(&case.run(4)) > 0, "{case:?}");
    }
}

/// Descriptors that a kernel makes are maps of its own, whatever their extents are.
#[test]
fn kernels_make_maps() {
    for (way, tiles) in
        [(Way::Stored, None), (Way::Stored, Some(2)), (Way::Halves, Some(4)), (Way::Added, Some(2))]
    {
        for made in [128, 100, 64, 0] {
            let case = Case { way, tiles, made: Some(made), ..PLAIN };
            let compiled = case.run(1);
            assert!(sent(&compiled) > 0, "{case:?}");
            assert_eq!(emit::ptx::scratch_bytes(&compiled.program), 3 * 128);
        }
    }
    // Nobody knows that rows end with whole pieces, and so the result goes by pointers.
    let text = Case { made: Some(128), ..PLAIN }.text();
    let text = text.replace("%n: i32 {tt.divisibility = 16 : i32}", "%n: i32");
    let module = ttir::parse(&text).unwrap();
    let options = Case { made: Some(128), ..PLAIN }.options();
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    assert_eq!(sent(&compiled), 0);
    // Without memory for maps there are none.
    let options = Options { scratch: Scratch::None, ..options };
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    assert_eq!(copies(&compiled), 0);
}

/// How a map is made in PTX.
#[test]
fn a_map_is_made_by_a_warp() {
    let compiled = Case { made: Some(128), ..PLAIN }.compiled();
    let target = Target::by_name("sm_90").unwrap();
    let text = emit::print(&compiled.program, Language::Ptx, target).unwrap();
    let last = text.find("fence.proxy.tensormap").unwrap();
    let says =
        ["%maps", "tensormap", "bar.", "st.", "global_scratch", ".version", ".target", "nctaid"];
    let shown =
        text[..last + 60].lines().filter(|line| says.iter().any(|word| line.contains(word)));
    let shown = shown.map(str::trim).collect::<Vec<_>>().join("\n") + "\n";
    expect_test::expect![[r#"
        .version 8.3
        .target sm_90a
        .param .u64 .ptr .global .align 1 p10_global_scratch,
        .reg .b64 %maps;
        mov.u32 %of, %nctaid.y;
        mov.u32 %of, %nctaid.x;
        ld.param.b64 %maps, [p10_global_scratch];
        mad.wide.u32 %maps, %block, 384, %maps;
        st.shared.b32 [%rt0], 0;
        bar.warp.sync 0xffffffff;
        tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r10], %rd0;
        tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r10], 1;
        tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r10], 0, 64;
        tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r10], 0, %r12;
        tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r10], 0, 1;
        tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r10], 1, 64;
        tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r10], 1, %r15;
        tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r10], 1, 1;
        tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r10], 0, %rd16;
        tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r10], 6;
        tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r10], 3;
        bar.warp.sync 0xffffffff;
        add.u64 %rdt0, %maps, 0;
        tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rdt0], [%r10], 128;
        fence.proxy.tensormap::generic.acquire.gpu [%rdt0], 128;
    "#]].assert_eq(&shown);
}

/// Where each descriptor is a map or not, one that is read and written is none, and the others are.
#[test]
fn descriptors_are_read_or_written() {
    let text = Case { extents: [64, 64], ..PLAIN }.text();
    let both = text.replace("%o = arith.truncf %r", "%w = tt.descriptor_load %c[%row, %column] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>\n      %v = arith.truncf %r").replace(": tensor<64x64xf32> to tensor<64x64xf16>", ": tensor<64x64xf32> to tensor<64x64xf16>\n      %o = arith.addf %v, %w : tensor<64x64xf16>");
    for (text, maps, all, to_tensor) in [
        (&text, TensorMaps::Each, 7, 1),
        (&text, TensorMaps::All, 7, 1),
        (&both, TensorMaps::Each, 6, 0),
        (&both, TensorMaps::All, 0, 0),
    ] {
        let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let options = Case { maps, ..PLAIN }.options();
        let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
        assert_eq!((copies(&compiled), sent(&compiled)), (all, to_tensor), "{maps:?}");
    }
}

/// Each thing that orders what is sent with those who write it is needed: the simulator finds it missing.
#[test]
fn nothing_that_orders_blocks_is_there_in_vain() {
    let case = Case { tiles: Some(4), extents: [128, 128], ..PLAIN };
    let again = Case { way: Way::Twice, ..PLAIN };
    let is_read =
        |op: &lane::Op| matches!(op, lane::Op::BulkCopy(lane::BulkCopy::Wait { reads: true, .. }));
    let is_there =
        |op: &lane::Op| matches!(op, lane::Op::BulkCopy(lane::BulkCopy::Wait { reads: false, .. }));
    let is_fence = |op: &lane::Op| *op == lane::Op::Sync(lane::SyncOp::ProxyFence);
    let is_barrier =
        |op: &lane::Op| *op == lane::Op::Sync(lane::SyncOp::Barrier(lane::BarrierScope::Block));
    for (number, (case, gone)) in [
        (case, &is_read as &dyn Fn(&lane::Op) -> bool),
        (again, &is_there),
        (case, &is_fence),
        (case, &is_barrier),
    ]
    .into_iter()
    .enumerate()
    {
        let compiled = case.compiled();
        let spoilt = without(&compiled.program, false, gone);
        let mut found = false;
        for timing in [Timing::Earliest, Timing::Latest, Timing::Random(1)] {
            let (args, mut memory) = case.inputs();
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
        assert!(found, "{number}");
    }
}

/// What a tile says in PTX behind its product.
#[test]
fn a_tile_waits_until_the_last_one_was_read() {
    let compiled = Case { tiles: Some(4), ..PLAIN }.compiled();
    let target = Target::by_name("sm_90").unwrap();
    let text = emit::print(&compiled.program, Language::Ptx, target).unwrap();
    let says = ["cp.async.bulk", "bar.sync", "fence.proxy", "stmatrix", "st.", "ret"];
    let last = text.rfind("wgmma.wait_group").unwrap();
    let shown = text[last..].lines().filter(|line| says.iter().any(|word| line.contains(word)));
    let shown = shown.map(str::trim).collect::<Vec<_>>().join("\n") + "\n";
    expect_test::expect![[r#"
        bar.sync 0;
        cp.async.bulk.wait_group.read 0;
        bar.sync 0;
        stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r53], {%r352, %r353, %r354, %r355};
        stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r55], {%r356, %r357, %r358, %r359};
        stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r57], {%r360, %r361, %r362, %r363};
        stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r59], {%r364, %r365, %r366, %r367};
        fence.proxy.async.shared::cta;
        bar.sync 0;
        cp.async.bulk.wait_group 0;
        cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rdt13, {%r66, %r65}], [%r40];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group.read 0;
        ret;
    "#]]
    .assert_eq(&shown);
}
