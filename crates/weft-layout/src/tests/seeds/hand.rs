//! "Swizzle by Hand, Swizzle by Algebra".

use std::{
    collections::{BTreeMap, BTreeSet},
    vec,
    vec::Vec,
};

use super::{sm_90, text};
use crate::{
    Layout, Space,
    access::{Kind, wavefronts},
    affine::{Padded, Padding},
    f2::{Matrix, Subspace},
    plan::{Preference, Side, swizzle},
    space::{LANE, OFFSET, REGISTER},
    testing::ways,
};

/// Bits of an element of the 16 x 32 tensor: the column n, then the row m.
const N: u64 = 1;
const M: u64 = 32;

/// The columns of offset = 32·m + (n ^ mask(m)), where row bit j folds into the column bits of
/// `masks[j]`.
fn offset(masks: [u64; 4], element: u64) -> u64 {
    let fold = (0..4).filter(|j| element >> (5 + j) & 1 == 1).fold(0, |f, j| f ^ masks[j]);
    element ^ fold
}

const STORE_LANES: [u64; 5] = [N, N << 1, N << 2, N << 3, N << 4];
const LOAD_LANES: [u64; 5] = [M, M << 1, M << 2, M << 3, N];

fn taken(masks: [u64; 4], lanes: [u64; 5], kind: Kind) -> u32 {
    let columns = lanes.map(|lane| offset(masks, lane) * 4);
    wavefronts(sm_90(), kind, &columns, 4, 0).unwrap().actual
}

const PLAIN: [u64; 4] = [0; 4];
const XOR_M: [u64; 4] = [1, 2, 4, 8];
const XOR_2M: [u64; 4] = [2, 4, 8, 16];

#[test]
fn s0_2_the_store_walks_down_columns_and_the_load_across_rows() {
    let store = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> \
                 [dim0: 16, dim1: 32]";
    let load = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> \
                [dim0: 16, dim1: 32]";
    let [store, load] = [store, load].map(text);
    assert_eq!((store.columns(LANE), load.columns(LANE)), (&STORE_LANES[..], &LOAD_LANES[..]));
    for (r, t) in (0..16).flat_map(|r| (0..32).map(move |t| (r, t))) {
        assert_eq!(element(&store, r, t), (r, t));
        assert_eq!(element(&load, r, t), (t % 16, 2 * r + t / 16));
    }
}

/// The row and column that register `register` of thread `thread` holds.
fn element(layout: &Layout, register: u64, thread: u64) -> (u64, u64) {
    let place = layout.ins().pack(&[(REGISTER, register), (LANE, thread)]).unwrap();
    let element = layout.apply_flat(place);
    (element / M, element % M)
}

#[test]
fn s0_3_row_major_reads_in_16_wavefronts() {
    assert_eq!(taken(PLAIN, STORE_LANES, Kind::Store), 1);
    assert_eq!(taken(PLAIN, LOAD_LANES, Kind::Load), 16);
}

#[test]
fn s0_4_xor_m_reads_in_2_wavefronts() {
    assert_eq!(taken(XOR_M, STORE_LANES, Kind::Store), 1);
    assert_eq!(taken(XOR_M, LOAD_LANES, Kind::Load), 2);
}

#[test]
fn s0_5_xor_2m_reads_in_1_wavefront() {
    assert_eq!(taken(XOR_2M, STORE_LANES, Kind::Store), 1);
    assert_eq!(taken(XOR_2M, LOAD_LANES, Kind::Load), 1);
}

#[test]
fn s0_6_padding_to_34_reads_in_1_wavefront_and_to_33_in_2() {
    let elements = Space::tensor(&[16, 32]).unwrap();
    let memory = Space::new(&[(OFFSET, 9)]).unwrap();
    let rows = Matrix::identity(9).unwrap();
    let rows = Layout::from_matrix(memory, elements.clone(), rows).unwrap();
    let warp = Space::new(&[(LANE, 5)]).unwrap();
    let taken = |padding: u64, lanes: &[u64]| {
        let padded = Padded::new(rows.clone(), &[Padding { interval: 32, padding }]).unwrap();
        let access = Layout::new(warp.clone(), elements.clone(), lanes).unwrap();
        ways(padded.compose(&access).unwrap().values(5).unwrap())
    };
    assert_eq!((taken(1, &STORE_LANES), taken(1, &LOAD_LANES)), (1, 2));
    assert_eq!((taken(2, &STORE_LANES), taken(2, &LOAD_LANES)), (1, 1));
}

#[test]
fn s0_7_neighbouring_columns_share_banks_or_not() {
    let banks = |masks, n: u64| -> BTreeSet<u64> {
        (0..16).map(|m| offset(masks, M * m + n) % 32).collect()
    };
    for r in 0..16 {
        let [even, odd] = [2 * r, 2 * r + 1].map(|n| banks(XOR_M, n));
        assert_eq!((even.len(), &even), (16, &odd));
        assert!(banks(XOR_2M, 2 * r).into_iter().eq((0..32).step_by(2)));
        assert!(banks(XOR_2M, 2 * r + 1).into_iter().eq((1..32).step_by(2)));
    }
}

