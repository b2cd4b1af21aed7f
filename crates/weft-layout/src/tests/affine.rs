//! Affine layouts: each operator is the pointwise one, and each refusal is right.

use arbitrary::{Result, Unstructured};
use std::{collections::BTreeSet, string::ToString, vec::Vec};

use crate::{
    Label, Layout, LayoutError, Space,
    affine::Affine,
    f2::low_mask,
    space::{LANE, OFFSET, REGISTER},
    testing::{self, Kind, axes, between, distributed, holds, shape, ways},
};

const D0: Label = Label::dim(0);
const D1: Label = Label::dim(1);
const D2: Label = Label::dim(2);

fn affine(u: &mut Unstructured<'_>, ins: &[Label], outs: &[Label]) -> Result<Affine> {
    let layout = {
        let (ins, outs) = (axes(u, ins, 3)?, axes(u, outs, 3)?);
        between(u, &ins, &outs)?
    };
    let constant = u.arbitrary::<u64>()? & low_mask(layout.outs().total_bits());
    Ok(Affine::new(layout, constant).unwrap())
}

fn places(map: &Affine) -> impl Iterator<Item = u64> + use<> {
    0..1 << map.ins().total_bits()
}

/// A distributed layout of a random tensor, with a constant.
fn tensor(u: &mut Unstructured<'_>) -> Result<Affine> {
    let bits = u.int_in_range(0..=6)?;
    let shape = shape(u, bits)?;
    let layout = distributed(u, &shape, 0, Kind::General)?;
    Ok(Affine::new(layout, u.arbitrary::<u64>()? & low_mask(bits)).unwrap())
}

/// The coordinates `dim0`, `dim1`, … of the element at a place.
fn coordinates(map: &Affine, place: u64) -> Vec<u64> {
    let dims = (0..map.outs().axes().len() as u32).map(Label::dim);
    dims.map(|dim| map.outs().coordinate(dim, map.apply_flat(place))).collect()
}

#[test]
fn apply_is_linear_and_a_constant() {
    holds(300, |u| {
        let map = affine(u, &[REGISTER, LANE], &[D1, D0])?;
        for place in places(&map) {
            let image = map.layout().apply_flat(place) ^ map.constant();
            assert_eq!(map.apply_flat(place), image);
            let labelled = map.apply(&map.ins().unpack(place)).unwrap();
            assert_eq!(map.outs().pack(&labelled), Ok(image));
        }
        match map.linear() {
            Ok(layout) => assert_eq!(Affine::from(layout), map),
            Err(error) => {
                assert_eq!(
                    error,
                    LayoutError::ConstantDiffers { bits: map.outs().unpack(map.apply_flat(0)) }
                );
            }
        }
        let outside = 1_u64.checked_shl(map.outs().total_bits()).unwrap();
        assert!(Affine::new(map.layout().clone(), outside).is_err());
        Ok(())
    });
}

#[test]
fn the_results_are_a_coset_and_a_constant_changes_no_count() {
    holds(300, |u| {
        let map = affine(u, &[LANE], &[OFFSET])?;
        let image = map.layout().matrix().image();
        let coset: BTreeSet<u64> = image.elements().unwrap().map(|e| e ^ map.constant()).collect();
        let results: BTreeSet<u64> = places(&map).map(|place| map.apply_flat(place)).collect();
        assert_eq!(results, coset);
        assert_eq!(results.len(), 1 << map.rank());
        assert_eq!(map.is_surjective(), results.len() == 1 << map.outs().total_bits());
        assert_eq!(map.is_injective(), results.len() == 1 << map.ins().total_bits());
        assert_eq!(map.is_invertible(), map.is_surjective() && map.is_injective());
        // A warp's words, with any constant: as many ways on 32 banks.
        let words = testing::matrix(u, 10, 5)?;
        let constant = u.int_in_range(0..=1023)?;
        let plain = (0..32).map(|lane| words.apply(lane));
        assert_eq!(ways(plain.clone().map(|word| word ^ constant)), ways(plain));
        Ok(())
    });
}

