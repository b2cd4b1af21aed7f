//! Words over the elements: what combinations produce.

use alloc::{vec, vec::Vec};

/// All words made so far. A word below `letters` is a letter; the others are pairs.
///
/// Equal pairs are one word, so that the copies that lanes make of a result are checked once.
pub(super) struct Words {
    letters: u64,
    pairs: Vec<(u64, u64)>,
    lengths: Vec<u64>,
    /// An open hash table of indices into `pairs`, at most half full; its length is a power of two.
    table: Vec<u32>,
    /// Whether order matters in some combination.
    pub(super) ordered: bool,
}

/// A free slot of the table.
const FREE: u32 = u32::MAX;

impl Words {
    pub(super) fn new(letters: u64) -> Words {
        Words {
            letters,
            pairs: Vec::new(),
            lengths: Vec::new(),
            table: vec![FREE; 64],
            ordered: false,
        }
    }

    fn pair(&self, word: u64) -> Option<(u64, u64)> {
        let index = word.checked_sub(self.letters)?;
        self.pairs.get(index as usize).copied()
    }

    fn length(&self, word: u64) -> u64 {
        let index = word.checked_sub(self.letters);
        index.and_then(|index| self.lengths.get(index as usize).copied()).unwrap_or(1)
    }

    /// The word `a` followed by `b`; either way round when order does not matter.
    pub(super) fn concatenate(&mut self, a: u64, b: u64, ordered: bool) -> u64 {
        let pair = if ordered { (a, b) } else { (a.min(b), a.max(b)) };
        if self.pairs.len() * 2 >= self.table.len() {
            self.grow();
        }
        let slot = self.slot(pair);
        if self.table[slot] == FREE {
            self.table[slot] = self.pairs.len() as u32;
            self.lengths.push(self.length(a).saturating_add(self.length(b)));
            self.pairs.push(pair);
        }
        self.letters + u64::from(self.table[slot])
    }

    /// The slot of the table where a pair is, or belongs.
    fn slot(&self, pair: (u64, u64)) -> usize {
        let mask = self.table.len() - 1;
        let mixed = pair.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ pair.1;
        let mut slot = (mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as usize & mask;
        while self.table[slot] != FREE && self.pairs[self.table[slot] as usize] != pair {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.table = vec![FREE; self.table.len() * 2];
        for index in 0..self.pairs.len() {
            let slot = self.slot(self.pairs[index]);
            self.table[slot] = index as u32;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }
}

/// Reads words letter by letter.
pub(super) struct Reader {
    /// In which check each letter was last seen.
    seen: Vec<u32>,
    check: u32,
    stack: Vec<u64>,
    /// For each word the element for which it was found right.
    right: Vec<u64>,
}

impl Reader {
    pub(super) fn new(letters: u64) -> Reader {
        Reader { seen: vec![0; letters as usize], check: 0, stack: Vec::new(), right: Vec::new() }
    }

    /// Whether `word` has `length` letters, all different and all projected to `element`; in
    /// increasing order if order matters.
    pub(super) fn is_fibre(
        &mut self,
        words: &Words,
        word: u64,
        length: u64,
        element: u64,
        projection: impl Fn(u64) -> u64,
    ) -> bool {
        self.right.resize(self.seen.len() + words.len(), u64::MAX);
        if self.right.get(word as usize) == Some(&element) {
            return true;
        }
        if words.length(word) != length {
            return false;
        }
        self.check += 1;
        self.stack.clear();
        self.stack.push(word);
        let mut previous = None;
        while let Some(word) = self.stack.pop() {
            if let Some((a, b)) = words.pair(word) {
                self.stack.extend([b, a]);
                continue;
            }
            let Some(seen) = self.seen.get_mut(word as usize) else { return false };
            let in_order = !words.ordered || previous < Some(word);
            if *seen == self.check || projection(word) != element || !in_order {
                return false;
            }
            *seen = self.check;
            previous = Some(word);
        }
        if let Some(right) = self.right.get_mut(word as usize) {
            *right = element;
        }
        true
    }
}

/// Neighbouring elements of one fibre, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) fibre: u64,
    /// The place of the first one in its fibre.
    pub(super) start: u64,
    /// The place of the last one.
    pub(super) end: u64,
}

/// The interval that each word is.
///
/// The parts of a word that is an interval are intervals that meet.
pub(super) struct Intervals {
    /// Letters first, then pairs.
    all: Vec<Option<Interval>>,
}

impl Intervals {
    /// Reads all words; `letter` gives fibre and place of a letter.
    pub(super) fn of(words: &Words, letter: impl Fn(u64) -> (u64, u64)) -> Intervals {
        let mut all = Vec::with_capacity(words.letters as usize + words.len());
        all.extend((0..words.letters).map(|name| {
            let (fibre, place) = letter(name);
            Some(Interval { fibre, start: place, end: place })
        }));
        // A pair is made after its parts.
        for &(a, b) in &words.pairs {
            let known = |word: u64| all.get(word as usize).copied().flatten();
            let met = known(a).zip(known(b)).and_then(|(left, right)| meet(left, right));
            all.push(met);
        }
        Intervals { all }
    }

    pub(super) fn get(&self, word: u64) -> Option<Interval> {
        self.all.get(word as usize).copied().flatten()
    }
}

/// Two intervals of which the second begins where the first ends.
fn meet(left: Interval, right: Interval) -> Option<Interval> {
    let meets = left.fibre == right.fibre && left.end.checked_add(1) == Some(right.start);
    meets.then_some(Interval { end: right.end, ..left })
}
