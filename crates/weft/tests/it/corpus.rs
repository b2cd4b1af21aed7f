//! Every recorded kernel: compiled, simulated, and equal to the reference evaluator.

use crate::inputs::Argument::{self, Empty, F32, I32, Integers, Random, Zeros};
use crate::inputs::make;
use std::path::PathBuf;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::fuse;
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

/// A kernel's file, a grid and arguments.
pub(crate) struct Case {
    pub(crate) file: &'static str,
    pub(crate) grid: [u32; 3],
    pub(crate) arguments: Vec<(&'static str, Argument)>,
}

fn case(file: &'static str, grid: [u32; 3], arguments: &[(&'static str, Argument)]) -> Case {
    Case { file, grid, arguments: arguments.to_vec() }
}

const F: DType = DType::F32;
const I: DType = DType::I32;

/// Every recorded kernel, launched on a few blocks.
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "examples/vector_add",
            [4, 1, 1],
            &[
                ("x", Random(F, 4000)),
                ("y", Random(F, 4000)),
                ("out", Empty(F, 4000)),
                ("n", I32(4000)),
            ],
        ),
        case(
            "examples/row_softmax",
            [5, 1, 1],
            &[("x", Random(F, 5 * 1008)), ("out", Empty(F, 5 * 1008)), ("n", I32(1008))],
        ),
        case(
            "examples/tiled_transpose",
            [3, 2, 1],
            &[
                ("x", Random(F, 160 * 112)),
                ("out", Empty(F, 160 * 112)),
                ("m", I32(160)),
                ("n", I32(112)),
            ],
        ),
        case(
            "examples/matmul",
            [2, 3, 1],
            &[
                ("a", Random(F, 96 * 48)),
                ("b", Random(F, 48 * 160)),
                ("c", Empty(F, 96 * 160)),
                ("m", I32(96)),
                ("n", I32(160)),
                ("k", I32(48)),
            ],
        ),
        case(
            "examples/spin_counter",
            [8, 1, 1],
            &[("slots", Zeros(I, 8)), ("arrivals", Zeros(I, 1)), ("out", Empty(I, 8))],
        ),
        case(
            "crates/weft/tests/kernels/softmax_rows",
            [3, 1, 1],
            &[
                ("x", Random(F, 10 * 100)),
                ("out", Empty(F, 10 * 100)),
                ("m", I32(10)),
                ("n", I32(100)),
            ],
        ),
        case(
            "crates/weft/tests/kernels/column_sum",
            [2, 1, 1],
            &[("x", Random(F, 64 * 64)), ("out", Empty(F, 64)), ("n", I32(64))],
        ),
        case(
            "crates/weft/tests/kernels/rows_in_steps",
            [2, 1, 1],
            &[("x", Random(F, 100 * 64)), ("out", Empty(F, 64)), ("n", I32(64))],
        ),
        case(
            "crates/weft/tests/kernels/means_in_steps",
            [2, 1, 1],
            &[("x", Random(F, 2 * 1000)), ("out", Empty(F, 2 * 256)), ("n", I32(1000))],
        ),
        case(
            "crates/weft/tests/kernels/argmax",
            [6, 1, 1],
            &[
                ("x", Integers(6 * 200, 0, 9)),
                ("values", Empty(I, 6)),
                ("indices", Empty(I, 6)),
                ("n", I32(200)),
            ],
        ),
        case(
            "crates/weft/tests/kernels/integer_mix",
            [2, 1, 1],
            &[
                ("x", Integers(500, -2000, 2000)),
                ("y", Integers(500, 1, 90)),
                ("out", Empty(I, 500)),
                ("n", I32(500)),
            ],
        ),
        case(
            "crates/weft/tests/kernels/cast_chain",
            [2, 1, 1],
            &[
                ("x", Random(F, 512)),
                ("halves", Empty(DType::F16, 512)),
                ("brains", Empty(DType::BF16, 512)),
                ("sums", Empty(F, 512)),
            ],
        ),
        case(
            "crates/weft/tests/kernels/layer_norm",
            [3, 1, 1],
            &[
                ("x", Random(F, 3 * 300)),
                ("weight", Random(F, 300)),
                ("bias", Random(F, 300)),
                ("out", Empty(F, 3 * 300)),
                ("n", I32(300)),
                ("epsilon", F32(1e-5)),
            ],
        ),
        case(
            "crates/weft/tests/kernels/count_digits",
            [3, 1, 1],
            &[("x", Integers(700, 0, 1000)), ("counts", Zeros(I, 10)), ("n", I32(700))],
        ),
        case(
            "crates/weft/tests/kernels/running_balance",
            [4, 1, 1],
            &[("x", Integers(4 * 30, -20, 20)), ("out", Empty(I, 4 * 30)), ("n", I32(30))],
        ),
        case(
            "crates/weft/tests/kernels/add_transposed",
            [1, 1, 1],
            &[
                ("x", Random(F, 32 * 64)),
                ("y", Random(F, 64 * 32)),
                ("bias", Random(F, 64)),
                ("out", Empty(F, 32 * 64)),
            ],
        ),
        case(
            "crates/weft/tests/kernels/reverse_gather",
            [3, 1, 1],
            &[
                ("x", Random(F, 300)),
                ("indices", Integers(300, 0, 300)),
                ("reversed", Empty(F, 300)),
                ("gathered", Empty(F, 300)),
                ("n", I32(300)),
            ],
        ),
        case(
            "crates/weft/tests/kernels/matmul_f16",
            [2, 3, 1],
            &[
                ("a", Random(DType::F16, 128 * 64)),
                ("b", Random(DType::F16, 64 * 96)),
                ("c", Empty(F, 128 * 96)),
                ("n", I32(96)),
                ("k", I32(64)),
            ],
        ),
        case(
            "crates/weft/tests/kernels/early_return",
            [4, 1, 1],
            &[("x", Random(F, 300)), ("out", Empty(F, 300)), ("n", I32(300))],
        ),
    ]
}

