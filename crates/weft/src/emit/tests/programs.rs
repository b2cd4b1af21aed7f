//! Small programs that between them use everything.

use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::cache::{Cache, CacheModifier, Eviction};
use crate::dtype::DType;
use crate::emit::ptx::Target;
use crate::lane::{
    Access, AtomicAccess, BarrierScope, Builder, Form, Fragments, IdKind, Matrix, MatrixMultiply,
    Op, Param, Program, ScaledMultiply, Space, Value, Words,
};
use crate::location::{Location, Locations};
use crate::scalar::{self, Binary, Cast, Compare, Rounding, Unary};
use smallvec::smallvec;

pub(in crate::emit) fn target(name: &str) -> &'static Target {
    Target::by_name(name).unwrap()
}

pub(in crate::emit) fn pointer(name: &str, pointee: DType) -> Param {
    Param { name: name.into(), dtype: DType::I64, pointee: Some(pointee), divisibility: 16 }
}

pub(in crate::emit) fn argument(name: &str, dtype: DType) -> Param {
    Param { name: name.into(), dtype, pointee: None, divisibility: 1 }
}

/// `base + bytes * index`.
pub(in crate::emit) fn element(
    build: &mut Builder,
    base: Value,
    index: Value,
    bytes: u32,
) -> Value {
    let index = build.cast(Cast::ExtS, index, DType::I64);
    let bytes = build.constant(DType::I64, u64::from(bytes));
    let offset = build.binary(Binary::Mul, index, bytes);
    build.binary(Binary::Add, base, offset)
}

/// A program that loads elements of these types at the lane's index, computes, and stores the result.
pub(in crate::emit) fn elementwise(
    name: &str,
    from: &[DType],
    compute: impl FnOnce(&mut Builder, &[Value]) -> Value,
) -> Program {
    let mut build = Builder::new(name, 1, 5);
    let lane = build.id(IdKind::Lane);
    let values: Vec<Value> = from
        .iter()
        .enumerate()
        .map(|(index, &dtype)| {
            let stored = if dtype == DType::I1 { DType::I8 } else { dtype };
            let base = build.param(pointer(&format!("in{index}"), stored));
            let address = element(&mut build, base, lane, stored.bytes());
            let value = build.load(Space::Global, Access::default(), stored, 1, address, None)[0];
            build.cast(Cast::Trunc, value, dtype)
        })
        .collect();
    let mut result = compute(&mut build, &values);
    if build.dtype(result) == DType::I1 {
        result = build.cast(Cast::ExtU, result, DType::I8);
    }
    let dtype = build.dtype(result);
    let out = build.param(pointer("out", dtype));
    let address = element(&mut build, out, lane, dtype.bytes());
    build.store(Space::Global, Access::default(), address, None, &[result]);
    build.finish()
}

/// One small program for every operation that a type has.
pub(in crate::emit) fn every_operation() -> Vec<Program> {
    let mut programs = Vec::new();
    for dtype in DType::ALL {
        for &op in Unary::ALL {
            if scalar::unary(op, dtype).is_some() {
                let name = format!("unary_{op}_{dtype}");
                programs.push(elementwise(&name, &[dtype], |b, x| b.unary(op, x[0])));
            }
        }
        for &op in Binary::ALL {
            if scalar::binary(op, dtype).is_none() {
                continue;
            }
            let name = format!("binary_{op}_{dtype}");
            programs.push(elementwise(&name, &[dtype; 2], |b, x| b.binary(op, x[0], x[1])));
            let name = format!("binary_{op}_{dtype}_by_constant");
            programs.push(elementwise(&name, &[dtype], |b, x| {
                let three = b.constant(dtype, scalar::from_f64(dtype, 3.0));
                b.binary(op, x[0], three)
            }));
        }
        for &op in Compare::ALL {
            if scalar::compare(op, dtype).is_some() {
                let name = format!("compare_{op}_{dtype}");
                programs.push(elementwise(&name, &[dtype; 2], |b, x| b.compare(op, x[0], x[1])));
            }
        }
        let name = format!("select_{dtype}");
        programs.push(elementwise(&name, &[DType::I1, dtype, dtype], |b, x| {
            b.select(x[0], x[1], x[2])
        }));
        let name = format!("fma_{dtype}");
        // Floats of eight bits are not computed with.
        if !dtype.is_f8() {
            programs.push(elementwise(&name, &[dtype; 3], |b, x| b.fma(x[0], x[1], x[2])));
        }
        if dtype.is_f8() {
            let name = format!("widen_pair_{dtype}");
            programs.push(elementwise(&name, &[DType::I16], |b, x| b.widen_pair(dtype, x[0])));
        }
        if dtype.is_f8() || matches!(dtype, DType::F16 | DType::BF16) {
            let name = format!("round_pair_{dtype}");
            programs
                .push(elementwise(&name, &[DType::F32; 2], |b, x| b.round_pair(dtype, x[0], x[1])));
        }
        for &rounding in Rounding::ALL {
            if matches!(dtype, DType::F32 | DType::F64) {
                let name = format!("fma_{rounding}_{dtype}");
                programs.push(elementwise(&name, &[dtype; 3], |b, x| {
                    b.fma_toward(rounding, x[0], x[1], x[2])
                }));
            }
        }
        let name = format!("shuffle_{dtype}");
        programs.push(elementwise(&name, &[dtype, DType::I32], |b, x| {
            let swapped = b.shuffle_xor(x[0], 5);
            b.shuffle_index(swapped, x[1])
        }));
        for &op in Cast::ALL {
            for to in DType::ALL {
                if scalar::cast_applies(op, dtype, to) {
                    let name = format!("cast_{op}_{dtype}_{to}");
                    // The builder leaves out a cast to the same type; the language has it.
                    programs.push(elementwise(&name, &[dtype], |b, x| {
                        b.emit(Op::Cast(op), smallvec![x[0]], &[to])[0]
                    }));
                }
            }
        }
    }
    programs.extend(every_matrix_multiply(|fragments| fragments == Fragments::Mma));
    programs
}

