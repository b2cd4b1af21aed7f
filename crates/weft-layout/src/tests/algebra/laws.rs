//! Composition and product.

use std::{string::ToString, vec::Vec};

use crate::{
    Label, Layout, LayoutError, Space, SpaceError,
    f2::Matrix,
    space::{BLOCK, LANE, OFFSET, REGISTER, WARP},
    testing::{INPUTS, between, holds, layout, places, reordered, space},
};

fn identity(space: &Space) -> Layout {
    let matrix = Matrix::identity(space.total_bits()).unwrap();
    Layout::from_matrix(space.clone(), space.clone(), matrix).unwrap()
}

#[test]
fn composition_is_associative_and_means_one_after_the_other() {
    holds(400, |u| {
        let mut spaces = Vec::new();
        for _ in 0..4 {
            let next = space(u, &INPUTS, 2)?;
            spaces.push(reordered(u, &next)?);
        }
        let f = between(u, &spaces[0], &spaces[1])?;
        // The second map reads its inputs in another order.
        let middle = reordered(u, &spaces[1])?;
        let g = between(u, &middle, &spaces[2])?;
        let h = between(u, &spaces[2], &spaces[3])?;
        let fg = f.compose(&g).unwrap();
        let left = fg.compose(&h).unwrap();
        assert_eq!(left, f.compose(&g.compose(&h).unwrap()).unwrap());
        assert_eq!(identity(&spaces[0]).compose(&f).unwrap(), f);
        assert_eq!(f.compose(&identity(&spaces[1])).unwrap(), f);
        for place in places(&spaces[0]).take(64) {
            let between = f.apply(&spaces[0].unpack(place)).unwrap();
            assert_eq!(g.apply(&between).unwrap(), spaces[2].unpack(fg.apply_flat(place)));
        }
        Ok(())
    });
}

#[test]
fn compositions_need_the_outputs_of_the_first() {
    let [small, large] = [2, 3].map(|bits| Layout::identity(bits, LANE, LANE).unwrap());
    // A larger second map is restricted.
    assert_eq!(small.compose(&large).unwrap().outs(), large.outs());
    let error = large.compose(&small).unwrap_err();
    assert_eq!(error.to_string(), "axis `lane` has 2 bits, 3 are needed");
    let warps = Layout::identity(2, WARP, WARP).unwrap();
    let missing = LayoutError::Space(SpaceError::UnknownLabel(LANE));
    assert_eq!(small.compose(&warps), Err(missing));
}

#[test]
fn products_are_associative_and_divide() {
    holds(600, |u| {
        let dims = [Label::dim(2), Label::dim(1), Label::dim(0)];
        let mut any = || {
            let (ins, outs) = (space(u, &INPUTS, 2)?, space(u, &dims, 2)?);
            between(u, &ins, &outs)
        };
        let (a, b, c) = (any()?, any()?, any()?);
        // Axes are merged in an order that extends both, which need not be unique.
        let (Ok(ab), Ok(bc)) = (a.product(&b), b.product(&c)) else { return Ok(()) };
        if let (Ok(left), Ok(right)) = (ab.product(&c), a.product(&bc)) {
            let order: Vec<Label> = left.ins().labels().collect();
            let outs: Vec<Label> = left.outs().labels().collect();
            let right = right.transpose_ins(&order).unwrap().transpose_outs(&outs).unwrap();
            assert_eq!(left, right);
        }
        assert_eq!(a.product(&Layout::empty()).unwrap(), a);
        assert_eq!(Layout::empty().product(&a).unwrap(), a);
        assert_eq!(ab.rank(), a.rank() + b.rank());
        assert_eq!(ab.is_injective(), a.is_injective() && b.is_injective());
        assert_eq!(ab.is_surjective(), a.is_surjective() && b.is_surjective());
        // Division gives the other factor back, over all axes.
        let same = |found: &Layout, factor: &Layout, other: &Layout| {
            let zero = Layout::zeros(
                Space::new(&other.ins().labels().map(|l| (l, 0)).collect::<Vec<_>>()).unwrap(),
                Space::new(&other.outs().labels().map(|l| (l, 0)).collect::<Vec<_>>()).unwrap(),
            );
            let (ins, outs) = (found.ins(), found.outs());
            let padded = zero.unwrap().product(factor).unwrap();
            let padded = padded.transpose_ins(&ins.labels().collect::<Vec<_>>()).unwrap();
            assert_eq!(&padded.transpose_outs(&outs.labels().collect::<Vec<_>>()).unwrap(), found);
        };
        same(&ab.divide_left(&a).unwrap(), &b, &a);
        same(&ab.divide_right(&b).unwrap(), &a, &b);
        // Each part acts on its own bits.
        for place in places(ab.ins()).step_by(3).take(64) {
            let image = ab.apply_flat(place);
            for (label, _, bits) in ab.outs().iter() {
                let part = |layout: &Layout, shift: &dyn Fn(Label) -> u32| {
                    let coordinates: Vec<_> = (layout.ins().axes().iter())
                        .map(|&(axis, width)| {
                            let value = ab.ins().coordinate(axis, place) >> shift(axis);
                            (axis, value & ((1 << width) - 1))
                        })
                        .collect();
                    let image = layout.apply_flat(layout.ins().pack(&coordinates).unwrap());
                    layout.outs().coordinate(label, image)
                };
                let (low, high) = (part(&a, &|_| 0), part(&b, &|axis| a.in_bits(axis)));
                assert_eq!(ab.outs().coordinate(label, image), low | high << a.out_bits(label));
                assert!(bits <= 4);
            }
        }
        Ok(())
    });
}

