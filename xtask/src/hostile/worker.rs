//! A process that answers requests within limits, one a line, and says what became of each.

use super::{MEMORY, STACK, TIME};
use anyhow::Context as _;
use serde_json::{Map, Value};
use std::io::{BufRead as _, Write as _};
use std::thread;
use weft_api::agent;
use weft_api::budget::{self, Budget, Limits, Stop};

/// Answers what comes on standard input until it ends.
pub(crate) fn work() -> anyhow::Result<()> {
    rlimit::Resource::DATA.set(MEMORY, MEMORY).context("no limit of memory")?;
    let answer = || -> anyhow::Result<()> {
        let mut output = std::io::stdout().lock();
        for line in std::io::stdin().lock().lines() {
            let (door, text) = serde_json::from_str::<(String, String)>(&line?)?;
            let limits = Limits { milliseconds: TIME, ..Limits::default() };
            let budget = Budget { limits, stop: Stop::default() };
            let outcome = budget::within(&budget, || outcome(&door, &text));
            writeln!(output, "{outcome}")?;
            output.flush()?;
        }
        Ok(())
    };
    let thread = thread::Builder::new().stack_size(STACK).spawn(answer)?;
    thread.join().map_err(|_| anyhow::anyhow!("it panicked"))?
}

/// What became of a request: `answer`, or the kind of its error.
fn outcome(door: &str, text: &str) -> String {
    let answer = match door.strip_prefix("tool ") {
        None => serde_json::from_str(&weft_api::invoke(text)).unwrap_or_default(),
        Some(tool) => match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(arguments) => {
                agent::call(tool, &arguments).map(|reply| reply.value).unwrap_or_default()
            }
            Err(_) => return "no object".into(),
        },
    };
    kind(&answer)
}

/// `answer`, or the kind of an error; of several answers, as an array of requests gets, the worst.
fn kind(answer: &Value) -> String {
    if let Value::Array(answers) = answer {
        let kinds = answers.iter().map(kind);
        let worst = kinds.min_by_key(|kind| match &**kind {
            "defect" | "no JSON" | "no kind" => 0,
            "answer" => 2,
            _ => 1,
        });
        return worst.unwrap_or_else(|| "answer".into());
    }
    match answer.pointer("/error/kind") {
        None if answer.is_object() => "answer".into(),
        None => "no JSON".into(),
        Some(kind) => kind.as_str().unwrap_or("no kind").into(),
    }
}