/// Every shape and types of products of matrices that some instructions have.
pub(in crate::emit) fn every_matrix_multiply(of: impl Fn(Fragments) -> bool) -> Vec<Program> {
    let forms = MatrixMultiply::every().into_iter().filter(|form| of(form.fragments));
    forms.map(matrix_multiply).collect()
}

/// Each lane's words of three matrices from memory, multiplied and stored.
pub(in crate::emit) fn matrix_multiply(form: MatrixMultiply) -> Program {
    let MatrixMultiply { fragments, rows, columns, summed, left, right, sum } = form;
    let name = format!("matrix_{rows}x{columns}x{summed}_{left}_{right}_{sum}");
    let mut build = Builder::new(&name, 1, fragments.lanes_log2());
    let [(_, a), (_, b), (place, c)] = matrices(&mut build, form.words());
    let sums = build.matrix_multiply(form, [&a, &b, &c]);
    stored(&mut build, place, &sums);
    build.finish()
}

/// Every product of matrices with scales, these in all bytes of a word.
pub(in crate::emit) fn every_scaled_multiply() -> Vec<Program> {
    let forms = ScaledMultiply::every().into_iter().enumerate();
    let program = |(index, form): (usize, ScaledMultiply)| {
        let bytes = [index % 4, index / 4 % 4].map(|byte| byte as u8);
        let form = ScaledMultiply { bytes, ..form };
        let name =
            format!("matrix_scaled_{}_{}_{}", form.side, form.left.word(), form.right.word());
        let mut build = Builder::new(&name, 1, ScaledMultiply::LANES_LOG2);
        let [(_, a), (_, b), (place, c)] = matrices(&mut build, form.words());
        let scales = Words { count: 2, dtype: DType::I32, numbers: 4 };
        let [(_, scales)] = matrices(&mut build, [scales]);
        let sums = build.scaled_multiply(form, [&a, &b, &c], [scales[0], scales[1]]);
        stored(&mut build, place, &sums);
        build.finish()
    };
    forms.map(program).collect()
}

/// Each lane's words of some matrices, loaded, and where they are.
fn matrices<const N: usize>(build: &mut Builder, all: [Words; N]) -> [(Value, Vec<Value>); N] {
    let lane = build.id(IdKind::Lane);
    all.map(|words| {
        let base = build.param(pointer("matrix", words.dtype));
        let bytes = words.dtype.bytes();
        let place = element(build, base, lane, bytes * words.count as u32);
        let loaded = (0..words.count as i32).map(|word| {
            let access = Access { offset: word * bytes as i32, ..Access::default() };
            build.load(Space::Global, access, words.dtype, 1, place, None)[0]
        });
        (place, loaded.collect())
    })
}

/// Stores a lane's words where they came from.
fn stored(build: &mut Builder, place: Value, words: &[Value]) {
    for (word, &value) in words.iter().enumerate() {
        let offset = word as i32 * build.dtype(value).bytes() as i32;
        let access = Access { offset, ..Access::default() };
        build.store(Space::Global, access, place, None, &[value]);
    }
}

