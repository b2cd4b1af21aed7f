//! Loads, stores and atomics, element by element in row-major order.

use super::Fault;
use super::bounds;
use super::elements::{Bounded, Bounds, Elements};
use super::sums::Sum;
use super::world::{Site, World};
use crate::atomic::{Atomic, Rmw};
use crate::dtype::DType;

/// Where the elements of one memory operation are, and which of them take part.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    /// How many elements there are.
    pub(super) count: usize,
    /// What lies at each address.
    pub(super) dtype: DType,
    /// The address of each element.
    pub(super) pointers: &'a Bounded,
    /// Whether each element takes part; all do where there is none.
    pub(super) mask: Option<&'a Bounded>,
}

impl Places<'_> {
    fn takes_part(&self, index: usize) -> bool {
        self.mask.is_none_or(|mask| mask.get(index) & 1 == 1)
    }
}

impl Places<'_> {
    /// Whether it is sure which address an element has.
    fn is_sure(&self, index: usize) -> bool {
        self.pointers.bounds.get(index) == 0.0
    }

    /// Whether it is sure whether an element takes part.
    fn takes_part_surely(&self, index: usize) -> bool {
        self.mask.is_none_or(|mask| mask.bounds.get(index) == 0.0)
    }
}

impl World<'_, '_> {
    /// The elements in memory; `other` where the mask is false, zero outside of memory.
    pub(super) fn load(&mut self, site: Site<'_>, places: Places<'_>, other: &Bounded) -> Bounded {
        let bits = Elements::from_fn(places.count, |index| {
            if places.takes_part(index) {
                self.read(site, &places, index)
            } else {
                other.get(index)
            }
        });
        let bounds = Bounds::held(places.count, |index| {
            let other_bound = other.bounds.get(index);
            let (own, elsewhere) = match (places.takes_part(index), places.is_sure(index)) {
                (false, _) if places.takes_part_surely(index) => return other_bound,
                (_, false) => return f64::INFINITY,
                (true, true) => (self.bound_at(&places, index), (other.get(index), other_bound)),
                (false, true) => (other_bound, self.found(&places, index)),
            };
            if places.takes_part_surely(index) {
                own
            } else {
                bounds::either(places.dtype, (bits.get(index), own), elsewhere)
            }
        });
        Bounded { bits, bounds }
    }

    /// Writes the elements of those that take part, in row-major order.
    pub(super) fn store(&mut self, site: Site<'_>, places: Places<'_>, values: &Bounded) {
        for index in 0..places.count {
            let (takes_part, sure) = (places.takes_part(index), places.takes_part_surely(index));
            if !takes_part && sure {
                continue;
            }
            let (new, old) =
                ((values.get(index), values.bounds.get(index)), self.found(&places, index));
            if takes_part {
                self.sums.forget(places.pointers.get(index));
                self.write(site, &places, index, values.get(index));
            }
            let bound = match (places.is_sure(index), sure, takes_part) {
                (false, ..) => f64::INFINITY,
                (true, true, _) => new.1,
                (true, false, true) => bounds::either(places.dtype, new, old),
                (true, false, false) => bounds::either(places.dtype, old, new),
            };
            self.note(&places, index, bound);
        }
    }

    /// Changes the elements in memory as an atomic operation does, and returns what was there.
    pub(super) fn update(
        &mut self,
        site: Site<'_>,
        places: Places<'_>,
        op: Atomic,
        values: &[Bounded],
    ) -> Result<Bounded, String> {
        match (op, values) {
            (Atomic::Rmw(op), [values]) => self.read_modify_write(site, places, op, values),
            (Atomic::Cas, [expected, desired]) => {
                Ok(self.compare_and_swap(site, places, expected, desired))
            }
            _ => Err(format!("it has {} values", values.len())),
        }
    }

    /// Changes the elements in memory by `op`, and returns what was there.
    pub(super) fn read_modify_write(
        &mut self,
        site: Site<'_>,
        places: Places<'_>,
        op: Rmw,
        values: &Bounded,
    ) -> Result<Bounded, String> {
        if op.apply(places.dtype, 0, 0).is_none() {
            return Err(format!("{op} is no operation on {}", places.dtype));
        }
        // Elements of one operation may have one place, so that each finds what those before it left.
        let mut found = vec![0.0; places.count];
        let bits = Elements::from_fn(places.count, |index| {
            found[index] = self.bound_at(&places, index);
            let term = values.get(index);
            let old = self.atomic(site, &places, index, |old| {
                op.apply(places.dtype, old, term).unwrap_or(old)
            });
            if places.takes_part(index) || !places.takes_part_surely(index) {
                self.added(&places, index, op, (old, found[index]), values);
            }
            old
        });
        Ok(Bounded { bits, bounds: Bounds::held(places.count, |index| found[index]) })
    }

