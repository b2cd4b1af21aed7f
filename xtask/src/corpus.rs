//! Kernels that `torch.compile` asks a Triton compiler for, counted: what one assembler makes of
//! Weft's PTX beside what it makes of Triton's.
//!
//! * `WEFT_CORPUS_DIR` names a folder of modules: `times.tsv` has a row a module, with its program,
//!   its file `NAME.ttir`, its warps and stages, and the counts of Triton's code.
//! * `WEFT_PTXAS` names the assembler; `cuobjdump` and `nvdisasm` lie beside it.

use crate::say;
use crate::share::Share;
use anyhow::{Context as _, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use weft::compile::{self, Options};
use weft::emit::{self, Language, Target};
use weft::ttir;
use weft_layout::Machine;

/// The machine that is compiled for, and the architecture that is assembled for, as Triton does it.
const TARGET: &str = "sm_90";
const ARCHITECTURE: &str = "sm_90a";
/// Of so many modules one is assembled where the counts are only checked.
const SHARES: usize = 6;
/// How much larger than measured the mean and a single count may be.
const MEAN_GROWTH: f64 = 1.01;
const GROWTH: f64 = 1.1;
/// How many of the modules that are worst against Triton are shown.
const WORST: usize = 10;

/// The columns of all modules.
pub(crate) const COLUMNS: [&str; 10] = [
    "module",
    "program",
    "SASS instructions",
    "Triton's",
    "registers",
    "Triton's",
    "bytes spilled",
    "Triton's",
    "PTX instructions",
    "accesses of global memory",
];

/// The columns of the summary.
pub(crate) const SUMMARY: [&str; 9] = [
    "program or module",
    "modules",
    "SASS instructions, Weft / Triton",
    "registers, Weft / Triton",
    "above 1.1",
    "above 1.25",
    "above 3",
    "bytes spilled",
    "Triton's",
];

/// What an assembler makes of a kernel.
#[derive(Clone, Copy, Debug)]
struct Assembled {
    /// Instructions, without those that do nothing.
    sass: usize,
    registers: usize,
    /// Bytes that a thread stores because it has no registers for them.
    spilled: usize,
}

/// What Weft's text says.
#[derive(Clone, Copy, Debug)]
struct Printed {
    /// Instructions.
    ptx: usize,
    /// Those of them that read or write global memory: few where vectors are wide.
    accesses: usize,
}

/// A module of the folder.
#[derive(Clone, Debug)]
struct Module {
    program: String,
    name: String,
    warps: u32,
    stages: u32,
    triton: Assembled,
}

/// A module and what became of it.
pub(crate) struct Counted {
    module: Module,
    printed: Printed,
    /// Of the modules that are assembled.
    assembled: Option<Assembled>,
}

impl Counted {
    /// Instructions against Triton's.
    fn sass(&self) -> Option<f64> {
        Some(self.assembled?.sass as f64 / self.module.triton.sass as f64)
    }

    /// Registers against Triton's.
    fn registers(&self) -> Option<f64> {
        Some(self.assembled?.registers as f64 / self.module.triton.registers as f64)
    }

    fn row(&self) -> Option<Vec<String>> {
        let Self { module, printed, assembled } = self;
        let (own, triton) = ((*assembled)?, module.triton);
        let counts = [
            own.sass,
            triton.sass,
            own.registers,
            triton.registers,
            own.spilled,
            triton.spilled,
            printed.ptx,
            printed.accesses,
        ];
        let names = [format!("`{}`", module.name), module.program.clone()];
        Some(names.into_iter().chain(counts.iter().map(ToString::to_string)).collect())
    }
}

/// The folder that is compared.
fn folder() -> anyhow::Result<PathBuf> {
    let folder = std::env::var_os("WEFT_CORPUS_DIR").context(
        "WEFT_CORPUS_DIR is not set: it names a folder of modules `NAME.ttir` with a `times.tsv`",
    )?;
    Ok(folder.into())
}

/// The assembler, where there is one.
fn assembler() -> Option<PathBuf> {
    std::env::var_os("WEFT_PTXAS").map(PathBuf::from)
}

/// What the assembler says of its version.
pub(crate) fn version() -> anyhow::Result<String> {
    let assembler = assembler().context("WEFT_PTXAS is not set: it names an assembler")?;
    let said = output(Command::new(assembler).arg("--version"))?.0;
    let version = said.split_whitespace().find(|word| {
        let number = word.strip_prefix('V').unwrap_or_default();
        number.starts_with(|first: char| first.is_ascii_digit())
    });
    Ok(format!("ptxas {}", version.unwrap_or("unknown").trim_start_matches('V')))
}

/// The modules that the folder lists.
fn modules(folder: &Path) -> anyhow::Result<Vec<Module>> {
    let path = folder.join("times.tsv");
    let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let mut modules = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |name: &str| -> anyhow::Result<&str> {
            let at = columns.iter().position(|column| *column == name);
            let cell = at.and_then(|at| cells.get(at));
            cell.copied().with_context(|| format!("{}: no `{name}` in `{line}`", path.display()))
        };
        let count = |name: &str| -> anyhow::Result<usize> { Ok(cell(name)?.parse()?) };
        modules.push(Module {
            program: cell("model")?.to_owned(),
            name: cell("file")?.to_owned(),
            warps: cell("warps")?.parse()?,
            stages: cell("stages")?.parse()?,
            triton: Assembled {
                sass: count("triton_sass")?,
                registers: count("triton_registers")?,
                spilled: count("triton_spill_bytes")?,
            },
        });
    }
    ensure!(!modules.is_empty(), "{} lists nothing", path.display());
    Ok(modules)
}

