//! Identities, runs, quotients, copies and kinds.

use std::{collections::BTreeSet, string::ToString, vec::Vec};

use crate::{
    Label, Layout, LayoutError, Space,
    interop::parse_layout,
    space::{BLOCK, LANE, REGISTER, WARP},
    testing::{INPUTS, between, holds, layout, places, reordered, space},
};

/// A map from hardware to hardware; often trivial over some axes.
fn moves(u: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<Layout> {
    let labels = [REGISTER, LANE, WARP, BLOCK];
    let (mut ins, mut outs) = (space(u, &labels, 2)?, space(u, &labels, 2)?);
    let mut parts = Vec::new();
    for label in [LANE, WARP] {
        if u.arbitrary()? {
            let without = |space: &Space| {
                let kept = space.axes().iter().filter(|axis| axis.0 != label).copied();
                Space::new(&kept.collect::<Vec<_>>()).unwrap()
            };
            (ins, outs) = (without(&ins), without(&outs));
            let part = Layout::identity(u.int_in_range(0..=2)?, label, label).unwrap();
            parts.push(part);
        }
    }
    let mut whole = between(u, &ins, &outs)?;
    for part in parts {
        whole = match whole.product(&part) {
            Ok(product) => product,
            Err(_) => whole,
        };
    }
    Ok(whole)
}

#[test]
fn quotients_exist_exactly_where_nothing_crosses() {
    let (mut divided, mut refused) = (0, 0);
    holds(600, |u| {
        let layout = moves(u)?;
        let mut labels = Vec::new();
        for label in [REGISTER, LANE, WARP, BLOCK] {
            if layout.ins().contains(label) && u.ratio(1, 2)? {
                labels.push(label);
            }
        }
        let (ins, outs) = (layout.ins(), layout.outs());
        let at = |space: &Space, place: u64| -> Vec<(Label, u64)> {
            space.unpack(place).into_iter().filter(|axis| labels.contains(&axis.0)).collect()
        };
        let sorted = |mut list: Vec<(Label, u64)>| {
            list.sort();
            list
        };
        let inside: Vec<Label> = labels.clone();
        // By definition: those coordinates stay, and the others do not depend on them.
        let sizes =
            inside.iter().all(|&label| outs.contains(label) && outs.bits(label) == ins.bits(label));
        let trivial = sizes
            && places(ins).all(|place| {
                let image = layout.apply_flat(place);
                let mask = inside.iter().fold(0, |mask, &label| mask | ins.mask(label));
                let out_mask = inside.iter().fold(0, |mask, &label| mask | outs.mask(label));
                let alone = layout.apply_flat(place & !mask);
                sorted(at(ins, place)) == sorted(at(outs, image))
                    && alone & !out_mask == image & !out_mask
            });
        assert_eq!(layout.is_trivial_over(&labels), trivial);
        match layout.quotient(&labels) {
            Ok(rest) => {
                divided += 1;
                assert!(trivial);
                assert!(labels.iter().all(|&label| layout.is_identity_on(label)));
                for place in places(rest.ins()) {
                    let image = layout.apply(&rest.ins().unpack(place)).unwrap();
                    let others: Vec<_> =
                        image.into_iter().filter(|axis| !labels.contains(&axis.0)).collect();
                    assert_eq!(rest.outs().unpack(rest.apply_flat(place)), others);
                }
            }
            Err(LayoutError::Crosses { label, bit, image }) => {
                refused += 1;
                assert_eq!(outs.unpack(layout.basis(label, bit)), image);
            }
            Err(LayoutError::AxisMismatch { label, left, right }) => {
                let bits = |space: &Space| space.contains(label).then(|| space.bits(label));
                assert_eq!((left, right), (bits(ins), bits(outs)));
                assert_ne!(left, right);
            }
            Err(error) => panic!("{error}"),
        }
        Ok(())
    });
    assert!(divided > 20 && refused > 10, "{divided} {refused}");
    let lone = Layout::identity(1, LANE, LANE).unwrap();
    assert_eq!(lone.quotient(&[WARP]).unwrap_err().to_string(), "there is no axis `warp`");
}

#[test]
fn runs_are_as_long_as_counting_finds() {
    let mut long = 0;
    holds(600, |u| {
        let mut layout = layout(u)?;
        if u.arbitrary()? {
            // A run, perhaps one that other inputs break.
            let run = Layout::identity(u.int_in_range(0..=2)?, REGISTER, Label::dim(0)).unwrap();
            layout = run.product(&layout).unwrap_or(layout);
        }
        let inputs: Vec<Label> = layout.ins().labels().chain([BLOCK]).collect();
        let (input, output) = (*u.choose(&inputs)?, *u.choose(&[Label::dim(0), Label::dim(1)])?);
        let (ins, outs) = (layout.ins(), layout.outs());
        // Runs of 2^k: aligned inputs are aligned elements, and steps are steps along the output.
        let holds_for = |bits: u32| {
            places(ins).all(|place| {
                let step = ins.coordinate(input, place) % (1 << bits);
                let start = place & !ins.pack(&[(input, step)]).unwrap();
                let first = layout.apply_flat(start);
                let along = |place| outs.coordinate(output, place);
                let others = |place| place & !outs.mask(output);
                let image = layout.apply_flat(place);
                along(first) % (1 << bits) == 0
                    && along(image) == along(first) + step
                    && others(image) == others(first)
            })
        };
        let most = ins.bits(input).min(outs.bits(output));
        let expected = if ins.contains(input) && outs.contains(output) {
            (0..=most).rev().find(|&bits| holds_for(bits)).unwrap()
        } else {
            0
        };
        assert_eq!(layout.contiguous_bits(input, output), expected, "{layout} {input} {output}");
        assert_eq!(layout.contiguous_run(input, output), 1 << expected);
        match layout.split_identity(input, output) {
            Ok((bits, rest)) => {
                assert_eq!(bits, expected);
                let tile = Layout::identity(bits, input, output).unwrap();
                assert_eq!(tile.product(&rest).unwrap(), layout);
                assert_eq!(rest.contiguous_bits(input, output), 0);
            }
            Err(_) => assert!(!ins.contains(input) || !outs.contains(output)),
        }
        long += u32::from(expected > 1);
        Ok(())
    });
    assert!(long > 5, "{long}");
}

#[test]
fn layouts_without_copies_hold_the_same() {
    let mut narrowed = 0;
    holds(400, |u| {
        let layout = layout(u)?;
        for label in layout.ins().labels() {
            let narrow = layout.without_copies(label).unwrap();
            assert_eq!(narrow.source.compose(&narrow.layout).unwrap(), layout);
            assert_eq!(narrow.kept.apply(&layout).unwrap(), narrow.layout);
            let axis = narrow.layout.restrict_ins(&[label]).unwrap();
            assert!(axis.is_injective());
            assert_eq!(axis.image(), layout.restrict_ins(&[label]).unwrap().image());
            // Every other axis stays in place.
            for other in layout.ins().labels().filter(|&other| other != label) {
                let stays = |bit: u32| narrow.layout.ins().pack(&[(other, 1_u64 << bit)]).unwrap();
                let mut bits = (0..).zip(narrow.source.columns(other));
                assert!(bits.all(|(bit, &place)| place == stays(bit)));
            }
            narrowed += u32::from(!narrow.kept.is_permutation());
            let (plain, removed) = layout.remove_zero_columns(label).unwrap();
            assert_eq!(
                plain.in_bits(label) as usize + removed.len(),
                layout.in_bits(label) as usize
            );
            assert!(!plain.columns(label).contains(&0));
        }
        Ok(())
    });
    assert!(narrowed > 20, "{narrowed}");
}

#[test]
fn copies_are_found() {
    let ins = Space::hardware(2, 2, 0, 0).unwrap();
    let layout = Layout::new(ins, Space::tensor(&[4]).unwrap(), &[1, 0, 1, 2]).unwrap();
    assert_eq!((layout.free_mask(REGISTER), layout.free_mask(LANE)), (0b10, 0b01));
    assert_eq!(layout.free_mask(WARP), 0);
    let (narrow, removed) = layout.remove_zero_columns(REGISTER).unwrap();
    assert_eq!((narrow.in_bits(REGISTER), removed), (1, std::vec![1]));
    assert!(layout.without_copies(crate::space::OFFSET).is_err());
}

#[test]
fn kinds_are_as_they_are_defined() {
    let mut found = [0; 2];
    holds(400, |u| {
        let ins = space(u, &INPUTS, 2)?;
        let axes = reordered(u, &ins)?;
        let outs: Vec<(Label, u32)> =
            (0..).zip(axes.axes()).map(|(dim, axis)| (Label::dim(dim), axis.1)).collect();
        let mut outs = Space::new(&outs).unwrap();
        if u.ratio(1, 3)? {
            outs = crate::testing::tensor(u, 2)?;
        }
        let layout = between(u, &ins, &outs)?;
        let columns = layout.matrix().columns();
        let nonzero: Vec<u64> = columns.iter().copied().filter(|&column| column != 0).collect();
        let distinct: BTreeSet<u64> = nonzero.iter().copied().collect();
        let single = nonzero.iter().all(|column| column.is_power_of_two());
        let distributed = single && distinct.len() == nonzero.len() && layout.is_surjective();
        assert_eq!(layout.is_distributed(), distributed);
        let few = columns.iter().all(|column| [1, 2].contains(&column.count_ones()));
        assert_eq!(layout.is_memory_layout(), few && layout.is_invertible());
        found[0] += u32::from(distributed);
        found[1] += u32::from(layout.is_memory_layout() && !distributed);
        Ok(())
    });
    assert!(found[0] > 10 && found[1] > 2, "{found:?}");
    let six = parse_layout("[offset: 1 2 4 8 16 32 127] -> [dim0: 128]").unwrap();
    assert!(six.is_invertible() && !six.is_memory_layout() && !six.is_distributed());
}
