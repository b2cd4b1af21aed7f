//! Loops whose loads run ahead mean what they meant.

use crate::corpus::{Case, cases, text};
use crate::inputs::make;
use expect_test::expect;
use weft::axis::AxisFacts;
use weft::pipeline;
use weft::tile::{self, AsyncCopy, Kernel, OpKind, eval};
use weft::ttir;
use weft_layout::machine::Machine;

fn machine(name: &str) -> Machine {
    Machine::by_name(name).unwrap().clone()
}

/// What memory holds after a run, and what was found on the way.
fn evaluated(case: &Case, kernel: &Kernel) -> (weft::memory::Memory, eval::Report) {
    let (args, mut memory) = make(&case.arguments);
    let report = eval::run(kernel, case.grid, &args, &mut memory, eval::Options::default());
    (memory, report.unwrap())
}

fn copies(kernel: &Kernel) -> usize {
    let mut count = 0;
    kernel.walk(&kernel.body, &mut |_, op| {
        count += usize::from(matches!(op.kind, OpKind::AsyncCopy(AsyncCopy::Begin(_))));
    });
    count
}

#[test]
fn loops_that_run_ahead_mean_the_same() {
    let mut pipelined = String::new();
    for case in cases() {
        let module = ttir::parse(&text(case.file)).unwrap();
        let kernel = &module.kernels[0];
        for stages in 2..=4 {
            let facts = AxisFacts::of(kernel);
            let Some(ahead) = pipeline::run(kernel, &facts, &machine("sm_80"), 4, stages) else {
                continue;
            };
            tile::verify(&ahead).unwrap();
            let ((memory, report), (wanted, before)) =
                (evaluated(&case, &ahead), evaluated(&case, kernel));
            assert_eq!(memory, wanted, "{} with {stages} stages", case.file);
            assert_eq!(report.findings, before.findings, "{}", case.file);
            if stages == 3 {
                pipelined += &format!("{} {}\n", case.file, copies(&ahead));
            }
        }
    }
    expect![[r#"
        examples/matmul 6
        crates/weft/tests/kernels/matmul_f16 6
    "#]]
    .assert_eq(&pipelined);
}

#[test]
fn machines_without_copies_keep_their_loops() {
    let module = ttir::parse(&text("examples/matmul")).unwrap();
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    for (name, stages) in [("gfx942", 3), ("sm_80", 1)] {
        assert!(pipeline::run(kernel, &facts, &machine(name), 4, stages).is_none());
    }
}

/// Where copies put down what they read as it is, threads find neighbours along the sum only if memory has them so.
#[test]
fn copies_past_the_registers_bring_factors_that_lie_along_the_sum() {
    // Both factors, the right one by columns; the left one; none, as no stride is promised to be a multiple.
    for (name, wanted) in [("matmul_bf16", 6), ("matmul_f16", 3), ("linear_bf16", 0)] {
        let path = format!("{}/../../kernels/{name}.ttir", env!("CARGO_MANIFEST_DIR"));
        let module = ttir::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        let kernel = &module.kernels[0];
        let facts = AxisFacts::of(kernel);
        let ahead = pipeline::run(kernel, &facts, &machine("gfx950"), 4, 3);
        if let Some(ahead) = &ahead {
            tile::verify(ahead).unwrap();
        }
        assert_eq!(ahead.as_ref().map_or(0, copies), wanted, "{name}");
    }
}
