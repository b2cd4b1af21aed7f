//! Random layouts, and kernels around a plan.

use super::super::thread_map;
use crate::dtype::DType;
use crate::lane::{self, Access, Builder, Param, Value};
use crate::memory::{Buffer, Memory};
use crate::scalar::{Binary, Cast};
use crate::sim::{self, Launch};
use weft_layout::machine::Machine;
use weft_layout::space::{LANE, REGISTER, WARP};
use weft_layout::{Layout, Space};

/// Five thousand cases where `WEFT_LONG` is set (best with `--release`), else three hundred.
pub(super) fn cases() -> u64 {
    if std::env::var_os("WEFT_LONG").is_some() { 5000 } else { 300 }
}

/// Numbers that look random, the same ones each time.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self) -> u64 {
        // The generator splitmix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.roll() % end.max(1)
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// A shape of this many bits, of one to three axes.
    pub(super) fn shape(&mut self, bits: u64) -> Vec<u64> {
        let first = self.below(bits + 1);
        let second = self.below(bits - first + 1);
        let mut shape = vec![1 << first, 1 << second, 1 << (bits - first - second)];
        shape.truncate(3);
        shape.retain(|&size| size > 1);
        if shape.is_empty() { vec![1] } else { shape }
    }

    /// A layout that covers a tensor: bits of the tensor anywhere in the hardware, with copies, and
    /// sometimes sums.
    pub(super) fn layout(&mut self, shape: &[u64], lanes_log2: u32, warp_bits: u32) -> Layout {
        let outs = Space::tensor(shape).unwrap();
        let bits = outs.total_bits();
        let spare = self.below(2) as u32;
        let registers = (bits + spare).saturating_sub(lanes_log2 + warp_bits);
        let total = registers + lanes_log2 + warp_bits;
        let mut columns: Vec<u64> =
            (0..total).map(|bit| if bit < bits { 1 << bit } else { 0 }).collect();
        for index in (1..columns.len()).rev() {
            columns.swap(index, self.below(index as u64 + 1) as usize);
        }
        // Adding one bit's place to another's keeps the layout surjective.
        let sums = if self.below(3) == 0 { self.below(6) } else { 0 };
        for _ in 0..sums {
            let (a, b) = (self.below(total.into()) as usize, self.below(total.into()) as usize);
            if a != b {
                columns[a] ^= columns[b];
            }
        }
        let ins = Space::hardware(registers, lanes_log2, warp_bits, 0).unwrap();
        Layout::new(ins, outs, &columns).unwrap()
    }
}

/// The index of each register's element in the tensor, as an i32.
pub(super) fn indices(build: &mut Builder, layout: &Layout) -> Vec<Value> {
    let thread = thread_map(build, layout.columns(LANE), layout.columns(WARP));
    let registers = 1u64 << layout.columns(REGISTER).len();
    let index = |register| {
        let part = build.i32(layout.apply_flat(register) as i32);
        build.binary(Binary::Xor, thread, part)
    };
    (0..registers).map(index).collect()
}

/// A kernel with one buffer that it reads and one that it writes, in the layouts of tensors.
pub(super) struct Kernel {
    pub(super) build: Builder,
    input: Value,
    output: Value,
    /// The registers stored.
    places: usize,
}

impl Kernel {
    pub(super) fn new(warps_log2: u32, machine: &Machine) -> Kernel {
        let mut build = Builder::new("planned", 1 << warps_log2, machine.lanes_log2);
        let mut pointer = |name: &str| {
            let (dtype, pointee) = (DType::I64, Some(DType::I32));
            build.param(Param { name: name.into(), dtype, pointee, divisibility: 16 })
        };
        let (input, output) = (pointer("input"), pointer("output"));
        Kernel { build, input, output, places: 0 }
    }

    fn address(&mut self, base: Value, index: Value) -> Value {
        let four = self.build.i32(4);
        let offset = self.build.binary(Binary::Mul, index, four);
        let offset = self.build.cast(Cast::ExtU, offset, DType::I64);
        self.build.binary(Binary::Add, base, offset)
    }

    /// The words of the input from `start` on, as a tensor in a layout.
    pub(super) fn load(&mut self, layout: &Layout, start: u64) -> Vec<Value> {
        let start = self.build.i32(start as i32);
        let indices = indices(&mut self.build, layout);
        let load = |index| {
            let index = self.build.binary(Binary::Add, index, start);
            let address = self.address(self.input, index);
            self.build.load(lane::Space::Global, Access::default(), DType::I32, 1, address, None)[0]
        };
        indices.into_iter().map(load).collect()
    }

    /// Leaves what every thread holds.
    pub(super) fn store(&mut self, values: &[Value]) {
        let (warps, lanes) = (self.build.program().warps, self.build.program().lanes_log2);
        let units = |start: u32, end: u32| (start..end).map(|bit| 1 << bit).collect::<Vec<u64>>();
        let bits = lanes + warps.ilog2();
        let thread = thread_map(&mut self.build, &units(0, lanes), &units(lanes, bits));
        for &value in values {
            let start = self.build.i32((self.places << bits) as i32);
            let index = self.build.binary(Binary::Add, thread, start);
            let address = self.address(self.output, index);
            self.build.store(lane::Space::Global, Access::default(), address, None, &[value]);
            self.places += 1;
        }
    }

    /// Runs the kernel as one block; gives what was stored: for each value, what each thread holds.
    pub(super) fn run(self, machine: &Machine, input: &[u32]) -> Vec<Vec<u32>> {
        let threads = self.build.program().threads() as usize;
        let output = self.places * threads;
        let program = self.build.finish();
        let mut memory = Memory::default();
        let bytes = input.iter().flat_map(|word| word.to_le_bytes()).collect();
        let buffer = |name: &str, bytes, initialised| Buffer {
            name: name.into(),
            bytes,
            dtype: DType::I32,
            initialised,
        };
        let input = memory.push(buffer("input", bytes, true));
        let out = memory.push(buffer("output", vec![0; output * 4], false));
        let launch = Launch {
            program: &program,
            grid: [1, 1, 1],
            args: &[input, out],
            machine: &crate::compile::simulated(machine, 1),
            options: sim::Options::default(),
        };
        let report = sim::run(&launch, &mut memory).unwrap();
        assert!(report.is_clean(), "{:?}\n{program}", report.findings);
        let word = |index: usize| memory.read(out + 4 * index as u64, 4).unwrap() as u32;
        let words: Vec<u32> = (0..output).map(word).collect();
        words.chunks(threads).map(<[u32]>::to_vec).collect()
    }
}

/// The element at each place of a layout: for each register what each thread holds.
pub(super) fn elements(layout: &Layout) -> Vec<Vec<usize>> {
    let threads = layout.in_bits(LANE) + layout.in_bits(WARP);
    let registers = layout.in_bits(REGISTER);
    let place = |register: u64, thread: u64| register | thread << registers;
    let row = |register: u64| {
        let element = |thread: u64| layout.apply_flat(place(register, thread)) as usize;
        (0..1_u64 << threads).map(element).collect()
    };
    (0..1_u64 << registers).map(row).collect()
}
