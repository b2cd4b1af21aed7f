//! Sums of floats that lie side by side, by one atomic where the machine has it.

use crate::inputs::Argument::{Empty, I32, Small};
use crate::inputs::make;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::lane::Op;
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

/// Adds `n` elements of `x` to those of `out`, and keeps what was there.
fn sums(element: &str, n_is_multiple: bool) -> String {
    let (pointers, values) =
        (format!("tensor<1024x!tt.ptr<{element}>>"), format!("tensor<1024x{element}>"));
    let multiple = if n_is_multiple { " {tt.divisibility = 16 : i32}" } else { "" };
    let place = |name: &str| {
        format!(
            "    %{name}s = tt.splat %{name} : !tt.ptr<{element}> -> {pointers}\n    %{name}p = tt.addptr \
             %{name}s, %r : {pointers}, tensor<1024xi32>\n"
        )
    };
    let param = |name: &str| format!("%{name}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}");
    format!(
        "module {{\n  tt.func public @sums({}, {}, {}, %n: i32{multiple}) {{\n    %r = tt.make_range {{end \
         = 1024 : i32, start = 0 : i32}} : tensor<1024xi32>\n{}{}{}    %ns = tt.splat %n : i32 -> \
         tensor<1024xi32>\n    %m = arith.cmpi slt, %r, %ns : tensor<1024xi32>\n    %v = tt.load %xp, \
         %m : {pointers}\n    %o = tt.atomic_rmw fadd, acq_rel, gpu, %outp, %v, %m : ({pointers}, \
         {values}, tensor<1024xi1>) -> {values}\n    tt.store %oldp, %o, %m : {pointers}\n    \
         tt.return\n  }}\n}}\n",
        param("x"),
        param("out"),
        param("old"),
        place("x"),
        place("out"),
        place("old"),
    )
}

#[test]
fn neighbours_are_added_to_by_one_atomic_and_each_by_itself() {
    for (name, widths) in [("sm_90", [4, 8, 8]), ("sm_80", [1, 2, 2]), ("gfx942", [1, 1, 1])] {
        let machine = Machine::by_name(name).unwrap();
        for (dtype, width) in [DType::F32, DType::F16, DType::BF16].into_iter().zip(widths) {
            for (n_is_multiple, n) in [(true, 1008), (true, 0), (false, 1003)] {
                let module = ttir::parse(&sums(&dtype.to_string(), n_is_multiple)).unwrap();
                let options = Options::for_machine(machine);
                let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
                let mut added = Vec::new();
                compiled.program.walk(&compiled.program.body, &mut |_, inst| {
                    if let Op::Atomic(_) = inst.op {
                        added.push(inst.results.len());
                    }
                });
                // Masks that may differ between neighbours leave each to itself.
                let width = if n_is_multiple { width } else { 1 };
                let told = format!("{name}, {dtype}, {n} elements");
                assert!(
                    !added.is_empty() && added.iter().all(|&n| n == width),
                    "{told}: {added:?}"
                );
                let (args, memory) = make(&[
                    ("x", Small(dtype, 1024)),
                    ("out", Small(dtype, 1024)),
                    ("old", Empty(dtype, 1024)),
                    ("n", I32(n)),
                ]);
                let (mut simulated, mut expected) = (memory.clone(), memory);
                let launch = Launch {
                    program: &compiled.program,
                    grid: [1, 1, 1],
                    args: &args,
                    machine: &compile::simulated(machine, 8),
                    options: sim::Options::default(),
                };
                let report = sim::run(&launch, &mut simulated).unwrap();
                assert!(report.is_clean(), "{told}: {:#?}", report.findings);
                let options = eval::Options::default();
                eval::run(&compiled.meaning, [1, 1, 1], &args, &mut expected, options).unwrap();
                for (expected, simulated) in expected.buffers().iter().zip(simulated.buffers()) {
                    assert!(expected.bytes == simulated.bytes, "{told}: {}", expected.name);
                }
            }
        }
    }
}
