//! Programs with layouts of their own: what they say of homes and shared memory is obeyed, and what they
//! forget to wait for is found.

use weft::dtype::DType;
use weft::memory::{Buffer, Memory};
use weft::tile::eval::{self, Fault, LocalFault};
use weft::ttir;
use weft_api::answer::RunAnswer;
use weft_api::request::{CompileRequest, Grid, RunRequest};
use weft_api::{ApiError, explain, kernels, run};

/// A module around a kernel's body: `x` and `y` are read, `out` is written.
fn module(target: &str, lanes: u32, layouts: &str, body: &str) -> String {
    format!(
        r##"{layouts}
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "{target}", "ttg.threads-per-warp" = {lanes} : i32}} {{
  tt.func public @kernel(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %out: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
{body}
    tt.return
  }}
}}
"##
    )
}

/// A tile of 32 x 64 in layouts for warps of 32 lanes, and two ways to hold it in shared memory.
const LAYOUTS: &str = r##"#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#turned = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#upright = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared_t = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#padded = #ttg.padded_shared<[64:+4] {order = [1, 0], shape = [32, 64]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"##;

/// Pointers `%NAME_p` to a tile of `rows` x `columns` of `%NAME`, row after row, in a layout.
fn pointers(name: &str, rows: u64, columns: u64, layout: &str) -> String {
    let of = |dim: u32| format!("#ttg.slice<{{dim = {dim}, parent = {layout}}}>");
    let (tall, wide) = (of(1), of(0));
    format!(
        "    %{name}_r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32, {tall}>
    %{name}_c = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32, {wide}>
    %{name}_r1 = tt.expand_dims %{name}_r {{axis = 1 : i32}} : tensor<{rows}xi32, {tall}> -> tensor<{rows}x1xi32, {layout}>
    %{name}_c1 = tt.expand_dims %{name}_c {{axis = 0 : i32}} : tensor<{columns}xi32, {wide}> -> tensor<1x{columns}xi32, {layout}>
    %{name}_w = arith.constant dense<{columns}> : tensor<{rows}x1xi32, {layout}>
    %{name}_r2 = arith.muli %{name}_r1, %{name}_w : tensor<{rows}x1xi32, {layout}>
    %{name}_r3 = tt.broadcast %{name}_r2 : tensor<{rows}x1xi32, {layout}> -> tensor<{rows}x{columns}xi32, {layout}>
    %{name}_c3 = tt.broadcast %{name}_c1 : tensor<1x{columns}xi32, {layout}> -> tensor<{rows}x{columns}xi32, {layout}>
    %{name}_o = arith.addi %{name}_r3, %{name}_c3 : tensor<{rows}x{columns}xi32, {layout}>
    %{name}_s = tt.splat %{name} : !tt.ptr<f32> -> tensor<{rows}x{columns}x!tt.ptr<f32>, {layout}>
    %{name}_p = tt.addptr %{name}_s, %{name}_o : tensor<{rows}x{columns}x!tt.ptr<f32>, {layout}>, tensor<{rows}x{columns}xi32, {layout}>"
    )
}

fn ran(text: &str, target: &str) -> Result<RunAnswer, ApiError> {
    let mut request: RunRequest =
        serde_json::from_value(serde_json::json!({ "ttir": text, "target": target, "grid": 1 }))
            .unwrap();
    request.grid = Grid::parse("1")?;
    request.verify = true;
    for argument in ["x=random:f32[2048]", "y=random:f32[2048]", "out=empty:f32[2048]"] {
        request.args.push(argument)?;
    }
    run::run(&request)
}

/// What the evaluator finds wrong.
fn evaluated(text: &str) -> Vec<Fault> {
    let module = ttir::parse(text).unwrap();
    let mut memory = Memory::default();
    let buffer = |name: &str| Buffer {
        name: name.into(),
        bytes: vec![0; 8192],
        dtype: DType::F32,
        initialised: true,
    };
    let args: Vec<u64> = ["x", "y", "out"].map(|name| memory.push(buffer(name))).to_vec();
    let kernel = &module.kernels[0];
    let report =
        eval::run(kernel, [1, 1, 1], &args, &mut memory, eval::Options::default()).unwrap();
    report.findings.into_iter().map(|finding| finding.fault).collect()
}

