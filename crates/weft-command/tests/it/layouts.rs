//! `weft layout`, `weft convert`, `weft machines`.

use crate::{finished, weft, weft_with};
use std::process::Command;

const ROWS: &str = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], \
                    warpsPerCTA = [2, 1], order = [1, 0]}>";
const COLUMNS: &str = "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [4, 8], \
                       warpsPerCTA = [2, 1], order = [0, 1]}>";

const SWIZZLED: &str =
    "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>";

#[test]
fn a_picture_is_the_same_text_in_every_answer() {
    for more in [
        &["--format", "text"][..],
        &["--format", "grid"],
        &["--format", "banks"],
        &["--format", "svg"],
        &["--format", "svg", "--picture", "banks"],
        &["--format", "svg", "--picture", "hardware"],
        &["--format", "svg", "--picture", "matrix"],
        &["--format", "grid", "--all"],
    ] {
        let layout = ["layout", SWIZZLED, "--shape", "64x8", "--element", "f16"];
        let arguments = [&layout[..], more].concat();
        let text = weft_with(&arguments, "").stdout;
        let answer = weft_with(&[&arguments[..], &["--json"]].concat(), "").stdout;
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["picture"], text, "{more:?}");
        assert_eq!(
            text.contains("left out"),
            more == ["--format", "grid"] || more == ["--format", "banks"]
        );
    }
}

#[test]
fn colours_are_for_terminals_and_for_those_who_insist() {
    let command = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(["layout", SWIZZLED, "--shape", "4x8", "--format", "grid"]);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR");
        command
    };
    let plain = finished(&mut command(), "").stdout;
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let insisted = finished(command().env("CLICOLOR_FORCE", "1"), "").stdout;
    assert!(insisted.contains("\u{1b}[48;2;230;159;0m"), "{insisted}");
    let objected = finished(command().env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1"), "").stdout;
    assert_eq!(objected, plain);
}

#[test]
fn a_conversion() {
    let arguments =
        ["convert", "--from", ROWS, "--to", COLUMNS, "--shape", "16x8", "--element", "f16"];
    let finished = weft_with(&arguments, "");
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stdout.starts_with("strategy           "), "{}", finished.stdout);
    assert!(finished.stdout.contains("\nverified           by the witness\n"));
    assert!(
        finished.stdout.contains("\nalternatives       shared memory: "),
        "{}",
        finished.stdout
    );
}

#[test]
fn machines() {
    let all: serde_json::Value = serde_json::from_str(&weft("machines --json").stdout).unwrap();
    let gfx950 = all["machines"].as_array().unwrap().iter().find(|row| row["name"] == "gfx950");
    assert_eq!(
        (&gfx950.unwrap()["banks"], &gfx950.unwrap()["store_banks"]),
        (&64.into(), &32.into())
    );
    assert_eq!(gfx950.unwrap()["matrix_moves"][0]["name"], "ds_read_b64_tr_b16");
}

/// A machine in a file, whole: the same answers, and sentences about what is wrong in it.
#[test]
fn a_machine_of_a_file() {
    let folder = std::env::temp_dir().join(format!("weft-machine-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("mine.json");
    let text = weft("machines sm_80 --json").stdout;
    std::fs::write(&path, text.replace("\"sm_80\"", "\"mine\"")).unwrap();
    let file = path.to_str().unwrap();
    for line in [
        "compile examples/row_softmax.ttir --emit ptx --target",
        "explain examples/tiled_transpose.ttir --json --target",
    ] {
        let (known, mine) = (weft(&format!("{line} sm_80")), weft(&format!("{line} {file}")));
        assert_eq!(mine.stdout.replace("\"mine\"", "\"sm_80\""), known.stdout);
        assert_eq!(mine.stderr, "");
    }
    std::fs::write(&path, text.replace("\"lanes\":32", "\"lanes\":0")).unwrap();
    let finished = weft(&format!("compile examples/row_softmax.ttir --target {file}"));
    assert_eq!(finished.status, 2);
    assert_eq!(
        finished.stderr,
        "error: `target.lanes`: 0 is not possible: a whole number from 1 to 64 is\n",
    );
    std::fs::write(&path, "{").unwrap();
    let finished = weft(&format!("machines {file} --json"));
    assert_eq!(finished.status, 2);
    assert!(finished.stdout.starts_with(r#"{"error":{"kind":"read","message":""#));
    std::fs::remove_dir_all(&folder).unwrap();
    let finished = weft(&format!("machines {file}"));
    assert!(finished.stderr.starts_with(&format!("error: cannot read {file}: ")));
}
