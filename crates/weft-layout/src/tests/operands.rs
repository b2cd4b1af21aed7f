//! Operands of `wgmma` in shared memory: the division against the hardware's law of addresses.

use std::{string::ToString, vec::Vec};

use arbitrary::{Result, Unstructured};

use crate::{
    Label, Layout, Space,
    family::{Major, NvmmaShared, OperandAtom, row_major},
    interop::parse_layout,
    layout::LayoutError,
    plan::operand::{Fault, Operand, OperandTile, Refused, legal},
    space::OFFSET,
    testing::{self, holds},
};

const ROWS: Label = Label::dim(0);
const COLUMNS: Label = Label::dim(1);

fn left(element_bits: u32) -> OperandTile {
    OperandTile { kept: ROWS, summed: COLUMNS, extent: 64, element_bits }
}

fn right(extent: u64, element_bits: u32) -> OperandTile {
    OperandTile { kept: COLUMNS, summed: ROWS, extent, element_bits }
}

/// Every element of every tile that starts somewhere lies where the law says; gives their number.
fn check_law(memory: &Layout, tile: &OperandTile, operand: &Operand) -> u64 {
    let bytes = u64::from(tile.element_bits / 8);
    let inverse = memory.restrict_ins(&[OFFSET]).unwrap().invert().unwrap();
    let size = |axis| 1_u64 << memory.out_bits(axis);
    let others: Vec<Label> =
        (memory.outs().labels()).filter(|&axis| axis != tile.kept && axis != tile.summed).collect();
    let mut elements = 0;
    let batches: u64 = others.iter().map(|&axis| size(axis)).product();
    for batch in 0..batches {
        let (mut rest, mut first) = (batch, Vec::new());
        for &axis in &others {
            first.push((axis, rest % size(axis)));
            rest /= size(axis);
        }
        for kept in (0..=size(tile.kept) - tile.extent).step_by(tile.extent as usize) {
            for summed in (0..size(tile.summed)).step_by(tile.summed_extent() as usize) {
                let at = |kept, summed| {
                    [&first[..], &[(tile.kept, kept), (tile.summed, summed)]].concat()
                };
                let Some(start) = operand.start(&at(kept, summed)) else {
                    assert!(!tile.extent.is_power_of_two() && kept != 0, "{memory} {tile:?}");
                    continue;
                };
                assert_eq!(start % 16, 0);
                for mn in 0..tile.extent {
                    for k in 0..tile.summed_extent() {
                        let element = inverse.ins().pack(&at(kept + mn, summed + k)).unwrap();
                        let address = operand.descriptor().address(start, bytes, mn, k);
                        assert_eq!(address, inverse.apply_flat(element) * bytes, "{memory}");
                        elements += 1;
                    }
                }
            }
        }
    }
    elements
}

/// Each pattern's witness is confirmed; their number is that of the patterns.
fn check_refusal(memory: &Layout, tile: &OperandTile, refused: &Refused) {
    let Refused::NoAtom(mismatches) = refused else { panic!("{refused}: {memory}") };
    assert_eq!(mismatches.len(), OperandAtom::all(tile.element_bits).len());
    for mismatch in mismatches {
        assert!(mismatch.confirms(memory, tile), "{mismatch}: {memory}");
        let other = Fault::Elsewhere { expected: mismatch.found };
        let mut wrong = mismatch.clone();
        wrong.fault = other;
        assert!(!wrong.confirms(memory, tile), "{wrong}: {memory}");
    }
}

