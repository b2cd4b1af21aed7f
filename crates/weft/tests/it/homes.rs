//! Homes beside a greedy choice: what costs less in all, and the kernels that cost more.

use expect_test::expect;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use weft::compile::{self, Options};
use weft::ttir;
use weft_layout::machine::Machine;

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
        103 cheaper, 201 equal; all 394960644, greedily 526262028
        compact 49472, greedily 49072
        top_of_rows.3.6 2140272, greedily 2026056
        top_of_rows 1986672, greedily 1872456
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
