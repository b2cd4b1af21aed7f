//! The informal introduction to linear layouts.

use std::{collections::BTreeSet, format, string::ToString, vec::Vec};

use super::{I, J, layout_a, text};
use crate::{
    Label, Layout, LayoutError, Space,
    f2::Matrix,
    family::{SwizzledShared, row_major},
    space::OFFSET,
    testing::places,
};

#[test]
fn s2_1_all_layouts_are_too_many_to_number() {
    // log2(n!) bits for n = 10^9, by Stirling's formula, are 3.557 GB.
    let n = 1e9_f64;
    let nats = n * n.ln() - n + (2.0 * std::f64::consts::PI * n).ln() / 2.0;
    assert_eq!(format!("{:.3}", nats / 2_f64.ln() / 8.0 / 1e9), "3.557");
    // A linear layout of as many elements is 30 columns of 30 bits.
    let linear = row_major(&[1 << 15, 1 << 15]).unwrap();
    assert_eq!((linear.matrix().rows(), linear.matrix().cols()), (30, 30));
    assert!(size_of::<Matrix>() <= 528);
}

#[test]
fn s2_2_row_major_and_column_major() {
    let rows = row_major(&[8, 4]).unwrap();
    let columns = row_major(&[4, 8]).unwrap().transpose(&[1, 0]).unwrap();
    for (layout, offset) in
        [(rows, (|r, c| 4 * r + c) as fn(u64, u64) -> u64), (columns, |r, c| 8 * c + r)]
    {
        let inverse = layout.invert().unwrap();
        for (r, c) in (0..8).flat_map(|r| (0..4).map(move |c| (r, c))) {
            assert_eq!(inverse.apply(&[(I, r), (J, c)]).unwrap(), [(OFFSET, offset(r, c))]);
        }
    }
}

#[test]
fn s2_3_a_layout_may_permute_bits() {
    // n | c[hi..2] | h | w | c[1..0], for n = 2, c = 8, h = w = 4.
    let layout = text(
        "[offset: (0,1,0,0) (0,2,0,0) (0,0,0,1) (0,0,0,2) (0,0,1,0) (0,0,2,0) (0,4,0,0) (1,0,0,0)] \
         -> [dim0: 2, dim1: 8, dim2: 4, dim3: 4]",
    );
    let inverse = layout.invert().unwrap();
    for place in places(layout.outs()) {
        let at = |dim| layout.outs().coordinate(Label::dim(dim), place);
        let (n, c, h, w) = (at(0), at(1), at(2), at(3));
        let offset = (((n * 2 + c / 4) * 4 + h) * 4 + w) * 4 + c % 4;
        assert_eq!(inverse.apply_flat(place), offset);
    }
    assert!(layout.is_distributed());
}

#[test]
fn s2_4_splitting_axes_leaves_the_layout_equal() {
    let layout = layout_a();
    let split = layout.reshape(&[2; 8]).unwrap();
    assert_eq!(split.matrix(), layout.matrix());
    assert_eq!(split.reshape_back(&[16, 16]).unwrap(), layout);
}

#[test]
fn s2_5_an_array_of_blocks_repeats_the_block() {
    let block = text("[offset: 1 6 2 8] -> [dim0: 16]");
    for count in [1, 4, 64_u64] {
        let blocks = Layout::identity(count.ilog2(), OFFSET, I).unwrap();
        let array = block.product(&blocks).unwrap();
        for offset in 0..16 * count {
            let expected = offset / 16 * 16 + block.apply_flat(offset % 16);
            assert_eq!(array.apply_flat(offset), expected);
        }
    }
}

#[test]
fn s2_6_banks_of_a_32x32_matrix() {
    let (row, bank) = (Label::new("row").unwrap(), Label::new("bank").unwrap());
    let index = Space::new(&[(J, 5), (I, 5)]).unwrap();
    let memory = Space::new(&[(bank, 5), (row, 5)]).unwrap();
    let units = |fold: bool| -> Vec<u64> {
        let bank = (0..5).map(|bit| 1 << bit | if fold { 32 << bit } else { 0 });
        bank.chain((0..5).map(|bit| 32 << bit)).collect()
    };
    let banks = |layout: &Layout, line: Label| {
        let other = if line == I { J } else { I };
        let place = |at| layout.apply(&[(line, 7), (other, at)]).unwrap();
        (0..32).map(|at| place(at)[0].1).collect::<BTreeSet<u64>>().len()
    };
    let plain = Layout::from_masks(index.clone(), memory.clone(), &units(false)).unwrap();
    let swizzled = Layout::from_masks(index, memory, &units(true)).unwrap();
    // One bank for a whole column is a conflict of 32.
    assert_eq!([banks(&plain, I), banks(&plain, J)], [32, 1]);
    assert_eq!([banks(&swizzled, I), banks(&swizzled, J)], [32, 32]);
    assert_eq!(swizzled.apply(&[(I, 5), (J, 9)]).unwrap(), [(bank, 5 ^ 9), (row, 5)]);
}

