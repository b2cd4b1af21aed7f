//! Input that is wrong: status 2, a sentence that says what and where, a hint, and no panic.

use crate::{root, weft, weft_with};
use expect_test::{Expect, expect};
use std::process::{Command, Stdio};

fn check(line: &str, message: &Expect) {
    let finished = weft(line);
    message.assert_eq(&finished.stderr);
    assert_eq!((finished.status, &*finished.stdout), (2, ""));
}

fn example(name: &str) -> String {
    std::fs::read_to_string(root().join("examples").join(name)).unwrap()
}

const ARRAYS: &str = "--arg x=zeros:f32[1024] --arg y=zeros:f32[1024] --arg out=empty:f32[1024]";

#[test]
fn a_text_cut_anywhere_is_refused_without_a_panic() {
    let text = example("row_softmax.ttir");
    for end in (0..text.len()).step_by(211) {
        let finished = weft_with(&["compile", "-"], &text[..end]);
        assert_eq!(finished.status, 2, "cut at byte {end}: {}", finished.stderr);
        assert!(finished.stderr.starts_with("error: "), "{}", finished.stderr);
    }
}

#[test]
fn a_machine_of_a_file_has_no_printer() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("gfx1101.json");
    let machine = weft("machines gfx1100 --json").stdout;
    std::fs::write(&own, machine.replace("gfx1100", "gfx1101")).unwrap();
    for command in ["compile", "explain", "run --grid 1 --arg n=1"] {
        check(
            &format!("{command} examples/vector_add.ttir --target {}", own.display()),
            &expect![[r#"
                error: there is no printer for `gfx1101` yet
                  help: code is printed for sm_80, sm_86, sm_89, sm_90, sm_100, sm_120, gfx90a, gfx942, gfx950, gfx1100, gfx1200; for the others layouts and conversions are planned
            "#]],
        );
    }
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    let path = std::env::temp_dir().join(format!("weft-{}.ttir", std::process::id()));
    std::fs::write(&path, b"module {\n\xff\xfe}").unwrap();
    let finished = weft_with(&["compile", &path.display().to_string()], "");
    std::fs::remove_file(path).unwrap();
    assert_eq!(finished.status, 2);
    assert!(finished.stderr.contains(" is no text: byte 9 is not UTF-8\n"), "{}", finished.stderr);
}

#[test]
fn a_machine_without_a_gpu_says_so() {
    let finished = weft(&format!(
        "run examples/vector_add.ttir --grid 1 {ARRAYS} --arg n=1024 --device cuda:0"
    ));
    if finished.status == 0 {
        assert!(finished.stdout.contains("\ndevice "), "{}", finished.stdout);
        return;
    }
    assert_eq!(finished.status, 2);
    assert!(finished.stderr.starts_with("error: no CUDA d"), "{}", finished.stderr);
}

#[test]
fn nobody_reads_the_output() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["layout", "--batch", "-"])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let input = "{}\n".repeat(100);
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
}

