//! Where in the user's source an operation came from: MLIR's `loc`.

use crate::id::{IdMap, IdVec, define_id};
use core::fmt;

define_id! {
    /// A place in the user's source, in a [`Locations`] table.
    Loc, "#loc"
}

/// One place in the user's source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    /// A place that nothing is known of.
    Unknown,
    /// A line and column of a file, both from one.
    File {
        /// The file's path as the front end wrote it.
        file: String,
        /// The line, from one.
        line: u32,
        /// The column, from one.
        column: u32,
    },
    /// A name given to another place (the front end names values after Python variables).
    Named {
        /// The name, which the source gave to a value.
        name: String,
        /// The place that has this name.
        of: Loc,
    },
    /// What an operation is there for, told of another place.
    Noted {
        /// What it is there for, in one line.
        note: String,
        /// The place that it was made for.
        of: Loc,
    },
    /// A place inside a function that was inlined.
    CallSite {
        /// The place in the inlined function.
        callee: Loc,
        /// The place of the call.
        caller: Loc,
    },
}

/// A place in the user's source, by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The file's path as the front end wrote it.
    pub file: String,
    /// The line, from one.
    pub line: u32,
    /// The column, from one.
    pub column: u32,
}

impl fmt::Display for Source {
    /// Writes `file:line:column`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Source { file, line, column } = self;
        write!(f, "{file}:{line}:{column}")
    }
}

/// The places that a module's operations refer to. Entry 0 is [`Location::Unknown`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Locations(IdVec<Loc, Location>);

impl Default for Locations {
    fn default() -> Self {
        let mut table = IdVec::new();
        table.push(Location::Unknown);
        Self(table)
    }
}

impl Locations {
    /// The place that is not known.
    pub const UNKNOWN: usize = 0;

    /// The id of the place that is not known.
    pub fn unknown() -> Loc {
        crate::id::Id::new(Self::UNKNOWN)
    }

    /// Adds a place, and gives its id.
    pub fn push(&mut self, location: Location) -> Loc {
        self.0.push(location)
    }

    /// Replaces a place: the parser hands out ids for aliases that are defined further down.
    pub fn set(&mut self, loc: Loc, location: Location) {
        self.0[loc] = location;
    }

    /// The place behind an id.
    pub fn get(&self, loc: Loc) -> &Location {
        self.0.get(loc).unwrap_or(&Location::Unknown)
    }

    /// The file, line and column that a reader should open: names are looked through, and of an
    /// inlined place the callee is taken.
    pub fn resolve(&self, loc: Loc) -> Option<(&str, u32, u32)> {
        let mut at = loc;
        // A chain longer than the table is a cycle, which only a hostile text has.
        for _ in 0..=self.0.len() {
            match self.get(at) {
                Location::Unknown => return None,
                Location::File { file, line, column } => return Some((file, *line, *column)),
                Location::Named { of, .. } | Location::Noted { of, .. } => at = *of,
                Location::CallSite { callee, .. } => at = *callee,
            }
        }
        None
    }

    /// Every file, line and column behind an id, each once: the one that [`resolve`](Self::resolve) gives
    /// first, then from where it was called.
    ///
    /// ```
    /// use weft::ttir::{Places, parse_with};
    ///
    /// let text = "tt.func public @stop() {\n  tt.return loc(callsite(\"a.py\":1:2 at \"b.py\":3:4))\n}";
    /// let module = parse_with(text, Places::Text)?;
    /// let last = module.kernels[0].ops.values().next_back().unwrap().loc;
    /// let trail = module.locations.trail(last);
    /// let trail: Vec<String> = trail.iter().map(ToString::to_string).collect();
    /// assert_eq!(trail, ["text:2:3", "a.py:1:2", "b.py:3:4"]);
    /// # Ok::<(), weft::diagnostic::Diagnostics>(())
    /// ```
    pub fn trail(&self, loc: Loc) -> Vec<Source> {
        let (mut trail, mut seen) = (Vec::new(), IdMap::<Loc, bool>::default());
        let mut ahead = vec![loc];
        // A place is gone through once, however often a hostile text names it.
        while let Some(at) = ahead.pop() {
            if core::mem::replace(seen.entry(at), true) {
                continue;
            }
            match self.get(at) {
                Location::Unknown => {}
                Location::File { file, line, column } => {
                    trail.push(Source { file: file.clone(), line: *line, column: *column });
                }
                Location::Named { of, .. } | Location::Noted { of, .. } => ahead.push(*of),
                Location::CallSite { callee, caller } => ahead.extend([*caller, *callee]),
            }
        }
        trail
    }

    /// As [`resolve`](Self::resolve), by itself.
    pub fn source(&self, loc: Loc) -> Option<Source> {
        let (file, line, column) = self.resolve(loc)?;
        Some(Source { file: file.into(), line, column })
    }

    /// The outermost name given to a place, if any.
    pub fn name(&self, loc: Loc) -> Option<&str> {
        match self.get(loc) {
            Location::Named { name, .. } => Some(name),
            _ => None,
        }
    }

    /// What an operation at this place is there for, if that was told.
    pub fn note(&self, loc: Loc) -> Option<&str> {
        match self.get(loc) {
            Location::Noted { note, .. } => Some(note),
            _ => None,
        }
    }

    /// The place as `file:line:column`, or `unknown`.
    pub fn display(&self, loc: Loc) -> impl fmt::Display + '_ {
        struct At<'a>(Option<(&'a str, u32, u32)>);
        impl fmt::Display for At<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    Some((file, line, column)) => write!(f, "{file}:{line}:{column}"),
                    None => f.write_str("an unknown place"),
                }
            }
        }
        At(self.resolve(loc))
    }
}
