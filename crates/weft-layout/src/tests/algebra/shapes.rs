//! Theorem 9.3: the shape operations of a tensor, against arrays that are really moved.

use std::{string::ToString, vec::Vec};

use arbitrary::{Result, Unstructured};

use crate::{
    Label, Layout, LayoutError, Space,
    interop::parse_layout,
    space::{LANE, REGISTER},
    testing::{INPUTS, between, holds, places, reordered, shuffled, space, tensor},
};

/// A layout of a tensor, of any rank, with its shape.
fn any(u: &mut Unstructured<'_>, outs: &Space) -> Result<Layout> {
    let ins = space(u, &INPUTS, 2)?;
    let ins = reordered(u, &ins)?;
    between(u, &ins, outs)
}

/// The array that an operation makes of the array of its operand's elements: for each element of the
/// result, its coordinates (`dim0` first) are turned into those of the operand.
fn array(result: &Space, operand: &Space, source: impl Fn(&[u64]) -> Vec<u64>) -> Vec<u64> {
    let of_place = |place: u64| -> Vec<u64> {
        result.unpack(place).iter().rev().map(|coordinate| coordinate.1).collect()
    };
    places(result)
        .map(|place| {
            let coordinates = source(&of_place(place));
            let named = (0..).map(Label::dim).zip(coordinates);
            operand.pack(&named.collect::<Vec<_>>()).unwrap()
        })
        .collect()
}

/// Every place holds the same element of the operand before and after.
fn holds_the_same(result: &Layout, operand: &Layout, array: &[u64]) {
    assert_eq!(result.ins(), operand.ins());
    for place in places(result.ins()) {
        let element = array[result.apply_flat(place) as usize];
        assert_eq!(element, operand.apply_flat(place));
    }
}

#[test]
fn s1_12_trans() {
    holds(300, |u| {
        let operand = tensor(u, 2)?;
        let rank = operand.axes().len();
        let order: Vec<usize> =
            shuffled(u, rank as u32)?.iter().map(|unit| unit.ilog2() as usize).collect();
        let layout = any(u, &operand)?;
        let forward = layout.transpose(&order).unwrap();
        let moved = array(forward.outs(), &operand, |coordinates| {
            let at = |dim| coordinates[order.iter().position(|&old| old == dim).unwrap()];
            (0..rank).map(at).collect()
        });
        holds_the_same(&forward, &layout, &moved);
        let result = any(u, forward.outs())?;
        let back = result.transpose_back(&order).unwrap();
        holds_the_same(&result, &back, &moved);
        assert_eq!(forward.transpose_back(&order).unwrap(), layout);
        assert_eq!(back.transpose(&order).unwrap(), result);
        Ok(())
    });
    let layout = Layout::identity(2, LANE, Label::dim(0)).unwrap();
    assert_eq!(layout.transpose(&[1]), Err(LayoutError::NotPermutation));
    assert_eq!(layout.transpose_back(&[0, 0]), Err(LayoutError::NotPermutation));
    let memory = Layout::identity(2, Label::dim(0), LANE).unwrap();
    assert_eq!(memory.transpose(&[0]), Err(LayoutError::NotTensor));
}

#[test]
fn s1_12_reshape() {
    holds(200, |u| {
        let operand = tensor(u, 2)?;
        let shape = crate::testing::shape(u, operand.total_bits())?;
        let layout = any(u, &operand)?;
        let forward = layout.reshape(&shape).unwrap();
        // An array is reshaped by leaving it alone.
        let moved: Vec<u64> = places(&operand).collect();
        holds_the_same(&forward, &layout, &moved);
        let result = any(u, forward.outs())?;
        let back = result.reshape_back(&operand.shape()).unwrap();
        holds_the_same(&result, &back, &moved);
        assert_eq!(back.outs(), &operand);
        assert_eq!(forward.reshape_back(&operand.shape()).unwrap(), layout);
        Ok(())
    });
    let layout = Layout::identity(2, LANE, Label::dim(0)).unwrap();
    assert_eq!(layout.reshape(&[2]), Err(LayoutError::Resize { from: 2, to: 1 }));
}

