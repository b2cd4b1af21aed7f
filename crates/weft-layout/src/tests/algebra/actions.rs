//! Orders and choices of bits.

use std::{string::ToString, vec::Vec};

use arbitrary::{Result, Unstructured};

use crate::{
    LayoutError,
    layout::BitAction,
    space::{LANE, REGISTER, Space},
    testing::{between, holds, places, shuffled, tensor},
};

fn action(u: &mut Unstructured<'_>, width: u32) -> Result<BitAction> {
    let mut bits: Vec<u32> = shuffled(u, width)?.iter().map(|unit| unit.ilog2()).collect();
    if u.arbitrary()? {
        bits.truncate(u.int_in_range(0..=width as usize)?);
    }
    Ok(BitAction::new(REGISTER, width, &bits).unwrap())
}

#[test]
fn actions_do_the_same_to_layouts_and_to_values() {
    holds(400, |u| {
        let width = u.int_in_range(0..=4)?;
        let lanes = u.int_in_range(0..=2)?;
        let ins = Space::new(&[(LANE, lanes), (REGISTER, width)]).unwrap();
        let outs = tensor(u, 2)?;
        let layout = between(u, &ins, &outs)?;
        let first = action(u, width)?;
        let moved = first.apply(&layout).unwrap();
        for lane in 0..1 << lanes {
            let held = |layout: &crate::Layout| -> Vec<u64> {
                let registers = 0..1 << layout.in_bits(REGISTER);
                let place = |r| layout.ins().pack(&[(REGISTER, r), (LANE, lane)]).unwrap();
                registers.map(|register| layout.apply_flat(place(register))).collect()
            };
            assert_eq!(first.apply_to_values(&held(&layout)).unwrap(), held(&moved));
        }
        let second = action(u, first.bits().len() as u32)?;
        let both = first.then(&second).unwrap();
        assert_eq!(both.apply(&layout).unwrap(), second.apply(&moved).unwrap());
        match first.inverse() {
            Ok(inverse) => {
                assert!(first.is_permutation());
                assert!(first.then(&inverse).unwrap().is_identity());
                assert!(inverse.then(&first).unwrap().is_identity());
                assert_eq!(inverse.apply(&moved).unwrap(), layout);
            }
            Err(LayoutError::DroppedBit { bit, .. }) => assert!(!first.bits().contains(&bit)),
            Err(error) => panic!("{error}"),
        }
        let identity = BitAction::identity(REGISTER, width).unwrap();
        assert!(identity.is_identity() && places(&ins).all(|p| layout.apply_flat(p) < u64::MAX));
        assert_eq!(identity.then(&first).unwrap(), first);
        Ok(())
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    let wrong = |bits: &[u32]| BitAction::new(REGISTER, 2, bits).unwrap_err();
    let selection = |bit| LayoutError::NotSelection { label: REGISTER, bit, width: 2 };
    assert_eq!((wrong(&[2]), wrong(&[1, 1])), (selection(2), selection(1)));
    assert!(BitAction::identity(REGISTER, u32::MAX).is_err());
    let swap = BitAction::new(REGISTER, 2, &[1, 0]).unwrap();
    assert_eq!(
        swap.apply_to_values(&[0; 3]).unwrap_err().to_string(),
        "3 values are given for the 2^2 places"
    );
    let wide = BitAction::new(REGISTER, 64, &[63]).unwrap();
    assert!(wide.apply_to_values(&[0; 3]).is_err());
    assert_eq!(
        swap.then(&wide).unwrap_err().to_string(),
        "axis `register` differs: 2 bits on the left, 64 bits on the right"
    );
    let lanes = crate::Layout::identity(2, LANE, LANE).unwrap();
    assert_eq!(
        swap.apply(&lanes).unwrap_err().to_string(),
        "axis `register` differs: 2 bits on the left, missing on the right"
    );
}
