//! Affine functions of the thread.

use alloc::vec::Vec;

use crate::f2::{Echelon, low_mask, ones};

/// Where the operand stands in a name; below it the part of the element.
pub(super) const OPERAND: u32 = 3;
/// Where the element stands in a name, above 16 bits of operand; it has at most 24 bits.
pub(super) const ELEMENT: u32 = 19;
/// The bits of a name.
pub(super) const NAME: u64 = (1 << (ELEMENT + 24)) - 1;

/// The most bits of lane and warp.
pub(super) const MAX_THREAD_BITS: usize = 16;

/// The most linear parts of functions that are told apart.
const MAX_FORMS: usize = 64;

/// What a granule of a register holds: in thread `t` the name `constant + columns·t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// The linear part, and what words are named, by number.
    pub(super) form: u16,
    pub(super) constant: u64,
}

impl Value {
    /// Nothing that was ever written.
    pub(super) const UNDEFINED: Value = Value { form: u16::MAX, constant: 0 };
}

/// The linear part of functions, and the shape of the words whose first letter they name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    columns: [u64; MAX_THREAD_BITS],
    pub(super) word: u16,
}

/// All linear parts so far.
pub(super) struct Forms {
    all: Vec<Form>,
    thread_bits: usize,
}

/// A form without the columns that no thread bit has.
pub(super) struct FormView<'a> {
    pub(super) columns: &'a [u64],
    pub(super) word: u16,
}

impl Forms {
    pub(super) fn new(thread_bits: u32) -> Forms {
        Forms { all: Vec::new(), thread_bits: (thread_bits as usize).min(MAX_THREAD_BITS) }
    }

    pub(super) fn thread_bits(&self) -> usize {
        self.thread_bits
    }

    pub(super) fn get(&self, form: u16) -> Option<FormView<'_>> {
        let form = self.all.get(usize::from(form))?;
        Some(FormView { columns: &form.columns[..self.thread_bits], word: form.word })
    }

    /// The form with these columns of elements.
    pub(super) fn of(&mut self, elements: &[u64], word: u16) -> Option<u16> {
        self.add(elements.iter().map(|&column| column << ELEMENT), word)
    }

    /// The number of a form, new or not.
    pub(super) fn add(&mut self, columns: impl IntoIterator<Item = u64>, word: u16) -> Option<u16> {
        let mut form = Form { columns: [0; MAX_THREAD_BITS], word };
        for (slot, column) in form.columns.iter_mut().zip(columns) {
            *slot = column;
        }
        // The latest ones are asked for most often.
        if let Some(known) = self.all.iter().rposition(|known| *known == form) {
            return Some(known as u16);
        }
        if self.all.len() >= MAX_FORMS {
            return None;
        }
        self.all.push(form);
        Some((self.all.len() - 1) as u16)
    }

    /// `even` where `odd_where` has even parity with the thread, else `odd`.
    ///
    /// The two differ by `c + D·t`; the choice is affine exactly when that is constant where the
    /// parity is odd, so when every column of `D` outside of `odd_where` is zero and those inside
    /// are all the same.
    pub(super) fn select(&mut self, even: Value, odd: Value, odd_where: u64) -> Option<Value> {
        let bits = ones(odd_where).filter(|&bit| (bit as usize) < self.thread_bits);
        let odd_where = bits.fold(0, |mask, bit| mask | 1_u64 << bit);
        if odd_where == 0 || even == odd {
            return Some(even);
        }
        let (e, o) = (self.get(even.form)?, self.get(odd.form)?);
        let differences = || e.columns.iter().zip(o.columns).map(|(e, o)| e ^ o);
        let inside = differences().nth(odd_where.trailing_zeros() as usize)?;
        let expected = |bit: usize| if odd_where >> bit & 1 == 1 { inside } else { 0 };
        let affine = differences().enumerate().all(|(bit, column)| column == expected(bit));
        if e.word != o.word || !affine {
            return None;
        }
        let change = even.constant ^ odd.constant ^ inside;
        let word = e.word;
        let mut columns = self.all.get(usize::from(even.form))?.columns;
        for bit in ones(odd_where) {
            columns[bit as usize] ^= change;
        }
        Some(Value { form: self.add(columns, word)?, ..even })
    }

    /// `bytes[start + C·t]`, where `C` has these columns.
    ///
    /// Let `bytes[start + j] = c_j + F_j·t`. The choice is `c_0 + F_0·t + M·C·t` exactly when every
    /// `F_j - F_0` that some thread chooses vanishes where `C` does, and `M·j` is what `c_j + F_j·t` and
    /// `c_0 + F_0·t` differ by in a thread `t` with `C·t = j`: linear in `j`.
    pub(super) fn choose(
        &mut self,
        bytes: &[Value; 8],
        start: u64,
        columns: &[u64],
    ) -> Option<Value> {
        let at = |index: u64| bytes.get(index as usize).copied();
        let first = at(start)?;
        if columns.iter().all(|&column| column == 0) {
            return Some(first);
        }
        let form = *self.all.get(usize::from(first.form))?;
        // Which threads choose a byte, and those that choose the first.
        let mut threads = Echelon::new();
        let dependent = columns.iter().zip(0..).map(|(&c, bit)| threads.insert(c, 1 << bit));
        let kernel: Vec<u64> = dependent.flatten().collect();
        let mut changes = [None; 8];
        for (index, change) in (0..8).zip(&mut changes) {
            let (outside, chooses) = threads.reduce(index, 0);
            if outside != 0 {
                continue;
            }
            let other = at(start ^ index)?;
            let own = self.all.get(usize::from(other.form))?;
            let differs = |thread: u64| {
                let bits = ones(thread).map(|bit| bit as usize);
                bits.fold(0, |sum, bit| sum ^ own.columns[bit] ^ form.columns[bit])
            };
            let alike = other.form == first.form
                || own.word == form.word && kernel.iter().all(|&thread| differs(thread) == 0);
            if !alike {
                return None;
            }
            let moved = if other.form == first.form { 0 } else { differs(chooses) };
            *change = Some(first.constant ^ other.constant ^ moved);
        }
        let mut linear = Echelon::new();
        for &column in columns {
            linear.insert(column, (*changes.get(column as usize)?)?);
        }
        let known = (0..8).zip(changes).filter_map(|(index, change)| Some((index, change?)));
        if known.into_iter().any(|(index, change)| linear.reduce(index, 0).1 != change) {
            return None;
        }
        let sum = form.columns.iter().zip(columns).map(|(own, &c)| own ^ linear.reduce(c, 0).1);
        let form = self.add(sum, form.word)?;
        Some(Value { form, ..first })
    }

    /// The value in thread `shift + columns·t`.
    pub(super) fn compose(&mut self, value: Value, columns: &[u64], shift: u64) -> Option<Value> {
        if value == Value::UNDEFINED {
            return Some(value);
        }
        let form = *self.all.get(usize::from(value.form))?;
        let image = |thread: u64| {
            let bits = ones(thread).filter_map(|bit| form.columns.get(bit as usize));
            bits.fold(0, |sum, column| sum ^ column)
        };
        let moved = self.add(columns.iter().map(|&column| image(column)), form.word)?;
        Some(Value { form: moved, constant: value.constant ^ image(shift) })
    }
}

