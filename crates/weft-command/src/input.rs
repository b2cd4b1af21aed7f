//! Files as texts.

use crate::failure::Failure;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use weft_api::invoke;
use weft_api::request::Target;

/// The longest file that is read, in bytes: no kernel comes near it.
const MAX_BYTES: u64 = 1 << 26;

/// A text and the name under which errors speak of it.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Reads a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Source, Failure> {
    let (name, reader) = open(path)?;
    let mut bytes = Vec::new();
    let read = reader.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::Read { path: name.clone(), error })?;
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
        Err(error) => Err(Failure::Read { path: name, error }),
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
