//! Runs of recorded kernels through the command.

use crate::root;
use anyhow::{Context as _, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel with a grid and arguments, as the command takes them.
pub(crate) struct Run {
    /// The file, from the repository's root, without its ending.
    pub(crate) kernel: &'static str,
    /// The grid.
    pub(crate) grid: &'static str,
    /// The arguments, separated by spaces.
    pub(crate) arguments: &'static str,
}

const fn run(kernel: &'static str, grid: &'static str, arguments: &'static str) -> Run {
    Run { kernel, grid, arguments }
}

/// Runs long enough to be timed.
pub(crate) const LARGE: &[Run] = &[
    run(
        "examples/vector_add",
        "1024",
        "x=random:f32[1048576] y=random:f32[1048576] out=empty:f32[1048576] n=1048576",
    ),
    run("examples/row_softmax", "1024", "x=random:f32[1024x1008] out=empty:f32[1024x1008] n=1008"),
    run(
        "examples/tiled_transpose",
        "16x16",
        "x=random:f32[1024x1024] out=empty:f32[1024x1024] m=1024 n=1024",
    ),
    run(
        "examples/matmul",
        "4x4",
        "a=random:f32[256x256] b=random:f32[256x256] c=empty:f32[256x256] m=256 n=256 k=256",
    ),
    run(
        "examples/spin_counter",
        "64",
        "slots=zeros:i32[64] arrivals=zeros:i32[1] out=empty:i32[64]",
    ),
];

/// Small runs of every kernel that has a right answer, with masked tails where it has masks.
pub(crate) const SMALL: &[Run] = &[
    run(
        "examples/vector_add",
        "4",
        "x=random:f32[4096] y=random:f32[4096] out=empty:f32[4096] n=4000",
    ),
    run("examples/row_softmax", "8", "x=random:f32[8x1008] out=empty:f32[8x1008] n=1008"),
    run(
        "examples/tiled_transpose",
        "3x2",
        "x=random:f32[160x112] out=empty:f32[112x160] m=160 n=112",
    ),
    run(
        "examples/matmul",
        "2x3",
        "a=random:f32[96x48] b=random:f32[48x160] c=empty:f32[96x160] m=96 n=160 k=48",
    ),
    run(
        "crates/weft/tests/kernels/softmax_rows",
        "3",
        "x=random:f32[1000] out=empty:f32[1000] m=10 n=100",
    ),
    run("crates/weft/tests/kernels/column_sum", "2", "x=random:f32[64x64] out=empty:f32[64] n=64"),
    run(
        "crates/weft/tests/kernels/argmax",
        "6",
        "x=random:i32[1200] values=empty:i32[6] indices=empty:i32[6] n=200",
    ),
    run(
        "crates/weft/tests/kernels/integer_mix",
        "2",
        "x=random:i32[500] y=ones:i32[500] out=empty:i32[500] n=500",
    ),
    run(
        "crates/weft/tests/kernels/cast_chain",
        "2",
        "x=random:f32[512] halves=empty:f16[512] brains=empty:bf16[512] sums=empty:f32[512]",
    ),
    run(
        "crates/weft/tests/kernels/layer_norm",
        "3",
        "x=random:f32[900] weight=random:f32[300] bias=random:f32[300] out=empty:f32[900] n=300 \
         epsilon=1e-5",
    ),
    run(
        "crates/weft/tests/kernels/count_digits",
        "3",
        "x=range:i32[700] counts=zeros:i32[10] n=700",
    ),
    run(
        "crates/weft/tests/kernels/running_balance",
        "4",
        "x=random:i32[120] out=empty:i32[120] n=30",
    ),
    run(
        "crates/weft/tests/kernels/add_transposed",
        "1",
        "x=random:f32[2048] y=random:f32[2048] bias=random:f32[64] out=empty:f32[2048]",
    ),
    run(
        "crates/weft/tests/kernels/reverse_gather",
        "3",
        "x=random:f32[300] indices=range:i32[300] reversed=empty:f32[300] gathered=empty:f32[300] n=300",
    ),
    run(
        "crates/weft/tests/kernels/matmul_f16",
        "2x3",
        "a=random:f16[128x64] b=random:f16[64x96] c=empty:f32[128x96] n=96 k=64",
    ),
    run(
        "crates/weft/tests/kernels/early_return",
        "4",
        "x=random:f32[300] out=empty:f32[300] n=300",
    ),
];

/// A run of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Job {
    /// The run in a table.
    pub(crate) title: String,
    /// The Triton IR.
    pub(crate) file: PathBuf,
    /// The grid.
    pub(crate) grid: String,
    /// The arguments, separated by spaces.
    pub(crate) arguments: String,
}

/// The runs of every kernel of `kernels/`, as its file `runs` lists them.
pub(crate) fn of_kernels() -> anyhow::Result<Vec<Job>> {
    of_list("kernels/runs")
}

/// The runs of the examples whose TTGIR is recorded in `kernels/ttgir`.
pub(crate) fn of_given() -> anyhow::Result<Vec<Job>> {
    of_list("kernels/ttgir/runs")
}

fn of_list(path: &str) -> anyhow::Result<Vec<Job>> {
    let path = root().join(path);
    let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    listed(&text)
}

