//! The recorded kernels of the repository.

use crate::root;
use anyhow::Context as _;
use std::path::{Path, PathBuf};
use weft::assign::{self, Block};
use weft::axis::AxisFacts;
use weft::budget::Budget;
use weft::compile::{self, Options};
use weft::emit::{self, Language, Target, Unsupported};
use weft::lane::Program;
use weft::ttir;
use weft_layout::machine::Machine;

/// A kernel's Triton IR.
pub(crate) struct Kernel {
    /// The file's name without its ending.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
}

/// The kernels of one folder, by name.
pub(crate) fn in_folder(folder: &str) -> anyhow::Result<Vec<Kernel>> {
    let folder = root().join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .with_context(|| format!("{}", folder.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "ttir" || ending == "ttgir"))
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> anyhow::Result<Kernel> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Kernel { name, text })
}

/// The text of every entry point for one target, as somebody prints it.
pub(crate) fn to_texts(
    text: &str,
    target: Target,
    print: impl Fn(&Program, Target) -> Result<String, Unsupported>,
) -> anyhow::Result<Vec<String>> {
    let name = target.name();
    let machine = Machine::by_name(name).with_context(|| format!("no machine `{name}`"))?;
    let module = ttir::parse(text)?;
    let options = Options::for_machine(machine);
    module
        .kernels
        .iter()
        .map(|kernel| {
            let compiled = compile::compile(&module, kernel, &options)?;
            Ok(print(&compiled.program, target)?)
        })
        .collect()
}

/// The kernels of a text whose homes can be chosen again and again.
pub(crate) struct Choice {
    machine: &'static Machine,
    warps: u32,
    kernels: Vec<weft::tile::Kernel>,
}

impl Choice {
    /// Of the kernels of a text as they are lowered for a machine.
    pub(crate) fn of(text: &str, target: &str) -> anyhow::Result<Self> {
        let machine = Machine::by_name(target).with_context(|| format!("no machine `{target}`"))?;
        let module = ttir::parse(text)?;
        let options = Options::for_machine(machine);
        let lowered = |kernel| Ok(compile::compile(&module, kernel, &options)?.kernel);
        let kernels = module.kernels.iter().map(lowered).collect::<anyhow::Result<_>>()?;
        Ok(Self { machine, warps: options.warps, kernels })
    }

    /// Chooses all homes.
    pub(crate) fn make(&self) -> anyhow::Result<()> {
        let budget = &Budget::default();
        let block = Block { machine: self.machine, warps: self.warps, shared_byte: 0, budget };
        for kernel in &self.kernels {
            assign::run(kernel, &AxisFacts::of(kernel), block, &[])?;
        }
        Ok(())
    }
}

/// The PTX of every entry point of a text, for one target.
pub(crate) fn to_ptx(text: &str, target: &str) -> anyhow::Result<Vec<String>> {
    let target = Target::by_name(target).with_context(|| format!("no printer for `{target}`"))?;
    to_texts(text, target, |program, target| emit::print(program, Language::Ptx, target))
}
