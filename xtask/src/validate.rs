//! NVIDIA's assembler on every recorded kernel.

use crate::kernels::{TARGETS, in_folder, to_ptx};
use crate::say;
use anyhow::{Context as _, bail};
use std::process::{Command, Stdio};
use weft_api::probe::{Device, Probe};
use weft_api::request::{Target, machine};

/// The kernels with which a device of this target is probed, each once.
fn probes(target: &str) -> anyhow::Result<Vec<(String, String)>> {
    let target = Target::from(target);
    let probe = Probe::new(&target, Device::like(machine(&target)?.as_ref()))?;
    let mut texts: Vec<(String, String)> = Vec::new();
    for experiment in probe.experiments() {
        let text = probe.ptx(&experiment);
        if texts.iter().all(|(_, known)| *known != text) {
            texts.push((experiment.pattern, text));
        }
    }
    Ok(texts)
}

/// Compiles and assembles everything; fails with every text that was refused.
pub(crate) fn run() -> anyhow::Result<()> {
    let ptxas = std::env::var_os("WEFT_PTXAS").context(
        "WEFT_PTXAS is not set: it names the ptxas of a CUDA toolkit or of PyPI's nvidia-cuda-nvcc",
    )?;
    let mut kernels = in_folder("examples")?;
    kernels.extend(in_folder("crates/weft/tests/kernels")?);
    kernels.extend(in_folder("kernels")?);
    let (mut assembled, mut failures) = (0, Vec::new());
    for kernel in &kernels {
        for target in TARGETS {
            match to_ptx(&kernel.text, target) {
                Ok(texts) => {
                    for text in texts {
                        match assemble(&ptxas, &text, target) {
                            Ok(()) => assembled += 1,
                            Err(error) => {
                                failures.push(format!("{} {target}: {error}", kernel.name));
                            }
                        }
                    }
                }
                Err(error) => failures.push(format!("{} {target}: {error}", kernel.name)),
            }
        }
    }
    for target in TARGETS {
        for (pattern, text) in probes(target)? {
            match assemble(&ptxas, &text, target) {
                Ok(()) => assembled += 1,
                Err(error) => failures.push(format!("the probe of {pattern}, {target}: {error}")),
            }
        }
    }
    say(&format!(
        "{assembled} texts of {} kernels and of the probe assembled for {}",
        kernels.len(),
        TARGETS.join(", ")
    ));
    if !failures.is_empty() {
        bail!("{} texts were not assembled:\n{}", failures.len(), failures.join("\n"));
    }
    Ok(())
}

fn assemble(ptxas: &std::ffi::OsStr, text: &str, target: &str) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("weft-validate-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let source = folder.join("kernel.ptx");
    std::fs::write(&source, text)?;
    let output = Command::new(ptxas)
        .args(["--gpu-name", target, "--warning-as-error", "--output-file"])
        .arg(folder.join("kernel.cubin"))
        .arg(&source)
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    std::fs::remove_dir_all(&folder)?;
    if output.status.success() { Ok(()) } else { bail!("{said}") }
}
