//! Whether work is still wanted.
//!
//! There is no clock here: a caller that has one, or that learns that nobody waits any more, sets the
//! [`Stop`], or gives it a question to ask. Searches ask it, and end with an error of their own.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A flag that is set from another thread; clones share it.
///
/// ```
/// use weft_layout::stop::Stop;
///
/// let stop = Stop::default();
/// let shared = stop.clone();
/// assert!(!shared.is_set());
/// stop.set();
/// assert!(shared.is_set());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    outer: Option<Stop>,
    question: Option<Question>,
}

/// What says that a flag is to be set, where no other thread can.
struct Question {
    is_over: Box<dyn Fn() -> bool + Send + Sync>,
    /// How often the flag was looked at.
    looks: AtomicU32,
}

/// Looks at a flag for each time that its question is asked: a question is dearer than a look.
const LOOKS: u32 = 16;

impl Stop {
    /// A flag for a part of the work, which is set where that of the whole is.
    ///
    /// ```
    /// use weft_layout::stop::Stop;
    ///
    /// let whole = Stop::default();
    /// let [one, other] = [whole.inner(), whole.inner()];
    /// one.set();
    /// assert_eq!([&one, &other, &whole].map(Stop::is_set), [true, false, false]);
    /// whole.set();
    /// assert!(other.is_set());
    /// ```
    #[must_use]
    pub fn inner(&self) -> Stop {
        Stop(Arc::new(Flag { outer: Some(self.clone()), ..Flag::default() }))
    }

    /// The same for where there are no threads: it is set once `is_over`, which is asked at the first look
    /// at the flag, and at some of the next ones.
    ///
    /// ```
    /// use weft_layout::stop::Stop;
    ///
    /// let whole = Stop::default();
    /// let part = whole.inner_until(|| true);
    /// assert_eq!([&part, &whole].map(Stop::is_set), [true, false]);
    /// ```
    #[must_use]
    pub fn inner_until(&self, is_over: impl Fn() -> bool + Send + Sync + 'static) -> Stop {
        let question = Question { is_over: Box::new(is_over), looks: AtomicU32::new(0) };
        let (outer, question) = (Some(self.clone()), Some(question));
        Stop(Arc::new(Flag { outer, question, ..Flag::default() }))
    }

    /// Has the work end at the next loop that asks.
    pub fn set(&self) {
        self.0.is_set.store(true, Ordering::Relaxed);
    }

    /// Whether the work shall end.
    pub fn is_set(&self) -> bool {
        let Flag { is_set, outer, question } = &*self.0;
        is_set.load(Ordering::Relaxed)
            || question.as_ref().is_some_and(Question::is_over) && {
                self.set();
                true
            }
            || outer.as_ref().is_some_and(Stop::is_set)
    }
}

impl Question {
    fn is_over(&self) -> bool {
        let looks = self.looks.load(Ordering::Relaxed);
        self.looks.store(looks.wrapping_add(1), Ordering::Relaxed);
        looks.is_multiple_of(LOOKS) && (self.is_over)()
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").field("looks", &self.looks).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_question_is_asked_at_some_looks_and_never_again_once_it_is_over() {
        let asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        let stop =
            Stop::default().inner_until(move || counted.fetch_add(1, Ordering::Relaxed) == 2);
        let looks: Vec<bool> = (0..4 * LOOKS).map(|_| stop.is_set()).collect();
        let first = looks.iter().position(|&is_set| is_set);
        assert_eq!(first, Some(2 * LOOKS as usize));
        assert!(looks[2 * LOOKS as usize..].iter().all(|&is_set| is_set));
        assert_eq!(asked.load(Ordering::Relaxed), 3);
    }
}
