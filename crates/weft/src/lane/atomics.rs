//! Atomic operations on memory.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::Space;
use super::effects::{Effects, Fence, Latency, Spaces};
use super::family::{Family, Operand, Operands, Text, Told, listed};
use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::dtype::DType;

/// `(address, [predicate], n values of one type) -> old ones`: changes what lies at an address as one step. A
/// [`Rmw`] takes n values and gives n old ones, consecutive in memory: n atomics in any order, n being 1 but for
/// [`Rmw::may_be_vector`] in global memory. The address is a multiple of the whole access's size; the results
/// where the predicate is false are undefined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AtomicAccess {
    /// The memory that is changed.
    pub space: Space,
    /// What is done to what lies there.
    pub op: Atomic,
    /// How memory is ordered.
    pub order: Order,
    /// The threads that see it as one step.
    pub scope: Scope,
    /// Whether a predicate follows the address.
    pub predicated: bool,
}

impl Family for AtomicAccess {
    const FORMS: &'static [Self] = &[Self {
        space: Space::Global,
        op: Atomic::Rmw(Rmw::Add),
        order: Order::Relaxed,
        scope: Scope::Gpu,
        predicated: false,
    }];

    fn effects(&self) -> Effects {
        let Self { space, op: _, order, scope, predicated: _ } = *self;
        Effects {
            reads: Spaces::of(space),
            writes: Spaces::of(space),
            fence: Fence::Atomic(order, scope),
            latency: Latency::round_trip(space),
            ..Effects::NONE
        }
    }

    fn operands(&self) -> Operands {
        listed(&[Operand::Address(self.space)], &[(Operand::Predicate, self.predicated)])
    }

    fn is_sound(&self, values: &[DType], results: &[DType]) -> bool {
        let Some(&first) = values.first() else { return false };
        let count = values.len() / self.op.values();
        let may_be_many = self.space == Space::Global && self.op.may_be_vector(first);
        let bytes = first.bytes() * count as u32;
        values.iter().chain(results).all(|&dtype| dtype == first)
            && values.len() == count * self.op.values()
            && results.len() == count
            && first != DType::I1
            && self.op.is_on(first)
            && (count == 1 || may_be_many && count.is_power_of_two())
            && bytes <= super::MAX_ACCESS_BYTES
    }

    fn text(&mut self, text: &mut dyn Text) -> Told {
        text.word("atomic")?;
        text.choice("MEMORY", &mut self.space)?;
        text.choice("OPERATION", &mut self.op)?;
        text.choice("ORDER", &mut self.order)?;
        text.choice("SCOPE", &mut self.scope)?;
        text.mark("if", &mut self.predicated)
    }
}
