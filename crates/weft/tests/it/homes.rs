//! Homes beside a greedy choice: on no recorded kernel do movements and accesses cost more.

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
fn no_kernel_costs_more_than_with_greedy_homes() {
    let mut options = Options::for_machine(Machine::by_name("sm_90").unwrap());
    let (mut all, mut greedy_all, mut cheaper) = (0, 0, 0);
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
                writeln!(dearer, "{name}: {own:?}, greedily {greedy:?}").unwrap();
            }
            cheaper += u32::from(own.total() < greedy.total());
            all += own.total();
            greedy_all += greedy.total();
        }
    }
    assert_eq!(dearer, "");
    assert!(all < greedy_all && cheaper > 10, "{all} and {greedy_all}; {cheaper} are cheaper");
}
