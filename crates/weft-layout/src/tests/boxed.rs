//! Boxed layouts: counts against enumeration, operators pointwise, refusals by their witnesses.

use arbitrary::{Result, Unstructured};
use std::{collections::BTreeSet, string::ToString, vec, vec::Vec};

use crate::{
    Label, Layout, LayoutError, Space,
    affine::{Affine, Boxed, BoxedError, Extents},
    f2::low_mask,
    space::{LANE, OFFSET, REGISTER},
    testing::{self, Kind, axes, between, distributed, holds},
};

const D0: Label = Label::dim(0);
const D1: Label = Label::dim(1);
const D2: Label = Label::dim(2);

/// Extents for some of the axes, seldom 0.
fn extents(u: &mut Unstructured<'_>, space: &Space) -> Result<Vec<(Label, u64)>> {
    let mut extents = Vec::new();
    for &(label, bits) in space.axes() {
        if u.arbitrary()? {
            let least = u64::from(!u.ratio(1, 16)?);
            extents.push((label, u.int_in_range(least..=1 << bits)?));
        }
    }
    Ok(extents)
}

fn cut(u: &mut Unstructured<'_>, layout: Layout) -> Result<Boxed> {
    let constant = if u.ratio(1, 3)? { u.arbitrary::<u64>()? } else { 0 };
    let constant = constant & low_mask(layout.outs().total_bits());
    let (ins, outs) = (extents(u, layout.ins())?, extents(u, layout.outs())?);
    Ok(Boxed::new(Affine::new(layout, constant).unwrap(), &ins, &outs).unwrap())
}

fn boxed(u: &mut Unstructured<'_>, ins: &[Label], outs: &[Label]) -> Result<Boxed> {
    // Any matrix, or each bit of an axis on a bit of some other axis, which keeps more boxes.
    let layout = {
        let (ins, outs) = (axes(u, ins, 3)?, axes(u, outs, 3)?);
        between(u, &ins, &outs)?
    };
    if u.arbitrary()? {
        return cut(u, layout);
    }
    let bits = layout.outs().total_bits();
    let columns: Vec<u64> =
        (0..layout.ins().total_bits()).map(|bit| 1 << bit & low_mask(bits)).collect();
    cut(u, Layout::new(layout.ins().clone(), layout.outs().clone(), &columns).unwrap())
}

/// A tensor in a box under a distributed layout of few places.
fn tensor(u: &mut Unstructured<'_>) -> Result<Boxed> {
    let bits = u.int_in_range(0..=6)?;
    let shape = testing::shape(u, bits)?;
    let kind = Kind::any(u)?;
    let layout = distributed(u, &shape, 0, kind)?;
    cut(u, layout)
}

fn places(boxed: &Boxed) -> impl Iterator<Item = u64> + use<> {
    0..1 << boxed.map().ins().total_bits()
}

/// The coordinates `dim0`, `dim1`, … of the element at a place that is live.
fn coordinates(boxed: &Boxed, place: u64) -> Option<Vec<u64>> {
    let element = boxed.map().apply_flat(place);
    let dims = (0..boxed.map().outs().axes().len() as u32).map(Label::dim);
    let coordinate = |dim| boxed.map().outs().coordinate(dim, element);
    boxed.is_live(place).then(|| dims.map(coordinate).collect())
}

/// By the definition: each coordinate below its extent.
fn below(extents: &Extents, place: u64) -> bool {
    let inside =
        |label| u128::from(extents.space().coordinate(label, place)) < extents.extent(label);
    extents.space().labels().all(inside)
}

/// Whether no box can have just the places of `live`, because `witness` is in every one that has
/// them all.
fn is_trapped(map: &Affine, live: &BTreeSet<u64>, witness: u64) -> bool {
    let within = |space: &Space, image: &dyn Fn(u64) -> u64| {
        space.labels().all(|label| {
            let largest = live.iter().map(|&place| space.coordinate(label, image(place))).max();
            largest.is_some_and(|largest| space.coordinate(label, image(witness)) <= largest)
        })
    };
    !live.contains(&witness)
        && within(map.ins(), &|place| place)
        && within(map.outs(), &|place| map.apply_flat(place))
}