#[test]
fn compositions_compose_pointwise() {
    holds(300, |u| {
        let (inner, outer) =
            (affine(u, &[REGISTER, LANE], &[D1, D0])?, affine(u, &[D1, D0], &[OFFSET])?);
        let Ok(both) = inner.compose(&outer) else {
            let smaller = |dim| outer.ins().bits(dim) < inner.outs().bits(dim);
            assert!(smaller(D0) || smaller(D1));
            return Ok(());
        };
        for place in places(&inner) {
            let middle = inner.apply(&inner.ins().unpack(place)).unwrap();
            let image = outer.apply(&middle).unwrap();
            assert_eq!(both.apply(&inner.ins().unpack(place)).unwrap(), image);
        }
        // With a linear layout on either side.
        let linear = Affine::from(outer.layout().clone());
        let moved = inner.compose(&linear).unwrap();
        assert_eq!(moved.constant() ^ outer.constant(), both.constant());
        Ok(())
    });
}

#[test]
fn products_act_on_both_parts_and_divide() {
    holds(400, |u| {
        let axes = [REGISTER, LANE];
        let (a, b) = (affine(u, &axes, &[D1, D0])?, affine(u, &axes, &[D1, D0])?);
        let product = a.product(&b).unwrap();
        // A coordinate of the product: those of `a`, then those of `b`.
        let join = |low: &Space, x: u64, high: &Space, y: u64| -> Vec<(Label, u64)> {
            let value =
                |label| low.coordinate(label, x) | high.coordinate(label, y) << low.bits(label);
            low.labels().map(|label| (label, value(label))).collect()
        };
        for _ in 0..16 {
            let x = u.arbitrary::<u64>()? & low_mask(a.ins().total_bits());
            let y = u.arbitrary::<u64>()? & low_mask(b.ins().total_bits());
            let image = product.apply(&join(a.ins(), x, b.ins(), y)).unwrap();
            assert_eq!(image, join(a.outs(), a.apply_flat(x), b.outs(), b.apply_flat(y)));
        }
        assert_eq!(product.divide_left(&a), Ok(b.clone()));
        assert_eq!(product.divide_right(&b), Ok(a.clone()));
        // Another constant in the divisor: exactly its bits are named, at their place.
        let other = u.arbitrary::<u64>()? & low_mask(a.outs().total_bits());
        let changed = Affine::new(a.layout().clone(), a.constant() ^ other).unwrap();
        let zero = Affine::from(Layout::zeros(Space::empty(), b.outs().clone()).unwrap());
        let only = Affine::new(Layout::zeros(Space::empty(), a.outs().clone()).unwrap(), other);
        let bits = only.unwrap().product(&zero).unwrap().constant();
        let expected = if bits == 0 {
            Ok(b)
        } else {
            Err(LayoutError::ConstantDiffers { bits: product.outs().unpack(bits) })
        };
        assert_eq!(product.divide_left(&changed), expected);
        Ok(())
    });
}

#[test]
fn inverses_undo() {
    holds(300, |u| {
        let bits = u.int_in_range(0..=6)?;
        let matrix = testing::invertible(u, bits)?;
        let space = |label| Space::new(&[(label, bits)]).unwrap();
        let layout = Layout::from_matrix(space(LANE), space(D0), matrix).unwrap();
        let map = Affine::new(layout, u.arbitrary::<u64>()? & low_mask(bits)).unwrap();
        let inverse = map.invert().unwrap();
        assert!(places(&map).all(|place| inverse.apply_flat(map.apply_flat(place)) == place));

        let map = affine(u, &[REGISTER, LANE], &[D0])?;
        match map.right_inverse() {
            Ok(back) => {
                assert!(places(&back).all(|e| map.apply_flat(back.apply_flat(e)) == e));
            }
            Err(_) => assert!(!map.is_surjective()),
        }
        Ok(())
    });
}

