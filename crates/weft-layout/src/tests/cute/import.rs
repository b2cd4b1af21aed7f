//! What is affine and what is not, against evaluation.

use std::{string::ToString, vec, vec::Vec};

use super::{composed, read};
use crate::{
    Label,
    access::{Kind, wavefronts},
    interop::cute::{
        Carry, Composed, CuteError, CuteLayout, ImportError, Mode, Swizzle, import, mode_labels,
    },
    machine::Machine,
    space::LANE,
    testing::repeat,
};

/// The offsets by CuTe's definition: coordinates colexicographically, a sum of products, swizzles.
fn offsets(composed: &Composed) -> Vec<Option<u64>> {
    let modes = composed.layout.modes();
    let size = modes.iter().map(|mode| mode.extent).product::<u64>();
    let offset = |mut index: u64| {
        let mut sum = i128::from(composed.offset);
        for mode in &modes {
            sum += i128::from(index % mode.extent) * i128::from(mode.stride);
            index /= mode.extent;
        }
        let swizzle = |x: u64, s: &Swizzle| {
            let mask = (1 << s.bits()) - 1;
            let (m, s) = (s.base(), s.shift());
            if s >= 0 {
                x ^ (x >> (m as i32 + s) & mask) << m
            } else {
                x ^ (x >> m & mask) << (m as i32 - s)
            }
        };
        Some(composed.swizzles.iter().rev().fold(u64::try_from(sum).ok()?, swizzle))
    };
    (0..size).map(offset).collect()
}

/// Whether a table is an affine map of the bits of its index.
fn is_affine(table: &[u64]) -> bool {
    (0..table.len()).all(|index| {
        let bits = (0..usize::BITS).filter(|bit| index >> bit & 1 == 1);
        let sum = bits.fold(table[0], |sum, bit| sum ^ table[1 << bit] ^ table[0]);
        sum == table[index]
    })
}

/// That the indices of a refusal show what it says, by evaluation.
fn is_true(composed: &Composed, carry: &Carry) -> bool {
    let at = |index| composed.apply(index).unwrap();
    let Carry { x, y, .. } = *carry;
    [at(0), at(x), at(y), at(x ^ y)] == [carry.at_zero, carry.at_x, carry.at_y, carry.at_both]
        && carry.at_both ^ carry.at_zero != carry.at_x ^ carry.at_y
        && carry.expected() == at(x) ^ at(y) ^ at(0)
        && (x.is_power_of_two() && y.is_power_of_two() && x != y)
}

#[test]
fn five_thousand_layouts_are_classified_as_evaluation_does() {
    // Affine, linear, not affine, no power of two, out of range.
    let mut seen = [0; 5];
    repeat(5000, |u| {
        let composed = composed(u)?;
        let table = offsets(&composed);
        for (index, &offset) in table.iter().enumerate() {
            assert_eq!(composed.apply(index as u64).ok(), offset, "{composed} at {index}");
        }
        let extents = composed.layout.modes().into_iter().map(|mode| mode.extent);
        let powers = extents.clone().all(u64::is_power_of_two);
        let whole: Option<Vec<u64>> = table.iter().copied().collect();
        let labels = mode_labels(composed.layout.rank()).unwrap();
        match (import(&composed, &labels), whole) {
            (Ok(affine), Some(table)) => {
                assert!(powers);
                let places = (0..table.len()).map(|place| affine.apply_flat(place as u64));
                assert!(places.eq(table.iter().copied()), "{composed}");
                let highest = table.iter().fold(0, |all, offset| all | offset);
                assert_eq!(affine.layout().outs().total_bits(), 64 - highest.leading_zeros());
                seen[usize::from(affine.constant() == 0)] += 1;
            }
            (Err(ImportError::NotAffine(carry)), Some(table)) => {
                assert!(powers && !is_affine(&table), "{composed}");
                assert!(is_true(&composed, &carry), "{composed}: {carry}");
                seen[2] += 1;
            }
            (Err(ImportError::NotPowerOfTwo { mode, extent }), _) => {
                assert_eq!(extents.clone().nth(mode), Some(extent));
                assert!(!extent.is_power_of_two());
                seen[3] += 1;
            }
            (Err(ImportError::Cute(CuteError::OutOfRange { index, value })), None) => {
                assert_eq!(table[index as usize], None);
                assert_eq!(value, composed.layout.apply(index) + i128::from(composed.offset));
                seen[4] += 1;
            }
            (found, _) => panic!("{composed}: {found:?}"),
        }
        Ok(())
    });
    assert_eq!(seen, [1279, 2101, 1268, 221, 131]);
}

fn carry(text: &str) -> Carry {
    let composed = read(text);
    match import(&composed, &[LANE]) {
        Err(ImportError::NotAffine(carry)) => {
            assert!(is_true(&composed, &carry), "{text}: {carry}");
            carry
        }
        found => panic!("{text}: {found:?}"),
    }
}