/// What the operators should do: the map, and the places that are live; the outcome is `found`.
fn check(
    map: &Affine,
    live: &BTreeSet<u64>,
    found: &core::result::Result<Boxed, BoxedError>,
) -> bool {
    match found {
        Ok(found) => {
            assert_eq!(found.map(), map);
            assert!(places(found).all(|place| found.is_live(place) == live.contains(&place)));
            true
        }
        Err(BoxedError::NotBox { place }) => {
            assert!(is_trapped(map, live, map.ins().pack(place).unwrap()));
            false
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn counts_are_those_of_walking() {
    holds(400, |u| {
        let boxed = boxed(u, &[REGISTER, LANE], &[D1, D0])?;
        let live = |&place: &u64| {
            below(boxed.ins(), place) && below(boxed.outs(), boxed.map().apply_flat(place))
        };
        let expected: Vec<u64> = places(&boxed).filter(live).collect();
        assert!(places(&boxed).all(|place| boxed.is_live(place) == live(&place)));
        assert_eq!(boxed.live_places().unwrap().collect::<Vec<_>>(), expected);
        let reached: BTreeSet<u64> =
            expected.iter().map(|&place| boxed.map().apply_flat(place)).collect();
        let inside = |extents: &Extents| {
            (0..1 << extents.space().total_bits()).filter(|&p| below(extents, p)).count() as u128
        };
        let counts = boxed.counts().unwrap();
        let (live, reached) = (expected.len() as u128, reached.len() as u128);
        assert_eq!((counts.live, counts.dead), (live, inside(boxed.ins()) - live));
        assert_eq!((counts.reached, counts.missing), (reached, inside(boxed.outs()) - reached));
        assert_eq!(counts.copies, live - reached);
        // The mask, and nothing else, tells live places of the box from dead ones.
        let mask = boxed.mask();
        for place in boxed.ins().places().unwrap() {
            let element = boxed.map().apply_flat(place);
            let coordinate = |label| boxed.map().outs().coordinate(label, element);
            assert_eq!(mask.iter().all(|&(l, e)| coordinate(l) < e), boxed.is_live(place));
            let named = boxed.map().ins().unpack(place);
            let image = boxed.map().apply(&named).unwrap();
            assert_eq!(boxed.apply(&named).unwrap(), boxed.is_live(place).then_some(image));
        }
        for &(label, extent) in &mask {
            let outs = boxed.map().outs();
            let exceeds = |p| outs.coordinate(label, boxed.map().apply_flat(p)) >= extent;
            assert!(places(&boxed).any(exceeds));
        }
        assert!(boxed.grown().counts().unwrap().dead == 0);
        Ok(())
    });
}

#[test]
fn elements_that_many_cells_share_are_counted_once() {
    holds(400, |u| {
        let bits = u.int_in_range(2..=5)?;
        let ins = Space::new(&[(REGISTER, 3), (LANE, 3), (OFFSET, 2)]).unwrap();
        let outs = Space::new(&[(D0, bits)]).unwrap();
        let layout = Layout::from_matrix(ins, outs, testing::matrix(u, bits, 8)?).unwrap();
        // 7 and 3 are three and two cells, 18 in all.
        let full = u.int_in_range(1..=1 << bits)?;
        let extents = [(REGISTER, 7), (LANE, u.int_in_range(5..=7)?), (OFFSET, 3)];
        let boxed = Boxed::new(layout, &extents, &[(D0, full)]).unwrap();
        let live = boxed.live_places().unwrap();
        let reached: BTreeSet<u64> = live.map(|place| boxed.map().apply_flat(place)).collect();
        assert_eq!(boxed.reached_count(), Ok(reached.len() as u128));
        Ok(())
    });
}

#[test]
fn a_box_in_the_middle_moves_to_the_inputs_first() {
    let lanes = Layout::identity(2, LANE, D0).unwrap();
    let inner = Boxed::new(lanes.clone(), &[], &[(D0, 3)]).unwrap();
    let outer = Boxed::new(Layout::identity(2, D0, D1).unwrap(), &[], &[]).unwrap();
    let both = inner.compose(&outer).unwrap();
    assert_eq!(both.to_string(), "[lane: 1 2] -> [dim1: 4] on [lane: 3 of 4]");
    // Lane 0 is dead and the others are live: the elements say it, and the lanes stay.
    let turned = Affine::new(lanes, 3).unwrap();
    let inner = Boxed::new(turned, &[], &[(D0, 3)]).unwrap();
    let both = inner.compose(&outer).unwrap();
    assert_eq!(both.to_string(), "[lane: 1 2] -> [dim1: 3 of 4] ^ 3");
    // A box that no place exceeds is dropped.
    let narrow = Layout::new(inner.ins().space().clone(), inner.outs().space().clone(), &[1, 0]);
    let inner = Boxed::new(narrow.unwrap(), &[], &[(D0, 2)]).unwrap();
    let both = inner.compose(&outer).unwrap();
    assert_eq!(both.to_string(), "[lane: 1 0] -> [dim1: 4]");
}

#[test]
fn large_boxes_are_counted_without_walking() {
    // 64 bits: coordinates (x, y, z) of 2^20, 2^22, 2^22, z's bits exchanged with x's by the map.
    let ins = Space::new(&[(REGISTER, 20), (LANE, 22), (OFFSET, 22)]).unwrap();
    let outs = Space::new(&[(D2, 20), (D1, 22), (D0, 22)]).unwrap();
    let columns: Vec<u64> = (0..64).map(|bit| 1 << bit).collect();
    let layout = Layout::new(ins, outs, &columns).unwrap();
    let extents = [(D2, 1_000_000), (D1, 3_000_001), (D0, 7)];
    let boxed = Boxed::new(layout.clone(), &[(LANE, 2_999_999)], &extents).unwrap();
    let counts = boxed.counts().unwrap();
    assert_eq!(counts.live, 1_000_000 * 2_999_999 * 7);
    assert_eq!((counts.missing, counts.copies), (1_000_000 * 2 * 7, 0));
    assert_eq!(boxed.grown().counts().unwrap().live, 1 << 64);
    assert_eq!(
        boxed.live_places().err(),
        Some(BoxedError::TooManyPlaces { count: 2_999_999 << 42 })
    );
    // Too many cells are refused: 20 · 22 · 22 for the outputs alone, and as many for the inputs.
    let all = [(D2, (1 << 20) - 1), (D1, (1 << 22) - 1), (D0, (1 << 22) - 1)];
    let same = [(REGISTER, all[0].1), (LANE, all[1].1), (OFFSET, all[2].1)];
    let refused = Boxed::new(layout, &same, &all).unwrap();
    let count = 9680 * 9680;
    assert_eq!(refused.live_count(), Err(BoxedError::TooManyCells { count }));
    assert!(refused.compose(&refused.invert().unwrap()).is_err());
}

#[test]
fn compositions_are_boxes_or_show_a_trapped_place() {
    let mut outcomes = [0_u32; 2];
    holds(400, |u| {
        let inner = boxed(u, &[REGISTER, LANE], &[D1, D0])?;
        let outer = boxed(u, &[D1, D0], &[D2, OFFSET])?;
        let Ok(map) = inner.map().compose(outer.map()) else {
            assert!(inner.compose(&outer).is_err());
            return Ok(());
        };
        let live = |place: &u64| {
            let middle = inner.map().outs().unpack(inner.map().apply_flat(*place));
            let middle = outer.map().ins().pack(&middle).unwrap();
            inner.is_live(*place) && outer.is_live(middle)
        };
        let live = places(&inner).filter(live).collect();
        outcomes[usize::from(check(&map, &live, &inner.compose(&outer)))] += 1;
        Ok(())
    });
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}

#[test]
fn products_are_boxes_or_show_a_coordinate_that_is_missing() {
    let mut outcomes = [0_u32; 2];
    holds(400, |u| {
        let axes = [REGISTER, LANE];
        let (a, b) = (boxed(u, &axes, &[D1, D0])?, boxed(u, &axes, &[D1, D0])?);
        let map = a.map().product(b.map()).unwrap();
        // Both parts of a coordinate.
        let inside = |low: &Extents, high: &Extents, label, value: u64| {
            let bits = low.space().bits(label);
            u128::from(value & low_mask(bits)) < low.extent(label)
                && u128::from(value >> bits) < high.extent(label)
        };
        match a.product(&b) {
            Ok(product) => {
                outcomes[1] += 1;
                assert_eq!(product.map(), &map);
                for (found, low, high) in
                    [(product.ins(), a.ins(), b.ins()), (product.outs(), a.outs(), b.outs())]
                {
                    for &(label, bits) in found.space().axes() {
                        for value in 0..1 << bits {
                            let expected = inside(low, high, label, value);
                            assert_eq!(u128::from(value) < found.extent(label), expected);
                        }
                    }
                }
            }
            Err(BoxedError::NotBox { place }) => {
                outcomes[0] += 1;
                let (label, value) = place[0];
                let (low, high) =
                    if axes.contains(&label) { (a.ins(), b.ins()) } else { (a.outs(), b.outs()) };
                assert!(!inside(low, high, label, value));
                assert!((value + 1..64).any(|larger| inside(low, high, label, larger)));
            }
            Err(error) => panic!("{error}"),
        }
        Ok(())
    });
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}

#[test]
fn reshapes_are_boxes_or_show_an_element_that_is_missing() {
    let mut outcomes = [0_u32; 2];
    holds(400, |u| {
        let boxed = tensor(u)?;
        let bits = boxed.map().outs().total_bits();
        let shape = testing::shape(u, bits)?;
        let map = boxed.map().reshape(&shape).unwrap();
        let all = || 0..1_u64 << bits;
        let elements: BTreeSet<u64> = all().filter(|&e| below(boxed.outs(), e)).collect();
        let same = Layout::from_matrix(
            map.outs().clone(),
            map.outs().clone(),
            crate::f2::Matrix::identity(bits).unwrap(),
        );
        match boxed.reshape(&shape) {
            Ok(found) => {
                outcomes[1] += 1;
                assert_eq!((found.map(), found.ins()), (&map, boxed.ins()));
                assert!(all().all(|e| found.outs().contains(e) == elements.contains(&e)));
                // An empty box is empty along all axes afterwards.
                if !elements.is_empty() {
                    assert_eq!(found.reshape(&boxed.map().layout().shape()), Ok(boxed));
                }
            }
            Err(BoxedError::NotBox { place }) => {
                outcomes[0] += 1;
                let witness = map.outs().pack(&place).unwrap();
                assert!(is_trapped(&same.unwrap().into(), &elements, witness));
            }
            Err(error) => panic!("{error}"),
        }
        Ok(())
    });
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}

#[test]
fn inputs_are_reshaped_and_renamed() {
    let mut outcomes = [0_u32; 2];
    holds(300, |u| {
        let boxed = boxed(u, &[REGISTER, LANE], &[D1, D0])?;
        let bits = boxed.map().ins().total_bits();
        let low = u.int_in_range(0..=bits)?;
        let ins = Space::new(&[(LANE, low), (OFFSET, bits - low)]).unwrap();
        match boxed.reshape_ins(&ins) {
            Ok(found) => {
                outcomes[1] += 1;
                assert!(places(&boxed).all(|p| found.is_live(p) == boxed.is_live(p)));
                assert_eq!(found.ins().count(), boxed.ins().count());
            }
            Err(BoxedError::NotBox { place }) => {
                outcomes[0] += 1;
                assert!(!boxed.ins().contains(ins.pack(&place).unwrap()));
            }
            Err(error) => panic!("{error}"),
        }
        let renamed = boxed.rename_in(LANE, OFFSET).unwrap().rename_out(D0, D2).unwrap();
        assert!(places(&boxed).all(|place| renamed.is_live(place) == boxed.is_live(place)));
        assert_eq!(renamed.outs().extent(D2), boxed.outs().extent(D0));
        Ok(())
    });
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}

#[test]
fn transposes_and_new_axes_keep_what_is_live() {
    holds(400, |u| {
        let boxed = tensor(u)?;
        let rank = boxed.map().outs().axes().len();
        let mut order: Vec<usize> = (0..rank).collect();
        order.rotate_left(u.choose_index(rank)?);
        let turned = boxed.transpose(&order).unwrap();
        let at = u.int_in_range(0..=rank)?;
        let more = boxed.expand_dims(at).unwrap();
        let joined = boxed.join().unwrap();
        for place in places(&boxed).step_by(3) {
            let here = coordinates(&boxed, place);
            let moved = here.clone().map(|here| order.iter().map(|&old| here[old]).collect());
            assert_eq!(coordinates(&turned, place), moved);
            let with = |at: usize, value: u64| {
                let mut here = here.clone()?;
                here.insert(at, value);
                Some(here)
            };
            assert_eq!(coordinates(&more, place), with(at, 0));
            assert_eq!(coordinates(&joined, place << 1), with(rank, 0));
            assert_eq!(coordinates(&joined, place << 1 | 1), with(rank, 1));
        }
        assert_eq!(joined.split(), Ok((boxed.clone(), 0, false)));
        if let Ok(inverse) = boxed.invert() {
            let there = |place| boxed.map().apply_flat(place);
            assert!(places(&boxed).all(|p| inverse.is_live(there(p)) == boxed.is_live(p)));
        }
        Ok(())
    });
}

#[test]
fn slices_keep_dead_places_dead_or_show_one_that_cannot() {
    let mut outcomes = [0_u32; 2];
    holds(400, |u| {
        let boxed = tensor(u)?;
        let axis = u.choose_index(boxed.map().outs().axes().len())?;
        let map = boxed.map().slice(axis).unwrap();
        let live = places(&boxed).filter(|&place| boxed.is_live(place)).collect();
        outcomes[usize::from(check(&map, &live, &boxed.slice(axis)))] += 1;
        Ok(())
    });
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}

#[test]
fn broadcasts_grow_to_any_extent() {
    let mut outcomes = [0_u32; 2];
    holds(400, |u| {
        let boxed = tensor(u)?;
        let rank = boxed.map().outs().axes().len();
        let at = u.int_in_range(0..=rank)?;
        let thin = boxed.expand_dims(at).unwrap();
        let extent = u.int_in_range(1..=5)?;
        let dim = |dim: u32| thin.outs().extent(Label::dim(dim)) as u64;
        let mut extents: Vec<u64> = (0..=rank as u32).map(dim).collect();
        extents[at] = extent;
        let registers = thin.map().ins().bits(REGISTER);
        let full = thin.ins().extent(REGISTER) == 1 << registers;
        match thin.broadcast(&extents) {
            Ok(wide) => {
                outcomes[1] += 1;
                assert!(full || extent == 1 || thin.ins().extent(REGISTER) == 0);
                // An odd step sees every bit in both states.
                for place in places(&wide).step_by(7) {
                    let mut named = wide.map().ins().unpack(place);
                    let new = named[0].1 >> registers;
                    named[0].1 &= low_mask(registers);
                    let here = coordinates(&thin, thin.map().ins().pack(&named).unwrap());
                    let here = here.filter(|_| new < extent).map(|mut here| {
                        here[at] = new;
                        here
                    });
                    assert_eq!(coordinates(&wide, place), here);
                }
            }
            Err(error) => {
                outcomes[0] += 1;
                let place = vec![(REGISTER, thin.ins().extent(REGISTER) as u64)];
                assert_eq!(error, BoxedError::NotBox { place });
                assert!(!full && extent > 1);
            }
        }
        let mut wrong = extents.clone();
        wrong[at] = 0;
        assert!(thin.broadcast(&wrong).is_err() && thin.broadcast(&[]).is_err());
        Ok(())
    });
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}

#[test]
fn splits_need_both_halves_with_equal_registers() {
    let mut outcomes = [0_u32; 2];
    holds(200, |u| {
        // The last axis on register bit `position`.
        let position = u.int_in_range(0..=2)?;
        let mut columns = vec![4, 2, 8];
        columns.insert(position, 1);
        let ins = Space::new(&[(REGISTER, 4)]).unwrap();
        let layout = Layout::new(ins, Space::tensor(&[8, 2]).unwrap(), &columns).unwrap();
        let extent = u.int_in_range(0..=16)?;
        let map = Affine::new(layout, u.int_in_range(0..=1)?).unwrap();
        let boxed = Boxed::new(map.clone(), &[(REGISTER, extent)], &[(D0, 7)]).unwrap();
        match boxed.split() {
            Ok((half, found, exchanged)) => {
                outcomes[1] += 1;
                assert_eq!(found, position as u32);
                for register in 0..16 {
                    let rest = register >> 1 & !low_mask(found) | register & low_mask(found);
                    let side = (register >> found & 1) ^ u64::from(exchanged);
                    let here = coordinates(&half, rest).map(|mut here| {
                        here.push(side);
                        here
                    });
                    assert_eq!(coordinates(&boxed, register), here);
                }
            }
            Err(BoxedError::Halves { register }) => {
                outcomes[0] += 1;
                assert!(!boxed.ins().contains(register as u64));
                assert!(boxed.ins().contains(register as u64 ^ 1 << position));
            }
            Err(error) => panic!("{error}"),
        }
        let one = Boxed::new(map, &[], &[(D1, 1)]).unwrap();
        let error = LayoutError::NotSplit { size: Some(1), holders: Vec::new() };
        assert_eq!(one.split(), Err(BoxedError::Layout(error)));
        Ok(())
    });
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}

#[test]
fn extents_are_checked_and_printed() {
    let extents = Extents::of_shape(&[100, 32, 1, 0, 3]).unwrap();
    let text = "[dim0: 100 of 128, dim1: 32, dim2: 1, dim3: 0 of 1, dim4: 3 of 4]";
    assert_eq!(extents.to_string(), text);
    assert_eq!((extents.count(), extents.is_full()), (0, false));
    assert_eq!(extents.places().unwrap().count(), 0);
    assert!(Extents::of_shape(&[u64::MAX, 2]).is_err());
    assert_eq!(Extents::of_shape(&[u64::MAX]).unwrap().count(), u128::from(u64::MAX));
    let space = Space::tensor(&[4]).unwrap();
    let refused = BoxedError::ExtentTooLarge { label: D0, extent: 5, size: 4 };
    assert_eq!(Extents::new(&space, &[(D0, 5)]), Err(refused));
    assert!(Extents::new(&space, &[(D0, 2), (D0, 2)]).is_err());
    assert!(Extents::new(&space, &[(D1, 2)]).is_err());
    assert_eq!(Extents::new(&space, &[(D0, 3)]).unwrap().bounds(), [(D0, 3)]);
    let layout = Layout::identity(2, LANE, D0).unwrap();
    let map = Affine::new(layout, 1).unwrap();
    let boxed = Boxed::new(map, &[(LANE, 2)], &[(D0, 3)]).unwrap();
    assert_eq!(boxed.to_string(), "[lane: 1 2] -> [dim0: 3 of 4] ^ 1 on [lane: 2 of 4]");
    assert!(boxed.is_live(1) && !boxed.is_live(2) && !boxed.is_live(5));
}
