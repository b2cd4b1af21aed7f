//! From matrices to CuTe and back.

use arbitrary::{Result, Unstructured};
use std::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::ToString,
    vec::Vec,
};

use super::{read, swizzle};
use crate::{
    Label, Layout, Space,
    affine::Affine,
    f2::{Matrix, low_mask},
    interop::{
        cute::{ExportError, Swizzle, export, import, mode_labels},
        parse_layout,
    },
    space::{LANE, OFFSET, REGISTER},
    testing::{invertible, matrix, repeat},
};

/// Independent columns: a permutation of bits, after up to three swizzles, or anything.
fn columns(u: &mut Unstructured<'_>, bits: u32) -> Result<Vec<u64>> {
    let mut columns: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
    for index in (1..columns.len()).rev() {
        columns.swap(index, u.choose_index(index + 1)?);
    }
    match u.int_in_range(0..=4)? {
        4 => return Ok(invertible(u, bits)?.columns().to_vec()),
        count if bits >= 2 => {
            for _ in 0..count {
                let swizzle = swizzle(u, bits)?;
                columns = columns.into_iter().map(|column| swizzle.apply(column)).collect();
            }
        }
        _ => {}
    }
    Ok(columns)
}

/// An affine layout that CuTe can write: some columns, and zeros.
fn layout(u: &mut Unstructured<'_>, bits: u32) -> Result<Affine> {
    let mut columns = columns(u, bits)?;
    columns.truncate(u.int_in_range(0..=columns.len())?);
    for _ in 0..u.int_in_range(0..=2)? {
        let at = u.int_in_range(0..=columns.len())?;
        columns.insert(at, 0);
    }
    let axes: u32 = u.int_in_range(1..=3)?;
    let mut left = columns.len() as u32;
    let mut ins = Vec::new();
    for axis in 0..axes {
        let bits = if axis + 1 == axes { left } else { u.int_in_range(0..=left)? };
        ins.push((Label::dim(axis), bits));
        left -= bits;
    }
    let outs = Space::new(&[(OFFSET, bits)]).unwrap();
    let layout = Layout::new(Space::new(&ins).unwrap(), outs, &columns).unwrap();
    let constant = if u.ratio(1, 3)? { u.arbitrary::<u64>()? & low_mask(bits) } else { 0 };
    Ok(Affine::new(layout, constant).unwrap())
}

/// The same map, whatever the number of offset bits.
fn same(a: &Affine, b: &Affine) -> bool {
    a.layout().ins() == b.layout().ins()
        && a.layout().matrix().columns() == b.layout().matrix().columns()
        && a.constant() == b.constant()
}

fn there_and_back(layout: &Affine) -> usize {
    let found = export(layout).unwrap();
    let labels: Vec<Label> = layout.layout().ins().labels().collect();
    let back = import(&read(&found.composed.to_string()), &labels).unwrap();
    assert!(same(&back, layout), "{layout}: {}", found.composed);
    found.composed.swizzles.len()
}

#[test]
fn five_thousand_layouts_survive_cute() {
    let mut swizzles = BTreeMap::new();
    repeat(5000, |u| {
        let bits = u.int_in_range(0..=9)?;
        *swizzles.entry(there_and_back(&layout(u, bits)?).min(4)).or_insert(0) += 1;
        Ok(())
    });
    assert!(swizzles.len() == 5 && swizzles.values().all(|&count| count > 50), "{swizzles:?}");
}

#[test]
fn wide_layouts_survive_cute() {
    repeat(12, |u| {
        let bits = u.int_in_range(20..=63)?;
        there_and_back(&layout(u, bits)?);
        Ok(())
    });
}

#[test]
fn offsets_of_64_bits_are_refused() {
    let wide = |column: u64, constant| {
        let layout = Layout::new(
            Space::new(&[(LANE, 1)]).unwrap(),
            Space::new(&[(OFFSET, 64)]).unwrap(),
            &[column],
        );
        export(&Affine::new(layout.unwrap(), constant).unwrap())
    };
    assert_eq!(wide(1 << 63, 0), Err(ExportError::TooWide { place: 1 }));
    assert_eq!(wide(1, 1 << 63), Err(ExportError::TooWide { place: 0 }));
    assert_eq!(
        wide(1 << 62, 1 << 62).unwrap().composed.to_string(),
        format!("{0} o 2:-{0}", 1_u64 << 62)
    );
    let free = Layout::zeros(Space::new(&[(LANE, 64)]).unwrap(), Space::empty()).unwrap();
    assert_eq!(there_and_back(&free.into()), 0);
}

