//! The blocks that a machine runs at the same time.

use crate::answer::OccupancyAnswer;
use weft::lane::effects::Participants;
use weft::lane::{Op, Program, WarpgroupOp};
use weft::simplify::{abreast, order};
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

/// The blocks that run on a multiprocessor whose threads have so many registers.
pub(crate) fn blocks_of(machine: &Machine, program: &Program, registers: u32) -> u32 {
    let taken = registers.next_multiple_of(REGISTER_STEP).max(REGISTER_STEP);
    let blocks = (machine.registers / (program.threads().max(1) * taken)).max(1);
    blocks.min(occupancy(machine, program).blocks)
}

/// How much of what threads load is under way at once on a multiprocessor, where each thread has so many registers.
pub(crate) fn under_way(machine: &Machine, program: &Program, registers: u32) -> u32 {
    blocks_of(machine, program, registers) * order::loaded_at_once(program, registers)
}

/// Whether more blocks would help where the threads of a program have so many registers and so many bytes of a
/// stack, and registers are what there is too little of.
pub(crate) fn wants_registers(
    machine: &Machine,
    program: &Program,
    registers: u32,
    stack_bytes: u32,
) -> bool {
    let blocks = blocks_of(machine, program, registers);
    let OccupancyAnswer { blocks: others, most_warps, .. } = occupancy(machine, program);
    // Half of the warps are enough where more than one block has them.
    let enough = blocks > 1 && 2 * blocks * program.warps >= most_warps;
    stack_bytes > 0 || blocks < others && !enough
}

/// For how many blocks on a multiprocessor a program had better be assembled again whose threads were given so
/// many registers and so many bytes of a stack; `None` where that will do.
///
/// What is too much for the registers that a thread was given goes to the stack, and then an assembler may leave the
/// threads few of them too, for the sake of blocks that do not make up for it: as many blocks will do as leave room for
/// what lies on the stack, or one. Nor do they where more loads are under way in fewer blocks. Otherwise it uses registers freely, for loads that wait side by side, and a few less
/// let one more block run, whose warps work where those of the others wait for one another.
pub(crate) fn second_assembly(
    machine: &Machine,
    program: &Program,
    registers: u32,
    stack_bytes: u32,
) -> Option<u32> {
    let room_for = |blocks: u32| {
        let threads = program.threads().max(1);
        let room = machine.registers / (blocks * threads) / REGISTER_STEP * REGISTER_STEP;
        room.min(machine.registers_per_thread)
    };
    let blocks = blocks_of(machine, program, registers);
    if stack_bytes == 0
        && let Some(fewer) = fewer_blocks(machine, program, registers, &room_for)
    {
        return Some(fewer);
    }
    if !wants_registers(machine, program, registers, stack_bytes) {
        return None;
    }
    if stack_bytes > 0 {
        let wanted = registers + stack_bytes.div_ceil(4);
        let blocks = (1..=blocks).rev().find(|&blocks| room_for(blocks) >= wanted).unwrap_or(1);
        return (registers < room_for(blocks)).then_some(blocks);
    }
    let ops = program.insts.values().map(|inst| &inst.op);
    // The sums of products stay in registers, and what is in flight may not move: there is less to be had.
    let share = ops.map(|op| match op {
        Op::Warpgroup(WarpgroupOp::Multiply(_)) => 90,
        Op::MatrixMultiply(_) | Op::ScaledMultiply(_) => 70,
        _ => 55,
    });
    let share = share.max().unwrap_or(55);
    (100 * room_for(blocks + 1) >= share * registers).then_some(blocks + 1)
}

/// Of a thread's registers, those that at least are taken by what is not loaded.
const LEAST_BESIDE: u32 = 12;

/// Fewer blocks on a multiprocessor of a program without loops, half of its warps at least, of which more loads are under
/// way at once: where a thread has not the registers for all that it loads at first, an assembler puts loads behind uses
/// of others, and threads wait for memory twice. (flash-linear-attention's `chunk_dplr_fwd_kernel_o` for chunks of 16:
/// 365 µs on an H200 with 40 registers and twelve blocks, 229 with 56 and nine, 225 with 60 and eight.)
fn fewer_blocks(
    machine: &Machine,
    program: &Program,
    registers: u32,
    room_for: &dyn Fn(u32) -> u32,
) -> Option<u32> {
    let all = order::loaded_at_once(program, u32::MAX);
    let has_loops = program.insts.values().any(|inst| inst.op == Op::Loop);
    let meets = program.insts.values().any(|inst| {
        let convergent = inst.op.effects().convergent;
        convergent.is_some_and(|threads| threads > Participants::Warp)
    });
    // The first time it may have been told already.
    let is_told = abreast::blocks(program).is_some();
    if has_loops || !meets || is_told || all + LEAST_BESIDE <= registers {
        return None;
    }
    let blocks = blocks_of(machine, program, registers);
    // With more registers as many blocks would run, and an assembler wants no more.
    if registers.next_multiple_of(REGISTER_STEP) < room_for(blocks) {
        return None;
    }
    let most_warps = machine.threads / machine.lanes();
    let is_enough = |&blocks: &u32| 2 * blocks * program.warps >= most_warps;
    let loads = |&blocks: &u32| blocks * order::loaded_at_once(program, room_for(blocks));
    let best = (1..blocks).filter(is_enough).max_by_key(loads)?;
    (4 * loads(&best) >= 5 * under_way(machine, program, registers)).then_some(best)
}