/// Loads and stores of every type, width, space and predicate; every atomic.
pub(in crate::emit) fn every_memory_operation() -> Vec<Program> {
    let mut programs = Vec::new();
    for dtype in DType::ALL.into_iter().filter(|&dtype| dtype != DType::I1) {
        for count in [1usize, 2, 4, 8, 16].into_iter().filter(|n| n * dtype.bytes() as usize <= 16)
        {
            programs.push(copy(dtype, count, Access::default()));
            programs.push(copy_behind_base(dtype, count, Access::default()));
        }
        for &op in Rmw::ALL {
            if op.apply(dtype, 0, 0).is_some() {
                programs.push(atomic(dtype, Some(op)));
            }
        }
        programs.push(atomic(dtype, None));
        for count in [2, 4, 8].into_iter().filter(|n| n * dtype.bytes() <= 16) {
            if Rmw::FAdd.may_be_vector(dtype) {
                programs.push(vector_atomic(dtype, count as usize));
            }
        }
    }
    let modifiers = [
        CacheModifier::None,
        CacheModifier::All,
        CacheModifier::Global,
        CacheModifier::Streaming,
        CacheModifier::Volatile,
        CacheModifier::WriteBack,
        CacheModifier::WriteThrough,
    ];
    for modifier in modifiers {
        for eviction in [Eviction::Normal, Eviction::First, Eviction::Last] {
            let access =
                Access { cache: Cache { modifier, eviction }, offset: -16, ..Access::default() };
            programs.push(copy(DType::F16, 8, access));
            programs.push(copy_behind_base(DType::F16, 8, Access { offset: 4112, ..access }));
        }
    }
    programs.push(copy(DType::I32, 4, Access { volatile: true, ..Access::default() }));
    programs.extend(every_matrix_move());
    programs
}

/// Every form and count of matrix moves, for every type.
fn every_matrix_move() -> Vec<Program> {
    let mut programs = Vec::new();
    for (element_bits, rows, transposed) in
        [(16, 8, false), (16, 8, true), (8, 8, true), (8, 16, true)]
    {
        let matrix = Matrix { element_bits, rows, transposed };
        for dtype in DType::ALL.into_iter().filter(|t| *t != DType::I1 && t.bytes() <= 4) {
            for loads in [true, false] {
                for bytes in [4, 8, 16].into_iter().filter(|&n| matrix.count(loads, n).is_some()) {
                    programs.push(matrix_move(dtype, matrix, loads, bytes));
                }
            }
        }
    }
    programs
}

/// Loads or stores matrices, `bytes` bytes in each lane; plain accesses fill and empty the memory.
pub(in crate::emit) fn matrix_move(
    dtype: DType,
    matrix: Matrix,
    loads: bool,
    bytes: u32,
) -> Program {
    let Matrix { element_bits, rows, transposed } = matrix;
    let name = format!("matrix_{dtype}_{element_bits}_{rows}_{transposed}_{loads}_{bytes}");
    let mut build = Builder::new(&name, 1, 5);
    let x = build.param(pointer("x", dtype));
    let count = (bytes / dtype.bytes()) as usize;
    let lane = build.id(IdKind::Lane);
    let place = element(&mut build, x, lane, bytes);
    let plain = Access::default();
    let moved = Access { form: Form::Matrix(matrix), ..plain };
    let piece = build.shared(32 * 16, 16, BarrierScope::Warp);
    let base = build.shared_base(piece);
    let [row, own] = [16, bytes].map(|bytes| {
        let bytes = build.i32(bytes as i32);
        let offset = build.binary(Binary::Mul, lane, bytes);
        build.binary(Binary::Add, base, offset)
    });
    let values = build.load(Space::Global, plain, dtype, count, place, None);
    let (stores, to) = if loads { (plain, own) } else { (moved, row) };
    build.store(Space::Shared, stores, to, None, &values);
    build.barrier(BarrierScope::Warp);
    let (loads, from) = if loads { (moved, row) } else { (plain, own) };
    let values = build.load(Space::Shared, loads, dtype, count, from, None);
    build.store(Space::Global, plain, place, None, &values);
    build.finish()
}