/// Triton's layouts of factors: squares of 16 to 256, every swizzle, both orders, as left and right
/// factors. Swizzled ones are read in place; plain boxes are not, each for a reason that is shown.
#[test]
fn tritons_memories_of_factors() {
    let (mut read, mut refused, mut elements) = (0, 0, 0);
    let sizes = [16, 32, 64, 128, 256];
    let shapes = sizes.into_iter().flat_map(|rows| sizes.map(|columns| [rows, columns]));
    for (shape, bits) in shapes.flat_map(|shape| [8, 16, 32].map(|bits| (shape, bits))) {
        for (swizzle, transposed) in
            [0, 32, 64, 128].into_iter().flat_map(|s| [(s, false), (s, true)])
        {
            let family = NvmmaShared { transposed, ..NvmmaShared::new(swizzle, bits) };
            let Ok(memory) = family.layout(&shape) else { continue };
            for tile in [left(bits as u32), right(shape[1], bits as u32)] {
                let summed_last = tile.summed == COLUMNS;
                let k_major = summed_last != transposed;
                let rows = 1 << memory.out_bits(tile.kept);
                let summed: u64 = 1 << memory.out_bits(tile.summed);
                if tile.extent > rows || summed < tile.summed_extent() || !k_major && bits != 16 {
                    continue;
                }
                match legal(&memory, &tile) {
                    Ok(operand) => {
                        let major = if k_major { Major::K } else { Major::Mn };
                        assert_eq!(operand.major(), major);
                        assert_eq!(operand.descriptor().mode.span(), swizzle);
                        assert_eq!(operand.alignment(), 8 * swizzle);
                        elements += check_law(&memory, &tile, &operand);
                        read += 1;
                    }
                    Err(error) => {
                        assert_eq!(swizzle, 0, "{error}: {memory}");
                        check_refusal(&memory, &tile, &error);
                        refused += 1;
                    }
                }
            }
        }
    }
    assert_eq!((read, refused), (385, 152));
    std::println!("{read} operands, {elements} elements, {refused} refused");
}

/// Triton's own matcher on the same layouts: it writes the same descriptor where there is one. Where its layouts have no
/// swizzle it refuses most as we do; for halves in rows of 32 bytes it writes that of the swizzle of 32 bytes, which
/// reads other elements.
#[test]
fn tritons_matcher_agrees() {
    let (mut read, mut refused, mut wrong) = (0, 0, 0);
    for line in include_str!("operands_triton.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let [side, shape, bits, swizzle, contiguous, told] = words[..] else { panic!("{line}") };
        let shape: Vec<u64> = shape.split('x').map(|side| side.parse().unwrap()).collect();
        let (bits, transposed): (u32, bool) = (bits.parse().unwrap(), contiguous == "columns");
        let swizzled = NvmmaShared::new(swizzle.parse().unwrap(), bits.into());
        let memory = NvmmaShared { transposed, ..swizzled }.layout(&shape).unwrap();
        let tile = if side == "left" { left(bits) } else { right(shape[1], bits) };
        match (legal(&memory, &tile), u64::from_str_radix(told, 16)) {
            (Ok(operand), Ok(told)) => {
                assert_eq!(operand.descriptor().bits(), told, "{line}");
                read += 1;
            }
            (Err(error), told) => {
                check_refusal(&memory, &tile, &error);
                let row = shape[usize::from(!transposed)];
                assert!(told.is_err() || (bits, swizzle, row) == (16, "0", 16), "{line}");
                refused += usize::from(told.is_err());
                wrong += usize::from(told.is_ok());
            }
            (Ok(_), Err(_)) => panic!("{line}"),
        }
    }
    assert_eq!((read, refused, wrong), (385, 139, 13));
}

/// What Triton 3.9 writes for `wgmma` (read from its PTX for `sm_90`).
#[test]
fn descriptors_are_tritons() {
    let bits = |swizzle, shape: [u64; 2], tile: &OperandTile, transposed| {
        let family = NvmmaShared { transposed, ..NvmmaShared::new(swizzle, 16) };
        legal(&family.layout(&shape).unwrap(), tile).unwrap().descriptor().bits()
    };
    assert_eq!(bits(128, [64, 64], &left(16), false), 0x4000_0040_0000_0000);
    assert_eq!(bits(64, [64, 32], &left(16), false), 0x8000_0020_0000_0000);
    assert_eq!(bits(32, [64, 16], &left(16), false), 0xc000_0010_0000_0000);
    assert_eq!(bits(128, [64, 64], &right(64, 16), false), 0x4000_0040_0000_0000);
    assert_eq!(bits(64, [64, 32], &right(32, 16), false), 0x8000_0020_0000_0000);
    assert_eq!(bits(32, [64, 16], &right(16, 16), false), 0xc000_0010_0000_0000);
    assert_eq!(bits(128, [64, 256], &right(256, 16), false), 0x4000_0040_0200_0000);
    assert_eq!(bits(128, [128, 128], &left(16), true), 0x4000_0040_0000_0000);
}

