//! Every recorded kernel, every scalar operation and a choice of conversions through the compilers of
//! others.

use crate::kernels::{self, Kernel, in_folder};
use crate::share::Share;
use crate::{operations, say};
use anyhow::{Context as _, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use weft::budget::Bounds;
use weft::conversion;
use weft::dtype::DType;
use weft::emit::ptx::{self, LineInfo, Registers};
use weft::emit::{self, Language, Target, Unsupported, launcher};
use weft::lane::Program;
use weft_api::probe::{Device, Probe};
use weft_layout::family::Blocked;
use weft_layout::machine::Machine;
use weft_layout::{Layout, plan};

/// Whose judgement is asked for.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Compiler {
    /// NVIDIA's assembler, on PTX; `WEFT_PTXAS` names it.
    Ptxas,
    /// NVIDIA's compiler, on CUDA C++; `WEFT_NVCC` names it, `WEFT_NVCC_FLAGS` may say where headers
    /// are.
    Nvcc,
    /// A clang that knows AMD's GPUs, on HIP C++; `WEFT_CLANG` names it.
    Clang,
    /// A compiler of C, on the headers that launch kernels; `WEFT_CC` names it.
    Cc,
}

impl Compiler {
    fn language(self) -> Language {
        match self {
            Compiler::Ptxas | Compiler::Cc => Language::Ptx,
            Compiler::Nvcc => Language::Cuda,
            Compiler::Clang => Language::Hip,
        }
    }

    /// The text of a kernel that it reads.
    fn print(self, program: &Program, target: Target) -> Result<String, Unsupported> {
        match (self, target) {
            (Compiler::Cc, Target::Nvidia(target)) => {
                launcher::print(program, target, Registers::Balanced, LineInfo::Omitted)
            }
            // What profilers are told must be as the assembler wants it, too.
            (Compiler::Ptxas, Target::Nvidia(target)) => {
                let (registers, lines) = (Registers::Balanced, LineInfo::Written);
                ptx::print_within(program, target, registers, lines, &Bounds::default())
            }
            _ => emit::print(program, self.language(), target),
        }
    }

    /// The targets that the project promises code for.
    fn targets(self) -> &'static [&'static str] {
        match self {
            Compiler::Ptxas => &["sm_80", "sm_89", "sm_90", "sm_100"],
            Compiler::Nvcc => &["sm_80", "sm_89", "sm_90", "sm_100", "sm_120"],
            Compiler::Clang => &["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"],
            // The target is a word in the text.
            Compiler::Cc => &["sm_90"],
        }
    }

    /// The texts that a target is given unless it is asked for by name: clang, which takes its time, has every
    /// text for gfx942 and each for one of the others in turn.
    fn share(self, target: &str, samples: Vec<Sample>) -> Vec<Sample> {
        if self != Compiler::Clang || target == "gfx942" {
            return samples;
        }
        let others: Vec<&str> =
            self.targets().iter().copied().filter(|&name| name != "gfx942").collect();
        let taken = |index: &usize| others.get(index % others.len()) == Some(&target);
        let shared = samples.into_iter().enumerate().filter(|(index, _)| taken(index));
        shared.map(|(_, sample)| sample).collect()
    }

    fn program(self) -> anyhow::Result<OsString> {
        let (variable, what) = match self {
            Compiler::Ptxas => {
                ("WEFT_PTXAS", "the ptxas of a CUDA toolkit or of PyPI's nvidia-cuda-nvcc")
            }
            Compiler::Nvcc => {
                ("WEFT_NVCC", "the nvcc of a CUDA toolkit or of PyPI's nvidia-cuda-nvcc")
            }
            Compiler::Clang => ("WEFT_CLANG", "a clang for AMD's GPUs"),
            Compiler::Cc => ("WEFT_CC", "a compiler of C11 that takes gcc's flags"),
        };
        let program = std::env::var_os(variable);
        program.with_context(|| format!("{variable} is not set: it names {what}"))
    }

    /// How many texts are given at once: what a compiler reads before each is much.
    fn together(self) -> usize {
        match self {
            Compiler::Nvcc => 16,
            Compiler::Ptxas | Compiler::Clang | Compiler::Cc => 1,
        }
    }

    /// The ending of a text's file.
    fn ending(self) -> &'static str {
        match self {
            Compiler::Ptxas => "ptx",
            Compiler::Nvcc => "cu",
            Compiler::Clang => "hip",
            Compiler::Cc => "c",
        }
    }

    fn arguments(self, target: &str, is_kernel: bool) -> Vec<String> {
        let own = |arguments: &[&str]| arguments.iter().map(ToString::to_string).collect();
        match self {
            Compiler::Cc => own(&["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c"]),
            Compiler::Ptxas if is_kernel => own(&["--gpu-name", target, "--warning-as-error"]),
            // A function is called from another object.
            Compiler::Ptxas => own(&["--gpu-name", target, "--warning-as-error", "--compile-only"]),
            Compiler::Nvcc => {
                let mut arguments = own(&["-std=c++17", "-cubin", "-Werror=all-warnings"]);
                arguments.push(format!("-arch={target}"));
                let flags = std::env::var("WEFT_NVCC_FLAGS").unwrap_or_default();
                arguments.extend(flags.split_whitespace().map(ToOwned::to_owned));
                arguments
            }
            Compiler::Clang => {
                let mut arguments = own(&[
                    "-x",
                    "hip",
                    "-std=c++17",
                    "--cuda-device-only",
                    // The bundler is in a package of its own.
                    "--no-gpu-bundle-output",
                    "-nogpulib",
                    "-nogpuinc",
                    "-O3",
                    "-Werror",
                ]);
                arguments.push(format!("--offload-arch={target}"));
                // What `printf` calls is in AMD's device library, which is not needed to judge a text.
                for function in ["begin", "append_args", "append_string_n"] {
                    arguments.push("-Xoffload-linker".into());
                    arguments.push(format!("--defsym=__ockl_printf_{function}=0"));
                }
                arguments
            }
        }
    }
}

