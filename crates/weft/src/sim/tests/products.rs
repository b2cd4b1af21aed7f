//! Products of a warpgroup: what they give, and what is wrong with programs that forget something.

use super::super::Timing;
use super::*;
use crate::lane::{AsyncCopy, WarpgroupMultiply};

/// Threads of a warpgroup.
const THREADS: usize = 128;

fn form(columns: u16) -> WarpgroupMultiply {
    WarpgroupMultiply {
        columns,
        summed: 16,
        left: DType::F16,
        right: DType::F16,
        sum: DType::F32,
        left_in_registers: false,
        transposed: [false; 2],
        keeps: false,
    }
}

/// The descriptor of what lies at an address in shared memory.
fn descriptor(build: &mut Builder, address: Value, fields: u64) -> Value {
    let four = build.i32(4);
    let start = build.binary(Binary::ShrU, address, four);
    let start = build.cast(Cast::ExtU, start, DType::I64);
    let fields = build.constant(DType::I64, fields);
    build.binary(Binary::Or, start, fields)
}

/// Strides in bytes and the swizzle's number.
fn fields(leading: u64, other: u64, swizzle: u64) -> u64 {
    (leading / 16) << 16 | (other / 16) << 32 | swizzle << 62
}

/// Copies of 16 bytes by all threads, from global memory to as many bytes of shared memory.
fn copies(build: &mut Builder, [from, to]: [Value; 2], bytes: u32) {
    let thread = build.id(IdKind::Thread);
    for start in (0..bytes).step_by(16 * THREADS) {
        let offset = scaled(build, thread, 16);
        let first = build.i32(start as i32);
        let offset = add(build, offset, first);
        let end = build.i32(bytes as i32);
        let inside = build.compare(Compare::Slt, offset, end);
        let to = add(build, to, offset);
        let offset = build.cast(Cast::ExtU, offset, DType::I64);
        let from = add(build, from, offset);
        let copy = Op::AsyncCopy(AsyncCopy::Begin {
            bytes: 16,
            offset: 0,
            run: false,
            predicated: true,
            filled: false,
        });
        build.emit(copy, smallvec![to, from, inside], &[]);
    }
    build.emit(Op::AsyncCopy(AsyncCopy::Commit), smallvec![], &[]);
}

fn wait_for_copies(build: &mut Builder) {
    build.emit(Op::AsyncCopy(AsyncCopy::Wait { pending: 0, copies: None }), smallvec![], &[]);
}

/// Stores the words of each thread, side by side.
fn give(build: &mut Builder, out: Value, words: &[Value]) {
    let thread = build.id(IdKind::Thread);
    let first = scaled(build, thread, words.len() as i32);
    for (place, &word) in words.iter().enumerate() {
        let place = build.i32(place as i32);
        let index = add(build, first, place);
        let at = element(build, out, index);
        let word = build.cast(Cast::Bits, word, DType::I32);
        store(build, Space::Global, at, word);
    }
}

fn run_timed(
    program: &Program,
    timing: Timing,
    data: Vec<u8>,
    words: usize,
) -> Result<Outcome, SimError> {
    let mut memory = Memory::default();
    let data = Buffer { name: "data".into(), bytes: data, dtype: DType::I32, initialised: true };
    let args = [memory.push(data), memory.push(blank("out", THREADS * words))];
    let options = Options { max_steps: 1_000_000, timing, ..Options::default() };
    let machine = Machine::nvidia();
    let launch = Launch { program, grid: [1, 1, 1], args: &args, machine: &machine, options };
    let report = run(&launch, &mut memory)?;
    Ok(Outcome { report, memory })
}

/// A small number that tells where it stands.
fn number(seed: usize, line: usize, summed: usize) -> i64 {
    ((line * 7 + summed * 5 + seed * 3 + line * summed) % 9) as i64 - 4
}

fn encoded(dtype: DType, number: i64) -> u64 {
    match dtype {
        DType::I8 => number as u64 & 0xff,
        _ => crate::scalar::from_f64(dtype, number as f64),
    }
}

