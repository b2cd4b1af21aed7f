//! Matrix moves of solved swizzles, by what the instructions do with tagged elements.

use arbitrary::{Result, Unstructured};
use std::{collections::BTreeMap, vec::Vec};

use super::{access, cases, sm_90};
use crate::{
    Layout,
    access::Kind,
    f2::{Matrix, Subspace, low_mask},
    machine,
    plan::swizzle::{Access, Meter, Move, Problem, solve},
    space::{LANE, REGISTER, WARP},
    step::Form,
    testing::{invertible, repeat, shuffled},
};

/// A layout of 2^`bits` elements: lanes, perhaps warps, and the rest registers.
fn layout(u: &mut Unstructured<'_>, bits: u32, warps: usize) -> Result<Layout> {
    let plain = u.ratio(3, 4)?;
    let columns = if plain { shuffled(u, bits)? } else { invertible(u, bits)?.columns().to_vec() };
    let (lanes, rest) = columns.split_at(5);
    let (warps, registers) = rest.split_at(warps);
    Ok(access(bits, registers, lanes, warps))
}

fn at(columns: &[u64], place: u64) -> u64 {
    (0..).zip(columns).filter(|(bit, _)| place >> bit & 1 == 1).fold(0, |sum, (_, c)| sum ^ c)
}

/// Which byte of which element stands at each address, as the lanes that hold it say: lane `l` has
/// 4 bytes of row `l / 4` from `4 (l mod 4)` on, or transposed the 2 bytes from `2 (l / 4)` on of the
/// rows `2 (l mod 4)` and that plus 1.
fn bytes_of_rows(
    offsets: &Matrix,
    found: &Move,
    layout: &Layout,
    bytes_log2: u32,
) -> BTreeMap<u64, (u64, u64)> {
    let Form::Matrix(machine::Matrix { transposed, .. }) = found.taken.form else {
        panic!("a vector")
    };
    let inside = Subspace::from_vectors(&found.word);
    let own = Subspace::from_vectors(layout.columns(REGISTER));
    let mut all = BTreeMap::new();
    let bases = own.elements().unwrap().filter(|&x| inside.reduce(x) == x);
    for base in bases.flat_map(|x| (0..1 << layout.in_bits(WARP)).map(move |w| (x, w))) {
        // The element of the word at which the matrix begins is that of an aligned offset.
        let base = base.0 ^ at(layout.columns(WARP), base.1);
        let aligned = |x: &u64| (offsets.apply(base ^ x) << bytes_log2).is_multiple_of(16);
        let base = base ^ inside.elements().unwrap().find(aligned).unwrap();
        for lane in 0..32_u64 {
            for byte in 0..4_u64 {
                let walk = at(&found.word, byte >> bytes_log2);
                let element = base ^ at(layout.columns(LANE), lane) ^ walk;
                let (row, column) = if transposed {
                    (2 * (lane % 4) + byte / 2, 2 * (lane / 4) + byte % 2)
                } else {
                    (lane / 4, 4 * (lane % 4) + byte)
                };
                let start = offsets.apply(base ^ at(&found.rows, row)) << bytes_log2;
                assert!(start.is_multiple_of(16));
                let part = byte & low_mask(bytes_log2);
                assert!(all.insert(start + column, (element, part)).is_none());
            }
        }
    }
    all
}

#[test]
fn matrices_hold_what_the_lanes_do() {
    let mut moves = [0; 4];
    repeat(cases(300), |u| {
        let (bits, warps) = (u.int_in_range(7..=11)?, u.int_in_range(0..=2)?);
        let bytes_log2 = u.int_in_range(0..=2)?;
        let layouts = [layout(u, bits, warps)?, layout(u, bits, warps)?];
        let kinds = [Kind::Store, Kind::Load].into_iter().zip(&layouts);
        let accesses: Vec<Access> =
            kinds.map(|(kind, layout)| Access::new(kind, layout.clone())).collect();
        let problem = Problem::new(sm_90(), 8 << bytes_log2, accesses);
        let solved = solve(&problem).unwrap();
        let offsets = solved.memory.matrix().inverse().unwrap();
        let found = Meter::new(&problem).unwrap().moves(&solved.memory).unwrap();
        for ((found, layout), used) in found.iter().zip(&layouts).zip(&solved.uses) {
            assert_eq!(&found.taken, used);
            let Form::Matrix(machine::Matrix { transposed, .. }) = used.form else {
                assert!(found.rows.is_empty());
                moves[3] += 1;
                continue;
            };
            moves[usize::from(transposed)] += 1;
            moves[2] += usize::from(bytes_log2 == 0 && transposed);
            let bytes = bytes_of_rows(&offsets, found, layout, bytes_log2);
            assert_eq!(bytes.len(), 1 << (bits + bytes_log2));
            for (address, (element, part)) in bytes {
                assert_eq!((offsets.apply(element) << bytes_log2) + part, address);
            }
        }
        Ok(())
    });
    assert!(moves.iter().all(|&count| count > 10), "{moves:?}");
}