/// Global to shared to global memory; the first load and the last store are predicated.
pub(in crate::emit) fn copy(dtype: DType, count: usize, access: Access) -> Program {
    let Access { form: _, offset, predicated: _, cache, volatile } = access;
    let Cache { modifier, eviction } = cache;
    let name = format!("copy_{count}_{dtype}_{modifier:?}_{eviction:?}_{volatile}_{offset}");
    let mut build = Builder::new(&name, 1, 5);
    let x = build.param(pointer("x", dtype));
    let guard = build.param(argument("guard", DType::I1));
    let lane = build.id(IdKind::Lane);
    let bytes = count as u32 * dtype.bytes();
    let from = element(&mut build, x, lane, bytes);
    let other = build.constant(dtype, scalar::from_f64(dtype, 1.0));
    let others = vec![other; count];
    let values = build.load(Space::Global, access, dtype, count, from, Some((guard, &others)));
    let piece = build.shared(32 * bytes, bytes, BarrierScope::Block);
    let base = build.shared_base(piece);
    let size = build.i32(bytes as i32);
    let offset = build.binary(Binary::Mul, lane, size);
    let near = build.binary(Binary::Add, base, offset);
    build.store(Space::Shared, access, near, None, &values);
    build.barrier(BarrierScope::Block);
    build.barrier(BarrierScope::Warp);
    let plain = build.load(Space::Shared, access, dtype, count, near, None);
    let others: Vec<Value> = values.iter().rev().copied().collect();
    let masked = build.load(Space::Shared, access, dtype, count, near, Some((guard, &others)));
    build.store(Space::Global, access, from, None, &plain);
    build.store(Space::Global, access, from, Some(guard), &masked);
    build.finish()
}

/// Global to global memory, by a base and an offset, all predicated: where the predicate does not hold, half of
/// what is loaded is one, the other half zero.
pub(in crate::emit) fn copy_behind_base(dtype: DType, count: usize, access: Access) -> Program {
    let Access { offset, cache: Cache { modifier, eviction }, .. } = access;
    let name = format!("behind_{count}_{dtype}_{modifier:?}_{eviction:?}_{offset}");
    let mut build = Builder::new(&name, 1, 5);
    let x = build.param(pointer("x", dtype));
    let lane = build.id(IdKind::Lane);
    let most = build.i32(9);
    let guard = build.compare(Compare::Slt, lane, most);
    let size = build.i32((count as u32 * dtype.bytes()) as i32);
    let offset = build.binary(Binary::Mul, lane, size);
    let place = build.offset(x, offset);
    let [zero, one] = [0.0, 1.0].map(|x| build.constant(dtype, scalar::from_f64(dtype, x)));
    let others: Vec<Value> = (0..count).map(|place| [zero, one][place % 2]).collect();
    let values = build.load(Space::Global, access, dtype, count, place, Some((guard, &others)));
    let values: Vec<Value> = values.iter().rev().copied().collect();
    build.store(Space::Global, access, place, Some(guard), &values);
    build.finish()
}

/// Sums of so many neighbours in every order and scope, with and without a predicate.
pub(in crate::emit) fn vector_atomic(dtype: DType, count: usize) -> Program {
    let mut build = Builder::new(&format!("sums_{dtype}x{count}"), 1, 5);
    let x = build.param(pointer("x", dtype));
    let guard = build.param(argument("guard", DType::I1));
    let value = build.param(argument("value", dtype));
    let (space, op) = (Space::Global, Rmw::FAdd);
    for &order in Order::ALL {
        for &scope in Scope::ALL {
            for predicated in [false, true] {
                let mut operands = smallvec![x];
                operands.extend(predicated.then_some(guard));
                operands.extend(core::iter::repeat_n(value, count));
                let op =
                    Op::Atomic(AtomicAccess { space, op: op.into(), order, scope, predicated });
                let old = build.emit(op, operands, &vec![dtype; count]);
                // Printers leave out what nobody reads.
                if scope != Scope::Block {
                    build.store(space, Access::default(), x, None, &old);
                }
            }
        }
    }
    build.finish()
}

