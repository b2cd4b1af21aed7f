//! Operators that move, resize, join, drop and rename axes; labels and spaces.

use std::{string::ToString, vec::Vec};

use crate::{
    Label, Layout, Space,
    space::{LANE, OFFSET, WARP},
    testing::{holds, layout, places, reordered},
};

#[test]
fn reordered_axes_mean_the_same() {
    holds(300, |u| {
        let layout = layout(u)?;
        let ins = reordered(u, layout.ins())?;
        let outs = reordered(u, layout.outs())?;
        let moved = layout.transpose_ins(&ins.labels().collect::<Vec<_>>()).unwrap();
        let moved = moved.transpose_outs(&outs.labels().collect::<Vec<_>>()).unwrap();
        assert_eq!((moved.ins(), moved.outs()), (&ins, &outs));
        for place in places(&ins).take(64) {
            let image = layout.apply(&ins.unpack(place)).unwrap();
            assert_eq!(moved.apply_flat(place), outs.pack(&image).unwrap());
        }
        let order: Vec<Label> = layout.ins().labels().collect();
        let back = moved.transpose_ins(&order).unwrap();
        let order: Vec<Label> = layout.outs().labels().collect();
        assert_eq!(back.transpose_outs(&order).unwrap(), layout);
        // Reshapes keep flat places.
        let flat = Space::new(&[(OFFSET, layout.ins().total_bits())]).unwrap();
        let other = layout.reshape_ins(flat).unwrap();
        assert!(places(&ins).all(|place| other.apply_flat(place) == layout.apply_flat(place)));
        assert_eq!(other.reshape_ins(layout.ins().clone()).unwrap(), layout);
        let flat = Space::new(&[(OFFSET, layout.outs().total_bits())]).unwrap();
        let other = layout.reshape_outs(flat).unwrap();
        assert_eq!(other.matrix(), layout.matrix());
        assert_eq!(other.reshape_outs(layout.outs().clone()).unwrap(), layout);
        Ok(())
    });
}

#[test]
fn layouts_are_the_concatenation_of_their_parts() {
    holds(400, |u| {
        let whole = layout(u)?;
        let cut = |u: &mut arbitrary::Unstructured<'_>, space: &Space| {
            let labels: Vec<Label> = space.labels().collect();
            let at = u.int_in_range(0..=labels.len())?;
            Ok((labels[..at].to_vec(), labels[at..].to_vec()))
        };
        let (first, second) = cut(u, whole.ins())?;
        let [a, b] = [&first, &second].map(|labels| whole.restrict_ins(labels).unwrap());
        assert_eq!(a.concat_ins(&b).unwrap(), whole);
        // Outputs are matched by label.
        let order: Vec<Label> = reordered(u, whole.outs())?.labels().collect();
        assert_eq!(a.concat_ins(&b.transpose_outs(&order).unwrap()).unwrap(), whole);
        let inputs: Vec<Label> = whole.ins().labels().collect();
        let (first, second) = cut(u, whole.outs())?;
        let [a, b] = [&first, &second].map(|labels| whole.sublayout(&inputs, labels).unwrap());
        assert_eq!(a.concat_outs(&b).unwrap(), whole);
        let order: Vec<Label> = reordered(u, whole.ins())?.labels().collect();
        assert_eq!(a.concat_outs(&b.transpose_ins(&order).unwrap()).unwrap(), whole);
        for place in places(a.ins()).take(32) {
            let image = whole.outs().unpack(whole.apply_flat(place));
            let expected: Vec<_> =
                image.into_iter().filter(|axis| first.contains(&axis.0)).collect();
            assert_eq!(a.outs().unpack(a.apply_flat(place)), expected);
        }
        Ok(())
    });
}

