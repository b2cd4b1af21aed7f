//! Random kernels as CUDA and HIP: printed always, compiled where compilers are named.

use super::{number, sample};
use std::path::Path;
use std::process::Command;
use weft::compile::{self, Options};
use weft::emit::{self, Language, Target};
use weft::tile::Module;
use weft_layout::machine::Machine;

/// The text of a random kernel; none where the machine or the language does not have it.
fn text(seed: u64, language: Language, name: &str) -> Option<String> {
    let machine = Machine::by_name(name).unwrap();
    let options = Options { warps: 1 << (seed % 4), ..Options::for_machine(machine) };
    let compiled = compile::compile(&Module::default(), &sample(seed).kernel, &options).ok()?;
    emit::print(&compiled.program, language, Target::by_name(name).unwrap()).ok()
}

/// Has a text compiled; says what is wrong with it.
fn compiled(compiler: &str, arguments: &[&str], source: &Path) -> Result<(), String> {
    let flags = std::env::var(format!("{compiler}_FLAGS")).unwrap_or_default();
    let output = Command::new(std::env::var_os(compiler).unwrap())
        .args(arguments)
        .args(flags.split_whitespace())
        .arg(source)
        .output()
        .map_err(|error| error.to_string())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(errors.into_owned()) }
}

#[test]
fn random_kernels_are_texts_that_compilers_accept() {
    let folder = std::env::temp_dir().join(format!("weft-texts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let object = folder.join("out");
    let object = object.to_str().unwrap();
    let seeds = number("WEFT_TEXTS").unwrap_or(20);
    for (compiler, language, names) in [
        ("WEFT_NVCC", Language::Cuda, &["sm_80", "sm_90"][..]),
        ("WEFT_CLANG", Language::Hip, &["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"]),
    ] {
        let given = std::env::var_os(compiler).is_some();
        let mut count = 0;
        for seed in 0..seeds {
            let name = names[seed as usize % names.len()];
            let Some(text) = text(seed, language, name) else { continue };
            count += 1;
            if !given {
                continue;
            }
            let source = folder.join("kernel.cu");
            std::fs::write(&source, &text).unwrap();
            let architecture = match language {
                Language::Hip => format!("--offload-arch={name}"),
                _ => format!("-arch={name}"),
            };
            let hip = [
                "-x",
                "hip",
                "--cuda-device-only",
                "--no-gpu-bundle-output",
                "-nogpulib",
                "-nogpuinc",
            ];
            let cuda = ["-cubin", "-Werror=all-warnings"];
            let own = if language == Language::Hip { &hip[..] } else { &cuda[..] };
            let arguments = [own, &["-O1", "-std=c++17", &architecture, "-o", object]].concat();
            if let Err(errors) = compiled(compiler, &arguments, &source) {
                panic!("seed {seed} for {name}:\n{errors}\n{text}");
            }
        }
        assert!(count > seeds / 2, "{count} of {seeds} random kernels are texts");
        let done = if given { "compiled" } else { "printed" };
        println!("{count} of {seeds} random kernels {done} as {language}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
