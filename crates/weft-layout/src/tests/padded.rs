//! Padded memories against enumeration.

use arbitrary::{Result, Unstructured};
use std::vec::Vec;

use crate::{
    Label, Layout, Machine, Space,
    access::{self, wavefronts},
    affine::{Padded, PaddedError, Padding, ParitySum, Slot},
    f2::Matrix,
    space::{BLOCK, LANE, OFFSET, REGISTER},
    testing::{self, holds, invertible, ways},
};

/// Gaps at distinct intervals, some beyond the memory.
fn paddings(u: &mut Unstructured<'_>) -> Result<Vec<Padding>> {
    let mut paddings = Vec::new();
    for log2 in 0..8 {
        if u.ratio(1, 3)? {
            let padding = 1 << u.int_in_range(0..=4)?;
            paddings.push(Padding { interval: 1 << log2, padding });
        }
    }
    Ok(paddings)
}

/// A memory of up to 64 offsets, in any order, with gaps.
fn padded(u: &mut Unstructured<'_>) -> Result<Padded> {
    let bits = u.int_in_range(0..=6)?;
    let shape = testing::shape(u, bits)?;
    let layout = Layout::from_matrix(
        Space::new(&[(OFFSET, bits)]).unwrap(),
        Space::tensor(&shape).unwrap(),
        invertible(u, bits)?,
    );
    let paddings = paddings(u)?;
    Ok(Padded::new(layout.unwrap(), &paddings).unwrap())
}

fn offsets(padded: &Padded) -> u64 {
    1 << padded.layout().in_bits(OFFSET)
}

#[test]
fn addresses_increase_and_are_found_again() {
    holds(400, |u| {
        let memory = padded(u)?;
        let n = offsets(&memory);
        // By walking: a gap before each multiple of its interval.
        let mut address = 0;
        let mut owners = Vec::new();
        for offset in 0..n {
            for gap in memory.paddings() {
                if offset > 0 && offset % gap.interval == 0 {
                    address += gap.padding;
                }
            }
            owners.resize(address as usize, Slot::Gap);
            owners.push(Slot::Offset(offset));
            assert_eq!(memory.physical(offset), address);
            address += 1;
        }
        for (address, &owner) in (0..).zip(&owners) {
            assert_eq!(memory.slot(address), owner);
            let element = match owner {
                Slot::Offset(offset) => Some(memory.layout().apply_flat(offset)),
                _ => None,
            };
            assert_eq!(memory.element(address), element);
            assert!(element.is_none_or(|element| memory.address(element) == Ok(address)));
        }
        assert_eq!(memory.size(), owners.len() as u64);
        assert_eq!(memory.slot(memory.size()), Slot::Beyond);
        // What Triton allocates.
        let gaps = memory.paddings().iter().map(|gap| {
            let last = if n.is_multiple_of(gap.interval) { gap.padding } else { 0 };
            n / gap.interval * gap.padding - last
        });
        assert_eq!(memory.size(), n + gaps.sum::<u64>());
        Ok(())
    });
}

#[test]
fn vectors_are_the_longest_whole_and_aligned_runs() {
    holds(300, |u| {
        let memory = padded(u)?;
        let n = offsets(&memory);
        let runs = |length: u64| (0..n / length).map(move |run| run * length);
        let whole = |&length: &u64| {
            let end = |start| memory.physical(start + length - 1);
            runs(length).all(|start| end(start) == memory.physical(start) + length - 1)
        };
        let aligned =
            |length: &u64| runs(*length).all(|start| memory.physical(start) % length == 0);
        let lengths = || (0..=n.ilog2()).map(|log2| 1 << log2);
        assert_eq!(Some(memory.contiguous()), lengths().filter(whole).max());
        assert_eq!(Some(memory.aligned()), lengths().filter(whole).filter(aligned).max());
        Ok(())
    });
}

