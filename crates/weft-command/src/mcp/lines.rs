//! Messages as lines of standard input and output, and the answers to lines that are no messages.
//!
//! The protocol's own library passes over what it cannot read; JSON-RPC 2.0 (section 5.1) has answers for
//! it, so that a client that waits learns why nothing comes.

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::io::{self, BufRead};
use std::sync::Arc;
use std::thread;
use tokio::io::{AsyncWriteExt as _, Stdout};
use tokio::sync::{Mutex, mpsc};

/// The most bytes of one message: a kernel's text of 16 MiB, escaped.
const MAX_MESSAGE: usize = 64 << 20;
/// How deep messages may nest, which is where the reader of JSON stops.
const MAX_DEPTH: usize = 128;
/// Lines that are read ahead.
const AHEAD: usize = 4;

/// A line as it came; of one that is too long its beginning.
type Line = Vec<u8>;

/// Standard input and output as lines.
pub(super) struct Lines {
    input: mpsc::Receiver<Line>,
    output: Arc<Mutex<Stdout>>,
}

impl Lines {
    /// Reads standard input on a thread of its own, which ends with it.
    pub(super) fn standard() -> io::Result<Self> {
        let (sender, input) = mpsc::channel(AHEAD);
        let read = move || {
            let mut reader = io::stdin().lock();
            while let Ok(Some(line)) = next_line(&mut reader)
                && sender.blocking_send(line).is_ok()
            {}
        };
        thread::Builder::new().spawn(read)?;
        Ok(Self { input, output: Arc::new(Mutex::new(tokio::io::stdout())) })
    }
}

/// The next line without its end, and nothing of it beyond [`MAX_MESSAGE`] and one byte; nothing at the end
/// of the input, where a line that has no end is none.
fn next_line(reader: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    loop {
        let available = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            available => available?,
        };
        if available.is_empty() {
            return Ok(None);
        }
        let end = available.iter().position(|&byte| byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        let room = (MAX_MESSAGE + 1).saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let read = end.map_or(available.len(), |end| end + 1);
        reader.consume(read);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move { write(&output, serde_json::to_string(&item)?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = self.input.recv().await?;
            match read(&line) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => write(&self.output, refusal.to_string()).await.ok()?,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.input.close();
        Ok(())
    }
}

/// Writes a line in one piece.
async fn write(output: &Mutex<Stdout>, mut line: String) -> io::Result<()> {
    line.push('\n');
    let mut output = output.lock().await;
    output.write_all(line.as_bytes()).await?;
    output.flush().await
}

/// The message of a line, nothing where nobody waits for an answer to it, or the answer to what is none.
fn read(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Value> {
    let refuse = |code: i32, id: Value, message: String| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    let unread = |message: String| refuse(PARSE_ERROR, Value::Null, message);
    let invalid = |id, message: String| refuse(INVALID_REQUEST, id, message);
    if line.len() > MAX_MESSAGE {
        let message = format!("the message is longer than {} MiB", MAX_MESSAGE >> 20);
        return Err(invalid(Value::Null, message));
    }
    let text = std::str::from_utf8(line)
        .map_err(|error| unread(format!("byte {} is not UTF-8", error.valid_up_to())))?;
    let text = weft_api::invoke::without_mark(text).trim();
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(message) = serde_json::from_str(text) {
        return Ok(Some(message));
    }
    if depth(text) > MAX_DEPTH - 1 {
        let message = format!("the message nests deeper than {MAX_DEPTH}");
        return Err(invalid(Value::Null, message));
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| unread(format!("it is no JSON: {error}")))?;
    let id = value.get("id").filter(|id| id.is_string() || id.is_number());
    match (id, value.get("method")) {
        // Nobody answers a notification, not even one that is not known.
        (None, Some(Value::String(_))) => Ok(None),
        (id, _) => {
            let message = "it is JSON, and no request, notification or response of the protocol";
            Err(invalid(id.cloned().unwrap_or_default(), message.into()))
        }
    }
}

/// The codes of JSON-RPC 2.0, section 5.1.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// How deep brackets outside of strings nest in a text, whether it is JSON or not.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