/// A module's PTX.
fn compile(folder: &Path, module: &Module) -> anyhow::Result<String> {
    let path = folder.join(format!("{}.ttir", module.name));
    let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let machine = Machine::by_name(TARGET).context("no such machine")?;
    let target = Target::by_name(TARGET).context("no such target")?;
    let parsed = ttir::parse(&text)?;
    let [kernel] = &parsed.kernels[..] else { bail!("a module has one kernel") };
    let options = Options {
        warps: module.warps,
        stages: module.stages,
        verify_each: false,
        ..Options::for_machine(machine)
    };
    let compiled = compile::compile(&parsed, kernel, &options)?;
    Ok(emit::print(&compiled.program, Language::Ptx, target)?)
}

/// Counts a text's instructions.
fn printed(ptx: &str) -> Printed {
    let instructions =
        || ptx.lines().map(str::trim).filter(|line| line.ends_with(';') && !line.starts_with('.'));
    let accesses = instructions().filter(|line| line.contains(".global")).count();
    Printed { ptx: instructions().count(), accesses }
}

/// Standard output and error of a command that must succeed.
fn output(command: &mut Command) -> anyhow::Result<(String, String)> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| name.clone())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{name}: {said}");
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), said))
}

/// Assembles a text and counts.
fn assemble(assembler: &Path, ptx: &str, file: &Path) -> anyhow::Result<Assembled> {
    let object = file.with_extension("cubin");
    std::fs::write(file, ptx)?;
    let mut command = Command::new(assembler);
    command.args(["--gpu-name", ARCHITECTURE, "--verbose", "--output-file"]);
    let (_, said) = output(command.arg(&object).arg(file))?;
    let disassembler = assembler.with_file_name("cuobjdump");
    let (listing, _) = output(Command::new(disassembler).arg("-sass").arg(&object))?;
    let number = |after: &str, before: &str| -> anyhow::Result<usize> {
        let end = said.find(before).with_context(|| format!("no `{before}` in `{said}`"))?;
        let digits = said[..end].trim_end().rsplit([' ', ',']).next().unwrap_or_default();
        ensure!(said[..end].trim_end().ends_with(&format!("{after}{digits}")), "{said}");
        Ok(digits.parse()?)
    };
    Ok(Assembled {
        sass: listing.lines().filter_map(instruction).filter(|text| !text.contains("NOP")).count(),
        registers: number("Used ", " registers")?,
        spilled: number(", ", " bytes spill stores")?,
    })
}

