//! The rank law against counting, on every machine.

use arbitrary::{Result, Unstructured};
use std::{collections::BTreeMap, collections::BTreeSet, env, vec::Vec};

use crate::{
    Machine,
    access::{
        AccessError, Collision, Kind, Wavefronts, count_sectors, count_wavefronts, sectors,
        wavefronts,
    },
    f2::{low_mask, ones},
    testing::{holds, matrix, repeat},
};

fn machine(name: &str) -> &'static Machine {
    Machine::by_name(name).unwrap()
}

/// The runs of lanes in a text such as `0-3,20-23 4-7,16-19`, a phase a word.
fn lanes(text: &str) -> Vec<Vec<u32>> {
    let run = |run: &str| {
        let (first, last) = run.split_once('-').unwrap();
        first.parse::<u32>().unwrap()..=last.parse::<u32>().unwrap()
    };
    text.split_whitespace().map(|phase| phase.split(',').flat_map(run).collect()).collect()
}

/// The phases of a machine as they were published: lists of lanes.
fn published(machine: &Machine, kind: Kind, bytes: u32) -> Vec<Vec<u32>> {
    let quarters = "0-7 8-15 16-23 24-31 32-39 40-47 48-55 56-63";
    let crossed = "0-3,20-23 4-7,16-19 8-11,28-31 12-15,24-27 \
                   32-35,52-55 36-39,48-51 40-43,60-63 44-47,56-59";
    let over_64_banks = "0-3,12-15,20-27 4-11,16-19,28-31 32-35,44-47,52-59 36-43,48-51,60-63";
    let text = match (&*machine.name, kind, bytes) {
        ("gfx950", Kind::Load, 16) => over_64_banks,
        ("gfx950", Kind::Load, 8) => "0-31 32-63",
        ("gfx950", Kind::Load, _) => "0-63",
        ("gfx90a" | "gfx942" | "gfx1100", Kind::Load, 16) => crossed,
        (_, _, 16) => quarters,
        (_, _, 8) => "0-15 16-31 32-47 48-63",
        _ => "0-31 32-63",
    };
    let mut phases = lanes(text);
    phases.retain(|phase| phase[0] < machine.lanes());
    phases
}

/// Banks of loads and stores.
fn banks(machine: &Machine, kind: Kind) -> u64 {
    if machine.name == "gfx950" && kind == Kind::Load { 64 } else { 32 }
}

/// Wavefronts by counting, phase by phase, bank by bank; and those without conflicts.
pub(super) fn counted(
    machine: &Machine,
    kind: Kind,
    addresses: &[Option<u64>],
    bytes: u32,
) -> (u32, u32) {
    let mut phases = published(machine, kind, bytes);
    let pairs = |bit: u32| {
        (0..).zip(addresses).all(|(lane, address)| *address == addresses[lane ^ 1 << bit])
    };
    let nvidia = machine.name.starts_with("sm_");
    if nvidia && kind == Kind::Load && bytes >= 8 && (pairs(0) || pairs(1)) {
        phases = phases.chunks(2).map(<[_]>::concat).collect();
    }
    let banks = banks(machine, kind);
    let (mut actual, mut ideal) = (0, 0);
    for phase in phases {
        let mut asked: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for address in phase.iter().filter_map(|&lane| addresses[lane as usize]) {
            for word in address / 4..(address + u64::from(bytes)).div_ceil(4) {
                asked.entry(word % banks).or_default().insert(word);
            }
        }
        let words: usize = asked.values().map(BTreeSet::len).sum();
        actual += asked.values().map(BTreeSet::len).max().unwrap_or(0) as u32;
        ideal += (words as u64).div_ceil(banks) as u32;
    }
    (actual, ideal)
}

/// Checks that a collision is one: two lanes of one phase, one bank, different words.
fn check_collision(
    machine: &Machine,
    kind: Kind,
    addresses: &[Option<u64>],
    bytes: u32,
    Collision { lanes, words }: Collision,
) {
    let word = |side: usize| {
        assert!(words[side] < bytes.div_ceil(4));
        addresses[lanes[side] as usize].unwrap() / 4 + u64::from(words[side])
    };
    let banks = banks(machine, kind);
    assert_ne!(word(0), word(1));
    assert_eq!(word(0) % banks, word(1) % banks);
    // Lanes of one phase, or of a pair of phases that are joined.
    let phases = published(machine, kind, bytes);
    let phase = |lane: u32| phases.iter().position(|phase| phase.contains(&lane)).unwrap();
    let joined = machine.name.starts_with("sm_") && kind == Kind::Load && bytes >= 8;
    let shift = usize::from(joined);
    assert_eq!(phase(lanes[0]) >> shift, phase(lanes[1]) >> shift);
}