/// One way in which a factor lies in memory: where each number stands, and the descriptor's fields.
#[derive(Clone, Copy)]
struct Way {
    transposed: bool,
    /// Bytes that are swizzled together; 16 for none.
    span: usize,
    /// What stands between its parts beyond what they need.
    gap: usize,
}

impl Way {
    /// The strides from one group of eight lines (or sums) to the next, and of what lies beside them.
    fn strides(self, [lines, summed]: [usize; 2]) -> [usize; 2] {
        let across = if self.transposed { summed } else { lines };
        let down = 8 * self.span + self.gap;
        [down, down * across.div_ceil(8) + self.gap]
    }

    fn fields(self, shape: [usize; 2]) -> u64 {
        let [down, beside] = self.strides(shape).map(|stride| stride as u64);
        match (self.transposed, self.span) {
            // The two change their names.
            (true, 16) => fields(down, beside, 0),
            (_, 16) => fields(beside, down, 0),
            (_, span) => fields(
                beside,
                down,
                [1, 2, 3][[128, 64, 32].iter().position(|&s| s == span).unwrap()],
            ),
        }
    }

    /// Where a number stands: rows of `span` bytes, eight to a group, whose pieces of 16 bytes are exchanged
    /// by the low bits of the row's number in 128 bytes.
    fn place(self, bytes: usize, shape: [usize; 2], line: usize, summed: usize) -> usize {
        let [down, beside] = self.strides(shape);
        let (along, across) =
            if self.transposed { (line * bytes, summed) } else { (summed * bytes, line) };
        let address = along / self.span * beside + across / 8 * down + across % 8 * self.span;
        let piece = along % self.span / 16;
        let row = address / 128;
        let swizzled = piece ^ (row % (self.span / 16));
        address + swizzled * 16 + along % 16
    }
}

/// A product of factors that lie like this, and what it must give.
fn lies(form: WarpgroupMultiply, ways: [Way; 2], timing: Timing) {
    let summed = usize::from(form.summed);
    let shapes = [[64, summed], [usize::from(form.columns), summed]];
    let types = [form.left, form.right];
    let mut data = vec![0u8; 2 << 16];
    for side in 0..2 {
        let bytes = types[side].bytes() as usize;
        for line in 0..shapes[side][0] {
            for at in 0..summed {
                let place = ways[side].place(bytes, shapes[side], line, at);
                let bits = encoded(types[side], number(side, line, at)).to_le_bytes();
                data[side << 16..][place..place + bytes].copy_from_slice(&bits[..bytes]);
            }
        }
    }
    let mut build = Builder::new("lies", 4, 5);
    let (from, out) = (pointer(&mut build, "data"), pointer(&mut build, "out"));
    let shared = build.shared(2 << 16, 1024, BarrierScope::Block);
    let base = build.shared_base(shared);
    copies(&mut build, [from, base], 2 << 16);
    wait_for_copies(&mut build);
    build.proxy_fence();
    build.barrier(BarrierScope::Block);
    let second = build.i32(1 << 16);
    let second = add(&mut build, base, second);
    let [left, right] = [0, 1].map(|side| {
        let fields = ways[side].fields(shapes[side]);
        descriptor(&mut build, [base, second][side], fields)
    });
    let start: Vec<Value> = form.accumulators().map(|dtype| build.constant(dtype, 0)).collect();
    build.warpgroup_fence();
    let sums = build.warpgroup_multiply(form, &[left], right, None, &start);
    build.warpgroup_commit();
    let sums = build.warpgroup_wait(0, &sums);
    give(&mut build, out, &sums);
    let program = build.finish();
    let words = sums.len();
    let Outcome { report, memory } = run_timed(&program, timing, data, words).unwrap();
    assert!(report.is_clean(), "{form:?} {:#?}", report.findings);
    let found = values(&memory, 1);
    for thread in 0..THREADS {
        let (warp, group, quad) = (thread / 32, thread % 32 / 4, thread % 4);
        for (register, &word) in found[thread * words..][..words].iter().enumerate() {
            let in_word = if form.sum == DType::F16 { 2 } else { 1 };
            for within in 0..in_word {
                let index = register * in_word + within;
                let row = 16 * warp + group + 8 * (index / 2 % 2);
                let column = 8 * (index / 4) + 2 * quad + index % 2;
                let dot: i64 =
                    (0..summed).map(|at| number(0, row, at) * number(1, column, at)).sum();
                let wanted = match form.sum {
                    DType::I32 => dot as u32,
                    dtype => crate::scalar::from_f64(dtype, dot as f64) as u32,
                };
                let bits = word >> (16 * within as u32);
                let bits = if in_word == 2 { bits & 0xffff } else { bits };
                assert_eq!(bits, wanted, "{form:?} row {row} column {column}");
            }
        }
    }
}

