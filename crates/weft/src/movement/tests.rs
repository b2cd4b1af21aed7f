//! Plans written around nothing else, and run.

mod conversions;
mod gathers;
mod histograms;
mod random;
mod scans;

use super::{Misfit, write};
use crate::dtype::DType;
use crate::lane::{Access, Builder, Op, Param, Program, Space, Value};
use crate::memory::{Buffer, Memory};
use crate::scalar::{Binary, Cast};
use crate::sim::{self, Launch};
use crate::simplify;
use random::indices;
use weft_layout::Layout;
use weft_layout::family::Blocked;
use weft_layout::machine::Machine;
use weft_layout::plan;
use weft_layout::step::Strategy;

/// What element `index` holds: its bytes all depend on it.
fn element(build: &mut Builder, index: Value, dtype: DType) -> Value {
    let factor = build.i32(0x9e37_79b1_u32 as i32);
    let mixed = build.binary(Binary::Mul, index, factor);
    match dtype.bits() {
        64 => {
            let high = build.cast(Cast::ExtU, mixed, DType::I64);
            let count = build.constant(DType::I64, 32);
            let high = build.binary(Binary::Shl, high, count);
            let low = build.cast(Cast::ExtU, index, DType::I64);
            let both = build.binary(Binary::Xor, high, low);
            build.cast(Cast::Bits, both, dtype)
        }
        32 => build.cast(Cast::Bits, mixed, dtype),
        bits => {
            let count = build.i32(32 - bits as i32);
            let top = build.binary(Binary::ShrU, mixed, count);
            let narrow = match bits {
                16 => DType::I16,
                8 => DType::I8,
                _ => dtype,
            };
            let top = build.cast(Cast::Trunc, top, narrow);
            build.cast(Cast::Bits, top, dtype)
        }
    }
}

/// A kernel that makes a tensor in one layout, moves it to the other, and stores every element.
fn kernel(from: &Layout, to: &Layout, dtype: DType, machine: &Machine) -> (Program, Strategy) {
    let plan = plan::convert(from, to, dtype.bytes() * 8, machine).unwrap();
    let mut build = Builder::new("converted", 1 << plan.warp_bits, machine.lanes_log2);
    let pointee = Some(dtype);
    let param = Param { name: "out".into(), dtype: DType::I64, pointee, divisibility: 16 };
    let out = build.param(param);
    let indices_from = indices(&mut build, from);
    let inputs = indices_from.into_iter().map(|index| element(&mut build, index, dtype)).collect();
    let outputs = write(&mut build, &plan, vec![inputs]).unwrap();
    let size = build.i32(dtype.bytes() as i32);
    for (index, &value) in indices(&mut build, to).into_iter().zip(&outputs[0]) {
        assert_eq!(build.dtype(value), dtype);
        let offset = build.binary(Binary::Mul, index, size);
        let offset = build.cast(Cast::ExtU, offset, DType::I64);
        let address = build.binary(Binary::Add, out, offset);
        let value = super::byte_of(&mut build, value);
        build.store(Space::Global, Access::default(), address, None, &[value]);
    }
    (build.finish(), plan.strategy)
}

/// What the kernel should leave, element by element.
fn expected(index: u64, dtype: DType) -> u64 {
    let mixed = u64::from((index as u32).wrapping_mul(0x9e37_79b1));
    match dtype.bits() {
        64 => mixed << 32 ^ index,
        bits => mixed >> (32 - bits),
    }
}