/// The address of each lane; those with a bit in `idle` take no part.
fn addresses(machine: &Machine, columns: &[u64], base: u64, idle: u64) -> Vec<Option<u64>> {
    let address = |lane: u64| ones(lane).fold(base, |sum, bit| sum ^ columns[bit as usize]);
    (0..u64::from(machine.lanes())).map(|lane| (lane & idle == 0).then(|| address(lane))).collect()
}

/// The columns of an access: of any rank, or single bits and zeros, so that copies and
/// accesses without conflicts occur.
fn columns(u: &mut Unstructured<'_>, lane_bits: u32, width: u32) -> Result<Vec<u64>> {
    let rows = u.int_in_range(0..=9)?;
    let column = |u: &mut Unstructured<'_>| -> Result<u64> {
        let bit = u.int_in_range(0..=rows + 2)?;
        Ok(if bit > rows { 0 } else { 1 << bit >> 1 })
    };
    let columns: Vec<u64> = if u.arbitrary()? {
        matrix(u, rows, lane_bits)?.columns().to_vec()
    } else {
        (0..lane_bits).map(|_| column(u)).collect::<Result<_>>()?
    };
    Ok(columns.iter().map(|column| column << width).collect())
}

/// A million cases where `WEFT_LONG` is set (best with `--release`), else twenty thousand.
fn cases() -> u64 {
    if env::var_os("WEFT_LONG").is_some() { 1_000_000 } else { 20_000 }
}

#[test]
fn the_rank_law_counts_wavefronts() {
    let mut conflicts = 0;
    repeat(cases(), |u| {
        let machine = *u.choose(&Machine::ALL)?;
        let kind = *u.choose(&[Kind::Load, Kind::Store])?;
        let width = u.int_in_range(0..=4)?;
        let bytes = 1 << width;
        let columns = columns(u, machine.lanes_log2, width)?;
        let lane_bits = low_mask(machine.lanes_log2);
        let idle = if u.ratio(1, 4)? { u.arbitrary::<u64>()? & lane_bits } else { 0 };
        // A constant changes nothing.
        let base = u.int_in_range(0..=4095_u64)? << width;
        let addresses = addresses(machine, &columns, base, idle);

        let law = wavefronts(machine, kind, &columns, bytes, idle).unwrap();
        let count = count_wavefronts(machine, kind, &addresses, bytes).unwrap();
        let expected = counted(machine, kind, &addresses, bytes);
        let context = (&machine.name, kind, bytes, &columns, idle);
        assert_eq!((law.actual, law.ideal), expected, "law: {context:?}");
        assert_eq!((count.actual, count.ideal), expected, "count: {context:?}");
        for found in [law, count] {
            assert_eq!(found.witness.is_some(), found.actual > found.ideal, "{context:?}");
            if let Some(collision) = found.witness {
                check_collision(machine, kind, &addresses, bytes, collision);
            }
        }
        conflicts += u64::from(law.actual > law.ideal);
        Ok(())
    });
    assert!(conflicts > cases() / 10, "{conflicts} conflicts");
}

/// Sums carry: addresses of padded rows, and any others.
#[test]
fn counting_needs_no_linear_map() {
    repeat(5_000, |u| {
        let machine = *u.choose(&Machine::ALL)?;
        let kind = *u.choose(&[Kind::Load, Kind::Store])?;
        let width = u.int_in_range(0..=4)?;
        let (stride, across) = (u.int_in_range(0..=70_u64)?, u.int_in_range(0..=5)?);
        let wild = u.arbitrary()?;
        let addresses: Vec<Option<u64>> = (0..u64::from(machine.lanes()))
            .map(|lane| {
                let padded = (lane >> across) * stride + (lane & low_mask(across));
                let place = if wild { u.int_in_range(0..=511)? } else { padded };
                Ok((!wild || u.ratio(7, 8)?).then_some(place << width))
            })
            .collect::<Result<_>>()?;
        let found = count_wavefronts(machine, kind, &addresses, 1 << width).unwrap();
        let expected = counted(machine, kind, &addresses, 1 << width);
        assert_eq!((found.actual, found.ideal), expected, "{} {addresses:?}", machine.name);
        if let Some(collision) = found.witness {
            check_collision(machine, kind, &addresses, 1 << width, collision);
        }
        Ok(())
    });
}

#[test]
fn the_rank_law_counts_sectors() {
    holds(300, |u| {
        let machine = *u.choose(&Machine::ALL)?;
        let width = u.int_in_range(0..=4)?;
        let columns = columns(u, machine.lanes_log2, width)?;
        let found = sectors(machine, &columns, 1 << width, 0).unwrap();
        let addresses = addresses(machine, &columns, 0, 0);
        let touched: BTreeSet<u64> = (addresses.iter().flatten())
            .map(|address| address / u64::from(machine.sector_bytes))
            .collect();
        assert_eq!(found.actual, touched.len() as u64);
        let counted = count_sectors(machine, &addresses, 1 << width).unwrap();
        assert_eq!(counted.actual, found.actual);
        // Fewer bytes than a sector lie in one.
        assert_eq!(counted.ideal, found.ideal);
        Ok(())
    });
}

