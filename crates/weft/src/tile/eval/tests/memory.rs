//! Loads, stores, atomics and their faults.

use super::build::{Argument, Build, launch, place, tensor};
use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::dtype::DType;
use crate::scalar::{Binary, Compare};
use crate::tile::{OpKind, Precision, Type, Value};

fn count(n: usize) -> Argument {
    Argument::Array(DType::I32, (0..n).map(|i| i as f64).collect())
}

fn filled(n: usize, value: f64) -> Argument {
    Argument::Array(DType::I32, vec![value; n])
}

#[test]
fn a_masked_load_gives_other_or_zero_and_does_not_touch_memory() {
    for with_other in [false, true] {
        let mut b = Build::new();
        let (x, out) = (b.pointer(DType::I32), b.pointer(DType::I32));
        let five = b.constant(DType::I32, 5.0);
        let (range, limit) = (b.range(8), b.splat(five, &[8]));
        let mask = b.compare(Compare::Slt, range, limit);
        let pointers = b.at(x, range);
        let mut operands = vec![pointers, mask];
        if with_other {
            let minus = b.constant(DType::I32, -1.0);
            operands.push(b.splat(minus, &[8]));
        }
        let loaded = b.load(&operands);
        b.store_array(out, loaded);
        // The array ends where the mask does.
        let outcome = launch(&b.finish(), 1, vec![count(5), filled(8, 9.0)]).unwrap();
        assert_eq!(outcome.report.findings, []);
        let rest = if with_other { -1.0 } else { 0.0 };
        assert_eq!(outcome.array(1), [0.0, 1.0, 2.0, 3.0, 4.0, rest, rest, rest]);
    }
}

#[test]
fn accesses_outside_are_found_give_zero_and_write_nothing() {
    let mut b = Build::new();
    let (x, out) = (b.pointer(DType::I32), b.pointer(DType::I32));
    let program = b.program();
    let eight = b.constant(DType::I32, 8.0);
    let start = b.binary(Binary::Mul, program, eight);
    let (range, starts) = (b.range(8), b.splat(start, &[8]));
    let offsets = b.binary(Binary::Add, starts, range);
    let (from, to) = (b.at(x, offsets), b.at(out, offsets));
    let loaded = b.load(&[from]);
    let stored = b.store(&[to, loaded]);
    let outcome = launch(&b.finish(), 2, vec![count(13), filled(15, 9.0)]).unwrap();
    let mut wanted: Vec<f64> = (0..13).map(f64::from).collect();
    wanted.extend([0.0; 2]);
    assert_eq!(outcome.array(1), wanted);
    let [load, store] = &outcome.report.findings[..] else { panic!() };
    assert_eq!((load.instance, load.element, load.count), ([1, 0, 0], 5, 3));
    assert_eq!(
        load.to_string(),
        "load outside of memory: 4 bytes at byte 52 of `array`, which has 52 (element 5 of \
         instance 1,0,0, the first of 3 accesses)"
    );
    assert_eq!((store.op, store.loc, store.count), (stored, place(stored), 1));
}

#[test]
fn stores_are_masked_and_the_last_element_wins() {
    let mut b = Build::new();
    let out = b.pointer(DType::I32);
    let range = b.range(8);
    let two = b.constant(DType::I32, 2.0);
    let twos = b.splat(two, &[8]);
    let halves = b.binary(Binary::DivS, range, twos);
    let pointers = b.at(out, halves);
    let seven = b.constant(DType::I32, 7.0);
    let sevens = b.splat(seven, &[8]);
    let mask = b.compare(Compare::Ne, range, sevens);
    b.store(&[pointers, range, mask]);
    let outcome = launch(&b.finish(), 1, vec![filled(4, 9.0)]).unwrap();
    assert_eq!(outcome.array(0), [1.0, 3.0, 5.0, 6.0]);
}

fn rmw(op: Rmw) -> OpKind {
    OpKind::Atomic { op: op.into(), order: Order::AcqRel, scope: Scope::Gpu }
}

#[test]
fn atomics_go_element_by_element_and_give_the_old_value() {
    // Two elements of four add into each place.
    let mut b = Build::new();
    let (x, old) = (b.pointer(DType::I32), b.pointer(DType::I32));
    let range = b.range(8);
    let three = b.constant(DType::I32, 3.0);
    let threes = b.splat(three, &[8]);
    let places = b.binary(Binary::And, range, threes);
    let pointers = b.at(x, places);
    let seven = b.constant(DType::I32, 7.0);
    let sevens = b.splat(seven, &[8]);
    let mask = b.compare(Compare::Ne, range, sevens);
    let before = b.op(rmw(Rmw::Add), &[pointers, range, mask], &tensor(DType::I32, &[8]));
    b.store_array(old, before);
    let outcome = launch(&b.finish(), 1, vec![filled(4, 100.0), filled(8, 9.0)]).unwrap();
    assert_eq!(outcome.array(0), [104.0, 106.0, 108.0, 103.0]);
    assert_eq!(outcome.array(1), [100.0, 100.0, 100.0, 100.0, 100.0, 101.0, 102.0, 0.0]);
}

