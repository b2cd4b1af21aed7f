//! Words packed from bytes.
//!
//! What is cut out of words (shifted, truncated, extended, permuted) and put together again is known
//! byte by byte: each byte of the result is a byte of some value that nothing is known of. So a word of
//! bytes of at most two words is one byte permute of them, however many operations described it, and
//! none where it is one of them.
//!
//! A word of bytes of four words takes three permutes by itself. Its halves are taken from words that
//! hold two pairs of neighbouring bytes, so that four words are transposed with eight permutes:
//!
//! ```text
//! x, y, z, w      a = x0 y0 x1 y1     x0 y0 z0 w0 = low half of a, low half of b
//!                 b = z0 w0 z1 w1     x1 y1 z1 w1 = high half of a, high half of b
//! ```

use super::{Builder, Op, Value};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast};
use smallvec::SmallVec;

/// How far back definitions are followed.
const DEPTH: u32 = 8;

/// What is known of one byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Byte {
    /// Nobody looks at it.
    Any,
    Zero,
    /// Byte `.1` of this value.
    Of(Value, u8),
}

/// The bytes of a value of at most 32 bits, lowest first; those above it are zero.
type Bytes = [Byte; 4];

impl Builder {
    /// Two or four values of 16 or 8 bits as one value as wide as all of them, the first lowest; a
    /// single one as the low part of a word whose other bits may be anything.
    pub fn join(&mut self, parts: &[Value]) -> Value {
        let width = parts.first().map_or(1, |&part| self.dtype(part).bytes()) as usize;
        let mut bytes = [Byte::Any; 4];
        for (place, &part) in parts.iter().enumerate() {
            let of_part = self.known_bytes(part, DEPTH);
            for (to, from) in bytes.iter_mut().skip(place * width).zip(&of_part[..width.min(4)]) {
                *to = *from;
            }
        }
        let word = self.word(bytes);
        match (width, parts.len()) {
            (1, 2) => self.cast(Cast::Trunc, word, DType::I16),
            _ => word,
        }
    }

    /// A value cut into parts of this type, the first lowest; it is that of [`Builder::join`].
    pub fn split(&mut self, whole: Value, dtype: DType) -> SmallVec<[Value; 4]> {
        let (bits, width) = (dtype.bits(), self.dtype(whole).bits());
        let integer = if bits == 16 { DType::I16 } else { DType::I8 };
        (0..width / bits.max(1))
            .map(|part| {
                let count = self.constant(self.dtype(whole), u64::from(part * bits));
                let moved = self.binary(Binary::ShrU, whole, count);
                let part = self.cast(Cast::Trunc, moved, integer);
                self.cast(Cast::Bits, part, dtype)
            })
            .collect()
    }

    /// The permuted word as bytes of what its operands were made of; none where the selector may be
    /// anything, or repeats a sign.
    pub(super) fn permuted(&mut self, a: Value, b: Value, selector: u64) -> Option<Value> {
        if selector & 0x8888 != 0 {
            return None;
        }
        let pair = [self.known_bytes(a, DEPTH), self.known_bytes(b, DEPTH)].concat();
        let byte = |place: u32| pair[(selector >> (4 * place) & 7) as usize];
        Some(self.word([byte(0), byte(1), byte(2), byte(3)]))
    }

    /// The union of two words of which each has bytes where the other has zeros, and each was made of
    /// bytes.
    pub(super) fn united(&mut self, x: Value, y: Value) -> Option<Value> {
        if self.dtype(x) != DType::I32 {
            return None;
        }
        let (x_bytes, y_bytes) = (self.known_bytes(x, DEPTH), self.known_bytes(y, DEPTH));
        let mut bytes = [Byte::Zero; 4];
        for (byte, pair) in bytes.iter_mut().zip(x_bytes.iter().zip(&y_bytes)) {
            *byte = match pair {
                (Byte::Zero, other) | (other, Byte::Zero) => *other,
                _ => return None,
            };
        }
        let roots = roots_of(&bytes);
        (roots.len() <= 2).then(|| self.of_two(bytes, &roots))
    }

    /// The bytes of a value of which nothing is known.
    fn opaque_bytes(&self, value: Value) -> Bytes {
        let width = self.dtype(value).bytes() as usize;
        let byte = |place: usize| Byte::Of(value, place as u8);
        core::array::from_fn(|place| if place < width { byte(place) } else { Byte::Zero })
    }