/// Vectors that overlap, or lie in two sectors, are counted byte by byte.
#[test]
fn sectors_are_counted_at_any_addresses() {
    repeat(2_000, |u| {
        let machine = *u.choose(&Machine::ALL)?;
        let bytes = 1_u32 << u.int_in_range(0..=4)?;
        let addresses: Vec<Option<u64>> = (0..machine.lanes())
            .map(|_| Ok(u.ratio(7, 8)?.then_some(u.int_in_range(0..=2_000)?)))
            .collect::<Result<_>>()?;
        let found = count_sectors(machine, &addresses, bytes).unwrap();
        let all = addresses.iter().flatten().flat_map(|&at| at..at + u64::from(bytes));
        let all: BTreeSet<u64> = all.collect();
        let size = u64::from(machine.sector_bytes);
        let touched: BTreeSet<u64> = all.iter().map(|byte| byte / size).collect();
        let expected = (touched.len() as u64, (all.len() as u64).div_ceil(size));
        assert_eq!((found.actual, found.ideal), expected, "{bytes} bytes at {addresses:?}");
        Ok(())
    });
}

/// Fact F4: lemma 9.4 as printed says 16.
#[test]
fn f4_vectors_of_16_bytes_in_a_row_take_4_wavefronts() {
    let columns: Vec<u64> = (0..5).map(|bit| 16 << bit).collect();
    let taken = wavefronts(machine("sm_90"), Kind::Load, &columns, 16, 0).unwrap();
    assert_eq!((taken.actual, taken.ideal), (4, 4));
}

/// Fact F8: a segment and a part of a word are one bank, though the segment alone is not.
#[test]
fn f8_a_lane_at_130_bytes_meets_lane_0() {
    let columns = [130, 4, 8, 16, 32];
    let taken = wavefronts(machine("sm_90"), Kind::Load, &columns, 2, 0).unwrap();
    assert_eq!((taken.actual, taken.ideal), (2, 1));
    assert_eq!(taken.witness, Some(Collision { lanes: [0, 1], words: [0, 0] }));
}

/// The measurements of phases on an H200.
#[test]
fn the_model_of_sm_90_agrees_with_what_was_measured() {
    let sm_90 = machine("sm_90");
    let row = |width: u64| [1, 2, 4, 8, 16].map(|lane| lane * width);
    // One lane bit is a copy, the others fill consecutive addresses.
    let without = |width: u64, copy: usize| {
        [0, 1, 2, 3, 4].map(|bit| match bit {
            _ if bit == copy => 0,
            _ if bit < copy => width << bit,
            _ => width << bit >> 1,
        })
    };
    let taken = |kind, columns: [u64; 5], bytes| {
        wavefronts(sm_90, kind, &columns, bytes, 0).unwrap().actual
    };
    for kind in [Kind::Load, Kind::Store] {
        // 1, 2, 4, … 32 lanes in one bank.
        for ways in 0..=5 {
            let columns = [0, 1, 2, 3, 4].map(|bit| if bit < ways { 128 << bit } else { 4 << bit });
            assert_eq!(taken(kind, columns, 4), 1 << ways);
        }
        assert_eq!((taken(kind, row(8), 8), taken(kind, row(16), 16)), (2, 4));
        // Lanes i and i + 8 (of 8 bytes), i and i + 4 (of 16) in one bank.
        assert_eq!(taken(kind, [8, 16, 32, 128, 256], 8), 4);
        assert_eq!(taken(kind, [16, 32, 128, 256, 512], 16), 8);
    }
    for (bit, wide, narrow) in [(0, 2, 1), (1, 2, 1), (2, 4, 2), (3, 4, 2), (4, 4, 2)] {
        assert_eq!(taken(Kind::Load, without(16, bit), 16), wide, "bit {bit}");
        assert_eq!(taken(Kind::Load, without(8, bit), 8), narrow, "bit {bit}");
        assert_eq!(taken(Kind::Store, without(16, bit), 16), 4, "bit {bit}");
    }
    assert_eq!((taken(Kind::Load, [0; 5], 16), taken(Kind::Load, [0; 5], 8)), (2, 1));
    // Pairs equal, 16 distinct rows of one bank.
    assert_eq!(taken(Kind::Load, [0, 128, 256, 512, 1024], 16), 16);
}

