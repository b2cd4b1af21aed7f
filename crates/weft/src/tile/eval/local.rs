//! The shared memory of one instance, byte by byte.
//!
//! What describes memory is the list of the places of its bytes, elements in row-major order and the
//! lowest byte of each first; a view is another list. Where the bytes really lie is the layout's business,
//! and not looked at.
//!
//! An asynchronous copy takes place when it is issued, and may be looked at from the wait on that covers
//! its group: a place is in flight in between, and to read or write it then is a fault.

use super::access::Places;
use super::elements::{Bounded, Bounds, Elements};
use super::phases::Mbarriers;
use super::world::{Site, World};
use super::{Fault, pure};
use crate::dtype::DType;
use crate::scalar;
use crate::tile::effects::Tokens;
use crate::tile::{
    Begun, DescriptorOp, Fetch, LocalOp, OpId, OpKind, Phase, TransferOp, Type, Value,
};
use std::collections::{BTreeMap, VecDeque};

/// The bytes of an mbarrier.
const MBARRIER_BYTES: usize = 8;

/// An element, and what is wrong with the access to it, if anything is.
type FirstFault = Option<(usize, LocalFault)>;

/// What is known of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Unwritten,
    Written,
    InFlight,
}

/// The bound of an element, at one of its bytes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct ByteBound {
    bound: f64,
    /// Which byte of so many.
    byte: [u8; 2],
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
    bytes: Vec<u8>,
    states: Vec<State>,
    /// How far off the element may be of which each byte is one; shorter than `bytes` where none is.
    bounds: Vec<ByteBound>,
    /// Where what each operation allocates begins: again the same when it is met again.
    allocated: BTreeMap<OpId, usize>,
    /// The places of copies that no group has taken up yet.
    open: Vec<usize>,
    /// Those of the groups in flight, oldest first.
    groups: VecDeque<Vec<usize>>,
    mbarriers: Mbarriers,
}

impl Local {
    /// Executes an operation on shared memory; its result, if it has one.
    pub(super) fn execute(
        &mut self,
        site: Site<'_>,
        operands: &[Bounded],
        world: &mut World<'_, '_>,
    ) -> Result<Option<Bounded>, String> {
        let op = site.op;
        let ty = |index: usize| op.operands.get(index).map(|&value| world.kernel.ty(value));
        let result = op.results.first().map(|&value| world.kernel.ty(value));
        // Elements, and bytes of each.
        let count = |ty: Option<&Type>| ty.map_or([0, 1], |ty| [ty.elements() as usize, width(ty)]);
        let [all, wide] = count(result);
        let token = Some(Bounded::exact(Elements::Same(0)));
        let listed = |places| Some(Bounded::exact(places));
        let (value, fault) = match (&op.kind, operands) {
            (OpKind::Local(LocalOp::Alloc), source) => {
                let places = self.allocate(site.id, all * wide);
                let fault = source.first().and_then(|x| self.store(&places, [all, wide], x));
                (listed(places), fault)
            }
            (OpKind::Local(LocalOp::Load), [places, ..]) => {
                let (loaded, fault) = self.load(&places.bits, [all, wide]);
                (Some(loaded), fault)
            }
            (OpKind::Local(LocalOp::Store), [x, places]) => {
                (None, self.store(&places.bits, count(ty(0)), x))
            }
            (OpKind::Local(LocalOp::Dealloc), _) => (None, None),
            (OpKind::Local(LocalOp::Index), [places, index]) => {
                let index = scalar::sign_extend(DType::I32, index.get(0));
                let [buffers, _] = count(ty(0));
                (listed(buffer(&places.bits, buffers * wide, all * wide, index)), None)
            }
            (OpKind::Local(LocalOp::Subslice { offsets }), [places]) => {
                let (from, to) = ty(0).zip(result).ok_or("it lacks its types")?;
                (listed(part(&places.bits, wide, &from.shape, &to.shape, offsets)), None)
            }
            (OpKind::Local(LocalOp::Reshape | LocalOp::Reinterpret), [places]) => {
                (Some(places.clone()), None)
            }
            (OpKind::Local(LocalOp::Trans { .. }), [places]) => {
                let numbers = Bounded::exact(Elements::from_fn(all, |index| index as u64));
                let freedom = world.freedom();
                let turned = pure::evaluate(world, site.instance, op, &[numbers], all, freedom)?;
                let turned = |index| turned.get(index) as usize;
                (listed(chosen(&places.bits, wide, all, turned)), None)
            }
            (OpKind::AsyncCopy(step), _) => {
                (token, self.async_copy(site, step.begun(operands), world)?)
            }
            (OpKind::Transfer(what), _) => self.transfer(site, *what, operands, world)?,
            _ => return Err(format!("it has {} operands", operands.len())),
        };
        if let Some((element, fault)) = fault {
            world.fault(site, element, Fault::Local(fault));
        }
        Ok(value)
    }

