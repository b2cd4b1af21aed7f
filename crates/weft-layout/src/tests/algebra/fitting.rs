//! Cutting and growing.

use std::{string::ToString, vec::Vec};

use crate::{
    Label, LayoutError,
    family::Blocked,
    interop::parse_layout,
    layout::Surplus,
    space::REGISTER,
    testing::{holds, layout, places, shape},
};

#[test]
fn cut_layouts_keep_what_fits() {
    let (mut cut_some, mut refused) = (0, 0);
    holds(400, |u| {
        let layout = layout(u)?;
        let rank = layout.outs().axes().len();
        let target: Vec<u64> =
            (0..rank).map(|_| Ok(1 << u.int_in_range(0..=3)?)).collect::<Result<_, _>>()?;
        let fits = |place: u64| {
            let coordinates = layout.outs().unpack(place);
            coordinates
                .iter()
                .all(|(label, value)| *value < target[label.dim_index().unwrap() as usize])
        };
        match layout.cut_to(&target, Surplus::Copies) {
            Ok(cut) => {
                cut_some += 1;
                assert_eq!(cut.ins(), layout.ins());
                for (bit, (&before, &after)) in
                    layout.matrix().columns().iter().zip(cut.matrix().columns()).enumerate()
                {
                    let expected = if fits(before) {
                        layout.outs().unpack(before)
                    } else {
                        layout.outs().unpack(0)
                    };
                    assert_eq!(cut.outs().unpack(after), expected, "bit {bit}");
                }
                let least = |(&a, &b): (&u64, &u64)| a.min(b);
                let shape: Vec<u64> = layout.shape().iter().zip(&target).map(least).collect();
                assert_eq!(cut.shape(), shape);
                let narrow = layout.cut_to(&target, Surplus::Dropped).unwrap();
                let beyond: Vec<u32> = (0..)
                    .zip(layout.columns(REGISTER))
                    .filter(|basis| !fits(*basis.1))
                    .map(|basis| basis.0)
                    .collect();
                assert_eq!(narrow, cut.without_bits(REGISTER, &beyond).unwrap());
            }
            Err(LayoutError::CannotCut { label, bit, image, .. }) => {
                refused += 1;
                let place = layout.basis(label, bit);
                assert_eq!(image, layout.outs().unpack(place));
                assert!(place.count_ones() > 1 && !fits(place));
            }
            Err(error) => panic!("{error}"),
        }
        Ok(())
    });
    assert!(cut_some > 20 && refused > 10, "{cut_some} {refused}");
}

#[test]
fn grown_layouts_hold_the_whole_tensor() {
    holds(300, |u| {
        let layout = layout(u)?;
        let rank = layout.outs().axes().len();
        let target: Vec<u64> =
            (0..rank).map(|_| Ok(1 << u.int_in_range(0..=4)?)).collect::<Result<_, _>>()?;
        let mut order: Vec<usize> = (0..rank).collect();
        order.rotate_left(if rank > 0 { u.choose_index(rank)? } else { 0 });
        let grown = layout.grow_to(REGISTER, &target, &order).unwrap();
        let most = |(&a, &b): (&u64, &u64)| a.max(b);
        let shape: Vec<u64> = layout.shape().iter().zip(&target).map(most).collect();
        assert_eq!(grown.shape(), shape);
        assert_eq!(grown.is_surjective(), layout.is_surjective());
        assert_eq!(grown.is_injective(), layout.is_injective());
        // What was there stays, and what is new is an identity on top of it.
        for place in places(layout.ins()).take(64) {
            let coordinates = layout.ins().unpack(place);
            let image = layout.outs().unpack(layout.apply_flat(place));
            assert_eq!(grown.apply(&coordinates).unwrap(), image);
        }
        let new = grown.columns(REGISTER)[layout.in_bits(REGISTER) as usize..].to_vec();
        let dims: Vec<usize> = new
            .iter()
            .map(|&column| {
                assert_eq!(column.count_ones(), 1);
                let unit = grown.outs().unpack(column);
                let dim = unit.iter().find(|axis| axis.1 != 0).unwrap().0.dim_index().unwrap();
                order.iter().position(|&other| other == dim as usize).unwrap()
            })
            .collect();
        assert!(dims.is_sorted());
        if layout.is_surjective() {
            assert_eq!(grown.divide_left(&layout).unwrap().ins().total_bits(), new.len() as u32);
        }
        // Cutting undoes growing.
        let cut = grown.cut_to(&layout.shape(), Surplus::Dropped).unwrap();
        assert_eq!((cut.matrix(), cut.outs()), (layout.matrix(), layout.outs()));
        Ok(())
    });
}

#[test]
fn blocked_layouts_are_a_tile_cut_and_grown() {
    holds(200, |u| {
        let bits = u.int_in_range(0..=10)?;
        let shape = shape(u, bits)?;
        let rank = shape.len();
        let mut sizes = |total: u32| -> arbitrary::Result<Vec<u64>> {
            let mut left = total;
            (0..rank)
                .map(|dim| {
                    let part = if dim + 1 == rank { left } else { u.int_in_range(0..=left)? };
                    left -= part;
                    Ok(1 << part)
                })
                .collect()
        };
        let (registers, lanes, warps) = (sizes(2)?, sizes(5)?, sizes(2)?);
        let order: Vec<usize> = (0..rank).rev().collect();
        // The tile alone: as large as the tensor needs it to be for nothing to be cut.
        let whole: Vec<u64> =
            (0..rank).map(|dim| registers[dim] * lanes[dim] * warps[dim]).collect();
        let blocked = Blocked::new(&registers, &lanes, &warps, &order);
        let tile = blocked.layout(&whole).unwrap();
        let fitted = tile
            .grow_to(REGISTER, &shape, &order)
            .unwrap()
            .cut_to(&shape, Surplus::Copies)
            .unwrap();
        let expected = blocked.layout(&shape).unwrap();
        let unique = |layout: &crate::Layout| layout.remove_zero_columns(REGISTER).unwrap().0;
        assert_eq!(unique(&fitted), unique(&expected));
        Ok(())
    });
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let layout = parse_layout("[register: 1, lane: 2 6] -> [dim0: 8]").unwrap();
    let cut = |shape: &[u64]| layout.cut_to(shape, Surplus::Copies).unwrap_err().to_string();
    assert_eq!(
        cut(&[4]),
        "bit 1 of `lane` goes to dim0=6, beyond [dim0: 4], and is more than one bit"
    );
    assert_eq!(cut(&[4, 4]), "the tensor has 1 axes, the shape 2");
    assert_eq!(cut(&[3]), "size 3 of axis `dim0` is not a power of two");
    assert_eq!(layout.grow_to(REGISTER, &[8], &[1]), Err(LayoutError::NotPermutation));
    assert!(layout.grow_to(REGISTER, &[1 << 63], &[0]).is_ok());
    let memory = layout.rename_out(Label::dim(0), REGISTER).unwrap();
    assert_eq!(memory.cut_to(&[4], Surplus::Copies), Err(LayoutError::NotTensor));
}
