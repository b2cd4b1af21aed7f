//! Recorded texts are read and printed back; broken ones are refused with the right words.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them when it updates")]

use super::{Places, parse, parse_within};
use crate::atomic::Rmw;
use crate::budget::{Budget, Limits};
use crate::diagnostic::{Diagnostics, Span};
use crate::id::Id;
use crate::location::{Location, Locations};
use crate::scalar::Binary;
use crate::tile::{self, DescriptorOp, Kernel, Module, Op, OpKind};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Every recorded text of the repository, in a fixed order.
fn recorded() -> Vec<(PathBuf, String)> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "src/ttir/testdata",
        "tests/kernels",
        "../../examples",
        "../../kernels",
        "../../kernels/ttgir",
    ];
    let mut texts = Vec::new();
    for entry in folders.iter().filter_map(|folder| package.join(folder).read_dir().ok()).flatten()
    {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ttir" || extension == "ttgir") {
            let text = std::fs::read_to_string(&path).unwrap();
            texts.push((path, text));
        }
    }
    texts.sort();
    texts
}

/// The errors as `line:column: message; hint` lines.
fn complaints(text: &str) -> String {
    let Err(Diagnostics(errors)) = parse(text) else { return "no error\n".into() };
    let mut lines = String::new();
    for error in errors {
        let (line, column) = error.span.line_column(text);
        writeln!(lines, "{line}:{column}: {error}").unwrap();
        for (span, label) in &error.labels {
            let (line, column) = span.line_column(text);
            writeln!(lines, "  {line}:{column}: {label}").unwrap();
        }
    }
    lines
}

/// The module without its places and spans, which the printer leaves out.
fn bare(mut module: Module) -> Module {
    for kernel in &mut module.kernels {
        kernel.loc = Locations::unknown();
        for id in kernel.ops.keys() {
            kernel.ops[id].loc = Locations::unknown();
            kernel.ops[id].span = Span::default();
            kernel.ops[id].spelled = false;
        }
    }
    module.locations = Locations::default();
    module
}

#[test]
fn every_recorded_text_is_read_and_printed_back() {
    let texts = recorded();
    assert!(!texts.is_empty());
    for (path, text) in texts {
        let module =
            parse(&text).unwrap_or_else(|_| panic!("{}:\n{}", path.display(), complaints(&text)));
        assert_eq!(module.kernels.len(), 1, "{}", path.display());
        let printed = module.to_string();
        let again = parse(&printed)
            .unwrap_or_else(|_| panic!("{}:\n{}\n{printed}", path.display(), complaints(&printed)));
        assert_eq!(printed, again.to_string(), "{}", path.display());
        assert!(bare(module) == bare(again), "{}:\n{printed}", path.display());
    }
}

/// A kernel around some lines.
fn kernel(lines: &str) -> String {
    format!(
        "module {{\n  tt.func public @k(%p: !tt.ptr<f32>, %n: i32, %x: f32) {{\n{lines}\n    tt.return\n  }}\n}}\n"
    )
}

/// The kernel as it prints after reading.
fn printed(text: &str) -> String {
    match parse(text) {
        Ok(module) => module.to_string(),
        Err(_) => complaints(text),
    }
}