#[test]
fn a_plan_moves_every_element_in_a_kernel_of_its_own() {
    let blocked = |sizes: [[u64; 2]; 3], order: [usize; 2]| {
        let [registers, lanes, warps] = sizes;
        Blocked::new(&registers, &lanes, &warps, &order).layout(&[32, 64]).unwrap()
    };
    let mut strategies = Vec::new();
    for (name, lanes) in [("sm_90", 32), ("gfx942", 64)] {
        let machine = Machine::by_name(name).unwrap();
        let rows = blocked([[1, 4], [lanes / 16, 16], [4, 1]], [1, 0]);
        let narrow = blocked([[1, 1], [lanes / 16, 16], [4, 1]], [1, 0]);
        let columns = blocked([[4, 1], [8, lanes / 8], [1, 4]], [0, 1]);
        for dtype in DType::ALL {
            for (from, to) in [(&rows, &rows), (&rows, &narrow), (&rows, &columns)] {
                let (program, strategy) = kernel(from, to, dtype, machine);
                strategies.push(strategy);
                let mut memory = Memory::default();
                let bytes = vec![0; 32 * 64 * dtype.bytes() as usize];
                let buffer = Buffer { name: "out".into(), bytes, dtype, initialised: false };
                let out = memory.push(buffer);
                let launch = Launch {
                    program: &program,
                    grid: [1, 1, 1],
                    args: &[out],
                    machine: &crate::compile::simulated(machine, 1),
                    options: sim::Options::default(),
                };
                let report = sim::run(&launch, &mut memory).unwrap();
                assert!(report.is_clean(), "{name} {dtype}\n{program}");
                for index in 0..32 * 64 {
                    let address = out + index * u64::from(dtype.bytes());
                    let found = memory.read(address, dtype.bytes()).unwrap();
                    assert_eq!(found, expected(index, dtype), "{name} {dtype} {index}");
                }
            }
        }
    }
    for strategy in [Strategy::Nothing, Strategy::Shuffles, Strategy::SharedMemory] {
        assert!(strategies.contains(&strategy), "{strategy}");
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let machine = Machine::by_name("sm_90").unwrap();
    let layout = Blocked::new(&[1, 4], &[2, 16], &[2, 1], &[1, 0]).layout(&[4, 64]).unwrap();
    let plan = plan::convert(&layout, &layout, 16, machine).unwrap();
    let misfit = |warps: u32, inputs: &[DType]| {
        let mut build = Builder::new("misfit", warps, 5);
        let values = inputs.iter().map(|&dtype| build.constant(dtype, 1)).collect();
        write(&mut build, &plan, vec![values]).unwrap_err().to_string()
    };
    assert_eq!(
        misfit(4, &[DType::F16; 4]),
        "the plan is for 2 warps of 32 lanes, and the program's block has 4 of 32"
    );
    assert_eq!(misfit(2, &[DType::F16; 3]), "f0 has 4 registers, and 3 values were given");
    assert_eq!(
        misfit(2, &[DType::F32; 4]),
        "f0 has registers of 16 bits, and a value of 32 bits was given"
    );
    let mut build = Builder::new("misfit", 2, 5);
    let none = write(&mut build, &plan, Vec::new());
    assert_eq!(none, Err(Misfit::Inputs { expected: 1, found: 0 }));
    let mut broken = plan.clone();
    broken.outputs = vec![weft_layout::step::File(7)];
    let value = build.constant(DType::F16, 0);
    let message = write(&mut build, &broken, vec![vec![value; 4]]).unwrap_err().to_string();
    assert_eq!(message, "a step names f7, which the plan does not have");
}

/// The operations of these kinds in a program.
fn count(program: &Program, counted: impl Fn(&Op) -> bool) -> u64 {
    let mut count = 0;
    program.walk(&program.body, &mut |_, inst| count += u64::from(counted(&inst.op)));
    count
}

#[test]
fn narrow_elements_take_the_instructions_that_their_plan_says() {
    let machine = Machine::by_name("sm_90").unwrap();
    let blocked = |registers: [u64; 2], lanes: [u64; 2], warps: [u64; 2], order: [usize; 2]| {
        Blocked::new(&registers, &lanes, &warps, &order).layout(&[64, 64]).unwrap()
    };
    let layouts = [
        blocked([1, 4], [8, 4], [4, 1], [1, 0]),
        blocked([1, 16], [8, 4], [4, 1], [1, 0]),
        blocked([2, 2], [4, 8], [4, 1], [1, 0]),
        blocked([8, 1], [1, 32], [4, 1], [0, 1]),
        blocked([4, 1], [16, 2], [1, 4], [0, 1]),
        blocked([2, 2], [8, 4], [2, 2], [1, 0]),
    ];
    let mut permuted = 0;
    for dtype in [DType::I8, DType::F16] {
        for (from, to) in layouts.iter().flat_map(|from| layouts.iter().map(move |to| (from, to))) {
            let plan = plan::convert(from, to, dtype.bits(), machine).unwrap();
            let mut build = Builder::new("words", 4, 5);
            let words =
                (1 << from.in_bits(weft_layout::space::REGISTER)) * dtype.bytes() as usize / 4;
            let address = build.constant(DType::I64, 64);
            let mut inputs = Vec::new();
            for _ in 0..words {
                let how = Access { volatile: true, ..Access::default() };
                let word = build.load(Space::Global, how, DType::I32, 1, address, None)[0];
                inputs.extend(build.split(word, dtype));
            }
            let outputs = write(&mut build, &plan, vec![inputs]).unwrap();
            for parts in outputs[0].chunks(4 / dtype.bytes() as usize) {
                let word = build.join(parts);
                build.store(Space::Global, Access::default(), address, None, &[word]);
            }
            let program = simplify::sweep::run(build.finish());
            let alu = count(&program, |op| matches!(op, Op::Bytes | Op::Select));
            let shuffles =
                count(&program, |op| matches!(op, Op::ShuffleXor { .. } | Op::ShuffleIndex));
            let counted = (alu, shuffles);
            assert_eq!(
                counted,
                (plan.cost.alu, plan.cost.shuffles),
                "{from} to {to}\n{plan}\n{program}"
            );
            permuted += alu;
        }
    }
    assert!(permuted > 0);
}
