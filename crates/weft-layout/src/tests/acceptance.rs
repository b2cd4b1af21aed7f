//! The numbers of "Swizzle by Hand, Swizzle by Algebra", and the rank law against counting.

use arbtest::arbtest;
use std::{collections::BTreeSet, vec, vec::Vec};

use crate::{
    Layout, Machine, Space,
    access::{Kind, sectors, wavefronts},
    affine::{Padded, Padding},
    f2::{Matrix, Subspace, low_mask},
    plan::{Preference, Side, swizzle},
    space::{LANE, OFFSET},
    testing::{matrix, ways},
};

fn sm_90() -> &'static Machine {
    Machine::by_name("sm_90").unwrap()
}

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
fn s0_9_store_is_free_for_every_single_toggle() {
    for toggle in 0..20 {
        let mut masks = PLAIN;
        masks[toggle / 5] = 1 << (toggle % 5);
        assert_eq!(taken(masks, STORE_LANES, Kind::Store), 1);
    }
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
        let independent = Subspace::from_vectors(&vectors).dim() == 5;
        let columns = LOAD_LANES.map(|lane| offset(masks, lane) * 4);
        let taken = wavefronts(sm_90(), Kind::Load, &columns, 4, 0).unwrap();
        assert_eq!(taken.actual == 1, independent);
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
fn f4_vectors_of_16_bytes_in_a_row_take_4_wavefronts() {
    let columns: Vec<u64> = (0..5).map(|bit| 16 << bit).collect();
    let taken = wavefronts(sm_90(), Kind::Load, &columns, 16, 0).unwrap();
    assert_eq!((taken.actual, taken.ideal), (4, 4));
}

/// Wavefronts by counting, phase by phase, bank by bank.
fn counted(columns: &[u64], bytes: u64, kind: Kind, idle: u64) -> (u32, bool) {
    let merged = kind == Kind::Load
        && bytes >= 8
        && [0, 1].iter().any(|&b| columns[b] == 0 && idle >> b & 1 == 0);
    let together = 32.min(128 / bytes) << u32::from(merged);
    let address = |lane: u64| (0..5).filter(|b| lane >> b & 1 == 1).fold(0, |a, b| a ^ columns[b]);
    let mut total = 0;
    for first in (0..32).step_by(together as usize) {
        let lanes = (first..first + together).filter(|lane| lane & idle == 0);
        let touched = lanes.map(|lane| (0..bytes).map(move |byte| (address(lane) + byte) / 4));
        total += ways(touched.flatten());
    }
    (total as u32, merged)
}

#[test]
fn the_rank_law_counts_wavefronts() {
    arbtest(|u| {
        let width = u.int_in_range(0..=4)?;
        let rows = u.int_in_range(0..=8)?;
        let columns: Vec<u64> =
            matrix(u, rows, 5)?.columns().iter().map(|column| column << width).collect();
        let kind = *u.choose(&[Kind::Load, Kind::Store])?;
        let idle = if u.arbitrary()? { u.arbitrary::<u64>()? & low_mask(5) } else { 0 };
        let found = wavefronts(sm_90(), kind, &columns, 1 << width, idle).unwrap();
        let (expected, _) = counted(&columns, 1 << width, kind, idle);
        assert_eq!(found.actual, expected, "{columns:?} {width} {kind:?} idle {idle:#b}");
        assert_eq!(found.witness.is_some(), found.actual > found.ideal);
        if let Some((a, b)) = found.witness {
            let address = |lane: u32| {
                (0..5).filter(|bit| lane >> bit & 1 == 1).fold(0, |sum, bit| sum ^ columns[bit])
            };
            assert!((a | b) & idle as u32 == 0);
            let words = (address(a) / 4, address(b) / 4);
            assert!(width > 2 || (words.0 != words.1 && words.0 % 32 == words.1 % 32));
        }
        Ok(())
    });
}

#[test]
fn the_rank_law_counts_sectors() {
    arbtest(|u| {
        let width = u.int_in_range(0..=4)?;
        let columns: Vec<u64> =
            matrix(u, 9, 5)?.columns().iter().map(|column| column << width).collect();
        let found = sectors(sm_90(), &columns, 1 << width, 0).unwrap();
        let address = |lane: u64| {
            (0..5).filter(|bit| lane >> bit & 1 == 1).fold(0, |sum, bit| sum ^ columns[bit])
        };
        let touched: BTreeSet<u64> = (0..32).map(|lane| address(lane) / 32).collect();
        assert_eq!(found.actual, touched.len() as u64);
        Ok(())
    });
}
