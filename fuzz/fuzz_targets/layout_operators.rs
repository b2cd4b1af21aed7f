//! Any sequence of operators on any layouts ends in a layout or an error, and keeps the laws.

#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use weft_layout::{
    Label, Layout, Space,
    affine::Boxed,
    layout::Surplus,
    space::{BLOCK, LANE, OFFSET, REGISTER, WARP},
};

/// One step of a stack machine whose values are layouts.
#[derive(Arbitrary, Debug)]
enum Step {
    Push { ins: Vec<(u8, u8)>, outs: Vec<(u8, u8)>, bases: Vec<u64> },
    Tensor { register: u8, lane: u8, warp: u8, dims: Vec<u8>, bases: Vec<u64> },
    Swap,
    Duplicate,
    Compose,
    Product,
    DivideLeft,
    DivideRight,
    Invert,
    RightInverse,
    Solve,
    ConcatIns,
    TransposeIns(Vec<u8>),
    TransposeOuts(Vec<u8>),
    ReshapeIns(Vec<(u8, u8)>),
    Sublayout(Vec<u8>, Vec<u8>),
    RemoveZeros(u8),
    Without(u8, Vec<u32>),
    Rename(u8, u8),
    Transpose(Vec<u8>),
    Reshape(Vec<u8>),
    ExpandDims(u8),
    Slice(u8),
    Broadcast(Vec<u8>),
    BroadcastBack(Vec<u8>),
    Join,
    Split,
    ConcatOuts,
    ResizeIn(u8, u8),
    ResizeOut(u8, u8),
    SqueezeIn(u8),
    Quotient(Vec<u8>),
    SplitIdentity(u8, u8),
    WithoutCopies(u8),
    Repetitions,
    DivideLeftPermuted(u8),
    CutTo(Vec<u8>, bool),
    GrowTo(u8, Vec<u8>, Vec<u8>),
    ExpandDimsBack(u8),
    JoinBack,
    SplitBack,
    Names,
    Boxed(Vec<u64>, Vec<u64>),
}

fn label(code: u8) -> Label {
    let named = [REGISTER, LANE, WARP, BLOCK, OFFSET];
    named.get(usize::from(code)).copied().unwrap_or_else(|| Label::dim(u32::from(code % 8)))
}

fn labels(codes: &[u8]) -> Vec<Label> {
    codes.iter().map(|&code| label(code)).collect()
}

fn axes(codes: &[(u8, u8)]) -> Vec<(Label, u32)> {
    codes.iter().map(|&(name, bits)| (label(name), u32::from(bits % 70))).collect()
}

fn shape(codes: &[u8]) -> Vec<u64> {
    codes.iter().map(|&bits| 1_u64.checked_shl(u32::from(bits)).unwrap_or(3)).collect()
}

fn dims(codes: &[u8]) -> Vec<usize> {
    codes.iter().map(|&dim| usize::from(dim)).collect()
}

fn make(ins: Space, outs: Space, bases: &[u64]) -> Option<Layout> {
    let count = ins.total_bits() as usize;
    let mask = 1_u64.checked_shl(outs.total_bits()).map_or(u64::MAX, |size| size - 1);
    let mut columns: Vec<u64> = bases.iter().take(count).map(|&column| column & mask).collect();
    columns.resize(count, 0);
    Layout::new(ins, outs, &columns).ok()
}