#[test]
fn solutions_solve_and_refusals_are_out_of_reach() {
    let (mut solved, mut refused) = (0_u32, 0_u32);
    holds(400, |u| {
        let to = affine(u, &[REGISTER, LANE], &[D1, D0])?;
        // Half of the time something that `to` holds, up to a constant.
        let from = if u.arbitrary()? {
            let inner = affine(u, &[OFFSET, LANE], &[REGISTER, LANE])?;
            let Ok(from) = inner.compose(&to) else { return Ok(()) };
            let flip = if u.ratio(1, 3)? { u.arbitrary::<u64>()? } else { 0 };
            let constant = (from.constant() ^ flip) & low_mask(from.outs().total_bits());
            Affine::new(from.layout().clone(), constant).unwrap()
        } else {
            affine(u, &[OFFSET, LANE], &[D1, D0])?
        };
        match from.solve(&to) {
            Ok(x) => {
                solved += 1;
                assert_eq!((x.ins(), x.outs()), (from.ins(), to.ins()));
                for place in places(&from) {
                    let image = to.outs().unpack(to.apply_flat(x.apply_flat(place)));
                    assert!(image.iter().all(|&(label, value)| {
                        from.outs().coordinate(label, from.apply_flat(place)) == value
                    }));
                }
            }
            Err(LayoutError::ConstantNotReached { image }) => {
                refused += 1;
                assert_eq!(image, from.outs().unpack(from.apply_flat(0)));
                let start = to.outs().pack(&image).unwrap();
                assert!(places(&to).all(|place| to.apply_flat(place) != start));
            }
            Err(LayoutError::NotReached { label, bit, .. }) => {
                let image = from.outs().unpack(from.layout().basis(label, bit));
                let image = to.outs().pack(&image).unwrap();
                assert!(!to.layout().matrix().image().contains(image));
            }
            Err(_) => {
                assert!([D0, D1].iter().any(|&d| from.outs().bits(d) > to.outs().bits(d)));
            }
        }
        Ok(())
    });
    assert!(solved > 5 && refused > 5, "{solved} {refused}");
}

#[test]
fn shape_operations_move_the_constant_like_any_element() {
    holds(400, |u| {
        let map = tensor(u)?;
        // Odd, so that every bit is seen in both states.
        let step = if map.ins().total_bits() > 4 { 7 } else { 1 };
        let dims = map.layout().shape();
        let mut order: Vec<usize> = (0..dims.len()).collect();
        order.rotate_left(u.choose_index(dims.len())?);
        let moved = map.transpose(&order).unwrap();
        assert_eq!(moved.transpose_back(&order).unwrap(), map);
        let flat = map.reshape(&[dims.iter().product()]).unwrap();
        let axis = u.choose_index(dims.len())?;
        let sliced = map.slice(axis).unwrap();
        let at = u.int_in_range(0..=dims.len())?;
        let expanded = map.expand_dims(at).unwrap();
        assert_eq!(expanded.expand_dims_back(at).as_ref(), Ok(&map));
        let joined = map.join().unwrap();
        let (half, position, exchanged) = joined.split().unwrap();
        assert_eq!((&half, position, exchanged), (&map, 0, false));
        for place in places(&map).step_by(step) {
            let here = coordinates(&map, place);
            let transposed: Vec<u64> = order.iter().map(|&old| here[old]).collect();
            assert_eq!(coordinates(&moved, place), transposed);
            assert_eq!(flat.apply_flat(place), map.apply_flat(place));
            let mut rest = here.clone();
            rest.remove(axis);
            assert_eq!(coordinates(&sliced, place), rest);
            let mut more = here.clone();
            more.insert(at, 0);
            assert_eq!(coordinates(&expanded, place), more);
            for side in 0..2 {
                // The new register bit is the lowest bit of the inputs.
                let mut pair = here.clone();
                pair.push(side);
                assert_eq!(coordinates(&joined, place << 1 | side), pair);
            }
        }
        // Axis `at` grows to 4 on two registers above those present.
        let mut wide = expanded.layout().shape();
        wide[at] = 4;
        let broadcast = expanded.broadcast(&wide).unwrap();
        let registers = expanded.ins().bits(REGISTER);
        for place in places(&broadcast).step_by(step) {
            let mut named = broadcast.ins().unpack(place);
            let new = named[0].1 >> registers;
            named[0].1 &= low_mask(registers);
            let mut here = coordinates(&expanded, expanded.ins().pack(&named).unwrap());
            here[at] = new;
            assert_eq!(coordinates(&broadcast, place), here);
        }
        let back = broadcast.broadcast_back(&expanded.layout().shape()).unwrap();
        assert_eq!(back.constant(), expanded.constant());
        Ok(())
    });
}

