//! The mbarriers of one instance.

use std::collections::BTreeMap;

/// An mbarrier and the copies that it counts.
#[derive(Clone, PartialEq, Default)]
struct Mbarrier {
    /// How many copies each phase counts, or 1 for all threads.
    counted: u32,
    /// How many of them there were in the phase under way.
    begun: u32,
    /// Whether the phase under way is an odd one.
    is_odd: bool,
    /// The places that the copies of the phase under way write.
    open: Vec<usize>,
    /// Those of the phases that are over, and that nobody has waited for.
    landed: Vec<usize>,
}

/// All mbarriers, by the first byte of each.
#[derive(Clone, PartialEq, Default)]
pub(super) struct Mbarriers(BTreeMap<u64, Mbarrier>);

impl Mbarriers {
    /// Begins the first phase of one.
    pub(super) fn open(&mut self, at: u64, counted: u32) {
        self.0.insert(at, Mbarrier { counted, ..Mbarrier::default() });
    }

    /// Counts a copy to some places. A copy lands when it begins, so its phase is over with the last one.
    pub(super) fn count(&mut self, at: u64, places: impl Iterator<Item = usize>) -> Option<()> {
        let mbarrier = self.0.get_mut(&at)?;
        mbarrier.open.extend(places);
        mbarrier.begun += 1;
        if mbarrier.begun == mbarrier.counted {
            (mbarrier.begun, mbarrier.is_odd) = (0, !mbarrier.is_odd);
            let over = core::mem::take(&mut mbarrier.open);
            mbarrier.landed.extend(over);
        }
        Some(())
    }

    /// What may be looked at when a phase of this parity is over; nothing where it never is.
    pub(super) fn wait(&mut self, at: u64, odd: bool) -> Option<Vec<usize>> {
        let mbarrier = self.0.get_mut(&at)?;
        (mbarrier.is_odd != odd).then(|| core::mem::take(&mut mbarrier.landed))
    }
}
