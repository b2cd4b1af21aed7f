//! The rank law against counting.

use arbtest::arbtest;
use std::{collections::BTreeSet, vec::Vec};

use crate::{
    Machine,
    access::{Kind, sectors, wavefronts},
    f2::low_mask,
    testing::{matrix, ways},
};

fn sm_90() -> &'static Machine {
    Machine::by_name("sm_90").unwrap()
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
