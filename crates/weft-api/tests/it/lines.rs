//! What is told of the lines of a text.

use std::path::Path;
use weft_api::answer::LineAnswer;
use weft_api::explain::explain;
use weft_api::request::{CompileRequest, ExplainRequest, RunRequest};
use weft_api::{kernels, run};

fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn read<T: serde::de::DeserializeOwned>(request: serde_json::Value) -> T {
    serde_json::from_value(request).unwrap()
}

#[test]
fn what_lines_cost_is_what_everything_costs() {
    for name in ["row_softmax", "tiled_transpose", "matmul", "mxfp4_product", "spin_counter"] {
        let ttir = text(&format!("{name}.ttir"));
        let ask = |text_places: bool| {
            let request = serde_json::json!({ "ttir": ttir, "text_places": text_places });
            explain(&read::<ExplainRequest>(request)).unwrap()
        };
        let answer = ask(true);
        let all: u64 = answer.lines.iter().map(|line| line.cost).sum();
        let products: u64 = answer.products.iter().map(|one| one.cost * one.times).sum();
        let spent = answer.spent;
        assert_eq!(all, spent.movements + spent.accesses + spent.work + products, "{name}");
        assert!(all > 0 && answer.lines.is_sorted_by_key(|line| line.line), "{name}");
        assert_eq!(ask(false).lines, []);
    }
}

/// What calls are inlined leads from the library to the user's line.
#[test]
fn lines_know_where_they_stand_in_the_users_source() {
    let (ttir, source) = (text("row_softmax.ttir"), text("row_softmax.py"));
    let request = serde_json::json!({ "ttir": ttir, "text_places": true });
    let answer = explain(&read::<ExplainRequest>(request)).unwrap();
    let at = |what: &str| -> &LineAnswer {
        let line = ttir.lines().position(|line| line.contains(what)).unwrap() as u32 + 1;
        answer.lines.iter().find(|known| known.line == line).unwrap()
    };
    let user = |known: &LineAnswer| -> String {
        let place =
            known.sources.iter().find_map(|place| place.strip_prefix("examples/row_softmax.py:"));
        let line: usize = place.unwrap().split(':').next().unwrap().parse().unwrap();
        source.lines().nth(line - 1).unwrap().trim().into()
    };
    assert_eq!(
        user(at("tt.load")),
        "row = tl.load(x + start + columns, mask=mask, other=-float(\"inf\"))"
    );
    let reduction = at("%weights = \"tt.reduce\"");
    assert!(reduction.sources[0].starts_with("triton/language/standard.py:"), "{reduction:?}");
    assert_eq!(user(reduction), "weights = tl.exp(row - tl.max(row, axis=0))");
}

#[test]
fn code_and_findings_name_lines_of_the_text_where_these_are_asked_for() {
    let ttir = text("racing_count.ttir");
    let line = |what: &str| ttir.lines().position(|line| line.contains(what)).unwrap() + 1;
    let (load, store) = (line("tt.load %count"), line("tt.store %count"));
    let request = serde_json::json!({ "ttir": ttir, "text_places": true });
    let (_, compiled) = kernels::compile(&read::<CompileRequest>(request)).unwrap();
    let ptx = compiled.ptx.unwrap();
    assert!(ptx.contains(&format!("// text:{load}\n")) && !ptx.contains("racing_count.py"));
    let args = serde_json::json!({ "x": "random:f32[4096]", "count": "zeros:i32[1]", "n": 4096 });
    let request = serde_json::json!({ "ttir": ttir, "grid": 4, "args": args, "text_places": true });
    let answer = run::run(&read::<RunRequest>(request)).unwrap();
    let place = |line: usize| Some(format!("text:{line}:5"));
    let race = answer.findings.iter().find(|found| found.kind == "race").unwrap();
    assert_eq!(race.actor.place, place(store));
    assert!([place(load), place(store)].contains(&race.other.as_ref().unwrap().place));
    // What operations took is what the run took.
    let all = |space: &str| {
        let of = answer.accesses.iter().filter(|access| access.space == space);
        of.fold((0, 0), |(cost, ideal), access| (cost + access.cost, ideal + access.ideal))
    };
    let counts = answer.counts;
    assert_eq!(all("global"), (counts.global_sectors, counts.ideal_global_sectors));
    assert_eq!(all("shared"), (counts.shared_wavefronts, counts.ideal_shared_wavefronts));
    assert!(
        answer.accesses.iter().all(|access| access.executions > 0 && access.cost >= access.ideal)
    );
}

/// PTX tells debuggers and profilers of lines when it is asked to, of the library's that were inlined with
/// the user's that called them; nothing else of it changes but the version that this needs.
#[test]
fn ptx_tells_debuggers_and_profilers_of_lines() {
    let ptx = |line_info: bool, emit: &str| {
        let request = serde_json::json!({
            "ttir": text("row_softmax.ttir"), "target": "sm_80", "line_info": line_info, "emit": [emit],
        });
        kernels::compile(&read::<CompileRequest>(request))
            .map(|(_, answer)| answer.ptx.unwrap_or_default())
    };
    let (plain, told) = (ptx(false, "ptx").unwrap(), ptx(true, "ptx").unwrap());
    assert!(!plain.contains(".loc") && !plain.contains(".file"));
    let source = text("row_softmax.py");
    let load = 1 + source.lines().position(|line| line.contains("tl.load")).unwrap();
    let max = 1 + source.lines().position(|line| line.contains("tl.max")).unwrap();
    assert!(told.contains(&format!("  .loc 1 {load} 11\n")), "{told}");
    let inlined =
        |line: &&str| line.contains(".loc 2 ") && line.contains(&format!("inlined_at 1 {max} "));
    assert!(told.lines().any(|line| inlined(&line)), "{told}");
    let tables = told.split_once(".file 1 ").unwrap().1;
    let library = "standard.py".bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ");
    assert!(tables.starts_with("\"examples/row_softmax.py\"\n.file 2 "), "{tables}");
    assert!(tables.contains(&format!(".b8 {library}, 0\n")), "{tables}");
    let instructions = |text: &str| -> Vec<String> {
        let text = text.split("\n.file 1 ").next().unwrap();
        let kept = |line: &&str| !line.contains(".loc ") && !line.starts_with(".version");
        text.lines().filter(kept).map(str::to_string).collect()
    };
    assert_eq!(instructions(&plain), instructions(&told));
    assert!(ptx(true, "cuda").unwrap_err().to_string().contains("in PTX alone"));
}