#[test]
fn calls_are_inlined_with_names_and_places_of_their_own() {
    let text = r#"
#loc1 = loc("k.py":1:1)
#loc2 = loc("k.py":2:2)
tt.func public @k(%p: !tt.ptr<i32>, %n: i32) {
  %0 = tt.call @f(%n, %n) : (i32, i32) -> i32 loc(#loc1)
  %1 = tt.call @f(%0, %n) : (i32, i32) -> i32
  tt.store %p, %1 : !tt.ptr<i32>
  tt.return
}
tt.func private @f(%n: i32, %m: i32) -> i32 attributes {noinline = true} {
  %c = arith.cmpi slt, %n, %m : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return %m : i32
^bb2:
  %0 = arith.addi %n, %m : i32 loc(#loc2)
  tt.return %0 : i32
}
"#;
    expect_test::expect![[r"
        module {
          tt.func public @k(%p: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
            %c = arith.cmpi slt, %n, %n : i32
            %met = scf.if %c -> (i32) {
              scf.yield %n : i32
            } else {
              %0 = arith.addi %n, %n : i32
              scf.yield %0 : i32
            }
            %c_0 = arith.cmpi slt, %met, %n : i32
            %met_0 = scf.if %c_0 -> (i32) {
              scf.yield %n : i32
            } else {
              %0 = arith.addi %met, %n : i32
              scf.yield %0 : i32
            }
            tt.store %p, %met_0 : !tt.ptr<i32>
            tt.return
          }
        }
    "]]
    .assert_eq(&printed(text));
    let module = parse(text).unwrap();
    let kernel = &module.kernels[0];
    let add = kernel.ops.values().find(|op| op.kind.name() == "add").unwrap();
    assert_eq!(module.locations.resolve(add.loc), Some(("k.py", 2, 2)));
    assert_eq!(add.span.line_column(text).0, 16);
    assert!(matches!(module.locations.get(add.loc), Location::CallSite { .. }));
}

#[test]
fn no_more_than_twenty_errors_are_told() {
    let text = kernel(&"    tt.nonsense\n".repeat(1000));
    assert_eq!(complaints(&text).lines().count(), 20);
}

/// A text that is too long for places of 32 bits is not looked at, and one of more than 64 MiB only where a limit says
/// so.
#[test]
fn a_raised_limit_reads_more_bytes() {
    let text = format!("//{}\n{}", " ".repeat(64 << 20), kernel(""));
    let told = complaints(&text);
    assert!(told.contains("the text is longer than 64 MiB"), "{told}");
    let limits = Limits { text_bytes: 65 << 20, ..Limits::default() };
    let budget = Budget { limits, ..Budget::default() };
    assert_eq!(parse_within(&text, Places::Source, &budget).unwrap().kernels.len(), 1);
}

/// A budget for more operations is one for longer texts.
#[test]
fn a_raised_limit_reads_longer_texts() {
    let lines = (0..270_000).fold(String::new(), |mut lines, index| {
        writeln!(lines, "%v{index} = arith.addi %n, %n : i32").unwrap();
        lines
    });
    let text = kernel(&lines);
    assert!(complaints(&text).contains("the text is too large"));
    let limits = Limits { operations: 270_001, ..Limits::default() };
    let module = parse_within(&text, Places::Source, &Budget { limits, ..Budget::default() });
    assert_eq!(module.unwrap().kernels[0].ops.len(), 270_001);
}

/// Deletes, repeats and replaces pieces of recorded texts: whatever comes out, reading it ends, and
/// what is read prints to something that reads as the same.
#[test]
fn mutilated_texts_never_panic() {
    let texts = recorded();
    let words = [
        "%0",
        "%x",
        "#1",
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        "tensor<8xf32>",
        "i1",
        "-",
        "0x",
        ":2",
        "^bb1",
        "scf.if ",
        "tt.call @f",
        "loc(",
        "\"",
        ",",
        "=",
        "i64",
        "true",
        "\n",
        "é",
    ];
    arbtest::arbtest(|u| {
        let mut text = u.choose(&texts)?.1.clone();
        for _ in 0..u.int_in_range(1..=6)? {
            let mut place = |text: &str| {
                let place = u.int_in_range(0..=text.len())?;
                Ok((place..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(0))
            };
            let (a, b, c) = (place(&text)?, place(&text)?, place(&text)?);
            // Mostly short pieces, so that something stays to be read.
            let end = (a.min(b) + 40).min(a.max(b));
            let span =
                a.min(b)..(end..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(end);
            let piece = text[span.clone()].to_string();
            match u.int_in_range(0..=3)? {
                0 => text.replace_range(span, ""),
                1 => text.insert_str(c, &piece),
                2 => text.replace_range(span, u.choose(&words)?),
                _ => text.truncate(text.floor_char_boundary(c.max(text.len() / 2))),
            }
        }
        check_round_trip(&text);
        Ok(())
    });
}

/// What can be read prints to something that reads as the same.
fn check_round_trip(text: &str) {
    if let Ok(module) = parse(text) {
        let printed = module.to_string();
        let again =
            parse(&printed).unwrap_or_else(|_| panic!("{}\n{printed}", complaints(&printed)));
        assert_eq!(printed, again.to_string());
    }
}

#[test]
fn the_verifier_names_every_broken_rule() {
    type Breakage = fn(&mut Kernel);
    let breakages: &[(&str, Breakage)] = &[
        ("nothing", |_| {}),
        ("an operand that is defined later", |kernel| {
            let late = *kernel.body.ops.iter().nth_back(2).unwrap();
            let value = kernel.ops[late].results[0];
            find(kernel, "splat").operands[0] = value;
        }),
        ("a value of an inner region used outside", |kernel| {
            let inner = find(kernel, "for").regions[0].params[1];
            find(kernel, "store").operands[1] = inner;
        }),
        ("an operation in two places", |kernel| {
            let first = kernel.body.ops[0];
            kernel.body.ops.insert(1, first);
        }),
        ("an operation without its operands", |kernel| find(kernel, "load").operands.clear()),
        ("a result of the wrong type", |kernel| {
            let result = find(kernel, "add").results[0];
            kernel.values[result].ty.shape[0] = 3;
        }),
        ("a region without an end", |kernel| {
            find(kernel, "for").regions[0].ops.pop();
        }),
        ("an empty region", |kernel| find(kernel, "for").regions[0].ops.clear()),
        ("a missing region", |kernel| find(kernel, "for").regions.clear()),
        ("a terminator in the middle", |kernel| {
            let last = kernel.body.ops.pop().unwrap();
            kernel.body.ops.insert(0, last);
        }),
        ("an operation that its type does not have", |kernel| {
            find(kernel, "add").kind = OpKind::Binary(Binary::And);
        }),
        ("a store in a reduce", |kernel| {
            let store = kernel
                .body
                .ops
                .iter()
                .copied()
                .find(|&id| matches!(kernel.ops[id].kind, OpKind::Store(_)));
            kernel.body.ops.retain(|&id| Some(id) != store);
            find(kernel, "reduce").regions[0].ops.insert(0, store.unwrap());
        }),
        ("an axis too many", |kernel| {
            find(kernel, "reduce").kind = OpKind::Reduce { axis: 1, contract: false }
        }),
        ("ids that do not exist", |kernel| {
            find(kernel, "splat").operands[0] = Id::new(1000);
            find(kernel, "load").results[0] = Id::new(1001);
            kernel.body.ops.insert(0, Id::new(1002));
        }),
        ("a region around itself", |kernel| {
            let id = kernel
                .body
                .ops
                .iter()
                .copied()
                .find(|&id| matches!(kernel.ops[id].kind, OpKind::For(_)));
            find(kernel, "for").regions[0].ops.insert(0, id.unwrap());
        }),
        ("an argument without a value", |kernel| {
            kernel.body.params.pop();
        }),
    ];
    let text = kernel(
        "    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %pp = tt.addptr %ps, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %v = tt.load %pp : tensor<8x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<8xf32>
    %s = \"tt.reduce\"(%w) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.mulf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<8xf32>) -> f32
    %t = scf.for %i = %n to %n step %n iter_args(%u = %s) -> (f32) : i32 {
      %d = arith.subf %u, %u : f32
      scf.yield %d : f32
    }
    tt.store %p, %t : !tt.ptr<f32>",
    );
    let mut all = String::new();
    for (what, damage) in breakages {
        let mut module = parse(&text).unwrap();
        damage(&mut module.kernels[0]);
        writeln!(all, "{what}:").unwrap();
        let Err(Diagnostics(errors)) = tile::verify(&module.kernels[0]) else { continue };
        for error in errors {
            let (line, _) = error.span.line_column(&text);
            writeln!(all, "  line {line}: {error}").unwrap();
        }
    }
    expect_test::expect_file!["testdata/verify.txt"].assert_eq(&all);
}

/// The first operation of a kind.
fn find<'a>(kernel: &'a mut Kernel, name: &str) -> &'a mut Op {
    let id = kernel.ops.keys().find(|&id| kernel.ops[id].kind.name() == name).unwrap();
    &mut kernel.ops[id]
}

#[test]
fn nameless_and_clashing_values_print_under_names_of_their_own() {
    let text = kernel(
        "    %a:2 = scf.if %c -> (i32, i32) {\n      scf.yield %n, %n : i32, i32\n    } else {\n      scf.yield %n, %n : i32, i32\n    }\n    %0 = arith.addi %a#0, %a#1 : i32",
    );
    let text = text.replacen("    %a:2", "    %c = arith.constant true\n    %a:2", 1);
    let mut module = parse(&text).unwrap();
    let kernel = &mut module.kernels[0];
    for value in kernel.values.keys() {
        kernel.values[value].name = match kernel.values[value].name.as_deref() {
            Some("a#0") => Some("0".into()),
            Some("c" | "a#1") => None,
            _ => Some("n".into()),
        };
    }
    let printed = module.to_string();
    expect_test::expect![[r#"
        module {
          tt.func public @k(%n: !tt.ptr<f32>, %n_0: i32, %n_1: f32) attributes {noinline = false} {
            %3 = arith.constant true
            %0, %5 = scf.if %3 -> (i32, i32) {
              scf.yield %n_0, %n_0 : i32, i32
            } else {
              scf.yield %n_0, %n_0 : i32, i32
            }
            %n_2 = arith.addi %0, %5 : i32
            tt.return
          }
        }
    "#]]
    .assert_eq(&printed);
    assert_eq!(parse(&printed).unwrap().to_string(), printed);
}

#[test]
fn the_deepest_nesting_that_is_allowed_fits_the_stack() {
    let deepest = tile::MAX_DEPTH - 1;
    let ifs = |inside: &str| {
        format!("{}{inside}\n{}", "scf.if %c {\n".repeat(deepest), "}\n".repeat(deepest))
    };
    let mut text = format!(
        "tt.func public @k(%c: i1) {{\n{}tt.return\n}}\n",
        ifs("tt.call @f0(%c) : (i1) -> ()")
    );
    for i in 0..tile::MAX_DEPTH {
        let call = match i + 1 {
            tile::MAX_DEPTH => "ub.poison : i32".into(),
            next => format!("tt.call @f{next}(%c) : (i1) -> ()"),
        };
        writeln!(text, "tt.func private @f{i}(%c: i1) {{\n{call}\ntt.return\n}}").unwrap();
    }
    assert_eq!(complaints(&text), "no error\n");
    check_round_trip(&text);
}

/// A module of TTGIR around the lines of a kernel's body.
fn encoded(body: &str) -> String {
    format!(
        r##"#blocked = #ttg.blocked<{{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
#rows = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}}>
#shared = #ttg.swizzled_shared<{{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}}>
#turned = #ttg.swizzled_shared<{{vec = 4, perPhase = 1, maxPhase = 8, order = [0, 1]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @kernel(%x: !tt.ptr<f32>, %n: i32) attributes {{noinline = false}} {{
{body}
    tt.return
  }}
}}
"##
    )
}

#[test]
fn encodings_are_read_printed_and_kept() {
    let text = encoded(
        "    %a = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %b = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %c = tt.expand_dims %b {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %d = ttg.convert_layout %a : tensor<512xi32, #blocked> -> tensor<512xi32, #ttg.slice<{dim = 1, parent = #rows}>>",
    );
    let module = parse(&text).unwrap();
    assert_eq!((module.launch.warps, module.launch.lanes), (Some(4), Some(32)));
    assert_eq!(module.launch.target.as_deref(), Some("cuda:90"));
    let printed = module.to_string();
    assert_eq!(bare(parse(&printed).unwrap()), bare(module));
    // The names are MLIR's, each layout once.
    assert!(printed.starts_with("#blocked = #ttg.blocked<{sizePerThread = [4]"), "{printed}");
    assert!(printed.contains("\n#blocked1 = #ttg.blocked<{sizePerThread = [1, 4]"), "{printed}");
    assert!(printed.contains("#ttg.slice<{dim = 0, parent = #blocked1}>"), "{printed}");
}

/// A signless `max` of a block whose descriptor says `ui32` is one of unsigned numbers.
#[test]
fn descriptors_tell_whether_integers_have_a_sign() {
    let text = r"
tt.func public @unsigned_extremes(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %base = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %at = tt.addptr %base, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %at : tensor<64x!tt.ptr<i32>>
  %d = tt.make_tensor_descriptor %out, [%size], [%one] : <i32>, <64xui32>
  tt.descriptor_reduce max, %d[%zero], %v : !tt.tensordesc<64xui32>, tensor<64xi32>
  tt.return
}
";
    for (block, op) in [("64xui32", Rmw::UMax), ("64xsi32", Rmw::Max), ("64xi32", Rmw::Max)] {
        let module = parse(&text.replace("64xui32", block)).unwrap();
        let reductions: Vec<Rmw> = (module.kernels[0].ops.values())
            .filter_map(|op| match op.kind {
                OpKind::Descriptor(DescriptorOp::Reduce(op)) => Some(op),
                _ => None,
            })
            .collect();
        assert_eq!(reductions, [op], "{block}");
        assert_eq!(parse(&module.to_string()).unwrap().to_string(), module.to_string());
    }
}

/// A copy between two descriptors that the kernel is given, with what stands behind the first one's type.
fn given(said: &str) -> String {
    let block = "!tt.tensordesc<tensor<4x16xf16>>";
    format!(
        "tt.func public @copy(%x: {block}{said}, %y: {block}, %at: i32) {{
           %v = tt.descriptor_load %x[%at, %at] : {block} -> tensor<4x16xf16>
           tt.descriptor_store %y[%at, %at], %v : {block}, tensor<4x16xf16>
           tt.return
         }}"
    )
}

