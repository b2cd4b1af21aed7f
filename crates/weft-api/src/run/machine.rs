//! The blocks that a machine runs at the same time.

use weft::lane::Program;
use weft_layout::Machine;

/// The blocks of a program that the largest device of this kind runs at the same time, as far as
/// threads and shared memory decide it.
pub(super) fn resident_blocks(machine: &Machine, program: &Program) -> u32 {
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
    fn threads_or_shared_memory_decide() {
        let machine = Machine::by_name("sm_90").unwrap();
        let mut program = Builder::new("nothing", 4, 5).finish();
        assert_eq!(resident_blocks(machine, &program), 16 * 132);
        program.shared_bytes = 100 << 10;
        assert_eq!(resident_blocks(machine, &program), 2 * 132);
    }
}