    /// What is known of a value's bytes from the operations that made it.
    fn known_bytes(&self, value: Value, depth: u32) -> Bytes {
        let width = self.dtype(value).bytes().min(4) as usize;
        let opaque = self.opaque_bytes(value);
        let (Some(inst), Some(depth)) = (self.definitions[value], depth.checked_sub(1)) else {
            return opaque;
        };
        let inst = &self.program.insts[inst];
        let of = |operand: usize| self.known_bytes(inst.operands[operand], depth);
        let narrow = |operand: usize| {
            let dtype = self.dtype(inst.operands[operand]);
            dtype != DType::I1 && dtype.bytes() <= 4
        };
        let constant = |operand: usize| self.constant_bits(inst.operands[operand]);
        let known = match inst.op {
            Op::Const(0) => Some([Byte::Zero; 4]),
            Op::Cast(Cast::ExtU | Cast::Trunc | Cast::Bits) if narrow(0) => Some(of(0)),
            Op::Binary(Binary::ShrU) if narrow(0) => {
                constant(1).and_then(whole_bytes).map(|count| {
                    let bytes = of(0);
                    core::array::from_fn(|to| *bytes.get(to + count).unwrap_or(&Byte::Zero))
                })
            }
            Op::Binary(Binary::Shl) if narrow(0) => {
                constant(1).and_then(whole_bytes).map(|count| {
                    let bytes = of(0);
                    let from = |to: usize| to.checked_sub(count).map(|from| bytes[from]);
                    core::array::from_fn(|to| from(to).unwrap_or(Byte::Zero))
                })
            }
            Op::Binary(Binary::And) if narrow(0) => constant(1).and_then(|mask| {
                let bytes = of(0);
                let kept = |place: usize| mask >> (8 * place) & 0xff;
                (0..4).all(|place| matches!(kept(place), 0 | 0xff)).then(|| {
                    core::array::from_fn(|at| if kept(at) == 0 { Byte::Zero } else { bytes[at] })
                })
            }),
            Op::Bytes => constant(2).filter(|selector| selector & 0x8888 == 0).map(|selector| {
                let pair = [of(0), of(1)];
                core::array::from_fn(|to| {
                    let from = (selector >> (4 * to) & 7) as usize;
                    pair[from / 4][from % 4]
                })
            }),
            _ => None,
        };
        let mut bytes = known.unwrap_or(opaque);
        bytes[width..].fill(Byte::Zero);
        bytes
    }

    /// A word of these bytes.
    fn word(&mut self, bytes: Bytes) -> Value {
        let bytes = self.converted_together(bytes);
        let roots = roots_of(&bytes);
        if roots.len() <= 2 {
            return self.of_two(bytes, &roots);
        }
        // A half of one source is left as it is.
        let single = |half: &[Byte]| roots_of(&[half[0], half[1], Byte::Any, Byte::Any]).len() < 2;
        let (low, high) = (&bytes[..2], &bytes[2..]);
        let mut result = bytes;
        let mut cut = |build: &mut Self, half: &[Byte], at: usize| {
            let (word, places) = build.pair([half[0], half[1]]);
            result[at] = Byte::Of(word, places[0]);
            result[at + 1] = Byte::Of(word, places[1]);
        };
        if !single(low) {
            cut(self, low, 0);
        }
        if !single(high) {
            cut(self, high, 2);
        }
        self.of_two(result, &roots_of(&result))
    }

    /// These bytes, where two neighbours that were each rounded from an f32, or are the f16 of a float of eight
    /// bits, are converted together.
    fn converted_together(&mut self, mut bytes: Bytes) -> Bytes {
        for width in [1, 2] {
            for pair in bytes.chunks_exact_mut(2 * width) {
                let whole = |half: &[Byte]| {
                    let &Byte::Of(value, _) = half.first()? else { return None };
                    let all = (0..width as u8).map(|place| Byte::Of(value, place));
                    all.eq(half.iter().copied()).then_some(value)
                };
                let (low, high) = pair.split_at(width);
                let (Some(low), Some(high)) = (whole(low), whole(high)) else { continue };
                let Some(both) = self.converted_pair(low, high, width) else { continue };
                for (place, byte) in pair.iter_mut().enumerate() {
                    *byte = Byte::Of(both, place as u8);
                }
            }
        }
        bytes
    }