    /// Notes the bound of what an atomic operation left.
    fn added(
        &mut self,
        places: &Places<'_>,
        index: usize,
        op: Rmw,
        (old, found): (u64, f64),
        values: &Bounded,
    ) {
        let (address, term) = (places.pointers.get(index), values.get(index));
        let term_bound = values.bounds.get(index);
        let sure = places.is_sure(index) && places.takes_part_surely(index);
        let bound = match op {
            Rmw::FAdd => {
                self.sums.add(address, places.dtype, (old, found), (term, term_bound));
                self.sums.at(address).map_or(0.0, Sum::bound)
            }
            Rmw::Exch => term_bound,
            Rmw::Max | Rmw::Min | Rmw::UMax | Rmw::UMin => found.max(term_bound),
            Rmw::Add => found + term_bound,
            _ if found + term_bound == 0.0 => 0.0,
            _ => f64::INFINITY,
        };
        if matches!(op, Rmw::Exch | Rmw::Max | Rmw::Min) {
            self.sums.forget(address);
        }
        self.note(places, index, if sure { bound } else { f64::INFINITY });
    }

    /// Replaces the elements in memory by `desired` where they have the bits of `expected`, and
    /// returns what was there.
    fn compare_and_swap(
        &mut self,
        site: Site<'_>,
        places: Places<'_>,
        expected: &Bounded,
        desired: &Bounded,
    ) -> Bounded {
        let mut found = vec![0.0; places.count];
        let bits = Elements::from_fn(places.count, |index| {
            found[index] = self.bound_at(&places, index);
            let old = self.atomic(site, &places, index, |old| {
                if old == expected.get(index) { desired.get(index) } else { old }
            });
            let sure = places.is_sure(index) && found[index] + expected.bounds.get(index) == 0.0;
            let swapped = old == expected.get(index);
            self.note(
                &places,
                index,
                match (sure, swapped) {
                    (false, _) => f64::INFINITY,
                    (true, true) => desired.bounds.get(index),
                    (true, false) => found[index],
                },
            );
            old
        });
        Bounded { bits, bounds: Bounds::held(places.count, |index| found[index]) }
    }

    /// Changes one element in memory, and returns what was there.
    fn atomic(
        &mut self,
        site: Site<'_>,
        places: &Places<'_>,
        index: usize,
        next: impl Fn(u64) -> u64,
    ) -> u64 {
        if !places.takes_part(index) {
            return 0;
        }
        match self.memory.read(places.pointers.get(index), places.dtype.bytes()) {
            Ok(bits) => {
                let old = bits & places.dtype.mask();
                self.write(site, places, index, next(old));
                old
            }
            Err(access) => {
                self.outside(site, index, access);
                0
            }
        }
    }

    /// How far off what lies at an element's place may be.
    fn bound_at(&self, places: &Places<'_>, index: usize) -> f64 {
        if !places.takes_part(index) && places.takes_part_surely(index) {
            return 0.0;
        }
        if !places.is_sure(index) {
            return f64::INFINITY;
        }
        let address = places.pointers.get(index);
        self.bounds.get(self.memory, address, places.dtype.bytes())
    }

    /// What lies at an element's place, if anything, and how far off it may be.
    fn found(&self, places: &Places<'_>, index: usize) -> (u64, f64) {
        let (address, bytes) = (places.pointers.get(index), places.dtype.bytes());
        match self.memory.read(address, bytes) {
            Ok(bits) => (bits & places.dtype.mask(), self.bounds.get(self.memory, address, bytes)),
            Err(_) => (0, 0.0),
        }
    }

    fn note(&mut self, places: &Places<'_>, index: usize, bound: f64) {
        let address = places.pointers.get(index);
        self.bounds.set(self.memory, address, places.dtype.bytes(), bound);
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
        let (address, bytes) = (places.pointers.get(index), places.dtype.bytes());
        if let Ok((buffer, offset)) = self.memory.locate(address, bytes)
            && self.memory.is_read_only(buffer)
        {
            let buffer = self.memory.buffers()[buffer].name.clone();
            return self.fault(site, index, Fault::ReadOnly { buffer, offset });
        }
        match self.memory.write(address, bytes, bits) {
            Ok(changed) => self.changed |= changed,
            Err(access) => self.outside(site, index, access),
        }
    }
}
