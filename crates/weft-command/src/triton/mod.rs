//! Kernels in Python files: an installed Triton is asked for their IR.
//!
//! A Python that can import Triton runs `ttir.py`, which imports the file as Python would, and prints what
//! Triton's front end and its `ttir` passes make of the kernel. No GPU is needed.

mod signature;

pub(crate) use signature::{Constant, Type};

use crate::arguments::FromPython;
use crate::failure::Failure;
use crate::input::Source;
use crate::progress::waiting;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use weft_api::layouts;
use weft_api::machines::IsaAnswer;
use weft_api::request::{DEFAULT_WARPS, MachinesRequest, Target};

/// What the Python runs.
const SCRIPT: &str = include_str!("ttir.py");

/// The compute capability that Triton is told for GPUs that are not NVIDIA's: its IR, before layouts are
/// chosen, is for all of them.
const CAPABILITY: u32 = 90;

/// For which GPU and blocks the IR is made.
#[derive(Clone, Copy)]
pub(crate) struct For<'a> {
    pub(crate) kernel: Option<&'a str>,
    pub(crate) target: &'a Target,
    pub(crate) warps: Option<u32>,
}

#[derive(Serialize)]
struct Request<'a> {
    file: &'a str,
    kernel: Option<&'a str>,
    signature: Option<&'a [Type]>,
    constants: BTreeMap<&'a str, &'a Constant>,
    capability: u32,
    warps: u32,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Made { ttir: String },
    Refused { message: String, hint: Option<String> },
}

/// The Triton IR of a kernel in a Python file.
pub(crate) fn ttir(file: &Path, python: &FromPython, what: For<'_>) -> Result<Source, Failure> {
    let name = file.display().to_string();
    let constants = python.constants.iter().map(|(name, value)| (name.as_str(), value));
    let request = Request {
        file: &name,
        kernel: what.kernel,
        signature: python.signature.as_deref(),
        constants: constants.collect(),
        capability: capability(what.target)?,
        warps: what.warps.unwrap_or(DEFAULT_WARPS),
    };
    let request = weft_api::invoke::text_of(&request);
    match waiting("Triton", || ask(&python.python, &request))? {
        Answer::Made { ttir } => Ok(Source { name: format!("{name}, as Triton IR"), text: ttir }),
        Answer::Refused { message, hint } => Err(Failure::Python { message, hint }),
    }
}

fn capability(target: &Target) -> Result<u32, Failure> {
    let request = MachinesRequest { target: Some(target.clone()) };
    let machines = layouts::machines(&request)?.machines;
    Ok(match machines.first().map(|machine| &machine.isa) {
        Some(IsaAnswer::Ptx(capability)) => *capability,
        _ => CAPABILITY,
    })
}

fn ask(python: &Path, request: &str) -> Result<Answer, Failure> {
    let program = python.display();
    let failed = |error: io::Error| Failure::Python {
        message: format!("cannot start {program}, which makes Triton IR of a Python file: {error}"),
        hint: Some("name a Python that has Triton, by --python".into()),
    };
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        // Whoever does not read it does not answer either.
        let _ = input.write_all(request.as_bytes());
    }
    let output = child.wait_with_output().map_err(failed)?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        Failure::Python {
            message: format!("{program} gave no Triton IR: {}", last.unwrap_or("it said nothing")),
            hint: None,
        }
    })
}
