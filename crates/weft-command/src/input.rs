//! Files as texts.

use crate::arguments::FromPython;
use crate::failure::Failure;
use crate::triton::{self, For};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use weft_api::invoke;
use weft_api::request::Target;
use weft_api::suggest::nearest;

/// The longest file that is read, in bytes: no kernel comes near it.
const MAX_BYTES: u64 = 1 << 26;

/// Where a kernel is looked for that is asked for by its name alone, as in a checkout of Weft.
const FOLDERS: [&str; 3] = ["", "examples", "kernels"];

/// A text and the name under which errors speak of it.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The Triton IR that a word of the command means: a file of it, a file of Python whose kernel an installed
/// Triton makes it of, the name of a recorded kernel, or standard input for `-`.
pub(crate) fn kernel(path: &Path, python: &FromPython, what: For<'_>) -> Result<Source, Failure> {
    let has_extension = |extension: &str| {
        path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
    };
    if has_extension("py") && path.exists() {
        return triton::ttir(path, python, what);
    }
    if let Some(option) = python.given() {
        return Err(Failure::NoPython { option, path: path.display().to_string() });
    }
    let is_name = path.extension().is_none() && path.components().count() == 1;
    let source = if is_name && path != Path::new("-") && !path.exists() {
        let recorded = |folder: &str| Path::new(folder).join(path).with_extension("ttir");
        let found = FOLDERS.into_iter().map(recorded).find(|file| file.exists());
        read(&found.ok_or_else(|| no_kernel(path))?)?
    } else {
        read(path)?
    };
    // Nobody writes this into Triton IR.
    if source.text.contains("@triton.jit") {
        return Err(Failure::IsPython { path: source.name });
    }
    Ok(source)
}

/// Why there is no kernel of a name, with the one that may have been meant.
fn no_kernel(name: &Path) -> Failure {
    let texts = FOLDERS.into_iter().flat_map(|folder| files(Path::new(folder)));
    let texts = texts.filter(|file| file.extension() == Some(OsStr::new("ttir")));
    let names: Vec<String> = texts.filter_map(|file| text_of(file.file_stem())).collect();
    let name = name.display().to_string();
    let near = nearest(&name, names.iter().map(String::as_str)).map(str::to_owned);
    Failure::NoKernel { name, near }
}

/// The files of a folder, in their names' order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn text_of(name: Option<&OsStr>) -> Option<String> {
    Some(name?.to_str()?.to_owned())
}

/// The file of the same folder that a path which leads to none may have meant.
fn near(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let names: Vec<String> =
        files(folder).iter().filter_map(|file| text_of(file.file_name())).collect();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(folder.join(near).display().to_string())
}

/// Why a file cannot be read.
fn unread(path: &Path, error: io::Error) -> Failure {
    let near = if error.kind() == io::ErrorKind::NotFound { near(path) } else { None };
    Failure::Read { path: path.display().to_string(), error, near }
}

/// Reads a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Source, Failure> {
    let (name, reader) = open(path)?;
    let mut bytes = Vec::new();
    let read = reader.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| unread(path, error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::TooLong { path: name, limit_mebibytes: MAX_BYTES >> 20 });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { name, text: invoke::without_mark(&text).to_owned() }),
        Err(error) => {
            let byte = error.utf8_error().valid_up_to();
            Err(Failure::NotText { path: name, byte })
        }
    }
}

/// Opens a file, or standard input for `-`, for reading by lines.
pub(crate) fn open(path: &Path) -> Result<(String, Box<dyn BufRead>), Failure> {
    if path == Path::new("-") {
        return Ok(("standard input".into(), Box::new(io::stdin().lock())));
    }
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok((name, Box::new(BufReader::new(file)))),
        Err(error) => Err(unread(path, error)),
    }
}

/// The machine that a word of the command names: one that is known, or a file of JSON.
pub(crate) fn target(word: &str) -> Result<Target, Failure> {
    let path = Path::new(word);
    if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("json")) {
        return Ok(word.into());
    }
    let Source { name, text } = read(path)?;
    match serde_json::from_str(&text) {
        Ok(value) => Ok(Target::Whole(Box::new(value))),
        Err(error) => Err(Failure::NotJson { path: name, error }),
    }
}