#[test]
fn the_range_of_a_pointer_is_read_and_printed() {
    let text =
        |said: &str| format!("tt.func public @k(%x: !tt.ptr<f32> {{{said}}}) {{\n  tt.return\n}}");
    for said in
        ["tt.pointer_range = 32 : i32", "tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32"]
    {
        let module = parse(&text(said)).unwrap();
        assert_eq!(module.kernels[0].params[0].pointer_range, 32);
        assert!(module.to_string().contains(&format!("{{{said}}}")), "{module}");
    }
    let wrong = parse(&text("tt.pointer_range = 0 : i32")).unwrap_err().to_string();
    assert!(wrong.contains("a distance does not take 0 bits; it takes 1 to 64"), "{wrong}");
}

#[test]
fn descriptors_that_a_kernel_is_given_come_in_parts() {
    let module = parse(&given(" {weft.flags = 1 : i32} loc(\"x\")")).unwrap();
    let kernel = &module.kernels[0];
    let params: Vec<(&str, u64)> =
        kernel.params.iter().map(|param| (&param.name[..], param.divisibility)).collect();
    let parts = |name: &str, flags: &[&str]| -> Vec<(String, u64)> {
        let parts =
            [("", 16), (".extents.0", 1), (".extents.1", 1), (".strides.0", 8), (".strides.1", 1)];
        let flags = flags.iter().map(|&flag| (flag, 1));
        parts.into_iter().chain(flags).map(|(part, by)| (format!("{name}{part}"), by)).collect()
    };
    let expected =
        [parts("x", &[".padding"]), parts("y", &[".padding", ".rounds"]), vec![("at".into(), 1)]];
    let expected = expected.concat();
    assert_eq!(params, expected.iter().map(|(name, by)| (&name[..], *by)).collect::<Vec<_>>());
    let given = OpKind::Descriptor(DescriptorOp::Given);
    let made: Vec<usize> =
        kernel.ops.values().filter(|op| op.kind == given).map(|op| op.operands.len()).collect();
    assert_eq!(made, [6, 7]);
    let text = module.to_string();
    assert_eq!(parse(&text).unwrap().to_string(), text);
}

