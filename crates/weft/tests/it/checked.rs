//! What is compiled of a kernel, run by the simulator, beside the kernel itself, run by the evaluator.

use crate::inputs::{Argument, make};
use weft::compile::{self, Options};
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::ttir;

/// Compiles the first kernel of a text and runs it both ways: the simulator finds nothing, and what memory then holds is
/// the same within the evaluator's bounds.
pub(crate) fn check(text: &str, options: &Options, grid: [u32; 3], arguments: &[(&str, Argument)]) {
    let module = ttir::parse(text).unwrap();
    let compiled = compile::compile(&module, &module.kernels[0], options).unwrap();
    let (args, memory) = make(arguments);
    let (mut simulated, mut expected) = (memory.clone(), memory);
    let launch = Launch {
        program: &compiled.program,
        grid,
        args: &args,
        machine: &compile::simulated(&options.machine, 8),
        options: sim::Options::default(),
    };
    let report = sim::run(&launch, &mut simulated).unwrap();
    assert!(report.findings.is_empty(), "{arguments:?}: {:?}", report.findings);
    let options = eval::Options::default();
    let report = eval::run(&compiled.meaning, grid, &args, &mut expected, options).unwrap();
    let pairs = expected.buffers().iter().zip(simulated.buffers());
    for (index, (expected, simulated)) in pairs.enumerate() {
        eval::compare(expected, simulated, report.bounds.of_buffer(index)).unwrap();
    }
}
