//! Recorded texts are read and printed back; broken ones are refused with the right words.

use super::parse;
use crate::diagnostic::{Diagnostics, Span};
use crate::location::{Location, Locations};
use crate::tile::Module;
use std::path::{Path, PathBuf};

/// Every recorded text of the repository, in a fixed order.
fn recorded() -> Vec<(PathBuf, String)> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["src/ttir/testdata", "tests/kernels", "../../examples"];
    let mut texts = Vec::new();
    for entry in folders.iter().filter_map(|folder| package.join(folder).read_dir().ok()).flatten()
    {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ttir") {
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
        lines += &format!("{line}:{column}: {error}\n");
        for (span, label) in &error.labels {
            let (line, column) = span.line_column(text);
            lines += &format!("  {line}:{column}: {label}\n");
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
fn forms_that_are_read_print_as_triton_writes_them() {
    expect_test::expect_file!["testdata/forms.printed"]
        .assert_eq(&printed(include_str!("testdata/forms.ttir")));
}

#[test]
fn an_early_return_becomes_an_if() {
    let text = "\
tt.func public @k(%p: !tt.ptr<i32>, %n: i32) {
  %c = arith.cmpi eq, %n, %n : i32
  cf.cond_br %c, ^bb1, ^bb2(%n : i32)
^bb1:
  tt.return
^bb2(%m: i32):
  cf.cond_br %c, ^bb3(%m : i32), ^bb4
^bb3(%a: i32):
  tt.store %p, %a : !tt.ptr<i32>
  cf.br ^bb4
^bb4:
  tt.store %p, %n : !tt.ptr<i32>
  tt.return
}
";
    expect_test::expect![[r"
        module {
          tt.func public @k(%p: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
            %c = arith.cmpi eq, %n, %n : i32
            scf.if %c {
            } else {
              scf.if %c {
                tt.store %p, %n : !tt.ptr<i32>
              }
              tt.store %p, %n : !tt.ptr<i32>
            }
            tt.return
          }
        }
    "]]
    .assert_eq(&printed(text));
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
fn errors_say_where_and_what_would_be_right() {
    let cases = [
        kernel("    %a = arith.adi %n, %n : i32\n    %b = tt.scan %a : i32\n    %c = arith.addi %a, %b : i32"),
        kernel("    %a = arith.addi %n, %x : i32\n    %b = arith.addf %n, %n : i32"),
        kernel("    %a = arith.addi %n %n : i32\n    %b = arith.addi %n, %m : i32"),
        kernel("    %a = tt.splat %n : i32 -> tensor<100xi32>\n    %b = tt.splat %n : i32 -> tensor<67108864xi32>\n    %c = tt.splat %n : i32 -> tensor<8xf8E5M2>"),
        kernel("    %a = arith.constant 1 : f32\n    %b = arith.constant 300 : i8\n    %c = arith.constant dense<[1, 2]> : tensor<2xi32>\n    %d = arith.constant 1.0 : f32 loc(#loc9)"),
        kernel("    %a = arith.addi %n, %n : i32 loc(line 3)\n    %a = arith.addi %n, %n : i32\n    %b = arith.cmpi lt, %n, %n : i32"),
        kernel("    %a = tt.load %x : f32\n    %b = tt.load %p {padding = 1 : i32} : !tt.ptr<f32>\n    %c = tt.load %p, %p : !tt.ptr<f32>"),
        kernel("    %a:2 = arith.addi %n, %n : i32\n    %b = tt.splat %n : i32 -> tensor<8xf32>\n    scf.for %i = %n to %n step %n {\n      tt.nothing\n    }\n    %c = scf.if %n -> (i32) {\n      scf.yield %n : i32\n    }"),
        kernel("    %a = tt.call @k(%p, %n, %x) : (!tt.ptr<f32>, i32, f32) -> ()\n    tt.call @g() : () -> ()\n    tt.call @k(%p, %n, %x) : (!tt.ptr<f32>, i32, f32) -> ()"),
        kernel("    cf.br ^bb1\n  ^bb1:\n    %c = arith.constant true\n    cf.cond_br %c, ^bb1, ^bb2\n  ^bb2:"),
        kernel(&format!("{}{}", "scf.if %c {\n".repeat(65), "}\n".repeat(65))),
        kernel("    %long = arith.addi %n, %n : i32\n    %b = arith.addi %lon, %n : i32\n    %c = tt.splat %n : i32 -> tensor<8xi32, #blocked>\n    \"unfinished"),
        "module {\n  tt.func public @k(%n: i32) {\n    %a = arith.addi %n,".into(),
        "module {\n  tt.func public @k(%n: i32) {\n    %a = arith.addi %n, %n : i32\n".into(),
        "tt.func private @f() {\n  tt.call @g() : () -> ()\n  tt.return\n}\ntt.func private @g() {\n  tt.call @f() : () -> ()\n  tt.return\n}\ntt.func public @k() {\n  tt.call @f() : () -> ()\n  tt.return\n}".into(),
        "tt.func private @f() {\n  tt.return\n}".into(),
        String::new(),
        "int main() {}\n".into(),
    ];
    let mut all = String::new();
    for case in cases {
        all += &complaints(&case);
        all += "---\n";
    }
    expect_test::expect_file!["testdata/errors.txt"].assert_eq(&all);
}

#[test]
fn no_more_than_twenty_errors_are_told() {
    let text = kernel(&"    tt.nonsense\n".repeat(1000));
    assert_eq!(complaints(&text).lines().count(), 20);
}

#[test]
fn inlining_cannot_explode() {
    let mut text = String::from("tt.func public @f0() {\n  tt.return\n}\n");
    for i in 1..40 {
        let call = format!("  tt.call @f{}() : () -> ()\n", i - 1);
        text += &format!("tt.func public @f{i}() {{\n{call}{call}  tt.return\n}}\n");
    }
    expect_test::expect![[r"
        12:3: the text is too large; at most 1048576 operations and values are read, those of inlined functions counted at each call
    "]]
    .assert_eq(
        complaints(&text).lines().next().map(|line| format!("{line}\n")).as_deref().unwrap(),
    );
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
            let span = a.min(b)..(end..).find(|&i| text.is_char_boundary(i)).unwrap_or(end);
            let piece = text[span.clone()].to_string();
            match u.int_in_range(0..=3)? {
                0 => text.replace_range(span, ""),
                1 => text.insert_str(c, &piece),
                2 => text.replace_range(span, u.choose(&words)?),
                _ => text.truncate(c.max(text.len() / 2)),
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
