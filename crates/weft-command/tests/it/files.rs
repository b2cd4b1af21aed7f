//! What is written where: files as a whole or not at all, `-` for standard output, marks of UTF-8.

use crate::{root, weft, weft_with};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const COMPILE: [&str; 2] = ["compile", "examples/row_softmax.ttir"];

fn ptx() -> String {
    weft_with(&COMPILE, "").stdout
}

fn compile_to(path: &Path) -> i32 {
    weft_with(&[COMPILE[0], COMPILE[1], "-o", path.to_str().unwrap()], "").status
}

/// The names in a folder.
fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_file_is_written_beside_and_nothing_is_left_over() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("kernel.ptx");
    for _ in 0..2 {
        assert_eq!(compile_to(&path), 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), ptx());
        assert_eq!(names(&folder), ["kernel.ptx"]);
    }
}

/// Killed at any moment, a file is what it was or what it should be.
#[test]
fn a_killed_command_leaves_no_torn_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("kernel.ptx");
    let (old, new) = ("old\n".repeat(1 << 12), ptx());
    for wait in 0..40 {
        fs::write(&path, &old).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(COMPILE)
            .arg("-o")
            .arg(&path)
            .current_dir(root())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        let _ = child.kill();
        child.wait().unwrap();
        let found = fs::read_to_string(&path).unwrap();
        assert!(found == old || found == new, "after {wait} ms {} bytes", found.len());
    }
}

#[test]
fn a_minus_is_standard_output() {
    let folder = TempDir::new().unwrap();
    let text = fs::read_to_string(root().join(COMPILE[1])).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["compile", "-", "-o", "-"]).current_dir(folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stdout == ptx().as_bytes());
    assert_eq!(names(&folder), [""; 0]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_keeps_its_rights_and_a_link_stays_one() {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| -> PathBuf { folder.path().join(name) };
        fs::write(at("plain"), "").unwrap();
        assert_eq!(compile_to(&at("new")), 0);
        assert_eq!(mode(&at("new")), mode(&at("plain")));
        fs::set_permissions(at("plain"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink(at("plain"), at("link")).unwrap();
        assert_eq!(compile_to(&at("link")), 0);
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(at("plain")).unwrap(), ptx());
        assert_eq!(mode(&at("plain")), 0o640);
    }

    #[test]
    fn what_is_no_file_is_written_to_as_it_is() {
        assert_eq!(compile_to(Path::new("/dev/null")), 0);
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_command_without_standard_output_fails() {
        for command in ["compile examples/row_softmax.ttir", "machines"] {
            let weft = env!("CARGO_BIN_EXE_weft");
            let line = format!("{weft} {command} >&-");
            let finished = crate::finished(Command::new("sh").args(["-c", &line]), "");
            assert_eq!(finished.status, 2, "{}", finished.stderr);
            assert!(
                finished.stderr.contains("cannot write standard output"),
                "{}",
                finished.stderr
            );
        }
        // A file, even one that keeps nothing, is an output.
        let line = format!("{} machines >/dev/null", env!("CARGO_BIN_EXE_weft"));
        assert_eq!(crate::finished(Command::new("sh").args(["-c", &line]), "").status, 0);
    }
}

/// Some editors begin a file of UTF-8 with a mark.
#[test]
fn a_mark_of_utf_8_is_passed_over() {
    let text = fs::read_to_string(root().join(COMPILE[1])).unwrap();
    let finished = weft_with(&["compile", "-"], &format!("\u{feff}{text}"));
    assert_eq!((finished.status, finished.stdout), (0, ptx()));
    let lines = "{\"attribute\": \"[lane: 1] -> [dim0: 2]\", \"shape\": [2]}\n".repeat(2);
    let plain = weft_with(&["layout", "--batch", "-"], &lines);
    let marked = weft_with(&["layout", "--batch", "-"], &format!("\u{feff}{lines}"));
    assert_eq!((marked.status, marked.stdout), (0, plain.stdout));
}

#[test]
fn a_target_that_is_no_machine_is_refused_where_nobody_asks_it_too() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("machine.json");
    fs::write(&path, "{}").unwrap();
    let layout = ["layout", "(8,64):(64,1)", "--target", path.to_str().unwrap()];
    assert_eq!(weft_with(&layout, "").status, 2);
    assert_eq!(weft("layout (8,64):(64,1) --target nothing").status, 2);
}

#[test]
fn a_weight_that_cannot_be_counted_with_is_refused() {
    let layout = "[register:(1,0),lane:(0,1)(0,2)(0,4)(0,8)(0,16)]->[dim0:2,dim1:32]";
    let line = format!("swizzle --shape 2x32 --element f32 --store {layout} --load {layout}");
    assert_eq!(weft(&format!("{line} --weights 4294967296,1")).status, 0);
    let refused = weft(&format!("{line} --weights 18446744073709551615,1"));
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("is more than 4294967296"), "{}", refused.stderr);
}
