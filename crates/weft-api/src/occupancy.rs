//! The blocks that a machine runs at the same time.

use crate::answer::OccupancyAnswer;
use weft::lane::Program;
use weft_layout::Machine;

/// In how many registers of a thread a multiprocessor is shared out: NVIDIA's give a warp 256 at a time
/// (occupancy tables), AMD's a wave of 64 eight a lane (LLVM AMDGPU usage, granule of registers).
const REGISTER_STEP: u32 = 8;

/// What threads, shared memory and the machine's own limit leave room for on one multiprocessor; one block
/// at least.
pub(crate) fn occupancy(machine: &Machine, program: &Program) -> OccupancyAnswer {
    let threads = program.threads().max(1);
    let memory = match program.shared_bytes {
        0 => u64::MAX,
        bytes => machine.shared_bytes / u64::from(bytes),
    };
    let limits = [
        ("threads", (machine.threads / threads).into()),
        ("shared memory", memory),
        ("blocks", machine.blocks.into()),
    ];
    let [mut least, others @ ..] = limits;
    for limit in others {
        if limit.1 < least.1 {
            least = limit;
        }
    }
    let blocks = least.1.max(1) as u32;
    let registers = machine.registers / (blocks * threads) / REGISTER_STEP * REGISTER_STEP;
    OccupancyAnswer {
        blocks,
        warps: blocks * program.warps,
        most_warps: machine.threads / machine.lanes(),
        limit: least.0,
        registers: registers.min(machine.registers_per_thread),
        shared_bytes: machine.shared_bytes,
    }
}

/// The blocks of a program that the largest device of this kind runs at the same time, as far as
/// threads and shared memory decide it.
pub(crate) fn resident_blocks(machine: &Machine, program: &Program) -> u32 {
    occupancy(machine, program).blocks * machine.multiprocessors
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft::lane::Builder;

    #[test]
    fn threads_or_shared_memory_decide() {
        let machine = Machine::by_name("sm_90").unwrap();
        let mut program = Builder::new("nothing", 4, 5).finish();
        assert_eq!(resident_blocks(machine, &program), 16 * 132);
        let few = occupancy(machine, &program);
        assert_eq!((few.warps, few.most_warps, few.limit, few.registers), (64, 64, "threads", 32));
        program.shared_bytes = 100 << 10;
        assert_eq!(resident_blocks(machine, &program), 2 * 132);
        let full = occupancy(machine, &program);
        assert_eq!((full.warps, full.limit, full.registers), (8, "shared memory", 255));
        let one = occupancy(machine, &Builder::new("nothing", 1, 5).finish());
        assert_eq!((one.blocks, one.limit), (32, "blocks"));
    }
}
