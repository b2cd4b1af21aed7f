//! Banks numbered anew, so that one swizzle suffices.

use arbitrary::{Result, Unstructured};
use std::vec::Vec;

use crate::{
    Label, Layout, Space,
    access::{Kind as Access, wavefronts},
    f2::Matrix,
    interop::cute::{Ordered, Swizzle, import, single_swizzle},
    machine::Machine,
    plan::{self, Preference, Side, swizzle},
    space::{LANE, REGISTER, WARP},
    testing::{Kind, distributed, repeat, shape},
};

fn shuffle<T>(u: &mut Unstructured<'_>, list: &mut [T]) -> Result<()> {
    for index in (1..list.len()).rev() {
        list.swap(index, u.choose_index(index + 1)?);
    }
    Ok(())
}

/// That the result maps each element to the offset that its own basis says.
fn is_right(found: &Ordered, elements: &Space) {
    assert!(found.composed.swizzles.len() <= 1);
    let labels: Vec<Label> = elements.labels().collect();
    let offsets = import(&found.composed, &labels).unwrap();
    assert_eq!(offsets.constant(), 0);
    let places = found.vector.iter().chain(&found.bank).chain(&found.segment);
    for (bit, &element) in places.enumerate() {
        assert_eq!(offsets.apply_flat(element), 1 << bit);
    }
}

#[test]
fn unit_vectors_and_sums_are_one_swizzle() {
    let mut sizes = [0; 6];
    repeat(1500, |u| {
        let (v, b, s) = (u.int_in_range(0..=3)?, u.int_in_range(0..=5)?, u.int_in_range(0..=5)?);
        let mut units: Vec<u64> = (0..v + b + s).map(|bit| 1 << bit).collect();
        shuffle(u, &mut units)?;
        let (vector, rest) = units.split_at(v);
        let (bank, segment) = rest.split_at(b);
        let sums = u.int_in_range(0..=b.min(s))?;
        let mut chosen = bank.to_vec();
        shuffle(u, &mut chosen)?;
        let mut segment: Vec<u64> = segment.to_vec();
        segment.iter_mut().zip(&chosen[..sums]).for_each(|(f, e)| *f ^= e);
        shuffle(u, &mut segment)?;
        let parts = shape(u, (v + b + s) as u32)?;
        let elements = Space::tensor(&parts).unwrap();
        let found = single_swizzle(&elements, &[vector], bank, &segment).unwrap();
        is_right(&found, &elements);
        let expected = Swizzle::new(sums as u32, (v + b - sums) as u32, sums as i32).unwrap();
        assert_eq!(
            found.composed.swizzles,
            if sums == 0 { Vec::new() } else { Vec::from([expected]) }
        );
        let sorted = |list: &[u64]| {
            let mut list = list.to_vec();
            list.sort_unstable();
            list
        };
        assert_eq!(sorted(&found.bank), sorted(bank));
        assert_eq!(sorted(&found.segment), sorted(&segment));
        sizes[sums] += 1;
        Ok(())
    });
    assert!(sizes.iter().all(|&count| count > 5), "{sizes:?}");
}

#[test]
fn what_is_no_basis_is_refused() {
    let elements = Space::tensor(&[8]).unwrap();
    assert_eq!(single_swizzle(&elements, &[&[1]], &[1], &[4]), None);
    assert_eq!(single_swizzle(&elements, &[&[1]], &[2], &[]), None);
    assert_eq!(single_swizzle(&elements, &[&[1]], &[2], &[8]), None);
    assert!(single_swizzle(&elements, &[&[2]], &[4], &[3]).is_some());
    // Three unit vectors in one sum are no pair.
    assert_eq!(single_swizzle(&elements, &[], &[1, 2], &[7]), None);
}

fn side(layout: &Layout) -> Side {
    let columns = |label| layout.columns(label).to_vec();
    Side { registers: columns(REGISTER), lanes: columns(LANE), warps: columns(WARP) }
}

/// The wavefronts of one side of a buffer with these offsets.
fn taken(offsets: &Matrix, side: &Side, kind: Access, vector: u32, bytes_log2: u32) -> u32 {
    let machine = Machine::by_name("sm_90").unwrap();
    let lanes: Vec<u64> =
        side.lanes.iter().map(|&lane| offsets.apply(lane) << bytes_log2).collect();
    wavefronts(machine, kind, &lanes, 1 << (vector + bytes_log2), 0).unwrap().actual
}

/// The vector of a plan, cut where an access of the writer or of the reader ends.
fn widths(plan: &plan::Swizzle) -> [&[u64]; 3] {
    let ends = (plan.store_vector as usize, plan.load_vector as usize);
    let (low, rest) = plan.vector.split_at(ends.0.min(ends.1));
    let (middle, high) = rest.split_at(ends.0.abs_diff(ends.1));
    [low, middle, high]
}

#[test]
fn planned_swizzles_are_one_swizzle_and_cost_the_same() {
    let machine = Machine::by_name("sm_90").unwrap();
    let mut sizes = std::collections::BTreeMap::new();
    repeat(500, |u| {
        let bits = u.int_in_range(7..=12)?;
        let shape = shape(u, bits)?;
        let store = side(&distributed(u, &shape, 1, Kind::Permutation)?);
        let load = side(&distributed(u, &shape, 1, Kind::Permutation)?);
        let bytes_log2 = u.int_in_range(0..=3)?;
        let preference = *u.choose(&Preference::ALL)?;
        let plan = swizzle(machine, bits, bytes_log2, &store, &load, preference, 4).unwrap();
        let elements = Space::tensor(&shape).unwrap();
        let found = single_swizzle(&elements, &widths(&plan), &plan.bank, &plan.segment).unwrap();
        is_right(&found, &elements);
        let columns: Vec<u64> =
            found.vector.iter().chain(&found.bank).chain(&found.segment).copied().collect();
        let offsets = Matrix::new(bits, &columns).unwrap().inverse().unwrap();
        for (side, kind, vector) in
            [(&store, Access::Store, plan.store_vector), (&load, Access::Load, plan.load_vector)]
        {
            assert_eq!(
                taken(&offsets, side, kind, vector, bytes_log2),
                taken(&plan.offsets, side, kind, vector, bytes_log2)
            );
        }
        *sizes.entry(found.composed.swizzles.first().map_or(0, |s| s.bits())).or_insert(0) += 1;
        Ok(())
    });
    assert!(sizes.len() > 4 && sizes.values().take(4).all(|&count| count > 25), "{sizes:?}");
}
