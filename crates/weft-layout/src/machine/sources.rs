use alloc::borrow::Cow;
use core::fmt;

use super::Machine;

/// How a number of a [`Machine`] came to be known, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A program of this project measured it, or asked the device's driver.
    Measured,
    /// Others measured it and published what they found.
    Published,
    /// The vendor's documents say it.
    Documented,
    /// The vendor's assembler or compiler takes the instruction for exactly these targets.
    Assembled,
    /// It follows from the others, or is taken over from a relative.
    Inferred,
    /// No source was at hand.
    Recalled,
}

impl Origin {
    /// Every origin, the surest first.
    pub const ALL: [Origin; 6] = [
        Origin::Measured,
        Origin::Published,
        Origin::Documented,
        Origin::Assembled,
        Origin::Inferred,
        Origin::Recalled,
    ];

    /// Its name in texts.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Measured => "measured",
            Origin::Published => "published",
            Origin::Documented => "documented",
            Origin::Assembled => "assembled",
            Origin::Inferred => "inferred",
            Origin::Recalled => "recalled",
        }
    }

    /// The origin of this name.
    pub fn by_word(word: &str) -> Option<Origin> {
        Origin::ALL.into_iter().find(|origin| origin.word() == word)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where numbers of a [`Machine`] come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The number, or all numbers below, by the names of the fields with dots between them:
    /// `prices.alu`, `phases.load.16` (bytes a lane), `matrix_moves.ldmatrix.m8n8.b16`; empty for the
    /// whole machine.
    pub of: Cow<'static, str>,
    /// How it came to be known.
    pub origin: Origin,
    /// The document, the measurement or the other number that it was taken from.
    pub from: Cow<'static, str>,
}

impl Source {
    /// Whether it speaks of this number.
    fn covers(&self, path: &str) -> bool {
        match path.strip_prefix(&*self.of) {
            Some(rest) => self.of.is_empty() || rest.is_empty() || rest.starts_with('.'),
            None => false,
        }
    }
}

/// A row of a table of sources.
pub(super) const fn source(of: &'static str, origin: Origin, from: &'static str) -> Source {
    Source { of: Cow::Borrowed(of), origin, from: Cow::Borrowed(from) }
}

impl Machine {
    /// Where a number comes from: of the sources that cover it the one that is closest.
    ///
    /// ```
    /// use weft_layout::{Machine, machine::Origin};
    ///
    /// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
    /// let source = machine.source("prices.alu").ok_or("no source")?;
    /// assert_eq!(source.origin, Origin::Measured);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn source(&self, path: &str) -> Option<&Source> {
        let covering = self.sources.iter().filter(|source| source.covers(path));
        covering.max_by_key(|source| source.of.len())
    }
}