#[test]
fn factors_lie_as_their_descriptors_say() {
    for span in [16, 32, 64, 128] {
        for transposed in [[false, false], [true, false], [false, true], [true, true]] {
            let ways = transposed.map(|transposed| Way { transposed, span, gap: 8 * span });
            for (dtype, columns) in [(DType::F16, 16), (DType::BF16, 96)] {
                let form =
                    WarpgroupMultiply { left: dtype, right: dtype, transposed, ..form(columns) };
                lies(form, ways, Timing::Earliest);
            }
        }
    }
}

#[test]
fn factors_of_every_type_are_multiplied() {
    let ways = [Way { transposed: false, span: 128, gap: 0 }; 2];
    let (float, other) = (DType::F8E4M3FN, DType::F8E5M2);
    for (left, right, sum) in [
        (DType::F16, DType::F16, DType::F16),
        (DType::F32, DType::F32, DType::F32),
        (DType::I8, DType::I8, DType::I32),
        (float, other, DType::F32),
        (other, float, DType::F16),
    ] {
        let summed = (256 / left.bits()) as u8;
        for timing in [Timing::Earliest, Timing::Latest] {
            lies(WarpgroupMultiply { summed, left, right, sum, ..form(32) }, ways, timing);
        }
    }
}

/// What a ring forgets.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Forgets {
    Nothing,
    /// The fence between proxies stands behind the barrier, with the reader.
    FenceBehind,
    Fence,
    Wait,
    Barrier,
    LastWait,
}

/// Rounds of the ring.
const ROUNDS: usize = 6;
/// Bytes of a round: 64 rows of 128 bytes and 8.
const BYTES: usize = 72 * 128;

/// Two buffers: while a round's products run, the next round's factors are copied into the other one.
fn ring(forgets: Forgets) -> Program {
    let mut build = Builder::new("ring", 4, 5);
    let (from, out) = (pointer(&mut build, "data"), pointer(&mut build, "out"));
    let shared = build.shared(2 * BYTES as u32, 1024, BarrierScope::Block);
    let base = build.shared_base(shared);
    let form = form(8);
    let start: Vec<Value> = form.accumulators().map(|dtype| build.constant(dtype, 0)).collect();
    copies(&mut build, [from, base], BYTES as u32);
    let (zero, one) = (build.i32(0), build.i32(1));
    let inits = [&[zero], &start[..]].concat();
    let target = build.new_loop(&inits, &[DType::F32; 4]);
    let params = build.open_region(&[&[DType::I32], &[DType::F32; 4][..]].concat());
    let last = build.i32(ROUNDS as i32);
    let done = build.compare(Compare::Sge, params[0], last);
    build.break_if(target, done, &params[1..]);
    let place = |build: &mut Builder, round: Value| {
        let turn = build.binary(Binary::And, round, one);
        let offset = scaled(build, turn, BYTES as i32);
        add(build, base, offset)
    };
    wait_for_copies(&mut build);
    if !matches!(forgets, Forgets::Fence | Forgets::FenceBehind) {
        build.proxy_fence();
    }
    build.barrier(BarrierScope::Block);
    if forgets == Forgets::FenceBehind {
        build.proxy_fence();
    }
    let here = place(&mut build, params[0]);
    let rows = build.i32(64 * 128);
    let below = add(&mut build, here, rows);
    let fields = fields(16, 1024, 1);
    let (left, right) =
        (descriptor(&mut build, here, fields), descriptor(&mut build, below, fields));
    build.warpgroup_fence();
    let mut sums = params[1..].to_vec();
    for part in 0..4 {
        let part = build.constant(DType::I64, 2 * part);
        let (left, right) = (add(&mut build, left, part), add(&mut build, right, part));
        sums = build.warpgroup_multiply(form, &[left], right, None, &sums).to_vec();
    }
    build.warpgroup_commit();
    // The other buffer is free when the products of the round before are done in all warps.
    if forgets != Forgets::Wait {
        build.warpgroup_wait(1, &[]);
    }
    if forgets != Forgets::Barrier {
        build.barrier(BarrierScope::Block);
    }
    let next = add(&mut build, params[0], one);
    let more = build.compare(Compare::Slt, next, last);
    build.open_region(&[]);
    let there = place(&mut build, next);
    let offset = scaled(&mut build, next, BYTES as i32);
    let offset = build.cast(Cast::ExtU, offset, DType::I64);
    let next_from = add(&mut build, from, offset);
    copies(&mut build, [next_from, there], BYTES as u32);
    let then = build.close_region(Op::Yield, &[]);
    build.open_region(&[]);
    let otherwise = build.close_region(Op::Yield, &[]);
    build.if_(more, then, otherwise, &[]);
    let region = build.close_region(Op::Continue, &[&[next], &sums[..]].concat());
    let sums = build.place_loop(target, region);
    let pending = u32::from(forgets == Forgets::LastWait);
    let sums = build.warpgroup_wait(pending, if pending == 0 { &sums } else { &[] });
    if pending == 0 {
        give(&mut build, out, &sums);
    }
    build.finish()
}

