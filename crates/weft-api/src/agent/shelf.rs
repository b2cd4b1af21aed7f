//! The texts of earlier answers that were too long to send at once.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// What every handle begins with; the rest is made from the text.
pub const SCHEME: &str = "weft://kept/";
/// The most bytes that are kept; the oldest texts go first.
const MAX_BYTES: usize = 64 << 20;
/// The characters of a page where nothing is said.
pub(super) const PAGE: usize = 8_000;
/// The most characters of a page.
pub(super) const MAX_PAGE: usize = 32_000;

/// A text that is kept, and how it is found again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it is: [`SCHEME`] and sixteen digits that depend on the text alone, so that the same
    /// question gives the same handle.
    pub handle: String,
    /// What sort of text it is: `application/json`, `image/svg+xml` or `text/plain`.
    pub media_type: &'static str,
    /// The whole text, which is handed out in parts.
    pub text: String,
}

impl Kept {
    /// A text with its handle.
    pub fn new(text: String) -> Self {
        let media_type = match text.as_bytes() {
            [b'{' | b'[', ..] if serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok() => {
                "application/json"
            }
            [b'<', b's', b'v', b'g', ..] => "image/svg+xml",
            _ => "text/plain",
        };
        Self { handle: format!("{SCHEME}{:016x}", digest(text.as_bytes())), media_type, text }
    }
}

/// The hash FNV-1a: it names a text the same way in every build.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The texts of a session.
#[derive(Debug, Default)]
pub struct Shelf {
    texts: BTreeMap<String, Kept>,
    /// The handles, oldest first.
    order: VecDeque<String>,
    bytes: usize,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Page {
    /// Where the text is.
    pub handle: String,
    /// The first character of the part, from zero.
    pub offset: usize,
    /// The characters of the whole text.
    pub characters: usize,
    /// Where the next part begins; none after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// This part of the text.
    pub text: String,
}

impl Shelf {
    /// Keeps a text. A text longer than all there is room for is not kept.
    pub fn keep(&mut self, kept: Kept) {
        if self.texts.contains_key(&kept.handle) || kept.text.len() > MAX_BYTES {
            return;
        }
        self.bytes += kept.text.len();
        self.order.push_back(kept.handle.clone());
        self.texts.insert(kept.handle.clone(), kept);
        while self.bytes > MAX_BYTES {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(gone) = self.texts.remove(&oldest) {
                self.bytes -= gone.text.len();
            }
        }
    }

    /// The text of a handle.
    pub fn find(&self, handle: &str) -> Option<&Kept> {
        self.texts.get(handle)
    }

    /// All texts, by handle.
    pub fn all(&self) -> impl Iterator<Item = &Kept> {
        self.texts.values()
    }

    /// So many characters of a text from one on.
    pub(super) fn page(&self, handle: &str, offset: usize, length: usize) -> Option<Page> {
        let text = &self.find(handle)?.text;
        let characters = text.chars().count();
        let part: String = text.chars().skip(offset).take(length).collect();
        let end = offset.saturating_add(length);
        let next_offset = (end < characters).then_some(end);
        Some(Page { handle: handle.into(), offset, characters, next_offset, text: part })
    }
}