/// The instruction of a line of `cuobjdump`, which begins with its address: `/*0010*/ MOV R1, R2 ;`.
fn instruction(line: &str) -> Option<&str> {
    let (address, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let is_address = address.len() >= 4 && address.chars().all(|digit| digit.is_ascii_hexdigit());
    is_address.then(|| rest.split_once(';')).flatten().map(|(text, _)| text.trim())
}

/// Compiles all modules and assembles those that are wanted.
fn count(wanted: impl Fn(usize) -> bool + Sync) -> anyhow::Result<Vec<Counted>> {
    let (folder, assembler) = (folder()?, assembler());
    let modules = modules(&folder)?;
    let scratch = std::env::temp_dir().join(format!("weft-corpus-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeMap::new());
    let one = |index: usize, module: &Module| -> anyhow::Result<Counted> {
        let ptx = compile(&folder, module)?;
        let file = scratch.join(format!("{index}.ptx"));
        let assembled = match &assembler {
            Some(assembler) if wanted(index) => Some(assemble(assembler, &ptx, &file)?),
            _ => None,
        };
        Ok(Counted { module: module.clone(), printed: printed(&ptx), assembled })
    };
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(module) = modules.get(index) else { break };
            let counted = one(index, module).with_context(|| module.name.clone());
            if let Ok(mut found) = found.lock() {
                found.insert(index, counted);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    std::fs::remove_dir_all(&scratch)?;
    let found = found.into_inner().map_err(|_| anyhow::anyhow!("a thread ended"))?;
    ensure!(found.len() == modules.len(), "a thread ended");
    let (counted, failed): (Vec<_>, Vec<_>) = found.into_values().partition(Result::is_ok);
    let failed: Vec<String> =
        failed.into_iter().filter_map(|one| Some(format!("{:#}", one.err()?))).collect();
    ensure!(failed.is_empty(), "{} modules failed:\n{}", failed.len(), failed.join("\n"));
    Ok(counted.into_iter().flatten().collect())
}

/// Every module, assembled.
pub(crate) fn measure() -> anyhow::Result<Vec<Counted>> {
    count(|_| true)
}

/// A row for each module.
pub(crate) fn rows(counted: &[Counted]) -> Vec<Vec<String>> {
    counted.iter().filter_map(Counted::row).collect()
}

/// A row for each program and one for all, then the modules that are worst against Triton.
pub(crate) fn summary(counted: &[Counted]) -> Vec<Vec<String>> {
    let mut programs: Vec<&str> = Vec::new();
    for one in counted {
        if !programs.contains(&&*one.module.program) {
            programs.push(&one.module.program);
        }
    }
    let of = |program: &str| counted.iter().filter(|one| one.module.program == program).collect();
    let groups = programs.iter().map(|program| (*program, of(program)));
    let mut rows: Vec<Vec<String>> =
        groups.chain([("all", counted.iter().collect())]).map(summed).collect();
    let mut worst: Vec<&Counted> = counted.iter().collect();
    worst.sort_by(|left, right| {
        let ratio = |one: &Counted| one.sass().unwrap_or_default();
        ratio(right).total_cmp(&ratio(left))
    });
    for one in worst.into_iter().take(WORST) {
        let (Some(own), Some(sass), Some(registers)) = (one.assembled, one.sass(), one.registers())
        else {
            continue;
        };
        let triton = one.module.triton;
        let mut row = vec![
            format!("`{}`", one.module.name),
            String::new(),
            format!("{sass:.2} ({} / {})", own.sass, triton.sass),
            format!("{registers:.2} ({} / {})", own.registers, triton.registers),
        ];
        row.extend(["", "", ""].map(ToOwned::to_owned));
        row.extend([own.spilled.to_string(), triton.spilled.to_string()]);
        rows.push(row);
    }
    rows
}

/// Modules' counts together.
fn summed((name, modules): (&str, Vec<&Counted>)) -> Vec<String> {
    let sass: Vec<f64> = modules.iter().filter_map(|one| one.sass()).collect();
    let registers = modules.iter().filter_map(|one| one.registers());
    let above = |limit: f64| sass.iter().filter(|&&ratio| ratio > limit).count().to_string();
    let own: usize = modules.iter().filter_map(|one| one.assembled).map(|own| own.spilled).sum();
    let triton: usize = modules.iter().map(|one| one.module.triton.spilled).sum();
    vec![
        name.into(),
        modules.len().to_string(),
        format!("{:.3}", mean(sass.iter().copied())),
        format!("{:.3}", mean(registers)),
        above(1.1),
        above(1.25),
        above(3.0),
        own.to_string(),
        triton.to_string(),
    ]
}

/// The geometric mean.
fn mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) =
        ratios.fold((0.0, 0_usize), |(sum, count), ratio| (sum + ratio.ln(), count + 1));
    (sum / count as f64).exp()
}

/// Compares all modules' PTX, and the SASS of a share, with the counts that were measured.
///
/// A mean may be one percent above what was measured, a single count ten.
pub(crate) fn check(measured: &[Vec<String>], assembled_by: &str) -> anyhow::Result<()> {
    let share = Share::one_in(SHARES)?;
    let counted = count(|index| share.takes(index))?;
    let before = |module: &Module, column: usize| -> anyhow::Result<f64> {
        let name = format!("`{}`", module.name);
        let row = measured.iter().find(|row| row.first() == Some(&name));
        let cell = row.and_then(|row| row.get(column)).with_context(|| {
            format!("{name} was not measured: run `cargo xtask measure corpus`")
        })?;
        Ok(cell.parse()?)
    };
    let mut grown = Vec::new();
    let mut compare = |what: &str, column: usize, of: &dyn Fn(&Counted) -> Option<usize>| {
        let mut ratios = Vec::new();
        for one in &counted {
            let Some(now) = of(one) else { continue };
            let before = before(&one.module, column)?;
            let ratio = now as f64 / before.max(1.0);
            if ratio > GROWTH {
                grown.push(format!("{}: {now} {what}, {before} measured", one.module.name));
            }
            ratios.push(ratio.max(f64::MIN_POSITIVE));
        }
        if ratios.is_empty() {
            return Ok(());
        }
        let all = mean(ratios.iter().copied());
        say(&format!("{what} of {} modules: {all:.4} of what was measured", ratios.len()));
        if all > MEAN_GROWTH {
            grown.push(format!("{what}: the geometric mean is {all:.4} of what was measured"));
        }
        anyhow::Ok(())
    };
    compare("PTX instructions", 8, &|one| Some(one.printed.ptx))?;
    compare("accesses of global memory", 9, &|one| Some(one.printed.accesses))?;
    if assembler().is_none() {
        say("not assembled: WEFT_PTXAS names no assembler");
    } else {
        let version = version()?;
        ensure!(
            assembled_by.contains(&version),
            "this is {version}; what was measured is of {assembled_by}"
        );
        let names: Vec<&str> = counted
            .iter()
            .filter(|one| one.assembled.is_some())
            .map(|one| &*one.module.name)
            .collect();
        say(&format!("share: assembled {share}: {}", names.join(", ")));
        compare("SASS instructions", 2, &|one| Some(one.assembled?.sass))?;
    }
    ensure!(
        grown.is_empty(),
        "{} counts grew; where that is meant, run `cargo xtask measure corpus`:\n{}",
        grown.len(),
        grown.join("\n")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_a_listing() {
        let line =
            "        /*0010*/                   S2R R0, SR_TID.X ;    /* 0x0000000000007919 */";
        assert_eq!(instruction(line), Some("S2R R0, SR_TID.X"));
        assert_eq!(instruction("        /* 0x000fe20000000f00 */"), None);
        assert_eq!(instruction("\t.headerflags\t@\"EF_CUDA_SM90\""), None);
    }

    #[test]
    fn instructions_of_a_text() {
        let ptx = ".version 7.8\n.reg .b32 %r1;\n  ld.global.v4.b32 {%r1}, [%rd1];\n  ret;\n";
        let Printed { ptx, accesses } = printed(ptx);
        assert_eq!((ptx, accesses), (2, 1));
    }

    #[test]
    fn means_are_geometric() {
        assert!((mean([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-12);
    }
}
