//! The shared memory of one instance, element by element.
//!
//! What describes memory is the list of the places of its elements; a view is another list. Where the
//! elements really lie is the layout's business, and not looked at.
//!
//! An asynchronous copy takes place when it is issued, and may be looked at from the wait on that covers
//! its group: a place is in flight in between, and to read or write it then is a fault.

use super::access::Places;
use super::elements::Elements;
use super::world::{Site, World};
use super::{Fault, pure};
use crate::dtype::DType;
use crate::scalar;
use crate::tile::{OpId, OpKind, Type};
use std::collections::{BTreeMap, VecDeque};

/// What is known of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Unwritten,
    Written,
    InFlight,
}

/// A fault of an access to shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocalFault {
    /// Nothing was written there.
    Unwritten,
    /// An asynchronous copy to it has not been waited for.
    InFlight,
    /// There is no such buffer.
    Outside,
}

/// The shared memory of one instance.
#[derive(Clone, PartialEq, Default)]
pub(super) struct Local {
    bits: Vec<u64>,
    states: Vec<State>,
    /// Where what each operation allocates begins: again the same when it is met again.
    allocated: BTreeMap<OpId, usize>,
    /// The places of copies that no group has taken up yet.
    open: Vec<usize>,
    /// Those of the groups in flight, oldest first.
    groups: VecDeque<Vec<usize>>,
}

impl Local {
    /// Executes an operation on shared memory; its result, if it has one.
    pub(super) fn execute(
        &mut self,
        site: Site<'_>,
        operands: &[Elements],
        world: &mut World<'_, '_>,
    ) -> Result<Option<Elements>, String> {
        let op = site.op;
        let ty = |index: usize| op.operands.get(index).map(|&value| world.kernel.ty(value));
        let result = op.results.first().map(|&value| world.kernel.ty(value));
        let count = |ty: Option<&Type>| ty.map_or(0, |ty| ty.elements() as usize);
        let all = count(result);
        let token = Some(Elements::Same(0));
        let (value, fault) = match (&op.kind, operands) {
            (OpKind::LocalAlloc, source) => {
                let places = self.allocate(site.id, all);
                let fault = source.first().and_then(|x| self.store(&places, all, x));
                (Some(places), fault)
            }
            (OpKind::LocalLoad, [places, ..]) => {
                let (elements, fault) = self.load(places, all);
                (Some(elements), fault)
            }
            (OpKind::LocalStore, [x, places]) => (None, self.store(places, count(ty(0)), x)),
            (OpKind::LocalDealloc, _) => (None, None),
            (OpKind::MemdescIndex, [places, index]) => {
                let index = scalar::sign_extend(DType::I32, index.get(0));
                (Some(buffer(places, count(ty(0)), all, index)), None)
            }
            (OpKind::MemdescSubslice { offsets }, [places]) => {
                let (from, to) = ty(0).zip(result).ok_or("it lacks its types")?;
                (Some(part(places, &from.shape, &to.shape, offsets)), None)
            }
            (
                OpKind::MemdescTrans { .. } | OpKind::MemdescReshape | OpKind::MemdescReinterpret,
                _,
            ) => (Some(pure::evaluate(world, site.instance, op, operands, all)?), None),
            (OpKind::AsyncCopy(options), [pointers, places, rest @ ..]) => {
                let ty = ty(0).ok_or("it lacks its pointers")?;
                let dtype = ty.element.pointee().ok_or("its first operand is no pointer")?;
                let elements = ty.elements() as usize;
                let (mask, other) = rest.split_at(usize::from(options.masked).min(rest.len()));
                let sources = Places { count: elements, dtype, pointers, mask: mask.first() };
                let copied = world.load(site, sources, other.first().unwrap_or(&Elements::Same(0)));
                (token, self.copy(places, elements, &copied))
            }
            (OpKind::AsyncCommit, _) => {
                self.commit();
                (token, None)
            }
            (OpKind::AsyncWait { pending }, _) => {
                self.wait(*pending as usize);
                (token, None)
            }
            _ => return Err(format!("it has {} operands", operands.len())),
        };
        if let Some((element, fault)) = fault {
            world.fault(site, element, Fault::Local(fault));
        }
        Ok(value)
    }