/// What a step makes of the two topmost layouts.
fn step(step: &Step, top: &Layout, below: &Layout) -> Option<Layout> {
    match step {
        Step::Push { .. } | Step::Tensor { .. } | Step::Swap | Step::Duplicate => None,
        Step::Compose => {
            let composed = below.compose(top).ok()?;
            let embedding = below.outs().embedding(top.ins()).ok()?;
            for place in [0, 1, 0x55, u64::MAX] {
                let between = embedding.apply(below.apply_flat(place));
                assert_eq!(composed.apply_flat(place), top.apply_flat(between));
            }
            Some(composed)
        }
        Step::Product => {
            let product = below.product(top).ok()?;
            assert_eq!(product.rank(), below.rank() + top.rank());
            Some(product)
        }
        Step::DivideLeft => {
            let quotient = below.divide_left(top).ok()?;
            assert_eq!(top.product(&quotient).as_ref(), Ok(below));
            Some(quotient)
        }
        Step::DivideRight => {
            let quotient = below.divide_right(top).ok()?;
            assert_eq!(quotient.product(top).as_ref(), Ok(below));
            Some(quotient)
        }
        Step::Invert => {
            let inverse = top.invert().ok();
            assert_eq!(inverse.is_some(), top.is_invertible());
            inverse
        }
        Step::RightInverse => {
            let inverse = top.right_inverse().ok();
            assert_eq!(inverse.is_some(), top.is_surjective());
            inverse
        }
        Step::Solve => {
            let moves = below.solve(top).ok()?;
            let embedding = below.outs().embedding(top.outs()).expect("solved");
            for place in [1, 2, 4, 0x55, u64::MAX] {
                let goal = embedding.apply(below.apply_flat(place));
                assert_eq!(top.apply_flat(moves.apply_flat(place)), goal);
            }
            Some(moves)
        }
        Step::ConcatIns => below.concat_ins(top).ok(),
        Step::TransposeIns(order) => top.transpose_ins(&labels(order)).ok(),
        Step::TransposeOuts(order) => top.transpose_outs(&labels(order)).ok(),
        Step::ReshapeIns(ins) => top.reshape_ins(Space::new(&axes(ins)).ok()?).ok(),
        Step::Sublayout(ins, outs) => top.sublayout(&labels(ins), &labels(outs)).ok(),
        Step::RemoveZeros(axis) => Some(top.remove_zero_columns(label(*axis)).ok()?.0),
        Step::Without(axis, bits) => top.without_bits(label(*axis), bits).ok(),
        Step::Rename(from, to) => top.rename_in(label(*from), label(*to)).ok(),
        Step::Transpose(order) => top.transpose(&dims(order)).ok(),
        Step::Reshape(sizes) => top.reshape(&shape(sizes)).ok(),
        Step::ExpandDims(axis) => top.expand_dims(usize::from(*axis)).ok(),
        Step::Slice(axis) => top.slice(usize::from(*axis)).ok(),
        Step::Broadcast(sizes) => top.broadcast(&shape(sizes)).ok(),
        Step::BroadcastBack(sizes) => top.broadcast_back(&shape(sizes)).ok(),
        Step::Join => {
            let joined = top.join().ok()?;
            assert_eq!(joined.split().as_ref().map(|halves| halves.1), Ok(0));
            Some(joined)
        }
        Step::Split => Some(top.split().ok()?.0),
        Step::ConcatOuts => below.concat_outs(top).ok(),
        Step::ResizeIn(axis, bits) => top.resize_in(label(*axis), u32::from(*bits)).ok(),
        Step::ResizeOut(axis, bits) => top.resize_out(label(*axis), u32::from(*bits)).ok(),
        Step::SqueezeIn(axis) => top.squeeze_in(label(*axis)).ok(),
        Step::Quotient(axes) => {
            let axes = labels(axes);
            let quotient = top.quotient(&axes).ok();
            assert_eq!(quotient.is_some(), top.is_trivial_over(&axes));
            quotient
        }
        Step::SplitIdentity(input, output) => {
            let (bits, rest) = top.split_identity(label(*input), label(*output)).ok()?;
            assert_eq!(bits, top.contiguous_bits(label(*input), label(*output)));
            Some(rest)
        }
        Step::WithoutCopies(axis) => {
            let narrowed = top.without_copies(label(*axis)).ok()?;
            assert_eq!(narrowed.layout.rank(), top.rank());
            Some(narrowed.layout)
        }
        Step::Repetitions => below.repetitions(top).ok(),
        Step::DivideLeftPermuted(axis) => {
            let (quotient, order) = below.divide_left_permuted(top, label(*axis)).ok()?;
            let product = top.product(&quotient).expect("a quotient multiplies");
            assert_eq!(product, order.apply(below).expect("an order of its axis"));
            Some(quotient)
        }
        Step::CutTo(sizes, dropped) => {
            let surplus = if *dropped { Surplus::Dropped } else { Surplus::Copies };
            top.cut_to(&shape(sizes), surplus).ok()
        }
        Step::GrowTo(axis, sizes, order) => {
            top.grow_to(label(*axis), &shape(sizes), &dims(order)).ok()
        }
        Step::ExpandDimsBack(axis) => top.expand_dims_back(usize::from(*axis)).ok(),
        Step::JoinBack => top.join_back().ok(),
        Step::SplitBack => top.split_back().ok(),
        Step::Names => {
            let shape = top.shape();
            // What has too many axes takes long to guess at.
            if shape.len() <= 3 && top.ins().total_bits() <= 20 {
                for name in weft_layout::family::names(top) {
                    assert!(name.layout(&shape).is_ok_and(|named| named.rank() == top.rank()));
                }
            }
            None
        }
        Step::Boxed(ins, outs) => {
            let extents = |space: &Space, wanted: &[u64]| -> Vec<(Label, u64)> {
                let wanted = wanted.iter().copied().chain(std::iter::repeat(3));
                let extent = |(&(label, bits), wanted): (&(Label, u32), u64)| {
                    let most = 1_u64.checked_shl(bits).unwrap_or(u64::MAX);
                    (label, wanted % most + 1)
                };
                space.axes().iter().zip(wanted).map(extent).collect()
            };
            let (ins, outs) = (extents(top.ins(), ins), extents(top.outs(), outs));
            let boxed = Boxed::new(top.clone(), &ins, &outs).ok()?;
            if let Ok(counts) = boxed.counts() {
                if top.ins().total_bits() <= 10 {
                    let places = 0..1_u64 << top.ins().total_bits();
                    let live = places.filter(|&place| boxed.is_live(place)).count();
                    assert_eq!(u128::from(live as u64), counts.live);
                }
            }
            None
        }
    }
}