/// And for all of them together; for every thirteenth set without optimisation.
#[test]
fn s0_9_store_is_free_for_every_single_toggle() {
    let store = |grid: u64| {
        let masks = [0, 5, 10, 15].map(|shift| grid >> shift & 31);
        assert_eq!(taken(masks, STORE_LANES, Kind::Store), 1);
    };
    (0..20).map(|toggle| 1 << toggle).for_each(store);
    (0..1 << 20).step_by(if cfg!(debug_assertions) { 13 } else { 1 }).for_each(store);
}

/// The most threads that ask one bank, each for an element of its own; `rows[m]` is what row `m` adds
/// to the column.
fn counted(rows: &[u8; 16], elements: impl Iterator<Item = (usize, u8)>) -> u8 {
    let mut asked = [0_u8; 32];
    for (m, n) in elements {
        asked[usize::from(n ^ rows[m])] += 1;
    }
    asked.into_iter().max().unwrap()
}

#[test]
fn s0_17_counting_and_algebra_agree_on_every_grid() {
    let mut histogram = BTreeMap::new();
    for grid in 0..1_u64 << 20 {
        let masks = [0, 5, 10, 15].map(|shift| grid >> shift & 31);
        let mut rows = [0_u8; 16];
        for m in 1..16_usize {
            rows[m] = rows[m & (m - 1)] ^ masks[m.trailing_zeros() as usize] as u8;
        }
        let rank = Subspace::from_vectors(&[masks[0], masks[1], masks[2], masks[3], 1]).dim();
        // A step adds a constant, and one store is like another: all of them only now and then.
        let steps = if grid % 97 == 0 { 16 } else { 1 };
        for r in 0..steps {
            let read = (0..32).map(|t| (t % 16, 2 * r + (t / 16) as u8));
            assert_eq!(counted(&rows, read), 1 << (5 - rank), "{masks:?} {r}");
            let stored = (0..32).map(|t| (usize::from(r), t));
            assert!(steps == 1 || counted(&rows, stored) == 1);
        }
        *histogram.entry(1 << (5 - rank)).or_insert(0) += 1;
    }
    let expected = [(1, 322_560), (2, 604_800), (4, 117_600), (8, 3_600), (16, 16)];
    assert!(histogram.into_iter().eq(expected));
}

#[test]
fn s0_23_to_26_segments_meet_the_lanes_in_4_1_and_0_dimensions() {
    let lanes = Subspace::from_vectors(&LOAD_LANES);
    // The elements of the segment bits of the offset: the inverse of the fold is the fold.
    let meets = |masks: [u64; 4]| {
        let segment: Vec<u64> = (0..4).map(|j| offset(masks, M << j)).collect();
        Subspace::from_vectors(&segment).intersection(&lanes).dim()
    };
    assert_eq!([meets(PLAIN), meets(XOR_M), meets(XOR_2M)], [4, 1, 0]);
}

#[test]
fn s0_27_conflict_free_when_four_masks_and_n0_are_independent() {
    let mut free = 0_u32;
    for grid in 0..1_u64 << 20 {
        let masks = [0, 5, 10, 15].map(|shift| grid >> shift & 31);
        let vectors = [masks[0], masks[1], masks[2], masks[3], 1];
        let rank = Subspace::from_vectors(&vectors).dim();
        let independent = rank == 5;
        let columns = LOAD_LANES.map(|lane| offset(masks, lane) * 4);
        let taken = wavefronts(sm_90(), Kind::Load, &columns, 4, 0).unwrap();
        // The law is the rank, which counting agrees with above.
        assert_eq!(taken.actual, 1 << (5 - rank));
        assert_eq!(taken.witness.is_none(), independent);
        free += u32::from(independent);
    }
    assert_eq!(free, 322_560);
}

#[test]
fn s0_28_to_32_the_algorithm_finds_xor_2m() {
    let registers = |columns: &[u64]| columns.to_vec();
    let store = Side {
        registers: registers(&[M, M << 1, M << 2, M << 3]),
        lanes: STORE_LANES.to_vec(),
        warps: vec![],
    };
    let load = Side {
        registers: registers(&[N << 1, N << 2, N << 3, N << 4]),
        lanes: LOAD_LANES.to_vec(),
        warps: vec![],
    };
    let found = swizzle(sm_90(), 9, 2, &store, &load, Preference::Common, 4).unwrap();
    assert_eq!(found.vector, []);
    assert_eq!(found.segment, [N << 1 | M, N << 2 | M << 1, N << 3 | M << 2, N << 4 | M << 3]);
    assert_eq!(found.bank, STORE_LANES);
    assert!((0..512).all(|element| found.offsets.apply(element) == offset(XOR_2M, element)));
}

#[test]
fn s0_33_lemma_9_5_leaves_four_of_nine_dimensions() {
    let sides = [STORE_LANES, LOAD_LANES].map(|lanes| Subspace::from_vectors(&lanes));
    let found = Subspace::largest_avoiding(9, &sides);
    assert_eq!((found.space.dim(), found.bound), (9 - 5, 9 - 5));
    assert!(sides.iter().all(|side| side.intersection(&found.space).dim() == 0));
}
