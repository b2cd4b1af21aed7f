//! A machine's description in the words of the simulator, which knows no layouts.

use weft::lane::Program;
use weft::sim;
use weft_layout::Machine;
use weft_layout::f2::Subspace;
use weft_layout::machine::MAX_ACCESS_LOG2;

/// What the simulator must know of a machine to run and count a program.
pub fn simulated(machine: &Machine, program: &Program) -> sim::Machine {
    let rows = 0..=MAX_ACCESS_LOG2;
    let phases: Vec<sim::Phases> = rows
        .map(|width| sim::Phases {
            lane_bytes: 1 << width,
            groups: cosets(machine.lanes(), &machine.phases.subspace(width)),
        })
        .collect();
    let merging = (0..machine.lanes_log2).map(|bit| 1 << bit);
    sim::Machine {
        banks: 1 << machine.banks_log2,
        bank_bytes: 1 << machine.bank_bytes_log2,
        sector_bytes: machine.sector_bytes,
        store_phases: phases.clone(),
        load_phases: phases,
        load_merge_masks: merging
            .filter(|mask| u32::from(machine.phases.merging) & mask != 0)
            .collect(),
        resident_blocks: resident_blocks(machine, program),
    }
}

/// The lanes in groups whose differences are in `together`, each group from its lowest lane.
fn cosets(lanes: u32, together: &Subspace) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for lane in 0..lanes {
        let group = groups.iter_mut().find(|group| {
            group.first().is_some_and(|&first| together.contains(u64::from(first ^ lane)))
        });
        match group {
            Some(group) => group.push(lane),
            None => groups.push(vec![lane]),
        }
    }
    groups
}

/// The blocks that the largest device of this kind runs at the same time, as far as threads and
/// shared memory decide it.
fn resident_blocks(machine: &Machine, program: &Program) -> u32 {
    let by_threads = machine.threads / program.threads().max(1);
    let by_memory = match program.shared_bytes {
        0 => machine.blocks,
        bytes => (machine.shared_bytes / u64::from(bytes)) as u32,
    };
    by_threads.min(by_memory).min(machine.blocks).max(1) * machine.multiprocessors
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft::lane::Builder;

    #[test]
    fn the_hopper_row_is_the_simulators_measured_one() {
        let machine = Machine::by_name("sm_90").unwrap();
        let program = Builder::new("nothing", 4, 5).finish();
        let simulated = simulated(machine, &program);
        let measured = sim::Machine::nvidia();
        let row = |machine: &sim::Machine, bytes| {
            machine.load_phases.iter().find(|row| row.lane_bytes >= bytes).cloned()
        };
        for bytes in [1, 2, 4, 8, 16] {
            let (ours, theirs) = (row(&simulated, bytes), row(&measured, bytes));
            assert_eq!(ours.map(|row| row.groups), theirs.map(|row| row.groups), "{bytes} bytes");
        }
        assert_eq!(simulated.load_merge_masks, measured.load_merge_masks);
        assert_eq!(simulated.resident_blocks, 16 * 132);
    }
}
