//! The conflicts of whole tensors against the definition.

use arbitrary::{Result, Unstructured};
use std::{collections::BTreeMap, string::ToString, vec::Vec};

use super::access::counted;
use crate::{
    Label, Layout, Machine, Space,
    access::{AccessError, Conflicts, ConflictsError, Kind, Memory, conflicts},
    affine::{Affine, Padded, Padding},
    f2::low_mask,
    interop::parse_layout,
    space::{BLOCK, LANE, OFFSET, REGISTER, WARP},
    testing::{invertible, repeat, shuffled},
};

fn machine(name: &str) -> &'static Machine {
    Machine::by_name(name).unwrap()
}

/// A layout of registers over all elements, with copies, for so many lanes.
pub(super) fn registers(u: &mut Unstructured<'_>, outs: &Space, lanes: u32) -> Result<Layout> {
    let bits = outs.total_bits();
    let warps = u.int_in_range(0..=2)?;
    let needed = bits.saturating_sub(lanes + warps);
    let count = needed + u.int_in_range(0..=2)?;
    let ins = Space::new(&[(REGISTER, count), (LANE, lanes), (WARP, warps)]).unwrap();
    let total = ins.total_bits();
    let order = if u.ratio(1, 3)? {
        (0..total).map(|bit| 1 << bit).collect()
    } else {
        shuffled(u, total.max(bits))?
    };
    // Bits beyond the tensor's make copies.
    let mut columns: Vec<u64> = order.into_iter().map(|column| column & low_mask(bits)).collect();
    columns.truncate(total as usize);
    if u.ratio(1, 4)? {
        let mix = invertible(u, bits)?;
        columns = columns.into_iter().map(|column| mix.apply(column)).collect();
    }
    Ok(Layout::new(ins, outs.clone(), &columns).unwrap())
}

/// A memory that holds each element once.
pub(super) fn memory(u: &mut Unstructured<'_>, outs: &Space) -> Result<Layout> {
    let bits = outs.total_bits();
    let ins = Space::new(&[(OFFSET, bits)]).unwrap();
    let columns: Vec<u64> = match u.int_in_range(0..=3)? {
        0 => (0..bits).map(|bit| 1 << bit).collect(),
        1 => shuffled(u, bits)?,
        // Rows swizzled into columns.
        2 => {
            let (low, shift) = (u.int_in_range(0..=bits / 2)?, u.int_in_range(1..=bits.max(1))?);
            let fold = |bit: u32| if bit > shift + low { 1 << (bit - shift) } else { 0 };
            (0..bits).map(|bit| 1 << bit ^ fold(bit)).collect()
        }
        _ => invertible(u, bits)?.columns().to_vec(),
    };
    Ok(Layout::new(ins, outs.clone(), &columns).unwrap())
}

/// Where each element lies, in elements, from walking over all offsets.
fn places(memory: Memory<'_>) -> BTreeMap<u64, u64> {
    let (layout, constant) = match memory {
        Memory::Affine(affine) => (affine.layout(), affine.constant()),
        Memory::Padded(padded) => (padded.layout(), 0),
    };
    let physical = |offset: u64| match memory {
        Memory::Affine(_) => offset,
        Memory::Padded(padded) => {
            let gaps = padded.paddings().iter().map(|gap| offset / gap.interval * gap.padding);
            offset + gaps.sum::<u64>()
        }
    };
    let offsets = 0..1 << layout.in_bits(OFFSET);
    offsets.map(|offset| (layout.apply_flat(offset) ^ constant, physical(offset))).collect()
}

