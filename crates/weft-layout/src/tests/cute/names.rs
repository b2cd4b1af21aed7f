//! One swizzle under all its names, place by place.

use std::vec::Vec;

use super::swizzle;
use crate::{
    family::SwizzledShared,
    interop::cute::{Phases, Swizzle, TmaMode},
    testing::repeat,
};

#[test]
fn absolute_positions_are_read_and_written() {
    for swizzle in Swizzle::all(10) {
        let Some((target, source)) = swizzle.absolute() else {
            assert!(swizzle.shift() < 0);
            continue;
        };
        assert_eq!(Swizzle::between(swizzle.bits(), target, source), Ok(swizzle));
        let mask = (1 << swizzle.bits()) - 1;
        for x in 0..1_u64 << 10 {
            // What cuda-oxide writes as Swizzle<B, target, source>.
            assert_eq!(swizzle.apply(x), x ^ ((x >> source) & mask) << target);
        }
    }
    // Its Swizzle<1, 4, 7> is Swizzle<1, 4, 3> of CuTe.
    assert_eq!(Swizzle::between(1, 4, 7), Swizzle::new(1, 4, 3));
    // Overlapping groups, which its type refuses when compiling.
    assert!(Swizzle::between(5, 0, 4).is_err() && Swizzle::between(3, 4, 4).is_err());
}

#[test]
fn phases_are_swizzles_of_rows() {
    let mut kinds = [0; 3];
    repeat(1000, |u| {
        let power = |u: &mut arbitrary::Unstructured<'_>, most| Ok(1 << u.int_in_range(0..=most)?);
        let (rows, columns) = (power(u, 5)?, power(u, 5)?);
        let phases = Phases { vec: power(u, 5)?, per_phase: power(u, 3)?, max_phase: power(u, 4)? };
        let Phases { vec, per_phase, max_phase } = phases;
        let swizzle = Swizzle::from_phases(&phases, columns).unwrap();
        for row in 0..rows {
            for column in 0..columns {
                let phase = row / per_phase % max_phase;
                let moved = row * columns + (column ^ (phase * vec % columns));
                assert_eq!(swizzle.apply(row * columns + column), moved, "{phases:?} {columns}");
            }
        }
        // And the layout of the same name.
        let order = Vec::from([1, 0]);
        let layout =
            SwizzledShared::new(vec, per_phase, max_phase, &order).layout(&[rows, columns]);
        let layout = layout.unwrap();
        assert!((0..rows * columns).all(|place| layout.apply_flat(place) == swizzle.apply(place)));

        let back = swizzle.phases(columns).unwrap();
        assert_eq!(Swizzle::from_phases(&back, columns), Ok(swizzle));
        let exact = vec * max_phase <= columns;
        assert!(!exact || swizzle == Swizzle::IDENTITY || back == phases);
        kinds[if swizzle == Swizzle::IDENTITY { 0 } else { 1 + usize::from(exact) }] += 1;
        Ok(())
    });
    assert!(kinds.iter().all(|&count| count > 100), "{kinds:?}");
    // Every swizzle is Triton's for some row length, or reads below what it changes, or within a
    // row.
    for swizzle in Swizzle::all(9) {
        for bits in 0..=9 {
            let found = swizzle.phases(1 << bits);
            let crosses = swizzle.source() >= bits && swizzle.target() + swizzle.bits() <= bits;
            assert_eq!(found.is_some(), crosses, "{swizzle} {bits}");
            if let Some(phases) = found {
                assert_eq!(Swizzle::from_phases(&phases, 1 << bits), Ok(swizzle));
            }
        }
    }
    let three = Phases { vec: 3, per_phase: 1, max_phase: 1 };
    assert!(Swizzle::from_phases(&three, 8).is_err());
    let high = Phases { vec: 1, per_phase: 1 << 63, max_phase: 2 };
    assert!(Swizzle::from_phases(&high, 1 << 63).is_err());
    assert_eq!(Swizzle::IDENTITY.phases(6), None);
}

#[test]
fn tensor_memory_modes_permute_chunks_of_16_bytes() {
    for (mode, k) in TmaMode::ALL.into_iter().zip(0_u64..) {
        for element_bits in [4, 8, 16, 32, 64, 128_u64] {
            let swizzle = mode.swizzle(element_bits).unwrap();
            assert_eq!(TmaMode::of(swizzle, element_bits), Some(mode));
            // Rows of 2^k chunks repeat after 8 rows of 128 bytes; chunk c of line l goes to
            // c ^ (l mod 2^k), counted in lines of 128 bytes.
            let per_chunk = 128 / element_bits;
            for element in 0..per_chunk * 128 {
                let (chunk, within) = (element / per_chunk, element % per_chunk);
                let moved = chunk ^ (chunk / 8 % (1 << k));
                assert_eq!(swizzle.apply(element), moved * per_chunk + within);
            }
            if k > 0 {
                let base = 7 - element_bits.trailing_zeros();
                assert_eq!(Ok(swizzle), Swizzle::new(k as u32, base, 3));
            }
        }
        assert_eq!(mode.swizzle(48), None);
        assert_eq!(mode.swizzle(256).is_some(), k == 0);
    }
    assert_eq!(TmaMode::of(Swizzle::new(3, 4, 4).unwrap(), 8), None);
    assert_eq!(TmaMode::of(Swizzle::new(3, 3, 3).unwrap(), 16), Some(TmaMode::B128));
}

#[test]
fn recasting_moves_the_same_bytes() {
    repeat(300, |u| {
        let swizzle = swizzle(u, 10)?;
        let (from, to) = (8 << u.int_in_range(0..=4)?, 8 << u.int_in_range(0..=4)?);
        let Some(recast) = swizzle.recast(from, to) else {
            assert!(to > from && u64::from(swizzle.base()) < (to / from).ilog2().into());
            return Ok(());
        };
        assert_eq!(recast.recast(to, from), Some(swizzle));
        for byte in 0..1_u64 << 12 {
            let moved = |swizzle: Swizzle, bits: u64| {
                let bytes = bits / 8;
                swizzle.apply(byte / bytes) * bytes + byte % bytes
            };
            assert_eq!(moved(swizzle, from), moved(recast, to));
        }
        Ok(())
    });
}
