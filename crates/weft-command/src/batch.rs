//! Many requests of one kind: one JSON object a line in, one a line out, in order.

use crate::Outcome;
use crate::failure::Failure;
use crate::input;
use crate::output::Output;
use std::io::BufRead as _;
use std::path::Path;
use weft_api::invoke;

/// Answers every line; a line that cannot be answered gives an error object, and the next one is read.
pub(crate) fn run(request: &str, path: &Path, output: &mut Output) -> Result<Outcome, Failure> {
    let (name, mut reader) = input::open(path)?;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line);
        if read.map_err(|error| Failure::Read { path: name.clone(), error, near: None })? == 0 {
            return Ok(Outcome::Good);
        }
        let answer = match std::str::from_utf8(&line) {
            Ok(line) => {
                let line = invoke::without_mark(line).trim_end_matches(['\n', '\r']);
                invoke::invoke_line(request, line)
            }
            Err(error) => {
                let message = format!("byte {} of the line is not UTF-8", error.valid_up_to());
                invoke::fault_text("json", &message, None)
            }
        };
        output.line(&answer)?;
    }
}