/// The accesses with vectors of `length` elements: for each warp and vector the first position of
/// every lane that takes part; nothing when some thread has no such vectors in the same registers as lane
/// 0 of warp 0. Of threads that hold the same elements the first one stores them.
fn vectors(
    layout: &Layout,
    at: &BTreeMap<u64, u64>,
    length: u64,
    kind: Kind,
) -> Option<Vec<Vec<Option<u64>>>> {
    let (count, lanes) = (1_u64 << layout.in_bits(REGISTER), 1_u64 << layout.in_bits(LANE));
    let warps = 1_u64 << layout.in_bits(WARP);
    let position = |register: u64, lane: u64, warp: u64| {
        let place = register + count * (lane + lanes * warp);
        at[&layout.apply_flat(place)]
    };
    // The registers of each vector of lane 0 of warp 0, copies left out.
    let mut chosen: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for register in 0..count {
        let first = position(register, 0, 0);
        let vector = chosen.entry(first / length).or_default();
        if !vector.iter().any(|entry| entry.0 == first % length) {
            vector.push((first % length, register));
        }
    }
    let mut holders: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (warp, lane) in (0..warps).flat_map(|warp| (0..lanes).map(move |lane| (warp, lane))) {
        let all = (0..count).map(|register| position(register, lane, warp));
        holders.entry(all.min().unwrap_or(0)).or_insert((warp, lane));
    }
    let firsts: Vec<(u64, u64)> = holders.into_values().collect();
    let acts = |warp, lane| kind == Kind::Load || firsts.contains(&(warp, lane));
    let mut accesses = Vec::new();
    for warp in 0..warps {
        for vector in chosen.values() {
            let mut starts = Vec::new();
            for lane in 0..lanes {
                let mut entries = vector.iter().map(|entry| position(entry.1, lane, warp));
                let start = entries.clone().min()?;
                let follows = vector
                    .iter()
                    .all(|&(step, register)| position(register, lane, warp) == start + step);
                if vector.len() as u64 != length || start % length != 0 || !follows {
                    return None;
                }
                starts.extend(entries.next().map(|_| acts(warp, lane).then_some(start)));
            }
            if starts.iter().any(Option::is_some) {
                accesses.push(starts);
            }
        }
    }
    Some(accesses)
}

/// The bytes of an access, the number of instructions, the wavefronts and the ideal.
fn expected(
    machine: &Machine,
    kind: Kind,
    layout: &Layout,
    memory: Memory<'_>,
    bits: u64,
) -> Option<(u32, u64, u64, u64)> {
    let at = places(memory);
    let lengths = (0..8).map(|length| 1_u64 << length).filter(|length| length * bits <= 128);
    let widest = lengths
        .filter_map(|length| Some((length, vectors(layout, &at, length, kind)?)))
        .next_back();
    let (length, accesses) = widest?;
    if length * bits < 8 && kind == Kind::Store {
        return None;
    }
    let bytes = (length * bits / 8).max(1) as u32;
    let (mut wavefronts, mut ideal) = (0, 0);
    for starts in &accesses {
        let addresses: Vec<_> =
            starts.iter().map(|start| start.map(|start| start * bits / 8)).collect();
        let one = counted(machine, kind, &addresses, bytes);
        wavefronts += u64::from(one.0);
        ideal += u64::from(one.1);
    }
    Some((bytes, accesses.len() as u64, wavefronts, ideal))
}

/// Checks that the two places of a witness hold what it says, at the addresses that it says.
fn check_witness(
    machine: &Machine,
    kind: Kind,
    layout: &Layout,
    memory: Memory<'_>,
    bits: u64,
    found: &Conflicts,
) {
    let Some(conflict) = &found.witness else { return };
    let at = places(memory);
    let banks = 1 << machine.banks_log2_of(kind);
    let mut difference = 0;
    for side in 0..2 {
        let place = layout.ins().pack(&conflict.places[side]).unwrap();
        let element = layout.apply_flat(place);
        assert_eq!(conflict.elements[side], layout.outs().unpack(element));
        assert_eq!(conflict.addresses[side] / 4, at[&element] * bits / 32, "{conflict:?}");
        assert_eq!(conflict.addresses[side] / 4 % banks, conflict.bank);
        difference ^= element;
    }
    assert_eq!(conflict.difference, layout.outs().unpack(difference));
    assert_ne!(conflict.addresses[0] / 4, conflict.addresses[1] / 4);
    let lane = |side: usize| conflict.places[side].iter().find(|axis| axis.0 == LANE).unwrap().1;
    assert_ne!(lane(0), lane(1));
}

