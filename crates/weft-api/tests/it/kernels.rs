//! Every kernel of `kernels/`, compiled for NVIDIA's targets and for AMD's with 64 lanes, simulated, and
//! equal to the evaluator.

use std::path::{Path, PathBuf};
use weft_api::request::{Grid, RunRequest};
use weft_api::{ApiError, run};

/// The targets that every kernel is compiled for.
const TARGETS: [&str; 5] = ["sm_80", "sm_89", "sm_90", "gfx90a", "gfx942"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels")
}

/// The lines of `kernels/runs`: name, grid, arguments.
fn runs() -> Vec<(String, String, Vec<String>)> {
    let text = std::fs::read_to_string(folder().join("runs")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace().map(str::to_string);
            (words.next().unwrap(), words.next().unwrap(), words.collect())
        })
        .collect()
}

/// The recorded texts of the folder by kernel: those of today's version of Triton and of older ones.
fn recorded() -> Vec<(String, PathBuf)> {
    let mut texts = Vec::new();
    for entry in folder().read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ttir") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let kernel = name.split('.').next().unwrap_or_default().to_string();
            texts.push((kernel, path));
        }
    }
    texts.sort();
    texts
}

fn request(
    path: &Path,
    grid: &str,
    arguments: &[String],
    target: &str,
) -> Result<RunRequest, ApiError> {
    let mut request: RunRequest = serde_json::from_value(serde_json::json!({
        "ttir": std::fs::read_to_string(path).unwrap(),
        "target": target,
        "grid": 1,
    }))
    .unwrap();
    request.grid = Grid::parse(grid)?;
    for argument in arguments {
        request.args.push(argument)?;
    }
    Ok(request)
}

#[test]
fn every_kernel_has_a_run() {
    let runs: Vec<String> = runs().into_iter().map(|(name, ..)| name).collect();
    let mut kernels: Vec<String> = recorded().into_iter().map(|(name, _)| name).collect();
    kernels.dedup();
    let mut sorted = runs.clone();
    sorted.sort();
    assert_eq!(sorted, kernels);
}

#[test]
fn every_kernel_runs_as_the_evaluator_says_on_every_target() {
    let texts = recorded();
    let mut failures = Vec::new();
    for (name, grid, arguments) in runs() {
        for (_, path) in texts.iter().filter(|(kernel, _)| *kernel == name) {
            for target in TARGETS {
                let answer = request(path, &grid, &arguments, target).and_then(|r| run::run(&r));
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                match answer {
                    Ok(answer) if answer.passed => {}
                    Ok(answer) => failures.push(format!(
                        "{file} on {target}: {:?} {:?} {:?}",
                        answer.evaluator, answer.findings, answer.buffers
                    )),
                    Err(error) => failures.push(format!("{file} on {target}: {error}")),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