#[test]
fn a_constant_exchanges_the_halves_of_a_split() {
    let ins = Space::new(&[(REGISTER, 2)]).unwrap();
    let layout = Layout::new(ins, Space::tensor(&[2, 2]).unwrap(), &[2, 1]).unwrap();
    let (half, position, exchanged) = Affine::new(layout, 3).unwrap().split().unwrap();
    assert_eq!((position, exchanged), (1, true));
    // Register 0 holds (1, 1), register 1 holds (0, 1): both in half 1.
    assert_eq!((half.apply_flat(0), half.apply_flat(1)), (1, 0));
}

#[test]
fn axes_are_moved_dropped_fixed_and_joined() {
    holds(400, |u| {
        let map = affine(u, &[REGISTER, LANE, OFFSET], &[D2, D1, D0])?;
        let turned = map.transpose_ins(&[OFFSET, REGISTER, LANE]).unwrap();
        let mixed = turned.transpose_outs(&[D1, D0, D2]).unwrap();
        let renamed = map.rename_in(LANE, D0).unwrap().rename_out(D2, LANE).unwrap();
        let flat = Space::new(&[(OFFSET, map.outs().total_bits())]).unwrap();
        let flat = map.reshape_outs(&flat).unwrap();
        let narrow = map.sublayout(&[REGISTER, OFFSET], &[D1]).unwrap();
        let lane = u.arbitrary::<u64>()? & low_mask(map.ins().bits(LANE));
        let fixed = map.fix(LANE, lane).unwrap();
        for place in places(&map) {
            let (named, image) = (map.ins().unpack(place), map.apply_flat(place));
            let found = mixed.apply(&named).unwrap();
            assert_eq!(map.outs().pack(&found), Ok(image));
            assert_eq!((renamed.apply_flat(place), flat.apply_flat(place)), (image, image));
            let others = [named[0], named[2]];
            if named[1].1 == lane {
                assert_eq!(fixed.apply(&others).unwrap(), map.outs().unpack(image));
            }
            if named[1].1 == 0 {
                assert_eq!(
                    narrow.apply(&others).unwrap(),
                    [(D1, map.outs().coordinate(D1, image))]
                );
            }
        }
        assert!(map.fix(D0, 0).is_err() && map.fix(LANE, 8).is_err());
        // Both parts contain place zero.
        let (first, second) =
            (map.restrict_ins(&[REGISTER]).unwrap(), map.restrict_ins(&[LANE]).unwrap());
        let joined = first.concat_ins(&second).unwrap();
        assert_eq!(joined, map.restrict_ins(&[REGISTER, LANE]).unwrap());
        if map.outs().total_bits() > 0 {
            let other = Affine::new(second.layout().clone(), second.constant() ^ 1).unwrap();
            let bits = map.outs().unpack(1);
            assert_eq!(first.concat_ins(&other), Err(LayoutError::ConstantDiffers { bits }));
        }
        // Outputs side by side, and inputs that lose bits.
        let other = map.rename_out(D0, LANE).unwrap().sublayout(&[REGISTER, LANE, OFFSET], &[LANE]);
        let sides = map.concat_outs(&other.unwrap()).unwrap();
        let fewer = map.resize_in(OFFSET, map.ins().bits(OFFSET) / 2).unwrap();
        for place in places(&map) {
            let (named, image) = (map.ins().unpack(place), map.apply_flat(place));
            let mut both = map.outs().unpack(image);
            both.push((LANE, map.outs().coordinate(D0, image)));
            assert_eq!(sides.apply(&named), Ok(both));
            if let Ok(kept) = fewer.ins().pack(&named) {
                assert_eq!(fewer.apply_flat(kept), image);
            }
        }
        let thin = fewer.resize_in(LANE, 0).unwrap().squeeze_in(LANE).unwrap();
        assert_eq!(thin, fewer.restrict_ins(&[REGISTER, OFFSET]).unwrap());
        if map.outs().bits(D1) == 0 {
            assert_eq!(map.squeeze_out(D1).unwrap().constant(), map.constant());
        } else {
            assert!(map.squeeze_out(D1).is_err());
        }
        let (packed, removed) = map.remove_zero_columns(REGISTER).unwrap();
        assert_eq!(map.without_bits(REGISTER, &removed).unwrap(), packed);
        assert_eq!((packed.constant(), packed.rank()), (map.constant(), map.rank()));
        Ok(())
    });
}