fn check(u: &mut Unstructured<'_>, padded: bool) -> Result<bool> {
    let machine = *u.choose(&Machine::ALL)?;
    let kind = *u.choose(&[Kind::Load, Kind::Store])?;
    let bits = 1 << u.int_in_range(2..=6)?;
    let shape = [1 << u.int_in_range(0..=5)?, 1 << u.int_in_range(0..=5)?];
    let outs = Space::tensor(&shape).unwrap();
    let layout = registers(u, &outs, machine.lanes_log2)?;
    let linear = memory(u, &outs)?;
    let gaps = if padded { u.int_in_range(0..=2)? } else { 0 };
    let gaps: Vec<Padding> = (0..gaps)
        .map(|gap| {
            let interval = 1 << (2 * u.int_in_range(0..=4)? + gap);
            Ok(Padding { interval, padding: 1 << u.int_in_range(0..=4)? })
        })
        .collect::<Result<_>>()?;
    let padding = Padded::new(linear.clone(), &gaps).unwrap();
    let constant = u.arbitrary::<u64>()? & low_mask(outs.total_bits());
    let affine = Affine::new(linear, constant).unwrap();
    let memory = if padded { Memory::from(&padding) } else { Memory::from(&affine) };
    let found = conflicts(machine, kind, &layout, memory, bits);
    match expected(machine, kind, &layout, memory, bits.into()) {
        None => {
            let refused = matches!(found, Err(ConflictsError::PartOfByte { .. }));
            assert!(refused && bits < 8, "{found:?}");
            Ok(false)
        }
        Some(expected) => {
            let found = found.unwrap();
            let counts = (found.vector_bytes, found.instructions, found.wavefronts, found.ideal);
            let context = (&machine.name, kind, bits, &layout, memory);
            assert_eq!(counts, expected, "{context:?}");
            assert_eq!(found.witness.is_some(), found.wavefronts > found.ideal, "{context:?}");
            check_witness(machine, kind, &layout, memory, bits.into(), &found);
            Ok(found.wavefronts > found.ideal)
        }
    }
}

#[test]
fn tensors_in_linear_memory_count_as_by_definition() {
    let mut conflicts = 0;
    repeat(2_000, |u| {
        conflicts += u32::from(check(u, false)?);
        Ok(())
    });
    assert!(conflicts > 350, "{conflicts}");
}

#[test]
fn tensors_in_padded_memory_count_as_by_definition() {
    let mut conflicts = 0;
    repeat(1_500, |u| {
        conflicts += u32::from(check(u, true)?);
        Ok(())
    });
    assert!(conflicts > 250, "{conflicts}");
}

const READ: &str = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> \
                    [dim0: 16, dim1: 32]";
const ROWS: &str = "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,0) (4,0) (8,0)] -> \
                    [dim0: 16, dim1: 32]";
const XOR_M: &str = "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,1) (2,2) (4,4) (8,8)] -> \
                     [dim0: 16, dim1: 32]";
const XOR_2M: &str = "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,2) (2,4) (4,8) (8,16)] -> \
                      [dim0: 16, dim1: 32]";

fn load(memory: &str) -> Conflicts {
    let (layout, memory) = (parse_layout(READ).unwrap(), parse_layout(memory).unwrap());
    conflicts(machine("sm_90"), Kind::Load, &layout, (&Affine::from(memory)).into(), 32).unwrap()
}

