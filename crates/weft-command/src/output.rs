//! The only place that writes.

use crate::failure::Failure;
use std::io::{self, IsTerminal as _, Stdout, Write};
use std::path::Path;
use std::time::Duration;
use weft_api::view::Colours;

/// Standard output and standard error.
pub(crate) struct Output {
    standard: Stdout,
}

impl Output {
    pub(crate) fn standard() -> Self {
        Self { standard: io::stdout() }
    }

    /// Whether standard output shows colours: it is a terminal that can, and the user does not object
    /// (`NO_COLOR`), or insists (`CLICOLOR_FORCE`).
    pub(crate) fn colours(&self) -> Colours {
        match anstream::AutoStream::choice(&self.standard) {
            anstream::ColorChoice::Never => Colours::Off,
            _ => Colours::On,
        }
    }

    /// Writes a text to standard output, at once.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        let mut locked = self.standard.lock();
        let written = locked.write_all(text.as_bytes()).and_then(|()| locked.flush());
        written.map_err(|error| match error.kind() {
            // Whoever reads has read enough.
            io::ErrorKind::BrokenPipe => Failure::NobodyReads,
            _ => Failure::Write { path: "standard output".into(), error },
        })
    }

    /// Writes a line to standard output.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Failure> {
        self.text(&format!("{line}\n"))
    }

    /// Writes a text to a file.
    pub(crate) fn file(path: &Path, text: &str) -> Result<(), Failure> {
        std::fs::write(path, text)
            .map_err(|error| Failure::Write { path: path.display().to_string(), error })
    }

    /// Writes a line to standard error; if that fails there is nobody to tell.
    pub(crate) fn note(line: &str) {
        let _ = writeln!(io::stderr(), "{line}");
    }

    /// Shows how far a long task has come, on standard error where that is a terminal; the last call
    /// takes the line away.
    pub(crate) fn progress(what: &str, done: usize, all: usize) {
        let mut error = io::stderr();
        if !error.is_terminal() {
            return;
        }
        let _ = if done < all {
            write!(error, "\r\x1b[K{what} {done}/{all}")
        } else {
            write!(error, "\r\x1b[K")
        };
        let _ = error.flush();
    }

    /// Writes how long something took to standard error.
    pub(crate) fn duration(what: &str, time: Duration) {
        Self::note(&format!("{what:10} {:10.3} ms", time.as_secs_f64() * 1e3));
    }

    /// Writes how long a simulation took, and how fast it was, to standard error.
    pub(crate) fn rate(what: &str, time: Duration, lane_instructions: u64) {
        let seconds = time.as_secs_f64();
        let rate = lane_instructions as f64 / seconds.max(1e-9) / 1e6;
        Self::note(&format!(
            "{what:10} {:10.3} ms, {rate:.1} million lane instructions a second",
            seconds * 1e3
        ));
    }
}