#[test]
fn composed_addresses_are_those_of_the_elements() {
    let mut linear = [0_u32; 2];
    holds(400, |u| {
        let memory = padded(u)?;
        let outs = memory.layout().outs().clone();
        let cols = u.int_in_range(0..=6)?;
        let matrix = testing::matrix(u, outs.total_bits(), cols)?;
        let ins = Space::new(&[(REGISTER, cols / 2), (LANE, cols - cols / 2)]).unwrap();
        let distributed = Layout::from_matrix(ins, outs, matrix).unwrap();
        let sum = memory.compose(&distributed).unwrap();
        let addresses: Vec<u64> = sum.values(cols).unwrap().collect();
        for (place, &address) in (0..).zip(&addresses) {
            assert_eq!(memory.address(distributed.apply_flat(place)), Ok(address));
        }
        linear[usize::from(is_checked(&sum, cols, &addresses))] += 1;
        Ok(())
    });
    assert!(linear.iter().all(|&count| count > 5), "{linear:?}");
}

/// Whether the sum is linear, by its criterion, which is held against all pairs of places.
fn is_checked(sum: &ParitySum, bits: u32, values: &[u64]) -> bool {
    let additive =
        (0..values.len()).all(|x| (0..=x).all(|y| values[x ^ y] == values[x] ^ values[y]));
    match sum.linear(bits) {
        Ok(columns) => {
            assert!(additive);
            assert!((0..bits).all(|bit| columns[bit as usize] == values[1 << bit]));
        }
        Err(carry) => {
            assert!(!additive);
            let at = |place: u64| values[place as usize];
            let xor =
                (0..bits).filter(|bit| carry.place >> bit & 1 == 1).fold(0, |x, b| x ^ at(1 << b));
            assert_eq!((carry.sum, carry.xor), (at(carry.place), xor));
            assert_ne!(carry.sum, carry.xor);
            assert_ne!(carry.first.0, carry.second.0);
            assert_ne!(carry.first.1 & carry.second.1, 0);
        }
    }
    additive
}

#[test]
fn the_rank_law_holds_where_addresses_are_linear_after_all() {
    let mut linear = [0_u32; 2];
    holds(400, |u| {
        let rows = Layout::identity(10, OFFSET, Label::dim(0)).unwrap();
        let memory = Padded::new(rows, &paddings(u)?).unwrap();
        let lanes = testing::matrix(u, 10, 5)?;
        // Few bits, so that few of them carry.
        let mask = u.arbitrary::<u64>()? & 0x3ff;
        let lanes: Vec<u64> = lanes.columns().iter().map(|column| column & mask).collect();
        let warp = Space::new(&[(LANE, 5)]).unwrap();
        let access = Layout::new(warp, memory.layout().outs().clone(), &lanes).unwrap();
        let words = memory.compose(&access).unwrap();
        let counted = ways(words.values(5).unwrap());
        let Ok(columns) = words.linear(5) else {
            linear[0] += 1;
            return Ok(());
        };
        linear[1] += 1;
        let bytes: Vec<u64> = columns.iter().map(|column| column * 4).collect();
        let machine = Machine::by_name("sm_90").unwrap();
        let law = wavefronts(machine, access::Kind::Load, &bytes, 4, 0).unwrap();
        assert_eq!(law.actual as usize, counted);
        Ok(())
    });
    assert!(linear.iter().all(|&count| count > 5), "{linear:?}");
}