/// The transpose of the first seed, all 16 steps; the witness of the classic fold is m0 ^ n0.
#[test]
fn the_transpose_of_16_by_32() {
    let counts = [ROWS, XOR_M, XOR_2M].map(|memory| {
        let found = load(memory);
        assert_eq!((found.vector_bytes, found.instructions, found.ideal), (4, 16, 16));
        found.wavefronts
    });
    assert_eq!(counts, [256, 32, 16]);
    let witness = load(XOR_M).witness.unwrap();
    let (dim0, dim1) = (Label::dim(0), Label::dim(1));
    assert_eq!(witness.difference, [(dim1, 1), (dim0, 1)]);
    assert_eq!((witness.addresses, witness.bank), ([0, 128], 0));
    assert_eq!(load(XOR_2M).witness, None);

    let (read, rows) = (parse_layout(READ).unwrap(), parse_layout(ROWS).unwrap());
    let padded = |padding| {
        let padded = Padded::new(rows.clone(), &[Padding { interval: 32, padding }]).unwrap();
        conflicts(machine("sm_90"), Kind::Load, &read, (&padded).into(), 32).unwrap().wavefronts
    };
    assert_eq!((padded(1), padded(2)), (32, 16));
}

#[test]
fn what_does_not_fit_is_refused_with_the_place() {
    let layout = |text: &str| parse_layout(text).unwrap();
    let sm_90 = machine("sm_90");
    let ask = |kind, registers: &str, memory: &str, bits| {
        let memory = Affine::from(layout(memory));
        conflicts(sm_90, kind, &layout(registers), (&memory).into(), bits).unwrap_err()
    };
    let small = "[offset: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 16, dim1: 32]";
    let text = ask(Kind::Load, READ, small, 32).to_string();
    assert!(text.contains("lane") && text.contains("dim0"), "{text}");
    let waves = machine("gfx942");
    let rows = Affine::from(layout(ROWS));
    let error = conflicts(waves, Kind::Load, &layout(READ), (&rows).into(), 32).unwrap_err();
    assert_eq!(error, ConflictsError::Lanes { layout: 5, machine: 6 });
    for bits in [0, 3, 24, 256] {
        assert_eq!(ask(Kind::Load, READ, ROWS, bits), ConflictsError::Element { bits });
    }
    assert_eq!(ask(Kind::Load, READ, READ, 32), ConflictsError::NoOffset);
    assert_eq!(ask(Kind::Store, READ, ROWS, 4), ConflictsError::PartOfByte { bits: 4 });

    let copies = "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,0) (4,0) (8,0) (0,0)] -> \
                  [dim0: 16, dim1: 32]";
    let place = Vec::from([(OFFSET, 512)]);
    assert_eq!(ask(Kind::Store, READ, copies, 32), ConflictsError::Copies { place });
    let blocks = "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,0) (4,0), block: (8,0)] -> \
                  [dim0: 16, dim1: 32]";
    let crosses = ConflictsError::OtherMemory { label: LANE, bit: 3, axis: BLOCK };
    assert_eq!(ask(Kind::Load, READ, blocks, 32), crosses);
    let narrow = Machine { shared_vector_bytes: 4, ..sm_90.clone() };
    let error = conflicts(&narrow, Kind::Load, &layout(READ), (&rows).into(), 64).unwrap_err();
    let width = AccessError::Width { bytes: 8, widest: 4 };
    assert_eq!(error, ConflictsError::Access(width));
}

/// Truth values take a byte; pairs of 4 bits are packed.
#[test]
fn narrow_elements() {
    let lines = parse_layout("[register: 1 2 4, lane: 8 16 32 64 128] -> [dim0: 256]").unwrap();
    let memory =
        Affine::from(parse_layout("[offset: 1 2 4 8 16 32 64 128] -> [dim0: 256]").unwrap());
    let bytes = |bits| {
        let found = conflicts(machine("sm_90"), Kind::Store, &lines, (&memory).into(), bits);
        let found = found.unwrap();
        (found.vector_bytes, found.instructions, found.wavefronts)
    };
    assert_eq!(
        [1, 8, 4, 2, 16].map(bytes),
        [(8, 1, 2), (8, 1, 2), (4, 1, 1), (2, 1, 1), (16, 1, 4)]
    );
}
