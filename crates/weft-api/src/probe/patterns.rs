//! What a probe times, in order, and under which names.

use super::Experiment;
use super::instruction::Instruction::{
    self, BlockBarrier, Fma, Load, LoadMatrix, Logic, Multiply, Permute, Select, ShuffleIndex,
    ShuffleXor, Store, StoreMatrix, WarpBarrier,
};
use weft_layout::machine::Kind;

/// The widths of accesses, in bytes a lane.
pub(super) const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];
/// A distance that is a multiple of all banks together, on any machine with rows up to this long.
const FAR: u32 = 4096;
/// Where lanes go that are to disturb nobody: other banks than those of address 0, and of 32.
const ASIDE: u32 = 64;
/// The warps that keep a pipe busy.
const WARPS: u32 = 16;

/// Everything that is timed on a machine of so many lanes a warp and this compute capability.
pub(super) fn all(lanes: u32, capability: u32) -> Vec<Experiment> {
    let mut all = Vec::new();
    let mut add = |experiment: Experiment| {
        if experiment.instructions.iter().all(|one| one.since() <= capability) {
            all.push(experiment);
        }
    };
    for ways in [1, 2, 4, 8, 16, 32] {
        for kind in [Kind::Load, Kind::Store] {
            add(warp(ways_name(kind, ways), &[access(kind, 4)], ways_addresses(lanes, ways)));
        }
    }
    for kind in [Kind::Load, Kind::Store] {
        banks(&mut add, lanes, kind);
    }
    for kind in [Kind::Load, Kind::Store] {
        for bytes in WIDTHS {
            phases(&mut add, lanes, kind, bytes);
        }
    }
    matrices(&mut add, lanes);
    registers(&mut add, lanes);
    side_by_side(&mut add, lanes);
    barriers(&mut add, lanes);
    round_trips(&mut add, lanes);
    all
}

/// An experiment of which each warp does its own, at one or several sets of addresses.
fn warp(pattern: String, instructions: &[Instruction], addresses: Vec<u32>) -> Experiment {
    Experiment {
        pattern,
        instructions: instructions.to_vec(),
        addresses: vec![addresses],
        warps: WARPS,
        blocks: 1,
        per_block: false,
        units: 16,
    }
}

pub(super) fn access(kind: Kind, bytes: u32) -> Instruction {
    match kind {
        Kind::Load => Load(bytes),
        Kind::Store => Store(bytes),
    }
}

fn consecutive(lanes: u32, bytes: u32) -> Vec<u32> {
    (0..lanes).map(|lane| lane * bytes).collect()
}

pub(super) fn ways_name(kind: Kind, ways: u32) -> String {
    format!("{}, {ways} words of each bank used", access(kind, 4))
}

/// Every `ways` lanes ask one bank for different words.
fn ways_addresses(lanes: u32, ways: u32) -> Vec<u32> {
    (0..lanes).map(|lane| lane % ways * 1024 + lane / ways * 4).collect()
}

pub(super) fn row_name(kind: Kind) -> String {
    format!("{}, lane 1 at 4, 8, … {FAR}, the others at 0", access(kind, 4))
}

pub(super) fn row_distances() -> impl Iterator<Item = u32> {
    (2..=FAR.ilog2()).map(|log2| 1 << log2)
}

pub(super) fn bank_name(kind: Kind) -> String {
    format!("{}, lane 1 at {FAR} + 1, 2, 4, … 64, the others at 0", access(kind, 1))
}

pub(super) fn bank_distances() -> impl Iterator<Item = u32> {
    (0..=6).map(|log2| 1 << log2)
}

/// How far words of one bank lie apart, and how long a word is.
fn banks(add: &mut impl FnMut(Experiment), lanes: u32, kind: Kind) {
    let second_at =
        |at: u32| -> Vec<u32> { (0..lanes).map(|lane| at * u32::from(lane == 1)).collect() };
    let sweep = |pattern, bytes, addresses| Experiment {
        addresses,
        ..warp(pattern, &[access(kind, bytes)], Vec::new())
    };
    add(sweep(row_name(kind), 4, row_distances().map(second_at).collect()));
    add(sweep(bank_name(kind), 1, bank_distances().map(|at| second_at(FAR + at)).collect()));
}

pub(super) fn pair_name(kind: Kind, bytes: u32, lane: u32) -> String {
    format!(
        "{}, lane {lane} and each later lane in one bank, the others aside",
        access(kind, bytes)
    )
}

pub(super) fn apart_name(kind: Kind, bytes: u32) -> String {
    format!("{}, lane 0 and each later lane in two banks, the others aside", access(kind, bytes))
}

pub(super) fn consecutive_name(kind: Kind, bytes: u32) -> String {
    format!("{}, consecutive", access(kind, bytes))
}

pub(super) fn copies_name(kind: Kind, bytes: u32) -> String {
    format!("{}, consecutive but for one lane bit, 0, 1, …, that is a copy", access(kind, bytes))
}

/// Which lanes are served together, and when phases join.
fn phases(add: &mut impl FnMut(Experiment), lanes: u32, kind: Kind, bytes: u32) {
    let instruction = [access(kind, bytes)];
    let pair = |i: u32, j: u32, at: u32| -> Vec<u32> {
        let address = |lane| match lane {
            _ if lane == i => 0,
            _ if lane == j => at,
            _ => ASIDE,
        };
        (0..lanes).map(address).collect()
    };
    let sweep =
        |pattern, addresses| Experiment { addresses, ..warp(pattern, &instruction, Vec::new()) };
    add(warp(consecutive_name(kind, bytes), &instruction, consecutive(lanes, bytes)));
    add(warp(format!("{}, one address", instruction[0]), &instruction, vec![0; lanes as usize]));
    let apart = (1..lanes).map(|j| pair(0, j, FAR + 32)).collect();
    add(sweep(apart_name(kind, bytes), apart));
    for i in 0..lanes - 1 {
        let pairs = (i + 1..lanes).map(|j| pair(i, j, FAR)).collect();
        add(sweep(pair_name(kind, bytes, i), pairs));
    }
    // The lanes that differ in more than the copied bit stay consecutive.
    let without = |bit: u32| -> Vec<u32> {
        let low = (1 << bit) - 1;
        (0..lanes).map(|lane| (lane & low | lane >> 1 & !low) * bytes).collect()
    };
    add(sweep(copies_name(kind, bytes), (0..lanes.ilog2()).map(without).collect()));
}

