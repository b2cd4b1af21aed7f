//! Homes beside a greedy choice: what costs less in all, and the kernels that cost more.

use expect_test::expect;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use weft::compile::{self, Options};
use weft::ttir;
use weft_layout::machine::Machine;
use weft_layout::space::REGISTER;

/// The recorded kernels of the repository, without layouts of their own.
fn texts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for folder in ["kernels", "examples", "crates/weft/tests/kernels"] {
        for entry in root.join(folder).read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "ttir") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths
}

#[test]
fn kernels_cost_less_than_with_greedy_homes() {
    let mut options = Options::for_machine(Machine::by_name("sm_90").unwrap());
    let (mut all, mut greedy_all, mut cheaper, mut equal) = (0, 0, 0, 0);
    let mut dearer = String::new();
    for path in texts() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        for kernel in &module.kernels {
            options.warps = module.launch.warps.unwrap_or(4);
            let compiled = compile::compile(&module, kernel, &options)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let own = compiled.spent(&options).unwrap();
            let greedy = compile::spent_greedily(&module, &compiled.kernel, &options).unwrap();
            if own.total() > greedy.total() {
                writeln!(dearer, "{name} {}, greedily {}", own.total(), greedy.total()).unwrap();
            }
            cheaper += u32::from(own.total() < greedy.total());
            equal += u32::from(own.total() == greedy.total());
            all += own.total();
            greedy_all += greedy.total();
        }
    }
    let sums = format!("{cheaper} cheaper, {equal} equal; all {all}, greedily {greedy_all}\n");
    assert!(all < greedy_all, "{sums}");
    // Values that are tied share a home, and a movement that two operations share counts for both.
    expect![[r#"
        98 cheaper, 211 equal; all 389606652, greedily 495534696
        compact 51472, greedily 51072
    "#]]
    .assert_eq(&(sums + &dearer));
}

/// A scan among whose candidates is one with more places than the witness follows.
#[test]
fn what_is_too_large_to_be_checked_is_not_chosen() {
    let text = r#"
tt.func public @scanned(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
  %rows = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %eights = arith.constant dense<8> : tensor<8xi32>
  %rest = arith.remui %rows, %eights : tensor<8xi32>
  %a = tt.expand_dims %rest {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %b = tt.expand_dims %a {axis = 2 : i32} : tensor<8x1xi32> -> tensor<8x1x1xi32>
  %c = tt.broadcast %b : tensor<8x1x1xi32> -> tensor<8x16x1xi32>
  %d = tt.broadcast %c : tensor<8x16x1xi32> -> tensor<8x16x32xi32>
  %base = tt.splat %x : !tt.ptr<bf16> -> tensor<8x16x32x!tt.ptr<bf16>>
  %at = tt.addptr %base, %d : tensor<8x16x32x!tt.ptr<bf16>>, tensor<8x16x32xi32>
  %loaded = tt.load %at : tensor<8x16x32x!tt.ptr<bf16>>
  %bytes = arith.fptoui %loaded : tensor<8x16x32xbf16> to tensor<8x16x32xi8>
  %p, %q = "tt.scan"(%bytes, %bytes) <{axis = 2 : i32, reverse = true}> ({
  ^bb0(%k: i8, %l: i8, %m: i8, %n: i8):
    %o = arith.muli %l, %m : i8
    %r = arith.muli %k, %m : i8
    %s = arith.addi %o, %n : i8
    tt.scan.return %r, %s : i8, i8
  }) : (tensor<8x16x32xi8>, tensor<8x16x32xi8>) -> (tensor<8x16x32xi8>, tensor<8x16x32xi8>)
  tt.return
}"#;
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let machine = Machine::by_name("gfx942").unwrap();
    let options = Options { warps: 8, ..Options::for_machine(machine) };
    compile::compile(&module, &module.kernels[0], &options).unwrap();
}

/// What one kernel costs, and the most registers of a thread that a home of it takes.
fn chosen(text: &str, warps: u32) -> (compile::Compiled, u32) {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let options = Options { warps, ..Options::for_machine(Machine::by_name("sm_90").unwrap()) };
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    let homes =
        compiled.kernel.values.keys().filter_map(|value| compiled.assignment.registers(value));
    let registers = homes.map(|home| compiled.assignment.layouts.get(home).in_bits(REGISTER)).max();
    (compiled, 1 << registers.unwrap_or(0))
}

/// The backward pass of a log-softmax as `torch.compile` writes it: the sum is made from a range and a
/// tensor of one element, and no access asks how it lies.
#[test]
fn what_no_access_asks_for_is_dealt_out_over_all_threads() {
    let text = r#"
tt.func public @sums(%x: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %n: i32) {
  %low = arith.constant 0 : i32
  %step = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<1x1024xf32>
  %less = arith.constant dense<-1.0> : tensor<1x1024xf32>
  %row = tt.get_program_id x : i32
  %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<1024xi32> -> tensor<1x1024xi32>
  %place = tt.addptr %x, %row : !tt.ptr<i64>, i32
  %places = tt.splat %place : !tt.ptr<i64> -> tensor<1x1x!tt.ptr<i64>>
  %target = tt.load %places : tensor<1x1x!tt.ptr<i64>>
  %sums = scf.for %i = %low to %n step %step iter_args(%sum = %zero) -> (tensor<1x1024xf32>) : i32 {
    %first = tt.splat %i : i32 -> tensor<1x1024xi32>
    %at = arith.addi %first, %columns : tensor<1x1024xi32>
    %long = arith.extsi %at : tensor<1x1024xi32> to tensor<1x1024xi64>
    %targets = tt.broadcast %target : tensor<1x1xi64> -> tensor<1x1024xi64>
    %is = arith.cmpi eq, %targets, %long : tensor<1x1024xi64>
    %one = arith.select %is, %less, %zero : tensor<1x1024xi1>, tensor<1x1024xf32>
    %next = arith.addf %sum, %one : tensor<1x1024xf32>
    scf.yield %next : tensor<1x1024xf32>
  }
  %all = "tt.reduce"(%sums) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1x1024xf32>) -> tensor<1xf32>
  %left = tt.expand_dims %all {axis = 1 : i32} : tensor<1xf32> -> tensor<1x1xf32>
  %to = tt.splat %out : !tt.ptr<f32> -> tensor<1x1x!tt.ptr<f32>>
  tt.store %to, %left : tensor<1x1x!tt.ptr<f32>>
  tt.return
}"#;
    // 1024 elements over 256 threads, and over 512.
    assert_eq!(chosen(text, 8).1, 4);
    assert_eq!(chosen(text, 16).1, 2);
}

/// Rows of a few elements, each gathered in its row over and over: the elements of a row lie in lanes of
/// one warp, and one exchange finds each (figure 6 of the paper).
#[test]
fn short_rows_are_gathered_by_exchanges() {
    for columns in [4, 16, 32] {
        let text = r#"
tt.func public @gathered(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %low = arith.constant 0 : i32
  %high = arith.constant 16 : i32
  %one = arith.constant 1 : i32
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %j = tt.make_range {end = N : i32, start = 0 : i32} : tensor<Nxi32>
  %down = tt.expand_dims %i {axis = 1 : i32} : tensor<512xi32> -> tensor<512x1xi32>
  %width = arith.constant dense<N> : tensor<512x1xi32>
  %starts = arith.muli %down, %width : tensor<512x1xi32>
  %across = tt.expand_dims %j {axis = 0 : i32} : tensor<Nxi32> -> tensor<1xNxi32>
  %a = tt.broadcast %starts : tensor<512x1xi32> -> tensor<512xNxi32>
  %b = tt.broadcast %across : tensor<1xNxi32> -> tensor<512xNxi32>
  %at = arith.addi %a, %b : tensor<512xNxi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512xNx!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<512xNx!tt.ptr<i32>>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<512xNx!tt.ptr<f32>>
  %from = tt.addptr %xs, %at : tensor<512xNx!tt.ptr<f32>>, tensor<512xNxi32>
  %which = tt.addptr %ys, %at : tensor<512xNx!tt.ptr<i32>>, tensor<512xNxi32>
  %to = tt.addptr %outs, %at : tensor<512xNx!tt.ptr<f32>>, tensor<512xNxi32>
  %first = tt.load %from : tensor<512xNx!tt.ptr<f32>>
  %indices = tt.load %which : tensor<512xNx!tt.ptr<i32>>
  %last = scf.for %k = %low to %high step %one iter_args(%now = %first) -> (tensor<512xNxf32>) : i32 {
    %next = tt.gather %now[%indices] {axis = 1 : i32} : (tensor<512xNxf32>, tensor<512xNxi32>) -> tensor<512xNxf32>
    scf.yield %next : tensor<512xNxf32>
  }
  tt.store %to, %last : tensor<512xNx!tt.ptr<f32>>
  tt.return
}"#;
        let text =
            text.replace("xNx", &format!("x{columns}x")).replace("<Nx", &format!("<{columns}x"));
        let text =
            text.replace("= N ", &format!("= {columns} ")).replace("<N>", &format!("<{columns}>"));
        let (compiled, _) = chosen(&text, 4);
        let gathers = compiled.movements.iter().map(|movement| movement.plan.cost);
        let fewest = 512 * columns / 128;
        let found = gathers.filter(|cost| cost.wavefronts == 0 && cost.shuffles == fewest).count();
        assert_eq!(found, 1, "rows of {columns}");
    }
}
