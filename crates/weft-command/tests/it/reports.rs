//! `weft run` on kernels that are right and on kernels that are wrong.

use crate::weft;

#[test]
fn more_spinning_blocks_than_start_together() {
    let finished = weft(
        "run examples/spin_counter.ttir --grid 64 --arg slots=empty:i32[64] \
         --arg arrivals=zeros:i32[1] --arg out=empty:i32[64]",
    );
    assert_eq!(finished.status, 0, "{}", finished.stdout);
}

#[test]
fn reading_what_nobody_wrote() {
    let finished = weft(
        "run examples/vector_add.ttir --grid 1 --arg x=empty:f32[1024] --arg y=ones:f32[1024] \
         --arg out=empty:f32[1024] --arg n=1024",
    );
    assert_eq!(finished.status, 1);
    assert!(finished.stdout.contains("\nuninitialised: "), "{}", finished.stdout);
    assert!(finished.stdout.contains("examples/vector_add.py:15:"), "{}", finished.stdout);
}

#[test]
fn another_seed_gives_other_values_and_the_same_report() {
    let line = "run examples/row_softmax.ttir --grid 1 --arg x=random:f32[512] \
                --arg out=empty:f32[512] --arg n=512 --json --seed";
    let (first, again, other) =
        (weft(&format!("{line} 1")), weft(&format!("{line} 1")), weft(&format!("{line} 2")));
    assert_eq!(first.stdout, again.stdout);
    assert_ne!(first.stdout, other.stdout);
}

#[test]
fn a_kernel_comes_through_standard_input() {
    let text = std::fs::read_to_string(crate::root().join("examples/vector_add.ttir")).unwrap();
    let arguments = ["compile", "-", "--target", "sm_80"];
    let finished = crate::weft_with(&arguments, &text);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stdout.starts_with(".version 7.0\n.target sm_80\n"), "{}", finished.stdout);
}

#[test]
fn every_example_compiles_for_every_promised_target_in_every_form() {
    for name in
        ["matmul", "row_softmax", "spin_counter", "spin_deadlock", "tiled_transpose", "vector_add"]
    {
        for target in ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"] {
            let finished = weft(&format!("compile examples/{name}.ttir --target {target}"));
            assert_eq!(finished.status, 0, "{}", finished.stderr);
            assert!(finished.stdout.contains(&format!(".visible .entry {name}(")));
        }
        for (emit, holds) in
            [("tile", "tt.func public @"), ("lane", "lane @"), ("report", "\nlayouts\n")]
        {
            let finished = weft(&format!("compile examples/{name}.ttir --emit {emit}"));
            assert_eq!(finished.status, 0, "{}", finished.stderr);
            assert!(finished.stdout.contains(holds), "{}", finished.stdout);
        }
    }
}

#[test]
fn a_pass_can_be_looked_at() {
    let finished = weft("compile examples/row_softmax.ttir --dump-after lower");
    assert!(finished.stdout.starts_with("lane @row_softmax("), "{}", finished.stdout);
    let finished = weft("compile examples/row_softmax.ttir --dump-after weave");
    assert_eq!(finished.status, 2);
    assert!(finished.stderr.contains("there is no pass `weave`; there are lower, "));
}

#[test]
fn the_output_can_go_to_a_file() {
    let path = std::env::temp_dir().join(format!("weft-{}.ptx", std::process::id()));
    let name = path.display().to_string();
    let finished = crate::weft_with(&["compile", "examples/vector_add.ttir", "-o", &name], "");
    assert_eq!((finished.status, &*finished.stdout), (0, ""), "{}", finished.stderr);
    assert!(std::fs::read_to_string(&path).unwrap().contains(".visible .entry vector_add("));
    std::fs::remove_file(path).unwrap();
}