fn ring_data() -> (Vec<u8>, Vec<f32>) {
    let way = Way { transposed: false, span: 128, gap: 0 };
    let mut data = vec![0u8; ROUNDS * BYTES];
    let mut sums = vec![0.0; 64 * 8];
    for round in 0..ROUNDS {
        for side in 0..2 {
            let lines = [64, 8][side];
            for line in 0..lines {
                for at in 0..64 {
                    let place = way.place(2, [lines, 64], line, at) + [0, 64 * 128][side];
                    let bits = encoded(DType::F16, number(2 * round + side, line, at));
                    data[round * BYTES + place..][..2].copy_from_slice(&bits.to_le_bytes()[..2]);
                }
            }
        }
        for row in 0..64 {
            for column in 0..8 {
                let dot: i64 = (0..64)
                    .map(|at| number(2 * round, row, at) * number(2 * round + 1, column, at))
                    .sum();
                sums[row * 8 + column] += dot as f32;
            }
        }
    }
    (data, sums)
}

fn simplified(program: Program) -> Program {
    let done = crate::simplify::run(program);
    crate::lane::verify(&done).unwrap();
    done
}

#[test]
fn a_ring_of_two_buffers_gives_the_sums_whenever_products_read() {
    let (data, wanted) = ring_data();
    let programs = [Forgets::Nothing, Forgets::FenceBehind].map(ring);
    let passed = programs.clone().map(simplified);
    for program in programs.iter().chain(&passed) {
        let timings = [Timing::Earliest, Timing::Latest].into_iter();
        // By chance, a product takes place at once, and one that began before it has not yet.
        for timing in timings.chain((0..4).map(Timing::Random)) {
            let Outcome { report, memory } = run_timed(program, timing, data.clone(), 4).unwrap();
            assert!(report.is_clean(), "{timing:?} {:#?}", report.findings);
            let found = values(&memory, 1);
            for thread in 0..THREADS {
                for register in 0..4 {
                    let row = thread / 32 * 16 + thread % 32 / 4 + 8 * (register / 2);
                    let column = 2 * (thread % 4) + register % 2;
                    let sum = f32::from_bits(found[4 * thread + register]);
                    assert_eq!(sum, wanted[8 * row + column], "{row} {column}");
                }
            }
        }
    }
}

