//! The command line itself.

use crate::weft;

#[test]
fn help_and_version_are_no_errors() {
    for line in ["--help", "--version", "run --help", "compile --help", "help layout"] {
        let finished = weft(line);
        assert_eq!((finished.status, &*finished.stderr), (0, ""), "{line}");
        assert!(!finished.stdout.is_empty(), "{line}");
    }
    let version = format!("weft {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(weft("--version").stdout, version);
}

#[test]
fn what_cannot_be_typed_is_refused() {
    for line in ["", "weave", "layout", "run", "compile a b", "compile a --emit cubin"] {
        let finished = weft(line);
        assert_eq!((finished.status, &*finished.stdout), (2, ""), "{line}");
        assert!(!finished.stderr.is_empty(), "{line}");
    }
}

#[test]
fn times_go_to_standard_error() {
    let line = "compile examples/vector_add.ttir";
    let (quiet, timed) = (weft(line), weft(&format!("{line} --time")));
    assert_eq!(quiet.stdout, timed.stdout);
    assert!(timed.stderr.contains(" ms\n"), "{}", timed.stderr);
}

#[test]
fn every_shell_and_the_manual_know_the_subcommands() {
    let pages =
        ["bash", "elvish", "fish", "powershell", "zsh"].map(|shell| format!("completions {shell}"));
    for line in pages.iter().map(String::as_str).chain(["man"]) {
        let finished = weft(line);
        assert_eq!((finished.status, &*finished.stderr), (0, ""), "{line}");
        for command in ["layout", "compile", "conflicts", "serve"] {
            assert!(finished.stdout.contains(command), "{line} does not know {command}");
        }
    }
    let page = weft("man compile").stdout;
    assert!(page.contains(r"\-\-max\-registers") && page.contains("weft compile"), "{page}");
}

#[test]
fn colours_come_where_they_are_asked_for() {
    for line in ["compile nothing.ttir", "compile --nothing", "layout (8,64):(64,1) --format grid"]
    {
        let colored = |when: &str| {
            let finished = weft(&format!("{line}{when}"));
            (finished.stdout + &finished.stderr).contains('\x1b')
        };
        // Neither output is a terminal here.
        let seen = ["", " --color auto", " --color never", " --color always"].map(colored);
        assert_eq!(seen, [false, false, false, true], "{line}");
    }
}

#[test]
fn machines_and_types_are_known_by_other_names() {
    let memory = "layout (8,64):(64,1) --format banks";
    for (ours, others) in [
        ("--element f16", vec!["--element fp16", "--element float16", "--element half"]),
        ("--element f8E4M3FN", vec!["--element fp8", "--element float8_e4m3fn"]),
        ("--element f32 --target gfx942", vec!["--element fp32 --target MI300X"]),
    ] {
        let answer = weft(&format!("{memory} {ours}"));
        assert_eq!((answer.status, &*answer.stderr), (0, ""), "{ours}");
        for other in others {
            assert_eq!(weft(&format!("{memory} {other}")).stdout, answer.stdout, "{other}");
        }
    }
    let by_name = weft("machines sm_89 --json").stdout;
    for name in ["rtx4090", "RTX-4090", "sm89", "L40S"] {
        assert_eq!(weft(&format!("machines {name} --json")).stdout, by_name, "{name}");
    }
}

#[test]
fn a_recorded_kernel_is_found_by_its_name() {
    let path = weft("compile examples/row_softmax.ttir");
    assert_eq!(path.status, 0);
    assert_eq!(weft("compile row_softmax").stdout, path.stdout);
    assert_eq!(weft("explain running_sum").stdout, weft("explain kernels/running_sum.ttir").stdout);
}