#[test]
fn sums_of_parities_are_linear_exactly_without_carries() {
    let mut linear = [0_u32; 2];
    holds(400, |u| {
        let bits = u.int_in_range(0..=4)?;
        let mut free = 0x3f_u64;
        let mut terms = Vec::new();
        for _ in 0..u.int_in_range(0..=6)? {
            // Often weights that share no bit; masks may be equal, zero or dependent.
            let weight = u.int_in_range(0..=0x3f)?;
            let weight = if u.ratio(4, 5)? { weight & free } else { weight };
            free &= !weight;
            terms.push((u.int_in_range(0..=(1 << bits) - 1)?, weight));
        }
        let sum = ParitySum::new(&terms).unwrap();
        let value = |place: u64| -> u64 {
            let odd = terms.iter().filter(|term| (place & term.0).count_ones() % 2 == 1);
            odd.map(|term| term.1).sum()
        };
        let values: Vec<u64> = (0..1 << bits).map(value).collect();
        assert!(values.iter().copied().eq(sum.values(bits).unwrap()));
        linear[usize::from(is_checked(&sum, bits, &values))] += 1;
        Ok(())
    });
    assert!(linear.iter().all(|&count| count > 5), "{linear:?}");
}

#[test]
fn every_sum_of_three_bits_is_judged_right() {
    // All weights below 4 for the seven parities.
    let mut linear = 0;
    for code in 0..1_u64 << 14 {
        let terms: Vec<_> = (1..8).map(|mask| (mask, code >> (2 * mask - 2) & 3)).collect();
        let sum = ParitySum::new(&terms).unwrap();
        let values: Vec<u64> = sum.values(3).unwrap().collect();
        linear += u32::from(is_checked(&sum, 3, &values));
    }
    // Two rows, each zero or one of the seven.
    assert_eq!(linear, 64);
}

#[test]
fn every_small_strided_layout_is_judged_right() {
    // Shapes of up to three bits at all strides below 24: (2^a, 2^b):(d, e).
    let mut linear = 0;
    for (a, b) in [(1, 1), (1, 2), (2, 1), (3, 0), (0, 3), (2, 2)] {
        for (d, e) in (0..24_u64).flat_map(|d| (0..24_u64).map(move |e| (d, e))) {
            let first = (0..a).map(|t| (1 << t, d << t));
            let second = (0..b).map(|t| (1 << (a + t), e << t));
            let sum = ParitySum::new(&first.chain(second).collect::<Vec<_>>()).unwrap();
            let offset = |x: u64| x % (1 << a) * d + (x >> a) * e;
            let values: Vec<u64> = (0..1 << (a + b)).map(offset).collect();
            linear += u32::from(is_checked(&sum, a + b, &values));
        }
    }
    assert!(linear > 500, "{linear}");
}

#[test]
fn operators_on_the_tensor_move_no_offset() {
    holds(300, |u| {
        let memory = padded(u)?;
        let rank = memory.layout().shape().len();
        let mut order: Vec<usize> = (0..rank).collect();
        order.rotate_left(u.choose_index(rank)?);
        let turned = memory.transpose(&order).unwrap();
        let flat = memory.reshape(&[offsets(&memory)]).unwrap();
        let more = memory.expand_dims(0).unwrap();
        let named = memory.rename_out(Label::dim(0), LANE).unwrap();
        for other in [&turned, &flat, &more, &named] {
            assert_eq!((other.size(), other.paddings()), (memory.size(), memory.paddings()));
        }
        for address in 0..memory.size() {
            assert_eq!(flat.element(address), memory.element(address));
            let element = |memory: &Padded| {
                let element = memory.element(address)?;
                let layout = memory.layout();
                let dims = (0..rank as u32).map(Label::dim);
                Some(dims.map(|d| layout.outs().coordinate(d, element)).collect::<Vec<_>>())
            };
            let moved = element(&memory).map(|here| order.iter().map(|&d| here[d]).collect());
            assert_eq!(element(&turned), moved);
        }
        let major = Layout::identity(1, OFFSET, Label::dim(0)).unwrap();
        let twice = memory.product(&major).unwrap();
        assert_eq!(twice.layout().in_bits(OFFSET), memory.layout().in_bits(OFFSET) + 1);
        assert!((0..offsets(&memory)).all(|x| twice.physical(x) == memory.physical(x)));
        Ok(())
    });
}