/// Rows of 2^`row` bytes under `Swizzle<bits, 4, shift>` for each `(bits, shift)`.
fn rows(row: u32, swizzles: &[(u32, u32)], row_bit: u32) -> u64 {
    let address = 1_u64 << (row + row_bit);
    swizzles
        .iter()
        .fold(address, |sum, &(bits, shift)| sum ^ (address >> shift & low_mask(bits) << 4))
}

/// The wavefronts of 16-byte loads in which lane `l` reads row `l mod 2^across`, the higher lanes the
/// next chunks of 16 bytes.
fn read(machine: &Machine, row: u32, swizzles: &[(u32, u32)], across: u32) -> u32 {
    let columns: Vec<u64> = (0..machine.lanes_log2)
        .map(|bit| if bit < across { rows(row, swizzles, bit) } else { 16 << (bit - across) })
        .collect();
    wavefronts(machine, Kind::Load, &columns, 16, 0).unwrap().actual
}

const MODELS: [&str; 5] = ["gfx950", "gfx942", "gfx1200", "gfx1100", "sm_90"];
const IDEAL: [u32; 5] = [4, 8, 4, 4, 4];

/// Passes of a load of 16 bytes at row `lane` under single swizzles, by machine and row length.
#[test]
fn p7_single_swizzles_on_five_machines() {
    let passes =
        |row, swizzles: &[(u32, u32)]| MODELS.map(|name| read(machine(name), row, swizzles, 6));
    for (row, none, b128, shift_4, four_bits) in [
        (6, [16, 32, 16, 16, 16], [8, 8, 4, 4, 4], [4, 16, 8, 8, 8], [4, 16, 8, 8, 8]),
        (7, [32, 64, 32, 32, 32], [8, 8, 4, 4, 4], [4, 16, 8, 8, 8], [4, 16, 8, 8, 8]),
        (8, [64, 64, 32, 32, 32], [16, 16, 8, 8, 8], [8, 8, 4, 4, 4], [4, 8, 4, 4, 4]),
    ] {
        assert_eq!(passes(row, &[]), none, "2^{row} bytes");
        assert_eq!(passes(row, &[(3, 3)]), b128, "2^{row} bytes");
        assert_eq!(passes(row, &[(3, 4)]), shift_4, "2^{row} bytes");
        assert_eq!(passes(row, &[(4, 4)]), four_bits, "2^{row} bytes");
    }
}

/// NVIDIA's 128-byte swizzle takes twice the passes on gfx950 when a load spans 32 rows or more; one
/// exclusive-or more and it is free of conflicts everywhere.
#[test]
fn p7_the_universal_swizzle_of_128_byte_rows() {
    let passes = |swizzles: &[(u32, u32)], across| {
        MODELS.map(|name| read(machine(name), 7, swizzles, across))
    };
    assert_eq!(passes(&[(3, 3)], 4), IDEAL);
    for across in [5, 6] {
        assert_eq!(passes(&[(3, 3)], across), [8, 8, 4, 4, 4]);
    }
    for across in [4, 5, 6] {
        assert_eq!(passes(&[(3, 3), (1, 7)], across), IDEAL);
    }
}

#[test]
fn accesses_that_no_machine_has_are_refused() {
    let sm_90 = machine("sm_90");
    let law = |columns: &[u64], bytes| wavefronts(sm_90, Kind::Load, columns, bytes, 0);
    let widest = 16;
    assert_eq!(law(&[0; 5], 32), Err(AccessError::Width { bytes: 32, widest }));
    assert_eq!(law(&[0; 5], 0), Err(AccessError::Width { bytes: 0, widest }));
    assert_eq!(law(&[0; 6], 4), Err(AccessError::Lanes { expected: 5, found: 6 }));
    let misaligned = AccessError::Misaligned { lane_bit: 2, bytes: 4 };
    assert_eq!(law(&[4, 8, 18, 32, 64], 4), Err(misaligned));
    let count =
        |addresses: &[Option<u64>], bytes| count_wavefronts(sm_90, Kind::Store, addresses, bytes);
    assert_eq!(count(&[None; 32], 24), Err(AccessError::Width { bytes: 24, widest }));
    assert_eq!(count(&[None; 31], 4), Err(AccessError::Addresses { expected: 32, found: 31 }));
    let mut addresses = [None; 32];
    let nobody = Wavefronts { actual: 0, ideal: 0, witness: None };
    assert_eq!(count(&addresses, 4), Ok(nobody));
    addresses[7] = Some(6);
    let misaligned = AccessError::MisalignedLane { lane: 7, address: 6, bytes: 4 };
    assert_eq!(count(&addresses, 4), Err(misaligned));
    addresses[7] = Some(u64::MAX - 3);
    assert_eq!(count(&addresses, 4).unwrap().actual, 1);
}