/// The runs that a text lists: a kernel, a grid and arguments a line; `#` begins a comment.
fn listed(text: &str) -> anyhow::Result<Vec<Job>> {
    let lines = text.lines().zip(1..).filter(|(line, _)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    lines
        .map(|(line, number)| {
            let mut words = line.split_whitespace();
            let (Some(name), Some(grid)) = (words.next(), words.next()) else {
                bail!("line {number} of `kernels/runs` has no grid: {line}");
            };
            Ok(Job {
                title: format!("`{name}`, grid {grid}"),
                file: root().join(format!("kernels/{name}.ttir")),
                grid: grid.into(),
                arguments: words.collect::<Vec<_>>().join(" "),
            })
        })
        .collect()
}

impl Run {
    /// The run in a table.
    pub(crate) fn title(&self) -> String {
        let name = self.kernel.rsplit('/').next().unwrap_or(self.kernel);
        format!("`{name}`, grid {}", self.grid)
    }

    /// The run of this kernel's file.
    pub(crate) fn job(&self) -> Job {
        Job {
            title: self.title(),
            file: root().join(format!("{}.ttir", self.kernel)),
            grid: self.grid.into(),
            arguments: self.arguments.into(),
        }
    }

    /// Runs it; the exit status may say that something was found wrong.
    pub(crate) fn run(&self, weft: &Path, more: &[&str]) -> anyhow::Result<Ran> {
        let file = format!("{}.ttir", self.kernel);
        run_file(weft, Path::new(&file), self.grid, self.arguments, more)
    }
}

/// Runs a file of Triton IR.
pub(crate) fn run_file(
    weft: &Path,
    file: &Path,
    grid: &str,
    arguments: &str,
    more: &[&str],
) -> anyhow::Result<Ran> {
    let mut command = Command::new(weft);
    command.arg("run").arg(file).args(["--grid", grid, "--json"]);
    for argument in arguments.split_whitespace() {
        command.args(["--arg", argument]);
    }
    let output = command.args(more).output().with_context(|| {
        format!("{} could not be started; build it or name it by --weft", weft.display())
    })?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !matches!(output.status.code(), Some(0 | 1)) {
        let answer = String::from_utf8_lossy(&output.stdout);
        bail!("{} failed: {said}{answer}", file.display());
    }
    // What kernels print on a device comes before the answer, which is the last line.
    let answer = String::from_utf8_lossy(&output.stdout);
    let answer = serde_json::from_str(answer.lines().next_back().unwrap_or_default())?;
    Ok(Ran { answer, said })
}

/// What a run answered.
pub(crate) struct Ran {
    answer: Value,
    said: String,
}

impl Ran {
    fn at(&self, path: &[&str]) -> anyhow::Result<&Value> {
        let found = path.iter().try_fold(&self.answer, |value, key| value.get(key));
        found.with_context(|| format!("the answer has no `{}`", path.join(".")))
    }

    /// Whether nothing was found wrong.
    pub(crate) fn passed(&self) -> anyhow::Result<bool> {
        self.at(&["passed"])?.as_bool().context("`passed` is no truth value")
    }

    /// A number of the answer.
    pub(crate) fn number(&self, path: &[&str]) -> anyhow::Result<f64> {
        self.at(path)?.as_f64().with_context(|| format!("`{}` is no number", path.join(".")))
    }

    /// A list of the answer.
    pub(crate) fn list(&self, path: &[&str]) -> anyhow::Result<&[Value]> {
        let list = self.at(path)?.as_array();
        Ok(list.with_context(|| format!("`{}` is no list", path.join(".")))?)
    }

    /// A duration that `--time` printed.
    pub(crate) fn milliseconds(&self, stage: &str) -> anyhow::Result<f64> {
        let line = self.said.lines().find_map(|line| line.strip_prefix(stage));
        let value = line.and_then(|line| line.split_whitespace().next());
        value
            .and_then(|value| value.parse().ok())
            .with_context(|| format!("no time of `{stage}` in: {}", self.said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_kernel_a_grid_and_arguments() {
        let jobs = listed("# no run\n\nadd  2x3   x=ones:f32[8]   n=8\nnothing 1\n").unwrap();
        let all: Vec<(&str, &str, &str)> =
            jobs.iter().map(|job| (&*job.title, &*job.grid, &*job.arguments)).collect();
        assert_eq!(
            all,
            [("`add`, grid 2x3", "2x3", "x=ones:f32[8] n=8"), ("`nothing`, grid 1", "1", "")]
        );
        let refused = listed("add 1\nadd\n").unwrap_err().to_string();
        assert_eq!(refused, "line 2 of `kernels/runs` has no grid: add");
    }

    #[test]
    fn every_recorded_kernel_has_a_run() {
        let jobs = of_kernels().unwrap();
        for entry in std::fs::read_dir(root().join("kernels")).unwrap() {
            let path = entry.unwrap().path();
            let older = path.with_extension("").extension().is_some_and(|end| end == "6");
            if path.extension().is_some_and(|end| end == "ttir") && !older {
                assert!(jobs.iter().any(|job| job.file == path), "{} has no run", path.display());
            }
        }
        assert!(jobs.iter().all(|job| job.file.exists()));
    }
}