#[test]
fn s1_12_expand_dims_and_slices() {
    holds(200, |u| {
        let operand = tensor(u, 2)?;
        let rank = operand.axes().len();
        let axis = u.int_in_range(0..=rank)?;
        let layout = any(u, &operand)?;
        let forward = layout.expand_dims(axis).unwrap();
        let drop = |coordinates: &[u64]| {
            let mut rest = coordinates.to_vec();
            rest.remove(axis);
            rest
        };
        let moved = array(forward.outs(), &operand, drop);
        holds_the_same(&forward, &layout, &moved);
        let result = any(u, forward.outs())?;
        holds_the_same(&result, &result.expand_dims_back(axis).unwrap(), &moved);
        assert_eq!(forward.expand_dims_back(axis).unwrap(), layout);
        assert!(layout.expand_dims(rank + 1).is_err() && layout.slice(rank).is_err());
        // A slice forgets a coordinate.
        if rank > 0 {
            let axis = u.choose_index(rank)?;
            let slice = layout.slice(axis).unwrap();
            let size = operand.axes()[rank - 1 - axis].1;
            assert_eq!(layout.expand_dims_back(axis).is_ok(), size == 0);
            for place in places(layout.ins()) {
                let mut all = operand.unpack(layout.apply_flat(place));
                all.remove(rank - 1 - axis);
                let kept = slice.outs().unpack(slice.apply_flat(place));
                assert!(all.iter().map(|c| c.1).eq(kept.iter().map(|c| c.1)));
            }
        }
        Ok(())
    });
}

#[test]
fn s1_12_broadcast() {
    holds(300, |u| {
        let operand = tensor(u, 1)?;
        let layout = any(u, &operand)?;
        let mut wide = operand.shape();
        for size in wide.iter_mut().filter(|size| **size == 1) {
            *size = 1 << u.int_in_range(0..=2)?;
        }
        let forward = layout.broadcast(&wide).unwrap();
        let small = operand.shape();
        let moved = array(forward.outs(), &operand, |coordinates| {
            coordinates
                .iter()
                .zip(&small)
                .map(|(&c, &size)| if size == 1 { 0 } else { c })
                .collect()
        });
        // New registers stand above the old ones, and each thread holds all elements it stands for.
        let added = forward.ins().total_bits() - layout.ins().total_bits();
        assert_eq!(1 << added, wide.iter().product::<u64>() / small.iter().product::<u64>());
        for place in places(forward.ins()) {
            let coordinates: Vec<(Label, u64)> = (layout.ins().axes().iter())
                .map(|&(label, bits)| {
                    (label, forward.ins().coordinate(label, place) & ((1 << bits) - 1))
                })
                .collect();
            let before = layout.apply_flat(layout.ins().pack(&coordinates).unwrap());
            assert_eq!(moved[forward.apply_flat(place) as usize], before);
        }
        assert_eq!(forward.is_surjective(), layout.is_surjective());
        let result = any(u, forward.outs())?;
        holds_the_same(&result, &result.broadcast_back(&small).unwrap(), &moved);
        let back = forward.broadcast_back(&small).unwrap();
        let first = layout.in_bits(REGISTER);
        let kept = back.resize_in(REGISTER, first);
        let has_registers = layout.ins().contains(REGISTER) || added > 0;
        let kept = if has_registers { kept.unwrap() } else { back };
        assert_eq!(kept.matrix(), layout.matrix());
        Ok(())
    });
    let layout = Layout::identity(1, LANE, Label::dim(0)).unwrap();
    let error = layout.broadcast(&[4]).unwrap_err();
    assert_eq!(error.to_string(), "axis 0 of size 2 cannot be broadcast to 4");
    assert_eq!(layout.broadcast(&[2, 2]), Err(LayoutError::Rank { expected: 1, found: 2 }));
}

