//! Processes that are asked, watched, and replaced where they die or do not answer.

use super::inputs::{Seeds, scrambled};
use super::{MEMORY, PATIENCE, TIME};
use anyhow::{Context as _, bail};
use fastrand::Rng;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

/// A process that answers lines with lines; it is ended when it is dropped.
struct Lines {
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
}

impl Lines {
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn()?;
        let input = child.stdin.take().context("no input")?;
        let lines = BufReader::new(child.stdout.take().context("no output")?);
        let (sender, output) = channel();
        thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, input, output })
    }

    fn say(&mut self, line: &[u8]) -> anyhow::Result<()> {
        self.input.write_all(line)?;
        self.input.write_all(b"\n")?;
        Ok(self.input.flush()?)
    }

    fn hear(&mut self) -> anyhow::Result<String> {
        match self.output.recv_timeout(PATIENCE) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => bail!("no answer"),
            Err(RecvTimeoutError::Disconnected) => bail!("it died: {}", self.child.wait()?),
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The library's requests, answered by a process of this program ([`super::work`]).
#[derive(Default)]
pub(super) struct Worker(Option<Lines>);

impl Worker {
    /// What became of a request.
    pub(super) fn ask(&mut self, door: &str, text: &str) -> anyhow::Result<String> {
        if self.0.is_none() {
            let mut command = Command::new(std::env::current_exe()?);
            self.0 = Some(Lines::start(command.arg("worker"))?);
        }
        let lines = self.0.as_mut().context("it was started")?;
        let line = serde_json::to_string(&(door, text))?;
        let heard = lines.say(line.as_bytes()).and_then(|()| lines.hear());
        heard.inspect_err(|_| self.0 = None)
    }
}

/// A command under the limits of memory and time.
fn limited(weft: &Path, arguments: &str) -> Command {
    let mut command = Command::new("sh");
    let line = format!(
        "ulimit -d {} && exec \"$0\" {arguments} --limit milliseconds={TIME}",
        MEMORY >> 10
    );
    command.args(["-c", &line]).arg(weft);
    command
}

/// A session with `weft mcp`, which is asked whether it lives after every line.
pub(super) struct Mcp {
    weft: PathBuf,
    lines: Option<Lines>,
    count: u64,
}

impl Mcp {
    pub(super) fn new(weft: &Path) -> Self {
        Self { weft: weft.to_owned(), lines: None, count: 0 }
    }

    /// A line of a session, and whether what comes back is JSON-RPC and the session goes on.
    pub(super) fn ask(
        &mut self,
        seeds: &Seeds,
        dice: &mut Rng,
    ) -> (String, anyhow::Result<String>) {
        let (tool, arguments) = seeds.call(dice);
        let arguments: Value = serde_json::from_str(&arguments).unwrap_or_default();
        let methods = [
            "tools/list",
            "resources/list",
            "resources/read",
            "initialize",
            "ping",
            "notifications/cancelled",
        ];
        let message = if dice.bool() {
            json!({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        } else {
            json!({"jsonrpc": "2.0", "id": "call", "method": methods[dice.usize(..methods.len())], "params": arguments})
        };
        let line = scrambled(&message.to_string(), dice).replace('\n', " ");
        let outcome = self.told(&line);
        if outcome.is_err() {
            self.lines = None;
        }
        (line, outcome)
    }

    fn told(&mut self, line: &str) -> anyhow::Result<String> {
        if self.lines.is_none() {
            let mut lines = Lines::start(&mut limited(&self.weft, "mcp"))?;
            let about = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hostile", "version": "1"}});
            lines.say(
                json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about})
                    .to_string()
                    .as_bytes(),
            )?;
            lines.hear()?;
            lines.say(br#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#)?;
            self.lines = Some(lines);
        }
        self.count += 1;
        let id = format!("alive {}", self.count);
        let lines = self.lines.as_mut().context("it was started")?;
        lines.say(line.as_bytes())?;
        lines.say(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string().as_bytes())?;
        // Calls are answered beside each other, so that answers to earlier lines may come too.
        let mut kind = "answer";
        loop {
            let answer: Value = serde_json::from_str(&lines.hear()?).context("it is no JSON")?;
            if answer["id"] == id.as_str() {
                return Ok(kind.into());
            }
            if answer["jsonrpc"] != "2.0" {
                return Ok("no JSON".into());
            }
            if answer.get("error").is_some() || answer["result"]["isError"] == true {
                kind = "error";
            }
        }
    }
}

/// `weft serve`, at a free port; it is ended when it is dropped.
pub(super) struct Served {
    pub(super) child: Child,
    pub(super) port: u16,
}

impl Served {
    pub(super) fn start(weft: &Path) -> anyhow::Result<Self> {
        let piped = &mut limited(weft, "serve --port 0");
        let mut child = piped.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let port = line.trim().trim_end_matches('/').rsplit(':').next().context("no port")?;
        Ok(Self { port: port.parse().context("no port")?, child })
    }

    pub(super) fn connect(&self) -> anyhow::Result<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// The status and the body of the answer to a request.
    pub(super) fn post(&self, body: &str) -> anyhow::Result<(u16, String)> {
        let mut stream = self.connect()?;
        let head = format!(
            "POST /invoke HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n",
            self.port
        );
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no head")?;
        let status = head.split(' ').nth(1).context("no status")?;
        Ok((status.parse()?, body.to_owned()))
    }

    /// Says something, and no more, and gives what comes until the server closes the connection.
    pub(super) fn attack(&self, bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
        let mut stream = self.connect()?;
        // A refusal may come before everything is said, and break the connection.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Err(error) if error.kind() != ErrorKind::ConnectionReset => bail!("no answer: {error}"),
            _ => Ok(answer),
        }
    }

    /// The memory that it takes now, in kibibytes.
    pub(super) fn resident(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("it died")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connections to `weft serve`, which is asked something small after each.
pub(super) struct Http {
    weft: PathBuf,
    served: Option<Served>,
}

impl Http {
    pub(super) fn new(weft: &Path) -> Self {
        Self { weft: weft.to_owned(), served: None }
    }

    /// What a connection says, and whether it is answered or closed, and the server goes on.
    pub(super) fn ask(
        &mut self,
        seeds: &Seeds,
        dice: &mut Rng,
    ) -> (String, anyhow::Result<String>) {
        let body = seeds.request(dice);
        let port = self.served.as_ref().map_or(0, |served| served.port);
        let message = format!(
            "POST /invoke HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len(),
        );
        // Half of the faults are in the head.
        let message = if dice.bool() {
            message
        } else {
            let (head, body) = message.split_at(message.find("\r\n\r\n").map_or(0, |end| end + 4));
            scrambled(head, dice) + body
        };
        let outcome = self.told(&message);
        if outcome.is_err() {
            self.served = None;
        }
        (message, outcome)
    }

    fn told(&mut self, message: &str) -> anyhow::Result<String> {
        if self.served.is_none() {
            self.served = Some(Served::start(&self.weft)?);
        }
        let served = self.served.as_ref().context("it was started")?;
        let answer = served.attack(message.as_bytes())?;
        let (status, _) = served.post(r#"{"request": "machines", "target": "sm_90"}"#)?;
        if status != 200 {
            bail!("a small request is answered with {status}");
        }
        Ok(if answer.starts_with(b"HTTP/1.1 200") { "answer" } else { "error" }.into())
    }
}
