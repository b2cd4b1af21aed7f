//! How much memory a run may hold.

use core::cell::Cell;
use std::rc::Rc;

/// What is left of the memory that a run may hold: whoever keeps something takes its bytes from here.
/// Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Room {
    left: Rc<Cell<u64>>,
    is_full: Rc<Cell<bool>>,
}

impl Default for Room {
    /// Room without end.
    fn default() -> Self {
        Self::of(u64::MAX)
    }
}

impl Room {
    pub(super) fn of(bytes: u64) -> Self {
        Self { left: Rc::new(Cell::new(bytes)), is_full: Rc::default() }
    }

    /// Takes so many bytes; where there are fewer, none, and the room is full from then on.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let left = self.left.get().checked_sub(bytes as u64);
        match left {
            Some(left) => self.left.set(left),
            None => self.is_full.set(true),
        }
        left.is_some()
    }

    /// Whether somebody asked for more than there was: what the run does from then on means nothing.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.get()
    }
}
