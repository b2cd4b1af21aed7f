//! Processes that are asked, watched, and replaced where they die or do not answer.

use super::inputs::{Seeds, scrambled};
use super::{MEMORY, PATIENCE, STACK, TIME};
use anyhow::{Context as _, bail};
use fastrand::Rng;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A process that answers lines with lines; it is ended when it is dropped.
pub(super) struct Lines {
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
}

impl Lines {
    pub(super) fn start(command: &mut Command) -> anyhow::Result<Self> {
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

    /// The number of the process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn say(&mut self, line: &[u8]) -> anyhow::Result<()> {
        self.input.write_all(line)?;
        self.input.write_all(b"\n")?;
        Ok(self.input.flush()?)
    }

    pub(super) fn hear(&mut self) -> anyhow::Result<String> {
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

/// A process that answers requests, one a line, with what became of each, as [`super::work`] does.
pub(super) struct Worker {
    command: Command,
    lines: Option<Lines>,
}

impl Worker {
    /// One that a command starts, as often as it ends.
    pub(super) fn new(command: Command) -> Self {
        Self { command, lines: None }
    }

    /// What became of a request.
    pub(super) fn ask(&mut self, door: &str, text: &str) -> anyhow::Result<String> {
        if self.lines.is_none() {
            self.lines = Some(Lines::start(&mut self.command)?);
        }
        let lines = self.lines.as_mut().context("it was started")?;
        let line = serde_json::to_string(&(door, text))?;
        let heard = lines.say(line.as_bytes()).and_then(|()| lines.hear());
        heard.inspect_err(|_| self.lines = None)
    }
}

/// The command, started for each input, its first thread on little stack.
pub(super) struct Shell {
    weft: PathBuf,
}

impl Shell {
    pub(super) fn new(weft: &Path) -> Self {
        Self { weft: weft.to_owned() }
    }

    /// A line that is typed, and whether the command ends with one of its three statuses.
    pub(super) fn ask(
        &mut self,
        seeds: &Seeds,
        dice: &mut Rng,
    ) -> (String, anyhow::Result<String>) {
        let (words, input) = seeds.line(dice);
        let told = self.told(&words, &input);
        (format!("weft {}\n{input}", words.join("\u{1f}")), told)
    }

    fn told(&self, words: &[String], input: &str) -> anyhow::Result<String> {
        let mut command = Command::new("sh");
        let line = format!(
            "ulimit -d {} && ulimit -s {} && exec \"$0\" \"$@\"",
            MEMORY >> 10,
            STACK >> 10
        );
        command.args(["-c", &line]).arg(&self.weft).args(words);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut stdin = child.stdin.take().context("no input")?;
        let start = Instant::now();
        thread::scope(|scope| {
            // It may end before it has read everything.
            scope.spawn(move || stdin.write_all(input.as_bytes()));
            loop {
                if let Some(status) = child.try_wait()? {
                    return match status.code() {
                        Some(0 | 1) => Ok("answer".into()),
                        Some(2) => Ok("error".into()),
                        _ => bail!("it died: {status}"),
                    };
                }
                if start.elapsed() > PATIENCE {
                    child.kill()?;
                    child.wait()?;
                    bail!("no answer");
                }
                thread::sleep(Duration::from_millis(2));
            }
        })
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

/// A command without limits.
pub(super) fn unlimited(weft: &Path, arguments: &str) -> Command {
    let mut command = Command::new(weft);
    command.args(arguments.split(' '));
    command
}

/// Begins a session with `weft mcp`.
pub(super) fn mcp(command: &mut Command) -> anyhow::Result<Lines> {
    let mut lines = Lines::start(command)?;
    let about = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hostile", "version": "1"}});
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about});
    lines.say(begin.to_string().as_bytes())?;
    lines.hear()?;
    lines.say(br#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#)?;
    Ok(lines)
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
            self.lines = Some(mcp(&mut limited(&self.weft, "mcp"))?);
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
        Self::start_by(&mut limited(weft, "serve --port 0"))
    }

    /// The server that a command is.
    pub(super) fn start_by(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
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

    /// Says something, and no more, and gives what comes until the server closes the connection. Whoever does
    /// not wait has gone when the answer comes, and may get none.
    pub(super) fn attack(&self, bytes: &[u8], waits: bool) -> anyhow::Result<Vec<u8>> {
        let mut stream = self.connect()?;
        // A refusal may come before everything is said, and break the connection.
        let _ = stream.write_all(bytes);
        if !waits {
            let _ = stream.shutdown(Shutdown::Write);
        }
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

/// A body in chunks, now and then with a length that is not theirs; and whether all of them are right.
fn chunks(body: &str, dice: &mut Rng) -> (String, bool) {
    let letters: Vec<char> = body.chars().collect();
    let (mut text, mut is_right) = (String::new(), true);
    for part in letters.chunks(dice.usize(1..=1000)) {
        let part: String = part.iter().collect();
        let is_wrong = dice.u8(..64) == 0;
        let length = if is_wrong { dice.usize(..) } else { part.len() };
        text += &format!("{length:x}\r\n{part}\r\n");
        is_right &= !is_wrong;
    }
    (text + "0\r\n\r\n", is_right)
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
        let port = self.served.as_ref().map_or(0, |served| served.port);
        // Some connections are kept for several requests, and what follows does not wait for an answer.
        let count = if dice.u8(..4) == 0 { dice.usize(2..=4) } else { 1 };
        let (mut message, mut is_whole) = (String::new(), true);
        for index in 1..=count {
            let body = seeds.request(dice, true);
            let line = match dice.u8(..8) {
                0 => "GET / HTTP/1.1",
                1 => "GET /engine.json HTTP/1.1",
                _ => "POST /invoke HTTP/1.1",
            };
            let length = match dice.u8(..8) {
                0 => "Transfer-Encoding: chunked\r\n".to_owned(),
                _ => format!("Content-Length: {}\r\n", body.len()),
            };
            let end = if index == count { "Connection: close\r\n" } else { "" };
            let head = format!("{line}\r\nHost: 127.0.0.1:{port}\r\n{length}{end}\r\n");
            // Half of the faults are in the head.
            let (head, is_right) =
                if dice.bool() { (head, true) } else { (scrambled(&head, dice), false) };
            let (body, is_all) = match &*length {
                "Transfer-Encoding: chunked\r\n" => chunks(&body, dice),
                _ => (body, true),
            };
            is_whole &= is_right && is_all;
            message += &(head + &body);
        }
        let outcome = self.told(&message, is_whole);
        if outcome.is_err() {
            self.served = None;
        }
        (message, outcome)
    }

    /// Whoever says something whole waits for the answer; whoever does not, leaves.
    fn told(&mut self, message: &str, waits: bool) -> anyhow::Result<String> {
        if self.served.is_none() {
            self.served = Some(Served::start(&self.weft)?);
        }
        let served = self.served.as_ref().context("it was started")?;
        let answer = served.attack(message.as_bytes(), waits)?;
        let (status, _) = served.post(r#"{"request": "machines", "target": "sm_90"}"#)?;
        if status != 200 {
            bail!("a small request is answered with {status}");
        }
        Ok(if answer.starts_with(b"HTTP/1.1 200") { "answer" } else { "error" }.into())
    }
}