/// The shapes of words.
pub(super) struct Words {
    all: Vec<Word>,
}

/// The letters of a word as a subspace, and how it was made.
struct Word {
    letters: Echelon,
    made: Option<Made>,
}

/// Two words that were combined: how they vary, and how they differ at thread 0.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Made {
    left: u16,
    right: u16,
    difference: u64,
}

impl Words {
    /// The letters alone, as word 0.
    pub(super) fn new() -> Words {
        Words { all: alloc::vec![Word { letters: Echelon::new(), made: None }] }
    }

    /// What the letters of a word differ by.
    pub(super) fn letters(&self, word: u16) -> Option<&Echelon> {
        self.all.get(usize::from(word)).map(|word| &word.letters)
    }

    /// The union of two disjoint words of one shape.
    pub(super) fn combine(
        &mut self,
        forms: &mut Forms,
        left: Value,
        right: Value,
    ) -> Option<Value> {
        let (l, r) = (forms.get(left.form)?, forms.get(right.form)?);
        let low = low_mask(ELEMENT);
        if l.columns.iter().chain(r.columns).any(|column| column & low != 0) {
            return None;
        }
        let difference = left.constant ^ right.constant;
        let made = Made { left: left.form, right: right.form, difference };
        let columns = forms.all.get(usize::from(left.form))?.columns;
        let known = self.all.iter().position(|word| word.made == Some(made));
        let word = match known {
            Some(known) => known,
            None => {
                let (own, other) = (self.letters(l.word)?, self.letters(r.word)?);
                let inside =
                    |echelon: &Echelon, name: u64| echelon.reduce(name >> ELEMENT, 0).0 == 0;
                let same = own.rank() == other.rank()
                    && other.vectors().all(|letter| own.reduce(letter, 0).0 == 0);
                let mut pairs = l.columns.iter().zip(r.columns);
                if !same || !pairs.all(|(l, r)| inside(own, l ^ r)) {
                    return None;
                }
                let mut letters = own.clone();
                if !letters.grows(difference >> ELEMENT) || self.all.len() >= MAX_FORMS {
                    return None;
                }
                self.all.push(Word { letters, made: Some(made) });
                self.all.len() - 1
            }
        };
        Some(Value { form: forms.add(columns, word as u16)?, ..left })
    }
}
