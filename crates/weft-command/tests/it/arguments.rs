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

/// The options and arguments of a subcommand, each with its help as one line.
#[cfg(feature = "mcp")]
fn told(command: &str) -> Vec<(String, String)> {
    let help = weft(&format!("{command} --help")).stdout;
    let mut all: Vec<(String, String)> = Vec::new();
    for line in help.lines() {
        let text = line.trim();
        let is_name = line.len() - text.len() <= 6 && line.starts_with("  ");
        if is_name && text.starts_with(['-', '<', '[']) {
            let long = text.split_whitespace().find(|word| word.starts_with("--")).unwrap_or(text);
            all.push((long.trim_matches(['<', '>', '[', ']']).to_owned(), String::new()));
        } else if let Some((_, told)) = all.last_mut().filter(|_| line.starts_with("          ")) {
            told.push_str(if told.is_empty() { "" } else { " " });
            told.push_str(text);
        } else if text.starts_with("Example") || text.starts_with("Values") {
            break;
        }
    }
    all
}

/// What a key is, up to what holds where it is not given.
#[cfg(feature = "mcp")]
fn meaning(description: &str) -> String {
    let text = description.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split(';').next().unwrap_or_default().trim_end_matches('.').to_owned()
}

/// A request says what a key means; the option that fills it says the same, and may go on with how it is typed.
#[cfg(feature = "mcp")]
#[test]
fn options_say_what_the_keys_of_requests_say() {
    // Those that are named otherwise than the key.
    let renamed = [
        ("ATTR", "attribute"),
        ("MACHINE", "target"),
        ("TABLE", "table"),
        ("arg", "args"),
        ("load", "loads"),
        ("pin", "pins"),
        ("scratch", "scratch_bytes"),
    ];
    // Those that take away what a key says.
    let opposite = ["no-names", "no-matrix-moves", "no-fp-fusion"];
    // Those of the command: what it reads and writes, and how a Python file becomes Triton IR.
    let own = [
        "KERNEL",
        "batch",
        "color",
        "compiled",
        "constexpr",
        "device",
        "help",
        "json",
        "limit",
        "output",
        "python",
        "signature",
        "time",
    ];
    let weft_api::agent::Requests { names, definitions } = weft_api::agent::requests();
    let (mut known, mut wrong) = (0, Vec::new());
    for command in [
        "layout",
        "convert",
        "swizzle",
        "conflicts",
        "port",
        "compile",
        "run",
        "explain",
        "machines",
        "paper",
    ] {
        let schema = names.iter().find(|(name, _)| *name == command).map(|(_, schema)| schema);
        let keys = &definitions[schema.expect("a request")]["properties"];
        for (name, told) in told(command) {
            let name = name.trim_start_matches('-').trim_start_matches("o <");
            let name = if name == "FILE" { "output" } else { name };
            if opposite.contains(&name) {
                let key = name.trim_start_matches("no-").replace('-', "_");
                assert!(keys[&key].is_object(), "{command} --{name}");
                continue;
            }
            if own.contains(&name) {
                continue;
            }
            let key = renamed.iter().find(|(option, _)| *option == name).map(|(_, key)| *key);
            let key = key.map_or_else(|| name.replace('-', "_"), ToOwned::to_owned);
            let Some(description) = keys[&key]["description"].as_str() else {
                wrong.push(format!("{command} {name}: no key `{key}` that is described"));
                continue;
            };
            known += 1;
            let meaning = meaning(description);
            if !told.starts_with(&meaning) {
                wrong.push(format!("{command} {name}: {told}\n  the key: {meaning}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(known > 60, "{known}");
}
