//! Addresses by a base and an offset, which AMD's GPUs take apart.

use weft::compile::{self, Options};
use weft::lane::{Op, Program, Space};
use weft::ttir;
use weft_layout::machine::Machine;

fn text(path: &str) -> String {
    std::fs::read_to_string(format!("{}/../../{path}.ttir", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn program(path: &str, target: &str) -> Program {
    compiled(&text(path), target)
}

fn compiled(text: &str, target: &str) -> Program {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
    let options = Options::for_machine(Machine::by_name(target).unwrap());
    compile::compile(&module, &module.kernels[0], &options).unwrap().program
}

/// The predicated loads and stores of global memory: how many go by base and offset, and how many do not.
fn predicated(program: &Program) -> [usize; 2] {
    let offsets = program.offsets();
    let mut counts = [0; 2];
    program.walk(&program.body, &mut |_, inst| {
        let (Op::Load { space: Space::Global, .. } | Op::Store { space: Space::Global, .. }) =
            inst.op
        else {
            return;
        };
        let roles = inst.memory_operands().unwrap();
        if roles.predicate.is_some() {
            counts[usize::from(offsets[roles.address].is_none())] += 1;
        }
    });
    counts
}

#[test]
fn masked_accesses_within_reach_of_a_base_go_by_it() {
    for target in ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"] {
        for path in
            ["examples/vector_add", "examples/row_softmax", "kernels/add_rms_norm", "kernels/adam"]
        {
            let [by_base, others] = predicated(&program(path, target));
            assert!(by_base > 0 && others == 0, "{path} {target}: {by_base}, {others}");
        }
        // Rows at a stride that only the launch knows: nothing proves how far they reach.
        let [by_base, others] = predicated(&program("examples/tiled_transpose", target));
        assert!(by_base == 0 && others > 0, "{target}: {by_base}, {others}");
    }
}

#[test]
fn other_machines_have_addresses_alone() {
    for target in ["sm_80", "sm_90"] {
        let program = program("examples/vector_add", target);
        program.walk(&program.body, &mut |_, inst| assert_ne!(inst.op, Op::Offset, "{target}"));
    }
}

/// What nothing proves, the launcher may promise.
#[test]
fn masked_accesses_within_a_promised_range_go_by_the_argument() {
    let said = "tt.divisibility = 16 : i32}";
    for path in ["examples/tiled_transpose", "kernels/linear_bf16", "kernels/layer_norm_forward"] {
        for (bits, is_near) in [(32, true), (64, false)] {
            let promised = format!("tt.divisibility = 16 : i32, tt.pointer_range = {bits} : i32}}");
            // Of numbers it says nothing.
            let text = text(path).replace(said, &promised);
            let [by_base, others] = predicated(&compiled(&text, "gfx942"));
            assert_eq!(others == 0, is_near, "{path}, {bits} bits: {by_base}, {others}");
        }
    }
}