#[test]
fn inputs_are_reshaped_beside_the_offset_only() {
    let ins = |axes: &[(Label, u32)]| Space::new(axes).unwrap();
    let matrix = Matrix::identity(5).unwrap();
    let layout =
        Layout::from_matrix(ins(&[(OFFSET, 3), (BLOCK, 2)]), Space::tensor(&[32]).unwrap(), matrix);
    let gaps = [Padding { interval: 2, padding: 2 }];
    let memory = Padded::new(layout.unwrap(), &gaps).unwrap();
    assert!(memory.reshape_ins(ins(&[(OFFSET, 3), (LANE, 1), (BLOCK, 1)])).is_ok());
    for (axes, to) in [([(OFFSET, 4), (BLOCK, 1)], 0b1111), ([(BLOCK, 2), (OFFSET, 3)], 0b11100)] {
        let refused = memory.reshape_ins(ins(&axes));
        assert_eq!(refused, Err(PaddedError::OffsetChanges { from: 0b111, to }));
    }
    // The offset need not come first.
    let matrix = Matrix::identity(5).unwrap();
    let blocks_first = ins(&[(BLOCK, 2), (OFFSET, 3)]);
    let other = Layout::from_matrix(blocks_first, Space::tensor(&[32]).unwrap(), matrix);
    let other = Padded::new(other.unwrap(), &gaps).unwrap();
    let elements = Layout::identity(5, LANE, Label::dim(0)).unwrap();
    let addresses = other.compose(&elements).unwrap();
    assert!((0..32).all(|element| addresses.at(element) == other.physical(element >> 2)));
    assert!((0..32).all(|element| other.address(element) == Ok(other.physical(element >> 2))));
    // Another block holds other elements at the same addresses.
    let element = Layout::new(ins(&[(LANE, 1)]), Space::tensor(&[32]).unwrap(), &[8 | 4]);
    assert_eq!(memory.compose(&element.unwrap()).unwrap().at(1), memory.physical(4));
}

#[test]
fn bad_paddings_are_refused() {
    let memory = |bits| Layout::identity(bits, OFFSET, Label::dim(0)).unwrap();
    let gap = |interval, padding| Padding { interval, padding };
    let refused = |bits, gaps: &[Padding]| Padded::new(memory(bits), gaps).unwrap_err();
    assert_eq!(refused(5, &[gap(0, 1)]), PaddedError::NotPowerOfTwo { value: 0 });
    assert_eq!(refused(5, &[gap(8, 3)]), PaddedError::NotPowerOfTwo { value: 3 });
    assert_eq!(refused(5, &[gap(8, 1), gap(8, 2)]), PaddedError::EqualIntervals { interval: 8 });
    assert_eq!(refused(64, &[]), PaddedError::TooLarge);
    assert_eq!(refused(63, &[gap(1, 2)]), PaddedError::TooLarge);
    let lanes = Layout::identity(5, LANE, Label::dim(0)).unwrap();
    assert_eq!(Padded::new(lanes, &[]), Err(PaddedError::NoOffset));
    // The largest that fits: every other address is a gap.
    let large = Padded::new(memory(62), &[gap(1, 1), gap(1 << 62, 1)]).unwrap();
    assert_eq!(large.size(), (1 << 63) - 1);
    assert_eq!(large.slot((1 << 62) + 1), Slot::Gap);
    assert_eq!(large.slot(1 << 62), Slot::Offset(1 << 61));
    // Elements beyond what the memory holds have no address.
    let half = Layout::new(Space::new(&[(OFFSET, 1)]).unwrap(), Space::tensor(&[4]).unwrap(), &[1]);
    let half = Padded::new(half.unwrap(), &[]).unwrap();
    assert!(half.address(1).is_ok() && half.address(2).is_err() && half.address(4).is_err());
    assert!(half.compose(&memory(2).rename_in(OFFSET, LANE).unwrap()).is_err());
    assert!(ParitySum::new(&[(1, u64::MAX), (2, 1)]).is_none());
    assert!(ParitySum::new(&[(1, 1)]).unwrap().values(25).is_err());
}
