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
