//! Words over the elements: what combinations produce.

use alloc::{vec, vec::Vec};

/// All words made so far. A word below `letters` is a letter; the others are pairs.
pub(super) struct Words {
    letters: u64,
    pairs: Vec<(u64, u64)>,
    lengths: Vec<u64>,
    /// Whether order matters in some combination.
    pub(super) ordered: bool,
}

impl Words {
    pub(super) fn new(letters: u64) -> Words {
        Words { letters, pairs: Vec::new(), lengths: Vec::new(), ordered: false }
    }

    fn pair(&self, word: u64) -> Option<(u64, u64)> {
        let index = word.checked_sub(self.letters)?;
        self.pairs.get(index as usize).copied()
    }

    fn length(&self, word: u64) -> u64 {
        let index = word.checked_sub(self.letters);
        index.and_then(|index| self.lengths.get(index as usize).copied()).unwrap_or(1)
    }

    /// The word `a` followed by `b`.
    pub(super) fn concatenate(&mut self, a: u64, b: u64) -> u64 {
        // Neighbouring copies combine the same words.
        let last = self.letters + (self.pairs.len() as u64).saturating_sub(1);
        if self.pairs.last() == Some(&(a, b)) {
            return last;
        }
        self.lengths.push(self.length(a).saturating_add(self.length(b)));
        self.pairs.push((a, b));
        self.letters + (self.pairs.len() as u64 - 1)
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
}

impl Reader {
    pub(super) fn new(letters: u64) -> Reader {
        Reader { seen: vec![0; letters as usize], check: 0, stack: Vec::new() }
    }

    /// Whether `word` has `length` letters, all different and all `wanted`; in increasing order if
    /// order matters.
    pub(super) fn is_fibre(
        &mut self,
        words: &Words,
        word: u64,
        length: u64,
        wanted: impl Fn(u64) -> bool,
    ) -> bool {
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
            if *seen == self.check || !wanted(word) || !in_order {
                return false;
            }
            *seen = self.check;
            previous = Some(word);
        }
        true
    }
}
