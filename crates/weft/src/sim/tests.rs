//! Hand-built programs, and what the simulator must say of them.

use super::{
    EqualStores, Finding, FindingKind, Launch, Machine, Options, Report, SimError, run, run_watched,
};
use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::dtype::DType;
use crate::lane::{
    Access, AsyncCopy, AtomicAccess, BarrierScope, Builder, Form, IdKind, Matrix, Op, Param,
    Program, Space, Value,
};
use crate::memory::{Buffer, Memory};
use crate::scalar::{Binary, Cast, Compare};
use core::ops::ControlFlow;
use smallvec::smallvec;

mod atomics;
mod offsets;
mod products;

fn pointer(build: &mut Builder, name: &str) -> Value {
    let pointee = Some(DType::I32);
    build.param(Param { name: name.into(), dtype: DType::I64, pointee, divisibility: 16 })
}

fn scalar(build: &mut Builder, name: &str) -> Value {
    build.param(Param { name: name.into(), dtype: DType::I32, pointee: None, divisibility: 1 })
}

fn add(build: &mut Builder, x: Value, y: Value) -> Value {
    build.binary(Binary::Add, x, y)
}

fn scaled(build: &mut Builder, x: Value, by: i32) -> Value {
    let by = build.i32(by);
    build.binary(Binary::Mul, x, by)
}

/// `base + 4 * index`.
fn element(build: &mut Builder, base: Value, index: Value) -> Value {
    let offset = scaled(build, index, 4);
    let offset = build.cast(Cast::ExtU, offset, DType::I64);
    add(build, base, offset)
}

/// `(block * warps + warp) * lanes + lane`.
fn thread(build: &mut Builder) -> Value {
    let (warps, lanes) = (build.program().warps, 1 << build.program().lanes_log2);
    let block = build.id(IdKind::Block(0));
    let warp = build.id(IdKind::Warp);
    let lane = build.id(IdKind::Lane);
    let index = scaled(build, block, warps as i32);
    let index = add(build, index, warp);
    let index = scaled(build, index, lanes);
    add(build, index, lane)
}

fn load(build: &mut Builder, space: Space, address: Value) -> Value {
    build.load(space, Access::default(), DType::I32, 1, address, None)[0]
}

fn store(build: &mut Builder, space: Space, address: Value, value: Value) {
    build.store(space, Access::default(), address, None, &[value]);
}

fn ints(name: &str, values: &[u32]) -> Buffer {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Buffer { name: name.into(), bytes, dtype: DType::I32, initialised: true }
}

/// A buffer whose contents nobody gave.
fn blank(name: &str, count: usize) -> Buffer {
    Buffer { initialised: false, ..ints(name, &vec![0; count]) }
}