#[test]
fn every_read_modify_write_does_what_it_says() {
    let signed = [
        (Rmw::And, -6, 12, 8),
        (Rmw::Or, 5, 8, 13),
        (Rmw::Xor, 5, 1, 4),
        (Rmw::Add, 5, -7, -2),
        (Rmw::Max, -5, 3, 3),
        (Rmw::Min, -5, 3, -5),
        (Rmw::UMax, -5, 3, -5),
        (Rmw::UMin, -5, 3, 3),
        (Rmw::Exch, -5, 3, 3),
    ];
    for (op, before, operand, after) in signed {
        let mut b = Build::new();
        let x = b.pointer(DType::I32);
        let operand = b.constant(DType::I32, f64::from(operand));
        b.op(rmw(op), &[x, operand], &Type::scalar(DType::I32));
        let outcome = launch(&b.finish(), 1, vec![filled(1, f64::from(before))]).unwrap();
        assert_eq!(outcome.array(0), [f64::from(after)], "{op}");
    }
    let mut b = Build::new();
    let x = b.pointer(DType::F16);
    let operand = b.constant(DType::F16, 0.25);
    b.op(rmw(Rmw::FAdd), &[x, operand], &Type::scalar(DType::F16));
    let outcome = launch(&b.finish(), 3, vec![Argument::Array(DType::F16, vec![1.0])]).unwrap();
    assert_eq!(outcome.array(0), [1.75]);
}

#[test]
fn compare_and_swap_changes_what_it_expected() {
    let mut b = Build::new();
    let (x, old) = (b.pointer(DType::I32), b.pointer(DType::I32));
    let range = b.range(4);
    let pointers = b.at(x, range);
    let two = b.constant(DType::I32, 2.0);
    let ten = b.constant(DType::I32, 10.0);
    let (twos, tens) = (b.splat(two, &[4]), b.splat(ten, &[4]));
    let kind = OpKind::Atomic { op: Atomic::Cas, order: Order::AcqRel, scope: Scope::Gpu };
    let before = b.op(kind, &[pointers, twos, tens], &tensor(DType::I32, &[4]));
    b.store_array(old, before);
    let outcome = launch(&b.finish(), 1, vec![count(4), filled(4, 9.0)]).unwrap();
    assert_eq!(outcome.array(0), [0.0, 1.0, 10.0, 3.0]);
    assert_eq!(outcome.array(1), [0.0, 1.0, 2.0, 3.0]);
}

/// The product of two square matrices of `n` rows in tiles, one instance a tile, against the sums.
fn matrix_product(n: u64, tile: [u64; 3]) {
    let [tile_m, tile_n, tile_k] = tile;
    let mut b = Build::new();
    let [left, right, out] = [DType::F16, DType::F16, DType::F32].map(|dtype| b.pointer(dtype));
    let program = b.program();
    let [zero, one, rounds, columns, width] =
        [0, 1, n / tile_k, n / tile_n, n].map(|v| b.constant(DType::I32, v as f64));
    let [height, breadth, depth] = tile.map(|v| b.constant(DType::I32, v as f64));
    let tile_row = b.binary(Binary::DivS, program, columns);
    let tile_column = b.binary(Binary::RemS, program, columns);
    let row = b.binary(Binary::Mul, tile_row, height);
    let column = b.binary(Binary::Mul, tile_column, breadth);
    // The places of a tile of `shape` whose first row and column are given.
    let places = |b: &mut Build, base, start: [Value; 2], shape: [u64; 2]| {
        let [rows, columns] = [0u8, 1].map(|axis| {
            let extent = shape[usize::from(axis)];
            let (range, starts) = (b.range(extent), b.splat(start[usize::from(axis)], &[extent]));
            let line = b.binary(Binary::Add, range, starts);
            let thin = if axis == 0 { [extent, 1] } else { [1, extent] };
            let expand = OpKind::ExpandDims { axis: 1 - axis };
            let line = b.op(expand, &[line], &tensor(DType::I32, &thin));
            b.op(OpKind::Broadcast, &[line], &tensor(DType::I32, &shape))
        });
        let widths = b.splat(width, &shape);
        let rows = b.binary(Binary::Mul, rows, widths);
        let offsets = b.binary(Binary::Add, rows, columns);
        b.at(base, offsets)
    };
    let ty = tensor(DType::F32, &[tile_m, tile_n]);
    let start = b.op(OpKind::Constant(0), &[], &ty);
    let sum = b.for_loop([zero, rounds, one], &[start], |b, p| {
        let k = b.binary(Binary::Mul, p[0], depth);
        let x = places(b, left, [row, k], [tile_m, tile_k]);
        let y = places(b, right, [k, column], [tile_k, tile_n]);
        let (x, y) = (b.load(&[x]), b.load(&[y]));
        vec![b.op(OpKind::Dot(Precision::Ieee), &[x, y, p[1]], &ty)]
    });
    let target = places(&mut b, out, [row, column], [tile_m, tile_n]);
    b.store(&[target, sum[0]]);
    let data = |seed: u64| -> Vec<f64> {
        (0..n * n).map(|i| ((i * 31 + seed) % 13) as f64 - 6.0).collect()
    };
    let (x, y) = (data(1), data(2));
    let arguments = vec![
        Argument::Array(DType::F16, x.clone()),
        Argument::Array(DType::F16, y.clone()),
        Argument::Array(DType::F32, vec![-1.0; (n * n) as usize]),
    ];
    let grid = (n / tile_m * (n / tile_n)) as u32;
    let got = launch(&b.finish(), grid, arguments).unwrap().array(2);
    let n = n as usize;
    for (place, got) in got.into_iter().enumerate() {
        let (i, j) = (place / n, place % n);
        let wanted: f64 = (0..n).map(|k| x[i * n + k] * y[k * n + j]).sum();
        assert_eq!(got, wanted, "at {i},{j}");
    }
}

#[test]
fn a_matrix_product_in_tiles() {
    matrix_product(32, [16, 8, 4]);
}

/// A product as large as users try first; about two seconds without optimisation.
#[test]
fn a_large_matrix_product_in_tiles() {
    matrix_product(256, [64, 64, 16]);
}