#[test]
fn resized_axes_keep_what_fits() {
    holds(400, |u| {
        let layout = layout(u)?;
        let bits = u.int_in_range(0..=5)?;
        for label in layout.ins().labels() {
            let resized = layout.resize_in(label, bits).unwrap();
            assert_eq!(resized.in_bits(label), bits);
            for (axis, _, width) in resized.ins().iter() {
                for bit in 0..width {
                    let gone = bit >= layout.in_bits(axis);
                    let expected = if gone { 0 } else { layout.basis(axis, bit) };
                    assert_eq!(resized.basis(axis, bit), expected);
                }
            }
            if bits >= layout.in_bits(label) {
                assert_eq!(resized.resize_in(label, layout.in_bits(label)).unwrap(), layout);
            }
        }
        for label in layout.outs().labels() {
            let resized = layout.resize_out(label, bits).unwrap();
            assert_eq!((resized.out_bits(label), resized.ins()), (bits, layout.ins()));
            for (old, new) in layout.matrix().columns().iter().zip(resized.matrix().columns()) {
                let expected: Vec<(Label, u64)> = (layout.outs().unpack(*old).into_iter())
                    .map(|(axis, value)| {
                        (axis, if axis == label && value >= 1 << bits { 0 } else { value })
                    })
                    .collect();
                assert_eq!(resized.outs().unpack(*new), expected);
            }
            if bits >= layout.out_bits(label) {
                assert_eq!(resized.resize_out(label, layout.out_bits(label)).unwrap(), layout);
            }
        }
        Ok(())
    });
}

#[test]
fn axes_of_size_1_come_and_go() {
    holds(200, |u| {
        let plain = layout(u)?;
        let (unit, none) = (Label::new("unit").unwrap(), Space::empty());
        let axis = Space::new(&[(unit, 0)]).unwrap();
        let ins = Layout::zeros(axis.clone(), plain.outs().clone()).unwrap();
        let wide = plain.concat_ins(&ins).unwrap();
        assert_eq!(wide.squeeze_in(unit).unwrap(), plain);
        let outs = Layout::zeros(plain.ins().clone(), axis).unwrap();
        assert_eq!(plain.concat_outs(&outs).unwrap().squeeze_out(unit).unwrap(), plain);
        assert!(plain.squeeze_in(unit).is_err() && plain.squeeze_out(unit).is_err());
        for &(label, bits) in plain.ins().axes() {
            assert_eq!(plain.squeeze_in(label).is_ok(), bits == 0);
        }
        assert_eq!(plain.restrict_ins(&[]).unwrap().ins(), &none);
        let renamed = plain.rename_in(unit, LANE);
        assert_eq!(renamed.unwrap_err().to_string(), "there is no axis `unit`");
        Ok(())
    });
}

#[test]
fn joins_of_different_axes_name_both_sizes() {
    let [two, three] = [2, 3].map(|bits| Layout::identity(bits, LANE, Label::dim(0)).unwrap());
    let sentence = "axis `dim0` differs: 2 bits on the left, 3 bits on the right";
    assert_eq!(two.concat_ins(&three).unwrap_err().to_string(), sentence);
    let sentence = "axis `lane` differs: 2 bits on the left, 3 bits on the right";
    assert_eq!(two.concat_outs(&three).unwrap_err().to_string(), sentence);
    assert_eq!(two.concat_ins(&two).unwrap_err().to_string(), "axis `lane` occurs twice");
    let warps = two.rename_in(LANE, WARP).unwrap();
    let sentence = "axis `lane` differs: 2 bits on the left, missing on the right";
    assert_eq!(two.concat_outs(&warps).unwrap_err().to_string(), sentence);
    let wide = Layout::identity(40, LANE, OFFSET).unwrap();
    let error = wide.concat_ins(&wide.rename_in(LANE, WARP).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "a matrix of 40 rows and 65 columns exceeds 64 x 64");
    let squeezed = two.squeeze_in(LANE).unwrap_err();
    assert_eq!(squeezed.to_string(), "axis `lane` has 2 bits and cannot be dropped");
}

#[test]
fn labels_and_spaces_refuse_what_they_cannot_hold() {
    assert!(Label::new("").is_err() && Label::new("a b").is_err());
    assert!(Label::new("sixteen_letters_").is_err());
    for index in [0, 9, 10, 99, 100, u32::MAX] {
        assert_eq!(Label::dim(index).as_str(), std::format!("dim{index}"));
        assert_eq!(Label::dim(index).dim_index(), Some(index));
    }
    assert_eq!(Label::new("dim007").unwrap().dim_index(), None);
    assert!(Space::new(&[(LANE, 5), (LANE, 5)]).is_err());
    assert!(Space::new(&[(LANE, 60), (WARP, 5)]).is_err());
    assert!(Space::tensor(&[3]).is_err() && Space::tensor(&[0]).is_err());
    let space = Space::tensor(&[2, 4]).unwrap();
    assert_eq!(space.pack(&[(Label::dim(0), 1), (Label::dim(1), 3)]), Ok(7));
    assert!(space.pack(&[(Label::dim(1), 4)]).is_err() && space.pack(&[(OFFSET, 0)]).is_err());
    assert_eq!(space.shape(), [2, 4]);
}