#[test]
fn layouts_that_carry_are_refused_with_a_true_witness() {
    for text in [
        "(32,32):(33,1)",
        "(4,4):(1,1)",
        "8:5",
        "4:3",
        "(2,2):(1,3)",
        "(2,2,2):(1,2,6)",
        "Sw<3,0,3> o 0 o (32,32):(33,1)",
        "1 o 4:1",
        "6 o 4:-1",
    ] {
        carry(text);
    }
    let found = carry("4:3");
    assert_eq!((found.x, found.y, found.at_both, found.expected()), (1, 2, 9, 5));
    assert_eq!(
        ImportError::NotAffine(carry("(32,32):(33,1)")).to_string(),
        "bit 0 of mode 0 (32:33) and bit 0 of mode 1 (32:1) both reach bit 0 of the offset and \
         carry: index 33 goes to 34, not to the exclusive-or 32 of indices 1 and 32; strides whose \
         multiples share no bit do not carry, and a swizzle replaces padding"
    );
}

#[test]
fn layouts_that_do_not_carry_are_maps_of_bits() {
    let columns = |text: &str| {
        let affine = import(&read(text), &[LANE]).unwrap();
        (affine.layout().columns(LANE).to_vec(), affine.constant())
    };
    assert_eq!(columns("4:5"), (vec![5, 10], 0));
    assert_eq!(columns("(2,16):(48,1)"), (vec![48, 1, 2, 4, 8], 0));
    assert_eq!(columns("2:3"), (vec![3], 0));
    assert_eq!(columns("(2,2):(4,3)"), (vec![4, 3], 0));
    assert_eq!(columns("(4,8):(8,1)"), (vec![8, 16, 1, 2, 4], 0));
    assert_eq!(columns("(2,2,2):(4,1,2)"), (vec![4, 1, 2], 0));
    assert_eq!(columns("(2,(1,4)):(0,(7,1))"), (vec![0, 1, 2], 0));
    assert_eq!(columns("7 o 8:-1"), (vec![1, 2, 4], 7));
    assert_eq!(columns("8 o 8:1"), (vec![1, 2, 4], 8));
    assert_eq!(columns("():()"), (vec![], 0));
    // An offset that overlaps a column is no obstacle by itself: 1, 4 and 3, 6.
    assert_eq!(columns("1 o (2,2):(3,2)"), (vec![5, 2], 1));
    assert_eq!(columns("1 o 2:1"), (vec![3], 1));
    // A swizzle moves the constant too.
    assert_eq!(columns("Sw<1,0,3> o 8 o 8:1"), (vec![1, 2, 4], 9));
    assert_eq!(columns("Sw<1,0,-2> o 0 o 8:1"), (vec![5, 2, 4], 0));
}

#[test]
fn modes_become_named_axes() {
    let tile = read("Sw<2,0,3> o 0 o (8,(2,4)):(8,(4,1))");
    let labels = [Label::dim(0), Label::dim(1)];
    let affine = import(&tile, &labels).unwrap();
    assert_eq!(affine.to_string(), "[dim0: 9 18 32, dim1: 4 1 2] -> [offset: 64] ^ 0");
    assert_eq!(import(&tile, &mode_labels(2).unwrap()).unwrap().layout().in_bits(labels[0]), 0);
    let flat = import(&tile, &[LANE]).unwrap();
    assert_eq!(flat.layout().matrix(), affine.layout().matrix());
    assert_eq!(import(&tile, &[LANE; 3]), Err(ImportError::Labels { modes: 2, labels: 3 }));
    assert!(matches!(import(&tile, &[LANE; 2]), Err(ImportError::Layout(_))));
    assert_eq!(
        import(&read("(6,4):(1,6)"), &labels).unwrap_err().to_string(),
        "extent 6 of mode 0 is no power of two; pad it to 8 and mask what is beyond"
    );
    assert_eq!(
        import(&read("8:-1"), &[LANE]).unwrap_err().to_string(),
        "index 7 goes to offset -7, which is negative; a larger offset helps"
    );
}

#[test]
fn extreme_layouts_are_evaluated_and_refused() {
    let wide = read("(4294967296,4294967296):(1,4294967296)");
    let affine = import(&wide, &[LANE]).unwrap();
    assert!(affine.layout().matrix().is_identity());
    assert_eq!(wide.apply(u64::MAX), Ok(u64::MAX));
    let steep = read(
        "-9223372036854775808 o (4294967296,4294967296):(-9223372036854775808,-9223372036854775808)",
    );
    assert!(matches!(steep.apply(u64::MAX), Err(CuteError::OutOfRange { .. })));
    assert!(matches!(import(&steep, &[LANE]), Err(ImportError::Cute(_))));
    let lowest = read("-9223372036854775808 o 9223372036854775808:-9223372036854775808");
    assert_eq!(
        lowest.apply(u64::MAX),
        Err(CuteError::OutOfRange { index: u64::MAX, value: i128::MIN })
    );
    // Beyond its size a layout goes on in its last mode.
    assert_eq!(read("(2,2):(1,10)").apply(7), Ok(31));
    assert_eq!(read("():()").apply(7), Ok(0));
}

