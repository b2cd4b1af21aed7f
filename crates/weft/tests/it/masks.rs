//! Masks of neighbours that are not known to be the same, tested where the program runs; and rounds in which masks
//! or branches differ from those of others.

use crate::corpus::{Case, check, text};
use crate::inputs::Argument::{Empty, I32, Whole};
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::lane::{Op, Space};
use weft::tile::{Kernel, OpKind};
use weft::ttir;
use weft_layout::machine::Machine;

/// A scan wants neighbours in one thread, and the mask of `n` elements cuts these anywhere.
#[test]
fn neighbours_move_at_once_where_all_their_masks_are_true() {
    let mut failures = Vec::new();
    for (name, warps) in [("sm_80", 4), ("sm_90", 1), ("gfx942", 2)] {
        let machine = Machine::by_name(name).unwrap();
        for n in [0, 1, 3, 4, 5, 1023, 1024, 1026, 2046, 2048] {
            let elements = n as usize;
            let arguments = vec![
                ("x", Whole(elements, -99, 100)),
                ("out", Empty(DType::F32, elements)),
                ("n", I32(n)),
            ];
            let case = Case { file: "kernels/running_sum", grid: [2, 1, 1], arguments };
            if let Err(error) = check(&case, machine, warps) {
                failures.push(format!("{n} elements on {name} with {warps} warps: {error}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// For each vector one access, and one for each of its elements.
#[test]
fn a_tested_access_stands_beside_those_of_its_elements() {
    let module = ttir::parse(&text("kernels/running_sum")).unwrap();
    let options = Options::for_machine(Machine::by_name("sm_80").unwrap());
    let program = compile::compile(&module, &module.kernels[0], &options).unwrap().program;
    let (mut loads, mut stores) = (Vec::new(), Vec::new());
    program.walk(&program.body, &mut |_, inst| match inst.op {
        Op::Load { space: Space::Global, access } => {
            loads.push((inst.results.len(), access.offset));
        }
        Op::Store { space: Space::Global, access } => {
            let values = inst.memory_operands().unwrap().values;
            stores.push((values.len(), access.offset));
        }
        _ => {}
    });
    loads.sort_unstable();
    stores.sort_unstable();
    // The second vector is a row of threads behind the first one.
    let each = [0, 4, 8, 12, 2048, 2052, 2056, 2060].map(|offset| (1, offset));
    assert_eq!(loads, [&each[..], &[(4, 0), (4, 2048)]].concat());
    assert_eq!(stores, loads);
}

/// A first round that a branch tells from the others is written apart, whether there is one or not.
#[test]
fn first_rounds_that_differ_are_apart() {
    let module = ttir::parse(&text("crates/weft/tests/kernels/means_in_steps")).unwrap();
    let options = Options::for_machine(Machine::by_name("sm_90").unwrap());
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    let ifs_in_loops = |kernel: &Kernel| {
        let mut count = 0;
        kernel.walk(&kernel.body, &mut |_, op| {
            for region in op.regions.iter().filter(|_| matches!(op.kind, OpKind::For(_))) {
                kernel.walk(region, &mut |_, op| count += usize::from(op.kind == OpKind::If));
            }
        });
        count
    };
    assert_eq!([&compiled.meaning, &compiled.kernel].map(ifs_in_loops), [1, 0]);
    let mut failures = Vec::new();
    for n in [0, 1, 127, 128, 129, 256, 300, 1000] {
        let elements = n as usize;
        let arguments = vec![
            ("x", Whole(2 * elements, -99, 100)),
            ("out", Empty(DType::F32, 2 * 256)),
            ("n", I32(n)),
        ];
        let file = "crates/weft/tests/kernels/means_in_steps";
        let case = Case { file, grid: [2, 1, 1], arguments };
        for (name, warps) in [("sm_90", 4), ("gfx942", 1)] {
            if let Err(error) = check(&case, Machine::by_name(name).unwrap(), warps) {
                failures.push(format!("{n} elements on {name} with {warps} warps: {error}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