    /// Takes a step of asynchronous copies, as its row of effects says; the first fault.
    fn async_copy(
        &mut self,
        site: Site<'_>,
        begun: Option<Begun<Bounded>>,
        world: &mut World<'_, '_>,
    ) -> Result<FirstFault, String> {
        match site.op.kind.effects().tokens {
            Tokens::Commits => self.commit(),
            Tokens::Awaits { pending } => self.wait(pending as usize),
            _ => {
                let Begun { pointers, memory, mask, other } =
                    begun.ok_or("it lacks what it copies from or to")?;
                let ty = world.kernel.ty(site.op.operands[0]);
                let dtype = ty.element.pointee().ok_or("its first operand is no pointer")?;
                let count = ty.elements() as usize;
                let sources = Places { count, dtype, pointers: &pointers, mask: mask.as_ref() };
                let other = other.unwrap_or_else(|| Bounded::exact(Elements::Same(0)));
                let copied = world.load(site, sources, &other);
                return Ok(self.copy(&memory.bits, [count, dtype.bytes() as usize], &copied));
            }
        }
        Ok(None)
    }

    /// Executes an operation on blocks or mbarriers; its result, if it has one, and the first fault.
    fn transfer(
        &mut self,
        site: Site<'_>,
        what: TransferOp,
        operands: &[Bounded],
        world: &mut World<'_, '_>,
    ) -> Result<(Option<Bounded>, FirstFault), String> {
        let lacks = || format!("it has {} operands", operands.len());
        let kernel = world.kernel;
        let place = |of: Value, mbarriers: &Bounded, which: &Bounded| {
            let which = scalar::sign_extend(DType::I32, which.get(0));
            buffer(&mbarriers.bits, places(kernel.ty(of)), MBARRIER_BYTES, which).get(0)
        };
        let missing = || "there is no mbarrier of that number".to_string();
        match (what, operands) {
            (TransferOp::Open { phase }, []) => {
                // All threads are one here.
                let counted = match phase {
                    Phase::Copies(copies) => copies,
                    Phase::Threads => 1,
                };
                let ty = site.op.results.first().map(|&value| kernel.ty(value));
                let count = ty.map_or(0, |ty| ty.elements() as usize);
                let places = self.allocate(site.id, count * MBARRIER_BYTES);
                for which in 0..count {
                    self.mbarriers.open(places.get(which * MBARRIER_BYTES), counted);
                }
                Ok((Some(Bounded::exact(places)), None))
            }
            (TransferOp::Fetch, _) => {
                let fetch = Fetch::of(operands).ok_or_else(lacks)?;
                if fetch.exists.get(0) & 1 == 0 {
                    return Ok((None, None));
                }
                let values = Fetch::of(&site.op.operands).ok_or_else(lacks)?;
                let at = place(values.mbarriers, &fetch.mbarriers, &fetch.which);
                let block = operands.get(..=fetch.indices.len()).ok_or_else(lacks)?;
                let copied =
                    world.descriptor(site, DescriptorOp::Load, block)?.ok_or_else(lacks)?;
                let ty = kernel.ty(site.op.operands[0]);
                let (count, wide) = (ty.elements() as usize, ty.dtype().bytes() as usize);
                let places = &fetch.memory.bits;
                let fault = self.write(places, [count, wide], &copied, State::InFlight);
                let places = (0..count * wide).map(|index| places.get(index) as usize);
                self.mbarriers.count(at, places).ok_or_else(missing)?;
                Ok((None, fault))
            }
            (TransferOp::Send(op), [block @ .., memory]) => {
                let ty =
                    site.op.operands.last().map(|&value| kernel.ty(value)).ok_or_else(lacks)?;
                let size = [ty.elements() as usize, width(ty)];
                let (loaded, fault) = self.load(&memory.bits, size);
                let what = op.map_or(DescriptorOp::Store, DescriptorOp::Reduce);
                world.descriptor(site, what, &[block, &[loaded]].concat())?;
                Ok((None, fault))
            }
            (TransferOp::Leave, [mbarriers, which, ..]) => {
                let at = place(site.op.operands[0], mbarriers, which);
                self.mbarriers.count(at, core::iter::empty()).ok_or_else(missing)?;
                Ok((None, None))
            }
            (TransferOp::Wait | TransferOp::AfterLeave, [mbarriers, which, parity]) => {
                let at = place(site.op.operands[0], mbarriers, which);
                let odd = parity.get(0) & 1 == 1;
                let landed = self.mbarriers.wait(at, odd);
                self.land(landed.ok_or("the phase that it waits for is never over")?);
                Ok((None, None))
            }
            (TransferOp::Close, [_]) => Ok((None, None)),
            _ => Err(lacks()),
        }
    }

