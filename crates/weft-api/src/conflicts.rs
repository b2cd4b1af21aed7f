//! Bank conflicts between a layout of registers and a layout of memory.

use crate::answer::{ConflictAnswer, ConflictsAnswer, SideAnswer};
use crate::error::ApiError;
use crate::reading::{Reading, read, read_linear};
use crate::request::{AccessKind, ConflictsRequest, machine, needed_bits};
use weft_layout::Layout;
use weft_layout::access::{self, Conflict, Memory};
use weft_layout::machine::Kind;
use weft_layout::space::{LANE, Label, REGISTER, WARP};

/// How many wavefronts a load or store takes, and why there are more than needed.
///
/// ```
/// use weft_api::{conflicts, request::ConflictsRequest};
///
/// // Each lane reads a row of two elements: 8 bytes at once, in two phases.
/// let request = ConflictsRequest {
///     registers: "[register: (0,1), lane: (1,0) (2,0) (4,0) (8,0) (16,0)] \
///                 -> [dim0: 32, dim1: 2]"
///         .into(),
///     memory: "(32,2):(2,1)".into(),
///     shape: vec![32, 2],
///     element: Some("f32".into()),
///     target: "sm_90".into(),
///     ..Default::default()
/// };
/// let answer = conflicts::conflicts(&request)?;
/// assert_eq!((answer.vector_bytes, answer.wavefronts, answer.ideal), (8, 2, 2));
/// # Ok::<(), weft_api::ApiError>(())
/// ```
pub fn conflicts(request: &ConflictsRequest) -> Result<ConflictsAnswer, ApiError> {
    let ConflictsRequest { registers, memory, shape, element, element_bits, target, kind } =
        request;
    let bits = needed_bits(element.as_deref(), *element_bits)?;
    let machine = machine(target)?;
    let registers = read_linear("registers", registers, shape)?;
    let Reading { map, padded } = read("memory", memory, Some(shape))?;
    let memory = padded.as_ref().map_or(Memory::Affine(&map), Memory::Padded);
    let (name, kind) = match kind {
        AccessKind::Load => ("load", Kind::Load),
        AccessKind::Store => ("store", Kind::Store),
    };
    let found = access::conflicts(&machine, kind, &registers, memory, bits)?;
    Ok(ConflictsAnswer {
        kind: name.into(),
        vector_bytes: found.vector_bytes,
        instructions: found.instructions,
        wavefronts: found.wavefronts,
        ideal: found.ideal,
        witness: found.witness.map(|conflict| witness(&registers, &conflict)),
    })
}

fn witness(registers: &Layout, conflict: &Conflict) -> ConflictAnswer {
    let order = registers.outs().coordinate_order();
    let value = |place: &[(Label, u64)], label| {
        place.iter().find(|axis| axis.0 == label).map_or(0, |axis| axis.1)
    };
    let side = |index: usize| {
        let place = &conflict.places[index];
        SideAnswer {
            register: value(place, REGISTER),
            lane: value(place, LANE),
            warp: value(place, WARP),
            element: order.iter().map(|&label| value(&conflict.elements[index], label)).collect(),
            address: conflict.addresses[index],
        }
    };
    let bits = order.iter().flat_map(|&label| {
        let difference = value(&conflict.difference, label);
        let set = (0..64).filter(move |bit| difference >> bit & 1 == 1);
        set.map(move |bit| format!("{label}[{bit}]"))
    });
    ConflictAnswer {
        difference: bits.collect::<Vec<_>>().join(" ^ "),
        bank: conflict.bank,
        sides: [side(0), side(1)],
    }
}
