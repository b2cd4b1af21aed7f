//! Where a wrong result comes from: the first operation whose value leaves its bound.
//!
//! A compiled program has no values of the tile program in it any more. So the program is compiled anew
//! for each value, with the one more store that [`tap`] adds, simulated, and what was stored is compared
//! with what the evaluator stores. Whatever goes wrong only in the program as it was, and in none with a
//! store more, cannot be told in this way.

use super::Prepared;
use crate::budget;
use core::ops::ControlFlow;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::lane::Program;
use weft::memory::{Buffer, Memory};
use weft::sim::{self, Launch};
use weft::tile::eval::{self, Mismatch};
use weft::tile::{Kernel, OpId, Value, tap, tappable};

/// The most values that are looked at: each takes a compilation and two runs.
const MOST_VALUES: usize = 200;

/// An operation whose value is not what it should be, where every value before it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Culprit {
    /// The operation whose value it is.
    pub op: OpId,
    /// The first element of its value that leaves its bound, over all blocks.
    pub mismatch: Mismatch,
}

/// The first operation, in the program's order, whose value leaves its bound when the program is
/// compiled with `compile` and simulated; of a value in a loop the last round is looked at. Nothing where
/// none does, or where more than so many values were in order.
pub fn locate(run: &Prepared, compile: &dyn Fn(&Kernel) -> Option<Program>) -> Option<Culprit> {
    let meaning = run.kernel.meaning();
    let values = tappable(meaning).into_iter().take(MOST_VALUES);
    values.into_iter().find_map(|(op, value)| {
        if budget::current().stop.is_set() {
            return None;
        }
        let mismatch = leaves(run, meaning, value, compile)?;
        Some(Culprit { op, mismatch })
    })
}

/// The first element of a value that leaves its bound.
fn leaves(
    run: &Prepared,
    meaning: &Kernel,
    value: Value,
    compile: &dyn Fn(&Kernel) -> Option<Program>,
) -> Option<Mismatch> {
    let tapped = tap(meaning, value, run.grid)?;
    let ty = meaning.ty(value);
    let instances: u64 = run.grid.iter().map(|&extent| u64::from(extent)).product();
    let name = meaning.value_name(value);
    let memory = with_tap(&run.memory, name, ty.dtype(), instances * ty.elements())?;
    let index = memory.buffers().len() - 1;
    let args = [run.bits(), vec![Memory::base(index)]].concat();
    let (mut wanted, mut found) = (memory.clone(), memory);
    let ((evaluated, simulated), stop) = (super::bounded(&wanted), budget::current().stop);
    let report = eval::run_until(&tapped, run.grid, &args, &mut wanted, evaluated, &stop).ok()?;
    let program = compile(&tapped)?;
    let machine = super::launch::simulated_machine(&run.kernel, &program);
    let launch = Launch {
        program: &program,
        grid: run.grid,
        args: &args,
        machine: &machine,
        options: simulated,
    };
    let watch = &mut |_| {
        if stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    sim::run_watched(&launch, &mut found, watch).ok()?;
    let [wanted, found] = [&wanted, &found].map(|memory| &memory.buffers()[index]);
    eval::compare(wanted, found, report.bounds.of_buffer(index)).err()
}

/// The memory of a run with a buffer more, or nothing where that would be too large.
fn with_tap(memory: &Memory, name: String, dtype: DType, elements: u64) -> Option<Memory> {
    let bytes = elements.checked_mul(u64::from(dtype.bytes()))?;
    if bytes.checked_mul(super::COPIES)? > super::bounded(memory).1.max_bytes {
        return None;
    }
    let mut memory = memory.clone();
    let bytes = vec![0; bytes as usize];
    memory.push(Buffer { name, bytes, dtype, initialised: true });
    Some(memory)
}

impl Prepared {
    /// The first operation whose value leaves its bound on the simulator.
    pub fn locate(&self) -> Option<Culprit> {
        // The meaning is fused already, or shall not be.
        let options = Options { fp_fusion: false, ..self.kernel.options() };
        locate(self, &|tapped| {
            let module = &self.kernel.module;
            compile::compile(module, tapped, &options).ok().map(|compiled| compiled.program)
        })
    }
}
