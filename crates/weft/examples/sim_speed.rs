//! How fast the simulator is: `cargo run --release --example sim_speed -- run`.
//!
//! Prints lane instructions a second for a few kinds of kernel. Without `run` it only says so, so that
//! building and running all examples stays quick.
#![allow(clippy::print_stdout, reason = "an example talks to the reader")]

use std::time::Instant;
use weft::dtype::DType;
use weft::lane::{Access, BarrierScope, Builder, IdKind, Op, Param, Program, Space, Value};
use weft::memory::{Buffer, Memory};
use weft::scalar::{Binary, Cast, Compare};
use weft::sim::{self, Launch, Machine, Options};

fn main() {
    if std::env::args().nth(1).as_deref() != Some("run") {
        println!("say `run` to measure");
        return;
    }
    for (name, program, blocks) in [
        ("f32 fma and i32 arithmetic in a loop", arithmetic(), 64),
        ("vector add, one f32 a lane", vector_add(1), 4096),
        ("vector add, four f32 a lane", vector_add(4), 1024),
        ("shared transpose with barriers in a loop", transpose(), 64),
        ("matrix product from shared memory", product(), 16),
    ] {
        measure(name, &program, blocks);
    }
}

fn measure(name: &str, program: &Program, blocks: u32) {
    let mut memory = Memory::default();
    let args: Vec<u64> = program
        .params
        .iter()
        .map(|param| {
            let (name, bytes) = (param.name.clone(), vec![0; 4 << 20]);
            memory.push(Buffer { name, bytes, dtype: DType::F32, initialised: true })
        })
        .collect();
    let machine = Machine::nvidia();
    let options = Options::default();
    let grid = [blocks, 1, 1];
    let launch = Launch { program, grid, args: &args, machine: &machine, options };
    let start = Instant::now();
    let report = match sim::run(&launch, &mut memory) {
        Ok(report) => report,
        Err(error) => return println!("{name}: {error}"),
    };
    let seconds = start.elapsed().as_secs_f64();
    let rate = report.lane_instructions as f64 / seconds / 1e6;
    println!(
        "{name}: {rate:.0} million lane instructions a second ({} in {seconds:.3} s)",
        report.lane_instructions
    );
    for finding in &report.findings {
        println!("  {finding}");
    }
}

fn pointer(build: &mut Builder, name: &str) -> Value {
    let pointee = Some(DType::F32);
    build.param(Param { name: name.into(), dtype: DType::I64, pointee, divisibility: 16 })
}

fn scaled(build: &mut Builder, x: Value, by: i32) -> Value {
    let by = build.i32(by);
    build.binary(Binary::Mul, x, by)
}

fn add(build: &mut Builder, x: Value, y: Value) -> Value {
    build.binary(Binary::Add, x, y)
}

fn element(build: &mut Builder, base: Value, index: Value) -> Value {
    let offset = scaled(build, index, 4);
    let offset = build.cast(Cast::ExtU, offset, DType::I64);
    add(build, base, offset)
}

fn thread(build: &mut Builder) -> Value {
    let (warps, block) = (build.program().warps as i32, build.id(IdKind::Block(0)));
    let (warp, lane) = (build.id(IdKind::Warp), build.id(IdKind::Lane));
    let index = scaled(build, block, warps);
    let index = add(build, index, warp);
    let index = scaled(build, index, 32);
    add(build, index, lane)
}

/// A loop of `count` turns over carried values.
fn repeat(
    build: &mut Builder,
    count: i32,
    inits: &[Value],
    body: impl FnOnce(&mut Builder, Value, &[Value]) -> Vec<Value>,
) -> Vec<Value> {
    let (zero, one, count) = (build.i32(0), build.i32(1), build.i32(count));
    let types: Vec<DType> = inits.iter().map(|&value| build.dtype(value)).collect();
    let all: Vec<Value> = [zero].iter().chain(inits).copied().collect();
    let inst = build.new_loop(&all, &types);
    let mut params = vec![DType::I32];
    params.extend(&types);
    let params = build.open_region(&params);
    let done = build.compare(Compare::Sge, params[0], count);
    build.break_if(inst, done, &params[1..]);
    let mut next = body(build, params[0], &params[1..]);
    next.insert(0, add(build, params[0], one));
    let region = build.close_region(Op::Continue, &next);
    build.place_loop(inst, region).to_vec()
}

fn arithmetic() -> Program {
    let mut build = Builder::new("arithmetic", 4, 5);
    let out = pointer(&mut build, "out");
    let index = thread(&mut build);
    let x = build.cast(Cast::FloatFromS, index, DType::F32);
    let scale = build.constant(DType::F32, u64::from(0.999f32.to_bits()));
    let result = repeat(&mut build, 1000, &[x, index], |build, _, carried| {
        let (mut f, mut i) = (carried[0], carried[1]);
        for step in 0..8 {
            f = build.fma(f, scale, x);
            let by = build.i32(step + 3);
            i = build.binary(Binary::Mul, i, by);
            i = build.binary(Binary::Xor, i, index);
            i = build.binary(Binary::Add, i, by);
        }
        vec![f, i]
    });
    let at = element(&mut build, out, index);
    let bits = build.cast(Cast::Bits, result[1], DType::F32);
    let sum = build.binary(Binary::Add, result[0], bits);
    build.store(Space::Global, Access::default(), at, None, &[sum]);
    build.finish()
}