/// A fault is told with the place in the source that the text was made from, whatever form that has.
#[test]
fn faults_know_the_place_in_the_source() {
    let source = |place: &str, more: &str| {
        let text = format!(
            "{more}\ntt.func public @k(%x: i32) {{\n  %y = arith.addi %x,\n    %z : i32 {place}\n  \
             tt.return loc(\"other.py\":9:9)\n}}\n"
        );
        let Diagnostics(errors) = parse(&text).unwrap_err();
        errors[0].source.as_ref().map(ToString::to_string)
    };
    let line = Some("kernel.py:3:7".to_owned());
    assert_eq!(source("loc(\"kernel.py\":3:7)", ""), line);
    assert_eq!(source("loc(\"y\"(\"kernel.py\":3:7))", ""), line);
    let aliases = "#loc1 = loc(\"kernel.py\":3:7)\n#loc2 = loc(\"main.py\":1:1)\n\
                   #loc3 = loc(callsite(#loc1 at #loc2))";
    assert_eq!(source("loc(#loc1)", aliases), line);
    assert_eq!(source("loc(#loc3)", aliases), line);
    assert_eq!(source("loc(callsite(#loc1 at #loc2))", aliases), line);
    // Without a place of its own, the next one there is.
    assert_eq!(source("", ""), Some("other.py:9:9".to_owned()));
    assert_eq!(source("loc(#loc7)", ""), None);
    assert_eq!(source("loc(unknown)", ""), None);
}