fn passes(body: &str) {
    for target in ["sm_80", "sm_90"] {
        let answer = ran(&module("cuda:80", 32, LAYOUTS, body), target).unwrap();
        assert!(answer.passed, "{target}: {:?} {:?}\n{body}", answer.findings, answer.buffers);
    }
}

#[test]
fn a_tile_crosses_shared_memory_and_is_read_turned() {
    let body = format!(
        "{}\n{}
    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>
    %m = ttg.local_alloc %t : (tensor<32x64xf32, #rows>) -> !ttg.memdesc<32x64xf32, #shared, #smem>
    %u = ttg.memdesc_trans %m {{order = array<i32: 1, 0>}} : !ttg.memdesc<32x64xf32, #shared, #smem> -> !ttg.memdesc<64x32xf32, #shared_t, #smem>
    %v = ttg.local_load %u : !ttg.memdesc<64x32xf32, #shared_t, #smem> -> tensor<64x32xf32, #turned>
    ttg.local_dealloc %m : !ttg.memdesc<32x64xf32, #shared, #smem>
    tt.store %out_p, %v : tensor<64x32x!tt.ptr<f32>, #turned>",
        pointers("x", 32, 64, "#rows"),
        pointers("out", 64, 32, "#turned"),
    );
    passes(&body);
    let counted = |body: &str| {
        let answer = ran(&module("cuda:80", 32, LAYOUTS, body), "sm_80").unwrap();
        assert!(answer.passed, "{:?}", answer.findings);
        (answer.counts.block_barriers, answer.counts.shared_wavefronts)
    };
    // One barrier between the store and the load, passed by four warps. The store takes 64 wavefronts,
    // as 8192 bytes do. Each of the 64 loads of single words asks for four columns of eight rows that are
    // four rows apart: these have two of the eight phases, so that four rows meet in a bank; where nothing
    // is swizzled all eight do.
    let (barriers, swizzled) = counted(&body);
    let straight = body
        .replace(
            "#shared_t",
            "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>",
        )
        .replace("#shared", "#plain");
    let (_, plain) = counted(&straight);
    assert_eq!(barriers, 4);
    assert_eq!((swizzled, plain), (64 + 64 * 4, 64 + 64 * 8));
}

#[test]
fn who_reads_what_it_wrote_itself_waits_for_nobody() {
    let text = |layout: &str| {
        let body = format!(
            "{}\n{}
    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>
    %m = ttg.local_alloc %t : (tensor<32x64xf32, #rows>) -> !ttg.memdesc<32x64xf32, #shared, #smem>
    %v = ttg.local_load %m : !ttg.memdesc<32x64xf32, #shared, #smem> -> tensor<32x64xf32, {layout}>
    tt.store %out_p, %v : tensor<32x64x!tt.ptr<f32>, {layout}>",
            pointers("x", 32, 64, "#rows"),
            pointers("out", 32, 64, layout),
        );
        module("cuda:80", 32, LAYOUTS, &body)
    };
    for (layout, barriers) in [("#rows", 0), ("#columns", 4)] {
        let answer = ran(&text(layout), "sm_80").unwrap();
        assert!(answer.passed, "{:?}", answer.findings);
        assert_eq!(answer.counts.block_barriers, barriers, "{layout}");
    }
}

#[test]
fn more_memory_than_there_is_is_refused() {
    let refused = |interval: u64, count: u32| {
        let padded =
            format!("#ttg.padded_shared<[1:+{interval}] {{order = [1, 0], shape = [32, 64]}}>");
        let memory = format!("!ttg.memdesc<32x64xf32, {padded}, #smem, mutable>");
        let alloc = |index| format!("    %m{index} = ttg.local_alloc : () -> {memory}\n");
        let body: String = (0..count).map(alloc).collect();
        let text = module("cuda:90", 32, LAYOUTS, &body);
        ran(&text, "sm_90").map(|answer| answer.passed).unwrap_err().to_string()
    };
    assert!(
        refused(1 << 40, 1).contains("a kernel may have 1073741824"),
        "{}",
        refused(1 << 40, 1)
    );
    assert!(
        refused(1 << 16, 8).contains("a kernel may have 1073741824"),
        "{}",
        refused(1 << 16, 8)
    );
    let body = format!(
        "{}\n    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>
    %i = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32x64xf32, #shared, #smem, mutable>
    %b = ttg.memdesc_index %m[%i] : !ttg.memdesc<64x32x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    ttg.local_store %t, %b : tensor<32x64xf32, #rows> -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>",
        pointers("x", 32, 64, "#rows"),
    );
    let error = ran(&module("cuda:90", 32, LAYOUTS, &body), "sm_90").map(|answer| answer.passed);
    assert_eq!(
        error.unwrap_err().to_string(),
        "`kernel` needs 524288 bytes of shared memory, a block of sm_90 may have 232448"
    );
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    let refused = |line: &str| {
        let text = module("cuda:90", 32, LAYOUTS, line);
        let error = ran(&text, "sm_90").map(|answer| answer.passed).unwrap_err();
        error.to_string()
    };
    for name in [
        "ttng.tc_gen5_mma",
        "ttng.async_tma_copy_global_to_local",
        "ttng.tmem_alloc",
        "ttg.warp_specialize",
        "ttg.global_scratch_alloc",
    ] {
        let message = refused(&format!("    %a = {name} %x : !tt.ptr<f32>"));
        assert!(message.contains(&format!("`{name}` is not supported")), "{message}");
    }
}

#[test]
fn memory_is_used_as_it_was_made() {
    let refused = |lines: &str| {
        let body = format!("{}\n{lines}", pointers("x", 32, 64, "#rows"));
        let text = module("cuda:90", 32, LAYOUTS, &body);
        ran(&text, "sm_90").map(|answer| answer.passed).unwrap_err().to_string()
    };
    let load = "    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>\n";
    let fixed = format!(
        "{load}    %m = ttg.local_alloc %t : (tensor<32x64xf32, #rows>) -> !ttg.memdesc<32x64xf32, #shared, #smem>"
    );
    let message = refused(&format!(
        "{fixed}\n    ttg.local_store %t, %m : tensor<32x64xf32, #rows> -> !ttg.memdesc<32x64xf32, #shared, #smem>"
    ));
    assert!(message.contains("takes a tensor and mutable memory"), "{message}");
    let message = refused(&format!(
        "{fixed}\n    %u = ttg.memdesc_trans %m {{order = array<i32: 1, 0>}} : !ttg.memdesc<32x64xf32, #shared, #smem> -> !ttg.memdesc<64x32xf32, #shared, #smem>"
    ));
    assert!(message.contains("each element where it was"), "{message}");
    let message = refused(&format!(
        "{fixed}\n    %u = ttg.memdesc_subslice %m[0, 16] : !ttg.memdesc<32x64xf32, #shared, #smem> -> !ttg.memdesc<32x32xf32, #shared, #smem, 32x64>"
    ));
    assert!(message.contains("offsets are multiples"), "{message}");
    let message =
        refused("    %m = ttg.local_alloc : () -> !ttg.memdesc<32x64xf32, #shared, #smem>");
    assert!(message.contains("mutable where nothing is put in yet"), "{message}");
    let message = refused(&format!(
        "{fixed}\n    %u = ttg.memdesc_reinterpret %m : !ttg.memdesc<32x64xf32, #shared, #smem> -> !ttg.memdesc<32x128xf16, #shared, #smem>"
    ));
    assert!(message.contains("each byte where it was"), "{message}");
    let message = refused(
        "    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    %left = ttg.memdesc_subslice %m[0, 0] : !ttg.memdesc<32x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>
    %right = ttg.memdesc_subslice %m[0, 32] : !ttg.memdesc<32x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>
    %r = scf.for %i = %zero to %two step %one iter_args(%n = %left) -> (!ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>) : i32 {
      scf.yield %right : !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>
    }",
    );
    assert!(message.contains("begins at another element"), "{message}");
}

#[test]
fn parts_buffers_and_other_shapes_are_views_of_the_same_bytes() {
    let body = format!(
        "{}\n{}
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x32x64xf32, #shared, #smem, mutable>
    scf.for %i = %zero to %two step %one : i32 {{
      %b = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x32x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
      ttg.local_store %t, %b : tensor<32x64xf32, #rows> -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    }}
    %c = ttg.memdesc_index %m[%one] : !ttg.memdesc<2x32x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    %left = ttg.memdesc_subslice %c[0, 0] : !ttg.memdesc<32x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>
    %right = ttg.memdesc_subslice %c[0, 32] : !ttg.memdesc<32x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>
    %low = ttg.memdesc_subslice %right[16, 16] : !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64> -> !ttg.memdesc<16x16xf32, #shared, #smem, mutable, 32x64>
    %l = ttg.local_load %left : !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64> -> tensor<32x32xf32, #columns>
    %s = arith.addf %l, %l : tensor<32x32xf32, #columns>
    ttg.local_store %s, %right : tensor<32x32xf32, #columns> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>
    %k = ttg.local_load %low : !ttg.memdesc<16x16xf32, #shared, #smem, mutable, 32x64> -> tensor<16x16xf32, #columns>
    %k2 = arith.mulf %k, %k : tensor<16x16xf32, #columns>
    ttg.local_store %k2, %low : tensor<16x16xf32, #columns> -> !ttg.memdesc<16x16xf32, #shared, #smem, mutable, 32x64>
    %r = ttg.local_load %c : !ttg.memdesc<32x64xf32, #shared, #smem, mutable> -> tensor<32x64xf32, #rows>
    tt.store %out_p, %r : tensor<32x64x!tt.ptr<f32>, #rows>",
        pointers("x", 32, 64, "#rows"),
        pointers("out", 32, 64, "#rows"),
    );
    passes(&body);
    let body = format!(
        "{}\n{}
    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>
    %m = ttg.local_alloc %t : (tensor<32x64xf32, #rows>) -> !ttg.memdesc<32x64xf32, #plain, #smem>
    %f = ttg.memdesc_reshape %m : !ttg.memdesc<32x64xf32, #plain, #smem> -> !ttg.memdesc<64x32xf32, #plain, #smem>
    %v = ttg.local_load %f : !ttg.memdesc<64x32xf32, #plain, #smem> -> tensor<64x32xf32, #turned>
    tt.store %out_p, %v : tensor<64x32x!tt.ptr<f32>, #turned>",
        pointers("x", 32, 64, "#rows"),
        pointers("out", 64, 32, "#turned"),
    );
    passes(&body);
}

/// Two buffers that change places from round to round, a branch that chooses one, and a loop that ends
/// where its condition says: memory is carried as values are, and waited for as it was carried.
#[test]
fn buffers_are_carried_by_loops_and_branches() {
    let memory = "!ttg.memdesc<32x64xf32, #shared, #smem, mutable>";
    let body = format!(
        "{}\n{}
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %yes = arith.constant true
    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>
    %a = ttg.local_alloc %t : (tensor<32x64xf32, #rows>) -> {memory}
    %b = ttg.local_alloc : () -> {memory}
    %r:2 = scf.for %i = %zero to %three step %one iter_args(%from = %a, %to = %b) -> ({memory}, {memory}) : i32 {{
      %v = ttg.local_load %from : {memory} -> tensor<32x64xf32, #columns>
      %w = arith.addf %v, %v : tensor<32x64xf32, #columns>
      ttg.local_store %w, %to : tensor<32x64xf32, #columns> -> {memory}
      scf.yield %to, %from : {memory}, {memory}
    }}
    %p = tt.get_program_id x : i32
    %first = arith.cmpi eq, %p, %zero : i32
    %c = scf.if %first -> ({memory}) {{
      scf.yield %r#0 : {memory}
    }} else {{
      scf.yield %r#1 : {memory}
    }}
    %part = ttg.memdesc_subslice %c[0, 32] : {memory} -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>
    %d:2 = scf.while (%m = %part, %n = %zero) : (!ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>, i32) -> (!ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>, i32) {{
      %on = arith.cmpi slt, %n, %three : i32
      scf.condition(%on) %m, %n : !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>, i32
    }} do {{
    ^bb0(%m: !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>, %n: i32):
      %h = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64> -> tensor<32x32xf32, #turned>
      %h2 = tt.trans %h {{order = array<i32: 1, 0>}} : tensor<32x32xf32, #turned> -> tensor<32x32xf32, #upright>
      %h3 = ttg.convert_layout %h2 : tensor<32x32xf32, #upright> -> tensor<32x32xf32, #turned>
      ttg.local_store %h3, %m : tensor<32x32xf32, #turned> -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>
      %n1 = arith.addi %n, %one : i32
      scf.yield %m, %n1 : !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 32x64>, i32
    }}
    %s = ttg.local_load %c : {memory} -> tensor<32x64xf32, #rows>
    tt.store %out_p, %s : tensor<32x64x!tt.ptr<f32>, #rows>",
        pointers("x", 32, 64, "#rows"),
        pointers("out", 32, 64, "#rows"),
    );
    passes(&body);
}

#[test]
fn memory_is_read_as_numbers_of_another_type() {
    let body = format!(
        "{}\n{}
    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>
    %m = ttg.local_alloc %t : (tensor<32x64xf32, #rows>) -> !ttg.memdesc<32x64xf32, #plain, #smem>
    %f = ttg.memdesc_reinterpret %m : !ttg.memdesc<32x64xf32, #plain, #smem> -> !ttg.memdesc<64x32xi32, #plain, #smem>
    %v = ttg.local_load %f : !ttg.memdesc<64x32xi32, #plain, #smem> -> tensor<64x32xi32, #turned>
    %w = arith.sitofp %v : tensor<64x32xi32, #turned> to tensor<64x32xf32, #turned>
    tt.store %out_p, %w : tensor<64x32x!tt.ptr<f32>, #turned>",
        pointers("x", 32, 64, "#rows"),
        pointers("out", 64, 32, "#turned"),
    );
    passes(&body);
}

#[test]
fn memory_is_read_as_narrower_and_as_wider_numbers() {
    // Halves of words, each one more, and words again; in memory with gaps too.
    for (words, halves, shape) in [
        ("#plain", "#plain", "64x64"),
        ("#padded", "#ttg.padded_shared<[128:+8] {order = [1, 0], shape = [32, 128]}>", "32x128"),
    ] {
        let body = format!(
            "{}\n{}
    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>
    %m = ttg.local_alloc %t : (tensor<32x64xf32, #rows>) -> !ttg.memdesc<32x64xf32, {words}, #smem>
    %h = ttg.memdesc_reinterpret %m : !ttg.memdesc<32x64xf32, {words}, #smem> -> !ttg.memdesc<{shape}xi16, {halves}, #smem>
    %v = ttg.local_load %h : !ttg.memdesc<{shape}xi16, {halves}, #smem> -> tensor<{shape}xi16, #turned>
    %one = arith.constant dense<1> : tensor<{shape}xi16, #turned>
    %more = arith.addi %v, %one : tensor<{shape}xi16, #turned>
    %n = ttg.local_alloc %more : (tensor<{shape}xi16, #turned>) -> !ttg.memdesc<{shape}xi16, {halves}, #smem>
    %w = ttg.memdesc_reinterpret %n : !ttg.memdesc<{shape}xi16, {halves}, #smem> -> !ttg.memdesc<32x64xi32, {words}, #smem>
    %i = ttg.local_load %w : !ttg.memdesc<32x64xi32, {words}, #smem> -> tensor<32x64xi32, #rows>
    %f = arith.sitofp %i : tensor<32x64xi32, #rows> to tensor<32x64xf32, #rows>
    tt.store %out_p, %f : tensor<32x64x!tt.ptr<f32>, #rows>",
            pointers("x", 32, 64, "#rows"),
            pointers("out", 32, 64, "#rows"),
        );
        passes(&body);
    }
}

#[test]
fn gaps_are_kept() {
    let body = format!(
        "{}\n{}
    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>
    %m = ttg.local_alloc %t : (tensor<32x64xf32, #rows>) -> !ttg.memdesc<32x64xf32, #padded, #smem>
    %v = ttg.local_load %m : !ttg.memdesc<32x64xf32, #padded, #smem> -> tensor<32x64xf32, #columns>
    %w = ttg.convert_layout %v : tensor<32x64xf32, #columns> -> tensor<32x64xf32, #rows>
    tt.store %out_p, %w : tensor<32x64x!tt.ptr<f32>, #rows>",
        pointers("x", 32, 64, "#rows"),
        pointers("out", 32, 64, "#rows"),
    );
    passes(&body);
}

/// Two copies in groups of their own, some waits, and what is read then.
fn copies(between: &str) -> String {
    format!(
        "{}\n{}\n{}
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    %n = ttg.local_alloc : () -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    %a = ttg.async_copy_global_to_local %x_p, %m : tensor<32x64x!tt.ptr<f32>, #rows> -> <32x64xf32, #shared, #smem, mutable>
    %ga = ttg.async_commit_group tokens %a
    %b = ttg.async_copy_global_to_local %y_p, %n : tensor<32x64x!tt.ptr<f32>, #rows> -> <32x64xf32, #shared, #smem, mutable>
    %gb = ttg.async_commit_group tokens %b
{between}
    %v = ttg.local_load %m : !ttg.memdesc<32x64xf32, #shared, #smem, mutable> -> tensor<32x64xf32, #columns>
    %w = ttg.convert_layout %v : tensor<32x64xf32, #columns> -> tensor<32x64xf32, #rows>
    tt.store %out_p, %w : tensor<32x64x!tt.ptr<f32>, #rows>
    %end = ttg.async_wait {{num = 0 : i32}}",
        pointers("x", 32, 64, "#rows"),
        pointers("y", 32, 64, "#rows"),
        pointers("out", 32, 64, "#rows"),
    )
}

#[test]
fn what_is_read_before_its_wait_is_a_finding_of_both() {
    let wait = |groups: u32| format!("    %t = ttg.async_wait %ga, %gb {{num = {groups} : i32}}");
    passes(&copies(&wait(0)));
    passes(&copies(&wait(1)));
    let text = |between: &str| module("cuda:80", 32, LAYOUTS, &copies(between));
    for between in [wait(2), String::new()] {
        let answer = ran(&text(&between), "sm_80").unwrap();
        assert!(!answer.passed);
        let alone = |message: &str| message.contains("seen by the reference evaluator alone");
        let simulated = |kind: &str, message: &str| kind == "in flight" && !alone(message);
        let mut findings = answer.findings.iter();
        assert!(findings.any(|finding| simulated(&finding.kind, &finding.message)), "{between}");
        assert!(
            evaluated(&text(&between)).contains(&Fault::Local(LocalFault::InFlight)),
            "{between}"
        );
    }
}

#[test]
fn tokens_go_through_branches_and_are_nothing_to_compute_with() {
    let wait = "    %truth = arith.constant true
    %some = ub.poison : !ttg.async.token
    %t = scf.if %truth -> (!ttg.async.token) {
      %t1 = ttg.async_wait %ga, %some {num = 1 : i32}
      scf.yield %t1 : !ttg.async.token
    } else {
      %t2 = ttg.async_wait %gb {num = 0 : i32}
      scf.yield %t2 : !ttg.async.token
    }";
    passes(&copies(wait));
    let refused = |line: &str| {
        let text = module("cuda:80", 32, LAYOUTS, &copies(line));
        ran(&text, "sm_80").map(|answer| answer.passed).unwrap_err().to_string()
    };
    let select = "    %truth = arith.constant true
    %t = arith.select %truth, %ga, %gb : !ttg.async.token";
    assert!(
        refused(select).contains("takes an i1 and two values of one type"),
        "{}",
        refused(select)
    );
    let splat = "    %t = tt.splat %ga : !ttg.async.token -> tensor<64x!ttg.async.token, \
                 #ttg.slice<{dim = 0, parent = #rows}>>";
    assert!(refused(splat).contains("a token stands alone"), "{}", refused(splat));
}

#[test]
fn what_a_copy_reads_is_not_written_before_its_wait() {
    let wait = "    %t = ttg.async_wait %ga, %gb {num = 0 : i32}";
    let write = "    %v0 = arith.constant dense<1.0> : tensor<32x64xf32, #rows>
    tt.store %x_p, %v0 : tensor<32x64x!tt.ptr<f32>, #rows>";
    passes(&copies(&format!("{wait}\n{write}")));
    let early = module("cuda:80", 32, LAYOUTS, &copies(&format!("{write}\n{wait}")));
    let answer = ran(&early, "sm_80").unwrap();
    // One for each of the four stores that a warp makes.
    assert_eq!(answer.findings.len(), 4);
    for finding in answer.findings {
        let wanted = "of x is written while an asynchronous copy may read it";
        assert!(finding.kind == "in flight" && finding.message.contains(wanted), "{finding:?}");
    }
}

#[test]
fn masked_copies_fill_with_zeros_or_what_is_given() {
    for (other, value) in [("", ""), (" other %v", "0.000000e+00"), (" other %v", "2.500000e+00")] {
        let value = if value.is_empty() { "1.0" } else { value };
        let body = format!(
            "{}\n{}
    %v = arith.constant dense<{value}> : tensor<32x64xf32, #rows>
    %limit = arith.constant dense<20> : tensor<32x1xi32, #rows>
    %k1 = arith.cmpi slt, %x_r1, %limit : tensor<32x1xi32, #rows>
    %k = tt.broadcast %k1 : tensor<32x1xi1, #rows> -> tensor<32x64xi1, #rows>
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    %a = ttg.async_copy_global_to_local %x_p, %m mask %k{other} {{contiguity = 4 : i32}} : tensor<32x64x!tt.ptr<f32>, #rows> -> <32x64xf32, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %a
    %t = ttg.async_wait %g {{num = 0 : i32}}
    %r = ttg.local_load %m token %t : !ttg.memdesc<32x64xf32, #shared, #smem, mutable> -> tensor<32x64xf32, #columns>
    %w = ttg.convert_layout %r : tensor<32x64xf32, #columns> -> tensor<32x64xf32, #rows>
    tt.store %out_p, %w : tensor<32x64x!tt.ptr<f32>, #rows>",
            pointers("x", 32, 64, "#rows"),
            pointers("out", 32, 64, "#rows"),
        );
        passes(&body);
    }
}

#[test]
fn copies_move_as_many_bytes_as_the_layout_has_together() {
    for (bytes, operator) in [(4, "ca"), (8, "ca"), (16, "cg")] {
        let elements = bytes / 4;
        let layouts = LAYOUTS
            .replacen("sizePerThread = [1, 4]", &format!("sizePerThread = [1, {elements}]"), 1)
            .replace(
                "#shared = #ttg.swizzled_shared<{vec = 4",
                "#shared = #ttg.swizzled_shared<{vec = 8",
            );
        let body = copies("    %t = ttg.async_wait %ga, %gb {num = 1 : i32}");
        let text = module("cuda:80", 32, &layouts, &body);
        let answer = ran(&text, "sm_80").unwrap();
        assert!(answer.passed, "{bytes}: {:?}", answer.findings);
        let request =
            serde_json::json!({ "ttir": text, "target": "sm_80", "emit": ["ptx", "cuda"] });
        let request: CompileRequest = serde_json::from_value(request).unwrap();
        let answer = kernels::compile(&request).unwrap().1;
        let (ptx, cuda) = (answer.ptx.unwrap(), answer.cuda.unwrap());
        let copy = format!("cp.async.{operator}.shared.global [");
        // Two tiles of 8192 bytes by 128 threads.
        assert_eq!(ptx.matches(&copy).count(), 2 * 8192 / 128 / bytes, "{ptx}");
        assert_eq!(ptx.matches("cp.async.commit_group;").count(), 2);
        assert_eq!(ptx.matches("cp.async.wait_group 1;").count(), 1);
        assert_eq!(ptx.matches("cp.async.wait_group 0;").count(), 1);
        assert!(cuda.contains(&format!("copy_async_{bytes}(at<")), "{cuda}");
    }
}

#[test]
fn copies_become_loads_and_stores_where_there_are_none() {
    let layouts = LAYOUTS
        .replace("threadsPerWarp = [2, 16]", "threadsPerWarp = [4, 16]")
        .replace("threadsPerWarp = [8, 4]", "threadsPerWarp = [8, 8]")
        .replace("threadsPerWarp = [4, 8]", "threadsPerWarp = [8, 8]");
    let body = copies("    %t = ttg.async_wait %ga, %gb {num = 1 : i32}");
    let text = module("hip:gfx942", 64, &layouts, &body);
    let answer = ran(&text, "gfx942").unwrap();
    assert!(answer.passed, "{:?}", answer.findings);
    let request: CompileRequest = serde_json::from_value(
        serde_json::json!({ "ttir": text, "target": "gfx942", "emit": ["hip", "lane"] }),
    )
    .unwrap();
    let lane = kernels::compile(&request).unwrap().1.lane.unwrap();
    assert!(!lane.contains("async"), "{lane}");
}

#[test]
fn homes_are_those_of_the_text_and_the_warps_too() {
    let body = format!(
        "{}\n{}
    %t = tt.load %x_p : tensor<32x64x!tt.ptr<f32>, #rows>
    %v = ttg.convert_layout %t : tensor<32x64xf32, #rows> -> tensor<32x64xf32, #columns>
    %s = arith.mulf %v, %v : tensor<32x64xf32, #columns>
    %w = ttg.convert_layout %s : tensor<32x64xf32, #columns> -> tensor<32x64xf32, #rows>
    tt.store %out_p, %w : tensor<32x64x!tt.ptr<f32>, #rows>",
        pointers("x", 32, 64, "#rows"),
        pointers("out", 32, 64, "#rows"),
    );
    passes(&body);
    let text = module("cuda:80", 32, LAYOUTS, &body);
    let request = |json: serde_json::Value| serde_json::from_value(json).unwrap();
    let answer =
        explain::explain(&request(serde_json::json!({ "ttir": text, "target": "sm_80" }))).unwrap();
    let homes: Vec<(&str, &str)> =
        answer.homes.iter().map(|home| (home.value.as_str(), home.layout.as_str())).collect();
    let rows = "[register: (0,1) (0,2) (8,0) (16,0), lane: (0,4) (0,8) (0,16) (0,32) (1,0), warp: \
                (2,0) (4,0), block:] -> [dim0: 32, dim1: 64]";
    let columns = "[register: (1,0) (2,0) (0,16) (0,32), lane: (4,0) (8,0) (16,0) (0,1) (0,2), warp: \
                   (0,4) (0,8), block:] -> [dim0: 32, dim1: 64]";
    assert_eq!(homes, [("%t", rows), ("%v", columns), ("%s", columns), ("%w", rows)]);
    assert!(answer.homes.iter().all(|home| home.reason == "given by the text"));
    let error = explain::explain(&request(
        serde_json::json!({ "ttir": text, "target": "sm_80", "warps": 8 }),
    ));
    assert_eq!(
        error.unwrap_err().to_string(),
        "the text is for blocks of 4 warps (`ttg.num-warps`), not of 8"
    );
    let error = explain::explain(&request(serde_json::json!({ "ttir": text, "target": "gfx942" })));
    assert_eq!(
        error.unwrap_err().to_string(),
        "the text is for warps of 32 lanes (`ttg.threads-per-warp`), gfx942 has 64"
    );
}

/// Numbers and names of recorded texts exchanged: what is read is compiled or refused.
#[test]
fn texts_with_other_numbers_are_compiled_or_refused() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/ttgir");
    let mut texts: Vec<String> = (folder.read_dir().unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ttgir"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .filter(|text| text.len() < 12_000)
        .collect();
    let between = "    %t = ttg.async_wait %ga, %gb {num = 1 : i32}";
    texts.extend(vec![module("cuda:80", 32, LAYOUTS, &copies(between)); texts.len() / 2]);
    texts.sort();
    let cases = if std::env::var_os("WEFT_LONG").is_some() { 5000 } else { 200 };
    // A linear congruential generator: the same cases every time.
    let mut state = 0x5eed_u64;
    let mut below = |bound: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound.max(1)
    };
    let mut compiled = 0;
    for _ in 0..cases {
        let text = &texts[below(texts.len())];
        let end = text.find("\n#loc1 ").unwrap_or(text.len());
        let mut mutated = text.clone();
        for _ in 0..=below(2) {
            let word = |c: char| c.is_ascii_digit();
            let spots: Vec<usize> = text[..end].match_indices(word).map(|(at, _)| at).collect();
            let at = spots[below(spots.len())];
            let digit = ["0", "1", "2", "4", "8", "3", "16"][below(7)];
            if mutated.is_char_boundary(at) && mutated.is_char_boundary(at + 1) {
                mutated.replace_range(at..=at, digit);
            }
        }
        let request =
            serde_json::json!({ "ttir": mutated, "target": "sm_90", "emit": ["ptx", "cuda"] });
        let request: CompileRequest = serde_json::from_value(request).unwrap();
        match kernels::compile(&request) {
            Ok(_) => compiled += 1,
            Err(error) => {
                assert!(!error.to_string().contains("a defect of weft"), "{error}\n{mutated}");
            }
        }
    }
    assert!(compiled * 10 > cases, "{compiled} of {cases}");
}