/// The element of the operands that element `place` of a joined tensor is: which one, and where.
fn halves(place: u64) -> (u64, u64) {
    (place & 1, place >> 1)
}

#[test]
fn s1_12_join_and_split() {
    let (mut own, mut elsewhere) = (0, 0);
    holds(400, |u| {
        let operand = tensor(u, 2)?;
        let layout = any(u, &operand)?;
        let joined = layout.join().unwrap();
        assert_eq!(joined.shape(), [operand.shape(), [2].to_vec()].concat());
        // Register bit 0 tells the operands apart, and each thread held both elements before.
        for place in places(joined.ins()) {
            let register = joined.ins().coordinate(REGISTER, place);
            let mut coordinates = joined.ins().unpack(place);
            coordinates.retain(|axis| layout.ins().contains(axis.0));
            for (label, value) in &mut coordinates {
                *value >>= u32::from(*label == REGISTER);
            }
            let before = layout.apply_flat(layout.ins().pack(&coordinates).unwrap());
            assert_eq!(halves(joined.apply_flat(place)), (register & 1, before));
        }
        assert_eq!(layout.split_back().unwrap(), joined);
        let unjoined = joined.join_back().unwrap();
        assert_eq!(unjoined.matrix(), layout.matrix());
        let (half, bit) = joined.split().unwrap();
        assert_eq!((&half, bit), (&unjoined, 0));
        // Any layout of the result.
        let result = any(u, joined.outs())?;
        let back = result.join_back().unwrap();
        match result.split() {
            Ok((half, bit)) => {
                own += 1;
                assert_eq!(half, back);
                for place in places(result.ins()) {
                    let mut coordinates = result.ins().unpack(place);
                    let register = coordinates.iter_mut().find(|axis| axis.0 == REGISTER).unwrap();
                    let which = register.1 >> bit & 1;
                    let (low, high) = (register.1 & ((1 << bit) - 1), register.1 >> (bit + 1));
                    register.1 = low | high << bit;
                    let in_half = half.apply_flat(half.ins().pack(&coordinates).unwrap());
                    assert_eq!(halves(result.apply_flat(place)), (which, in_half));
                }
            }
            Err(LayoutError::NotSplit { size, holders }) => {
                elsewhere += 1;
                assert_eq!(size, Some(2));
                for (label, bit) in result
                    .ins()
                    .iter()
                    .flat_map(|(label, _, bits)| (0..bits).map(move |bit| (label, bit)))
                {
                    let reaches = result.basis(label, bit) & 1 == 1;
                    assert_eq!(holders.contains(&(label, bit)), reaches);
                }
                // Backward, every place has what it needs in both operands.
                for place in places(result.ins()) {
                    assert_eq!(halves(result.apply_flat(place)).1, back.apply_flat(place));
                }
            }
            Err(error) => panic!("{error}"),
        }
        Ok(())
    });
    assert!(own > 5 && elsewhere > 20, "{own} {elsewhere}");
}

#[test]
fn p10_a_split_along_lanes_is_refused() {
    let split = |text: &str| parse_layout(text).unwrap().split().unwrap_err().to_string();
    let rule = "a split needs a last axis of size 2 that lies on one register bit of its own";
    assert_eq!(
        split("[register: (1,0), lane: (0,1)] -> [dim0: 2, dim1: 2]"),
        std::format!("{rule}; this one lies on lane[0]")
    );
    assert_eq!(
        split("[register: (1,1), lane: (1,0)] -> [dim0: 2, dim1: 2]"),
        std::format!("{rule}; this one lies on register[0]")
    );
    assert_eq!(split("[lane: 1 2] -> [dim0: 4]"), std::format!("{rule}; this one has size 4"));
    assert_eq!(split("[lane: 0] -> [dim0: 2]"), std::format!("{rule}; nothing reaches this one"));
    assert_eq!(split("[lane:] -> []"), std::format!("{rule}; the tensor has no axes"));
}
