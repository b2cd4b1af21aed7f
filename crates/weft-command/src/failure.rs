//! Why a command was not carried out, and how that is told.

use crate::input::Source;
use crate::output::Output;
use std::io;
use std::process::ExitCode;
use thiserror::Error;
use weft_api::probe::ProbeError;
use weft_api::{ApiError, invoke, view};
use weft_driver::DriverError;

/// Why a command was not carried out.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// Whoever reads standard output has gone; that is no fault.
    #[error("nobody reads standard output")]
    NobodyReads,
    /// A file cannot be read.
    #[error("cannot read {path}: {error}")]
    Read { path: String, error: io::Error },
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
    /// The GPU's instruction set is not one that code can be made for.
    #[error(
        "{device} has compute capability {major}.{minor}: weft makes code for {oldest} and newer"
    )]
    Capability { device: String, major: u32, minor: u32, oldest: String },
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Failure::Api { error: Box::new(error) }
    }
}

impl Failure {
    /// The failure of a request about a kernel's text.
    pub(crate) fn about(source: &Source, error: ApiError) -> Self {
        match &error {
            ApiError::Text(text) => {
                let drawn = view::diagnostics(&text.diagnostics, &source.text, &source.name);
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
            _ => invoke::fault_text(self.kind(), &self.to_string(), self.hint()),
        }
    }

    fn text(&self) -> String {
        if let Failure::Text { drawn, .. } = self {
            return drawn.clone();
        }
        let hint = match self {
            Failure::Api { error } => error.hint(),
            _ => self.hint().map(Into::into),
        };
        match hint {
            Some(hint) => format!("error: {self}\n  help: {hint}"),
            None => format!("error: {self}"),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Failure::NobodyReads | Failure::Write { .. } => "write",
            Failure::Read { .. }
            | Failure::TooLong { .. }
            | Failure::NotText { .. }
            | Failure::NotJson { .. } => "read",
            Failure::Listen { .. } => "listen",
            Failure::Api { error } | Failure::Text { error, .. } => error.kind(),
            Failure::Driver(_) | Failure::Capability { .. } | Failure::Probe { .. } => "device",
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Failure::NotText { .. } | Failure::TooLong { .. } => {
                Some("a kernel is a text of Triton IR, as Triton writes it to its cache as *.ttir")
            }
            Failure::Probe { .. } => Some("try again while nothing else runs on the device"),
            Failure::Listen { .. } => Some("give another port, or --port 0 for any that is free"),
            Failure::NotJson { .. } => {
                Some("a machine is an object, as `weft machines --json` prints them")
            }
            _ => None,
        }
    }
}
