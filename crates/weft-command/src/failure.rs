//! Why a command was not carried out, and how that is told.

use crate::input::Source;
use crate::output::Output;
use anstyle::{AnsiColor, Style};
use std::io;
use std::path::Path;
use std::process::ExitCode;
use thiserror::Error;
use weft_api::probe::ProbeError;
use weft_api::view::Colours;
use weft_api::{ApiError, budget, invoke, view};
use weft_driver::DriverError;

/// Why a command was not carried out.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// Whoever reads standard output has gone; that is no fault.
    #[error("nobody reads standard output")]
    NobodyReads,
    /// A file cannot be read; perhaps another one was meant.
    #[error("cannot read {path}: {error}")]
    Read { path: String, error: io::Error, near: Option<String> },
    /// There is no recorded kernel of a name; perhaps another one was meant.
    #[error("there is no kernel `{name}`")]
    NoKernel { name: String, near: Option<String> },
    /// There is no Triton IR of a Python file.
    #[error("{message}")]
    Python { message: String, hint: Option<String> },
    /// There is no such subcommand; perhaps another one was meant.
    #[error("there is no command `{name}`")]
    NoCommand { name: String, near: Option<String>, known: Vec<String> },
    /// An option for Python files, with a file that is none.
    #[error("`{option}` is for a kernel in a Python file, and {path} is none")]
    NoPython { option: &'static str, path: String },
    /// Python where Triton IR is read.
    #[error("{path} is Python, and Triton IR is read here")]
    IsPython { path: String },
    /// A file cannot be written.
    #[error("cannot write {path}: {error}")]
    Write { path: String, error: io::Error },
    /// A file is no text.
    #[error("{path} is no text: byte {byte} is not UTF-8")]
    NotText { path: String, byte: usize },
    /// A file is too long to be a kernel.
    #[error("{path} has more than {limit_mebibytes} MiB")]
    TooLong { path: String, limit_mebibytes: u64 },
    /// A file is no JSON.
    #[error("{path} is no JSON: {error}")]
    NotJson { path: String, error: serde_json::Error },
    /// The request cannot be answered.
    #[error("{error}")]
    Api { error: Box<ApiError> },
    /// The kernel's text cannot be read; its faults are drawn where they stand.
    #[error("{error}")]
    Text { error: Box<ApiError>, drawn: String },
    /// The port is taken, or may not be listened at.
    #[error("cannot listen at {address}: {error}")]
    Listen { address: std::net::SocketAddr, error: String },
    /// The GPU cannot be used.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The times that were measured are of no machine.
    #[error("the device was measured, and {error}")]
    Probe {
        #[from]
        error: ProbeError,
    },
    /// A session could not begin, or broke off.
    #[cfg(feature = "mcp")]
    #[error("the session ended: {error}")]
    Session { error: String },
    /// The GPU's instruction set is not one that code can be made for.
    #[error(
        "{device} has compute capability {major}.{minor}: weft makes code for {oldest} and newer"
    )]
    Capability { device: String, major: u32, minor: u32, oldest: String },
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Failure::Api { error: Box::new(budget::reason(error)) }
    }
}

impl Failure {
    /// The failure of a request about a kernel's text.
    pub(crate) fn about(source: &Source, error: ApiError) -> Self {
        match &error {
            ApiError::Text(text) => {
                let drawn =
                    view::diagnostics(&text.diagnostics, &source.text, &source.name, Colours::On);
                Failure::Text { error: Box::new(error), drawn }
            }
            _ => error.into(),
        }
    }

    /// Tells it, as JSON on standard output where that was asked for, and gives the exit status.
    pub(crate) fn report(&self, json: bool, output: &mut Output) -> ExitCode {
        if let Failure::NobodyReads = self {
            return ExitCode::SUCCESS;
        }
        if json {
            // If this cannot be written either, the exit status still says that something failed.
            let _ = output.line(&self.json());
        } else {
            Output::note(&self.text());
        }
        ExitCode::from(2)
    }

    fn json(&self) -> String {
        match self {
            Failure::Api { error } | Failure::Text { error, .. } => invoke::error_text(error),
            _ => invoke::fault_text(self.kind(), &self.to_string(), self.hint().as_deref()),
        }
    }

    fn text(&self) -> String {
        if let Failure::Text { drawn, .. } = self {
            return drawn.clone();
        }
        let hint = match self {
            Failure::Api { error } => error.hint(),
            _ => self.hint(),
        };
        let error = paint("error", ERROR);
        match hint {
            Some(hint) => format!("{error}: {self}\n  {}: {hint}", paint("help", HELP)),
            None => format!("{error}: {self}"),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Failure::NobodyReads | Failure::Write { .. } => "write",
            #[cfg(feature = "mcp")]
            Failure::Session { .. } => "session",
            Failure::Python { .. } | Failure::NoPython { .. } | Failure::IsPython { .. } => {
                "python"
            }
            Failure::NoKernel { .. } => "kernel",
            Failure::NoCommand { .. } => "request",
            Failure::Read { .. }
            | Failure::TooLong { .. }
            | Failure::NotText { .. }
            | Failure::NotJson { .. } => "read",
            Failure::Listen { .. } => "listen",
            Failure::Api { error } | Failure::Text { error, .. } => error.kind(),
            Failure::Driver(_) | Failure::Capability { .. } | Failure::Probe { .. } => "device",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Failure::Read { near: Some(near), .. } => format!("did you mean {near}?"),
            Failure::Read { path, error, .. }
                if error.kind() == io::ErrorKind::NotFound && has_extension(path, "json") =>
            {
                format!("`weft machines sm_90 --json > {path}` writes a machine to change")
            }
            Failure::NoKernel { near, .. } => {
                let there_is = "a kernel is a file of Triton IR (*.ttir) or of Python (*.py), or the name \
                                of one that is recorded here, in examples or in kernels";
                match near {
                    Some(near) => format!("did you mean `{near}`? {there_is}"),
                    None => there_is.into(),
                }
            }
            Failure::NoCommand { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Failure::NoCommand { known, .. } => format!("there are {}", known.join(", ")),
            Failure::Python { hint, .. } => return hint.clone(),
            Failure::NoPython { .. } => "leave it out, or give the kernel's *.py".into(),
            Failure::IsPython { .. } => {
                "give the file by its name, *.py: an installed Triton is asked for the IR".into()
            }
            Failure::NotText { .. } | Failure::TooLong { .. } => {
                "a kernel is a text of Triton IR, as Triton writes it to its cache as *.ttir".into()
            }
            Failure::Probe { .. } => "try again while nothing else runs on the device".into(),
            Failure::Listen { .. } => "give another port, or --port 0 for any that is free".into(),
            Failure::NotJson { .. } => {
                "a machine is an object, as `weft machines --json` prints them".into()
            }
            _ => return None,
        })
    }
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();

/// A word in a colour; what is written to no terminal loses it again.
fn paint(word: &str, style: Style) -> String {
    format!("{style}{word}{style:#}")
}

/// Whether a file is of a kind that its name tells.
fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|of| of.eq_ignore_ascii_case(extension))
}