#[test]
fn flips_reverse_and_offsets_add() {
    holds(400, |u| {
        let map = affine(u, &[REGISTER, LANE], &[D1, D0])?;
        let flip = Affine::flip(map.outs(), D1).unwrap();
        let last = low_mask(map.outs().bits(D1));
        for place in places(&map) {
            let there = map.compose(&flip).unwrap().apply_flat(place);
            let coordinate = |dim, at| map.outs().coordinate(dim, at);
            assert_eq!(coordinate(D1, there), last - coordinate(D1, map.apply_flat(place)));
            assert_eq!(coordinate(D0, there), coordinate(D0, map.apply_flat(place)));
        }
        assert!(Affine::flip(map.outs(), LANE).is_err());

        let layout = map.layout().clone();
        let offset = u.arbitrary::<u64>()? & u.arbitrary::<u64>()? & low_mask(7);
        match Affine::at_offset(layout.clone(), offset) {
            Ok(moved) => {
                let sum = |x| layout.apply_flat(x) + offset;
                assert!(places(&map).all(|x| moved.apply_flat(x) == sum(x)));
            }
            Err(LayoutError::OffsetCarries { label, bit, shared }) => {
                let basis = layout.basis(label, bit);
                assert_eq!(layout.outs().unpack(basis & offset), shared);
                assert_ne!(basis + offset, basis ^ offset);
            }
            Err(_) => assert!(offset >> layout.outs().total_bits() != 0),
        }
        Ok(())
    });
}

#[test]
fn affine_layouts_print_their_constant_like_a_basis() {
    let layout =
        Layout::new(Space::new(&[(LANE, 2)]).unwrap(), Space::tensor(&[2, 4]).unwrap(), &[1, 4]);
    let map = Affine::new(layout.unwrap(), 6).unwrap();
    assert_eq!(map.to_string(), "[lane: (0,1) (1,0)] -> [dim0: 2, dim1: 4] ^ (1,2)");
}

#[test]
fn sixty_four_bits_work() {
    let wide = Layout::identity(64, OFFSET, D0).unwrap();
    let flip = Affine::flip(wide.outs(), D0).unwrap();
    let map = Affine::from(wide).compose(&flip).unwrap();
    assert_eq!(map.apply_flat(1), u64::MAX - 1);
    assert_eq!(map.invert().unwrap().constant(), u64::MAX);
    assert!(map.solve(&map).unwrap().linear().unwrap().matrix().is_identity());
    assert!(map.join().is_err() && map.product(&map).is_err());
}
