//! The body of a request, read within limits.

use super::Refusal;
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body as _, Incoming};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The longest request: a kernel of the length that a file may have, and what JSON adds to it.
const MAX_BYTES: usize = 64 << 20;
/// The most bytes of all requests that are being read or answered.
const MAX_BYTES_TOGETHER: usize = 256 << 20;
/// How long a request may take to come, from this machine.
const PATIENCE: Duration = Duration::from_secs(20);

const TOO_LONG: Refusal =
    Refusal(StatusCode::PAYLOAD_TOO_LARGE, "the request is longer than 64 MiB");

/// A text, and the room that it takes for as long as it is there.
pub(super) struct Text {
    text: String,
    _room: Option<OwnedSemaphorePermit>,
}

impl Text {
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

/// Room for the bodies of all connections together.
#[derive(Clone)]
pub(super) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_BYTES_TOGETHER)))
    }
}

impl Room {
    /// Reads a body to its end. It takes room as it comes, not as it is announced.
    pub(super) async fn read(&self, body: Incoming) -> Result<Text, Refusal> {
        if body.size_hint().lower() > MAX_BYTES as u64 {
            return Err(TOO_LONG);
        }
        let read = timeout(PATIENCE, self.collect(body)).await;
        let late = Refusal(StatusCode::REQUEST_TIMEOUT, "the request took too long to come");
        let (bytes, room) = read.map_err(|_| late)??;
        let no_text = "the request is no text: it is not UTF-8";
        let text =
            String::from_utf8(bytes).map_err(|_| Refusal(StatusCode::BAD_REQUEST, no_text))?;
        Ok(Text { text, _room: room })
    }

    async fn collect(
        &self,
        mut body: Incoming,
    ) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), Refusal> {
        let (mut bytes, mut room) = (Vec::new(), None);
        while let Some(frame) = body.frame().await {
            let early = Refusal(StatusCode::BAD_REQUEST, "the request ended too early");
            let Ok(data) = frame.map_err(|_| early)?.into_data() else { continue };
            if bytes.len() + data.len() > MAX_BYTES {
                return Err(TOO_LONG);
            }
            let more = Arc::clone(&self.0).try_acquire_many_owned(data.len() as u32);
            merge(&mut room, more.map_err(|_| Refusal::BUSY)?);
            bytes.extend_from_slice(&data);
        }
        Ok((bytes, room))
    }
}

fn merge(room: &mut Option<OwnedSemaphorePermit>, more: OwnedSemaphorePermit) {
    match room {
        Some(room) => room.merge(more),
        None => *room = Some(more),
    }
}
