//! Boxes of tensor copies, against the law of their addresses.

use std::vec::Vec;

use crate::{
    Label, Layout, Space,
    family::{NvmmaShared, SwizzleMode, SwizzledShared},
    interop::parse_layout,
    plan::{CopyBoxes, NoBox, copy_box},
    space::OFFSET,
    testing::{self, holds},
};

/// Where a copy puts an element of a box that starts at an address: a law on bytes.
fn address(boxes: &CopyBoxes, start: u64, bytes: u64, at: &[u64]) -> u64 {
    let mut index = 0;
    for (&(_, side), &coordinate) in boxes.sides.iter().zip(at).rev() {
        index = index * side + coordinate;
    }
    let address = start + index * bytes;
    match boxes.mode {
        SwizzleMode::None => address,
        SwizzleMode::Bytes32 => address ^ (address & 0x80) >> 3,
        SwizzleMode::Bytes64 => address ^ (address & 0x180) >> 3,
        SwizzleMode::Bytes128 => address ^ (address & 0x380) >> 3,
    }
}

/// Every element is in one box, and lies where its copy puts it.
fn check(memory: &Layout, bytes: u64, boxes: &CopyBoxes) {
    let inverse = memory.restrict_ins(&[OFFSET]).unwrap().invert().unwrap();
    let mut elements = 0;
    for (first, start) in boxes.copies() {
        assert_eq!(start % 128, 0);
        for number in 0..boxes.elements() {
            let mut rest = number;
            let at: Vec<u64> = (boxes.sides.iter())
                .map(|&(_, side)| {
                    let coordinate = rest % side;
                    rest /= side;
                    coordinate
                })
                .collect();
            let own =
                |axis| boxes.sides.iter().zip(&at).find(|(side, _)| side.0 == axis).unwrap().1;
            let place: Vec<(Label, u64)> =
                first.iter().map(|&(axis, from)| (axis, from + own(axis))).collect();
            let element = inverse.ins().pack(&place).unwrap();
            let expected = inverse.apply_flat(element) * bytes;
            assert_eq!(address(boxes, start, bytes, &at), expected, "{memory} {boxes:?}");
            elements += 1;
        }
    }
    assert_eq!(elements, 1 << inverse.ins().total_bits());
}

/// Triton's memory for tensor copies is filled by them, in boxes that are as wide as its swizzle.
#[test]
fn tritons_memories_are_filled_by_boxes() {
    let (rows, columns) = (Label::dim(0), Label::dim(1));
    let mut filled = 0;
    for (swizzle, bits) in [0, 32, 64, 128].into_iter().flat_map(|s| [8, 16, 32].map(|b| (s, b))) {
        for shape in [[16, 16], [64, 64], [128, 64], [64, 256], [256, 128], [8, 512], [512, 64]] {
            for transposed in [false, true] {
                let family = NvmmaShared { transposed, ..NvmmaShared::new(swizzle, bits) };
                let Ok(memory) = family.layout(&shape) else { continue };
                let order = if transposed { [rows, columns] } else { [columns, rows] };
                let boxes = copy_box(&memory, bits as u32, &order);
                if shape[usize::from(!transposed)] * bits < 8 * 16 {
                    assert!(matches!(boxes, Err(NoBox::Element { .. })), "{memory}");
                    continue;
                }
                let boxes = boxes.unwrap();
                check(&memory, bits / 8, &boxes);
                if swizzle != 0 {
                    assert_eq!(boxes.mode.span(), swizzle, "{memory}");
                    assert_eq!(boxes.sides[0].1 * bits / 8, swizzle, "{memory}");
                }
                filled += 1;
            }
        }
    }
    assert!(filled > 120, "{filled}");
}

#[test]
fn what_no_copy_fills() {
    let order = [Label::dim(1), Label::dim(0)];
    // Vectors of 4 bytes change places, which no swizzle of addresses does.
    let memory = SwizzledShared::new(2, 1, 8, &[1, 0]).layout(&[64, 64]).unwrap();
    let error = copy_box(&memory, 16, &order).unwrap_err();
    assert!(matches!(error, NoBox::Element { .. }), "{error}");
    assert_eq!(copy_box(&memory, 4, &order), Err(NoBox::ElementBits(4)));
    assert_eq!(copy_box(&memory, 16, &order[..1]), Err(NoBox::Axes));
    assert_eq!(copy_box(&memory, 16, &[order[0]; 2]), Err(NoBox::Axes));
    // Global memory runs along the other axis.
    let memory = NvmmaShared::new(128, 16).layout(&[64, 64]).unwrap();
    assert!(copy_box(&memory, 16, &[order[1], order[0]]).is_err());
    let narrow = parse_layout("[offset: (0,1) (0,2) (1,0)] -> [dim0: 2, dim1: 4]").unwrap();
    assert!(copy_box(&narrow, 16, &order).is_err());
}

/// Random memories: what is answered is right.
#[test]
fn random_memories() {
    let mut filled = 0;
    holds(500, |u| {
        let (rows, columns) = (u.int_in_range(2..=6)?, u.int_in_range(4..=7)?);
        let outs = Space::tensor(&[1 << rows, 1 << columns]).unwrap();
        let bits = outs.total_bits();
        let mut offsets: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        // Whole rows of 16 bytes at least, the rest in any order.
        offsets[columns as usize - 1..].rotate_left(u.choose_index(rows as usize)?);
        if u.ratio(1, 4)? {
            offsets = testing::invertible(u, bits)?.columns().to_vec();
        }
        let ins = Space::new(&[(OFFSET, bits)]).unwrap();
        let memory = Layout::new(ins, outs, &offsets).unwrap();
        if let Ok(boxes) = copy_box(&memory, 16, &[Label::dim(1), Label::dim(0)]) {
            check(&memory, 2, &boxes);
            filled += 1;
        }
        Ok(())
    });
    assert!(filled > 50, "{filled}");
}