fn values(memory: &Memory, buffer: usize) -> Vec<u32> {
    let bytes = memory.buffers()[buffer].bytes.chunks_exact(4);
    bytes.map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

struct Outcome {
    report: Report,
    memory: Memory,
}

fn run_with(
    program: &Program,
    grid: u32,
    machine: &Machine,
    buffers: Vec<Buffer>,
    scalars: &[u64],
) -> Outcome {
    let mut memory = Memory::default();
    let mut args: Vec<u64> = buffers.into_iter().map(|buffer| memory.push(buffer)).collect();
    args.extend(scalars);
    let options = Options { max_steps: 1_000_000, ..Options::default() };
    let launch = Launch { program, grid: [grid, 1, 1], args: &args, machine, options };
    let report = run(&launch, &mut memory).unwrap();
    Outcome { report, memory }
}

fn run_on(program: &Program, grid: u32, buffers: Vec<Buffer>) -> Outcome {
    run_with(program, grid, &Machine::nvidia(), buffers, &[])
}

fn kinds(report: &Report) -> Vec<FindingKind> {
    report.findings.iter().map(|finding| finding.kind).collect()
}

fn only(report: &Report) -> &Finding {
    assert_eq!(report.findings.len(), 1, "{:#?}", report.findings);
    &report.findings[0]
}

#[test]
fn vector_add_with_a_tail_over_several_blocks() {
    for lanes_log2 in [5, 6] {
        let mut build = Builder::new("add", 2, lanes_log2);
        let (x, y, out) =
            (pointer(&mut build, "x"), pointer(&mut build, "y"), pointer(&mut build, "out"));
        let n = scalar(&mut build, "n");
        let index = thread(&mut build);
        let inside = build.compare(Compare::Slt, index, n);
        let zero = build.i32(0);
        let predicate = Some((inside, &[zero][..]));
        let at = element(&mut build, x, index);
        let a = build.load(Space::Global, Access::default(), DType::I32, 1, at, predicate)[0];
        let at = element(&mut build, y, index);
        let b = build.load(Space::Global, Access::default(), DType::I32, 1, at, predicate)[0];
        let sum = add(&mut build, a, b);
        let at = element(&mut build, out, index);
        build.store(Space::Global, Access::default(), at, Some(inside), &[sum]);
        let program = build.finish();

        let lanes = 1u32 << lanes_log2;
        let n = 3 * 2 * lanes - lanes - 7;
        let x: Vec<u32> = (0..n).collect();
        let y: Vec<u32> = (0..n).map(|i| 3 * i).collect();
        let buffers = vec![ints("x", &x), ints("y", &y), blank("out", n as usize)];
        let Outcome { report, memory } =
            run_with(&program, 3, &Machine::nvidia(), buffers, &[u64::from(n)]);
        assert!(report.is_clean(), "{:#?}", report.findings);
        assert!(values(&memory, 2).iter().zip(0..).all(|(&sum, i)| sum == 4 * i));
        // Five warps have work; each access of 4n bytes is whole sectors but for the tail.
        assert_eq!(report.global.accesses, 15);
        assert_eq!(report.global.bytes, u64::from(12 * n));
        assert_eq!(report.global.sectors, 3 * u64::from((4 * n).div_ceil(32)));
        assert_eq!(report.global.sectors, report.global.ideal_sectors);
    }
}

#[test]
fn a_butterfly_of_shuffles_sums_a_warp() {
    for lanes_log2 in [0, 3, 5, 6] {
        let mut build = Builder::new("sum", 1, lanes_log2);
        let out = pointer(&mut build, "out");
        let lane = build.id(IdKind::Lane);
        let mut sum = lane;
        for bit in 0..lanes_log2 {
            let other = build.shuffle_xor(sum, 1 << bit);
            sum = add(&mut build, sum, other);
        }
        // And the sum of the next lane, by index.
        let one = build.i32(1);
        let next = add(&mut build, lane, one);
        let next = build.shuffle_index(lane, next);
        let sum = add(&mut build, sum, next);
        let at = element(&mut build, out, lane);
        store(&mut build, Space::Global, at, sum);
        let program = build.finish();
        let lanes = 1u32 << lanes_log2;
        let Outcome { report, memory } = run_on(&program, 1, vec![blank("out", lanes as usize)]);
        assert!(report.is_clean(), "{:#?}", report.findings);
        let total = lanes * (lanes - 1) / 2;
        let right: Vec<u32> = (0..lanes).map(|lane| total + (lane + 1) % lanes).collect();
        assert_eq!(values(&memory, 0), right);
        assert_eq!(report.shuffles, u64::from(lanes_log2) + 1);
    }
}

/// Four warps write a 32 x 32 tile by rows and read it by columns, rows `pitch` words apart.
fn transpose(pitch: i32, barrier: Option<BarrierScope>) -> Program {
    let mut build = Builder::new("transpose", 4, 5);
    let (x, out) = (pointer(&mut build, "x"), pointer(&mut build, "out"));
    let tile = build.shared(32 * 4 * pitch as u32, 16, BarrierScope::Block);
    let base = build.shared_base(tile);
    let (warp, lane) = (build.id(IdKind::Warp), build.id(IdKind::Lane));
    for step in 0..8 {
        let first = build.i32(4 * step);
        let row = add(&mut build, warp, first);
        let index = scaled(&mut build, row, 32);
        let index = add(&mut build, index, lane);
        let at = element(&mut build, x, index);
        let value = load(&mut build, Space::Global, at);
        let at = scaled(&mut build, row, 4 * pitch);
        let column = scaled(&mut build, lane, 4);
        let at = add(&mut build, at, column);
        let at = add(&mut build, at, base);
        store(&mut build, Space::Shared, at, value);
    }
    if let Some(scope) = barrier {
        build.barrier(scope);
    }
    for step in 0..8 {
        let first = build.i32(4 * step);
        let row = add(&mut build, warp, first);
        let at = scaled(&mut build, lane, 4 * pitch);
        let column = scaled(&mut build, row, 4);
        let at = add(&mut build, at, column);
        let at = add(&mut build, at, base);
        let value = load(&mut build, Space::Shared, at);
        let index = scaled(&mut build, row, 32);
        let index = add(&mut build, index, lane);
        let at = element(&mut build, out, index);
        store(&mut build, Space::Global, at, value);
    }
    build.finish()
}

#[test]
fn a_transpose_counts_its_conflicts_and_needs_its_barrier() {
    let x: Vec<u32> = (0..1024).collect();
    for (pitch, ways) in [(32, 32), (33, 1), (34, 2)] {
        let program = transpose(pitch, Some(BarrierScope::Block));
        let buffers = vec![ints("x", &x), blank("out", 1024)];
        let Outcome { report, memory } = run_on(&program, 2, buffers);
        // Two blocks write the same output: each of the eight stores is one of two equal ones.
        assert!(report.is_clean(), "{:#?}", report.findings);
        assert_eq!(report.notes.len(), 8);
        assert!(report.notes.iter().all(|note| note.kind == FindingKind::EqualStores));
        assert!(report.notes.iter().all(|note| note.actor.block == [1, 0, 0] && note.count == 4));
        assert!(values(&memory, 1).iter().zip(0..).all(|(&v, i)| v == i % 32 * 32 + i / 32));
        let loads: Vec<_> = report.accesses.iter().filter(|a| a.space == Space::Shared).collect();
        assert!(loads[..8].iter().all(|access| (access.cost, access.ideal) == (8, 8)));
        assert!(loads[8..].iter().all(|access| access.cost == 8 * ways && access.ideal == 8));
        assert_eq!(report.block_barriers, 8);
    }
    for barrier in [None, Some(BarrierScope::Warp)] {
        let program = transpose(33, barrier);
        let buffers = vec![ints("x", &x), blank("out", 1024)];
        let Outcome { report, .. } = run_on(&program, 1, buffers);
        assert!(kinds(&report).contains(&FindingKind::Race));
        let race = report.findings.iter().find(|f| f.kind == FindingKind::Race).unwrap();
        assert!(race.other.is_some() && race.message.contains("shared memory"), "{race}");
    }
}

#[test]
fn stores_of_one_value_are_a_note_and_a_race_where_somebody_says_so() {
    // Every lane of two warps of two blocks stores to one place, its block's number over `divisor`.
    for (divisor, differ) in [(2, false), (1, true)] {
        let mut build = Builder::new("flag", 2, 5);
        let out = pointer(&mut build, "out");
        let (block, by) = (build.id(IdKind::Block(0)), build.i32(divisor));
        let value = build.binary(Binary::DivU, block, by);
        store(&mut build, Space::Global, out, value);
        let program = build.finish();
        for equal_stores in [EqualStores::Note, EqualStores::Race] {
            let mut memory = Memory::default();
            let args = [memory.push(ints("out", &[7]))];
            let options = Options { equal_stores, ..Options::default() };
            let machine = &Machine::nvidia();
            let launch =
                Launch { program: &program, grid: [2, 1, 1], args: &args, machine, options };
            let report = run(&launch, &mut memory).unwrap();
            let is_race = differ || equal_stores == EqualStores::Race;
            assert_eq!(!report.findings.is_empty(), is_race, "{:#?}", report.findings);
            assert!(kinds(&report).iter().all(|&kind| kind == FindingKind::Race));
            assert_eq!(report.notes.is_empty(), equal_stores == EqualStores::Race);
        }
    }
}

#[test]
fn lanes_of_one_warp_need_a_warp_barrier() {
    for barrier in [None, Some(BarrierScope::Warp), Some(BarrierScope::Block)] {
        let mut build = Builder::new("reverse", 1, 5);
        let out = pointer(&mut build, "out");
        let tile = build.shared(128, 16, BarrierScope::Block);
        let base = build.shared_base(tile);
        let lane = build.id(IdKind::Lane);
        let at = scaled(&mut build, lane, 4);
        let at = add(&mut build, at, base);
        store(&mut build, Space::Shared, at, lane);
        // One's own value needs no barrier.
        load(&mut build, Space::Shared, at);
        if let Some(scope) = barrier {
            build.barrier(scope);
        }
        let last = build.i32(31);
        let other = build.binary(Binary::Xor, lane, last);
        let at = scaled(&mut build, other, 4);
        let at = add(&mut build, at, base);
        let value = load(&mut build, Space::Shared, at);
        let at = element(&mut build, out, lane);
        store(&mut build, Space::Global, at, value);
        let Outcome { report, memory } = run_on(&build.finish(), 1, vec![blank("out", 32)]);
        assert_eq!(values(&memory, 0), (0..32).rev().collect::<Vec<_>>());
        match barrier {
            Some(_) => assert!(report.is_clean(), "{:#?}", report.findings),
            None => {
                let race = only(&report);
                assert_eq!((race.kind, race.count), (FindingKind::Race, 1));
                assert_eq!(race.actor.lane.map(|lane| lane ^ 31), race.other.unwrap().lane);
            }
        }
    }
}

#[test]
fn a_loop_carries_values_even_when_they_change_places() {
    // Fibonacci numbers by (a, b) -> (b, a + b), as many as the lane's block says.
    let mut build = Builder::new("fibonacci", 1, 5);
    let out = pointer(&mut build, "out");
    let steps = build.id(IdKind::Block(0));
    let (zero, one) = (build.i32(0), build.i32(1));
    let types = [DType::I32; 3];
    let outer = build.new_loop(&[zero, zero, one], &[DType::I32, DType::I32]);
    let params = build.open_region(&types);
    let [i, a, b] = params[..] else { panic!() };
    let done = build.compare(Compare::Sge, i, steps);
    build.break_if(outer, done, &[a, b]);
    let sum = add(&mut build, a, b);
    let next = add(&mut build, i, one);
    let region = build.close_region(Op::Continue, &[next, b, sum]);
    let results = build.place_loop(outer, region);
    let lane = build.id(IdKind::Lane);
    let index = thread(&mut build);
    let at = element(&mut build, out, index);
    let value = build.binary(Binary::Xor, results[0], lane);
    store(&mut build, Space::Global, at, value);
    let Outcome { report, memory } = run_on(&build.finish(), 20, vec![blank("out", 640)]);
    assert!(report.is_clean(), "{:#?}", report.findings);
    let (mut a, mut b) = (0u32, 1u32);
    for block in values(&memory, 0).chunks(32) {
        assert!(block.iter().zip(0..).all(|(&value, lane)| value == a ^ lane));
        (a, b) = (b, a + b);
    }
}

#[test]
fn swapping_carried_values_spills_no_value() {
    let mut build = Builder::new("swap", 1, 5);
    let out = pointer(&mut build, "out");
    let [zero, one, two, three, seven] = [0, 1, 2, 3, 7].map(|value| build.i32(value));
    let outer = build.new_loop(&[zero, one, two, three], &[DType::I32; 3]);
    let params = build.open_region(&[DType::I32; 4]);
    let [i, a, b, c] = params[..] else { panic!() };
    let done = build.compare(Compare::Sge, i, seven);
    build.break_if(outer, done, &[a, b, c]);
    let next = add(&mut build, i, one);
    let region = build.close_region(Op::Continue, &[next, b, c, a]);
    let results = build.place_loop(outer, region);
    for (slot, &value) in results.iter().enumerate() {
        let at = build.constant(DType::I64, 4 * slot as u64);
        let at = add(&mut build, out, at);
        let lane = build.id(IdKind::Lane);
        let first = build.compare(Compare::Eq, lane, zero);
        build.store(Space::Global, Access::default(), at, Some(first), &[value]);
    }
    let Outcome { report, memory } = run_on(&build.finish(), 1, vec![blank("out", 3)]);
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(values(&memory, 0), [2, 3, 1]);
}

#[test]
fn an_if_diverges_and_joins() {
    let mut build = Builder::new("choose", 1, 5);
    let out = pointer(&mut build, "out");
    let lane = build.id(IdKind::Lane);
    let sixteen = build.i32(16);
    let low = build.compare(Compare::Slt, lane, sixteen);
    build.open_region(&[]);
    let one = build.i32(1);
    let bit = build.binary(Binary::And, lane, one);
    let odd = build.compare(Compare::Ne, bit, one);
    build.open_region(&[]);
    let a = build.i32(100);
    let inner_then = build.close_region(Op::Yield, &[a]);
    build.open_region(&[]);
    let b = build.i32(200);
    let inner_else = build.close_region(Op::Yield, &[b]);
    let inner = build.if_(odd, inner_then, inner_else, &[DType::I32])[0];
    let sum = add(&mut build, inner, lane);
    let then = build.close_region(Op::Yield, &[sum]);
    build.open_region(&[]);
    let at = element(&mut build, out, lane);
    store(&mut build, Space::Global, at, lane);
    let three = build.i32(3);
    let product = build.binary(Binary::Mul, lane, three);
    let otherwise = build.close_region(Op::Yield, &[product]);
    let value = build.if_(low, then, otherwise, &[DType::I32])[0];
    let at = element(&mut build, out, lane);
    store(&mut build, Space::Global, at, value);
    let Outcome { report, memory } = run_on(&build.finish(), 1, vec![blank("out", 32)]);
    assert!(report.is_clean(), "{:#?}", report.findings);
    for (value, lane) in values(&memory, 0).into_iter().zip(0..) {
        let right = match lane {
            16.. => 3 * lane,
            _ if lane % 2 == 0 => 100 + lane,
            _ => 200 + lane,
        };
        assert_eq!(value, right);
    }
    // The store inside ran in half the lanes.
    assert_eq!((report.global.accesses, report.global.bytes), (2, 64 + 128));
}

#[test]
fn lanes_that_part_where_they_must_not_are_reported() {
    let mut build = Builder::new("part", 1, 5);
    let lane = build.id(IdKind::Lane);
    let (zero, one) = (build.i32(0), build.i32(1));
    let outer = build.new_loop(&[zero], &[DType::I32]);
    let i = build.open_region(&[DType::I32])[0];
    let done = build.compare(Compare::Sge, i, lane);
    build.break_if(outer, done, &[i]);
    build.shuffle_xor(i, 1);
    let next = add(&mut build, i, one);
    let region = build.close_region(Op::Continue, &[next]);
    let turns = build.place_loop(outer, region)[0];
    let out = pointer(&mut build, "out");
    let at = element(&mut build, out, lane);
    store(&mut build, Space::Global, at, turns);
    let Outcome { report, memory } = run_on(&build.finish(), 1, vec![blank("out", 32)]);
    // The loop still does what each lane alone would do.
    assert_eq!(values(&memory, 0), (0..32).collect::<Vec<_>>());
    assert_eq!(kinds(&report), [FindingKind::Divergence; 2]);
    assert!(report.findings[0].message.starts_with("1 of the 32 lanes"));
}

fn atomic(
    build: &mut Builder,
    rmw: Rmw,
    (order, scope): (Order, Scope),
    space: Space,
    at: Value,
    value: Value,
) -> Value {
    let op = Op::Atomic(AtomicAccess { space, op: rmw.into(), order, scope, predicated: false });
    let dtype = build.dtype(value);
    build.emit(op, smallvec![at, value], &[dtype])[0]
}

#[test]
fn atomics_of_all_lanes_add_up() {
    let mut build = Builder::new("count", 4, 5);
    let out = pointer(&mut build, "out");
    let counter = build.shared(4, 4, BarrierScope::Block);
    let base = build.shared_base(counter);
    let (warp, lane) = (build.id(IdKind::Warp), build.id(IdKind::Lane));
    let (zero, one) = (build.i32(0), build.i32(1));
    let first_warp = build.compare(Compare::Eq, warp, zero);
    let first_lane = build.compare(Compare::Eq, lane, zero);
    let first = build.binary(Binary::And, first_warp, first_lane);
    build.store(Space::Shared, Access::default(), base, Some(first), &[zero]);
    build.barrier(BarrierScope::Block);
    let relaxed = (Order::Relaxed, Scope::Gpu);
    atomic(&mut build, Rmw::Add, relaxed, Space::Global, out, one);
    atomic(&mut build, Rmw::Add, relaxed, Space::Shared, base, lane);
    build.barrier(BarrierScope::Block);
    let four = build.constant(DType::I64, 4);
    let sum = load(&mut build, Space::Shared, base);
    let at = add(&mut build, out, four);
    let op = Op::Atomic(AtomicAccess {
        space: Space::Global,
        op: Rmw::Add.into(),
        order: Order::Relaxed,
        scope: Scope::Gpu,
        predicated: true,
    });
    build.emit(op, smallvec![at, first, sum], &[DType::I32]);
    let Outcome { report, memory } = run_on(&build.finish(), 20, vec![ints("out", &[0, 0])]);
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(values(&memory, 0), [20 * 128, 20 * 4 * 31 * 16]);
    assert_eq!(report.atomics, 20 * 128 * 2 + 20);
    // Lanes that update one word wait for each other.
    let shared = report.accesses.iter().find(|a| a.space == Space::Shared && a.lanes == 2560);
    assert_eq!(shared.map(|access| access.cost), Some(20 * 4 * 32));
}

#[test]
fn atomics_and_plain_accesses_race_and_narrow_ones_do_across_blocks() {
    for (plain, scope, races) in
        [(true, Scope::Gpu, true), (false, Scope::Gpu, false), (false, Scope::Block, true)]
    {
        let mut build = Builder::new("mixed", 1, 5);
        let out = pointer(&mut build, "out");
        let one = build.i32(1);
        atomic(&mut build, Rmw::Add, (Order::Relaxed, scope), Space::Global, out, one);
        if plain {
            load(&mut build, Space::Global, out);
        }
        let Outcome { report, .. } = run_on(&build.finish(), 2, vec![ints("out", &[0])]);
        assert_eq!(!report.findings.is_empty(), races);
        assert!(kinds(&report).iter().all(|&kind| kind == FindingKind::Race));
    }
}

/// Block `from` writes data and raises a flag; the other block waits for the flag and reads.
fn message(writer_block: i32, orders: (Order, Order), scope: Scope) -> Program {
    message_by(writer_block, orders, [None, None], scope)
}

/// The same with fences, where they are given, before the flag is raised and after it was seen.
fn message_by(
    writer_block: i32,
    (release, acquire): (Order, Order),
    [before, after]: [Option<(Order, Scope)>; 2],
    scope: Scope,
) -> Program {
    let mut build = Builder::new("message", 1, 5);
    let (data, flag, out) =
        (pointer(&mut build, "data"), pointer(&mut build, "flag"), pointer(&mut build, "out"));
    let (block, lane) = (build.id(IdKind::Block(0)), build.id(IdKind::Lane));
    let writer = build.i32(writer_block);
    let writes = build.compare(Compare::Eq, block, writer);
    let (zero, one) = (build.i32(0), build.i32(1));
    let leader = build.compare(Compare::Eq, lane, zero);
    let flag_op = |build: &mut Builder, rmw: Rmw, order, value| {
        let op = Op::Atomic(AtomicAccess {
            space: Space::Global,
            op: rmw.into(),
            order,
            scope,
            predicated: true,
        });
        build.emit(op, smallvec![flag, leader, value], &[DType::I32])[0]
    };

    build.open_region(&[]);
    let at = element(&mut build, data, lane);
    let tripled = scaled(&mut build, lane, 3);
    store(&mut build, Space::Global, at, tripled);
    build.barrier(BarrierScope::Block);
    if let Some((order, scope)) = before {
        build.fence(order, scope);
    }
    flag_op(&mut build, Rmw::Exch, release, one);
    let then = build.close_region(Op::Yield, &[]);

    build.open_region(&[]);
    let wait = build.new_loop(&[], &[]);
    build.open_region(&[]);
    let seen = flag_op(&mut build, Rmw::Or, acquire, zero);
    let seen = build.shuffle_index(seen, zero);
    let up = build.compare(Compare::Eq, seen, one);
    build.break_if(wait, up, &[]);
    let region = build.close_region(Op::Continue, &[]);
    build.place_loop(wait, region);
    if let Some((order, scope)) = after {
        build.fence(order, scope);
    }
    build.barrier(BarrierScope::Block);
    let at = element(&mut build, data, lane);
    let value = load(&mut build, Space::Global, at);
    let at = element(&mut build, out, lane);
    store(&mut build, Space::Global, at, value);
    let otherwise = build.close_region(Op::Yield, &[]);
    build.if_(writes, then, otherwise, &[]);
    build.finish()
}

fn message_buffers() -> Vec<Buffer> {
    vec![blank("data", 32), ints("flag", &[0]), blank("out", 32)]
}

#[test]
fn a_message_needs_release_and_acquire() {
    use Order::{AcqRel, Acquire, Relaxed, Release};
    for writer in [0, 1] {
        for (orders, scope, clean) in [
            ((Release, Acquire), Scope::Gpu, true),
            ((AcqRel, AcqRel), Scope::System, true),
            ((Relaxed, Acquire), Scope::Gpu, false),
            ((Release, Relaxed), Scope::Gpu, false),
            ((Release, Acquire), Scope::Block, false),
        ] {
            let program = message(writer, orders, scope);
            let Outcome { report, memory } = run_on(&program, 2, message_buffers());
            assert!(report.finished);
            assert_eq!(values(&memory, 2), (0..32).map(|i| 3 * i).collect::<Vec<_>>());
            assert_eq!(report.is_clean(), clean, "{orders:?} {scope} {:#?}", report.findings);
            assert!(kinds(&report).iter().all(|&kind| kind == FindingKind::Race));
        }
    }
}

#[test]
fn fences_order_what_relaxed_atomics_meet() {
    use Order::{AcqRel, Acquire, Relaxed, Release};
    let gpu = |order| Some((order, Scope::Gpu));
    for writer in [0, 1] {
        for (orders, fences, scope, clean) in [
            ((Relaxed, Relaxed), [gpu(Release), gpu(Acquire)], Scope::Gpu, true),
            ((Relaxed, Relaxed), [gpu(AcqRel), gpu(AcqRel)], Scope::System, true),
            // One of both sides is an atomic that orders by itself.
            ((Release, Relaxed), [None, gpu(Acquire)], Scope::Gpu, true),
            ((Relaxed, Acquire), [gpu(Release), None], Scope::Gpu, true),
            ((Relaxed, Relaxed), [None, gpu(Acquire)], Scope::Gpu, false),
            ((Relaxed, Relaxed), [gpu(Release), None], Scope::Gpu, false),
            // The wrong way round, and too near.
            ((Relaxed, Relaxed), [gpu(Acquire), gpu(Release)], Scope::Gpu, false),
            ((Relaxed, Relaxed), [gpu(Release), gpu(Acquire)], Scope::Block, false),
            ((Relaxed, Relaxed), [Some((Release, Scope::Block)), gpu(Acquire)], Scope::Gpu, false),
        ] {
            let program = message_by(writer, orders, fences, scope);
            let Outcome { report, memory } = run_on(&program, 2, message_buffers());
            assert!(report.finished);
            assert_eq!(values(&memory, 2), (0..32).map(|i| 3 * i).collect::<Vec<_>>());
            assert_eq!(report.is_clean(), clean, "{orders:?} {fences:?} {scope}");
            assert!(kinds(&report).iter().all(|&kind| kind == FindingKind::Race));
        }
    }
}

/// A fence lets be known what was done before it, and not what was done after.
#[test]
fn what_is_done_behind_a_fence_is_not_released_by_it() {
    for late in [false, true] {
        let mut build = Builder::new("late", 1, 5);
        let [data, flag] = ["data", "flag"].map(|name| pointer(&mut build, name));
        let (block, lane) = (build.id(IdKind::Block(0)), build.id(IdKind::Lane));
        let (zero, one) = (build.i32(0), build.i32(1));
        let writes = build.compare(Compare::Eq, block, zero);
        let leader = build.compare(Compare::Eq, lane, zero);
        let relaxed = |build: &mut Builder, rmw: Rmw, value| {
            let (space, order, scope) = (Space::Global, Order::Relaxed, Scope::Gpu);
            let op =
                Op::Atomic(AtomicAccess { space, op: rmw.into(), order, scope, predicated: true });
            build.emit(op, smallvec![flag, leader, value], &[DType::I32])[0]
        };
        build.open_region(&[]);
        let at = element(&mut build, data, lane);
        if !late {
            store(&mut build, Space::Global, at, lane);
        }
        build.fence(Order::Release, Scope::Gpu);
        if late {
            store(&mut build, Space::Global, at, lane);
        }
        relaxed(&mut build, Rmw::Exch, one);
        let then = build.close_region(Op::Yield, &[]);
        build.open_region(&[]);
        let wait = build.new_loop(&[], &[]);
        build.open_region(&[]);
        let seen = relaxed(&mut build, Rmw::Or, zero);
        let seen = build.shuffle_index(seen, zero);
        let up = build.compare(Compare::Eq, seen, one);
        build.break_if(wait, up, &[]);
        let region = build.close_region(Op::Continue, &[]);
        build.place_loop(wait, region);
        build.fence(Order::Acquire, Scope::Gpu);
        let at = element(&mut build, data, lane);
        load(&mut build, Space::Global, at);
        let otherwise = build.close_region(Op::Yield, &[]);
        build.if_(writes, then, otherwise, &[]);
        let buffers = vec![blank("data", 32), ints("flag", &[0])];
        let Outcome { report, .. } = run_on(&build.finish(), 2, buffers);
        assert_eq!(report.is_clean(), !late, "{:#?}", report.findings);
    }
}

#[test]
fn waiting_for_a_block_that_cannot_start_is_a_deadlock() {
    let program = message(1, (Order::Release, Order::Acquire), Scope::Gpu);
    let machine = Machine { resident_blocks: 1, ..Machine::nvidia() };
    let Outcome { report, .. } = run_with(&program, 2, &machine, message_buffers(), &[]);
    assert!(!report.finished);
    let deadlock = only(&report);
    assert_eq!(deadlock.kind, FindingKind::Deadlock);
    assert_eq!(
        deadlock.message,
        "1 warp of 1 block (0) go round here for ever: nothing will change what they look at; \
         1 block not started"
    );
    assert!(matches!(program.insts[deadlock.actor.inst].op, Op::Atomic(_)));
}

/// Block 9 raises a flag; every block goes round two barriers until the flag is up.
fn meeting() -> Program {
    let mut build = Builder::new("meeting", 2, 5);
    let flag = pointer(&mut build, "flag");
    let (block, nine, zero) = (build.id(IdKind::Block(0)), build.i32(9), build.i32(0));
    let raises = build.compare(Compare::Eq, block, nine);
    let raised = build.cast(Cast::ExtU, raises, DType::I32);
    let order = (Order::AcqRel, Scope::Gpu);
    atomic(&mut build, Rmw::Or, order, Space::Global, flag, raised);
    let wait = build.new_loop(&[], &[]);
    build.open_region(&[]);
    build.barrier(BarrierScope::Block);
    let seen = atomic(&mut build, Rmw::Or, order, Space::Global, flag, zero);
    build.barrier(BarrierScope::Block);
    let up = build.compare(Compare::Ne, seen, zero);
    build.break_if(wait, up, &[]);
    let region = build.close_region(Op::Continue, &[]);
    build.place_loop(wait, region);
    build.finish()
}

#[test]
fn blocks_that_are_waited_for_start_when_the_others_only_wait() {
    let Outcome { report, .. } = run_on(&meeting(), 12, vec![ints("flag", &[0])]);
    assert!(report.is_clean(), "{:#?}", report.findings);
}

/// Passing barriers is no progress when the block comes back to where it was.
#[test]
fn going_round_through_barriers_is_a_deadlock_too() {
    let mut build = Builder::new("round", 2, 5);
    let flag = pointer(&mut build, "flag");
    let seen = build.shared(4, 4, BarrierScope::Block);
    let inst = build.new_loop(&[], &[]);
    build.open_region(&[]);
    let (zero, place) = (build.i32(0), build.shared_base(seen));
    let (lane, warp) = (build.id(IdKind::Lane), build.id(IdKind::Warp));
    let thread = build.binary(Binary::Or, lane, warp);
    let first = build.compare(Compare::Eq, thread, zero);
    let op = Op::Atomic(AtomicAccess {
        space: Space::Global,
        op: Rmw::Add.into(),
        order: Order::AcqRel,
        scope: Scope::Gpu,
        predicated: true,
    });
    let old = build.emit(op, smallvec![flag, first, zero], &[DType::I32])[0];
    build.store(Space::Shared, Access::default(), place, Some(first), &[old]);
    build.barrier(BarrierScope::Block);
    let told = build.load(Space::Shared, Access::default(), DType::I32, 1, place, None)[0];
    build.barrier(BarrierScope::Block);
    let done = build.compare(Compare::Ne, told, zero);
    build.break_if(inst, done, &[]);
    let region = build.close_region(Op::Continue, &[]);
    build.place_loop(inst, region);
    let Outcome { report, .. } = run_on(&build.finish(), 20, vec![ints("flag", &[0])]);
    assert!(!report.finished);
    assert_eq!(kinds(&report)[0], FindingKind::Deadlock);
}

#[test]
fn a_barrier_that_some_warps_skip_is_a_deadlock() {
    let mut build = Builder::new("skip", 2, 5);
    let (warp, zero) = (build.id(IdKind::Warp), build.i32(0));
    let first = build.compare(Compare::Eq, warp, zero);
    build.open_region(&[]);
    build.barrier(BarrierScope::Block);
    let then = build.close_region(Op::Yield, &[]);
    build.open_region(&[]);
    let otherwise = build.close_region(Op::Yield, &[]);
    build.if_(first, then, otherwise, &[]);
    let Outcome { report, .. } = run_on(&build.finish(), 3, vec![]);
    let deadlock = only(&report);
    assert!(!report.finished);
    assert_eq!(
        deadlock.message,
        "3 warps of 3 blocks (0, 1, 2) wait at this barrier for warps that will never come to it"
    );
}

#[test]
fn a_loop_that_counts_for_ever_runs_out_of_steps() {
    let mut build = Builder::new("forever", 1, 5);
    let (zero, one) = (build.i32(0), build.i32(1));
    let outer = build.new_loop(&[zero], &[]);
    let i = build.open_region(&[DType::I32])[0];
    let next = add(&mut build, i, one);
    let never = build.compare(Compare::Eq, next, next);
    let never = build.compare(Compare::Ne, never, never);
    build.break_if(outer, never, &[]);
    let region = build.close_region(Op::Continue, &[next]);
    build.place_loop(outer, region);
    let Outcome { report, .. } = run_on(&build.finish(), 1, vec![]);
    assert!(!report.finished);
    let finding = only(&report);
    assert_eq!(finding.kind, FindingKind::OutOfSteps);
    assert!(finding.message.contains("after 1000000 warp instructions"), "{finding}");
}

#[test]
fn a_run_that_is_watched_tells_how_far_it_is_and_can_be_stopped() {
    // Each of two blocks goes round often enough to be heard of several times.
    let mut build = Builder::new("long", 1, 5);
    let (zero, one, many) = (build.i32(0), build.i32(1), build.i32(200_000));
    let outer = build.new_loop(&[zero], &[]);
    let i = build.open_region(&[DType::I32])[0];
    let next = add(&mut build, i, one);
    let end = build.compare(Compare::Eq, next, many);
    build.break_if(outer, end, &[]);
    let region = build.close_region(Op::Continue, &[next]);
    build.place_loop(outer, region);
    let program = build.finish();
    let machine = Machine::nvidia();
    let options = Options::default();
    let launch =
        Launch { program: &program, grid: [2, 1, 1], args: &[], machine: &machine, options };
    let mut heard = Vec::new();
    let whole = run_watched(&launch, &mut Memory::default(), &mut |progress| {
        heard.push(progress);
        ControlFlow::Continue(())
    });
    assert!(whole.is_ok_and(|report| report.finished && report.instructions > 800_000));
    assert!(heard.len() >= 2, "{heard:?}");
    assert!(heard.is_sorted_by_key(|progress| (progress.ended, progress.instructions)));
    assert!(heard.iter().all(|progress| progress.blocks == 2 && progress.ended < 2));
    let stopped =
        run_watched(&launch, &mut Memory::default(), &mut |_| ControlFlow::Break(())).unwrap_err();
    assert_eq!(stopped.to_string(), "the run of `long` was stopped");
}

#[test]
fn reading_what_nobody_wrote_is_reported() {
    let mut build = Builder::new("unwritten", 1, 5);
    let (x, out) = (pointer(&mut build, "x"), pointer(&mut build, "out"));
    let tile = build.shared(128, 16, BarrierScope::Block);
    let base = build.shared_base(tile);
    let lane = build.id(IdKind::Lane);
    let sixteen = build.i32(16);
    let low = build.compare(Compare::Slt, lane, sixteen);
    let slot = scaled(&mut build, lane, 4);
    let slot = add(&mut build, slot, base);
    build.store(Space::Shared, Access::default(), slot, Some(low), &[lane]);
    let a = load(&mut build, Space::Shared, slot);
    let at = element(&mut build, x, lane);
    let b = load(&mut build, Space::Global, at);
    let sum = add(&mut build, a, b);
    let at = element(&mut build, out, lane);
    store(&mut build, Space::Global, at, sum);
    let buffers = vec![blank("x", 32), blank("out", 32)];
    let Outcome { report, .. } = run_on(&build.finish(), 1, buffers);
    assert_eq!(kinds(&report), [FindingKind::Uninitialised; 2]);
    assert_eq!(
        report.findings[0].message,
        "byte 64 of shared memory is read, and nothing wrote it"
    );
    assert_eq!(report.findings[0].actor.lane, Some(16));
    assert!(report.findings[1].message.starts_with("byte 0 of x "));
}

#[test]
fn accesses_outside_memory_are_dropped_and_named() {
    let mut build = Builder::new("outside", 1, 5);
    let out = pointer(&mut build, "out");
    let tile = build.shared(64, 16, BarrierScope::Block);
    let base = build.shared_base(tile);
    let lane = build.id(IdKind::Lane);
    let at = element(&mut build, out, lane);
    store(&mut build, Space::Global, at, lane);
    let read = load(&mut build, Space::Global, at);
    store(&mut build, Space::Global, at, read);
    let slot = scaled(&mut build, lane, 4);
    let slot = add(&mut build, slot, base);
    store(&mut build, Space::Shared, slot, lane);
    let Outcome { report, memory } = run_on(&build.finish(), 1, vec![blank("out", 30)]);
    assert!(report.finished);
    assert_eq!(kinds(&report), [FindingKind::OutOfRange; 4]);
    assert_eq!(report.findings[0].message, "4 bytes at byte 120 of `out`, which has 120");
    assert_eq!(report.findings[0].actor.lane, Some(30));
    assert_eq!(
        report.findings[3].message,
        "4 bytes at byte 64 of shared memory, of which a block has 64"
    );
    assert_eq!(values(&memory, 0), (0..30).collect::<Vec<_>>());
    assert_eq!(report.global.bytes, 3 * 120);
}

#[test]
fn vectors_must_be_aligned_and_count_their_phases() {
    let mut build = Builder::new("vectors", 1, 5);
    let x = pointer(&mut build, "x");
    let tile = build.shared(1024, 16, BarrierScope::Block);
    let base = build.shared_base(tile);
    let lane = build.id(IdKind::Lane);
    let wide = |build: &mut Builder, lane: Value| {
        let slot = scaled(build, lane, 16);
        add(build, slot, base)
    };
    let slot = wide(&mut build, lane);
    build.store(Space::Shared, Access::default(), slot, None, &[lane; 4]);
    build.barrier(BarrierScope::Warp);
    let vector = |build: &mut Builder, count: usize, at: Value| {
        build.load(Space::Shared, Access::default(), DType::I32, count, at, None);
    };
    vector(&mut build, 4, slot); // contiguous: 4 phases
    vector(&mut build, 4, base); // uniform: the phases merge in pairs
    let one = build.i32(1);
    let pair = build.binary(Binary::ShrU, lane, one);
    let slot = wide(&mut build, pair);
    vector(&mut build, 4, slot); // pairs equal: 2
    let two = build.i32(2);
    let quad = build.binary(Binary::ShrU, lane, two);
    let slot = scaled(&mut build, quad, 128);
    let slot = add(&mut build, slot, base);
    let seven = build.i32(7);
    let slot_end = build.i32(512);
    let slot = build.binary(Binary::RemU, slot, slot_end);
    vector(&mut build, 4, slot); // four rows of one bank: 2 phases of 4
    vector(&mut build, 2, base); // uniform: 1
    let low = build.binary(Binary::And, lane, seven);
    let slot = scaled(&mut build, low, 8);
    let slot = add(&mut build, slot, base);
    vector(&mut build, 2, slot); // halves equal: 2
    let access = Access { offset: 4, ..Access::default() };
    build.load(Space::Global, access, DType::I32, 2, x, None);
    let Outcome { report, .. } = run_on(&build.finish(), 1, vec![ints("x", &[1; 8])]);
    let finding = only(&report);
    assert_eq!(finding.kind, FindingKind::Misaligned);
    assert_eq!(finding.message, "an access of 8 bytes at byte 4 of `x`, which is no multiple of 8");
    let costs: Vec<u64> = report.accesses.iter().map(|access| access.cost).collect();
    assert_eq!(costs, [4, 4, 2, 2, 8, 1, 2, 1]);
}

#[test]
fn lanes_that_store_to_one_byte_must_agree() {
    for (same, bytes) in [(true, 4), (false, 4), (false, 1)] {
        let mut build = Builder::new("agree", 1, 5);
        let out = pointer(&mut build, "out");
        let lane = build.id(IdKind::Lane);
        let dtype = if bytes == 4 { DType::I32 } else { DType::I8 };
        let one = build.i32(1);
        let half = build.binary(Binary::ShrU, lane, one);
        let at = scaled(&mut build, half, bytes);
        let at = build.cast(Cast::ExtU, at, DType::I64);
        let at = add(&mut build, out, at);
        let value = if same { half } else { lane };
        let value = build.cast(Cast::Trunc, value, dtype);
        store(&mut build, Space::Global, at, value);
        let Outcome { report, .. } = run_on(&build.finish(), 1, vec![blank("out", 16)]);
        if same {
            assert!(report.is_clean(), "{:#?}", report.findings);
        } else {
            let race = only(&report);
            assert_eq!(race.message, "lanes 0 and 1 store different values to one byte");
        }
    }
}

#[test]
fn bytes_of_one_word_are_not_one_place() {
    // Lanes write a byte each and read it back as bytes, then as words after a barrier.
    let mut build = Builder::new("bytes", 1, 5);
    let tile = build.shared(32, 16, BarrierScope::Block);
    let base = build.shared_base(tile);
    let lane = build.id(IdKind::Lane);
    let at = add(&mut build, base, lane);
    let byte = build.cast(Cast::Trunc, lane, DType::I8);
    build.store(Space::Shared, Access::default(), at, None, &[byte]);
    build.load(Space::Shared, Access::default(), DType::I8, 1, at, None);
    build.barrier(BarrierScope::Warp);
    let seven = build.i32(7);
    let word = build.binary(Binary::And, lane, seven);
    let word = scaled(&mut build, word, 4);
    let word = add(&mut build, word, base);
    let value = load(&mut build, Space::Shared, word);
    let out = pointer(&mut build, "out");
    let at = element(&mut build, out, lane);
    store(&mut build, Space::Global, at, value);
    let Outcome { report, memory } = run_on(&build.finish(), 1, vec![blank("out", 32)]);
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(values(&memory, 0)[1], 0x0706_0504);
    assert_eq!(report.shared.wavefronts, 3);
}

#[test]
fn a_spin_lock_guards_a_counter() {
    // Every block takes the lock by compare-and-swap, adds to a plain counter, gives it back.
    let mut build = Builder::new("lock", 1, 5);
    let (lock, counter) = (pointer(&mut build, "lock"), pointer(&mut build, "counter"));
    let lane = build.id(IdKind::Lane);
    let (zero, one) = (build.i32(0), build.i32(1));
    let leader = build.compare(Compare::Eq, lane, zero);
    let (space, scope) = (Space::Global, Scope::Gpu);
    let wait = build.new_loop(&[], &[]);
    build.open_region(&[]);
    let op = Op::Atomic(AtomicAccess {
        op: Atomic::Cas,
        space,
        order: Order::Acquire,
        scope,
        predicated: true,
    });
    let old = build.emit(op, smallvec![lock, leader, zero, one], &[DType::I32])[0];
    let old = build.shuffle_index(old, zero);
    let taken = build.compare(Compare::Eq, old, zero);
    build.break_if(wait, taken, &[]);
    let region = build.close_region(Op::Continue, &[]);
    build.place_loop(wait, region);
    let access = Access::default();
    let value = build.load(space, access, DType::I32, 1, counter, Some((leader, &[zero])))[0];
    let value = add(&mut build, value, one);
    build.store(space, access, counter, Some(leader), &[value]);
    let op = Op::Atomic(AtomicAccess {
        space,
        op: Rmw::Exch.into(),
        order: Order::Release,
        scope,
        predicated: true,
    });
    build.emit(op, smallvec![lock, leader, zero], &[DType::I32]);
    let program = build.finish();
    let buffers = vec![ints("lock", &[0]), ints("counter", &[0])];
    let Outcome { report, memory } = run_on(&program, 100, buffers);
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(values(&memory, 1), [100]);
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let mut build = Builder::new("empty", 1, 5);
    pointer(&mut build, "x");
    let program = build.finish();
    let mut memory = Memory::default();
    let machine = Machine::nvidia();
    let options = Options::default();
    let launch =
        Launch { program: &program, grid: [1, 1, 1], args: &[], machine: &machine, options };
    let error = run(&launch, &mut memory).unwrap_err();
    assert_eq!(error.to_string(), "`empty` takes 1 arguments, and 0 were given");
    let launch = Launch { args: &[0], grid: [0, 1, 1], ..launch };
    assert!(run(&launch, &mut memory).unwrap().finished);
    let launch = Launch { grid: [u32::MAX; 3], ..launch };
    assert!(matches!(run(&launch, &mut memory), Err(SimError::Grid { .. })));
    let broken = Program { warps: 33, ..program.clone() };
    let launch = Launch { program: &broken, grid: [1; 3], ..launch };
    assert!(matches!(run(&launch, &mut memory), Err(SimError::BlockSize { .. })));
    let broken = Program { body: crate::lane::Region::default(), ..program.clone() };
    let launch = Launch { program: &broken, ..launch };
    assert!(matches!(run(&launch, &mut memory), Err(SimError::Invalid { .. })));
}

/// A warp that moves matrices whose rows lie `pitch` bytes apart.
fn matrices(matrix: Matrix, words: usize, pitch: i32, barrier: bool) -> Program {
    matrices_at(matrix, words, [pitch; 2], barrier)
}

/// A warp that stores word `i` of shared memory from lane `i % 32`, waits, and loads matrices whose
/// rows lie `pitch` bytes apart; there is room for 32 rows `room` bytes apart.
fn matrices_at(matrix: Matrix, words: usize, [room, pitch]: [i32; 2], barrier: bool) -> Program {
    let mut build = Builder::new("matrices", 1, 5);
    let out = pointer(&mut build, "out");
    let piece = build.shared(32 * room as u32, 16, BarrierScope::Warp);
    let base = build.shared_base(piece);
    let lane = build.id(IdKind::Lane);
    let near = scaled(&mut build, lane, 4);
    let near = add(&mut build, base, near);
    for round in 0..room / 4 {
        let number = build.i32(32 * round);
        let number = add(&mut build, lane, number);
        // Every half is its own number.
        let halves = scaled(&mut build, number, 0x0002_0002);
        let first = build.i32(0x0001_0000);
        let halves = add(&mut build, halves, first);
        let access = Access { offset: 128 * round, ..Access::default() };
        build.store(Space::Shared, access, near, None, &[halves]);
    }
    if barrier {
        build.barrier(BarrierScope::Warp);
    }
    let row = scaled(&mut build, lane, pitch);
    let row = add(&mut build, base, row);
    let access = Access { form: Form::Matrix(matrix), ..Access::default() };
    let values = build.load(Space::Shared, access, DType::I32, words, row, None);
    let place = scaled(&mut build, lane, words as i32);
    let place = element(&mut build, out, place);
    build.store(Space::Global, Access::default(), place, None, &values);
    build.finish()
}

const ROWS: Matrix = Matrix { element_bits: 16, rows: 8, transposed: false };

/// Fragments as PTX ISA 9.7.14.5.15 has them: thread `4 * row + column / 2` holds elements `column`
/// and `column + 1` of a row; transposed, those of a column.
#[test]
fn matrices_are_dealt_to_lanes() {
    for (transposed, words) in [(false, 1), (false, 2), (false, 4), (true, 1), (true, 2), (true, 4)]
    {
        let program = matrices(Matrix { transposed, ..ROWS }, words, 16, true);
        let outcome =
            run_with(&program, 1, &Machine::nvidia(), vec![blank("out", 32 * words)], &[]);
        assert_eq!(outcome.report.findings, []);
        let half =
            |matrix: usize, row: usize, column: usize| (matrix * 64 + row * 8 + column) as u32;
        for lane in 0..32 {
            for word in 0..words {
                let (first, second) = (lane % 4 * 2, lane % 4 * 2 + 1);
                let [low, high] = [first, second].map(|near| {
                    let (row, column) =
                        if transposed { (near, lane / 4) } else { (lane / 4, near) };
                    half(word, row, column)
                });
                let found = values(&outcome.memory, 0)[lane * words + word];
                assert_eq!(found, high << 16 | low, "{transposed} {words} {lane} {word}");
            }
        }
    }
}

/// Eight rows are one wavefront where they meet different banks.
#[test]
fn matrices_cost_a_wavefront_for_eight_rows() {
    for (pitch, wavefronts) in [(16, 4), (32, 8), (64, 16), (128, 32), (144, 4)] {
        let program = matrices(ROWS, 4, pitch, true);
        let outcome = run_with(&program, 1, &Machine::nvidia(), vec![blank("out", 128)], &[]);
        let moved = outcome.report.accesses.iter().find(|access| {
            access.kind == super::report::AccessKind::Load && access.space == Space::Shared
        });
        let moved = moved.unwrap();
        assert_eq!((moved.cost, moved.ideal, moved.lane_bytes), (wavefronts, 4, 16), "{pitch}");
    }
}

#[test]
fn matrices_are_held_to_the_rules_of_memory() {
    let kinds = |program: &Program| -> Vec<FindingKind> {
        let outcome = run_with(program, 1, &Machine::nvidia(), vec![blank("out", 128)], &[]);
        let mut kinds: Vec<FindingKind> =
            outcome.report.findings.iter().map(|finding| finding.kind).collect();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds(&matrices(ROWS, 4, 16, true)), []);
    let transposed = Matrix { transposed: true, ..ROWS };
    assert_eq!(kinds(&matrices(transposed, 4, 16, false)), [FindingKind::Race]);
    // Rows that are not aligned, rows beyond the end, rows that nobody wrote.
    assert_eq!(kinds(&matrices_at(ROWS, 4, [16, 8], true)), [FindingKind::Misaligned]);
    assert_eq!(kinds(&matrices_at(ROWS, 4, [16, 32], true)), [FindingKind::OutOfRange]);
    let mut unwritten = matrices(ROWS, 4, 16, true);
    let first =
        unwritten.body.insts.iter().position(|&id| {
            matches!(unwritten.insts[id].op, Op::Store { space: Space::Shared, .. })
        });
    unwritten.body.insts.remove(first.unwrap());
    assert_eq!(kinds(&unwritten), [FindingKind::Uninitialised]);
}

/// What stands between a copy and the read of what another lane's copy brings.
#[derive(Clone, Copy, PartialEq)]
enum Between {
    Commit,
    Wait(u32),
    Barrier,
}
use Between::{Barrier, Commit, Wait};

/// Each thread of two warps copies a word to shared memory and reads the one of the thread `apart` on;
/// threads with an odd word copy nothing but zeros, if `filled`.
fn copying(apart: i32, filled: bool, between: &[Between]) -> Program {
    let mut build = Builder::new("copying", 2, 5);
    let (from, out) = (pointer(&mut build, "from"), pointer(&mut build, "out"));
    let shared = build.shared(256, 16, BarrierScope::Block);
    let base = build.shared_base(shared);
    let index = thread(&mut build);
    let source = element(&mut build, from, index);
    let offset = scaled(&mut build, index, 4);
    let place = add(&mut build, base, offset);
    let one = build.i32(1);
    let zero = build.i32(0);
    let odd = build.binary(Binary::And, index, one);
    let even = build.compare(Compare::Eq, odd, zero);
    let copy = Op::AsyncCopy(AsyncCopy::Begin {
        bytes: 4,
        offset: 0,
        run: false,
        predicated: false,
        filled,
    });
    let mut operands = smallvec![place, source];
    if filled {
        operands.push(even);
    }
    build.emit(copy, operands, &[]);
    for step in between {
        match *step {
            Commit => drop(build.emit(Op::AsyncCopy(AsyncCopy::Commit), smallvec![], &[])),
            Wait(pending) => {
                build.emit(
                    Op::AsyncCopy(AsyncCopy::Wait { pending, copies: None }),
                    smallvec![],
                    &[],
                );
            }
            Barrier => build.barrier(BarrierScope::Block),
        }
    }
    let apart = build.i32(apart);
    let other = build.binary(Binary::Xor, index, apart);
    let offset = scaled(&mut build, other, 4);
    let place = add(&mut build, base, offset);
    let value = load(&mut build, Space::Shared, place);
    let to = element(&mut build, out, index);
    store(&mut build, Space::Global, to, value);
    build.finish()
}

fn copied(program: &Program) -> Outcome {
    let given: Vec<u32> = (100..164).collect();
    run_on(program, 1, vec![ints("from", &given), blank("out", 64)])
}

#[test]
fn a_copy_is_there_after_its_wait_and_for_others_after_a_barrier() {
    for (apart, between) in [
        (0, &[Commit, Wait(0)][..]),
        (1, &[Commit, Wait(0), Barrier]),
        (32, &[Commit, Wait(0), Barrier]),
        // An empty group behind the one that counts.
        (32, &[Commit, Commit, Wait(1), Barrier]),
    ] {
        for filled in [false, true] {
            let Outcome { report, memory } = copied(&copying(apart, filled, between));
            assert!(report.is_clean(), "{:?}", report.findings);
            let wanted = (0..64u32).map(|index| index ^ apart as u32);
            let wanted = wanted.map(|from| if filled && from % 2 == 1 { 0 } else { 100 + from });
            assert_eq!(values(&memory, 1), wanted.collect::<Vec<_>>());
        }
    }
    // What is filled with zeros is not looked at: half of the words.
    let sectors = |filled| copied(&copying(0, filled, &[Commit, Wait(0)])).report.accesses;
    let lanes = |filled| sectors(filled).iter().map(|access| access.lanes).collect::<Vec<_>>();
    assert_eq!(lanes(false), [64, 64, 64, 64]);
    assert_eq!(lanes(true), [64, 32, 64, 64]);
}

#[test]
fn a_copy_that_is_not_waited_for_is_in_flight_and_one_without_a_barrier_races() {
    for between in [
        &[][..],
        &[Barrier],
        &[Commit, Barrier],
        &[Commit, Wait(1), Barrier],
        // The group is still open when the wait is met.
        &[Wait(0), Barrier, Commit],
    ] {
        for apart in [0, 1, 32] {
            let found = kinds(&copied(&copying(apart, false, between)).report);
            assert!(found.contains(&FindingKind::InFlight), "{apart}: {found:?}");
        }
    }
    for apart in [1, 32] {
        let found = kinds(&copied(&copying(apart, false, &[Commit, Wait(0)])).report);
        assert!(found.contains(&FindingKind::Race) || found.contains(&FindingKind::InFlight));
        // A barrier before the wait orders nothing that comes after it.
        let found = kinds(&copied(&copying(apart, false, &[Commit, Barrier, Wait(0)])).report);
        assert!(found.contains(&FindingKind::Race) || found.contains(&FindingKind::InFlight));
    }
}