/// The blocks of a program that the largest device of this kind runs at the same time, as far as
/// threads and shared memory decide it.
pub(crate) fn resident_blocks(machine: &Machine, program: &Program) -> u32 {
    occupancy(machine, program).blocks * machine.multiprocessors
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft::dtype::DType;
    use weft::lane::{Access, BarrierScope, Builder, Param, Space, WarpgroupMultiply};

    #[test]
    fn an_assembly_is_asked_for_again_where_more_blocks_are_near() {
        let machine = Machine::by_name("sm_90").unwrap();
        let of_warps = |warps| Builder::new("nothing", warps, 5).finish();
        let again =
            |warps, registers, stack| second_assembly(machine, &of_warps(warps), registers, stack);
        // A stack where a thread could have more registers, and where it has them all.
        assert_eq!(again(4, 32, 17048), Some(1));
        assert_eq!(again(4, 255, 17048), None);
        assert_eq!(again(16, 128, 584), None);
        // A stack that two blocks less make room for, and one that fits beside as many blocks.
        assert_eq!(again(4, 64, 62), Some(6));
        assert_eq!(again(4, 84, 8), Some(5));
        // Blocks of eight warps, where one more is near, where it is not, and where they are enough.
        assert_eq!(again(8, 142, 0), Some(2));
        assert_eq!(again(8, 128, 0), Some(3));
        assert_eq!(again(8, 254, 0), None);
        assert_eq!(again(8, 64, 0), None);
        // Two blocks of sixteen warps are half of all warps; one of 32 is not enough.
        assert_eq!(again(16, 78, 0), Some(2));
        assert_eq!(again(16, 64, 0), None);
        assert_eq!(again(32, 57, 0), Some(2));
        assert_eq!(again(32, 32, 0), None);
        // Products of warpgroups let go of a few registers only.
        let mut build = Builder::new("product", 8, 5);
        let zero = build.constant(DType::F32, 0);
        let descriptor = build.constant(DType::I64, 0);
        let form = WarpgroupMultiply {
            columns: 8,
            summed: 16,
            left: DType::F16,
            right: DType::F16,
            sum: DType::F32,
            left_in_registers: false,
            transposed: [false; 2],
            keeps: false,
        };
        build.warpgroup_multiply(form, &[descriptor], descriptor, None, &[zero; 4]);
        let product = build.finish();
        assert_eq!(second_assembly(machine, &product, 142, 0), Some(2));
        assert_eq!(second_assembly(machine, &product, 143, 0), None);
        // Shared memory lets no second block run.
        let mut large = of_warps(8);
        large.shared_bytes = 150 << 10;
        assert_eq!(second_assembly(machine, &large, 142, 0), None);
    }

    #[test]
    fn fewer_blocks_are_asked_for_where_more_loads_are_then_under_way() {
        let machine = Machine::by_name("sm_90").unwrap();
        let loading = |vectors: u32, meets: bool| {
            let mut build = Builder::new("loading", 4, 5);
            let (dtype, pointee) = (DType::I64, Some(DType::I32));
            let x = build.param(Param { name: "x".into(), dtype, pointee, divisibility: 16 });
            for index in 0..vectors {
                let access = Access { offset: 16 * index.cast_signed(), ..Access::default() };
                build.load(Space::Global, access, DType::I32, 4, x, None);
            }
            if meets {
                build.barrier(BarrierScope::Block);
            }
            build.finish()
        };
        let again = |vectors, meets, registers| {
            second_assembly(machine, &loading(vectors, meets), registers, 0)
        };
        // 32 words, of which 40 registers have room for 16 in each of twelve blocks, 56 for all in each of nine.
        assert_eq!(again(8, true, 40), Some(9));
        assert_eq!(again(8, true, 56), None);
        // There is room for all, as many blocks would run with more registers, or threads do not meet.
        assert_eq!(again(4, true, 40), None);
        assert_eq!(again(8, true, 24), None);
        assert_eq!(again(8, false, 40), None);
    }

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
