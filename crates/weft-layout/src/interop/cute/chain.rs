//! Few swizzles over a plain layout.
//!
//! A layout that is linear is a plain CuTe layout exactly when no row of its matrix has two ones
//! (see [`import`](super::import)): each bit of the offset copies at most one bit of the index.
//! A swizzle adds rows to other rows and is its own inverse, so a layout is swizzles over a plain
//! one exactly when adding rows in blocks, the outermost swizzle first, leaves single ones.

use alloc::{vec, vec::Vec};

use super::Swizzle;
use crate::f2::{Matrix, ones};

/// The swizzles to undo, outermost first, so that a plain layout is left, and whether no fewer do.
/// The columns other than zero are independent, or there are none that do.
///
/// One and two are found whenever they exist, by trying all.
pub(super) fn chain(matrix: &Matrix) -> (Vec<Swizzle>, bool) {
    let rows = Rows::of(matrix);
    if let Some(swizzles) = rows.few() {
        return (swizzles, true);
    }
    let swizzles = rows.descend();
    // Fewer than three have been excluded.
    let shortest = swizzles.len() <= 3;
    (swizzles, shortest)
}

/// A matrix as its rows: for each bit of the offset, the bits of the index that it adds.
#[derive(Clone)]
struct Rows {
    rows: [u64; 64],
    /// Rows from this one on are zero, and stay so.
    width: u32,
}

impl Rows {
    fn of(matrix: &Matrix) -> Rows {
        let mut rows = [0; 64];
        for (slot, &row) in rows.iter_mut().zip(matrix.transpose().columns()) {
            *slot = row;
        }
        let used = matrix.columns().iter().fold(0, |used, column| used | column);
        Rows { rows, width: 64 - used.leading_zeros() }
    }

    fn row(&self, index: u32) -> u64 {
        self.rows.get(index as usize).copied().unwrap_or(0)
    }

    fn add(&mut self, target: u32, source: u32) {
        let row = self.row(source);
        if let Some(slot) = self.rows.get_mut(target as usize) {
            *slot ^= row;
        }
    }

    fn after(&self, swizzle: Swizzle) -> Rows {
        let mut rows = self.clone();
        for bit in 0..swizzle.bits() {
            rows.add(swizzle.target() + bit, swizzle.source() + bit);
        }
        rows
    }

    /// The rows with two ones or more.
    fn crowded(&self) -> u64 {
        let crowded = (0..self.width).filter(|&row| excess(self.row(row)) > 0);
        crowded.fold(0, |mask, row| mask | 1 << row)
    }

    fn is_plain(&self) -> bool {
        self.crowded() == 0
    }

    /// The one swizzle after which no row is crowded; the shortest distance if there are several.
    ///
    /// It must change every crowded row, and what it changes is one block, so that only the
    /// distance is open.
    fn single(&self) -> Option<Swizzle> {
        let crowded = self.crowded();
        let low = crowded.checked_ilog2().map(|_| crowded.trailing_zeros())?;
        let bits = crowded.ilog2() - low + 1;
        let clears = |source: u32| {
            (0..bits).all(|bit| excess(self.row(low + bit) ^ self.row(source + bit)) == 0)
        };
        (bits..self.width).find_map(|distance| {
            let above = Some(low + distance).filter(|source| source + bits <= self.width);
            let below = low.checked_sub(distance);
            let source = [above, below].into_iter().flatten().find(|&source| clears(source))?;
            Swizzle::between(bits, low, source).ok()
        })
    }

    /// A shortest chain when it has at most two swizzles.
    fn few(&self) -> Option<Vec<Swizzle>> {
        if self.is_plain() {
            return Some(Vec::new());
        }
        if let Some(swizzle) = self.single() {
            return Some(vec![swizzle]);
        }
        Swizzle::all(self.width).find_map(|outer| Some(vec![outer, self.after(outer).single()?]))
    }

    /// A chain that is not known to be shortest: the swizzle that removes most ones, again and
    /// again; when none does, single additions of rows.
    fn descend(mut self) -> Vec<Swizzle> {
        let mut swizzles = Vec::new();
        while let Some(best) = self.best() {
            self = self.after(best);
            swizzles.push(best);
        }
        self.eliminate(&mut swizzles);
        swizzles
    }

    /// The first of the swizzles that remove most ones from crowded rows, if any removes one.
    fn best(&self) -> Option<Swizzle> {
        let gain = |swizzle: Swizzle| -> i64 {
            let (target, source) = (swizzle.target(), swizzle.source());
            let each = |bit| {
                let row = self.row(target + bit);
                i64::from(excess(row)) - i64::from(excess(row ^ self.row(source + bit)))
            };
            (0..swizzle.bits()).map(each).sum()
        };
        let gains = Swizzle::all(self.width).map(|swizzle| (gain(swizzle), swizzle));
        let best = gains.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.filter(|best| best.0 > 0).map(|best| best.1)
    }

    /// Gauss-Jordan elimination without exchanges: a row for each column, the lightest ones first,
    /// which is then added to all crowded rows that have the column.
    ///
    /// A crowded row has no column whose row is chosen already, so that a chosen row, once all of
    /// its other columns are, has one.
    fn eliminate(mut self, swizzles: &mut Vec<Swizzle>) {
        let (mut chosen, mut done) = (0_u64, 0_u64);
        while !self.is_plain() {
            let free = (0..self.width).filter(|row| chosen >> row & 1 == 0);
            let open = free.filter(|&row| self.row(row) & !done != 0);
            let Some(pivot) = open.min_by_key(|&row| self.row(row).count_ones()) else {
                return;
            };
            let column = self.row(pivot) & !done;
            let column = column & column.wrapping_neg();
            chosen |= 1 << pivot;
            done |= column;
            for row in ones(self.crowded() & !(1 << pivot)) {
                if self.row(row) & column != 0 {
                    self.add(row, pivot);
                    swizzles.extend(Swizzle::between(1, row, pivot));
                }
            }
        }
    }
}

/// How many ones a row has beyond the first.
fn excess(row: u64) -> u32 {
    row.count_ones().saturating_sub(1)
}