#[test]
fn a_device_that_is_not_there_is_not_probed() {
    let finished = weft("probe --device cuda:99 -o never.json");
    assert_eq!((finished.status, &*finished.stdout), (2, ""));
    // No driver, or not as many devices.
    assert!(finished.stderr.starts_with("error: no CUDA d"), "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1);
    assert!(!root().join("never.json").exists());
    let finished = weft("probe --device 0");
    assert_eq!(finished.status, 2);
    assert!(finished.stderr.contains("a device is cuda:0, cuda:1, …"), "{}", finished.stderr);
}

/// A time that is over at once: each subcommand that takes long keeps it, and so does each line of a batch.
#[test]
fn time_is_a_limit_of_the_command() {
    let add = "examples/vector_add.ttir";
    for line in [
        &["compile", add][..],
        &["explain", add],
        &[
            "run",
            add,
            "--grid",
            "1",
            "--arg",
            "x=ones:f32[1024]",
            "--arg",
            "y=ones:f32[1024]",
            "--arg",
            "out=empty:f32[1024]",
            "--arg",
            "n=1024",
        ],
    ] {
        let finished = weft_with(&[line, &["--limit", "milliseconds=0"]].concat(), "");
        assert_eq!(finished.status, 2, "{line:?}: {}", finished.stdout);
        let message = "error: the request takes more than 0 milliseconds: they were over while the text was read";
        assert!(finished.stderr.starts_with(message), "{}", finished.stderr);
        assert!(finished.stderr.contains("help: raise the limit: `--limit milliseconds="));
    }
    // So do those that read no kernel, where there is something to look for or to draw.
    let rows = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";
    let tensor = ["--shape", "64x64", "--element", "f32", "--limit", "milliseconds=0"];
    for line in [
        &["convert", "--from", rows, "--to", rows][..],
        &["swizzle", "--store", rows, "--load", rows],
    ] {
        let finished = weft_with(&[line, &tensor].concat(), "");
        assert_eq!(finished.status, 2, "{line:?}: {}", finished.stdout);
        let message = "error: the request takes more than 0 milliseconds";
        assert!(finished.stderr.starts_with(message), "{}", finished.stderr);
    }
    let finished = weft("paper table3 --limit milliseconds=0");
    assert_eq!((finished.status, &*finished.stdout), (2, ""), "{}", finished.stderr);
    let line = "{\"attribute\": \"(8,64):(64,1)\", \"limits\": {\"milliseconds\": 0}}\n";
    let finished = weft_with(&["layout", "--batch", "-"], line);
    assert!(finished.stdout.contains("more than 0 milliseconds"), "{}", finished.stdout);
}

/// 3 KB of text that ask for 131,072 elements in each thread, sixty-four times.
#[test]
fn a_small_text_that_asks_for_much_is_refused_at_once() {
    let tensor = |element: &str| format!("tensor<16777216x{element}>");
    let (floats, pointers, integers) = (tensor("f32"), tensor("!tt.ptr<f32>"), tensor("i32"));
    let sine = |index| format!("%v{} = math.sin %v{index} : {floats}", index + 1);
    let sines = (0..64).map(sine).collect::<Vec<_>>().join("\n");
    let text = format!(
        "module {{ tt.func public @sines(%x: !tt.ptr<f32>) {{
        %r = tt.make_range {{end = 16777216 : i32, start = 0 : i32}} : {integers}
        %p = tt.splat %x : !tt.ptr<f32> -> {pointers}
        %a = tt.addptr %p, %r : {pointers}, {integers}
        %v0 = tt.load %a : {pointers}
        {sines}
        tt.store %a, %v64 : {pointers} tt.return }} }}"
    );
    let start = std::time::Instant::now();
    let finished = weft_with(&["compile", "-"], &text);
    assert_eq!((finished.status, &*finished.stdout), (2, ""));
    expect![[r#"
        error: the result of this `make_range` has more than 4096 elements of a tensor for each thread
          help: give each thread less, by smaller tensors or more warps; or raise the limit: `--limit elements=8192`, in a request `"limits": {"elements": 8192}`
    "#]].assert_eq(&finished.stderr);
    assert!(start.elapsed() < std::time::Duration::from_secs(2), "{:?}", start.elapsed());
    let finished = weft_with(&["explain", "-", "--limit", "operation=1"], "");
    assert_eq!(finished.status, 2);
    assert!(
        finished.stderr.contains("a limit is one of elements, operations"),
        "{}",
        finished.stderr
    );
    let line = ["compile", "examples/row_softmax.ttir", "--limit", "operations=20"];
    let finished = weft_with(&line, "");
    assert_eq!(finished.status, 2);
    expect![[r#"
        error: `row_softmax`, up to this `load`, has more than 20 operations for each thread, at examples/row_softmax.py:20:11
          help: give each thread less, by smaller tensors or more warps; or raise the limit: `--limit operations=40`, in a request `"limits": {"operations": 40}`
    "#]].assert_eq(&finished.stderr);
}