/// An atomic (none: compare-and-swap) in both spaces, in every order and scope.
pub(in crate::emit) fn atomic(dtype: DType, op: Option<Rmw>) -> Program {
    let name = format!("atomic_{}_{dtype}", op.map_or("cas", Rmw::name));
    let mut build = Builder::new(&name, 1, 5);
    let x = build.param(pointer("x", dtype));
    let guard = build.param(argument("guard", DType::I1));
    let value = build.param(argument("value", dtype));
    let piece = build.shared(16, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    for (space, address) in [(Space::Global, x), (Space::Shared, base)] {
        for &order in Order::ALL {
            for &scope in Scope::ALL {
                let predicated = scope == Scope::Gpu;
                let mut operands = smallvec![address];
                operands.extend(predicated.then_some(guard));
                operands.push(value);
                let op = match op {
                    Some(op) => {
                        Op::Atomic(AtomicAccess { space, op: op.into(), order, scope, predicated })
                    }
                    None => {
                        operands.push(value);
                        Op::Atomic(AtomicAccess {
                            op: Atomic::Cas,
                            space,
                            order,
                            scope,
                            predicated,
                        })
                    }
                };
                let old = build.emit(op, operands, &[dtype])[0];
                // Printers leave out what nobody reads.
                if scope != Scope::Block {
                    build.store(Space::Global, Access::default(), x, None, &[old]);
                }
            }
        }
    }
    build.finish()
}

/// Adds two vectors of f16, eight elements a thread.
pub(in crate::emit) fn vector_add() -> Program {
    let mut build = Builder::new("add_kernel", 4, 5);
    let mut locations = Locations::default();
    let line = |line| Location::File { file: "add.py".into(), line, column: 1 };
    let (loads, sums) = (locations.push(line(7)), locations.push(line(9)));
    build.set_locations(locations);
    build.set_loc(loads);
    let [x, y, out] =
        ["x_ptr", "y_ptr", "out_ptr"].map(|name| build.param(pointer(name, DType::F16)));
    let n = build.param(argument("n", DType::I32));
    let (lane, warp, block) =
        (build.id(IdKind::Lane), build.id(IdKind::Warp), build.id(IdKind::Block(0)));
    let [eight, tile, row] = [8, 1024, 256].map(|value| build.i32(value));
    let index = build.binary(Binary::Mul, lane, eight);
    let warps = build.binary(Binary::Mul, warp, row);
    let blocks = build.binary(Binary::Mul, block, tile);
    let index = build.binary(Binary::Add, index, warps);
    let index = build.binary(Binary::Add, index, blocks);
    let inside = build.compare(Compare::Slt, index, n);
    let zero = build.constant(DType::F16, 0);
    let [x, y, out] = [x, y, out].map(|base| element(&mut build, base, index, 2));
    let others = [zero; 8];
    let [x, y] = [x, y].map(|address| {
        build.load(
            Space::Global,
            Access::default(),
            DType::F16,
            8,
            address,
            Some((inside, &others)),
        )
    });
    build.set_loc(sums);
    let sum: Vec<Value> =
        x.iter().zip(&y).map(|(&x, &y)| build.binary(Binary::Add, x, y)).collect();
    build.store(Space::Global, Access::default(), out, Some(inside), &sum);
    build.finish()
}

/// Sums Fibonacci numbers in a loop that swaps its carried values, and branches inside.
pub(in crate::emit) fn fibonacci() -> Program {
    let mut build = Builder::new("fibonacci", 1, 5);
    let n = build.param(argument("n", DType::I32));
    let out = build.param(pointer("out", DType::I32));
    let [zero, one] = [0, 1].map(|value| build.i32(value));
    let round = build.new_loop(&[zero, one, zero], &[DType::I32]);
    let [a, b, i] = build.open_region(&[DType::I32; 3])[..] else { unreachable!() };
    let done = build.compare(Compare::Sge, i, n);
    build.break_if(round, done, &[a]);
    let odd = build.cast(Cast::Trunc, i, DType::I1);
    build.open_region(&[]);
    let sum = build.binary(Binary::Add, a, b);
    let then = build.close_region(Op::Yield, &[sum]);
    build.open_region(&[]);
    let otherwise = build.close_region(Op::Yield, &[a]);
    let sum = build.if_(odd, then, otherwise, &[DType::I32])[0];
    build.open_region(&[]);
    build.store(Space::Global, Access::default(), out, None, &[sum]);
    let then = build.close_region(Op::Yield, &[]);
    build.open_region(&[]);
    let otherwise = build.close_region(Op::Yield, &[]);
    build.if_(odd, then, otherwise, &[]);
    let next = build.binary(Binary::Add, i, one);
    let body = build.close_region(Op::Continue, &[b, a, next]);
    let result = build.place_loop(round, body)[0];
    build.store(Space::Global, Access::default(), out, None, &[result]);
    build.finish()
}

pub(in crate::emit) fn linear() -> Program {
    elementwise("linear", &[DType::I32], |b, x| {
        let swizzled = b.linear(&[1, 2, 4, 8 ^ 1, 16 ^ 2, 32 ^ 4], x[0]);
        let gray: Vec<u32> = (0..32).map(|bit| 1 << bit | (1u32 << bit) >> 1).collect();
        b.linear(&gray, swizzled)
    })
}
