//! Recorded texts are read and printed back; broken ones are refused with the right words.

use super::parse;
use crate::diagnostic::{Diagnostics, Span};
use crate::location::Locations;
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