/// The text of a recorded kernel.
pub(crate) fn text(file: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(format!("{file}.ttir"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compiles, simulates, evaluates and compares one case, with products fused with sums, and without
/// where that is another program; the message says what went wrong.
pub(crate) fn check(case: &Case, machine: &Machine, warps: u32) -> Result<(), String> {
    check_fused(case, machine, warps, true)?;
    let module = ttir::parse(&text(case.file)).map_err(|error| error.to_string())?;
    match fuse::run(&module.kernels[0], &[]) {
        Some(_) => check_fused(case, machine, warps, false),
        None => Ok(()),
    }
}

fn check_fused(case: &Case, machine: &Machine, warps: u32, fp_fusion: bool) -> Result<(), String> {
    let module = ttir::parse(&text(case.file)).map_err(|error| error.to_string())?;
    let kernel = &module.kernels[0];
    let options = Options { warps, fp_fusion, ..Options::for_machine(machine) };
    let compiled =
        compile::compile(&module, kernel, &options).map_err(|error| error.to_string())?;
    let (args, memory) = make(&case.arguments);
    let (mut simulated, mut expected) = (memory.clone(), memory);
    let launch = Launch {
        program: &compiled.program,
        grid: case.grid,
        args: &args,
        machine: &compile::simulated(machine, 8),
        options: sim::Options::default(),
    };
    let report = sim::run(&launch, &mut simulated).map_err(|error| error.to_string())?;
    if let Some(finding) = report.findings.first() {
        let place = module.locations.display(finding.actor.loc);
        return Err(format!("{} at {place}", finding.message));
    }
    let meaning = if fp_fusion { &compiled.meaning } else { kernel };
    let report = eval::run(meaning, case.grid, &args, &mut expected, eval::Options::default())
        .map_err(|error| error.to_string())?;
    let pairs = expected.buffers().iter().zip(simulated.buffers());
    for (index, (expected, simulated)) in pairs.enumerate() {
        eval::compare(expected, simulated, report.bounds.of_buffer(index))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[test]
fn simulated_runs_equal_the_evaluator() {
    let mut failures = Vec::new();
    for case in cases() {
        for warps in [1, 2, 4, 8] {
            for name in ["sm_80", "sm_90"] {
                let machine = Machine::by_name(name).unwrap();
                if let Err(error) = check(&case, machine, warps) {
                    failures.push(format!("{} on {name} with {warps} warps: {error}", case.file));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