libfuzzer_sys::fuzz_target!(|steps: Vec<Step>| {
    let mut stack: Vec<Layout> = vec![Layout::empty()];
    // Guessing at names is slow.
    let mut named = false;
    for next in steps.iter().take(64) {
        let top = stack.last().cloned().unwrap_or_else(Layout::empty);
        let below = stack.iter().rev().nth(1).cloned().unwrap_or_else(Layout::empty);
        match next {
            Step::Push { ins, outs, bases } => {
                let spaces = (Space::new(&axes(ins)), Space::new(&axes(outs)));
                if let (Ok(ins), Ok(outs)) = spaces {
                    stack.extend(make(ins, outs, bases));
                }
            }
            Step::Tensor { register, lane, warp, dims, bases } => {
                let bits = [*register, *lane, *warp].map(|bits| u32::from(bits % 24));
                let ins = Space::hardware(bits[0], bits[1], bits[2], 0);
                let sizes: Vec<u64> = dims.iter().map(|bits| 1 << (bits % 16)).collect();
                if let (Ok(ins), Ok(outs)) = (ins, Space::tensor(&sizes)) {
                    stack.extend(make(ins, outs, bases));
                }
            }
            Step::Swap => {
                if let [.., a, b] = &mut stack[..] {
                    std::mem::swap(a, b);
                }
            }
            Step::Duplicate => stack.push(top),
            Step::Names if named => {}
            other => {
                named |= matches!(other, Step::Names);
                stack.extend(step(other, &top, &below));
            }
        }
    }
});