/// The example with masks (1,0,1), (0,1,1), (1,1,1) over the bits (b2, b1, b0).
fn worked_example() -> Layout {
    let (ins, outs) = (Label::new("b").unwrap(), Label::new("o").unwrap());
    let space = |label| Space::new(&[(label, 3)]).unwrap();
    Layout::from_masks(space(ins), space(outs), &[0b101, 0b011, 0b111]).unwrap()
}

#[test]
fn s2_7_masks_and_bases_are_both_read_and_printed() {
    let layout = worked_example();
    assert_eq!(layout.to_string(), "[b: 7 6 5] -> [o: 8]");
    assert_eq!(text(&layout.to_string()), layout);
    assert_eq!(
        layout.masks().to_string(),
        "o[0] = b[0] ^ b[2]\no[1] = b[0] ^ b[1]\no[2] = b[0] ^ b[1] ^ b[2]"
    );
    for (row, mask) in (0..).zip([0b101, 0b011, 0b111]) {
        assert_eq!(layout.matrix().row(row), mask);
        // The parity rule.
        for b in 0..8_u64 {
            let parity = u64::from((b & mask).count_ones() % 2);
            assert_eq!(layout.apply_flat(b) >> row & 1, parity);
        }
    }
}

#[test]
fn s2_8_masks_and_bases_of_the_worked_example() {
    let layout = worked_example();
    // Written b2 b1 b0 -> o0 o1 o2.
    let table = ["000", "111", "011", "100", "101", "010", "110", "001"];
    for (b, expected) in (0..).zip(table) {
        let o = layout.apply_flat(b);
        assert_eq!(format!("{}{}{}", o & 1, o >> 1 & 1, o >> 2), expected);
    }
    assert!(layout.is_invertible());
}

#[test]
fn s2_9_injective_is_required_and_surjective_is_not() {
    let zero = Layout::zeros(worked_example().ins().clone(), worked_example().outs().clone());
    let error = zero.unwrap().invert().unwrap_err();
    assert_eq!(error.to_string(), "0 and b=1 both go to 0");
    // Padding: 8 elements in 16 places.
    let padded = worked_example().resize_out(Label::new("o").unwrap(), 4).unwrap();
    assert!(padded.is_injective() && !padded.is_surjective());
    let error = padded.invert().unwrap_err();
    assert_eq!(error.to_string(), "nothing goes to o=8");
}

#[test]
fn s2_10_copies_need_the_direction_from_memory_to_index() {
    let copies = text("[offset: 1 0] -> [dim0: 2]");
    assert!(matches!(copies.invert(), Err(LayoutError::NotInjective { .. })));
    // One of the copies can be named, and it is the lowest.
    let back = copies.right_inverse().unwrap();
    assert_eq!(back.to_string(), "[dim0: 1] -> [offset: 4]");
    assert!(back.compose(&copies).unwrap().matrix().is_identity());
}

#[test]
fn s2_11_inverses_and_compositions_are_those_of_matrices() {
    let layout = worked_example();
    let inverse = layout.invert().unwrap();
    assert_eq!(*inverse.matrix(), layout.matrix().inverse().unwrap());
    let again = layout.reshape_outs(layout.ins().clone()).unwrap();
    let squared = again.compose(&layout).unwrap();
    assert_eq!(Ok(*squared.matrix()), layout.matrix() * layout.matrix());
}

#[test]
fn s2_12_column_i_is_the_image_of_2_to_the_i() {
    for layout in [worked_example(), layout_a()] {
        for (bit, &column) in layout.matrix().columns().iter().enumerate() {
            assert_eq!(layout.apply_flat(1 << bit), column);
        }
    }
}

#[test]
fn s2_13_the_text_is_exact() {
    let swizzle = SwizzledShared::new(8, 2, 4, &[1, 0]);
    for layout in [layout_a(), worked_example(), swizzle.layout(&[32, 64]).unwrap()] {
        assert_eq!(text(&layout.to_string()), layout);
    }
}