    /// Memory for `count` elements, in which nothing is written.
    fn allocate(&mut self, op: OpId, count: usize) -> Elements {
        let start = *self.allocated.entry(op).or_insert(self.bits.len());
        let end = start + count;
        if self.bits.len() < end {
            self.bits.resize(end, 0);
            self.states.resize(end, State::Unwritten);
        }
        self.states[start..end].fill(State::Unwritten);
        Elements::from_fn(count, |index| (start + index) as u64)
    }

    /// The elements at some places, and the first fault.
    fn load(&self, places: &Elements, count: usize) -> (Elements, Option<(usize, LocalFault)>) {
        let mut fault = None;
        let elements = Elements::from_fn(count, |index| {
            let place = places.get(index) as usize;
            let found = match self.states.get(place) {
                Some(State::Written) => return self.bits[place],
                Some(State::Unwritten) => LocalFault::Unwritten,
                Some(State::InFlight) => LocalFault::InFlight,
                None => LocalFault::Outside,
            };
            fault.get_or_insert((index, found));
            0
        });
        (elements, fault)
    }

    /// Writes the elements at some places; the first fault.
    fn store(
        &mut self,
        places: &Elements,
        count: usize,
        values: &Elements,
    ) -> Option<(usize, LocalFault)> {
        self.write(places, count, values, State::Written)
    }

    /// Copies elements to some places, asynchronously; the first fault.
    fn copy(
        &mut self,
        places: &Elements,
        count: usize,
        values: &Elements,
    ) -> Option<(usize, LocalFault)> {
        let fault = self.write(places, count, values, State::InFlight);
        self.open.extend((0..count).map(|index| places.get(index) as usize));
        fault
    }

    fn write(
        &mut self,
        places: &Elements,
        count: usize,
        values: &Elements,
        then: State,
    ) -> Option<(usize, LocalFault)> {
        let mut fault = None;
        for index in 0..count {
            let place = places.get(index) as usize;
            let (Some(bits), Some(state)) = (self.bits.get_mut(place), self.states.get_mut(place))
            else {
                fault.get_or_insert((index, LocalFault::Outside));
                continue;
            };
            if *state == State::InFlight {
                fault.get_or_insert((index, LocalFault::InFlight));
            }
            (*bits, *state) = (values.get(index), then);
        }
        fault
    }

    /// Makes a group of the copies since the last one.
    fn commit(&mut self) {
        self.groups.push_back(core::mem::take(&mut self.open));
    }

    /// Lets all groups land but the latest `pending`.
    fn wait(&mut self, pending: usize) {
        while self.groups.len() > pending {
            for place in self.groups.pop_front().into_iter().flatten() {
                if let Some(state) = self.states.get_mut(place) {
                    *state = State::Written;
                }
            }
        }
    }
}

/// The places of one of several buffers, each of `count` elements; places that do not exist where there
/// is no such buffer.
fn buffer(places: &Elements, all: usize, count: usize, index: i64) -> Elements {
    let first = usize::try_from(index).ok().and_then(|index| index.checked_mul(count));
    Elements::from_fn(count, |element| {
        let place = first.and_then(|first| first.checked_add(element)).filter(|&place| place < all);
        place.map_or(u64::MAX, |place| places.get(place))
    })
}

/// The places of a part, which begins at `offsets`.
fn part(places: &Elements, from: &[u64], to: &[u64], offsets: &[u64]) -> Elements {
    let count = to.iter().product::<u64>() as usize;
    Elements::from_fn(count, |element| {
        let (mut rest, mut stride, mut place) = (element as u64, 1, 0);
        for ((&extent, &all), &offset) in to.iter().zip(from).zip(offsets).rev() {
            place += (offset + rest % extent.max(1)) * stride;
            rest /= extent.max(1);
            stride *= all;
        }
        places.get(place as usize)
    })
}
