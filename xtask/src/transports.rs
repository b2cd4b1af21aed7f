//! The same requests through every transport: the function itself, the WebAssembly module under Node, and
//! the command's server on loopback. The answers must be the same bytes.

use crate::{root, say};
use anyhow::{Context as _, bail, ensure};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use weft_api::invoke;

/// The requests, one a line.
const REQUESTS: &str = "crates/weft-api/tests/transports/requests.jsonl";

/// What carries requests.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Transport {
    /// The module for browsers, which is built first.
    Wasm,
    /// `weft serve`.
    Http,
}

/// Asks everything twice, here and over there.
pub(crate) fn run(transport: Transport, weft: &Path) -> anyhow::Result<()> {
    let path = root().join(REQUESTS);
    let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let requests: Vec<&str> = text.lines().collect();
    let answers = match transport {
        Transport::Wasm => {
            let module = module()?;
            through_node(&["wasm".as_ref(), module.as_path()], &text)?
        }
        Transport::Http => {
            let server = Server::start(weft)?;
            through_node(&["http".as_ref(), server.address.as_ref()], &text)?
        }
    };
    let answers: Vec<&str> = answers.lines().collect();
    ensure!(
        answers.len() == requests.len(),
        "{} requests have {} answers",
        requests.len(),
        answers.len()
    );
    let mut differ = 0;
    for (number, (request, answer)) in (1..).zip(requests.iter().zip(&answers)) {
        let expected = invoke(request);
        if *answer != expected {
            differ += 1;
            let at = expected.bytes().zip(answer.bytes()).take_while(|(a, b)| a == b).count();
            say(&format!("request {number}: not the same from byte {at} on"));
        }
    }
    ensure!(differ == 0, "{differ} of {} answers are not the same", requests.len());
    say(&format!("{} answers are the same bytes", requests.len()));
    Ok(())
}

/// Builds the module as it is shipped.
pub(crate) fn module() -> anyhow::Result<PathBuf> {
    let target = ["--target", "wasm32-unknown-unknown"];
    built(&[&["--package", "weft-wasm", "--profile", "wasm"], &target[..]].concat(), "wasm")
}

/// Builds something, and says where its file with an extension lies.
pub(crate) fn built(arguments: &[&str], extension: &str) -> anyhow::Result<PathBuf> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--locked", "--message-format", "json"])
        .args(arguments)
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "`cargo build {}` fails", arguments.join(" "));
    // Where cargo put it, cargo says.
    let files = String::from_utf8(output.stdout)?;
    let found = files.lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let files = message["filenames"].as_array()?;
        let mut files = files.iter().filter_map(|file| file.as_str()).map(PathBuf::from);
        files.find(|file| file.extension().is_some_and(|found| found == extension))
    });
    found.with_context(|| format!("cargo names no {extension} file"))
}

fn through_node(arguments: &[&Path], requests: &str) -> anyhow::Result<String> {
    let mut node = Command::new("node")
        .arg(root().join("xtask/src/transports.mjs"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("`node` cannot be started")?;
    let mut input = node.stdin.take().context("node has no input")?;
    input.write_all(requests.as_bytes())?;
    drop(input);
    let output = node.wait_with_output()?;
    ensure!(output.status.success(), "the transport failed");
    Ok(String::from_utf8(output.stdout)?)
}

/// A server that ends with this value.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(weft: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(weft)
            .args(["serve", "--port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} cannot be started", weft.display()))?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut server = Self { child, address: String::new() };
        BufReader::new(output).read_line(&mut server.address)?;
        server.address.truncate(server.address.trim_end().len());
        if !server.address.starts_with("http://127.0.0.1:") {
            bail!("`weft serve` says `{}` and no address", server.address);
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
