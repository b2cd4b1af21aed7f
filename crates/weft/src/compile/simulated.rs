//! A machine as the simulator sees it.

use crate::sim;
use weft_layout::machine::{Kind, MAX_ACCESS_LOG2, Machine};

/// What the simulator needs to know of a machine: the banks, the phases of each access width, the
/// sectors. `resident_blocks` is how many blocks run at the same time.
pub fn simulated(machine: &Machine, resident_blocks: u32) -> sim::Machine {
    let phases = |kind: Kind, width_log2: u32| {
        let together = machine.phases.subspace(kind, width_log2);
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for lane in 0..machine.lanes() {
            // Lanes are served together when they differ by an element of the subspace.
            let same = |group: &&mut Vec<u32>| together.contains(u64::from(group[0] ^ lane));
            match groups.iter_mut().find(same) {
                Some(group) => group.push(lane),
                None => groups.push(vec![lane]),
            }
        }
        sim::Phases { lane_bytes: 1 << width_log2, groups }
    };
    let all = |kind| (0..=MAX_ACCESS_LOG2).map(|width_log2| phases(kind, width_log2)).collect();
    let merging = u32::from(machine.phases.merging);
    sim::Machine {
        banks: 1 << machine.banks_log2,
        store_banks: 1 << machine.store_banks_log2,
        bank_bytes: 1 << machine.bank_bytes_log2,
        sector_bytes: machine.sector_bytes,
        load_phases: all(Kind::Load),
        store_phases: all(Kind::Store),
        load_merge_masks: (0..8).map(|bit| 1 << bit).filter(|mask| merging & mask != 0).collect(),
        resident_blocks,
    }
}