#[test]
fn orders_of_axes_that_contradict_are_refused() {
    let [ab, ba] = [[REGISTER, LANE], [LANE, REGISTER]]
        .map(|labels| Layout::zeros(Space::new(&labels.map(|l| (l, 1))).unwrap(), Space::empty()));
    let error = ab.unwrap().product(&ba.unwrap()).unwrap_err();
    assert_eq!(error, LayoutError::Order(REGISTER, LANE));
    let wide = Layout::identity(40, OFFSET, BLOCK).unwrap();
    let error = wide.product(&wide).unwrap_err();
    assert_eq!(error, LayoutError::Space(SpaceError::TooManyBits(80)));
}

#[test]
fn layouts_of_64_bits_work() {
    let wide = Layout::identity(64, OFFSET, Label::dim(0)).unwrap();
    let back = wide.invert().unwrap();
    assert_eq!(wide.compose(&back).unwrap(), identity(wide.ins()));
    assert_eq!(wide.solve(&wide).unwrap(), identity(wide.ins()));
    assert_eq!(wide.divide_left(&wide).unwrap().ins().total_bits(), 0);
    assert_eq!(wide.contiguous_bits(OFFSET, Label::dim(0)), 64);
    assert_eq!(wide.contiguous_run(OFFSET, Label::dim(0)), u64::MAX);
    assert_eq!(wide.transpose(&[0]).unwrap(), wide);
    assert_eq!(wide.expand_dims(0).unwrap().expand_dims_back(0).unwrap(), wide);
    assert_eq!(wide.apply_flat(u64::MAX), u64::MAX);
    assert!(wide.join().is_err() && wide.resize_in(OFFSET, 65).is_err());
    assert_eq!(wide.resize_out(Label::dim(0), 0).unwrap().outs().total_bits(), 0);
    assert!(Layout::identity(65, OFFSET, OFFSET).is_err());
}

#[test]
fn masks_and_bases_are_one_layout() {
    holds(200, |u| {
        let layout = layout(u)?;
        let rows = layout.outs().total_bits();
        let masks: Vec<u64> = (0..rows).map(|row| layout.matrix().row(row)).collect();
        let (ins, outs) = (layout.ins().clone(), layout.outs().clone());
        assert_eq!(Layout::from_masks(ins, outs, &masks).unwrap(), layout);
        let text = layout.masks().to_string();
        assert_eq!(text.lines().count() as u32, rows);
        for (line, mask) in text.lines().zip(masks) {
            let terms = line.split_once(" = ").unwrap().1.split(" ^ ").filter(|&term| term != "0");
            assert_eq!(terms.count() as u32, mask.count_ones());
        }
        Ok(())
    });
}