    /// A product whose factors may lie in memory.
    pub(super) fn product(
        &self,
        site: Site<'_>,
        operands: &[Bounded],
        world: &mut World<'_, '_>,
    ) -> Result<Bounded, String> {
        let mut factors = Vec::with_capacity(operands.len());
        for (&value, operand) in site.op.operands.iter().zip(operands) {
            let ty = world.kernel.ty(value);
            if ty.memory().is_none() {
                factors.push(operand.clone());
                continue;
            }
            let size = [ty.elements() as usize, width(ty)];
            let (elements, fault) = self.load(&operand.bits, size);
            if let Some((element, fault)) = fault {
                world.fault(site, element, Fault::Local(fault));
            }
            factors.push(elements);
        }
        let count = site.op.results.first().map_or(0, |&sum| world.kernel.ty(sum).elements());
        let freedom = world.freedom();
        pure::evaluate(world, site.instance, site.op, &factors, count as usize, freedom)
    }

    /// Memory for `count` bytes, in which nothing is written.
    fn allocate(&mut self, op: OpId, count: usize) -> Elements {
        let start = *self.allocated.entry(op).or_insert(self.bytes.len());
        let end = start + count;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
            self.states.resize(end, State::Unwritten);
            if !self.bounds.is_empty() {
                self.bounds.resize(end, ByteBound::default());
            }
        }
        self.states[start..end].fill(State::Unwritten);
        Elements::from_fn(count, |index| (start + index) as u64)
    }

    /// The elements, of so many bytes each, at some places, and the first fault.
    fn load(
        &self,
        places: &Elements,
        [count, wide]: [usize; 2],
    ) -> (Bounded, Option<(usize, LocalFault)>) {
        let mut fault = None;
        let mut byte = |index: usize, at: usize| {
            let place = places.get(index * wide + at) as usize;
            let found = match self.states.get(place) {
                Some(State::Written) => return u64::from(self.bytes[place]),
                Some(State::Unwritten) => LocalFault::Unwritten,
                Some(State::InFlight) => LocalFault::InFlight,
                None => LocalFault::Outside,
            };
            fault.get_or_insert((index, found));
            0
        };
        let element = |index| (0..wide).fold(0, |bits, at| bits | byte(index, at) << (8 * at));
        let bits = Elements::from_fn(count, element);
        let bounds = Bounds::held(count, |index| self.bound(places, index, wide));
        (Bounded { bits, bounds }, fault)
    }

    /// How far off an element of so many bytes may be: anything, where some of its bytes are of others
    /// that have a bound.
    fn bound(&self, places: &Elements, index: usize, wide: usize) -> f64 {
        if self.bounds.is_empty() {
            return 0.0;
        }
        let at = |byte: usize| {
            let place = places.get(index * wide + byte) as usize;
            self.bounds.get(place).copied().unwrap_or_default()
        };
        let bound = at(0).bound;
        let one = (0..wide).all(|byte| {
            let found = at(byte);
            found.bound == bound && (bound == 0.0 || found.byte == [byte as u8, wide as u8])
        });
        if one { bound } else { f64::INFINITY }
    }

    /// Writes the elements at some places; the first fault.
    fn store(
        &mut self,
        places: &Elements,
        size: [usize; 2],
        values: &Bounded,
    ) -> Option<(usize, LocalFault)> {
        self.write(places, size, values, State::Written)
    }

    /// Copies elements to some places, asynchronously; the first fault.
    fn copy(
        &mut self,
        places: &Elements,
        [count, wide]: [usize; 2],
        values: &Bounded,
    ) -> Option<(usize, LocalFault)> {
        let fault = self.write(places, [count, wide], values, State::InFlight);
        self.open.extend((0..count * wide).map(|index| places.get(index) as usize));
        fault
    }

    fn write(
        &mut self,
        places: &Elements,
        [count, wide]: [usize; 2],
        values: &Bounded,
        then: State,
    ) -> Option<(usize, LocalFault)> {
        let mut fault = None;
        for index in 0..count {
            for at in 0..wide {
                let place = places.get(index * wide + at) as usize;
                let (Some(byte), Some(state)) =
                    (self.bytes.get_mut(place), self.states.get_mut(place))
                else {
                    fault.get_or_insert((index, LocalFault::Outside));
                    continue;
                };
                if *state == State::InFlight {
                    fault.get_or_insert((index, LocalFault::InFlight));
                }
                (*byte, *state) = ((values.get(index) >> (8 * at)) as u8, then);
                let bound = values.bounds.get(index);
                if bound != 0.0 && self.bounds.is_empty() {
                    self.bounds.resize(self.bytes.len(), ByteBound::default());
                }
                if let Some(slot) = self.bounds.get_mut(place) {
                    *slot = ByteBound { bound, byte: [at as u8, wide as u8] };
                }
            }
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
            let landed = self.groups.pop_front().unwrap_or_default();
            self.land(landed);
        }
    }

    /// Lets what was copied to some places be looked at.
    fn land(&mut self, places: Vec<usize>) {
        for place in places {
            if let Some(state) = self.states.get_mut(place) {
                *state = State::Written;
            }
        }
    }
}

