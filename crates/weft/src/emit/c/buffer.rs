//! Accesses of AMD's GPUs through buffer resources.
//!
//! A predicated access whose address is a base and an offset ([`Op::Offset`](crate::lane::Op::Offset)) needs no branch:
//! the base makes a resource of 2^31 bytes, and where the predicate does not hold the offset lies outside of it.
//!
//! ```text
//! load.global.if %7, %9, %3     raw_buffer_load_b32(buffer(v5), v9 ? v6 : outside, 0, 0)
//! ```
//!
//! What is loaded then is zero, in whose place another value is selected where the program asks for one.

use super::dialect::Dialect;
use super::memory::{Way, as_bits, word};
use super::prelude::Helper;
use super::writer::{Writer, put};
use crate::lane::{Access, Form, MemoryOperands, Space, Value};

/// How far an instruction adds a constant to its offset on every target: 12 bits. What is beyond comes as an
/// operand of its own, the same in all lanes.
const NEAR: u32 = (1 << 12) - 1;

/// A predicated access by base and offset.
pub(super) struct Place {
    base: Value,
    offset: Value,
    predicate: Value,
    /// Added to the offset.
    distance: u32,
    /// The bits that say how the access is cached, as the builtin takes them.
    cache: u32,
}

/// Where an access goes through a buffer resource, if it does.
pub(super) fn place(
    w: &Writer<'_>,
    way: Way,
    loads: bool,
    access: Access,
    roles: &MemoryOperands<'_>,
) -> Option<Place> {
    let Dialect::Hip(target) = w.dialect else { return None };
    let cache = match way {
        Way::Plain => 0,
        Way::Hint(_) => target.generation.non_temporal(loads),
        Way::Volatile => return None,
    };
    let [base, offset] = w.base_and_offset(roles.address)?;
    let distance = u32::try_from(access.offset).ok()?;
    let plain = roles.space == Space::Global && access.form == Form::Vector;
    let predicate = roles.predicate.filter(|_| plain)?;
    Some(Place { base, offset, predicate, distance, cache })
}

impl Place {
    /// The operands behind what is stored.
    fn operands(&self, w: &mut Writer<'_>) -> String {
        w.need(Helper::Buffer);
        let [base, offset, predicate] =
            [self.base, self.offset, self.predicate].map(|value| w.spelled(value));
        let (near, far) = (self.distance & NEAR, self.distance & !NEAR);
        let near = if near == 0 { String::new() } else { format!(" + {near}") };
        let cache = self.cache;
        format!("buffer({base}), ({predicate} ? {offset} : outside){near}, {far}, {cache}")
    }
}

/// Loads so many bytes as a value of type `own`, and the results from it.
pub(super) fn load(
    w: &mut Writer<'_>,
    place: &Place,
    own: &str,
    bytes: u32,
    (others, results): (&[Value], &[Value]),
) {
    let operands = place.operands(w);
    // The builtin's vectors are of a type that has the same name in symbols as ours.
    let moved = word(w, bytes);
    let bits = 8 * bytes;
    let read = format!("{moved}(__builtin_amdgcn_raw_buffer_load_b{bits}({operands}))");
    let read = as_bits(w, own, &read);
    let predicate = w.spelled(place.predicate);
    let loaded = w.temporary();
    put!(w, "const {own} {loaded} = {read}");
    for (index, (&result, &other)) in results.iter().zip(others).enumerate() {
        let element =
            if results.len() == 1 { loaded.clone() } else { format!("{loaded}.at[{index}]") };
        if w.constant(other) == Some(0) {
            w.spell(result, element);
        } else {
            let other = w.spelled(other);
            w.define(result, &format!("{predicate} ? {element} : {other}"));
        }
    }
}

/// Stores so many bytes, a value of type `own`.
pub(super) fn store(w: &mut Writer<'_>, place: &Place, own: &str, bytes: u32, stored: &str) {
    let operands = place.operands(w);
    let moved = word(w, bytes);
    let stored = if own == moved { stored.to_owned() } else { as_bits(w, moved, stored) };
    let bits = 8 * bytes;
    put!(w, "__builtin_amdgcn_raw_buffer_store_b{bits}({stored}, {operands})");
}
