//! What may be asked of a lane program:
//!
//! * `verify`: `right`, or what is wrong with it;
//! * `pass NAME NAME ..`: the program after these passes, which are verified each;
//! * `ptx TARGET`, `cuda TARGET`, `hip TARGET`: the text in that language, or why there is none. The option
//!   `places` keeps the lines of the input as comments. Where `WEFT_PTXAS` names NVIDIA's `ptxas`, it also
//!   assembles the PTX, before and after the passes;
//! * `header TARGET`: the header of C that launches it;
//! * `rounds MACHINE`: a round of each innermost loop on the clock of `timeline`, in hundredths of a cycle;
//! * `schedules`: see `schedules.rs`.
//!
//! Whatever is asked, the program is the same when it is read from the text that it prints as.

use crate::format::Case;
use crate::schedules;
use std::path::Path;
use std::process::Command;
use weft::emit::ptx::{LineInfo, Registers};
use weft::emit::{self, Language, Target, launcher};
use weft::lane::{self, Program, verify};
use weft::location::Locations;
use weft::simplify;
use weft::timeline;
use weft_layout::machine::Machine;

/// What a command makes of a case.
pub(crate) fn run(case: &Case, words: &[&str]) -> Result<String, String> {
    case.knows(&["arg", "fault", "grid", "places"])?;
    let program = read(&case.input)?;
    match words {
        ["verify"] => {
            Ok(verify(&program).map_or_else(|errors| errors.join("\n"), |()| "right".into()))
        }
        ["pass", names @ ..] if !names.is_empty() => {
            verified(&program)?;
            let program = names.iter().try_fold(program, |program, name| pass(program, name))?;
            Ok(program.to_string())
        }
        ["ptx", target] => printed(case, program, Language::Ptx, target),
        ["cuda", target] => printed(case, program, Language::Cuda, target),
        ["hip", target] => printed(case, program, Language::Hip, target),
        ["header", target] => {
            verified(&program)?;
            let Some(Target::Nvidia(target)) = Target::by_name(target) else {
                return Err(format!("`{target}` is no target of NVIDIA's"));
            };
            let (registers, lines) = (Registers::Balanced, LineInfo::Omitted);
            let header = launcher::print(&program, target, registers, lines);
            Ok(header.unwrap_or_else(|refused| refused.to_string()))
        }
        ["rounds", machine] => {
            verified(&program)?;
            let machine = Machine::by_name(machine);
            Ok(rounds(&program, machine.ok_or("the machine is not known")?))
        }
        ["schedules"] => {
            verified(&program)?;
            schedules::run(case, &program)
        }
        _ => Err("this is no command for a lane program; `lane.rs` lists them".into()),
    }
}

/// A program, which prints as what reads as the same.
pub(crate) fn read(text: &str) -> Result<Program, String> {
    let program = lane::read(text, "text").map_err(|error| error.to_string())?;
    let printed = program.to_string();
    let again = lane::read(&printed, "text").map_err(|error| format!("{error}\n{printed}"))?;
    if again.to_string() == printed {
        Ok(program)
    } else {
        Err(format!("it prints as\n{printed}\nand that as\n{again}"))
    }
}

pub(crate) fn verified(program: &Program) -> Result<(), String> {
    verify(program).map_err(|errors| format!("{}\n{program}", errors.join("\n")))
}

fn pass(program: Program, name: &str) -> Result<Program, String> {
    let Some(pass) = simplify::PASSES.iter().find(|pass| pass.name == name) else {
        let names: Vec<&str> = simplify::PASSES.iter().map(|pass| pass.name).collect();
        return Err(format!("`{name}` is no pass; there are {}", names.join(", ")));
    };
    let program = (pass.run)(program, &weft::budget::Stop::default());
    verified(&program)?;
    Ok(program)
}

fn rounds(program: &Program, machine: &Machine) -> String {
    let mut lines = Vec::new();
    for round in timeline::rounds(program, machine, &weft::budget::Stop::default()) {
        let (first, count) = round.warps;
        lines.push(format!("{} of warps {first}+{count}: {}", round.inst, round.time));
        for (unit, time) in round.busy.iter().filter(|(_, time)| *time > 0) {
            lines.push(format!("  {} {time}", unit.word()));
        }
        for span in &round.spans {
            lines.push(format!("  {} from {} to {}", span.work.word(), span.start, span.end));
        }
    }
    lines.join("\n")
}

fn printed(
    case: &Case,
    mut program: Program,
    language: Language,
    target: &str,
) -> Result<String, String> {
    verified(&program)?;
    if case.option("places").is_none() {
        for inst in program.insts.keys() {
            program.insts[inst].loc = Locations::unknown();
        }
    }
    let gpu = Target::by_name(target).ok_or_else(|| format!("`{target}` is no target"))?;
    let text = match emit::print(&program, language, gpu) {
        Ok(text) => text,
        Err(refused) => return Ok(refused.to_string()),
    };
    if let (Language::Ptx, Some(ptxas)) = (language, std::env::var_os("WEFT_PTXAS")) {
        assemble(Path::new(&ptxas), &text)?;
        let simple = simplify::run(program);
        assemble(
            Path::new(&ptxas),
            &emit::print(&simple, language, gpu).map_err(|e| e.to_string())?,
        )?;
    }
    Ok(text)
}

/// Has the assembler judge a text. What it ignores, or makes wait for one another, it says by codes that begin so.
fn assemble(ptxas: &Path, text: &str) -> Result<(), String> {
    let architecture = text.lines().find_map(|line| line.strip_prefix(".target "));
    let architecture = architecture.and_then(|line| line.split(',').next()).unwrap_or_default();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let source = folder.path().join("text.ptx");
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    let output = Command::new(ptxas)
        .args(["-v", "--gpu-name", architecture, "-o"])
        .arg(source.with_extension("cubin"))
        .arg(&source)
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() && !said.contains("(C75") {
        Ok(())
    } else {
        Err(format!("the assembler says\n{said}\nof\n{text}"))
    }
}
