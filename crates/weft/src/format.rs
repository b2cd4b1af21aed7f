//! Lines that a kernel prints: what `printf` of C prints, from the same format.
//!
//! Values are those that C hands to a function of any arguments: words and long words of integers, and
//! doubles.

use core::fmt::Write as _;

/// A line to be printed: texts, and values in the order of the arguments.
///
/// ```
/// use weft::format::{Format, How, Piece};
///
/// let whole = Piece::Value { how: How::Signed, wide: false, width: 3 };
/// let format = Format(vec![Piece::Text("100% of ".into()), whole, Piece::Text("\n".into())]);
/// assert_eq!(format.line(&[7]), "100% of   7\n");
/// assert_eq!(format.c(), "100%% of %3d\n");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Format(pub Vec<Piece>);

/// A part of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Text that is written as it stands.
    Text(String),
    /// The next of the values that are printed.
    Value {
        /// How it is written.
        how: How,
        /// Whether it has 64 bits, not 32. A float always has.
        wide: bool,
        /// The fewest characters, filled up with blanks on the left; of digits in hexadecimal, which
        /// are filled up with zeros.
        width: u8,
    },
}

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// An integer in decimal.
    Signed,
    /// An integer without a sign, in decimal.
    Unsigned,
    /// Bits in hexadecimal, after `0x`.
    Hexadecimal,
    /// A double with six digits after the point.
    Float,
}

impl Format {
    /// Whether each value has 64 bits (true) or 32, in order, and whether it is a float.
    pub fn values(&self) -> impl Iterator<Item = (bool, bool)> {
        self.0.iter().filter_map(|piece| match *piece {
            Piece::Text(_) => None,
            Piece::Value { how, wide, .. } => Some((wide || how == How::Float, how == How::Float)),
        })
    }

    /// The line for these raw bits.
    pub fn line(&self, values: &[u64]) -> String {
        let mut line = String::new();
        let mut values = values.iter().copied();
        for piece in &self.0 {
            let _ = match *piece {
                Piece::Text(ref text) => write!(line, "{text}"),
                Piece::Value { how, wide, width } => {
                    let (bits, width) = (values.next().unwrap_or(0), usize::from(width));
                    let bits = if wide || how == How::Float { bits } else { bits & 0xffff_ffff };
                    match how {
                        How::Signed if wide => write!(line, "{:width$}", bits as i64),
                        How::Signed => write!(line, "{:width$}", bits as u32 as i32),
                        How::Unsigned => write!(line, "{bits:width$}"),
                        How::Hexadecimal => write!(line, "0x{bits:0width$x}"),
                        How::Float => write!(line, "{:>width$}", float(f64::from_bits(bits))),
                    }
                }
            };
        }
        line
    }

    /// What [`c`](Self::c) writes, read again; none where it writes no such text.
    pub fn from_c(text: &str) -> Option<Self> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut rest = text;
        let push = |pieces: &mut Vec<Piece>, text: &str| match pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => pieces.push(Piece::Text(text.into())),
        };
        while let Some((before, after)) = rest.split_once('%') {
            if let Some(after) = after.strip_prefix('%') {
                push(&mut pieces, before);
                push(&mut pieces, "%");
                rest = after;
                continue;
            }
            let (before, after) = match (before.strip_suffix("0x"), after.strip_prefix('0')) {
                (Some(before), Some(after)) => (before, after),
                _ => (before, after),
            };
            push(&mut pieces, before);
            let digits = after.find(|c: char| !c.is_ascii_digit())?;
            let (width, after) = after.split_at(digits);
            let width = if width.is_empty() { 0 } else { width.parse().ok()? };
            let (wide, after) = match after.strip_prefix("ll") {
                Some(after) => (true, after),
                None => (false, after),
            };
            let (how, after) = match after.split_at_checked(1)? {
                ("d", after) => (How::Signed, after),
                ("u", after) => (How::Unsigned, after),
                ("x", after) => (How::Hexadecimal, after),
                ("f", after) => (How::Float, after),
                _ => return None,
            };
            pieces.push(Piece::Value { how, wide, width });
            rest = after;
        }
        push(&mut pieces, rest);
        let format = Self(pieces);
        (format.c() == text).then_some(format)
    }

    /// The format as `printf` takes it.
    pub fn c(&self) -> String {
        let mut format = String::new();
        for piece in &self.0 {
            match *piece {
                Piece::Text(ref text) => format.push_str(&text.replace('%', "%%")),
                Piece::Value { how, wide, width } => {
                    format.push_str(if how == How::Hexadecimal { "0x%0" } else { "%" });
                    if width > 0 {
                        let _ = write!(format, "{width}");
                    }
                    format.push_str(if wide && how != How::Float { "ll" } else { "" });
                    format.push(match how {
                        How::Signed => 'd',
                        How::Unsigned => 'u',
                        How::Hexadecimal => 'x',
                        How::Float => 'f',
                    });
                }
            }
        }
        format
    }
}

/// Lines that were printed, as many as there was room for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Printed {
    /// The first lines, in the order in which they were printed.
    pub lines: Vec<String>,
    /// How many there were.
    pub count: u64,
}

impl Printed {
    /// The most lines that are kept.
    pub const MOST: usize = 10_000;

    /// Adds a line to what was printed: it is counted, and kept up to [`MOST`](Self::MOST).
    pub fn push(&mut self, line: impl FnOnce() -> String) {
        if self.lines.len() < Self::MOST {
            self.lines.push(line());
        }
        self.count += 1;
    }
}

/// `%f`: infinities and NaN in small letters, a NaN without its sign.
fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x < 0.0 { "-inf".into() } else { "inf".into() };
    }
    format!("{x:.6}")
}

/// A text as it stands between the quotes of C, PTX and Triton IR: printable ASCII, and the rest by
/// `escape` of each byte.
pub(crate) fn quoted(text: &str, escape: impl Fn(u8) -> String) -> String {
    let mut quoted = String::new();
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => quoted.push_str(&escape(byte)),
        }
    }
    quoted
}
