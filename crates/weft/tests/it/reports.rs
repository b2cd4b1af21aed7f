//! What kernels print and assert: the simulator and the evaluator tell the same.

use crate::corpus::text;
use crate::inputs::Argument::{self, Empty, I32, Integers, Random};
use crate::inputs::make;
use expect_test::expect;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::sim::{self, FindingKind, Launch};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

/// Runs a kernel both ways.
fn reports(
    file: &str,
    grid: [u32; 3],
    arguments: &[(&'static str, Argument)],
    target: &str,
    warps: u32,
) -> (eval::Report, sim::Report, String) {
    let module = ttir::parse(&text(file)).unwrap();
    let kernel = &module.kernels[0];
    let machine = Machine::by_name(target).unwrap();
    let options = Options { warps, ..Options::for_machine(machine) };
    let compiled = compile::compile(&module, kernel, &options).unwrap();
    let (args, memory) = make(arguments);
    let (mut simulated, mut expected) = (memory.clone(), memory);
    let launch = Launch {
        program: &compiled.program,
        grid,
        args: &args,
        machine: &compile::simulated(machine, 8),
        options: sim::Options::default(),
    };
    let report = sim::run(&launch, &mut simulated).unwrap();
    let options = eval::Options::default();
    let evaluated = eval::run(kernel, grid, &args, &mut expected, options).unwrap();
    let place = report.findings.first().map(|finding| finding.actor.loc);
    let place = place.map(|loc| module.locations.display(loc).to_string()).unwrap_or_default();
    (evaluated, report, place)
}

#[test]
fn every_element_is_printed_once_wherever_it_lives() {
    let values = [
        ("x", Integers(16, -50, 50)),
        ("y", Random(DType::F32, 16)),
        ("out", Empty(DType::I32, 16)),
    ];
    let everywhere = [
        ("x", Random(DType::F16, 6)),
        // Sixteen bytes, so that no two places print the same.
        ("y", Integers(4, i32::MIN.into(), i32::MAX.into())),
        ("out", Empty(DType::F32, 1)),
        ("n", I32(6)),
    ];
    for (target, warps) in [("sm_80", 1), ("sm_90", 4), ("gfx942", 2)] {
        let cases: [(&str, u32, &[_], u64); 2] = [
            ("kernels/print_values", 2, &values, 48),
            ("kernels/print_everywhere", 1, &everywhere, 33),
        ];
        for (file, blocks, arguments, least) in cases {
            let (evaluated, simulated, _) = reports(file, [blocks, 1, 1], arguments, target, warps);
            assert!(simulated.is_clean(), "{:?}", simulated.findings);
            let (mut expected, mut found) = (evaluated.printed, simulated.printed);
            assert_eq!(found.count, expected.count);
            assert!(found.count >= least, "{}", found.count);
            expected.lines.sort();
            found.lines.sort();
            assert_eq!(found.lines, expected.lines, "{file} on {target}");
        }
    }
}

#[test]
fn lines_are_those_of_printf() {
    let arguments =
        [("x", Integers(8, -3, -2)), ("y", Random(DType::F32, 8)), ("out", Empty(DType::I32, 8))];
    let (evaluated, ..) = reports("kernels/print_values", [1, 1, 1], &arguments, "sm_90", 1);
    let lines = [0, 8].map(|index| evaluated.printed.lines[index].as_str());
    expect![[r#"
        pid (0, 0, 0) idx (0) numbers: -3
        pid (0, 0, 0) idx (0) bits: (operand 0) 0xfffffffd
    "#]]
    .assert_eq(&lines.concat());
}

#[test]
fn an_assertion_that_does_not_hold_is_found_with_its_place() {
    let arguments =
        [("x", Integers(150, 980, 1020)), ("out", Empty(DType::I32, 150)), ("n", I32(150))];
    for (target, warps) in [("sm_80", 4), ("gfx90a", 1)] {
        let (evaluated, simulated, place) =
            reports("kernels/assert_in_range", [3, 1, 1], &arguments, target, warps);
        let [failure] = &evaluated.failures[..] else { panic!("{:?}", evaluated.failures) };
        assert_eq!(failure.message, "index out of range");
        assert!(failure.count > 20 && failure.count < 130, "{}", failure.count);
        let [finding] = &simulated.findings[..] else { panic!("{:?}", simulated.findings) };
        assert_eq!(finding.kind, FindingKind::Assertion);
        assert!(place.starts_with("kernels/debugging.py:"), "{place}");
        assert_eq!(finding.message, "`index out of range` does not hold");
    }
}

#[test]
fn texts_call_what_the_languages_print_with() {
    let module = ttir::parse(&text("kernels/assert_uniform")).unwrap();
    let machine = Machine::by_name("sm_90").unwrap();
    let options = Options::for_machine(machine);
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    let target = Target::by_name("sm_90").unwrap();
    let ptx = emit::print(&compiled.program, Language::Ptx, target).unwrap();
    assert!(ptx.contains("call __assertfail, (message, file, line, function, width);"), "{ptx}");
    let cuda = emit::print(&compiled.program, Language::Cuda, target).unwrap();
    assert!(cuda.contains("assertion `the block has a large element` failed.\\n\"); __trap();"));
    // A print and an assertion are what Triton's text says, and are read back.
    let text = module.to_string();
    let again = ttir::parse(&text).unwrap();
    assert_eq!(again.to_string(), text);
    assert!(text.contains("tt.assert"), "{text}");
}
