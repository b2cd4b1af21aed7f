//! Division, also with registers in another order, and repetitions of scattered tiles.

use std::string::ToString;
use std::vec::Vec;

use arbitrary::{Result, Unstructured};

use crate::{
    Label, Layout, LayoutError, Space, SpaceError,
    interop::parse_layout,
    layout::BitAction,
    space::{LANE, REGISTER},
    testing::{between, holds, places, shuffled},
};

/// A layout of registers and lanes to two axes, and a tile of the same axes; in half of the cases
/// the first is a product with the second, perhaps with its registers in another order.
fn pair(u: &mut Unstructured<'_>) -> Result<(Layout, Layout)> {
    let any = |u: &mut Unstructured<'_>, most: u32| {
        let mut sizes = [0; 4];
        for size in &mut sizes {
            *size = u.int_in_range(0..=most)?;
        }
        let ins = Space::new(&[(REGISTER, sizes[0]), (LANE, sizes[1])]).unwrap();
        let outs = Space::new(&[(Label::dim(1), sizes[2]), (Label::dim(0), sizes[3])]).unwrap();
        between(u, &ins, &outs)
    };
    let tile = any(u, 2)?;
    if u.arbitrary()? {
        return Ok((any(u, 3)?, tile));
    }
    let rest = any(u, 2)?;
    let whole = if u.arbitrary()? { tile.product(&rest) } else { rest.product(&tile) }.unwrap();
    let width = whole.in_bits(REGISTER);
    let order: Vec<u32> = shuffled(u, width)?.iter().map(|unit| unit.ilog2()).collect();
    let action = BitAction::new(REGISTER, width, &order).unwrap();
    Ok((if u.arbitrary()? { action.apply(&whole).unwrap() } else { whole }, tile))
}

/// All orders of `0..count`.
fn orders(count: u32) -> Vec<Vec<u32>> {
    let Some(last) = count.checked_sub(1) else { return [Vec::new()].to_vec() };
    let insert = |order: Vec<u32>| {
        (0..=last as usize).map(move |position| {
            let mut order = order.clone();
            order.insert(position, last);
            order
        })
    };
    orders(last).into_iter().flat_map(insert).collect()
}

#[test]
fn quotients_multiply_back_and_refusals_point_at_a_bit() {
    let (mut divided, mut refused) = (0, 0);
    holds(500, |u| {
        let (whole, tile) = pair(u)?;
        for (quotient, left) in
            [(whole.divide_left(&tile), true), (whole.divide_right(&tile), false)]
        {
            match quotient {
                Ok(rest) => {
                    divided += 1;
                    let product =
                        if left { tile.product(&rest) } else { rest.product(&tile) }.unwrap();
                    assert_eq!(product, whole);
                }
                Err(LayoutError::NotDivisible { label, bit, image, expected }) => {
                    refused += 1;
                    assert_eq!(image, whole.outs().unpack(whole.basis(label, bit)));
                    assert_ne!(Some(image), expected);
                }
                Err(LayoutError::Space(SpaceError::TooFewBits { label, needed, found })) => {
                    assert!(needed > found);
                    let sizes = |layout: &Layout| (layout.in_bits(label), layout.out_bits(label));
                    let (whole, tile) = (sizes(&whole), sizes(&tile));
                    assert!(tile.0 > whole.0 || tile.1 > whole.1);
                }
                Err(error) => panic!("{error}"),
            }
        }
        Ok(())
    });
    assert!(divided > 20 && refused > 20, "{divided} {refused}");
}

#[test]
fn an_order_of_the_registers_is_found_when_there_is_one() {
    let (mut found, mut refused) = (0, 0);
    holds(800, |u| {
        let (whole, tile) = pair(u)?;
        let width = whole.in_bits(REGISTER);
        for left in [true, false] {
            let divide = |layout: &Layout| {
                if left { layout.divide_left(&tile) } else { layout.divide_right(&tile) }
            };
            let permuted = if left {
                whole.divide_left_permuted(&tile, REGISTER)
            } else {
                whole.divide_right_permuted(&tile, REGISTER)
            };
            if let Ok((rest, order)) = permuted {
                found += 1;
                assert!(order.is_permutation() && order.label() == REGISTER);
                assert_eq!(divide(&order.apply(&whole).unwrap()), Ok(rest));
                // A layout that divides as it stands keeps its order.
                assert!(divide(&whole).is_err() || order.is_identity() || !whole.is_injective());
            } else {
                refused += 1;
                for order in orders(width).iter().take(120) {
                    let action = BitAction::new(REGISTER, width, order).unwrap();
                    assert!(divide(&action.apply(&whole).unwrap()).is_err());
                }
            }
        }
        Ok(())
    });
    assert!(found > 20 && refused > 20, "{found} {refused}");
}

#[test]
fn repetitions_add_up_without_carries() {
    let (mut repeated, mut scattered) = (0, 0);
    holds(500, |u| {
        let (whole, tile) = pair(u)?;
        let Ok(rest) = whole.repetitions(&tile) else {
            assert!(whole.divide_left(&tile).is_err());
            return Ok(());
        };
        repeated += 1;
        scattered += u32::from(whole.divide_left(&tile).is_err());
        let split = |place: u64, layout: &Layout, shift: &dyn Fn(Label) -> u32| {
            let axes = layout.ins().axes().iter();
            let coordinates: Vec<_> = axes
                .map(|&(label, bits)| {
                    let value = whole.ins().coordinate(label, place) >> shift(label);
                    (label, value & ((1 << bits) - 1))
                })
                .collect();
            layout.apply(&coordinates).unwrap()
        };
        for place in places(whole.ins()) {
            let inner = split(place, &tile, &|_| 0);
            let outer = split(place, &rest, &|label| tile.in_bits(label));
            for (label, value) in whole.outs().unpack(whole.apply_flat(place)) {
                let at = |coordinates: &[(Label, u64)]| {
                    coordinates.iter().find(|axis| axis.0 == label).map_or(0, |axis| axis.1)
                };
                assert_eq!(at(&inner) & at(&outer), 0);
                assert_eq!(at(&inner) + at(&outer), value);
            }
        }
        Ok(())
    });
    assert!(repeated > 20 && scattered > 2, "{repeated} {scattered}");
}

#[test]
fn refusals_read_as_sentences() {
    let layout = parse_layout("[register: 1 4, lane: 2] -> [dim0: 8]").unwrap();
    let pairs = parse_layout("[register: 1 2] -> [dim0: 4]").unwrap();
    let sentence =
        |result: std::result::Result<Layout, LayoutError>| result.unwrap_err().to_string();
    assert_eq!(
        sentence(layout.divide_left(&pairs)),
        "bit 1 of `register` goes to dim0=4, the divisor asks for dim0=2"
    );
    assert_eq!(
        sentence(layout.divide_left_permuted(&pairs, REGISTER).map(|pair| pair.0)),
        "no bit of `register` that is still free goes to dim0=2, as bit 1 of the divisor does"
    );
    let lone = parse_layout("[register: 1] -> [dim0: 4]").unwrap();
    assert_eq!(
        sentence(layout.divide_left(&lone)),
        "bit 0 of `lane` goes to dim0=2, which the divisor reaches too"
    );
    let lanes = parse_layout("[lane: 1 2] -> [dim0: 4]").unwrap();
    assert_eq!(sentence(layout.divide_left(&lanes)), "axis `lane` has 1 bits, 2 are needed");
    let warps = parse_layout("[warp: 1] -> [dim0: 2]").unwrap();
    assert_eq!(sentence(layout.repetitions(&warps)), "there is no axis `warp`");
}