#[test]
fn coalescing_keeps_the_function_of_the_index() {
    repeat(2000, |u| {
        let layout = composed(u)?.layout;
        let merged = layout.coalesce();
        assert_eq!(merged.size(), layout.size());
        let size = layout.size() as u64;
        assert!((0..size).all(|index| merged.apply(index) == layout.apply(index)), "{layout}");
        let modes = merged.modes();
        assert!(modes.windows(2).all(|pair| {
            pair[0].extent as i64 * pair[0].stride != pair[1].stride && pair[1].extent > 1
        }));
        Ok(())
    });
    let merged = |text: &str| read(text).layout.coalesce().to_string();
    assert_eq!(merged("(2,(1,6)):(1,(6,2))"), "12:1");
    assert_eq!(merged("(1,1):(3,4)"), "1:0");
    assert_eq!(merged("(2,4,6):(4,1,2)"), "(2,4,6):(4,1,2)");
    assert_eq!(merged("(2,4):(0,0)"), "8:0");
}

/// The ways to write `bits` as a sum of one to three positive numbers.
fn sums(bits: u32) -> Vec<Vec<u32>> {
    let mut sums = vec![vec![bits]];
    for low in 1..bits {
        sums.push(vec![low, bits - low]);
        sums.extend((1..bits - low).map(|middle| vec![low, middle, bits - low - middle]));
    }
    sums
}

/// All layouts of one to three modes with positive strides that are bijections of `1 << bits`
/// integers.
fn bijections(bits: u32) -> Vec<CuteLayout> {
    let mut found = Vec::new();
    for sum in sums(bits) {
        // A digit for each mode is its stride less one.
        for code in 0..1_i64 << (bits * sum.len() as u32) {
            let modes = sum.iter().zip(0..).map(|(&extent, digit)| {
                let stride = 1 + (code >> (digit * bits) & ((1 << bits) - 1));
                Mode { extent: 1 << extent, stride }
            });
            let layout = CuteLayout::flat(&modes.collect::<Vec<_>>()).unwrap();
            let hit = (0..1 << bits).fold(0_u32, |hit, index| {
                hit | 1_u32.checked_shl(layout.apply(index) as u32).unwrap_or(0)
            });
            if hit == ((1_u64 << (1 << bits)) - 1) as u32 {
                found.push(layout);
            }
        }
    }
    found
}

#[test]
fn bijections_permute_bits() {
    let mut counts = Vec::new();
    for bits in 1..=4 {
        let layouts = bijections(bits);
        for layout in &layouts {
            let affine = import(&layout.clone().into(), &[LANE]).unwrap();
            let mut columns = affine.layout().columns(LANE).to_vec();
            columns.sort_unstable();
            assert!(columns.iter().enumerate().all(|(bit, &column)| column == 1 << bit));
        }
        counts.push(layouts.len());
    }
    assert_eq!(counts, [1, 3, 11, 25]);
}

#[test]
fn swizzles_are_counted() {
    for (width, count) in [(0, 0), (1, 0), (2, 2), (4, 14), (6, 44), (9, 140), (64, 44_704)] {
        let all: Vec<Swizzle> = Swizzle::all(width).collect();
        assert_eq!(all.len(), count, "{width} bits");
        for swizzle in &all {
            let again = Swizzle::new(swizzle.bits(), swizzle.base(), swizzle.shift());
            assert_eq!(again, Ok(*swizzle));
            assert_eq!(Swizzle::between(swizzle.bits(), swizzle.target(), swizzle.source()), again);
        }
        if width <= 9 {
            let tables = all.iter().map(|swizzle| {
                let table: Vec<u64> = (0..1 << width).map(|x| swizzle.apply(x)).collect();
                assert!(table.iter().all(|&x| x >> width == 0));
                assert!((0..1 << width).all(|x| swizzle.apply(table[x as usize]) == x));
                table
            });
            assert_eq!(tables.collect::<std::collections::BTreeSet<_>>().len(), count);
        }
    }
    for (bits, base, shift) in [(3, 0, 2), (3, 0, -2), (1, 63, 1), (33, 0, 33), (1, 0, i32::MIN)] {
        assert!(Swizzle::new(bits, base, shift).is_err());
    }
    assert!(Swizzle::new(32, 0, -32).is_ok() && Swizzle::between(1, 0, u32::MAX).is_err());
}

#[test]
fn of_all_toggle_grids_40_are_a_swizzle_and_one_is_free_of_conflicts() {
    // A grid of 4 row bits (5 to 8 of the offset) by 5 column bits folds rows into columns.
    let grids: Vec<Swizzle> = Swizzle::all(9)
        .filter(|swizzle| swizzle.source() >= 5 && swizzle.target() + swizzle.bits() <= 5)
        .collect();
    assert_eq!(grids.len(), 40);
    let machine = Machine::by_name("sm_90").unwrap();
    let free = |swizzle: &&Swizzle| {
        // One column and the first bit of the row, read by 32 lanes.
        let lanes = [32, 64, 128, 256, 1].map(|element| swizzle.apply(element) * 4);
        wavefronts(machine, Kind::Load, &lanes, 4, 0).unwrap().actual == 1
    };
    let free: Vec<&Swizzle> = grids.iter().filter(free).collect();
    assert_eq!(free, [&Swizzle::new(4, 1, 4).unwrap()]);
}
