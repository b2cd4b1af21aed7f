//! All pairs of common layouts of a 64 x 64 tile, against what people use: one swizzle over a plain
//! tile, and the modes of the tensor memory accelerator.

use std::{env, vec::Vec};

use super::{least, sm_90};
use crate::{
    Layout,
    access::Kind,
    f2::Matrix,
    family::{Blocked, NvidiaMma, NvmmaShared},
    interop::cute::Swizzle,
    plan::swizzle::{Access, Certificate, Meter, Problem, Verdict, check, replay, solve},
};

const SHAPE: [u64; 2] = [64, 64];

/// Blocked layouts and fragments of four warps, and all of them transposed.
fn layouts() -> Vec<Layout> {
    let blocked = |size: u64, threads: [u64; 2]| {
        Blocked::new(&[1, size], &threads, &[4, 1], &[1, 0]).layout(&SHAPE).unwrap()
    };
    let fragment = |version_major, warps: [u64; 2], instr_shape: [u64; 2]| {
        let (warps_per_cta, instr_shape) = (warps.to_vec(), instr_shape.to_vec());
        let blocks = Vec::new();
        NvidiaMma { version_major, version_minor: 0, warps_per_cta, instr_shape, blocks }
            .layout(&SHAPE)
            .unwrap()
    };
    let mut all = Vec::new();
    for size in [1, 2, 4, 8] {
        let widest = if size == 8 { [4, 8] } else { [2, 16] };
        for threads in [widest, [8, 4], [16, 2]] {
            all.push(blocked(size, threads));
        }
    }
    all.push(fragment(2, [4, 1], [16, 8]));
    all.push(fragment(2, [2, 2], [16, 8]));
    all.push(fragment(2, [1, 4], [16, 8]));
    all.push(fragment(3, [4, 1], [16, 64]));
    let transposed: Vec<Layout> =
        all.iter().map(|layout| layout.transpose(&[1, 0]).unwrap()).collect();
    all.extend(transposed);
    all
}

/// Offsets of the plain tiles in rows and in columns, and of every single swizzle of them.
fn single_swizzles() -> Vec<Matrix> {
    let major = |rows: bool| {
        let columns: Vec<u64> =
            (0..12_u64).map(|b| 1 << if rows { b } else { (b + 6) % 12 }).collect();
        Matrix::new(12, &columns).unwrap()
    };
    let mut all: Vec<Matrix> = [true, false].map(major).to_vec();
    for swizzle in Swizzle::all(12) {
        for rows in [true, false] {
            let columns: Vec<u64> =
                major(rows).columns().iter().map(|&offset| swizzle.apply(offset)).collect();
            all.push(Matrix::new(12, &columns).unwrap());
        }
    }
    all
}

/// Offsets under every mode of the tensor memory accelerator, in rows and in columns.
fn tma_modes(element_bits: u64) -> Vec<Matrix> {
    let mut all = Vec::new();
    for bytes in [0, 32, 64, 128] {
        for transposed in [false, true] {
            let mode = NvmmaShared { transposed, ..NvmmaShared::new(bytes, element_bits) };
            if let Ok(layout) = mode.layout(&SHAPE) {
                all.push(layout.matrix().inverse().unwrap());
            }
        }
    }
    all
}

fn access(kind: Kind, layout: &Layout, matrix_moves: bool) -> Access {
    Access { matrix_moves, ..Access::new(kind, layout.clone()) }
}

fn problem(layouts: [&Layout; 2], element_bits: u32, matrices: bool) -> Problem<'static> {
    let [store, load] = layouts;
    let store = access(Kind::Store, store, matrices);
    let load = access(Kind::Load, load, matrices);
    Problem::new(sm_90(), element_bits, [store, load].to_vec())
}

/// What each layout takes under each map, for each kind of access.
fn costs(
    layouts: &[Layout],
    offsets: &[Matrix],
    element_bits: u32,
    matrices: bool,
) -> Vec<[Vec<u64>; 2]> {
    let cost = |layout: &Layout, kind| -> Vec<u64> {
        let access = access(kind, layout, matrices);
        let problem = Problem::new(sm_90(), element_bits, [access].to_vec());
        offsets.iter().map(|offsets| least(&problem, offsets)).collect()
    };
    layouts.iter().map(|layout| [cost(layout, Kind::Store), cost(layout, Kind::Load)]).collect()
}

fn best(store: &[u64], load: &[u64]) -> u64 {
    store.iter().zip(load).map(|(store, load)| store + load).min().unwrap()
}

/// How many of some pairs are at the bandwidth floor: by the solver, by the best single swizzle, and
/// by the best mode of the tensor memory accelerator.
#[derive(Default, Debug, PartialEq, Eq)]
struct Counted {
    pairs: u32,
    solver: u32,
    single: u32,
    tma: u32,
}

/// Every `stride`th pair.
fn count(element_bits: u32, stride: usize, matrices: bool) -> Counted {
    let layouts = layouts();
    let floor = 2 * (4096 / 4) * u64::from(element_bits) / 8 / 128;
    let all = layouts.len();
    let pairs: Vec<(usize, usize)> = (0..all * all)
        .map(|index| (index / all, index % all))
        .filter(|(a, b)| a != b)
        .step_by(stride)
        .collect();
    let single = costs(&layouts, &single_swizzles(), element_bits, matrices);
    let tma = costs(&layouts, &tma_modes(element_bits.into()), element_bits, matrices);
    let mut counted = Counted::default();
    for (a, b) in pairs {
        let problem = problem([&layouts[a], &layouts[b]], element_bits, matrices);
        let solved = solve(&problem).unwrap();
        assert_eq!(check(&problem, &solved), Ok(Verdict::Optimal));
        let offsets = solved.memory.matrix().inverse().unwrap();
        assert_eq!(least(&problem, &offsets), solved.total);
        let measured = Meter::new(&problem).unwrap().measure(&solved.memory).unwrap();
        assert_eq!(measured, (solved.total, solved.uses.clone()));
        assert!(solved.total <= replay(&problem).unwrap().total);
        let (plain, mode) = (best(&single[a][0], &single[b][1]), best(&tma[a][0], &tma[b][1]));
        assert!(solved.bound <= solved.total && solved.total <= plain.min(mode));
        assert_eq!(solved.certificate, Certificate::Dimensions);
        counted.pairs += 1;
        counted.solver += u32::from(solved.total == floor);
        counted.single += u32::from(plain == floor);
        counted.tma += u32::from(mode == floor);
    }
    counted
}

/// Every pair when `WEFT_LONG` is set (in a release build seconds), else every 29th; by plain vectors,
/// then with matrix moves.
#[test]
fn pairs_of_common_layouts() {
    let all = env::var_os("WEFT_LONG").is_some();
    let [pairs, stride] = if all { [992, 1] } else { [35, 29] };
    let expected = |solver, single, tma| Counted { pairs, solver, single, tma };
    let plain = if all {
        [expected(992, 496, 330), expected(944, 160, 216), expected(784, 40, 32)]
    } else {
        [expected(35, 19, 15), expected(35, 6, 7), expected(25, 2, 1)]
    };
    let matrices = if all {
        [expected(992, 496, 330), expected(984, 362, 474), expected(908, 40, 32)]
    } else {
        [expected(35, 19, 15), expected(35, 13, 15), expected(33, 2, 1)]
    };
    for (moves, expected) in [(false, plain), (true, matrices)] {
        let counted = [32, 16, 8].map(|bits| count(bits, stride as usize, moves));
        assert_eq!(counted, expected, "matrix moves: {moves}");
    }
}