/// A text, or why there is none.
struct Sample {
    name: String,
    text: anyhow::Result<String>,
    is_kernel: bool,
}

impl Sample {
    /// The target that the text states.
    fn stated(&self) -> Option<&str> {
        self.text.as_deref().ok().and_then(stated)
    }

    /// The name without what tells one recording of a kernel from another.
    fn stem(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }
}

/// Prints everything, compiles it or one text in so many, and fails with every text that was refused.
pub(crate) fn run(compiler: Compiler, only: Option<&str>, one_in: usize) -> anyhow::Result<()> {
    let share = Share::one_in(one_in)?;
    let program = compiler.program()?;
    let mut kernels = in_folder("examples")?;
    kernels.extend(in_folder("crates/weft/tests/kernels")?);
    kernels.extend(in_folder("kernels")?);
    if compiler != Compiler::Clang {
        // Their layouts are for warps of 32 lanes.
        kernels.extend(in_folder("kernels/ttgir")?);
    }
    kernels.extend(
        operations::all()
            .into_iter()
            .map(|sweep| Kernel { name: sweep.name.clone(), text: sweep.text() }),
    );
    let (mut all, mut taken) = (0, 0);
    let mut counts = Vec::new();
    let mut failures = Vec::new();
    for (number, &name) in compiler.targets().iter().enumerate() {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let target = Target::by_name(name).with_context(|| format!("no printer for `{name}`"))?;
        let mut samples = Vec::new();
        for kernel in &kernels {
            let texts = kernels::to_texts(&kernel.text, target, |program, target| {
                compiler.print(program, target)
            });
            let texts = texts
                .map_or_else(|error| vec![Err(error)], |all| all.into_iter().map(Ok).collect());
            let sample = |text| Sample { name: kernel.name.clone(), text, is_kernel: true };
            samples.extend(texts.into_iter().map(sample));
        }
        if compiler != Compiler::Cc {
            samples.extend(conversions(compiler.language(), target)?);
        }
        if compiler == Compiler::Ptxas {
            samples.extend(probes(name)?);
        }
        if only.is_none() {
            samples = compiler.share(name, samples);
        }
        // Each target's share is another, so that a day sees more kernels. What could not be printed is told
        // every day.
        let mut indices = number..;
        all += samples.len();
        samples.retain(|sample| {
            indices.next().is_some_and(|index| share.takes(index)) || sample.text.is_err()
        });
        taken += samples.len();
        let refused = judge(&program, compiler, name, &samples)?;
        let accepted = samples.len() - refused.len();
        failures.extend(refused);
        counts.push(format!("{accepted} for {name}"));
    }
    ensure!(!counts.is_empty(), "the targets are {}", compiler.targets().join(", "));
    say(&format!("texts accepted by {}: {}", program.to_string_lossy(), counts.join(", ")));
    if share != Share::WHOLE {
        say(&format!("share: {taken} of {all} texts, {share}; the other shares on other days"));
    }
    if !failures.is_empty() {
        bail!("{} texts were not accepted:\n{}", failures.len(), failures.join("\n"));
    }
    Ok(())
}

