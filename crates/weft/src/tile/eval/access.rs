//! Loads, stores and atomics, element by element in row-major order.

use super::elements::Elements;
use super::world::{Site, World};
use crate::atomic::Rmw;
use crate::dtype::DType;

/// Where the elements of one memory operation are, and which of them take part.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    /// How many elements there are.
    pub(super) count: usize,
    /// What lies at each address.
    pub(super) dtype: DType,
    /// The address of each element.
    pub(super) pointers: &'a Elements,
    /// Whether each element takes part; all do where there is none.
    pub(super) mask: Option<&'a Elements>,
}

impl Places<'_> {
    fn takes_part(&self, index: usize) -> bool {
        self.mask.is_none_or(|mask| mask.get(index) & 1 == 1)
    }
}

impl World<'_, '_> {
    /// The elements in memory; `other` where the mask is false, zero outside of memory.
    pub(super) fn load(
        &mut self,
        site: Site<'_>,
        places: Places<'_>,
        other: &Elements,
    ) -> Elements {
        Elements::from_fn(places.count, |index| {
            if places.takes_part(index) {
                self.read(site, &places, index)
            } else {
                other.get(index)
            }
        })
    }

    /// Writes the elements.
    pub(super) fn store(&mut self, site: Site<'_>, places: Places<'_>, values: &Elements) {
        for index in (0..places.count).filter(|&index| places.takes_part(index)) {
            self.sums.forget(places.pointers.get(index));
            self.write(site, &places, index, values.get(index));
        }
    }

    /// Changes the elements in memory by `op`, and returns what was there.
    pub(super) fn read_modify_write(
        &mut self,
        site: Site<'_>,
        places: Places<'_>,
        op: Rmw,
        values: &Elements,
    ) -> Result<Elements, String> {
        if op.apply(places.dtype, 0, 0).is_none() {
            return Err(format!("{op} is no operation on {}", places.dtype));
        }
        let found = self.atomic(site, places, |index, old| {
            op.apply(places.dtype, old, values.get(index)).unwrap_or(old)
        });
        for index in (0..places.count).filter(|&index| places.takes_part(index)) {
            let address = places.pointers.get(index);
            match op {
                Rmw::FAdd => {
                    self.sums.add(address, places.dtype, found.get(index), values.get(index));
                }
                Rmw::Exch | Rmw::Max | Rmw::Min => self.sums.forget(address),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Replaces the elements in memory by `desired` where they have the bits of `expected`, and
    /// returns what was there.
    pub(super) fn compare_and_swap(
        &mut self,
        site: Site<'_>,
        places: Places<'_>,
        expected: &Elements,
        desired: &Elements,
    ) -> Elements {
        self.atomic(
            site,
            places,
            |index, old| {
                if old == expected.get(index) { desired.get(index) } else { old }
            },
        )
    }

    fn atomic(
        &mut self,
        site: Site<'_>,
        places: Places<'_>,
        next: impl Fn(usize, u64) -> u64,
    ) -> Elements {
        Elements::from_fn(places.count, |index| {
            if !places.takes_part(index) {
                return 0;
            }
            match self.memory.read(places.pointers.get(index), places.dtype.bytes()) {
                Ok(bits) => {
                    let old = bits & places.dtype.mask();
                    self.write(site, &places, index, next(index, old));
                    old
                }
                Err(access) => {
                    self.outside(site, index, access);
                    0
                }
            }
        })
    }

    fn read(&mut self, site: Site<'_>, places: &Places<'_>, index: usize) -> u64 {
        match self.memory.read(places.pointers.get(index), places.dtype.bytes()) {
            Ok(bits) => bits & places.dtype.mask(),
            Err(access) => {
                self.outside(site, index, access);
                0
            }
        }
    }

    fn write(&mut self, site: Site<'_>, places: &Places<'_>, index: usize, bits: u64) {
        match self.memory.write(places.pointers.get(index), places.dtype.bytes(), bits) {
            Ok(changed) => self.changed |= changed,
            Err(access) => self.outside(site, index, access),
        }
    }
}
