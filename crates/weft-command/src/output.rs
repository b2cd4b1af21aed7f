//! The only place that writes.

use crate::failure::Failure;
use std::fs;
use std::io::{self, Stdout, Write};
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

    /// Whether standard output shows colours: as `--color` says, else where it is a terminal that can, and
    /// the user does not object (`NO_COLOR`), or insists (`CLICOLOR_FORCE`).
    pub(crate) fn colours(&self) -> Colours {
        match anstream::AutoStream::choice(&self.standard) {
            anstream::ColorChoice::Never => Colours::Off,
            _ => Colours::On,
        }
    }

    /// Writes a text to standard output, at once.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        if absent::standard() {
            let error = io::Error::new(io::ErrorKind::NotFound, "it is closed");
            return Err(Failure::Write { path: "standard output".into(), error });
        }
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

    /// Writes a text to a file, or to standard output for none and for `-`.
    pub(crate) fn to(&mut self, path: Option<&Path>, text: &str) -> Result<(), Failure> {
        match path.filter(|path| *path != Path::new("-")) {
            Some(path) => replace(path, text.as_bytes())
                .map_err(|error| Failure::Write { path: path.display().to_string(), error }),
            None => self.text(text),
        }
    }

    /// Writes a line to standard error, with its colours where that shows them; if that fails there is
    /// nobody to tell.
    pub(crate) fn note(line: &str) {
        let _ = writeln!(anstream::stderr(), "{line}");
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

/// Writes a file beside the one that it replaces, so that whoever reads sees the old one or the new one
/// and never a part.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // The file that a link leads to is replaced, not the link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let known = fs::metadata(path).ok();
    match &known {
        // A pipe or a device is written to as it is.
        Some(known) if !known.is_file() => return fs::write(path, bytes),
        // A file that may not be written may not be replaced.
        Some(_) => drop(fs::OpenOptions::new().write(true).open(path)?),
        None => {}
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let mut file = beside().tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    if let Some(known) = known {
        file.as_file().set_permissions(known.permissions())?;
    }
    file.persist(path)?;
    Ok(())
}

/// How a file is made that takes another's place: not as a private one, but with the rights of any new
/// file.
fn beside() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".weft-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Whether the command was started without a standard output.
///
/// The standard library opens `/dev/null` in its place before `main`, so that it is looked at earlier.
#[cfg(unix)]
mod absent {
    use std::sync::atomic::{AtomicBool, Ordering};

    static ABSENT: AtomicBool = AtomicBool::new(false);

    #[ctor::ctor(unsafe)]
    fn look() {
        // A number that is no open file has no flags.
        let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
        ABSENT.store(flags.is_err(), Ordering::Relaxed);
    }

    pub(super) fn standard() -> bool {
        ABSENT.load(Ordering::Relaxed)
    }
}

#[cfg(not(unix))]
mod absent {
    pub(super) fn standard() -> bool {
        false
    }
}