/// The bytes of an element of a type.
fn width(ty: &Type) -> usize {
    ty.dtype().bytes() as usize
}

/// How many places a description of memory lists.
pub(super) fn places(ty: &Type) -> usize {
    ty.elements() as usize * width(ty)
}

/// The places of one of several buffers, each of `count` bytes; places that do not exist where there is
/// no such buffer.
fn buffer(places: &Elements, all: usize, count: usize, index: i64) -> Elements {
    let first = usize::try_from(index).ok().and_then(|index| index.checked_mul(count));
    Elements::from_fn(count, |byte| {
        let place = first.and_then(|first| first.checked_add(byte)).filter(|&place| place < all);
        place.map_or(u64::MAX, |place| places.get(place))
    })
}

/// The places of `count` elements of those listed, each of `wide` bytes.
fn chosen(
    places: &Elements,
    wide: usize,
    count: usize,
    element: impl Fn(usize) -> usize,
) -> Elements {
    Elements::from_fn(count * wide, |byte| places.get(element(byte / wide) * wide + byte % wide))
}

/// The places of a part, which begins at `offsets`.
fn part(places: &Elements, wide: usize, from: &[u64], to: &[u64], offsets: &[u64]) -> Elements {
    let count = to.iter().product::<u64>() as usize;
    chosen(places, wide, count, |element| {
        let (mut rest, mut stride, mut place) = (element as u64, 1, 0);
        for ((&extent, &all), &offset) in to.iter().zip(from).zip(offsets).rev() {
            place += (offset + rest % extent.max(1)) * stride;
            rest /= extent.max(1);
            stride *= all;
        }
        place as usize
    })
}