fn vector_add(width: i32) -> Program {
    let mut build = Builder::new("add", 4, 5);
    let (x, y, out) =
        (pointer(&mut build, "x"), pointer(&mut build, "y"), pointer(&mut build, "out"));
    let index = thread(&mut build);
    let index = scaled(&mut build, index, width);
    let n = build.i32(1 << 20);
    let inside = build.compare(Compare::Slt, index, n);
    let zero = build.constant(DType::F32, 0);
    let others = vec![zero; width as usize];
    let access = Access::default();
    let load = |build: &mut Builder, base| {
        let at = element(build, base, index);
        let predicate = Some((inside, &others[..]));
        build.load(Space::Global, access, DType::F32, width as usize, at, predicate)
    };
    let (a, b) = (load(&mut build, x), load(&mut build, y));
    let sums: Vec<Value> =
        a.iter().zip(&b).map(|(&a, &b)| build.binary(Binary::Add, a, b)).collect();
    let at = element(&mut build, out, index);
    build.store(Space::Global, access, at, Some(inside), &sums);
    build.finish()
}

fn transpose() -> Program {
    let mut build = Builder::new("transpose", 4, 5);
    let out = pointer(&mut build, "out");
    let tile = build.shared(32 * 33 * 4, 16, BarrierScope::Block);
    let base = build.shared_base(tile);
    let (warp, lane) = (build.id(IdKind::Warp), build.id(IdKind::Lane));
    let four = scaled(&mut build, lane, 4);
    let access = Access::default();
    let inits: Vec<Value> = (0..8).map(|step| build.constant(DType::F32, step)).collect();
    let results = repeat(&mut build, 100, &inits, |build, _, carried| {
        let mut rows = Vec::new();
        for step in 0..8 {
            let first = build.i32(4 * step);
            rows.push(add(build, warp, first));
        }
        for (&row, &value) in rows.iter().zip(carried) {
            let at = scaled(build, row, 132);
            let at = add(build, at, four);
            let at = add(build, at, base);
            build.store(Space::Shared, access, at, None, &[value]);
        }
        build.barrier(BarrierScope::Block);
        let mut values = Vec::new();
        for &row in &rows {
            let at = scaled(build, lane, 132);
            let column = scaled(build, row, 4);
            let at = add(build, at, column);
            let at = add(build, at, base);
            values.extend(build.load(Space::Shared, access, DType::F32, 1, at, None));
        }
        build.barrier(BarrierScope::Block);
        values
    });
    let index = thread(&mut build);
    let at = element(&mut build, out, index);
    build.store(Space::Global, access, at, None, &results[..1]);
    build.finish()
}

/// Each thread computes 4 x 8 elements of a 64 x 64 tile; A is broadcast along warps, B along rows.
fn product() -> Program {
    let mut build = Builder::new("product", 4, 5);
    let (a, b, out) =
        (pointer(&mut build, "a"), pointer(&mut build, "b"), pointer(&mut build, "out"));
    let tile_a = build.shared(64 * 16 * 4, 16, BarrierScope::Block);
    let tile_b = build.shared(64 * 16 * 4, 16, BarrierScope::Block);
    let (base_a, base_b) = (build.shared_base(tile_a), build.shared_base(tile_b));
    let (warp, lane) = (build.id(IdKind::Warp), build.id(IdKind::Lane));
    let in_block = scaled(&mut build, warp, 32);
    let in_block = add(&mut build, in_block, lane);
    let access = Access::default();
    let zero = build.constant(DType::F32, 0);
    let (seven, three) = (build.i32(7), build.i32(3));
    let column = build.binary(Binary::And, lane, seven);
    let row = build.binary(Binary::ShrU, lane, three);
    let row4 = scaled(&mut build, warp, 4);
    let row = add(&mut build, row, row4);
    let sums = repeat(&mut build, 32, &[zero; 32], |build, k, carried| {
        let mut sums = carried.to_vec();
        let tile = scaled(build, k, 1024);
        for (global, shared) in [(a, base_a), (b, base_b)] {
            for half in 0..2 {
                let index = scaled(build, in_block, 4);
                let offset = build.i32(512 * half);
                let index = add(build, index, offset);
                let to = scaled(build, index, 4);
                let to = add(build, to, shared);
                let index = add(build, index, tile);
                let at = element(build, global, index);
                let values = build.load(Space::Global, access, DType::F32, 4, at, None);
                build.store(Space::Shared, access, to, None, &values);
            }
        }
        build.barrier(BarrierScope::Block);
        for k in 0..16 {
            let base = build.i32(64 * k);
            let read = |build: &mut Builder, shared, first| {
                let index = add(build, first, base);
                let at = scaled(build, index, 4);
                let at = add(build, at, shared);
                build.load(Space::Shared, access, DType::F32, 4, at, None)
            };
            let first = scaled(build, row, 4);
            let left = read(build, base_a, first);
            let first = scaled(build, column, 8);
            let mut right = read(build, base_b, first).to_vec();
            let four = build.i32(4);
            let first = add(build, first, four);
            right.extend(read(build, base_b, first));
            for (i, &x) in left.iter().enumerate() {
                for (j, &y) in right.iter().enumerate() {
                    sums[8 * i + j] = build.fma(x, y, sums[8 * i + j]);
                }
            }
        }
        build.barrier(BarrierScope::Block);
        sums
    });
    let index = thread(&mut build);
    let index = scaled(&mut build, index, 32);
    for (quad, values) in sums.chunks(4).enumerate() {
        let offset = build.i32(4 * quad as i32);
        let at = add(&mut build, index, offset);
        let at = element(&mut build, out, at);
        build.store(Space::Global, access, at, None, values);
    }
    build.finish()
}