/// Rows of 16 bytes, one a lane: apart, or several in one bank.
fn matrices(add: &mut impl FnMut(Experiment), lanes: u32) {
    let rows = |ways: u32| -> Vec<u32> {
        (0..lanes).map(|lane| lane % ways * 1024 + lane / ways * 16).collect()
    };
    for transposed in [false, true] {
        for count in [1, 2, 4] {
            let (load, store) =
                (LoadMatrix { count, transposed }, StoreMatrix { count, transposed });
            for instruction in [load, store] {
                add(warp(format!("{instruction}, rows apart"), &[instruction], rows(1)));
            }
        }
    }
    for ways in [2, 8] {
        let (count, transposed) = (4, false);
        for instruction in [LoadMatrix { count, transposed }, StoreMatrix { count, transposed }] {
            let pattern = format!("{instruction}, {ways} rows of each bank used");
            add(warp(pattern, &[instruction], rows(ways)));
        }
    }
}

/// Instructions on registers alone.
fn registers(add: &mut impl FnMut(Experiment), lanes: u32) {
    for one in [ShuffleIndex, ShuffleXor, Permute, Logic, Select, Multiply, Fma] {
        add(warp(one.to_string(), &[one], consecutive(lanes, 4)));
    }
}

/// The name of several instructions that run together.
pub(super) fn together(instructions: &[Instruction]) -> String {
    let mut parts: Vec<(usize, Instruction)> = Vec::new();
    for one in instructions {
        match parts.iter_mut().find(|(_, other)| other == one) {
            Some((count, _)) => *count += 1,
            None => parts.push((1, *one)),
        }
    }
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(count, one)| if count == 1 { one.to_string() } else { format!("{count} {one}") })
        .collect();
    parts.join(" + ")
}

/// Which instructions share a pipe, what packing costs, and how many issue.
fn side_by_side(add: &mut impl FnMut(Experiment), lanes: u32) {
    let mixes: [&[Instruction]; 21] = [
        &[Load(4), ShuffleXor],
        &[Load(4), ShuffleIndex],
        &[ShuffleXor, Permute],
        &[ShuffleXor, Permute, Permute],
        &[ShuffleXor, Select],
        &[ShuffleXor, Select, Select],
        &[Load(4), Permute, Permute],
        &[Permute, Logic],
        &[Permute, Select],
        &[Permute, Multiply],
        &[Permute, Fma],
        &[Permute, Fma, Fma],
        &[ShuffleXor, Permute, Fma],
        &[ShuffleXor, Permute, Fma, Fma],
        &[Load(4), Fma, Fma, Fma],
        &[Store(1), Store(1), Store(1), Store(1)],
        &[Permute, Permute, Permute, Store(4)],
        &[Store(2), Store(2)],
        &[Permute, Store(4)],
        &[Load(1), Load(1), Load(1), Load(1)],
        &[Load(4), Permute, Permute, Permute],
    ];
    for mix in mixes {
        // Of words or parts of words, all conflict-free.
        let narrowest = mix.iter().filter_map(|one| match one {
            Load(bytes) | Store(bytes) => Some(*bytes),
            _ => None,
        });
        let bytes = narrowest.min().unwrap_or(4);
        add(warp(together(mix), mix, consecutive(lanes, bytes)));
    }
}

pub(super) fn block_barrier_name(warps: u32) -> String {
    format!("bar.sync, {warps} warps")
}

fn barriers(add: &mut impl FnMut(Experiment), lanes: u32) {
    add(warp(WarpBarrier.to_string(), &[WarpBarrier], consecutive(lanes, 4)));
    for warps in [1, 2, 4, 8, 16, 32] {
        let one = warp(block_barrier_name(warps), &[BlockBarrier], consecutive(lanes, 4));
        add(Experiment { warps, per_block: true, ..one });
    }
}

/// Registers to memory and back, with barriers between, as a conversion does it: for one block that
/// has the multiprocessor to itself, and for several.
fn round_trips(add: &mut impl FnMut(Experiment), lanes: u32) {
    for (bytes, accesses) in [(4, 8), (16, 2), (4, 32), (16, 8)] {
        for (warps, blocks) in
            [(1, 1), (1, 16), (4, 1), (4, 2), (4, 4), (8, 1), (8, 2), (16, 1), (16, 2)]
        {
            let barrier = if warps == 1 { WarpBarrier } else { BlockBarrier };
            let mut trip = vec![Store(bytes); accesses];
            trip.push(barrier);
            trip.extend(vec![Load(bytes); accesses]);
            let pattern = |trip: &[Instruction]| {
                let blocks =
                    if blocks == 1 { "1 block".into() } else { format!("{blocks} blocks") };
                format!("{}, {warps} warps, {blocks}", together(trip))
            };
            let experiment = |trip: &[Instruction]| Experiment {
                warps,
                blocks,
                per_block: true,
                units: 2,
                ..warp(pattern(trip), trip, consecutive(lanes, bytes))
            };
            // The next round trip may not write before all have read.
            trip.push(barrier);
            add(experiment(&trip));
        }
    }
}