#[test]
fn a_ring_that_forgets_something_is_told() {
    let (data, _) = ring_data();
    for timing in [Timing::Earliest, Timing::Latest] {
        for (forgets, kind) in [
            (Forgets::Fence, FindingKind::Unfenced),
            (Forgets::Wait, FindingKind::InFlight),
            (Forgets::Barrier, FindingKind::Race),
        ] {
            let Outcome { report, .. } =
                run_timed(&ring(forgets), timing, data.clone(), 4).unwrap();
            let found = kinds(&report);
            let told = format!("{forgets:?} {timing:?}: {:#?}", report.findings);
            assert!(found.contains(&kind), "{told}");
            // What is overwritten too early may also be read while it is on the way.
            let allowed = [kind, FindingKind::InFlight, FindingKind::Race];
            let allowed = if forgets == Forgets::Fence { &allowed[..1] } else { &allowed[..] };
            assert!(found.iter().all(|kind| allowed.contains(kind)), "{told}");
        }
        // No pass hides what is wrong.
        for forgets in [Forgets::Fence, Forgets::Wait, Forgets::Barrier] {
            let program = simplified(ring(forgets));
            let Outcome { report, .. } = run_timed(&program, timing, data.clone(), 4).unwrap();
            assert!(!report.is_clean(), "{forgets:?} {timing:?}");
        }
        let refused = run_timed(&ring(Forgets::LastWait), timing, data.clone(), 4);
        let Err(SimError::Invalid { errors, .. }) = refused else { panic!("it runs") };
        assert!(errors.iter().any(|error| error.contains("in flight at the end")), "{errors:?}");
    }
}

/// A single product of what stands at the start of shared memory, with what the warp's index gives.
fn alone(writes: bool, shift: impl Fn(&mut Builder, Value) -> Value) -> Vec<FindingKind> {
    let mut build = Builder::new("alone", 4, 5);
    let (from, out) = (pointer(&mut build, "data"), pointer(&mut build, "out"));
    let shared = build.shared(2 * BYTES as u32, 1024, BarrierScope::Block);
    let base = build.shared_base(shared);
    let bytes = if writes { 2 * BYTES } else { BYTES };
    copies(&mut build, [from, base], bytes as u32 / 2);
    wait_for_copies(&mut build);
    build.proxy_fence();
    build.barrier(BarrierScope::Block);
    let warp = build.id(IdKind::Warp);
    let shift = shift(&mut build, warp);
    let at = add(&mut build, base, shift);
    let left = descriptor(&mut build, at, fields(16, 1024, 1));
    let right = descriptor(&mut build, base, fields(16, 1024, 1));
    let start = [build.constant(DType::F32, 0); 4];
    build.warpgroup_fence();
    let sums = build.warpgroup_multiply(form(8), &[left], right, None, &start);
    build.warpgroup_commit();
    let sums = build.warpgroup_wait(0, &sums);
    give(&mut build, out, &sums);
    let Outcome { report, .. } =
        run_timed(&build.finish(), Timing::Earliest, vec![0; 2 * BYTES], 4).unwrap();
    let mut found = kinds(&report);
    found.dedup();
    found
}

#[test]
fn a_product_is_held_to_the_rules_of_memory_and_of_its_warpgroup() {
    let same = |build: &mut Builder, _| build.i32(0);
    assert_eq!(alone(true, same), []);
    assert_eq!(alone(false, same), [FindingKind::Uninitialised]);
    let by_warp = |build: &mut Builder, warp| scaled(build, warp, 16);
    assert_eq!(alone(true, by_warp), [FindingKind::Divergence]);
    let outside = |build: &mut Builder, _| build.i32(BYTES as i32 * 2 - 1024);
    assert!(alone(true, outside).contains(&FindingKind::OutOfRange));
}

#[test]
fn only_some_warps_of_a_warpgroup_cannot_begin_a_product() {
    let mut build = Builder::new("some", 4, 5);
    let (from, out) = (pointer(&mut build, "data"), pointer(&mut build, "out"));
    let _ = (from, out);
    let (warp, one) = (build.id(IdKind::Warp), build.i32(1));
    let first = build.compare(Compare::Slt, warp, one);
    build.open_region(&[]);
    build.warpgroup_fence();
    let then = build.close_region(Op::Yield, &[]);
    build.open_region(&[]);
    let otherwise = build.close_region(Op::Yield, &[]);
    build.if_(first, then, otherwise, &[]);
    let Outcome { report, .. } =
        run_timed(&build.finish(), Timing::Earliest, vec![0; 4], 1).unwrap();
    assert_eq!(only(&report).kind, FindingKind::Divergence);
}