/// Widths that are no powers of two: strides do not care, as long as a tile does not leave its rows.
#[test]
fn widths_that_are_no_powers_of_two() {
    let memory = NvmmaShared::new(128, 16).layout(&[256, 64]).unwrap();
    for extent in [24, 96, 160, 192, 224] {
        let tile = OperandTile { extent, ..left(16) };
        let operand = legal(&memory, &tile).unwrap();
        assert!(check_law(&memory, &tile, &operand) >= 256 / extent * extent * 64);
    }
    // Rows along the columns: 96 columns are a row of 64 and half of one.
    let memory = NvmmaShared::new(128, 16).layout(&[64, 256]).unwrap();
    let operand = legal(&memory, &right(96, 16)).unwrap();
    assert_eq!(operand.start(&[(COLUMNS, 96)]), None);
    assert!(operand.start(&[(COLUMNS, 128)]).is_some());
    assert_eq!(operand.start(&[(COLUMNS, 160)]), None);
}

/// A stage that shares an offset bit with row 128: tiles that would go over that row do not start.
#[test]
fn tiles_do_not_go_on_where_another_axis_interferes() {
    let memory = parse_layout(
        "[offset: (0,1,0) (0,2,0) (0,4,0) (0,8,0) (0,16,0) (1,0,0) (2,8,0) (4,16,0) (8,0,0) \
         (16,0,0) (32,0,0) (64,0,0) (128,0,0) (128,0,1)] -> [dim0: 256, dim1: 32, dim2: 2]",
    );
    let memory = memory.unwrap();
    let tile = OperandTile { extent: 120, ..left(16) };
    let operand = legal(&memory, &tile).unwrap();
    assert_eq!(operand.start(&[(ROWS, 120)]), None);
    assert!(operand.start(&[(ROWS, 128), (Label::dim(2), 1)]).is_some());
    check_law(&memory, &tile, &operand);
}

/// A law on random buffers: made of a pattern and any further columns, or of anything at all.
#[test]
fn random_memories() {
    let (mut read, mut refused) = (0, 0);
    holds(2000, |u| {
        let tile = random_tile(u)?;
        let memory = match u.int_in_range(0..=3)? {
            0 => random_memory(u, &tile)?,
            kind => composed_memory(u, &tile, kind == 1)?,
        };
        match legal(&memory, &tile) {
            Ok(operand) => {
                read += 1;
                check_law(&memory, &tile, &operand);
            }
            Err(refusal) => {
                refused += 1;
                check_refusal(&memory, &tile, &refusal);
            }
        }
        Ok(())
    });
    std::println!("{read} read, {refused} refused");
    assert!(read > 100 && refused > 100);
}

fn random_tile(u: &mut Unstructured<'_>) -> Result<OperandTile> {
    let element_bits = *u.choose(&[8, 16, 16, 32])?;
    let (kept, summed) = if u.arbitrary()? { (ROWS, COLUMNS) } else { (COLUMNS, ROWS) };
    Ok(OperandTile { kept, summed, extent: 8 * u.int_in_range(1..=16)?, element_bits })
}

/// The tensor of a tile with some room, `dim2` counting stages.
fn room(u: &mut Unstructured<'_>, tile: &OperandTile) -> Result<Space> {
    let bits = |extent: u64, more: u32| extent.next_power_of_two().trailing_zeros() + more;
    let kept = bits(tile.extent, u.int_in_range(0..=1)?);
    let summed = bits(tile.summed_extent(), u.int_in_range(0..=2)?);
    let axes = [(tile.kept, kept), (tile.summed, summed), (Label::dim(2), u.int_in_range(0..=1)?)];
    Ok(Space::new(&axes).unwrap())
}

