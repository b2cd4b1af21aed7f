//! Every kernel of `kernels/`, compiled for NVIDIA's targets and for AMD's, simulated, and equal to the
//! evaluator.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use weft_api::request::{CompileRequest, EmitPort, Grid, PortRequest, RunRequest};
use weft_api::{ApiError, explain, kernels, port, run};

/// The targets that every kernel is compiled for.
const TARGETS: [&str; 8] =
    ["sm_80", "sm_89", "sm_90", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"];
/// Those whose warps have 32 lanes, as the recorded layouts do.
const NARROW: &[&str] = &["sm_80", "sm_89", "sm_90"];

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels")
}

/// The lines of a list of runs: name, grid, arguments.
pub(crate) fn runs(list: &str) -> Vec<(String, String, Vec<String>)> {
    let text = std::fs::read_to_string(folder().join(list)).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace().map(str::to_string);
            (words.next().unwrap(), words.next().unwrap(), words.collect())
        })
        .collect()
}

/// The recorded texts of a folder by kernel: those of today's version of Triton and of older ones.
fn recorded(folder: &Path, kind: &str) -> Vec<(String, PathBuf)> {
    let mut texts = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == kind) {
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
    of(&std::fs::read_to_string(path).unwrap(), grid, arguments, target)
}

pub(crate) fn of(
    text: &str,
    grid: &str,
    arguments: &[String],
    target: &str,
) -> Result<RunRequest, ApiError> {
    let mut request: RunRequest = serde_json::from_value(serde_json::json!({
        "ttir": text,
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

/// The texts with layouts, which Triton made for `sm_80` or `sm_90`.
fn with_layouts() -> Vec<(String, PathBuf)> {
    recorded(&folder().join("ttgir"), "ttgir")
}

#[test]
fn every_kernel_has_a_run() {
    let runs: Vec<String> = runs("runs").into_iter().map(|(name, ..)| name).collect();
    let mut kernels: Vec<String> =
        recorded(&folder(), "ttir").into_iter().map(|(name, _)| name).collect();
    kernels.dedup();
    let mut sorted = runs.clone();
    sorted.sort();
    assert_eq!(sorted, kernels);
}

#[test]
fn every_kernel_runs_as_the_evaluator_says_on_every_target() {
    let unordered = check(&runs("runs"), &recorded(&folder(), "ttir"), &TARGETS);
    // Its accesses were looked at; the book names them.
    let book = include_str!("../../../../docs/src/kernels.md");
    for name in &unordered {
        assert!(
            book.contains(&format!("`{name}`")),
            "{name} relies on a barrier that weft inserts"
        );
    }
    assert_eq!(unordered, BTreeSet::from(["layer_norm_backward".to_owned()]));
}

#[test]
fn every_kernel_with_layouts_runs_as_the_evaluator_says_on_every_target() {
    let known = [runs("runs"), runs("ttgir/runs")].concat();
    let texts = with_layouts();
    assert!(texts.len() >= 28, "{} texts", texts.len());
    for (kernel, path) in &texts {
        assert!(known.iter().any(|(name, ..)| name == kernel), "{} has no run", path.display());
    }
    check(&known, &texts, NARROW);
}

/// What Triton made for NVIDIA's GPUs, carried over to AMD's: it computes there what it computed.
#[test]
fn every_kernel_with_layouts_runs_as_the_evaluator_says_once_it_is_ported() {
    let texts = with_layouts().into_iter();
    let texts = texts.map(|(name, path)| (name, std::fs::read_to_string(path).unwrap()));
    assert!(ported(texts) >= 3 * 28);
}

/// The same of what Weft makes for Hopper: products of warpgroups read memory, some of it while copies of later rounds
/// are under way, and are waited for.
#[test]
fn products_of_warpgroups_run_as_the_evaluator_says_once_they_are_ported() {
    let kernels = ["matmul_f16", "gemm_f16", "linear_bf16", "flash_forward", "flash_causal"];
    let texts = kernels.map(|name| {
        let text = std::fs::read_to_string(folder().join(format!("{name}.ttir"))).unwrap();
        let text = as_ttgir(&text).unwrap();
        assert!(text.contains("ttng.warp_group_dot "), "{name}");
        (name.to_owned(), text)
    });
    assert_eq!(ported(texts.into_iter()), 3 * kernels.len());
}

/// How many runs there were of these texts for Hopper on AMD's machines, each of which was right.
fn ported(texts: impl Iterator<Item = (String, String)>) -> usize {
    let known = [runs("runs"), runs("ttgir/runs")].concat();
    let (mut ported, mut failures) = (0, Vec::new());
    for (name, text) in texts {
        let (_, grid, arguments) = known.iter().find(|(kernel, ..)| *kernel == name).unwrap();
        for target in ["gfx942", "gfx950", "gfx1100"] {
            let request = PortRequest {
                ttir: Some(text.clone()),
                from: "sm_90".into(),
                target: Some(target.into()),
                emit: Some(EmitPort::Tile),
                ..PortRequest::default()
            };
            let ran = port::port(&request).and_then(|answer| {
                let kernel = answer.kernel.unwrap();
                let lanes = answer.lanes;
                assert!(kernel.warps[0] * lanes[0] == kernel.warps[1] * lanes[1], "{name}");
                run::run(&of(&answer.text.unwrap(), grid, arguments, target)?)
            });
            match ran {
                Ok(answer) if answer.passed => ported += 1,
                Ok(answer) => failures.push(format!(
                    "{name} on {target}: {:?} {:?} {:?}",
                    answer.evaluator, answer.findings, answer.buffers
                )),
                Err(error) => failures.push(format!("{name} on {target}: {error}")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    ported
}

/// As Triton tells of buffers of up to 2 GiB: all addresses are then bases and offsets on AMD's machines.
#[test]
fn every_kernel_with_near_memory_runs_as_the_evaluator_says() {
    let texts = recorded(&folder(), "ttir");
    let (mut near, mut failures) = (0, Vec::new());
    for (name, grid, arguments) in runs("runs") {
        for (_, path) in texts.iter().filter(|(kernel, _)| *kernel == name) {
            let text = std::fs::read_to_string(path).unwrap();
            let said = "> {tt.divisibility = 16 : i32";
            let text = text.replace(said, &format!("{said}, tt.pointer_range = 32 : i32"));
            near += usize::from(text.contains("tt.pointer_range"));
            for target in ["gfx942", "gfx1100"] {
                match of(&text, &grid, &arguments, target).and_then(|request| run::run(&request)) {
                    Ok(answer) if answer.passed => {}
                    Ok(answer) => failures.push(format!(
                        "{name} on {target}: {:?} {:?} {:?}",
                        answer.evaluator, answer.findings, answer.buffers
                    )),
                    Err(error) => failures.push(format!("{name} on {target}: {error}")),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(near > 200, "{near} kernels");
}

#[test]
fn every_kernel_prints_with_its_homes_and_reads_back() {
    let examples = folder().join("../examples");
    let texts = [recorded(&folder(), "ttir"), recorded(&examples, "ttir")].concat();
    let runs = [runs("runs"), runs("ttgir/runs")].concat();
    let mut failures = Vec::new();
    for (kernel, path) in &texts {
        let text = std::fs::read_to_string(path).unwrap();
        let printed = match as_ttgir(&text) {
            Ok(printed) => printed,
            Err(error) => {
                failures.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        let again = as_ttgir(&printed);
        if again.as_ref().ok() != Some(&printed) {
            failures.push(format!("{}: {:?}", path.display(), again.err()));
            continue;
        }
        // The same accesses in the same layouts, whatever the chosen homes are called.
        if accesses(&text) != accesses(&printed) {
            failures.push(format!("{}: other accesses", path.display()));
        }
        let run = runs.iter().find(|(name, ..)| name == kernel);
        let Some((_, grid, arguments)) = run else { continue };
        let answer = of(&printed, grid, arguments, "sm_90").and_then(|request| run::run(&request));
        if !answer.as_ref().is_ok_and(|answer| answer.passed) {
            failures.push(format!("{}: {:?}", path.display(), answer.err()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// No bound is above its cost, in any report on any recorded kernel: not of registers that many lanes hold
/// alike, as plain factors of products are, and not of addresses that many elements share.
#[test]
fn no_bound_of_an_access_is_above_its_cost() {
    let examples = folder().join("../examples");
    let texts = [recorded(&folder(), "ttir"), recorded(&examples, "ttir"), with_layouts()].concat();
    let (mut seen, mut failures) = (0, Vec::new());
    for (index, (_, path)) in texts.iter().enumerate() {
        let target = NARROW[index % NARROW.len()];
        let text = std::fs::read_to_string(path).unwrap();
        let request = serde_json::json!({ "ttir": text, "target": target });
        let Ok(answer) = explain::explain(&serde_json::from_value(request).unwrap()) else {
            continue;
        };
        for price in answer.shared.iter().filter_map(|one| one.price) {
            seen += 1;
            if price.bound > price.cost || price.bound == 0 {
                failures.push(format!("{} on {target}: {price:?}", path.display()));
            }
        }
        for access in &answer.accesses {
            seen += 1;
            if access.bound > access.cost || access.bound == 0 {
                failures.push(format!("{} on {target}: {access:?}", path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(seen > 200, "{seen}");
}

/// An access that is slow says why, with what it takes and what would do.
#[test]
fn a_slow_access_says_why() {
    let reasons_on = |target: &str, name: &str, place: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder().join(name)).unwrap();
        let request = serde_json::json!({ "ttir": text, "target": target });
        let answer = explain::explain(&serde_json::from_value(request).unwrap()).unwrap();
        let here = |access: &&weft_api::answer::AccessAnswer| {
            access.place.as_ref().is_some_and(|at| at.contains(place))
        };
        answer.accesses.iter().find(here).unwrap().reasons.clone()
    };
    let reasons = |name: &str, place: &str| reasons_on("sm_90", name, place);
    let wide = "because no more are proved to follow each other, aligned and under one mask";
    assert_eq!(
        reasons("append_to_pages.ttir", "flash.py:295"),
        [
            "32 sectors where 2 would do, because neighbouring lanes are 64 bytes apart, and each moves 2",
            &format!("2 bytes a lane where 16 are possible, {wide}"),
        ]
    );
    assert_eq!(
        reasons("channels_last.ttir", "transposes.py:107"),
        [format!("4 bytes a lane where 16 are possible, {wide}")]
    );
    // Nor where the machine could move more at once than a program asks for.
    for target in ["sm_90", "sm_100"] {
        assert_eq!(reasons_on(target, "channels_last.ttir", "transposes.py:102"), [""; 0]);
    }
}

/// A kernel as TTGIR.
fn as_ttgir(text: &str) -> Result<String, ApiError> {
    let request = serde_json::json!({ "ttir": text, "target": "sm_90", "emit": ["ttgir"] });
    let request: CompileRequest = serde_json::from_value(request).unwrap();
    Ok(kernels::compile(&request)?.1.ttgir.unwrap_or_default())
}

/// How each access to memory runs: its layout, and what each instruction moves.
fn accesses(text: &str) -> Vec<(String, String, u64, u64)> {
    let request = serde_json::json!({ "ttir": text, "target": "sm_90" });
    let answer = explain::explain(&serde_json::from_value(request).unwrap()).unwrap();
    let access = |access: weft_api::answer::AccessAnswer| {
        (access.operation, access.layout, access.vector_bytes, access.sectors)
    };
    answer.accesses.into_iter().map(access).collect()
}

/// A reviewer finds every product, load of shared memory and barrier of attention with its price, and why.
#[test]
fn attention_is_explained_as_far_as_its_barriers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/flash_forward.ttir");
    let text = std::fs::read_to_string(path).unwrap();
    let explained = |target: &str| {
        let request = serde_json::json!({ "ttir": text, "target": target });
        explain::explain(&serde_json::from_value(request).unwrap()).unwrap()
    };
    // By instructions of a warpgroup 64 x 64 x 16; the factors are read where copies put them.
    let hopper = explained("sm_90");
    for product in &hopper.products {
        assert_eq!((&*product.how, product.runs), ("wgmma.m64n64k16.f32.f16.f16", 4));
    }
    assert!(hopper.barriers.iter().all(|barrier| !barrier.reasons.is_empty()));
    let answer = explained("sm_80");
    // 64 x 64 x 64 by instructions of 16 x 8 x 16, over four warps.
    let products: Vec<_> = answer.products.iter().map(|product| product.runs).collect();
    assert_eq!(products, [32, 32]);
    assert!(answer.products.iter().all(|product| product.cost == product.bound));
    let loads: Vec<_> = answer.shared.iter().filter_map(|one| Some((one.price?, one))).collect();
    assert_eq!(loads.len(), 2);
    assert!(loads.iter().all(|(price, load)| price.cost >= price.bound && load.times == 16));
    assert!(loads.iter().all(|(_, load)| load.kind == "load" && load.counted.is_some()));
    assert!(answer.accesses.iter().all(|access| access.cost >= access.bound));
    let scopes: Vec<_> = answer.barriers.iter().map(|barrier| barrier.scope).collect();
    assert!(!scopes.is_empty() && scopes.iter().all(|scope| *scope == "block"), "{scopes:?}");
    assert!(answer.barriers.iter().all(|barrier| !barrier.reasons.is_empty()));
    let inside = answer.barriers.iter().find(|barrier| !barrier.loops.is_empty()).unwrap();
    assert!(inside.reasons.iter().any(|reason| reason.starts_with("what was copied is loaded")));
    let report = weft_api::report::explain(&answer);
    for section in ["homes", "products", "movements", "accesses", "barriers"] {
        assert!(report.contains(&format!("\n{section}\n")), "{section} in {report}");
    }
}

/// Two products at one place of the source, such as by a helper that is inlined twice, are counted apart.
#[test]
fn products_are_counted_one_by_one() {
    let dot = |name: &str, sum: &str| {
        format!(
            "%{name} = tt.dot %ones, %ones, {sum} : tensor<64x64xf16> * tensor<64x64xf16> -> \
             tensor<64x64xf32>\n"
        )
    };
    let text = format!(
        "module {{ tt.func public @twice(%out: !tt.ptr<f32>) {{
         %ones = arith.constant dense<1.0> : tensor<64x64xf16>
         %zero = arith.constant dense<0.0> : tensor<64x64xf32>
         {}{}%at = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
         tt.store %at, %second : tensor<64x64x!tt.ptr<f32>>
         tt.return }} }}",
        dot("first", "%zero"),
        dot("second", "%first"),
    );
    let request = serde_json::json!({ "ttir": text, "target": "sm_80" });
    let answer = explain::explain(&serde_json::from_value(request).unwrap()).unwrap();
    let runs: Vec<_> = answer.products.iter().map(|product| product.runs).collect();
    assert_eq!(runs, [32, 32]);
}

/// Runs every text on every target; gives the kernels that rely on barriers which weft inserts.
fn check(
    runs: &[(String, String, Vec<String>)],
    texts: &[(String, PathBuf)],
    targets: &[&str],
) -> BTreeSet<String> {
    let (mut unordered, mut failures) = (BTreeSet::new(), Vec::new());
    for (name, grid, arguments) in runs {
        for (_, path) in texts.iter().filter(|(kernel, _)| kernel == name) {
            for &target in targets {
                let answer = request(path, grid, arguments, target).and_then(|r| run::run(&r));
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                match answer {
                    Ok(answer) if answer.passed => {
                        if !answer.unordered.is_empty() {
                            unordered.insert(name.clone());
                        }
                    }
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
    unordered
}