#[test]
fn dependent_columns_are_refused_with_their_copy() {
    let mut refused = 0;
    repeat(1000, |u| {
        let (rows, cols) = (u.int_in_range(1..=6)?, u.int_in_range(0..=6)?);
        let matrix = matrix(u, rows, cols)?;
        let spaces = (Space::new(&[(REGISTER, cols)]), Space::new(&[(OFFSET, rows)]));
        let layout = Layout::from_matrix(spaces.0.unwrap(), spaces.1.unwrap(), matrix).unwrap();
        let nonzero = matrix.columns().iter().filter(|&&column| column != 0).count() as u32;
        match export(&layout.clone().into()) {
            Ok(_) => assert_eq!(layout.rank(), nonzero),
            Err(ExportError::Dependent { label, bit, others }) => {
                assert!(layout.rank() < nonzero);
                assert_eq!(layout.basis(label, bit), layout.apply_flat(others));
                assert!(layout.basis(label, bit) != 0 && others >> bit == 0);
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
        Ok(())
    });
    assert!(refused > 100);
    let parity = parse_layout("[lane: 1 1] -> [x: 2]").unwrap();
    assert_eq!(
        export(&parity.into()).unwrap_err().to_string(),
        "bit 1 of `lane` goes where input place 1 goes; CuTe repeats by a stride of 0 only, so \
         change the basis of the inputs to make this column zero"
    );
}

/// The columns of a 4x4 matrix, four bits each.
fn four(code: u64) -> [u64; 4] {
    [0, 4, 8, 12].map(|shift| code >> shift & 15)
}

/// The least number of swizzles for each invertible 4x4 matrix, by breadth-first search from the
/// permutations.
fn distances() -> BTreeMap<u64, usize> {
    let permutes = |&code: &u64| {
        let columns = four(code);
        let all = columns.iter().fold(0, |all, column| all | column);
        columns.iter().all(|column| column.is_power_of_two()) && all == 15
    };
    let after = |code: u64, swizzle: Swizzle| {
        let columns = four(code).map(|column| swizzle.apply(column));
        columns.iter().rev().fold(0, |code, column| code << 4 | column)
    };
    let mut front: BTreeSet<u64> = (0..1 << 16).filter(permutes).collect();
    let mut found = BTreeMap::new();
    for distance in 0.. {
        front.retain(|code| !found.contains_key(code));
        if front.is_empty() {
            break;
        }
        found.extend(front.iter().map(|&code| (code, distance)));
        front = (front.iter())
            .flat_map(|&code| Swizzle::all(4).map(move |swizzle| after(code, swizzle)))
            .collect();
    }
    found
}

#[test]
fn chains_of_four_bits_are_as_short_as_promised() {
    let distances = distances();
    assert_eq!(distances.len(), 20_160);
    assert_eq!(distances.values().filter(|&&swizzles| swizzles <= 1).count(), 360);
    let (ins, outs) = (Space::new(&[(LANE, 4)]).unwrap(), Space::new(&[(OFFSET, 4)]).unwrap());
    let mut needed = [0; 6];
    for &least in distances.values() {
        needed[least] += 1;
    }
    assert_eq!(needed, [24, 336, 2640, 9312, 7560, 288]);
    // How many swizzles there are, and how many more than are needed.
    let (mut all, mut more) = (0, 0);
    for (&code, &least) in distances.iter().step_by(4) {
        let layout = Layout::new(ins.clone(), outs.clone(), &four(code)).unwrap();
        let found = export(&layout.into()).unwrap();
        let swizzles = found.composed.swizzles.len();
        assert_eq!(found.shortest, swizzles <= 3);
        assert!(swizzles == least || swizzles > least.max(3), "{}", found.composed);
        all += swizzles;
        more += swizzles - least;
    }
    assert_eq!((all, more), (14_545, 277));
}

#[test]
fn one_swizzle_is_found_wherever_one_exists() {
    repeat(2000, |u| {
        let bits = u.int_in_range(2..=7)?;
        let columns = columns(u, bits)?;
        let plain = |columns: &[u64]| {
            let rows = Matrix::new(bits, columns).unwrap().transpose();
            rows.columns().iter().all(|row| row.count_ones() <= 1)
        };
        let after = |swizzle: Swizzle| -> Vec<u64> {
            columns.iter().map(|&column| swizzle.apply(column)).collect()
        };
        let least = if plain(&columns) {
            0
        } else if Swizzle::all(bits).any(|swizzle| plain(&after(swizzle))) {
            1
        } else {
            2
        };
        let spaces = (Space::new(&[(LANE, bits)]).unwrap(), Space::new(&[(OFFSET, bits)]).unwrap());
        let layout = Layout::new(spaces.0, spaces.1, &columns).unwrap();
        let found = export(&layout.into()).unwrap().composed.swizzles.len();
        assert_eq!(found.min(2), least);
        Ok(())
    });
}

#[test]
fn known_layouts_have_their_known_texts() {
    let text = |layout: &str| {
        let found = export(&parse_layout(layout).unwrap().into()).unwrap();
        assert!(found.shortest);
        found.composed.to_string()
    };
    assert_eq!(text("[row: 8 16, col: 1 2 4] -> [x: 32]"), "(4,8):(8,1)");
    assert_eq!(text("[x: 1 2 4] -> [y: 8]"), "8:1");
    assert_eq!(text("[x: 1 4 2] -> [y: 8]"), "(2,2,2):(1,4,2)");
    assert_eq!(text("[a: 1 4, b:, c: 0 2] -> [y: 8]"), "((2,2),1,(2,2)):((1,4),0,(0,2))");
    assert_eq!(text("[x: 5 10] -> [y: 16]"), "4:5");
    assert_eq!(text("[] -> [y: 16]"), "():()");
    // A column of 8 halves of a tile of 64: the usual swizzle of 128 bytes, in elements.
    assert_eq!(
        text("[col: 1 2 4 8 16 32, row: 72 144 288] -> [x: 512]"),
        "Sw<3,3,3> o 0 o (64,8):(1,64)"
    );
    // Two distances: bits 9 to 5 and 10 to 4.
    assert_eq!(
        text("[x: 1 2 4 8 16 32 64 128 256 544 1040] -> [y: 2048]"),
        "Sw<1,5,4> o 0 o Sw<1,4,6> o 0 o 2048:1"
    );
    // 128 bytes, and byte bit 11 into bit 4 for machines whose phases need it.
    assert_eq!(
        text("[x: 1 2 4 8 16 32 64 144 288 576 1024 2064] -> [y: 4096]"),
        "Sw<1,4,7> o 0 o Sw<3,4,3> o 0 o 4096:1"
    );
    let labels = mode_labels(1).unwrap();
    let reversed = import(&read("7 o 8:-1"), &labels).unwrap();
    assert_eq!(export(&reversed).unwrap().composed.to_string(), "7 o 8:-1");
}