fn random_memory(u: &mut Unstructured<'_>, tile: &OperandTile) -> Result<Layout> {
    let outs = room(u, tile)?;
    let bits = outs.total_bits();
    let ins = Space::new(&[(OFFSET, bits)]).unwrap();
    Ok(Layout::from_matrix(ins, outs, testing::invertible(u, bits)?).unwrap())
}

/// A pattern, then the other bits of the tensor in any order; where `spoilt`, two columns are added.
fn composed_memory(u: &mut Unstructured<'_>, tile: &OperandTile, spoilt: bool) -> Result<Layout> {
    let outs = room(u, tile)?;
    let atoms = OperandAtom::all(tile.element_bits);
    let atom = *u.choose(&atoms)?;
    let pattern = atom.layout().unwrap();
    let axis = |dim: u32| if dim == 0 { tile.kept } else { tile.summed };
    let mut columns: Vec<u64> = Vec::new();
    let mut taken = Vec::new();
    for basis in 0..pattern.in_bits(OFFSET) {
        let place = pattern.outs().unpack(pattern.basis(OFFSET, basis));
        let mut image = 0;
        for (label, value) in place {
            let axis = axis(label.dim_index().unwrap());
            if value >> outs.bits(axis) != 0 {
                continue;
            }
            image |= outs.pack(&[(axis, value)]).unwrap();
        }
        if image != 0 {
            columns.push(image);
            taken.push(image);
        }
    }
    let span = crate::f2::Subspace::from_vectors(&columns);
    let units = testing::shuffled(u, outs.total_bits())?;
    // In even steps half of the time.
    let mut rest: Vec<u64> = units.into_iter().filter(|&unit| !span.contains(unit)).collect();
    if u.arbitrary()? {
        rest.sort_unstable();
    }
    for unit in rest {
        if !crate::f2::Subspace::from_vectors(&columns).contains(unit) {
            columns.push(unit);
        }
    }
    if spoilt {
        let (a, b) = (u.choose_index(columns.len())?, u.choose_index(columns.len())?);
        if a != b {
            columns[a] ^= columns[b];
        }
    }
    let ins = Space::new(&[(OFFSET, columns.len() as u32)]).unwrap();
    Ok(Layout::new(ins, outs, &columns).unwrap())
}

#[test]
fn what_is_no_operand_at_all() {
    let memory = row_major(&[64, 64]).unwrap();
    assert_eq!(legal(&memory, &left(64)), Err(Refused::ElementBits(64)));
    assert_eq!(legal(&memory, &right(12, 16)), Err(Refused::Tile(12)));
    let small = Refused::Small { axis: COLUMNS, size: 64, needed: 128 };
    assert_eq!(legal(&memory, &right(128, 16)), Err(small));
    let twice = memory.resize_in(OFFSET, 13).unwrap();
    let error = legal(&twice, &left(16)).unwrap_err();
    assert!(matches!(
        &error,
        Refused::Family(crate::family::FamilyError::Layout(LayoutError::NotInjective { .. }))
    ));
}

/// A witness names the column in words.
#[test]
fn a_refusal_in_words() {
    let swizzled = NvmmaShared::new(128, 16).layout(&[64, 64]).unwrap();
    // Row 8 begins 32 bytes late.
    let mut columns = swizzled.matrix().columns().to_vec();
    columns[9] ^= columns[4];
    let memory = Layout::new(swizzled.ins().clone(), swizzled.outs().clone(), &columns).unwrap();
    let refused = legal(&memory, &left(16)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no matrix descriptor: with K-major rows of 128 bytes, dim0 bit 3 is 1056, which is no \
         stride: a multiple of 1024 up to 262128 is"
    );
    check_refusal(&memory, &left(16), &refused);
}