    /// Two floats of `width` bytes side by side, where one operation makes both.
    fn converted_pair(&mut self, low: Value, high: Value, width: usize) -> Option<Value> {
        let (x, y) = (self.converted(low)?, self.converted(high)?);
        let (from, to) = (self.dtype(x), self.dtype(low));
        if (from, to) != (self.dtype(y), self.dtype(high)) || to.bytes() as usize != width {
            return None;
        }
        if from == DType::F32 {
            return Some(self.round_pair(to, x, y));
        }
        (from.is_f8() && to == DType::F16).then(|| {
            let pair = self.join(&[x, y]);
            self.widen_pair(from, pair)
        })
    }

    /// The float of which a value is the float of another type.
    fn converted(&self, value: Value) -> Option<Value> {
        let inst = &self.program.insts[self.definitions[value]?];
        (inst.op == Op::Cast(Cast::Float)).then(|| inst.operands[0])
    }

    /// A word that holds a pair of bytes of two words and the pair of their neighbours, and where the
    /// pair stands in it.
    fn pair(&mut self, pair: [Byte; 2]) -> (Value, [u8; 2]) {
        let next = |byte: Byte| match byte {
            Byte::Of(value, place)
                if usize::from(place ^ 1) < self.dtype(value).bytes() as usize =>
            {
                Byte::Of(value, place ^ 1)
            }
            _ => Byte::Any,
        };
        let neighbours = pair.map(next);
        let odd = matches!(pair[0], Byte::Of(_, place) if place & 1 == 1);
        let (first, second) = if odd { (neighbours, pair) } else { (pair, neighbours) };
        let bytes = [first[0], first[1], second[0], second[1]];
        let word = self.of_two(bytes, &roots_of(&bytes));
        (word, if odd { [2, 3] } else { [0, 1] })
    }

    /// A word of bytes of at most two sources.
    fn of_two(&mut self, bytes: Bytes, roots: &[Option<Value>]) -> Value {
        let mut word = |root: Option<Value>| match root {
            None => self.i32(0),
            Some(root) => {
                let integer = match self.dtype(root).bits() {
                    8 => DType::I8,
                    16 => DType::I16,
                    _ => DType::I32,
                };
                let root = self.cast(Cast::Bits, root, integer);
                self.cast(Cast::ExtU, root, DType::I32)
            }
        };
        let words: SmallVec<[Value; 2]> = roots.iter().map(|&root| word(root)).collect();
        for (&root, &word) in roots.iter().zip(&words) {
            let whole = root.map_or([Byte::Zero; 4], |root| self.opaque_bytes(root));
            if bytes.iter().zip(&whole).all(|(byte, own)| *byte == Byte::Any || byte == own) {
                return word;
            }
        }
        let Some(&first) = words.first() else { return self.i32(0) };
        let second = words.get(1).copied().unwrap_or(first);
        let selector = bytes.iter().enumerate().fold(0, |all, (to, byte)| {
            let source = match byte {
                Byte::Any => None,
                Byte::Zero => Some((None, 0)),
                Byte::Of(value, place) => Some((Some(*value), *place)),
            };
            let from = source.map_or(to as u64, |(root, place)| {
                let word = roots.iter().position(|&other| other == root).unwrap_or(0);
                4 * word as u64 + u64::from(place)
            });
            all | from << (4 * to)
        });
        let selector = self.i32(selector as i32);
        self.permute(first, second, selector)
    }
}

/// The sources of bytes in the order of their numbers; none stands for zeros.
fn roots_of(bytes: &Bytes) -> SmallVec<[Option<Value>; 4]> {
    let mut roots: SmallVec<[Option<Value>; 4]> = SmallVec::new();
    for byte in bytes {
        let root = match byte {
            Byte::Any => continue,
            Byte::Zero => None,
            Byte::Of(value, _) => Some(*value),
        };
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots.sort();
    roots
}

/// The bytes of a shift by whole bytes.
fn whole_bytes(bits: u64) -> Option<usize> {
    (bits.is_multiple_of(8) && bits < 32).then_some(bits as usize / 8)
}