/// Has every text judged, several at a time; gives what was said of those that were refused, in order.
fn judge(
    program: &OsStr,
    compiler: Compiler,
    target: &str,
    samples: &[Sample],
) -> anyhow::Result<Vec<String>> {
    let folder = Folder(std::env::temp_dir().join(format!("weft-validate-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0)?;
    let groups = groups(samples, compiler.together());
    let next = AtomicUsize::new(0);
    let refused = Mutex::new(BTreeMap::new());
    let judged = |indices: &[usize], text: &str| {
        let sample = &samples[indices[0]];
        let arguments = compiler.arguments(stated(text).unwrap_or(target), sample.is_kernel);
        let source = folder.0.join(format!("{}.{}", indices[0], compiler.ending()));
        compile(program, &arguments, text, &source)
    };
    let work = || {
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            let texts: Vec<&str> =
                group.iter().filter_map(|&at| samples[at].text.as_deref().ok()).collect();
            if group.len() > 1 && judged(group, &side_by_side(&texts)).is_ok() {
                continue;
            }
            // Each by itself, to know which is refused and why.
            for &index in group {
                let sample = &samples[index];
                let result = match &sample.text {
                    Ok(text) => judged(&[index], text),
                    Err(error) => Err(anyhow::anyhow!("{error}")),
                };
                if let (Err(error), Ok(mut refused)) = (result, refused.lock()) {
                    refused.insert(index, format!("{} {target}: {error}", sample.name));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let refused = refused.into_inner().map_err(|_| anyhow::anyhow!("a compiler's thread ended"))?;
    Ok(refused.into_values().collect())
}

/// The target that a text in PTX or CUDA states: what only an architecture has makes it more than was asked for.
pub(crate) fn stated(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let flags = || line.strip_prefix("// Compile: nvcc ")?.split_once("-arch=");
        let flag = || flags()?.1.split_whitespace().next();
        line.strip_prefix(".target ").or_else(flag)
    })
}

/// The texts by number, in groups of at most so many for one target whose names differ; one that is none is
/// alone.
fn groups(samples: &[Sample], most: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, sample) in samples.iter().enumerate() {
        let takes = |group: &&mut Vec<usize>| {
            group.len() < most
                && group.iter().all(|&other| {
                    let other = &samples[other];
                    other.text.is_ok()
                        && other.stated() == sample.stated()
                        && other.stem() != sample.stem()
                })
        };
        match groups.last_mut().filter(|_| sample.text.is_ok()).filter(takes) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}

/// Texts in one, each in a namespace of its own behind what they include.
fn side_by_side(texts: &[&str]) -> String {
    let is_include = |line: &&str| line.starts_with("#include");
    let includes: BTreeSet<&str> =
        texts.iter().flat_map(|text| text.lines().filter(is_include)).collect();
    let mut all = String::new();
    for line in includes {
        all += line;
        all.push('\n');
    }
    for (number, text) in texts.iter().enumerate() {
        let own: Vec<&str> = text.lines().filter(|line| !is_include(line)).collect();
        all += &format!("namespace text_{number} {{\n{}\n}}\n", own.join("\n"));
    }
    all
}

/// The kernels with which a device of this target is probed, each once.
fn probes(target: &str) -> anyhow::Result<Vec<Sample>> {
    let machine = Machine::by_name(target).context("the target is a machine")?;
    let probe = Probe::new(&target.into(), Device::like(machine))?;
    let mut samples = Vec::new();
    let mut known = BTreeSet::new();
    for experiment in probe.experiments() {
        let text = probe.ptx(&experiment);
        if known.insert(text.clone()) {
            let name = format!("the probe of {}", experiment.pattern);
            samples.push(Sample { name, text: Ok(text), is_kernel: true });
        }
    }
    Ok(samples)
}

/// Device functions of every way to move, every element type, and one warp or four.
fn conversions(language: Language, target: Target) -> anyhow::Result<Vec<Sample>> {
    let machine = Machine::by_name(target.name()).context("the target is a machine")?;
    let wide = u64::from(machine.lanes()) / 16;
    let mut samples = Vec::new();
    for warps in [1, 4] {
        let blocked = |registers: [u64; 2], lanes: [u64; 2], warps: [u64; 2], order: [usize; 2]| {
            Blocked::new(&registers, &lanes, &warps, &order).layout(&[32, 64])
        };
        let rows = blocked([1, 4], [wide, 16], [warps, 1], [1, 0])?;
        let narrow = blocked([1, 1], [wide, 16], [warps, 1], [1, 0])?;
        let columns = blocked([4, 1], [16, wide], [1, warps], [0, 1])?;
        let pairs: [(&str, &Layout, &Layout); 3] =
            [("nothing", &rows, &rows), ("narrower", &rows, &narrow), ("turned", &rows, &columns)];
        for (way, from, to) in pairs {
            for dtype in DType::ALL {
                let name = format!("{way}_{warps}_{dtype}");
                let plan = plan::convert(from, to, dtype.bytes() * 8, machine)?;
                let program = conversion::function(&name, &plan, dtype)?;
                let mut text =
                    emit::function(&program, language, target, std::slice::from_ref(&name))?;
                if language != Language::Ptx {
                    text.push_str(&caller(&name, &plan, dtype, language));
                }
                samples.push(Sample { name, text: Ok(text), is_kernel: false });
            }
        }
    }
    Ok(samples)
}

/// A kernel that calls the function, so that a compiler makes code of it.
fn caller(name: &str, plan: &weft_layout::step::Plan, dtype: DType, language: Language) -> String {
    let registers = |files: &[weft_layout::step::File]| {
        files.first().map_or(0, |&file| plan.file(file).registers)
    };
    let (from, to) = (registers(&plan.inputs), registers(&plan.outputs));
    let ty = match (dtype, language) {
        (DType::F32, _) => "float".to_owned(),
        (DType::F64, _) => "double".to_owned(),
        (DType::I1, _) => "bool".to_owned(),
        (DType::F16 | DType::BF16, _) => format!("{name}_parts::{dtype}"),
        _ => format!("{name}_parts::u{}", dtype.bits()),
    };
    let thread = match language {
        Language::Hip => "__builtin_amdgcn_workitem_id_x()",
        _ => "threadIdx.x",
    };
    let (memory, scratch) = match plan.scratch_bytes {
        0 => (String::new(), ""),
        bytes => (
            format!("  __shared__ __attribute__((aligned(256))) unsigned char memory[{bytes}];\n"),
            ", memory",
        ),
    };
    format!(
        "\nextern \"C\" __global__ void call_{name}(const {ty}* given, {ty}* taken) {{\n{memory}  {ty} from[{from}], \
         to[{to}];\n  for (int i = 0; i < {from}; i++) from[i] = given[{thread} * {from} + i];\n  \
         {name}(from, to{scratch});\n  \
         for (int i = 0; i < {to}; i++) taken[{thread} * {to} + i] = to[i];\n}}\n"
    )
}

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays is in the machine's folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn compile(program: &OsStr, arguments: &[String], text: &str, source: &Path) -> anyhow::Result<()> {
    std::fs::write(source, text)?;
    let output = Command::new(program)
        .args(arguments)
        .arg("-o")
        .arg(source.with_extension("out"))
        .arg(source)
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() && !slows(&said) { Ok(()) } else { bail!("{said}") }
}

/// Whether NVIDIA's assembler tells, as mere information, that it made products of a warpgroup wait for one
/// another (C7510 to C7518) or took no notice of a change of registers (C7508).
fn slows(said: &str) -> bool {
    let told = |code: u32| said.contains(&format!("(C{code})"));
    told(7508) || (7510..=7518).any(told)
}

#[cfg(test)]
mod tests {
    use super::{slows, stated};

    #[test]
    fn texts_state_their_targets() {
        let cuda = "// k for sm_90a.\n//\n// Compile: nvcc -std=c++17 -arch=sm_90a -cubin\n";
        assert_eq!(stated(cuda), Some("sm_90a"));
        assert_eq!(stated(".version 8.0\n.target sm_90\n"), Some("sm_90"));
        assert_eq!(stated("// Compile: clang++ --offload-arch=gfx942\n"), None);
    }

    #[test]
    fn products_that_wait_for_one_another_are_refused() {
        let told = |code: &str| {
            format!("ptxas info    : ({code}) Potential Performance Loss: wgmma.mma_async")
        };
        assert!(["C7508", "C7510", "C7514", "C7518"].iter().all(|code| slows(&told(code))));
        assert!(!["C7509", "C7519", "C7602"].iter().any(|code| slows(&told(code))));
    }
}
